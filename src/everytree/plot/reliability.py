"""Calibration: of the rows whose class is predicted with probability p, the share that is of that class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from everytree.data.labels import label_codes
from everytree.draw.colors import HUES, LINE
from everytree.errors import DataError
from everytree.metrics import Reliability
from everytree.plot.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibrationDisplay"]


class CalibrationDisplay(Display):
    """Confidence against accuracy, in bins of equal width; the expected calibration error is in the legend.

    Parameters
    ----------
    curves : mapping of str to Reliability
        The ``everytree.metrics.Reliability`` of each classifier, by its name.

    Examples
    --------
    >>> display = CalibrationDisplay.from_predictions([0, 1], [[0.9, 0.1], [0.3, 0.7]], n_bins=5)
    >>> round(display.curves["classifier"].ece, 3)
    0.2
    """

    SIZE = (4.8, 4.8)

    def __init__(self, curves: Mapping[str, Reliability]) -> None:
        if not curves:
            raise DataError("there are no curves to draw; expected at least one")
        self.curves = dict(curves)

    @classmethod
    def from_predictions(
        cls, y: npt.ArrayLike, proba: npt.ArrayLike, classes: Any = None, *, n_bins: int = 10,
        name: str = "classifier", ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Draw the calibration of predicted probabilities.

        Parameters
        ----------
        y : array, shape (n_rows,)
            The true label of each row.
        proba : array of float, shape (n_rows, n_classes)
            The predicted probabilities.
        classes : sequence, optional
            The label of each column of ``proba``; by default the sorted labels of ``y``.
        n_bins : int, default 10
            The number of bins of probabilities from 0 to 1.
        name : str, default "classifier"
            The name in the legend.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        CalibrationDisplay
            The display, which is drawn.
        """
        codes, labels = label_codes(y, len(np.asarray(proba)), classes)
        if np.ndim(proba) != 2 or np.shape(proba)[1] != len(labels):
            raise DataError(
                f"proba has shape {np.shape(proba)}; expected one column for each of {len(labels)} classes"
            )
        return cls({name: Reliability.of(proba, codes, n_bins)}).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: npt.ArrayLike, *, n_bins: int = 10, name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Draw the calibration of a fitted classifier on rows that it has not seen.

        Parameters
        ----------
        estimator : classifier
            The fitted classifier.
        X : array or data frame
            The rows.
        y : array, shape (n_rows,)
            The true label of each row; all labels must have been in training.
        n_bins : int, default 10
            The number of bins of probabilities from 0 to 1.
        name : str, optional
            The name in the legend; by default that of the class.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        CalibrationDisplay
            The display, which is drawn.
        """
        return cls.from_predictions(
            y, estimator.predict_proba(X), estimator.classes_.tolist(), n_bins=n_bins,
            name=type(estimator).__name__ if name is None else name, ax=ax,
        )  # fmt: skip

    def _draw(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], ":", color=LINE, linewidth=1, label="calibrated")
        for k, (name, curve) in enumerate(self.curves.items()):
            rows = np.array(curve.rows)
            used = rows > 0
            confidence = np.array(curve.confidence)[used] / rows[used]
            accuracy = np.array(curve.hits)[used] / rows[used]
            color = HUES[k % len(HUES)]
            ax.plot(
                confidence, accuracy, "-", color=color, linewidth=1.2, label=f"{name}, ECE {curve.ece:.3f}"
            )
            # The area of a point is the share of the rows behind it.
            ax.scatter(confidence, accuracy, s=12 + 160 * rows[used] / rows.sum(), color=color, alpha=0.8)
        ax.set_xlim(0, 1.02)
        ax.set_ylim(0, 1.02)
        ax.set_aspect("equal")
        ax.set_xlabel("mean probability of the class that is said")
        ax.set_ylabel("share that is right")
        ax.legend(frameon=False, fontsize="small", loc="upper left")
        ax.spines[["top", "right"]].set_visible(False)
