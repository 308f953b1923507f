"""Pages of classifiers whose nodes choose their own cuts: the same parts, few tests, the same answers."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_cases import mixed_table

import everytree as et
from everytree.data.readers import read
from everytree.report.explorer import Explorer
from everytree.report.page_data import page_data
from everytree.report.page_tests import numbers_in

WEB = Path(__file__).parents[2] / "web"
BUILT = shutil.which("node") is not None and (WEB / "node_modules" / "esbuild").exists()
KINDS = {
    "optimal": et.OptimalTreeClassifier,
    "map": et.MAPTreeClassifier,
    "bayes": et.BayesOptimalClassifier,
}


def in_words(ask: str) -> str:
    """A test as the page says it."""
    plain = ask.replace(" <= ", " ≤ ").replace(" == ", " is ")
    return plain if plain != ask or ask.endswith(" is missing") else f"{ask} is 1"


def fitted(kind: str, missing: str = "category") -> tuple[Any, Any, Any]:
    X, y = mixed_table(missing=missing != "error")
    return KINDS[kind](max_depth=3, min_leaf=4, missing=missing, cuts="local").fit(X, y), X, y


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_the_parts_of_any_other_and_only_the_tests_it_shows(kind: str) -> None:
    model, X, y = fitted(kind)
    data = page_data(model, (X, y), rows=7)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["front"]["points"]
    assert data["posterior"]["top"]
    assert data["calibration"]["about"].startswith("By 5-fold cross-validation")
    assert [each["name"] for each in data["posterior"]["inclusion"]] == list(X.columns)
    assert data["posterior"]["tests"] == []
    assert numbers_in(data) == set(range(len(data["tests"])))
    assert len(data["tests"]) < len(model.binarizer_.tests_)
    if data["tree"] is not None:
        names = [data["tests"][node["t"]]["name"] for node in data["tree"]["nodes"] if "t" in node]
        assert names == [in_words(ask) for ask in model.tree_.asks if ask]


def test_the_rules_and_the_averages_are_those_of_the_posterior() -> None:
    model, X, y = fitted("bayes")
    data = page_data(model, (X, y), rows=7)
    found = data["posterior"]
    assert {each["name"]: each["p"] for each in found["inclusion"]} == pytest.approx(
        model.posterior_.attribute_inclusion(), abs=1e-4
    )
    rules = model.posterior_.rules(top=400)
    assert len(found["rules"]) == len(rules)
    for shown, rule in zip(found["rules"], rules, strict=True):
        assert [data["tests"][test]["name"] for test, _ in shown["items"]] == list(map(in_words, rule.asks))
    places = [int(row["name"].removeprefix("row ")) - 1 for row in data["rows"]]
    proba = model.predict_proba(X.iloc[places])
    assert np.abs(np.array(found["averages"]) - proba).max() < 2e-5
    assert len(found["intervals"]) == 7
    for page in (data, page_data(model)):
        assert "a row typed in gets the mean of trees drawn from all of them" in page["notes"][0]
        assert page["posterior"]["drawn"]["draws"] == 1000


@pytest.mark.skipif(not BUILT, reason="needs node, and npm install in web/")
@pytest.mark.parametrize("missing", ["error", "category", "impute"])
@pytest.mark.parametrize("kind", ["optimal", "map"])
def test_the_browser_says_what_python_says(kind: str, missing: str) -> None:
    model, _, _ = fitted(kind, missing)
    other, labels = mixed_table(300, seed=5, missing=missing != "error")  # values between those of training
    data = page_data(model, (other, labels), rows=1000)
    done = subprocess.run(
        ["node", str(WEB / "check.mjs")],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    said = np.array([row["leaf"] for row in json.loads(done.stdout)["rows"]])
    assert np.abs(said - model.predict_proba(other)).max() <= 2e-5


def test_a_tree_in_a_file_knows_its_training_data(tmp_path: Path) -> None:
    model, X, y = fitted("optimal")
    model.save(tmp_path / "m.json", target="class")
    loaded = et.load_model(tmp_path / "m.json")
    alone = page_data(loaded)
    assert "holds no training data" in alone["notes"][0]
    assert alone["tests"] != []
    whole = page_data(loaded, (X, y))
    assert whole["notes"] == []
    assert whole["front"] == page_data(model, (X, y))["front"]


def explorer(tmp_path: Path) -> Explorer:
    X, y = mixed_table()
    X.assign(answer=y).to_csv(tmp_path / "d.csv", index=False)
    return Explorer(read(tmp_path / "d.csv"), "d.csv", cuts="local", bins=3)


def finished(made: Explorer, **asked: Any) -> dict[str, Any]:
    job = made.ask({"max_depth": 2, "min_leaf": 4} | asked)
    assert job.finished.wait(60)
    assert job.error is None
    told = job.told()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    part: dict[str, Any] = told["part"]
    assert {str(number) for number in numbers_in(part)} == set(part["tests"])
    return part


def columns(part: dict[str, Any], tree: dict[str, Any]) -> set[int]:
    return {part["tests"][str(node["t"])]["column"] for node in tree["nodes"] if "t" in node}


def test_the_explorer_answers_over_the_cuts_of_nodes(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    page = made.page("token")
    assert page["tests"] == []
    assert "Every node chooses its own cuts" in page["summary"]
    X, y = mixed_table()
    for asked in ({}, {"max_depth": 3}, {"min_leaf": 9}):
        part = finished(made, **asked)
        space = et.TreeSpace.from_frame(X, y, bins=3, **{"max_depth": 2, "min_leaf": 4, **asked})
        assert part["tree"]["error"] == space.best().error
        assert [p["error"] for p in part["front"]["points"]] == [error for _, error, _ in space.front()]
        assert {each["name"]: each["p"] for each in part["posterior"]["inclusion"]} == pytest.approx(
            space.posterior().attribute_inclusion(), abs=1e-4
        )
        rows = X.iloc[made.opened.places]
        proba = space.posterior().predict_proba(rows)
        assert np.abs(np.array(part["posterior"]["averages"]) - proba).max() < 2e-5


def test_the_explorer_forbids_and_requires_columns(tmp_path: Path) -> None:
    made = explorer(tmp_path)
    free = finished(made)
    used = columns(free, free["tree"])
    gone = made.opened.columns[min(used)]
    without = finished(made, forbid=[gone])
    trees = [without["tree"], *(p["tree"] for p in without["front"]["points"])]
    trees += [each["tree"] for each in without["posterior"]["top"]]
    assert all(min(used) not in columns(without, tree) for tree in trees)
    X, y = mixed_table()
    rest = et.TreeSpace.from_frame(X.drop(columns=gone), y, bins=3, max_depth=2, min_leaf=4)
    assert without["tree"]["error"] == rest.best().error
    proba = rest.posterior().predict_proba(X.drop(columns=gone).iloc[made.opened.places])
    assert np.abs(np.array(without["posterior"]["averages"]) - proba).max() < 2e-5
    forced = next(j for j in range(len(made.opened.columns)) if j not in used)
    having = finished(made, require=[made.opened.columns[forced]])
    assert forced in columns(having, having["tree"])
    assert {number: test for number, test in free["tests"].items() if number in having["tests"]}.items() <= (
        having["tests"].items()
    )


@pytest.mark.long
def test_the_evidence_of_many_averages_gives_the_answer() -> None:
    X, y = mixed_table(150)
    model = et.EveryTreeClassifier(time_limit=1).fit(X, y)
    found = page_data(model, (X, y), rows=5)["posterior"]
    assert len(found["members"]) == len(model.weights_)
    assert found["rules"] == []
    for moved, answer in zip(found["evidence"], found["averages"], strict=True):
        logs = np.log(found["shares"]) + np.sum(moved, axis=0)
        powers = np.exp(logs - logs.max())
        assert powers / powers.sum() == pytest.approx(answer, abs=0.005)
