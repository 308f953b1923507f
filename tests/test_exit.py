"""The interpreter may end while a daemon thread works in the core: the process ends as it should, without abort."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

PATIENCE = 240  # seconds: some children at once, on a busy machine, with sanitizers

CHILD = """
import sys, threading, time
import numpy as np
import everytree._core as core
from everytree.space.tree_space import TreeSpace

rng = np.random.default_rng(0)
X, y = rng.integers(0, 2, (1000, 200)).astype(np.uint8), rng.integers(0, 2, 1000)
what, tell = {what!r}, {tell}
progress = (lambda *told: sum(range(2000))) if tell else None
space = TreeSpace(X, y, 5, 10, progress=progress, n_jobs={n_jobs})

def work():
    try:
        if what == "often":
            while True:
                TreeSpace(X[:, :20], y, 2, 10, progress=progress).posterior()
        elif what == "table":
            rows, counts = np.zeros((100, 20_000), np.uint8), np.ones((100, 2), np.int64)
            while True:
                core.CountTable(rows, counts, core.Control())
        elif what == "collapsed":
            space.collapsed(n_draws=10**6)
        else:
            getattr(space, what)()
    except Exception:
        pass

threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
sys.exit(3)
"""


QUESTIONS = [
    ("posterior", 1, False),
    ("posterior", 1, True),
    ("best", 2, True),
    ("collapsed", 2, False),
    ("often", 1, True),
    ("table", 1, False),
]


def test_the_interpreter_ends_during_a_question() -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD.format(what=what, n_jobs=n_jobs, tell=tell)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for what, n_jobs, tell in QUESTIONS
    ]
    for question, child in zip(QUESTIONS, children, strict=True):
        _, errors = child.communicate(timeout=PATIENCE)
        assert (child.returncode, errors) == (3, ""), question


def test_a_callback_that_does_not_return_is_not_waited_for_for_ever() -> None:
    script = CHILD.format(what="posterior", n_jobs=1, tell=True).replace(
        "sum(range(2000))", "time.sleep(0.3)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 3, run.stderr


@pytest.mark.parametrize("body", ["while True: pass", "while True: time.sleep(0.001)"])
def test_a_callback_that_never_returns_does_not_abort(body: str) -> None:
    """Python ends its thread inside of C++, and an unwound stack of C++ aborts the process."""
    script = CHILD.format(what="posterior", n_jobs=2, tell=True)
    script = script.replace("(lambda *told: sum(range(2000)))", "endless")
    script = f"import time\ndef endless(*told):\n    {body}\n{script}"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (run.returncode, run.stderr) == (3, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_question_goes_on_in_a_fork_made_by_its_callback() -> None:
    script = CHILD.format(what="posterior", n_jobs=1, tell=True).replace("(1000, 200)", "(800, 150)")
    forks = """
import os
children, parent = [], os.getpid()
def progress(*told):
    if not children:
        children.append(os.fork())
evidence = TreeSpace(X, y[:800], 4, 10, progress=progress).posterior().log_evidence
if os.getpid() == parent:
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
print(evidence)
"""
    script = script.partition("progress =")[0] + forks
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    child, parent = run.stdout.split()
    assert child == parent


OTHERS = """
import sys, threading, time
import numpy as np
import everytree._core
numbers = np.arange(2000) % 7

def work():
    while True:
        np.unique(numbers)  # C++ without the interpreter's lock

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
sys.exit(3)
"""


def test_the_interpreter_ends_while_threads_are_in_cpp_of_another_library() -> None:
    for _ in range(3):
        run = subprocess.run([sys.executable, "-c", OTHERS], capture_output=True, text=True, timeout=PATIENCE)
        assert (run.returncode, run.stderr) == (3, "")


def test_what_is_alive_at_the_end_is_not_told_of() -> None:
    script = """
import gc
import numpy as np
import everytree as et
kept = et.TreeSpace(np.eye(4, dtype=np.uint8), np.array([0, 1, 0, 1]), 2).posterior()
gc.freeze()  # as servers do before they fork
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (run.returncode, run.stderr) == (0, "")


def test_a_subinterpreter_is_refused() -> None:
    script = """
import _xxsubinterpreters as interpreters
one = interpreters.create()
try:
    interpreters.run_string(one, "import everytree._core")
except Exception as error:
    print(error)
"""
    try:
        import _xxsubinterpreters  # noqa: F401
    except ImportError:
        pytest.skip("this Python has no such module")
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    assert "ImportError" in run.stdout
    assert "subinterpreter" in run.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_of_a_busy_process_ends_at_once() -> None:
    """The child has the parent's counts of busy threads, but not the threads."""
    script = CHILD.format(what="posterior", n_jobs=1, tell=False).replace(
        "sys.exit(3)",
        """
import os
child = os.fork()
if child == 0:
    begin = time.monotonic()
    core._stop_work()  # as atexit does: it waits for ten seconds at most
    sys.exit(5 if time.monotonic() - begin < 5 else 6)
sys.exit(3 if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5 else 4)
""",
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 3, run.stderr


SLEEPER = """
import signal, sys, threading, time
import numpy as np
from everytree.space.tree_space import TreeSpace

rng = np.random.default_rng(0)
X, y = rng.integers(0, 2, (1000, 60)).astype(np.uint8), rng.integers(0, 2, 1000)
mask = []

def work():
    # The threads of the core have what this one blocks.
    space = TreeSpace(X, y, 5, 5, n_jobs=2, progress=lambda *told: mask.append(signal.pthread_sigmask(0, [])))
    try:
        space.collapsed(n_draws=10**6)
    except Exception:
        pass

before = signal.pthread_sigmask(0, [])
thread = threading.Thread(target=work, daemon=True)
thread.start()
while not mask:
    time.sleep(0.01)
assert signal.pthread_sigmask(0, []) == before, "the main thread takes signals as before"
assert {signal.SIGINT, signal.SIGTERM} <= mask[0], mask
sys.exit(3)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals are POSIX's here")
def test_threads_in_the_core_leave_signals_to_the_main_one() -> None:
    """A thread that starts others may take a signal, of which a main thread that sleeps then does not hear."""
    run = subprocess.run([sys.executable, "-c", SLEEPER], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 3, run.stderr


LATE = """
import atexit, threading, time
asked = threading.Event()

def after_the_core():  # what was registered first comes last
    asked.set()
    time.sleep(0.5)
    try:
        space.best()
    except et.LimitReached as limit:
        print("main thread:", limit.reason)

atexit.register(after_the_core)
import numpy as np
import everytree as et
rng = np.random.default_rng(0)
space = et.TreeSpace(rng.integers(0, 2, (50, 5)).astype(np.uint8), rng.integers(0, 2, 50), 2)
space.best()

def ask():
    asked.wait()
    try:
        space.best()
    finally:
        print("another thread went on")

threading.Thread(target=ask, daemon=True).start()
"""


def test_a_thread_that_asks_at_the_end_sleeps_and_only_the_main_one_has_an_error() -> None:
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout.strip()) == (0, "main thread: stopped"), done.stderr
