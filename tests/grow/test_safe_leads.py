"""Batches: nodes with a lead that no new examples can overturn are not looked at, and the tree is the same."""

from __future__ import annotations

import math
import pickle
from random import Random

import numpy as np
import pandas as pd
import pytest
from grown_cases import PRIORS, View, Weights, dirichlets, mixed, same_graph, settings_of, training_columns

import everytree as et
import everytree._core as core
from everytree.common.limits import Limits
from everytree.reference.grower import Grower
from everytree.reference.grown import grow_columns
from everytree.reference.whole_columns import WholeColumns


def part(data: WholeColumns, n: int) -> WholeColumns:
    """The first examples of a table."""
    return WholeColumns(
        [column[:n] for column in data.columns],
        data.kinds,
        data.classes[:n],
        data.n_classes,
        data.weights[:n],
    )


def wide(seed: int, n: int) -> WholeColumns:
    """A table in which one column leads by far, with gaps, ties and values that come late."""
    rng = Random(seed)
    kinds = ["numeric", tuple("abcd"), "numeric", tuple("xy"), "numeric"]
    columns: list[list[object]] = [[] for _ in kinds]
    classes = []
    for i in range(n):
        lead = rng.randrange(8) / 2
        late = rng.choice("abcd" if i > n // 2 else "ab")
        row = [lead, late, rng.choice((None, rng.randrange(4))), rng.choice("xy"), rng.randrange(i + 1) / 2]
        for column, value in zip(columns, row, strict=True):
            column.append(value)
        classes.append(int(lead > 1.5) if rng.random() < 0.95 else rng.randrange(2))
    weights = [rng.randrange(1, 3) for _ in range(n)] if seed % 2 else None
    return WholeColumns(columns, kinds, classes, 2, weights)


def same_arrays(one, other) -> None:
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, other.arrays()[name], err_msg=name)


@pytest.mark.parametrize("lead", [1.0, 10.0, 1e6])
def test_the_tree_is_the_same_as_with_looking(lead):
    looked = unlooked = 0
    for seed in range(150):
        data = mixed(seed) if seed % 3 == 0 else wide(seed, 16 + seed)
        rng = Random(seed)
        n = len(data.classes)
        ours, theirs = PRIORS[seed % len(PRIORS)]
        dirichlet = rng.choice(dirichlets(data.n_classes))
        weights = Weights(ours, dirichlet, data.n_classes)
        options = {
            "min_leaf": rng.choice((1, 1, 1, 2)),
            "max_depth": rng.choice((2, None, None)),
            "stop_factor": rng.choice((0.0, 0.3)),
            "binary_nominal": rng.random() < 0.2,
            "plies": rng.choice((1, 1, 1, 2)),
        }
        ends = sorted(rng.randrange(1, n + 1) for _ in range(3))
        tables = [part(data, end) for end in ends]
        settings = settings_of(Grower(data, theirs, dirichlet, **options))
        graph, report = core.grow_options(
            training_columns(tables[0]), settings, weights.prior, weights.dirichlet, Limits().control()
        )
        plain = graph
        for table in tables[1:]:
            graph, report = restructured(weights, table, graph, lead, settings, report["rivals"].tolist())
            plain, without = restructured(weights, table, plain, lead, settings, [])
            same_arrays(graph, plain)
            assert without["n_unlooked"] == 0
            assert (report["n_kept"], report["n_regrown"]) == (without["n_kept"], without["n_regrown"])
            unlooked += report["n_unlooked"]
            looked += report["n_kept"] - report["n_unlooked"]
    assert unlooked > 0.3 * looked


def test_rivals_are_those_of_the_definition():
    """rival = max(logM, max over the other columns and their tests of Σ L), of nodes that have a test."""
    n_nodes = 0
    for seed in range(30):
        data = mixed(seed)
        ours, theirs = PRIORS[seed % len(PRIORS)]
        weights = Weights(ours, 1.0, data.n_classes)
        grower = Grower(data, theirs, 1.0, stop_factor=0.1)
        root = grow_columns(grower)
        graph, report = core.grow_options(
            training_columns(data), settings_of(grower), weights.prior, weights.dirichlet, Limits().control()
        )
        pairs = same_graph(grower, root, View(graph))
        for node, place in pairs.items():
            if not node.options:
                assert math.isnan(report["rivals"][place])
                continue
            worths = [
                grower.worth(node.rows, node.depth, test, 1)
                for column, tests in grower.feasible(node.rows, node.depth).items()
                for test in tests
                if column != node.options[0].test.column
            ]
            wanted = max([grower.log_m(node.rows, node.depth + 1), *worths])
            assert report["rivals"][place] == pytest.approx(wanted, rel=1e-11)
            n_nodes += 1
    assert n_nodes > 20


def batches(seed: int = 1, n: int = 600):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{j}": rng.normal(size=n).round(1) for j in range(4)})
    X["word"] = rng.choice(["a", "b", "c"], n)
    y = ((X["x0"] > 0.2) & (X["word"] != "b")).to_numpy() ^ (rng.random(n) < 0.05)
    return X, y


def test_classifiers_tell_what_they_did_not_look_at():
    X, y = batches()
    one, other = et.SmoothedTreeClassifier(), et.SmoothedTreeClassifier()
    one.partial_fit(X[:300], y[:300])
    other.partial_fit(X[:300], y[:300])
    assert one.restructured_ is None
    n_unlooked = 0
    for start in range(300, 600, 20):
        rows = slice(start, start + 20)
        one = pickle.loads(pickle.dumps(one)).partial_fit(X[rows], y[rows])
        other._rivals = None
        other.partial_fit(X[rows], y[rows])
        assert one.tree_ == other.tree_
        assert other.restructured_["unlooked"] == 0
        assert one.restructured_["kept"] == other.restructured_["kept"]
        n_unlooked += one.restructured_["unlooked"]
    assert n_unlooked >= 15  # the root at least


@pytest.mark.parametrize(
    "change",
    [
        {"prior": "size"},
        {"alpha": 0.5},
        {"dirichlet": 3.0},
        {"dirichlet": et.DepthDecay(0.9, 0.5)},
        {"min_branch": 5},
        {"max_depth": 2},
    ],
)
def test_other_parameters_mean_a_look_at_every_node(change):
    X, y = batches()
    model = et.SmoothedTreeClassifier(prior="size", dirichlet=0.9).partial_fit(X[:500], y[:500])
    unchanged = change == {"prior": "size"}
    model.set_params(**change).partial_fit(X[500:510], y[500:510])
    assert (model.restructured_["unlooked"] > 0) == unchanged


def test_a_new_class_means_a_look_at_every_node():
    X, y = batches()
    y = y.astype(int)
    model = et.SmoothedTreeClassifier().partial_fit(X[:500], y[:500])
    model.partial_fit(X[500:510], [2] * 10)
    assert model.restructured_["unlooked"] == 0
    model.partial_fit(X[510:520], y[510:520])
    assert model.restructured_["unlooked"] > 0


def restructured(weights, table, graph, lead, settings, rivals):
    return core.restructure(
        training_columns(table),
        graph,
        lead,
        settings,
        weights.prior,
        weights.dirichlet,
        Limits().control(),
        rivals,
    )
