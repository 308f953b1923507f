"""Run a study: the jobs that are not done yet, in parallel, then its report.

Jobs run trial by trial over all data sets, so that a study that was ended has something of every row of its tables.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from everytree import __version__
from everytree.common import workers
from everytree.errors import DataError, QueryError
from everytree.study.datasets import FETCH, default_folder, present
from everytree.study.jobs import Job, Results, Row, Study
from everytree.study.report import write_report

__all__ = ["STUDIES", "Outcome", "find_study", "run_study", "wanted"]

# name -> module with the function ``study()``
STUDIES = {
    "nijssen2008": "everytree.study.nijssen2008",
    "nijssen2007": "everytree.study.nijssen2007",
    "cano": "everytree.study.cano",
    "buntine1992": "everytree.study.buntine1992",
    "krasznahorkay2004": "everytree.study.krasznahorkay2004",
    "beyond": "everytree.study.beyond",
}


class Outcome(NamedTuple):
    """The result of a run of a study.

    Parameters
    ----------
    report : Report
        The report.
    files : tuple of Path
        The files written.
    absent : tuple of str
        The data sets that were not there.
    done : int
        The number of jobs that are done.
    jobs : int
        The number of all jobs.

    Examples
    --------
    >>> Outcome(None, (), ("vote",), 3, 4).done
    3
    """

    report: Any
    files: tuple[Path, ...]
    absent: tuple[str, ...]
    done: int
    jobs: int


def find_study(name: str) -> Study:
    """Return the study of a name.

    Parameters
    ----------
    name : str
        One of ``STUDIES``.

    Returns
    -------
    Study
        The study.

    Raises
    ------
    QueryError
        If there is no such study.

    Examples
    --------
    >>> find_study("cano").name
    'cano'
    """
    if name not in STUDIES:
        raise QueryError(f"there is no study {name!r}; expected {', '.join(STUDIES)}, or all")
    study: Study = import_module(STUDIES[name]).study()
    return study


Some = Sequence[str] | None


def wanted(name: str, quick: bool, sets: Some, parts: Some) -> list[tuple[str, Some, Some]]:
    """Return the studies to run, each with its data sets and parts.

    Parameters
    ----------
    name : str
        The name of a study, or "all": then those that have some of the named sets and parts.
    quick : bool
        Whether the quick version is run.
    sets : sequence of str or None
        The data sets; None means all.
    parts : sequence of str or None
        The tables and figures; None means all.

    Returns
    -------
    list of tuple
        Entries (name, sets, parts).

    Raises
    ------
    QueryError
        If a set or a part is in no study.

    Examples
    --------
    >>> [study for study, _, _ in wanted("all", False, ["iris"], None)]
    ['buntine1992', 'krasznahorkay2004', 'beyond']
    """
    if name != "all":
        return [(find_study(name).name, sets, parts)]
    found: list[tuple[str, Some, Some]] = []
    known: dict[str, set[str]] = {"data set": set(), "part": set()}
    for each in STUDIES:
        study = find_study(each)
        needed = list(study.needs(quick))
        have = list(dict.fromkeys(job.part for job in study.jobs(quick, needed)))
        known["data set"] |= set(needed)
        known["part"] |= set(have)
        some = [
            None if asked is None else [a for a in asked if a in own]
            for asked, own in ((sets, needed), (parts, have))
        ]
        if [] not in some:
            found.append((each, some[0], some[1]))
    for kind, asked in (("data set", sets), ("part", parts)):
        strange = [each for each in asked or () if each not in known[kind]]
        if strange:
            raise QueryError(
                f"no study has the {kind} {strange[0]!r}; expected one of {', '.join(sorted(known[kind]))}"
            )
    if not found:
        raise QueryError(
            f"no study has the parts {', '.join(parts or ())} on the data sets {', '.join(sets or ())}"
        )
    return found


def run_study(
    name: str,
    data: Path | None = None,
    out: Path = Path("study-output"),
    *,
    quick: bool = False,
    n_jobs: int | None = None,
    fresh: bool = False,
    sets: Sequence[str] | None = None,
    parts: Sequence[str] | None = None,
    trials: int | None = None,
    show: bool = False,
) -> Outcome:
    """Run what is left of a study and write its report into ``out/name`` (``out/name-quick``).

    The report is of all results there are, also those of earlier runs; it is written too when Ctrl-C ends a run.

    Parameters
    ----------
    name : str
        One of ``STUDIES``.
    data : Path or None, default=None
        The folder of the data sets; None means ``../shared/data``.
    out : Path, default=Path("study-output")
        The folder of results.
    quick : bool, default=False
        Whether to run a short version.
    n_jobs : int or None, default=None
        The number of workers, as in joblib. Folds run on the backend of ``joblib.parallel_config``; a worker that dies
        costs the folds it had, which are run again.
    fresh : bool, default=False
        Whether to throw earlier results away.
    sets : sequence of str or None, default=None
        The data sets to use; None means all that the folder has.
    parts : sequence of str or None, default=None
        The tables and figures to make; None means all.
    trials : int or None, default=None
        How many folds of everything to run; None means all.
    show : bool, default=False
        Whether to show a progress bar with an estimate of the time left.

    Returns
    -------
    Outcome
        The report, the files written, and how many jobs are done.

    Raises
    ------
    DataError
        If no data set is there.
    QueryError
        If a set or a part is unknown, or earlier results have other settings.

    Examples
    --------
    >>> from pathlib import Path
    >>> outcome = run_study("nijssen2007", out=Path("out"), quick=True, sets=[], parts=["traps"], n_jobs=1)
    >>> outcome.done, outcome.jobs
    (1, 1)
    """
    study = find_study(name)
    folder = default_folder() if data is None else Path(data)
    if data is not None and not Path(data).is_dir():
        raise DataError(f"there is no folder {data}; choose one by --data, or make one: {FETCH}")
    needed = list(study.needs(quick))
    if sets is not None:
        strange = [each for each in sets if each not in needed]
        if strange:
            raise QueryError(
                f"{name} does not use the data set {strange[0]!r}; it has {', '.join(needed) or 'none'}",
                code="parameter", parameter="sets", value=strange[0], expected=", ".join(needed),
            )  # fmt: skip
        needed = [each for each in needed if each in sets]
    there = present(folder, needed)
    absent = tuple(each for each in needed if each not in there)
    if needed and not there:
        raise DataError(
            f"no folder with the data: {folder or '../shared/data'} has none of {', '.join(needed)}; choose one by "
            f"--data, or make one: {FETCH}"
        )
    jobs = study.jobs(quick, there)
    if parts is not None:
        known = list(dict.fromkeys(job.part for job in jobs))
        for part in parts:
            if part not in known:
                raise QueryError(
                    f"{name} has no part {part!r} on these data; it has {', '.join(known)}",
                    code="parameter", parameter="parts", value=part, expected=", ".join(known),
                )  # fmt: skip
        jobs = [job for job in jobs if job.part in parts]
    if trials is not None:
        jobs = [job for job in jobs if job.trial < trials]
    jobs.sort(key=lambda job: job.trial)
    place = Path(out) / (f"{name}-quick" if quick else name)
    settings = {"study": name, "everytree": __version__, "quick": quick} | study.settings(quick)
    results = Results(place / "results.jsonl", settings, fresh)

    def reported() -> Outcome:
        everything = study.jobs(quick, present(folder, study.needs(quick)))
        report = study.report(results.rows(sorted(everything, key=lambda job: job.trial)), quick)
        report.absent = absent
        done = sum(map(results.done, jobs))
        try:
            files = write_report(report, place)
        except OSError as error:  # the error of a full disk does not name the file
            raise OSError(error.errno, error.strerror, str(error.filename or place)) from error
        return Outcome(report, files, absent, done, len(jobs))

    try:
        _run_jobs(study, jobs, results, folder, n_jobs, show)
    except KeyboardInterrupt:
        if results.found:
            if show:
                print("stopped; writing the tables of what is done (Ctrl-C again ends at once)", flush=True)
            reported()  # a user may stop a long run to look at its tables
        raise
    return reported()


def _run_jobs(
    study: Study, jobs: Sequence[Job], results: Results, folder: Path | None, n_jobs: int | None, show: bool
) -> None:
    todo = [job for job in jobs if not results.done(job)]
    if not todo:
        return
    place = None if folder is None else folder.resolve()  # workers may run in another folder
    tasks = [(study.name, job, place) for job in todo]
    with _bar(study, show) as bar, closing(workers.results(_work, tasks, n_jobs=n_jobs)) as found:
        bar.start(len(jobs), len(jobs) - len(todo))
        for k, (rows, seconds) in found:
            results.add(todo[k], rows, seconds)
            left = results.seconds_left(jobs)
            bar.step(None if left is None else left / workers.n_workers(n_jobs))


def _work(name: str, job: Job, folder: Path | None) -> tuple[list[Row], float]:
    """Run one job, in whichever process this is."""
    start = time.perf_counter()
    try:
        rows = find_study(name).run(job, folder)
    except Exception as error:
        error.add_note(f"in the study {name}, job {job.key}")
        raise
    return rows, time.perf_counter() - start


class _bar:
    """A progress bar with the time left, or nothing at all."""

    def __init__(self, study: Study, show: bool) -> None:
        self.title = study.name
        self.progress: Any = None
        self.task: Any = None
        if show:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self.progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
            )

    def __enter__(self) -> _bar:
        if self.progress is not None:
            self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.progress is not None:
            self.progress.stop()

    def start(self, total: int, done: int) -> None:
        if self.progress is not None:
            self.task = self.progress.add_task(self.title, total=total, completed=done, left="")

    def step(self, left: float | None) -> None:
        if self.progress is not None and self.task is not None:
            self.progress.update(
                self.task, advance=1, left="" if left is None else f"about {_time(left)} left"
            )


def _time(seconds: float) -> str:
    """Write seconds for a person.

    >>> _time(42), _time(130), _time(9000)
    ('42 s', '2 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
