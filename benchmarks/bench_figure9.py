"""The part ``figure9`` of bench_optimal: runs the queries of ``dl8_figure9`` and writes the table.

First every row of the figure: the smallest of the most accurate trees; where that is not proven within the limits, the
most accurate tree of any size; where it falls below the printed accuracy, the paper's own protocol. Then lower
thresholds: the lowest of a data set is halved until a query does not end within the limits (if half of it is already
too low, three quarters are tried). Each query has a process of its own.
"""

from __future__ import annotations

import math

import dl8_figure9 as paper
from compare import Bench, finish, solved
from harness import Row, Worker, cell

QUICK = 8  # rows of --quick: the first ones, up to chess
BOTH, ERROR, PARTS = "error, size", "error", "parts"  # what was asked
BELOW, REACHED = "below the printed accuracy", "the printed accuracy is reached on parts"
SHOWN = ("rows", "tests", "states", "seconds", "cpu_seconds", "memory_mb", "error", "accuracy", "size")


def run(bench: Bench) -> None:
    """Measure what is not yet measured, and write the report."""
    printed = [row for row in paper.PRINTED if not bench.args.named or row.name in bench.args.files]
    if bench.args.quick:
        printed = printed[:QUICK]
    store = bench.store("figure9", "name", "minfreq")
    cap = min(paper.TIME_LIMIT, bench.args.cap)

    def ask(name: str, minfreq: int, label: str = BOTH) -> Row | None:
        what = {"name": name, "minfreq": minfreq, "label": label}
        done = store.of(**what)
        if done or bench.budget.spent():
            return done[0] if done else None
        query = {"name": name, "minfreq": minfreq, "minimize": label.split(", "), "share": label == PARTS}
        if label == PARTS:
            query["minimize"] = BOTH.split(", ")
        with Worker() as worker:
            seconds = 2 * cap if label == PARTS else cap
            answer = worker.ask({"solver": "everytree", "task": "figure9"} | query, seconds)
        result = (
            answer.get("limit") or answer.get("failed") or answer.get("stopped") or cell(answer["accuracy"])
        )
        print(f"  {name} {minfreq} {label}: {result}, {cell(answer.get('seconds'))} s", flush=True)
        return store.add(what | answer)

    for row in printed:
        answer = ask(row.name, row.minfreq)
        if answer and not solved(answer):
            answer = ask(row.name, row.minfreq, ERROR)
        if answer and solved(answer) and not reaches(answer["accuracy"], row.accuracy):
            ask(row.name, row.minfreq, PARTS)
    for name in [] if bench.args.quick else dict.fromkeys(row.name for row in printed):
        lower_ones = halves(paper.lowest(name))
        for minfreq in lower_ones:
            answer = ask(name, minfreq)
            if answer is None or not solved(answer):
                if answer is not None and minfreq == lower_ones[0]:
                    ask(name, three_quarters(minfreq))
                break

    rows = [_row(store.of(name=row.name, minfreq=row.minfreq), row) for row in printed]
    rows = [row for row in rows if row]
    lower, reached = [], {}
    for name in dict.fromkeys(row.name for row in printed):
        thresholds = {run["minfreq"] for run in store.of(name=name)}
        for minfreq in sorted((m for m in thresholds if m < paper.lowest(name)), reverse=True):
            row = _row(store.of(name=name, minfreq=minfreq), None)
            lower.append(row)
            if row["proven"] == BOTH:
                reached[name] = minfreq
    done = sum(row["proven"] == BOTH for row in rows)
    errors = sum(row["proven"] == ERROR for row in rows)
    below = [f"{row['data set']} {row['minfreq']}" for row in rows if row["note"] == BELOW]
    notes = [
        "The smallest of the most accurate trees with at least `minfreq` examples in every leaf and no limit on the"
        f" depth, on the whole data; {cap:g} s and {paper.MEMORY_LIMIT / 2**30:g} GiB for each query, one thread."
        " `printed` is the training accuracy in the paper, a mean over ten training parts of 90 %; `parts` is the same"
        " mean of ours, computed where the whole data fall below (two digits, as printed). Peak memory is the growth"
        " of the resident set. How the raw files become these tests: benchmarks/dl8_figure9.py.",
        "",
        f"- {done} of {len(rows)} rows of the figure measured here are solved within the limits, {errors} more in their"
        " error but not in their size.",
        f"- Below the printed training accuracy, on the whole data and on parts: {', '.join(below) or 'none'}.",
        f"- Lower thresholds than the paper's lowest: {len(reached)} data sets"
        + (f" ({', '.join(f'{name} {minfreq}' for name, minfreq in reached.items())})." if reached else "."),
    ]
    columns = ["data set", "minfreq", "rows", "tests", "proven", "states", "seconds", "cpu_seconds", "memory_mb",
               "error", "accuracy", "printed", "parts", "size", "printed size", "note"]  # fmt: skip
    finish(
        bench, "figure9", "DL8's Figure 9: minimum frequency, no depth limit", notes, rows + lower, columns
    )


def halves(minfreq: int) -> list[int]:
    """Lower thresholds to try.

    >>> halves(15)
    [7, 3, 1]
    """
    values = []
    while minfreq > 1:
        minfreq //= 2
        values.append(minfreq)
    return values


def three_quarters(half: int) -> int:
    """A threshold between a data set's lowest one and half of it.

    >>> three_quarters(22)
    33
    """
    return half + half // 2


def reaches(accuracy: float, printed: float) -> bool:
    """Whether an accuracy, in the two digits of the paper, is at least the printed one.

    >>> reaches(0.8855, 0.89), reaches(0.8596, 0.87)
    (True, False)
    """
    return math.floor(accuracy * 100 + 0.5) >= round(printed * 100)


def _row(measured: list[Row], printed: paper.Printed | None) -> Row:
    """A line of the table; empty if nothing was measured."""
    by_label = {row["label"]: row for row in measured}
    if BOTH not in by_label:
        return {}
    proven = next((label for label in (BOTH, ERROR) if solved(by_label.get(label, {}))), None)
    answer = by_label[proven or BOTH]
    row: Row = {"data set": answer["name"], "minfreq": answer["minfreq"], "proven": proven or "no"}
    row |= {name: answer.get(name) for name in SHOWN}
    row["note"] = by_label[BOTH].get("limit") or by_label[BOTH].get("failed") or by_label[BOTH].get("stopped")
    if printed is None:
        return row
    parts = by_label.get(PARTS, {}).get("accuracy")
    row |= {"printed": printed.accuracy, "printed size": printed.size, "parts": parts}
    if proven and not reaches(answer["accuracy"], printed.accuracy):
        row["note"] = REACHED if parts is not None and reaches(parts, printed.accuracy) else BELOW
    return row
