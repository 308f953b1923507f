"""Frames of awkward data, and the same rows in every engine that is installed."""

from __future__ import annotations

import os
import sys
import warnings
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pytest

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

CLUSTER = "is not installed (the extra cluster)"
ENGINES = (
    "polars", "polars-eager", "arrow", "pandas", "pandas-numpy", "duckdb", "ibis-duckdb", "ibis-polars", "dask",
    "spark",
)  # fmt: skip
SLOW = ("spark",)  # a second and more for each query

WORDS = [
    "",
    " ",
    "a",
    "A",
    "é",
    "e\u0301",
    "日本",
    "it's",
    'quo"te',
    "NaN",
    "null",
    "None",
    "0",
    "-1",
    "a\nb",
    "\\",
    "%s",
    "—",
]
NAMES = [
    "a b",
    'quo"te',
    "it's",
    "select",
    "from",
    "é",
    "x.y",
    "`tick`",
    "[0]",
    "n",
    "y",
    "c0",
    "k0",
    "",
    "%",
    "a;b",
    "$1",
]


@cache
def spark_session() -> Any:
    pytest.importorskip("pyspark", reason=f"pyspark {CLUSTER}")
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
    session.sparkContext.setLogLevel("ERROR")
    return session


def as_engine(frame: Any, engine: str) -> Any:
    """A polars frame as a frame of another engine; the test is skipped where that is not installed."""
    if engine == "polars":
        return frame.lazy()
    if engine == "polars-eager":
        return frame
    if engine == "arrow":
        return frame.to_arrow()
    if engine == "pandas":
        pytest.importorskip("pandas")
        return frame.to_pandas(use_pyarrow_extension_array=True)
    if engine == "pandas-numpy":
        pytest.importorskip("pandas")
        return frame.to_pandas()
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed (the extra bigdata)")
        connection = duckdb.connect(":memory:")
        connection.register("frame", frame.to_arrow())
        return connection.table("frame")
    if engine.startswith("ibis"):
        ibis = pytest.importorskip("ibis", reason="ibis is not installed (the extra engines)")
        return getattr(ibis, engine[5:]).connect().create_table("frame", frame.to_arrow())
    if engine == "dask":
        dd = pytest.importorskip("dask.dataframe", reason=f"dask {CLUSTER}")
        return dd.from_pandas(frame.to_pandas(use_pyarrow_extension_array=True), npartitions=3)
    return spark_session().createDataFrame(frame.to_arrow())


def awkward(seed: int, n: int = 60) -> Any:
    """A frame with a target ``the label`` and weights ``how often``; its columns and their names are at random."""
    rng = np.random.default_rng(seed)

    def holes(values: list[Any], share: float = 0.1) -> list[Any]:
        return [None if rng.random() < share else value for value in values]

    few = rng.integers(0, 4, n)
    makers = [
        lambda: pl.Series(
            holes(rng.choice([0.0, -0.0, float("nan"), -1.5, 1e-320, 2.0], n).tolist()), dtype=pl.Float64
        ),
        lambda: pl.Series(
            holes(rng.choice([-1e300, 1e300, 5e-324, 0.1, 0.30000000000000004], n).tolist()), dtype=pl.Float64
        ),
        lambda: pl.Series(holes(np.round(rng.normal(size=n), 2).tolist()), dtype=pl.Float32),
        lambda: pl.Series(holes((rng.integers(0, 4, n) + 2**53 - 1).tolist()), dtype=pl.Int64),
        lambda: pl.Series(holes((rng.integers(-3, 3, n) - 2**62).tolist()), dtype=pl.Int64),
        lambda: pl.Series(holes(rng.integers(-128, 128, n).tolist()), dtype=pl.Int8),
        lambda: pl.Series(holes(rng.integers(-1, 2, n).tolist()), dtype=pl.Int32),
        lambda: pl.Series(holes((few > 1).tolist()), dtype=pl.Boolean),
        lambda: pl.Series(holes((few % 2).tolist()), dtype=pl.Int16),
        lambda: pl.Series(holes(rng.choice(WORDS, n).tolist()), dtype=pl.String),
        lambda: pl.Series(holes(rng.choice(["", "x"], n).tolist()), dtype=pl.String),
        lambda: pl.Series([None] * n, dtype=pl.Float64),
        lambda: pl.Series([None] * n, dtype=pl.String),
        lambda: pl.Series([7] * n, dtype=pl.Int64),
        lambda: pl.Series(
            holes([Decimal(int(k)) / 4 for k in rng.integers(-9, 9, n)]), dtype=pl.Decimal(10, 2)
        ),
    ]
    names = rng.permutation(NAMES).tolist()
    chosen = rng.permutation(len(makers))[: int(rng.integers(3, 8))]
    columns = [makers[k]().alias(str(name)) for k, name in zip(chosen.tolist(), names, strict=False)]
    label = [
        rng.choice(["no", "yes", "perhaps"], n).tolist(),
        (rng.random(n) < 0.4).tolist(),
        rng.integers(-1, 2, n).tolist(),
        ["only"] * n,
    ][seed % 4]
    weight = rng.choice([0, 1, 2, 2**33, 2**45 + 1], n)
    return pl.DataFrame(
        [*columns, pl.Series("the label", label), pl.Series("how often", weight, dtype=pl.Int64)]
    )
