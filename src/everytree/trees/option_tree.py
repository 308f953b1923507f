"""OptionTree: a grown tree with all its prunings, or an option tree, and the probabilities of the trees it stands for.

A node may be a leaf, or be split by one of its options; an option is a test on one column with a child for every branch
that has examples. One option per node is an ordinary tree. With the weights of a prior and of the leaves,

    s(n) = Vleaf(n) + Σ_options Vint · Π_children s(child)
    P(leaf | n) = Vleaf(n) / s(n),   P(option | n) = Vint · Π s(child) / s(n)

and a prediction is the mixture over the nodes that a row reaches (Buntine 1992). ``kind`` says how the probabilities
were computed: "smooth" (the sum above), "map" (max instead of the sum), or "none" (no leaf where there is an option).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import generator, number, refused, whole
from everytree.common.limits import Limits
from everytree.data.columns import RawColumn
from everytree.draw.option_dot import options_to_dot
from everytree.draw.option_picture import plot_options
from everytree.draw.option_text import options_to_text
from everytree.errors import QueryError
from everytree.trees.option_form import NO_CHILD, option_tree_to_dict, parts_from_dict

if TYPE_CHECKING:
    from matplotlib.axes import Axes


__all__ = ["OptionTree"]

Floats = npt.NDArray[np.float64]


class _Counts:
    """The class counts of the nodes: ``counts[k]`` is an array with one number per class."""

    def __init__(self, arrays: Mapping[str, Any], n_classes: int, per_example: int) -> None:
        self._arrays, self._n_classes, self._per_example = arrays, n_classes, per_example

    def __getitem__(self, node: int) -> npt.NDArray[Any]:
        out = np.zeros(self._n_classes, dtype=np.int64)
        begin, end = self._arrays["count_begin"][node : node + 2]
        out[self._arrays["count_class"][begin:end]] = self._arrays["count"][begin:end]
        return out if self._per_example == 1 else out / self._per_example


class OptionTree:
    """An option tree with the names of its columns and classes; it cannot be changed, and node 0 is the root.

    It is the ``tree_`` of a fitted `SmoothedTreeClassifier` or `OptionTreeClassifier`. It stands for many trees: at
    each node, a tree ends in a leaf with probability ``p_leaf`` or is split by an option with probability ``p_option``.

    Parameters
    ----------
    graph : _core.OptionGraph
        The nodes and options that the compiled core has grown.
    columns : sequence of RawColumn
        The columns of the data, with their names and values.
    classes : sequence
        The labels of the classes.
    log_leaf : tuple of two sequences of float
        The logarithm of the prior factor of an open and of a closed leaf, by depth.
    dirichlet : sequence of sequences of float
        The Dirichlet parameters by depth and class.
    kind : {"smooth", "map", "none"}, default "smooth"
        How probabilities are computed: over all trees together, by the best tree below each option, or without leaves
        where there is an option.
    control : _core.Control, optional
        Limits of time and memory for the computation; by default there are none.
    per_example : int, default 1
        The counts of the graph that make one example: more than 1 where weights have fractions.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [["sunny"], ["rain"], ["sunny"], ["rain"]] * 3, ["no", "yes", "no", "yes"] * 3
    >>> tree = et.SmoothedTreeClassifier().fit(X, y).tree_
    >>> print(tree)
    no  p = 0.5  (no 6, yes 6)  leaf 0.002
    ├─ x0 = rain: yes  p = 0.929  (no 0, yes 6)
    └─ x0 = sunny: no  p = 0.929  (no 6, yes 0)
    >>> tree.n_leaves, tree.p_leaf.round(3).tolist()
    (2, [0.002, 1.0, 1.0])
    """

    def __init__(
        self,
        graph: _core.OptionGraph,
        columns: Sequence[RawColumn],
        classes: Sequence[Any],
        log_leaf: tuple[Sequence[float], Sequence[float]],
        dirichlet: Sequence[Sequence[float]],
        kind: str = "smooth",
        control: _core.Control | None = None,
        per_example: int = 1,
    ) -> None:
        """Fold a graph of the core; ``log_leaf`` is the prior of open and of closed leaves, by depth."""
        if kind not in ("smooth", "map", "none"):
            raise refused(QueryError, "kind", kind, "'smooth', 'map' or 'none'")
        control = Limits().control() if control is None else control
        self._graph = graph.in_order(control)
        deepest = self._graph.deepest + 1  # entries for deeper nodes are never used
        self._log_leaf = (list(log_leaf[0])[:deepest], list(log_leaf[1])[:deepest])
        self._dirichlet = [list(row) for row in dirichlet][:deepest]
        self.columns, self.classes, self.kind = tuple(columns), tuple(classes), kind
        self.per_example = per_example
        self._fold = self._folded(kind, control)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.columns, self.classes, self._log_leaf, self._dirichlet, self.kind)
        return _remade, (self._arrays, *parts, None, self.per_example)

    # --- facts

    @property
    def n_nodes(self) -> int:
        """The number of nodes; one that several options lead to counts once."""
        return int(self._graph.n_nodes)

    @property
    def n_options(self) -> int:
        """The number of options of all nodes together; in an ordinary tree it is the number of splits."""
        return int(self._graph.n_options)

    @property
    def n_leaves(self) -> int:
        """The number of nodes without options."""
        begin = self._arrays["option_begin"]
        return int(np.count_nonzero(begin[1:] == begin[:-1]))

    @property
    def depth(self) -> int:
        """The number of tests on the longest path from the root to a leaf."""
        return int(self._graph.deepest)

    @property
    def node_depths(self) -> npt.NDArray[Any]:
        """The least number of tests above each node."""
        return self._arrays["depth"]

    @property
    def n_parents(self) -> npt.NDArray[np.intp]:
        """The number of branches that lead to each node: more than one where parts of the tree are shared."""
        children = self._arrays["child"]
        return np.bincount(children[children < self.n_nodes], minlength=self.n_nodes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @property
    def log_evidence(self) -> float:
        """The logarithm of s at the root: of all its trees together ("smooth") or of the best tree ("map")."""
        return float(self._fold.log_evidence)

    @property
    def is_tree(self) -> bool:
        """Whether no node has more than one option."""
        return bool((np.diff(self._arrays["option_begin"]) <= 1).all())

    @cached_property
    def p_leaf(self) -> Floats:
        """The probability P(leaf | node) of every node."""
        return _frozen(self._fold.p_leaf)

    @cached_property
    def p_option(self) -> Floats:
        """The probability P(option | node) of every option; the options of a node stand side by side."""
        return _frozen(self._fold.p_option)

    @cached_property
    def reach(self) -> Floats:
        """The probability of every node that it is in the tree."""
        return _frozen(self._graph.reach(self._fold, Limits().control()))

    @property
    def expected_leaves(self) -> float:
        """The mean number of leaves of the trees it stands for."""
        return float(self.reach @ self.p_leaf)

    @property
    def counts(self) -> Any:
        """The class counts of the nodes: ``counts[k]`` is an array with one number for each class."""
        return _Counts(self._arrays, self.n_classes, self.per_example)

    def class_label(self, c: int) -> Any:
        """Return the label of a class.

        Parameters
        ----------
        c : int
            The index of the class.

        Returns
        -------
        object
            Its label.
        """
        return self.classes[c]

    def theta(self, node: int) -> Floats:
        """Compute the class probabilities of a node alone: (n_c + a_c) / (n + Σa).

        Parameters
        ----------
        node : int
            The number of the node.

        Returns
        -------
        array of float, shape (n_classes,)
            The probability of each class, from the counts and the Dirichlet parameters of the node.
        """
        row = min(int(self._arrays["depth"][node]), len(self._dirichlet) - 1)
        worth = self.counts[node] + np.asarray(self._dirichlet[row])
        probabilities: Floats = worth / worth.sum()
        return probabilities

    def options(self, node: int) -> range:
        """Return the numbers of the options of a node.

        Parameters
        ----------
        node : int
            The number of the node.

        Returns
        -------
        range
            Indices into ``p_option``; empty for a leaf.
        """
        begin, end = self._arrays["option_begin"][node : node + 2].tolist()
        return range(begin, end)

    def column(self, option: int) -> RawColumn:
        """Return the column that an option tests.

        Parameters
        ----------
        option : int
            The number of the option.

        Returns
        -------
        RawColumn
            The column with its name and values.
        """
        return self.columns[int(self._arrays["attribute"][option])]

    def branches(self, option: int) -> list[tuple[str, int]]:
        """List the branches of an option that have examples.

        Parameters
        ----------
        option : int
            The number of the option.

        Returns
        -------
        list of (str, int)
            The condition of each branch in words, such as ``age <= 54.5``, and the node it leads to.
        """
        begin, end = self._arrays["child_begin"][option : option + 2].tolist()
        column, at = self.column(option), float(self._arrays["threshold"][option])
        children = self._arrays["child"][begin:end].tolist()
        return [(column.branch_text(at, k), child) for k, child in enumerate(children) if child != NO_CHILD]

    def step(self, option: int, cells: Sequence[float]) -> tuple[str, int] | None:
        """Find the branch that a row takes at an option.

        Parameters
        ----------
        option : int
            The number of the option.
        cells : sequence of float
            The values of the row as ``ColumnReader.cells`` gives them.

        Returns
        -------
        (str, int) or None
            The condition in words and the node it leads to; None where no training example took that branch.
        """
        column, at = self.column(option), float(self._arrays["threshold"][option])
        slot = column.slot(at, float(cells[int(self._arrays["attribute"][option])]))
        begin, end = self._arrays["child_begin"][option : option + 2].tolist()
        if not 0 <= slot < end - begin or self._arrays["child"][begin + slot] == NO_CHILD:
            return None
        return column.branch_text(at, slot), int(self._arrays["child"][begin + slot])

    @cached_property
    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        arrays: dict[str, npt.NDArray[Any]] = self._graph.arrays()
        for array in arrays.values():
            array.flags.writeable = False
        return arrays

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The graph as read-only arrays by name: those of ``to_dict``, such as attribute, threshold and child."""
        return self._arrays

    @property
    def dirichlet(self) -> list[list[float]]:
        """The Dirichlet parameters of the classes, one list for each depth."""
        return [list(row) for row in self._dirichlet]

    def __eq__(self, other: object) -> bool:
        """Return whether both have equal graphs, weights, columns and classes."""
        if not isinstance(other, OptionTree):
            return NotImplemented
        mine, theirs = self.__reduce__()[1], other.__reduce__()[1]
        return mine[1:] == theirs[1:] and all(
            np.array_equal(array, theirs[0][name], equal_nan=array.dtype.kind == "f")
            for name, array in mine[0].items()
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.n_nodes, self.n_options, self._arrays["count"].tobytes()))

    # --- trees that it stands for

    def draw(self, n: int, random_state: int | np.random.Generator | None = None) -> list[OptionTree]:
        """Draw independent trees, each with its probability.

        Parameters
        ----------
        n : int
            The number of trees.
        random_state : int or numpy.random.Generator, optional
            The seed; the same seed draws the same trees.

        Returns
        -------
        list of OptionTree
            Ordinary trees, whose ``kind`` is "none".
        """
        seed = int(generator(random_state).integers(2**63))
        graphs = self._graph.draw(self._fold, seed, whole("n", n, 0), Limits().control())
        return [self._like(graph, "none") for graph in graphs]

    def most_probable(self) -> OptionTree:
        """Find the most probable of the trees that it stands for; ties go to the smaller tree.

        Returns
        -------
        OptionTree
            An ordinary tree, whose ``kind`` is "none".
        """
        control = Limits().control()
        best = self._folded("map", control)
        return self._like(self._graph.likeliest(best, control), "none")

    def without_light_options(self, least: float) -> OptionTree:
        """Return a copy without improbable options; the probabilities of what remains are computed again.

        Parameters
        ----------
        least : float
            The least P(option | node) of an option that stays, such as 0.01.

        Returns
        -------
        OptionTree
            The smaller option tree.
        """
        least = number("least", least, 0, math.inf, example=0.01, closed=True)
        return self._like(self._graph.without_light_options(self._fold, least, Limits().control()), self.kind)

    def pruned(self, leaf: npt.NDArray[np.bool_], heavy: bool = False) -> OptionTree:
        """Return a copy in which chosen nodes are leaves.

        Parameters
        ----------
        leaf : array of bool, shape (n_nodes,)
            True for every node that loses its options.
        heavy : bool, default False
            Whether such a leaf takes the weight of all that was below it, so that the probabilities of the nodes that
            stay do not change (but that of the root, if that is a leaf now). The kind must be "smooth".

        Returns
        -------
        OptionTree
            The smaller option tree, of the same kind; its nodes have new numbers.
        """
        arrays = self._arrays
        owner = np.repeat(np.arange(self.n_nodes), np.diff(arrays["option_begin"]))
        kept = np.flatnonzero(~leaf[owner])
        width = np.diff(arrays["child_begin"])
        changed = {
            "option_begin": np.concatenate(
                [[0], np.cumsum(np.bincount(owner[kept], minlength=self.n_nodes))]
            ),
            "child_begin": np.concatenate([[0], np.cumsum(width[kept])]),
            "child": arrays["child"][np.repeat(~leaf[owner], width)],
        } | {name: arrays[name][kept] for name in ("attribute", "threshold", "log_split")}
        if heavy:
            # s(n) / Vleaf(n) = 1 / P(leaf | n) is a factor of the option that leads to n, instead of n's own.
            inner = leaf & (np.diff(arrays["option_begin"]) > 0)
            child = changed["child"]
            gained = np.zeros(child.size)
            known = child != NO_CHILD
            gained[known] = np.where(inner, -np.log(self.p_leaf), 0.0)[child[known]]
            option = np.repeat(np.arange(kept.size), width[kept])
            changed["log_split"] = changed["log_split"] + np.bincount(option, gained, minlength=kept.size)
        return self._like(_core.OptionGraph(self.n_classes, **(arrays | changed)), self.kind)

    def _folded(self, kind: str, control: _core.Control) -> _core.OptionFold:
        # Splits weigh what their options say; only leaves look at the prior.
        prior = _core.Prior([0.0], *self._log_leaf, False)
        return self._graph.fold(prior, self._parameters(), kind, control)

    def _parameters(self) -> _core.Dirichlet:
        return _core.Dirichlet(self._dirichlet, per_example=self.per_example)

    def _like(self, graph: _core.OptionGraph, kind: str) -> OptionTree:
        parts = (self.columns, self.classes, self._log_leaf, self._dirichlet, kind)
        return OptionTree(graph, *parts, per_example=self.per_example)

    def predict_columns(self, data: _core.Columns, control: _core.Control) -> Floats:
        """Predict the classes of rows that were read as in training.

        Parameters
        ----------
        data : Columns
            The rows as the core holds them, see ``ColumnReader.read``.
        control : Control
            The limits of the core, see ``Limits.control``.

        Returns
        -------
        numpy.ndarray
            One row of class probabilities for each row.
        """
        proba: Floats = self._graph.predict(self._fold, self._parameters(), data, control)
        return proba

    # --- texts, pictures and files

    def to_text(self, max_depth: int | None = None, precision: int = 3) -> str:
        """Write the option tree as indented text: options with their probabilities, nodes with P(leaf).

        Parameters
        ----------
        max_depth : int, optional
            The depth below which the text says "etc."; by default all is shown.
        precision : int, default 3
            The number of digits of probabilities.

        Returns
        -------
        str
            The text.
        """
        return options_to_text(self, max_depth, precision)

    def to_dot(self, max_depth: int | None = None, precision: int = 3, filled: bool = True) -> str:
        """Write the graph in the DOT language of Graphviz, the options of a node as a cluster.

        Parameters
        ----------
        max_depth : int, optional
            The depth below which the graph says "etc."; by default all is drawn.
        precision : int, default 3
            The number of digits of probabilities.
        filled : bool, default True
            Whether each box has the colour of its most probable class.

        Returns
        -------
        str
            A DOT digraph, for ``dot -Tsvg``.
        """
        return options_to_dot(self, max_depth, precision, filled)

    def plot(self, max_depth: int | None = None, precision: int = 2, ax: Axes | None = None) -> Axes:
        """Draw the option tree with matplotlib, the options of a node as a cluster.

        Parameters
        ----------
        max_depth : int, optional
            The depth down to which nodes are drawn; by default about forty boxes are.
        precision : int, default 2
            The number of digits of probabilities.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default the current ones.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the picture.
        """
        return plot_options(self, max_depth, precision, ax)

    def to_dict(self) -> dict[str, Any]:
        """Write the option tree as plain lists, texts and numbers that JSON can hold, without columns and classes.

        Returns
        -------
        dict
            What `from_dict` reads back exactly.
        """
        parts = {} if self.per_example == 1 else {"per_example": self.per_example}
        return option_tree_to_dict(self._arrays, self.kind, self._log_leaf, self._dirichlet) | parts

    @classmethod
    def from_dict(cls, data: Any, columns: Sequence[RawColumn], classes: Sequence[Any]) -> OptionTree:
        """Read an option tree that `to_dict` wrote.

        Parameters
        ----------
        data : dict
            What `to_dict` returned.
        columns : sequence of RawColumn
            The columns that the options test.
        classes : sequence
            The labels of the classes.

        Returns
        -------
        OptionTree
            The same option tree.

        Raises
        ------
        DataError
            If the dict is not an option tree over these columns; the message names the field.
        """
        return cls(*parts_from_dict(data, columns, classes))

    def __repr__(self) -> str:
        return (
            f"OptionTree({self.n_nodes} nodes, {self.n_options} options, depth {self.depth}, {self.kind!r})"
        )

    def __str__(self) -> str:
        return self.to_text()


def _remade(arrays: dict[str, Any], *parts: Any) -> OptionTree:
    """Make an option tree from its arrays, as ``copy`` and other processes need it."""
    return OptionTree(_core.OptionGraph(len(parts[1]), **arrays), *parts)


def _frozen(array: Any) -> Floats:
    out: Floats = np.asarray(array)
    out.flags.writeable = False
    return out
