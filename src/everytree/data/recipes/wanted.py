"""What a model in another language wants of the columns, where recipes made them of a file: told, or asked alike.

money, units     the plain number
yes and no       1 and 0
dates            their parts, under the names that the model has for them
spellings        any case of letters: the conditions ask so, and nothing need be done
rare texts       the word (other)
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from everytree.common.text import show
from everytree.data.recipes.forms import NumberForm
from everytree.data.recipes.recipe import (
    OTHER,
    DateRecipe,
    NumberRecipe,
    Recipe,
    SpelledRecipe,
    TimeRecipe,
    TruthRecipe,
    WordsRecipe,
)
from everytree.export.form import Condition, Form, SumForm, TreeForm

__all__ = ["as_read"]


def as_read(form: Form, recipes: Iterable[Recipe]) -> Form:
    """Return a form whose texts are asked in all spellings that recipes join, with notes on what columns must hold.

    >>> from everytree.export.form import Field, Node
    >>> asked = Node(Condition(0, "==", "East"), 1, 2, (), 0, ())
    >>> form = TreeForm((Field("region", "text"),), ("a", "b"), (asked,))
    >>> as_read(form, [SpelledRecipe("region", (("east", "East"),))]).nodes[0].condition.holds(" EAST")
    True
    """
    made = {name: recipe for recipe in recipes for name in recipe.made}
    if not made:
        return form
    folded = {
        k: dict(recipe.same)
        for k, each in enumerate(form.fields)
        if isinstance(recipe := made.get(each.name), SpelledRecipe)
    }
    if isinstance(form, TreeForm):
        nodes = (
            node if node.condition is None else replace(node, condition=_in_any_case(node.condition, folded))
            for node in form.nodes
        )
        form = replace(form, nodes=tuple(nodes))
    elif isinstance(form, SumForm):
        rules = (
            replace(rule, items=tuple((_in_any_case(asked, folded), wanted) for asked, wanted in rule.items))
            for rule in form.rules
        )
        form = replace(form, rules=tuple(rules))
    notes = [
        note
        for k in form.used()
        if (recipe := made.get(form.fields[k].name)) is not None
        and (note := _note(recipe, form.fields[k].name, [c.value for c in form.conditions() if c.field == k]))
    ]
    return replace(form, notes=tuple(notes))


def _in_any_case(condition: Condition, folded: Mapping[int, Mapping[str, str]]) -> Condition:
    word = condition.value
    if condition.op != "==" or not isinstance(word, str):
        return condition
    same = folded.get(condition.field, {}).get(word.lower()) == word
    return replace(condition, any_case=True) if same else condition


def _note(recipe: Recipe, name: str, asked: list[Any]) -> str:
    told = _wanted(recipe, name, asked)
    if told and recipe.absent:
        told += f"; missing for {_listed(recipe.absent)}"
    return f"{name}: {told}" if told else ""


def _wanted(recipe: Recipe, name: str, asked: list[Any]) -> str:
    source = show(recipe.column)
    if isinstance(recipe, NumberRecipe):
        written = _example(recipe.form)
        return "" if written == "1234.5" else f"the plain number, such as 1234.5 for {written}"
    if isinstance(recipe, TruthRecipe):
        return f"1 for {_listed(recipe.yes)} and 0 for {_listed(recipe.no)}, in any case of letters"
    if isinstance(recipe, TimeRecipe):
        return "hours since midnight, such as 14.5 for 14:30"
    if isinstance(recipe, DateRecipe):
        newest = datetime.date.fromordinal(recipe.newest).isoformat()
        part = recipe.parts[recipe.made.index(name)]
        return {
            "year": f"the year of {source}, such as 2024",
            "month": f"the month of {source}, 1 to 12",
            "weekday": f"the weekday of {source}, 1 (Monday) to 7 (Sunday)",
            "hour": f"the hours since midnight of {source}, such as 14.5 for 14:30",
            "age in days": f"the days from {source} to {newest}",
        }[part]
    if isinstance(recipe, WordsRecipe) and OTHER in asked:
        return f"{OTHER} for every text but {_listed(recipe.keep)}"
    if isinstance(recipe, SpelledRecipe):
        texts, same = {word for word in asked if isinstance(word, str)}, dict(recipe.same)
        words = sorted(word for word in texts if same.get(word.lower()) == word)
        return f"{_listed(words)}, in any case of letters" if words else ""
    return ""


def _listed(words: Iterable[str]) -> str:
    return ", ".join(map(show, words))


def _example(form: NumberForm) -> str:
    number = f"1{form.thousands}234{form.decimal}5"
    for mark in form.marks[:1]:
        before = mark in ("$", "€", "£", "¥", "₹", "US$", "A$", "C$") and form.decimal == "."
        number = f"{mark}{number}" if before else f"{number}{'' if mark == '%' else ' '}{mark}"
    return number
