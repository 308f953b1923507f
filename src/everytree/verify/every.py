"""A mixture of averages over every tree: its exponent and what it says of left-out examples, computed again.

    P(c | all but i) = Σ_k w_k p_k^γ_k / Σ p_k^γ_k      p_k: average k without example i,  γ_k: its own exponent

then one exponent for the mixture. Each average is checked as a model of its own. The weights were chosen among spaces
of which the file holds those that weigh something, so they are taken as they are.
"""

from __future__ import annotations

import math
from typing import Any

from everytree.verify.average import left_out_of
from everytree.verify.examples import Examples
from everytree.verify.facts import FALSE, TRUE, UNCHECKED, Fact
from everytree.verify.left_out import Said, best_exponent, mean_loss, tempered
from everytree.verify.model import Model
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.prove import GivenUp
from everytree.verify.whole import seal_fact

__all__ = ["check_mixture", "parts_of"]

CLOSE = 1e-7  # an exponent is where a slope is zero: it has fewer digits than the loss
LOSS = 1e-7  # the exponents behind it have no more


def parts_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the averages of a file."""
    models = content.get("models")
    if not isinstance(models, list) or not models or not all(isinstance(each, dict) for each in models):
        raise InputError(f"models is {quote(models)}; expected a list of averages, at least one")
    for k, each in enumerate(models):
        if each.get("format") != "everytree.model" or each.get("estimator") != "BayesOptimalClassifier":
            raise InputError(f"models[{k}].estimator is {quote(each.get('estimator'))}; expected an average")
    return models


def check_mixture(
    content: dict[str, Any], parts: list[tuple[Model, Examples]], max_states: int, time_limit: float
) -> list[Fact]:
    """Check what is said of the mixture; the weights are those of the file."""
    weights, exponent, claims = content.get("weights"), content.get("exponent"), content.get("claims")
    if (
        not isinstance(weights, list)
        or len(weights) != len(parts)
        or not all(is_number(w) and w > 0 for w in weights)
    ):
        raise InputError(f"weights is {quote(weights)}; expected a number above zero for each of models")
    if not is_number(exponent) or not isinstance(claims, dict):
        raise InputError(f"exponent is {quote(exponent)}; expected a number, and an object of claims")
    total = math.fsum(weights)
    facts = [seal_fact(content)]
    facts.append(Fact("sum of weights", total, 1.0, TRUE if abs(total - 1) <= LOSS else FALSE))
    if len(weights) > 1:
        note = "how much each average weighs was chosen among spaces that are not all in the file"
        facts.append(Fact("weights", weights, None, UNCHECKED, note, predicts=True))
    same = all(examples.counts == parts[0][1].counts for _, examples in parts)
    facts.append(
        Fact(
            "examples of all averages", "the same", "the same" if same else "others", TRUE if same else FALSE
        )
    )
    if not same:
        return facts
    try:
        said = _mixed(parts, weights, max_states, time_limit)
    except GivenUp as reason:
        note = f"not recomputed: the spaces are too large ({reason}); raise --max-states or --time-limit"
        return [*facts, Fact("exponent", exponent, None, UNCHECKED, note, predicts=True)]
    found = best_exponent(said)
    facts.append(
        Fact("exponent", exponent, found, TRUE if abs(found - exponent) <= CLOSE * max(1, found) else FALSE)
    )
    mean, error = mean_loss(said, found)
    right = math.fsum(n for logs, y, n in said if logs.index(max(logs)) == y) / sum(n for _, _, n in said)
    for name, value in (("loo_log_loss", mean), ("loo_log_loss_error", error), ("loo_accuracy", right)):
        claimed = claims.get(name)
        fine = (
            math.isnan(value)
            if claimed is None
            else is_number(claimed) and math.isclose(claimed, value, rel_tol=LOSS, abs_tol=LOSS)
        )
        facts.append(Fact(name, claimed, value, TRUE if fine else FALSE))
    return facts


def _mixed(
    parts: list[tuple[Model, Examples]], weights: list[float], max_states: int, time_limit: float
) -> Said:
    """Return the logarithms of what the mixture says of left-out examples, before its exponent."""
    each = [left_out_of(model, examples, max_states, time_limit) for model, examples in parts]
    own = []
    for said in each:
        keys = list(said)
        exponent = best_exponent(list(said.values()))
        rows = tempered([[math.exp(x) for x in said[key][0]] for key in keys], exponent)
        own.append(dict(zip(keys, rows, strict=True)))
    mixed: Said = []
    for key, (_, y, n) in each[0].items():
        sums = [
            math.fsum(w * p[key][c] for w, p in zip(weights, own, strict=True))
            for c in range(len(own[0][key]))
        ]
        mixed.append(([math.log(x) for x in sums], y, n))
    return mixed
