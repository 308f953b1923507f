"""ARFF against real files, and against liac-arff on what that supports.

Where the two differ on purpose, the format's own reader (Weka) decides, and a test below says so:
liac-arff 2.5 cuts the fraction off a number in an ``integer`` attribute, reads ``1_0`` as 10, keeps the
backslash in an escaped attribute name, takes an empty cell as missing, accepts a domain that repeats a value,
and refuses ranges, dates, comments after a row, blank-separated rows and instance weights. Its writer leaves
the values ``?`` and ``{x}`` without the quotes they need, so they are not among the texts it writes here.
"""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everytree.data.readers import Dataset, read_arff, read_csv
from everytree.errors import DataError

arff = pytest.importorskip("arff", reason="needs liac-arff: pip install liac-arff")

# rows, attributes, numeric attributes, missing cells
FILES = {
    "anneal": (898, 39, 6, 0),
    "contact-lenses": (24, 5, 0, 0),
    "heart.c": (303, 14, 6, 7),
    "iris": (150, 5, 4, 0),
    "labor": (57, 17, 8, 326),
    "vote": (435, 17, 0, 392),
    "vowel": (990, 14, 10, 0),
    "weather.nominal": (14, 5, 0, 0),
    "weather.numeric": (14, 5, 2, 0),
    "zoo": (101, 18, 1, 0),
}


def assert_same(ours: Dataset, theirs: dict[str, Any]) -> None:
    """Names, types, domains and every cell are equal."""
    assert list(ours.names) == [name for name, _ in theirs["attributes"]]
    for position, (name, kind) in enumerate(theirs["attributes"]):
        cells = [row[position] for row in theirs["data"]]
        column = ours[name]
        if column.kind == "numeric":
            assert str(kind).upper() in ("NUMERIC", "REAL", "INTEGER")
            expected = [math.nan if cell is None else float(cell) for cell in cells]
            np.testing.assert_array_equal(column.values, expected)
        else:
            assert column.values.tolist() == cells
            assert column.categories == (tuple(kind) if isinstance(kind, list) else None)


@pytest.mark.parametrize("name", FILES)
def test_real_files_have_the_known_shape(shared_data: Path, name: str) -> None:
    data = read_arff(shared_data / "arff" / f"{name}.arff")
    numeric = sum(column.kind == "numeric" for column in data.columns.values())
    missing = sum(column.n_missing for column in data.columns.values())
    assert (*data.shape, numeric, missing) == FILES[name]


@pytest.mark.parametrize("name", sorted(set(FILES) - {"zoo"}))
def test_real_files_agree_with_liac_arff(shared_data: Path, name: str) -> None:
    path = shared_data / "arff" / f"{name}.arff"
    with path.open(encoding="utf-8") as file:
        assert_same(read_arff(path), arff.load(file))


def test_zoo_whose_range_liac_arff_refuses(shared_data: Path) -> None:
    path = shared_data / "arff" / "zoo.arff"
    with path.open(encoding="utf-8") as file, pytest.raises(arff.BadAttributeType):
        arff.load(file)
    data = read_arff(path, "type")
    table = read_csv(shared_data / "zoo.csv")
    assert data.relation == "zoo"
    assert data["legs"].values.tolist() == table["legs"].values.tolist()
    assert data["hair"].categories == ("false", "true")
    assert data.split()[1].tolist() == table["class"].values.tolist()


def test_anneal_keeps_the_quoted_question_mark_as_a_value(shared_data: Path) -> None:
    data = read_arff(shared_data / "arff" / "anneal.arff")
    assert data["family"].categories == ("?", "GB", "GK", "GS", "TN", "ZA", "ZF", "ZH", "ZM", "ZS")
    assert data["family"].values[0] == "?"
    table = read_csv(shared_data / "anneal-weka.csv", types={"family": "nominal"})
    theirs = ["?" if value == "not_applicable" else value for value in table["family"].values]
    assert data["family"].values.tolist() == theirs


def test_vowel_has_names_with_blanks_and_domains_in_order(shared_data: Path) -> None:
    data = read_arff(shared_data / "arff" / "vowel.arff")
    assert data.names[:4] == ("Train or Test", "Speaker Number", "Sex", "Feature 0")
    assert data["Class"].categories == (
        *("hid", "hId", "hEd", "hAd"),
        *("hYd", "had", "hOd", "hod"),
        *("hUd", "hud", "hed"),
    )
    assert data["Feature 0"].values[0] == -3.639


def test_random_files_written_by_liac_arff_read_alike() -> None:
    rng = np.random.default_rng(3)
    texts = ["a", "b c", "it's", 'say "x"', "50%", "a,b", "back\\slash", "tab\t", "é", "line\nbreak", "x y,z"]
    for trial in range(40):
        domain = [texts[i] for i in rng.permutation(len(texts))[: rng.integers(1, 8)]]
        cells: list[list[Any]] = []
        for _ in range(int(rng.integers(1, 20))):
            row: list[Any] = [
                float(np.round(rng.normal(), 3)),
                str(rng.choice(domain)),
                str(rng.choice(texts)),
            ]
            cells.append([None if rng.random() < 0.2 else cell for cell in row])
        text = arff.dumps(
            {
                "description": f"trial {trial}\nof several",
                "relation": "a relation",
                "attributes": [("x number", "REAL"), ("kind", domain), ("text", "STRING")],
                "data": cells,
            }
        )
        ours = read_arff(io.StringIO(text, newline=""))
        assert ours["kind"].categories == tuple(domain)
        assert ours["kind"].values.tolist() == [row[1] for row in cells]
        assert ours["text"].values.tolist() == [row[2] for row in cells]
        assert_same(ours, arff.loads(text))


def test_sparse_files_read_alike() -> None:
    header = "@relation r\n@attribute a real\n@attribute b {x,y,'z z'}\n@attribute c integer\n@data\n"
    text = header + "{0 1.5, 1 y}\n{1 'z z', 2 7}\n{2 3}\n{0 ?, 1 ?}\n"
    assert_same(read_arff(io.StringIO(text)), arff.loads(text))


def test_where_liac_arff_differs_from_the_format() -> None:
    header = "@relation r\n@attribute {name} {kind}\n@attribute b real\n@data\n"

    def both(kind: str, rows: str, name: str = "a") -> tuple[Dataset, dict[str, Any]]:
        text = header.format(name=name, kind=kind) + rows
        return read_arff(io.StringIO(text)), arff.loads(text)

    ours, theirs = both("integer", "3.7,1\n")
    assert (ours["a"].values[0], theirs["data"][0][0]) == (3.7, 3)
    ours, theirs = both("real", "1,1\n", name="'it\\'s'")
    assert (ours.names[0], theirs["attributes"][0][0]) == ("it's", "it\\'s")
    for kind, rows in (("real", "1_0,1\n"), ("real", "1,\n"), ("{x,x}", "x,1\n"), ("{x,?}", "x,1\n")):
        text = header.format(name="a", kind=kind) + rows
        assert len(arff.loads(text)["data"]) == 1
        with pytest.raises(DataError):
            read_arff(io.StringIO(text))
    for kind, rows in (
        ("date", "2001-02-03,1\n"),
        ("{x}", "x,1 % note\n"),
        ("{x}", "x 1\n"),
        ("{x}", "x,1,{2}\n"),
    ):
        text = header.format(name="a", kind=kind) + rows
        assert read_arff(io.StringIO(text)).n_rows == 1
        with pytest.raises(arff.ArffException):
            arff.loads(text)
