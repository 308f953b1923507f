"""Screening: columns with too many values are left out, and of very many those that tell least about the classes.

    information of a column about the class, less what chance gives:   Σ n log(n · total / (row · column)) − freedom / 2

Deep trees take up to a thousand columns, averages over every tree sixty of them. Choosing among more looks at the
labels, so that what is said of left-out examples afterwards is too good.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.text import many
from everytree.data.coded_rows import CodedRows
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import Frame
from everytree.estimators.evidence_parts import columns_of

__all__ = [
    "CHOSEN",
    "MOST_AVERAGED",
    "MOST_COLUMNS",
    "averaged_columns",
    "chosen_by_labels",
    "kept_columns",
    "screened",
]

Reals = npt.NDArray[np.float64]

MOST_COLUMNS = 1000  # Of more columns, those that tell least about the classes are left out.
MOST_AVERAGED = 60  # the same for averages over every tree
COARSE = 8  # bins of a numeric column, to tell how much it says
CHOSEN = "they were chosen with the labels, so that the leave-one-out numbers are too good"
MOST_CODES = 256  # tests of a column, about; a nominal column with more values is left out


def screened(
    frame: Frame, codes: npt.NDArray[np.intp], weights: ExampleWeights | None
) -> tuple[list[int], list[str]]:
    """Return the columns in use, and in words which are not."""
    notes = []
    small = [j for j, column in enumerate(frame.columns) if _n_values(column) <= MOST_CODES]
    if len(small) < len(frame.columns):
        gone = len(frame.columns) - len(small)
        notes.append(f"{many(gone, 'text column')} with more than {MOST_CODES} values left out")
    small = small or list(range(len(frame.columns)))
    kept = [small[j] for j in kept_columns(columns_of(frame, small), codes, weights, MOST_COLUMNS)]
    if len(kept) < len(small):
        notes.append(
            f"{len(kept)} of {len(small)} columns are used, those that tell most about the classes by themselves; "
            f"{CHOSEN}"
        )
    return kept, notes


def chosen_by_labels(notes: Sequence[str]) -> bool:
    """Return whether columns were chosen by the labels of all rows, as the notes of a model say.

    >>> chosen_by_labels(["9 of 20 columns are used; " + CHOSEN]), chosen_by_labels([])
    (True, False)
    """
    return any(note.endswith(CHOSEN) for note in notes)


def averaged_columns(coded: CodedRows) -> list[int]:
    """Return the columns that averages over every tree may use, those that tell most about the classes by themselves.

    All, where they are few. The codes of a numeric column are cut into eight bins of about equal frequency.
    """
    columns = coded.columns.columns
    if len(columns) <= MOST_AVERAGED:
        return [column.column for column in columns]
    entries = np.nonzero(coded.counts)
    share = np.asarray(coded.examples(entries), dtype=np.float64)
    told = []
    for k, column in enumerate(columns):
        values = coded.codes[entries[0], k].astype(np.intp)
        if column.fine is not None:
            held = np.bincount(values, share, column.n_codes + 2)
            upto = np.cumsum(held[: column.n_codes])
            bins = np.minimum(COARSE - 1, ((upto - held[: column.n_codes] / 2) / upto[-1] * COARSE)).astype(
                np.intp
            )
            values = np.concatenate([bins, [COARSE, COARSE]])[values]
        told.append(_information(values, entries[1], share))
    most = np.argsort(np.array(told), kind="stable")[::-1][:MOST_AVERAGED]
    return sorted(columns[k].column for k in most.tolist())


def _n_values(column: Any) -> int:
    """Return how many values a text column has; 1 for other columns, which any number may have."""
    return len(np.unique(column.present())) if column.kind == "nominal" and not column.is_empty else 1


def kept_columns(
    frame: Frame, codes: npt.NDArray[np.intp], weights: ExampleWeights | None, most: int
) -> list[int]:
    """Return the columns that tell most about the classes by themselves, at most so many, in their order.

    A numeric column is cut into eight bins of equal frequency; the measure is the information that bin, value or
    missingness gives about the class, less its mean where the two have nothing to do with each other.
    """
    n = len(frame.columns)
    if n <= most:
        return list(range(n))
    share = np.ones(codes.size) if weights is None else weights.examples.astype(np.float64)
    told = [_information(_coarse(column), codes, share) for column in frame.columns]
    return sorted(np.argsort(np.array(told), kind="stable")[::-1][:most].tolist())


def _coarse(column: Any) -> npt.NDArray[np.intp]:
    """Return a few codes of a column: of a nominal one its values, else bins of equal frequency; 0 where missing."""
    out = np.zeros(len(column), dtype=np.intp)
    if column.is_empty:
        return out
    known = np.ones(len(column), dtype=bool) if column.mask is None else ~column.mask
    data = np.asarray(column.data)[known]
    if column.kind == "numeric":
        cuts = np.unique(np.quantile(data.astype(np.float64), np.arange(1, COARSE) / COARSE))
        data = np.searchsorted(cuts, data, side="left")
    out[known] = np.unique(data, return_inverse=True)[1] + 1
    return out


def _information(values: npt.NDArray[np.intp], codes: npt.NDArray[np.intp], share: Reals) -> float:
    table = np.zeros((int(values.max()) + 1, int(codes.max()) + 1))
    np.add.at(table, (values, codes), share)
    total = table.sum()
    rows, columns = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    seen = table > 0
    gained = float((table[seen] * np.log((table * total)[seen] / (rows * columns)[seen])).sum())
    freedom = (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1)
    return gained - freedom / 2
