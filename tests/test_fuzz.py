"""A few hundred damaged inputs for every target of tests/fuzz, and a minute of them in the slow suite."""

from __future__ import annotations

import subprocess
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


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_minute_of_damaged_inputs(name: str, tmp_path: Path) -> None:
    """Guided by coverage where atheris is installed, under the budgets of time and memory of the program."""
    program = Path(__file__).parent / "fuzz" / "run.py"
    command = [sys.executable, str(program), name, "--seconds", "60", "--corpus", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
