"""Tables as files: Arrow IPC, one batch, mapped into memory when read.

    rows      fixed-size list of uint8    the outcomes 0/1, in lexicographic order
    counts    fixed-size list of int64    examples per class

with a JSON text in the metadata: names of tests, classes, the target, and how the tests are made of columns (the same
fields as in a model file). The arrays are used where they lie in the file, so a table larger than memory can be opened.
Reading trusts nothing: types, sizes, values, order and the text are checked before a table is made of them.
"""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.drafts import draft_of
from everytree.common.fields import plain_scalar
from everytree.common.json_text import parsed_json
from everytree.common.text import clip
from everytree.common.values import value_from_json, value_to_json
from everytree.data.arrays import INT64_MAX
from everytree.data.binarizer import Binarizer, rules_of
from everytree.data.binarizer_form import columns_from_json, columns_to_json
from everytree.data.counted_rows import CountedRows
from everytree.data.readers.convert import optional
from everytree.errors import DataError

__all__ = ["load_table", "save_table"]

FORMAT, VERSION = "everytree.table", 1
KEY = b"everytree"
MOST_TEXT = 2**28  # bytes of the JSON text
PIECE = 1 << 20  # rows checked at a time
INSTALL = 'pip install "everytree[bigdata]"'


def save_table(table: CountedRows, path: str | os.PathLike[str]) -> None:
    """Write a table, whole or not at all."""
    pa = optional("pyarrow", INSTALL)
    if table.n_tests == 0:
        raise DataError("a table without tests cannot be saved; there is nothing to learn from it")
    text = json.dumps(_description(table), allow_nan=False, ensure_ascii=False)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(table.rows.reshape(-1)), table.n_tests)
    counts = pa.FixedSizeListArray.from_arrays(pa.array(table.class_counts.reshape(-1)), table.n_classes)
    schema = pa.schema([("rows", rows.type), ("counts", counts.type)], metadata={KEY: text.encode()})
    with (
        draft_of(path) as draft,
        pa.OSFile(os.fspath(draft), "wb") as sink,
        pa.ipc.new_file(sink, schema) as writer,
    ):
        writer.write_batch(pa.record_batch([rows, counts], schema=schema))


def _description(table: CountedRows) -> dict[str, Any]:
    classes = None if table.classes is None else [plain_scalar(label) for label in table.classes]
    for label in classes or ():
        if not isinstance(label, bool | int | float | str):
            raise DataError(
                f"the label {clip(label)} is a {type(label).__name__}; a table file holds labels that are texts, "
                "numbers or booleans"
            )
    described: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "test_names": None if table.test_names is None else list(table.test_names),
        "classes": classes,
        "target": table.target,
        "params": None,
        "encoder": None,
    }
    if table.per_example != 1:
        described["per_example"] = table.per_example
    if table.binarizer is not None:
        made = table.binarizer
        holder = SimpleNamespace(binarizer_=made, n_features_in_=made.n_features_in_)
        if hasattr(made, "feature_names_in_"):
            holder.feature_names_in_ = made.feature_names_in_
        described["params"] = {
            key: value_to_json(value, f"the parameter {key}")
            for key, value in made.get_params().items()
            if key != "cuts" or made.cuts == "local"
        }
        described["encoder"] = columns_to_json(holder)
    return described


def load_table(path: str | os.PathLike[str]) -> CountedRows:
    """Open a table file; the arrays stay in the file until they are used."""
    pa = optional("pyarrow", INSTALL)
    name = os.fspath(path)
    try:
        source = pa.memory_map(name, "r")
        reader = pa.ipc.open_file(source)
        if reader.num_record_batches != 1:
            raise DataError(f"it has {reader.num_record_batches} batches; expected 1")
        described = _described(reader.schema.metadata or {})
        for field, kind in (("rows", pa.uint8()), ("counts", pa.int64())):
            _check_field(pa, reader.schema, field, kind)
        batch = reader.get_batch(0)
        batch.validate(full=True)
        return _table(batch, described)
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    except (OSError, pa.ArrowException) as error:
        if getattr(error, "errno", None) is not None:  # no such file, no permission
            raise
        raise DataError(
            f"{name}: not a table file ({clip(str(error))}); expected one of Table.save"
        ) from error


def _check_field(pa: Any, schema: Any, name: str, kind: Any) -> None:
    if schema.names != ["rows", "counts"]:
        raise DataError(f"its columns are {clip(schema.names)}; expected rows and counts")
    found = schema.field(name).type
    if not pa.types.is_fixed_size_list(found) or found.value_type != kind or found.list_size < 1:
        raise DataError(f"{name} is of type {found}; expected lists of {kind} of one length")


