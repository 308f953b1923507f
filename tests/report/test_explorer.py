"""The explorer without its server: answers are those of the space, spaces are kept, questions can be stopped."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_cases import HOSTILE, mixed_table

import everytree as et
from everytree.data.readers import read
from everytree.errors import DataError, LimitReached, QueryError
from everytree.report import jobs, opened
from everytree.report.asked import Asked
from everytree.report.explorer import Explorer
from everytree.report.jobs import Job
from everytree.report.opened import guess_target


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
    model = et.OptimalTreeClassifier(max_depth=3, min_leaf=4, leaf_penalty=0, missing="category").fit(X, y)
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
    column = {name: j for j, name in enumerate(made.opened.columns)}

    def columns(tree: dict[str, Any]) -> set[int]:
        return {page["tests"][node["t"]]["column"] for node in tree["nodes"] if "t" in node}

    free = finished(made.ask({"max_depth": 2, "min_leaf": 4}))["part"]
    used = columns(free["tree"])
    name = made.opened.columns[min(used)]
    without = finished(made.ask({"max_depth": 2, "min_leaf": 4, "forbid": [name]}))["part"]
    trees = [without["tree"], *(p["tree"] for p in without["front"]["points"])]
    trees += [each["tree"] for each in without["posterior"]["top"]]
    assert all(column[name] not in columns(tree) for tree in trees)
    assert without["tree"]["error"] >= free["tree"]["error"]
    forced = next(each for each in made.opened.columns if column[each] not in used)
    having = finished(made.ask({"max_depth": 2, "min_leaf": 4, "require": [forced]}))["part"]
    assert column[forced] in columns(having["tree"])
    assert any("must be used" in note for note in having["notes"])


@pytest.mark.long
def test_a_space_is_mined_once_and_kept(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    finished(made.ask({"max_depth": 3}))
    spaces = made.opened._spaces
    first = spaces[(3, 5, frozenset())][0]
    finished(made.ask({"max_depth": 2}))
    finished(made.ask({"max_depth": 3, "objective": "gini"}))
    assert spaces[(3, 5, frozenset())][0] is first
    for leaf in range(6, 20):
        finished(made.ask({"max_depth": 1, "min_leaf": leaf}))
    assert len(spaces) <= 8


@pytest.mark.long
def test_a_question_asked_again_is_answered_from_memory(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    first = finished(made.ask({"max_depth": 3}))
    finished(made.ask({"max_depth": 2}))
    again = made.ask({"max_depth": 3})
    assert finished(again)["part"] == first["part"]
    assert finished(again)["status"] == "Proved best."
    for leaf in range(1, 40):
        finished(made.ask({"max_depth": 0, "min_leaf": leaf}))
    assert len(made.opened._answers) <= 32


@pytest.mark.parametrize("column", ["size", "age", "colour", "smoker", "level"])
def test_the_best_tree_with_a_required_column_is_that_of_the_space(tmp_path: Path, column: str) -> None:
    made = explorer(tmp_path)
    part = finished(made.ask({"max_depth": 2, "min_leaf": 4, "require": [column]}))["part"]
    X, y = mixed_table()
    model = et.OptimalTreeClassifier(max_depth=2, min_leaf=4, missing="category", require=[column]).fit(X, y)
    assert part["tree"]["error"] == model.error_
    assert len(part["tree"]["nodes"]) == model.tree_.size


@pytest.fixture
def endless(tmp_path: Path) -> Explorer:
    """A file whose question of depth 8 takes hours."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (400, 60))
    lines = [",".join([f"c{j}" for j in range(60)] + ["y"])]
    lines += [
        ",".join(map(str, [*row, label])) for row, label in zip(rows, rng.integers(0, 2, 400), strict=True)
    ]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    return Explorer(read(tmp_path / "d.csv"), "d.csv")


LONG = {"max_depth": 8, "min_leaf": 1}


def with_a_tree(job: Job) -> Job:
    """The job, when it has a tree to show."""
    until = time.monotonic() + 60
    while "tree" not in job.part and time.monotonic() < until:
        time.sleep(0.02)
    assert "tree" in job.part
    return job


@pytest.mark.long
def test_a_long_question_tells_its_bound_and_can_be_stopped(endless: Explorer) -> None:
    job = with_a_tree(endless.ask(LONG))
    assert re.search("so far, (none has less than|not proved yet)", job.status)
    assert not job.finished.is_set()
    # Another question stops it, and is answered.
    quick = endless.ask({"max_depth": 1})
    assert quick.finished.wait(60)
    assert job.finished.wait(1)
    assert job.status.startswith("Stopped")
    assert quick.part["tree"]["depth"] <= 1
    again = endless.ask(LONG)
    again.cancel()
    assert again.finished.wait(10)


