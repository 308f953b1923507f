"""Beside counts and a probability stands what was added: many classes pull a leaf far from its examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.report.page_data import page_data

CLASSES = 24


def many_classes() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A leaf with 54 of 58 examples of one class, and 23 other classes elsewhere."""
    y = (
        ["c00"] * 54
        + ["c01", "c02", "c03", "c04"]
        + [f"c{k:02}" for k in range(1, CLASSES) for _ in range(2)]
    )
    return np.array([[k < 58] for k in range(len(y))], dtype=int), np.array(y)


def test_the_interval_of_many_classes_excludes_the_share_and_everything_says_why() -> None:
    X, y = many_classes()
    words = f"plus 1 for each of the {CLASSES} classes"
    model = et.OptimalTreeClassifier(max_depth=1, leaf_penalty=0).fit(X, y)
    page = page_data(model)
    leaf = max(page["tree"]["nodes"], key=lambda node: node["p"][0])
    assert (leaf["n"][0], sum(leaf["n"])) == (54, 58)
    assert leaf["p"][0] == pytest.approx(55 / 82, abs=1e-4)
    assert leaf["i"][1] < 54 / 58
    assert page["tree"]["a"] == [1.0]
    assert str(et.explain_row(model, X[:1])).endswith(words)
    average = et.BayesOptimalClassifier(max_depth=1).fit(X, y)
    assert page_data(average)["posterior"]["a"] == [1.0]
    assert str(average.explain(X[:1])).endswith(words)
    # What the documents advise.
    less = et.OptimalTreeClassifier(max_depth=1, dirichlet="1/C", leaf_penalty=0).fit(X, y)
    node = max(page_data(less)["tree"]["nodes"], key=lambda node: node["p"][0])
    assert node["i"][0] < 54 / 58 < node["i"][1]


def test_what_is_added_is_that_of_the_model() -> None:
    X, y = many_classes()
    each = f"for each of the {CLASSES} classes"
    assert et.C45TreeClassifier().fit(X, y).added() is None
    assert et.C45TreeClassifier(laplace=True).fit(X, y).added() == f"plus 1 {each}"
    assert et.MAPTreeClassifier(max_depth=1, dirichlet="1/C").fit(X, y).added() == f"plus 0.0417 {each}"
    assert et.OptimalTreeClassifier(max_depth=1, dirichlet="decay", leaf_penalty=0).fit(X, y).added() == (
        f"plus 0.9 (at the root) to 0.81 (at depth 1) {each}"
    )
    own = et.BayesOptimalClassifier(max_depth=1, dirichlet=[2.0] + [0.5] * (CLASSES - 1)).fit(X, y)
    assert own.added() == "plus 0.5 to 2 by class, 13.5 in all"
    assert et.PathAverageTreeClassifier().fit(X, y).added() == "averaged along the path"


def test_the_command_line_says_what_is_added(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from everytree.cli.app import app

    X, y = many_classes()
    lines = ["x,y", *(f"{a},{b}" for a, b in zip(X[:, 0], y, strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    done = CliRunner().invoke(app, ["fit", str(tmp_path / "d.csv"), "--target", "y", "--max-depth", "1"])
    assert f"p counts the examples of a leaf, plus 1 for each of the {CLASSES} classes" in done.output
