"""Model files: a fitted classifier as one JSON text that a person, another program and the checker can read.

    {"format": "everytree.model", "version": 1, "everytree": "0.1.0",
     "estimator": …, "params": {…},                        which question was asked
     "target": …, "classes": […], "label_dtype": …,        what is predicted
     "encoding": {…}, "columns": […], "tests": […], …,     how a raw row becomes 0/1 tests
     "tree": {…} | null, "table": {…} | null,              the answer: a tree, or the table to average over
     "claims": {…}}                                        what is said about it, for ``everytree verify``

docs/verify.md describes every field. Reading trusts nothing: each field is checked before it is used, an error
names the field, and no code is ever loaded (there is no pickle in it).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everytree import __version__
from everytree.common.fields import checked_fields, plain_scalar
from everytree.common.text import clip
from everytree.common.values import value_from_json, value_to_json
from everytree.data.binarizer_form import columns_from_json, columns_to_json
from everytree.data.local_columns import LocalColumns
from everytree.data.table import Table
from everytree.errors import DataError, QueryError
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
from everytree.trees.tree import Tree
from everytree.weights.dirichlet import DepthDecay
from everytree.weights.priors import Prior

__all__ = ["FORMAT", "VERSION", "model_from_dict", "model_to_dict", "save_model"]

FORMAT = "everytree.model"
VERSION = 1
SUM_SLACK = 1e-9  # the probabilities of a node sum to one up to this
FIELDS = (
    "format",
    "version",
    "everytree",
    "estimator",
    "params",
    "target",
    "classes",
    "label_dtype",
    "encoding",
    "columns",
    "tests",
    "dropped",
    "tree",
    "table",
    "claims",
)
TREE_FACTS = ("n_examples", "n_leaves", "size", "depth", "leaves")  # claims that are no fitted attribute
NOT_CLAIMS = (
    "n_features_in_",
    "target_name_",
    "evidence_fit_",
    "loo_fit_",
    "weight_rounding_",
    "per_example_",
)
# What other fields of a file say, or nothing says: no claim may take its place.
SET_OTHERWISE = {"tree_", "classes_", "binarizer_", "posterior_", "recipes_", "feature_names_in_"}
SET_OTHERWISE |= {*NOT_CLAIMS} - {"per_example_"}
IN_FORCE = (
    "prior",
    "dirichlet",
    "mixture",
)  # claims that are no plain values: hyper-parameters that were chosen by evidence
# Claims about every tree of a kind, with their types: a file without one of these was not written by everytree.
PROVED = {"optimal": bool, "stop_reason": str, "n_states": int, "fingerprint": str}
CLAIMED: dict[str, dict[str, Any]] = {
    "OptimalTreeClassifier": PROVED
    | {"objective": float, "lower_bound": float, "gap": float, "error": int | float},
    "MAPTreeClassifier": PROVED
    | {
        "log_joint": float,
        "upper_bound": float,
        "log_evidence": float | None,
        "prior": Prior,
        "dirichlet": object,
    },
}


# --- writing


def save_model(model: Any, path: str | os.PathLike[str], target: str | None = None) -> None:
    """Write a fitted classifier to a model file, whole or not at all.

    ``target`` is the name of the label's column, for ``everytree verify``; by default the name that ``y`` had.
    """
    write_json(model_to_dict(model, target), path)


def model_to_dict(model: Any, target: str | None = None) -> dict[str, Any]:
    """Write a fitted classifier as the plain lists, texts and numbers of a model file."""
    check_is_fitted(model)
    name = type(model).__name__
    if classifier_named(name, FORMAT) is not type(model):
        raise DataError(f"{name} is not a classifier of everytree, so load_model could not make it again")
    target = checked_target(model, target)
    kept = model.kept_in_file()
    tree = getattr(model, "tree_", None) if kept is None else None
    if tree is None and kept is None:
        raise DataError(f"this {name} has neither a tree_ nor a posterior_; there is nothing to save")
    if not getattr(getattr(model, "posterior_", None), "exact", True):
        raise DataError(
            f'the posterior_ of this {name} is sampled, and a file holds no draws; to save, fit with method="exact", '
            "under a smaller max_depth if need be"
        )
    return {
        "format": FORMAT,
        "version": VERSION,
        "everytree": __version__,
        "estimator": name,
        "params": params_to_json(model),
        "target": target,
        **labels_to_json(model.classes_),
        **columns_to_json(model),
        **recipes_field(model),
        "tree": None if tree is None else tree.to_dict(),
        "table": None if kept is None else _table_to_json(kept[0]),
        "claims": _claims(model, tree) | ({} if kept is None else kept[1]),
    }


def _claims(model: Any, tree: Tree | None) -> dict[str, Any]:
    """Return the claims about the answer: every fitted number, truth value or text, and the facts of the tree."""
    claims: dict[str, Any] = {}
    if tree is not None:
        claims |= {
            "n_examples": tree.counts[0].sum().item(),
            "n_leaves": tree.n_leaves,
            "size": tree.size,
            "depth": tree.depth,
            "error": tree.error,
            "leaves": _leaves(model, tree),
        }
    if tree is not None:
        claims |= parts_to_json(model.per_example_)
    asked = (
        {"fingerprint_": model.fingerprint_} if hasattr(model, "fingerprint_") else {}
    )  # it is not kept until it is asked for
    for name, value in sorted((vars(model) | asked).items()):
        value = plain_scalar(value)
        if not name.endswith("_") or name.startswith("_") or name in NOT_CLAIMS:
            continue
        plain = value is None or isinstance(value, bool | int | float | str)
        if plain or name.removesuffix("_") in IN_FORCE:
            claims[name.removesuffix("_")] = value_to_json(value, name)
    return claims


def _leaves(model: Any, tree: Tree) -> list[dict[str, Any]]:
    """Describe each leaf, in the order of ``tree.rules()``: the yes branch first."""
    order: list[int] = []
    children, waiting = tree.children.tolist(), [0]
    while waiting:
        zero, one = children[node := waiting.pop()]
        if zero < 0:
            order.append(node)
        else:
            waiting += (zero, one)
    says, labels, counts = tree.says[order].tolist(), model.classes_.tolist(), tree.counts.tolist()
    return [
        {"node": node, "says": plain_scalar(labels[code]), "counts": counts[node]}
        for node, code in zip(order, says, strict=True)
    ]


def _table_to_json(table: Table) -> dict[str, Any]:
    rows = table.rows
    texts = ["".join(map(str, row)) for row in rows.tolist()]
    return {"rows": texts, "counts": table.class_counts.tolist()} | parts_to_json(table.per_example)


# --- reading


@reads(FORMAT)
def model_from_dict(data: Any) -> Any:
    """Read the fitted classifier that ``model_to_dict`` wrote."""
    data = checked_fields(data, FORMAT, VERSION, with_recipes(FIELDS, data))
    made = classifier_named(data["estimator"], FORMAT)
    if made is None:
        raise DataError(f"estimator is {clip(data['estimator'])}; expected a classifier of everytree")
    model = made(**params_from_json(data["params"], made))
    model.classes_ = labels_from_json(data)
    check_costs(model)
    classes = model.classes_.tolist()
    columns_from_json(data, model)
    set_recipes(model, data)
    if data["target"] is not None and not isinstance(data["target"], str):
        raise DataError(f"target is {clip(data['target'])}; expected the name of a column, or null")
    model.target_name_ = data["target"]
    names = model.binarizer_.get_feature_names_out().tolist()
    claims = data["claims"]
    if not isinstance(claims, dict):
        raise DataError(f"claims is {clip(claims)}; expected an object")
    model.per_example_ = parts_from_json(claims, "claims.")
    if data["tree"] is None:
        table = _table_from(data["table"], len(names), len(classes))
        table = table.named(names, classes).encoded(model.binarizer_, None)
        model.fingerprint_ = table.fingerprint()
        if claims.get("fingerprint", model.fingerprint_) != model.fingerprint_:
            raise DataError(
                f"claims.fingerprint is {clip(claims['fingerprint'])}; table has {clip(model.fingerprint_)}. The table "
                "or the tests were changed by hand or damaged: run everytree verify to see what holds"
            )
        try:
            model.restore_from_file(table, {name: _claim(claims, name) for name in claims})
        except QueryError as error:
            raise DataError(f"params: {error}") from error
        return model
    if not hasattr(made, "tree_") and "tree_" not in _annotations(made):
        raise DataError(f"tree is given, but a {data['estimator']} has no tree; expected null")
    model.tree_ = _tree_from(data["tree"], names, classes, model.binarizer_.columns_)
    if "says" not in data["tree"]:
        model.tree_ = _as_claimed(model, claims)
    _set_claims(model, claims)
    try:
        model.finish_loading()
    except QueryError as error:
        raise DataError(f"params: {error}") from error
    _check_leaves(model, claims)
    return model


def _annotations(made: type) -> set[str]:
    return {name for each in made.__mro__ for name in vars(each).get("__annotations__", ())}


def _check_cuts(tree: Tree, columns: LocalColumns | None) -> None:
    """Refuse a tree whose nodes ask other cuts than their tests and uppers say."""
    if (tree.upper is None) != (columns is None) or (tree.asks is None) != (columns is None):
        raise DataError(
            "tree.upper and tree.asks are there for local cuts, and only for these; expected both then"
        )
    if columns is None or tree.upper is None or tree.asks is None:
        return
    for k, (test, upper) in enumerate(zip(tree.test.tolist(), tree.upper.tolist(), strict=True)):
        if test < 0:
            continue
        column = columns.column_of(test)
        if (
            column.fine is not None
            and test != column.missing
            and not test - column.begin < upper <= columns.last_upper(test)
        ):
            raise DataError(f"tree.upper[{k}] is {upper}; expected that of a cut of test {test}")
        if tree.asks[k] != columns.test(test, upper).name:
            wanted = clip(columns.test(test, upper).name)
            raise DataError(f"tree.asks[{k}] is {clip(tree.asks[k])}; expected {wanted}, as its codes say")


def _tree_from(data: Any, names: list[str], classes: list[Any], columns: LocalColumns | None) -> Tree:
    try:
        tree = Tree.from_dict(data)
    except DataError as error:
        raise DataError(f"tree: {error}") from error
    off = np.flatnonzero(np.abs(tree.proba.sum(axis=1) - 1) > SUM_SLACK)
    if off.size:
        raise DataError(f"tree.proba[{off[0]}] sums to {tree.proba[off[0]].sum()}; expected 1")
    if tree.n_tests != len(names):
        raise DataError(f"tree.n_tests is {tree.n_tests}; expected {len(names)}, the number of tests")
    if tree.n_classes != len(classes):
        raise DataError(f"tree.counts has {tree.n_classes} classes; expected {len(classes)}, as in classes")
    if tree.classes is not None and list(tree.classes) != classes:
        raise DataError(f"tree.classes is {clip(tree.classes)}; expected the labels in classes")
    _check_cuts(tree, columns)
    for i, (given, wanted) in enumerate(zip(tree.test_names or names, names, strict=True)):
        if given != wanted:
            raise DataError(
                f"tree.test_names[{i}] is {clip(given)}; expected {clip(wanted)}, as tests[{i}] says"
            )
    return tree


def _as_claimed(model: Any, claims: dict[str, Any]) -> Tree:
    """Give the nodes of an older file's tree the classes they predict: with costs, those that the claims name."""
    tree, labels = model.tree_, model.classes_.tolist()
    given = [getattr(model, name, None) is not None for name in ("cost_matrix", "class_weight")]
    leaves = claims.get("leaves")
    if not any(given) or not isinstance(leaves, list):
        return tree  # type: ignore[no-any-return]
    says = tree.says.copy()
    for leaf in leaves:  # ``_check_leaves`` reports what is wrong with them
        if isinstance(leaf, dict) and leaf.get("node") in tree.leaves.tolist() and leaf.get("says") in labels:
            says[leaf["node"]] = labels.index(leaf["says"])
    return tree.replace(says=says)  # type: ignore[no-any-return]


