"""Every language says what the model says: on thousands of rows with gaps, unseen values and floats beside the cuts."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import worlds
from cases import SUMS, TREES, Case, case

from everytree.errors import QueryError

ALL = (*TREES, *SUMS, "nearest")
EXACT, SINGLE = 1e-12, 1e-6


@cache
def of(name: str) -> Case:
    return case(name)


def same(found: worlds.Answer, asked: Case, most: float = EXACT, rows: np.ndarray | None = None) -> None:
    proba, labels = found
    keep = np.ones(len(asked.rows), dtype=bool) if rows is None else rows
    assert proba.shape == asked.proba.shape
    assert np.abs(proba - asked.proba)[keep].max() <= most
    wanted = [label for label, kept in zip(asked.labels, keep, strict=True) if kept]
    assert [label for label, kept in zip(labels, keep, strict=True) if kept] == wanted


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


@pytest.mark.parametrize("name", ALL)
def test_the_form_says_what_the_model_says(name: str) -> None:
    asked = of(name)
    rows = [[None if x is None or x != x else x for x in row] for row in asked.rows.itertuples(index=False)]
    if name in SUMS:
        found = np.array([asked.form.answer(row) for row in rows])
    else:
        leaves = [asked.form.answer(row) for row in rows]
        found = np.array([leaf.proba for leaf in leaves])
        assert [asked.form.classes[leaf.says] for leaf in leaves] == asked.labels
        assert len(asked.form.nodes) > 3
    assert np.abs(found - asked.proba).max() <= EXACT
    assert len(np.unique(found[:, 0])) > 1


@pytest.mark.parametrize("name", ALL)
def test_python(name: str) -> None:
    asked = of(name)
    same(worlds.in_python(asked.form, asked.rows), asked)


@pytest.mark.parametrize("name", ALL)
def test_sqlite(name: str) -> None:
    asked = of(name)
    same(worlds.in_sqlite(asked.form, asked.rows), asked, rows=plain(asked))


@pytest.mark.parametrize("name", ALL)
def test_duckdb(name: str) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    asked = of(name)
    same(worlds.in_duckdb(asked.form, asked.rows), asked, rows=plain(asked))


def plain(asked: Case) -> np.ndarray | None:
    """The rows that SQL answers exactly: of a sum with three classes, those that need not be moved into 0 … 1."""
    if asked.name in SUMS and len(asked.form.classes) > 2:
        inside = (asked.proba > np.array(asked.form.floor) + 1e-9).all(axis=1)
        assert inside.mean() > 0.3
        return inside
    return None


@needs("node")
@pytest.mark.parametrize("name", ALL)
def test_node(name: str, tmp_path: Path) -> None:
    asked = of(name)
    same(worlds.in_node(asked.form, asked.rows, tmp_path), asked)


@needs("gcc")
@pytest.mark.parametrize("name", ALL)
def test_c(name: str, tmp_path: Path) -> None:
    asked = of(name)
    same(worlds.in_c(asked.form, asked.rows, tmp_path), asked)


@needs("g++")
def test_c_is_also_cplusplus(tmp_path: Path) -> None:
    asked = of("optimal")
    same(worlds.in_c(asked.form, asked.rows, tmp_path, "g++", "c++"), asked)


def single(asked: Case) -> Case:
    """The case with numbers that a float32 holds, the cuts' own neighbours among them."""
    rows = asked.rows.copy()
    for name in rows.columns:
        if rows[name].dtype == float:
            rows[name] = rows[name].to_numpy(dtype=np.float32).astype(float)
    model = asked.model if hasattr(asked.model, "predict_proba") else asked.model.model
    return Case(
        asked.name, asked.model, asked.form, rows, model.predict_proba(rows), list(model.predict(rows))
    )


@pytest.mark.parametrize("name", ALL)
def test_onnx(name: str) -> None:
    pytest.importorskip(
        "onnxruntime", reason='onnxruntime is not installed: pip install "everytree[export]" onnxruntime'
    )
    asked = single(of(name))
    proba, labels = worlds.in_onnx(asked.form, asked.rows)
    assert np.abs(proba - asked.proba).max() <= SINGLE
    sure = np.sort(asked.proba, axis=1)[:, -1] - np.sort(asked.proba, axis=1)[:, -2] > SINGLE
    different = [
        a for a, b, s in zip(labels, asked.labels, sure, strict=True) if a != b and (s or name not in SUMS)
    ]
    assert different == []


@pytest.mark.parametrize("name", [*TREES, "nearest"])
def test_sklearn(name: str) -> None:
    asked = single(of(name))
    if any(node.condition is None and node.proba[node.says] < max(node.proba) for node in asked.form.nodes):
        with pytest.raises(QueryError, match="not the most probable class"):
            worlds.in_sklearn(asked.form, asked.rows)  # The nearest tree says what the average says.
        return
    proba, labels = worlds.in_sklearn(asked.form, asked.rows)
    assert np.abs(proba - asked.proba).max() <= EXACT
    assert labels == asked.labels


@needs("soffice")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["optimal", "optimal-impute", "optimal-local", "cart", "compressed"])
def test_excel(name: str, tmp_path: Path) -> None:
    pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    asked = case(name, 1200)
    proba, labels = worlds.in_libreoffice(asked.form, asked.rows, tmp_path)
    # Spreadsheets compare numbers by about 15 digits: rows beside a cut may differ.
    beside = beside_cuts(asked)
    assert beside.mean() < 0.8
    assert np.abs(proba - asked.proba)[~beside].max() <= EXACT
    if labels:
        assert [a for a, b in zip(labels, beside, strict=True) if not b] == [
            a for a, b in zip(asked.labels, beside, strict=True) if not b
        ]


def beside_cuts(asked: Case) -> np.ndarray:
    """The rows with a number that differs from a cut by less than 1e-14 of it, and is not the cut."""
    found = np.zeros(len(asked.rows), dtype=bool)
    for condition in asked.form.conditions():
        if condition.op == "<=":
            values = asked.rows[asked.form.fields[condition.field].name].to_numpy(dtype=float)
            off = np.abs(values - condition.value)
            found |= (off > 0) & (off < 1e-14 * abs(condition.value))
    return found
