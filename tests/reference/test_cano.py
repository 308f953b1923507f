"""Cano: numbers by hand, a second way along the path, and the four variants."""

from __future__ import annotations

import math
from random import Random

import pytest

from everytree.reference import CanoNode, cano_grow, cano_path, cano_predict, leaf_probabilities, nonuniform_a


def random_data(seed: int, n: int = 40) -> tuple[list[list[int]], list[int], list[int], int]:
    """Nominal data with a signal in the first two attributes; the last declares a value that never occurs."""
    rng = Random(seed)
    n_values = [2, 3, 4]
    n_classes = 2 + seed % 3
    X = [[rng.randrange(2), rng.randrange(3), rng.randrange(3)] for _ in range(n)]
    y = [(row[0] + row[1]) % n_classes if rng.random() < 0.8 else rng.randrange(n_classes) for row in X]
    return X, y, n_values, n_classes


def test_one_split_by_hand() -> None:
    # S = 2, C = 2, a = (1, 1). Root (2, 2): M = 2! 2! / 5! = 1/30. Split: (2, 0), (0, 2), M = 1/3 each, 1/9.
    # B = (1/9) / (1/30) = 10/3. At value 0 the root says 1/2 and the leaf 3/4:
    # (1 · 1/2 + 10/3 · 3/4) / (1 + 10/3) = 9/13.
    tree = cano_grow([[0], [0], [1], [1]], [0, 0, 1, 1], [2], 2, s=2)
    assert tree.attribute == 0
    assert math.exp(tree.log_b) == pytest.approx(10 / 3)
    assert cano_predict(tree, [0], averaging=True)[0] == pytest.approx(9 / 13)
    assert cano_predict(tree, [0], averaging=False)[0] == pytest.approx(3 / 4)


def test_three_levels_by_hand() -> None:
    # h is the product of the B of all nodes above: rebuilt here from the path's nodes without logarithms.
    X, y, n_values, n_classes = random_data(3)
    tree = cano_grow(X, y, n_values, n_classes)
    deepest = max((cano_path(tree, row) for row in X), key=len)
    assert len(deepest) >= 3
    h = [1.0]
    for node in deepest[:-1]:
        h.append(h[-1] * math.exp(node.log_split) / math.exp(node.log_leaf))
    row = next(row for row in X if cano_path(tree, row)[-1] is deepest[-1])
    mixed = [
        sum(w * leaf_probabilities(node.counts, node.a)[c] for w, node in zip(h, deepest, strict=True))
        for c in range(n_classes)
    ]
    assert cano_predict(tree, row) == pytest.approx([each / sum(mixed) for each in mixed])


def chain_score(y: list[int], a: tuple[float, ...]) -> float:
    """logM as a chain of predictions: a second way to the score."""
    seen = [0] * len(a)
    total = 0.0
    for c in y:
        total += math.log(leaf_probabilities(seen, a)[c])
        seen[c] += 1
    return total


@pytest.mark.parametrize("nonuniform", [False, True, "parent"])
@pytest.mark.parametrize("s", [1, 2, "classes"])
@pytest.mark.parametrize("seed", range(6))
def test_every_node_obeys_the_definition(seed: int, s: int | str, nonuniform: bool | str) -> None:
    X, y, n_values, n_classes = random_data(seed)
    S = n_classes if s == "classes" else s
    tree = cano_grow(X, y, n_values, n_classes, s, nonuniform)

    def check(node: CanoNode, inside: list[int], a: tuple[float, ...], free: set[int]) -> None:
        labels = [y[i] for i in inside]
        assert node.counts == tuple(labels.count(c) for c in range(n_classes))
        assert node.a == pytest.approx(a)
        assert sum(node.a) == pytest.approx(S)
        below = nonuniform_a(node.counts, S) if nonuniform else a
        as_leaf = a if nonuniform == "parent" else below
        assert node.log_leaf == pytest.approx(chain_score(labels, as_leaf), abs=1e-9)
        scores = {
            j: sum(chain_score([y[i] for i in inside if X[i][j] == v], below) for v in range(n_values[j]))
            for j in free
        }
        if node.attribute is None:
            assert all(score <= node.log_leaf + 1e-9 for score in scores.values())
            return
        assert node.attribute in free
        assert node.log_split == pytest.approx(max(scores.values()), abs=1e-9)
        assert scores[node.attribute] > node.log_leaf
        assert len(node.children) == n_values[node.attribute]
        for value, child in enumerate(node.children):
            reached = [i for i in inside if X[i][node.attribute] == value]
            check(child, reached, below, free - {node.attribute})

    check(tree, list(range(len(y))), (S / n_classes,) * n_classes, {0, 1, 2})
    for row in X[:5]:
        for averaging in (False, True):
            assert sum(cano_predict(tree, row, averaging)) == pytest.approx(1)


