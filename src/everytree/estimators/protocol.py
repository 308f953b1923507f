"""What a fitted classifier reports of itself: all that the command line, pages and pictures ask of any classifier.

    column_kinds()    which kinds of columns it expects             column_names(), label_name()   what they are called
    facts()           results with a label each                     headline(on), about_tree()     sentences
    explain_row(x)    why it says what it says of one row           added()                        what leaves add
    display()         which picture shows it                        as_text()                      the model as text
    tree_space()      the space of trees that it knows, or None     mean_leaves()                  its size

Every method has an answer here that suits a classifier with a ``tree_``, or with nothing to tell; a classifier that
knows better overrides it. So no one asks what attributes a model has, and a new classifier is shown like the others.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree.common.arguments import whole
from everytree.data.frames import read_frame
from everytree.data.table import Table
from everytree.errors import DataError, QueryError
from everytree.estimators.column_kinds import Expected
from everytree.estimators.registry import methods
from everytree.estimators.row_paths import ReachedLeaf, RowExplanation
from everytree.space.tree_space import TreeSpace
from everytree.trees.added import added_words
from everytree.weights.dirichlet import DepthDecay, dirichlet_rows

__all__ = ["Fact", "FittedModel", "Picture", "depth_words"]

# A "tree" has 0/1 tests; "multiway", "path" and "options" are trees on whole columns; "average" is over every tree, and
# "rules" are a sum that stands for it.
Picture = Literal["tree", "multiway", "path", "options", "average", "rules", "text"]


class Fact(NamedTuple):
    """A fitted number with its labels.

    Parameters
    ----------
    name : str
        The attribute, without the underscore at its end.
    value : object
        Its value.
    short : str or None
        Its label on a terminal; None where it is not shown there.
    long : str or None
        Its label on a page; None where it is not shown there.
    """

    name: str
    value: Any
    short: str | None
    long: str | None


# Each fitted attribute has a label for a terminal and one for a page.
LABELS: dict[str, tuple[str | None, str | None]] = {
    "objective_": ("objective", "objective"),
    "optimal_": ("proved optimal", "proved best"),
    "lower_bound_": ("lower bound", "no tree has a smaller objective than"),
    "gap_": ("gap", "gap"),
    "error_": (None, "training errors"),
    "log_evidence_": ("log evidence", "log evidence of every tree"),
    "log_joint_": ("log joint", "log joint of the tree"),
    "upper_bound_": ("upper bound of the log joint", "no tree has a larger log joint than"),
    "prior_": ("prior", "prior in force"),
    "dirichlet_": ("dirichlet", "Dirichlet in force"),
    "exponent_": ("exponent", "exponent of the probabilities"),
    "loo_log_loss_": ("left-out log-loss", "leave-one-out log-loss before the exponent"),
    "calibrated_loo_log_loss_": ("with the exponent", "leave-one-out log-loss with it"),
    "cv_log_loss_": ("cross-validated log-loss", "cross-validated log-loss before the exponent"),
    "calibrated_cv_log_loss_": ("cross-validated, with the exponent", "cross-validated log-loss with it"),
    "depth_": ("depth", None),
    "n_leaves_": ("leaves", "leaves"),
    "n_nodes_": ("nodes", None),
    "stop_reason_": ("ended", "the work ended because"),
    "n_states_": ("states", "states stored"),
}


def depth_words(depth: int | None) -> str:
    """Return a limit of the depth in words.

    >>> depth_words(3), depth_words(None)
    ('depth at most 3', 'any depth')
    """
    return "any depth" if depth is None else f"depth at most {depth}"


class FittedModel(ABC):
    """What every fitted classifier can be asked; here are the answers of one with a tree, or with nothing to report."""

    AVERAGES: ClassVar[bool] = (
        False  # True for an average over many trees, which decides by its probabilities.
    )
    INTERVALS: ClassVar[bool] = False  # True where there is ``predict_interval``.
    PAPER: ClassVar[str | None] = None  # The paper that ``report.cite`` names for the method.

    classes_: npt.NDArray[Any]
    n_features_in_: int

    def _known(self, name: str) -> Any:
        """Return a fitted attribute, or None where this model has none."""
        return vars(self).get(name)

    # --- columns

    def column_names(self) -> list[str]:
        """Return the names of the columns of training.

        Returns
        -------
        list of str
            The names; x0, x1, … where the columns had none.
        """
        names = self._known("feature_names_in_")
        return (
            [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(each) for each in names]
        )

    def column_kinds(self) -> dict[str, Expected]:
        """Return what kind of values every column of training has.

        Returns
        -------
        dict of str to str
            By the name of the column, in order: numeric, nominal (text), boolean, or any (0/1 or true/false).
        """
        check_is_fitted(self)
        return dict(zip(self.column_names(), self._kinds(), strict=True))

    def _kinds(self) -> list[Expected]:
        """Return the kinds of the columns, in order."""
        return ["any"] * self.n_features_in_

    def known_values(self) -> dict[str, list[Any]]:
        """Return the values of text columns that were in training.

        Returns
        -------
        dict of str to list
            By the name of the column; columns of numbers are not there.
        """
        parts = self._known("models_")  # A mixture knows what its parts do.
        return parts[0].known_values() if parts else {}

    def label_name(self) -> str | None:
        """Return the name of the column with the labels, if it had one.

        Returns
        -------
        str or None
            The name.
        """
        name: str | None = self._known("target_name_")
        return name

    # --- what was found

    def facts(self) -> list[Fact]:
        """Return the results of the fit, in the order in which they are shown.

        Returns
        -------
        list of Fact
            The results with their labels.
        """
        return [
            Fact(name.removesuffix("_"), self._known(name), short, long)
            for name, (short, long) in LABELS.items()
            if name in vars(self)
        ]

    def headline(self, on: str) -> str:
        """Return one sentence that says what was done.

        Parameters
        ----------
        on : str
            How much it was done on, such as " on 150 examples".

        Returns
        -------
        str
            The sentence.
        """
        known = [each.about for each in methods().values() if each.made is type(self)]
        what = known[0] if known else type(self).__name__
        return f"{what[0].upper()}{what[1:]}{on}."

    def about_tree(self) -> str:
        """Return one sentence that says what the tree of the model is.

        Returns
        -------
        str
            The sentence.
        """
        return "The tree of this model."

    def mean_leaves(self) -> float:
        """Return the number of leaves, or the expected number for an average over trees.

        Returns
        -------
        float
            The number; NaN where the model does not know it.
        """
        own = self._known("n_leaves_")
        if own is None and self._known("tree_") is not None:
            own = self._known("tree_").n_leaves
        return math.nan if own is None else float(own)

    def root_counts(self) -> npt.NDArray[Any] | None:
        """Return the examples of each class at the root of the tree, where there is one.

        Returns
        -------
        ndarray of shape (n_classes,) or None
            The counts.
        """
        tree = self._known("tree_")
        return None if tree is None else np.asarray(tree.counts[0])

    def fingerprint(self) -> str | None:
        """Return the fingerprint of the training table.

        Returns
        -------
        str or None
            The fingerprint; None where the model stands on whole columns.
        """
        found: str | None = getattr(self, "fingerprint_", None)  # It is computed when asked for.
        return found

    @property
    def feature_importances_(self) -> npt.NDArray[np.float64]:
        """How much each column matters, in the order of the columns of training.

        For a single tree (``OptimalTreeClassifier``, ``MAPTreeClassifier``, ``C45TreeClassifier``,
        ``CARTTreeClassifier``, ``PathAverageTreeClassifier``) the share of the column in the total decrease of Gini's
        impurity on the training examples, as in scikit-learn: the shares sum to 1, and are all 0 for a single leaf.

        For an average over trees (``BayesOptimalClassifier``, ``MCMCTreeClassifier``, ``SmoothedTreeClassifier``,
        ``OptionTreeClassifier``) the probability that a tree of the average uses the column: exact, except for
        ``MCMCTreeClassifier``, which counts its draws. These do not sum to 1.
        """
        check_is_fitted(self)
        found = self._importances()
        if found is None:
            raise AttributeError(
                f"this {type(self).__name__} has no feature_importances_; it does not hold whole trees"
            )
        return found

    def _importances(self) -> npt.NDArray[np.float64] | None:
        """Return ``feature_importances_``, or None where this model has none."""
        return None

    # --- the trees behind it

    def tree_space(self) -> Any:
        """Return the space of trees that the model has at hand.

        Returns
        -------
        TreeSpace or None
            The space; None where there is none.
        """
        return self._known("space_")

    def space_over(self, table: Table) -> TreeSpace | None:
        """Return the space of trees of this model, made again from its training table.

        Parameters
        ----------
        table : Table
            The table of training examples.

        Returns
        -------
        TreeSpace or None
            The space; None where the model is no tree of such a space.
        """
        return None

    def in_force(self) -> dict[str, Any]:
        """Return the prior and the Dirichlet parameters that the model was computed with.

        Returns
        -------
        dict
            Keywords of ``TreeSpace.posterior``; empty where the model has no prior.
        """
        own = {"prior": self._known("prior_"), "dirichlet": self._known("dirichlet_")}
        power = getattr(self, "power_", vars(self).get("power", 1.0))  # Left-out examples may have chosen it.
        if power != 1:
            own["power"] = power
        return {} if own["prior"] is None else own

    # --- leaves

    def added(self) -> str | None:
        """Return in words what is added to the counts of a leaf to make its probabilities.

        Returns
        -------
        str or None
            The words; None where nothing is added.
        """
        if "dirichlet_" not in vars(self) and "dirichlet" not in vars(self):
            return None
        tree = self._known("tree_")
        depth = (self._known("depth_") or 0) if tree is None else tree.depth
        return added_words(self.dirichlet_by_depth(int(depth)))

    def dirichlet_by_depth(self, depth: int) -> list[list[float]]:
        """Return the Dirichlet parameters behind the probabilities of leaves.

        Parameters
        ----------
        depth : int
            The deepest leaf.

        Returns
        -------
        list of list of float
            For each depth one number per class.
        """
        given = vars(self).get("dirichlet_", vars(self).get("dirichlet", 1.0))
        if isinstance(given, str) and given == "decay":
            given = DepthDecay()
        tree = self._known("tree_")  # Base rates are those of its root.
        totals = None if tree is None else tree.counts[0]
        return dirichlet_rows(
            tuple(given) if isinstance(given, list) else given, len(self.classes_), depth, totals
        )

    def explain_row(self, x: Any, top: int = 10) -> Any:
        """Explain the prediction of one row by the leaves that it reaches.

        Parameters
        ----------
        x : array-like
            A table of one row.
        top : int
            How many leaves to show.

        Returns
        -------
        RowExplanation or Explanation
            The leaves with their weights; it prints as text.

        Raises
        ------
        DataError
            If ``x`` is not one row.
        """
        check_is_fitted(self)
        top = whole("top", top, 1)
        if read_frame(x).n_rows != 1:
            raise DataError(f"x has {read_frame(x).n_rows} rows; expected one, such as X[:1] or X.iloc[[3]]")
        leaves = sorted(self._reached(x), key=lambda leaf: -leaf.weight)
        said, proba = self.answers(x)
        shown = tuple(leaves[:top])
        covered = min(1.0, sum(leaf.weight for leaf in shown))
        return RowExplanation(
            tuple(self.classes_.tolist()),
            said.tolist()[0],
            tuple(proba[0].tolist()),
            shown,
            covered,
            self.added(),
            vars(self).get("exponent_", 1.0),
        )

    @abstractmethod
    def answers(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return labels and probabilities of the same rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            What ``predict`` says of each row.
        proba : ndarray of shape (n_rows, n_classes)
            What ``predict_proba`` says of each row.
        """

    def _reached(self, x: Any) -> Iterable[ReachedLeaf]:
        """Return the leaves that one row reaches; their weights sum to one."""
        raise QueryError(f"a {type(self).__name__} has no trees to follow; explain a model of another method")

    # --- pictures

    def display(self) -> Picture:
        """Return which picture shows the model best.

        Returns
        -------
        str
            The kind of picture.
        """
        return "text"

    def as_text(self) -> str:
        """Return the model as text: its tree, or what stands for it.

        Returns
        -------
        str
            The text.
        """
        tree = self._known("tree_")
        return repr(self) if tree is None else str(tree.to_text())

    def page_options(self) -> dict[str, Any]:
        """Return how a page walks the tree, beyond what the tree itself says.

        Returns
        -------
        dict
            The options.
        """
        return {}

    def front_options(self) -> dict[str, Any]:
        """Return the keywords of ``TreeSpace.front`` under which the model was found, and its cost.

        Returns
        -------
        dict
            The keywords.
        """
        return {"cost": "error"}
