"""Averages over every tree whose evidence is added up: the examples, each average and the pool, computed again.

    log P(c | x) = log s_c + Σ_k w_kc · log(p_k(c | x) / s_c) + const       s: the shares of the classes

and of this 1 − 1/(4 n), of the shares 1/(4 n), with n examples. Each average is over the trees on some of the columns;
what it says of left-out examples is computed from the raw data. The weights were chosen among averages of which the
file holds those that weigh something, so they are taken as they are, and so is what comes from weights that a
cross-validation chose (``left_out``); what is claimed of that is counted again.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from everytree.verify.average import left_out_of
from everytree.verify.claims import asked_fact, cost_facts
from everytree.verify.deep_trees import Codes, said_of_left_out
from everytree.verify.examples import Examples
from everytree.verify.facts import FALSE, TRUE, UNCHECKED, Fact
from everytree.verify.model import Model, read_model
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.prove import GivenUp
from everytree.verify.whole import seal_fact

__all__ = ["Pool", "check_pool", "read_pool"]

LOSS = 1e-9
PRIOR = {"$type": "UniformPrior", "fields": {"attribute_fair": True}}
POWER, STRENGTH, MIN_LEAF, SLIP = 0.25, 0.25, 1, 0.25
Said = dict[tuple[int, int], list[float]]  # logarithms, for each row and class


@dataclass(frozen=True)
class Space:
    """What one average is taken over, with its weights, one for each class, and its claim."""

    columns: tuple[int, ...]
    bins: int
    depth: int
    weights: tuple[float, ...]
    loss: Any


@dataclass(frozen=True)
class DeepForest:
    """How a forest of deep trees was grown, with its weights, one for each class, and its claim."""

    cuts: str
    rounds: int
    columns_at_node: int
    weights: tuple[float, ...]
    loss: Any


@dataclass(frozen=True)
class Pool:
    """The content of a file: all columns in use as one model, the averages, and the examples as bits with counts."""

    model: Model
    spaces: tuple[Space, ...]
    held: dict[int, list[int]]
    forests: tuple[DeepForest, ...] = ()
    codes: Codes | None = None
    bits: tuple[int, ...] = ()  # of the rows of ``codes``
    seed: int = 0


def read_pool(content: dict[str, Any]) -> Pool:
    """Read a file in the format everytree.every; an error says which field is not what it should be."""
    examples = content.get("examples")
    held = (
        {"per_example": examples["per_example"]}
        if isinstance(examples, dict) and "per_example" in examples
        else {}
    )
    params = content.get("params")
    if not isinstance(params, dict):
        raise InputError(f"params is {quote(params)}; expected an object")
    # Weights of classes are part of the examples, as everywhere but in the answer to a query.
    weighed = {"class_weight": params.get("class_weight")}
    model = read_model(content | {"estimator": "BayesOptimalClassifier", "params": weighed, "claims": held})
    members = content.get("members")
    if not isinstance(members, list) or not members:
        raise InputError(f"members is {quote(members)}; expected a list of averages, at least one")
    spaces = []
    for k, each in enumerate(members):
        if not isinstance(each, dict):
            raise InputError(f"members[{k}] is {quote(each)}; expected an object")
        columns = each.get("columns")
        one = content["version"] < 3  # weight for all classes
        weights: Any = [each.get("weight")] * len(model.classes) if one else each.get("weights")
        bins: Any = each.get("bins")
        depth: Any = each.get("depth")
        if not isinstance(columns, list) or not all(_whole(j, 0, len(model.columns) - 1) for j in columns):
            raise InputError(f"members[{k}].columns is {quote(columns)}; expected places among the columns")
        fine = isinstance(weights, list) and len(weights) == len(model.classes)
        if not fine or not all(is_number(weight) and weight >= 0 for weight in weights):
            raise InputError(f"members[{k}].weights is {quote(weights)}; expected a number for each class")
        if not _whole(bins, 2, 64) or not _whole(depth, 0, 16):
            raise InputError(f"members[{k}] has bins {quote(bins)}, depth {quote(depth)}")
        own = tuple(float(weight) for weight in weights)
        spaces.append(Space(tuple(columns), bins, depth, own, each.get("loo_log_loss")))
    counted, bits = _held(examples, model)
    forests = _forests(content, len(_ranges(model)), len(model.classes))
    if not forests:
        return Pool(model, tuple(spaces), counted)
    seed = params.get("random_state")
    if not isinstance(seed, int) or not _whole(seed, 0, 2**63):
        raise InputError(f"params.random_state is {quote(seed)}; expected the seed of deep trees")
    kinds = [_kind(model, column, begin, n) for column, (begin, n) in sorted(_ranges(model).items())]
    assert isinstance(examples, dict)  # as _held found
    codes = Codes(
        tuple(nominal for nominal, _ in kinds), tuple(n for _, n in kinds), examples["codes"], examples["counts"],
        model.per_example,
    )  # fmt: skip
    return Pool(model, tuple(spaces), counted, forests, codes, tuple(bits), seed)


def _forests(content: dict[str, Any], n_columns: int, n_classes: int) -> tuple[DeepForest, ...]:
    if content["version"] < 4:
        return ()
    given = content.get("forests")
    if not isinstance(given, list):
        raise InputError(f"forests is {quote(given)}; expected a list of forests of deep trees")
    found = []
    for k, each in enumerate(given):
        cuts, rounds, weights = (
            each.get(key) if isinstance(each, dict) else None for key in ("cuts", "rounds", "weights")
        )
        old = content["version"] < 5  # the root of the number of columns
        columns = (
            max(1, math.isqrt(n_columns))
            if old or not isinstance(each, dict)
            else each.get("columns_at_node")
        )
        fine = isinstance(weights, list) and len(weights) == n_classes
        fine = fine and _whole(rounds, 1, 100) and _whole(columns, 1, max(1, n_columns))
        if cuts not in ("best", "random") or not fine:
            raise InputError(
                f"forests[{k}] is {quote(each)}; expected cuts, rounds, columns_at_node and weights"
            )
        if not all(is_number(weight) and weight >= 0 for weight in weights):  # type: ignore[union-attr]
            raise InputError(f"forests[{k}].weights is {quote(weights)}; expected numbers, not below zero")
        own = tuple(float(weight) for weight in weights)  # type: ignore[union-attr]
        found.append(DeepForest(str(cuts), int(rounds), int(columns), own, each.get("loo_log_loss")))  # type: ignore[arg-type]
    return tuple(found)


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _ranges(model: Model) -> dict[int, tuple[int, int]]:
    """Return the first test of each column that has some, and how many it has."""
    found: dict[int, tuple[int, int]] = {}
    for i, test in enumerate(model.tests):
        begin, n = found.get(test.column, (i, 0))
        if begin + n != i:
            raise InputError(f"tests[{i}] is not beside the others of its column; expected them in order")
        found[test.column] = begin, n + 1
    return found


def _held(examples: Any, model: Model) -> tuple[dict[int, list[int]], list[int]]:
    """Return the examples of the file as outcomes, with their counts, and the outcomes of each of its rows."""
    codes, counts = (examples.get(key) if isinstance(examples, dict) else None for key in ("codes", "counts"))
    if not isinstance(codes, list) or not isinstance(counts, list) or len(codes) != len(counts):
        raise InputError(f"examples is {quote(examples)}; expected codes and counts, one for each row")
    ranges = _ranges(model)
    held: dict[int, list[int]] = {}
    each = []
    for i, (row, count) in enumerate(zip(codes, counts, strict=True)):
        if not isinstance(row, list) or len(row) != len(ranges) or not all(_whole(x, 0, 2**31) for x in row):
            raise InputError(
                f"examples.codes[{i}] is {quote(row)}; expected a code for each column with tests"
            )
        if (
            not isinstance(count, list)
            or len(count) != len(model.classes)
            or not all(_whole(n, 0, 2**53) for n in count)
        ):
            raise InputError(f"examples.counts[{i}] is {quote(count)}; expected {len(model.classes)} counts")
        bits = 0
        for code, (column, (begin, n)) in zip(row, sorted(ranges.items()), strict=True):
            bits |= _outcomes(model, column, begin, n, code) << begin
        known = held.setdefault(bits, [0] * len(count))
        held[bits] = [a + b for a, b in zip(known, count, strict=True)]
        each.append(bits)
    return held, each


def _kind(model: Model, column: int, begin: int, n: int) -> tuple[bool, int]:
    """Return whether a column is nominal, and how many codes its values have."""
    asked = n - (model.tests[begin + n - 1].kind == "missing")
    values = model.columns[column].values
    nominal = model.columns[column].kind == "nominal" and not (len(values) == 2 and asked == 1)
    return nominal, len(values) if nominal else asked + 1


def _outcomes(model: Model, column: int, begin: int, n: int, code: int) -> int:
    """Return the outcomes of a column's tests for a code: cuts at or above it; a value; or the missing one."""
    gone = model.tests[begin + n - 1].kind == "missing"
    asked = n - gone
    nominal, n_codes = _kind(model, column, begin, n)
    if gone and code == n_codes:
        return 1 << asked
    if nominal:
        return 1 << code if code < asked else 0
    return ((1 << asked) - 1) >> code << code if code <= asked else 0


