"""Nodes that a reader chooses in the explorer: the tree, its price, what a node could ask, and what it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from page_cases import mixed_table

import everytree as et
from everytree.data.readers import read
from everytree.errors import QueryError
from everytree.report.asked import Asked
from everytree.report.explorer import Explorer
from everytree.report.jobs import Job


def explorer(tmp_path: Path, **encoding: Any) -> Explorer:
    X, y = mixed_table(120)
    X.assign(answer=y).to_csv(tmp_path / "d.csv", index=False)
    return Explorer(read(tmp_path / "d.csv"), "d.csv", **encoding)


def finished(job: Job) -> dict[str, Any]:
    assert job.finished.wait(60)
    assert job.error is None, job.error
    return job.told()


def space_of(cuts: str, depth: int = 3) -> et.TreeSpace:
    X, y = mixed_table(120)
    model = et.OptimalTreeClassifier(max_depth=depth, min_leaf=4, missing="category", cuts=cuts).fit(X, y)
    return model.space_


@pytest.mark.parametrize("cuts", ["global", "local"])
def test_a_chosen_node_has_its_exact_price(tmp_path: Path, cuts: str) -> None:
    made = explorer(tmp_path, cuts=cuts)
    plain = {"max_depth": 3, "min_leaf": 4}
    best = finished(made.ask(plain))["part"]
    node = made.node({"query": plain, "steps": []})
    space = space_of(cuts)
    assert {raw for raw, *_ in node["options"]} <= {each.test for each in space.node_tests()}
    for raw, number, yes, no in node["options"][::7]:
        told = finished(made.ask(plain | {"edits": [["", raw, 0]]}))
        tree = told["part"]["tree"]
        wanted = space.best_with({"": raw})
        assert tree["error"] == wanted.error
        assert tree["nodes"][0]["t"] == number
        assert [sum(tree["nodes"][k]["n"]) for k in tree["nodes"][0]["k"]] == [yes, no]
        more = wanted.error - best["tree"]["error"]
        price = "nothing" if more == 0 else f"{abs(more)} {'more' if more > 0 else 'fewer'} training error"
        assert f"Your choice costs {price}" in told["status"]
        assert told["status"].startswith("Proved best with your choice.")
        assert dict(map(tuple, told["part"]["claims"]))["proved best with your choice"] == "yes"
        assert told["part"]["least"] == best["tree"]["error"]
        # Neither the front nor the average knows of the reader's nodes.
        assert told["part"]["front"] == best["front"]
        assert told["part"]["posterior"] == best["posterior"]
        assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_a_branch_is_cut_off_and_nodes_above_stay(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    plain = {"max_depth": 3, "min_leaf": 4}
    free = finished(made.ask(plain))["part"]["tree"]
    root = free["nodes"][0]["t"]
    told = finished(made.ask(plain | {"edits": [["", root, 1], ["1", None, 0]]}))
    tree = told["part"]["tree"]
    assert tree["nodes"][0]["t"] == root
    assert "k" not in tree["nodes"][tree["nodes"][0]["k"][0]]
    assert "Proved best with your choice." in told["status"]  # the root is not a choice: it only stays
    assert tree["error"] == space_of("global").best_with({"": root, "1": None}).error


def test_choices_go_with_the_other_fields(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    plain = {"max_depth": 3, "min_leaf": 4}
    raw = next(r for r, k, *_ in made.node({"query": plain, "steps": []})["options"])
    small = finished(made.ask(plain | {"edits": [["", raw, 0]], "max_size": 5}))["part"]["tree"]
    assert len(small["nodes"]) <= 5
    name = made.opened.columns[-1]
    having = finished(made.ask(plain | {"edits": [["", raw, 0]], "require": [name]}))["part"]
    used = {made.opened.page_tests.tests[n["t"]]["column"] for n in having["tree"]["nodes"] if "t" in n}
    assert len(made.opened.columns) - 1 in used
    attribute = str(made.opened.model.binarizer_.tests_[raw].attribute)
    refused = made.ask(plain | {"edits": [["", raw, 0]], "forbid": [attribute]})
    assert refused.finished.wait(60)
    assert "must not use" in str(refused.error)
    deep = made.ask(plain | {"max_depth": 0, "edits": [["", raw, 0]]})
    assert deep.finished.wait(60)
    assert "as deep as a tree may be" in str(deep.error)


@pytest.mark.parametrize("cuts", ["global", "local"])
def test_what_a_node_holds_and_could_ask(tmp_path: Path, cuts: str) -> None:
    made = explorer(tmp_path, cuts=cuts)
    plain = {"max_depth": 3, "min_leaf": 4}
    part = finished(made.ask(plain))["part"]
    tree = part["tree"]
    k, steps = 0, []
    while "k" in tree["nodes"][k]:
        found = made.node({"query": plain, "steps": steps})
        for shape, counts in zip(found["shapes"], found["counts"], strict=True):
            n = len(tree["nodes"][0]["n"])
            assert len(counts) == (shape["bins"] + 1) * n
            assert [sum(counts[c::n]) for c in range(n)] == tree["nodes"][k]["n"]
        own = tree["nodes"][k]["t"]
        assert own in {number for _, number, _, _ in found["options"]}
        assert all(yes >= 4 and no >= 4 for _, _, yes, no in found["options"])
        steps.append([own, 1])
        k = tree["nodes"][k]["k"][0]
    first = [raw for raw, *_ in made.node({"query": plain, "steps": []})["options"][:5]]
    prices = dict(map(tuple, made.node({"query": plain, "steps": [], "tests": first})["prices"]))
    space = space_of(cuts)
    assert prices == {raw: space.best_with({"": raw}).error for raw in first}
    below = made.node({"query": plain, "steps": [[tree["nodes"][0]["t"], 1]]})["options"]
    raw, root = below[0][0], made.opened.page_tests.tests[tree["nodes"][0]["t"]]["raw"]
    asked = {"query": plain, "steps": [[tree["nodes"][0]["t"], 1]], "tests": [raw]}
    assert made.node(asked)["prices"] == [[raw, space.best_with({"": root, "1": raw}).error]]


@pytest.mark.parametrize(
    "edits",
    [
        3,
        [3],
        [["2", 1, 0]],
        [["1" * 21, 1, 0]],
        [["", -1, 0]],
        [["", True, 0]],
        [["", 1.5, 0]],
        [["", 1]],
        [["", 1, 2]],
        [[1, 1, 0]],
        [["0", None, 0]] * 201,
    ],
)
def test_choices_are_checked(edits: Any) -> None:
    with pytest.raises(QueryError, match="edits"):
        Asked.of({"edits": edits}, ())


@pytest.mark.parametrize(
    "asked",
    [
        [],
        {},
        {"steps": 3},
        {"steps": [[0]]},
        {"steps": [[0, 2]]},
        {"steps": [[-1, 0]]},
        {"steps": [[10**6, 0]]},
        {"steps": [], "tests": "all"},
        {"steps": [], "tests": ["x"]},
        {"steps": [], "more": 1},
        {"steps": [[0, 0]] * 99},
    ],
)
def test_nodes_are_checked(tmp_path: Path, asked: Any) -> None:
    with pytest.raises(QueryError):
        explorer(tmp_path).node(asked)


def test_figures_on_examples_not_seen(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    told = finished(made.ask({"max_depth": 2, "min_leaf": 4}))["part"]["held_out"]
    names = [line["name"] for line in told["lines"]]
    assert names == ["this tree", "the average over every tree", "always low", "logistic regression"]
    X, y = mixed_table(120)
    post = et.OptimalTreeClassifier(max_depth=2, min_leaf=4, missing="category").fit(X, y).space_.posterior()
    assert told["lines"][1]["log_loss"] == pytest.approx(post.loo_log_loss)
    assert told["lines"][2]["accuracy"] == pytest.approx((y == "low").mean())
    assert all(0 <= line["accuracy"] <= 1 for line in told["lines"])
