"""Files of an EveryTreeClassifier: the examples as codes, and for each average what it is taken over, and its weight.

    {"format": "everytree.every", "version": 5, "everytree": "0.1.0",
     "params": {…},                                        which question was asked
     "target": …, "classes": […], "label_dtype": …,        what is predicted
     "all_columns": […], "columns_used": […],              the names of all columns, the places of those in use
     "encoding": {…}, "columns": […], "tests": […], …,     how a raw row of these becomes codes
     "examples": {"codes": […], "counts": […]},            distinct rows of codes, and how many of each class they are
     "decided": […],                                       what is answered for each of them when it is left out
     "left_out": "…",                                      the probabilities then, little-endian doubles in base64; null
                                                           where they are very many
     "members": [{"columns": […], "bins": …, "depth": …, "weights": […], "loo_log_loss": …}, …],
                                                           weights: one for each class
     "forests": [{"cuts": …, "rounds": …, "columns_at_node": …, "weights": […], "loo_log_loss": …}, …],
                                                           deep trees, which are grown again from random_state
     "claims": {…},                                        what left-out examples say, the notes
     "digest": …}                                          of all the rest, see json_text

Reading trusts nothing: each field is checked before it is used, and the averages are taken again.
"""

from __future__ import annotations

import base64
import binascii
import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everytree import __version__
from everytree.bayes.deep_trees import CUTS, ROUNDS, can_grow, columns_tried
from everytree.common.fields import check_seal, checked_fields, sealed, without_seal
from everytree.common.json_text import Listed
from everytree.common.text import clip
from everytree.data.binarizer import Binarizer
from everytree.data.binarizer_form import columns_from_json, columns_to_json
from everytree.data.coded_rows import CodedRows
from everytree.errors import DataError
from everytree.files.envelope import (
    check_costs,
    checked_target,
    labels_from_json,
    labels_to_json,
    params_from_json,
    params_to_json,
    parts_from_json,
    parts_to_json,
    recipes_field,
    set_recipes,
    with_recipes,
    write_json,
)
from everytree.files.registry import classifier_named, reads

__all__ = ["FORMAT", "every_from_dict", "every_to_dict", "save_every"]

FORMAT = "everytree.every"
# Files of version 1 have no left_out, up to version 2 an average has one weight for all classes, and up to version 3
# there are no forests; up to version 4 their nodes draw the root of the number of columns.
VERSION = 5
ESTIMATOR = "EveryTreeClassifier"
FIELDS = (
    "format", "version", "everytree", "params", "target", "classes", "label_dtype", "all_columns", "named_columns",
    "columns_used", "encoding", "columns", "tests", "dropped", "examples", "decided", "left_out", "members", "forests",
    "claims",
)  # fmt: skip
NUMBERS = (
    "loo_log_loss", "loo_log_loss_error", "loo_accuracy", "pooled_log_loss", "baseline_log_loss", "baseline_accuracy",
)  # fmt: skip
MEMBER = ("columns", "bins", "depth", "weights", "loo_log_loss")
FOREST = ("cuts", "rounds", "columns_at_node", "weights", "loo_log_loss")
MOST_BINS, DEEPEST, MOST_COUNT = 64, 16, 2**53
MOST_MEMBERS = 2_000  # each is taken again when a file is read; about a hundred are tried
MOST_LEFT_OUT = 500_000  # probabilities that a file holds, of 11 characters each


def save_every(model: Any, path: str | os.PathLike[str], target: str | None = None) -> None:
    """Write a fitted EveryTreeClassifier to a file, whole or not at all."""
    write_json(_fields(model, target), path)


def every_to_dict(model: Any, target: str | None = None) -> dict[str, Any]:
    """Write a fitted EveryTreeClassifier as plain lists, texts and numbers."""
    data = _fields(model, target)
    examples = {
        name: each.plain() if isinstance(each, Listed) else each for name, each in data["examples"].items()
    }
    return data | {"examples": examples}


