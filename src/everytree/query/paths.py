"""A caller's own constraint on paths: a predicate over class counts, which every node of a tree must satisfy.

    p is anti-monotone    p(I) implies p(J) for every J ⊆ I

The rows of an itemset are among those of its subsets, so over class counts this is

    p(n) and n ≤ m in every class  ⇒  p(m)

Only then do the paths that a search has turned down hide no others. Nobody can prove that of a function, but a
search sees where it fails: among all counts that it asked about, and among smaller ones than those turned down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused
from everytree.errors import QueryError

__all__ = ["PathPredicate", "Paths", "paths_of"]

Counts = tuple[int, ...]
PathPredicate = Callable[[Counts], bool]

MOST_TRIED = 200  # largest counts that were turned down, below which smaller ones are tried


class Paths:
    """A predicate over class counts, with what it said so far.

    >>> paths = Paths(lambda counts: min(counts) <= 2, "few of one class")
    >>> paths((9, 9)), paths((9, 1))
    (False, True)
    >>> paths.check()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    everytree.errors.QueryError: paths=few of one class is not anti-monotone: it turns down the class counts (9, 9) ...
    """

    def __init__(self, predicate: PathPredicate, name: str | None = None) -> None:
        self.predicate = predicate
        self.name = name or getattr(predicate, "__name__", None) or type(predicate).__name__
        self._said: dict[Counts, bool] = {}

    def __call__(self, counts: Iterable[int]) -> bool:
        """Return what the predicate says of class counts; each is asked about once."""
        key = tuple(int(n) for n in counts)
        if key not in self._said:
            said = self.predicate(key)
            if not isinstance(said, bool | np.bool_):
                raise refused(
                    QueryError, "paths", self.predicate, shown=self.name,
                    says=f" says {said!r} of the class counts {key}; expected True or False: return a bool",
                )  # fmt: skip
            self._said[key] = bool(said)
        return self._said[key]

    def check(self) -> None:
        """Refuse a predicate that is seen not to be anti-monotone."""
        # If any pair breaks the law, then a smallest of those that hold and a largest of those that do not do so.
        holds = _smallest([counts for counts, said in self._said.items() if said])
        fails = [
            _negative(n) for n in _smallest([_negative(n) for n, said in self._said.items() if not said])
        ]
        smaller = np.array(holds, dtype=np.int64)
        for most in fails:
            if holds:
                below = np.flatnonzero((smaller <= np.array(most)).all(axis=1))
                if below.size:
                    raise self._broken(most, holds[int(below[0])])
        for most in fails[:MOST_TRIED]:
            for less in _below(most):
                if self(less):
                    raise self._broken(most, less)

    def _broken(self, most: Counts, less: Counts) -> QueryError:
        return refused(
            QueryError, "paths", self.predicate, shown=self.name,
            says=" is not anti-monotone: it turns down the class counts "
            f"{most} but not {less}, which are no larger in any class; expected that what holds for a path holds for "
            "every shorter one, whose counts are larger: ask for counts or sums of counts of at least something",
        )  # fmt: skip


def paths_of(given: Any) -> Paths | None:
    """Make a constraint of what a caller gave: None, a predicate, or a constraint that was made before."""
    if given is None or isinstance(given, Paths):
        return given
    if not callable(given):
        raise refused(QueryError, "paths", given, "a function of the class counts that returns True or False")
    return Paths(given)


def _negative(counts: Sequence[int]) -> Counts:
    return tuple(-n for n in counts)


def _smallest(counts: list[Counts]) -> list[Counts]:
    """Return those that no other is below."""
    kept: list[Counts] = []
    known: npt.NDArray[np.int64] = np.empty((0, len(counts[0]) if counts else 0), dtype=np.int64)
    for each in sorted(counts, key=lambda n: (sum(n), n)):  # whatever is below comes before
        if not (known <= np.array(each)).all(axis=1).any():
            kept.append(each)
            known = np.array(kept, dtype=np.int64)
    return kept


def _below(counts: Counts) -> Iterator[Counts]:
    """Yield smaller counts: one less of a class, its half, a quarter and so on, and none."""
    for c, n in enumerate(counts):
        fewer = {n - 1} | {n >> k for k in range(1, n.bit_length() + 1)} if n else set()
        for less in sorted(fewer, reverse=True):
            smaller = (*counts[:c], less, *counts[c + 1 :])
            if any(smaller):  # no path is without examples
                yield smaller
