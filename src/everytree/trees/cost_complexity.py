"""Cost-complexity pruning (Breiman, Friedman, Olshen & Stone): how much a leaf must cost for a subtree to go.

    R_α(T) = R(T) + α · leaves(T)            risk of a tree, with a price α per leaf
    T(α)                                     the smallest subtree (same root) of least R_α; T(α) ⊇ T(α') for α ≤ α'
    f_t(α) = min(R(t) + α, Σ_children f(α))  the least cost below node t: a leaf, or the best of its children together
    γ(t)                                     the α from which on t is a leaf, or gone with a node above it

So a row ends in T(α) at the first node of its path with γ ≤ α. γ is found from the leaves up: the sum over the children
is concave and piecewise linear, and its line for large α has all children as leaves; going down from there, a line ends
at the largest γ below, where that node opens again. A line that was left is not met again further up, so that every γ
is taken from a heap once. (scikit-learn's pruner looks for the weakest node among all, once for each that it prunes,
and tells the prices but not the nodes; cross-validation with it means growing a tree for each fold and price.)
"""

from __future__ import annotations

import heapq
import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from everytree.errors import DataError
from everytree.trees.flat import FlatTree

__all__ = [
    "choose",
    "collapse_points",
    "errors_by_price",
    "n_copies",
    "prices",
    "risks",
    "stratified_counts",
]

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
SAME = 1e-12  # prices closer than this, relative to the risk of the root, differ by rounding alone
MOST_OF_CLASS = 10**9  # numpy draws from urns with fewer balls than this


def risks(counts: Floats, kind: Literal["gini", "entropy", "error"]) -> Floats:
    """Compute R(t) of every node, in examples: n · Σ p(1 − p), −n · Σ p log2 p, or the errors n − max n_c.

    >>> counts = np.array([[2.0, 2.0], [3.0, 1.0]])
    >>> [risks(counts, kind).round(3).tolist() for kind in ("gini", "entropy", "error")]
    [[2.0, 1.5], [4.0, 3.245], [2.0, 1.0]]
    """
    total = counts.sum(axis=1)
    if kind == "error":
        return np.asarray(total - counts.max(axis=1))
    if kind == "gini":
        return np.asarray(total - (counts * counts).sum(axis=1) / total)
    share = np.where(counts > 0, counts / total[:, None], 1.0)
    return np.asarray(-(counts * np.log2(share)).sum(axis=1))


def collapse_points(tree: FlatTree, risk: Floats) -> Floats:
    """Compute γ of every node for risks that no split increases, in units of ``risk``; −∞ for a leaf of the full tree.

    >>> from everytree import C45TreeClassifier
    >>> tree = C45TreeClassifier(prune=False).fit([[0], [0], [1], [1], [2], [2]], list("aabbaa")).tree_
    >>> tree.counts.tolist()
    [[4.0, 2.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [2.0, 0.0]]
    >>> collapse_points(tree, risks(tree.counts, "error")).tolist()
    [1.0, -inf, 1.0, -inf, -inf]
    """
    gamma = np.full(tree.n_nodes, -np.inf)
    # For each open subtree, the nodes that are leaves for large prices: (−γ, risk saved by opening it, leaves added).
    heaps: dict[int, list[tuple[float, float, int]]] = {}
    cost = risk.tolist()
    for node in np.flatnonzero(tree.attribute >= 0)[::-1].tolist():  # children come after their parent
        below = sorted((heaps.pop(child, []) for child in tree.children(node)), key=len)
        heap = below.pop()
        for other in below:  # entries move to the larger heap: each at most log2(nodes) times
            for entry in other:
                heapq.heappush(heap, entry)
        line = math.fsum(cost[child] for child in tree.children(node))
        leaves = int(tree.n_children[node])
        while True:
            point = max((cost[node] - line) / (leaves - 1), 0.0) if leaves > 1 else 0.0
            if not heap or point >= -heap[0][0]:
                break
            _, less, more = heapq.heappop(heap)
            line, leaves = line - less, leaves + more
        gamma[node] = point
        heapq.heappush(heap, (-point, cost[node] - line, leaves - 1))
        heaps[node] = heap
    for parents, children in tree.levels():  # a node below a leaf is gone with it
        gamma[children] = np.minimum(gamma[children], gamma[parents])
    return _without_rounding(gamma, SAME * float(risk[0]))


def _without_rounding(gamma: Floats, slack: float) -> Floats:
    """Make values equal that differ by rounding alone, and zero those that are zero but for rounding."""
    inner = np.flatnonzero(gamma > -np.inf)
    order = inner[np.argsort(gamma[inner], kind="stable")]
    values = np.concatenate([[0.0], gamma[order]])
    apart = np.diff(values) > slack
    group = np.cumsum(apart)  # 0: as good as zero
    firsts = np.concatenate([[0.0], values[1:][apart]])
    found = gamma.copy()
    found[order] = firsts[group]
    return found


