"""Check the docstring of every public name with numpydoc's validator, and of the methods of public classes.

Public is what `everytree`, `everytree.cluster`, `everytree.metrics` and `everytree.plot` list in `__all__`.

    python tools/check_docstrings.py            all of them
    python tools/check_docstrings.py trees      those that are defined in everytree.trees

Prints one line per fault and ends with 1 if there is one. A class or a function also needs an example that runs (the
test suite runs it); a method or an error may do without. A method that overrides another may leave its docstring to it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

from numpydoc.validate import validate

import everytree
from everytree import cluster, metrics, plot

PACKAGES = (everytree, cluster, metrics, plot)

# numpydoc's codes: the docstring exists and begins with a sentence; parameters, what is returned and what is yielded
# are there, with types and sentences.
CODES = {
    "GL03", "GL06", "GL07", "GL08", "SS01", "SS03", "SS06",
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR07", "PR08", "PR09", "PR10",
    "RT01", "RT03", "RT04", "RT05", "YD01",
}  # fmt: skip
EXAMPLE = "EX01"


def public() -> Iterator[tuple[str, object, bool]]:
    """Yield (dotted name, object, whether it is a member of a class) for everything public, once."""
    for package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if name.startswith("_") or not callable(value):  # a constant is described where it is defined
                continue
            yield f"{package.__name__}.{name}", value, False
            if inspect.isclass(value):
                for owner in value.__mro__:
                    if not owner.__module__.startswith("everytree."):
                        continue
                    for member, found in vars(owner).items():
                        if not member.startswith("_") and _is_documented_here(owner, member, found):
                            yield f"{package.__name__}.{name}.{member}", owner, True


def _is_documented_here(owner: type, member: str, found: object) -> bool:
    """Return whether ``found`` is a method or a property of ``owner`` that does not take its docstring from a base."""
    if inspect.isclass(found) or not (
        callable(found) or isinstance(found, property | classmethod | staticmethod)
    ):
        return False
    return bool(getattr(found, "__doc__", None)) or not any(
        hasattr(base, member) for base in owner.__mro__[1:]
    )


def faults(room: str) -> Iterator[str]:
    """Yield one line for each fault in the names whose module is in ``room``; an empty text means every room."""
    seen: set[tuple[str, str]] = set()
    for name, owner, is_member in public():
        module = getattr(owner, "__module__", "") or ""
        if not module.startswith(f"everytree.{room}".rstrip(".")):
            continue
        key = (
            f"{module}.{getattr(owner, '__qualname__', name)}",
            name.rsplit(".", 1)[-1] if is_member else "",
        )
        if key in seen:
            continue
        seen.add(key)
        # The docstring where it was written: a subclass may override a method and leave its docstring to the base.
        written = f"{module}.{owner.__qualname__}.{key[1]}" if is_member and inspect.isclass(owner) else name
        for code, message in validate(written)["errors"]:
            needs_example = not is_member and not (inspect.isclass(owner) and issubclass(owner, Exception))
            if code in CODES or (code == EXAMPLE and needs_example):
                yield f"{name} ({module}): {code} {message}"


def main() -> int:
    """Print the faults and return the exit code."""
    found = list(faults(sys.argv[1] if len(sys.argv) > 1 else ""))
    print("\n".join(found) or "Every public docstring is complete.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
