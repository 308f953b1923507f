"""How far a sum of rules can be from an average over every tree, for any row: the two as sums over sets of tests.

With z = ±1 for the outcomes of a row, a leaf with items i holds as Π_i (1 ± z)/2, and so does a rule. Hence

    P(c | x) − Σ of moves = Σ_S d_c(S) · Π_{t ∈ S} z_t        and this is at most Σ_S |d_c(S)|, whatever the row
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from everytree.verify.probable import Fold
from everytree.verify.prove import GivenUp

__all__ = ["Rule", "farthest"]

Rule = tuple[list[tuple[int, int]], list[float]]  # items (test, outcome), and how far they move each class


def farthest(fold: Fold, rules: Sequence[Rule], most: int) -> float:
    """Return a bound on the difference of any class; raise ``GivenUp`` at more than ``most`` sets of items."""
    sums: dict[int, list[float]] = {}
    for conditions, moves in rules:
        _add(sums, conditions, moves)
    space, n = fold.space, 0
    level: dict[tuple[tuple[int, int], ...], tuple[float, int]] = {(): (1.0, space.everything)}
    depth = 0
    while level:
        below: dict[tuple[tuple[int, int], ...], tuple[float, int]] = {}
        for items, (share, cover) in level.items():
            n += 1
            if n > most:
                raise GivenUp(f"stopped after {most} sets of items")
            space.look_at_clock()
            counts = space.counts(cover)
            splits = fold.splits(cover, counts, depth)
            total = fold.value(cover, counts, depth)[0]
            leaf = share * math.exp(fold.leaf(counts, depth, not splits) - total)
            _add(sums, items, [-leaf * p for p in fold.theta(counts, depth)])
            shares = fold.prior.log_shares([split[0] for split in splits], fold.columns)
            for test, zero, zeros, one, ones in splits:
                both = fold.value(zero, zeros, depth + 1)[0] + fold.value(one, ones, depth + 1)[0]
                part = share * math.exp(fold.prior.log_split(depth) + shares[test] + both - total)
                for outcome, side in ((0, zero), (1, one)):
                    key = tuple(sorted((*items, (test, outcome))))  # the order of the tests does not matter
                    below[key] = below.get(key, (0.0, side))[0] + part, side
        level, depth = below, depth + 1
    return max(math.fsum(abs(values[c]) for values in sums.values()) for c in range(fold.n_classes))


def _add(sums: dict[int, list[float]], items: Sequence[tuple[int, int]], values: Sequence[float]) -> None:
    """Add values · Π (1 ± z)/2 to the sums of sets of tests, which are bits."""
    signs = [(0, 1.0)]
    seen: dict[int, int] = {}
    for test, outcome in items:
        if seen.setdefault(test, outcome) != outcome:
            return  # it never holds
    for test, outcome in seen.items():
        signs += [(tests | 1 << test, sign if outcome else -sign) for tests, sign in signs]
    part = 1 / len(signs)
    for tests, sign in signs:
        known = sums.setdefault(tests, [0.0] * len(values))
        for c, value in enumerate(values):
            known[c] += sign * part * value
