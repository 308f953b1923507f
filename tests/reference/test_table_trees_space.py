"""Tables, trees and spaces: counts by hand, counting against listing, and the messages for bad input."""

from __future__ import annotations

import math
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from reference_helpers import random_table

from everytree.reference import (
    EmptySpaceError,
    Space,
    Table,
    TooManyTreesError,
    depth,
    from_key,
    key,
    leaf_path,
    leaves_of,
    n_leaves,
    n_splits,
    size,
    used_tests,
)

XOR = Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(1, 0), (0, 1), (0, 1), (1, 0)])


# Tables -----------------------------------------------------------------------------------------------------


def test_rows_are_merged_sorted_and_weighted_by_repetition() -> None:
    X, y, w = [[1, 0], [0, 1], [1, 0], [0, 0]], [0, 1, 1, 0], [2, 1, 3, 0]
    table = Table.from_data(X, y, sample_weight=w)
    repeated = Table.from_data(
        [row for row, k in zip(X, w, strict=True) for _ in range(k)],
        [c for c, k in zip(y, w, strict=True) for _ in range(k)],
    )
    assert table == repeated
    assert hash(table) == hash(repeated)
    assert table.rows == ((0, 1), (1, 0))
    assert table.counts == ((0, 1), (2, 3))
    assert table.n_examples == 6
    assert repr(table) == "Table(2 distinct rows, 2 tests, 2 classes, 6 examples)"


@pytest.mark.parametrize("seed", range(10))
def test_tables_add(seed: int) -> None:
    rng = Random(seed)
    X = [[rng.randrange(2) for _ in range(3)] for _ in range(20)]
    y = [rng.randrange(3) for _ in range(20)]
    parts = Table.from_data(X[:9], y[:9], 3) + Table.from_data(X[9:], y[9:], 3)
    assert parts == Table.from_data(X, y, 3)


def test_numpy_arrays_give_the_same_table() -> None:
    X, y, w = [[1, 0], [0, 1], [1, 0]], [0, 1, 1], [2, 1, 3]
    arrays = (np.array(X, dtype=np.uint8), np.array(y))
    table = Table.from_data(*arrays, sample_weight=np.array(w, dtype=float))
    assert table == Table.from_data(X, y, sample_weight=w)
    assert all(type(count) is int for counts in table.counts for count in counts)


