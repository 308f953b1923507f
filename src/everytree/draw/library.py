"""The optional matplotlib, which is imported when something is drawn with it."""

from __future__ import annotations

from typing import Any

__all__ = ["pyplot"]


def pyplot() -> Any:
    """Return matplotlib.pyplot, or raise an error that says how to install it."""
    try:
        from matplotlib import pyplot as found
    except ImportError as error:
        raise ImportError('plotting needs matplotlib: pip install "everytree[plot]"') from error
    return found
