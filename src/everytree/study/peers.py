"""Today's alternatives from PyPI in the manner of scikit-learn; ``beyond`` compares with those that are installed.

Each takes the 0/1 tests of a fold or the raw attributes as numbers (``kind``). A solver that returns one tree without
probabilities gives those of its leaves, (n_c + 1) / (n + C), as C4.5 does here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree import __version__
from everytree.study import ensembles

__all__ = ["PEERS", "Peer", "SolverTree", "installed", "versions"]

DEPTH, LEAST = 3, 2  # depth and examples in a leaf of all optimal trees, ours included


class SolverTree:
    """A classifier made of a function that finds a tree.

    Parameters
    ----------
    solve : callable
        ``solve(X, y)`` returns a nested tree of (test, zero branch, one branch), or None for a leaf.

    Examples
    --------
    >>> model = SolverTree(lambda X, y: (1, None, None)).fit(np.array([[0, 0], [0, 1]]), np.array([3, 5]))
    >>> model.predict(np.array([[1, 1]])).tolist(), model.n_nodes_
    ([5], 3)
    """

    def __init__(self, solve: Callable[[Any, Any], Any]) -> None:
        self.solve = solve

    def fit(self, X: Any, y: Any) -> SolverTree:
        """Find the tree, then count the classes in its leaves.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            The 0/1 tests.
        y : array-like of shape (n_rows,)
            The labels.

        Returns
        -------
        SolverTree
            The classifier itself.
        """
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.tree = self.solve(np.asarray(X), codes)
        self.n_leaves_ = _count(self.tree)
        self.n_nodes_ = 2 * self.n_leaves_ - 1
        counts = np.ones((self.n_leaves_, len(self.classes_)))
        np.add.at(counts, (self._leaf(np.asarray(X)), codes), 1.0)
        self.proba = counts / counts.sum(axis=1, keepdims=True)
        return self

    def _leaf(self, X: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        leaf = np.zeros(len(X), dtype=np.intp)
        _place(self.tree, X, np.arange(len(X)), 0, leaf)
        return leaf

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the class probabilities of the leaf of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            The 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        found: npt.NDArray[np.float64] = self.proba[self._leaf(np.asarray(X))]
        return found

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_tests)
            The 0/1 tests.

        Returns
        -------
        ndarray of shape (n_rows,)
            The labels.
        """
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _count(tree: Any) -> int:
    return 1 if tree is None else _count(tree[1]) + _count(tree[2])


def _place(tree: Any, X: Any, rows: Any, first: int, leaf: Any) -> int:
    """Number the leaves from the left, beginning with ``first``, and return the first number that is free."""
    if tree is None:
        leaf[rows] = first
        return first + 1
    one = X[rows, tree[0]] != 0
    middle = _place(tree[1], X, rows[~one], first, leaf)
    return _place(tree[2], X, rows[one], middle, leaf)


def _streed(X: Any, y: Any) -> Any:
    from pystreed import STreeDClassifier

    model = STreeDClassifier("accuracy", max_depth=DEPTH, min_leaf_node_size=LEAST, time_limit=30)
    model.fit(X.astype(np.int32), y.astype(np.int32))

    def nested(node: Any) -> Any:
        if not node.is_branching_node():
            return None
        return node.feature, nested(node.left_child), nested(node.right_child)

    return nested(model.get_tree())


def _dl85(X: Any, y: Any) -> Any:
    from pydl85 import DL85Classifier

    model = DL85Classifier(max_depth=DEPTH, min_sup=LEAST, time_limit=30)
    model.fit(X.astype(np.int32), y.astype(np.int32))

    def nested(node: Any) -> Any:
        return (node["feat"], nested(node["right"]), nested(node["left"])) if "feat" in node else None

    return nested(model.tree_)


def _gosdt(X: Any, y: Any) -> Any:
    import pandas as pd
    from gosdt import GOSDTClassifier

    model = GOSDTClassifier(
        regularization=0.01, depth_budget=DEPTH + 1, time_limit=30, allow_small_reg=True, verbose=False
    )
    columns = [f"x{j}" for j in range(X.shape[1])]
    model.fit(pd.DataFrame(X.astype(bool), columns=columns), pd.Series(y))

    def nested(node: Any) -> Any:
        return (node["feature"], nested(node["false"]), nested(node["true"])) if "feature" in node else None

    return nested(json.loads(model.get_result()["models_string"])[0])


