"""How far to trust the draws of chains: R-hat, effective draws and errors of each quantity, and what to do about them.

    R-hat   near 1 if the chains agree; above 1.05 they have not forgotten where they began, or sit in different places
    ESS     the number of independent draws that would be worth as much
    MCSE    sd / √ESS: how far the mean of the draws may be from the true mean

A quantity that is the same in every draw has R-hat 1; one that is constant in each chain, but not the same in all,
has an infinite one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.chains import effective_draws, split_rhat
from everytree.mcmc.draws import TreeDraws

__all__ = ["UNSURE", "ChainSummary", "Quantity", "summarize", "to_inference_data"]

Reals = npt.NDArray[np.float64]
UNSURE = 1.05  # R-hat above which the chains are said to disagree
LEAST = 4  # draws of each chain that an R-hat needs


@dataclass(frozen=True)
class Quantity:
    """One quantity over all draws: its mean, standard deviation, standard error of the mean, ESS and R-hat."""

    name: str
    mean: float
    sd: float
    mcse: float
    ess: float
    rhat: float

    @classmethod
    def of(cls, name: str, values: Reals) -> Quantity:
        """Make it of values by chain and draw."""
        values = np.asarray(values, dtype=float)
        mean, sd = float(values.mean()), float(values.std())
        if values.min() == values.max():
            mean, sd = float(values.flat[0]), 0.0
        if values.shape[1] < LEAST:
            return cls(name, mean, sd, math.nan, math.nan, math.nan)
        ess, rhat = effective_draws(values), split_rhat(values)
        return cls(name, mean, sd, sd / math.sqrt(ess), ess, rhat)

    @property
    def constant(self) -> bool:
        """Whether it is the same in every draw of every chain."""
        return self.sd == 0


@dataclass(frozen=True)
class ChainSummary:
    """What ``MCMCTreeClassifier.summary()`` returns: print it, iterate over its quantities, or take ``to_dict()``.

    Parameters
    ----------
    quantities : tuple of Quantity
        The quantities with their mean, standard deviation, error, effective draws and R-hat.
    n_chains : int
        The number of chains.
    n_draws : int
        The number of draws in each chain.
    n_distinct : int
        The number of different trees among the draws.
    acceptance : dict of str to float
        The share of the proposals accepted, by kind of move.
    stop_reason : str
        "complete", or the limit that ended the sampling.

    Examples
    --------
    >>> import everytree as et
    >>> model = et.MCMCTreeClassifier(n_draws=50, random_state=0).fit([[0, 1], [1, 0], [1, 1]] * 9, [0, 1, 1] * 9)
    >>> found = model.summary()
    >>> found.n_chains, found.n_draws, found["n_leaves"].mean > 1
    (4, 50, True)
    """

    quantities: tuple[Quantity, ...]
    n_chains: int
    n_draws: int
    n_distinct: int
    acceptance: dict[str, float]
    stop_reason: str

    @property
    def rhat(self) -> float:
        """The largest R-hat; NaN with too few draws."""
        return max((q.rhat for q in self.quantities), default=math.nan)

    @property
    def ess(self) -> float:
        """The least effective number of draws."""
        return min((q.ess for q in self.quantities), default=math.nan)

    @property
    def worst(self) -> Quantity:
        """The quantity with the largest R-hat."""
        return max(self.quantities, key=lambda q: q.rhat)

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self.quantities)

    def __getitem__(self, name: str) -> Quantity:
        return next(q for q in self.quantities if q.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Write the summary as plain numbers and texts.

        Returns
        -------
        dict
            Its fields; ``pandas.DataFrame(summary.to_dict()["quantities"])`` is a table.
        """
        return asdict(self) | {"rhat": self.rhat, "ess": self.ess, "words": self.words}

    @property
    def words(self) -> str:
        """What the numbers mean, in a sentence or two."""
        worst = self.worst
        if math.isnan(worst.rhat):
            return f"{self.n_draws} draws in each chain are too few to tell whether they agree; draw at least {LEAST}"
        if math.isinf(worst.rhat):
            return (
                f"the chains are stuck: {worst.name} does not move in any of them and is not the same in all. Averages "
                "over these draws are not to be trusted: raise burn_in and thin, or start at the best tree "
                "(start='map', start='optimal')"
            )
        if worst.rhat > UNSURE:
            return (
                f"the chains disagree: R-hat of {worst.name} is {worst.rhat:.2f} (1 if they agree, at most {UNSURE} to "
                f"be relied on), and the draws tell as much as {self.ess:.0f} independent ones. Draw more with "
                "continue_sampling(n_draws), or raise burn_in and thin"
            )
        if all(q.constant for q in self.quantities):
            return "every draw is the same in all that is looked at here: one tree has nearly all the weight"
        return f"the chains agree (R-hat at most {worst.rhat:.3f}); the draws are worth {self.ess:.0f} independent ones"

    def __str__(self) -> str:
        width = max(len("quantity"), *(len(q.name) for q in self.quantities))
        lines = [
            f"{self.n_chains} chains × {self.n_draws} draws, {self.n_distinct} different trees",
            f"{'quantity':<{width}}  {'mean':>10}  {'sd':>9}  {'mcse':>8}  {'ess':>7}  {'R-hat':>6}",
        ]
        for q in self.quantities:
            note = "  constant" if q.constant else ""
            lines.append(
                f"{q.name:<{width}}  {q.mean:>10.4g}  {q.sd:>9.3g}  {q.mcse:>8.2g}  {q.ess:>7.0f}  {q.rhat:>6.3f}{note}"
            )
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.acceptance.items())
        return "\n".join([*lines, f"accepted: {shares}", self.words])


