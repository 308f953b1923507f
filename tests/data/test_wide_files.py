"""Very wide files: read in time, or refused in a sentence."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import everytree as et
from everytree.data.readers.room import MOST_COLUMNS


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
