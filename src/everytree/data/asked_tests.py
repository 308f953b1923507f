"""AskedTests: what the states of a space with local cuts ask, as tests that are the same for every row.

A state asks test t with an upper, that is, whether x is at most some cut; two of these may lie at the same place.
Here they become *questions*: the different cuts of a column in order, then its other tests. A Binarizer with some of
them as its tests answers them for new rows, and knows of no states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from everytree.data.binarizer import Binarizer, set_fitted
from everytree.data.encoding import Test
from everytree.data.local_columns import LocalColumns

__all__ = ["AskedTests", "fixed_binarizer"]

Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class AskedTests:
    """The questions, and which of them each test with its upper is; ``of`` makes it.

    ``column`` has the place of each question's column, ``is_cut`` whether it is a cut (1) or another test (0).
    """

    tests: tuple[Test, ...]
    column: Numbers
    is_cut: Numbers
    question_of: Numbers

    @classmethod
    def of(cls, columns: LocalColumns, tests: Numbers, uppers: Numbers) -> AskedTests:
        """Find the questions that some tests with their uppers are.

        >>> from everytree.data.binarizer import Binarizer
        >>> columns = Binarizer(cuts="local").fit([[20, "a"], [30, "b"], [90, "a"]]).columns_
        >>> asked = AskedTests.of(columns, np.array([0, 0, 2]), np.array([1, 2, 0]))
        >>> [test.name for test in asked.tests], asked.question_of.tolist()
        (['x0 <= 25', 'x0 <= 55', 'x1 == b'], [0, 1, 2])
        """
        found: dict[tuple[int, int, float], Test] = {}
        keys = []
        places = [k for k, column in enumerate(columns.columns) for _ in range(column.begin, column.stop)]
        for test, upper in zip(tests.tolist(), uppers.tolist(), strict=True):
            column = columns.columns[places[test]]
            asked = columns.test(test, upper)
            cut = column.fine is not None and test < column.end
            keys.append((places[test], 0 if cut else 1, asked.value if cut else test))
            found.setdefault(keys[-1], asked)
        order = sorted(found)
        number = {key: q for q, key in enumerate(order)}
        return cls(
            tuple(found[key] for key in order),
            np.array([key[0] for key in order], dtype=np.uint32),
            np.array([1 - key[1] for key in order], dtype=np.uint32),
            np.array([number[key] for key in keys], dtype=np.uint32),
        )

    def with_missing(self, columns: LocalColumns, used: npt.NDArray[np.intp]) -> list[Test]:
        """Return some of the questions in order, and of their columns also whether a value is missing."""
        kept: list[Test] = []
        for k, column in enumerate(columns.columns):
            own = [self.tests[q] for q in used.tolist() if self.column[q] == k]
            if own and column.missing >= 0 and (gone := columns.test(column.missing, 0)) not in own:
                own.append(gone)
            kept += own
        return kept


def fixed_binarizer(binarizer: Binarizer, tests: Sequence[Test]) -> Binarizer:
    """Return a fitted Binarizer of the same columns that has these tests, in the order of their columns."""
    made: Binarizer = clone(binarizer).set_params(cuts="global")
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(binarizer, name):
            setattr(made, name, getattr(binarizer, name))
    own: list[list[Test]] = [[] for _ in binarizer.encodings_]
    for test in tests:
        own[test.column].append(test)
    encodings = [
        replace(encoding, tests=mine, fine=None)
        for encoding, mine in zip(binarizer.encodings_, own, strict=True)
    ]
    set_fitted(made, encodings, {})
    return made