def summarize(
    draws: TreeDraws, acceptance: dict[str, float], stop_reason: str, top: int = 10
) -> ChainSummary:
    """Summarize the log target, leaves, depth, and the use of the ``top`` tests that are used most."""
    quantities = [
        Quantity.of("log_target", draws.log_target),
        Quantity.of("n_leaves", draws.n_leaves.astype(float)),
        Quantity.of("depth", draws.depth.astype(float)),
    ]
    uses, names = draws.uses().tocsc(), draws.space.test_names
    share = draws.test_inclusion()
    for test in np.argsort(-share, kind="stable")[:top].tolist():
        if share[test] > 0:
            used = uses[:, [test]].toarray().ravel()[draws.which]
            quantities.append(Quantity.of(f"uses {names[test] if names else f'x{test}'}", used))
    return ChainSummary(
        tuple(quantities), draws.n_chains, draws.n_draws, draws.n_distinct, dict(acceptance), stop_reason
    )


def to_inference_data(draws: TreeDraws, proposed: Reals, accepted: Reals, moves: tuple[str, ...]) -> Any:
    """Return the draws as ArviZ reads them; see ``MCMCTreeClassifier.to_inference_data``."""
    try:
        import xarray
    except ImportError:
        raise ImportError(
            "to_inference_data() needs xarray, and ArviZ to look at what it returns: "
            'pip install "everytree[mcmc]"; summary() works without them'
        ) from None
    uses = draws.uses().tocsc()
    used = np.flatnonzero(uses.getnnz(axis=0))
    names = draws.space.test_names or tuple(f"x{t}" for t in range(draws.space.n_tests))
    inclusion = uses[:, used].toarray().astype(np.uint8)[draws.which]
    both = ("chain", "draw")
    at = {"chain": np.arange(draws.n_chains), "draw": np.arange(draws.n_draws)}
    with np.errstate(invalid="ignore"):
        share = accepted / proposed
    posterior = xarray.Dataset(
        {
            "n_leaves": (both, draws.n_leaves),
            "depth": (both, draws.depth),
            "inclusion": ((*both, "test"), inclusion),
        },
        coords=at | {"test": [names[t] for t in used.tolist()]},
    )
    stats = xarray.Dataset(
        {
            "lp": (both, draws.log_target),
            "energy": (both, -draws.log_target),
            "log_prior": (both, draws.log_prior),
            "log_data": (both, draws.log_data),
        },
        coords=at,
    )
    moved = xarray.Dataset(
        {
            "proposed": (("chain", "move"), proposed),
            "accepted": (("chain", "move"), accepted),
            "acceptance": (("chain", "move"), share),
        },
        coords={"chain": at["chain"], "move": list(moves)},
    )
    groups = {"posterior": posterior, "sample_stats": stats, "moves": moved}
    for each in groups.values():
        each.attrs["inference_library"] = "everytree"
    return xarray.DataTree.from_dict(groups)
