"""Files of an EveryTreeClassifier: its averages, each as a model file has it, with their weights and the exponent.

    {"format": "everytree.every", "version": 1, "everytree": "0.1.0",
     "params": {…},                                        which question was asked
     "target": …, "classes": […], "label_dtype": …,        what is predicted
     "columns": […], "named_columns": …,                   the names of all columns
     "columns_used": […],                                  the places of those that the averages have
     "models": [{…}, …], "weights": […], "exponent": …,    the averages, and how they are mixed
     "claims": {…},                                        what left-out examples say, the spaces, the notes
     "digest": …}                                          of all the rest, see json_text

Reading trusts nothing: every average is read as a model file is, and must have the same classes and rows as the first.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everytree import __version__
from everytree.bayes.exponent import MOST
from everytree.common.fields import check_seal, checked_fields, sealed, without_seal
from everytree.common.text import clip
from everytree.errors import DataError
from everytree.files.envelope import (
    check_costs,
    checked_target,
    labels_from_json,
    labels_to_json,
    params_from_json,
    params_to_json,
    write_json,
)
from everytree.files.model_file import model_from_dict, model_to_dict
from everytree.files.registry import classifier_named, reads

__all__ = ["FORMAT", "every_from_dict", "every_to_dict", "save_every"]

FORMAT = "everytree.every"
VERSION = 1
ESTIMATOR, PART = "EveryTreeClassifier", "BayesOptimalClassifier"
FIELDS = (
    "format", "version", "everytree", "params", "target", "classes", "label_dtype", "columns", "named_columns",
    "columns_used", "models", "weights", "exponent", "claims",
)  # fmt: skip
NUMBERS = ("loo_log_loss", "loo_log_loss_error", "loo_accuracy", "baseline_log_loss", "baseline_accuracy")
SPACE = ("bins", "depth", "loo_log_loss", "weight", "seconds")
SUM_SLACK = 1e-9


def save_every(model: Any, path: str | os.PathLike[str], target: str | None = None) -> None:
    """Write a fitted EveryTreeClassifier to a file, whole or not at all."""
    write_json(every_to_dict(model, target), path)


def every_to_dict(model: Any, target: str | None = None) -> dict[str, Any]:
    """Write a fitted EveryTreeClassifier as plain lists, texts and numbers."""
    check_is_fitted(model)
    named = checked_target(model, target)
    numbers = {name: float(getattr(model, f"{name}_")) for name in NUMBERS}
    return sealed({
        "format": FORMAT,
        "version": VERSION,
        "everytree": __version__,
        "params": params_to_json(model),
        "target": named,
        **labels_to_json(model.classes_),
        "columns": model.column_names(),
        "named_columns": hasattr(model, "feature_names_in_"),
        "columns_used": model.columns_used_.tolist(),
        "models": [model_to_dict(each, named) for each in model.models_],
        "weights": model.weights_.tolist(),
        "exponent": model.exponent_,
        "claims": {
            **{name: None if np.isnan(value) else value for name, value in numbers.items()},
            "ladder": model.ladder_,
            "notes": model.notes_,
        },
    })  # fmt: skip


@reads(FORMAT)
def every_from_dict(data: Any) -> Any:
    """Read the fitted EveryTreeClassifier that ``every_to_dict`` wrote."""
    data, seal = without_seal(data)
    data = checked_fields(data, FORMAT, VERSION, FIELDS)
    made = classifier_named(ESTIMATOR, FORMAT)
    model = made(**params_from_json(data["params"], made))
    model.classes_ = labels_from_json(data)
    check_costs(model)
    if data["target"] is not None and not isinstance(data["target"], str):
        raise DataError(f"target is {clip(data['target'])}; expected the name of a column, or null")
    model.target_name_ = data["target"]
    _read_columns(model, data)
    _read_models(model, data)
    _read_claims(model, data["claims"])
    check_seal(data, seal)
    return model


def _read_columns(model: Any, data: dict[str, Any]) -> None:
    names, used = data["columns"], data["columns_used"]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DataError(f"columns is {clip(names)}; expected a list of names, at least one")
    if not isinstance(data["named_columns"], bool):
        raise DataError(f"named_columns is {clip(data['named_columns'])}; expected true or false")
    whole = isinstance(used, list) and all(isinstance(j, int) and not isinstance(j, bool) for j in used)
    if not whole or not used or used != sorted(set(used)) or not 0 <= used[0] <= used[-1] < len(names):
        raise DataError(f"columns_used is {clip(used)}; expected different places among columns, ascending")
    model.n_features_in_ = len(names)
    if data["named_columns"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.columns_used_ = np.array(used, dtype=np.intp)


def _read_models(model: Any, data: dict[str, Any]) -> None:
    parts, weights, exponent = data["models"], data["weights"], data["exponent"]
    if not isinstance(parts, list) or not parts:
        raise DataError(f"models is {clip(parts)}; expected a list with at least one average")
    fine = (
        isinstance(weights, list)
        and len(weights) == len(parts)
        and all(_is_number(w) and w > 0 for w in weights)
    )
    if not fine or abs(sum(weights) - 1) > SUM_SLACK:
        raise DataError(f"weights is {clip(weights)}; expected one above zero for each of models, 1 in all")
    if not _is_number(exponent) or not 0 <= exponent <= MOST:
        raise DataError(f"exponent is {clip(exponent)}; expected a number from 0 to {MOST:g}")
    model.models_ = []
    for k, part in enumerate(parts):
        try:
            read = model_from_dict(part)
        except DataError as error:
            raise DataError(f"models[{k}]: {error}") from error
        first = model.models_[0] if model.models_ else read
        if type(read).__name__ != PART or read.calibrate != "loo" or read.cuts != "local":
            raise DataError(f"models[{k}] is no average with local cuts and an exponent; expected one")
        if read.classes_.tolist() != model.classes_.tolist():
            raise DataError(f"models[{k}].classes are not those of the file; expected the same")
        if read.n_features_in_ != model.columns_used_.size:
            raise DataError(f"models[{k}] has {read.n_features_in_} columns; expected those of columns_used")
        if read.fingerprint_ != first.fingerprint_:
            raise DataError(f"models[{k}] has other training examples than the first one; expected the same")
        model.models_.append(read)
    model.weights_, model.exponent_ = np.array(weights, dtype=np.float64), float(exponent)


def _read_claims(model: Any, claims: Any) -> None:
    if not isinstance(claims, dict) or set(claims) != {*NUMBERS, "ladder", "notes"}:
        raise DataError(f"claims is {clip(claims)}; expected {', '.join((*NUMBERS, 'ladder', 'notes'))}")
    for name in NUMBERS:
        value = claims[name]
        if not _is_number(value) and value is not None:
            raise DataError(f"claims.{name} is {clip(value)}; expected a number or null")
        setattr(model, f"{name}_", float("nan") if value is None else float(value))
    ladder, notes = claims["ladder"], claims["notes"]
    for k, each in enumerate(ladder if isinstance(ladder, list) else [None]):
        if (
            not isinstance(each, dict)
            or set(each) != set(SPACE)
            or not all(_is_number(x) for x in each.values())
        ):
            raise DataError(f"claims.ladder[{k}] is {clip(each)}; expected numbers for {', '.join(SPACE)}")
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise DataError(f"claims.notes is {clip(notes)}; expected a list of texts")
    model.ladder_, model.notes_ = ladder, notes


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))
