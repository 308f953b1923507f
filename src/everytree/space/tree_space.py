"""TreeSpace: every decision tree over a set of binary tests, mined once and asked many times.

A tree is in the space if every inner node splits its examples so that both sides keep at least ``min_leaf`` of
them, and no leaf is deeper than ``max_depth``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.collapsed import CollapsedPosterior
from everytree.bayes.deepening import DepthProfile, deepen
from everytree.bayes.most_probable import most_probable
from everytree.bayes.posterior import Posterior
from everytree.common.arguments import refused, renamed, whole
from everytree.common.limits import Limits, Progress
from everytree.data.arrays import as_tests
from everytree.data.labels import label_codes
from everytree.data.table import Table
from everytree.engine.engine import Engine
from everytree.engine.estimate import Estimate, estimate
from everytree.errors import DataError, QueryError
from everytree.query.best import best_trees, front_of
from everytree.query.itemsets import ItemsetDatabase, mined_from
from everytree.query.near_best import Exact, NearBest
from everytree.query.paths import PathPredicate, paths_of
from everytree.query.query import Query, query_of
from everytree.space.fixed_space import FixedSpace
from everytree.trees.tree import Tree
from everytree.weights.cost_words import COSTS
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior

__all__ = ["TreeSpace"]


class TreeSpace(FixedSpace):
    """All decision trees over the columns of a 0/1 matrix, which can be searched, counted and averaged.

    The graph behind the answers is built once, at the first question that needs it, and serves every later question.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_tests)
        The 0/1 matrix, one column per test. Columns are taken as they are; ``Binarizer`` makes them of other data.
    y : array-like of shape (n_rows,)
        The labels, one per row.
    max_depth : int or None, default=4
        The most tests on any path from the root to a leaf; None means no limit.
    min_leaf : int, default=1
        The fewest examples that a leaf may hold.
    sample_weight : array-like or None, default=None
        How much each row counts: a weight of 3 is the same as giving the row three times; fractions are allowed.
    test_names : sequence of str or None, default=None
        The names of the columns, used wherever a tree is printed; a data frame brings its own.
    n_jobs : int or None, default=1
        The number of threads; -1 means every core. Answers are the same for any number, to the last bit.
    attributes : array-like or None, default=None
        For each test, the number or name of the attribute (original column) it was made from. Attribute-fair priors,
        ``require`` and ``forbid`` use it.
    classes : iterable or None, default=None
        All labels in order; needed only if some of them may be absent from ``y``.
    time_limit : float or None, default=None
        The most seconds that one question may take; None means no limit.
    memory_limit : int or None, default=None
        The most bytes that one question may store; None means three quarters of the machine's memory.
    progress : callable or None, default=None
        A function that is called about every 30 ms as ``progress(stage, done, total, seconds)``.

    Raises
    ------
    DataError
        If ``X`` is not a 0/1 matrix, has no rows, or does not fit ``y``.
    QueryError
        If a parameter is out of its range, or fewer than ``min_leaf`` examples are given.

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
        tests = as_tests(X, test_names)
        if test_names is None:
            test_names = _column_names(X)
        if len(tests) == 0:
            raise DataError("the data hold 0 examples; a space needs at least one row")
        codes, labels = label_codes(y, len(tests), classes)
        table = Table.from_arrays(
            tests, codes, len(labels), sample_weight, test_names=test_names, classes=labels
        )
        super().__init__(
            table, max_depth, min_leaf, n_jobs, attributes, Limits(time_limit, memory_limit, progress)
        )

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
        """Make a space of a count table: distinct rows with the number of examples of each class.

        Parameters
        ----------
        table : Table
            The distinct rows and their class counts, with the names of tests and classes.
        max_depth : int or None, default=4
            The most tests on any path from the root to a leaf; None means no limit.
        min_leaf : int, default=1
            The fewest examples that a leaf may hold.
        n_jobs : int or None, default=1
            The number of threads; -1 means every core.
        attributes : array-like or None, default=None
            For each test, the number or name of the attribute it was made from.
        time_limit : float or None, default=None
            The most seconds that one question may take; None means no limit.
        memory_limit : int or None, default=None
            The most bytes that one question may store; None means three quarters of the machine's memory.
        progress : callable or None, default=None
            A function that is called about every 30 ms as ``progress(stage, done, total, seconds)``.

        Returns
        -------
        TreeSpace
            The space of all trees over the tests of the table.
        """
        space = cls.__new__(cls)
        limits = Limits(time_limit, memory_limit, progress)
        Engine.__init__(space, table, max_depth, min_leaf, n_jobs, attributes, limits)
        return space

    def estimate(self) -> Estimate:
        """Estimate how many states, bytes and seconds the posterior would take; this takes a fraction of a second.

        The numbers come from random descents through the space and a short measurement on this machine. They are
        mostly within a factor of three of the truth, and never a promise.

        Returns
        -------
        Estimate
            The estimated size and time, and whether they are far beyond the limits of the space.
        """
        return estimate(self, replace(self.limits, time_limit=None).control())

    def estimate_states(self) -> float:
        """Estimate how many states the graph of the space would store, by random descents.

        Returns
        -------
        float
            The estimated number of states.
        """
        return estimate(self, replace(self.limits, time_limit=None).control(), measure=False).states

    # --- questions ---

    @property
    def n_trees(self) -> int:
        """The exact number of trees in the space."""
        with self.question("counting the trees") as control:
            return int.from_bytes(self.graph_under(control).count(control), "little")

    @property
    def log_n_trees(self) -> float:
        """The natural logarithm of the number of trees, for numbers that no float can hold."""
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
        paths: PathPredicate | None = None,
    ) -> Any:
        """Find the best tree under a ranking and constraints, or the ``k`` best in order.

        A leaf predicts the class that costs least in the first cost of ``minimize``: see ``tree.says``. If a limit of
        the space ends the search for one tree, the best tree so far is returned; ``tree.info["optimal"]`` says whether
        it is proved best, and ``tree.info["gap"]`` how far it may be from the best.

        Parameters
        ----------
        minimize : Query, str or sequence of str, default=("error", "size")
            The criteria, most important first: at least one cost (error, expected_error, gini, entropy, cost), and
            size or depth. A ``Query`` holds them together with all constraints.
        k : int or None, default=None
            The number of trees; with k > 1 the answer is a list.
        max_size : int or None, default=None
            The most nodes (inner nodes and leaves) of a tree.
        max_leaves : int or None, default=None
            The most leaves of a tree.
        max_depth : int or None, default=None
            The most tests on any path; the limit of the space holds too.
        max_error : float, dict or None, default=None
            The largest value of the first cost in ``minimize``, or a dict of such bounds by the name of the cost.
        min_accuracy : float or None, default=None
            The smallest share of the training examples that are in the largest class of their leaf, between 0 and 1.
        leaf : int, Support, Margin, ChiSquare, list of these or None, default=None
            What every leaf must satisfy; a number is the fewest examples in it.
        require : str, int, sequence of these or None, default=None
            Columns, or names of tests or attributes, that the tree must use; an attribute stands for any of its tests.
        forbid : str, int, sequence of these or None, default=None
            Columns, or names of tests or attributes, that the tree must not use; an attribute stands for all of its
            tests.
        cost_matrix : array-like or None, default=None
            For the cost "cost": entry (c, k) is the cost of predicting class k when class c is true.
        class_weight : dict, sequence, "balanced" or None, default=None
            What an error on each class counts in "error": a dict by label, or a list in the order of ``classes``.
        confidence : float, default=0.25
            The confidence level of "expected_error", as in C4.5; smaller values are more pessimistic.
        leaf_penalty : float, default=0.0
            A price for each leaf, added to the first cost.
        strategy : str, default="auto"
            How the tree is searched: "auto" uses the engine; "simple", "frequent", "apriori", "eclat", "closed",
            "eclat_frequent" and "closed_frequent" build the itemset lattice as DL8 does. The answers are the same, and
            ``tree.info`` holds the number of itemsets they stored.
        paths : callable or None, default=None
            A constraint of your own, for the strategies that build the lattice: a function that gets the examples of
            each class at a node, as a tuple of numbers, and says whether the node may be in a tree. It must be
            anti-monotone: what holds for some counts holds for all that are no smaller.

        Returns
        -------
        Tree or list of Tree
            The best tree, or with k > 1 a list of at most ``k`` trees, best first.

        Raises
        ------
        NoTreeError
            If no tree satisfies the query; the message names the tightest constraint.
        QueryError
            If a criterion or a constraint makes no sense, or ``paths`` turns out not to be anti-monotone.
        LimitReached
            If a limit of the space is reached before there is any answer.

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
        trees = best_trees(self, query, 1 if k is None else whole("k", k, 1), strategy, paths_of(paths))
        return trees[0] if k is None or k == 1 else trees

    def mine(self, *, extend_pure: bool = False, paths: PathPredicate | None = None) -> ItemsetDatabase:
        """Mine the itemsets that trees of the space may contain, to ask them later and elsewhere.

        Parameters
        ----------
        extend_pure : bool, default=False
            Whether itemsets of one class are extended too, which the k best trees and required tests need.
        paths : callable or None, default=None
            A constraint on the class counts of every itemset, as in ``best``.

        Returns
        -------
        ItemsetDatabase
            The itemsets with their class counts; ``best`` asks them, ``save`` writes them.

        Raises
        ------
        LimitReached
            If a limit of the space is reached.
        NoTreeError
            If ``paths`` turns down all examples together.
        QueryError
            If ``paths`` turns out not to be anti-monotone.

        Examples
        --------
        >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
        >>> space.mine().best().error
        0
        """
        return mined_from(self, extend_pure, paths_of(paths))

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
        """Find the least cost for every size, number of leaves or depth.

        Entries that a smaller tree equals or beats are left out. The constraints hold for every tree.

        Parameters
        ----------
        cost : str, default="error"
            The cost to minimize: error, expected_error, gini, entropy or cost.
        cost_matrix : array-like or None, default=None
            For the cost "cost": entry (c, k) is the cost of predicting class k when class c is true.
        by : str, default="size"
            What the front runs over: "size" (nodes), "leaves" or "depth".
        max_size : int or None, default=None
            The most nodes (inner nodes and leaves) of a tree.
        max_leaves : int or None, default=None
            The most leaves of a tree.
        max_depth : int or None, default=None
            The most tests on any path; the limit of the space holds too.
        max_error : float, dict or None, default=None
            The largest value of ``cost``, or a dict of bounds by the name of the cost.
        min_accuracy : float or None, default=None
            The smallest share of the training examples that are in the largest class of their leaf, between 0 and 1.
        leaf : int, Support, Margin, ChiSquare, list of these or None, default=None
            What every leaf must satisfy; a number is the fewest examples in it.
        require : str, int, sequence of these or None, default=None
            Columns, or names of tests or attributes, that the tree must use; an attribute stands for any of its tests.
        forbid : str, int, sequence of these or None, default=None
            Columns, or names of tests or attributes, that the tree must not use; an attribute stands for all of its
            tests.
        class_weight : dict, sequence, "balanced" or None, default=None
            What an error on each class counts in "error": a dict by label, or a list in the order of ``classes``.
        confidence : float, default=0.25
            The confidence level of "expected_error", as in C4.5; smaller values are more pessimistic.

        Returns
        -------
        list of tuple
            Entries (size, cost, tree), smallest first, where size is what ``by`` names.

        Raises
        ------
        NoTreeError
            If no tree satisfies the constraints.

        Examples
        --------
        >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
        >>> [(size, cost) for size, cost, _ in space.front()]
        [(1, 10), (5, 5), (7, 0)]
        """
        if by not in ("size", "leaves", "depth"):
            raise refused(QueryError, "by", by, says="; a front runs over 'size', 'leaves' or 'depth'")
        if cost not in COSTS:
            expected = f"one of {', '.join(COSTS)}"
            raise QueryError(
                f"{cost!r} is not a cost of leaves; expected {expected}",
                code="parameter", parameter="cost", value=cost, expected=expected,
            )  # fmt: skip
        query = query_of(
            cost, max_size=max_size, max_leaves=max_leaves, max_depth=max_depth, max_error=max_error,
            min_accuracy=min_accuracy, leaf=leaf, require=require, forbid=forbid, cost_matrix=cost_matrix,
            class_weight=class_weight, confidence=confidence,
        )  # fmt: skip
        return front_of(self, query, by)

    def posterior(
        self, prior: Prior | str | None = None, dirichlet: Dirichlet = 1.0, power: float = 1.0
    ) -> Posterior:
        """Compute the exact posterior distribution over every tree of the space.

        Parameters
        ----------
        prior : Prior, str or None, default=None
            The prior over trees, or its name; None means ``SizePrior(0.8, 0.8)``. A prior by name, or None, is
            attribute-fair where nodes choose their own cuts.
        dirichlet : float, sequence of float, str, BaseRate or DepthDecay, default=1.0
            The Dirichlet parameters of the class probabilities in a leaf: one number for all classes, one per class,
            the base rates of the classes, or numbers that shrink with depth.
        power : float, default=1.0
            The power of the leaf weights, above 0 and at most 1: a leaf weighs its marginal likelihood to the power of
            it, and says what it said. Below 1 more trees have a part in the average.

        Returns
        -------
        Posterior
            The average over every tree, which predicts and knows the probability of every tree.

        Raises
        ------
        LimitReached
            If the space is too large for its time or memory limit; the message names smaller settings.
        """
        return Posterior(self, self.prior_of(prior), dirichlet, power)

    def deepen(
        self,
        prior: Prior | str | None = None,
        dirichlet: Dirichlet = 1.0,
        X: npt.ArrayLike | None = None,
        max_depth: int | None = None,
        power: float = 1.0,
    ) -> DepthProfile:
        """Compute the posteriors of depth 1, 2, … up to ``max_depth``, and keep each that is finished.

        At a limit the profile holds the depths that were finished, and says why it stopped; ``time_limit`` counts for
        all depths together. Without a depth limit it ends where no deeper tree exists. Predictions take much longer
        than the evidence: they are left out if ``X`` has no rows, or if they would take more than a quarter of the
        time that is left.

        Parameters
        ----------
        prior : Prior, str or None, default=None
            The prior over trees, or its name; None means ``SizePrior(0.8, 0.8)``. A prior by name, or None, is
            attribute-fair where nodes choose their own cuts.
        dirichlet : float, sequence of float, str, BaseRate or DepthDecay, default=1.0
            The Dirichlet parameters of the class probabilities in a leaf.
        X : array-like or None, default=None
            The rows whose predictions are compared from depth to depth; None means the distinct training rows.
        max_depth : int or None, default=None
            The depth to end at; None means that of the space.
        power : float, default=1.0
            The power of the leaf weights, see ``posterior``.

        Returns
        -------
        DepthProfile
            The log evidence of every finished depth, how much predictions changed, and the deepest posterior.

        Raises
        ------
        LimitReached
            If a limit is reached before the first depth is finished.
        """
        return deepen(self, prior, dirichlet, X, max_depth, power)

    def most_probable(
        self, prior: Prior | str | None = None, dirichlet: Dirichlet = 1.0, power: float = 1.0
    ) -> Tree:
        """Find the most probable tree, by a search that needs no depth limit.

        If a limit ends the search, the answer is the best tree so far; the same question again continues from there.
        ``tree.info`` holds ``log_joint``, ``upper_bound`` (no tree has a larger log joint), ``gap`` between the two,
        ``optimal`` and ``stop_reason``.

        Parameters
        ----------
        prior : Prior, str or None, default=None
            The prior over trees, or its name; None means ``SizePrior(0.8, 0.8)``. A prior by name, or None, is
            attribute-fair where nodes choose their own cuts.
        dirichlet : float, sequence of float, str, BaseRate or DepthDecay, default=1.0
            The Dirichlet parameters of the class probabilities in a leaf.
        power : float, default=1.0
            The power of the leaf weights, see ``posterior``.

        Returns
        -------
        Tree
            The most probable tree that was found.

        Examples
        --------
        >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=None)
        >>> tree = space.most_probable()
        >>> tree.n_leaves, tree.info["optimal"], round(tree.info["log_joint"], 3)
        (4, True, -9.639)
        """
        return most_probable(self, self.prior_of(prior), dirichlet, power)

    def collapsed(
        self, prior: Prior | str | None = None, dirichlet: Dirichlet = 1.0, *, n_draws: int = 2000, n_chains: int = 4,
        burn_in: int = 500, thin: int = 1, random_state: int | np.random.Generator | None = None,
        power: float = 1.0,
    ) -> CollapsedPosterior:  # fmt: skip
        """Approximate the posterior by sampling, for spaces too large for ``posterior``; the answer is never exact.

        Parameters
        ----------
        prior : Prior, str or None, default=None
            The prior over trees, or its name; None means ``SizePrior(0.8, 0.8)``. A prior by name, or None, is
            attribute-fair where nodes choose their own cuts.
        dirichlet : float, sequence of float, str, BaseRate or DepthDecay, default=1.0
            The Dirichlet parameters of the class probabilities in a leaf.
        n_draws : int, default=2000
            The number of draws that each chain keeps.
        n_chains : int, default=4
            The number of independent chains.
        burn_in : int, default=500
            The number of steps at the start of each chain that are thrown away.
        thin : int, default=1
            The number of steps between two draws that are kept.
        random_state : int, numpy.random.Generator or None, default=None
            The seed of the chains; None takes a new one each time.
        power : float, default=1.0
            The power of the leaf weights, see ``posterior``.

        Returns
        -------
        CollapsedPosterior
            The draws, the predictions averaged over them, and how far these may be off.
        """
        return CollapsedPosterior(
            self, prior, dirichlet, n_draws, n_chains, burn_in, thin, random_state, power
        )

    @renamed(leaf_penalty="leaf_share")
    def near_best(
        self, epsilon: Exact = 0.05, leaf_share: Exact = 0.01, *, dirichlet: Dirichlet | None = None
    ) -> NearBest:
        """Find every tree whose objective is at most (1 + ``epsilon``) times the best, without listing them.

        The objective is errors / n + ``leaf_share`` · leaves. Numbers are taken exactly as given: 0.01 is the float
        next to one hundredth; ``Fraction(1, 100)`` and ``Decimal("0.01")`` are one hundredth.

        Parameters
        ----------
        epsilon : float, Fraction or Decimal, default=0.05
            How much worse than the best a tree may be, as a share of the best objective.
        leaf_share : float, Fraction or Decimal, default=0.01
            The price of a leaf, in the same unit as the error rate.
        dirichlet : float, sequence of float or None, default=None
            The Dirichlet parameters of the class probabilities in the trees' leaves; None gives the frequencies.

        Returns
        -------
        NearBest
            The set of trees: their number, each tree by its place, and what they predict.
        """
        return NearBest(self, epsilon, leaf_share, dirichlet)


def _column_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame, or None for anything else."""
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    return [str(name) for name in columns]
