"""From cells of text to examples: the outcome of every test on every row, and the class of the row.

    numeric    a number; it is compared as a whole number where the column of the file holds whole numbers of 64 bits
               and nothing else, else as float64, as which two numbers from 2^53 on may be equal
    binary     a number, or true/false, t/f, yes/no, y/n; it holds above 0.5
    nominal    one of the model's values; any other makes every test false (or is refused, if the model says so)
    missing    refused, or every test but "is missing" is false, or the model's imputed value takes its place

The outcomes of a row are one whole number: bit i is the outcome of test i.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from everytree.verify.csv_file import CsvTable
from everytree.verify.held import HELD
from everytree.verify.model import Column, Model, Test
from everytree.verify.parts import class_weighted, counted, idle_labels, in_examples
from everytree.verify.problem import InputError, quote

__all__ = ["MISSING", "UNKNOWN", "Cells", "Examples", "read_cells", "read_examples"]

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
LARGEST = 2**63
WORDS = {"true": 1, "t": 1, "yes": 1, "y": 1, "false": 0, "f": 0, "no": 0, "n": 0}


@dataclass(frozen=True)
class Examples:
    """The distinct rows of outcomes with their class counts, and remarks on how the file was read."""

    counts: dict[int, list[int]]
    n_tests: int
    n_classes: int
    notes: tuple[str, ...] = ()
    per_example: int = 1  # so many counts make one example, where weights have fractions

    @property
    def class_totals(self) -> tuple[Any, ...]:
        """The examples of each class."""
        columns = zip(*self.counts.values(), strict=True)
        sums = tuple(sum(column) for column in columns) if self.counts else (0,) * self.n_classes
        return tuple(self.of(n) for n in sums)

    def of(self, n: int) -> Any:
        """Return counts as examples."""
        return in_examples(n, self.per_example)

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the lines "outcomes counts…", one per distinct row, in lexicographic order."""
        rows = {}
        for bits, counts in self.counts.items():
            outcomes = format(bits, f"0{self.n_tests}b")[::-1] if self.n_tests else ""
            rows[outcomes] = " ".join(str(n) for n in counts)
        text = "".join(f"{outcomes} {rows[outcomes]}\n" for outcomes in sorted(rows))
        if self.per_example != 1:
            text += f"per example {self.per_example}\n"
        return hashlib.sha256(text.encode("ascii")).hexdigest()


def read_examples(
    table: CsvTable,
    model: Model,
    *,
    target: str | None = None,
    weights: str | None = None,
    missing: Collection[str] = MISSING,
    decimal: str = ".",
) -> Examples:
    """Apply the model's tests to every row of a CSV file, and count the classes of equal rows."""
    label_name, sources, notes = _matched(table, model, target, weights, decimal)
    gone = frozenset(missing)
    table = table.with_labels(label_name, gone - {str(each) for each in model.classes})
    outcomes = [0] * table.n_rows
    tests: list[list[tuple[int, Test]]] = [[] for _ in model.columns]
    for i, test in enumerate(model.tests):
        tests[test.column].append((i, test))
    for asked, column, source in zip(tests, model.columns, sources, strict=True):
        cells = table.cells(source, column.values)
        seen = table.unlabelled.get(source, frozenset()).union(cells)
        read = _reader(column, seen, gone, decimal, model.unknown == "error", table.held.get(source))
        known: dict[str, int] = {}
        for row, cell in enumerate(cells):
            bits = known.get(cell)
            if bits is None:
                value = _value_at(table, row, source, cell, read)
                if value is None and model.missing == "error":
                    raise InputError(
                        f"{table.place(row)}: column {quote(source)} is missing here ({quote(cell)}), and the model "
                        "was made with missing='error'; use the data it was trained on"
                    )
                held = [i for i, test in asked if _holds(test.kind, test.value, value, column.fill)]
                bits = known[cell] = _as_bits(held)
            outcomes[row] |= bits
    codes, weighed = _classes_of(table, label_name, weights, model, gone, decimal)
    repeats, parts = counted(weighed)
    counts: dict[int, list[int]] = {}
    for bits, code, n in zip(outcomes, codes, repeats, strict=True):
        if n:
            counts.setdefault(bits, [0] * len(model.classes))[code] += n
    if not counts:
        raise InputError(f"{table.file}: every row has weight zero; expected at least one example")
    return Examples(counts, len(model.tests), len(model.classes), notes, parts)


