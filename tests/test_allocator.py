"""Freed memory is given back before a question whose memory is limited."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import everytree as et
from everytree.common import allocator, limits


def resident() -> int:
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


@pytest.mark.skipif(sys.platform != "linux" or allocator._trim() is None, reason="no malloc_trim here")
def test_what_was_freed_is_given_back() -> None:
    held = [bytearray(1000) for _ in range(60_000)]  # small pieces, which the C library keeps
    kept = held[::100]
    before = resident()
    del held
    allocator.give_back()
    assert resident() < before - 30e6, len(kept)


def test_a_limited_question_gives_it_back_first(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(limits, "give_back", lambda: asked.append(1))
    X, y = np.eye(4, dtype=int), [0, 1, 0, 1]
    et.TreeSpace(X, y)
    assert not asked
    et.TreeSpace(X, y, memory_limit=10**9)
    assert asked


def test_without_such_a_library_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator, "_trim", lambda: None)
    allocator.give_back()
