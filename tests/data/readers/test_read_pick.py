"""Reading by extension, and the examples in the readers' own pages."""

from __future__ import annotations

import doctest
import gzip
import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path

import pytest

from everytree import errors
from everytree.data import readers
from everytree.data.readers import read
from everytree.errors import DataError

Put = Callable[[str, "str | bytes"], Path]
CSV = "a,class\n1,x\n2,y\n"
ARFF = "@relation r\n@attribute a real\n@attribute class {x,y}\n@data\n1,x\n2,y\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", CSV),
        ("T.CSV", CSV),
        ("t.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("t.tsv", CSV.replace(",", "\t")),
        ("t.tab.gz", gzip.compress(CSV.replace(",", "\t").encode(), mtime=0)),
        ("t.arff", ARFF),
        ("t.arff.gz", gzip.compress(ARFF.encode(), mtime=0)),
    ],
)
def test_the_extension_picks_the_reader(put: Put, name: str, content: str | bytes) -> None:
    data = read(put(name, content), "class")
    features, y = data.split()
    assert features["a"].values.tolist() == [1.0, 2.0]
    assert y.tolist() == ["x", "y"]
    assert data["class"].categories == (("x", "y") if "arff" in name else None)


def test_options_go_to_the_reader(put: Put) -> None:
    assert read(put("t.csv", CSV), types={"a": "nominal"})["a"].values.tolist() == ["1", "2"]
    assert read(put("t.tsv", CSV), "class", delimiter=",").names == ("a", "class")
    with pytest.raises(TypeError, match="delimiter"):
        read(put("t.arff", ARFF), delimiter=",")


def test_a_tab_file_with_commas_is_told_so(put: Put) -> None:
    with pytest.raises(DataError, match=r"separated by ',': pass delimiter=','"):
        read(put("t.tsv", CSV), "class")


def test_a_spreadsheet_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this is a spreadsheet; save the sheet with your table as CSV"):
        read(tmp_path / "t.xlsx")


@pytest.mark.parametrize("name", ["t", "t.gz", "t.parquet.gz", ".csv.bz2"])
def test_an_unknown_extension_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        DataError, match=r"is not known; expected one of \.csv, \.tsv.*Call the reader of its format"
    ):
        read(tmp_path / name)


MODULES = [errors.__name__, *(f"{readers.__name__}.{m.name}" for m in pkgutil.iter_modules(readers.__path__))]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_run(module: str) -> None:
    if module.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason='needs pyarrow: pip install "everytree[bigdata]"')
    assert doctest.testmod(importlib.import_module(module)).failed == 0
