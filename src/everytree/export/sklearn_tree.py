"""scikit-learn's own tree: a fitted ``DecisionTreeClassifier`` with our nodes, so that its tools work on them.

``export_text``, ``plot_tree``, dtreeviz and SHAP's ``TreeExplainer`` then show this tree. Where text, or numbers that
are codes, are asked about, it is a pipeline: ``QuestionColumns`` makes columns of 0 and 1 of these questions, and the
tree, its last step, reads them. scikit-learn's trees read numbers as float32, and so does this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from everytree.errors import DataError, QueryError
from everytree.export.form import Condition, Form, TreeForm

__all__ = ["QuestionColumns", "classifier"]

Reals = npt.NDArray[np.float64]


class QuestionColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns of numbers as they are, and a column of 0 and 1 for each question about another column.

    Parameters
    ----------
    names : sequence of str
        The names of the columns of the data.
    asked : sequence of (int, Condition or None)
        For each column that comes out, the position of a column of the data, and a question about it; None for the
        numbers themselves.
    """

    def __init__(self, names: Sequence[str], asked: Sequence[tuple[int, Condition | None]]) -> None:
        self.names = names
        self.asked = asked

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: all is known from the model.

        Parameters
        ----------
        X : object
            Not used.
        y : object, optional
            Not used.

        Returns
        -------
        QuestionColumns
            This transformer.
        """
        return self

    def transform(self, X: Any) -> Reals:
        """Make the columns that the tree reads.

        Parameters
        ----------
        X : data frame, or array of shape (n_rows, n_columns)
            Rows of the data; columns of a frame are found by their names.

        Returns
        -------
        ndarray of shape (n_rows, n_asked)
            Numbers, and 0 or 1.
        """
        named = hasattr(X, "columns")
        if not named:
            X = np.asarray(X, dtype=object)
            if X.ndim != 2 or X.shape[1] != len(self.names):
                raise DataError(
                    f"X has shape {X.shape}; expected a column for each of {len(self.names)} names"
                )
        made = np.empty((len(X), len(self.asked)))
        for k, (field, condition) in enumerate(self.asked):
            values = np.asarray(X[self.names[field]] if named else X[:, field], dtype=object).tolist()
            gone = [value is None or value != value or type(value).__name__ == "NAType" for value in values]
            if condition is None:
                made[:, k] = [np.nan if no else float(x) for x, no in zip(values, gone, strict=True)]
            else:
                made[:, k] = [condition.holds(None if no else x) for x, no in zip(values, gone, strict=True)]
        return made

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the name of each column that comes out.

        Parameters
        ----------
        input_features : object, optional
            Not used.

        Returns
        -------
        ndarray of str
            The names of columns, and what is asked about them.
        """
        return np.array(
            [_name(self.names[field], condition) for field, condition in self.asked], dtype=object
        )


def classifier(form: Form) -> Any:
    """Return a ``DecisionTreeClassifier``, or a pipeline that ends with one."""
    if not isinstance(form, TreeForm):
        raise QueryError(
            "scikit-learn has no sum of rules; the most probable tree (MAPTreeClassifier) can be written"
        )
    for at, node in enumerate(form.nodes):
        if node.condition is None and node.proba[node.says] < max(node.proba):
            raise QueryError(
                f"leaf {at} predicts {form.classes[node.says]!r}, which is not the most probable "
                "class, and scikit-learn's tree always predicts the most probable one; use another language"
            )
    plain = all(field.kind != "text" for field in form.fields)
    plain = plain and all(condition.op != "==" for condition in form.conditions())
    asked: list[tuple[int, Condition | None]] = [(k, None) for k in range(len(form.fields))]
    if not plain:
        asked = []
        for condition in form.conditions():
            direct = form.fields[condition.field].kind != "text" and condition.op != "=="
            entry = (condition.field, None if direct else condition)
            if entry not in asked:
                asked.append(entry)
        if not asked:
            asked = [(0, Condition(0, "missing"))]  # A tree without questions still wants a column.
    names = [field.name for field in form.fields]
    columns = QuestionColumns(names, asked)
    tree = _tree(form, {entry: k for k, entry in enumerate(asked)})
    tree.feature_names_in_ = columns.get_feature_names_out()
    if plain:
        return tree
    from sklearn.pipeline import Pipeline

    del tree.feature_names_in_  # what comes out of the first step is an array
    return Pipeline([("columns", columns), ("tree", tree)])


def _tree(form: TreeForm, place: dict[tuple[int, Condition | None], int]) -> Any:
    from sklearn.tree import DecisionTreeClassifier
    from sklearn.tree._tree import NODE_DTYPE, Tree

    n, n_classes = len(form.nodes), len(form.classes)
    nodes = np.zeros(n, dtype=NODE_DTYPE)
    nodes["left_child"] = nodes["right_child"] = -1
    nodes["feature"], nodes["threshold"] = -2, -2.0
    proba = np.array([node.proba for node in form.nodes])
    nodes["impurity"] = 1.0 - (proba**2).sum(axis=1)
    totals = np.array([sum(node.counts) for node in form.nodes], dtype=float)
    nodes["n_node_samples"], nodes["weighted_n_node_samples"] = totals.round().astype(np.int64), totals
    deep = [0] * n
    for at, node in enumerate(form.nodes):
        condition = node.condition
        if condition is None:
            continue
        deep[node.yes] = deep[node.no] = deep[at] + 1
        if (condition.field, condition) in place:  # a column of 0 and 1
            feature, threshold, opposite, left = place[condition.field, condition], 0.5, True, False
        else:
            feature = place[condition.field, None]
            threshold = np.inf if condition.op == "missing" else float(condition.value)
            opposite = condition.op != "<="
            left = condition.op != "missing" and (condition.missing != opposite)
        nodes["feature"][at], nodes["threshold"][at], nodes["missing_go_to_left"][at] = (
            feature,
            threshold,
            left,
        )
        nodes["left_child"][at], nodes["right_child"][at] = (
            (node.no, node.yes) if opposite else (node.yes, node.no)
        )
    inner = Tree(len(place), np.array([n_classes], dtype=np.intp), 1)
    inner.__setstate__(
        {
            "max_depth": max(deep),
            "node_count": n,
            "nodes": nodes,
            "values": np.ascontiguousarray(proba[:, None, :]),
        }
    )
    made = DecisionTreeClassifier()
    made.tree_, made.n_outputs_, made.n_classes_ = inner, 1, n_classes
    made.n_features_in_ = made.max_features_ = len(place)
    made.classes_ = np.array(form.classes)
    return made


def _name(name: str, condition: Condition | None) -> str:
    if condition is None:
        return name
    return f"{name} is missing" if condition.op == "missing" else f"{name} {condition.op} {condition.value}"
