"""OptimalTreeClassifier: the answer to every query, what is known of it, limits, refit, and broken parameters."""

from __future__ import annotations

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

import everytree as et
from everytree.errors import DataError, LimitReached, NoTreeError, QueryError

NUMBERS = ("error_", "objective_", "optimal_", "lower_bound_", "gap_", "stop_reason_")


def patients(
    n: int = 80, seed: int = 0, labels: tuple[str, ...] = ("ill", "well")
) -> tuple[pd.DataFrame, pd.Series]:
    """Mixed columns, and a label that leans on two of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "pulse": rng.normal(70, 9, n).round(1),
            "diet": rng.choice(["fish", "meat", "none"], n),
            "smoker": rng.integers(0, 2, n),
        }
    )
    score = (X["age"] > 50).astype(int) + X["smoker"] + rng.integers(0, 2, n)
    return X, pd.Series(np.array(labels)[np.minimum(score * len(labels) // 4, len(labels) - 1)], name="state")


def noise(n: int = 1500, columns: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Nothing to learn, so that no bound helps."""
    rng = np.random.default_rng(1)
    return rng.integers(0, 2, (n, columns)), rng.integers(0, 2, n)


def facts(model: et.OptimalTreeClassifier) -> dict[str, object]:
    """What must not depend on how the answer was found; trees of the same rank may differ."""
    tree = model.tree_
    costs = {name: getattr(model, name) for name in NUMBERS if name != "error_"}
    shape = {"size": tree.size} if "size" in model.query_.ranking else {}
    return costs | shape | ({"depth": tree.depth} if "depth" in model.query_.ranking else {})


# --- the answer