def _table_from(data: Any, n_tests: int, n_classes: int) -> Table:
    if not isinstance(data, dict) or set(data) - {"per_example"} != {"rows", "counts"}:
        raise DataError(f"table is {clip(data)}; without a tree, expected an object with rows and counts")
    rows, counts = data["rows"], data["counts"]
    if not isinstance(rows, list) or not isinstance(counts, list) or len(rows) != len(counts) or not rows:
        raise DataError("table.rows and table.counts must be lists of the same length, at least 1")
    for i, (row, count) in enumerate(zip(rows, counts, strict=True)):
        if not isinstance(row, str) or len(row) != n_tests or set(row) - {"0", "1"}:
            raise DataError(f"table.rows[{i}] is {clip(row)}; expected {n_tests} characters 0 and 1")
        if not isinstance(count, list) or len(count) != n_classes:
            raise DataError(f"table.counts[{i}] is {clip(count)}; expected {n_classes} whole numbers")
        for c, n in enumerate(count):
            if isinstance(n, bool) or not isinstance(n, int) or not 0 <= n < 2**62:
                raise DataError(f"table.counts[{i}][{c}] is {clip(n)}; expected a whole number, 0 or more")
    bits = np.frombuffer("".join(rows).encode("ascii"), dtype=np.uint8).reshape(len(rows), n_tests) - 48
    return Table(bits, np.array(counts, dtype=np.int64), per_example=parts_from_json(data, "table."))


