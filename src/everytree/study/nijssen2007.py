"""DL8 (Nijssen and Fromont, KDD 2007): optimal trees beside C4.5, and the ways to build the itemset lattice.

Figures 7, 8    itemsets stored and seconds of each strategy for falling minimum frequencies, on whole data sets
Figure 9        the smallest of the most accurate trees with at least ``minfreq`` examples in a leaf and no depth limit
                ("unpruned": errors; "pruned": C4.5's pessimistic errors), and C4.5 under the same threshold, both ways;
                and C4.5 with its defaults, on the tests and on the numbers as they are
Figure 10       the same with the size bounded by that of C4.5's trees
Figure 11       the least error for every size
Sections 1, 4   the five queries of the introduction, and the two tables that mislead a greedy learner

The paper's tests are four equal-frequency bins, cut before the folds were made, so they are here; ten stratified folds.
The threshold is a number of examples in a training part: so C4.5's printed sizes and accuracies come out almost all
("DL8 share" has the same share of the examples instead, rounded up, where that is another number).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from everytree.reference import greedy_traps
from everytree.reference.space import Space
from everytree.study import datasets
from everytree.study.charts import Chart, Panel
from everytree.study.contest import contest
from everytree.study.figure9_j48 import default_j48, default_j48_rows
from everytree.study.jobs import Job, Row, Study, merged
from everytree.study.measure import fold_of, measured
from everytree.study.report import Cell, Report, Table, compared, mean_and_error, printed

__all__ = ["FREQUENCIES", "STEPS", "study"]

FOLDS, BINS, LEVEL = 10, 4, 0.05
MEMORY = 2 * 2**30
FOLD_SECONDS = (
    6.0  # of a query in Figures 9 and 10: two thirds of the rows need one, the others more than minutes
)
MODELS = ("J48", "DL8", "J48 pruned", "DL8 pruned")
SHARE = "DL8 share"
# Figure 7: the paper's horizontal axes.
FREQUENCIES = {
    "australian-credit": (300, 250, 200, 150, 100, 75, 60, 50),
    "diabetes": (100, 80, 60, 50, 40, 30, 20, 10),
    "vote": (100, 80, 60, 50, 40, 30, 20, 10),
    "zoo": (10, 9, 8, 7, 6, 5, 4, 3, 2, 1),
}
# Figure 8: uses relevancy, stores closures, and which steps it takes.
STEPS = {
    "simple": (True, False, "one: counts while it builds the tree"),
    "frequent": (False, False, "two: Apriori, then DL8 on the trie"),
    "apriori": (True, False, "two: Apriori with relevancy, then DL8 on the trie"),
    "eclat": (True, False, "two: Eclat with relevancy, then DL8 on the trie"),
    "closed": (True, True, "one: results kept by closure"),
    "eclat_frequent": (False, False, "two: Eclat, then DL8 on the trie"),
    "closed_frequent": (False, True, "two: all closed frequent itemsets, then DL8 by closures"),
    "auto": (True, True, "everytree's engine: covers with bounds, the two lowest levels never stored"),
}
FRONTS = {"australian-credit": (60, 55), "balance-scale": (4, 2, 1)}  # Figure 11
# The problems of the introduction, for a data set of some hundred examples.
QUERIES = {
    "most accurate with large leaves": "most accurate tree where leaf >= 20 and depth <= 4",
    "the 3 most accurate with clear leaves": "3 most accurate trees where margin >= 10 and depth <= 3",
    "most accurate with correlated leaves": "most accurate tree where chi2 >= 10 and leaf >= 5 and depth <= 4",
    "smallest with the best expected accuracy": "least expected error then smallest where leaf >= 5 and depth <= 4",
    "smallest with accuracy above 90 %": "smallest tree where accuracy >= 0.9 and depth <= 4",
    "shallowest with accuracy above 90 %": "shallowest tree where accuracy >= 0.9 and depth <= 4",
}
QUERIED = ("vote", "breast-w", "kr-vs-kp")
QUICK_FIGURE9 = (
    ("balance-scale", 15),
    ("breast-w", 40),
    ("heart-cleveland", 30),
    ("ionosphere", 50),
    ("vote", 20),
    ("yeast", 100),
)


def study() -> Study:
    """Return the study, for ``run_study``.

    Returns
    -------
    Study
        Its data sets, jobs and report.

    Examples
    --------
    >>> study().name
    'nijssen2007'
    """
    return Study("nijssen2007", "Optimal trees from itemset lattices", needs, settings, jobs, run, report)


def figure9_rows(quick: bool) -> list[Row]:
    """Return the printed rows that are measured."""
    rows: list[Row] = printed("nijssen2007")["figure9"]
    return [row for row in rows if not quick or (row["data"], row["minfreq"]) in QUICK_FIGURE9]


def figure10_rows(quick: bool) -> list[Row]:
    """Return the printed rows that are measured."""
    rows: list[Row] = printed("nijssen2007")["figure10"]
    return [row for row in rows if not quick or row["data"] in ("german-credit", "vote")]


def needs(quick: bool) -> Sequence[str]:
    """List the data sets."""
    names = [row["data"] for row in (*figure9_rows(quick), *figure10_rows(quick))]
    return list(dict.fromkeys([*names, *_lattice_sets(quick), *FRONTS, *QUERIED]))


def _lattice_sets(quick: bool) -> list[str]:
    return ["vote", "zoo"] if quick else list(FREQUENCIES)


def settings(quick: bool) -> Row:
    """Return what the results depend on beside the jobs."""
    return {"folds": FOLDS, "bins": BINS, "memory_limit": MEMORY}


def jobs(quick: bool, names: Sequence[str]) -> list[Job]:
    """List the jobs: one fold of one row each; or the strategies, fronts or queries of one data set."""
    limit, fold_limit = ({"time_limit": 5.0 if quick else seconds} for seconds in (120.0, FOLD_SECONDS))
    found = [
        Job("figure9", row["data"], {"minfreq": row["minfreq"], **fold_limit}, fold)
        for row in figure9_rows(quick)
        for fold in range(FOLDS)
    ]
    found += [
        Job(
            "figure10",
            row["data"],
            {"minfreq": row["minfreq"], "max_size": row["max_size"], **fold_limit},
            fold,
        )
        for row in figure10_rows(quick)
        for fold in range(FOLDS)
    ]
    names9 = dict.fromkeys(row["data"] for row in figure9_rows(quick))
    found += [Job("j48", name, {}, fold) for name in names9 for fold in range(FOLDS)]
    each = {"time_limit": 1.0 if quick else 15.0}
    found += [Job("figure7", name, each, 0) for name in _lattice_sets(quick)]
    found += [
        Job("figure11", name, {"minfreq": minfreq, **limit}, 0)
        for name, all_of in FRONTS.items()
        for minfreq in (all_of[:1] if quick else all_of)
    ]
    found += [Job("queries", name, limit, 0) for name in QUERIED]
    found = [job for job in found if job.data in names]
    return [*found, Job("traps", "section 4", {}, 0)]


@lru_cache(maxsize=2)
def _whole(folder: Path, name: str) -> tuple[Any, Any, list[int]]:
    X, labels = datasets.binary_tests(folder, name, BINS)
    classes, y = datasets.classes_of(labels)
    return X, y, classes


def run(job: Job, folder: Path | None) -> list[Row]:
    """Return the rows of one job."""
    if job.part == "traps":
        return _traps()
    assert folder is not None
    X, y, classes = _whole(folder, job.data)
    if job.part in ("figure9", "figure10"):
        fold = fold_of(y, FOLDS, job.trial)
        parts = (X[fold.train], y[fold.train], X[fold.test], y[fold.test], classes)
        share = math.ceil(job.settings["minfreq"] * len(fold.train) / len(y))
        return _fold_rows(job, parts, share)
    if job.part == "j48":
        return default_j48_rows(job, folder, X, FOLDS)
    return {"figure7": _strategies, "figure11": _front, "queries": _queries}[job.part](job, X, y)


def _fold_rows(job: Job, parts: tuple[Any, Any, Any, Any, list[int]], share: int) -> list[Row]:
    least = job.settings["minfreq"]
    models = MODELS[:2] if job.part == "figure10" else (*MODELS, SHARE) if share != least else MODELS
    found = []
    for name in models:
        model = _model(name, share if name == SHARE else least, parts[0].shape[1], job.settings)
        row = {"model": name, "n_train": len(parts[1]), "n_test": len(parts[3])}
        row |= measured(model, *parts, on_train=True)
        if name.startswith("DL8") and "accuracy" in row:
            row["proved"] = bool(model.optimal_)
        found.append(row)
    return found


def _model(name: str, least: int, n_tests: int, given: Any) -> Any:
    most = given.get("max_size")
    pruned = name.endswith("pruned")
    if name.startswith("J48"):
        return et.C45TreeClassifier(least, prune=pruned, nominal=list(range(n_tests)))
    return et.OptimalTreeClassifier(
        None if most is None else (most - 1) // 2,  # a tree with this many nodes has no longer path
        least,
        minimize=("expected_error" if pruned else "error", "size"),
        max_size=most,
        leaf_penalty=0,
        time_limit=given["time_limit"],
        memory_limit=MEMORY,
    )


def _strategies(job: Job, X: Any, y: Any) -> list[Row]:
    space = et.TreeSpace(X, y, max_depth=None)
    et.compare_strategies(
        space, min_leaf=len(y) // 2, time_limit=1.0
    )  # the first question loads libraries, which no strategy should pay for
    runs = et.compare_strategies(
        space,
        tuple(STEPS),
        FREQUENCIES[job.data],
        time_limit=job.settings["time_limit"],
        memory_limit=MEMORY // 2,
    )
    return [asdict(each) for each in runs]


def _front(job: Job, X: Any, y: Any) -> list[Row]:
    given = job.settings
    space = et.TreeSpace(X, y, None, given["minfreq"], time_limit=given["time_limit"], memory_limit=MEMORY)
    try:
        front = space.front()
    except et.LimitReached as limit:
        return [{"note": str(limit).split(";")[0]}]
    return [{"size": int(size), "error": int(error)} for size, error, _ in front]


def _queries(job: Job, X: Any, y: Any) -> list[Row]:
    found: list[Row] = []
    for name, text in QUERIES.items():
        query, k = et.parse_query(text)
        space = et.TreeSpace(X, y, None, time_limit=job.settings["time_limit"], memory_limit=MEMORY)
        row: Row = {"query": name, "text": text}
        try:
            answer = space.best(query, k=k)
        except et.EverytreeError as error:
            found.append(row | {"note": str(error).split(";")[0]})
            continue
        trees = answer if isinstance(answer, list) else [answer]
        row |= {"error": int(trees[0].error), "size": trees[0].size, "depth": trees[0].depth}
        row["others"] = [[int(tree.error), tree.size] for tree in trees[1:]]
        row["accuracy"] = 1 - trees[0].error / len(y)
        row["proved"] = bool(trees[0].info.get("optimal", True))
        found.append(row)
    return found


def _traps() -> list[Row]:
    """Measure the tables of section 4 and two like them: roots by gain and of the optimum, and what they lead to."""
    found = []
    for name, least, text in (
        ("DL8_FIGURE_3", 10, "the paper's first (Figure 3)"),
        ("DL8_FIGURE_4", 1, "the paper's second (Figure 4)"),
        ("UNBALANCED_PAIR", 10, "an unbalanced pair"),
        ("MISLED_XOR", 10, "an XOR with a misleading third test"),
    ):
        table = getattr(greedy_traps, name)
        space = Space(table, min_leaf=least)
        rows = [row for row, counts in zip(table.rows, table.counts, strict=True) for _ in range(sum(counts))]
        y = [c for counts in table.counts for c, count in enumerate(counts) for _ in range(count)]
        best = et.TreeSpace(rows, y, None, least).best()
        j48 = et.C45TreeClassifier(least, prune=False, nominal=[0, 1, 2]).fit(np.array(rows), np.array(y))
        roots = [greedy_traps.greedy_root(space, ratio) for ratio in (False, True)]
        found.append(
            {
                "table": text,
                "minfreq": least,
                "gain of A": round(greedy_traps.information_gain(space, 0), 4),
                "gain of the optimum's root": round(greedy_traps.information_gain(space, best.key[0]), 4),
                "root by gain": "ABC"[roots[0] or 0],
                "root by gain ratio": "ABC"[roots[1] or 0],
                "root of the optimum": "ABC"[best.key[0]],
                "errors of C4.5": int((j48.predict(np.array(rows)) != np.array(y)).sum()),
                "errors of the optimum": int(best.error),
                "nodes of C4.5": int(j48.size_),
                "nodes of the optimum": int(best.size),
            }
        )
    return found


# --- the report


def report(rows: list[Row], quick: bool) -> Report:
    """Report Figures 7 to 11 and the queries, of all rows there are."""
    by = {part: mine for (part,), mine in merged(rows, "part").items()}
    parts: list[Table | Chart] = []
    if "figure7" in by:
        parts += figure7(by["figure7"])
    parts += figure9(by.get("figure9", []), quick)
    if "j48" in by:
        pruned = [row for row in by.get("figure9", []) if row["model"] == "DL8 pruned"]
        parts.append(default_j48(by["j48"], pruned, figure9_rows(quick)))
    if "figure10" in by:
        parts.append(figure10(by["figure10"], quick))
    if "figure11" in by:
        parts += figure11(by["figure11"])
    if "queries" in by:
        parts.append(queries(by["queries"]))
    if "traps" in by:
        columns = [name for name in by["traps"][0] if name not in ("part", "data", "trial")]
        note = (
            "Tables of 100 examples on which the greedy root A puts the best tree out of reach. Gains in bits. The "
            "paper prints gains of 0.33 (A) and 0.26 (B) for the first, 0.098 (A) and 0.029 (C) for the second."
        )
        parts.append(Table("traps", "Section 4: where greedy roots mislead", columns, by["traps"], [note]))
    notes = ["Means over the folds done; in brackets what the paper prints."]
    return Report(
        "Optimal trees from itemset lattices: Figures 7 to 11",
        printed("nijssen2007")["citation"],
        notes,
        parts,
    )


def figure7(rows: list[Row]) -> list[Table | Chart]:
    """Show itemsets, seconds and memory of each strategy, and what each does."""
    lines, panels = [], []
    for (data,), mine in merged(rows, "data").items():
        itemsets: dict[str, Any] = {}
        seconds: dict[str, Any] = {}
        memory: dict[str, Any] = {}
        for (minfreq,), some in merged(mine, "min_leaf").items():
            named = {row["strategy"]: row for row in some}
            answers = {(row["objective"], row["size"]) for row in some if row["objective"] is not None}
            line: Row = {"data set": data, "minfreq": minfreq}
            line["error, size"] = " ≠ ".join(f"{e:g}, {s}" for e, s in sorted(answers)) or None
            for strategy in STEPS:
                found = named.get(strategy, {})
                stored = found.get("states" if strategy == "auto" else "itemsets")
                megabytes = None if found.get("bytes") is None else found["bytes"] / 1e6
                line[strategy] = (
                    None
                    if found.get("seconds_total") is None
                    else f"{stored}; {found['seconds_total']:.3g} s"
                    + ("" if megabytes is None else f"; {megabytes:.3g} MB")
                )
                for into, value in (
                    (itemsets, stored),
                    (seconds, found.get("seconds_total")),
                    (memory, megabytes),
                ):
                    if value:
                        x, y, _ = into.setdefault(strategy, ([], [], None))
                        x.append(minfreq)
                        y.append(value)
            lines.append(line)
        panels.append(Panel(f"{data}: stored", itemsets, "minimum frequency", "itemsets", log_y=True))
        panels.append(Panel(f"{data}: time", seconds, "minimum frequency", "seconds", log_y=True))
        panels.append(Panel(f"{data}: memory", memory, "minimum frequency", "megabytes", log_y=True))
    note = (
        "Itemsets stored (states of auto), seconds, and the most megabytes stored; – where a limit was reached "
        "at this frequency or a higher one. "
        "All strategies must prove the same error and size; answers that differ would show as ≠."
    )
    about = [
        {
            "strategy": name,
            "relevancy": "yes" if a else "no",
            "closures": "yes" if b else "no",
            "steps": steps,
        }
        for name, (a, b, steps) in STEPS.items()
    ]
    return [
        Table(
            "figure7",
            "Figure 7: itemsets and time",
            ["data set", "minfreq", "error, size", *STEPS],
            lines,
            [note],
        ),
        Chart("figure7", "Figure 7", panels, across=3),
        Table(
            "figure8",
            "Figure 8: what the strategies do",
            ["strategy", "relevancy", "closures", "steps"],
            about,
        ),
    ]


def figure9(rows: list[Row], quick: bool) -> list[Table | Chart]:
    """Make one table for each kind of pruning: training and test accuracy and size, and who wins on test rows."""
    by = merged(rows, "data", "minfreq", "model")
    tables: list[Table | Chart] = []
    for kind, suffix in (("unpruned", ""), ("pruned", " pruned")):
        lines = []
        for row in figure9_rows(quick):
            line: Row = {"data set": row["data"], "minfreq": row["minfreq"]}
            pair = [by.get((row["data"], row["minfreq"], name + suffix), []) for name in ("J48", "DL8")]
            if not pair[0]:
                continue
            line["folds"] = len(pair[0])
            for title, what, digits in (
                ("train", "train_accuracy", 2),
                ("test", "accuracy", 2),
                ("size", "nodes", 0),
            ):
                for name, mine in zip(("J48", "DL8"), pair, strict=True):
                    values = [each[what] for each in mine if what in each]
                    below = title == "train" and name == "DL8" and kind == "unpruned"
                    line[f"{title} {name}"] = compared(
                        values, float(row[kind][title][name]), digits=digits, flag_below_only=below
                    )
            if kind == "unpruned":
                other = by.get((row["data"], row["minfreq"], SHARE)) or pair[1]
                known = float(row[kind]["train"]["DL8"])
                line["train DL8, by share"] = compared(
                    [each["train_accuracy"] for each in other if "accuracy" in each],
                    known,
                    flag_below_only=True,
                )
            line["test winner"] = _winner(*pair)
            proved = sum(bool(each.get("proved")) for each in pair[1])
            line["proved"] = f"{proved} of {len(pair[1])}"
            lines.append(line)
        measures = [f"{title} {name}" for title in ("train", "test", "size") for name in ("J48", "DL8")]
        more = ["train DL8, by share"] if kind == "unpruned" else []
        columns = ["data set", "minfreq", "folds", *measures, *more, "test winner", "proved"]
        won = [sum(line["test winner"] == name for line in lines) for name in ("DL8", "J48")]
        after = [
            f"Significantly better on test rows at 5 %: DL8 in {won[0]} rows, J48 in {won[1]}, of {len(lines)} (the "
            "paper: DL8 on 9 of 20 data sets, J48 on one)."
        ]
        if kind == "unpruned":
            after += [_reached(lines, column) for column in ("train DL8", "train DL8, by share")]
        note = (
            "Training accuracies of the optimum are flagged only below the printed ones: nothing can be better than an "
            "optimum, but its tests may be. Where not every fold is proved, the best tree that was found within "
            f"{seconds_of(rows)} of a query stands in."
        )
        notes = [note] if kind == "unpruned" else []
        tables.append(Table(f"figure9-{kind}", f"Figure 9, {kind}", columns, lines, notes, after))
    return tables


def seconds_of(rows: Sequence[Row]) -> str:
    """Say the time limits of some rows: "6 seconds"."""
    limits = sorted({row["time_limit"] for row in rows if "time_limit" in row})
    return f"{' or '.join(f'{limit:g}' for limit in limits) or 'some'} seconds"


def _reached(lines: Sequence[Row], column: str) -> str:
    """Say in how many rows the optimum, rounded as the paper rounds, is at least the printed one."""
    below = [
        f"{line['data set']} {line['minfreq']} ({line[column].ours:.3f} in {line['folds']} folds, printed "
        f"{line[column].printed:g})"
        for line in lines
        if line[column].ours is not None and line[column].ours + 0.005 + 1e-9 < line[column].printed
    ]
    text = f"{column}: at least the printed accuracy in {len(lines) - len(below)} of {len(lines)} rows"
    return text + ("." if not below else f"; below it: {', '.join(below)}.")


def _winner(j48: Sequence[Row], dl8: Sequence[Row]) -> str:
    """Return which has the larger test accuracy by the corrected test: "J48", "DL8" or "–"."""
    said = contest(dl8, j48, "accuracy", LEVEL)
    return {"win": "DL8", "loss": "J48"}.get(said or "tie", "–")


def figure10(rows: list[Row], quick: bool) -> Table:
    """Make the table of test accuracies with the size of C4.5's trees as a bound."""
    by = merged(rows, "data", "model")
    lines = []
    for row in figure10_rows(quick):
        pair = [by.get((row["data"], name), []) for name in ("J48", "DL8")]
        if not pair[0]:
            continue
        line: Row = {"data set": row["data"], "minfreq": row["minfreq"], "max size": row["max_size"]}
        line["folds"] = len(pair[0])
        line["answered"] = f"{sum('accuracy' in each for each in pair[1])} of {len(pair[1])}"
        for name, mine in zip(("J48", "DL8"), pair, strict=True):
            line[f"test {name}"] = compared(
                [each["accuracy"] for each in mine if "accuracy" in each], row[name]
            )
            sizes = [each["nodes"] for each in mine if "nodes" in each]
            line[f"size {name}"] = compared(sizes, row[f"size_{name}"], digits=1)
        line["test winner"] = _winner(*pair)
        lines.append(line)
    columns = [
        "data set",
        "minfreq",
        "max size",
        "folds",
        "answered",
        "test J48",
        "test DL8",
        "size J48",
        "size DL8",
        "test winner",
    ]
    note = (
        f"Folds in which the best tree with at most so many nodes was proved within {seconds_of(rows)}; there is no "
        "DL8 in the others, as this search has no tree to show before it ends. C4.5 is of all folds."
    )
    return Table("figure10", "Figure 10: bounded size, unpruned", columns, lines, [note])


