"""A proof of optimality that shares nothing with the solver: a plain dynamic programme over covers.

A cover is a set of distinct rows, kept as the bits of one whole number. What can be reached from it:

    trees(cover, d) = a leaf, if the query allows it
                    ∪ { split by test t :  trees(cover ∧ t, d−1) × trees(cover ∧ ¬t, d−1),  both sides ≥ min_leaf }

Where the ranking adds up over leaves (costs and size, no bounds) one best value per state is enough. Otherwise each
state keeps every vector (costs, leaves, depth, required tests met) that no other vector of it dominates. States are
counted; when there are too many, or time is up, the programme gives up and says so: it never guesses.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import add, sub
from typing import Any, TypeAlias

from everytree.verify.examples import Examples
from everytree.verify.local import Offers
from everytree.verify.model import Model
from everytree.verify.parts import in_examples
from everytree.verify.query import COSTS, Query, Value

__all__ = ["GivenUp", "Optimum", "Space", "best_tree", "rank_of", "show_tree"]

Key: TypeAlias = tuple[Any, ...]  # () is a leaf, (test, zero, one) a split
Counts: TypeAlias = tuple[Any, ...]
# A cover, the levels that may still be split, and the cover whose offers count where it is another one.
State: TypeAlias = tuple[int, int | None, int | None]


MOST_BYTES = 2**30
BYTES_PER_STATE = 400
MOST_FRACTIONS = 100_000


class GivenUp(Exception):
    """There are more states than allowed, or no time is left."""


@dataclass(frozen=True)
class Optimum:
    """The best tree of the space and its rank; ``tree`` is None where no tree satisfies the query."""

    rank: tuple[Value, ...] | None
    tree: Key | None
    n_states: int


def _bit_set(bits: list[int]) -> int:
    """Make a whole number whose bit r is bits[r], by way of text: adding powers of two would be quadratic."""
    return int("".join(map(str, reversed(bits))), 2) if bits else 0


class Space:
    """The examples as bit sets: one for each test, and one for each class and binary digit of its counts."""

    def __init__(
        self,
        examples: Examples,
        query: Query,
        max_states: int,
        time_limit: float,
        model: Model | None = None,
    ) -> None:
        self.query = query
        rows = sorted(examples.counts)
        self.everything = (1 << len(rows)) - 1
        sets = [_bit_set([bits >> test & 1 for bits in rows]) for test in range(examples.n_tests)]
        self.tests = [(test, rows) for test, rows in enumerate(sets) if test not in query.forbidden]
        self.rows_of = dict(self.tests)
        # Where every node chooses its own cuts, a cover offers some of the tests.
        self.offers: Offers | None = None
        if model is not None and model.local:
            self.offers = Offers(model, sets, self.everything, [sum(examples.counts[bits]) for bits in rows])
        self.planes: list[list[tuple[int, int]]] = []  # for each class: (weight, rows)
        for c in range(examples.n_classes):
            column = [examples.counts[bits][c] for bits in rows]
            digits = max(column).bit_length()
            self.planes.append(
                [(1 << digit, _bit_set([n >> digit & 1 for n in column])) for digit in range(digits)]
            )
        self.per_example = examples.per_example
        self.fractions: dict[tuple[int, ...], Counts] = {}
        # Where no row counts twice, there is one bit set per class.
        single = self.per_example == 1 and all(len(plane) == 1 for plane in self.planes)
        self.unit_planes = [plane[0][1] for plane in self.planes] if single else None
        self.totals = self.counts(self.everything)
        # A remembered state holds its cover: one bit per distinct row, and a few Python objects around it.
        self.max_states = min(max_states, MOST_BYTES // (len(rows) // 8 + BYTES_PER_STATE))
        self.deadline = time.monotonic() + time_limit
        self.n_states = 0

    def counts(self, cover: int) -> Counts:
        """Count the classes of a cover."""
        return self._in_examples(self._units(cover))

    def _units(self, cover: int) -> tuple[int, ...]:
        """Count the classes in whole counts, of which ``per_example`` make an example."""
        if self.unit_planes is not None:
            return tuple([(cover & rows).bit_count() for rows in self.unit_planes])
        return tuple(
            [sum([weight * (cover & rows).bit_count() for weight, rows in plane]) for plane in self.planes]
        )

    def _in_examples(self, units: tuple[int, ...]) -> Counts:
        """Return whole counts as examples; Fractions are slow to make, and the same ones come again and again."""
        if self.per_example == 1:
            return units
        known = self.fractions.get(units)
        if known is None:
            if len(self.fractions) >= MOST_FRACTIONS:
                self.fractions.clear()
            known = self.fractions[units] = tuple([in_examples(n, self.per_example) for n in units])
        return known

    def asked(self, left: int | None, above: int | None) -> int | None:
        """Return the cover whose offers count instead of a state's own: that of its parent, on the lowest level."""
        return above if self.offers is not None and left == 1 else None

    def splits(
        self, cover: int, counts: Counts, left: int | None = None, above: int | None = None
    ) -> Iterator[tuple[int, int, Counts, int, Counts]]:
        """Yield (test, zero side, its counts, one side, its counts) for each test that leaves enough on both sides.

        ``left`` levels may still be split; ``above`` is the cover of the parent, if there is one.
        """
        # Sides are compared in whole counts, which are many times quicker to add than Fractions.
        mine = counts if self.per_example == 1 else self._units(cover)
        least, n = self.query.min_leaf * self.per_example, sum(mine)
        tests = self.tests
        if self.offers is not None:
            other = self.asked(left, above)
            offered = self.offers.of(cover if other is None else other)
            tests = [(test, self.rows_of[test]) for test in sorted(offered) if test in self.rows_of]
        for test, rows in tests:
            one = cover & rows
            if not one or one == cover:
                continue
            ones = self._units(one)
            if least <= sum(ones) <= n - least:
                zeros = tuple(map(sub, mine, ones))
                yield test, cover ^ one, self._in_examples(zeros), one, self._in_examples(ones)

    def count_state(self) -> None:
        """Count one more state; raise ``GivenUp`` if there are too many, or no time is left."""
        self.n_states += 1
        if self.n_states > self.max_states:
            raise GivenUp(f"stopped after {self.max_states} states")
        self.look_at_clock()

    def look_at_clock(self) -> None:
        if time.monotonic() > self.deadline:
            raise GivenUp(f"stopped by the time limit after {self.n_states} states")

    def estimate(self, descents: int = 40, seed: int = 0) -> float:
        """Estimate the number of states: the mean over random ways down of Π 2·(splits) / (length of the way)!."""
        chance = random.Random(seed)
        total = 0.0
        for _ in range(descents):
            cover, counts, ways, depth = self.everything, self.totals, 1.0, 0
            above: int | None = None
            total += 1
            while self.query.max_depth is None or depth < self.query.max_depth - 1:
                pure = sum(1 for n in counts if n) <= 1
                left = None if self.query.max_depth is None else self.query.max_depth - depth
                found = [] if pure else list(self.splits(cover, counts, left, above))
                if not found or time.monotonic() > self.deadline:
                    break
                depth += 1
                ways *= 2 * len(found) / depth
                total += ways
                _, zero, zeros, one, ones = chance.choice(found)
                above = cover
                cover, counts = chance.choice([(zero, zeros), (one, ones)])
        return total / descents


