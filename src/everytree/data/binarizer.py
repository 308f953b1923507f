"""From columns to tests: each attribute becomes a few 0/1 columns with names a person can read.

    numeric    x <= cut        at most k−1 cuts for k equal-frequency bins, or every cut, or given cuts
    nominal    x == value      one test per value; one test for two values
    0/1, bool  x               as it is
    missing    x is missing    where asked for

Constant tests, and tests that equal or complement an earlier one on the training data, add nothing to any
tree and are left out; ``dropped_`` says which and why. Columns that are already 0/1 are never touched.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from everytree.common.arguments import argument, refused
from everytree.data.arrays import whole_weights
from everytree.data.cuts import Bins
from everytree.data.encoding import (
    Dropped,
    Encoding,
    Kept,
    Test,
    as_codes,
    drop_idle,
    encode,
    matched,
    outcomes,
    refuse_unknown,
)
from everytree.data.facts import facts_of
from everytree.data.frames import Frame, check_columns, named_columns, read_frame
from everytree.errors import Argument, DataError, Wording

__all__ = ["Binarizer", "Dropped", "Test"]

DEFAULT_BINS = 4
MAX_CELLS = 2**32  # the largest matrix of tests that is built: four gigabytes
SOME = 5  # how many columns or values a message lists


class Binarizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn mixed columns into binary tests with readable names.

    Accepts numpy arrays (float, int, bool, str, object), lists, pandas, polars and pyarrow data frames, and
    the data sets of the readers. ``transform`` returns a C-contiguous uint8 matrix of 0/1.

    A *numeric* column gives tests ``x <= cut``. Bins are filled greedily from the left: with R examples and k
    bins left, a bin ends at the break between two different values where it holds closest to R/k examples
    (Weka's equal-frequency discretisation), so equal values always share a bin. A cut is the mid-point of its
    two neighbouring training values, shortened to few digits where that still separates them. Whole numbers
    are compared as whole numbers, however large. Infinity is refused. A column that holds only 0 and 1 is one
    test, unchanged and never dropped; a larger number met later counts as 1 if it is above 0.5.

    A *nominal* column (text or categories) gives one test ``x == value`` per value seen in training, in
    declared or else sorted order; with two values, only the test for the second. A *boolean* column is one
    test.

    Parameters
    ----------
    bins : int, "all" or dict, default 4
        How numeric columns are cut. A number of bins k ≥ 2 gives at most k − 1 cuts, each of them a test; "all" gives a
        cut between any two neighbouring values. A dict from column name (or index) gives one of these or a list of cut
        points for each of its columns, and 4 bins for the others.
    missing : {"error", "category", "impute"}, default "error"
        What a missing value (NaN, None, null) means. "error" refuses it. "category" makes it a value of its own: an
        extra test ``x is missing``, and false for every other test of that column. "impute" puts the training mean
        (numeric) or mode (the rest) in its place, before cutting.
    unknown : {"ignore", "error"}, default "ignore"
        What a nominal value not seen in training means. "ignore" makes all tests ``x == value`` of that column false;
        "error" refuses it. The same holds for a number other than 0 and 1 in a column that held only these.
    nominal : sequence of str or int, optional
        Names (or indices) of numeric columns whose numbers are codes, to be treated as nominal.
    max_categories : int, default 256
        The most values of a nominal column. One with more is refused, because it is usually an identifier.

    Attributes
    ----------
    tests_ : list of Test
        The tests, one for each column of the output.
    dropped_ : dict of Test to Dropped
        For each test that was left out, why, with the test that stands for it.
    attributes_ : array of int, shape (n_tests,)
        For each test, the index of its attribute among the input columns.

    Examples
    --------
    >>> X = [[29, "normal"], [54, "fixed"], [55, "normal"], [77, "reversible"]]
    >>> binarizer = Binarizer(bins=2).fit(X)
    >>> binarizer.get_feature_names_out().tolist()
    ['x0 <= 54.5', 'x1 == fixed', 'x1 == normal', 'x1 == reversible']
    >>> binarizer.transform([[60, "normal"], [40, "unseen"]]).tolist()
    [[0, 0, 1, 0], [1, 0, 0, 0]]
    """

    tests_: list[Test]
    dropped_: dict[Test, Dropped]
    attributes_: npt.NDArray[np.intp]
    n_features_in_: int

    def __init__(
        self,
        bins: int | str | Mapping[str | int, Bins] = DEFAULT_BINS,
        missing: str = "error",
        *,
        unknown: str = "ignore",
        nominal: Sequence[str | int] | None = None,
        max_categories: int = 256,
    ) -> None:
        self.bins = bins
        self.missing = missing
        self.unknown = unknown
        self.nominal = nominal
        self.max_categories = max_categories

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Choose the tests from training data.

        Parameters
        ----------
        X : array or data frame, shape (n_rows, n_columns)
            The training data.
        y : object, optional
            Ignored; it is there because scikit-learn's pipelines pass it.
        sample_weight : array of int, shape (n_rows,), optional
            Whole numbers; a weight is the same as repeating the row.

        Returns
        -------
        Binarizer
            The fitted Binarizer itself.
        """
        frame = read_frame(X)
        self._choose(frame, sample_weight)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.uint8]:
        """Fit, and transform the same rows, which are read once.

        Parameters
        ----------
        X : array or data frame, shape (n_rows, n_columns)
            The training data.
        y : object, optional
            Ignored; it is there because scikit-learn's pipelines pass it.
        sample_weight : array of int, shape (n_rows,), optional
            Whole numbers; a weight is the same as repeating the row.

        Returns
        -------
        array of uint8, shape (n_rows, n_tests)
            The outcomes of the tests, C-contiguous.
        """
        frame = read_frame(X)
        kept = self._choose(frame, sample_weight)
        return kept.matrix() if sample_weight is None else self._transform_frame(frame)

    def _choose(self, frame: Frame, sample_weight: npt.ArrayLike | None) -> Kept:
        check_columns(self, frame, reset=True)
        weights = whole_weights(sample_weight, frame.n_rows)
        if weights is not None:
            if not weights.any():
                raise DataError(
                    "sample_weight is zero for every row; at least one row needs a weight above zero"
                )
            frame, weights = frame.take(weights > 0), weights[weights > 0]
        return self._fit_encodings(frame, self._encodings_of(frame, weights))

    def transform(self, X: Any) -> npt.NDArray[np.uint8]:
        """Compute the outcomes of the tests.

        Parameters
        ----------
        X : array or data frame, shape (n_rows, n_columns)
            Data with the columns of the training data.

        Returns
        -------
        array of uint8, shape (n_rows, n_tests)
            The outcomes, C-contiguous.
        """
        check_is_fitted(self)
        frame = read_frame(X)
        check_columns(self, frame, reset=False)
        return self._transform_frame(frame)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> npt.NDArray[np.object_]:
        """Return the name of each test, such as ``age <= 54.5``.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the input columns, for data without names.

        Returns
        -------
        array of str, shape (n_tests,)
            The names.
        """
        check_is_fitted(self)
        names = None if input_features is None else [str(name) for name in input_features]
        fitted = getattr(self, "feature_names_in_", None)
        if names is not None and fitted is not None and names != list(fitted):
            raise DataError("input_features is not equal to feature_names_in_; leave it out to use those")
        if names is not None and len(names) != self.n_features_in_:
            raise DataError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), "
                f"got {len(names)}"
            )
        texts = [test.name if names is None else test.named(names[test.column]) for test in self.tests_]
        return np.asarray(texts, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # --- fitting
    # -----------------------------------------------------------------------------------------------

    def _fit_frame(self, frame: Frame, weights: npt.NDArray[np.int64] | None) -> Self:
        """Fit on columns already read, with weights above zero."""
        self._fit_encodings(frame, self._encodings_of(frame, weights))
        return self

    def _encodings_of(self, frame: Frame, weights: npt.NDArray[np.int64] | None) -> list[Encoding]:
        """All tests of every column, before any is dropped."""
        self._check_parameters()
        self._check_missing(frame)
        coded = self._nominal_columns(frame)
        bins = self._bins_by_column(frame)
        return [
            encode(
                facts_of(as_codes(column) if j in coded else column, weights, self.max_categories),
                j,
                bins.get(j, DEFAULT_BINS),
                self.missing,
            )
            for j, column in enumerate(frame.columns)
        ]

    def _fit_encodings(self, frame: Frame, encodings: list[Encoding]) -> Kept:
        """Fitted with the tests of these encodings that are not idle; their outcomes."""
        _check_size(frame.n_rows, sum(len(encoding.tests) for encoding in encodings))
        return self._finish(
            encodings,
            lambda j: outcomes(matched(frame.columns[j], encodings[j]), encodings[j]),
            frame.n_rows,
        )

    def _finish(
        self,
        encodings: list[Encoding],
        answers: Callable[[int], Iterable[npt.NDArray[np.bool_]]],
        n_rows: int,
    ) -> Kept:
        """Fitted with these encodings, without the tests that are idle: the outcomes of the others.

        ``answers(j)`` are the outcomes of column j on ``n_rows`` rows.
        """
        self.dropped_, kept = drop_idle(encodings, answers, n_rows)
        self._encodings = encodings
        self.tests_ = [test for encoding in encodings for test in encoding.tests]
        self.attributes_ = np.array([test.column for test in self.tests_], dtype=np.intp)
        return kept

    def _check_parameters(self) -> None:
        for what, value, allowed in (
            ("missing", self.missing, ("error", "category", "impute")),
            ("unknown", self.unknown, ("ignore", "error")),
        ):
            if value not in allowed:
                raise refused(
                    DataError,
                    what,
                    value,
                    says=f" is not known; expected one of {', '.join(map(repr, allowed))}",
                )
        if not isinstance(self.max_categories, numbers.Integral) or self.max_categories < 1:
            raise refused(DataError, "max_categories", self.max_categories, "a whole number of at least 1")
        if not isinstance(self.bins, Mapping):
            _check_bins(self.bins, "bins")

    def _nominal_columns(self, frame: Frame) -> set[int]:
        """The numeric columns whose numbers are codes."""
        return chosen_columns(self.nominal, frame, "nominal")

    def _bins_by_column(self, frame: Frame) -> dict[int, Bins]:
        if not isinstance(self.bins, Mapping):
            return dict.fromkeys(range(len(frame.columns)), self.bins)
        for key, value in self.bins.items():
            _check_bins(value, f"bins[{key!r}]")
        return {_index(key, frame, "bins"): value for key, value in self.bins.items()}

    def _check_missing(self, frame: Frame) -> None:
        if self.missing == "error":
            refuse_missing(frame)

    # --- applying
    # ----------------------------------------------------------------------------------------------

    def _transform_frame(self, frame: Frame) -> npt.NDArray[np.uint8]:
        """Evaluate the tests on columns already read."""
        self._check_missing(frame)
        _check_size(frame.n_rows, len(self.tests_))
        out = np.empty((frame.n_rows, len(self.tests_)), dtype=np.uint8)
        place = 0
        for column, encoding in zip(frame.columns, self._encodings, strict=True):
            given = matched(column, encoding)
            if self.unknown == "error":
                refuse_unknown(given, encoding)
            for outcome in outcomes(given, encoding):
                out[:, place] = outcome
                place += 1
        return out


def refuse_missing(frame: Frame) -> None:
    """Raise if a value is missing, and say where."""
    refuse_holes(
        [(c.name, int(np.count_nonzero(c.missing))) for c in frame.columns if c.missing is not None],
        frame.n_rows,
    )


def refuse_holes(holes: Sequence[tuple[str, int]], n_rows: int) -> None:
    """Raise if there are columns with missing values: their names, and how many."""
    if holes:
        shown = ", ".join(f"{name!r} ({count} of {n_rows} rows)" for name, count in holes[:SOME])
        more = f" and {len(holes) - SOME} more columns" if len(holes) > SOME else ""
        message = Wording(
            f"Input X contains NaN or other missing values in column {shown}{more}. Choose ",
            argument("missing", "category"),
            " to treat missing as a value of its own, ",
            argument("missing", "impute"),
            " to fill in the training mean or mode, or remove these rows or columns",
        )
        raise DataError(message, code="missing-values", parameter="missing", value="error")


def _check_bins(bins: Any, what: str) -> None:
    if isinstance(bins, str):
        good = bins == "all"
    elif isinstance(bins, numbers.Integral):
        good = not isinstance(bins, bool) and int(bins) >= 2
    elif isinstance(bins, Sequence | np.ndarray):
        good = all(isinstance(cut, numbers.Real) and math.isfinite(cut) for cut in bins)
    else:
        good = False
    if not good:
        raise refused(
            DataError,
            what,
            bins,
            "a number of bins of at least 2, 'all', or a dict from column to one "
            "of these or to a list of finite cut points",
        )


def _index(key: str | int, frame: Frame, what: str) -> int:
    """The position of a column given by name or index."""
    names = [column.name for column in frame.columns]
    if isinstance(key, str) and key in names:
        return names.index(key)
    if isinstance(key, numbers.Integral) and 0 <= key < len(names):
        return int(key)
    shown = ", ".join(map(repr, names[:SOME])) + (", …" if len(names) > SOME else "")
    message = Wording(
        Argument(what), f" names column {key!r}, which is not in X; its {len(names)} columns are {shown}"
    )
    raise DataError(message, code="unknown-column", parameter=what, value=key, expected="a column of X")


def chosen_columns(keys: Sequence[str | int] | None, frame: Frame, what: str) -> set[int]:
    if isinstance(keys, str):
        raise refused(DataError, what, keys, f"a list of columns, for example [{keys!r}]")
    return {_index(key, frame, what) for key in keys or ()}


def _check_size(n_rows: int, n_tests: int) -> None:
    if n_rows * n_tests > MAX_CELLS:
        raise DataError(
            f"{n_tests} tests on {n_rows} rows make {n_rows * n_tests} cells, more than {MAX_CELLS}; use "
            "fewer bins (bins='all' makes one test per distinct value), or fewer rows at a time"
        )


def plain_binarizer(rows: npt.NDArray[np.uint8], test_names: Sequence[str] | None) -> Binarizer:
    """A fitted Binarizer for columns that are the tests of a table themselves: 0/1, and never dropped."""
    names = None if test_names is None else tuple(test_names)
    columns = [f"x{j}" for j in range(rows.shape[1])] if names is None else list(names)
    made = Binarizer()
    check_columns(made, named_columns(columns, names), reset=True)
    encodings = [Encoding("binary", [Test(name, "is", True, j)]) for j, name in enumerate(columns)]
    made._finish(encodings, lambda j: [rows[:, j] > 0], rows.shape[0])
    return made
