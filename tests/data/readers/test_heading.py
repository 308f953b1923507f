"""What stands around the table of a text file: told apart with a note, and the same by the reader of the checker."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from everytree.data.readers import read_csv
from everytree.data.readers.csv import read_csv_chunks
from everytree.verify.csv_file import read_table

# the text, the names of the columns, the cells of the first column, what one of the notes says
AROUND = {
    "sep": ("sep=;\r\na;b\r\n1,5;2\r\n", ["a", "b"], ["1,5"], None),
    "quoted sep": ('"sep=|"\na|b\nx,y|2\n', ["a", "b"], ["x,y"], None),
    "sep and a title": ("sep=;\nMay\na;b\nx;y\n", ["a", "b"], ["x"], "above the header on line 3: 'May'"),
    "title": ("Orders, May 2024\n\na;b\nx;1\ny;2\n", ["a", "b"], ["x", "y"], "1 line is left out"),
    "titles in the first of three": ("May,,\nby Ann,,\na,b,c\nx,1,2\n", ["a", "b", "c"], ["x"], "2 lines are left out"),
    "no title, one column": ("a\nx\ny\n", ["a"], ["x", "y"], None),
    "no title, an index": (",a\n0,x\n1,y\n", ["a"], ["x", "y"], "only counts the rows"),
    "no title, no name": ("a,\nx,p\ny,q\n", ["a", "column 2"], ["x", "y"], "it is called 'column 2'"),
    "a name twice": ("a,b,a,a\n1,2,3,4\n", ["a", "b", "a.1", "a.2"], ["1"], "and 3): the second is called 'a.1'"),
    "a name twice, and its successor": ("a,a.1,a\n1,2,3\n", ["a", "a.1", "a.2"], ["1"], "called 'a.2'"),
    "names that would meet": ("column 2,\n1,x\n2,z\n", ["column 2", "column 2.1"], ["1", "2"], "called 'column 2.1'"),
    "two without a name": ("a,,\n1,2,\n4,7,\n", ["a", "column 2"], ["1", "4"], "column 3 has no name and no values"),
    "total": ("a,b\nx,1\ny,2\nTotal:,\n", ["a", "b"], ["x", "y"], "line 4, is left out: it begins with 'Total:'"),
    "short total": ("a,b,c\nx,1,2\nSumme,3\n", ["a", "b", "c"], ["x"], "begins with 'Summe'"),
    "total in the second field": ("a,b,c\nx,1,2\n,TOTAL,2\n", ["a", "b", "c"], ["x"], "begins with 'TOTAL'"),
    "no total: a full row": ("a,b\nx,1\ntotal,2\n", ["a", "b"], ["x", "total"], None),
    "no total: others have the word": ("a,b\ntotal,\nx,1\ntotal,\n", ["a", "b"], ["total", "x", "total"], None),
    "no total: not the last": ("a,b\ntotal,\nx,1\n", ["a", "b"], ["total", "x"], None),
}  # fmt: skip


@pytest.mark.parametrize("case", AROUND)
@pytest.mark.parametrize("end", ["\n", "\n\n", ""])
def test_what_is_no_part_of_the_table(case: str, end: str, tmp_path: Path) -> None:
    text, names, cells, says = AROUND[case]
    text = text.rstrip("\n") + end
    data = read_csv(io.StringIO(text), types={}, missing=())
    first = data.names[0]
    assert list(data.names) == names
    assert read_csv(io.StringIO(text), types={first: "nominal"}, missing=())[first].values.tolist() == cells
    assert (any(says in note for note in data.notes)) if says else data.notes == ()
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    checked = read_table(path)  # which keeps unnamed columns that the other one leaves out
    assert [name for name in checked.names if name in names] == names
    assert checked.columns[first] == cells


@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_pieces_leave_out_the_total_once_and_say_it(rows: int) -> None:
    text = "May\n,a,b\n0,x,1\n1,y,2\n2,z,3\nTotal,,6\n"
    parts = list(read_csv_chunks(io.StringIO(text), rows=rows))
    assert [cell for part in parts for cell in part["a"].values] == ["x", "y", "z"]
    notes = [note for part in parts for note in part.notes]
    assert sorted(note.split(":")[0] for note in notes) == [
        "1 line is left out above the header on line 2",
        "column 1 has no name and only counts the rows",
        "the last row, on line 6, is left out",
    ]


def test_lines_keep_their_numbers_below_titles() -> None:
    with pytest.raises(ValueError, match=r":5: 1 fields, expected 2, as on line 3"):
        read_csv(io.StringIO("sep=;\nMay\na;b\n1;2\n3\n"))


def test_numbers_below_one_field_are_no_header() -> None:
    with pytest.raises(ValueError, match=r":2: 2 fields, expected 1"):
        read_csv(io.StringIO("a\n1,2\n3,4\n"))
