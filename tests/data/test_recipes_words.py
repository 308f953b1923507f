"""Cells that say nothing, numbers with units, yes and no and months in other languages, rows without a label."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.data.column import Column
from everytree.data.recipes.dates import moment_of
from everytree.data.recipes.forms import form_of
from everytree.data.recipes.json_form import recipes_from_json, recipes_to_json
from everytree.data.recipes.recognise import recognised
from everytree.data.recipes.target import guessed_target
from everytree.errors import DataError
from everytree.report.given import examples_of
from everytree.verify import verify_model
from everytree.verify.recipes import _moment, _number_reader


def only(cells: list[Any], name: str = "x") -> Any:
    return recognised({name: Column(name, "nominal", np.array(cells, dtype=object))})


PRICES = [f"{k},50 €" for k in range(1, 13)]
DAYS = [f"{k}.12.2024" for k in range(1, 31)]
NOTHING = ["-", "n/a", "k.A.", "NULL", "unknown", "—", "#N/A"]


@pytest.mark.parametrize("word", NOTHING)
@pytest.mark.parametrize(
    "cells", [PRICES, DAYS, ["1", "2", "3"], ["5,0 %", "10,0 %", "2,5 %"], ["ja", "nein", "J"]]
)
def test_words_for_nothing_leave_a_column_what_it_is(cells: list[str], word: str) -> None:
    found, plain = only([*cells, word, *cells]), only([*cells, *cells])
    assert [type(each) for each in found.recipes] == [type(each) for each in plain.recipes] or cells[0] == "1"
    assert {column.kind for column in found.columns.values()} <= {"numeric", "boolean"}
    assert all(column.missing.tolist().index(True) == len(cells) for column in found.columns.values())
    assert found.treated[0].note.endswith(f"{word!r} is missing (1 rows)")
    assert found.recipes[0].absent == (word,)


def test_one_word_may_have_most_rows_and_several_may_not() -> None:
    never = only([*DAYS, *["never"] * 300])
    assert never.treated[0].note == "'never' is missing (300 rows)"
    assert set(never.columns) == {"x weekday", "x age in days"}
    assert only([*DAYS * 2, *["never", "soon"] * 10]).columns["x"].kind == "nominal"
    assert only([*DAYS * 3, *["never", "soon"] * 3]).recipes[0].AS == "date"  # 6 of 96 rows
    assert only(["1", "2", "3", "never"]).columns["x"].kind == "nominal"  # three numbers may be codes
    assert only(["1", "2", "-", "-", "-"]).columns["x"].kind == "nominal"  # mostly nothing, few values
    assert only(["+", "-"] * 20).columns["x"].kind == "nominal"


UNITS = {
    "km": (["6.3 km", "12 km", "0.5km"], [6.3, 12, 0.5]),
    "m²": (["137,9 m²", "1.080,5 m²"], [137.9, 1080.5]),
    "kWh/a": (["120 kWh/a", "98 kWh/a"], [120, 98]),
    "°C": (["-3 °C", "21.5 °C"], [-3, 21.5]),
    "singular": (["1 day", "2 days", "30 days", "5 days", "9 days"], [1, 2, 30, 5, 9]),
    "German plural": (["1 Tag", "2 Tage", "30 Tage", "7 Tage", "8 Tage"], [1, 2, 30, 7, 8]),
    "without": (["6.3 km", "12 km", "7 km", "9 km", "5"], [6.3, 12, 7, 9, 5]),
}


@pytest.mark.parametrize("case", UNITS)
def test_numbers_with_one_unit_are_numbers(case: str) -> None:
    cells, numbers = UNITS[case]
    found = only(cells)
    assert found.columns["x"].values.tolist() == numbers
    assert found.treated[0].read_as.startswith("numbers (")
    assert recipes_from_json(recipes_to_json(found.recipes)) == tuple(found.recipes)
    checker = _number_reader(recipes_to_json(found.recipes)[0], "recipes[0]")
    assert [checker(cell) for cell in cells] == numbers


@pytest.mark.parametrize(
    "cells",
    [["5 m", "7 km"], ["5 mm", "7 m"], ["28 Main Street", "4 Elm Street"], ["5a", "6b", "7a"], ["A1", "A2"]],
)
def test_several_units_are_texts(cells: list[str]) -> None:
    assert only(cells).columns["x"].kind == "nominal"


def test_a_unit_in_a_file_is_letters() -> None:
    recipe = {"column": "x", "as": "number", "decimal": ".", "thousands": "", "marks": ["m2"]}
    with pytest.raises(DataError, match=r"recipes\[0\].marks has 'm2'; expected a unit"):
        recipes_from_json([recipe])
    with pytest.raises(DataError, match=r"recipes\[0\].absent is 3; expected a list of texts"):
        recipes_from_json([recipe | {"marks": ["km"], "absent": 3}])


def test_ids_with_a_unit_are_ids() -> None:
    cells = [f"{7 * k} DE" for k in range(40)]
    assert only(cells, "order id").treated[0].note == "ids: 40 different in 40 rows"
    assert only(cells, "weight").columns["weight"].kind == "numeric"
    assert form_of({"3 x": 1})[0].marks == ("x",)


@pytest.mark.parametrize(
    "cells", [["ja", "Nein", "J", "N"], ["oui", "Non", "non"], ["Sí", "no", "si"], ["wahr", "falsch", "1"]]
)
def test_yes_and_no_in_other_languages(cells: list[str]) -> None:
    found = only(cells * 2)
    assert found.columns["x"].kind == "boolean"
    assert found.columns["x"].values.tolist() == [cell.lower()[0] in "jos1w" for cell in cells] * 2


@pytest.mark.parametrize(
    "cell",
    [
        "5. März 2024",
        "5 Mär 2024",
        "05-MRZ-24",
        "5. Mai 2024 14:30",
        "3. Dezember 2023",
        "1 Okt 2020",
        "Jänner 2024",
    ],
)
def test_german_months_are_read_alike_by_the_checker(cell: str) -> None:
    moment, checked = moment_of(cell, "dmy"), _moment(cell, "dmy")
    assert moment is not None
    assert checked is not None
    assert (moment.day, moment.hours) == (checked[0].toordinal(), checked[1])


def export(labels: list[str], cells: list[str]) -> io.StringIO:
    rows = "".join(f"{cell};{label}\n" for cell, label in zip(cells, labels, strict=True))
    file = io.StringIO(f"sep=;\nExport\nseit;klasse\n{rows}Summe;\n")
    file.name = "export.csv"
    return file


def test_rows_without_a_label_are_left_out_by_read_fit_and_the_checker(tmp_path: Path) -> None:
    cells = [f"{k % 28 + 1}.{k % 12 + 1}.{2000 + k % 20}" for k in range(60)] + ["1.1.2030", "2.2.2031", "-"]
    labels = [("gut" if k % 12 < 6 else "schlecht") for k in range(60)] + ["", "n/a", "gut"]
    path = tmp_path / "export.csv"
    path.write_text(export(labels, cells).getvalue(), encoding="utf-8")
    data = et.read(path, target="klasse")
    assert data.shape[0] == 61
    assert [note for note in data.notes if "rows have no" in note] == [
        "1 of 63 rows have no klasse and are left out", "1 of 62 rows have no klasse and are left out"
    ]  # fmt: skip
    model = et.OptimalTreeClassifier(max_depth=1, bins="all").fit(*data.split())
    assert model.classes_.tolist() == ["gut", "schlecht"]
    model.save(tmp_path / "model.json", target="klasse")
    report = verify_model(tmp_path / "model.json", path)
    assert report.ok
    assert report["newest seit"].found == "2031-02-02"  # of the rows whose cell of the target is not empty
    again = et.read(path, like=et.load_model(tmp_path / "model.json"))
    assert not [note for note in again.notes if "cannot be read" in note]  # "-" is nothing new
    assert examples_of(model, path).frame.n_rows == 61  # of which the page is made
    path.write_text(export(labels, [*cells[:-1], "bald"]).getvalue(), encoding="utf-8")
    told = et.read(path, like=et.load_model(tmp_path / "model.json")).notes
    assert any("1 cell of seit cannot be read as in training, such as 'bald'" in note for note in told)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["+", "-"], ["+", "-"]),
        (["Y", "N", "-"], ["N", "Y"]),
        (["a", "b", "n/a"], ["a", "b"]),
        (["a", "A", "b", "-"], ["-", "A", "a", "b"]),  # which spellings are one is not plain: all stay
        (["soft", "none", "hard"], ["hard", "none", "soft"]),
        (["yes", "n/a"], ["n/a", "yes"]),
    ],
)
def test_words_for_no_class(labels: list[str], classes: list[str]) -> None:
    data = et.read(
        export(labels * 10, [f"{k}" for k in range(10 * len(labels))]),
        target="klasse",
        columns={"seit": "number"},
    )
    assert sorted(set(data.split()[1])) == classes


def test_remarks_of_the_reader_give_way_to_what_was_found() -> None:
    rows = "".join(f"{k};{'ab'[k % 2]}\n" for k in range(40))
    file = io.StringIO(f"x;y\n{rows}-;a\n")
    file.name = "x.csv"
    assert et.read(file, target="y").notes == ()
    file.seek(0)
    assert "'x' is read as nominal because of '-'" in et.read(file, target="y", as_is=True).notes[0]


def test_an_amount_in_the_last_column_is_offered_a_cut() -> None:
    rows = "".join(f"{k};{k % 3};€ {1000 + 7 * k}\n" for k in range(60))
    file = io.StringIO(f"a;rooms;price\n{rows}")
    file.name = "x.csv"
    with pytest.raises(
        DataError,
        match=r"could be 'rooms'. Of the last one, 'price', with 60 different numbers, target='price', target_cut=120",
    ) as told:
        guessed_target(et.read(file, as_is=True).columns)
    assert told.value.code == "no-target"
