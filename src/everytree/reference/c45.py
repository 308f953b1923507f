"""C4.5 in plain Python: gain ratio, fractional instances, collapse, error-based pruning, subtree raising.

Columns are lists; a numeric column has the kind ``"numeric"``, a nominal one the tuple of its declared values; None is
a missing value. A row at a node is a pair (row, weight). Numbers closer than SMALL are equal, as in the programs that
this describes.

    gain(test)  = known/n · (H(classes) − Σ_k n_k/known · H(classes | k)),   for a cut also − log2(cuts)/n
    ratio(test) = gain / H(branches and "missing")
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from everytree.reference.leaves import added_errors

__all__ = ["C45", "Node"]

SMALL = 1e-6
SLACK = 0.1  # a smaller tree may have so many more estimated errors
Rows = list[tuple[int, float]]


@dataclass
class Node:
    """A node: class counts, and for an inner one the column, the cut or the value asked for, and the children."""

    counts: list[float]
    column: int = -1
    cut: Any = None  # numeric: value <= cut is child 0; nominal: that value is child 0, or None for one child per value
    children: list[Node] = field(default_factory=list)

    def size(self) -> int:
        """Return the number of nodes."""
        return 1 + sum(child.size() for child in self.children)


@dataclass
class C45:
    """The learner: data and options. ``tree()`` is the answer."""

    columns: Sequence[Sequence[Any]]
    kinds: Sequence[Any]
    classes: Sequence[int]
    n_classes: int
    min_leaf: int = 2
    confidence: float = 0.25
    binary_splits: bool = False
    collapse: bool = True
    prune: bool = True
    subtree_raising: bool = True
    resolution: float = 1e-5

    def tree(self) -> Node:
        """Grow, collapse and prune."""
        rows: Rows = [(row, 1.0) for row in range(len(self.classes))]
        root = self._grow(rows)
        if self.collapse:
            self._collapse(root)
        if self.prune:
            self._prune(root, rows)
        return root

    def proba(self, node: Node, row: Sequence[Any], laplace: bool = False) -> list[float]:
        """Return the class probabilities of a row with the values ``row``."""
        if node.children:
            k = self._branch(node, row[node.column])
            if k is None:
                known = sum(sum(child.counts) for child in node.children)
                parts = [
                    (sum(child.counts) / known, child) for child in node.children if sum(child.counts) > 0
                ]
                answers = [(share, self.proba(child, row, laplace)) for share, child in parts]
                return [sum(share * p[c] for share, p in answers) for c in range(self.n_classes)]
            if k >= 0 and sum(node.children[k].counts) > 0:
                return self.proba(node.children[k], row, laplace)
        one = 1 if laplace else 0
        total = sum(node.counts) + one * self.n_classes
        return [(count + one) / total for count in node.counts]

    # --- growing

    def _grow(self, rows: Rows) -> Node:
        node = Node(self._counts(rows))
        self._choose(node, rows)
        if node.column >= 0:
            node.children = [self._grow(part) for part in self._divide(node, rows)]
        return node

    def _choose(self, node: Node, rows: Rows) -> None:
        """Give the node the test of the largest gain ratio among those of at least average gain, or none."""
        total = sum(node.counts)
        if total < 2 * self.min_leaf - SMALL or _errors(node.counts) < SMALL:
            return
        found: dict[int, tuple[float, float, Any]] = {}
        for j, kind in enumerate(self.kinds):
            one = self._numeric(j, rows, total) if kind == "numeric" else self._nominal(j, rows, total)
            if one is not None:
                found[j] = one
        many = 0.3 * len(self.classes) - SMALL
        few = [j for j, kind in enumerate(self.kinds) if kind == "numeric" or len(kind) < many]
        counted = [found[j][0] for j in found if j in few or not few]
        if not counted:
            return
        average, best = sum(counted) / len(counted), 0.0
        for j, (gain, ratio, cut) in found.items():
            if gain >= average - 1e-3 and ratio > best + SMALL:
                best, node.column, node.cut = ratio, j, cut

    def _nominal(self, j: int, rows: Rows, total: float) -> tuple[float, float, Any] | None:
        values = self.kinds[j]
        known = [(row, w) for row, w in rows if self.columns[j][row] is not None]
        bags = {value: [(row, w) for row, w in known if self.columns[j][row] == value] for value in values}
        if not self.binary_splits:
            return self._score(list(bags.values()), total, None)
        best: tuple[float, float, Any] | None = None
        for value in values:
            rest = [(row, w) for row, w in known if self.columns[j][row] != value]
            one = self._score([bags[value], rest], total, value)
            if one is not None and (best is None or one[1] > best[1] + SMALL):
                best = one
        return best

    def _score(self, bags: list[Rows], total: float, cut: Any) -> tuple[float, float, Any] | None:
        """Return the gain and gain ratio, or None unless two branches have enough examples."""
        if sum(_weight(bag) >= self.min_leaf - SMALL for bag in bags) < 2:
            return None
        gain = self._gain(bags, total)
        return gain, self._ratio(gain, bags, total), cut

    def _numeric(self, j: int, rows: Rows, total: float) -> tuple[float, float, Any] | None:
        column = self.columns[j]
        known = sorted(
            ((row, w) for row, w in rows if column[row] is not None), key=lambda one: column[one[0]]
        )
        least = 0.1 * _weight(known) / self.n_classes
        least = self.min_leaf if least <= self.min_leaf + SMALL else min(least, 25)
        if len(known) < 2 * least - SMALL:
            return None
        best, place, cuts = 0.0, 0, 0
        for i in range(1, len(known)):
            if not column[known[i - 1][0]] + self.resolution < column[known[i][0]]:
                continue
            if min(_weight(known[:i]), _weight(known[i:])) < least - SMALL:
                continue
            cuts += 1
            gain = self._gain([known[:i], known[i:]], total)
            if gain > best + SMALL:
                best, place = gain, i
        if cuts == 0 or best - math.log2(cuts) / total <= SMALL:
            return None
        gain = best - math.log2(cuts) / total
        low, high = column[known[place - 1][0]], column[known[place][0]]
        middle = low / 2 + high / 2 + self.resolution / 10
        cut = max(x for x in column if x is not None and x <= middle) if middle < high else low
        return gain, self._ratio(gain, [known[:place], known[place:]], total), max(low, cut)

    def _gain(self, bags: list[Rows], total: float) -> float:
        known = sum(_weight(bag) for bag in bags)
        before = _entropy(self._counts([one for bag in bags for one in bag]))
        fall = known / total * (before - sum(_entropy(self._counts(bag)) for bag in bags))
        return 0.0 if abs(fall) < SMALL else fall / known

    def _ratio(self, gain: float, bags: list[Rows], total: float) -> float:
        sizes = [_weight(bag) for bag in bags]
        entropy = _entropy([*sizes, total - sum(sizes)])
        return 0.0 if abs(entropy) < SMALL else gain / (entropy / total)

    # --- rows at nodes

    def _counts(self, rows: Rows) -> list[float]:
        counts = [0.0] * self.n_classes
        for row, weight in rows:
            counts[self.classes[row]] += weight
        return counts

    def _branch(self, node: Node, value: Any) -> int | None:
        """Return the child that a value goes to: None for a missing value, −1 for a value that has no branch."""
        if value is None:
            return None
        if self.kinds[node.column] == "numeric":
            return 0 if value <= node.cut else 1
        if value not in self.kinds[node.column]:
            return -1
        if node.cut is None:
            return int(self.kinds[node.column].index(value))
        return 0 if value == node.cut else 1

    def _divide(self, node: Node, rows: Rows) -> list[Rows]:
        nominal = self.kinds[node.column] != "numeric" and node.cut is None
        parts: list[Rows] = [[] for _ in range(len(self.kinds[node.column]) if nominal else 2)]
        unknown = []
        for row, weight in rows:
            k = self._branch(node, self.columns[node.column][row])
            if k is None:
                unknown.append((row, weight))
            else:
                parts[k].append((row, weight))
        known = [_weight(part) for part in parts]
        for part, n in zip(parts, known, strict=True):
            share = 1 / len(parts) if sum(known) < SMALL else n / sum(known)
            if share > SMALL:
                part += [(row, share * weight) for row, weight in unknown]
        return parts

    # --- undoing

    def _collapse(self, node: Node) -> None:
        if node.children and _training_errors(node) >= _errors(node.counts) - 1e-3:
            node.column, node.children = -1, []
        for child in node.children:
            self._collapse(child)

    def _estimate(self, counts: list[float]) -> float:
        n, e = sum(counts), _errors(counts)
        return 0.0 if n < SMALL else e + added_errors(n, e, self.confidence)

    def _estimated(self, node: Node) -> float:
        return sum(map(self._estimated, node.children)) if node.children else self._estimate(node.counts)

    def _errors_for(self, node: Node, rows: Rows) -> float:
        if not node.children:
            return self._estimate(self._counts(rows))
        return sum(
            self._errors_for(child, part)
            for child, part in zip(node.children, self._divide(node, rows), strict=True)
        )

    def _recount(self, node: Node, rows: Rows) -> None:
        node.counts = self._counts(rows)
        if node.children:
            for child, part in zip(node.children, self._divide(node, rows), strict=True):
                self._recount(child, part)

    def _prune(self, node: Node, rows: Rows) -> None:
        if not node.children:
            return
        for child, part in zip(node.children, self._divide(node, rows), strict=True):
            self._prune(child, part)
        most, largest = 0.0, node.children[0]
        for child in node.children:  # the last of the largest
            if sum(child.counts) > most - SMALL:
                most, largest = sum(child.counts), child
        branch = self._errors_for(largest, rows) if self.subtree_raising else math.inf
        leaf, subtree = self._estimate(node.counts), self._estimated(node)
        if leaf <= min(subtree, branch) + SLACK + SMALL:
            node.column, node.children = -1, []
        elif branch <= subtree + SLACK + SMALL:
            node.column, node.cut, node.children = largest.column, largest.cut, largest.children
            self._recount(node, rows)
            self._prune(node, rows)


def _weight(rows: Rows) -> float:
    return sum(weight for _, weight in rows)


def _errors(counts: Sequence[float]) -> float:
    return sum(counts) - max(counts)


def _training_errors(node: Node) -> float:
    return sum(map(_training_errors, node.children)) if node.children else _errors(node.counts)


def _entropy(counts: Sequence[float]) -> float:
    """Return the entropy in bits times the number of examples."""
    return _n_log_n(sum(counts)) - sum(map(_n_log_n, counts))


def _n_log_n(x: float) -> float:
    return x * math.log2(x) if x >= SMALL else 0.0
