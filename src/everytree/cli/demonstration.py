"""The main job on real data, start to end: every tree with nothing to choose; then the best tree, and one average.

    breast cancer (569 tumours, 30 measurements) → EveryTreeClassifier
                                                 → 0/1 tests → TreeSpace → best() and posterior()

``run_demo`` does the work and returns what it found; ``write_pictures`` draws it.
"""

from __future__ import annotations

import html
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from everytree.bayes.posterior import Posterior
from everytree.common.drafts import write_whole
from everytree.data.binarizer import Binarizer
from everytree.data.column import Column
from everytree.data.frames import Frame
from everytree.errors import DataError
from everytree.estimators.every_tree import EveryTreeClassifier
from everytree.estimators.optimal import PRICE
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree

__all__ = ["DemoResult", "Score", "breast_cancer", "check_folder", "run_demo", "write_pictures"]

SECONDS = 2.0  # for every tree with nothing to choose
HELD_OUT = 0.3  # share of the rows that no method sees
SHOWN_TESTS = 8  # how many of the most probable tests are shown
BINS = 8  # of each measurement, as OptimalTreeClassifier has them by default

Tests = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.float64]
Labels = npt.NDArray[np.str_]


@dataclass(frozen=True)
class Score:
    """How one method does on the rows it has not seen, and how long it took."""

    method: str
    accuracy: float
    log_loss: float
    seconds: float


@dataclass(frozen=True)
class DemoResult:
    """Everything that the demo found."""

    n_train: int
    n_held_out: int
    n_tests: int
    n_trees: int
    max_depth: int
    min_leaf: int
    tree: Tree
    scores: tuple[Score, ...]
    likely_tests: tuple[tuple[str, float], ...]  # P(test used in the tree), most probable first
    left_out: tuple[
        float, float
    ]  # the log-loss of left-out training rows that every tree claims, and its error


def run_demo(max_depth: int = 3, min_leaf: int = 1, seed: int = 0) -> DemoResult:
    """Split the breast cancer data, learn from one part, and score on the other.

    >>> result = run_demo(max_depth=1)
    >>> result.tree.n_leaves, [score.method for score in result.scores][:2]
    (2, ['every tree, nothing to choose', 'every tree of depth 1, averaged'])
    """
    X, X_held, y, y_held, names = breast_cancer(seed)
    space = TreeSpace(X, y, max_depth=max_depth, min_leaf=min_leaf, test_names=names)

    # The average first: it refuses at once what would never end.
    start = time.perf_counter()
    posterior = space.posterior()
    proba = posterior.predict_proba(X_held)
    classes = np.asarray(space.classes)
    average = _score(f"every tree of depth {max_depth}, averaged", proba, y_held, classes, start)

    start = time.perf_counter()
    tree = _best_tree(space)
    proba = tree.predict_proba(X_held)
    best = _score(f"the best tree of depth {max_depth}", proba, y_held, classes, start)

    every, left_out = _every_tree(seed)
    return DemoResult(
        n_train=len(X),
        n_held_out=len(X_held),
        n_tests=X.shape[1],
        n_trees=space.n_trees,
        max_depth=max_depth,
        min_leaf=min_leaf,
        tree=tree,
        scores=(every, average, best, *_others(seed, max_depth, min_leaf)),
        likely_tests=_likely_tests(posterior, names),
        left_out=left_out,
    )


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made, before anything is learned; make nothing."""
    above = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not above.is_dir():
        expected = "a folder, or a path that is free"
        message = f"cannot write into {folder}: expected {expected}"
        raise DataError(message, parameter="out", value=folder, expected=expected)


def write_pictures(result: DemoResult, folder: Path) -> tuple[Path, Path]:
    """Write ``tree.svg`` and ``index.html`` into a folder, made if absent; return their paths."""
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    svg = result.tree.to_svg()
    picture, page = folder / "tree.svg", folder / "index.html"
    write_whole(svg, picture)
    write_whole(_page(result, svg), page)
    return picture, page


def measurements(seed: int) -> tuple[Numbers, Numbers, Labels, Labels, list[str]]:
    """Return the columns of training and held-out rows, their labels, and the names of the columns."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split

    data = load_breast_cancer()
    labels = data.target_names[data.target]
    parts = train_test_split(data.data, labels, test_size=HELD_OUT, stratify=labels, random_state=seed)
    return *parts, [str(name) for name in data.feature_names]


def _frame(rows: Numbers, names: list[str]) -> Frame:
    columns = tuple(Column.of(name, "numeric", rows[:, j]) for j, name in enumerate(names))
    return Frame(columns, len(rows), tuple(names))


def breast_cancer(seed: int) -> tuple[Tests, Tests, Labels, Labels, list[str]]:
    """Return training and held-out tests and labels; the tests are chosen from the training rows only."""
    train, held, y, y_held, columns = measurements(seed)
    binarizer = Binarizer(bins=BINS).fit(train)
    names = binarizer.get_feature_names_out(columns)
    return binarizer.transform(train), binarizer.transform(held), y, y_held, [str(name) for name in names]


