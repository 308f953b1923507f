"""Every line of docs/threats.md names tests, and they exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_threat_has_a_test_that_exists() -> None:
    lines = [
        line
        for line in (ROOT / "docs" / "threats.md").read_text(encoding="utf-8").splitlines()
        if line[:1] == "|"
    ]
    threats = [line.strip("|").split("|") for line in lines[2:]]
    assert len(threats) > 10
    there = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    for who, _, tests in threats:
        named = re.findall(r"`(test_\w+)`", tests)
        assert named, f"no test for: {who}"
        assert set(named) <= there, f"{who}: {set(named) - there}"
