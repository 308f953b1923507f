"""Files behind an address are read by the engine: by DuckDB with its extension, else by polars."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import everytree as et
from everytree.cli.app import app
from everytree.data.table import Table
from everytree.errors import DataError

pl = pytest.importorskip("polars")
FRAME = pl.DataFrame({"a": [1, 2, 3, 4] * 5, "y": ["u", "v"] * 10})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a folder with one Parquet file, read in ranges as by a store of objects."""
    folder = tmp_path_factory.mktemp("www")
    FRAME.write_parquet(folder / "part.parquet")

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, body: bool) -> None:
            file = folder / Path(self.path).name
            if not file.is_file():
                self.send_error(404)
                return
            content, wanted = file.read_bytes(), self.headers.get("Range")
            begin, end = 0, len(content)
            if wanted is not None:
                first, last = wanted.removeprefix("bytes=").split("-")
                begin = int(first) if first else max(0, len(content) - int(last))
                end = min(len(content), int(last) + 1) if first and last else len(content)
            self.send_response(200 if wanted is None else 206)
            self.send_header("Content-Length", str(end - begin))
            self.send_header("Accept-Ranges", "bytes")
            if wanted is not None:
                self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
            self.end_headers()
            if body:
                self.wfile.write(content[begin:end])

        def log_message(self, *_: Any) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}"
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.mark.long
@pytest.mark.parametrize("engine", ["polars", None])
def test_a_file_behind_an_address(server: str, engine: str | None) -> None:
    assert Table.from_parquet(f"{server}/part.parquet", "y", engine=engine) == Table.from_frame(FRAME, "y")


@pytest.mark.long
def test_the_command_line(server: str, tmp_path: Path) -> None:
    given = [f"{server}/part.parquet", "--target", "y", "--max-depth", "2", "--out", str(tmp_path / "m.json")]
    result = CliRunner().invoke(app, ["fit", *given])
    assert result.exit_code == 0, result.output
    expected = et.OptimalTreeClassifier(max_depth=2).fit_table(Table.from_frame(FRAME, "y"))
    assert et.load_model(tmp_path / "m.json").tree_ == expected.tree_


@pytest.mark.long
def test_files_that_are_not_there(server: str) -> None:
    with pytest.raises(DataError, match=r"could not answer .*absent.parquet|absent.parquet: DuckDB cannot"):
        Table.from_parquet(f"{server}/absent.parquet", "y")


def test_what_to_do_where_no_engine_reads_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed (the extra bigdata)")
    real = builtins.__import__

    def refuse(module: str, *rest: Any) -> Any:
        if module == "polars":
            raise ModuleNotFoundError("No module named 'polars'", name="polars")
        return real(module, *rest)

    class Offline:
        def execute(self, _: str) -> None:
            pass

        def read_parquet(self, _: Any) -> None:
            raise duckdb.IOException("Failed to download extension httpfs")

    monkeypatch.setattr(duckdb, "connect", lambda _: Offline())
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(DataError, match=r"run INSTALL httpfs in DuckDB once .*or pip install polars"):
        Table.from_parquet("s3://bucket/*.parquet", "y")
