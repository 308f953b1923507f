"""Trees on whole columns pruned by their errors, as CART and the earlier C4 prune them.

With e(t) the examples of a node that are not of its most frequent class, T_t the subtree below t, L(T) its leaves and
R(T) = Σ_leaves e:

    weakest link     g(t) = (e(t) − R(T_t)) / (L(T_t) − 1);  the nodes with the least g become leaves, again and again
    T(α)             the tree after all links with g ≤ α; one price for each different T(α): the geometric means of
                     neighbouring g, from 0 on, and +∞ for the root alone (Breiman, Friedman, Olshen & Stone 1984)
    pessimistic      from the root down, t is a leaf if e(t) + ½ ≤ e' + sqrt(e'(n − e')/n), e' = R(T_t) + L(T_t)/2,
                     with T_t as it was grown (Quinlan 1987)

Prices are shares: g / n, with n the examples of the whole tree. Fractions decide; a price is kept as its square.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from everytree.reference.grower import Grower
from everytree.reference.grown import GrownNode, GrownOption

__all__ = ["PriceErrors", "by_price", "choose_price", "pessimistic", "price_errors", "weakest_links"]


def errors(node: GrownNode) -> int:
    """Return e(t)."""
    return sum(node.counts) - max(node.counts)


def _children(node: GrownNode) -> list[GrownNode]:
    return [child for option in node.options for child in option.children.values()]


def _leaves(node: GrownNode, closed: set[GrownNode] | frozenset[GrownNode] = frozenset()) -> list[GrownNode]:
    """Return the leaves below a node where some nodes are leaves now."""
    below = [] if node in closed else _children(node)
    return [leaf for child in below for leaf in _leaves(child, closed)] if below else [node]


def _copy(node: GrownNode, closed: Iterable[GrownNode]) -> GrownNode:
    closed = set(closed)
    made = GrownNode(node.rows, node.depth, node.counts)
    if node not in closed:
        for option in node.options:
            children = {slot: _copy(child, closed) for slot, child in option.children.items()}
            made.options.append(GrownOption(option.test, option.log_split, children))
    return made


def pessimistic(root: GrownNode) -> GrownNode:
    """Return the tree pruned pessimistically."""

    def goes(node: GrownNode) -> bool:
        ends = _leaves(node)
        n = sum(node.counts)
        total = Fraction(sum(errors(leaf) for leaf in ends)) + Fraction(len(ends), 2)
        more = errors(node) + Fraction(1, 2) - total
        return more <= 0 or more * more <= total * (n - total) / n

    def closed(node: GrownNode) -> list[GrownNode]:
        if not node.options:
            return []
        return [node] if goes(node) else [each for child in _children(node) for each in closed(child)]

    return _copy(root, closed(root))


def weakest_links(root: GrownNode) -> list[tuple[Fraction, frozenset[GrownNode]]]:
    """Return α and the nodes that are leaves from there on, for each different T(α); the first α is 0."""
    n = sum(root.counts)
    closed: set[GrownNode] = set()
    found: list[tuple[Fraction, frozenset[GrownNode]]] = [(Fraction(0), frozenset())]
    while True:
        links = {}
        todo = [root]
        while todo:
            node = todo.pop()
            if node.options and node not in closed:
                ends = _leaves(node, closed)
                links[node] = Fraction(errors(node) - sum(map(errors, ends)), len(ends) - 1)
                todo += _children(node)
        if not links:
            return found
        least = min(links.values())
        closed |= {node for node, g in links.items() if g == least}
        alpha = least / n
        if alpha == found[-1][0]:
            found.pop()
        found.append((alpha, frozenset(closed)))


def by_price(root: GrownNode, squared: Fraction | None) -> GrownNode:
    """Return T(α) for the square of a price; None is +∞."""
    kept = [closed for alpha, closed in weakest_links(root) if squared is None or alpha * alpha <= squared]
    return _copy(root, kept[-1])


class PriceErrors(NamedTuple):
    """The squares of the prices of a tree (None: +∞), and the errors of each over all folds."""

    squares: list[Fraction | None]
    errors: list[int]
    closest: float  # the smallest relative distance of a price from a link of a fold: 0 is a tie of roundings


def price_errors(
    root: GrownNode, folds: Sequence[tuple[Grower, GrownNode, Sequence[tuple[Sequence[Any], int, int]]]]
) -> PriceErrors:
    """Return the errors of each price; a fold is the tree grown on the others, and its rows with class and number."""
    steps = [alpha for alpha, _ in weakest_links(root)]
    squares: list[Fraction | None] = [a * b for a, b in pairwise(steps)]
    squares.append(None)
    wrong, closest = [0] * len(squares), math.inf
    for grower, tree, rows in folds:
        links = [alpha for alpha, _ in weakest_links(tree)]
        closest = min(
            [closest, *(abs(float(s) / float(a * a) - 1) for s in squares for a in links if s and a)]
        )
        for k, square in enumerate(squares):
            pruned = by_price(tree, square)
            wrong[k] += sum(n for row, c, n in rows if _says(grower, pruned, row) != c)
    return PriceErrors(squares, wrong, closest)


def _says(grower: Grower, node: GrownNode, row: Sequence[Any]) -> int:
    while node.options:
        (option,) = node.options
        slot = grower.data.slot(option.test, row[option.test.column])
        if slot is None or slot not in option.children:
            break
        node = option.children[slot]
    return node.counts.index(max(node.counts))


def choose_price(wrong: Sequence[int], n: int, se: int) -> int:
    """Return the place of the largest price whose errors are within ``se`` standard errors of the least."""
    least = min(wrong)
    room = Fraction(se * se * least * (n - least), n)
    return max(k for k, e in enumerate(wrong) if (e - least) ** 2 <= room)
