"""Bayes optimal classification: the average over every tree (Nijssen 2008), as a scikit-learn classifier.

fit   columns → tests → TreeSpace(max_depth, min_leaf) → hyper-parameters → posterior_, exact or sampled
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from everytree.bayes.average import AveragedPosterior
from everytree.bayes.collapsed import CollapsedPosterior
from everytree.bayes.deepening import DepthProfile, deepen
from everytree.bayes.left_out_fit import LeftOutFit
from everytree.bayes.posterior import Posterior
from everytree.common.arguments import argument, refused, whole
from everytree.common.limits import in_bytes
from everytree.common.text import clip
from everytree.common.told import tell
from everytree.data.example_weights import ExampleWeights
from everytree.data.table import Table
from everytree.engine.engine import Engine
from everytree.errors import DataError, QueryError, Wording
from everytree.estimators.bayes_base import BayesBase, Hyper
from everytree.estimators.bayes_questions import BayesQuestions
from everytree.estimators.calibration import Calibrated
from everytree.estimators.protocol import Fact, Picture, depth_words
from everytree.estimators.registry import method
from everytree.files.model_file import FORMAT
from everytree.files.registry import saved_as
from everytree.weights.dirichlet import Dirichlet, checked_power
from everytree.weights.priors import Prior

__all__ = ["BayesOptimalClassifier"]

METHODS = ("exact", "collapsed")
FINITE = 1e300
CLOSE = 1e-9  # Two sums of the same logarithms may differ by this, relative to their size.
AnyPosterior: TypeAlias = "Posterior | AveragedPosterior | CollapsedPosterior"


@method("bayes", "the exact average over every tree", place=2)
@saved_as(FORMAT)
class BayesOptimalClassifier(BayesQuestions, Calibrated, BayesBase):
    """Class probabilities averaged over every tree of the space, each weighted by its posterior probability.

    With ``time_limit`` or ``memory_limit``, or without a depth limit, the average is taken for depth 1, 2, 3, …: if a
    limit ends this, the deepest average that was finished is used, ``stop_reason_`` says why, and scikit-learn's
    ``ConvergenceWarning`` is given. ``depth_profile_`` shows how the answer settles.

    Parameters
    ----------
    max_depth : int or None
        The most tests on a path from the root to a leaf; None for no limit.
    min_leaf : int
        The fewest training examples in a leaf, a row of weight w counted w times. scikit-learn's name for it,
        ``min_samples_leaf``, is understood too.
    prior : str or Prior
        The prior over trees: "size", "uniform", "leaf_penalty", "balanced", "shapes", "coding", or a prior object.
        "fit" chooses alpha and beta of the size prior by the evidence, "average" mixes over a grid of them by their
        evidence, "loo" chooses from a grid by the exact leave-one-out log-loss (see ``fit_leave_one_out``);
        "fit_leaf_penalty", "average_leaf_penalty" and "loo_leaf_penalty" do so for omega of the leaf penalty.
        A prior by name is attribute-fair with cuts="local": every column weighs the same, however many cuts it has.
    alpha : float
        Of ``prior="size"``, where a node with d tests above it is split with probability alpha · (1 + d)^−beta.
        ``prior="fit"`` never has less evidence than these values.
    beta : float
        Of ``prior="size"``, see ``alpha``.
    dirichlet : float, sequence, str or DepthDecay
        The parameters of the Dirichlet prior on the class probabilities of a leaf: a number, one per class, "1/C",
        "base" (the share of each class in the training data, or a ``BaseRate`` of another strength), "decay" or a
        ``DepthDecay``. "fit" or "average" (of one number), "fit_per_class", "fit_decay" and "average_decay" choose
        them by the evidence; "loo", "loo_base" (the strength of base rates) and "loo_decay" by left-out examples.
    power : float or "loo"
        The power of the leaf weights, above 0 and at most 1: a leaf weighs its marginal likelihood to the power of it.
        Below 1 more trees have a part in the average; 1 is the posterior. "fit" chooses by the evidence at power 1.
        "loo" chooses 1, 0.5, 0.25 or 0.125 by left-out examples; with ``calibrate="loo"`` each with its exponent.
    calibrate : {None, "loo", "cv"}
        "loo" chooses one exponent for all probabilities by the exact leave-one-out log-loss: ``predict_proba`` is then
        p^exponent, scaled to sum to one, and ``raw_proba`` is p. It makes a low ``power`` as bold as the data allow.
        "cv" does so by a cross-validation of five folds inside ``fit``, also where the classes chose the cuts, and with
        "collapsed".
    method : {"exact", "collapsed"}
        The exact average; or, for spaces too large for it, one where the top of the tree is sampled and all below is
        summed.
    n_draws : int
        The draws in each of the four chains of "collapsed".
    random_state : int, Generator or None
        The seed of "collapsed"; None for new random numbers each time.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        Entry (c, k) is the cost of predicting k when c is true: ``predict`` answers the class of least expected cost.
        None for the most probable one. It changes no probability, and may be set after ``fit``.
    class_weight : dict, "balanced" or None, default=None
        How much the examples of each class count, times ``sample_weight``: a dict from label to weight (1 where a label
        is left out), or "balanced" for the same total of every class. It counts as more or fewer examples, not as a
        cost of errors, which ``cost_matrix`` is.
    bins : int, str or dict
        How numeric columns become tests: k bins of equal frequency give k − 1 cuts; "all" gives a cut between any two
        neighbouring values; "mdl" and "boosted" let the classes choose; a dict gives one of these, or a list of cuts,
        by column. See ``Binarizer``.
    missing : {"error", "category", "impute"}
        What a missing value means: an error, a category of its own, or the training mean or mode of its column.
    cuts : {"global", "local"}
        Whether the cuts of numeric columns are chosen once, from all rows, or by every node from its own rows.
    n_jobs : int or None
        The number of threads; −1 for every core. The result is the same for any number.
    time_limit : float or None
        The most seconds for all of ``fit``; None for no limit. See above.
    memory_limit : int or None
        The most bytes for what ``fit`` stores; None for the library's own limit.

    Attributes
    ----------
    posterior_ : Posterior, AveragedPosterior or CollapsedPosterior
        The posterior over every tree; with "average" a mixture of several; with "collapsed" draws from it.
    log_evidence_ : float or None
        The log evidence of the posterior; None where it was sampled.
    prior_ : Prior
        The prior that the model was computed with; with "average" those of most weight.
    dirichlet_ : float, tuple or DepthDecay
        The Dirichlet parameters that the model was computed with; with "average" those of most weight.
    evidence_fit_ : EvidenceFit or None
        What "fit" or "average" tried (``evidence_fit_.curve``, ``evidence_fit_.plot()``).
    loo_fit_ : LeftOutFit or None
        What "loo" tried (``loo_fit_.curve``), and the leave-one-out log-loss of each point; None in a file.
    power_ : float
        The power that the model was computed with.
    mixture_ : list of tuple
        With "average" only, the parts: prior, Dirichlet parameters and weight of each.
    depth_ : int or None
        The trees have at most this depth; None for any depth.
    stop_reason_ : str
        Why the work ended: "complete", "time limit", "memory limit", "hopeless" (the next depth would not fit) or
        "stopped".
    depth_profile_ : DepthProfile or None
        The log evidence and the largest change of a prediction for each depth; None where only one depth was asked for.
    n_states_ : int
        The number of states of the graph; 0 where the posterior was sampled.
    exponent_ : float
        With ``calibrate`` only, the exponent: above 1 it makes probabilities bolder, below 1 more modest. At most 10.
    loo_log_loss_ : float
        With ``calibrate="loo"`` only, the leave-one-out log-loss of the raw probabilities; None if a limit ended it.
    loo_log_loss_error_ : float
        The standard error of ``loo_log_loss_`` over the examples.
    calibrated_loo_log_loss_ : float
        The same log-loss with the exponent, which was chosen to make it least.
    loo_proba_ : ndarray of shape (n_rows, n_classes)
        After ``fit`` with ``calibrate="loo"``, the raw probabilities of each row when it is left out; not in files.
    cv_log_loss_ : float
        With ``calibrate="cv"`` only, the cross-validated log-loss of the raw probabilities; None if a limit ended it.
    cv_log_loss_error_ : float
        The standard error of ``cv_log_loss_`` over the examples.
    calibrated_cv_log_loss_ : float
        The same log-loss with the exponent, which was chosen to make it least.
    cv_proba_ : ndarray of shape (n_rows, n_classes)
        After ``fit`` with ``calibrate="cv"``, the raw probabilities of each row by the model without its fold; not in
        files. NaN for the only row of a class, and for rows of weight 0.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The exact posterior probability that the tree uses each column; not there with ``method="collapsed"``.
    binarizer_ : Binarizer
        What turns columns into tests; ``binarizer_.tests_`` says what each test means.
    classes_ : ndarray of shape (n_classes,)
        The labels that occur, sorted.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, only where ``X`` has names.
    target_name_ : str or None
        The name of ``y``, if it had one.

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

    AVERAGES = True
    INTERVALS = True
    PAPER = "boc"

    posterior_: AnyPosterior
    depth_profile_: DepthProfile | None
    loo_fit_: LeftOutFit | None
    stop_reason_: str

    def __init__(
        self,
        max_depth: int | None = 4,
        min_leaf: int = 2,
        *,
        prior: Prior | str = "size",
        alpha: float = 0.8,
        beta: float = 0.8,
        dirichlet: Dirichlet = 1.0,
        power: float | str = 1.0,
        calibrate: str | None = None,
        method: str = "exact",
        n_draws: int = 2000,
        random_state: int | np.random.Generator | None = None,
        cost_matrix: npt.ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        bins: int | str | dict[Any, Any] = 4,
        missing: str = "category",
        cuts: str = "global",
        n_jobs: int | None = 1,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(
            max_depth, min_leaf, prior=prior, alpha=alpha, beta=beta, dirichlet=dirichlet, bins=bins, missing=missing,
            cuts=cuts, class_weight=class_weight, n_jobs=n_jobs, time_limit=time_limit, memory_limit=memory_limit,
        )  # fmt: skip
        self.power = power
        self.calibrate = calibrate
        self.cost_matrix = cost_matrix
        self.method = method
        self.n_draws = n_draws
        self.random_state = random_state

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: ExampleWeights | None,
    ) -> None:
        if self.method not in METHODS:
            raise refused(QueryError, "method", self.method, f"one of {', '.join(map(repr, METHODS))}")
        self._check_calibrate()
        hyper = self._hyper(table)
        power = self._first_power()
        if power != 1 and hyper.verb == "average":
            raise refused(
                QueryError, "power", self.power,
                says=' with "average": the evidence weighs whole posteriors; use "fit", or a power of 1',
            )  # fmt: skip
        space: Engine = self._space(table)
        self.evidence_fit_ = self.depth_profile_ = self.loo_fit_ = None
        if self.method == "collapsed":
            self._sample(space, hyper)
            return
        begun = time.monotonic()
        if self.max_depth is None or self.time_limit is not None or self.memory_limit is not None:
            self.depth_profile_, space = self._deepen(space, hyper)
        if hyper.verb:
            if space.limits.time_limit is not None:
                left = max(0.01, space.limits.time_limit - (time.monotonic() - begun))
                space.limits = replace(space.limits, time_limit=left)
            posterior: AnyPosterior
            if hyper.verb == "loo":
                self.loo_fit_ = hyper.choose_left_out(space, self.power, self.calibrate == "loo")
                posterior = self.loo_fit_.posterior
            else:
                self.evidence_fit_ = fit = hyper.choose(space)
                posterior = fit.average() if hyper.verb == "average" else fit.posterior
                if power != 1:
                    posterior = Posterior(space, fit.prior, fit.dirichlet, power)
            space.limits = replace(space.limits, time_limit=self.time_limit)
        elif self.depth_profile_ is not None:
            posterior = self.depth_profile_.posterior
        else:
            posterior = Posterior(space, hyper.prior, hyper.dirichlet, power)
        self._set_posterior(posterior)
        self._choose_exponent()
        self._tell()

    def _power_is_chosen(self) -> bool:
        return isinstance(self.power, str) and self.power == "loo"

    def _first_power(self) -> float:
        """Return the power, or 1 where it is still to be chosen."""
        return 1.0 if self._power_is_chosen() else checked_power(self.power)  # type: ignore[arg-type]

    @property
    def power_(self) -> float:
        """The power of the leaf weights that the model was computed with."""
        check_is_fitted(self)
        one = self.posterior_.best if isinstance(self.posterior_, AveragedPosterior) else self.posterior_
        return float(one.power)

    def kept_in_file(self) -> tuple[Table, dict[str, Any]]:
        return self.posterior_.space.table, {"power": self.power_} if self._power_is_chosen() else {}

    def _deepen(self, space: Engine, hyper: Hyper) -> tuple[DepthProfile, Engine]:
        """Return the profile of depths and the space of the deepest; half the time is left for choosing a prior."""
        limits = space.limits
        if hyper.verb and limits.time_limit is not None:
            space.limits = replace(limits, time_limit=limits.time_limit / 2)
        profile = deepen(space, hyper.prior, hyper.dirichlet, power=self._first_power())
        deepest = profile.posterior.space
        deepest.limits = limits
        return profile, deepest

    def _sample(self, space: Engine, hyper: Hyper) -> None:
        if hyper.verb:
            raise refused(
                QueryError,
                "prior",
                self.prior,
                says=Wording(
                    ", ",
                    argument("dirichlet", self.dirichlet),
                    ' with method="collapsed": a sample does not tell the evidence, and nothing is left out of it; '
                    "give them and the power as numbers, or use ",
                    argument("method", "exact", '"exact"'),
                ),
            )
        sampled = CollapsedPosterior(
            space, hyper.prior, hyper.dirichlet, n_draws=self.n_draws, random_state=self.random_state,
            power=self._first_power(),
        )  # fmt: skip
        self._set_posterior(sampled)
        self._forget_calibration()
        self.stop_reason_ = "complete" if sampled.stop_reason is None else sampled.stop_reason

    def _set_posterior(self, posterior: AnyPosterior) -> None:
        if isinstance(posterior, AveragedPosterior):
            parts = zip(posterior.posteriors, posterior.weights.tolist(), strict=True)
            self.mixture_ = [(each.prior, each.dirichlet, weight) for each, weight in parts]
        elif hasattr(self, "mixture_"):
            del self.mixture_
        one = posterior.best if isinstance(posterior, AveragedPosterior) else posterior
        self.posterior_ = posterior
        self.log_evidence_ = getattr(posterior, "log_evidence", None)  # A sample has no evidence.
        self.prior_, self.dirichlet_ = one.prior, one.dirichlet
        self.depth_ = one.space.max_depth
        self.n_states_ = sum(int(graph.n_states) for graph in one.space.graphs.values())
        self.stop_reason_ = "complete"

    def _tell(self) -> None:
        """Warn if a limit ended the work before all depths were done."""
        profile = self.depth_profile_
        if profile is None or profile.complete:
            return
        reasons = {"time": "time limit", "memory": "memory limit"}
        self.stop_reason_ = reasons.get(profile.stop_reason, profile.stop_reason)
        why = {
            "time limit": f"the time limit of {self.time_limit} s was reached",
            "memory limit": f"the memory limit of {in_bytes(self.posterior_.space.limits.most_bytes)} was reached",
            "hopeless": "the next depth would not fit the limits",
        }.get(self.stop_reason_, "it was asked to stop")
        change = profile.steps[-1].largest_change
        settled = ""
        if change is not None:
            settled = f"; from depth {profile.depth - 1} to it no prediction moved by more than {change:.3g}"
        asked = "any depth" if self.max_depth is None else f"depth {self.max_depth}"
        tell(
            Wording(
                f"{why} before {asked}: the probabilities are the exact average over all trees of depth at most "
                f"{profile.depth}{settled}. Raise the limit for more, or set ",
                argument("max_depth", profile.depth),
                " to ask for this",
            ),
            ConvergenceWarning,
        )

    def restore_from_file(self, table: Table, claims: dict[str, Any]) -> None:
        """Fold again under the prior that the file names; it is not chosen again, and no limit is met again.

        Parameters
        ----------
        table : Table
            The training examples.
        claims : dict
            The claims of the file, by name: prior and dirichlet are those that were used.
        """
        if "prior" not in claims or "dirichlet" not in claims:
            super().restore_from_file(table, claims)
            return
        self.evidence_fit_ = self.depth_profile_ = self.loo_fit_ = None
        self._check_word()
        self._check_in_force(table, claims)
        space: Engine = self._space(table)
        depth = claims.get("depth", self.max_depth)
        if depth is not None and depth != space.max_depth:
            space = space.at_depth(depth, space.limits)
        try:
            if "mixture" not in claims:
                power = checked_power(claims["power"] if self._power_is_chosen() else self.power)  # type: ignore[arg-type]
                self._set_posterior(Posterior(space, claims["prior"], _plain(claims["dirichlet"]), power))
            else:
                self._set_posterior(_mixture(space, claims))
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DataError(f"claims do not say what the average was taken over: {error}") from error
        self._check_evidence(claims)
        self._read_exponent(claims)
        self.stop_reason_ = str(claims.get("stop_reason", "complete"))

    def _check_in_force(self, table: Table, claims: dict[str, Any]) -> None:
        """Check that hyper-parameters which were given, and not chosen by the evidence, are those of the claims."""
        hyper = self._hyper(table)
        if hyper.verb != "average" and "mixture" in claims:
            raise DataError("claims.mixture is given, but params ask for no average over hyper-parameters")
        if hyper.verb == "average" and "mixture" not in claims:
            raise DataError("claims.mixture is missing; params ask for an average over hyper-parameters")
        chosen = [isinstance(word, str) for word in hyper.words] if hyper.verb else [False, False]
        given = {"prior": hyper.prior, "dirichlet": hyper.dirichlet}
        for (name, wanted), free in zip(given.items(), chosen, strict=True):
            if not free and _plain(claims[name]) != wanted:
                raise DataError(f"claims.{name} is {clip(claims[name])}; params ask for {clip(wanted)}")

    def _check_evidence(self, claims: dict[str, Any]) -> None:
        """Check that the evidence of the average is the one that is claimed, and weighs the parts of a mixture."""
        posterior, claimed = self.posterior_, claims.get("log_evidence")
        if isinstance(posterior, AveragedPosterior):
            wanted = posterior.weights_by_evidence()
            off = np.flatnonzero(np.abs(wanted - posterior.weights) > CLOSE)
            if off.size:
                k = int(off[0])
                raise DataError(
                    f"claims.mixture[{k}] has the weight {posterior.weights[k]}; its evidence gives {wanted[k]}"
                )
        elif claimed is not None and not (
            isinstance(claimed, int | float)
            and abs(claimed) < FINITE
            and math.isclose(claimed, self.log_evidence_ or 0.0, rel_tol=CLOSE, abs_tol=CLOSE)
        ):
            raise DataError(
                f"claims.log_evidence is {clip(claimed)}; the table, the prior and the Dirichlet parameters of it "
                f"have {self.log_evidence_}. The file was changed by hand or damaged"
            )

    # --- what it reports of itself

    def facts(self) -> list[Fact]:
        labels = {"depth": "depth of the trees averaged"}
        return [fact._replace(long=labels.get(fact.name, fact.long)) for fact in super().facts()]

    def headline(self, on: str) -> str:
        limit = depth_words(self.max_depth)
        more = self._exponent_words()
        return f"The average over every tree of {limit}, weighted by its posterior probability{on}.{more}"

    def added(self) -> str | None:
        # The parts of a mixture add different numbers.
        return None if "mixture_" in vars(self) else super().added()

    def display(self) -> Picture:
        return "average"

    def as_text(self) -> str:
        if not isinstance(self.posterior_, Posterior):
            return self.headline("")
        best = self.top_trees(1)
        return f"the most probable of all trees has probability {best.share:.3g}:\n{best[0].to_text()}"

    def _importances(self) -> npt.NDArray[np.float64] | None:
        if isinstance(self.posterior_, CollapsedPosterior):
            return None  # A sample of the tops of trees does not say what is below them.
        return np.array(list(self.attribute_inclusion().values()), dtype=np.float64)

    def mean_leaves(self) -> float:
        found = self.posterior_
        return math.nan if isinstance(found, CollapsedPosterior) else float(found.expected_leaves)

    def tree_space(self) -> Any:
        return self.posterior_.space

    def explain_row(self, x: Any, top: int = 10) -> Any:
        check_is_fitted(self)
        return self.explain(x, whole("top", top, 1))

    def _predict_proba_tests(self, X01: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return self._calibrated(self.posterior_.predict_proba(X01))


def _mixture(space: Engine, claims: dict[str, Any]) -> AveragedPosterior:
    for k, part in enumerate(claims["mixture"]):
        # Nothing is folded before the first question, so what is no prior would be met there, not here.
        if not isinstance(part, list) or len(part) != 3 or not isinstance(part[0], Prior):
            raise DataError(
                f"claims.mixture[{k}] is {clip(part)}; expected a prior, Dirichlet parameters and a weight"
            )
    parts = [(Posterior(space, prior, _plain(a)), float(w)) for prior, a, w in claims["mixture"]]
    weights = [w for _, w in parts]
    if not parts or not all(0 < w <= 1 for w in weights):
        raise ValueError(f"weights {weights}")
    return AveragedPosterior([one for one, _ in parts], weights, float(claims["log_evidence"]))


def _plain(dirichlet: Any) -> Any:
    """Return Dirichlet parameters from a file as they were: one per class is a tuple."""
    return tuple(dirichlet) if isinstance(dirichlet, list) else dirichlet
