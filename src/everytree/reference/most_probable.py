"""The most probable trees, and random trees of the posterior.

    best(s) = least of  leaf  and  {i} × best(zero) × best(one),   ordered by  (−log joint, size, key)

The order breaks ties by smaller size, then by lower test index in preorder (a leaf is lowest): it is total,
and it decomposes, because all three parts of it grow with the same part of a subtree. So that it holds to the
last bit, −log joint is the *exact* sum (a Fraction) of the floating-point log weights of the nodes: trees
with the same node weights tie exactly, in any order of summation. Trees of probability zero are not listed.
"""

from __future__ import annotations

import math
from fractions import Fraction
from heapq import nsmallest
from random import Random
from typing import NamedTuple

from everytree.reference.bayes import Bayes
from everytree.reference.table import Cover
from everytree.reference.trees import Tree, from_key, key, size

__all__ = ["Ranked", "log_map", "map_tree", "rank_in_posterior", "sample", "top_trees"]


class Ranked(NamedTuple):
    """The place of a tree in the order: tuples compare from the left."""

    cost: Fraction
    size: int
    key: tuple[int, ...]


def rank_in_posterior(model: Bayes, tree: Tree) -> Ranked | None:
    """Return the place of one tree, or None if its probability is zero."""
    terms = model.log_terms(tree)
    if -math.inf in terms:
        return None
    return Ranked(-sum(map(Fraction, terms), Fraction(0)), size(tree), key(tree))


def top_trees(model: Bayes, k: int) -> list[Tree]:
    """Return the k most probable trees, best first; fewer if the space holds fewer."""
    if k < 1:
        raise ValueError(f"k={k!r}; ask for at least one tree")
    known: dict[tuple[Cover, int], list[Ranked]] = {}

    def best(cover: Cover, depth: int) -> list[Ranked]:
        state = (cover, depth)
        if state not in known:
            found = []
            log_leaf = model.log_leaf(cover, depth)
            if log_leaf > -math.inf:
                found.append(Ranked(-Fraction(log_leaf), 1, (-1,)))
            for test in model.space.feasible(cover, depth):
                log_split = model.log_split(cover, depth, test)
                if log_split == -math.inf:
                    continue
                cost = -Fraction(log_split)
                zero, one = model.table.children(cover, test)
                # The k best pairs use only the k best of each side: replacing a side by a better one improves
                # the pair.
                for left in best(zero, depth + 1):
                    for right in best(one, depth + 1):
                        found.append(
                            Ranked(
                                cost + left.cost + right.cost,
                                1 + left.size + right.size,
                                (test, *left.key, *right.key),
                            )
                        )
            known[state] = nsmallest(k, found)
        return known[state]

    return [from_key(ranked.key) for ranked in best(model.space.root, 0)]


def map_tree(model: Bayes) -> Tree:
    """Return the most probable tree; ties go to the smaller tree, then to lower test indices in preorder."""
    return top_trees(model, 1)[0]


def log_map(model: Bayes) -> float:
    """Return log joint of the most probable tree."""
    return model.log_joint(map_tree(model))


def sample(model: Bayes, rng: Random) -> Tree:
    """Return one tree drawn exactly from the posterior: a walk down, each time by the odds of ``step``."""

    def draw(cover: Cover, depth: int) -> Tree:
        leaf, split = model.step(cover, depth)
        point = rng.random() * math.fsum([leaf, *split.values()])
        for test, share in split.items():
            if point < share:
                zero, one = model.table.children(cover, test)
                return (test, draw(zero, depth + 1), draw(one, depth + 1))
            point -= share
        return None

    return draw(model.space.root, 0)
