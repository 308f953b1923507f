"""A fitted classifier in a notebook cell: its tree, posterior or rules, below the box that scikit-learn draws."""

from __future__ import annotations

from html import escape
from typing import Any

from everytree.bayes.average import AveragedPosterior
from everytree.bayes.card import posterior_html
from everytree.bayes.posterior import Posterior
from everytree.draw.svg import tree_to_html
from everytree.errors import EverytreeError
from everytree.trees.tree import Tree

__all__ = ["estimator_html"]


def estimator_html(model: Any) -> str:
    """Return what a fitted classifier adds to the box that scikit-learn draws of it; nothing before it is fitted."""
    known = vars(model)
    tree, posterior, rules = known.get("tree_"), known.get("posterior_"), known.get("rules_")
    if isinstance(posterior, AveragedPosterior):
        posterior = posterior.best  # This is the part of most weight.
    try:
        if isinstance(tree, Tree):
            return tree_to_html(tree)
        if isinstance(posterior, Posterior):
            return posterior_html(posterior)
        text = tree.to_text() if tree is not None else "" if rules is None else str(rules)
    except EverytreeError as error:  # A picture that fails must not hide the model.
        text = f"no picture: {error}"
    lines = text.splitlines()
    if not lines:
        return ""
    rest = f"\n… {len(lines) - 40} more lines" if len(lines) > 40 else ""
    return f'<pre style="overflow-x: auto;">{escape(chr(10).join(lines[:40]) + rest)}</pre>'
