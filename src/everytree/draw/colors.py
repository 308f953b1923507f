"""Colours of the classes, which readers with any kind of colour vision can tell apart.

The hues are those of Okabe and Ito with grey for black; blue and orange come first, because two classes are
the common case. From the ninth class on the hues return darker, then lighter: there colour only helps, the
words in the boxes decide.
"""

from __future__ import annotations

HUES = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442", "#999999")
INK = "#1a1a1a"
PAPER = "#ffffff"
BLACK = "#000000"
QUIET = "#f4f4f4"
LINE = "#8a8a8a"
"""Seen on white and on black paper alike."""


def class_color(c: int) -> str:
    """Return the colour of class index c."""
    hue, turn = HUES[c % len(HUES)], c // len(HUES) % 4
    if turn == 0:
        return hue
    return (
        mix(hue, BLACK, 0.35) if turn == 1 else mix(hue, PAPER, 0.45) if turn == 2 else mix(hue, BLACK, 0.6)
    )


def node_fill(c: int, p: float, n_classes: int) -> str:
    """Return the fill of a node that predicts class c with probability p: paler the less sure, always readable."""
    guess = 1 / n_classes
    sure = 1.0 if n_classes == 1 else min(max((p - guess) / (1 - guess), 0.0), 1.0)
    return mix(PAPER, class_color(c), 0.12 + 0.38 * sure)


def mix(one: str, other: str, share: float) -> str:
    """Return the colour `share` of the way from `one` to `other`.

    >>> mix("#000000", "#ffffff", 0.5)
    '#808080'
    """
    parts = []
    for i in (1, 3, 5):
        a, b = int(one[i : i + 2], 16), int(other[i : i + 2], 16)
        parts.append(round(a + (b - a) * share))
    return "#{:02x}{:02x}{:02x}".format(*parts)