def _claim(claims: dict[str, Any], name: str) -> Any:
    value = value_from_json(claims[name], f"claims.{name}")
    kinds = {"prior": Prior, "dirichlet": int | float | list | DepthDecay, "mixture": list}
    if not isinstance(value, kinds.get(name, object)):
        raise DataError(f"claims.{name} is {clip(value)}; expected the value that the model was fitted with")
    return value


def _set_claims(model: Any, claims: dict[str, Any]) -> None:
    """Set fitted attributes from the claims: plain values only, and none that has another source."""
    for name, kind in CLAIMED.get(type(model).__name__, {}).items():
        if name not in claims:
            raise DataError(f"claims.{name} is missing; every file of a {type(model).__name__} has it")
        value = _claim(claims, name)
        wanted = kind | int if kind in (float, float | None) else kind
        if not isinstance(value, wanted) or (isinstance(value, bool) and kind not in (bool, object)):
            raise DataError(
                f"claims.{name} is {clip(value)}; expected a value of type {getattr(kind, '__name__', kind)}"
            )
    for name in claims:
        if name in TREE_FACTS:
            continue
        value = _claim(claims, name)
        fine = value is None or isinstance(value, bool | int | float | str) or name in IN_FORCE
        if (
            not name.isidentifier()
            or name.startswith("_")
            or f"{name}_" in SET_OTHERWISE
            or isinstance(getattr(type(model), f"{name}_", None), property)
        ):
            raise DataError(f"claims.{clip(name)} is not a name of a claim")
        if not fine:
            raise DataError(f"claims.{name} is {clip(value)}; expected a number, a text, true, false or null")
        setattr(model, f"{name}_", value)


def _check_leaves(model: Any, claims: dict[str, Any]) -> None:
    """Check that the claims about each leaf are what the loaded tree says."""
    expected = _leaves(model, model.tree_)
    found = claims.get("leaves")
    if not isinstance(found, list) or len(found) != len(expected):
        raise DataError(
            f"claims.leaves is {clip(found)}; expected one entry for each of {len(expected)} leaves"
        )
    for i, (given, wanted) in enumerate(zip(found, expected, strict=True)):
        if not isinstance(given, dict) or set(given) != set(wanted):
            raise DataError(
                f"claims.leaves[{i}] is {clip(given)}; expected an object with {', '.join(wanted)}"
            )
        for key, value in wanted.items():
            if given[key] != value or isinstance(given[key], bool) != isinstance(value, bool):
                raise DataError(
                    f"claims.leaves[{i}].{key} is {clip(given[key])}; the tree has {clip(value)} there. "
                    "The file was changed by hand or damaged: run everytree verify to see what holds"
                )
