"""What the classifiers by Bayesian growth on whole columns share: parameters, rows, growth, fits and batches.

    fit           columns → grow an option graph in the core → fold it (OptionTree)
    partial_fit   the rows so far and these → follow the older tree, or grow again → fold
    predict       columns, as in training → the mixture over the nodes that a row reaches

docs/smoothing.md and docs/option_trees.md say what is computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

import everytree._core as _core
from everytree.common.arguments import argument, number, refused, whole
from everytree.common.fields import checked_number
from everytree.common.limits import Limits
from everytree.common.reading import reading
from everytree.common.text import clip
from everytree.data.columns import ColumnReader, set_classes
from everytree.data.cut_rules import refuse_missing
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import Frame, read_frame
from everytree.data.row_counts import check_classes
from everytree.errors import DataError, QueryError, Wording
from everytree.estimators.column_base import ColumnTreeClassifier
from everytree.estimators.cross_calibration import CrossCalibrated
from everytree.estimators.grown_rows import Growth, Rivals, Rows, joined, moved, ones
from everytree.estimators.importances import inclusion_in_options
from everytree.estimators.incremental import LabelsInBatches
from everytree.estimators.one_fit import one_at_a_time
from everytree.estimators.parameter_names import MIN_BRANCH
from everytree.estimators.protocol import Picture
from everytree.estimators.row_paths import ReachedLeaf, leaves_of_options
from everytree.trees.option_tree import OptionTree
from everytree.trees.tree_mean import TreeMean
from everytree.weights.dirichlet import DepthDecay, Dirichlet, dirichlet_rows, in_numbers
from everytree.weights.priors import Prior, SizePrior, as_prior
from everytree.weights.tables import Weights, tabulated

__all__ = ["GrownTreeClassifier"]

DEEPEST = 1500  # Priors and parameters by depth are tabulated down to here, and stay the same below.
MOST_CELLS = 2_000_000  # Such a table has at most so many entries by depth and class.
MOST_PLIES = 64  # The core looks ahead no further.
ROUNDS = 10  # The Dirichlet parameter is fitted, and the tree grown again, at most so often.
STEP = 1.5  # The logarithm of the parameter changes by at most this in one round.
SETTLED = 1e-3  # A smaller gain of log evidence ends the rounds.
LEAST_A, MOST_A = 1e-4, 1e3


class GrownTreeClassifier(CrossCalibrated, LabelsInBatches, ColumnTreeClassifier):
    """The base of classifiers that grow trees by Bayesian quality: their parameters, rows and growth."""

    TREE = TreeMean
    CLAIMS = ("n_nodes_", "n_options_", "n_leaves_", "depth_")
    PAPER = "buntine"
    MEANINGS = MIN_BRANCH

    tree_: Any
    dirichlet_: Any
    prior_: Prior
    n_nodes_: int
    n_options_: int
    n_leaves_: int
    depth_: int
    log_evidence_: float
    _rows: Rows | None = None
    _grown: list[_core.OptionGraph]
    _rivals: Rivals | None = None

    # These are the parameters of a subclass, named as in its ``__init__``.
    lookahead: int
    beam: int | None
    prior: Prior | str
    alpha: float
    beta: float
    dirichlet: Dirichlet
    stop_factor: float
    max_depth: int | None
    min_branch: int
    criterion: str
    nominal_tests: str
    missing: str
    nominal: Sequence[str | int] | None
    time_limit: float | None
    memory_limit: int | None

    # --- learning

    @one_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        with self._rows_at_hand():
            settings = self._settings()
            control = Limits(self.time_limit, self.memory_limit).control()
            with reading(self.time_limit, self.memory_limit):
                frame, labels, weights = self._read(X, y, sample_weight, reset=True)
                self._check_room(frame, control)
                self._given = None
                reader = self._new_reader(frame, weights)
            control.check()
            rows = Rows(reader.arrays(frame), labels, ones(weights, frame.n_rows))
            self._learn(reader, rows, settings, control, None)
            self._choose_by_folds(X, y, sample_weight)
        return self

    @one_at_a_time
    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Learn from these rows and from all rows of earlier calls of ``fit`` or ``partial_fit``.

        The model keeps all rows for this. New values of nominal columns may come with any batch. What
        ``missing="impute"`` fills in is from the first batch. If a batch is refused, or a limit is reached, the model
        stays as it was.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The rows of this batch.
        y : array-like of shape (n_rows,)
            The label of each row.
        classes : array-like of shape (n_classes,), optional
            All labels, at the first call, so that one may be absent from every batch; without it, new labels may come
            with any batch.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts: 3 as much as three such rows, 0.5 half as much, 0 as if it were not there.

        Returns
        -------
        Self
            This classifier, fitted.

        Raises
        ------
        DataError
            If rows, labels or weights cannot be read, or do not go with earlier batches.
        QueryError
            If a parameter has a value that it cannot have, or the model holds nothing to add to.
        """
        first = not hasattr(self, "classes_")
        if not first and self._rows is None:
            raise QueryError(
                "this model was loaded from a file, which holds no rows to add to; fit all rows, or start again with "
                "partial_fit on a new model"
            )
        with self._unless_refused() as before:
            settings = self._settings()
            control = Limits(self.time_limit, self.memory_limit).control()
            with reading(self.time_limit, self.memory_limit):
                frame, labels, weights = self._read(X, y, sample_weight, reset=first, batch=True)
            self._check_room(frame, control)
            self._check_classes(classes, labels, first)
            if first or self._rows is None:
                reader = self._new_reader(frame, weights)
                rows = Rows(reader.arrays(frame), labels, ones(weights, frame.n_rows))
                self._learn(reader, rows, settings, control, None)
            else:
                self.target_name_ = before["target_name_"]
                self._refuse(frame)
                reader = self._reader.extended(frame, self.nominal)
                rows = joined(self._rows, self._reader, reader, frame, labels, weights)
                self._learn(reader, rows, settings, control, self._grown if self._follows() else None)
        return self

    def _learn(
        self,
        reader: ColumnReader,
        rows: Rows,
        settings: _core.GrowSettings,
        control: _core.Control,
        older: list[_core.OptionGraph] | None,
    ) -> None:
        known = rows.labels if self._given is None else np.concatenate([rows.labels, self._given])
        classes = np.unique(known)
        check_classes(len(classes), len(rows.labels))
        self.checked_costs(len(classes))
        codes = np.searchsorted(classes, rows.labels)
        control.check()
        data = reader.columns_of(rows.arrays, rows.labels.shape[0])
        set_classes(data, codes, len(classes), rows.weights)
        parts = rows.weights.per_example
        settings.min_leaf = parts * whole("min_branch", self.min_branch, 1)
        if older is not None:
            finer = parts // self._rows.weights.per_example if self._rows is not None else 1
            older = moved(older, np.searchsorted(classes, self.classes_), len(classes), finer)
        n_counts = int(rows.weights.counts.sum())
        start: Any = self.dirichlet
        fitted = isinstance(start, str) and start == "fit"
        if fitted:
            start = float(np.clip(1 / len(classes), LEAST_A, MOST_A))
            if older is not None:
                start = self.dirichlet_
        totals = np.bincount(codes, weights=rows.weights.counts, minlength=len(classes))
        weights = self._weights(in_numbers(start, totals), len(classes), n_counts)
        weights = replace(weights, per_example=parts)
        grown, report = self._grow(data, settings, weights, control, older)
        if fitted:
            grown, report, weights = self._fit_dirichlet(
                data, settings, grown, report, weights, control, older
            )
        weighed, weights = self._weighed(data, grown, settings, weights, control)
        trees = [self._folded(graph, reader, classes, weights, control) for graph in weighed]
        trees = self._pruned(trees, report, Growth(reader, rows, codes, classes, settings, weights, control))
        self._reader, self._rows, self.classes_ = reader, rows, classes
        rivals = report.pop("rivals")
        self._grown, self._rivals = (grown, rivals) if self._follows() else ([], None)
        self._set_tree(trees, report)

    def _grow(
        self,
        data: _core.Columns,
        settings: _core.GrowSettings,
        weights: Weights,
        control: _core.Control,
        older: list[_core.OptionGraph] | None,
    ) -> tuple[list[_core.OptionGraph], dict[str, Any]]:
        """Return the graphs that are grown, or what older ones become, and the counts of the growth."""
        grown: list[_core.OptionGraph] = []
        rivals: list[list[float]] = []
        total: dict[str, Any] = {}
        terms: tuple[Any, ...] = (self._prior(), len(weights.rows[0]), self.max_depth, self.min_branch)
        terms = (*terms, self.nominal_tests, weights.per_example)
        known = self._rivals if self._rivals is not None and self._rivals.under(weights, terms) else None
        for k in range(self._n_trees()):
            settings.number = k
            if older is None:
                graph, report = _core.grow_options(data, settings, weights.prior, weights.dirichlet, control)
            else:
                lead = number(
                    "restructure", getattr(self, "restructure", 1.0), 1, math.inf, example=10, closed=True
                )
                before = [] if known is None else known.of_trees[k]
                graph, report = _core.restructure(
                    data, older[k], lead, settings, weights.prior, weights.dirichlet, control, before
                )
            grown.append(graph)
            rivals.append(report.pop("rivals").tolist())
            total = {name: total.get(name, 0) + value for name, value in report.items()}
        return grown, total | {"rivals": Rivals(rivals, weights.rows, terms)}

    def _fit_dirichlet(
        self,
        data: _core.Columns,
        settings: _core.GrowSettings,
        grown: list[_core.OptionGraph],
        report: dict[str, Any],
        weights: Weights,
        control: _core.Control,
        older: list[_core.OptionGraph] | None,
    ) -> tuple[list[_core.OptionGraph], dict[str, Any], Weights]:
        """Maximise log s(root) over one number a on the grown graph, and grow again with it, as long as that helps.

        A new a lets another tree grow, and that one may be worse: steps are short, and the best round is kept, so that
        the evidence is never less than that of the start.
        """
        from scipy.optimize import minimize_scalar

        n_classes = len(weights.rows[0])

        def with_a(log_a: float) -> Weights:
            return weights.with_rows([[math.exp(log_a)] * n_classes])

        def log_evidence(graphs: list[_core.OptionGraph], given: Weights) -> float:
            folds = (graph.fold(given.prior, given.dirichlet, "smooth", control) for graph in graphs)
            return sum(fold.log_evidence for fold in folds)

        best = (log_evidence(grown, weights), grown, report, weights)
        for _ in range(ROUNDS):
            graphs, at = best[1], math.log(best[3].rows[0][0])
            found = minimize_scalar(
                lambda log_a, graphs=graphs: -log_evidence(graphs, with_a(log_a)),
                bounds=(max(math.log(LEAST_A), at - STEP), min(math.log(MOST_A), at + STEP)),
                method="bounded",
                options={"xatol": 1e-3},
            )
            now = with_a(float(found.x))
            again, report = self._grow(data, settings, now, control, older)
            value = log_evidence(again, now)
            if not value > best[0] + SETTLED:
                break
            best = (value, again, report, now)
        return best[1:]

    def _folded(
        self,
        graph: _core.OptionGraph,
        reader: ColumnReader,
        classes: npt.NDArray[Any],
        weights: Weights,
        control: _core.Control,
    ) -> OptionTree:
        kind = self._fold_kind()
        log_leaf = (weights.tables.log_leaf_open, weights.tables.log_leaf_closed)
        tree = OptionTree(
            graph,
            reader.columns,
            classes.tolist(),
            log_leaf,
            weights.rows,
            kind,
            control,
            weights.per_example,
        )
        if tree.log_evidence == -math.inf:
            raise refused(
                QueryError,
                "prior",
                self.prior,
                says=" gives every tree that was grown the probability zero; use another prior",
            )
        return tree

    def _set_tree(self, trees: list[OptionTree], report: dict[str, Any]) -> None:
        """Set ``tree_`` and what is reported of growing it."""
        self.tree_ = trees[0] if len(trees) == 1 else TreeMean(trees)
        self.describe_tree()

    def describe_tree(self) -> None:
        tree = self.tree_
        self.n_nodes_, self.n_options_, self.n_leaves_ = tree.n_nodes, tree.n_options, tree.n_leaves
        self.depth_, self.log_evidence_ = tree.depth, tree.log_evidence
        self.prior_ = self._prior()
        row = tree.dirichlet[0]
        decay = self._decay()
        self.dirichlet_ = decay if decay is not None else row[0] if len(set(row)) == 1 else tuple(row)

    # --- what a subclass may change

    def _weighed(
        self,
        data: _core.Columns,
        grown: list[_core.OptionGraph],
        settings: _core.GrowSettings,
        weights: Weights,
        control: _core.Control,
    ) -> tuple[list[_core.OptionGraph], Weights]:
        """Return the graphs with the weights that they are folded by, which may be others than they grew by."""
        return grown, weights

    def _pruned(self, trees: list[OptionTree], report: dict[str, Any], growth: Growth) -> list[OptionTree]:
        """Return the trees as they are used, and add to the report what there is to say of it."""
        return trees

    def _follows(self) -> bool:
        """Return whether a new batch changes the older trees only where it must, instead of growing new ones."""
        return False

    def _n_trees(self) -> int:
        return 1

    def _fold_kind(self) -> str:
        return "smooth"

    # --- parameters

    def _settings(self) -> _core.GrowSettings:
        """Return the parameters of growing, checked."""
        self._check_calibrate()
        settings = _core.GrowSettings()
        settings.lookahead = whole("lookahead", self.lookahead, 1)
        if settings.lookahead > MOST_PLIES:
            raise refused(QueryError, "lookahead", self.lookahead, f"a whole number from 1 to {MOST_PLIES}")
        settings.beam = 0 if self.beam is None else whole("beam", self.beam, 1, none="all columns")
        settings.min_leaf = whole("min_branch", self.min_branch, 1)
        if self.max_depth is not None:
            settings.max_depth = whole("max_depth", self.max_depth, 0, none="no limit")
        settings.stop_factor = number("stop_factor", self.stop_factor, 0, math.inf, example=0.75, closed=True)
        settings.score = _one_of("criterion", self.criterion, ("quality", "bayes", "gain_ratio"))
        if settings.lookahead > 1 and settings.score != "quality":
            raise refused(
                QueryError,
                "lookahead",
                self.lookahead,
                says=Wording(
                    " with ",
                    argument("criterion", self.criterion),
                    "; only ",
                    argument("criterion", "quality"),
                    " looks ahead",
                ),
            )
        tests = _one_of("nominal_tests", self.nominal_tests, ("multiway", "binary"))
        settings.binary_nominal = tests == "binary"
        _one_of("missing", self.missing, ("category", "error", "impute"))
        self._prior()
        return settings

    def _prior(self, given: Prior | str | None = None) -> Prior:
        """Return a prior, or that of the parameters, as an object."""
        given = self.prior if given is None else given
        if isinstance(given, str) and given == "size":
            return SizePrior(self.alpha, self.beta)
        prior = as_prior(given)
        if prior.tables(0).kappa > 0:
            raise refused(
                QueryError,
                "prior",
                given,
                says=" weighs leaves by their examples, which no growing looks at; expected another prior, or "
                "BayesOptimalClassifier and MAPTreeClassifier with this one",
            )
        return prior

    def _decay(self) -> DepthDecay | None:
        if isinstance(self.dirichlet, str) and self.dirichlet == "decay":
            return DepthDecay()
        return self.dirichlet if isinstance(self.dirichlet, DepthDecay) else None

    def _weights(self, dirichlet: Any, n_classes: int, n_examples: int) -> Weights:
        """Return tables by depth, down to the deepest node that there can be, within reason."""
        limit = n_examples if self.max_depth is None else min(self.max_depth, n_examples)
        decay = self._decay()
        given = dirichlet if decay is None else decay
        try:
            dirichlet_rows(given, n_classes, 0)  # a bad one is refused here
        except QueryError as error:
            more = ', or "decay" or "fit"' if isinstance(dirichlet, str) else ""
            raise QueryError(Wording(error.wording, more), **error.fields) from None
        deepest = min(limit, DEEPEST)
        most_rows = max(64, MOST_CELLS // n_classes)
        return tabulated(self._prior(), given, n_classes, deepest, deepest_rows=min(deepest, most_rows))

    # --- columns

    def _new_reader(self, frame: Frame, weights: ExampleWeights | None) -> ColumnReader:
        self._refuse(frame)
        return ColumnReader.fit(frame, self.nominal, impute=self.missing == "impute", weights=weights)

    def _refuse(self, frame: Frame) -> None:
        if self.missing == "error":
            refuse_missing(frame)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class for each row: the mixture over the nodes that the row reaches.

        A row whose value has no branch, such as a nominal value that no training example of the node had, stops at the
        node that asks for it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, with the classes in the order of ``classes_``.
        """
        return self._calibrated(self._raw_proba(X))

    def _raw_proba(self, X: Any) -> npt.NDArray[np.float64]:
        frame = self._frame(X)
        self._refuse(frame)
        proba: npt.NDArray[np.float64] = self.tree_.predict_columns(
            self._reader.read(frame), Limits().control()
        )
        return proba

    def to_text(self, max_depth: int | None = None, precision: int = 3) -> str:
        """Return the tree as text, see ``OptionTree.to_text``.

        Parameters
        ----------
        max_depth : int, optional
            Show nodes with at most so many tests above them; None shows all.
        precision : int
            Digits of the numbers.

        Returns
        -------
        str
            One node per line.
        """
        check_is_fitted(self)
        text: str = self.tree_.to_text(max_depth, precision)
        return text

    def headline(self, on: str) -> str:
        return super().headline(on) + self._exponent_words()

    def as_text(self) -> str:
        return self.to_text()

    def _importances(self) -> npt.NDArray[np.float64]:
        trees = self.tree_.trees if isinstance(self.tree_, TreeMean) else (self.tree_,)
        each = [inclusion_in_options(tree, self.n_features_in_) for tree in trees]
        mean: npt.NDArray[np.float64] = np.mean(each, axis=0)
        return mean

    def display(self) -> Picture:
        return "options"

    def root_counts(self) -> npt.NDArray[Any] | None:
        return None if isinstance(self.tree_, TreeMean) else super().root_counts()

    def _reached(self, x: Any) -> Iterable[ReachedLeaf]:
        cells = self._reader.cells(read_frame(x, self))[0]
        trees = self.tree_.trees if isinstance(self.tree_, TreeMean) else (self.tree_,)
        return [leaf for one in trees for leaf in leaves_of_options(one, cells, 1 / len(trees))]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "_grown" in state:  # Graphs of the core are pickled as their arrays.
            state = dict(state)
            state["_grown"] = [(graph.n_classes, graph.arrays()) for graph in state["_grown"]]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_grown" in state:
            state = dict(state)
            state["_grown"] = [
                _core.OptionGraph(n_classes, **arrays) for n_classes, arrays in state["_grown"]
            ]
        super().__setstate__(state)

    # --- model files

    def columns_to_json(self) -> list[dict[str, Any]]:
        fills = self._reader.fills or (None,) * len(self._reader.columns)
        return [
            column | {"fill": fill} for column, fill in zip(super().columns_to_json(), fills, strict=True)
        ]

    def columns_from_json(self, data: Any) -> Sequence[Any]:
        fills: list[Any] = []
        bare = []
        for j, column in enumerate(data if isinstance(data, list) else ()):
            if not isinstance(column, dict) or "fill" not in column:
                raise DataError(
                    f"columns[{j}] is {clip(column)}; expected an object with name, kind, values and fill"
                )
            fills.append(column["fill"])
            bare.append({key: value for key, value in column.items() if key != "fill"})
        columns = super().columns_from_json(bare)
        for j, (fill, column) in enumerate(zip(fills, columns, strict=True)):
            if fill is not None:
                checked_number(fill, f"columns[{j}].fill")
                if column.kind == "nominal" and not (type(fill) is int and 0 <= fill < len(column.values)):
                    raise DataError(
                        f"columns[{j}].fill is {clip(fill)}; expected the number of one of its values"
                    )
        self._given = self._rows = self._rivals = None
        self._grown = []
        if self.missing == "impute":
            self._reader = ColumnReader(self._reader.columns, tuple(fills))
        return columns


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise refused(QueryError, name, value, f"one of {', '.join(map(repr, allowed))}")
    return value
