"""Bayes optimal classification: the average over every tree (Nijssen 2008), as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.bayes.average import AveragedPosterior
from everytree.data.table import Table
from everytree.errors import DataError
from everytree.estimators.bayes_base import BayesBase
from everytree.posterior import Posterior

__all__ = ["BayesOptimalClassifier"]


class BayesOptimalClassifier(BayesBase):
    """Class probabilities averaged over every tree of the space, each weighted by its posterior probability.

    Parameters
    ----------
    max_depth, min_leaf : the space; ``max_depth=None`` for no limit
    prior : "size", "uniform", "leaf_penalty", "shapes", "coding", or a prior object; "fit" chooses alpha and beta of
        the size prior by the evidence, "average" mixes over a grid of them by their evidence; "fit_leaf_penalty" and
        "average_leaf_penalty" do so for omega
    alpha, beta : of the size prior: a node at depth d splits with probability α(1 + d)^−β; "fit" never has less
        evidence than these
    dirichlet : a number, one per class, "1/C", "decay" or a ``DepthDecay``; "fit" or "average" (one number),
        "fit_per_class", "fit_decay" and "average_decay" by the evidence
    bins, missing : how columns become tests, see ``Binarizer``
    n_jobs, time_limit, memory_limit : threads, seconds, bytes

    Attributes
    ----------
    posterior_ : the posterior over every tree; with "average" a mixture of them
    log_evidence_ : its log evidence
    prior_, dirichlet_ : the values in force; with "average" those of most weight
    evidence_fit_ : what "fit" or "average" tried (``evidence_fit_.curve``, ``evidence_fit_.plot()``), or None
    mixture_ : with "average", the parts: (prior, dirichlet, weight) of each
    n_states_ : states of the graph that was folded

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesOptimalClassifier(max_depth=3).fit(X, y)
    >>> model.predict_proba(X[:1]).round(2).tolist()
    [[0.95, 0.02, 0.02]]
    >>> fitted = BayesOptimalClassifier(max_depth=3, dirichlet="fit").fit(X, y)
    >>> round(fitted.dirichlet_, 2), fitted.log_evidence_ > model.log_evidence_
    (0.03, True)
    """

    posterior_: Posterior | AveragedPosterior

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: npt.NDArray[np.int64] | None,
    ) -> None:
        hyper = self._hyper(table.n_classes)
        space = self._space(table)
        fit = hyper.choose(space) if hyper.verb else None
        if fit is None:
            posterior: Posterior | AveragedPosterior = space.posterior(hyper.prior, hyper.dirichlet)
        else:
            posterior = fit.average() if hyper.verb == "average" else fit.posterior
        self._set_posterior(posterior)
        self.evidence_fit_ = fit

    def _set_posterior(self, posterior: Posterior | AveragedPosterior) -> None:
        one = posterior.best if isinstance(posterior, AveragedPosterior) else posterior
        if isinstance(posterior, AveragedPosterior):
            parts = zip(posterior.posteriors, posterior.weights.tolist(), strict=True)
            self.mixture_ = [(each.prior, each.dirichlet, weight) for each, weight in parts]
        elif hasattr(self, "mixture_"):
            del self.mixture_
        self.posterior_ = posterior
        self.log_evidence_ = posterior.log_evidence
        self.prior_, self.dirichlet_ = one.prior, one.dirichlet
        self.n_states_ = sum(int(graph.n_states) for graph in one.space._graphs.values())

    def _restore(self, table: Table, claims: dict[str, Any]) -> None:
        """Fold again under the hyper-parameters in force; they are not chosen again, nor is a limit met again."""
        self.evidence_fit_ = None
        if "prior" not in claims or "dirichlet" not in claims:
            super()._restore(table, claims)
            return
        space = self._space(table)
        try:
            if "mixture" not in claims:
                self._set_posterior(space.posterior(claims["prior"], _plain(claims["dirichlet"])))
                return
            parts = [(space.posterior(prior, _plain(a)), float(w)) for prior, a, w in claims["mixture"]]
            weights = [w for _, w in parts]
            if not parts or not all(0 < w <= 1 for w in weights):
                raise ValueError(f"weights {weights}")
            mixed = AveragedPosterior([one for one, _ in parts], weights, float(claims["log_evidence"]))
        except (TypeError, ValueError, KeyError) as error:
            raise DataError(f"claims do not say what the average was taken over: {error}") from error
        self._set_posterior(mixed)

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.posterior_.predict_proba(X01)


def _plain(dirichlet: Any) -> Any:
    """Dirichlet parameters from a file as they were: one per class is a tuple."""
    return tuple(dirichlet) if isinstance(dirichlet, list) else dirichlet
