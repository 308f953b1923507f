"""What the engine is compared with where ``everytree.reference`` answers too slowly or not at all.

    cheapest(s) = the k least of  leaf(s)  and  cheapest(zero) + cheapest(one)  over the feasible tests
    by_leaves(s)[m] = least of  leaf(s) (m = 1)  and  by_leaves(zero)[a] + by_leaves(one)[m − a]

Both run over the states of ``reference.Space`` with the leaf values of ``reference``, added exactly
(Fractions); a test compares them with ``reference.best`` and ``reference.front`` where those are quick.
"""

from __future__ import annotations

from fractions import Fraction
from heapq import nsmallest
from random import Random

from everytree.reference import Query, Space, Tree
from everytree.reference.criteria import leaf_value, value_of


def cheapest(space: Space, query: Query, k: int) -> list[float]:
    """The k least values of the first criterion over the trees of a space."""
    known: dict[tuple[int, int], list[Fraction]] = {}

    def best(cover: int, depth: int) -> list[Fraction]:
        state = (cover, depth)
        if state not in known:
            found = [Fraction(leaf_value(query.rank[0], space.table.class_counts(cover), query))]
            for test in space.feasible(cover, depth):
                zero, one = (best(child, depth + 1) for child in space.table.children(cover, test))
                # The a-th of one side with the b-th of the other can be among the k least only if a·b ≤ k.
                for a, left in enumerate(zero, 1):
                    found += [left + right for right in one[: k // a]]
            known[state] = nsmallest(k, found)
        return known[state]

    return [float(value) for value in best(space.root, 0)]


def front_of(space: Space, query: Query) -> list[tuple[int, float]]:
    """(size, least value of the first criterion), dominated entries left out."""
    known: dict[tuple[int, int], dict[int, Fraction]] = {}

    def by_leaves(cover: int, depth: int) -> dict[int, Fraction]:
        state = (cover, depth)
        if state not in known:
            found = {1: Fraction(leaf_value(query.rank[0], space.table.class_counts(cover), query))}
            for test in space.feasible(cover, depth):
                zero, one = (by_leaves(child, depth + 1) for child in space.table.children(cover, test))
                for a, left in zero.items():
                    for b, right in one.items():
                        if a + b not in found or left + right < found[a + b]:
                            found[a + b] = left + right
            known[state] = found
        return known[state]

    points: list[tuple[int, float]] = []
    for leaves, value in sorted(by_leaves(space.root, 0).items()):
        if not points or float(value) < points[-1][1]:
            points.append((2 * leaves - 1, float(value)))
    return points


def price(tree: Tree, space: Space, query: Query) -> float:
    """The first criterion of one tree, leaf by leaf."""
    return float(value_of(query.rank[0], tree, space.table, query))


def random_tree(rng: Random, n_tests: int, deepest: int) -> Tree:
    """A tree of any tests; most often outside every space."""
    if deepest == 0 or n_tests == 0 or rng.random() < 0.4:
        return None
    return (
        rng.randrange(n_tests),
        random_tree(rng, n_tests, deepest - 1),
        random_tree(rng, n_tests, deepest - 1),
    )
