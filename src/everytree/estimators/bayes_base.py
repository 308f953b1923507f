"""What the average over every tree and the single most probable tree share: the space, the prior and its numbers.

prior       a name, a prior object, "fit" / "average" (by evidence, see ``everytree.fit_evidence``), or "loo"
dirichlet   a number, one per class, "1/C", "base", a BaseRate, "decay", a DepthDecay, "fit" / "average", or "loo"

"loo" chooses by left-out examples, see ``everytree.fit_leave_one_out``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from everytree.bayes.evidence import EvidenceFit, fit_evidence
from everytree.bayes.hyper import asked
from everytree.bayes.left_out_fit import LeftOutFit, fit_leave_one_out
from everytree.common.arguments import argument, refused
from everytree.data.binarizer import attribute_names
from everytree.data.table import Table
from everytree.engine.engine import Engine
from everytree.errors import QueryError, Wording
from everytree.estimators.incremental import IncrementalBase
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import BaseRate, DepthDecay, Dirichlet, dirichlet_rows
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
    verb : {"", "fit", "average", "loo"}
        What is to be done with the evidence, or with left-out examples.
    words : tuple
        For ``fit_evidence`` or ``fit_leave_one_out``, of prior and Dirichlet parameters: the word "fit_…" or "loo_…",
        or the value that is given.
    """

    prior: Prior
    dirichlet: Any
    verb: str = ""
    words: tuple[Any, Any] = ("", "")

    def choose(self, space: Engine) -> EvidenceFit:
        average = self.verb == "average"
        start = self.prior if isinstance(self.words[0], str) else None
        return fit_evidence(space, *self.words, start=start, refine=not average, keep=average)

    def choose_left_out(self, space: Engine, power: Any, exponent: bool) -> LeftOutFit:
        start = self.prior if isinstance(self.words[0], str) else None
        return fit_leave_one_out(space, *self.words, power, start=start, exponent=exponent)


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
        space = TreeSpace.from_table(
            table,
            self.max_depth,
            self.min_leaf,
            self.n_jobs,
            attributes=attribute_names(self.binarizer_),
            time_limit=self._time_left(),
            memory_limit=self.memory_limit,
        )
        space.beside = self._beside
        return space

    def _hyper(self, table: Table) -> Hyper:
        """Return the hyper-parameters, checked before anything is computed."""
        prior_word, dirichlet_word = asked("prior", self.prior), asked("dirichlet", self.dirichlet)
        verbs = {word[0] for word in (prior_word, dirichlet_word) if word is not None}
        if _is_loo(getattr(self, "power", 1.0)):
            verbs.add("loo")
        if len(verbs) > 1:
            chosen = _is_loo(getattr(self, "power", 1.0))
            beside = Wording(", ", argument("power", "loo")) if chosen else Wording("")
            raise refused(
                QueryError,
                "prior",
                self.prior,
                says=Wording(
                    " and ",
                    argument("dirichlet", self.dirichlet),
                    beside,
                    '; choose all by evidence ("fit"), all by left-out examples ("loo"), average over both, or give '
                    "one of them",
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
                more = ', or "fit", "average" or "loo"'
                raise QueryError(Wording(error.wording, more), **error.fields) from None
        dirichlet: Any = self.dirichlet
        if dirichlet_word is not None:
            starts: dict[str, Any] = {"decay": DepthDecay(), "base": BaseRate()}
            dirichlet = starts.get(dirichlet_word[1], 1.0)
        elif isinstance(dirichlet, str) and dirichlet == "decay":
            dirichlet = DepthDecay()
        try:
            rows = dirichlet_rows(
                dirichlet, table.n_classes, 0, table.class_counts.sum(axis=0)
            )  # Bad parameters are refused here.
        except QueryError as error:
            more = ', or "decay", "fit", "average" or "loo"' if isinstance(dirichlet, str) else ""
            raise QueryError(Wording(error.wording, more), **error.fields) from None
        if not isinstance(dirichlet, DepthDecay):
            dirichlet = rows[0][0] if len(set(rows[0])) == 1 else tuple(rows[0])
        verb = verbs.pop() if verbs else ""
        how = "loo" if verb == "loo" else "fit"
        words = (
            prior if prior_word is None else f"{how}_{prior_word[1]}",
            dirichlet if dirichlet_word is None else f"{how}_{dirichlet_word[1]}",
        )
        return Hyper(prior, dirichlet, verb, words)


def _is_loo(power: Any) -> bool:
    return isinstance(power, str) and power == "loo"
