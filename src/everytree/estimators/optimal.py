"""OptimalTreeClassifier: the provably best tree for a query (DL8), as a scikit-learn classifier.

fit     columns → tests → TreeSpace(max_depth, min_leaf) → best(Query of the other parameters) → tree_
refit   the same from TreeSpace on, with other parameters

Where every cut-point of large columns is a test, no test is made before the search: columns are ranks, and the cuts of
the answer are the tests of the model (``every_cut.py``). Queries that this search does not know take the road above.

Limits count for all of a fit. Where they do not allow all tests, the cuts of greedy trees and as many others as they
allow are searched: the answer is no worse than a greedy tree over all tests, and never called optimal. (Over every
cut-point of a large table the greedy tree looks at the clock, too, and may be smaller than its depth allows.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from everytree.common.arguments import refused, whole
from everytree.common.limits import Limits, in_bytes, threads
from everytree.common.told import tell
from everytree.data.asked import ColumnQuestions
from everytree.data.binarizer import attribute_names
from everytree.data.encoding import Encoding
from everytree.data.example_weights import ExampleWeights
from everytree.data.fewer_tests import Budget, alike, code_columns, greedy_cuts, leave_out, worth_leaving_out
from everytree.data.frames import Frame
from everytree.data.recipes.wanted import as_read
from everytree.data.table import Table
from everytree.engine.certificate import certificate
from everytree.errors import Argument, LimitReached, NoTreeError, QueryError, Step, Wording
from everytree.estimators.base import ENCODING, TreeClassifierBase
from everytree.estimators.every_cut import Asked, EveryCut, Examples, least_of, search_every_cut
from everytree.estimators.one_fit import one_at_a_time
from everytree.estimators.parameter_names import Meaning, ParameterNames, own_words
from everytree.estimators.protocol import depth_words
from everytree.estimators.registry import method
from everytree.export.form import Form
from everytree.export.methods import Exports
from everytree.files.model_file import FORMAT
from everytree.files.registry import saved_as
from everytree.query.query import Query
from everytree.space.tree_space import TreeSpace
from everytree.trees.answers import answered
from everytree.trees.portable import form_of_tree
from everytree.trees.tree import Tree
from everytree.weights.costs import as_text, make_cost
from everytree.weights.dirichlet import DepthDecay, Dirichlet, dirichlet_rows

__all__ = ["OptimalTreeClassifier"]

# These parameters go to the query under the same name.
QUERY = (
    "max_size", "max_leaves", "max_error", "min_accuracy", "leaf", "require", "forbid", "cost_matrix",
    "class_weight", "confidence", "leaf_penalty",
)  # fmt: skip


PRICE = 2.0  # Of a leaf, in errors, where none is given; docs/defaults.md has what was measured.


@method("optimal", "the best tree under a ranking and constraints, proved (DL8)", place=1)
@saved_as(FORMAT)
class OptimalTreeClassifier(Exports, TreeClassifierBase):
    """The best of all decision trees over the tests that ``Binarizer`` makes of the columns.

    Best is what ``minimize`` says, among all trees that meet every bound. The optimum is proved; if a limit ends the
    search first, the model has the best tree so far, says how far from the optimum it may be (``gap_``) and warns with
    scikit-learn's ``ConvergenceWarning``. That tree is never worse than a greedy one of the same depth; of more than
    a million cells, where every cut-point of large columns is searched, than one as large as the time allows. A query
    that no tree satisfies raises ``NoTreeError``, which names the constraint that is too tight. Finer tests
    (``bins="all"``: every cut-point) give a better optimum and take longer.

    Parameters
    ----------
    max_depth : int or None
        The most tests on a path from the root to a leaf; None for no limit.
    min_leaf : int
        The fewest training examples in a leaf, a row of weight w counted w times. scikit-learn's name for it,
        ``min_samples_leaf``, is understood too.
    minimize : sequence of str or str
        The criteria, the most important first, as in ``Query``: at least one of error, expected_error, gini, entropy
        and cost; and size, depth.
    max_size : int or None
        The most nodes.
    max_leaves : int or None
        The most leaves.
    max_error : float, dict or None
        The most of the first cost in ``minimize``, or a dict with a bound for each cost that it names.
    min_accuracy : float or None
        The least share of training examples in the largest class of their leaf: those that the tree gets right, unless
        costs or weights make a leaf predict another class.
    leaf : int, constraint or list, optional
        What every leaf must satisfy: ``Support``, ``Margin``, ``ChiSquare``, or a list of these. A whole number n is
        short for ``Support(n)``, a second bound beside ``min_leaf``.
    require : str, int or list, optional
        The names of columns or of tests that the tree must use (``x0``, ``x1``, … where the data has no names); whole
        numbers are positions in ``binarizer_.tests_``.
    forbid : str, int or list, optional
        The columns or tests that the tree must not use, named as in ``require``.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        For the criterion cost: entry (c, k) is the cost of predicting k when c is true.
    class_weight : "balanced", dict or list, optional
        What an error on each class counts in the criterion error: "balanced", a dict by label, or a list. The weights
        are costs and may be fractions; they do not change the numbers of examples, as ``class_weight`` of the other
        classifiers does.
    confidence : float
        Of the criterion expected_error, the estimate of C4.5: between 0 and 1, smaller is more pessimistic.
    leaf_penalty : float or None
        The price of a leaf, added to the first cost in ``minimize`` and in its unit: for error, a number of examples.
        None is a price of 2 where ``minimize`` begins with error and no ``class_weight`` is given, and otherwise 0: a
        leaf that saves no more than two training errors is seldom of use for new rows. 0 asks for the fewest errors.
    strategy : str
        The way to search: "auto", or one of the lattice strategies of DL8, see ``TreeSpace.best``.
    dirichlet : float, sequence, str or DepthDecay
        What is added to the class counts of a leaf for its probabilities: a number, one per class, "1/C",
        "base" (the share of each class) or "decay".
    bins : int, str or dict
        How numeric columns become tests: k bins of equal frequency give k − 1 cuts; "all" gives a cut between any two
        neighbouring values; "mdl" and "boosted" let the classes choose; a dict gives one of these, or a list of cuts,
        by column. See ``Binarizer``.
    missing : {"error", "category", "impute"}
        What a missing value means: an error, a category of its own, or the training mean or mode of its column.
    cuts : {"global", "local"}
        Whether the cuts of numeric columns are chosen once, from all rows, or by every node from its own rows.
    n_jobs : int or None
        The number of threads; −1 for every core. The result is the same for any number.
    time_limit : float or None
        The most seconds for all of ``fit``; None for no limit. Where a limit does not allow every
        cut-point, some are left out.
    memory_limit : int or None
        The most bytes for what ``fit`` stores; None for the library's own limit.

    Attributes
    ----------
    tree_ : Tree
        The tree; a leaf predicts the class that costs least in training (``tree_.says``): the largest one, or with
        class weights or a cost matrix perhaps another. ``dirichlet`` decides only where classes cost the same.
    query_ : Query
        The query that the tree answers.
    error_ : int
        The training examples that ``predict`` gets wrong.
    objective_ : float
        The first cost of ``minimize``, with the price of leaves; an error or a cost is that of the predictions on the
        training examples.
    optimal_ : bool
        Whether the tree is proved best.
    lower_bound_ : float
        No tree has a smaller objective than this.
    gap_ : float
        The relative distance (objective − bound) / objective.
    stop_reason_ : str
        Why the search ended: "proved", "time limit", "memory limit" or "stopped".
    n_states_ : int
        The number of states that the search or the fold stored.
    n_left_out_ : int
        The number of cut-points that limits left out; the bound and the gap are those of all.
    space_ : TreeSpace
        Every tree over these tests, for more questions such as ``space_.front()`` and ``space_.near_best()``; a model
        that was loaded from a file has none. Where every cut-point of large data was searched, the tests are those of
        the tree, and one of each other column.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total decrease of Gini's impurity on the training examples; all 0 for one leaf.
    binarizer_ : Binarizer
        What turns columns into tests; ``binarizer_.tests_`` says what each test means.
    classes_ : ndarray of shape (n_classes,)
        The labels that occur, sorted.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, only where ``X`` has names.
    target_name_ : str or None
        The name of ``y``, if it had one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = OptimalTreeClassifier(max_depth=2, bins="all").fit(X, y)
    >>> model.error_, model.optimal_
    (6, True)
    >>> model.refit(max_depth=3, leaf_penalty=0).error_
    1
    """

    PAPER = "dl8"
    # The smallest of the trees that are best by one objective, and a ranking by its other name.
    MEANINGS: ClassVar[Mapping[str, Meaning]] = {
        **ParameterNames.MEANINGS,
        "objective": Meaning("minimize", lambda objective: (objective, "size")),
        "rank": Meaning("minimize"),
    }

    tree_: Tree
    query_: Query
    space_: TreeSpace
    stop_reason_: str
    n_left_out_: int
    # What the model learned from, where tests are made of the answer alone: columns, classes and weights.
    _every_cut: tuple[Frame, npt.NDArray[np.intp], ExampleWeights | None] | None = None
    # The limit, "time" or "memory", that left out cut-points.
    _missed = ""
    # The class counts of each group of examples that no test tells apart.
    _alike: npt.NDArray[np.int64]
    _alike_parts: int
    CLASS_WEIGHT_IS_A_COST: ClassVar[bool] = True

    def __init__(
        self,
        max_depth: int | None = 3,
        min_leaf: int = 1,
        *,
        minimize: Sequence[str] | str = ("error", "size"),
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
        leaf_penalty: float | None = None,
        strategy: str = "auto",
        dirichlet: Dirichlet = 1.0,
        bins: int | str | dict[Any, Any] = 8,
        missing: str = "category",
        cuts: str = "global",
        n_jobs: int | None = 1,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.minimize = minimize
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
        self.cuts = cuts
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    @one_at_a_time
    def refit(self, **changes: Any) -> Self:
        """Answer another query on the data of ``fit``.

        The columns are not read again, and what was computed before is used where it holds: a search goes on under
        another depth or after a limit, a graph serves every query with the same ``max_depth`` and ``min_leaf``. If
        the new query has no answer, the model stays as it was.

        Parameters
        ----------
        **changes : dict
            Parameters that change, as in ``set_params``.

        Returns
        -------
        Self
            This classifier, fitted.

        Raises
        ------
        NoTreeError
            If no tree satisfies the new query.
        QueryError
            If a name is no parameter, a value is refused, or the change would need other tests.
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
        changes = own_words(type(self), changes, before)
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
            if self._every_cut is not None:
                with self._one_clock():
                    self._fit_columns(*self._every_cut)
            else:
                self._answer(space.table, space)
        except BaseException:
            self.set_params(**before)
            raise
        return self

    def _fit_columns(self, frame: Frame, codes: npt.NDArray[np.intp], weights: ExampleWeights | None) -> None:
        self._every_cut = None
        found = self._search_every_cut(frame, codes, weights)
        if found is None:
            super()._fit_columns(frame, codes, weights)
            return
        self._every_cut, self._missed, self.n_left_out_ = (frame, codes, weights), "", 0
        self._learned_from(found.table)
        self._answer(found.table, None, found)

    def _search_every_cut(
        self, frame: Frame, codes: npt.NDArray[np.intp], weights: ExampleWeights | None
    ) -> EveryCut | None:
        """Search every cut-point without making tests of them, if there are many and the query allows it."""
        bins = self.bins.values() if isinstance(self.bins, Mapping) else [self.bins]
        if self.strategy != "auto" or not any(isinstance(each, str) and each == "all" for each in bins):
            return None
        if weights is not None and weights.per_example > 1:  # its costs are those of whole examples
            return None
        depth = None if self.max_depth is None else whole("max_depth", self.max_depth, 0, none="no limit")
        asked = Asked(
            self._query(), depth, whole("min_leaf", self.min_leaf, 1), self.forbid, threads(self.n_jobs)
        )
        limits = Limits(self._time_left(), self.memory_limit)
        rows = Examples(frame, codes, weights, self.classes_.tolist())
        return search_every_cut(self.binarizer_, rows, asked, limits)

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: ExampleWeights | None,
    ) -> None:
        if y_codes.size == 0:  # The tests of a table are all there are.
            self._missed, self.n_left_out_ = "", 0
        self._answer(table)

    def _leave_out(
        self,
        frame: Frame,
        encodings: list[Encoding],
        codes: npt.NDArray[np.intp],
        weights: ExampleWeights | None,
    ) -> None:
        self._missed, self.n_left_out_ = "", 0
        named: list[Any] = []
        for given in (self.require, self.forbid):
            named += given if isinstance(given, list | tuple | set | frozenset) else [given]
        named = [each for each in named if each is not None]
        if self.strategy != "auto" or not all(isinstance(each, str) for each in named):
            return  # Numbers are positions among all tests, so that none may be left out.
        depth = None if self.max_depth is None else whole("max_depth", self.max_depth, 0, none="no limit")
        min_leaf = whole("min_leaf", self.min_leaf, 1)
        limits = Limits(self._time_left(), self.memory_limit)
        memory = None if self.memory_limit is None else limits.memory
        budget = Budget(limits.time_limit, memory, depth is None or depth >= 2)
        n_all = sum(len(encoding.tests) for encoding in encodings)
        self._missed = budget.missed(frame.n_rows, n_all)
        if not self._missed:
            return
        if not worth_leaving_out(encodings, self._missed):
            self._missed = ""
            return
        coded = code_columns(frame, encodings)
        counts, parts = (None, 1) if weights is None else (weights.counts, weights.per_example)
        totals = np.bincount(codes, counts, minlength=len(self.classes_)).astype(np.int64)
        importance, left = self._importance(totals), self._time_left()
        if memory is not None:
            memory = max(0, memory - sum(column.codes.nbytes for column in coded))
        greedy = greedy_cuts(coded, codes, counts, depth, parts * min_leaf, importance, left, memory)
        self._alike = alike(coded, codes, len(self.classes_), counts)
        self._alike_parts = parts
        room = budget.affordable(frame.n_rows, n_all)
        self.n_left_out_ = leave_out(encodings, coded, greedy, room, frozenset(map(str, named)))
        if not self.n_left_out_:
            self._missed = ""

    def _importance(self, totals: npt.NDArray[np.int64]) -> npt.NDArray[np.float64] | None:
        """Return what wrong answers for an example of each class cost; None where all errors are equal."""
        matrix = self._matrix(self._query(), totals)
        return None if matrix is None else (matrix - matrix.min(axis=1, keepdims=True)).sum(axis=1)

    def _matrix(self, query: Query, totals: npt.NDArray[np.int64]) -> npt.NDArray[np.float64] | None:
        """Return the costs by which leaves answer, for classes of these totals; None where all errors are equal."""
        counted = Table(np.zeros((1, 0), dtype=np.uint8), totals[None], classes=self.classes_.tolist())
        costs = {"cost_matrix": query.cost_matrix, "class_weight": query.class_weight}
        answers = make_cost(query.cost, counted, confidence=query.confidence, **costs).answers
        return None if answers is None else np.array([[float(cost) for cost in row] for row in answers])

    def _least(self, query: Query) -> float:
        """Return what equal rows cost at least: no tree, also over tests left out, has a smaller objective."""
        matrix = self._matrix(query, self._alike.sum(axis=0))
        return least_of(query, self._alike, matrix, self._alike_parts)

    def _query(self) -> Query:
        """Return the query of the parameters; parameters that it would not use are refused."""
        # The depth is always bounded, which does not make the smallest tree a question worth asking.
        given = {name: getattr(self, name) for name in QUERY}
        if self.leaf_penalty is None:
            given["leaf_penalty"] = 0.0
            query = Query(self.minimize, **given)
            if query.ranking[0] == "error" and self.class_weight is None:
                given["leaf_penalty"] = PRICE
        query = Query(self.minimize, **given)
        query = replace(query, max_depth=self.max_depth)
        used = {*query.ranking, *query.error_bounds}
        for name, cost in (("cost_matrix", "cost"), ("class_weight", "error")):
            if getattr(self, name) is not None and cost not in used:
                raise QueryError(
                    f"{name} is given, but the query minimises {' and '.join(query.ranking)}, which it plays no part "
                    f'in; set minimize=("{cost}", "size"), or leave it out'
                )
        return query

    def _answer(
        self,
        table: Table,
        known: TreeSpace | None = None,
        found: EveryCut | None = None,
    ) -> None:
        """Set the fitted attributes, all of them or none; ``found`` has the tree, where it is known."""
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
        totals = table.class_counts.sum(axis=0)
        dirichlet_rows(dirichlet, table.n_classes, 0, totals)  # Bad parameters are refused before the search.
        asked = replace(query, forbid=self._forbidden())
        try:
            tree: Tree = (
                space.tree_of(found.key, found.facts) if found else space.best(asked, strategy=self.strategy)
            )
        except NoTreeError:
            if not self._missed:
                raise
            raise LimitReached(
                f"{self._missed} limit reached: of {space.n_tests + self.n_left_out_} tests it allows {space.n_tests}, "
                f"and no tree over these satisfies the query; raise {self._missed}_limit, or use fewer bins",
                self._missed,
            ) from None
        # Each later question has all of the time limit.
        space.limits = replace(space.limits, time_limit=self.time_limit)
        if self._missed:
            proof = certificate(tree.info["objective"], self._least(query), self._missed)
            tree = tree.replace(info=dict(tree.info) | proof)
        info = tree.info
        cost = make_cost(
            query.cost, table, cost_matrix=query.cost_matrix, class_weight=query.class_weight
        )  # fmt: skip
        self.tree_ = answered(tree, cost, dirichlet_rows(dirichlet, table.n_classes, tree.depth, totals))
        self.space_, self.query_ = space, query
        self.error_ = self.tree_.error
        self.objective_ = float(info["objective"])
        self.optimal_ = bool(info["optimal"])
        self.lower_bound_ = float(info["lower_bound"])
        self.gap_ = float(info["gap"])
        self.stop_reason_ = str(info["stop_reason"])
        self.n_states_ = int(info.get("n_states", info.get("states", 0)))
        if not self.optimal_:
            tell(self._unproved(), ConvergenceWarning)

    def _unproved(self) -> str:
        limit = {
            "time limit": f"time limit of {self.time_limit} s",
            "memory limit": f"memory limit of {in_bytes(self.space_.limits.most_bytes)}",
        }.get(self.stop_reason_, "stop")
        what = "time_limit" if self.stop_reason_ == "time limit" else "memory_limit"
        more = "refit()" if self.stop_reason_ == "stopped" else f"refit({what}=...) with a larger one"
        again = "begins anew" if self._every_cut is not None else "goes on from here"
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
            Step("go-on", f"{more} {again}", "" if self.stop_reason_ == "stopped" else what),
            ", a smaller ",
            Argument("max_depth"),
            " or a larger ",
            Argument("min_leaf"),
            " is quicker",
        )

    def _names_of_columns(self) -> list[str]:
        """Return for each test the name of its column, so that ``require`` and ``forbid`` can name it."""
        return attribute_names(self.binarizer_)

    def _forbidden(self) -> Any:
        """Return ``forbid`` without columns and tests that are constant in the data, and so forbidden already."""
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
        # Of the cut-points that a limit left out, a file holds the number alone.
        self.query_, self._missed = self._query(), ""
        # Older files counted the examples outside the largest class of their leaf.
        self.error_ = self.tree_.error

    def _answers_tests(
        self, X01: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        leaf = self.tree_.apply(X01)
        return self.tree_.says[leaf].astype(np.intp), self.tree_.proba[leaf]

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.tree_.predict_proba(X01)

    def portable(self) -> Form:
        check_is_fitted(self)
        form = form_of_tree(self.tree_, ColumnQuestions(self.binarizer_), classes=self.classes_.tolist())
        return as_read(form, getattr(self, "recipes_", ()))
