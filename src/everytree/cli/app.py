"""The list of commands. To add one: a file with its work, and a function here that reads its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everytree import __version__

__all__ = ["app"]

app = typer.Typer(
    help="The best decision tree, every decision tree, and how sure to be.",
    no_args_is_help=True,
    add_completion=False,
    # Expected failures are one line (see cli.main); for a bug, Python's own traceback is what a report needs.
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"everytree {__version__}")
        raise typer.Exit


@app.callback()
def everytree(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The best decision tree, every decision tree, and how sure to be."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures; made if absent.")] = Path("demo-output"),
    depth: Annotated[int, typer.Option(min=0, help="Most tests on a path of a tree.")] = 3,
    min_leaf: Annotated[int, typer.Option(min=1, help="Fewest training examples in a leaf.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Which random split into training and held-out rows.")] = 0,
) -> None:
    """Find the best tree for the breast cancer data, and average over every tree."""
    from everytree.cli.demo import show_demo

    show_demo(out, depth, min_leaf, seed)


@app.command()
def info(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Show versions, the kernels in use, and which optional parts are installed."""
    from everytree.cli.info import show_info

    show_info(as_json)
