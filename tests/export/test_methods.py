"""The methods of trees, rules and classifiers: over named tests and over columns, and what they refuse."""

from __future__ import annotations

import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest
import worlds
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import everytree as et
from everytree.errors import QueryError
from everytree.export.excel import LONGEST
from everytree.export.form import Condition, Field, Node, TreeForm, below
from everytree.export.methods import Portable
from everytree.export.onnx_model import below32


@pytest.fixture(scope="module")
def iris() -> tuple[pd.DataFrame, pd.Series]:
    return load_iris(return_X_y=True, as_frame=True)


def test_a_tree_over_named_tests(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = iris
    binarizer = et.Binarizer(bins=4).fit(X)
    tests = binarizer.transform(X)
    space = et.TreeSpace(tests, y, max_depth=3, min_leaf=2, test_names=binarizer.get_feature_names_out())
    tree = space.best()
    rows = pd.DataFrame(tests.astype(float), columns=binarizer.get_feature_names_out())
    for found in (worlds.in_python(tree.portable(), rows), worlds.in_sqlite(tree.portable(), rows)):
        assert np.array_equal(found[0], tree.predict_proba(tests))
        assert found[1] == tree.predict(tests).tolist()
    over = tree.over(binarizer)
    assert np.array_equal(worlds.in_sqlite(over.form, X)[0], tree.predict_proba(tests))
    made = tree.to_sklearn()
    assert np.array_equal(made.predict_proba(rows), tree.predict_proba(tests))
    with pytest.raises(QueryError, match="not the"):
        tree.over(et.Binarizer(bins=2).fit(X))


def test_a_tree_whose_nodes_choose_their_cuts(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = iris
    model = et.OptimalTreeClassifier(max_depth=3, min_leaf=2, cuts="local").fit(X, y)
    form = model.tree_.portable()  # over what its nodes ask
    asked = [field.name for field in form.fields]
    assert asked == sorted({ask for ask in model.tree_.asks if ask})
    outcomes = pd.DataFrame(
        {name: (X[name.split(" <= ")[0]] <= float(name.split(" <= ")[1])).astype(float) for name in asked}
    )
    assert np.array_equal(worlds.in_python(form, outcomes)[0], model.predict_proba(X))
    with pytest.raises(QueryError, match=r"not the|choose their own cuts"):
        model.tree_.over(et.Binarizer().fit(X))


def test_the_rules_of_an_average(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = iris
    model = et.BayesOptimalClassifier(max_depth=2).fit(X, y)
    rules = model.posterior_.compress(0.05)
    over = rules.over(model.binarizer_)
    tests = model.to_tests(X)
    assert np.abs(worlds.in_python(over.form, X)[0] - rules.predict_proba(tests)).max() < 1e-12
    with sqlite3.connect(":memory:") as base:
        X.to_sql("flowers", base, index=False)
        one = base.execute(f"SELECT {rules.to_sql(model.binarizer_, 1)} FROM flowers").fetchall()
        whole = base.execute(rules.to_sql(model.binarizer_, table="flowers")).fetchall()
    assert np.allclose([row[0] for row in one], [row[5] for row in whole], atol=1e-12)


def test_one_class_and_one_leaf() -> None:
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0]})
    model = et.OptimalTreeClassifier(max_depth=1).fit(X, ["a", "a", "a"])
    assert model.to_sql() == "1.0e0"
    assert worlds.in_python(model.portable(), X)[1] == ["a"] * 3
    assert worlds.in_sqlite(model.portable(), X)[1] == ["a"] * 3
    assert "everytree_predict" in model.to_c()
    assert model.to_excel(what="class") == '="a"'
    assert model.to_sklearn().predict(X).tolist() == ["a"] * 3
    with pytest.raises(QueryError, match="asks nothing"):
        model.to_onnx()


def test_truth_values_and_large_whole_numbers(tmp_path: Any) -> None:
    big = 2**53
    X = pd.DataFrame({"id": [big - 1, big + 1, big + 3, big + 5] * 8, "up": [True, False, True, True] * 8})
    y = np.array(["low", "low", "high", "high"] * 8)
    model = et.OptimalTreeClassifier(max_depth=2, min_leaf=1).fit(X, y)
    form = model.portable()
    assert np.array_equal(worlds.in_python(form, X)[0], model.predict_proba(X))
    assert np.array_equal(worlds.in_sqlite(form, X)[0], model.predict_proba(X))
    assert np.array_equal(worlds.in_duckdb(form, X)[0], model.predict_proba(X))
    up = et.OptimalTreeClassifier(max_depth=1, min_leaf=1).fit(X[["up"]], X["up"].map({True: 1, False: 0}))
    for world in (worlds.in_python, worlds.in_sqlite, worlds.in_duckdb):
        assert np.array_equal(world(up.portable(), X[["up"]])[0], up.predict_proba(X[["up"]]))


