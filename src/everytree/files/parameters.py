"""What a parameter in a model file can be at all, by its name: what no classifier takes is refused when it is read.

    whole numbers       min_leaf, folds, n_draws, …
    numbers             time_limit, alpha, …
    truth values        averaging, split_pure
    words               cuts

A classifier checks its parameters when it learns, and some depend on the data; one that comes from a file has learned
already. A default is always taken, as are parameters of other classifiers that nothing is known of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from everytree.common.text import clip
from everytree.errors import DataError

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
    "random_state": (lambda value: not isinstance(value, str | float), "a whole number ≥ 0, or None"),
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
}  # fmt: skip


def check_parameter(name: str, value: Any, default: Any) -> None:
    """Refuse a value that no classifier would take as the parameter of this name.

    >>> check_parameter("min_leaf", 5, 1)
    >>> check_parameter("min_leaf", "", 1)
    Traceback (most recent call last):
    everytree.errors.DataError: params.min_leaf is ''; expected a whole number ≥ 1
    """
    known = KNOWN.get(name)
    if known is None or (type(value) is type(default) and value == default):
        return
    takes, expected = known
    if not takes(value):
        raise DataError(f"params.{name} is {clip(value)}; expected {expected}")
