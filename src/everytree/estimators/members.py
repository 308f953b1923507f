"""The members of an ``EveryTreeClassifier``: averages over every tree on few columns, deep, or on many, shallow.

    each column alone · all columns together · random sets of two to eight columns, of a quarter and half of them

Where states are offered T tests, a row reaches about T^(depth − 2) of those above the two lowest levels, which are
summed together: that is the price of a member, for which its depth is as great as can be. No label is looked at to
choose columns, bins or depths, so that what an average says of left-out examples stays exact.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.bayes.leave_one_out import left_out_proba
from everytree.bayes.posterior import Posterior
from everytree.data.coded_rows import CodedRows
from everytree.data.encoding import Encoding
from everytree.estimators.bayes import BayesOptimalClassifier
from everytree.estimators.every_memory import model_bytes
from everytree.estimators.evidence_parts import entry_numbers
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import BaseRate
from everytree.weights.priors import UniformPrior

__all__ = [
    "Fitted",
    "Member",
    "fitted_member",
    "in_time",
    "member_model",
    "members_of",
    "price_of",
    "seconds_of",
]

Reals = npt.NDArray[np.float64]

POWER, STRENGTH, MIN_LEAF = 0.25, 0.25, 1
DEEPEST = 7
PRICE = 700.0  # the most that a member may cost
ROUNDS = 12
# How many columns at least, their least share of all, and bins of a node. A round has one member of each. With five of
# sonar's 60 columns instead of a sixth of them the log-loss was 0.545 instead of 0.489 (forest 0.486).
ROUND = (
    (5, 6, 2), (2, 60, 4), (5, 6, 3), (8, 4, 2), (5, 12, 2), (5, 6, 5), (4, 8, 2), (5, 2, 3),
)  # fmt: skip


# What an average takes, in seconds, measured: to make and count a cell of its table, to leave out an example of a row
# for a unit of price, and for each pair of classes what is said of one where one of the other is left out.
PER_CELL, PER_ROW, PER_PAIR = 3e-9, 2e-7, 6e-7


class Member(NamedTuple):
    """A space of trees: the columns they may use, how many bins a node makes of a numeric one, and their depth."""

    columns: tuple[int, ...]
    bins: int
    depth: int


@dataclass(frozen=True)
class Fitted:
    """A member with its average, and what that says of left-out examples, one line for each entry asked for."""

    member: Member
    model: BayesOptimalClassifier
    said: Reals
    price: float
    seconds: float
    n_bytes: int


def price_of(encodings: Sequence[Encoding], member: Member) -> float:
    """Return about how many states a row reaches."""
    offered = sum(_offered(encodings[j], member.bins) for j in member.columns)
    return float(max(1, offered)) ** max(0, member.depth - 2)


def seconds_of(coded: CodedRows, member: Member) -> float:
    """Return about how many seconds it takes to fit a member."""
    price, cells = price_of(coded.binarizer.encodings_, member), coded.bytes_of(member.columns)
    tests = max(1, coded.tests_of(member.columns).size)
    pairs = coded.counts.shape[1] ** 2
    return float(PER_CELL * cells + price * (PER_ROW * cells / tests + PER_PAIR * pairs))


def in_time(coded: CodedRows, member: Member, seconds: float) -> Member:
    """Return the member with so little depth that it fits the seconds; with two levels at least, of those it has.

    Fewer levels take no less: the two lowest are summed together.
    """
    while member.depth > 2 and seconds_of(coded, member) > seconds:
        member = member._replace(depth=member.depth - 1)
    return member


def _offered(encoding: Encoding, bins: int) -> int:
    """Return the most tests of a column that a state asks."""
    if encoding.fine is None or not encoding.tests:
        return len(encoding.tests)
    gone = len(encoding.tests) - (encoding.fine.n_codes - 1)
    return min(bins - 1, encoding.fine.n_codes - 1) + gone


def _deepest(encodings: Sequence[Encoding], columns: tuple[int, ...], bins: int, most: float) -> Member:
    """Return the member on these columns with the greatest depth for the price; at least 1."""
    found = Member(columns, bins, 1)
    for depth in range(2, DEEPEST + 1):
        deeper = Member(columns, bins, depth)
        if price_of(encodings, deeper) > most:
            break
        found = deeper
    return found


def members_of(
    encodings: Sequence[Encoding], seed: int, most: float = np.inf, among: Sequence[int] | None = None
) -> Iterator[Member]:
    """List the members, the cheapest and most different first; none twice, and none that costs more than ``most``.

    ``among`` are the columns they may use; None for all.
    """
    usable = [
        j for j, encoding in enumerate(encodings) if encoding.tests and (among is None or j in set(among))
    ]
    numeric = any(encodings[j].fine is not None for j in usable)
    known: set[tuple[tuple[int, ...], int]] = set()
    rng = np.random.default_rng(seed)

    def new(columns: Sequence[int], bins: int) -> Iterator[Member]:
        # Bins play no part where no column is numeric.
        places = tuple(sorted(columns))
        alike = places, bins if numeric and any(encodings[j].fine is not None for j in places) else 0
        if places and alike not in known:
            known.add(alike)
            yield _deepest(encodings, places, bins, min(PRICE, most))

    for j in usable:
        yield from ((each._replace(depth=min(3, each.depth))) for each in new([j], 4))
    for bins in (4, 3, 2):
        yield from new(usable, bins)
    for _ in range(ROUNDS):
        for size, part, bins in ROUND:
            wanted = max(size, len(usable) // part)
            wanted = wanted if wanted < len(usable) else max(1, len(usable) - 1)
            if usable:
                yield from new(rng.choice(usable, min(wanted, len(usable)), replace=False).tolist(), bins)


def member_model(
    coded: CodedRows,
    member: Member,
    n_jobs: int | None,
    missing: str,
    seconds: float | None = None,
    memory: int | None = None,
) -> tuple[BayesOptimalClassifier, npt.NDArray[np.intp]]:
    """Take the average over every tree of a member; return it, and the place of each row of codes in its table."""
    part = coded.only(member.columns, member.bins)
    model = BayesOptimalClassifier(
        member.depth, MIN_LEAF, prior=UniformPrior(attribute_fair=True), dirichlet=BaseRate(STRENGTH),
        power=POWER, bins=member.bins, cuts="local", missing=missing, n_jobs=n_jobs,
    )  # fmt: skip
    binarizer = part.table.binarizer
    assert binarizer is not None
    model.binarizer_, model.classes_ = binarizer, np.asarray(coded.classes)
    model.n_features_in_ = binarizer.n_features_in_
    if hasattr(binarizer, "feature_names_in_"):
        model.feature_names_in_ = binarizer.feature_names_in_
    model.target_name_, model.evidence_fit_, model.depth_profile_ = None, None, None
    model._learned_from(part.table)
    names = [str(test.attribute) for test in binarizer.tests_]
    space = TreeSpace.from_table(
        part.table, member.depth, MIN_LEAF, n_jobs, attributes=names, time_limit=seconds, memory_limit=memory
    )
    hyper = model._hyper(part.table)
    model._set_posterior(Posterior(space, hyper.prior, hyper.dirichlet, POWER))
    return model, part.place


def fitted_member(
    coded: CodedRows,
    member: Member,
    entries: tuple[npt.NDArray[np.intp], ...],
    n_jobs: int | None,
    missing: str,
    seconds: float | None,
    memory: int,
) -> Fitted:
    """Take the average of a member, and leave out an example of every entry: a row of codes, and its class.

    ``LimitReached`` is raised where that takes too long, or more bytes than ``memory`` for the matrix and the graph.
    """
    begun = time.monotonic()
    model, place = member_model(coded, member, n_jobs, missing, seconds, memory)
    posterior: Any = model.posterior_
    if seconds is not None:
        left = max(1e-3, seconds - (time.monotonic() - begun))
        posterior.space.limits = replace(posterior.space.limits, time_limit=left)
    said = left_out_proba(posterior)
    posterior.space.limits = replace(posterior.space.limits, time_limit=None, memory_limit=None)
    counts = posterior.space.table.class_counts
    rows, codes = entries
    number = entry_numbers(np.nonzero(counts), place[rows], codes, counts.shape[1])
    price = price_of(model.binarizer_.encodings_, member)
    proba, seconds_taken = said[number], time.monotonic() - begun
    return Fitted(member, model, proba, price, seconds_taken, model_bytes(model) + proba.nbytes)
