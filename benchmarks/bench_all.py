"""All benchmarks side by side in one run: ours beside peers, interleaved, as ratios; and how costs grow.

    make bench                           measure, compare with the last committed table, write the new one
    python benchmarks/bench_all.py --check         fail if a ratio is more than twice the committed one
    python benchmarks/bench_all.py --cases depth --repeats 3

A case is one question to us and one to a peer, each in a process of its own, asked in turn, who is first changing from
round to round; the first round warms up and is not counted. Where both answer the same question, the answers must be
equal: otherwise there is no ratio but a note. What is compared over time is the ratio, not the seconds: a slower
machine slows both. The committed table is benchmarks/results/all.csv; docs/benchmarks.md shows it. Growth: seconds of
ours alone against rows, tests, depth and classes on generated tables, with the exponent of the best power law.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import harness
from everytree.study.charts import Chart, Panel, draw_chart
from harness import ROOT, Row, Worker, cell, geometric_mean, machine, markdown, write

COMMITTED = harness.RESULTS / "all.csv"
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
CAP = 30.0
WORSE = 2.0  # a ratio that is so many times the committed one fails the guard: machines differ, and runs are noisy
FILES = ("vote", "anneal", "tic-tac-toe", "hepatitis", "primary-tumor")


class Case(NamedTuple):
    """A question to us and to a peer; ``on`` is the data, ``same`` what both must find ("error", "objective" or "")."""

    name: str
    on: str
    ours: Row
    peer: str
    theirs: Row
    same: str = ""


def cases() -> list[Case]:
    """Every case; those whose data or peer is absent are left out by the run."""
    found = []
    for file in FILES:
        at = {"file": file, "depth": 4}
        found += [
            Case("evidence, depth 4", file, {"task": "evidence", **at}, "pystreed", {"task": "depth", **at}),
            *(
                Case(
                    "optimum, depth 4",
                    file,
                    {"task": "depth", "minimize": "error", **at},
                    peer,
                    {"task": "depth", **at},
                    "error",
                )
                for peer in ("pystreed", "pydl8.5")
            ),
        ]
    for file in ("vote", "tic-tac-toe", "hepatitis"):
        at = {"task": "regularised", "file": file, "depth": 4, "penalty": 0.01}
        found += [
            Case("penalised optimum, depth 4", file, at, peer, at, "objective")
            for peer in ("gosdt", "pystreed")
        ]
        at = {"task": "average", "file": file}
        found += [
            Case("average over every tree, depth 4", file, at, peer, at)
            for peer in ("bayesml", "scikit-learn")
        ]
    at = {"task": "near_best", "file": "tic-tac-toe", "depth": 3, "penalty": 0.01, "epsilon": 0.05}
    found.append(Case("near-best trees, depth 3", "tic-tac-toe", at, "treefarms", at))
    for n, d, c in ((20_000, 30, 2), (50_000, 10, 5)):
        size = {"n": n, "d": d, "c": c}
        on = f"{n} × {d}, {c} classes"
        for kind in ("smoothed", "C4.5", "path average"):
            found.append(
                Case(
                    f"{kind} tree",
                    on,
                    {"task": "grow", "kind": kind, **size},
                    "scikit-learn",
                    {"task": "grow", **size},
                )
            )
    return found


# --- measuring


def measure(wanted: list[Case], repeats: int, cap: float, peer_python: str) -> list[Row]:
    """A row for each case: medians, and the median, least and largest ratio of its rounds."""
    rows = []
    workers: dict[str, Worker] = {}
    try:
        for case in wanted:
            if "file" in case.ours and not harness.CP4IM.is_dir():
                print(f"  {case.name} on {case.on}: there is no {harness.CP4IM}")
                continue
            times: dict[str, list[float]] = {"everytree": [], case.peer: []}
            note = ""
            for k in range(repeats + 1):
                asked = [("everytree", case.ours), (case.peer, case.theirs)]
                answers = {}
                for solver, job in asked if k % 2 else reversed(asked):
                    python = sys.executable if solver == "everytree" else peer_python
                    worker = workers.setdefault(solver, Worker(python))
                    answer = worker.ask({"solver": solver, **job}, cap)
                    if "seconds" not in answer:
                        note = f"{solver}: {answer.get('limit') or answer.get('failed')}"
                        break
                    answers[solver] = answer
                note = note or _differ(case, answers["everytree"], answers[case.peer])
                if note:
                    break
                if k:
                    for solver, answer in answers.items():
                        times[solver].append(answer["seconds"])
            rows.append(_row(case, times["everytree"], times[case.peer], note))
            print("  " + "  ".join(cell(value) for value in rows[-1].values()), flush=True)
    finally:
        for worker in workers.values():
            worker.close()
    return rows


def _differ(case: Case, ours: Row, theirs: Row) -> str:
    """A note if both should have found the same and did not; peers compute in 32 bits."""
    if not case.same:
        return ""
    a, b = (
        answer["error"] / answer["rows"] + case.ours["penalty"] * answer["leaves"]
        if case.same == "objective"
        else answer[case.same]
        for answer in (ours, theirs)
    )
    if abs(a - b) <= 1e-5 * max(abs(a), abs(b)):
        return ""
    return f"{'everytree' if a > b else case.peer} is not optimal: {case.same} {a:.6g} here, {b:.6g} there"


def _row(case: Case, ours: list[float], theirs: list[float], note: str) -> Row:
    row: Row = {"case": case.name, "data": case.on, "peer": case.peer}
    ratios = [a / b for a, b in zip(ours, theirs, strict=False)]
    if note or not ratios:
        return row | {"note": note[:80]}
    return row | {
        "ours s": statistics.median(ours),
        "peer s": statistics.median(theirs),
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "note": "",
    }


# --- growth


def growth(repeats: int) -> list[Row]:
    """Seconds of the evidence over every tree for growing tables, one of rows, tests, depth and classes at a time."""
    import everytree as et

    base = {"rows": 1000, "tests": 40, "depth": 3, "classes": 2}
    steps = {
        "rows": (500, 1000, 2000, 4000, 8000, 16000),
        "tests": (20, 40, 80, 160),
        "depth": (2, 3, 4, 5),
        "classes": (2, 3, 5, 8),
    }
    rows = []
    for name, values in steps.items():
        for value in values:
            at = base | {name: value}
            rng = np.random.default_rng(0)
            X = rng.integers(0, 2, (at["rows"], at["tests"]), dtype=np.int8)
            y = (X[:, 0] + 2 * (X[:, 1] & X[:, 2]) + (rng.random(at["rows"]) < 0.2)) % at["classes"]
            times: dict[str, list[float]] = {"evidence": [], "optimum": []}
            for k in range(repeats + 1):
                for what, into in times.items():
                    space = et.TreeSpace(X, y, at["depth"], 2, time_limit=CAP)
                    ask = space.posterior if what == "evidence" else space.best
                    start = time.process_time()  # of one thread: others on the machine do not count
                    ask()
                    if k:
                        into.append(time.process_time() - start)
            found: Row = {"grows": name, **at} | {
                what: statistics.median(each) for what, each in times.items()
            }
            for what, each in times.items():
                found |= {f"{what} least": min(each), f"{what} most": max(each)}
            rows.append(found)
            print("  " + "  ".join(cell(each) for each in rows[-1].values()), flush=True)
    return rows


def exponents(rows: list[Row]) -> list[Row]:
    """The power of the cost in what grows: the slope of the line through the logarithms; for depth, the factor."""
    found = []
    for name in dict.fromkeys(row["grows"] for row in rows):
        mine = [row for row in rows if row["grows"] == name]
        line: Row = {"grows": name, "from": mine[0][name], "to": mine[-1][name]}
        for what in ("evidence", "optimum"):
            y = np.log([row[what] for row in mine])
            x = np.array([row[name] for row in mine], dtype=float)
            slope = np.polyfit(x if name == "depth" else np.log(x), y, 1)[0]
            line[what] = f"× {np.exp(slope):.1f} per level" if name == "depth" else f"power {slope:.2f}"
        found.append(line)
    return found


def growth_chart(rows: list[Row]) -> Chart:
    """One panel for each thing that grows, on log axes."""
    panels = []
    for name in dict.fromkeys(row["grows"] for row in rows):
        mine = [row for row in rows if row["grows"] == name]
        x = [row[name] for row in mine]
        series = {what: (x, [row[what] for row in mine], None) for what in ("evidence", "optimum")}
        panels.append(
            Panel(f"cost against {name}", series, name, "seconds", log_x=name != "depth", log_y=True)
        )
    return Chart("growth", "How costs grow", panels)


# --- the guard and the page


def read(path: Path) -> dict[tuple[str, str, str], float]:
    """The committed ratios, by case, data and peer."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as stream:
        return {
            (row["case"], row["data"], row["peer"]): float(row["ratio"])
            for row in csv.DictReader(stream)
            if row.get("ratio")
        }


