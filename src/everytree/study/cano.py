"""Averaging along the path (Cano, Masegosa and Moral): their Tables 1 to 3.

Four variants, each with S = 1, 2 and the number of classes C: β (the Bayesian score alone), β̂ (averaging along the
path), βθ (non-uniform priors), β̂θ (both); and C4.5 with and without pruning. Missing values are imputed (mean or mode)
and numeric attributes cut into five equal-frequency bins, both learnt from the training rows; then everyone has nominal
attributes only. Ten stratified folds, ten times; the corrected paired t-test at 1 %.

Without averaging, the printed log-likelihoods are those of Laplace's (n_c + 1)/(n + C) in the leaf, whatever S is, with
an empty leaf answered by the nearest node above it that is not: the paper does not say so, it is inferred from its
numbers. So β and βθ answer like that here, and the same trees with (n_c + a_c)/(n + S) stand beside them.

The paper says natural logarithms; its log-likelihoods are those of ours in bits, so both are shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import everytree as et
from everytree.data.categories import Categorizer
from everytree.data.column import nominal_column
from everytree.data.frames import Frame, read_frame
from everytree.study.charts import Chart, Panel
from everytree.study.contest import contest, tally
from everytree.study.datasets import PAPERS
from everytree.study.jobs import Job, Row, Study, merged
from everytree.study.measure import fold_of, measured, raw
from everytree.study.report import Cell, Report, Table, mean_and_error, printed

__all__ = ["study"]

FOLDS, REPEATS, BINS, LEVEL = 10, 10, 5, 0.01
NAMES = [name for name in PAPERS["Cano"] if name != "solar-flare1"]  # the paper has one set of this name
QUICK_NAMES = ["glass2", "hepatitis", "labor", "lymph", "sonar", "sponge", "vote", "zoo"]
VARIANTS: dict[str, tuple[bool, bool, str]] = {  # averaging, non-uniform, what a leaf answers
    "β": (False, False, "laplace"),
    "β̂": (True, False, "dirichlet"),
    "βθ": (False, True, "laplace"),
    "β̂θ": (True, True, "dirichlet"),
    "β, S in the leaf": (False, False, "dirichlet"),
    "βθ, S in the leaf": (False, True, "dirichlet"),
}
BASIC = {"β̂": "β", "βθ": "β", "β̂θ": "β̂"}  # variant -> the one that the paper compares it with
SIZES: tuple[Any, ...] = (1, 2, "classes")
C45 = ("C4.5", "C4.5 unpruned")
MANY = 5000  # values of an attribute: sponge and audiology have few, letters of no set more


def study() -> Study:
    """Return the study, for ``run_study``.

    Returns
    -------
    Study
        Its data sets, jobs and report.

    Examples
    --------
    >>> study().name
    'cano'
    """
    return Study("cano", "Averaging along the path", needs, settings, jobs, run, report)


def needs(quick: bool) -> Sequence[str]:
    """List the data sets."""
    return QUICK_NAMES if quick else NAMES


def settings(quick: bool) -> Row:
    """Return what the results depend on beside the jobs."""
    return {"folds": FOLDS, "bins": BINS, "scores": "one vector per node"}


def jobs(quick: bool, names: Sequence[str]) -> list[Job]:
    """List the jobs: one fold of one data set each, with all twenty classifiers."""
    return [
        Job("tables", name, {}, trial) for name in names for trial in range(FOLDS * (1 if quick else REPEATS))
    ]


def run(job: Job, folder: Path | None) -> list[Row]:
    """Return the rows of one job."""
    assert folder is not None
    train, y_train, test, y_test, classes = nominal_fold(folder, job.data, job.trial)
    size = {"n_train": len(y_train), "n_test": len(y_test)}
    found = []
    for name in C45:
        model: Any = et.C45TreeClassifier(prune=name == "C4.5", laplace=True)
        found.append(
            {"model": name, "s": None} | size | measured(model, train, y_train, test, y_test, classes)
        )
    for name, (averaging, nonuniform, leaf) in VARIANTS.items():
        for s in SIZES:
            model = et.PathAverageTreeClassifier(s, averaging, nonuniform, leaf=leaf, max_categories=MANY)
            found.append(
                {"model": name, "s": s} | size | measured(model, train, y_train, test, y_test, classes)
            )
    return found


@lru_cache(maxsize=2)
def nominal_fold(folder: Path, name: str, trial: int) -> tuple[Any, Any, Any, Any, list[int]]:
    """Return a fold with nominal attributes only: training rows and classes, test rows and classes, all classes."""
    features, y, classes = raw(folder, name)
    fold = fold_of(y, FOLDS, trial)
    frame = read_frame(features)
    inside = frame.take(fold.train)
    reader = Categorizer(BINS, "impute", max_categories=MANY).fit(inside, y[fold.train], len(classes), None)
    parts = []
    for part in (inside, frame.take(fold.test)):
        codes = reader.transform(part)
        columns = [
            nominal_column(about.name, codes[:, j].tolist(), categories=tuple(range(about.n_values)))
            for j, about in enumerate(reader.categories_)
            if about.n_values > 1
        ]
        parts.append(Frame(tuple(columns), part.n_rows, tuple(column.name for column in columns)))
    return parts[0], y[fold.train], parts[1], y[fold.test], classes


# --- the report


def report(rows: list[Row], quick: bool) -> Report:
    """Report the means of Tables 1 to 3, their comparisons, and the accuracy of each data set."""
    by = merged(rows, "model", "s", "data")
    names = list(dict.fromkeys(row["data"] for row in rows))
    whole = not quick and set(names) == set(NAMES)
    paper = {(row["model"], row["s"]): row for row in printed("cano")["tables"]}
    folds = max((len(each) for each in by.values()), default=0)
    notes = [
        f"{len(names)} data sets, at most {folds} folds each; in brackets what the paper prints for its 27 sets and "
        "100 folds." + ("" if whole else " Not the paper's data sets: nothing is flagged."),
    ]
    parts: list[Table | Chart] = [
        *paper_tables(by, names, paper, whole),
        means(by, names, paper, whole),
        comparisons(by, names, paper),
        each_set(by, names),
    ]
    if names:
        parts.append(chart(by, names))
    return Report("Averaging along the path: Tables 1 to 3", printed("cano")["citation"], notes, parts)


By = dict[tuple[Any, ...], list[Row]]


def _label(model: str, s: Any) -> str:
    return model if s is None else f"{model} S={'C' if s == 'classes' else s}"


def _over_sets(
    by: By, names: Sequence[str], model: str, s: Any, what: str, factor: float
) -> tuple[float | None, float]:
    """Return the mean over data sets of the mean over folds, and its standard error by the folds."""
    each = [
        mean_and_error([factor * row[what] for row in by[model, s, name] if row.get(what) is not None])
        for name in names
        if (model, s, name) in by
    ]
    means = [mean for mean, _ in each if mean is not None]
    if not means:
        return None, math.nan
    return sum(means) / len(means), math.sqrt(sum(error**2 for _, error in each)) / len(means)


# The paper's tables: a part compares a variant with a reference (★), and may end with the sizes of the trees.
LAYOUT: dict[str, tuple[str, list[tuple[str, str, bool]]]] = {
    "table1": ("the Bayesian score for splits", [("C4.5", "β", False), ("C4.5 unpruned", "β", True)]),
    "table2": ("averaging along the path", [("β", "β̂", False), ("C4.5", "β̂", False)]),
    "table3": (
        "non-uniform priors",
        [("β", "βθ", False), ("β̂", "β̂θ", False), ("C4.5", "β̂θ", False), ("C4.5 unpruned", "β̂θ", True)],
    ),
}
MEASURES = (
    ("accuracy", "accuracy", 100.0, "accuracy"),
    ("log-likelihood", "log_loss", -1 / math.log(2), "log_likelihood"),
)


def paper_tables(by: By, names: Sequence[str], paper: dict[Any, Row], whole: bool) -> list[Table]:
    """Tables 1 to 3 in the paper's layout: the reference is marked by a star, and means are shown where it shows them.

    Their cells are text: the table of all means has the same numbers, and each flag is to be counted once.
    """
    tables = []
    for number, (name, (title, blocks)) in enumerate(LAYOUT.items(), 1):
        lines: list[Row] = []
        shown: set[str] = set()
        for reference, model, sized in blocks:
            fixed = reference in C45
            against = reference if fixed else "basic"
            known_by = {_column(s): (model, s) for s in SIZES} if model not in shown else {}
            who = ({"★": (reference, None)} if fixed else {}) | known_by
            rows: list[Row] = []
            for measure, what, factor, key in MEASURES:
                value: Row = {"measure": measure}
                verdicts: Row = {"measure": "W/T/D"}
                for column, each in who.items():
                    value[column] = str(_beside(by, names, paper, each, what, factor, key, whole))
                for s in SIZES:
                    mine = counts(by, names, (model, s), (reference, None if fixed else s), what)
                    known = paper[model, s].get(f"{measure} against {against}")
                    verdicts[_column(s)] = (mine or "–") + (f" ({known})" if known else "")
                rows += [value, verdicts]
            if sized:
                everyone = {"★": (reference, None)} | {_column(s): (model, s) for s in SIZES}
                cells = {
                    column: str(_beside(by, names, paper, each, "nodes", 1.0, "nodes", whole))
                    for column, each in everyone.items()
                }
                rows.append({"measure": "tree size"} | cells)
            blank = dict.fromkeys(("★", *map(_column, SIZES)), "")
            lines += [{"classifier": f"{model} against ★ {reference}"} | blank | row for row in rows]
            shown.add(model)
        columns = ["classifier", "measure", "★", *map(_column, SIZES)]
        note = "Log-likelihoods in bits. W/T/D: data sets won, tied and lost against ★ at 1 %."
        tables.append(Table(name, f"Table {number}: {title}", columns, lines, [note]))
    return tables


def _column(s: Any) -> str:
    return f"S={'C' if s == 'classes' else s}"


def _beside(
    by: By, names: Sequence[str], paper: dict[Any, Row], who: tuple[str, Any], what: str, factor: float, key: str,
    whole: bool,
) -> Cell:  # fmt: skip
    """Put the mean of a classifier beside the printed one."""
    mean, error = _over_sets(by, names, *who, what, factor)
    return Cell(
        mean, error if whole else math.nan, paper.get(who, {}).get(key), digits=1 if key == "nodes" else 2
    )


def means(by: By, names: Sequence[str], paper: dict[Any, Row], whole: bool) -> Table:
    """Make the table of accuracy, log-likelihood and nodes."""
    lines = []
    more = [(model, s) for model in VARIANTS for s in SIZES if (model, s) not in paper]
    for model, s in (*paper, *more):
        cells = {
            title: _beside(by, names, paper, (model, s), what, factor, key, whole)
            for title, what, factor, key in (
                ("accuracy", "accuracy", 100.0, "accuracy"),
                ("log-likelihood, bits", "log_loss", -1 / math.log(2), "log_likelihood"),
                ("nodes", "nodes", 1.0, "nodes"),
            )
        }
        if cells["accuracy"].ours is None:
            continue
        nats = Cell(*_over_sets(by, names, model, s, "log_loss", -1.0), digits=2)
        lines.append({"classifier": _label(model, s), "log-likelihood, nats": nats} | cells)
    columns = ["classifier", "accuracy", "log-likelihood, bits", "log-likelihood, nats", "nodes"]
    notes = [
        "Means over the data sets; the standard errors behind the flags are of the folds, for these data sets.",
        "β and βθ answer (n_c + 1)/(n + C) in the leaf, which is inferred from the printed log-likelihoods; the last "
        "rows are the same trees with (n_c + a_c)/(n + S).",
    ]
    return Table("means", "All classifiers: means", columns, lines, notes)


def counts(
    by: By, names: Sequence[str], ours: tuple[str, Any], theirs: tuple[str, Any], what: str
) -> str | None:
    """Count W/T/D: data sets where ours is significantly better, as good, and worse by the corrected test at 1 %."""
    found = [contest(by.get((*ours, name), []), by.get((*theirs, name), []), what, LEVEL) for name in names]
    return tally(found) if any(found) else None


def comparisons(by: By, names: Sequence[str], paper: dict[Any, Row]) -> Table:
    """Count wins, ties and defeats against C4.5, and against the variant that lacks one idea."""
    lines = []
    for (model, s), said in paper.items():
        if model in C45:
            continue
        line: Row = {"classifier": _label(model, s)}
        for against, rival in (
            ("C4.5", ("C4.5", None)),
            ("C4.5 unpruned", ("C4.5 unpruned", None)),
            ("basic", (BASIC.get(model, ""), s)),
        ):
            for measure, what in (("accuracy", "accuracy"), ("log-likelihood", "log_loss")):
                mine = counts(by, names, (model, s), rival, what)
                known = said.get(f"{measure} against {against}")
                column = f"{measure} against {against}"
                line[column] = (mine or "–") + (f" ({known})" if known else "")
        lines.append(line)
    columns = ["classifier"] + [
        f"{measure} against {against}"
        for against in ("C4.5", "C4.5 unpruned", "basic")
        for measure in ("accuracy", "log-likelihood")
    ]
    note = "W/T/D: data sets won, tied and lost at 1 %. basic: β̂ and βθ against β, β̂θ against β̂, with the same S."
    return Table("comparisons", "All classifiers: wins, ties, defeats", columns, lines, [note])


def each_set(by: By, names: Sequence[str]) -> Table:
    """Make the table of accuracy and log-likelihood of some classifiers on each data set."""
    shown = [("C4.5", None), ("C4.5 unpruned", None), ("β", 1), ("β̂", 1), ("β̂θ", 1), ("β̂θ", 2)]
    lines = []
    for name in names:
        line: Row = {"data set": name, "folds": len(by.get(("C4.5", None, name), ()))}
        for model, s in shown:
            mine = by.get((model, s, name), [])
            right, _ = mean_and_error([100 * row["accuracy"] for row in mine])
            loss, _ = mean_and_error([row["log_loss"] for row in mine])
            line[_label(model, s)] = "–" if right is None or loss is None else f"{right:.2f}, {-loss:.3f}"
        lines.append(line)
    columns = ["data set", "folds", *(_label(*each) for each in shown)]
    return Table("sets", "Each data set: accuracy in points, log-likelihood in nats", columns, lines)


def chart(by: By, names: Sequence[str]) -> Chart:
    """Plot accuracy and log-likelihood of the variants against S."""
    panels = []
    for title, what, factor in (("accuracy", "accuracy", 100.0), ("log-likelihood, nats", "log_loss", -1.0)):
        series: dict[str, Any] = {}
        for model in (*C45, *VARIANTS):
            values = [
                _over_sets(by, names, model, None if model in C45 else s, what, factor)[0] for s in SIZES
            ]
            if None not in values:
                series[model] = ([1, 2, 3], values, None)
        panels.append(Panel(title, series, "S", title, ticks=("1", "2", "C")))
    return Chart("means", "The variants against S", panels, across=2)
