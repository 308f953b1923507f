"""Models of real files, read by pandas and by everytree, pass the checker; small trees, so that it is quick."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.verify import verify_model

DATA = Path(__file__).parents[2].parent / "shared" / "data"
FILES = [
    "heart-cleveland",
    "hepatitis",
    "labor",
    "lymph",
    "vote",
    "autos",
    "breast-cancer",
    "colic",
    "zoo",
    "glass",
]


@pytest.mark.parametrize("name", FILES)
def test_models_of_real_files_pass(name: str, tmp_path: Path) -> None:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}.csv")
    given = json.loads(path.with_suffix(".json").read_text(encoding="utf-8")).get("target")
    frame = pd.read_csv(path, na_values=["?"])
    target = given if given in frame else frame.columns[-1]
    by_pandas = frame.drop(columns=target), frame[target]
    by_everytree = et.read_csv(path).split(target)
    for (X, y), missing in ((by_pandas, "category"), (by_everytree, "impute")):
        model = et.OptimalTreeClassifier(max_depth=2, min_leaf=3, missing=missing, bins=3).fit(X, y)
        model.save(tmp_path / "model.json", target=target)
        report = verify_model(tmp_path / "model.json", path, max_states=5_000)
        assert report.proved, [fact for fact in report.facts if fact.verdict != "true"]
        loaded = et.load_model(tmp_path / "model.json")
        assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
