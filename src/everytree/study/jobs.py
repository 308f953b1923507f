"""Jobs (one fold each) that make up a study, and the file that keeps their results.

A job says everything its result depends on; its key is that, as text. The file has a first line with the settings of
the study and one line for each job that is done, written in one piece as soon as it is done: whatever ends a study
loses the jobs that were running and no more, and a study started again continues. Results are not added to a file made
with other settings: that is an error which says what differs. Readers and writers lock the file (where there are such
locks), so two runs into one folder do some jobs twice and spoil nothing.
"""

from __future__ import annotations

import gzip
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
    """One measurement of a study.

    Parameters
    ----------
    part : str
        The table or figure that it belongs to.
    data : str
        The name of the data set.
    settings : mapping
        The settings of the models.
    trial : int
        The number of the fold or trial, from 0.

    Examples
    --------
    >>> Job("table1", "vote", {"bins": 4}, 0).key
    '["table1", "vote", {"bins": 4}, 0]'
    """

    part: str
    data: str
    settings: Mapping[str, Any] = field(hash=False)
    trial: int

    @property
    def key(self) -> str:
        """The job as text, which is equal for equal jobs only."""
        return json.dumps([self.part, self.data, dict(sorted(self.settings.items())), self.trial])


@dataclass(frozen=True, slots=True)
class Study:
    """A study: what is measured, how, and what is shown of it.

    Parameters
    ----------
    name : str
        The name that ``run_study`` takes.
    title : str
        The title of the report.
    needs : callable
        ``needs(quick)`` lists the data sets.
    settings : callable
        ``settings(quick)`` returns what the results depend on beside the jobs.
    jobs : callable
        ``jobs(quick, names)`` lists the jobs for those of the data sets that are there.
    run : callable
        ``run(job, folder)`` returns the rows of one job.
    report : callable
        ``report(rows, quick)`` makes tables and charts of all rows there are.

    Examples
    --------
    >>> from everytree.study.run import find_study
    >>> study = find_study("nijssen2008")
    >>> study.name, study.jobs(True, ["vote"])[0].data
    ('nijssen2008', 'vote')
    """

    name: str
    title: str
    needs: Callable[[bool], Sequence[str]]
    settings: Callable[[bool], Row]
    jobs: Callable[[bool, Sequence[str]], list[Job]]
    run: Callable[[Job, Path | None], list[Row]]
    report: Callable[[list[Row], bool], Any]


class Results:
    """The file of results of one study.

    Parameters
    ----------
    path : Path
        The file, made if it does not exist.
    settings : dict
        The settings of the study; a file with others is refused.
    fresh : bool, default=False
        Whether to begin again.

    Raises
    ------
    DataError
        If the file holds something else.
    QueryError
        If the file was made with other settings.

    Examples
    --------
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
        packed = path.with_name(path.name + ".gz")
        if fresh:
            path.unlink(missing_ok=True)
        elif packed.is_file() and not path.exists():
            path.write_bytes(
                gzip.decompress(packed.read_bytes())
            )  # Lines that were packed to be kept go on here.
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
        """Return whether a job is done.

        Parameters
        ----------
        job : Job
            The job.

        Returns
        -------
        bool
            Whether the file has its line.
        """
        return job.key in self.found

    def add(self, job: Job, rows: Sequence[Row], seconds: float) -> None:
        """Write the line of one job, in one piece.

        Parameters
        ----------
        job : Job
            The job.
        rows : sequence of dict
            Its results.
        seconds : float
            The time that it took.
        """
        line = {"key": job.key, "seconds": round(seconds, 4), **_packed(rows)}
        text = (json.dumps(line, ensure_ascii=False) + "\n").encode()
        with _alone(self.path) as handle:
            _append(handle, text if _ends_whole(handle) or _whole_lines(handle) else self._head() + text)
        self.found[job.key] = json.loads(json.dumps(line))

    def rows(self, jobs: Iterable[Job]) -> list[Row]:
        """Return the rows of the jobs that are done.

        Parameters
        ----------
        jobs : iterable of Job
            The jobs to look for.

        Returns
        -------
        list of dict
            The rows with the part, the data set, the settings and the trial of their job, in the order of the jobs.
        """
        found = []
        for job in jobs:
            about = {"part": job.part, "data": job.data, **job.settings, "trial": job.trial}
            found += [about | row for row in rows_of_line(self.found.get(job.key, {}))]
        return found

    def seconds_left(self, jobs: Sequence[Job]) -> float | None:
        """Estimate how long the jobs that are not done will take.

        The estimate of a job is the median of those done with the same settings (the first of a worker also loads
        everything), else the mean of such medians on the same data and part, else that of all.

        Parameters
        ----------
        jobs : sequence of Job
            All jobs of the run.

        Returns
        -------
        float or None
            The seconds of one worker; None while no job is done.

        Examples
        --------
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
    """Return everything of a job but its trial."""
    return job.part, job.data, json.dumps(dict(sorted(job.settings.items())))


@contextmanager
def _alone(path: Path) -> Iterator[int]:
    """Open the file, made if absent, to read and to append to, while no other run has it."""
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
    """Read all lines of a file, and cut off one without its end, which was being written when a study ended."""
    os.lseek(handle, 0, os.SEEK_SET)
    with os.fdopen(os.dup(handle), "rb") as stream:
        text = stream.read()
    whole = text[: text.rfind(b"\n") + 1]
    if len(whole) < len(text):
        os.ftruncate(handle, len(whole))
    return whole


def _ends_whole(handle: int) -> bool:
    """Return whether the last line is complete, so that the whole file need not be read again for every job."""
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
    """Group rows by the values of some columns, in the order in which they first occur.

    Parameters
    ----------
    rows : iterable of dict
        The rows.
    *names : str
        The columns.

    Returns
    -------
    dict of tuple to list of dict
        The rows by their values of the columns.

    Examples
    --------
    >>> list(merged([{"a": 1, "b": 2}, {"a": 1, "b": 3}], "a"))
    [(1,)]
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names), []).append(row)
    return groups
