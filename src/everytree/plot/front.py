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
    """What a larger (or deeper) tree is worth.

    Parameters
    ----------
    points : (size, cost, tree), as ``TreeSpace.front`` returns them
    by, cost : what the axes mean
    total : examples, for an axis of shares on the right where the cost is the error; None leaves it out
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
        """The front of a space; ``bounds`` are those of ``TreeSpace.front``."""
        points = space.front(cost, by=by, **bounds)
        return cls(points, by, cost, space.table.total).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, cost: str = "error", *, by: str = "size", ax: Axes | None = None, **bounds: Any
    ) -> Self:
        """The front of the data that an OptimalTreeClassifier was fitted to."""
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
