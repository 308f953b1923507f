"""Files of compressed rules: what a CompressedClassifier needs to predict, and the bound that it keeps.

    {"format": "everytree.rules", "version": 1, "everytree": "0.1.0",
     "target": …, "classes": […], "label_dtype": …,        what is predicted
     "encoding": {…}, "columns": […], "tests": […], …,     how a raw row becomes 0/1 tests
     "fingerprint": …,                                     of the training examples
     "average": {…},                                       prior, dirichlet, max_depth, min_leaf, perhaps those of MORE
     "cost_matrix": [[…], …],                              only where predict decides by costs
     "rules": {…},                                         as CompressedRules.to_dict writes them, with the bound
     "digest": …}                                          of all the rest, see json_text

There is no training data in it. Reading trusts nothing, as for model files. Older files have no average and no digest.
"""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from everytree import __version__
from everytree.bayes.compress import CompressedRules
from everytree.common.fields import check_seal, sealed, without_seal
from everytree.common.text import clip
from everytree.common.values import value_from_json, value_to_json
from everytree.data.binarizer_form import columns_from_json, columns_to_json
from everytree.errors import DataError
from everytree.files.envelope import (
    check_costs,
    checked_target,
    labels_from_json,
    labels_to_json,
    recipes_field,
    set_recipes,
    write_json,
)
from everytree.files.model_file import FORMAT as MODEL
from everytree.files.registry import classifier_named, reads

__all__ = ["FORMAT", "rules_model_from_dict", "rules_model_to_dict", "save_rules"]

FORMAT = "everytree.rules"
VERSION = 1
FIELDS = (
    "format", "version", "everytree", "target", "classes", "label_dtype", "encoding", "columns", "tests", "dropped",
    "fingerprint", "rules",
)  # fmt: skip


ESTIMATOR, AVERAGED = "CompressedClassifier", "BayesOptimalClassifier"
AVERAGE = ("prior", "dirichlet", "max_depth", "min_leaf")
# which the field average has where they are not as usual; bins is in none of older files, nor with local cuts
MORE = {"power", "cuts", "class_weight", "bins"}


def save_rules(model: Any, path: str | os.PathLike[str], target: str | None = None) -> None:
    """Write a fitted CompressedClassifier to a file, whole or not at all."""
    write_json(rules_model_to_dict(model, target), path)


def rules_model_to_dict(model: Any, target: str | None = None) -> dict[str, Any]:
    """Write a fitted CompressedClassifier as plain lists, texts and numbers."""
    check_is_fitted(model)
    average, costs = getattr(model, "average_", None), model.checked_costs()
    return sealed({
        "format": FORMAT,
        "version": VERSION,
        "everytree": __version__,
        "target": checked_target(model, target),
        **labels_to_json(model.classes_),
        **columns_to_json(model),
        **recipes_field(model),
        "fingerprint": model.fingerprint_,
        **({} if average is None else {"average": value_to_json(average, "average_")}),
        **({} if costs is None else {"cost_matrix": costs.tolist()}),
        "rules": model.rules_.to_dict(),
    })  # fmt: skip


@reads(FORMAT)
def rules_model_from_dict(data: Any) -> Any:
    """Read the fitted CompressedClassifier that ``rules_model_to_dict`` wrote."""
    data, seal = without_seal(data)
    if not isinstance(data, dict) or set(data) - {"average", "cost_matrix", "recipes"} != set(FIELDS):
        found = ", ".join(data) if isinstance(data, dict) else clip(data)
        raise DataError(f"the file holds {found}; expected the fields {', '.join(FIELDS)}")
    if data["version"] != VERSION or isinstance(data["version"], bool):
        raise DataError(f"version is {clip(data['version'])}; expected {VERSION}, or upgrade everytree")
    for field in ("target", "fingerprint"):
        if not isinstance(data[field], str) and (field != "target" or data[field] is not None):
            raise DataError(f"{field} is {clip(data[field])}; expected a text")
    encoding = data["encoding"]
    missing = encoding.get("missing") if isinstance(encoding, dict) else None
    average = classifier_named(AVERAGED, MODEL)(missing=missing, cost_matrix=data.get("cost_matrix"))
    model = classifier_named(ESTIMATOR, FORMAT)(average)
    model.classes_ = labels_from_json(data)
    check_costs(model)
    columns_from_json(data, model)
    set_recipes(model, data)
    try:
        rules = CompressedRules.from_dict(data["rules"])
    except DataError as error:
        raise DataError(f"rules: {error}") from error
    names = model.binarizer_.get_feature_names_out().tolist()
    if rules.n_tests != len(names) or (rules.test_names is not None and list(rules.test_names) != names):
        raise DataError(
            f"rules are over {rules.n_tests} tests; expected the {len(names)} of the columns, in order"
        )
    if list(rules.classes) != model.classes_.tolist():
        raise DataError(f"rules.classes is {clip(rules.classes)}; expected the labels in classes")
    model.epsilon = rules.epsilon
    model.target_name_, model.fingerprint_ = data["target"], data["fingerprint"]
    average = value_from_json(data.get("average"), "average")
    if average is not None and (not isinstance(average, dict) or set(average) - MORE != set(AVERAGE)):
        raise DataError(f"average is {clip(average)}; expected an object with {', '.join(AVERAGE)}")
    model.average_ = average
    check_seal(data, seal)
    return model.set_rules(rules)