def best_tree(space: Space) -> Optimum:
    """Find the best tree under the query; raise ``GivenUp`` if that takes too long."""
    query = space.query
    bounded = query.most_leaves is not None or query.max_costs or query.min_accuracy is not None
    if bounded or query.required or "depth" in query.rank:
        return _Pareto(space).best()
    return _Additive(space).best()


def rank_of(query: Query, leaves: Sequence[Counts], depth: int) -> tuple[Value, ...]:
    """Return the ranked values of a tree with these leaves."""
    values: dict[str, Value] = {
        name: sum((query.cost(name, counts) for counts in leaves), 0) for name in query.rank if name in COSTS
    }
    return _ranked(query, values, len(leaves), depth)


def _ranked(query: Query, costs: dict[str, Value], leaves: int, depth: int) -> tuple[Value, ...]:
    def value(name: str) -> Value:
        if name in COSTS:
            price = query.penalty * leaves if name == query.first_cost else 0
            return costs[name] + price if price else costs[name]
        return {"size": 2 * leaves - 1, "leaves": leaves, "depth": depth}[name]

    return tuple(value(name) for name in query.rank)


class _Additive:
    """A search with one best value per state; values are tuples that add up over leaves, compared from the left."""

    def __init__(self, space: Space) -> None:
        self.space, self.query = space, space.query
        self.known: dict[State, tuple[tuple[Any, ...], int] | None] = {}
        self.leaf_values: dict[Counts, tuple[Any, ...] | None] = {}
        self.least_values: dict[Counts, tuple[Any, ...]] = {}
        # Fractions become whole numbers of a common unit, which are ten times quicker to add.
        parts = [self.query.penalty, *(self.query.weights or ())]
        parts += [each for row in self.query.matrix or () for each in row]
        self.unit = lcm(*(part.denominator for part in parts))

    def best(self) -> Optimum:
        space = self.space
        try:
            found = self.value(space.everything, space.totals, self.query.max_depth)
        except RecursionError:
            raise GivenUp("stopped: the trees are too deep for this checker") from None
        if found is None:
            return Optimum(None, None, space.n_states)
        tree = self.tree(space.everything, space.totals, self.query.max_depth)
        leaves = list(_leaves_of(space, tree))
        return Optimum(rank_of(self.query, leaves, _depth_of(tree)), tree, space.n_states)

    def _vector(self, cost: Any, counts: Counts) -> tuple[Any, ...]:
        vector: list[Any] = []
        for name in self.query.rank:
            if name not in COSTS:
                vector.append(1)
                continue
            value = cost(name, counts)
            if name == self.query.first_cost:
                value = value + self.query.penalty if self.query.penalty else value
            vector.append(value * self.unit if isinstance(value, float) else int(value * self.unit))
        return tuple(vector)

    def leaf(self, counts: Counts) -> tuple[Any, ...] | None:
        """Return the value of a leaf, None where it is not allowed."""
        try:
            return self.leaf_values[counts]
        except KeyError:
            allowed = self.query.allows_leaf(counts, self.space.totals)
            value = self._vector(self.query.cost, counts) if allowed else None
            self.leaf_values[counts] = value
            return value

    def least(self, counts: Counts) -> tuple[Any, ...]:
        """Return a lower bound: no subtree over these examples has a smaller value."""
        if counts not in self.least_values:
            self.least_values[counts] = self._vector(self.query.least, counts)
        return self.least_values[counts]

    def value(
        self, cover: int, counts: Counts, left: int | None, above: int | None = None
    ) -> tuple[Any, ...] | None:
        state = (cover, left, self.space.asked(left, above))
        if state in self.known:
            found = self.known[state]
            return None if found is None else found[0]
        self.space.count_state()
        best, choice = self.leaf(counts), -1
        if left != 0 and sum(counts) >= 2 * self.query.min_leaf:
            if left == 1:
                best, choice = self.stump(cover, counts, best, above)
            elif best is None or best > self.least(counts):
                best, choice = self.split(cover, counts, left, best)
        self.known[state] = None if best is None else (best, choice)
        return best

    def split(
        self, cover: int, counts: Counts, left: int | None, best: tuple[Any, ...] | None
    ) -> tuple[tuple[Any, ...] | None, int]:
        """Find the best split, if it is better than ``best``; its test is −1 if it is not."""
        choice = -1
        below = None if left is None else left - 1
        floor = self.least(counts)
        for test, zero, zeros, one, ones in self.space.splits(cover, counts, left):
            first = self.value(zero, zeros, below, cover)
            if first is None or (best is not None and best <= _sum(first, self.least(ones))):
                continue
            second = self.value(one, ones, below, cover)
            if second is None:
                continue
            both = _sum(first, second)
            if best is None or both < best:
                best, choice = both, test
                if best <= floor:
                    break  # nothing can be better
        return best, choice

    def stump(
        self, cover: int, counts: Counts, best: tuple[Any, ...] | None, above: int | None
    ) -> tuple[tuple[Any, ...] | None, int]:
        """Do ``split`` for the last level, where both sides are leaves; most of the time is spent here."""
        choice = -1
        if best is not None and best <= self.least(counts):
            return best, choice
        for test, _, zeros, _, ones in self.space.splits(cover, counts, 1, above):
            first, second = self.leaf(zeros), self.leaf(ones)
            if first is None or second is None or (best is not None and first[0] + second[0] > best[0]):
                continue
            both = _sum(first, second)
            if best is None or both < best:
                best, choice = both, test
        return best, choice

    def tree(self, cover: int, counts: Counts, left: int | None, above: int | None = None) -> Key:
        found = self.known.get((cover, left, self.space.asked(left, above)))
        if found is None or found[1] < 0:
            return ()
        below = None if left is None else left - 1
        for test, zero, zeros, one, ones in self.space.splits(cover, counts, left, above):
            if test == found[1]:
                return test, self.tree(zero, zeros, below, cover), self.tree(one, ones, below, cover)
        raise AssertionError("the chosen test is feasible")


