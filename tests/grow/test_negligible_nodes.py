"""Smoothed trees without the nodes that hardly count: what changes, how much, and what does not."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.data.frames import read_frame
from everytree.trees.option_tree import OptionTree
from everytree.verify import verify_model


def noisy(seed: int, n: int = 300, n_classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "a": rng.normal(size=n),
        "b": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "c": rng.choice(["red", "green", "blue"], n),
        "d": rng.integers(0, 6, n),
    })  # fmt: skip
    truth = (frame["a"] > 0).astype(int) + (frame["c"] == "red") * (n_classes - 1)
    return frame, np.where(rng.random(n) < 0.6, truth % n_classes, rng.integers(0, n_classes, n))


OPTIONS = [
    {},
    {"prior": "uniform", "stop_factor": 1e-6},
    {"prior": "coding", "stop_factor": 1e-4, "dirichlet": 1.0},
    {"prior": "size", "nominal_tests": "binary", "stop_factor": 1e-3},
    {"prior": "shapes", "dirichlet": "decay", "stop_factor": 1e-5},
    {"prior": "uniform", "prune_prior": "coding", "stop_factor": 1e-4},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_changes_by_more_than_the_bound(options: dict, n_classes: int) -> None:
    X, y = noisy(1, n_classes=n_classes)
    others, _ = noisy(2, 500)
    others.loc[:20, "c"] = "violet"  # rows that stop above a leaf
    whole = et.SmoothedTreeClassifier(**options).fit(X, y)
    assert whole.dropped_ is None
    sizes = []
    for most in (0.3, 0.05, 0.001, 1e-9):
        small = et.SmoothedTreeClassifier(**options, negligible=most).fit(X, y)
        assert 0 <= small.dropped_bound_ <= most
        assert small.dropped_ == whole.n_nodes_ - small.n_nodes_
        if small.n_nodes_ > 1:  # the leaves have the weight of what was below them
            assert small.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-12)
            assert small.tree_.p_leaf[0] == pytest.approx(whole.tree_.p_leaf[0], rel=1e-9)
        for rows in (X, others):
            change = np.abs(small.predict_proba(rows) - whole.predict_proba(rows))
            assert change.max() <= small.dropped_bound_ + 1e-12
        sizes.append(small.n_nodes_)
    assert sizes == sorted(sizes)
    assert sizes[0] < whole.n_nodes_  # else the test says nothing


def twin_of(tree: OptionTree, most: float) -> Callable[[list[float]], np.ndarray]:
    """Smoothing without negligible nodes, by recursion from the definition on the whole tree."""

    def answer(cells: list[float], node: int = 0, reach: float = 1.0) -> np.ndarray:
        theta = tree.theta(node)
        options = tree.options(node)
        if not options or reach * tree.p_option[options[0]] <= most:
            return theta
        p = float(tree.p_option[options[0]])
        step = tree.step(options[0], cells)
        below = theta if step is None else answer(cells, step[1], reach * p)
        return (1 - p) * theta + p * below

    return answer


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_answers_are_those_of_the_definition(options: dict) -> None:
    """Also the bound: the largest probability of a split that is left out, with no larger one above it."""
    X, y = noisy(3, 150)
    whole = et.SmoothedTreeClassifier(**options).fit(X, y)
    cells = whole._reader.cells(read_frame(X))
    for most in (0.5, 0.1, 0.01):
        small = et.SmoothedTreeClassifier(**options, negligible=most).fit(X, y)
        twin = twin_of(whole.tree_, most)
        expected = [twin(row) for row in cells.tolist()]
        np.testing.assert_allclose(small.predict_proba(X), expected, rtol=1e-9)


def test_all_or_nothing() -> None:
    X, y = noisy(4)
    y = np.random.default_rng(0).integers(0, 2, len(y))  # nothing to learn
    whole = et.SmoothedTreeClassifier().fit(X, y)
    assert whole.n_nodes_ > 1
    root = et.SmoothedTreeClassifier(negligible=0.99).fit(X, y)
    assert root.n_nodes_ == 1
    assert root.dropped_bound_ == pytest.approx(1 - whole.tree_.p_leaf[0])
    assert np.abs(root.predict_proba(X) - whole.predict_proba(X)).max() <= root.dropped_bound_
    leaf = et.SmoothedTreeClassifier(max_depth=0, negligible=0.1).fit(X, y)
    assert (leaf.dropped_, leaf.dropped_bound_) == (0, 0.0)


def test_several_trees_and_batches() -> None:
    X, y = noisy(5)
    words = {"n_trees": 4, "random_state": 0, "stop_factor": 1e-4}
    whole, small = (et.SmoothedTreeClassifier(**words, negligible=x).fit(X, y) for x in (0, 0.02))
    assert small.n_nodes_ < whole.n_nodes_
    assert np.abs(small.predict_proba(X) - whole.predict_proba(X)).max() <= small.dropped_bound_ <= 0.02
    # A batch follows the tree as it grew, not what was left of it.
    words = {"stop_factor": 1e-4}
    whole, small = (
        et.SmoothedTreeClassifier(**words, negligible=x)
        .partial_fit(X[:200], y[:200])
        .partial_fit(X[200:], y[200:])
        for x in (0, 0.02)
    )
    assert small.dropped_ == whole.n_nodes_ - small.n_nodes_ > 0
    assert np.abs(small.predict_proba(X) - whole.predict_proba(X)).max() <= small.dropped_bound_


def test_files_keep_the_bound_and_verify_looks_at_it(tmp_path) -> None:
    X, y = noisy(6)
    model = et.SmoothedTreeClassifier(prior="uniform", negligible=0.05).fit(X, y)
    path = tmp_path / "model.json"
    model.save(path, target="y")
    again = et.load_model(path)
    assert (again.negligible, again.dropped_, again.dropped_bound_) == (
        0.05,
        model.dropped_,
        model.dropped_bound_,
    )
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    rows = tmp_path / "rows.csv"
    X.assign(y=y).to_csv(rows, index=False)
    facts = {fact.name: fact for fact in verify_model(path, rows).facts}
    assert facts["dropped_bound"].verdict == "not checkable"
    data = json.loads(path.read_text())
    data["claims"]["dropped_bound"] = 0.2
    del data["digest"]
    path.write_text(json.dumps(data))
    facts = {fact.name: fact for fact in verify_model(path, rows).facts}
    assert facts["dropped_bound"].verdict == "false"
    # Files of before have neither the parameter nor the claims.
    del data["params"]["negligible"], data["claims"]["dropped_bound"], data["claims"]["dropped"]
    path.write_text(json.dumps(data))
    assert et.load_model(path).dropped_bound_ is None
    data["claims"] |= {"dropped_bound": "little", "dropped": 3}
    path.write_text(json.dumps(data))
    with pytest.raises(et.DataError, match=r"claims.dropped_bound is 'little'; expected a number or null"):
        et.load_model(path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"negligible": -0.1}, "negligible=-0.1"),
        ({"negligible": 2}, "negligible=2"),
        ({"negligible": 0.1, "prune": "map"}, "negligible=0.1 with prune='map'; expected prune='smooth'"),
    ],
)
def test_bad_words(words: dict, message: str) -> None:
    X, y = noisy(0, 30)
    with pytest.raises(et.QueryError, match=message):
        et.SmoothedTreeClassifier(**words).fit(X, y)
