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
    from everytree.bayes.top_trees import TopTrees as TopTrees
    from everytree.bayes.uncertainty import Moments as Moments
    from everytree.constraints import (
        ChiSquare as ChiSquare,
    )
    from everytree.constraints import (
        Margin as Margin,
    )
    from everytree.constraints import (
        Support as Support,
    )
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
    from everytree.estimate import Estimate as Estimate
    from everytree.estimators.bayes import BayesOptimalClassifier as BayesOptimalClassifier
    from everytree.estimators.c45 import C45TreeClassifier as C45TreeClassifier
    from everytree.estimators.cart import CARTTreeClassifier as CARTTreeClassifier
    from everytree.estimators.compressed import CompressedClassifier as CompressedClassifier
    from everytree.estimators.map_tree import MAPTreeClassifier as MAPTreeClassifier
    from everytree.estimators.mcmc import MCMCTreeClassifier as MCMCTreeClassifier
    from everytree.estimators.optimal import OptimalTreeClassifier as OptimalTreeClassifier
    from everytree.estimators.option import OptionTreeClassifier as OptionTreeClassifier
    from everytree.estimators.path_average import PathAverageTreeClassifier as PathAverageTreeClassifier
    from everytree.estimators.smoothed import SmoothedTreeClassifier as SmoothedTreeClassifier
    from everytree.model_file import load_model as load_model
    from everytree.multiway import MultiwayTree as MultiwayTree
    from everytree.near_best import NearBest as NearBest
    from everytree.option_tree import OptionTree as OptionTree
    from everytree.option_tree import TreeMean as TreeMean
    from everytree.path_tree import PathTree as PathTree
    from everytree.posterior import Posterior as Posterior
    from everytree.priors import (
        CodingPrior as CodingPrior,
    )
    from everytree.priors import (
        LeafPenaltyPrior as LeafPenaltyPrior,
    )
    from everytree.priors import (
        Prior as Prior,
    )
    from everytree.priors import (
        PriorTables as PriorTables,
    )
    from everytree.priors import (
        ShapePrior as ShapePrior,
    )
    from everytree.priors import (
        SizePrior as SizePrior,
    )
    from everytree.priors import (
        UniformPrior as UniformPrior,
    )
    from everytree.query import Query as Query
    from everytree.query_text import format_query as format_query
    from everytree.query_text import parse_query as parse_query
    from everytree.row_paths import RowExplanation as RowExplanation
    from everytree.row_paths import explain_row as explain_row
    from everytree.space import TreeSpace as TreeSpace
    from everytree.strategies import StrategyRun as StrategyRun
    from everytree.strategies import compare_strategies as compare_strategies
    from everytree.tree import Tree as Tree
    from everytree.verify import verify_model as verify_model
    from everytree.weights import DepthDecay as DepthDecay

__version__ = "0.1.0"

# public name -> module that holds it
_HOME = {
    "AveragedPosterior": "everytree.bayes.average",
    "BayesOptimalClassifier": "everytree.estimators.bayes",
    "Binarizer": "everytree.data.binarizer",
    "Bracket": "everytree.bayes.bracket",
    "C45TreeClassifier": "everytree.estimators.c45",
    "CARTTreeClassifier": "everytree.estimators.cart",
    "ChiSquare": "everytree.constraints",
    "CodingPrior": "everytree.priors",
    "CollapsedPosterior": "everytree.bayes.collapsed",
    "CompressedRules": "everytree.bayes.compress",
    "CompressedClassifier": "everytree.estimators.compressed",
    "DataError": "everytree.errors",
    "DepthDecay": "everytree.weights",
    "DepthProfile": "everytree.bayes.deepening",
    "Estimate": "everytree.estimate",
    "EvidenceFit": "everytree.bayes.evidence",
    "EverytreeError": "everytree.errors",
    "Explanation": "everytree.bayes.explain",
    "LeafPenaltyPrior": "everytree.priors",
    "LimitReached": "everytree.errors",
    "MAPTreeClassifier": "everytree.estimators.map_tree",
    "MCMCTreeClassifier": "everytree.estimators.mcmc",
    "Margin": "everytree.constraints",
    "Moments": "everytree.bayes.uncertainty",
    "MultiwayTree": "everytree.multiway",
    "NearBest": "everytree.near_best",
    "NoTreeError": "everytree.errors",
    "OptimalTreeClassifier": "everytree.estimators.optimal",
    "OptionTree": "everytree.option_tree",
    "OptionTreeClassifier": "everytree.estimators.option",
    "PathAverageTreeClassifier": "everytree.estimators.path_average",
    "PathTree": "everytree.path_tree",
    "Posterior": "everytree.posterior",
    "PredictionBracket": "everytree.bayes.bracket",
    "Prior": "everytree.priors",
    "PriorTables": "everytree.priors",
    "Query": "everytree.query",
    "format_query": "everytree.query_text",
    "parse_query": "everytree.query_text",
    "QueryError": "everytree.errors",
    "RowExplanation": "everytree.row_paths",
    "ShapePrior": "everytree.priors",
    "SizePrior": "everytree.priors",
    "SmoothedTreeClassifier": "everytree.estimators.smoothed",
    "StrategyRun": "everytree.strategies",
    "Support": "everytree.constraints",
    "Table": "everytree.data.table",
    "TopTrees": "everytree.bayes.top_trees",
    "Tree": "everytree.tree",
    "TreeMean": "everytree.option_tree",
    "TreeSpace": "everytree.space",
    "UniformPrior": "everytree.priors",
    "compare_strategies": "everytree.strategies",
    "explain_row": "everytree.row_paths",
    "fit_evidence": "everytree.bayes.evidence",
    "load_model": "everytree.model_file",
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
