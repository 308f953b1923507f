"""``everytree query`` and ``everytree front``: questions to the space of all trees over the tests of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from everytree.cli.data import Examples, read_examples
from everytree.cli.leaves import added, parameters_meant, smoothed
from everytree.cli.methods import classifier, parameters_of
from everytree.cli.options import Learning, Reading
from everytree.cli.picture import check_picture, write_picture
from everytree.cli.show import console, heard, note, print_json, table, text_of
from everytree.cli.watch import Spent, at_work
from everytree.errors import QueryError
from everytree.plot import FrontDisplay
from everytree.query.plan import cost_of, plan_of
from everytree.query.query import Query
from everytree.query.text import parse_query
from everytree.space.tree_space import TreeSpace
from everytree.weights.constraints import leaf_constraints
from everytree.weights.costs import Cost
from everytree.weights.dirichlet import dirichlet_rows, in_numbers

__all__ = ["read_query", "run_front", "run_query"]

DEFAULT_DEPTH = 4
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

    def cost(self, name: str) -> Cost:
        """Return a cost as the query counts it."""
        return cost_of(plan_of(self.query, self.space), name, self.space)


def run_query(
    path: Path,
    text: str,
    target: str | None,
    weights: str | None,
    reading: Reading,
    learning: Learning,
    as_json: bool,
) -> None:
    """Print the tree, or the trees, that a query asks for."""
    spent = Spent()
    with spent.on("starting"):
        query, k = read_query(text)
        classifier("optimal")
    with spent.on("reading"):
        asked = _ask(path, query, target, weights, reading, learning)
    with at_work(), heard() as warned, spent.on("searching"):
        found = asked.space.best(asked.query, k=k)
    cost = asked.cost(asked.query.cost)
    trees = [
        smoothed(tree, asked.dirichlet, cost) for tree in (found if isinstance(found, list) else [found])
    ]
    notes = [*asked.examples.notes, *warned]
    if as_json:
        print_json(
            {
                "query": text, "trees": [_tree_facts(tree, asked.space) for tree in trees],
                "seconds": spent.total, "spent": spent.parts, "notes": notes,
            }
        )  # fmt: skip
        return
    for remark in notes:
        note(remark)
    screen, total = console(), asked.space.table.total
    for place, tree in enumerate(trees, 1):
        if len(trees) > 1:
            screen.print(f"{place}.")
        screen.print(tree.to_text())
        screen.print(_line(tree, total) + "\n")
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
        asked = _ask(path, query, target, weights, reading, learning)
    bounds = ("max_size", "max_leaves", "max_depth", "max_error", "min_accuracy", "leaf", "require", "forbid")
    given = {name: getattr(asked.query, name) for name in bounds}
    given |= {name: getattr(asked.query, name) for name in ("confidence", "cost_matrix", "class_weight")}
    with at_work(), spent.on("searching"):
        found = asked.space.front(cost, by=by, **given)
    counted = asked.cost(cost)
    points = [(place, value, smoothed(tree, asked.dirichlet, counted)) for place, value, tree in found]
    total = asked.space.table.total
    if picture is not None:
        write_picture(picture, FrontDisplay(points, by, cost, total).plot())
    if as_json:
        front = [{by: place, cost: value} | _tree_facts(tree, asked.space) for place, value, tree in points]
        print_json(
            {
                "by": by, "cost": cost, "front": front, "seconds": spent.total, "spent": spent.parts,
                "notes": asked.examples.notes,
            }
        )  # fmt: skip
        return
    for remark in asked.examples.notes:
        note(remark)
    rows = [
        (str(place), text_of(value), f"{1 - tree.error / total:.4f}", str(tree.n_leaves), str(tree.depth))
        for place, value, tree in points
    ]
    title = f"The least {cost.replace('_', ' ')} for every {'number of leaves' if by == 'leaves' else by}"
    table(title, (by, cost, "accuracy", "leaves", "depth"), rows, left=0)
    if show_trees:
        for place, value, tree in points:
            console().print(f"\n{by} {place}, {cost} {text_of(value)}\n{tree.to_text()}")
        deepest = max(tree.depth for _, _, tree in points)
        words = added(asked.dirichlet, len(asked.space.classes), deepest)
        console().print(f"\n{words} (--dirichlet)")


def _ask(
    path: Path, query: Query, target: str | None, weights: str | None, reading: Reading, learning: Learning
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
    examples = read_examples(path, target, reading, weights)
    space = TreeSpace.from_frame(
        examples.features,
        examples.y,
        params.get("bins", classifier("optimal")().bins),
        params.get("cuts", "global"),
        missing=params["missing"],
        max_depth=params.get("max_depth", DEFAULT_DEPTH) if query.max_depth is None else query.max_depth,
        min_leaf=params.get("min_leaf", 1 if support is None else support.examples),
        sample_weight=examples.weights,
        n_jobs=params.get("n_jobs", 1),
        time_limit=params.get("time_limit"),
        memory_limit=params.get("memory_limit"),
    )
    dirichlet = in_numbers(dirichlet, space.table.class_counts.sum(axis=0))
    _check_dirichlet(dirichlet, len(space.classes))
    return Asked(examples, space, replace(_known(query, examples, space.binarizer), **costs), dirichlet)


def _check_dirichlet(dirichlet: Any, n_classes: int) -> None:
    """Refuse bad Dirichlet parameters before the search."""
    dirichlet_rows(parameters_meant(dirichlet), n_classes, 0)


def _known(query: Query, examples: Examples, binarizer: Any) -> Query:
    """Return the query without forbidden columns that have no test anyway, because they are constant."""
    if query.forbid is None:
        return query
    there = {name for test in binarizer.tests_ for name in (test.attribute, test.name)}
    gone = {*examples.features.names, *(test.name for test in binarizer.dropped_)} - there
    kept = tuple(name for name in query.forbid if name not in gone)
    return replace(query, forbid=kept or None)


def _tree_facts(tree: Any, space: TreeSpace) -> dict[str, Any]:
    return {
        "size": tree.size, "leaves": tree.n_leaves, "depth": tree.depth, "error": tree.error,
        "accuracy": 1 - tree.error / space.table.total, "info": dict(tree.info), "tree": tree.to_dict(),
        "text": tree.to_text(),
    }  # fmt: skip


def _line(tree: Any, total: int) -> str:
    info, errors = tree.info, tree.error
    parts = [
        f"{errors} of {total} wrong ({1 - errors / total:.2%} right)",
        f"{tree.n_leaves} leaves, depth {tree.depth}",
    ]
    if "objective" in info and info["objective"] != errors:
        parts.append(f"objective {text_of(info['objective'])}")
    if "optimal" in info:
        proved = (
            "proved best"
            if info["optimal"]
            else (f"not proved ({info['stop_reason']}): none has less than {text_of(info['lower_bound'])}")
        )
        parts.append(proved)
    return "; ".join(parts)
