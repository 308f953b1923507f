"""Tools for scikit-learn's trees work on ours: its own text and pictures, SHAP and dtreeviz; JPMML reads our PMML."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import worlds
from cases import TREES, case
from sklearn.datasets import load_breast_cancer
from sklearn.tree import export_text, plot_tree

import everytree as et


@pytest.fixture(scope="module")
def cancer() -> tuple[pd.DataFrame, pd.Series, et.OptimalTreeClassifier]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.astype(np.float32).astype(float)
    return X, y, et.OptimalTreeClassifier(max_depth=3, min_leaf=5).fit(X, y)


def test_export_text_and_plot(cancer: tuple[pd.DataFrame, pd.Series, et.OptimalTreeClassifier]) -> None:
    X, _, model = cancer
    made = model.to_sklearn()
    assert np.array_equal(made.predict_proba(X), model.predict_proba(X))
    assert made.get_n_leaves() == model.tree_.n_leaves
    assert made.get_depth() == model.tree_.depth
    names = {test.attribute for test in model.binarizer_.tests_}
    text = export_text(made, feature_names=list(made.feature_names_in_))
    assert any(name in text for name in names)
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    import matplotlib

    matplotlib.use("Agg")
    assert len(plot_tree(made)) >= made.tree_.node_count


def test_a_copy_says_the_same(cancer: tuple[pd.DataFrame, pd.Series, et.OptimalTreeClassifier]) -> None:
    import pickle

    X, _, model = cancer
    copy = pickle.loads(pickle.dumps(model.to_sklearn()))
    assert np.array_equal(copy.predict(X), model.predict(X))


def test_shap(cancer: tuple[pd.DataFrame, pd.Series, et.OptimalTreeClassifier]) -> None:
    shap = pytest.importorskip("shap", reason="shap is not installed")
    X, _, model = cancer
    explainer = shap.TreeExplainer(model.to_sklearn())
    values = np.asarray(explainer.shap_values(X[:50]))
    total = values.sum(axis=1) + explainer.expected_value
    assert np.abs(total - model.predict_proba(X[:50])).max() < 1e-9


def test_dtreeviz(cancer: tuple[pd.DataFrame, pd.Series, et.OptimalTreeClassifier]) -> None:
    dtreeviz = pytest.importorskip("dtreeviz", reason="dtreeviz is not installed")
    X, y, model = cancer
    viz = dtreeviz.model(
        model.to_sklearn(),
        X_train=X,
        y_train=y,
        feature_names=list(X.columns),
        target_name="y",
        class_names=["0", "1"],
    )
    said = viz.explain_prediction_path(X.iloc[0].to_numpy())
    assert any(name in said for name in X.columns)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")
@pytest.mark.parametrize("name", TREES)
def test_jpmml(name: str, tmp_path: Path) -> None:
    pytest.importorskip("jpmml_evaluator", reason="jpmml_evaluator is not installed")
    pytest.importorskip("jpype", reason="JPype1 is not installed")
    asked = case(name)
    proba, labels = worlds.in_jpmml(asked.form, asked.rows, tmp_path)
    assert np.abs(proba - asked.proba).max() <= 1e-12
    assert labels == asked.labels
