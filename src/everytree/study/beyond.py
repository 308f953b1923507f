"""Beyond the papers: the same protocol with today's alternatives from PyPI, where they are installed.

Ten stratified folds of complete data. Ours and the solvers of optimal trees have the same 0/1 tests (four
equal-frequency bins, cuts from the training rows); learners of their own cuts have the raw numbers, nominal attributes
as one column for each value. Optimal trees have depth 3, averages depth 4 unless that takes too long, then 3. Whoever
takes more than the limit for one fold has no result there.
"""

from __future__ import annotations

import json
import math
import os
import platform
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from everytree.errors import LimitReached
from everytree.study.charts import Chart, Panel
from everytree.study.contest import contest, tally
from everytree.study.jobs import Job, Row, Study, merged
from everytree.study.measure import as_numbers, binary_fold, coded, fold_of, measured
from everytree.study.peers import DEPTH, LEAST, PEERS, installed, versions
from everytree.study.report import Cell, Report, Table, mean_and_error

__all__ = ["OURS", "study"]

FOLDS, BINS, LEVEL = 10, 4, 0.05
SETS = [
    "iris", "hepatitis", "lymph", "vote", "heart-cleveland", "breast-w", "diabetes", "balance-scale",
    "australian-credit", "ionosphere", "german-credit", "vehicle", "segment",
]  # fmt: skip
QUICK_SETS = ["iris", "vote", "heart-cleveland"]
SLOW = ("EBM",)  # not in the quick run
OURS = (
    "average",
    "most probable tree",
    "optimal tree",
    "smoothed tree",
    "option tree",
    "path average",
    "C4.5",
)
RAW = ("smoothed tree", "option tree", "path average", "C4.5")  # these take columns as they are
MEASURES = ("accuracy", "log_loss", "brier")
SLACK = 60.0  # seconds beyond the limit for a process of its own, which first imports and reads
MARK = "\nanswer: "  # begins the answer of a process; solvers print other lines before it


def study() -> Study:
    """Return the study, for ``run_study``.

    Returns
    -------
    Study
        Its data sets, jobs and report.

    Examples
    --------
    >>> study().name
    'beyond'
    """
    return Study("beyond", "Beyond the papers", needs, settings, jobs, run, report)


def needs(quick: bool) -> Sequence[str]:
    """List the data sets."""
    return QUICK_SETS if quick else SETS


def settings(quick: bool) -> Row:
    """Return what the results depend on beside the jobs."""
    return {"folds": FOLDS, "bins": BINS, "depth": DEPTH, "min_leaf": LEAST}


def jobs(quick: bool, names: Sequence[str]) -> list[Job]:
    """List the jobs: one fold of one data set and one classifier each, so that new classifiers add only their own."""
    others = [name for name in installed() if not (quick and name in SLOW)]
    limit = {"time_limit": 20.0 if quick else 60.0}
    return [
        Job("fold", name, {"model": model, **limit}, fold)
        for name in names
        for model in (*OURS, *others)
        for fold in range(3 if quick else FOLDS)
    ]


def run(job: Job, folder: Path | None) -> list[Row]:
    """Return the row of one job."""
    assert folder is not None
    name = job.settings["model"]
    return [_elsewhere(job, folder) if name in PEERS and PEERS[name].alone else _here(job, folder)]


def _here(job: Job, folder: Path) -> Row:
    name, limit = job.settings["model"], job.settings["time_limit"]
    kind = "columns" if name in RAW else "tests" if name in OURS else PEERS[name].kind
    parts = _parts(folder, job.data, job.trial, kind)
    depths = (4, 3) if name in ("average", "most probable tree") else (DEPTH,)
    found: Row = {}
    for depth in depths:
        model = _ours(name, depth, limit) if name in OURS else PEERS[name].make()
        try:
            with _at_most(limit):
                if name in PEERS:
                    import_module(PEERS[name].module)  # so that the clock of the fit does not count it
                found = measured(model, *parts) | ({"depth": depth} if len(depths) > 1 else {})
        except LimitReached as reached:
            found = {"note": str(reached)}
        except (
            Exception
        ) as error:  # an error of another library leaves a cell without a result, which the table counts
            if name in OURS:
                raise
            found = {"note": f"failed: {type(error).__name__}: {error}"[:200]}
        if "note" not in found:
            break
    return {"n_train": len(parts[1]), "n_test": len(parts[3])} | found


