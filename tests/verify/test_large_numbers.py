"""Numbers that float64 holds in part, or only just: what the reader makes of them, the checker makes too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.verify import verify_model

HUGE = 2**53
LARGE = ("1e308", "-1e308", "1.7976931348623157e308", "5e-324", "-0.0", "0.3", "0.30000000000000004")


def written(path: Path, cells: list[str], labels: list[str]) -> Path:
    rows = zip(cells, labels, strict=True)
    path.write_text("a,b,y\n" + "".join(f"{cell},{k % 3},{label}\n" for k, (cell, label) in enumerate(rows)))
    return path


def found(model: Any, data: Path) -> Any:
    """The report on a model that learned from a file, as the command line reads it, and that can be read again."""
    file = data.with_name("model.json")
    X, y = et.read(data, target="y").split("y")
    model.fit(X, y).save(file, target="y")
    assert (et.load_model(file).predict_proba(X) == model.predict_proba(X)).all()
    return verify_model(file, data)


@pytest.mark.parametrize(
    "change",
    [
        lambda cells, labels: None,
        lambda cells, labels: cells.__setitem__(3, ""),
        lambda cells, labels: (cells.__setitem__(3, ""), labels.__setitem__(3, "")),
        lambda cells, labels: labels.__setitem__(3, ""),
        lambda cells, labels: (cells.__setitem__(3, "0.5"), labels.__setitem__(3, "")),
        lambda cells, labels: cells.__setitem__(3, str(2**63)),
        lambda cells, labels: cells.__setitem__(3, str(-(2**63))),
        lambda cells, labels: cells.__setitem__(3, str(2**63 - 1)),
    ],
    ids=["whole", "gap", "gap without label", "no label", "half without label", "2^63", "-2^63", "2^63-1"],
)
@pytest.mark.parametrize("cuts", ["global", "local"])
def test_whole_numbers_are_apart_or_equal_as_where_the_model_learned(
    change: Any, cuts: str, tmp_path: Path
) -> None:
    """A gap makes a column float64, in which 2^53 and 2^53 + 1 are one number; also a gap in a row without a label."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 8, 40)
    cells, labels = [str(HUGE + n) for n in numbers], ["yes" if n % 2 else "no" for n in numbers]
    change(cells, labels)
    data = written(tmp_path / "data.csv", cells, labels)
    model = et.OptimalTreeClassifier(max_depth=2, min_leaf=1, bins="all", cuts=cuts)
    assert found(model, data).proved


@pytest.mark.parametrize(
    "made",
    [
        lambda: et.OptimalTreeClassifier(max_depth=2, min_leaf=1),
        lambda: et.OptimalTreeClassifier(max_depth=2, min_leaf=1, cuts="local"),
        lambda: et.BayesOptimalClassifier(max_depth=1, bins=3),
        lambda: et.BayesOptimalClassifier(max_depth=1, bins=3, missing="impute"),
        lambda: et.PathAverageTreeClassifier(),
        lambda: et.C45TreeClassifier(subtree_raising=False),
        lambda: et.CARTTreeClassifier(folds=2),
        lambda: et.SmoothedTreeClassifier(max_depth=2),
    ],
)
def test_numbers_at_the_end_of_float64_are_numbers(made: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    cells = [str(cell) for cell in rng.choice(LARGE, 40)]
    labels = ["yes" if cell.startswith("1") else str(rng.choice(["yes", "no"])) for cell in cells]
    assert found(made(), written(tmp_path / "data.csv", cells, labels)).ok
