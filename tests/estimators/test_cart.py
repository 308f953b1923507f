"""CARTTreeClassifier: the cross-validation by plain refits of scikit-learn, weights, missing values, odd inputs."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from mixed_tables import random_table
from sklearn.tree import DecisionTreeClassifier

from everytree import CARTTreeClassifier
from everytree.data.columns import ColumnReader
from everytree.data.frames import read_frame
from everytree.errors import DataError, QueryError
from everytree.estimators.cart import distinct_rows
from everytree.estimators.cart_growth import Growth, asked_of
from everytree.trees.cost_complexity import stratified_counts

NAN = float("nan")


def noisy(seed, n=90, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2).astype(np.float32).astype(float)  # scikit-learn reads 32 bits
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] * (X[:, 2] > 0), [-0.5, 0.5][: n_classes - 1])
    return X, np.where(rng.random(n) < 0.2, rng.integers(0, n_classes, n), y)


def in_order(X, y):
    """The different rows sorted by value, then class, with their numbers: what folds are drawn for."""
    rows = sorted({(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)})
    given = [(*row, label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    counts = [given.count(row) for row in rows]
    table = np.array(rows)
    return table[:, :-1], table[:, -1].astype(int), np.array(counts)


def by_refitting(X, y, rule, criterion, folds=10, seed=0):
    """The whole method by refits of scikit-learn's tree with each price: (prices, errors, price, tree)."""
    rng = np.random.default_rng(seed)
    tree_seed = int(rng.integers(2**31))

    def tree(price=0.0):
        return DecisionTreeClassifier(criterion=criterion, ccp_alpha=price, random_state=tree_seed)

    X, y, counts = in_order(X, y)
    steps = np.maximum(tree().cost_complexity_pruning_path(X, y, counts).ccp_alphas, 0)
    steps = steps[np.concatenate([[True], np.diff(steps) > 1e-12])]
    prices = [*(np.sqrt(a * b) for a, b in pairwise(steps)), np.inf]
    errors = np.zeros(len(prices))
    for test in stratified_counts(y, counts, folds, rng).T:
        train = counts - test
        for k, price in enumerate(prices):
            # zero would be no pruning at all, and splits that gain nothing would stay
            made = tree(max(min(price, 1e9), 1e-13)).fit(X[train > 0], y[train > 0], train[train > 0])
            errors[k] += test[made.predict(X) != y].sum()
    share = errors / counts.sum()
    best = share.min()
    limit = best + (np.sqrt(best * (1 - best) / counts.sum()) if rule == "1-SE" else 0)
    chosen = max(k for k in range(len(prices)) if share[k] <= limit + 1e-12)
    return prices, share, prices[chosen], tree(min(prices[chosen], 1e9)).fit(X, y, counts)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rule", ["0-SE", "1-SE"])
def test_the_method_by_refitting(seed, rule):
    criterion, n_classes = ("gini", "entropy")[seed % 2], 2 + seed % 3
    X, y = noisy(seed, 60, min(n_classes, 3))
    made = CARTTreeClassifier(rule, criterion, random_state=seed).fit(X, y)
    prices, errors, price, tree = by_refitting(X, y, rule, criterion, seed=seed)
    assert made.alphas_ == pytest.approx(prices, abs=1e-12)
    assert made.cv_errors_ == pytest.approx(errors, abs=1e-12)
    assert made.cv_se_ == pytest.approx(np.sqrt(errors * (1 - errors) / len(y)), abs=1e-12)
    assert made.alpha_ == pytest.approx(price, abs=1e-12)
    assert made.size_ == tree.tree_.node_count
    grid = np.random.default_rng(seed).normal(size=(300, 3)).astype(np.float32).astype(float)
    for rows in (X, grid):
        assert made.predict_proba(rows) == pytest.approx(tree.predict_proba(rows), abs=1e-12)


