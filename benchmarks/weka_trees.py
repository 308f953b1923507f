"""C4.5 beside Weka's J48: the same rows, the same declared values, the same folds.

python benchmarks/weka_trees.py                  the table of docs/c45.md
python benchmarks/weka_trees.py iris vote        only these data sets
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from calibration_models import HERE, weka_jar
from everytree.data.column import nominal_column
from everytree.data.frames import Frame, read_frame
from everytree.metrics import stratified_folds
from everytree.study import datasets
from harness import DATA

_SETS = """
anneal-weka audiology autos balance-scale breast-cancer breast-w colic diabetes german-credit glass heart-cleveland
hepatitis hypothyroid ionosphere iris kr-vs-kp labor letter lymph primary-tumor segment sick sonar soybean vehicle vote
vowel yeast zoo
"""
SETS = _SETS.split()

Rows = np.ndarray


class Found(NamedTuple):
    """What one tree is and says: leaves, nodes, training errors, predicted classes and probabilities of test rows."""

    leaves: int
    nodes: int
    training_errors: int
    predicted: np.ndarray
    proba: np.ndarray


class Difference(NamedTuple):
    """Ours and Weka's on one data set: of the tree on all rows, and the accuracies of the folds in points."""

    name: str
    ours: Found
    weka: Found
    our_accuracy: float
    weka_accuracy: float
    same_trees: int  # folds with equal leaves, nodes, predictions and probabilities
    folds: int


def load(name: str) -> tuple[Frame, np.ndarray]:
    """All rows, with their missing values, and every value of a nominal column declared."""
    data = datasets.whole(DATA, name)
    features, labels = data.split("class")
    frame = read_frame(features)
    columns = []
    for column in frame.columns:
        if column.kind == "nominal":
            values = {value for value in column.values.tolist() if value is not None}
            column = nominal_column(column.name, column.values.tolist(), categories=tuple(sorted(values)))
        columns.append(column)
    return replace(frame, columns=tuple(columns)), np.unique(labels.astype(str), return_inverse=True)[1]


def ours(frame: Frame, y: np.ndarray, parts: Sequence[tuple[Rows, Rows]], **options: Any) -> list[Found]:
    """C45TreeClassifier on each pair of training and test rows."""
    from everytree.estimators.c45 import C45TreeClassifier

    found = []
    for train, test in parts:
        made = C45TreeClassifier(**options).fit(frame.take(train), y[train])
        wrong = int((made.predict(frame.take(train)) != y[train]).sum())
        there = frame.take(test)
        found.append(Found(made.n_leaves_, made.size_, wrong, made.predict(there), made.predict_proba(there)))
    return found


class Job(NamedTuple):
    """Pairs of training and test rows of one data set, and the options of J48 (``theirs``) and of ours."""

    name: str
    frame: Frame
    y: np.ndarray
    parts: list[tuple[Rows, Rows]]
    theirs: str = ""
    ours: dict[str, Any] = {}  # noqa: RUF012


