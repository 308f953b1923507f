"""Why a classifier of trees says what it says of one row: the leaves that the row reaches, each with its weight.

    P(c | x) = Σ_i w_i θ_c(leaf i),    Σ_i w_i = 1

    one tree                     one leaf of weight 1; C4.5 sends a row without a value down every branch
    smoothed and option trees    every node where the row may stop: the probability that it does
    sampled trees                the leaf in every draw; equal paths are put together

The exact average over every tree has far more leaves: ``BayesOptimalClassifier.explain`` finds the heavy ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from everytree.trees.conditions import conditions_of

__all__ = [
    "ReachedLeaf",
    "RowExplanation",
    "explain_row",
    "leaf_of_path",
    "leaves_of_multiway",
    "leaves_of_options",
    "leaves_of_tests",
]


LIGHT = 1e-6  # Ways of less weight are not followed, because an option tree may have very many of them.


@dataclass(frozen=True)
class ReachedLeaf:
    """A leaf that a row reaches.

    Parameters
    ----------
    conditions : tuple of str
        The conditions on the path to the leaf.
    weight : float
        The weight of the leaf in the prediction.
    counts : tuple of float
        The training examples in the leaf, by class; of sampled trees, those of the first of equal paths.
    proba : tuple of float
        The class probabilities that the leaf gives.
    """

    conditions: tuple[str, ...]
    weight: float
    counts: tuple[float, ...]
    proba: tuple[float, ...]

    def __str__(self) -> str:
        return " and ".join(self.conditions) or "always"


@dataclass(frozen=True)
class RowExplanation:
    """What is predicted for one row, and the leaves behind it; ``explain_row`` makes it.

    Parameters
    ----------
    classes : tuple
        The labels.
    prediction : object
        The label that is predicted.
    proba : tuple of float
        The class probabilities.
    leaves : tuple of ReachedLeaf
        The leaves that the row reaches, those of most weight first.
    covered : float
        The weight of the leaves shown; all leaves together weigh one.
    added : str, optional
        What the probabilities of a leaf add to its counts, in words.
    exponent : float, default 1
        Of a classifier with ``calibrate``: ``proba`` is the mean over the leaves to this power, scaled to sum to one.

    Examples
    --------
    >>> import everytree as et
    >>> model = et.C45TreeClassifier().fit([[1], [2], [8], [9]], ["no", "no", "yes", "yes"])
    >>> found = et.explain_row(model, [[7]])
    >>> found.prediction, found.leaves[0].conditions
    ('yes', ('x0 > 2',))
    """

    classes: tuple[Any, ...]
    prediction: Any
    proba: tuple[float, ...]
    leaves: tuple[ReachedLeaf, ...]
    covered: float
    added: str | None = None
    exponent: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists, strings and numbers.

        Returns
        -------
        dict
            The fields by name.
        """
        return asdict(self)

    def __str__(self) -> str:
        c = self.classes.index(self.prediction)
        head = f"{self.prediction}, P = {self.proba[c]:.3f}"
        if len(self.leaves) == 1 and self.covered > 1 - 1e-9:
            leaf = self.leaves[0]
            seen = ", ".join(
                f"{label} {n:g}" for label, n in zip(self.classes, leaf.counts, strict=True) if n
            )
            lines = [f"{head}, because", *(f"  {text}" for text in leaf.conditions or ("always",))]
            more = "" if self.added is None else f", {self.added}"
            lines.append(f"training examples there: {seen or 'none'}{more}")
            return "\n".join([*lines, *self._exponent_line()])
        lines = [
            f"{head}; {len(self.leaves)} leaves carry {100 * self.covered:.1f} % of the weight",
            f"{'weight':>7}  {f'P({self.prediction})':>8}  {'n':>6}  leaf",
        ]
        for leaf in self.leaves:
            lines.append(f"{leaf.weight:7.4f}  {leaf.proba[c]:8.3f}  {sum(leaf.counts):6g}  {leaf}")
        if self.added is not None:
            lines.append(f"a leaf counts its n examples, {self.added}")
        return "\n".join([*lines, *self._exponent_line()])

    def _exponent_line(self) -> list[str]:
        if self.exponent == 1:
            return []
        return [f"P is what the leaves say to the power {self.exponent:.3g}, then scaled"]


def explain_row(model: Any, x: Any, top: int = 10) -> Any:
    """Explain why a model predicts what it predicts for one row.

    Parameters
    ----------
    model : classifier
        A fitted classifier of everytree.
    x : array-like
        A table of one row.
    top : int
        How many leaves, those of most weight, to show.

    Returns
    -------
    RowExplanation or Explanation
        The leaves that the row reaches; of the exact average, the rules of most weight. It prints as text.

    Raises
    ------
    DataError
        If ``x`` is not one row.

    Examples
    --------
    >>> import everytree as et
    >>> model = et.C45TreeClassifier().fit([[1], [2], [8], [9]], ["no", "no", "yes", "yes"])
    >>> print(explain_row(model, [[7]]))
    yes, P = 1.000, because
      x0 > 2
    training examples there: yes 2
    """
    check_is_fitted(model)
    return model.explain_row(x, top)