def _as_bits(places: list[int]) -> int:
    """Return the number with these bits, by way of text: adding them up would be quadratic.

    >>> _as_bits([0, 3])
    9
    """
    if not places:
        return 0
    first, last = min(places), max(places)
    digits = bytearray(b"0" * (last - first + 1))
    for place in places:
        digits[last - place] = ord("1")
    return int(digits, 2) << first


@dataclass(frozen=True)
class Cells:
    """The rows of a file for a model on whole columns: numbers, positions of nominal values, None if missing.

    A value that was not seen in training is ``UNKNOWN``. Rows of weight zero are left out. ``idle`` are the classes of
    the model that are the label of none of the rows, ``sources`` the columns of the file.
    """

    rows: list[tuple[Any, ...]]
    classes: list[int]
    weights: list[Any]  # ints, or Fractions where weights have fractions
    notes: tuple[str, ...] = ()
    idle: tuple[Any, ...] = ()
    sources: tuple[str, ...] = ()


def read_cells(
    table: CsvTable,
    model: Model,
    *,
    target: str | None = None,
    weights: str | None = None,
    missing: Collection[str] = MISSING,
    decimal: str = ".",
) -> Cells:
    """Read the rows of a CSV file for a model on whole columns."""
    label_name, sources, notes = _matched(table, model, target, weights, decimal)
    gone = frozenset(missing)
    table = table.with_labels(label_name, gone - {str(each) for each in model.classes})
    columns = []
    for column, source in zip(model.columns, sources, strict=True):
        texts = table.cells(source, column.values)
        seen = table.unlabelled.get(source, frozenset()).union(texts)
        read = _reader(column, seen, gone, decimal, strict=False, held=table.held.get(source))
        place = {(type(value), value): code for code, value in enumerate(column.values)}
        known: dict[str, Any] = {}
        cells = []
        for row, cell in enumerate(texts):
            if cell not in known:
                value = _value_at(table, row, source, cell, read)
                if column.kind == "nominal" and value is not None and value is not UNKNOWN:
                    value = place[type(value), value]
                known[cell] = value
            cells.append(known[cell])
        columns.append(cells)
    codes, weighed = _classes_of(table, label_name, weights, model, gone, decimal)
    repeats, parts = counted(weighed)
    kept = [row for row, n in enumerate(repeats) if n]
    if not kept:
        raise InputError(f"{table.file}: every row has weight zero; expected at least one example")
    occurring = {codes[row] for row in kept}
    return Cells(
        [tuple(column[row] for column in columns) for row in kept],
        [codes[row] for row in kept],
        [in_examples(repeats[row], parts) for row in kept],
        notes,
        tuple(each for code, each in enumerate(model.classes) if code not in occurring),
        tuple(sources),
    )


def _matched(
    table: CsvTable, model: Model, target: str | None, weights: str | None, decimal: str
) -> tuple[str, list[str], tuple[str, ...]]:
    """Find the columns by ``_match_columns``, after checking what was asked for."""
    if decimal not in (".", ","):
        raise InputError(
            f"decimal {quote(decimal)}: expected '.' or ','",
            code="parameter", parameter="decimal", value=decimal, expected="'.' or ','",
        )  # fmt: skip
    for name, what in ((weights, "weights"), (target, "target")):
        if name is not None and name not in table.columns:
            raise InputError(
                f"{table.file}: no column {quote(name)} for the {what}; it has {_some(table.names)}",
                code="unknown-column", parameter=what, value=name, expected="a column",
            )  # fmt: skip
    return _match_columns(table, model, target, weights)


