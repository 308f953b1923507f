"""A table of methods as a heat map: numbers in the cells, colours by rank within a row, and marks of the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from everytree.draw.colors import HUES, INK, PAPER, mix
from everytree.draw.labels import clean
from everytree.errors import DataError
from everytree.plot.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ComparisonDisplay"]

MARKS = {"better": " +", "worse": " −", "win": " +", "loss": " −", "tie": "", "": ""}


class ComparisonDisplay(Display):
    """A table of methods as a heat map: the best of a row is darkest.

    Parameters
    ----------
    values : array of float, shape (n_rows, n_columns)
        The number in each cell; NaN where there is none.
    rows : sequence of str
        The names of the rows, such as measures or data sets.
    columns : sequence of str
        The names of the columns, such as methods.
    larger_is_better : bool or sequence of bool, default True
        Whether larger numbers are better, for each row or for all.
    verdicts : sequence of sequences of str, optional
        For each cell "better", "worse" or "tie" than the first column, shown as a mark; None leaves marks out.
    digits : int, default 3
        The number of decimals in the cells.

    Examples
    --------
    >>> display = ComparisonDisplay([[0.9, 0.8]], ["accuracy"], ["optimal", "greedy"])
    >>> display.shades().tolist()
    [[1.0, 0.0]]
    >>> axes = display.plot().ax_
    """

    def __init__(
        self,
        values: npt.ArrayLike,
        rows: Sequence[str],
        columns: Sequence[str],
        larger_is_better: bool | Sequence[bool] = True,
        verdicts: Sequence[Sequence[str]] | None = None,
        digits: int = 3,
    ) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.shape != (len(rows), len(columns)) or not self.values.size:
            raise DataError(
                f"values has shape {self.values.shape}; expected ({len(rows)}, {len(columns)}): rows × columns"
            )
        up = [larger_is_better] * len(rows) if isinstance(larger_is_better, bool) else list(larger_is_better)
        if len(up) != len(rows):
            raise DataError(f"larger_is_better has {len(up)} entries; expected {len(rows)}, one for each row")
        if verdicts is not None and (
            len(verdicts) != len(rows) or any(len(line) != len(columns) for line in verdicts)
        ):
            raise DataError("verdicts has another shape than values; expected one text for each cell")
        self.rows, self.columns, self.larger_is_better = list(rows), list(columns), up
        self.verdicts, self.digits = verdicts, digits

    @classmethod
    def from_table(cls, table: Mapping[str, Any], ax: Axes | None = None) -> Self:
        """Draw the table that ``everytree compare --json`` prints.

        Parameters
        ----------
        table : mapping
            The parsed JSON.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        ComparisonDisplay
            The display, which is drawn.
        """
        methods = table["methods"]
        measures = {"accuracy": True, "log_loss": False, "brier": False}
        values = [[_number(row[measure]) for row in methods] for measure in measures]
        verdicts = [
            [row["against_first"].get(measure, {}).get("verdict", "") for row in methods]
            for measure in measures
        ]
        names = [measure.replace("log_loss", "log-loss").replace("brier", "Brier") for measure in measures]
        return cls(values, names, [row["method"] for row in methods], list(measures.values()), verdicts).plot(
            ax
        )

    def size(self) -> tuple[float, float]:
        return 1.4 + 0.95 * len(self.columns), 0.8 + 0.34 * len(self.rows)

    def shades(self) -> npt.NDArray[np.float64]:
        """Compute how good each cell is within its row.

        Returns
        -------
        array of float, shape (n_rows, n_columns)
            1 for the best of a row, 0 for the worst, NaN where there is no number.
        """
        shades = np.full(self.values.shape, np.nan)
        for line, (values, up) in enumerate(zip(self.values, self.larger_is_better, strict=True)):
            known = np.isfinite(values)
            if known.any():
                signed = values if up else -values
                low, high = signed[known].min(), signed[known].max()
                shades[line, known] = 0.5 if low == high else (signed[known] - low) / (high - low)
        return shades

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import Rectangle

        shades = self.shades()
        for i, j in np.ndindex(*self.values.shape):
            value, shade = self.values[i, j], shades[i, j]
            fill = PAPER if np.isnan(shade) else mix(PAPER, HUES[0], 0.06 + 0.44 * float(shade))
            ax.add_patch(Rectangle((j, i), 1, 1, facecolor=fill, edgecolor=PAPER, linewidth=1.5))
            mark = "" if self.verdicts is None else MARKS.get(self.verdicts[i][j], "")
            text = "–" if np.isnan(value) else f"{value:.{self.digits}f}{mark}"
            weight = "bold" if shade == 1 else "normal"
            ax.text(
                j + 0.5,
                i + 0.5,
                text,
                ha="center",
                va="center",
                color=INK,
                fontsize="small",
                fontweight=weight,
            )
        ax.set_xlim(0, len(self.columns))
        ax.set_ylim(len(self.rows), 0)
        ax.set_xticks(
            np.arange(len(self.columns)) + 0.5, [clean(name) for name in self.columns], parse_math=False
        )
        ax.set_yticks(np.arange(len(self.rows)) + 0.5, [clean(name) for name in self.rows], parse_math=False)
        ax.xaxis.tick_top()
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)
