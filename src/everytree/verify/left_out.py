"""The exponent of an average, computed again: leave out each example, and minimise the log-loss of what is said of it.

    p_c = (n_c − [c = y] + a_c) / (n − 1 + Σa),   r = p_y^−power       in the leaf of the row, of an example of class y
    P(c | all but it) = E[r · p_c] / E[r]                               E over the trees, given all examples
    exponent = argmin over γ of the mean of −log (P_y^γ / Σ_c P_c^γ)    from 0 to 10

The log-loss is convex in the exponent, so the sign of its slope beside the claimed one decides.
"""

from __future__ import annotations

import math
from typing import Any

from everytree.verify.examples import Examples
from everytree.verify.facts import FALSE, TRUE, UNCHECKED, Fact
from everytree.verify.local import bits_of
from everytree.verify.model import Model
from everytree.verify.probable import Fold
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.prove import Counts, GivenUp
from everytree.verify.rising import log_rising

__all__ = [
    "MOST",
    "Said",
    "best_exponent",
    "cross_facts",
    "left_out",
    "left_out_facts",
    "mean_loss",
    "tempered",
]

CLOSE = 1e-7  # an exponent is where a slope is zero: it has fewer digits than the loss
LOSS = 1e-9
MOST = 10.0
NUMBERS = ("loo_log_loss", "loo_log_loss_error", "calibrated_loo_log_loss")

Said = list[
    tuple[list[float], int, Any]
]  # log probabilities, the class, and how many such examples there are


def tempered(rows: list[list[float]], exponent: float) -> list[list[float]]:
    """Return p^exponent, scaled to sum to one, for each row.

    >>> tempered([[0.8, 0.2]], 0.0)
    [[0.5, 0.5]]
    """
    if exponent == 1:
        return rows
    return [_softmax([math.log(p) for p in row], exponent) for row in rows]


def left_out_facts(
    model: Model, examples: Examples, weights: list[float], folds: list[Fold]
) -> tuple[float, list[Fact]]:
    """Return the exponent in force by the data, and what is true of the claims; a time limit leaves them unchecked."""
    word, claims = model.params.get("calibrate"), model.claims
    if word is None:
        if claims.get("exponent") is None:
            return 1.0, []
        note = "params ask for no calibration"
        return 1.0, [Fact("exponent", quote(claims["exponent"]), 1.0, FALSE, note)]
    if word == "cv":
        facts = cross_facts(model)
        return float(claims["exponent"]), facts
    stated = claims.get("exponent")
    if word != "loo" or not is_number(stated) or not 0 <= stated <= MOST:
        raise InputError(f"claims.exponent is {quote(stated)}; expected a number from 0 to {MOST:g}")
    if claims.get("loo_log_loss") is None and stated == 1:
        note = "a limit is said to have ended the leave-one-out before it was known; no data can tell"
        return 1.0, [Fact("exponent", 1.0, None, UNCHECKED, note, predicts=True)]
    try:
        said = list(left_out(examples, weights, folds).values())
    except GivenUp as reason:
        note = f"not recomputed: leaving out every example takes too long ({reason}); raise --time-limit"
        return float(stated), [Fact("exponent", stated, None, UNCHECKED, note, predicts=True)]
    found = best_exponent(said)
    facts = [Fact("exponent", stated, found, TRUE if abs(found - stated) <= CLOSE * max(1, found) else FALSE)]
    mean, error = mean_loss(said, 1.0)
    for name, value in zip(NUMBERS, (mean, error, mean_loss(said, found)[0]), strict=True):
        claimed: Any = claims.get(name)
        fine = is_number(claimed) and math.isclose(claimed, value, rel_tol=LOSS, abs_tol=LOSS)
        facts.append(
            Fact(name, claimed if is_number(claimed) else quote(claimed), value, TRUE if fine else FALSE)
        )
    return found, facts


def cross_facts(model: Model) -> list[Fact]:
    """Say what is known of an exponent that a cross-validation chose: its five models are not in the file."""
    word, claims = model.params.get("calibrate"), model.claims
    stated = claims.get("exponent")
    if word is None:
        if stated is None:
            return []
        return [Fact("exponent", quote(stated), 1.0, FALSE, "params ask for no calibration")]
    if word != "cv" or not is_number(stated) or not 0 <= stated <= MOST:
        raise InputError(f"claims.exponent is {quote(stated)}; expected a number from 0 to {MOST:g}")
    note = "chosen by a cross-validation, whose models are not in the file; fit again to choose it anew"
    facts = [Fact("exponent", stated, None, UNCHECKED, note, predicts=True)]
    before, after = claims.get("cv_log_loss"), claims.get("calibrated_cv_log_loss")
    if is_number(before) and is_number(after) and after > before + LOSS:
        note = f"the exponent was chosen to make it least, and it is above cv_log_loss, {before}"
        facts.append(Fact("calibrated_cv_log_loss", after, f"≤ {before}", FALSE, note))
    return facts


