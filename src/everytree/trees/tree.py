"""`Tree`: one binary decision tree as an immutable value.

A tree is flat arrays over its nodes, numbered in preorder (node 0 is the root, the child-0 subtree comes
before the child-1 subtree). A row goes to child 0 where the test is 0 (no), to child 1 where it is 1 (yes):

    children[k]  the two children of node k, -1 for none       counts[k]  training examples per class
    test[k]      the column tested at node k, -1 at a leaf     proba[k]   class probabilities
                                                               says[k]    the class it says: an index

A node says one class, and all that shows or asks the tree goes by it: `predict`, `error`, rules, texts, pictures. It is
the most probable one, unless whoever made the tree knows better: the answer to a query with costs says what costs least
(`answers`).

The laws these arrays obey are in `checks`, routing is in `routes`, the JSON form in `tree_form`, and pictures are in
`everytree.draw`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from everytree.common.text import clip
from everytree.draw.dot import tree_to_dot
from everytree.draw.matplotlib_tree import plot_tree
from everytree.draw.svg import tree_to_html, tree_to_svg
from everytree.draw.text import tree_to_text
from everytree.errors import DataError
from everytree.trees import checks as check
from everytree.trees import routes
from everytree.trees.tree_form import parts_from_dict, parts_from_json, tree_to_dict, tree_to_json

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["LeafRule", "Tree"]


@dataclass(frozen=True)
class LeafRule:
    """One leaf of a tree as a rule: if every item holds, predict `label`.

    An item is a test with its outcome: ``(3, True)`` says that test 3 is 1.
    """

    leaf: int
    items: tuple[tuple[int, bool], ...]
    conditions: tuple[str, ...]
    label: Any
    counts: tuple[int, ...]
    proba: tuple[float, ...]
    says: int  # the index of `label` among the classes

    def __str__(self) -> str:
        condition = " and ".join(self.conditions) or "always"
        n, p = sum(self.counts), self.proba[self.says]
        return f"{condition} → {self.label} (p = {p:.3g}, {n} example{'s' if n != 1 else ''})"


@final
class Tree:
    """One decision tree over 0/1 tests; every node has class counts, class probabilities and a class that it says.

    Trees are values: they cannot be changed, and two trees are equal when their arrays, labels and names are.

    Parameters
    ----------
    children : (n_nodes, 2) integers, the children for outcomes 0 and 1 of the test, -1 for none.
    test : (n_nodes,) integers, the tested column, -1 at a leaf.
    counts : (n_nodes, n_classes) integers, training examples per class.
    proba : (n_nodes, n_classes) probabilities; by default the frequencies, uniform without examples.
    n_tests : the number of columns of the table the tree reads.
    test_names : one name per test, for people.
    classes : one label per class; `predict` returns these.
    info : facts about how the tree was found. They are not compared and not written to a dict.
    says : (n_nodes,) class indices, what each node says; by default the most probable class, of several the first.

    >>> tree = Tree([[1, 2], [-1, -1], [-1, -1]], [0, -1, -1], [[3, 3], [3, 0], [0, 3]], n_tests=1,
    ...             test_names=["fever"], classes=["well", "ill"])
    >>> tree
    Tree(n_leaves=2, depth=1, error=0, n_tests=1, classes=('well', 'ill'))
    >>> tree.predict([[1], [0]])
    array(['ill', 'well'], dtype='<U4')
    """

    __slots__ = (
        "_depths",
        "_hash",
        "_info",
        "children",
        "classes",
        "counts",
        "n_tests",
        "proba",
        "says",
        "test",
        "test_names",
    )

    children: npt.NDArray[np.int32]
    test: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    proba: npt.NDArray[np.float64]
    says: npt.NDArray[np.int32]
    n_tests: int
    test_names: tuple[str, ...] | None
    classes: tuple[Hashable, ...] | None
    _depths: npt.NDArray[np.int32]
    _hash: int
    _info: Mapping[str, Any]

    def __init__(
        self,
        children: npt.ArrayLike,
        test: npt.ArrayLike,
        counts: npt.ArrayLike,
        proba: npt.ArrayLike | None = None,
        *,
        n_tests: int,
        test_names: Iterable[str] | None = None,
        classes: Iterable[Any] | None = None,
        info: Mapping[str, Any] | None = None,
        says: npt.ArrayLike | None = None,
    ) -> None:
        n_tests = check.checked_count(n_tests, "n_tests")
        tests = check.integer_array(test, "test")
        check.check_has_nodes(tests)
        check.check_tests_in_range(tests, n_tests)

        pairs = check.integer_array(children, "children", columns=2)
        check.check_same_length("children", len(pairs), len(tests))
        check.check_children_in_range(pairs)
        check.check_splits_have_two_children(pairs, tests)
        check.check_preorder(pairs)

        examples = check.integer_array(counts, "counts", columns=0)
        check.check_same_length("counts", len(examples), len(tests))
        check.check_counts_not_negative(examples)
        check.check_children_counts_add_up(pairs, examples)

        n_classes = examples.shape[1]
        if proba is None:
            probabilities = routes.class_probabilities(examples)
        else:
            probabilities = check.float_array(proba, "proba", columns=n_classes) + 0.0  # turns -0.0 into 0.0
            check.check_same_length("proba", len(probabilities), len(tests))
            check.check_probabilities_sum_to_one(probabilities)
        if says is None:
            answers: npt.NDArray[Any] = probabilities.argmax(axis=1)
        else:
            answers = check.integer_array(says, "says")
            check.check_same_length("says", len(answers), len(tests))
            check.check_says_in_range(answers, n_classes)

        flat_children = _frozen(pairs.astype(np.int32))
        values: dict[str, Any] = {
            "children": flat_children,
            "test": _frozen(tests.astype(np.int32)),
            "counts": _frozen(examples),
            "proba": _frozen(probabilities),
            "says": _frozen(answers.astype(np.int32)),
            "n_tests": n_tests,
            "test_names": check.checked_test_names(test_names, n_tests),
            "classes": check.checked_classes(classes, n_classes),
            "_info": check.checked_info(info),
            "_depths": _frozen(routes.depths(flat_children)),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_hash", hash(self._identity()))

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
        """The tree with this structure, its counts filled in by sending a table down it.

        `structure` is nested — None for a leaf, ``(test, zero_child, one_child)`` for a split — or a key (see
        `key`). `rows` is a 0/1 matrix and `counts` the class counts of each row. Probabilities are
        (n_c + a_c) / (Σn + Σa) with `dirichlet` a (one number, or one per class); None gives frequencies.

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
        """`from_structure` for a key: the tests in preorder, -1 for a leaf.

        >>> Tree.from_key((0, -1, -1), rows=[[0], [1]], counts=[[8, 2], [1, 9]]).nested
        (0, None, None)
        """
        entries = tuple(key)
        for k, entry in enumerate(entries):
            if isinstance(entry, bool) or not isinstance(entry, (int, np.integer)):
                raise DataError(f"key[{k}] is {clip(entry)}: expected a test index, or -1 for a leaf.")
        return cls.from_structure(entries, rows, counts, dirichlet, test_names, classes, info)

    def replace(self, **changes: Any) -> Tree:
        """A copy with some parts changed: `proba`, `says`, `counts`, `test_names`, `classes`, `info`, ….

        All other parts stay: after new probabilities nodes still say what they said; ``says=None`` lets them say the
        most probable class.

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
        }
        unknown = sorted(set(changes) - set(parts))
        if unknown:
            raise TypeError(f"replace() got {', '.join(unknown)}: expected some of {', '.join(parts)}.")
        return Tree(**{**parts, **changes})

    # ---- facts

    @property
    def n_nodes(self) -> int:
        """Inner nodes and leaves."""
        return len(self.test)

    @property
    def size(self) -> int:
        """The same as `n_nodes`: a single leaf has size 1."""
        return len(self.test)

    @property
    def n_leaves(self) -> int:
        """The number of leaves, (size + 1) / 2."""
        return (len(self.test) + 1) // 2

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.counts.shape[1])

    @property
    def depth(self) -> int:
        """The longest path from the root to a leaf, counted in tests; 0 for a single leaf."""
        return int(self._depths.max())

    @property
    def node_depths(self) -> npt.NDArray[np.int32]:
        """The number of tests above each node."""
        return self._depths

    @property
    def leaves(self) -> npt.NDArray[np.intp]:
        """The node numbers of the leaves."""
        return np.flatnonzero(self.test < 0)

    @property
    def error(self) -> int:
        """Training examples outside the class that their leaf says: Σ over leaves of n − n_says."""
        leaves = self.leaves
        return int(self.counts[leaves].sum() - self.counts[leaves, self.says[leaves]].sum())

    @property
    def key(self) -> tuple[int, ...]:
        """The tests in preorder, -1 for a leaf: it identifies the structure."""
        return tuple(self.test.tolist())

    @property
    def nested(self) -> routes.Nested:
        """The structure as nested tuples: None is a leaf, ``(test, zero_child, one_child)`` a split."""
        return routes.nested_of(self.test.tolist())

    @property
    def info(self) -> Mapping[str, Any]:
        """Facts about how the tree was found; not part of the value."""
        return self._info

    def same_structure(self, other: Tree) -> bool:
        """True if both trees ask the same tests in the same places, whatever their counts and labels."""
        return isinstance(other, Tree) and np.array_equal(self.test, other.test)

    def test_name(self, test: int) -> str:
        """The name of a test for people: its own, or ``x3`` for test 3 of a tree without names."""
        return self.test_names[test] if self.test_names is not None else f"x{test}"

    def class_label(self, c: int) -> Any:
        """The label of class index `c`; the index itself in a tree without labels."""
        return self.classes[c] if self.classes is not None else c

    # ---- prediction

    def apply(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """The leaf (node number) that each row of a 0/1 matrix ends in."""
        matrix = routes.binary_matrix(X, self.n_tests, self.test_names)
        return routes.leaf_of_rows(matrix, self.children, self.test)

    def predict_proba(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The class probabilities of each row's leaf, one column per class."""
        return self.proba[self.apply(X)]

    def predict(self, X: npt.ArrayLike, cost_matrix: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """What each row's leaf says: the label of the class, or its index in a tree without labels.

        With ``cost_matrix[c, k]``, the cost of saying k when c is true, the class of least expected cost under the
        leaf's probabilities instead, of several the one with the lower index.
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
        """The nodes each row passes, as a sparse (rows, nodes) indicator, as scikit-learn's trees give it."""
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
        """One rule per leaf, in the order a person reads the tree: the yes branch first.

        >>> tree = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]], test_names=["age <= 54"])
        >>> print(*tree.rules(), sep="\\n")
        age <= 54 → 1 (p = 0.9, 10 examples)
        not (age <= 54) → 0 (p = 0.8, 10 examples)
        """
        found: list[LeafRule] = []
        waiting: list[tuple[int, tuple[tuple[int, bool], ...]]] = [(0, ())]
        while waiting:
            k, items = waiting.pop()
            test = int(self.test[k])
            if test >= 0:
                zero, one = self.children[k].tolist()
                waiting += ((zero, (*items, (test, False))), (one, (*items, (test, True))))
                continue
            found.append(
                LeafRule(
                    leaf=k,
                    items=items,
                    conditions=tuple(_condition(self.test_name(i), outcome) for i, outcome in items),
                    label=self.class_label(int(self.says[k])),
                    counts=tuple(self.counts[k].tolist()),
                    proba=tuple(self.proba[k].tolist()),
                    says=int(self.says[k]),
                )
            )
        return found

    # ---- other forms

    def to_text(self, *, max_depth: int | None = None, precision: int = 3) -> str:
        """The tree as indented text, the yes branch first; below `max_depth` a subtree is one line."""
        return tree_to_text(self, max_depth=max_depth, precision=precision)

    def to_dict(self) -> dict[str, Any]:
        """The tree as plain lists, strings and numbers, fit for JSON; `from_dict` reads it back exactly."""
        return tree_to_dict(self)

    @classmethod
    def from_dict(cls, data: Any) -> Tree:
        """The tree written by `to_dict`; anything else raises a `DataError` naming the offending field."""
        return cls(**parts_from_dict(data))

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as a JSON string."""
        return tree_to_json(self, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Tree:
        """The tree written by `to_json`."""
        return cls(**parts_from_json(text))

    def to_dot(self, *, max_depth: int | None = None, precision: int = 3, filled: bool = True) -> str:
        """The tree in the DOT language of Graphviz."""
        return tree_to_dot(self, max_depth=max_depth, precision=precision, filled=filled)

    def to_svg(self, *, max_depth: int | None = None, precision: int = 3) -> str:
        """The tree as a self-contained SVG picture; needs no plotting library."""
        return tree_to_svg(self, max_depth=max_depth, precision=precision)

    def plot(self, **options: Any) -> list[Any]:
        """Draw the tree with matplotlib; the keywords are those of `everytree.plot.plot_tree`."""
        return plot_tree(self, **options)

    def _repr_html_(self) -> str:
        return tree_to_html(self)

    def __repr__(self) -> str:
        classes = "" if self.classes is None else f", classes={clip(self.classes)}"
        return (
            f"Tree(n_leaves={self.n_leaves}, depth={self.depth}, error={self.error}, "
            f"n_tests={self.n_tests}{classes})"
        )

    def __str__(self) -> str:
        return self.to_text()

    # ---- the value

    def _identity(self) -> tuple[Any, ...]:
        """What makes two trees equal. `test` determines `children`; types tell label 1 from True and 1.0."""
        classes = None if self.classes is None else tuple((type(c).__name__, c) for c in self.classes)
        arrays = (self.test.tobytes(), self.counts.tobytes(), self.proba.tobytes(), self.says.tobytes())
        return (self.n_tests, self.n_classes, *arrays, classes, self.test_names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self is other or (self._hash == other._hash and self._identity() == other._identity())

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"cannot set {name}: a Tree does not change. Use tree.replace(...) for a changed copy."
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name}: a Tree does not change.")

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: object) -> Tree:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.children, self.test, self.counts, self.proba)
        return _restore, (*parts, self.n_tests, self.test_names, self.classes, dict(self._info), self.says)


def _restore(
    children: Any, test: Any, counts: Any, proba: Any, n_tests: int, names: Any, classes: Any, info: Any,
    says: Any = None,
) -> Tree:  # fmt: skip
    """Unpickle: through the constructor, so that even a forged pickle obeys the laws."""
    return Tree(
        children, test, counts, proba, n_tests=n_tests, test_names=names, classes=classes, info=info, says=says
    )  # fmt: skip


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only copy. It stands on a bytes object, so the write flag cannot be turned back on."""
    return np.frombuffer(array.tobytes(), dtype=array.dtype).reshape(array.shape)


def _label_array(classes: tuple[Hashable, ...]) -> npt.NDArray[Any]:
    """The labels as a numpy array of their own type where that loses nothing, otherwise as objects."""
    if len({type(label) for label in classes}) == 1 and isinstance(classes[0], (str, bool, int, float)):
        plain = np.array(classes)
        if plain.tolist() == list(classes):  # numpy drops trailing NULs of strings
            return plain
    labels = np.empty(len(classes), dtype=object)
    for c, label in enumerate(classes):
        labels[c] = label
    return labels


def _condition(name: str, outcome: bool) -> str:
    """The item in words. The negation of ``x <= 3`` is not always ``x > 3``: missing values fail both."""
    if outcome:
        return name
    return f"not ({name})" if " " in name else f"not {name}"
