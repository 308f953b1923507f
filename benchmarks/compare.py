"""Comparisons: who solves what, interleaved runs that are written down, ratios, and a report.

``bench_optimal`` says which instances and which solvers; everything about running them and about what a ratio means
when somebody did not finish is here.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import harness
from harness import Budget, Row, Store, Worker, geometric_mean, machine, markdown

ENOUGH = 12.0  # seconds of one solver on one instance that are told apart from noise without repeating
CAPS = {"everytree": 120.0, "pystreed": 120.0, "pydl8.5": 60.0, "gosdt": 60.0, "treefarms": 120.0}


@dataclass
class Entry:
    """One column of a comparison: who solves what."""

    solver: str
    job: Row = field(default_factory=dict)


class Bench:
    """Options, workers and stored measurements of one start."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.build = harness.build()
        self.budget = Budget(args.budget)
        self.workers: dict[str, Worker] = {}
        self.compared: set[str] = set()  # the peers of this part
        self.absent = {solver for solver in CAPS if solver != "everytree" and not self._installed(solver)}

    def _installed(self, solver: str) -> bool:
        code = f"import sys, solvers; sys.exit(not solvers.installed({solver!r}))"
        here = Path(__file__).parent
        return (
            subprocess.run([self.args.peer_python, "-c", code], cwd=here, capture_output=True).returncode == 0
        )

    def cap(self, solver: str) -> float:
        """Most seconds for one run."""
        return float(min(CAPS[solver], self.args.cap))

    def store(self, part: str, *keys: str) -> Store:
        scratch = harness.ROOT / "build" / "bench" / ("quick" if self.args.quick else "full")
        return Store(scratch / f"{part}.jsonl", (*keys, "label"), self.build, self.args.fresh)

    def worker(self, label: str, entry: Entry) -> Worker:
        if label not in self.workers:
            python = sys.executable if entry.solver == "everytree" else self.args.peer_python
            self.workers[label] = Worker(python)
        return self.workers[label]

    def measure(self, store: Store, label: str, entry: Entry, what: Row, job: Row) -> Row:
        """One run, written down."""
        question = {"solver": entry.solver} | job | entry.job
        answer = self.worker(label, entry).ask(question, self.cap(entry.solver))
        row = store.add(what | {"label": label} | answer, peer=entry.solver != "everytree")
        shown = answer.get("limit") or answer.get("failed") or f"{answer.get('seconds', 0):.4g} s"
        print(f"  {' '.join(map(str, what.values()))}  {label}: {shown}", flush=True)
        return row

    def interleave(self, store: Store, entries: dict[str, Entry], what: Row, job: Row) -> None:
        """Runs of every solver in turn, until there are enough of each."""
        self.compared |= {entry.solver for entry in entries.values()}
        for run in range(self.args.repeats):
            for label, entry in entries.items():
                done = store.of(**what, label=label)
                spent = sum(row.get("seconds", 0.0) for row in done)
                if len(done) > run or spent > ENOUGH or not all(map(solved, done)):
                    continue
                if entry.solver in self.absent or self.budget.spent():
                    continue
                self.measure(store, label, entry, what, job)

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()


def solved(row: Row) -> bool:
    """Whether a run ended with a proof."""
    return "seconds" in row and "stopped" not in row


def median(store: Store, what: Row, label: str, name: str = "seconds") -> float | None:
    """The median of a solver's runs on an instance; None if it did not solve it."""
    values = [row[name] for row in store.of(**what, label=label) if solved(row) and name in row]
    return statistics.median(values) if values else None


def outcome(store: Store, what: Row, label: str) -> float | str | None:
    """What a table shows for a solver: seconds, or why there are none."""
    seconds = median(store, what, label)
    if seconds is not None:
        return seconds
    return next(("failed" if "failed" in row else "over" for row in store.of(**what, label=label)), None)


def ratio(
    store: Store, what: Row, ours: str, peer: str, our_cap: float, peer_cap: float
) -> tuple[float, str] | None:
    """Our time over a peer's, and how sure: "" for a measured one, "<" where the peer was over its cap (the cap stands
    for its time), ">" where we were."""
    a, b = outcome(store, what, ours), outcome(store, what, peer)
    if isinstance(a, float) and isinstance(b, float):
        return a / b, ""
    if isinstance(a, float) and b == "over":
        return a / peer_cap, "<"
    if a == "over" and isinstance(b, float):
        return our_cap / b, ">"
    return None


def summary(title: str, ratios: Iterable[tuple[float, str]]) -> str:
    """Geometric mean and worst of the ratios, in a sentence."""
    found = list(ratios)
    if not found:
        return f"{title}: nothing to compare."
    mean, worst = geometric_mean(value for value, _ in found), max(found)
    bounds = sum(sign == "<" for _, sign in found)
    ours = sum(sign == ">" for _, sign in found)
    notes = [f"{bounds} with the peer over its cap"] * bool(bounds) + [
        f"{ours} with ours over the cap"
    ] * bool(ours)
    text = f"{title}: geometric mean {mean:.3g}, largest {worst[1]}{worst[0]:.3g}, {len(found)} instances"
    return text + (f" ({', '.join(notes)})." if notes else ".")


def shown(value: tuple[float, str] | None) -> str | None:
    return None if value is None else f"{value[1]}{value[0]:.3g}"


def finish(
    bench: Bench, name: str, title: str, notes: list[str], rows: list[Row], columns: list[str]
) -> None:
    """Write the report of a part."""
    away = sorted(bench.absent & bench.compared)
    absent = [f"Absent: {', '.join(away)}."] if away else []
    going = ["Not finished: start again to go on."] if bench.budget.ran_out else []
    lines = [f"# {title}", "", *notes, "", machine(), *absent, *going, "", *markdown(rows, columns)]
    print(harness.write(f"optimal-{name}", lines, rows, bench.args.out))
