"""Estimate: how large a job would be, before it is begun.

Random descents through the space stand for all paths (Knuth's estimator), paths that end in the same cover are counted
once, and a few of the covers found are folded to see how long they take on this machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import argument
from everytree.common.limits import in_bytes
from everytree.data.local_columns import NOMINAL
from everytree.engine.problem import Problem
from everytree.errors import LimitReached, Wording

__all__ = ["Estimate", "estimate", "in_time", "power", "refuse_hopeless"]

BUDGET = 0.05  # seconds for the measurement
# Estimates err, so only what is far beyond a limit is called hopeless. Without a depth limit descents also count a
# cover once for every depth at which it occurs, though it is stored once.
FAR = 10.0
FAR_UNLIMITED = 30.0


DEEP = 20  # levels beyond which nothing is surely small
MANY = 1e6  # states below which an estimate is not compared with the number of covers


@dataclass(frozen=True)
class Estimate:
    """How much a space would take, about: states of the stored graph, their bytes, and seconds for the evidence.

    ``TreeSpace.estimate`` makes it. ``str()`` of it is a sentence for people.

    Parameters
    ----------
    states : float
        The number of states that the graph would store.
    bytes : float
        The memory of these states, in bytes.
    seconds : float
        The time to build the graph and fold the evidence, in seconds, on this machine and with the threads of the
        space.
    hopeless : bool
        Whether this is far beyond the limits of the space: more than ten times (without a depth limit thirty times)
        its ``memory_limit`` or its ``time_limit``.
    text : str
        The numbers in one sentence.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> about = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2).estimate()
    >>> about.states >= 1, about.hopeless
    (True, False)
    """

    states: float
    bytes: float
    seconds: float
    hopeless: bool
    text: str

    def __str__(self) -> str:
        return self.text


def estimate(space: Problem, control: _core.Control, *, measure: bool = True) -> Estimate:
    """Estimate the size of a space and the time to fold it; without ``measure``, the size alone."""
    states, size, seconds = _core.estimate(
        space.core_table(control),
        -1 if space.max_depth is None else space.max_depth,
        space.min_count,
        BUDGET if measure else 0.0,
        control,
    )
    if states > MANY:  # then the bound on the number of covers may be smaller
        levels = 1 if space.max_depth is None else space.max_depth + 1
        log_most = log_most_covers(space.table.rows) + math.log(levels)
        if math.isfinite(states) and log_most < math.log(states):
            most = math.exp(log_most)
            states, size, seconds = most, size * (most / states), seconds * (most / states)
    seconds /= space.n_threads
    limits = space.limits
    far = FAR_UNLIMITED if space.max_depth is None else FAR
    hopeless = size > far * limits.memory or (
        limits.time_limit is not None and seconds > far * limits.time_limit
    )
    text = (
        f"about {power(states)} states, {in_bytes(size)} and {in_time(seconds)}: estimated from random descents and a "
        "short measurement; the truth is mostly within a factor of three, and without a depth limit often far less"
    )
    return Estimate(states, size, seconds, hopeless, text)


def refuse_hopeless(space: Problem, control: _core.Control) -> None:
    """Raise ``LimitReached`` if the graph of a space would be far larger than its memory limit."""
    # The time limit is left to the clock: a user who gave one wants what can be computed within it.
    if _surely_small(space):
        return
    size = estimate(space, control, measure=False)
    far = FAR_UNLIMITED if space.max_depth is None else FAR
    if size.bytes <= far * space.limits.memory:
        return
    whole = estimate(space, control)
    deepest = 4 if space.max_depth is None else max(1, min(4, space.max_depth - 1))
    for depth in range(deepest, 0, -1):
        fits = estimate(space.at_depth(depth, space.limits), control)
        if fits.bytes <= space.limits.memory:
            break
    raise LimitReached(
        Wording(
            f"about {power(whole.states)} states, far beyond the memory limit of {in_bytes(space.limits.most_bytes)}: "
            f"{in_bytes(whole.bytes)} and {in_time(whole.seconds)}; ",
            space.advice(depth),
            "; ",
            argument("max_depth", depth),
            f" would take about {in_time(fits.seconds)} and {in_bytes(fits.bytes)}",
        ),
        "hopeless",
    )


def _surely_small(space: Problem) -> bool:
    """Whether the graph fits the memory limit even if no two paths meet: then no descent has to tell.

    Every state down to two levels above the depth limit has two children for each test that it offers.
    """
    if space.max_depth is None or space.max_depth > DEEP:
        return False
    columns = space.table.columns
    n_tests = space.n_tests
    if columns is not None:
        n_tests = 0
        for kind, begin, end, missing, bins in columns.array.tolist():
            cuts = end - begin if kind == NOMINAL or bins == 0 else min(end - begin, bins - 1)
            n_tests += cuts + (missing >= 0)
    states = sum((2.0 * n_tests) ** depth for depth in range(max(1, space.max_depth - 1)))
    # A bit for each example at most, whole words for each class and power of two of weights; then what a split takes.
    each = space.table.total / 8 + 256 * space.table.n_classes + 64 + 32 * n_tests
    return states * each <= space.limits.memory / 4


def log_most_covers(rows: npt.NDArray[np.uint8]) -> float:
    """Return the log of a number that the different covers of paths do not exceed.

    Tests that contain one another, as the cuts of one attribute do, part the rows into segments in one order, and a
    path keeps an interval of them: k cuts make at most (k + 1)(k + 2)/2. A test on its own is taken one way, the
    other, or not.

    >>> math.exp(log_most_covers(np.array([[0, 0], [0, 1], [1, 1]], dtype=np.uint8)))
    6.0
    """
    within: list[bool] = np.all(rows[:, :-1] <= rows[:, 1:], axis=0).tolist()
    around: list[bool] = np.all(rows[:, :-1] >= rows[:, 1:], axis=0).tolist()
    log_most, cuts, kinds = 0.0, 1, (True, True)
    for a, b in zip(within, around, strict=True):
        kinds = (kinds[0] and a, kinds[1] and b)
        if any(kinds):
            cuts += 1
            continue
        log_most += math.log((cuts + 1) * (cuts + 2) / 2)
        cuts, kinds = 1, (True, True)
    if rows.shape[1]:
        log_most += math.log((cuts + 1) * (cuts + 2) / 2)
    return min(log_most, len(rows) * math.log(2))


def power(x: float) -> str:
    """Write a number for people.

    >>> power(5298), power(3.2e9), power(9.8e13)
    ('5300', '3·10^9', '1·10^14')
    """
    if x < 1e5:
        return f"{float(f'{x:.2g}'):.0f}"
    digit, exponent = f"{x:.0e}".split("e")
    return f"{digit}·10^{int(exponent)}"


def in_time(seconds: float) -> str:
    """Write a time, given in seconds, for people.

    >>> in_time(0.034), in_time(90), in_time(3e5), in_time(1e12)
    ('0.034 s', '90 s', '3.5 days', '32000 years')
    """
    for unit, name in ((120, "s"), (7200, "minutes"), (2 * 86400, "hours"), (1000 * 86400, "days")):
        if seconds < unit:
            size = {"s": 1, "minutes": 60, "hours": 3600, "days": 86400}[name]
            return f"{float(f'{seconds / size:.2g}'):g} {name}"
    return f"{power(seconds / (365.25 * 86400))} years"
