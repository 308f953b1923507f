"""The base of all displays: they hold what is shown, and draw it when asked, as those of scikit-learn do.

    display = FrontDisplay.from_estimator(model)     computes and draws
    display.plot(ax=axes)                            draws again, elsewhere
    display.ax_, display.figure_                     where it was drawn

A new display is a class with the data in its ``__init__``, a ``from_...`` that makes it, and ``_draw(ax)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from everytree.draw.library import pyplot
from everytree.errors import QueryError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Display", "fitted_part"]


def fitted_part(model: Any, names: tuple[str, ...], who: str) -> Any:
    """Return the first of these attributes that a model has, or raise an error that says which models have one."""
    for name in names:
        found = getattr(model, name, None)
        if found is not None:
            return found
    raise QueryError(f"this {type(model).__name__} has no {' or '.join(names)}; expected {who}")


class Display(ABC):
    """A picture on one axes, which are made where none are given."""

    SIZE: ClassVar[tuple[float, float]] = (5.6, 3.8)

    ax_: Any  # Axes
    figure_: Any  # Figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        Display
            The display itself; ``ax_`` and ``figure_`` say where it was drawn.
        """
        if ax is None:
            _, ax = pyplot().subplots(figsize=self.size(), layout="constrained")
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def size(self) -> tuple[float, float]:
        """Return the size of a new figure.

        Returns
        -------
        tuple of (float, float)
            The width and the height in inches.
        """
        return self.SIZE

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on these axes."""