def _elsewhere(job: Job, folder: Path) -> Row:
    """Run a job in a process of its own: a solver that crashes, or does not stop, costs one cell and no more."""
    given = json.dumps([job.part, job.data, dict(job.settings), job.trial, str(folder.resolve())])
    paths = os.pathsep.join(path for path in sys.path if path)
    limit = job.settings["time_limit"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__, given],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit + SLACK,
            env=os.environ | {"PYTHONPATH": paths},
        )
    except subprocess.TimeoutExpired:
        return {"note": f"over {limit:g} s"}
    _, mark, answer = done.stdout.rpartition(MARK)
    if done.returncode or not mark:
        said = (done.stderr.strip().splitlines() or [""])[-1]
        return {"note": f"failed: the process ended with code {done.returncode}: {said}"[:200]}
    found: Row = json.loads(answer)
    return found


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise ``LimitReached`` in a block that takes longer, where there are alarms and this is the main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise LimitReached(f"over {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ours(name: str, depth: int, limit: float) -> Any:
    if name == "average":
        return et.BayesOptimalClassifier(depth, LEAST, time_limit=limit)
    if name == "most probable tree":
        return et.MAPTreeClassifier(depth, LEAST, time_limit=limit)
    if name == "optimal tree":
        return et.OptimalTreeClassifier(depth, LEAST, leaf_penalty=0, time_limit=limit)
    if name == "smoothed tree":
        return et.SmoothedTreeClassifier(missing="category")
    if name == "option tree":
        return et.OptionTreeClassifier(missing="category", time_limit=limit)
    return (
        et.PathAverageTreeClassifier(1, True, True)
        if name == "path average"
        else et.C45TreeClassifier(laplace=True)
    )


@lru_cache(maxsize=4)
def _parts(folder: Path, name: str, trial: int, kind: str) -> tuple[Any, Any, Any, Any, list[int]]:
    if kind == "tests":
        return binary_fold(folder, name, BINS, FOLDS, trial)
    X, y, classes = coded(folder, name)
    fold = fold_of(y, FOLDS, trial)
    if kind == "columns":
        return X.take(fold.train), y[fold.train], X.take(fold.test), y[fold.test], classes
    numbers = _numbers(folder, name)
    train = np.random.default_rng(trial).permutation(
        fold.train
    )  # shuffled, because some of the others cut folds of their own without shuffling
    return numbers[train], y[train], numbers[fold.test], y[fold.test], classes


@lru_cache(maxsize=2)
def _numbers(folder: Path, name: str) -> Any:
    return as_numbers(coded(folder, name)[0])


# --- the report


def report(rows: list[Row], quick: bool) -> Report:
    """Report means of every measure, each data set, and wins, ties and losses."""
    by = merged(rows, "model", "data")
    models = [name for name in (*OURS, *PEERS) if any(key[0] == name for key in by)]
    names = list(dict.fromkeys(row["data"] for row in rows))
    notes = [
        "Means over the folds done. Seconds are of the processor, for fitting one fold, on a machine that may be busy. "
        "Absent here: " + (", ".join(name for name in PEERS if name not in models) or "none") + "."
    ]
    parts: list[Table | Chart] = [summary(by, models, names), standings(by, models, names)]
    parts += [
        contests(by, models, names, ours)
        for ours in ("average", "option tree", "optimal tree")
        if ours in models
    ]
    parts += [sets(by, models, names, what) for what in MEASURES]
    if names:
        parts.append(chart(by, models, names))
    title = "Beyond the papers: today's alternatives under the same protocol"
    return Report(
        title, f"{versions()}; Python {platform.python_version()}, {platform.machine()}.", notes, parts
    )


By = dict[tuple[Any, ...], list[Row]]


def _mean(by: By, model: str, name: str, what: str) -> tuple[float | None, float]:
    return mean_and_error([row[what] for row in by.get((model, name), []) if row.get(what) is not None])


def _complete(by: By, models: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the classifiers that have results on every data set."""
    return [
        model for model in models if all(_mean(by, model, name, "accuracy")[0] is not None for name in names)
    ]


def _over_sets(by: By, model: str, names: Sequence[str], what: str) -> tuple[float | None, float]:
    """Return the mean over the data sets, and its standard error by the folds; None where one is lacking."""
    known = [
        (mean, error) for mean, error in (_mean(by, model, name, what) for name in names) if mean is not None
    ]
    if not known or len(known) < len(names):
        return None, math.nan
    return sum(m for m, _ in known) / len(known), math.sqrt(sum(e**2 for _, e in known)) / len(known)


def summary(by: By, models: Sequence[str], names: Sequence[str]) -> Table:
    """Make the table of means over the data sets; a classifier that lacks results on one has none here."""
    lines = []
    for model in models:
        line: Row = {"classifier": model, "ours": "yes" if model in OURS else ""}
        for what, digits in (("accuracy", 4), ("log_loss", 4), ("brier", 4), ("nodes", 1), ("seconds", 3)):
            line[what] = Cell(*_over_sets(by, model, names, what), digits=digits)
        line["folds without result"] = sum(
            "note" in row for key, some in by.items() if key[0] == model for row in some
        )
        lines.append(line)
    lines.sort(key=lambda line: math.inf if line["log_loss"].ours is None else line["log_loss"].ours)
    columns = [
        "classifier",
        "ours",
        "accuracy",
        "log_loss",
        "brier",
        "nodes",
        "seconds",
        "folds without result",
    ]
    note = (
        f"Means over {len(names)} data sets, best log-loss first; whoever has no result on one of them (over the limit "
        "of time, or failed) has no means."
    )
    return Table("summary", "Everyone", columns, lines, [note])


def standings(by: By, models: Sequence[str], names: Sequence[str]) -> Table:
    """Count where each of ours wins, ties and loses against all others, over all data sets."""
    others = [model for model in models if model not in OURS]
    lines = []
    for ours in (model for model in models if model in OURS):
        line: Row = {"ours": ours}
        for what in (*MEASURES, "nodes", "seconds"):
            found = [
                contest(by.get((ours, name), []), by.get((model, name), []), what, LEVEL)
                for model in others
                for name in names
            ]
            line[what] = tally(found) if any(found) else "–"
        lines.append(line)
    note = (
        f"Won/tied/lost against {', '.join(others) or 'nobody'}, over all data sets, by the corrected paired t-test at "
        "5 %; nodes where both are trees, seconds of fitting."
    )
    columns = ["ours", *MEASURES, "nodes", "seconds"]
    return Table("standings", "Where ours win, tie and lose", columns, lines, [note])


def contests(by: By, models: Sequence[str], names: Sequence[str], ours: str) -> Table:
    """Count wins, ties and losses of one of ours against each other classifier, by the corrected test at 5 %."""
    lines = []
    for model in models:
        if model == ours:
            continue
        line: Row = {"against": model}
        for what in MEASURES:
            found = [
                contest(by.get((ours, name), []), by.get((model, name), []), what, LEVEL) for name in names
            ]
            line[what] = tally(found)
        lines.append(line)
    note = "Data sets won/tied/lost by the corrected paired t-test at 5 %."
    columns = ["against", *MEASURES]
    return Table(f"contests-{ours.replace(' ', '-')}", f"The {ours} against everyone", columns, lines, [note])


def sets(by: By, models: Sequence[str], names: Sequence[str], what: str) -> Table:
    """Make the table of one measure on each data set, the best in bold."""
    lines = []
    for name in names:
        values = {model: _mean(by, model, name, what)[0] for model in models}
        known = [value for value in values.values() if value is not None]
        best = (max if what == "accuracy" else min)(known, default=None)
        line: Row = {"data set": name}
        for model, value in values.items():
            text = "–" if value is None else f"{value:.3f}"
            line[model] = f"**{text}**" if value is not None and value == best else text
        lines.append(line)
    return Table(what, f"Each data set: {what.replace('_', '-')}", ["data set", *models], lines)


def chart(by: By, models: Sequence[str], names: Sequence[str]) -> Chart:
    """Plot log-loss and accuracy against the seconds of fitting, means over the data sets."""
    panels = []
    for what in ("log_loss", "accuracy"):
        series: dict[str, Any] = {}
        for model in _complete(by, models, names):
            x, y = (_over_sets(by, model, names, key)[0] for key in ("seconds", what))
            series[model] = ([max(x or 0.0, 1e-4)], [y], None)
        panels.append(
            Panel(what.replace("_", "-"), series, "seconds of fitting", what.replace("_", "-"), log_x=True)
        )
    return Chart("trade-off", "Quality against time", panels, across=2)


def _warm(name: str) -> None:
    """Let a solver load what it needs before the clock starts; what fails here fails again where it is noted."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    with suppress(Exception):
        PEERS[name].make().fit(X, X[:, 0]).predict_proba(X)


if __name__ == "__main__":
    part, data, given, trial, folder = json.loads(sys.argv[1])
    _warm(given["model"])
    print(MARK + json.dumps(_here(Job(part, data, given, trial), Path(folder))), flush=True)
