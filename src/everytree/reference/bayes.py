"""The exact Bayesian average over every tree of a space, by recursion.

With Vleaf(I) = Pleaf(I) · M(f(I))^η the weight of a leaf (the power η is 1 unless one is given) and
Vint(I, i) = Pint(I, i) that of a split on i,

    joint(T) = Π_leaves Vleaf · Π_splits Vint
    u(I) = Vleaf(I) + Σ_{i feasible} Vint(I, i) · u(I∪i) · u(I∪¬i)   (the sum of joint below I)
    v(∅) = 1,  v(I) = Σ_{i∈I} v(I−i) · Vint(I−i, i) · u((I−i)∪¬i)   (all that surrounds a node with path I)
    w_c(I) = v(I) · Vleaf(I) · θ_c(I)   (the weight of the rule "I → c")
    P(c | x) = Σ_{I ⊆ x} w_c(I) / u(∅)

u depends on I only through (cover, depth), so it is kept per state; v and w are kept per path.
(In a local space a test asks new rows what its state makes of it, and the items of a path are those conditions.)
``listing.Listing`` gives the same answers by listing every tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from everytree.reference.leaves import (
    BaseRate,
    Dirichlet,
    check_dirichlet,
    dirichlet_at,
    leaf_probabilities,
    log_marginal,
)
from everytree.reference.logs import log_sum
from everytree.reference.priors import Prior, SizePrior, log_held
from everytree.reference.space import Space
from everytree.reference.table import Cover, Path
from everytree.reference.trees import Tree, nodes_of

__all__ = ["Bayes", "Moments", "Step"]


class Step(NamedTuple):
    """What a random tree of the posterior does at a state: stop as a leaf, or split on a test."""

    leaf: float
    split: dict[int, float]


class Moments(NamedTuple):
    """Per class: what the posterior says about θ_c at one row.

    variance = between + within, where ``between`` is the variance over trees of the leaf's mean and
    ``within`` is the mean over trees of the leaf's own (Dirichlet) variance; second_moment = E[θ_c²].
    """

    mean: tuple[float, ...]
    second_moment: tuple[float, ...]
    between: tuple[float, ...]
    within: tuple[float, ...]


class Bayes:
    """Every tree of a space under a prior and a Dirichlet on the class probabilities of each leaf.

    Two rows of one example each, different classes, one test, uniform prior, a = (1, 1). The leaf weighs 1/6,
    the split 1/2 · 1/2, so the evidence is 5/12 and the split has posterior 3/5. The leaf says (1/2, 1/2); at
    row 0 the split says (2/3, 1/3): together 2/5 · 1/2 + 3/5 · 2/3 = 3/5.

    >>> from everytree.reference import Space, Table, UniformPrior
    >>> model = Bayes(Space(Table([(0,), (1,)], [(1, 0), (0, 1)])), UniformPrior())
    >>> round(12 * math.exp(model.log_evidence), 12)
    5.0
    >>> [round(p, 12) for p in model.predict_proba((0,))]
    [0.6, 0.4]
    """

    def __init__(
        self,
        space: Space,
        prior: Prior | None = None,
        dirichlet: Dirichlet | BaseRate = 1.0,
        power: float = 1.0,
    ) -> None:
        if isinstance(dirichlet, str) and dirichlet == "base":
            dirichlet = BaseRate()
        if isinstance(dirichlet, BaseRate):
            dirichlet = dirichlet.of(space.table.class_counts(space.root))
        check_dirichlet(dirichlet, space.table.n_classes)
        if not 0 < power <= 1:
            raise ValueError(f"power={power!r}; it must be greater than 0 and at most 1")
        self.power = float(power)
        self.space = space
        self.table = space.table
        self.prior: Prior = SizePrior() if prior is None else prior
        self.dirichlet = dirichlet
        self._log_u: dict[tuple[Cover, int], float] = {}
        self._log_v: dict[tuple[Path, Cover, int], float] | None = None

    # Weights of one node ------------------------------------------------------------------------------------

    def a(self, depth: int) -> tuple[float, ...]:
        """Return the Dirichlet parameters at a depth."""
        return dirichlet_at(self.dirichlet, depth, self.table.n_classes)

    def class_counts(self, cover: Cover) -> tuple[int, ...]:
        """Return the examples per class that a leaf is weighed by and predicts from."""
        return self.table.class_counts(cover)

    def theta(self, cover: Cover, depth: int) -> tuple[float, ...]:
        """Return the class probabilities of a leaf, whatever the power."""
        return leaf_probabilities(self.class_counts(cover), self.a(depth))

    def log_m(self, cover: Cover, depth: int) -> float:
        """Return η · log M: the marginal likelihood of a leaf, to the power, without the prior."""
        return self.power * log_marginal(self.class_counts(cover), self.a(depth))

    def log_leaf(self, cover: Cover, depth: int) -> float:
        """Return log Vleaf."""
        return self.log_prior_leaf(cover, depth) + self.log_m(cover, depth)

    def log_prior_leaf(self, cover: Cover, depth: int) -> float:
        """Return log Pleaf; examples that are left out still count where the prior asks how many a leaf holds."""
        held = log_held(
            self.prior, sum(self.table.class_counts(cover)), sum(self.table.class_counts(self.space.root))
        )
        return self.prior.log_leaf(depth, self.space.feasible(cover, depth)) + held

    def log_split(self, cover: Cover, depth: int, test: int) -> float:
        """Return log Vint of a split on a feasible test."""
        return self.prior.log_split(depth, self.space.feasible(cover, depth), test)

    def log_terms(self, tree: Tree) -> list[float]:
        """Return the log weight of every node of a tree, in preorder."""
        self.space.check(tree)
        return [
            self.log_leaf(node.cover, node.depth)
            if node.test is None
            else self.log_split(node.cover, node.depth, node.test)
            for node in nodes_of(tree, self.table)
        ]

    def log_joint(self, tree: Tree) -> float:
        """Return log prior + log marginal likelihood of one tree.

        The sum is correctly rounded, so trees with the same node weights in another order get the same
        number.
        """
        return math.fsum(self.log_terms(tree))

    def log_prior(self, tree: Tree) -> float:
        """Return log prior of one tree (unnormalised unless the prior is a distribution)."""
        self.space.check(tree)
        terms = []
        for node in nodes_of(tree, self.table):
            feasible = self.space.feasible(node.cover, node.depth)
            if node.test is None:
                terms.append(self.log_prior_leaf(node.cover, node.depth))
            else:
                terms.append(self.prior.log_split(node.depth, feasible, node.test))
        return math.fsum(terms)

    # Upward -------------------------------------------------------------------------------------------------

    def log_u(self, cover: Cover | None = None, depth: int = 0) -> float:
        """Return log u of a state; of the root without arguments."""
        if cover is None:
            cover = self.space.root
        state = (cover, depth)
        if state not in self._log_u:
            terms = [self.log_leaf(cover, depth)]
            terms += [self._log_option(cover, depth, test) for test in self.space.feasible(cover, depth)]
            self._log_u[state] = log_sum(terms)
        return self._log_u[state]

    def _log_option(self, cover: Cover, depth: int, test: int) -> float:
        zero, one = self.table.children(cover, test)
        return self.log_split(cover, depth, test) + self.log_u(zero, depth + 1) + self.log_u(one, depth + 1)

    @property
    def log_evidence(self) -> float:
        """log u(∅): the log of the summed joint weight of every tree."""
        return self.log_u()

    def log_prob(self, tree: Tree) -> float:
        """Return log posterior probability of one tree."""
        return self.log_joint(tree) - self.log_evidence

    def step(self, cover: Cover, depth: int) -> Step:
        """Return the posterior probabilities of what happens at a state, given that a tree reaches it."""
        log_u = self.log_u(cover, depth)
        split = {
            test: math.exp(self._log_option(cover, depth, test) - log_u)
            for test in self.space.feasible(cover, depth)
        }
        return Step(math.exp(self.log_leaf(cover, depth) - log_u), split)

    # Downward: rules ----------------------------------------------------------------------------------------

    def _log_v_of_states(self) -> dict[tuple[Path, Cover, int], float]:
        """Return log v of every path, and of the state at its end (in a local space there may be several)."""
        if self._log_v is None:
            self._log_v = {}
            level: dict[tuple[Path, Cover, int], list[float]] = {(frozenset(), self.space.root, 0): [0.0]}
            while level:
                below: dict[tuple[Path, Cover, int], list[float]] = {}
                for (path, cover, depth), terms in level.items():
                    log_v = log_sum(terms)
                    self._log_v[path, cover, depth] = log_v
                    for test in self.space.feasible(cover, depth):
                        children = self.table.children(cover, test)
                        condition = self.table.condition(cover, test)
                        for outcome in (0, 1):
                            log_sibling = self.log_u(children[1 - outcome], depth + 1)
                            term = log_v + self.log_split(cover, depth, test) + log_sibling
                            longer = path | {(condition, outcome)}
                            below.setdefault((longer, children[outcome], depth + 1), []).append(term)
                level = below
        return self._log_v

    def log_v(self) -> dict[Path, float]:
        """Return log v of every path that some tree of the space contains."""
        terms: dict[Path, list[float]] = {}
        for (path, _, _), log_v in self._log_v_of_states().items():
            terms.setdefault(path, []).append(log_v)
        return {path: log_sum(each) for path, each in terms.items()}

    def log_rules(self) -> dict[Path, tuple[float, ...]]:
        """Return log w_c of every path: the weighted rule set that equals the average over all trees."""
        terms: dict[Path, list[tuple[float, ...]]] = {}
        for (path, cover, depth), log_v in self._log_v_of_states().items():
            weight = log_v + self.log_leaf(cover, depth)
            rule = tuple(weight + math.log(theta) for theta in self.theta(cover, depth))
            terms.setdefault(path, []).append(rule)
        return {
            path: tuple(log_sum(column) for column in zip(*rules, strict=True))
            for path, rules in terms.items()
        }

    def rules_for(self, row: Iterable[Any]) -> dict[Path, tuple[float, ...]]:
        """Return the rules that decide a row: path → its share w_c / u(∅) of the prediction, heaviest first."""
        clean = self.table.check_row(row)
        shares = {
            path: tuple(math.exp(log_w - self.log_evidence) for log_w in log_weights)
            for path, log_weights in self.log_rules().items()
            if self._satisfies(clean, path)
        }
        return dict(sorted(shares.items(), key=lambda rule: (-sum(rule[1]), sorted(rule[0]))))

    def predict_by_rules(self, row: Iterable[Any]) -> tuple[float, ...]:
        """Return P(c | x) as the sum of the rules that x satisfies, divided by their total over the classes."""
        clean = self.table.check_row(row)
        chosen = [log_w for path, log_w in self.log_rules().items() if self._satisfies(clean, path)]
        log_class = [log_sum(column) for column in zip(*chosen, strict=True)]
        log_total = log_sum(log_class)
        return tuple(math.exp(each - log_total) for each in log_class)

    # Downward: one row --------------------------------------------------------------------------------------

    def average(
        self, row: Iterable[Any], value: Callable[[Cover, int], Sequence[float]]
    ) -> tuple[float, ...]:
        """Return the posterior mean of any vector that depends on the leaf that the row reaches.

            g(s) = Vleaf(s) · value(s) + Σ_i Vint(s, i) · u(sibling) · g(child the row takes)

        computed as G = g / u, which stays in the range of the values however many rows a cover has.
        """
        clean = self.table.check_row(row)
        return self._average(lambda cover, test: self.table.outcome(cover, test, clean), value)

    def average_in_table(
        self, number: int, value: Callable[[Cover, int], Sequence[float]]
    ) -> tuple[float, ...]:
        """Return the same for a row of the table, by its number."""
        return self._average(lambda cover, test: self.table.rows[number][test], value)

    def _average(
        self, goes: Callable[[Cover, int], int], value: Callable[[Cover, int], Sequence[float]]
    ) -> tuple[float, ...]:
        known: dict[tuple[Cover, int], tuple[float, ...]] = {}

        def G(cover: Cover, depth: int) -> tuple[float, ...]:
            state = (cover, depth)
            if state not in known:
                leaf, split = self.step(cover, depth)
                parts = [[leaf * each for each in value(cover, depth)]]
                for test, share in split.items():
                    child = self.table.children(cover, test)[goes(cover, test)]
                    parts.append([share * each for each in G(child, depth + 1)])
                known[state] = tuple(math.fsum(column) for column in zip(*parts, strict=True))
            return known[state]

        return G(self.space.root, 0)

    def predict_proba(self, row: Iterable[Any]) -> tuple[float, ...]:
        """Return P(c | x) of every class: the mean of θ_c over all trees."""
        return self.average(row, self.theta)

    def decide(self, row: Iterable[Any], matrix: Sequence[Sequence[float]]) -> int:
        """Return the class k of least Σ_c P(c | x) · matrix[c][k], on ties the more probable one, then the first."""
        p = self.predict_proba(row)
        classes = range(len(p))
        expected = [math.fsum(p[c] * matrix[c][k] for c in classes) for k in classes]
        return min(classes, key=lambda k: (expected[k], -p[k], k))

    def moments(self, row: Iterable[Any]) -> Moments:
        """Return mean, second moment and the two parts of the variance of θ_c at a row."""
        C = self.table.n_classes

        def leaf(cover: Cover, depth: int) -> list[float]:
            mean = self.theta(cover, depth)
            total = sum(self.class_counts(cover)) + sum(self.a(depth))
            # For a Dirichlet with parameters b and total B: Var θ_c = m(1 − m) / (B + 1), m = b_c / B.
            variance = [m * (1 - m) / (total + 1) for m in mean]
            return [*mean, *(m * m for m in mean), *variance]

        averages = self.average(row, leaf)
        mean, mean_square, within = averages[:C], averages[C : 2 * C], averages[2 * C :]
        return Moments(
            mean,
            tuple(square + inner for square, inner in zip(mean_square, within, strict=True)),
            tuple(square - m * m for square, m in zip(mean_square, mean, strict=True)),
            within,
        )

    def _satisfies(self, row: Any, path: Path) -> bool:
        return all(self.table.holds(row, condition) == outcome for condition, outcome in path)