def _described(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    text = metadata.get(KEY)
    if text is None or len(text) > MOST_TEXT:
        raise DataError("it has no description of a table; expected a file of Table.save")

    described = parsed_json(text, "a table file")
    keys = {"format", "version", "test_names", "classes", "target", "params", "encoder"}
    if not isinstance(described, dict) or set(described) - {"per_example"} != keys:
        raise DataError(
            f"its description is {clip(described)}; expected an object with {', '.join(sorted(keys))}"
        )
    if described["format"] != FORMAT or described["version"] != VERSION:
        found = f"{described['format']!r} version {described['version']!r}"
        raise DataError(f"its format is {clip(found)}; expected {FORMAT!r} version {VERSION}")
    return described


def _table(batch: Any, described: dict[str, Any]) -> CountedRows:
    rows, counts = (_matrix(batch.column(name), name) for name in ("rows", "counts"))
    _check_rows(rows)
    _check_counts(counts)
    names, classes = described["test_names"], described["classes"]
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise DataError(f"test_names is {clip(names)}; expected a list of texts, or null")
    if classes is not None:
        plain = isinstance(classes, list) and all(isinstance(c, bool | int | float | str) for c in classes)
        if not plain or len({(type(c), c) for c in classes}) < len(classes):
            raise DataError(f"classes is {clip(classes)}; expected a list of different labels, or null")
    target = described["target"]
    if target is not None and not isinstance(target, str):
        raise DataError(f"target is {clip(target)}; expected the name of a column, or null")
    table = CountedRows.trusted(rows, counts, names, classes, per_example=_parts(described))
    return table.encoded(_binarizer(described, names), target)


def _parts(described: dict[str, Any]) -> int:
    """The counts that make one example."""
    parts = described.get("per_example", 1)
    if isinstance(parts, bool) or not isinstance(parts, int) or not 1 <= parts < 2**53:
        raise DataError(f"per_example is {clip(parts)}; expected a whole number of counts, 1 or more")
    return parts


def _matrix(column: Any, name: str) -> npt.NDArray[Any]:
    """The values of a column of lists as a matrix, where they are."""
    values = column.flatten()
    if column.null_count or values.null_count:
        raise DataError(f"{name} holds nulls; expected none")
    matrix: npt.NDArray[Any] = values.to_numpy(zero_copy_only=True).reshape(
        len(column), column.type.list_size
    )
    return matrix


def _check_rows(rows: npt.NDArray[np.uint8]) -> None:
    """0/1, different, and in order: a row is less than the next where they first differ."""
    for start in range(0, rows.shape[0], PIECE):
        part = rows[start : start + PIECE + 1]
        if part.size and int(part.max()) > 1:
            raise DataError(f"rows holds {int(part.max())}; expected only 0 and 1")
        differ = part[1:] != part[:-1]
        first = np.argmax(differ, axis=1)
        at = np.arange(first.size)
        if not (differ[at, first] & (part[1:][at, first] > part[:-1][at, first])).all():
            raise DataError("rows are not different and in order; expected a file of Table.save")


def _check_counts(counts: npt.NDArray[np.int64]) -> None:
    total = 0
    for start in range(0, counts.shape[0], PIECE):
        part = counts[start : start + PIECE]
        if part.min() < 0 or not part.any(axis=1).all():
            raise DataError("counts holds a negative number, or a row without any example")
        # Halves, so that no sum wraps around: 2**20 rows of counts below 2**63.
        total += 2 * int((part >> 32).sum()) * 2**31 + int((part & 0xFFFFFFFF).sum())
    if total > INT64_MAX:
        raise DataError(f"counts add up to {total}, more than 2**63 - 1")


def _binarizer(described: dict[str, Any], names: list[str] | None) -> Binarizer | None:
    encoder, params = described["encoder"], described["params"]
    if encoder is None:
        return None
    fields = {"encoding", "columns", "tests", "dropped"}
    if not isinstance(encoder, dict) or set(encoder) != fields or not isinstance(params, dict):
        raise DataError("encoder or params is not what Table.save writes; expected objects")
    known = Binarizer().get_params()
    if set(params) | {"cuts"} != set(known):  # older files have no cuts
        raise DataError(f"params has {clip(sorted(params))}; expected {', '.join(sorted(known))}")
    given = {key: value_from_json(value, f"params.{key}") for key, value in params.items()}
    made = Binarizer(**given)
    rules_of(made).check()
    holder = SimpleNamespace(
        new_binarizer=lambda: made, missing=made.missing, unknown=made.unknown, cuts=made.cuts
    )
    columns_from_json(encoder, holder)
    if made.get_feature_names_out().tolist() != names:
        raise DataError("test_names are not the names of the tests of the encoder; expected the same")
    return made
