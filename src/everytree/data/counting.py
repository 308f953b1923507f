"""From data in an engine to a table of tests: a few small queries, then one GROUP BY.

    facts, values, ranges   →  the tests that ``Binarizer.fit`` would have chosen from the same rows
    one code per column     →  GROUP BY all codes and the label  →  counts
    codes                   →  the outcomes of the tests          →  CountedRows

A code is a value, a 0/1, or for numbers how many of the cuts they do not exceed. The table and the fitted Binarizer are
those of the same rows in memory: nothing is approximate, and the engine plays no part in any choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused
from everytree.common.limits import Limits, in_bytes
from everytree.data.binarizer import Binarizer, fit_encodings, rules_of, set_fitted_locally
from everytree.data.counted_rows import CountedRows
from everytree.data.cut_rules import check_size, refuse_holes
from everytree.data.cuts import Bins, distinct_numbers, given_cuts
from everytree.data.encoding import Dropped, Encoding, Kept, Test, encode
from everytree.data.facts import ColumnFacts, check_categories, ordered
from everytree.data.fine_codes import FINE, FineCodes, codes_between, codes_of_cuts, codes_of_values
from everytree.data.frames import check_columns, named_columns
from everytree.data.labels import read_labels
from everytree.data.lazy import LazyColumn, LazyData, N, Y, one_message, one_where
from everytree.data.local_columns import NOMINAL, LocalColumns
from everytree.data.local_encoding import encode_locally
from everytree.data.quantiles import exact_bins, exact_cuts
from everytree.data.shortened import choose_cuts
from everytree.errors import DataError

__all__ = ["count_frame"]

MOST_LABELS = 1 << 12
MOST_VALUES = 1 << 26  # distinct numbers that are brought here for a mean
MOST_CUTS = 1 << 12  # of one column, with bins="all"
GONE = -1  # the code of a missing value


@one_message()
def count_frame(
    frame: Any,
    target: str,
    binarizer: Binarizer,
    *,
    weight: str | None = None,
    columns: Sequence[str] | None = None,
    like: CountedRows | None = None,
    unlabelled: str = "error",
    memory_limit: int | None = None,
) -> CountedRows:
    """The table of the rows of ``frame``; see ``Table.from_frame``.

    ``unlabelled="drop"`` leaves rows without a label out; ``like`` is a table whose tests and classes are to be used.
    """
    rules_of(binarizer).check()
    if unlabelled not in ("error", "drop"):
        raise refused(DataError, "unlabelled", unlabelled, '"error" or "drop"')
    if like is not None:
        if like.binarizer is None or like.classes is None:
            raise DataError("like is a table that does not know its columns; give one of Table.from_frame")
        binarizer = like.binarizer
        columns = binarizer_names(binarizer) if columns is None else columns
    data = LazyData(frame, target, weight, columns, binarizer.nominal)
    if not data.columns:
        raise DataError("the frame has no column beside target and weight; a table needs at least one")
    labels = _labels(data, target, unlabelled, like)
    if unlabelled == "drop":
        data.drop_unlabelled()
    total, facts = data.facts()
    if binarizer.missing == "error":
        refuse_holes(
            [(fact.name, fact.absent) for fact in facts if fact.absent],
            total,
        )
    dropped: dict[Test, Dropped] = {}
    local = binarizer.cuts == "local"
    if like is None:
        frame_of_names = named_columns(data.names, data.names)
        rules_of(binarizer).refuse_classes("inside an engine")
        bins = rules_of(binarizer).bins_of(frame_of_names)
        encodings = []
        for j, (column, fact) in enumerate(zip(data.columns, facts, strict=True)):
            known = _facts(data, column, fact, bins[j], binarizer)
            if local:
                encodings.append(encode_locally(known, j, bins[j], binarizer.missing, dropped))
            else:
                encodings.append(encode(known, j, bins[j], binarizer.missing))
        check_columns(binarizer, frame_of_names, reset=True)
    else:
        check_columns(binarizer, named_columns(data.names, data.names), reset=False)
        encodings = binarizer.encodings_
        for column, fact, encoding in zip(data.columns, facts, encodings, strict=True):
            _check_kind(column, fact, encoding)
    n_tests = sum(len(encoding.tests) for encoding in encodings)
    limit = Limits(memory_limit=memory_limit).memory
    most = limit // (24 * (len(encodings) + 2) + 3 * n_tests + 8 * len(labels))
    if most < 1:
        raise DataError(f"memory_limit={in_bytes(limit)} is too small for one row of {n_tests} tests")
    keys = [
        _code(column, fact, encoding)
        for column, fact, encoding in zip(data.columns, facts, encodings, strict=True)
    ]
    grouped = data.groups(keys, most)
    codes = [
        _codes(grouped.column(f"k{j}"), column, encoding, binarizer.unknown)
        for j, (column, encoding) in enumerate(zip(data.columns, encodings, strict=True))
    ]

    def answers(j: int) -> Iterator[npt.NDArray[np.bool_]]:
        return _answers(codes[j], encodings[j])

    n_groups = grouped.num_rows
    found = dict(zip(labels, range(len(labels)), strict=True))
    y_codes = np.array([found[label] for label in grouped.column(Y).to_pylist()], dtype=np.intp)
    if local:
        columns_ = set_fitted_locally(binarizer, encodings, dropped) if like is None else binarizer.columns_
        assert columns_ is not None
        table = CountedRows.from_codes(
            columns_,
            _local_codes(columns_, codes),
            y_codes,
            len(labels),
            grouped.column(N).to_numpy(),
            test_names=binarizer.get_feature_names_out().tolist(),
            classes=labels,
        )
        return table.encoded(binarizer, target)
    if like is None:
        kept = fit_encodings(binarizer, encodings, answers, n_groups)
    else:
        kept = Kept(n_groups)
        for outcome in chain.from_iterable(map(answers, range(len(codes)))):
            kept.append(*Kept.packed(outcome))
    check_size(n_groups, len(binarizer.tests_))
    bits = kept.matrix()
    table = CountedRows.from_arrays(
        bits,
        y_codes,
        len(labels),
        grouped.column(N).to_numpy(),
        test_names=binarizer.get_feature_names_out().tolist(),
        classes=labels,
    )
    return table.encoded(binarizer, target)


def binarizer_names(binarizer: Binarizer) -> list[str]:
    """The names of the columns that a fitted Binarizer reads."""
    named = getattr(binarizer, "feature_names_in_", None)
    return [f"x{j}" for j in range(binarizer.n_features_in_)] if named is None else [str(n) for n in named]


def _labels(data: LazyData, target: str, unlabelled: str, like: CountedRows | None) -> list[Any]:
    """The labels in order."""
    values, gone = data.labels(MOST_LABELS)
    if gone and unlabelled == "error":
        raise DataError(
            f"Input y contains NaN or None: {gone} labels of {target!r} are missing; remove these rows, or leave them "
            'out with unlabelled="drop"'
        )
    if len(values) > MOST_LABELS:
        raise refused(
            DataError,
            "target",
            target,
            says=f" has more than {MOST_LABELS} different values; expected classes, cut a number first",
        )
    if not values:
        raise DataError("the frame holds 0 examples with a label; a table needs at least one row")
    held = np.empty(len(values), dtype=object)
    held[:] = values
    labels: list[Any] = np.unique(read_labels(held, len(values))).tolist()
    if like is None:
        return labels
    known = list(like.classes or ())
    new = [label for label in labels if label not in set(known)]
    if new:
        raise refused(
            DataError,
            "target",
            target,
            says=f" holds the label {new[0]!r}, which the table to add to does not have; count all rows "
            "together, or leave these out",
        )
    return known


# --- which tests


def _facts(
    data: LazyData, column: LazyColumn, facts: ColumnFacts, bins: Bins, binarizer: Binarizer
) -> ColumnFacts:
    """All that the tests of one column are made of; values are asked for only where nothing less will do."""
    name, impute = column.name, binarizer.missing == "impute"
    if facts.kind == "empty":
        return facts
    if facts.kind == "nominal":
        listed, counts = data.values(column, binarizer.max_categories)
        check_categories(name, len(listed), f"{facts.present} rows", binarizer.max_categories)
        n_of = dict(zip(listed, counts, strict=True))
        values = ordered(n_of, facts.categories)
        return replace(facts, values=values, counts=np.array([n_of[value] for value in values]))
    if facts.only_01:
        n_of = dict(zip(*data.values(column, 4), strict=True)) if impute else {}
        return replace(facts, counts=np.array([n_of.get(0, 0), n_of.get(1, 0)]))
    assert facts.extremes is not None
    low, high = facts.extremes
    if binarizer.cuts == "local" and not impute and low != high:
        return replace(facts, fine=_fine(data, column, facts, bins))
    if impute or (isinstance(bins, str) and low != high):
        most = MOST_VALUES if impute else MOST_CUTS
        listed, counts = data.values(column, most)
        if len(listed) > most:
            why = "missing='impute' needs their mean" if impute else "bins='all' makes a test of each"
            raise DataError(
                f"column {name!r} has more than {most} different numbers, and {why}; give a number of bins or the cut "
                "points, or treat missing values in another way"
            )
        points, sums = distinct_numbers(np.array(listed, column.numbers), np.array(counts, np.int64))
        return replace(facts, values=points, counts=sums)
    if binarizer.cuts == "local":
        return replace(
            facts, values=np.array([low], column.numbers), counts=np.array([facts.present], np.int64)
        )
    if isinstance(bins, int | np.integer) and low != high:
        cuts = exact_cuts(
            lambda low, high, plain: data.ranges(column, low, high, plain),
            low,
            high,
            facts.present,
            int(bins),
        )
    else:
        cuts = choose_cuts(np.array([low], column.numbers), np.array([facts.present], np.int64), bins)
    return replace(facts, cuts=cuts)


def _fine(data: LazyData, column: LazyColumn, facts: ColumnFacts, bins: Bins) -> FineCodes:
    """The fine codes of a numeric column of several values: those of ``codes_of_values`` for all of them."""
    assert facts.extremes is not None
    low, high = facts.extremes
    given = given_cuts(bins)
    if not isinstance(bins, str | int | np.integer):
        tests = [Test(column.name, "<=", cut, 0) for cut in given]
        grouped = data.groups([_code(column, facts, Encoding("numeric", tests))], MOST_VALUES)
        passed = np.asarray(grouped.column("k0").to_numpy()).astype(np.intp)
        return codes_of_cuts(low, high, given, len(given) - passed[passed != GONE])
    most = MOST_CUTS if isinstance(bins, str) else FINE
    listed, counts = data.values(column, most)
    if len(listed) <= most:
        points, sums = distinct_numbers(np.array(listed, column.numbers), np.array(counts, np.int64))
        return codes_of_values(column.name, points, sums, bins)
    if isinstance(bins, str):
        raise DataError(
            f"column {column.name!r} has more than {most} different numbers, and bins='all' makes a test of each; "
            "give a number of bins or the cut points"
        )
    lows, highs = exact_bins(
        lambda low, high, plain: data.ranges(column, low, high, plain), low, high, facts.present, FINE
    )
    return codes_between(column.name, lows, highs, int(bins))


def _check_kind(column: LazyColumn, facts: ColumnFacts, encoding: Encoding) -> None:
    """Refuse a column that changed its kind since the tests were made."""
    if facts.kind == "empty" or encoding.kind == "empty":
        return
    if (encoding.codes is not None) != (column.kind == "nominal"):
        was, now = ("text", "numbers") if encoding.codes is not None else ("numbers", "text")
        raise DataError(
            f"column {column.name!r} held {was} when the tests were made and holds {now} now; convert it to the type "
            "it had"
        )


# --- codes in the engine, outcomes here


def _code(column: LazyColumn, facts: ColumnFacts, encoding: Encoding) -> nw.Expr:
    """The expression that tells apart what the tests tell apart."""
    value = nw.col(column.key)
    if facts.kind == "empty" or encoding.kind == "empty":
        return nw.when(value.is_null()).then(nw.lit(GONE, nw.Int64)).otherwise(nw.lit(0, nw.Int64))
    if column.kind == "nominal":
        return value
    if encoding.kind == "binary":
        passed = one_where(value > 0)
    else:
        passed = _sum(
            [_at_most(value, test.value, column, facts) for test in encoding.tests if test.op == "<="]
        )
    return nw.when(value.is_null()).then(nw.lit(GONE, nw.Int64)).otherwise(passed)


def _at_most(value: nw.Expr, cut: float | int, column: LazyColumn, facts: ColumnFacts) -> nw.Expr:
    """1 where ``value <= cut``, in whole numbers where the column is whole, as in memory."""
    bound = cut if column.numbers == "float64" else math.floor(cut)
    assert facts.extremes is not None
    low, high = facts.extremes
    if bound >= high or bound < low:  # also so that no engine meets a number it cannot hold
        return nw.lit(int(bound >= high), nw.Int64)
    return one_where(value <= bound)


def _sum(terms: list[nw.Expr]) -> nw.Expr:
    """A balanced sum: engines limit the depth of an expression."""
    if not terms:
        return nw.lit(0, nw.Int64)
    while len(terms) > 1:
        terms = [terms[i] + terms[i + 1] if i + 1 < len(terms) else terms[i] for i in range(0, len(terms), 2)]
    return terms[0]


def _codes(keys: Any, column: LazyColumn, encoding: Encoding, unknown: str) -> npt.NDArray[np.intp]:
    """The code of each group: that of a value, −1 for a missing one; −2 for a value without tests."""
    if column.kind != "nominal" or encoding.codes is None:
        return np.asarray(keys.to_numpy()).astype(np.intp)
    import pyarrow as pa

    encoded = keys.combine_chunks().dictionary_encode() if isinstance(keys, pa.ChunkedArray) else keys
    values = encoded.dictionary.to_pylist()
    new = [value for value in values if value not in encoding.codes]
    if new and unknown == "error":
        raise DataError(
            f"column {column.name!r} holds values not seen during fit, such as {new[0]!r}. Use unknown='ignore' to "
            "make every test on such a value false"
        )
    place = np.array([encoding.codes.get(value, -2) for value in values] + [GONE], dtype=np.intp)
    codes: npt.NDArray[np.intp] = place[encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)]
    return codes


def _local_codes(columns: LocalColumns, codes: list[npt.NDArray[np.intp]]) -> npt.NDArray[np.int32]:
    """The codes of the groups as ``LocalColumns`` has them, from how many cuts they do not exceed, and from places."""
    out = np.empty((codes[0].size, len(columns.columns)), dtype=np.int32)
    for k, column in enumerate(columns.columns):
        encoding, here = columns.encodings[column.column], codes[column.column]
        missing = here == GONE
        if column.kind == NOMINAL:
            place = np.where(here < 0, column.n_codes + 1, here)
        elif encoding.codes is not None:
            place = (here != encoding.codes[encoding.tests[0].value]).astype(np.intp)
        elif column.fine is None:
            place = (here <= 0).astype(np.intp)
        else:  # the groups tell how many cuts a number does not exceed
            place = column.n_codes - 1 - here
        out[:, k] = np.where(missing, columns.missing_code(column), place)
    return out


def _answers(codes: npt.NDArray[np.intp], encoding: Encoding) -> Iterator[npt.NDArray[np.bool_]]:
    """The outcomes of the tests of one column on the groups."""
    missing = codes == GONE
    n_cuts = sum(test.op == "<=" for test in encoding.tests)
    for i, test in enumerate(encoding.tests):
        if test.op == "is" and test.value == "missing":
            yield missing
            continue
        if encoding.codes is not None:
            outcome = codes == encoding.codes[test.value]
        elif test.op == "is":
            outcome = codes > 0
        else:  # cuts ascend, so a number that does not exceed k of them does not exceed the last k
            outcome = codes >= n_cuts - i
        if encoding.fill is not None:
            outcome = np.where(missing, test.holds(encoding.fill), outcome)
        else:
            outcome = outcome & ~missing
        yield outcome
