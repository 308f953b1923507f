"""The equal-frequency rule and the numbers of cuts, against the reference's own."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from everytree.data import cuts
from everytree.reference import columns


def test_breaks_are_those_of_the_reference() -> None:
    rng = Random(1)
    for _ in range(3000):
        counts = [rng.choice([1, 1, 2, 3, rng.randrange(1, 30)]) for _ in range(rng.randrange(1, 14))]
        bins = rng.randrange(2, 12)
        assert cuts.equal_frequency_breaks(np.array(counts), bins) == columns.equal_frequency_breaks(
            counts, bins
        )


def test_cuts_are_those_of_the_reference() -> None:
    rng = Random(2)
    for _ in range(600):
        scale = rng.choice([1, 1e-3, 1e4, 1e9, 1e-9])
        lo, hi = sorted((round(rng.uniform(-scale, scale), rng.randrange(1, 18)), rng.uniform(-scale, scale)))
        if rng.random() < 0.3:
            hi = rng.choice([math.nextafter(lo, math.inf), lo + abs(lo) * 1e-12])
        if rng.random() < 0.2:
            lo, hi = int(lo * 1e9), int(hi * 1e9) + 1
        if lo < hi:
            fast, plain = cuts.cut_between(lo, hi), columns.cut_between(lo, hi)
            assert (fast, type(fast)) == (plain, type(plain))