def test_the_reference_stands_alone() -> None:
    # An oracle that shared code with what it judges would share its mistakes.
    script = (
        "import sys, everytree.reference; "
        "print([name for name in sys.modules if name.split('.')[0] in ('numpy', 'scipy', 'sklearn') or "
        "name.startswith('everytree.') and not name.startswith('everytree.reference')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_covers_by_hand() -> None:
    assert XOR.children(XOR.everything, 0) == (0b0011, 0b1100)
    assert XOR.cover_of(frozenset({(0, 1), (1, 0)})) == 0b0100
    assert XOR.class_counts(0b0110) == (0, 2)
    assert XOR.class_counts(0) == (0, 0)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        ([[0, 2]], [0], {}, "row 0 has the value 2 for test 1; tests are 0 or 1"),
        ([[math.nan]], [0], {}, "row 0 has the value nan for test 0"),
        ([[0], [1, 1]], [0, 1], {}, "row 1 has 2 tests but row 0 has 1"),
        ([[0]], [0, 1], {}, "1 rows but 2 classes"),
        ([[0]], [-1], {}, "class of row 0 is -1; it must be a whole number of at least 0"),
        ([[0]], [0.5], {}, "class of row 0 is 0.5"),
        ([[0]], ["yes"], {}, "class of row 0 is 'yes'; it must be a whole number"),
        ([["a"]], [0], {}, "row 0 has the value 'a' for test 0"),
        ([[0]], [3], {"n_classes": 2}, "class index 3 with n_classes=2"),
        (
            [[0]],
            [0],
            {"sample_weight": [-0.5]},
            "weight of row 0 is -0.5; it must be a finite number of at least 0",
        ),
        ([[0]], [0], {"sample_weight": [math.inf]}, "weight of row 0 is inf"),
        ([[0]], [0], {"sample_weight": [math.nan]}, "weight of row 0 is nan"),
        ([[0]], [0], {"sample_weight": [1, 1]}, "1 rows but 2 weights"),
        ([], [], {}, "at least one row"),
    ],
)
def test_bad_data_is_refused_with_its_value(X: list, y: list, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table.from_data(X, y, **options)


@pytest.mark.parametrize(
    ("rows", "counts", "message"),
    [
        ([(0,)], [(1,), (1,)], "1 rows but 2 count vectors"),
        ([], [], "at least one row"),
        ([(0,), (1,)], [(1, 1), (1,)], "count vector 1 has 1 classes but count vector 0 has 2"),
        ([(0,), (0,)], [(1,), (1,)], "the rows of a table are distinct; use Table.from_data"),
        ([(0,)], [()], "at least one class"),
    ],
)
def test_bad_tables_are_refused(rows: list, counts: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Table(rows, counts)


def test_rows_and_tables_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="a row of 3 values; this table has 2 tests"):
        XOR.check_row((0, 1, 0))
    with pytest.raises(ValueError, match="cannot add a table of 1 tests and 2 classes to one of 2 tests"):
        XOR + Table([(0,)], [(1, 0)])


# Trees ------------------------------------------------------------------------------------------------------


def test_a_tree_by_hand() -> None:
    tree = (0, None, (1, None, None))
    assert (size(tree), n_leaves(tree), n_splits(tree), depth(tree)) == (5, 3, 2, 2)
    assert key(tree) == (0, -1, 1, -1, -1)
    assert used_tests(tree) == {0, 1}
    assert [leaf.cover for leaf in leaves_of(tree, XOR)] == [0b0011, 0b0100, 0b1000]
    assert [leaf.depth for leaf in leaves_of(tree, XOR)] == [1, 2, 2]
    assert leaf_path(tree, (1, 0)) == {(0, 1), (1, 0)}


@pytest.mark.parametrize(
    ("bad", "message"),
    [((), "ends too early"), ((0, -1), "ends too early"), ((-1, -1), "goes on after"), ((-2,), "holds -2")],
)
def test_bad_keys_are_refused(bad: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_key(bad)


@pytest.mark.parametrize("seed", range(5))
def test_keys_are_one_to_one_and_leaves_partition_the_rows(seed: int) -> None:
    table = random_table(seed, n_tests=3, n_rows=7)
    trees = list(Space(table).enumerate_trees())
    assert len({key(tree) for tree in trees}) == len(trees) == len(set(trees))
    for tree in trees:
        assert from_key(key(tree)) == tree
        covers = [leaf.cover for leaf in leaves_of(tree, table)]
        assert sum(covers) == table.everything
        for number, row in enumerate(table.rows):
            assert table.cover_of(leaf_path(tree, row)) in covers
            assert table.cover_of(leaf_path(tree, row)) >> number & 1


# Spaces -----------------------------------------------------------------------------------------------------


def test_counts_by_hand() -> None:
    # Depth 0: the leaf. Depth 1: and two stumps. Depth 2: each of a stump's leaves may be split again.
    assert [Space(XOR, max_depth=d).count() for d in (0, 1, 2, 3, None)] == [1, 3, 9, 9, 9]
    # Two examples per leaf: stumps only.
    assert Space(XOR, min_leaf=2).count() == 3
    assert Space(XOR, min_leaf=3).count() == 1
    assert Space(XOR, max_depth=1).deepest() == 1
    assert Space(XOR).deepest() == 2


def test_a_full_cube_of_three_tests() -> None:
    # c(d) trees over d tests on the full cube: c(0) = 1, c(d) = 1 + d · c(d−1)²  →  1, 2, 9, 244.
    rows = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    assert Space(Table(rows, [(1, 1)] * 8)).count() == 244


def test_tests_that_do_not_split_are_infeasible() -> None:
    table = Table([(0, 1, 0), (1, 1, 0)], [(1, 0), (0, 1)])
    assert Space(table).feasible(table.everything, 0) == (0,)
    assert list(Space(table).enumerate_trees()) == [None, (0, None, None)]


def _inside(table: Table, tree, max_depth: int | None, min_leaf: int) -> bool:
    """The definition read off the tree: depth, and leaf sizes by dropping each row down the tree."""
    reached: dict = {}
    for row, counts in zip(table.rows, table.counts, strict=True):
        path = leaf_path(tree, row)
        reached[path] = reached.get(path, 0) + sum(counts)
    enough = len(reached) == n_leaves(tree) and min(reached.values()) >= min_leaf
    return enough and (max_depth is None or depth(tree) <= max_depth)


@pytest.mark.parametrize("min_leaf", [1, 2, 3])
@pytest.mark.parametrize("max_depth", [0, 1, 2, 3, None])
@pytest.mark.parametrize("seed", range(6))
def test_enumeration_is_the_definition(seed: int, max_depth: int | None, min_leaf: int) -> None:
    table = random_table(seed, n_tests=2 + seed % 2, n_rows=7, n_classes=2 + seed % 3, weights=seed % 2 == 1)
    if table.n_examples < min_leaf:
        pytest.skip("fewer examples than min_leaf: the space is empty, tested elsewhere")
    space = Space(table, max_depth, min_leaf)
    listed = set(space.enumerate_trees())
    assert len(listed) == space.count()

    # Every tree over the tests with no test repeated on a path, then filtered by the definition.
    def shapes(tests: frozenset[int]) -> list:
        return [None] + [
            (test, zero, one)
            for test in tests
            for zero in shapes(tests - {test})
            for one in shapes(tests - {test})
        ]

    candidates = shapes(frozenset(range(table.n_tests)))
    expected = {tree for tree in candidates if _inside(table, tree, max_depth, min_leaf)}
    assert listed == expected
    assert all((tree in space) == (tree in expected) for tree in candidates)
    assert max(map(depth, listed)) == space.deepest()


def test_bad_spaces_are_refused() -> None:
    with pytest.raises(EmptySpaceError, match="holds 4 examples but every leaf needs at least min_leaf=5"):
        Space(XOR, min_leaf=5)
    with pytest.raises(ValueError, match="max_depth=-1"):
        Space(XOR, max_depth=-1)
    with pytest.raises(ValueError, match="min_leaf=0"):
        Space(XOR, min_leaf=0)
    with pytest.raises(TooManyTreesError, match="the space holds 9 trees and at_most=8"):
        Space(XOR).enumerate_trees(at_most=8)


def test_a_tree_outside_the_space_is_named() -> None:
    assert (7, None, None) not in Space(XOR)
    assert (0, (0, None, None), None) not in Space(XOR)
    with pytest.raises(
        ValueError, match=r"test 7 is not feasible at the path \[\]: feasible there are \[0, 1\]"
    ):
        Space(XOR).check((7, None, None))
    with pytest.raises(ValueError, match=r"test 0 is not feasible at the path \[\(0, 0\)\]"):
        Space(XOR).check((0, (0, None, None), None))
