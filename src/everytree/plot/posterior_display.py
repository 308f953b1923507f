"""Displays of a posterior over trees: how many leaves they have, and which columns or tests they use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused, whole
from everytree.draw.colors import HUES, LINE
from everytree.draw.labels import clean
from everytree.errors import DataError
from everytree.plot.display import Display, fitted_part

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["InclusionDisplay", "LeavesDisplay"]

WHO = "a fitted BayesOptimalClassifier or MCMCTreeClassifier"
TINY = 1e-4  # numbers of leaves less probable than this are not drawn at either end


class LeavesDisplay(Display):
    """The probability that the tree has k leaves, for every k.

    Parameters
    ----------
    probabilities : array of float
        Entry k is the probability of k leaves.
    name : str, optional
        The name in the legend.

    Examples
    --------
    >>> display = LeavesDisplay([0.0, 0.25, 0.75])
    >>> display.mean
    1.75
    >>> axes = display.plot().ax_
    """

    def __init__(self, probabilities: npt.ArrayLike, name: str | None = None) -> None:
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        if self.probabilities.ndim != 1 or not self.probabilities.size:
            raise DataError(
                "probabilities is not a list; expected what posterior.leaves_distribution() returns"
            )
        self.name = name

    @classmethod
    def from_posterior(cls, posterior: Any, name: str | None = None, ax: Axes | None = None) -> Self:
        """Draw the number of leaves under a posterior over every tree.

        Parameters
        ----------
        posterior : Posterior
            The posterior.
        name : str, optional
            The name in the legend.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        LeavesDisplay
            The display, which is drawn.
        """
        return cls(posterior.leaves_distribution(), name).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, name: str | None = None, ax: Axes | None = None) -> Self:
        """Draw the number of leaves under the posterior of a classifier.

        Parameters
        ----------
        estimator : BayesOptimalClassifier or MCMCTreeClassifier
            A fitted classifier: the first gives exact probabilities, the second shares of its draws.
        name : str, optional
            The name in the legend.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        LeavesDisplay
            The display, which is drawn.
        """
        found = fitted_part(estimator, ("draws_", "posterior_"), WHO)
        if hasattr(found, "leaves_distribution"):
            return cls.from_posterior(found, name, ax)
        leaves = np.ravel(fitted_part(found, ("n_leaves",), WHO))
        return cls(np.bincount(leaves) / leaves.size, name).plot(ax)

    @property
    def mean(self) -> float:
        """The expected number of leaves."""
        return float(np.arange(self.probabilities.size) @ self.probabilities)

    def _draw(self, ax: Any) -> None:
        p = self.probabilities
        last = int(np.flatnonzero(p > TINY)[-1]) if (p > TINY).any() else p.size - 1
        first = int(np.flatnonzero(p > TINY)[0]) if (p > TINY).any() else 1
        leaves = np.arange(first, last + 1)
        self.bars_ = ax.bar(leaves, p[first : last + 1], width=0.8, color=HUES[0], label=self.name)
        ax.axvline(self.mean, color=HUES[3], linewidth=1.2)
        ax.annotate(
            f"mean {self.mean:.2f}", (self.mean, 1), xycoords=("data", "axes fraction"), xytext=(4, 2),
            textcoords="offset points", color=HUES[3], fontsize="small",
        )  # fmt: skip
        ax.set_xlabel("leaves of the tree")
        ax.set_ylabel("probability")
        if leaves.size <= 15:
            ax.set_xticks(leaves)
        if self.name:
            ax.legend(frameon=False, fontsize="small")
        ax.spines[["top", "right"]].set_visible(False)


class InclusionDisplay(Display):
    """The probability of each column or test that the tree uses it, the likeliest first.

    Parameters
    ----------
    inclusion : mapping of str to float
        The probability of each name.
    top : int, default 20
        How many are drawn.
    what : {"columns", "tests"}, default "columns"
        What the names are, for the label of the axis.

    Examples
    --------
    >>> display = InclusionDisplay({"age": 0.9, "sex": 0.2}).plot()
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['sex', 'age']
    """

    def __init__(self, inclusion: Mapping[str, float], top: int = 20, what: str = "columns") -> None:
        if not inclusion:
            raise DataError("inclusion is empty; expected the probability of at least one column")
        self.inclusion, self.top, self.what = dict(inclusion), whole("top", top, 1), what

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, by: str = "columns", top: int = 20, ax: Axes | None = None
    ) -> Self:
        """Draw which columns or tests the trees of a classifier's posterior use.

        Parameters
        ----------
        estimator : BayesOptimalClassifier or MCMCTreeClassifier
            A fitted classifier: the first gives exact probabilities, the second shares of its draws.
        by : {"columns", "tests"}, default "columns"
            Whether columns or single tests are shown.
        top : int, default 20
            How many are drawn.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; by default new ones.

        Returns
        -------
        InclusionDisplay
            The display, which is drawn.
        """
        if by not in ("columns", "tests"):
            raise refused(DataError, "by", by, "'columns' or 'tests'")
        found = fitted_part(estimator, ("draws_", "posterior_"), WHO)
        if by == "tests":
            names: Sequence[str] = estimator.binarizer_.get_feature_names_out().tolist()
            chances = np.asarray(fitted_part(found, ("test_inclusion",), WHO)())
            return cls(dict(zip(names, chances.tolist(), strict=True)), top, by).plot(ax)
        if hasattr(estimator, "attribute_inclusion"):
            return cls(estimator.attribute_inclusion(), top, by).plot(ax)
        # A column is used by a draw that uses one of its tests.
        uses = fitted_part(found, ("uses",), WHO)
        uses = uses() if callable(uses) else uses
        columns = [str(test.attribute) for test in estimator.binarizer_.tests_]
        weight = np.bincount(np.ravel(found.which), minlength=uses.shape[0]) / np.size(found.which)
        shares = {}
        for name in dict.fromkeys(columns):
            mine = [j for j, column in enumerate(columns) if column == name]
            used = np.asarray(uses[:, mine].sum(axis=1)).ravel() > 0
            shares[name] = float(weight[used].sum())
        return cls(shares, top, by).plot(ax)

    def size(self) -> tuple[float, float]:
        return 5.6, 0.26 * min(self.top, len(self.inclusion)) + 0.9

    def _draw(self, ax: Any) -> None:
        ranked = sorted(self.inclusion.items(), key=lambda item: -item[1])
        shown = ranked[: self.top][::-1]
        self.bars_ = ax.barh(range(len(shown)), [p for _, p in shown], height=0.7, color=HUES[0])
        for place, (_, p) in enumerate(shown):
            ax.annotate(
                f"{p:.2f}" if p < 0.995 or p == 1 else ">0.99", (min(p, 1), place), xytext=(3, 0),
                textcoords="offset points", va="center", fontsize="small", color=LINE,
            )  # fmt: skip
        ax.set_yticks(range(len(shown)), [clean(name) for name, _ in shown], parse_math=False)
        ax.set_xlim(0, 1.1)
        more = len(ranked) - len(shown)
        ax.set_xlabel("probability that the tree uses it" + (f" ({more} more {self.what})" if more else ""))
        ax.spines[["top", "right"]].set_visible(False)
