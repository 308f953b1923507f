"""How sure a class probability is: its variance, exactly, and its quantiles, from exact draws.

Given the tree, the class probabilities θ in a leaf with counts n are Dirichlet(n + a). With B = Σ(n + a) and
m_c = (n_c + a_c) / B in the leaf that a row reaches, over the posterior of the tree:

    E[θ_c]   = E[m_c]                                                (what ``predict_proba`` gives)
    Var[θ_c] = Var[m_c]  +  E[m_c (1 − m_c) / (B + 1)]               (between trees + within leaves)

Both parts are averages over *every* tree. A quantile is not an average, so intervals come from trees drawn exactly
from the posterior: the drawn leaves make a mixture of Beta(n_c + a_c, B − n_c − a_c), whose distribution function

    F(t) = (1/N) Σ_draws I_t(n_c + a_c, B − n_c − a_c)

is computed and inverted, so the draw of the tree is the only source of chance. If q is the quantile found for
probability p, the true F(q) differs from p by a random error with standard deviation at most √(p(1 − p)/N): at
most 0.007 at either end of a 90 % interval with 1,000 draws, and less where the trees agree.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.folded import Folded
from everytree.common.arguments import number, whole
from everytree.common.limits import blocks
from everytree.errors import LimitReached

__all__ = ["DrawnLeaf", "Moments", "drawn_leaves", "interval", "moments"]

Reals = npt.NDArray[np.float64]
Rows = npt.NDArray[np.uint8]
Key = tuple[int, ...]
BYTES_PER_KEY = 600  # that a drawn tree takes, about
BYTES = 2**28  # that the leaves of one block of rows may take
GRID = 64  # cells in which quantiles are looked for first
CLOSE = 1e-13  # the tolerance in t, and in F(t)


@dataclass(frozen=True)
class Moments:
    """Moments of the class probabilities θ at each row, over every tree.

    ``Posterior.moments`` makes it.

    Parameters
    ----------
    mean : ndarray of shape (n_rows, n_classes)
        E[θ_c], as ``predict_proba`` gives it.
    second : ndarray of shape (n_rows, n_classes)
        E[θ_c²].
    between : ndarray of shape (n_rows, n_classes)
        The variance over trees of the leaf's mean: how much the trees disagree.
    within : ndarray of shape (n_rows, n_classes)
        The mean over trees of the leaf's own variance: how few examples the leaves hold.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> post = TreeSpace([[0], [0], [1], [1]], ["no", "no", "yes", "yes"], max_depth=1).posterior()
    >>> found = post.moments([[0]])
    >>> found.mean.round(3).tolist(), found.std.round(3).tolist()
    ([[0.733, 0.267]], [[0.204, 0.204]])
    """

    mean: Reals
    second: Reals
    between: Reals
    within: Reals

    @property
    def variance(self) -> Reals:
        """The variance of θ_c, which is ``between`` + ``within``."""
        return self.between + self.within

    @property
    def std(self) -> Reals:
        """The standard deviation of θ_c."""
        return np.sqrt(self.variance)


def moments(posterior: Folded, X: npt.ArrayLike) -> Moments:
    """Compute the exact moments of θ at each row, over every tree.

    The variances are sums of terms that are not negative. Inside a state the engine subtracts the square of a mean
    from a mean square and takes 0 where rounding leaves less than that; the error is about 1e-16.
    """
    rows = posterior.checked_rows(X)
    n_classes = len(posterior.space.classes)
    with posterior.space.question("computing moments with the posterior") as control:
        if 4 * 8 * len(rows) * n_classes > posterior.space.limits.memory:  # the answer is four matrices
            raise LimitReached("memory limit reached", "memory")
        flat: Reals = posterior.core.moments(rows, control)
        mean, between, within = (flat[:, k * n_classes : (k + 1) * n_classes] for k in range(3))
        posterior.clipped(mean, control)
        second = np.empty(mean.shape)
        for block in blocks(len(second), 8 * n_classes, control):
            second[block] = mean[block] * mean[block] + between[block] + within[block]
    return Moments(mean, second, between, within)


def interval(
    posterior: Folded,
    X: npt.ArrayLike,
    level: float = 0.9,
    n_draws: int = 1000,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Reals, Reals]:
    """Find the central interval of θ_c at each row: it holds θ_c with probability ``level``."""
    level = number("level", level, 0, 1, example=0.9)
    n_draws = whole("n_draws", n_draws, 1)
    rows = posterior.checked_rows(X)
    n_classes = len(posterior.space.classes)
    distinct, place = np.unique(rows, axis=0, return_inverse=True)
    place = place.reshape(-1)  # some versions of numpy give it another shape
    ends = np.ones((2, len(distinct), n_classes))  # with one class θ is 1
    with posterior.space.question("finding intervals") as control:
        draws = _draws(posterior, n_draws, random_state, control)
        step = max(32, min(BYTES, posterior.space.limits.memory) // (64 * n_draws))
        for begin in range(0, len(distinct) if n_classes > 1 else 0, step):
            block = slice(begin, begin + step)
            mixture = _mixture(posterior, draws, distinct[block], control)
            # With two classes θ_1 = 1 − θ_0: the ends change places.
            for c in range(1 if n_classes == 2 else n_classes):
                for end, p in enumerate(((1 - level) / 2, (1 + level) / 2)):
                    ends[end, block, c] = mixture.quantiles(p, c, control)
            ends[:, block].sort(axis=0)  # point masses: the two ends may differ by rounding
            if n_classes == 2:
                ends[:, block, 1] = 1 - ends[::-1, block, 0]
    return ends[0][place], ends[1][place]


def _draws(
    posterior: Folded,
    n: int,
    random_state: int | np.random.Generator | None,
    control: _core.Control,
) -> Counter[Key]:
    """Draw the trees that ``posterior.sample`` would draw, as keys with how often each was drawn."""
    found: Counter[Key] = Counter()
    for keys in posterior.drawn_keys(n, random_state, control):
        found.update(keys)
        if len(found) * BYTES_PER_KEY > posterior.space.limits.memory:
            raise LimitReached("memory limit reached", "memory")
    return found


# --- the mixture of the drawn leaves ---


class _Mixture:
    """For each row a mixture of Dirichlet distributions: ``share[k]`` of leaf ``leaf[k]`` belongs to ``row[k]``."""

    def __init__(
        self, parameters: Reals, row: npt.NDArray[np.intp], leaf: npt.NDArray[np.intp], share: Reals
    ):
        self.parameters = parameters  # n + a, one row per different leaf
        self.row, self.leaf, self.share = row, leaf, share
        self.n_rows = int(row[-1]) + 1 if len(row) else 0

    def _beta(self, c: int) -> tuple[Reals, Reals]:
        """Return the two parameters of the Beta distribution of θ_c in every leaf."""
        return self.parameters[:, c], np.delete(self.parameters, c, axis=1).sum(axis=1)

    def quantiles(self, p: float, c: int, control: _core.Control) -> Reals:
        """Find the t with F(t) = p, one per row.

        The cell of a grid comes first, from distribution functions that all rows share; then Newton's steps inside the
        bracket, or halves of it where a step leads out.
        """
        from scipy.special import betainc, betaln

        one, other = self._beta(c)
        grid = np.arange(GRID + 1) / GRID
        at_grid = np.empty((self.n_rows, GRID + 1))
        for k, point in enumerate(grid):
            control.check()
            at_grid[:, k] = self._mean(_cdf(betainc, one, other, np.full(len(one), point))[self.leaf], None)
        at_grid = np.maximum.accumulate(at_grid, axis=1)
        cell = np.clip((at_grid[:, 1:] < p).sum(axis=1), 0, GRID - 1)
        every = np.arange(self.n_rows)
        low, high = grid[cell], grid[cell + 1]
        f_low, f_high = at_grid[every, cell], at_grid[every, cell + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            t: Reals = low + (high - low) * np.clip(
                np.nan_to_num((p - f_low) / (f_high - f_low), nan=0.5), 0.01, 0.99
            )
        norm = betaln(one, other)
        open_rows = every
        for round_ in count():
            if len(open_rows) == 0:
                break
            control.check()
            is_open = np.zeros(self.n_rows, dtype=bool)
            is_open[open_rows] = True
            part = is_open[self.row]
            leaf, here = self.leaf[part], t[self.row[part]]
            f = self._mean(_cdf(betainc, one[leaf], other[leaf], here), part)[open_rows]
            with np.errstate(all="ignore"):
                log_density = (
                    (one[leaf] - 1) * np.log(here) + (other[leaf] - 1) * np.log1p(-here) - norm[leaf]
                )
                density = self._mean(np.exp(log_density), part)[open_rows]
                now = t[open_rows]
                above = f >= p
                low[open_rows] = np.where(above, low[open_rows], now)
                high[open_rows] = np.where(above, now, high[open_rows])
                step = now - (f - p) / density
                # After a few rounds every second step is a half, so that there are never many.
                inside = (step > low[open_rows]) & (step < high[open_rows]) & (round_ < 8 or round_ % 2 == 0)
                following = np.where(inside, step, (low[open_rows] + high[open_rows]) / 2)
            narrow = high[open_rows] - low[open_rows] <= CLOSE
            done = (np.abs(f - p) <= CLOSE) | narrow | (inside & (np.abs(following - now) <= CLOSE))
            t[open_rows] = np.where(np.abs(f - p) <= CLOSE, now, following)
            open_rows = open_rows[~done]
        return t

    def _mean(self, values: Reals, part: npt.NDArray[np.bool_] | None) -> Reals:
        """Sum share · value for each row."""
        row, share = (self.row, self.share) if part is None else (self.row[part], self.share[part])
        return np.asarray(np.bincount(row, share * values, minlength=self.n_rows), dtype=np.float64)


def _cdf(betainc: np.ufunc, one: Reals, other: Reals, t: Reals) -> Reals:
    """Return the distribution function of Beta(one, other); where scipy fails (beyond 1e15), a step at the mean."""
    f: Reals = betainc(one, other, t)
    lost = np.isnan(f)
    if lost.any():
        f = np.where(lost, (t >= one / (one + other)).astype(float), f)
    return f


def _mixture(posterior: Folded, draws: Counter[Key], rows: Rows, control: _core.Control) -> _Mixture:
    """Route the rows, and the examples, down all drawn trees at once: what trees have in common is done once."""
    table = posterior.space.table
    sizes = {key: _subtree_sizes(key) for key in draws}
    leaves: dict[tuple[tuple[int, ...], int], int] = {}
    parameters: list[list[float]] = []
    found: list[tuple[npt.NDArray[np.intp], int, int]] = []
    # A node: its examples and rows, its depth, and the draws that have it as (key, place in the key, number).
    start = [(key, 0, number) for key, number in draws.items()]
    everything = np.arange(len(table.rows))
    waiting = [(everything, everything, np.arange(len(rows)), 0, start)]  # and the examples of the node above
    while waiting:
        control.check()
        examples, above, here, depth, trees = waiting.pop()
        by_test: dict[int, list[tuple[Key, int, int]]] = {}
        for key, place, n in trees:
            by_test.setdefault(key[place], []).append((key, place, n))
        for test, those in by_test.items():
            if test < 0:
                a = posterior.parameters[min(depth, len(posterior.parameters) - 1)]
                counts = tuple(table.in_examples(table.class_counts[examples].sum(axis=0)).tolist())
                at = leaves.setdefault((counts, min(depth, len(posterior.parameters) - 1)), len(leaves))
                if at == len(parameters):
                    parameters.append([n + b for n, b in zip(counts, a, strict=True)])
                found.append((here, at, sum(n for _, _, n in those)))
                continue
            holds = rows[here, test]
            if table.columns is not None:
                holds = holds <= posterior.space.local_cuts.upper_at(
                    test, examples, above, depth, posterior.space.max_depth
                )
            for outcome in (0, 1):
                to = here[holds == outcome]
                if len(to) == 0:
                    continue
                below = [
                    (key, place + 1 + (sizes[key][place + 1] if outcome else 0), n) for key, place, n in those
                ]
                inside = examples[table.rows[examples, test] == outcome]
                waiting.append((inside, examples, to, depth + 1, below))
    row = np.concatenate([here for here, _, _ in found])
    leaf = np.repeat([at for _, at, _ in found], [len(here) for here, _, _ in found])
    weight = np.repeat([n for _, _, n in found], [len(here) for here, _, _ in found])
    # Equal leaves of a row are taken together.
    pair, together = np.unique(row * len(parameters) + leaf, return_inverse=True)
    share = np.bincount(together.reshape(-1), weight) / draws.total()
    return _Mixture(np.array(parameters), pair // len(parameters), pair % len(parameters), share)


class DrawnLeaf(NamedTuple):
    """A leaf of drawn trees: what leads to it, n + a of its classes, and in how many of the draws it is a leaf."""

    items: tuple[
        tuple[int, int, int], ...
    ]  # test, outcome, and the upper of the cut where states choose their own
    parameters: tuple[float, ...]
    draws: int


def drawn_leaves(
    posterior: Folded, n_draws: int = 1000, random_state: int | np.random.Generator | None = None
) -> list[DrawnLeaf]:
    """Return the leaves of the trees that ``interval`` draws: with them its mixture of any row can be made elsewhere.

    A row reaches one leaf of every draw. Leaves with the same conditions, in whatever order, are one.
    """
    table, space = posterior.space.table, posterior.space
    found: dict[tuple[tuple[int, int, int], ...], DrawnLeaf] = {}
    with space.question("drawing trees") as control:
        draws = _draws(posterior, n_draws, random_state, control)
        sizes = {key: _subtree_sizes(key) for key in draws}
        everything = np.arange(len(table.rows))
        waiting: list[Any] = [(everything, everything, (), [(key, 0, n) for key, n in draws.items()])]
        while waiting:
            control.check()
            examples, above, items, trees = waiting.pop()
            depth = len(items)
            by_test: dict[int, list[tuple[Key, int, int]]] = {}
            for key, place, n in trees:
                by_test.setdefault(key[place], []).append((key, place, n))
            for test, those in by_test.items():
                if test < 0:
                    a = posterior.parameters[min(depth, len(posterior.parameters) - 1)]
                    counts = table.in_examples(table.class_counts[examples].sum(axis=0)).tolist()
                    name = tuple(sorted(items))
                    before = found[name].draws if name in found else 0
                    own = tuple(n + b for n, b in zip(counts, a, strict=True))
                    found[name] = DrawnLeaf(name, own, before + sum(n for _, _, n in those))
                    continue
                upper = 0
                if table.columns is not None:
                    upper = space.local_cuts.upper_at(test, examples, above, depth, space.max_depth)
                holds = table.rows[examples, test]
                for outcome in (0, 1):
                    below = [
                        (key, place + 1 + (sizes[key][place + 1] if outcome else 0), n)
                        for key, place, n in those
                    ]
                    waiting.append(
                        (examples[holds == outcome], examples, (*items, (test, outcome, upper)), below)
                    )
    return list(found.values())


def _subtree_sizes(key: Key) -> list[int]:
    """Count the nodes of the subtree that begins at each place of a key.

    >>> _subtree_sizes((0, -1, 2, -1, -1))
    [5, 1, 3, 1, 1]
    """
    sizes = [1] * len(key)
    for place in range(len(key) - 1, -1, -1):
        if key[place] >= 0:
            zero = sizes[place + 1]
            sizes[place] = 1 + zero + sizes[place + 1 + zero]
    return sizes
