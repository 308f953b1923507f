"""The right columns of DL8's Figure 9: C4.5 with its default of two examples in a leaf, beside the pruned DL8 of a row.

C4.5 learns once from the 0/1 tests that DL8 has ("tests"), once from the numbers as they are, which it cuts itself
("numbers"); nominal attributes are one 0/1 column for each value in both, as the printed sizes of soybean and
german-credit ask for. The sign is C4.5's: + where its test accuracy is significantly better than DL8's, - where it is
worse, 0 where neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from everytree.study.contest import contest
from everytree.study.jobs import Job, Row, merged
from everytree.study.measure import as_numbers, coded, fold_of, measured
from everytree.study.report import Table, compared, printed

__all__ = ["default_j48", "default_j48_rows"]

LEAST, LEVEL = 2, 0.05
KINDS = {"tests": "j48_minfreq_2", "numbers": "j48_minfreq_2_not_discretised"}
SIGNS = {"win": "+", "tie": "0", "loss": "−"}


def default_j48_rows(job: Job, folder: Path, tests: Any, folds: int) -> list[Row]:
    r"""Run C4.5 on one fold of the tests, and of the attributes, of the same rows.

    Parameters
    ----------
    job : Job
        The data set and the trial.
    folder : Path
        The folder of the data sets.
    tests : ndarray
        The 0/1 tests of the data set.
    folds : int
        The number of folds of a cross-validation.

    Returns
    -------
    list of dict
        The row of "tests" and the row of "numbers".

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("a.csv").write_text("x,class\n" + "1,yes\n2,no\n" * 6)
    >>> _ = Path("a.json").write_text('{"file": "a.csv", "types": {"x": "numeric"}}')
    >>> rows = default_j48_rows(Job("figure9", "a", {}, 0), Path(), np.array([[1], [0]] * 6), 2)
    >>> [(row["model"], row["accuracy"]) for row in rows]
    [('tests', 1.0), ('numbers', 1.0)]
    """
    features, y, classes = coded(folder, job.data)
    fold = fold_of(y, folds, job.trial)
    numbers = as_numbers(features)
    binary = [j for j in range(numbers.shape[1]) if set(np.unique(numbers[:, j])) <= {0.0, 1.0}]
    found = []
    for kind, X, nominal in (("tests", tests, list(range(tests.shape[1]))), ("numbers", numbers, binary)):
        model = et.C45TreeClassifier(LEAST, nominal=nominal)
        row = measured(model, X[fold.train], y[fold.train], X[fold.test], y[fold.test], classes)
        found.append({"model": kind, "n_train": len(fold.train), "n_test": len(fold.test)} | row)
    return found


def default_j48(rows: Sequence[Row], dl8: Sequence[Row], order: Sequence[Row]) -> Table:
    """Make the table with one line for each row of Figure 9.

    Parameters
    ----------
    rows : sequence of dict
        The rows of ``default_j48_rows``.
    dl8 : sequence of dict
        The rows of the pruned DL8 in Figure 9.
    order : sequence of dict
        The printed rows, in their order.

    Returns
    -------
    Table
        Accuracy and size of C4.5 beside DL8.

    Examples
    --------
    >>> default_j48([], [], []).name
    'figure9-default'
    """
    by = merged(rows, "data", "model")
    theirs = merged(dl8, "data", "minfreq")
    paper = {kind: printed("nijssen2007")[name] for kind, name in KINDS.items()}
    lines: list[Row] = []
    better: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for row in order:
        data, minfreq = row["data"], row["minfreq"]
        mine = theirs.get((data, minfreq), [])
        if not mine or (data, "tests") not in by:
            continue
        line: Row = {"data set": data, "minfreq of DL8": minfreq}
        right = [each["accuracy"] for each in mine if "accuracy" in each]
        line["test DL8"] = str(
            compared(right, row["pruned"]["test"]["DL8"])
        )  # as text, because its flag is in the table before
        for kind in KINDS:
            some = by.get((data, kind), [])
            first = all(
                data != before["data set"] for before in lines
            )  # once for each data set, as in the paper
            line[f"test J48, {kind}"] = (
                compared([each["accuracy"] for each in some], paper[kind].get(data)) if first else ""
            )
            line[f"size J48, {kind}"] = (
                compared([each["nodes"] for each in some], None, digits=0) if first else ""
            )
            said = contest(some, mine, "accuracy", LEVEL)
            line[f"S, {kind}"] = SIGNS[said] if said else "–"
            if said == "win":
                better[kind].add(data)
        lines.append(line)
    each = [
        f"{what} J48, {kind}" if what != "S" else f"S, {kind}"
        for kind in KINDS
        for what in ("test", "size", "S")
    ]
    names = {line["data set"] for line in lines}
    after = [
        f"C4.5 is significantly better than DL8 on {len(better['tests'])} of {len(names)} data sets with DL8's tests "
        f"(the paper: 7 of 20), and on {len(better['numbers'] - better['tests'])} more with its own cuts (3 more)."
    ]
    note = (
        "C4.5 pruned, at least two examples in a leaf, on DL8's tests and on the numbers before they were cut. S: + "
        "C4.5 is significantly better than the pruned DL8 at 5 %, − worse, 0 neither."
    )
    columns = ["data set", "minfreq of DL8", *each, "test DL8"]
    return Table("figure9-default", "Figure 9: C4.5 with its defaults", columns, lines, [note], after)
