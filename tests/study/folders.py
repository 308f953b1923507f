"""Folders of small data sets in the layout that the studies read."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"


def write_set(folder: Path, name: str, n: int = 90, seed: int = 0, missing: float = 0.0, **more: Any) -> None:
    """A data set of two numbers, a colour with a declared value that never occurs, and a class that follows them."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n).round(3), rng.integers(0, 6, n)
    colour = rng.choice(["red", "green", "blue"], n)
    y = np.where((a > 0) ^ (colour == "red"), "yes", np.where(b > 3, "maybe", "no"))
    y = np.where(rng.random(n) < 0.1, "no", y)
    rows = [[repr(float(x)), str(int(z)), c, k] for x, z, c, k in zip(a, b, colour, y, strict=True)]
    for row in rows:
        for j in range(3):
            if rng.random() < missing:
                row[j] = ""
    types = {"a": "numeric", "b": "numeric", "colour": "nominal", "class": "nominal"}
    about = {"file": f"{name}.csv", "types": types, "domains": {"colour": ["blue", "green", "red", "violet"]}}
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(types)
        writer.writerows(rows)
    (folder / f"{name}.json").write_text(json.dumps(about | more), encoding="utf-8")
