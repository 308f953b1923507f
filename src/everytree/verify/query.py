"""The question that the model was asked, read off its parameters: a ranking, bounds, and rules for leaves.

    error            n − max_c n_c; with class weights, min_k Σ_{c≠k} w_c · n_c
    errors           n − max_c n_c, whatever the weights
    expected_error   errors + C4.5's added errors at a confidence
    gini             n − Σ_c n_c² / n
    entropy          Σ_c n_c ln(n / n_c)
    cost             min_k Σ_c n_c · matrix[c][k]

Costs of whole numbers stay whole numbers; numbers that a user wrote as decimals become fractions. A parameter that
is not known here is listed in ``unread``: then nothing is claimed about the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeAlias

from everytree.verify.chi2 import chi2_statistic, upper_tail
from everytree.verify.parts import by_label
from everytree.verify.problem import InputError, quote

__all__ = ["COSTS", "LeafRule", "Query", "Value", "base_rates", "dirichlet_at", "read_matrix", "read_query"]

Value: TypeAlias = int | float | Fraction
ROUNDING = 1e-12  # the relative rounding of a sum of floats
COSTS = ("error", "expected_error", "gini", "entropy", "cost")
# Parameters that change how a tree is found or shown, but not which trees are allowed or better.
INDIFFERENT = {"n_jobs", "time_limit", "memory_limit", "strategy", "progress", "verbose", "random_state"}
INDIFFERENT |= {"dirichlet", "bins", "missing", "unknown", "nominal", "max_categories", "cuts"}


@dataclass(frozen=True)
class LeafRule:
    """A rule that every leaf has to meet: support, margin, chi2 (a threshold) or p_value."""

    kind: str
    bound: Fraction

    def holds(self, counts: Sequence[int], total: Sequence[int]) -> bool:
        """Return whether a leaf with these class counts, in data with the class counts ``total``, meets the rule."""
        if self.kind == "support":
            return sum(counts) >= self.bound
        if self.kind == "margin":
            first, second = sorted([*counts, 0], reverse=True)[:2]
            return first - second >= self.bound
        statistic = float(chi2_statistic(counts, total))  # a threshold is reached by the nearest float
        if self.kind == "chi2":
            return statistic >= float(self.bound)
        freedom = sum(1 for n in total if n) - 1
        return upper_tail(statistic, freedom) <= float(self.bound)

    def __str__(self) -> str:
        relation = "≤" if self.kind == "p_value" else "≥"
        return f"{self.kind} {relation} {_short(self.bound)}"


@dataclass(frozen=True)
class Query:
    """The question that the tree is claimed to answer."""

    rank: tuple[str, ...] = ("error", "size")
    max_depth: int | None = None
    min_leaf: int = 1
    max_leaves: int | None = None
    max_size: int | None = None
    max_costs: tuple[tuple[str, Fraction], ...] = ()  # bounds on costs, by their name
    min_accuracy: Fraction | None = None
    leaf_rules: tuple[LeafRule, ...] = ()
    penalty: Fraction = Fraction(0)
    matrix: tuple[tuple[Fraction, ...], ...] | None = None
    weights: tuple[Fraction, ...] | None = None  # weights of the classes, for the error
    confidence: float = 0.25
    forbidden: frozenset[int] = frozenset()
    required: tuple[frozenset[int], ...] = ()
    required_names: tuple[str, ...] = ()
    unread: tuple[str, ...] = field(default=())

    @property
    def first_cost(self) -> str:
        """The criterion that a plain ``max_error`` and the price of a leaf refer to."""
        return next(name for name in self.rank if name in COSTS)

    @property
    def most_leaves(self) -> int | None:
        """The tighter of the bounds on leaves and on nodes."""
        bounds = [] if self.max_leaves is None else [self.max_leaves]
        if self.max_size is not None:
            bounds.append((self.max_size + 1) // 2)
        return min(bounds, default=None)

    def prices(self, name: str, counts: Sequence[int]) -> list[Value]:
        """Return the cost of predicting each class in a leaf with these counts: one per error, or by the matrix."""
        if name == "cost":
            assert self.matrix is not None
            return [
                sum((k * row[said] for k, row in zip(counts, self.matrix, strict=True)), Fraction(0))
                for said in range(len(counts))
            ]
        if name == "error" and self.weights is not None:
            weighed = [weight * k for weight, k in zip(self.weights, counts, strict=True)]
            return [sum(weighed, Fraction(0)) - each for each in weighed]
        return [sum(counts) - k for k in counts]

    def cost(self, name: str, counts: Sequence[int]) -> Value:
        """Compute a cost of one leaf with these class counts."""
        n = sum(counts)
        if name == "cost" or (name == "error" and self.weights is not None):
            return min(self.prices(name, counts))
        if name in ("error", "errors"):
            return n - max(counts)
        if name == "expected_error":
            wrong = n - max(counts)
            return wrong + _added(n, wrong, self.confidence)
        if name == "gini":
            return n - sum(k * k for k in counts) / n if n else 0.0
        return math.fsum(k * math.log(n / k) for k in counts if k)  # entropy

    def least(self, name: str, counts: Sequence[int]) -> Value:
        """Return a lower bound: no way of splitting these examples over leaves costs less than this."""
        if name != "cost" or self.matrix is None:
            return 0
        return sum((k * min(row) for k, row in zip(counts, self.matrix, strict=True)), Fraction(0))

    def within(self, name: str, value: Value) -> bool:
        """Return whether a cost of a whole tree meets the bounds on it.

        A sum of floats may miss one by its rounding, and an exact value by the rounding of the bound: 1/3 is within
        0.3333333333333333.
        """
        bounds = [most for bounded, most in self.max_costs if bounded == name]
        if isinstance(value, int | Fraction):
            return all(float(value) <= float(most) for most in bounds)
        return all(value <= most + ROUNDING * abs(value) for most in bounds)

    def allows_leaf(self, counts: Sequence[int], total: Sequence[int]) -> bool:
        """Return whether these class counts may be a leaf."""
        return all(rule.holds(counts, total) for rule in self.leaf_rules)


def _added(n: float, wrong: float, confidence: float) -> float:
    """Compute C4.5's addition to ``wrong`` errors among n examples."""
    if n <= 0:
        return 0.0
    if wrong < 1:
        none = n * (1 - math.pow(confidence, 1 / n))
        return none if wrong == 0 else none + wrong * (_added(n, 1, confidence) - none)
    if wrong + 0.5 >= n:
        return max(n - wrong, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    share = (wrong + 0.5) / n
    spread = math.sqrt(share / n - share * share / n + z * z / (4 * n * n))
    return (share + z * z / (2 * n) + z * spread) / (1 + z * z / n) * n - wrong


def read_query(
    params: dict[str, Any],
    test_names: Sequence[str],
    attributes: Sequence[str],
    classes: Sequence[Any],
    totals: Sequence[int],
) -> Query:
    """Read the question in the parameters of the estimator.

    ``test_names`` and ``attributes`` say for each test its name and its column's; ``totals`` are the class counts of
    all examples, for balanced class weights.
    """
    unread: list[str] = []
    known: dict[str, Any] = {}
    left = {key: value for key, value in params.items() if key not in INDIFFERENT and value is not None}
    rank = left.pop("minimize", None) or ["error", "size"]
    rank = [rank] if isinstance(rank, str) else rank
    allowed = (*COSTS, "size", "leaves", "depth")
    if not isinstance(rank, list) or not all(isinstance(name, str) for name in rank):
        raise InputError(f"params.minimize is {quote(rank)}; expected a list of criteria")
    if not all(name in allowed for name in rank) or not any(name in COSTS for name in rank):
        unread.append("minimize")
        rank = ["error", "size"]
    known["rank"] = tuple(rank)
    for key, least in (("max_depth", 0), ("min_leaf", 1), ("max_leaves", 1), ("max_size", 1)):
        if key in left:
            known[key] = _whole(left.pop(key), key, least)
    if "leaf_penalty" in params and params["leaf_penalty"] is None:
        # A price that was not given is that of two errors where plain errors come first.
        plain = rank[0] == "error" and "class_weight" not in left
        known["penalty"] = Fraction(2 if plain else 0)
    elif "leaf_penalty" in left:
        known["penalty"] = _exact(left.pop("leaf_penalty"), "leaf_penalty")
    if "max_error" in left:
        known["max_costs"] = _cost_bounds(left.pop("max_error"), known["rank"], unread)
    if "min_accuracy" in left:
        known["min_accuracy"] = _exact(left.pop("min_accuracy"), "min_accuracy")
    if "confidence" in left:
        known["confidence"] = float(_exact(left.pop("confidence"), "confidence"))
        if not 0 < known["confidence"] < 1:
            raise InputError(f"params.confidence is {known['confidence']}; expected a number between 0 and 1")
    if "leaf" in left:
        known["leaf_rules"] = _leaf_rules(left.pop("leaf"), unread)
    if "cost_matrix" in left:
        known["matrix"] = read_matrix(left.pop("cost_matrix"), len(classes))
    if "class_weight" in left:
        known["weights"] = _class_weights(left.pop("class_weight"), classes, totals, unread)
    costs = {*known["rank"], *(name for name, _ in known.get("max_costs", ()))}
    if "cost" in costs and "matrix" not in known:
        raise InputError("params.cost_matrix is missing; the ranking by cost needs it")
    for key in ("forbid", "require"):
        if key in left:
            groups = _named_tests(left.pop(key), test_names, attributes, key, unread)
            if key == "forbid":
                known["forbidden"] = frozenset().union(*(group for _, group in groups))
            else:
                known["required"] = tuple(group for _, group in groups)
                known["required_names"] = tuple(name for name, _ in groups)
    return Query(unread=(*unread, *left), **known)


def _leaf_rules(leaf: Any, unread: list[str]) -> tuple[LeafRule, ...]:
    """Read leaf rules: a whole number is a support; typed rules are {"$type": …, "fields": {…}}, alone or in a list."""
    rules = []
    for each in leaf if isinstance(leaf, list) else [leaf]:
        if isinstance(each, int) and not isinstance(each, bool):
            rules.append(LeafRule("support", Fraction(each)))
            continue
        kind = each.get("$type") if isinstance(each, dict) else None
        fields = each.get("fields") if isinstance(each, dict) else None
        values = (
            {key: value for key, value in fields.items() if value is not None}
            if isinstance(fields, dict)
            else {}
        )
        if kind not in ("Support", "Margin", "ChiSquare") or len(values) != 1:
            unread.append(f"leaf ({quote(each)})")
            continue
        ((name, value),) = values.items()
        short = {"Support": "support", "Margin": "margin", "ChiSquare": "chi2"}[kind]
        if short == "chi2" and name == "p_value":
            short = "p_value"
        rules.append(LeafRule(short, _exact(value, f"leaf {kind}")))
    return tuple(rules)


def read_matrix(matrix: Any, n: int) -> tuple[tuple[Fraction, ...], ...]:
    square = isinstance(matrix, list) and len(matrix) == n
    if not square or not all(isinstance(row, list) and len(row) == n for row in matrix):
        raise InputError(f"params.cost_matrix is {quote(matrix)}; expected {n} × {n} numbers")
    return tuple(tuple(_exact(value, "cost_matrix") for value in row) for row in matrix)


def _cost_bounds(most: Any, rank: Sequence[str], unread: list[str]) -> tuple[tuple[str, Fraction], ...]:
    """Read bounds: a number bounds the first cost of the ranking; an object has a bound for each cost it names."""
    if not isinstance(most, dict):
        most = {next(name for name in rank if name in COSTS): most}
    for name in most:
        if name not in COSTS:
            unread.append(f"max_error ({quote(name)})")
    return tuple((name, _exact(value, "max_error")) for name, value in most.items() if name in COSTS)


def _class_weights(
    weights: Any, classes: Sequence[Any], totals: Sequence[int], unread: list[str]
) -> tuple[Fraction, ...] | None:
    """Read what an error on each class counts: by label (1 where none is given), in order, or balanced."""
    if weights == "balanced":
        occurring = sum(1 for n in totals if n)
        return tuple(Fraction(sum(totals), occurring * n) if n else Fraction(1) for n in totals)
    if isinstance(weights, list) and len(weights) == len(classes):
        return tuple(_exact(weight, "class_weight") for weight in weights)
    try:
        given = by_label(weights)
    except InputError:
        unread.append("class_weight")
        return None
    return tuple(_exact(given.get(label, 1), "class_weight") for label in classes)


def _named_tests(
    asked: Any, test_names: Sequence[str], attributes: Sequence[str], key: str, unread: list[str]
) -> list[tuple[str, frozenset[int]]]:
    """Return for each test or attribute that is named the tests that it means."""
    groups = []
    for each in asked if isinstance(asked, list) else [asked]:
        if isinstance(each, str):
            tests = [i for i, name in enumerate(test_names) if name == each]
            tests = tests or [i for i, name in enumerate(attributes) if name == each]
        elif isinstance(each, int) and not isinstance(each, bool) and 0 <= each < len(test_names):
            tests = [each]
        else:
            unread.append(f"{key} ({quote(each)})")
            continue
        groups.append((str(each), frozenset(tests)))
    return groups


def base_rates(given: Any, class_totals: Sequence[int]) -> Any:
    """Return base rates as one number per class, s · n_c / n; other Dirichlet parameters as they are."""
    fields = given.get("fields") if isinstance(given, dict) and given.get("$type") == "BaseRate" else None
    strength = 1.0 if given == "base" else fields.get("strength") if isinstance(fields, dict) else None
    total = sum(class_totals)
    if not isinstance(strength, int | float) or isinstance(strength, bool) or not total:
        return given
    return [max(strength * (n / total), 1e-100) for n in class_totals]


def dirichlet_at(given: Any, depth: int, n_classes: int) -> list[Fraction] | None:
    """Return the numbers added to the class counts at a depth, or None where they cannot be read."""
    if given == "decay":
        given = {"$type": "DepthDecay", "fields": {"scale": 0.9, "rate": 0.9}}
    if given == "1/C":
        return [Fraction(1, n_classes)] * n_classes
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 < given < 1e150:
        return [Fraction(given)] * n_classes
    if isinstance(given, list) and len(given) == n_classes:
        each = [dirichlet_at(value, depth, 1) for value in given]
        return None if None in each else [value[0] for value in each if value]
    fields = given.get("fields") if isinstance(given, dict) and given.get("$type") == "DepthDecay" else None
    if isinstance(fields, dict) and all(_is_share(fields.get(key)) for key in ("scale", "rate")):
        return [Fraction(max(fields["scale"] * fields["rate"] ** depth, 1e-100))] * n_classes
    return None


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"params.{name} is {quote(value)}; expected a whole number of at least {least}")
    return value


def _exact(value: Any, name: str) -> Fraction:
    """Return a number as the decimal that a person wrote: 0.1 is one tenth."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        raise InputError(f"params.{name} is {quote(value)}; expected a finite number")
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def _short(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):g}"