def test_a_tree_that_decides_by_costs(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = iris[0][["sepal width (cm)"]], iris[1]
    costs = [[0, 1, 1], [1, 0, 1], [4, 4, 0]]
    model = et.OptimalTreeClassifier(max_depth=2, minimize=("cost", "size"), cost_matrix=costs).fit(X, y)
    assert worlds.in_python(model.portable(), X)[1] == model.predict(X).tolist()
    assert worlds.in_sqlite(model.portable(), X)[1] == model.predict(X).tolist()
    with pytest.raises(QueryError, match="most probable"):
        model.to_sklearn()


def test_what_is_refused(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    X, y = iris
    with pytest.raises(NotFittedError):
        et.OptimalTreeClassifier().to_sql()
    model = et.OptimalTreeClassifier(max_depth=2).fit(X, y)
    with pytest.raises(QueryError, match="label=7; expected one of 0, 1, 2"):
        model.to_sql(7)
    with pytest.raises(QueryError, match="dialect"):
        model.to_sql(dialect="oracle")
    with pytest.raises(QueryError, match="what='sum'"):
        model.to_excel(what="sum")
    with pytest.raises(QueryError, match="does not ask about"):
        model.to_excel(cells={"height": "A2"})
    rules = et.BayesOptimalClassifier(max_depth=2).fit(X, y).compress(0.05)
    for write in (rules.to_pmml, rules.to_sklearn):
        with pytest.raises(QueryError, match="no sum of rules"):
            write()
    with pytest.raises(QueryError, match="needs a tree"):
        rules.to_excel(what="class")


def deep(depth: int) -> TreeForm:
    """A tree that goes down by yes-branches."""
    nodes: list[Node] = []
    for k in range(depth):
        nodes.append(
            Node(Condition(0, "<=", float(-k)), len(nodes) + 2, len(nodes) + 1, (0.5, 0.5), 0, (1, 1))
        )
        nodes.append(Node(None, -1, -1, (k / depth, 1 - k / depth), int(2 * k < depth), (1, 1)))
    nodes.append(Node(None, -1, -1, (1.0, 0.0), 0, (1, 1)))
    return TreeForm((Field("x", "number"),), ("a", "b"), tuple(nodes))


@pytest.mark.long
def test_depth() -> None:
    rows = pd.DataFrame({"x": -np.arange(0, 62.0)})
    fits = deep(60)
    wanted = [fits.answer([x]).proba for x in rows["x"]]
    assert np.array_equal(worlds.in_python(fits, rows)[0], wanted)
    assert len(worlds.in_sqlite(deep(400), rows)[1]) == len(rows)
    assert np.array_equal(worlds.in_sqlite(fits, rows)[0], wanted)
    for name in ("python", "javascript", "c", "pmml", "excel"):
        with pytest.raises(QueryError, match="takes 60"):
            getattr(Portable(deep(61)), f"to_{name}")()
    assert len(worlds.in_sklearn(deep(400), rows)[1]) == len(rows)


def test_a_formula_has_an_end() -> None:
    texts = tuple(f"value number {k}" for k in range(50))
    nodes: list[Node] = []
    for text in texts:
        nodes.append(
            Node(Condition(0, "==", text * 20), len(nodes) + 1, len(nodes) + 2, (0.5, 0.5), 0, (1, 1))
        )
        nodes.append(Node(None, -1, -1, (0.1, 0.9), 1, (1, 1)))
    nodes.append(Node(None, -1, -1, (1.0, 0.0), 0, (1, 1)))
    with pytest.raises(QueryError, match="a text in a formula takes 255"):
        Portable(TreeForm((Field("x", "text"),), ("a", "b"), tuple(nodes))).to_excel()
    short = [
        node if node.condition is None else Node(Condition(0, "==", node.condition.value[:200]), *_rest(node))
        for node in nodes
    ]
    with pytest.raises(QueryError, match=f"Excel takes {LONGEST}"):
        Portable(TreeForm((Field("x", "text"),), ("a", "b"), tuple(short))).to_excel()


def _rest(node: Node) -> tuple[Any, ...]:
    return node.yes, node.no, node.proba, node.says, node.counts


@pytest.mark.parametrize("value", [0.1, 1 / 3, 2**53 + 1, -(2**60) - 1, 54.5, 1e-300, 16777217])
def test_cuts_are_rounded_down(value: float) -> None:
    assert below(value) <= value
    assert float(np.nextafter(below(value), np.inf)) > value
    assert below32(value) <= value
    with np.errstate(over="ignore"):
        assert float(np.nextafter(np.float32(below32(value)), np.float32(np.inf))) > value