@pytest.mark.long
def test_both_rules_prune_and_one_se_prunes_more():
    sizes = []
    for seed in range(12):
        X, y = noisy(seed, 150)
        full = DecisionTreeClassifier(random_state=0).fit(X, y).tree_.node_count
        sizes.append([full] + [CARTTreeClassifier(rule).fit(X, y).size_ for rule in ("0-SE", "1-SE")])
    full, zero, one = np.array(sizes).T
    assert (full > zero).all()
    assert (zero >= one).all()
    assert (zero > one).any()


def test_risk_by_errors_is_another_order_of_pruning():
    X, y = noisy(0, 200)
    impurity, error = (CARTTreeClassifier(risk=risk).fit(X, y) for risk in ("impurity", "error"))
    assert impurity.alphas_.size != error.alphas_.size
    # prices are differences of whole errors over whole leaves over 200 examples: the largest step is a plain fraction
    assert error.alphas_[0] == 0
    assert error.alphas_[-1] == np.inf


@pytest.mark.parametrize("seed", range(6))
def test_a_weight_is_a_repetition_and_order_is_nothing(seed):
    X, y = random_table(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(y))
    words = {
        "rule": ("0-SE", "1-SE")[seed % 2],
        "risk": ("impurity", "error")[seed // 2 % 2],
        "min_leaf": 1 + seed,
    }
    some = CARTTreeClassifier(**words).fit(X, y, sample_weight=weight)
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    many = CARTTreeClassifier(**words).fit(X.iloc[rows], y[rows])
    assert some.tree_ == many.tree_
    assert some.cv_errors_.tolist() == many.cv_errors_.tolist()
    assert some.alphas_.tolist() == many.alphas_.tolist()
    leaves = some.tree_.attribute < 0
    assert some.tree_.counts[leaves].sum() == weight.sum()
    assert some.tree_.counts[leaves].sum(axis=1).min() >= 1 + seed


def test_the_same_seed_is_the_same_tree():
    X, y = random_table(0)
    one, two = (CARTTreeClassifier(random_state=5).fit(X, y) for _ in range(2))
    assert one.tree_ == two.tree_
    folds = {CARTTreeClassifier(random_state=seed).fit(X, y).cv_errors_.tobytes() for seed in range(5)}
    assert len(folds) > 1


def test_names_values_and_missing_values_in_the_text():
    X = pd.DataFrame(
        {"age": [20, 30, NAN, 70, 80, NAN] * 10, "colour": ["red", "red", "red", "blue", "green", None] * 10}
    )
    y = ["young", "young", "young", "old", "old", "old"] * 10
    made = CARTTreeClassifier(random_state=1).fit(X, y)
    assert made.predict(X).tolist() == y
    text = made.to_text()
    assert "colour = red" in text or "age <= 50" in text
    only = CARTTreeClassifier().fit(X[["colour"]], y)
    assert only.to_text().splitlines() == ["colour = red: young (30)", "colour != red or missing: old (30)"]
    new = pd.DataFrame({"colour": ["red", "violet", None]})
    assert only.predict(new).tolist() == ["young", "old", "old"]
    holes = CARTTreeClassifier().fit(X[["age"]], ["there" if there else "gone" for there in X["age"].notna()])
    assert holes.to_text().splitlines() == ["age is known: there (40)", "age is missing: gone (20)"]
    assert holes.predict(pd.DataFrame({"age": [99.0, NAN]})).tolist() == ["there", "gone"]


def gappy(rng):
    """A growth and its rows: few or many values, some columns with gaps, weights."""
    n = int(rng.integers(2, 60))
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(int(rng.integers(0, 3))),
            "b": rng.choice(list("uvwxy")[: int(rng.integers(1, 6))], n),
            "c": rng.random(n) < 0.5,
        }
    )
    for column in X:
        X[column] = X[column].astype(object).mask(rng.random(n) < rng.choice([0, 0.1, 0.5]), None)
    reader = ColumnReader.fit(read_frame(X))
    cells, y, weights = distinct_rows(
        reader.cells(read_frame(X)), rng.integers(0, 3, n), rng.integers(1, 4, n)
    )
    asked = asked_of(cells, reader.columns, 99)
    return (
        Growth(reader.columns, (0, 1, 2), asked, "gini", int(rng.integers(1, 4)), None, 0),
        cells,
        y,
        weights,
    )


