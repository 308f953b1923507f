"""The page as a file: its policy, the escaping of its data, its size, and that it is whole."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_cases import HOSTILE, mixed_table
from sklearn.datasets import load_breast_cancer

import everytree as et
from everytree.report import page_html, show, write_report
from everytree.report.page import html_of

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
BUNDLE = Path(et.__file__).parent / "report" / "bundle"


class Parsed(HTMLParser):
    """The elements of a page, and the texts of its scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self._in = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in in self.texts:
            self.texts[self._in][-1] += data


@pytest.fixture(scope="module")
def page() -> str:
    X, y = mixed_table()
    model = et.BayesOptimalClassifier(max_depth=3, min_leaf=4, missing="category").fit(X, y)
    return page_html(model, (X, y), title="A page")


def test_the_policy_allows_this_script_and_this_style_only(page: str) -> None:
    found = Parsed(page)
    policy = (
        next(a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy") or ""
    )
    script, style = found.texts["script"][-1], found.texts["style"][0]
    for text, directive in ((script, "script-src"), (style, "style-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    for rule in ("default-src 'none'", "connect-src 'none'", "base-uri 'none'", "form-action 'none'"):
        assert rule in policy
    assert "unsafe" not in policy
    assert not [
        name for _, a in found.tags for name in a if name.startswith("on") or name in ("style", "src")
    ]
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_the_bundle_evaluates_nothing() -> None:
    script = (BUNDLE / "page.js").read_text(encoding="utf-8")
    for word in ("eval(", "Function(", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"):
        assert word not in script
    assert len(script) < 80_000


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=60) | st.sampled_from(HOSTILE))
def test_no_name_leaves_its_place(name: str) -> None:
    empty: dict[str, Any] = {"title": name, "columns": [{"name": name}], name: name}
    html = html_of(empty)
    found = Parsed(html)
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert json.loads(found.texts["script"][0]) == empty
    assert not re.search("[<>&\u2028\u2029]", found.texts["script"][0])


@pytest.mark.long
def test_a_page_of_breast_cancer_is_small(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = et.BayesOptimalClassifier(max_depth=3, min_leaf=5).fit(X, y)
    size = write_report(model, tmp_path / "page.html", (X, y), time_limit=60)
    assert size == os.path.getsize(tmp_path / "page.html")
    assert size < 500_000
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.long
def test_many_classes_and_many_trees_stay_below_two_megabytes() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 14))
    y = np.array([f"letter {chr(97 + k)}" for k in (X[:, :5] @ [1, 2, 4, 8, 16]) % 26])
    model = et.BayesOptimalClassifier(max_depth=4, min_leaf=2).fit(X, y)
    assert len(page_html(model, (X, y))) < 2_000_000


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    model = et.OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"])
    with pytest.raises(OSError, match="absent"):
        write_report(model, tmp_path / "absent" / "page.html")
    (tmp_path / "page.html").write_text("before")
    with pytest.raises(et.DataError, match="which the model does not know"):
        write_report(model, tmp_path / "page.html", ([[1]], ["c"]))
    assert (tmp_path / "page.html").read_text() == "before"
    assert os.listdir(tmp_path) == ["page.html"]


def test_the_same_model_gives_the_same_page(page: str) -> None:
    X, y = mixed_table()
    model = et.BayesOptimalClassifier(max_depth=3, min_leaf=4, missing="category").fit(X, y)
    assert page_html(model, (X, y), title="A page") == page


def test_a_notebook_frame_holds_the_page(page: str) -> None:
    model = et.OptimalTreeClassifier(max_depth=1).fit(pd.DataFrame({HOSTILE[0]: [1, 2]}), ["a", HOSTILE[2]])
    found = Parsed(show(model, height=300)._repr_html_())
    assert [tag for tag, _ in found.tags] == ["iframe"]
    assert found.tags[0][1]["sandbox"] == "allow-scripts allow-downloads"
    assert found.tags[0][1]["srcdoc"] == page_html(model)
    with pytest.raises(et.QueryError, match="height=5"):
        show(model, height=5)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.skipif(not (WEB / "node_modules" / "esbuild").exists(), reason="needs npm install in web/")
def test_building_gives_the_bundle_that_is_shipped(tmp_path: Path) -> None:
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=WEB, check=True, timeout=60)
    for name in ("page.js", "style.css"):
        assert (tmp_path / name).read_bytes() == (BUNDLE / name).read_bytes(), "run: make web"


@pytest.mark.long
@pytest.mark.skipif(not (WEB / "node_modules" / "typescript").exists(), reason="needs npm install in web/")
def test_the_types_of_the_page_hold() -> None:
    done = subprocess.run(
        ["npx", "--no-install", "tsc", "--noEmit"], cwd=WEB, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stdout
