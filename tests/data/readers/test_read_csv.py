"""CSV and TSV: what is read, how kinds are inferred and overridden, and what every bad file is told."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everytree.data.readers import Dataset, read_csv
from everytree.data.readers.csv import sniff_delimiter
from everytree.errors import DataError

Put = Callable[[str, "str | bytes"], Path]


def parse(text: str, *args: object, **options: object) -> Dataset:
    return read_csv(io.StringIO(text), *args, **options)  # type: ignore[arg-type]


def kinds(data: Dataset) -> dict[str, str]:
    return {name: column.kind for name, column in data.columns.items()}


def test_kinds_are_inferred_cell_by_cell() -> None:
    data = parse("a,b,c,d,e\n1,x,-2.5e3,,true\n.5,y,inf,?,false\n,z,+3.,NA,true\n")
    assert kinds(data) == {"a": "numeric", "b": "nominal", "c": "numeric", "d": "numeric", "e": "nominal"}
    np.testing.assert_array_equal(data["a"].values, [1.0, 0.5, np.nan])
    np.testing.assert_array_equal(data["c"].values, [-2500.0, np.inf, 3.0])
    assert data["b"].values.tolist() == ["x", "y", "z"]
    assert data["b"].categories is None
    assert data["d"].n_missing == 3


@pytest.mark.parametrize(
    "text", ["1_000", "0x1F", "nanny", "1e", "--1", "٣", "1e999", "1 2", "True", "$5", "5%"]
)
def test_what_is_not_a_plain_number_makes_a_column_nominal(text: str) -> None:
    assert parse(f"a,b\n1,1\n{text},2\n")["a"].kind == "nominal"


def test_types_override_what_is_inferred() -> None:
    text = "zip,size,flag,n\n02139,small,yes,1\n10001,large,no,?\n"
    data = parse(
        text, types={"zip": "nominal", "size": ["large", "small"], "flag": "boolean", "n": "boolean"}
    )
    assert data["zip"].values.tolist() == ["02139", "10001"]
    assert data["size"].categories == ("large", "small")
    assert data["flag"].values.tolist() == [True, False]
    assert data["n"].values.tolist() == [True, None]


def test_a_declared_value_is_never_missing() -> None:
    assert parse("a,b\n?,1\nx,2\n", types={"a": ["x", "?"]})["a"].values.tolist() == ["?", "x"]
    assert parse("a,b\n?,1\nx,2\n", types={"a": ["x"]})["a"].values.tolist() == [None, "x"]


def test_blanks_around_cells_do_not_make_another_value() -> None:
    data = parse("a , b\n x,1 \nx , 2\n ? ,3\n")
    assert data.names == ("a", "b")
    assert data["a"].values.tolist() == ["x", "x", None]
    assert data["b"].values.tolist() == [1.0, 2.0, 3.0]


def test_missing_texts_can_be_chosen() -> None:
    data = parse("a,b\n-999,NA\n5,x\n", missing=["-999"])
    np.testing.assert_array_equal(data["a"].values, [np.nan, 5.0])
    assert data["b"].values.tolist() == ["NA", "x"]


@pytest.mark.parametrize("delimiter", list(",\t;|"))
def test_the_delimiter_is_found(delimiter: str) -> None:
    data = parse("a,b,c\n1,2,x\n3,4,y\n".replace(",", delimiter))
    assert data.names == ("a", "b", "c")
    assert data["c"].values.tolist() == ["x", "y"]


def test_the_delimiter_is_found_beside_other_candidates() -> None:
    assert sniff_delimiter(["name;price", '"a;b";"1,5"', "c;2,5"]) == ";"
    assert sniff_delimiter(["a,b|c", "1,2|3", "4,5"]) == ","  # every line, rather than most lines
    assert parse("a;b\n1,5;x\n2,5;y\n", decimal=",")["a"].values.tolist() == [1.5, 2.5]


def test_a_delimiter_found_in_a_sample_that_ends_inside_quotes() -> None:
    rows = "".join(f'{i};"line\nbreak, {i}"\n' for i in range(300))
    data = parse("a;b\n" + rows)
    assert data.shape == (300, 2)
    assert data["b"].values[299] == "line\nbreak, 299"


def test_quotes_blank_lines_marks_and_line_ends(put: Put) -> None:
    body = 'name, note\r\n\r\n"a, b", "say ""hi"""\r\n   \r\n"two\r\nlines",x\r\n'
    data = read_csv(put("t.csv", b"\xef\xbb\xbf" + body.encode()))
    assert data.names == ("name", "note")
    assert data["name"].values.tolist() == ["a, b", "two\r\nlines"]
    assert data["note"].values.tolist() == ['say "hi"', "x"]
    assert parse("a,b\r1,2\r3,4\r")["b"].values.tolist() == [2.0, 4.0]


def test_the_last_line_may_lack_its_line_end_and_other_quotes_are_possible() -> None:
    data = parse("a,b\n'x,y',2", quote="'")
    assert data["a"].values.tolist() == ["x,y"]


