"""Files: what reads, writes and judges them. Readers have a limit of memory and none of time; Ctrl-C ends all."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

import everytree as et
from everytree.common.limits import Limits

from .registry import Ask, call
from .scales import Scale

__all__ = ["csv_of", "model_of"]


@lru_cache(maxsize=1)
def folder() -> Path:
    """Return a folder that goes when the process ends that asked for it first; its forks share it."""
    path = Path(tempfile.mkdtemp(prefix="limits-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def columns_of(scale: Scale) -> tuple[list[str], list[list[str]]]:
    """Return the names and the texts of the columns of numbers, some of texts, weights and the label, ``y``."""
    X, y = scale.numbers()
    _, _, weights = scale.table()
    rng = np.random.default_rng(3)
    columns = [[f"{x:.4f}" for x in X[:, j]] for j in range(X.shape[1])]
    columns += [[f"t{k}" for k in rng.integers(0, 50, len(y))] for _ in range(2)]
    columns += [[str(w) for w in weights], [f"c{label}" for label in y]]
    names = [f"x{j}" for j in range(X.shape[1])] + ["text", "other", "weight", "y"]
    return names, columns


def csv_of(scale: Scale) -> Path:
    """Return a CSV file of a scale, written once."""
    path = folder() / f"{abs(hash(scale))}.csv"
    if not path.exists():
        names, columns = columns_of(scale)
        path.write_text("\n".join([",".join(names), *map(",".join, zip(*columns, strict=True))]) + "\n")
    return path


def arff_of(scale: Scale) -> Path:
    names, columns = columns_of(scale)
    path = folder() / f"{abs(hash(scale))}.arff"
    words = {
        name: "{" + ",".join(sorted(set(texts))) + "}" for name, texts in zip(names, columns, strict=True)
    }
    kinds = {name: words[name] if name in ("text", "other", "y") else "NUMERIC" for name in names}
    lines = ["@RELATION r", *(f"@ATTRIBUTE {name} {kinds[name]}" for name in names), "@DATA"]
    path.write_text("\n".join(lines + list(map(",".join, zip(*columns, strict=True)))) + "\n")
    return path


def parquet_of(scale: Scale) -> Path:
    import pyarrow.csv
    import pyarrow.parquet

    path = folder() / f"{abs(hash(scale))}.parquet"
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(csv_of(scale)), path)
    return path


def model_of(scale: Scale, kind: str) -> Path:
    """Return a model that is learned quickly from some rows of the file of a scale."""
    data = et.read_csv(csv_of(scale), target="y")
    few = data.take(np.arange(min(2_000, data.n_rows)))
    makes = {
        "tree": lambda: et.OptimalTreeClassifier(max_depth=3, time_limit=0.5),
        "average": lambda: et.BayesOptimalClassifier(max_depth=2, time_limit=2.0),
        "every": lambda: et.EveryTreeClassifier(1.0),
    }
    path = folder() / f"{abs(hash(scale))}-{kind}.json"
    makes[kind]().fit(*few.split()).save(path, target="y")
    return path


def reads(*names: str, path_of: Callable[[Scale], Path], read: Callable[..., object]) -> None:
    def ready(scale: Scale, limits: Limits) -> Ask:
        path = path_of(scale)
        return lambda: read(path, target="y", memory_limit=limits.memory_limit)

    call(*names, without=("time",))(ready)


# Without a target: hundreds of texts are refused as one.
reads("read", "read_csv", path_of=csv_of, read=lambda path, target, **limits: et.read(path, **limits))
reads("read_arff", path_of=arff_of, read=et.read_arff)
reads("read_parquet", path_of=parquet_of, read=et.read_parquet)


@call("read_chunks", without=("time",))
def chunks_read(scale: Scale, limits: Limits) -> Ask:
    path = csv_of(scale)
    return lambda: [
        chunk.n_rows for chunk in et.read_chunks(path, target="y", memory_limit=limits.memory_limit)
    ]


@call("Table.from_files", "Table.from_chunks", "Table.from_parquet", without=("time",))
def files_counted(scale: Scale, limits: Limits) -> Ask:
    path = parquet_of(scale)
    memory = None if limits.memory_limit is None else int(limits.memory_limit)
    return lambda: et.Table.from_files(path, target="y", memory_limit=memory)


@call("Table.load", "Table.save", without=("time", "memory"))
def table_stored(scale: Scale, limits: Limits) -> Ask:
    del limits
    X, y, weights = scale.table()
    path = folder() / "table.json"
    table = et.Table.from_arrays(X, y, sample_weight=weights)

    def ask() -> object:
        table.save(path)
        return et.Table.load(path)

    return ask


@call("load_model", without=("time", "memory"))
def loaded(scale: Scale, limits: Limits) -> Ask:
    del limits
    path = model_of(scale, "every")
    return lambda: et.load_model(path)


# Its limit of time is for the proofs; reading the file and folding the tables of an average come before.
@call("verify_model", without=("time", "memory"))
def verified(scale: Scale, limits: Limits) -> Ask:
    del limits
    model, data = model_of(scale, "average"), csv_of(scale)
    return lambda: et.verify_model(model, data)
