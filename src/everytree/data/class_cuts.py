"""Cuts that the classes of the rows choose, put into the facts of the columns: by description length, or boosted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from everytree.data.boosted import boosted_cuts
from everytree.data.cut_rules import CutRules
from everytree.data.cuts import Bins
from everytree.data.example_weights import ExampleWeights
from everytree.data.facts import ColumnFacts
from everytree.data.frames import Frame
from everytree.data.mdl import mdl_cuts_of

__all__ = ["facts_with_cuts"]


def facts_with_cuts(
    rules: CutRules,
    frame: Frame,
    facts: Sequence[ColumnFacts],
    bins: Sequence[Bins],
    classes: npt.NDArray[np.intp],
    weights: ExampleWeights | None,
) -> list[ColumnFacts]:
    """The facts of all columns, with cuts where ``bins`` says "mdl" or "boosted"; weights are above zero."""
    examples = None if weights is None else weights.examples
    impute = rules.missing == "impute"
    fills = [each.fill() if impute and each.kind != "empty" else None for each in facts]
    coded, cuts = rules.coded_columns(frame), dict[int, list[float | int]]()
    columns = [column.as_nominal() if j in coded else column for j, column in enumerate(frame.columns)]
    n_classes = int(classes.max()) + 1 if classes.size else 0
    for j in _asking(bins, "mdl"):
        if facts[j].kind == "numeric" and not facts[j].only_01:
            cuts[j] = mdl_cuts_of(columns[j], fills[j], classes, n_classes, examples)
    if boosted := _asking(bins, "boosted"):
        cuts |= boosted_cuts(columns, facts, fills, boosted, classes, examples)
    return [replace(each, cuts=cuts[j]) if j in cuts else each for j, each in enumerate(facts)]


def _asking(bins: Sequence[Bins], word: str) -> list[int]:
    """The columns that are to be cut in this way."""
    return [j for j, each in enumerate(bins) if isinstance(each, str) and each == word]
