"""The classifiers of the calibration study: each is fitted on one fold and gives probabilities for its test rows.

All see the same rows; none sees the test rows before it predicts.

    average           BayesOptimalClassifier: numeric attributes in 4 bins with cuts from the training part, at least 2
                      examples in a leaf, size prior (0.8, 0.8), Dirichlet 1; depth 4 unless stated
    average-fit       the same with the prior and the Dirichlet fitted to the training part by evidence
    average-10        as average, with numeric attributes in 10 bins
    MAP               MAPTreeClassifier in the same space: one tree
    MAP-fit           the same with the prior and the Dirichlet fitted by evidence
    C4.5              Weka's J48 with the Laplace correction (-A), else its defaults, on the raw attributes
    C4.5-tests        the same on the 0/1 tests that the average has
    CART              scikit-learn's tree, min_samples_leaf=2, nominal attributes as one column per value; pruned by
                      cost complexity, with α by accuracy in an inner stratified 5-fold cross-validation; the
                      probability of a class in a leaf is (n_c + 1)/(n + C)
    CART-raw          the same tree with the plain frequencies n_c/n in the leaves
    CART-tests        as CART, on the 0/1 tests that the average has
    forest            scikit-learn's random forest of 100 trees with its defaults: not a tree, for orientation
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from everytree.metrics import Fold, aligned, stratified_folds
from everytree.study.measure import as_numbers

HERE = Path(__file__).resolve().parent
BAYES = ("average", "average-fit", "average-10", "MAP", "MAP-fit")
WEKA = ("C4.5", "C4.5-tests")
CART = ("CART", "CART-raw", "CART-tests")
MODELS = (*BAYES, *WEKA, *CART, "forest")
MIN_LEAF = 2
ALPHAS = 25  # at most so many degrees of pruning are tried, evenly spread over the sequence of pruned trees
INNER = 5
SEED = 0


class Answer(NamedTuple):
    """Probabilities of the test rows, for all classes of the data set, and the CPU seconds (one thread) they took."""

    proba: np.ndarray
    fit_seconds: float
    predict_seconds: float
    leaves: float | None = None


# --- ours


def slowdown() -> float:
    """How many seconds pass for one second of this process: limits are in real time, and a machine may be busy."""
    start, cpu = time.perf_counter(), time.process_time()
    while time.process_time() - cpu < 0.02:
        pass
    return max(1.0, (time.perf_counter() - start) / 0.02)


def bayes(
    model: str, features: Any, y: np.ndarray, classes: Sequence[Any], fold: Fold, depth: int, cap: float
) -> Answer:
    """The average or the most probable tree; ``LimitReached`` where that takes more than ``cap`` CPU seconds."""
    import everytree as et

    kind = et.MAPTreeClassifier if model.startswith("MAP") else et.BayesOptimalClassifier
    options: dict[str, Any] = {"prior": "fit", "dirichlet": "fit"} if model.endswith("-fit") else {}
    wall = 1.5 * cap * slowdown()
    options |= {"bins": 10 if model == "average-10" else 4, "time_limit": wall, "memory_limit": 6 * 2**30}
    made = kind(max_depth=depth, min_leaf=MIN_LEAF, **options)
    train, test = features.take(fold.train), features.take(fold.test)
    start = time.process_time()
    made.fit(train, y[fold.train])
    fitted = time.process_time()
    proba = made.predict_proba(test)
    end = time.process_time()
    if end - start > cap:
        raise et.LimitReached(f"fit and predict took {end - start:.1f} s; the cap is {cap:g} s")
    leaves = float(made.tree_.n_leaves) if model.startswith("MAP") else None
    return Answer(aligned(proba, made.classes_.tolist(), classes), fitted - start, end - fitted, leaves)


# --- scikit-learn


def tests_of(features: Any, fold: Fold) -> tuple[np.ndarray, np.ndarray]:
    """The 0/1 tests that the average has in this fold: of the training rows, and of the test rows."""
    from everytree import Binarizer

    encoder = Binarizer(bins=4).fit(features.take(fold.train))
    return encoder.transform(features.take(fold.train)), encoder.transform(features.take(fold.test))


def pruned_cart(X: np.ndarray, y: np.ndarray) -> Any:
    """A tree pruned by cost complexity; the strongest pruning among those of the best inner accuracy."""
    from sklearn.tree import DecisionTreeClassifier

    def tree(alpha: float = 0.0) -> Any:
        return DecisionTreeClassifier(min_samples_leaf=MIN_LEAF, ccp_alpha=alpha, random_state=SEED)

    steps = np.unique(np.maximum(tree().cost_complexity_pruning_path(X, y).ccp_alphas, 0.0))
    # between two steps the pruned tree is the same: the geometric mean stands for it, as CART does it
    alphas = np.append(np.sqrt(steps[:-1] * steps[1:]), steps[-1])
    if len(alphas) > ALPHAS:
        alphas = alphas[np.linspace(0, len(alphas) - 1, ALPHAS).round().astype(int)]
    k = min(INNER, int(np.unique(y, return_counts=True)[1].max()))
    hits = np.zeros(len(alphas), dtype=int)
    for fold in stratified_folds(y, k, seed=SEED):
        for i, alpha in enumerate(alphas):
            made = tree(alpha).fit(X[fold.train], y[fold.train])
            hits[i] += int((made.predict(X[fold.test]) == y[fold.test]).sum())
    best = len(hits) - 1 - int(np.argmax(hits[::-1]))
    return tree(float(alphas[best])).fit(X, y)


def leaf_probabilities(tree: Any, X: np.ndarray, laplace: bool) -> np.ndarray:
    """(n_c + 1)/(n + C) or n_c/n in the leaf of each row."""
    inner = tree.tree_
    counts = inner.value[:, 0, :] * inner.weighted_n_node_samples[:, None]
    counts = counts.round() + (1.0 if laplace else 0.0)
    return (counts / counts.sum(axis=1, keepdims=True))[tree.apply(X)]


def cart(model: str, features: Any, y: np.ndarray, classes: Sequence[Any], fold: Fold) -> dict[str, Answer]:
    """CART on one fold; the raw attributes give two answers, with Laplace and without, from one tree."""
    if model == "CART-tests":
        train, test = tests_of(features, fold)
    else:
        everything = as_numbers(features)
        train, test = everything[fold.train], everything[fold.test]
    start = time.process_time()
    tree = pruned_cart(train, y[fold.train])
    fitted = time.process_time()
    answers = {}
    for name, laplace in (
        [("CART-tests", True)] if model == "CART-tests" else [("CART", True), ("CART-raw", False)]
    ):
        before = time.process_time()
        proba = leaf_probabilities(tree, test, laplace)
        took = time.process_time() - before
        found = aligned(proba, tree.classes_.tolist(), classes)
        answers[name] = Answer(found, fitted - start, took, float(tree.get_n_leaves()))
    return answers


def forest(features: Any, y: np.ndarray, classes: Sequence[Any], fold: Fold) -> Answer:
    """A random forest on the raw attributes."""
    from sklearn.ensemble import RandomForestClassifier

    X = as_numbers(features)
    made = RandomForestClassifier(100, random_state=SEED, n_jobs=1)
    start = time.process_time()
    made.fit(X[fold.train], y[fold.train])
    fitted = time.process_time()
    proba = made.predict_proba(X[fold.test])
    return Answer(
        aligned(proba, made.classes_.tolist(), classes), fitted - start, time.process_time() - fitted
    )


# --- Weka


def weka_jar() -> str | None:
    """Where Weka is: $WEKA_JAR, or where the Debian package ``weka`` puts it. None without it or without Java."""
    places = [os.environ.get("WEKA_JAR", ""), "/usr/share/java/weka.jar"]
    jar = next((place for place in places if place and Path(place).is_file()), None)
    return jar if jar is not None and shutil.which("java") else None


def c45(
    features: Any, y: np.ndarray, classes: Sequence[Any], folds: Sequence[Fold], cap: float
) -> list[dict[str, Answer]]:
    """J48 on all folds, on the raw attributes and on the tests, in one process: starting Java costs more than a tree.

    ``cap`` is for one tree, on average.
    """
    jar = weka_jar()
    assert jar is not None
    with tempfile.TemporaryDirectory(prefix="everytree-j48-") as folder:
        command = ["java", "-Xmx3g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jar]
        command.append(str(HERE / "J48Folds.java"))
        known = {}
        for model in WEKA:
            for fold in folds:
                files = [
                    str(Path(folder, f"{model}-{fold.fold}-{part}"))
                    for part in ("train.arff", "test.arff", "out.csv")
                ]
                known[model, fold.fold] = _write_fold(model, features, y, fold, files[0], files[1]), files[2]
                command += files
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * cap * len(folds) + 30)
        if done.returncode:
            raise RuntimeError(f"Weka ended with code {done.returncode}: {done.stderr.strip()[-300:]}")
        answers = []
        for fold in folds:
            found = {}
            for model in WEKA:
                seen, out = known[model, fold.fold]
                with Path(out).open(encoding="utf-8", newline="") as stream:
                    lines = [[float(cell) for cell in line] for line in csv.reader(stream)]
                fit, predict, leaves = lines[0]
                found[model] = Answer(aligned(lines[1:], seen, classes), fit, predict, leaves)
            answers.append(found)
    return answers


def _write_fold(model: str, features: Any, y: np.ndarray, fold: Fold, train: str, test: str) -> list[Any]:
    """Write both parts as ARFF, with codes for names and values; returns the classes of the training part.

    A class that only the test part has is written as missing: no classifier here knows it.
    """
    seen = sorted(set(y[fold.train].tolist()))
    code = {label: f"c{i}" for i, label in enumerate(seen)}
    if model == "C4.5-tests":
        tables = [[list(map(str, row)) for row in part.tolist()] for part in tests_of(features, fold)]
        domains = ["{0,1}"] * (len(tables[0][0]) if tables[0] else 0)
    else:
        domains, cells = [], []
        for column in features.columns.values():
            if column.kind == "numeric":
                domains.append("numeric")
                cells.append([repr(float(value)) for value in column.values.tolist()])
            else:
                values = {value: f"v{i}" for i, value in enumerate(sorted(set(column.values.tolist())))}
                domains.append("{" + ",".join(values.values()) + "}")
                cells.append([values[value] for value in column.values.tolist()])
        rows = list(zip(*cells, strict=True))
        tables = [[rows[r] for r in part] for part in (fold.train, fold.test)]
    for path, table, part in ((train, tables[0], fold.train), (test, tables[1], fold.test)):
        lines = ["@relation fold", *(f"@attribute a{i} {domain}" for i, domain in enumerate(domains))]
        lines += ["@attribute class {" + ",".join(code.values()) + "}", "@data"]
        lines += [",".join((*row, code.get(y[r], "?"))) for row, r in zip(table, part, strict=True)]
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return seen


# --- one place that knows them all


def answers(
    model: str,
    features: Any,
    y: np.ndarray,
    classes: Sequence[Any],
    folds: Sequence[Fold],
    depth: int,
    cap: float,
) -> Iterator[tuple[Fold, dict[str, Answer]]]:
    """The answers of one model for each fold, as they come; a model may bring along those of its twins."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if model in WEKA:
            yield from zip(folds, c45(features, y, classes, folds, cap), strict=True)
            return
        for fold in folds:
            if model in BAYES:
                yield fold, {model: bayes(model, features, y, classes, fold, depth, cap)}
            elif model in CART:
                yield fold, cart(model, features, y, classes, fold)
            else:
                yield fold, {model: forest(features, y, classes, fold)}
