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

from everytree.bayes.leave_one_out import LeaveOneOut, loo_proba, mixed
from everytree.bayes.posterior import Posterior
from everytree.bayes.uncertainty import Moments
from everytree.common.arguments import generator, whole
from everytree.engine.engine import Engine
from everytree.errors import QueryError
from everytree.trees.tree import Tree
from everytree.weights.priors import SizePrior

__all__ = ["AveragedPosterior"]


class _OnePriorError(QueryError, AttributeError):
    """The error for a question that needs one prior; it is an ``AttributeError`` so that ``hasattr`` says no."""


Reals = npt.NDArray[np.float64]


class AveragedPosterior:
    """Posteriors over the trees of one space under different hyper-parameters, mixed by weights.

    ``EvidenceFit.average`` makes it. What needs one prior (the most probable tree, rules, compression) is asked of
    ``best``.

    Parameters
    ----------
    posteriors : sequence of Posterior
        The posteriors to mix, one for each choice of the hyper-parameters.
    weights : array-like
        The weight of each posterior; they are scaled to sum to one.
    log_evidence : float
        The log of the mean evidence over the whole grid of hyper-parameters.

    Examples
    --------
    >>> from everytree import TreeSpace, fit_evidence
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5, max_depth=2)
    >>> mixed = fit_evidence(space, prior="size", dirichlet="fit", keep=True).average()
    >>> len(mixed.posteriors), round(float(mixed.weights.sum()), 6)
    (5, 1.0)
    >>> mixed.predict([[0, 1], [1, 1]]).tolist()
    [0, 1]
    """

    def __init__(self, posteriors: Sequence[Posterior], weights: npt.ArrayLike, log_evidence: float) -> None:
        self.posteriors = tuple(posteriors)
        given = np.asarray(weights, dtype=float)
        # Weights that sum to one already keep their bits, so that a saved average predicts the same.
        self.weights: Reals = given if abs(given.sum() - 1) < 1e-12 else given / given.sum()
        self.log_evidence = log_evidence

    @property
    def space(self) -> Engine:
        """The space whose trees are averaged."""
        return self.posteriors[0].space

    @property
    def best(self) -> Posterior:
        """The posterior of most weight."""
        return self.posteriors[int(np.argmax(self.weights))]

    def weights_by_evidence(self) -> Reals:
        """Compute the weights anew from the evidence of each posterior.

        The evidence under a prior that does not sum to one is divided by the sum of that prior.

        Returns
        -------
        ndarray of shape (n_posteriors,)
            The weights, which sum to one.
        """
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
        """Predict class probabilities, averaged over every tree and over the hyper-parameters.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            P(class | row), with columns in the order of ``space.classes``.
        """
        mixed: Reals = self._mixed([post.predict_proba(X) for post in self.posteriors])
        return mixed

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Predict the most probable label of each row; ties go to the first in ``space.classes``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels.
        """
        labels: npt.NDArray[Any] = np.asarray(self.space.classes)[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def moments(self, X: npt.ArrayLike) -> Moments:
        """Compute mean and variance of each class probability, exactly.

        A difference between trees under different hyper-parameters counts as a difference between trees.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        Moments
            The moments at each row, one column per class.
        """
        parts = [post.moments(X) for post in self.posteriors]
        mean: Reals = self._mixed([part.mean for part in parts])
        between: Reals = self._mixed([part.between + (part.mean - mean) ** 2 for part in parts])
        within: Reals = self._mixed([part.within for part in parts])
        return Moments(mean, mean * mean + between + within, between, within)

    def leave_one_out(self) -> LeaveOneOut:
        """Compute what is said of each training example when it is left out, exactly and in one pass.

        The trees (cuts included), the prior and the Dirichlet parameters stay as they are from all examples, so this
        tells how well new examples are predicted only where cuts and settings did not look at the classes, base rates
        aside. Hyper-parameters that the evidence chose did look: the numbers are then a little too good.

        Returns
        -------
        LeaveOneOut
            One entry for each distinct row and class, with its probabilities; and their mean log-loss.
        """
        known: LeaveOneOut | None = self.__dict__.get("_left")
        if known is None:
            known = self._left = mixed(self.posteriors, self.weights)
        return known

    def loo_proba(self, X: npt.ArrayLike | None = None, y: npt.ArrayLike | None = None) -> Reals:
        """Return P(class | row, all other examples) for each training example.

        Parameters
        ----------
        X : array-like or None, default=None
            Training rows in any order, as the space reads rows. None means the rows that the space was made of, in
            their order (not a number where a row has no weight), or the entries of ``leave_one_out`` where it was made
            of a table. A row and label that is not among the training examples is predicted as it is.
        y : array-like of shape (n_rows,) or None, default=None
            Their labels; given where ``X`` is.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, with columns in the order of ``space.classes``.
        """
        return loo_proba(self, X, y)

    @property
    def loo_log_loss(self) -> float:
        """The exact leave-one-out log-loss: the mean of −log P(its class) over the left-out examples."""
        return self.leave_one_out().log_loss

    @property
    def loo_log_loss_error(self) -> float:
        """The standard error of ``loo_log_loss`` over the examples."""
        return self.leave_one_out().standard_error

    # --- trees ---

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> list[Tree]:
        """Draw trees independently: first the hyper-parameters by weight, then a tree given them.

        Parameters
        ----------
        n : int
            The number of draws.
        random_state : int, numpy.random.Generator or None, default=None
            The seed of the draws; None takes a new one each time.

        Returns
        -------
        list of Tree
            The trees, in the order drawn.
        """
        rng = generator(random_state)
        which = rng.choice(len(self.posteriors), size=whole("n", n, 0), p=self.weights)
        trees: list[Any] = [None] * len(which)
        for part, post in enumerate(self.posteriors):
            places = np.flatnonzero(which == part)
            for place, tree in zip(places.tolist(), post.sample(len(places), rng), strict=True):
                trees[place] = tree
        return trees

    def log_prob(self, tree: Tree | Sequence[int]) -> float:
        """Return the log posterior probability of a tree.

        Parameters
        ----------
        tree : Tree or sequence of int
            The tree, or its key: tests in preorder, -1 for a leaf.

        Returns
        -------
        float
            The log probability; minus infinity if the tree is not in the space.
        """
        parts = [math.log(w) + p.log_prob(tree) for w, p in zip(self.weights, self.posteriors, strict=True)]
        return float(np.logaddexp.reduce(parts))

    # --- marginals ---

    def test_inclusion(self) -> Reals:
        """Return for each test the probability that it occurs in the tree.

        Returns
        -------
        ndarray of shape (n_tests,)
            One probability per test.
        """
        mixed: Reals = self._mixed([post.test_inclusion() for post in self.posteriors])
        return mixed

    def attribute_inclusion(self) -> dict[str, float]:
        """Return for each attribute the probability that some test of it occurs in the tree.

        Returns
        -------
        dict of str to float
            The probability by the name of the attribute.
        """
        parts = [post.attribute_inclusion() for post in self.posteriors]
        return {name: float(self._mixed([part[name] for part in parts])) for name in parts[0]}

    def root_distribution(self) -> Reals:
        """Return for each test the probability that it splits the root.

        Returns
        -------
        ndarray of shape (n_tests,)
            One probability per test; what is missing to 1 is the probability of the single leaf.
        """
        mixed: Reals = self._mixed([post.root_distribution() for post in self.posteriors])
        return mixed

    def leaves_distribution(self) -> Reals:
        """Return the distribution of the number of leaves.

        Returns
        -------
        ndarray
            Entry k is the probability that the tree has k leaves.
        """
        mixed: Reals = self._mixed(_padded([post.leaves_distribution() for post in self.posteriors]))
        return mixed

    def depth_distribution(self) -> Reals:
        """Return the distribution of the depth.

        Returns
        -------
        ndarray
            Entry d is the probability that the tree has depth d.
        """
        mixed: Reals = self._mixed(_padded([post.depth_distribution() for post in self.posteriors]))
        return mixed

    @property
    def expected_leaves(self) -> float:
        """The expected number of leaves."""
        return float(self._mixed([post.expected_leaves for post in self.posteriors]))

    @property
    def expected_depth(self) -> float:
        """The expected depth."""
        return float(self._mixed([post.expected_depth for post in self.posteriors]))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(Posterior, name):
            raise _OnePriorError(
                f"{name} needs one prior, and this is an average over {len(self.posteriors)} choices of the "
                f'hyper-parameters; ask .best.{name}, or use "fit" instead of "average"'
            )
        raise AttributeError(f"AveragedPosterior has no attribute {name!r}")


def _padded(parts: list[Reals]) -> list[Reals]:
    """Extend the arrays with zeros to the length of the longest."""
    longest = max(map(len, parts))
    return [np.pad(part, (0, longest - len(part))) for part in parts]
