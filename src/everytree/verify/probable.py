"""The evidence of all trees and the most probable one, summed and maximised again over the same covers.

    log M(n)   = log Γ(Σa) − Σ log Γ(a_c) + Σ log Γ(a_c + n_c) − log Γ(Σa + n)         marginal likelihood of a leaf
    sum(s)     = P_leaf(s)·M(s) + Σ_t P_split(s)·share(t)·sum(s ∧ ¬t)·sum(s ∧ t)       best(s) the same with max

P_split and P_leaf are the prior's factors at the depth of s (a leaf is "closed" where no test could follow), and
share(t) is 1, or 1 over the number of feasible tests, or equal shares of attributes and then of their tests. Under the
balanced prior P_leaf is the leaf's share of all examples, to the power kappa.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from everytree.verify.model import Model
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.prove import Counts, GivenUp, Space
from everytree.verify.query import dirichlet_at
from everytree.verify.rising import log_rising

__all__ = ["KINDS", "Fold", "Folded", "Prior", "fold", "log_joint", "read_power", "read_prior"]

MINUS_INFINITY = float("-inf")
MOST_LEAVES = (
    200_000  # weights of leaves that are remembered: small leaves have the same counts again and again
)


@dataclass(frozen=True)
class Prior:
    """A prior over trees by the name of its kind, with its numbers."""

    kind: str
    alpha: float = 0.8
    beta: float = 0.8
    omega: float = 0.5
    attribute_fair: bool = False
    weight: float = 1.0  # how often the code of the tree counts; of the kind "coding" alone
    kappa: float = 1.0  # the power of a leaf's share of the examples; of the kind "balanced" alone

    def log_split(self, depth: int) -> float:
        return KINDS[self.kind].log_split(self, depth)

    def log_leaf(self, depth: int, closed: bool) -> float:
        return KINDS[self.kind].log_leaf(self, depth, closed)

    def log_held(self, n: int, total: int) -> float:
        """Return what a leaf weighs by its number of examples."""
        return self.kappa * math.log(n / total) if self.kind == "balanced" else 0.0

    def log_shares(self, tests: Sequence[int], columns: Sequence[int]) -> dict[int, float]:
        """Return the logarithm of each feasible test's share."""
        per_test = KINDS[self.kind].per_test
        if not self.attribute_fair:
            return dict.fromkeys(tests, -self.weight * math.log(len(tests)) if per_test and tests else 0.0)
        of = Counter(columns[test] for test in tests)
        # All tests together weigh 1; or as many as they are, where each weighs 1 otherwise.
        total = 0.0 if per_test or not tests else math.log(len(tests))
        return {test: total - math.log(len(of)) - math.log(of[columns[test]]) for test in tests}


@dataclass(frozen=True)
class Kind:
    """A kind of prior: its name in files, its factors, and whether a split weighs the share of its test."""

    type_name: str
    log_split: Callable[[Prior, int], float]
    log_leaf: Callable[[Prior, int, bool], float]
    per_test: bool


def _size_split(prior: Prior, depth: int) -> float:
    return math.log(prior.alpha) - prior.beta * math.log(1 + depth)


def _size_leaf(prior: Prior, depth: int, closed: bool) -> float:
    return 0.0 if closed else math.log1p(-math.exp(_size_split(prior, depth)))


KINDS = {
    "uniform": Kind("UniformPrior", lambda prior, depth: 0.0, lambda prior, depth, closed: 0.0, False),
    "size": Kind("SizePrior", _size_split, _size_leaf, True),
    "leaf_penalty": Kind(
        "LeafPenaltyPrior",
        lambda prior, depth: 0.0,
        lambda prior, depth, closed: math.log(prior.omega),
        False,
    ),
    "balanced": Kind("BalancedPrior", lambda prior, depth: 0.0, lambda prior, depth, closed: 0.0, False),
    "shapes": Kind("ShapePrior", lambda prior, depth: 0.0, lambda prior, depth, closed: 0.0, True),
    "coding": Kind(
        "CodingPrior",
        lambda prior, depth: prior.weight * math.log(0.5),
        lambda prior, depth, closed: prior.weight * math.log(0.5),
        True,
    ),
}


