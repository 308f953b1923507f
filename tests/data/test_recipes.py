"""Recipes: cells as people write them, recognised by column, kept by models, and read the same way by the checker."""

from __future__ import annotations

import datetime
import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.data.column import Column
from everytree.data.frames import read_frame
from everytree.data.recipes.dates import hours_of, moment_of, order_of
from everytree.data.recipes.forms import NumberForm, form_of
from everytree.data.recipes.json_form import recipes_from_json, recipes_to_json
from everytree.data.recipes.recipe import (
    CutRecipe,
    DateRecipe,
    NumberRecipe,
    SameRecipe,
    TimeRecipe,
    TruthRecipe,
    WordsRecipe,
    apply_recipes,
)
from everytree.data.recipes.recognise import recognised
from everytree.data.recipes.target import guessed_target
from everytree.errors import DataError
from everytree.verify import verify_model
from everytree.verify.recipes import _clock, _moment, _number_reader


def texts(name: str, cells: list[Any]) -> Column:
    return Column(name, "nominal", np.array(cells, dtype=object))


def only(cells: list[Any], **more: Any) -> Any:
    return recognised({"x": texts("x", cells)}, **more)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["$1,014.39", "$7", "-$3.50", "($2.25)"], [1014.39, 7, -3.5, -2.25]),
        (["12.5%", "7 %", "0%"], [12.5, 7, 0]),
        (["1.234,56", "7,5", "12"], [1234.56, 7.5, 12]),
        (["1 234", "12 345 678", "5"], [1234, 12345678, 5]),
        (["1\u202f234,5", "2,25"], [1234.5, 2.25]),
        (["1'000.5", "20"], [1000.5, 20]),
        (["€ 5", "€ 1.000", "€ 2,50"], [5, 1000, 2.5]),
        (["1,234", "12,345"], [1234, 12345]),
        (["US$3", "$4"], [3, 4]),
        (["$(28,000)", "$1,200", "$(3.5)"], [-28000, 1200, -3.5]),
        (["(1.014,39) EUR", "7,50 EUR", "1.000 EUR"], [-1014.39, 7.5, 1000]),
        (["1.014,39-", "7,50", "3,00- €", "12 €"], [-1014.39, 7.5, -3, 12]),
        (["(6.3) km", "2.5 km", "12 km"], [-6.3, 2.5, 12]),
    ],
)
def test_numbers_as_people_write_them(cells: list[str], numbers: list[float]) -> None:
    found = only(cells)
    assert found.columns["x"].kind == "numeric"
    assert found.columns["x"].values.tolist() == numbers


@pytest.mark.parametrize(
    "cells",
    [
        ["1,23", "1,2,3"],
        ["1.2.3", "4"],
        ["a1", "a2"],
        ["$", "5"],
        ["12 apples", "3 pears"],
        ["1e999", "x"],
        ["--5", "+"],
    ],
)
def test_what_is_no_number_stays_text(cells: list[str]) -> None:
    assert only(cells).columns["x"].kind == "nominal"


def test_a_few_other_texts_among_many_numbers_are_missing_and_told() -> None:
    cells = [f"${k}.00" for k in range(1, 100)] + ["unknown"]
    found = only(cells)
    assert found.columns["x"].n_missing == 1
    assert found.treated[0].note == "'unknown' is missing (1 rows)"
    several = [f"${k}.00" for k in range(1, 100)] + [f"word {k}" for k in range(9)] * 3
    assert only(several).columns == {}  # too many: texts of their own


@pytest.mark.parametrize(
    ("cells", "day"),
    [
        (["2024-03-05", "2023-12-31"], (2024, 3, 5)),
        (["05/03/2024", "25/12/2023"], (2024, 3, 5)),
        (["03/05/2024", "12/25/2023"], (2024, 3, 5)),
        (["5 Mar 2024", "31 December 2023"], (2024, 3, 5)),
        (["March 5, 2024", "Dec 31, 2023"], (2024, 3, 5)),
        (["5.3.24", "31.12.23"], (2024, 3, 5)),
        (["Tue, 5 Mar 2024 10:00:00 GMT", "Sun, 31 Dec 2023 11:00:00 GMT"], (2024, 3, 5)),
        (["2024-03-05T14:30:00Z", "2023-12-31T01:00:00Z"], (2024, 3, 5)),
    ],
)
def test_dates_in_several_forms(cells: list[str], day: tuple[int, int, int]) -> None:
    found = only(cells)
    (recipe,) = found.recipes
    assert isinstance(recipe, DateRecipe)
    first = {name: column.values[0] for name, column in found.columns.items()}
    assert (first["x year"], first["x month"]) == day[:2]
    assert first["x age in days"] == 0
    assert found.columns["x age in days"].values[1] > 60
    assert first["x weekday"] == datetime.date(*day).isoweekday() or "x weekday" not in first


