"""Questions in parts on joblib's workers: on threads, so that their memory is that of this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import joblib
import numpy as np

import everytree as et
from everytree import cluster
from everytree.common.limits import Limits

from .calls import folded, space_of
from .registry import Ask, call
from .scales import Scale

__all__: list[str] = []


def on_workers(scale: Scale, ask: Callable[[], object]) -> Ask:
    def asks() -> object:
        with joblib.parallel_config(backend="threading", n_jobs=scale.threads):
            return ask()

    return asks


def in_parts(name: str, ask: Callable[[et.TreeSpace], Any], **more: Any) -> None:
    def ready(scale: Scale, limits: Limits) -> Ask:
        space = space_of(scale, limits)
        return on_workers(scale, lambda: ask(space))

    call(name, **more)(ready)


# Each worker has the limit of memory for itself, and two of them are in one process here.
in_parts("cluster.best", lambda space: cluster.best(space), not_on=("threads",))
in_parts("cluster.posterior", lambda space: cluster.posterior(space))


@call("cluster.predict_proba")
def predicted(scale: Scale, limits: Limits) -> Ask:
    post = folded(scale)
    post.space.limits = limits
    rows = np.random.default_rng(9).integers(0, 2, (200_000, post.space.n_tests), dtype=np.uint8)
    return on_workers(scale, lambda: cluster.predict_proba(post, rows))
