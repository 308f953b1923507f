"""Beyond the papers: all data sets, the same folds for everyone, and today's alternatives that are installed.

Five times two stratified folds of complete data: each trains on one half and is judged by the other. Ours on tests and
the solvers of optimal trees have the same 0/1 tests (four equal-frequency bins, cuts from the training rows); learners
of their own cuts have the raw numbers, nominal attributes as one column for each value. Optimal trees have depth 3,
averages depth 4 unless that takes too long, then 3. Whoever takes more than the limit for one fold has no result there.
``halves`` says which sets settings were chosen on; parts (--parts) are groups of classifiers, the cheap ones first.
"""

from __future__ import annotations

import json
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
from everytree.study.beyond_report import made
from everytree.study.halves import SETS
from everytree.study.jobs import Job, Row, Study
from everytree.study.measure import as_numbers, binary_fold, coded, fold_of, measured
from everytree.study.peers import DEPTH, LEAST, PEERS, installed, versions
from everytree.study.report import Report

__all__ = ["OURS", "PARTS", "study"]

FOLDS, REPEATS, BINS = 2, 5, 4
LIMIT = 60.0  # seconds for a fold
QUICK_SETS = ["iris", "vote", "heart-cleveland"]
SLOW = ("EBM", "EBM without pairs", "BART", "CatBoost", "bayesml meta-tree")  # not in the quick run
OURS = (
    "every tree",
    "average",
    "most probable tree",
    "optimal tree",
    "smoothed tree",
    "option tree",
    "path average",
    "C4.5",
)
RAW = ("every tree", "smoothed tree", "option tree", "path average", "C4.5")  # these take columns as they are
PARTS = {
    "every": ("every tree",),
    "forests": ("random forest", "calibrated forest", "extra trees"),
    "linear": ("logistic regression", "EBM without pairs"),
    "trees": (
        "C4.5",
        "scikit-learn CART",
        "pruned CART",
        "smoothed tree",
        "path average",
        "hierarchical shrinkage",
    ),
    "boosted": ("HistGradientBoosting", "LightGBM"),
    "averages": ("average", "option tree", "most probable tree"),
    "optimal": ("optimal tree", "STreeD", "DL8.5", "GOSDT"),
    "slow": ("CatBoost", "EBM", "bayesml meta-tree", "BART"),
}
BUSY = 4.0  # times the limit that a process of its own may take in real time, as the machine may be busy
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
    there = {*OURS, *(name for name in installed() if not (quick and name in SLOW))}
    limit = {"time_limit": 20.0 if quick else LIMIT}
    return [
        Job(part, name, {"model": model, **limit}, fold)
        for part, models in PARTS.items()
        for model in models
        if model in there
        for name in names
        for fold in range(2 if quick else FOLDS * REPEATS)
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
            timeout=BUSY * limit + SLACK,
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
    """Raise ``LimitReached`` in a block that takes more seconds of the processor, in the main thread and on POSIX.

    CatBoost turns whatever a signal raises into a ``KeyboardInterrupt``, which would end the whole study.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    over = LimitReached(f"over {seconds:g} s")
    rung = False

    def ring(*_: object) -> None:
        nonlocal rung
        rung = True
        raise over

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except KeyboardInterrupt:
        if rung:
            raise over from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _ours(name: str, depth: int, limit: float) -> Any:
    if name == "every tree":
        # Half of it for learning takes every member of all but the largest sets; the rest is for predictions.
        return et.EveryTreeClassifier(limit / 2 if limit >= LIMIT else limit / 10)
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


def report(rows: list[Row], quick: bool) -> Report:
    """Report everyone on both halves of the sets, and each set by itself."""
    about = f"{versions()}; Python {platform.python_version()}, {platform.machine()}."
    return made(rows, OURS, tuple(PEERS), about)


def _warm(name: str) -> None:
    """Let a solver load what it needs before the clock starts; what fails here fails again where it is noted."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    with suppress(Exception):
        PEERS[name].make().fit(X, X[:, 0]).predict_proba(X)


if __name__ == "__main__":
    part, data, given, trial, folder = json.loads(sys.argv[1])
    _warm(given["model"])
    print(MARK + json.dumps(_here(Job(part, data, given, trial), Path(folder))), flush=True)
