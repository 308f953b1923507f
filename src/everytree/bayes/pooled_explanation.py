"""Why the evidence of several averages says what it says of one row.

    odds of the answer against the next class = odds of their shares · Π exp(evidence for it − evidence for the other)

The answer mixes in a very small part of the shares (``stacking.SLIP``), which shows where the odds are long. Beside
these factors stand the rules of the one average that speaks most for the answer, as it has them by itself: rules of
one average say nothing of the others, and their weights are those within it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.explain import Explanation

__all__ = ["PooledExplanation", "pooled_explanation"]

MOST = 8  # averages that are told
LEAST = 0.015  # of a logarithm: a factor that reads as 1.01 or 1.00 tells nobody anything
MOST_COLUMNS = 3
LONG = math.log(1e6)  # odds beyond this are told as a power of ten


@dataclass(frozen=True)
class PooledExplanation(Explanation):
    """The explanation of one row by averages whose evidence is added up.

    ``proba`` is what all of them say; ``rules``, ``base`` and ``covered`` are those of the average ``strongest``, and
    ``rest`` is all that its rules do not tell of ``proba``.
    """

    shares: tuple[float, ...] = ()  # of the classes: what is said before anything is known
    averages: tuple[tuple[str, ...], ...] = ()  # the columns of each
    evidence: tuple[tuple[float, ...], ...] = ()  # of each, by class: weight · log(p / share)
    strongest: int = 0
    own_proba: tuple[float, ...] = ()  # what that average says by itself
    own_rest: tuple[float, ...] = ()

    def __str__(self) -> str:
        one = self.classes.index(self.prediction)
        label = self.classes[one]
        lines = [f"P({label}) = {self.proba[one]:.3f}; share of {label} in training {self.shares[one]:.3f}"]
        if len(self.classes) > 1:
            lines += self._factors(one)
        alone = Explanation(
            self.classes, self.own_proba, self.base, self.rules, self.covered, self.own_rest, self.exponent
        )
        which = _over(self.averages[self.strongest])
        first, *table = alone.table(one)
        lines.append(
            f"of the averages, that over {which} speaks most for it (P({label}) = {self.own_proba[one]:.3f} by "
            f"itself), and {first} in it"
        )
        return "\n".join([*lines, *table])

    def _factors(self, one: int) -> list[str]:
        """Return by how much each average multiplies the odds of the answer, the strongest first."""
        other = max((c for c in range(len(self.classes)) if c != one), key=lambda c: self.proba[c])
        start = math.log(self.shares[one] / self.shares[other])
        moves = sorted(
            (
                (row[one] - row[other], columns)
                for row, columns in zip(self.evidence, self.averages, strict=True)
            ),
            key=lambda each: -abs(each[0]),
        )
        told = [each for k, each in enumerate(moves[:MOST]) if k == 0 or abs(each[0]) >= LEAST]
        rest, left = sum(log for log, _ in moves[len(told) :]), len(moves) - len(told)
        lines = [
            f"odds of {self.classes[one]} against {self.classes[other]}: more than 1 speaks for it, less against it",
            f"{_odds(start):>7} : 1  the shares of the classes",
        ]
        lines += [f"{'× ' + _odds(log):>7}      {_over(columns)}" for log, columns in told]
        if left:
            lines.append(f"{'× ' + _odds(rest):>7}      {left} other average{'' if left == 1 else 's'}")
        together = _odds(start + sum(log for log, _ in moves))
        lines.append(f"{together:>7} : 1  together")
        answer = _odds(math.log(self.proba[one] / self.proba[other]))
        if answer != together:
            lines.append(f"{answer:>7} : 1  in the answer, which keeps a little of the shares")
        return lines


def pooled_explanation(
    told: Explanation,
    proba: npt.NDArray[np.float64],
    shares: npt.NDArray[np.float64],
    averages: Sequence[tuple[str, ...]],
    evidence: npt.NDArray[np.float64],
    strongest: int,
) -> PooledExplanation:
    """Make the explanation from that of the strongest average, ``told``, and the evidence of all, one row for each."""
    given: dict[str, Any] = {each.name: getattr(told, each.name) for each in fields(Explanation)}
    by_rules = np.array([rule.move for rule in told.rules]).reshape(-1, proba.size).sum(axis=0)
    given["proba"] = tuple(proba.tolist())
    given["rest"] = tuple((proba - np.array(told.base) - by_rules).tolist())
    return PooledExplanation(
        **given,
        shares=tuple(shares.tolist()),
        averages=tuple(averages),
        evidence=tuple(map(tuple, evidence.tolist())),
        strongest=strongest,
        own_proba=told.proba,
        own_rest=told.rest,
    )


def _over(columns: Sequence[str]) -> str:
    some = ", ".join(str(column) for column in columns[:MOST_COLUMNS]) or "no column"
    return some + (f" and {len(columns) - MOST_COLUMNS} more" if len(columns) > MOST_COLUMNS else "")


def _odds(log: float) -> str:
    """Return exp(log) for people; where classes are told apart without an error it may be more than a float holds.

    >>> _odds(0.0), _odds(math.log(250)), _odds(800.0), _odds(-800.0)
    ('1.00', '250', '10^347', '10^-347')
    """
    if abs(log) >= LONG:
        return f"10^{log / math.log(10):.0f}"
    x = math.exp(log)
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}" if x >= 0.1 else f"{x:.2g}"