def test_an_empty_branch_has_only_its_prior() -> None:
    tree = cano_grow([[0], [0], [1], [1]] * 3, [0, 0, 1, 1] * 3, [3], 2)
    assert tree.children[2].counts == (0, 0)
    assert cano_predict(tree, [2], averaging=False) == (0.5, 0.5)


def test_the_nonuniform_prior_by_hand() -> None:
    # C = 4, S = 2, classes 1 and 3 not seen, z = 2: 2/3 for the seen, 2/6 for the others.
    assert nonuniform_a((5, 0, 2, 0), 2) == pytest.approx((2 / 3, 1 / 3, 2 / 3, 1 / 3))
    # One class not seen is not more than one: uniform. Nothing seen at all: uniform too, by the same formula.
    assert nonuniform_a((5, 0, 2), 1) == pytest.approx((1 / 3,) * 3)
    assert nonuniform_a((0, 0, 0), 1) == pytest.approx((1 / 3,) * 3)


def test_a_pure_node_is_not_split_under_the_nonuniform_prior() -> None:
    # Three pure branches, and an attribute that is constant in the data: it would gain the narrower prior of the
    # children only if leaf and split were scored with different parameters.
    X, y = [[k, 0] for k in range(3) for _ in range(10)], [k for k in range(3) for _ in range(10)]

    def n_nodes(node: CanoNode) -> int:
        return 1 + sum(map(n_nodes, node.children))

    assert n_nodes(cano_grow(X, y, [3, 2], 3, 1, True)) == 4
    assert n_nodes(cano_grow(X, y, [3, 2], 3, 1, "parent")) == 10


def test_laplace_answers_an_empty_leaf_by_the_nearest_node_that_is_not() -> None:
    tree = cano_grow([[0], [0], [1], [1]] * 3, [0, 0, 1, 1] * 3, [3], 2)
    assert cano_predict(tree, [0], False, "laplace") == pytest.approx((7 / 8, 1 / 8))
    assert cano_predict(tree, [2], False, "laplace") == pytest.approx((7 / 14, 7 / 14))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0]], [0], [1], 1, 0), "s=0"),
        (([[0]], [0, 1], [1], 2), "1 rows and 2 classes"),
        (([], [], [1], 2), "at least one row"),
        (([[2]], [0], [2], 2), "row 0 has value 2 for attribute 0; declared are 0 to 1"),
        (([[0, 0]], [0], [2], 2), "row 0 has 2 values for 1 attributes"),
        (([[0]], [5], [2], 2), "class 5 of row 0; classes run from 0 to 1"),
    ],
)
def test_bad_data_is_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cano_grow(*arguments)


def test_an_undeclared_value_is_refused_at_prediction() -> None:
    tree = cano_grow([[0], [1]] * 5, [0, 1] * 5, [2], 2)
    with pytest.raises(ValueError, match="value 7 of attribute 0; declared are 0 to 1"):
        cano_predict(tree, [7])
