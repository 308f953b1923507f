"""Compressed rules: the sum of the rules stays within its bound of the average over every tree, computed again.

    q_c(x) = base_c + Σ of move_c over the rules that hold for x,   the last class is what remains of 1
    p      = the nearest probabilities to q with at least floor_c for every class

The rules themselves follow from nothing else in the file; the digest shows that they are as they were written.
"""

from __future__ import annotations

import math
from typing import Any

from everytree.verify.average import Part, fold_of, sample_rows
from everytree.verify.claims import asked_fact, cost_facts
from everytree.verify.examples import Examples
from everytree.verify.expansion import Rule, farthest
from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact
from everytree.verify.model import Model
from everytree.verify.probable import read_prior
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.prove import GivenUp
from everytree.verify.query import dirichlet_at
from everytree.verify.whole import seal_fact

__all__ = ["check_rules"]

ROUNDING = 1e-9
NO_COSTS = Fact("cost_matrix", "none", None, NOTED, "informational: predict answers the most probable class")
LOCAL = (
    "the nodes of the average chose their own cuts, of which the file holds those of the rules alone; check the model "
    "that the rules were made of"
)


def check_rules(
    content: dict[str, Any], model: Model, examples: Examples, max_states: int, time_limit: float
) -> list[Fact]:
    """Check a file of compressed rules."""
    n_tests, n_classes = len(model.tests), len(model.classes)
    rules = content.get("rules")
    if not isinstance(rules, dict):
        raise InputError(f"rules is {quote(rules)}; expected an object")
    base, floor = (_numbers(rules.get(name), f"rules.{name}", n_classes) for name in ("base", "floor"))
    moves = _moves(rules.get("rules"), n_tests, n_classes)
    average = content.get("average")
    local = isinstance(average, dict) and average.get("cuts") == "local"
    facts = [
        _fingerprint(content.get("fingerprint"), examples, local),
        seal_fact(content),
        asked_fact((average if isinstance(average, dict) else {}) | {"missing": model.missing}),
        *(cost_facts(content.get("cost_matrix"), n_classes) or [NO_COSTS]),
    ]
    epsilon, bound = rules.get("epsilon"), rules.get("bound")
    if not is_number(epsilon) or not is_number(bound):
        raise InputError(f"rules.bound is {quote(bound)}; expected a number, as for epsilon")
    facts.append(Fact("epsilon", epsilon, f"≥ {bound}", TRUE if bound <= epsilon + ROUNDING else FALSE))
    prior = read_prior(average) if isinstance(average, dict) else None
    dirichlet = average.get("dirichlet") if isinstance(average, dict) else None
    if prior is None or not isinstance(average, dict) or dirichlet_at(dirichlet, 0, n_classes) is None:
        note = (
            "the file does not say which average the rules stand for, or the checker does not know its prior"
        )
        return [*facts, Fact("bound", bound, None, UNCHECKED, note, predicts=True)]
    total, least = (
        sum(examples.class_totals),
        _floor(dirichlet, n_classes, examples, average.get("max_depth")),
    )
    if least is not None:
        fine = all(0 <= x <= y * (1 + ROUNDING) for x, y in zip(floor, least, strict=True))
        facts.append(Fact("floor", floor, [f"≤ {x}" for x in least], TRUE if fine else FALSE))
    if local:
        return [*facts, Fact("bound", bound, None, UNCHECKED, LOCAL, predicts=True)]
    rows = sample_rows(examples)
    asked = Model(
        **{**vars(model), "params": {"min_leaf": average.get("min_leaf"), "power": average.get("power", 1.0)}}
    )
    try:
        fold = fold_of(
            asked, examples, Part(prior, dirichlet), average.get("max_depth"), max_states, time_limit
        )
        exact = [fold.predicted(row) for row in rows]
    except GivenUp as reason:
        note = f"the average was not recomputed: the space is too large ({reason})"
        return [*facts, Fact("bound", bound, None, UNCHECKED, note, predicts=True)]
    off = max(
        abs(p - q)
        for row, wanted in zip(rows, exact, strict=True)
        for p, q in zip(_predicted(row, base, floor, moves), wanted, strict=True)
    )
    shown = f"off by {off:.3g}"
    if off > bound + ROUNDING:
        note = f"on {len(rows)} rows, from the average over every tree on {total} examples"
        return [*facts, Fact("bound", bound, shown, FALSE, note)]
    # The last class is what remains of 1, whatever its own moves say.
    whole: list[Rule] = [([], base), *moves]
    whole = [(items, [*values[:-1], float(not items) - math.fsum(values[:-1])]) for items, values in whole]
    try:
        most = farthest(fold, whole, max_states)
    except GivenUp as reason:
        note = f"on {len(rows)} rows it holds; not checked for all ({reason})"
        return [*facts, Fact("bound", bound, shown, UNCHECKED, note, predicts=True)]
    facts.append(_bound_fact(bound, most, n_classes, total))
    exact_rules = rules.get("n_exact")
    return [*facts, Fact("n_exact", exact_rules, None, NOTED, "informational: it is not recomputed")]


