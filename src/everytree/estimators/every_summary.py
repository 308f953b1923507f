"""What an ``EveryTreeClassifier`` tells people: how sure it is, what matters, the nearest single tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from everytree.common.text import as_number, many
from everytree.errors import LimitReached
from everytree.estimators.screening import chosen_by_labels

__all__ = ["summary"]

MOST_NAMES = 6  # columns that are named of a member
NOTHING = 0.02  # the weight of averages that change no answer worth telling


def summary(model: Any, top: int, judged: bool = True) -> str:
    """Return the text of ``EveryTreeClassifier.summary``; without ``judged``, for those who print figures beside it."""
    n, classes = as_number(model.coded_.total), model.classes_.tolist()
    if len(classes) == 1:
        what = f"The only example is {classes[0]}" if n == "1" else f"All {n} examples are {classes[0]}"
        return f"{what}, and so the model says of every row. There is nothing to learn from."
    lines = [
        f"Every tree, averaged: {n} examples, {len(classes)} classes, {many(model.n_features_in_, 'column')}."
    ]
    good = " (too good: columns were chosen with the labels)" if chosen_by_labels(model.notes_) else ""
    left_out = [
        f"How sure: the answer is right for {model.loo_accuracy_:.1%} of examples that are left out{good}; always the "
        f"largest class: {model.baseline_accuracy_:.1%}.",
        f"Log-loss, left out: {model.loo_log_loss_:.3f} ± {model.loo_log_loss_error_:.3f}; always the class shares: "
        f"{model.baseline_log_loss_:.3f}.",
    ]
    lines += left_out if judged else []
    if float(np.max(np.abs(model.weights_by_class_), initial=0.0)) < NOTHING:
        shares = ", ".join(
            f"{label} {share:.1%}" for label, share in zip(classes, model.shares_, strict=True)
        )
        several = f"None of {many(len(model.models_), 'average')} over trees has"
        lines.append(
            f"{several if len(model.models_) > 1 else 'The average over trees has not'} found anything that holds for "
            f"examples left out, so every row gets nearly the shares of the classes{_listed(shares, len(classes))}."
        )
        return "\n".join([*lines, *(f"Note: {note}." for note in model.notes_)])
    deep = f", and of {as_number(model.n_deep_trees)} deep trees" if model.forests_ else ""
    lines.append(
        f"The evidence of {many(len(model.models_), 'average')}, each over every tree on some columns{deep}, is added "
        "up; most have:"
    )
    lines += [
        f"  weight {weight:.2f}: {each.name}, each averaged over its prunings"
        for each, weight in zip(model.forests_, model.weights_[len(model.models_) :].tolist(), strict=True)
    ]
    heaviest = np.argsort(-model.saved_by_models(), kind="stable")[: max(1, min(top, 3))]
    lines += [f"  {_member(model.members_[k], model.n_features_in_)}" for k in heaviest]
    lines.append("Columns, by the probability that a tree uses them:")
    used = sorted(model.attribute_inclusion().items(), key=lambda pair: -pair[1])
    lines += [f"  {share:6.1%}  {name}" for name, share in used[:top]]
    lines += [f"Note: {note}." for note in model.notes_]
    try:
        nearest = str(model.nearest_tree())
    except LimitReached as limit:
        nearest = f"Without the nearest tree: {limit}."
    lines += ["", nearest]
    return "\n".join(lines)


def _listed(shares: str, n_classes: int) -> str:
    return f": {shares}" if n_classes <= MOST_NAMES else ""


def _member(member: dict[str, Any], n_columns: int) -> str:
    names = member["columns"]
    on = "all columns" if len(names) == n_columns > 1 else ", ".join(names[:MOST_NAMES]) or "no column"
    more = (
        f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES and len(names) != n_columns else ""
    )
    return f"weight {member['weight']:.2f}: {on}{more}, to depth {member['depth']}"