def figure11(rows: list[Row]) -> list[Table | Chart]:
    """Show the least error for every size."""
    panels, lines = [], []
    for (data,), mine in merged(rows, "data").items():
        series: dict[str, Any] = {}
        for (minfreq,), some in merged(mine, "minfreq").items():
            points = [(row["size"], row["error"]) for row in some if "size" in row]
            line: Row = {"data set": data, "minfreq": minfreq, "points": len(points)}
            line["smallest of the best"] = (
                f"{points[-1][0]} nodes, {points[-1][1]} errors" if points else None
            )
            line["note"] = next((row["note"] for row in some if "note" in row), "")
            lines.append(line)
            if points:
                series[f"minsup {minfreq}"] = ([p[0] for p in points], [max(p[1], 0.5) for p in points], None)
        panels.append(Panel(data, series, "nodes", "least error", log_y=data == "balance-scale"))
    columns = ["data set", "minfreq", "points", "smallest of the best", "note"]
    note = "The paper draws this figure without numbers."
    return [
        Table("figure11", "Figure 11: the least error for every size", columns, lines, [note]),
        Chart("figure11", "Figure 11", panels, across=2),
    ]


def queries(rows: list[Row]) -> Table:
    """Make the table of answers to the problems of the introduction."""
    lines = []
    for row in rows:
        cell, _ = mean_and_error([row["accuracy"]] if "accuracy" in row else [])
        others = "; ".join(f"{error} errors, {size} nodes" for error, size in row.get("others", ()))
        lines.append(
            {
                "data set": row["data"],
                "problem": row["query"],
                "query": f"`{row['text']}`",
                "accuracy": Cell(cell, math.nan, digits=3),
                "nodes": row.get("size"),
                "depth": row.get("depth"),
                "next ones": others,
                "note": row.get("note", "" if row.get("proved", True) else "not proved within the limit"),
            }
        )
    columns = ["data set", "problem", "query", "accuracy", "nodes", "depth", "next ones", "note"]
    return Table("queries", "Section 1: the five problems, answered", columns, lines)
