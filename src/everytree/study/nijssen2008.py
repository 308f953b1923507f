"""Bayes optimal classification (Nijssen, ICML 2008): its Table 1, and its Figure 1 on artificial data.

Table 1. The average over every tree ("Opt") and the most probable one ("MAP"), each under the size prior (0.8, 0.8)
and the uniform one, at least γ examples in a leaf and at most δ − 1 tests on a path, with a Dirichlet of ones; and C4.5
with its defaults on the same 0/1 tests. Ten stratified folds; cuts from the training rows. By the paper's formulas a
path has up to δ tests; its table is that of one less (docs/studies.md), as if a path's leaf counted too.

Figure 1. Examples that n complete trees of depth 7 explain in parts, learnt from a part of them with the same depth and
the same share of examples in a leaf. The paper draws it without numbers, so that it cannot tell whether depth 7 is 7
tests on a path or, as in Table 1, 6: both are run.

Grid. The size prior with α and β from 0.5 to 0.95, each against the default by the corrected t-test at 5 %: the paper
found that differences "were often not significant".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from everytree.metrics import corrected_t_test
from everytree.study import artificial
from everytree.study.charts import Chart, Panel
from everytree.study.jobs import Job, Row, Study, merged
from everytree.study.measure import binary_fold, measured
from everytree.study.report import Cell, Report, Table, compared, mean_and_error, printed

__all__ = ["AMBIGUOUS", "QUICK_ROWS", "study"]

MODELS = ("Opt-Size", "MAP-Size", "Opt-Unif", "MAP-Unif", "J48")
FOLDS = 10
NO_BINS = 4  # for data sets without numeric attributes, which have no use for it
# Rows whose tests or constraints cannot be made again from the paper: see docs/studies.md.
AMBIGUOUS = {
    "anneal": "cuts before or after incomplete rows are left out",
}
QUICK_ROWS = (("vote", 15, 4), ("balance-scale", 2, 4), ("diabetes", 2, 10), ("heart-cleveland", 2, 10))
LEVEL = 0.05
NEAR = 0.03
# The settings of Figure 1.
TREES = (1, 2, 3, 4, 6, 8, 10)
SHARES = (0.05, 0.1, 0.25, 0.5)
ARTIFICIAL: Row = {"n": 4000, "n_tests": 15, "min_share": 0.003}
QUICK_ARTIFICIAL: Row = {"n": 1000, "n_tests": 10, "min_share": 0.01}
DEPTHS, QUICK_DEPTHS = (
    (7, 6),
    (5, 4),
)  # tests on a path, of the trees behind the data and of those that are learnt
MOST_TEST = (
    400  # of the other examples, at random; the mean over 20 data sets has then an error of half a point
)
# The settings of the grid: printed rows that take seconds.
GRID = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
QUICK_GRID = (0.5, 0.8, 0.95)
DEFAULT = (0.8, 0.8)
GRID_ROWS = (
    ("vote", 15, 4),
    ("balance-scale", 2, 4),
    ("heart-cleveland", 2, 10),
    ("diabetes", 2, 10),
    ("yeast", 2, 10),
    ("ionosphere", 15, 4),
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
    'nijssen2008'
    """
    return Study("nijssen2008", "Bayes optimal classification", needs, settings, jobs, run, report)


def table_rows(quick: bool) -> list[Row]:
    """Return the printed rows that are measured."""
    rows: list[Row] = printed("nijssen2008")["table1"]
    if not quick:
        return rows
    return [row for row in rows if (row["data"], row["min_leaf"], row["bins"] or NO_BINS) in QUICK_ROWS]


def needs(quick: bool) -> Sequence[str]:
    """List the data sets."""
    return list(dict.fromkeys(row["data"] for row in table_rows(quick)))


def settings(quick: bool) -> Row:
    """Return what the results depend on beside the jobs."""
    return {"folds": FOLDS, "artificial": QUICK_ARTIFICIAL if quick else ARTIFICIAL}


def jobs(quick: bool, names: Sequence[str]) -> list[Job]:
    """List the jobs: one fold of one row each, with all models; or one artificial data set and share, with all four."""
    limits = {"time_limit": 20.0 if quick else 900.0}
    found = [
        Job("table1", row["data"], _space(row) | limits, fold)
        for row in table_rows(quick)
        if row["data"] in names
        for fold in range(FOLDS)
    ]
    found += [
        Job(
            "figure1",
            f"{trees} trees",
            {"share": share, "depth": depth, "most_test": MOST_TEST, **limits},
            trial,
        )
        for depth in (QUICK_DEPTHS if quick else DEPTHS)
        for trees in (TREES[::3] if quick else TREES)
        for share in (SHARES[1::2] if quick else SHARES)
        for trial in range(3 if quick else 20)
    ]
    grid = list(QUICK_GRID if quick else GRID)
    return found + [
        Job("grid", row["data"], _space(row) | {"grid": grid} | limits, fold)
        for row in table_rows(False)
        if row["data"] in names and (row["data"], row["min_leaf"], row["bins"] or NO_BINS) in GRID_ROWS
        for fold in range(FOLDS)
    ]


