"""``feature_importances_``: the decrease of impurity of a tree, and how probably a tree of an average uses a column."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import everytree as et
from everytree import reference
from everytree.reference.listing import Listing

NAMES = ["c", "a", "b"]  # not in alphabetical order: the order is that of the columns


def data(seed=0, n=14, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, 3))
    y = np.where(rng.random(n) < 0.75, (X[:, 0] + X[:, 2]) % n_classes, rng.integers(0, n_classes, n))
    return pd.DataFrame(X, columns=NAMES), y


def impurity(y) -> Fraction:
    counts = np.unique(y, return_counts=True)[1].tolist()
    return sum(counts) - Fraction(sum(count * count for count in counts), max(1, sum(counts)))


def by_hand(nested, X, y, totals):
    """Add up what each split of a nested tree takes from the impurity of the examples that reach it."""
    if nested is None:
        return
    test, no, yes = nested
    sides = X[:, test] == 1
    totals[test] += impurity(y) - impurity(y[sides]) - impurity(y[~sides])
    by_hand(yes, X[sides], y[sides], totals)
    by_hand(no, X[~sides], y[~sides], totals)


@pytest.mark.parametrize(
    "model",
    [
        et.OptimalTreeClassifier(2),
        et.OptimalTreeClassifier(3, minimize="entropy"),
        et.MAPTreeClassifier(None),
    ],
)
def test_one_tree_has_the_shares_that_the_rows_give(model):
    for seed in range(5):
        X, y = data(seed, 40, 3)
        fitted = model.fit(X, y)
        totals = [Fraction(0)] * 3
        by_hand(fitted.tree_.nested, X.to_numpy(), y, totals)
        assert sum(totals) > 0
        wanted = [float(each / sum(totals)) for each in totals]
        np.testing.assert_allclose(fitted.feature_importances_, wanted, rtol=1e-12)


def test_cart_has_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    X = rng.permuted(np.tile(np.arange(120.0), (3, 1)), axis=1).T
    y = (X[:, 1] > 50).astype(int) + (X[:, 2] > 90)
    ours = et.CARTTreeClassifier().fit(X, y)
    theirs = DecisionTreeClassifier(random_state=0, max_leaf_nodes=ours.n_leaves_).fit(X, y)
    assert ours.n_leaves_ == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-12)


def test_trees_on_whole_columns_count_each_branch():
    X = pd.DataFrame({"n": [5.0] * 12, "colour": ["red", "green", "blue"] * 4, "x": np.arange(12.0)})
    y = [0, 1, 2] * 4
    for model in (et.C45TreeClassifier(), et.PathAverageTreeClassifier()):
        assert model.fit(X, y).feature_importances_.tolist() == [0, 1, 0]
    rows = [["sunny", 85], ["sunny", 70], ["rain", 96], ["rain", 80], ["sunny", 72], ["sunny", 90]]
    tree = et.C45TreeClassifier().fit(rows, ["no", "yes", "yes", "yes", "yes", "no"])
    before, between = 6 - (16 + 4) / 6, 4 - (4 + 4) / 4  # at the root; at the node of sunny days
    np.testing.assert_allclose(tree.feature_importances_, [(before - between) / before, between / before])


@pytest.mark.parametrize(
    "model",
    [et.OptimalTreeClassifier(), et.MAPTreeClassifier(), et.C45TreeClassifier(), et.CARTTreeClassifier()],
)
def test_a_single_leaf_has_none(model):
    assert model.fit(
        pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), [1, 1]
    ).feature_importances_.tolist() == [0, 0]


@pytest.mark.parametrize("min_leaf", [1, 2])
def test_an_average_lists_every_tree(min_leaf):
    for seed in range(3):
        X, y = data(seed)
        model = et.BayesOptimalClassifier(2, min_leaf).fit(X, y)
        space = reference.Space(
            reference.Table.from_data(X.to_numpy().tolist(), y.tolist()), max_depth=2, min_leaf=min_leaf
        )
        listing = Listing(reference.Bayes(space, reference.SizePrior(0.8, 0.8), 1.0))
        np.testing.assert_allclose(model.feature_importances_, listing.test_inclusion(), rtol=1e-10)


def test_the_cuts_of_a_column_count_together():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"flat": [7.0] * 30, "x": np.arange(30.0), "z": rng.random(30)})
    model = et.BayesOptimalClassifier(2, bins=3).fit(X, (X["x"] > 12).astype(int))
    tests = [test.column for test in model.binarizer_.tests_]
    assert tests == [1, 1, 2, 2]
    space = model.posterior_.space
    table = reference.Table.from_data(
        np.repeat(space.table.rows, space.table.class_counts.sum(axis=1), axis=0).tolist(),
        [c for counts in space.table.class_counts.tolist() for c, n in enumerate(counts) for _ in range(n)],
    )
    model_twin = reference.Bayes(
        reference.Space(table, max_depth=2, min_leaf=2), reference.SizePrior(0.8, 0.8), 1.0
    )
    wanted = Listing(model_twin).attribute_inclusion(tests)
    np.testing.assert_allclose(model.feature_importances_, [0, wanted[1], wanted[2]], rtol=1e-10)
    assert model.attribute_inclusion() == dict(zip(X.columns, model.feature_importances_, strict=True))


def trees_of(tree, node=0):
    """Yield (probability, columns that are used) for every tree of an option tree."""
    yield float(tree.p_leaf[node]), frozenset()
    for option in tree.options(node):
        column = tree.columns.index(tree.column(option))
        below = [list(trees_of(tree, child)) for _, child in tree.branches(option)]
        for parts in product(*below):
            yield (
                float(tree.p_option[option]) * float(np.prod([p for p, _ in parts])),
                frozenset({column}).union(*(used for _, used in parts)),
            )


@pytest.mark.parametrize("made", [et.SmoothedTreeClassifier, et.OptionTreeClassifier])
def test_grown_trees_list_every_tree(made):
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"u": rng.random(40), "v": rng.choice(["p", "q", "r"], 40), "w": rng.random(40)})
    y = ((X["u"] > 0.5) ^ (X["v"] == "p")).astype(int)
    model = made(max_depth=3, stop_factor=0.001).fit(X, y)
    listed = list(trees_of(model.tree_))
    assert sum(p for p, _ in listed) == pytest.approx(1)
    wanted = [sum(p for p, used in listed if column in used) for column in range(3)]
    assert max(wanted) > 0
    np.testing.assert_allclose(model.feature_importances_, wanted, rtol=1e-10)


def test_several_trees_are_the_mean_of_each():
    X, y = data(1, 60)
    model = et.SmoothedTreeClassifier(n_trees=3, random_state=0).fit(X, y)
    listed = [list(trees_of(each)) for each in model.tree_.trees]
    one = [[sum(p for p, used in trees if j in used) for j in range(3)] for trees in listed]
    np.testing.assert_allclose(model.feature_importances_, np.mean(one, axis=0), rtol=1e-10)


def test_draws_are_counted():
    X, y = data(1, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = et.MCMCTreeClassifier(2, n_draws=50, burn_in=10, n_chains=2, random_state=0).fit(X, y)
    used = [{int(test) for test in tree.test if test >= 0} for tree in model.draws_]
    columns = [test.column for test in model.binarizer_.tests_]
    share = [np.mean([any(columns[test] == j for test in each) for each in used]) for j in range(3)]
    np.testing.assert_allclose(model.feature_importances_, share)


def test_what_has_no_trees_has_no_importances():
    X, y = data(1, 40)
    small = et.BayesOptimalClassifier(2).fit(X, y).compress()
    sampled = et.BayesOptimalClassifier(2, method="collapsed", n_draws=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampled.fit(X, y)
    for model in (small, sampled, et.OptimalTreeClassifier()):
        assert not hasattr(model, "feature_importances_")


def test_a_file_keeps_them(tmp_path):
    X, y = data(1, 40)
    for model in (
        et.OptimalTreeClassifier(2),
        et.BayesOptimalClassifier(2),
        et.C45TreeClassifier(),
        et.OptionTreeClassifier(),
    ):
        model.fit(X, y).save(tmp_path / "model.json")
        again = et.load_model(tmp_path / "model.json")
        np.testing.assert_allclose(again.feature_importances_, model.feature_importances_)
