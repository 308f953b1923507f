"""What a question would cost at a size that no machine here holds: measured costs × numbers of states.

    python benchmarks/scale_plan.py [rows tests nodes cores]

The cost of a closed state is proportional to pairs of tests × words of 64 rows. The factor is measured here, on tables
that fit, in processor time; states and words at the asked size are counted by formula (every test halves its cover,
nothing is pruned: an upper bound for a search, the cost itself for a fold).
"""

from __future__ import annotations

import sys
import time

import numpy as np

import everytree as et


def word_pairs(n_rows: int, n_tests: int, depth: int) -> float:
    """Words ANDed by the frontier: states at depth − 2, unordered pairs of tests, words of a cover."""
    level = depth - 2
    covers = 1.0
    for k in range(level):
        covers *= 2 * (n_tests - k) / (k + 1)  # sets of tests, each with an outcome
    return covers * n_tests * (n_tests - 1) / 2 * max(1.0, n_rows / 64 / 2**level)


def measured(n_rows: int, n_tests: int, depth: int, seed: int = 0) -> float:
    """Seconds of processor time per word of a pair, building the graph and folding the evidence."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_tests)) < 0.5).astype(np.uint8)
    y = (rng.random(n_rows) < 0.2 + 0.5 * X[:, 0] * X[:, 1]).astype(int)
    table = et.Table.from_arrays(X, y, 2)
    start = time.process_time()
    et.TreeSpace.from_table(table, depth, min_leaf=5).posterior()
    return (time.process_time() - start) / word_pairs(n_rows, n_tests, depth)


def main() -> None:
    asked = [float(word) for word in sys.argv[1:]] or [1e9, 1e4, 100, 32]
    n_rows, n_tests, nodes, cores = (int(x) for x in asked)
    factors = {}
    for rows, tests, depth in ((10_000, 250, 3), (10_000, 2_000, 2), (100_000, 100, 3)):
        factors[rows, tests, depth] = measured(rows, tests, depth)
        print(
            f"{rows} rows, {tests} tests, depth {depth}: {factors[rows, tests, depth] * 1e9:.2f} ns per word and pair"
        )
    factor = max(factors.values())
    print(f"\n{n_rows:.0e} rows on {nodes} nodes of {cores} cores, at {factor * 1e9:.2f} ns:")
    print("tests      depth  states     core-seconds  wall            bytes per node  pair counts per state")
    for tests in sorted({n_tests, n_tests // 10, n_tests // 100}, reverse=True):
        for depth in (2, 3, 4):
            work = word_pairs(n_rows, tests, depth) * factor
            states = word_pairs(64 * 2 ** (depth - 2), tests, depth) / (tests * (tests - 1) / 2)
            wall = work / (nodes * cores)
            shown = (
                f"{wall:.3g} s"
                if wall < 7200
                else f"{wall / 3600:.3g} h"
                if wall < 2e5
                else f"{wall / 86400:.3g} days"
            )
            held, sent = n_rows / nodes * tests / 8, tests * tests / 2 * 16
            print(
                f"{tests:<10} {depth:<6} {states:<10.2g} {work:<13.3g} {shown:<15} {held:<15.3g} {sent:.3g}"
            )


if __name__ == "__main__":
    main()