# --- trees of 0/1 tests


def leaves_of_tests(trees: Any, row: Any, names: Sequence[str]) -> list[ReachedLeaf]:
    """Return the leaf of a row in every tree; the same conditions are one leaf, whatever their order.

    The row is one of 0/1 tests, or of reaches where nodes choose their own cuts.
    """
    weight: dict[tuple[tuple[int, str, int], ...], float] = defaultdict(float)
    proba: dict[tuple[tuple[int, str, int], ...], Any] = {}
    counts: dict[tuple[tuple[int, str, int], ...], Any] = {}
    n = len(trees)
    for tree in trees:
        node, items = 0, []
        while tree.test[node] >= 0:
            test = int(tree.test[node])
            outcome = int(row[test]) if tree.upper is None else int(row[test] <= tree.upper[node])
            items.append((test, names[test] if tree.asks is None else tree.asks[node], outcome))
            node = int(tree.children[node, outcome])
        key = tuple(sorted(items)) if n > 1 else tuple(items)
        weight[key] += 1 / n
        proba[key] = proba.get(key, 0.0) + tree.proba[node] / n
        counts.setdefault(key, tree.counts[node])
    found = []
    for key, each in weight.items():
        words = conditions_of(((name, outcome) for _, name, outcome in key), names)
        found.append(
            ReachedLeaf(words, each, tuple(counts[key].tolist()), tuple((proba[key] / each).tolist()))
        )
    return found


# --- trees on whole columns


def leaf_of_path(tree: Any, node: int) -> ReachedLeaf:
    """Return the path of a ``PathTree`` to the node where a row ends."""
    parents, path, at = tree.parents(), [], node
    while at > 0:
        above = int(parents[at])
        path.append(tree.categories[int(tree.attribute[above])].text(at - int(tree.first_child[above])))
        at = above
    counts, proba = tree.counts[node].tolist(), tree.probabilities[node].tolist()
    return ReachedLeaf(tuple(reversed(path)), 1.0, tuple(counts), tuple(proba))


def leaves_of_multiway(tree: Any, cells: Any) -> Iterator[ReachedLeaf]:
    """Yield the leaves of a ``MultiwayTree``: one, or several where a value is missing and has no branch."""
    waiting: list[tuple[int, tuple[str, ...], float]] = [(0, (), 1.0)]
    while waiting:
        start, path, weight = waiting.pop()
        node = start
        while tree.attribute[node] >= 0:
            k = _branch(tree, node, cells)
            if k is None:
                break
            path = (*path, tree.branch_text(node, k))
            child = tree.children(node)[k]
            if not tree.counts[child].any():  # Such a branch has the counts of the node before it.
                break
            node = child
        missing = tree.attribute[node] >= 0 and np.isnan(cells[0, int(tree.attribute[node])])
        if missing:
            total = float(tree.counts[node].sum())
            for k, child in enumerate(tree.children(node)):
                share = float(tree.counts[child].sum()) / total
                if share:
                    name = tree.columns[int(tree.attribute[node])].name
                    text = f"{tree.branch_text(node, k)} ({name} is missing)"
                    waiting.append((child, (*path, text), weight * share))
            continue
        counts = tree.counts[node]
        yield ReachedLeaf(path, weight, tuple(counts.tolist()), tuple((counts / counts.sum()).tolist()))


def _branch(tree: Any, node: int, cells: Any) -> int | None:
    """Return which child of a node the row takes; None where there is none for its value."""
    value, cut = float(cells[0, int(tree.attribute[node])]), float(tree.threshold[node])
    if np.isnan(value):
        k = -1 if tree.missing is None else int(tree.missing[node])
    elif np.isnan(cut):
        k = int(value)
    elif tree.columns[int(tree.attribute[node])].kind == "numeric":
        k = int(value > cut)
    else:
        k = int(value != cut and cut != np.inf)
    return k if k >= 0 else None


def leaves_of_options(tree: Any, cells: Any, whole_weight: float) -> Iterator[ReachedLeaf]:
    """Yield every node of an ``OptionTree`` where the row may stop, by each way to it."""
    waiting: list[tuple[int, tuple[str, ...], float]] = [(0, (), whole_weight)]
    while waiting:
        node, path, weight = waiting.pop()
        stops = float(tree.p_leaf[node])
        for option in tree.options(node):
            share = float(tree.p_option[option])
            taken = tree.step(option, cells)
            if taken is None:
                stops += share
            elif weight * share > LIGHT:
                text, child = taken
                waiting.append((child, (*path, text), weight * share))
        if weight * stops > 0:
            counts = tree.counts[node].tolist()
            yield ReachedLeaf(path, weight * stops, tuple(counts), tuple(tree.theta(node).tolist()))
