"""Small files that unpack to much are refused under a limit, and told; what fits is read as ever."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.data.readers import read, read_arff, read_arrow, read_chunks, read_csv, read_parquet
from everytree.data.readers.room import ALWAYS, UNPACKED, room_for
from everytree.errors import DataError

pyarrow = pytest.importorskip("pyarrow", reason='needs pyarrow: pip install "everytree[bigdata]"')
parquet = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

PEAK = """
import re, sys
from everytree.data.readers import read
from everytree.errors import DataError
def told(name):
    return int(re.search(name + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
import pyarrow.parquet, pyarrow.feather
open("/proc/self/clear_refs", "w").write("5")
before = told("VmRSS")
try:
    read(sys.argv[1], as_is=True, memory_limit=float(sys.argv[2]))
    print("read", told("VmHWM") - before)
except DataError as error:
    print("refused" if error.code == "memory" else str(error), told("VmHWM") - before)
"""


def peak(path: Path, limit: float) -> tuple[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path), str(limit)], capture_output=True, text=True, check=True
    )
    ended, _, n_bytes = done.stdout.strip().rpartition(" ")
    return ended, int(n_bytes)


def many_rows(path: Path, n_rows: int, piece: int = 1_000_000) -> None:
    schema = pyarrow.schema([("a", pyarrow.int64()), ("y", pyarrow.bool_())])
    rows = pyarrow.table({"a": np.zeros(piece, np.int64), "y": np.zeros(piece, bool)})
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for _ in range(n_rows // piece):
            writer.write_table(rows)


@pytest.mark.long
def test_a_parquet_file_of_many_rows_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    many_rows(path, 60_000_000)
    assert path.stat().st_size < 600_000
    with pytest.raises(
        DataError, match=r"bomb\.parquet: reading takes 1\.8 GiB .*memory_limit=1073741824 .*MiB only\)"
    ) as told:
        et.read(path, target="y")
    assert told.value.code == "memory"
    assert next(iter(read_chunks(path, rows=1000))).n_rows == 1000
    assert read_parquet(path, columns=["y"]).n_rows == 60_000_000


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks of memory are told by Linux")
@pytest.mark.parametrize("kind", ["plain", "dictionary", "delta", "feather", "csv", "arff", "cells"])
def test_what_unpacks_to_much_takes_little_before_it_is_refused(kind: str, tmp_path: Path) -> None:
    long = "x" * 1_000_000
    path = tmp_path / f"bomb.{kind if kind in ('feather',) else 'parquet'}"
    if kind in ("csv", "arff", "cells"):
        path = tmp_path / ("bomb.arff.gz" if kind == "arff" else "bomb.csv.gz")
        head = "@relation r\n@attribute a string\n@attribute y {0}\n@data\n" if kind == "arff" else "a,y\n"
        line = f"{'x' * 100_000},0\n" if kind == "cells" else "123456789,0\n"
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.write(head)
            for _ in range(200):
                file.write(line * (1_000_000 // len(line) + 1))
    else:
        table = pyarrow.table({"t": [long] * 300, "y": list(range(300))})
        if kind == "feather":
            feather.write_feather(table, str(path), compression="zstd", chunksize=10)
        else:
            codings = {"t": "DELTA_BYTE_ARRAY", "y": "PLAIN"} if kind == "delta" else None
            parquet.write_table(
                table,
                path,
                use_dictionary=kind == "dictionary",
                column_encoding=codings,
                compression="zstd",
            )
    ended, n_bytes = peak(path, 30e6)
    if kind == "dictionary":  # one text, held once
        assert ended == "read"
    else:
        assert ended == "refused"
    assert n_bytes < 110e6, n_bytes  # where 300 MB are unpacked; half of it is what readers need to start


@pytest.mark.long
def test_many_different_cells_are_seen_while_they_grow() -> None:
    rows = "".join(f"value {k}\n" for k in range(200_000))
    with pytest.raises(DataError, match=r"<stream>:200001: reading takes .* or more") as told:
        read_csv(io.StringIO("a\n" + rows), memory_limit=30e6)
    assert told.value.code == "memory"
    assert read_csv(io.StringIO("a\n" + rows), memory_limit=100e6).n_rows == 200_000
    assert read_csv(io.StringIO("a\n" + "value\n" * 200_000), memory_limit=30e6).n_rows == 200_000


@pytest.mark.parametrize("reader", [read_csv, read_arff, read_parquet, read_arrow])
def test_a_limit_that_is_none_is_refused(reader: Any) -> None:
    with pytest.raises(et.QueryError, match="memory_limit"):
        reader(io.BytesIO(b"a,b\n1,2\n"), memory_limit=-1)


def test_the_room_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everytree.common.limits.physical_memory", lambda: 64 * 2**30)
    path = tmp_path / "file"
    for size, room in ((10, ALWAYS), (2**25, UNPACKED * 2**25), (2**30, 48 * 2**30)):
        with open(path, "wb") as file:
            file.truncate(size)
        with open(path, "rb") as file:
            assert room_for("file", file).limit == room
            assert room_for("file", file, 5e6).limit == 5_000_000
    with open("/dev/zero", "rb") as endless:  # of which nobody knows how long it is
        assert room_for("zero", endless).limit == 48 * 2**30


@pytest.mark.parametrize("n_chunks", [1, 3])
def test_texts_keep_the_order_in_which_they_come(n_chunks: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        texts = [None if k == 5 else f"t{k}" for k in rng.integers(0, 6, 30).tolist()]
        table = pyarrow.concat_tables(
            [pyarrow.table({"t": pyarrow.array(part, pyarrow.string()), "y": [1.0] * len(part)})
             for part in np.array_split(np.array(texts, dtype=object), n_chunks)]
        )  # fmt: skip
        parquet.write_table(table, tmp_path / "t.parquet", row_group_size=7)
        column = read(tmp_path / "t.parquet", as_is=True)["t"]
        assert column.values.tolist() == texts
        assert list(column.labels) == list(dict.fromkeys(text for text in texts if text is not None))
        assert column.categories is None
        codings = {"t": "DELTA_BYTE_ARRAY", "y": "PLAIN"}
        parquet.write_table(table, tmp_path / "d.parquet", use_dictionary=False, column_encoding=codings)
        assert read(tmp_path / "d.parquet", as_is=True)["t"] == column
