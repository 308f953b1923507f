"""The part of a model file that turns a raw row into 0/1 tests: the fitted Binarizer as JSON, and back.

    columns   one per column of the input   {"name", "kind", "values", "fill"}
    tests     one per 0/1 column            {"column", "kind", "value"}
    dropped   tests left out                the same, with "reason" and "kept", the index of the test for it

Where nodes choose their own cuts, "encoding" has "cuts": "local", and a numeric column has "fine": the least and the
greatest value of each of its codes, the bins of a node, and whether the cut points were given. Where the classes chose
cuts, "encoding" has "saw_classes": true.

A test is of one of four kinds:

    threshold   x <= value       of a numeric column
    equals      x == value       of a nominal column
    identity    x > 0.5          of a binary column
    missing     x is missing     of any column
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from everytree.common.fields import checked_number, checked_scalar, scalar_to_json
from everytree.common.text import clip
from everytree.data.binarizer import Binarizer, set_fitted, set_fitted_locally
from everytree.data.encoding import Dropped, Encoding, Test
from everytree.data.fine_codes import FineCodes
from everytree.errors import DataError

__all__ = ["Encoded", "columns_from_json", "columns_to_json"]

COLUMN_KINDS = {
    "numeric": ("threshold", "missing"),
    "nominal": ("equals", "missing"),
    "binary": ("identity", "missing"),
    "empty": ("missing",),
}
CHOICES = {"missing": ("error", "category", "impute"), "unknown": ("ignore", "error")}


class Encoded(Protocol):
    """Whatever stands on a fitted Binarizer: a classifier, or a table."""

    binarizer_: Binarizer
    n_features_in_: int
    feature_names_in_: Any

    def new_binarizer(self) -> Binarizer:
        """An unfitted Binarizer with the parameters of this model."""


# --- writing


def columns_to_json(model: Encoded) -> dict[str, Any]:
    """The fields encoding, columns, tests and dropped of a model file."""
    binarizer = model.binarizer_
    named = getattr(model, "feature_names_in_", None)
    names = [f"x{j}" for j in range(model.n_features_in_)] if named is None else [str(name) for name in named]
    place = {id(test): i for i, test in enumerate(binarizer.tests_)}
    place_of = {test: i for i, test in enumerate(binarizer.tests_)}
    columns = []
    for name, encoding in zip(names, binarizer.encodings_, strict=True):
        values = None if encoding.codes is None else [scalar_to_json(value, name) for value in encoding.codes]
        fill = None if encoding.fill is None else scalar_to_json(encoding.fill, name)
        columns.append({"name": name, "kind": encoding.kind, "values": values, "fill": fill})
        if encoding.fine is not None:
            columns[-1]["fine"] = _fine_to_json(encoding.fine)
    dropped = [
        _test_to_json(test)
        | {
            "reason": why.reason,
            "kept": None if why.kept is None else place.get(id(why.kept), place_of.get(why.kept)),
        }
        for test, why in binarizer.dropped_.items()
    ]
    choices = {
        "missing": binarizer.missing,
        "unknown": binarizer.unknown,
        "named_columns": named is not None,
    }
    if binarizer.columns_ is not None:
        choices |= {"cuts": "local"}
    if binarizer.saw_classes_:
        choices |= {"saw_classes": True}
    return {
        "encoding": choices,
        "columns": columns,
        "tests": [_test_to_json(test) for test in binarizer.tests_],
        "dropped": dropped,
    }


def _test_to_json(test: Test) -> dict[str, Any]:
    kind = {"<=": "threshold", "==": "equals"}.get(test.op)
    if kind is None:
        kind = "identity" if test.value is True else "missing"
    value = None if test.op == "is" else scalar_to_json(test.value, test.attribute)
    return {"column": test.column, "kind": kind, "value": value}


def _fine_to_json(fine: FineCodes) -> dict[str, Any]:
    return {
        "low": fine.low.tolist(),
        "high": fine.high.tolist(),
        "bins": fine.bins,
        "given": fine.cuts is not None,
    }


# --- reading


def columns_from_json(data: dict[str, Any], model: Encoded) -> None:
    """Set ``binarizer_``, ``n_features_in_`` and ``feature_names_in_`` from the fields of a model file."""
    choices = data["encoding"]
    if not isinstance(choices, dict) or set(choices) - {"cuts", "saw_classes"} != {*CHOICES, "named_columns"}:
        raise DataError(
            f"encoding is {clip(choices)}; expected an object with missing, unknown and named_columns"
        )
    local = "cuts" in choices
    if local and choices["cuts"] != "local":
        raise DataError(f"encoding.cuts is {clip(choices['cuts'])}; expected local, or nothing")
    if local != (getattr(model, "cuts", "global") == "local"):
        raise DataError(
            f"encoding.cuts is {clip(choices.get('cuts', 'global'))}; expected the same as params.cuts"
        )
    saw = choices.get("saw_classes", False)
    if saw is not ("saw_classes" in choices) or (local and saw):
        raise DataError(f"encoding.saw_classes is {clip(saw)}; expected true for global cuts, or nothing")
    for key, allowed in CHOICES.items():
        if choices[key] not in allowed:
            raise DataError(f"encoding.{key} is {clip(choices[key])}; expected one of {', '.join(allowed)}")
        if getattr(model, key, choices[key]) != choices[key]:
            raise DataError(f"encoding.{key} is {clip(choices[key])}; expected the same as params.{key}")
    named = choices["named_columns"]
    if not isinstance(named, bool):
        raise DataError(f"encoding.named_columns is {clip(named)}; expected true or false")
    names, encodings = _columns_from(data["columns"], local)
    tests = _tests_from(data["tests"], names, encodings, "tests")
    asked: list[list[Test]] = [[] for _ in names]
    for i, test in enumerate(tests):
        if i and test.column < tests[i - 1].column:
            raise DataError(
                f"tests[{i}].column is {test.column}; expected tests in the order of their columns"
            )
        asked[test.column].append(test)
    for encoding, own in zip(encodings, asked, strict=True):
        encoding.tests = own

    binarizer = model.new_binarizer()
    binarizer.missing, binarizer.unknown = choices["missing"], choices["unknown"]
    dropped = _dropped_from(data["dropped"], names, encodings, tests)
    if local:
        for j, encoding in enumerate(encodings):
            _check_codes(encoding, f"columns[{j}]")
        set_fitted_locally(binarizer, encodings, dropped)
    else:
        set_fitted(binarizer, encodings, dropped)
        binarizer.saw_classes_ |= saw
    for fitted in (binarizer, model):
        fitted.n_features_in_ = len(names)
        if named:
            fitted.feature_names_in_ = np.array(names, dtype=object)
    model.binarizer_ = binarizer


def _check_codes(encoding: Encoding, path: str) -> None:
    """Refuse tests of a column that are not all that any node might ask, in their order."""
    tests = encoding.tests
    cuts = [test for test in tests if test.op != "is" or test.value is True]
    if encoding.fine is not None:
        if [test.value for test in cuts] != encoding.fine.neighbours():
            raise DataError(
                f"{path}.fine does not fit the thresholds of its tests; expected the cuts between its codes"
            )
    elif encoding.codes is not None:
        listed, asked = list(encoding.codes), [test.value for test in cuts]
        if asked not in (listed, listed[1:] if len(listed) == 2 else [], []):
            raise DataError(f"{path}.values are not those of its tests; expected a test for each")
    elif encoding.kind == "binary" and len(cuts) != 1:
        raise DataError(f"{path} has {len(cuts)} tests; expected one of a binary column")
    if [test for test in tests if test not in cuts] != tests[len(cuts) :] or len(tests) > len(cuts) + 1:
        raise DataError(f"{path} has a test of missing values in the wrong place; expected one, the last")


def _fine_from(fine: Any, path: str) -> FineCodes:
    """The fine codes of a numeric column: ascending ranges that do not overlap."""
    if not isinstance(fine, dict) or set(fine) != {"low", "high", "bins", "given"}:
        raise DataError(f"{path} is {clip(fine)}; expected an object with low, high, bins and given")
    bins, given = fine["bins"], fine["given"]
    if (
        isinstance(bins, bool)
        or not isinstance(bins, int)
        or bins < 0
        or bins == 1
        or not isinstance(given, bool)
    ):
        raise DataError(
            f"{path}.bins is {clip(bins)} and given {clip(given)}; expected a number and a truth value"
        )
    ends = []
    for key in ("low", "high"):
        values = fine[key]
        if not isinstance(values, list) or not values:
            raise DataError(f"{path}.{key} is {clip(values)}; expected a list of numbers")
        numbers = [checked_number(value, f"{path}.{key}[{i}]") for i, value in enumerate(values)]
        whole = all(isinstance(number, int) for number in numbers)
        if whole and not -(2**63) <= min(numbers) <= max(numbers) < 2**64:
            raise DataError(f"{path}.{key} holds whole numbers beyond 64 bits; expected smaller ones")
        kind = float if not whole else np.int64 if max(numbers) < 2**63 else np.uint64
        ends.append(np.array(numbers, dtype=kind))
    low, high = ends
    if low.size != high.size or low.dtype != high.dtype:
        kinds = {low.dtype, high.dtype}
        if low.size != high.size or kinds != {np.dtype(np.int64), np.dtype(np.uint64)}:
            raise DataError(f"{path}.low and high are not of one length and one type; expected the same")
        low, high = low.astype(np.uint64), high.astype(np.uint64)
    if given:
        if bins or low.dtype.kind != "f" or (low[1:] != high[:-1]).any() or (low > high).any():
            raise DataError(
                f"{path} is not made of cut points that were given; expected them in low and high"
            )
        return FineCodes(low, high, 0, tuple(low[1:].tolist()))
    if (low > high).any() or (high[:-1] >= low[1:]).any():
        raise DataError(f"{path} holds ranges that overlap; expected low <= high, in ascending order")
    return FineCodes(low, high, bins)


def _columns_from(columns: Any, local: bool) -> tuple[list[str], list[Encoding]]:
    if not isinstance(columns, list) or not columns:
        raise DataError(f"columns is {clip(columns)}; expected a list with at least one column")
    names: list[str] = []
    encodings: list[Encoding] = []
    for j, column in enumerate(columns):
        path = f"columns[{j}]"
        fields = {"name", "kind", "values", "fill"}
        if local and isinstance(column, dict) and column.get("kind") == "numeric":
            fields.add("fine")
        if not isinstance(column, dict) or set(column) != fields:
            raise DataError(f"{path} is {clip(column)}; expected an object with name, kind, values and fill")
        name, kind, values, fill = (column[key] for key in ("name", "kind", "values", "fill"))
        if not isinstance(name, str):
            raise DataError(f"{path}.name is {clip(name)}; expected a text")
        if not isinstance(kind, str) or kind not in COLUMN_KINDS:
            raise DataError(f"{path}.kind is {clip(kind)}; expected one of {', '.join(COLUMN_KINDS)}")
        codes = None
        if kind == "nominal":
            if not isinstance(values, list) or not values:
                raise DataError(f"{path}.values is {clip(values)}; expected the values of the nominal column")
            codes = {checked_scalar(value, f"{path}.values[{i}]"): i for i, value in enumerate(values)}
            if len(codes) < len(values):
                raise DataError(f"{path}.values holds a value twice; expected different ones")
            if fill is not None and checked_scalar(fill, f"{path}.fill") not in codes:
                raise DataError(f"{path}.fill is {clip(fill)}; expected one of the column's values, or null")
        elif values is not None:
            raise DataError(f"{path}.values is {clip(values)}; expected null for a {kind} column")
        elif fill is not None:
            checked_number(fill, f"{path}.fill")
        names.append(name)
        fine = _fine_from(column["fine"], f"{path}.fine") if "fine" in column else None
        encodings.append(Encoding(kind, [], fill, codes, fine))  # type: ignore[arg-type]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"columns holds the name {clip(twice)} twice; expected different names")
    return names, encodings


def _tests_from(tests: Any, names: list[str], encodings: list[Encoding], path: str) -> list[Test]:
    if not isinstance(tests, list):
        raise DataError(f"{path} is {clip(tests)}; expected a list of tests")
    return [_test_from(test, names, encodings, f"{path}[{i}]") for i, test in enumerate(tests)]


def _test_from(test: Any, names: list[str], encodings: list[Encoding], path: str) -> Test:
    if not isinstance(test, dict) or set(test) != {"column", "kind", "value"}:
        raise DataError(f"{path} is {clip(test)}; expected an object with column, kind and value")
    j, kind, value = test["column"], test["kind"], test["value"]
    if isinstance(j, bool) or not isinstance(j, int) or not 0 <= j < len(names):
        raise DataError(f"{path}.column is {clip(j)}; expected the index of a column, 0 to {len(names) - 1}")
    encoding = encodings[j]
    allowed = COLUMN_KINDS[encoding.kind]
    if kind not in allowed:
        raise DataError(f"{path}.kind is {clip(kind)}; a {encoding.kind} column has {' or '.join(allowed)}")
    if kind == "threshold":
        return Test(names[j], "<=", checked_number(value, f"{path}.value"), j)
    if kind == "equals":
        if checked_scalar(value, f"{path}.value") not in (encoding.codes or {}):
            raise DataError(
                f"{path}.value is {clip(value)}; expected one of the values of column {names[j]!r}"
            )
        return Test(names[j], "==", value, j)
    if value is not None:
        raise DataError(f"{path}.value is {clip(value)}; expected null for a test of kind {kind}")
    return Test(names[j], "is", True if kind == "identity" else "missing", j)


def _dropped_from(
    dropped: Any, names: list[str], encodings: list[Encoding], tests: list[Test]
) -> dict[Test, Dropped]:
    if not isinstance(dropped, list):
        raise DataError(f"dropped is {clip(dropped)}; expected a list of tests")
    found: dict[Test, Dropped] = {}
    for i, entry in enumerate(dropped):
        path = f"dropped[{i}]"
        if not isinstance(entry, dict) or not {"reason", "kept"} <= set(entry):
            raise DataError(f"{path} is {clip(entry)}; expected a test with reason and kept")
        reason, kept = entry["reason"], entry["kept"]
        if reason not in ("constant", "duplicate", "complement"):
            raise DataError(f"{path}.reason is {clip(reason)}; expected constant, duplicate or complement")
        if kept is not None and (
            isinstance(kept, bool) or not isinstance(kept, int) or not 0 <= kept < len(tests)
        ):
            raise DataError(f"{path}.kept is {clip(kept)}; expected the index of a test, or null")
        rest = {key: value for key, value in entry.items() if key not in ("reason", "kept")}
        test = _test_from(rest, names, encodings, path)
        found[test] = Dropped(reason, None if kept is None else tests[kept])
    return found
