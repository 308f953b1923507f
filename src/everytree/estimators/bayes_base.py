"""What the average over every tree and the single most probable tree share: the space, the prior and its numbers.

prior       a name, a prior object, or "fit" / "average" (by evidence, see ``everytree.fit_evidence``)
dirichlet   a number, one per class, "1/C", "base", a BaseRate, "decay", a DepthDecay, or "fit" / "average"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from everytree.bayes.evidence import EvidenceFit, fit_evidence
from everytree.bayes.hyper import asked
from everytree.common.arguments import argument, refused
from everytree.data.binarizer import attribute_names
from everytree.data.table import Table
from everytree.engine.engine import Engine
from everytree.errors import QueryError, Wording
from everytree.estimators.incremental import IncrementalBase
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import DepthDecay, Dirichlet, dirichlet_rows
from everytree.weights.priors import LeafPenaltyPrior, Prior, SizePrior, as_prior

__all__ = ["BayesBase", "Hyper"]


@dataclass(frozen=True)
class Hyper:
    """The hyper-parameters as they were asked for.

    Parameters
    ----------
    prior : Prior
        The prior, or where its choice by the evidence starts.
    dirichlet : object
        The Dirichlet parameters, or where their choice starts.
    verb : {"", "fit", "average"}
        What is to be done with the evidence.
    words : tuple
        For ``fit_evidence``, of prior and Dirichlet parameters: the word "fit_…", or the value that is given.
    """

    prior: Prior
    dirichlet: Any
    verb: str = ""
    words: tuple[Any, Any] = ("", "")

    def choose(self, space: Engine) -> EvidenceFit:
        average = self.verb == "average"
        start = self.prior if isinstance(self.words[0], str) else None
        return fit_evidence(space, *self.words, start=start, refine=not average, keep=average)


class BayesBase(IncrementalBase):
    """The parameters and the space that the average, the most probable tree and the chains share."""

    prior_: Prior
    dirichlet_: Any
    evidence_fit_: EvidenceFit | None
    log_evidence_: float | None

    def __init__(
        self,
        max_depth: int | None = 4,
        min_leaf: int = 2,
        *,
        prior: Prior | str = "size",
        alpha: float = 0.8,
        beta: float = 0.8,
        dirichlet: Dirichlet = 1.0,
        bins: int | str | dict[Any, Any] = 4,
        missing: str = "category",
        cuts: str = "global",
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = 1,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.prior = prior
        self.alpha = alpha
        self.beta = beta
        self.dirichlet = dirichlet
        self.bins = bins
        self.missing = missing
        self.cuts = cuts
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def finish_loading(self) -> None:
        """Set what a model file does not hold, after its parameters, tree and claims were read."""
        self.evidence_fit_ = None  # A file holds the result of the choice alone.

    def _space(self, table: Table) -> TreeSpace:
        return TreeSpace.from_table(
            table,
            self.max_depth,
            self.min_leaf,
            self.n_jobs,
            attributes=attribute_names(self.binarizer_),
            time_limit=self._time_left(),
            memory_limit=self.memory_limit,
        )

    def _hyper(self, table: Table) -> Hyper:
        """Return the hyper-parameters, checked before anything is computed."""
        prior_word, dirichlet_word = asked("prior", self.prior), asked("dirichlet", self.dirichlet)
        verbs = {word[0] for word in (prior_word, dirichlet_word) if word is not None}
        if len(verbs) > 1:
            raise refused(
                QueryError,
                "prior",
                self.prior,
                says=Wording(
                    " and ",
                    argument("dirichlet", self.dirichlet),
                    "; fit both, average over both, or give one of them",
                ),
            )
        fair = (
            self.cuts == "local"
        )  # A column with many cuts must not weigh more; a prior object is as it is.
        if prior_word is not None and prior_word[1] == "leaf_penalty":
            prior: Prior = LeafPenaltyPrior(attribute_fair=fair)
        elif prior_word is not None or (isinstance(self.prior, str) and self.prior == "size"):
            prior = SizePrior(self.alpha, self.beta, attribute_fair=fair)
        else:
            try:
                prior = as_prior(self.prior, fair)
            except QueryError as error:
                more = ', or "fit" or "average"'
                raise QueryError(Wording(error.wording, more), **error.fields) from None
        dirichlet: Any = self.dirichlet
        if dirichlet_word is not None:
            dirichlet = DepthDecay() if dirichlet_word[1] == "decay" else 1.0
        elif isinstance(dirichlet, str) and dirichlet == "decay":
            dirichlet = DepthDecay()
        try:
            rows = dirichlet_rows(
                dirichlet, table.n_classes, 0, table.class_counts.sum(axis=0)
            )  # Bad parameters are refused here.
        except QueryError as error:
            more = ', or "decay", "fit" or "average"' if isinstance(dirichlet, str) else ""
            raise QueryError(Wording(error.wording, more), **error.fields) from None
        if not isinstance(dirichlet, DepthDecay):
            dirichlet = rows[0][0] if len(set(rows[0])) == 1 else tuple(rows[0])
        words = (
            prior if prior_word is None else f"fit_{prior_word[1]}",
            dirichlet if dirichlet_word is None else f"fit_{dirichlet_word[1]}",
        )
        return Hyper(prior, dirichlet, verbs.pop() if verbs else "", words)
