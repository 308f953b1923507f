"""The ways of DL8 to build the itemset lattice, side by side: its Figure 7 redrawn, and the table of its Figure 8.

    make bench-lattice                                        the paper's four data sets (some minutes)
    python benchmarks/bench_lattice.py --files vote --time-limit 5
    python benchmarks/bench_lattice.py --files                    only draw again

No depth limit, least error and then least size, for falling minimum frequencies. Each strategy has a limit on time and
memory for every run, and after reaching one it is not tried at lower frequencies. All of them must find the same
optimum: a disagreement ends the run. Writes a CSV, a markdown table, and the figure as SVG and PNG; rows of other data
sets that the CSV already holds are kept.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import everytree as et
from dl8_figure9 import tests
from everytree.query.compare_strategies import StrategyRun
from everytree.query.strategies import STRATEGIES
from everytree.study.nijssen2007 import FREQUENCIES, STEPS

OUT = Path(__file__).resolve().parent / "results"
TIME_LIMIT = 10.0
MEMORY_LIMIT = 2**30
COLORS = {
    "simple": "#4c72b0", "frequent": "#c44e52", "apriori": "#dd8452", "eclat": "#937860", "closed": "#55a868",
    "eclat_frequent": "#da8bc3", "closed_frequent": "#8c8c8c", "auto": "#000000",
}  # fmt: skip
COLUMNS = ["file", "tests", "min_leaf", "strategy", "objective", "size", "itemsets", "counted", "states", "bytes",
           "seconds_mining", "seconds_total", "stopped"]  # fmt: skip


def bench(name: str, time_limit: float, memory_limit: int) -> list[dict[str, Any]]:
    """The runs of one data set, as rows."""
    X, y = tests(name)
    space = et.TreeSpace(X, y, max_depth=None)
    # Warm up: the first question of a process loads libraries.
    et.compare_strategies(space, min_leaf=len(y) // 2, time_limit=1.0)
    runs = et.compare_strategies(
        space, STRATEGIES, FREQUENCIES[name], time_limit=time_limit, memory_limit=memory_limit
    )
    for size in FREQUENCIES[name]:
        check(name, [run for run in runs if run.min_leaf == size and run.stopped is None])
    return [{"file": name, "tests": X.shape[1]} | asdict(run) for run in runs]


def check(name: str, runs: list[StrategyRun]) -> None:
    """Every strategy that finished has the same optimum."""
    if len({(run.objective, run.size) for run in runs}) > 1:
        sys.exit(f"{name}: the strategies disagree: {runs}")


def read(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of an earlier run, by data set."""
    found: dict[str, list[dict[str, Any]]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                values = {name: number_in(name, text) for name, text in row.items()}
                found.setdefault(row["file"], []).append(values)
    return found


def number_in(column: str, text: str) -> Any:
    if column in ("file", "strategy", "stopped"):
        return text or None
    return None if text == "" else float(text) if column.startswith(("seconds", "objective")) else int(text)


def number(value: Any, digits: int = 3) -> str:
    if value is None or value == "":
        return "–"
    value = float(value)
    return f"{value:.{digits}g}" if value < 1000 else f"{value:,.0f}".replace(",", " ")


def table(rows: list[dict[str, Any]]) -> list[str]:
    """One line for each data set and frequency: seconds, then itemsets (states for auto) and MB of every strategy."""
    lines = [
        "| data | minfreq | error | size | "
        + " | ".join(f"{name} s" for name in STRATEGIES)
        + " | frequent | relevant | closed | auto states | "
        + " | ".join(f"{name} MB" for name in STRATEGIES)
        + " |",
        "|---" * (8 + 2 * len(STRATEGIES)) + "|",
    ]
    for name, size in dict.fromkeys((row["file"], row["min_leaf"]) for row in rows):
        by = {row["strategy"]: row for row in rows if (row["file"], row["min_leaf"]) == (name, size)}
        done = next((row for row in by.values() if row["objective"] is not None), {})
        relevant = next((by[s]["states"] for s in ("simple", "apriori", "eclat") if by[s]["states"]), None)
        cells = [name, str(size), number(done.get("objective")), number(done.get("size"))]
        cells += [number(by[s]["seconds_total"]) for s in STRATEGIES]
        cells += [number(by["frequent"]["itemsets"]), number(relevant)]
        cells += [number(by["closed"]["itemsets"]), number(by["auto"]["states"])]
        cells += [number(None if by[s]["bytes"] is None else by[s]["bytes"] / 1e6) for s in STRATEGIES]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def report(rows: list[dict[str, Any]], time_limit: float, memory_limit: int) -> str:
    lines = [
        "# The lattice strategies of DL8",
        "",
        f"everytree {et.__version__}, {platform.machine()}, one thread; load of the machine {os.getloadavg()[0]:.1f} "
        f"on {os.cpu_count()} cores when this was written. Limits of one run: {time_limit:g} s, "
        f"{memory_limit / 2**20:.0f} MiB; – where a limit was reached, at this frequency or a higher one. Numbers of "
        "itemsets are exact on any machine; times are of one run.",
        "",
        "No depth limit; least error, then least size. The data are the paper's, as `dl8_figure9.py` makes them.",
        "",
        *table(rows),
        "",
        "![Seconds and itemsets against the minimum frequency](lattice.svg)",
        "",
        "## What they do (Figure 8)",
        "",
        "| strategy | relevancy | closures | steps |",
        "|---|---|---|---|",
        *(
            f"| {name} | {'yes' if relevancy else 'no'} | {'yes' if closures else 'no'} | {steps} |"
            for name, (relevancy, closures, steps) in STEPS.items()
        ),
        "",
    ]
    return "\n".join(lines)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Figure 7: above the number of itemsets, below the seconds, one column for each data set."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "everytree"
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["file"] for row in rows))
    figure, axes = plt.subplots(2, len(names), figsize=(3.4 * len(names), 6), squeeze=False)

    def line(axis: Any, name: str, strategy: str, what: str, label: str, style: str = "-") -> None:
        points = [
            (row["min_leaf"], row[what])
            for row in rows
            if row["file"] == name and row["strategy"] == strategy and row[what]
        ]
        if points:
            axis.plot(*zip(*points, strict=True), style, marker=".", color=COLORS[strategy], label=label)

    for column, name in enumerate(names):
        top, bottom = axes[0][column], axes[1][column]
        line(top, name, "frequent", "itemsets", "frequent")
        line(top, name, "simple", "itemsets", "relevant (simple, apriori, eclat)")
        line(top, name, "closed", "itemsets", "closed and relevant")
        line(top, name, "auto", "states", "states of auto")
        line(bottom, name, "frequent", "seconds_mining", "frequent, mining alone", "--")
        for strategy in STRATEGIES:
            line(bottom, name, strategy, "seconds_total", strategy)
        top.set_title(name)
        top.set_ylabel("itemsets stored" if column == 0 else "")
        bottom.set_ylabel("seconds" if column == 0 else "")
        bottom.set_xlabel("minimum frequency")
        for axis in (top, bottom):
            axis.set_yscale("log")
            axis.grid(alpha=0.3)
    for row_of_axes in axes:
        handles: dict[str, Any] = {}
        for axis in row_of_axes:
            handles |= {
                label: handle for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
            }
        row_of_axes[-1].legend(
            handles.values(), handles.keys(), fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1)
        )
    figure.tight_layout()
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(path.with_suffix(".png"), dpi=100)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--files", nargs="*", choices=list(FREQUENCIES), default=list(FREQUENCIES), help="none: draw again"
    )
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT)
    parser.add_argument("--memory-limit", type=int, default=MEMORY_LIMIT)
    parser.add_argument("--out", type=Path, default=OUT / "lattice")
    args = parser.parse_args()
    by_file = read(args.out.with_suffix(".csv"))
    for name in args.files:
        by_file[name] = bench(name, args.time_limit, args.memory_limit)
        print(*table(by_file[name]), sep="\n", flush=True)
    rows = [row for name in FREQUENCIES for row in by_file.get(name, [])]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    args.out.with_suffix(".md").write_text(report(rows, args.time_limit, args.memory_limit), encoding="utf-8")
    draw(rows, args.out)


if __name__ == "__main__":
    main()
