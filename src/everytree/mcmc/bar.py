"""A progress bar for chains: how far they are, and how many independent draws they are worth so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from everytree.bayes.chains import effective_draws
from everytree.engine.engine import Engine

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


__all__ = ["SamplingBar", "sampling_bar"]

Reals = npt.NDArray[np.float64]
LEAST = 10  # draws of each chain before an ESS is shown


class SamplingBar:
    """A bar that the sampler moves between two parts of a run, and the core within one."""

    def __init__(self, shown: RichProgress | None, total: int) -> None:
        self._shown, self._before = shown, 0
        self._task = None if shown is None else shown.add_task("sampling trees", total=total, note="")

    def inside(self, stage: str, done: int, total: int, seconds: float) -> None:
        """Move the bar within a part; the core calls this with the number of its draws that are done."""
        if self._shown is not None and self._task is not None:
            self._shown.update(self._task, completed=self._before + done)

    def between(self, before: int, log_target: list[Reals]) -> None:
        """Move the bar to ``before`` draws over all chains, and show the ESS of the log targets kept so far."""
        self._before = before
        if self._shown is None or self._task is None:
            return
        note = "burn-in" if not log_target else ""
        if sum(part.shape[1] for part in log_target) >= LEAST:
            note = f"ESS {effective_draws(np.concatenate(log_target, axis=1)):.0f}"
        self._shown.update(self._task, completed=before, note=note)


@contextmanager
def sampling_bar(space: Engine, wanted: bool, total: int) -> Iterator[SamplingBar]:
    """Show a bar on the terminal while the space answers questions; it shows nothing if it is not wanted."""
    if not wanted:
        yield SamplingBar(None, total)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    before = space.limits
    with Progress(*columns) as shown:
        bar = SamplingBar(shown, total)
        space.limits = replace(before, progress=bar.inside)
        try:
            yield bar
        finally:
            space.limits = before
