"""What a study is made of: jobs (one fold each), and the file that keeps what they found.

A job says everything its result depends on; its key is that, as text. The file has a first line with the settings of
the study and one line for each job that is done, written in one piece as soon as it is done: whatever ends a study
loses the jobs that were running and no more, and a study started again goes on. A file made with other settings is
not mixed with: that is an error which says what differs. Whoever reads or writes locks the file (where there are such
locks), so two runs into one folder do some jobs twice and spoil nothing.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everytree.errors import DataError, QueryError

__all__ = ["Job", "Results", "Row", "Study", "merged", "rows_of_line"]

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """One measurement: a part of the study, a data set, the settings, and which fold or trial.

    >>> Job("table1", "vote", {"bins": 4}, 0).key
    '["table1", "vote", {"bins": 4}, 0]'
    """

    part: str
    data: str
    settings: Mapping[str, Any] = field(hash=False)
    trial: int

    @property
    def key(self) -> str:
        """The job as text: equal for equal jobs only."""
        return json.dumps([self.part, self.data, dict(sorted(self.settings.items())), self.trial])


@dataclass(frozen=True, slots=True)
class Study:
    """A study: what is measured, how, and what is shown of it.

    ``jobs(quick, names)`` lists them for those of the data sets ``needs`` that are there; ``run(job, folder)`` returns
    the rows of one job; ``report(rows, quick)`` makes tables and charts of all rows there are.
    """

    name: str
    title: str
    needs: Callable[[bool], Sequence[str]]
    settings: Callable[[bool], Row]
    jobs: Callable[[bool, Sequence[str]], list[Job]]
    run: Callable[[Job, Path | None], list[Row]]
    report: Callable[[list[Row], bool], Any]


class Results:
    """The lines of one study so far.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "results.jsonl"
    >>> job = Job("table1", "vote", {"bins": 4}, 0)
    >>> Results(path, {"folds": 10}).add(job, [{"model": "J48", "accuracy": 0.96}], seconds=0.5)
    >>> Results(path, {"folds": 10}).rows([job])
    [{'part': 'table1', 'data': 'vote', 'bins': 4, 'trial': 0, 'model': 'J48', 'accuracy': 0.96}]
    """

    def __init__(self, path: Path, settings: Row, fresh: bool = False) -> None:
        self.path, self.settings = path, json.loads(json.dumps(settings))
        self.found: dict[str, Row] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            path.unlink(missing_ok=True)
        with _alone(path) as handle:  # also finds out, before any job runs, that nothing can be written there
            lines = _whole_lines(handle).decode("utf-8", errors="replace").splitlines()
            if lines:
                self._read(lines)
            if not self.found:
                os.ftruncate(handle, 0)
                _append(handle, self._head())

    def _head(self) -> bytes:
        return (json.dumps({"settings": self.settings}, ensure_ascii=False) + "\n").encode()

    def _read(self, lines: Sequence[str]) -> None:
        try:
            parsed = [json.loads(line) for line in lines]
            before = dict(parsed[0]["settings"])
            self.found = {line["key"]: line for line in parsed[1:]}
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{self.path} is no file of results ({type(error).__name__}: {error}); "
                "choose another folder by --out, or begin again with --fresh"
            ) from error
        if self.found and before != self.settings:
            names = sorted(before.keys() | self.settings.keys())
            changed = [name for name in names if before.get(name) != self.settings.get(name)]
            differ = "; ".join(
                f"{name} was {before.get(name)}, is {self.settings.get(name)}" for name in changed
            )
            raise QueryError(
                f"{self.path} was made with other settings ({differ}); choose another folder by --out, or begin "
                "again with --fresh"
            )

    def done(self, job: Job) -> bool:
        """Whether a job has its line."""
        return job.key in self.found

    def add(self, job: Job, rows: Sequence[Row], seconds: float) -> None:
        """Write the line of one job, in one piece."""
        line = {"key": job.key, "seconds": round(seconds, 4), **_packed(rows)}
        text = (json.dumps(line, ensure_ascii=False) + "\n").encode()
        with _alone(self.path) as handle:
            _append(handle, text if _ends_whole(handle) or _whole_lines(handle) else self._head() + text)
        self.found[job.key] = json.loads(json.dumps(line))

    def rows(self, jobs: Iterable[Job]) -> list[Row]:
        """The rows of these jobs that are done, with what the job was, in the order of the jobs."""
        found = []
        for job in jobs:
            about = {"part": job.part, "data": job.data, **job.settings, "trial": job.trial}
            found += [about | row for row in rows_of_line(self.found.get(job.key, {}))]
        return found

    def seconds_left(self, jobs: Sequence[Job]) -> float | None:
        """What the jobs not done will take; None at first.

        By the median of those done with the same settings (the first of a worker also loads everything), else by the
        mean of such medians on the same data and part, else by that of all.

        >>> import tempfile
        >>> results = Results(Path(tempfile.mkdtemp()) / "r.jsonl", {})
        >>> jobs = [Job("a", "vote", {}, trial) for trial in range(4)]
        >>> results.add(jobs[0], [], 2.0); results.seconds_left(jobs)
        6.0
        """
        spent: dict[tuple[str, ...], list[float]] = {}
        for job in jobs:
            if self.done(job):
                spent.setdefault(_kind(job), []).append(self.found[job.key]["seconds"])
        if not spent:
            return None
        known: dict[tuple[str, ...], list[float]] = {}
        for kind, each in spent.items():
            for place in (kind, kind[:2], ()):
                known.setdefault(place, []).append(statistics.median(each))
        means = {place: sum(each) / len(each) for place, each in known.items()}
        left = [_kind(job) for job in jobs if not self.done(job)]
        return sum(means.get(kind, means.get(kind[:2], means[()])) for kind in left)


def _packed(rows: Sequence[Row]) -> Row:
    """Rows as a line keeps them: names once where all rows have the same, and six digits of every number.

    A fold of twenty classifiers is then a fifth as long, so that the lines of thousands of folds can be kept.

    >>> _packed([{"model": "J48", "accuracy": 2 / 3}, {"model": "MAP", "accuracy": 0.75}])
    {'columns': ['model', 'accuracy'], 'rows': [['J48', 0.666667], ['MAP', 0.75]]}
    """
    short = [{name: _short(value) for name, value in row.items()} for row in rows]
    if not short or any(list(row) != list(short[0]) for row in short):
        return {"rows": short}
    return {"columns": list(short[0]), "rows": [list(row.values()) for row in short]}


def rows_of_line(line: Row) -> list[Row]:
    """Return the rows that a line of the file keeps."""
    rows = line.get("rows", ())
    return [dict(zip(line["columns"], row, strict=True)) for row in rows] if "columns" in line else list(rows)


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _kind(job: Job) -> tuple[str, ...]:
    """All of a job but its trial."""
    return job.part, job.data, json.dumps(dict(sorted(job.settings.items())))


@contextmanager
def _alone(path: Path) -> Iterator[int]:
    """The file, made if absent, to read and to append to, while no other run has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    try:
        if sys.platform != "win32":
            import fcntl

            with suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    except OSError as error:  # such as a full disk: say where
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(handle)


def _whole_lines(handle: int) -> bytes:
    """All lines of a file; one without its end was being written when a study ended, and is cut off."""
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(os.dup(handle), "rb") as stream:
        text = stream.read()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        os.ftruncate(handle, len(whole))
    return whole


def _ends_whole(handle: int) -> bool:
    """Whether the last line has its end: all of the file need not be read again for every job."""
    if os.fstat(handle).st_size == 0:
        return False
    os.lseek(handle, -1, os.SEEK_END)
    return os.read(handle, 1) == b"\n"


def _append(handle: int, text: bytes) -> None:
    """Write in one piece, or leave the file as it was."""
    before = os.fstat(handle).st_size
    try:
        rest = memoryview(text)
        while rest:
            rest = rest[os.write(handle, rest) :]
    except OSError:
        os.ftruncate(handle, before)
        raise


def merged(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of these columns, in the order in which they first occur.

    >>> list(merged([{"a": 1, "b": 2}, {"a": 1, "b": 3}], "a"))
    [(1,)]
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names), []).append(row)
    return groups