class MetaTree:
    """The meta-trees of bayesml, on 0/1 tests."""

    def fit(self, X: Any, y: Any) -> MetaTree:
        """Learn the posterior over the trees that its random forest finds."""
        import bayesml
        from bayesml import metatree

        self.classes_, codes = np.unique(y, return_inverse=True)
        two = len(self.classes_) == 2
        self.model = metatree.LearnModel(
            c_dim_continuous=0,
            c_dim_categorical=X.shape[1],
            c_max_depth=4,
            SubModel=bayesml.bernoulli if two else bayesml.categorical,
            sub_constants={} if two else {"c_degree": len(self.classes_)},
        )
        self.model.fit(x_categorical=np.asarray(X).astype(int), y=codes)
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict by the posterior predictive distribution."""
        found = np.asarray(
            self.model.predict_proba(x_categorical=np.asarray(X).astype(int)), dtype=np.float64
        )
        found = found.reshape(len(X), -1)
        found /= found.sum(axis=1, keepdims=True)
        return found

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _cart() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=5, random_state=0)


def _shrinkage() -> Any:
    from imodels import HSTreeClassifierCV

    return HSTreeClassifierCV()


def _ebm(**settings: Any) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(random_state=0, n_jobs=1, **settings)


class Peer(NamedTuple):
    """A classifier that others have written.

    Parameters
    ----------
    module : str
        The module that it needs.
    make : callable
        The function that makes an unfitted classifier.
    kind : str
        What it learns from: "tests" or "numbers".
    alone : bool, default=False
        Whether it runs in a process of its own, because its search in C++ can neither be interrupted nor may it crash
        the study.

    Examples
    --------
    >>> PEERS["STreeD"].kind, PEERS["STreeD"].alone
    ('tests', True)
    """

    module: str
    make: Callable[[], Any]
    kind: str
    alone: bool = False


PEERS = {
    "scikit-learn CART": Peer("sklearn", _cart, "numbers"),
    "pruned CART": Peer("sklearn", ensembles.PrunedCart, "numbers"),
    "logistic regression": Peer("sklearn", ensembles.logistic, "numbers"),
    "random forest": Peer("sklearn", ensembles.forest, "numbers"),
    "calibrated forest": Peer("sklearn", ensembles.CalibratedForest, "numbers"),
    "extra trees": Peer("sklearn", ensembles.extra_trees, "numbers"),
    "HistGradientBoosting": Peer("sklearn", ensembles.boosted, "numbers"),
    "LightGBM": Peer("lightgbm", ensembles.light_boost, "numbers"),
    "CatBoost": Peer("catboost", ensembles.CatBoosted, "numbers"),
    "STreeD": Peer("pystreed", lambda: SolverTree(_streed), "tests", alone=True),
    "DL8.5": Peer("pydl85", lambda: SolverTree(_dl85), "tests", alone=True),
    "GOSDT": Peer("gosdt", lambda: SolverTree(_gosdt), "tests", alone=True),
    "hierarchical shrinkage": Peer("imodels", _shrinkage, "numbers"),
    "bayesml meta-tree": Peer("bayesml", MetaTree, "tests"),
    "EBM": Peer("interpret", _ebm, "numbers"),
    "EBM without pairs": Peer(
        "interpret", lambda: _ebm(interactions=0), "numbers"
    ),  # a thirtieth of the time
    "BART": Peer("bartz", ensembles.BartClassifier, "numbers"),
}


def installed() -> list[str]:
    """Return the names of the alternatives that can be imported here.

    Returns
    -------
    list of str
        Keys of ``PEERS``.

    Examples
    --------
    >>> "scikit-learn CART" in installed()
    True
    """
    return [name for name, peer in PEERS.items() if find_spec(peer.module) is not None]


def versions() -> str:
    """Return the versions of everytree and of the alternatives installed, in one line for the report.

    Returns
    -------
    str
        The line.

    Examples
    --------
    >>> versions().startswith("everytree ")
    True
    """
    homes = packages_distributions()
    found = {"everytree": __version__}
    for name in installed():
        for package in homes.get(PEERS[name].module, [])[:1]:
            found[package] = version(package)
    return ", ".join(f"{name} {number}" for name, number in found.items())
