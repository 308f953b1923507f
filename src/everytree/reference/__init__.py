"""A slow, plain-Python twin of everything everytree computes, written to be read and to judge the fast code.

Start with ``Table`` (distinct rows and class counts) and ``Space`` (every tree within a depth and a minimum
leaf size): a space can count its trees and, when small, list them. ``Query`` with ``best``, ``front`` and
``near_best`` asks for optimal trees; ``Bayes`` averages over all trees under a prior, and ``test_inclusion``,
``leaves_distribution``, ``map_tree`` … ask about its posterior. Each of these answers exists twice, by
recursion and by listing every tree (``Listing``, ``best_by_listing``, …), so that each can check the other.
The other methods are ``cano`` (averaging along a path), ``buntine`` with ``options`` (growing, smoothing,
option trees), ``subsample`` and ``incremental`` (growing from many, and from more and more, examples), ``fit``
(parameters by evidence), ``mcmc`` (random walks over trees) and ``lattice`` (the itemsets behind DL8). A tree is a
nested tuple: ``None`` is a leaf, ``(test, zero_child, one_child)`` a split.

Cuts that each state chooses from its own rows: ``ColumnTable`` (rows of values) and ``LocalSpace``, which is asked
like a ``Space``; trees are of test numbers there too, and new rows are rows of values. ``leave_one_out`` says what an
average without an example says of it, and ``best_exponent`` how bold it may be.

On whole columns (numbers, nominal values, missing ones): ``c45``, and ``whole_columns`` with ``grower`` and ``grown``,
which do there what ``buntine`` with ``options`` does on 0/1 tests.

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
from everytree.reference.bracket import Bracket, log_evidence_bracket
from everytree.reference.buntine import (
    attribute_quality,
    grow,
    grow_options,
    grow_random,
    log_quality,
    quality,
)
from everytree.reference.cano import CanoNode, cano_grow, cano_path, cano_predict, nonuniform_a
from everytree.reference.chi2 import chi2, chi2_p_value, chi2_tail
from everytree.reference.columns import ColumnTable
from everytree.reference.criteria import Query
from everytree.reference.fit import DirichletFit, evidence_slope, fit_dirichlet, marginal_slope
from everytree.reference.greedy_traps import (
    DL8_FIGURE_3,
    DL8_FIGURE_4,
    MISLED_XOR,
    UNBALANCED_PAIR,
    gain_ratio,
    greedy_root,
    information_gain,
)
from everytree.reference.incremental import restructure
from everytree.reference.lattice import Census, Lattice
from everytree.reference.leave_one_out import (
    LeftOut,
    Without,
    best_exponent,
    exponent_log_loss,
    leave_one_out,
    leave_one_out_by_listing,
    left_out_examples,
    tempered,
)
from everytree.reference.leaves import (
    BaseRate,
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
    says,
)
from everytree.reference.listing import Listing
from everytree.reference.local_space import LocalSpace
from everytree.reference.logs import log_sum
from everytree.reference.marginals import (
    attribute_inclusion,
    depth_distribution,
    expected_depth,
    expected_leaves,
    expected_size,
    leaves_distribution,
    log_bayes_factor,
    log_prior_total,
    root_distribution,
    size_distribution,
    test_inclusion,
)
from everytree.reference.mcmc import (
    Addition,
    ChipmanKernel,
    EnergyTarget,
    Kernel,
    Move,
    StackKernel,
    ValueTest,
    chain,
    column_proposal,
    energy,
    log_hastings_ratio,
    more_orders,
    n_orders,
    of_feasible,
    once_per_tree,
    risk,
    transition,
)
from everytree.reference.most_probable import log_map, map_tree, sample, top_trees
from everytree.reference.near_best import (
    CriterionCost,
    JointCost,
    NearBest,
    near_best,
    near_best_by_listing,
)
from everytree.reference.options import (
    OptionTree,
    all_options,
    log_s,
    map_pruning,
    one_option,
    predict_options,
    trees_of,
)
from everytree.reference.parity import column_parity_terms, kept_terms, parity_terms
from everytree.reference.priors import (
    BalancedPrior,
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
from everytree.reference.subsample import Choice, choose_on_subsample, grow_on_subsamples
from everytree.reference.table import Table
from everytree.reference.trees import (
    Node,
    Tree,
    depth,
    from_key,
    key,
    leaf_of,
    leaf_path,
    leaves_of,
    n_leaves,
    n_splits,
    nodes_of,
    size,
    used_tests,
)

__all__ = [
    "DL8_FIGURE_3",
    "DL8_FIGURE_4",
    "MISLED_XOR",
    "UNBALANCED_PAIR",
    "Addition",
    "Answer",
    "BalancedPrior",
    "BaseRate",
    "Bayes",
    "Bracket",
    "CanoNode",
    "Census",
    "ChipmanKernel",
    "Choice",
    "CodingPrior",
    "ColumnTable",
    "CriterionCost",
    "DepthDecay",
    "DirichletFit",
    "EmptySpaceError",
    "EnergyTarget",
    "FrontPoint",
    "JointCost",
    "Kernel",
    "Lattice",
    "LeafPenaltyPrior",
    "LeftOut",
    "Listing",
    "LocalSpace",
    "Moments",
    "Move",
    "NearBest",
    "NoTreeError",
    "Node",
    "OptionTree",
    "Prior",
    "Query",
    "ShapePrior",
    "SizePrior",
    "Space",
    "StackKernel",
    "Step",
    "Table",
    "TooManyTreesError",
    "Tree",
    "UniformPrior",
    "ValueTest",
    "Without",
    "added_errors",
    "all_options",
    "attribute_inclusion",
    "attribute_quality",
    "best",
    "best_by_listing",
    "best_exponent",
    "best_tree",
    "cano_grow",
    "cano_path",
    "cano_predict",
    "chain",
    "chi2",
    "chi2_p_value",
    "chi2_tail",
    "choose_on_subsample",
    "column_parity_terms",
    "column_proposal",
    "cost",
    "depth",
    "depth_distribution",
    "dirichlet_at",
    "energy",
    "entropy",
    "error",
    "evidence_slope",
    "expected_depth",
    "expected_error",
    "expected_leaves",
    "expected_size",
    "exponent_log_loss",
    "fit_dirichlet",
    "from_key",
    "front",
    "front_by_listing",
    "gain_ratio",
    "gini",
    "greedy_root",
    "grow",
    "grow_on_subsamples",
    "grow_options",
    "grow_random",
    "information_gain",
    "kept_terms",
    "key",
    "leaf_of",
    "leaf_path",
    "leaf_probabilities",
    "leave_one_out",
    "leave_one_out_by_listing",
    "leaves_distribution",
    "leaves_of",
    "left_out_examples",
    "log_bayes_factor",
    "log_evidence_bracket",
    "log_hastings_ratio",
    "log_map",
    "log_marginal",
    "log_prior_total",
    "log_quality",
    "log_s",
    "log_sum",
    "map_pruning",
    "map_tree",
    "marginal_slope",
    "more_orders",
    "n_leaves",
    "n_orders",
    "n_splits",
    "near_best",
    "near_best_by_listing",
    "nodes_of",
    "nonuniform_a",
    "of_feasible",
    "once_per_tree",
    "one_option",
    "parity_terms",
    "predict_options",
    "quality",
    "restructure",
    "risk",
    "root_distribution",
    "sample",
    "satisfies",
    "says",
    "size",
    "size_distribution",
    "tempered",
    "test_inclusion",
    "top_trees",
    "transition",
    "trees_of",
    "used_tests",
]
