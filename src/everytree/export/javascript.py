"""JavaScript: ``predict_proba(row)`` and ``predict(row)``, for browsers and node, without any library.

A row is an object with a property for each column; null, undefined, NaN and an absent property are missing. Only the
row's own properties count, so that a column called "constructor" is missing where it is not there. Numbers are doubles,
as all of JavaScript's are. Blanks around a text do not count.
"""

from __future__ import annotations

import json
from typing import Any

from everytree.export.blocks import comment, plain_label, rule_lines, tree_lines
from everytree.export.form import Condition, Form, SumForm, TreeForm, below, is_padded

__all__ = ["script"]

HEAD = """// A decision model, written by everytree. predict_proba(row) and predict(row) take an object of columns.
{notes}const everytree = (() => {{
"use strict";
const classes = {classes};
const columns = {columns};
const value = (row, name) => {{
  if (!Object.prototype.hasOwnProperty.call(row, name)) return null;
  const x = row[name];
  return x === undefined || x !== x ? null : x;
}};
"""

TREE = """
const predict_proba = (row) => proba[leaf(row)].slice();
const predict = (row) => classes[says[leaf(row)]];
"""

SUM = """
const predict_proba = (row) => {
  const q = base.slice();
  for (const rule of rules(row)) for (let c = 0; c < q.length; c++) q[c] += moves[rule][c];
  if (q.every((x, c) => x >= floor[c])) return q;
  const above = q.map((x, c) => x - floor[c]);
  const free = 1 - floor.reduce((a, b) => a + b, 0);
  let total = 0, lower = 0;
  above.slice().sort((a, b) => b - a).forEach((each, k) => {
    total += each;
    const level = (total - free) / (k + 1);
    if (each >= level) lower = level;
  });
  return above.map((x, c) => floor[c] + Math.max(0, x - lower));
};
const predict = (row) => {
  const p = predict_proba(row);
  return classes[p.indexOf(Math.max(...p))];
};
"""

TAIL = """return { classes, columns, predict_proba, predict };
})();
if (typeof module !== "undefined" && module.exports) module.exports = everytree;
"""


def script(form: Form) -> str:
    """Write the script."""
    used = form.used()
    head = HEAD.format(
        classes=_literal([plain_label(label) for label in form.classes]),
        columns=_literal([form.fields[k].name for k in used]),
        notes="".join(f"// {comment(note)}\n" for note in form.notes),
    )
    values = [f"  const x{k} = value(row, {_literal(form.fields[k].name)});" for k in used]
    if isinstance(form, TreeForm):
        form.check_depth("JavaScript")
        leaves = [node for node in form.nodes if node.condition is None]
        tables = [
            f"const proba = {_literal([list(node.proba) for node in leaves])};",
            f"const says = {_literal([node.says for node in leaves])};",
        ]
        body = list(tree_lines(form, _asked, "if ({}) {{", "}", "return {};"))
        return "\n".join(
            [head + "\n".join(tables), "const leaf = (row) => {", *values, *body, "};" + TREE + TAIL]
        )
    assert isinstance(form, SumForm)
    tables = [
        f"const base = {_literal(list(form.base))};",
        f"const floor = {_literal(list(form.floor))};",
        f"const moves = {_literal([list(rule.moves) for rule in form.rules])};",
    ]
    body = list(rule_lines(form, _asked, " && ", "!{}", "  if ({}) found.push({});"))
    start = ["const rules = (row) => {", *values, "  const found = [];"]
    return "\n".join([head + "\n".join(tables), *start, *body, "  return found;", "};" + SUM + TAIL])


def _asked(condition: Condition) -> str:
    x = f"x{condition.field}"
    if condition.op == "missing":
        return f"({x} === null)"
    value = condition.value
    if condition.op == "==":
        compared = f"{x} === {_literal(value)}"
        if isinstance(value, str) and not is_padded(value):
            folded = value.lower() if condition.any_case else value
            compared = (
                f"String({x}).trim(){'.toLowerCase()' if condition.any_case else ''} === {_literal(folded)}"
            )
    else:
        compared = f"{x} {condition.op} {below(value)!r}"
    return f"({x} === null || {compared})" if condition.missing else f"({x} !== null && {compared})"


def _literal(value: Any) -> str:
    """Write a JSON value that is safe in a script, and in a page around it."""
    return (
        json.dumps(value, ensure_ascii=True, allow_nan=True).replace("<", "\\u003c").replace(">", "\\u003e")
    )
