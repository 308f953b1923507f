"""``everytree info``: what is installed, and what runs.

Extras and their packages are read from the package's own metadata, so this list cannot differ from
pyproject.toml.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import everytree._core as _core
from everytree import __version__
from everytree.common.limits import threads

__all__ = ["gather_info", "show_info"]

FOR_DEVELOPERS = ("test", "dev", "site", "worlds", "all")  # extras that add nothing a user calls


def gather_info() -> dict[str, Any]:
    """Gather everything that ``everytree info`` shows, ready for JSON."""
    extras: dict[str, dict[str, Any]] = {}
    dependencies: dict[str, str | None] = {}
    for package, extra in _requirements():
        if extra is None:
            dependencies[package] = _version(package)
        elif extra not in FOR_DEVELOPERS:
            entry = extras.setdefault(extra, {"install": f'pip install "everytree[{extra}]"', "packages": {}})
            entry["packages"][package] = _version(package)
    for entry in extras.values():
        entry["installed"] = None not in entry["packages"].values()
    return {
        "everytree": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "kernels": {
            "in_use": _core.kernels(),
            "available": _core.available_kernels(),
            "EVERYTREE_KERNELS": os.environ.get("EVERYTREE_KERNELS"),
        },
        "threads": threads(-1),
        "dependencies": dependencies,
        "extras": extras,
    }


def show_info(as_json: bool = False) -> None:
    """Print what ``gather_info`` finds, for a person or as JSON."""
    found = gather_info()
    if as_json:
        print(json.dumps(found, indent=2))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    kernels = found["kernels"]
    forced = kernels["EVERYTREE_KERNELS"]
    why = "the fastest here" if not forced else f"EVERYTREE_KERNELS={forced}"
    table.add_row("everytree", found["everytree"])
    table.add_row("python", f"{found['python']} on {found['platform']}")
    others = ", ".join(kernels["available"])
    table.add_row("kernels", escape(f"{kernels['in_use']} ({why}; available: {others})"))
    table.add_row("threads", f"up to {found['threads']}; one is used unless n_jobs says otherwise")
    table.add_row("needs", _listed(found["dependencies"]))
    for name, entry in found["extras"].items():
        text = _listed(entry["packages"])
        if not entry["installed"]:
            text += f"   → {entry['install']}"
        table.add_row(f"extra {name}", escape(text))
    Console(soft_wrap=True).print(table)


def _requirements() -> Iterator[tuple[str, str | None]]:
    """Yield each package that everytree may use, with its extra, or None where it is always needed."""
    for line in metadata.requires("everytree") or []:
        package = re.match(r"[\w.-]+", line)
        extra = re.search(r"""extra == ['"]([\w-]+)['"]""", line)
        if package is not None and package[0] != "everytree":
            yield package[0], extra[1] if extra else None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _listed(packages: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {version or 'is not installed'}" for name, version in packages.items())
