"""One word, one meaning: parameters that classifiers share, scikit-learn's names, and words that are gone."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import everytree as et
from everytree import estimators

EVERY = [getattr(estimators, name) for name in estimators.__all__]
WITH_LEAF = [made for made in EVERY if "min_leaf" in inspect.signature(made).parameters]
OTHERS = [made for made in EVERY if made not in WITH_LEAF]


def data(n=60):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (n, 3)).astype(float)
    return X, (X[:, 0] + X[:, 1] + (rng.random(n) < 0.2) > 1).astype(int)


def defaults(made):
    return {name: each.default for name, each in inspect.signature(made).parameters.items()}


def test_which_classifiers_have_a_least_leaf():
    names = {made.__name__.removesuffix("Classifier") for made in WITH_LEAF}
    assert names == {"OptimalTree", "BayesOptimal", "MAPTree", "MCMCTree", "CARTTree"}


@pytest.mark.parametrize("made", EVERY)
def test_shared_parameters_have_one_default(made):
    wanted = {"missing": "category", "n_jobs": 1, "time_limit": None, "memory_limit": None, "nominal": None}
    if made is estimators.EveryTreeClassifier:
        wanted["time_limit"] = 5.0  # the time is the only choice there, and decides what is computed
    own = defaults(made)
    assert {name: own[name] for name in wanted if name in own} == {
        name: value for name, value in wanted.items() if name in own
    }
    assert {"seed", "rank", "objective", "min_samples_leaf"}.isdisjoint(own)


@pytest.mark.parametrize("made", WITH_LEAF)
def test_min_samples_leaf_is_min_leaf(made):
    model = made(min_samples_leaf=7)
    assert (model.min_leaf, model.min_samples_leaf) == (7, 7)
    assert model.get_params()["min_leaf"] == 7
    assert "min_samples_leaf" not in model.get_params()
    assert clone(model).min_leaf == pickle.loads(pickle.dumps(model)).min_leaf == 7
    assert model.set_params(min_samples_leaf=3).min_leaf == 3
    assert model.set_params(min_leaf=4, min_samples_leaf=4).min_samples_leaf == 4
    model.min_samples_leaf = 5
    assert model.get_params()["min_leaf"] == 5
    assert made(min_leaf=6, min_samples_leaf=6).min_leaf == 6
    message = "min_leaf=2 and min_samples_leaf=3 are two values of one parameter; give min_leaf alone"
    with pytest.raises(et.QueryError, match=message):
        made(min_leaf=2, min_samples_leaf=3)
    with pytest.raises(et.QueryError, match=message):
        model.set_params(min_leaf=2, min_samples_leaf=3)
    assert model.min_leaf == 5


def test_a_least_leaf_by_position_counts_as_given():
    with pytest.raises(et.QueryError, match="min_leaf=2 and min_samples_leaf=3"):
        et.OptimalTreeClassifier(3, 2, min_samples_leaf=3)
    assert et.OptimalTreeClassifier(3, min_samples_leaf=3).max_depth == 3


@pytest.mark.parametrize("nested", [False, True])
def test_grids_take_either_name(nested):
    X, y = data()
    model = et.OptimalTreeClassifier(max_depth=2)
    searched = make_pipeline(model) if nested else model
    prefix = "optimaltreeclassifier__" if nested else ""
    found = [
        GridSearchCV(searched, {prefix + name: [1, 25]}, cv=3).fit(X, y)
        for name in ("min_leaf", "min_samples_leaf")
    ]
    scores = [search.cv_results_["mean_test_score"].tolist() for search in found]
    assert scores[0] == scores[1]
    assert scores[0][0] != scores[0][1]
    best = found[1].best_estimator_
    assert (best[-1] if nested else best).min_leaf == found[1].best_params_[prefix + "min_samples_leaf"]


def test_refit_takes_either_name():
    X, y = data()
    model = et.OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert model.refit(min_samples_leaf=20).min_leaf == 20
    assert model.tree_.counts[model.tree_.test < 0].sum(axis=1).min() >= 20


def test_the_nested_classifier_takes_either_name():
    model = et.CompressedClassifier(et.BayesOptimalClassifier()).set_params(estimator__min_samples_leaf=9)
    assert model.estimator.min_leaf == 9


@pytest.mark.parametrize("made", OTHERS)
def test_classifiers_without_a_least_leaf_take_both_names_for_a_branch_if_they_have_one(made):
    for name in ("min_leaf", "min_samples_leaf"):
        if "min_branch" in defaults(made):
            assert made(**{name: 3}).get_params()["min_branch"] == 3
            assert made().set_params(**{name: 4}).min_branch == 4
            with pytest.raises(et.QueryError, match="give min_branch alone"):
                made(**{name: 3, "min_branch": 4})
        else:
            with pytest.raises(TypeError, match=name):
                made(**{name: 3})
            with pytest.raises(ValueError, match=name):
                made().set_params(**{name: 3})


def test_words_of_the_best_tree():
    assert et.OptimalTreeClassifier(rank=("size", "error")).minimize == ("size", "error")
    assert et.OptimalTreeClassifier().set_params(objective="gini").minimize == ("gini", "size")
    with pytest.raises(
        et.QueryError, match=r"objective='gini' and rank='error' are two values of one parameter"
    ):
        et.OptimalTreeClassifier(objective="gini", rank="error")
    X, y = data()
    model = et.OptimalTreeClassifier(2, objective="gini").fit(X, y)
    assert model.tree_ == et.OptimalTreeClassifier(2, minimize=("gini", "size")).fit(X, y).tree_
    assert model.refit(rank="error").get_params()["minimize"] == "error"
    space = et.TreeSpace(X, y)
    assert space.near_best(leaf_penalty=0.02).n_trees == space.near_best(leaf_share=0.02).n_trees
    with pytest.raises(et.QueryError, match=r"leaf_penalty=0\.01 are two values"):
        space.near_best(leaf_share=0.02, leaf_penalty=0.01)
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        et.OptimalTreeClassifier(depth=3)


@pytest.mark.parametrize("made", [each for each in EVERY if "max_depth" in defaults(each)])
def test_depth_zero_is_one_leaf(made):
    X, y = data()
    more = {"n_draws": 5, "burn_in": 0, "random_state": 0} if made is et.MCMCTreeClassifier else {}
    model = made(max_depth=0, **more).fit(X, y)
    assert len(np.unique(model.predict_proba(X), axis=0)) == 1


def test_the_price_of_a_leaf_counts_examples_where_it_is_a_penalty_and_a_share_where_it_is_a_share():
    X, y = data()
    space = et.TreeSpace(X, y, 2)
    penalised = space.best("error", leaf_penalty=0.05 * len(y))
    (level, *_) = space.near_best(0, leaf_share=0.05).by_objective
    assert penalised.info["objective"] / len(y) == pytest.approx(level.objective)


def test_weights_of_classes_may_be_fractions_where_they_are_costs():
    X, y = data()
    model = et.OptimalTreeClassifier(2, class_weight={0: 0.25, 1: 1.5}).fit(X, y)
    wrong = model.predict(X) != y
    assert model.objective_ == pytest.approx(0.25 * np.sum(wrong & (y == 0)) + 1.5 * np.sum(wrong & (y == 1)))


def test_the_page_of_parameters_has_the_defaults():
    page = Path(__file__).parents[2] / "docs" / "parameters.md"
    rows = [
        line.strip("| ").split(" | ") for line in page.read_text(encoding="utf-8").splitlines() if "`" in line
    ]
    header = next(row for row in rows if row[0] == "`max_depth`" and row[1] == "`min_leaf`")
    names = [each.strip("`") for each in header]
    shown = [row for row in rows if row[0].strip("`").endswith(("Classifier", "TreeSpace"))]
    assert len(shown) == len(EVERY)  # all but CompressedClassifier, and TreeSpace
    for made, *cells in shown:
        own = defaults(getattr(et, made.strip("`")))
        told = ["–" if name not in own else f"`{own[name]!r}`".replace("'", '"') for name in names]
        assert cells == told
