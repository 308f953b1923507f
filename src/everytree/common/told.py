"""A warning at the line that asked: the first one outside the package, however many calls lie between.

Counted by hand (``stacklevel=5``), each wrapper and each helper that came between moved all warnings below it to a
line of the package.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

__all__ = ["tell"]

INSIDE = str(Path(__file__).parents[1]) + os.sep


def tell(message: Any, category: type[Warning] = UserWarning) -> None:
    """Warn, naming the line of whoever called the package.

    >>> with warnings.catch_warnings(record=True) as told:
    ...     tell("the chains disagree")
    >>> str(told[0].message), told[0].filename.startswith(INSIDE)
    ('the chains disagree', False)
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
