"""Trees with averaging along the path (Cano, Masegosa & Moral): the numbers at the nodes, and the tree as text.

    θ_c(t) = (n_c(t) + a_c(t)) / (n(t) + S)           class probabilities of node t alone
    h(root) = 1,  h(child) = h(parent) · B(parent)    weights along a path
    P(c | path t_1 … t_m) = Σ_i h(t_i) θ_c(t_i) / Σ_i h(t_i)

A mean over a path depends on nothing but where the path ends, so it is taken once for each node and not once for each
row. With r = Σ_i h(t_i) / h(t_m), which is r(child) = r(parent)/B(parent) + 1, it is

    P(child) = P(parent) · (1 − 1/r) + θ(child) / r

and r stays between 1 and the length of the path where every B is at least 1, as it is where a split was the better
model: nothing can overflow, however large the product of the B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from everytree.common.text import as_number
from everytree.data.categories import Categories
from everytree.draw.labels import checked_options
from everytree.errors import DataError
from everytree.trees.flat import FlatTree, Nodes, checked_shape, read_fields, read_numbers, read_rows

__all__ = ["PathTree", "laplace", "path_means", "prior_parameters"]

Floats = npt.NDArray[np.float64]
SLACK = 1e-9  # probabilities sum to one up to this
ROUNDING = 1e-12  # sums of parts of examples, as a share of all examples


def _in_parts(counts: Any) -> bool:
    """Return whether a file holds counts with fractions, as weights with fractions give them."""
    rows = [row for row in counts if isinstance(row, list)] if isinstance(counts, list) else []
    return any(isinstance(n, float) for row in rows for n in row)


def prior_parameters(counts: npt.NDArray[Any], parent: Nodes, s: float, nonuniform: bool) -> Floats:
    """Compute the Dirichlet parameters behind the probabilities of every node; ``parent`` is −1 for the root.

    Each parameter is S/C. With ``nonuniform``, where the parent lacks z > 1 of the C classes, it is S/(C−z+1) for those
    it has and S/((C−z+1)·z) for the others.

    >>> counts = np.array([[5, 0, 2, 0], [5, 0, 0, 0], [0, 0, 2, 0]])
    >>> (6 * prior_parameters(counts, np.array([-1, 0, 0]), 1, nonuniform=True)).round(12).tolist()
    [[1.5, 1.5, 1.5, 1.5], [2.0, 1.0, 2.0, 1.0], [2.0, 1.0, 2.0, 1.0]]
    """
    n_classes = counts.shape[1]
    a = np.full(counts.shape, s / n_classes)
    if nonuniform:
        lacks = counts[parent] == 0
        z = np.count_nonzero(lacks, axis=1)
        rows = (parent >= 0) & (z > 1)
        share = s / (n_classes - z + 1)[:, None]
        a[rows] = np.where(lacks, share / np.maximum(z, 1)[:, None], share)[rows]
    return a


def laplace(counts: npt.NDArray[Any], parent: Nodes) -> Floats:
    """Compute (n_c + 1) / (n + C) at every node; an empty one has the answer of the nearest node above that is not.

    A parent stands before its children.

    >>> laplace(np.array([[2, 1], [2, 0], [0, 1], [0, 0]]), np.array([-1, 0, 0, 0])).round(3).tolist()
    [[0.6, 0.4], [0.75, 0.25], [0.333, 0.667], [0.6, 0.4]]
    """
    own: Floats = (counts + 1) / (counts.sum(axis=1) + counts.shape[1])[:, None]
    for node in np.flatnonzero((counts.sum(axis=1) == 0) & (parent >= 0)).tolist():
        own[node] = own[parent[node]]
    return own


def path_means(theta: Floats, log_b: Floats, levels: Sequence[tuple[Nodes, Nodes]]) -> Floats:
    """Average theta along the path to each node with weights h; ``levels`` are (parents, children), from the top.

    With B = 1 it is the plain mean:

    >>> theta = np.array([[0.5, 0.5], [0.75, 0.25], [1.0, 0.0]])
    >>> levels = [(np.array([0]), np.array([1])), (np.array([1]), np.array([2]))]
    >>> path_means(theta, np.zeros(3), levels).tolist()
    [[0.5, 0.5], [0.625, 0.375], [0.75, 0.25]]
    """
    mean = theta.copy()
    r = np.ones(theta.shape[0])
    for parents, children in levels:
        above = r[parents] * np.exp(-log_b[parents])
        r[children] = above + 1
        own = 1 / r[children][:, None]
        mean[children] = mean[parents] * (above[:, None] * own) + theta[children] * own
    return mean


@dataclass(frozen=True, eq=False)
class PathTree(FlatTree):
    """A multiway tree with class counts and Bayes factors, which predicts by the mean along a path.

    It cannot be changed, and it is the ``tree_`` of a fitted `PathAverageTreeClassifier`. Node 0 is the root. The
    children of an inner node are ``first_child[node] + code``, one for each category of its attribute, also where no
    example goes.

    Parameters
    ----------
    attribute : array of int, shape (n_nodes,)
        The column that each node tests, −1 at a leaf.
    first_child : array of int, shape (n_nodes,)
        The first child of each node; the others follow it. 0 at a leaf.
    n_children : array of int, shape (n_nodes,)
        The number of children of each node.
    counts : array of int or float, shape (n_nodes, n_classes)
        The training examples of each class at each node.
    log_leaf : array of float, shape (n_nodes,)
        The logarithm of the weight of each node as a leaf.
    log_b : array of float, shape (n_nodes,)
        The logarithm of the Bayes factor of each node's split against a leaf; 0 at a leaf.
    probabilities : array of float, shape (n_nodes, n_classes)
        The class probabilities predicted for a row that ends at each node.
    categories : tuple of Categories
        The categories of each column.
    classes : tuple
        The labels of the classes.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [["sunny"], ["rain"], ["sunny"], ["rain"]] * 3, ["no", "yes", "no", "yes"] * 3
    >>> print(et.PathAverageTreeClassifier().fit(X, y).tree_)
    no  p = 0.5  (no 6, yes 6)  split by x0, B = 924
    ├─ x0 == rain: yes  p = 0.928  (yes 6)
    └─ x0 == sunny: no  p = 0.928  (no 6)
    """

    attribute: npt.NDArray[np.int32]
    first_child: npt.NDArray[np.uint32]
    n_children: npt.NDArray[np.uint32]
    counts: npt.NDArray[Any]
    log_leaf: Floats
    log_b: Floats
    probabilities: Floats
    categories: tuple[Categories, ...]
    classes: tuple[Any, ...]

    FORMAT: ClassVar[str] = "everytree.path_tree"

    def to_dict(self) -> dict[str, Any]:
        """Write the tree as plain lists and numbers; a model file holds its categories and classes elsewhere.

        Returns
        -------
        dict
            The arrays of the tree, which `from_dict` reads back exactly.
        """
        more = {name: getattr(self, name).tolist() for name in ("log_leaf", "log_b", "probabilities")}
        return self._shape_to_dict() | more

    @classmethod
    def from_dict(cls, data: Any, categories: Sequence[Categories], classes: Sequence[Any]) -> PathTree:
        """Read a tree that `to_dict` wrote.

        Parameters
        ----------
        data : dict
            What `to_dict` returned.
        categories : sequence of Categories
            The categories of each column.
        classes : sequence
            The labels of the classes.

        Returns
        -------
        PathTree
            The same tree.

        Raises
        ------
        DataError
            If the dict is not a tree over these categories; the message names the field.
        """
        data = read_fields(data, cls, ("log_leaf", "log_b", "probabilities"))
        shape = checked_shape(data, len(categories))
        n, n_classes = shape[0].size, len(classes)
        for node in np.flatnonzero(shape[0] >= 0).tolist():
            of = categories[int(shape[0][node])]
            if int(shape[2][node]) != of.n_values:
                raise DataError(
                    f"n_children[{node}] is {shape[2][node]}; expected {of.n_values}, as {of.name!r} has"
                )
        tree = cls(
            *shape,
            read_rows(data, "counts", n, n_classes, whole=not _in_parts(data["counts"])),
            read_numbers(data, "log_leaf", n),
            read_numbers(data, "log_b", n),
            read_rows(data, "probabilities", n, n_classes, 1 + SLACK),
            tuple(categories),
            tuple(classes),
        )
        for node in np.flatnonzero(np.abs(tree.probabilities.sum(axis=1) - 1) > SLACK)[:1]:
            raise DataError(f"probabilities[{node}] sum to {tree.probabilities[node].sum()}; expected 1")
        room = 0 if tree.counts.dtype.kind == "i" else ROUNDING * tree.counts[0].sum()
        below = np.zeros_like(tree.counts)
        parent = tree.parents()
        np.add.at(below, parent[1:], tree.counts[1:])
        for node in np.flatnonzero((tree.attribute >= 0) & (np.abs(below - tree.counts) > room).any(axis=1))[
            :1
        ]:
            raise DataError(f"counts[{node}] is not the sum of the counts of its children")
        return tree

    def apply(self, codes: npt.NDArray[np.int32]) -> Nodes:
        """Find the node where each row ends: a leaf, or the node whose attribute has a value unseen in training.

        Parameters
        ----------
        codes : array of int, shape (n_rows, n_columns)
            The code of each row's category in each column, negative for a value not seen in training.

        Returns
        -------
        array of int, shape (n_rows,)
            The node of each row.
        """
        at = np.zeros(codes.shape[0], dtype=np.intp)
        going = np.flatnonzero(self.attribute[at] >= 0)
        while going.size:
            here = at[going]
            code = codes[going, self.attribute[here]]
            known = code >= 0
            going, here = going[known], here[known]
            at[going] = self.first_child[here].astype(np.intp) + code[known]
            going = going[self.attribute[at[going]] >= 0]
        return at

    def to_text(self, *, max_depth: int | None = None, precision: int = 3) -> str:
        """Write the tree as indented text: each node with its category, predicted class, probability and counts.

        At an inner node, B is the Bayes factor of its split. A branch without examples predicts by the path above it.

        Parameters
        ----------
        max_depth : int, optional
            The depth below which nothing is shown; by default all is.
        precision : int, default 3
            The number of digits of probabilities and Bayes factors.

        Returns
        -------
        str
            The text, one line for each node.
        """
        max_depth, precision = checked_options(max_depth, precision)
        lines = [self._line(0, "", precision)]
        open_: list[tuple[int, int, str, int]] = []  # inner node, next code, indent, depth
        if self.attribute[0] >= 0 and max_depth != 0:
            open_.append((0, 0, "", 0))
        while open_:
            node, code, indent, depth = open_.pop()
            last = code == int(self.n_children[node]) - 1
            if not last:
                open_.append((node, code + 1, indent, depth))
            child = int(self.first_child[node]) + code
            text = self.categories[int(self.attribute[node])].text(code)
            lines.append(f"{indent}{'└─' if last else '├─'} {self._line(child, text + ': ', precision)}")
            if self.attribute[child] >= 0 and (max_depth is None or depth + 1 < max_depth):
                open_.append((child, 0, indent + ("   " if last else "│  "), depth + 1))
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()

    def _line(self, node: int, before: str, precision: int) -> str:
        likely = int(np.argmax(self.probabilities[node]))
        seen = [f"{self.classes[c]} {as_number(n)}" for c, n in enumerate(self.counts[node].tolist()) if n]
        counts = ", ".join(seen) if seen else "no examples"
        says = f"{self.classes[likely]}  p = {self.probabilities[node, likely]:.{precision}g}  ({counts})"
        j = int(self.attribute[node])
        if j < 0:
            return before + says
        return f"{before}{says}  split by {self.categories[j].name}, B = {_factor(float(self.log_b[node]), precision)}"


def _factor(log_b: float, precision: int) -> str:
    """Write exp(log_b), also where that is no floating-point number."""
    power = log_b / np.log(10.0)
    if power < 6:
        return f"{np.exp(log_b):.{precision}g}"
    return f"10^{power:.{max(precision, 1)}g}"