def _fields(model: Any, target: str | None) -> dict[str, Any]:
    """Return the fields of a file, with the examples as arrays: lists of them are ten times as large."""
    check_is_fitted(model)
    numbers = {name: float(getattr(model, f"{name}_")) for name in NUMBERS}
    coded, names = model.coded_, model.column_names()
    place = {names[j]: k for k, j in enumerate(model.columns_used_.tolist())}
    used = SimpleNamespace(binarizer_=coded.binarizer, n_features_in_=len(place))
    if hasattr(model, "feature_names_in_"):
        used.feature_names_in_ = list(place)
    return sealed({
        "format": FORMAT,
        "version": VERSION,
        "everytree": __version__,
        "params": params_to_json(model),
        "target": checked_target(model, target),
        **labels_to_json(model.classes_),
        "all_columns": names,
        "named_columns": hasattr(model, "feature_names_in_"),
        "columns_used": model.columns_used_.tolist(),
        **recipes_field(model),
        **columns_to_json(used),
        "examples": {
            "codes": Listed(coded.codes), "counts": Listed(coded.counts), **parts_to_json(coded.per_example),
        },
        "decided": model.decided_.tolist(),
        "left_out": _left_out_to_json(getattr(model, "left_out_", None)),
        "members": [
            {name: each[name] for name in MEMBER} | {"columns": [place[name] for name in each["columns"]]}
            for each in model.members_
        ],
        "forests": [
            {
                "cuts": each.cuts, "rounds": each.rounds, "columns_at_node": each.columns_at_node,
                "weights": weights.tolist(), "loo_log_loss": each.loss(coded),
            }
            for each, weights in zip(
                model.forests_, model.weights_by_class_[len(model.models_) :], strict=True
            )
        ],
        "claims": {
            **{name: None if np.isnan(value) else value for name, value in numbers.items()},
            "n_tried": model.n_tried_,
            "notes": model.notes_,
        },
    })  # fmt: skip


@reads(FORMAT)
def every_from_dict(data: Any) -> Any:
    """Read the fitted EveryTreeClassifier that ``every_to_dict`` wrote."""
    data, seal = without_seal(data)
    version = data.get("version") if isinstance(data, dict) else None
    later = {"left_out": 2, "forests": 4}  # fields, and the version that brought them
    fields = tuple(
        field for field in FIELDS if not isinstance(version, int) or version >= later.get(field, 1)
    )
    data = checked_fields(data, FORMAT, VERSION, with_recipes(fields, data))
    made = classifier_named(ESTIMATOR, FORMAT)
    model = made(**params_from_json(data["params"], made))
    model.classes_ = labels_from_json(data)
    check_costs(model)
    if data["target"] is not None and not isinstance(data["target"], str):
        raise DataError(f"target is {clip(data['target'])}; expected the name of a column, or null")
    model.target_name_ = data["target"]
    _read_columns(model, data)
    set_recipes(model, data)
    coded = _read_examples(model, data)
    members = _read_members(data, len(coded.binarizer.encodings_), len(model.classes_))
    forests = _read_forests(data, len(coded.columns.columns), len(model.classes_))
    if forests and not can_grow(coded):
        raise DataError("forests are given of examples that no trees are grown on; expected an empty list")
    _read_claims(model, data["claims"])
    entries = int(np.count_nonzero(coded.counts))
    decided = data["decided"]
    if not _whole_list(decided, 0, len(model.classes_) - 1) or len(decided) != entries:
        raise DataError(
            f"decided is {clip(decided)}; expected the place of a class for each of {entries} entries"
        )
    model.decided_ = np.array(decided, dtype=np.intp)
    said = _left_out_from_json(data.get("left_out"), entries, len(model.classes_))
    if said is not None:
        if not np.array_equal(said.argmax(axis=1), model.decided_):
            raise DataError("decided is not the most probable class of left_out; expected them to agree")
        model.left_out_ = said
    check_seal(data, seal)
    model.restore_from_file(coded, members, forests)
    return model


