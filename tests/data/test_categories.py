"""Columns as categories: values, bins, missing and unseen ones; cuts by the classes."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from everytree.data.categories import Categorizer
from everytree.data.frames import read_frame
from everytree.data.mdl import mdl_cuts
from everytree.errors import DataError


def fitted(X, y=None, weights=None, **words):
    frame = read_frame(X)
    y = np.zeros(frame.n_rows, dtype=np.intp) if y is None else np.asarray(y)
    return Categorizer(**words).fit(frame, y, int(y.max()) + 1, weights)


def codes(one, X):
    return one.transform(read_frame(X))[:, 0].tolist()


def column(values, **words):
    return pd.DataFrame({"x": pd.Series(values, **words)})


def test_declared_values_all_have_a_code():
    X = column(pd.Categorical(["b", "a"], categories=["c", "b", "a"]))
    one = fitted(X)
    assert one.categories_[0].values == ("c", "b", "a")
    assert codes(one, X) == [1, 2]


def test_values_that_are_not_declared_are_sorted_and_new_ones_are_unseen():
    one = fitted(column(["b", "a", "b"]))
    assert one.categories_[0].values == ("a", "b")
    assert codes(one, column(["a", "new"])) == [0, -1]


def test_booleans_have_two_values_even_where_one_occurs():
    one = fitted(column([True, True]))
    assert one.categories_[0].n_values == 2
    assert codes(one, column([False, True])) == [0, 1]


def test_bins_are_those_of_the_binarizer_and_end_at_their_cut():
    one = fitted(column([1.0, 2.0, 3.0, 4.0]), bins=2)
    assert one.categories_[0].cuts == (2.5,)
    assert codes(one, column([-9.0, 2.5, 2.500001, 99.0])) == [0, 0, 1, 1]
    assert [one.categories_[0].text(k) for k in range(2)] == ["x <= 2.5", "x > 2.5"]


def test_large_whole_numbers_are_not_rounded():
    big = 2**60
    X = column([big, big + 1, big + 2, big + 3])
    one = fitted(X, bins="all")
    assert codes(one, X) == [0, 1, 2, 3]
    unsigned = column(np.array([2**63, 2**63 + 1], dtype=np.uint64))
    assert codes(fitted(unsigned, bins="all"), unsigned) == [0, 1]


def test_cuts_beyond_the_range_of_a_type_are_fine():
    one = fitted(column([1.0, 2.0]), bins={"x": [-1e300, -0.5, 1e300]})
    assert codes(one, column(np.array([0, 7], dtype=np.uint64))) == [2, 2]
    assert codes(one, column(np.array([-(2**63), 2**63 - 1]))) == [1, 2]


def test_a_constant_column_is_one_bin():
    one = fitted(column([7.0, 7.0]))
    assert one.categories_[0].n_values == 1
    assert one.categories_[0].text(0) == "x is any number"
    assert codes(one, column([3.0, 9.0])) == [0, 0]


def test_missing_as_a_category():
    one = fitted(column([1.0, math.nan, 3.0]), missing="category", bins=2)
    assert one.categories_[0].n_values == 3
    assert one.categories_[0].text(2) == "x is missing"
    assert codes(one, column([1.0, math.nan])) == [0, 2]
    never = fitted(column([1.0, 2.0]), missing="category")
    assert codes(never, column([math.nan, 1.0])) == [-1, 0]


def test_missing_imputed_by_mean_or_mode():
    numbers = fitted(column([1.0, 2.0, 9.0, math.nan]), missing="impute", bins="all")
    assert numbers.categories_[0].fill == 4.0
    assert numbers.categories_[0].cuts == (1.5, 3, 6.5)  # the mean is a value too, as in the Binarizer
    assert codes(numbers, column([math.nan])) == [2]
    texts = fitted(column(["b", "b", "a", None]), missing="impute")
    assert codes(texts, column([None, "a"])) == [1, 0]
    zero_one = fitted(column([0.0, 1.0, 1.0, math.nan]), missing="impute")
    assert zero_one.categories_[0].cuts == (0.5,)
    assert codes(zero_one, column([math.nan, 0.0])) == [1, 0]
    with_classes = fitted(
        column([0.0] * 9 + [5.0] * 9 + [math.nan]), [0] * 9 + [1] * 10, missing="impute", bins="mdl"
    )
    assert codes(with_classes, column([math.nan, 0.0, 5.0])) == [1, 0, 1]


@pytest.mark.parametrize("missing", ["category", "impute"])
def test_a_column_without_any_value_is_one_category(missing):
    X = column([None, None], dtype=object)
    one = fitted(X, missing=missing)
    assert one.categories_[0].n_values == 1
    assert codes(one, X) == [0, 0]
    assert codes(one, column([1.0, 2.0])) == [-1, -1]
    assert codes(one, column(["a", None])) == [-1, 0]


def test_numbers_as_codes():
    one = fitted(column([3, 1, 3]), nominal=["x"])
    assert one.categories_[0].values == (1, 3)
    assert codes(one, column([1, 2, 3])) == [0, -1, 1]
    assert one.categories_[0].text(1) == "x == 3"


@pytest.mark.parametrize(
    ("words", "X", "message"),
    [
        ({"bins": "best"}, [[1.0]], "bins='best'"),
        ({"bins": {"y": 2}}, [[1.0]], "bins names column 'y'"),
        ({"bins": {"y": "mdl"}}, [[1.0]], "bins names column 'y'"),
        ({"missing": "drop"}, [[1.0]], "missing='drop' is not known"),
        ({"missing": "error"}, [[math.nan], [1.0]], "missing"),
        ({"max_categories": 1}, [["a"], ["b"]], "more than max_categories=1"),
    ],
)
def test_bad_input(words, X, message):
    with pytest.raises(DataError, match=message):
        fitted(X, **words)


def test_too_many_declared_values():
    X = column(pd.Categorical(["a"], categories=[str(k) for k in range(300)] + ["a"]))
    with pytest.raises(DataError, match="declares 301 values, more than max_categories=256"):
        fitted(X)


def test_a_column_that_changed_its_kind():
    with pytest.raises(DataError, match="held numbers during fit"):
        codes(fitted(column([1.0, 2.0])), column(["a", "b"]))
    with pytest.raises(DataError, match="held text during fit"):
        codes(fitted(column(["a", "b"])), column([1.0, 2.0]))


# --- cuts by the classes


def plain_mdl(values, y):
    """The definition, value by value."""

    def entropy(part):
        shares = [part.count(c) / len(part) for c in set(part)]
        return -sum(p * math.log2(p) for p in shares)

    def cut(rows):
        points = sorted({v for v, _ in rows})
        classes = [c for _, c in rows]
        n, k, e = len(rows), len(set(classes)), entropy(classes)
        best = None
        for low, high in pairwise(points):
            left, right = [c for v, c in rows if v <= low], [c for v, c in rows if v >= high]
            mean = (len(left) * entropy(left) + len(right) * entropy(right)) / n
            if best is None or mean < best[0] - 1e-12:
                best = (mean, low, high, left, right)
        if best is None:
            return []
        mean, low, high, left, right = best
        delta = math.log2(3**k - 2) - (
            k * e - len(set(left)) * entropy(left) - len(set(right)) * entropy(right)
        )
        if e - mean <= (math.log2(n - 1) + delta) / n:
            return []
        return [
            *cut([r for r in rows if r[0] <= low]),
            (low + high) / 2,
            *cut([r for r in rows if r[0] >= high]),
        ]

    return cut(list(zip(values, y, strict=True)))


def test_mdl_cuts_are_those_of_the_definition():
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, n_classes = int(rng.integers(1, 80)), int(rng.integers(1, 5))
        values = rng.integers(0, 30, n)
        y = np.where(rng.random(n) < 0.9, values * n_classes // 30, rng.integers(0, n_classes, n))
        cuts = mdl_cuts(values, y, n_classes)
        assert cuts == plain_mdl(values.tolist(), y.tolist())
        found += len(cuts)
        weights = rng.integers(1, 4, n)
        assert mdl_cuts(values, y, n_classes, weights) == mdl_cuts(
            np.repeat(values, weights), np.repeat(y, weights), n_classes
        )
    assert found > 50


def test_mdl_refuses_what_it_cannot_hold():
    with pytest.raises(DataError, match="give a number of bins instead"):
        mdl_cuts(np.arange(1000), np.zeros(1000, dtype=np.intp), 2**20)


def test_columns_that_bins_do_not_name_have_five() -> None:
    """A dict names some columns; the others have the bins of no dict at all."""
    X = pd.DataFrame({"a": np.arange(40), "b": np.arange(40) ** 2})
    some, none = fitted(X, bins={"a": 2}).categories_, fitted(X).categories_
    assert len(some[0].cuts) == 1
    assert some[1].cuts == none[1].cuts
    assert len(none[1].cuts) == 4
