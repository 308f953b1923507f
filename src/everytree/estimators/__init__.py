"""scikit-learn classifiers, one file per family; all stand on ``base.ClassifierBase``."""

from __future__ import annotations

from everytree.estimators.bayes import BayesOptimalClassifier
from everytree.estimators.c45 import C45TreeClassifier
from everytree.estimators.cart import CARTTreeClassifier
from everytree.estimators.compressed import CompressedClassifier
from everytree.estimators.every_tree import EveryTreeClassifier
from everytree.estimators.map_tree import MAPTreeClassifier
from everytree.estimators.mcmc import MCMCTreeClassifier
from everytree.estimators.optimal import OptimalTreeClassifier
from everytree.estimators.option import OptionTreeClassifier
from everytree.estimators.path_average import PathAverageTreeClassifier
from everytree.estimators.smoothed import SmoothedTreeClassifier

__all__ = [
    "BayesOptimalClassifier",
    "C45TreeClassifier",
    "CARTTreeClassifier",
    "CompressedClassifier",
    "EveryTreeClassifier",
    "MAPTreeClassifier",
    "MCMCTreeClassifier",
    "OptimalTreeClassifier",
    "OptionTreeClassifier",
    "PathAverageTreeClassifier",
    "SmoothedTreeClassifier",
]