def test_the_order_of_day_and_month_is_found_or_said() -> None:
    assert order_of(["13/01/2024"]) == ("dmy", False)
    assert order_of(["01/13/2024"]) == ("mdy", False)
    unsure = only(["01/02/2024", "03/04/2024"])
    assert "Then read it as dmy" in unsure.treated[0].note
    told = only(["01/02/2024", "03/04/2024"], asked={"x": "dmy"})
    assert told.columns["x month"].values.tolist() == [2, 4]
    assert moment_of("31/04/2024", "dmy") is None


def test_ids_texts_and_constants_are_left_out_with_a_reason() -> None:
    n = 60
    columns = {
        "id": Column("id", "numeric", np.arange(n, dtype=float)),
        "key": texts("key", [f"K-{k * 17}" for k in range(n)]),
        "mail": texts("mail", [f"p{k}@mail.example" for k in range(n)]),
        "note": texts("note", [f"called about bill number {k} today" for k in range(n)]),
        "same": texts("same", ["Utopia"] * n),
        "gone": texts("gone", [None] * n),
        "income": Column(
            "income", "numeric", np.random.default_rng(0).permutation(n * 100)[:n].astype(float)
        ),
        "city": texts("city", ["Bonn", "Ulm", "Jena"] * (n // 3)),
    }
    found = recognised(columns)
    why = {each.column: each.note for each in found.treated if not each.made}
    assert set(found.columns) == {"income", "city"}
    assert "a number of its own for every row" in why["id"]
    assert "e-mail" in why["mail"]
    assert "free text" in why["note"]
    assert "ids or names" in why["key"]
    assert why["same"] == "always 'Utopia'"
    assert why["gone"] == "no value in any row"
    kept = recognised(columns, {"id": "number", "key": "nominal"})
    assert {"id", "key"} <= set(kept.columns)


def test_yes_and_no_in_several_spellings_are_one_column_of_truth_values() -> None:
    found = only(["Yes", "N", "TRUE", "0", "y", None])
    assert found.columns["x"].values.tolist() == [True, False, True, False, True, None]
    assert only(["Yes", "No", "Yes"]).columns["x"].kind == "nominal"  # two spellings are two texts
    assert only(["Yes", "No", "Maybe"]).columns["x"].kind == "nominal"


def test_very_many_texts_keep_the_frequent_ones() -> None:
    cells = [f"rare {k}" for k in range(300)] + ["Bonn"] * 400 + ["Ulm"] * 300
    found = only(cells)
    assert set(found.columns["x"].labels) == {"Bonn", "Ulm", "(other)"}


def test_all_that_must_be_changed_is_told_at_once() -> None:
    text = "when,paid,price\n" + "".join(f"day {k},{k}.5,{k}.25\n" for k in range(40))
    with pytest.raises(DataError) as refused:
        et.read(_file(text), target="price", columns={"when": "date", "nope": "drop", "paid": "fun"})
    message = str(refused.value)
    assert "4 things must be changed" in message
    for part in ("no column 'nope'", "'when' is to be read as date", "'fun'", "40 different numbers"):
        assert part in message


class _Named(io.StringIO):
    name = "some.csv"


def _file(text: str) -> _Named:
    return _Named(text)


def test_a_target_of_many_numbers_is_cut_or_refused() -> None:
    text = "a,price\n" + "".join(f"{k % 7},${k}.50\n" for k in range(50))
    with pytest.raises(DataError, match="no classes; cut it: target_cut"):
        et.read(_file(text), target="price")
    data = et.read(_file(text), target="price", target_cut=[10, 30])
    _, y = data.split()
    assert sorted(set(y.tolist())) == ["10 to 30", "<= 10", "> 30"]
    assert (y == "<= 10").sum() == 10  # 0.50 to 9.50
    few = "a,grade\n" + "".join(f"{k},{k % 3}\n" for k in range(30))
    assert sorted(set(et.read(_file(few), target="grade").split()[1].tolist())) == [0, 1, 2]


def test_spellings_of_a_target_are_one_class() -> None:
    text = "a,left\n" + "".join(f"{k % 7},{('Yes', 'no', 'Y', 'No', 'yes')[k % 5]}\n" for k in range(30))
    _, y = et.read(_file(text), target="left").split()
    assert len(set(y.tolist())) == 2


def test_the_target_is_guessed_by_name_then_place_or_asked_for() -> None:
    age, ill = Column("age", "numeric", np.arange(50.0)), texts("ill", ["yes", "no"] * 25)
    assert guessed_target({"age": age, "ill": ill}).name == "ill"
    churn = texts("churn", ["yes", "no"] * 25)
    assert guessed_target({"churn": churn, "age": age, "ill": ill}).name == "churn"
    with pytest.raises(DataError, match="it could be 'ill'"):
        guessed_target({"ill": ill, "age": age})


RECIPES = (
    NumberRecipe("amount", NumberForm(",", ".", ("€",))),
    TruthRecipe("paperless", ("y", "yes"), ("n", "no")),
    DateRecipe("signup", "dmy", 738000, ("month", "age in days")),
    TimeRecipe("opened"),
    WordsRecipe("city", ("Bonn", "Ulm")),
    SameRecipe("left", (("no", "No"), ("y", "Yes"))),
    CutRecipe("price", NumberForm(), (10.0, 30.0)),
)


def test_recipes_survive_a_file() -> None:
    assert recipes_from_json(recipes_to_json(RECIPES)) == RECIPES


@pytest.mark.parametrize("place", range(len(RECIPES)))
def test_a_damaged_recipe_is_refused_by_its_field(place: int) -> None:
    plain = recipes_to_json(RECIPES)
    for field in list(plain[place]):
        damaged = [dict(each) for each in plain]
        damaged[place][field] = {"a": [1]} if field != "same" else [1]
        with pytest.raises(DataError, match=r"recipes\[\d\]"):
            recipes_from_json(damaged)
        del damaged[place][field]
        with pytest.raises(DataError, match=r"recipes\[\d\]"):
            recipes_from_json(damaged)


def test_recipes_leave_what_is_read_already() -> None:
    raw = {"amount": texts("amount", ["€ 1.000,50", "7"]), "paperless": texts("paperless", ["Y", "no"])}
    once, _ = apply_recipes(raw, RECIPES)
    twice, unread = apply_recipes(once, RECIPES)
    assert not unread
    assert twice["amount"].values.tolist() == [1000.5, 7.0]
    assert twice["paperless"].values.tolist() == [True, False]


DATES = (
    "2024-03-05", "05/03/2024", "5 Mar 2024", "March 5, 2024", "20240305", "2024-03", "Mar 2024", "5.3.24 14:35",
    "14:35", "2024-03-05T14:35:10Z", "03/05/24 2:35 pm", "Mon, 5 Mar 2024 10:00:00 +0200", "1st Jan 2020",
    "Jan 1st, 2020 3:04 a.m.",
)  # fmt: skip
NUMBERS = (
    "$1,014.39",
    "-1.234,56",
    "12.5%",
    "(1 234)",
    "$(28,000)",
    "(14,39) €",
    "7.5- €",
    "€ -5",
    "1'000.5",
    "1e5",
    ".5",
    "USD 12",
    "12 kr",
    "US$3",
)


def _mutated(draw: random.Random, seeds: tuple[str, ...], letters: str) -> str:
    text = list(draw.choice(seeds))
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        place, what = draw.randrange(len(text) + 1), draw.randrange(3)
        if what == 0:
            text.insert(place, draw.choice(letters))
        elif text:
            text[min(place, len(text) - 1)] = draw.choice(letters) if what == 1 else ""
    return "".join(text)


@pytest.mark.long
def test_the_checker_reads_cells_as_the_reader_does() -> None:
    """Two readers that share no code agree on 15,000 cells, most of them damaged."""
    draw, read = random.Random(5), 0
    for _ in range(15_000):
        cell = _mutated(draw, DATES, "0123456789/-. ,:TZAPMampJanMarchSept3rdth+Mon")
        for order in ("dmy", "mdy", "ymd"):
            mine, other = moment_of(cell, order), _moment(cell.strip(), order)
            assert other == (None if mine is None else (datetime.date.fromordinal(mine.day), mine.hours)), (
                cell
            )
            read += mine is not None
        assert hours_of(cell) == _clock(cell.strip()), cell
        cell = _mutated(draw, NUMBERS, "0123456789.,' -+()$%€eE kr")
        for decimal, thousands in ((".", ","), (",", "."), (".", ""), (",", " "), (".", "'")):
            marks = ("$", "%", "€", "USD", "kr", "US$")
            recipe = {"decimal": decimal, "thousands": thousands, "marks": list(marks)}
            assert NumberForm(decimal, thousands, marks).number(cell) == _number_reader(recipe, "r")(cell), (
                cell
            )
    assert read > 5000


def test_times_of_several_zones_are_told() -> None:
    days = [f"2024-03-{k:02d}T{k:02d}:30:00" for k in range(1, 21)]
    mixed = only([day + zone for day, zone in zip(days, ["Z", "+02:00", "-0500", ""] * 5, strict=True)])
    assert mixed.treated[0].note == "time zones differ, hours are as written"
    assert only([day + "Z" for day in days]).treated[0].note == ""
    assert only([day[:10] for day in days]).treated[0].note == ""


def test_form_of_prefers_what_reads_the_most() -> None:
    assert form_of({"1,234": 1, "1,5": 1})[0] == NumberForm(",")
    assert form_of({"1.234": 1, "1.234.567": 1})[0] == NumberForm(",", ".")


def test_frames_with_dates_can_be_learned_from_and_predicted() -> None:
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    start = datetime.datetime(2024, 1, 1, 8)
    when = [start + datetime.timedelta(days=11 * k, hours=k % 5) for k in range(60)]
    y = ["new" if moment >= datetime.datetime(2025, 1, 1) else "old" for moment in when]
    expected = None
    for X in (
        pd.DataFrame({"t": when}),
        pl.DataFrame({"t": when}),
        np.array(when, dtype="datetime64[s]")[:, None],
    ):
        model = et.OptimalTreeClassifier(max_depth=1, bins="all").fit(X, y)
        assert model.predict(X).tolist() == y
        # Ages of new rows count from the newest row of training, not of themselves.
        assert model.predict(X[:3]).tolist() == ["old"] * 3
        expected = expected or model.column_names()
    assert expected == ["t year", "t month", "t weekday", "t hour", "t age in days"]
    lengths = pd.DataFrame({"d": pd.to_timedelta([1, 2, 3, 4], unit="D")})
    assert read_frame(lengths).columns[0].values.tolist() == [1, 2, 3, 4]


def test_a_frame_of_texts_is_read_as_a_file_is_and_new_rows_too(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "paid": [f"${k:,}.50" for k in range(0, 6000, 100)],
            "joined": [f"{1 + k % 28:02d}/{1 + k % 12:02d}/20{10 + k % 13}" for k in range(60)],
            "left": ["yes" if k > 30 else "no" for k in range(60)],
        }
    )
    data = et.read(frame, target="left")
    assert data["paid"].kind == "numeric"
    model = et.OptimalTreeClassifier(max_depth=1).fit(*data.split())
    model.save(tmp_path / "model.json", target="left")
    loaded = et.load_model(tmp_path / "model.json")
    assert loaded.recipes_ == model.recipes_
    new = frame[["paid", "joined"]].iloc[40:]
    assert loaded.predict(new).tolist() == model.predict(new).tolist() == ["yes"] * 20
    assert loaded.predict(et.read(new, like=loaded)).tolist() == ["yes"] * 20
    with pytest.raises(DataError, match="the model needs 1 more column: 'joined'"):
        et.read(frame[["paid"]], like=loaded)
    assert et.read(frame, like=loaded, target="left").target == "left"
    older = et.read(frame[~frame["joined"].str.endswith("2022")]).select(*loaded.column_names())
    with pytest.raises(DataError, match="read otherwise than in training"):
        loaded.predict(older)


def test_the_checker_reads_a_file_by_the_recipes_of_a_model(tmp_path: Path) -> None:
    truths = ("Yes", "N", "TRUE", "no")
    rows = [
        f'{k % 28 + 1}/{k % 12 + 1}/20{10 + k % 13},"$1,{k:03d}.25",{truths[k % 4]},{"a" if k % 5 else "b"}'
        for k in range(80)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["joined,paid,paperless,class", *rows]) + "\n")
    data = et.read(path, target="class")
    for classifier in (et.OptimalTreeClassifier(max_depth=2), et.C45TreeClassifier()):
        model = classifier.fit(*data.split())
        model.save(tmp_path / "model.json", target="class")
        report = verify_model(tmp_path / "model.json", path)
        assert report.ok
        assert report["newest joined"].verdict == "true"
    text = (tmp_path / "model.json").read_text()
    for damaged in (
        text.replace('"newest": "20', '"newest": "21', 1),
        text.replace('"order": "dmy"', '"order": "mdy"'),
    ):
        assert damaged != text
        (tmp_path / "damaged.json").write_text(damaged)
        assert not verify_model(tmp_path / "damaged.json", path).ok


def test_a_file_that_is_not_utf8_is_read_and_said(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("größe,class\n1,ä\n2,b\n1,ä\n".encode("cp1252"))
    data = et.read(path, target="class")
    assert data.names == ("größe", "class")
    assert "read as cp1252" in data.notes[-1]
    path.write_bytes("größe,class\n1,ä\n2,b\n".encode("utf-16"))
    assert et.read(path, as_is=True).names == ("größe", "class")