def regressions(rows: list[Row], committed: dict[tuple[str, str, str], float]) -> list[str]:
    """Cases whose ratio became worse than the committed one by more than the factor, in every round.

    >>> regressions([{"case": "a", "data": "b", "peer": "c", "ratio": 0.9, "least": 0.8}], {("a", "b", "c"): 0.3})
    ['a on b: 0.9 of the time of c, was 0.3']
    """
    found = []
    for row in rows:
        before = committed.get((row["case"], row["data"], row["peer"]))
        if before is None:
            continue
        if row.get("note", "").startswith("everytree"):
            found.append(
                f"{row['case']} on {row['data']}: {row['note']}, was {before:.3g} of the time of {row['peer']}"
            )
        elif "ratio" in row and row["least"] > WORSE * before:
            found.append(
                f"{row['case']} on {row['data']}: {row['ratio']:.3g} of the time of {row['peer']}, was {before:.3g}"
            )
    return found


def summary(rows: list[Row]) -> list[Row]:
    """Geometric mean and range of the ratios for each case and peer."""
    found = []
    for case, peer in dict.fromkeys((row["case"], row["peer"]) for row in rows):
        ratios = [
            row["ratio"] for row in rows if (row["case"], row["peer"]) == (case, peer) and "ratio" in row
        ]
        line: Row = {"case": case, "peer": peer, "data sets": len(ratios)}
        if ratios:
            line |= {"mean ratio": geometric_mean(ratios), "least": min(ratios), "most": max(ratios)}
        found.append(line)
    return found


