"""Numbers that a CSV file does not hold as the learner did: short floats, and whole numbers beyond 2^53 beside gaps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.verify import Report, verify_model


def short_floats(kind: str, other: str, seed: int = 2) -> pd.DataFrame:
    rng, n = np.random.default_rng(seed), 120
    v, w = (rng.choice(np.round(rng.normal(0, 1, 25), 2), n) for _ in range(2))
    y = np.where((v > 0.1) ^ (w > 0.3) ^ (rng.random(n) < 0.15), "a", "b")
    return pd.DataFrame({"v": v.astype(kind), "w": w.astype(other), "y": y})


def checked(model: Any, frame: pd.DataFrame, folder: Path) -> Report:
    frame.to_csv(folder / "data.csv", index=False)
    model.fit(frame.drop(columns="y"), frame["y"]).save(folder / "model.json", "y")
    return verify_model(folder / "model.json", folder / "data.csv")


@pytest.mark.parametrize("other", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize(
    "made",
    [
        lambda: et.C45TreeClassifier(subtree_raising=False),
        lambda: et.CARTTreeClassifier(folds=3),
        et.OptionTreeClassifier,
        et.SmoothedTreeClassifier,
        et.PathAverageTreeClassifier,
    ],
)
def test_short_floats_are_not_called_false(made: Any, kind: str, other: str, tmp_path: Path) -> None:
    report = checked(made(), short_floats(kind, other), tmp_path)
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    assert report.unchecked


def test_the_columns_are_named(tmp_path: Path) -> None:
    report = checked(et.CARTTreeClassifier(folds=3), short_floats("float32", "float64"), tmp_path)
    assert report.unchecked == ("numbers of columns",)
    assert report["numbers of columns"].claimed == "'v' as float32"


def test_what_no_way_to_hold_numbers_explains_is_false(tmp_path: Path) -> None:
    checked(et.CARTTreeClassifier(folds=3), short_floats("float32", "float64"), tmp_path)
    content = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    content["tree"]["threshold"][0] += 0.05
    (tmp_path / "model.json").write_text(json.dumps(content), encoding="utf-8")
    assert not verify_model(tmp_path / "model.json", tmp_path / "data.csv").ok


def large_numbers() -> pd.DataFrame:
    n = 60
    large = 2**53 + np.arange(n)
    frame = pd.DataFrame({"id": pd.array(large, dtype="Int64"), "z": np.arange(n) % 5})
    frame["y"] = np.where(large < large[31], "a", "b")
    frame.loc[::9, "id"] = pd.NA
    return frame


@pytest.mark.parametrize(
    "made",
    [
        lambda: et.OptimalTreeClassifier(max_depth=2, min_leaf=2, bins="all"),
        lambda: et.OptimalTreeClassifier(max_depth=2, min_leaf=2, bins="all", cuts="local"),
        lambda: et.BayesOptimalClassifier(max_depth=1, bins="all"),
        et.PathAverageTreeClassifier,
    ],
)
def test_whole_numbers_beside_gaps_are_not_called_false(made: Any, tmp_path: Path) -> None:
    frame = large_numbers()
    report = checked(made(), frame, tmp_path)
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    assert report.unchecked == ("numbers of columns",)
    # A file holds floats there, and nothing is unchecked then.
    read = et.read(tmp_path / "data.csv", target="y", columns={"id": "number"})
    made().fit(*read.split("y")).save(tmp_path / "model.json", "y")
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv")
    assert (report.ok, report.unchecked) == (True, ())


def test_names_with_blanks_around_them(tmp_path: Path) -> None:
    """Names in a file are read without the blanks around them, as cells are."""
    frame = short_floats("float32", "float64").rename(columns={"v": " v "})
    report = checked(et.CARTTreeClassifier(folds=3), frame, tmp_path)
    assert (report.ok, report.unchecked) == (True, ("numbers of columns",))


def test_columns_that_are_taken_by_position(tmp_path: Path) -> None:
    frame = short_floats("float32", "float32")
    frame.to_csv(tmp_path / "data.csv", index=False)
    model = et.CARTTreeClassifier(folds=3).fit(frame[["v", "w"]].to_numpy(), frame["y"].to_numpy())
    model.save(tmp_path / "model.json")
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y")
    assert (report.ok, report.unchecked) == (True, ("numbers of columns",))
