"""A file like a real export, from the first command to predictions, pages and the checker."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from messy import write_messy

ROWS = 1500


@pytest.fixture(scope="module")
def messy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_messy(tmp_path_factory.mktemp("messy") / "customers.csv", ROWS)


def test_one_command_reads_it_all_and_says_what_it_did(messy: Path, cli: Any, tmp_path: Path) -> None:
    done = cli("fit", messy, "--method", "optimal", "--max-depth", "2", "--out", tmp_path / "m.json")
    assert done.code == 0, done.err
    assert "the column to predict is 'churned' (by its name); --target names another" in done.err
    for line in (
        "signup_date      date (day/month/year)    → year, month, weekday, age in days",
        "email            left out                 e-mail addresses",
        "country          left out                 always 'Utopia'",
        "total_charges    money ($",
        "discount         per cent (",
        "as they are: first_name, contract",
    ):
        assert line in done.out, line
    assert "On held-out rows" in done.out
    assert "logistic regression" in done.out
    assert "always No" in done.out
    assert done.out.index("On held-out rows") < done.out.index("\ntraining errors   ")


def test_a_poor_model_is_called_poor_in_words(messy: Path, cli: Any) -> None:
    done = cli("fit", messy, "--method", "optimal", "--max-depth", "1", "--json")
    told = done.json["held_out"]
    assert told["words"].startswith(("No better than always No", "Barely better than always No"))
    names = [each["name"] for each in told["figures"]]
    assert names == ["this model", "always No", "logistic regression"]
    always = told["figures"][1]
    assert always["auc"] == 0.5
    assert 0.85 < always["accuracy"] < 0.92
    assert told["figures"][2]["auc"] > 0.65  # the file can be learned from
    assert {each["column"] for each in done.json["treated"] if not each["made"]} == {
        "customer_id", "last_name", "email", "country", "note",
    }  # fmt: skip


@pytest.mark.long
def test_a_class_that_matters_has_its_own_figures(messy: Path, cli: Any) -> None:
    done = cli(
        "fit",
        messy,
        "--method",
        "every",
        "--time-limit",
        "1",
        "--positive",
        "Yes",
        "--costs",
        "8:1",
        "--json",
    )
    assert done.code == 0, done.err
    told = done.json["held_out"]
    assert told["how"] == "exact leave-one-out"
    assert told["rows"] == ROWS
    positive = told["positive"]
    at = positive["costs"]["threshold"]
    assert at["threshold"] == pytest.approx(1 / 9)
    assert at["hits"] + at["misses"] + at["alarms"] + at["rest"] == ROWS
    assert at["cost"] == 8 * at["misses"] + at["alarms"]
    assert positive["costs"]["least"]["cost"] <= min(
        at["cost"], positive["costs"]["never"], positive["costs"]["always"]
    )
    assert positive["recall_90"]["recall"] >= 0.9
    assert told["figures"][0]["auc"] > 0.55  # in one second, on a machine that may be busy
    for options, message in (
        (("--positive", "Maybe"), "--positive Maybe; expected one of the classes No, Yes"),
        (("--costs", "5:1"), "name it with --positive"),
        (("--positive", "Yes", "--costs", "5"), "--costs 5; expected MISS:ALARM"),
    ):
        done = cli("fit", messy, "--method", "optimal", "--max-depth", "1", *options)
        assert (done.code, message in done.err) == (2, True), done.err


@pytest.mark.long
@pytest.mark.parametrize("method", ["optimal", "c45", "bayes", "every"])
def test_new_files_are_read_as_the_first_and_what_is_new_is_said(
    method: str, messy: Path, cli: Any, tmp_path: Path
) -> None:
    options = ["--time-limit", "1"] if method == "every" else []
    options += ["--max-depth", "2"] if method in ("optimal", "bayes") else []
    model, out = tmp_path / "m.json", tmp_path / "out.csv"
    assert cli("fit", messy, "--method", method, *options, "--out", model, "--no-held-out").code == 0
    done = cli("predict", model, messy, "--out", out, "--keep", "signup_date")
    assert done.code == 0, done.err
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == ROWS
    assert rows[0]["signup_date"].count("/") == 2
    # A new file in another order, with a new contract, a broken date and no target.
    with open(messy, newline="") as file:
        some = list(csv.DictReader(file))[:20]
    new = tmp_path / "new.csv"
    names = [name for name in reversed(list(some[0])) if name not in ("churned", "note")]
    some[0]["contract"], some[1]["signup_date"] = "Ten years", "yesterday"
    with open(new, "w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(some)
    done = cli("predict", model, new, "--out", out)
    assert done.code == 0, done.err
    assert (
        "1 cell of signup_date cannot be read as in training, such as 'yesterday'; these are missing"
        in done.err
    )
    assert "1 row has a value of contract that was not in training: 'Ten years'" in done.err
    with open(out, newline="") as file:
        again = list(csv.DictReader(file))
    changed = {0, 1}
    # How many rows are asked together may change the last bit of a sum.
    said = [float(row["p_Yes"]) for k, row in enumerate(again) if k not in changed]
    before = [float(row["p_Yes"]) for k, row in enumerate(rows[:20]) if k not in changed]
    assert said == pytest.approx(before, abs=1e-12)
    done = cli("predict", model, messy.with_name("customers.csv"), "--out", out, "--rows", "100")
    with open(out, newline="") as file:
        pieces = [float(row["p_Yes"]) for row in csv.DictReader(file)]
    assert pieces == pytest.approx([float(row["p_Yes"]) for row in rows], abs=1e-12)
    if method != "every":
        done = cli("verify", model, messy)
        assert (done.code in (0, 3), "newest signup_date" in done.out) == (True, True), done.out


@pytest.mark.long
def test_report_takes_model_and_data_and_the_old_form_too(messy: Path, cli: Any, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    assert (
        cli("fit", messy, "--method", "optimal", "--max-depth", "2", "--out", model, "--no-held-out").code
        == 0
    )
    done = cli("report", model, messy, "--out", tmp_path / "a.html", "--time-limit", "2")
    assert done.code == 0, done.err
    old = cli("report", model, "--data", messy, "--out", tmp_path / "b.html", "--time-limit", "2")
    assert old.code == 0, old.err
    assert (tmp_path / "a.html").stat().st_size == pytest.approx(
        (tmp_path / "b.html").stat().st_size, rel=0.01
    )
    twice = cli("report", model, messy, "--data", messy, "--out", tmp_path / "c.html")
    assert twice.code == 2


def test_a_wish_for_a_column_is_one_option(messy: Path, cli: Any) -> None:
    done = cli(
        "fit", messy, "--method", "optimal", "--max-depth", "1", "--json", "--no-held-out",
        "--column", "signup_date=drop", "--column", "customer_id=nominal", "--column", "tenure_months=nominal",
    )  # fmt: skip
    treated = {each["column"]: each for each in done.json["treated"]}
    assert treated["signup_date"]["made"] == []
    assert treated["customer_id"]["made"] == ["customer_id"]
    assert treated["tenure_months"]["read_as"] == "texts"
    bad = cli("fit", messy, "--column", "signup_date")
    assert (bad.code, "expected NAME=WAY" in bad.err) == (2, True)


@pytest.mark.long
def test_front_and_query_stand_beside_held_out_rows(messy: Path, cli: Any) -> None:
    done = cli("front", messy, "--max-depth", "2", "--json")
    assert done.code == 0, done.err
    for point in done.json["front"]:
        assert 0.8 < point["held_out_accuracy"] < 0.95
    done = cli("query", messy, "most accurate where depth <= 2 and avoids signup_date, country")
    assert done.code == 0, done.err
    assert "of held-out rows right, always No" in done.out
    assert "signup_date" not in done.out.partition("wrong")[0].partition("other wishes")[2]


def test_compare_has_the_two_baselines(messy: Path, cli: Any) -> None:
    done = cli("compare", messy, "--methods", "optimal,c45", "--folds", "3", "--max-depth", "2", "--json")
    assert done.code == 0, done.err
    assert [each["name"] for each in done.json["baselines"]] == ["always No", "logistic regression"]
    assert done.json["baselines"][1]["auc"] > 0.65
    assert all(0.3 < row["auc"] < 1 for row in done.json["methods"])


@pytest.mark.long
def test_a_target_of_numbers_is_refused_with_what_to_do(messy: Path, cli: Any, tmp_path: Path) -> None:
    done = cli("fit", messy, "--target", "total_charges")
    assert done.code == 2
    assert "--target-cut" in done.err
    assert "different numbers, which are no classes" in done.err
    model = tmp_path / "m.json"
    done = cli(
        "fit", messy, "--target", "total_charges", "--target-cut", "500", "--max-depth", "2", "--method", "optimal",
        "--out", model,
    )  # fmt: skip
    assert (done.code, "Better than always > 500" in done.out) == (0, True), done.out
    assert cli("verify", model, messy).code == 0
    done = cli("predict", model, messy, "--out", tmp_path / "p.csv")
    assert f"on {ROWS} labels" in done.err
    assert (tmp_path / "p.csv").read_text().startswith("predicted,p_<= 500,p_> 500")


def test_values_by_hand_are_those_of_the_file(messy: Path, cli: Any, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    fit = cli("fit", messy, "--method", "bayes", "--max-depth", "1", "--out", model, "--no-held-out")
    assert fit.code == 0, fit.err
    done = cli("explain", model, "--value", "signup_date=05/01/2020", "--value", "monthly_charges=$50.00")
    assert done.code == 0, done.err
    assert "signup_date year = 2020" in done.out
    assert "monthly_charges = 50" in done.out
    done = cli("explain", model, "--value", "signup_date=soon")
    assert (done.code, "cannot be read as in training" in done.err) == (2, True)
