"""From class probabilities to labels: the one place where a classifier decides what ``predict`` answers.

A classifier that averages has a parameter ``cost_matrix``; without one, or where it is None, every error costs the
same, and the answer is the most probable class. The matrix changes no probability and no tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.weights.cost_matrix import checked_cost_matrix, least_cost

__all__ = ["DecidesByCost"]


class DecidesByCost:
    """A classifier with ``classes_`` that answers the class of least expected cost."""

    classes_: npt.NDArray[Any]

    def checked_costs(self, n_classes: int | None = None) -> npt.NDArray[np.float64] | None:
        """Return the parameter ``cost_matrix`` as an array, after a look at it.

        Parameters
        ----------
        n_classes : int, optional
            The number of classes; None for that of ``classes_``.

        Returns
        -------
        ndarray of shape (n_classes, n_classes) or None
            The cost of predicting k when c is true, in row c and column k; None where every error costs the same.

        Raises
        ------
        QueryError
            If it is not a square of numbers, one row for each class.
        """
        given = getattr(self, "cost_matrix", None)  # Not every classifier has this parameter.
        if given is None:
            return None
        return checked_cost_matrix(given, len(self.classes_) if n_classes is None else n_classes)

    def decide(self, proba: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Return what to predict where the classes have these probabilities: the class of least expected cost.

        Of several the most probable one, and of several of those the first in ``classes_``.

        Parameters
        ----------
        proba : ndarray of shape (n_rows, n_classes)
            The probabilities, with the classes in the order of ``classes_``.

        Returns
        -------
        ndarray of shape (n_rows,)
            The index of a class in ``classes_`` for each row.
        """
        return least_cost(proba, self.checked_costs())
