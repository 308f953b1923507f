"""C4.5 of the core against the plain one, over a product of options on small random tables."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from everytree.data.column import Column, nominal_column
from everytree.data.frames import Frame
from everytree.estimators.c45 import C45TreeClassifier
from everytree.reference.c45 import C45

VALUES = ("a", "b", "c", "d")
OPTIONS = [
    {"prune": prune, "subtree_raising": raising, "collapse": collapse, "binary_splits": binary}
    for prune, raising, collapse, binary in product((True, False), repeat=4)
    if raising or prune
]


def table(seed, n_rows, n_classes, missing):
    """Two nominal and two numeric columns, a noisy class that depends on both kinds, and holes."""
    rng = np.random.default_rng(seed)
    kinds = [VALUES[: rng.integers(2, 5)], "numeric", VALUES[:3], "numeric"]
    columns = []
    for kind in kinds:
        if kind == "numeric":
            column = rng.integers(0, 12, n_rows).astype(float) / 4
        else:
            column = rng.choice(np.array(kind, dtype=object), n_rows)
        columns.append(
            [
                None if hole else x
                for x, hole in zip(column.tolist(), rng.random(n_rows) < missing, strict=True)
            ]
        )
    score = [(x or 0) + (2 if v == "a" else 0) for x, v in zip(columns[1], columns[0], strict=True)]
    y = (np.array(score) * n_classes / 5).astype(int) % n_classes
    y = np.where(rng.random(n_rows) < 0.25, rng.integers(0, n_classes, n_rows), y)
    y[:n_classes] = np.arange(n_classes)
    return columns, kinds, y


def frame(columns, kinds):
    made = []
    for j, (column, kind) in enumerate(zip(columns, kinds, strict=True)):
        holes = np.array([x is None for x in column])
        if kind == "numeric":
            values = np.array([0.0 if x is None else x for x in column])
            made.append(Column.of(f"x{j}", "numeric", values, holes if holes.any() else None))
        else:
            values = np.array(column, dtype=object)
            made.append(nominal_column(f"x{j}", values.tolist(), holes if holes.any() else None, kind))
    return Frame(tuple(made), len(columns[0]), None)


def same(tree, node, slow, plain):
    """Whether a node of the core's tree and one of the plain tree have equal tests, counts and children."""
    assert np.allclose(tree.counts[node], slow.counts, rtol=0, atol=1e-9)
    assert int(tree.attribute[node]) == slow.column
    if slow.column < 0:
        return
    at = float(tree.threshold[node])
    if plain.kinds[slow.column] == "numeric":
        assert at == slow.cut
    else:
        assert (None if np.isnan(at) else plain.kinds[slow.column][int(at)]) == slow.cut
    assert len(tree.children(node)) == len(slow.children)
    for k, child in zip(tree.children(node), slow.children, strict=True):
        same(tree, k, child, plain)


@pytest.mark.parametrize("seed", range(12))
def test_the_same_tree_and_the_same_probabilities(seed):
    missing, n_classes = (0.0, 0.15)[seed % 2], 2 + seed % 3
    columns, kinds, y = table(seed, 40 + 5 * seed, n_classes, missing)
    new, _, _ = table(seed + 1000, 15, n_classes, 0.3)
    new[2][0] = "never seen"
    sizes = set()
    for options in OPTIONS:
        min_leaf, confidence = (1, 2, 5)[seed % 3], (0.25, 0.1, 0.5)[seed // 3 % 3]
        plain = C45(columns, kinds, y.tolist(), n_classes, min_leaf, confidence, **options)
        slow = plain.tree()
        fast = C45TreeClassifier(min_branch=min_leaf, confidence=confidence, **options)
        fast.fit(frame(columns, kinds), y)
        same(fast.tree_, 0, slow, plain)
        assert fast.size_ == slow.size()
        sizes.add(fast.size_)
        there = frame(new, [*kinds[:2], None, kinds[3]])
        there = replace(
            there, columns=tuple(Column.of(c.name, c.kind, c.data, c.mask, c.labels) for c in there.columns)
        )
        for laplace in (False, True):
            expected = [plain.proba(slow, row, laplace) for row in zip(*new, strict=True)]
            got = fast.set_params(laplace=laplace).predict_proba(there)
            assert np.allclose(got, expected, rtol=0, atol=1e-12)
    assert len(sizes) > 1  # the options matter
