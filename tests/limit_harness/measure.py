"""Ask one call of the harness under one limit, and print what it took as a line of JSON.

``python -m limit_harness.measure CALL SCALE KIND VALUE [SCALE KIND VALUE ...]`` (from tests/): KIND is time (seconds),
memory (bytes) or interrupt (seconds until SIGINT). Every measurement has a process of its own, because a peak of
memory and a signal belong to the whole process: a fork of this one, so that libraries are imported once (two seconds
of the processor, which is more than most measurements).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

from everytree.common.limits import Limits
from everytree.errors import EverytreeError, LimitReached

from .registry import CALLS
from .scales import SCALES, SMALL

__all__ = ["measured"]

PATIENCE = 10.0  # seconds for a question whose memory is limited: a little memory may be enough for ever
BETWEEN = 0.15  # seconds between two signals: what comes sooner may be one to Python
TIMEOUT = 120.0  # seconds for one measurement, with what makes it ready


def resident(name: str) -> int:
    """Return a number of bytes that Linux tells of this process."""
    return int(re.search(name + r":\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024


def measured(call: str, scale: str, kind: str, value: float) -> dict[str, object]:
    """Return how the call ended, its seconds, the bytes at its peak, and the seconds from the signal to its end."""
    warnings.simplefilter("ignore")
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a job of the background inherits that it is ignored
    limits = {
        "time": lambda: Limits(time_limit=value),
        "memory": lambda: Limits(time_limit=PATIENCE, memory_limit=int(value)),
        "interrupt": Limits,
    }[kind]()
    ask = CALLS[call].ready(SCALES[scale], limits)
    Path("/proc/self/clear_refs").write_text("5")
    before = resident("VmRSS")
    sent: list[float] = []

    def send() -> None:
        for left in reversed(range(CALLS[call].signals)):
            if not left:
                sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(BETWEEN if left else 0)

    timer = threading.Timer(value, send) if kind == "interrupt" else None
    cpu, begin = time.process_time(), time.perf_counter()
    try:
        if timer:
            timer.start()
        ask()
        ended = "answered"
    except LimitReached as limit:
        ended = limit.reason
    except KeyboardInterrupt:
        ended = "interrupted"
    except EverytreeError as error:
        # What is refused for another reason than a limit was never asked.
        ended = f"{'refused' if 'limit' in str(error) else 'wrong question'}: {error}"[:120]
    now = time.perf_counter()
    if timer:
        timer.cancel()
    return {
        "call": call, "scale": scale, "kind": kind, "value": value, "ended": ended, "seconds": round(now - begin, 4),
        "cpu": round(time.process_time() - cpu, 4), "bytes": resident("VmHWM") - before,
        "after_signal": round(now - sent[0], 4) if sent else None,
    }  # fmt: skip


def warm(call: str) -> None:
    """Import what the call imports when it is first asked: libraries belong to no question."""
    warnings.simplefilter("ignore")
    import sklearn.tree  # noqa: F401  # what a small table never needs

    with contextlib.suppress(EverytreeError):
        CALLS[call].ready(SMALL, Limits(time_limit=0.2))()


def forked(call: str, scale: str, kind: str, value: float) -> str:
    """Return the measurement of a child as JSON; a child that does not come back, or dies, is told as such."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        try:
            # A fork begins without the pages of the libraries' code: 9 MB of them would be counted as the call's.
            warm(call)
            with os.fdopen(write, "w") as out:
                out.write(json.dumps(measured(call, scale, kind, value)))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        killer = threading.Timer(TIMEOUT, os.kill, (child, signal.SIGKILL))
        killer.start()
        text = told.read()
        killer.cancel()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ended = f"not in {TIMEOUT:g} s" if code == -signal.SIGKILL else f"exit {code}"
    return text or json.dumps({"call": call, "scale": scale, "kind": kind, "value": value, "ended": ended})


if __name__ == "__main__":
    warm(sys.argv[1])
    for at in range(2, len(sys.argv), 3):
        print(forked(sys.argv[1], *sys.argv[at : at + 2], float(sys.argv[at + 2])), flush=True)
