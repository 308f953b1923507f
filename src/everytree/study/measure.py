"""Measure one classifier on one fold: what it predicts, how large it is, and how long it took.

Seconds are of the processor, in one thread, and on whatever else the machine does at the time: they order methods that
differ by a factor, not by a tenth.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.binarizer import Binarizer
from everytree.errors import LimitReached
from everytree.metrics import Fold, Reliability, aligned, brier, log_loss, stratified_folds
from everytree.study import datasets
from everytree.study.jobs import Row

__all__ = ["as_numbers", "auc", "binary_fold", "coded", "fold_of", "measured", "raw"]

SIZES = ("n_nodes_", "size_")  # attributes of a fitted classifier that count the nodes of its tree
SEED = 0


def measured(
    model: Any,
    train: Any,
    y_train: npt.NDArray[Any],
    test: Any,
    y_test: npt.NDArray[Any],
    classes: Sequence[Any],
    on_train: bool = False,
) -> Row:
    """Fit a classifier to training rows and measure it on test rows.

    Parameters
    ----------
    model : classifier
        The classifier, in the manner of scikit-learn.
    train : array-like
        The training rows.
    y_train : ndarray
        Their classes.
    test : array-like
        The test rows.
    y_test : ndarray
        Their classes, as codes.
    classes : sequence
        All classes, in the order of their codes.
    on_train : bool, default=False
        Whether to add train_accuracy, which an average takes long to compute.

    Returns
    -------
    dict
        The accuracy, predicted_accuracy (the mean probability of the class that is predicted: what the classifier
        expects its accuracy to be), log_loss, brier, auc, ece (the calibration error), nodes (None for what is no
        tree), seconds and predict_seconds; or a note where a limit was reached.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [[0], [1]] * 5, np.array([0, 1] * 5)
    >>> row = measured(et.OptimalTreeClassifier(max_depth=1), X, y, X, y, [0, 1])
    >>> row["accuracy"], row["nodes"]
    (1.0, 3)
    """
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            model.fit(train, y_train)
        except LimitReached as limit:
            return {"note": str(limit).split(";")[0]}
        fitted = time.process_time()
        given = model.predict_proba(test)
        # An average predicts its most probable class; asking again would cost as much as all of it.
        average = hasattr(model, "posterior_") or hasattr(model, "evidence_of")
        said = np.asarray(model.classes_[given.argmax(axis=1)] if average else model.predict(test))
        proba = aligned(given, list(model.classes_), classes)
        predicted = time.process_time()
        learnt = {"train_accuracy": float(np.mean(model.predict(train) == y_train))} if on_train else {}
    return {
        "accuracy": float(np.mean(said == y_test)),
        "predicted_accuracy": float(np.mean(proba[np.arange(len(said)), _places(said, classes)])),
        "log_loss": float(log_loss(proba, y_test).mean()),
        "brier": float(brier(proba, y_test).mean()),
        "auc": auc(proba, y_test),
        "ece": Reliability.of(proba, y_test).ece,
        "nodes": _nodes(model),
        "seconds": fitted - start,
        "predict_seconds": predicted - fitted,
    } | learnt


def auc(proba: npt.NDArray[np.float64], y: npt.NDArray[np.intp]) -> float | None:
    """Compute the area under the ROC curve of each class against the others; the mean over the classes that occur.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, n_classes)
        The predicted probabilities.
    y : ndarray of shape (n_rows,)
        The class of each row, as a column of ``proba``.

    Returns
    -------
    float or None
        The mean area; None where all rows are of one class.

    Examples
    --------
    >>> auc(np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]]), np.array([0, 1, 0]))
    1.0
    """
    from scipy.stats import rankdata

    areas = []
    for c in np.unique(y):
        own = y == c
        if own.all():
            return None
        ranks, n = rankdata(proba[:, c]), int(own.sum())
        areas.append((ranks[own].sum() - n * (n + 1) / 2) / (n * (len(y) - n)))
    return float(np.mean(areas))


def _places(said: npt.NDArray[Any], classes: Sequence[Any]) -> list[int]:
    """Return the column of each predicted class among the probabilities."""
    place = {label: k for k, label in enumerate(classes)}
    return [place[label] for label in said.tolist()]


def _nodes(model: Any) -> int | None:
    for name in SIZES:
        if hasattr(model, name):
            return int(getattr(model, name))
    tree: Any = getattr(getattr(model, "estimator_", model), "tree_", None)
    if hasattr(tree, "size"):
        return int(tree.size)
    return int(tree.node_count) if hasattr(tree, "node_count") else None


@lru_cache(maxsize=4)
def coded(folder: Path, name: str) -> tuple[Any, npt.NDArray[np.intp], list[int]]:
    """Read a complete data set: attributes, class codes of the rows, all classes."""
    features, labels = datasets.complete(folder, name)
    classes, y = datasets.classes_of(labels)
    return features, y, classes


@lru_cache(maxsize=4)
def raw(folder: Path, name: str) -> tuple[Any, npt.NDArray[np.intp], list[int]]:
    """Read a data set with its missing values and declared ones: attributes, class codes of the rows, all classes."""
    features, labels = datasets.whole(folder, name, declared=True).split("class")
    classes, y = datasets.classes_of(labels)
    return features, y, classes


@lru_cache(maxsize=8)
def _folds(codes: bytes, k: int, repeats: int) -> list[Fold]:
    return stratified_folds(np.frombuffer(codes, dtype=np.intp), k, repeats, SEED)


def fold_of(y: npt.NDArray[np.intp], k: int, trial: int) -> Fold:
    """Return one fold of repeated cross-validations: with k = 10, trials 0 to 9 are the first of them.

    Parameters
    ----------
    y : ndarray
        The class codes of the rows.
    k : int
        The number of folds of a cross-validation.
    trial : int
        The number of the fold, from 0; ten cross-validations of k = 10 are the trials 0 to 99.

    Returns
    -------
    Fold
        The training and the test rows.

    Examples
    --------
    >>> fold = fold_of(np.array([0, 1] * 5, dtype=np.intp), 5, 0)
    >>> len(fold.train), len(fold.test)
    (8, 2)
    """
    return _folds(y.tobytes(), k, trial // k + 1)[trial]


@lru_cache(maxsize=4)
def binary_fold(
    folder: Path, name: str, bins: int, k: int, trial: int
) -> tuple[Any, npt.NDArray[np.intp], Any, npt.NDArray[np.intp], list[int]]:
    """Return the 0/1 tests of a fold, with cuts from its training rows.

    The parts are the tests and classes of training, the tests and classes of testing, and all classes.
    """
    features, y, classes = coded(folder, name)
    fold = fold_of(y, k, trial)
    encoder = Binarizer(bins=bins)
    train = encoder.fit_transform(features.take(fold.train))
    return train, y[fold.train], encoder.transform(features.take(fold.test)), y[fold.test], classes


def as_numbers(features: Any) -> npt.NDArray[np.float64]:
    r"""Turn attributes into numbers: a nominal one becomes a 0/1 column for each of its values.

    Parameters
    ----------
    features : Dataset
        The attributes, without missing values.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The numbers.

    Examples
    --------
    >>> from pathlib import Path
    >>> import everytree as et
    >>> _ = Path("a.csv").write_text("x,c\n1,a\n2,b\n")
    >>> as_numbers(et.read_csv("a.csv")).tolist()
    [[1.0, 1.0, 0.0], [2.0, 0.0, 1.0]]
    """
    parts = []
    for column in features.columns.values():
        if column.kind == "numeric":
            parts.append(column.values.astype(np.float64)[:, None])
        else:
            values = sorted(set(column.values.tolist()))
            parts.append((column.values[:, None] == np.array(values, dtype=object)).astype(np.float64))
    return np.hstack(parts)
