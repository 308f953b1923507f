"""What one Python object in a column is: missing, a date, a time of the day, a duration."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

__all__ = ["are_dates", "hours_or_days", "is_missing"]


def is_missing(item: Any) -> bool:
    """Return whether it stands for no value."""
    if item is None:
        return True
    if isinstance(item, str):
        return False
    if isinstance(item, float | np.floating):
        return bool(item != item)
    # pandas.NA and pandas.NaT, recognised by name so that pandas is not imported for it
    return type(item).__name__ in {"NAType", "NaTType"}


def are_dates(items: list[Any]) -> bool:
    """Return whether there is something, and all of it is dates, with a time or without."""
    present = {type(item) for item in items if not is_missing(item)}
    return bool(present) and all(issubclass(each, datetime.date) for each in present)


def hours_or_days(item: Any) -> float:
    """A time of the day as hours, a duration as days."""
    if isinstance(item, datetime.time):
        return item.hour + item.minute / 60 + item.second / 3600
    return float(item / datetime.timedelta(days=1))
