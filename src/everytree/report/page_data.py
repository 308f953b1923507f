"""Make the object of JSON that a page shows, of a fitted classifier and perhaps its data.

    always                         the tree, what it claims, the form for one row, settings, how to cite
    with the space                 the size–error front, the posterior: what the trees use, the most probable ones
    with rows and labels           rows to pick, calibration

A model just fitted, and an average in a file, have their space; a tree in a file has it when its training data
are given (recognised by the model's fingerprint). What could not be computed in time is left out, and a note says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree import __version__
from everytree.bayes.collapsed import CollapsedPosterior
from everytree.data.frames import Frame
from everytree.errors import DataError, EverytreeError, LimitReached
from everytree.estimators.base import ClassifierBase, TreeClassifierBase
from everytree.estimators.every_tree import EveryTreeClassifier
from everytree.estimators.protocol import Picture
from everytree.estimators.screening import chosen_by_labels
from everytree.estimators.training_rows import is_training, table_of
from everytree.metrics.in_words import gain_error
from everytree.report import sections
from everytree.report.calibration import calibration, judge
from everytree.report.cite import citation
from everytree.report.columns import add_ranges, column_rows, page_columns, raw_columns
from everytree.report.distributions import Distributions, matrix_of
from everytree.report.every_page import describe_every, judged_without_refitting, seen
from everytree.report.facts import facts_of, summary_of
from everytree.report.given import Examples, examples_of
from everytree.report.held_out import figure, try_baselines, verdict
from everytree.report.left_out import left_out_front
from everytree.report.page_tests import PageTests, Place, as_they_are, numbers_in
from everytree.report.trees import multiway_tree, option_tree, page_tree, path_tree
from everytree.report.words import shown
from everytree.space.tree_space import TreeSpace
from everytree.trees.option_tree import OptionTree

__all__ = ["FORMAT", "VERSION", "page_data"]

FORMAT, VERSION = "everytree.page", 1
ROWS = 30
SECONDS = 20.0
MOST_TEXT = 100_000
LOCAL = "Every node chooses its own cuts, and the page does not compute the average over all of them: {}."
OF_DRAWS = "a row typed in gets the mean of trees drawn from all of them"
OF_ROWS = "it holds the average of the rows to pick, and explains a row typed in by the tree shown"
OF_NONE = "it explains a row by the tree shown; the classifier itself predicts by the average"


def page_data(
    model: Any,
    data: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    rows: int = ROWS,
    time_limit: float = SECONDS,
) -> dict[str, Any]:
    """Return what the page of a fitted classifier shows, as plain lists, texts and numbers.

    ``data`` is a file, a table with the label among its columns, or a pair (X, y); up to ``rows`` of its rows are put
    in the page for readers to pick (0 for none: rows may be private). Each part may take ``time_limit`` seconds.
    """
    check_is_fitted(model)
    if not isinstance(model, ClassifierBase):
        raise DataError(f"{type(model).__name__} is not a classifier; expected a fitted one of everytree")
    given = None if data is None else examples_of(model, data, target)
    frame, codes = (None, None) if given is None else (given.frame, given.codes)
    page = _empty(model, title)
    training = is_training(model, frame, codes)
    if frame is not None and training is False:
        page["notes"].append(
            "The rows given are not those of training: they judge the model, and tell no more."
        )
    tests = PageTests(model) if isinstance(model, TreeClassifierBase) else None
    if isinstance(model, EveryTreeClassifier):
        describe_every(page, model, frame, codes, rows)
    else:
        _describe(page, model, tests)
    space = _space_of(model, frame, codes, training)
    _ask_space(page, model, space, tests, time_limit)
    if given is not None and frame is not None and codes is not None:
        _judge(page, model, given, training, time_limit)
        picked = None
        if not isinstance(
            model, EveryTreeClassifier
        ):  # its rows, of the columns that it uses, are there already
            page["rows"], picked = _some_rows(model, frame, codes, rows)
        if page["columns"] and len(page["columns"]) == len(frame.columns) and picked is not None:
            add_ranges(page["columns"], frame)
        if rows > 0 and isinstance(model, TreeClassifierBase) and model.display() == "tree":
            page["distributions"] = _distributions(page, model, frame, codes)
        if picked is not None and space is not None and model.INTERVALS:
            with space.within(time_limit):
                _add_averages(page, model, picked)
    if space is not None and tests is not None and model.INTERVALS and page["posterior"] is not None:
        with space.within(time_limit):
            page["posterior"]["drawn"] = sections.leaves_of_draws(model.posterior_, tests.place)
    if (
        model.display() == "average"
        and page["posterior"] is not None
        and model.binarizer_.columns_ is not None
    ):
        found = page["posterior"]
        drawn, known = found.get("drawn") is not None, found.get("averages") is not None
        page["notes"].append(LOCAL.format(OF_DRAWS if drawn else OF_ROWS if known else OF_NONE))
    with nullcontext() if space is None else space.within(time_limit):
        page["facts"] = facts_of(model, space)
    page["summary"] = summary_of(model, space)
    _mark_used(page)
    return page


def _empty(model: Any, title: str | None) -> dict[str, Any]:
    target = model.label_name()
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
        "costs": _costs(model),
        "tree": None,
        "treeAbout": "",
        "treeHeld": None,
        "claims": [],
        "text": None,
        "front": None,
        "posterior": None,
        "calibration": None,
        "held_out": None,
        "distributions": None,
        "rows": [],
        "facts": [],
        "notes": [],
        "cite": citation(model),
    }


def _costs(model: Any) -> list[list[float]] | None:
    """Return the costs by which the model decides; a single tree says what its leaves say, and needs none."""
    costs = model.checked_costs() if model.AVERAGES or model.display() != "tree" else None
    return None if costs is None else costs.tolist()


def _describe(page: dict[str, Any], model: Any, tests: PageTests | None) -> None:
    """Add what the model itself says: its tree or its rules, on its own columns."""
    if tests is not None:  # a list that grows with the trees of the page, where every node has its own cuts
        page["columns"], page["tests"] = page_columns(model), tests.tests
        page["missing"] = model.binarizer_.missing
    if model.display() == "tree":
        _describe_tree(page, model, as_they_are if tests is None else tests.place)
    else:
        DESCRIBED[model.display()](page, model)


def _describe_tree(page: dict[str, Any], model: Any, place: Place) -> None:
    tree = model.tree_
    page["answer"] = "tree"
    page["tree"] = page_tree(tree, model.dirichlet_by_depth(tree.depth), keep_proba=True, place=place)
    page["treeAbout"] = model.about_tree()


def _describe_columns(page: dict[str, Any], model: Any) -> None:
    page["answer"] = "tree"
    page["columns"] = raw_columns(model)
    if model.display() == "path":
        page["tree"] = path_tree(model.shown_tree())
    else:
        options = {"laplace": False, "spread": False} | model.page_options()
        page["tree"] = multiway_tree(model.tree_, options["laplace"]) | {"spread": options["spread"]}
    page["treeAbout"] = model.about_tree()


def _describe_options(page: dict[str, Any], model: Any) -> None:
    tree = model.tree_
    if not isinstance(tree, OptionTree):  # the mean of several trees
        _describe_text(page, model)
        return
    page["answer"] = "tree"
    page["columns"] = raw_columns(model)
    page["tree"] = option_tree(tree)
    page["treeAbout"] = "The tree of this model, averaged with all its prunings."
    if not tree.is_tree:
        page["treeAbout"] = "The most probable tree of this model."
        page["notes"].append(
            "The classifier averages over many trees; the page shows the most probable one, and explains a row by it."
        )


def _describe_average(page: dict[str, Any], model: Any) -> None:
    page["answer"] = "average"


def _describe_rules(page: dict[str, Any], model: Any) -> None:
    page["answer"] = "average"
    page["posterior"] = _only_sum(model)
    page["text"] = model.to_text(200)[:MOST_TEXT]


def _describe_text(page: dict[str, Any], model: Any) -> None:
    page["text"] = model.as_text()[:MOST_TEXT]


DESCRIBED: dict[Picture, Callable[[dict[str, Any], Any], None]] = {
    "multiway": _describe_columns,
    "path": _describe_columns,
    "options": _describe_options,
    "average": _describe_average,
    "rules": _describe_rules,
    "text": _describe_text,
}


def _only_sum(model: Any) -> dict[str, Any]:
    empty: list[Any] = []
    parts = {"top": empty, "share": 0.0, "inclusion": empty, "tests": empty, "leaves": empty, "rules": empty}
    return {"about": "", **parts, "sum": sections.sum_of(model.rules_)}


# --- what needs the space


def _space_of(
    model: Any, frame: Frame | None, codes: npt.NDArray[np.intp] | None, training: bool | None
) -> TreeSpace | None:
    """Return the space of the model: its own, or one made again from its training data."""
    found: TreeSpace | None = model.tree_space()
    if found is not None or not training or frame is None or codes is None:
        return found
    return model.space_over(table_of(model, frame, codes)) if isinstance(model, TreeClassifierBase) else None


def _ask_space(
    page: dict[str, Any], model: Any, space: TreeSpace | None, tests: PageTests | None, seconds: float
) -> None:
    """Add the front, and the posterior over every tree."""
    place = as_they_are if tests is None else tests.place
    if space is None:
        if model.fingerprint() is not None and model.display() != "rules":
            page["notes"].append(
                "This model holds no training data. Give them, and the page also has the best tree of every size, the "
                "most probable trees and what they use."
            )
        return
    if model.AVERAGES and model.display() == "tree":  # the tree is one of the trees that chains drew
        names = [str(test.attribute) for test in model.binarizer_.tests_]
        page["posterior"] = sections.drawn(model.draws_, names, place)
        page["notes"].append(
            "The classifier averages over the trees that its chains have drawn; the page explains a row by the tree "
            "shown."
        )
        return
    exact = model.posterior_ if model.display() == "average" else None
    if isinstance(exact, CollapsedPosterior):
        page["notes"].append("The average was sampled: the page has no exact posterior to show.")
        return
    with space.within(seconds):
        if space.max_depth is not None:
            begin = time.monotonic()
            _try(page, "front", "the best tree of every size", lambda: _front(model, space, place))
            if page["front"] is not None and time.monotonic() - begin < seconds / 10:
                sizes = [point["size"] for point in page["front"]["points"]]
                page["front"]["held"] = left_out_front(
                    space, sizes, seconds=seconds / 5, **model.front_options()
                )
        _try(
            page, "posterior", "the posterior over every tree", lambda: _posterior(model, space, exact, place)
        )
        found = page["posterior"]
        lacking = found is None or (found["sum"] is None and space.table.columns is None)
        if exact is not None and lacking:
            page["notes"].append(
                "This average has too many parts to be computed in a page, so the page explains a row by the tree "
                "shown; the classifier itself predicts by the average."
            )


def _front(model: Any, space: TreeSpace, place: Place) -> dict[str, Any]:
    depth = 0 if space.max_depth is None else space.max_depth
    return sections.front(space, model.dirichlet_by_depth(depth), place=place, **model.front_options())


def _posterior(model: Any, space: TreeSpace, exact: Any, place: Place) -> dict[str, Any]:
    if exact is None:
        if space.max_depth is None:
            raise LimitReached("there is no depth limit", "time")
        return sections.posterior(space.posterior(**model.in_force()), place=place, rules=False)
    return sections.posterior(exact, place=place)


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
    """Return rows to pick, spread evenly over the data."""
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


def _add_averages(page: dict[str, Any], model: Any, picked: Frame) -> None:
    """Add how sure the average is of each row to pick, and what it says where the page has no sum of rules for it."""
    found, local = page["posterior"], model.binarizer_.columns_ is not None
    if found is None or (found["sum"] is None and not local):
        return
    tests = model.to_tests(picked)
    if local:
        found["averages"] = sections.row_averages(model.posterior_, tests)
    found["intervals"] = sections.row_intervals(model.posterior_, tests)


def _judge(page: dict[str, Any], model: Any, given: Examples, training: bool | None, seconds: float) -> None:
    """Add how good the model is on rows that it has not seen, and what everybody compares with."""
    if (
        training is None
        and isinstance(model, EveryTreeClassifier)
        and not seen(model, given.frame, given.codes)
    ):
        training = False
    left_out = judged_without_refitting(model, given.frame, given.codes)
    if left_out is not None and chosen_by_labels(model.notes_):
        left_out, training = None, True  # leaving one out is too late: the columns were chosen with it
    found = left_out or judge(model, given.frame, given.codes, training, seconds)
    if isinstance(found, str):
        page["notes"].append(found)
        return
    page["calibration"] = calibration(found, page["classes"])
    page["calibration"]["unseen"] = left_out is not None or training is not None
    lines = [figure("this model", found.proba, found.codes, said=found.said) | {"own": True}]
    lines += try_baselines(given.frame, given.codes, page["classes"])
    about = f"{found.about} Logistic regression is cross-validated on the rows given."
    error = gain_error(found.said, found.codes, int(np.bincount(given.codes).argmax()))
    page["held_out"] = {"lines": lines, "about": about, **verdict(lines, error)}


def _distributions(
    page: dict[str, Any], model: Any, frame: Frame, codes: npt.NDArray[np.intp]
) -> dict[str, Any] | None:
    """Count the values of every column at every node of the model's tree, class by class."""
    columns = page["columns"]
    cells = matrix_of(column_rows(model, frame), len(columns))
    leaves = model.tree_.apply(model.to_tests(frame))
    return Distributions(cells, codes, columns, len(page["classes"])).of_tree(model.tree_, leaves)


def _mark_used(page: dict[str, Any]) -> None:
    """Mark the columns that some tree of the page, or the average, asks about; the form shows them first."""
    if not page["tests"] or page["posterior"] is not None:
        return
    asked = {page["tests"][number]["column"] for number in numbers_in(page)}
    for j, column in enumerate(page["columns"]):
        column["used"] = j in asked
