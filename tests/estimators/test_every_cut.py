"""Every cut-point without a test made before it is asked: the same optimum as over all tests, whatever the columns."""

from __future__ import annotations

import itertools
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

import everytree as et
from everytree.common.limits import Limits
from everytree.data.all_cuts import RankedColumns
from everytree.data.cut_rules import CutRules
from everytree.data.frames import read_frame
from everytree.estimators import every_cut
from everytree.query import every_cut as question
from everytree.reference import Space
from everytree.reference import Table as ReferenceTable
from everytree.reference import best as reference_best

CONTINUOUS = Path(__file__).parents[2].parent / "shared" / "data" / "continuous"


def columns(rng: np.random.Generator, rows: int, kind: int) -> pd.DataFrame:
    ties = rng.integers(0, 5, rows).astype(float)
    near = 1.0 + rng.integers(0, 6, rows) * np.finfo(float).eps  # neighbouring floats
    data: dict[str, Any] = {"a": np.round(rng.normal(size=rows), 1), "b": ties, "near": near}
    if kind % 2:
        data["gaps"] = np.where(rng.random(rows) < 0.25, np.nan, rng.integers(0, 7, rows))
        data["c"] = rng.choice(["red", "green", "blue"], rows)
    if kind % 3 == 2:
        data["whole"] = 2**60 + rng.integers(0, 9, rows)
        data["flag"] = rng.integers(0, 2, rows)
    return pd.DataFrame(data)


def labels(rng: np.random.Generator, frame: pd.DataFrame, classes: int) -> npt.NDArray[np.intp]:
    score = frame["a"].to_numpy() + (frame["b"].to_numpy() > 2) + rng.normal(size=len(frame))
    return np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1])).astype(np.intp)


def fit(few: int, monkeypatch: pytest.MonkeyPatch, X: Any, y: Any, weights: Any, **words: Any) -> Any:
    monkeypatch.setattr(every_cut, "FEW_CELLS", few)
    model = et.OptimalTreeClassifier(**words).fit(X, y, sample_weight=weights)
    assert (model._every_cut is not None) == (few == 0)
    return model


ROWS, NEVER = 30, 10**12


