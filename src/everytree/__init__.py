"""everytree: the best tree, every tree, and how sure to be.

Names are loaded when first used, so that ``import everytree`` and ``everytree --help`` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# public name -> module that holds it
_HOME = {
    "BayesOptimalClassifier": "everytree.estimators.bayes",
    "Binarizer": "everytree.data.binarizer",
    "CodingPrior": "everytree.priors",
    "DataError": "everytree.errors",
    "DepthDecay": "everytree.weights",
    "EverytreeError": "everytree.errors",
    "LeafPenaltyPrior": "everytree.priors",
    "LimitReached": "everytree.errors",
    "MAPTreeClassifier": "everytree.estimators.bayes",
    "OptimalTreeClassifier": "everytree.estimators.optimal",
    "Posterior": "everytree.posterior",
    "QueryError": "everytree.errors",
    "ShapePrior": "everytree.priors",
    "SizePrior": "everytree.priors",
    "Table": "everytree.data.table",
    "Tree": "everytree.tree",
    "TreeSpace": "everytree.space",
    "UniformPrior": "everytree.priors",
    "read": "everytree.data.readers",
    "read_arff": "everytree.data.readers",
    "read_csv": "everytree.data.readers",
    "read_parquet": "everytree.data.readers",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'everytree' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
