"""What a study shows: tables in the layout of its paper, each cell beside the printed one, and charts.

A cell is ``ours (printed)``; it is flagged with ⚑ where the two differ by more than two standard errors of their
difference and what rounding hides:

    |ours − printed| > 2 · sqrt(se_ours² + se_paper²) + half of the last printed digit

se_ours is the standard deviation over the folds divided by the root of their number; with fewer than five folds, which
do not tell how far they spread, nothing is flagged.
A paper that prints a deviation has its own se; otherwise ours stands for it. docs/studies.md says where each flag comes
from.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from everytree.study.charts import Chart, draw_chart
from everytree.study.jobs import Row

__all__ = [
    "Cell",
    "Report",
    "Table",
    "compared",
    "mean_and_error",
    "printed",
    "write_report",
]

FLAG = "⚑"
FEWEST = 5  # folds of a cell that may be flagged: of two, one in five would be by chance
FINDINGS = "findings.md"  # A person writes this file, a study never does.


@cache
def _all_printed() -> Any:
    text = resources.files("everytree.study").joinpath("printed.json").read_text(encoding="utf-8")
    return json.loads(text)


def printed(study: str) -> Any:
    """Return the figures that a paper prints.

    Parameters
    ----------
    study : str
        The name of the study.

    Returns
    -------
    dict
        The ``citation`` of the paper, and its tables as lists of rows.

    Examples
    --------
    >>> printed("nijssen2008")["table1"][0]["data"]
    'anneal'
    """
    return _all_printed()[study]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number that was measured, beside the one that the paper prints.

    Parameters
    ----------
    ours : float or None
        The number measured; None where there is none.
    error : float, default=0.0
        Its standard error.
    printed : float or None, default=None
        The number in the paper.
    printed_error : float or None, default=None
        The standard error of the printed number; None means that ours stands for it.
    digits : int, default=2
        The digits after the point that the paper shows.
    flag_below_only : bool, default=False
        Whether only a number below the printed one is flagged.

    Examples
    --------
    >>> str(Cell(0.8234, 0.01, 0.81)), str(Cell(0.9, 0.01, 0.81)), str(Cell(0.9))
    ('0.82 (0.81)', '0.90 (0.81) ⚑', '0.90')
    """

    ours: float | None
    error: float = 0.0
    printed: float | None = None
    printed_error: float | None = None
    digits: int = 2
    flag_below_only: bool = False

    @property
    def flagged(self) -> bool:
        """Whether the difference is beyond two standard errors; with ``flag_below_only``, only if ours is less."""
        if self.ours is None or self.printed is None:
            return False
        theirs = self.error if self.printed_error is None else self.printed_error
        room = 2 * math.hypot(self.error, theirs) + 0.5 * 10.0**-self.digits + 1e-12
        apart = self.ours - self.printed
        return -apart > room if self.flag_below_only else abs(apart) > room

    def __str__(self) -> str:
        if self.ours is None:
            return "–" if self.printed is None else f"– ({self.printed:.{self.digits}f})"
        text = f"{self.ours:.{self.digits}f}"
        if self.printed is not None:
            text += f" ({self.printed:.{self.digits}f})"
        return f"{text} {FLAG}" if self.flagged else text


