"""Trees as the page stores them: a list of nodes, each with its counts, probabilities and where a row goes next.

    {"n": counts, "p": probabilities, "i": [low, high], …}      i: 95 % interval of the class that the node predicts

"s" is that class where it is not the most probable one. A split on a 0/1 test has "t", the test, and "k", its children
(yes, no). A split on a whole column has "col", "k", the words "q" and "b" of its question and its branches, and what
sends a value to a child: "cut", "code", "known", "m" (see web/src/data.ts). Given the tree, θ in a leaf is
Dirichlet(n + a), so θ_c is Beta(n_c + a_c, Σ others), and the interval is the central one of that distribution. "a" of
a tree is that a, by depth: the page says beside the counts what was added to them. "path": true says that
probabilities are averaged along the path instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.report.page_tests import Place, as_they_are
from everytree.report.words import shown
from everytree.trees.answers import with_dirichlet
from everytree.trees.multiway import MultiwayTree
from everytree.trees.option_form import NO_CHILD
from everytree.trees.option_tree import OptionTree
from everytree.trees.path_tree import PathTree
from everytree.trees.tree import Tree

__all__ = [
    "LEVEL",
    "added_of",
    "intervals",
    "multiway_tree",
    "option_tree",
    "page_tree",
    "path_tree",
    "short",
]

LEVEL = 0.95
Reals = npt.NDArray[np.float64]


def page_tree(
    tree: Tree,
    dirichlet: list[list[float]],
    *,
    keep_proba: bool = False,
    place: Place = as_they_are,
) -> dict[str, Any]:
    """Describe a tree on 0/1 tests, with Dirichlet parameters by depth.

    ``keep_proba`` leaves the probabilities of the tree as they are; ``place`` numbers the tests of the page.
    """
    rows = np.array([dirichlet[min(d, len(dirichlet) - 1)] for d in tree.node_depths])
    proba = tree.proba if keep_proba else with_dirichlet(tree, dirichlet).proba
    low, high = intervals(tree.counts, rows, tree.says)
    nodes = []
    for k in range(tree.n_nodes):
        node = _node(tree.counts[k], proba[k])
        node["i"] = [short(low[k]), short(high[k])]
        if tree.says[k] != node["p"].index(max(node["p"])):  # compared with the digits that the page has
            node["s"] = int(tree.says[k])
        test = int(tree.test[k])
        if test >= 0:
            zero, one = tree.children[k].tolist()
            upper = 0 if tree.upper is None else int(tree.upper[k])
            node |= {"t": place(test, upper), "k": [one, zero]}
        nodes.append(node)
    return {
        "nodes": nodes,
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "error": tree.error,
        "a": added_of(dirichlet),
    }


def added_of(dirichlet: Sequence[Sequence[float]]) -> list[float | list[float]]:
    """Return what is added to the counts of a leaf, by depth: one number for every class, or one for each.

    >>> added_of([[1.0, 1.0, 1.0]]), added_of([[0.5, 2.0]])
    ([1.0], [[0.5, 2.0]])
    """
    return [row[0] if len(set(row)) == 1 else list(row) for row in dirichlet]


def intervals(counts: npt.ArrayLike, prior: npt.ArrayLike, classes: npt.ArrayLike) -> tuple[Reals, Reals]:
    """Return the central 95 % interval of the probability of one class at each node.

    >>> low, high = intervals([[8, 2]], [[1, 1]], [0])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.482], [0.94])
    """
    from scipy.special import betaincinv

    a = np.asarray(counts, dtype=np.float64) + np.asarray(prior, dtype=np.float64)
    own = a[np.arange(len(a)), np.asarray(classes, dtype=np.intp)]
    others = a.sum(axis=1) - own
    if a.shape[1] == 1:
        return np.ones(len(a)), np.ones(len(a))
    ends = [betaincinv(own, others, p) for p in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)]
    mean = own / (own + others)  # where scipy fails, nearly all weight is at the mean
    low, high = (np.where(np.isnan(end), mean, end) for end in ends)
    return low, high


def multiway_tree(tree: MultiwayTree, laplace: bool = False) -> dict[str, Any]:
    """Describe a tree of C4.5 by frequencies; a node without examples has those of its parent."""
    counts = tree.counts
    proba = np.zeros(counts.shape)
    parent = tree.parents()
    nodes: list[dict[str, Any]] = []
    for k in range(tree.n_nodes):  # parents come first
        total = float(counts[k].sum())
        if total > 0:
            proba[k] = (counts[k] + laplace) / (total + laplace * counts.shape[1])
        else:
            proba[k] = proba[parent[k]]
        node = _node(counts[k], proba[k])
        j = int(tree.attribute[k])
        if j >= 0:
            column, at = tree.columns[j], float(tree.threshold[k])
            node |= {
                "col": j,
                "k": list(tree.children(k)),
                "q": shown(column.name),
                "b": [shown(tree.branch_text(k, c)) for c in range(int(tree.n_children[k]))],
            }
            if at == math.inf:
                node["known"] = True
            elif column.kind == "numeric":
                node["cut"] = [at]
            elif not math.isnan(at):
                node["code"] = int(at)
            if tree.missing is not None and int(tree.missing[k]) >= 0:
                node["m"] = int(tree.missing[k])
        nodes.append(node)
    return _whole(nodes, tree) | ({"a": [1.0]} if laplace else {})


def path_tree(tree: PathTree) -> dict[str, Any]:
    """Describe a tree of categories, with the average along the path as probabilities."""
    nodes: list[dict[str, Any]] = []
    for k in range(tree.n_nodes):
        node = _node(tree.counts[k], tree.probabilities[k])
        j = int(tree.attribute[k])
        if j >= 0:
            of = tree.categories[j]
            node |= {
                "col": j,
                "k": list(tree.children(k)),
                "q": shown(of.name),
                "b": [shown(of.text(code)) for code in range(of.n_values)],
            }
            if of.values is None:
                node["cut"] = list(of.cuts)
            if of.missing:
                node["m"] = of.n_values - 1
        nodes.append(node)
    return _whole(nodes, tree) | {"path": True}


def option_tree(tree: OptionTree) -> dict[str, Any]:
    """Describe a tree with all its prunings, or the most probable tree of an option tree.

    Nodes have their own probabilities. For a tree with its prunings, "w" is the probability that a node is a leaf: the
    prediction is the mixture along the path.
    """
    mixes = tree.is_tree and tree.kind == "smooth"
    best = tree if tree.is_tree else tree.most_probable()
    arrays, dirichlet = best.arrays, best.dirichlet
    nodes: list[dict[str, Any]] = []
    errors = leaves = 0
    waiting: list[tuple[int, list[int] | None]] = [(0, None)]  # a state, and the children of its parent
    while waiting:
        state, siblings = waiting.pop()
        if siblings is not None:
            siblings[siblings.index(-1 - state)] = len(nodes)
        counts, theta = best.counts[state], best.theta(state)
        node = _node(counts, theta)
        depth = min(int(arrays["depth"][state]), len(dirichlet) - 1)
        low, high = intervals([counts], [dirichlet[depth]], [int(theta.argmax())])
        node["i"] = [short(low[0]), short(high[0])]
        nodes.append(node)
        options = best.options(state)
        if not options:
            leaves += 1
            errors += int(counts.sum() - counts.max())
            continue
        option = options[0]
        begin, end = arrays["child_begin"][option : option + 2].tolist()
        slots = arrays["child"][begin:end].tolist()
        there = [slot for slot, child in enumerate(slots) if child != NO_CHILD]
        column, at = best.column(option), float(arrays["threshold"][option])
        children = [-1 - int(slots[slot]) for slot in there]  # negative until they have a number of their own
        place = [there.index(slot) if slot in there else -1 for slot in range(len(slots))]
        node |= {
            "col": int(arrays["attribute"][option]),
            "k": children,
            "at": place,
            "m": place[-1],
            "q": shown(column.name),
            "b": [shown(text) for text, _ in best.branches(option)],
        }
        if at == math.inf:
            node["known"] = True
        elif column.kind == "numeric":
            node["cut"] = [at]
        elif not math.isnan(at):
            node["code"] = int(at)
        if mixes:
            node["w"] = short(best.p_leaf[state])
        waiting += [(-1 - child, children) for child in reversed(children)]
    return {
        "nodes": nodes,
        "leaves": leaves,
        "depth": best.depth,
        "error": errors,
        "a": added_of(dirichlet),
    }


def _whole(nodes: list[dict[str, Any]], tree: MultiwayTree | PathTree) -> dict[str, Any]:
    leaves = tree.counts[tree.attribute < 0]
    error = float(leaves.sum() - leaves.max(axis=1).sum())
    return {"nodes": nodes, "leaves": tree.n_leaves, "depth": tree.depth, "error": round(error, 2)}


def _node(counts: npt.NDArray[Any], proba: npt.NDArray[Any]) -> dict[str, Any]:
    whole = counts.dtype.kind in "iu" or bool((counts == np.floor(counts)).all())
    return {
        "n": [int(n) for n in counts] if whole else [round(float(n), 2) for n in counts],
        "p": [short(p) for p in proba],
    }


def short(p: Any) -> float:
    """Round to five digits, more than the page shows; only certainty becomes one.

    >>> short(2 / 3), short(0.9999996), short(1.0)
    (0.66667, 0.9999996, 1.0)
    """
    return float(f"{float(p):.5g}" if p < 0.9995 else f"{float(p):.12g}")
