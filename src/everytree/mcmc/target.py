"""The distributions that chains over trees draw from: the posterior, or one that prefers low risk.

    posterior   π(T) ∝ prior(T) · Π_leaves marginal likelihood
    risk        π(T) ∝ exp(−E(T)),  E(T) = scale · R(T) + leaf_penalty · leaves(T)

R is the mean over the examples of the impurity φ of their leaf: the misclassification rate, Gini's index or the
entropy (in nats). With scale = number of examples, the default, and misclassification, E is errors + leaf_penalty ·
leaves, what ``OptimalTreeClassifier(leaf_penalty=...)`` minimises. With scale = 1 it is the form of Krasznahorkay
(2004).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import number, refused
from everytree.common.told import tell
from everytree.engine.engine import Engine
from everytree.engine.weigh import weigh
from everytree.errors import QueryError
from everytree.weights.priors import Prior

__all__ = ["RISKS", "PosteriorTarget", "RiskTarget"]

Reals = npt.NDArray[np.float64]
# name -> the cost of ``TreeSpace.best`` that is the same for all examples together
RISKS = {"misclassification": "error", "gini": "gini", "entropy": "entropy"}


@dataclass(frozen=True)
class PosteriorTarget:
    """The posterior over trees, up to a constant: log π(T) is the log joint, of leaves that weigh M(n)^power."""

    prior: Prior
    dirichlet: Any
    power: float = 1.0
    name: ClassVar[str] = "posterior"

    def core(self, space: Engine, control: _core.Control) -> _core.TreeTarget:
        """Make the target that the core evaluates."""
        weights = weigh(space, self.prior, self.dirichlet, power=self.power)
        return _core.TreeTarget.posterior(
            space.core_table(control), weights.prior, weights.dirichlet, control
        )

    def facts(self, log_prior: float, log_data: float) -> dict[str, float]:
        """Return what ``tree.info`` of a draw says about the target."""
        return {"log_joint": log_prior + log_data, "log_prior": log_prior, "log_data": log_data}


@dataclass(frozen=True)
class RiskTarget:
    """The distribution exp(−E): it prefers trees of low risk and few leaves."""

    phi: str
    leaf_penalty: float
    scale: float
    name: ClassVar[str] = "risk"

    @classmethod
    def of(cls, risk: Any, leaf_penalty: Any, scale: Any, n_examples: float) -> RiskTarget:
        """Make the target of the parameters of a classifier, checked; ``scale`` None is the number of examples."""
        if not isinstance(risk, str) or risk not in RISKS:
            raise refused(QueryError, "risk", risk, f"one of {', '.join(map(repr, RISKS))}")
        penalty = number("leaf_penalty", leaf_penalty, 0, 1e6, example=2, closed=True)
        factor = float(n_examples) if scale is None else number("scale", scale, 0, 1e12, example=1)
        if penalty < math.log(4):
            tell(
                f"leaf_penalty={penalty:g} is below ln 4 ≈ 1.386: over the shapes of all binary trees "
                "exp(−leaf_penalty · leaves) has a finite sum from ln 4 on (½ there). The examples and min_leaf bound "
                "the trees here, so the chains are sound, but the largest trees may take over. Use a larger "
                "leaf_penalty, or a max_depth",
                UserWarning,
            )
        return cls(risk, penalty, factor)

    def core(self, space: Engine, control: _core.Control) -> _core.TreeTarget:
        """Make the target that the core evaluates."""
        return _core.TreeTarget.risk(space.core_table(control), self.phi, self.scale, self.leaf_penalty)

    def risk(self, log_data: Any) -> Any:
        """Return R, from the part of the log target that depends on the classes."""
        return -log_data / self.scale + 0.0

    def facts(self, log_prior: float, log_data: float) -> dict[str, float]:
        """Return what ``tree.info`` of a draw says about the target."""
        return {"energy": -(log_prior + log_data), "risk": self.risk(log_data)}
