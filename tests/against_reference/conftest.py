"""Make the helpers of this folder importable, and start and end every test with the fastest kernels."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def fastest_kernels() -> Iterator[None]:
    """Kernels are chosen for the whole process: a test that changes them must put them back."""
    from everytree import _core

    _core.use_kernels("")
    yield
    _core.use_kernels("")
