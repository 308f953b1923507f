"""The words in a picture of a tree: names made safe to show, wrapped and measured.

A name comes from somebody's data: it may hold line breaks, control characters, markup or a million letters.
`clean` makes it one printable line, `wrap` fits it in a box; escaping for SVG or DOT is left to those files.
"""

from __future__ import annotations

import textwrap
import unicodedata

import numpy as np

from everytree.common.text import as_number, clip
from everytree.draw.shapes import BinaryTree, Counted
from everytree.errors import DataError

JOINERS = "\u200c\u200d"
"""Invisible, but they shape Persian text and build emoji, so they stay."""

NO_BREAK = "\u00a0"

MAX_LISTED_CLASSES = 4


def clean(text: object) -> str:
    """Make a text one printable line: white space becomes single blanks, other control characters are written out.

    >>> clean("two\\nlines"), clean("bell\\x07")
    ('two lines', 'bell\\\\x07')
    """
    try:
        words = " ".join(str(text).split())
    except ValueError:  # a label that is an integer of more digits than Python prints
        words = clip(text)
    return "".join(c if c.isprintable() or c in JOINERS else ascii(c)[1:-1] for c in words)


def wrap(text: object, width: int, max_lines: int) -> list[str]:
    """Wrap a text to `max_lines` lines of about `width` letters; what does not fit ends in an ellipsis.

    >>> wrap("a rather long name of a test", 12, 2)
    ['a rather', 'long name o…']
    >>> wrap("concave points <= 0.16", 20, 2)  # an operator stays with its value
    ['concave points', '<= 0.16']
    """
    start = clean(text)[: width * (max_lines + 2)]  # wrapping a name of a million letters would take seconds
    for operator in ("<=", "=="):
        start = start.replace(f" {operator} ", f" {operator}{NO_BREAK}")
    lines = textwrap.wrap(start, width, break_on_hyphens=False) or [""]
    if len(lines) > max_lines:
        lines = lines[:max_lines]
        lines[-1] = lines[-1][: width - 1].rstrip() + "…"
    return [line.replace(NO_BREAK, " ") for line in lines]


def shorten(text: object, width: int) -> str:
    """Shorten a text to one line of at most `width` letters."""
    line = clean(text)
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def text_width(text: str) -> float:
    """Estimate the width of a line in ems, on the safe side for the sans-serif fonts that browsers pick."""
    return sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if letter in "iljI.,:;'|!()[] ft/":
        return 0.39
    if letter in "mW@%…—":
        return 1.0
    if letter in "wM&=<>+→≤≥":
        return 0.88
    if "0" <= letter <= "9" or "a" <= letter <= "z":
        return 0.63
    if letter.isascii():
        return 0.72
    if unicodedata.combining(letter) or letter in JOINERS:
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.35 if unicodedata.category(letter) == "So" else 1.02
    return 0.78


def question(tree: BinaryTree, k: int) -> str:
    """Say what node k asks, such as ``age <= 54.5?``."""
    return f"{clean(tree.node_name(k))}?"


def predicted(tree: BinaryTree, k: int) -> int:
    """Return the index of the class that node k predicts (or would, as a leaf)."""
    return int(tree.says[k])


def class_name(tree: Counted, c: int) -> str:
    """Return the label of a class as one printable line; ``class 2`` in a tree without labels."""
    return f"class {c}" if tree.classes is None else clean(tree.class_label(c))


def examples(n: float) -> str:
    """Say a number of examples: ``no examples``, ``1 example``, ``12 examples``."""
    return "no examples" if n == 0 else f"{as_number(n)} example{'' if n == 1 else 's'}"


def probability(p: float, precision: int) -> str:
    """Round a probability for people, so that only certainty is printed as 0 or 1.

    >>> probability(0.25, 3), probability(1.0, 3), probability(0.99999, 3), probability(2 / 3, 2)
    ('0.25', '1', '>0.999', '0.67')
    """
    text = f"{p:.{precision}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text == "1" and p < 1:
        return f">{1 - 10.0**-precision:.{precision}f}" if precision else ">0.5"
    if text == "0" and p > 0:
        return f"<{10.0**-precision:.{precision}f}" if precision else "<0.5"
    return text


def count_list(tree: Counted, k: int) -> str:
    """Say the class counts of node k: ``well 41, ill 3``; of many classes the largest few."""
    counts = tree.counts[k]
    if not counts.any():
        return "no examples"
    if tree.n_classes <= MAX_LISTED_CLASSES:
        return ", ".join(
            f"{shorten(class_name(tree, c), 30)} {as_number(n)}" for c, n in enumerate(counts.tolist())
        )
    largest = np.argsort(-counts, kind="stable")
    seen = [int(c) for c in largest if counts[c]]
    first, rest = seen[:MAX_LISTED_CLASSES], seen[MAX_LISTED_CLASSES:]
    parts = [f"{shorten(class_name(tree, c), 30)} {as_number(counts[c])}" for c in first]
    if rest:
        other = "other class" if len(rest) == 1 else f"{len(rest)} other classes"
        parts.append(f"{other} {as_number(counts[rest].sum())}")
    return ", ".join(parts)


def checked_options(max_depth: object, precision: object) -> tuple[int | None, int]:
    """Return `max_depth` (None or ≥ 0) and `precision` (0 to 17 decimals) once they are valid."""
    if max_depth is not None and (
        isinstance(max_depth, bool) or not isinstance(max_depth, (int, np.integer)) or max_depth < 0
    ):
        raise DataError(f"max_depth is {clip(max_depth)}: expected None or an integer, 0 or more.")
    if (
        isinstance(precision, bool)
        or not isinstance(precision, (int, np.integer))
        or not 0 <= precision <= 17
    ):
        raise DataError(f"precision is {clip(precision)}: expected an integer from 0 to 17.")
    return (None if max_depth is None else int(max_depth)), int(precision)
