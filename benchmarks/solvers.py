"""Ours and the peers behind one face: ``SOLVERS[solver][task](**job)`` solves a job and returns what to record.

Tasks, all on a CP4IM file, one thread unless the job says otherwise, and only the solving is timed:

    depth         the least error of a tree of at most that depth, one example in a leaf is enough
    regularised   the least error + λ·n·leaves, depth at most that
    front         the least error for every size
    evidence      the sum over every tree of at most that depth, two examples in a leaf (ours alone)
    average       class probabilities of all rows: ours by every tree of depth 4, others by the trees that they find
    grow          a greedy tree on generated numbers, at most ten levels
    near_best     how many trees have error/n + λ·leaves at most (1 + ε) times the least

Each solver's library is imported by its first job, never before. Peers are given the matrix in the type they want;
that conversion is not timed, ours is.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import load, resident, timed

Answer = dict[str, Any]


class OverLimit(Exception):
    """The solver reached its limit of time or memory; the message says which."""


def integers(file: str) -> tuple[np.ndarray, np.ndarray]:
    """The file as most peers want it."""
    X, y = load(file)
    return X.astype(np.int32), y.astype(np.int32)


def frame(file: str, kind: type) -> tuple[Any, Any]:
    """The file as the peers around GOSDT want it."""
    import pandas as pd

    X, y = load(file)
    names = [f"x{j}" for j in range(X.shape[1])]
    return pd.DataFrame(X.astype(kind), columns=names), pd.Series(y.astype(int), name="class")


# --- ours


def everytree_best(
    file: str, depth: int, cap: float, minimize: list[str] | str = ("error", "size"), threads: int = 1
) -> Answer:
    """The whole way from the 0/1 matrix to the tree with its proof."""
    import everytree as et

    X, y = load(file)
    _warm()
    order = minimize if isinstance(minimize, str) else tuple(minimize)

    def solve() -> Any:
        return et.TreeSpace(X, y, max_depth=depth, min_leaf=1, n_jobs=threads, time_limit=cap).best(order)

    seconds, tree = _ours(solve)
    return {"seconds": seconds, "error": int(tree.error), "size": tree.size}


def everytree_regularised(file: str, depth: int, cap: float, penalty: float) -> Answer:
    import everytree as et

    X, y = load(file)
    _warm()

    def solve() -> Any:
        space = et.TreeSpace(X, y, max_depth=depth, min_leaf=1, time_limit=cap)
        return space.best("error", leaf_penalty=penalty * len(y))

    seconds, tree = _ours(solve)
    return {"seconds": seconds, "error": int(tree.error), "leaves": tree.n_leaves, "rows": len(y)}


def everytree_evidence(file: str, depth: int, cap: float) -> Answer:
    import everytree as et

    X, y = load(file)
    _warm()
    seconds, post = _ours(lambda: et.TreeSpace(X, y, max_depth=depth, min_leaf=2, time_limit=cap).posterior())
    return {"seconds": seconds, "log_evidence": post.log_evidence}


def everytree_average(file: str, cap: float) -> Answer:
    import everytree as et

    X, y = load(file)
    _warm()
    model = et.BayesOptimalClassifier(4, 2, time_limit=cap)
    seconds, proba = _ours(lambda: model.fit(X, y).predict_proba(X))
    return {"seconds": seconds, "accuracy": _right(model.classes_[proba.argmax(axis=1)], y)}


def _right(said: Any, y: np.ndarray) -> float:
    return float(np.mean(np.asarray(said) == y))


def everytree_grow(n: int, d: int, c: int, cap: float, kind: str) -> Answer:
    import everytree as et

    model: Any = {
        "smoothed": lambda: et.SmoothedTreeClassifier(max_depth=10, time_limit=cap),
        "C4.5": lambda: et.C45TreeClassifier(time_limit=cap),
        "path average": lambda: et.PathAverageTreeClassifier(time_limit=cap),
    }[kind]()
    X, y = generated(n, d, c)
    model.fit(X[:100], y[:100])  # load every module before the clock starts
    seconds, _ = _ours(lambda: model.fit(X, y))
    return {"seconds": seconds, "leaves": int(model.n_leaves_)}


def everytree_front(file: str, depth: int, cap: float) -> Answer:
    import everytree as et

    X, y = load(file)
    _warm()
    seconds, front = _ours(lambda: et.TreeSpace(X, y, max_depth=depth, min_leaf=1, time_limit=cap).front())
    return {"seconds": seconds, "points": len(front), "error": int(front[-1][1]), "size": front[-1][0]}


def everytree_near_best(file: str, depth: int, cap: float, penalty: float, epsilon: float) -> Answer:
    import everytree as et

    X, y = load(file)
    _warm()
    before = resident("VmRSS")

    def solve() -> Any:
        space = et.TreeSpace(X, y, max_depth=depth, min_leaf=1, time_limit=cap)
        return space.near_best(epsilon=epsilon, leaf_share=penalty).n_trees

    seconds, count = _ours(solve)
    return {"seconds": seconds, "trees": int(count), "memory_mb": resident("VmHWM") - before}


def _ours(solve: Callable[[], Any]) -> tuple[float, Any]:
    from everytree.errors import LimitReached

    try:
        seconds, answer = timed(solve)
    except LimitReached as limit:
        raise OverLimit(str(limit)) from None
    if getattr(answer, "info", {}).get("optimal", True) is False:
        raise OverLimit("stopped before the proof")
    return seconds, answer


def _warm() -> None:
    """Load every module and pick the kernels before the clock starts."""
    import everytree as et

    et.TreeSpace([[0], [1]], [0, 1], 1).best()


# --- scikit-learn


def generated(n: int, d: int, c: int) -> tuple[np.ndarray, np.ndarray]:
    """Numeric columns, a third of them informative, with a tenth of the labels at random."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n, d, n_informative=max(4, d // 3), n_redundant=d // 6, n_classes=c, flip_y=0.1, random_state=0
    )
    return X, y


