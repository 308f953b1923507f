"""The parts of the page that need a space: the best tree of every size, and the average over every tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.compress import CompressedRules
from everytree.bayes.posterior import Posterior
from everytree.bayes.uncertainty import drawn_leaves
from everytree.engine.engine import Engine
from everytree.errors import LimitReached
from everytree.report.page_tests import Place, as_they_are
from everytree.report.plain import about_average, cost_words
from everytree.report.trees import LEVEL, added_of, intervals, page_tree, short
from everytree.report.words import shown
from everytree.space.tree_space import TreeSpace
from everytree.trees.answers import answered
from everytree.weights.costs import make_cost
from everytree.weights.dirichlet import dirichlet_rows

__all__ = [
    "drawn",
    "front",
    "leaves_of_draws",
    "posterior",
    "row_averages",
    "row_intervals",
    "row_rules",
    "sum_of",
]

TOP_TREES = 10
RULES = 400
MOST_SUM_RULES = 3000  # in the sum of rules that predicts in the browser
EPSILONS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
MOST_POINTS = 40
MOST_NODES = 4000  # that all trees of a part may have together
DRAWS = (1000, 300, 100)  # that a row typed in is judged by: as many as have few enough different leaves
MOST_LEAVES = 6000


def front(
    space: TreeSpace,
    dirichlet: list[list[float]],
    cost: str = "error",
    place: Place = as_they_are,
    **options: Any,
) -> dict[str, Any]:
    """Return the least cost for every size, each with its tree."""
    points, nodes = [], 0
    matrix, weights = options.get("cost_matrix"), options.get("class_weight")
    counted = make_cost(cost, space.table, cost_matrix=matrix, class_weight=weights)
    for size, value, tree in _thinned(space.front(cost, **options)):
        nodes += tree.n_nodes
        if nodes > MOST_NODES:
            break
        made = page_tree(answered(tree, counted, dirichlet), dirichlet, keep_proba=True, place=place)
        points.append({"size": size, "error": float(value), "tree": made})
    return {"cost": cost_words(cost), "points": points, "about": ""}


def _thinned(points: list[Any]) -> list[Any]:
    """Keep at most ``MOST_POINTS`` points: both ends, and some between."""
    if len(points) <= MOST_POINTS:
        return points
    places = np.unique(np.linspace(0, len(points) - 1, MOST_POINTS).round().astype(int))
    return [points[k] for k in places.tolist()]


def posterior(found: Any, *, place: Place = as_they_are, rules: bool = True) -> dict[str, Any]:
    """Return what the page shows of the posterior: the most probable trees, what trees use, how a row is decided."""
    one: Posterior = getattr(found, "best", found)  # a mixture shows its posterior of most weight
    space = one.space
    top: list[dict[str, Any]] = []
    nodes = 0
    for tree in one.top_trees(TOP_TREES):
        nodes += tree.n_nodes
        if nodes > MOST_NODES and top:
            break
        shown_tree = page_tree(tree, one.parameters, keep_proba=True, place=place)
        top.append({"probability": float(tree.info["probability"]), "tree": shown_tree})
    return {
        "about": shown(about_average(one)) + (" Trees are those of this part." if one is not found else ""),
        "top": top,
        "share": min(1.0, sum(each["probability"] for each in top)),
        "inclusion": _listed(found.attribute_inclusion()),
        "tests": _by_test(space, found, place),
        "leaves": [short(p) for p in found.leaves_distribution().tolist()],
        "a": added_of(one.parameters),
        **(row_rules(one, place) if rules and one is found else {"rules": [], "sum": None}),
    }


def row_rules(
    one: Posterior, place: Place = as_they_are, epsilons: Sequence[float] = EPSILONS
) -> dict[str, Any]:
    """Return what decides a row in the browser: the rules of most weight, and the average as a sum of rules."""
    if one.space.table.columns is not None:  # no sum of rules over fixed tests is the average
        try:
            return {"rules": _rules(one, place), "sum": None}
        except LimitReached:  # sets of conditions with their cuts may be very many
            return {"rules": [], "sum": None}
    return {"rules": _rules(one, place), "sum": _sum(one, place, epsilons)}


def row_intervals(found: Any, tests: npt.NDArray[np.uint8]) -> list[list[list[float]]] | None:
    """Return for each row the central 95 % interval of every class probability, over every tree; None at a limit.

    The draw of the trees is the only source of chance, and it has a fixed seed: a page made twice is the same.
    """
    try:
        low, high = found.interval(tests, LEVEL, random_state=0)
    except LimitReached:
        return None
    return [
        [[short(a), short(b)] for a, b in zip(*ends, strict=True)]
        for ends in zip(low.tolist(), high.tolist(), strict=True)
    ]


def leaves_of_draws(found: Any, place: Place = as_they_are) -> dict[str, Any] | None:
    """Return the leaves of the trees by which ``row_intervals`` judges, for rows that a reader types in.

    A row reaches one leaf of every draw. "b" is n + a of the classes there, "w" the number of draws that have the leaf.
    None at a limit, and for an average that is no single posterior.
    """
    if not isinstance(found, Posterior):
        return None
    try:
        for draws in DRAWS:
            leaves = drawn_leaves(found, draws, 0)
            if len(leaves) <= MOST_LEAVES:
                break
    except LimitReached:
        return None
    return {
        "draws": draws,
        "items": [
            [2 * place(test, upper) + outcome for test, outcome, upper in each.items] for each in leaves
        ],
        "w": [each.draws for each in leaves],
        "b": [[float(f"{x:.9g}") for x in each.parameters] for each in leaves],
    }


def row_averages(found: Any, tests: npt.NDArray[Any]) -> list[list[float]] | None:
    """Return the average over every tree for each row, for a page that cannot compute it; None at a limit."""
    try:
        return [[short(p) for p in row] for row in found.predict_proba(tests).tolist()]
    except LimitReached:
        return None


def drawn(draws: Any, attributes: Sequence[str], place: Place = as_they_are) -> dict[str, Any]:
    """Return what trees drawn by chains show: the most frequent ones, what they use, how many leaves they have."""
    counts = np.bincount(draws.which.ravel(), minlength=draws.n_distinct)
    total = max(1, len(draws))
    top: list[dict[str, Any]] = []
    nodes = 0
    for k in np.argsort(-counts, kind="stable")[:TOP_TREES].tolist():
        tree = draws[int(np.argmax(draws.which.ravel() == k))]
        nodes += tree.n_nodes
        if nodes > MOST_NODES and top:
            break
        dirichlet = dirichlet_rows(draws.dirichlet, tree.n_classes, tree.depth, tree.counts[0])
        made = page_tree(tree, dirichlet, keep_proba=True, place=place)
        top.append({"probability": float(counts[k] / total), "tree": made})
    uses = draws.uses()
    names = list(dict.fromkeys(attributes))
    share = {
        name: float(counts @ (np.asarray(uses[:, [a == name for a in attributes]].sum(axis=1)).ravel() > 0))
        / total
        for name in names
    }
    return {
        "about": f"Shares of {len(draws):,} draws of Markov chains, about {draws.ess:.0f} of them independent.",
        "top": top,
        "share": min(1.0, sum(each["probability"] for each in top)),
        "inclusion": _listed(share),
        "tests": _by_test(draws.space, draws, place),
        "leaves": (np.bincount(draws.n_leaves.ravel()) / total).tolist(),
        "rules": [],
        "sum": None,
    }


def _by_test(space: Engine, found: Any, place: Place) -> list[dict[str, Any]]:
    """Return the chance of every test; of none where nodes choose their own cuts, which are too many to list."""
    if space.table.columns is not None:
        return []
    return [{"t": place(k, 0), "p": short(p)} for k, p in enumerate(found.test_inclusion().tolist())]


def _listed(chances: dict[str, float]) -> list[dict[str, Any]]:
    return [{"name": shown(name), "p": short(p)} for name, p in chances.items()]


def _rules(one: Posterior, place: Place) -> list[dict[str, Any]]:
    """Return the rules of most weight: paths that are leaves of many probable trees."""
    found = one.rules(top=RULES)
    depth = [min(len(rule), len(one.parameters) - 1) for rule in found]
    likely = [int(np.argmax(rule.proba)) for rule in found]
    low, high = intervals([rule.counts for rule in found], [one.parameters[d] for d in depth], likely)
    return [
        {
            "items": [
                [place(int(test), upper), int(outcome)]
                for (test, outcome), upper in zip(rule.items, rule.upper or [0] * len(rule), strict=True)
            ],
            "weight": short(rule.weight),
            "n": list(rule.counts),
            "p": [short(p) for p in rule.proba],
            "i": [short(low[k]), short(high[k])],
        }
        for k, rule in enumerate(found)
    ]


def _sum(one: Posterior, place: Place, epsilons: Sequence[float]) -> dict[str, Any] | None:
    """Return the average as a sum of few rules, with the smallest bound; None where many rules are needed."""
    try:
        small = list(epsilons)
        if len(small) > 1:
            points = one.compression_curve(epsilons)
            small = [point.epsilon for point in points if point.n_rules <= MOST_SUM_RULES]
        return sum_of(one.compress(min(small)), place) if small else None
    except LimitReached:
        return None


def sum_of(made: CompressedRules, place: Place = as_they_are) -> dict[str, Any]:
    """Write a sum of rules for the browser; its moves are rounded, and the bound has room for that."""
    moves = [[float(f"{move:.7g}") for move in rule.moves] for rule in made.rules]
    rounding = 1e-7 * sum(max(map(abs, row)) for row in moves)
    return {
        "bound": made.bound + rounding,
        "base": list(made.base),
        "floor": made.to_dict()["floor"],
        "items": [[2 * place(int(t), 0) + int(o) for t, o in rule.items] for rule in made.rules],
        "moves": moves,
    }
