"""The front: the least cost for every size of tree, as a staircase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from everytree.draw.colors import HUES, LINE
from everytree.errors import DataError
from everytree.plot.display import Display, fitted_part
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FrontDisplay"]


class FrontDisplay(Display):
    """The least cost of a tree for every size, as a staircase: what a larger or deeper tree is worth.

    Parameters
    ----------
    points : sequence of (int, float, Tree)
        The size, the least cost and the tree, as ``TreeSpace.front`` returns them.
    by : {"size", "leaves", "depth"}, default "size"
        What the horizontal axis counts.
    cost : str, default "error"
        What the vertical axis counts.
    total : int, optional
        The number of examples, for an axis of shares on the right where the cost is the error; None leaves it out.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5
    >>> model = et.OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> display = FrontDisplay.from_estimator(model)
    >>> [(size, cost) for size, cost, tree in display.points]
    [(1, 10), (5, 5), (7, 0)]
    """

    def __init__(
        self,
        points: Sequence[tuple[int, float, Tree]],
        by: str = "size",
        cost: str = "error",
        total: int | None = None,
    ) -> None:
        if not points:
            raise DataError("a front without points cannot be drawn; expected what space.front() returns")
        self.points, self.by, self.cost, self.total = list(points), by, cost, total

    @classmethod
    def from_space(
        cls, space: TreeSpace, cost: str = "error", *, by: str = "size", ax: Axes | None = None, **bounds: Any
    ) -> Self:
        """Draw the front of a space.

        Parameters
        ----------
        space : TreeSpace
            The trees and the data.
        cost : str, default "error"
            The cost that is least.
        by : {"size", "leaves", "depth"}, default "size"
            What the horizontal axis counts.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.
        **bounds : object
            Further parameters of ``TreeSpace.front``.

        Returns
        -------
        FrontDisplay
            The display, which is drawn.
        """
        points = space.front(cost, by=by, **bounds)
        return cls(points, by, cost, space.table.total).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, cost: str = "error", *, by: str = "size", ax: Axes | None = None, **bounds: Any
    ) -> Self:
        """Draw the front of the data that a classifier was fitted to.

        Parameters
        ----------
        estimator : OptimalTreeClassifier
            A fitted classifier; one that was loaded from a file has no data.
        cost : str, default "error"
            The cost that is least.
        by : {"size", "leaves", "depth"}, default "size"
            What the horizontal axis counts.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.
        **bounds : object
            Further parameters of ``TreeSpace.front``.

        Returns
        -------
        FrontDisplay
            The display, which is drawn.
        """
        space = fitted_part(
            estimator, ("space_",), "an OptimalTreeClassifier after fit; a loaded one has no data"
        )
        return cls.from_space(space, cost, by=by, ax=ax, **bounds)

    def _draw(self, ax: Any) -> None:
        sizes = [size for size, _, _ in self.points]
        costs = [cost for _, cost, _ in self.points]
        self.line_ = ax.step([*sizes, sizes[-1] + (2 if self.by == "size" else 1)], [*costs, costs[-1]],
                             where="post", color=LINE, linewidth=1)[0]  # fmt: skip
        ax.plot(sizes, costs, "o", color=HUES[0], markersize=5)
        # Labels where there is room: neighbours on a steep staircase would lie on each other.
        step = max(1, len(sizes) // 12)
        for size, cost in list(zip(sizes, costs, strict=True))[::step]:
            ax.annotate(
                f"{cost:.4g}", (size, cost), xytext=(3, 4), textcoords="offset points", fontsize="small"
            )
        named = {"size": "nodes of the tree", "leaves": "leaves of the tree", "depth": "depth of the tree"}
        ax.set_xlabel(named.get(self.by, self.by))
        ax.set_ylabel({"error": "training errors"}.get(self.cost, self.cost.replace("_", " ")))
        ax.set_ylim(bottom=0)
        ax.margins(y=0.12)
        if all(float(size).is_integer() for size in sizes) and len(sizes) <= 20:
            ax.set_xticks(sizes)
        if self.cost == "error" and self.total:
            total = self.total
            side = ax.secondary_yaxis("right", functions=(lambda e: 1 - e / total, lambda a: (1 - a) * total))
            side.set_ylabel("share right")
        ax.spines["top"].set_visible(False)
