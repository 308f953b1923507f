"""Checks of scikit-learn that take long for some classifiers are slow tests."""

from __future__ import annotations

import pytest

# Weights of 1,000 and 1/10,000 make counts of ten million parts, and a fit by evidence asks for hundreds of evidences.
LONG = ("dirichlet='fit'", "dirichlet='fit_per_class'")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        name = item.name
        if (
            "check_class_weight_classifiers" in name
            and "Smoothed" not in name
            and any(x in name for x in LONG)
        ):
            item.add_marker(pytest.mark.slow)
