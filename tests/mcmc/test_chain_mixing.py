"""What makes chains mix: regrowth, parallel tempering, densities of tests. Each with the law it must not change."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from chain_cases import EVEN, PRIORS, RISKS, Key, Small, check, effective, keys_of, normalised, tree_of

from everytree import reference

REGROW = 4
WITH_REGROWTH = (0.15, 0.15, 0.2, 0.1, 0.4)
ONLY_REGROWTH = (0.0, 0.0, 0.0, 0.0, 1.0)
SPACES: list[dict[str, Any]] = [
    {"max_depth": 2, "n_classes": 3, "n_tests": 5},
    {"max_depth": 3, "min_leaf": 3, "n": 30},
    {"max_depth": None, "min_leaf": 4, "n": 28},
    {"max_depth": 3, "n_tests": 3, "weights": True},
    {"max_depth": 1, "n_tests": 5},
]


def drawn_by(chains: Any) -> Counter[Key]:
    return Counter(key for chain in chains for key in keys_of(chain))


@pytest.mark.parametrize("law", ["size", "fair coding", "uniform", "gini"])
def test_regrowth_is_reversible_move_by_move(law: str) -> None:
    """Every proposal says the truth about its target, comes as often as it says, and agrees with its undoing."""
    for seed, options in enumerate(SPACES):
        small = Small(seed, law, dirichlet="0.3" if law in PRIORS else "1", **options)
        trees = small.log_trees()
        chains = small.chains(odds=WITH_REGROWTH)
        ranked = sorted(trees, key=lambda key: -trees[key])
        rng = np.random.default_rng(seed)
        chosen = dict.fromkeys(ranked[:8] + [ranked[k] for k in rng.integers(0, len(ranked), 4)])
        forward: dict[tuple[Key, int, Key], float] = {}
        reverse: dict[tuple[Key, int, Key], float] = {}
        n = 400
        for number, tree in enumerate(chosen):
            drawn = Counter[tuple[int, Key]]()
            for move in chains.propose(list(tree), REGROW, number, n, small.control()):
                if move is None:
                    continue
                key, place, log_target, log_forward, log_reverse = move
                new = tuple(key)
                assert log_target == pytest.approx(trees[new] - trees[tree], abs=1e-9)
                forward[tree, place, new] = log_forward
                reverse[tree, place, new] = log_reverse
                drawn[place, new] += 1
            for (place, new), count in drawn.items():
                mean = n * math.exp(forward[tree, place, new]) / WITH_REGROWTH[REGROW]
                assert abs(count - mean) < 6 * math.sqrt(mean) + 6
        met = 0
        for (tree, place, new), log_reverse in reverse.items():
            if (new, place, tree) in forward:
                met += tree != new
                assert forward[new, place, tree] == pytest.approx(log_reverse, abs=1e-9)
                assert reverse[new, place, tree] == pytest.approx(forward[tree, place, new], abs=1e-9)
        assert met > 2


def test_regrowth_above_a_depth_limit_is_the_conditional_of_the_target() -> None:
    """Two levels to the limit: but for the blind share, a part is proposed as often as the target has it."""
    for seed, law in enumerate(PRIORS):
        small = Small(seed, law, max_depth=2, n=30, n_classes=2 + seed % 2, min_leaf=1 + seed % 3)
        exact = normalised(small.log_trees())
        moves = small.chains(odds=ONLY_REGROWTH).propose([-1], REGROW, seed, 300, small.control())
        for move in moves:
            assert move is not None
            key, place, _, log_forward, _ = move
            assert place == 0
            splits = sum(test >= 0 for test in key)
            # One choice at the root and one at each of its children, each blind for a tenth of the time.
            assert math.exp(log_forward) >= exact[tuple(key)] * 0.9 ** (1 if splits == 0 else 3) - 1e-12


@pytest.mark.parametrize("law", [*PRIORS, *RISKS])
def test_with_regrowth_trees_come_as_often_as_they_should(law: str) -> None:
    case = [*PRIORS, *RISKS].index(law)
    small = Small(case, law, **SPACES[case % 4])
    odds = ONLY_REGROWTH if case % 4 == 0 else WITH_REGROWTH
    chains, _ = small.chains(odds=odds, n_chains=4, seed=case).run(2000, 10, 50, [], small.control())
    check(drawn_by(chains), normalised(small.log_trees()), effective(chains))


@pytest.mark.parametrize("law", ["size", "fair shapes", "errors"])
@pytest.mark.parametrize("kernel", ["chipman", "stack", "stack once"])
def test_tempered_chains_draw_from_the_target(law: str, kernel: str) -> None:
    small = Small(2, law, n_tests=3, n=16, max_depth=2)
    log = small.log_trees()
    if kernel == "stack":
        log = {key: x + math.log(reference.n_orders(tree_of(key))) for key, x in log.items()}
    kernel, *once = kernel.split()
    given: dict[str, Any] = {"ladder": [1.0, 0.6, 0.2, 0.0], "exchange_every": 3}
    chains, _ = small.chains(kernel, n_chains=4, orders=once[0] if once else "counted", **given).run(
        2500, 10, 60, [], small.control()
    )
    check(drawn_by(chains), normalised(log), effective(chains))
    for chain in chains:
        assert chain["exchanges"].shape == (3,)
        assert chain["exchanges"].sum() == 2510 * 60 // 3
        assert (chain["exchanged"] > 0).all()


def test_tempering_passes_between_modes() -> None:
    """Two complementary tests tell the class: with growth alone, a chain hardly ever exchanges one for the other."""
    growth = (0.5, 0.5, 0.0, 0.0, 0.0)
    small = Small(9, "size", n=60, n_tests=3, max_depth=2, signal=0.9)
    exact = normalised(small.log_trees())
    share = math.fsum(p for key, p in exact.items() if key[0] == 0)
    assert 0.3 < share < 0.7

    def spread(ladder: list[float]) -> tuple[float, float]:
        chains, _ = small.chains(odds=growth, n_chains=6, ladder=ladder).run(
            600, 20, 100, [], small.control()
        )
        shares = [np.mean([key[0] == 0 for key in keys_of(chain)]) for chain in chains]
        return float(np.mean(shares)), float(np.std(shares))

    assert spread([1.0])[1] > 0.25  # each chain stays where it began
    mean, deviation = spread([1.0, 0.6, 0.35, 0.2, 0.1, 0.03])
    assert abs(mean - share) < 0.1
    assert deviation < 0.15


@pytest.mark.long
def test_a_density_of_tests_changes_proposals_and_not_the_law() -> None:
    small = Small(4, "coding", n=30, min_leaf=2)
    density = [1.0, 3.0, 0.5, 2.0]
    for blind in (1.0, 0.4):
        chains = small.chains(n_chains=4, density=density, blind=blind)
        drawn, _ = chains.run(2000, 10, 80, [], small.control())
        check(drawn_by(drawn), normalised(small.log_trees()), effective(drawn))
    total = sum(density)
    for move in small.chains(density=density).propose([-1], 0, 0, 40, small.control()):
        assert move is not None
        assert math.exp(move[3]) == pytest.approx(EVEN[0] * density[move[0][0]] / total)
