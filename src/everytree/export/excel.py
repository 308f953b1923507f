"""Excel: the probability of one class, or the class, as one formula for the first row of data.

    =IF(IF(ISNUMBER(A2),A2<=54.5,FALSE),0.9,IF(EXACT(C2,"fixed"),0.2,0.4))

The columns are those of training, from A on, and the data begin in row 2, below their names; other cells can be given.
A cell without a number is missing for a column of numbers, and an empty one for text. Blanks around a text do not
count. ``EXACT`` is used, as ``=`` ignores case, unless case is to be ignored. Excel reads 15 digits of a number.
Probabilities have as many; a cut with more is written as a sum of two. Excel itself compares numbers by their first 15
digits only, so that rows within 1e-15 of a cut may fall on its other side.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from everytree.errors import QueryError
from everytree.export.blocks import plain_label
from everytree.export.form import Condition, Form, SumForm, TreeForm, is_padded

__all__ = ["LONGEST", "formula"]

LONGEST = 8192  # characters of a formula
NESTED = 60  # of the 64 levels that Excel takes, for a condition inside needs some
TERMS = 200  # of the 255 arguments that Excel takes


def formula(
    form: Form, label: Any = None, what: str = "probability", cells: Mapping[str, str] | None = None
) -> str:
    """Write the formula for the probability of a class or, with ``what="class"``, for the class."""
    if what not in ("probability", "class"):
        raise QueryError(f"what={what!r}; expected 'probability' or 'class'", parameter="what", value=what)
    places = _places(form, cells)
    if isinstance(form, TreeForm):
        c = form.class_index(label)
        leaves = [
            _value(plain_label(form.classes[node.says])) if what == "class" else _digits(node.proba[c])
            for node in form.nodes
        ]
        written = _tree(form, leaves, places)
    else:
        assert isinstance(form, SumForm)
        if what == "class":
            raise QueryError(
                "what='class' needs a tree; a sum of rules has a formula for the probability of a class"
            )
        written = _sum(form, form.class_index(label), places)
    if len(written) + 1 > LONGEST:
        raise QueryError(
            f"the formula has {len(written) + 1} characters, and Excel takes {LONGEST}; use a smaller tree (max_depth, "
            "max_leaves) or fewer rules (a larger epsilon), or another language"
        )
    return "=" + written


def _places(form: Form, cells: Mapping[str, str] | None) -> dict[int, str]:
    names = [form.fields[k].name for k in form.used()]
    unknown = sorted(set(cells or {}) - set(names))
    if unknown:
        raise QueryError(
            f"cells has {unknown[0]!r}, which the model does not ask about; it asks {', '.join(names)}"
        )
    for name, cell in (cells or {}).items():
        if not isinstance(cell, str) or not all(
            part.isalnum() and part.isascii() for part in cell.split("$") if part
        ):
            raise QueryError(f"cells[{name!r}] is {cell!r}; expected a cell such as 'B2' or '$B2'")
    return {k: (cells or {}).get(form.fields[k].name, f"{_letters(k)}2") for k in form.used()}


def _letters(k: int) -> str:
    """Return the letters of a column.

    >>> _letters(0), _letters(25), _letters(26), _letters(702)
    ('A', 'Z', 'AA', 'AAA')
    """
    found = ""
    k += 1
    while k:
        k, rest = divmod(k - 1, 26)
        found = chr(65 + rest) + found
    return found


def _tree(form: TreeForm, leaves: list[str], places: dict[int, str]) -> str:
    deep = [0] * len(form.nodes)
    for at, node in enumerate(form.nodes):
        if node.condition is not None:
            deep[node.yes] = deep[node.no] = deep[at] + 1
    if max(deep) > NESTED:
        raise QueryError(
            f"the formula has {max(deep)} levels of IF, and Excel takes {NESTED}; use a smaller tree"
        )

    def written(at: int) -> str:
        node = form.nodes[at]
        if node.condition is None:
            return leaves[at]
        return f"IF({_asked(form, node.condition, places)},{written(node.yes)},{written(node.no)})"

    return written(0)


def _sum(form: SumForm, c: int, places: dict[int, str]) -> str:
    terms = [_digits(form.base[c])]
    for rule in form.rules:
        items = [
            _asked(form, condition, places) if wanted else f"NOT({_asked(form, condition, places)})"
            for condition, wanted in rule.items
        ]
        where = items[0] if len(items) == 1 else f"AND({','.join(items)})"
        terms.append(f"IF({where},{_digits(rule.moves[c])},0)")
    while len(terms) > 1:
        terms = [f"SUM({','.join(terms[k : k + TERMS])})" for k in range(0, len(terms), TERMS)]
    if len(form.classes) != 2:
        return terms[0]
    return f"MIN(MAX({terms[0]},{_digits(form.floor[c])}),{_digits(1.0 - form.floor[1 - c])})"


def _asked(form: Form, condition: Condition, places: dict[int, str]) -> str:
    cell, kind = places[condition.field], form.fields[condition.field].kind
    there = f"ISNUMBER({cell})" if kind == "number" else f"NOT(ISBLANK({cell}))"
    if condition.op == "missing":
        return f"NOT({there})" if kind == "number" else f"ISBLANK({cell})"
    if kind == "text":
        # TRIM takes blanks inside of a text away too, all but one.
        words = str(condition.value)
        left = cell if is_padded(words) or "  " in words else f"TRIM({cell})"
        shown = _value(condition.value)
        compared = f"({left}={shown})" if condition.any_case else f"EXACT({left},{shown})"
        return (
            f"OR(ISBLANK({cell}),{compared})"
            if condition.missing
            else compared
            if condition.value
            else (
                f"AND({there},{compared})"  # EXACT of an empty cell and an empty text is true
            )
        )
    number = f"N({cell})" if kind == "flag" else cell
    op = "=" if condition.op == "==" else condition.op
    return f"IF({there},{number}{op}{_number(condition.value)},{'TRUE' if condition.missing else 'FALSE'})"


def _number(value: float | int) -> str:
    """Write a number, as a sum of two where 15 digits do not tell it."""
    exact = Decimal(value)
    shown = f"{exact:.15g}"
    first = float(Decimal(shown))
    rest = float(exact - Decimal(first))
    shown = _digits(first)
    return shown if not rest else f"({shown}{'+' if rest > 0 else '-'}{_digits(abs(rest))})"


def _digits(value: float) -> str:
    return f"{Decimal(f'{value:.15g}').normalize():G}".replace("E+", "E")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number(value)
    if len(value) > 255:
        raise QueryError(
            f"{value[:20]!r}… has {len(value)} characters, and a text in a formula takes 255; shorten it"
        )
    return '"' + str(value).replace('"', '""') + '"'
