"""How good the probabilities of a model are: reliability, also class by class, and what every threshold would decide.

rows, confidence, hits    by the probability of the most probable class, in bins
classes                   the same for the probability of each class, whatever is most probable
grid                      for each class the number of rows by its probability in hundredths and by true class:
                          every confusion matrix of "say this class from so much on" is a sum of it
confusion                 rows by true class, columns by what the model says
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.data.frames import Frame
from everytree.estimators.honest import held_out
from everytree.metrics import Reliability, brier, log_loss

__all__ = ["Judged", "calibration", "judge"]

BINS = 10
STEPS = 100  # of a threshold
MOST_CLASSES = 12  # with more, the page has no tables class by class
SLOW = (
    "Nothing is said about calibration: no part of a cross-validation was possible, or none ended in time. Raise the "
    "time limit, or give rows that were held out."
)
Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


class Judged(NamedTuple):
    """What a model says of rows that judge it: probabilities, what it decides, the truth, and how that was found."""

    proba: Reals
    said: Codes
    codes: Codes
    about: str


def judge(model: Any, frame: Frame, codes: Codes, training: bool | None, seconds: float) -> Judged | str:
    """Let a model speak of rows, or return a sentence why that was not possible.

    Rows of training judge by cross-validation: each row by a model that was fitted again without it. Other rows judge
    the model as it is. ``training`` is None where it is not known which they are.
    """
    if training:
        return _cross_validated(model, frame, codes, seconds)
    proba = np.asarray(model.predict_proba(frame))
    which = (
        "other rows than those of training"
        if training is False
        else "the rows given, which may be those of training"
    )
    said = _said(model, frame, proba)
    return Judged(proba, said, codes, f"On {which}: {len(codes):,} of them.")


def _said(model: Any, frame: Frame, proba: Reals) -> Codes:
    """Return what the model decides, as places in ``classes_``; an average's ``proba`` is not computed twice."""
    if model.AVERAGES:
        return np.asarray(model.decide(proba), dtype=np.intp)
    said: Codes = np.searchsorted(model.classes_, model.predict(frame)).astype(np.intp)
    return said


def _cross_validated(model: Any, frame: Frame, codes: Codes, seconds: float) -> Judged | str:
    """Judge rows by models that were fitted without them: as ``everytree fit`` does, on the same parts."""
    if int(np.bincount(codes).max()) < 2 or len(codes) < 4:
        return "There are too few rows for a cross-validation, so nothing is said about calibration."
    found = held_out(model, frame, codes, None, seconds=seconds)
    if found is None:
        return SLOW
    about = f"By {found.how} on {len(codes):,} training rows: each row is judged by a model that was fitted without it."
    return Judged(found.proba, found.said, codes[found.rows], about)


def calibration(
    judged: Judged, classes: list[str], weights: npt.NDArray[np.int64] | None = None
) -> dict[str, Any]:
    """Return what the page shows of rows that judge a model; ``weights`` says how many examples a row stands for."""
    proba, said, codes, about = judged
    if weights is not None:
        proba, said, codes = proba.repeat(weights, axis=0), said.repeat(weights), codes.repeat(weights)
    found = Reliability.of(proba, codes, BINS)
    made: dict[str, Any] = {
        "about": f"{about} Points near the dashed line are probabilities that came true as often as they said.",
        "rows": list(found.rows),
        "confidence": list(found.confidence),
        "hits": list(found.hits),
        "scores": [
            ["accuracy", f"{100 * float((said == codes).mean()):.1f} %"],
            ["log-loss", f"{log_loss(proba, codes).mean():.3f}"],
            ["Brier score", f"{brier(proba, codes).mean():.3f}"],
            ["calibration error", f"{found.ece:.3f}"],
        ],
        "classes": [],
        "grid": [],
        "confusion": [],
    }
    n = len(classes)
    if n <= MOST_CLASSES:
        made["classes"] = [_one_class(proba[:, c], codes == c) for c in range(n)]
        made["grid"] = [_grid(proba[:, c], codes, n) for c in range(n)]
        made["confusion"] = np.bincount(codes * n + said, minlength=n * n).reshape(n, n).tolist()
    return made


def _one_class(p: Reals, true: npt.NDArray[np.bool_]) -> dict[str, Any]:
    place = np.clip(np.floor(np.round(p * BINS, 9)).astype(np.intp), 0, BINS - 1)
    return {
        "rows": np.bincount(place, minlength=BINS).tolist(),
        "confidence": np.bincount(place, p, minlength=BINS).round(6).tolist(),
        "hits": np.bincount(place[true], minlength=BINS).tolist(),
    }


def _grid(p: Reals, codes: Codes, n: int) -> list[list[int]]:
    """Count rows by true class and by the threshold, in hundredths, up to which the class would be said."""
    place = np.clip(np.floor(np.round(p * STEPS, 9)).astype(np.intp), 0, STEPS)
    return np.bincount(codes * (STEPS + 1) + place, minlength=n * (STEPS + 1)).reshape(n, STEPS + 1).tolist()
