"""Files are written whole or not at all, and a process that is killed leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.common.drafts import draft_of, write_whole
from everytree.common.json_text import Listed, digest, pieces

KILLED = """
import os, sys, threading, time
from everytree.common import drafts
text = "x" * 50_000_000
threading.Thread(target=lambda: (print("writing", flush=True))).start()
while True:
    drafts.write_whole(text, sys.argv[1])
"""


def interrupted(draft: Path) -> None:
    draft.write_text("half")
    raise RuntimeError


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_a_killed_process_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    place = tmp_path / "model.json"
    for wait in (0.0, 0.02, 0.05, 0.1):
        place.write_text("old")
        with subprocess.Popen([sys.executable, "-c", KILLED, str(place)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(wait)
            writer.send_signal(signal.SIGKILL)
        assert place.read_text() == "old" or place.stat().st_size == 50_000_000
        write_whole("next", place)  # whatever name the killed process gave to its draft goes now
        assert os.listdir(tmp_path) == ["model.json"]


@pytest.mark.skipif(os.name != "posix", reason="whether a process runs is asked as POSIX has it")
def test_drafts_of_processes_that_ended_are_removed_and_others_kept(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        pass
    place = tmp_path / "answers.csv"
    dead, alive = (tmp_path / f".answers.csv.{process}-0123abcd.tmp" for process in (ended.pid, os.getpid()))
    other = tmp_path / f".other.csv.{ended.pid}-0123abcd.tmp"
    for each in (dead, alive, other):
        each.write_text("half")
    with draft_of(place) as draft:
        draft.write_text("whole")
    assert place.read_text() == "whole"
    assert not dead.exists()
    assert alive.exists()
    assert other.exists()


def test_a_file_that_cannot_be_written_is_told_and_the_old_one_stays(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole("text", tmp_path / "nowhere" / "file.txt")
    place = tmp_path / "file.txt"
    place.write_text("old")
    with pytest.raises(RuntimeError), draft_of(place) as draft:
        interrupted(draft)
    assert place.read_text() == "old"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole("text", tmp_path / "file.txt")
    finally:
        os.umask(before)
    assert (tmp_path / "file.txt").stat().st_mode & 0o777 == 0o640


def test_half_a_surrogate_pair_is_saved_and_loaded(tmp_path: Path) -> None:
    values = [["a\ud800"], ["b"], ["a\ud800"], ["b"]]
    model = et.OptimalTreeClassifier(leaf_penalty=0).fit(values, ["yes\udfff", "no", "yes\udfff", "no"])
    model.save(tmp_path / "model.json")
    again = et.load_model(tmp_path / "model.json")
    assert again.predict(values).tolist() == ["yes\udfff", "no", "yes\udfff", "no"]


@pytest.mark.parametrize("options", [{}, {"sort_keys": True, "separators": (",", ":")}])
@pytest.mark.parametrize("n", [0, 1, 2_000, 4_001])
def test_pieces_are_the_text_of_the_lists(n: int, options: dict[str, Any]) -> None:
    rows = np.arange(3 * n).reshape(n, 3)
    listed = {
        "z": {"rows": Listed(rows), "é": 'a"b', "none": {}},
        "a": [1, {"b": None}],
        "m": Listed(rows[:, 0]),
    }
    plain = {
        "z": {"rows": rows.tolist(), "é": 'a"b', "none": {}},
        "a": [1, {"b": None}],
        "m": rows[:, 0].tolist(),
    }
    assert "".join(pieces(listed, **options)) == json.dumps(plain, **options)
    assert digest(listed) == digest(plain)
