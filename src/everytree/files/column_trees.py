"""Files of trees on whole columns: classifiers without 0/1 tests, such as C4.5, as JSON, and back.

    {"format": "everytree.column_tree", "version": 1, "everytree": "0.1.0",
     "estimator": …, "params": {…},                        the classifier and its parameters
     "target": …, "classes": […], "label_dtype": …,        what is predicted
     "named_columns": …, "columns": […],                   what was learned about the columns
     "tree": {…},                                          as its to_dict writes it
     "claims": {…},                                        fitted numbers; those that follow from the tree are compared
     "digest": …}                                          of all the rest, see json_text; older files have none

``estimators/column_base.py`` says what a classifier must offer to be saved. Reading trusts nothing, as for other model
files: the tree that comes back is a tree, fits its columns, and predicts exactly as the saved one did.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everytree import __version__
from everytree.common.fields import (
    check_seal,
    checked_fields,
    checked_number,
    checked_scalar,
    plain_scalar,
    scalar_to_json,
    sealed,
    without_seal,
)
from everytree.common.text import clip
from everytree.common.values import value_from_json, value_to_json
from everytree.data.categories import Categories
from everytree.data.columns import RawColumn
from everytree.errors import DataError, QueryError
from everytree.files.envelope import (
    check_costs,
    checked_target,
    labels_from_json,
    labels_to_json,
    params_from_json,
    params_to_json,
    recipes_field,
    set_recipes,
    with_recipes,
    write_json,
)
from everytree.files.registry import classifier_named, reads

__all__ = [
    "FORMAT",
    "categories_from_json",
    "categories_to_json",
    "column_tree_from_dict",
    "column_tree_to_dict",
    "raw_columns_from_json",
    "raw_columns_to_json",
    "save_column_tree",
]

FORMAT = "everytree.column_tree"
VERSION = 1
FIELDS = (
    "format", "version", "everytree", "estimator", "params", "target", "classes", "label_dtype", "named_columns",
    "columns", "tree", "claims",
)  # fmt: skip
LARGEST_WHOLE = 2**53  # the largest number in a list of claims


# --- writing


def save_column_tree(model: Any, path: str | os.PathLike[str], target: str | None = None) -> None:
    """Write a fitted classifier on whole columns to a file, whole or not at all."""
    write_json(column_tree_to_dict(model, target), path)


def column_tree_to_dict(model: Any, target: str | None = None) -> dict[str, Any]:
    """Write a fitted classifier on whole columns as plain lists, texts and numbers."""
    check_is_fitted(model)
    name = type(model).__name__
    if classifier_named(name, FORMAT) is not type(model):
        raise DataError(f"{name} is not a classifier of everytree, so load_model could not make it again")
    return sealed({
        "format": FORMAT,
        "version": VERSION,
        "everytree": __version__,
        "estimator": name,
        "params": params_to_json(model),
        "target": checked_target(model, target),
        **labels_to_json(model.classes_),
        "named_columns": hasattr(model, "feature_names_in_"),
        "columns": model.columns_to_json(),
        **recipes_field(model),
        "tree": model.tree_.to_dict(),
        "claims": {
            claim.removesuffix("_"): value_to_json(getattr(model, claim), claim)
            for claim in (*model.CLAIMS, *model.LATER_CLAIMS, *model.exponent_claims())
        },
    })  # fmt: skip


def raw_columns_to_json(columns: Iterable[RawColumn]) -> list[dict[str, Any]]:
    """Write whole columns as name, kind and values (null for a numeric one)."""
    return [
        {
            "name": column.name,
            "kind": column.kind,
            "values": None
            if column.kind == "numeric"
            else [scalar_to_json(v, column.name) for v in column.values],
        }
        for column in columns
    ]


def categories_to_json(categories: Iterable[Categories]) -> list[dict[str, Any]]:
    """Write categories as name, values or cuts, whether missing is a category, and what fills a gap."""
    return [
        {
            "name": each.name,
            "values": None
            if each.values is None
            else [scalar_to_json(value, each.name) for value in each.values],
            "cuts": [plain_scalar(cut) for cut in each.cuts],
            "missing": bool(each.missing),
            "fill": None if each.fill is None else scalar_to_json(each.fill, each.name),
        }
        for each in categories
    ]


# --- reading


@reads(FORMAT)
def column_tree_from_dict(data: Any) -> Any:
    """Read the fitted classifier that ``column_tree_to_dict`` wrote."""
    data, seal = without_seal(data)
    data = checked_fields(data, FORMAT, VERSION, with_recipes(FIELDS, data))
    made = classifier_named(data["estimator"], FORMAT)
    if made is None:
        raise DataError(
            f"estimator is {clip(data['estimator'])}; expected a classifier of everytree on whole columns"
        )
    model = made(**params_from_json(data["params"], made))
    model.classes_ = labels_from_json(data)
    check_costs(model)
    model.target_name_ = checked_target(model, data["target"])
    columns = model.columns_from_json(data["columns"])
    set_recipes(model, data)
    if not isinstance(data["named_columns"], bool):
        raise DataError(f"named_columns is {clip(data['named_columns'])}; expected true or false")
    model.n_features_in_ = len(columns)
    if data["named_columns"]:
        model.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
    try:
        model.tree_ = made.TREE.from_dict(data["tree"], columns, model.classes_.tolist())
    except DataError as error:
        raise DataError(f"tree: {error}") from error
    try:
        model.describe_tree()
    except QueryError as error:
        raise DataError(f"params: {error}") from error
    _set_claims(model, data["claims"])
    try:
        model.finish_loading()
    except QueryError as error:
        raise DataError(f"params: {error}") from error
    check_seal(data, seal)
    return model


def _set_claims(model: Any, claims: Any) -> None:
    """Set fitted attributes from the claims; those that follow from the tree must agree with it."""
    names = [claim.removesuffix("_") for claim in model.CLAIMS]
    later = [
        claim.removesuffix("_") for claim in model.LATER_CLAIMS
    ]  # files of earlier versions have none of them
    if isinstance(claims, dict) and set(later) <= set(claims):
        names += later
    of_exponent = [claim.removesuffix("_") for claim in model.exponent_claims()]
    names += of_exponent
    later += of_exponent
    if not isinstance(claims, dict) or set(claims) != set(names):
        given = ", ".join(map(clip, claims)) if isinstance(claims, dict) else clip(claims)
        raise DataError(f"claims holds {given or 'nothing'}; expected {', '.join(names)}")
    for name in names:
        value = _claim(value_from_json(claims[name], f"claims.{name}"), name)
        if (
            name in later
            and value is not None
            and (isinstance(value, bool) or not isinstance(value, int | float))
        ):
            raise DataError(f"claims.{name} is {clip(value)}; expected a number or null")
        found = getattr(model, f"{name}_", None)
        known = isinstance(found, int | float | str)  # it follows from the tree
        if known and (type(value) is not type(found) or value != found):
            raise DataError(
                f"claims.{name} is {clip(value)}; the tree has {clip(found)}. The file was changed by hand or damaged"
            )
        setattr(model, f"{name}_", value)


def _claim(value: Any, name: str) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        whole = [isinstance(item, int) and not isinstance(item, bool) for item in value]
        numbers = all(
            isinstance(item, float) or (fits and abs(item) <= LARGEST_WHOLE)
            for item, fits in zip(value, whole, strict=True)
        )
        if numbers:
            return np.array(value, dtype=np.int64 if value and all(whole) else np.float64)
    raise DataError(
        f"claims.{name} is {clip(value)}; expected a number, a text, true, false, null, or numbers"
    )


def raw_columns_from_json(data: Any) -> list[RawColumn]:
    """Read the columns that ``raw_columns_to_json`` wrote."""
    columns = []
    for path, column in _columns(data, ("name", "kind", "values")):
        kind, values = column["kind"], column["values"]
        if kind == "numeric":
            if values is not None:
                raise DataError(f"{path}.values is {clip(values)}; expected null for a numeric column")
            columns.append(RawColumn(column["name"], "numeric"))
        elif kind == "nominal":
            columns.append(RawColumn(column["name"], "nominal", _values(values, path)))
        else:
            raise DataError(f"{path}.kind is {clip(kind)}; expected numeric or nominal")
    return columns


def categories_from_json(data: Any) -> list[Categories]:
    """Read the categories that ``categories_to_json`` wrote."""
    found = []
    for path, each in _columns(data, ("name", "values", "cuts", "missing", "fill")):
        given, cuts, missing, fill = each["values"], each["cuts"], each["missing"], each["fill"]
        values = None if given is None else _values(given, path)
        if not isinstance(cuts, list) or (values is not None and cuts):
            raise DataError(
                f"{path}.cuts is {clip(cuts)}; expected a list of numbers, empty for a nominal column"
            )
        for i, cut in enumerate(cuts):
            if i and not cuts[i - 1] < checked_number(cut, f"{path}.cuts[{i}]"):
                raise DataError(f"{path}.cuts[{i}] is {clip(cut)}; expected cuts in ascending order")
            checked_number(cut, f"{path}.cuts[{i}]")
        if not isinstance(missing, bool):
            raise DataError(f"{path}.missing is {clip(missing)}; expected true or false")
        if fill is not None and values is None:
            checked_number(fill, f"{path}.fill")
        elif fill is not None and checked_scalar(fill, f"{path}.fill") not in (values or ()):
            raise DataError(f"{path}.fill is {clip(fill)}; expected one of the column's values, or null")
        if values == () and not missing:
            raise DataError(f"{path} has neither values nor missing ones; expected some")
        found.append(Categories(each["name"], values, tuple(cuts), missing, fill))
    return found


def _columns(data: Any, keys: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Yield (path, column) for a list of columns, which must have these keys and different names."""
    if not isinstance(data, list) or not data:
        raise DataError(f"columns is {clip(data)}; expected a list with at least one column")
    names: set[str] = set()
    for j, column in enumerate(data):
        if not isinstance(column, dict) or set(column) != set(keys):
            raise DataError(f"columns[{j}] is {clip(column)}; expected an object with {', '.join(keys)}")
        name = column["name"]
        if not isinstance(name, str) or name in names:
            raise DataError(f"columns[{j}].name is {clip(name)}; expected a text that no other column has")
        names.add(name)
    return [(f"columns[{j}]", column) for j, column in enumerate(data)]


def _values(values: Any, path: str) -> tuple[Any, ...]:
    if not isinstance(values, list):
        raise DataError(f"{path}.values is {clip(values)}; expected the values of a nominal column")
    if len({checked_scalar(value, f"{path}.values[{i}]") for i, value in enumerate(values)}) < len(values):
        raise DataError(f"{path}.values holds a value twice; expected different ones")
    return tuple(values)
