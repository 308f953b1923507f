"""OptimalTreeClassifier: the provably best tree for a query (DL8), as a scikit-learn classifier.

fit     columns → tests → TreeSpace(max_depth, min_leaf) → best(Query of the other parameters) → tree_
refit   the same from TreeSpace on, with other parameters

Limits count for all of a fit. Where they do not allow all tests, the cuts of greedy trees and as many others as they
allow are searched: the answer is no worse than a greedy tree over all tests, and never called optimal.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from everytree.common.arguments import argument, refused, whole
from everytree.common.limits import Limits, in_bytes
from everytree.data.encoding import Encoding
from everytree.data.fewer_tests import Budget, alike, code_columns, greedy_cuts, leave_out
from everytree.data.frames import Frame
from everytree.data.table import Table
from everytree.engine.certificate import certificate
from everytree.errors import Argument, LimitReached, NoTreeError, QueryError, Step, Wording
from everytree.estimators.base import ENCODING, TreeClassifierBase
from everytree.estimators.protocol import depth_words
from everytree.estimators.registry import method
from everytree.files.model_file import FORMAT
from everytree.files.registry import saved_as
from everytree.query.query import Query
from everytree.space.tree_space import TreeSpace
from everytree.trees.answers import answered
from everytree.trees.tree import Tree
from everytree.weights.costs import as_text, make_cost
from everytree.weights.dirichlet import DepthDecay, Dirichlet, dirichlet_rows

__all__ = ["OptimalTreeClassifier"]

# Parameters that go to the query under the same name.
QUERY = (
    "max_size", "max_leaves", "max_error", "min_accuracy", "leaf", "require", "forbid", "cost_matrix",
    "class_weight", "confidence", "leaf_penalty",
)  # fmt: skip


@method("optimal", "the best tree under a ranking and constraints, proved (DL8)", place=1)
@saved_as(FORMAT)
class OptimalTreeClassifier(TreeClassifierBase):
    """The best of all decision trees over the tests that ``Binarizer`` makes of the columns.

    Best is what the ranking says, among all trees that meet every bound. The optimum is proved; if a limit ends the
    search first, the model has the best tree so far, says how far from the optimum it may be (``gap_``) and warns with
    scikit-learn's ``ConvergenceWarning``. That tree is never worse than a greedy one of the same depth. A query that
    no tree satisfies raises ``NoTreeError``, which names the constraint that is too tight. Finer tests (``bins="all"``:
    every cut-point) give a better optimum and take longer.

    Parameters
    ----------
    max_depth : most tests on a path, or None for no limit
    min_leaf : fewest examples in a leaf
    objective : error, expected_error, gini, entropy or cost
    rank : criteria in order, such as ("size", "error"); None means (objective, "size")
    max_size, max_leaves : most nodes, most leaves
    max_error : most of the objective, or a dict with a bound for each cost that it names
    min_accuracy : least share of training examples in the largest class of their leaf: those that the tree gets right,
        unless costs or weights make a leaf say another class
    leaf : fewest examples in a leaf, or ``Support``, ``Margin``, ``ChiSquare``, or a list of these
    require, forbid : names of columns or of tests that the tree must use, or must not use (``x0``, ``x1``, … where the
        data has no names); whole numbers are positions in ``binarizer_.tests_``
    cost_matrix : for ``cost``: entry (c, k) is the cost of saying k when c is true
    class_weight : what an error on each class counts in ``error``: "balanced", a dict by label, or a list
    confidence : of ``expected_error``
    leaf_penalty : price of a leaf, added to the objective
    strategy : "auto", or one of the lattice strategies of DL8, see ``TreeSpace.best``
    dirichlet : added to the class counts of a leaf for its probabilities: a number, one per class, "1/C", "decay"
    bins : bins of a numeric column (k of them have k − 1 thresholds), or "all" thresholds; see ``Binarizer``
    missing : "error", "category" or "impute", see ``Binarizer``
    n_jobs : threads
    time_limit, memory_limit : seconds and bytes, for all of ``fit``. Where they do not allow every cut-point, some are
        left out

    Attributes
    ----------
    tree_ : the tree; a leaf says the class that cost least in training (``tree_.says``): the largest one, or with class
        weights or a cost matrix perhaps another. ``dirichlet`` decides only where classes cost the same
    query_ : the query it answers
    error_ : training examples that ``predict`` gets wrong
    objective_ : the first cost of the ranking, with the price of leaves; an error or a cost is that of the predictions
        on the training examples
    optimal_, lower_bound_, gap_ : whether the tree is proved best; no tree has a smaller objective than the bound; and
        (objective − bound) / objective
    stop_reason_ : "proved", "time limit", "memory limit" or "stopped"
    n_states_ : states that the search or the fold stored
    n_left_out_ : cut-points that limits left out; the bound and the gap are those of all
    space_ : every tree over these tests, for more: ``space_.front()``, ``space_.near_best()``; not in a loaded model

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = OptimalTreeClassifier(max_depth=2, bins="all").fit(X, y)
    >>> model.error_, model.optimal_
    (6, True)
    >>> model.refit(max_depth=3).error_
    1
    """

    PAPER = "dl8"

    tree_: Tree
    query_: Query
    space_: TreeSpace
    stop_reason_: str
    n_left_out_: int
    _missed = ""  # the limit that left out cut-points
    _alike: npt.NDArray[np.int64]  # class counts of the examples that all tests together do not tell apart

    def __init__(
        self,
        max_depth: int | None = 3,
        min_leaf: int = 1,
        *,
        objective: str = "error",
        rank: Sequence[str] | str | None = None,
        max_size: int | None = None,
        max_leaves: int | None = None,
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
        dirichlet: Dirichlet = 1.0,
        bins: int | str | dict[Any, Any] = 4,
        missing: str = "error",
        n_jobs: int | None = 1,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.objective = objective
        self.rank = rank
        self.max_size = max_size
        self.max_leaves = max_leaves
        self.max_error = max_error
        self.min_accuracy = min_accuracy
        self.leaf = leaf
        self.require = require
        self.forbid = forbid
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.confidence = confidence
        self.leaf_penalty = leaf_penalty
        self.strategy = strategy
        self.dirichlet = dirichlet
        self.bins = bins
        self.missing = missing
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def refit(self, **changes: Any) -> Self:
        """The answer to another query on the data of ``fit``: parameters are set as by ``set_params``.

        The columns are not read again, and what was computed before is used where it holds: a search goes on under
        another depth or after a limit, a graph serves every query with the same ``max_depth`` and ``min_leaf``. If
        the new query has no answer, the model stays as it was.
        """
        check_is_fitted(
            self,
            msg="this %(name)s is not fitted yet; refit asks again about the data of fit(X, y): call that first",
        )
        space = getattr(self, "space_", None)
        if space is None:
            raise QueryError(
                "this model was loaded from a file, which holds no training data; call fit(X, y) instead of refit"
            )
        before = self.get_params(deep=False)
        for name in changes:
            if name not in before:
                raise QueryError(f"refit({name}=...) is no parameter; expected some of {', '.join(before)}")
        now = before | changes
        for name in ENCODING:
            if name in now and repr(now[name]) != repr(getattr(self.binarizer_, name)):
                raise refused(
                    QueryError,
                    name,
                    now[name],
                    says=f" makes other tests of the columns than the fitted "
                    f"{name}={getattr(self.binarizer_, name)!r}; call fit(X, y) instead of refit",
                )
        self.set_params(**changes)
        try:
            self._answer(space.table, space)
        except BaseException:
            self.set_params(**before)
            raise
        return self

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: npt.NDArray[np.int64] | None,
    ) -> None:
        if y_codes.size == 0:  # the tests of a table are all there are
            self._missed, self.n_left_out_ = "", 0
        self._answer(table)

    def _leave_out(
        self,
        frame: Frame,
        encodings: list[Encoding],
        codes: npt.NDArray[np.intp],
        weights: npt.NDArray[np.int64] | None,
    ) -> None:
        self._missed, self.n_left_out_ = "", 0
        named: list[Any] = []
        for given in (self.require, self.forbid):
            named += given if isinstance(given, list | tuple | set | frozenset) else [given]
        named = [each for each in named if each is not None]
        if self.strategy != "auto" or not all(isinstance(each, str) for each in named):
            return  # numbers are positions among all tests
        depth = None if self.max_depth is None else whole("max_depth", self.max_depth, 0, none="no limit")
        min_leaf = whole("min_leaf", self.min_leaf, 1)
        limits = Limits(self._time_left(), self.memory_limit)
        memory = None if self.memory_limit is None else limits.memory
        budget = Budget(limits.time_limit, memory, depth is None or depth >= 2)
        n_all = sum(len(encoding.tests) for encoding in encodings)
        self._missed = budget.missed(frame.n_rows, n_all)
        if not self._missed:
            return
        coded = code_columns(frame, encodings)
        totals = np.bincount(codes, weights, minlength=len(self.classes_)).astype(np.int64)
        greedy = greedy_cuts(coded, codes, weights, depth, min_leaf, self._importance(totals))
        self._alike = alike(coded, codes, len(self.classes_), weights)
        room = budget.affordable(frame.n_rows, n_all)
        self.n_left_out_ = leave_out(encodings, coded, greedy, room, frozenset(map(str, named)))
        if not self.n_left_out_:
            self._missed = ""

    def _importance(self, totals: npt.NDArray[np.int64]) -> npt.NDArray[np.float64] | None:
        """What wrong answers for an example of each class cost; None where all errors are equal."""
        matrix = self._matrix(self._query(), totals)
        return None if matrix is None else (matrix - matrix.min(axis=1, keepdims=True)).sum(axis=1)

    def _matrix(self, query: Query, totals: npt.NDArray[np.int64]) -> npt.NDArray[np.float64] | None:
        """The costs by which leaves answer, for classes of these totals; None where all errors are equal."""
        counted = Table(np.zeros((1, 0), dtype=np.uint8), totals[None], classes=self.classes_.tolist())
        costs = {"cost_matrix": query.cost_matrix, "class_weight": query.class_weight}
        answers = make_cost(query.cost, counted, confidence=query.confidence, **costs).answers
        return None if answers is None else np.array([[float(cost) for cost in row] for row in answers])

    def _least(self, query: Query) -> float:
        """No tree over all tests, also those left out, has a smaller objective: what equal rows cost at least."""
        matrix = self._matrix(query, self._alike.sum(axis=0))
        least = 0.0
        if matrix is not None:
            least = float((self._alike @ matrix).min(axis=1).sum())
        elif query.cost == "error" or (query.cost == "expected_error" and query.confidence <= 0.5):
            least = float((self._alike.sum(axis=1) - self._alike.max(axis=1)).sum())
        return least + query.leaf_penalty

    def _query(self) -> Query:
        """The query of the parameters; those that it would not use are refused."""
        rank = (self.objective, "size") if self.rank is None else self.rank
        # The depth is always bounded, which does not make the smallest tree a question worth asking.
        query = Query(rank, **{name: getattr(self, name) for name in QUERY})
        query = replace(query, max_depth=self.max_depth)
        used = {*query.ranking, *query.error_bounds}
        if self.objective != "error" and self.objective not in query.ranking:
            raise refused(
                QueryError,
                "objective",
                self.objective,
                says=Wording(
                    " is not in ", argument("rank", self.rank), "; give one of them, or name it there"
                ),
            )
        for name, cost in (("cost_matrix", "cost"), ("class_weight", "error")):
            if getattr(self, name) is not None and cost not in used:
                raise QueryError(
                    f"{name} is given, but the query minimises {' and '.join(query.ranking)}, which it plays no part "
                    f'in; set objective="{cost}", or leave it out'
                )
        return query

    def _answer(self, table: Table, known: TreeSpace | None = None) -> None:
        """Set the fitted attributes, all of them or none."""
        query = self._query()
        space = TreeSpace.from_table(
            table,
            self.max_depth,
            self.min_leaf,
            self.n_jobs,
            attributes=self._names_of_columns(),
            time_limit=self._time_left(),
            memory_limit=self.memory_limit,
        )
        if known is not None:
            space.take_over(known)
        dirichlet = (
            DepthDecay() if isinstance(self.dirichlet, str) and self.dirichlet == "decay" else self.dirichlet
        )
        dirichlet_rows(dirichlet, table.n_classes, 0)  # a bad one is refused before the search
        asked = replace(query, forbid=self._forbidden())
        try:
            tree: Tree = space.best(asked, strategy=self.strategy)
        except NoTreeError:
            if not self._missed:
                raise
            raise LimitReached(
                f"{self._missed} limit reached: of {space.n_tests + self.n_left_out_} tests it allows {space.n_tests}, "
                f"and no tree over these satisfies the query; raise {self._missed}_limit, or use fewer bins",
                self._missed,
            ) from None
        space.limits = replace(space.limits, time_limit=self.time_limit)  # each later question has all of it
        if self._missed:
            proof = certificate(tree.info["objective"], self._least(query), self._missed)
            tree = tree.replace(info=dict(tree.info) | proof)
        info = tree.info
        cost = make_cost(
            query.cost, table, cost_matrix=query.cost_matrix, class_weight=query.class_weight
        )  # fmt: skip
        self.tree_ = answered(tree, cost, dirichlet_rows(dirichlet, table.n_classes, tree.depth))
        self.space_, self.query_ = space, query
        self.error_ = self.tree_.error
        self.objective_ = float(info["objective"])
        self.optimal_ = bool(info["optimal"])
        self.lower_bound_ = float(info["lower_bound"])
        self.gap_ = float(info["gap"])
        self.stop_reason_ = str(info["stop_reason"])
        self.n_states_ = int(info.get("n_states", info.get("states", 0)))
        if not self.optimal_:
            warnings.warn(self._unproved(), ConvergenceWarning, stacklevel=4 if known is None else 3)

    def _unproved(self) -> str:
        limit = {
            "time limit": f"time limit of {self.time_limit} s",
            "memory limit": f"memory limit of {in_bytes(self.space_.limits.memory)}",
        }.get(self.stop_reason_, "stop")
        what = "time_limit" if self.stop_reason_ == "time limit" else "memory_limit"
        more = "refit()" if self.stop_reason_ == "stopped" else f"refit({what}=...) with a larger one"
        known = f"none has less than {as_text(self.lower_bound_)} (a gap of {self.gap_:.1%})"
        if self.lower_bound_ == self.objective_:
            known = "none has less, but a smaller tree may have as little"
        if self._missed:
            n, found = self.space_.n_tests, f"{self.query_.cost} {as_text(self.objective_)}"
            return Wording(
                f"{limit} allows {n} of {n + self.n_left_out_} tests, and not all were looked at: the tree over these "
                f"has {found}, and of all {known}; fit with a larger ",
                Argument(what),
                ", or with fewer ",
                Argument("bins"),
            )
        return Wording(
            f"{limit} before the optimum was proved: the tree has {self.query_.cost} {as_text(self.objective_)}, and "
            f"{known}; ",
            Step("go-on", f"{more} goes on from here", "" if self.stop_reason_ == "stopped" else what),
            ", a smaller ",
            Argument("max_depth"),
            " or a larger ",
            Argument("min_leaf"),
            " is quicker",
        )

    def _names_of_columns(self) -> list[str]:
        """For each test the name of its column, so that ``require`` and ``forbid`` can name it."""
        return [str(test.attribute) for test in self.binarizer_.tests_]

    def _forbidden(self) -> Any:
        """``forbid`` without columns and tests that are constant in the data, and so forbidden already."""
        if self.forbid is None or not isinstance(self.forbid, str | list | tuple | set | frozenset):
            return self.forbid
        there = {name for test in self.binarizer_.tests_ for name in (test.attribute, test.name)}
        gone = {*self.column_names(), *(test.name for test in self.binarizer_.dropped_)} - there
        given = [self.forbid] if isinstance(self.forbid, str) else list(self.forbid)
        return [each for each in given if not (isinstance(each, str) and each in gone)]

    def headline(self, on: str) -> str:
        best = "The best of all trees" if self.optimal_ else "The best tree so far"
        limit, tree = depth_words(self.max_depth), self.tree_
        return f"{best} of {limit}: {tree.n_leaves} leaves, {tree.error} training errors{on}."

    def about_tree(self) -> str:
        found = "the best of all trees, proved" if self.optimal_ else f"the best so far (gap {self.gap_:.1%})"
        return f"The tree of this model: {found}."

    def front_options(self) -> dict[str, Any]:
        names = (
            "cost",
            "leaf",
            "require",
            "cost_matrix",
            "class_weight",
            "confidence",
            "max_size",
            "max_leaves",
        )
        return {name: getattr(self.query_, name) for name in names} | {"forbid": self._forbidden()}

    def finish_loading(self) -> None:
        self.query_, self._missed = self._query(), ""  # of what a limit left out, a file holds the number
        self.error_ = self.tree_.error  # older files counted examples outside the largest class of their leaf

    def _answers_tests(
        self, X01: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        leaf = self.tree_.apply(X01)
        return self.tree_.says[leaf].astype(np.intp), self.tree_.proba[leaf]

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.tree_.predict_proba(X01)
