"""FixedSpace: the best tree of a space whose top a person has chosen, and what a node may ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everytree.common.arguments import whole
from everytree.query.fixed import best_with
from everytree.query.fixed_tests import NodeTest, node_tests, rows_at
from everytree.query.query import Query, query_of
from everytree.space.frame_space import FrameSpace
from everytree.trees.tree import Tree

__all__ = ["FixedSpace"]


class FixedSpace(FrameSpace):
    """A space of which some nodes can be given; ``TreeSpace`` is one."""

    def best_with(
        self,
        fixed: Mapping[Any, Any],
        minimize: Query | Sequence[str] | str = ("error", "size"),
        **constraints: Any,
    ) -> Tree:
        """Find the best tree that asks the given tests at the given nodes; all other nodes are optimised, exactly.

        Parameters
        ----------
        fixed : mapping
            What some nodes ask, by the way to them from the root: ``""`` is the root, ``"10"`` the no-side of its
            yes-side. A value is the number or the name of a test, a pair (column, number to cut near), or None for a
            leaf. Every node above a fixed one must be fixed too.
        minimize : Query, str or sequence of str, default=("error", "size")
            A cost, then perhaps "size", as in ``best``.
        **constraints : object
            Further keywords of ``best``: ``max_size``, ``max_leaves``, ``max_depth``, ``leaf``, ``require``,
            ``forbid``, ``cost_matrix``, ``class_weight``, ``confidence``, ``leaf_penalty``.

        Returns
        -------
        Tree
            The tree; ``tree.info`` says whether it is proved best among those with the fixed nodes.

        Raises
        ------
        NoTreeError
            If no tree with these nodes satisfies the query.
        QueryError
            If a node cannot ask what is given, or the query has a bound that does not add up over parts of a tree.

        Examples
        --------
        >>> import everytree as et
        >>> space = et.TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
        >>> space.best_with({"": 1, "1": None}).error, space.best().error
        (5, 0)
        """
        return best_with(self, query_of(minimize, **constraints), fixed)

    def node_tests(
        self, steps: Sequence[tuple[int, int]] = (), min_leaf: int | None = None
    ) -> list[NodeTest]:
        """List what a node may ask: its number, its name, and the class counts on its yes-side and its no-side.

        Where nodes choose their own cuts, these are all cuts between neighbouring values of the node's rows, whatever
        bins the trees of the space use.

        Parameters
        ----------
        steps : sequence of (int, int), default=()
            The tests above the node with their outcomes, from the root down.
        min_leaf : int or None, default=None
            The fewest examples on either side; None means that of the space.

        Returns
        -------
        list of NodeTest
            The tests, column by column.
        """
        left = None if self.max_depth is None else self.max_depth - len(steps)
        least = self.min_leaf if min_leaf is None else whole("min_leaf", min_leaf, 1)
        return [] if left == 0 else node_tests(self, rows_at(self, steps), left, least)
