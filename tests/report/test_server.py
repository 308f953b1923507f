"""The explorer's server as a stranger meets it: a real port, a real process, and no way in without the token."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from page_cases import mixed_table

pytest.importorskip("starlette", reason='needs the extra web: pip install "everytree[web]"')
pytest.importorskip("uvicorn", reason='needs the extra web: pip install "everytree[web]"')

from everytree.report.server import in_thread  # what the lines above ask for must be there


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    X, y = mixed_table()
    X.assign(answer=y).to_csv(folder / "d.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "everytree",
        "explore",
        str(folder / "d.csv"),
        "--no-browser",
        "--query",
        "max_depth=2",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        yield server.stdout.readline().strip()
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 130


def ask(
    address: str, method: str, path: str, headers: dict[str, str], body: Any = None
) -> tuple[int, str, Any]:
    place = urlsplit(address)
    line = http.client.HTTPConnection("127.0.0.1", place.port or 0, timeout=60)
    content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    line.putrequest(method, path, skip_host=True)
    for name, value in {"Host": place.netloc, **headers}.items():
        if value:
            line.putheader(name, value)
    if content is not None:
        line.putheader("Content-Length", str(len(content)))
    line.endheaders(content)
    answer = line.getresponse()
    found = answer.status, answer.read().decode(), answer.headers
    line.close()
    return found


def token_of(address: str) -> str:
    return urlsplit(address).query.removeprefix("token=")


@pytest.mark.long
def test_the_address_is_local_and_has_the_token_and_the_query(address: str) -> None:
    place = urlsplit(address)
    assert place.hostname == "127.0.0.1"
    assert len(token_of(address)) >= 32
    assert place.fragment == "max_depth=2"


def test_the_page_comes_with_its_policies(address: str) -> None:
    status, text, headers = ask(address, "GET", f"/?token={token_of(address)}", {})
    assert status == 200
    assert "connect-src 'self'" in text
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "server" not in headers


@pytest.mark.parametrize("path", ["/", "/?token=wrong", "/?token=", "/?token=%C3%A9"])
def test_without_the_token_there_is_nothing(address: str, path: str) -> None:
    status, text, _ = ask(address, "GET", path, {})
    assert status == 403
    assert "token" in json.loads(text)["error"]


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"Host": "evil.example"}, "answers only to 127.0.0.1"),
        ({"Host": ""}, "answers only to 127.0.0.1"),
        ({"Host": "127.0.0.1"}, "answers only to 127.0.0.1"),
        ({"Origin": "https://evil.example"}, "its own page"),
        ({"Origin": "null"}, "its own page"),
    ],
)
def test_other_hosts_and_origins_are_refused_even_with_the_token(
    address: str, headers: dict[str, str], message: str
) -> None:
    given = {"X-Everytree-Token": token_of(address)} | headers
    for method, path in (("GET", f"/?token={token_of(address)}"), ("POST", "/api/ask")):
        status, text, _ = ask(address, method, path, given, {} if method == "POST" else None)
        assert status in (400, 403)  # a request without a host is no HTTP/1.1
        if status == 403:
            assert message in json.loads(text)["error"]


def test_a_token_in_the_address_does_not_open_the_questions(address: str) -> None:
    for what in ("ask", "look", "cancel", "target", "open"):
        assert ask(address, "POST", f"/api/{what}?token={token_of(address)}", {}, {})[0] == 403
        assert ask(address, "GET", f"/api/{what}", {"X-Everytree-Token": token_of(address)})[0] == 405


@pytest.mark.long
def test_a_question_is_answered_and_a_bad_one_refused(address: str) -> None:
    token = {"X-Everytree-Token": token_of(address)}
    status, text, _ = ask(address, "POST", "/api/ask", token, {"max_depth": 2})
    told = json.loads(text)
    assert status == 200
    while not told["done"]:
        told = json.loads(ask(address, "POST", "/api/look", token, {"id": told["id"]})[1])
    assert told["part"]["tree"]["depth"] <= 2
    for body, message in (
        ({"max_depth": "x"}, "max_depth"),
        (b"{", "Expecting"),
        (b"\x80", "UTF-8"),
        ([1], "a question has the fields"),
    ):
        status, text, _ = ask(address, "POST", "/api/ask", token, body)
        assert status == 400
        assert message in json.loads(text)["error"]
    assert ask(address, "POST", "/api/look", token, {"id": -1})[0] == 400
    assert ask(address, "POST", "/api/ask", token, b" " * (2**20 + 1))[0] == 400


DEEP = 100_000
MALFORMED: dict[str, tuple[bytes, str]] = {
    "brackets": (b"[" * DEEP, "nested too deeply"),
    "objects": (b'{"a":' * DEEP, "nested too deeply"),
    "closed brackets": (b"[" * DEEP + b"]" * DEEP, "nested too deeply"),
    "nine levels": (b'{"require": ' + b"[" * 9 + b"]" * 9 + b"}", "nested too deeply"),
    "a long number": (b'{"max_depth": ' + b"9" * 5000 + b"}", "a number of 5000 digits"),
    "a large number": (b'{"max_depth": 1e999}', "max_depth=inf"),
    "nan": (b'{"max_depth": NaN}', "NaN"),
    "infinity": (b'{"min_leaf": -Infinity}', "Infinity"),
    "a surrogate": (b'{"objective": "\\ud800"}', "objective="),
    "names that are no names": (b'{"require": [{"a": 1}, [2], null]}', "expected names of columns"),
    "a long name": (b'{"prior": "' + b"x" * 100_000 + b'"}', "prior="),
    "not utf-8": (b'{"objective": "\xff"}', "UTF-8"),
    "utf-16": ('{"max_depth": 2}'.encode("utf-16"), "UTF-8"),
    "nothing": (b"", "not JSON"),
    "null": (b"null", "a question has the fields"),
    "a text": (b'"max_depth"', "a question has the fields"),
}


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server of its own, and the file with everything that it complained about."""
    X, y = mixed_table()
    X.assign(answer=y).to_csv(tmp_path / "d.csv", index=False)
    with (
        open(tmp_path / "complaints", "wb") as complaints,
        subprocess.Popen(
            [sys.executable, "-m", "everytree", "explore", str(tmp_path / "d.csv"), "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        ) as server,
    ):
        assert server.stdout is not None
        server.stdout.readline()
        yield server.stdout.readline().strip(), tmp_path / "complaints"
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 130


@pytest.mark.long
def test_malformed_requests_get_one_line_and_leave_no_traceback(quiet: tuple[str, Path]) -> None:
    address, complaints = quiet
    token = {"X-Everytree-Token": token_of(address)}
    for what, (body, message) in MALFORMED.items():
        status, text, _ = ask(address, "POST", "/api/ask", token, body)
        assert (what, status) == (what, 400)
        error = json.loads(text)["error"]
        assert message in error, what
        assert len(error.splitlines()) == 1, what
        assert len(error) < 700, what
        for other in ("look", "target"):
            assert ask(address, "POST", f"/api/{other}", token, body)[0] == 400, what
        assert ask(address, "POST", "/api/cancel", token, body)[0] == 200, what  # it reads no body
    for header, value in (("Client", "a b"), ("Client", "x" * 65), ("Data", "-1"), ("Data", "9" * 5000)):
        status, text, _ = ask(address, "POST", "/api/ask", token | {f"X-Everytree-{header}": value}, {})
        assert status == 400
        assert f"X-Everytree-{header}: expected" in json.loads(text)["error"]
    for name in ("%00.csv", "..", "a.%00", "x." + "y" * 300, "%FF.gz", "a.parquet", "b.arff", "c.csv.gz"):
        for content in (b"", b"\x00\xff" * 50, b"[" * 1000, b"\x1f\x8b\x08\x00"):
            named = token | {"X-Everytree-Name": name}
            assert ask(address, "POST", "/api/open", named, content)[0] == 400, (name, content[:4])
    # A client that goes away in the middle of its request.
    place = urlsplit(address)
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", place.port or 0), timeout=10) as line:
            line.sendall(
                f"POST /api/ask HTTP/1.1\r\nHost: {place.netloc}\r\nX-Everytree-Token: {token_of(address)}\r\n"
                "Content-Length: 1000\r\n\r\n{".encode()
            )
    # What is no request, or asks for another protocol: none fills the terminal.
    for words in (
        b"\x00\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", place.port or 0), timeout=10) as line:
            line.sendall(words)
            assert b" 40" in line.recv(100)[:12]
    assert ask(address, "POST", "/api/ask", token, {"max_depth": 1})[0] == 200
    told = complaints.read_text(encoding="utf-8").splitlines()
    assert [line for line in told if not line.startswith("note: the column to predict is")] == []


def test_work_in_a_thread_has_its_answer_and_its_error() -> None:
    assert asyncio.run(in_thread(divmod, 7, 2)) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_thread(divmod, 7, 0))


