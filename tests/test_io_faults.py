"""Disks that are full and devices that fail: nothing half-written, and the same answer when asked again.

Writing: the system itself refuses bytes beyond a limit (RLIMIT_FSIZE: a write fails at that very byte, in Python's
files as in those of pyarrow), and the calls around it (link, fsync, replace) fail in turn. Reading: the k-th read of a
file fails, for k = 1, 2, …
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et
import everytree.cli
from everytree.data.readers import read_arff, read_arrow
from everytree.report import write_report

resource = pytest.importorskip("resource", reason="limits on files are POSIX's")

OLD = b"what was there before\n"


def table(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 80, n), "income": rng.normal(size=n).round(3)})
    frame["owns"] = rng.choice(["yes", "no"], n)
    frame["ill"] = np.where((frame["age"] > 50) ^ (rng.random(n) < 0.1), "yes", "no")
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data in every format, and a model of each format of file."""
    place = tmp_path_factory.mktemp("files")
    frame = table()
    frame.to_csv(place / "data.csv", index=False)
    frame.to_csv(place / "data.csv.gz", index=False)
    frame.to_parquet(place / "data.parquet")
    frame.to_feather(place / "data.feather")
    head = "@relation r\n@attribute age numeric\n@attribute ill {yes,no}\n@data\n"
    rows = "".join(f"{age},{ill}\n" for age, ill in zip(frame["age"], frame["ill"], strict=True))
    (place / "data.arff").write_text(head + rows)
    X, y = frame.drop(columns="ill"), frame["ill"]
    for name, model in MODELS.items():
        model().fit(X, y).save(place / f"{name}.json")
    et.Table.from_frame(frame, "ill").save(place / "table.arrow")
    return place


MODELS: dict[str, Callable[[], Any]] = {
    "optimal": lambda: et.OptimalTreeClassifier(max_depth=2),
    "bayes": lambda: et.BayesOptimalClassifier(max_depth=2, bins=2),
    "c45": et.C45TreeClassifier,
    "rules": lambda: et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=2, bins=2), 0.05),
}


def command(*arguments: Any) -> None:
    """Call the command line here; a code that is not 0 is an error, as one line."""
    before = sys.argv
    sys.argv = ["everytree", *map(str, arguments)]
    told = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
            everytree.cli.main()
    except SystemExit as end:
        if end.code:
            assert "Traceback" not in told.getvalue()
            raise OSError(f"{end.code}: {told.getvalue()}") from None
    finally:
        sys.argv = before


# --- writing

WRITERS: dict[str, tuple[str, Callable[[Path, Path], object]]] = {
    **{
        f"save {name}": ("out.json", lambda folder, out, name=name: et.load_model(folder / f"{name}.json").save(out))
        for name in MODELS
    },
    "Table.save": ("out.arrow", lambda folder, out: et.Table.load(folder / "table.arrow").save(out)),
    "write_report": ("out.html", lambda folder, out: write_report(et.load_model(folder / "optimal.json"), out)),
    "predict csv": (
        "out.csv", lambda folder, out: command("predict", folder / "bayes.json", folder / "data.csv", "--out", out),
    ),
    "predict parquet": (
        "out.parquet",
        lambda folder, out: command("predict", folder / "bayes.json", folder / "data.csv", "--out", out),
    ),
    "export": ("out.sql", lambda folder, out: command("export", folder / "optimal.json", "--to", "sql", "--out", out)),
}  # fmt: skip


