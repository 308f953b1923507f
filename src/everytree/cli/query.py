"""``everytree query`` and ``everytree front``: questions to the space of all trees over the tests of a file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from everytree.cli import ctrl_c
from everytree.cli.data import Examples, read_examples
from everytree.cli.leaves import added, as_said, parameters_meant, smoothed
from everytree.cli.methods import classifier, parameters_of
from everytree.cli.options import Learning, Reading, Treating
from everytree.cli.picture import check_picture, write_picture
from everytree.cli.rated import Rated, rate_baselines, show_rated
from everytree.cli.show import console, heard, note, print_json, table, text_of
from everytree.cli.treated import show_treated
from everytree.cli.watch import Spent, at_work, counted
from everytree.data.frames import read_frame
from everytree.errors import EverytreeError, QueryError
from everytree.estimators.honest import baselines
from everytree.metrics import stratified_folds
from everytree.metrics.judged import Confusion, confusion_at
from everytree.plot import FrontDisplay
from everytree.query.plan import cost_of, plan_of
from everytree.query.query import Query
from everytree.query.rates import Rate, best_by_rate, split_rate
from everytree.query.text import parse_query
from everytree.space.tree_space import TreeSpace
from everytree.weights.constraints import leaf_constraints
from everytree.weights.costs import Cost
from everytree.weights.dirichlet import dirichlet_rows, in_numbers

__all__ = ["read_query", "run_front", "run_query"]

DEFAULT_DEPTH = 4
FOLDS = 5
QUICK = 3.0  # seconds of a search that is then repeated on the parts of a cross-validation
WISH = re.compile(r"\s*(\d|most\b|smallest\b|shallowest\b|least\b)", re.IGNORECASE)
CONDITIONS = "most accurate where "


def read_query(text: str) -> tuple[Query, int]:
    """Read a whole query, or only the conditions of the most accurate tree.

    >>> read_query("size <= 7") == read_query("most accurate where size <= 7")
    True
    """
    return parse_query(text if WISH.match(text) else CONDITIONS + text)


@dataclass(frozen=True)
class Asked:
    """The space of a file, the query in its names, and what is added to the counts of leaves."""

    examples: Examples
    space: TreeSpace
    query: Query
    dirichlet: Any
    space_of: Callable[[Examples], TreeSpace]  # the space of other rows of the file
    wanted: Query  # the query in the words of the user

    def query_for(self, space: TreeSpace) -> Query:
        """Return the query in the names of another space over the same columns."""
        costs = {"cost_matrix": self.query.cost_matrix, "class_weight": self.query.class_weight}
        return replace(_known(self.wanted, self.examples, space.binarizer), **costs)

    def cost(self, name: str) -> Cost:
        """Return a cost as the query counts it."""
        return cost_of(plan_of(self.query, self.space), name, self.space)


def run_query(
    path: Path,
    text: str,
    target: str | None,
    weights: str | None,
    reading: Reading,
    treating: Treating,
    learning: Learning,
    as_json: bool,
) -> None:
    """Print the tree, or the trees, that a query asks for."""
    spent = Spent()
    with spent.on("starting"):
        plain, rate = split_rate(text)
        query, k = read_query(plain)
        if rate is not None and k != 1:
            raise QueryError(f"{rate.kind} is asked of one tree; ask for one")
        classifier("optimal")
    with spent.on("reading"):
        asked = _ask(path, query, target, weights, reading, treating, learning)
    with at_work() as work, heard() as warned, spent.on("searching"):
        found: Any = (
            asked.space.best(asked.query, k=k)
            if rate is None
            else best_by_rate(asked.space, rate, asked.query)
        )
    with spent.on("held out"):
        # Who stopped the search will not wait for it five times more.
        took = math.inf if work.stopped else spent.parts["searching"]
        judge = _held_out(asked, _best_trees, took) if k == 1 and rate is None else None
        rated = None if rate is None else _rated_held_out(asked, rate, found, took)
        label = None if rate is None else asked.space.classes[found.info["code"]]
        beside = [] if rate is None else rate_baselines(asked.examples, rate, label, FOLDS)
    cost = asked.cost(asked.query.cost)
    trees = [
        smoothed(tree, asked.dirichlet, cost) if rate is None else as_said(tree, asked.dirichlet)
        for tree in (found if isinstance(found, list) else [found])
    ]
    notes = [*asked.examples.notes, *warned]
    if as_json:
        print_json(
            {
                "query": text, "held_out_accuracy": None if judge is None else judge(0),
                "held_out_rates": None if rated is None else rated.to_dict(),
                "baseline_rates": [each.to_dict() for each in beside],
                "trees": [_tree_facts(tree, asked.space) for tree in trees],
                "seconds": spent.total, "spent": spent.parts, "notes": notes,
            }
        )  # fmt: skip
        return
    for remark in notes:
        note(remark)
    show_treated(asked.examples.features.treated, path.name)
    screen, total = console(), asked.space.table.total
    for place, tree in enumerate(trees, 1):
        if len(trees) > 1:
            screen.print(f"{place}.")
        screen.print(tree.to_text())
        screen.print(_line(tree, total) + "\n")
    if judge is not None:
        screen.print(_against_largest(judge(0), asked.examples))
    elif rate is None and ctrl_c.heard.is_set():
        screen.print("not judged on held-out rows: it was stopped")
    if rate is not None:
        if rated is None:
            why = "it was stopped" if ctrl_c.heard.is_set() else "it would take too long"
            screen.print(f"the tree is not judged on held-out rows: {why}")
        show_rated(label, [*([] if rated is None else [Rated("trees found so", rated)]), *beside])
    if len(trees) < k:
        note(f"there are only {len(trees)} trees that meet the query, not {k}")
    deepest = max(tree.depth for tree in trees)
    screen.print(f"{added(asked.dirichlet, len(asked.space.classes), deepest)} (--dirichlet); {spent}")


def run_front(
    path: Path,
    target: str | None,
    by: str,
    cost: str,
    where: str | None,
    show_trees: bool,
    weights: str | None,
    picture: Path | None,
    reading: Reading,
    treating: Treating,
    learning: Learning,
    as_json: bool,
) -> None:
    """Print the least cost for every size, number of leaves or depth."""
    spent = Spent()
    check_picture(picture)
    query = Query(("error", "size"))
    if where is not None:
        query, k = read_query(where)
        if k != 1 or query.ranking != ("error", "size"):
            raise QueryError(
                "--where takes conditions only, such as --where 'leaf >= 10'; the front has its own wish"
            )
        if query.leaf_penalty:
            raise QueryError("--where: a front has no leaf penalty; it shows the least cost for every size")
    if by not in ("size", "leaves", "depth"):
        raise QueryError(f"--by {by}; expected size, leaves or depth")
    with spent.on("starting"):
        classifier("optimal")
    with spent.on("reading"):
        asked = _ask(path, query, target, weights, reading, treating, learning)
    with at_work() as work, spent.on("searching"):
        found = asked.space.front(cost, by=by, **_bounds(asked.query))
    with spent.on("held out"):
        took = math.inf if work.stopped else spent.parts["searching"]
        judge = _held_out(asked, lambda space, asks: _front_trees(space, cost, by, _bounds(asks)), took)
    priced = asked.cost(cost)
    points = [(place, value, smoothed(tree, asked.dirichlet, priced)) for place, value, tree in found]
    total = asked.space.table.total
    if picture is not None:
        write_picture(picture, FrontDisplay(points, by, cost, total).plot())
    if as_json:
        front = [
            {by: place, cost: value, "held_out_accuracy": None if judge is None else judge(place)}
            | _tree_facts(tree, asked.space)
            for place, value, tree in points
        ]
        print_json(
            {
                "by": by, "cost": cost, "front": front, "seconds": spent.total, "spent": spent.parts,
                "notes": asked.examples.notes,
            }
        )  # fmt: skip
        return
    for remark in asked.examples.notes:
        note(remark)
    show_treated(asked.examples.features.treated, path.name)
    rows = [
        (
            str(place), text_of(value), f"{1 - tree.error / total:.4f}",
            "" if judge is None else f"{judge(place):.4f}", str(tree.n_leaves), str(tree.depth),
        )
        for place, value, tree in points
    ]  # fmt: skip
    title = f"The least {cost.replace('_', ' ')} for every {'number of leaves' if by == 'leaves' else by}"
    table(title, (by, cost, "on training rows", "held out", "leaves", "depth"), rows, left=0)
    label, share = _largest(asked.examples)
    best = None if judge is None else max(judge(place) for place, _, _ in points)
    if best is None:
        why = _why_not_held_out(asked.examples, ctrl_c.heard.is_set())
        console().print(f"accuracy, by training rows only ({why}); always {label}: {share:.4f}")
    else:
        console().print(
            f"accuracy; held out by {FOLDS}-fold cross-validation. {_against_largest(best, asked.examples)}"
        )
    if show_trees:
        for place, value, tree in points:
            console().print(f"\n{by} {place}, {cost} {text_of(value)}\n{tree.to_text()}")
        deepest = max(tree.depth for _, _, tree in points)
        words = added(asked.dirichlet, len(asked.space.classes), deepest)
        console().print(f"\n{words} (--dirichlet)")


def _ask(
    path: Path,
    query: Query,
    target: str | None,
    weights: str | None,
    reading: Reading,
    treating: Treating,
    learning: Learning,
) -> Asked:
    """Read a file and make its space: of the depth that the query or the option says."""
    params = parameters_of("optimal", learning)
    dirichlet = params.pop("dirichlet", classifier("optimal")().dirichlet)
    costs = {name: params.pop(name) for name in ("cost_matrix", "class_weight") if name in params}
    unused = set(params) - {
        "max_depth", "min_leaf", "bins", "cuts", "missing", "time_limit", "memory_limit", "n_jobs",
    }  # fmt: skip
    if unused:
        raise QueryError(
            f'--set {min(unused)}: a query says this in its line, such as "least gini where depth <= 3"'
        )
    if query.max_depth is not None and "max_depth" in params:
        raise QueryError("the depth is bounded by --max-depth and by the query; give one of them")
    support = leaf_constraints(query.leaf).support
    examples = read_examples(path, target, reading, weights, treating)

    def space_of(some: Examples) -> TreeSpace:
        return TreeSpace.from_frame(
            some.features,
            some.y,
            params.get("bins", classifier("optimal")().bins),
            params.get("cuts", "global"),
            missing=params["missing"],
            max_depth=params.get("max_depth", DEFAULT_DEPTH) if query.max_depth is None else query.max_depth,
            min_leaf=params.get("min_leaf", 1 if support is None else support.examples),
            sample_weight=some.weights,
            n_jobs=params.get("n_jobs", 1),
            time_limit=params.get("time_limit"),
            memory_limit=params.get("memory_limit"),
        )

    space = space_of(examples)
    dirichlet = in_numbers(dirichlet, space.table.class_counts.sum(axis=0))
    _check_dirichlet(dirichlet, len(space.classes))
    known = replace(_known(query, examples, space.binarizer), **costs)
    return Asked(examples, space, known, dirichlet, space_of, query)


def _why_not_held_out(examples: Examples, stopped: bool) -> str:
    if stopped:
        return "it was stopped"
    classes, sizes = np.unique(examples.y, return_counts=True)
    if len(classes) < 2:
        return "there is only one class"
    return "there are too few to hold some out" if sizes.max() < FOLDS else "holding rows out takes too long"


def _held_out(
    asked: Asked, trees_of: Callable[[TreeSpace, Query], list[tuple[float, Any]]], took: float
) -> Callable[[float], float] | None:
    """Cross-validate trees by their place in a front; None where that takes too long or is stopped, or has no tree.

    At a place the tree of a part is its last one that is not beyond the place.
    """
    examples = asked.examples
    classes, sizes = np.unique(examples.y, return_counts=True)
    if took > QUICK or len(classes) < 2 or sizes.max() < FOLDS:
        return None
    parts = stratified_folds(examples.y, FOLDS)
    judged: list[
        tuple[float, list[tuple[float, float]]]
    ] = []  # weight of a part; place and right answers there
    for part in counted(parts, len(parts), "cross-validating"):
        learn, judge = examples.take(part.train), examples.take(part.test)
        share = np.ones(judge.n_rows) if judge.weights is None else judge.weights.astype(float)
        try:
            with at_work() as work:
                space = asked.space_of(learn)
                trees = trees_of(space, asked.query_for(space))
        except EverytreeError:
            trees = []  # A part may have no such tree; the others tell.
        if work.stopped:
            return None
        if not trees:
            continue
        rows = space.rows_of(judge.features)
        labels = np.asarray(space.classes)
        right = [
            (place, float(share[labels[tree.says[tree.apply(rows)]] == judge.y].sum()))
            for place, tree in trees
        ]
        judged.append((float(share.sum()), right))
    if not judged or not sum(weight for weight, _ in judged):
        return None

    def accuracy(place: float) -> float:
        right = 0.0
        for _, points in judged:
            reached = [value for at, value in points if at <= place] or [points[0][1]]
            right += reached[-1]
        return right / sum(weight for weight, _ in judged)

    return accuracy


def _rated_held_out(asked: Asked, rate: Rate, tree: Any, took: float) -> Confusion | None:
    """Cross-validate a question about a rate: what is found, missed and said in vain of the class."""
    examples = asked.examples
    found_in = took - float(tree.info.get("proof_seconds", 0.0))  # the parts prove nothing
    if found_in > QUICK or np.unique(examples.y, return_counts=True)[1].max() < FOLDS:
        return None
    label = asked.space.classes[tree.info["code"]]
    said, real = list[Any](), list[Any]()
    parts = stratified_folds(examples.y, FOLDS)
    for part in counted(parts, len(parts), "cross-validating"):
        judge = examples.take(part.test)
        found = None
        try:
            with at_work() as work:
                space = asked.space_of(examples.take(part.train))
                found = best_by_rate(space, replace(rate, label=label), asked.query_for(space), prove=False)
        except EverytreeError:
            pass  # A part may have no such tree; the others tell.
        if work.stopped:
            return None
        if found is None:
            continue
        answers = np.asarray(space.classes)[found.says[found.apply(space.rows_of(judge.features))]]
        said.append(answers == label)
        real.append(judge.y == label)
    return confusion_at(np.concatenate(said), np.concatenate(real)) if said else None


def _largest(examples: Examples) -> tuple[Any, float]:
    """Return the largest class, and its share of the rows."""
    classes, codes = np.unique(examples.y, return_inverse=True)
    totals = np.bincount(codes, examples.weights)
    return classes[int(np.argmax(totals))], float(totals.max() / totals.sum())


def _check_dirichlet(dirichlet: Any, n_classes: int) -> None:
    """Refuse bad Dirichlet parameters before the search."""
    dirichlet_rows(parameters_meant(dirichlet), n_classes, 0)


def _known(query: Query, examples: Examples, binarizer: Any) -> Query:
    """Return the query with forbidden columns in the names of what was made of them.

    Those that have no test anyway, because they are constant or left out, are not in it.
    """
    if query.forbid is None:
        return query
    there = {name for test in binarizer.tests_ for name in (test.attribute, test.name)}
    made = {each.column: each.made for each in examples.features.treated if each.made != (each.column,)}
    named = [name for given in query.forbid for name in made.get(given, (given,))]
    gone = {*examples.features.names, *(test.name for test in binarizer.dropped_)} - there
    kept = tuple(name for name in named if name not in gone)
    return replace(query, forbid=kept or None)


def _best_trees(space: TreeSpace, query: Query) -> list[tuple[float, Any]]:
    return [(0.0, space.best(query))]


def _front_trees(space: TreeSpace, cost: str, by: str, bounds: dict[str, Any]) -> list[tuple[float, Any]]:
    return [(place, tree) for place, _, tree in space.front(cost, by=by, **bounds)]


def _bounds(query: Query) -> dict[str, Any]:
    """Return the conditions of a query as a front takes them."""
    names = ("max_size", "max_leaves", "max_depth", "max_error", "min_accuracy", "leaf", "require", "forbid")
    return {name: getattr(query, name) for name in (*names, "confidence", "cost_matrix", "class_weight")}


def _against_largest(accuracy: float, examples: Examples) -> str:
    """Say in words what a held-out accuracy is worth."""
    label, share = _largest(examples)
    gain = accuracy - share
    error = math.sqrt(max(share * (1 - share), 1e-9) / examples.n_rows)
    worth = (
        "No better than"
        if gain <= 0
        else "Barely better than"
        if gain < max(0.005, 2 * error)
        else "Better than"
    )
    figures = f"{accuracy:.1%} of held-out rows right, always {label} {share:.1%}"
    return f"{worth} always {label}: {figures}{_logistic(examples)}"


def _logistic(examples: Examples) -> str:
    """Say how often logistic regression is right about held-out rows; nothing where the rows are too few for it."""
    classes, codes = np.unique(examples.y, return_inverse=True)
    share = None if examples.weights is None else examples.weights.astype(float)
    try:
        found = baselines(read_frame(examples.features), codes, share, classes.tolist(), 0, FOLDS)
    except (EverytreeError, ValueError):
        return ""
    return "".join(f", {each.name} {each.accuracy:.1%}" for each in found[1:])


def _tree_facts(tree: Any, space: TreeSpace) -> dict[str, Any]:
    return {
        "size": tree.size, "leaves": tree.n_leaves, "depth": tree.depth, "error": tree.error,
        "accuracy": 1 - tree.error / space.table.total, "info": dict(tree.info), "tree": tree.to_dict(),
        "text": tree.to_text(),
    }  # fmt: skip


def _class_of(tree: Any) -> Any:
    return tree.info["code"] if tree.classes is None else tree.classes[tree.info["code"]]


def _line(tree: Any, total: int) -> str:
    info, errors = tree.info, tree.error
    parts = [
        f"{errors} of {total} wrong ({1 - errors / total:.2%} right)",
        f"{tree.n_leaves} leaves, depth {tree.depth}",
    ]
    if "recall" in info:
        parts.append(
            f"recall of {_class_of(tree)} {info['recall']:.1%}, precision {info['precision']:.1%}, F1 {info['f1']:.3f} "
            f"({info['hits']} found, {info['misses']} missed, {info['alarms']} in vain)"
        )
    elif "objective" in info and info["objective"] != errors:
        parts.append(f"objective {text_of(info['objective'])}")
    if "optimal" in info:
        parts.append(
            "proved best" if info["optimal"] else f"not proved ({info['stop_reason']}): {_gap(info)}"
        )
    return "; ".join(parts)


def _gap(info: Any) -> str:
    """Say how far from the best a tree may be, whose search was stopped."""
    if "f1_bound" in info:
        return f"none has an F1 above {info['f1_bound']:.3f}"
    if "recall" in info:
        return f"none that meets the bound has fewer than {info['lower_bound']} errors"
    return f"none has less than {text_of(info['lower_bound'] or 0)}"