def versions(python: str) -> str:
    """Versions of the peers that an interpreter has, and how busy the machine is, in one line."""
    names = ("numpy", *dict.fromkeys(case.peer for case in cases()))
    code = (
        "import importlib.metadata as m, sys\n"
        "for name in sys.argv[1:]:\n"
        "    try: print(name, m.version(name))\n"
        "    except m.PackageNotFoundError: print(name, 'absent')"
    )
    done = subprocess.run([python, "-c", code, *names], capture_output=True, text=True)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return ", ".join(done.stdout.splitlines()) + f"; {platform.system()}, {os.cpu_count()} cores{load}."


def measured_lines(rows: list[Row], grown: list[Row], python: str) -> list[str]:
    """What docs/benchmarks.md shows between its two marks."""
    columns = ["case", "data", "peer", "ours s", "peer s", "ratio", "least", "most", "note"]
    lines = [
        machine(),
        "",
        versions(python),
        "",
        *markdown(summary(rows), ["case", "peer", "data sets", "mean ratio", "least", "most"]),
    ]
    lines += ["", *markdown(rows, columns)]
    if grown:
        lines += [
            "",
            "How costs grow (evidence: the sum over every tree; optimum: one best tree with its proof):",
            "",
        ]
        lines += markdown(exponents(grown), ["grows", "from", "to", "evidence", "optimum"])
        lines += ["", "![How costs grow](../benchmarks/results/growth.svg)"]
    return lines


def put_in_page(page: Path, lines: list[str]) -> None:
    """Replace what stands between the marks."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + "\n".join([BEGIN, "", *lines, "", END]) + after, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", nargs="+", help="only cases whose name contains one of these")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cap", type=float, default=CAP, help="most seconds for one question")
    parser.add_argument("--check", action="store_true", help="fail on a regression, write nothing")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--peer-python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--out", type=Path, help="a folder for the tables instead of results and docs")
    args = parser.parse_args()
    wanted = [case for case in cases() if not args.cases or any(word in case.name for word in args.cases)]
    absent = {case.peer for case in wanted if not _there(case.peer, args.peer_python)}
    rows = measure(
        [case for case in wanted if case.peer not in absent], args.repeats, args.cap, args.peer_python
    )
    grown = [] if args.no_growth or args.check else growth(min(args.repeats, 3))
    worse = regressions(rows, read(COMMITTED))
    for line in worse:
        print(f"worse: {line}")
    if absent:
        print(f"absent: {', '.join(sorted(absent))}")
    print("\n".join(markdown(summary(rows), ["case", "peer", "data sets", "mean ratio", "least", "most"])))
    if args.check:
        known = read(COMMITTED)
        compared = sum((row["case"], row["data"], row["peer"]) in known for row in rows)
        print(f"{compared} cases compared with {COMMITTED.name}, {len(worse)} of them worse")
        return 1 if worse or not compared else 0
    lines = measured_lines(rows, grown, args.peer_python)
    out = args.out or harness.RESULTS
    write("all", ["# All benchmarks", "", *lines], rows, out)
    if grown:
        write("growth", ["# How costs grow", "", *markdown(grown, list(grown[0]))], grown, out)
        draw_chart(growth_chart(grown), out / "growth.svg")
    if args.out is None:
        put_in_page(PAGE, lines)
    return 0


def _there(peer: str, python: str) -> bool:
    code = f"import sys, solvers; sys.exit(not solvers.installed({peer!r}))"
    return (
        subprocess.run([python, "-c", code], cwd=Path(__file__).parent, capture_output=True).returncode == 0
    )


if __name__ == "__main__":
    sys.exit(main())
