"""scikit-learn's own checks over the Binarizer, the estimator base and every public estimator."""

from __future__ import annotations

from greedy import GreedyTree
from sklearn.utils.estimator_checks import parametrize_with_checks

import everytree.estimators
from everytree.data.binarizer import Binarizer

# Settings that make an estimator cheap enough for some sixty checks; a public estimator without an entry here
# runs with its defaults.
CHEAP = {
    "OptimalTreeClassifier": {"max_depth": 3},
    "BayesOptimalClassifier": {"max_depth": 3},
    "MAPTreeClassifier": {"max_depth": 3},
}

# check name -> why it must fail, per estimator; strict, so an entry that is no longer needed fails the suite.
EXPECTED: dict[str, dict[str, str]] = {}


def public_estimators():
    found = [getattr(everytree.estimators, name) for name in everytree.estimators.__all__]
    return [one(**CHEAP.get(one.__name__, {})) for one in found]


@parametrize_with_checks(
    [
        Binarizer(),
        Binarizer(bins="all", missing="category"),
        Binarizer(missing="impute", unknown="error"),
        GreedyTree(),
        GreedyTree(missing="category"),
        *public_estimators(),
    ],
    expected_failed_checks=lambda estimator: EXPECTED.get(type(estimator).__name__, {}),
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_every_cheap_setting_belongs_to_a_parameter():
    for one in public_estimators():
        assert set(CHEAP.get(type(one).__name__, {})) <= set(one.get_params())
