"""The single tree that comes nearest to an ``EveryTreeClassifier``.

by decisions       the best tree of its depth: fewest examples decided otherwise than the average does without them,
                   with a price for each leaf; its accuracy is cross-validated, beside the average's
by probabilities   where that tree is one leaf, because the average says one class of almost every example: the tree
                   with the least Σ_i Σ_c (p_c(i) − mean of p_c in the leaf of i)², p said of i without it

The second is a search too: counted in fractions, an example is p_c of each class, and the Gini index of a leaf times
its examples, n − n Σ_c (mean of p_c)², is that sum but for a number that no tree changes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from everytree.common.account import Account
from everytree.data.asked import ColumnQuestions
from everytree.data.recipes.wanted import as_read
from everytree.data.table import Table
from everytree.estimators.decisions_without import decisions_without
from everytree.estimators.optimal import OptimalTreeClassifier
from everytree.estimators.screening import averaged_columns, chosen_by_labels
from everytree.export.form import Form
from everytree.export.methods import Exports
from everytree.trees import routes
from everytree.trees.portable import form_of_tree
from everytree.trees.tree import Tree

__all__ = ["NearestTree", "nearest_tree"]

Reals = npt.NDArray[np.float64]
FOLDS = 5
SECONDS = 2.0  # for each of the searches, of which there are six or seven
BINS = 10  # finer than those of the averages: a single tree cannot mend a coarse cut by another tree
PARTS = 1024  # of an example, that its probabilities are counted in
LEAF_SPREAD = 0.01  # the price of a leaf by probabilities: so much of their spread


@dataclass(frozen=True)
class NearestTree(Exports):
    """The one tree that comes nearest to an average over every tree; ``str()`` of it is text for people.

    Parameters
    ----------
    model : OptimalTreeClassifier
        The tree as it was searched; its leaves count the average's decisions, or its probabilities.
    agreement : float
        The share of training examples on which it decides as the average does without them.
    accuracy : float
        Its cross-validated accuracy: of trees found without the examples they are judged by, and so were the averages
        that these follow (the heaviest; of thousands of examples those of the model).
    average_accuracy : float
        The leave-one-out accuracy of the average.
    tree : Tree
        The tree itself: it says what the average says, and its numbers and probabilities are those of the true classes
        of the examples in its leaves. How often the average says a class there is no probability of that class.
    spread : float or None
        None for a tree that comes nearest by its decisions. For one that comes nearest by its probabilities, the share
        of the spread of the average's probabilities that its leaves have.
    too_good : bool
        Whether both accuracies are too good, because columns were chosen with the labels.
    """

    model: OptimalTreeClassifier
    agreement: float
    accuracy: float
    average_accuracy: float
    tree: Tree
    spread: float | None = None
    too_good: bool = False

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class that the average says in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels.
        """
        return np.asarray(self.tree.classes)[self.tree.says[self.tree.apply(self.model.to_tests(X))]]

    def predict_proba(self, X: Any) -> Reals:
        """Predict class probabilities: those of the true classes of the examples in the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of ``tree.classes``.
        """
        return self.tree.predict_proba(self.model.to_tests(X))

    def portable(self) -> Form:
        form = form_of_tree(self.tree, ColumnQuestions(self.model.binarizer_))
        return as_read(form, getattr(self.model, "recipes_", ()))

    def __str__(self) -> str:
        many = "1 leaf" if self.tree.n_leaves == 1 else f"{self.tree.n_leaves} leaves"
        if self.spread is not None:
            proved = "" if self.model.optimal_ else " (the best found in time)"
            return (
                "The average says the same class of almost every example, so the tree that follows its probabilities "
                f"is shown{proved}:\n{many} with {self.spread:.0%} of their spread. The numbers in it count the "
                f"examples:\n{self.tree.to_text()}"
            )
        proved = "" if self.model.optimal_ else " (not proved nearest: the time ended)"
        good = "; too good, as columns were chosen with the labels" if self.too_good else ""
        lost = self.average_accuracy - self.accuracy
        beside = (
            f"{lost:.1%} less often than the average"
            if lost >= 0.0005
            else "as often as the average, or more"
        )
        return (
            f"The nearest single tree{proved} has {many} and decides as the average does for "
            f"{self.agreement:.1%} of the examples.\nIt is right for {self.accuracy:.1%} of them "
            f"(cross-validated{good}), {beside}. The numbers in it count the examples:\n{self.tree.to_text()}"
        )