def _space(row: Row) -> Row:
    return {
        "min_leaf": row["min_leaf"],
        "max_depth": None if row["max_depth"] is None else row["max_depth"] - 1,
        "bins": NO_BINS if row["bins"] is None else row["bins"],
    }


def run(job: Job, folder: Path | None) -> list[Row]:
    """Return the rows of one job."""
    if job.part == "figure1":
        return _run_artificial(job)
    assert folder is not None
    given = job.settings
    fold = binary_fold(folder, job.data, given["bins"], FOLDS, job.trial)
    if job.part == "grid":
        limits = given["max_depth"], given["min_leaf"]
        space = et.TreeSpace(fold[0], fold[1], *limits, time_limit=given["time_limit"])
        return [
            {"alpha": alpha, "beta": beta, "n_train": len(fold[0]), "n_test": len(fold[2])}
            | measured(_Average(space, et.SizePrior(alpha, beta)), *fold)
            for alpha in given["grid"]
            for beta in given["grid"]
        ]
    return [
        {"model": model, "n_train": len(fold[0]), "n_test": len(fold[2])}
        | measured(_model(model, given), *fold)
        for model in MODELS
    ]


class _Average:
    """The average of one space under a prior: its graph, which every prior shares, takes longest to make."""

    def __init__(self, space: et.TreeSpace, prior: et.Prior) -> None:
        self.space, self.prior = space, prior
        self.classes_ = np.asarray(space.classes)

    def fit(self, X: Any, y: Any) -> None:
        self.posterior_ = self.space.posterior(self.prior)

    def predict_proba(self, X: Any) -> Any:
        return self.posterior_.predict_proba(X)


class _Map(_Average):
    """The most probable tree of that space."""

    def fit(self, X: Any, y: Any) -> None:
        super().fit(X, y)
        self.tree_ = self.posterior_.map_tree()
        self.n_nodes_ = self.tree_.size

    def predict_proba(self, X: Any) -> Any:
        return self.tree_.predict_proba(X)


def _model(name: str, given: Any) -> Any:
    if name == "J48":
        return et.C45TreeClassifier()
    kind = et.BayesOptimalClassifier if name.startswith("Opt") else et.MAPTreeClassifier
    prior = "size" if name.endswith("Size") else "uniform"
    return kind(given["max_depth"], given["min_leaf"], prior=prior, time_limit=given["time_limit"])


def _run_artificial(job: Job) -> list[Row]:
    trees, share = int(job.data.split()[0]), job.settings["share"]
    quick = job.settings["time_limit"] < 100
    about = QUICK_ARTIFICIAL if quick else ARTIFICIAL
    depth = job.settings["depth"]
    data = artificial.multi_tree(trees, depth=depth, random_state=1000 * trees + job.trial, **about)
    n_train = round(share * len(data.y))
    rows = np.random.default_rng(job.trial).permutation(len(data.y))
    train, test = rows[:n_train], rows[n_train : n_train + job.settings["most_test"]]
    least = max(1, int(about["min_share"] * n_train))
    parts = data.X[train], data.y[train], data.X[test], data.y[test]
    space = et.TreeSpace(*parts[:2], depth, least, time_limit=job.settings["time_limit"])
    models = {
        "Opt-Size": _Average(space, et.SizePrior()),
        "MAP-Size": _Map(space, et.SizePrior()),
        "Opt-Unif": _Average(space, et.UniformPrior()),
        "MAP-Unif": _Map(space, et.UniformPrior()),
    }
    return [{"model": name} | measured(model, *parts, [0, 1]) for name, model in models.items()]


# --- the report


def report(rows: list[Row], quick: bool) -> Report:
    """Report Table 1 and Figure 1, of all rows there are."""
    first = [row for row in rows if row["part"] == "table1"]
    second = [row for row in rows if row["part"] == "figure1"]
    parts: list[Table | Chart] = [table1(first, quick)]
    if first:
        parts.append(winners(first, quick))
    if second:
        parts += figure1(second)
    if third := [row for row in rows if row["part"] == "grid"]:
        parts.append(grid(third))
    notes = ["Accuracies are means over the folds done; in brackets what the paper prints."]
    return Report(
        "Bayes optimal classification: Table 1 and Figure 1", printed("nijssen2008")["citation"], notes, parts
    )


