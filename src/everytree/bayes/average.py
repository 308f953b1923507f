"""AveragedPosterior: the mixture of several posteriors over the same trees, weighted by their evidence.

    P(c | x) = Σ_h w_h · P(c | x, h),       w_h = E(h) / Σ E

Probabilities of anything (a class, a tree, a test, a size) mix with the weights; E[θ] and E[θ²] do too, and the
variance follows from them. What needs one prior (the most probable tree, rules, compression) is asked of ``best``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.posterior import Posterior
from everytree.bayes.uncertainty import Moments
from everytree.common.arguments import generator, whole
from everytree.engine.engine import Engine
from everytree.errors import QueryError
from everytree.trees.tree import Tree
from everytree.weights.priors import SizePrior

__all__ = ["AveragedPosterior"]


class _OnePriorError(QueryError, AttributeError):
    """So that ``hasattr`` says no."""


Reals = npt.NDArray[np.float64]


class AveragedPosterior:
    """Posteriors over the trees of one space, mixed by weights. Made by ``EvidenceFit.average``.

    Attributes
    ----------
    posteriors, weights : the parts; the weights sum to one
    log_evidence : log of the mean evidence over the whole grid
    """

    def __init__(self, posteriors: Sequence[Posterior], weights: npt.ArrayLike, log_evidence: float) -> None:
        self.posteriors = tuple(posteriors)
        given = np.asarray(weights, dtype=float)
        # Weights that sum to one already keep their bits, so that a saved average predicts the same.
        self.weights: Reals = given if abs(given.sum() - 1) < 1e-12 else given / given.sum()
        self.log_evidence = log_evidence

    @property
    def space(self) -> Engine:
        return self.posteriors[0].space

    @property
    def best(self) -> Posterior:
        """The part of most weight."""
        return self.posteriors[int(np.argmax(self.weights))]

    def weights_by_evidence(self) -> Reals:
        """The weights that the evidence of the parts gives them; a prior that does not sum to one is scaled to."""
        values = np.array(
            [
                each.log_evidence - (0.0 if isinstance(each.prior, SizePrior) else each.log_prior_total)
                for each in self.posteriors
            ]
        )
        found = np.exp(values - values.max())
        shares: Reals = found / found.sum()
        return shares

    def __repr__(self) -> str:
        parts = f"{len(self.posteriors)} posteriors of {self.space!r}"
        return f"AveragedPosterior({parts}, log_evidence={self.log_evidence:.4f})"

    def _mixed(self, parts: Sequence[Any]) -> Any:
        return sum(w * np.asarray(part) for w, part in zip(self.weights, parts, strict=True))

    # --- predictions ---

    def predict_proba(self, X: npt.ArrayLike) -> Reals:
        """P(class | row), averaged over every tree and over the hyper-parameters."""
        mixed: Reals = self._mixed([post.predict_proba(X) for post in self.posteriors])
        return mixed

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """The most probable label of each row; the first of ``space.classes`` where several are."""
        labels: npt.NDArray[Any] = np.asarray(self.space.classes)[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def moments(self, X: npt.ArrayLike) -> Moments:
        """Mean and variance of each class probability; trees under different hyper-parameters differ between trees."""
        parts = [post.moments(X) for post in self.posteriors]
        mean: Reals = self._mixed([part.mean for part in parts])
        between: Reals = self._mixed([part.between + (part.mean - mean) ** 2 for part in parts])
        within: Reals = self._mixed([part.within for part in parts])
        return Moments(mean, mean * mean + between + within, between, within)

    # --- trees ---

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> list[Tree]:
        """n independent draws: the hyper-parameters by weight, then a tree given them."""
        rng = generator(random_state)
        which = rng.choice(len(self.posteriors), size=whole("n", n, 0), p=self.weights)
        trees: list[Any] = [None] * len(which)
        for part, post in enumerate(self.posteriors):
            places = np.flatnonzero(which == part)
            for place, tree in zip(places.tolist(), post.sample(len(places), rng), strict=True):
                trees[place] = tree
        return trees

    def log_prob(self, tree: Tree | Sequence[int]) -> float:
        """Log posterior probability of a tree; −inf if it is not in the space."""
        parts = [math.log(w) + p.log_prob(tree) for w, p in zip(self.weights, self.posteriors, strict=True)]
        return float(np.logaddexp.reduce(parts))

    # --- marginals ---

    def test_inclusion(self) -> Reals:
        """P(test occurs in the tree), one per test."""
        mixed: Reals = self._mixed([post.test_inclusion() for post in self.posteriors])
        return mixed

    def attribute_inclusion(self) -> dict[str, float]:
        """P(some test of the attribute occurs in the tree), by name."""
        parts = [post.attribute_inclusion() for post in self.posteriors]
        return {name: float(self._mixed([part[name] for part in parts])) for name in parts[0]}

    def root_distribution(self) -> Reals:
        """P(the root is split by this test), one per test."""
        mixed: Reals = self._mixed([post.root_distribution() for post in self.posteriors])
        return mixed

    def leaves_distribution(self) -> Reals:
        """Entry k is P(the tree has k leaves)."""
        mixed: Reals = self._mixed(_padded([post.leaves_distribution() for post in self.posteriors]))
        return mixed

    def depth_distribution(self) -> Reals:
        """Entry d is P(the tree has depth d)."""
        mixed: Reals = self._mixed(_padded([post.depth_distribution() for post in self.posteriors]))
        return mixed

    @property
    def expected_leaves(self) -> float:
        return float(self._mixed([post.expected_leaves for post in self.posteriors]))

    @property
    def expected_depth(self) -> float:
        return float(self._mixed([post.expected_depth for post in self.posteriors]))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(Posterior, name):
            raise _OnePriorError(
                f"{name} needs one prior, and this is an average over {len(self.posteriors)} choices of the "
                f'hyper-parameters; ask .best.{name}, or use "fit" instead of "average"'
            )
        raise AttributeError(f"AveragedPosterior has no attribute {name!r}")


def _padded(parts: list[Reals]) -> list[Reals]:
    longest = max(map(len, parts))
    return [np.pad(part, (0, longest - len(part))) for part in parts]
