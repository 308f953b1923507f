"""Claims that follow from other claims, and those that no data can decide.

gap            0 where bound and objective are equal, else (objective − bound) / the larger of the two, in size
lower_bound    at most the objective; the objective itself where the tree is claimed to be optimal
upper_bound    the same for a log joint: at least it, and equal to it for an optimum
stop_reason    "proved" where, and only where, the tree is claimed to be optimal
prior, dirichlet   those that the parameters ask for; what evidence or left-out examples chose is not chosen again
cost_matrix    of an average: numbers for every pair of classes; which costs are meant, no data can decide
everything else    such as n_states, is shown and not checked
"""

from __future__ import annotations

import math
from typing import Any

from everytree.verify.facts import FALSE, NOTED, TRUE, UNCHECKED, Fact
from everytree.verify.model import Model
from everytree.verify.probable import read_prior
from everytree.verify.problem import InputError, is_number, quote
from everytree.verify.query import dirichlet_at, read_matrix

__all__ = ["asked_fact", "bound_facts", "chosen_facts", "cost_facts", "noted_facts", "same_dirichlet"]

CLOSE = 1e-9
LARGEST_COST = 10**12
LONGEST = 200  # what is shown of a parameter
PROVED = "proved"
INFORMATIONAL = "informational: no data can tell"
CHOSEN = ("prior", "dirichlet", "power")  # what evidence or left-out examples may choose
LOOK_AT = (0, 1, 2, 5, 20)  # Dirichlet parameters are compared at these depths
# Claims that some other part of the checker compares.
CHECKED = {
    "n_examples", "n_leaves", "size", "depth", "error", "leaves", "fingerprint", "objective", "lower_bound", "gap",
    "upper_bound", "log_joint", "log_evidence", "prior", "dirichlet", "mixture", "draws", "risk", "energy",
    "exponent", "loo_log_loss", "loo_log_loss_error", "calibrated_loo_log_loss",
}  # fmt: skip


def bound_facts(model: Model) -> list[Fact]:
    """Compare the bounds and the gap with the objective, as they are claimed."""
    claims, facts = model.claims, []
    for value, bound, name, low in (
        ("objective", "lower_bound", "lower bound and objective", True),
        ("log_joint", "upper_bound", "upper bound and log_joint", False),
    ):
        mine, limit = claims.get(value), claims.get(bound)
        if not is_number(mine) or not is_number(limit):
            continue
        slack = CLOSE * max(1.0, abs(mine))
        beyond = limit > mine + slack if low else limit < mine - slack
        if beyond:
            note = f"no bound of it, as {value} is {mine}"
            facts.append(Fact(name, limit, f"{'≤' if low else '≥'} {mine}", FALSE, note))
        elif claims.get("optimal") is True and abs(limit - mine) > slack:
            note = f"a tree that is claimed to be optimal is its own bound, {mine}"
            facts.append(Fact(name, limit, mine, FALSE, note))
    gap, mine, limit = (claims.get(name) for name in ("gap", "objective", "lower_bound"))
    if gap is not None and is_number(mine) and is_number(limit):
        found = 0.0 if mine == limit else (mine - limit) / max(abs(mine), abs(limit))
        fine = is_number(gap) and abs(gap - found) <= CLOSE
        facts.append(Fact("gap", gap, found, TRUE if fine else FALSE))
    elif gap is not None:
        facts.append(
            Fact("gap", _plain(gap), None, UNCHECKED, "objective and lower_bound are not both numbers")
        )
    optimal, reason = claims.get("optimal"), claims.get("stop_reason")
    if isinstance(optimal, bool) and reason is not None:
        fine = optimal == (reason == PROVED)
        note = (
            ""
            if fine
            else f"a search ends as proved where, and only where, the tree is optimal; it is {optimal}"
        )
        facts.append(
            Fact("stop_reason", _plain(reason), None, NOTED if fine else FALSE, note or INFORMATIONAL)
        )
    return facts


