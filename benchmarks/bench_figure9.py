"""The part ``figure9`` of bench_optimal: runs the queries of ``dl8_figure9`` and writes the table.

First every row of the figure, then lower thresholds: the lowest of a data set is halved until a query does not end
within the limits. Each query has a process of its own.
"""

from __future__ import annotations

import math

import dl8_figure9 as paper
from compare import Bench, finish, solved
from harness import Row, Worker, cell

QUICK = 8  # rows of --quick: the first ones, up to chess


def run(bench: Bench) -> None:
    """Measure what is not yet measured, and write the report."""
    printed = [row for row in paper.PRINTED if not bench.args.named or row.name in bench.args.files]
    if bench.args.quick:
        printed = printed[:QUICK]
    names = list(dict.fromkeys(row.name for row in printed))
    store = bench.store("figure9", "name", "minfreq")
    cap = min(paper.TIME_LIMIT, bench.args.cap)

    def ask(name: str, minfreq: int, share: bool = False) -> Row | None:
        what = {"name": name, "minfreq": minfreq, "label": "parts" if share else "all"}
        done = store.of(**what)
        if done or bench.budget.spent():
            return done[0] if done else None
        with Worker() as worker:
            seconds = 2 * cap if share else cap
            answer = worker.ask(
                {"solver": "everytree", "task": "figure9", "share": share, **_query(what)}, seconds
            )
        result = answer.get("limit") or answer.get("failed") or answer.get("stopped")
        print(
            f"  {name} {minfreq} {what['label']}: {result or cell(answer['accuracy'])} {cell(answer.get('seconds'))} s",
            flush=True,
        )
        return store.add(what | answer)

    found = {(row.name, row.minfreq): ask(row.name, row.minfreq) for row in printed}
    for row in printed:
        answer = found[row.name, row.minfreq]
        if answer and solved(answer) and not reaches(answer["accuracy"], row.accuracy):
            ask(row.name, row.minfreq, share=True)
    if not bench.args.quick:
        for name in names:
            for minfreq in halves(paper.lowest(name)):
                answer = ask(name, minfreq)
                if answer is None or not solved(answer):
                    break

    rows = [
        _row(store.of(name=r.name, minfreq=r.minfreq), r)
        for r in paper.PRINTED
        if store.of(name=r.name, minfreq=r.minfreq)
    ]
    lower, lowest = [], {}
    for name in dict.fromkeys(row["name"] for row in store.rows):
        for minfreq in halves(paper.lowest(name)):
            measured = store.of(name=name, minfreq=minfreq, label="all")
            if measured:
                lower.append(_row(measured, None))
                if solved(measured[0]):
                    lowest[name] = minfreq
    done = sum(row["solved"] is True for row in rows)
    below = [
        f"{row['data set']} {row['minfreq']}" for row in rows if row["solved"] and "below" in str(row["note"])
    ]
    notes = [
        "The smallest of the most accurate trees with at least `minfreq` examples in every leaf and no limit on the"
        f" depth, on the whole data; {cap:g} s and {paper.MEMORY_LIMIT / 2**30:g} GiB for each query, one thread."
        " `printed` is the training accuracy in the paper, a mean over ten training parts of 90 %; `parts` is the same"
        " mean of ours, computed where the whole data fall below (two digits, as printed). Peak memory is the growth"
        " of the resident set. How the raw files become these tests: benchmarks/dl8_figure9.py.",
        "",
        f"- {done} of {len(rows)} rows of the figure measured here are solved within the limits.",
        f"- Below the printed training accuracy, on the whole data and on parts: {', '.join(below) or 'none'}.",
        f"- Below the paper's lowest threshold: {len(lowest)} data sets"
        + (f" ({', '.join(f'{name} {minfreq}' for name, minfreq in lowest.items())})." if lowest else "."),
    ]
    columns = ["data set", "minfreq", "rows", "tests", "solved", "states", "seconds", "cpu_seconds", "memory_mb",
               "error", "accuracy", "printed", "parts", "size", "printed size", "note"]  # fmt: skip
    finish(
        bench, "figure9", "DL8's Figure 9: minimum frequency, no depth limit", notes, rows + lower, columns
    )


def _query(what: Row) -> Row:
    return {"name": what["name"], "minfreq": what["minfreq"]}


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


def reaches(accuracy: float, printed: float) -> bool:
    """Whether an accuracy, in the two digits of the paper, is at least the printed one.

    >>> reaches(0.8855, 0.89), reaches(0.8596, 0.87)
    (True, False)
    """
    return math.floor(accuracy * 100 + 0.5) >= round(printed * 100)


def _row(measured: list[Row], printed: paper.Printed | None) -> Row:
    """A line of the table."""
    answer = next(row for row in measured if row["label"] == "all")
    parts = next((row.get("accuracy") for row in measured if row["label"] == "parts"), None)
    row: Row = {"data set": answer["name"], "minfreq": answer["minfreq"], "solved": solved(answer)}
    for name in (
        "rows",
        "tests",
        "states",
        "seconds",
        "cpu_seconds",
        "memory_mb",
        "error",
        "accuracy",
        "size",
    ):
        row[name] = answer.get(name)
    note = answer.get("limit") or answer.get("failed") or answer.get("stopped") or ""
    if printed is None:
        row["note"] = note or "lower than the paper"
        return row
    row |= {"printed": printed.accuracy, "printed size": printed.size, "parts": parts}
    if "accuracy" in answer and not reaches(answer["accuracy"], printed.accuracy):
        again = parts is not None and reaches(parts, printed.accuracy)
        note += " reached on parts" if again else " below the printed one"
    row["note"] = note.strip()
    return row
