"""TreeSpace: what it takes, what it tells about itself, and what bad input is told."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from everytree import reference
from everytree.data.table import Table
from everytree.errors import DataError, EverytreeError, QueryError
from everytree.space.tree_space import TreeSpace

X4 = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
XOR = [0, 1, 1, 0] * 5


def data(seed: int, n: int = 40, n_tests: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests))
    return X, (X[:, 0] & X[:, 1]) ^ (rng.random(n) < 0.2)


def test_numbers_by_hand() -> None:
    """XOR of two tests: a leaf; two roots with two ways below each side; only the full trees are right."""
    space = TreeSpace(X4, XOR, max_depth=2)
    assert space.n_trees == 9
    assert space.log_n_trees == pytest.approx(math.log(9))
    assert (space.best().error, space.best().size) == (0, 7)
    assert [point[:2] for point in space.front()] == [(1, 10), (5, 5), (7, 0)]
    assert TreeSpace(X4, XOR, max_depth=1).n_trees == 3
    assert TreeSpace(X4, XOR, max_depth=0).n_trees == 1
    assert TreeSpace(X4, XOR, max_depth=None).n_trees == 9


def test_columns_are_taken_as_they_are() -> None:
    """Constant, duplicate and complementary columns are tests like any other."""
    X = np.array([[0, 1, 0, 1], [1, 0, 1, 1]] * 4)
    space = TreeSpace(X, [0, 1] * 4, max_depth=1)
    assert space.n_tests == 4
    assert space.n_trees == 4  # the leaf, and one stump for each column but the constant one
    assert space.posterior().root_distribution()[:3] == pytest.approx([0.997, 0.997, 0.997], abs=0.67)
    assert space.posterior().root_distribution()[3] == 0.0


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float64, object])
def test_every_kind_of_zero_and_one(dtype: Any) -> None:
    space = TreeSpace(np.array(X4, dtype=dtype), XOR, max_depth=2)
    assert space.n_trees == 9


def test_labels_of_any_kind() -> None:
    kinds: list[tuple[list[Any], tuple[Any, ...]]] = [
        (["b", "a", "a", "b"] * 5, ("a", "b")),
        ([True, False, False, True] * 5, (False, True)),
        ([7, 3, 3, 7] * 5, (3, 7)),
    ]
    for labels, classes in kinds:
        space = TreeSpace(X4, labels, max_depth=2)
        assert space.classes == classes
        tree = space.best()
        assert tree.predict(X4).tolist() == labels


def test_names_come_from_the_frame_or_the_argument() -> None:
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    frame = pandas.DataFrame(X4, columns=["warm", "wet"])
    assert TreeSpace(frame, XOR).test_names == ("warm", "wet")
    space = TreeSpace(X4, XOR, max_depth=2, test_names=["warm", "wet"])
    assert "warm?" in str(space.best())
    assert "2 tests, 2 classes, max_depth=2" in repr(space)


def test_from_table_is_the_same_space() -> None:
    X, y = data(1)
    a = TreeSpace(X, y, 3, 2)
    b = TreeSpace.from_table(a.table, 3, 2)
    assert (a.n_trees, a.posterior().log_evidence) == (b.n_trees, b.posterior().log_evidence)
    assert a.table == b.table == Table.from_arrays(X, y.astype(int), classes=a.classes)


def test_tables_add() -> None:
    """The space of two halves of the data is the space of the sum of their tables."""
    X, y = data(2, 60)
    whole = TreeSpace(X, y, 3, 2)
    halves = [TreeSpace(X[rows], y[rows], 3, 2).table for rows in (slice(0, 25), slice(25, 60))]
    summed = TreeSpace.from_table(halves[0] + halves[1], 3, 2)
    assert summed.posterior().log_evidence == whole.posterior().log_evidence
    assert summed.n_trees == whole.n_trees


def test_graphs_are_reused() -> None:
    X, y = data(3)
    space = TreeSpace(X, y, 3, 2)
    assert space.graph() is space.graph()
    assert space.graph(by_depth=True) is space.graph(by_depth=False)  # with a depth limit there is only one
    free = TreeSpace(X, y, None, 10)
    assert free.graph(by_depth=True) is not free.graph(by_depth=False)
    assert free.graph(by_depth=True).n_states >= free.n_states


def test_more_depth_and_smaller_leaves_mean_more_trees() -> None:
    X, y = data(4)
    counts = [TreeSpace(X, y, depth, 3).n_trees for depth in (0, 1, 2, 3, 4, None)]
    assert counts[0] == 1
    assert counts == sorted(counts)
    by_leaf = [TreeSpace(X, y, 3, min_leaf).n_trees for min_leaf in (1, 2, 4, 8, 20)]
    assert by_leaf == sorted(by_leaf, reverse=True)
    errors = [TreeSpace(X, y, depth, 1).best().error for depth in (0, 1, 2, 3, 4, None)]
    assert errors == sorted(errors, reverse=True)


def test_a_depth_limit_beyond_the_deepest_tree_is_no_limit() -> None:
    X, y = data(5, 25, 5)
    free, limited = TreeSpace(X, y, None, 2), TreeSpace(X, y, 5, 2)
    assert free.n_trees == limited.n_trees == TreeSpace(X, y, 200, 2).n_trees
    for prior in ("uniform", "size", "coding"):
        a, b = free.posterior(prior), limited.posterior(prior)
        assert a.log_evidence == pytest.approx(b.log_evidence, rel=1e-12)
        np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-10)
    assert free.front()[-1][:2] == limited.front()[-1][:2]


def test_the_estimate_is_near_the_number_of_states() -> None:
    """Mostly on the high side, because descents do not see merged covers."""
    X, y = data(6, 300, 14)
    for depth in (2, 3, 4):
        space = TreeSpace(X, y, depth, 5)
        assert space.n_states / 20 <= space.estimate_states() <= space.n_states * 20


def test_a_pickled_space_gives_the_same_answers() -> None:
    X, y = data(7)
    space = TreeSpace(X, y, 3, 2, n_jobs=2, attributes=[0, 0, 1, 1, 2, 2], time_limit=60, progress=print)
    before = (space.n_trees, space.best().key, space.posterior().log_evidence)
    for again in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
        assert (again.n_trees, again.best().key, again.posterior().log_evidence) == before
        assert again.table == space.table
        assert (again.max_depth, again.min_leaf, again.n_jobs) == (3, 2, 2)
        assert again.limits.time_limit == 60
        assert repr(again) == repr(space)


def test_a_space_pickles_before_its_first_question() -> None:
    X, y = data(8)
    space = TreeSpace(X, y, 2)
    assert pickle.loads(pickle.dumps(space)).n_trees == space.n_trees


@pytest.mark.parametrize("seed", range(20))
def test_answers_do_not_depend_on_the_order_of_questions(seed: int) -> None:
    X, y = data(seed, 20, 4)
    twin = reference.Space(reference.Table.from_data(X.tolist(), y.astype(int).tolist(), 2), 3, 2)
    questions: dict[str, Callable[[TreeSpace], bool]] = {
        "count": lambda space: space.n_trees == twin.count(),
        "best": lambda space: (space.best().error, space.best().size) == reference.best(twin)[0].rank,
        "evidence": lambda space: math.isclose(
            space.posterior().log_evidence, reference.Bayes(twin).log_evidence, rel_tol=1e-9
        ),
        "uniform": lambda space: math.isclose(
            space.posterior("uniform").log_evidence,
            reference.Bayes(twin, reference.UniformPrior()).log_evidence,
            rel_tol=1e-9,
        ),
        "front": lambda space: [p[:2] for p in space.front()] == [p[:2] for p in reference.front(twin)],
    }
    space = TreeSpace(X, y, 3, 2)
    order = np.random.default_rng(seed).permutation(list(questions)).tolist()
    for name in order + order[::-1]:
        assert questions[name](space), f"{name} in the order {order}"


# Messages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": [[2]], "y": [0]}, r"column 0 holds 2 in row 0.*Binarizer"),
        ({"X": [[0.5]], "y": [0]}, r"column 0 holds 0.5"),
        ({"X": [[np.nan]], "y": [0]}, r"column 0 holds nan"),
        ({"X": [["x"]], "y": [0]}, r"must hold only 0 and 1"),
        ({"X": [0, 1], "y": [0, 1]}, r"shape \(n_rows, n_tests\); got 1 dimension"),
        ({"X": [[0], [0, 1]], "y": [0, 1]}, r"rows differ in length"),
        ({"y": XOR[:3]}, r"20 rows in X and 3 labels in y"),
        ({"y": [None, *XOR[1:]]}, r"1 of 20 labels are missing"),
        ({"y": [[0, 1]] * 20}, r"y has shape \(20, 2\)"),
        ({"y": [0.5] * 20}, r"continuous"),
        ({"sample_weight": [-1] * 20}, r"must not be negative"),
        ({"sample_weight": [1, 2]}, r"expected one weight per row"),
        ({"sample_weight": [0] * 20}, r"hold 0 examples; .* weight above 0"),
        ({"test_names": ["a"]}, r"1 test_names for 2 tests"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_messages_about_data(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        TreeSpace(arguments.pop("X", X4), arguments.pop("y", XOR), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_depth": -1}, r"max_depth=-1; expected a whole number ≥ 0, or None"),
        ({"max_depth": 1.5}, r"max_depth=1.5"),
        ({"max_depth": True}, r"max_depth=True"),
        ({"max_depth": "3"}, r"max_depth='3'"),
        ({"min_leaf": 0}, r"min_leaf=0; expected a whole number ≥ 1"),
        ({"min_leaf": 2.5}, r"min_leaf=2.5"),
        ({"min_leaf": 21}, r"20.* fewer than min_leaf=21: no tree exists; lower min_leaf"),
        ({"n_jobs": 0}, r"n_jobs=0; expected a number of threads"),
        ({"n_jobs": "all"}, r"n_jobs='all'"),
        ({"attributes": [1]}, r"attributes has shape \(1,\); expected one entry for each of the 2 tests"),
        ({"classes": [0, 0, 1]}, r"names a label twice"),
        ({"classes": [0]}, r"the label 1, which is not among classes=\[0\]"),
        ({"time_limit": 0}, r"time_limit=0; expected .* above 0"),
        ({"time_limit": np.nan}, r"time_limit=nan"),
        ({"memory_limit": -5}, r"memory_limit=-5; expected .* above 0"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_messages_about_the_space(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        TreeSpace(X4, XOR, **arguments)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"max_depth": np.nan}, "max_depth"),
        ({"max_depth": np.inf}, "max_depth"),
        ({"max_depth": [1]}, "max_depth"),
        ({"min_leaf": None}, "min_leaf"),
        ({"min_leaf": "a"}, "min_leaf"),
        ({"min_leaf": np.nan}, "min_leaf"),
        ({"time_limit": "a"}, "time_limit"),
        ({"memory_limit": "a"}, "memory_limit"),
        ({"progress": 5}, "progress"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_values_of_the_wrong_type_are_named(arguments: dict[str, Any], name: str) -> None:
    with pytest.raises(EverytreeError, match=name):
        TreeSpace(X4, XOR, **arguments)


def test_no_rows_at_all() -> None:
    with pytest.raises(EverytreeError, match=r"n_samples=0|0 examples|no rows|at least one row"):
        TreeSpace(np.zeros((0, 3)), [])


@pytest.mark.parametrize("max_depth", [1000, 10**6])
def test_a_depth_limit_of_any_size(max_depth: int) -> None:
    """No path is longer than there are tests, so a huge limit is no limit."""
    assert TreeSpace(X4, XOR, max_depth=max_depth).n_trees == 9
    with pytest.raises(QueryError, match="max_depth=1000000000000 is too large"):
        TreeSpace(X4, XOR, max_depth=10**12)


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    one, two, three = (np.int64(k) for k in (1, 2, 3))
    space = TreeSpace(X4, XOR, max_depth=two, min_leaf=one, n_jobs=two)  # type: ignore[arg-type]
    assert space.n_trees == 9
    assert space.best(k=two)[0].error == 0  # type: ignore[call-overload]
    assert len(space.posterior().top_trees(three)) == 3  # type: ignore[arg-type]
