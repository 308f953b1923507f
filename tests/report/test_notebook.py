"""What a notebook cell shows: static HTML, beside scikit-learn's own, and never an error."""

from __future__ import annotations

import warnings
from html.parser import HTMLParser

import pytest
from page_cases import HOSTILE, classifiers, mixed_table
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

import everytree as et


def tags(html: str) -> list[str]:
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            found.append(tag)

    Reader().feed(html)
    return found


def test_a_posterior_shows_its_most_probable_tree_and_what_it_uses() -> None:
    X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 6
    names = [HOSTILE[0], HOSTILE[1]]
    post = et.TreeSpace(X, [0, 1, 1, 1] * 6, max_depth=2, test_names=names).posterior()
    html = post._repr_html_()
    assert "Log evidence" in html
    assert "svg" in tags(html)
    assert "script" not in tags(html)
    assert "img" not in tags(html)
    assert "table" in tags(html)


def test_a_slow_posterior_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    post = et.TreeSpace([[0], [1]] * 4, [0, 1] * 4, max_depth=1).posterior()

    def slow() -> None:
        raise et.LimitReached("time limit reached", "time")

    monkeypatch.setattr(post, "map_tree", slow)
    assert "takes longer than a cell should" in post._repr_html_()


@pytest.mark.parametrize("kind", classifiers("category"))
def test_a_fitted_classifier_adds_to_scikit_learns_box(kind: str) -> None:
    X, y = mixed_table(60)
    model = classifiers("category")[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = model._repr_html_()
        assert "svg" not in tags(before.split("</style>")[-1]) or "not fitted" in before.lower()
        model.fit(X, y)
        html = model._repr_html_()
    assert "sk-container" in html
    own = html.rpartition("</script>")[2]
    assert "<svg" in own or "<pre" in own
    assert model._repr_mimebundle_()["text/html"]


def test_settings_and_pipelines_of_scikit_learn_still_count() -> None:
    X, y = mixed_table(60, missing=False)
    model = et.OptimalTreeClassifier(max_depth=1).fit(X, y)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}
    assert "OptimalTreeClassifier" in estimator_html_repr(make_pipeline(model))
