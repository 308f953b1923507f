"""Tables whose greedy root puts the optimum out of reach: the two of DL8's section 4, and two more like them.

    gain(i) = H(class) − Σ_outcomes n_o / n · H(class | o),    gain ratio(i) = gain(i) / H(outcome)

H is entropy in bits. Under a minimum leaf size the choice of the root is final: what it leaves too small to be split
off stays an error. Without one, a greedy root may still cost nodes.
"""

from __future__ import annotations

import math

from everytree.reference.leaves import entropy
from everytree.reference.space import Space
from everytree.reference.table import Table

__all__ = [
    "DL8_FIGURE_3",
    "DL8_FIGURE_4",
    "MISLED_XOR",
    "UNBALANCED_PAIR",
    "gain_ratio",
    "greedy_root",
    "information_gain",
]

# The database of DL8's Figure 3; tests A, B, C; min_leaf 10. The tree of its Figure 1 (B, then C where B is false)
# makes no error in leaves of 80, 10 and 10. Gain prefers A (0.331, ratio 0.543) to B (0.269, ratio 0.373); from there
# five examples stay wrong.
DL8_FIGURE_3 = Table(
    [(1, 1, 0), (1, 1, 1), (1, 0, 1), (0, 0, 0), (0, 0, 1)],
    [(0, 40), (0, 40), (0, 5), (10, 0), (0, 5)],
)

# The database of DL8's Figure 4, a variation of the XOR problem; min_leaf 1. Gain prefers A (0.0985) to C (0.0289).
# From C a tree of 7 nodes makes no error, from A it takes 9.
DL8_FIGURE_4 = Table(
    [(1, 1, 1), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 0), (0, 0, 1)],
    [(0, 30), (20, 0), (8, 0), (12, 0), (0, 12), (18, 0)],
)

# Tests A, B, C; min_leaf 10. The class is "B and C": root B, then C, makes leaves of 48, 12 and 40 without
# error. A copies the class but for three examples on each side, so it has the larger gain and gain ratio
# (0.645 and 0.665 against 0.566 for B); after it, neither group of three can be split off.
UNBALANCED_PAIR = Table(
    #   A  B  C
    [(1, 1, 1), (0, 1, 1), (0, 1, 0), (1, 1, 0), (0, 0, 0), (0, 0, 1)],
    [(0, 37), (0, 3), (9, 0), (3, 0), (24, 0), (24, 0)],
)

# Tests A, B, C; min_leaf 10. The class is "B xor C" with 25 examples in each corner, so B and C have no gain
# at all. A agrees with the class in 20 of every 25; after it, the groups of five cannot be split off.
MISLED_XOR = Table(
    [(0, 0, 0), (1, 0, 0), (0, 1, 1), (1, 1, 1), (1, 0, 1), (0, 0, 1), (1, 1, 0), (0, 1, 0)],
    [(20, 0), (5, 0), (20, 0), (5, 0), (0, 20), (0, 5), (0, 20), (0, 5)],
)


def information_gain(space: Space, test: int) -> float:
    """Return the gain of a test at the root, in bits."""
    table = space.table
    children = [table.class_counts(child) for child in table.children(space.root, test)]
    bits = entropy(table.class_counts(space.root)) - math.fsum(entropy(child) for child in children)
    return bits / table.n_examples / math.log(2)


def gain_ratio(space: Space, test: int) -> float:
    """Return the gain of a feasible test at the root divided by the entropy of its outcomes."""
    table = space.table
    outcomes = [table.n(child) for child in table.children(space.root, test)]
    return information_gain(space, test) * table.n_examples * math.log(2) / entropy(outcomes)


def greedy_root(space: Space, ratio: bool = False) -> int | None:
    """Return the feasible root test of the largest gain (or ratio); the lowest on ties, None if there is none.

    >>> greedy_root(Space(UNBALANCED_PAIR, min_leaf=10)), greedy_root(Space(MISLED_XOR, min_leaf=10))
    (0, 0)
    """
    measure = gain_ratio if ratio else information_gain
    return max(space.feasible(space.root, 0), key=lambda test: (measure(space, test), -test), default=None)
