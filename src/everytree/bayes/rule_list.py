"""The parts of compressed rules that are written, as JSON (rules_dict.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["RuleArrays", "RuleList", "WrittenRule"]

Reals = npt.NDArray[np.float64]


class RuleArrays(NamedTuple):
    """The sum of rules as the core holds it: rule k has ``items[begin[k]:begin[k + 1]]``, 2·test + outcome each."""

    base: Reals
    items: npt.NDArray[np.uint32]
    begin: npt.NDArray[np.uint64]
    moves: Reals
    floor: Reals


class WrittenRule(Protocol):
    """A rule: the probabilities of the classes move by ``moves`` where every item holds."""

    @property
    def items(self) -> Sequence[tuple[int, int]]: ...
    @property
    def moves(self) -> Sequence[float]: ...


class RuleList(Protocol):
    """A sum of rules, with its bound and its names."""

    epsilon: float
    bound: float
    n_exact: int
    n_tests: int
    test_names: tuple[str, ...] | None
    classes: tuple[Any, ...]

    @property
    def arrays(self) -> RuleArrays: ...
    @property
    def base(self) -> tuple[float, ...]: ...
    @property
    def rules(self) -> Sequence[WrittenRule]: ...
