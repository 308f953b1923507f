"""Processes that are killed at random moments end by their signal, whatever they do, and leave no half file.

A few kills of each work; ``make test-kills`` has ten thousand.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason='the explorer is among the works: pip install "everytree[web]"')

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="children are waited for as Linux has it"),
]


def test_killed_at_random_moments() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "kills.run", "--kills", "120", "--seed", "1"],
        cwd=Path(__file__).parent, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "120 kills" in run.stdout
