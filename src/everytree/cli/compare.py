"""``everytree compare``: methods side by side, cross-validated on the same folds, tested against the first.

Every fold is learned from the training part alone: bins, missing values and hyper-parameters too.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from everytree.cli.data import Examples, read_examples
from everytree.cli.held_out import figure_cells
from everytree.cli.methods import check_some_have, classifier, parameters_of
from everytree.cli.options import Learning, Reading, Treating
from everytree.cli.picture import check_picture, write_picture
from everytree.cli.show import note, print_json, table
from everytree.cli.treated import show_treated
from everytree.cli.watch import Spent, counted
from everytree.cli.words import in_options
from everytree.cli.written import check_folder
from everytree.common.drafts import write_whole
from everytree.common.limits import threads
from everytree.data.frames import read_frame
from everytree.errors import EverytreeError, QueryError
from everytree.estimators.honest import baselines
from everytree.metrics import aligned, brier, corrected_t_test, log_loss, stratified_folds
from everytree.metrics.judged import figures_of
from everytree.plot import ComparisonDisplay

__all__ = ["Outcome", "compare", "run_compare"]

MEASURES = ("accuracy", "log_loss", "brier", "auc")
HIGHER = ("accuracy", "auc")  # better
LEVEL = 0.05


class Outcome(NamedTuple):
    """The result of one method on one fold; ``failed`` is the message if it could not learn."""

    method: str
    fold: int
    accuracy: float
    log_loss: float
    brier: float
    auc: float
    size: float
    seconds: float
    left_out: float = (
        math.nan
    )  # the log-loss that the model itself finds by leaving out each training example
    failed: str = ""


def run_compare(
    path: Path,
    target: str | None,
    methods: str,
    folds: int,
    repeats: int,
    weights: str | None,
    out: Path | None,
    picture: Path | None,
    reading: Reading,
    treating: Treating,
    learning: Learning,
    as_json: bool,
) -> None:
    """Print a table of methods, and write every fold to ``out`` if it is given."""
    spent = Spent()
    check_picture(picture)
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names or len(set(names)) != len(names):
        raise QueryError(
            f"--methods {methods}; expected different methods with commas between, such as optimal,bayes,c45"
        )
    with spent.on("starting"):
        plans = {name: parameters_of(name, learning, lenient=len(names) > 1) for name in names}
    check_some_have(names, learning, besides=("random_state", "n_jobs"))
    check_folder("out", out)
    with spent.on("reading"):
        examples = read_examples(path, target, reading, weights, treating)
    for text in examples.notes:
        note(text)
    if not as_json:
        show_treated(examples.features.treated, path.name)
    jobs = 1 if learning.jobs is None else learning.jobs
    threads(jobs)  # a bad number is refused here
    with spent.on("comparing"):
        results = compare(examples, plans, folds, repeats, learning.seed or 0, jobs)
    with spent.on("baselines"):
        beside = _baselines(examples, folds, learning.seed or 0)
    rows = [_row(name, results, names[0], examples.n_rows, folds) for name in names]
    for row in rows:
        if row["failed"]:
            note(f"{row['method']} failed in {row['failed']} folds: {row['why']}")
    if all(row["failed"] == folds * repeats for row in rows):
        raise QueryError(f"no method could learn; {names[0]}: {rows[0]['why']}")
    if out is not None:
        _write(out, [outcome for name in names for outcome in results[name]])
    if picture is not None:
        write_picture(picture, ComparisonDisplay.from_table({"methods": rows}))
    if as_json:
        print_json(
            {
                "file": str(path), "rows": examples.n_rows, "folds": folds, "repeats": repeats, "methods": rows,
                "baselines": beside, "seconds": spent.total, "spent": spent.parts,
            }
        )  # fmt: skip
        return
    title = f"{path.name}: {examples.n_rows} rows, {folds} folds" + (f" × {repeats}" if repeats > 1 else "")
    cells = [
        (
            row["method"], *(_with_test(row, measure) for measure in MEASURES),
            "" if math.isnan(row["size"]) else f"{row['size']:.1f}", f"{row['seconds']:.3f}",
            "" if math.isnan(row["left_out"]) else f"{row['left_out']:.4f}",
        )
        for row in rows
    ]  # fmt: skip
    cells += [(each["name"], *(f"{cell}  " for cell in figure_cells(each)), "", "", "") for each in beside]
    heads = ("method", "accuracy", "log-loss", "Brier", "AUC", "leaves", "seconds", "left-out log-loss")
    # Without a method that leaves out examples the last column has nothing.
    told = any(cell[-1] for cell in cells)
    table(title, heads if told else heads[:-1], cells if told else [cell[:-1] for cell in cells])
    if told:
        print("left-out log-loss: what the model itself finds by leaving out each of its training examples")
    if len(names) > 1:
        print(
            f"+ better, − worse than {names[0]} by a corrected paired t-test at {LEVEL:.0%} (Nadeau and Bengio)"
        )
    print(f"in all {spent}")


def compare(
    examples: Examples, plans: dict[str, dict[str, Any]], folds: int, repeats: int, seed: int, jobs: int
) -> dict[str, list[Outcome]]:
    """Run every method on every fold, ``jobs`` at a time in processes of their own."""
    parts = stratified_folds(examples.y, folds, repeats, seed)
    tasks = [
        (name, params, k, part.train, part.test)
        for name, params in plans.items()
        for k, part in enumerate(parts)
    ]
    if jobs == 1:
        running: Iterable[Outcome] = (_outcome(examples, *task) for task in tasks)
    else:
        from joblib import Parallel, delayed

        running = Parallel(n_jobs=jobs, return_as="generator")(
            delayed(_outcome)(examples, *task) for task in tasks
        )
    found = [
        outcome._replace(failed=in_options(outcome.failed).partition("\n")[0])
        for outcome in counted(running, len(tasks), "comparing")
    ]
    return {name: [outcome for outcome in found if outcome.method == name] for name in plans}


def _outcome(
    examples: Examples, name: str, params: dict[str, Any], fold: int, train: Any, test: Any
) -> Outcome:
    learn, judge = examples.take(train), examples.take(test)
    classes = sorted(set(examples.y.tolist()))
    model = classifier(name)(**{key: value for key, value in params.items() if key != "n_jobs"})
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            extra = () if learn.weights is None else (learn.weights,)
            model.fit(learn.features, learn.y, *extra)
            said, proba = model.answers(judge.features)
            proba = aligned(proba, model.classes_.tolist(), classes)
    except EverytreeError as error:
        nan = math.nan  # only the main process knows the words of the command, so it writes the message
        return Outcome(name, fold, nan, nan, nan, nan, nan, nan, failed=error.wording)
    seconds = time.perf_counter() - start
    place = {label: c for c, label in enumerate(classes)}
    codes = np.array([place[label] for label in judge.y.tolist()])
    share = np.ones(len(codes)) if judge.weights is None else judge.weights.astype(float)
    if not share.any():
        share = np.ones(len(codes))
    right = np.array([a == b for a, b in zip(said.tolist(), judge.y.tolist(), strict=True)], dtype=float)
    means = [
        float(np.average(each, weights=share))
        for each in (right, log_loss(proba, codes), brier(proba, codes))
    ]
    answers = np.array([place[label] for label in said.tolist()], dtype=np.intp)
    area = figures_of(name, answers, proba, codes, share).auc
    known = getattr(model, "calibrated_loo_log_loss_", getattr(model, "loo_log_loss_", None))
    left_out = math.nan if known is None else float(known)
    return Outcome(name, fold, means[0], means[1], means[2], area, model.mean_leaves(), seconds, left_out)


def _baselines(examples: Examples, folds: int, seed: int) -> list[dict[str, Any]]:
    """Return the figures of always the largest class, and of logistic regression, by the same folds."""
    classes, codes = np.unique(examples.y, return_inverse=True)
    share = None if examples.weights is None else examples.weights.astype(float)
    judged = baselines(read_frame(examples.features), codes, share, classes.tolist(), seed, folds)
    return [each.to_dict() for each in judged]


def _row(name: str, results: dict[str, list[Outcome]], first: str, n_rows: int, folds: int) -> dict[str, Any]:
    """Return the means over the folds, and the test of each measure against the first method."""
    mine = results[name]
    failures = [outcome.failed for outcome in mine if outcome.failed]
    row: dict[str, Any] = {
        "method": name,
        "failed": len(failures),
        "why": in_options(failures[0]).splitlines()[0] if failures else "",
    }
    for measure in (*MEASURES, "size", "seconds", "left_out"):
        values = [getattr(outcome, measure) for outcome in mine if not outcome.failed]
        values = [value for value in values if not (measure == "auc" and math.isnan(value))]
        row[measure] = float(np.mean(values)) if values else math.nan
    tests: dict[str, Any] = {}
    if name != first:
        pairs = [(a, b) for a, b in zip(mine, results[first], strict=True) if not a.failed and not b.failed]
        n_test = n_rows / folds
        for measure in MEASURES:
            if len(pairs) < 2:
                continue
            differences = [getattr(a, measure) - getattr(b, measure) for a, b in pairs]
            if any(math.isnan(each) for each in differences):
                continue
            test = corrected_t_test(differences, n_rows - n_test, n_test)
            better = (test.mean > 0) == (measure in HIGHER)
            verdict = "tie" if test.p >= LEVEL else "better" if better else "worse"
            tests[measure] = {"difference": test.mean, "t": test.t, "p": test.p, "verdict": verdict}
    row["against_first"] = tests
    return row


def _with_test(row: dict[str, Any], measure: str) -> str:
    verdict = row["against_first"].get(measure, {}).get("verdict", "")
    mark = {"better": " +", "worse": " −"}.get(verdict, "  ")
    return "failed  " if math.isnan(row[measure]) else f"{row[measure]:.4f}{mark}"


def _write(out: Path, outcomes: Sequence[Outcome]) -> None:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Outcome._fields)
    writer.writerows(outcomes)
    write_whole(text.getvalue(), out)
