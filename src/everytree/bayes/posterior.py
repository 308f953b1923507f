"""Posterior: the exact average over every tree of a space, and the questions it answers (Nijssen 2008)."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.bracket import Bracket, PredictionBracket, log_evidence_bracket, prediction_bracket
from everytree.bayes.card import posterior_html
from everytree.bayes.compress import CompressedRules, CompressionPoint, compress, curve
from everytree.bayes.explain import Explanation, explain
from everytree.bayes.folded import Folded
from everytree.bayes.leave_one_out import LeaveOneOut, leave_one_out, loo_proba
from everytree.bayes.marginals import attribute_inclusion
from everytree.bayes.rules import Rule, top_rules
from everytree.bayes.top_trees import TopTrees
from everytree.bayes.uncertainty import Moments, interval, moments
from everytree.common.arguments import refused, whole
from everytree.errors import LimitReached, QueryError
from everytree.trees.tree import Tree

__all__ = ["Posterior"]

Reals = npt.NDArray[np.float64]
BYTES_OF_TREE, BYTES_OF_COUNT = (
    2_500,
    17,
)  # of a tree without its nodes, and of a node for each class, as measured


class Posterior(Folded):
    """The exact posterior distribution over all trees of a space.

    ``TreeSpace.posterior`` makes it.

    Parameters
    ----------
    space : TreeSpace
        The trees and the data.
    prior : Prior
        The prior over trees.
    dirichlet : float, sequence of float or DepthDecay
        The Dirichlet parameters of the class probabilities in a leaf.
    power : float, default=1.0
        The power of the leaf weights: a leaf weighs its marginal likelihood to the power of it. Below 1 the log
        evidence is the log of the sum of these weights, which is no probability of the data.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0], [0], [1], [1]], ["no", "no", "yes", "yes"], max_depth=1)
    >>> post = space.posterior()
    >>> round(float(post.log_evidence), 4)
    -2.348
    >>> post.predict_proba([[0], [1]]).round(3).tolist()
    [[0.733, 0.267], [0.267, 0.733]]
    >>> post.root_distribution().round(3).tolist()
    [0.93]
    """

    @property
    def log_prior_total(self) -> float:
        """The log of the sum over all trees of the prior as it stands: 0 for ``SizePrior``, which is a distribution."""
        with self._space.question("folding the prior") as control:
            return float(self.core.log_prior_total(control))

    @property
    def log_bayes_factor(self) -> float:
        """The log Bayes factor of all trees of the space, under the normalised prior, against the single leaf."""
        return self.log_evidence - self.log_prior_total - float(self.core.log_single_leaf)

    def __repr__(self) -> str:
        weights = f"{self.prior!r}, dirichlet={self.dirichlet!r}"
        if self.power != 1:
            weights += f", power={self.power:g}"
        return f"Posterior({self._space!r}, {weights}, log_evidence={self.log_evidence:.4f})"

    def _repr_html_(self) -> str:
        return posterior_html(self)

    # --- predictions ---

    def bracket(self) -> Bracket:
        """Bound the log evidence of the space without a depth limit: the bounds are sure to hold, but loose.

        They exist for priors whose subtrees weigh at most one together: the size prior and the coding prior. The upper
        end assumes that every leaf at the depth limit could be separated into pure ones, so on noisy data it lies far
        above the truth; ``TreeSpace.deepen`` shows how the evidence itself settles. Where nodes choose their own cuts,
        every node of the space without a limit has its own; with a limit, the two lowest levels share those of one
        node, so that the evidence of this posterior may lie outside.

        Returns
        -------
        Bracket
            The lower and the upper bound.

        Raises
        ------
        QueryError
            If the prior, or Dirichlet parameters that change with depth, allow no bound.
        """
        return log_evidence_bracket(self)

    def predict_bracket(self, X: npt.ArrayLike) -> PredictionBracket:
        """Bound P(class | row) in the space without a depth limit.

        The bounds are narrow only where trees beyond the depth limit cannot weigh much: few examples, a prior that
        falls fast with depth, or a limit that hardly binds. Elsewhere they are next to [0, 1].

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        PredictionBracket
            The lower and upper bounds, and ``known``, which says how much they are worth.
        """
        return prediction_bracket(self, X)

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
        labels: npt.NDArray[Any] = np.asarray(self._space.classes)[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def moments(self, X: npt.ArrayLike) -> Moments:
        """Compute the mean and the two parts of the variance of each class probability, over every tree.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        Moments
            The moments at each row, one column per class.
        """
        return moments(self, X)

    def interval(
        self,
        X: npt.ArrayLike,
        level: float = 0.9,
        n_draws: int = 1000,
        random_state: int | np.random.Generator | None = None,
    ) -> tuple[Reals, Reals]:
        """Find, for each row and class, an interval that holds the class probability with probability ``level``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.
        level : float, default=0.9
            The probability of the interval, between 0 and 1.
        n_draws : int, default=1000
            The number of trees, drawn exactly from the posterior, that the interval is computed from.
        random_state : int, numpy.random.Generator or None, default=None
            The seed of the draws; None takes a new one each time.

        Returns
        -------
        tuple of two ndarrays of shape (n_rows, n_classes)
            The lower and the upper ends.
        """
        return interval(self, X, level, n_draws, random_state)

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
            known = self._left = leave_one_out(self)
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

        Examples
        --------
        >>> from everytree import TreeSpace
        >>> X, y = [[0], [1], [0], [1]], ["no", "yes", "no", "yes"]
        >>> post = TreeSpace(X, y, max_depth=1).posterior()
        >>> post.loo_proba().round(3).tolist()
        [[0.637, 0.363], [0.363, 0.637], [0.637, 0.363], [0.363, 0.637]]
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

    def map_tree(self) -> Tree:
        """Find the most probable tree; ties go to the smaller tree, then to the lower test.

        Returns
        -------
        Tree
            The tree, with ``probability`` and ``log_prob`` in ``tree.info``.
        """
        with self._space.question("finding the most probable tree") as control:
            return self.tree_of(self.core.map(control))

    def top_trees(self, k: int) -> TopTrees:
        """Find the k most probable trees, best first.

        Parameters
        ----------
        k : int
            The number of trees.

        Returns
        -------
        TopTrees
            The trees, with ``probability`` and ``log_prob`` in ``tree.info``. The list knows the ``share`` of the
            posterior that its trees cover.
        """
        with self._space.question("finding the most probable trees") as control:
            trees: list[Tree] = []
            log_joints, keys, ends = self.core.top(whole("k", k, 1), control)
            self._space.limits.give_back()  # what finding them left: 27 MB after 20,000 trees
            room = self._space.limits.memory - log_joints.nbytes - keys.nbytes - ends.nbytes
            begins = np.concatenate([[0], ends[:-1]])
            for log_joint, begin, end in zip(log_joints, begins, ends, strict=True):
                control.check()
                trees.append(self.tree_of(keys[begin:end].tolist(), float(log_joint)))
                room = _room_after(trees[-1], room)
        return TopTrees(trees)

    def coverage(self, k: int) -> float:
        """Return the share of the posterior that the k most probable trees cover together.

        Parameters
        ----------
        k : int
            The number of trees.

        Returns
        -------
        float
            The share, between 0 and 1.
        """
        return self.top_trees(k).share

    def sample(self, n: int, random_state: int | np.random.Generator | None = None) -> list[Tree]:
        """Draw trees independently from the posterior.

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
        n = whole("n", n, 0)
        known: dict[tuple[int, ...], Tree] = {}
        trees: list[Tree] = []
        with self._space.question("drawing trees") as control:
            room = self._space.limits.memory
            for keys in self.drawn_keys(n, random_state, control):
                for key in keys:
                    if key not in known:
                        control.check()
                        known[key] = self.tree_of(key)
                        room = _room_after(known[key], room)
                    trees.append(known[key])
        return trees

    def log_joint(self, tree: Tree | Sequence[int]) -> float:
        """Return log prior + log marginal likelihood of a tree.

        Parameters
        ----------
        tree : Tree or sequence of int
            The tree, or its key: tests in preorder, -1 for a leaf.

        Returns
        -------
        float
            The log joint; minus infinity if the tree is not in the space.
        """
        try:
            key = tree.key if isinstance(tree, Tree) else tuple(map(operator.index, tree))
        except TypeError:
            raise refused(
                QueryError, "tree", tree, "a Tree, or its key: tests in preorder, −1 for a leaf"
            ) from None
        if any(not -1 <= test < self._space.n_tests for test in key):
            raise refused(
                QueryError, "tree", tree, says=f" uses a test outside 0 to {self._space.n_tests - 1}"
            )
        if isinstance(tree, Tree) and tree.n_tests != self._space.n_tests:
            raise QueryError(f"the tree is over {tree.n_tests} tests; the space has {self._space.n_tests}")
        return float(self.core.log_joint(list(key)))

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
        return self.log_joint(tree) - self.log_evidence

    # --- marginals ---

    def test_inclusion(self) -> Reals:
        """Return for each test the probability that it occurs in the tree.

        Returns
        -------
        ndarray of shape (n_tests,)
            One probability per test.
        """
        with self._space.question("excluding each test") as control:
            return np.asarray(self.core.inclusion(control))

    def attribute_inclusion(self) -> dict[str, float]:
        """Return for each attribute the probability that some test of it occurs in the tree.

        The attributes are those given to the space; without them every test is its own.

        Returns
        -------
        dict of str to float
            The probability by the name of the attribute.
        """
        return attribute_inclusion(self)

    def root_distribution(self) -> Reals:
        """Return for each test the probability that it splits the root.

        Returns
        -------
        ndarray of shape (n_tests,)
            One probability per test; what is missing to 1 is the probability of the single leaf.
        """
        return np.asarray(self.core.root_distribution())

    def leaves_distribution(self) -> Reals:
        """Return the distribution of the number of leaves.

        Returns
        -------
        ndarray
            Entry k is the probability that the tree has k leaves; entry 0 is 0.
        """
        with self._space.question("folding the sizes") as control:
            return np.concatenate([[0.0], self.core.leaves(control)])

    def size_distribution(self) -> Reals:
        """Return the distribution of the number of nodes, inner nodes and leaves together.

        Returns
        -------
        ndarray
            Entry k is the probability that the tree has k nodes; even entries are 0.
        """
        leaves = self.leaves_distribution()
        sizes = np.zeros(max(1, 2 * len(leaves) - 2))
        sizes[1::2] = leaves[1:]
        return sizes

    def depth_distribution(self) -> Reals:
        """Return the distribution of the depth.

        Returns
        -------
        ndarray
            Entry d is the probability that the tree has depth d.
        """
        with self._space.question("folding the depths") as control:
            return np.asarray(self.core.depth(control))

    @property
    def expected_leaves(self) -> float:
        """The expected number of leaves."""
        with self._space.question("folding the sizes") as control:
            return float(self.core.expected_leaves(control))

    @property
    def expected_size(self) -> float:
        """The expected number of nodes."""
        return 2 * self.expected_leaves - 1

    @property
    def expected_depth(self) -> float:
        """The expected depth."""
        p = self.depth_distribution()
        return float(np.arange(len(p)) @ p)

    def rules(self, x: npt.ArrayLike | None = None, top: int = 20) -> list[Rule]:
        """Find the rules of most weight; the weight of a rule is the probability that its path is a leaf of the tree.

        Parameters
        ----------
        x : array-like of shape (n_tests,) or None, default=None
            A row of 0/1 tests: only rules that cover it are listed. None lists rules over all rows.
        top : int, default=20
            The number of rules.

        Returns
        -------
        list of Rule
            The rules, heaviest first.
        """
        with self._space.question("searching the rules") as control:
            return top_rules(self, x, whole("top", top, 1), control)

    def explain(self, x: npt.ArrayLike, top: int = 10) -> Explanation:
        """Explain why ``x`` is predicted so, by the rules that carry the most weight.

        Parameters
        ----------
        x : array-like of shape (n_tests,)
            One row of 0/1 tests.
        top : int, default=10
            The number of rules to show.

        Returns
        -------
        Explanation
            The rules with their part in the prediction, maximal ones first.
        """
        with self._space.question("explaining a prediction") as control:
            return explain(self, x, whole("top", top, 1), control)

    def compress(self, epsilon: float) -> CompressedRules:
        """Compress the average to a short list of rules that predicts fast.

        Parameters
        ----------
        epsilon : float
            The largest error of a class probability that is allowed, for any 0/1 row; 0 keeps everything.

        Returns
        -------
        CompressedRules
            The rules, with the bound that holds for them.
        """
        with self._space.question("compressing the posterior") as control:
            return compress(self, epsilon, control)

    def compression_curve(self, epsilons: Iterable[float]) -> tuple[CompressionPoint, ...]:
        """Count how many rules ``compress`` would keep for each epsilon.

        Parameters
        ----------
        epsilons : iterable of float
            The errors to try.

        Returns
        -------
        tuple of CompressionPoint
            Entries (epsilon, n_rules, bound), in the order given.
        """
        with self._space.question("compressing the posterior") as control:
            return curve(self, epsilons, control)


def _room_after(tree: Tree, room: int) -> int:
    """Return what is left of some bytes after this tree; an error where that is nothing."""
    room -= BYTES_OF_TREE + tree.n_nodes * (12 + BYTES_OF_COUNT * tree.n_classes)
    if room < 0:
        raise LimitReached("memory limit reached", "memory")
    return room
