"""`Tree`: one binary decision tree as an immutable value, with its predictions, rules, texts and pictures.

The arrays that make a tree are described in `arrays`, and the laws that they obey are in `checks`. Routing is in
`routes`, the JSON form in `tree_form`, other languages in `portable`, and pictures are in `everytree.draw`.

Every node predicts one class, `says`, and `predict`, `error`, rules, texts and pictures all go by it. It is the most
probable class, except in the answer to a query with costs, where it is the class that costs least (`answers`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from everytree.common.text import as_number, clip
from everytree.draw.dot import tree_to_dot
from everytree.draw.matplotlib_tree import plot_tree
from everytree.draw.svg import tree_to_html, tree_to_svg
from everytree.draw.text import tree_to_text
from everytree.errors import DataError
from everytree.trees import checks as check
from everytree.trees import routes
from everytree.trees.arrays import TreeArrays
from everytree.trees.portable import TreeExports
from everytree.trees.tree_form import parts_from_dict, parts_from_json, tree_to_dict, tree_to_json

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["LeafRule", "Tree"]


@dataclass(frozen=True)
class LeafRule:
    """One leaf of a tree as a rule: if every item holds, predict `label`.

    Attributes
    ----------
    leaf : int
        The node number of the leaf.
    items : tuple of (int, bool)
        The tests on the way to the leaf with their outcomes: ``(3, True)`` means that test 3 is 1.
    conditions : tuple of str
        The items in words, with the names of the tests.
    label : object
        The class that the leaf predicts.
    counts : tuple of int or float
        The training examples of each class in the leaf, each with its weight.
    proba : tuple of float
        The probability of each class in the leaf.
    says : int
        The index of `label` among the classes.
    """

    leaf: int
    items: tuple[tuple[int, bool], ...]
    conditions: tuple[str, ...]
    label: Any
    counts: tuple[float, ...]
    proba: tuple[float, ...]
    says: int  # the index of `label` among the classes

    def __str__(self) -> str:
        condition = " and ".join(self.conditions) or "always"
        n, p = sum(self.counts), self.proba[self.says]
        return f"{condition} → {self.label} (p = {p:.3g}, {as_number(n)} example{'s' if n != 1 else ''})"


@final
class Tree(TreeArrays, TreeExports):
    """One decision tree over 0/1 tests; every node has class counts, class probabilities and a class that it predicts.

    Trees are values: they cannot be changed, and two trees are equal when their arrays, labels and names are. Every
    parameter is also a read-only attribute. Most trees come from a classifier or a query; `from_structure` makes one
    from a table of examples.

    Parameters
    ----------
    children : array of int, shape (n_nodes, 2)
        The children of each node for outcomes 0 and 1 of its test, -1 for none. Nodes are in preorder, the root first.
    test : array of int, shape (n_nodes,)
        The column that each node tests, -1 at a leaf.
    counts : array of int or float, shape (n_nodes, n_classes)
        The training examples of each class at each node; floats where weights have fractions.
    proba : array of float, shape (n_nodes, n_classes), optional
        The class probabilities of each node. By default they are the frequencies, and uniform without examples.
    n_tests : int
        The number of columns of the 0/1 matrix that the tree reads.
    test_names : iterable of str, optional
        One name for each test, such as ``"age <= 54"``.
    classes : iterable, optional
        One label for each class; `predict` returns these instead of class indices.
    info : mapping, optional
        Facts about how the tree was found. They are not compared and not written to a dict.
    says : array of int, shape (n_nodes,), optional
        The index of the class that each node predicts. By default it is the most probable class, of several the first.
    upper : array of int, shape (n_nodes,), optional
        Where every node chooses its own cut, the position of it among those of its test; 0 at leaves and where a test
        is no cut.
    asks : iterable of str, optional
        What each node then asks, in words, such as ``"age <= 54.5"``; empty at a leaf.

    Raises
    ------
    DataError
        If the arrays do not make a tree; the message names the array and the entry.

    Examples
    --------
    >>> tree = Tree([[1, 2], [-1, -1], [-1, -1]], [0, -1, -1], [[3, 3], [3, 0], [0, 3]], n_tests=1,
    ...             test_names=["fever"], classes=["well", "ill"])
    >>> tree
    Tree(n_leaves=2, depth=1, error=0, n_tests=1, classes=('well', 'ill'))
    >>> tree.predict([[1], [0]])
    array(['ill', 'well'], dtype='<U4')
    """

    __slots__ = ()

    # ---- other ways to make a tree

    @classmethod
    def from_structure(
        cls,
        structure: object,
        rows: npt.ArrayLike,
        counts: npt.ArrayLike,
        dirichlet: object = None,
        test_names: Iterable[str] | None = None,
        classes: Iterable[Any] | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> Tree:
        """Make the tree with a given structure, and count the examples of a table that reach each node.

        Probabilities are (n_c + a_c) / (Σn + Σa), with n the class counts of a node and a the Dirichlet parameters.

        Parameters
        ----------
        structure : None, tuple or key
            A nested structure, where None is a leaf and ``(test, zero_child, one_child)`` a split; or a key (see
            `key`).
        rows : 0/1 matrix, shape (n_rows, n_tests)
            The outcomes of the tests for each row of the table.
        counts : array of int, shape (n_rows, n_classes)
            The examples of each class that each row stands for.
        dirichlet : float or sequence of float, optional
            The parameter a: one number for all classes, or one for each. None gives frequencies.
        test_names : iterable of str, optional
            One name for each test.
        classes : iterable, optional
            One label for each class.
        info : mapping, optional
            Facts to keep with the tree.

        Returns
        -------
        Tree
            The tree with counts and probabilities at every node.

        Raises
        ------
        DataError
            If the structure is not a tree over these tests, or the rows and counts do not fit together.

        Examples
        --------
        >>> tree = Tree.from_structure((0, None, None), [[0], [1]], [[8, 2], [1, 9]], dirichlet=1.0)
        >>> tree.error, tree.proba[2].round(3).tolist()
        (3, [0.167, 0.833])
        """
        key = routes.key_of(structure)
        table = check.integer_array(counts, "counts", columns=0)
        matrix = routes.binary_matrix(rows, None, name="rows")
        n_tests = matrix.shape[1]
        check.check_same_length_as_rows(table, matrix)
        check.check_counts_not_negative(table)
        check.check_table_total(table)
        tests = np.asarray(key, dtype=np.int64)
        check.check_tests_in_range(tests, n_tests)
        children = routes.children_of_key(key)
        leaf = routes.leaf_of_rows(matrix, children.astype(np.int32), tests.astype(np.int32))
        totals = routes.counts_of_nodes(leaf, table, children)
        proba = routes.class_probabilities(totals, dirichlet)
        return cls(
            children, tests, totals, proba, n_tests=n_tests, test_names=test_names, classes=classes, info=info
        )  # fmt: skip

    @classmethod
    def from_key(
        cls,
        key: Iterable[int],
        rows: npt.ArrayLike,
        counts: npt.ArrayLike,
        dirichlet: object = None,
        test_names: Iterable[str] | None = None,
        classes: Iterable[Any] | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> Tree:
        """Make the tree with a given key: its tests in preorder, with -1 for a leaf.

        Parameters
        ----------
        key : iterable of int
            The tests in preorder, with -1 for a leaf.
        rows : 0/1 matrix, shape (n_rows, n_tests)
            The outcomes of the tests for each row of the table.
        counts : array of int, shape (n_rows, n_classes)
            The examples of each class that each row stands for.
        dirichlet : float or sequence of float, optional
            What is added to the count of each class for the probabilities, as in `from_structure`.
        test_names : iterable of str, optional
            One name for each test.
        classes : iterable, optional
            One label for each class.
        info : mapping, optional
            Facts to keep with the tree.

        Returns
        -------
        Tree
            The tree with counts and probabilities at every node.

        Examples
        --------
        >>> Tree.from_key((0, -1, -1), rows=[[0], [1]], counts=[[8, 2], [1, 9]]).nested
        (0, None, None)
        """
        entries = tuple(key)
        for k, entry in enumerate(entries):
            if isinstance(entry, bool) or not isinstance(entry, (int, np.integer)):
                raise DataError(f"key[{k}] is {clip(entry)}: expected a test index, or -1 for a leaf.")
        return cls.from_structure(entries, rows, counts, dirichlet, test_names, classes, info)

    def replace(self, **changes: Any) -> Tree:
        """Return a copy of the tree with some parts changed; all other parts stay as they are.

        Nodes keep the class they predict when `proba` changes; ``says=None`` lets them predict the most probable class.

        Parameters
        ----------
        **changes : object
            New values for parameters of `Tree`: `proba`, `says`, `counts`, `test_names`, `classes`, `info` and so on.

        Returns
        -------
        Tree
            The changed copy, which is checked like every tree.

        Examples
        --------
        >>> stump = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]])
        >>> stump.replace(test_names=["fever"]).test_names
        ('fever',)
        """
        parts: dict[str, Any] = {
            "children": self.children,
            "test": self.test,
            "counts": self.counts,
            "proba": self.proba,
            "n_tests": self.n_tests,
            "test_names": self.test_names,
            "classes": self.classes,
            "info": self._info,
            "says": self.says,
            "upper": self.upper,
            "asks": self.asks,
        }
        unknown = sorted(set(changes) - set(parts))
        if unknown:
            raise TypeError(f"replace() got {', '.join(unknown)}: expected some of {', '.join(parts)}.")
        return Tree(**{**parts, **changes})

    # ---- prediction

    def apply(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """Find the leaf that each row ends in.

        Parameters
        ----------
        X : 0/1 matrix, shape (n_rows, n_tests)
            The outcomes of the tests for each row. Rows for a tree of a space with local cuts come from ``rows_of``
            of that space.

        Returns
        -------
        array of int, shape (n_rows,)
            The node number of each row's leaf.
        """
        reach = routes.rows_of_reach(X, self.n_tests, self.upper is not None)
        if reach is not None:
            return routes.leaf_of_rows(reach, self.children, self.test, self.upper)
        matrix = routes.binary_matrix(X, self.n_tests, self.test_names)
        return routes.leaf_of_rows(matrix, self.children, self.test)

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Predict class probabilities: those of the leaf that each row ends in.

        Parameters
        ----------
        X : 0/1 matrix, shape (n_rows, n_tests)
            The outcomes of the tests for each row.

        Returns
        -------
        array of float, shape (n_rows, n_classes)
            The probability of each class for each row.
        """
        return self.proba[self.apply(X)]

    def predict(self, X: npt.ArrayLike, cost_matrix: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Predict a class for each row: the one that its leaf says, or the one of least expected cost.

        Parameters
        ----------
        X : 0/1 matrix, shape (n_rows, n_tests)
            The outcomes of the tests for each row.
        cost_matrix : array of float, shape (n_classes, n_classes), optional
            ``cost_matrix[c, k]`` is the cost of predicting class k when c is true. With it, each row gets the class of
            least expected cost under its leaf's probabilities, of several the one with the lower index.

        Returns
        -------
        array, shape (n_rows,)
            The label of each row's class, or the index of the class in a tree without labels.
        """
        if cost_matrix is None:
            best: npt.NDArray[Any] = self.says
        else:
            costs = np.asarray(cost_matrix, dtype=float)
            if costs.shape != (self.n_classes, self.n_classes):
                raise DataError(
                    f"cost_matrix has shape {costs.shape}; expected one row per true and one column per predicted "
                    f"class, {(self.n_classes, self.n_classes)}"
                )
            best = (self.proba @ costs).argmin(axis=1)
        labels: npt.NDArray[Any] = best if self.classes is None else _label_array(self.classes)[best]
        return np.asarray(labels[self.apply(X)])

    def decision_path(self, X: npt.ArrayLike) -> csr_matrix:
        """Find the nodes that each row passes, in the form that scikit-learn's trees use.

        Parameters
        ----------
        X : 0/1 matrix, shape (n_rows, n_tests)
            The outcomes of the tests for each row.

        Returns
        -------
        scipy.sparse.csr_matrix, shape (n_rows, n_nodes)
            An indicator matrix: entry (i, k) is 1 if row i passes node k.
        """
        from scipy.sparse import csr_matrix

        node = self.apply(X)
        parent = routes.parents(self.children)
        ends = np.concatenate([[0], np.cumsum(self._depths[node] + 1, dtype=np.int64)])
        indices = np.empty(ends[-1], dtype=np.int64)
        position = ends[1:] - 1
        while len(node):  # from the leaves up; preorder makes each row's indices ascending
            indices[position] = node
            node = parent[node].astype(np.intp)
            above = node >= 0
            node, position = node[above], position[above] - 1
        ones = np.ones(len(indices), dtype=np.int64)
        return csr_matrix((ones, indices, ends), shape=(len(ends) - 1, self.n_nodes))

    def rules(self) -> list[LeafRule]:
        """Write the tree as rules, one for each leaf.

        Returns
        -------
        list of LeafRule
            The rules in the order a person reads the tree: the yes branch first.

        Examples
        --------
        >>> tree = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]], test_names=["age <= 54"])
        >>> print(*tree.rules(), sep="\\n")
        age <= 54 → 1 (p = 0.9, 10 examples)
        not (age <= 54) → 0 (p = 0.8, 10 examples)
        """
        found: list[LeafRule] = []
        Way = tuple[tuple[int, bool], ...]
        waiting: list[tuple[int, Way, tuple[str, ...]]] = [(0, (), ())]
        while waiting:
            k, items, words = waiting.pop()
            test = int(self.test[k])
            if test >= 0:
                for outcome, child in enumerate(self.children[k].tolist()):
                    word = _condition(self.node_name(k), bool(outcome))
                    waiting.append((child, (*items, (test, bool(outcome))), (*words, word)))
                continue
            found.append(
                LeafRule(
                    leaf=k,
                    items=items,
                    conditions=words,
                    label=self.class_label(int(self.says[k])),
                    counts=tuple(self.counts[k].tolist()),
                    proba=tuple(self.proba[k].tolist()),
                    says=int(self.says[k]),
                )
            )
        return found

    # ---- other forms

    def to_text(self, *, max_depth: int | None = None, precision: int = 3) -> str:
        """Write the tree as indented text, the yes branch first.

        Parameters
        ----------
        max_depth : int, optional
            The depth below which a subtree becomes one line; by default all is shown.
        precision : int, default 3
            The number of digits of probabilities.

        Returns
        -------
        str
            The text, one line for each node.
        """
        return tree_to_text(self, max_depth=max_depth, precision=precision)

    def to_dict(self) -> dict[str, Any]:
        """Write the tree as plain lists, strings and numbers that JSON can hold.

        Returns
        -------
        dict
            The parts of the tree without `info`; `from_dict` reads them back exactly.
        """
        return tree_to_dict(self)

    @classmethod
    def from_dict(cls, data: Any) -> Tree:
        """Read a tree that `to_dict` wrote.

        Parameters
        ----------
        data : dict
            What `to_dict` returned.

        Returns
        -------
        Tree
            The same tree.

        Raises
        ------
        DataError
            If the dict is not a tree; the message names the field.
        """
        return cls(**parts_from_dict(data))

    def to_json(self, *, indent: int | None = None) -> str:
        """Write the tree as a JSON text.

        Parameters
        ----------
        indent : int, optional
            The spaces of indentation for each level; by default the text is one line.

        Returns
        -------
        str
            The JSON form of `to_dict`.
        """
        return tree_to_json(self, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Tree:
        """Read a tree that `to_json` wrote.

        Parameters
        ----------
        text : str or bytes
            The JSON text.

        Returns
        -------
        Tree
            The same tree.

        Raises
        ------
        DataError
            If the text is not JSON or not a tree.
        """
        return cls(**parts_from_json(text))

    def to_dot(self, *, max_depth: int | None = None, precision: int = 3, filled: bool = True) -> str:
        """Write the tree in the DOT language of Graphviz, the yes branch on the left.

        Parameters
        ----------
        max_depth : int, optional
            The depth at which a split is drawn as the leaf it would be; by default all is drawn.
        precision : int, default 3
            The number of digits of probabilities.
        filled : bool, default True
            Whether each box has the colour of its most probable class.

        Returns
        -------
        str
            A DOT digraph, for ``dot -Tsvg``.
        """
        return tree_to_dot(self, max_depth=max_depth, precision=precision, filled=filled)

    def to_svg(self, *, max_depth: int | None = None, precision: int = 3) -> str:
        """Draw the tree as a self-contained SVG picture, which needs no plotting library.

        Parameters
        ----------
        max_depth : int, optional
            The depth at which a split is drawn as the leaf it would be; by default all is drawn.
        precision : int, default 3
            The number of digits of probabilities.

        Returns
        -------
        str
            The SVG document.
        """
        return tree_to_svg(self, max_depth=max_depth, precision=precision)

    def plot(self, **options: Any) -> list[Any]:
        """Draw the tree with matplotlib.

        Parameters
        ----------
        **options : object
            The keywords of `everytree.plot.plot_tree`, such as ``max_depth`` and ``ax``.

        Returns
        -------
        list of matplotlib.text.Annotation
            One annotation for each box, in preorder.
        """
        return plot_tree(self, **options)

    def _repr_html_(self) -> str:
        return tree_to_html(self)

    def __repr__(self) -> str:
        classes = "" if self.classes is None else f", classes={clip(self.classes)}"
        return (
            f"Tree(n_leaves={self.n_leaves}, depth={self.depth}, error={as_number(self.error)}, "
            f"n_tests={self.n_tests}{classes})"
        )

    def __str__(self) -> str:
        return self.to_text()

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.children, self.test, self.counts, self.proba)
        facts = (self.n_tests, self.test_names, self.classes, dict(self._info), self.says)
        return _restore, (*parts, *facts, self.upper, self.asks)


def _restore(
    children: Any, test: Any, counts: Any, proba: Any, n_tests: int, names: Any, classes: Any, info: Any,
    says: Any = None, upper: Any = None, asks: Any = None,
) -> Tree:  # fmt: skip
    """Unpickle through the constructor, so that even a forged pickle obeys the laws."""
    return Tree(
        children, test, counts, proba, n_tests=n_tests, test_names=names, classes=classes, info=info, says=says,
        upper=upper, asks=asks,
    )  # fmt: skip


def _label_array(classes: tuple[Hashable, ...]) -> npt.NDArray[Any]:
    """Return the labels as a numpy array of their own type where that loses nothing, otherwise as objects."""
    if len({type(label) for label in classes}) == 1 and isinstance(classes[0], (str, bool, int, float)):
        plain = np.array(classes)
        if plain.tolist() == list(classes):  # numpy drops trailing NULs of strings
            return plain
    labels = np.empty(len(classes), dtype=object)
    for c, label in enumerate(classes):
        labels[c] = label
    return labels


def _condition(name: str, outcome: bool) -> str:
    """Say an item in words; the negation of ``x <= 3`` is not always ``x > 3``, because missing values fail both."""
    if outcome:
        return name
    return f"not ({name})" if " " in name else f"not {name}"
