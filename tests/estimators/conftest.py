"""Which of scikit-learn's checks are slow tests: most of those on further settings, and those that take long."""

from __future__ import annotations

import pytest

# Of the further settings of a classifier, these checks are made every time: the others have to do with what is given to
# any classifier, and the settings that a classifier comes with meet them every time.
EVERY_TIME = (
    "check_classifiers_train",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_sample_weight_equivalence_on_dense_data",
)
# Weights of 1,000 and 1/10,000 make counts of ten million parts, and a fit by evidence asks for hundreds of evidences.
LONG = "check_class_weight_classifiers"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        given = getattr(item, "callspec", None)
        families = getattr(getattr(item, "module", None), "FAMILIES", ())
        if given is None or not any(given.params.get("estimator") is each for each in families):
            continue
        if LONG in item.name or not any(check in item.name for check in EVERY_TIME):
            item.add_marker(pytest.mark.slow)
