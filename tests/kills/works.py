"""What a process may be doing when it is killed: each work begins, says so, and goes on until something ends it.

A work gets ``Known``, which is made once before any fork, and a function to call when it has begun. Works that keep the
main thread free start a daemon thread and wait: so a Ctrl-C ends the interpreter while threads are in the core.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import urllib.request
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.tree  # noqa: F401  # as the next: what else every child would import for itself
import starlette.applications  # noqa: F401
import uvicorn.lifespan.off
import uvicorn.loops.auto
import uvicorn.protocols.http.auto  # noqa: F401

import everytree as et
from everytree.data.readers.dataset import Dataset
from everytree.report.explorer import Explorer
from everytree.report.server import serve

__all__ = ["WORKS", "Known"]

Begun = Callable[[], None]
WORKS: dict[str, Callable[[Known, Begun], None]] = {}


@dataclass
class Known:
    """Data that no bound prunes, a small posterior, two fitted models, and the folder in which files are written."""

    X: np.ndarray
    y: np.ndarray
    numbers: np.ndarray
    post: et.Posterior
    models: tuple[et.BayesOptimalClassifier, et.BayesOptimalClassifier]
    data: Dataset
    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Known:
        rng = np.random.default_rng(0)
        X, y = rng.integers(0, 2, (1000, 60), dtype=np.uint8), rng.integers(0, 2, 1000)
        numbers = rng.normal(size=(400, 6))
        lines = [",".join([*"abcdef", "y"])]
        lines += [
            ",".join(f"{x:.3f}" for x in row) + f",{label}" for row, label in zip(numbers, y, strict=False)
        ]
        (folder / "data.csv").write_text("\n".join(lines) + "\n")
        fitted = tuple(
            et.BayesOptimalClassifier(max_depth=2).fit(numbers[:, :k], y[:400], None) for k in (4, 6)
        )
        return cls(
            X, y, numbers, et.TreeSpace(X[:, :20], y, 3, 5).posterior(), fitted, et.read(folder / "data.csv"), folder
        )  # fmt: skip

    def space(self, **more: Any) -> et.TreeSpace:
        return et.TreeSpace(self.X, self.y, 6, 5, **more)


def work(function: Callable[[Known, Begun], None]) -> Callable[[Known, Begun], None]:
    WORKS[function.__name__] = function
    return function


def beside(begun: Begun, *asks: Callable[[], object]) -> None:
    """Ask in daemon threads, again and again, while the main thread waits for the signal."""

    def ask(one: Callable[[], object]) -> None:
        with contextlib.suppress(Exception):
            while True:
                one()

    for one in asks:
        threading.Thread(target=ask, args=(one,), daemon=True).start()
    begun()
    while True:
        time.sleep(10)


@work
def best_in_threads(known: Known, begun: Begun) -> None:
    beside(begun, known.space(n_jobs=2).best)


@work
def posterior_told_to_python(known: Known, begun: Begun) -> None:
    told = known.space(progress=lambda *told: sum(range(500)))
    beside(begun, told.posterior, known.space().posterior)


@work
def many_short_questions(known: Known, begun: Begun) -> None:
    def ask() -> None:
        et.TreeSpace(known.X[:, :10], known.y, 2, 5).posterior().predict_proba(known.X[:50, :10])

    beside(begun, ask, ask)


@work
def chains_in_threads(known: Known, begun: Begun) -> None:
    beside(begun, lambda: known.space(n_jobs=2).collapsed(n_draws=10**6))


@work
def best(known: Known, begun: Begun) -> None:
    begun()
    known.space(n_jobs=2).best()


@work
def posterior(known: Known, begun: Begun) -> None:
    begun()
    known.space(n_jobs=2).posterior()


@work
def asked_of_a_posterior(known: Known, begun: Begun) -> None:
    begun()
    rows = np.random.default_rng(1).integers(0, 2, (5000, 20), dtype=np.uint8)
    while True:
        known.post.predict_proba(rows)
        known.post.leave_one_out()
        known.post.sample(500, random_state=0)
        known.post.top_trees(50)


@work
def fit(known: Known, begun: Begun) -> None:
    begun()
    X, y = known.numbers, known.y[: len(known.numbers)]
    while True:
        et.OptimalTreeClassifier(max_depth=3, n_jobs=2).fit(X, y)
        et.BayesOptimalClassifier(max_depth=3, cuts="local", n_jobs=2).fit(X, y)
        et.MCMCTreeClassifier(n_draws=1000).fit(X, y)


@work
def fit_every_tree(known: Known, begun: Begun) -> None:
    begun()
    while True:
        et.EveryTreeClassifier(time_limit=1.0, n_jobs=2).fit(known.numbers, known.y[: len(known.numbers)])


@work
def save(known: Known, begun: Begun) -> None:
    begun()
    while True:
        for model in known.models:
            model.save(known.folder / "model.json")


@work
def save_table(known: Known, begun: Begun) -> None:
    table = et.Table.from_arrays(known.X, known.y)
    begun()
    while True:
        table.save(known.folder / "table.npz")


@work
def explorer(known: Known, begun: Begun) -> None:
    """Serve the page as the command does, with a question that is being answered."""
    explorer = Explorer(known.data, "data.csv", "y", 2)

    def started(address: str) -> None:
        def ask() -> None:
            place, _, token = address.partition("/?token=")
            headers = {"X-Everytree-Token": token, "Content-Type": "application/json"}
            asked = json.dumps({"max_depth": 6}).encode()
            with contextlib.suppress(Exception):
                urllib.request.urlopen(
                    urllib.request.Request(f"{place}/api/ask", asked, headers), timeout=5
                ).read()

        threading.Thread(target=ask, daemon=True).start()
        begun()

    try:
        serve(explorer, 0, "", started)
    finally:
        explorer.close()


warnings.simplefilter("ignore")  # a limit that is reached is no news here