def _read_columns(model: Any, data: dict[str, Any]) -> None:
    names, used = data["all_columns"], data["columns_used"]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DataError(f"all_columns is {clip(names)}; expected a list of names, at least one")
    if not isinstance(data["named_columns"], bool):
        raise DataError(f"named_columns is {clip(data['named_columns'])}; expected true or false")
    if not _whole_list(used, 0, len(names) - 1) or not used or used != sorted(set(used)):
        raise DataError(f"columns_used is {clip(used)}; expected different places among columns, ascending")
    model.n_features_in_ = len(names)
    if data["named_columns"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.columns_used_ = np.array(used, dtype=np.intp)


def _read_examples(model: Any, data: dict[str, Any]) -> CodedRows:
    blank = Binarizer(bins=4, missing=model.missing, cuts="local")
    holder: Any = SimpleNamespace(
        new_binarizer=lambda: blank, missing=model.missing, unknown=blank.unknown, cuts="local"
    )
    columns_from_json(data, holder)
    if hasattr(blank, "feature_names_in_") != data["named_columns"]:
        raise DataError(
            f"named_columns is {data['named_columns']}; expected the same as encoding.named_columns"
        )
    if holder.n_features_in_ != model.columns_used_.size:
        raise DataError(f"columns has {holder.n_features_in_} entries; expected one for each of columns_used")
    examples = data["examples"]
    if not isinstance(examples, dict) or set(examples) - {"per_example"} != {"codes", "counts"}:
        raise DataError(f"examples is {clip(examples)}; expected an object with codes and counts")
    columns, n_classes = blank.columns_.columns, len(model.classes_)  # type: ignore[union-attr]
    codes, counts = examples["codes"], examples["counts"]
    if not isinstance(codes, list) or not isinstance(counts, list) or len(codes) != len(counts) or not codes:
        raise DataError(
            "examples.codes and counts are no lists of one length; expected an entry for each row"
        )
    for i, (row, count) in enumerate(zip(codes, counts, strict=True)):
        fine = _whole_list(row, 0, 2**31 - 1) and len(row) == len(columns)
        if not fine or any(code > column.n_codes for code, column in zip(row, columns, strict=True)):
            raise DataError(f"examples.codes[{i}] is {clip(row)}; expected a code for each column with tests")
        if not _whole_list(count, 0, MOST_COUNT) or len(count) != n_classes or not any(count):
            raise DataError(
                f"examples.counts[{i}] is {clip(count)}; expected {n_classes} counts, not all zero"
            )
    table = np.array(codes, dtype=np.int32).reshape(len(codes), len(columns))
    if blank.columns_.distinct(table)[0].tolist() != list(range(len(codes))):  # type: ignore[union-attr]
        raise DataError(
            "examples.codes are not distinct and in their order; expected them as everytree writes them"
        )
    parts = parts_from_json(examples, "examples.")
    return CodedRows(blank, table, np.array(counts, dtype=np.int64), tuple(model.classes_.tolist()), parts)


def _left_out_to_json(said: Any) -> str | None:
    if said is None or said.size > MOST_LEFT_OUT:
        return None
    return base64.b64encode(np.ascontiguousarray(said, dtype="<f8").tobytes()).decode("ascii")


def _left_out_from_json(text: Any, entries: int, n_classes: int) -> Any:
    if text is None:
        return None
    expected = f"base64 of {entries} × {n_classes} probabilities as little-endian doubles, or null"
    if not isinstance(text, str):
        raise DataError(f"left_out is {clip(text)}; expected {expected}")
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DataError(f"left_out is no base64 ({error}); expected {expected}") from error
    if len(content) != 8 * entries * n_classes:
        raise DataError(f"left_out has {len(content)} bytes; expected {expected}")
    said = np.frombuffer(content, dtype="<f8").reshape(entries, n_classes).astype(np.float64)
    if not ((said >= 0) & (said <= 1)).all() or (np.abs(said.sum(axis=1) - 1) > 1e-9).any():
        raise DataError("left_out holds rows that do not sum to 1; expected probabilities")
    return said


def _read_members(data: dict[str, Any], n_columns: int, n_classes: int) -> list[dict[str, Any]]:
    """Return the averages; in Python they also have ``weight``, the mean over the classes."""
    members, old = data["members"], data["version"] < 3
    names = tuple("weight" if old and name == "weights" else name for name in MEMBER)
    if not isinstance(members, list) or not members:
        raise DataError(f"members is {clip(members)}; expected a list with at least one average")
    if len(members) > MOST_MEMBERS:
        raise DataError(f"members has {len(members)} entries; expected at most {MOST_MEMBERS}")
    found = []
    for k, each in enumerate(members):
        if not isinstance(each, dict) or set(each) != set(names):
            raise DataError(f"members[{k}] is {clip(each)}; expected an object with {', '.join(names)}")
        if not _whole_list(each["columns"], 0, n_columns - 1) or each["columns"] != sorted(
            set(each["columns"])
        ):
            raise DataError(f"members[{k}].columns is {clip(each['columns'])}; expected places, ascending")
        for name, least, most in (("bins", 2, MOST_BINS), ("depth", 0, DEEPEST)):
            if not _whole_list([each[name]], least, most):
                raise DataError(
                    f"members[{k}].{name} is {clip(each[name])}; expected a whole number from {least} to {most}"
                )
        weights = [each["weight"]] * n_classes if old else each["weights"]
        if not _are_weights(weights, n_classes):
            raise DataError(
                f"members[{k}].{names[3]} is {clip(each[names[3]])}; expected "
                f"{'a number' if old else f'{n_classes} numbers'}, not below zero"
            )
        if not _is_number(each["loo_log_loss"]):
            raise DataError(f"members[{k}].loo_log_loss is {clip(each['loo_log_loss'])}; expected a number")
        found.append(each | {"weights": weights, "weight": float(np.mean(weights))})
    return found


def _read_forests(data: dict[str, Any], n_columns: int, n_classes: int) -> list[dict[str, Any]]:
    forests: Any = data.get("forests", [])
    if not isinstance(forests, list) or len(forests) > len(CUTS):
        raise DataError(f"forests is {clip(forests)}; expected a list of at most {len(CUTS)} forests")
    old = data["version"] < 5
    fields = [field for field in FOREST if not (old and field == "columns_at_node")]
    found = []
    for k, given in enumerate(forests):
        if not isinstance(given, dict) or set(given) != set(fields):
            raise DataError(f"forests[{k}] is {clip(given)}; expected an object with {', '.join(fields)}")
        each: dict[str, Any] = dict(given)
        if old:
            each["columns_at_node"] = columns_tried(n_columns)[0]
        if not _whole_list([each["columns_at_node"]], 1, n_columns):
            raise DataError(
                f"forests[{k}].columns_at_node is {clip(each['columns_at_node'])}; expected a whole number from 1 to "
                f"{n_columns}"
            )
        if each["cuts"] not in CUTS:
            raise DataError(f"forests[{k}].cuts is {clip(each['cuts'])}; expected one of {', '.join(CUTS)}")
        if not _whole_list([each["rounds"]], 1, ROUNDS):
            raise DataError(
                f"forests[{k}].rounds is {clip(each['rounds'])}; expected a whole number from 1 to {ROUNDS}"
            )
        if not _are_weights(each["weights"], n_classes):
            raise DataError(
                f"forests[{k}].weights is {clip(each['weights'])}; expected {n_classes} numbers, not below zero"
            )
        if not _is_number(each["loo_log_loss"]):
            raise DataError(f"forests[{k}].loo_log_loss is {clip(each['loo_log_loss'])}; expected a number")
        found.append(each)
    return found


def _are_weights(weights: Any, n_classes: int) -> bool:
    return (
        isinstance(weights, list)
        and len(weights) == n_classes
        and all(_is_number(weight) and weight >= 0 for weight in weights)
    )


def _read_claims(model: Any, claims: Any) -> None:
    if not isinstance(claims, dict) or set(claims) != {*NUMBERS, "n_tried", "notes"}:
        raise DataError(f"claims is {clip(claims)}; expected {', '.join((*NUMBERS, 'n_tried', 'notes'))}")
    for name in NUMBERS:
        value = claims[name]
        if not _is_number(value) and value is not None:
            raise DataError(f"claims.{name} is {clip(value)}; expected a number or null")
        setattr(model, f"{name}_", float("nan") if value is None else float(value))
    if not _whole_list([claims["n_tried"]], 1, MOST_COUNT):
        raise DataError(f"claims.n_tried is {clip(claims['n_tried'])}; expected how many averages were taken")
    notes = claims["notes"]
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise DataError(f"claims.notes is {clip(notes)}; expected a list of texts")
    model.n_tried_, model.notes_ = claims["n_tried"], notes


def _whole_list(values: Any, least: int, most: int) -> bool:
    return isinstance(values, list) and all(
        isinstance(x, int) and not isinstance(x, bool) and least <= x <= most for x in values
    )


def _is_number(value: Any) -> bool:
    # Of any whole number: one of JSON may have more digits than numpy, and than a float, can hold.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
