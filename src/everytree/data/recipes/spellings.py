"""Texts that differ only in the case of their letters: which are one word, and which are told and stay apart.

    East, EAST, east        one word in its usual spellings: small, large, or capital letters at the beginning
    AA, Aa, m, M, type A    codes may mean different things by case: they stay apart, and a note says so

A difference is one of spelling if a word of three letters or more is there, and no single letter differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from everytree.common.reading import looked
from everytree.common.text import show, show_many

__all__ = ["Spellings", "is_one_word", "spellings"]

LETTERS = re.compile(r"[^\W\d_]+")
WORD = 3  # letters
MOST = 2  # groups that are told


class Spellings(NamedTuple):
    """Small letters → the spelling that most rows have; and what is said of both kinds of groups."""

    same: dict[str, str]
    joined: list[list[str]]
    apart: list[list[str]]

    @property
    def note(self) -> str:
        """What was joined, and what differs only in case and was not."""
        said = [f"{_listed(group)} are one" for group in self.joined[:MOST]]
        if len(self.joined) > MOST:
            more = len(self.joined) - MOST
            said.append(f"so are those of {more} other word{'' if more == 1 else 's'}")
        if self.apart:
            said.append(f"{_listed(self.apart[0])} differ in case alone and stay apart")
        return "; ".join(said)


def spellings(cells: Mapping[str, int]) -> Spellings:
    """Group texts by their small letters; ``cells`` are different texts, and how many rows have each.

    >>> found = spellings({"East": 5, "EAST": 2, "AA": 1, "Aa": 1})
    >>> found.same, found.apart
    ({'east': 'East'}, [['AA', 'Aa']])
    >>> found.note
    "'EAST', 'East' are one; 'AA', 'Aa' differ in case alone and stay apart"
    """
    groups: dict[str, list[str]] = {}
    for cell in cells:
        groups.setdefault(cell.strip().lower(), []).append(cell)
    same, joined, apart = dict[str, str](), list[list[str]](), list[list[str]]()
    for small, group in looked(groups.items()):
        if not is_one_word(group):
            if len(group) > 1:
                apart.append(sorted(group))
            continue
        same[small] = max(group, key=lambda cell: (cells[cell], cell)).strip()
        if len(group) > 1:
            joined.append(sorted(group))
    return Spellings(same, joined, apart)


def is_one_word(group: Iterable[str]) -> bool:
    """Return whether texts with the same small letters are spellings of one word.

    >>> is_one_word(["new york", "New York"]), is_one_word(["type a", "type A"]), is_one_word(["Red", "rED"])
    (True, False, False)
    """
    texts = [text.strip() for text in group]
    if any(text not in {text.lower(), text.upper(), text.capitalize(), text.title()} for text in texts):
        return False
    parts = [LETTERS.findall(text) for text in texts]
    long = any(len(word) >= WORD for word in parts[0])
    return long and all(len({*words}) == 1 or len(words[0]) > 1 for words in zip(*parts, strict=True))


def _listed(group: list[str]) -> str:
    return show_many(group, 4) if len(group) > 1 else show(group[0])
