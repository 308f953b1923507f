"""TreeMean: several option trees whose predictions are averaged with equal weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.fields import checked_fields
from everytree.common.text import clip
from everytree.data.columns import RawColumn
from everytree.errors import DataError
from everytree.trees.option_tree import OptionTree

__all__ = ["TreeMean"]

Floats = npt.NDArray[np.float64]


class TreeMean:
    """Several option trees whose predictions are averaged with equal weights.

    It is the ``tree_`` of a classifier that grew more than one tree.

    Parameters
    ----------
    trees : sequence of OptionTree
        One or more option trees over the same columns and classes; the attribute ``trees`` keeps them.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [["sunny"], ["rain"], ["sunny"], ["rain"]] * 3, ["no", "yes", "no", "yes"] * 3
    >>> tree = et.SmoothedTreeClassifier().fit(X, y).tree_
    >>> TreeMean([tree, tree])
    TreeMean(2 trees, 6 nodes)
    """

    def __init__(self, trees: Sequence[OptionTree]) -> None:
        self.trees = tuple(trees)

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees together."""
        return sum(tree.n_nodes for tree in self.trees)

    @property
    def counts(self) -> Any:
        """The class counts of the nodes of the first tree; at its root they are those of all examples."""
        return self.trees[0].counts

    @property
    def n_options(self) -> int:
        """The number of options of all trees together."""
        return sum(tree.n_options for tree in self.trees)

    @property
    def n_leaves(self) -> int:
        """The number of leaves of all trees together."""
        return sum(tree.n_leaves for tree in self.trees)

    @property
    def depth(self) -> int:
        """The number of tests on the longest path of any of the trees."""
        return max(tree.depth for tree in self.trees)

    @property
    def log_evidence(self) -> float:
        """The mean of the log evidences of the trees."""
        return float(np.mean([tree.log_evidence for tree in self.trees]))

    @property
    def columns(self) -> tuple[RawColumn, ...]:
        """The columns (``RawColumn``), the same of every tree."""
        return self.trees[0].columns

    @property
    def dirichlet(self) -> list[list[float]]:
        """The Dirichlet parameters of the classes in the first tree, one list for each depth."""
        return self.trees[0].dirichlet

    def predict_columns(self, data: _core.Columns, control: _core.Control) -> Floats:
        """Predict the classes of rows that were read as in training: the mean over the trees.

        Parameters
        ----------
        data : Columns
            The rows as the core holds them, see ``ColumnReader.read``.
        control : Control
            The limits of the core, see ``Limits.control``.

        Returns
        -------
        numpy.ndarray
            One row of class probabilities for each row.
        """
        first, *others = (tree.predict_columns(data, control) for tree in self.trees)
        mean: Floats = sum(others, first) / len(self.trees)
        return mean

    def to_text(self, max_depth: int | None = None, precision: int = 3) -> str:
        """Write the trees as indented text, one after the other.

        Parameters
        ----------
        max_depth : int, optional
            The depth below which the text says "etc."; by default all is shown.
        precision : int, default 3
            The number of digits of probabilities.

        Returns
        -------
        str
            The texts, with an empty line between them.
        """
        return "\n\n".join(tree.to_text(max_depth, precision) for tree in self.trees)

    def to_dict(self) -> dict[str, Any]:
        """Write the trees as plain lists, texts and numbers that JSON can hold.

        Returns
        -------
        dict
            What `from_dict` reads back exactly.
        """
        return {
            "format": "everytree.tree_mean",
            "version": 1,
            "trees": [tree.to_dict() for tree in self.trees],
        }

    @classmethod
    def from_dict(
        cls, data: Any, columns: Sequence[RawColumn], classes: Sequence[Any]
    ) -> TreeMean | OptionTree:
        """Read what `to_dict` wrote, of several trees or of one.

        Parameters
        ----------
        data : dict
            What `to_dict` of `TreeMean` or of `OptionTree` returned.
        columns : sequence of RawColumn
            The columns that the options test.
        classes : sequence
            The labels of the classes.

        Returns
        -------
        TreeMean or OptionTree
            The mean of several trees, or the one tree.

        Raises
        ------
        DataError
            If the dict is neither; the message names the field.
        """
        if not isinstance(data, dict) or data.get("format") != "everytree.tree_mean":
            return OptionTree.from_dict(data, columns, classes)
        data = checked_fields(data, "everytree.tree_mean", 1, ("format", "version", "trees"), "mean of trees")
        if not isinstance(data["trees"], list) or not data["trees"]:
            raise DataError(f"trees is {clip(data['trees'])}; expected a list of one or more trees")
        return cls([OptionTree.from_dict(tree, columns, classes) for tree in data["trees"]])

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same trees in the same order."""
        return self.trees == other.trees if isinstance(other, TreeMean) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.trees)

    def __repr__(self) -> str:
        return f"TreeMean({len(self.trees)} trees, {self.n_nodes} nodes)"

    def __str__(self) -> str:
        return self.to_text()
