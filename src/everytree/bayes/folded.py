"""A space with its posterior folded: what every question to the posterior starts from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folding import fold_posterior
from everytree.common.arguments import generator
from everytree.data.arrays import as_tests
from everytree.engine.engine import Engine
from everytree.errors import DataError, QueryError
from everytree.trees.answers import with_dirichlet
from everytree.trees.tree import Tree
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior

__all__ = ["Folded"]

Reals = npt.NDArray[np.float64]
BLOCK = 4096  # draws between two looks at the limits


class Folded:
    """The folded graph of a space under a prior and a Dirichlet.

    Attributes
    ----------
    prior, dirichlet : as given
    core : the folded graph of the core
    parameters : the Dirichlet parameters by depth and class; one row where depth plays no part
    """

    def __init__(self, space: Engine, prior: Prior, dirichlet: Dirichlet) -> None:
        self._space = space
        self.prior = prior
        self.dirichlet = dirichlet
        self._fold()

    def _fold(self) -> None:
        self.core, self.parameters = fold_posterior(self._space, self.prior, self.dirichlet)
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
    ) -> Self:
        """The posterior whose graph is folded already."""
        made = cls.__new__(cls)
        made._space, made.prior, made.dirichlet = space, prior, dirichlet
        made.core, made.parameters = core, parameters
        made._check()
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {"space": self._space, "prior": self.prior, "dirichlet": self.dirichlet}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The graph is not stored: folding again is quicker than reading it, and gives the same bits.
        self.__init__(state["space"], state["prior"], state["dirichlet"])  # type: ignore[misc]

    @property
    def space(self) -> Engine:
        """The space whose trees these are."""
        return self._space

    def asked_of(self, space: Engine) -> None:
        """Take another space over the same trees for the questions to come: its limits count for them."""
        self._space = space

    @property
    def log_evidence(self) -> float:
        """Log of Σ over all trees of prior × marginal likelihood."""
        return float(self.core.log_evidence)

    def predict_proba(self, X: npt.ArrayLike) -> Reals:
        """P(class | row), averaged over every tree; columns in the order of ``space.classes``."""
        rows = self.checked_rows(X)
        with self._space.question("predicting with the posterior") as control:
            proba: Reals = self.core.predict(rows, control)
        return self.clipped(proba)

    def checked_rows(self, X: npt.ArrayLike) -> npt.NDArray[np.uint8]:
        """Rows to be asked about, checked."""
        rows = as_tests(X, self._space.test_names)
        if rows.shape[1] != self._space.n_tests:
            raise DataError(
                f"X has {rows.shape[1]} columns; expected the {self._space.n_tests} tests of the space"
            )
        return np.ascontiguousarray(rows)

    def clipped(self, proba: Reals) -> Reals:
        # Sums are exact to about 1e-15, so a smaller probability may come out as zero; but no leaf gives a class less
        # than a_c / (n + Σa), so neither does the average.
        a = np.array(self.parameters).min(axis=0)
        least = a / (self._space.table.total + np.max(np.sum(self.parameters, axis=1)))
        return np.clip(proba, least, 1.0, out=proba)

    def drawn_keys(
        self, n: int, random_state: int | np.random.Generator | None, control: _core.Control
    ) -> Iterator[list[tuple[int, ...]]]:
        """Keys of n independent draws, in blocks."""
        seed = int(generator(random_state).integers(2**63))
        return (
            [tuple(key) for key in self.core.sample(first, min(BLOCK, n - first), seed, control)]
            for first in range(0, n, BLOCK)
        )

    def tree_of(self, key: Sequence[int], log_joint: float | None = None) -> Tree:
        if log_joint is None:
            log_joint = float(self.core.log_joint(list(key)))
        log_prob = log_joint - self.log_evidence
        info = {"log_joint": log_joint, "log_prob": log_prob, "probability": math.exp(log_prob)}
        return with_dirichlet(self._space.tree_of(key, info), self.parameters)
