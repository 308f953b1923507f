"""Itemset databases: the answers of the space they were mined from, files, itemsets from elsewhere, and refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et


def table(seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (30, 5)).astype(np.uint8)
    return X, (X[:, 0] + X[:, 3] * (rng.random(30) < 0.8)) % n_classes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_was_mined_is_whole_and_in_order(n_classes: int) -> None:
    """It is neither checked nor sorted when it is made: both would change nothing."""
    X, y = table(4, n_classes)
    mined = et.TreeSpace(X, y, max_depth=3, min_leaf=2).mine(extend_pure=True)
    again = et.ItemsetDatabase(
        dict(reversed(mined.itemsets.items())),
        mined.n_tests,
        mined.n_classes,
        2,
        3,
        True,
        classes=mined.classes,
    )
    assert again == mined
    assert list(again.itemsets) == list(mined.itemsets)
    with pytest.raises(et.DataError, match="its subset"):
        et.ItemsetDatabase({(): (1, 1), (0, 2): (1, 1)}, 2, 2)


def test_a_dictionary_that_does_not_fit_the_memory_is_not_made() -> None:
    X = np.random.default_rng(0).integers(0, 2, (200, 12)).astype(np.uint8)
    with pytest.raises(et.LimitReached, match="memory limit reached"):
        et.TreeSpace(X, X[:, 0], max_depth=4, memory_limit=2_000_000).mine(extend_pure=True)
    assert len(et.TreeSpace(X, X[:, 0], max_depth=4, memory_limit=20_000_000).mine(extend_pure=True)) > 9000


QUERIES: list[dict[str, Any]] = [
    {},
    {"minimize": "gini"},
    {"minimize": ("expected_error", "size")},
    {"minimize": ("size", "error"), "min_accuracy": 0.8},
    {"minimize": ("depth", "error"), "max_error": 6},
    {"max_size": 5},
    {"max_depth": 2},
    {"leaf": 5},
    {"leaf": [et.Margin(2), 3], "max_leaves": 4},
    {"forbid": [0]},
    {"leaf_penalty": 1.5},
    {"max_error": 9, "leaf_penalty": 0.5},
    {"class_weight": "balanced"},
    {"max_error": 0, "max_size": 3},
]


def answer(asked: Any, query: dict[str, Any], k: int = 1) -> Any:
    try:
        found = asked.best(**query, k=k)
    except et.NoTreeError:
        return None
    trees = found if isinstance(found, list) else [found]
    return [(round(tree.info["objective"], 9), tree.size, tree.depth) for tree in trees]


@pytest.mark.parametrize("query", QUERIES, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_database_answers_as_its_space(query: dict[str, Any], n_classes: int, tmp_path: Path) -> None:
    for seed, (depth, min_leaf) in enumerate(product((None, 3, 1), (1, 3))):
        space = et.TreeSpace(*table(seed, n_classes), depth, min_leaf, test_names=list("ABCDE"))
        database = space.mine()
        database.save(tmp_path / "mined.jsonl")
        loaded = et.ItemsetDatabase.load(tmp_path / "mined.jsonl")
        assert loaded == database
        expected = answer(space, query)
        for asked in (database, loaded):
            got = answer(asked, query)
            if expected is None or got is None or "depth" in query.get("minimize", ()):
                assert got == expected
            else:
                assert got[0][:2] == expected[0][:2]


def test_the_tree_is_that_of_the_space() -> None:
    X, y = table(3)
    space = et.TreeSpace(X, y, 3, 2, test_names=list("ABCDE"), classes=[0, 1])
    ours, theirs = space.best(), space.mine().best()
    assert ours == theirs  # arrays, labels and names
    assert (theirs.predict(X) != y).sum() == theirs.error
    assert theirs.info["optimal"]
    weighted = {"class_weight": {0: 5, 1: 1}}
    assert space.best(**weighted).says.tolist() == space.mine().best(**weighted).says.tolist()


@pytest.mark.parametrize("query", [{"k": 4}, {"require": [1]}, {"require": ["C"], "max_size": 7}], ids=str)
def test_what_needs_itemsets_below_pure_ones(query: dict[str, Any]) -> None:
    space = et.TreeSpace(*table(1), 3, 2, test_names=list("ABCDE"))
    with pytest.raises(et.QueryError, match="mine with extend_pure=True"):
        space.mine().best(**query)
    k = query.get("k", 1)
    rest = {name: value for name, value in query.items() if name != "k"}
    whole = space.mine(extend_pure=True)
    assert [each[:2] for each in answer(whole, rest, k)] == [each[:2] for each in answer(space, rest, k)]


@pytest.mark.long
def test_another_process_asks_without_the_rows(tmp_path: Path) -> None:
    space = et.TreeSpace(*table(2), 3, 2)
    space.mine().save(tmp_path / "mined.jsonl")
    code = (
        "import everytree as et, sys; d = et.ItemsetDatabase.load(sys.argv[1]); "
        "print(d.best(('size', 'error'), min_accuracy=0.8).size, d.best(leaf=6).error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "mined.jsonl")],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = space.best(("size", "error"), min_accuracy=0.8).size, space.best(leaf=6).error
    assert run.stdout.split() == [str(each) for each in expected]


def frequent(X: np.ndarray, y: np.ndarray, min_leaf: int) -> list[tuple[list[tuple[int, int]], list[int]]]:
    """Another miner: every frequent itemset, straight from the definition."""
    found = []
    for n in range(X.shape[1] + 1):
        for tests in combinations(range(X.shape[1]), n):
            for outcomes in product((0, 1), repeat=n):
                rows = (X[:, tests] == outcomes).all(axis=1)
                if rows.sum() >= min_leaf:
                    items = list(zip(tests, outcomes, strict=True))
                    found.append((items, [int((y[rows] == c).sum()) for c in (0, 1)]))
    return found


@pytest.mark.parametrize("min_leaf", [1, 3, 6])
def test_itemsets_of_another_miner(min_leaf: int) -> None:
    X, y = table(4)
    mined = frequent(X, y, min_leaf)
    database = et.ItemsetDatabase.from_itemsets(reversed(mined), min_leaf=min_leaf, extend_pure=True)
    space = et.TreeSpace(X, y, None, min_leaf)
    assert len(database) == len(mined)
    for query in QUERIES[:6]:
        assert [each[:2] for each in answer(database, query)] == [each[:2] for each in answer(space, query)]
    assert [e[:1] for e in answer(database, {}, 5)] == [e[:1] for e in answer(space, {}, 5)]


GOOD = [([], [4, 4]), ([("A", 0)], [3, 1]), ([("A", 1)], [1, 3]), ([("A", 0), ("B", 1)], [2, 0]),
        ([("B", 1)], [3, 2]), ([("B", 0)], [1, 2]), ([("A", 1), ("B", 1)], [1, 2]), ([("A", 1), ("B", 0)], [0, 1]),
        ([("A", 0), ("B", 0)], [1, 1])]  # fmt: skip


def changed(place: int, entry: Any) -> list[Any]:
    mined: list[Any] = [*GOOD]
    mined[place : place + 1] = [] if entry is None else [entry]
    return mined


@pytest.mark.parametrize(
    ("mined", "message"),
    [
        (changed(0, None), "the empty itemset is missing; add"),
        (changed(4, None), r"is an itemset but its subset \{B=1\} is not; expected every subset"),
        (changed(1, ([("A", 0)], [3, 5])), r"expected that a subset counts no less of any class"),
        (changed(2, ([("A", 1)], [1, 2])), r"expected"),
        (changed(8, None), r"\{A=0, B=0\} is missing; expected it with counts \[1, 1\]"),
        (changed(8, ([("A", 0), ("B", 0)], [0, 1])), r"expected \[1, 1\], those of"),
        (changed(3, ([("A", 0), ("C", 1)], [2, 0])), r"the item \('C', 1\) is unknown"),
        (changed(3, ([("A", 0), ("A", 1)], [2, 0])), "has a test twice"),
        (changed(3, ([("A", 2)], [2, 0])), r"the item \('A', 2\) is unknown"),
        (changed(3, ([("A", 0)], [3, 1])), r"the itemset \{A=0\} occurs twice"),
        (changed(3, ([("A", 0), ("B", 1)], [2])), "has 1 counts; expected 2"),
        (changed(3, ([("A", 0), ("B", 1)], [2, -1])), "has the count -1"),
        (changed(3, ([("A", 0), ("B", 1)], [2.5, 1])), "has the count 2.5"),
        (changed(3, 7), "7 is no itemset; expected"),
        ([*GOOD[:1], ([("A", 0)], [0, 0])], "holds 0 examples; expected at least min_leaf=1"),
    ],
)
def test_what_dl8_needs_is_checked(mined: list[Any], message: str) -> None:
    et.ItemsetDatabase.from_itemsets(GOOD, tests=["A", "B"])
    with pytest.raises(et.DataError, match=message):
        et.ItemsetDatabase.from_itemsets(mined, tests=["A", "B"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no file of itemsets"),
        ("[]\n", "no file of itemsets"),
        ('{"format": "everytree itemsets", "version": 2}\n', "version 2; expected 1"),
        ('{"format": "everytree itemsets", "version": 1, "x": 1}\n', "the field 'x'"),
        ('{"format": "everytree itemsets", "version": 1, "tests": "A"}\n', "expected a list of names"),
        ('{"format": "everytree itemsets", "version": 1}\n[[], [1, 2]]\n[[[0, 1]]', "JSON on line 3"),
        ('{"format": "everytree itemsets", "version": 1}\n', "the empty itemset is missing"),
        ('{"format": "everytree itemsets", "version": 1}\n5\n', "5 is no itemset"),
        ('{"format": "everytree itemsets", "version": 1, "min_leaf": 0}\n[[], [1, 2]]\n', "min_leaf=0"),
        (
            '{"format": "everytree itemsets", "version": 1, "max_depth": 0}\n[[], [1, 2]]\n[[[0, 0]], [1, 1]]',
            "max_depth=0",
        ),
    ],
)  # fmt: skip
def test_broken_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(text)
    with pytest.raises((et.DataError, et.QueryError), match=message):
        et.ItemsetDatabase.load(path)


def test_the_file_is_plain(tmp_path: Path) -> None:
    et.ItemsetDatabase.from_itemsets(GOOD, tests=["A", "B"], classes=["no", "yes"]).save(
        tmp_path / "plain.jsonl"
    )
    header, first, *rest = (json.loads(line) for line in (tmp_path / "plain.jsonl").read_text().splitlines())
    assert header["format"] == "everytree itemsets"
    assert header["tests"] == ["A", "B"]
    assert first == [[], [4, 4]]
    assert len(rest) == 8


WHY: list[dict[str, Any]] = [
    {"max_error": -1},
    {"max_error": 3, "max_size": 3},
    {"min_accuracy": 0.99, "max_depth": 1},
    {"leaf": 31},
    {"leaf": [et.Margin(16), 3]},
    {"leaf": et.ChiSquare(30), "forbid": ["A", "D"]},
    {"minimize": ("size", "error"), "max_error": -1, "max_size": 3},
]


@pytest.mark.parametrize("query", WHY, ids=str)
def test_no_tree_names_the_constraint_as_the_space_does(query: dict[str, Any]) -> None:
    """Also whether one constraint alone is too tight, or several together."""
    space = et.TreeSpace(*table(5), 3, 2, test_names=list("ABCDE"))
    database = space.mine()
    with pytest.raises(et.NoTreeError) as theirs:
        space.best(**query)
    with pytest.raises(et.NoTreeError) as ours:
        database.best(**query)
    told = f" (in these {len(database)} itemsets, mined with min_leaf=2, max_depth=3)"
    assert str(ours.value) == str(theirs.value) + told
    assert ours.value.constraints == theirs.value.constraints != ()
    assert ours.value.together == theirs.value.together


def test_no_tree_of_other_itemsets() -> None:
    database = et.ItemsetDatabase.from_itemsets(GOOD, tests=["A", "B"])
    with pytest.raises(
        et.NoTreeError, match=r"^no tree reaches error ≤ 0; the least is 2 \(in these 9 itemsets"
    ):
        database.best(max_error=0)
