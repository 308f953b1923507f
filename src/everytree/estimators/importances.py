"""How much each column matters: ``feature_importances_``, one definition for a tree and one for an average over trees.

    one tree      the share of column j in the total decrease of Gini's impurity,
                  Σ over the nodes t that split by j of  I(t) − Σ_s I(s),    s the children of t,
                  I(t) = n_t (1 − Σ_c p_c²) with the training examples of t: as scikit-learn's trees define it
    an average    P(the tree splits by column j somewhere), by the weights of the average

The shares of one tree sum to 1, and are all 0 if no split lowers the impurity, as in a single leaf. The probabilities
of an average do not sum to 1: a column that every tree uses has 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.trees.option_form import NO_CHILD

__all__ = ["inclusion_in_draws", "inclusion_in_options", "shares_of_multiway", "shares_of_tests"]

Reals = npt.NDArray[np.float64]
Whole = npt.NDArray[np.intp]
MOST_CELLS = 10_000_000  # So many pairs of node and column are looked at together.


def shares_of_tests(tree: Any, column_of_test: Whole, n_columns: int) -> Reals:
    """Return the share of each column in the decrease of impurity of a ``Tree`` of 0/1 tests."""
    inner = np.flatnonzero(np.asarray(tree.test) >= 0)
    columns = np.full(len(tree.test), -1, dtype=np.intp)
    columns[inner] = column_of_test[np.asarray(tree.test)[inner]]
    parents = np.full(len(tree.test), -1, dtype=np.intp)
    for side in (0, 1):
        parents[np.asarray(tree.children)[inner, side]] = inner
    return _shares(np.asarray(tree.counts, dtype=np.float64), columns, parents, n_columns)


def shares_of_multiway(tree: Any, n_columns: int) -> Reals:
    """Return the share of each column in the decrease of impurity of a ``MultiwayTree`` or a ``PathTree``."""
    columns = np.asarray(tree.attribute, dtype=np.intp)
    parents = np.full(columns.size, -1, dtype=np.intp)
    for node in np.flatnonzero(columns >= 0):
        first = int(tree.first_child[node])
        parents[first : first + int(tree.n_children[node])] = node
    return _shares(np.asarray(tree.counts, dtype=np.float64), columns, parents, n_columns)


def _shares(counts: Reals, columns: Whole, parents: Whole, n_columns: int) -> Reals:
    """Return the shares, given for each node its class counts, its column (−1 for a leaf) and its parent."""
    totals = counts.sum(axis=1)
    impurity = totals - (counts**2).sum(axis=1) / np.maximum(totals, np.finfo(float).tiny)
    decrease = np.where(columns >= 0, impurity, 0.0)
    below = parents >= 0
    np.subtract.at(decrease, parents[below], impurity[below])
    split = columns >= 0
    lost = np.maximum(decrease[split], 0.0)  # It is below zero only by rounding.
    lost[lost < 1e-12 * max(1.0, float(impurity[0]))] = 0.0
    shares = np.bincount(columns[split], lost, minlength=n_columns).astype(np.float64)
    total = shares.sum()
    return shares / total if total > 0 else shares


def inclusion_in_draws(draws: Any, column_of_test: Whole, n_columns: int) -> Reals:
    """Return for each column the share of the draws of a Markov chain that use it."""
    counts = np.bincount(draws.which.ravel(), minlength=draws.n_distinct)
    uses, found = draws.uses().tocsc(), np.zeros(n_columns)
    for column in np.unique(column_of_test):
        used = np.asarray(uses[:, column_of_test == column].sum(axis=1)).ravel() > 0
        found[column] = float(counts @ used) / max(1, draws.which.size)
    return found


def inclusion_in_options(tree: Any, n_columns: int) -> Reals:
    """Return for each column the probability that a tree drawn from an ``OptionTree`` uses it.

    It is 1 − f_j(root), where the part of the tree below a node does without column j with probability

        f_j(node) = P(leaf) + Σ over its options that do not ask for column j of P(option) Π_children f_j(child)
    """
    arrays = tree.arrays
    attribute = np.asarray(arrays["attribute"], dtype=np.intp)
    begins, children = arrays["child_begin"].tolist(), arrays["child"].tolist()
    order = np.argsort(tree.node_depths, kind="stable")[::-1].tolist()  # The deepest nodes come first.
    found, used = np.zeros(n_columns), np.unique(attribute)
    block = max(1, MOST_CELLS // max(1, tree.n_nodes))
    for start in range(0, used.size, block):
        some = used[start : start + block]
        place = {int(column): k for k, column in enumerate(some)}
        without = np.ones((tree.n_nodes, some.size))
        for node in order:
            options = tree.options(node)
            if not len(options):
                continue
            sums = np.full(some.size, float(tree.p_leaf[node]))
            for option in options:
                part = np.full(some.size, float(tree.p_option[option]))
                for child in children[begins[option] : begins[option + 1]]:
                    if child != NO_CHILD:
                        part *= without[child]
                at = place.get(int(attribute[option]))
                if at is not None:
                    part[at] = 0.0
                sums += part
            without[node] = sums
        found[some] = np.clip(1.0 - without[0], 0.0, 1.0)
    return found