def test_claims_come_with_the_tree_they_are_about(endless: Explorer) -> None:
    proved = finished(endless.ask({"max_depth": 1}))["part"]
    assert dict(proved["claims"])["proved best"] == "yes"
    assert dict(proved["claims"])["training errors"] == str(proved["tree"]["error"])
    job = with_a_tree(endless.ask(LONG))
    seen = [job.told()["part"]]
    job.cancel()
    assert job.finished.wait(10)
    seen.append(job.told()["part"])
    for part in seen:
        claims = dict(part["claims"])
        assert claims["proved best"] == "no"
        assert claims["training errors"] == str(part["tree"]["error"])
        assert float(claims["no tree has less than"]) <= part["tree"]["error"]
    assert seen[1]["treeAbout"] == "The best tree found before the search was stopped; not proved."
    assert "not proved" in job.status
    # What was stopped is not remembered as an answer.
    assert Asked.of(LONG, ()) not in endless.opened._answers


def test_the_best_of_all_trees_is_no_best_so_far_where_a_column_must_be_used(endless: Explorer) -> None:
    job = endless.ask(LONG | {"require": ["c7"]})
    until = time.monotonic() + 20
    while "none has less" not in job.status and time.monotonic() < until:
        time.sleep(0.02)
    assert "so far" not in job.status  # such a tree need not use c7
    job.cancel()
    assert job.finished.wait(10)
    assert "tree" not in job.part
    assert job.status.startswith("Stopped before there was a tree that uses c7; none has less than")


def test_a_stopped_front_leaves_a_proved_tree_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = explorer(tmp_path)

    def stopped(*given: Any, **options: Any) -> Any:
        made.jobs.cancel("a")
        raise et.LimitReached("stopped", "stopped")

    monkeypatch.setattr(opened.sections, "front", stopped)
    job = made.ask({"max_depth": 2}, "a")
    told = finished(job)
    assert told["status"] == "Stopped. Proved best."
    assert told["part"]["front"] is None
    assert told["part"]["posterior"] is None
    assert told["part"]["notes"] == [
        "Stopped before there was the best tree of every size.",
        "Stopped before there was the average over every tree.",
        "Stopped before there was a figure for examples left out.",
    ]


@pytest.mark.long
def test_clients_ask_side_by_side(endless: Explorer) -> None:
    one = with_a_tree(endless.ask(LONG, "one"))
    two = with_a_tree(endless.ask(LONG, "two"))  # the very same space
    assert finished(endless.ask({"max_depth": 1}, "three"))["done"]
    assert not one.finished.is_set()
    assert not two.finished.is_set()
    assert endless.jobs.running == 2
    # A new question replaces the one of its own client only.
    assert finished(endless.ask({"max_depth": 1}, "two"))["done"]
    assert two.finished.is_set()
    assert not one.finished.is_set()
    assert endless.jobs.of("one", one.id) is one
    for client, number in (
        ("one", two.id),
        ("two", one.id),
        ("nobody", one.id),
        ("one", True),
        ("one", None),
    ):
        with pytest.raises(DataError, match="no longer being answered"):
            endless.jobs.of(client, number)
    endless.jobs.cancel("nobody")
    endless.jobs.cancel("one")
    assert one.finished.wait(10)
    assert len(endless.opened._spaces) <= opened.KEPT_SPACES


@pytest.mark.long
def test_of_many_clients_the_oldest_idle_one_is_forgotten(endless: Explorer) -> None:
    busy = with_a_tree(endless.ask(LONG, "busy"))
    asked = [endless.ask({"max_depth": 0}, f"c{k}") for k in range(jobs.MOST_CLIENTS - 1)]
    for job in asked:
        finished(job)
    endless.jobs.of("c0", asked[0].id)  # it looks, so it is not the oldest
    finished(endless.ask({"max_depth": 0}, "new"))
    assert len(endless.jobs._of) == jobs.MOST_CLIENTS
    assert endless.jobs.of("busy", busy.id) is busy
    assert endless.jobs.of("c0", asked[0].id) is asked[0]
    with pytest.raises(DataError, match="no longer being answered"):
        endless.jobs.of("c1", asked[1].id)
    assert not busy.finished.is_set()
    busy.cancel()
    assert busy.finished.wait(10)


@pytest.mark.long
def test_the_end_stops_every_question_and_waits_for_it(endless: Explorer) -> None:
    running = [with_a_tree(endless.ask(LONG, name)) for name in ("a", "b")]
    assert endless.close(20)
    for job in running:
        assert job.finished.is_set()
        assert job.thread is not None
        assert not job.thread.is_alive()
    with pytest.raises(QueryError, match="ending"):
        endless.ask({"max_depth": 0})


