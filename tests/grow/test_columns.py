"""Frames as whole columns, and multiway trees on them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from everytree import _core
from everytree.data.columns import ColumnReader
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import read_frame
from everytree.errors import DataError
from everytree.trees.multiway import MultiwayTree

NAN = float("nan")


def frame():
    return pd.DataFrame(
        {
            "age": [31.0, NAN, 45.5, 60.0],
            "colour": pd.Categorical(["red", "blue", None, "red"], categories=["red", "green", "blue"]),
            "wet": [True, False, True, True],
            "gone": [None, None, None, None],
            "code": [7, 3, 7, 5],
        }
    )


def test_kinds_and_values_as_in_training():
    reader = ColumnReader.fit(read_frame(frame()), nominal=["code"])
    assert [(c.name, c.kind, c.values) for c in reader.columns] == [
        ("age", "numeric", ()),
        ("colour", "nominal", ("red", "green", "blue")),
        ("wet", "nominal", (False, True)),
        ("gone", "nominal", ()),
        ("code", "nominal", (3, 5, 7)),
    ]
    new = read_frame(
        pd.DataFrame({"age": [1], "colour": ["pink"], "wet": [0.0], "gone": ["new"], "code": [np.int64(5)]})
    )
    assert [reader.codes(new.columns[j], j).tolist() for j in (1, 2, 3, 4)] == [[-2], [0], [-2], [1]]
    assert reader.numbers(new.columns[0]).tolist() == [1.0]
    assert reader.read(new).n_columns == 5


def test_a_column_that_changed_its_kind_is_refused():
    reader = ColumnReader.fit(read_frame([[1.0, "a"], [2.0, "b"]]))
    with pytest.raises(DataError, match="held numbers during fit but holds text"):
        reader.read(read_frame([["x", "a"]]))
    with pytest.raises(DataError, match=r"held text during fit \(for example 'a'\) but is numeric now"):
        reader.read(read_frame([[1.0, 2.0]]))


def test_classes_and_weights_are_checked():
    read = read_frame([[1.0], [2.0]])
    reader = ColumnReader.fit(read)
    with pytest.raises(DataError, match="class 2 is not below n_classes = 2"):
        reader.training(read, np.array([0, 2]), 2, None)
    with pytest.raises(DataError, match="weights must be at least 1"):
        reader.training(read, np.array([0, 1]), 2, ExampleWeights(np.array([1, 0])))


def tree():
    """Root on colour; green is split by age at 40, blue by whether wet is False."""
    reader = ColumnReader.fit(read_frame(frame()))
    core = _core.MultiwayTree(
        np.array([1, -1, 0, 2, -1, -1, -1, -1], dtype=np.int32),
        np.array([NAN, NAN, 40.0, 0.0, NAN, NAN, NAN, NAN]),
        np.array([1, 0, 4, 6, 0, 0, 0, 0], dtype=np.uint32),
        np.array([3, 0, 2, 2, 0, 0, 0, 0], dtype=np.uint32),
        np.array([[8, 8], [4, 0], [2, 2], [2, 6], [2, 0], [0, 2], [2, 5], [0, 0]], dtype=float),
    )
    return reader, MultiwayTree.from_core(core, reader.columns, ["no", "yes"])


def test_a_tree_as_text_and_back():
    reader, made = tree()
    assert (made.n_nodes, made.n_leaves, made.depth) == (8, 5, 2)
    assert made.to_text().splitlines() == [
        "colour = red: no (4, 0)",
        "colour = green",
        "|   age <= 40: no (2, 0)",
        "|   age > 40: yes (0, 2)",
        "colour = blue",
        "|   wet = False: yes (2, 5)",
        "|   wet != False: (no examples)",
    ]
    data = read_frame(frame().assign(colour=["green", "green", "blue", "pink"]))
    assert made.to_core().reach(reader.read(data)).tolist() == [4, 2, 7, 0]


def test_a_tree_that_does_not_fit_is_refused():
    reader, made = tree()
    broken = MultiwayTree.from_core(made.to_core(), reader.columns, made.classes)
    first = broken.first_child.copy()
    first[2] = 0  # a cycle
    core = _core.MultiwayTree(broken.attribute, broken.threshold, first, broken.n_children, broken.counts)
    with pytest.raises(DataError, match="children must come after their parent"):
        core.reach(reader.read(read_frame(frame())))
