"""ARFF: every part of the format, and what every malformed file is told."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from everytree.data.readers import Dataset, read_arff
from everytree.data.readers.arff_syntax import unescape
from everytree.errors import DataError

Put = Callable[[str, "str | bytes"], Path]


def parse(attributes: str, rows: str, **options: object) -> Dataset:
    """Read a file with the given attributes ("a real; b {x,y}") and rows."""
    header = "".join(f"@attribute {part.strip()}\n" for part in attributes.split(";"))
    return read_arff(io.StringIO(f"@relation test\n{header}@data\n{rows}"), **options)  # type: ignore[arg-type]


def test_the_types_and_their_order() -> None:
    data = parse(
        "a numeric; b REAL; c Integer [0,9]; d {z, 'y y', \"x\"}; e string; f date 'yyyy-MM-dd'",
        "1,2.5,3,'y y',hello,2001-02-03\n?,?,?,?,?,?\n",
    )
    assert [column.kind for column in data.columns.values()] == ["numeric"] * 3 + ["nominal"] * 3
    assert data["d"].categories == ("z", "y y", "x")
    assert data["e"].categories is None
    assert data["f"].values.tolist() == ["2001-02-03", None]
    assert data.relation == "test"
    assert data.weights is None
    assert all(column.n_missing == 1 for column in data.columns.values())


def test_a_quoted_question_mark_is_a_value() -> None:
    data = parse("a {'?',x}; b string", "'?',\"?\"\n?,?\nx,x\n")
    assert data["a"].values.tolist() == ["?", None, "x"]
    assert data["b"].values.tolist() == ["?", None, "x"]


def test_names_with_blanks_quotes_and_escapes() -> None:
    data = parse(
        "'Train or Test' real; \"it's\" real; 'it\\'s, too' real; a[1] real; b{x} ; c-d/e real", "1,2,3,4,x,6"
    )
    assert data.names == ("Train or Test", "it's", "it's, too", "a[1]", "b", "c-d/e")


def test_comments_case_blank_lines_and_every_line_end() -> None:
    text = (
        "% a comment\n  % another\n\n@RELATION 'my data' % here too\n@Attribute a REAL % and here\n"
        "\t@ATTRIBUTE\tb\t{x,y}\n@DATA % last\n% comment\n 1 , x % after a row\n\n2,'50%'\n"
    ).replace("{x,y}", "{x,'50%'}")
    for line_end in ("\n", "\r\n", "\r"):
        data = read_arff(io.StringIO(text.replace("\n", line_end), newline=""))
        assert data.relation == "my data"
        assert data["a"].values.tolist() == [1.0, 2.0]
        assert data["b"].values.tolist() == ["x", "50%"]


def test_values_may_be_separated_by_blanks_throughout() -> None:
    data = parse("a real; b {x,'y z'}", "1 x\n2\t'y z'\n")
    assert data["a"].values.tolist() == [1.0, 2.0]
    assert data["b"].values.tolist() == ["x", "y z"]
    assert parse("b {x y}", "y\n")["b"].categories == ("x", "y")


def test_sparse_rows_mean_zero_or_the_first_declared_value() -> None:
    data = parse("a real; b {x,y}; c real; d {'p q',r}", "{1 y, 3 r}\n{}\n{ 3 'p q' ,0 -2.5 }\n{2 ?}\n")
    np.testing.assert_array_equal(data["a"].values, [0, 0, -2.5, 0])
    assert data["b"].values.tolist() == ["y", "x", "x", "x"]
    np.testing.assert_array_equal(data["c"].values, [0, 0, 0, np.nan])
    assert data["d"].values.tolist() == ["r", "p q", "p q", "p q"]


def test_instance_weights() -> None:
    data = parse("a real; b {x,y}", "1,x,{5}\n2,y\n{1 y}, {0.5}\n{0 3} {2} % comment\n4,x {0}\n5 x {7}\n")
    assert data.weights is not None
    assert data.weights.tolist() == [5.0, 1.0, 0.5, 2.0, 0.0, 7.0]
    assert data["a"].values.tolist() == [1.0, 2.0, 0.0, 3.0, 4.0, 5.0]


def test_attribute_weights_are_read_past() -> None:
    assert parse("a real {0.5}; b {x,y} {2}", "1,x\n").names == ("a", "b")


def test_escapes() -> None:
    assert unescape(r"a\tb\n\\\'\"\%\u00e9\101\q") == "a\tb\n\\'\"%éAq"
    assert unescape(r"\ud83c\udf33 \ud83c") == "🌳 \ufffd"
    assert parse("a string", r"'it\'s'")["a"].values.tolist() == ["it's"]


def test_numbers_may_be_quoted_or_nan_and_integers_may_have_fractions() -> None:
    np.testing.assert_array_equal(
        parse("a integer", "'5'\nNaN\n3.7\n-1e3\n")["a"].values, [5, np.nan, 3.7, -1000]
    )


def test_types_columns_and_target(put: Put) -> None:
    text = "@relation r\n@attribute a real\n@attribute b real\n@attribute class {x,y}\n@data\n1,2,x\n1,4,y\n"
    path = put("t.arff.gz", gzip.compress(text.encode()))
    data = read_arff(path, "class", columns=["a"], types={"a": "nominal"})
    assert data.names == ("a", "class")
    assert data["a"].values.tolist() == ["1", "1"]
    assert data.split()[1].tolist() == ["x", "y"]


HEADER = "@relation r\n@attribute a {x,y}\n@attribute b real\n@attribute c string\n@data\n"
BAD_ROWS = {
    "too few": ("x,1\n", r"bad\.arff:6: 2 values, expected 3, one per @attribute"),
    "too many": ("x,1,s,2\n", r"bad\.arff:6: 4 values, expected 3"),
    "not declared": (
        "x,1,s\n% c\nz,1,s\n",
        r"bad\.arff:8: 'z' is not a declared value of 'a'; expected one of 'x', 'y'",
    ),
    "other case": ("X,1,s\n", r"'X' is not a declared value of 'a'"),
    "not a number": ("x,1,s\ny,one,s\n", r"bad\.arff:7: 'one' in numeric column 'b' is not a number"),
    "quoted ? as a number": ("x,'?',s\n", r"bad\.arff:6: '\?' in numeric column 'b' is not a number"),
    "empty value": ("x,,s\n", r"bad\.arff:6: value 2 is empty; write \? for a missing value"),
    "empty value beside quotes": ("x,,'s'\n", r"bad\.arff:6: ',' where a value was expected; write \?"),
    "comma at the end": ("x,1,'s',\n", r"bad\.arff:6: nothing after the last comma"),
    "open quote": ("x,1,'s\n", r"bad\.arff:6: the quote ' before 's' is never closed on this line"),
    "text after a quote": ("x,1,'s't\n", r"bad\.arff:6: 't' right after a closing quote; expected a comma"),
    "quote inside": ("x,1,it's\n", r"' inside the value \"it'\"; put the whole value in quotes"),
    "percent inside": ("x,1,50%\n", r"% inside the value '50%'; put the whole value in quotes"),
    "blank inside": (
        "x,1,new york\n",
        r"bad\.arff:6: a blank inside 'new york'; expected a comma, or quotes",
    ),
    "blank before commas": ("x 1,s\n", r"a blank inside 'x 1'"),
    "escaped NUL": ("x,1,'s\\u0000'\n", r"bad\.arff:6: an escaped NUL in .*; expected text"),
    "bad weight": ("x,1,s,{heavy}\n", r"the weight '\{heavy\}'; expected one number ≥ 0"),
    "negative weight": ("x,1,s,{-1}\n", r"the weight '\{-1\}'; expected one number ≥ 0"),
    "two weights": ("x,1,s,{1,2}\n", r"the weight '\{1,2\}'; expected one number ≥ 0"),
    "open weight": ("x,1,s,{1\n", r"the brace \{ is never closed on this line"),
    "text after a weight": ("x,1,s,{1} 5\n", r"'5' after the row; expected the end of the line"),
    "sparse index": ("{9 x}\n", r"index 9 in a sparse row; expected 0 to 2, as there are 3 attributes"),
    "sparse twice": ("{2 s, 2 t}\n", r"index 2 stands twice in a sparse row"),
    "sparse without index": ("{x}\n", r"'x}' in a sparse row; expected index value"),
    "sparse open": ("{2 s\n", r"the end of the line in a sparse row; expected a comma or the closing brace"),
    "sparse string left out": ("{0 y}\n", r"leaves out the string attribute 'c', which has no default value"),
    "sparse and a comma": ("{2 s},\n", r"a comma after a sparse row; expected a weight"),
    "no rows": ("% nothing\n", r"bad\.arff:6: no rows after @data; expected at least one"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_a_bad_row_is_told_where_and_what_was_expected(put: Put, case: str) -> None:
    rows, message = BAD_ROWS[case]
    with pytest.raises(DataError, match=message):
        read_arff(put("bad.arff", HEADER + rows))


BAD_HEADERS = {
    "empty": ("", r"bad\.arff: the file is empty"),
    "no arff": ("% hello\n", r"no @relation, @attribute or @data line; expected an ARFF file"),
    "csv": ("a,b\n1,2\n", r"bad\.arff:1: 'a,b' in the header; expected @relation, @attribute, @data"),
    "unknown keyword": ("@relation r\n@atribute a real\n", r"bad\.arff:2: '@atribute a real' in the header"),
    "no data": ("@relation r\n@attribute a real\n", r"bad\.arff:2: the file ends before @data"),
    "no relation": ("@attribute a real\n@data\n1\n", r"bad\.arff:2: @data without @relation before it"),
    "no attributes": ("@relation r\n@data\n1\n", r"bad\.arff:2: @data without any @attribute before it"),
    "no name": ("@relation r\n@attribute\n", r"bad\.arff:2: @attribute without a name"),
    "empty name": ("@relation r\n@attribute '' real\n", r"@attribute without a name"),
    "no type": ("@relation r\n@attribute a\n", r"bad\.arff:2: attribute 'a' has no type; expected numeric"),
    "unknown type": (
        "@relation r\n@attribute a float\n",
        r"attribute 'a' has the type 'float'; expected numeric",
    ),
    "name with a blank": (
        "@relation r\n@attribute a b real\n",
        r"has the type 'b'.*Quote a name that has blanks",
    ),
    "relational": ("@relation r\n@attribute a relational\n", r"bad\.arff:2: attribute 'a' is relational"),
    "same name": (
        "@relation r\n@attribute a real\n@attribute b real\n@attribute a real\n",
        r"bad\.arff:4: attribute 'a' is already declared on line 2",
    ),
    "open domain": (
        "@relation r\n@attribute a {x,y\n",
        r"bad\.arff:2: the brace \{ is never closed on this line",
    ),
    "comma in domain": ("@relation r\n@attribute a {x,y,}\n", r"a comma before the closing brace"),
    "empty domain": ("@relation r\n@attribute a {}\n", r"attribute 'a' declares no values"),
    "value twice": ("@relation r\n@attribute a {x,y,x}\n", r"attribute 'a' declares 'x' twice"),
    "plain ? declared": (
        "@relation r\n@attribute a {x,?}\n",
        r"a plain \? among the values of 'a' means missing",
    ),
    "blank in a value": (
        "@relation r\n@attribute a {new york,x}\n",
        r"a blank inside .*; expected a comma, or quotes",
    ),
    "text after a domain": ("@relation r\n@attribute a {x} y\n", r"'y' after the attribute's type"),
    "text after a type": ("@relation r\n@attribute a real y\n", r"'y' after the attribute's type"),
    "text after the relation": ("@relation 'r' s\n", r"bad\.arff:1: 's' after the relation's name"),
    "text after data": ("@relation r\n@attribute a real\n@data 1\n", r"bad\.arff:3: text after @data"),
    "open name": ("@relation r\n@attribute 'a real\n", r"the quote ' before 'a real' is never closed"),
    "NUL": ("@relation r\n@attribute \0 real\n", r"bad\.arff:2: a NUL byte"),
}


@pytest.mark.parametrize("case", BAD_HEADERS)
def test_a_bad_header_is_told_where_and_what_was_expected(put: Put, case: str) -> None:
    text, message = BAD_HEADERS[case]
    with pytest.raises(DataError, match=message):
        read_arff(put("bad.arff", text))


def test_a_message_lists_only_some_of_many_declared_values() -> None:
    domain = ",".join(f"v{i}" for i in range(100))
    with pytest.raises(DataError, match=r"expected one of 'v0', .*'v11' and 88 more"):
        parse(f"a {{{domain}}}", "w\n")


def test_a_small_sparse_file_cannot_ask_for_all_the_memory() -> None:
    attributes = ";".join(f"a{i} real" for i in range(2000))
    with pytest.raises(DataError, match=r"cells; expected at most max_cells=1000000\. Read fewer columns"):
        parse(attributes, "{}\n" * 1000, max_cells=1_000_000)
    assert parse(attributes, "{}\n" * 1000, columns=["a7"], max_cells=1_000_000).shape == (1000, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "klass"}, r"there is no target column 'klass'; did you mean 'class'"),
        ({"columns": ["q"]}, r"there is no column 'q'"),
        ({"types": {"q": "nominal"}}, r"there is no column \(named in types\) 'q'"),
        ({"types": {"class": "numeric"}}, r"<stream>:5: 'x' in numeric column 'class' is not a number"),
        ({"encoding": "klingon"}, r"encoding='klingon' is not known"),
    ],
)
def test_a_bad_option_is_told_what_was_expected(options: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse("a real; class {x,y}", "1,x\n", **options)