def chosen_facts(model: Model) -> list[Fact]:
    """Compare the prior and the Dirichlet parameters that the model used with those that were asked for."""
    facts, claims = [], model.claims
    if claims.get("prior") is not None and not model.was_chosen("prior"):
        asked, found = read_prior(model.params), read_prior({"prior": claims["prior"]})
        if asked is None or found is None:
            note = f"prior={quote(claims['prior'])} is not known to the checker"
            facts.append(Fact("prior in force", quote(claims["prior"]), None, UNCHECKED, note, predicts=True))
        else:
            facts.append(Fact("prior in force", str(found), str(asked), TRUE if found == asked else FALSE))
    if claims.get("dirichlet") is not None and not model.was_chosen("dirichlet"):
        same = same_dirichlet(claims["dirichlet"], model.params.get("dirichlet"), len(model.classes))
        shown = quote(claims["dirichlet"]), quote(model.params.get("dirichlet"))
        if same is None:
            note = "the Dirichlet parameters are not known to the checker"
            facts.append(Fact("dirichlet in force", *shown, UNCHECKED, note, predicts=True))
        else:
            facts.append(Fact("dirichlet in force", *shown, TRUE if same else FALSE))
    note = "chosen among values that are not all in the file; give it as a parameter to have it checked"
    return facts + [
        Fact(f"{name} in force", quote(value), None, UNCHECKED, note, predicts=True)
        for name in CHOSEN
        if model.was_chosen(name)
        and (value := claims.get("mixture" if claims.get("mixture") is not None else name)) is not None
    ]


def same_dirichlet(a: Any, b: Any, n_classes: int) -> bool | None:
    """Return whether two ways to give Dirichlet parameters mean the same; None where one cannot be read."""
    for depth in LOOK_AT:
        first, second = dirichlet_at(a, depth, n_classes), dirichlet_at(b, depth, n_classes)
        if first is None or second is None:
            return None
        if not all(math.isclose(x, y, rel_tol=1e-12) for x, y in zip(first, second, strict=True)):
            return False
    return True


def cost_facts(matrix: Any, n_classes: int) -> list[Fact]:
    """Check the costs by which an average decides: one row for each true class, one column for each predicted one."""
    if matrix is None:
        return []
    if any(abs(cost) >= LARGEST_COST for row in read_matrix(matrix, n_classes) for cost in row):
        raise InputError(f"params.cost_matrix is {quote(matrix)}; expected numbers below {LARGEST_COST:g}")
    note = "informational: predict answers the class of least expected cost"
    return [Fact("cost_matrix", quote(matrix), None, NOTED, note)]


def asked_fact(params: dict[str, Any]) -> Fact:
    """Show what was asked for: a file with other parameters would be the right answer to another question."""
    told = ", ".join(f"{name}={quote(value, LONGEST)}" for name, value in params.items() if value is not None)
    return Fact("asked for", told, None, NOTED, "informational: no data can tell what was asked for")


def noted_facts(model: Model) -> list[Fact]:
    """List the claims that can be neither true nor false of the data."""
    facts = [asked_fact(model.params)] if model.params else []
    for name, value in model.claims.items():
        drawn = name == "log_evidence" and model.estimator == "MCMCTreeClassifier"  # draws cannot confirm it
        judged = name == "stop_reason" and isinstance(model.claims.get("optimal"), bool)
        if (
            (name in CHECKED and not drawn)
            or judged
            or value is None
            or (name == "optimal" and value is True)
        ):
            continue
        note = "the file does not claim that it is" if name == "optimal" else INFORMATIONAL
        facts.append(Fact(name, _plain(value), None, NOTED, note))
    return facts


def _plain(value: Any) -> Any:
    if isinstance(value, dict) and "$float" in value:
        return value["$float"]
    return value if isinstance(value, bool | int | float | str) else quote(value)
