"""Strangers may connect to the explorer, but not keep others from it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from page_cases import mixed_table

pytest.importorskip("starlette", reason='needs the extra web: pip install "everytree[web]"')
pytest.importorskip("uvicorn", reason='needs the extra web: pip install "everytree[web]"')

pytestmark = pytest.mark.long


@contextmanager
def served(folder: Path, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str], Path]]:
    """An explorer: its address, its process, and the file with what it complained about."""
    X, y = mixed_table()
    X.assign(answer=y).to_csv(folder / "d.csv", index=False)
    complaints = folder / "complaints"
    with (
        open(complaints, "wb") as file,
        subprocess.Popen(
            [sys.executable, "-m", "everytree", "explore", str(folder / "d.csv"), "--no-browser"],
            stdout=subprocess.PIPE, stderr=file, text=True, env={**os.environ, **environment},
        ) as server,
    ):  # fmt: skip
        assert server.stdout is not None
        server.stdout.readline()
        try:
            yield server.stdout.readline().strip(), server, complaints
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(20) == 130


def answered(address: str) -> int:
    place, _, token = address.partition("/?token=")
    headers = {"X-Everytree-Token": token, "Content-Type": "application/json"}
    request = urllib.request.Request(f"{place}/api/ask", b'{"max_depth": 1}', headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return int(answer.status)


def test_connections_on_which_nothing_is_asked_make_way(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of another process are Linux's")
    with served(tmp_path) as (address, server, complaints):
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (256, 256))
        port = urlsplit(address).port or 0
        with ExitStack() as open_now:
            for k in range(400):
                line = open_now.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
                with suppress(ConnectionError):  # it has made way already
                    line.sendall(b"GET / HTTP/1.1\r\n" + (b"X: " if k % 2 else b"Host: x\r\n\r\n"))
            time.sleep(0.5)
            assert answered(address) == 200
    assert "open files" not in complaints.read_text()


def test_lines_are_bounded_whatever_parser_is_installed(tmp_path: Path) -> None:
    """uvicorn takes httptools where it is installed, which reads a header line of any length."""
    (tmp_path / "httptools.py").write_text("raise RuntimeError\n")
    with served(tmp_path, PYTHONPATH=str(tmp_path)) as (address, _, _):
        port = urlsplit(address).port or 0
        with (
            socket.create_connection(("127.0.0.1", port), timeout=10) as line,
            pytest.raises(ConnectionError),
        ):
            line.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 2**26)
        assert answered(address) == 200
