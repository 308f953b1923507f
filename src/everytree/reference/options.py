"""Option trees: a part of the graph, and the same folds over it.

An option tree is a tuple of options, each ``(test, zero_child, one_child)``; the empty tuple can only be a
leaf. Every state can always be a leaf, so an option tree stands for many trees: all choices of "leaf" or one
option at each node.

    s(n) = Vleaf(n) + Σ_options Vint(n, i) · s(zero) · s(one)
    P(leaf at n | reached) = Vleaf(n) / s(n),   prediction = the mixture over the nodes a row reaches
    MAP pruning = the same with max

One option per node is a grown tree with all its prunings, and the prediction is Buntine's smoothing. All
feasible tests as options are the whole space, and s(root) is the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from everytree.reference.bayes import Bayes
from everytree.reference.logs import log_sum
from everytree.reference.most_probable import Ranked
from everytree.reference.table import Cover
from everytree.reference.trees import Tree, from_key

__all__ = ["OptionTree", "all_options", "log_s", "map_pruning", "one_option", "predict_options", "trees_of"]

OptionTree: TypeAlias = "tuple[tuple[int, OptionTree, OptionTree], ...]"


def one_option(tree: Tree) -> OptionTree:
    """Return a tree as an option tree with one option per node: the tree and all its prunings.

    >>> one_option((0, None, (1, None, None)))
    ((0, (), ((1, (), ()),)),)
    """
    return () if tree is None else ((tree[0], one_option(tree[1]), one_option(tree[2])),)


def all_options(model: Bayes) -> OptionTree:
    """Return every feasible test at every node: the whole space as an option tree."""

    def expand(cover: Cover, depth: int) -> OptionTree:
        return tuple(
            (test, *(expand(child, depth + 1) for child in model.table.children(cover, test)))  # type: ignore[misc]
            for test in model.space.feasible(cover, depth)
        )

    return expand(model.space.root, 0)


def trees_of(options: OptionTree) -> Iterator[Tree]:
    """Yield every tree that an option tree stands for, each once.

    >>> list(trees_of(one_option((0, None, (1, None, None)))))
    [None, (0, None, None), (0, None, (1, None, None))]
    """
    yield None
    for test, zero, one in options:
        for left, right in product(trees_of(zero), list(trees_of(one))):
            yield (test, left, right)


def log_s(model: Bayes, options: OptionTree, cover: Cover | None = None, depth: int = 0) -> float:
    """Return log s of a node; of the root without a cover."""
    if cover is None:
        cover = model.space.root
    terms = [model.log_leaf(cover, depth)]
    terms += [_log_option(model, option, cover, depth) for option in options]
    return log_sum(terms)


def _log_option(model: Bayes, option: tuple[int, OptionTree, OptionTree], cover: Cover, depth: int) -> float:
    test, zero, one = option
    zero_cover, one_cover = model.table.children(cover, test)
    log_children = log_s(model, zero, zero_cover, depth + 1) + log_s(model, one, one_cover, depth + 1)
    return model.log_split(cover, depth, test) + log_children


def predict_options(model: Bayes, options: OptionTree, row: Iterable[Any]) -> tuple[float, ...]:
    """Return P(c | x): the mean of the leaf probabilities over every tree that the option tree stands for."""
    clean = model.table.check_row(row)

    def mean(part: OptionTree, cover: Cover, depth: int) -> list[float]:
        log_total = log_s(model, part, cover, depth)
        share = math.exp(model.log_leaf(cover, depth) - log_total)
        columns = [[share * theta for theta in model.theta(cover, depth)]]
        for option in part:
            share = math.exp(_log_option(model, option, cover, depth) - log_total)
            child = model.table.children(cover, option[0])[clean[option[0]]]
            columns.append([share * p for p in mean(option[1 + clean[option[0]]], child, depth + 1)])  # type: ignore[arg-type]
        return [math.fsum(column) for column in zip(*columns, strict=True)]

    return tuple(mean(options, model.space.root, 0))


def map_pruning(model: Bayes, options: OptionTree) -> Tree:
    """Return the most probable tree that the option tree stands for; ties as in ``most_probable``.

    With one option per node this is MAP pruning; with the coding prior, pruning by minimum encoding.
    """

    def best(part: OptionTree, cover: Cover, depth: int) -> Ranked | None:
        found = []
        log_leaf = model.log_leaf(cover, depth)
        if log_leaf > -math.inf:
            found.append(Ranked(-Fraction(log_leaf), 1, (-1,)))
        for test, zero, one in part:
            log_split = model.log_split(cover, depth, test)
            zero_cover, one_cover = model.table.children(cover, test)
            left, right = best(zero, zero_cover, depth + 1), best(one, one_cover, depth + 1)
            if log_split > -math.inf and left is not None and right is not None:
                cost = left.cost + right.cost - Fraction(log_split)
                found.append(Ranked(cost, 1 + left.size + right.size, (test, *left.key, *right.key)))
        return min(found, default=None)

    ranked = best(options, model.space.root, 0)
    if ranked is None:
        raise ValueError("every tree of the option tree has prior probability zero; use another prior")
    return from_key(ranked.key)
