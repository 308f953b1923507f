"""The benchmark of compressed rules runs, on its smallest file."""

from __future__ import annotations

import pytest

import bench_compress
from harness import DATA


@pytest.mark.skipif(not (DATA / "vote.csv").exists(), reason="the data files are not there")
def test_a_curve_and_its_table() -> None:
    rows = bench_compress.bench("vote", (0.1, 0.0), 1)
    assert [list(row) for row in rows] == [bench_compress.COLUMNS] * 2
    assert rows[0]["rules"] < rows[1]["rules"]
    assert rows[0]["error_on_file"] <= rows[0]["bound"] <= 0.1
    table = bench_compress.markdown(rows).splitlines()
    assert table[-1].startswith("| vote | 16 | 0 | 2,516 | 100 % | 0 |")
