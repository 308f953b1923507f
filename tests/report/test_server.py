"""The explorer's server as a stranger meets it: a real port, a real process, and no way in without the token."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from page_cases import mixed_table

pytest.importorskip("starlette", reason='needs the extra web: pip install "everytree[web]"')
pytest.importorskip("uvicorn", reason='needs the extra web: pip install "everytree[web]"')


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
        assert server.wait(20) in (0, 130, -signal.SIGINT)


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
        (b"\x80", "decode"),
        ([1], "a question has the fields"),
    ):
        status, text, _ = ask(address, "POST", "/api/ask", token, body)
        assert status == 400
        assert message in json.loads(text)["error"]
    assert ask(address, "POST", "/api/look", token, {"id": -1})[0] == 400
    assert ask(address, "POST", "/api/ask", token, b" " * (2**20 + 1))[0] == 400


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


def test_a_file_that_cannot_be_read_ends_with_one_message(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    command = [sys.executable, "-m", "everytree", "explore", str(tmp_path / "empty.csv"), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("everytree: ")
    assert len(done.stderr.splitlines()) == 1
