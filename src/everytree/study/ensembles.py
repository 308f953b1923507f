"""Forests, boosted trees, additive models and other learners of probabilities, in the manner of scikit-learn.

calibrated forest    the forest, each probability at least 0.001, to the power γ of least out-of-bag log-loss
pruned CART          the tree of cost-complexity pruning whose penalty has the best five-fold accuracy
BART                 probit sums of trees by bartz: two classes only
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.exponent import best_exponent, tempered

__all__ = [
    "BartClassifier",
    "CalibratedForest",
    "CatBoosted",
    "PrunedCart",
    "boosted",
    "extra_trees",
    "forest",
    "light_boost",
    "logistic",
]

Reals = npt.NDArray[np.float64]
TREES, LEAST_SAID = 500, 1e-3


def forest(**more: Any) -> Any:
    """Make a random forest of 500 trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=0, n_jobs=1, **more)


def extra_trees() -> Any:
    """Make a forest of 500 extremely randomised trees."""
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(TREES, random_state=0, n_jobs=1)


def boosted() -> Any:
    """Make scikit-learn's boosted histogram trees, as they come."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def light_boost() -> Any:
    """Make LightGBM's boosted trees, as they come."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=0, n_jobs=1, verbose=-1)


def logistic() -> Any:
    """Make a logistic regression on scaled columns."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


class _Wrapped:
    """A classifier around one of scikit-learn's."""

    classes_: npt.NDArray[Any]

    def predict_proba(self, X: Any) -> Reals:
        """Predict the class probabilities."""
        raise NotImplementedError

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class CatBoosted(_Wrapped):
    """CatBoost's boosted trees, as they come, but that ``predict`` answers labels and not lists of one label each."""

    def fit(self, X: Any, y: Any) -> CatBoosted:
        """Boost the trees."""
        from catboost import CatBoostClassifier

        self.model = CatBoostClassifier(
            random_seed=0, thread_count=1, verbose=False, allow_writing_files=False
        )
        self.model.fit(X, y)
        self.classes_ = np.asarray(self.model.classes_)
        return self

    def predict_proba(self, X: Any) -> Reals:
        """Predict by the sum of the trees."""
        return np.asarray(self.model.predict_proba(X))


class CalibratedForest(_Wrapped):
    """A random forest of 500 trees under an exponent that its out-of-bag rows choose."""

    def fit(self, X: Any, y: Any) -> CalibratedForest:
        """Grow the forest, and choose the exponent."""
        self.model = forest(oob_score=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # A few rows are in the bag of every tree.
            self.model.fit(X, y)
        self.classes_ = self.model.classes_
        said = self.model.oob_decision_function_
        known = np.nan_to_num(said).sum(axis=1) > 0
        codes = np.searchsorted(self.classes_, np.asarray(y)[known])
        self.exponent_ = best_exponent(_floored(said[known]), codes, np.ones(int(known.sum())))
        return self

    def predict_proba(self, X: Any) -> Reals:
        """Predict by the forest's votes, under the exponent."""
        return tempered(_floored(self.model.predict_proba(X)), self.exponent_)


def _floored(proba: Reals) -> Reals:
    proba = np.maximum(proba, LEAST_SAID)
    return np.asarray(proba / proba.sum(axis=1, keepdims=True))


class PrunedCart(_Wrapped):
    """CART with cost-complexity pruning, its penalty by five-fold cross-validation; leaves say (n_c + 1) / (n + C)."""

    def fit(self, X: Any, y: Any) -> PrunedCart:
        """Grow the tree, and prune it."""
        from sklearn.model_selection import GridSearchCV, StratifiedKFold
        from sklearn.tree import DecisionTreeClassifier

        path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y)
        penalties = np.unique(np.maximum(path.ccp_alphas[:-1], 0.0))
        penalties = penalties[np.unique(np.linspace(0, len(penalties) - 1, 20).round().astype(int))]
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # A class may have fewer than five rows.
            found = GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": penalties}, cv=folds)
            self.model = found.fit(X, y).best_estimator_
        self.classes_, self.tree_ = self.model.classes_, self.model.tree_
        return self

    def predict_proba(self, X: Any) -> Reals:
        """Predict by the smoothed shares of the leaf."""
        place = self.model.apply(np.asarray(X, dtype=np.float32))
        shares = self.tree_.value[place, 0, :] * self.tree_.n_node_samples[place][:, None]
        return np.asarray((shares + 1) / (shares + 1).sum(axis=1, keepdims=True))


class BartClassifier(_Wrapped):
    """Bayesian additive regression trees with a probit link; of two classes only."""

    def fit(self, X: Any, y: Any) -> BartClassifier:
        """Draw sums of trees from their posterior."""
        from bartz.BART import gbart

        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise ValueError("more than two classes")
        truth = (np.asarray(y) == self.classes_[1]).astype(np.float32)
        self.model = gbart(np.asarray(X, dtype=np.float32), truth, type="pbart", seed=0, printevery=None)
        return self

    def predict_proba(self, X: Any) -> Reals:
        """Predict by the mean over the draws."""
        from scipy.stats import norm

        latent = np.asarray(self.model.predict(np.asarray(X, dtype=np.float32)))
        share = norm.cdf(latent).mean(axis=0) if latent.min() < 0 or latent.max() > 1 else latent.mean(axis=0)
        return np.column_stack([1 - share, share])
