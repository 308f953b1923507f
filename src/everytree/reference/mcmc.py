"""Metropolis–Hastings over the trees of a space.

    accept T → T' with probability min(1, π(T') q(T | T') / (π(T) q(T' | T)))

Targets: the posterior (log joint of a model), or exp(−E) with

    R(T) = Σ_leaves φ(π_leaf) · vol(leaf),  vol = share of examples,  φ = 1 − max p, 1 − Σp² or −Σ p ln p
    E(T) = scale · R(T) + alpha · leaves(T)

A kernel lists every move it may propose from a state, with the log probability of proposing it (forward) and
of proposing its undoing from the new state (reverse). What is missing to probability one is staying put. Both
kernels draw a new test for a state (cover, depth) from a *test proposal* r(test | state), uniform over the
feasible tests unless given. A proposal that is *outright* is drawn without a look at what is feasible: it may sum to
less than one over the feasible tests, and the rest is staying put.

**Columns** (Krasznahorkay, section 6; ``column_proposal``). A column is drawn, each of d with the same probability, and
then a test of it by the density λ of the column in training: an example is drawn, and the test is the one that its
value asks for, if there is one,

    a number       the first cut that it does not exceed        missing        "is missing"
    another value  "== value"                                   yes or 1       the column itself
    r(test) = 1/d · (share of the examples whose value asks for the test);  1/d for the only test of a column

**Chipman's kernel.** A kind of move is drawn with fixed probabilities p(kind), whether or not the tree allows
it; then, uniformly,

    grow    one of the |G| leaves with a feasible test, and a test:      p(grow) / |G(T)| · r(test)
    prune   one of the |K| cherries (splits with two leaves):            p(prune) / |K(T)|
    change  one of the |S| splits, and another test for it:              p(change) / |S(T)| · r(test)
    swap    one of the |P| pairs (split, child split), tests exchanged:  p(swap) / |P(T)|

Growing and pruning undo each other. Change and swap keep the shape, so |S| and |P| are the same on both
sides; they are proposed only if the new tree lies in the space. If both children of the parent carry the same
test, swap exchanges in both (otherwise that test would repeat on a path). Note that |G| counts leaves that
*can* be split: under a minimum leaf size the number of leaves would make the ratio wrong.

**Stack kernel** (Krasznahorkay). From ℓ leaves, one of ℓ + 1 choices: split a given leaf by a test drawn from
r, or undo the last split added. The state is the sequence of additions; a choice that is impossible is
staying put.

    growth:  forward r(test) / (ℓ+1),  reverse 1 / (ℓ+2)

It is reversible on sequences, so on trees it counts each tree once per order in which its splits can be added
(``n_orders``). With the target divided by that number (``once_per_tree``) the orders of a tree weigh together what
the tree does, and trees are drawn from the target itself. Under growth the number of orders is multiplied by

    (n + 1) · Π_ancestors k / (k + 1),  n splits in the tree, k at and below the ancestor  (``more_orders``)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from everytree.reference.leaves import entropy, error, gini
from everytree.reference.space import Space
from everytree.reference.table import Cover, Table
from everytree.reference.trees import Tree, leaves_of, n_leaves, n_splits

__all__ = [
    "Addition",
    "ChipmanKernel",
    "EnergyTarget",
    "Kernel",
    "Move",
    "StackKernel",
    "ValueTest",
    "chain",
    "energy",
]
__all__ += [
    "column_proposal",
    "log_hastings_ratio",
    "more_orders",
    "n_orders",
    "of_feasible",
    "once_per_tree",
    "risk",
    "transition",
]

State = TypeVar("State")
# A place in a tree: the outcomes on the way from the root.
Place: TypeAlias = tuple[int, ...]
TestProposal: TypeAlias = Callable[[Cover, int], Mapping[int, float]]
_PHI: dict[str, Callable[[tuple[int, ...]], float]] = {
    "misclassification": error,
    "gini": gini,
    "entropy": entropy,
}


# Targets ----------------------------------------------------------------------------------------------------


def risk(tree: Tree, table: Table, phi: str = "gini") -> float:
    """Return R(T): the leaf weights of ``leaves`` are φ times the examples of the leaf, so R is their mean.

    >>> risk((0, None, None), Table([(0,), (1,)], [(1, 1), (0, 2)]))  # half the examples at impurity 1/2
    0.25
    """
    if phi not in _PHI:
        raise ValueError(f"phi={phi!r}; choose from {', '.join(_PHI)}")
    return (
        math.fsum(_PHI[phi](table.class_counts(leaf.cover)) for leaf in leaves_of(tree, table))
        / table.n_examples
    )


def energy(tree: Tree, table: Table, alpha: float, phi: str = "gini", scale: float | None = None) -> float:
    """Return E(T); scale None is the number of examples, 1 is the form of the paper."""
    factor = table.n_examples if scale is None else scale
    return factor * risk(tree, table, phi) + alpha * n_leaves(tree)


class EnergyTarget:
    """log π(T) = −E(T); warns if alpha < ln 4: the penalty alone has then no finite sum over all shapes."""

    def __init__(self, table: Table, alpha: float, phi: str = "gini", scale: float | None = None) -> None:
        if alpha < math.log(4):
            warnings.warn(
                f"alpha={alpha}: exp(−alpha · leaves) has a finite sum over the shapes of all binary trees only "
                "for alpha ≥ ln 4 ≈ 1.386 (½ at ln 4)",
                UserWarning,
                stacklevel=2,
            )
        self.table, self.alpha, self.phi, self.scale = table, alpha, phi, scale

    def __call__(self, tree: Tree) -> float:
        return -energy(tree, self.table, self.alpha, self.phi, self.scale)


# Moves ------------------------------------------------------------------------------------------------------


class Move(NamedTuple, Generic[State]):
    """A proposal: its kind, the new state, and the log probabilities of proposing it and its undoing."""

    kind: str
    state: State
    log_forward: float
    log_reverse: float


class Kernel(Protocol[State]):
    """What a chain needs of a kernel."""

    def moves(self, state: State) -> list[Move[State]]:
        """Return every move that may be proposed."""

    def tree(self, state: State) -> Tree:
        """Return the tree of a state."""


class _Spot(NamedTuple):
    place: Place
    cover: Cover
    depth: int
    part: Tree


def _spots(tree: Tree, table: Table) -> Iterator[_Spot]:
    """Yield every node with its place and the subtree that hangs there, in preorder."""
    stack = [_Spot((), table.everything, 0, tree)]
    while stack:
        spot = stack.pop()
        yield spot
        if spot.part is not None:
            test, zero, one = spot.part
            zero_cover, one_cover = table.children(spot.cover, test)
            stack.append(_Spot((*spot.place, 1), one_cover, spot.depth + 1, one))
            stack.append(_Spot((*spot.place, 0), zero_cover, spot.depth + 1, zero))


def _replace(tree: Tree, place: Place, part: Tree) -> Tree:
    if not place:
        return part
    assert tree is not None, "a place below a leaf"
    test, zero, one = tree
    if place[0] == 0:
        return (test, _replace(zero, place[1:], part), one)
    return (test, zero, _replace(one, place[1:], part))


class ValueTest(NamedTuple):
    """A test of a column: ``op`` is "<=" with a cut, "==" with a value, "is" with "missing" or True."""

    column: Hashable
    op: str
    value: object


def column_proposal(
    columns: Mapping[Hashable, Sequence[object]],
    tests: Sequence[ValueTest],
    weights: Sequence[int] | None = None,
) -> dict[int, Fraction]:
    """Return r of every test: a column each alike, then a test by the density of its values; None is missing.

    >>> ages = {"age": [30, 50, 50, 70, None, 90]}
    >>> cuts = [ValueTest("age", "<=", 40), ValueTest("age", "<=", 60), ValueTest("age", "is", "missing")]
    >>> [str(r) for r in column_proposal(ages, cuts).values()]  # nothing asks for 70 and 90
    ['1/6', '1/3', '1/6']
    """
    tested = {test.column for test in tests}
    r = dict.fromkeys(range(len(tests)), Fraction(0))
    for column in tested:
        mine = {number: test for number, test in enumerate(tests) if test.column == column}
        if len(mine) == 1:
            r[next(iter(mine))] = Fraction(1, len(tested))
            continue
        values = columns[column]
        weight = [1] * len(values) if weights is None else weights
        for value, w in zip(values, weight, strict=True):
            asked = _asked(value, mine)
            if asked is not None:
                r[asked] += Fraction(int(w), int(sum(weight)) * len(tested))
    return r


def _asked(value: Any, tests: Mapping[int, ValueTest]) -> int | None:
    """Return the test of its column that a value asks for."""
    if value is None:
        return next((k for k, test in tests.items() if (test.op, test.value) == ("is", "missing")), None)
    cuts = sorted((test.value, k) for k, test in tests.items() if test.op == "<=" and value <= test.value)
    if cuts:
        return cuts[0][1]
    for k, test in tests.items():
        if (test.op == "==" and test.value == value) or (test.op == "is" and test.value is True and value):
            return k
    return None


def of_feasible(space: Space, odds: Mapping[int, float | Fraction]) -> TestProposal:
    """Return the outright proposal that draws from the odds of all tests; one that is not feasible is no proposal."""

    def proposal(cover: Cover, depth: int) -> Mapping[int, float]:
        return {test: float(odds[test]) for test in space.feasible(cover, depth)}

    return proposal


def _proposal(space: Space, given: TestProposal | None, outright: bool) -> TestProposal:
    """Return r(· | state): uniform over the feasible tests, or the given one, checked."""

    def uniform(cover: Cover, depth: int) -> Mapping[int, float]:
        feasible = space.feasible(cover, depth)
        return {test: 1 / len(feasible) for test in feasible}

    def checked(cover: Cover, depth: int) -> Mapping[int, float]:
        feasible = space.feasible(cover, depth)
        if not feasible:
            return {}
        assert given is not None
        odds = given(cover, depth)
        beyond = sum(odds.values()) - 1
        if (
            set(odds) != set(feasible)
            or not all(p > 0 for p in odds.values())
            or (beyond if outright else abs(beyond)) > 1e-9
        ):
            raise ValueError(
                f"the test proposal gives {dict(odds)} where the tests {list(feasible)} are feasible; give each "
                f"feasible test a positive probability, summing to {'at most one' if outright else 'one'}"
            )
        return odds

    return uniform if given is None else checked


class ChipmanKernel:
    """Grow, prune, change and swap; reversible on trees."""

    KINDS = ("grow", "prune", "change", "swap")

    def __init__(
        self,
        space: Space,
        test_proposal: TestProposal | None = None,
        probabilities: Mapping[str, float] | None = None,
        outright: bool = False,
    ) -> None:
        self.space = space
        self.r = _proposal(space, test_proposal, outright)
        self.p = dict.fromkeys(self.KINDS, 0.25) if probabilities is None else dict(probabilities)
        proper = set(self.p) == set(self.KINDS) and abs(sum(self.p.values()) - 1) < 1e-9
        if not proper or min(self.p.values()) < 0 or (self.p["grow"] > 0) != (self.p["prune"] > 0):
            raise ValueError(
                f"probabilities={self.p}; give grow, prune, change and swap, at least 0, summing to one, "
                "with grow and prune both positive or both zero"
            )

    def tree(self, state: Tree) -> Tree:
        """Return the state is the tree."""
        return state

    def moves(self, state: Tree) -> list[Move[Tree]]:
        """Return every tree that may be proposed, with its way there and back; twice if there are two ways."""
        found: list[Move[Tree]] = []
        if self.p["grow"] > 0:
            found += [*self._grow(state), *self._prune(state)]
        if self.p["change"] > 0:
            found += self._change(state)
        if self.p["swap"] > 0:
            found += self._swap(state)
        return found

    def _growable(self, tree: Tree) -> list[_Spot]:
        spots = _spots(tree, self.space.table)
        return [spot for spot in spots if spot.part is None and self.space.feasible(spot.cover, spot.depth)]

    def _cherries(self, tree: Tree) -> list[_Spot]:
        spots = _spots(tree, self.space.table)
        return [
            spot for spot in spots if spot.part is not None and spot.part[1] is None and spot.part[2] is None
        ]

    def _log_grow(self, tree: Tree, leaf: _Spot, test: int) -> float:
        return math.log(self.p["grow"] * self.r(leaf.cover, leaf.depth)[test] / len(self._growable(tree)))

    def _log_prune(self, tree: Tree) -> float:
        return math.log(self.p["prune"] / len(self._cherries(tree)))

    def _grow(self, tree: Tree) -> Iterator[Move[Tree]]:
        for leaf in self._growable(tree):
            for test in self.space.feasible(leaf.cover, leaf.depth):
                new = _replace(tree, leaf.place, (test, None, None))
                yield Move("grow", new, self._log_grow(tree, leaf, test), self._log_prune(new))

    def _prune(self, tree: Tree) -> Iterator[Move[Tree]]:
        for cherry in self._cherries(tree):
            assert cherry.part is not None
            new = _replace(tree, cherry.place, None)
            yield Move("prune", new, self._log_prune(tree), self._log_grow(new, cherry, cherry.part[0]))

    def _change(self, tree: Tree) -> Iterator[Move[Tree]]:
        for spot in _spots(tree, self.space.table):
            if spot.part is None:
                continue
            old, zero, one = spot.part
            r = self.r(spot.cover, spot.depth)
            log_each = math.log(self.p["change"] / n_splits(tree))
            for test in r:
                new = _replace(tree, spot.place, (test, zero, one))
                if test != old and new in self.space:
                    yield Move("change", new, log_each + math.log(r[test]), log_each + math.log(r[old]))

    def _swap(self, tree: Tree) -> Iterator[Move[Tree]]:
        pairs = []
        for spot in _spots(tree, self.space.table):
            if spot.part is not None:
                pairs += [(spot, outcome) for outcome, child in enumerate(spot.part[1:]) if child is not None]
        for spot, outcome in pairs:
            new = _replace(tree, spot.place, _swapped(spot.part, outcome))
            if new in self.space:
                log_each = math.log(self.p["swap"] / len(pairs))
                yield Move("swap", new, log_each, log_each)


def _swapped(part: Tree, outcome: int) -> Tree:
    """Exchange the tests of a split and its child on this side (and the other child, if on the same test)."""
    assert part is not None
    test, zero, one = part
    child = one if outcome else zero
    assert child is not None
    other = child[0]
    if zero is not None and zero[0] == other:
        zero = (test, zero[1], zero[2])
    if one is not None and one[0] == other:
        one = (test, one[1], one[2])
    return (other, zero, one)


class Addition(NamedTuple):
    """One split of a stack state: where it was added and its test."""

    place: Place
    test: int


class StackKernel:
    """Split a leaf or undo the last split; reversible on sequences of additions. Start from ()."""

    def __init__(
        self, space: Space, test_proposal: TestProposal | None = None, outright: bool = False
    ) -> None:
        self.space = space
        self.r = _proposal(space, test_proposal, outright)

    def tree(self, state: tuple[Addition, ...]) -> Tree:
        """Return the tree that the additions build."""
        tree: Tree = None
        for place, test in state:
            tree = _replace(tree, place, (test, None, None))
        return tree

    def moves(self, state: tuple[Addition, ...]) -> list[Move[tuple[Addition, ...]]]:
        """Return every way to split a leaf, and the undoing of the last split."""
        tree = self.tree(state)
        leaves = len(state) + 1
        found = []
        for spot in _spots(tree, self.space.table):
            if spot.part is None:
                for test, r in self.r(spot.cover, spot.depth).items():
                    new = (*state, Addition(spot.place, test))
                    found.append(Move("grow", new, math.log(r / (leaves + 1)), -math.log(leaves + 2)))
        if state:
            last, before = state[-1], state[:-1]
            parent = next(s for s in _spots(self.tree(before), self.space.table) if s.place == last.place)
            r = self.r(parent.cover, parent.depth)[last.test]
            found.append(Move("undo", before, -math.log(leaves + 1), math.log(r / leaves)))
        return found


def n_orders(tree: Tree) -> int:
    """Return in how many orders the splits can be added, parents first: splits! / Π (splits of each subtree).

    >>> n_orders((0, (1, None, None), (1, None, None)))
    2
    """

    def below(part: Tree) -> int:
        return 1 if part is None else n_splits(part) * below(part[1]) * below(part[2])

    return math.factorial(n_splits(tree)) // below(tree)


def more_orders(tree: Tree, place: Place) -> Fraction:
    """Return how many times more orders a tree has once the leaf at this place is split.

    >>> more_orders((0, (1, None, None), None), (1,))  # 1 order before, 2 after
    Fraction(2, 1)
    """
    factor, part = Fraction(n_splits(tree) + 1), tree
    for outcome in place:
        assert part is not None, "a place below a leaf"
        k = n_splits(part)
        factor *= Fraction(k, k + 1)
        part = part[2] if outcome else part[1]
    return factor


def once_per_tree(log_target: Callable[[Tree], float]) -> Callable[[Tree], float]:
    """Return log of π(T) / orders(T): what each order of a tree weighs if together they weigh what the tree does.

    >>> round(math.exp(once_per_tree(lambda tree: 0.0)((0, (1, None, None), (1, None, None)))), 9)
    0.5
    """

    def divided(tree: Tree) -> float:
        return log_target(tree) - math.log(n_orders(tree))

    return divided


# The chain --------------------------------------------------------------------------------------------------


def log_hastings_ratio(log_target: Callable[[Tree], float], old: Tree, new: Tree, move: Move[State]) -> float:
    """Return the log of π(T') q(T | T') / (π(T) q(T' | T))."""
    return log_target(new) - log_target(old) + move.log_reverse - move.log_forward


def transition(
    kernel: Kernel[State], log_target: Callable[[Tree], float], state: State
) -> dict[State, float]:
    """Return the exact one-step distribution of the chain from a state, staying put included."""
    old = kernel.tree(state)
    odds: dict[State, float] = {}
    for move in kernel.moves(state):
        accept = math.exp(min(0.0, log_hastings_ratio(log_target, old, kernel.tree(move.state), move)))
        odds[move.state] = odds.get(move.state, 0.0) + math.exp(move.log_forward) * accept
    odds[state] = odds.get(state, 0.0) + 1 - math.fsum(odds.values())
    return odds


def chain(
    kernel: Kernel[State], log_target: Callable[[Tree], float], start: State, n_steps: int, rng: Random
) -> Iterator[State]:
    """Run the chain: propose, accept or stay, yield the state after each step."""
    known: dict[State, list[Move[State]]] = {}
    state = start
    for _ in range(n_steps):
        if state not in known:
            known[state] = kernel.moves(state)
        point = rng.random()
        for move in known[state]:
            point -= math.exp(move.log_forward)
            if point < 0:
                log_ratio = log_hastings_ratio(log_target, kernel.tree(state), kernel.tree(move.state), move)
                if log_ratio >= 0 or rng.random() < math.exp(log_ratio):
                    state = move.state
                break
        yield state
