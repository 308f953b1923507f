"""scikit-learn's own checks over the Binarizer, the estimator base and every public estimator."""

from __future__ import annotations

from greedy import GreedyTree
from sklearn.utils.estimator_checks import check_class_weight_classifiers, parametrize_with_checks

import everytree.estimators
from everytree.data.binarizer import Binarizer

# Settings that make an estimator cheap enough for some sixty checks; a public estimator without an entry here
# runs with its defaults.
CHEAP = {
    "OptimalTreeClassifier": {"max_depth": 3},
    "BayesOptimalClassifier": {"max_depth": 3},
    "MAPTreeClassifier": {"max_depth": 3},
    # What fits a time depends on the machine, and checks compare two fits.
    "EveryTreeClassifier": {"time_limit": None},
    "CompressedClassifier": {"estimator": everytree.estimators.BayesOptimalClassifier(max_depth=3)},
}

# Further settings of public estimators, one for each way in which the parameters change what is computed.
FAMILIES = [
    everytree.estimators.C45TreeClassifier(binary_splits=True, laplace=True, prune=False, collapse=False),
    everytree.estimators.CARTTreeClassifier("1-SE", "entropy", "error", folds=3, min_leaf=2, laplace=True),
    everytree.estimators.BayesOptimalClassifier(max_depth=2, prior="fit", dirichlet="fit"),
    everytree.estimators.BayesOptimalClassifier(max_depth=2, prior="average"),
    everytree.estimators.BayesOptimalClassifier(max_depth=2, power=0.25, dirichlet="base", calibrate="loo"),
    everytree.estimators.BayesOptimalClassifier(
        max_depth=2, prior="coding", dirichlet="decay", missing="category"
    ),
    everytree.estimators.BayesOptimalClassifier(max_depth=2, time_limit=600, missing="impute"),
    everytree.estimators.BayesOptimalClassifier(max_depth=3, method="collapsed", n_draws=20),
    everytree.estimators.MCMCTreeClassifier(
        target="risk", kernel="stack", n_draws=50, burn_in=20, thin=10, missing="category", anneal=True
    ),
    everytree.estimators.MAPTreeClassifier(max_depth=2, prior="fit_leaf_penalty", dirichlet="fit_per_class"),
    everytree.estimators.MAPTreeClassifier(max_depth=2, dirichlet="1/C", bins="all", missing="category"),
    everytree.estimators.CompressedClassifier(
        everytree.estimators.BayesOptimalClassifier(max_depth=2), 0.001
    ),
    everytree.estimators.PathAverageTreeClassifier(
        "classes", averaging=False, nonuniform=True, bins="mdl", missing="category"
    ),
    everytree.estimators.PathAverageTreeClassifier(2, nonuniform=True, bins="all", missing="impute"),
    everytree.estimators.SmoothedTreeClassifier(
        2, prior="size", dirichlet="fit", prune="map", missing="error"
    ),
    everytree.estimators.SmoothedTreeClassifier(
        n_trees=3, dirichlet="decay", random_state=0, missing="impute"
    ),
    everytree.estimators.SmoothedTreeClassifier(subsample=20, prune="none", stop_factor=1, random_state=1),
    everytree.estimators.SmoothedTreeClassifier(criterion="gain_ratio", nominal_tests="binary"),
    everytree.estimators.OptionTreeClassifier(
        cuts="each", max_nodes=500, option_weight=0.05, missing="impute"
    ),
    everytree.estimators.MCMCTreeClassifier(
        max_depth=2, n_draws=20, burn_in=5, thin=5, n_chains=2, tempering=1, random_state=0, calibrate="cv"
    ),
    everytree.estimators.SmoothedTreeClassifier(calibrate="cv"),
    everytree.estimators.PathAverageTreeClassifier(calibrate="cv"),
    everytree.estimators.OptionTreeClassifier(max_nodes=200, calibrate="cv"),
    everytree.estimators.OptionTreeClassifier(
        0.5, prior="coding", dirichlet="fit", criterion="bayes", split_pure=True, max_depth=4
    ),
]

# check name -> why it must fail, per estimator; strict, so an entry that is no longer needed fails the suite.
EXPECTED: dict[str, dict[str, str]] = {
    "OptimalTreeClassifier": {
        "check_class_weight_classifiers": "A leaf says what cost least in training, so one without an example of the "
        "heavy class does not say it. scikit-learn keeps its own trees from such leaves by min_weight_fraction_leaf."
    }
}

# These call partial_fit, which calibrate="cv" refuses: batches are no rows to split into folds.
IN_BATCHES = (
    "check_fit_score_takes_y",
    "check_n_features_in_after_fitting",
    "check_estimators_partial_fit_n_features",
)


def expected(estimator):
    found = EXPECTED.get(type(estimator).__name__, {})
    if getattr(estimator, "calibrate", None) == "cv" and hasattr(estimator, "partial_fit"):
        found = found | dict.fromkeys(IN_BATCHES, 'calibrate="cv" needs all rows at once')
    return found


def public_estimators():
    names = [name for name in everytree.estimators.__all__ if name.endswith("Classifier")]
    found = [getattr(everytree.estimators, name) for name in names]
    return [one(**CHEAP.get(one.__name__, {})) for one in found]


@parametrize_with_checks(
    [
        Binarizer(),
        Binarizer(bins="all", missing="category"),
        Binarizer(missing="impute", unknown="error"),
        GreedyTree(),
        GreedyTree(missing="category"),
        *public_estimators(),
        *FAMILIES,
    ],
    expected_failed_checks=expected,
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_class_weights_where_no_leaf_is_tiny():
    check_class_weight_classifiers(
        "OptimalTreeClassifier", everytree.estimators.OptimalTreeClassifier(min_leaf=5)
    )


def test_every_cheap_setting_belongs_to_a_parameter():
    for one in public_estimators():
        assert set(CHEAP.get(type(one).__name__, {})) <= set(one.get_params())
