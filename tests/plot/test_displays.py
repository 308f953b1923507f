"""Displays: what is drawn is what was computed, on the axes given or on new ones."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import everytree as et
from everytree import plot
from everytree.draw.evidence import plot_evidence
from everytree.errors import DataError, QueryError
from everytree.metrics import Reliability

matplotlib = pytest.importorskip("matplotlib", reason='pip install "everytree[plot]"')


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def iris() -> Any:
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y


@pytest.fixture(scope="module")
def optimal(iris: Any) -> Any:
    return et.OptimalTreeClassifier(3).fit(*iris)


@pytest.fixture(scope="module")
def average(iris: Any) -> Any:
    return et.BayesOptimalClassifier(3, dirichlet="fit").fit(*iris)


def made(name: str, optimal: Any, average: Any, iris: Any, ax: Any = None) -> Any:
    X, y = iris
    if name == "TreeDisplay":
        return plot.TreeDisplay.from_estimator(optimal, ax=ax)
    if name == "OptionTreeDisplay":
        return plot.OptionTreeDisplay.from_estimator(et.OptionTreeClassifier().fit(X, y), ax=ax)
    if name == "FrontDisplay":
        return plot.FrontDisplay.from_estimator(optimal, ax=ax)
    if name == "LeavesDisplay":
        return plot.LeavesDisplay.from_estimator(average, ax=ax)
    if name == "InclusionDisplay":
        return plot.InclusionDisplay.from_estimator(average, ax=ax)
    if name == "CalibrationDisplay":
        return plot.CalibrationDisplay.from_estimator(average, X, y, ax=ax)
    return plot.ComparisonDisplay([[0.9, 0.8]], ["accuracy"], ["a", "b"]).plot(ax)


ONE_AXES = [
    "TreeDisplay", "OptionTreeDisplay", "FrontDisplay", "LeavesDisplay", "InclusionDisplay", "CalibrationDisplay",
    "ComparisonDisplay",
]  # fmt: skip


@pytest.mark.parametrize("name", ONE_AXES)
def test_new_axes_or_those_given(name: str, optimal: Any, average: Any, iris: Any, tmp_path: Any) -> None:
    from matplotlib import pyplot

    _, (mine, other) = pyplot.subplots(1, 2, figsize=(14, 6))
    display = made(name, optimal, average, iris)
    assert display.ax_ is not mine
    assert display.ax_ is not other
    assert display.figure_ is display.ax_.figure
    again = display.plot(ax=mine)
    assert again is display
    assert display.ax_ is mine
    assert not other.has_data()
    assert not other.texts
    display.figure_.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_every_display_is_exported_and_documented() -> None:
    names = [name for name in plot.__all__ if name.endswith("Display")]
    assert set(ONE_AXES) | {"TraceDisplay", "EvidenceDisplay"} == set(names)
    for name in names:
        made_by = [each for each in dir(getattr(plot, name)) if each.startswith("from_")]
        assert made_by
        assert all(inspect.getdoc(getattr(getattr(plot, name), each)) for each in made_by)


@pytest.mark.long
def test_importing_the_displays_does_not_load_matplotlib() -> None:
    code = "import sys, everytree.plot; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_without_matplotlib_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    importlib.invalidate_caches()
    with pytest.raises(ImportError, match=r"everytree\[plot\]"):
        plot.ComparisonDisplay([[1.0]], ["a"], ["b"]).plot()
    chosen = et.fit_evidence(
        et.TreeSpace([[0, 1], [1, 1], [1, 0], [0, 0]], [0, 1, 1, 0], 1), max_evaluations=9
    )
    with pytest.raises(ImportError, match=r"everytree\[plot\]"):
        plot_evidence(chosen)


def test_front_draws_its_points(optimal: Any) -> None:
    display = plot.FrontDisplay.from_estimator(optimal, max_leaves=4)
    points = optimal.space_.front(max_leaves=4)
    assert display.points == points
    drawn = display.ax_.lines[1].get_xydata().tolist()
    assert drawn == [[size, error] for size, error, _ in points]
    assert display.ax_.get_ylabel() == "training errors"
    deep = plot.FrontDisplay.from_space(optimal.space_, "gini", by="depth")
    assert deep.ax_.get_xlabel() == "depth of the tree"


def test_leaves_and_inclusion_of_the_posterior(average: Any, iris: Any) -> None:
    leaves = plot.LeavesDisplay.from_estimator(average)
    p = average.posterior_.leaves_distribution()
    heights = {round(bar.get_x() + 0.4): bar.get_height() for bar in leaves.bars_}
    assert all(heights[k] == p[k] for k in heights)
    assert sum(heights.values()) > 0.99
    assert leaves.mean == pytest.approx(average.posterior_.expected_leaves)

    columns = plot.InclusionDisplay.from_estimator(average, top=3)
    expected = sorted(average.attribute_inclusion().values(), reverse=True)[:3]
    assert [bar.get_width() for bar in columns.bars_][::-1] == expected
    assert "1 more columns" in columns.ax_.get_xlabel()
    tests = plot.InclusionDisplay.from_estimator(average, by="tests")
    assert max(tests.inclusion.values()) == max(average.posterior_.test_inclusion())


def test_draws_of_chains() -> None:
    """A stand-in with what draws offer: two chains of three draws of two trees."""
    from scipy.sparse import csr_matrix

    draws = SimpleNamespace(
        n_leaves=np.array([[2, 2, 3], [3, 3, 3]]), log_target=np.zeros((2, 3)), which=np.array([[0, 0, 1], [1, 1, 1]]),
        uses=csr_matrix([[1, 0, 0], [1, 0, 1]]), test_inclusion=lambda: np.array([1.0, 0.0, 4 / 6]), ess=5.0,
    )  # fmt: skip
    tests = [SimpleNamespace(attribute=name) for name in ("a", "a", "b")]
    binarizer = SimpleNamespace(tests_=tests, get_feature_names_out=lambda: np.array(["a1", "a2", "b1"]))
    model = SimpleNamespace(draws_=draws, binarizer_=binarizer, summary=lambda: SimpleNamespace(rhat=1.02))
    assert plot.LeavesDisplay.from_estimator(model).probabilities.tolist() == pytest.approx(
        [0, 0, 2 / 6, 4 / 6]
    )
    found = plot.InclusionDisplay.from_estimator(model).inclusion
    assert found == pytest.approx({"a": 1.0, "b": 4 / 6})
    trace = plot.TraceDisplay.from_estimator(model)
    assert trace.axes_.shape == (2, 2)
    assert trace.axes_[0, 0].get_title(loc="left") == "2 chains, R-hat 1.020, 5 effective draws"
    assert [line.get_ydata().tolist() for line in trace.axes_[1, 0].lines] == draws.n_leaves.tolist()


def test_real_chains(iris: Any) -> None:
    if "MCMCTreeClassifier" not in et.__all__:
        pytest.skip("MCMCTreeClassifier is not there yet")
    model = et.MCMCTreeClassifier(3, n_draws=100, n_chains=2, random_state=0).fit(*iris)
    trace = plot.TraceDisplay.from_estimator(model)
    assert trace.traces["leaves"].shape == (2, 100)
    assert plot.LeavesDisplay.from_estimator(model).mean == pytest.approx(
        float(np.mean(model.draws_.n_leaves))
    )
    found = plot.InclusionDisplay.from_estimator(model, by="tests").inclusion
    assert list(found.values()) == pytest.approx(np.asarray(model.draws_.test_inclusion()).tolist())
    assert 0.9 < max(plot.InclusionDisplay.from_estimator(model).inclusion.values()) <= 1


def test_calibration_of_predictions() -> None:
    y, proba = ["a", "b", "b", "b"], [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]
    display = plot.CalibrationDisplay.from_predictions(y, proba, name="mine")
    curve = display.curves["mine"]
    assert curve == Reliability.of(proba, [0, 1, 1, 1])
    xy = display.ax_.lines[1].get_xydata()
    assert xy.tolist() == [pytest.approx([0.6, 1.0]), pytest.approx([0.8, 1.0]), pytest.approx([0.9, 0.5])]
    both = plot.CalibrationDisplay({"one": curve, "two": curve + curve}).plot()
    assert [text.get_text() for text in both.ax_.get_legend().get_texts()] == [
        "calibrated", f"one, ECE {curve.ece:.3f}", f"two, ECE {curve.ece:.3f}",
    ]  # fmt: skip


def test_comparison_of_methods() -> None:
    rows = [
        {"method": "bayes", "accuracy": 0.9, "log_loss": 0.3, "brier": 0.2, "against_first": {}},
        {"method": "c45", "accuracy": 0.8, "log_loss": None, "brier": 0.2,
         "against_first": {"accuracy": {"verdict": "worse"}}},
    ]  # fmt: skip
    display = plot.ComparisonDisplay.from_table({"methods": rows})
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == ["0.900", "0.800 −", "0.300", "–", "0.200", "0.200"]
    assert np.array_equal(display.shades(), [[1, 0], [0.5, np.nan], [0.5, 0.5]], equal_nan=True)
    down = plot.ComparisonDisplay([[1.0, 2.0, 3.0]], ["loss"], list("abc"), False)
    assert down.shades().tolist() == [[1.0, 0.5, 0.0]]


def test_evidence(average: Any) -> None:
    display = plot.EvidenceDisplay.from_estimator(average)
    assert len(display.axes_) == 1
    assert display.ax_.get_xlabel() == "dirichlet"


def test_names_are_taken_literally(optimal: Any) -> None:
    display = plot.InclusionDisplay({"$x_1$": 0.5, "a_b^c": 0.25}).plot()
    display.figure_.canvas.draw()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["a_b^c", "$x_1$"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: plot.TreeDisplay.from_estimator(m["c45"]), "is on whole columns"),
        (lambda m: plot.OptionTreeDisplay.from_estimator(m["c45"]), "has no option tree"),
        (lambda m: plot.FrontDisplay.from_estimator(m["c45"]), "has no space_"),
        (lambda m: plot.LeavesDisplay.from_estimator(m["c45"]), "has no draws_ or posterior_"),
        (lambda m: plot.TraceDisplay.from_estimator(m["c45"]), "has no draws_"),
        (lambda m: plot.EvidenceDisplay.from_estimator(m["optimal"]), "chose nothing by evidence"),
        (lambda m: plot.InclusionDisplay.from_estimator(m["average"], by="leaves"), "by='leaves'"),
        (lambda m: plot.InclusionDisplay.from_estimator(m["average"], top=0), "top=0"),
        (lambda m: plot.InclusionDisplay({}), "inclusion is empty"),
        (lambda m: plot.FrontDisplay([]), "without points"),
        (lambda m: plot.LeavesDisplay([]), "expected what posterior.leaves_distribution"),
        (lambda m: plot.CalibrationDisplay({}), "no curves"),
        (lambda m: plot.CalibrationDisplay.from_predictions([0, 1], [[1.0], [1.0]]), "one column for each of 2"),
        (lambda m: plot.TraceDisplay({}), "no draws"),
        (lambda m: plot.TraceDisplay({"a": np.zeros((2, 3))}).plot(np.empty((1, 3), dtype=object)), r"\(1, 2\)"),
        (lambda m: plot.ComparisonDisplay([[1.0]], ["a"], ["b", "c"]), r"expected \(1, 2\)"),
        (lambda m: plot.ComparisonDisplay([[1.0]], ["a"], ["b"], [True, False]), "larger_is_better"),
        (lambda m: plot.ComparisonDisplay([[1.0]], ["a"], ["b"], verdicts=[[]]), "verdicts"),
        (lambda m: plot.plot_tree(m["optimal"].tree_, ax="old"), "expected matplotlib axes, 'new' or None"),
    ],
)  # fmt: skip
def test_mistakes_are_told(call: Any, message: str, optimal: Any, average: Any, iris: Any) -> None:
    models = {"optimal": optimal, "average": average, "c45": et.C45TreeClassifier().fit(*iris)}
    with pytest.raises((QueryError, DataError), match=message):
        call(models)
