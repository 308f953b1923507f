"""Cano, Masegosa and Moral: a Bayesian score grows a multiway tree, and predictions average along the path.

With parameters a = (a_1..a_C), Σa = S, uniform a_k = S/C:

    score(leaf t) = logM(n_t),   score(split t on X) = Σ_values x logM(n_{t,x})
    split on the best X while score(split) > score(leaf)
    log B_t = score(best split) − score(leaf)
    h(t_1) = 1,  h(t_i) = Π_{j<i} B_{t_j}  over the path root = t_1, …, t_m = leaf
    P(c | x) ∝ Σ_i h(t_i) · (n_c(t_i) + a_c(t_i)) / (n(t_i) + S)

Every declared value has a branch, empty ones included; an attribute is used once per path. With the *non-uniform
prior* the counts of a node give a vector: with z classes that the node has not seen, if z > 1,

    a_k = S / (C−z+1) for the classes it has seen,   a_k = S / ((C−z+1) · z) for the others,

and S/C otherwise; they sum to S. The leaf score and the split scores of a node both use the vector of its own counts,
the class probabilities of a node the vector of its parent's (S/C at the root). With ``nonuniform="parent"`` the leaf
score uses the parent's vector too, and only the split scores the node's own.

Without averaging, ``leaf="laplace"`` answers (n_c + 1) / (n + C) at the leaf, and where that is empty at the nearest
node above it that is not.

Close scores are compared as fractions: M is a product of rational numbers. Of equal splits the lowest attribute
is taken, and a split equal to the leaf is not made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from everytree.reference.leaves import leaf_probabilities, log_marginal
from everytree.reference.logs import log_sum
from everytree.reference.table import Counts

__all__ = ["CanoNode", "cano_grow", "cano_path", "cano_predict", "nonuniform_a"]

Examples: TypeAlias = list[tuple[tuple[int, ...], int]]


@dataclass(frozen=True)
class CanoNode:
    """A node: class counts, parameters, the scores of leaf and best split, and branches (none for a leaf)."""

    counts: Counts
    a: tuple[float, ...]
    log_leaf: float
    log_split: float
    attribute: int | None
    children: tuple[CanoNode, ...]

    @property
    def log_b(self) -> float:
        """log B of this node."""
        return self.log_split - self.log_leaf


CLOSE = 1e-6  # logarithms of scores that differ by less are compared exactly


def nonuniform_a(parent: Sequence[int], s: float) -> tuple[float, ...]:
    """Return the parameters of the children of a node with these class counts.

    Four classes, two not seen, S = 1: C − z + 1 = 3, so 1/3 for each class seen and 1/6 for each other.

    >>> [round(6 * a, 12) for a in nonuniform_a((5, 0, 2, 0), 1)]
    [2.0, 1.0, 2.0, 1.0]
    """
    return tuple(float(each) for each in _parameters(parent, Fraction(s)))


def _parameters(parent: Sequence[int], s: Fraction) -> tuple[Fraction, ...]:
    C, z = len(parent), sum(1 for count in parent if count == 0)
    if z <= 1:
        return (s / C,) * C
    return tuple(s / (C - z + 1) if count else s / ((C - z + 1) * z) for count in parent)


def _marginal(counts: Sequence[int], a: Sequence[Fraction]) -> Fraction:
    """Return M(n) = Π_c a_c(a_c+1)…(a_c+n_c−1) / S(S+1)…(S+n−1), exactly."""

    def rising(x: Fraction, n: int) -> Fraction:
        return math.prod((x + k for k in range(n)), start=Fraction(1))

    above = math.prod((rising(x, n) for x, n in zip(a, counts, strict=True)), start=Fraction(1))
    return above / rising(sum(a, Fraction(0)), sum(counts))


def cano_grow(
    X: Sequence[Sequence[int]],
    y: Sequence[int],
    n_values: Sequence[int],
    n_classes: int,
    s: float | str = 1,
    nonuniform: bool | str = False,
) -> CanoNode:
    """Grow the tree.

    ``X`` holds value indices, ``n_values[j]`` is the number of declared values of attribute j, and s is 1, 2,
    any other positive number, or "classes"; ``nonuniform`` is False, True or "parent".

    >>> tree = cano_grow([[0], [0], [1], [1]] * 3, [0, 0, 1, 1] * 3, n_values=[3], n_classes=2)
    >>> tree.attribute, [child.counts for child in tree.children]
    (0, [(6, 0), (0, 6), (0, 0)])
    """
    S = float(n_classes) if s == "classes" else float(s)
    if not 0 < S < math.inf:
        raise ValueError(f"s={s!r}; the equivalent sample size must be positive and finite, or 'classes'")
    if len(X) != len(y) or not len(X):
        raise ValueError(f"{len(X)} rows and {len(y)} classes; give one class per row and at least one row")
    examples: Examples = []
    for number, (row, c) in enumerate(zip(X, y, strict=True)):
        _check_row(row, n_values, f"row {number}")
        if not 0 <= c < n_classes:
            raise ValueError(f"class {c} of row {number}; classes run from 0 to {n_classes - 1}")
        examples.append((tuple(row), c))

    def count(part: Examples) -> Counts:
        return tuple(sum(1 for _, c in part if c == k) for k in range(n_classes))

    def parts(node: Examples, attribute: int) -> list[Examples]:
        return [
            [each for each in node if each[0][attribute] == value] for value in range(n_values[attribute])
        ]

    def grow(node: Examples, a: tuple[Fraction, ...], free: frozenset[int]) -> CanoNode:
        counts = count(node)
        below = _parameters(counts, exact_S) if nonuniform else uniform
        as_leaf = a if nonuniform == "parent" else below
        small_a, small_below = tuple(map(float, a)), tuple(map(float, below))
        log_leaf = log_marginal(counts, tuple(map(float, as_leaf)))

        def exact(attribute: int) -> Fraction:
            return math.prod(
                (_marginal(count(part), below) for part in parts(node, attribute)), start=Fraction(1)
            )

        scores = {
            attribute: math.fsum(log_marginal(count(part), small_below) for part in parts(node, attribute))
            for attribute in sorted(free)
        }
        log_split = max(scores.values(), default=-math.inf)
        near = [attribute for attribute, score in scores.items() if score > log_split - CLOSE]
        attribute = near[0] if len(near) == 1 else max(near, key=exact, default=-1)  # the lowest on ties
        better = log_split > log_leaf
        if abs(log_split - log_leaf) < CLOSE:
            better = exact(attribute) > _marginal(counts, as_leaf)
        if not better:
            return CanoNode(counts, small_a, log_leaf, log_split, None, ())
        children = tuple(grow(part, below, free - {attribute}) for part in parts(node, attribute))
        return CanoNode(counts, small_a, log_leaf, scores[attribute], attribute, children)

    exact_S = Fraction(S)
    uniform = (exact_S / n_classes,) * n_classes
    return grow(examples, uniform, frozenset(range(len(n_values))))


def cano_path(tree: CanoNode, row: Sequence[int]) -> list[CanoNode]:
    """Return the nodes from the root to the leaf that a row reaches."""
    path = [tree]
    while (attribute := path[-1].attribute) is not None:
        node = path[-1]
        if not 0 <= row[attribute] < len(node.children):
            raise ValueError(
                f"value {row[attribute]} of attribute {attribute}; declared are 0 to {len(node.children) - 1}"
            )
        path.append(node.children[row[attribute]])
    return path


def cano_predict(
    tree: CanoNode, row: Sequence[int], averaging: bool = True, leaf: str = "dirichlet"
) -> tuple[float, ...]:
    """Return P(c | x): the leaf's probabilities, or with averaging the mean along the path with weights h.

    >>> tree = cano_grow([[0], [0], [1], [1]] * 3, [0, 0, 1, 1] * 3, n_values=[2], n_classes=2)
    >>> [round(p, 4) for p in cano_predict(tree, [0], averaging=False)]  # (6 + ½) / 7
    [0.9286, 0.0714]
    """
    path = cano_path(tree, row)
    if leaf == "laplace":
        last = next(node for node in reversed(path) if any(node.counts))
        return leaf_probabilities(last.counts, (1.0,) * len(last.counts))
    if not averaging:
        return leaf_probabilities(path[-1].counts, path[-1].a)
    log_h = [0.0]
    for node in path[:-1]:
        log_h.append(log_h[-1] + node.log_b)
    log_total = log_sum(log_h)
    shares = [math.exp(each - log_total) for each in log_h]
    thetas = [leaf_probabilities(node.counts, node.a) for node in path]
    return tuple(
        math.fsum(share * theta[c] for share, theta in zip(shares, thetas, strict=True))
        for c in range(len(tree.counts))
    )


def _check_row(row: Sequence[int], n_values: Sequence[int], where: str) -> None:
    if len(row) != len(n_values):
        raise ValueError(f"{where} has {len(row)} values for {len(n_values)} attributes")
    for attribute, (value, n) in enumerate(zip(row, n_values, strict=True)):
        if not 0 <= value < n:
            raise ValueError(
                f"{where} has value {value} for attribute {attribute}; declared are 0 to {n - 1}"
            )
