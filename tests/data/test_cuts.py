"""Cut points: where they are, how they read, and that they are those of the CP4IM files."""

from __future__ import annotations

import csv
import time
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from everytree.data.binarizer import Binarizer
from everytree.data.column import Column
from everytree.data.cuts import cut_between, equal_frequency_breaks, places_among
from everytree.data.encoding import Encoding, Test
from everytree.data.fewer_tests import code_columns
from everytree.data.frames import Frame
from everytree.data.shortened import choose_cuts

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.mark.parametrize(
    ("counts", "bins", "expected"),
    [
        ([1, 1, 1, 1], 4, [0, 1, 2]),
        ([1, 1, 1, 1], 2, [1]),
        ([5], 4, []),
        ([3, 1], 2, [0]),  # one break only
        ([1, 3], 4, [0]),  # values run out before the bins do
        ([7, 1, 1, 1], 2, [0]),  # ties never split: seven equal values are one bin
        ([1, 1, 1, 7], 2, [2]),
        ([3, 4, 3], 2, [1]),  # 3 or 7 for a target of 5: the later break wins a draw …
        ([3, 5, 2], 2, [0]),  # … but not against an earlier one that is closer
        ([4, 4, 1, 1, 1, 1], 3, [0, 1]),
    ],
)
def test_equal_frequency_breaks(counts, bins, expected):
    assert equal_frequency_breaks(np.array(counts), bins) == expected


def test_breaks_follow_the_greedy_rule_step_by_step():
    """The same rule, example by example, as its description says it."""

    def plain(counts, bins):
        values = [j for j, count in enumerate(counts) for _ in range(count)]
        left, goal = len(values), len(values) / bins
        breaks, held, before, candidate = [], 0, 0, None
        for i, value in enumerate(values[:-1]):
            held, left = held + 1, left - 1
            if value == values[i + 1]:
                continue
            if held < goal or len(breaks) == bins - 1:
                candidate, before = value, held
                continue
            if candidate is not None and goal - before < held - goal:
                breaks.append(candidate)
                held -= before
                candidate, before = value, held
            else:
                breaks.append(value)
                held, before, candidate = 0, 0, None
            goal = (left + held) / (bins - len(breaks))
        if len(breaks) < bins - 1 and candidate is not None:
            breaks.append(candidate)
        return breaks

    rng = np.random.default_rng(0)
    for _ in range(600):
        counts = rng.integers(1, rng.choice([2, 4, 30]), rng.integers(1, 15))
        bins = int(
            rng.choice([2, 4, 8, 16])
        )  # powers of two: the plain version then has no rounding at first
        assert equal_frequency_breaks(counts, bins) == plain(counts.tolist(), bins), (counts, bins)


def test_cuts_are_readable_and_separate():
    assert [cut_between(54, 55), cut_between(1, 3), cut_between(0.1, 0.2), cut_between(-1.5, 1.5)] == [
        54.5,
        2,
        0.15,
        0,
    ]
    assert cut_between(0.1 + 0.2, 0.4) == 0.35
    assert cut_between(np.float32(0.1), np.float32(0.3)) == 0.2
    rng = np.random.default_rng(1)
    for lo, hi in np.sort(rng.normal(size=(300, 2)) * 10.0 ** rng.integers(-300, 300, (300, 1)), axis=1):
        cut = cut_between(lo, hi)
        assert lo <= cut < hi
        assert abs(cut - (lo / 2 + hi / 2)) <= 0.051 * (hi - lo)
        assert len(Decimal(repr(cut)).normalize().as_tuple().digits) <= 8
    for lo in (1.0, 0.1, -5e-324, 0.0, 1e308):
        hi = np.nextafter(lo, np.inf)
        assert lo <= cut_between(lo, hi) < hi


# --- the CP4IM files
# ---------------------------------------------------------------------------------------------

# Attributes that those files give one column per value instead of cuts.
BY_VALUE = {"installment_commitment", "residence_since", "existing_credits", "pox", "legs"}
RAW = {"breast-wisconsin": "breast-w"}


@pytest.mark.parametrize(
    "name",
    [
        "anneal",
        "australian-credit",
        "breast-wisconsin",
        "diabetes",
        "german-credit",
        "heart-cleveland",
        "hepatitis",
        "hypothyroid",
        "lymph",
        "vehicle",
        "yeast",
    ],
)
def test_the_cuts_of_the_cp4im_files(name):
    """Their authors cut into eight bins with Weka; our cuts must split the rows in the same way."""
    if not (SHARED / "cp4im" / f"{name}.txt").exists():
        pytest.skip("needs the CP4IM files and their raw UCI data in ../shared/data beside the repository")
    with open(SHARED / "cp4im" / "columns.tsv", encoding="utf-8", newline="") as file:
        lines = [line for line in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if line[0] == name]
    cut_columns = defaultdict(list)
    for _, index, meaning in lines:
        attribute, found, _ = meaning.rpartition(" <= ")
        if found and attribute not in BY_VALUE:
            cut_columns[attribute].append(int(index))
    theirs = np.loadtxt(SHARED / "cp4im" / f"{name}.txt", dtype=np.uint8)
    with open(SHARED / f"{RAW.get(name, name)}.csv", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    few = [j for j in range(len(header)) if sum(row[j] == "" for row in rows) <= 0.1 * len(rows)]
    rows = [row for row in rows if all(row[j] != "" for j in few)]
    assert len(rows) == len(theirs)
    assert cut_columns
    for attribute, indices in cut_columns.items():
        x = np.array([float(row[header.index(attribute)]) for row in rows]).reshape(-1, 1)
        ours = Binarizer(bins=8).fit_transform(x)
        assert {tuple(c) for c in ours.T.tolist()} == {tuple(theirs[:, i].tolist()) for i in indices}, (
            attribute
        )


def test_ordered_codes_of_whole_numbers_at_the_end_of_their_type():
    column = Column.of("x", "numeric", np.array([-(2**63), 0, 2**63 - 1]))
    cuts = [-(2.0**64), -0.5, 2.0**64]
    encoding = Encoding("numeric", [Test("x", "<=", cut, 0) for cut in cuts])
    (coded,) = code_columns(Frame((column,), 3, None), [encoding])
    assert coded.codes.tolist() == places_among(column.data, cuts).tolist() == [1, 2, 2]


def test_many_cuts_are_found_at_once():
    """``bins="all"`` of a column asks for as many cuts as it has values; they are those of ``cut_between``."""
    values = np.unique(np.random.default_rng(0).normal(size=200_000))
    began = time.process_time()
    cuts = choose_cuts(values, np.ones(values.size, np.int64), "all")
    assert time.process_time() - began < 0.6  # one after the other they took 1.2 s
    some = slice(None, None, 1999)
    assert cuts[some] == [
        cut_between(lo, hi) for lo, hi in zip(values[:-1][some], values[1:][some], strict=True)
    ]
