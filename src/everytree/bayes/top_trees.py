"""The most probable trees, and how much of the posterior they are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from everytree.trees.tree import Tree

__all__ = ["TopTrees"]


class TopTrees(list[Tree]):
    """A list of the most probable trees, best first, that knows how much of the posterior they are.

    ``Posterior.top_trees`` makes it.

    Parameters
    ----------
    trees : iterable of Tree, default=()
        The trees, with ``probability`` in ``tree.info``.

    Examples
    --------
    >>> from everytree import TreeSpace
    >>> post = TreeSpace([[0], [0], [1], [1]], ["no", "no", "yes", "yes"], max_depth=1).posterior()
    >>> trees = post.top_trees(2)
    >>> trees.probabilities.round(3).tolist(), round(trees.share, 3)
    ([0.93, 0.07], 1.0)
    """

    def __init__(self, trees: Iterable[Tree] = ()) -> None:
        super().__init__(trees)

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """The posterior probability of each tree."""
        return np.array([tree.info["probability"] for tree in self], dtype=np.float64)

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of the posterior that the first trees cover together: entry k counts the first k + 1 trees."""
        return np.minimum(1.0, np.cumsum(self.probabilities))

    @property
    def share(self) -> float:
        """The share of the posterior that these trees cover together."""
        return float(self.shares[-1]) if self else 0.0

    def __str__(self) -> str:
        n = f"{len(self)} tree" + ("" if len(self) == 1 else "s")
        parts = [f"{n}, {100 * self.share:.3g} % of the posterior"]
        for k, (tree, p, so_far) in enumerate(zip(self, self.probabilities, self.shares, strict=True), 1):
            parts.append(f"{k}. probability {p:.3g}, together {so_far:.3g}\n{tree}")
        return "\n\n".join(parts)
