"""A few hundred damaged inputs for every target of tests/fuzz; ``make fuzz`` goes on, guided by coverage."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))

from run import checked, mutated
from targets import TARGETS, seeds


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_inputs_are_read_or_refused(name: str) -> None:
    rng, kept = Random(f"quick {name}"), seeds(name)
    for content in kept:
        checked(TARGETS[name], content)
    for _ in range(60 if name == "report" else 300):  # a page takes long to make
        checked(TARGETS[name], mutated(rng.choice(kept), rng.choice(kept), rng))


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_are_valid(name: str) -> None:
    """A target that refuses its own seeds would try nothing but the refusal."""
    plain = TARGETS[name].__closure__
    assert plain is not None
    for content in seeds(name):
        plain[0].cell_contents(content)
