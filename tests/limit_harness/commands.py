"""The commands, as ``everytree`` is called: in this process, so that starting Python is no part of what is measured.

The first Ctrl-C keeps the best so far, so that two are sent. A limit of memory holds for reading and learning; one of
time is for learning, and what comes before and after it (reading the file, judging held-out rows, a page) has limits of
its own, which the tests of the commands look at.
"""

from __future__ import annotations

import contextlib
import io
import sys

from everytree.cli import main
from everytree.common.limits import Limits
from everytree.errors import EverytreeError

from .files import csv_of, folder, model_of
from .registry import Ask, call
from .scales import Scale

__all__: list[str] = []


def command(*words: object) -> None:
    """Run a command; one that is refused raises what it says."""
    given, sys.argv = sys.argv, ["everytree", *map(str, words)]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            main()
    except SystemExit as end:
        if end.code == 130:
            raise KeyboardInterrupt from None
        if end.code == 2:
            raise EverytreeError(said.getvalue()) from None
    finally:
        sys.argv = given


def limited(limits: Limits) -> list[str]:
    said = [] if limits.time_limit is None else ["--time-limit", str(limits.time_limit)]
    return said + ([] if limits.memory_limit is None else ["--memory-limit", str(int(limits.memory_limit))])


def learns(name: str, *words: str, without: tuple[str, ...] = ("time",)) -> None:
    """Register a command that learns from a file, with limits of time and memory of its own."""

    def ready(scale: Scale, limits: Limits) -> Ask:
        data = csv_of(scale)
        made = {"DEPTH": str(scale.depth), "OUT": str(folder() / "out.json"), "JOBS": str(scale.threads)}
        asked = [made.get(word, word) for word in words]
        return lambda: command(asked[0], data, "--target", "y", *asked[1:], *limited(limits))

    # Of 400 classes in 3,000 rows a command says that they are no classes.
    call(name, without=without, not_on=("classes",), signals=2)(ready)


learns("everytree fit", "fit", "--out", "OUT", "--jobs", "JOBS")
learns("everytree fit optimal", "fit", "--max-depth", "DEPTH", "--out", "OUT", "--jobs", "JOBS")
learns(
    "everytree fit bayes",
    "fit",
    "--method",
    "bayes",
    "--max-depth",
    "DEPTH",
    "--out",
    "OUT",
    "--jobs",
    "JOBS",
)
learns("everytree query", "query", "depth <= 4", "--jobs", "JOBS")
learns("everytree front", "front", "--max-depth", "DEPTH", "--jobs", "JOBS")
# Not all of its methods have a limit of memory.
learns("everytree compare", "compare", "--max-depth", "DEPTH", "--jobs", "JOBS", without=("time", "memory"))


def uses(name: str, kind: str, *words: str) -> None:
    """Register a command that asks a model file about rows: it has no limits, and Ctrl-C ends it."""

    def ready(scale: Scale, limits: Limits) -> Ask:
        del limits
        made = {
            "MODEL": str(model_of(scale, kind)),
            "DATA": str(csv_of(scale)),
            "OUT": str(folder() / "out.html"),
        }
        return lambda: command(*(made.get(word, word) for word in words))

    call(name, without=("time", "memory"), signals=2)(ready)


uses("everytree predict", "every", "predict", "MODEL", "DATA", "--out", "OUT")
uses("everytree explain", "every", "explain", "MODEL", "DATA", "--row", "1")
uses("everytree verify", "average", "verify", "MODEL", "DATA")
uses("everytree report", "average", "report", "MODEL", "DATA", "--out", "OUT")
uses("everytree export", "tree", "export", "MODEL", "--to", "sql")
