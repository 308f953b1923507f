"""What ``beyond`` shows: everyone on the sets that nothing was chosen on, on the others, then set by set.

    ratio    exp of the mean over the sets of log(loss of every tree / loss of this one)
    rank     the place on a set by log-loss, 1 the best, the mean over the sets where everyone in the table has a result

A set counts for a pair where both have results on the same folds. Wins and losses are by the corrected paired t-test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from everytree.study.charts import Chart, Panel
from everytree.study.contest import LARGER, contest, tally
from everytree.study.halves import CHOOSING, REPORTED
from everytree.study.jobs import Row, merged
from everytree.study.report import Cell, Report, Table, mean_and_error

__all__ = ["made"]

LEVEL = 0.05
FIRST = "every tree"
MEASURES = ("log_loss", "brier", "auc", "accuracy", "ece", "nodes", "seconds")
COMPARED = ("log_loss", "brier", "accuracy")
HALVES = (
    ("reported", "Sets that nothing was chosen on", REPORTED),
    ("choosing", "Sets that settings were chosen on", CHOOSING),
)
By = dict[tuple[Any, ...], list[Row]]


def made(rows: list[Row], ours: Sequence[str], peers: Sequence[str], about: str) -> Report:
    """Make the report of all rows there are."""
    by = merged(rows, "model", "data")
    models = [name for name in (*ours, *peers) if any(key[0] == name for key in by)]
    names = sorted({row["data"] for row in rows})
    absent = [name for name in peers if name not in models]
    notes = [
        "Means over the folds done; a comparison of two uses the folds that both have. Seconds are of the processor, "
        "for fitting one fold, on a machine that may be busy. Not installed or not run here: "
        + (", ".join(absent) or "none")
        + "."
    ]
    parts: list[Table | Chart] = []
    for key, title, half in HALVES:
        some = [name for name in names if name in half]
        if some:
            parts += [
                everyone(by, models, some, ours, key, title),
                pairs(by, models, some, key, title),
                losses(by, models, some, key, title),
            ]
    parts += [sets(by, models, names, what) for what in ("log_loss", "accuracy", "seconds")]
    if names:
        parts.append(chart(by, models, names))
    return Report("Beyond the papers: today's alternatives on the same folds", about, notes, parts)


def _of(by: By, model: str, name: str, what: str) -> dict[int, float]:
    return {row["trial"]: row[what] for row in by.get((model, name), []) if row.get(what) is not None}


def _mean(by: By, model: str, name: str, what: str) -> float | None:
    return mean_and_error(list(_of(by, model, name, what).values()))[0]


def _both(by: By, one: str, other: str, name: str, what: str) -> tuple[float, float] | None:
    """Return the means of two classifiers over the folds that both have on a set."""
    a, b = _of(by, one, name, what), _of(by, other, name, what)
    common = sorted(a.keys() & b.keys())
    if not common:
        return None
    return float(np.mean([a[t] for t in common])), float(np.mean([b[t] for t in common]))


def _ranks(by: By, models: Sequence[str], names: Sequence[str]) -> tuple[dict[str, float], int, list[str]]:
    """Return mean ranks by log-loss of those with results on most sets, over the sets that all of them have."""
    from scipy.stats import rankdata

    known = {m: {n for n in names if _mean(by, m, n, "log_loss") is not None} for m in models}
    most = max(map(len, known.values()), default=0)
    ranked = [m for m in models if most and len(known[m]) >= 0.8 * most]
    common = [n for n in names if all(n in known[m] for m in ranked)]
    if not common:
        return {}, 0, []
    values = np.array([[_mean(by, m, n, "log_loss") for m in ranked] for n in common], dtype=np.float64)
    ranks = np.stack([rankdata(line) for line in values]).mean(axis=0)
    return dict(zip(ranked, ranks.tolist(), strict=True)), len(common), common


def everyone(
    by: By, models: Sequence[str], names: Sequence[str], ours: Sequence[str], key: str, title: str
) -> Table:
    """Make the table of means over the sets that all who are ranked have, best rank first."""
    ranks, n, common = _ranks(by, models, names)
    lines = []
    for model in models:
        line: Row = {"classifier": model, "ours": "yes" if model in ours else ""}
        line["rank"] = Cell(ranks.get(model), digits=2)
        line["sets"] = sum(_mean(by, model, name, "log_loss") is not None for name in names)
        for what in MEASURES:
            known = [value for name in common if (value := _mean(by, model, name, what)) is not None]
            whole = bool(known) and len(known) == len(common)
            digits = 1 if what == "nodes" else 3
            line[what] = Cell(float(np.mean(known)) if whole else None, digits=digits)
        noted = [
            row for k, some in by.items() if k[0] == model and k[1] in names for row in some if "note" in row
        ]
        line["folds without result"] = len(noted)
        lines.append(line)
    lines.sort(key=lambda line: math.inf if line["rank"].ours is None else line["rank"].ours)
    columns = ["classifier", "ours", "rank", *MEASURES, "sets", "folds without result"]
    note = (
        f"Mean rank by log-loss and means over the {n} sets that all who are ranked have: "
        f"{', '.join(common) or 'none'}. Whoever has results on fewer than four fifths of the sets is not ranked."
    )
    return Table(f"{key}-everyone", f"{title}: everyone", columns, lines, [note])


def pairs(by: By, models: Sequence[str], names: Sequence[str], key: str, title: str) -> Table:
    """Compare every tree with each other classifier: ratio of losses, sets that are better, significant ones."""
    lines = []
    for model in models:
        if model == FIRST:
            continue
        found = [(n, _both(by, FIRST, model, n, "log_loss")) for n in names]
        known = [(n, pair) for n, pair in found if pair is not None]
        if not known:
            continue
        logs = [math.log(max(a, 1e-9) / max(b, 1e-9)) for _, (a, b) in known]
        right = [
            (pair[0] - pair[1]) * 100
            for n in names
            if (pair := _both(by, FIRST, model, n, "accuracy")) is not None
        ]
        line: Row = {
            "against": model,
            "sets": len(known),
            "log-loss ratio": Cell(math.exp(sum(logs) / len(logs)), digits=3),
            "better on": sum(a < b for _, (a, b) in known),
            "accuracy, points": Cell(float(np.mean(right)), digits=2),
        }
        for what in COMPARED:
            line[what] = tally(
                [contest(by.get((FIRST, n), []), by.get((model, n), []), what, LEVEL) for n in names]
            )
        lines.append(line)
    lines.sort(key=lambda line: -line["log-loss ratio"].ours)
    note = (
        "Ratio: geometric mean over the sets of the log-loss of every tree divided by that of the other; below 1 it is "
        "better. Last columns: sets won/tied/lost by the corrected paired t-test at 5 %."
    )
    columns = ["against", "sets", "log-loss ratio", "better on", "accuracy, points", *COMPARED]
    return Table(f"{key}-pairs", f"{title}: every tree against each", columns, lines, [note])


def losses(by: By, models: Sequence[str], names: Sequence[str], key: str, title: str) -> Table:
    """List every set on which others have less log-loss than every tree."""
    lines = []
    for name in names:
        mine = _mean(by, FIRST, name, "log_loss")
        better = []
        for model in models:
            pair = None if model == FIRST else _both(by, FIRST, model, name, "log_loss")
            if pair is not None and pair[1] < pair[0]:
                better.append((pair[1], model))
        if better and mine is not None:
            told = ", ".join(f"{model} {value:.3f}" for value, model in sorted(better))
            lines.append({"data set": name, FIRST: f"{mine:.3f}", "lower log-loss": told})
    columns = ["data set", FIRST, "lower log-loss"]
    return Table(f"{key}-losses", f"{title}: where others have less log-loss", columns, lines)


def sets(by: By, models: Sequence[str], names: Sequence[str], what: str) -> Table:
    """Make the table of one measure on each data set, the best in bold."""
    lines = []
    for name in names:
        values = {model: _mean(by, model, name, what) for model in models}
        known = [value for value in values.values() if value is not None]
        best = (max if what in LARGER else min)(known, default=None)
        folds = max((len(_of(by, model, name, what)) for model in models), default=0)
        line: Row = {"data set": name, "half": "reported" if name in REPORTED else "choosing", "folds": folds}
        for model, value in values.items():
            text = "–" if value is None else f"{value:.3f}"
            line[model] = f"**{text}**" if value is not None and value == best else text
        lines.append(line)
    columns = ["data set", "half", "folds", *models]
    return Table(what, f"Each data set: {what.replace('_', '-')}", columns, lines)


def chart(by: By, models: Sequence[str], names: Sequence[str]) -> Chart:
    """Plot log-loss and accuracy against the seconds of fitting, means over the sets that all who are ranked have."""
    ranks, _, common = _ranks(by, models, names)
    panels = []
    for what in ("log_loss", "accuracy"):
        series: dict[str, Any] = {}
        for model in ranks:
            x, y = (
                float(np.mean([_mean(by, model, n, key) or 0.0 for n in common])) for key in ("seconds", what)
            )
            series[model] = ([max(x, 1e-4)], [y], None)
        panels.append(
            Panel(what.replace("_", "-"), series, "seconds of fitting", what.replace("_", "-"), log_x=True)
        )
    return Chart("trade-off", "Quality against time", panels, across=2)
