"""Trees and option trees of fitted classifiers as displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from everytree.draw.matplotlib_tree import plot_tree
from everytree.draw.option_picture import plot_options
from everytree.errors import QueryError
from everytree.plot.display import Display, fitted_part
from everytree.trees.option_tree import OptionTree
from everytree.trees.tree import Tree
from everytree.trees.tree_mean import TreeMean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["OptionTreeDisplay", "TreeDisplay"]


class TreeDisplay(Display):
    """A picture of one tree of 0/1 tests.

    Parameters
    ----------
    tree : Tree
        The tree.
    **options : object
        Further parameters of ``plot_tree``, such as ``filled=False``.

    Examples
    --------
    >>> tree = Tree.from_key((0, -1, -1), [[0], [1]], [[8, 2], [1, 9]], test_names=["fever"])
    >>> len(TreeDisplay(tree).plot().annotations_)
    3
    """

    def __init__(self, tree: Tree, **options: Any) -> None:
        self.tree, self.options = tree, options

    @classmethod
    def from_estimator(cls, estimator: Any, ax: Axes | None = None, **options: Any) -> Self:
        """Draw the tree of a classifier; of an average over every tree, the most probable one.

        Parameters
        ----------
        estimator : classifier
            A fitted OptimalTreeClassifier, MAPTreeClassifier or BayesOptimalClassifier.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones that fit the tree.
        **options : object
            Further parameters of ``plot_tree``.

        Returns
        -------
        TreeDisplay
            The display, which is drawn.

        Raises
        ------
        QueryError
            If the classifier has no tree of 0/1 tests.
        """
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
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones that fit the tree.

        Returns
        -------
        TreeDisplay
            The display itself; ``ax_`` and ``figure_`` say where it was drawn.
        """
        self.annotations_: list[Any] = plot_tree(self.tree, ax="new" if ax is None else ax, **self.options)
        self.ax_ = self.annotations_[0].axes
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, ax: Any) -> None:
        self.annotations_ = plot_tree(self.tree, ax=ax, **self.options)


class OptionTreeDisplay(Display):
    """A picture of a smoothed tree or an option tree.

    Parameters
    ----------
    tree : OptionTree
        The option tree.
    max_depth : int, optional
        The depth down to which nodes are drawn; by default as many as are readable.
    precision : int, default 2
        The number of digits of probabilities.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [["sunny"], ["rain"], ["sunny"], ["rain"]] * 3, ["no", "yes", "no", "yes"] * 3
    >>> model = et.SmoothedTreeClassifier().fit(X, y)
    >>> axes = OptionTreeDisplay.from_estimator(model).ax_
    """

    def __init__(self, tree: OptionTree, max_depth: int | None = None, precision: int = 2) -> None:
        self.tree, self.max_depth, self.precision = tree, max_depth, precision

    @classmethod
    def from_estimator(
        cls, estimator: Any, max_depth: int | None = None, precision: int = 2, ax: Axes | None = None
    ) -> Self:
        """Draw the option tree of a classifier; of several trees, the first one.

        Parameters
        ----------
        estimator : SmoothedTreeClassifier or OptionTreeClassifier
            The fitted classifier.
        max_depth : int, optional
            The depth down to which nodes are drawn; by default as many as are readable.
        precision : int, default 2
            The number of digits of probabilities.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones that fit the tree.

        Returns
        -------
        OptionTreeDisplay
            The display, which is drawn.

        Raises
        ------
        QueryError
            If the classifier has no option tree.
        """
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
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones that fit the tree.

        Returns
        -------
        OptionTreeDisplay
            The display itself; ``ax_`` and ``figure_`` say where it was drawn.
        """
        self.ax_ = plot_options(self.tree, self.max_depth, self.precision, "new" if ax is None else ax)
        self.figure_ = self.ax_.figure
        return self

    def _draw(self, ax: Any) -> None:
        plot_options(self.tree, self.max_depth, self.precision, ax)
