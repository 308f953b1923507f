"""Learning classification trees (Buntine, 1992): Figures 3 to 5, at growing training sizes.

    none      the tree as grown by Bayesian quality          C4      it, by pessimistic pruning
    MML       its most probable pruning, coding prior        CART    it, by cost complexity, ten folds, 0-SE
    Smooth    all its prunings, averaged                     Mult    five trees grown at random, each smoothed
    Aver-1P   option trees, one test ahead, averaged         Aver-2P the same, two tests ahead

All grow with the weak prior (every tree alike, the paper's type I) and the Dirichlet 1/C, and none, MML, C4, CART and
Smooth prune or average one and the same grown tree, as in the paper (section 3.1). Beside them stand "II", the averages
with the package's default prior, a price for each leaf, under which the many trees of an option tree do not outvote its
best ones, and "whole", CART and C4.5 with their own growth. A trial is a random training part of the given size; the
rest, or 2000 of it, judges. The paper's figures are drawn, without numbers: what can be compared is what it says of
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from everytree.study import artificial
from everytree.study.charts import Chart, Panel
from everytree.study.contest import contest, tally
from everytree.study.jobs import Job, Row, Study, merged
from everytree.study.measure import coded, measured
from everytree.study.report import Cell, Report, Table, mean_and_error, printed

__all__ = ["study"]

OTHERS = ("none", "MML", "CART", "C4")
PAPER = (*OTHERS, "Smooth", "Mult", "Aver-1P", "Aver-2P")
BAYES = (*PAPER[4:], "Aver-1P II", "Aver-2P II")
WHOLE = ("CART whole", "C4 whole")
METHODS = (*OTHERS, *BAYES, *WHOLE)
TRIALS, MOST_TEST, LEVEL = 20, 2000, 0.05
MAX_NODES = 10_000  # of an option tree; twenty times as many are no more accurate, and take far longer
SIZES = {
    "breast-cancer": (35, 70, 140, 200),
    "glass": (25, 50, 100, 150),
    "hepatitis": (25, 50, 100),
    "hypothyroid": (200, 500, 1000, 2000),
    "iris": (20, 50, 100),
    "lymph": (35, 70, 110),
    "mushroom": (100, 300, 1000, 2000),
    "primary-tumor": (50, 100, 200, 250),
    "vote": (50, 100, 200, 300),
}
GENERATED = {"xd6": (100, 200, 400, 800), "led": (100, 250, 500, 1000), "led24": (100, 250, 500)}
QUICK = {"iris": (20, 100), "vote": (50, 200), "xd6": (200,), "led": (100, 500)}


def study() -> Study:
    """Return the study, for ``run_study``.

    Returns
    -------
    Study
        Its data sets, jobs and report.

    Examples
    --------
    >>> study().name
    'buntine1992'
    """
    return Study("buntine1992", "Learning classification trees", needs, settings, jobs, run, report)


def _all_sizes(quick: bool) -> dict[str, tuple[int, ...]]:
    return dict(QUICK) if quick else SIZES | GENERATED


def needs(quick: bool) -> Sequence[str]:
    """List the data sets that are not generated."""
    return [name for name in _all_sizes(quick) if name not in GENERATED]


def settings(quick: bool) -> Row:
    """Return what the results depend on beside the jobs."""
    return {"most_test": MOST_TEST, "missing": "complete rows", "max_nodes": MAX_NODES, "grown": "one tree"}


def jobs(quick: bool, names: Sequence[str]) -> list[Job]:
    """List the jobs: one trial of one data set and size each, with all methods."""
    return [
        Job("accuracy", name, {"size": size, "time_limit": 20.0 if quick else 300.0}, trial)
        for name, sizes in _all_sizes(quick).items()
        if name in names or name in GENERATED
        for size in sizes
        for trial in range(4 if quick else TRIALS)
    ]


def run(job: Job, folder: Path | None) -> list[Row]:
    """Return the rows of one job."""
    size = job.settings["size"]
    if job.data in GENERATED:
        X, y, classes = _generated(job.data, size, job.trial)
        rows = np.arange(len(y))
    else:
        assert folder is not None
        X, y, classes = coded(folder, job.data)
        rows = np.random.default_rng([job.trial, size]).permutation(len(y))
    train, test = rows[:size], rows[size : size + MOST_TEST]
    parts = (_take(X, train), y[train], _take(X, test), y[test], classes)
    about = {"n_train": len(train), "n_test": len(test)}
    return [
        {"model": name} | about | measured(_model(name, job.settings["time_limit"], job.trial), *parts)
        for name in METHODS
    ]


@lru_cache(maxsize=2)
def _generated(name: str, size: int, trial: int) -> tuple[Any, Any, list[int]]:
    seed = 7919 * trial + size
    if name == "xd6":
        return *artificial.xd6(size + MOST_TEST, random_state=seed), [0, 1]
    irrelevant = 17 if name == "led24" else 0
    return *artificial.led(size + MOST_TEST, n_irrelevant=irrelevant, random_state=seed), list(range(10))


def _take(X: Any, rows: Any) -> Any:
    return X[rows] if isinstance(X, np.ndarray) else X.take(rows)


def _model(name: str, time_limit: float, seed: int) -> Any:
    if name == "CART whole":
        return et.CARTTreeClassifier("0-SE", laplace=True)
    if name == "C4 whole":
        return et.C45TreeClassifier(laplace=True)
    if name.startswith("Aver"):
        prior = "leaf_penalty" if name.endswith("II") else "uniform"
        return et.OptionTreeClassifier(
            lookahead=int(name[5]),
            prior=prior,
            max_nodes=MAX_NODES,
            missing="category",
            time_limit=time_limit,
        )
    every: dict[str, dict[str, Any]] = {
        "none": {"prune": "none"},
        "MML": {"prune": "map", "prune_prior": "coding"},
        "CART": {"prune": "cost_complexity", "se": 0, "random_state": seed},
        "C4": {"prune": "pessimistic"},
        "Smooth": {},
        "Mult": {"n_trees": 5, "random_state": seed},
    }
    return et.SmoothedTreeClassifier(
        prior="uniform", missing="category", time_limit=time_limit, **every[name]
    )


# --- the report


def report(rows: list[Row], quick: bool) -> Report:
    """Report Figures 3 to 5 as tables and a chart, and what the paper says of them."""
    groups = merged(rows, "data", "size")
    parts: list[Table | Chart] = [
        scores(groups, "accuracy", "Figure 3: accuracy", "accuracy", 1.0),
        scores(groups, "brier", "Mean square error (half of the Brier score)", "half_brier", 0.5),
        scores(groups, "log_loss", "Log-loss", "log_loss", 1.0),
        scores(groups, "predicted_accuracy", "Predicted accuracy", "predicted_accuracy", 1.0, best=False),
        trust(groups),
        contests(groups),
    ]
    if groups:
        parts[1:1] = [average(groups)]
        parts.append(normalised(groups))
        parts.append(said(groups))
    notes = ["Means over the trials done. The best of a row is in bold."]
    return Report(
        "Learning classification trees: Figures 3 to 5", printed("buntine1992")["citation"], notes, parts
    )


Groups = dict[tuple[Any, ...], list[Row]]


def _values(mine: list[Row], what: str) -> dict[str, list[float]]:
    return {
        model: [row[what] for row in some if what in row] for (model,), some in merged(mine, "model").items()
    }


def scores(groups: Groups, what: str, title: str, name: str, factor: float, best: bool = True) -> Table:
    """Make the table of one measure of every method, by data set and size; ``best`` has the best in bold."""
    lines = []
    for (data, size), mine in groups.items():
        line: Row = {"data set": data, "size": size, "trials": len(merged(mine, "trial"))}
        found = {
            model: mean_and_error([factor * each for each in some])
            for model, some in _values(mine, what).items()
        }
        known = [value for value, _ in found.values() if value is not None]
        first = (max if what == "accuracy" else min)(known, default=None) if best else None
        for model, (value, error) in found.items():
            text = str(Cell(value, error, digits=3))
            line[model] = f"**{text}**" if value is not None and value == first else text
        lines.append(line)
    return Table(name, title, ["data set", "size", "trials", *METHODS], lines)


def trust(groups: Groups) -> Table:
    """Make the table of what the methods expect of themselves: predicted accuracy minus accuracy."""
    over: dict[str, list[float]] = {model: [] for model in METHODS}
    for mine in groups.values():
        expected, found = _values(mine, "predicted_accuracy"), _values(mine, "accuracy")
        for model in METHODS:
            if expected.get(model) and len(expected[model]) == len(found[model]):
                over[model].append(float(np.mean(expected[model]) - np.mean(found[model])))
    lines = [
        {
            "method": model,
            "mean": f"{np.mean(some):+.3f}",
            "least": f"{min(some):+.3f}",
            "most": f"{max(some):+.3f}",
            "mean size": f"{np.mean(np.abs(some)):.3f}",
        }
        for model, some in over.items()
        if some
    ]
    note = (
        "The predicted accuracy of a method is the mean probability of the class that it predicts, on the test part. "
        "Above zero it expects more of itself than it holds. Over all data sets and sizes; the mean size is of "
        "absolute values."
    )
    columns = ["method", "mean", "least", "most", "mean size"]
    return Table("trust", "Predicted accuracy minus accuracy", columns, lines, [note])


def contests(groups: Groups) -> Table:
    """Count wins, ties and losses of the Bayesian methods against the others over all data sets and sizes."""
    lines = []
    for ours in BAYES:
        for what in ("accuracy", "log_loss"):
            line: Row = {"method": ours, "measure": what.replace("_", "-")}
            for theirs in (*OTHERS, *WHOLE):
                found = [
                    contest(by.get(ours, []), by.get(theirs, []), what, LEVEL)
                    for by in (
                        {model: some for (model,), some in merged(mine, "model").items()}
                        for mine in groups.values()
                    )
                ]
                line[theirs] = tally(found)
            lines.append(line)
    note = (
        "Wins/ties/losses over all data sets and sizes by a corrected paired t-test at 5 % (the paper's plain paired "
        "test takes overlapping training parts for independent ones). Where the test part is larger than the training "
        "part, the correction counts it as equal."
    )
    return Table(
        "contests", "Who is significantly better", ["method", "measure", *OTHERS, *WHOLE], lines, [note]
    )


def _middles(groups: Groups) -> list[tuple[str, dict[str, list[float]], float, float]]:
    """Return for each data set and size that every method has: its name, accuracies, and two means.

    The means are of the accuracies over the methods of the paper, and of each one's deviation over the trials.
    """
    found = []
    for (data, size), mine in groups.items():
        values = {model: some for model, some in _values(mine, "accuracy").items() if some}
        if len(values) == len(METHODS):
            middle = float(np.mean([np.mean(values[model]) for model in PAPER]))
            spread = float(np.mean([np.std(values[model]) for model in PAPER]))
            found.append((f"{data} {size}", values, middle, spread))
    return found


def average(groups: Groups) -> Chart:
    """Plot Figure 3: the accuracy averaged over all methods, plus or minus one deviation."""
    found = _middles(groups)
    series = {
        "methods of the paper": (
            list(range(1, len(found) + 1)),
            [middle for *_, middle, _ in found],
            [spread for *_, spread in found],
        )
    }
    ticks = [name for name, *_ in found]
    panel = Panel(
        "Figure 3: mean accuracy of all methods ± one deviation", series, "", "accuracy", ticks=ticks
    )
    return Chart("average", "Figure 3: mean accuracy", [panel], across=1, width=8.0)


def normalised(groups: Groups) -> Chart:
    """Plot Figures 4 and 5: accuracies minus their mean over methods, in units of a method's mean deviation."""
    found = _middles(groups)
    places = list(range(1, len(found) + 1))
    panels = []
    for title, some in (
        ("Figure 4: methods", (*OTHERS, "Aver-1P II", "Aver-2P II")),
        ("Figure 5: Bayesian variations", BAYES),
    ):
        series = {
            model: (
                places,
                [
                    (float(np.mean(values[model])) - middle) / (spread or 1.0)
                    for _, values, middle, spread in found
                ],
                None,
            )
            for model in some
        }
        panels.append(Panel(title, series, "", "normalised", ticks=[name for name, *_ in found]))
    return Chart("normalised", "Figures 4 and 5: normalised accuracies", panels, across=1, width=8.0)