def check_pool(
    content: dict[str, Any], pool: Pool, examples: Examples, max_states: int, time_limit: float
) -> list[Fact]:
    """Check what is said of the averages and of their pool; the weights are those of the file."""
    claims = content.get("claims")
    if not isinstance(claims, dict):
        raise InputError(f"claims is {quote(claims)}; expected an object")
    costs = content["params"].get("cost_matrix")
    facts = [seal_fact(content), asked_fact(content["params"]), *cost_facts(costs, len(pool.model.classes))]
    wrong = [
        bits
        for bits in pool.held.keys() | examples.counts.keys()
        if pool.held.get(bits) != examples.counts.get(bits)
    ]
    note = f"{len(wrong)} rows differ" if wrong else ""
    if pool.model.per_example != examples.per_example:
        note = (
            f"{pool.model.per_example} counts make an example in the file, {examples.per_example} in the data"
        )
        wrong = wrong or [0]
    facts.append(Fact("examples", len(pool.held), len(examples.counts), FALSE if wrong else TRUE, note))
    if wrong:
        return facts
    parts: tuple[Space | DeepForest, ...] = (*pool.spaces, *pool.forests)
    note = "chosen among averages that are not all in the file"
    facts.append(
        Fact("weights", [list(each.weights) for each in parts], None, UNCHECKED, note, predicts=True)
    )
    facts += _left_out(content, claims)
    found = _each(pool, examples, max_states, time.monotonic() + time_limit)
    facts += [fact for _, fact in found]
    said = [each for each, _ in found if each is not None]
    if len(said) < len(parts):
        note = "not all averages were computed again"
        return [*facts, Fact("pooled_log_loss", claims.get("pooled_log_loss"), None, UNCHECKED, note)]
    shares = [n / sum(examples.class_totals) for n in examples.class_totals]
    mixed = {key: _pooled([each[key] for each in said], parts, shares, examples) for key in said[0]}
    facts.append(_number("pooled_log_loss", claims.get("pooled_log_loss"), _loss(mixed, examples)))
    return [*facts, *_baseline(claims, shares)]


