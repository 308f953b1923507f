"""BayesOptimalClassifier and MAPTreeClassifier: hyper-parameters, batches, files."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

import everytree as et
from everytree.errors import DataError, LimitReached, QueryError

BOTH = [et.BayesOptimalClassifier, et.MAPTreeClassifier]


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "color": rng.choice(["red", "blue", "green"], n),
            "flag": rng.integers(0, 2, n),
            "late": (np.arange(n) > n // 2).astype(int),
        }
    )
    y = np.where((X["age"] > 50) & (X["color"] != "red") | (rng.random(n) < 0.1), "sick", "well")
    return X, y


# --- hyper-parameters


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize(
    "words",
    [
        {"prior": "fit"},
        {"dirichlet": "fit"},
        {"prior": "fit", "dirichlet": "fit_decay"},
        {"prior": "fit_leaf_penalty"},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_fitted_hyper_parameters_have_no_less_evidence(made, words, seed):
    X, y = data(seed=seed)
    plain = {"alpha": 0.6, "beta": 0.4, "max_depth": 2}
    start = {
        key: {"fit": None, "fit_decay": "decay", "fit_leaf_penalty": "leaf_penalty"}[word]
        for key, word in words.items()
    }
    usual = made(**plain, **{key: value for key, value in start.items() if value}).fit(X, y)
    model = made(**plain, **words).fit(X, y)
    assert model.evidence_fit_.default.prior == usual.prior_
    assert model.evidence_fit_.default.dirichlet == usual.dirichlet_
    assert model.evidence_fit_.gain >= 0
    if made is et.BayesOptimalClassifier and words.get("prior") != "fit_leaf_penalty":
        assert model.log_evidence_ >= usual.log_evidence_
    assert usual.evidence_fit_ is None
    # the values in force, given by hand, are the same model
    again = made(max_depth=2, prior=model.prior_, dirichlet=model.dirichlet_).fit(X, y)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    if made is et.BayesOptimalClassifier:
        assert again.log_evidence_ == model.log_evidence_
    else:
        assert again.log_joint_ == model.log_joint_ <= model.log_evidence_
        assert again.log_evidence_ is None


def test_values_in_force():
    X, y = data()
    for given, expected in [("1/C", 0.5), ("decay", et.DepthDecay()), ([1.0, 2.0], (1.0, 2.0)), (2, 2.0)]:
        assert et.MAPTreeClassifier(max_depth=1, dirichlet=given).fit(X, y).dirichlet_ == expected
    assert et.MAPTreeClassifier(max_depth=1, alpha=0.5).fit(X, y).prior_ == et.SizePrior(0.5, 0.8)
    assert et.MAPTreeClassifier(max_depth=1, prior="coding").fit(X, y).prior_ == et.CodingPrior()


def test_the_average_mixes_the_grid():
    X, y = data()
    model = et.BayesOptimalClassifier(max_depth=2, prior="average", dirichlet="average").fit(X, y)
    expected = sum(
        w * et.BayesOptimalClassifier(max_depth=2, prior=prior, dirichlet=a).fit(X, y).predict_proba(X)
        for prior, a, w in model.mixture_
    )
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    assert sum(w for _, _, w in model.mixture_) == pytest.approx(1)
    best = max(model.mixture_, key=lambda part: part[2])
    assert (model.prior_, model.dirichlet_) == best[:2]
    model.set_params(prior="size", dirichlet=1.0).fit(X, y)
    assert not hasattr(model, "mixture_")


@pytest.mark.parametrize(
    ("made", "params", "message"),
    [
        (et.MAPTreeClassifier, {"prior": "average"}, "one tree needs one prior"),
        (
            et.BayesOptimalClassifier,
            {"prior": "fit", "dirichlet": "average"},
            "all by evidence .*, average over both",
        ),
        (et.BayesOptimalClassifier, {"prior": "fit_coding"}, "fit_leaf_penalty"),
        (et.BayesOptimalClassifier, {"prior": "fitted"}, "prior='fitted'"),
        (et.BayesOptimalClassifier, {"dirichlet": "fitted"}, "dirichlet='fitted'"),
        (et.BayesOptimalClassifier, {"dirichlet": -1}, "dirichlet=-1"),
        (et.BayesOptimalClassifier, {"prior": "fit", "alpha": 2}, "alpha=2"),
    ],
)
def test_messages(made, params, message):
    with pytest.raises(QueryError, match=message):
        made(max_depth=1, **params).fit(*data())


def test_the_most_probable_tree_is_the_first_of_the_top():
    for seed in range(4):
        X, y = data(seed=seed)
        model = et.BayesOptimalClassifier(max_depth=3).fit(X, y)
        tree = et.MAPTreeClassifier(max_depth=3).fit(X, y)
        first = model.posterior_.top_trees(1)[0]
        assert tree.tree_ == first
        assert tree.log_joint_ == pytest.approx(first.info["log_joint"], rel=1e-13)


@pytest.mark.parametrize("made", BOTH)
def test_enough_depth_is_no_limit(made):
    X, y = data(30)
    free = made(max_depth=None, min_leaf=3).fit(X, y)
    deep = made(max_depth=9, min_leaf=3).fit(X, y)
    if made is et.BayesOptimalClassifier:
        assert free.log_evidence_ == pytest.approx(deep.log_evidence_, abs=1e-10)
    else:
        assert free.log_joint_ == pytest.approx(deep.log_joint_, abs=1e-10)
    np.testing.assert_allclose(free.predict_proba(X), deep.predict_proba(X), atol=1e-10)


# --- batches


def batches(X, y, n):
    for part in np.array_split(np.arange(len(y)), n):
        yield X.iloc[part], y[part]


def assert_equal(one, other, X):
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.log_evidence_ == other.log_evidence_
    assert one.fingerprint_ == other.fingerprint_
    assert one.binarizer_.tests_ == other.binarizer_.tests_
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.classes_.dtype == other.classes_.dtype


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize("params", [{}, {"prior": "fit"}, {"prior": "coding", "dirichlet": "decay"}], ids=str)
def test_batches_equal_all_rows_at_once(made, params):
    X, y = data()
    order = np.argsort(X["color"].to_numpy(), kind="stable")  # values come late, "late" is constant at first
    X, y = X.iloc[order].reset_index(drop=True), y[order]
    params = {"max_depth": 2, "bins": {"age": [30, 50, 65]}, **params}
    model = made(**params)
    for part, labels in batches(X, y, 4):
        assert model.partial_fit(part, labels) is model
    whole = made(**params).fit(X, y)
    assert_equal(model, whole, X)
    # fit first, then more
    more = made(**params).fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert_equal(more, whole, X)
    # and fit forgets
    assert_equal(more.fit(X, y), whole, X)


def test_weights_are_repetitions_in_batches():
    X, y = data()
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    model = et.BayesOptimalClassifier(max_depth=2, bins={"age": [40, 60]})
    for part in np.array_split(np.arange(len(y)), 3):
        model.partial_fit(X.iloc[part], y[part], sample_weight=weights[part])
    again = np.repeat(np.arange(len(y)), weights)
    assert_equal(model, clone(model).fit(X.iloc[again], y[again]), X)


def test_labels_that_come_late():
    X, y = data()
    order = np.argsort(y)
    X, y = X.iloc[order], y[order]
    model = et.BayesOptimalClassifier(max_depth=2, bins={"age": [40, 60]})
    for part, labels in batches(X, y, 5):
        model.partial_fit(part, labels)
    assert_equal(model, clone(model).fit(X, y), X)


def test_classes_named_at_the_first_call():
    X, y = data()
    model = et.BayesOptimalClassifier(max_depth=1).partial_fit(X, y, classes=["well", "sick", "dead"])
    assert model.classes_.tolist() == ["dead", "sick", "well"]
    assert model.predict_proba(X).shape[1] == 3
    model.partial_fit(X, y, classes=["well", "sick", "dead"])
    with pytest.raises(DataError, match="is not the same as on the first call"):
        model.partial_fit(X, y, classes=["well", "sick"])
    with pytest.raises(DataError, match="'lost', which is not among classes"):
        model.partial_fit(X, np.where(y == "well", "lost", y))


def test_a_refused_batch_leaves_the_model_as_it_was(tmp_path):
    X, y = data()
    model = et.BayesOptimalClassifier(max_depth=2, bins={"age": [40]}).partial_fit(X[:30], y[:30])
    before = dict(vars(model))
    for X_bad, y_bad, message in [
        (X[30:].drop(columns="age"), y[30:], "yet now missing"),
        (X[30:].assign(color=1), y[30:], "held text"),
        (X[30:].assign(flag=5), y[30:], "only 0 and 1"),
        (X[30:], np.arange(30), "labels before are text"),
        (X[30:], y[:3], "inconsistent numbers of samples"),
    ]:
        with pytest.raises(DataError, match=message):
            model.partial_fit(X_bad, y_bad)
        assert vars(model) == before
    with pytest.raises(QueryError, match="have changed since the first batch"):
        model.set_params(bins=3).partial_fit(X[30:], y[30:])
    model.set_params(bins={"age": [40]}, memory_limit=1)
    with pytest.raises(LimitReached):
        model.partial_fit(X[30:], y[30:])
    model.set_params(memory_limit=None).partial_fit(X[30:], y[30:])
    assert_equal(model, et.BayesOptimalClassifier(max_depth=2, bins={"age": [40]}).fit(X, y), X)


def test_a_loaded_model_has_no_counts_to_add_to(tmp_path):
    X, y = data()
    et.MAPTreeClassifier(max_depth=1).fit(X, y).save(tmp_path / "m.json")
    with pytest.raises(QueryError, match="loaded from a file"):
        et.load_model(tmp_path / "m.json").partial_fit(X, y)


@pytest.mark.parametrize("made", BOTH)
def test_pickled_models_go_on(made):
    X, y = data()
    params = {"max_depth": 2, "bins": {"age": [40, 60]}}
    model = pickle.loads(pickle.dumps(made(**params).partial_fit(X[:30], y[:30])))
    assert_equal(model.partial_fit(X[30:], y[30:]), made(**params).fit(X, y), X)


# --- files and the rest


@pytest.mark.parametrize(
    ("made", "params"),
    [
        (et.BayesOptimalClassifier, {"prior": "fit", "dirichlet": "fit_per_class"}),
        (et.BayesOptimalClassifier, {"prior": "average", "dirichlet": "average"}),
        (et.MAPTreeClassifier, {"prior": "fit", "dirichlet": "fit_decay"}),
        (et.MAPTreeClassifier, {"prior": "fit_leaf_penalty"}),
    ],
    ids=str,
)
def test_files_hold_the_values_in_force(made, params, tmp_path):
    X, y = data()
    model = made(max_depth=2, **params).fit(X, y)
    model.save(tmp_path / "m.json", target="y")
    loaded = et.load_model(tmp_path / "m.json")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.log_evidence_ == model.log_evidence_
    assert loaded.prior_ == model.prior_
    assert loaded.evidence_fit_ is None
    loaded.save(tmp_path / "again.json", target="y")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()
    X.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    report = et.verify_model(tmp_path / "m.json", tmp_path / "data.csv")
    assert not [fact for fact in report.facts if fact.verdict == "false"]
    if "average" not in params.values():
        checked = {fact.name for fact in report.facts if fact.verdict == "true"}
        assert "log_evidence" in checked


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("prior", "size", "expected the value that the model was fitted with"),
        ("dirichlet", "much", "expected the value that the model was fitted with"),
        ("mixture", [[1, 2]], "what the average was taken over"),
        ("mixture", [], "what the average was taken over"),
    ],
)
def test_a_file_with_other_values_is_refused(field, value, message):
    from everytree.files.model_file import model_from_dict, model_to_dict

    X, y = data()
    written = model_to_dict(et.BayesOptimalClassifier(max_depth=1, prior="average").fit(X, y))
    written["claims"][field] = value
    with pytest.raises(DataError, match=message):
        model_from_dict(written)


def test_in_a_cross_validation():
    X, y = data()
    assert cross_val_score(et.BayesOptimalClassifier(max_depth=2, dirichlet="fit"), X, y, cv=3).mean() > 0.7


# --- limits


def wide(n=200, m=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, m))
    return X, (X[:, 0] ^ X[:, 1]) | (rng.random(n) < 0.1)


@pytest.mark.long
def test_a_limit_leaves_the_deepest_finished_average(tmp_path):
    X, y = wide(120, 14)
    model = et.BayesOptimalClassifier(max_depth=None, min_leaf=1, memory_limit=400_000)
    with pytest.warns(ConvergenceWarning, match="exact average over all trees of depth at most") as told:
        model.fit(X, y)
    assert told[0].filename == __file__
    assert model.stop_reason_ in ("memory limit", "hopeless")
    assert model.depth_ == model.depth_profile_.depth >= 1
    asked = et.BayesOptimalClassifier(max_depth=model.depth_, min_leaf=1).fit(X, y)
    # Under a memory limit rows are asked in smaller batches, which may change the last bit.
    np.testing.assert_allclose(asked.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-13)
    assert asked.log_evidence_ == model.log_evidence_
    assert (asked.stop_reason_, asked.depth_profile_) == ("complete", None)
    # a file goes on where the limit was met, and its claims hold
    model.set_params(memory_limit=None).save(tmp_path / "m.json", target="y")
    loaded = et.load_model(tmp_path / "m.json")
    assert loaded.depth_ == model.depth_
    assert loaded.stop_reason_ == model.stop_reason_
    np.testing.assert_allclose(loaded.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-13)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y.astype(int))
    frame.to_csv(tmp_path / "data.csv", index=False)
    report = et.verify_model(tmp_path / "m.json", tmp_path / "data.csv", time_limit=600)
    assert {fact.name: fact.verdict for fact in report.facts}["log_evidence"] == "true"


def test_enough_time_is_no_limit():
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = et.BayesOptimalClassifier(max_depth=3, time_limit=600).fit(X, y)
    assert (model.stop_reason_, model.depth_) == ("complete", 3)
    assert [step.depth for step in model.depth_profile_] == [1, 2, 3]
    assert np.array_equal(
        model.predict_proba(X), et.BayesOptimalClassifier(max_depth=3).fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize("words", [{"prior": "fit"}, {"prior": "average"}, {"dirichlet": "fit"}], ids=str)
def test_a_choice_at_the_deepest_finished_depth(words):
    X, y = wide()
    model = et.BayesOptimalClassifier(max_depth=None, min_leaf=1, memory_limit=2_000_000, **words)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    asked = et.BayesOptimalClassifier(max_depth=model.depth_, min_leaf=1, **words).fit(X, y)
    # what is left of the memory decides how many rows are asked together, and so the last bit
    np.testing.assert_allclose(asked.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-14)
    assert asked.evidence_fit_.parameters == model.evidence_fit_.parameters


def test_a_search_that_a_limit_ends_has_a_tree_and_a_bound():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (300, 40))
    y = X[:, :5].sum(axis=1) + rng.integers(0, 3, 300) > 3
    weights = {"alpha": 0.95, "beta": 0.5, "dirichlet": 2.5}
    model = et.MAPTreeClassifier(max_depth=None, min_leaf=1, memory_limit=3_000_000, **weights)
    with pytest.warns(ConvergenceWarning, match="before the most probable tree was proved") as told:
        model.fit(X, y)
    assert told[0].filename == __file__
    assert not model.optimal_
    assert model.stop_reason_ == "memory limit"
    assert model.upper_bound_ > model.log_joint_
    assert (
        model.log_joint_
        >= et.MAPTreeClassifier(max_depth=1, min_leaf=1, dirichlet=2.5).fit(X, y).log_joint_ - 1
    )


def test_no_time_at_all():
    X, y = wide()
    with pytest.raises(LimitReached):
        et.BayesOptimalClassifier(time_limit=1e-9).fit(X, y)


def test_unknown_words_name_those_that_are_known():
    with pytest.raises(
        QueryError, match=r"prior='best'; expected one of 'uniform'.*, or \"fit\", \"average\" or \"loo\""
    ):
        et.BayesOptimalClassifier(prior="best").fit(*data())
    with pytest.raises(
        QueryError, match=r"dirichlet='best'; .*, or \"decay\", \"fit\", \"average\" or \"loo\""
    ):
        et.MAPTreeClassifier(dirichlet="best").fit(*data())


def test_unknown_methods_are_refused():
    with pytest.raises(QueryError, match="method='quick'; expected one of 'exact', 'collapsed'"):
        et.BayesOptimalClassifier(method="quick").fit(*data())
