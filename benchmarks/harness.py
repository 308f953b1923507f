"""What every benchmark needs: the data, a clock, solvers in processes of their own, results that survive, tables.

A solver runs in a worker process (``worker.py``), so that one that crashes, fills the memory or does not stop costs
one cell of a table and no more. The clock is inside the worker: reading data and starting Python are not counted.
Every measurement is appended to a file at once; a benchmark started again goes on where it stopped.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import platform
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DATA = ROOT.parent / "shared" / "data"
CP4IM = DATA / "cp4im"

Row = dict[str, Any]
T = TypeVar("T")


# --- data and clock


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """One CP4IM file: the 0/1 matrix of tests, and the classes 0 and 1 (its first column)."""
    data = np.loadtxt(CP4IM / f"{name}.txt", dtype=np.uint8)
    return np.ascontiguousarray(data[:, 1:]), data[:, 0]


def timed(f: Callable[[], T]) -> tuple[float, T]:
    """Seconds of a call, and what it returned."""
    start = time.perf_counter()
    value = f()
    return time.perf_counter() - start, value


def resident(field: str) -> float:
    """MB of this process that are in memory: now (VmRSS), or at most so far (VmHWM)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(field))


def cpu() -> str:
    """The name of the processor."""
    try:
        info = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        return next(line.split(":")[1].strip() for line in info.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown CPU"


def machine() -> str:
    """What the numbers were measured with, in one line."""
    import everytree as et
    from everytree import _core

    return f"everytree {et.__version__} ({_core.kernels()} kernels), Python {platform.python_version()}, {cpu()}."


def build() -> str:
    """A short name for the engine that is measured: it changes with any file of the package."""
    import everytree
    from everytree import _core

    digest = hashlib.sha256(Path(_core.__file__).read_bytes())
    for path in sorted(Path(everytree.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


# --- workers


class Worker:
    """A process that solves jobs one after another; it is ended and replaced when a job takes too long.

    ``python`` may be another interpreter, for solvers that are installed elsewhere.
    """

    SLACK = 30.0  # seconds beyond the cap before the process is ended: imports, reading, clocks checked late

    def __init__(self, python: str = sys.executable, memory: int | None = None) -> None:
        self.python, self.memory = python, memory
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, job: Mapping[str, Any], cap: float) -> Row:
        """The worker's answer; {"limit": …} if it took longer than the cap, {"failed": …} if it died or raised."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write((json.dumps(dict(job) | {"cap": cap}) + "\n").encode())
        process.stdin.flush()
        end = time.monotonic() + cap + self.SLACK
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                self.close()
                return {"limit": f"over {cap:g} s"}
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                code = process.wait()
                self.close()
                return {"failed": f"the process ended with code {code}"}
            line += piece
        answer: Row = json.loads(line)
        if answer.get("seconds", 0.0) > cap and "stopped" not in answer:
            answer = {"limit": f"over {cap:g} s"}
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            worker = str(Path(__file__).with_name("worker.py"))
            limit = [] if self.memory is None else [str(self.memory)]
            one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
            self.process = subprocess.Popen(
                [self.python, worker, *limit],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | one,
            )
        return self.process

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()
            self.process = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


# --- results that survive


class Store:
    """Measurements of one part, one JSON line each, written as they are made.

    ``keys`` name what a measurement is of. Lines of another build of the engine are left out when read, unless they
    are of a peer: peers do not change with our build.
    """

    def __init__(self, path: Path, keys: Sequence[str], build: str, fresh: bool = False) -> None:
        self.path, self.keys, self.build = path, tuple(keys), build
        self.rows: list[Row] = []
        if fresh:
            path.unlink(missing_ok=True)
        if path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            stored = [json.loads(line) for line in lines if line.strip()]
            self.rows = [row for row in stored if row["build"] == build or row.get("peer")]
            if len(self.rows) < len(stored):  # drop the others for good
                path.write_text("".join(json.dumps(row) + "\n" for row in self.rows), encoding="utf-8")

    def of(self, **what: Any) -> list[Row]:
        """The measurements with these keys, in the order in which they were made."""
        return [row for row in self.rows if all(row.get(name) == value for name, value in what.items())]

    def add(self, row: Mapping[str, Any], peer: bool = False) -> Row:
        """Write one measurement down."""
        stored = dict(row) | {"build": self.build} | ({"peer": True} if peer else {})
        self.rows.append(stored)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(stored) + "\n")
        return stored


class Budget:
    """Seconds for one start of a benchmark: no new measurement begins after them."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.ran_out = False

    def spent(self) -> bool:
        if time.monotonic() > self.end:
            self.ran_out = True
        return self.ran_out


# --- numbers and tables


def geometric_mean(values: Iterable[float]) -> float:
    """exp of the mean logarithm."""
    return math.exp(statistics.mean(math.log(value) for value in values))


def cell(value: object) -> str:
    """A value in a table: three digits are enough for a time."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"
    if isinstance(value, int) and value >= 10000:
        return f"{value:,}"
    return "–" if value is None else str(value)


def markdown(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    """The lines of a table."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(cell(row.get(name)) for name in columns) + " |" for row in rows]


def write(name: str, lines: Sequence[str], rows: Sequence[Mapping[str, Any]], out: Path) -> str:
    """Write name.md and name.csv; returns the text."""
    text = "\n".join(lines).rstrip("\n") + "\n"
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.md").write_text(text, encoding="utf-8")
    with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)
    return text