@pytest.mark.parametrize("case", range(24))
def test_the_optimum_is_that_over_all_tests(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(case)
    for depth, min_leaf in itertools.product((1, 2, 3), (1, 2, 4)):
        X = columns(rng, ROWS, case)
        classes = 2 + case % 3
        y = labels(rng, X, classes)
        weights = rng.integers(0, 4, ROWS) if case % 4 == 1 else None
        words: dict[str, Any] = {"max_depth": depth, "min_leaf": min_leaf, "bins": "all"}
        words["missing"] = ("category", "impute")[case % 2]
        words["leaf_penalty"] = (None, 0, 0.5, 1.3)[case % 4]
        words["minimize"] = (("error", "size"), "error")[depth % 2]
        if case % 5 == 3:
            words |= {"minimize": ("cost", "size"), "cost_matrix": rng.integers(0, 4, (classes, classes))}
        elif case % 5 == 4:
            words["class_weight"] = "balanced" if depth == 2 else dict(enumerate(rng.integers(1, 4, classes)))
        if case % 6 == 5:
            words |= {"forbid": ["a"], "bins": {"a": 3, "b": "all", "near": "all"}}
        plain = fit(NEVER, monkeypatch, X, y, weights, **words)
        ranked = fit(0, monkeypatch, X, y, weights, **words)
        assert ranked.optimal_
        assert ranked.stop_reason_ == "proved"
        assert ranked.objective_ == pytest.approx(plain.objective_, rel=1e-12)
        if "size" in words["minimize"]:
            assert ranked.tree_.n_leaves == plain.tree_.n_leaves
        assert ranked.tree_.depth <= depth
        used = np.ones(ROWS, dtype=int) if weights is None else weights
        leaf = ranked.tree_.apply(ranked.binarizer_.transform(X[used > 0]))
        sizes = np.bincount(leaf, used[used > 0])
        assert sizes[sizes > 0].min() >= min_leaf
        wrong = int(used[ranked.predict(X) != y].sum())
        assert ranked.error_ == wrong


@pytest.mark.parametrize("case", range(12))
def test_the_reference_finds_no_better_tree(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(100 + case)
    X = np.round(rng.normal(size=(12, 2)), 1)
    y = rng.integers(0, 2 + case % 2, 12)
    min_leaf = 1 + case % 3
    model = fit(0, monkeypatch, X, y, None, max_depth=2, min_leaf=min_leaf, bins="all", leaf_penalty=0)
    tests = np.column_stack([X[:, j] <= cut for j in range(2) for cut in np.unique(X[:, j])[:-1]]).astype(int)
    table = ReferenceTable.from_data(tests.tolist(), np.unique(y, return_inverse=True)[1].tolist())
    best = reference_best(Space(table, 2, min_leaf))[0]
    assert (model.objective_, model.tree_.size) == best.rank


def test_questions_that_need_all_tests_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(every_cut, "FEW_CELLS", 0)
    rng = np.random.default_rng(0)
    X = columns(rng, 60, 0)
    y = labels(rng, X, 2)
    for words in (
        {"max_leaves": 3}, {"max_depth": None}, {"minimize": ("gini", "size")}, {"minimize": ("error", "depth")},
        {"leaf": et.Margin(2)}, {"require": "a"}, {"forbid": [0]}, {"min_accuracy": 0.1}, {"bins": 4},
        {"strategy": "closed"}, {"max_depth": 0},
    ):  # fmt: skip
        given: dict[str, Any] = {"max_depth": 1, "bins": "all"} | words
        model = et.OptimalTreeClassifier(**given).fit(X, y)
        assert model._every_cut is None
        assert model.optimal_


def test_another_question_is_asked_of_every_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X = columns(rng, 80, 1)
    y = labels(rng, X, 2)
    model = fit(0, monkeypatch, X, y, None, max_depth=1, bins="all", leaf_penalty=0)
    model.refit(max_depth=3)
    fresh = fit(NEVER, monkeypatch, X, y, None, max_depth=3, bins="all", leaf_penalty=0)
    assert model.error_ == fresh.error_
    monkeypatch.setattr(every_cut, "FEW_CELLS", 0)
    model.refit(max_leaves=2)  # all tests are made for it
    assert model.tree_.n_leaves <= 2
    assert model._every_cut is None


def test_a_limit_leaves_the_best_so_far() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 8))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=3000) > 0).astype(int)
    X[:10], y[:10] = X[0], np.arange(10) % 2
    for seconds in (0.001, 0.3):
        with pytest.warns(ConvergenceWarning, match="begins anew"):
            model = et.OptimalTreeClassifier(4, bins="all", leaf_penalty=0, time_limit=seconds).fit(X, y)
        assert not model.optimal_
        assert model.stop_reason_ == "time limit"
        assert 5 <= model.lower_bound_ <= model.objective_
        assert model.objective_ == model.error_


@pytest.mark.parametrize("case", range(12))
def test_no_limit_leaves_a_tree_worse_than_a_greedy_one(case: int) -> None:
    rng = np.random.default_rng(case)
    n, classes = (800, 2500)[case % 2], 2 + case % 3
    X = rng.normal(size=(n, 5))
    score = (X[:, 0] * X[:, 1], X[:, 0] + X[:, 2] ** 2, np.sin(3 * X[:, 3]) + X[:, 4])[case % 3]
    score = score + 0.5 * rng.normal(size=n)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    criterion = ("gini", "entropy")[case // 2 % 2]
    for depth, min_leaf in itertools.product((2, 3, 5), (1, 20)):
        tree = DecisionTreeClassifier(
            max_depth=depth, min_samples_leaf=min_leaf, criterion=criterion, random_state=0
        )
        greedy = int((tree.fit(X, y).predict(X) != y).sum())
        for seconds in (1e-6, 0.05):
            words: dict[str, Any] = {"min_leaf": min_leaf, "leaf_penalty": 0, "time_limit": seconds}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = et.OptimalTreeClassifier(depth, bins="all", **words).fit(X, y)
            assert model.error_ <= greedy
            assert model.error_ == int((model.predict(X) != y).sum())
            assert model.lower_bound_ <= model.error_
            assert model.gap_ == (model.error_ - model.lower_bound_) / max(1, model.error_)


def test_a_memory_limit_leaves_a_greedy_tree() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 8))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="memory limit of 0.1 MiB before"):
        model = et.OptimalTreeClassifier(2, bins="all", leaf_penalty=0, memory_limit=100_000).fit(X, y)
    assert model.stop_reason_ == "memory limit"
    assert model.error_ < 1500