def _holds(kind: str, wanted: Any, value: Any, fill: Any) -> bool:
    """Return the outcome of one test; a missing value is None."""
    if kind == "missing":
        return value is None
    if value is None:
        value = fill
    if value is None or value is UNKNOWN:
        return False
    if kind == "threshold":
        return bool(value <= wanted)
    if kind == "identity":
        return bool(value > 0.5)
    return bool(value == wanted)


UNKNOWN = object()  # a nominal value that the model has not seen
Reader = Callable[[str], Any]


def _value_at(table: CsvTable, row: int, source: str, cell: str, read: Reader) -> Any:
    try:
        return read(cell)
    except ValueError as error:
        raise InputError(
            f"{table.place(row)}: column {quote(source)} holds {quote(cell)}; {error}"
        ) from error


def _reader(
    column: Column,
    seen: frozenset[str],
    missing: frozenset[str],
    decimal: str,
    strict: bool,
    held: str | None = None,
) -> Reader:
    """Return a function that reads the cells of one column, and gives None for a missing one; ``seen`` is all of it."""
    if column.kind == "nominal":
        return _nominal_reader(column, missing, decimal, strict)
    if column.kind == "empty":
        return lambda cell: None if cell in missing else UNKNOWN
    whole = not seen & missing and all(
        WHOLE.fullmatch(cell) and -LARGEST <= int(cell) < LARGEST for cell in seen
    )

    def number(cell: str) -> Any:
        if cell in missing:
            return None
        if whole:
            return int(cell)
        if held is not None:
            return HELD[held](cell if held == "whole numbers" else float(cell.replace(decimal, ".")))
        value = _number(cell, decimal)
        if value is None and column.kind == "binary":
            value = WORDS.get(cell.lower())
        if value is None:
            raise ValueError(f"expected a number, because the column is {column.kind} in the model")
        if column.kind == "binary" and strict and value not in (0, 1):
            raise ValueError("expected 0 or 1, because the model refuses other values (unknown='error')")
        return value

    return number


def _nominal_reader(column: Column, missing: frozenset[str], decimal: str, strict: bool) -> Reader:
    texts = {value: value for value in column.values if isinstance(value, str)}
    truths = {int(value): value for value in column.values if isinstance(value, bool)}
    numbers = {
        value: value
        for value in column.values
        if isinstance(value, int | float) and not isinstance(value, bool)
    }

    def nominal(cell: str) -> Any:
        if cell in texts:  # a known value counts as one also where it looks like a missing value
            return texts[cell]
        cell = cell.strip()
        if cell in missing:
            return None
        number = _number(cell, decimal) if numbers else None
        if numbers and WHOLE.fullmatch(cell) and int(cell) in numbers:  # one that no float holds
            number = int(cell)
        if number in numbers:
            return numbers[number]
        word = WORDS.get(cell.lower()) if truths else None
        if word in truths:
            return truths[word]
        if strict:
            raise ValueError("a value that the model has not seen and, by unknown='error', refuses")
        return UNKNOWN

    return nominal


def _number(cell: str, decimal: str = ".") -> int | float | None:
    if decimal != ".":
        if "." in cell:
            return None
        cell = cell.replace(decimal, ".")
    if not NUMBER.fullmatch(cell):
        return None
    value = float(cell)
    return value if math.isfinite(value) else None


