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


@app.command()
def verify(
    model: Annotated[Path, typer.Argument(help="A model file, as model.save(...) writes it.")],
    data: Annotated[Path, typer.Argument(help="The CSV file that the model was trained on.")],
    target: Annotated[str | None, typer.Option(help="The column with the label.")] = None,
    weights: Annotated[str | None, typer.Option(help="The column with the sample weights.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the cells; found if absent.")] = None,
    decimal: Annotated[str, typer.Option(help="The decimal mark, . or ,")] = ".",
    encoding: Annotated[str, typer.Option(help="The encoding of the CSV file.")] = "utf-8",
    no_header: Annotated[bool, typer.Option("--no-header", help="The CSV file has no header line.")] = False,
    missing: Annotated[
        list[str] | None, typer.Option(help="A cell that means missing; may be given several times.")
    ] = None,
    max_states: Annotated[int, typer.Option(min=0, help="Most states of the proof of optimality.")] = 200_000,
    time_limit: Annotated[float, typer.Option(min=0, help="Most seconds for the proof.")] = 60.0,
    require_proof: Annotated[
        bool, typer.Option("--require-proof", help="Fail if a claim could not be proved or checked.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Recompute every claim of a model file from the raw data, without any code of the solver.

    Exit code 0: every claim that was checked is true; 1: a claim is false; 2: the input cannot be read.
    """
    from everytree.cli.verify import run_verify

    options = {} if missing is None else {"missing": tuple(missing)}
    code = run_verify(
        model,
        data,
        require_proof=require_proof,
        as_json=as_json,
        target=target,
        weights=weights,
        delimiter="\t" if delimiter in ("tab", "\\t") else delimiter,
        decimal=decimal,
        encoding=encoding,
        header=not no_header,
        max_states=max_states,
        time_limit=time_limit,
        **options,
    )
    raise typer.Exit(code)