def test_files_without_a_header() -> None:
    assert parse("1,x\n2,y\n", header=False).names == ("x0", "x1")
    data = parse("1,x\n2,y\n", header=["n", "class"], target="class")
    assert data.n_rows == 2
    assert data.split()[1].tolist() == ["x", "y"]


def test_only_some_columns_are_read_in_file_order_and_the_target_always() -> None:
    assert parse("a,b,c\n1,2,3\n", columns=["c", "a"]).names == ("a", "c")
    assert parse("a,b,c\n1,2,3\n", target="b", columns=["c"]).names == ("b", "c")


def test_gzip_and_other_encodings(put: Put) -> None:
    text = "größe,b\n1,é\n"
    packed = read_csv(put("t.csv.gz", gzip.compress(text.encode())))
    latin = read_csv(put("t.csv", text.encode("cp1252")), encoding="cp1252")
    wide = read_csv(put("u.csv", text.encode("utf-16")), encoding="utf-16")
    assert packed == latin == wide
    assert packed.names == ("größe", "b")


def test_integers_beyond_float64_stay_apart() -> None:
    data = parse("id,x\n9007199254740993,1\n9007199254740992,2\n")
    assert data["id"].values.dtype == np.int64
    assert data["id"].values.tolist() == [9007199254740993, 9007199254740992]
    assert parse("id,x\n9007199254740993,1\n,2\n")["id"].values.dtype == np.float64
    assert parse("id,x\n99999999999999999999999,1\n")["id"].values.dtype == np.float64


def test_a_nameless_column_that_counts_rows_is_left_out_with_a_note() -> None:
    data = parse(",a,b\n0,1,x\n1,2,y\n")
    assert data.names == ("a", "b")
    assert data.notes == ("column 1 has no name and only counts the rows: left out",)
    assert parse("a,b,\n1,x,\n2,y,\n").names == ("a", "b")


def test_notes_tell_what_a_person_might_not_expect() -> None:
    numbers = "".join(f"{i},{i:03d}\n" for i in range(30))
    data = parse(f"a,zip\n{numbers}unknown,500\n")
    assert data["a"].kind == "nominal"
    assert (
        "'a' is read as nominal because of 'unknown' (first on <stream>:32), but 30 of its 31"
        in data.notes[0]
    )
    assert "'zip' has zeros in front ('000')" in data.notes[1]
    assert "pass header=False" in parse("1,2\n3,4\n").notes[0]
    assert "separated by ';'" in parse("a;b\n1;2\n", delimiter=",").notes[0]
    assert parse("a,b\n1,x\n").notes == ()


def test_a_long_file_agrees_with_the_standard_library(put: Put) -> None:
    rng = np.random.default_rng(7)
    rows = [
        [f"{x:.3f}", str(rng.choice(["a", 'b "q"', "c, d", "e\nf", "?"])), str(i)]
        for i, x in enumerate(rng.normal(size=30_000))
    ]
    text = io.StringIO()
    csv.writer(text).writerows([["x", "y", "z"], *rows])
    data = read_csv(put("long.csv", text.getvalue()))
    assert data["x"].values.tolist() == [float(row[0]) for row in rows]
    assert data["y"].values.tolist() == [None if row[1] == "?" else row[1] for row in rows]
    assert data["z"].values.tolist() == list(range(30_000))