def said(groups: Groups) -> Table:
    """Make the table of the paper's sentences about its figures, and what is found here."""
    ranks: dict[str, list[int]] = {model: [] for model in METHODS}
    gains: dict[str, list[float]] = {"Aver-2P": [], "Aver-2P II": []}
    small: list[bool] = []
    for key, mine in groups.items():
        means = {model: float(np.mean(some)) for model, some in _values(mine, "accuracy").items() if some}
        if len(means) < len(METHODS):
            continue
        for model in METHODS:
            ranks[model].append(sum(value > means[model] + 1e-12 for value in means.values()))
        for model, some in gains.items():
            some.append(means[model] - max(means[other] for other in OTHERS))
        if key[1] == min(size for data, size in groups if data == key[0]):
            small.append(min(ranks[model][-1] for model in METHODS if model.startswith("Aver")) == 0)
    n = len(small) and len(ranks["none"])
    if n == 0:
        return Table("said", "What the paper says of its figures", ["the paper", "here"], [])
    mean_rank = {model: sum(some) / n for model, some in ranks.items()}
    order = ", ".join(
        f"{model} {1 + rank:.1f}" for model, rank in sorted(mean_rank.items(), key=lambda item: item[1])
    )
    lines = [
        {
            "the paper": "averaging with a weak prior is the only approach that is consistently best",
            "here": f"mean rank of the accuracy (1 is best): {order}",
        },
        {
            "the paper": "two-ply averaging improves the accuracy by up to 2 %, sometimes more",
            "here": "; ".join(
                f"{model} minus the best of none, MML, CART and C4: from {min(some):+.3f} to {max(some):+.3f}, "
                f"{sum(some) / n:+.3f} on average"
                for model, some in gains.items()
            ),
        },
        {
            "the paper": "the Bayesian approaches appear to be superior for smaller samples",
            "here": f"at the smallest sizes, Aver-1P or Aver-2P, with prior I or II, is first in {sum(small)} of "
            f"{len(small)}",
        },
    ]
    return Table("said", "What the paper says of its figures", ["the paper", "here"], lines)