QUERIES = [
    {},
    {"minimize": ("gini", "size")},
    {"minimize": ("entropy", "size"), "min_leaf": 4},
    {"minimize": ("expected_error", "size"), "confidence": 0.1},
    {"minimize": ("cost", "size"), "cost_matrix": [[0, 1.5], [4, 0]]},
    {"minimize": ("size", "error"), "min_accuracy": 0.7},
    {"minimize": ["depth", "error"], "max_error": 25},
    {"minimize": "error"},
    {"max_size": 5},
    {"max_leaves": 3},
    {"max_error": {"error": 40, "gini": 60}},
    {"leaf": 10},
    {"leaf": et.Margin(3)},
    {"leaf": [et.Support(6), et.ChiSquare(1.0)]},
    {"require": "pulse"},
    {"require": ["smoker"], "forbid": ["age"]},
    {"forbid": "diet"},
    {"class_weight": "balanced"},
    {"class_weight": {"ill": 3}},
    {"class_weight": [0.5, 2]},
    {"leaf_penalty": 1.5},
    {"leaf_penalty": 2, "max_depth": None, "min_leaf": 5},
    {"strategy": "closed"},
    {"strategy": "eclat", "leaf": 12},
    {"bins": "all", "max_depth": 1},
    {"n_jobs": 2, "bins": 6},
    {"dirichlet": "decay"},
]


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_every_query_is_the_one_of_the_space_and_passes_the_checker(query, tmp_path) -> None:
    X, y = patients()
    model = et.OptimalTreeClassifier(**{"max_depth": 2, "min_leaf": 2, **query}).fit(X, y)
    tests = et.Binarizer(bins=model.bins).fit(X)
    space = et.TreeSpace(
        tests.transform(X),
        y,
        model.max_depth,
        model.min_leaf,
        test_names=tests.get_feature_names_out(),
        attributes=[test.attribute for test in tests.tests_],
    )
    tree = space.best(model.query_)
    assert model.objective_ == pytest.approx(tree.info["objective"], rel=1e-12)
    assert model.optimal_ is True
    assert (model.lower_bound_, model.gap_, model.stop_reason_) == (model.objective_, 0.0, "proved")
    assert model.error_ == model.tree_.error
    assert model.n_states_ > 0
    assert isinstance(model.query_, et.Query)
    X.assign(state=y).to_csv(tmp_path / "data.csv", index=False)
    model.save(tmp_path / "model.json")
    report = et.verify_model(tmp_path / "model.json", tmp_path / "data.csv")
    assert report.proved, [fact for fact in report.facts if fact.verdict != "true"]
    loaded = et.load_model(tmp_path / "model.json")
    assert loaded.query_.ranking == model.query_.ranking
    for name in (*NUMBERS, "n_states_", "tree_"):
        assert getattr(loaded, name) == getattr(model, name)
    for again in (loaded, pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        assert again.predict(X).tolist() == model.predict(X).tolist()
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weight", ["balanced", {"b": 2.5, "c": 0.25}, [3, 1, 2]], ids=str)
def test_predictions_err_by_just_the_objective_under_class_weights(seed, weight) -> None:
    X, y = patients(60, seed, ("a", "b", "c"))
    model = et.OptimalTreeClassifier(2, 2, class_weight=weight, dirichlet=1e-12).fit(X, y)
    labels, counts = np.unique(y, return_counts=True)
    if weight == "balanced":
        worth = dict(zip(labels, len(y) / (len(labels) * counts), strict=True))
    elif isinstance(weight, list):
        worth = dict(zip(labels, weight, strict=True))
    else:
        worth = {label: weight.get(label, 1) for label in labels}
    wrong = y[model.predict(X) != y]
    assert sum(worth[label] for label in wrong) == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_predictions_cost_just_the_objective(seed) -> None:
    X, y = patients(50, seed, ("a", "b", "c"))
    costs = np.random.default_rng(seed).integers(0, 9, (3, 3))
    model = et.OptimalTreeClassifier(2, minimize=("cost", "size"), cost_matrix=costs, dirichlet=1e-12).fit(
        X, y
    )
    codes = np.searchsorted(model.classes_, y)
    assert costs[codes, np.searchsorted(model.classes_, model.predict(X))].sum() == model.objective_


@pytest.mark.parametrize("seed", range(6))
def test_a_matrix_with_gains_is_minimised_too(seed) -> None:
    X, y = patients(50, seed, ("a", "b", "c"))
    costs = np.random.default_rng(seed).normal(0, 1, (3, 3)).round(2)
    model = et.OptimalTreeClassifier(2, 2, minimize=("cost", "size"), cost_matrix=costs).fit(X, y)
    least, _ = model.space_.best("cost", cost_matrix=costs, k=2)  # by the fold of the whole graph
    assert model.objective_ == pytest.approx(least.info["objective"], rel=1e-9)


def test_probabilities_are_counts_with_a_dirichlet() -> None:
    model = et.OptimalTreeClassifier(1, dirichlet=[1, 3], leaf_penalty=0).fit(
        [[0], [0], [0], [1]], ["a", "a", "b", "b"]
    )
    assert model.predict_proba([[0], [1]]).tolist() == [[3 / 7, 4 / 7], [1 / 5, 4 / 5]]
    assert model.predict([[0], [1]]).tolist() == ["a", "b"]  # what errs least, whatever is added
    assert model.error_ == 1


def test_a_false_answer_of_a_weighed_leaf_is_found(tmp_path) -> None:
    X, y = patients()
    model = et.OptimalTreeClassifier(0, class_weight={"ill": 1000}).fit(X, y)
    assert set(model.predict(X)) == {"ill"}
    assert (y == "well").sum() > (y == "ill").sum()  # so that the plain majority says otherwise
    X.assign(state=y).to_csv(tmp_path / "data.csv", index=False)
    model.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert '"says": "ill"' in text
    (tmp_path / "model.json").write_text(text.replace('"says": "ill"', '"says": "well"'))
    report = et.verify_model(tmp_path / "model.json", tmp_path / "data.csv")
    assert report["answer of leaf 0"].verdict == "false"
    with pytest.raises(DataError, match="says is 'well'"):
        et.load_model(tmp_path / "model.json")


def test_forbidding_a_constant_column_is_no_mistake() -> None:
    X, y = patients()
    X["same"] = 1
    assert et.OptimalTreeClassifier(2, forbid=["same", "age"]).fit(X, y).optimal_
    with pytest.raises(QueryError, match="no tree with depth ≤ 2 tests same"):
        et.OptimalTreeClassifier(2, require="same").fit(X, y)
    with pytest.raises(QueryError, match="'weight' is neither"):
        et.OptimalTreeClassifier(2, forbid="weight").fit(X, y)


def test_arrays_have_column_names_too() -> None:
    X, y = patients()
    model = et.OptimalTreeClassifier(2, forbid="x0").fit(X[["age", "pulse", "smoker"]].to_numpy(), y)
    assert not any(model.tree_.test_name(t).startswith("x0 ") for t in model.tree_.test if t >= 0)


def test_grid_search_over_depth() -> None:
    X, y = patients(120)
    search = GridSearchCV(et.OptimalTreeClassifier(min_leaf=5), {"max_depth": [0, 1, 2]}, cv=3).fit(X, y)
    assert search.best_params_["max_depth"] in (1, 2)
    assert search.best_estimator_.optimal_


# --- the price of a leaf


def test_a_price_that_is_not_given_is_two_errors(tmp_path) -> None:
    X, y = noise()
    model = et.OptimalTreeClassifier(2).fit(X, y)
    assert model.leaf_penalty is None
    assert model.query_.leaf_penalty == 2
    assert model.objective_ == model.error_ + 2 * model.tree_.n_leaves
    assert model.tree_ == et.OptimalTreeClassifier(2, leaf_penalty=2).fit(X, y).tree_
    assert model.error_ >= et.OptimalTreeClassifier(2, leaf_penalty=0).fit(X, y).error_
    model.save(tmp_path / "model.json")
    assert et.load_model(tmp_path / "model.json").leaf_penalty is None
    pd.DataFrame(X, columns=[f"x{j}" for j in range(np.shape(X)[1])]).assign(y=y).to_csv(
        tmp_path / "data.csv", index=False
    )
    assert et.verify_model(tmp_path / "model.json", tmp_path / "data.csv", target="y").proved


@pytest.mark.parametrize(
    "words",
    [
        {"minimize": ("gini", "size")},
        {"class_weight": "balanced"},
        {"minimize": ("size", "error"), "min_accuracy": 0.5},
        {"minimize": ("cost", "size"), "cost_matrix": [[0, 1], [5, 0]]},
    ],
)
def test_there_is_no_price_where_its_unit_is_not_plain_errors(words) -> None:
    X, y = noise()
    model = et.OptimalTreeClassifier(2, **words).fit(X, y)
    assert model.query_.leaf_penalty == 0
    assert model.tree_ == et.OptimalTreeClassifier(2, leaf_penalty=0, **words).fit(X, y).tree_


# --- limits


def test_a_time_limit_gives_the_best_tree_so_far_and_an_honest_gap(tmp_path) -> None:
    X, y = noise()
    model = et.OptimalTreeClassifier(5, 5, leaf_penalty=0, time_limit=0.3)
    with pytest.warns(
        ConvergenceWarning, match=r"time limit of 0.3 s .* the tree has error \d+, and none has less"
    ):
        model.fit(X, y)
    assert (model.optimal_, model.stop_reason_) == (False, "time limit")
    assert 0 <= model.lower_bound_ < model.objective_ == model.error_ == (model.predict(X) != y).sum()
    assert model.gap_ == (model.objective_ - model.lower_bound_) / model.objective_
    model.save(tmp_path / "model.json")
    assert et.load_model(tmp_path / "model.json").gap_ == model.gap_
    before = model.objective_
    with pytest.warns(ConvergenceWarning):
        model.refit(time_limit=0.6)
    assert model.objective_ <= before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.refit(max_depth=1, time_limit=None)
    assert model.optimal_
    assert model.lower_bound_ == model.objective_


def test_a_memory_limit_gives_the_best_tree_so_far() -> None:
    X, y = noise(500, 60)
    model = et.OptimalTreeClassifier(6, 2, memory_limit=2**22, time_limit=20)
    with pytest.warns(ConvergenceWarning, match=r"memory limit of 4.0 MiB .*refit\(memory_limit"):
        model.fit(X, y)
    assert (model.optimal_, model.stop_reason_) == (False, "memory limit")
    assert 0 < model.gap_ <= 1


def test_a_fold_that_reaches_its_limit_has_no_tree_to_give() -> None:
    X, y = noise()
    with pytest.raises(LimitReached, match="try max_depth"):
        et.OptimalTreeClassifier(5, 5, max_size=9, time_limit=0.2).fit(X, y)


# --- refit


CHANGES = {
    "max_depth": [1, 3],
    "min_leaf": [1, 6],
    "minimize": [("error", "size"), ("size", "error"), ("error", "depth")],
    "min_accuracy": [None, 0.7],
    "forbid": [None, "age"],
    "class_weight": [None, "balanced"],
    "leaf_penalty": [0.0, 1.25],
}


def fitted(model, how):
    """Facts of the answer, or the error."""
    try:
        how()
    except NoTreeError as error:
        return str(error)
    except QueryError as error:
        return str(error)
    return facts(model)


@pytest.mark.long
def test_refit_is_a_fresh_fit_for_every_change() -> None:
    X, y = patients(70, 5)
    model = et.OptimalTreeClassifier(2).fit(X, y)
    answered = 0
    for values in itertools.product(*CHANGES.values()):
        changes = dict(zip(CHANGES, values, strict=True))
        fresh = et.OptimalTreeClassifier(**changes)
        expected = fitted(fresh, lambda fresh=fresh: fresh.fit(X, y))
        again = fitted(model, lambda changes=changes: model.refit(**changes))
        assert again == expected, changes
        if isinstance(expected, dict):
            answered += 1
            assert model.get_params() == fresh.get_params()
    assert answered > 100


def test_refit_uses_what_is_there() -> None:
    X, y = patients()
    model = et.OptimalTreeClassifier(3, max_size=7).fit(X, y)
    binarizer, graphs = model.binarizer_, dict(model.space_.graphs)
    assert graphs
    assert model.refit(max_size=5) is model
    assert model.binarizer_ is binarizer
    assert all(model.space_.graphs[name] is graph for name, graph in graphs.items())
    model.refit(max_size=None)
    ((_, search),) = model.space_.searches.values()
    model.refit(max_depth=2)
    ((_, again),) = model.space_.searches.values()
    assert again is search
    assert model.get_params()["max_depth"] == 2


def test_a_refit_without_an_answer_leaves_the_model_as_it_was() -> None:
    X, y = patients()
    model = et.OptimalTreeClassifier(2).fit(X, y)
    tree, params = model.tree_, model.get_params()
    with pytest.raises(NoTreeError, match=r"no tree with depth ≤ 2 reaches accuracy ≥ 1; the most is 0\.\d+"):
        model.refit(min_accuracy=1.0)
    with pytest.raises(QueryError, match="min_leaf=0"):
        model.refit(min_leaf=0, dirichlet=3)
    assert model.tree_ is tree
    assert model.get_params() == params


def test_refit_says_what_it_cannot_do(tmp_path) -> None:
    X, y = patients()
    model = et.OptimalTreeClassifier(1)
    with pytest.raises(
        NotFittedError, match=r"not fitted yet; refit asks again about the data of fit\(X, y\)"
    ):
        model.refit(max_depth=2)
    model.fit(X, y)
    with pytest.raises(QueryError, match=r"refit\(depth=...\) is no parameter; expected some of "):
        model.refit(depth=2)
    with pytest.raises(QueryError, match=r"bins=7 makes other tests .* fitted bins=8; call fit"):
        model.refit(bins=7)
    assert model.refit(bins=8, max_depth=2, leaf_penalty=0).tree_.depth == 2
    model.refit(leaf_penalty=None)
    model.set_params(missing="impute")
    with pytest.raises(QueryError, match="missing='impute' makes other tests"):
        model.refit()
    model.set_params(missing="category").save(tmp_path / "model.json")
    with pytest.raises(QueryError, match="loaded from a file, which holds no training data"):
        et.load_model(tmp_path / "model.json").refit(max_depth=1)
    again = pickle.loads(pickle.dumps(model))
    assert facts(again.refit(max_depth=1)) == facts(et.OptimalTreeClassifier(1).fit(X, y))


# --- broken parameters


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"minimize": ("accuracy", "size")}, "'accuracy' is unknown; expected criteria among error"),
        ({"cost_matrix": [[0, 1], [1, 0]]}, r'cost_matrix is given, but .*set minimize=\("cost", "size"\)'),
        (
            {"class_weight": "balanced", "minimize": ("gini", "size")},
            r'class_weight is given, but .*set minimize=\("error", "size"\)',
        ),
        ({"class_weight": "even"}, "class_weight='even'; expected \"balanced\""),
        ({"class_weight": {"sick": 2}}, "class_weight names 'sick'; expected labels among"),
        ({"minimize": ("cost", "size")}, "ranking by cost needs cost_matrix"),
        ({"minimize": ("cost", "size"), "cost_matrix": [[0, 1]]}, "expected 2 × 2 numbers"),
        ({"max_depth": -1}, "max_depth=-1; expected a whole number"),
        ({"min_leaf": 0}, "min_leaf=0"),
        ({"min_leaf": 81}, "n_samples=80 is fewer than min_leaf=81"),
        ({"max_size": 0}, "max_size=0"),
        ({"max_leaves": "many"}, "max_leaves='many'"),
        ({"max_error": {"errors": 3}}, "max_error bounds 'errors'"),
        ({"min_accuracy": 90}, "min_accuracy=90"),
        ({"leaf": "big"}, "leaf"),
        ({"forbid": {"age": 1}}, "forbid="),
        ({"require": "age", "forbid": ["age"]}, "requires and forbids 'age'"),
        ({"confidence": 2}, "confidence=2"),
        ({"leaf_penalty": -1}, "leaf_penalty=-1"),
        ({"strategy": "fast"}, "strategy='fast'; expected one of auto"),
        ({"dirichlet": 0}, "dirichlet=0"),
        ({"dirichlet": "flat"}, "dirichlet='flat'"),
        ({"time_limit": 0}, "time_limit=0"),
        ({"memory_limit": "1G"}, "memory_limit='1G'"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"bins": "some"}, "bins"),
        ({"minimize": ("size", "error")}, "without a bound|is the single leaf"),
        ({"max_error": 1}, r"no tree with depth ≤ 3 reaches error ≤ 1; the least is \d+"),
    ],
    ids=str,
)
def test_broken_parameters_are_refused_with_a_reason(params, message) -> None:
    X, y = patients()
    with pytest.raises((QueryError, DataError), match=message):
        et.OptimalTreeClassifier(**params).fit(X, y)
