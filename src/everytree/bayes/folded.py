"""Folded: a space with its posterior computed, which every question to the posterior starts from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folding import fold_posterior
from everytree.common.arguments import generator
from everytree.common.limits import blocks
from everytree.engine.engine import Engine
from everytree.engine.rows import core_rows
from everytree.errors import QueryError
from everytree.trees.answers import with_dirichlet
from everytree.trees.tree import Tree
from everytree.weights.dirichlet import Dirichlet, checked_power
from everytree.weights.priors import Prior

__all__ = ["Folded"]

Reals = npt.NDArray[np.float64]
BLOCK = 4096  # draws between two looks at the limits


class Folded:
    """The folded graph of a space under a prior and Dirichlet parameters.

    Parameters
    ----------
    space : Engine
        The trees and the data.
    prior : Prior
        The prior over trees.
    dirichlet : float, sequence of float or DepthDecay
        The Dirichlet parameters of the class probabilities in a leaf.
    power : float, default=1.0
        The power of the leaf weights: a leaf weighs its marginal likelihood to the power of it.

    Attributes
    ----------
    core : _core.Posterior
        The folded graph of the core.
    parameters : list of list of float
        The Dirichlet parameters by depth and class; one row if they do not change with depth.
    """

    def __init__(self, space: Engine, prior: Prior, dirichlet: Dirichlet, power: float = 1.0) -> None:
        self._space = space
        self.prior = prior
        self.dirichlet = dirichlet
        self.power = checked_power(power)
        self._fold()

    def _fold(self) -> None:
        self.core, self.parameters = fold_posterior(self._space, self.prior, self.dirichlet, self.power)
        self._check()

    def _check(self) -> None:
        if self.log_evidence == -math.inf:
            raise QueryError(f"{self.prior!r} gives every tree of {self._space!r} probability zero")

    @classmethod
    def folded(
        cls,
        space: Engine,
        prior: Prior,
        dirichlet: Dirichlet,
        core: _core.Posterior,
        parameters: list[list[float]],
        power: float = 1.0,
    ) -> Self:
        """Make a posterior of a graph that is folded already.

        Parameters
        ----------
        space : Engine
            The trees and the data.
        prior : Prior
            The prior that the graph was folded with.
        dirichlet : float, sequence of float or DepthDecay
            The Dirichlet parameters that the graph was folded with.
        core : _core.Posterior
            The folded graph.
        parameters : list of list of float
            The Dirichlet parameters by depth and class.
        power : float, default=1.0
            The power that the graph was folded with.

        Returns
        -------
        Posterior
            The posterior.
        """
        made = cls.__new__(cls)
        made._space, made.prior, made.dirichlet = space, prior, dirichlet
        made.core, made.parameters, made.power = core, parameters, power
        made._check()
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {"space": self._space, "prior": self.prior, "dirichlet": self.dirichlet, "power": self.power}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The graph is not stored: folding again is quicker than reading it, and gives the same bits.
        self.__init__(**state)  # type: ignore[misc]

    @property
    def space(self) -> Engine:
        """The space whose trees these are."""
        return self._space

    def asked_of(self, space: Engine) -> None:
        """Let another space over the same trees set the limits of later questions.

        Parameters
        ----------
        space : Engine
            The space; its limits count from now on.
        """
        self._space = space

    @property
    def log_evidence(self) -> float:
        """The log of the sum over all trees of prior × marginal likelihood."""
        return float(self.core.log_evidence)

    def predict_proba(self, X: npt.ArrayLike) -> Reals:
        """Predict class probabilities, averaged over every tree.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            P(class | row), with columns in the order of ``space.classes``.
        """
        rows = self.checked_rows(X)
        with self._space.question("predicting with the posterior") as control:
            return self.clipped(self.core.predict(rows, control), control)

    def checked_rows(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Check rows, and return them as the core reads them.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests; where nodes choose their own cuts, rows of the original columns.

        Returns
        -------
        ndarray of uint8 or uint16
            The rows, contiguous.

        Raises
        ------
        DataError
            If the rows are not 0/1, or have another number of columns than the space has tests.
        """
        return core_rows(self._space, X)

    def clipped(self, proba: Reals, control: _core.Control) -> Reals:
        # Sums are exact to about 1e-15, so a smaller probability may come out as zero; but no leaf gives a class less
        # than a_c / (n + Σa), so neither does the average.
        """Clip probabilities to what leaves can give, in place.

        Parameters
        ----------
        proba : ndarray of shape (n_rows, n_classes)
            The probabilities, exact up to rounding.
        control : _core.Control
            The limits of the question.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The same array.
        """
        a = np.array(self.parameters).min(axis=0)
        least = a / (self._space.table.examples + np.max(np.sum(self.parameters, axis=1)))
        for rows in blocks(len(proba), 8 * proba.shape[1], control):
            np.clip(proba[rows], least, 1.0, out=proba[rows])
        return proba

    def drawn_keys(
        self, n: int, random_state: int | np.random.Generator | None, control: _core.Control
    ) -> Iterator[list[tuple[int, ...]]]:
        """Draw the keys of trees independently, in blocks.

        Parameters
        ----------
        n : int
            The number of draws.
        random_state : int, numpy.random.Generator or None
            The seed of the draws; None takes a new one each time.
        control : _core.Control
            The control of the running question.

        Returns
        -------
        iterator of list of tuple of int
            Blocks of keys: tests in preorder, -1 for a leaf.
        """
        seed = int(generator(random_state).integers(2**63))
        return (
            [tuple(key) for key in self.core.sample(first, min(BLOCK, n - first), seed, control)]
            for first in range(0, n, BLOCK)
        )

    def tree_of(self, key: Sequence[int], log_joint: float | None = None) -> Tree:
        """Make a ``Tree`` of a key, with its probability in ``tree.info`` and the leaf probabilities of the posterior.

        Parameters
        ----------
        key : sequence of int
            The tests of the tree in preorder, -1 for a leaf.
        log_joint : float or None, default=None
            The log joint of the tree where it is known already; None computes it.

        Returns
        -------
        Tree
            The tree.
        """
        if log_joint is None:
            log_joint = float(self.core.log_joint(list(key)))
        log_prob = log_joint - self.log_evidence
        info = {"log_joint": log_joint, "log_prob": log_prob, "probability": math.exp(log_prob)}
        return with_dirichlet(self._space.tree_of(key, info), self.parameters)
