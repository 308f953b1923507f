"""The search for the most probable tree against the fold and the reference, with every bound on and off."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest
from engine_cases import Twins, covering_cases

from everytree import reference
from everytree.common.limits import Limits
from everytree.engine.problem import PROBABLE as SWITCHES

CASES = covering_cases(4, seed=5)


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_the_search_finds_the_tree_of_the_fold(part: int) -> None:
    for case in CASES[part::8]:
        twins = Twins(case)
        expected = twins.posterior.map_tree()
        found = twins.space.most_probable(twins._prior, twins._dirichlet)
        assert found.key == expected.key, case
        assert found == expected, case
        assert found.info["optimal"], case
        assert found.info["stop_reason"] == "proved"
        assert math.isclose(found.info["log_joint"], expected.info["log_joint"], rel_tol=1e-12, abs_tol=1e-12)
        assert found.info["upper_bound"] == found.info["log_joint"]


@pytest.mark.parametrize("part", range(4))
def test_the_search_finds_the_tree_of_the_reference(part: int) -> None:
    for case in covering_cases(1, seed=6)[part::4]:
        twins = Twins(case)
        found = twins.space.most_probable(twins._prior, twins._dirichlet)
        best = reference.map_tree(twins.bayes)
        assert math.isclose(
            found.info["log_joint"], twins.bayes.log_joint(best), rel_tol=1e-11, abs_tol=1e-11
        )
        if found.key != reference.key(best):
            # Different factors may have one product, which logarithms have only up to rounding: then the search goes by
            # size and tests, and the reference by the last bit.
            tied = reference.from_key(found.key)
            assert math.isclose(twins.bayes.log_joint(tied), twins.bayes.log_joint(best), rel_tol=1e-14), case
            assert (found.size, found.key) < (reference.size(best), reference.key(best)), case


@pytest.mark.long
@pytest.mark.parametrize("off", [{}, *({name: False} for name in SWITCHES), dict.fromkeys(SWITCHES, False)])
def test_every_bound_may_be_turned_off(off: dict[str, bool]) -> None:
    for case in CASES[3::12]:
        twins = Twins(case)
        twins.space.switches.update(off)
        expected = twins.posterior.map_tree()
        assert twins.space.most_probable(twins._prior, twins._dirichlet).key == expected.key, (case, off)


@pytest.mark.long
def test_whatever_interrupts_the_search_the_bounds_hold() -> None:
    """Stopped again and again, the search goes on and ends with the same tree."""
    stopped = 0
    for case in [replace(case, table="wide", n_jobs=1) for case in CASES[::20]]:
        if case.prior == "fair balanced":  # its factors may exceed 1: it is folded, not searched
            continue
        twins = Twins(case)
        expected = twins.posterior.map_tree()
        best = expected.info["log_joint"]
        twins.space.limits = Limits(time_limit=1e-7)
        for _ in range(30):
            found = twins.space.most_probable(twins._prior, twins._dirichlet)
            info = found.info
            assert info["log_joint"] <= best + 1e-9 <= info["upper_bound"] + 2e-9, case
            assert math.isclose(
                twins.posterior.log_joint(found.key), info["log_joint"], rel_tol=1e-12, abs_tol=1e-12
            )
            stopped += not info["optimal"]
        twins.space.limits = Limits()
        assert twins.space.most_probable(twins._prior, twins._dirichlet).key == expected.key
    assert stopped > 20


@pytest.mark.slow
@pytest.mark.parametrize(("switch", "value"), list(product(SWITCHES, (True, False))))
def test_many_more_cases(switch: str, value: bool) -> None:
    for case in covering_cases(8, seed=7 + value):
        twins = Twins(case)
        twins.space.switches[switch] = value
        expected = twins.posterior.map_tree()
        assert twins.space.most_probable(twins._prior, twins._dirichlet).key == expected.key, case
