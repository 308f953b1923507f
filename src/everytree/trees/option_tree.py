"""OptionTree: a grown tree with all its prunings, or an option tree, and the shares of what it stands for.

A node may be a leaf, or be split by one of its options; an option is a test on one column with a child for every branch
that has examples. One option per node is an ordinary tree. With the weights of a prior and of the leaves,

    s(n) = Vleaf(n) + Σ_options Vint · Π_children s(child)
    P(leaf | n) = Vleaf(n) / s(n),   P(option | n) = Vint · Π s(child) / s(n)

and a prediction is the mixture over the nodes that a row reaches (Buntine 1992). ``kind`` says which fold gave the
shares: "smooth" (the sum above), "map" (max instead of the sum), or "none" (no leaf where there is an option).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import generator, number, refused, whole
from everytree.common.fields import checked_fields
from everytree.common.limits import Limits
from everytree.common.text import clip
from everytree.data.columns import RawColumn
from everytree.draw.option_dot import options_to_dot
from everytree.draw.option_picture import plot_options
from everytree.draw.option_text import options_to_text
from everytree.errors import DataError, QueryError
from everytree.trees.option_form import NO_CHILD, option_tree_to_dict, parts_from_dict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    import everytree._core as _core

__all__ = ["OptionTree", "TreeMean"]

Floats = npt.NDArray[np.float64]


class _Counts:
    """The class counts of the nodes: ``counts[k]`` is an array with one number per class."""

    def __init__(self, arrays: Mapping[str, Any], n_classes: int) -> None:
        self._arrays, self._n_classes = arrays, n_classes

    def __getitem__(self, node: int) -> npt.NDArray[np.int64]:
        out = np.zeros(self._n_classes, dtype=np.int64)
        begin, end = self._arrays["count_begin"][node : node + 2]
        out[self._arrays["count_class"][begin:end]] = self._arrays["count"][begin:end]
        return out


class OptionTree:
    """An immutable option tree with the names of its columns and classes; node 0 is the root.

    Attributes
    ----------
    n_nodes, n_options, n_leaves, depth : its size; a leaf is a node without options
    log_evidence : log s of the root: of all its trees together ("smooth") or of the best ("map")
    columns, classes : the columns (``RawColumn``) and the labels
    p_leaf, p_option : P(leaf | node) of every node and P(option | node) of every option, as arrays
    kind : the fold: "smooth", "map" or "none"
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
    ) -> None:
        """Fold a graph of the core; ``log_leaf`` is the prior of open and of closed leaves, by depth."""
        if kind not in ("smooth", "map", "none"):
            raise refused(QueryError, "kind", kind, "'smooth', 'map' or 'none'")
        control = Limits().control() if control is None else control
        self._graph = graph.in_order(control)
        deepest = self._graph.deepest + 1  # what lies deeper plays no part
        self._log_leaf = (list(log_leaf[0])[:deepest], list(log_leaf[1])[:deepest])
        self._dirichlet = [list(row) for row in dirichlet][:deepest]
        self.columns, self.classes, self.kind = tuple(columns), tuple(classes), kind
        self._fold = self._folded(kind, control)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.columns, self.classes, self._log_leaf, self._dirichlet, self.kind)
        return _remade, (self._arrays, *parts)

    # --- what it is

    @property
    def n_nodes(self) -> int:
        """Number of states; one that several options lead to counts once."""
        return int(self._graph.n_nodes)

    @property
    def n_options(self) -> int:
        """Number of options of all nodes together; in an ordinary tree the number of splits."""
        return int(self._graph.n_options)

    @property
    def n_leaves(self) -> int:
        """Number of nodes without options."""
        begin = self._arrays["option_begin"]
        return int(np.count_nonzero(begin[1:] == begin[:-1]))

    @property
    def depth(self) -> int:
        """Number of tests on the longest path."""
        return int(self._graph.deepest)

    @property
    def node_depths(self) -> npt.NDArray[Any]:
        """The least number of tests above each node."""
        return self._arrays["depth"]

    @property
    def n_parents(self) -> npt.NDArray[np.intp]:
        """How many branches lead to each node: more than one where parts of the tree are shared."""
        children = self._arrays["child"]
        return np.bincount(children[children < self.n_nodes], minlength=self.n_nodes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def log_evidence(self) -> float:
        """log s of the root."""
        return float(self._fold.log_evidence)

    @property
    def is_tree(self) -> bool:
        """Whether no node has more than one option."""
        return bool((np.diff(self._arrays["option_begin"]) <= 1).all())

    @cached_property
    def p_leaf(self) -> Floats:
        """P(leaf | node) of every node."""
        return _frozen(self._fold.p_leaf)

    @cached_property
    def p_option(self) -> Floats:
        """P(option | node) of every option; the options of a node stand side by side."""
        return _frozen(self._fold.p_option)

    @cached_property
    def reach(self) -> Floats:
        """P(node is in the tree) of every node."""
        return _frozen(self._graph.reach(self._fold, Limits().control()))

    @property
    def expected_leaves(self) -> float:
        """The mean number of leaves of the trees it stands for."""
        return float(self.reach @ self.p_leaf)

    @property
    def counts(self) -> Any:
        """Class counts: ``counts[k]`` is an array for node k."""
        return _Counts(self._arrays, self.n_classes)

    def class_label(self, c: int) -> Any:
        """The label of class number c."""
        return self.classes[c]

    def theta(self, node: int) -> Floats:
        """The class probabilities of a node alone: (n_c + a_c) / (n + Σa)."""
        row = min(int(self._arrays["depth"][node]), len(self._dirichlet) - 1)
        worth = self.counts[node] + np.asarray(self._dirichlet[row])
        probabilities: Floats = worth / worth.sum()
        return probabilities

    def options(self, node: int) -> range:
        """The numbers of the options of a node."""
        begin, end = self._arrays["option_begin"][node : node + 2].tolist()
        return range(begin, end)

    def column(self, option: int) -> RawColumn:
        """The column that an option tests."""
        return self.columns[int(self._arrays["attribute"][option])]

    def branches(self, option: int) -> list[tuple[str, int]]:
        """(condition, child) for every branch of an option that has examples."""
        begin, end = self._arrays["child_begin"][option : option + 2].tolist()
        column, at = self.column(option), float(self._arrays["threshold"][option])
        children = self._arrays["child"][begin:end].tolist()
        return [(column.branch_text(at, k), child) for k, child in enumerate(children) if child != NO_CHILD]

    def step(self, option: int, cells: Sequence[float]) -> tuple[str, int] | None:
        """(condition, child) that a row takes at an option; None where no training example took that branch.

        ``cells`` are the row's values as ``ColumnReader.cells`` gives them.
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

    def __eq__(self, other: object) -> bool:
        """The same option tree: equal graphs, weights, columns and classes."""
        if not isinstance(other, OptionTree):
            return NotImplemented
        mine, theirs = self.__reduce__()[1], other.__reduce__()[1]
        return mine[1:] == theirs[1:] and all(
            np.array_equal(array, theirs[0][name], equal_nan=array.dtype.kind == "f")
            for name, array in mine[0].items()
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.n_nodes, self.n_options, self._arrays["count"].tobytes()))

    # --- trees out of it

    def draw(self, n: int, random_state: int | np.random.Generator | None = None) -> list[OptionTree]:
        """``n`` independent trees, each with the probability that the shares give it; ``kind`` is then "none"."""
        seed = int(generator(random_state).integers(2**63))
        graphs = self._graph.draw(self._fold, seed, whole("n", n, 0), Limits().control())
        return [self._like(graph, "none") for graph in graphs]

    def most_probable(self) -> OptionTree:
        """The one tree with the most probability among those that it stands for; ties go to the smaller tree."""
        control = Limits().control()
        best = self._folded("map", control)
        return self._like(self._graph.likeliest(best, control), "none")

    def without_light_options(self, least: float) -> OptionTree:
        """Without the options with P(option | node) < ``least``; the shares of what remains are folded again."""
        least = number("least", least, 0, math.inf, example=0.01, closed=True)
        return self._like(self._graph.without_light_options(self._fold, least, Limits().control()), self.kind)

    def _folded(self, kind: str, control: _core.Control) -> _core.OptionFold:
        import everytree._core as _core

        # Splits weigh what their options say; only leaves look at the prior.
        prior = _core.Prior([0.0], *self._log_leaf, False)
        return self._graph.fold(prior, _core.Dirichlet(self._dirichlet), kind, control)

    def _like(self, graph: _core.OptionGraph, kind: str) -> OptionTree:
        return OptionTree(graph, self.columns, self.classes, self._log_leaf, self._dirichlet, kind)

    def _predict(self, data: _core.Columns, control: _core.Control) -> Floats:
        """Class probabilities of rows that are read as in training."""
        import everytree._core as _core

        proba: Floats = self._graph.predict(self._fold, _core.Dirichlet(self._dirichlet), data, control)
        return proba

    # --- for people, and for files

    def to_text(self, max_depth: int | None = None, precision: int = 3) -> str:
        """Indented text: options with their probabilities, nodes with P(leaf); see ``everytree.plot``."""
        return options_to_text(self, max_depth, precision)

    def to_dot(self, max_depth: int | None = None, precision: int = 3, filled: bool = True) -> str:
        """The graph in the language of Graphviz, the options of a node as a cluster."""
        return options_to_dot(self, max_depth, precision, filled)

    def plot(self, max_depth: int | None = None, precision: int = 2, ax: Axes | None = None) -> Axes:
        """Draw it with matplotlib, the options of a node as a cluster; without ``max_depth`` as deep as is readable."""
        return plot_options(self, max_depth, precision, ax)

    def to_dict(self) -> dict[str, Any]:
        """The option tree as plain lists, texts and numbers that JSON can hold; columns and classes are not in it."""
        return option_tree_to_dict(self._arrays, self.kind, self._log_leaf, self._dirichlet)

    @classmethod
    def from_dict(cls, data: Any, columns: Sequence[RawColumn], classes: Sequence[Any]) -> OptionTree:
        """The option tree that ``to_dict`` wrote, on these columns; every field is checked."""
        return cls(*parts_from_dict(data, columns, classes))

    def __repr__(self) -> str:
        return (
            f"OptionTree({self.n_nodes} nodes, {self.n_options} options, depth {self.depth}, {self.kind!r})"
        )

    def __str__(self) -> str:
        return self.to_text()


class TreeMean:
    """Several trees, each with its shares, averaged with equal weights."""

    def __init__(self, trees: Sequence[OptionTree]) -> None:
        self.trees = tuple(trees)

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees together."""
        return sum(tree.n_nodes for tree in self.trees)

    @property
    def n_options(self) -> int:
        """Options of all trees together."""
        return sum(tree.n_options for tree in self.trees)

    @property
    def n_leaves(self) -> int:
        """Leaves of all trees together."""
        return sum(tree.n_leaves for tree in self.trees)

    @property
    def depth(self) -> int:
        """The longest path of any of them."""
        return max(tree.depth for tree in self.trees)

    @property
    def log_evidence(self) -> float:
        """The mean of their log evidences."""
        return float(np.mean([tree.log_evidence for tree in self.trees]))

    def _predict(self, data: _core.Columns, control: _core.Control) -> Floats:
        total = sum(
            (tree._predict(data, control) for tree in self.trees[1:]), self.trees[0]._predict(data, control)
        )
        mean: Floats = total / len(self.trees)
        return mean

    def to_text(self, max_depth: int | None = None, precision: int = 3) -> str:
        """The trees, one after the other."""
        return "\n\n".join(tree.to_text(max_depth, precision) for tree in self.trees)

    def to_dict(self) -> dict[str, Any]:
        """The trees as plain lists, texts and numbers."""
        return {
            "format": "everytree.tree_mean",
            "version": 1,
            "trees": [tree.to_dict() for tree in self.trees],
        }

    @classmethod
    def from_dict(
        cls, data: Any, columns: Sequence[RawColumn], classes: Sequence[Any]
    ) -> TreeMean | OptionTree:
        """What ``to_dict`` wrote, of several trees or of one."""
        if not isinstance(data, dict) or data.get("format") != "everytree.tree_mean":
            return OptionTree.from_dict(data, columns, classes)
        data = checked_fields(data, "everytree.tree_mean", 1, ("format", "version", "trees"), "mean of trees")
        if not isinstance(data["trees"], list) or not data["trees"]:
            raise DataError(f"trees is {clip(data['trees'])}; expected a list of one or more trees")
        return cls([OptionTree.from_dict(tree, columns, classes) for tree in data["trees"]])

    def __eq__(self, other: object) -> bool:
        """The same trees in the same order."""
        return self.trees == other.trees if isinstance(other, TreeMean) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.trees)

    def __repr__(self) -> str:
        return f"TreeMean({len(self.trees)} trees, {self.n_nodes} nodes)"

    def __str__(self) -> str:
        return self.to_text()


def _remade(arrays: dict[str, Any], *parts: Any) -> OptionTree:
    """An option tree from its arrays: what ``copy`` and other processes need."""
    import everytree._core as _core

    return OptionTree(_core.OptionGraph(len(parts[1]), **arrays), *parts)


def _frozen(array: Any) -> Floats:
    out: Floats = np.asarray(array)
    out.flags.writeable = False
    return out