def test_the_end_does_not_wait_for_work_in_a_thread() -> None:
    text = """
import asyncio, sys, time
from everytree.report.server import in_thread

async def main():
    working = asyncio.ensure_future(in_thread(time.sleep, 120))
    await asyncio.sleep(0.1)
    sys.exit(3)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, done.stderr


def test_two_clients_ask_side_by_side(address: str) -> None:
    token = {"X-Everytree-Token": token_of(address)}
    one, two = (token | {"X-Everytree-Client": name} for name in ("one", "two"))
    first = json.loads(ask(address, "POST", "/api/ask", one, {"max_depth": 3, "min_leaf": 2})[1])
    second = json.loads(ask(address, "POST", "/api/ask", two, {"max_depth": 2, "min_leaf": 3})[1])
    for client, told in ((one, first), (two, second)):
        while not told["done"]:
            status, text, _ = ask(address, "POST", "/api/look", client, {"id": told["id"]})
            assert status == 200, text
            told = json.loads(text)
        assert told["status"] == "Proved best."
    status, text, _ = ask(address, "POST", "/api/look", two, {"id": first["id"]})
    assert status == 400
    assert "no longer being answered" in json.loads(text)["error"]


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose question of depth 8 takes hours."""
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 2, (400, 60)), rng.integers(0, 2, 400)
    lines = [",".join([*(f"c{j}" for j in range(60)), "y"])]
    lines += [",".join(map(str, [*row, label])) for row, label in zip(rows, labels, strict=True)]
    path = tmp_path_factory.mktemp("long") / "d.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_explorer_in_order_while_questions_run(
    endless: Path, number: signal.Signals, code: int
) -> None:
    for depth, pause in ((8, 0.0), (4, 0.4)):  # in a search; in the front or the average
        with subprocess.Popen(
            [sys.executable, "-m", "everytree", "explore", str(endless), "--target", "y", "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stdout is not None
            server.stdout.readline()
            address = server.stdout.readline().strip()
            for client in ("a", "b"):
                headers = {"X-Everytree-Token": token_of(address), "X-Everytree-Client": client}
                status, text, _ = ask(
                    address, "POST", "/api/ask", headers, {"max_depth": depth, "min_leaf": 1}
                )
                assert status == 200
                assert not json.loads(text)["done"]
            time.sleep(pause)
            server.send_signal(number)
            _, complaints = server.communicate(timeout=30)
            assert (server.returncode, complaints) == (code, "")


@pytest.mark.long
def test_a_signal_ends_the_explorer_while_it_reads_a_file_that_unpacks_to_very_much(endless: Path) -> None:
    bomb = gzip.compress(b"a,b\n" + b"1,0\n" * 30_000_000, 1)
    with subprocess.Popen(
        [sys.executable, "-m", "everytree", "explore", str(endless), "--target", "y", "--no-browser"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        server.stdout.readline()
        address = server.stdout.readline().strip()
        headers = {"X-Everytree-Token": token_of(address), "X-Everytree-Name": "large.csv.gz"}
        answers: list[int] = []

        def upload() -> None:
            answers.append(ask(address, "POST", "/api/open", headers, bomb)[0])

        uploading = threading.Thread(target=upload)
        uploading.start()
        time.sleep(1.5)
        server.send_signal(signal.SIGINT)
        _, complaints = server.communicate(timeout=30)
        uploading.join()
        assert (server.returncode, complaints, answers) == (130, "", [400])


def test_another_target_and_another_file(address: str, tmp_path: Path) -> None:
    token = {"X-Everytree-Token": token_of(address)}
    assert ask(address, "POST", "/api/target", token, {"position": 2})[0] == 200
    assert ask(address, "POST", "/api/target", token, {"position": 99})[0] == 400
    named = token | {"X-Everytree-Name": "..%2Fother%20file.csv"}
    status, text, _ = ask(address, "POST", "/api/open", named, b"a,b,class\n1,2,x\n3,4,y\n5,6,x\n")
    assert (status, json.loads(text)) == (200, {})
    page = ask(address, "GET", f"/?token={token_of(address)}", {})[1]
    data = re.search(r'id="everytree-data">(.*?)</script>', page)
    assert data is not None
    assert json.loads(data[1])["title"] == "other file.csv: class"
    status, text, _ = ask(
        address, "POST", "/api/open", token | {"X-Everytree-Name": "bad.csv"}, b"\x00\xff" * 100
    )
    assert status == 400
    assert "bad.csv" in json.loads(text)["error"]
    assert json.loads(text)["code"] == "data"
    for name, content in (("lone.csv", b"class\nx\ny\nx\n"), ("odd.c%00v", b"a,class\n1,x\n\x00,y\n")):
        status, text, _ = ask(address, "POST", "/api/open", token | {"X-Everytree-Name": name}, content)
        assert status == 400
        assert name.partition("%")[0] in json.loads(text)["error"]


@pytest.mark.long
def test_a_file_that_cannot_be_read_ends_with_one_message(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    command = [sys.executable, "-m", "everytree", "explore", str(tmp_path / "empty.csv"), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("everytree: ")
    assert len(done.stderr.splitlines()) == 1
