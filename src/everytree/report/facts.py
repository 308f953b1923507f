"""A model in words: one sentence for the head of the page, and its settings and results."""

from __future__ import annotations

from typing import Any

from everytree import __version__
from everytree.errors import LimitReached
from everytree.estimators.base import TreeClassifierBase
from everytree.report.plain import leaf_words, prior_words
from everytree.report.words import large, shown, told
from everytree.space.tree_space import TreeSpace
from everytree.weights.priors import Prior

__all__ = ["RENAMED", "facts_of", "summary_of"]

RENAMED = {"prior": "how trees weigh", "dirichlet": "every leaf adds"}
INNER = ("n_states", "gap")  # how the work went, and no business of a reader
USUAL = (("stop_reason", "proved"), ("stop_reason", "complete"))


def facts_of(model: Any, space: TreeSpace | None) -> list[dict[str, Any]]:
    """List settings, data and results, as groups of names and values."""
    results = [
        [
            RENAMED.get(fact.name, fact.long),
            leaf_words(fact.value) if fact.name == "dirichlet" else _plain(fact.value),
        ]
        for fact in model.facts()
        if fact.long is not None and fact.name not in INNER and (fact.name, fact.value) not in USUAL
    ]
    params = sorted(model.get_params(deep=False).items())
    return [
        {"title": "Results of this model", "rows": results},
        {"title": "Data", "rows": _data(model, space)},
        {
            "title": "Settings",
            "rows": [
                ["estimator", type(model).__name__],
                *([name, _plain(value)] for name, value in params if value is not None),
                ["everytree", __version__],
            ],
        },
    ]


def _plain(value: Any) -> str:
    return shown(prior_words(value)) if isinstance(value, Prior) else told(value)


def _data(model: Any, space: TreeSpace | None) -> list[list[str]]:
    rows: list[list[str]] = []
    target = model.label_name()
    if target is not None:
        rows.append(["target", shown(target)])
    total = n_examples(model, space)
    if total is not None:
        rows.append(["examples", f"{total:,}"])
    rows.append(["columns", str(model.n_features_in_)])
    if isinstance(model, TreeClassifierBase):
        local = model.binarizer_.columns_ is not None
        rows.append(
            ["tests that nodes choose from" if local else "tests", f"{len(model.binarizer_.tests_):,}"]
        )
    rows.append(["classes", str(len(model.classes_))])
    if space is not None:
        try:
            rows.append(["trees in the space", large(space.n_trees)])
            rows.append(["distinct rows of tests", f"{len(space.table.rows):,}"])
        except LimitReached:
            rows.append(["trees in the space", "too many to count in time"])
    if model.fingerprint() is not None:
        rows.append(["fingerprint of the table", f"{model.fingerprint()[:16]}…"])
    return rows


def n_examples(model: Any, space: TreeSpace | None) -> int | None:
    """Return the number of training examples, or None if the model does not know it."""
    if space is not None:
        return round(space.table.examples)
    counts = model.root_counts()
    return None if counts is None else round(float(counts.sum()))


def summary_of(model: Any, space: TreeSpace | None) -> str:
    """Write one sentence: what was done, on how many examples."""
    total = n_examples(model, space)
    return str(model.headline("" if total is None else f" on {total:,} examples"))
