"""The evidence of hyper-parameters, as a display."""

from __future__ import annotations

from typing import Any, Self

import numpy.typing as npt

from everytree.bayes.evidence import EvidenceFit
from everytree.draw.evidence import plot_evidence
from everytree.errors import QueryError

__all__ = ["EvidenceDisplay"]


class EvidenceDisplay:
    """The evidence of the hyper-parameters that ``fit_evidence`` tried, with a panel for each number.

    Parameters
    ----------
    fit : EvidenceFit
        What ``fit_evidence`` returned.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> model = et.BayesOptimalClassifier(max_depth=2, dirichlet="fit").fit(X, y)
    >>> axes = EvidenceDisplay.from_estimator(model).axes_
    """

    axes_: npt.NDArray[Any]
    ax_: Any  # the first Axes
    figure_: Any  # Figure

    def __init__(self, fit: EvidenceFit) -> None:
        self.fit = fit

    @classmethod
    def from_estimator(cls, estimator: Any, axes: Any = None) -> Self:
        """Draw the evidence for a classifier that chose hyper-parameters by it.

        Parameters
        ----------
        estimator : classifier
            One that was fitted with prior="fit" or dirichlet="fit" (or "average").
        axes : array of matplotlib.axes.Axes, optional
            The axes to draw on, one for each number; by default new ones.

        Returns
        -------
        EvidenceDisplay
            The display, which is drawn.

        Raises
        ------
        QueryError
            If the classifier chose nothing by evidence.
        """
        fit = getattr(estimator, "evidence_fit_", None)
        if fit is None:
            raise QueryError(
                f'this {type(estimator).__name__} chose nothing by evidence; fit it with dirichlet="fit" or prior="fit"'
            )
        return cls(fit).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        axes : array of matplotlib.axes.Axes, optional
            The axes to draw on, one for each number; by default new ones.

        Returns
        -------
        EvidenceDisplay
            The display itself; ``axes_``, ``ax_`` and ``figure_`` say where it was drawn.
        """
        self.axes_ = plot_evidence(self.fit, axes)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        return self
