"""Engine: a problem with the core's graph of it, what has been computed before, and the questions that run now.

``TreeSpace`` stands on it; whatever answers a question (``query``, ``bayes``, ``mcmc``) asks the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import numpy.typing as npt

import everytree._core as _core
from everytree.common.limits import Limits
from everytree.data.table import Table
from everytree.engine.estimate import refuse_hopeless
from everytree.engine.problem import Problem
from everytree.errors import LimitReached, QueryError, Wording
from everytree.trees.tree import Tree
from everytree.weights.priors import Prior

__all__ = ["Engine"]


class Engine(Problem):
    """The graph of a problem, built when first asked for, and what was computed on it.

    Attributes
    ----------
    graphs : dict
        The stored graphs, by whether equal covers at different depths are kept apart.
    searches : dict
        The last search for a best tree, which another depth or a later question goes on with.
    probable_searches : dict
        The last search for the most probable tree.
    running : list
        The questions that are being answered now.
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

    def _forget(self) -> None:
        self.graphs: dict[bool, _core.Graph] = {}
        self.searches: dict[Any, tuple[_core.LeafCost, _core.Search]] = {}
        self.probable_searches: dict[Any, _core.ProbableSearch] = {}
        self.running: list[_core.Control] = []

    # --- the graph ---

    def graph(self, by_depth: bool | None = None) -> _core.Graph:
        """The stored graph, built when first asked for.

        ``by_depth`` keeps equal covers at different depths apart; with a depth limit they always are.
        """
        with self.question("building the graph") as control:
            return self.graph_under(control, by_depth)

    def graph_under(self, control: _core.Control, by_depth: bool | None = None) -> _core.Graph:
        """The stored graph, as a part of the question that ``control`` belongs to."""
        by_depth = self.max_depth is not None or bool(by_depth)
        if by_depth not in self.graphs:
            refuse_hopeless(self, control)
            self.graphs[by_depth] = _core.Graph(
                self.core_table(control),
                -1 if self.max_depth is None else self.max_depth,
                self.min_leaf,
                by_depth,
                self.switches["merge"],
                self.switches["frontier"],
                self.n_threads,
                control,
            )
        return self.graphs[by_depth]

    @property
    def n_states(self) -> int:
        """Stored states of the graph: merged covers, without the two bottom levels."""
        return int(self.graph().n_states)

    # --- questions ---

    @contextmanager
    def question(self, what: str) -> Iterator[_core.Control]:
        """One question: one clock for all of it, a way to stop it, and a message that says what was going on."""
        control = self.limits.control()
        self.running.append(control)
        try:
            yield control
        except LimitReached as limit:
            text = limit.wording
            if not isinstance(text, Wording):  # it does not say yet what to try
                text = Wording(text, f" while {what} of {self!r}; ", self.advice())
            raise LimitReached(text, limit.reason) from None
        finally:
            self.running.remove(control)

    def stop(self) -> None:
        """Stop the question being answered, from another thread.

        It ends with ``LimitReached``; ``best`` for one tree ends with the best so far (``tree.info["stop_reason"]``).
        """
        for control in list(self.running):
            control.stop()

    def attributes_for(self, prior: Prior) -> list[int]:
        """The attribute of each test where the prior asks for it, else nothing."""
        if not prior.attribute_fair:
            return []
        if self.attributes is None:
            raise QueryError(
                "an attribute-fair prior needs TreeSpace(..., attributes=...): the number of the attribute behind "
                "each test"
            )
        return self.attributes

    def tree_of(self, key: Sequence[int], info: dict[str, Any] | None = None) -> Tree:
        """The tree of a key, with the counts of the table."""
        table = self._table
        return Tree.from_key(key, table.rows, table.class_counts, None, table.test_names, table.classes, info)

    # --- engines beside this one ---

    def take_over(self, other: Engine) -> None:
        """Use what another engine over the same table has computed, where it holds here too."""
        self._core_table = other._core_table
        if self.n_threads == other.n_threads:
            self.searches = other.searches
        if (self.max_depth, self.min_leaf) == (other.max_depth, other.min_leaf):
            self.graphs = other.graphs

    def subspace(self, max_depth: int | None, min_leaf: int, kept: list[int] | None = None) -> Self:
        """The same examples under tighter bounds, over all tests or those that are kept."""
        if kept is None and max_depth == self.max_depth and min_leaf == self.min_leaf:
            return self
        table, attributes = self._table, self.attributes
        if kept is not None:
            table = Table.trusted(
                table.rows[:, kept], table.class_counts, None, table.classes, distinct=False
            )
            attributes = None
        inner = type(self).__new__(type(self))
        Engine.__init__(
            inner, table, max_depth, min_leaf, self.n_jobs, attributes, self.limits, self.switches
        )
        if kept is None:
            inner._core_table = self._core_table
        return inner

    def at_depth(self, depth: int, limits: Limits) -> Self:
        """The same space under another bound on the depth, and other limits; ``stop`` of this one stops it too."""
        made = super().at_depth(depth, limits)
        made._forget()
        made.running = self.running
        if depth == self.max_depth:
            made.graphs = self.graphs
        return made

    def without_graphs(self) -> Self:
        """A copy to send elsewhere: the core's table travels, the graphs stay here."""
        sent = type(self).__new__(type(self))
        sent.__dict__.update(self.__getstate__())
        sent._core_table = self._core_table
        return sent

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {
            "_core_table": None,
            "graphs": {},
            "searches": {},
            "probable_searches": {},
            "running": [],
            "limits": Limits(self.limits.time_limit, self.limits.memory_limit),
        }
