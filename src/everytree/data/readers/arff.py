"""ARFF files, the format of Weka: declared attributes, then rows.

    @relation name
    @attribute name type        numeric | real | integer [range] | string | date [format] | {value, value, …}
    @data
    value, value, …             dense row; may end with , {weight}
    {index value, …}            sparse row: what it leaves out is 0, or the first declared value

Nominal domains keep their declared order. Strings and dates are read as nominal without a domain, dates as
the text in the file. Ranges and date formats are read past, not enforced: Weka itself ignores them.
Relational attributes are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everytree.common.text import show
from everytree.data.readers.arff_syntax import (
    rest_is_comment,
    scan_braced,
    scan_list,
    scan_value,
    skip_blanks,
)
from everytree.data.readers.cells import MAX_CELLS, CellTable, TypeSpec, build_column, parse_number
from everytree.data.readers.dataset import Dataset, kept_positions
from everytree.data.readers.room import check_columns
from everytree.data.readers.text import Lines, Source, open_lines
from everytree.errors import DataError

__all__ = ["Attribute", "read_arff"]

_KEYWORD = re.compile(r"@([A-Za-z]+)")
_NAME = re.compile(r"[^ \t\r\n\f\v{%]+")
_TYPE = re.compile(r"[^ \t\r\n\f\v{%\[]+")
_NOT_PLAIN = re.compile(r"""[ \t\f\v'"{}%]""")  # a row without any of these is cut at its commas
_RANGE = re.compile(r"\[[^\]]*\]")
_INDEX = re.compile(r"([0-9]{1,9})[ \t]+")
_NUMERIC = ("numeric", "real", "integer")
_TEXT = ("string", "date")
_MISSING_NUMBER = frozenset({"NaN", "nan", "NAN"})  # Weka reads a NaN in a numeric column as missing


@dataclass(frozen=True, slots=True)
class Attribute:
    """A declared attribute: ``type`` is "numeric", "string", "date", or the tuple of nominal values."""

    name: str
    type: str | tuple[str, ...]
    line: int

    @property
    def spec(self) -> TypeSpec:
        """The attribute's type in the words of :class:`Column`."""
        return "nominal" if self.type in _TEXT else self.type

    @property
    def sparse_default(self) -> str | None:
        """What a sparse row means by leaving the attribute out; None where the format gives it no meaning."""
        if self.type == "numeric":
            return "0"
        return self.type[0] if isinstance(self.type, tuple) else None


def read_arff(
    source: Source,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    encoding: str = "utf-8",
    max_cells: int = MAX_CELLS,
    memory_limit: float | None = None,
) -> Dataset:
    """Read an ARFF file, also a gzipped one.

    Parameters
    ----------
    source : str, path or open file
        The file to read.
    target : str, optional
        The attribute to predict.
    columns : sequence of str, optional
        The attributes to read; by default all.
    types : dict, optional
        Kinds of columns that replace the declared ones: "numeric", "nominal", "boolean", or a list of values in order.
    encoding : str, default "utf-8"
        The encoding of the text.
    max_cells : int
        The most cells to read; a larger file is refused.
    memory_limit : float, optional
        The most bytes that reading may take; by default a hundred times the bytes of the file or 1 GiB, whichever is
        more, and never more than three quarters of the memory.

    Returns
    -------
    Dataset
        The columns of the file, and its instance weights if it has any.

    Raises
    ------
    DataError
        If the file is not ARFF; the message names the line.

    Examples
    --------
    >>> import io
    >>> text = "@relation r\\n@attribute 'a b' {x,'?'}\\n@attribute n real\\n@data\\n'?',3\\n?,4,{2}\\n"
    >>> data = read_arff(io.StringIO(text))
    >>> data["a b"].values.tolist(), data["n"].values.tolist(), data.weights.tolist()
    (['?', None], [3.0, 4.0], [1.0, 2.0])
    """
    types = types or {}
    with open_lines(source, encoding, memory_limit) as lines:
        relation, attributes = _read_header(lines)
        names = [attribute.name for attribute in attributes]
        keep = kept_positions(names, columns, target, types)
        check_columns(len(keep), lines.name)
        table = CellTable(keep, lines.place, max_cells, lines.room)
        weights = _read_rows(lines, attributes, table)
    result = {}
    for position, cells in zip(keep, table.columns([names[position] for position in keep]), strict=True):
        spec = types.get(cells.name, attributes[position].spec)
        missing = _MISSING_NUMBER if spec == "numeric" else frozenset()
        result[cells.name] = build_column(cells, spec, table.place, missing=missing)
    return Dataset(result, relation=relation, weights=weights, target=target)


def _read_header(lines: Lines) -> tuple[str, list[Attribute]]:
    """Read up to ``@data``: the relation's name and the attributes."""
    relation: str | None = None
    attributes: dict[str, Attribute] = {}
    for line in lines:
        start = skip_blanks(line, 0)
        if rest_is_comment(line, start):
            continue
        match = _KEYWORD.match(line, start)
        keyword = match.group(1).lower() if match else ""
        position = skip_blanks(line, match.end()) if match else start
        if keyword == "relation":
            relation = _relation(line, position, lines.place())
        elif keyword == "attribute":
            attribute = _attribute(line, position, lines)
            if attribute.name in attributes:
                raise DataError(
                    f"{lines.place()}: attribute {show(attribute.name)} is already declared on line "
                    f"{attributes[attribute.name].line}; expected different names"
                )
            attributes[attribute.name] = attribute
        elif keyword == "data":
            if relation is None:
                raise DataError(
                    f"{lines.place()}: @data without @relation before it; expected @relation name"
                )
            if not rest_is_comment(line, position):
                raise DataError(
                    f"{lines.place()}: text after @data; expected the rows to start on the next line"
                )
            if not attributes:
                raise DataError(
                    f"{lines.place()}: @data without any @attribute before it; expected at least one"
                )
            return relation, list(attributes.values())
        else:
            raise DataError(
                f"{lines.place()}: {show(line[start:].strip())} in the header; "
                "expected @relation, @attribute, @data or a % comment"
            )
    if relation is None and not attributes:
        raise DataError(f"{lines.name}: no @relation, @attribute or @data line; expected an ARFF file")
    raise DataError(f"{lines.place()}: the file ends before @data; expected @data and rows")


def _relation(line: str, position: int, place: str) -> str:
    """The relation's name: quoted, or everything up to a comment."""
    if line[position : position + 1] in ("'", '"'):
        name, end = scan_value(line, position, place)
        if not rest_is_comment(line, end):
            raise DataError(
                f"{place}: {show(line[end:].strip())} after the relation's name; expected the end"
            )
        return name or ""
    return re.split(r"[ \t]%", line[position:], maxsplit=1)[0].strip()


def _attribute(line: str, position: int, lines: Lines) -> Attribute:
    place = lines.place()
    name: str | None
    if line[position : position + 1] in ("'", '"'):
        name, position = scan_value(line, position, place)
    else:
        match = _NAME.match(line, position)
        name, position = (match.group(), match.end()) if match else ("", position)
    if not name:
        raise DataError(f"{place}: @attribute without a name; expected @attribute name type")
    position = skip_blanks(line, position)
    if line[position : position + 1] == "{":
        return Attribute(name, _domain(line, position, name, place), lines.number)
    match = _TYPE.match(line, position)
    word = match.group().lower() if match else ""
    if word in _NUMERIC:
        _check_after_numeric(line, match.end() if match else position, place)
        return Attribute(name, "numeric", lines.number)
    if word in _TEXT:
        return Attribute(name, word, lines.number)
    if word == "relational":
        raise DataError(
            f"{place}: attribute {show(name)} is relational (a table in each cell), which a decision tree "
            "over "
            "rows cannot use; export it as separate columns"
        )
    found = f"has the type {show(word)}" if word else "has no type"
    raise DataError(
        f"{place}: attribute {show(name)} {found}; "
        "expected numeric, real, integer, string, date or {value, value, …}. Quote a name that has blanks or "
        "%"
    )


def _domain(line: str, position: int, name: str, place: str) -> tuple[str, ...]:
    values, end = scan_braced(line, position, place)
    domain = [value for value in values if value is not None]
    if len(domain) != len(values):
        raise DataError(
            f"{place}: a plain ? among the values of {show(name)} means missing, which is always allowed; "
            "leave it out, or write '?' if it is a value"
        )
    if not domain:
        raise DataError(f"{place}: attribute {show(name)} declares no values; expected {{value, value, …}}")
    seen: set[str] = set()
    for value in domain:
        if value in seen:
            raise DataError(
                f"{place}: attribute {show(name)} declares {show(value)} twice; expected different values"
            )
        seen.add(value)
    _check_after_type(line, end, place)
    return tuple(domain)


def _check_after_numeric(line: str, position: int, place: str) -> None:
    position = skip_blanks(line, position)
    match = _RANGE.match(line, position)
    _check_after_type(line, match.end() if match else position, place)


def _check_after_type(line: str, position: int, place: str) -> None:
    """After a type only an attribute weight ``{w}`` (read past) and a comment may stand."""
    position = skip_blanks(line, position)
    if line[position : position + 1] == "{":
        _, position = _weight(line, position, place)
    if not rest_is_comment(line, position):
        raise DataError(
            f"{place}: {show(line[position:].strip())} after the attribute's type; expected the end of the "
            "line"
        )


def _read_rows(lines: Lines, attributes: Sequence[Attribute], table: CellTable) -> NDArray[np.float64] | None:
    """Add every row to the table; gives the instance weights, or None where no row has one."""
    defaults = [attribute.sparse_default for attribute in attributes]
    weights: dict[int, float] = {}
    for line in lines:
        row = line.strip(" \t\r\n\f\v")
        if not row or row[0] == "%":
            continue
        weight = None
        if row[0] == "{":
            given, weight = _sparse_row(row, attributes, lines.place())
            cells = defaults.copy()
            for position, value in given.items():
                cells[position] = value
        elif _NOT_PLAIN.search(row):
            cells, weight = _dense_row(row, lines.place())
        else:
            cells = [None if cell == "?" else cell for cell in row.split(",")]
            if "" in cells:
                raise DataError(
                    f"{lines.place()}: value {cells.index('') + 1} is empty; write ? for a missing value"
                )
        if len(cells) != len(attributes):
            raise DataError(
                f"{lines.place()}: {len(cells)} values, expected {len(attributes)}, one per @attribute"
            )
        if weight is not None:
            weights[table.n_rows] = weight
        table.add(lines.number, cells)
    if table.n_rows == 0:
        raise DataError(f"{lines.place()}: no rows after @data; expected at least one")
    if not weights:
        return None
    result = np.ones(table.n_rows)
    result[list(weights)] = list(weights.values())
    return result


def _dense_row(row: str, place: str) -> tuple[list[str | None], float | None]:
    cells, position, trailing = scan_list(row, 0, place)
    weight = None
    if row[position : position + 1] == "{":
        weight, position = _weight(row, position, place)
    elif trailing:
        raise DataError(f"{place}: nothing after the last comma; expected a value, or ? if it is missing")
    _check_row_end(row, position, place)
    return cells, weight


def _sparse_row(
    row: str, attributes: Sequence[Attribute], place: str
) -> tuple[dict[int, str | None], float | None]:
    """The values a sparse row gives, by position, and its weight."""
    given: dict[int, str | None] = {}
    position = skip_blanks(row, 1)
    while row[position : position + 1] != "}":
        match = _INDEX.match(row, position)
        if match is None:
            raise DataError(
                f"{place}: {show(row[position : position + 20])} in a sparse row; expected index value, for "
                "example "
                "{0 5, 3 yes}"
            )
        index = int(match.group(1))
        if index >= len(attributes):
            raise DataError(
                f"{place}: index {index} in a sparse row; expected 0 to {len(attributes) - 1}, as there are "
                f"{len(attributes)} attributes, counted from 0"
            )
        if index in given:
            raise DataError(f"{place}: index {index} stands twice in a sparse row; expected it once")
        given[index], position = scan_value(row, match.end(), place)
        position = skip_blanks(row, position)
        if row[position : position + 1] == ",":
            position = skip_blanks(row, position + 1)
        elif row[position : position + 1] != "}":
            found = show(row[position : position + 20]) if position < len(row) else "the end of the line"
            raise DataError(f"{place}: {found} in a sparse row; expected a comma or the closing brace }}")
    position = skip_blanks(row, position + 1)
    weight = None
    if row[position : position + 1] == ",":
        position = skip_blanks(row, position + 1)
        if row[position : position + 1] != "{":
            raise DataError(f"{place}: a comma after a sparse row; expected a weight such as {{2}} after it")
    if row[position : position + 1] == "{":
        weight, position = _weight(row, position, place)
    _check_row_end(row, position, place)
    for index, attribute in enumerate(attributes):
        if index not in given and attribute.sparse_default is None:
            raise DataError(
                f"{place}: a sparse row leaves out the {attribute.type} attribute {show(attribute.name)}, "
                "which has "
                "no default value; expected its value, or ? if it is missing"
            )
    return given, weight


def _weight(row: str, position: int, place: str) -> tuple[float, int]:
    """Read ``{weight}`` starting at the brace."""
    values, end = scan_braced(row, position, place)
    weight = parse_number(values[0]) if len(values) == 1 and values[0] is not None else None
    if weight is None or not 0 <= weight < np.inf:
        raise DataError(
            f"{place}: the weight {show(row[position:end])}; expected one number ≥ 0, such as {{2}}"
        )
    return weight, end


def _check_row_end(row: str, position: int, place: str) -> None:
    if not rest_is_comment(row, position):
        raise DataError(
            f"{place}: {show(row[position:].strip())} after the row; expected the end of the line"
        )
