"""Probabilities p^γ / Σ p^γ, with γ chosen by a cross-validation inside ``fit``: for averages of any kind.

    calibrate="cv"     five folds → the same classifier without each → p of the rows left out → γ → predict_proba

Chains, option trees and trees grown by quality look at the classes to find their trees, so that no formula leaves an
example out of them: they are fitted again without a fifth of the rows, five times, with all their settings. What these
five say of rows they have not seen is what chooses the exponent, and is told as it is (``cv_log_loss_``,
``cv_proba_``). The model itself is fitted to all rows, and ``raw_proba`` is what it says before the exponent.

The folds are the same at every fit, whatever the order of the rows: see ``dealt_rows``. The exponent is at least 0.01,
so that also where nothing can be learned the most probable class stays the most probable one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from everytree.bayes.exponent import MOST, chosen_exponent, tempered
from everytree.common.arguments import refused
from everytree.common.fields import checked_number
from everytree.common.text import clip
from everytree.common.told import tell
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import Frame
from everytree.errors import DataError, EverytreeError, LimitReached, QueryError
from everytree.estimators.dealt_rows import DealtRows, dealt_rows
from everytree.estimators.one_fit import put_back

__all__ = ["CROSS_NUMBERS", "FOLDS", "CrossCalibrated"]

Reals = npt.NDArray[np.float64]

FOLDS = 5
LEAST = 0.01  # the smallest exponent: with 0 all classes would be alike, and the first one be predicted
LEAST_SECONDS = 1e-3  # for a fold; where all the time is spent, it ends at once
CROSS_NUMBERS = ("exponent", "cv_log_loss", "cv_log_loss_error", "calibrated_cv_log_loss")
# These change no probability; a class weight is in the weights of the rows already.
WITHOUT = {"calibrate": None, "class_weight": None, "cost_matrix": None, "progress": False}


class CrossCalibrated:
    """The exponent of an average by cross-validation, before the classifier that it belongs to in its bases.

    That has a parameter ``calibrate`` and a method ``_raw_proba``, and takes ``_calibrated`` of it in its predictions.
    Its ``fit`` runs within ``_rows_at_hand`` and ends with ``_choose_by_folds``; wherever it learns it calls
    ``_check_calibrate``, so that batches and tables, which are no rows to split, are refused.
    """

    # The words of ``calibrate``, beside None.
    CALIBRATIONS: ClassVar[tuple[str, ...]] = ("cv",)
    # Whether a limit ends the fit early with what there is, so that all fits must share the time.
    SHARES_TIME: ClassVar[bool] = False

    calibrate: str | None
    exponent_: float
    cv_log_loss_: float | None
    cv_log_loss_error_: float | None
    calibrated_cv_log_loss_: float | None
    cv_proba_: Reals
    _begun: float | None = None  # when a fit that splits its rows began

    @contextmanager
    def _rows_at_hand(self) -> Iterator[None]:
        """Run a fit to all rows inside; where its exponent cannot be had, the model is again what it was."""
        before = dict(vars(self))
        self._forget_folds()
        if self.calibrate != "cv":
            yield
            return
        try:
            self._begun = time.monotonic()
            yield
        except BaseException:
            put_back(vars(self), before)
            raise
        finally:
            self.__dict__.pop("_begun", None)

    def raw_proba(self, X: Any) -> Reals:
        """Return the class probabilities of the average itself, before the exponent of ``calibrate``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._raw_proba(X)

    def _raw_proba(self, X: Any) -> Reals:
        raise NotImplementedError

    def _calibrated(self, proba: Reals) -> Reals:
        return tempered(proba, getattr(self, "exponent_", 1.0))

    def _exponent_words(self) -> str:
        """Return a sentence about the exponent, with a space before it; "" where there is none."""
        exponent = vars(self).get("exponent_", 1.0)
        if exponent == 1:
            return ""
        return f" Its probabilities are taken to the power {exponent:.3g}, then scaled."

    # --- choosing

    def _check_calibrate(self) -> None:
        """Refuse a word that is not known, and learning from what is no rows."""
        self._check_word()
        if self.calibrate == "cv" and self._begun is None:
            raise QueryError(
                'calibrate="cv" splits all rows into folds, which batches and tables do not have; use fit on all rows, '
                "or calibrate=None"
            )

    def _check_word(self) -> None:
        if self.calibrate is not None and not (
            isinstance(self.calibrate, str) and self.calibrate in self.CALIBRATIONS
        ):
            words = " or ".join(f'"{word}"' for word in self.CALIBRATIONS)
            expected = f"None or {words}" if len(self.CALIBRATIONS) == 1 else f"None, {words}"
            raise refused(QueryError, "calibrate", self.calibrate, expected)

    def _forget_folds(self) -> None:
        for name in (*CROSS_NUMBERS, "cv_proba"):
            vars(self).pop(f"{name}_", None)

    def _time_left(self) -> Any:
        left, limit = super()._time_left(), getattr(self, "time_limit", None)  # type: ignore[misc]
        if not self.SHARES_TIME or self._begun is None or limit is None or left is limit:
            return left
        return max(LEAST_SECONDS, left - limit * FOLDS / (FOLDS + 1))

    def _choose_by_folds(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        """Fit without each fold, and choose the exponent by what is said of its rows."""
        if self._begun is None:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # The same rows were read before.
            frame, labels, weights = self._read(X, y, sample_weight, reset=False)  # type: ignore[attr-defined]
        codes: npt.NDArray[np.intp] = np.asarray(np.searchsorted(self.classes_, labels))  # type: ignore[attr-defined]
        dealt = dealt_rows(frame, codes, weights, FOLDS)
        self.exponent_ = 1.0
        self.cv_log_loss_ = self.cv_log_loss_error_ = self.calibrated_cv_log_loss_ = None
        said: list[Reals] = []
        try:
            for fold in dealt.judged:
                said.append(self._without(frame, labels, dealt, fold))
        except LimitReached as limit:
            tell(
                f"{limit.reason or 'the'} limit reached before every fold was left out once: the probabilities are "
                "those of the average itself (exponent_ is 1). Raise the limit, or make the model smaller",
                ConvergenceWarning,
            )
            return
        self._take(said, dealt, codes)

    def _take(self, said: list[Reals], dealt: DealtRows, codes: npt.NDArray[np.intp]) -> None:
        """Choose the exponent by what was said of the rows of each fold, and keep it row by row."""
        examples = [dealt.counts[:, fold] / dealt.per_example for fold in dealt.judged]
        held = [np.flatnonzero(each) for each in examples]
        n_classes = len(self.classes_)  # type: ignore[attr-defined]
        if said:
            found = chosen_exponent(
                np.concatenate(said),
                np.concatenate([codes[dealt.first[rows]] for rows in held]),
                np.concatenate([each[rows] for each, rows in zip(examples, held, strict=True)]),
                LEAST,
            )
            self.exponent_ = found.exponent
            self.cv_log_loss_, self.cv_log_loss_error_ = found.log_loss, found.log_loss_error
            self.calibrated_cv_log_loss_ = found.calibrated_log_loss
        mean = np.zeros((len(dealt.first), n_classes))
        for each, rows, proba in zip(examples, held, said, strict=True):
            mean[rows] += each[rows, None] * proba
        total = sum(examples, np.zeros(len(dealt.first)))
        with np.errstate(invalid="ignore"):
            mean /= total[:, None]  # NaN for what was in no fold
        used: npt.NDArray[np.bool_] = self._used  # type: ignore[attr-defined]
        self.cv_proba_ = np.full((len(used), n_classes), np.nan)
        self.cv_proba_[used] = mean[dealt.group]

    def _without(self, frame: Frame, labels: npt.NDArray[Any], dealt: DealtRows, fold: int) -> Reals:
        """Fit the same classifier to the examples outside a fold, and return what it says of the rows in it."""
        made: Any = clone(self)
        made.set_params(**{name: value for name, value in WITHOUT.items() if hasattr(made, name)})
        limit = getattr(self, "time_limit", None)
        if limit is not None and self._begun is not None:
            spent = time.monotonic() - self._begun
            left = limit / (FOLDS + 1) if self.SHARES_TIME else limit - spent
            made.set_params(time_limit=max(LEAST_SECONDS, left))
        counts = dealt.to_learn(fold)
        train = dealt.first[counts > 0]
        weights = ExampleWeights(counts[counts > 0], dealt.per_example)
        try:
            with warnings.catch_warnings():
                # The model of all rows has warned of its own settings and limits.
                warnings.simplefilter("ignore", UserWarning)
                made.fit(frame.take(train), labels[train], weights)
        except LimitReached:
            raise
        except EverytreeError as error:
            error.add_note(
                f'raised in fold {fold + 1} of the cross-validation of calibrate="cv", which learns without some of '
                "the rows; what depends on the tests of all rows does not go with it"
            )
            raise
        proba: Reals = made.predict_proba(frame.take(dealt.first[dealt.counts[:, fold] > 0]))
        return proba

    # --- files

    def exponent_claims(self) -> tuple[str, ...]:
        """Return the fitted numbers that files hold only where probabilities are calibrated.

        Returns
        -------
        tuple of str
            Their names.
        """
        return () if self.calibrate is None else tuple(f"{name}_" for name in CROSS_NUMBERS)

    def finish_loading(self) -> None:
        """Check what a model file says of the exponent, after its parameters, tree and claims were read."""
        super().finish_loading()  # type: ignore[misc]
        self._check_word()
        for name in self.exponent_claims():
            _number({name[:-1]: vars(self).get(name)}, name[:-1])

    def _read_numbers(self, claims: dict[str, Any], names: Sequence[str] = CROSS_NUMBERS) -> None:
        """Take the exponent, and what is known of it, from the claims of a file."""
        self._forget_folds()
        if self.calibrate is None:
            if "exponent" in claims:
                raise DataError("claims.exponent is given, but params ask for no calibration")
            return
        for name in names:
            setattr(self, f"{name}_", _number(claims, name))


def _number(claims: dict[str, Any], name: str) -> Any:
    """Return a number of the claims, or None; an exponent has a range, and is always there."""
    value = claims.get(name)
    if name == "exponent":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
            raise DataError(f"claims.exponent is {clip(value)}; expected a number from 0 to {MOST:g}")
        return value
    return value if value is None else checked_number(value, f"claims.{name}")
