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
from everytree.query.near_best import Exact, NearBest
from everytree.query.query import Query, query_of
from everytree.trees.tree import Tree
from everytree.weights.cost_words import COSTS
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior, SizePrior, as_prior

__all__ = ["TreeSpace"]


class TreeSpace(Engine):
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
        """The space of a count table."""
        space = cls.__new__(cls)
        limits = Limits(time_limit, memory_limit, progress)
        Engine.__init__(space, table, max_depth, min_leaf, n_jobs, attributes, limits)
        return space

    def estimate(self) -> Estimate:
        """About how many states, bytes and seconds the posterior would take, in a fraction of a second.

        An estimate, not a promise: from random descents and a short measurement on this machine.
        """
        return estimate(self, replace(self.limits, time_limit=None).control())

    def estimate_states(self) -> float:
        """About how many states the graph stores, by random descents."""
        return estimate(self, replace(self.limits, time_limit=None).control(), measure=False).states

    # --- questions ---

    @property
    def n_trees(self) -> int:
        """The exact number of trees in the space."""
        with self.question("counting the trees") as control:
            return int.from_bytes(self.graph_under(control).count(control), "little")

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
        trees = best_trees(self, query, 1 if k is None else whole("k", k, 1), strategy)
        return trees[0] if k is None or k == 1 else trees

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
        return CollapsedPosterior(self, prior, dirichlet, n_draws, n_chains, burn_in, thin, random_state)

    @renamed(
        leaf_penalty="leaf_share is the price of a leaf here, as a share of the examples; leaf_penalty counts examples"
    )
    def near_best(
        self, epsilon: Exact = 0.05, leaf_share: Exact = 0.01, *, dirichlet: Dirichlet | None = None
    ) -> NearBest:
        """Every tree whose objective is at most (1 + ``epsilon``) times the best.

        The objective is errors / n + ``leaf_share`` · leaves. Numbers are taken exactly as given: 0.01 is the float
        next to one hundredth; ``Fraction(1, 100)`` and ``Decimal("0.01")`` are one hundredth. ``dirichlet`` sets the
        class probabilities of the trees' leaves, one number or one per class; None gives the frequencies.
        """
        return NearBest(self, epsilon, leaf_share, dirichlet)


def _column_names(X: Any) -> list[str] | None:
    columns = getattr(X, "columns", None)
    if columns is None or callable(columns):
        return None
    return [str(name) for name in columns]
