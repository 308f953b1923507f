"""SQL: the probability of one class as an expression, or a whole query with all of them.

    CASE WHEN "age" <= 54.5e0 AND TRIM("thal") = 'fixed' THEN 0.9e0 WHEN "age" <= 54.5e0 THEN … END       a tree
    (0.4e0 + CASE WHEN "age" > 54.5e0 AND TRIM("thal") = 'fixed' THEN 0.031e0 ELSE 0 END + …)            a sum of rules

Only comparisons, AND, OR, IN, IS NULL, CASE, TRIM and LOWER are used, and sums are nested: SQLite limits how deep an
expression may be. NULL is a missing value. A number is written with an exponent: without one it is a DECIMAL for some
engines, which is not the same number once it becomes a DOUBLE. Blanks around a text do not count. Where its case does
not either, LOWER is asked if all letters are English; else the usual spellings, as some engines fold no other letters.
"""

from __future__ import annotations

from typing import Any

from everytree.common.arguments import refused
from everytree.errors import QueryError
from everytree.export.blocks import comment
from everytree.export.form import Condition, Form, SumForm, TreeForm, is_padded

__all__ = ["DIALECTS", "expression", "query", "quoted"]

# How names and texts are quoted: with " and no escapes (the standard), or with ` and escapes by a backslash.
DIALECTS = ("standard", "mysql")
OPPOSITE = {"<=": ">", ">": "<=", "=": "<>"}


def expression(form: Form, label: Any = None, dialect: str = "standard") -> str:
    """Write the probability of one class; that of a sum of rules is the plain sum, which may leave 0 … 1 a little."""
    _check(dialect)
    return _notes(form) + _probability(form, form.class_index(label), dialect)


def query(form: Form, table: str, dialect: str = "standard") -> str:
    """Write a query for a table: its columns, the probability ``p_…`` of each class, and the class ``predicted``."""
    _check(dialect)
    names = [quoted(f"p_{label}", dialect) for label in form.classes]
    labels = [_text(str(label), dialect) for label in form.classes]
    source = quoted(table, dialect)
    inner = [f"{_probability(form, c, dialect)} AS {name}" for c, name in enumerate(names)]
    if isinstance(form, TreeForm):
        predicted = _cases(form, [labels[node.says] for node in form.nodes], dialect)
        return _notes(form) + _select(["*", *inner, f"{predicted} AS {quoted('predicted', dialect)}"], source)
    assert isinstance(form, SumForm)
    # The sums are named in an inner query, so that each of them is written, and computed, once.
    sums = [quoted(_free(form, f"everytree_q{c}"), dialect) for c in range(len(names))]
    plain = [f"{_probability(form, c, dialect)} AS {name}" for c, name in enumerate(sums)]
    source = f"({_select(['*', *plain], source)}) AS {quoted('everytree_sums', dialect)}"
    outer = [f"{_kept(form, c, sums)} AS {name}" for c, name in enumerate(names)]
    largest = [
        f"WHEN {' AND '.join(f'{sums[c]} >= {other}' for k, other in enumerate(sums) if k != c)} THEN {labels[c]}"
        for c in range(len(sums) - 1)
    ]
    predicted = f"CASE {' '.join(largest)} ELSE {labels[-1]} END" if largest else labels[-1]
    return _notes(form) + _select(["*", *outer, f"{predicted} AS {quoted('predicted', dialect)}"], source)


def _notes(form: Form) -> str:
    return "".join(f"-- {comment(note)}\n" for note in form.notes)


def quoted(name: str, dialect: str = "standard") -> str:
    """Quote a name; whatever is in it, it stays one name.

    >>> quoted('a"b'), quoted("a`b", "mysql")
    ('"a""b"', '`a``b`')
    """
    _no_nul(name)
    return (
        '"' + name.replace('"', '""') + '"' if dialect == "standard" else "`" + name.replace("`", "``") + "`"
    )


def _free(form: Form, name: str) -> str:
    """Return a name that no column has, whatever its case."""
    taken = {field.name.lower() for field in form.fields}
    while name in taken:
        name += "_"
    return name


def _check(dialect: str) -> None:
    if dialect not in DIALECTS:
        raise refused(QueryError, "dialect", dialect, " or ".join(map(repr, DIALECTS)))


