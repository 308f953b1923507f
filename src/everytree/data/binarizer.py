"""From columns to tests: each attribute becomes a few 0/1 columns with names a person can read.

    numeric    x <= cut        at most k−1 cuts for k equal-frequency bins, every cut, cuts the classes choose, or given
    nominal    x == value      one test per value; one test for two values
    0/1, bool  x               as it is
    missing    x is missing    where asked for

Constant tests, and tests that equal or complement an earlier one on the training data, add nothing to any
tree and are left out; ``dropped_`` says which and why. Columns that are already 0/1 are never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from everytree.common.arguments import refused
from everytree.common.reading import looked
from everytree.data.class_cuts import facts_with_cuts
from everytree.data.cut_rules import DEFAULT_BINS, CutRules, check_size
from everytree.data.cuts import Bins
from everytree.data.encoding import (
    Dropped,
    Encoding,
    Kept,
    Test,
    drop_idle,
    encode,
    matched,
    outcomes,
    refuse_unknown,
)
from everytree.data.example_weights import ExampleWeights, example_weights
from everytree.data.facts import ColumnFacts, facts_of
from everytree.data.frames import Frame, check_columns, named_columns, read_frame
from everytree.data.labels import label_codes
from everytree.data.listed_tests import FineTests, ListedTests
from everytree.data.local_columns import LocalColumns, Reach
from everytree.data.local_encoding import encode_all_locally
from everytree.errors import DataError

__all__ = [
    "Binarizer",
    "Dropped",
    "Test",
    "attribute_names",
    "encodings_of",
    "facts_and_bins",
    "fit_encodings",
    "fit_frame",
    "fit_locally",
    "plain_binarizer",
    "reach_of_frame",
    "rules_of",
    "set_fitted",
    "set_fitted_locally",
    "transform_frame",
]


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
    bins : int, "all", "mdl", "boosted" or dict, default 4
        How numeric columns are cut. A number of bins k ≥ 2 gives at most k − 1 cuts, each of them a test; "all" gives a
        cut between any two neighbouring values. Two words let the classes choose, so that ``fit`` needs ``y``: "mdl"
        cuts a column where a cut pays for its description (Fayyad and Irani 1993), perhaps nowhere; "boosted" takes
        the 40 cuts, of all columns together, that a small boosted ensemble of scikit-learn gains most by. A dict from
        column name (or index) gives one of these or a list of cut points for each of its columns, and 4 bins for the
        others.
    missing : {"error", "category", "impute"}, default "category"
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
    cuts : {"global", "local"}, default "global"
        Who chooses the cuts of numeric columns. "global" chooses them once, from all rows. With "local" every node of a
        tree cuts its own rows into ``bins`` bins; the tests are then all cuts that a node might choose: one between any
        two neighbouring values, or between 255 equal-frequency bins where there are more values (with ``bins="all"``
        between all of them). Tests that are equal in the training data then all stay.

    Attributes
    ----------
    tests_ : sequence of Test
        The tests, one for each column of the output; with ``cuts="local"`` they are made when they are first read.
    dropped_ : dict of Test to Dropped
        For each test that was left out, why, with the test that stands for it.
    attributes_ : array of int, shape (n_tests,)
        For each test, the index of its attribute among the input columns.
    encodings_ : list of Encoding
        How each input column is encoded: its kind, its tests, and what stands for a missing value.
    saw_classes_ : bool
        Whether the classes of the training rows chose cuts. Leaving out an example is then no test of a model, as its
        class is in the cuts, and leave-one-out questions are refused.
    columns_ : LocalColumns or None
        Which tests belong to which column, and where nodes cut, with ``cuts="local"``; else None.

    Examples
    --------
    >>> X = [[29, "normal"], [54, "fixed"], [55, "normal"], [77, "reversible"]]
    >>> binarizer = Binarizer(bins=2).fit(X)
    >>> binarizer.get_feature_names_out().tolist()
    ['x0 <= 54.5', 'x1 == fixed', 'x1 == normal', 'x1 == reversible']
    >>> binarizer.transform([[60, "normal"], [40, "unseen"]]).tolist()
    [[0, 0, 1, 0], [1, 0, 0, 0]]
    >>> Binarizer(bins="mdl").fit([[x] for x in range(20)], [0] * 8 + [1] * 12).get_feature_names_out().tolist()
    ['x0 <= 7.5']
    """

    tests_: Sequence[Test]
    dropped_: dict[Test, Dropped]
    attributes_: npt.NDArray[np.intp]
    encodings_: list[Encoding]
    columns_: LocalColumns | None
    saw_classes_: bool
    n_features_in_: int

    def __init__(
        self,
        bins: int | str | Mapping[str | int, Bins] = DEFAULT_BINS,
        missing: str = "category",
        *,
        unknown: str = "ignore",
        nominal: Sequence[str | int] | None = None,
        max_categories: int = 256,
        cuts: str = "global",
    ) -> None:
        self.bins = bins
        self.missing = missing
        self.unknown = unknown
        self.nominal = nominal
        self.max_categories = max_categories
        self.cuts = cuts

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Choose the tests from training data.

        Parameters
        ----------
        X : array or data frame, shape (n_rows, n_columns)
            The training data.
        y : array of shape (n_rows,), optional
            The classes; needed where they choose cuts (``bins="mdl"`` or ``"boosted"``), and otherwise ignored.
        sample_weight : array of numbers, shape (n_rows,), optional
            How much each row counts: 3 is the same as giving it three times, 0.5 half of that of a row, 0 none.

        Returns
        -------
        Binarizer
            The fitted Binarizer itself.
        """
        frame = read_frame(X)
        self._choose(frame, y, sample_weight)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.uint8]:
        """Fit, and transform the same rows, which are read once.

        Parameters
        ----------
        X : array or data frame, shape (n_rows, n_columns)
            The training data.
        y : array of shape (n_rows,), optional
            The classes; needed where they choose cuts (``bins="mdl"`` or ``"boosted"``), and otherwise ignored.
        sample_weight : array of numbers, shape (n_rows,), optional
            How much each row counts: 3 is the same as giving it three times, 0.5 half of that of a row, 0 none.

        Returns
        -------
        array of uint8, shape (n_rows, n_tests)
            The outcomes of the tests, C-contiguous.
        """
        frame = read_frame(X, self)
        kept = self._choose(frame, y, sample_weight)
        return transform_frame(self, frame) if kept is None or sample_weight is not None else kept.matrix()

    def _choose(self, frame: Frame, y: Any, sample_weight: npt.ArrayLike | None) -> Kept | None:
        check_columns(self, frame, reset=True)
        weights, rules, codes = example_weights(sample_weight, frame.n_rows), rules_of(self), None
        rules.check()
        if rules.by_classes:
            if y is None:
                raise refused(
                    DataError,
                    "bins",
                    rules.by_classes,
                    says=" chooses cuts by the classes, and y is None (requires y to be passed); call fit(X, y)",
                )
            codes = label_codes(y, frame.n_rows, None)[0]
        if weights is not None:
            used = weights.used
            frame, weights = frame.take(used), weights.of(used)
            codes = None if codes is None else codes[used]
        if self.cuts == "local":
            fit_locally(self, frame, weights)
            return None
        return fit_frame(self, frame, encodings_of(rules, frame, weights, codes))

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
        frame = read_frame(X, self)
        check_columns(self, frame, reset=False)
        return transform_frame(self, frame)

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


def attribute_names(binarizer: Binarizer) -> list[str]:
    """The name of the column that each test is of."""
    names: list[str] = []
    for encoding in binarizer.encodings_:
        tests = encoding.tests
        if tests:
            name = tests.attribute if isinstance(tests, FineTests) else tests[0].attribute
            names += [str(name)] * len(tests)
    return names


def rules_of(binarizer: Binarizer) -> CutRules:
    """The parameters of a Binarizer as rules."""
    return CutRules(
        binarizer.bins,
        binarizer.missing,
        binarizer.unknown,
        binarizer.nominal,
        binarizer.max_categories,
        cuts=binarizer.cuts,
    )


def encodings_of(
    rules: CutRules,
    frame: Frame,
    weights: ExampleWeights | None,
    classes: npt.NDArray[np.intp] | None = None,
) -> list[Encoding]:
    """All tests of every column, before any is dropped; weights are above zero.

    ``classes`` are the numbers of the rows' classes; they play a part only where classes choose cuts.
    """
    facts, bins = facts_and_bins(rules, frame, weights)
    if rules.by_classes:
        assert classes is not None
        facts = facts_with_cuts(rules, frame, facts, bins, classes, weights)
    return [encode(each, j, bins[j], rules.missing) for j, each in enumerate(looked(facts))]


def facts_and_bins(
    rules: CutRules, frame: Frame, weights: ExampleWeights | None
) -> tuple[list[ColumnFacts], list[Bins]]:
    """What the tests of every column are made of, and how each is cut; weights are above zero."""
    rules.check()
    rules.check_missing(frame)
    coded = rules.coded_columns(frame)
    counts = None if weights is None else weights.counts
    facts = [
        facts_of(column.as_nominal() if j in coded else column, counts, rules.max_categories)
        for j, column in enumerate(looked(frame.columns))
    ]
    return facts, rules.bins_of(frame)


def fit_locally(binarizer: Binarizer, frame: Frame, weights: ExampleWeights | None) -> LocalColumns:
    """Fit with all tests that any state might ask; weights are above zero."""
    facts, bins = facts_and_bins(rules_of(binarizer), frame, weights)
    return set_fitted_locally(binarizer, *encode_all_locally(facts, bins, binarizer.missing))


def set_fitted_locally(
    binarizer: Binarizer,
    encodings: list[Encoding],
    dropped: dict[Test, Dropped],
    like: LocalColumns | None = None,
) -> LocalColumns:
    """The fitted attributes of a Binarizer with local cuts, all but those of its columns.

    ``like`` are columns with the same codes in the same places, whose cuts are then found once for both.
    """
    set_fitted(binarizer, encodings, dropped, ListedTests([encoding.tests for encoding in encodings]))
    made = binarizer.columns_ = LocalColumns.of(encodings, like)
    return made


def fit_frame(
    binarizer: Binarizer, frame: Frame, encodings: list[Encoding], memory_limit: int | None = None
) -> Kept:
    """Fit with the tests of these encodings that are not idle on a frame; the outcomes of the tests that stay."""
    check_size(frame.n_rows, sum(len(encoding.tests) for encoding in encodings), memory_limit)
    return fit_encodings(
        binarizer,
        encodings,
        lambda j: outcomes(matched(frame.columns[j], encodings[j]), encodings[j]),
        frame.n_rows,
    )


def fit_encodings(
    binarizer: Binarizer,
    encodings: list[Encoding],
    answers: Callable[[int], Iterable[npt.NDArray[np.bool_]]],
    n_rows: int,
) -> Kept:
    """Fit with the tests of these encodings that are not idle: the outcomes of the tests that stay.

    ``answers(j)`` are the outcomes of column j on ``n_rows`` rows.
    """
    dropped, kept = drop_idle(encodings, answers, n_rows)
    set_fitted(binarizer, encodings, dropped)
    return kept


def set_fitted(
    binarizer: Binarizer,
    encodings: list[Encoding],
    dropped: dict[Test, Dropped],
    tests: Sequence[Test] | None = None,
) -> None:
    """The fitted attributes of a Binarizer, all but those of its columns; ``tests`` are those of the encodings."""
    binarizer.encodings_ = encodings
    binarizer.dropped_ = dropped
    listed = [test for encoding in encodings for test in encoding.tests] if tests is None else tests
    binarizer.tests_ = listed
    n_tests = [len(encoding.tests) for encoding in encodings]
    binarizer.attributes_ = np.repeat(np.arange(len(encodings), dtype=np.intp), n_tests)
    binarizer.columns_ = None
    binarizer.saw_classes_ = rules_of(binarizer).by_classes is not None


def transform_frame(binarizer: Binarizer, frame: Frame) -> npt.NDArray[np.uint8]:
    """Evaluate the tests on columns already read and checked."""
    rules_of(binarizer).check_missing(frame)
    check_size(frame.n_rows, len(binarizer.tests_))
    if binarizer.columns_ is not None:
        _refuse_unknown(binarizer, frame)
        return binarizer.columns_.rows(binarizer.columns_.codes(frame))
    out = np.empty((frame.n_rows, len(binarizer.tests_)), dtype=np.uint8)
    place = 0
    for column, encoding in zip(frame.columns, binarizer.encodings_, strict=True):
        given = matched(column, encoding)
        if binarizer.unknown == "error":
            refuse_unknown(given, encoding)
        for outcome in outcomes(given, encoding):
            out[:, place] = outcome
            place += 1
    return out


def reach_of_frame(binarizer: Binarizer, frame: Frame) -> Reach:
    """How far the rows of columns already read and checked reach, for a Binarizer with local cuts."""
    assert binarizer.columns_ is not None
    rules_of(binarizer).check_missing(frame)
    check_size(frame.n_rows, 2 * len(binarizer.tests_))
    _refuse_unknown(binarizer, frame)
    return binarizer.columns_.reach(frame)


def _refuse_unknown(binarizer: Binarizer, frame: Frame) -> None:
    """Raise if a column holds a value that its tests were not made for, where that is to be refused."""
    if binarizer.unknown == "error":
        for column, encoding in zip(frame.columns, binarizer.encodings_, strict=True):
            refuse_unknown(matched(column, encoding), encoding)


def plain_binarizer(rows: npt.NDArray[np.uint8], test_names: Sequence[str] | None) -> Binarizer:
    """A fitted Binarizer for columns that are the tests of a table themselves: 0/1, and never dropped."""
    names = None if test_names is None else tuple(test_names)
    columns = [f"x{j}" for j in range(rows.shape[1])] if names is None else list(names)
    made = Binarizer()
    check_columns(made, named_columns(columns, names), reset=True)
    encodings = [Encoding("binary", [Test(name, "is", True, j)]) for j, name in enumerate(columns)]
    fit_encodings(made, encodings, lambda j: [rows[:, j] > 0], rows.shape[0])
    return made
