"""The evidence of hyper-parameters, as a display."""

from __future__ import annotations

from typing import Any, Self

import numpy.typing as npt

from everytree.bayes.evidence import EvidenceFit
from everytree.draw.evidence import plot_evidence
from everytree.errors import QueryError

__all__ = ["EvidenceDisplay"]


class EvidenceDisplay:
    """The evidence of what ``fit_evidence`` tried, a panel for each number."""

    axes_: npt.NDArray[Any]
    ax_: Any  # the first Axes
    figure_: Any  # Figure

    def __init__(self, fit: EvidenceFit) -> None:
        self.fit = fit

    @classmethod
    def from_estimator(cls, estimator: Any, axes: Any = None) -> Self:
        """Of a classifier that was fitted with prior="fit" or dirichlet="fit" (or "average")."""
        fit = getattr(estimator, "evidence_fit_", None)
        if fit is None:
            raise QueryError(
                f'this {type(estimator).__name__} chose nothing by evidence; fit it with dirichlet="fit" or prior="fit"'
            )
        return cls(fit).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw on these axes, one for each number, or on new ones."""
        self.axes_ = plot_evidence(self.fit, axes)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        return self
