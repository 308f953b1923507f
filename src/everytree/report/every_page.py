"""The page of an ``EveryTreeClassifier``: its nearest tree, its rules, what its trees use, and its calibrated answers.

the tree shown     the one tree that decides most like the average; its leaves count the true classes
a row to pick      what the model says, and what its averages say in the mean, without adding up their evidence
a row typed in     what trees drawn from each average say, added up in the same way; their leaves are in the page
the evidence       how far each average moves the odds of a row to pick: weight · log(p / share)
left out           what it says of each training row without that row, exactly: nothing is fitted again
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.stacking import SLIP
from everytree.data.frames import Frame
from everytree.errors import DataError, EverytreeError, LimitReached
from everytree.estimators.compressed_averages import drawn_forests
from everytree.estimators.every_tree import EveryTreeClassifier
from everytree.estimators.training_rows import places_among_examples, used_columns
from everytree.report.calibration import Judged
from everytree.report.columns import add_ranges, column_rows, page_columns
from everytree.report.page_tests import PageTests
from everytree.report.trees import page_tree, short
from everytree.report.words import shown

__all__ = ["describe_every", "judged_without_refitting", "seen"]

# Trees by which a row typed in is judged: as many as have few enough leaves for a page.
DRAWS = (1000, 300, 100)
MOST_LEAVES = 30_000
FINE = 10  # bins of a node, as the nearest tree has them; the tests are the same for any number
ABOUT = "The one tree of depth at most {} that decides most like this model: as it does for {:.1%} of the examples."
SPREAD = (
    "The model says the same class of almost every example; this is the tree that follows its probabilities best, "
    "with {:.0%} of their spread."
)
TYPED = (
    "The model adds up the evidence of many averages over every tree, too much for a page: it has the answers for the "
    "rows to pick, and those for a row typed in come from {:,} trees drawn from the averages."
)
UNTYPED = (
    "The model adds up the evidence of many averages over every tree, too much for a page: it has the answers for the "
    "rows to pick, and explains a row typed in by the nearest tree."
)


def judged_without_refitting(model: Any, frame: Frame, codes: npt.NDArray[np.intp]) -> Judged | None:
    """Return what the model says of its training rows without each of them; None where these are other rows.

    A file of very many rows has none of it.
    """
    if not isinstance(model, EveryTreeClassifier) or not hasattr(model, "left_out_"):
        return None
    coded, found = model.coded_, places_among_examples(model, frame)
    counts = np.zeros_like(coded.counts)
    np.add.at(counts, (found[found >= 0], codes[found >= 0]), coded.per_example)
    if (found < 0).any() or not np.array_equal(counts, coded.counts):
        return None
    number = np.zeros(counts.shape, dtype=np.intp)
    number[np.nonzero(counts)] = np.arange(np.count_nonzero(counts))
    said = model.left_out_[number[found, codes]]
    about = f"On {len(codes):,} training rows, each judged by what the model says without it, exactly."
    return Judged(said, np.asarray(model.decide(said), dtype=np.intp), codes, about)


def seen(model: EveryTreeClassifier, frame: Frame, codes: npt.NDArray[np.intp]) -> int:
    """Return how many rows look like a training example of their class."""
    found = places_among_examples(model, frame)
    known = found >= 0
    return int(np.count_nonzero(model.coded_.counts[found[known], codes[known]]))


def describe_every(
    page: dict[str, Any],
    model: EveryTreeClassifier,
    frame: Frame | None,
    codes: npt.NDArray[np.intp] | None,
    rows: int,
) -> None:
    """Fill the page of the model: the nearest tree on its own columns, the posterior, and rows to pick."""
    try:
        nearest = model.nearest_tree()
    except EverytreeError as error:
        page["notes"].append(f"Without the nearest tree: {error}.")
        page["text"] = f"{model!r}"
        return
    one = nearest.model
    one.recipes_ = getattr(model, "recipes_", ())  # by which columns of yes and no are said as such
    tests = PageTests(one)
    page["answer"], page["text"] = "average", None
    page["columns"], page["tests"], page["missing"] = page_columns(one), tests.tests, one.binarizer_.missing
    tree = nearest.tree
    page["tree"] = page_tree(tree, [[1.0] * tree.n_classes], keep_proba=True, place=tests.place)
    page["treeAbout"] = (
        ABOUT.format(nearest.tree.depth, nearest.agreement)
        if nearest.spread is None
        else SPREAD.format(nearest.spread)
    )
    page["treeHeld"] = nearest.accuracy if nearest.spread is None else None
    page["posterior"] = _posterior(model)
    pool = next(filter(None, (_pool(model, tests, draws) for draws in DRAWS)), None)
    page["posterior"]["pool"] = pool
    typed = UNTYPED if pool is None else TYPED.format(sum(each["draws"] for each in pool["members"]))
    page["notes"] += [typed, *(f"{note[:1].upper()}{note[1:]}." for note in model.notes_)]
    if frame is not None and codes is not None and rows > 0:
        _add_rows(page, model, one, frame, codes, rows)


def _posterior(model: EveryTreeClassifier) -> dict[str, Any]:
    posteriors: list[Any] = [each.posterior_ for each in model.models_]
    weights = model.weights_of_models()
    total = float(weights.sum())
    shares = weights / total if total else np.full(len(posteriors), 1 / len(posteriors))
    leaves = np.zeros(1)
    for each, weight in zip(posteriors, shares.tolist(), strict=True):
        own = weight * np.asarray(each.leaves_distribution())
        size = max(len(leaves), len(own))
        leaves = np.pad(leaves, (0, size - len(leaves))) + np.pad(own, (0, size - len(own)))
    depths = [each["depth"] for each in model.members_]
    many = "one average" if len(depths) == 1 else f"{len(depths)} averages"
    deep = f"depth {min(depths)}" if min(depths) == max(depths) else f"depth {min(depths)} to {max(depths)}"
    beside = f", and that of {model.n_deep_trees:,} deep trees beside them" if model.forests_ else ""
    return {
        "about": f"The evidence of {many} is added up, each over every tree of {deep} on some of the columns{beside}.",
        "top": [],
        "share": 0.0,
        "inclusion": [{"name": shown(n), "p": short(p)} for n, p in model.attribute_inclusion().items()],
        "tests": [],
        "leaves": [short(p) for p in leaves.tolist()],
        "rules": [],
        "sum": None,
        "shares": [short(p) for p in model.shares_.tolist()],
        "members": [
            *([shown(name) for name in each["columns"]] for each in model.members_),
            *([each.name] for each in model.forests_),
        ],
    }


def _pool(model: EveryTreeClassifier, tests: PageTests, n_draws: int) -> dict[str, Any] | None:
    """Return what a browser needs to answer for any row: leaves of drawn trees, and how averages are added up.

    P(c) ∝ share_c · Π_k (p_k(c) / share_c)^w_kc, with p_k the mean of what the draws of average k say; "kept" is what
    the shares keep of every answer. None where the trees have too many leaves, or do not fit the model's memory.
    """
    try:
        forests = drawn_forests(model, n_draws)
    except LimitReached:
        return None
    if sum(int(np.count_nonzero(~each.is_split)) for each in forests) > MOST_LEAVES:
        return None
    members = []
    for forest in forests:
        # Deep trees say what their prunings say, so that leaves with the same conditions may say different things.
        leaves: dict[tuple[tuple[int, ...], tuple[float, ...]], int] = {}
        nodes, theta = forest.nodes.tolist(), forest.theta
        waiting: list[tuple[int, tuple[int, ...]]] = [(root, ()) for root, _ in forest.trees.tolist()]
        while waiting:
            node, items = waiting.pop()
            test, upper, no, yes = nodes[node]
            if no == node:
                said = tuple(float(f"{p:.6g}") for p in theta[node].tolist())
                key = tuple(sorted(items)), said
                leaves[key] = leaves.get(key, 0) + 1
                continue
            code = 2 * tests.place(test, upper)
            waiting += [(no, (*items, code)), (yes, (*items, code + 1))]
        members.append({
            "draws": forest.n_trees, "items": [list(items) for items, _ in leaves], "w": [*leaves.values()],
            "p": [list(said) for _, said in leaves],
        })  # fmt: skip
    weights = [[float(f"{w:.9g}") for w in row] for row in model.weights_by_class_.tolist()]
    return {"members": members, "weights": weights, "kept": SLIP / model.coded_.total}


def _add_rows(
    page: dict[str, Any],
    model: EveryTreeClassifier,
    one: Any,
    frame: Frame,
    codes: npt.NDArray[np.intp],
    most: int,
) -> None:
    part = used_columns(model, frame)
    add_ranges(page["columns"], part)
    places = np.unique(np.linspace(0, frame.n_rows - 1, min(most, frame.n_rows)).round().astype(np.intp))
    try:
        cells = column_rows(one, part.take(places))
    except DataError:
        return
    page["rows"] = [
        {"name": f"row {place + 1}", "cells": row, "label": int(codes[place])}
        for place, row in zip(places.tolist(), cells, strict=True)
    ]
    raw, said = model.raw_proba(frame.take(places)), model.predict_proba(frame.take(places))
    page["posterior"]["averages"] = [[short(p) for p in row] for row in said.tolist()]
    page["posterior"]["raw"] = [[short(p) for p in row] for row in raw.tolist()]
    moved = model.evidence_of(frame.take(places)).transpose(0, 2, 1)  # rows, averages, classes
    page["posterior"]["evidence"] = [[[short(x) for x in each] for each in row] for row in moved.tolist()]