def _of(rows: list[Row], row: Row) -> dict[str, list[Row]]:
    """Return the measured rows of one printed row, by model; folds are in order."""
    space = _space(row)
    mine = [
        each for each in rows if each["data"] == row["data"] and all(each[k] == v for k, v in space.items())
    ]
    return {model: by for (model,), by in merged(mine, "model").items()}


def table1(rows: list[Row], quick: bool) -> Table:
    """Make the paper's table."""
    lines = []
    for row in table_rows(quick):
        by = _of(rows, row)
        if not by:
            continue
        line: Row = {
            "data set": row["data"],
            "γ": row["min_leaf"],
            "δ": "∞" if row["max_depth"] is None else row["max_depth"],
            "bins": "–" if row["bins"] is None else row["bins"],
            "folds": len(next(iter(by.values()))),
        }
        for model in MODELS:
            values = [each["accuracy"] for each in by.get(model, ()) if "accuracy" in each]
            line[model] = compared(values, row["accuracy"][model], row["deviation"][model])
        notes = sorted(
            {f"{each['model']}: {each['note']}" for one in by.values() for each in one if "note" in each}
        )
        line["note"] = "; ".join(notes) or ("ambiguous" if row["data"] in AMBIGUOUS else "")
        lines.append(line)
    columns = ["data set", "γ", "δ", "bins", "folds", *MODELS, "note"]
    return Table("table1", "Table 1: accuracy", columns, lines, after=[_near(lines)])


def _near(lines: Sequence[Row]) -> str:
    """Say how many averages and most probable trees are within NEAR of the printed ones, and which are not."""
    far, n = [], 0
    for line in lines:
        for model in MODELS[:4]:
            cell = line[model]
            if line["data set"] in AMBIGUOUS or cell.ours is None or cell.printed is None:
                continue
            n += 1
            if abs(cell.ours - cell.printed) > NEAR + 1e-9:
                far.append(
                    f"{line['data set']} in {line['bins']} bins, {model}: {cell.ours - cell.printed:+.3f}"
                )
    text = f"Within {NEAR} of the printed accuracy without ambiguous rows: {n - len(far)} of {n} averages and trees"
    return text + ("." if not far else f"; beyond it: {', '.join(far)}.")


def winners(rows: list[Row], quick: bool) -> Table:
    """Compare Opt with MAP by the corrected paired t-test at 5 %: the paper underlines the significant winners."""
    lines = []
    for row in table_rows(quick):
        by = _of(rows, row)
        for prior in ("Size", "Unif"):
            pair = [by.get(f"{kind}-{prior}", []) for kind in ("Opt", "MAP")]
            both = [(a, b) for a, b in zip(*pair, strict=False) if "accuracy" in a and "accuracy" in b]
            if len(both) < 2:
                continue
            test = corrected_t_test(
                [a["accuracy"] - b["accuracy"] for a, b in both],
                float(np.mean([a["n_train"] for a, _ in both])),
                float(np.mean([a["n_test"] for a, _ in both])),
            )
            paper = row["accuracy"][f"Opt-{prior}"] - row["accuracy"][f"MAP-{prior}"]
            lines.append(
                {
                    "data set": row["data"],
                    "γ": row["min_leaf"],
                    "δ": "∞" if row["max_depth"] is None else row["max_depth"],
                    "bins": row["bins"],
                    "prior": prior,
                    "Opt − MAP": f"{test.mean:+.3f} ({paper:+.2f})",
                    "p": round(test.p, 4),
                    "significant": ("Opt" if test.mean > 0 else "MAP") if test.p < LEVEL else "–",
                    "log-loss Opt": _mean([a["log_loss"] for a, _ in both]),
                    "log-loss MAP": _mean([b["log_loss"] for _, b in both]),
                }
            )
    columns = [
        "data set",
        "γ",
        "δ",
        "bins",
        "prior",
        "Opt − MAP",
        "p",
        "significant",
        "log-loss Opt",
        "log-loss MAP",
    ]
    won = sum(line["significant"] == "Opt" for line in lines)
    lost = sum(line["significant"] == "MAP" for line in lines)
    after = [
        f"Significant at 5 %: {won} for the average, {lost} for the single tree, {len(lines) - won - lost} for none."
    ]
    return Table("winners", "The average against the most probable tree", columns, lines, after=after)


def _mean(values: Sequence[float]) -> float | None:
    return mean_and_error(values)[0]


