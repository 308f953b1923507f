"""FrameSpace: a space over the columns of a frame, which then reads new rows of the same columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from everytree.common.limits import Limits, Progress
from everytree.common.reading import reading
from everytree.data.binarizer import (
    Binarizer,
    attribute_names,
    encodings_of,
    fit_frame,
    rules_of,
)
from everytree.data.encoding import Encoding
from everytree.data.example_weights import ExampleWeights, example_weights
from everytree.data.frames import Frame, check_columns, read_frame
from everytree.data.labels import label_codes
from everytree.data.local_tally import local_table
from everytree.data.table import Table
from everytree.engine.engine import Engine
from everytree.engine.rows import core_rows

__all__ = ["FrameSpace", "frame_table", "tests_table"]


class FrameSpace(Engine):
    """A space that can be made of the columns of a frame; ``TreeSpace`` is one."""

    @classmethod
    def from_frame(
        cls,
        X: Any,
        y: npt.ArrayLike,
        bins: int | str | Mapping[str | int, Any] = 4,
        cuts: str = "local",
        max_depth: int | None = 4,
        min_leaf: int = 1,
        sample_weight: npt.ArrayLike | None = None,
        n_jobs: int | None = 1,
        *,
        missing: str = "category",
        unknown: str = "ignore",
        nominal: Sequence[str | int] | None = None,
        max_categories: int = 256,
        classes: Iterable[Any] | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Make a space over the columns of a frame or array, whatever they hold.

        The space reads new rows of the same columns: ``posterior().predict_proba(X)`` and all other questions about
        rows take frames like the one given here.

        Parameters
        ----------
        X : array or data frame of shape (n_rows, n_columns)
            The columns: numbers, text, truth values.
        y : array-like of shape (n_rows,)
            The labels, one per row.
        bins : int, "all" or dict, default=4
            How numeric columns are cut, as in ``Binarizer``.
        cuts : {"local", "global"}, default="local"
            With "local" every node of a tree cuts its own rows into ``bins`` bins; with "global" the cuts are chosen
            once, from all rows.
        max_depth : int or None, default=4
            The most tests on any path from the root to a leaf; None means no limit.
        min_leaf : int, default=1
            The fewest examples that a leaf may hold.
        sample_weight : array-like or None, default=None
            How much each row counts: a weight of 3 is the same as giving the row three times; fractions are allowed.
        n_jobs : int or None, default=1
            The number of threads; -1 means every core.
        missing : {"error", "category", "impute"}, default="category"
            What a missing value means, as in ``Binarizer``.
        unknown : {"ignore", "error"}, default="ignore"
            What a nominal value not seen in training means, as in ``Binarizer``.
        nominal : sequence of str or int, optional
            The numeric columns whose numbers are codes.
        max_categories : int, default=256
            The most values of a nominal column; one with more is refused.
        classes : iterable or None, default=None
            All labels in order; needed only if some of them may be absent from ``y``.
        time_limit : float or None, default=None
            The most seconds that one question may take; None means no limit.
        memory_limit : int or None, default=None
            The most bytes that one question may store; None means three quarters of the machine's memory.
        progress : callable or None, default=None
            A function that is called about every 30 ms as ``progress(stage, done, total, seconds)``.

        Returns
        -------
        TreeSpace
            The space of all trees over these columns.

        Raises
        ------
        DataError
            If a column or the labels cannot be read.
        QueryError
            If a parameter is out of its range, or fewer than ``min_leaf`` examples are given.
        """
        binarizer = Binarizer(
            bins, missing, unknown=unknown, nominal=nominal, max_categories=max_categories, cuts=cuts
        )
        with reading(time_limit, memory_limit):
            frame = read_frame(X)
            codes, labels = label_codes(y, frame.n_rows, classes)
            table = frame_table(binarizer, frame, codes, labels, sample_weight, memory_limit)
        space = cls.__new__(cls)
        limits = Limits(time_limit, memory_limit, progress)
        Engine.__init__(space, table, max_depth, min_leaf, n_jobs, attribute_names(binarizer), limits)
        space.reads_frames = True
        return space

    @property
    def binarizer(self) -> Binarizer | None:
        """The fitted Binarizer that makes the tests of columns, where the space knows it."""
        return self.table.binarizer

    def rows_of(self, X: Any) -> npt.NDArray[Any]:
        """Turn rows into what the trees of this space read, such as ``tree.predict``.

        Parameters
        ----------
        X : array or data frame
            Rows of the columns that the space was made of; of a space over 0/1 tests, rows of these.

        Returns
        -------
        ndarray of shape (n_rows, n_tests)
            The outcomes 0 and 1 of the tests; with local cuts, how far each row reaches.
        """
        return core_rows(self, X)


def frame_table(
    binarizer: Binarizer,
    frame: Frame,
    codes: npt.NDArray[np.intp],
    labels: Iterable[Any],
    sample_weight: npt.ArrayLike | ExampleWeights | None,
    memory_limit: int | None = None,
) -> Table:
    """Fit a Binarizer to a frame, and count the frame's rows; ``codes`` are the classes of the rows."""
    check_columns(binarizer, frame, reset=True)
    weights, listed, n_rows = example_weights(sample_weight, frame.n_rows), list(labels), frame.n_rows
    used = np.arange(n_rows) if weights is None else weights.used
    if weights is not None:
        frame, codes, weights = frame.take(used), codes[used], weights.of(used)
    if binarizer.cuts == "local":
        return local_table(Table, binarizer, frame, codes, listed, weights).given_among(used, n_rows)
    encodings = encodings_of(rules_of(binarizer), frame, weights, codes)
    table, _ = tests_table(binarizer, frame, encodings, codes, listed, weights, memory_limit)
    return table.given_among(used, n_rows)


def tests_table(
    binarizer: Binarizer,
    frame: Frame,
    encodings: list[Encoding],
    codes: npt.NDArray[np.intp],
    labels: list[Any],
    weights: ExampleWeights | None,
    memory_limit: int | None,
) -> tuple[Table, npt.NDArray[np.uint8]]:
    """Fit a Binarizer with the tests of these encodings that are not idle: the rows counted, and as they are."""
    rows = fit_frame(binarizer, frame, encodings, memory_limit).matrix()
    names = binarizer.get_feature_names_out().tolist()
    table = Table.from_arrays(rows, codes, len(labels), weights, test_names=names, classes=labels)
    return table.encoded(binarizer, None), rows
