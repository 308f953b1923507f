"""Trees as nested tuples: a leaf is ``None``, a split is ``(test, zero_child, one_child)``.

    size = splits + leaves,  leaves = splits + 1 = (size + 1) / 2,  depth = most tests from root to leaf

The *key* of a tree is the preorder tuple of its tests with −1 for a leaf. No key is the beginning of another,
so comparing two keys compares root, then zero subtree, then one subtree: the order used to break ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from everytree.reference.table import Cover, Path, Table

__all__ = [
    "Node",
    "Tree",
    "depth",
    "from_key",
    "key",
    "leaf_of",
    "leaf_path",
    "leaves_of",
    "n_leaves",
    "n_splits",
]
__all__ += ["nodes_of", "size", "used_tests"]

Tree: TypeAlias = "tuple[int, Tree, Tree] | None"


class Node(NamedTuple):
    """A place in a tree: its path, the rows that reach it, its depth, and its test (``None`` for a leaf)."""

    path: Path
    cover: Cover
    depth: int
    test: int | None


def n_leaves(tree: Tree) -> int:
    """Return the number of leaves.

    >>> n_leaves((3, None, (1, None, None)))
    3
    """
    return 1 if tree is None else n_leaves(tree[1]) + n_leaves(tree[2])


def n_splits(tree: Tree) -> int:
    """Return the number of inner nodes."""
    return n_leaves(tree) - 1


def size(tree: Tree) -> int:
    """Return the number of nodes, splits and leaves together.

    >>> size(None), size((3, None, (1, None, None)))
    (1, 5)
    """
    return 2 * n_leaves(tree) - 1


def depth(tree: Tree) -> int:
    """Return the most tests on a way from the root to a leaf.

    >>> depth(None), depth((3, None, (1, None, None)))
    (0, 2)
    """
    return 0 if tree is None else 1 + max(depth(tree[1]), depth(tree[2]))


def key(tree: Tree) -> tuple[int, ...]:
    """Return the tests in preorder, −1 for a leaf.

    >>> key((3, None, (1, None, None)))
    (3, -1, 1, -1, -1)
    """
    return (-1,) if tree is None else (tree[0], *key(tree[1]), *key(tree[2]))


def from_key(preorder: Sequence[int]) -> Tree:
    """Return the tree with this key.

    >>> from_key((3, -1, 1, -1, -1))
    (3, None, (1, None, None))
    """

    def read(position: int) -> tuple[Tree, int]:
        if position >= len(preorder):
            raise ValueError(f"the key {tuple(preorder)} ends too early; every split needs two children")
        test = preorder[position]
        if test == -1:
            return None, position + 1
        if test < -1:
            raise ValueError(
                f"the key {tuple(preorder)} holds {test}; use test indices from 0, or −1 for a leaf"
            )
        zero, position = read(position + 1)
        one, position = read(position)
        return (test, zero, one), position

    tree, end = read(0)
    if end != len(preorder):
        raise ValueError(f"the key {tuple(preorder)} goes on after a whole tree of {end} nodes")
    return tree


def used_tests(tree: Tree) -> frozenset[int]:
    """Return the tests that occur in the tree.

    >>> sorted(used_tests((3, None, (1, None, None))))
    [1, 3]
    """
    return frozenset() if tree is None else used_tests(tree[1]) | used_tests(tree[2]) | {tree[0]}


def nodes_of(tree: Tree, table: Table) -> Iterator[Node]:
    """Yield every node in preorder with the rows that reach it."""

    def walk(part: Tree, path: Path, cover: Cover, level: int) -> Iterator[Node]:
        if part is None:
            yield Node(path, cover, level, None)
            return
        test, zero, one = part
        # The node comes before its children are looked at, so a caller may stop at a test that does not
        # exist.
        yield Node(path, cover, level, test)
        below = zip((zero, one), table.children(cover, test), strict=True)
        for outcome, (child, child_cover) in enumerate(below):
            yield from walk(child, path | {(test, outcome)}, child_cover, level + 1)

    return walk(tree, frozenset(), table.everything, 0)


def leaves_of(tree: Tree, table: Table) -> list[Node]:
    """Return the leaves in preorder with the rows that reach them.

    >>> table = Table([(0, 1), (1, 1)], [(2, 0), (1, 3)])
    >>> [(sorted(leaf.path), table.class_counts(leaf.cover)) for leaf in leaves_of((0, None, None), table)]
    [([(0, 0)], (2, 0)), ([(0, 1)], (1, 3))]
    """
    return [node for node in nodes_of(tree, table) if node.test is None]


def leaf_of(tree: Tree, table: Table, row: Any) -> tuple[Cover, int]:
    """Return the cover and the depth of the leaf that a row reaches."""
    cover, level = table.everything, 0
    while tree is not None:
        outcome = table.outcome(cover, tree[0], row)
        cover, level = table.children(cover, tree[0])[outcome], level + 1
        tree = tree[2] if outcome else tree[1]
    return cover, level


def leaf_path(tree: Tree, row: Sequence[int]) -> Path:
    """Return the path of the leaf that a row reaches.

    >>> sorted(leaf_path((3, None, (1, None, None)), (0, 0, 0, 1)))
    [(1, 0), (3, 1)]
    """
    path: Path = frozenset()
    while tree is not None:
        test = tree[0]
        path = path | {(test, row[test])}
        tree = tree[2] if row[test] else tree[1]
    return path
