"""Tools to compare classifiers: folds, measures of their probabilities, and a paired test."""

from everytree.metrics.folds import Fold, stratified_folds
from everytree.metrics.paired_test import PairedTest, corrected_t_test, verdict
from everytree.metrics.scores import CLIP, Reliability, aligned, brier, log_loss

__all__ = [
    "CLIP",
    "Fold",
    "PairedTest",
    "Reliability",
    "aligned",
    "brier",
    "corrected_t_test",
    "log_loss",
    "stratified_folds",
    "verdict",
]
