"""Options that several commands share, in groups.

A command that takes a parameter of one of these groups has all of the group's options:

    @grouped
    def fit(data: DataFile, reading: Reading, learning: Learning) -> None: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = [
    "AsJson",
    "Bins",
    "Costs",
    "Cuts",
    "DataFile",
    "HeldOut",
    "Learning",
    "ModelFile",
    "Picture",
    "Positive",
    "Reading",
    "Target",
    "Treating",
    "Weights",
    "grouped",
]

DATA, LEARNING, LIMITS = "Reading the file", "Learning", "Limits"

DataFile = Annotated[Path, typer.Argument(help="A CSV, TSV, ARFF, Parquet or Arrow file (.gz is unpacked).")]
ModelFile = Annotated[Path, typer.Argument(help="A model file, as `everytree fit --out` writes it.")]
Target = Annotated[
    str | None, typer.Option(help="The column to predict; guessed, and said, if absent.", show_default=False)
]
Weights = Annotated[
    str | None, typer.Option(help="A column with whole weights of the rows.", show_default=False)
]
Picture = Annotated[
    Path | None, typer.Option(help="Draw it too: a .png, .svg or .pdf file.", show_default=False)
]
Bins = Annotated[
    str | None,
    typer.Option(
        help="Bins of a numeric column: a number k (k − 1 cuts), or all for every cut.",
        rich_help_panel=LEARNING,
        show_default=False,
    ),
]
Cuts = Annotated[
    str | None,
    typer.Option(
        help="Who cuts numeric columns into bins: global, once for all rows, or local, every node its own rows.",
        rich_help_panel=LEARNING,
        show_default=False,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        help="A class that matters: its confusion matrix, precision and recall.", show_default=False
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        metavar="MISS:ALARM",
        help="What a missed --positive and a false alarm cost, such as 5:1: the threshold for them.",
        show_default=False,
    ),
]
HeldOut = Annotated[
    bool | None,
    typer.Option(
        "--held-out/--no-held-out",
        help="Judge by rows that are held out, or do not. [default: as far as it is quick]",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


@dataclass(frozen=True)
class Reading:
    """The options that say how a data file is read."""

    delimiter: Annotated[
        str | None,
        typer.Option(
            help="What separates the cells of a CSV file; found if absent.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    decimal: Annotated[str, typer.Option(help="The decimal mark, . or ,", rich_help_panel=DATA)] = "."
    encoding: Annotated[
        str, typer.Option(help="The encoding of a text file, such as cp1252.", rich_help_panel=DATA)
    ] = "utf-8"
    no_header: Annotated[
        bool,
        typer.Option(
            "--no-header", help="The CSV file has no header: columns are x0, x1, …", rich_help_panel=DATA
        ),
    ] = False
    na: Annotated[
        list[str] | None,
        typer.Option(
            "--na",
            help="A cell that means missing; may be repeated. [default: empty, ?, NA, NaN, null]",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    nominal: Annotated[
        list[str] | None,
        typer.Option(
            help="A column whose numbers are codes; may be repeated.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            help="A column to leave out, such as an id; may be repeated.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class Treating:
    """The options that say what is made of the columns of a file, where that is not what their cells tell."""

    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="NAME=WAY",
            help="How to read a column: number, date (dmy, mdy), time, boolean, nominal or drop; may be repeated.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    target_cut: Annotated[
        str | None,
        typer.Option(
            help="Cuts that make classes of a target of numbers, such as 100 or 10,50,100.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class Learning:
    """Parameters of classifiers; None where the classifier's own default holds."""

    max_depth: Annotated[
        str | None,
        typer.Option(
            help="Most tests on a path; none for no limit.", rich_help_panel=LEARNING, show_default=False
        ),
    ] = None
    min_leaf: Annotated[
        int | None,
        typer.Option(help="Fewest examples in a leaf.", rich_help_panel=LEARNING, show_default=False),
    ] = None
    prior: Annotated[
        str | None,
        typer.Option(
            help="Of trees, such as size; fit or average choose by the evidence. `everytree methods` lists all.",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None
    alpha: Annotated[
        float | None, typer.Option(help="Of the size prior.", rich_help_panel=LEARNING, show_default=False)
    ] = None
    beta: Annotated[
        float | None, typer.Option(help="Of the size prior.", rich_help_panel=LEARNING, show_default=False)
    ] = None
    dirichlet: Annotated[
        str | None,
        typer.Option(
            help="Prior of a leaf: a number, 1/C, decay, fit, …", rich_help_panel=LEARNING, show_default=False
        ),
    ] = None
    bins: Annotated[
        str | None,
        typer.Option(
            help="Bins of a numeric column: a number k (k − 1 cuts), all for every cut, or mdl or boosted for cuts "
            "that the classes choose.",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None
    cuts: Cuts = None
    missing: Annotated[
        str | None,
        typer.Option(
            help="Missing values: category (a value of their own, the default here), impute, or error.",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other parameter of the method, the value in JSON or a word; may be repeated.",
            rich_help_panel=LEARNING,
            show_default=False,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Of random choices.", rich_help_panel=LEARNING, show_default=False),
    ] = None
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds; the best so far is kept.", rich_help_panel=LIMITS, show_default=False),
    ] = None
    memory_limit: Annotated[
        str | None,
        typer.Option(help="Bytes, or such as 2GiB.", rich_help_panel=LIMITS, show_default=False),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(help="Threads; -1 for every core.", rich_help_panel=LIMITS, show_default=False),
    ] = None


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with the options of its groups in place of the groups, for typer to read."""
    groups: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if parameter.annotation not in (Reading, Treating, Learning):
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        group = groups[parameter.name] = parameter.annotation
        hints = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name]
            )
            for each in fields(group)
        ]

    @wraps(command)
    def run(**given: Any) -> Any:
        made = {
            name: group(**{each.name: given.pop(each.name) for each in fields(group)})
            for name, group in groups.items()
        }
        return command(**given, **made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
