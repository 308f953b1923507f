"""Trees and option trees of fitted classifiers as displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from everytree.draw.matplotlib_tree import plot_tree
from everytree.draw.option_picture import plot_options
from everytree.errors import QueryError
from everytree.plot.display import Display, fitted_part
from everytree.trees.option_tree import OptionTree, TreeMean
from everytree.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["OptionTreeDisplay", "TreeDisplay"]


class TreeDisplay(Display):
    """One tree of 0/1 tests; ``options`` are those of ``plot_tree``, such as ``filled=False``."""

    def __init__(self, tree: Tree, **options: Any) -> None:
        self.tree, self.options = tree, options

    @classmethod
    def from_estimator(cls, estimator: Any, ax: Axes | None = None, **options: Any) -> Self:
        """The tree of a classifier; of the average over every tree, the most probable one."""
        posterior: Any = getattr(estimator, "posterior_", None)
        if hasattr(posterior, "map_tree"):
            tree: Any = posterior.map_tree()
        else:
            tree = fitted_part(estimator, ("tree_",), "a fitted OptimalTreeClassifier, MAPTreeClassifier, …")
        if not isinstance(tree, Tree):
            raise QueryError(
                f"the tree of a {type(estimator).__name__} is on whole columns; print(model.to_text()) shows it, and "
                "OptionTreeDisplay draws smoothed and option trees"
            )
        return cls(tree, **options).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax``, or on new axes that fit the tree."""
        self.annotations_: list[Any] = plot_tree(self.tree, ax="new" if ax is None else ax, **self.options)
        self.ax_ = self.annotations_[0].axes
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, ax: Any) -> None:
        self.annotations_ = plot_tree(self.tree, ax=ax, **self.options)


class OptionTreeDisplay(Display):
    """A smoothed tree or an option tree; without ``max_depth``, as deep as is readable."""

    def __init__(self, tree: OptionTree, max_depth: int | None = None, precision: int = 2) -> None:
        self.tree, self.max_depth, self.precision = tree, max_depth, precision

    @classmethod
    def from_estimator(
        cls, estimator: Any, max_depth: int | None = None, precision: int = 2, ax: Axes | None = None
    ) -> Self:
        """The option tree of a SmoothedTreeClassifier or an OptionTreeClassifier; the first one of several."""
        tree = getattr(estimator, "tree_", None)
        if isinstance(tree, TreeMean):
            tree = tree.trees[0]
        if not isinstance(tree, OptionTree):
            raise QueryError(
                f"a {type(estimator).__name__} has no option tree; expected a fitted SmoothedTreeClassifier or "
                "OptionTreeClassifier"
            )
        return cls(tree, max_depth, precision).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on ``ax``, or on new axes that fit the tree."""
        self.ax_ = plot_options(self.tree, self.max_depth, self.precision, "new" if ax is None else ax)
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, ax: Any) -> None:
        plot_options(self.tree, self.max_depth, self.precision, ax)
