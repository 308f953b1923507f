"""The kernel of Krasznahorkay (2004) where nothing bounds the trees: shapes alone, with no data.

From ℓ leaves one of ℓ + 1 choices: split a given leaf, or undo the split added last; π = exp(−α · leaves). The state
is a shape with the order of its additions. With ℓ leaves there are C(ℓ − 1) shapes (Catalan's numbers), and (ℓ − 1)!
shapes with an order:

    counted   each order weighs π             Σ (ℓ − 1)! e^(−αℓ)    diverges for every α: no law to converge to
    once      each order weighs π / orders    Σ C(ℓ − 1) e^(−αℓ)    = (1 − √(1 − 4 e^−α)) / 2 for α ≥ ln 4

The first is the paper's. Splits are accepted with probability e^−α · (ℓ + 1)/(ℓ + 2) and always outnumber the one
undoing from some ℓ on, near e^α leaves: beyond it trees grow by about e^−α leaves in a proposal, for ever.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

__all__ = ["SHAPES_ARE_FINITE", "mean_leaves", "run_shapes"]

SHAPES_ARE_FINITE = math.log(4)  # from this α on, Σ over all shapes is finite; here it is ½


def mean_leaves(alpha: float) -> float:
    """Return the mean number of leaves of a shape drawn from exp(−α · leaves), which is infinite at ln 4.

    Parameters
    ----------
    alpha : float
        The price of a leaf, at least ln 4.

    Returns
    -------
    float
        The mean.

    Examples
    --------
    >>> round(mean_leaves(2.0), 4), mean_leaves(math.log(4))
    (1.2383, inf)
    """
    x = math.exp(-alpha)
    root = math.sqrt(max(0.0, 1 - 4 * x))
    return x / root / ((1 - root) / 2) if alpha > SHAPES_ARE_FINITE else math.inf


def run_shapes(alpha: float, orders: str, looks: Sequence[int], seed: int) -> list[int]:
    """Run the chain from the single leaf, and return its number of leaves after so many proposals.

    Parameters
    ----------
    alpha : float
        The price of a leaf.
    orders : {"counted", "once"}
        What an order of a shape weighs: π, or π divided by the number of orders.
    looks : sequence of int
        The numbers of proposals, rising.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    list of int
        The number of leaves at each look.

    Examples
    --------
    >>> run_shapes(2.0, "once", [10, 100], seed=0)[-1] < 10
    True
    """
    rng = np.random.default_rng(seed)
    once = orders == "once"
    parent, below = [-1], [0]  # of each node: the node above it, and the splits at and below it
    leaves, place = [0], [0]  # the leaves in any order, and where a leaf stands among them
    added: list[tuple[int, int, int]] = []  # a split and its children, in the order of additions
    found = []

    def log_more_orders(leaf: int, splits: int, less: int) -> float:
        more, at = math.log(splits + 1), parent[leaf]
        while at >= 0:
            k = below[at] - less
            more += math.log(k / (k + 1))
            at = parent[at]
        return more

    def count(node: int, by: int) -> None:
        while node >= 0:
            below[node] += by
            node = parent[node]

    def put(leaf: int) -> None:
        place[leaf] = len(leaves)
        leaves.append(leaf)

    def take(leaf: int) -> None:
        last = leaves[-1]
        leaves[place[leaf]], place[last] = last, place[leaf]
        leaves.pop()

    for begin, end in zip([0, *looks], looks, strict=False):
        for choice, chance in zip(rng.random(end - begin), rng.random(end - begin), strict=True):
            n = len(leaves)
            k = int(choice * (n + 1))
            if k < n:
                leaf = leaves[k]
                log_ratio = -alpha + math.log((n + 1) / (n + 2))
                if once:
                    log_ratio -= log_more_orders(leaf, len(added), 0)
                if math.log1p(-chance) < log_ratio:
                    take(leaf)
                    count(leaf, 1)
                    children = len(parent), len(parent) + 1
                    parent += [leaf, leaf]
                    below += [0, 0]
                    place += [0, 0]
                    put(children[0])
                    put(children[1])
                    added.append((leaf, *children))
            elif added:
                leaf, zero, one = added[-1]
                log_ratio = alpha + math.log((n + 1) / n)
                if once:
                    log_ratio += log_more_orders(leaf, len(added) - 1, 1)
                if math.log1p(-chance) < log_ratio:
                    take(zero)
                    take(one)
                    del (
                        parent[-2:],
                        below[-2:],
                        place[-2:],
                    )  # the children of the last split are the last nodes
                    count(leaf, -1)
                    put(leaf)
                    added.pop()
        found.append(len(leaves))
    return found
