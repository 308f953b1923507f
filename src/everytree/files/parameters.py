"""What a parameter in a model file can be at all, by its name: what no classifier takes is refused when it is read.

    whole numbers       min_leaf, folds, n_draws, …
    numbers             time_limit, alpha, …
    truth values        averaging, split_pure, laplace
    words               cuts, prior, dirichlet, criterion, strategy, …

A classifier checks its parameters when it learns, and some depend on the data; one that comes from a file has learned
already. A default is always taken, as are parameters of other classifiers that nothing is known of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from everytree.bayes.hyper import asked
from everytree.common.text import clip
from everytree.errors import DataError, QueryError
from everytree.mcmc.sampler import KERNELS
from everytree.mcmc.start import WORDS as STARTS
from everytree.mcmc.target import RISKS
from everytree.query.strategies import STRATEGIES
from everytree.weights.dirichlet import BaseRate, DepthDecay
from everytree.weights.priors import PRIORS, Prior

__all__ = ["check_parameter"]

Takes = Callable[[Any], bool]
LARGEST = 1e308


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _whole(least: int) -> Takes:
    return lambda value: _number(value) and value == int(value) and least <= value < 2**63


def _between(least: float, most: float = math.inf) -> Takes:
    return lambda value: _number(value) and least <= value <= most


def _or_none(takes: Takes) -> Takes:
    return lambda value: value is None or takes(value)


def _above_zero(value: Any) -> bool:
    return _number(value) and value > 0


def _words(*allowed: str) -> tuple[Takes, str]:
    return (
        lambda value: isinstance(value, str) and value in allowed,
        f"one of {', '.join(map(repr, allowed))}",
    )


def _bins(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("all", "mdl", "boosted")
    return bool(_whole(2)(value)) if isinstance(value, int | float) or value is None else True


def _truth(value: Any) -> bool:
    return isinstance(value, bool | int | float) and value in (0, 1)


def _chosen(what: str, value: Any) -> bool:
    """Return whether a value is a word such as "fit", by which numbers are chosen."""
    try:
        return asked(what, value) is not None
    except QueryError:
        return False


def _prior(value: Any) -> bool:
    return isinstance(value, Prior) or (
        isinstance(value, str) and (value in PRIORS or _chosen("prior", value))
    )


def _dirichlet(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("1/C", "base", "decay") or _chosen("dirichlet", value)
    if isinstance(value, list | tuple):
        return all(_above_zero(each) for each in value)
    return _above_zero(value) or isinstance(value, BaseRate | DepthDecay)


def _anneal(value: Any) -> bool:
    pair = isinstance(value, list | tuple) and len(value) == 2 and all(map(_number, value))
    return value is None or isinstance(value, bool) or pair


WHOLE = "a whole number ≥ {}"
KNOWN: dict[str, tuple[Takes, str]] = {
    **{
        name: (_whole(1), WHOLE.format(1))
        for name in ("min_leaf", "min_branch", "n_chains", "n_draws", "thin", "n_trees", "lookahead")
    },
    **{name: (_whole(0), WHOLE.format(0)) for name in ("burn_in", "se")},
    "folds": (_whole(2), WHOLE.format(2)),
    **{
        name: (_or_none(_whole(least)), f"{WHOLE.format(least)}, or None")
        for name, least in (
            ("max_depth", 0), ("max_size", 1), ("max_leaves", 1), ("beam", 1), ("max_nodes", 1), ("max_options", 1),
        )
    },
    **{name: (_or_none(_above_zero), "a number above 0, or None") for name in ("time_limit", "memory_limit")},
    **{
        name: (_between(0), "a number ≥ 0")
        for name in (
            "alpha", "beta", "confidence", "resolution", "stop_factor", "negligible", "option_factor", "option_weight",
        )
    },
    "restructure": (_between(1), "a number ≥ 1"),
    "subsample": (_or_none(_between(1)), "a number ≥ 1, or None"),
    "n_jobs": (
        lambda value: value is None or (_number(value) and value == int(value) != 0),
        "a number of threads, −1 for every core, −2 for all but one, or None",
    ),
    "bins": (_bins, "a number of bins of at least 2, 'all', 'mdl', 'boosted', or cut points"),
    "max_categories": (_whole(1), WHOLE.format(1)),
    "random_state": (
        lambda value: value is None or isinstance(value, list) or (isinstance(value, int) and value >= 0),
        "a whole number ≥ 0, or None",
    ),
    "averaging": (lambda value: isinstance(value, bool), "True or False"),
    "split_pure": (lambda value: isinstance(value, bool), "True or False"),
    "nominal": (
        lambda value: value is None or not isinstance(value, bool | int | float | str),
        "a list of columns, or None",
    ),
    "class_weight": (
        lambda value: value is None or value == "balanced" or isinstance(value, dict | list | tuple),
        '"balanced", a dict by label, a weight for each class, or None',
    ),
    "cuts": _words("global", "local", "average", "each"),
    "laplace": (_truth, "True or False"),
    "nonuniform": (lambda value: isinstance(value, bool) or value == "parent", "True, False or 'parent'"),
    "anneal": (_anneal, "True, False, None, or the powers of prior and data"),
    "prior": (_prior, "a prior, or a word for one such as 'size' or 'fit'"),
    "prune_prior": (
        lambda value: value is None or isinstance(value, Prior) or (isinstance(value, str) and value in PRIORS),
        "a prior, a word for one, or None",
    ),
    "dirichlet": (_dirichlet, "numbers above 0, '1/C', 'base', a BaseRate or a DepthDecay"),
}  # fmt: skip

# Where the default is a word. Classifiers share names: a word of any of them is taken.
WORDS: dict[str, tuple[Takes, str]] = {
    "criterion": _words("gini", "entropy", "quality", "bayes", "gain_ratio"),
    "kernel": _words(*KERNELS),
    "leaf": _words("dirichlet", "laplace"),
    "method": _words("exact", "collapsed"),
    "missing": _words("category", "error", "impute"),
    "nominal_tests": _words("multiway", "binary"),
    "prune": _words("smooth", "map", "none", "cost_complexity", "pessimistic"),
    "risk": _words("impurity", "error", *RISKS),
    "rule": _words("0-SE", "1-SE"),
    "start": _words(*STARTS),
    "strategy": _words(*STRATEGIES),
    "target": _words("posterior", "risk"),
}


def check_parameter(name: str, value: Any, default: Any) -> None:
    """Refuse a value that no classifier would take as the parameter of this name.

    >>> check_parameter("min_leaf", 5, 1)
    >>> check_parameter("min_leaf", "", 1)
    Traceback (most recent call last):
    everytree.errors.DataError: params.min_leaf is ''; expected a whole number ≥ 1
    """
    known = WORDS.get(name) if isinstance(default, str) and name in WORDS else KNOWN.get(name)
    if known is None or (type(value) is type(default) and value == default):
        return
    takes, expected = known
    if not takes(value):
        raise DataError(f"params.{name} is {clip(value)}; expected {expected}")
