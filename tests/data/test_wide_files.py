"""Very wide files: read in time, or refused in a sentence."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.data.readers.room import MOST_COLUMNS
from everytree.data.wide_parquet import wide_parquet


def test_a_wide_parquet_file_takes_time_by_its_columns(tmp_path: Path) -> None:
    """Its names were listed anew for each column: 20,000 columns took 20 seconds."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    n, file = 12_000, tmp_path / "wide.parquet"
    pq.write_table(pa.table({f"c{k}": pa.array([k % 3, 1]) for k in range(n)}), file)
    begin = time.process_time()
    assert len(et.read_parquet(file).names) == n
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("kind", ["csv", "arff"])
def test_more_columns_than_anything_learns_from(kind: str, tmp_path: Path) -> None:
    n, file = MOST_COLUMNS + 1, tmp_path / f"wide.{kind}"
    names = [f"c{k}" for k in range(n)]
    if kind == "csv":
        file.write_text(",".join(names) + "\n" + (",".join(["1"] * n) + "\n") * 2, encoding="ascii")
    else:
        file.write_text(
            "@relation r\n" + "".join(f"@attribute {name} real\n" for name in names) + "@data\n{0 1}\n"
        )
    with pytest.raises(et.DataError, match=rf"wide\.{kind}: {n} columns; expected at most {MOST_COLUMNS}"):
        et.read(file)
    if kind == "csv":
        assert np.asarray(et.read_csv(file, columns=["c1"])["c1"].values).tolist() == [1, 1]


def wide_table(n_rows: int, seed: int = 0) -> Any:
    """A hundred columns of all plain kinds, with gaps."""
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(seed)
    columns = {f"b{k}": pa.array(rng.random(n_rows) < 0.3) for k in range(95)}
    columns["f"] = pa.array(
        [None if k % 7 == 0 else float("nan") if k % 7 == 1 else k / 3 for k in range(n_rows)]
    )
    columns["f4"] = pa.array(rng.normal(size=n_rows).astype(np.float32))
    columns["i1"] = pa.array(rng.integers(-3, 3, n_rows).astype(np.int8))
    columns["i8"] = pa.array([None if k == 5 else 2**53 + int(k) for k in rng.integers(0, 9, n_rows)])
    columns["u2"] = pa.array(rng.integers(0, 2, n_rows).astype(np.uint16))
    columns["t"] = pa.array([None if k == 3 else f" t{k % 4}" for k in range(n_rows)])
    columns["y"] = pa.array([f"c{k}" for k in rng.integers(0, 3, n_rows)])
    return pa.table(columns)


def test_wide_files_of_few_rows_are_counted_alike(tmp_path: Path) -> None:
    """They are read at once, as DuckDB takes 180 MB for some hundred columns; nothing of the table shows it."""
    pytest.importorskip("duckdb", reason="duckdb is not installed (the extra bigdata)")
    import pyarrow.parquet as pq

    for part in range(2):
        pq.write_table(wide_table(40, part), tmp_path / f"{part}.parquet")
    files = [str(tmp_path / f"{part}.parquet") for part in range(2)]
    assert wide_parquet(files, None) is not None
    here, there = (
        et.Table.from_files(tmp_path, "y", engine=engine, bins=2, missing="category")
        for engine in (None, "duckdb")
    )
    assert here.fingerprint() == there.fingerprint()
    assert here.test_names == there.test_names
    assert here.classes == there.classes


def test_which_wide_files_are_left_to_the_engine(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = wide_table(20)

    def read(*tables: Any, memory_limit: int | None = None) -> Any:
        files = [tmp_path / f"{k}.parquet" for k in range(len(tables))]
        for file, each in zip(files, tables, strict=True):
            pq.write_table(each, file)
        return wide_parquet([str(file) for file in files], memory_limit)

    def added(name: str, values: Any) -> Any:
        return table.append_column(name, values)

    assert read(table, table).num_rows == 40
    assert read(table, memory_limit=100_000) is None
    assert read(table.select(range(99))) is None
    assert read(pa.concat_tables([table] * 200)) is None
    assert read(table, table.drop_columns(["b1"]).append_column("b1", table["f"])) is None
    assert read(added("B1", table["b1"])) is None
    assert read(added("when", pa.array([0] * 20, pa.timestamp("s")))) is None
    assert read(added("kind", table["t"].dictionary_encode())) is None
    assert read(added("large", pa.array([1] * 20, pa.uint64()))) is None
    assert read(added("long", pa.array(["x" * 100_000] * 20))) is None
    (tmp_path / "0.parquet").write_bytes(b"PAR1 and no more")
    assert wide_parquet([str(tmp_path / "0.parquet")], None) is None
    assert wide_parquet(["s3://bucket/0.parquet"], None) is None


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of memory is read as Linux tells it"
)
def test_wide_files_of_few_rows_take_little_memory(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed (the extra bigdata)")
    import pyarrow.parquet as pq

    pq.write_table(wide_table(300), tmp_path / "wide.parquet")
    pq.write_table(wide_table(10), tmp_path / "small.parquet")
    script = """
import re, sys
import everytree as et
def memory(name):
    return int(re.search(name + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
def count(name):
    et.Table.from_files(sys.argv[1] + name, "y", bins=2, missing="category", memory_limit=64_000_000)
count("/small.parquet")
open("/proc/self/clear_refs", "w").write("5")
before = memory("VmRSS")
count("/wide.parquet")
print(memory("VmHWM") - before, "duckdb" in sys.modules)
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
    )
    peak, with_duckdb = run.stdout.split()
    assert with_duckdb == "False"
    assert int(peak) < 40e6
