"""What a model says about itself in words: one sentence for the head of the page, and its settings and results."""

from __future__ import annotations

from typing import Any

from everytree import __version__
from everytree.errors import LimitReached
from everytree.report.words import large, shown, told
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree

__all__ = ["about_tree", "facts_of", "summary_of"]

RESULTS = {
    "log_evidence_": "log evidence of every tree",
    "log_joint_": "log joint of the tree",
    "upper_bound_": "no tree has a larger log joint than",
    "error_": "training errors",
    "objective_": "objective",
    "lower_bound_": "no tree has a smaller objective than",
    "gap_": "gap",
    "optimal_": "proved best",
    "stop_reason_": "the work ended because",
    "bound_": "no probability is further from the average than",
    "n_rules_": "rules",
    "n_leaves_": "leaves",
    "n_states_": "states stored",
    "depth_": "depth of the trees averaged",
    "prior_": "prior in force",
    "dirichlet_": "Dirichlet in force",
}


def facts_of(model: Any, space: TreeSpace | None) -> list[dict[str, Any]]:
    """Settings, data and results, as groups of names and values."""
    names = [name for name in RESULTS if hasattr(model, name)]
    if not hasattr(model, "posterior_"):
        names = [name for name in names if name != "depth_"]
    results = [[RESULTS[name], told(getattr(model, name))] for name in names]
    params = sorted(model.get_params(deep=False).items())
    return [
        {"title": "Results of this model", "rows": results},
        {"title": "Data", "rows": _data(model, space)},
        {
            "title": "Settings",
            "rows": [
                ["estimator", type(model).__name__],
                *([name, told(value)] for name, value in params if value is not None),
                ["everytree", __version__],
            ],
        },
    ]


def _data(model: Any, space: TreeSpace | None) -> list[list[str]]:
    rows: list[list[str]] = []
    target = getattr(model, "target_name_", None)
    if target is not None:
        rows.append(["target", shown(target)])
    total = n_examples(model, space)
    if total is not None:
        rows.append(["examples", f"{total:,}"])
    rows.append(["columns", str(model.n_features_in_)])
    if hasattr(model, "binarizer_"):
        rows.append(["tests", str(len(model.binarizer_.tests_))])
    rows.append(["classes", str(len(model.classes_))])
    if space is not None:
        try:
            rows.append(["trees in the space", large(space.n_trees)])
            rows.append(["distinct rows of tests", f"{len(space.table.rows):,}"])
        except LimitReached:
            rows.append(["trees in the space", "too many to count in time"])
    if hasattr(model, "fingerprint_"):
        rows.append(["fingerprint of the table", f"{model.fingerprint_[:16]}…"])
    return rows


def n_examples(model: Any, space: TreeSpace | None) -> int | None:
    """Training examples, where the model knows."""
    if space is not None:
        return int(space.table.total)
    counts = getattr(getattr(model, "tree_", None), "counts", None)
    try:
        return None if counts is None else round(float(counts[0].sum()))
    except (IndexError, TypeError):
        return None


def about_tree(model: Any) -> str:
    """What the model's own tree is."""
    if hasattr(model, "draws_"):
        return "The best tree that any chain has visited."
    proved = getattr(model, "optimal_", None)
    if hasattr(model, "log_joint_") and proved is not None:
        found = "the most probable of all trees, proved" if proved else "the most probable tree found"
        return f"The tree of this model: {found}."
    if hasattr(model, "objective_") and proved is not None:
        found = "the best of all trees, proved" if proved else f"the best so far (gap {model.gap_:.1%})"
        return f"The tree of this model: {found}."
    return "The tree of this model."


def summary_of(model: Any, space: TreeSpace | None) -> str:
    """One sentence: what was done, on how much."""
    total = n_examples(model, space)
    on = "" if total is None else f" on {total:,} examples"
    name = type(model).__name__
    depth = getattr(model, "max_depth", None)
    limit = "any depth" if depth is None else f"depth at most {depth}"
    tree = getattr(model, "tree_", None)
    if name == "OptimalTreeClassifier" and isinstance(tree, Tree):
        best = "The best of all trees" if model.optimal_ else "The best tree so far"
        return f"{best} of {limit}: {tree.n_leaves} leaves, {tree.error} training errors{on}."
    if name == "MAPTreeClassifier" and isinstance(tree, Tree):
        best = "The most probable of all trees" if model.optimal_ else "The most probable tree so far"
        return f"{best} of {limit}: {tree.n_leaves} leaves{on}."
    if name == "BayesOptimalClassifier":
        return f"The average over every tree of {limit}, weighted by its posterior probability{on}."
    if hasattr(model, "draws_"):
        return f"The average over {len(model.draws_):,} trees drawn by Markov chains{on}."
    if name == "CompressedClassifier":
        return f"{model.n_rules_} rules that stay within {model.bound_:.3g} of the average over every tree."
    return f"{name}{on}."