def prices(gamma: Floats) -> Floats:
    """Return one price for each different T(α): geometric means of neighbouring γ (from 0 on), +∞ for the root alone.

    >>> prices(np.array([4.0, 1.0, -np.inf, 1.0, -np.inf])).tolist()
    [0.0, 2.0, inf]
    """
    steps = np.unique(np.concatenate([[0.0], gamma[gamma > 0]]))
    means: Floats = np.append(np.sqrt(steps[:-1]) * np.sqrt(steps[1:]), np.inf)
    return means


def errors_by_price(tree: FlatTree, gamma: Floats, ends: Counts, at: Floats) -> Counts:
    """Count the errors of T(α) for each price in ``at`` (ascending); ``ends`` has the class counts of rows by end node.

    A node is in T(α) as long as the node above it is no leaf. From γ on it is a leaf, and has all rows that reach it;
    before, only those that stop at it, because it has no branch for them.
    """
    says = np.argmax(tree.counts, axis=1)
    above = np.full(tree.n_nodes, np.inf)
    for parents, children in tree.levels():
        above[children] = gamma[parents]
    leaf_from = np.searchsorted(at, gamma)
    gone_from = np.where(np.isinf(above), at.size, np.searchsorted(at, above))
    change = np.zeros(at.size + 1, dtype=np.int64)
    start = np.zeros(tree.n_nodes, dtype=np.intp)
    for rows, first, last in (
        (tree.added_up(ends), leaf_from, gone_from),
        (ends, start, np.minimum(leaf_from, gone_from)),
    ):
        wrong = rows.sum(axis=1) - rows[np.arange(tree.n_nodes), says]
        counted = first < last
        np.add.at(change, first[counted], wrong[counted])
        np.add.at(change, last[counted], -wrong[counted])
    return np.cumsum(change[:-1])


def choose(errors: Counts, n: int, rule: Literal["0-SE", "1-SE"], per_example: int = 1) -> int:
    """Choose a price: the largest of least error, or the largest within one standard error of that.

    The standard error of e errors in n examples is sqrt(e(n − e)/n), and whole numbers decide. Where ``errors`` and
    ``n`` are counts, of which ``per_example`` make one example, it is sqrt(per_example) times as large in counts.

    >>> errors = np.array([12, 10, 11, 10, 13, 14, 50])
    >>> choose(errors, 100, "0-SE"), choose(errors, 100, "1-SE")
    (3, 4)
    """
    least = int(errors.min())
    room = per_example * least * (n - least) if rule == "1-SE" else 0
    return max(k for k, e in enumerate(errors.tolist()) if (e - least) ** 2 * n <= room)


def stratified_counts(
    y: npt.NDArray[np.intp],
    weights: Counts,
    n_folds: int,
    rng: np.random.Generator,
    per_example: int = 1,
) -> Counts:
    """Draw how many of the ``weights`` copies of each row are in each fold: rows × folds.

    Folds are dealt class by class, so that neither they nor the classes in them differ by more than one example. All
    ways to do that are equally likely, whether copies are rows of their own or a weight.

    Where ``per_example`` counts make one example, the copies of a row are as many examples as it has, and one more for
    what is left of its weight.

    >>> stratified_counts(np.array([0, 0, 1]), np.array([3, 1, 2]), 2, np.random.default_rng(0)).sum(axis=0).tolist()
    [3, 3]
    """
    if per_example != 1:
        return _with_remainders(y, weights, n_folds, rng, per_example)
    found = np.zeros((y.size, n_folds), dtype=np.int64)
    dealt = 0
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        total = int(weights[rows].sum())
        if total >= MOST_OF_CLASS:
            raise DataError(
                f"a class has {total} examples; folds are drawn for fewer than 10^9. Divide sample_weight, for "
                f"example by {total // MOST_OF_CLASS * 10 + 10}"
            )
        turn = (np.arange(n_folds) - dealt) % n_folds  # the fold after the last one dealt to comes first
        room = total // n_folds + (turn < total % n_folds)
        dealt += total
        for row in rows[weights[rows] > 1].tolist():  # rows in the order given: they are sorted by the caller
            found[row] = rng.multivariate_hypergeometric(room, int(weights[row]))
            room -= found[row]
        single = rows[weights[rows] == 1]
        found[single, rng.permutation(np.repeat(np.arange(n_folds), room))] = 1
    return found


def n_copies(weights: Counts, per_example: int) -> int:
    """Count the examples that are dealt to folds: whole ones, and one for what is left of each row.

    >>> n_copies(np.array([2, 3, 5]), 2)
    6
    """
    return int((-(-weights // per_example)).sum())


def _with_remainders(
    y: npt.NDArray[np.intp], weights: Counts, n_folds: int, rng: np.random.Generator, per_example: int
) -> Counts:
    """Deal whole examples and remainders alike; which copy of a row is the remainder is drawn, too."""
    copies = -(-weights // per_example)
    dealt = stratified_counts(y, copies, n_folds, rng)
    found = per_example * dealt
    lacking = per_example * copies - weights
    for row in np.flatnonzero(lacking).tolist():
        found[row, rng.choice(n_folds, p=dealt[row] / copies[row])] -= lacking[row]
    return found
