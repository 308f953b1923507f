"""The questions of the harness: each is a pair of what is made ready without limits, and what is asked under them.

``@call("Posterior.sample", ...)`` names the public names that the question stands for. A name that is in no call
must be in ``limit_harness/exempt.py`` with a reason; ``tests/test_harness.py`` fails otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from everytree.common.limits import Limits

from .scales import Scale

__all__ = ["CALLS", "Ask", "Call", "call"]

Ask = Callable[[], object]


@dataclass(frozen=True)
class Call:
    """One question: its name, the public names it stands for, what makes it ready, the scales it is not asked on."""

    name: str
    names: tuple[str, ...]
    ready: Callable[[Scale, Limits], Ask]
    not_on: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # kinds of limits that it does not take
    own_time: bool = False  # whether its limit of time is one of its own seconds of the processor
    signals: int = 1  # Ctrl-C so often: a command keeps the best so far after the first


CALLS: dict[str, Call] = {}


def call(*names: str, **more: Any) -> Callable[[Any], Any]:
    """Register a question under the first of the names that it stands for."""

    def register(ready: Callable[[Scale, Limits], Ask]) -> Callable[[Scale, Limits], Ask]:
        CALLS[names[0]] = Call(names[0], names, ready, **more)
        return ready

    return register
