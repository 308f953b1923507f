"""A mixed table as a CSV file, a model of it, and a way to check a changed model."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from everytree.verify import Report, verify_model


def people(n: int = 120, seed: int = 0) -> pd.DataFrame:
    """Numbers, text, truth values and a label that depends on them, with noise."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    pressure = rng.normal(120, 15, n).round(1)
    color = rng.choice(["blue", "green, dark", "red"], n)
    smoker = rng.random(n) < 0.4
    sick = ((age > 55) & smoker) | (color == "red") ^ (rng.random(n) < 0.1)
    label = np.where(sick, "ill", "well")
    return pd.DataFrame({"age": age, "pressure": pressure, "color": color, "smoker": smoker, "state": label})


class Case:
    """A data frame, the classifier fitted on it, and both as files."""

    def __init__(self, folder: Path, frame: pd.DataFrame, model: Any, target: str = "state") -> None:
        self.folder, self.frame, self.target = folder, frame, target
        self.data, self.file = folder / "data.csv", folder / "model.json"
        frame.to_csv(self.data, index=False)
        self.model = model.fit(frame.drop(columns=target), frame[target])
        self.model.save(self.file)
        self.saved = json.loads(self.file.read_text(encoding="utf-8"))

    def verify(self, **options: Any) -> Report:
        return verify_model(self.file, self.data, **options)

    def changed(self, change: Callable[[dict[str, Any]], object], **options: Any) -> Report:
        """The report on the model after a change of its file."""
        content = copy.deepcopy(self.saved)
        change(content)
        self.file.write_text(json.dumps(content), encoding="utf-8")
        return self.verify(**options)
