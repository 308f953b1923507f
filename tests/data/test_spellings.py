"""Texts that differ in blanks or in case alone: joined if one word, told and kept if codes."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import everytree as et
from everytree.data.recipes.spellings import is_one_word, spellings

ROWS = [
    ("EAST", "AA", "Gone"),
    ("East ", "Aa", "gone"),
    (" east", "aa", "Gone"),
    ("East", "AA", "Gone"),
    ("West", "AA", "stays"),
] * 12
NAMES = ["region", "gene", "y"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "regions.csv"
    path.write_text("\n".join([",".join(NAMES), *(",".join(row) for row in ROWS)]))
    return path


def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=NAMES)


@pytest.mark.parametrize(
    ("texts", "one"),
    [
        (["EAST", "East", "east"], True),
        (["new york", "New York", "NEW YORK"], True),
        (["AA", "Aa"], False),  # genotypes
        (["m", "M"], False),  # units
        (["vitamin k", "vitamin K"], False),
        (["eAST", "East"], False),
    ],
)
def test_what_is_one_word(texts: list[str], one: bool) -> None:
    assert is_one_word(texts) is one


def test_the_spelling_of_most_rows_stands_for_all() -> None:
    assert spellings({"EAST": 1, "East": 4, "east": 2}).same == {"east": "East"}


def test_files_and_frames_are_joined_alike(file: Path) -> None:
    for data in (et.read(file, target="y"), et.read(frame(), target="y")):
        assert set(data["region"].labels) == {"East", "West"}
        assert set(data["gene"].labels) == {"AA", "Aa", "aa"}
        assert set(data["y"].labels) == {"Gone", "stays"}
        notes = {each.column: each.note for each in data.treated}
        assert "are one" in notes["region"]
        assert "stay apart" in notes["gene"]


def test_codes_that_are_named_stay_as_they_are(file: Path) -> None:
    data = et.read(file, target="y", columns={"region": "nominal"})
    assert set(data["region"].labels) == {"EAST", "East", "east", "West"}


def test_new_rows_are_joined_as_those_of_training(file: Path, tmp_path: Path) -> None:
    data = et.read(file, target="y")
    X, y = data.split("y")
    model = et.OptimalTreeClassifier(max_depth=1).fit(X, y)
    model.save(tmp_path / "model.json")
    new = pd.DataFrame({"region": ["eAsT ", "WEST", "west"], "gene": ["AA", "AA", "AA"]})
    for each in (model, et.load_model(tmp_path / "model.json")):
        assert each.predict(new).tolist() == ["Gone", "stays", "stays"]


def test_blanks_around_texts_of_a_frame_do_not_count() -> None:
    X = pd.DataFrame({"size": ["big ", "big", " small", "small"] * 5})
    model = et.OptimalTreeClassifier(max_depth=1).fit(X, ["a", "a", "b", "b"] * 5)
    assert model.known_values() == {"size": ["big", "small"]}
    assert model.predict(pd.DataFrame({"size": ["  big", "small  "]})).tolist() == ["a", "b"]


def test_declared_categories_keep_their_blanks() -> None:
    X = pd.DataFrame({"size": pd.Categorical(["a", "a "] * 5)})
    assert et.OptimalTreeClassifier(max_depth=1).fit(X, [0, 1] * 5).known_values() == {"size": ["a", "a "]}


def test_a_bare_frame_is_warned_of_and_not_joined() -> None:
    X = frame()[["region"]]
    with pytest.warns(UserWarning, match="are one"):
        model = et.OptimalTreeClassifier(max_depth=1).fit(X, np.arange(len(X)) % 2)
    assert model.known_values() == {"region": ["EAST", "East", "West", "east"]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        et.OptimalTreeClassifier(max_depth=1).fit(frame()[["gene"]], np.arange(len(X)) % 2)


def test_the_checker_joins_them_by_itself(file: Path, tmp_path: Path) -> None:
    X, y = et.read(file, target="y").split("y")
    et.OptimalTreeClassifier(max_depth=2).fit(X, y).save(tmp_path / "model.json", target="y")
    report = et.verify_model(tmp_path / "model.json", file)
    assert report.ok
    assert report.proved
