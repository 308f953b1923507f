"""PathAverageTreeClassifier: the reference in all variants, unseen values, weights, text, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import everytree as et
from everytree.errors import DataError, LimitReached, QueryError
from everytree.reference import cano_grow, cano_predict


def nominal_data(seed):
    """A frame of declared categories, its codes, and classes that all occur."""
    rng = np.random.default_rng(seed)
    n, n_values, n_classes = int(rng.integers(8, 60)), [2, 3, 4], 2 + seed % 4
    codes = np.column_stack([rng.integers(0, v, n) for v in (2, 3, 3)])
    y = np.where(rng.random(n) < 0.8, (codes[:, 0] + codes[:, 1]) % n_classes, rng.integers(0, n_classes, n))
    y[:n_classes] = np.arange(n_classes)
    return frame_of(codes, n_values), codes, y, n_values, n_classes


def frame_of(codes, n_values):
    names = [[f"v{k}" for k in range(v)] for v in n_values]
    return pd.DataFrame(
        {f"x{j}": pd.Categorical.from_codes(codes[:, j], categories=names[j]) for j in range(len(n_values))}
    )


@pytest.mark.long
@pytest.mark.parametrize(
    ("averaging", "leaf"), [(True, "dirichlet"), (False, "dirichlet"), (False, "laplace")]
)
@pytest.mark.parametrize("nonuniform", [True, False, "parent"])
@pytest.mark.parametrize("s", [1, 2, "classes"])
def test_probabilities_are_those_of_the_reference(s, nonuniform, averaging, leaf):
    for seed in range(40):
        X, codes, y, n_values, n_classes = nominal_data(seed)
        model = et.PathAverageTreeClassifier(s, averaging, nonuniform, leaf=leaf).fit(X, y)
        plain = cano_grow(codes.tolist(), y.tolist(), n_values, n_classes, s, nonuniform)
        rows = np.array([[a, b, c] for a in range(2) for b in range(3) for c in range(4)])
        expected = [cano_predict(plain, row, averaging, leaf) for row in rows.tolist()]
        assert model.predict_proba(frame_of(rows, n_values)) == pytest.approx(np.array(expected), abs=1e-12)


def test_the_four_variants_differ():
    X, _, y, _, _ = nominal_data(3)
    seen = {
        et.PathAverageTreeClassifier(1, averaging, nonuniform).fit(X, y).predict_proba(X).tobytes()
        for averaging in (True, False)
        for nonuniform in (True, False)
    }
    assert len(seen) == 4


def test_three_pure_branches_and_a_constant_attribute_are_four_nodes():
    X = pd.DataFrame({"kind": list("abc") * 10, "same": pd.Categorical(["x"] * 30, categories=["x", "y"])})
    assert et.PathAverageTreeClassifier(nonuniform=True).fit(X, list("abc") * 10).n_nodes_ == 4
    assert et.PathAverageTreeClassifier(nonuniform="parent").fit(X, list("abc") * 10).n_nodes_ == 10


def test_averaging_starts_at_the_prior_and_ends_near_the_leaf():
    X = pd.DataFrame({"colour": ["red"] * 40 + ["blue"] * 40})
    y = [0] * 40 + [1] * 40
    mean = et.PathAverageTreeClassifier().fit(X, y)
    leaf = et.PathAverageTreeClassifier(averaging=False).fit(X, y)
    assert leaf.predict_proba(X[:1])[0, 0] == pytest.approx(40.5 / 41)
    assert mean.predict_proba(X[:1])[0, 0] == pytest.approx(40.5 / 41)  # B is about 10^22
    assert mean.tree_.log_b[0] > 40


def test_a_value_that_was_not_there_ends_at_the_node_that_asks():
    X = pd.DataFrame({"colour": ["red"] * 30 + ["blue"] * 10})
    y = ["stop"] * 30 + ["go"] * 10
    model = et.PathAverageTreeClassifier().fit(X, y)
    new = pd.DataFrame({"colour": ["green", "red"]})
    assert model.apply(new).tolist() == [0, 2]
    assert model.predict_proba(new)[0] == pytest.approx([10.5 / 41, 30.5 / 41])  # the counts of the root


def test_a_missing_value_where_none_was_missing_ends_at_the_node_too():
    X = pd.DataFrame({"age": np.arange(60.0)})
    model = et.PathAverageTreeClassifier(missing="category").fit(X, np.arange(60) // 30)
    assert model.apply(pd.DataFrame({"age": [np.nan]})).tolist() == [0]
    holes = X.where(X["age"] % 7 != 0)
    model = et.PathAverageTreeClassifier(missing="category", bins=2).fit(holes, np.arange(60) // 30)
    assert "age is missing" in str(model.tree_)


def test_empty_branches_are_there_and_predict_by_the_path():
    X = frame_of(np.array([[0], [1]] * 20), [3])
    y = [0, 1] * 20
    model = et.PathAverageTreeClassifier().fit(X, y)
    assert (model.n_nodes_, model.n_leaves_, model.depth_) == (4, 3, 1)
    assert model.tree_.counts.tolist() == [[20, 20], [20, 0], [0, 20], [0, 0]]
    assert model.tree_.probabilities[3].tolist() == [0.5, 0.5]


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=50), "b": rng.choice(["x", "y", "z"], 50)})
    y = np.where(X["a"] > 0, "up", "down")
    weights = rng.integers(0, 4, 50)
    rows = np.repeat(np.arange(50), weights)
    for words in ({}, {"nonuniform": True, "bins": "mdl"}):
        one = et.PathAverageTreeClassifier(**words).fit(X, y, sample_weight=weights)
        other = et.PathAverageTreeClassifier(**words).fit(X.iloc[rows], y[rows])
        assert str(one.tree_) == str(other.tree_)
        assert (one.predict_proba(X) == other.predict_proba(X)).all()


def test_text_has_names_values_and_counts():
    X = pd.DataFrame({"age": list(range(40)), "smoker": [True, False] * 20})
    y = ["well"] * 20 + ["ill"] * 20
    text = et.PathAverageTreeClassifier(bins=2).fit(X, y).tree_.to_text()
    assert text.splitlines() == [
        "ill  p = 0.5  (ill 20, well 20)  split by age, B = 10^11.1",
        "├─ age <= 19.5: well  p = 0.976  (well 20)",
        "└─ age > 19.5: ill  p = 0.976  (ill 20)",
    ]
    tree = et.PathAverageTreeClassifier(bins=2).fit(X, y).tree_
    assert tree.to_text(max_depth=0) == text.splitlines()[0]
    assert "p = 0.97619" in tree.to_text(precision=5)
    with pytest.raises(DataError, match="max_depth is -1"):
        tree.to_text(max_depth=-1)


def test_one_example_one_class_and_columns_that_say_nothing():
    alone = et.PathAverageTreeClassifier().fit([[1.5]], ["only"])
    assert alone.predict([[7.0]]).tolist() == ["only"]
    assert alone.predict_proba([[7.0]]).tolist() == [[1.0]]
    X = pd.DataFrame({"same": [3.0] * 20, "gone": [None] * 20, "text": ["a"] * 20})
    y = [0, 1] * 10
    for missing in ("category", "impute"):
        model = et.PathAverageTreeClassifier(missing=missing).fit(X, y)
        assert model.n_nodes_ == 1
        assert model.predict_proba(X[:1]).tolist() == [[0.5, 0.5]]
    later = pd.DataFrame({"same": [4.0], "gone": ["now"], "text": ["b"]})
    assert et.PathAverageTreeClassifier(missing="category").fit(X, y).predict_proba(later).tolist() == [
        [0.5, 0.5]
    ]


@pytest.mark.parametrize("nonuniform", [True, False])
def test_a_thousand_classes(nonuniform):
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(1000)] * 3)
    X = np.column_stack([y + rng.normal(0, 5, 3000), rng.normal(size=3000)])
    model = et.PathAverageTreeClassifier(nonuniform=nonuniform, bins=20).fit(X, y)
    proba = model.predict_proba(X[:50])
    assert proba.shape == (50, 1000)
    assert proba.sum(axis=1) == pytest.approx(np.ones(50))
    assert model.n_nodes_ > 1


def test_copies_and_pickles_predict_the_same():
    X, _, y, _, _ = nominal_data(5)
    model = et.PathAverageTreeClassifier(2, nonuniform=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert (clone(model).fit(X, y).predict_proba(X) == model.predict_proba(X)).all()


def test_nothing_but_the_path_changes_a_prediction():
    # Each row of the text is a path: the probabilities at its end are those of the rows that end there.
    X, _, y, _, n_classes = nominal_data(9)
    model = et.PathAverageTreeClassifier().fit(X, y)
    ends = model.apply(X)
    for node in np.unique(ends):
        inside = y[ends == node]
        assert model.tree_.counts[node].tolist() == np.bincount(inside, minlength=n_classes).tolist()


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({"s": 0}, QueryError, "s=0; expected a finite number"),
        ({"s": "all"}, QueryError, "s='all'; expected a positive number such as 1 or 2, or 'classes'"),
        ({"s": float("nan")}, QueryError, "s=nan"),
        ({"averaging": "yes"}, QueryError, "averaging='yes'; expected True or False"),
        ({"nonuniform": 1}, QueryError, "nonuniform=1; expected True, False or 'parent'"),
        ({"nonuniform": "own"}, QueryError, "nonuniform='own'"),
        ({"averaging": False, "leaf": "m"}, QueryError, "leaf='m'; expected 'dirichlet' or 'laplace'"),
        ({"leaf": "laplace"}, QueryError, "leaf='laplace'; expected 'dirichlet' where averaging is True"),
        ({"bins": 1}, DataError, "bins=1"),
        ({"bins": "best"}, DataError, "bins='best'; expected .* 'mdl'"),
        ({"missing": "drop"}, DataError, "missing='drop' is not known"),
        ({"time_limit": -1}, QueryError, "time_limit=-1"),
        ({"memory_limit": 10}, LimitReached, "memory limit"),
    ],
)
def test_bad_parameters(words, error, message):
    with pytest.raises(error, match=message):
        et.PathAverageTreeClassifier(**words).fit([[0.0], [1.0]] * 20, [0, 1] * 20)
