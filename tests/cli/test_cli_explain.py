"""``explain`` and ``compare``: rows taken apart, methods side by side."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.cli.methods import known_methods
from everytree.metrics import corrected_t_test, stratified_folds

# --- explain


@pytest.mark.parametrize("method", [name for name in known_methods() if name != "mcmc"])
def test_a_row_of_a_file(method: str, cli: Any, mixed: Path) -> None:
    model = mixed.with_name("model.json")
    assert cli("fit", mixed, "--target", "gewählt", "--method", method, "--out", model).code == 0
    done = cli("explain", model, mixed, "--row", "7", "--top", "3", "--json")
    assert done.code == 0, done.err
    features, y = et.read(mixed, "gewählt").split()
    one = features.take([6])
    loaded = et.load_model(model)
    assert done.json["proba"] == pytest.approx(loaded.predict_proba(one)[0].tolist())
    assert done.json["prediction"] == loaded.predict(one)[0]
    assert done.json["truth"] == y[6]
    assert len(done.json.get("leaves", done.json.get("rules"))) <= 3
    shown = cli("explain", model, mixed, "--row", "7", "--top", "3").out
    assert shown.startswith("row 7: age in years = ")
    assert str(et.explain_row(loaded, one, 3)) in shown


def test_values_by_hand(cli: Any, mixed: Path) -> None:
    model = mixed.with_name("model.json")
    assert cli("fit", mixed, "--target", "gewählt", "--max-depth", "2", "--out", model).code == 0
    rows = list(csv.reader(mixed.read_text(encoding="utf-8").splitlines()))
    given = [f"{name}={cell}" for name, cell in zip(rows[0], rows[3], strict=True) if name != "gewählt"]
    options = [text for each in given for text in ("--value", each)]
    by_hand = cli("explain", model, *options, "--json").json
    of_file = cli("explain", model, mixed, "--row", "3", "--json").json
    assert {**by_hand, "row": 3, "truth": of_file["truth"]} == of_file
    partly = cli("explain", model, "--value", "age in years=61")
    assert partly.code == 0
    assert "couleur préférée = missing" in partly.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give a file and --row N"),
        (("mixed.csv",), "give a file and --row N"),
        (("mixed.csv", "--row", "2", "--value", "flag=true"), "give a file and --row N"),
        (("mixed.csv", "--row", "241"), "has 240 rows; expected a number from 1 to 240"),
        (("mixed.csv", "--row", "0"), "--row"),
        (("--value", "flag"), "expected NAME=VALUE"),
        (("--value", "colour=red"), "there is no column of the model 'colour'"),
        (("--value", "age in years=old"), "'old' in numeric column 'age in years'"),
    ],
)
def test_mistakes_of_explain(
    options: tuple[str, ...], message: str, cli: Any, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mixed.parent)
    assert cli("fit", mixed, "--target", "gewählt", "--max-depth", "1", "--out", "model.json").code == 0
    done = cli("explain", "model.json", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


# --- compare


def test_compare_is_a_cross_validation(cli: Any, mixed: Path) -> None:
    out = mixed.with_name("folds.csv")
    options = (
        "--methods",
        "optimal,c45",
        "--folds",
        "4",
        "--repeats",
        "2",
        "--seed",
        "3",
        "--max-depth",
        "2",
    )
    done = cli("compare", mixed, "--target", "gewählt", *options, "--out", out, "--json")
    assert done.code == 0, done.err
    features, y = et.read(mixed, "gewählt").split()
    right: dict[str, list[float]] = {"optimal": [], "c45": []}
    folds = stratified_folds(y, 4, 2, 3)
    for fold in folds:
        models = {"optimal": et.OptimalTreeClassifier(2, missing="category"), "c45": et.C45TreeClassifier()}
        for name, model in models.items():
            model.fit(features.take(fold.train), y[fold.train])
            right[name].append(float((model.predict(features.take(fold.test)) == y[fold.test]).mean()))
    first, second = done.json["methods"]
    assert (first["method"], first["against_first"]) == ("optimal", {})
    assert first["accuracy"] == pytest.approx(np.mean(right["optimal"]))
    assert second["accuracy"] == pytest.approx(np.mean(right["c45"]))
    test = corrected_t_test(np.subtract(right["c45"], right["optimal"]), 180, 60)
    assert second["against_first"]["accuracy"]["p"] == pytest.approx(test.p)
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["optimal"] * 8 + ["c45"] * 8
    assert [float(row["accuracy"]) for row in rows[8:]] == pytest.approx(right["c45"])


def test_compare_for_people_and_in_parallel(cli: Any, mixed: Path) -> None:
    options = ("--target", "gewählt", "--methods", "bayes,path", "--folds", "3", "--max-depth", "2")
    done = cli("compare", mixed, *options)
    assert done.code == 0, done.err
    assert "mixed.csv: 240 rows, 3 folds" in done.out
    assert "than bayes by a corrected paired t-test" in done.out
    one, two = (cli("compare", mixed, *options, "--json", "--jobs", jobs).json for jobs in ("1", "2"))
    for result in (one, two):
        for each in ("seconds", "spent"):
            result.pop(each)
        for row in result["methods"]:
            row.pop("seconds")
    assert one == two


def test_a_method_that_fails_is_told_and_the_others_go_on(cli: Any, mixed: Path) -> None:
    options = ("--methods", "path,optimal", "--folds", "3", "--bins", "boosted", "--json")
    done = cli("compare", mixed, "--target", "gewählt", *options)
    assert done.code == 0, done.err
    assert [row["failed"] for row in done.json["methods"]] == [3, 0]
    assert "path failed in 3 folds: --bins boosted" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--methods", "optimal,magic"), "there is no such method"),
        (("--methods", "c45,c45"), "expected different methods"),
        (("--methods", ","), "expected different methods"),
        (("--folds", "1"), "--folds"),
        (("--folds", "500"), "k=500 folds"),
        (
            ("--methods", "c45,path", "--max-depth", "3"),
            "the methods c45, path have no such parameter; optimal",
        ),
        (("--methods", "c45,path", "--set", "nothing=3"), "nothing"),
        (("--methods", "c45", "--max-depth", "3"), "the method c45 has no such parameter"),
    ],
)
def test_mistakes_of_compare(options: tuple[str, ...], message: str, cli: Any, mixed: Path) -> None:
    done = cli("compare", mixed, "--target", "gewählt", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_compare_ends_in_time_and_says_how_far_it_came(
    cli: Any, mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = et.C45TreeClassifier.fit

    def slow(self: Any, *given: Any) -> Any:
        time.sleep(0.2)
        return plain(self, *given)

    monkeypatch.setattr(et.C45TreeClassifier, "fit", slow)
    options = ("--target", "gewählt", "--methods", "c45,optimal")
    done = cli("compare", mixed, *options, "--within", "0.5")
    assert "240 rows, 2 of 5 folds, as many as 0.5 s allow (--folds 5 judges all)" in done.out
    found = cli("compare", mixed, *options, "--within", "0.5", "--json").json
    assert (found["folds"], found["judged"]) == (5, 2)
    assert cli("compare", mixed, *options, "--folds", "3", "--json").json["judged"] == 3


def test_standard_errors_are_those_of_the_held_out_rows(cli: Any, mixed: Path) -> None:
    options = ("--target", "gewählt", "--methods", "optimal", "--folds", "4")
    row = cli("compare", mixed, *options, "--json").json["methods"][0]
    share = row["accuracy"]
    assert row["accuracy_error"] == pytest.approx(np.sqrt(share * (1 - share) / 240), rel=0.05)
    again = cli("compare", mixed, *options, "--repeats", "2", "--json").json["methods"][0]
    assert again["accuracy_error"] == pytest.approx(
        row["accuracy_error"], rel=0.1
    )  # the same rows, seen twice
    shown = cli("compare", mixed, *options).out
    assert f"{share:.3f} ±{row['accuracy_error']:.3f}".replace("±0.", "±.") in shown
    table = [
        line for line in shown.splitlines() if line.startswith(("method", "optimal", "always", "logistic"))
    ]
    assert len(table) == 4
    assert max(map(len, table)) <= 62 + max(len(line.split("  ")[0]) for line in table)