BAD_FILES = {
    "empty": (b"", r"bad\.csv: the file is empty"),
    "blank": (b"\n  \n\n", r"only blank lines; expected a header line and rows"),
    "header only": (b"a,b\n", r"no rows after the header on line 1"),
    "short row": (b"a,b,c\n1,2,3\n\n4,5\n", r"bad\.csv:4: 2 fields, expected 3, as on line 1"),
    "long row": (b"a,b\n1,2\n3,4,5\n", r"bad\.csv:3: 3 fields, expected 2, as on line 1\. Quote cells"),
    "several rows": (
        b"a,b\n1\n1,2\n1,2,3\n4\n",
        r"bad\.csv:2: 1 fields, expected 2, as on line 1; 2 more lines have another number: line 4 \(3\), line 5 ",
    ),
    "row after a field of two lines": (b'a,b\n"x\ny",2\n3\n', r"bad\.csv:4: 1 fields, expected 2"),
    "not utf-8": (b"a,b\n1,2\nx,caf\xe9\n", r"bad\.csv:3: byte 0xe9 is not valid utf-8.*encoding=\"cp1252\""),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), r"the file is UTF-16, not UTF-8; pass encoding=\"utf-16\""),
    "NUL": (b"a,b\n1,\x002\n", r"bad\.csv:2: a NUL byte; expected text"),
    "open quote": (b'a,b\n1,"x\n2,y\n', r'bad\.csv:2: a field opened with " is never closed'),
    "text after a quote": (b'a,b\n1,"x"y\n', r"bad\.csv:2: text after the closing \" of a field"),
    "endless field": (b'a,b\n1,"' + b"x" * 200_000, r"bad\.csv:2: a field is longer than \d+ characters"),
    "parquet": (b"PAR1xxxxPAR1", r"this is a Parquet file: use read_parquet"),
    "zip": (b"PK\x03\x04rest", r"a zip archive or an Excel workbook"),
    "broken gzip": (gzip.compress(b"a,b\n1,2\n" * 9)[:-12], r"the gzip stream is damaged or cut short"),
    "not really gzip": (b"\x1f\x8brest", r"the gzip stream is damaged or cut short"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_is_told_where_and_what_was_expected(put: Put, case: str) -> None:
    content, message = BAD_FILES[case]
    with pytest.raises(DataError, match=message):
        read_csv(put("bad.csv", content))


def test_the_line_of_an_undecodable_byte_far_into_the_file(put: Put) -> None:
    content = b"a,b\r\n" + b"1,some text\r\n" * 5000 + b"2,caf\xe9\r\n" + b"3,x\r\n" * 5000
    with pytest.raises(DataError, match=r"bad\.csv:5002: byte 0xe9"):
        read_csv(put("bad.csv", content))


BAD_CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "numeric": ({"types": {"b": "numeric"}}, r"<stream>:2: 'x' in numeric column 'b' is not a number"),
    "boolean": ({"types": {"a": "boolean"}}, r"<stream>:2: '7' in boolean column 'a'; expected true/false"),
    "outside the domain": (
        {"types": {"b": ["x", "z"]}},
        r"<stream>:3: 'y z' is not a declared value of 'b'; expected one of 'x', 'z'",
    ),
    "unknown kind": (
        {"types": {"a": "category"}},
        r"'a' is given 'category'; expected one of numeric, nominal",
    ),
    "empty domain": ({"types": {"a": []}}, r"'a' is given \[\]; expected .* a list of different texts"),
    "repeated domain": ({"types": {"a": ["7", "7"]}}, r"a list of different texts"),
    "no domain": ({"types": {"a": 3}}, r"'a' is given 3; expected one of numeric"),
    "type of no column": (
        {"types": {"bb": "nominal"}},
        r"no column \(named in types\) 'bb'; did you mean 'b'",
    ),
    "no such column": ({"columns": ["q"]}, r"there is no column 'q'; the columns are 'a', 'b'"),
    "columns as text": ({"columns": "a"}, r"columns='a' is a text; expected a list of names"),
    "no columns": ({"columns": []}, r"at least one column"),
    "no such target": ({"target": "klass"}, r"there is no target column 'klass'; the columns are 'a', 'b'"),
    "long delimiter": ({"delimiter": ", "}, r"delimiter=', '; expected one character"),
    "newline as delimiter": ({"delimiter": "\n"}, r"expected one character"),
    "blank delimiter": ({"delimiter": " "}, r"delimiter=\" \" is not supported"),
    "same quote": ({"delimiter": ";", "quote": ";"}, r"delimiter and quote are both ';'"),
    "decimal": ({"decimal": "'"}, r"decimal=\"'\"; expected \"\.\" or \",\""),
    "missing as text": ({"missing": "NA"}, r"missing='NA' is a text; expected a list of texts"),
    "header": ({"header": None}, r"header=None; expected True, False or a list of column names"),
    "header too short": ({"header": ["n"]}, r"<stream>:1: 2 fields, expected 1, as many as header= names"),
    "header repeats": ({"header": ["n", "n"]}, r"header=\[\.\.\.\]: the name 'n' is used twice"),
    "encoding": ({"encoding": "klingon"}, r"encoding='klingon' is not known"),
    "too large": ({"max_cells": 3}, r"2 rows × 2 columns are already 4 cells; expected at most max_cells=3"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_a_bad_option_is_told_what_was_expected(case: str) -> None:
    options, message = BAD_CALLS[case]
    with pytest.raises(DataError, match=message):
        parse("a,b\n7,x\n8,y z\n", **options)


def test_a_wrong_delimiter_is_seen_when_the_target_is_not_found() -> None:
    with pytest.raises(DataError, match=r"has the one column 'a;b'.*separated by ';': pass delimiter=';'"):
        parse("a;b\n1;2\n", "b", delimiter=",")
    with pytest.raises(DataError, match=r"the one column 'a:b'\. If its fields are separated by another"):
        parse("a:b\n1:2\n", "b")


def test_a_missing_file_is_the_usual_error_and_a_strange_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_csv(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match=r"cannot read from 5; expected a path or an open file"):
        read_csv(5)  # type: ignore[arg-type]


def test_open_files_of_bytes_and_text_read_alike(put: Put) -> None:
    path = put("t.csv", "a,b\n1,x\n")
    with path.open("rb") as binary, path.open() as text:
        assert read_csv(binary) == read_csv(text) == read_csv(str(path))
