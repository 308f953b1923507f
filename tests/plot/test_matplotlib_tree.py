"""The matplotlib picture: scikit-learn's keywords, no overlaps, and names taken literally."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn.tree

from everytree.errors import DataError
from everytree.plot import plot_tree
from everytree.trees.tree import Tree

matplotlib = pytest.importorskip("matplotlib", reason='pip install "everytree[plot]"')


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    yield
    pyplot.close("all")


def full_tree(depth: int, n_classes: int = 2, **names: Any) -> Tree:
    rng = np.random.default_rng(depth)

    def nested(left: int) -> Any:
        return None if left == 0 else (int(rng.integers(4)), nested(left - 1), nested(left - 1))

    X, counts = rng.integers(0, 2, (80, 4)), rng.integers(0, 3, (80, n_classes))
    return Tree.from_structure(nested(depth), X, counts, **names)


def test_the_keywords_are_those_of_scikit_learn() -> None:
    theirs = set(inspect.signature(sklearn.tree.plot_tree).parameters) - {"decision_tree"}
    assert theirs <= set(inspect.signature(plot_tree).parameters)


@pytest.mark.long
@pytest.mark.parametrize(("depth", "n_classes"), [(0, 2), (3, 2), (4, 3), (3, 26), (5, 2)])
@pytest.mark.parametrize("size", [None, (25, 6), (28, 12)])
def test_boxes_lie_inside_and_apart(depth: int, n_classes: int, size: Any) -> None:
    from matplotlib import pyplot

    tree = full_tree(depth, n_classes)
    ax = None if size is None else pyplot.figure(figsize=size).add_subplot()
    notes = tree.plot(ax=ax)
    assert len(notes) == tree.n_nodes
    figure = notes[0].figure
    figure.canvas.draw()
    boxes = [note.get_bbox_patch().get_window_extent() for note in notes]
    room = figure.bbox if ax is None else ax.get_window_extent()
    for box in boxes:
        assert room.x0 - 1 <= box.x0
        assert box.x1 <= room.x1 + 1
        assert room.y0 - 1 <= box.y0
        assert box.y1 <= room.y1 + 1
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)


def test_a_new_figure_keeps_the_words_readable() -> None:
    notes = full_tree(5).plot()
    assert notes[0].get_fontsize() >= 9
    assert notes[0].figure.get_size_inches().max() > 20


@pytest.mark.filterwarnings("ignore:the tree fits")
def test_a_tree_too_large_for_its_axes_warns() -> None:
    from matplotlib import pyplot

    ax = pyplot.figure(figsize=(4, 3)).add_subplot()
    with pytest.warns(
        UserWarning, match=r"letters of 0\.\d points: use axes of about \d+ x \d+ inches, max_depth"
    ):
        assert len(full_tree(6).plot(ax=ax)) == 127


def test_the_current_axes_are_used_as_scikit_learn_does() -> None:
    from matplotlib import pyplot

    _, (left, right) = pyplot.subplots(1, 2)
    assert full_tree(1).plot()[0].axes is right
    assert full_tree(1).plot(ax=left)[0].axes is left


def test_words_in_the_boxes() -> None:
    tree = Tree.from_structure((0, None, None), [[0], [1]], [[8, 2], [1, 9]], dirichlet=1.0)
    texts = [note.get_text() for note in tree.plot(feature_names=["fever"], class_names=["well", "ill"])]
    assert texts[0].splitlines() == ["fever?", "samples = 20", "value = [9, 11]", "class = ill", "p = 0.545"]
    assert texts[1].splitlines() == ["samples = 10", "value = [8, 2]", "class = well", "p = 0.75"]

    texts = [
        note.get_text() for note in tree.plot(class_names=False, label="none", impurity=True, node_ids=True)
    ]
    assert texts[1].splitlines() == ["node 1", "0.375", "10", "[8, 2]"]

    texts = [note.get_text() for note in tree.plot(label="root", proportion=True, precision=2)]
    assert texts[0].splitlines()[1:3] == ["samples = 100.0%", "value = [0.45, 0.55]"]
    assert texts[1].splitlines()[:2] == ["50.0%", "[0.75, 0.25]"]

    cut = full_tree(3).plot(max_depth=1)
    assert len(cut) == 3
    assert "… 4 leaves not drawn" in cut[1].get_text()


def test_fill_and_corners() -> None:
    tree = full_tree(1)
    filled, plain = tree.plot()[1], tree.plot(filled=False, rounded=False)[1]
    assert filled.get_bbox_patch().get_facecolor() != plain.get_bbox_patch().get_facecolor()
    assert type(filled.get_bbox_patch().get_boxstyle()).__name__ == "Round"
    assert type(plain.get_bbox_patch().get_boxstyle()).__name__ == "Square"
    assert tree.plot(fontsize=7)[0].get_fontsize() == 7


def test_names_are_not_read_as_formulas() -> None:
    notes = full_tree(1, test_names=["$x^2$ costs \\$5 $"] * 4, classes=["$\\frac$", "b"]).plot()
    notes[0].figure.canvas.draw()  # a broken formula would raise here
    assert "$x^2$ costs" in notes[0].get_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "some"}, r"label is 'some': expected 'all', 'root' or 'none'"),
        ({"fontsize": 0}, r"fontsize is 0: expected a positive number"),
        ({"feature_names": ["a"]}, r"test_names has 1 names: expected one per test, 4"),
        ({"class_names": ["a"]}, r"class_names is \['a'\]: expected one name per class, 2"),
        ({"class_names": "ab"}, r"class_names is 'ab'"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        full_tree(1).plot(**options)


def test_without_matplotlib_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"everytree\[plot\].*to_svg"):
        full_tree(1).plot()
