"""``query`` and ``front``: the answers of the space, in words and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et


def space_of(path: Path, max_depth: int = 4, min_leaf: int = 1, bins: int = 8) -> et.TreeSpace:
    features, y = et.read(path, "gewählt").split()
    binarizer = et.Binarizer(bins, missing="category").fit(features)
    return et.TreeSpace(
        binarizer.transform(features), y, max_depth, min_leaf, test_names=binarizer.get_feature_names_out().tolist(),
        attributes=[test.attribute for test in binarizer.tests_],
    )  # fmt: skip


def plus_one(tree: et.Tree) -> et.Tree:
    """A tree of the space, with the probabilities that a classifier predicts with."""
    counts = tree.counts + 1.0
    return tree.replace(proba=counts / counts.sum(axis=1, keepdims=True))


def test_query_is_the_question_to_the_space(cli: Any, mixed: Path) -> None:
    text = "2 smallest trees where accuracy >= 80% and leaf >= 4 and depth <= 3"
    done = cli("query", mixed, text, "--target", "gewählt", "--json")
    assert done.code == 0, done.err
    query, k = et.parse_query(text)
    expected = [plus_one(tree) for tree in space_of(mixed, 3, 4).best(query, k=k)]
    assert [et.Tree.from_dict(tree["tree"]) for tree in done.json["trees"]] == expected
    assert [tree["size"] for tree in done.json["trees"]] == [tree.size for tree in expected]
    shown = cli("query", mixed, text, "--target", "gewählt").out
    assert all(tree.to_text() in shown for tree in expected)


def test_query_names_columns(cli: Any, mixed: Path) -> None:
    text = 'most accurate where depth <= 2 and avoids "age in years" and uses flag'
    done = cli("query", mixed, text, "--target", "gewählt", "--json")
    shown = done.json["trees"][0]["text"]
    assert "age" not in shown
    assert "flag" in shown
    assert done.json["trees"][0]["info"]["optimal"] is True


def test_a_constant_column_may_be_avoided(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,y\n" + "1,1,x\n2,1,z\n" * 4)
    done = cli("query", tmp_path / "t.csv", "most accurate where avoids b", "--target", "y", "--json")
    assert done.json["trees"][0]["error"] == 0


@pytest.mark.parametrize("by", ["size", "leaves", "depth"])
def test_front(by: str, cli: Any, mixed: Path) -> None:
    done = cli("front", mixed, "--target", "gewählt", "--by", by, "--max-depth", "3", "--json")
    assert done.code == 0, done.err
    expected = space_of(mixed, 3).front(by=by)
    assert [(point[by], point["error"]) for point in done.json["front"]] == [(p, e) for p, e, _ in expected]
    shown = cli("front", mixed, "--target", "gewählt", "--by", by, "--max-depth", "3", "--trees").out
    assert all(plus_one(tree).to_text() in shown for _, _, tree in expected)


def test_front_under_conditions(cli: Any, mixed: Path) -> None:
    options = ("--target", "gewählt", "--max-depth", "3", "--cost", "gini", "--json")
    done = cli("front", mixed, *options, "--where", "leaf >= 20 and leaves <= 4")
    expected = space_of(mixed, 3, 20).front("gini", max_leaves=4)
    assert [point["gini"] for point in done.json["front"]] == pytest.approx([cost for _, cost, _ in expected])


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("query", "most accurate where size over 3"), "expected <= after \"size\", found \"over\"\n  most accurate"),
        (("query", "most accurate where uses colour"), "colour"),
        (("query", "most accurate where error <= 0 and leaves <= 2"), "no tree"),
        (("query", "most accurate where depth <= 2", "--max-depth", "3"), "give one of them"),
        (("query", "most accurate", "--set", "minimize=gini"), "a query says this in its line"),
        (("query", "most accurate", "--alpha", "0.5"), "the method optimal has no such parameter"),
        (("front", "--by", "time"), "--by time; expected size, leaves or depth"),
        (("front", "--cost", "money"), "'money' is not a cost"),
        (("front", "--where", "smallest where error <= 3"), "--where takes conditions only"),
        (("front", "--where", "leaf penalty = 2"), "no leaf penalty"),
    ],
)  # fmt: skip
def test_mistakes_are_told(command: tuple[str, ...], message: str, cli: Any, mixed: Path) -> None:
    done = cli(command[0], mixed, *command[1:], "--target", "gewählt")
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_heart(cli: Any, shared: Any) -> None:
    done = cli(
        "query", shared("heart-cleveland-uci.csv"), "most accurate where leaf >= 10 and size <= 15", "--target",
        "class", "--json",
    )  # fmt: skip
    tree = done.json["trees"][0]
    assert tree["size"] <= 15
    assert tree["info"]["optimal"]


def test_costs_of_errors(cli: Any, mixed: Path) -> None:
    matrix = [[0, 1], [5, 0]]
    options = ("--target", "gewählt", "--max-depth", "2", "--json", "--set", f"cost_matrix={matrix}")
    space = space_of(mixed, 2)
    done = cli("query", mixed, "least cost", *options)
    best = space.best("cost", cost_matrix=matrix)
    assert done.json["trees"][0]["info"]["objective"] == pytest.approx(best.info["objective"])
    front = cli("front", mixed, "--cost", "cost", *options).json["front"]
    assert [point["cost"] for point in front] == pytest.approx([c for _, c, _ in space.front("cost", matrix)])
    fitted = cli("fit", mixed, "--where", "least cost", *options).json
    assert fitted["facts"]["objective"] == pytest.approx(best.info["objective"])


@pytest.mark.parametrize("asked", ["recall of Yes >= 80%", "precision of Yes >= 40%"])
def test_rates_stand_beside_their_baselines(cli: Any, tmp_path: Path, asked: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 2))
    y = np.where(x.sum(axis=1) + rng.normal(size=400) > 1.2, "Yes", "No")
    path = tmp_path / "rates.csv"
    path.write_text(
        "\n".join(["a,b,left", *(f"{a:.3f},{b:.3f},{c}" for (a, b), c in zip(x, y, strict=True))])
    )
    done = cli("query", path, f"most accurate where {asked} and depth <= 2", "--target", "left", "--json")
    assert done.code == 0, done.err
    largest, line, asked_of_line = done.json["baseline_rates"]
    n_yes = int((y == "Yes").sum())
    assert (largest["name"], largest["hits"], largest["misses"], largest["alarms"]) == (
        "always No",
        0,
        n_yes,
        0,
    )
    assert line["name"] == "logistic regression"
    assert line["hits"] + line["misses"] == n_yes
    kind, least = asked.split()[0], float(asked.split()[-1].rstrip("%")) / 100
    assert asked_of_line[kind] >= least
    shown = cli("query", path, f"most accurate where {asked} and depth <= 2", "--target", "left").out
    for name in ("trees found so", "always No", "logistic regression, said from P = "):
        assert f"\n{name}" in shown
