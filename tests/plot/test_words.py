"""Names, text, DOT and colours: what stands in a picture, whatever the data called it."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from everytree.draw.colors import INK, class_color, node_fill
from everytree.draw.labels import clean, count_list, probability, shorten, text_width, wrap
from everytree.errors import DataError
from everytree.trees.tree import Tree

ODD_NAMES = [
    "two\nlines\r\n and\ttabs",
    '<b>&amp;"quoted"\\',
    "\x1b[31mred\x00\x07",
    "日本語 🌳 \ud800",
    "x" * 5000,
]


def odd_tree() -> Tree:
    rng = np.random.default_rng(5)
    nested = (0, (1, None, (2, None, None)), (3, None, (4, None, None)))
    X, counts = rng.integers(0, 2, (60, 5)), rng.integers(0, 3, (60, 2))
    return Tree.from_structure(nested, X, counts, test_names=ODD_NAMES, classes=["</text>", 'a"b\\'])


def deep_tree(depth: int = 1500) -> Tree:
    nested: Any = None
    for _ in range(depth):
        nested = (0, None, nested)
    return Tree.from_structure(nested, [[0], [1]], [[1, 2], [3, 1]])


def test_clean_gives_one_printable_line() -> None:
    assert clean(ODD_NAMES[0]) == "two lines and tabs"
    assert clean(ODD_NAMES[2]) == "\\x1b[31mred\\x00\\x07"
    assert clean("a\u202eb") == "a\\u202eb"  # text that would run backwards
    assert clean("\U0001f468\u200d\U0001f33e") == "\U0001f468\u200d\U0001f33e"  # an emoji built with a joiner
    assert clean(10**5000).startswith("a value of type int") or len(clean(10**5000)) <= 60
    for name in ODD_NAMES:
        clean(name).encode()  # no lone surrogates left


def test_wrap_and_shorten() -> None:
    assert wrap("short", 10, 2) == ["short"]
    assert wrap("", 10, 2) == [""]
    lines = wrap("x" * 10**6, 20, 3)
    assert [len(line) for line in lines] == [20, 20, 20]
    assert lines[-1].endswith("…")
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abcd", 4) == "abcd"


def test_text_width_is_on_the_safe_side() -> None:
    """Compared with DejaVu Sans, the widest of the fonts a browser is likely to take."""
    pytest.importorskip("matplotlib", reason='pip install "everytree[plot]"')
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=100)
    for line in (
        "worst concave points <= 0.1614?",
        "WMWM @ 100%",
        "illicit fill",
        "279 of 282 examples",
        "p = 0.986",
    ):
        real = text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] / 100
        assert real <= text_width(line) <= 1.35 * real


def test_probabilities_round_to_certainty_only_when_certain() -> None:
    assert probability(1.0, 3) == "1"
    assert probability(0.9996, 3) == ">0.999"
    assert probability(0.0, 2) == "0"
    assert probability(0.001, 2) == "<0.01"
    assert probability(0.5, 0) == "<0.5"
    assert probability(0.123456, 4) == "0.1235"


def test_counts_in_words() -> None:
    leaf = Tree([[-1, -1]], [-1], [[0, 5, 1, 9, 2, 2, 3]], n_tests=0)
    assert count_list(leaf, 0) == "class 3 9, class 1 5, class 6 3, class 4 2, 2 other classes 3"
    assert count_list(Tree([[-1, -1]], [-1], [[0, 0]], n_tests=0), 0) == "no examples"


def test_text_of_a_small_tree() -> None:
    tree = Tree.from_structure(
        (1, None, (0, None, None)),
        [[0, 0], [0, 1], [1, 1]],
        [[4, 1], [1, 0], [0, 4]],
        test_names=["fever", "age <= 3"],
        classes=["well", "ill"],
    )
    assert tree.to_text() == str(tree)
    assert tree.to_text().splitlines() == [
        "age <= 3?  (well 5, ill 5)",
        "├─ yes: fever?  (well 1, ill 4)",
        "│  ├─ yes: ill  p = 1  (well 0, ill 4)",
        "│  └─ no:  well  p = 1  (well 1, ill 0)",
        "└─ no:  well  p = 0.8  (well 4, ill 1)",
    ]
    assert tree.to_text(max_depth=1).splitlines()[1:] == [
        "├─ yes: … 2 leaves, together: ill  p = 0.8  (well 1, ill 4)",
        "└─ no:  well  p = 0.8  (well 4, ill 1)",
    ]
    assert tree.to_text(max_depth=0) == "… 3 leaves, together: well  p = 0.5  (well 5, ill 5)"


def test_text_has_one_line_per_node_whatever_the_names() -> None:
    assert len(odd_tree().to_text().splitlines()) == odd_tree().n_nodes
    deep = deep_tree()
    assert len(deep.to_text().splitlines()) == deep.n_nodes
    assert len(deep.to_text(max_depth=200).splitlines()) == 401


@pytest.mark.parametrize("method", ["to_text", "to_dot", "to_svg", "plot"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, r"max_depth is -1: expected None or an integer, 0 or more"),
        ({"max_depth": 1.5}, r"max_depth is 1.5"),
        ({"max_depth": True}, r"max_depth is True"),
        ({"precision": -1}, r"precision is -1: expected an integer from 0 to 17"),
        ({"precision": 10**9}, r"precision is 1000000000"),
        ({"precision": "3"}, r"precision is '3'"),
    ],
)
def test_bad_options_are_refused(method: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        getattr(odd_tree(), method)(**options)


def dot_strings(text: str) -> list[str]:
    """The quoted strings of a DOT text, read as Graphviz reads them."""
    found, current, inside, i = [], "", False, 0
    while i < len(text):
        if inside and text[i] == "\\":
            current += text[i : i + 2]
            i += 2
            continue
        if text[i] == '"':
            if inside:
                found.append(current)
            inside, current = not inside, ""
        elif inside:
            current += text[i]
        i += 1
    assert not inside
    return found


def test_dot_is_escaped() -> None:
    dot = odd_tree().to_dot()
    labels = [s.replace('\\"', '"').replace("\\\\", "\\") for s in dot_strings(dot)]
    assert any(s.startswith('<b>&amp;"quoted"\\?') for s in labels)
    assert any(s.startswith('a"b\\') for s in labels)
    assert dot.count("->") == odd_tree().n_nodes - 1
    assert "fillcolor" not in odd_tree().to_dot(filled=False)
    assert deep_tree().to_dot().count("->") == 3000
    assert odd_tree().to_dot(max_depth=0).count("->") == 0


def test_graphviz_reads_the_dot() -> None:
    if shutil.which("dot") is None:
        pytest.skip("needs Graphviz: apt install graphviz")
    done = subprocess.run(
        ["dot", "-Tsvg"], input=odd_tree().to_dot().encode(), capture_output=True, check=True
    )
    assert b"<svg" in done.stdout


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_words_stand_out_from_every_fill() -> None:
    for c in range(40):
        for p in (0.0, 0.3, 0.7, 1.0):
            fill = luminance(node_fill(c, p, 3))
            assert (fill + 0.05) / (luminance(INK) + 0.05) >= 4.5


def test_class_colors_differ_up_to_32_classes() -> None:
    assert len({class_color(c) for c in range(32)}) == 32
    assert node_fill(0, 1.0, 1) == node_fill(0, 1.0, 2)
    assert node_fill(0, 0.9, 2) != node_fill(0, 0.6, 2)