def _each(pool: Pool, examples: Examples, max_states: int, deadline: float) -> list[tuple[Said | None, Fact]]:
    """Compute each average and each forest again, with what is found of its claim, in the order of the file.

    The smallest come first, so that one that takes all the time leaves none of the others unchecked.
    """
    parts: list[Space | DeepForest] = [*pool.spaces, *pool.forests]
    found: dict[int, tuple[Said | None, Fact]] = {}
    for k in sorted(range(len(parts)), key=lambda k: _size(pool, parts[k], len(examples.counts))):
        part = parts[k]
        try:
            if isinstance(part, Space):
                name = f"average {k}: loo_log_loss"
                why = "not recomputed: the space is too large ({}); raise --max-states or --time-limit"
                said = _said(pool, part, examples, max_states, max(0.0, deadline - time.monotonic()))
            else:
                name = f"forest {k - len(pool.spaces)}: loo_log_loss"
                why = "not grown again: {}; raise --time-limit"
                said = _grown(pool, part, deadline)
        except GivenUp as reason:
            found[k] = None, Fact(name, part.loss, None, UNCHECKED, why.format(reason), predicts=True)
            continue
        found[k] = said, _number(name, part.loss, _loss(said, examples))
    return [found[k] for k in range(len(parts))]


def _size(pool: Pool, part: Space | DeepForest, n_rows: int) -> float:
    """Return about how much work a part is, as a logarithm: states of an average, rows at the nodes of a forest."""
    if isinstance(part, DeepForest):
        return math.log(5 * part.rounds * n_rows)
    asked = {j: min(n, part.bins) for j, (_, n) in _ranges(pool.model).items() if j in part.columns}
    return part.depth * math.log(max(1, 2 * sum(asked.values()))) - math.lgamma(part.depth + 1)


