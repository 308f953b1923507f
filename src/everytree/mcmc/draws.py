"""TreeDraws: the trees that chains have drawn, kept small.

A tree drawn again, by any chain, is kept once: its tests in preorder (four bytes for a node) and 32 bytes more; a draw
is four bytes that say which tree. Counts and probabilities of the leaves are not kept: they follow from the table.

    mean prediction   P(c | x) = Σ_trees (draws of the tree / all draws) · P(c | leaf of x)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.chains import batch_edges, effective_draws, mean_error, unseen_error
from everytree.engine.engine import Engine
from everytree.engine.rows import core_rows
from everytree.mcmc.target import PosteriorTarget, RiskTarget
from everytree.trees import routes as routes
from everytree.trees.answers import with_dirichlet
from everytree.trees.tree import Tree
from everytree.weights.dirichlet import dirichlet_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


__all__ = ["DrawnTrees", "TreeDraws"]

Reals = npt.NDArray[np.float64]
BLOCK = 2**12  # rows whose errors are found at a time, because their means by batch are held in memory


@dataclass
class DrawnTrees:
    """Distinct trees by number, and what is known of each; it grows while chains run."""

    keys: list[bytes] = field(default_factory=list)
    n_leaves: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    log_prior: list[float] = field(default_factory=list)
    log_data: list[float] = field(default_factory=list)
    number: dict[bytes, int] = field(default_factory=dict)

    def add(self, chain: dict[str, Any]) -> npt.NDArray[np.uint32]:
        """Add the draws of one run of a chain, as the core gives them, and return the number of the tree of each."""
        which = chain["which"]
        keys = chain["keys"].astype(np.int32, copy=False)
        ends = chain["ends"].tolist()
        first = np.searchsorted(which, np.arange(len(ends)))  # a tree's draws follow each other
        mine = np.empty(len(ends), dtype=np.uint32)
        begin = 0
        for k, end in enumerate(ends):
            key = keys[begin:end].tobytes()
            begin = end
            found = self.number.setdefault(key, len(self.keys))
            mine[k] = found
            log_prior, log_data = float(chain["log_prior"][first[k]]), float(chain["log_data"][first[k]])
            if found < len(self.keys):
                # Sums over nodes in another order may differ in the last bit; the least does not depend on the order.
                self.log_prior[found] = min(self.log_prior[found], log_prior)
                self.log_data[found] = min(self.log_data[found], log_data)
                continue
            self.keys.append(key)
            self.n_leaves.append(int(chain["leaves"][k]))
            self.depth.append(int(chain["depths"][k]))
            self.log_prior.append(log_prior)
            self.log_data.append(log_data)
        drawn: npt.NDArray[np.uint32] = mine[which]
        return drawn


class TreeDraws(Sequence[Tree]):
    """Trees drawn by several chains: a sequence of ``Tree``, chain by chain.

    ``MCMCTreeClassifier.draws_`` is one. ``tree.info`` of a draw holds its ``chain``, its number ``draw`` in the
    chain, and its log joint, or its risk and energy. A ``Tree`` is made when it is asked for; to average over all of
    them, use ``predict_proba``.

    Parameters
    ----------
    space : Engine
        The space that the trees are of.
    target : PosteriorTarget or RiskTarget
        The distribution that the chains draw from.
    dirichlet : float, sequence of float or DepthDecay
        The Dirichlet parameters of the class probabilities in a leaf.
    trees : DrawnTrees
        The distinct trees.
    which : ndarray of shape (n_chains, n_draws)
        The number of the tree of each draw.

    Attributes
    ----------
    which : ndarray of shape (n_chains, n_draws)
        The number of the tree of each draw, among the distinct trees in the order in which they first occur.

    Examples
    --------
    >>> import everytree as et
    >>> model = et.MCMCTreeClassifier(n_draws=50, random_state=0).fit([[0, 1], [1, 0], [1, 1]] * 9, [0, 1, 1] * 9)
    >>> len(model.draws_), model.draws_[0].info["chain"]
    (200, 0)
    >>> {tree.n_leaves for tree in model.draws_[:50]} == set(model.draws_.n_leaves[0].tolist())
    True
    """

    def __init__(
        self,
        space: Engine,
        target: PosteriorTarget | RiskTarget,
        dirichlet: Any,
        trees: DrawnTrees,
        which: npt.NDArray[np.uint32],
    ) -> None:
        self.space, self.target, self.dirichlet = space, target, dirichlet
        # Trees are numbered as they first occur, chain by chain, so that the parts of a run change no number.
        first = np.unique(which.ravel(), return_index=True)[1]
        order = which.ravel()[np.sort(first)]
        number = np.zeros(len(trees.keys), dtype=np.uint32)
        number[order] = np.arange(len(order), dtype=np.uint32)
        keys = [trees.keys[k] for k in order.tolist()]
        self._keys = np.frombuffer(b"".join(keys), dtype=np.int32)
        self._ends = np.cumsum([len(key) // 4 for key in keys], dtype=np.uint64)
        self._n_leaves = np.array(trees.n_leaves, dtype=np.int32)[order]
        self._depth = np.array(trees.depth, dtype=np.int32)[order]
        self._log_prior = np.array(trees.log_prior)[order]
        self._log_data = np.array(trees.log_data)[order]
        self.which: npt.NDArray[np.uint32] = number[which]

    def trees(self) -> DrawnTrees:
        """Return the distinct trees in a form that more draws can be added to."""
        keys = [self.key(k) for k in range(self.n_distinct)]
        packed = [np.array(key, dtype=np.int32).tobytes() for key in keys]
        return DrawnTrees(
            packed,
            self._n_leaves.tolist(),
            self._depth.tolist(),
            self._log_prior.tolist(),
            self._log_data.tolist(),
            {key: k for k, key in enumerate(packed)},
        )

    # --- how many, how large

    @property
    def n_chains(self) -> int:
        """The number of chains."""
        return int(self.which.shape[0])

    @property
    def n_draws(self) -> int:
        """The number of draws in each chain; ``len`` is that of all chains."""
        return int(self.which.shape[1])

    @property
    def n_distinct(self) -> int:
        """The number of different trees among the draws."""
        return len(self._ends)

    @property
    def nbytes(self) -> int:
        """The bytes that the draws take."""
        parts = (
            self._keys,
            self._ends,
            self._n_leaves,
            self._depth,
            self._log_prior,
            self._log_data,
            self.which,
        )
        return sum(part.nbytes for part in parts)

    def __len__(self) -> int:
        return int(self.which.size)

    def __repr__(self) -> str:
        return f"TreeDraws({self.n_chains} chains × {self.n_draws} draws, {self.n_distinct} different trees)"

    # --- quantities, by chain and draw

    @property
    def log_target(self) -> Reals:
        """The log target of every draw, up to a constant: the log joint, or minus the energy."""
        values: Reals = (self._log_prior + self._log_data)[self.which]
        return values

    @property
    def log_prior(self) -> Reals:
        """The part of ``log_target`` that does not depend on the classes."""
        values: Reals = self._log_prior[self.which]
        return values

    @property
    def log_data(self) -> Reals:
        """The part of ``log_target`` that depends on the classes."""
        values: Reals = self._log_data[self.which]
        return values

    @property
    def n_leaves(self) -> npt.NDArray[np.int32]:
        """The number of leaves of every draw, by chain and draw."""
        values: npt.NDArray[np.int32] = self._n_leaves[self.which]
        return values

    @property
    def depth(self) -> npt.NDArray[np.int32]:
        """The depth of every draw, by chain and draw."""
        values: npt.NDArray[np.int32] = self._depth[self.which]
        return values

    @property
    def ess(self) -> float:
        """The effective number of independent draws: the smaller of those of ``log_target`` and ``n_leaves``."""
        if self.n_draws < 2:
            return float(len(self))
        return min(effective_draws(self.log_target), effective_draws(self.n_leaves.astype(float)))

    def uses(self) -> csr_matrix:
        """Return which distinct tree uses which test.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_distinct, n_tests)
            Entry (k, t) is 1 if tree k uses test t.
        """
        from scipy.sparse import csr_matrix

        of = np.repeat(np.arange(self.n_distinct), np.diff(self._ends, prepend=np.uint64(0)).astype(np.intp))
        inner = self._keys >= 0
        shape = (self.n_distinct, self.space.n_tests)
        pairs = np.unique(of[inner] * np.int64(shape[1]) + self._keys[inner])
        at = np.divmod(pairs, max(1, shape[1]))
        return csr_matrix((np.ones(len(pairs)), at), shape=shape)

    def test_inclusion(self) -> Reals:
        """Return the share of the draws that use each test.

        Returns
        -------
        ndarray of shape (n_tests,)
            One share per test.
        """
        counts = np.bincount(self.which.ravel(), minlength=self.n_distinct)
        share: Reals = np.asarray(counts @ self.uses(), dtype=float).ravel() / max(1, self.which.size)
        return share

    # --- the trees

    def key(self, tree: int) -> tuple[int, ...]:
        """Return the key of a distinct tree.

        Parameters
        ----------
        tree : int
            The number of the tree, as in ``which``.

        Returns
        -------
        tuple of int
            Its tests in preorder, -1 for a leaf.
        """
        begin = 0 if tree == 0 else int(self._ends[tree - 1])
        return tuple(self._keys[begin : int(self._ends[tree])].tolist())

    def tree(self, chain: int, draw: int) -> Tree:
        """Return one draw of one chain.

        Parameters
        ----------
        chain : int
            The number of the chain, from 0.
        draw : int
            The number of the draw in the chain, from 0.

        Returns
        -------
        Tree
            The tree, with class counts and probabilities.
        """
        k = int(self.which[chain, draw])
        facts = self.target.facts(float(self._log_prior[k]), float(self._log_data[k]))
        table, key = self.space.table, self.key(k)
        if table.columns is not None:  # the cuts of its nodes must be found
            made = self.space.tree_of(key, {**facts, "chain": chain, "draw": draw})
            return with_dirichlet(made, self._rows())
        # Engine.tree_of would check the key again, which takes three times as long.
        children = routes.children_of_key(key)
        leaf = routes.leaf_of_rows(table.rows, children.astype(np.int32), np.array(key, dtype=np.int32))
        counts = table.in_examples(routes.counts_of_nodes(leaf, table.class_counts, children))
        a = np.array(self._rows())
        with_prior = counts + a[np.minimum(routes.depths(children.astype(np.int32)), len(a) - 1)]
        return Tree(
            children,
            key,
            counts,
            with_prior / with_prior.sum(axis=1, keepdims=True),
            n_tests=table.n_tests,
            test_names=table.test_names,
            classes=table.classes,
            info={**facts, "chain": chain, "draw": draw},
        )

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tree]: ...
    def __getitem__(self, index: int | slice) -> Tree | list[Tree]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        k = range(len(self))[index]
        return self.tree(*divmod(k, self.n_draws))

    def __iter__(self) -> Iterator[Tree]:
        for chain in range(self.n_chains):
            tree, last = None, -1
            for draw, k in enumerate(self.which[chain].tolist()):
                if tree is None or k != last:
                    tree, last = self.tree(chain, draw), k
                else:  # the chain has stayed where it was
                    tree = tree.replace(info={**tree.info, "draw": draw})
                yield tree

    # --- predictions

    def predict_proba(self, X: npt.ArrayLike, return_error: bool = False) -> Any:
        """Predict class probabilities, averaged over all draws.

        The standard error is that of sampling: from the means of batches of draws or the spread between chains, and
        what one more draw that knows nothing would change. It knows nothing of a region that no chain has visited.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            Rows of 0/1 tests.
        return_error : bool, default=False
            Whether to return the standard error of each probability too.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or two of them
            P(class | row), with columns in the order of the classes; with ``return_error`` also the standard errors.
        """
        rows = core_rows(self.space, X)
        n_classes = len(self.space.classes)
        distinct, back = np.unique(rows, axis=0, return_inverse=True) if len(rows) else (rows, np.arange(0))
        proba, error = np.empty((len(distinct), n_classes)), np.empty((len(distinct), n_classes))
        base = self.space.table.class_examples + np.array(self._rows()[0])
        ess = self.ess if return_error else 0.0
        with self.space.question("averaging over draws") as control:
            for k in range(0, len(distinct), BLOCK):
                block, part = np.ascontiguousarray(distinct[k : k + BLOCK]), slice(k, k + BLOCK)
                mean = self._mean(self.which, block, control)
                proba[part] = mean / mean.sum(axis=1, keepdims=True)
                if return_error:
                    edges = batch_edges(self.n_draws)
                    means = [
                        [
                            self._mean(chain[begin:end], block, control)
                            for begin, end in pairwise(edges.tolist())
                        ]
                        for chain in self.which
                    ]
                    unseen = unseen_error(proba[part], base / base.sum(), ess)
                    error[part] = np.hypot(mean_error(np.array(means)), unseen)
        back = back.reshape(-1)
        return (proba[back], error[back]) if return_error else proba[back]

    def _rows(self) -> list[list[float]]:
        """Return the Dirichlet parameters by depth and class."""
        totals = self.space.table.class_counts.sum(axis=0)
        return dirichlet_rows(self.dirichlet, len(totals), int(self._depth.max()), totals)

    def _mean(self, which: Any, rows: npt.NDArray[np.uint8], control: _core.Control) -> Reals:
        """Return the mean prediction of these draws."""
        trees, counts = np.unique(which, return_counts=True)
        keys, ends = self._keys, self._ends
        if len(trees) < self.n_distinct:
            sizes = np.diff(ends, prepend=np.uint64(0)).astype(np.intp)
            keys = keys[np.isin(np.repeat(np.arange(len(ends)), sizes), trees)]
            ends = np.cumsum(sizes[trees], dtype=np.uint64)
        mean: Reals = _core.predict_draws(
            self.space.core_table(control),
            keys,
            ends,
            counts / counts.sum(),
            _core.Dirichlet(self._rows(), per_example=self.space.table.per_example),
            rows,
            self.space.n_threads,
            control,
            -1 if self.space.max_depth is None else self.space.max_depth,
        )
        return mean