def sklearn_grow(n: int, d: int, c: int, cap: float) -> Answer:
    from sklearn.tree import DecisionTreeClassifier

    X, y = generated(n, d, c)
    model = DecisionTreeClassifier(max_depth=10, random_state=0).fit(X[:100], y[:100])
    seconds, _ = timed(lambda: model.fit(X, y))
    return {"seconds": seconds, "leaves": int(model.get_n_leaves())}


def sklearn_average(file: str, cap: float) -> Answer:
    """A random forest of a hundred trees."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = load(file)
    model = RandomForestClassifier(100, random_state=0, n_jobs=1)
    model.fit(X[::5], y[::5])
    seconds, proba = timed(lambda: model.fit(X, y).predict_proba(X))
    return {"seconds": seconds, "accuracy": _right(model.classes_[proba.argmax(axis=1)], y)}


# --- bayesml


def bayesml_average(file: str, cap: float) -> Answer:
    """Meta-trees of depth 4: its default, those that a random forest proposes."""
    from bayesml import bernoulli, metatree

    X, y = integers(file)

    def solve() -> Any:
        model = metatree.LearnModel(0, X.shape[1], c_max_depth=4, SubModel=bernoulli)
        model.fit(x_categorical=X, y=y)
        return np.asarray(model.predict_proba(x_categorical=X)).reshape(len(y), 2)

    seconds, proba = timed(solve)
    return {"seconds": seconds, "accuracy": _right(proba.argmax(axis=1), y)}


# --- STreeD


def streed_depth(file: str, depth: int, cap: float) -> Answer:
    from pystreed import STreeDClassifier

    X, y = integers(file)
    model = STreeDClassifier("accuracy", max_depth=depth, time_limit=cap)
    return _streed(model, X, y)


def streed_regularised(file: str, depth: int, cap: float, penalty: float) -> Answer:
    """STreeD prices inner nodes: one fewer than leaves, so the same optimum."""
    from pystreed import STreeDClassifier

    X, y = integers(file)
    model = STreeDClassifier(
        "cost-complex-accuracy", max_depth=depth, cost_complexity=penalty, time_limit=cap
    )
    return _streed(model, X, y)


def _streed(model: Any, X: np.ndarray, y: np.ndarray) -> Answer:
    seconds, _ = timed(lambda: model.fit(X, y))
    if not model.fit_result.is_optimal():
        raise OverLimit("stopped before the proof")
    wrong = int((np.asarray(model.predict(X)) != y).sum())
    return {"seconds": seconds, "error": wrong, "leaves": int(model.get_n_leaves()), "rows": len(y)}


# --- DL8.5


def dl85_depth(file: str, depth: int, cap: float) -> Answer:
    from pydl85 import DL85Classifier

    X, y = integers(file)
    model = DL85Classifier(max_depth=depth, min_sup=1, time_limit=int(cap))
    seconds, _ = timed(lambda: model.fit(X, y))
    if model.timeout_:
        raise OverLimit("stopped before the proof")
    return {"seconds": seconds, "error": int(model.error_)}


# --- GOSDT and TreeFARMS


def gosdt_regularised(file: str, depth: int, cap: float, penalty: float) -> Answer:
    """GOSDT's budget is the number of tests on a path: on tic-tac-toe 3, 4 and 5 give the optima of these depths."""
    from gosdt import GOSDTClassifier

    X, y = frame(file, bool)
    model = GOSDTClassifier(
        regularization=penalty,
        depth_budget=depth,
        time_limit=int(cap),
        worker_limit=1,
        allow_small_reg=True,
    )
    seconds, _ = timed(lambda: model.fit(X, y))
    result = model.get_result()
    if "CONVERGED" not in str(result["status"]):
        raise OverLimit("stopped before the proof")
    leaves = _leaves(json.loads(result["models_string"])[0])
    wrong = round(
        sum(leaf["loss"] for leaf in leaves) * len(y)
    )  # losses are shares of the examples, in 32 bits
    return {"seconds": seconds, "error": wrong, "leaves": len(leaves), "rows": len(y)}