@contextlib.contextmanager
def bytes_at_most(n: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes: a write there fails, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def whole(name: str, folder: Path, place: Path) -> tuple[Path, bytes]:
    """Write once without a fault: the path, and what must be there."""
    file, write = WRITERS[name]
    out = place / file
    write(folder, out)
    content = out.read_bytes()
    assert content
    out.write_bytes(OLD)
    return out, content


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file_and_no_other(name: str, folder: Path, tmp_path: Path) -> None:
    out, content = whole(name, folder, tmp_path)
    write = WRITERS[name][1]
    for n in sorted({0, 1, len(content) // 10, len(content) // 2, len(content) - 1}):
        with pytest.raises((OSError, et.EverytreeError)) as caught, bytes_at_most(n):
            write(folder, out)
        assert out.name in str(caught.value), n
        assert ".tmp" not in str(caught.value), n
        assert out.read_bytes() == OLD, n
        assert os.listdir(tmp_path) == [out.name], n
        fresh = tmp_path / f"new{out.suffix}"
        with pytest.raises((OSError, et.EverytreeError)), bytes_at_most(n):
            write(folder, fresh)
        assert os.listdir(tmp_path) == [out.name], n
    write(folder, out)
    assert out.read_bytes() == content


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_calls_around_a_write_may_fail(
    name: str, number: int, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, content = whole(name, folder, tmp_path)
    write, n_failed = WRITERS[name][1], 0
    for call in ("fsync", "replace", "link"):
        genuine = getattr(os, call)
        with monkeypatch.context() as broken:
            done = []

            def fails(*given: Any, done: list[int] = done, **more: Any) -> None:
                done.append(1)
                raise OSError(number, os.strerror(number))

            broken.setattr(os, call, fails)
            try:
                write(folder, out)
                written = True
            except (OSError, et.EverytreeError):
                written = False
        assert getattr(os, call) is genuine
        n_failed += len(done)
        assert written is (call == "link" or not done), call  # without links there is a draft with a name
        assert out.read_bytes() == (content if written else OLD), call
        assert os.listdir(tmp_path) == [out.name], call
        out.write_bytes(OLD)
    assert n_failed
    write(folder, out)
    assert out.read_bytes() == content


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_pipe_is_one_line(folder: Path) -> None:
    told = [
        sys.executable,
        "-m",
        "everytree",
        "predict",
        str(folder / "optimal.json"),
        str(folder / "data.csv"),
    ]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(told, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


# --- reading


class Broken(io.FileIO):
    """A file whose k-th read fails."""

    reads = 0
    fails_at = 0

    def _read(self) -> None:
        Broken.reads += 1
        if Broken.reads == Broken.fails_at:
            raise OSError(errno.EIO, os.strerror(errno.EIO), self.name)

    def readinto(self, buffer: Any) -> int | None:
        self._read()
        return super().readinto(memoryview(buffer)[:512])  # short reads are allowed, and make many of them

    def readall(self) -> bytes:
        self._read()
        return super().readall()

    def read(self, size: int | None = -1) -> Any:
        self._read()
        return super().read(size)


def said(model: Any) -> list[str]:
    return model.predict(table().drop(columns="ill")).tolist()


READERS: dict[str, Callable[[Path], Any]] = {
    "csv": lambda folder: et.read_csv(folder / "data.csv"),
    "csv.gz": lambda folder: et.read(folder / "data.csv.gz"),
    "read": lambda folder: et.read(folder / "data.csv", target="ill"),
    "arff": lambda folder: read_arff(folder / "data.arff"),
    "parquet": lambda folder: et.read_parquet(folder / "data.parquet"),
    "feather": lambda folder: read_arrow(folder / "data.feather"),
    "chunks": lambda folder: [part.n_rows for part in et.read_chunks(folder / "data.csv", rows=7)],
    **{
        f"load {name}": lambda folder, name=name: said(et.load_model(folder / f"{name}.json"))
        for name in MODELS
    },
    "verify": lambda folder: et.verify_model(folder / "optimal.json", folder / "data.csv"),
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_a_read_that_fails_is_an_error_and_asking_again_answers(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine, place = builtins.open, str(folder)

    def opened(file: Any, mode: str = "r", *given: Any, **more: Any) -> Any:
        if isinstance(file, int) or not os.fspath(file).startswith(place):
            return genuine(file, mode, *given, **more)
        buffered = io.BufferedReader(Broken(file, "r"), 512)
        names = ("buffering", "encoding", "errors", "newline")
        options = dict(zip(names, given, strict=False)) | more
        options.pop("buffering", None)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, **options)

    right = READERS[name](folder)
    monkeypatch.setattr(builtins, "open", opened)
    monkeypatch.setattr(io, "open", opened)
    Broken.reads = Broken.fails_at = 0
    assert READERS[name](folder) == right
    n_reads = Broken.reads
    assert n_reads > 1, "the reader opens its file by another way"
    for k in sorted({*range(1, min(n_reads, 12) + 1), n_reads // 2, n_reads - 1, n_reads} - {0}):
        Broken.reads, Broken.fails_at = 0, k
        with pytest.raises((OSError, et.EverytreeError), match=r"Input/output error"):
            READERS[name](folder)
        Broken.fails_at = 0
        assert READERS[name](folder) == right
