"""What an ``EveryTreeClassifier`` tells people: how sure it is, what matters, and the single tree that comes nearest.

labels of the tree    what the average says of each example without it
the tree              the best of all of its depth: fewest other decisions, with a price for each leaf
what is lost          accuracy of trees found without a fifth of the examples, on that fifth, beside the average's

"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from everytree.common.text import as_number
from everytree.data.local_columns import Reach
from everytree.data.table import Table
from everytree.estimators.optimal import OptimalTreeClassifier
from everytree.export.form import Form
from everytree.export.methods import Exports
from everytree.trees.tree import Tree

__all__ = ["NearestTree", "nearest_tree", "summary"]

Reals = npt.NDArray[np.float64]
FOLDS = 5
SECONDS = 2.0  # for each of the searches, of which there are six
MOST_NAMES = 6  # columns that are named of a member
BINS = 10  # finer than those of the averages: a single tree cannot mend a coarse cut by another tree


@dataclass(frozen=True)
class NearestTree(Exports):
    """The one tree that decides most like an average over every tree; ``str()`` of it is text for people.

    Parameters
    ----------
    model : OptimalTreeClassifier
        The tree as a classifier; its leaves hold the average's decisions.
    agreement : float
        The share of training examples on which it decides as the average does without them.
    accuracy : float
        Its cross-validated accuracy: of trees found without the examples they are judged by.
    average_accuracy : float
        The leave-one-out accuracy of the average.
    """

    model: OptimalTreeClassifier
    agreement: float
    accuracy: float
    average_accuracy: float

    @property
    def tree(self) -> Tree:
        """The tree itself."""
        return self.model.tree_

    def portable(self) -> Form:
        return self.model.portable()

    def __str__(self) -> str:
        proved = "" if self.model.optimal_ else " (not proved nearest: the time ended)"
        lost = self.average_accuracy - self.accuracy
        beside = f"{lost:.1%} less often than the average" if lost > 0 else "as often as the average, or more"
        return (
            f"The nearest single tree{proved} has {self.tree.n_leaves} leaves and decides as the average does for "
            f"{self.agreement:.1%} of the examples.\nIt is right for {self.accuracy:.1%} of them (cross-validated), "
            f"{beside}. The numbers in it count what the average says:\n{self.tree.to_text()}"
        )


def nearest_tree(model: Any, max_depth: int, leaf_share: float) -> NearestTree:
    """Find the nearest tree of an ``EveryTreeClassifier``, and judge it by cross-validation."""
    table = model.coded_.table(BINS)
    rows, codes = np.nonzero(table.class_counts)
    held, decided = table.class_counts[rows, codes], model.decided_
    counts = model.coded_.examples((rows, codes))
    n_classes = table.class_counts.shape[1]

    def found(some: npt.NDArray[np.bool_]) -> OptimalTreeClassifier:
        votes = np.zeros_like(table.class_counts)
        np.add.at(votes, (rows[some], decided[some]), held[some])
        used = votes.sum(axis=1) > 0
        part = Table.trusted(
            table.rows[used], votes[used], table.test_names, table.classes, columns=table.columns,
            per_example=table.per_example,
        ).encoded(table.binarizer, None)  # fmt: skip
        least = max(1, int(counts[some].sum()) // 100)
        made = OptimalTreeClassifier(
            max_depth, least, leaf_penalty=leaf_share * float(counts[some].sum()), bins=BINS, cuts="local",
            missing=model.missing, n_jobs=model.n_jobs, time_limit=SECONDS,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # ``optimal_`` says so, and so does the text.
            return made.fit_table(part)

    everything = np.ones(len(codes), dtype=bool)
    whole = found(everything)
    # Examples of one row and class stay together, and folds have about the shares of classes that there are.
    fold = np.empty(len(codes), dtype=np.intp)
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold[order] = np.arange(len(codes)) % FOLDS
    right = np.zeros(len(codes), dtype=bool)
    for k in range(FOLDS):
        inside = fold != k
        if not inside.any() or inside.all():
            right |= (fold == k) & (_says(whole, table, rows, n_classes) == codes)
            continue
        right |= ~inside & (_says(found(inside), table, rows, n_classes) == codes)
    agrees = _says(whole, table, rows, n_classes) == decided
    return NearestTree(
        whole,
        float(np.average(agrees, weights=counts)),
        float(np.average(right, weights=counts)),
        float(np.average(decided == codes, weights=counts)),
    )


def _says(
    found: OptimalTreeClassifier, table: Table, rows: npt.NDArray[np.intp], n_classes: int
) -> npt.NDArray[np.intp]:
    """Return the class, as a place among all classes, that a tree says of the row of each entry."""
    place = {label: c for c, label in enumerate(table.classes or range(n_classes))}
    known = np.array([place[label] for label in found.classes_.tolist()], dtype=np.intp)
    reach: Any = Reach.of_rows(table.rows)
    says: npt.NDArray[np.intp] = known[found._predict_codes_tests(reach)]
    return says[rows]


def summary(model: Any, top: int) -> str:
    """Return the text of ``EveryTreeClassifier.summary``."""
    n = as_number(model.coded_.total)
    lines = [
        f"Every tree, averaged: {n} examples, {len(model.classes_)} classes, {model.n_features_in_} columns.",
        f"How sure: the answer is right for {model.loo_accuracy_:.1%} of examples that are left out; always the "
        f"largest class: {model.baseline_accuracy_:.1%}.",
        f"Log-loss, left out: {model.loo_log_loss_:.3f} ± {model.loo_log_loss_error_:.3f}; always the class shares: "
        f"{model.baseline_log_loss_:.3f}.",
        f"The evidence of {len(model.models_)} averages is added up, each over every tree on some columns; most have:",
    ]
    heaviest = sorted(model.members_, key=lambda each: -each["weight"])
    lines += [f"  {_member(each, model.n_features_in_)}" for each in heaviest[: max(1, min(top, 3))]]
    lines.append("Columns, by the probability that a tree uses them:")
    used = sorted(model.attribute_inclusion().items(), key=lambda pair: -pair[1])
    lines += [f"  {share:6.1%}  {name}" for name, share in used[:top]]
    lines += [f"Note: {note}." for note in model.notes_]
    lines += ["", str(model.nearest_tree())]
    return "\n".join(lines)


def _member(member: dict[str, Any], n_columns: int) -> str:
    names = member["columns"]
    on = "all columns" if len(names) == n_columns > 1 else ", ".join(names[:MOST_NAMES]) or "no column"
    more = (
        f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES and len(names) != n_columns else ""
    )
    return f"weight {member['weight']:.2f}: {on}{more}, to depth {member['depth']}"