def nearest_tree(model: Any, max_depth: int, leaf_share: float, account: Account) -> NearestTree:
    """Find the nearest tree of an ``EveryTreeClassifier``, and judge it by cross-validation.

    ``account`` holds what the model does; a search that fills the rest ends with the best tree so far.
    """
    coded = model.coded_
    part = coded.only(averaged_columns(coded), BINS)
    table, entries = part.table, np.nonzero(coded.counts)
    # The table as rows and bits and its counts, those that vote with the rows they are of, what is said of entries.
    own = (
        3 * int(table.rows.nbytes)
        + 4 * int(table.class_counts.nbytes)
        + 3 * 8 * entries[0].size * table.n_classes
    )
    account.need(own, f"the tree nearest to {table.total} examples", "fit on fewer examples")
    search = Search(max_depth, None if model.memory_limit is None else max(1, account.left - own))
    rows, codes = part.place[entries[0]], entries[1]
    held, decided = coded.counts[entries], model.decided_
    counts = coded.examples(entries)

    def found(some: npt.NDArray[np.bool_], says: npt.NDArray[np.intp]) -> OptimalTreeClassifier:
        votes = np.zeros_like(table.class_counts)
        np.add.at(votes, (rows[some], says), held[some])
        price = leaf_share * float(counts[some].sum())
        return search.found(model, table, votes, table.per_example, float(counts[some].sum()), "error", price)

    everything = np.ones(len(codes), dtype=bool)
    whole = found(everything, decided)
    # Examples of one row and class stay together, and folds have about the shares of classes that there are.
    fold = np.empty(len(codes), dtype=np.intp)
    order = np.random.default_rng(0).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold[order] = np.arange(len(codes)) % FOLDS
    right = np.zeros(len(codes), dtype=bool)
    for k in range(FOLDS):
        inside = fold != k
        if not inside.any() or inside.all():
            right |= (fold == k) & (_says(whole, table)[rows] == codes)
            continue
        says = decisions_without(model, inside)
        # The tree has a table of its own, and goes before the next one is searched for.
        without = _says(found(inside, decided[inside] if says is None else says), table)
        right |= ~inside & (without[rows] == codes)
    agrees = _says(whole, table)[rows] == decided
    by_decisions = NearestTree(
        whole,
        float(np.average(agrees, weights=counts)),
        float(np.average(right, weights=counts)),
        float(np.average(decided == codes, weights=counts)),
        _with_true_counts(model, table, whole.tree_),
        too_good=chosen_by_labels(model.notes_),
    )
    said = getattr(model, "left_out_", None)
    if whole.tree_.n_leaves > 1 or max_depth == 0 or said is None:
        return by_decisions
    return _by_probabilities(model, table, rows, said, search, by_decisions)


def _by_probabilities(
    model: Any,
    table: Table,
    rows: npt.NDArray[np.intp],
    said: Reals,
    search: Search,
    otherwise: NearestTree,
) -> NearestTree:
    """Find the tree whose leaves are nearest to the average's probabilities; ``otherwise`` where none has a split."""
    entries = np.nonzero(model.coded_.counts)
    counts = model.coded_.examples(entries).astype(float)
    parts = np.rint(said * PARTS).astype(np.int64)
    votes = np.zeros_like(table.class_counts)
    np.add.at(votes, rows, parts * model.coded_.counts[entries][:, None])
    around = _squares(said, counts)
    if around <= 0:
        return otherwise
    found = search.found(
        model, table, votes, table.per_example * PARTS, float(counts.sum()), "gini", LEAF_SPREAD * around
    )
    if found.tree_.n_leaves == 1:
        return otherwise
    leaf = _leaves(found.tree_, table)[rows]
    inside = sum(_squares(said[leaf == node], counts[leaf == node]) for node in np.unique(leaf).tolist())
    agrees = _says(found, table)[rows] == model.decided_
    return NearestTree(
        found, float(np.average(agrees, weights=counts)), otherwise.accuracy, otherwise.average_accuracy,
        _with_true_counts(model, table, found.tree_), 1 - inside / around, otherwise.too_good,
    )  # fmt: skip