def read_prior(params: dict[str, Any]) -> Prior | None:
    """Read the prior in the parameters of an estimator; None where it is not one of those in ``KINDS``."""
    given = params.get("prior", "size")
    if isinstance(given, str):
        if given not in KINDS:
            return None
        fields: dict[str, Any] = {}
        if given == "size":
            fields = {"alpha": params.get("alpha", 0.8), "beta": params.get("beta", 0.8)}
        if params.get("cuts") == "local":  # A prior by name is attribute-fair where nodes choose their cuts.
            fields["attribute_fair"] = True
        return _prior(given, fields)
    kinds = {kind.type_name: word for word, kind in KINDS.items()}
    if (
        not isinstance(given, dict)
        or not isinstance(given.get("$type"), str)
        or given["$type"] not in kinds
        or not isinstance(given.get("fields"), dict)
    ):
        return None
    return _prior(kinds[given["$type"]], given["fields"])


def read_power(params: dict[str, Any]) -> float:
    """Read the power of the leaf weights; 1 where there is none."""
    power = params.get("power", 1.0)
    if not is_number(power) or not 0 < power <= 1:
        raise InputError(f"params.power is {quote(power)}; expected a number above 0 and at most 1")
    return float(power)


def _prior(kind: str, fields: dict[str, Any]) -> Prior | None:
    fine = all(
        isinstance(value, bool) if name == "attribute_fair" else _is_small(value)
        for name, value in fields.items()
    )
    if not fine or not set(fields) <= {"alpha", "beta", "omega", "attribute_fair", "weight", "kappa"}:
        return None
    prior = Prior(kind, **fields)
    if prior.weight != 1 and (kind != "coding" or prior.attribute_fair or prior.weight > 10):
        return None
    if not 0 < prior.kappa <= 10:
        return None
    return prior if 0 < prior.alpha < 1 and 0 < prior.omega < 1 else None


