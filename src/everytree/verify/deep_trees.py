"""Forests of deep trees, grown again: rounds of five trees, each without a part of the examples, all prunings averaged.

    at a node   as many columns as the file says are drawn, and further ones until one divides what is seen
    test        the largest Σ l_c² / l + Σ r_c² / r of the drawn columns, the first of equals; cuts midway between codes
                that are seen, or one drawn; of nominal columns the values that are seen, or one drawn
    a pruning   s = M at a leaf, ½ M + ½ s(left) s(right) at a split, M the marginal likelihood of all examples
    said        of an example of class y in the hidden part, with n⁻ the counts without it:
                Σ over its path of P(leaf here) · p⁻ / p⁻_y, scaled to sum to one; then the mean over the rounds

Random numbers are those of SplitMix64, a stream for each round and each tree.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from everytree.verify.prove import GivenUp

__all__ = ["Codes", "said_of_left_out"]

PARTS, STRENGTH, DEEPEST = 5, 0.1, 64
WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Codes:
    """The examples: for each column whether it is nominal and how many codes it has; rows of codes; class counts."""

    nominal: tuple[bool, ...]
    n_codes: tuple[int, ...]
    rows: Sequence[Sequence[int]]
    counts: Sequence[Sequence[int]]
    per_example: int


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


class _Stream:
    def __init__(self, seed: int, number: int) -> None:
        self._state = _mix((seed & WORD) ^ _mix((number + GOLDEN) & WORD))

    def below(self, n: int) -> int:
        self._state = (self._state + GOLDEN) & WORD
        return min(n - 1, int((_mix(self._state) >> 11) * 2.0**-53 * n))


def said_of_left_out(
    data: Codes, cuts: str, rounds: int, columns_at_node: int, seed: int, deadline: float
) -> dict[tuple[int, int], list[float]]:
    """Return what the forest says of each row and class with examples, without one of them; give up at the deadline."""
    forest = _Forest(data, cuts == "random", columns_at_node)
    sums = {(r, c): [0.0] * len(own) for r, own in enumerate(data.counts) for c, n in enumerate(own) if n}
    for k in range(rounds):
        part = forest.dealt(_Stream(seed, k * (PARTS + 1)))
        for hidden in range(PARTS):
            if time.monotonic() > deadline:
                raise GivenUp("no time for all deep trees")
            forest.tree(part, hidden, _Stream(seed, k * (PARTS + 1) + 1 + hidden), sums)
    return {key: [x / rounds for x in said] for key, said in sums.items()}


class _Node:
    def __init__(self, rows: list[int], counts: list[int]) -> None:
        self.rows, self.counts = rows, counts
        self.children: tuple[_Node, _Node] | None = None
        self.log_fold = self.stops = self.weight = 0.0


class _Forest:
    def __init__(self, data: Codes, random_cuts: bool, columns_at_node: int) -> None:
        self.data, self.random_cuts, self.wanted = data, random_cuts, columns_at_node
        totals = [sum(column) for column in zip(*data.counts, strict=True)]
        whole = sum(totals)
        self.a = [STRENGTH * n / whole for n in totals]

    def dealt(self, random: _Stream) -> list[int]:
        """Rows by their most frequent class, in random order, take turns."""
        order = list(range(len(self.data.rows)))
        for k in range(len(order), 1, -1):
            j = random.below(k)
            order[k - 1], order[j] = order[j], order[k - 1]
        largest = [own.index(max(own)) for own in self.data.counts]
        order.sort(key=largest.__getitem__)
        part = [0] * len(order)
        for turn, row in enumerate(order):
            part[row] = turn % PARTS
        return part

    def _counts(self, rows: list[int]) -> list[int]:
        return [sum(column) for column in zip(*(self.data.counts[r] for r in rows), strict=True)]

    def tree(
        self, part: list[int], hidden: int, random: _Stream, sums: dict[tuple[int, int], list[float]]
    ) -> None:
        """Grow one tree, and add what its prunings say of the hidden rows."""
        everyone = list(range(len(part)))
        root = _Node(everyone, self._counts(everyone))
        order: list[_Node] = []
        columns = list(range(len(self.data.n_codes)))
        open_nodes = [(root, 0)]
        while open_nodes:
            node, depth = open_nodes.pop()
            order.append(node)
            seen = [r for r in node.rows if part[r] != hidden]
            test = self._choose(seen, columns, random) if depth < DEEPEST else None
            if test is None:
                continue
            j, code, upto = test
            sides: tuple[list[int], list[int]] = ([], [])
            for r in node.rows:
                x = self.data.rows[r][j]
                sides[x <= code if upto else x == code].append(r)
            node.children = (
                _Node(sides[0], self._counts(sides[0])),
                _Node(sides[1], self._counts(sides[1])),
            )
            open_nodes += [(node.children[1], depth + 1), (node.children[0], depth + 1)]
        self._fold(order)
        self._judge(root, part, hidden, sums)

    def _choose(self, seen: list[int], columns: list[int], random: _Stream) -> tuple[int, int, bool] | None:
        totals = self._counts(seen)
        if sum(n > 0 for n in totals) < 2:
            return None
        best: tuple[int, int, bool] | None = None
        most = -1.0
        for k in range(len(columns)):
            if k >= self.wanted and best is not None:
                break
            drawn = k + random.below(len(columns) - k)
            columns[k], columns[drawn] = columns[drawn], columns[k]
            for score, code, upto in self._tests(seen, totals, columns[k], random):
                if score > most:
                    most, best = score, (columns[k], code, upto)
        return best

    def _tests(
        self, seen: list[int], totals: list[int], j: int, random: _Stream
    ) -> list[tuple[float, int, bool]]:
        """Return the tests of one column that divide the rows that are seen: score, code, and whether up to it."""
        n_codes, nominal = self.data.n_codes[j], self.data.nominal[j]
        by_code: dict[int, list[int]] = {}
        for r in seen:
            own = by_code.setdefault(self.data.rows[r][j], [0] * len(totals))
            for c, n in enumerate(self.data.counts[r]):
                own[c] += n
        known = sorted(code for code in by_code if code < n_codes)
        gone = n_codes in by_code
        if not known or (len(known) == 1 and not gone):
            return []

        whole = sum(totals)

        def found(left: list[int], code: int, upto: bool) -> list[tuple[float, int, bool]]:
            one = sum(left)
            if not one or one == whole:
                return []
            squares = float(sum(n * n for n in left))
            others = float(sum((n - m) ** 2 for n, m in zip(totals, left, strict=True)))
            return [(squares / float(one) + others / float(whole - one), code, upto)]

        if self.random_cuts:
            cuts = known[-1] - known[0] + nominal
            drawn = random.below(cuts + gone)
            if drawn >= cuts:
                return found(by_code[n_codes], n_codes, False)
            code = known[0] + drawn
            if nominal:
                return found(by_code[code], code, False) if code in by_code else []
            inside = [by_code[x] for x in known if x <= code]
            return found([sum(column) for column in zip(*inside, strict=True)], code, True)
        tests = found(by_code[n_codes], n_codes, False) if gone else []
        if len(known) == 1:
            return tests
        if nominal:
            return tests + [each for code in known for each in found(by_code[code], code, False)]
        left = [0] * len(totals)
        for code, following in pairwise(known):
            left = [n + m for n, m in zip(left, by_code[code], strict=True)]
            tests += found(left, (code + following - 1) // 2, True)
        return tests

    def _examples(self, count: int) -> float:
        return count / self.data.per_example

    def _fold(self, order: list[_Node]) -> None:
        whole, half = math.fsum(self.a), math.log(0.5)
        for node in reversed(order):
            leaf = math.lgamma(whole) - math.lgamma(whole + self._examples(sum(node.counts)))
            for a, n in zip(self.a, node.counts, strict=True):
                leaf += math.lgamma(a + self._examples(n)) - math.lgamma(a) if n else 0.0
            node.log_fold, node.stops = leaf, 1.0
            if node.children is not None:
                split = half + sum(child.log_fold for child in node.children)
                stop = half + leaf
                most = max(split, stop)
                node.log_fold = most + math.log(math.exp(split - most) + math.exp(stop - most))
                node.stops = math.exp(stop - node.log_fold)
        order[0].weight = order[0].stops
        reach = {id(order[0]): 1.0}
        for node in order:
            node.weight = node.stops * reach[id(node)]
            for child in node.children or ():
                reach[id(child)] = reach[id(node)] * (1 - node.stops)

    def _judge(
        self, root: _Node, part: list[int], hidden: int, sums: dict[tuple[int, int], list[float]]
    ) -> None:
        paths: dict[int, list[_Node]] = {}
        below: list[tuple[_Node, list[_Node]]] = [(root, [root])]
        while below:
            node, path = below.pop()
            if node.children is None:
                paths.update((r, path) for r in node.rows if part[r] == hidden)
            below += [(child, [*path, child]) for child in node.children or ()]
        whole = math.fsum(self.a)
        for r, path in paths.items():
            for y, own in enumerate(self.data.counts[r]):
                if not own:
                    continue
                less = min(1.0, self._examples(own))
                said = [0.0] * len(self.a)
                for node in path:
                    total = whole + self._examples(sum(node.counts))
                    mine = self.a[y] + self._examples(node.counts[y])
                    log_factor = (
                        math.log((total - 1) / (mine - 1))
                        if less == 1.0
                        else math.lgamma(mine - less)
                        - math.lgamma(mine)
                        + math.lgamma(total)
                        - math.lgamma(total - less)
                    )
                    each = node.weight * math.exp(log_factor) / (total - less)
                    for c, n in enumerate(node.counts):
                        said[c] += each * (self._examples(n) + self.a[c] - (less if c == y else 0.0))
                scale = math.fsum(said)
                sums[r, y] = [x + p / scale for x, p in zip(sums[r, y], said, strict=True)]