def _squares(said: Reals, counts: Reals) -> float:
    """Return the sum of squares around the mean."""
    mean = np.average(said, axis=0, weights=counts)
    return float(counts @ ((said - mean) ** 2).sum(axis=1))


class Search(NamedTuple):
    """How the tree is searched for: its depth, and the bytes that a search may take; None means any number."""

    max_depth: int
    memory_limit: int | None

    def found(
        self,
        model: Any,
        table: Table,
        votes: npt.NDArray[np.int64],
        per_example: int,
        total: float,
        cost: str,
        price: float,
    ) -> OptimalTreeClassifier:
        """Find the best tree for votes instead of classes."""
        used = votes.sum(axis=1) > 0
        some = slice(None) if used.all() else used  # without a copy of the rows
        part = Table.trusted(
            table.rows[some], votes[some], table.test_names, table.classes, columns=table.columns,
            per_example=per_example,
        ).encoded(table.binarizer, None)  # fmt: skip
        made = OptimalTreeClassifier(
            self.max_depth, max(1, int(total) // 100), minimize=(cost, "size"), leaf_penalty=price, bins=BINS,
            cuts="local", missing=model.missing, n_jobs=model.n_jobs, time_limit=SECONDS,
            memory_limit=self.memory_limit,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # ``optimal_`` says so, and so does the text.
            made.fit_table(part)
        space = made.tree_space()
        if self.memory_limit is not None and space is not None:
            space.forget_searches()  # one search after the other has the memory, not each of them beside the others
        # What is written of it asks columns as the average reads them.
        made.recipes_ = tuple(getattr(model, "recipes_", ()))
        return made


def _leaves(tree: Tree, table: Table) -> npt.NDArray[np.intp]:
    """Return the leaf of each row of the table that the tree was found over.

    The rows hold the outcomes of all tests: asked as new rows are, every cut of theirs would be coded again, which took
    half of the time where 100,000 rows have 5,000 cuts.
    """
    return routes.leaf_of_rows(table.rows, tree.children, tree.test)


def _says(found: OptimalTreeClassifier, table: Table) -> npt.NDArray[np.intp]:
    """Return the class, as a place among all classes of the table, that a tree says of each row."""
    labels = range(table.n_classes) if table.classes is None else table.classes
    place = {label: c for c, label in enumerate(labels)}
    known = np.array([place[label] for label in found.classes_.tolist()], dtype=np.intp)
    tree = found.tree_
    says: npt.NDArray[np.intp] = known[tree.says[_leaves(tree, table)]]
    return says


def _with_true_counts(model: Any, table: Table, tree: Tree) -> Tree:
    """Return a tree with the true classes of the examples in its leaves, and not what the average says."""
    coded = model.coded_
    counts = routes.counts_of_nodes(_leaves(tree, table), table.class_counts, tree.children.astype(np.int64))
    own = counts if coded.per_example == 1 else counts / coded.per_example
    # A class that the average never says is none of the tree's, but examples have it.
    place = {label: c for c, label in enumerate(coded.classes)}
    known = np.array([place[label] for label in (tree.classes or coded.classes)], dtype=np.intp)
    proba = (own + 1.0) / (own + 1.0).sum(axis=1, keepdims=True)
    return tree.replace(counts=own, proba=proba, classes=coded.classes, says=known[tree.says])
