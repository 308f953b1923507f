"""TreeArrays: the flat arrays of a binary tree, the laws they obey, and the facts that are read off them.

Nodes are numbered in preorder: node 0 is the root, and the child-0 subtree comes before the child-1 subtree. A row goes
to child 0 where the test is 0 (no), to child 1 where it is 1 (yes):

    children[k]  the two children of node k, -1 for none       counts[k]  training examples per class
    test[k]      the column tested at node k, -1 at a leaf     proba[k]   class probabilities
                                                               says[k]    the index of the class it predicts

Where every node chooses its own cut, two more arrays say which: `upper[k]`, the position of the cut of node k among
those of its test, and `asks[k]`, what it asks in words. A row is then a row of reaches (see `data.local_columns`), and
goes to child 1 where the reach of the test is at most `upper[k]`. Other trees have None for both.

Each law is a function of `checks`, and the constructor calls all of them. The arrays cannot be written to, so a tree
that exists obeys the laws for ever, and two trees can be compared by their arrays.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from everytree.trees import checks as check
from everytree.trees import routes

__all__ = ["TreeArrays"]


class TreeArrays:
    """The arrays of one binary tree, which cannot be changed; `Tree` adds predictions, rules and pictures."""

    __slots__ = (
        "_depths",
        "_hash",
        "_info",
        "asks",
        "children",
        "classes",
        "counts",
        "n_tests",
        "proba",
        "says",
        "test",
        "test_names",
        "upper",
    )

    children: npt.NDArray[np.int32]
    test: npt.NDArray[np.int32]
    counts: npt.NDArray[Any]
    proba: npt.NDArray[np.float64]
    says: npt.NDArray[np.int32]
    n_tests: int
    test_names: tuple[str, ...] | None
    classes: tuple[Hashable, ...] | None
    upper: npt.NDArray[np.int32] | None
    asks: tuple[str, ...] | None
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
        upper: npt.ArrayLike | None = None,
        asks: Iterable[str] | None = None,
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

        examples = check.count_array(counts, "counts")
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
            "upper": None if upper is None else _frozen(check.checked_upper(upper, tests)),
            "asks": check.checked_asks(asks, tests),
            "_info": check.checked_info(info),
            "_depths": _frozen(routes.depths(flat_children)),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_hash", hash(self._identity()))

    # ---- facts

    @property
    def n_nodes(self) -> int:
        """The number of inner nodes and leaves together."""
        return len(self.test)

    @property
    def size(self) -> int:
        """The same number as `n_nodes`: a single leaf has size 1."""
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
        """The node numbers of the leaves, in preorder."""
        return np.flatnonzero(self.test < 0)

    @property
    def error(self) -> int | float:
        """The number of training examples whose class is not the one their leaf predicts, each with its weight."""
        leaves = self.leaves
        if self.counts.dtype.kind != "f":
            return int(self.counts[leaves].sum() - self.counts[leaves, self.says[leaves]].sum())
        wrong = self.counts[leaves]
        wrong[np.arange(len(leaves)), self.says[leaves]] = 0
        return math.fsum(wrong.ravel().tolist())

    @property
    def key(self) -> tuple[int, ...]:
        """The tests in preorder with -1 for a leaf, which identifies the structure."""
        return tuple(self.test.tolist())

    @property
    def nested(self) -> routes.Nested:
        """The structure as nested tuples: None is a leaf, ``(test, zero_child, one_child)`` a split."""
        return routes.nested_of(self.test.tolist())

    @property
    def info(self) -> Mapping[str, Any]:
        """Facts about how the tree was found; equality ignores them."""
        return self._info

    def same_structure(self, other: TreeArrays) -> bool:
        """Return whether both trees ask the same tests in the same places, whatever their counts and labels.

        Parameters
        ----------
        other : Tree
            The tree to compare with.

        Returns
        -------
        bool
            True if the structures are the same.
        """
        if not isinstance(other, TreeArrays) or (self.upper is None) != (other.upper is None):
            return False
        same_cuts = self.upper is None or other.upper is None or np.array_equal(self.upper, other.upper)
        return np.array_equal(self.test, other.test) and same_cuts

    def test_name(self, test: int) -> str:
        """Return the name of a test: its own, or ``x3`` for test 3 of a tree without names.

        Parameters
        ----------
        test : int
            The index of the test.

        Returns
        -------
        str
            The name as texts and pictures show it.
        """
        return self.test_names[test] if self.test_names is not None else f"x{test}"

    def node_name(self, node: int) -> str:
        """Return what an inner node asks: the name of its test, with the node's own cut where it chose one.

        Parameters
        ----------
        node : int
            The number of the node.

        Returns
        -------
        str
            The test as texts and pictures show it.
        """
        return self.asks[node] if self.asks is not None else self.test_name(int(self.test[node]))

    def class_label(self, c: int) -> Any:
        """Return the label of a class; the index itself in a tree without labels.

        Parameters
        ----------
        c : int
            The index of the class.

        Returns
        -------
        object
            The label, as `predict` returns it.
        """
        return self.classes[c] if self.classes is not None else c

    # ---- equality, and why a tree cannot be changed

    def _identity(self) -> tuple[Any, ...]:
        """Return what makes two trees equal.

        `test` determines `children`, and the names of types tell label 1 from True and 1.0.
        """
        classes = None if self.classes is None else tuple((type(c).__name__, c) for c in self.classes)
        arrays = (self.test.tobytes(), self.counts.tobytes(), self.proba.tobytes(), self.says.tobytes())
        cuts = (None if self.upper is None else self.upper.tobytes(), self.asks)
        return (self.n_tests, self.n_classes, *arrays, classes, self.test_names, *cuts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeArrays):
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

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only copy that stands on a bytes object, so that its write flag cannot be turned back on."""
    return np.frombuffer(array.tobytes(), dtype=array.dtype).reshape(array.shape)
