"""Probabilities p^γ / Σ p^γ, with γ chosen by the exact leave-one-out log-loss of the training examples.

    calibrate="loo"    raw probabilities → γ → predict_proba;     raw_proba(X) are those before

One number is chosen, so it cannot fit noise, and with two classes the order of the rows stays the same. Where nothing
can be left out of the average, ``cross_calibration`` has calibrate="cv".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from everytree.bayes.exponent import best_exponent, log_loss_at
from everytree.bayes.leave_one_out import LeaveOneOut
from everytree.common.told import tell
from everytree.data.binarizer import transform_frame
from everytree.data.frames import Frame
from everytree.errors import LimitReached, QueryError
from everytree.estimators.cross_calibration import CROSS_NUMBERS, CrossCalibrated

__all__ = ["Calibrated"]

Reals = npt.NDArray[np.float64]
NUMBERS = ("exponent", "loo_log_loss", "loo_log_loss_error", "calibrated_loo_log_loss")


class Calibrated(CrossCalibrated):
    """The exponent of a fitted average, beside ``IncrementalBase``, which fits it."""

    CALIBRATIONS = ("loo", "cv")
    SHARES_TIME = True

    posterior_: Any
    loo_log_loss_: float | None
    loo_log_loss_error_: float | None
    calibrated_loo_log_loss_: float | None
    loo_proba_: Reals

    def _after_fit(self, frame: Frame, labels: npt.NDArray[Any], sample_weight: npt.ArrayLike | None) -> None:
        if getattr(self, "loo_log_loss_", None) is None:
            return
        tests = np.ascontiguousarray(transform_frame(self.binarizer_, frame))  # type: ignore[attr-defined]
        codes = np.searchsorted(self.classes_, labels)  # type: ignore[attr-defined]
        known: Reals = self.posterior_.leave_one_out().of(tests, codes, self.posterior_.predict_proba)
        used: npt.NDArray[np.bool_] = self._used  # type: ignore[attr-defined]
        self.loo_proba_ = np.full((len(used), known.shape[1]), np.nan)
        self.loo_proba_[used] = known

    def _raw_proba(self, X: Any) -> Reals:
        proba: Reals = self.posterior_.predict_proba(self.to_tests(X))  # type: ignore[attr-defined]
        return proba

    def _check_word(self) -> None:
        """Refuse a word that is not known, and left-out examples of a sample or where the classes chose cuts."""
        super()._check_word()
        if self.calibrate == "loo" and getattr(self, "method", "exact") != "exact":
            raise QueryError(
                'calibrate="loo" with method="collapsed": leaving out each example needs the exact average; use '
                'calibrate="cv", or method="exact" under a smaller max_depth'
            )
        if self.calibrate == "loo" and self.binarizer_.saw_classes_:  # type: ignore[attr-defined]
            raise QueryError(
                f'calibrate="loo" with bins={self.binarizer_.bins!r}: the classes chose the cuts, so an example that '  # type: ignore[attr-defined]
                'is left out is still in them; use a number of bins or cuts="local", or calibrate="cv"'
            )

    def _forget_calibration(self) -> None:
        for name in (*NUMBERS, "loo_proba"):
            vars(self).pop(f"{name}_", None)
        self._forget_folds()

    def _choose_exponent(self) -> None:
        """Leave out every example once, and choose the exponent by what is said of them."""
        self._forget_calibration()
        if self.calibrate != "loo":
            return
        try:
            left: LeaveOneOut = self.posterior_.leave_one_out()
        except LimitReached as limit:
            self.exponent_ = 1.0
            self.loo_log_loss_ = self.loo_log_loss_error_ = self.calibrated_loo_log_loss_ = None
            tell(
                f"{limit.reason or 'the'} limit reached before every example was left out once: the probabilities are "
                "those of the average itself (exponent_ is 1). Raise the limit, or lower max_depth",
                ConvergenceWarning,
            )
            return
        self._take_left_out(left)

    def _take_left_out(self, left: LeaveOneOut) -> None:
        """Set the exponent, and what is known of it, from what is said of left-out examples."""
        self.exponent_ = best_exponent(left.proba, left.codes, left.counts)
        self.loo_log_loss_ = left.log_loss
        self.loo_log_loss_error_ = left.standard_error
        self.calibrated_loo_log_loss_ = log_loss_at(self.exponent_, left.proba, left.codes, left.counts)

    def _read_exponent(self, claims: dict[str, Any]) -> None:
        """Take the exponent from the claims of a file; ``everytree verify`` computes that of "loo" again."""
        self._forget_calibration()
        self._read_numbers(claims, NUMBERS if self.calibrate == "loo" else CROSS_NUMBERS)
