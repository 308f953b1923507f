"""Engine: a problem, the core's graph of it, the searches that later questions continue, and the questions running now.

``TreeSpace`` is built on it; the modules that answer questions (in ``query``, ``bayes`` and ``mcmc``) take an engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy.typing as npt

import everytree._core as _core
from everytree.common.limits import Limits
from everytree.data.table import Table
from everytree.data.table_codes import only_tests
from everytree.engine.counted_tree import counted_tree
from everytree.engine.estimate import refuse_hopeless
from everytree.engine.offered import LocalCuts
from everytree.engine.problem import Problem
from everytree.errors import LimitReached, QueryError, Wording
from everytree.trees.answers import in_examples
from everytree.trees.tree import Tree
from everytree.weights.priors import Prior, as_prior

__all__ = ["Engine"]


class Engine(Problem):
    """A problem with its graph, which is built at the first question that needs it, and the searches run on it so far.

    Attributes
    ----------
    graphs : dict
        The stored graphs, by whether equal covers at different depths are kept apart.
    searches : dict
        The latest search for a best tree; a question with another depth, or the same question again, continues it.
    probable_searches : dict
        The latest search for the most probable tree, which the same question continues.
    running : list
        The controls of the questions that are being answered now.
    """

    def __init__(
        self,
        table: Table,
        max_depth: int | None,
        min_leaf: int,
        n_jobs: int | None,
        attributes: npt.ArrayLike | None,
        limits: Limits,
        switches: Mapping[str, bool] | None = None,
    ) -> None:
        super().__init__(table, max_depth, min_leaf, n_jobs, attributes, limits, switches)
        self._forget()
        limits.give_back()  # what reading left

    def _forget(self) -> None:
        self.graphs: dict[bool, _core.Graph] = {}
        self.searches: dict[Any, tuple[_core.LeafCost, _core.Search]] = {}
        self.probable_searches: dict[Any, _core.ProbableSearch] = {}
        self.running: list[_core.Control] = []

    # --- the graph ---

    def graph(self, by_depth: bool | None = None) -> _core.Graph:
        """Return the stored graph; it is built at the first call.

        Parameters
        ----------
        by_depth : bool or None, default=None
            Whether equal covers at different depths are kept apart; with a depth limit they always are.

        Returns
        -------
        _core.Graph
            The graph that all folds run on.
        """
        with self.question("building the graph") as control:
            return self.graph_under(control, by_depth)

    def graph_under(self, control: _core.Control, by_depth: bool | None = None) -> _core.Graph:
        """Return the stored graph, building it under the clock of a question that is already running.

        Parameters
        ----------
        control : _core.Control
            The control of the running question: its limits, and the way to stop it.
        by_depth : bool or None, default=None
            Whether equal covers at different depths are kept apart; with a depth limit they always are.

        Returns
        -------
        _core.Graph
            The graph that all folds run on.
        """
        by_depth = self.max_depth is not None or bool(by_depth)
        if by_depth not in self.graphs:
            self.make_rows(control)
            refuse_hopeless(self, control)
            self.graphs[by_depth] = _core.Graph(
                self.core_table(control),
                -1 if self.max_depth is None else self.max_depth,
                self.min_count,
                by_depth,
                self.switches["merge"],
                self.switches["frontier"],
                self.n_threads,
                control,
            )
        return self.graphs[by_depth]

    @property
    def n_states(self) -> int:
        """The number of states that the graph stores: merged covers, without the two bottom levels."""
        return int(self.graph().n_states)

    # --- questions ---

    @contextmanager
    def question(self, what: str) -> Iterator[_core.Control]:
        """Run one question: all of it shares one clock, ``stop`` ends it, and errors say what it was doing.

        Parameters
        ----------
        what : str
            What the question does, as in "while counting the trees of …", for the message at a limit.

        Yields
        ------
        _core.Control
            The control that every call of the core takes: it checks the limits and reports progress.

        Raises
        ------
        LimitReached
            If a limit ends the block; the message says what was going on and what to try.
        """
        control = self.limits.control()
        self.running.append(control)
        try:
            yield control
        except LimitReached as limit:
            text = limit.wording
            if not isinstance(text, Wording):  # the message does not say yet what to try
                text = Wording(text, f" while {what} of {self!r}; ", self.advice())
            raise LimitReached(text, limit.reason) from None
        finally:
            self.running.remove(control)

    def stop(self) -> None:
        """Stop the questions being answered now; call it from another thread.

        They end with ``LimitReached``, except ``best`` for one tree, which returns the best tree so far, with the
        reason in ``tree.info["stop_reason"]``.
        """
        for control in list(self.running):
            control.stop()

    def attributes_for(self, prior: Prior) -> list[int]:
        """Return the attribute of each test where the prior needs it, else an empty list.

        Parameters
        ----------
        prior : Prior
            The prior; only an attribute-fair one needs the attributes.

        Returns
        -------
        list of int
            For each test the number of its attribute, or nothing.

        Raises
        ------
        QueryError
            If the prior needs the attributes and the space was made without them.
        """
        if not prior.attribute_fair:
            return []
        if self.attributes is None:
            raise QueryError(
                "an attribute-fair prior needs TreeSpace(..., attributes=...): the number of the attribute behind "
                "each test"
            )
        return self.attributes

    def prior_of(self, prior: Prior | str | None) -> Prior:
        """Return the prior that is meant: a prior object as it is, or that of a name, ``SizePrior`` for None.

        A prior by name is attribute-fair where states choose their own cuts: there a column with many cuts must not
        weigh more than one with few.

        Parameters
        ----------
        prior : Prior, str or None
            The prior, or its name.

        Returns
        -------
        Prior
            The prior.

        Raises
        ------
        QueryError
            If no prior has this name.
        """
        fair = self.table.columns is not None and self.attributes is not None
        return as_prior("size" if prior is None else prior, fair)

    def tree_of(
        self, key: Sequence[int], info: dict[str, Any] | None = None, within: int | None = None
    ) -> Tree:
        """Make a ``Tree`` of a key, with the counts and names of the table.

        Parameters
        ----------
        key : sequence of int
            The tests of the tree in preorder, -1 for a leaf.
        info : dict or None, default=None
            What is known of the tree, for ``tree.info``.
        within : int or None, default=None
            The most tests on any path of the space that the tree was found in, where that is less than here; it
            matters where nodes choose their own cuts.

        Returns
        -------
        Tree
            The tree, with the class counts of every node.
        """
        table = self._table
        tree = in_examples(counted_tree(key, table, info), table.per_example)
        if table.columns is None:
            return tree
        upper, asks = self.local_cuts.of_tree(tree.key, self.max_depth if within is None else within)
        return tree.replace(upper=upper, asks=asks)

    @cached_property
    def local_cuts(self) -> LocalCuts:
        """The cuts that states choose, for a space whose cuts are local."""
        return LocalCuts(self._table)

    def refuse_local(self, what: str) -> None:
        """Refuse a question that has no answer where states choose their own cuts.

        Parameters
        ----------
        what : str
            What was asked for, in words that begin the message.

        Raises
        ------
        QueryError
            If the cuts of this space are local.
        """
        if self._table.columns is not None:
            raise QueryError(
                f'{what} needs the same tests in every node, and with cuts="local" every node has its own; use '
                'cuts="global"'
            )

    def check_offered(self, key: Sequence[int]) -> None:
        """Check that every node of a tree asks what its state offers, where states choose their own cuts.

        Parameters
        ----------
        key : sequence of int
            The tests of the tree in preorder, -1 for a leaf.

        Raises
        ------
        DataError
            If a node asks anything else.
        """
        if self._table.columns is not None:
            self.local_cuts.of_tree(key, self.max_depth, self.min_count)

    # --- engines beside this one ---

    def take_over(self, other: Engine) -> None:
        """Share what another engine over the same table has computed, where it is valid for this one too.

        Parameters
        ----------
        other : Engine
            An engine over the same table.
        """
        self._core_table = other._core_table
        if self.n_threads == other.n_threads:
            self.searches = other.searches
        if (self.max_depth, self.min_count) == (other.max_depth, other.min_count):
            self.graphs = other.graphs

    def forget_searches(self) -> None:
        """Give back the memory of what searches have learned: later questions begin anew."""
        self.searches.clear()
        self.probable_searches.clear()
        self.limits.give_back()

    def subspace(self, max_depth: int | None, min_count: int, kept: list[int] | None = None) -> Self:
        """Return an engine over the same examples with tighter bounds, over all tests or some of them.

        Parameters
        ----------
        max_depth : int or None
            The most tests on any path; None means no limit.
        min_count : int
            The fewest counts in a leaf; where weights have no fractions, the fewest examples.
        kept : list of int or None, default=None
            The columns of the tests to keep; None keeps all of them.

        Returns
        -------
        Engine
            The engine itself where nothing changes, else a new one.
        """
        if kept is None and max_depth == self.max_depth and min_count == self.min_count:
            return self
        table, attributes = self._table, self.attributes
        if kept is not None:
            table, attributes = only_tests(table, kept), None
        inner = type(self).__new__(type(self))
        min_leaf = max(1, min_count // table.per_example)
        Engine.__init__(
            inner, table, max_depth, min_leaf, self.n_jobs, attributes, self.limits, self.switches
        )
        inner.min_count = min_count
        inner.reads_frames = self.reads_frames
        if kept is None:
            inner._core_table = self._core_table
        return inner

    def at_depth(self, depth: int | None, limits: Limits) -> Self:
        """Return the same space with another bound on the depth and other limits; ``stop`` of this one stops it too.

        Parameters
        ----------
        depth : int or None
            The most tests on any path; None means no limit.
        limits : Limits
            The seconds and bytes for each question, and the function that shows progress.

        Returns
        -------
        Engine
            The new engine, which shares the table and, at the same depth, the graphs.
        """
        made = super().at_depth(depth, limits)
        made._forget()
        made.running = self.running
        if depth == self.max_depth:
            made.graphs = self.graphs
        return made

    def without_graphs(self) -> Self:
        """Return a copy to send to another process: it has the core's table, and none of the graphs.

        Returns
        -------
        Engine
            The copy.
        """
        sent = type(self).__new__(type(self))
        sent.__dict__.update(self.__getstate__())
        sent._core_table = self._core_table
        return sent

    def __getstate__(self) -> dict[str, Any]:
        known = {name: value for name, value in self.__dict__.items() if name != "local_cuts"}
        return known | {
            "_core_table": None,
            "graphs": {},
            "searches": {},
            "probable_searches": {},
            "running": [],
            "_limits": replace(self.limits, progress=None),
        }