def _leaves(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree] if "prediction" in tree else _leaves(tree["false"]) + _leaves(tree["true"])


def treefarms_near_best(file: str, depth: int, cap: float, penalty: float, epsilon: float) -> Answer:
    from treefarms import TREEFARMS

    X, y = frame(file, int)
    before = resident("VmRSS")
    model = TREEFARMS(
        {
            "regularization": penalty,
            "rashomon_bound_multiplier": epsilon,
            "depth_budget": depth + 1,
            "time_limit": int(cap),
            "worker_limit": 1,
            "verbose": False,
        }
    )
    seconds, _ = timed(lambda: model.fit(X, y))
    if model.timeout:
        raise OverLimit("stopped before the end")
    return {"seconds": seconds, "trees": int(model.get_tree_count()), "memory_mb": resident("VmHWM") - before}


def figure9(**job: Any) -> Answer:
    import dl8_figure9

    return dl8_figure9.solve(**job)


SOLVERS: dict[str, dict[str, Callable[..., Answer]]] = {
    "everytree": {
        "depth": everytree_best,
        "regularised": everytree_regularised,
        "front": everytree_front,
        "near_best": everytree_near_best,
        "figure9": figure9,
        "evidence": everytree_evidence,
        "average": everytree_average,
        "grow": everytree_grow,
    },
    "scikit-learn": {"grow": sklearn_grow, "average": sklearn_average},
    "bayesml": {"average": bayesml_average},
    "pystreed": {"depth": streed_depth, "regularised": streed_regularised},
    "pydl8.5": {"depth": dl85_depth},
    "gosdt": {"regularised": gosdt_regularised},
    "treefarms": {"near_best": treefarms_near_best},
}
MODULES = {
    "scikit-learn": "sklearn",
    "bayesml": "bayesml",
    "pystreed": "pystreed",
    "pydl8.5": "pydl85",
    "gosdt": "gosdt",
    "treefarms": "treefarms",
}


def installed(solver: str) -> bool:
    """Whether a peer can be imported here."""
    return importlib.util.find_spec(MODULES[solver]) is not None
