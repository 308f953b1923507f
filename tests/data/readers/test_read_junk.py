"""Whatever the bytes, a reader gives a data set or a DataError: nothing else, and soon."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable

import numpy as np
import pytest

from everytree.data.readers import Dataset, read_arff, read_arrow, read_csv, read_parquet
from everytree.errors import DataError

CSV = 'a,"b ""q""",c\r\n1,x,"two\r\nlines"\r\n-2.5e3,?,é\r\n,y,{3}\r\n'.encode()
ARFF = (
    "% c\r\n@RELATION 'r s'\r\n@ATTRIBUTE 'a b' {'?',x,\"y z\"}\r\n@attribute n INTEGER [0,9]\r\n"
    "@attribute s string\r\n@DATA\r\n'?',3,'it\\'s \\u00e9'\r\n?,4,é,{2}\r\n{0 x, 2 q}, {0.5}\r\n"
    "x 5 '\\101'\r\n"
).encode()


def outcome(reader: Callable[..., Dataset], content: bytes) -> str:
    """Read the bytes; any error but DataError fails the test."""
    try:
        data = reader(io.BytesIO(content))
    except DataError as error:
        message = str(error)
    else:
        assert data.n_rows > 0
        return "read"
    assert 0 < len(message) < 2000
    return "refused"


def mutated(rng: np.random.Generator, content: bytes) -> bytes:
    """A few bytes changed, inserted, removed or repeated."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        place = int(rng.integers(0, len(data)))
        choice = rng.integers(0, 4)
        special = b"\0'\"{}%@?,;\t\n\r\\ \xff\xc3u19"
        byte = (
            special[int(rng.integers(0, len(special)))] if rng.random() < 0.7 else int(rng.integers(0, 256))
        )
        if choice == 0:
            data[place] = byte
        elif choice == 1:
            data.insert(place, byte)
        elif choice == 2 and len(data) > 1:
            del data[place]
        else:
            end = place + int(rng.integers(1, 30))
            data[place:place] = data[place:end]
    return bytes(data)


@pytest.mark.parametrize("reader", [read_csv, read_arff])
def test_random_bytes(reader: Callable[..., Dataset]) -> None:
    rng = np.random.default_rng(11)
    for size in range(400):
        assert outcome(reader, rng.integers(0, 256, size, dtype=np.uint8).tobytes()) in ("read", "refused")


@pytest.mark.long
def test_random_printable_text_reaches_every_corner_of_the_syntax() -> None:
    rng = np.random.default_rng(12)
    letters = list("ab1 ,;'\"{}%?@\\\n\t.-eé")
    header = "@relation r\n@attribute a {a,b}\n@attribute b real\n@data\n"
    seen = set()
    for _ in range(3000):
        text = "".join(rng.choice(letters, size=int(rng.integers(1, 25))))
        seen.add(("csv", outcome(read_csv, f"a,b\n{text}\n".encode())))
        seen.add(("arff", outcome(read_arff, f"{header}{text}\n".encode())))
        seen.add(("head", outcome(read_arff, f"@relation r\n@attribute {text}\n@data\n1\n".encode())))
    assert seen >= {("csv", "read"), ("csv", "refused"), ("arff", "refused"), ("head", "refused")}


@pytest.mark.long
@pytest.mark.parametrize(("reader", "content"), [(read_csv, CSV), (read_arff, ARFF)])
def test_changed_and_truncated_files(reader: Callable[..., Dataset], content: bytes) -> None:
    assert outcome(reader, content) == "read"
    rng = np.random.default_rng(13)
    outcomes = [outcome(reader, content[:size]) for size in range(len(content))]
    outcomes += [outcome(reader, mutated(rng, content)) for _ in range(2000)]
    assert {"read", "refused"} == set(outcomes)


def test_changed_and_truncated_gzip() -> None:
    packed = gzip.compress(CSV * 20, mtime=0)
    rng = np.random.default_rng(14)
    for size in range(2, len(packed)):
        assert outcome(read_csv, packed[:size]) == "refused"
    for _ in range(300):
        outcome(read_csv, mutated(rng, packed))


def test_changed_and_truncated_parquet_and_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason='needs pyarrow: pip install "everytree[bigdata]"')
    from pyarrow import ipc, parquet

    table = pyarrow.table({"a": [1.5, None, 2.5], "b": pyarrow.array(["x", None, "y"]).dictionary_encode()})
    stored, streamed = io.BytesIO(), io.BytesIO()
    parquet.write_table(table, stored)
    with ipc.new_file(streamed, table.schema) as file:
        file.write_table(table)
    rng = np.random.default_rng(15)
    for reader, content in ((read_parquet, stored.getvalue()), (read_arrow, streamed.getvalue())):
        assert outcome(reader, content) == "read"
        for size in range(0, len(content), 7):
            outcome(reader, content[:size])
        for _ in range(150):
            outcome(reader, mutated(rng, content))
        for _ in range(50):
            assert outcome(reader, rng.integers(0, 256, 300, dtype=np.uint8).tobytes()) == "refused"


def test_one_endless_line_is_refused_before_it_fills_the_memory() -> None:
    packed = gzip.compress(b"a" * (40 << 20), compresslevel=1)
    with pytest.raises(DataError, match="the line is longer than"):
        read_csv(io.BytesIO(packed))