def _others(seed: int, max_depth: int, min_leaf: int) -> list[Score]:
    """Score what many would try first, on the measurements themselves, with scikit-learn's defaults."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    train, held, y, y_held, _ = measurements(seed)
    scores = []
    for method, model in (
        ("logistic regression", make_pipeline(StandardScaler(), LogisticRegression())),
        ("random forest", RandomForestClassifier(random_state=0)),
        (
            f"scikit-learn's tree of depth {max_depth}",
            DecisionTreeClassifier(max_depth=max(1, max_depth), min_samples_leaf=min_leaf, random_state=0),
        ),
    ):
        start = time.perf_counter()
        fitted = model.fit(train, y)
        proba = np.clip(fitted.predict_proba(held), 1e-15, 1.0)  # a surprise costs much, but not everything
        scores.append(_score(method, proba, y_held, fitted.classes_, start))
    return scores


@lru_cache
def _every_tree(seed: int) -> tuple[Score, tuple[float, float]]:
    """Learn with nothing to choose; return the score, and the left-out log-loss with its standard error."""
    start = time.perf_counter()
    train, held, y, y_held, columns = measurements(seed)
    model = EveryTreeClassifier(SECONDS, random_state=seed).fit(_frame(train, columns), y)
    proba = model.predict_proba(_frame(held, columns))
    score = _score("every tree, nothing to choose", proba, y_held, model.classes_, start)
    return score, (model.loo_log_loss_, model.loo_log_loss_error_)


def _best_tree(space: TreeSpace) -> Tree:
    """Find the tree with the least errors, where a leaf has a price, then the fewest nodes.

    Its leaves say (n_c + 1) / (n + C), as the average does: a frequency of 1 would make one surprise on new
    data an infinite log-loss.
    """
    tree: Tree = space.best(minimize=("error", "size"), leaf_penalty=PRICE)
    counts = tree.counts + 1.0
    return tree.replace(proba=counts / counts.sum(axis=1, keepdims=True))


def _score(
    method: str, proba: npt.NDArray[np.float64], y: Labels, classes: npt.NDArray[np.str_], start: float
) -> Score:
    """Measure the seconds since ``start``, the share of right answers, and the mean of −log P(true class)."""
    seconds = time.perf_counter() - start
    of_true_class = proba[np.arange(len(y)), np.searchsorted(classes, y)]
    right = classes[proba.argmax(axis=1)] == y
    return Score(method, float(right.mean()), float(-np.log(of_true_class).mean()), seconds)


def _likely_tests(posterior: Posterior, names: list[str]) -> tuple[tuple[str, float], ...]:
    used = posterior.test_inclusion()
    first = np.argsort(-used, kind="stable")[:SHOWN_TESTS]
    return tuple((names[i], float(used[i])) for i in first)


def _page(result: DemoResult, svg: str) -> str:
    scores = "".join(
        f"<tr><td>{html.escape(score.method)}</td><td>{score.accuracy:.3f}</td>"
        f"<td>{score.log_loss:.3f}</td><td>{score.seconds:.2f} s</td></tr>"
        for score in result.scores
    )
    tests = "".join(
        f'<tr><td>{html.escape(name)}</td><td>{p:.3f}</td><td class="bar">'
        f'<i style="width:{100 * p:.1f}%"></i></td></tr>'
        for name, p in result.likely_tests
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>everytree: breast cancer</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222;
        max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
th, td {{ text-align: left; padding: .3rem 1rem .3rem 0; border-bottom: 1px solid #ddd; }}
.bar {{ width: 12rem; }}
.bar i {{ display: block; height: .7rem; background: #4477aa; }}
figure {{ overflow-x: auto; margin: 1rem 0; }}
</style>
</head>
<body>
<h1>Breast cancer, {result.n_train} training rows, {result.n_tests} tests</h1>
<p>Of the {result.n_trees:,} trees with at most {result.max_depth} tests on a path and at least
{result.min_leaf} examples in a leaf, none is better than the one below, where a leaf costs as much as
{PRICE:g} errors: it makes {result.tree.error} errors in training, with {result.tree.n_leaves} leaves.
The average weighs every one of them by its posterior probability.
Scores are on the {result.n_held_out} rows that were held out.</p>
<table>
<tr><th>method</th><th>accuracy</th><th>log-loss</th><th>time</th></tr>
{scores}
</table>
<h2>The best tree</h2>
<figure>{svg}</figure>
<h2>The tests that probably matter</h2>
<p>How probable it is, given the data, that a tree uses the test.</p>
<table>
<tr><th>test</th><th>probability</th><th></th></tr>
{tests}
</table>
</body>
</html>
"""