def _bound_fact(bound: float, most: float, n_classes: int, total: int) -> Fact:
    """Compare the bound with the difference of the sums; from four classes on, their floor may double it."""
    shown, note = f"≤ {most:.6g}", f"for every row, from the average over every tree on {total} examples"
    if most > bound + ROUNDING:
        return Fact("bound", bound, shown, FALSE, note)
    if n_classes > 3 and 2 * most > bound + ROUNDING:
        note = "where a class is raised to its floor, others may be off by up to twice as much: not checked"
        return Fact("bound", bound, shown, UNCHECKED, note, predicts=True)
    return Fact("bound", bound, shown, TRUE, note)


def _fingerprint(claimed: Any, examples: Examples, local: bool) -> Fact:
    """Compare the fingerprint of the examples, over the tests of the file; those of the average may be others."""
    if local:
        return Fact("fingerprint", claimed, None, UNCHECKED, LOCAL)
    found = examples.fingerprint()
    same = claimed == found
    return Fact("fingerprint", claimed, found, TRUE if same else FALSE, "" if same else "other data")


def _floor(dirichlet: Any, n_classes: int, examples: Examples, max_depth: Any) -> list[float] | None:
    """Return the least probability of a class: the least a_c over the most that n + Σa can be."""
    deepest = max_depth if isinstance(dirichlet, dict) or dirichlet == "decay" else 0
    if type(deepest) is not int or not 0 <= deepest <= 10_000:
        return None
    rows = [
        [float(a) for a in dirichlet_at(dirichlet, depth, n_classes) or ()] for depth in range(deepest + 1)
    ]
    most = sum(examples.class_totals) + max(map(sum, rows))
    return [min(row[c] for row in rows) / most for c in range(n_classes)]


def _moves(rules: Any, n_tests: int, n_classes: int) -> list[tuple[list[tuple[int, int]], list[float]]]:
    if not isinstance(rules, list):
        raise InputError(f"rules.rules is {quote(rules)}; expected a list")
    found = []
    for k, rule in enumerate(rules):
        items = rule.get("items") if isinstance(rule, dict) else None
        fine = isinstance(items, list) and all(
            isinstance(item, list) and len(item) == 2 and type(item[0]) is int and 0 <= item[0] < n_tests
            and type(item[1]) is int and item[1] in (0, 1)
            for item in items
        )  # fmt: skip
        if not fine or not items:
            raise InputError(f"rules.rules[{k}] is {quote(rule)}; expected items (test, outcome) and moves")
        found.append(
            ([(t, o) for t, o in items], _numbers(rule.get("moves"), f"rules.rules[{k}].moves", n_classes))
        )
    return found


def _numbers(values: Any, path: str, length: int) -> list[float]:
    if not isinstance(values, list) or len(values) != length or not all(map(is_number, values)):
        raise InputError(f"{path} is {quote(values)}; expected {length} numbers")
    return [float(value) for value in values]


def _predicted(
    row: int, base: list[float], floor: list[float], moves: list[tuple[list[tuple[int, int]], list[float]]]
) -> list[float]:
    terms = [move for items, move in moves if all(row >> test & 1 == outcome for test, outcome in items)]
    q = [math.fsum([base[c], *(move[c] for move in terms)]) for c in range(len(base) - 1)]
    q.append(1 - math.fsum(q))
    if all(x >= low for x, low in zip(q, floor, strict=True)):
        return q
    above = [x - low for x, low in zip(q, floor, strict=True)]
    free, total, lower = 1 - math.fsum(floor), 0.0, 0.0
    for k, x in enumerate(sorted(above, reverse=True)):
        total += x
        if x >= (total - free) / (k + 1):
            lower = (total - free) / (k + 1)
    return [low + max(0.0, x - lower) for x, low in zip(above, floor, strict=True)]
