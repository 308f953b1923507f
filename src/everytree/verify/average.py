"""Predictions of an average over every tree, computed again from the raw data.

A file holds the table, the prior and the Dirichlet parameters, from which its predictions follow.
So each is compared with the data and the parameters; then the probabilities of some rows are computed, from what the
data and the parameters say and, where the file says something else, from what it says too.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass
from typing import Any

from everytree.verify.claims import chosen_facts, same_dirichlet
from everytree.verify.examples import Examples
from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact
from everytree.verify.left_out import MOST, left_out, left_out_facts, tempered
from everytree.verify.model import Model
from everytree.verify.probable import Fold, Prior, read_prior
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.prove import GivenUp, Space
from everytree.verify.query import dirichlet_at, read_query

__all__ = ["Part", "check_average", "fold_of", "left_out_of", "sample_rows", "table_facts"]

SEEN, UNSEEN = 8, 4  # predictions are computed for so many rows of the data, and so many others
CLOSE = 1e-9
HOPELESS = 3


@dataclass(frozen=True)
class Part:
    """One prior with its Dirichlet parameters, and its weight in a mixture."""

    prior: Prior
    dirichlet: Any
    weight: float = 1.0


def table_facts(model: Model, examples: Examples) -> list[Fact]:
    """Compare the table of a file with the tests on the raw rows, and with its own fingerprint."""
    if model.table is None:
        return []
    facts = []
    held = {bits: list(counts) for bits, counts in model.table.items() if any(counts)}
    claimed = model.claims.get("fingerprint")
    parts = model.per_example
    own = Examples(held, examples.n_tests, examples.n_classes, per_example=parts).fingerprint()
    if claimed is not None:
        facts.append(Fact("fingerprint of table", own, claimed, TRUE if own == claimed else FALSE))
    wrong = [
        bits for bits in held.keys() | examples.counts.keys() if held.get(bits) != examples.counts.get(bits)
    ]
    note = ""
    if parts != examples.per_example:
        note = f"{parts} counts make an example in the file, {examples.per_example} in the data"
    elif wrong:
        outcomes = format(min(wrong), f"0{examples.n_tests}b")[::-1] if examples.n_tests else ""
        found = examples.counts.get(min(wrong), "none")
        own_row = held.get(min(wrong), "none")
        note = f"{len(wrong)} rows differ; outcomes {outcomes}: {own_row} in the file, {found} in the data"
    facts.append(Fact("table", len(held), len(examples.counts), FALSE if wrong or note else TRUE, note))
    return facts


def check_average(model: Model, examples: Examples, max_states: int, time_limit: float) -> list[Fact]:
    """Check an average over every tree: what it is taken over, its evidence, and some predictions."""
    deadline = time.monotonic() + time_limit
    facts = [*table_facts(model, examples), *chosen_facts(model), *_depth_facts(model)]
    right = all(fact.verdict != FALSE for fact in facts)
    asked, held = _parts(model, claimed=False), _parts(model, claimed=True)
    if asked is None or held is None:
        note = f"prior={quote(model.used_params.get('prior'))} or the Dirichlet parameters are not known to the checker"
        return [*facts, Fact("predictions", None, None, UNCHECKED, note, predicts=True)]
    rows = sample_rows(examples)
    try:
        depth = model.claims.get("depth", model.params.get("max_depth"))
        space = _space(model, examples, depth, max_states, deadline)
        folds = _folded(space, model, asked)
        facts += _evidence_facts(model, space, asked, folds)
        raw = _mixed(asked, folds, rows)
        exponent, told = left_out_facts(model, examples, [part.weight for part in asked], folds)
        facts += told
        right = right and all(fact.verdict != FALSE for fact in told)
        stated: Any = model.claims.get("exponent", 1.0)
        if not is_number(stated) or not 0 <= stated <= MOST:  # which is told to be false
            stated = exponent
        found = tempered(raw, exponent)
        claimed = found
        if not right and model.table is not None:
            own = Examples(
                {b: list(c) for b, c in model.table.items() if any(c)}, examples.n_tests, examples.n_classes,
                per_example=model.per_example,
            )  # fmt: skip
            theirs = _space(model, own, depth, max_states, deadline)
            claimed = tempered(_mixed(held, _folded(theirs, model, held), rows), stated)
    except GivenUp as reason:
        note = f"not recomputed: the space is too large ({reason}); raise --max-states or --time-limit"
        if model.claims.get("log_evidence") is not None:
            facts.append(Fact("log_evidence", model.claims["log_evidence"], None, UNCHECKED, note))
        return [*facts, Fact("predictions", None, None, UNCHECKED, note, predicts=True)]
    off = max(
        abs(a - b) for one, two in zip(claimed, found, strict=True) for a, b in zip(one, two, strict=True)
    )
    shown = f"{len(rows)} rows"
    if off > CLOSE:
        note = f"by what the file holds, a probability is off by {off:.3g}"
        return [*facts, Fact("predictions", shown, shown, FALSE, note)]
    note = "recomputed from what the data and the parameters say, which the file agrees with"
    return [*facts, Fact("predictions", shown, shown, TRUE, note)]


def sample_rows(examples: Examples, seed: int = 0) -> list[int]:
    """Choose some rows of the data, and some that may not be in it, as bits; the same ones every time."""
    chance = random.Random(seed)
    seen = sorted(examples.counts)
    rows = chance.sample(seen, min(SEEN, len(seen)))
    return rows + [chance.getrandbits(examples.n_tests) if examples.n_tests else 0 for _ in range(UNSEEN)]


def fold_of(
    model: Model, examples: Examples, part: Part, depth: Any, max_states: int, time_limit: float
) -> Fold:
    """Sum over every tree under one prior; raise ``GivenUp`` if that takes too long."""
    space = _space(model, examples, depth, max_states, time.monotonic() + time_limit)
    return _folded(space, model, [part])[0]


def left_out_of(
    model: Model, examples: Examples, max_states: int, time_limit: float
) -> dict[tuple[int, int], tuple[list[float], int, int]]:
    """Compute what an average says of left-out examples; raise ``GivenUp`` if that takes too long."""
    parts = _parts(model, claimed=False)
    if parts is None:
        raise GivenUp("the prior or the Dirichlet parameters are not known to the checker")
    depth = model.claims.get("depth", model.params.get("max_depth"))
    space = _space(model, examples, depth, max_states, time.monotonic() + time_limit)
    return left_out(examples, [part.weight for part in parts], _folded(space, model, parts))


def _depth_facts(model: Model) -> list[Fact]:
    """Check the depth of the average: it is the one asked for, unless a limit ended it before."""
    asked, claims = model.params.get("max_depth"), model.claims
    if asked is not None and not is_number(asked):
        raise InputError(f"params.max_depth is {quote(asked)}; expected a whole number ≥ 0, or none")
    if "depth" not in claims or claims["depth"] == asked:
        return []
    depth = claims["depth"]
    limited = asked is None or any(
        model.params.get(name) is not None for name in ("time_limit", "memory_limit")
    )
    if depth is not None and limited and (asked is None or (is_number(depth) and depth < asked)):
        note = "a limit is said to have ended the average at this depth; no data can tell"
        return [Fact("depth", depth, None, UNCHECKED, note, predicts=True)]
    return [
        Fact("depth", depth, asked, FALSE, "params.max_depth asks for another one, and there is no limit")
    ]


def _parts(model: Model, claimed: bool) -> list[Part] | None:
    """Return the priors that are averaged: by the parameters, or by the claims alone, as the file would be loaded."""
    n_classes = len(model.classes)
    mixture = model.claims.get("mixture")
    if mixture is not None:
        if not isinstance(mixture, list) or not mixture:
            return None
        parts = []
        for each in mixture:
            prior = read_prior({"prior": each[0]}) if isinstance(each, list) and len(each) == 3 else None
            if prior is None or dirichlet_at(each[1], 0, n_classes) is None or not is_number(each[2]):
                return None
            parts.append(Part(prior, each[1], float(each[2])))
        return parts
    used = {"prior": model.claims.get("prior"), "dirichlet": model.claims.get("dirichlet")}
    given = used if claimed and None not in used.values() else model.used_params
    prior = read_prior(given)
    if prior is None or dirichlet_at(given.get("dirichlet"), 0, n_classes) is None:
        return None
    return [Part(prior, given.get("dirichlet"))]


def _space(model: Model, examples: Examples, depth: Any, max_states: int, deadline: float) -> Space:
    known = {"max_depth": depth, "min_leaf": model.params.get("min_leaf")}
    query = read_query(known, [], [], model.classes, examples.class_totals)
    space = Space(examples, query, max_states, max(0.0, deadline - time.monotonic()), model)
    about = space.estimate()
    if about > HOPELESS * max_states:
        raise GivenUp(f"about {about:.2g} states, not tried")
    return space


def _folded(space: Space, model: Model, parts: list[Part]) -> list[Fold]:
    folds = []
    for part in parts:
        fold = Fold(space, part.prior, model, part.dirichlet)
        space.n_states = 0
        fold.root()
        folds.append(fold)
    return folds


def _mixed(parts: list[Part], folds: list[Fold], rows: list[int]) -> list[list[float]]:
    total = math.fsum(part.weight for part in parts)
    found = []
    for row in rows:
        each = [
            [part.weight / total * p for p in fold.predicted(row)]
            for part, fold in zip(parts, folds, strict=True)
        ]
        found.append([math.fsum(column) for column in zip(*each, strict=True)])
    return found


def _evidence_facts(model: Model, space: Space, parts: list[Part], folds: list[Fold]) -> list[Fact]:
    claimed = model.claims.get("log_evidence")
    values = [fold.root()[0] for fold in folds]
    if model.claims.get("mixture") is None:
        if claimed is None:
            return []
        fine = is_number(claimed) and math.isclose(claimed, values[0], rel_tol=CLOSE, abs_tol=CLOSE)
        return [Fact("log_evidence", claimed, values[0], TRUE if fine else FALSE)]
    # A prior that does not sum to one is scaled to before its evidence is compared.
    for k, part in enumerate(parts):
        if part.prior.kind != "size":
            space.n_states = 0
            values[k] -= Fold(space, part.prior, model, None).root()[0]
    most = max(values)
    weights = [math.exp(value - most) for value in values]
    off = max(
        abs(part.weight / sum(p.weight for p in parts) - w / math.fsum(weights))
        for part, w in zip(parts, weights, strict=True)
    )
    note = "" if off <= CLOSE else f"the evidence gives weights that are off by {off:.3g}"
    facts = [Fact("weights of mixture", len(parts), len(parts), TRUE if off <= CLOSE else FALSE, note)]
    heaviest = parts[max(range(len(parts)), key=lambda k: parts[k].weight)]
    stated = read_prior({"prior": model.claims.get("prior")})
    same = same_dirichlet(model.claims.get("dirichlet"), heaviest.dirichlet, len(model.classes))
    if same is False:
        shown = quote(model.claims["dirichlet"]), quote(heaviest.dirichlet)
        facts.append(Fact("dirichlet in force", *shown, FALSE, "not the part of most weight"))
    if stated is not None and stated != heaviest.prior:
        facts.append(
            Fact("prior in force", str(stated), str(heaviest.prior), FALSE, "not the part of most weight")
        )
    if claimed is not None:
        note = "the mean over a grid of which the file holds the parts that weigh something"
        facts.append(Fact("log_evidence", claimed, None, NOTED, note))
    return facts
