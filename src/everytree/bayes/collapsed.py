"""CollapsedPosterior: the posterior over trees by sampling, for spaces too large to fold.

    top(tree)      the tree without what lies below its closed states: nodes with at most two levels to the depth
                   limit, or with too few examples for more than three leaves
    P(top | data)  ∝ Σ over the trees with this top of  prior × marginal likelihood      sampled, by Metropolis–Hastings
    P(c | x)       = mean over draws of  P(c | x, top)                                   exact given the top

What is sampled is only the top; below it every subtree is summed. Without a depth limit the closed states are those
with fewer than 4·``min_leaf`` examples: nothing is counted twice, and nothing is left out. All of it is an estimate,
and says how large its error is: see ``chains.py``.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.chains import batch_edges, effective_draws, mean_error, split_rhat, unseen_error
from everytree.bayes.moves import core_moves
from everytree.common.allocator import give_back
from everytree.common.arguments import generator, whole
from everytree.common.told import tell
from everytree.engine.engine import Engine
from everytree.engine.rows import core_rows
from everytree.engine.weigh import weigh
from everytree.errors import QueryError
from everytree.weights.dirichlet import Dirichlet, checked_power
from everytree.weights.priors import Prior

__all__ = ["CollapsedPosterior"]

Reals = npt.NDArray[np.float64]
LEAST = 20  # draws per chain; the error of fewer cannot be estimated
BLOCK = 4096  # rows predicted at a time, because their means by batch are held in memory
UNSURE = 1.1  # R-hat above which the chains are said to disagree


class CollapsedPosterior:
    """The posterior over trees by sampling: the top of the tree is drawn, and everything below is summed exactly.

    ``TreeSpace.collapsed`` makes it. It is never exact, and ``exact`` is False. If a limit ends the sampling, the
    chains keep the draws they have and ``stop_reason`` says so; fewer than 20 draws are an error.

    Parameters
    ----------
    space : TreeSpace
        The trees; its limits, ``n_jobs`` and ``min_leaf`` hold here too.
    prior : Prior, str or None, default=None
        The prior over trees, or its name; None means ``SizePrior(0.8, 0.8)``.
    dirichlet : float, sequence of float or DepthDecay, default=1.0
        The Dirichlet parameters of the class probabilities in a leaf.
    n_draws : int, default=2000
        The draws that each chain keeps, one every ``thin`` steps.
    n_chains : int, default=4
        The number of independent chains, each with its own random start.
    burn_in : int, default=500
        The steps at the start of each chain that are thrown away; a step is fifty proposals.
    thin : int, default=1
        The number of steps from one draw that is kept to the next.
    random_state : int, numpy.random.Generator or None, default=None
        The seed; the same number gives the same draws for any ``n_jobs``.
    power : float, default=1.0
        The power of the leaf weights: a leaf weighs its marginal likelihood to the power of it.

    Attributes
    ----------
    log_joint : ndarray of shape (n_chains, n_draws)
        The log weight of the top of every draw, up to a constant.
    n_draws : int
        The draws kept in each chain.
    n_chains : int
        The number of chains.
    stop_reason : str or None
        Why there are fewer draws than asked for; None if there are not.
    seconds : float
        The time that the sampling took.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (60, 5))
    >>> space = TreeSpace(X, X[:, 0] & X[:, 1], max_depth=4)
    >>> sampled = space.collapsed(n_draws=200, burn_in=50, random_state=0)
    >>> p, error = sampled.predict_proba([[1, 1, 0, 0, 0]], return_error=True)
    >>> exact = space.posterior().predict_proba([[1, 1, 0, 0, 0]])
    >>> bool((abs(p - exact) < 5 * error + 1e-9).all())
    True
    >>> sampled.exact
    False
    """

    exact = False

    def __init__(
        self,
        space: Engine,
        prior: Prior | str | None = None,
        dirichlet: Dirichlet = 1.0,
        n_draws: int = 2000,
        n_chains: int = 4,
        burn_in: int = 500,
        thin: int = 1,
        random_state: int | np.random.Generator | None = None,
        power: float = 1.0,
    ) -> None:
        self._space = space
        self.prior: Prior = space.prior_of(prior)
        self.dirichlet = dirichlet
        self.power = checked_power(power)
        n_draws = whole("n_draws", n_draws, LEAST)
        self.n_chains = whole("n_chains", n_chains, 1)
        self.burn_in = whole("burn_in", burn_in, 0)
        self.thin = whole("thin", thin, 1)
        seed = int(generator(random_state).integers(2**63))
        with space.question("sampling tops of trees") as control:
            self._core = self._make(control)
            self._sample(n_draws, seed, control)
        self._warn(n_draws)

    def _make(self, control: _core.Control) -> _core.Collapsed:
        space = self._space
        weights = weigh(space, self.prior, self.dirichlet, power=self.power)
        self._rows = weights.rows
        return _core.Collapsed(
            space.core_table(control),
            -1 if space.max_depth is None else space.max_depth,
            space.min_count,
            weights.prior,
            weights.dirichlet,
            space.switches["linear"],
            space.n_threads,
            control,
        )

    def _sample(self, n_draws: int, seed: int, control: _core.Control) -> None:
        begin = time.perf_counter()
        chains, stopped = self._core.run(
            self.n_chains, n_draws, self.burn_in, self.thin, LEAST, seed, control
        )
        self.seconds = time.perf_counter() - begin
        self.stop_reason: str | None = stopped or None
        if self._space.limits.memory_limit is not None:
            give_back()  # the states that chains remembered: what follows takes their place
        numbers: dict[tuple[int, ...], int] = {}
        which = np.empty((len(chains), len(chains[0][2])), dtype=np.uint32)
        for chain, (keys, ends, of_draw, *_) in enumerate(chains):
            own = np.empty(len(ends), dtype=np.uint32)
            for top, (begin, end) in enumerate(pairwise(itertools.chain((0,), ends.tolist()))):
                own[top] = numbers.setdefault(tuple(keys[begin:end].tolist()), len(numbers))
            which[chain] = own[of_draw]
        self._tops = list(numbers)
        self._which: npt.NDArray[np.uint32] = which
        self.n_draws = which.shape[1]
        self.log_joint: Reals = np.array([chain[3] for chain in chains])
        self._proposed = np.array([chain[4] for chain in chains]).sum(axis=0)
        self._accepted = np.array([chain[5] for chain in chains]).sum(axis=0)

    def _warn(self, n_draws: int) -> None:
        if self.stop_reason is not None:
            tell(
                f"{self.stop_reason}: {self.n_draws} of {n_draws} draws in each of {self.n_chains} chains",
                RuntimeWarning,
            )
        if self.rhat > UNSURE:
            tell(
                f"the chains disagree (R-hat {self.rhat:.2f}; 1 if they agree): raise n_draws, burn_in or thin",
                RuntimeWarning,
            )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with self._space.question("preparing tops of trees") as control:
            self._core = self._make(control)

    # --- what it is ---

    @property
    def space(self) -> Engine:
        """The space whose trees are sampled."""
        return self._space

    def __repr__(self) -> str:
        return (
            f"CollapsedPosterior(sampled, not exact: {self.n_chains} chains × {self.n_draws} draws, "
            f"R-hat {self.rhat:.3f}, ESS {self.ess:.0f}; {self._space!r}, {self.prior!r}, "
            f"dirichlet={self.dirichlet!r}{'' if self.power == 1 else f', power={self.power:g}'})"
        )

    # --- how far to trust it ---

    @property
    def n_splits(self) -> npt.NDArray[np.intp]:
        """The number of splits in the top of every draw, one row per chain."""
        return np.array([len(key) // 2 for key in self._tops], dtype=np.intp)[self._which]

    @property
    def rhat(self) -> float:
        """The larger split R-hat of ``log_joint`` and ``n_splits``: near 1 if the chains agree."""
        return max(split_rhat(self.log_joint), split_rhat(self.n_splits.astype(float)))

    @property
    def ess(self) -> float:
        """The effective number of independent draws: the smaller of those of ``log_joint`` and ``n_splits``."""
        return min(effective_draws(self.log_joint), effective_draws(self.n_splits.astype(float)))

    @property
    def acceptance(self) -> dict[str, float]:
        """The share of the proposals that were accepted, by kind of move, and for all of them."""
        share = self._accepted / np.maximum(self._proposed, 1)
        return dict(zip(core_moves(), share.tolist(), strict=True)) | {
            "all": float(self._accepted.sum() / max(1, self._proposed.sum()))
        }

    @property
    def n_proposals(self) -> int:
        """The number of proposals over all chains; a step is fifty of them."""
        return int(self._proposed.sum())

    def summary(self) -> dict[str, Any]:
        """Summarize how the sampling went.

        Returns
        -------
        dict
            The number of chains and draws, distinct tops, R-hat, effective draws, acceptance, proposals, seconds and
            the reason why it stopped early.
        """
        return {
            "exact": False,
            "n_chains": self.n_chains,
            "n_draws": self.n_draws,
            "distinct_tops": len(self._tops),
            "rhat": self.rhat,
            "ess": self.ess,
            "acceptance": self.acceptance,
            "proposals": self.n_proposals,
            "seconds": self.seconds,
            "stop_reason": self.stop_reason,
        }

    # --- predictions ---

    def predict_proba(self, X: npt.ArrayLike, return_error: bool = False) -> Any:
        """Predict class probabilities, averaged over the draws.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.
        return_error : bool, default=False
            Whether to return the standard error of each probability too.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or two of them
            P(class | row), with columns in the order of ``space.classes``; with ``return_error`` also the standard
            errors.
        """
        rows = core_rows(self._space, X)
        distinct, back = np.unique(rows, axis=0, return_inverse=True) if len(rows) else (rows, np.arange(0))
        n_classes = len(self._space.classes)
        proba, error = np.empty((len(distinct), n_classes)), np.empty((len(distinct), n_classes))
        sizes = np.diff(batch_edges(self.n_draws))
        a = np.array(self._rows).min(axis=0)
        least = a / (self._space.table.examples + np.max(np.sum(self._rows, axis=1)))
        in_batch = self._in_batch()
        with self._space.question("predicting with sampled tops") as control:
            for k in range(0, len(distinct), BLOCK):
                means = self._batches(distinct[k : k + BLOCK], in_batch, control)
                mean = np.tensordot(means.mean(axis=0), sizes / sizes.sum(), axes=(0, 0))
                proba[k : k + BLOCK] = np.clip(mean, least, 1.0)
                error[k : k + BLOCK] = np.hypot(mean_error(means), self._unseen(mean))
        back = back.reshape(-1)
        return (proba[back], error[back]) if return_error else proba[back]

    def error(self, X: npt.ArrayLike) -> Reals:
        """Return the standard error of ``predict_proba``.

        It combines the spread of batch means, the spread between chains, and what a tree that no draw has seen could
        change.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The standard error of each probability.
        """
        error: Reals = self.predict_proba(X, return_error=True)[1]
        return error

    def _unseen(self, proba: Reals) -> Reals:
        """Return the error that batches and chains do not see; it is zero where nothing is sampled."""
        if self._core.ends_at_root:
            return np.zeros_like(proba)
        counts = self._space.table.class_examples + np.array(self._rows[0])
        return unseen_error(proba, counts / counts.sum(), self.ess)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[Any]:
        """Predict the most probable label of each row.

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

    def _in_batch(self) -> list[list[tuple[int, float]]]:
        """Return for each top its (batch, share of the batch's draws), with the batches of all chains in one row."""
        edges = batch_edges(self.n_draws)
        n_batches = len(edges) - 1
        out: list[list[tuple[int, float]]] = [[] for _ in self._tops]
        for chain in range(self.n_chains):
            for batch, (begin, end) in enumerate(pairwise(edges.tolist())):
                for top, count in Counter(self._which[chain, begin:end].tolist()).items():
                    out[top].append((chain * n_batches + batch, count / (end - begin)))
        return out

    def _batches(
        self, rows: npt.NDArray[np.uint8], in_batch: list[list[tuple[int, float]]], control: _core.Control
    ) -> Reals:
        """Return the mean prediction by (chain, batch, row, class)."""
        n_batches = len(batch_edges(self.n_draws)) - 1
        sums = self._core.predict(
            [list(key) for key in self._tops],
            in_batch,
            self.n_chains * n_batches,
            np.ascontiguousarray(rows),
            control,
        )
        means: Reals = np.asarray(sums).reshape(self.n_chains, n_batches, len(rows), len(self._space.classes))
        return means

    # --- the tops themselves ---

    def tops(self, k: int = 10) -> list[tuple[tuple[int, ...], float]]:
        """List the tops that were drawn most often.

        Parameters
        ----------
        k : int, default=10
            The number of tops.

        Returns
        -------
        list of tuple
            Entries (key, share of the draws); a key lists tests in preorder, with -1 where the top ends.
        """
        counts = np.bincount(self._which.ravel(), minlength=len(self._tops))
        order = sorted(range(len(counts)), key=lambda top: (-counts[top], self._tops[top]))
        return [(self._tops[top], float(counts[top] / counts.sum())) for top in order[: whole("k", k, 1)]]

    def root_distribution(self, return_error: bool = False) -> Any:
        """Return for each test the share of the draws whose root it splits.

        Parameters
        ----------
        return_error : bool, default=False
            Whether to return the standard error of each share too.

        Returns
        -------
        ndarray of shape (n_tests,), or two of them
            One share per test; what is missing to 1 is the single leaf. With ``return_error`` also the standard
            errors.

        Raises
        ------
        QueryError
            If the top of every tree is its root, so that nothing is sampled: the exact posterior is quick there.
        """
        if self._core.ends_at_root:
            raise QueryError(
                f"the top of every tree of {self._space!r} is its root, nothing is sampled; "
                "space.posterior().root_distribution() is exact and quick here"
            )
        roots = np.array([key[0] for key in self._tops])[self._which]
        edges = batch_edges(self.n_draws)
        drawn = (roots[:, :, None] == np.arange(self._space.n_tests)).astype(float)
        share = drawn.mean(axis=(0, 1))
        if not return_error:
            return share
        sizes = np.diff(edges)[None, :, None]
        return share, mean_error(np.add.reduceat(drawn, edges[:-1], axis=1) / sizes)
