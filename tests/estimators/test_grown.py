"""SmoothedTreeClassifier and OptionTreeClassifier: against the plain twin, identities, batches, odd data, bad words."""

from __future__ import annotations

import math
import pickle
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import everytree as et
from everytree import reference
from everytree.common.limits import Limits
from everytree.errors import DataError, LimitReached, QueryError
from everytree.reference.grower import Grower
from everytree.reference.grown import fold_grown, grow_columns, predict_grown, restructure_columns, walk
from everytree.reference.whole_columns import WholeColumns
from everytree.trees.option_tree import OptionTree
from everytree.trees.tree_mean import TreeMean

# The tables of this file have gaps.
SmoothedTreeClassifier = partial(et.SmoothedTreeClassifier, missing="category")
OptionTreeClassifier = partial(et.OptionTreeClassifier, missing="category")
BOTH = (SmoothedTreeClassifier, OptionTreeClassifier)
EVERY_OPTION = {
    "option_factor": 0,
    "max_options": None,
    "max_nodes": None,
    "stop_factor": 0,
    "cuts": "each",
    "split_pure": True,
}


def mixed(seed=0, n=60, n_classes=2):
    """A frame with numbers, gaps, words and truth values, and labels that depend on some of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 30, n).astype(float),
            "colour": rng.choice(["red", "green", "blue"], n),
            "smoker": rng.random(n) < 0.5,
            "weight": rng.integers(0, 5, n) / 4,
        }
    )
    y = ((frame["age"] > 25).to_numpy().astype(int) + (frame["colour"] == "red").to_numpy()) % n_classes
    y = np.where(rng.random(n) < 0.2, rng.integers(0, n_classes, n), y)
    y[:n_classes] = np.arange(n_classes)
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, y


def plain(frame, y, n_classes, **words):
    """The twin of a classifier, grown on the same columns."""
    columns, kinds = [], []
    for name in frame:
        values = [None if pd.isna(value) else value for value in frame[name].tolist()]
        numeric = frame[name].dtype.kind == "f"
        known = (
            (False, True)
            if frame[name].dtype.kind == "b"
            else tuple(sorted({v for v in values if v is not None}))
        )
        columns.append(values)
        kinds.append("numeric" if numeric else known)
    return Grower(WholeColumns(columns, kinds, list(y), n_classes), **words)


def rows_of(frame):
    return [[None if pd.isna(v) else v for v in row] for row in frame.itertuples(index=False)]


PRIORS = {
    "leaf_penalty": reference.LeafPenaltyPrior(0.5),
    "size": reference.SizePrior(0.8, 0.8),
    "coding": reference.CodingPrior(),
}


@pytest.mark.parametrize(("prior", "prune"), [*product(PRIORS, ("smooth", "map", "none"))])
def test_smoothed_trees_are_those_of_the_reference(prior, prune):
    for seed, binary in product(range(3), (False, True)):
        X, y = mixed(seed, n_classes=2 + seed % 2)
        n_classes = 2 + seed % 2
        dirichlet = ["1/C", 1.0, [0.3] * n_classes][seed]
        model = SmoothedTreeClassifier(
            prior=prior, prune=prune, dirichlet=dirichlet, stop_factor=0.2,
            nominal_tests="binary" if binary else "multiway",
        ).fit(X, y)  # fmt: skip
        grower = plain(
            X, y, n_classes, prior=PRIORS[prior], dirichlet=dirichlet, stop_factor=0.2, binary_nominal=binary
        )
        root = grow_columns(grower)
        fold = fold_grown(grower, root, prune)
        assert model.log_evidence_ == pytest.approx(fold.log_s[root], rel=1e-11)
        new = mixed(seed + 50)[0]
        new.loc[0, "colour"] = "mauve"
        new.loc[1, "age"] = 1e6
        wanted = [predict_grown(grower, root, fold, row) for row in rows_of(new)]
        np.testing.assert_allclose(model.predict_proba(new), wanted, rtol=1e-10)


@pytest.mark.parametrize(("cuts", "factor", "depth"), [*product(("average", "each"), (0.005, 0.3), (2, 3))])
def test_option_trees_are_those_of_the_reference(cuts, factor, depth):
    for seed in range(2):
        X, y = mixed(seed, n=40)
        model = OptionTreeClassifier(factor, 3, None, cuts=cuts, max_depth=depth, prior="coding").fit(X, y)
        grower = plain(
            X, y, 2, prior=reference.CodingPrior(), stop_factor=0.1, each_cut=cuts == "each",
            option_factor=factor, max_options=3, max_depth=depth,
        )  # fmt: skip
        root = grow_columns(grower)
        fold = fold_grown(grower, root)
        assert model.n_nodes_ == sum(1 for _ in walk(root))
        assert model.log_evidence_ == pytest.approx(fold.log_s[root], rel=1e-11)
        wanted = [predict_grown(grower, root, fold, row) for row in rows_of(X)]
        np.testing.assert_allclose(model.predict_proba(X), wanted, rtol=1e-10)


def zero_one(seed=0, n=80, d=4, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(float)
    y = np.where(rng.random(n) < 0.8, (X[:, 0] + X[:, 1]) % n_classes, rng.integers(0, n_classes, n))
    return X, y.astype(int)


@pytest.mark.parametrize("prior", ["uniform", "size", "leaf_penalty", "shapes", "coding"])
def test_every_option_is_the_exact_posterior(prior):
    X, y = zero_one()
    for depth, min_leaf in ((3, 1), (2, 4)):
        words = {"max_depth": depth, "prior": prior, "dirichlet": 0.7}
        model = OptionTreeClassifier(**EVERY_OPTION, **words, min_branch=min_leaf).fit(X, y)
        exact = et.BayesOptimalClassifier(**words, min_leaf=min_leaf).fit(X, y)
        assert model.log_evidence_ == pytest.approx(exact.log_evidence_, rel=1e-11)
        np.testing.assert_allclose(model.predict_proba(X), exact.predict_proba(X), rtol=1e-10)


def test_one_option_is_smoothing():
    X, y = mixed(3, 200)
    one = OptionTreeClassifier(1.0, 1, None, stop_factor=0.001).fit(X, y)
    smooth = SmoothedTreeClassifier(stop_factor=0.001).fit(X, y)
    assert one.tree_ == smooth.tree_
    best = SmoothedTreeClassifier(stop_factor=0.001, prune="map").fit(X, y)
    assert best.log_evidence_ < smooth.log_evidence_
    assert best.tree_.is_tree
    assert best.n_nodes_ < smooth.n_nodes_
    pruned = SmoothedTreeClassifier(stop_factor=0.001, prune="map", prior="coding").fit(
        X, y
    )  # minimum encoding
    assert pruned.n_nodes_ <= best.n_nodes_


@pytest.mark.parametrize(
    "model",
    [
        SmoothedTreeClassifier(),
        SmoothedTreeClassifier(2, missing="impute", dirichlet="fit"),
        SmoothedTreeClassifier(n_trees=2, random_state=0),
        OptionTreeClassifier(missing="impute"),
    ],
)
def test_weights_are_repetitions(model):
    X, y = mixed(4)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    one = clone(model).fit(X, y, sample_weight=weights)
    other = clone(model).fit(X.loc[np.repeat(X.index, weights)], np.repeat(y, weights))
    assert one.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-10)


@pytest.mark.parametrize("seed", [0, 1])
def test_weights_are_repetitions_within_a_budget(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (120, 5)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    y, weights = rng.integers(0, 3, 120), rng.integers(0, 6, 120)
    for words in (
        {"max_nodes": 60, "stop_factor": 0},
        {"max_nodes": 300, "option_factor": 0, "cuts": "each"},
        {"max_nodes": 40, "stop_factor": 0, "max_options": 1},
    ):
        one = OptionTreeClassifier(**words).fit(X, y, sample_weight=weights)
        other = OptionTreeClassifier(**words).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert one.budget_reached_
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-10)


def test_several_trees_are_averaged():
    X, y = mixed(5, 120)
    model = SmoothedTreeClassifier(n_trees=4, random_state=3).fit(X, y)
    assert isinstance(model.tree_, TreeMean)
    assert len({tree.to_text() for tree in model.tree_.trees}) > 1
    data = model._reader.read(model._frame(X))
    parts = [tree.predict_columns(data, Limits().control()) for tree in model.tree_.trees]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(parts, axis=0), rtol=1e-13)
    again = SmoothedTreeClassifier(n_trees=4, random_state=3).fit(X, y)
    assert again.tree_ == model.tree_
    assert SmoothedTreeClassifier(n_trees=4, random_state=4).fit(X, y).tree_ != model.tree_
    assert model.n_nodes_ == sum(tree.n_nodes for tree in model.tree_.trees)
    assert model.to_text().count("\n\n") == 3


def test_subsampling_tells_what_it_saved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20000, 5))
    y = (X[:, 2] > 0.3) ^ (rng.random(20000) < 0.02)
    model = SmoothedTreeClassifier(subsample=100, max_depth=1, random_state=0).fit(X, y)
    assert model.subsample_["saved"] > 0.5
    assert model.subsample_["seen"] < model.subsample_["all"]
    whole = SmoothedTreeClassifier(max_depth=1).fit(X, y)
    assert whole.subsample_ is None
    assert model.tree_ == whole.tree_


def test_the_fitted_parameter_maximises_the_evidence():
    X, y = mixed(6, 150, n_classes=3)
    for made in (SmoothedTreeClassifier(dirichlet="fit"), OptionTreeClassifier(dirichlet="fit")):
        model = made.fit(X, y)
        a = model.dirichlet_
        assert isinstance(a, float)
        assert model.log_evidence_ > clone(made).set_params(dirichlet="1/C").fit(X, y).log_evidence_
        here = model.tree_
        for other in (a * 0.8, a * 1.25):  # on the same graph
            moved = OptionTree(here._graph, here.columns, here.classes, here._log_leaf, [[other] * 3])
            assert moved.log_evidence < here.log_evidence + 1e-6


def test_post_pruning_and_budget():
    X, y = mixed(7, 150)
    whole = OptionTreeClassifier(max_nodes=None).fit(X, y)
    assert whole.budget_reached_ is False
    assert whole.n_merged_ > 0
    light = OptionTreeClassifier(max_nodes=None, option_weight=0.2).fit(X, y)
    assert light.n_options_ < whole.n_options_
    assert light.log_evidence_ < whole.log_evidence_
    small = OptionTreeClassifier(max_nodes=50).fit(X, y)
    assert small.budget_reached_ is True
    assert small.n_nodes_ <= 60
    drawn = whole.tree_.draw(5, random_state=0)
    assert all(tree.is_tree for tree in drawn)


# --- batches


def test_batches_of_option_trees_are_all_rows():
    X, y = mixed(8, 120)
    model = OptionTreeClassifier()
    for part in (slice(0, 50), slice(50, 51), slice(51, 120)):
        model.partial_fit(X[part], y[part])
    np.testing.assert_allclose(
        model.predict_proba(X), OptionTreeClassifier().fit(X, y).predict_proba(X), rtol=1e-10
    )


@pytest.mark.long
def test_batches_restructure_as_the_reference_does():
    for seed, lead in product(range(4), (1.0, 10.0, 1e6)):
        X, y = mixed(seed, 90)
        model = SmoothedTreeClassifier(restructure=lead, stop_factor=0.2).partial_fit(X[:40], y[:40])
        model.partial_fit(X[40:], y[40:])
        words = {"prior": reference.LeafPenaltyPrior(0.5), "stop_factor": 0.2}
        first = grow_columns(plain(X[:40], y[:40], 2, **words))
        grower = plain(X, y, 2, **words)
        assert grower.data.kinds == plain(X[:40], y[:40], 2).data.kinds  # else codes are in another order
        root = restructure_columns(grower, first, lead)
        fold = fold_grown(grower, root)
        assert model.log_evidence_ == pytest.approx(fold.log_s[root], rel=1e-11)
        wanted = [predict_grown(grower, root, fold, row) for row in rows_of(X)]
        np.testing.assert_allclose(model.predict_proba(X), wanted, rtol=1e-10)


def test_new_values_and_labels_come_with_a_batch():
    for made in BOTH:
        model = made().fit([["b", 1.0, None], ["c", 2.0, None]] * 20, ["no", "yes"] * 20)
        assert model.predict([["a", 1.0, None]]).shape == (1,)
        model.partial_fit([["a", 3.0, 7.5]] * 20 + [[None, 1.0, 8.5]] * 3, ["maybe"] * 20 + ["no"] * 3)
        assert model.classes_.tolist() == ["maybe", "no", "yes"]
        assert model.predict([["a", 3.0, None], ["b", 1.0, 8.0], ["c", 2.0, None]]).tolist() == [
            "maybe",
            "no",
            "yes",
        ]
        assert model._reader.columns[0].values == ("b", "c", "a")
        assert model._reader.columns[2].kind == "numeric"
        back = pickle.loads(pickle.dumps(model))
        back.partial_fit([["d", 3.0, 7.5]], ["maybe"])
        assert back._reader.columns[0].values[-1] == "d"


def test_a_refused_batch_changes_nothing():
    X, y = mixed(9)
    for made in BOTH:
        model = made().fit(X, y)
        before = dict(vars(model))
        wrong = X.copy()
        wrong["age"] = "old"
        words = X.assign(**dict.fromkeys(X.select_dtypes(bool).columns, "no"))
        assert not words.equals(X)
        for rows, labels, error in (
            (wrong, y, DataError),
            (words, y, DataError),
            (X[["age"]], y, DataError),
            (X, ["a"] * len(y), DataError),
        ):
            with pytest.raises(error):
                model.partial_fit(rows, labels)
            assert vars(model) == before
        model.set_params(time_limit=1e-9)
        before = dict(vars(model))
        with pytest.raises(LimitReached):
            model.partial_fit(X, y)
        assert vars(model) == before
        model.set_params(time_limit=None, missing="error")
        with pytest.raises(DataError, match="missing values in column 'age'"):
            model.partial_fit(X, y)
    with pytest.raises(DataError, match="not among classes"):
        SmoothedTreeClassifier().partial_fit(X, y, classes=[5, 6])
    given = SmoothedTreeClassifier().partial_fit(X, y, classes=[0, 1, 2])
    assert given.classes_.tolist() == [0, 1, 2]
    assert given.predict_proba(X).shape[1] == 3


def test_a_loaded_model_has_no_rows_to_add_to(tmp_path):
    X, y = mixed(10)
    SmoothedTreeClassifier().fit(X, y).save(tmp_path / "model.json")
    with pytest.raises(QueryError, match="loaded from a file"):
        et.load_model(tmp_path / "model.json").partial_fit(X, y)


# --- odd data


@pytest.mark.parametrize("made", BOTH)
def test_odd_data(made):
    one = made().fit([[1.0, "a"]], ["only"])
    assert one.predict([[2.0, "b"], [np.nan, None]]).tolist() == ["only", "only"]
    assert one.n_nodes_ == 1
    same = made().fit([[1.0, 5], [1.0, 6], [1.0, 7]] * 5, [0, 0, 0] * 5)
    assert same.predict_proba([[0, 0]]).tolist() == [[1.0]]
    empty = made().fit(pd.DataFrame({"gone": [None] * 20, "x": [0.0, 1.0] * 10}), [0, 1] * 10)
    assert empty.predict(pd.DataFrame({"gone": [None, 3.0], "x": [0.0, 1.0]})).tolist() == [0, 1]
    rng = np.random.default_rng(0)
    many = rng.permutation(2000) % 1000
    X = np.column_stack([many, rng.normal(size=2000)]).astype(float)
    wide = made(max_depth=12, nominal=[0] if made is OptionTreeClassifier else None).fit(X, many)
    proba = wide.predict_proba(X[:50])
    assert proba.shape == (50, 1000)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    unseen = made().fit([["a"], ["b"]] * 10, [0, 1] * 10)
    np.testing.assert_allclose(unseen.predict_proba([["c"], [None]]), [[0.5, 0.5]] * 2)


def test_missing_values():
    X = pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0] * 10, "c": ["a", "b", None, "b"] * 10})
    y = [0, 1, 1, 1] * 10
    own = SmoothedTreeClassifier(missing="category").fit(X, y)
    assert own.predict_proba(X.iloc[2:3])[0, 1] > 0.9
    assert "is missing" in own.to_text()
    filled = SmoothedTreeClassifier(missing="impute").fit(X, y)
    assert filled._reader.fills == pytest.approx((7 / 3, 1))
    gone = pd.DataFrame({"x": [np.nan], "c": [None]})
    known = pd.DataFrame({"x": [filled._reader.fills[0]], "c": ["b"]})
    assert filled.predict_proba(gone).tolist() == filled.predict_proba(known).tolist()
    strict = et.SmoothedTreeClassifier(missing="error")
    with pytest.raises(DataError, match="missing values in column 'x'"):
        strict.fit(X, y)
    with pytest.raises(DataError, match="missing values"):
        strict.fit(X.dropna(), [0, 1, 1] * 10).predict(gone)


def test_two_plies_find_what_one_cannot():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (400, 6)).astype(float)
    y = (X[:, 1] != X[:, 4]).astype(int)
    assert SmoothedTreeClassifier(stop_factor=1, max_depth=2).fit(X, y).score(X, y) < 0.7
    assert SmoothedTreeClassifier(2, stop_factor=1, max_depth=2).fit(X, y).score(X, y) == 1
    assert OptionTreeClassifier(lookahead=2, max_depth=2).fit(X, y).score(X, y) == 1


# --- words


BAD = [
    ({"lookahead": 0}, "lookahead=0"),
    ({"lookahead": 65}, "lookahead=65; expected a whole number from 1 to 64"),
    ({"beam": 0}, "beam=0"),
    ({"prior": "odd"}, "prior='odd'"),
    ({"prior": "size", "alpha": 2}, "alpha=2"),
    ({"dirichlet": "odd"}, "dirichlet='odd'.*\"fit\""),
    ({"dirichlet": -1}, "dirichlet=-1"),
    ({"dirichlet": [1, 2, 3]}, "dirichlet has shape"),
    ({"stop_factor": -1}, "stop_factor=-1"),
    ({"max_depth": -1}, "max_depth=-1"),
    ({"min_branch": 0}, "min_branch=0"),
    ({"criterion": "gini"}, "criterion='gini'"),
    ({"criterion": "bayes", "lookahead": 2}, "only criterion='quality' looks ahead"),
    ({"nominal_tests": "odd"}, "nominal_tests='odd'"),
    ({"missing": "odd"}, "missing='odd'"),
    ({"time_limit": -1}, "time_limit=-1"),
]
OWN = [
    (SmoothedTreeClassifier, {"prune": "odd"}, "prune='odd'"),
    (SmoothedTreeClassifier, {"n_trees": 0}, "n_trees=0"),
    (SmoothedTreeClassifier, {"n_trees": 2, "criterion": "gain_ratio"}, "no probability"),
    (SmoothedTreeClassifier, {"subsample": 0.5}, "subsample=0.5"),
    (SmoothedTreeClassifier, {"subsample": 100, "lookahead": 2}, "subsample=100 goes with"),
    (SmoothedTreeClassifier, {"restructure": 0.5}, "restructure=0.5"),
    (SmoothedTreeClassifier, {"random_state": "x"}, "random_state='x'"),
    (OptionTreeClassifier, {"option_factor": 2}, "option_factor=2"),
    (OptionTreeClassifier, {"max_options": 0}, "max_options=0"),
    (OptionTreeClassifier, {"max_nodes": 0}, "max_nodes=0"),
    (OptionTreeClassifier, {"cuts": "best"}, "cuts='best'"),
    (OptionTreeClassifier, {"option_weight": 1}, "option_weight=1"),
    (OptionTreeClassifier, {"split_pure": "yes"}, "split_pure='yes'"),
    (OptionTreeClassifier, {"criterion": "gain_ratio"}, "criterion='gain_ratio'"),
]


@pytest.mark.parametrize(
    ("made", "words", "message"), [*((made, *bad) for bad in BAD for made in BOTH), *OWN], ids=str
)
def test_bad_words_are_named(made, words, message):
    with pytest.raises(QueryError, match=message):
        made(**words).fit([[0.0], [1.0]] * 4, [0, 1] * 4)


def test_a_prior_that_forbids_everything():
    class Never(et.Prior):
        def tables(self, deepest):
            return et.PriorTables([-math.inf], [-math.inf], [-math.inf], per_test=False)

    with pytest.raises(QueryError, match="probability zero"):
        SmoothedTreeClassifier(prior=Never()).fit([[0.0], [1.0]] * 4, [0, 1] * 4)


def test_a_kept_test_obeys_a_new_least_size():
    X, y = [[float(k)] for k in range(40)], [k < 4 for k in range(40)]
    model = SmoothedTreeClassifier(restructure=1e300).partial_fit(X, y)
    assert model.tree_.branches(0)[0][0] == "x0 <= 3.5"
    model.set_params(min_branch=10).partial_fit(X[:1], y[:1])
    assert min(model.tree_.counts[k].sum() for k in range(model.n_nodes_)) >= 10


def test_text_is_not_an_unseen_truth_value():
    for made in BOTH:
        model = made().fit(pd.DataFrame({"b": [True, False] * 5}), [0, 1] * 5)
        with pytest.raises(DataError, match=r"column 'b' held booleans during fit but holds text now .*'no'"):
            model.predict(pd.DataFrame({"b": ["no", "yes"]}))
        coded = made(nominal=["b"]).fit(pd.DataFrame({"b": [1, 2] * 5}), [0, 1] * 5)
        with pytest.raises(DataError, match="column 'b' held numbers during fit but holds text now"):
            coded.predict(pd.DataFrame({"b": ["1", "2"]}))
        empty = coded.predict_proba(pd.DataFrame({"b": [None, None]}))
        assert (empty == empty[0]).all()


def test_large_weights_stop_at_limits():
    X, y = np.arange(300.0)[:, None], np.arange(300) % 2
    weights = np.full(300, 2**30)  # tables of millions at every depth
    model = SmoothedTreeClassifier(dirichlet="decay", stop_factor=0, memory_limit=200 * 2**20)
    with pytest.raises(LimitReached, match="memory"):
        model.fit(X, y, sample_weight=weights)
    with pytest.raises(DataError, match=r"row 128 has weight 70368744177664; .* divide them"):
        model.fit(X, y, sample_weight=np.full(300, 2**46))


@pytest.mark.parametrize("made", BOTH)
def test_limits(made):
    X, y = mixed(0, 500)
    with pytest.raises(LimitReached, match="time"):
        made(time_limit=1e-9).fit(X, y)
    with pytest.raises(LimitReached, match="memory"):
        made(memory_limit=1000).fit(X, y)