def figure1(rows: list[Row]) -> list[Table | Chart]:
    """Show accuracy against the number of trees behind the data, one panel for each share of training examples."""
    lines, panels = [], []
    for (depth, share), some in merged(rows, "depth", "share").items():
        series: dict[str, tuple[list[float], list[float], list[float]]] = {}
        for (data,), mine in sorted(
            merged(some, "data").items(), key=lambda item: int(item[0][0].split()[0])
        ):
            line: Row = {"tests on a path": depth, "training share": share, "trees": int(data.split()[0])}
            for (model,), each in merged(mine, "model").items():
                mean, error = mean_and_error([row["accuracy"] for row in each if "accuracy" in row])
                line[model] = Cell(mean, error, digits=3)
                if mean is not None:
                    x, y, e = series.setdefault(model, ([], [], []))
                    x.append(line["trees"])
                    y.append(mean)
                    e.append(error)
            line["data sets"] = len(next(iter(merged(mine, "model").values())))
            lines.append(line)
        panels.append(
            Panel(f"{depth} tests, {share:.0%} to learn from", series, "trees behind the data", "accuracy")
        )
    columns = ["tests on a path", "training share", "trees", "data sets", *MODELS[:4]]
    note = (
        "The paper draws this figure without numbers, so that it cannot tell whether its depth 7 is 7 tests on a path "
        "or, as δ in its Table 1, one less; both are here, and the findings are read from each."
    )
    return [
        Table(
            "figure1", "Figure 1: artificial data, accuracy", columns, lines, [note], after=_findings(lines)
        ),
        Chart("figure1", "Figure 1: artificial data", panels),
    ]


def _findings(lines: Sequence[Row]) -> list[str]:
    """Count in how many rows the paper's findings hold, for each depth."""
    pairs = (
        ("the average above the most probable tree", ("Opt-Size", "MAP-Size"), ("Opt-Unif", "MAP-Unif")),
        ("the uniform prior above the size prior", ("Opt-Unif", "Opt-Size"), ("MAP-Unif", "MAP-Size")),
    )
    found = []
    for (depth,), some in merged(list(lines), "tests on a path").items():
        said = []
        for words, *both in pairs:
            cells = [(line.get(a), line.get(b)) for line in some if line["trees"] > 1 for a, b in both]
            known = [
                (a.ours, b.ours) for a, b in cells if a and b and a.ours is not None and b.ours is not None
            ]
            said.append(f"{words} in {sum(a > b for a, b in known)} of {len(known)}")
        found.append(f"{depth} tests, data of more than one tree: {'; '.join(said)}.")
    return found


def grid(rows: list[Row]) -> Table:
    """Compare every α and β of the size prior with the default, by the corrected paired t-test at 5 %."""
    lines, n, won = [], 0, {True: 0, False: 0}
    for (data, min_leaf, bins), some in merged(rows, "data", "min_leaf", "bins").items():
        by = {key: {row["trial"]: row for row in mine} for key, mine in merged(some, "alpha", "beta").items()}
        usual = by.get(DEFAULT, {})
        for alpha in dict.fromkeys(alpha for alpha, _ in by):
            line: Row = {"data set": data, "γ": min_leaf, "bins": bins, "α": alpha}
            for beta in (each for other, each in by if other == alpha):
                mine = by[alpha, beta]
                both = [
                    (mine[k], usual[k])
                    for k in mine
                    if "accuracy" in mine[k] and "accuracy" in usual.get(k, {})
                ]
                line["folds"] = len(both)
                if not both:
                    continue
                line[f"β = {beta}"] = f"{np.mean([a['accuracy'] for a, _ in both]):.3f}"
                if (alpha, beta) == DEFAULT:
                    line[f"β = {beta}"] += " ★"
                    continue
                n += 1
                differences = [a["accuracy"] - b["accuracy"] for a, b in both]
                sizes = (float(np.mean([a[name] for a, _ in both])) for name in ("n_train", "n_test"))
                if len(both) > 1 and corrected_t_test(differences, *sizes).p < LEVEL:
                    better = bool(np.mean(differences) > 0)
                    won[better] += 1
                    line[f"β = {beta}"] += " +" if better else " −"
            lines.append(line)
    betas = list(dict.fromkeys(name for line in lines for name in line if name.startswith("β")))
    after = [
        f"Significantly other than ★, α = β = 0.8, at 5 %: {sum(won.values())} of {n} settings ({won[True]} better, "
        f"{won[False]} worse). The paper found that differences were often not significant."
    ]
    note = "Accuracy of the average under the size prior; + better, − worse than the default ★ by the corrected t-test."
    columns = ["data set", "γ", "bins", "folds", "α", *betas]
    return Table("grid", "The size prior: α and β against the default", columns, lines, [note], after)
