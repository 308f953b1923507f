"""Files read in pieces: the same rows as read whole, the same errors, and not more than a piece at a time."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import everytree as et
from everytree.data.readers import Dataset, read, read_chunks
from everytree.data.readers.csv import read_csv_chunks
from everytree.errors import DataError

TEXT = "n,t,u\n1,a,x\n2,?,y\n3.5,b,x\n,c,y\n5,a,x\n"
TYPES = {"n": "numeric", "t": "nominal", "u": "nominal"}


def joined(parts: list[Dataset]) -> dict[str, list[object]]:
    return {
        name: [value for part in parts for value in part[name].values.tolist()] for name in parts[0].names
    }


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
@pytest.mark.parametrize("extension", ["csv", "csv.gz", "tsv", "parquet", "arff", "feather"])
def test_pieces_are_the_whole(extension: str, rows: int, tmp_path: Path) -> None:
    path = tmp_path / f"t.{extension}"
    whole = et.read_csv(io.StringIO(TEXT))
    if extension == "csv.gz":
        import gzip

        path.write_bytes(gzip.compress(TEXT.encode()))
    elif extension == "tsv":
        path.write_text(TEXT.replace(",", "\t"))
    elif extension == "arff":
        rows_of = TEXT.split("\n")[1:-1]
        head = "@relation r\n@attribute n numeric\n@attribute t string\n@attribute u {x,y}\n@data\n"
        path.write_text(
            head + "\n".join(row.replace(",c", "?,c") if row[0] == "," else row for row in rows_of)
        )
    elif extension == "parquet":
        from pyarrow import parquet

        parquet.write_table(whole.to_arrow(), path, row_group_size=2)
    elif extension == "feather":
        from pyarrow import feather

        feather.write_feather(whole.to_arrow(), path)
    else:
        path.write_text(TEXT)
    parts = list(read_chunks(path, "u", rows=rows, types=TYPES))
    assert all(part.n_rows <= rows and part.target == "u" for part in parts)
    assert sum(part.n_rows for part in parts) == 5
    expected = joined([read(path, "u", types=TYPES)])
    found = joined(parts)
    assert repr(found) == repr(expected)
    assert [part["n"].kind for part in parts] == ["numeric"] * len(parts)


def test_some_columns_only(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    parts = list(read_chunks(tmp_path / "t.csv", rows=2, columns=["u", "n"]))
    assert [part.names for part in parts] == [("n", "u")] * 3


def test_lines_are_counted_over_all_pieces() -> None:
    parts = read_csv_chunks(io.StringIO("n\n1\n2\nthree\n"), rows=1, types={"n": "numeric"})
    assert next(parts)["n"].values.tolist() == [1.0]
    assert next(parts)["n"].values.tolist() == [2.0]
    with pytest.raises(DataError, match="<stream>:4: 'three' in numeric column 'n'"):
        next(parts)


def test_remarks_of_the_header_come_once() -> None:
    parts = list(read_csv_chunks(io.StringIO("1,2\n1,2\n3,4\n"), rows=1))
    assert [len(part.notes) for part in parts] == [1, 0]


def test_pieces_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n\n" + "1\n" * 50_000 + "2,3\n")
    parts = read_chunks(tmp_path / "t.csv", rows=10_000)
    assert np.array_equal(next(parts)["n"].values, np.ones(10_000))
    with pytest.raises(DataError, match="50002: 2 fields, expected 1"):
        list(parts)


@pytest.mark.parametrize("rows", [0, -3])
def test_a_piece_has_rows(rows: int, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TEXT)
    with pytest.raises(DataError, match=f"rows={rows}"):
        next(read_chunks(tmp_path / "t.csv", rows=rows))


def test_broken_files(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="no rows after the header"):
        list(read_chunks(tmp_path / "t.csv"))
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    with pytest.raises(DataError, match="pyarrow cannot read"):
        list(read_chunks(tmp_path / "t.parquet"))
    with pytest.raises(DataError, match="extension"):
        list(read_chunks(tmp_path / "t.xyz"))