@pytest.mark.long
def test_the_tree_sends_its_rows_where_it_counted_them():
    rng = np.random.default_rng(0)
    seen = {"known": 0, "gaps": 0}
    for _ in range(150):
        growth, cells, y, weights = gappy(rng)
        tree = growth.grow(cells, growth.ranked(cells), y, weights)
        ends = np.zeros(tree.counts.shape)
        np.add.at(ends, (tree.apply(cells), y), weights)
        assert (tree.added_up(ends) == tree.counts).all()
        assert tree.n_nodes == 1 or tree.counts.sum(axis=1).min() >= growth.min_leaf
        seen["known"] += int(np.isinf(tree.threshold).sum())
        seen["gaps"] += int((tree.missing >= 0).sum())
    assert min(seen.values()) > 50


@pytest.mark.long
def test_ranks_among_all_rows_grow_the_tree_of_some():
    rng = np.random.default_rng(2)
    for _ in range(50):
        growth, cells, y, weights = gappy(rng)
        used = np.flatnonzero(rng.random(y.size) < 0.7)
        if used.size:
            alone = growth.grow(cells[used], growth.ranked(cells[used]), y[used], weights[used])
            assert growth.grow(cells[used], growth.ranked(cells)[used], y[used], weights[used]) == alone


def gini(counts):
    return counts.sum() - (counts**2).sum() / max(counts.sum(), 1)


@pytest.mark.long
def test_the_first_test_is_the_best_of_all():
    rng = np.random.default_rng(1)
    for _ in range(150):
        growth, cells, y, weights = gappy(rng)
        tree = growth._replace(max_depth=1).grow(cells, growth.ranked(cells), y, weights)

        def cost(inside, growth=growth, y=y, weights=weights):
            parts = [np.bincount(y[rows], weights[rows], 3) for rows in (inside, ~inside)]
            small = min(part.sum() for part in parts) < growth.min_leaf
            return np.inf if small else sum(map(gini, parts))

        costs = [np.inf]
        for j, column in enumerate(growth.columns):
            value, gone = cells[:, j], np.isnan(cells[:, j])
            costs.append(cost(gone))
            for at in np.unique(value[~gone]):
                inside = value <= at if column.kind == "numeric" else value == at
                costs += [cost(inside), cost(inside | gone)]
        if tree.n_nodes == 1:
            assert min(costs) == np.inf or gini(tree.counts[0]) < 1e-9
        else:
            assert gini(tree.counts[1]) + gini(tree.counts[2]) == pytest.approx(min(costs), abs=1e-9)


def test_two_values_make_one_test_and_a_hole_is_learnt():
    colour = ["red", None, "blue"] * 10
    made = CARTTreeClassifier().fit(pd.DataFrame({"colour": colour}), [c or "none" for c in colour])
    assert made.predict(pd.DataFrame({"colour": ["red", None, "blue"]})).tolist() == ["red", "none", "blue"]
    assert made.n_leaves_ == 3


def test_a_value_that_is_missing_where_none_was_stops_at_the_node():
    made = CARTTreeClassifier().fit([[float(x)] for x in range(30)], [0] * 10 + [1] * 20)
    assert made.predict_proba([[NAN]])[0] == pytest.approx([1 / 3, 2 / 3])
    assert made.apply([[NAN], [0.0], [29.0]]).tolist() == [0, 1, 2]


