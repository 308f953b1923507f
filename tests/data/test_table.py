"""Tables: what they count, how they add, and what they refuse."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest

from everytree.data.arrays import as_tests
from everytree.data.example_weights import example_weights
from everytree.data.table import Table
from everytree.errors import DataError


def random_data(seed, n=60, m=4, c=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (n, m), dtype=np.uint8), rng.integers(0, c, n)


@pytest.mark.parametrize("n_tests", [0, 1, 4, 63, 64, 65, 130])
def test_counts_equal_a_plain_count(n_tests):
    rng = np.random.default_rng(n_tests)
    pool = rng.integers(0, 2, (9, n_tests), dtype=np.uint8)
    X, y = pool[rng.integers(0, 9, 200)], rng.integers(0, 3, 200)
    expected = Counter((tuple(row), label) for row, label in zip(X.tolist(), y.tolist(), strict=True))
    table = Table.from_arrays(X, y)
    found = {
        (tuple(row), c): n
        for row, counts in zip(table.rows.tolist(), table.class_counts.tolist(), strict=True)
        for c, n in enumerate(counts)
        if n
    }
    assert found == dict(expected)
    assert [tuple(row) for row in table.rows.tolist()] == sorted(set(map(tuple, X.tolist())))
    assert (table.n_rows, table.n_tests, table.n_classes, table.total) == (
        len(set(map(tuple, X.tolist()))),
        n_tests,
        3,
        200,
    )
    assert table.class_totals.tolist() == np.bincount(y).tolist()


def test_rows_are_in_lexicographic_order():
    X, y = random_data(1, n=200, m=70)
    rows = Table.from_arrays(X, y).rows.tolist()
    assert rows == sorted(rows)


def test_order_of_the_input_does_not_matter():
    X, y = random_data(2)
    shuffled = np.random.default_rng(0).permutation(len(y))
    table = Table.from_arrays(X, y)
    assert table == Table.from_arrays(X[shuffled], y[shuffled])
    assert hash(table) == hash(Table.from_arrays(X[shuffled], y[shuffled]))
    assert table == Table(table.rows[::-1], table.class_counts[::-1])
    assert table != Table.from_arrays(X[1:], y[1:], n_classes=3)


def test_tables_add():
    X, y = random_data(3)
    whole = Table.from_arrays(X, y, n_classes=3)
    parts = [Table.from_arrays(X[s], y[s], n_classes=3) for s in (slice(0, 7), slice(7, 30), slice(30, None))]
    assert parts[0] + parts[1] + parts[2] == whole
    assert parts[2].merge(parts[0]) + parts[1] == whole
    nothing = Table.from_arrays(X[:0], y[:0], n_classes=3)
    assert nothing.n_rows == 0
    assert nothing + whole == whole


def test_whole_weights_equal_repetition():
    X, y = random_data(4)
    w = np.random.default_rng(4).integers(0, 4, len(y))
    repeated = Table.from_arrays(np.repeat(X, w, axis=0), np.repeat(y, w), n_classes=3)
    for weights in (w, w.astype(float), w.astype(np.uint8), w.tolist(), w.astype(object)):
        assert Table.from_arrays(X, y, 3, weights) == repeated


def test_weight_zero_leaves_the_row_out():
    table = Table.from_arrays([[0], [1]], [0, 1], sample_weight=[0, 5])
    assert table.rows.tolist() == [[1]]
    assert table.class_counts.tolist() == [[0, 5]]


def test_large_counts_are_exact():
    big = 2**62
    table = Table.from_arrays([[0], [0], [1]], [0, 0, 1], sample_weight=[big, 2**53 + 1, 3])
    assert table.class_counts.tolist() == [[big + 2**53 + 1, 0], [0, 3]]


def test_names_and_classes_are_kept():
    table = Table.from_arrays([[0, 1]], [1], test_names=["a", "b"], classes=["no", "yes"])
    assert table.test_names == ("a", "b")
    assert table.classes == ("no", "yes")
    assert table.n_classes == 2
    assert (table + table).test_names == ("a", "b")
    assert pickle.loads(pickle.dumps(table)) == table


def test_a_table_cannot_be_changed():
    X, y = random_data(5)
    table = Table.from_arrays(X, y)
    for array in (table.rows, table.class_counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    with pytest.raises(AttributeError):
        table.total = 3
    assert repr(table) == f"Table(n_rows={table.n_rows}, n_tests=4, n_classes=3, total=60)"


def test_the_input_is_not_frozen_or_changed():
    rows = np.array([[0, 1], [1, 0]], dtype=np.uint8)
    counts = np.array([[1, 2], [3, 4]])
    Table(rows, counts)
    rows[0, 0], counts[0, 0] = 1, 9
    assert rows.tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize(
    "X",
    [
        [[0, 1]],
        [[False, True]],
        [[0.0, 1.0]],
        np.array([[0, 1]], dtype=object),
        np.array([[0, 1]], dtype=np.int8),
    ],
)
def test_every_type_of_zero_and_one_is_accepted(X):
    tests = as_tests(X)
    assert tests.dtype == np.uint8
    assert tests.flags.c_contiguous
    assert tests.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0, 2]], "only 0 and 1, but column 1 holds 2 in row 0"),
        ([[0], [-1]], "column 0 holds -1 in row 1"),
        ([[0.5]], "holds 0.5 in row 0. Turn other columns into tests with everytree.Binarizer"),
        ([[np.nan]], "holds nan"),
        ([["a"]], "values are of type <U1"),
        (np.array([[{}]], dtype=object), "no numbers"),
        ([0, 1], "got 1 dimension"),
        ([[0], [0, 1]], "differ in length"),
    ],
)
def test_anything_else_is_refused(X, message):
    with pytest.raises(DataError, match=message):
        Table.from_arrays(X, np.zeros(len(X), dtype=int))


def test_a_message_names_the_column():
    with pytest.raises(DataError, match=r"column 0 \('age'\) holds 54"):
        Table.from_arrays([[54]], [0], test_names=["age"])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2], "must not be negative, but holds -2; use 0"),
        ([1, np.nan], "NaN or infinity"),
        ([1, np.inf], "NaN or infinity"),
        ([1, 2, 3], r"shape \(3,\); expected one weight per row, shape \(2,\)"),
        ([[1], [2]], r"shape \(2, 1\)"),
        (["a", "b"], "whole numbers; got values of type <U1"),
        ([2**62, 2**62], "more than 2\\*\\*63 - 1; divide"),
        ([1e300, 1], "more than 2\\*\\*63 - 1"),
        ([2**64 - 1, 1], "more than 2\\*\\*63 - 1"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        Table.from_arrays([[0], [1]], [0, 1], sample_weight=weights)


def test_one_weight_may_stand_for_all():
    assert example_weights(3, 2).counts.tolist() == [3, 3]
    assert example_weights(None, 2) is None


@pytest.mark.parametrize(
    ("y", "extra", "message"),
    [
        ([0], {}, r"y has shape \(1,\); expected one class index per row, shape \(2,\)"),
        ([0, -1], {}, "holds -1"),
        ([0.0, 1.0], {}, "class indices 0..C-1, got values of type float64"),
        ([0, 2], {"n_classes": 2}, "holds class index 2 but n_classes is 2"),
        ([0, 1], {"classes": ["a", "b", "c"], "n_classes": 2}, "3 class labels for 2 classes"),
        ([0, 1], {"test_names": ["a", "b"]}, "2 test_names for 1 tests"),
    ],
)
def test_bad_labels_and_names_are_refused(y, extra, message):
    with pytest.raises(DataError, match=message):
        Table.from_arrays([[0], [1]], y, **extra)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([[1], [2], [3]], r"shape \(3, 1\); expected \(n_rows, n_classes\) with n_rows = 2"),
        ([1, 2], r"shape \(2,\)"),
        ([[0.5], [1]], "counts must hold whole numbers"),
        ([[-1], [1]], "must not be negative"),
        ([[2**62, 2**62], [1, 1]], "more than"),
    ],
)
def test_bad_counts_are_refused(counts, message):
    with pytest.raises(DataError, match=message):
        Table([[0], [1]], counts)


def test_only_like_tables_add():
    one = Table.from_arrays([[0]], [0], 2)
    for other, message in (
        (Table.from_arrays([[0, 1]], [0], 2), "number of tests: 1 and 2"),
        (Table.from_arrays([[0]], [0], 3), "number of classes: 2 and 3"),
        (Table.from_arrays([[0]], [0], 2, test_names=["a"]), "test names"),
        (Table.from_arrays([[0]], [0], 2, classes=["a", "b"]), "classes: None and"),
    ):
        with pytest.raises(DataError, match=message):
            one + other
    with pytest.raises(TypeError):
        one + 1
    assert one != 1
    huge = Table([[0]], [[2**62]])
    with pytest.raises(DataError, match="add up to 9223372036854775808"):
        huge + huge


def test_many_rows_are_counted_exactly():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200_000, 50), dtype=np.uint8)
    table = Table.from_arrays(X, X[:, 0].astype(int))
    assert table.total == 200_000
    assert table.class_totals.tolist() == np.bincount(X[:, 0]).tolist()
