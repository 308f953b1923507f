"""The rooms of the package keep their doors shut: nothing goes from one to another but by names without an underscore.

Also a program: `python tests/test_rooms.py` prints the counts and where each of them is.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Names that look private and are not: what every named tuple has, and the compiled core, which is everyone's.
NOT_PRIVATE = {"_", "_asdict", "_core", "_fields", "_make", "_replace"}

SOURCE = Path(__file__).parents[1] / "src" / "everytree"
ROOT = "everytree"
CORE = "everytree._core"


@dataclass(frozen=True)
class Module:
    """A file of the package, by its dotted name."""

    name: str
    is_package: bool
    tree: ast.Module

    @property
    def room(self) -> str:
        """The part of the name after the root's: `everytree.data.readers.csv` is in `data`."""
        return [*self.name.split("."), ""][1]

    def imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str | None]]:
        """The modules an import names, each with the name that is taken out of it, if there is one."""
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
            return
        base = node.module or ""
        if node.level:
            parts = self.name.split(".")
            parts = parts[: len(parts) - node.level + self.is_package]
            base = ".".join([*parts, base] if base else parts)
        yield from ((base, alias.name) for alias in node.names)


def modules() -> dict[str, Module]:
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        parts = [ROOT, *file.relative_to(SOURCE).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found[name] = Module(name, is_package, ast.parse(file.read_text(encoding="utf-8")))
    return found


def imports(module: Module, known: dict[str, Module]) -> Iterator[tuple[str, int]]:
    """The modules of ours that a module imports, anywhere in it, and the line."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for base, name in module.imported(node):
                inner = f"{base}.{name}"
                if CORE in (base, inner):
                    yield CORE, node.lineno
                elif name and inner in known:
                    yield inner, node.lineno
                elif base in known:
                    yield base, node.lineno


def largest_cycle(known: dict[str, Module]) -> list[str]:
    """The largest set of modules that import each other in a circle, imports for types and in functions included.

    The root is left out: its list of public names imports everything, when a name is first used.
    """
    edges = {
        name: {to for to, _ in imports(known[name], known) if to not in (ROOT, CORE)}
        for name in known
        if name != ROOT
    }
    order: list[str] = []
    seen: set[str] = set()

    def visit(name: str, graph: dict[str, set[str]], into: list[str]) -> None:
        stack = [(name, iter(sorted(graph[name])))]
        seen.add(name)
        while stack:
            at, rest = stack[-1]
            following = next((to for to in rest if to not in seen), None)
            if following is None:
                into.append(at)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(sorted(graph[following]))))

    for name in edges:
        if name not in seen:
            visit(name, edges, order)
    backwards: dict[str, set[str]] = {name: set() for name in edges}
    for name, targets in edges.items():
        for to in targets:
            backwards[to].add(name)
    seen = set()
    largest: list[str] = []
    for name in reversed(order):
        if name not in seen:
            component: list[str] = []
            visit(name, backwards, component)
            if len(component) > len(largest):
                largest = component
    return sorted(largest) if len(largest) > 1 else []


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in NOT_PRIVATE


def defined(tree: ast.AST) -> Iterator[str]:
    """The private names a file defines: functions, classes, variables and attributes that are assigned."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def used(module: Module) -> Iterator[tuple[str, int]]:
    """The names a file takes from somewhere else, and the line: attributes that are read, and imports."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, ast.ImportFrom):
            for base, name in module.imported(node):
                yield from ((part, node.lineno) for part in base.split("."))
                yield str(name), node.lineno
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("getattr", "hasattr", "setattr")
            and isinstance(node.args[1], ast.Constant)
        ):
            yield str(node.args[1].value), node.lineno


def private_reaches(known: dict[str, Module]) -> list[tuple[str, str]]:
    """Where a private name is used in a room that does not define it, while another room does: (place, name)."""
    rooms: dict[str, set[str]] = defaultdict(set)
    for module in known.values():
        rooms[module.room].update(name for name in defined(module.tree) if is_private(name))
    everywhere = set().union(*rooms.values())
    return [
        (f"{module.name}:{line}", name)
        for module in known.values()
        for name, line in used(module)
        if is_private(name) and name in everywhere - rooms[module.room]
    ]


def imports_inside_functions(known: dict[str, Module]) -> list[tuple[str, str]]:
    """Where a function imports a module of ours: (place, the module)."""
    found = []
    for module in known.values():
        inside: set[tuple[str, str]] = set()
        for function in ast.walk(module.tree):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                body = Module(module.name, module.is_package, ast.Module(list(function.body), []))
                inside.update((f"{module.name}:{line}", to) for to, line in imports(body, known))
        found.extend(sorted(inside))
    return found


def imports_for_types(known: dict[str, Module]) -> list[tuple[str, str]]:
    """Where a module of ours is imported for types alone, under `if TYPE_CHECKING`: (place, the module)."""
    return [
        (f"{module.name}:{line}", to)
        for module in known.values()
        if module.name != ROOT
        for block in ast.walk(module.tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for to, line in imports(
            Module(module.name, module.is_package, ast.Module(list(block.body), [])), known
        )
    ]


def guesses_at_models(known: dict[str, Module]) -> list[tuple[str, str]]:
    """Where a model is asked whether it has an attribute, which its protocol should say: (place, the code)."""
    return [
        (f"{module.name}:{node.lineno}", ast.unparse(node))
        for module in known.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("hasattr", "getattr")
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == "model"
    ]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert largest_cycle(modules()) == []


def test_no_room_uses_a_private_name_of_another() -> None:
    assert list(private_reaches(modules())) == []


def test_modules_of_ours_are_imported_at_the_top() -> None:
    """Only `cli/later.py` imports late, by name, and says why; heavy or optional libraries are not ours."""
    known = modules()
    assert imports_inside_functions(known) == []
    assert imports_for_types(known) == []


def main() -> None:
    known = modules()
    cycle = largest_cycle(known)
    print(f"{len(cycle)} modules in the largest import cycle")
    for name in cycle:
        print(f"  {name}")
    for title, found in (
        ("private reaches across rooms", private_reaches(known)),
        ("imports of our modules inside functions", imports_inside_functions(known)),
        ("imports of our modules for types alone", imports_for_types(known)),
        ("guesses at what a model has", guesses_at_models(known)),
    ):
        print(f"{len(found)} {title}")
        if "--where" in sys.argv:
            for place, what in found:
                print(f"  {place}: {what}")


if __name__ == "__main__":
    main()