def _match_columns(
    table: CsvTable, model: Model, target: str | None, weights: str | None
) -> tuple[str, list[str], tuple[str, ...]]:
    """Find the label's column, and for each column of the model the one in the file."""
    free = [name for name in table.names if name != weights]
    at = {name: place for place, name in enumerate(free)}
    # Names are read without the blanks around them.
    wanted = [column.name if column.name in at else column.name.strip() for column in model.columns]
    used = frozenset(wanted)
    others = [name for name in free if name not in used]
    lacking = [name for name in wanted if name not in at]
    if not model.named_columns:
        label = target or (model.target if model.target in at else None)
        label = label or (others[0] if len(others) == 1 and not lacking else free[-1])
        rest = [name for name in free if name != label]
        if len(rest) == len(wanted):
            told = f"columns are taken by position; {quote(label)} is the label"
            return label, rest, () if rest == wanted else (told,)
        if lacking or label in used:
            raise InputError(
                f"{table.file}: {len(rest)} columns beside the label {quote(label)}; the model was trained on "
                f"{len(wanted)} columns without names, and takes them by position"
            )
    places = [at[name] for name in wanted if name in at]
    ordered = all(a < b for a, b in pairwise(places))
    if not ordered and not model.named_columns:
        raise InputError(
            f"{table.file}: the columns that the model needs stand in another order here, and a model that was "
            "trained on columns without names takes them by position"
        )
    if lacking:
        raise InputError(
            f"{table.file}: no column {_some(lacking)}, which the model needs; the file has {_some(table.names)}"
        )
    told = "" if ordered else f"the model has the columns in another order than {table.file}: {_some(wanted)}"
    notes = () if ordered else (f"{told}; an array without names is read in this order",)
    if target is not None:
        return target, wanted, notes
    if model.target in others:
        return str(model.target), wanted, notes
    if len(others) == 1:
        taken = f"{quote(others[0])} is taken as the label: the model uses all other columns"
        return others[0], wanted, (*notes, taken)
    found = "every column is used by the model" if not others else f"it could be {_some(others)}"
    raise InputError(f"{table.file}: which column is the label? {found}; name it with --target")


def _classes_of(
    table: CsvTable, name: str, weights: str | None, model: Model, missing: frozenset[str], decimal: str
) -> tuple[list[int], list[Fraction]]:
    """Return the class of each row, and its weight; where that is zero the row has any label, as it is not there."""
    label = Column(name, "nominal", model.classes, None)
    read = _nominal_reader(label, missing, decimal, strict=False)
    place = {(type(each), each): code for code, each in enumerate(model.classes)}
    # 0 and 1 also stand for false and true.
    truths = {each: code for code, each in enumerate(model.classes) if isinstance(each, bool)}
    given = model.params.get("class_weight")
    if model.estimator == "OptimalTreeClassifier":  # there it is what errors cost
        given = None
    without = idle_labels(given)
    own = [Fraction(1)] * table.n_rows if weights is None else _weight_column(table, weights)
    known: dict[str, int] = {}
    codes = []
    for row, cell in enumerate(table.cells(name, model.classes)):
        code = known.get(cell)
        if code is None:
            value = read(cell)
            code = place.get((type(value), value)) if value is not UNKNOWN else None
            if code is None and truths:
                code = truths.get(_number(cell, decimal))  # type: ignore[call-overload]
            weightless = not own[row] or cell.strip() in without or _number(cell, decimal) in without
            if code is None and weightless:
                own[row], code = Fraction(0), 0
            elif code is None:
                what = "a missing label" if cell in missing else "not a class of the model"
                raise InputError(
                    f"{table.place(row)}: {quote(cell)} in the label column {quote(name)} is {what}; "
                    f"expected one of {_some([str(each) for each in model.classes])}"
                )
            else:
                known[cell] = code
        codes.append(code)
    return codes, own if given is None else class_weighted(given, model.classes, codes, own)


def _weight_column(table: CsvTable, name: str) -> list[Fraction]:
    weights = []
    for row, cell in enumerate(table.columns[name]):
        value = _number(cell)
        if value is None or value < 0:
            raise InputError(f"{table.place(row)}: the weight is {quote(cell)}; expected a number, 0 or more")
        weights.append(Fraction(int(cell)) if WHOLE.fullmatch(cell) else Fraction(float(value)))
    return weights


def _some(names: Collection[str], most: int = 8) -> str:
    shown = ", ".join(quote(name) for name in list(names)[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
