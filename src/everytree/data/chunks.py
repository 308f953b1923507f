"""Tables of data that come in chunks, in bounded memory: each chunk is counted, and counts add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw

from everytree.common.arguments import refused
from everytree.common.limits import Limits, in_bytes
from everytree.data.binarizer import Binarizer
from everytree.data.counted_rows import CountedRows
from everytree.data.example_weights import example_weights
from everytree.data.frames import read_frame
from everytree.data.labels import read_labels
from everytree.data.local_tally import tally_of
from everytree.errors import DataError, LimitReached

__all__ = ["count_chunks"]


def count_chunks(
    chunks: Iterable[Any],
    target: str,
    weight: str | None,
    memory_limit: int | None,
    options: Mapping[str, Any],
) -> CountedRows:
    """The table of all chunks together; see ``Table.from_chunks``."""
    unknown = sorted(set(options) - set(Binarizer().get_params()))
    if unknown:
        known = ", ".join(Binarizer().get_params())
        raise DataError(f"{unknown[0]} is no parameter of Binarizer; expected some of {known}")
    tally = tally_of(Binarizer(**options), memory_limit)
    limit = Limits(memory_limit=memory_limit).memory
    for number, chunk in enumerate(chunks):
        columns, labels, weights = _parts(chunk, target, weight)
        frame = read_frame(columns)
        if frame.n_rows == 0:
            continue
        found = read_labels(labels, frame.n_rows)
        counts = None if weights is None else example_weights(weights, frame.n_rows)
        if counts is not None:
            used = counts.counts > 0
            frame, found, counts = frame.take(used), found[used], counts.of(used)
            if frame.n_rows == 0:
                continue
        tally.check_names(frame)
        tally = tally.add(frame, found, counts)
        if tally.n_bytes > limit:
            raise LimitReached(
                f"after {number + 1} chunks the counts take {in_bytes(tally.n_bytes)}, more than the memory limit of "
                f"{in_bytes(limit)}; use fewer bins or fewer columns, or raise memory_limit",
                "memory",
            )
    if tally.total == 0:
        raise DataError("the chunks hold 0 examples; a table needs at least one row")
    binarizer, table = tally.binarized()
    return table.encoded(binarizer, target)


def _parts(chunk: Any, target: str, weight: str | None) -> tuple[Any, Any, Any]:
    """The columns, the labels and the weights of a chunk: a data set of the readers, or a data frame."""
    if isinstance(getattr(chunk, "columns", None), Mapping):
        _named(list(chunk.names), target, weight)
        weights = chunk.weights if weight is None else chunk[weight].values
        rest = chunk if weight is None else chunk.drop(weight)
        features, labels = rest.split(target)
        return features, labels, weights
    native = nw.from_native(chunk, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    if not isinstance(native, nw.DataFrame):
        raise DataError(f"a chunk is a {type(chunk).__name__}; expected a data frame or a data set")
    _named(list(native.columns), target, weight)
    gone = [target] if weight is None else [target, weight]
    weights = None if weight is None else native[weight].to_numpy()
    return native.drop(*gone).to_native(), native[target].to_numpy(), weights


def _named(names: list[str], target: str, weight: str | None) -> None:
    for what, name in (("target", target), ("weight", weight)):
        if name is not None and name not in names:
            raise refused(
                DataError,
                what,
                name,
                says=f" is no column of a chunk; it has {', '.join(map(repr, names[:12]))}",
            )
