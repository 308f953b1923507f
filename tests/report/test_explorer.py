"""The explorer without its server: answers are those of the space, spaces are kept, questions can be stopped."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_cases import HOSTILE, mixed_table

import everytree as et
from everytree.data.readers import read
from everytree.errors import DataError, QueryError
from everytree.report.explorer import Asked, Explorer, Job, guess_target


def explorer(tmp_path: Path, n: int = 90, missing: bool = True) -> Explorer:
    X, y = mixed_table(n, missing=missing)
    X.assign(answer=y).to_csv(tmp_path / "d.csv", index=False)
    return Explorer(read(tmp_path / "d.csv"), "d.csv")


def finished(job: Job, seconds: float = 60) -> dict[str, Any]:
    assert job.finished.wait(seconds)
    assert job.error is None
    return job.told()


def test_an_answer_is_that_of_the_space(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    told = finished(made.ask({"max_depth": 3, "min_leaf": 4}))
    X, y = mixed_table()
    model = et.OptimalTreeClassifier(max_depth=3, min_leaf=4, missing="category").fit(X, y)
    part = told["part"]
    assert told["done"]
    assert told["status"] == "Proved best."
    assert part["tree"]["error"] == model.error_
    front = model.space_.front()
    assert [(p["size"], p["error"]) for p in part["front"]["points"]] == [(s, e) for s, e, _ in front]
    post = model.space_.posterior()
    assert {each["name"]: each["p"] for each in part["posterior"]["inclusion"]} == pytest.approx(
        post.attribute_inclusion(), abs=1e-4
    )
    assert part["posterior"]["sum"]["bound"] <= 0.021
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_forbidden_columns_are_in_no_tree_and_required_ones_in_the_best(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    page = made.page("token")
    column = {name: j for j, name in enumerate(made.columns)}

    def columns(tree: dict[str, Any]) -> set[int]:
        return {page["tests"][node["t"]]["column"] for node in tree["nodes"] if "t" in node}

    free = finished(made.ask({"max_depth": 2, "min_leaf": 4}))["part"]
    used = columns(free["tree"])
    name = made.columns[min(used)]
    without = finished(made.ask({"max_depth": 2, "min_leaf": 4, "forbid": [name]}))["part"]
    trees = [without["tree"], *(p["tree"] for p in without["front"]["points"])]
    trees += [each["tree"] for each in without["posterior"]["top"]]
    assert all(column[name] not in columns(tree) for tree in trees)
    assert without["tree"]["error"] >= free["tree"]["error"]
    forced = next(each for each in made.columns if column[each] not in used)
    having = finished(made.ask({"max_depth": 2, "min_leaf": 4, "require": [forced]}))["part"]
    assert column[forced] in columns(having["tree"])
    assert any("must be used" in note for note in having["notes"])


def test_a_space_is_mined_once_and_kept(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    finished(made.ask({"max_depth": 3}))
    first = made._spaces[(3, 5, frozenset())][0]
    finished(made.ask({"max_depth": 2}))
    finished(made.ask({"max_depth": 3, "objective": "gini"}))
    assert made._spaces[(3, 5, frozenset())][0] is first
    for leaf in range(6, 20):
        finished(made.ask({"max_depth": 1, "min_leaf": leaf}))
    assert len(made._spaces) <= 8


def test_a_question_asked_again_is_answered_from_memory(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    first = finished(made.ask({"max_depth": 3}))
    finished(made.ask({"max_depth": 2}))
    again = made.ask({"max_depth": 3})
    assert finished(again)["part"] == first["part"]
    assert finished(again)["status"] == "Proved best."
    for leaf in range(1, 40):
        finished(made.ask({"max_depth": 0, "min_leaf": leaf}))
    assert len(made._answers) <= 32


@pytest.mark.parametrize("column", ["size", "age", "colour", "smoker", "level"])
def test_the_best_tree_with_a_required_column_is_that_of_the_space(tmp_path: Path, column: str) -> None:
    made = explorer(tmp_path)
    part = finished(made.ask({"max_depth": 2, "min_leaf": 4, "require": [column]}))["part"]
    X, y = mixed_table()
    model = et.OptimalTreeClassifier(max_depth=2, min_leaf=4, missing="category", require=[column]).fit(X, y)
    assert part["tree"]["error"] == model.error_
    assert len(part["tree"]["nodes"]) == model.tree_.size


def test_a_long_question_tells_its_bound_and_can_be_stopped(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (400, 60))
    lines = [",".join([f"c{j}" for j in range(60)] + ["y"])]
    lines += [
        ",".join(map(str, [*row, label])) for row, label in zip(rows, rng.integers(0, 2, 400), strict=True)
    ]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    made = Explorer(read(tmp_path / "d.csv"), "d.csv")
    job = made.ask({"max_depth": 8, "min_leaf": 1})
    until = time.monotonic() + 60
    while "tree" not in job.part and time.monotonic() < until:
        time.sleep(0.02)
    assert "so far, none has less than" in job.status
    assert not job.finished.is_set()
    # Another question stops it, and is answered.
    quick = made.ask({"max_depth": 1})
    assert quick.finished.wait(60)
    assert job.finished.wait(1)
    assert job.status.startswith("Stopped")
    assert quick.part["tree"]["depth"] <= 1
    again = made.ask({"max_depth": 8, "min_leaf": 1})
    again.cancel()
    assert again.finished.wait(10)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"max_depth": -1}, "max_depth=-1"),
        ({"max_depth": True}, "max_depth=True"),
        ({"max_depth": None}, "max_depth=None"),
        ({"min_leaf": 2.5}, r"min_leaf=2\.5"),
        ({"max_size": "9"}, "max_size='9'"),
        ({"objective": "beauty"}, "objective='beauty'"),
        ({"prior": ["size"]}, "prior="),
        ({"forbid": ["odd"]}, "forbid="),
        ({"require": "size"}, "require="),
        ({"limit": 3}, "a question has the fields"),
        ([], "a question has the fields"),
    ],
)
def test_a_bad_question_is_refused(question: Any, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        Asked.of(question, ("size", "age"))


def test_a_question_without_an_answer_says_why(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    job = made.ask({"max_depth": 3, "min_leaf": 10**6})
    assert job.finished.wait(30)
    assert "min_leaf" in (job.error or "")
    assert finished(made.ask({"max_depth": 1}))["done"]


def test_the_page_begins_with_the_columns_and_the_form(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    page = made.page("secret")
    assert page["live"]["token"] == "secret"
    assert page["live"]["names"] == ["size", "age", "colour", "smoker", "level"]
    assert page["live"]["target"] == "answer"
    assert len(page["rows"]) == 60
    assert page["missing"] == "category"
    assert json.dumps(page, allow_nan=False)


def test_another_target_or_file_replaces_the_first(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    made.open(made.data, made.file, "colour")
    assert made.page("t")["classes"] == ["blue", "green", "red"]
    with pytest.raises(DataError, match="no target column"):
        made.open(made.data, made.file, "odd")
    (tmp_path / "many.csv").write_text("\n".join(["id,b"] + [f"n{k},{k % 2}" for k in range(300)]))
    many = read(tmp_path / "many.csv")
    with pytest.raises(DataError, match="different values"):
        made.open(many, "many.csv", "id")
    assert made.target == "colour"


@pytest.mark.parametrize(
    ("header", "target"), [("a,b,c", "c"), ("a,Class,c", "Class"), ("label,b,c", "label")]
)
def test_the_target_is_guessed(tmp_path: Path, header: str, target: str) -> None:
    (tmp_path / "d.csv").write_text(f"{header}\n1,2,3\n4,5,6\n")
    assert guess_target(read(tmp_path / "d.csv")) == target


def test_hostile_names_can_be_asked_about(tmp_path: Path) -> None:
    import pandas as pd

    rng = np.random.default_rng(2)
    names = [name for name in HOSTILE if "\x00" not in name]
    X = pd.DataFrame({name: rng.integers(0, 2, 60) for name in names}).assign(y=rng.integers(0, 2, 60))
    X.to_csv(tmp_path / "d.csv", index=False)
    made = Explorer(read(tmp_path / "d.csv"), "d.csv", "y")
    told = finished(made.ask({"max_depth": 2, "forbid": [made.columns[0]], "require": [made.columns[1]]}))
    assert told["part"]["tree"] is not None