NAMES = ("loo_log_loss", "loo_log_loss_error", "loo_accuracy")
CHOSEN = "they come from weights that a cross-validation chose, which are not in the file"


def _left_out(content: dict[str, Any], claims: dict[str, Any]) -> list[Fact]:
    """Check what is claimed of left-out examples by the probabilities that the file holds of them.

    These come from weights that are not in the file: what agrees with them is not thereby true, what does not is false.
    """
    text, counts = content.get("left_out"), content["examples"]["counts"]
    if text is None:
        return [Fact(name, claims.get(name), None, UNCHECKED, CHOSEN) for name in NAMES]
    entries = [(c, n) for row in counts for c, n in enumerate(row) if n]
    width = len(content["classes"])
    try:
        held = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        held = b""
    if len(held) != 8 * width * len(entries):
        raise InputError(f"left_out is {quote(text)}; expected {len(entries)} × {width} doubles in base64")
    said = list(struct.iter_unpack(f"<{width}d", held))
    if not all(
        all(0 <= p <= 1 for p in row) and math.isclose(math.fsum(row), 1, abs_tol=1e-9) for row in said
    ):
        raise InputError("left_out holds rows that are no probabilities")
    answers = [row.index(max(row)) for row in said]
    decided = content.get("decided")
    facts = [Fact("decided", "as left out", "as left out", TRUE)]
    if decided != answers:
        facts = [Fact("decided", quote(decided), "other classes", FALSE, "left_out is most for others")]
    parts = content["examples"].get("per_example", 1)
    shares = [n / parts for _, n in entries]
    total = math.fsum(shares)
    losses = [-math.log(max(row[c], 2.0**-1022)) for row, (c, _) in zip(said, entries, strict=True)]
    mean = math.fsum(n * loss for n, loss in zip(shares, losses, strict=True)) / total
    around = math.fsum(n * (loss - mean) ** 2 for n, loss in zip(shares, losses, strict=True))
    right = math.fsum(n for n, answer, (c, _) in zip(shares, answers, entries, strict=True) if answer == c)
    found = (mean, math.sqrt(around / (total - 1) / total) if total > 1 else None, right / total)
    for name, value in zip(NAMES, found, strict=True):
        claimed = claims.get(name)
        same = value is None and claimed is None
        if same or (value is not None and _number(name, claimed, value).verdict == TRUE):
            facts.append(Fact(name, claimed, None, UNCHECKED, f"as left_out has it; {CHOSEN}"))
        else:
            facts.append(Fact(name, claimed if is_number(claimed) else quote(claimed), value, FALSE))
    return facts


