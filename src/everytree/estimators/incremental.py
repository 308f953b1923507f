"""partial_fit for classifiers that learn from a table alone: batches are counted, and tables add.

    partial_fit(A); partial_fit(B)   =   fit(A and B)       given the same cut-points of numeric columns

With ``cuts="local"`` that holds always (see ``LocalTally``); what follows is said of global cuts. Cut-points that are
not given (``bins={"age": [40, 60]}`` gives them) come from the first batch, and so does the mean
that ``missing="impute"`` puts into a numeric column. All else is as from all rows at once, to the last bit: 0/1 and
boolean columns, nominal columns with values that come later, tests that were constant or equal at first, labels that
come later.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from everytree.data.binarizer import rules_of
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import Frame
from everytree.data.labels import read_labels
from everytree.data.local_tally import AnyTally, LocalTally, tally_of
from everytree.data.table import Table
from everytree.errors import DataError, QueryError
from everytree.estimators.base import TreeClassifierBase
from everytree.estimators.one_fit import one_at_a_time, put_back

__all__ = ["IncrementalBase", "LabelsInBatches"]

KINDS = {"U": "text", "O": "text", "b": "booleans"}  # All other kinds are numbers.


class LabelsInBatches:
    """What every ``partial_fit`` needs: checks of labels that come in batches, and a way back from a refused batch."""

    classes_: npt.NDArray[Any]
    _given: npt.NDArray[Any] | None = None  # The labels of ``partial_fit(classes=...)``.

    @contextmanager
    def _unless_refused(self) -> Iterator[dict[str, Any]]:
        """Learn inside; if that fails, the model is again what it was. Yield its attributes from before."""
        before = dict(vars(self))
        try:
            yield before
        except BaseException:
            put_back(vars(self), before)
            raise

    def _check_classes(self, classes: Any, labels: npt.NDArray[Any], first: bool) -> None:
        """Refuse labels of another kind than before, or outside the labels that were named."""
        if classes is not None:
            named = np.unique(read_labels(classes, len(np.atleast_1d(np.asarray(classes)))))
            if first:
                self._given = named
            elif self._given is None or not np.array_equal(named, self._given):
                known = "none" if self._given is None else self._given.tolist()
                raise DataError(
                    f"classes={named.tolist()} is not the same as on the first call ({known}); leave it out"
                )
        known = [each for each in (self._given, None if first else self.classes_) if each is not None]
        for before in known:
            if _kind(before) != _kind(labels):
                raise DataError(
                    f"y holds {_kind(labels)}, and the labels before are {_kind(before)}; convert them to one type"
                )
        if self._given is not None:
            new = np.setdiff1d(labels, self._given)
            if new.size:
                raise DataError(
                    f"y holds the label {new.tolist()[0]!r}, which is not among classes={self._given.tolist()} of the "
                    "first call"
                )


class IncrementalBase(LabelsInBatches, TreeClassifierBase):
    """A classifier whose ``_fit_table`` needs only the table."""

    _tally: AnyTally | None = None

    @one_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        with self._rows_at_hand():
            if rules_of(self.new_binarizer()).by_classes:  # Cuts that the classes choose need all rows.
                self._beside = 0
                super().fit(X, y, sample_weight)
                self._given = self._tally = None
            else:
                with self._one_clock():
                    with self._reading():
                        frame, labels, weights = self._read(X, y, sample_weight, reset=True)
                    self._given = None
                    self._learn(self._new_tally(), frame, labels, weights)
                    self._after_fit(frame, labels, sample_weight)
            self._choose_by_folds(X, y, sample_weight)
        return self

    @contextmanager
    def _rows_at_hand(self) -> Iterator[None]:
        """Run a fit to all rows inside; see ``CrossCalibrated``, which needs them once more."""
        yield

    def _choose_by_folds(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        """Choose by a cross-validation what is to be chosen so; by default nothing."""

    def _after_fit(self, frame: Frame, labels: npt.NDArray[Any], sample_weight: npt.ArrayLike | None) -> None:
        """Keep what is known of each row; ``frame`` and ``labels`` are without the rows of weight zero."""

    @one_at_a_time
    def fit_table(self, table: Table) -> Self:
        """Learn from a table that was counted elsewhere; ``partial_fit`` cannot add to it.

        Parameters
        ----------
        table : Table
            The examples, counted, for example by ``Table.from_frame``.

        Returns
        -------
        Self
            This classifier, fitted.

        Raises
        ------
        DataError
            If the table is empty or no Table.
        QueryError
            If a parameter has a value that it cannot have.
        """
        self._beside = 0
        super().fit_table(table)
        self._given = self._tally = None
        return self

    @one_at_a_time
    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Learn from these rows and from all rows of earlier calls of ``fit`` or ``partial_fit``.

        The result is that of ``fit`` on all rows together if the cut-points of numeric columns are the same: give
        them with ``bins`` (a dict from column to cut-points), else those of the first batch are used. With
        ``cuts="local"`` it always is that of ``fit`` on all rows together, also of columns with more than 255 values,
        because distinct rows are kept as they are. If a batch is refused, or a limit is reached, the model stays as it
        was.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows of this batch.
        y : array-like of shape (n_rows,)
            The label of each row.
        classes : array-like of shape (n_classes,), optional
            All labels, at the first call, so that one may be absent from every batch; without it, new labels may come
            with any batch.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts: 3 as much as three such rows, 0.5 half as much, 0 as if it were not there.

        Returns
        -------
        Self
            This classifier, fitted.

        Raises
        ------
        DataError
            If rows, labels or weights cannot be read, or do not go with earlier batches.
        QueryError
            If a parameter has a value that it cannot have, or the model holds nothing to add to.
        """
        rules_of(self.new_binarizer()).refuse_classes("batch by batch")
        first = not hasattr(self, "classes_")
        if not first and self._tally is None:
            raise QueryError(
                "this model was loaded from a file or learned from a table, and holds no counts to add to; fit all "
                "rows, merge tables, or start again with partial_fit on a new model"
            )
        with self._one_clock(), self._unless_refused() as before:
            with self._reading():
                frame, labels, weights = self._read(X, y, sample_weight, reset=first, batch=True)
            if not first:
                self.target_name_ = before["target_name_"]
            self._check_classes(classes, labels, first)
            tally = self._new_tally() if self._tally is None else self._tally
            if repr(tally.parameters) != repr(self.new_binarizer().get_params()):
                raise QueryError(
                    "the parameters that make tests of columns have changed since the first batch; set them back, or "
                    "fit all rows at once"
                )
            self._learn(tally, frame, labels, weights)
        return self

    def _new_tally(self) -> AnyTally:
        return tally_of(self.new_binarizer(), getattr(self, "memory_limit", None))

    def _learn(
        self, tally: AnyTally, frame: Frame, labels: npt.NDArray[Any], weights: ExampleWeights | None
    ) -> None:
        with self._reading():
            tally = tally.add(frame, labels, weights, self._given)
            self.binarizer_, counted = tally.binarized()
        table = Table.of(counted)
        self.classes_ = tally.labels
        self.checked_costs()
        self._learned_from(table)
        self._beside = tally.n_bytes if isinstance(tally, LocalTally) else 0
        # Rows of 0 and 1 are made when they are first read: nobody reads them here, and they may take much memory.
        self._fit_table(table, np.zeros((0, table.n_tests), np.uint8), np.zeros(0, dtype=np.intp), None)
        self._tally = tally


def _kind(labels: npt.NDArray[Any]) -> str:
    return KINDS.get(labels.dtype.kind, "numbers")