def _select(columns: list[str], source: str) -> str:
    return "SELECT\n  " + ",\n  ".join(columns) + f"\nFROM {source}"


def _probability(form: Form, c: int, dialect: str) -> str:
    if isinstance(form, TreeForm):
        return _cases(form, [_number(node.proba[c]) for node in form.nodes], dialect)
    assert isinstance(form, SumForm)
    terms = [_number(form.base[c])]
    for rule in form.rules:
        where = " AND ".join(_asked(form, condition, wanted, dialect) for condition, wanted in rule.items)
        terms.append(f"CASE WHEN {where} THEN {_number(rule.moves[c])} ELSE 0 END")
    while len(terms) > 1:
        terms = [f"({' + '.join(terms[k : k + 8])})" for k in range(0, len(terms), 8)]
    return terms[0]


def _kept(form: SumForm, c: int, sums: list[str]) -> str:
    """Write a sum, kept in its range where there are two classes."""
    if len(sums) != 2:
        return sums[c]
    low, high = _number(form.floor[c]), _number(1.0 - form.floor[1 - c])
    return f"CASE WHEN {sums[c]} < {low} THEN {low} WHEN {sums[c]} > {high} THEN {high} ELSE {sums[c]} END"


def _cases(form: TreeForm, leaves: list[str], dialect: str) -> str:
    """Write a tree as one flat list of cases: a leaf is reached where the yes-branches above it hold.

    The no-branches need not be said: leaves come in order, and all rows that say yes there have had their case.
    """
    whens: list[str] = []
    waiting: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    last = ""
    while waiting:
        at, above = waiting.pop()
        node = form.nodes[at]
        if node.condition is None:
            last = leaves[at]
            if above:
                whens.append(f"WHEN {' AND '.join(above)} THEN {last}")
            continue
        waiting.append((node.no, above))
        waiting.append((node.yes, (*above, _asked(form, node.condition, True, dialect))))
    return f"CASE {' '.join(whens)} ELSE {last} END" if whens else last


def _asked(form: Form, condition: Condition, wanted: bool, dialect: str) -> str:
    """Write that a condition holds, or that it does not: never unknown where it ought to be true."""
    column = quoted(form.fields[condition.field].name, dialect)
    if condition.op == "missing":
        return f"{column} IS {'' if wanted else 'NOT '}NULL"
    value = condition.value
    if isinstance(value, str):
        return _is_text(column, condition, wanted, dialect)
    shown = _number(value)
    op = "=" if condition.op == "==" else condition.op
    # A BOOLEAN is not compared with a number as it is; MySQL has none, and its casts have other names.
    flag = form.fields[condition.field].kind == "flag" and dialect == "standard"
    left = f"CAST({column} AS DOUBLE PRECISION)" if flag else column
    compared = f"{left} {op if wanted else OPPOSITE[op]} {shown}"
    return f"({compared} OR {column} IS NULL)" if condition.missing == wanted else compared


def _is_text(column: str, condition: Condition, wanted: bool, dialect: str) -> str:
    left = column if is_padded(condition.value) else f"TRIM({column})"
    word = condition.value
    if condition.any_case and word.isascii():
        left, word = f"LOWER({left})", word.lower()
    compared = f"{left} {'=' if wanted else '<>'} {_text(word, dialect)}"
    if condition.any_case and not word.isascii():
        words = ", ".join(_text(each, dialect) for each in condition.spellings)
        compared = f"{left} {'' if wanted else 'NOT '}IN ({words})"
    return f"({compared} OR {column} IS NULL)" if condition.missing == wanted else compared


def _number(value: float | int) -> str:
    if isinstance(value, bool | int):
        return str(int(value))
    shown = repr(float(value))
    return shown if "e" in shown else f"{shown}e0"


def _text(value: str, dialect: str) -> str:
    _no_nul(value)
    if dialect == "mysql":
        value = value.replace("\\", "\\\\")
    return "'" + value.replace("'", "''") + "'"


def _no_nul(text: str) -> None:
    if "\0" in text:
        raise QueryError(f"{text!r} has a NUL character, which SQL cannot hold; rename it, and fit again")