def j48(jobs: Sequence[Job]) -> list[list[Found]]:
    """Weka's J48 on every pair of every job, in one process: starting Java costs more than most trees."""
    jar = weka_jar()
    assert jar is not None
    with tempfile.TemporaryDirectory(prefix="everytree-j48-") as folder:
        command = ["java", "-Xmx3g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jar]
        command.append(str(HERE / "J48Trees.java"))
        outs: list[list[tuple[np.ndarray, str]]] = []
        for i, job in enumerate(jobs):
            outs.append([])
            for k, (train, test) in enumerate(job.parts):
                files = [
                    str(Path(folder, f"{i}-{k}-{part}")) for part in ("train.arff", "test.arff", "out.csv")
                ]
                known = np.unique(job.y[train])
                write_arff(files[0], job.frame.take(train), job.y[train], known)
                write_arff(files[1], job.frame.take(test), job.y[test], known)
                command += [job.theirs, *files]
                outs[-1].append((known, files[2]))
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise RuntimeError(f"Weka ended with code {done.returncode}: {done.stderr.strip()[-300:]}")
        return [[_read(known, out) for known, out in job] for job in outs]


def _read(known: np.ndarray, out: str) -> Found:
    with Path(out).open(encoding="utf-8", newline="") as stream:
        lines = [[float(cell) for cell in line] for line in csv.reader(stream)]
    leaves, nodes, wrong = map(int, lines[0])
    cells = np.array(lines[1:])
    return Found(leaves, nodes, wrong, known[cells[:, 0].astype(int)], cells[:, 1:])


def write_arff(path: str, frame: Frame, y: np.ndarray, known: np.ndarray) -> None:
    """A frame as ARFF with codes for names and values; a class that is not known is written as missing."""
    heads, cells = ["@relation data"], []
    for j, column in enumerate(frame.columns):
        gone, values = column.missing, column.values.tolist()
        if column.kind == "nominal" or column.categories is not None:
            place = {value: f"v{i}" for i, value in enumerate(column.categories or ())}
            heads.append(f"@attribute a{j} {{{','.join(place.values())}}}")
            cells.append(["?" if lost else place[value] for value, lost in zip(values, gone, strict=True)])
        else:
            heads.append(f"@attribute a{j} numeric")
            cells.append(["?" if lost else repr(float(x)) for x, lost in zip(values, gone, strict=True)])
    classes = {label: f"c{i}" for i, label in enumerate(known.tolist())}
    heads += [f"@attribute class {{{','.join(classes.values())}}}", "@data"]
    cells.append([classes.get(label, "?") for label in y.tolist()])
    lines = [",".join(row) for row in zip(*cells, strict=True)]
    Path(path).write_text("\n".join(heads + lines) + "\n", encoding="utf-8")


def in_folds(name: str, k: int = 10, seed: int = 0, theirs: str = "", **ours: Any) -> Job:
    """All rows of a data set as training and test rows, then its folds."""
    frame, y = load(name)
    everything = np.arange(frame.n_rows)
    folds = [(fold.train, fold.test) for fold in stratified_folds(y, k, seed=seed)]
    return Job(name, frame, y, [(everything, everything), *folds], theirs, ours)


def compare(jobs: Sequence[Job]) -> list[Difference]:
    """Ours and J48 on every job made by ``in_folds``."""
    differences = []
    for job, theirs in zip(jobs, j48(jobs), strict=True):
        mine = ours(job.frame, job.y, job.parts, **job.ours)
        accuracy = [
            np.mean(
                [
                    (one.predicted == job.y[test]).mean()
                    for one, (_, test) in zip(found, job.parts, strict=True)
                ][1:]
            )
            for found in (mine, theirs)
        ]
        same = sum(
            (a.leaves, a.nodes) == (b.leaves, b.nodes)
            and bool((a.predicted == b.predicted).all())
            and np.allclose(a.proba, b.proba, rtol=0, atol=1e-9)
            for a, b in zip(mine[1:], theirs[1:], strict=True)
        )
        mean, weka_mean = (100 * float(one) for one in accuracy)
        differences.append(
            Difference(job.name, mine[0], theirs[0], mean, weka_mean, same, len(job.parts) - 1)
        )
    return differences


def main() -> None:
    print(f"{'data set':18} {'leaves':>11} {'nodes':>11} {'train errors':>13} {'accuracy':>15} equal folds")
    found = compare([in_folds(name) for name in sys.argv[1:] or SETS])
    for d in found:
        print(
            f"{d.name:18} {d.ours.leaves:5d} {d.weka.leaves:5d} {d.ours.nodes:5d} {d.weka.nodes:5d} "
            f"{d.ours.training_errors:6d} {d.weka.training_errors:6d} {d.our_accuracy:7.2f} {d.weka_accuracy:7.2f} "
            f"{d.same_trees:3d} of {d.folds}"
        )
    gap = np.mean([abs(d.our_accuracy - d.weka_accuracy) for d in found])
    print(f"mean absolute difference in accuracy: {gap:.3f} points over {len(found)} data sets")


if __name__ == "__main__":
    main()
