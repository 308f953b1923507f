"""``everytree compare``: methods side by side, cross-validated on the same folds, tested against the first.

Every fold is learned from the training part alone: bins, missing values and hyper-parameters too.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from everytree.cli.data import Examples, read_examples
from everytree.cli.held_out import figure_cells
from everytree.cli.methods import EVERY, check_some_have, classifier, parameters_of
from everytree.cli.options import Learning, Reading, Treating
from everytree.cli.picture import check_picture, write_picture
from everytree.cli.show import note, print_json
from everytree.cli.treated import show_treated
from everytree.cli.watch import Spent, counted
from everytree.cli.words import in_options
from everytree.cli.written import check_folder
from everytree.common.drafts import write_whole
from everytree.common.limits import threads
from everytree.common.text import show
from everytree.data.frames import read_frame
from everytree.errors import DataError, EverytreeError, QueryError
from everytree.estimators.honest import baselines
from everytree.metrics import aligned, brier, corrected_t_test, log_loss, stratified_folds
from everytree.metrics.judged import figures_of
from everytree.plot import ComparisonDisplay

__all__ = ["Outcome", "compare", "run_compare"]

MEASURES = ("accuracy", "log_loss", "brier", "auc")
HIGHER = ("accuracy", "auc")  # better
LEVEL = 0.05
FOLDS, LEAST_FOLDS = 5, 2
WITHIN = 10.0  # seconds, where neither folds nor repeats are asked for
SHARE = 10  # of them, the part that one fold of one method may learn


class Plan(NamedTuple):
    """How many folds there are, in how many seconds; ``learns``: seconds for what would learn as long as it may."""

    folds: int
    repeats: int
    within: float
    learns: float

    @classmethod
    def of(cls, folds: int | None, repeats: int, within: float | None) -> Plan:
        """Fill in what was not said: who names folds or repeats wants all of them, however long it takes."""
        if within is None and (folds is not None or repeats > 1):
            return cls(folds or FOLDS, repeats, math.inf, 0.0)
        seconds = WITHIN if within is None else within
        return cls(folds or FOLDS, repeats, seconds, seconds / SHARE)


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
    accuracy_error: float = math.nan  # standard errors over the held-out rows of the fold
    log_loss_error: float = math.nan
    brier_error: float = math.nan
    failed: str = ""


def run_compare(
    path: Path,
    target: str | None,
    methods: str,
    folds: int | None,
    repeats: int,
    within: float | None,
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
    plan, most = Plan.of(folds, repeats, within), _most_folds(examples)
    if folds is None:
        plan = plan._replace(folds=min(plan.folds, most))
    shortened = [
        name for name, params in plans.items() if plan.learns and name == EVERY and "time_limit" not in params
    ]
    for name in shortened:
        plans[name]["time_limit"] = plan.learns
    with spent.on("comparing"):
        results = compare(examples, plans, plan, learning.seed or 0, jobs)
    with spent.on("baselines"):
        beside = _baselines(examples, plan.folds, learning.seed or 0)
    done = len(results[names[0]])
    rows = [_row(name, results, names[0], examples.n_rows, plan) for name in names]
    for row in rows:
        if row["failed"]:
            note(f"{row['method']} failed in {row['failed']} folds: {row['why']}")
    if all(row["failed"] == done for row in rows):
        raise QueryError(f"no method could learn; {names[0]}: {rows[0]['why']}")
    if out is not None:
        _write(out, [outcome for name in names for outcome in results[name]])
    if picture is not None:
        write_picture(picture, ComparisonDisplay.from_table({"methods": rows}))
    if as_json:
        print_json(
            {
                "file": str(path), "rows": examples.n_rows, "folds": plan.folds, "repeats": repeats, "judged": done,
                "methods": rows,
                "baselines": beside, "seconds": spent.total, "spent": spent.parts,
            }
        )  # fmt: skip
        return
    _show(f"{path.name}: {examples.n_rows} rows, {_how_many(plan, done)}", rows, beside, names[0])
    slow = [row["method"] for row in rows if row["seconds"] > plan.learns > 0 and row["method"] in shortened]
    if slow:
        print(f"{', '.join(slow)}: learned for {plan.learns:g} s in each fold; --time-limit gives more")
    print(f"in all {spent}")


def _show(title: str, rows: list[dict[str, Any]], beside: list[dict[str, Any]], first: str) -> None:
    """Print the table, in 80 letters where names are short; standard errors of the two figures that are read first."""
    wide = max(19, *(len(row["method"]) for row in rows), *(len(each["name"]) for each in beside))
    heads = ("accuracy", "log-loss", "Brier", "AUC", "leaves", "seconds")
    widths = (15, 15, 9, 8, 7, 8)
    print(f"\n{title}")
    print(f"{'method':<{wide}}" + "".join(f"{head:>{w}}" for head, w in zip(heads, widths, strict=True)))
    for row in rows:
        cells = [
            *(_with_test(row, measure) for measure in MEASURES),
            "" if math.isnan(row["size"]) else f"{row['size']:.1f}",
            "" if math.isnan(row["seconds"]) else f"{row['seconds']:.2f}",
        ]
        line = "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
        print(f"{row['method']:<{wide}}{line}".rstrip())
    for each in beside:
        plain = [cell and f"{float(cell):.3f}" for cell in figure_cells(each)]
        cells = [f"{plain[0]}        ", f"{plain[1]}        ", f"{plain[2]}  ", f"{plain[3]}  "]
        line = "".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=False))
        print(f"{each['name']:<{wide}}{line}".rstrip())
    print("±: standard error over the held-out rows; the last two lines are judged by all folds")
    if len(rows) > 1:
        print(
            f"+ better, − worse than {first} by a corrected paired t-test at {LEVEL:.0%} (Nadeau and Bengio)"
        )
    for row in rows:
        if not math.isnan(row["left_out"]):
            print(
                f"{row['method']} itself, leaving out each training example: log-loss {row['left_out']:.3f}"
            )


def _how_many(plan: Plan, done: int) -> str:
    total = plan.folds * plan.repeats
    if done < total:
        return (
            f"{done} of {total} folds, as many as {plan.within:g} s allow (--folds {plan.folds} judges all)"
        )
    return f"{plan.folds} folds" + (f" × {plan.repeats}" if plan.repeats > 1 else "")


def compare(
    examples: Examples, params: dict[str, dict[str, Any]], plan: Plan, seed: int, jobs: int
) -> dict[str, list[Outcome]]:
    """Run every method on one fold after the other, ``jobs`` at a time in processes of their own.

    Where the time is limited, no fold is begun that would end after it; ``LEAST_FOLDS`` are judged in any case.
    """
    parts = stratified_folds(examples.y, plan.folds, plan.repeats, seed)
    rounds = [
        [(name, params[name], k, part.train, part.test) for name in params] for k, part in enumerate(parts)
    ]
    if math.isinf(plan.within):
        rounds = [[task for tasks in rounds for task in tasks]]

    def run() -> Iterator[Outcome]:
        begun, longest = time.perf_counter(), 0.0
        for k, tasks in enumerate(rounds):
            started = time.perf_counter()
            if k >= LEAST_FOLDS and started - begun + longest > plan.within:
                return
            yield from _at_once(examples, tasks, jobs)
            longest = max(longest, time.perf_counter() - started)

    found = [
        outcome._replace(failed=in_options(outcome.failed).partition("\n")[0])
        for outcome in counted(run(), len(parts) * len(params), "comparing")
    ]
    return {name: [outcome for outcome in found if outcome.method == name] for name in params}


def _at_once(examples: Examples, tasks: list[Any], jobs: int) -> Iterable[Outcome]:
    if jobs == 1:
        return (_outcome(examples, *task) for task in tasks)
    from joblib import Parallel, delayed

    running: Iterable[Outcome] = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_outcome)(examples, *task) for task in tasks
    )
    return running


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
    judged = (right, log_loss(proba, codes), brier(proba, codes))
    means = [float(np.average(each, weights=share)) for each in judged]
    spread = float((share**2).sum()) / float(share.sum()) ** 2  # 1/n where rows count alike
    errors = [
        math.sqrt(spread * float(np.average((each - mean) ** 2, weights=share)))
        for each, mean in zip(judged, means, strict=True)
    ]
    answers = np.array([place[label] for label in said.tolist()], dtype=np.intp)
    area = figures_of(name, answers, proba, codes, share).auc
    known = getattr(model, "calibrated_loo_log_loss_", getattr(model, "loo_log_loss_", None))
    left_out = math.nan if known is None else float(known)
    return Outcome(
        name, fold, means[0], means[1], means[2], area, model.mean_leaves(), seconds, left_out, errors[0], errors[1],
        errors[2],
    )  # fmt: skip


def _most_folds(examples: Examples) -> int:
    """Return the number of folds that the rows allow; refuse rows that nothing can be compared on."""
    classes, sizes = np.unique(examples.y, return_counts=True)
    if len(classes) < 2:
        raise DataError(
            f"all {examples.n_rows} rows are {show(str(classes[0]))}: there is nothing to tell apart"
        )
    if sizes.max() < 2:
        raise DataError(
            f"every one of the {examples.n_rows} rows has a class of its own: none can be held out"
        )
    return int(sizes.max())


def _baselines(examples: Examples, folds: int, seed: int) -> list[dict[str, Any]]:
    """Return the figures of always the largest class, and of logistic regression, by the same folds."""
    classes, codes = np.unique(examples.y, return_inverse=True)
    share = None if examples.weights is None else examples.weights.astype(float)
    judged = baselines(read_frame(examples.features), codes, share, classes.tolist(), seed, folds)
    return [each.to_dict() for each in judged]


def _row(name: str, results: dict[str, list[Outcome]], first: str, n_rows: int, plan: Plan) -> dict[str, Any]:
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
    for measure in ("accuracy", "log_loss", "brier"):
        row[f"{measure}_error"] = _standard_error(mine, measure, plan.repeats)
    tests: dict[str, Any] = {}
    if name != first:
        pairs = [(a, b) for a, b in zip(mine, results[first], strict=True) if not a.failed and not b.failed]
        n_test = n_rows / plan.folds
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


def _standard_error(outcomes: Sequence[Outcome], measure: str, repeats: int) -> float:
    """Return the standard error of a mean over held-out rows; repeats judge the same rows again, and add none."""
    errors = [getattr(outcome, f"{measure}_error") for outcome in outcomes if not outcome.failed]
    if not errors:
        return math.nan
    return math.sqrt(repeats * sum(error**2 for error in errors)) / len(errors)


def _with_test(row: dict[str, Any], measure: str) -> str:
    if math.isnan(row[measure]):
        return "failed  " if row["failed"] else "–  "
    verdict = row["against_first"].get(measure, {}).get("verdict", "")
    mark = {"better": " +", "worse": " −"}.get(verdict, "  ")
    if measure in ("brier", "auc"):
        return f"{row[measure]:.3f}{mark}"
    spread = f"±{row[f'{measure}_error']:.3f}".replace("±0.", "±.")
    return f"{row[measure]:.3f} {spread}{mark}"


def _write(out: Path, outcomes: Sequence[Outcome]) -> None:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Outcome._fields)
    writer.writerows(outcomes)
    write_whole(text.getvalue(), out)
