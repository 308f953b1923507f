"""Ctrl-C, a terminal's progress bar, closed pipes: what needs a process of its own."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

SLOW_START = 60.0  # seconds that a busy machine may need


@pytest.fixture
def noise(tmp_path: Path) -> Path:
    """No bound prunes noise: a tree of depth 8 takes far longer than any test."""
    rng = random.Random(0)
    header = [f"a{j}" for j in range(100)] + ["y"]
    lines = [",".join(header)] + [",".join(str(rng.randint(0, 1)) for _ in header) for _ in range(1000)]
    (tmp_path / "noise.csv").write_text("\n".join(lines))
    return tmp_path / "noise.csv"


def begin(*arguments: str, what: str = "common.limits:Limits.control") -> subprocess.Popen[str]:
    """Start a command whose first question (or another call) prints a line when it has begun."""
    module, _, method = what.partition(":")
    owner, _, name = method.partition(".")
    code = (
        "import sys, everytree.cli\n"
        f"from everytree.{module} import {owner} as owner\n"
        f"plain = owner.{name}\n"
        "def begun(*given):\n"
        "    print('begun', file=sys.stderr, flush=True)\n"
        "    return plain(*given)\n"
        f"owner.{name} = begun\n"
        "everytree.cli.main()\n"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"}
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", env=environment,
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline() == "begun\n"
    time.sleep(0.5)
    return process


def test_the_first_interrupt_keeps_the_best_so_far(noise: Path) -> None:
    out = noise.with_name("model.json")
    process = begin("fit", str(noise), "--target", "y", "--max-depth", "8", "--out", str(out))
    process.send_signal(signal.SIGINT)
    shown, err = process.communicate(timeout=SLOW_START)
    assert process.returncode == 0, err
    assert "ended             stopped" in shown
    assert "not judged on held-out rows: learning was stopped" in shown
    assert "stopping; once more to give up at once" in err
    assert json.loads(out.read_text())["claims"]["stop_reason"] == "stopped"


def test_without_a_best_so_far_nothing_is_written(noise: Path) -> None:
    out = noise.with_name("model.json")
    process = begin(
        "fit", str(noise), "--target", "y", "--method", "bayes", "--max-depth", "5", "--out", str(out)
    )
    process.send_signal(signal.SIGINT)
    shown, err = process.communicate(timeout=SLOW_START)
    assert (process.returncode, shown) == (130, "")
    assert "stopped before there was an answer" in err
    assert [path.name for path in noise.parent.iterdir()] == ["noise.csv"]


def test_an_interrupt_while_training_errors_are_counted_costs_only_them(noise: Path) -> None:
    out = noise.with_name("model.json")
    process = begin(
        "fit", str(noise), "--target", "y", "--method", "bayes", "--max-depth", "4", "--min-leaf", "20",
        "--training-errors", "--no-held-out", "--out", str(out), what="bayes.posterior:Posterior.predict_proba",
    )  # fmt: skip
    assert out.exists()  # it is safe before they are counted
    process.send_signal(signal.SIGINT)
    shown, err = process.communicate(timeout=SLOW_START)
    assert process.returncode == 0, err
    assert "training errors   not counted: stopped" in shown
    assert "the most probable of all trees" in shown
    assert f"model file        {out}" in shown


def test_a_query_that_was_stopped_is_not_judged_by_five_more_searches(noise: Path) -> None:
    process = begin("query", str(noise), "depth <= 8", "--target", "y")
    process.send_signal(signal.SIGINT)
    shown, err = process.communicate(timeout=SLOW_START)
    assert process.returncode == 0, err
    assert "not judged on held-out rows: it was stopped" in shown


def test_the_second_interrupt_ends_the_command_also_in_another_question(tmp_path: Path) -> None:
    code = (
        "import os, signal, threading\n"
        "import everytree as et, numpy as np\n"
        "from everytree.cli.watch import at_work\n"
        "rng = np.random.default_rng(0)\n"
        "space = et.TreeSpace(rng.integers(0, 2, (1000, 100)), rng.integers(0, 2, 1000), 8)\n"
        "for k in range(2):\n"
        "    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    with at_work() as work:\n"
        "        space.best()\n"
        "    print(k, work.stopped, flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SLOW_START)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "0 True\n"), done.stderr


def test_an_average_with_a_limit_keeps_the_deepest_that_was_finished(noise: Path) -> None:
    out = noise.with_name("model.json")
    process = begin(
        "fit", str(noise), "--target", "y", "--method", "bayes", "--max-depth", "none", "--time-limit", "600", "--out",
        str(out),
    )  # fmt: skip
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    shown, err = process.communicate(timeout=SLOW_START)
    assert process.returncode == 0, err
    assert "ended             stopped" in shown
    assert json.loads(out.read_text())["claims"]["depth"] >= 1


def test_signals_that_are_ignored_stay_so(noise: Path) -> None:
    """A command that a script starts in the background (&) ignores the Ctrl-C that is for the one in front."""
    code = (
        "import os, signal, sys\n"
        "for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n"
        "from everytree.common.limits import Limits\n"
        "plain = Limits.control\n"
        "def asked(*given):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return plain(*given)\n"
        "Limits.control = asked\n"
        "import everytree.cli\n"
        "everytree.cli.main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", str(noise), "--target", "y", "--max-depth", "1"],
        capture_output=True, text=True, timeout=SLOW_START,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "stopp" not in done.stdout + done.stderr


def test_a_closed_pipe_is_no_error(noise: Path) -> None:
    model = noise.with_name("model.json")
    everytree = [sys.executable, "-m", "everytree"]
    done = subprocess.run(
        [*everytree, "fit", noise, "--target", "y", "--max-depth", "1", "--out", model], check=True
    )
    assert done.returncode == 0
    command = f"'{sys.executable}' -m everytree predict '{model}' '{noise}' --rows 10 | head -n 1"
    head = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, timeout=SLOW_START
    )
    assert (head.returncode, head.stdout) == (0, "predicted,p_0,p_1\n")
    assert "Traceback" not in head.stderr
    assert "Broken" not in head.stderr
