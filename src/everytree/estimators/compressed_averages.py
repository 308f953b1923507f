"""CompressedAverages: an ``EveryTreeClassifier`` as a list of drawn trees, for when answers must come at once.

Each average is replaced by the mean of independent draws from it, a forest of deep trees by some of its trees; the rest
stays as it is. The error of an average
reaches the answer through its logarithm, times the weight w_k; with σ_k the spread of what its trees say, relative to
what they say on the mean, the variance of the answer is about

    Σ_k w_k² σ_k² / n_k       least, for Σ n_k given, where      n_k ∝ w_k σ_k

σ_k is estimated from a few draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.forest import Forest, drawn_forest, joined
from everytree.bayes.stacking import pooled
from everytree.common.account import Account
from everytree.common.arguments import whole
from everytree.common.limits import Limits, threads
from everytree.data.asked_places import AskedPlaces
from everytree.data.binarizer import rules_of
from everytree.data.frames import check_columns, read_frame
from everytree.data.local_columns import LocalColumns
from everytree.estimators.decisions import DecidesByCost
from everytree.estimators.evidence_parts import columns_of, columns_with_tests, evidence_from

__all__ = ["CompressedAverages", "compressed", "drawn_forests"]

Reals = npt.NDArray[np.float64]
FEWEST = 5  # draws of an average: its spread is first estimated from them, and as many parts tell the error
COPIES = 3  # of the trees: as they are drawn, over the columns of all, and joined with the first few
KEY = 40  # bytes of a node in the list of one average's trees, from which they are made
CHECKED = 500  # training rows on which the draws are compared with the averages


class CompressedAverages(DecidesByCost):
    """Trees drawn from the averages of an ``EveryTreeClassifier``: nearly its probabilities, in milliseconds.

    ``EveryTreeClassifier.compress`` makes one. It holds no training rows, and can be pickled. How far it is from the
    averages was measured when it was made: see ``bound_``. To make it again after a model was loaded from its file,
    call ``compress`` again: the draws have a seed.

    Attributes
    ----------
    bound_ : float
        The largest distance of a probability from that of the averages, over the training rows that were looked at.
        It is no bound for new rows, some of which were further off on every data set tried: ``return_error`` of
        ``predict_proba`` says how far each is likely to be.
    rms_ : float
        The root mean square of these distances.
    n_checked_ : int
        The number of training rows that were looked at.
    n_trees_ : int
        The number of trees.
    forests_ : list of Forest
        The trees of each average, then those of each forest.
    weights_by_class_ : ndarray of shape (n_models + n_forests, n_classes)
        How much of the evidence of each average and forest counts for each class.
    shares_ : ndarray of shape (n_classes,)
        The shares of the classes, which the evidence moves.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, only where training had names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import everytree as et
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = et.EveryTreeClassifier().fit(X, y)
    >>> small = model.compress(n_trees=500)
    >>> small.n_trees_
    500
    >>> off = abs(small.predict_proba(X) - model.predict_proba(X)).max()
    >>> bool(off <= small.bound_ < 0.2)
    True
    """

    bound_: float
    rms_: float
    n_checked_: int
    forests_: list[Forest]
    weights_by_class_: Reals
    shares_: Reals
    n_features_in_: int

    def __init__(self, model: Any, places: AskedPlaces, forests: list[Forest]) -> None:
        for name in ("classes_", "n_features_in_", "feature_names_in_", "recipes_", "target_name_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
        self.cost_matrix, self.n_jobs = model.cost_matrix, model.n_jobs
        self.weights_by_class_, self.shares_ = model.weights_by_class_, model.shares_
        self._total = model.coded_.total
        self._columns = model.columns_used_.tolist()
        self._rules, self._places, self.forests_ = rules_of(model.coded_.binarizer), places, forests

    def __repr__(self) -> str:
        return f"CompressedAverages({self.n_trees_} trees of {len(self.forests_)} averages)"

    @property
    def n_trees_(self) -> int:
        return sum(forest.n_trees for forest in self.forests_)

    @property
    def nbytes(self) -> int:
        """The bytes that the trees take."""
        return sum(forest.nbytes for forest in self.forests_)

    def predict_proba(self, X: Any, return_error: bool = False) -> Any:
        """Predict class probabilities by the drawn trees.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.
        return_error : bool, default=False
            Whether to return the standard error of each probability too: how far it is likely to be from that of the
            averages, because they were drawn from. It is estimated from parts of the trees.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or two of them
            The probabilities, in the order of ``classes_``; with ``return_error`` also the standard errors.
        """
        frame = read_frame(X, self)
        check_columns(self, frame, reset=False)
        part = columns_of(frame, self._columns)
        self._rules.check_missing(part)
        rows = self._places.rows(part)
        proba = self.of_rows(rows)
        if not return_error:
            return proba
        each = [
            self.of_rows(rows, [forest.every(FEWEST, k) for forest in self.forests_]) for k in range(FEWEST)
        ]
        return proba, np.stack(each).std(axis=0, ddof=1) / np.sqrt(FEWEST)

    def of_rows(self, rows: npt.NDArray[np.uint16], forests: list[Forest] | None = None) -> Reals:
        """Predict class probabilities of rows that hold what the trees ask for.

        Parameters
        ----------
        rows : ndarray of uint16
            The rows, as ``AskedPlaces`` gives them.
        forests : list of Forest or None
            The trees of each average; None for all of ``forests_``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        control, n_threads = Limits().control(), threads(self.n_jobs)
        said = [forest.mean(rows, n_threads, control) for forest in forests or self.forests_]
        log_shares = np.log(self.shares_)
        return pooled(evidence_from(said, log_shares), log_shares, self.weights_by_class_, self._total)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable label of each row; with a ``cost_matrix``, that of least expected cost.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The label of each row.
        """
        labels: npt.NDArray[Any] = self.classes_[self.decide(self.predict_proba(X))]
        return labels

    def compared_with(self, said: Reals, exact: Reals) -> None:
        """Set how far the draws are from the averages on some rows.

        Parameters
        ----------
        said : ndarray of shape (n_rows, n_classes)
            What the draws say of the rows.
        exact : ndarray of shape (n_rows, n_classes)
            What the averages say of them.
        """
        off = np.abs(said - exact)
        self.bound_, self.rms_, self.n_checked_ = float(off.max()), float(np.sqrt((off**2).mean())), len(off)


def compressed(model: Any, n_trees: int) -> CompressedAverages:
    """Draw trees from the averages of a fitted model, where they matter most, and look how far they are from it."""
    places, forests = _placed(model.coded_.columns, drawn_forests(model, n_trees))
    made = CompressedAverages(model, places, forests)
    checked = _checked(model)
    made.compared_with(made.of_rows(places.rows(checked)), model.proba_of_frame(checked))
    return made


def drawn_forests(model: Any, n_trees: int) -> list[Forest]:
    """Draw trees from each average of a fitted model, and take some deep ones; they ask the tests of its columns."""
    n_models, deep = len(model.models_), [each.forest for each in model.forests_]
    n_trees = max(whole("n_trees", n_trees, 1), FEWEST * (n_models + len(deep)))
    control, n_threads = Limits().control(), threads(model.n_jobs)
    coded = model.coded_
    seeds = np.random.default_rng(int(model.random_state)).integers(2**31, size=(2, n_models)).tolist()

    def drawn(numbers: Sequence[int], seeds: Sequence[int], begin: int) -> list[Forest]:
        # Deep trees were grown at random, so that any of them will do.
        return [
            *(
                _renamed(
                    drawn_forest(each.posterior_, n, seed, control), coded.tests_of(columns_with_tests(each))
                )
                for each, n, seed in zip(model.models_, numbers, seeds, strict=False)
            ),
            *(each.some(begin, n) for each, n in zip(deep, numbers[n_models:], strict=True)),
        ]

    few = drawn([FEWEST] * (n_models + len(deep)), seeds[0], 0)
    places, first = _placed(coded.columns, few)
    rows = places.rows(_checked(model))
    spread = np.array([_spread(forest, rows, n_threads, control) for forest in first])
    most = np.array([*[np.inf] * n_models, *(each.n_trees - FEWEST for each in deep)])
    numbers = _shared_out(n_trees - FEWEST * (n_models + len(deep)), model.weights_ * spread, most)
    account = Account(model.memory_limit)
    account.hold(model._held())
    account.need(_bytes_of(few, numbers), f"drawing {n_trees} trees", "draw fewer of them")
    more = drawn(numbers, seeds[1], FEWEST)
    return [joined(*two) for two in zip(few, more, strict=True)]


def _bytes_of(few: list[Forest], numbers: Sequence[int]) -> int:
    """Return about how many bytes it takes to draw so many trees of each kind, by the few that were drawn of it."""
    some = [(n, each.n_trees, each) for n, each in zip(numbers, few, strict=True) if each.n_trees]
    keys = max((n * len(each.nodes) // of * KEY for n, of, each in some), default=0)
    return keys + sum(COPIES * n * each.nbytes // of for n, of, each in some)


def _checked(model: Any) -> Any:
    """Return some of the training rows, spread evenly."""
    coded = model.coded_
    return coded.frame(np.unique(np.linspace(0, len(coded.codes) - 1, CHECKED).astype(np.intp)))


def _renamed(forest: Forest, tests: npt.NDArray[np.intp]) -> Forest:
    """Return the trees over the tests of all columns, of which those of their own space have these numbers."""
    named = tests[forest.nodes[:, 0]] if tests.size else forest.nodes[:, 0]
    return forest.asking(named.astype(np.uint32), forest.nodes[:, 1])


def _placed(columns: LocalColumns, forests: list[Forest]) -> tuple[AskedPlaces, list[Forest]]:
    """Return the trees over the few numbers of a row that they ask for, and how rows become these."""
    nodes = np.concatenate([forest.nodes for forest in forests])
    split = np.concatenate([forest.is_split for forest in forests])
    cells, uppers = np.zeros(len(nodes), dtype=np.uint32), np.zeros(len(nodes), dtype=np.uint32)
    places, cells[split], uppers[split] = AskedPlaces.of(columns, nodes[split, 0], nodes[split, 1])
    ends = np.cumsum([len(forest.nodes) for forest in forests])[:-1]
    own = zip(forests, np.split(cells, ends), np.split(uppers, ends), strict=True)
    return places, [forest.asking(cell, upper) for forest, cell, upper in own]


def _spread(forest: Forest, rows: npt.NDArray[Any], n_threads: int, control: _core.Control) -> float:
    """Return the spread of what single trees say, relative to the mean of what they say."""
    each = np.stack(
        [forest.every(forest.n_trees, k).mean(rows, n_threads, control) for k in range(forest.n_trees)]
    )
    return float(np.sqrt((each.var(axis=0, ddof=1) / each.mean(axis=0) ** 2).mean()))


def _shared_out(n: int, by: Reals, most: Reals) -> list[int]:
    """Return n as whole numbers in proportion to ``by``; those that lose most by rounding down get one more.

    None is above its ``most``: a forest has only so many trees, and what it cannot have goes to the others.

    >>> _shared_out(10, np.array([1.0, 2.0, 0.0]), np.full(3, np.inf))
    [3, 7, 0]
    >>> _shared_out(10, np.array([1.0, 2.0, 1.0]), np.array([np.inf, 2, np.inf]))
    [4, 2, 4]
    """
    total = float(by.sum())
    wanted = n * by / total if total > 0 else np.full(by.size, n / by.size)
    full = (wanted > most) & (by > 0)
    if full.any() and not full.all():
        kept = np.where(full, most, 0.0)
        rest = _shared_out(max(0, n - int(kept.sum())), np.where(full, 0.0, by), most)
        return [int(a) if whole else b for a, b, whole in zip(kept, rest, full, strict=True)]
    found = np.floor(wanted).astype(int)
    found[np.argsort(found - wanted, kind="stable")[: n - int(found.sum())]] += 1
    return [int(each) for each in found]
