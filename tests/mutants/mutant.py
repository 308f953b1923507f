"""What a mutant is: one exact piece of a source file, what it becomes, and the tests that must notice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "Mutant"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """A change of one place.

    Attributes
    ----------
    name : str
        What is wrong then, in a few words.
    file : str
        The source file, from the root of the project.
    old, new : str
        The text that is there exactly once, and the one that takes its place.
    tests : str
        What must fail: files of tests, below tests/ for Python and names of executables for the core.
    survives : str
        Why no test can fail, where that is so.
    compiles : str
        Of the core: the source files to compile, where the mutated file is a header.
    """

    name: str
    file: str
    old: str
    new: str
    tests: str
    survives: str = ""
    compiles: str = ""

    def source(self) -> str:
        return (ROOT / self.file).read_text(encoding="utf-8")

    def mutated(self) -> str:
        source = self.source()
        if source.count(self.old) != 1:
            raise ValueError(f"{self.file} has {self.old!r} {source.count(self.old)} times; expected it once")
        return source.replace(self.old, self.new)
