"""A tree as a dict and as JSON: exact round trips, and clear errors for everything else."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

from everytree.errors import DataError
from everytree.trees.tree import Tree


def example() -> Tree:
    return Tree.from_key(
        (1, -1, 0, -1, -1),
        [[0, 0], [0, 1], [1, 1]],
        [[4, 1], [1, 0], [0, 4]],
        dirichlet=1 / 3,
        test_names=[
            "age <= 54.5",
            'a "quoted" <name> & \u00fcn\u00efc\u00f6de \U0001f333\nwith a line break',
        ],
        classes=["well", "ill"],
    )


@pytest.mark.parametrize(
    "classes",
    [None, ("no", "yes"), (3, 7), (False, True), (0.1, 2.5), ("1", 1), (np.int8(1), np.int8(2)), (2**70, -1)],
)
def test_round_trips_are_exact(classes: Any) -> None:
    tree = example().replace(classes=classes, says=[1, 1, 0, 0, 0])
    assert Tree.from_dict(tree.to_dict()) == tree
    assert Tree.from_json(tree.to_json()) == tree
    assert Tree.from_json(tree.to_json(indent=2).encode()) == tree
    back = Tree.from_json(tree.to_json())
    assert back.proba.tobytes() == tree.proba.tobytes()
    assert [type(c) for c in back.classes or ()] == [type(c) for c in tree.classes or ()]


def test_the_dict_is_plain_and_versioned() -> None:
    data = example().to_dict()
    assert data["format"] == "everytree.tree"
    assert data["version"] == 1
    assert data["test"] == [1, -1, 0, -1, -1]
    assert json.loads(json.dumps(data)) == data


def test_a_tree_written_before_nodes_had_a_say_still_loads() -> None:
    tree = example()
    data = tree.to_dict()
    assert data.pop("says") == tree.proba.argmax(axis=1).tolist()
    assert Tree.from_dict(data) == tree


def test_26_classes_and_a_single_leaf() -> None:
    tree = Tree(
        [[-1, -1]],
        [-1],
        [list(range(26))],
        n_tests=0,
        test_names=[],
        classes=list("abcdefghijklmnopqrstuvwxyz"),
    )
    assert Tree.from_json(tree.to_json()) == tree


def test_labels_that_json_cannot_hold_are_refused() -> None:
    for label in (None, (1, 2), float("inf"), b"x"):
        with pytest.raises(DataError, match=r"classes\[1\] is .*: expected a string, .* Use tree.replace"):
            example().replace(classes=["a", label]).to_dict()


def edited(*path: Any, value: Any) -> dict[str, Any]:
    data: dict[str, Any] = example().to_dict()
    place: Any = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return data


DEEP: list[Any] = []
for _ in range(10_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, r"the tree is a NoneType: expected a dict"),
        ([], r"the tree is a list"),
        ({}, r"format is None: expected 'everytree.tree'"),
        (edited("format", value="other"), r"format is 'other'"),
        (edited("version", value=2), r"version is 2, newer than the 1 this everytree reads: upgrade"),
        (edited("version", value=0), r"version is 0: expected 1"),
        (edited("version", value="1"), r"version is '1'"),
        (edited("version", value=True), r"version is True"),
        (edited("extra", value=1), r"'extra' is not a field of a tree"),
        ({k: v for k, v in example().to_dict().items() if k != "counts"}, r"counts is missing"),
        (edited("says", value=None), r"says is None: expected a list"),
        (edited("says", value=[0]), r"says has 1 entries: expected 5"),
        (edited("says", 1, value=2), r"says\[1\] is 2: expected the index of one of 2 classes"),
        (edited("says", 1, value=-1), r"says\[1\] is -1"),
        (edited("says", 1, value=0.0), r"says\[1\] is 0.0: expected an integer"),
        (edited("n_tests", value=-3), r"n_tests is -3"),
        (edited("n_tests", value=10**12), r"n_tests is 1000000000000: expected an integer from 0"),
        (edited("n_tests", value=10**6), r"test_names has 2 entries: expected 1000000"),
        (edited("n_tests", value=None), r"n_tests is None"),
        (edited("test", value=[]), r"test is empty"),
        (edited("test", value="-1"), r"test is '-1': expected a list"),
        (edited("test", 0, value=1.0), r"test\[0\] is 1.0: expected an integer"),
        (edited("test", 0, value=True), r"test\[0\] is True"),
        (edited("test", 0, value=-2), r"test\[0\] is -2"),
        (edited("test", 0, value=2), r"test\[0\] is 2: .* below n_tests = 2"),
        (edited("test", 0, value=10**40), r"test\[0\] is 1.*expected an integer from -1 to 2\*\*63 - 1"),
        (edited("test", 0, value=10**5000), r"test\[0\] is .*expected an integer"),
        (edited("children", value=DEEP), r"children has 1 entries: expected 5"),
        (edited("children", 2, value=DEEP), r"children\[2\] has 1 entries: expected 2"),
        (edited("children", 2, 1, value=DEEP), r"children\[2\]\[1\] is .*: expected an integer"),
        (edited("children", 0, value=[2, 1]), r"children\[0\]\[0\] is 2: expected 1.*preorder"),
        (edited("children", 2, value=[0, 4]), r"children\[2\]\[0\] is 0: expected 3"),
        (edited("children", 2, value=[3, 7]), r"children\[2\]\[1\] is 7"),
        (edited("counts", 0, value=[]), r"counts\[0\] is empty"),
        (edited("counts", 3, value=[1]), r"counts\[3\] has 1 entries: expected 2"),
        (edited("counts", 3, 1, value=2.5), r"counts\[2\] is \[.*\]: its children's counts add up to"),
        (edited("counts", 3, 1, value=-2.5), r"counts\[3\]\[1\] is -2.5: expected a number of examples"),
        (edited("counts", 3, 1, value=-1), r"counts\[3\]\[1\] is -1"),
        (
            edited("counts", 3, 1, value=5),
            r"counts\[2\] is \[1, 4\]: its children's counts add up to \[1, 9\]",
        ),
        (edited("proba", 1, 0, value=float("nan")), r"proba\[1\]\[0\] is nan: expected a probability"),
        (edited("proba", 1, 0, value=2), r"proba\[1\]\[0\] is 2"),
        (edited("proba", 1, 0, value="0.5"), r"proba\[1\]\[0\] is '0.5'"),
        (edited("proba", 1, value=[0.5, 0.4]), r"proba\[1\] sums to 0.9: expected 1"),
        (edited("test_names", 1, value=None), r"test_names\[1\] is None: expected a string"),
        (edited("test_names", value={"a": 1}), r"test_names is \{'a': 1\}: expected a list"),
        (edited("classes", value=["a"]), r"classes has 1 entries: expected 2"),
        (edited("classes", 0, value={}), r"classes\[0\] is \{\}: expected a string, integer"),
        (edited("classes", 0, value="ill"), r"classes\[1\] is 'ill', the same as classes\[0\]"),
    ],
)
def test_broken_dicts_name_the_field(data: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Tree.from_dict(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"not a tree in JSON"),
        ("{", r"not a tree in JSON"),
        ("[" * 200_000, r"not a tree in JSON|the tree is a list"),
        ("9" * 10_000, r"not a tree in JSON"),
        (b"\xff\xfe\xfa", r"not a tree in JSON"),
        ("NaN", r"holds NaN; expected finite numbers only"),
        ("3", r"the tree is a int"),
        (3, r"the JSON text is a int: expected a string"),
    ],
)
def test_broken_json_is_refused(text: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Tree.from_json(text)


def test_random_damage_never_raises_anything_else() -> None:
    rng = random.Random(0)
    text = example().to_json()
    scraps = [
        "",
        "null",
        "-1",
        "[]",
        "{}",
        '"a"',
        "1e999",
        "0.5",
        "true",
        "99999999999999999999",
        ",",
        "[[",
        "NaN",
    ]
    refused = 0
    for _ in range(3000):
        start = rng.randrange(len(text))
        damaged = text[:start] + rng.choice(scraps) + text[start + rng.randrange(6) :]
        try:
            Tree.from_json(damaged)
        except DataError:
            refused += 1
    assert refused > 2000