def _number(name: str, claimed: Any, found: float) -> Fact:
    fine = is_number(claimed) and math.isclose(claimed, found, rel_tol=LOSS, abs_tol=LOSS)
    return Fact(name, claimed if is_number(claimed) else quote(claimed), found, TRUE if fine else FALSE)


def _baseline(claims: dict[str, Any], shares: list[float]) -> list[Fact]:
    loss = abs(math.fsum(share * math.log(share) for share in shares if share))
    return [
        _number("baseline_log_loss", claims.get("baseline_log_loss"), loss),
        _number("baseline_accuracy", claims.get("baseline_accuracy"), max(shares)),
    ]


def _said(pool: Pool, space: Space, examples: Examples, max_states: int, time_limit: float) -> Said:
    """Return the logarithms of what one average says of each row of all columns and class without an example of it."""
    whole, ranges = pool.model, _ranges(pool.model)
    parts = [(j, *ranges[j]) for j in sorted(space.columns) if j in ranges]
    columns = tuple(
        replace(column, fine=None if column.fine is None else replace(column.fine, bins=space.bins))
        for column in whole.columns
    )
    model = replace(
        whole,
        columns=columns,
        tests=tuple(whole.tests[i] for _, begin, n in parts for i in range(begin, begin + n)),
        params={
            "max_depth": space.depth, "min_leaf": MIN_LEAF, "power": POWER, "prior": PRIOR,
            "dirichlet": {"$type": "BaseRate", "fields": {"strength": STRENGTH}},
        },
    ).with_base_rates(examples.class_totals)  # fmt: skip
    place: dict[int, int] = {}
    counts: dict[int, list[int]] = {}
    for bits, own in examples.counts.items():
        small, shift = 0, 0
        for _, begin, n in parts:
            small |= (bits >> begin & ((1 << n) - 1)) << shift
            shift += n
        place[bits] = small
        known = counts.setdefault(small, [0] * len(own))
        counts[small] = [a + b for a, b in zip(known, own, strict=True)]
    merged = Examples(counts, len(model.tests), examples.n_classes, per_example=examples.per_example)
    left = left_out_of(model, merged, max_states, time_limit)
    number = {bits: row for row, bits in enumerate(sorted(counts))}
    return {
        (bits, y): left[number[place[bits]], y][0]
        for bits, own in examples.counts.items()
        for y, n in enumerate(own)
        if n
    }


def _grown(pool: Pool, forest: DeepForest, deadline: float) -> Said:
    """Return the logarithms of what the deep trees of a forest say, in the same way."""
    assert pool.codes is not None
    said = said_of_left_out(
        pool.codes, forest.cuts, forest.rounds, forest.columns_at_node, pool.seed, deadline
    )
    return {(pool.bits[row], y): [math.log(p) for p in proba] for (row, y), proba in said.items()}


def _pooled(
    each: list[list[float]], spaces: Sequence[Space | DeepForest], shares: list[float], examples: Examples
) -> list[float]:
    logs = [
        math.log(share)
        + math.fsum(
            space.weights[c] * (said[c] - math.log(share)) for said, space in zip(each, spaces, strict=True)
        )
        for c, share in enumerate(shares)
    ]
    most = max(logs)
    total = most + math.log(math.fsum(math.exp(x - most) for x in logs))
    kept = SLIP / sum(examples.class_totals)
    return [
        math.log((1 - kept) * math.exp(x - total) + kept * share)
        for x, share in zip(logs, shares, strict=True)
    ]


def _loss(said: Said, examples: Examples) -> float:
    total = sum(examples.class_totals)
    return float(
        math.fsum(-logs[y] * examples.of(examples.counts[bits][y]) for (bits, y), logs in said.items())
        / total
    )
