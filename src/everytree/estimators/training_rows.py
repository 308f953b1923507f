"""Which rows a model has learned from, as far as it knows: figures on these say little about new ones.

    an average            holds its examples: every row is looked for, no more often than it was there
    a tree                holds their fingerprint: all rows are those of training, or nothing is known of each
    a tree on columns     holds their class counts alone: rows with just these may be those of training

Rows are compared by the tests or codes that the model makes of them. Where these are few, other rows look alike; then
only all rows together tell something (``TELLING``).
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.frames import Frame, read_frame
from everytree.data.table import Table
from everytree.estimators.base import TreeClassifierBase
from everytree.estimators.every_tree import EveryTreeClassifier

__all__ = ["TrainingRows", "is_training", "places_among_examples", "table_of", "used_columns"]

TELLING = 0.9  # the share of training rows that differ from all others, from which on a row is known again by its tests
Codes = npt.NDArray[np.intp]


class TrainingRows:
    """Counts the rows that a model has learned from, piece by piece.

    >>> import everytree as et
    >>> X, y = [[k] for k in range(6)], ["no", "no", "no", "yes", "yes", "yes"]
    >>> rows = TrainingRows(et.EveryTreeClassifier().fit(X, y))
    >>> rows.look([[1], [2], [1]], np.array([0, 0, 1])).tolist()
    [True, True, False]
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._left: dict[bytes, npt.NDArray[Any]] = {}
        self._telling, self._matched = False, 0
        self._root = model.root_counts()
        self._parts: list[tuple[Frame, Codes]] = []
        self._counts = np.zeros(len(model.classes_), dtype=np.int64)
        self.total = 0  # examples of training
        if isinstance(model, EveryTreeClassifier):
            coded = model.coded_
            self.total = round(coded.total)
            self._hold(coded.codes, coded.counts / coded.per_example)
        elif self._root is not None:
            self.total = round(float(np.sum(self._root)))
        elif isinstance(model, TreeClassifierBase) and (space := model.tree_space()) is not None:
            table = space.table
            self.total = round(int(table.class_counts.sum()) / table.per_example)
            self._hold(table.rows, table.class_counts / table.per_example)

    def _hold(self, rows: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
        self._telling = bool(np.count_nonzero(counts) >= TELLING * self.total)
        self._left = {row.tobytes(): each.copy() for row, each in zip(rows, counts, strict=True)}

    def look(self, X: Any, codes: Codes) -> npt.NDArray[np.bool_]:
        """Return which of some more rows were in training; ``codes`` are their classes, −1 where there is none."""
        frame = read_frame(X, self._model)
        found = np.zeros(frame.n_rows, dtype=np.bool_)
        if not self._left:
            self._add(frame, codes)
            return found
        self._counts += np.bincount(codes[codes >= 0], minlength=len(self._counts))
        for i, (key, code) in enumerate(zip(self._keys(frame), codes.tolist(), strict=True)):
            left = self._left.get(key)
            if code >= 0 and left is not None and left[code] >= 1:
                left[code] -= 1
                found[i] = True
        self._matched += int(found.sum())
        return found if self._telling else np.zeros_like(found)

    def _add(self, frame: Frame, codes: Codes) -> None:
        known = codes >= 0
        self._counts += np.bincount(codes[known], minlength=len(self._counts))
        # As long as they can be all: more rows than training had are not kept.
        if self._model.fingerprint() is None or not known.any() or self._counts.sum() > self.total:
            return
        self._parts.append((frame.take(known), codes[known]))

    def all_of_them(self) -> bool | None:
        """Return whether the labelled rows are those of training, where the model cannot tell of each.

        None means that there are as many of each class, and nothing else is known.
        """
        if self._left:
            return not self._telling and self._matched == self.total == int(self._counts.sum())
        if self._root is None or not np.array_equal(self._counts, self._root):
            return False
        if self._model.fingerprint() is None:
            return None
        # Tests are made again only here, where there are as many rows of each class as in training.
        tables = [table_of(self._model, frame, codes) for frame, codes in self._parts]
        return bool(reduce(add, tables).fingerprint() == self._model.fingerprint()) if tables else False

    def _keys(self, frame: Frame) -> list[bytes]:
        model = self._model
        if isinstance(model, EveryTreeClassifier):
            return [row.tobytes() for row in model.coded_.columns.codes(used_columns(model, frame))]
        columns = model.binarizer_.columns_
        rows = model.to_tests(frame) if columns is None else columns.rows(columns.codes(frame))
        return [row.tobytes() for row in np.asarray(rows, dtype=np.uint8)]


def is_training(model: Any, frame: Frame | None, codes: Codes | None) -> bool | None:
    """Return whether the rows are those of training; None where that is not known.

    A tree on whole columns has no fingerprint: rows with just the class counts of its root are taken for those of
    training. They are then judged by cross-validation, which no reader can be misled by.
    """
    if frame is None or codes is None:
        return False
    if model.fingerprint() is None:
        root = model.root_counts()
        same = root is not None and np.array_equal(root, np.bincount(codes, minlength=len(model.classes_)))
        return True if same else None
    return bool(table_of(model, frame, codes).fingerprint() == model.fingerprint())


def table_of(model: Any, frame: Frame, codes: Codes) -> Table:
    """Return the table that a model on tests makes of rows and their classes."""
    binarizer, classes = model.binarizer_, model.classes_.tolist()
    names = binarizer.get_feature_names_out().tolist()
    columns = binarizer.columns_
    if columns is not None:
        found = columns.codes(frame)
        return Table.from_codes(columns, found, codes, len(classes), test_names=names, classes=classes)
    return Table.from_arrays(model.to_tests(frame), codes, len(classes), test_names=names, classes=classes)


def places_among_examples(model: EveryTreeClassifier, frame: Frame) -> npt.NDArray[np.intp]:
    """Return the place of each row among the distinct ones of training; −1 where there is none."""
    place = {row.tobytes(): k for k, row in enumerate(model.coded_.codes)}
    codes = model.coded_.columns.codes(used_columns(model, frame))
    return np.array([place.get(row.tobytes(), -1) for row in codes], dtype=np.intp)


def used_columns(model: EveryTreeClassifier, frame: Frame) -> Frame:
    """Return the columns that the trees of an average may use."""
    columns = tuple(frame.columns[j] for j in model.columns_used_.tolist())
    return Frame(columns, frame.n_rows, tuple(column.name for column in columns))
