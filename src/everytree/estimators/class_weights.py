"""``class_weight``: how much the examples of each class count, as weights of examples.

    weight of a row = its sample weight · the weight of its class

"balanced" gives every class the same total: N / (classes that occur · examples of the class), with N all examples. The
weights enter the likelihood as numbers of examples do, so that they say how often the classes come up where the model
is used, and how much is known of each. (``OptimalTreeClassifier`` has costs of errors instead: there a weight changes
what an error costs, and not how many examples there are.)
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import number, refused
from everytree.data.example_weights import ExampleWeights, example_weights
from everytree.data.frames import Frame
from everytree.data.table import Table
from everytree.errors import QueryError
from everytree.weights.costs import written

__all__ = ["Weighed", "class_weighted", "class_weighted_table", "weights_of_classes"]

LARGEST = 1e12


class Weighed:
    """The weights of a classifier's examples, from ``sample_weight`` and ``class_weight``.

    A weight of 3 is the same as giving the row three times, and zero is the same as leaving it out. Fractions go on
    between: a leaf with n examples of a class, n a sum of weights, has Γ(a + n) / Γ(a) in its likelihood, and what is
    said in examples (``min_leaf``, margins, penalties, errors) is in sums of weights. Weights are counted in a
    smallest part (a half, a tenth, …) where there is one of at least 2^−20, and else rounded to a millionth of the
    average weight or so (of a thousand rows), which ``weight_rounding_`` tells.
    """

    # Whether ``class_weight`` is what errors cost, and not how much examples count.
    CLASS_WEIGHT_IS_A_COST: ClassVar[bool] = False

    weight_rounding_: float = 0.0
    per_example_: int = 1  # the counts of the table that make one example
    _used: npt.NDArray[np.bool_]  # the rows of the last fit that have a weight above zero

    def _class_weight(self) -> Any:
        """Return how much the examples of each class count, where ``class_weight`` says that."""
        return None if self.CLASS_WEIGHT_IS_A_COST else getattr(self, "class_weight", None)

    def _with_weights(
        self, frame: Frame, labels: npt.NDArray[Any], sample_weight: npt.ArrayLike | None, batch: bool
    ) -> tuple[Frame, npt.NDArray[Any], ExampleWeights | None]:
        """Return the rows of weight above zero with their weights; in a ``batch`` other classes may come later."""
        given = example_weights(sample_weight, frame.n_rows)
        weights = class_weighted(self._class_weight(), labels, given, batch)
        self._used = np.ones(frame.n_rows, dtype=bool) if weights is None else weights.used
        self.weight_rounding_ = 0.0 if weights is None else weights.rounding
        self.per_example_ = 1 if weights is None else weights.per_example
        if weights is None:
            return frame, labels, None
        if not self._used.all():
            frame, labels, weights = frame.take(self._used), labels[self._used], weights.of(self._used)
        if weights.per_example == 1 and (weights.counts == 1).all():
            return (
                frame,
                labels,
                None,
            )  # as if none were given: of large data counts are a tenth of the memory
        return frame, labels, weights


def weights_of_classes(
    class_weight: Any, labels: list[Any], examples: list[Fraction], batch: bool = False
) -> list[Fraction]:
    """Return the weight of each class; ``examples`` are how many each has.

    >>> weights_of_classes("balanced", ["no", "yes"], [Fraction(6), Fraction(2)])
    [Fraction(2, 3), Fraction(2, 1)]
    >>> weights_of_classes({"yes": 2.5}, ["no", "yes"], [Fraction(6), Fraction(2)])
    [Fraction(1, 1), Fraction(5, 2)]
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        if batch:
            raise QueryError(
                'class_weight="balanced" needs the classes of all rows, which a batch does not have; give a dict from '
                "label to weight, or fit all rows at once"
            )
        occurring = sum(n > 0 for n in examples)
        return [sum(examples, Fraction(0)) / (occurring * n) if n else Fraction(1) for n in examples]
    if not isinstance(class_weight, Mapping):
        raise refused(QueryError, "class_weight", class_weight, '"balanced", a dict by label, or None')
    for value in class_weight.values():
        number("class_weight", value, 0, LARGEST, example=1, closed=True)
    unknown = [label for label in class_weight if label not in labels]
    if unknown and not batch:
        raise QueryError(f"class_weight names {unknown[0]!r}; expected labels among {labels!r}")
    return [written(class_weight.get(label, 1)) for label in labels]


def class_weighted(
    class_weight: Any, labels: npt.NDArray[Any], weights: ExampleWeights | None, batch: bool = False
) -> ExampleWeights | None:
    """Return the weights of rows, times those of their classes; ``None`` leaves them as they are."""
    if class_weight is None:
        return weights
    given = ExampleWeights(np.ones(labels.size, dtype=np.int64)) if weights is None else weights
    classes, codes = np.unique(labels[given.used], return_inverse=True)
    counted = given.of(given.used)
    totals = np.zeros(classes.size, dtype=np.int64)
    np.add.at(totals, codes, counted.counts)
    examples = [Fraction(int(n), given.per_example) for n in totals]
    of_class = weights_of_classes(class_weight, classes.tolist(), examples, batch)
    # Rows with the same weight and class are multiplied once, exactly.
    counts, place = np.unique(counted.counts, return_inverse=True)
    product = np.array(
        [[float(Fraction(int(n), given.per_example) * w) for w in of_class] for n in counts.tolist()]
    )
    whole = np.zeros(labels.size)
    whole[given.used] = product[place, codes]
    return example_weights(whole, labels.size)


def class_weighted_table(class_weight: Any, table: Table) -> Table:
    """Return a table whose examples count as much as their classes weigh."""
    if class_weight is None:
        return table
    labels = list(range(table.n_classes) if table.classes is None else table.classes)
    examples = [Fraction(int(n), table.per_example) for n in table.class_totals]
    of_class = weights_of_classes(class_weight, labels, examples)
    rows, codes = np.nonzero(table.class_counts)
    product = [
        float(Fraction(int(n), table.per_example) * of_class[c])
        for n, c in zip(table.class_counts[rows, codes].tolist(), codes.tolist(), strict=True)
    ]
    weights = example_weights(np.array(product), len(product))
    assert weights is not None
    counts = np.zeros_like(table.class_counts)
    counts[rows, codes] = weights.counts
    made = Table.trusted(
        table.rows, counts, table.test_names, table.classes, columns=table.columns,
        per_example=weights.per_example,
    )  # fmt: skip
    return made.encoded(table.binarizer, table.target)
