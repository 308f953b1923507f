"""scikit-learn classifiers, one file per family; all stand on ``base.TreeClassifierBase``."""

from __future__ import annotations

__all__: list[str] = []