@dataclass(slots=True)
class Table:
    """A table of a report.

    Parameters
    ----------
    name : str
        The name of its CSV file, without the ending.
    title : str
        Its heading.
    columns : sequence of str
        The names of the columns.
    rows : list of dict
        The rows, by column; a value may be a ``Cell``.
    notes : sequence of str, default=()
        Paragraphs above the table.
    after : sequence of str, default=()
        Paragraphs below it.

    Examples
    --------
    >>> Table("table1", "Table 1", ["data"], [{"data": "vote"}]).notes
    ()
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: list[Row]
    notes: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(slots=True)
class Report:
    """A whole report: text, tables and charts.

    Parameters
    ----------
    title : str
        The title.
    citation : str
        The paper.
    notes : sequence of str
        Paragraphs at the beginning.
    parts : list of Table or Chart
        The tables and charts, in order.
    absent : sequence of str, default=()
        The data sets that were not there.

    Examples
    --------
    >>> Report("A study", "A paper", [], [Table("t", "T", ["a"], [{"a": Cell(0.9, 0.01, 0.81)}])]).flags()[0][2]
    'a'
    """

    title: str
    citation: str
    notes: Sequence[str]
    parts: list[Table | Chart]
    absent: Sequence[str] = field(default=())

    def flags(self) -> list[tuple[Table, Row, str, Cell]]:
        """List every flagged cell.

        Returns
        -------
        list of tuple
            Entries (table, row, column, cell).
        """
        return [each for each in self.compared() if each[3].flagged]

    def compared(self) -> list[tuple[Table, Row, str, Cell]]:
        """List every cell that has a printed number beside it, and an error to compare by.

        Returns
        -------
        list of tuple
            Entries (table, row, column, cell).
        """
        return [
            (table, row, name, cell)
            for table in self.parts
            if isinstance(table, Table)
            for row in table.rows
            for name, cell in row.items()
            if isinstance(cell, Cell) and None not in (cell.ours, cell.printed) and not math.isnan(cell.error)
        ]


def mean_and_error(values: Sequence[float]) -> tuple[float | None, float]:
    """Return the mean of the folds and its standard error.

    Parameters
    ----------
    values : sequence of float
        One number for each fold.

    Returns
    -------
    tuple of (float or None, float)
        The mean, None without folds, and its standard error, NaN with fewer than two folds.

    Examples
    --------
    >>> mean_and_error([1.0, 2.0, 3.0, 4.0, 5.0])
    (3.0, 0.7071067811865476)
    """
    n = len(values)
    if n == 0:
        return None, math.nan
    mean = math.fsum(values) / n
    if n == 1:
        return mean, math.nan
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n)


def compared(
    values: Sequence[float], paper: float | None, deviation: float | None = None, **how: Any
) -> Cell:
    """Put the mean of the folds beside a printed mean over ten folds.

    Parameters
    ----------
    values : sequence of float
        One number for each fold; with fewer than five the cell has no error and is not flagged.
    paper : float or None
        The printed mean.
    deviation : float or None, default=None
        The printed standard deviation over the folds.
    **how : object
        The options ``digits`` and ``flag_below_only`` of ``Cell``.

    Returns
    -------
    Cell
        The cell of the table.

    Examples
    --------
    >>> str(compared([0.8, 0.82, 0.84], 0.81))
    '0.82 (0.81)'
    """
    mean, error = mean_and_error(values)
    if len(values) < FEWEST:
        error = math.nan
    return Cell(mean, error, paper, None if deviation is None else deviation / math.sqrt(10), **how)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def _markdown(table: Table) -> list[str]:
    lines = [f"## {table.title}", ""]
    for note in table.notes:
        lines += [note, ""]
    lines += ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
    lines += ["| " + " | ".join(_text(row.get(name)) for name in table.columns) + " |" for row in table.rows]
    lines.append("")
    for note in table.after:
        lines += [note, ""]
    return lines


def _write_csv(table: Table, path: Path) -> None:
    """Write one line for each row; a cell has a column for ours, its standard error, the printed one and the flag."""
    heads: dict[str, None] = {}
    lines = []
    for row in table.rows:
        line: Row = {}
        for name in table.columns:
            value = row.get(name)
            if isinstance(value, Cell):
                line |= {
                    name: value.ours,
                    f"{name} se": value.error,
                    f"{name} printed": value.printed,
                    f"{name} flag": int(value.flagged),
                }
            else:
                line[name] = value
        heads |= dict.fromkeys(line)
        lines.append(line)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(heads), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def write_report(report: Report, place: Path) -> tuple[Path, ...]:
    """Write report.md, a CSV for each table and, where matplotlib is installed, an SVG for each chart.

    What a reader of the tables found, in ``findings.md`` of the same folder, stands first in the report.

    Parameters
    ----------
    report : Report
        The report.
    place : Path
        The folder, made if it does not exist.

    Returns
    -------
    tuple of Path
        The files, report.md first.

    Examples
    --------
    >>> from pathlib import Path
    >>> files = write_report(Report("A study", "A paper", [], [Table("t", "T", ["a"], [{"a": 1}])]), Path("out"))
    >>> [file.name for file in files]
    ['report.md', 't.csv']
    """
    place.mkdir(parents=True, exist_ok=True)
    files = [place / "report.md"]
    lines = [f"# {report.title}", "", report.citation, ""]
    findings = place / FINDINGS
    if findings.is_file():
        lines += [findings.read_text(encoding="utf-8").strip(), ""]
    for note in report.notes:
        lines += [note, ""]
    if report.absent:
        lines += [f"Data sets that were not there: {', '.join(report.absent)}.", ""]
    for part in report.parts:
        if isinstance(part, Table):
            lines += _markdown(part)
            files.append(place / f"{part.name}.csv")
            _write_csv(part, files[-1])
        else:
            path = place / f"{part.name}.svg"
            if draw_chart(part, path):
                files.append(path)
                lines += [f"## {part.title}", "", f"![{part.title}]({path.name})", ""]
            else:
                lines += [
                    f"## {part.title}",
                    "",
                    "Install matplotlib for the picture: `pip install everytree[plot]`.",
                    "",
                ]
    lines += ["## Flags", "", *(_flag_lines(report) or ["No cell is flagged."])]
    files[0].write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")
    return tuple(files)


def _flag_lines(report: Report) -> list[str]:
    lines = []
    for table, row, name, cell in report.flags():
        where = [str(row[key]) for key in table.columns[:4] if not isinstance(row.get(key), Cell)]
        lines.append(
            f"- {table.title}: {', '.join(where)}, {name}: {cell.ours:.4g} here, {cell.printed:g} printed"
        )
    return lines
