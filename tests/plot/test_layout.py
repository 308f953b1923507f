"""Boxes never overlap, parents stand midway above their children, and the yes branch is on the left."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from everytree.draw.layout import leaves_below, place, shown_part
from everytree.trees.tree import Tree


def random_nested(rng: np.random.Generator, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.25:
        return None
    zero = random_nested(rng, depth - 1)
    return (int(rng.integers(4)), zero, random_nested(rng, depth - 1))


def random_tree(seed: int, depth: int = 6) -> Tree:
    rng = np.random.default_rng(seed)
    nested = random_nested(rng, depth)
    return Tree.from_structure(nested, rng.integers(0, 2, (30, 4)), rng.integers(0, 3, (30, 2)))


@pytest.mark.parametrize("seed", range(40))
def test_no_overlap_and_centred_parents(seed: int) -> None:
    tree = random_tree(seed)
    rng = np.random.default_rng(1000 + seed)
    shown = shown_part(tree, None)
    boxes = {k: (float(rng.uniform(5, 60)), float(rng.uniform(5, 30))) for k in shown.nodes}
    placed = place(tree, shown, boxes, 3.0, 7.0)

    def edges(k: int) -> tuple[float, float, float, float]:
        half = boxes[k][0] / 2
        return placed.x[k] - half, placed.x[k] + half, placed.y[k], placed.y[k] + boxes[k][1]

    for a, b in itertools.combinations(shown.nodes, 2):
        left_a, right_a, top_a, bottom_a = edges(a)
        left_b, right_b, top_b, bottom_b = edges(b)
        beside = right_a + 3.0 <= left_b + 1e-9 or right_b + 3.0 <= left_a + 1e-9
        stacked = bottom_a + 7.0 <= top_b + 1e-9 or bottom_b + 7.0 <= top_a + 1e-9
        assert beside or stacked, (a, b)
    for k, (yes, no) in shown.branches.items():
        assert placed.x[k] == pytest.approx((placed.x[yes] + placed.x[no]) / 2)
        assert placed.x[yes] < placed.x[no]
        assert yes == tree.children[k, 1]
    every = [edges(k) for k in shown.nodes]
    assert min(edge[0] for edge in every) == pytest.approx(0)
    assert max(edge[1] for edge in every) == pytest.approx(placed.width)
    assert max(edge[3] for edge in every) == pytest.approx(placed.height)


def test_a_full_tree_is_as_wide_as_its_leaves() -> None:
    nested: Any = None
    for test in range(4):
        nested = (test, nested, nested)
    tree = Tree.from_structure(nested, np.zeros((1, 4), dtype=int), [[1, 1]])
    shown = shown_part(tree, None)
    placed = place(tree, shown, dict.fromkeys(shown.nodes, (10.0, 5.0)), 2.0, 4.0)
    assert placed.width == pytest.approx(16 * 10 + 15 * 2)
    assert placed.height == pytest.approx(5 * 5 + 4 * 4)


def test_a_zigzag_of_any_depth_stays_narrow() -> None:
    nested: Any = None
    for level in range(3000):
        nested = (0, None, nested) if level % 2 else (0, nested, None)
    tree = Tree.from_structure(nested, [[0]], [[1, 1]])
    shown = shown_part(tree, None)
    placed = place(tree, shown, dict.fromkeys(shown.nodes, (10.0, 5.0)), 2.0, 4.0)
    assert placed.width < 50


@pytest.mark.parametrize("seed", range(10))
def test_hidden_leaves_are_counted(seed: int) -> None:
    tree = random_tree(seed)
    below = leaves_below(tree)
    assert below[0] == tree.n_leaves
    for depth in range(tree.depth + 2):
        shown = shown_part(tree, depth)
        drawn = [k for k in shown.nodes if k not in shown.branches]
        hidden = sum(shown.hidden_leaves.values())
        assert len(drawn) - len(shown.hidden_leaves) + hidden == tree.n_leaves
        assert all(below[k] == n for k, n in shown.hidden_leaves.items())
