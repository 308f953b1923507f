"""Flat trees: one shape for all of them, and shapes that are none are refused by the field that breaks them."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.errors import DataError
from everytree.trees.flat import checked_shape


def table(seed=0, n=90):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.normal(size=n).round(1), "b": rng.choice(["u", "v", "w"], n), "c": rng.normal(size=n)}
    )
    return X, np.where((X["a"] > 0) ^ (X["b"] == "u") ^ (rng.random(n) < 0.1), "p", "q")


def plain_depth(tree, node=0):
    return 0 if tree.attribute[node] < 0 else 1 + max(plain_depth(tree, k) for k in tree.children(node))


@pytest.mark.parametrize("made", [et.C45TreeClassifier(prune=False), et.PathAverageTreeClassifier()], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_shape(made, seed):
    tree = made.fit(*table(seed)).tree_
    assert tree.n_nodes == 1 + sum(len(tree.children(node)) for node in range(tree.n_nodes))
    assert tree.n_leaves == sum(not tree.children(node) for node in range(tree.n_nodes))
    assert tree.depth == plain_depth(tree)
    parents = tree.parents()
    assert parents[0] == -1
    for node in range(tree.n_nodes):
        assert all(parents[child] == node for child in tree.children(node))
    assert sorted(node for _, below in tree.levels() for node in below.tolist()) == list(
        range(1, tree.n_nodes)
    )


@pytest.mark.parametrize("made", [et.C45TreeClassifier(), et.PathAverageTreeClassifier()], ids=str)
def test_equal_trees(made):
    one, other = (made.fit(*table(1)).tree_ for _ in range(2))
    third = made.fit(*table(2)).tree_
    assert one == other
    assert hash(one) == hash(other)
    assert one != third
    assert one != "a tree"


@pytest.mark.parametrize("made", [et.C45TreeClassifier(), et.PathAverageTreeClassifier()], ids=str)
def test_a_tree_survives_json(made):
    tree = made.fit(*table(3)).tree_
    columns = tree.columns if hasattr(tree, "columns") else tree.categories
    again = type(tree).from_dict(json.loads(json.dumps(tree.to_dict())), columns, tree.classes)
    assert again == tree
    assert again.to_text() == tree.to_text()


SHAPES = {
    "no list": ({"attribute": 3}, "attribute is 3; expected a list"),
    "no node": ({"attribute": []}, "attribute is"),
    "column": ({"attribute": [2, -1, -1]}, r"attribute\[0\] is 2; expected a whole number from -1 to 1"),
    "text": ({"attribute": [0, "x", -1]}, r"attribute\[1\] is 'x'"),
    "truth": ({"attribute": [True, -1, -1]}, r"attribute\[0\] is True"),
    "short": (
        {"n_children": [2, 0]},
        "n_children is a list of 2; expected a list with one entry for each of 3",
    ),
    "loop": (
        {"attribute": [0, 0, -1], "first_child": [1, 1, 0], "n_children": [2, 1, 0]},
        "node 1 has first_child 1",
    ),
    "beyond": ({"n_children": [3, 0, 0]}, r"n_children\[0\] is 3"),
    "past the end": ({"first_child": [2, 0, 0]}, "node 0 has first_child 2"),
    "no children": ({"n_children": [0, 0, 0]}, "expected at least one child"),
    "leaf with children": ({"attribute": [-1, -1, -1]}, "node 0 is a leaf, but has first_child 1"),
    "orphan": ({"n_children": [1, 0, 0]}, "node 2 is the child of 0 nodes"),
    "two parents": (
        {"attribute": [0, 0, -1], "first_child": [1, 2, 0], "n_children": [2, 1, 0]},
        "node 2 is the child of 2 nodes",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_that_is_no_tree(name):
    change, message = SHAPES[name]
    good = {"attribute": [0, -1, -1], "first_child": [1, 0, 0], "n_children": [2, 0, 0]}
    checked_shape(good, 2)
    with pytest.raises(DataError, match=message):
        checked_shape(good | change, 2)


def test_every_shape_of_few_nodes_is_a_tree_or_refused():
    # A shape that passes is walked: every node is met once, whatever its children say.
    rng = np.random.default_rng(0)
    passed = 0
    for _ in range(6000):
        n = int(rng.integers(1, 5))
        attribute = rng.integers(-1, 1, n)
        inner = attribute >= 0
        data = {
            "attribute": attribute.tolist(),
            "first_child": np.where(inner, rng.integers(0, n, n), 0).tolist(),
            "n_children": np.where(inner, rng.integers(0, n, n), 0).tolist(),
        }
        try:
            a, first, width = checked_shape(data, 1)
        except DataError:
            continue
        passed += 1
        met, open_ = [], [0]
        while open_:
            node = open_.pop()
            met.append(node)
            assert len(met) <= n
            open_ += range(int(first[node]), int(first[node] + width[node])) if a[node] >= 0 else ()
        assert sorted(met) == list(range(n))
    assert passed > 100


MULTIWAY = {
    "no object": (None, 3, "the tree is a int"),
    "format": (
        "format",
        "everytree.tree",
        "format is 'everytree.tree'; expected 'everytree.multiway'",
    ),
    "version": ("version", 9, "version is 9, newer than the 1 read here; upgrade"),
    "old": ("version", 0, "version is 0"),
    "more": ("mood", 1, "'mood' is not a field"),
    "cut": ("threshold", [None] * 8, r"threshold\[2\] is null with 2 children; expected a number"),
    "code": ("threshold", [None, None, 40.0, 7, *[None] * 4], r"threshold\[3\] is 7 .* one of 2 codes"),
    "half a code": ("threshold", [None, None, 40.0, 0.5, *[None] * 4], r"threshold\[3\] is 0.5"),
    "leaf": ("threshold", [None, 1, 40.0, 0, *[None] * 4], r"threshold\[1\] is 1 .* null at a leaf"),
    "branches": ("attribute", [2, -1, 0, 2, *[-1] * 4], "one child for each of 2 values"),
    "infinite": ("threshold", [None, None, {"$float": "inf"}, 0, *[None] * 4], r"threshold\[2\] is .*finite"),
    "counts": ("counts", [[1, 1]] * 7, "counts is a list of 7"),
    "one count": ("counts", [[1]] * 8, r"counts\[0\] is \[1\]; expected 2 numbers"),
    "negative": ("counts", [[1, -1]] * 8, r"counts\[0\]\[1\] is -1; expected a number that is finite and 0"),
    "many": ("counts", [[1, 10**30]] * 8, r"counts\[0\]\[1\] is"),
    "no examples": ("counts", [[0, 0]] * 8, r"counts\[0\] is zero"),
    "missing": ("missing", [3, *[-1] * 7], r"missing\[0\] is 3; the node has 3 children"),
}


@pytest.mark.parametrize("name", MULTIWAY)
def test_a_broken_multiway_tree(name):
    columns = (
        et.data.columns.RawColumn("age", "numeric"),
        et.data.columns.RawColumn("colour", "nominal", ("red", "green", "blue")),
        et.data.columns.RawColumn("wet", "nominal", (False, True)),
    )
    good = {
        "format": "everytree.multiway",
        "version": 1,
        "attribute": [1, -1, 0, 2, -1, -1, -1, -1],
        "first_child": [1, 0, 4, 6, 0, 0, 0, 0],
        "n_children": [3, 0, 2, 2, 0, 0, 0, 0],
        "counts": [[8, 8], [4, 0], [2, 2], [2, 6], [2, 0], [0, 2], [2, 5], [0, 0]],
        "threshold": [None, None, 40.0, 0, None, None, None, None],
        "missing": None,
    }
    tree = et.MultiwayTree.from_dict(good, columns, ["no", "yes"])
    assert tree.to_text().splitlines()[2] == "|   age <= 40: no (2, 0)"
    field, value, message = MULTIWAY[name]
    data = copy.deepcopy(good) | {field: value} if field else value
    with pytest.raises(DataError, match=message):
        et.MultiwayTree.from_dict(data, columns, ["no", "yes"])


def test_a_broken_path_tree():
    tree = et.PathAverageTreeClassifier().fit(*table(3)).tree_
    good = json.loads(json.dumps(tree.to_dict()))
    n = len(good["attribute"])
    for change, message in [
        ({"log_b": [None] * n}, r"log_b\[0\] is None"),
        ({"probabilities": [[0.4, 0.4]] * n}, r"probabilities\[0\] sum to 0.8; expected 1"),
        ({"probabilities": [[2.0, -1.0]] * n}, r"probabilities\[0\]\[0\] is 2.0"),
        ({"counts": [[1, 1]] * n}, r"counts\[0\] is not the sum of the counts of its children"),
        ({"counts": [[1.5, 1]] * n}, r"counts\[0\] is not the sum of the counts of its children"),
        ({"counts": [[-1.5, 1]] * n}, r"counts\[0\]\[0\] is -1.5"),
    ]:
        with pytest.raises(DataError, match=message):
            et.PathTree.from_dict(good | change, tree.categories, tree.classes)
    with pytest.raises(DataError, match="as 'b' has"):
        et.PathTree.from_dict(
            good | {"attribute": [1 if a >= 0 else -1 for a in good["attribute"]]},
            tree.categories,
            tree.classes,
        )
