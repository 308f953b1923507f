"""Questions to spaces, posteriors and classifiers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

import everytree as et
from everytree.common.limits import Limits

from .registry import Ask, call
from .scales import Scale

# Spaces -------------------------------------------------------------------------------------------------------


def space_of(scale: Scale, limits: Limits, **more: Any) -> et.TreeSpace:
    X, y, weights = scale.table()
    wanted: dict[str, Any] = {
        "max_depth": scale.depth,
        "min_leaf": 5,
        "sample_weight": weights,
        "n_jobs": scale.threads,
    }
    return et.TreeSpace(
        X, y, **(wanted | more), time_limit=limits.time_limit, memory_limit=limits.memory_limit
    )


def asked_of_space(*names: str, ask: Callable[[et.TreeSpace], object], **more: Any) -> None:
    not_on = more.pop("not_on", ())

    def ready(scale: Scale, limits: Limits) -> Ask:
        space = space_of(scale, limits, **more)
        return lambda: ask(space)

    call(*names, not_on=not_on)(ready)


asked_of_space("TreeSpace.best", "TreeSpace.best_with", ask=lambda space: space.best())
asked_of_space("TreeSpace.best k", ask=lambda space: space.best(k=20))
asked_of_space("TreeSpace.front", ask=lambda space: space.front())
asked_of_space("TreeSpace.n_trees", "TreeSpace.log_n_trees", ask=lambda space: space.n_trees)
asked_of_space(
    "TreeSpace.n_states", "TreeSpace.graph", "TreeSpace.graph_under", ask=lambda space: space.n_states
)
asked_of_space("TreeSpace.estimate", "TreeSpace.estimate_states", ask=lambda space: space.estimate())
asked_of_space("TreeSpace.posterior", ask=lambda space: space.posterior())
asked_of_space("TreeSpace.posterior power", ask=lambda space: space.posterior(power=0.25))
asked_of_space("TreeSpace.deepen", ask=lambda space: space.deepen())
asked_of_space("TreeSpace.most_probable", ask=lambda space: space.most_probable())
asked_of_space("TreeSpace.near_best", ask=lambda space: space.near_best(0.05))
asked_of_space("TreeSpace.collapsed", ask=lambda space: space.collapsed(n_draws=100_000, random_state=0))
asked_of_space("TreeSpace.mine", ask=lambda space: space.mine(), not_on=("weights",))
# Each strategy has the limits for itself: two of them would take twice the time.
asked_of_space("compare_strategies", ask=lambda space: et.compare_strategies(space, strategies=("closed",)))
asked_of_space("fit_evidence", ask=lambda space: et.fit_evidence(space))
asked_of_space("fit_leave_one_out", ask=lambda space: et.fit_leave_one_out(space))


@call(
    "TreeSpace.from_frame",
    "TreeSpace.from_table",
    "TreeSpace.subspace",
    "TreeSpace.at_depth",
    "TreeSpace.within",
)
def local_posterior(scale: Scale, limits: Limits) -> Ask:
    X, y = scale.numbers()

    def ask() -> object:
        began = time.monotonic()
        space = et.TreeSpace.from_frame(
            X, y, cuts="local", bins=4, max_depth=scale.depth, min_leaf=5, n_jobs=scale.threads,
            time_limit=limits.time_limit, memory_limit=limits.memory_limit,
        )  # fmt: skip
        # Making the space and folding it are two questions, each with all of the time; here they share it.
        if limits.time_limit is not None:
            left = max(1e-3, limits.time_limit - (time.monotonic() - began))
            space.limits = replace(space.limits, time_limit=left)
        return space.posterior()

    return ask


# Posteriors: folded without limits, small enough for that, and asked much ----------------------------------------


@lru_cache(maxsize=2)
def folded(scale: Scale) -> et.Posterior:
    """A posterior that folds in about a second whatever the scale."""
    X, y, weights = scale.table()
    keep = min(scale.tests, 60 if scale.classes == 2 else 12)
    rows = min(scale.rows, 20_000)
    space = et.TreeSpace(
        X[:rows, :keep], y[:rows], max_depth=min(scale.depth, 3), min_leaf=5, sample_weight=weights[:rows],
        n_jobs=scale.threads,
    )  # fmt: skip
    return space.posterior()


def asked_of_posterior(
    *names: str, ask: Callable[[et.Posterior, np.ndarray], object], not_on: tuple[str, ...] = ()
) -> None:
    def ready(scale: Scale, limits: Limits) -> Ask:
        post = folded(scale)
        rng = np.random.default_rng(9)
        rows = rng.integers(0, 2, (200_000, post.space.n_tests), dtype=np.uint8)

        def asks() -> object:
            post.space.limits = limits
            try:
                return ask(post, rows)
            finally:
                post.space.limits = Limits()

        return asks

    call(*names, not_on=not_on)(ready)


asked_of_posterior(
    "Posterior.predict_proba", "Posterior.predict", ask=lambda post, rows: post.predict_proba(rows)
)
asked_of_posterior("Posterior.moments", "Posterior.interval", ask=lambda post, rows: post.moments(rows))
asked_of_posterior("Posterior.sample", ask=lambda post, rows: post.sample(200_000, random_state=0))
asked_of_posterior("Posterior.top_trees", "Posterior.coverage", ask=lambda post, rows: post.top_trees(20_000))
asked_of_posterior("Posterior.map_tree", ask=lambda post, rows: post.map_tree())
asked_of_posterior("Posterior.rules", "Posterior.explain", ask=lambda post, rows: post.rules(top=50))
asked_of_posterior(
    "Posterior.test_inclusion", "Posterior.attribute_inclusion", "Posterior.root_distribution",
    ask=lambda post, rows: post.test_inclusion(),
)  # fmt: skip
asked_of_posterior(
    "Posterior.leaves_distribution", "Posterior.depth_distribution", "Posterior.size_distribution",
    "Posterior.expected_leaves", "Posterior.expected_depth", "Posterior.expected_size",
    ask=lambda post, rows: (post.leaves_distribution(), post.depth_distribution()),
)  # fmt: skip
asked_of_posterior(
    "Posterior.leave_one_out", "Posterior.loo_proba", "Posterior.loo_log_loss", "Posterior.loo_log_loss_error",
    ask=lambda post, rows: post.leave_one_out(),
)  # fmt: skip
asked_of_posterior(
    "Posterior.compress", "Posterior.compression_curve", ask=lambda post, rows: post.compress(0.01)
)
asked_of_posterior(
    "Posterior.bracket", "Posterior.predict_bracket", ask=lambda post, rows: post.predict_bracket(rows)
)
asked_of_posterior(
    "Posterior.log_prior_total", "Posterior.log_bayes_factor", ask=lambda post, rows: post.log_prior_total
)


# The same where nodes choose their own cuts: other code answers these.


@lru_cache(maxsize=2)
def folded_locally(scale: Scale) -> et.Posterior:
    """A posterior over local cuts that folds in about a second whatever the scale."""
    X, y = scale.numbers()
    rows = min(scale.rows, 2_000)
    space = et.TreeSpace.from_frame(
        X[:rows, :12], y[:rows], cuts="local", bins=4, max_depth=min(scale.depth, 3), min_leaf=5,
        n_jobs=scale.threads,
    )  # fmt: skip
    return space.posterior()


def asked_locally(name: str, ask: Callable[[et.Posterior, Any], object]) -> None:
    def ready(scale: Scale, limits: Limits) -> Ask:
        post = folded_locally(scale)
        rows = scale.numbers()[0][:1_000, :12]

        def asks() -> object:
            post.space.limits = limits
            try:
                return ask(post, rows)
            finally:
                post.space.limits = Limits()

        return asks

    call(name)(ready)


asked_locally("Posterior.compress local", lambda post, rows: post.compress(0.0))
asked_locally("Posterior.predict_bracket local", lambda post, rows: post.predict_bracket(rows))


# Classifiers: all of fit under the limits -----------------------------------------------------------------------


def fitted(name: str, mixed: bool = False, **parameters: Any) -> Callable[[Scale, Limits], Ask]:
    def ready(scale: Scale, limits: Limits) -> Ask:
        X, y = scale.mixed() if mixed else scale.numbers()
        make = getattr(et, name)
        taken = make().get_params()
        wanted = dict(parameters)
        for key, value in (
            ("max_depth", scale.depth),
            ("time_limit", limits.time_limit),
            ("memory_limit", limits.memory_limit),
        ):
            if key in taken:
                wanted.setdefault(key, value)
        if "n_jobs" in taken:
            wanted["n_jobs"] = scale.threads
        model = make(**wanted)
        _, _, weights = scale.table()
        return lambda: model.fit(X, y, sample_weight=weights)

    return ready


call("OptimalTreeClassifier.fit", "OptimalTreeClassifier.refit")(fitted("OptimalTreeClassifier"))
call("OptimalTreeClassifier.fit all")(fitted("OptimalTreeClassifier", bins="all"))
call("BayesOptimalClassifier.fit", "BayesOptimalClassifier.partial_fit")(fitted("BayesOptimalClassifier"))
call("BayesOptimalClassifier.fit local")(fitted("BayesOptimalClassifier", cuts="local"))
call("MAPTreeClassifier.fit", "MAPTreeClassifier.partial_fit")(fitted("MAPTreeClassifier"))
call("MCMCTreeClassifier.fit", "MCMCTreeClassifier.continue_sampling", "MCMCTreeClassifier.partial_fit")(
    fitted("MCMCTreeClassifier", n_draws=100_000)
)
# Its docstring says so: seconds that others use the processor do not count, up to three times as many.
call("EveryTreeClassifier.fit", own_time=True)(fitted("EveryTreeClassifier"))
call("SmoothedTreeClassifier.fit", "SmoothedTreeClassifier.partial_fit")(
    fitted("SmoothedTreeClassifier", lookahead=2)
)
call("OptionTreeClassifier.fit", "OptionTreeClassifier.partial_fit")(fitted("OptionTreeClassifier"))
call("C45TreeClassifier.fit")(fitted("C45TreeClassifier"))
call("PathAverageTreeClassifier.fit")(fitted("PathAverageTreeClassifier"))
# It has neither limit, as Breiman's program had none; Ctrl-C must end it.
call("CARTTreeClassifier.fit", without=("time", "memory"))(fitted("CARTTreeClassifier"))
# Texts and gaps are read by other code than numbers.
for classifier, options in (
    ("OptimalTreeClassifier", {}),
    ("BayesOptimalClassifier", {}),
    ("BayesOptimalClassifier", {"cuts": "local"}),
    ("MAPTreeClassifier", {}),
    ("MCMCTreeClassifier", {"n_draws": 100_000}),
    ("EveryTreeClassifier", {}),
    ("SmoothedTreeClassifier", {}),
    ("OptionTreeClassifier", {}),
    ("C45TreeClassifier", {}),
    ("PathAverageTreeClassifier", {}),
):
    call(
        f"{classifier}.fit mixed{' local' if 'cuts' in options else ''}",
        not_on=("tests", "weights", "threads"),
        own_time=classifier == "EveryTreeClassifier",
    )(fitted(classifier, mixed=True, **options))


@call(
    "BayesOptimalClassifier.predict_proba", "BayesOptimalClassifier.predict", "BayesOptimalClassifier.moments",
    "BayesOptimalClassifier.predict_interval", "BayesOptimalClassifier.raw_proba", not_on=("rows", "depth"),
)  # fmt: skip
def predicted(scale: Scale, limits: Limits) -> Ask:
    X, y = scale.numbers()
    model = et.BayesOptimalClassifier(max_depth=2, n_jobs=scale.threads).fit(X[:2000, :8], y[:2000])
    rows = np.random.default_rng(1).normal(size=(300_000, model.n_features_in_))
    model.set_params(time_limit=limits.time_limit, memory_limit=limits.memory_limit)
    model.posterior_.space.limits = limits
    return lambda: model.predict_proba(rows)


# EveryTreeClassifier, fitted: its limit of time is that of ``fit``, the one of memory holds for all that it is asked.


def asked_of_every(*names: str, ask: Callable[[et.EveryTreeClassifier, np.ndarray], object]) -> None:
    def ready(scale: Scale, limits: Limits) -> Ask:
        X, y = scale.numbers()
        few = min(scale.rows, 2_000 if scale.classes == 2 else 500)
        model = et.EveryTreeClassifier(1.0, memory_limit=limits.memory_limit, n_jobs=scale.threads)
        model.fit(X[:few, :12], y[:few])
        rows = np.random.default_rng(2).normal(size=(50_000, model.n_features_in_))
        return lambda: ask(model, rows)

    call(*names, without=("time",))(ready)


asked_of_every(
    "EveryTreeClassifier.predict_proba", "EveryTreeClassifier.predict", "EveryTreeClassifier.raw_proba",
    ask=lambda model, rows: model.predict_proba(rows),
)  # fmt: skip
asked_of_every("EveryTreeClassifier.evidence_of", ask=lambda model, rows: model.evidence_of(rows))
asked_of_every("EveryTreeClassifier.compress", ask=lambda model, rows: model.compress(20_000))
asked_of_every(
    "EveryTreeClassifier.nearest_tree",
    "EveryTreeClassifier.summary",
    ask=lambda model, rows: model.nearest_tree(),
)


# Tables: made in time that is linear in their cells, and without limits -----------------------------------------


@call("Table.from_arrays", "Table.from_frame", "Table.from_codes", "Table.merge", without=("time", "memory"))
def tabled(scale: Scale, limits: Limits) -> Ask:
    X, y, weights = scale.table()
    del limits
    return lambda: et.Table.from_arrays(X, y, sample_weight=weights)
