"""TreeSpace: every decision tree over a set of binary tests, mined once and asked many times.

A tree is in the space if every inner node splits its examples so that both sides keep at least ``min_leaf`` of
them, and no leaf is deeper than ``max_depth``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.answers import answered
from everytree.arguments import whole
from everytree.bayes.most_probable import SWITCHES, most_probable
from everytree.data.table import Table, as_tests
from everytree.errors import DataError, LimitReached, QueryError
from everytree.limits import Limits, Progress, threads
from everytree.plan import Found, Plan, Session, cost_of, front, plan_of, solve
from everytree.posterior import Posterior
from everytree.priors import Prior, SizePrior, as_prior
from everytree.query import Query, query_of
from everytree.search import BOUNDS, certificate
from everytree.strategies import best_by_strategy, check_strategy
from everytree.tree import Tree
from everytree.weights import COSTS, Dirichlet
from everytree.why import why_none

if TYPE_CHECKING:
    from everytree.bayes.collapsed import CollapsedPosterior
    from everytree.bayes.deepening import DepthProfile
    from everytree.estimate import Estimate
    from everytree.near_best import Exact, NearBest

__all__ = ["TreeSpace"]


class TreeSpace:
    """All trees over the columns of a 0/1 matrix.

    Parameters
    ----------
    X : 0/1 matrix, one column per test; columns are taken as they are (see ``Binarizer`` for other data)
    y : labels, one per row
    max_depth : most tests on any path; None for no limit
    min_leaf : fewest examples in a leaf
    sample_weight : whole numbers; a weight is the same as repeating the row
    test_names : names of the columns, for people
    n_jobs : threads; −1 for every core. Results are the same for any number, to the last bit
    attributes : for attribute-fair priors, the number of the attribute behind each test
    classes : all labels in order, if some may be absent from y
    time_limit, memory_limit : seconds for each question, and bytes for what it stores
    progress : called about every 30 ms as ``progress(stage, done, total, seconds)``

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5
    >>> y = [0, 1, 1, 0] * 5
    >>> space = TreeSpace(X, y, max_depth=2)
    >>> space.n_trees
    9
    >>> print(space.best())
    x0?  (0 10, 1 10)
    ├─ yes: x1?  (0 5, 1 5)
    │  ├─ yes: 0  p = 1  (0 5, 1 0)
    │  └─ no:  1  p = 1  (0 0, 1 5)
    └─ no:  x1?  (0 5, 1 5)
       ├─ yes: 1  p = 1  (0 0, 1 5)
       └─ no:  0  p = 1  (0 5, 1 0)
    """

    def __init__(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        max_depth: int | None = 4,
        min_leaf: int = 1,
        sample_weight: npt.ArrayLike | None = None,
        test_names: Sequence[str] | None = None,
        n_jobs: int | None = 1,
        *,
        attributes: npt.ArrayLike | None = None,
        classes: Iterable[Any] | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        from everytree.data.labels import label_codes  # loads scikit-learn

        tests = as_tests(X, test_names)
        if test_names is None:
            test_names = _column_names(X)
        if len(tests) == 0:
            raise DataError("the data hold 0 examples; a space needs at least one row")
        codes, labels = label_codes(y, len(tests), classes)
        table = Table.from_arrays(
            tests, codes, len(labels), sample_weight, test_names=test_names, classes=labels
        )
        self._set(table, max_depth, min_leaf, n_jobs, attributes, Limits(time_limit, memory_limit, progress))

    @classmethod
    def from_table(
        cls,
        table: Table,
        max_depth: int | None = 4,
        min_leaf: int = 1,
        n_jobs: int | None = 1,
        *,
        attributes: npt.ArrayLike | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        progress: Progress | None = None,
    ) -> TreeSpace:
        """The space of a count table."""
        space = cls.__new__(cls)
        space._set(table, max_depth, min_leaf, n_jobs, attributes, Limits(time_limit, memory_limit, progress))
        return space

    def _set(
        self,
        table: Table,
        max_depth: int | None,
        min_leaf: int,
        n_jobs: int | None,
        attributes: npt.ArrayLike | None,
        limits: Limits,
        switches: dict[str, bool] | None = None,
    ) -> None:
        self.max_depth = None if max_depth is None else whole("max_depth", max_depth, 0, none="no limit")
        self.min_leaf = whole("min_leaf", min_leaf, 1)
        if table.total == 0:
            raise DataError("the data hold 0 examples; a space needs at least one row of weight above 0")
        if table.total < self.min_leaf:
            raise QueryError(
                f"n_samples={table.total} is fewer than min_leaf={self.min_leaf}: no tree exists; "
                "lower min_leaf or give more rows"
            )
        self._table = table
        self.n_jobs = n_jobs
        self.limits = limits
        self._threads = threads(n_jobs)
        self._attributes = None if attributes is None else _attribute_numbers(attributes, table.n_tests)
        # For people: ``require`` and ``forbid`` name attributes.
        self._attribute_names = (
            None if attributes is None else [str(a) for a in np.asarray(attributes).tolist()]
        )
        # Fast paths that tests turn off one by one: merging of states, the two-level frontier, linear tables, and the
        # bounds of the searches.
        names = ("merge", "frontier", "linear", *BOUNDS, *SWITCHES)
        self._switches = dict.fromkeys(names, True) | (switches or {})
        self._core_table: _core.CountTable | None = None
        self._graphs: dict[bool, _core.Graph] = {}
        self._searches: dict[Any, tuple[_core.LeafCost, _core.Search]] = {}  # the last one
        self._probable: dict[Any, _core.ProbableSearch] = {}  # the last one
        self._running: list[_core.Control] = []  # questions being answered now

    # --- what it is ---

    @property
    def table(self) -> Table:
        """The distinct rows with their class counts."""
        return self._table

    @property
    def n_tests(self) -> int:
        return self._table.n_tests

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels, in the order of all class probabilities."""
        return self._table.classes or tuple(range(self._table.n_classes))

    @property
    def test_names(self) -> tuple[str, ...] | None:
        return self._table.test_names

    def __repr__(self) -> str:
        return (
            f"TreeSpace({self._table.total} examples, {self.n_tests} tests, {len(self.classes)} classes, "
            f"max_depth={self.max_depth}, min_leaf={self.min_leaf})"
        )

    # --- the graph ---

    def _counts(self, control: _core.Control | None = None) -> _core.CountTable:
        """The table as the core sees it. Without a control it takes its time: a search needs it for any answer."""
        if self._core_table is None:
            self._core_table = _core.CountTable(
                np.ascontiguousarray(self._table.rows),
                np.ascontiguousarray(self._table.class_counts),
                replace(self.limits, time_limit=None).control() if control is None else control,
            )
        return self._core_table

    def graph(self, by_depth: bool | None = None) -> _core.Graph:
        """The stored graph, built when first asked for.

        ``by_depth`` keeps equal covers at different depths apart; with a depth limit they always are.
        """
        with self._question("building the graph") as control:
            return self._graph(control, by_depth)

    def _graph(self, control: _core.Control, by_depth: bool | None = None) -> _core.Graph:
        from everytree.estimate import refuse_hopeless

        by_depth = self.max_depth is not None or bool(by_depth)
        if by_depth not in self._graphs:
            refuse_hopeless(self, control)
            self._graphs[by_depth] = _core.Graph(
                self._counts(control),
                -1 if self.max_depth is None else self.max_depth,
                self.min_leaf,
                by_depth,
                self._switches["merge"],
                self._switches["frontier"],
                self._threads,
                control,
            )
        return self._graphs[by_depth]

    @contextmanager
    def _question(self, what: str) -> Iterator[_core.Control]:
        """One question: one clock for all of it, a way to stop it, and a message that says what was going on."""
        control = self.limits.control()
        self._running.append(control)
        try:
            yield control
        except LimitReached as limit:
            text = str(limit)
            if "try max_depth" not in text:
                text = f"{text} while {what} of {self!r}; {self._advice()}"
            raise LimitReached(text, limit.reason) from None
        finally:
            self._running.remove(control)

    def stop(self) -> None:
        """Stop the question being answered, from another thread.

        It ends with ``LimitReached``; ``best`` for one tree ends with the best so far (``tree.info["stop_reason"]``).
        """
        for control in list(self._running):
            control.stop()

    @property
    def n_states(self) -> int:
        """Stored states of the graph: merged covers, without the two bottom levels."""
        return int(self.graph().n_states)

    def estimate(self) -> Estimate:
        """About how many states, bytes and seconds the posterior would take, in a fraction of a second.

        An estimate, not a promise: from random descents and a short measurement on this machine.
        """
        from everytree.estimate import estimate

        return estimate(self, replace(self.limits, time_limit=None).control())

    def estimate_states(self) -> float:
        """About how many states the graph stores, by random descents."""
        from everytree.estimate import estimate

        return estimate(self, replace(self.limits, time_limit=None).control(), measure=False).states

    def _advice(self, depth: int | None = None) -> str:
        if depth is None:
            depth = 4 if self.max_depth is None or self.max_depth > 4 else max(1, self.max_depth - 1)
        return f"try max_depth={depth} or min_leaf={max(20, 2 * self.min_leaf)}, or fewer tests"

    # --- questions ---

    @property
    def n_trees(self) -> int:
        """The exact number of trees in the space."""
        with self._question("counting the trees") as control:
            return int.from_bytes(self._graph(control).count(control), "little")

    @property
    def log_n_trees(self) -> float:
        """Natural logarithm of the number of trees."""
        n = self.n_trees
        shift = max(0, n.bit_length() - 64)
        return math.log(n >> shift) + shift * math.log(2)

    def best(
        self,
        minimize: Query | Sequence[str] | str = ("error", "size"),
        *,
        k: int | None = None,
        max_size: int | None = None,
        max_leaves: int | None = None,
        max_depth: int | None = None,
        max_error: float | Mapping[str, float] | None = None,
        min_accuracy: float | None = None,
        leaf: Any = None,
        require: Any = None,
        forbid: Any = None,
        cost_matrix: npt.ArrayLike | None = None,
        class_weight: Any = None,
        confidence: float = 0.25,
        leaf_penalty: float = 0.0,
        strategy: str = "auto",
    ) -> Any:
        """The best tree under a ranking and constraints, or the ``k`` best in order.

        Parameters
        ----------
        minimize : a ``Query``, or the criteria in order: at least one of error, expected_error, gini, entropy, cost;
            and size, depth
        k : with k > 1, the k best trees as a list
        max_size, max_leaves, max_depth : bounds on the tree
        max_error : bound on the first cost in ``minimize``, or a dict of bounds by cost
        min_accuracy : least share of the examples in the largest class of their leaf
        leaf : fewest examples in a leaf, or ``Support``, ``Margin``, ``ChiSquare``, or a list of these
        require, forbid : tests or attributes that the tree must use, or must not use
        cost_matrix : for ``cost``: entry (c, k) is the cost of saying k when c is true
        class_weight : what an error on each class counts in ``error``: a dict by label, a list, or "balanced"
        confidence : of ``expected_error``
        leaf_penalty : a price per leaf, added to the first cost
        strategy : "auto", the engine; or a way of DL8 to build the itemset lattice: simple, frequent, apriori, eclat,
            closed. These answer the plain query for the least cost, and ``tree.info`` says what they stored

        A leaf says the class that costs least in the first cost of ``minimize``: see ``tree.says``.

        Raises ``NoTreeError`` (a ``QueryError``) when no tree satisfies the query; the message names the tightest
        constraint.

        Examples
        --------
        >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
        >>> space.best(("size", "error"), min_accuracy=0.7).size
        5
        """
        query = query_of(
            minimize, max_size=max_size, max_leaves=max_leaves, max_depth=max_depth, max_error=max_error,
            min_accuracy=min_accuracy, leaf=leaf, require=require, forbid=forbid, cost_matrix=cost_matrix,
            class_weight=class_weight, confidence=confidence, leaf_penalty=leaf_penalty,
        )  # fmt: skip
        wanted = 1 if k is None else whole("k", k, 1)
        plan = plan_of(query, self)
        how = "" if check_strategy(strategy) == "auto" else f" by strategy {strategy!r}"
        with self._question("finding the best tree" + how) as control:
            session = Session(self, control)
            info: dict[str, Any] = {}
            if strategy == "auto":
                found = solve(session, plan, wanted, anytime=True)
            else:
                found, info = best_by_strategy(session, plan, wanted, strategy)
            trees = self._answers(session, query, plan, found, wanted > 1, info)
        return trees[0] if k is None or k == 1 else trees

    def _answers(
        self, session: Session, query: Query, plan: Plan, found: list[Found], many: bool, info: dict[str, Any]
    ) -> list[Tree]:
        """The trees that were found, with what is known of them; of one alone also how sure it is the best."""
        if not found:
            raise why_none(session, plan)
        cost = cost_of(plan, query.cost, self)
        trees = []
        for each in found:
            if many:
                session.control.check()
            objective = each.values[query.cost]
            proof = {} if many else certificate(objective) | dict(each.proof)
            facts = {"objective": objective} | each.others(query.cost) | proof | info
            trees.append(answered(self._tree(each.key, facts), cost))
        return trees

    def front(
        self,
        cost: str = "error",
        cost_matrix: npt.ArrayLike | None = None,
        *,
        by: str = "size",
        max_size: int | None = None,
        max_leaves: int | None = None,
        max_depth: int | None = None,
        max_error: float | Mapping[str, float] | None = None,
        min_accuracy: float | None = None,
        leaf: Any = None,
        require: Any = None,
        forbid: Any = None,
        class_weight: Any = None,
        confidence: float = 0.25,
    ) -> list[tuple[int, float, Tree]]:
        """The least cost for every size (or number of leaves, or depth): (size, cost, tree), smallest first.

        Entries that a smaller tree equals or beats are left out. The constraints are those of ``best`` and hold for
        every tree.
        """
        if by not in ("size", "leaves", "depth"):
            raise QueryError(f"by={by!r}; a front runs over 'size', 'leaves' or 'depth'")
        if cost not in COSTS:
            raise QueryError(f"{cost!r} is not a cost of leaves; expected one of {', '.join(COSTS)}")
        query = query_of(
            cost, max_size=max_size, max_leaves=max_leaves, max_depth=max_depth, max_error=max_error,
            min_accuracy=min_accuracy, leaf=leaf, require=require, forbid=forbid, cost_matrix=cost_matrix,
            class_weight=class_weight, confidence=confidence,
        )  # fmt: skip
        along = "depth" if by == "depth" else "size"
        plan = replace(plan_of(query, self), rank=(along, cost))
        with self._question("finding the front") as control:
            session = Session(self, control)
            points = front(session, plan, along)
            if not points:
                raise why_none(session, plan)
        counted = cost_of(plan, cost, self)
        return [
            (
                {"size": 2 * point.leaves - 1, "leaves": point.leaves, "depth": point.depth}[by],
                point.values[cost],
                answered(self._tree(point.key, {cost: point.values[cost]}), counted),
            )
            for point in points
        ]

    def posterior(self, prior: Prior | str | None = None, dirichlet: Dirichlet = 1.0) -> Posterior:
        """The posterior over every tree of the space; ``prior`` defaults to ``SizePrior(0.8, 0.8)``."""
        return Posterior(self, SizePrior() if prior is None else as_prior(prior), dirichlet)

    def deepen(
        self,
        prior: Prior | str | None = None,
        dirichlet: Dirichlet = 1.0,
        X: npt.ArrayLike | None = None,
        max_depth: int | None = None,
    ) -> DepthProfile:
        """The posteriors of depth 1, 2, … up to ``max_depth`` (default: that of the space), each kept when finished.

        At a limit the profile holds the depths that were finished, and says why it stopped; ``time_limit`` counts for
        all depths together. Without a depth limit it ends where no deeper tree exists. ``X`` are the rows whose
        predictions are watched from depth to depth; by default the distinct training rows. Predictions take much
        longer than the evidence: an ``X`` without rows leaves them out, and so does a time limit of which they would
        take more than a quarter.
        """
        from everytree.bayes.deepening import deepen

        return deepen(self, prior, dirichlet, X, max_depth)

    def most_probable(self, prior: Prior | str | None = None, dirichlet: Dirichlet = 1.0) -> Tree:
        """The most probable tree, by a search that needs no depth limit; ``prior`` as in ``posterior``.

        ``tree.info`` holds ``log_joint``, ``upper_bound`` (no tree has a larger log joint), ``gap`` between the two,
        ``optimal`` and ``stop_reason``. At a limit the answer is the best tree so far; asking again goes on from there.

        Examples
        --------
        >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=None)
        >>> tree = space.most_probable()
        >>> tree.n_leaves, tree.info["optimal"], round(tree.info["log_joint"], 3)
        (4, True, -9.639)
        """
        return most_probable(self, SizePrior() if prior is None else as_prior(prior), dirichlet)

    def collapsed(
        self, prior: Prior | str | None = None, dirichlet: Dirichlet = 1.0, *, n_draws: int = 2000, n_chains: int = 4,
        burn_in: int = 500, thin: int = 1, random_state: int | np.random.Generator | None = None,
    ) -> CollapsedPosterior:  # fmt: skip
        """The posterior by sampling, for spaces too large to fold: see ``CollapsedPosterior``. Never exact."""
        from everytree.bayes.collapsed import CollapsedPosterior

        return CollapsedPosterior(self, prior, dirichlet, n_draws, n_chains, burn_in, thin, random_state)

    def near_best(
        self, epsilon: Exact = 0.05, leaf_penalty: Exact = 0.01, *, dirichlet: Dirichlet | None = None
    ) -> NearBest:
        """Every tree whose objective is at most (1 + ``epsilon``) times the best.

        The objective is errors / n + ``leaf_penalty`` · leaves. Numbers are taken exactly as given: 0.01 is the float
        next to one hundredth; ``Fraction(1, 100)`` and ``Decimal("0.01")`` are one hundredth. ``dirichlet`` sets the
        class probabilities of the trees' leaves, one number or one per class; None gives the frequencies.
        """
        from everytree.near_best import NearBest

        return NearBest(self, epsilon, leaf_penalty, dirichlet)

    # --- helpers ---

    def _attributes_for(self, prior: Prior) -> list[int]:
        """The attribute of each test where the prior asks for it, else nothing."""
        if not prior.attribute_fair:
            return []
        if self._attributes is None:
            raise QueryError(
                "an attribute-fair prior needs TreeSpace(..., attributes=...): the number of the attribute behind "
                "each test"
            )
        return self._attributes

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {
            "_core_table": None,
            "_graphs": {},
            "_searches": {},
            "_probable": {},
            "_running": [],
            "limits": Limits(self.limits.time_limit, self.limits.memory_limit),
        }

    def _tree(self, key: Sequence[int], info: dict[str, Any] | None = None) -> Tree:
        table = self._table
        return Tree.from_key(
            key, table.rows, table.class_counts, None, table.test_names, table.classes, info
        )  # fmt: skip

    def _take_over(self, other: TreeSpace) -> None:
        """Use what another space over the same table has computed, where it holds here too."""
        self._core_table = other._core_table
        if self._threads == other._threads:
            self._searches = other._searches
        if (self.max_depth, self.min_leaf) == (other.max_depth, other.min_leaf):
            self._graphs = other._graphs

    def _subspace(self, max_depth: int | None, min_leaf: int, kept: list[int] | None = None) -> TreeSpace:
        """The same examples under tighter limits, over all tests or those that are kept."""
        if kept is None and max_depth == self.max_depth and min_leaf == self.min_leaf:
            return self
        table, attributes = self._table, self._attributes
        if kept is not None:
            table = Table(table.rows[:, kept], table.class_counts, classes=table.classes)
            attributes = None
        space = TreeSpace.__new__(TreeSpace)
        space._set(table, max_depth, min_leaf, self.n_jobs, attributes, self.limits, self._switches)
        if kept is None:
            space._core_table = self._core_table
        return space

    def _at_depth(self, depth: int, limits: Limits) -> TreeSpace:
        """The same space with another depth limit, under other limits; ``stop`` of this space stops it too."""
        space = TreeSpace.__new__(TreeSpace)
        space._set(self._table, depth, self.min_leaf, self.n_jobs, self._attributes, limits, self._switches)
        space._attribute_names, space._running = self._attribute_names, self._running
        space._core_table = self._core_table
        if depth == self.max_depth:
            space._graphs = self._graphs
        return space


def _column_names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    return [str(name) for name in columns]


def _attribute_numbers(attributes: npt.ArrayLike, n_tests: int) -> list[int]:
    values = np.asarray(attributes)
    if values.shape != (n_tests,):
        raise QueryError(
            f"attributes has shape {values.shape}; expected one entry for each of the {n_tests} tests"
        )
    return [int(k) for k in np.unique(values, return_inverse=True)[1]]
