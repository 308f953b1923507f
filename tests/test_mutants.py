"""The tables of mutants fit the sources: each piece of text is there once, and its change is another program."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mutants import of_core, of_verify
from mutants.mutant import ROOT, Mutant

ALL = [*of_verify.MUTANTS, *of_core.MUTANTS]


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: f"{Path(mutant.file).name}: {mutant.name}")
def test_a_mutant_is_another_program(mutant: Mutant) -> None:
    changed = mutant.mutated()
    assert changed != mutant.source()
    assert mutant.tests.split()
    if mutant.file.endswith(".py"):
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(mutant.source()))
        assert all((ROOT / "tests" / each.split("::")[0]).exists() for each in mutant.tests.split())
    else:
        places = [
            (ROOT / "tests" / each, ROOT / "core" / "tests" / f"{each}.cpp") for each in mutant.tests.split()
        ]
        assert all(python.is_file() or cpp.exists() for python, cpp in places)
        assert all((ROOT / each).exists() for each in mutant.compiles.split())


def test_names_are_different() -> None:
    names = [(mutant.file, mutant.name) for mutant in ALL]
    assert len(set(names)) == len(names)
