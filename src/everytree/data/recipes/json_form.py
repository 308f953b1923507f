"""Recipes in model files: a list of objects, checked field by field when they are read.

{"column": "amount", "as": "number", "decimal": ".", "thousands": ",", "marks": ["$"]}
{"column": "paperless", "as": "truth", "yes": ["y", "yes"], "no": ["n", "no"]}
{"column": "signup", "as": "date", "order": "dmy", "newest": "2024-06-30", "parts": ["month", "age in days"]}
{"column": "opened", "as": "time"}
{"column": "city", "as": "words", "keep": ["Bonn", "Ulm"]}
{"column": "churned", "as": "same", "same": {"y": "Yes", "yes": "Yes", "no": "No"}}
{"column": "price", "as": "cut", "decimal": ".", "thousands": "", "marks": [], "cuts": [100.0]}

Each may have "absent": the texts that cannot be read and were there in training, so that they are nothing new.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from everytree.common.text import clip
from everytree.data.recipes.dates import ORDERS
from everytree.data.recipes.forms import MARKS, NumberForm, is_unit
from everytree.data.recipes.recipe import (
    PARTS,
    CutRecipe,
    DateRecipe,
    NumberRecipe,
    Recipe,
    Recipes,
    SameRecipe,
    SpelledRecipe,
    TimeRecipe,
    TruthRecipe,
    WordsRecipe,
)
from everytree.errors import DataError

__all__ = ["recipes_from_json", "recipes_to_json"]

FORM = ("decimal", "thousands", "marks")
FIELDS = {
    "number": FORM,
    "truth": ("yes", "no"),
    "date": ("order", "newest", "parts"),
    "time": (),
    "words": ("keep",),
    "same": ("same",),
    "spelled": ("same",),
    "cut": (*FORM, "cuts"),
}


def recipes_to_json(recipes: Iterable[Recipe]) -> list[dict[str, Any]]:
    """Write recipes as plain lists, texts and numbers."""
    return [
        {"column": recipe.column, "as": recipe.AS}
        | _fields(recipe)
        | ({"absent": [*recipe.absent]} if recipe.absent else {})
        for recipe in recipes
    ]


def _fields(recipe: Recipe) -> dict[str, Any]:
    if isinstance(recipe, NumberRecipe | CutRecipe):
        form = {
            "decimal": recipe.form.decimal,
            "thousands": recipe.form.thousands,
            "marks": [*recipe.form.marks],
        }
        return form | ({"cuts": [*recipe.cuts]} if isinstance(recipe, CutRecipe) else {})
    if isinstance(recipe, TruthRecipe):
        return {"yes": [*recipe.yes], "no": [*recipe.no]}
    if isinstance(recipe, DateRecipe):
        newest = datetime.date.fromordinal(recipe.newest).isoformat()
        return {"order": recipe.order, "newest": newest, "parts": [*recipe.parts]}
    if isinstance(recipe, WordsRecipe):
        return {"keep": [*recipe.keep]}
    return {"same": dict(recipe.same)} if isinstance(recipe, SameRecipe | SpelledRecipe) else {}


def recipes_from_json(data: Any) -> Recipes:
    """Read what ``recipes_to_json`` wrote; anything else is refused by the name of the field.

    >>> recipes_from_json([{"column": "opened", "as": "time"}])
    (TimeRecipe(column='opened'),)
    """
    if not isinstance(data, list):
        raise DataError(f"recipes is {clip(data)}; expected a list")
    made = tuple(_with_absent(each, f"recipes[{k}]") for k, each in enumerate(data))
    names = [recipe.column for recipe in made]
    if len(set(names)) < len(names):
        raise DataError("recipes names a column twice; expected one recipe for each")
    return made


def _with_absent(data: Any, at: str) -> Recipe:
    if not isinstance(data, dict) or "absent" not in data:
        return _recipe(data, at)
    recipe = _recipe({key: value for key, value in data.items() if key != "absent"}, at)
    return replace(recipe, absent=_texts(data["absent"], f"{at}.absent"))


def _recipe(data: Any, at: str) -> Recipe:
    named = isinstance(data, dict) and all(isinstance(data.get(key), str) for key in ("column", "as"))
    if not named or data["as"] not in FIELDS:
        raise DataError(f"{at} is {clip(data)}; expected an object with column and as: {', '.join(FIELDS)}")
    name, kind = data["column"], data["as"]
    if set(data) != {"column", "as", *FIELDS[kind]}:
        raise DataError(
            f"{at} has the fields {clip(list(data))}; expected column, as, {', '.join(FIELDS[kind])}"
        )
    if kind in ("number", "cut"):
        form = _form(data, at)
        return (
            NumberRecipe(name, form) if kind == "number" else CutRecipe(name, form, _cuts(data["cuts"], at))
        )
    if kind == "truth":
        return TruthRecipe(name, _texts(data["yes"], f"{at}.yes"), _texts(data["no"], f"{at}.no"))
    if kind == "date":
        return _date(name, data, at)
    if kind == "words":
        return WordsRecipe(name, _texts(data["keep"], f"{at}.keep"))
    if kind in ("same", "spelled"):
        same = data["same"]
        if (
            not isinstance(same, dict)
            or not same
            or not all(isinstance(value, str) for value in same.values())
        ):
            raise DataError(f"{at}.same is {clip(same)}; expected an object from spellings to texts")
        return (SameRecipe if kind == "same" else SpelledRecipe)(name, tuple(same.items()))
    return TimeRecipe(name)


def _texts(data: Any, at: str) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(text, str) for text in data):
        raise DataError(f"{at} is {clip(data)}; expected a list of texts")
    return tuple(data)


def _form(data: dict[str, Any], at: str) -> NumberForm:
    decimal, thousands, marks = data["decimal"], data["thousands"], _texts(data["marks"], f"{at}.marks")
    if decimal not in (".", ",") or thousands not in ("", ",", ".", " ", "'") or decimal == thousands:
        raise DataError(
            f"{at} has the decimal mark {clip(decimal)} and the thousands mark {clip(thousands)}; expected two "
            "different ones of . and ,"
        )
    for mark in marks:
        if mark not in MARKS and not is_unit(mark):
            raise DataError(f"{at}.marks has {clip(mark)}; expected a unit, or marks among {' '.join(MARKS)}")
    return NumberForm(decimal, thousands, marks)


def _cuts(data: Any, at: str) -> tuple[float, ...]:
    fine = isinstance(data, list) and all(
        isinstance(cut, int | float) and not isinstance(cut, bool) and math.isfinite(cut) for cut in data
    )
    if not fine or not data or any(a >= b for a, b in itertools.pairwise(data)):
        raise DataError(f"{at}.cuts is {clip(data)}; expected finite numbers, ascending")
    return tuple(float(cut) for cut in data)


def _date(name: str, data: dict[str, Any], at: str) -> DateRecipe:
    order, parts = data["order"], _texts(data["parts"], f"{at}.parts")
    if order not in ORDERS:
        raise DataError(f"{at}.order is {clip(order)}; expected one of {', '.join(ORDERS)}")
    if not parts or [part for part in PARTS if part in parts] != list(parts):
        raise DataError(
            f"{at}.parts is {clip(list(parts))}; expected some of {', '.join(PARTS)}, in this order"
        )
    try:
        newest = datetime.date.fromisoformat(data["newest"])
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{at}.newest is {clip(data['newest'])}; expected a date such as 2024-06-30"
        ) from error
    return DateRecipe(name, order, newest.toordinal(), parts)
