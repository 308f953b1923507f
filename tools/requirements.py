"""Print what pyproject.toml asks for, one requirement per line: dependencies, and those of the named extras.

    python tools/requirements.py dev

They are installed apart from the package: the package is built in the environment itself, so that a C++ edit
rebuilds, while a dependency that comes as source must be built in an environment of its own.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def of_extra(extra: str) -> Iterator[str]:
    """The requirements of one extra, with the extras it includes by the project's own name."""
    for requirement in PROJECT["optional-dependencies"][extra]:
        own = re.fullmatch(rf"{PROJECT['name']}\[(.*)\]", requirement)
        if own:
            for name in own[1].split(","):
                yield from of_extra(name.strip())
        else:
            yield requirement


if __name__ == "__main__":
    wanted = [*PROJECT["dependencies"], *(line for extra in sys.argv[1:] for line in of_extra(extra))]
    print("\n".join(dict.fromkeys(wanted)))
