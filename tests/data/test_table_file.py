"""Table files: what is written is read back, mapped, and anything else is refused with a message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.data.table import Table
from everytree.errors import DataError

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")


def counted() -> Table:
    frame = pl.LazyFrame(
        {
            "age": [20, 30, 40, 50, 60, None],
            "sex": ["m", "f", "m", "f", "f", "m"],
            "smoker": [True, False, True, True, False, False],
            "grade": [1, 2, 3, 1, 2, 3],
            "ill": ["no", "no", "yes", "yes", "no", "yes"],
        }
    )
    return Table.from_frame(frame, "ill", missing="category", nominal=["grade"], bins={"age": [25, 45.5]})


@pytest.mark.parametrize(
    "table",
    [
        counted(),
        Table([[0, 1], [1, 1]], [[2**62, 0], [0, 3]]),
        Table([[0, 1], [1, 1]], [[4, 0], [0, 3]], test_names=["a", "b"], classes=[False, True]),
        Table(np.zeros((0, 3)), np.zeros((0, 2), dtype=int)),
    ],
)
def test_there_and_back(table: Table, tmp_path: Path) -> None:
    table.save(tmp_path / "table.arrow")
    again = Table.load(tmp_path / "table.arrow")
    assert again == table
    assert again.target == table.target
    assert again.fingerprint() == table.fingerprint()
    assert not again.rows.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        again.rows[0, 0] = 1
    if table.binarizer is not None:
        made = again.binarizer
        assert made is not None
        assert made.get_params() == table.binarizer.get_params()
        assert (made.tests_, made.dropped_) == (table.binarizer.tests_, table.binarizer.dropped_)
        model = et.OptimalTreeClassifier(max_depth=2).fit_table(again)
        assert model.tree_ == et.OptimalTreeClassifier(max_depth=2).fit_table(table).tree_
        assert (again + table).total == 2 * table.total


def written(path: Path, change: Any) -> Path:
    """A file like that of ``save`` with one thing changed."""
    counted().save(path)
    with pa.memory_map(str(path)) as source:
        reader = pa.ipc.open_file(source)
        batch = reader.get_batch(0)
        parts = {
            "rows": np.array(batch.column(0).flatten()).reshape(len(batch), -1),
            "counts": np.array(batch.column(1).flatten()).reshape(len(batch), -1),
            "text": json.loads(reader.schema.metadata[b"everytree"]),
        }
    change(parts)
    rows, counts = parts["rows"], parts["counts"]
    lists = [
        pa.FixedSizeListArray.from_arrays(pa.array(each.reshape(-1)), each.shape[1])
        for each in (rows, counts)
    ]
    text = parts["text"] if isinstance(parts["text"], bytes) else json.dumps(parts["text"]).encode()
    schema = pa.schema(
        [("rows", lists[0].type), (parts.get("name", "counts"), lists[1].type)], metadata={b"everytree": text}
    )
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for _ in range(parts.get("batches", 1)):
            writer.write_batch(pa.record_batch(lists, schema=schema))
    return path


def put(name: str, value: Any) -> Any:
    return lambda parts: parts.update({name: value})


def say(name: str, value: Any) -> Any:
    return lambda parts: parts["text"].update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: parts.update(rows=parts["rows"] * 2), "expected only 0 and 1"),
        (lambda parts: parts.update(rows=parts["rows"][::-1].copy()), "not different and in order"),
        (lambda parts: parts.update(rows=np.repeat(parts["rows"][:1], len(parts["rows"]), 0)), "in order"),
        (lambda parts: parts.update(counts=-parts["counts"]), "negative"),
        (lambda parts: parts.update(counts=parts["counts"] * 0), "without any example"),
        (lambda parts: parts.update(counts=np.full_like(parts["counts"], 2**62)), "add up to"),
        (lambda parts: parts.update(rows=parts["rows"].astype(np.int16)), "expected lists of uint8"),
        (lambda parts: parts.update(counts=parts["counts"].astype(float)), "expected lists of int64"),
        (put("name", "other"), "expected rows and counts"),
        (put("batches", 2), "2 batches"),
        (put("text", b"{"), "not a model file|not a table file"),
        (put("text", [1]), "its description is"),
        (put("text", b'{"format": 1, "format": 2}'), "occurs twice"),
        (say("format", "everytree.model"), "its format is"),
        (say("version", 9), "its format is"),
        (say("test_names", ["a"]), "1 test_names for"),
        (say("test_names", 7), "test_names is 7"),
        (say("classes", ["no"]), "1 class labels for"),
        (say("classes", [None, "yes"]), "expected a list of different labels"),
        (say("classes", ["no", "no"]), "expected a list of different labels"),
        (say("target", 3), "target is 3"),
        (say("encoder", 3), "encoder or params"),
        (say("params", {"bins": 4}), "params has"),
        (lambda parts: parts["text"]["encoder"]["tests"].pop(), "test_names are not the names"),
        (lambda parts: parts["text"]["encoder"]["columns"].clear(), "columns is"),
    ],
)
def test_files_that_are_refused(change: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message) as error:
        Table.load(written(tmp_path / "table.arrow", change))
    assert "table.arrow" in str(error.value)


def test_damage_is_refused_or_harmless(tmp_path: Path) -> None:
    """Any byte changed, any length cut off: a table as good as the first, or an error of ours."""
    path = tmp_path / "table.arrow"
    counted().save(path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for turn in range(300):
        damaged = bytearray(content)
        if turn % 3 == 0:
            damaged = damaged[: int(rng.integers(0, len(content)))]
        else:
            damaged[int(rng.integers(0, len(content)))] = int(rng.integers(0, 256))
        path.write_bytes(damaged)
        try:
            table = Table.load(path)
            assert set(np.unique(table.rows)) <= {0, 1}
            assert table.class_counts.min() >= 0
        except DataError:
            refused += 1
    assert refused > 100


def test_tables_that_cannot_be_saved(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="without tests"):
        Table(np.zeros((1, 0)), [[1]]).save(tmp_path / "none.arrow")
    with pytest.raises(DataError, match="labels that are texts"):
        Table([[0]], [[1]], classes=[(1, 2)]).save(tmp_path / "labels.arrow")
    with pytest.raises(FileNotFoundError):
        Table.load(tmp_path / "absent.arrow")
