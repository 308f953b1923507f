"""Rows that a reader types in: the page answers by drawn trees, and says what Python says of the same draws."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_cases import mixed_table

import everytree as et
from everytree.bayes.uncertainty import drawn_leaves
from everytree.report.page_data import page_data

WEB = Path(__file__).parents[2] / "web"
BUILT = (WEB / "node_modules" / "esbuild").is_dir()
needs_node = pytest.mark.skipif(not BUILT, reason="needs node, and npm install in web/")


def browser(data: dict[str, Any]) -> list[dict[str, Any]]:
    done = subprocess.run(
        ["node", str(WEB / "check.mjs")],
        input=json.dumps(data, allow_nan=False),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    rows: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    return rows


def bayes(cuts: str, missing: str, dirichlet: Any = 1.0) -> tuple[Any, Any, Any]:
    X, y = mixed_table(missing=missing != "error")
    made = et.BayesOptimalClassifier(
        max_depth=2, min_leaf=4, cuts=cuts, bins=3, missing=missing, dirichlet=dirichlet
    )
    return made.fit(X, y), X, y


@pytest.mark.parametrize("cuts", ["global", "local"])
@pytest.mark.parametrize("dirichlet", [1.0, "base", "decay", [2.0, 1.0, 0.5]])
def test_every_row_reaches_one_leaf_of_each_draw(cuts: str, dirichlet: Any) -> None:
    """The mean over the leaves of a row is that of the drawn trees themselves."""
    model, X, _ = bayes(cuts, "category", dirichlet)
    post = model.posterior_
    leaves = drawn_leaves(post, 200, 5)
    trees = post.sample(200, random_state=5)
    rows = model.to_tests(X)
    said = np.mean([tree.predict_proba(rows) for tree in trees], axis=0)
    columns = model.binarizer_.columns_
    for k in range(len(X)):
        share, total = np.zeros(3), 0
        for leaf in leaves:
            if columns is None:
                holds = all(rows[k, test] == outcome for test, outcome, _ in leaf.items)
            else:
                holds = all(
                    int(rows[k : k + 1][0, test] <= upper) == outcome for test, outcome, upper in leaf.items
                )
            if holds:
                share += leaf.draws * np.array(leaf.parameters) / sum(leaf.parameters)
                total += leaf.draws
        assert total == 200
        assert share / total == pytest.approx(said[k], abs=1e-12)
    assert len({leaf.items for leaf in leaves}) == len(leaves)


@pytest.mark.long
@needs_node
@pytest.mark.parametrize("missing", ["error", "category", "impute"])
@pytest.mark.parametrize("cuts", ["global", "local"])
def test_the_browser_finds_the_interval_of_any_row(cuts: str, missing: str) -> None:
    model, _, _ = bayes(cuts, missing)
    other, labels = mixed_table(200, seed=5, missing=missing != "error")  # rows that the model has not seen
    data = page_data(model, (other, labels), rows=1000)
    assert data["posterior"]["drawn"]["draws"] == 1000
    found = browser(data)
    low, high = model.predict_interval(other, 0.95, random_state=0)
    assert np.abs(np.array([row["intervals"] for row in found])[..., 0] - low).max() < 1e-6
    assert np.abs(np.array([row["intervals"] for row in found])[..., 1] - high).max() < 1e-6
    mean = np.array([row["mean"]["p"] for row in found])
    error = np.array([row["mean"]["error"] for row in found])
    off = np.abs(mean - model.raw_proba(other))
    assert (off <= 5 * error + 1e-6).all()
    assert (off <= 2 * error + 1e-6).mean() > 0.9


@pytest.mark.long
@needs_node
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_browser_pools_the_evidence_of_drawn_trees(n_classes: int) -> None:
    X, y = mixed_table(250, seed=1)
    y = y if n_classes == 3 else np.where(y == "high", "high", "other")
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    other, labels = mixed_table(100, seed=5)
    labels = labels if n_classes == 3 else np.where(labels == "high", "high", "other")
    data = page_data(model, (other, labels), rows=1000)
    found = browser(data)
    small = model.compress(sum(each["draws"] for each in data["posterior"]["pool"]["members"]))
    said, error = small.predict_proba(other, return_error=True)
    mine = np.array([row["pool"]["p"] for row in found])
    assert np.abs(mine - said).max() < 1e-5  # the very trees that ``compress`` draws
    off = np.abs(mine - model.predict_proba(other))
    errors = np.array([row["pool"]["error"] for row in found])
    assert (
        off <= 4 * errors + 1e-6
    ).mean() > 0.9  # few draws of each average: their spread is often a little more
    assert errors.mean() == pytest.approx(error.mean(), rel=0.5)
    exact = np.array(data["posterior"]["evidence"])
    assert np.abs(np.array([row["pool"]["evidence"] for row in found]) - exact).mean() < 0.05


def test_rows_that_may_be_those_of_training_give_no_interval() -> None:
    X, y = mixed_table(80)
    model = et.C45TreeClassifier().fit(X, y)
    assert page_data(model, (X, y))["calibration"]["unseen"]  # cross-validated
    every = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    assert page_data(every, (X, y))["calibration"]["unseen"]  # each row left out
    assert page_data(every)["calibration"] is None
