"""What a fitted classifier tells of itself: all that the command line, pages and pictures ask of any classifier.

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
from everytree.estimators.row_paths import ReachedLeaf, RowExplanation
from everytree.space.tree_space import TreeSpace
from everytree.trees.added import added_words
from everytree.weights.dirichlet import DepthDecay, dirichlet_rows

__all__ = ["Fact", "FittedModel", "Picture", "depth_words"]

# tree: of 0/1 tests; multiway, path, options: on whole columns; average: over every tree; rules: a sum of them
Picture = Literal["tree", "multiway", "path", "options", "average", "rules", "text"]


class Fact(NamedTuple):
    """A fitted number with its label on a terminal, and on a page; None where it is not told there."""

    name: str
    value: Any
    short: str | None
    long: str | None


# fitted attribute -> its labels
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
    "depth_": ("depth", None),
    "n_leaves_": ("leaves", "leaves"),
    "n_nodes_": ("nodes", None),
    "stop_reason_": ("ended", "the work ended because"),
    "n_states_": ("states", "states stored"),
}


def depth_words(depth: int | None) -> str:
    """
    >>> depth_words(3), depth_words(None)
    ('depth at most 3', 'any depth')
    """
    return "any depth" if depth is None else f"depth at most {depth}"


class FittedModel(ABC):
    """The answers of a classifier with one tree, or with nothing to tell."""

    AVERAGES: ClassVar[bool] = False  # over many trees: then it says the most probable class
    INTERVALS: ClassVar[bool] = False  # whether there is ``predict_interval``
    PAPER: ClassVar[str | None] = None  # of ``report.cite``

    classes_: npt.NDArray[Any]
    n_features_in_: int

    def _known(self, name: str) -> Any:
        """A fitted attribute, or None where this model has none."""
        return vars(self).get(name)

    # --- columns

    def column_names(self) -> list[str]:
        """The columns of training; x0, x1, … where they had no names."""
        names = self._known("feature_names_in_")
        return (
            [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(each) for each in names]
        )

    def column_kinds(self) -> dict[str, Expected]:
        """For every column of training, in order: numeric, nominal (text), boolean, or any (0/1 or true/false)."""
        check_is_fitted(self)
        return dict(zip(self.column_names(), self._kinds(), strict=True))

    def _kinds(self) -> list[Expected]:
        """The kinds of the columns, in order."""
        return ["any"] * self.n_features_in_

    def label_name(self) -> str | None:
        """The name of the column with the labels, if it had one."""
        name: str | None = self._known("target_name_")
        return name

    # --- what was found

    def facts(self) -> list[Fact]:
        """Results of the fit, in the order in which they are told."""
        return [
            Fact(name.removesuffix("_"), self._known(name), short, long)
            for name, (short, long) in LABELS.items()
            if name in vars(self)
        ]

    def headline(self, on: str) -> str:
        """One sentence: what was done; ``on`` is how much it was done on, such as " on 150 examples"."""
        return f"{type(self).__name__}{on}."

    def about_tree(self) -> str:
        """What the tree of the model is, in a sentence."""
        return "The tree of this model."

    def mean_leaves(self) -> float:
        """The number of leaves; of an average over trees the expected one; NaN where nobody knows."""
        own = self._known("n_leaves_")
        if own is None and self._known("tree_") is not None:
            own = self._known("tree_").n_leaves
        return math.nan if own is None else float(own)

    def root_counts(self) -> npt.NDArray[Any] | None:
        """The examples of each class at the root of the tree, where there is one."""
        tree = self._known("tree_")
        return None if tree is None else np.asarray(tree.counts[0])

    def fingerprint(self) -> str | None:
        """The fingerprint of the training table; None where the model stands on whole columns."""
        found: str | None = getattr(self, "fingerprint_", None)  # computed when asked for
        return found

    # --- the trees behind it

    def tree_space(self) -> Any:
        """The space of trees that the model has at hand, or None."""
        return self._known("space_")

    def space_over(self, table: Table) -> TreeSpace | None:
        """That space made again from the training table; None where the model is no tree of such a space."""
        return None

    def in_force(self) -> dict[str, Any]:
        """The prior and the Dirichlet parameters in force, where there are any: keywords of ``TreeSpace.posterior``."""
        own = {"prior": self._known("prior_"), "dirichlet": self._known("dirichlet_")}
        return {} if own["prior"] is None else own

    # --- leaves

    def added(self) -> str | None:
        """What stands between the counts of a leaf and its probabilities, in words; None where that is nothing."""
        if "dirichlet_" not in vars(self) and "dirichlet" not in vars(self):
            return None
        tree = self._known("tree_")
        depth = (self._known("depth_") or 0) if tree is None else tree.depth
        return added_words(self.dirichlet_by_depth(int(depth)))

    def dirichlet_by_depth(self, depth: int) -> list[list[float]]:
        """The Dirichlet parameters behind the probabilities of leaves, by depth."""
        given = vars(self).get("dirichlet_", vars(self).get("dirichlet", 1.0))
        if isinstance(given, str) and given == "decay":
            given = DepthDecay()
        return dirichlet_rows(tuple(given) if isinstance(given, list) else given, len(self.classes_), depth)

    def explain_row(self, x: Any, top: int = 10) -> Any:
        """Why the model says what it says of the one row ``x``, a table of one row: the leaves behind it."""
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
        )

    @abstractmethod
    def answers(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Labels and probabilities of the same rows."""

    def _reached(self, x: Any) -> Iterable[ReachedLeaf]:
        """The leaves that one row reaches; their weights sum to one."""
        raise QueryError(f"a {type(self).__name__} has no trees to follow; explain a model of another method")

    # --- pictures

    def display(self) -> Picture:
        """What shows the model best."""
        return "text"

    def as_text(self) -> str:
        """The model as text: its tree, or what stands for it."""
        tree = self._known("tree_")
        return repr(self) if tree is None else str(tree.to_text())

    def page_options(self) -> dict[str, Any]:
        """How a page walks the tree, beyond what the tree tells."""
        return {}

    def front_options(self) -> dict[str, Any]:
        """The keywords of ``TreeSpace.front`` under which the model was found, and its cost."""
        return {"cost": "error"}
