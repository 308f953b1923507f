"""everytree: the best tree, every tree, and how sure to be.

Names are loaded when first used, so that ``import everytree`` and ``everytree --help`` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everytree.bayes.average import AveragedPosterior as AveragedPosterior
    from everytree.bayes.bracket import Bracket as Bracket
    from everytree.bayes.bracket import PredictionBracket as PredictionBracket
    from everytree.bayes.collapsed import CollapsedPosterior as CollapsedPosterior
    from everytree.bayes.compress import CompressedRules as CompressedRules
    from everytree.bayes.deepening import DepthProfile as DepthProfile
    from everytree.bayes.evidence import (
        EvidenceFit as EvidenceFit,
    )
    from everytree.bayes.evidence import (
        fit_evidence as fit_evidence,
    )
    from everytree.bayes.explain import Explanation as Explanation
    from everytree.bayes.left_out_fit import (
        LeftOutFit as LeftOutFit,
    )
    from everytree.bayes.left_out_fit import (
        fit_leave_one_out as fit_leave_one_out,
    )
    from everytree.bayes.posterior import Posterior as Posterior
    from everytree.bayes.top_trees import TopTrees as TopTrees
    from everytree.bayes.uncertainty import Moments as Moments
    from everytree.data.binarizer import Binarizer as Binarizer
    from everytree.data.readers import (
        read as read,
    )
    from everytree.data.readers import (
        read_arff as read_arff,
    )
    from everytree.data.readers import (
        read_chunks as read_chunks,
    )
    from everytree.data.readers import (
        read_csv as read_csv,
    )
    from everytree.data.readers import (
        read_parquet as read_parquet,
    )
    from everytree.data.table import Table as Table
    from everytree.engine.estimate import Estimate as Estimate
    from everytree.errors import (
        DataError as DataError,
    )
    from everytree.errors import (
        EverytreeError as EverytreeError,
    )
    from everytree.errors import (
        LimitReached as LimitReached,
    )
    from everytree.errors import (
        NoTreeError as NoTreeError,
    )
    from everytree.errors import (
        QueryError as QueryError,
    )
    from everytree.estimators.bayes import BayesOptimalClassifier as BayesOptimalClassifier
    from everytree.estimators.c45 import C45TreeClassifier as C45TreeClassifier
    from everytree.estimators.cart import CARTTreeClassifier as CARTTreeClassifier
    from everytree.estimators.compressed import CompressedClassifier as CompressedClassifier
    from everytree.estimators.every_tree import EveryTreeClassifier as EveryTreeClassifier
    from everytree.estimators.load import load_model as load_model
    from everytree.estimators.map_tree import MAPTreeClassifier as MAPTreeClassifier
    from everytree.estimators.mcmc import MCMCTreeClassifier as MCMCTreeClassifier
    from everytree.estimators.optimal import OptimalTreeClassifier as OptimalTreeClassifier
    from everytree.estimators.option import OptionTreeClassifier as OptionTreeClassifier
    from everytree.estimators.path_average import PathAverageTreeClassifier as PathAverageTreeClassifier
    from everytree.estimators.row_paths import RowExplanation as RowExplanation
    from everytree.estimators.row_paths import explain_row as explain_row
    from everytree.estimators.smoothed import SmoothedTreeClassifier as SmoothedTreeClassifier
    from everytree.query.compare_strategies import StrategyRun as StrategyRun
    from everytree.query.compare_strategies import compare_strategies as compare_strategies
    from everytree.query.itemsets import ItemsetDatabase as ItemsetDatabase
    from everytree.query.near_best import NearBest as NearBest
    from everytree.query.query import Query as Query
    from everytree.query.text import format_query as format_query
    from everytree.query.text import parse_query as parse_query
    from everytree.space.tree_space import TreeSpace as TreeSpace
    from everytree.trees.multiway import MultiwayTree as MultiwayTree
    from everytree.trees.option_tree import OptionTree as OptionTree
    from everytree.trees.path_tree import PathTree as PathTree
    from everytree.trees.tree import Tree as Tree
    from everytree.trees.tree_mean import TreeMean as TreeMean
    from everytree.verify import verify_model as verify_model
    from everytree.weights.constraints import (
        ChiSquare as ChiSquare,
    )
    from everytree.weights.constraints import (
        Margin as Margin,
    )
    from everytree.weights.constraints import (
        Support as Support,
    )
    from everytree.weights.dirichlet import (
        BaseRate as BaseRate,
    )
    from everytree.weights.dirichlet import (
        DepthDecay as DepthDecay,
    )
    from everytree.weights.priors import (
        BalancedPrior as BalancedPrior,
    )
    from everytree.weights.priors import (
        CodingPrior as CodingPrior,
    )
    from everytree.weights.priors import (
        LeafPenaltyPrior as LeafPenaltyPrior,
    )
    from everytree.weights.priors import (
        Prior as Prior,
    )
    from everytree.weights.priors import (
        PriorTables as PriorTables,
    )
    from everytree.weights.priors import (
        ShapePrior as ShapePrior,
    )
    from everytree.weights.priors import (
        SizePrior as SizePrior,
    )
    from everytree.weights.priors import (
        UniformPrior as UniformPrior,
    )

__version__ = "0.1.0"

# public name -> module that holds it
_HOME = {
    "AveragedPosterior": "everytree.bayes.average",
    "BalancedPrior": "everytree.weights.priors",
    "BaseRate": "everytree.weights.dirichlet",
    "BayesOptimalClassifier": "everytree.estimators.bayes",
    "Binarizer": "everytree.data.binarizer",
    "Bracket": "everytree.bayes.bracket",
    "C45TreeClassifier": "everytree.estimators.c45",
    "CARTTreeClassifier": "everytree.estimators.cart",
    "ChiSquare": "everytree.weights.constraints",
    "CodingPrior": "everytree.weights.priors",
    "CollapsedPosterior": "everytree.bayes.collapsed",
    "CompressedRules": "everytree.bayes.compress",
    "CompressedClassifier": "everytree.estimators.compressed",
    "DataError": "everytree.errors",
    "DepthDecay": "everytree.weights.dirichlet",
    "DepthProfile": "everytree.bayes.deepening",
    "Estimate": "everytree.engine.estimate",
    "EveryTreeClassifier": "everytree.estimators.every_tree",
    "EvidenceFit": "everytree.bayes.evidence",
    "EverytreeError": "everytree.errors",
    "Explanation": "everytree.bayes.explain",
    "LeafPenaltyPrior": "everytree.weights.priors",
    "LimitReached": "everytree.errors",
    "MAPTreeClassifier": "everytree.estimators.map_tree",
    "MCMCTreeClassifier": "everytree.estimators.mcmc",
    "Margin": "everytree.weights.constraints",
    "Moments": "everytree.bayes.uncertainty",
    "MultiwayTree": "everytree.trees.multiway",
    "NearBest": "everytree.query.near_best",
    "NoTreeError": "everytree.errors",
    "OptimalTreeClassifier": "everytree.estimators.optimal",
    "OptionTree": "everytree.trees.option_tree",
    "OptionTreeClassifier": "everytree.estimators.option",
    "PathAverageTreeClassifier": "everytree.estimators.path_average",
    "PathTree": "everytree.trees.path_tree",
    "Posterior": "everytree.bayes.posterior",
    "PredictionBracket": "everytree.bayes.bracket",
    "Prior": "everytree.weights.priors",
    "PriorTables": "everytree.weights.priors",
    "Query": "everytree.query.query",
    "format_query": "everytree.query.text",
    "parse_query": "everytree.query.text",
    "QueryError": "everytree.errors",
    "RowExplanation": "everytree.estimators.row_paths",
    "ShapePrior": "everytree.weights.priors",
    "SizePrior": "everytree.weights.priors",
    "SmoothedTreeClassifier": "everytree.estimators.smoothed",
    "StrategyRun": "everytree.query.compare_strategies",
    "ItemsetDatabase": "everytree.query.itemsets",
    "Support": "everytree.weights.constraints",
    "Table": "everytree.data.table",
    "TopTrees": "everytree.bayes.top_trees",
    "Tree": "everytree.trees.tree",
    "TreeMean": "everytree.trees.tree_mean",
    "TreeSpace": "everytree.space.tree_space",
    "UniformPrior": "everytree.weights.priors",
    "compare_strategies": "everytree.query.compare_strategies",
    "explain_row": "everytree.estimators.row_paths",
    "fit_evidence": "everytree.bayes.evidence",
    "fit_leave_one_out": "everytree.bayes.left_out_fit",
    "LeftOutFit": "everytree.bayes.left_out_fit",
    "load_model": "everytree.estimators.load",
    "read": "everytree.data.readers",
    "read_arff": "everytree.data.readers",
    "read_chunks": "everytree.data.readers",
    "read_csv": "everytree.data.readers",
    "read_parquet": "everytree.data.readers",
    "verify_model": "everytree.verify",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'everytree' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
