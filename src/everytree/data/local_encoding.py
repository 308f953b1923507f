"""From columns to all tests that any state might ask, where states choose their cuts from their own rows.

The tests of a column are those of ``encode``, but with every fine cut of a numeric column (see ``fine_codes``). None is
left out because another column has an equal one: a state that holds fewer rows would miss it, or its column. So only
tests that are constant, or say what "is missing" says, are dropped, and no row need be looked at for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from everytree.common.reading import looked
from everytree.data.cuts import Bins, given_cuts
from everytree.data.encoding import Dropped, Encoding, Test, encode
from everytree.data.facts import ColumnFacts
from everytree.data.fine_codes import neighbours_of
from everytree.data.listed_tests import FineTests

__all__ = ["encode_all_locally", "encode_locally"]


def encode_all_locally(
    facts: Sequence[ColumnFacts], bins: Sequence[Bins], missing: str
) -> tuple[list[Encoding], dict[Test, Dropped]]:
    """The encodings of all columns, and the tests that were dropped."""
    dropped: dict[Test, Dropped] = {}
    fine = {
        j: each.fine_for(bins[j], each.fill() if missing == "impute" else None)
        for j, each in enumerate(looked(facts))
        if each.kind == "numeric" and not each.only_01
    }
    cuts = dict(zip(fine, neighbours_of(list(fine.values())), strict=True))
    encodings = [
        encode_locally(replace(each, fine=fine.get(j)), j, bins[j], missing, dropped, cuts.get(j))
        for j, each in enumerate(looked(facts))
    ]
    return encodings, dropped


def encode_locally(
    facts: ColumnFacts,
    j: int,
    bins: Bins,
    missing: str,
    dropped: dict[Test, Dropped],
    cuts: list[float | int] | None = None,
) -> Encoding:
    """The tests of one column that are not constant; the others go to ``dropped``.

    ``cuts`` are those between neighbouring fine codes, where they are known already.

    >>> import numpy as np
    >>> age = ColumnFacts("age", "numeric", np.array([54, 55, 60]), np.array([1, 1, 1]), absent=3)
    >>> [test.name for test in encode_locally(age, 0, 2, "category", {}).tests]
    ['age <= 54.5', 'age <= 57.5', 'age is missing']
    """
    if facts.kind != "numeric" or facts.only_01:
        made = encode(facts, j, bins, missing)
        constant = made.kind == "empty" or (
            made.kind == "nominal" and len(made.tests) == 1 and len(facts.values) == 1
        )
        if constant:
            dropped.update((test, Dropped("constant")) for test in made.tests)
            made.tests = []
        return made
    name = facts.name
    own = [Test(name, "is", "missing", j)] if facts.absent and missing == "category" else []
    fill = facts.fill() if missing == "impute" else None
    fine = facts.fine_for(bins, fill)
    tests = FineTests(name, fine.neighbours() if cuts is None else cuts, j, own)
    kept = set(fine.cuts or ())
    for cut in given_cuts(bins):
        if cut not in kept:
            dropped[Test(name, "<=", cut, j)] = _idle(cut, fine.low[0], fine.high[-1], tests)
    if fine.n_codes == 1 and fine.cuts is None:
        value = fine.low[0].item()
        dropped[Test(name, "<=", value, j)] = Dropped("complement", own[0]) if own else Dropped("constant")
    return Encoding("numeric", tests, fill, None, fine)


def _idle(cut: float | int, least: Any, most: Any, tests: FineTests) -> Dropped:
    """Why a given cut point is left out: nothing lies below it, or nothing above, or it equals an earlier one."""
    if cut < least:
        return Dropped("constant")
    if cut >= most:
        return Dropped("complement", tests.own[0]) if tests.own else Dropped("constant")
    return Dropped("duplicate", tests[sum(other < cut for other in tests.cuts) - 1])