def test_a_page_of_data_that_are_closed_gets_no_answer_of_the_new_ones(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    number = made.page("t")["live"]["data"]
    finished(made.ask({"max_depth": 1}, "a", number))
    made.open(made.opened.data, made.opened.file, "colour")
    with pytest.raises(DataError, match=r"another page has opened d\.csv to predict colour"):
        made.ask({"max_depth": 1}, "a", number)
    finished(made.ask({"max_depth": 1}, "a", made.page("t")["live"]["data"]))


def test_the_intervals_of_rows_are_those_of_the_posterior(tmp_path: Path) -> None:
    made = explorer(tmp_path, missing=False)
    X, y = mixed_table(missing=False)
    model = et.BayesOptimalClassifier(max_depth=2, min_leaf=4, bins=8).fit(X, y)
    low, high = model.predict_interval(X.iloc[made.opened.places], 0.95, random_state=0)
    found = np.array(finished(made.ask({"max_depth": 2, "min_leaf": 4}))["part"]["posterior"]["intervals"])
    assert found == pytest.approx(np.stack([low, high], axis=2), abs=1e-4)
    forbidden = finished(made.ask({"max_depth": 2, "min_leaf": 4, "forbid": ["size"]}))["part"]["posterior"]
    assert np.shape(forbidden["intervals"]) == (60, 3, 2)


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
    made.open(made.opened.data, made.opened.file, "colour")
    assert made.page("t")["classes"] == ["blue", "green", "red"]
    with pytest.raises(DataError, match="no target column"):
        made.open(made.opened.data, made.opened.file, "odd")
    (tmp_path / "many.csv").write_text("\n".join(["id,b"] + [f"n{k},{k % 2}" for k in range(300)]))
    many = read(tmp_path / "many.csv", as_is=True)
    with pytest.raises(DataError, match=r"different values|no target column"):
        made.open(many, "many.csv", "id")
    assert made.opened.target == "colour"


@pytest.mark.parametrize(
    ("header", "target"),
    [("a,b,c", "c"), ("a,Class,c", "Class"), ("label,b,c", "label"), ("churned,b,c", "churned")],
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
    told = finished(
        made.ask({"max_depth": 2, "forbid": [made.opened.columns[0]], "require": [made.opened.columns[1]]})
    )
    assert told["part"]["tree"] is not None


def test_a_part_that_takes_too_long_is_that_of_less_deep_trees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = opened.sections.front

    def slow(space: et.TreeSpace, *given: Any, **options: Any) -> Any:
        if space.max_depth > 2:
            raise LimitReached("too slow", "time")
        return plain(space, *given, **options)

    monkeypatch.setattr(opened.sections, "front", slow)
    made = explorer(tmp_path)
    part = finished(made.ask({"max_depth": 4, "min_leaf": 4}))["part"]
    assert part["notes"] == [
        "This is the best tree of depth 2 at most of every size; that of depth 4 takes longer than 8 s."
    ]
    shallow = finished(made.ask({"max_depth": 2, "min_leaf": 4}))["part"]
    errors = [[(p["size"], p["error"]) for p in each["front"]["points"]] for each in (part, shallow)]
    assert errors[0] == errors[1]


def test_a_search_without_a_proof_ends_and_says_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "SEARCH_SECONDS", 0.4)
    monkeypatch.setattr(opened, "PART_SECONDS", 0.3)
    draw = np.random.default_rng(5)
    lines = [
        ",".join([*(f"{x:.2f}" for x in row), str(draw.integers(3))]) for row in draw.normal(size=(900, 14))
    ]
    (tmp_path / "noise.csv").write_text("\n".join([",".join([*(f"c{k}" for k in range(14)), "y"]), *lines]))
    made = Explorer(read(tmp_path / "noise.csv"), "noise.csv")
    begun = time.monotonic()
    told = finished(made.ask({"max_depth": 7, "min_leaf": 1}), 50)
    assert "The best found in 0 s, not proved: " in told["status"]
    assert told["part"]["tree"] is not None
    assert ["proved best", "no"] in told["part"]["claims"]
    assert told["part"]["held_out"]["lines"]
    said = re.compile(
        "This is .* of depth [1-6] at most.*; that of depth 7 takes (longer than 0 s|too much memory)."
    )
    assert any(said.fullmatch(note) for note in told["part"]["notes"])
    assert time.monotonic() - begun < 50


def test_the_first_question_is_less_deep_where_there_is_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = explorer(tmp_path)
    assert made.opened.usual.max_depth == 4
    assert "It begins with" not in made.page("token")["summary"]
    monkeypatch.setattr(opened, "MOST_PAIRS", {4: 1, 3: 10})
    assert made.opened.usual.max_depth == 2
    assert "It begins with 2 tests on a path" in made.page("token")["summary"]
