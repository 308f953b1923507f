"""Option trees and trees with all their prunings: the examples of every node, and the weights of its leaf.

Every example is sent down every option, as a bit of one whole number per node; a node that several options lead to must
get the same examples from each. Class counts follow, and so do θ = (n_c + a_c) / (n + Σa) and log Vleaf = log P(leaf) +
log M(n). The prior's factor of an option (``log_split``), and whether any test is feasible at a node (``open``), depend
on every test that was tried in training: these are not recomputed, and the report says so.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

from everytree.verify.claims import same_dirichlet
from everytree.verify.examples import UNKNOWN, Cells
from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact
from everytree.verify.flat import numbers
from everytree.verify.local import bits_of
from everytree.verify.model import Model
from everytree.verify.parts import in_examples
from everytree.verify.probable import read_prior
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.query import dirichlet_at

__all__ = ["check_grown"]

CLOSE = 1e-9
# The parameter prune → the kind of the tree. What was cut off is not in the file, so that the rule cannot be checked.
KINDS = {
    "smooth": "smooth",
    "map": "none",
    "none": "none",
    "cost_complexity": "none",
    "pessimistic": "none",
}


def check_grown(model: Model, tree: dict[str, Any], columns: list[Any], cells: Cells) -> list[Fact]:
    """Check an option tree, or the mean of several trees."""
    trees = tree.get("trees") if tree.get("format") == "everytree.tree_mean" else [tree]
    if not isinstance(trees, list) or not trees or not all(isinstance(each, dict) for each in trees):
        raise InputError(f"tree.trees is {quote(trees)}; expected a list of option trees")
    rows = _rows(model, columns, cells)
    facts: list[Fact] = []
    totals = {"n_nodes": 0, "n_options": 0, "n_leaves": 0, "depth": 0}
    for number, each in enumerate(trees):
        name = f" of tree {number}" if len(trees) > 1 else ""
        graph = _Graph(model, each)
        facts += graph.facts(rows, cells, name)
        totals["n_nodes"] += len(graph.depth)
        totals["n_options"] += len(graph.owner)
        totals["n_leaves"] += len(graph.depth) - len(set(graph.owner))
        totals["depth"] = max(totals["depth"], *graph.depth)
    facts += [
        Fact(name, model.claims[name], value, TRUE if model.claims[name] == value else FALSE)
        for name, value in totals.items()
        if name in model.claims
    ]
    facts += _dropped(model)
    note = "log_split and open, by which options are weighed, are not recomputed; the digest tells if they were changed"
    return [*facts, Fact("weights of options", totals["n_options"], None, UNCHECKED, note, predicts=True)]


def _dropped(model: Model) -> list[Fact]:
    """Check what is claimed of nodes that hardly counted: that their bound is within what was asked for."""
    claimed, most = model.claims.get("dropped_bound"), model.params.get("negligible", 0)
    if claimed is None and not most:
        return []
    fine = is_number(claimed) and is_number(most) and 0 <= claimed <= most
    if not fine:
        return [Fact("dropped_bound", claimed, f"at most {quote(most)}", FALSE)]
    note = f"within negligible={quote(most)}; what was dropped is not in the file"
    return [Fact("dropped_bound", claimed, None, NOTED, note)]


def _rows(model: Model, columns: list[Any], cells: Cells) -> list[tuple[Any, ...]]:
    """Return the rows, with missing values filled in where the model does so."""
    if model.params.get("missing") != "impute":
        return cells.rows
    fills = [column.get("fill") for column in columns]
    return [tuple(fill if x is None else x for x, fill in zip(row, fills, strict=True)) for row in cells.rows]


class _Graph:
    """One option tree of a file, checked for shape."""

    def __init__(self, model: Model, data: dict[str, Any]) -> None:
        self.model = model
        nodes, options = data.get("nodes"), data.get("options")
        if not isinstance(nodes, dict) or not isinstance(options, dict):
            raise InputError("tree.nodes and tree.options must be objects")
        self.depth = _whole(nodes.get("depth"), "nodes.depth", 0, 2**31)
        n = len(self.depth)
        if not n:
            raise InputError("tree.nodes.depth is empty; expected at least one node")
        self.owner = _whole(options.get("node"), "options.node", 0, n - 1)
        m = len(self.owner)
        self.column = _whole(options.get("column"), "options.column", 0, len(model.columns) - 1, m)
        self.cut = numbers(
            {"options.threshold": options.get("threshold")}, "options.threshold", m, special=True
        )
        children = options.get("children")
        if not isinstance(children, list) or len(children) != m:
            raise InputError(f"tree.options.children is {quote(children)}; expected one list for each option")
        self.children = [_whole(each, f"options.children[{o}]", -1, n - 1) for o, each in enumerate(children)]
        (parts,) = _whole([data.get("per_example", 1)], "per_example", 1, 2**53)
        self.counts = _sparse(nodes, n, len(model.classes), parts)
        self.kind, self.dirichlet = data.get("kind"), data.get("dirichlet")
        self.log_leaf = {name: data.get(name) for name in ("log_leaf_open", "log_leaf_closed")}
        for o, (node, j) in enumerate(zip(self.owner, self.column, strict=True)):
            every = model.columns[j].kind == "nominal" and math.isnan(self.cut[o])
            if len(self.children[o]) != (len(model.columns[j].values) + 1 if every else 3):
                raise InputError(
                    f"tree.options.children[{o}] has {len(self.children[o])} entries; not as its column has"
                )
            if any(child >= 0 and self.depth[child] != self.depth[node] + 1 for child in self.children[o]):
                raise InputError(f"tree.options.children[{o}] names a node that is not one level below")

    def facts(self, rows: list[tuple[Any, ...]], cells: Cells, name: str) -> list[Fact]:
        model, n_classes = self.model, len(self.model.classes)
        covers: dict[int, int] = {0: (1 << len(rows)) - 1}
        facts: list[Fact] = []
        for o in sorted(range(len(self.owner)), key=lambda o: self.depth[self.owner[o]]):
            node = self.owner[o]
            if node not in covers:
                continue  # no option leads to it
            misplaced = self._misplaced(o, covers[node], rows)
            if misplaced is not None:
                facts.append(misplaced)
            for slot, cover in enumerate(self._divided(o, covers[node], rows)):
                child = self.children[o][slot]
                if child < 0 and cover:
                    note = f"{cover.bit_count()} examples take a branch that has no node"
                    facts.append(Fact(f"option {o}{name}", "no child", slot, FALSE, note))
                elif child >= 0 and covers.setdefault(child, cover) != cover:
                    facts.append(
                        Fact(f"examples of node {child}{name}", None, None, FALSE, "its parents disagree")
                    )
        wrong = None
        for node, cover in covers.items():
            found = [0] * n_classes
            for row in bits_of(cover):
                found[cells.classes[row]] += cells.weights[row]
            if wrong is None and found != self.counts[node]:
                wrong = Fact(f"counts of node {node}{name}", self.counts[node], found, FALSE)
        facts.append(wrong or Fact(f"counts of nodes{name}", len(covers), len(covers), TRUE))
        asked = (
            model.params.get("prune", "smooth") if model.estimator == "SmoothedTreeClassifier" else "smooth"
        )
        wanted = KINDS.get(str(asked), "?")
        facts.append(Fact(f"kind{name}", self.kind, wanted, TRUE if self.kind == wanted else FALSE))
        return facts + self._weights(name, n_classes)

    def _weights(self, name: str, n_classes: int) -> list[Fact]:
        """Check the Dirichlet parameters and leaf weights by depth against the parameters of the model."""
        facts = []
        rows = self.dirichlet
        if (
            not isinstance(rows, list)
            or not rows
            or not all(
                isinstance(row, list) and len(row) == n_classes and all(is_number(a) and a > 0 for a in row)
                for row in rows
            )
        ):
            raise InputError(f"tree.dirichlet is {quote(rows)}; expected positive numbers by depth and class")
        asked = self.model.params.get("dirichlet")
        if asked != "fit":
            wanted = [dirichlet_at(asked, depth, n_classes) for depth in range(len(rows))]
            same = all(
                w is not None and same_dirichlet(row, [float(x) for x in w], n_classes)
                for row, w in zip(rows, wanted, strict=True)
            )
            facts.append(Fact(f"dirichlet{name}", quote(rows[0]), quote(asked), TRUE if same else FALSE))
        else:
            note = "chosen by the evidence of trees that are not in the file"
            facts.append(Fact(f"dirichlet{name}", quote(rows[0]), None, UNCHECKED, note, predicts=True))
        params = self.model.params
        given = params.get("prune_prior")
        prior = read_prior(params if given is None else params | {"prior": given})
        for table, closed in (("log_leaf_open", False), ("log_leaf_closed", True)):
            listed = self.log_leaf[table]
            values = numbers(
                self.log_leaf, table, len(listed) if isinstance(listed, list) else 0, special=True
            )
            if prior is None or not values:
                facts.append(
                    Fact(f"{table}{name}", None, None, UNCHECKED, "the prior is not known", predicts=True)
                )
                continue
            found = [prior.log_leaf(depth, closed) for depth in range(len(values))]
            fine = all(
                math.isclose(x, y, rel_tol=CLOSE, abs_tol=CLOSE) for x, y in zip(values, found, strict=True)
            )
            facts.append(Fact(f"{table}{name}", len(values), len(found), TRUE if fine else FALSE))
        return facts

    def _slot(self, o: int, value: Any) -> int:
        """Return the branch of a value at an option; −1 where there is none."""
        last = len(self.children[o]) - 1
        if value is None:
            return last
        if self.model.columns[self.column[o]].kind == "numeric":
            return int(float(value) > self.cut[o])
        if value is UNKNOWN:
            return -1
        return int(value) if math.isnan(self.cut[o]) else int(value != self.cut[o])

    def _divided(self, o: int, cover: int, rows: list[tuple[Any, ...]]) -> list[int]:
        j = self.column[o]
        found = [bytearray(len(rows)) for _ in self.children[o]]
        for row in bits_of(cover):
            slot = self._slot(o, rows[row][j])
            if slot >= 0:
                found[slot][row] = 1
        return [int("".join(map(str, reversed(each))), 2) if any(each) else 0 for each in found]

    def _misplaced(self, o: int, cover: int, rows: list[tuple[Any, ...]]) -> Fact | None:
        """Return a fact about a cut that is not the mid-point of two values of the node, or None."""
        j, cut = self.column[o], self.cut[o]
        if self.model.columns[j].kind != "numeric" or not math.isfinite(cut):
            return None
        values = {float(rows[row][j]) for row in bits_of(cover) if rows[row][j] is not None}
        low = max((x for x in values if x <= cut), default=-math.inf)
        high = min((x for x in values if x > cut), default=math.inf)
        if cut == low or math.isclose(cut, low / 2 + high / 2, rel_tol=1e-12):
            return None
        # A tree that grew by batches keeps a cut that was the mid-point when it was made.
        ordered = sorted(values)
        for x in ordered:
            k = bisect_left(ordered, 2 * cut - x)
            near = ordered[max(0, k - 1) : k + 1]
            if any(math.isclose(x / 2 + y / 2, cut, rel_tol=1e-12, abs_tol=1e-300) for y in near):
                return None
        note = f"the cut of column {self.model.columns[j].name!r} is no mid-point of two values of its node"
        return Fact(f"cut of option {o}", cut, "a mid-point", FALSE, note)


def _sparse(nodes: dict[str, Any], n: int, n_classes: int, parts: int) -> list[list[Any]]:
    classes, counts = nodes.get("classes"), nodes.get("counts")
    if not isinstance(classes, list) or not isinstance(counts, list) or not len(classes) == len(counts) == n:
        raise InputError("tree.nodes.classes and tree.nodes.counts must have one list for each node")
    found = []
    for k, (which, many) in enumerate(zip(classes, counts, strict=True)):
        some = _whole(which, f"nodes.classes[{k}]", 0, n_classes - 1)
        row: list[Any] = [0] * n_classes
        for c, number in zip(some, _whole(many, f"nodes.counts[{k}]", 1, 2**53, len(some)), strict=True):
            row[c] = in_examples(number, parts)
        found.append(row)
    return found


def _whole(values: Any, path: str, least: int, most: int, length: int | None = None) -> list[int]:
    if not isinstance(values, list) or (length is not None and len(values) != length):
        raise InputError(
            f"tree.{path} is {quote(values)}; expected a list" + ("" if length is None else f" of {length}")
        )
    for k, value in enumerate(values):
        if type(value) is not int or not least <= value <= most:
            raise InputError(
                f"tree.{path}[{k}] is {quote(value)}; expected a whole number from {least} to {most}"
            )
    return values
