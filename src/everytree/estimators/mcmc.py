"""Trees drawn by Markov chains (Chipman et al. 1998, Krasznahorkay 2004), as a scikit-learn classifier.

fit   columns → tests → TreeSpace → chains aimed at a target → draws_ → predictions averaged over them
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from everytree.common.arguments import argument, generator, refused, whole
from everytree.common.limits import Limits
from everytree.common.told import tell
from everytree.data.example_weights import ExampleWeights
from everytree.data.table import Table
from everytree.engine.engine import Engine
from everytree.errors import Argument, DataError, QueryError, Wording
from everytree.estimators.bayes_base import BayesBase
from everytree.estimators.cross_calibration import CrossCalibrated
from everytree.estimators.importances import inclusion_in_draws
from everytree.estimators.registry import method
from everytree.estimators.row_paths import ReachedLeaf
from everytree.files.model_file import FORMAT
from everytree.files.registry import saved_as
from everytree.mcmc.draws import DrawnTrees, TreeDraws
from everytree.mcmc.draws_dict import SavedDraws, draws_from_dict, draws_to_dict
from everytree.mcmc.run import Run, run_chains
from everytree.mcmc.sampler import TRIED, Annealing, TreeSampler, column_density, proposal_density
from everytree.mcmc.start import start_keys
from everytree.mcmc.summary import UNSURE, ChainSummary, summarize, to_inference_data
from everytree.mcmc.target import PosteriorTarget, RiskTarget
from everytree.space.tree_space import TreeSpace
from everytree.trees.answers import with_dirichlet
from everytree.trees.tree import Tree
from everytree.weights.dirichlet import Dirichlet, checked_power, dirichlet_rows
from everytree.weights.priors import Prior

__all__ = ["MCMCTreeClassifier"]

TARGETS = ("posterior", "risk")


@method("mcmc", "trees sampled by Metropolis–Hastings", place=7)
@saved_as(FORMAT)
class MCMCTreeClassifier(CrossCalibrated, BayesBase):
    """Class probabilities averaged over trees that Markov chains have drawn, for spaces beyond enumeration.

    Where the space can be folded, ``BayesOptimalClassifier`` gives the exact average, and this one converges to it. If
    the chains disagree (R-hat above 1.05), scikit-learn's ``ConvergenceWarning`` says so and what to do.

    Parameters
    ----------
    max_depth : int or None
        The most tests on a path from the root to a leaf; None for no limit.
    min_leaf : int
        The fewest training examples in a leaf, a row of weight w counted w times. scikit-learn's name for it,
        ``min_samples_leaf``, is understood too.
    kernel : {"chipman", "stack"}
        The moves of a chain: grow, prune, change, swap and regrow; or "stack", which splits any leaf or undoes the last
        split, and so keeps the order in which the splits were added, see ``orders``.
    orders : {"counted", "once"}
        What the kernel "stack" draws: "counted" draws a tree once for each order in which its splits can be added, as
        in the paper, so that its draws are not those of the target; "once" divides the target by the number of orders,
        and draws trees as the target says. It plays no part with "chipman".
    target : {"posterior", "risk"}
        What the draws are of: the posterior of ``prior`` and ``dirichlet``; or ∝ exp(−scale · R − leaf_penalty ·
        leaves).
    prior : str or Prior
        The prior over trees: "size", "uniform", "leaf_penalty", "balanced", "shapes", "coding", or a prior object. It
        plays no part with "risk".
        A prior by name is attribute-fair with cuts="local": every column weighs the same, however many cuts it has.
    alpha : float
        Of ``prior="size"``, where a node with d tests above it is split with probability alpha · (1 + d)^−beta.
    beta : float
        Of ``prior="size"``, see ``alpha``.
    dirichlet : float, sequence, str or DepthDecay
        The parameters of the Dirichlet prior on the class probabilities of a leaf: a number, one per class, "1/C",
        "base" or a ``BaseRate``, "decay" or a ``DepthDecay``. With "risk" it decides only the probabilities that
        leaves give.
    power : float
        The power of the leaf weights of the target "posterior", above 0 and at most 1; see
        ``BayesOptimalClassifier``.
    risk : {"misclassification", "gini", "entropy"}
        The risk R of a tree: the mean of this over the examples.
    leaf_penalty : float
        The price of a leaf in the target "risk". With ``scale=None`` it is in the unit of the risk summed over the
        examples: for misclassification a number of examples, as in ``OptimalTreeClassifier``.
    scale : float or None
        The factor of the risk; None for the number of examples, so that with misclassification the target is that of
        errors + leaf_penalty · leaves.
    n_chains : int
        The number of chains.
    n_draws : int
        The draws that are kept in each chain.
    burn_in : int
        The first draws of each chain, which are not kept.
    thin : int
        The proposals for each draw.
    start : str, Tree or sequence of Tree
        Where chains begin: "leaf" (the single leaf), "map" (the most probable tree), "optimal" (that of least error
        or penalised risk), a ``Tree`` over the same tests, or one for each chain.
    anneal : bool, sequence of float or None
        Powers of the target from first to last, such as (0.5, 5), reached evenly during the burn-in; True is
        that one. The draws are then of the target to the last power: for search. None samples the target itself.
    moves : dict or None
        How often each kind of move is proposed, as {"grow": 1, "prune": 1, "change": 2}; None for the default.
    informed : float
        The share of the proposals of tests that look at the classes first; the rest does not.
    density : dict, "columns" or None
        How often a test is proposed beside the others that are feasible: {"age": 3} for all cuts of a column,
        {"age <= 54.5": 10} for one test, 1 for the rest; it changes the speed and not the target. None for all alike.
        "columns" is the proposal of Krasznahorkay (2004): a column, each alike, then a cut by the density of the column
        in training; where that test is not feasible, nothing is proposed.
    tempering : int or sequence of float
        The trees of each chain, the first of which is drawn: in the others the data weigh less and less, so that they
        move more freely, and neighbours exchange (parallel tempering); or what the data weigh, as [1, 0.5, 0.25].
    random_state : int, Generator or None
        The seed of the draws; None for new random numbers each time. A seed gives the same draws for any ``n_jobs``,
        and on any backend of joblib.
    calibrate : {None, "cv"}
        "cv" chooses one exponent for all probabilities by a cross-validation of five folds inside ``fit``:
        ``predict_proba`` is then p^exponent, scaled to sum to one, and ``raw_proba`` is p.
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
    progress : bool or callable
        True for a bar with the effective number of draws so far; or a function (stage, done, total, seconds).
    n_jobs : int or None
        The number of threads; −1 for every core. Under ``joblib.parallel_config`` with a backend of processes or
        machines, each chain runs on a worker instead.
    time_limit : float or None
        The most seconds for all of ``fit``; None for no limit. The draws so far are kept, with a warning.
    memory_limit : int or None
        The most bytes for what ``fit`` stores; None for the library's own limit. The draws so far are kept, with a
        warning.

    Attributes
    ----------
    draws_ : TreeDraws
        All kept draws, a compact sequence of ``Tree``.
    tree_ : Tree
        The best tree that any chain has visited, whether kept or not.
    log_joint_ : float
        The log prior plus log marginal likelihood of ``tree_``, with "posterior" only.
    risk_ : float
        The risk of ``tree_``, with "risk" only.
    energy_ : float
        The value scale · R + leaf_penalty · leaves of ``tree_``, with "risk" only.
    risk_trace_ : ndarray of shape (n_chains, n_draws)
        The risk of every draw, those of the burn-in first, with "risk" only.
    energy_trace_ : ndarray of shape (n_chains, n_draws)
        The energy of every draw, those of the burn-in first, with "risk" only.
    acceptance_ : dict
        The share of the proposals that were accepted, by kind of move.
    prior_ : Prior
        The prior that the model was computed with.
    dirichlet_ : float, tuple or DepthDecay
        The Dirichlet parameters that the model was computed with.
    stop_reason_ : str
        Why the sampling ended: "complete", or the limit that ended it.
    exponent_ : float
        With ``calibrate="cv"`` only, the exponent: above 1 it makes probabilities bolder, below 1 more modest.
    cv_log_loss_ : float
        The cross-validated log-loss of the raw probabilities, with ``cv_log_loss_error_``; None if a limit ended it.
    calibrated_cv_log_loss_ : float
        The same log-loss with the exponent, which was chosen to make it least.
    cv_proba_ : ndarray of shape (n_rows, n_classes)
        After ``fit``, the raw probabilities of each row by the model without its fold; not in files.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of the draws that use each column: an estimate of the posterior probability.
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
    >>> model = MCMCTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    >>> model.predict_proba(X[:1]).round(1).tolist()
    [[1.0, 0.0, 0.0]]
    >>> model.summary().rhat < 1.05
    True
    """

    AVERAGES = True
    PAPER = "chipman"
    SHARES_TIME = True

    tree_: Tree
    draws_: TreeDraws
    stop_reason_: str
    risk_trace_: npt.NDArray[np.float64]
    energy_trace_: npt.NDArray[np.float64]
    _sampler: TreeSampler | None = None

    def __init__(
        self,
        max_depth: int | None = None,
        min_leaf: int = 2,
        *,
        kernel: str = "chipman",
        orders: str = "counted",
        target: str = "posterior",
        prior: Prior | str = "size",
        alpha: float = 0.8,
        beta: float = 0.8,
        dirichlet: Dirichlet = 1.0,
        power: float = 1.0,
        risk: str = "misclassification",
        leaf_penalty: float = 2.0,
        scale: float | None = None,
        n_chains: int = 4,
        n_draws: int = 1000,
        burn_in: int = 500,
        thin: int = 50,
        start: str | Tree | Sequence[Tree] = "leaf",
        anneal: bool | Sequence[float] | None = None,
        moves: Mapping[str, float] | None = None,
        informed: float = 0.9,
        density: Mapping[str, float] | str | None = None,
        tempering: int | Sequence[float] = 3,
        random_state: int | np.random.Generator | None = None,
        calibrate: str | None = None,
        cost_matrix: npt.ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        bins: int | str | dict[Any, Any] = 4,
        missing: str = "category",
        cuts: str = "global",
        progress: bool | Callable[[str, int, int, float], None] = False,
        n_jobs: int | None = 1,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        super().__init__(
            max_depth, min_leaf, prior=prior, alpha=alpha, beta=beta, dirichlet=dirichlet, bins=bins, missing=missing,
            cuts=cuts, n_jobs=n_jobs, time_limit=time_limit, memory_limit=memory_limit,
        )  # fmt: skip
        self.power = power
        self.calibrate = calibrate
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.kernel = kernel
        self.orders = orders
        self.target = target
        self.risk = risk
        self.leaf_penalty = leaf_penalty
        self.scale = scale
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.burn_in = burn_in
        self.thin = thin
        self.start = start
        self.anneal = anneal
        self.moves = moves
        self.informed = informed
        self.density = density
        self.tempering = tempering
        self.random_state = random_state
        self.progress = progress

    # --- fitting

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: ExampleWeights | None,
    ) -> None:
        self._check_calibrate()
        n_chains, n_draws = whole("n_chains", self.n_chains, 1), whole("n_draws", self.n_draws, 1)
        burn_in, thin = whole("burn_in", self.burn_in, 0), whole("thin", self.thin, 1)
        anneal = Annealing.of(self.anneal)
        target = self._checked_target(table)
        space = self._space(table)
        seed = int(generator(self.random_state).integers(2**63))
        sampler = self._made(space, target, n_chains, seed)
        begun = time.monotonic()
        for chain, key in enumerate(start_keys(self.start, space, target, n_chains)):
            sampler.start(chain, key)
        limits = space.limits
        if limits.time_limit is not None:  # The chains have what the search for a start has left.
            left = max(0.001, limits.time_limit - (time.monotonic() - begun))
            space.limits = replace(limits, time_limit=left)
        trees = DrawnTrees()
        try:
            run = run_chains(
                sampler,
                trees,
                n_draws,
                burn_in,
                thin,
                anneal=anneal,
                trace=self.target == "risk",
                bar=self.progress is True,
            )
        finally:
            space.limits = limits
        draws = TreeDraws(space, target, self.dirichlet_, trees, run.which)
        self._set(SavedDraws(draws, np.stack([run.proposed, run.accepted]), run.best, seed))
        self._sampler = sampler
        if run.burn_in is not None and isinstance(target, RiskTarget):
            log_prior, log_data = run.burn_in
            self.risk_trace_ = np.hstack([target.risk(log_data), self.risk_trace_])
            self.energy_trace_ = np.hstack([-log_prior - log_data, self.energy_trace_])
        self._tell(run, n_draws)

    def continue_sampling(self, n_draws: int | None = None) -> Self:
        """Add draws to each chain; there is no burn-in again.

        Chains go on where they are, and the draws are those of one longer run; ``thin`` and the limits are those that
        the parameters say now. A model that was pickled, copied or loaded goes on from its last draws with fresh random
        numbers.

        Parameters
        ----------
        n_draws : int, optional
            How many draws to add to each chain; None for as many as ``fit`` was asked for.

        Returns
        -------
        Self
            This classifier, fitted.
        """
        check_is_fitted(self)
        wanted = whole("n_draws", self.n_draws if n_draws is None else n_draws, 1)
        thin, anneal = whole("thin", self.thin, 1), Annealing.of(self.anneal)
        draws, saved = self.draws_, self._saved
        draws.space.limits = self._limits()
        sampler = self._sampler
        if sampler is None:
            seed = int(np.random.default_rng([saved.seed, draws.n_draws]).integers(2**63))
            sampler = self._made(draws.space, draws.target, draws.n_chains, seed)
            for chain in range(draws.n_chains):
                sampler.start(chain, draws.key(int(draws.which[chain, -1])))
            saved = replace(saved, seed=seed)
        trees = draws.trees()
        run = run_chains(sampler, trees, wanted, 0, thin, anneal=anneal, bar=self.progress is True)
        more = TreeDraws(
            draws.space, draws.target, draws.dirichlet, trees, np.hstack([draws.which, run.which])
        )
        before = getattr(self, "risk_trace_", None), getattr(self, "energy_trace_", None)
        best = run.best if run.best_log_target > sum(sampler.log_target(saved.best)) else saved.best
        self._set(SavedDraws(more, saved.tried + np.stack([run.proposed, run.accepted]), best, saved.seed))
        self._sampler = sampler
        if before[0] is not None and before[1] is not None:  # The traces begin with the burn-in.
            new = run.which.shape[1]
            self.risk_trace_ = np.hstack([before[0], self.risk_trace_[:, -new:]])
            self.energy_trace_ = np.hstack([before[1], self.energy_trace_[:, -new:]])
        self._tell(run, wanted)
        return self

    def _checked_target(self, table: Table) -> PosteriorTarget | RiskTarget:
        if not isinstance(self.target, str) or self.target not in TARGETS:
            raise refused(QueryError, "target", self.target, f"one of {', '.join(map(repr, TARGETS))}")
        if not isinstance(self.progress, bool) and not callable(self.progress):
            raise refused(
                QueryError,
                "progress",
                self.progress,
                "True, False or a function (stage, done, total, seconds)",
            )
        power = checked_power(self.power)
        if power != 1 and self.target == "risk":
            says = ' with target="risk", whose leaves have no likelihood; expected 1'
            raise refused(QueryError, "power", self.power, says=says)
        hyper = self._hyper(table)
        if hyper.verb:
            raise refused(
                QueryError,
                "prior",
                self.prior,
                says=Wording(
                    ", ",
                    argument("dirichlet", self.dirichlet),
                    ": draws do not tell the evidence; give names and numbers, such as those that a "
                    "BayesOptimalClassifier has chosen under a small ",
                    Argument("max_depth"),
                ),
            )
        self.prior_, self.dirichlet_ = hyper.prior, hyper.dirichlet
        self.evidence_fit_ = self.log_evidence_ = None
        if self.target == "posterior":
            return PosteriorTarget(hyper.prior, hyper.dirichlet, power)
        return RiskTarget.of(self.risk, self.leaf_penalty, self.scale, table.examples)

    def _space(self, table: Table) -> TreeSpace:
        space = super()._space(table)
        space.limits = self._limits()
        return space

    def _limits(self) -> Limits:
        return Limits(
            self._time_left(), self.memory_limit, self.progress if callable(self.progress) else None
        )

    def _made(
        self, space: Engine, target: PosteriorTarget | RiskTarget, n_chains: int, seed: int
    ) -> TreeSampler:
        return TreeSampler(
            space,
            target,
            self.kernel,
            n_chains,
            seed,
            moves=self.moves,
            informed=self.informed,
            tempering=self.tempering,
            orders=self.orders,
            density=self._density(space.table),
            density_outright=isinstance(self.density, str),
        )

    def _density(self, table: Table) -> list[float]:
        tests = self.binarizer_.tests_
        if isinstance(self.density, str) and self.density == "columns":
            holds = table.class_counts.sum(axis=1) @ table.rows.astype(np.int64)
            return column_density([(t.attribute, t.op) for t in tests], holds.tolist(), table.total)
        return proposal_density(self.density, [(test.name, test.attribute) for test in tests])

    def _set(self, saved: SavedDraws) -> None:
        """Set the fitted attributes, all from what a file holds."""
        self._saved, self._sampler = saved, None
        self.draws_ = draws = saved.draws
        space, target = draws.space, draws.target
        limits = space.limits
        # A limit may have ended the sampling; what it gave is shown without one.
        space.limits = replace(limits, time_limit=None)
        try:
            log_prior, log_data = self._made(space, target, 1, 0).log_target(saved.best)
        finally:
            space.limits = limits
        facts = target.facts(log_prior, log_data)
        tree = space.tree_of(saved.best, facts)
        self.tree_ = with_dirichlet(tree, dirichlet_rows(self.dirichlet_, len(space.classes), tree.depth))
        for name in ("log_joint_", "risk_", "energy_", "risk_trace_", "energy_trace_"):
            self.__dict__.pop(name, None)
        if isinstance(target, RiskTarget):
            self.risk_, self.energy_ = facts["risk"], facts["energy"]
            self.risk_trace_, self.energy_trace_ = target.risk(draws.log_data), -draws.log_target
        else:
            self.log_joint_ = facts["log_joint"]
        proposed, accepted = saved.tried.sum(axis=1)
        self.acceptance_ = {
            name: float(a / p) for name, p, a in zip(TRIED, proposed, accepted, strict=True) if p > 0
        }
        self.stop_reason_ = "complete"

    def _tell(self, run: Run, wanted: int) -> None:
        """Warn if a limit ended the sampling, or if the chains disagree."""
        if run.stopped:
            self.stop_reason_ = run.stopped.removesuffix(" reached")
            tell(
                f"{run.stopped}: {run.which.shape[1]} of {wanted} draws in each of {self.draws_.n_chains} chains; "
                "raise it, or go on with continue_sampling(n_draws)",
                ConvergenceWarning,
            )
        anneal = Annealing.of(self.anneal)
        if anneal is not None and anneal.last != 1:
            return  # This was a search, whose draws need not be those of the target.
        summary = self.summary()
        if summary.rhat > UNSURE:
            tell(summary.words, ConvergenceWarning)

    # --- answers

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self._calibrated(self.draws_.predict_proba(X01))

    def _raw_proba(self, X: Any) -> npt.NDArray[np.float64]:
        proba: npt.NDArray[np.float64] = self.draws_.predict_proba(self.to_tests(X))
        return proba

    def predict_error(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the standard error of ``raw_proba`` by sampling: from batches of draws, and between the chains.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The standard errors.
        """
        check_is_fitted(self)
        error: npt.NDArray[np.float64] = self.draws_.predict_proba(self.to_tests(X), return_error=True)[1]
        return error

    def summary(self, top: int = 10) -> ChainSummary:
        """Return R-hat, effective draws and errors of the log target, leaves, depth, and the tests that are used most.

        Parameters
        ----------
        top : int
            How many tests to show.

        Returns
        -------
        ChainSummary
            The numbers; it prints as a table with its meaning in words.
        """
        check_is_fitted(self)
        return summarize(self.draws_, self.acceptance_, self.stop_reason_, whole("top", top, 0))

    def to_inference_data(self) -> Any:
        """Return the draws as ArviZ reads them; needs ``everytree[mcmc]``.

        Groups: ``posterior`` (n_leaves, depth, and inclusion: whether a draw uses a test), ``sample_stats`` (lp: the
        log target up to a constant, energy: minus that, log_prior, log_data), ``moves`` (proposed, accepted, acceptance
        by chain and kind of move).

        Returns
        -------
        xarray.DataTree
            The groups.
        """
        check_is_fitted(self)
        return to_inference_data(self.draws_, self._saved.tried[0], self._saved.tried[1], TRIED)

    # --- what it reports of itself

    def headline(self, on: str) -> str:
        return (
            f"The average over {len(self.draws_):,} trees drawn by Markov chains{on}.{self._exponent_words()}"
        )

    def about_tree(self) -> str:
        return "The best tree that any chain has visited."

    def as_text(self) -> str:
        return f"{self.summary()}\n\nthe best tree that a chain has visited:\n{self.tree_.to_text()}"

    def _importances(self) -> npt.NDArray[np.float64]:
        return inclusion_in_draws(self.draws_, self._columns_of_tests(), self.n_features_in_)

    def mean_leaves(self) -> float:
        return float(np.mean(self.draws_.n_leaves))

    def tree_space(self) -> Any:
        return self.draws_.space

    def _reached(self, x: Any) -> Iterable[ReachedLeaf]:
        return self._leaves_in(self.draws_, x)

    # --- copies and files

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return state | {"_sampler": None} if "_sampler" in state else state

    def kept_in_file(self) -> tuple[Table, dict[str, Any]]:
        return self.draws_.space.table, {"draws": draws_to_dict(self._saved)}

    def restore_from_file(self, table: Table, claims: dict[str, Any]) -> None:
        self._check_word()
        with warnings.catch_warnings():
            # The warning about a small leaf_penalty was given when the model was fitted.
            warnings.simplefilter("ignore", UserWarning)
            try:
                target = self._checked_target(table)
            except QueryError as error:
                raise DataError(f"params: {error}") from error
        self._set(draws_from_dict(claims.get("draws"), self._space(table), target, self.dirichlet_))
        self._read_numbers(claims)
        self.stop_reason_ = str(claims.get("stop_reason", "complete"))
