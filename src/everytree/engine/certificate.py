"""The certificate of a tree: whether it is proved to be the best, and if not, how far from the best it may be."""

from __future__ import annotations

from typing import Any

__all__ = ["REASONS", "certificate"]

# How the core names the end of a search, and the words that users read.
REASONS = {"": "proved", "time": "time limit", "memory": "memory limit", "stopped": "stopped"}


def certificate(objective: float, lower: float | None = None, stopped: str = "") -> dict[str, Any]:
    """Return how sure it is that a tree is the best: ``optimal``, ``lower_bound``, ``gap`` and ``stop_reason``.

    ``gap`` is the distance between the objective and the lower bound, as a share of the larger of the two.

    >>> certificate(20, 15, "time")
    {'optimal': False, 'lower_bound': 15, 'gap': 0.25, 'stop_reason': 'time limit'}
    """
    lower = objective if lower is None or not stopped else min(lower, objective)
    return {
        "optimal": not stopped,
        "lower_bound": lower,
        "gap": 0.0 if lower == objective else float((objective - lower) / max(abs(objective), abs(lower))),
        "stop_reason": REASONS[stopped],
    }