class _Pareto:
    """A search for every vector (costs, leaves, depth, missing required tests) that no other one dominates."""

    def __init__(self, space: Space) -> None:
        self.space, self.query = space, space.query
        costs = [name for name in space.query.rank if name in COSTS]
        costs += [name for name, _ in space.query.max_costs]
        if space.query.min_accuracy is not None:
            costs.append("errors")
        self.costs = list(dict.fromkeys(costs))
        self.known: dict[State, list[tuple[tuple[Value, ...], int, Key]]] = {}
        # Costs below zero can pull a tree back under a bound, so only then bounds wait for the root.
        self.early = all(value >= 0 for row in space.query.matrix or () for value in row)

    def best(self) -> Optimum:
        space, query = self.space, self.query
        try:
            cells = self.cells(space.everything, space.totals, query.max_depth)
        except RecursionError:
            raise GivenUp("stopped: the trees are too deep for this checker") from None
        found: tuple[tuple[Value, ...], Key] | None = None
        for vector, lacking, key in cells:
            if lacking or not self.within(vector):
                continue
            value = _ranked(
                query, dict(zip(self.costs, vector, strict=False)), int(vector[-2]), int(vector[-1])
            )
            if found is None or value < found[0]:
                found = value, key
        rank, tree = found or (None, None)
        return Optimum(rank, tree, space.n_states)

    def within(self, vector: tuple[Value, ...]) -> bool:
        """Return whether a tree with this vector meets the bounds."""
        query = self.query
        if query.most_leaves is not None and vector[-2] > query.most_leaves:
            return False
        values = dict(zip(self.costs, vector, strict=False))
        if not all(query.within(name, value) for name, value in values.items()):
            return False
        n = sum(self.space.totals)
        return query.min_accuracy is None or n - values["errors"] >= n * query.min_accuracy

    def cells(
        self, cover: int, counts: Counts, left: int | None, above: int | None = None
    ) -> list[tuple[tuple[Value, ...], int, Key]]:
        state = (cover, left, self.space.asked(left, above))
        if state in self.known:
            return self.known[state]
        self.space.count_state()
        required = self.query.required
        found: list[tuple[tuple[Value, ...], int, Key]] = []
        if self.query.allows_leaf(counts, self.space.totals):
            costs = (_lean(self.query.cost(name, counts)) for name in self.costs)
            found.append(((*costs, 1, 0), (1 << len(required)) - 1, ()))
        if left != 0 and sum(counts) >= 2 * self.query.min_leaf:
            below = None if left is None else left - 1
            for test, zero, zeros, one, ones in self.space.splits(cover, counts, left, above):
                lacking = sum(1 << i for i, group in enumerate(required) if test not in group)
                self.space.look_at_clock()
                second = self.cells(one, ones, below, cover)
                for v0, m0, t0 in self.cells(zero, zeros, below, cover) if second else ():
                    for v1, m1, t1 in second:
                        vector = (
                            *(a + b for a, b in zip(v0[:-1], v1[:-1], strict=True)),
                            1 + max(v0[-1], v1[-1]),
                        )
                        if not self.early or self.within(vector):
                            found.append((vector, m0 & m1 & lacking, (test, t0, t1)))
                found = _undominated(found)
        self.known[state] = found
        return found


