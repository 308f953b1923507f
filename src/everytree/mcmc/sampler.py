"""TreeSampler: chains over the trees of a space, run in parts, with a bar that shows how many draws they are worth.

The draws of a chain depend on the seed and on its number, not on threads, limits, or the parts in which it is run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.bayes.moves import MOVES, core_moves, odds_of
from everytree.common.arguments import number, refused, whole
from everytree.common.limits import Limits
from everytree.engine.engine import Engine
from everytree.errors import QueryError
from everytree.mcmc.bar import SamplingBar
from everytree.mcmc.target import PosteriorTarget, RiskTarget

__all__ = [
    "KERNELS",
    "ORDERS",
    "TRIED",
    "Annealing",
    "Parts",
    "Plan",
    "TreeSampler",
    "by_chain",
    "column_density",
    "ladder_of",
    "move_odds",
    "of_one_length",
    "proposal_density",
]

Reals = npt.NDArray[np.float64]
KERNELS = ("chipman", "stack")
ORDERS = ("counted", "once")
TRIED = (*core_moves(), "exchange")  # the kinds of proposals that are counted
# Of the settings tried on CP4IM files these, with two heated trees, gave the most effective draws per second of the
# quantity that mixes worst: whether a test is used. Without heated trees that one may not mix at all (R-hat 2 on
# heart-cleveland, depth 4), though the log target seems to. Low risk is found soonest by changes.
ODDS = {
    "posterior": {"grow": 1, "prune": 1, "change": 1, "swap": 1, "regrow": 1},
    "risk": {"grow": 3, "prune": 3, "change": 10, "swap": 4},
}
STATE_BYTES = 2**28  # for the states that chains remember; fewer bytes make them slower, and change no draw
COOLER = 0.55  # the weight of the data in a heated tree, relative to the tree before it
PARTS = 25  # into which a run with a bar is split; the bar shows the ESS after each


def proposal_density(given: Any, tests: Sequence[tuple[str, str]]) -> list[float]:
    """Return how often each test is proposed, relative to the other feasible ones; an empty list if all are alike.

    ``tests`` are (name, attribute); ``given`` names tests or attributes, and all others count 1.

    >>> proposal_density({"age": 3, "age <= 54": 0.5}, [("age <= 40", "age"), ("age <= 54", "age"), ("sex", "sex")])
    [3.0, 0.5, 1.0]
    """
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise refused(
            QueryError, "density", given, "a dict from columns or tests to numbers, such as {'age': 3}"
        )
    weights = {name: number(f"density[{name!r}]", x, 0, 1e9, example=1) for name, x in given.items()}
    known = {name for pair in tests for name in pair}
    for name in weights:
        if name not in known:
            raise QueryError(
                f"density names {name!r}, which is no column and no test; the tests are in binarizer_.tests_"
            )
    return [weights.get(name, weights.get(attribute, 1.0)) for name, attribute in tests]


def column_density(tests: Sequence[tuple[str, str]], counts: Sequence[int], n_examples: int) -> list[float]:
    """Return the proposal of section 6 of Krasznahorkay (2004): 1/d · λ_j, over all tests.

    A column j is drawn with probability 1/d, then a test by the density λ_j of the column in training: an example is
    drawn, and the test is the first cut that its value does not exceed, or the one that asks for its value; the only
    test of a column is certain. ``tests`` are (attribute, operator), ``counts`` the examples in which each holds. The
    examples above the last cut have no test, so that λ_j may sum to less than one: then nothing is proposed.

    >>> column_density([("age", "<="), ("age", "<="), ("sex", "is")], [2, 5, 3], 8)
    [0.125, 0.1875, 0.5]
    """
    columns: dict[str, list[int]] = {}
    for test, (attribute, _) in enumerate(tests):
        columns.setdefault(attribute, []).append(test)
    found = [0.0] * len(tests)
    for mine in columns.values():
        cuts = sorted((test for test in mine if tests[test][1] == "<="), key=lambda test: counts[test])
        before = 0
        for test in mine:
            found[test] = counts[test] / n_examples
        for test in cuts:
            found[test], before = (counts[test] - before) / n_examples, counts[test]
        if len(mine) == 1:
            found[mine[0]] = 1.0
        for test in mine:
            found[test] /= len(columns)
    return found


def move_odds(moves: Mapping[str, float] | None, target: str = "posterior") -> list[float]:
    """Return the probabilities of the kinds of moves, which sum to one; by default those that suit the target.

    >>> move_odds({"grow": 1, "prune": 1, "change": 2})
    [0.25, 0.25, 0.5, 0.0, 0.0]
    """
    given: Mapping[str, float] = ODDS[target] if moves is None else moves
    if not isinstance(given, Mapping) or not given or set(given) - set(MOVES):
        raise refused(
            QueryError,
            "moves",
            moves,
            f"a dict from {', '.join(map(repr, MOVES))} to how often each is tried",
        )
    odds = odds_of(
        {
            name: number(f"moves[{name!r}]", times, 0, 1e6, example=1, closed=True)
            for name, times in given.items()
        }
    )
    total = math.fsum(odds.values())
    if not total > 0 or (odds["grow"] > 0) != (odds["prune"] > 0):
        raise refused(
            QueryError,
            "moves",
            moves,
            says="; grow and prune undo each other: expected both above 0, or neither and another one",
        )
    return [x / total for x in odds.values()]


def ladder_of(tempering: Any) -> list[float]:
    """Return the weight of the data in the tree that is drawn, which is 1, and in the heated trees beside it.

    >>> ladder_of([1, 0.5]), [round(b, 2) for b in ladder_of(3)]
    ([1.0, 0.5], [1.0, 0.55, 0.3])
    """
    if isinstance(tempering, Sequence | np.ndarray) and not isinstance(tempering, str):
        ladder = [
            number(f"tempering[{k}]", b, 0, 1.0001, example=0.5, closed=True) for k, b in enumerate(tempering)
        ]
        if not ladder or ladder[0] != 1 or any(b <= c for b, c in itertools.pairwise(ladder)):
            raise refused(
                QueryError, "tempering", tempering, "numbers that fall from 1, such as [1, 0.5, 0.25]"
            )
        return ladder
    return [COOLER**k for k in range(whole("tempering", tempering, 1))]


@dataclass(frozen=True)
class Annealing:
    """Powers of the target during the burn-in, with even steps of their logarithms; the final power stays."""

    powers: tuple[float, ...]

    @classmethod
    def of(cls, anneal: Any) -> Annealing | None:
        """Make it of the parameter ``anneal``: None, True for (0.5, 5), or the powers."""
        if anneal is None or anneal is False:
            return None
        given = (0.5, 5.0) if anneal is True else anneal
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) < 2:
            raise refused(
                QueryError,
                "anneal",
                anneal,
                "powers of the target from first to last such as (0.5, 5), True, or None",
            )
        return cls(tuple(number(f"anneal[{k}]", x, 0, 1e9, example=1) for k, x in enumerate(given)))

    def schedule(self, n: int) -> list[float]:
        """Return the powers of the ``n`` draws of the burn-in."""
        at = np.linspace(0, len(self.powers) - 1, n) if n > 1 else np.zeros(n)
        logs = np.interp(at, np.arange(len(self.powers)), np.log(self.powers))
        return [float(x) for x in np.exp(logs)]

    @property
    def last(self) -> float:
        """The power after the burn-in."""
        return self.powers[-1]


@dataclass(frozen=True)
class Plan:
    """How long chains run: draws to leave out and to keep, proposals per draw, and whether the burn-in is traced."""

    n_draws: int
    burn_in: int
    thin: int
    anneal: Annealing | None = None
    trace: bool = False


@dataclass
class Parts:
    """The draws of chains as the core returns them: a dict of arrays for each chain, once for every part of a run."""

    early: list[dict[str, Any]]  # of the burn-in, if it is traced
    kept: list[list[dict[str, Any]]]
    tried: Reals  # (proposed and accepted, chain, kind of move)
    stopped: str = ""


class TreeSampler:
    """Chains over the trees of a space; each run continues where the run before it ended.

    They run in this process, on the threads of the space, or each on a worker of joblib where ``parallel_config``
    names a backend of processes or machines. The draws are the same.
    """

    def __init__(
        self,
        space: Engine,
        target: PosteriorTarget | RiskTarget,
        kernel: str,
        n_chains: int,
        seed: int,
        *,
        moves: Mapping[str, float] | None = None,
        informed: float = 0.9,
        tempering: int | Sequence[float] = 3,
        density: Sequence[float] = (),
        density_outright: bool = False,
        state_bytes: int | None = None,
        orders: str = "counted",
    ) -> None:
        if kernel not in KERNELS:
            raise refused(QueryError, "kernel", kernel, f"one of {', '.join(map(repr, KERNELS))}")
        if orders not in ORDERS:
            raise refused(QueryError, "orders", orders, f"one of {', '.join(map(repr, ORDERS))}")
        informed = number("informed", informed, 0, 1, example=0.9, closed=True)
        self.space, self.target = space, target
        if state_bytes is None:
            state_bytes = max(2**20, min(STATE_BYTES, space.limits.memory // 4))
        with space.question("preparing to sample trees") as control:
            self._chains = _core.TreeChains(
                space.core_table(control),
                -1 if space.max_depth is None else space.max_depth,
                space.min_count,
                target.core(space, control),
                kernel,
                move_odds(moves, target.name),
                1.0 - informed,
                n_chains,
                seed,
                space.n_threads,
                control,
                density=list(density),
                ladder=ladder_of(tempering),
                state_bytes=state_bytes,
                orders=orders,
                density_outright=density_outright,
            )
        # The settings with which another process makes one of these chains.
        self.alone: dict[str, Any] = {
            "kernel": kernel,
            "moves": moves,
            "informed": informed,
            "tempering": tempering,
            "density": density,
            "density_outright": density_outright,
            "orders": orders,
            "state_bytes": max(1, state_bytes // n_chains),
        }

    @property
    def n_chains(self) -> int:
        """The number of chains."""
        return int(self._chains.n_chains)

    def start(self, chain: int, key: Sequence[int]) -> None:
        """Put a chain at a tree."""
        self._chains.start(chain, list(key))

    def state(self, chain: int) -> Any:
        """Return everything that the later draws of a chain depend on."""
        return self._chains.state(chain)

    def restore(self, chain: int, state: Any) -> None:
        """Put a chain where one of the same space and settings was."""
        self._chains.restore(chain, state)

    def log_target(self, key: Sequence[int]) -> tuple[float, float]:
        """Return the two parts of the log target of a tree: that of its nodes, and that of the data."""
        log_prior, log_data = self._chains.log_target(list(key))
        return float(log_prior), float(log_data)

    def run_here(self, plan: Plan, shown: SamplingBar | None = None) -> Parts:
        """Run all chains in this process."""
        out = Parts([], [], np.zeros((2, self.n_chains, len(TRIED))))
        log_target: list[Reals] = []

        def part(n: int, left_out: int, powers: list[float], control: _core.Control) -> list[dict[str, Any]]:
            chains, stopped = self._chains.run(n, left_out, plan.thin, powers, control)
            for c, chain in enumerate(chains):
                out.tried[0, c] += [*chain["proposed"], chain["exchanges"].sum()]
                out.tried[1, c] += [*chain["accepted"], chain["exchanged"].sum()]
            out.stopped = str(stopped)
            return chains

        def show(done: int) -> None:
            if shown is not None:
                shown.between(done * self.n_chains, log_target)

        then = [] if plan.anneal is None else [plan.anneal.last]
        n, burn_in = plan.n_draws, plan.burn_in
        with self.space.question("sampling trees") as control:
            if burn_in:
                show(0)
                powers = [] if plan.anneal is None else plan.anneal.schedule(burn_in)
                chains = part(*((burn_in, 0) if plan.trace else (0, burn_in)), powers, control)
                out.early = chains if plan.trace else []
            step = n if shown is None else max(1, -(-n // PARTS))
            for begin in range(0, n, step):
                if out.stopped:
                    break
                show(burn_in + begin)
                out.kept.append(part(min(step, n - begin), 0, then, control))
                if shown is not None:
                    last = out.kept[-1]
                    log_target.append(by_chain(last, "log_prior") + by_chain(last, "log_data"))
            show(burn_in + n)
        if not any(len(part[0]["which"]) for part in out.kept):
            # A limit came before any draw: the trees of the chains, as they are, are the only draws. Another proposal
            # is no instant where there are thousands of tests and many classes: it then takes seconds.
            out.kept.append(self._chains.run(1, 0, 0, then, Limits().control())[0])
        return out


def by_chain(chains: list[dict[str, Any]], name: str) -> Reals:
    """Return one kind of number of all draws, by chain and draw."""
    return of_one_length([chain[name] for chain in chains], float)


def of_one_length(chains: list[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    """Cut the chains to the length of the shortest: a limit may end chains in other processes sooner or later."""
    least = min(len(chain) for chain in chains)
    return np.array([chain[:least] for chain in chains], dtype=dtype)
