"""The object of JSON that a page shows, made of a fitted classifier and perhaps its data.

    always                         the tree, what it claims, the form for one row, settings, how to cite
    with the space at hand         the size–error front, the posterior: what the trees use, the most probable ones
    with rows and labels           rows to pick, calibration

A model just fitted, and an average in a file, have their space at hand; a tree in a file has it when its training data
are given (recognised by the model's fingerprint). What could not be computed in time is left out, and a note says so.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree import __version__
from everytree.data.frames import Frame
from everytree.data.table import Table
from everytree.errors import DataError, EverytreeError, LimitReached
from everytree.report import sections
from everytree.report.cite import citation
from everytree.report.columns import column_rows, page_columns, raw_columns
from everytree.report.facts import about_tree, facts_of, summary_of
from everytree.report.given import examples_of
from everytree.report.trees import multiway_tree, option_tree, page_tree, path_tree
from everytree.report.words import shown
from everytree.space.tree_space import TreeSpace
from everytree.trees.added import dirichlet_of
from everytree.trees.multiway import MultiwayTree
from everytree.trees.option_tree import OptionTree
from everytree.trees.path_tree import PathTree
from everytree.trees.tree import Tree

__all__ = ["FORMAT", "VERSION", "page_data"]

FORMAT, VERSION = "everytree.page", 1
ROWS = 30
SECONDS = 20.0
MOST_TEXT = 100_000


def page_data(
    model: Any,
    data: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    rows: int = ROWS,
    time_limit: float = SECONDS,
) -> dict[str, Any]:
    """What the page of a fitted classifier shows, as plain lists, texts and numbers.

    ``data`` is a file, a table with the label among its columns, or a pair (X, y); up to ``rows`` of its rows are put
    in the page for readers to pick (0 for none: rows may be private). Each part may take ``time_limit`` seconds.
    """
    check_is_fitted(model)
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise DataError(f"{type(model).__name__} is not a classifier; expected a fitted one of everytree")
    given = None if data is None else examples_of(model, data, target)
    frame, codes = (None, None) if given is None else (given.frame, given.codes)
    page = _empty(model, title)
    training = _is_training(model, frame, codes)
    if frame is not None and training is False:
        page["notes"].append(
            "The rows given are not those of training: they judge the model, and tell no more."
        )
    _describe(page, model)
    space = _space_of(model, frame, codes, training)
    _ask_space(page, model, space, time_limit)
    if frame is not None and codes is not None:
        found = sections.calibration(model, frame, codes, training, time_limit)
        if isinstance(found, str):
            page["notes"].append(found)
        else:
            page["calibration"] = found
        page["rows"], picked = _some_rows(model, frame, codes, rows)
        if picked is not None and space is not None and hasattr(model, "posterior_"):
            with space.within(time_limit):
                _add_intervals(page, model, picked)
    with nullcontext() if space is None else space.within(time_limit):
        page["facts"] = facts_of(model, space)
    page["summary"] = summary_of(model, space)
    _mark_used(page)
    return page


def _empty(model: Any, title: str | None) -> dict[str, Any]:
    target = getattr(model, "target_name_", None)
    return {
        "format": FORMAT,
        "version": VERSION,
        "everytree": __version__,
        "title": shown(title if title is not None else f"Predicting {target or 'the class'}"),
        "summary": "",
        "answer": "text",
        "classes": [shown(label) for label in model.classes_.tolist()],
        "columns": [],
        "tests": [],
        "missing": "branch",
        "tree": None,
        "treeAbout": "",
        "claims": [],
        "text": None,
        "front": None,
        "posterior": None,
        "calibration": None,
        "rows": [],
        "facts": [],
        "notes": [],
        "cite": citation(model),
    }


def _describe(page: dict[str, Any], model: Any) -> None:
    """What the model itself says: its tree or its rules, on its own columns."""
    tree = getattr(model, "tree_", None)
    if hasattr(model, "binarizer_"):
        page["columns"], page["tests"] = page_columns(model)
        page["missing"] = model.binarizer_.missing
    if isinstance(tree, Tree):
        page["answer"] = "tree"
        page["tree"] = page_tree(tree, dirichlet_of(model, tree.depth), keep_proba=True)
        page["treeAbout"] = about_tree(model)
    elif isinstance(tree, MultiwayTree | PathTree):
        page["answer"] = "tree"
        page["columns"] = raw_columns(model)
        laplace = bool(getattr(model, "laplace", False))
        if isinstance(tree, PathTree):
            page["tree"] = path_tree(tree)
        else:
            page["tree"] = multiway_tree(tree, laplace) | {
                "spread": type(model).__name__ == "C45TreeClassifier"
            }
        page["treeAbout"] = about_tree(model)
    elif isinstance(tree, OptionTree):
        page["answer"] = "tree"
        page["columns"] = raw_columns(model)
        page["tree"] = option_tree(tree)
        page["treeAbout"] = "The tree of this model, averaged with all its prunings."
        if not tree.is_tree:
            page["treeAbout"] = "The most probable tree of this model."
            page["notes"].append(
                "The classifier averages over many trees; the page shows the most probable one, and explains a row by "
                "it."
            )
    elif hasattr(model, "rules_"):
        page["answer"] = "average"
        page["posterior"] = _only_sum(model)
        page["text"] = model.to_text(200)[:MOST_TEXT]
    elif hasattr(model, "posterior_"):
        page["answer"] = "average"
    else:
        source: Any = model if hasattr(model, "to_text") else tree
        if not hasattr(source, "to_text"):
            raise DataError(
                f"a {type(model).__name__} has no tree_, rules_ or posterior_; there is nothing to show"
            )
        page["text"] = str(source.to_text())[:MOST_TEXT]


def _only_sum(model: Any) -> dict[str, Any]:
    empty: list[Any] = []
    parts = {"top": empty, "share": 0.0, "inclusion": empty, "tests": empty, "leaves": empty, "rules": empty}
    return {"about": "", **parts, "sum": sections.sum_of(model.rules_)}


# --- what needs the space


def _space_of(
    model: Any, frame: Frame | None, codes: npt.NDArray[np.intp] | None, training: bool | None
) -> TreeSpace | None:
    """The space of the model: its own, or made again from its training data."""
    found = getattr(model, "space_", None)
    for name in ("posterior_", "draws_"):
        if found is None and hasattr(model, name):
            found = getattr(model, name).space
    if (
        found is not None
        or not training
        or frame is None
        or codes is None
        or not hasattr(model, "binarizer_")
    ):
        return found
    if not hasattr(model, "max_depth"):
        return None
    return TreeSpace.from_table(
        _table_of(model, frame, codes),
        model.max_depth,
        model.min_leaf,
        getattr(model, "n_jobs", 1),
        attributes=[str(test.attribute) for test in model.binarizer_.tests_],
    )


def _table_of(model: Any, frame: Frame, codes: npt.NDArray[np.intp]) -> Table:
    return Table.from_arrays(
        model._encode(frame),
        codes,
        len(model.classes_),
        test_names=model.binarizer_.get_feature_names_out().tolist(),
        classes=model.classes_.tolist(),
    )


def _is_training(model: Any, frame: Frame | None, codes: npt.NDArray[np.intp] | None) -> bool | None:
    """Whether the rows are those of training; None where that cannot be told.

    A tree on whole columns has no fingerprint: rows with just the class counts of its root are taken for those of
    training. They are then judged by cross-validation, which no reader can be misled by.
    """
    if frame is None or codes is None:
        return False
    if not hasattr(model, "fingerprint_"):
        root = getattr(getattr(model, "tree_", None), "counts", None)
        same = root is not None and np.array_equal(root[0], np.bincount(codes, minlength=len(model.classes_)))
        return True if same else None
    return bool(_table_of(model, frame, codes).fingerprint() == model.fingerprint_)


def _ask_space(page: dict[str, Any], model: Any, space: TreeSpace | None, seconds: float) -> None:
    """The front, and the posterior over every tree."""
    if space is None:
        if hasattr(model, "fingerprint_") and not hasattr(model, "rules_"):
            page["notes"].append(
                "This model holds no training data. Give them, and the page also has the best tree of every size, the "
                "most probable trees and what they use."
            )
        return
    if hasattr(model, "draws_"):
        names = [str(test.attribute) for test in model.binarizer_.tests_]
        page["posterior"] = sections.drawn(model.draws_, names)
        page["notes"].append(
            "The classifier averages over the trees that its chains have drawn; the page explains a row by the tree "
            "shown."
        )
        return
    exact = getattr(model, "posterior_", None)
    if exact is not None and not getattr(exact, "exact", True):
        page["notes"].append("The average was sampled: the page has no exact posterior to show.")
        return
    with space.within(seconds):
        if space.max_depth is not None:
            _try(page, "front", "the best tree of every size", lambda: _front(model, space))
        _try(page, "posterior", "the posterior over every tree", lambda: _posterior(model, space, exact))
        found = page["posterior"]
        if exact is not None and (found is None or found["sum"] is None):
            page["notes"].append(
                "This average has too many parts to be computed in a page, so the page explains a row by the tree "
                "shown; the classifier itself predicts by the average."
            )


def _front(model: Any, space: TreeSpace) -> dict[str, Any]:
    query = getattr(model, "query_", None)
    cost = "error" if query is None else query.cost
    options = {}
    if query is not None:
        names = ("leaf", "require", "cost_matrix", "class_weight", "confidence", "max_size", "max_leaves")
        options = {name: getattr(query, name) for name in names}
        if hasattr(model, "_forbidden"):
            options["forbid"] = model._forbidden()
    depth = 0 if space.max_depth is None else space.max_depth
    return sections.front(space, dirichlet_of(model, depth), cost, **options)


def _posterior(model: Any, space: TreeSpace, exact: Any) -> dict[str, Any]:
    if exact is None:
        if space.max_depth is None:
            raise LimitReached("there is no depth limit", "time")
        if hasattr(model, "prior_"):
            return sections.posterior(space.posterior(model.prior_, model.dirichlet_), rules=False)
        return sections.posterior(space.posterior(), rules=False)
    return sections.posterior(exact)


def _try(page: dict[str, Any], part: str, what: str, make: Any) -> None:
    """Fill a part of the page; where a limit or the query forbids it, a note says so."""
    try:
        page[part] = make()
    except LimitReached as limit:
        page["notes"].append(f"Without {what}: {limit}.")
    except EverytreeError as error:
        page["notes"].append(f"Without {what}: {error}.")


# --- rows


def _some_rows(
    model: Any, frame: Frame, codes: npt.NDArray[np.intp], most: int
) -> tuple[list[dict[str, Any]], Frame | None]:
    """Rows to pick, spread evenly over the data."""
    if most <= 0 or frame.n_rows == 0:
        return [], None
    places = np.unique(np.linspace(0, frame.n_rows - 1, min(most, frame.n_rows)).round().astype(np.intp))
    picked = frame.take(places)
    try:
        cells = column_rows(model, picked)
    except (DataError, AttributeError):  # a model without a form of its columns
        return [], None
    return [
        {"name": f"row {place + 1}", "cells": row, "label": int(codes[place])}
        for place, row in zip(places.tolist(), cells, strict=True)
    ], picked


def _add_intervals(page: dict[str, Any], model: Any, picked: Frame) -> None:
    """How sure the average is of each row to pick; a page without the sum of rules shows no average."""
    if page["posterior"] is not None and page["posterior"]["sum"] is not None:
        page["posterior"]["intervals"] = sections.row_intervals(model.posterior_, model._encode(picked))


def _mark_used(page: dict[str, Any]) -> None:
    """A form shows first the columns that some tree of the page, or the average, asks about."""
    if not page["tests"] or page["posterior"] is not None:
        return
    trees = [page["tree"]] if page["tree"] else []
    trees += [point["tree"] for point in (page["front"] or {"points": []})["points"]]
    asked = {page["tests"][node["t"]]["column"] for tree in trees for node in tree["nodes"] if "t" in node}
    for j, column in enumerate(page["columns"]):
        column["used"] = j in asked
