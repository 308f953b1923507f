"""explain_row: the leaves behind a prediction weigh one, and their average is the prediction."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.errors import DataError, QueryError
from everytree.estimators.row_paths import RowExplanation, explain_row

MODELS = {
    "optimal": ("OptimalTreeClassifier", {"max_depth": 3, "missing": "category"}),
    "map": ("MAPTreeClassifier", {"max_depth": 3, "missing": "category"}),
    "path": ("PathAverageTreeClassifier", {"missing": "category"}),
    "c45": ("C45TreeClassifier", {}),
    "c45 binary": ("C45TreeClassifier", {"binary_splits": True, "prune": False}),
    "cart": ("CARTTreeClassifier", {}),
    "smoothed": ("SmoothedTreeClassifier", {"missing": "category"}),
    "smoothed binary": (
        "SmoothedTreeClassifier",
        {"nominal_tests": "binary", "n_trees": 3, "random_state": 0, "missing": "category"},
    ),
    "option": ("OptionTreeClassifier", {"option_factor": 0.05, "missing": "category"}),
    "mcmc": (
        "MCMCTreeClassifier",
        {"n_draws": 60, "burn_in": 50, "n_chains": 2, "random_state": 0, "missing": "category"},
    ),
}


def rows(n: int, seed: int) -> tuple[list[list[Any]], list[str]]:
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(n):
        a, b, c = rng.randint(0, 9), rng.choice("pqr"), rng.randint(0, 1)
        X.append([x if rng.random() > 0.1 else None for x in (a, b, c)])
        y.append(rng.choice("uvw") if rng.random() < 0.2 else "u" if a < 4 else "v" if b == "p" else "w")
    return X, y


@pytest.mark.parametrize("name", MODELS)
def test_the_leaves_average_to_the_prediction(name: str) -> None:
    kind, params = MODELS[name]
    if kind not in et.__all__:
        pytest.skip(f"{kind} is not there yet")
    X, y = rows(150, 1)
    model = getattr(et, kind)(**params).fit(X, y)
    new, _ = rows(25, 2)
    new.append([3, "unseen", 1])
    for row in new:
        found = explain_row(model, [row], top=10_000)
        assert isinstance(found, RowExplanation)
        proba = model.predict_proba([row])[0]
        assert found.proba == tuple(proba.tolist())
        assert found.prediction == model.predict([row])[0]
        assert found.covered == pytest.approx(1, abs=1e-3)
        mean = sum(leaf.weight * np.array(leaf.proba) for leaf in found.leaves)
        assert mean == pytest.approx(proba, abs=2e-3), row
        weights = [leaf.weight for leaf in found.leaves]
        assert weights == sorted(weights, reverse=True)
        assert len(explain_row(model, [row], top=1).leaves) == 1


def test_one_tree_in_words() -> None:
    model = et.OptimalTreeClassifier(max_depth=2, bins="all", leaf_penalty=0).fit(
        [[1], [2], [3], [4]], ["a", "a", "b", "b"]
    )
    found = explain_row(model, [[3]])
    assert str(found).splitlines() == [
        "b, P = 0.750, because",
        "  x0 > 2.5",
        "training examples there: b 2, plus 1 for each of the 2 classes",
    ]
    assert found.to_dict()["leaves"][0]["conditions"] == ("x0 > 2.5",)


def test_a_missing_value_goes_down_every_branch_of_c45() -> None:
    X = [[1.0], [2.0], [8.0], [9.0], [9.5]]
    model = et.C45TreeClassifier().fit(X, ["a", "a", "b", "b", "b"])
    text = str(explain_row(model, [[None]]))
    assert "2 leaves carry 100.0 % of the weight" in text
    assert "0.6000" in text
    assert "x0 > 2 (x0 is missing)" in text


def test_the_average_explains_itself() -> None:
    X, y = rows(60, 3)
    model = et.BayesOptimalClassifier(max_depth=2, missing="category").fit(X, y)
    assert explain_row(model, X[:1], 3) == model.explain(X[:1], 3)


def test_mistakes() -> None:
    X, y = rows(60, 3)
    model = et.C45TreeClassifier().fit(X, y)
    with pytest.raises(DataError, match="x has 2 rows; expected one"):
        explain_row(model, X[:2])
    with pytest.raises(QueryError, match="top=0"):
        explain_row(model, X[:1], 0)
    average = et.BayesOptimalClassifier(max_depth=1, missing="category").fit(X, y)
    with pytest.raises(QueryError, match="no trees to follow"):
        explain_row(average.compress(0.2), X[:1])
