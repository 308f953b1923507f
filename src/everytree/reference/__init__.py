"""A slow, plain-Python twin of everything everytree computes, written to be read and to judge the fast code.

Start with ``Table`` (distinct rows and class counts) and ``Space`` (every tree within a depth and a minimum
leaf size): a space can count its trees and, when small, list them. ``Query`` with ``best`` and ``front`` asks
for optimal trees; ``Bayes`` averages over all trees under a prior, and ``test_inclusion``,
``leaves_distribution``, ``map_tree`` … ask about its posterior. Each answer exists twice: by recursion, and
by listing every tree (``Listing``, ``best_by_listing``, ``front_by_listing``), so that each can check the
other. A tree is a nested tuple: ``None`` is a leaf, ``(test, zero_child, one_child)`` a split.

Only the standard library is used, and nothing from the rest of everytree.

>>> table = Table.from_data([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
>>> space = Space(table, max_depth=2, min_leaf=1)
>>> space.count()
9
>>> best_tree(space)
(0, (1, None, None), (1, None, None))
>>> [round(p, 3) for p in Bayes(space).predict_proba([0, 1])]
[0.422, 0.578]
"""

from everytree.reference.bayes import Bayes, Moments, Step
from everytree.reference.chi2 import chi2, chi2_p_value, chi2_tail
from everytree.reference.criteria import Query
from everytree.reference.leaves import (
    DepthDecay,
    added_errors,
    cost,
    dirichlet_at,
    entropy,
    error,
    expected_error,
    gini,
    leaf_probabilities,
    log_marginal,
)
from everytree.reference.listing import Listing
from everytree.reference.logs import log_sum
from everytree.reference.marginals import (
    attribute_inclusion,
    depth_distribution,
    expected_depth,
    expected_leaves,
    expected_size,
    leaves_distribution,
    root_distribution,
    test_inclusion,
)
from everytree.reference.most_probable import log_map, map_tree, sample, top_trees
from everytree.reference.priors import (
    CodingPrior,
    LeafPenaltyPrior,
    Prior,
    ShapePrior,
    SizePrior,
    UniformPrior,
)
from everytree.reference.queries import (
    Answer,
    FrontPoint,
    NoTreeError,
    best,
    best_by_listing,
    best_tree,
    front,
    front_by_listing,
    satisfies,
)
from everytree.reference.space import EmptySpaceError, Space, TooManyTreesError
from everytree.reference.table import Table
from everytree.reference.trees import (
    Node,
    Tree,
    depth,
    from_key,
    key,
    leaf_path,
    leaves_of,
    n_leaves,
    n_splits,
    nodes_of,
    size,
    used_tests,
)

__all__ = [
    "Answer",
    "Bayes",
    "CodingPrior",
    "DepthDecay",
    "EmptySpaceError",
    "FrontPoint",
    "LeafPenaltyPrior",
    "Listing",
    "Moments",
    "NoTreeError",
    "Node",
    "Prior",
    "Query",
    "ShapePrior",
    "SizePrior",
    "Space",
    "Step",
    "Table",
    "TooManyTreesError",
    "Tree",
    "UniformPrior",
    "added_errors",
    "attribute_inclusion",
    "best",
    "best_by_listing",
    "best_tree",
    "chi2",
    "chi2_p_value",
    "chi2_tail",
    "cost",
    "depth",
    "depth_distribution",
    "dirichlet_at",
    "entropy",
    "error",
    "expected_depth",
    "expected_error",
    "expected_leaves",
    "expected_size",
    "from_key",
    "front",
    "front_by_listing",
    "gini",
    "key",
    "leaf_path",
    "leaf_probabilities",
    "leaves_distribution",
    "leaves_of",
    "log_map",
    "log_marginal",
    "log_sum",
    "map_tree",
    "n_leaves",
    "n_splits",
    "nodes_of",
    "root_distribution",
    "sample",
    "satisfies",
    "size",
    "test_inclusion",
    "top_trees",
    "used_tests",
]
