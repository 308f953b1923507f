"""The base of classifiers that are one tree on whole columns, with no 0/1 tests between: what saving needs of them.

A new one sets three things in its ``fit`` and gets ``save`` and ``load_model`` for it:

    _reader     a ``ColumnReader``, which turns the columns of a frame into what the tree asks about
    tree_       a tree with ``to_dict()`` and ``from_dict(data, columns, classes)``, of the class ``TREE``
    CLAIMS      the names of those fitted attributes that are numbers, texts or lists of numbers
    LATER_CLAIMS   those that are numbers or None, and that files of earlier versions do not have

and, if some attributes follow from the tree, ``describe_tree``, which sets them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

import everytree._core as _core
from everytree.data.columns import ColumnReader
from everytree.data.frames import Frame, check_columns, read_frame
from everytree.data.row_counts import check_classes
from everytree.estimators.base import ClassifierBase
from everytree.estimators.column_kinds import Expected, kind_of
from everytree.estimators.importances import shares_of_multiway
from everytree.estimators.protocol import Picture
from everytree.estimators.row_paths import ReachedLeaf, leaves_of_multiway
from everytree.files.column_trees import raw_columns_from_json, raw_columns_to_json, save_column_tree

__all__ = ["ColumnTreeClassifier"]


class ColumnTreeClassifier(ClassifierBase):
    """A classifier whose answer is one tree on whole columns."""

    TREE: ClassVar[Any]
    CLAIMS: ClassVar[tuple[str, ...]] = ()
    LATER_CLAIMS: ClassVar[tuple[str, ...]] = ()

    tree_: Any
    _reader: ColumnReader

    def save(self, path: str | os.PathLike[str], target: str | None = None) -> None:
        """Write the fitted classifier to a JSON file that ``everytree.load_model`` reads.

        The file replaces an older one in one step; it is never half written.

        Parameters
        ----------
        path : str or os.PathLike
            Where the file goes.
        target : str, optional
            The name of the label's column in the data; by default the name that ``y`` had in training.
        """
        save_column_tree(self, path, target)

    @staticmethod
    def _check_room(frame: Frame, control: _core.Control) -> None:
        """Look at the limits before the columns are read: as arrays, and once more as the core has them."""
        control.check()
        control.check_memory(16 * frame.n_rows * len(frame.columns))

    @staticmethod
    def _classes(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
        """Return the classes in order, and the place of each label among them."""
        classes, codes = np.unique(labels, return_inverse=True)
        check_classes(len(classes), len(labels))
        return classes, codes

    def _frame(self, X: Any) -> Frame:
        """Return new rows, after checking their columns against those of training."""
        check_is_fitted(self)
        frame = read_frame(X, self)
        check_columns(self, frame, reset=False)
        return frame

    def columns_to_json(self) -> list[dict[str, Any]]:
        """Give what training told about the columns, for a model file.

        Returns
        -------
        list of dict
            One for each column, in order: plain texts and numbers.
        """
        return raw_columns_to_json(self._reader.columns)

    def columns_from_json(self, data: Any) -> Sequence[Any]:
        """Set again what reads the columns, after reading a model file.

        Parameters
        ----------
        data : list of dict
            What ``columns_to_json`` gave; everything in it is checked.

        Returns
        -------
        sequence
            The columns as ``from_dict`` of the tree wants them.
        """
        self._reader = ColumnReader(tuple(raw_columns_from_json(data)))
        return self._reader.columns

    # --- what it reports of itself, as a ``MultiwayTree`` does

    def _kinds(self) -> list[Expected]:
        return [
            "numeric" if each.kind == "numeric" else kind_of(each.values) for each in self._reader.columns
        ]

    def known_values(self) -> dict[str, list[Any]]:
        return {each.name: list(each.values) for each in self._reader.columns if each.kind == "nominal"}

    def _reached(self, x: Any) -> Iterable[ReachedLeaf]:
        return leaves_of_multiway(self.tree_, self._reader.cells(read_frame(x, self)))

    def _importances(self) -> npt.NDArray[np.float64] | None:
        return shares_of_multiway(self.tree_, self.n_features_in_)

    def display(self) -> Picture:
        return "multiway"

    def exponent_claims(self) -> tuple[str, ...]:
        """Return the fitted numbers that files hold only where probabilities are calibrated; by default none.

        Returns
        -------
        tuple of str
            Their names.
        """
        return ()

    def finish_loading(self) -> None:
        """Check what a model file says beyond its tree, after its parameters, tree and claims were read."""

    def describe_tree(self) -> None:
        """Set the fitted attributes that follow from ``tree_``: after growing it, and after reading it from a file."""
