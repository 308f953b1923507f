"""What a count table is checked for, called by, and recognised by."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import numpy.typing as npt

from everytree.data.local_columns import LocalColumns
from everytree.errors import DataError

__all__ = ["fingerprint_of", "fitting", "parts_of", "shortened"]

SOME = 5  # how many offending things a message lists
FINGERPRINT_CELLS = 1 << 20  # made into text at a time: what a cache holds


def fingerprint_of(rows: npt.NDArray[np.uint8], counts: npt.NDArray[np.int64], per_example: int) -> str:
    """Compute the SHA-256 of a table as text, as ``Table.fingerprint`` describes it."""
    digest = sha256()
    n_rows, width = rows.shape
    step = max(1, FINGERPRINT_CELLS // max(1, width))
    for start in range(0, n_rows, step):
        part = slice(start, start + step)
        text = (rows[part] + 48).tobytes().decode("ascii")
        lines = [
            f"{text[i * width : (i + 1) * width]} {' '.join(map(str, counted))}\n"
            for i, counted in enumerate(counts[part].tolist())
        ]
        digest.update("".join(lines).encode("ascii"))
    if per_example != 1:
        digest.update(f"per example {per_example}\n".encode("ascii"))
    return digest.hexdigest()


def parts_of(per_example: int) -> int:
    """The counts that make one example, once they are a whole number above zero."""
    if isinstance(per_example, bool) or not isinstance(per_example, int | np.integer) or per_example < 1:
        raise DataError(f"per_example is {per_example!r}; expected a whole number of counts, 1 or more")
    return int(per_example)


def fitting(columns: LocalColumns | None, n_tests: int) -> LocalColumns | None:
    """The columns of a table, once they have as many tests as it has."""
    if columns is not None and columns.n_tests != n_tests:
        raise DataError(
            f"columns have {columns.n_tests} tests, and the table {n_tests}; give those of the Binarizer that made it"
        )
    return columns


def shortened(value: object) -> str:
    if isinstance(value, tuple) and len(value) > SOME:
        return f"({', '.join(repr(v) for v in value[:SOME])}, … {len(value)} in all)"
    return repr(value)
