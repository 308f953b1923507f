"""Python: a module that needs nothing but Python, with ``predict_proba(row)`` and ``predict(row)``.

A row is a dict (or any mapping) from column names to values; None, NaN and an absent column are missing. Blanks around
a text do not count.
"""

from __future__ import annotations

from everytree.export.blocks import comment, plain_label, rule_lines, tree_lines
from everytree.export.form import Condition, Form, SumForm, TreeForm, is_padded

__all__ = ["module"]

HEAD = '''"""A decision model, written by everytree. predict_proba(row) and predict(row) take a dict of columns."""
{notes}
CLASSES = {classes}
COLUMNS = {columns}


def _value(row, name):
  value = row.get(name)
  return None if value is None or value != value else value

'''

TREE = '''
def predict_proba(row):
  """The probability of each class, in the order of CLASSES."""
  return list(_PROBA[_leaf(row)])


def predict(row):
  """The class of a row."""
  return CLASSES[_SAYS[_leaf(row)]]
'''

SUM = '''
def predict_proba(row):
  """The probability of each class, in the order of CLASSES."""
  q = list(_BASE)
  for rule in _rules(row):
    q = [a + b for a, b in zip(q, _MOVES[rule])]
  if all(a >= b for a, b in zip(q, _FLOOR)):
    return q
  above = [a - b for a, b in zip(q, _FLOOR)]
  total = lower = 0.0
  for k, each in enumerate(sorted(above, reverse=True)):
    total += each
    level = (total - (1.0 - sum(_FLOOR))) / (k + 1)
    if each >= level:
      lower = level
  return [b + max(0.0, a - lower) for a, b in zip(above, _FLOOR)]


def predict(row):
  """The most probable class of a row."""
  proba = predict_proba(row)
  return CLASSES[proba.index(max(proba))]
'''


def module(form: Form) -> str:
    """Write the module."""
    used = form.used()
    head = HEAD.format(
        classes=ascii([plain_label(label) for label in form.classes]),
        columns=ascii([form.fields[k].name for k in used]),
        notes="".join(f"# {comment(note)}\n" for note in form.notes),
    )
    values = [f"  x{k} = _value(row, {form.fields[k].name!a})" for k in used]
    if isinstance(form, TreeForm):
        form.check_depth("Python")
        leaves = [node for node in form.nodes if node.condition is None]
        tables = [
            f"_PROBA = {[list(node.proba) for node in leaves]}",
            f"_SAYS = {[node.says for node in leaves]}",
        ]
        body = list(tree_lines(form, _asked, "if {}:", "", "return {}"))
        return "\n".join([head + "\n".join(tables), "", "", "def _leaf(row):", *values, *body, "", TREE])
    assert isinstance(form, SumForm)
    tables = [
        f"_BASE = {list(form.base)}",
        f"_FLOOR = {list(form.floor)}",
        f"_MOVES = {[list(rule.moves) for rule in form.rules]}",
    ]
    body = list(rule_lines(form, _asked, " and ", "not {}", "  if {}: yield {}"))
    return "\n".join(
        [head + "\n".join(tables), "", "", "def _rules(row):", *values, *body, "  yield from ()", "", SUM]
    )


def _asked(condition: Condition) -> str:
    x = f"x{condition.field}"
    if condition.op == "missing":
        return f"({x} is None)"
    compared = f"{x} {condition.op} {condition.value!a}"
    if isinstance(condition.value, str) and not is_padded(condition.value):
        folded = condition.value.lower() if condition.any_case else condition.value
        compared = f"str({x}).strip(){'.lower()' if condition.any_case else ''} == {folded!a}"
    return f"({x} is None or {compared})" if condition.missing else f"({x} is not None and {compared})"
