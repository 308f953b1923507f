"""Claims about probabilities of trees: the evidence, the probability of the tree, and that no tree is more probable."""

from __future__ import annotations

import math
from typing import Any

from everytree.verify.examples import Examples
from everytree.verify.facts import FALSE, TRUE, UNCHECKED, UNPROVED, Fact
from everytree.verify.model import Model
from everytree.verify.optimum import HOPELESS
from everytree.verify.probable import fold, log_joint, read_prior
from everytree.verify.problem import is_number, quote
from everytree.verify.prove import GivenUp, Space
from everytree.verify.query import dirichlet_at, read_query

__all__ = ["check_probable"]

CLOSE = 1e-9  # the relative slack of a sum of logarithms
KNOWN = ("max_depth", "min_leaf")  # the parameters that say which trees there are
CLAIMS = ("log_joint", "log_evidence", "upper_bound", "optimal")


def check_probable(model: Model, examples: Examples, max_states: int, time_limit: float) -> list[Fact]:
    """Check the log joint of the tree, the log evidence, its upper bound and the optimum."""
    claims = {name: model.claims[name] for name in CLAIMS if model.claims.get(name) is not None}
    prior = read_prior(model.used_params)
    if prior is None or dirichlet_at(model.used_params.get("dirichlet"), 0, len(model.classes)) is None:
        note = f"prior={quote(model.used_params.get('prior'))} or the Dirichlet parameters are not known to the checker"
        return [Fact(name, value, None, UNCHECKED, note) for name, value in claims.items()]
    known = {key: model.params.get(key) for key in KNOWN}
    if not model.nodes and model.claims.get("depth") is not None:
        known["max_depth"] = model.claims["depth"]  # an average that a limit ended at this depth says so
    query = read_query(known, [], [], model.classes, examples.class_totals)
    space = Space(examples, query, max_states, time_limit, model)
    facts = []
    joint: float | None = None
    if model.nodes:
        joint = log_joint(space, prior, model)
        if "log_joint" in claims:
            facts.append(_compared("log_joint", claims["log_joint"], joint))
    about = space.estimate()
    try:
        if about > HOPELESS * max_states:
            raise GivenUp("not tried")
        found = fold(space, prior, model)
    except GivenUp as reason:
        note = f"not re-proved: the space is too large, about {about:.2g} states ({reason})"
        rest = [name for name in claims if name != "log_joint"]
        return facts + [Fact(name, claims[name], None, UNPROVED, note) for name in rest]
    if "log_evidence" in claims:
        facts.append(_compared("log_evidence", claims["log_evidence"], found.log_evidence))
    slack = CLOSE * max(1.0, abs(found.log_best))
    if "upper_bound" in claims:
        bound = claims["upper_bound"]
        fine = is_number(bound) and bound >= found.log_best - slack
        facts.append(Fact("upper bound", bound, f"≥ {found.log_best}", TRUE if fine else FALSE))
    if claims.get("optimal") is True and joint is not None:
        best = joint >= found.log_best - slack
        note = f"{space.n_states} states searched" if best else f"a tree of log joint {found.log_best} exists"
        facts.append(Fact("optimal", True, best, TRUE if best else FALSE, note))
    return facts


def _compared(name: str, claimed: Any, found: float) -> Fact:
    fine = is_number(claimed) and math.isclose(claimed, found, rel_tol=CLOSE, abs_tol=CLOSE)
    return Fact(name, claimed, found if math.isfinite(found) else str(found), TRUE if fine else FALSE)
