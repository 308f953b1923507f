"""Texts of real files in other languages: blanks around them and joined spellings count as they do in ``predict``."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import worlds

import everytree as et
from everytree.export.methods import Exports

REGION = ("East", "EAST", "east", "West", "WEST", "North")
TOWN = ("München", "MÜNCHEN", "münchen", "Köln", "KÖLN", "Ulm")
CODE = ("AA", "Aa", "B", "C")  # stay apart


def rows(n: int, seed: int, padded: bool) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "region": draw.choice(REGION, n), "town": draw.choice(TOWN, n), "code": draw.choice(CODE, n),
    })  # fmt: skip
    if padded:
        for name in frame:
            blanks = draw.choice(np.array(["", " ", "  "], dtype=object), n)
            frame[name] = blanks + frame[name].astype(object) + blanks[::-1]
            frame.loc[draw.random(n) < 0.1, name] = None
    return frame


@cache
def fitted(kind: str) -> Any:
    """A model of texts in several spellings, read as a file is."""
    X = rows(400, 1, padded=False)
    score = (X["region"].str.lower() == "east") * 2.0 + (X["town"].str.lower() == "münchen") * 1.5
    score = score + (X["code"] == "Aa") * 1.0 + np.random.default_rng(2).normal(0, 0.4, 400)
    data = et.read(X.assign(kind=np.where(score > 1.6, "good", "bad")), "kind")
    features, y = data.split()
    if kind == "tree":
        return et.OptimalTreeClassifier(max_depth=3, leaf_penalty=0, missing="category").fit(features, y)
    if kind == "cart":
        return et.CARTTreeClassifier().fit(features, y)
    if kind == "path":
        return et.PathAverageTreeClassifier().fit(features, y)
    if kind == "nearest":
        return et.EveryTreeClassifier(time_limit=3).fit(features, y)
    return et.BayesOptimalClassifier(max_depth=2, missing="category").fit(features, y).compress(0.02)


def exported(kind: str) -> tuple[Exports, Any]:
    model = fitted(kind)
    asked = model.nearest_tree() if kind == "nearest" else model
    return asked, asked


KINDS = ("tree", "cart", "path", "rules", "nearest")


def same(kind: str, run: Any, most: float = 1e-12, padded: bool = True) -> None:
    written, model = exported(kind)
    asked = rows(300, 3, padded)
    form = written.portable()
    assert any(condition.any_case for condition in form.conditions())
    found, labels = run(form, asked)
    assert np.abs(found - model.predict_proba(asked)).max() <= most
    assert list(labels) == model.predict(asked).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_python(kind: str) -> None:
    same(kind, worlds.in_python)


@pytest.mark.parametrize("kind", KINDS)
def test_sqlite(kind: str) -> None:
    same(kind, worlds.in_sqlite)


@pytest.mark.parametrize("kind", KINDS)
def test_duckdb(kind: str) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    same(kind, worlds.in_duckdb)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("kind", KINDS)
def test_node(kind: str, tmp_path: Path) -> None:
    same(kind, lambda form, asked: worlds.in_node(form, asked, tmp_path))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("kind", KINDS)
def test_c(kind: str, tmp_path: Path) -> None:
    same(kind, lambda form, asked: worlds.in_c(form, asked, tmp_path))


@pytest.mark.parametrize("kind", ["tree", "cart"])
def test_sklearn(kind: str) -> None:
    same(kind, worlds.in_sklearn)


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_takes_the_usual_spellings_without_blanks(kind: str) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    same(kind, worlds.in_onnx, 1e-6, padded=False)


def test_excel_and_pmml_ask_so() -> None:
    written, _ = exported("tree")
    formula = written.to_excel()
    usual = next(c.value for c in written.portable().conditions() if str(c.value).lower() == "east")
    assert f'(TRIM(A2)="{usual}")' in formula
    assert 'EXACT(TRIM(C2),"Aa")' in formula
    document = written.to_pmml()
    assert 'field="region" booleanOperator="isIn"' in document
    assert '"EAST"' in document
    assert f"region: '{usual}'" in document
    assert "in any case of letters" in document