def _undominated(
    cells: list[tuple[tuple[Value, ...], int, Key]],
) -> list[tuple[tuple[Value, ...], int, Key]]:
    kept: list[tuple[tuple[Value, ...], int, Key]] = []
    for vector, lacking, tree in sorted(cells, key=lambda cell: (cell[0], cell[1].bit_count())):
        if not any(
            not (m & ~lacking) and all(a <= b for a, b in zip(v, vector, strict=True)) for v, m, _ in kept
        ):
            kept.append((vector, lacking, tree))
    return kept


def _sum(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(map(add, a, b))


def _lean(value: Value) -> Value:
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def _leaves_of(space: Space, tree: Key) -> Iterator[Counts]:
    rows = dict(space.tests)
    waiting = [(tree, space.everything)]
    while waiting:
        node, cover = waiting.pop()
        if node:
            waiting += [(node[1], cover & ~rows[node[0]]), (node[2], cover & rows[node[0]])]
        else:
            yield space.counts(cover)


def _depth_of(tree: Key) -> int:
    return 1 + max(_depth_of(tree[1]), _depth_of(tree[2])) if tree else 0


def show_tree(space: Space, tree: Key, names: Sequence[str], classes: Sequence[Any]) -> list[str]:
    """Write the tree as indented lines, the yes branch first."""
    rows = dict(space.tests)
    lines = []
    waiting: list[tuple[Key, int, int, str]] = [(tree, space.everything, 0, "")]
    while waiting:
        node, cover, depth, branch = waiting.pop()
        counts = space.counts(cover)
        if node:
            lines.append(f"{'  ' * depth}{branch}{names[node[0]]}?")
            waiting.append((node[1], cover & ~rows[node[0]], depth + 1, "no: "))
            waiting.append((node[2], cover & rows[node[0]], depth + 1, "yes: "))
        else:
            shown = ", ".join(f"{label} {n}" for label, n in zip(classes, counts, strict=True))
            lines.append(f"{'  ' * depth}{branch}leaf ({shown})")
    return lines
