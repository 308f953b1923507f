"""Files of trees on whole columns: C4.5, CART, averages along a path, and option trees, checked against the raw rows.

These claim no optimum. Their predictions follow from the tests of the tree, which are its content, and from class
counts and other numbers at its nodes, which follow from the rows. The digest shows whether the rest was changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from everytree.verify.categories import category_facts
from everytree.verify.claims import asked_fact, cost_facts
from everytree.verify.examples import Cells
from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact
from everytree.verify.fills import fill_facts
from everytree.verify.grown import check_grown
from everytree.verify.left_out import cross_facts
from everytree.verify.model import Column, Model, labels_of, target_of
from everytree.verify.multiway import check_multiway
from everytree.verify.path_average import check_path
from everytree.verify.problem import InputError, is_number, quote

__all__ = ["Whole", "check_whole", "read_whole", "seal_fact"]

KINDS: dict[str, Callable[..., list[Fact]]] = {
    "C45TreeClassifier": check_multiway,
    "CARTTreeClassifier": check_multiway,
    "PathAverageTreeClassifier": check_path,
    "SmoothedTreeClassifier": check_grown,
    "OptionTreeClassifier": check_grown,
}
GROWN = ("SmoothedTreeClassifier", "OptionTreeClassifier")
SIZES = (
    "n_leaves",
    "size",
    "n_nodes",
    "n_options",
    "depth",
)  # the claims that load_model compares with the tree
FOLLOW = (*SIZES, "s", "dropped_bound", "exponent")


@dataclass(frozen=True)
class Whole:
    """A file of a tree on whole columns; ``model`` has its columns and labels, for reading the data."""

    model: Model
    content: dict[str, Any]


def read_whole(data: dict[str, Any]) -> Whole:
    """Read the model of an object in the format everytree.column_tree."""
    estimator = data.get("estimator")
    if not isinstance(estimator, str) or estimator not in KINDS:
        raise InputError(f"estimator is {quote(estimator)}; expected one of {', '.join(KINDS)}")
    for name in ("params", "claims", "tree"):
        if not isinstance(data.get(name), dict):
            raise InputError(f"{name} is {quote(data.get(name))}; expected an object")
    given = data.get("columns")
    if not isinstance(given, list) or not given:
        raise InputError(f"columns is {quote(given)}; expected a list with at least one entry")
    columns = tuple(_column(each, f"columns[{j}]") for j, each in enumerate(given))
    if len({column.name for column in columns}) < len(columns):
        raise InputError("columns holds a name twice; expected different names")
    model = Model(
        estimator=estimator,
        params=data["params"],
        target=target_of(data),
        classes=labels_of(data),
        missing="category",
        unknown="ignore",
        named_columns=data.get("named_columns") is not False,
        columns=columns,
        tests=(),
        test_names=None,
        nodes=(),
        claims=data["claims"],
        leaves=(),
        written_by=str(data.get("everytree")),
    )
    return Whole(model, data)


def _column(data: Any, path: str) -> Column:
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise InputError(f"{path} is {quote(data)}; expected an object with a name")
    values, kind, fill = data.get("values"), data.get("kind"), data.get("fill")
    if values is not None and not (
        isinstance(values, list) and all(isinstance(v, bool | int | float | str) for v in values)
    ):
        raise InputError(f"{path}.values is {quote(values)}; expected a list of values, or null")
    found = "numeric" if values is None else "nominal"
    if kind is not None and kind != found:
        raise InputError(f"{path}.kind is {quote(kind)}; a column is nominal if it has values, else numeric")
    cuts = data.get("cuts")
    if cuts is not None and not (
        isinstance(cuts, list) and all(map(is_number, cuts)) and all(a < b for a, b in pairwise(cuts))
    ):
        raise InputError(f"{path}.cuts is {quote(cuts)}; expected ascending numbers")
    if cuts and found == "nominal":
        raise InputError(f"{path}.cuts is {quote(cuts)}; expected none, as the column is nominal")
    wanted = is_number(fill) if found == "numeric" else isinstance(fill, bool | int | float | str)
    if fill is not None and not wanted:
        raise InputError(f"{path}.fill is {quote(fill)}; expected a value of the column, or null")
    return Column(data["name"], found, tuple(values or ()), fill)


def check_whole(whole: Whole, cells: Cells) -> list[Fact]:
    """Check a file of a tree on whole columns."""
    totals = [0] * len(whole.model.classes)
    for c, weight in zip(cells.classes, cells.weights, strict=True):
        totals[c] += weight
    model = whole.model.with_base_rates(totals)
    facts = [
        seal_fact(whole.content),
        asked_fact(model.params),
        *cost_facts(model.params.get("cost_matrix"), len(model.classes)),
    ]
    facts += KINDS[model.estimator](model, whole.content["tree"], whole.content["columns"], cells)
    facts += [
        *category_facts(model, whole.content["columns"], whole.content["tree"], cells),
        *cross_facts(model),
    ]
    asked = "what the tree asks is its content: the checker does not grow it again"
    facts.append(Fact("tests of nodes", model.estimator, None, NOTED, asked))
    imputed = model.params.get("missing") == "impute"
    facts += fill_facts(model, cells if imputed else None, coded=model.estimator in GROWN)
    for name, value in model.claims.items():
        if name not in FOLLOW and value is not None:
            shown = value if isinstance(value, bool | int | float | str) else quote(value)
            facts.append(Fact(name, shown, None, NOTED, "informational: it is not recomputed"))
    return facts


def seal_fact(content: dict[str, Any]) -> Fact:
    """Compare the digest of a file with its content."""
    if content.get("digest") is None:
        note = "the file is of an older version and has none, so parameters may have been changed"
        return Fact("digest", None, None, UNCHECKED, note, predicts=True)
    rest = {key: value for key, value in content.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    found = hashlib.sha256(text.encode("ascii")).hexdigest()
    same = found == content["digest"]
    note = "" if same else "the file was changed after it was written"
    return Fact("digest", content["digest"], found, TRUE if same else FALSE, note)