def test_a_large_table_is_not_grown_after_the_limit() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150_000, 3))
    y = (X[:, 0] > 0.2).astype(int)
    for seconds, leaves in ((1e-6, 1), (60, 2)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = et.OptimalTreeClassifier(3, bins="all", time_limit=seconds).fit(X, y)
        assert model.tree_.n_leaves == leaves
        assert model.lower_bound_ <= model.objective_ == model.error_ + 2 * leaves
        assert model.error_ == int((model.predict(X) != y).sum())


def test_what_is_held_beside_a_search_counts_to_its_memory() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 3))
    rows = every_cut.Examples(read_frame(X), (X[:, 0] > 0).astype(np.intp), None, [0, 1])
    assert rows.n_bytes == X.nbytes + rows.codes.nbytes
    assert RankedColumns(CutRules("all"), rows.frame, None).n_bytes == X.nbytes + X.size * 4
    with pytest.warns(ConvergenceWarning, match="memory limit of"):
        model = et.OptimalTreeClassifier(3, bins="all", memory_limit=rows.n_bytes + X.nbytes).fit(
            X, rows.codes
        )
    assert model.stop_reason_ == "memory limit"


def test_weights_of_one_are_none() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    plain, ones, some = (
        et.OptimalTreeClassifier(2, bins="all").fit(X, y, sample_weight=weights)
        for weights in (None, np.ones(300), np.r_[np.zeros(10), np.ones(290)])
    )
    assert ones.tree_ == plain.tree_
    assert ones._every_cut[2] is plain._every_cut[2] is some._every_cut[2] is None
    assert some.tree_ == et.OptimalTreeClassifier(2, bins="all").fit(X[10:], y[10:]).tree_


@pytest.mark.parametrize("min_leaf", [1, 8])
def test_threads_change_nothing(min_leaf: int) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(260, 4))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=260) > 0).astype(int)
    found = []
    for n_jobs in (1, 2, 5):
        model = et.OptimalTreeClassifier(3, min_leaf=min_leaf, bins="all", leaf_penalty=0, n_jobs=n_jobs).fit(
            X, y
        )
        assert model._every_cut is not None
        space = et.TreeSpace.from_frame(X, y, bins="all", max_depth=3, min_leaf=min_leaf, n_jobs=n_jobs)
        found.append(
            (str(model.tree_), model.objective_, model.lower_bound_, model.optimal_, str(space.best()))
        )
    assert found[0] == found[1] == found[2]
    assert found[0][3]


@pytest.mark.long
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_stop_ends_the_search(n_threads: int) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(2000, 6)), rng.integers(0, 2, 2000)
    ranked = [column.ranks for column in RankedColumns(CutRules("all"), read_frame(X), None).columns]
    counts = et.Table(np.zeros((1, 0), dtype=np.uint8), np.bincount(y)[None])
    asked = question.question_of(et.Query("error"), counts, 4)
    assert asked is not None
    seen = []

    def progress(stage: str, done: int, total: int, seconds: float) -> None:
        seen.append((stage, done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        question.solved(asked, ranked, y, None, 4, 1, n_threads, Limits(progress=progress).control())
    assert seen[0][0] == "searching every cut-point"


KNOWN = {
    "bank": (100, 23, 0),
    "raisin": (109, 94),
    "rice": (257, 243),
    "segment": (990, 278),
    "bidding": (113, 50),
    "magic": (3746, 3240),
}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_known_optima(name: str) -> None:
    path = CONTINUOUS / f"{name}.txt.gz"
    if not path.exists():
        pytest.skip(
            f"{path} is not there; the numeric sets of the literature on optimal trees are not part of this"
        )
    rows = np.loadtxt(path)
    for depth, errors in enumerate(KNOWN[name], 2):
        model = et.OptimalTreeClassifier(depth, bins="all", minimize="error", leaf_penalty=0)
        assert model.fit(rows[:, 1:], rows[:, 0].astype(int)).error_ == errors
        assert model.optimal_


MEMORY = """
import numpy as np
import everytree as et

rng = np.random.default_rng(0)
X = rng.normal(size=(245_057, 3))
y = ((X[:, 0] > 0.3) & (X[:, 1] < 0.5)) ^ (rng.random(len(X)) < 0.1)
et.OptimalTreeClassifier(2, bins="all", leaf_penalty=0).fit(X[:500], y[:500])  # what is imported late
def told(name):  # The peak of getrusage would be that of the process that started this one.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))
before = told("VmRSS")
model = et.OptimalTreeClassifier(2, bins="all", leaf_penalty=0).fit(X, y)
assert model.optimal_
print((told("VmHWM") - before) / X.nbytes)
"""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to see the memory before")
def test_memory_stays_within_ten_times_the_data() -> None:
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 1 < float(done.stdout) < 10
