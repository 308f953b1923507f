"""The figures of ``everytree predict`` on a file with labels, and which of its rows the model has learned from.

A figure on training rows is the one that everybody likes and nobody should believe. So rows that are known again are
told, with the figures on the others; where all are, those of every example left out, if the model has them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from everytree.estimators.screening import chosen_by_labels
from everytree.estimators.training_rows import TrainingRows
from everytree.metrics import CLIP, log_loss

__all__ = ["Score"]

SOME = 0.05  # the share of rows known again from which on it is told: a few are like others by chance


class _Sums:
    """Accuracy and log-loss, added up."""

    def __init__(self) -> None:
        self.rows = self.right = 0
        self.loss = 0.0

    def add(self, codes: Any, answers: Any, proba: Any) -> None:
        known = codes >= 0
        self.rows += int((codes >= -1).sum())
        self.right += int((answers[known] == codes[known]).sum())
        self.loss += float(log_loss(proba[known], codes[known]).sum())
        self.loss += float((codes == -1).sum()) * -np.log(CLIP)

    def __str__(self) -> str:
        return f"accuracy {self.right / self.rows:.4f}, log-loss {self.loss / self.rows:.4f}"


class Score:
    """Accuracy and log-loss, added up piece by piece; rows without a label do not count."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._place = {label: c for c, label in enumerate(model.classes_.tolist())}
        self._all, self._new, self._unknown = _Sums(), _Sums(), 0
        self._training = TrainingRows(model)

    def add(self, features: Any, truth: Any, said: Any, proba: Any) -> None:
        """Add the rows of a piece: what is true of them, and what the model says."""
        labels = [None if value is None or value != value else value for value in truth.tolist()]
        codes = np.array(
            [-2 if label is None else self._place.get(label, -1) for label in labels], dtype=np.intp
        )
        answers = np.array([self._place[label] for label in said.tolist()], dtype=np.intp)
        self._unknown += int((codes == -1).sum())
        self._all.add(codes, answers, proba)
        new = ~self._training.look(features, codes)
        self._new.add(codes[new], answers[new], proba[new])

    def _known_again(self) -> int | None:
        """Return how many rows were in training; None where that may be, and is not known."""
        whole = self._training.all_of_them()
        if whole is None:
            return None
        again = self._all.rows if whole else self._all.rows - self._new.rows
        return again if again >= SOME * self._all.rows else 0

    def found(self) -> dict[str, Any]:
        """Return the figures."""
        n = self._all.rows
        return {
            "labelled_rows": n, "unknown_labels": self._unknown,
            "accuracy": self._all.right / n if n else None, "log_loss": self._all.loss / n if n else None,
            "training_rows": self._known_again() if n else 0,
        }  # fmt: skip

    def told(self) -> list[str]:
        """Say which of the rows the model has learned from, if it has from some."""
        n = self._all.rows
        again = self._known_again() if n else 0
        if again is None:
            return [
                "these may be the rows that the model has learned from (there are as many of each class): if so, "
                "expect less on new rows"
            ]
        if not again:
            return []
        less = "expect less on new rows"
        if again < n:
            return [
                f"{again} of the {n} rows were in the training data, where {less}; on the others {self._new}"
            ]
        words = "all rows were" if n > 1 else "this row was"
        accuracy, loss = (getattr(self._model, f"loo_{name}_", None) for name in ("accuracy", "log_loss"))
        too_good = chosen_by_labels(getattr(self._model, "notes_", ()))
        if accuracy is None or loss is None or n != self._training.total or too_good:
            return [f"{words} in the training data: {less}, as the held-out figures of everytree fit tell"]
        return [
            f"{words} in the training data: {less}. Each left out of it: accuracy {accuracy:.4f}, log-loss {loss:.4f}"
        ]
