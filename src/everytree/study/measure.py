"""One classifier on one fold: what it says of the test rows, how large it is, and what it took.

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
from everytree.metrics import Fold, aligned, brier, log_loss, stratified_folds
from everytree.study import datasets
from everytree.study.jobs import Row

__all__ = ["as_numbers", "binary_fold", "coded", "fold_of", "measured", "raw"]

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
    """Fit and judge: accuracy, log_loss, brier, nodes, seconds; or a note where a limit was reached.

    The nodes are None for what is no tree. ``on_train`` adds train_accuracy, which an average takes long to compute.
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
        average = hasattr(model, "posterior_")
        said = np.asarray(model.classes_[given.argmax(axis=1)] if average else model.predict(test))
        proba = aligned(given, list(model.classes_), classes)
        predicted = time.process_time()
        learnt = {"train_accuracy": float(np.mean(model.predict(train) == y_train))} if on_train else {}
    return {
        "accuracy": float(np.mean(said == y_test)),
        "log_loss": float(log_loss(proba, y_test).mean()),
        "brier": float(brier(proba, y_test).mean()),
        "nodes": _nodes(model),
        "seconds": fitted - start,
        "predict_seconds": predicted - fitted,
    } | learnt


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
    """A complete data set: attributes, class codes of the rows, all classes."""
    features, labels = datasets.complete(folder, name)
    classes, y = datasets.classes_of(labels)
    return features, y, classes


@lru_cache(maxsize=4)
def raw(folder: Path, name: str) -> tuple[Any, npt.NDArray[np.intp], list[int]]:
    """A data set with its missing values and declared ones: attributes, class codes of the rows, all classes."""
    features, labels = datasets.whole(folder, name, declared=True).split("class")
    classes, y = datasets.classes_of(labels)
    return features, y, classes


@lru_cache(maxsize=8)
def _folds(codes: bytes, k: int, repeats: int) -> list[Fold]:
    return stratified_folds(np.frombuffer(codes, dtype=np.intp), k, repeats, SEED)


def fold_of(y: npt.NDArray[np.intp], k: int, trial: int) -> Fold:
    """Fold ``trial`` of the cross-validations that follow each other: ten of k = 10 are the trials 0 to 99."""
    return _folds(y.tobytes(), k, trial // k + 1)[trial]


@lru_cache(maxsize=4)
def binary_fold(
    folder: Path, name: str, bins: int, k: int, trial: int
) -> tuple[Any, npt.NDArray[np.intp], Any, npt.NDArray[np.intp], list[int]]:
    """The 0/1 tests of a fold, with cuts from its training rows: training tests, classes, test tests, classes, all."""
    features, y, classes = coded(folder, name)
    fold = fold_of(y, k, trial)
    encoder = Binarizer(bins=bins)
    train = encoder.fit_transform(features.take(fold.train))
    return train, y[fold.train], encoder.transform(features.take(fold.test)), y[fold.test], classes


def as_numbers(features: Any) -> npt.NDArray[np.float64]:
    """Numbers as they are, a nominal attribute as one 0/1 column for each of its values."""
    parts = []
    for column in features.columns.values():
        if column.kind == "numeric":
            parts.append(column.values.astype(np.float64)[:, None])
        else:
            values = sorted(set(column.values.tolist()))
            parts.append((column.values[:, None] == np.array(values, dtype=object)).astype(np.float64))
    return np.hstack(parts)