def test_numbers_that_32_bits_cannot_tell_apart():
    x = 1.0 + np.arange(40) * 1e-12
    made = CARTTreeClassifier().fit(x[:, None], np.arange(40) // 20)
    assert made.size_ == 3
    assert x[19] <= made.tree_.threshold[0] < x[20]
    big = np.array([[1e300], [-1e300], [1.7e308], [-1.7e308]] * 5)
    assert CARTTreeClassifier().fit(big, [1, 0, 1, 0] * 5).score(big, [1, 0, 1, 0] * 5) == 1


def test_laplace():
    X, y = [[0]] * 10 + [[1]] * 10, ["a"] * 10 + ["b"] * 10
    assert CARTTreeClassifier(laplace=True).fit(X, y).predict_proba([[0]])[0] == pytest.approx(
        [11 / 12, 1 / 12]
    )


def test_odd_tables():
    one = CARTTreeClassifier().fit([[1.0]], ["only"])
    assert (one.to_text(), one.n_folds_, one.alphas_.tolist()) == ("only (1)", 0, [np.inf])
    assert np.isnan(one.cv_errors_).all()
    two = CARTTreeClassifier().fit(
        [[0.0], [1.0]], ["a", "b"]
    )  # each alone: whatever is learnt without it errs
    assert (two.n_folds_, two.size_, two.cv_errors_.tolist()) == (2, 1, [1.0, 1.0])
    X = pd.DataFrame({"constant": [1.0] * 8, "gone": [None] * 8, "text": ["a"] * 8})
    same = CARTTreeClassifier().fit(X, [0, 1] * 4)
    assert same.predict_proba(X.assign(gone="now"))[0].tolist() == [0.5, 0.5]
    assert CARTTreeClassifier().fit(X, [7] * 8).predict(X).tolist() == [7] * 8


def test_a_class_with_fewer_examples_than_folds():
    X, y = noisy(3, 100, 2)
    y[:3] = 9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = CARTTreeClassifier().fit(X, y)
    assert made.n_folds_ == 10
    assert made.classes_.tolist() == [0, 1, 9]
    assert CARTTreeClassifier(folds=10).fit(X[:7], y[:7]).n_folds_ == 7


def test_a_thousand_classes():
    x = np.arange(2000.0)[:, None]
    made = CARTTreeClassifier(folds=2, max_depth=5).fit(x, np.arange(2000) // 2)
    assert len(made.classes_) == 1000
    assert made.predict_proba(x[:5]).shape == (5, 1000)


def test_limits_of_growth():
    X, y = noisy(1, 200)
    made = CARTTreeClassifier(max_depth=2, min_leaf=7).fit(X, y)
    assert made.tree_.depth <= 2
    assert made.tree_.counts.sum(axis=1).min() >= 7
    assert CARTTreeClassifier(min_leaf=150).fit(X, y).size_ == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "2-SE"}, "rule='2-SE'; expected '0-SE' or '1-SE'"),
        ({"criterion": "mse"}, "criterion='mse'; expected 'gini' or 'entropy'"),
        ({"risk": ["error"]}, r"risk=\['error'\]; expected 'impurity' or 'error'"),
        ({"folds": 1}, "folds=1; expected a whole number ≥ 2"),
        ({"min_leaf": 0}, "min_leaf=0; expected a whole number ≥ 1"),
        ({"max_depth": -1}, "max_depth=-1; expected a whole number ≥ 0, or None"),
        ({"max_categories": 0}, "max_categories=0"),
        ({"random_state": "x"}, "random_state='x'"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(QueryError, match=message):
        CARTTreeClassifier(**options).fit(*noisy(0, 20))


def test_bad_columns():
    names = pd.DataFrame({"name": [f"n{i}" for i in range(300)]})
    with pytest.raises(
        DataError, match="nominal column 'name' has 300 different values, more than max_categories=256"
    ):
        CARTTreeClassifier().fit(names, [0, 1] * 150)
    made = CARTTreeClassifier().fit(*random_table(0))
    with pytest.raises(DataError, match="'a' held numbers during fit but holds text"):
        made.predict(random_table(0)[0].assign(a="high"))
    with pytest.raises(DataError, match="nominal names column 'height'"):
        CARTTreeClassifier(nominal=["height"]).fit(*random_table(0))