def left_out(
    examples: Examples, weights: list[float], folds: list[Fold]
) -> dict[tuple[int, int], tuple[list[float], int, Any]]:
    """Return what is said of an example of each row and class without it, by the place of the row and the class."""
    sums: dict[tuple[int, int], list[float]] = {}
    for weight, fold in zip(weights, folds, strict=True):
        _add_sums(fold, weight, examples, sums)
    said = {}
    rows = sorted(examples.counts)
    for (row, y), values in sums.items():
        total = math.fsum(values)
        said[row, y] = [math.log(x / total) for x in values], y, examples.of(examples.counts[rows[row]][y])
    return said


def _add_sums(
    fold: Fold, weight: float, examples: Examples, sums: dict[tuple[int, int], list[float]]
) -> None:
    """Add E[r · p_c] of every row and class, times a weight; a tree has a state with one probability for all its rows.

    π(root) = 1,   π(side) += π(s) · P(split by t | s),   and the leaf of s has the probability π(s) · P(leaf | s)
    """
    space = fold.space
    # The classes that a row has, and how much of each is left out: one example, or all where that is less.
    owners = [
        [(y, min(1, examples.of(n))) for y, n in enumerate(examples.counts[bits]) if n]
        for bits in sorted(examples.counts)
    ]
    # Where nodes choose their own cuts, the last level has those of the state above it: it is part of a state there.
    level: dict[tuple[int, int | None], float] = {(space.everything, None): weight}
    depth = 0
    # Many states have the same rows, and all rows of one class that lose as much get the same: what a leaf with these
    # rows says is added up first, and given to its rows at the end.
    said: dict[int, dict[tuple[int, Any], list[float]]] = {}
    kinds = sorted({kind for own in owners for kind in own})
    while level:
        below: dict[tuple[int, int | None], float] = {}
        for (cover, above), pi in level.items():
            space.look_at_clock()
            counts = space.counts(cover)
            splits = fold.splits(cover, counts, depth, above)
            total = fold.value(cover, counts, depth, above)[0]
            leaf = pi * math.exp(fold.leaf(counts, depth, not splits) - total)
            known = said.setdefault(cover, {})
            for y, removed in kinds:
                if counts[y] < removed:
                    continue
                added = _value(fold, counts, depth, y, removed)
                sofar = known.get((y, removed))
                known[y, removed] = (
                    [leaf * x for x in added]
                    if sofar is None
                    else [z + leaf * x for z, x in zip(sofar, added, strict=True)]
                )
            shares = fold.prior.log_shares([split[0] for split in splits], fold.columns)
            here = fold.prior.log_split(depth)
            for test, zero, zeros, one, ones in splits:
                sides = (
                    fold.value(zero, zeros, depth + 1, cover)[0] + fold.value(one, ones, depth + 1, cover)[0]
                )
                share = pi * math.exp(here + shares[test] + sides - total)
                asked = space.asked(fold.left(depth + 1), cover)
                for side in (zero, one):
                    below[side, asked] = below.get((side, asked), 0.0) + share
        level, depth = below, depth + 1
    for cover, values in said.items():
        space.look_at_clock()
        for row in bits_of(cover):
            for kind in owners[row]:
                mine = sums.setdefault((row, kind[0]), [0.0] * fold.n_classes)
                for c, x in enumerate(values[kind]):
                    mine[c] += x


def _value(fold: Fold, counts: Counts, depth: int, y: int, removed: Any) -> list[float]:
    """Compute r · p_c in a leaf that loses an example of class y, or a part of one."""
    a = fold.added_at(depth)
    held, removed = [float(n) for n in counts], float(removed)  # Fractions would take several times as long
    masses = [(n - (c == y) * removed) + x for c, (n, x) in enumerate(zip(held, a, strict=True))]
    total = (math.fsum(held) - removed) + sum(a)
    if removed == 1:
        ratio = (masses[y] / total) ** -fold.power
    else:
        up, down = (log_rising(x, removed) for x in (total, masses[y]))
        ratio = math.exp(fold.power * (up - down))
    return [ratio * mass / total for mass in masses]


def _softmax(logs: list[float], exponent: float) -> list[float]:
    most = max(logs)
    powers = [math.exp(exponent * (x - most)) for x in logs]
    total = math.fsum(powers)
    return [x / total for x in powers]


def mean_loss(said: Said, exponent: float) -> tuple[float, float]:
    """Return the mean log-loss under an exponent, and its standard error."""
    losses = [(-math.log(_softmax(logs, exponent)[y]), n) for logs, y, n in said]
    total = sum(n for _, n in losses)
    mean = math.fsum(n * x for x, n in losses) / total
    if total < 2:
        return mean, math.nan
    return mean, math.sqrt(math.fsum(n * (x - mean) ** 2 for x, n in losses) / (total - 1) / total)


def best_exponent(said: Said) -> float:
    """Return the exponent of least log-loss, from 0 to 10."""

    def slope(exponent: float) -> float:
        return math.fsum(
            n * (math.fsum(p * x for p, x in zip(_softmax(logs, exponent), logs, strict=True)) - logs[y])
            for logs, y, n in said
        )

    lowest, highest = slope(0.0), slope(MOST)
    if lowest == highest == 0:
        return 1.0
    if lowest >= 0:
        return 0.0
    if highest <= 0:
        return MOST
    low, high = 0.0, MOST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return (low + high) / 2
