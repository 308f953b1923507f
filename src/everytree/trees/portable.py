"""Trees in the form in which they leave: binary nodes over the columns of the data.

A node with several branches becomes a chain of nodes, one for each value. Where a row has no branch, because a value is
missing or was not seen in training, the chain ends with a leaf that says what the node itself says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.asked import ColumnQuestions, NamedQuestions, Questions, equals, questions
from everytree.data.binarizer import Binarizer
from everytree.data.categories import Categories
from everytree.data.columns import RawColumn
from everytree.errors import QueryError
from everytree.export.form import Condition, Field, Form, Node, TreeForm, kind_of_values
from everytree.export.methods import Exports, Portable
from everytree.trees.arrays import TreeArrays
from everytree.trees.multiway import MultiwayTree
from everytree.trees.path_tree import PathTree

__all__ = ["TreeExports", "form_of_multiway", "form_of_path", "form_of_tree"]

Floats = npt.NDArray[np.float64]
Decide = Callable[[Floats], npt.NDArray[np.intp]]


class TreeExports(Exports):
    """What a ``Tree`` offers to other languages: its methods ``to_…`` read a 0/1 column for each test.

    ``over`` gives the same methods over the columns of the data.
    """

    __slots__ = ()

    def portable(self) -> Form:
        assert isinstance(self, TreeArrays)
        if self.asks is None:
            return form_of_tree(self, questions(self.n_tests, self.test_names, None))
        # Where nodes choose their cuts, each different question is a test.
        asked = sorted({ask for ask in self.asks if ask})
        place = {ask: k for k, ask in enumerate(asked)}
        tests = [place.get(ask, -1) for ask in self.asks]
        return form_of_tree(self, NamedQuestions(asked), tests)

    def over(self, binarizer: Binarizer) -> Portable:
        """Return the tree over the columns of the data, with the methods ``to_sql``, ``to_python`` and so on.

        Parameters
        ----------
        binarizer : Binarizer
            The fitted Binarizer that made the tests of the tree.

        Returns
        -------
        Portable
            The tree in the form that is written.

        Examples
        --------
        >>> import everytree as et
        >>> X, y = [[20], [30], [60], [70]], ["young", "young", "old", "old"]
        >>> binarizer = et.Binarizer(bins=2).fit(X)
        >>> space = et.TreeSpace(binarizer.transform(X), y, max_depth=1, min_leaf=1)
        >>> print(space.best().over(binarizer).to_sql("old"))
        CASE WHEN "x0" <= 45.0e0 THEN 0.0e0 ELSE 1.0e0 END
        """
        assert isinstance(self, TreeArrays)
        return Portable(form_of_tree(self, questions(self.n_tests, self.test_names, binarizer)))


def form_of_tree(
    tree: TreeArrays,
    asked: Questions,
    tests: Sequence[int] | None = None,
    classes: Sequence[Any] | None = None,
) -> TreeForm:
    """Return a tree over tests as one over the columns that the tests read."""
    tests = tree.test.tolist() if tests is None else tests
    uppers = [0] * len(tests) if tree.upper is None else tree.upper.tolist()
    if tree.upper is not None and isinstance(asked, ColumnQuestions) and asked.binarizer.columns_ is None:
        raise QueryError("the nodes of the tree choose their own cuts; give the Binarizer with cuts='local'")
    nodes = []
    for k, (no, yes) in enumerate(tree.children.tolist()):
        condition = None if yes < 0 else asked.condition(tests[k], uppers[k])
        proba, counts = tuple(tree.proba[k].tolist()), tuple(map(float, tree.counts[k].tolist()))
        nodes.append(Node(condition, yes, no, proba, int(tree.says[k]), counts))
    if classes is None:
        classes = range(tree.counts.shape[1]) if tree.classes is None else tree.classes
    return TreeForm(asked.fields, tuple(classes), tuple(nodes))


class _Grown:
    """Nodes that are added one by one, from the root; a place is taken first, and filled later."""

    def __init__(self, proba: Floats, says: npt.NDArray[np.intp], counts: npt.NDArray[Any]) -> None:
        self.nodes: list[Node] = []
        self._proba, self._says, self._counts = proba, says, counts

    def take(self) -> int:
        self.nodes.append(Node(None, -1, -1, (), 0, ()))
        return len(self.nodes) - 1

    def fill(
        self, place: int, of: int, condition: Condition | None = None, yes: int = -1, no: int = -1
    ) -> None:
        proba, counts = tuple(self._proba[of].tolist()), tuple(map(float, self._counts[of].tolist()))
        self.nodes[place] = Node(condition, yes, no, proba, int(self._says[of]), counts)


def _grown(
    n_nodes: int,
    chain_of: Callable[[int], tuple[list[tuple[Condition, int]], int]],
    made: _Grown,
) -> tuple[Node, ...]:
    """Grow the form: ``chain_of`` a node is its conditions, each with a child, and the child where all fail.

    A child of −1 is a leaf that says what the node says. A node that is a leaf has no conditions, and −1.
    """
    waiting = [(0, made.take())]
    while waiting:
        of, place = waiting.pop()
        chain, last = chain_of(of)
        for condition, child in chain:
            yes, no = made.take(), made.take()
            made.fill(place, of, condition, yes, no)
            if child < 0:
                made.fill(yes, of)
            else:
                waiting.append((child, yes))
            place = no
        if last < 0:
            made.fill(place, of)
        else:
            waiting.append((last, place))
    return tuple(made.nodes)


def form_of_path(tree: PathTree, decide: Decide) -> TreeForm:
    """Return a tree with averaging along the path: the averages are taken once for each node."""
    kinds = [
        "number" if each.values is None else kind_of_values(each.name, each.values)
        for each in tree.categories
    ]
    fields = tuple(Field(each.name, kind) for each, kind in zip(tree.categories, kinds, strict=True))

    def chain_of(node: int) -> tuple[list[tuple[Condition, int]], int]:
        j = int(tree.attribute[node])
        if j < 0:
            return [], -1
        return _chain_of_categories(j, tree.categories[j], kinds[j], int(tree.first_child[node]))

    made = _Grown(tree.probabilities, decide(tree.probabilities), tree.counts)
    return TreeForm(fields, tree.classes, _grown(tree.n_nodes, chain_of, made))


def _chain_of_categories(
    j: int, of: Categories, kind: str, first: int
) -> tuple[list[tuple[Condition, int]], int]:
    gone = of.place_of_missing()
    chain = [(Condition(j, "missing"), first + gone if gone >= 0 else -1)]
    if of.values is not None:
        return [*chain, *((equals(j, kind, value), first + k) for k, value in enumerate(of.values))], -1
    cuts = [(Condition(j, "<=", cut), first + k) for k, cut in enumerate(of.cuts)]
    return [*chain, *cuts], first + len(of.cuts)


def form_of_multiway(tree: MultiwayTree, proba: Floats, decide: Decide) -> TreeForm:
    """Return a tree of CART: two branches at a node, and for a missing value one of them, or none."""
    kinds = [
        "number" if each.kind == "numeric" else kind_of_values(each.name, each.values)
        for each in tree.columns
    ]
    fields = tuple(Field(each.name, kind) for each, kind in zip(tree.columns, kinds, strict=True))

    def chain_of(node: int) -> tuple[list[tuple[Condition, int]], int]:
        j = int(tree.attribute[node])
        if j < 0:
            return [], -1
        first, gone = int(tree.first_child[node]), -1 if tree.missing is None else int(tree.missing[node])
        return _chain_of_branches(j, tree.columns[j], kinds[j], float(tree.threshold[node]), first, gone)

    made = _Grown(proba, decide(proba), tree.counts)
    return TreeForm(fields, tree.classes, _grown(tree.n_nodes, chain_of, made))


def _chain_of_branches(
    j: int, column: RawColumn, kind: str, at: float, first: int, gone: int
) -> tuple[list[tuple[Condition, int]], int]:
    missing = (Condition(j, "missing"), first + gone if gone >= 0 else -1)
    if at == np.inf:  # it asks whether there is a value
        return [missing], first
    if np.isnan(at):
        raise QueryError("a node has a branch for every value; only trees with two branches can be written")
    if column.kind == "numeric":
        compared = Condition(j, "<=", at, gone == 0)
    else:
        compared = equals(j, kind, column.values[int(at)], gone == 0)
    return ([(compared, first)] if gone >= 0 else [missing, (compared, first)]), first + 1
