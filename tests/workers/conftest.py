"""Every backend of joblib that is installed, with two workers; those of a cluster are started once."""

from __future__ import annotations

import multiprocessing.pool
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import joblib
import joblib.pool
import pytest

BACKENDS = ("threading", "loky", "multiprocessing", "dask", "ray", "spark")
OTHER_PROCESSES = BACKENDS[1:]
INSTALL = "is not installed (the extra cluster)"


@pytest.fixture(scope="session")
def clusters() -> Iterator[dict[str, Any]]:
    """What was started, by name: it is stopped when all tests are done."""
    with ExitStack() as stack:
        yield {"stack": stack}


def dask(clusters: dict[str, Any]) -> None:
    distributed = pytest.importorskip("distributed", reason=f"dask {INSTALL}")
    if "dask" not in clusters:
        local = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        )
        clusters["dask"] = clusters["stack"].enter_context(local)
        clusters["stack"].enter_context(distributed.Client(local))


def ray(clusters: dict[str, Any]) -> None:
    ray = pytest.importorskip("ray", reason=f"ray {INSTALL}")
    from ray.util.joblib import register_ray

    register_ray()
    if "ray" not in clusters:
        os.environ.setdefault(
            "RAY_worker_niceness", "0"
        )  # by default workers yield to all else on the machine
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        clusters["ray"] = clusters["stack"].callback(ray.shutdown)


def spark(clusters: dict[str, Any]) -> None:
    joblibspark = pytest.importorskip("joblibspark", reason=f"joblibspark {INSTALL}")
    from pyspark.sql import SparkSession

    joblibspark.register_spark()
    if "spark" not in clusters:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        clusters["spark"] = clusters["stack"].callback(session.stop)


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, clusters: dict[str, Any]) -> Iterator[str]:
    """The name of a backend that is in force."""
    start = {"dask": dask, "ray": ray, "spark": spark}.get(request.param)
    if start is not None:
        start(clusters)
    if request.param == "multiprocessing":  # Ray's backend, once used, has put a pool of its own there
        joblib.pool.PicklingPool.__bases__ = (multiprocessing.pool.Pool,)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*stage-level scheduling.*")
        with joblib.parallel_config(backend=request.param, n_jobs=2):
            yield request.param
