"""Classes × weights × minimum leaf size × depth in full, several tables for each; the other options at random.

The minimum leaf size and the depth decide which tests may be parents and which may be children: this is where
shortcuts go wrong, so no combination is left to chance here. Few questions, many tables.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from engine_cases import OPTIONS, Case, Twins
from questions import QUESTIONS

TABLES = 8
FEW = ("count", "best_error", "log_evidence", "map_tree", "test_inclusion")


def check_tables(n_classes: int, max_depth: int | None, tables: int, seed: str) -> None:
    rng = Random(f"{seed} {n_classes} {max_depth}")
    free = ("table", "prior", "dirichlet", "cost", "merge", "frontier", "linear", "n_jobs", "kernels")
    for weights, min_leaf, _ in product(OPTIONS["weights"][:3], OPTIONS["min_leaf"], range(tables)):
        case = Case(
            seed=rng.randrange(2**31),
            n_classes=n_classes,
            max_depth=max_depth,
            weights=weights,
            min_leaf=min_leaf,
            **{name: rng.choice(OPTIONS[name]) for name in free},
        )
        twins = Twins(case)
        for name in FEW:
            try:
                QUESTIONS[name](twins)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}\n{case!r}") from error


@pytest.mark.long
@pytest.mark.parametrize("max_depth", OPTIONS["max_depth"])
@pytest.mark.parametrize("n_classes", OPTIONS["n_classes"])
def test_every_combination(n_classes: int, max_depth: int | None) -> None:
    check_tables(n_classes, max_depth, TABLES, "quick")


@pytest.mark.slow
@pytest.mark.parametrize("max_depth", OPTIONS["max_depth"])
@pytest.mark.parametrize("n_classes", OPTIONS["n_classes"])
@pytest.mark.parametrize("block", range(2))
def test_every_combination_on_many_tables(n_classes: int, max_depth: int | None, block: int) -> None:
    check_tables(n_classes, max_depth, 30, f"slow {block}")
