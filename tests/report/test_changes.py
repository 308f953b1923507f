"""What would change the answer, as the page finds it: against every change of one or two columns, tried in Python."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
from page_cases import mixed_table

import everytree as et
from everytree.report.page_data import page_data

WEB = Path(__file__).parents[2] / "web"
BUILT = shutil.which("node") is not None and (WEB / "node_modules" / "esbuild").exists()
needs_node = pytest.mark.skipif(not BUILT, reason="needs node and npm ci in web/")


def in_browser(data: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        ["node", str(WEB / "changes.mjs")], input=json.dumps(data), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def holds(test: dict[str, Any], cell: Any) -> bool:
    if test["kind"] == "missing":
        return cell is None
    if cell is None:
        return False
    if test["kind"] == "threshold":
        return cell <= test["value"]
    return cell > 0.5 if test["kind"] == "identity" else cell == test["value"]


def by_tree(data: dict[str, Any], row: list[Any]) -> int:
    k, nodes = 0, data["tree"]["nodes"]
    while "k" in nodes[k]:
        test = data["tests"][nodes[k]["t"]]
        k = nodes[k]["k"][0 if holds(test, row[test["column"]]) else 1]
    return nodes[k].get("s", max(range(len(nodes[k]["p"])), key=nodes[k]["p"].__getitem__))


def by_sum(data: dict[str, Any], row: list[Any]) -> int:
    rules = data["posterior"]["sum"]
    p = list(rules["base"])
    bits = [holds(test, row[test["column"]]) for test in data["tests"]]
    for items, moves in zip(rules["items"], rules["moves"], strict=True):
        if all(bits[code >> 1] == bool(code & 1) for code in items):
            p = [a + b for a, b in zip(p, moves, strict=True)]
    return max(range(len(p)), key=p.__getitem__)


def cells(data: dict[str, Any], j: int, now: Any) -> list[tuple[float, Any]]:
    """Every value of a column that could matter, with how far it is from the one there: more than the page tries."""
    column = data["columns"][j]
    if column["kind"] == "numeric":
        low, high = column.get("range", (0, 1))
        found = set()
        for test in data["tests"]:
            if test["column"] == j and test["kind"] == "threshold":
                cut = test["value"]
                found |= {int(cut // 1), int(cut // 1) + 1} if column["whole"] else {cut, cut + 1e-7}
        return [(1.0 if now is None else abs(v - now) / (high - low), v) for v in found if v != now]
    n = 2 if column["kind"] == "binary" else len(column["values"])
    return [(1.0, v) for v in range(n) if v != now]


def nearest(data: dict[str, Any], row: list[Any], answer: Any) -> tuple[int, float] | None:
    before = answer(data, row)
    options = [cells(data, j, row[j]) for j in range(len(row))]
    for many in (1, 2):
        found = [
            sum(d for d, _ in chosen)
            for columns in combinations(range(len(row)), many)
            for chosen in product(*(options[j] for j in columns))
            if answer(data, _with(row, columns, [v for _, v in chosen])) != before
        ]
        if found:
            return many, min(found)
    return None


def _with(row: list[Any], columns: Any, values: list[Any]) -> list[Any]:
    made = list(row)
    for j, value in zip(columns, values, strict=True):
        made[j] = value
    return made


def checked(data: dict[str, Any], row: list[Any], found: dict[str, Any] | None, answer: Any) -> None:
    wanted = nearest(data, row, answer)
    if found is None:
        assert wanted is None
        return
    moved = _with(row, [move["column"] for move in found["moves"]], [move["to"] for move in found["moves"]])
    assert answer(data, moved) == found["says"] != answer(data, row)
    if wanted is None:
        assert len(found["moves"]) > 2  # only a tree looks further
        return
    distance = sum(
        next((d for d, v in cells(data, m["column"], row[m["column"]]) if abs(v - m["to"]) < 1e-6), 1.0)
        for m in found["moves"]
    )
    assert len(found["moves"]) == wanted[0]
    assert distance == pytest.approx(wanted[1], abs=1e-6)


@needs_node
@pytest.mark.parametrize("cuts", ["global", "local"])
def test_the_nearest_change_in_a_tree(cuts: str) -> None:
    X, y = mixed_table(120)
    model = et.OptimalTreeClassifier(
        max_depth=3, min_leaf=3, leaf_penalty=0, missing="category", cuts=cuts
    ).fit(X, y)
    data = page_data(model, (X, y), rows=25)
    found = in_browser(data)
    moves = {len(each["tree"]["moves"]) for each in found["rows"]}
    assert moves <= {1, 2, 3}
    for given, each in zip(data["rows"], found["rows"], strict=True):
        checked(data, given["cells"], each["tree"], by_tree)
        if len(each["tree"]["moves"]) <= 2:  # one leaf at a time, and every single column and pair: the same
            assert len(each["slow"]["moves"]) == len(each["tree"]["moves"])


@needs_node
def test_the_nearest_change_in_an_average() -> None:
    X, y = mixed_table(120)
    model = et.BayesOptimalClassifier(max_depth=2, min_leaf=5, missing="category").fit(X, y)
    data = page_data(model, (X, y), rows=12)
    found = in_browser(data)
    assert all(each["sum"] is not None for each in found["rows"])
    for given, each in zip(data["rows"], found["rows"], strict=True):
        checked(data, given["cells"], each["sum"], by_sum)
    # Rules are said in words with one condition for each column.
    for rule, words in zip(data["posterior"]["rules"], found["words"], strict=True):
        columns = {data["tests"][test]["column"] for test, _ in rule["items"]}
        assert len(words) >= len(columns)
        assert all(any(word.find(data["columns"][j]["name"]) >= 0 for word in words) for j in columns)
