"""Parameters in model files: what no classifier would take is refused by ``load_model``, by the name of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import everytree as et
from everytree.common.fields import sealed

FRAME = pd.DataFrame({"a": [1, 2, 3, 4] * 5, "c": list("uvuu") * 5})
LABELS = pd.Series(list("xxyy") * 5, name="y")
MADE = [
    lambda: et.OptimalTreeClassifier(max_depth=2),
    lambda: et.MAPTreeClassifier(max_depth=2),
    lambda: et.BayesOptimalClassifier(max_depth=2),
    et.C45TreeClassifier,
    et.CARTTreeClassifier,
    et.PathAverageTreeClassifier,
    et.SmoothedTreeClassifier,
    et.OptionTreeClassifier,
]


def saved(model: Any, file: Path, name: str, value: Any) -> None:
    model.fit(FRAME, LABELS).save(file)
    content = json.loads(file.read_text(encoding="utf-8"))
    content["params"][name] = value
    if content.pop("digest", None) is not None:
        content = sealed(content)
    file.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize(
    ("name", "value"),
    [("min_leaf", ""), ("min_branch", 0), ("folds", 1), ("max_depth", -1), ("time_limit", "soon"), ("bins", "zzz"),
     ("class_weight", 3), ("memory_limit", 0), ("cuts", "here"), ("alpha", "a"), ("nominal", "c"), ("beam", 0.5)],
)  # fmt: skip
def test_a_parameter_that_no_classifier_takes(made: Any, name: str, value: Any, tmp_path: Path) -> None:
    model, file = made(), tmp_path / "model.json"
    if name not in model.get_params(deep=False):
        pytest.skip(f"no parameter {name}")
    saved(model, file, name, value)
    with pytest.raises(et.DataError, match=rf"model\.json: .*{name}"):
        et.load_model(file)


@pytest.mark.parametrize("made", MADE)
def test_defaults_and_what_fit_takes_stay(made: Any, tmp_path: Path) -> None:
    model, file = made(), tmp_path / "model.json"
    for name, value in (("class_weight", {"x": 2}), ("min_leaf", 2), ("time_limit", 5), ("nominal", ["c"])):
        if name in model.get_params(deep=False):
            saved(type(model)(**{name: value}), file, name, value if name != "class_weight" else "balanced")
            et.load_model(file)
