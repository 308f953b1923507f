"""What is printed is what is so: p of a leaf, the class it says, the errors, the seconds."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.cli import training, watch
from everytree.cli.methods import known_methods
from everytree.errors import LimitReached

COSTS = "cost_matrix=[[0, 9], [1, 0]]"  # to miss the first class costs nine times as much


# --- p of a leaf


@pytest.mark.parametrize("dirichlet", [(), ("--dirichlet", "0.25"), ("--dirichlet", "decay")])
def test_p_of_a_leaf_is_one_number_in_fit_query_and_front(
    dirichlet: tuple[str, ...], cli: Any, mixed: Path
) -> None:
    same = (mixed, "--target", "gewählt", "--max-depth", "2", *dirichlet)
    fitted = cli("fit", *same, "--json").json["tree"]
    asked = cli("query", same[0], "most accurate", *same[1:], "--json").json["trees"][0]
    front = cli("front", *same, "--json").json["front"][-1]
    assert fitted == asked["text"] == front["text"]
    proba = np.array(asked["tree"]["proba"])
    assert proba.min() > 0
    assert proba.max() < 1


def test_the_text_says_what_was_added(cli: Any, mixed: Path) -> None:
    same = ("--target", "gewählt", "--max-depth", "1", "--dirichlet", "0.5")
    words = "p counts the examples of a leaf, plus 0.5 for each of the"
    for command in (("fit", mixed), ("query", mixed, "most accurate"), ("front", mixed, "--trees")):
        assert words in cli(*command, *same).out
    wrong = cli("query", mixed, "most accurate", "--target", "gewählt", "--dirichlet", "-1")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--dirichlet -1; expected positive numbers" in wrong.err


# --- what a leaf says under costs


def leaves_of(text: str) -> list[tuple[str, float]]:
    return [(said, float(p)) for said, p in re.findall(r"(?:yes: |no:  )([^?]*?)  p = ([\d.]+)", text)]


def test_under_costs_the_text_says_what_the_model_says(cli: Any, mixed: Path) -> None:
    out, answers = mixed.with_name("m.json"), mixed.with_name("a.csv")
    same = ("--target", "gewählt", "--max-depth", "2", "--bins", "4", "--set", COSTS)
    fitted = cli("fit", mixed, *same, "--set", "minimize=cost", "--out", out, "--json").json
    cli("predict", out, mixed, "--out", answers)
    said = {tuple(line.rsplit(",", 3)[1:]) for line in answers.read_text().replace('"', "").splitlines()[1:]}
    shown = leaves_of(fitted["tree"])
    assert any(p < 0.5 for _, p in shown)  # the careful answer is not the probable one
    model = et.load_model(out)
    features, y = et.read(mixed, "gewählt").split()
    labels, proba = model.predict(features), model.predict_proba(features)
    place = {label: c for c, label in enumerate(model.classes_.tolist())}
    seen = {
        (label, round(float(row[place[label]]), 3)) for label, row in zip(labels.tolist(), proba, strict=True)
    }
    assert {(label, round(p, 3)) for label, p in shown} == seen
    assert len(said) >= len(seen)
    assert model.tree_.to_text() == fitted["tree"]  # a file keeps what leaves say
    asked = cli("query", mixed, "least cost", *same, "--json").json["trees"][0]
    assert asked["text"] == fitted["tree"]
    assert asked["error"] == fitted["training_errors"] == int((labels != y).sum())
    line = cli("query", mixed, "least cost", *same).out
    assert f"{fitted['training_errors']} of 240 wrong" in line


@pytest.mark.parametrize("heavy", ["nein", "ja, ökonomisch"])
def test_a_front_under_class_weights_says_so_too(heavy: str, cli: Any, mixed: Path) -> None:
    weights = f"class_weight={json.dumps({'nein': 1, 'ja, ökonomisch': 1} | {heavy: 9})}"
    options = ("--target", "gewählt", "--max-depth", "2", "--set", weights, "--json")
    first = cli("front", mixed, *options).json["front"][0]
    assert (first["leaves"], first["text"].partition("  ")[0]) == (1, heavy)


# --- one look at the rows


@pytest.mark.parametrize("method", known_methods())
def test_labels_and_probabilities_at_once(method: str, cli: Any, mixed: Path) -> None:
    from everytree.cli.methods import classifier

    features, y = et.read(mixed, "gewählt").split()
    more: dict[str, Any] = {"n_draws": 100, "random_state": 0} if method == "mcmc" else {}
    made = classifier(method)
    if "missing" in made().get_params():
        more["missing"] = "category"
    model = made(**more).fit(features, y)
    labels, proba = model.answers(features)
    assert labels.tolist() == model.predict(features).tolist()
    assert np.array_equal(proba, model.predict_proba(features))


def test_answers_follow_costs_and_laplace(mixed: Path) -> None:
    features, y = et.read(mixed, "gewählt").split()
    careful = et.OptimalTreeClassifier(
        2, minimize=("cost", "size"), cost_matrix=[[0, 9], [1, 0]], bins=4
    ).fit(features, y)
    labels, proba = careful.answers(features)
    assert labels.tolist() == careful.predict(features).tolist()
    assert labels.tolist() != careful.classes_[proba.argmax(axis=1)].tolist()
    c45 = et.C45TreeClassifier(laplace=True).fit(features, y)
    labels, proba = c45.answers(features)
    assert labels.tolist() == c45.predict(features).tolist()
    assert np.array_equal(proba, c45.predict_proba(features))


@pytest.mark.parametrize("method", ["optimal", "bayes", "mcmc"])
def test_predict_makes_tests_of_the_rows_once(
    method: str, cli: Any, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from everytree.estimators.base import TreeClassifierBase

    out = mixed.with_name("m.json")
    draws = ("--set", "n_draws=50") if method == "mcmc" else ()
    cli("fit", mixed, "--target", "gewählt", "--method", method, "--max-depth", "2", "--out", out, *draws)
    seen = []
    plain = TreeClassifierBase.to_tests

    def encode(self: Any, data: Any) -> Any:
        seen.append(data.n_rows)
        return plain(self, data)

    monkeypatch.setattr(TreeClassifierBase, "to_tests", encode)
    # Without labels: with them, rows are also looked for among those of training.
    new = mixed.with_name("new.csv")
    new.write_text(mixed.read_text(encoding="utf-8").replace("gewählt", "unknown", 1), encoding="utf-8")
    done = cli("predict", out, new, "--rows", "100", "--out", mixed.with_name("a.csv"))
    assert (done.code, seen) == (0, [100, 100, 40]), done.err
    seen.clear()
    done = cli(
        "compare",
        mixed,
        "--target",
        "gewählt",
        "--methods",
        method,
        "--max-depth",
        "1",
        "--folds",
        "2",
        *draws,
    )
    assert (done.code, seen) == (0, [120, 120]), done.err


# --- seconds


@pytest.mark.long
def test_seconds_are_those_that_were_waited_for(
    cli: Any, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = et.BayesOptimalClassifier._predict_proba_tests

    def slow(self: Any, rows: Any) -> Any:
        time.sleep(0.3)
        return plain(self, rows)

    monkeypatch.setattr(et.BayesOptimalClassifier, "_predict_proba_tests", slow)
    options = ("--target", "gewählt", "--method", "bayes", "--max-depth", "1")
    begun = time.perf_counter()
    found = cli("fit", mixed, *options, "--json").json
    waited = time.perf_counter() - begun
    assert found["spent"]["training errors"] >= 0.3
    assert sum(found["spent"].values()) <= found["seconds"] <= waited
    text = cli("fit", mixed, *options).out.splitlines()[0]
    assert re.search(r"; \d+\.\d\d s \(.*training errors \d+\.\d\d", text)
    asked = cli("query", mixed, "most accurate", "--target", "gewählt", "--json").json
    assert set(asked["spent"]) == {"starting", "reading", "searching", "held out"}


def test_compare_tells_the_whole_time_too(cli: Any, mixed: Path) -> None:
    options = ("--target", "gewählt", "--methods", "optimal,c45", "--folds", "2")
    found = cli("compare", mixed, *options, "--json").json
    folds = sum(2 * row["seconds"] for row in found["methods"])
    assert folds <= found["spent"]["comparing"] <= found["seconds"]
    assert re.search(r"^in all \d+\.\d\d s", cli("compare", mixed, *options).out, re.MULTILINE)


def test_every_command_has_json_but_those_that_the_page_names() -> None:
    import inspect

    from everytree.cli.app import app

    without = {
        command.callback.__name__
        for command in app.registered_commands
        if command.callback is not None and "as_json" not in inspect.signature(command.callback).parameters
    }
    page = (Path(__file__).parents[2] / "docs/cli.md").read_text(encoding="utf-8")
    named = re.search(r"Every command but (.+?) has `--json`", page)
    assert named is not None
    assert set(re.findall(r"`(\w+)`", named[1])) == without


# --- training errors that cost too much


def noise(n_rows: int, n_tests: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (n_rows, n_tests)), rng.integers(0, 2, n_rows)


@pytest.mark.long
def test_a_count_that_would_take_long_is_given_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, y = noise(600, 50)
    posterior = et.TreeSpace(rows, y, max_depth=4, min_leaf=5).posterior()
    begun = time.perf_counter()
    expected = int((posterior.predict(rows) != y).sum())
    long = time.perf_counter() - begun
    monkeypatch.setattr(watch, "PATIENCE", 0.0)
    monkeypatch.setattr(training, "QUICK", long / 10)

    def count() -> float:
        return float((posterior.predict(rows) != y).sum())

    begun = time.perf_counter()
    found = training.count_errors(count, None, 0.0)
    assert found.errors is None
    assert re.fullmatch(r"it would take about \d+ s; --training-errors counts them", found.why)
    assert time.perf_counter() - begun < long
    assert training.count_errors(count, True, 0.0) == (expected, "")
    assert training.count_errors(count, None, 1000.0) == (expected, "")
    assert training.count_errors(count, False, 0.0) == (None, "not asked for")


def test_progress_of_predictions_runs_once_from_start_to_end() -> None:
    rows, y = noise(600, 50)
    told: list[tuple[str, int, int]] = []
    space = et.TreeSpace(rows, y, max_depth=4, min_leaf=5)
    posterior = space.posterior()
    space.limits = et.common.limits.Limits(
        progress=lambda stage, done, total, _: told.append((stage, done, total))
    )
    posterior.predict_proba(rows)
    assert {(stage, total) for stage, _, total in told} == {("predicting", len(np.unique(rows, axis=0)))}
    done = [each for _, each, _ in told]
    assert done == sorted(done)
    assert done[-1] > 0.5 * 600


@pytest.mark.parametrize("reason", ["time", "memory", "stopped"])
def test_a_limit_met_while_counting_does_not_lose_the_model(
    reason: str, cli: Any, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_time(self: Any, rows: Any) -> Any:
        raise LimitReached("memory limit reached", reason)

    monkeypatch.setattr(et.BayesOptimalClassifier, "_predict_proba_tests", out_of_time)
    out = mixed.with_name("m.json")
    options = ("--target", "gewählt", "--method", "bayes", "--max-depth", "1", "--out", out)
    done = cli("fit", mixed, *options)
    assert done.code == 0, done.err
    assert "training errors   not counted: " in done.out
    assert json.loads(out.read_text())["claims"]["depth"] == 1
    found = cli("fit", mixed, *options, "--json").json
    assert (found["training_errors"], found["training_accuracy"]) == (None, None)
    assert any(text.startswith("training errors are not counted: ") for text in found["notes"])


def test_training_errors_are_not_counted_where_nobody_wants_them(
    cli: Any, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(et.BayesOptimalClassifier, "predict", None)
    done = cli(
        "fit", mixed, "--target", "gewählt", "--method", "bayes", "--max-depth", "1", "--no-training-errors"
    )
    assert (done.code, "training errors   not counted: not asked for" in done.out) == (0, True), done.err


# --- bars


class Recorder:
    """In place of a bar: what it was told."""

    told: list[tuple[str, int, int | None]] = []  # noqa: RUF012

    def __call__(self, stage: str, done: int, total: int | None, seconds: float) -> None:
        self.told.append((stage, done, total))

    def close(self) -> None: ...


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int | None]]:
    monkeypatch.setattr(Recorder, "told", [])
    monkeypatch.setattr(watch, "_Bar", Recorder)
    return Recorder.told


def test_a_bar_does_not_wait_for_the_first_item(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "PATIENCE", 0.05)

    def items() -> Any:
        time.sleep(0.5)
        yield "a"
        yield "b"

    assert list(watch.counted(items(), 2, "comparing")) == ["a", "b"]
    assert told == [("comparing", 0, 2), ("comparing", 1, 2), ("comparing", 2, 2)]


def test_predict_tells_how_many_rows_are_done(told: Any, cli: Any, mixed: Path) -> None:
    out = mixed.with_name("m.json")
    cli("fit", mixed, "--target", "gewählt", "--max-depth", "1", "--out", out)
    told.clear()
    cli("predict", out, mixed, "--rows", "100", "--out", mixed.with_name("a.csv"))
    rows = [stage for stage, _, total in told if total is None]
    assert rows == [f"predicting ({n} rows done)" for n in (100, 200, 240)]


@pytest.mark.parametrize(("patience", "shown"), [(0.02, [("reading", 0, None)]), (30.0, [])])
def test_a_wait_that_tells_nothing_has_a_bar_after_a_while(
    patience: float, shown: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []

    class Recorder:
        def __call__(self, stage: str, done: int, total: int | None, seconds: float) -> None:
            told.append((stage, done, total))

        def close(self) -> None:
            told.append("closed")

    monkeypatch.setattr(watch, "_Bar", Recorder)
    monkeypatch.setattr(watch, "PATIENCE", patience)
    with watch.waiting("reading"):
        time.sleep(0.3)
    assert told == [*shown, "closed"]


def test_a_spreadsheet_is_told_what_to_do(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"PK")
    done = cli("fit", path)
    assert (done.code, "save the sheet with your table as CSV" in done.err) == (2, True), done.err