def _is_small(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e6


@dataclass(frozen=True)
class Folded:
    """The logarithms of the sum over all trees and of the largest single tree."""

    log_evidence: float
    log_best: float


class Fold:
    """Sums over all trees of a space under one prior and one set of Dirichlet parameters.

    Without ``dirichlet``, the sum of the prior alone.
    """

    def __init__(self, space: Space, prior: Prior, model: Model, dirichlet: Any) -> None:
        self.space, self.prior = space, prior
        self.columns = [test.column for test in model.tests]
        self.n_classes = len(model.classes)
        self.dirichlet = dirichlet
        self.power = read_power(model.used_params)
        self.added: dict[int, list[float]] = {}
        self.known: dict[tuple[int, int, int | None], tuple[float, float]] = {}
        self.leaves: dict[tuple[Counts, int, bool], float] = {}

    def added_at(self, depth: int) -> list[float]:
        """Return the Dirichlet parameters of a leaf at a depth."""
        a = self.added.get(depth)
        if a is None:
            exact = dirichlet_at(self.dirichlet, depth, self.n_classes)
            a = self.added[depth] = [float(value) for value in exact or ()]
        return a

    def marginal(self, counts: Counts, depth: int) -> float:
        """Compute log M(n) of a leaf, times the power."""
        if self.dirichlet is None:
            return 0.0
        a = self.added_at(depth)
        terms = [log_rising(x, n) for x, n in zip(a, counts, strict=True)]
        return self.power * (math.fsum(terms) - log_rising(sum(a), sum(counts)))

    def leaf(self, counts: Counts, depth: int, closed: bool) -> float:
        key = counts, depth, closed
        known = self.leaves.get(key)
        if known is not None:
            return known
        held = self.prior.log_held(sum(counts), sum(self.space.totals))
        found = self.marginal(counts, depth) + self.prior.log_leaf(depth, closed) + held
        if len(self.leaves) >= MOST_LEAVES:
            self.leaves.clear()
        self.leaves[key] = found
        return found

    def theta(self, counts: Counts, depth: int) -> list[float]:
        """Compute the class probabilities of a leaf."""
        shifted = [n + x for n, x in zip(counts, self.added_at(depth), strict=True)]
        return [x / sum(shifted) for x in shifted]

    def left(self, depth: int) -> int | None:
        """Return how many levels may be split from a depth on."""
        limit = self.space.query.max_depth
        return None if limit is None else limit - depth

    def splits(self, cover: int, counts: Counts, depth: int, above: int | None = None) -> list[Any]:
        left = self.left(depth)
        return [] if left is not None and left <= 0 else list(self.space.splits(cover, counts, left, above))

    def value(self, cover: int, counts: Counts, depth: int, above: int | None = None) -> tuple[float, float]:
        """Compute (log of the sum, log of the largest) over the trees from here; ``above`` is the parent's cover."""
        if depth == self.space.query.max_depth:
            leaf = self.leaf(counts, depth, True)
            return leaf, leaf
        state = (cover, depth, self.space.asked(self.left(depth), above))
        found = self.known.get(state)
        if found is not None:
            return found
        self.space.count_state()
        splits = self.splits(cover, counts, depth, above)
        best = self.leaf(counts, depth, not splits)
        terms = [best]
        shares = self.prior.log_shares([split[0] for split in splits], self.columns)
        here = self.prior.log_split(depth)
        for test, zero, zeros, one, ones in splits:
            sum0, best0 = self.value(zero, zeros, depth + 1, cover)
            sum1, best1 = self.value(one, ones, depth + 1, cover)
            terms.append(here + shares[test] + sum0 + sum1)
            best = max(best, here + shares[test] + best0 + best1)
        largest = max(terms)
        total = largest
        if largest > MINUS_INFINITY:
            total += math.log(math.fsum(math.exp(term - largest) for term in terms))
        self.known[state] = total, best
        return total, best

    def root(self) -> tuple[float, float]:
        """Compute ``value`` of all examples; raise ``GivenUp`` if that takes too long."""
        try:
            return self.value(self.space.everything, self.space.totals, 0)
        except RecursionError:
            raise GivenUp("stopped: the trees are too deep for this checker") from None

    def predicted(self, row: int) -> list[float]:
        """Compute P(class | row): the mean over all trees of the probabilities in the leaf of the row.

        g(s) = P(leaf | s) · θ(s) + Σ_t P(split by t | s) · g(the side of the row), remembered for each state.
        """
        known: dict[tuple[int, int, int | None], list[float]] = {}

        def mean(cover: int, counts: Counts, depth: int, above: int | None = None) -> list[float]:
            if depth == self.space.query.max_depth:
                return self.theta(counts, depth)
            state = (cover, depth, self.space.asked(self.left(depth), above))
            if state in known:
                return known[state]
            self.space.look_at_clock()
            total, _ = self.value(cover, counts, depth, above)
            splits = self.splits(cover, counts, depth, above)
            shares = self.prior.log_shares([split[0] for split in splits], self.columns)
            here = self.prior.log_split(depth)
            leaf = math.exp(self.leaf(counts, depth, not splits) - total)
            found = [leaf * p for p in self.theta(counts, depth)]
            for test, zero, zeros, one, ones in splits:
                sides = sum(
                    self.value(side, their, depth + 1, cover)[0]
                    for side, their in ((zero, zeros), (one, ones))
                )
                share = math.exp(here + shares[test] + sides - total)
                side, their = (one, ones) if row >> test & 1 else (zero, zeros)
                below = mean(side, their, depth + 1, cover)
                found = [x + share * y for x, y in zip(found, below, strict=True)]
            known[state] = found
            return found

        try:
            return mean(self.space.everything, self.space.totals, 0)
        except RecursionError:
            raise GivenUp("stopped: the trees are too deep for this checker") from None


def fold(space: Space, prior: Prior, model: Model) -> Folded:
    """Sum over every tree of the space; raise ``GivenUp`` if that takes too long."""
    return Folded(*Fold(space, prior, model, model.used_params.get("dirichlet")).root())


def log_joint(space: Space, prior: Prior, model: Model) -> float:
    """Compute log prior + log marginal likelihood of the model's tree; −inf if it is not in the space."""
    folded = Fold(space, prior, model, model.used_params.get("dirichlet"))
    total = 0.0
    waiting: list[tuple[int, int, int | None]] = [(0, space.everything, None)]
    while waiting:
        k, cover, above = waiting.pop()
        node, counts = model.nodes[k], space.counts(cover)
        splits = folded.splits(cover, counts, node.depth, above)
        if node.test < 0:
            total += folded.leaf(counts, node.depth, not splits)
            continue
        chosen = next((split for split in splits if split[0] == node.test), None)
        if chosen is None:
            return MINUS_INFINITY
        shares = prior.log_shares([split[0] for split in splits], folded.columns)
        total += prior.log_split(node.depth) + shares[node.test]
        waiting += [(node.children[0], chosen[1], cover), (node.children[1], chosen[3], cover)]
    return total
