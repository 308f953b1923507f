"""Kill processes at random moments while they work, and count how they end.

    python -m kills.run [--kills N] [--first K] [--seed S] [--works NAME ...]   (from tests/; ``make test-kills``: 10^4)

This process imports everything once and forks a child for each kill, so that thousands are feasible. A child works
(``works.py``), gets SIGINT, SIGTERM or SIGKILL at a random moment, or SIGINT twice, or ends by itself while its threads
work; but for SIGKILL and a plain SIGTERM it goes through the whole end of the interpreter. What must hold:

- it ends by that signal, or with the exit code that belongs to it, within ``PATIENCE``: no abort, no fault, no hang;
- it says nothing of a fatal error;
- the files it writes hold one of the texts that were being written, whole, and no draft outlives the next writing.

The first child that breaks one of them is printed with its number (seed and number make it again), and the exit code
is 1.
"""

from __future__ import annotations

import argparse
import gc
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

import everytree as et
from kills.works import WORKS, Known

__all__ = ["killed"]

PATIENCE = 30.0  # seconds from the signal to the end: far more than any end takes, on a busy machine too
LONGEST = 0.06  # seconds that a child works before it is killed, at most
ENDS = ("SIGINT", "SIGTERM", "SIGKILL", "SIGINT twice", "by itself")
# By the signal itself, or as the command line and the explorer end: 128 + its number.
EXPECTED = {
    "SIGINT": {-signal.SIGINT, 130},
    "SIGTERM": {-signal.SIGTERM, 143},
    "SIGKILL": {-signal.SIGKILL},
    "SIGINT twice": {-signal.SIGINT, 130},
    "by itself": {3},
}
FATAL = (
    b"terminate called",
    b"Fatal Python error",
    b"Segmentation fault",
    b"AddressSanitizer",
    b"runtime error:",
)


class Told(Exception):
    """In a child: leave the loop of the parent, and end as a program does."""


def child(name: str, how: str, known: Known, begun: int, wait: float) -> int:
    """Work until a signal comes, and return the exit code for it."""

    def tell() -> None:
        os.write(begun, b".")

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if how == "by itself":  # the main thread leaves while its daemon threads work
            signal.signal(signal.SIGALRM, lambda *_: sys.exit(3))
            signal.setitimer(signal.ITIMER_REAL, max(1e-3, wait), 1.0)
        WORKS[name](known, tell)
    except KeyboardInterrupt:
        return 130
    except SystemExit as ended:
        signal.setitimer(signal.ITIMER_REAL, 0)  # at its end Python gives signals back to the system
        return ended.code if isinstance(ended.code, int) else 1
    return 0


def checked_files(known: Known, texts: set[bytes]) -> str | None:
    """Return what is wrong with the files that children write, and write them once more."""
    model = known.folder / "model.json"
    if model.exists() and model.read_bytes() not in texts:
        return "the model file is neither of those that were written"
    table = known.folder / "table.npz"
    if table.exists():
        et.Table.load(table)
    known.models[0].save(model)
    et.Table.from_arrays(known.X[:50], known.y[:50]).save(table)
    left = [name for name in os.listdir(known.folder) if name.endswith(".tmp")]
    return f"drafts are left: {left}" if left else None


def killed(known: Known, name: str, how: str, rng: Random, texts: set[bytes]) -> tuple[str, str | None]:
    """Kill one child; return how it ended, and what is wrong with that."""
    said = known.folder / "stderr"
    read, write = os.pipe()
    wait = rng.random() ** 2 * LONGEST
    process = os.fork()
    if not process:
        os.close(read)
        handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, 2)
        raise Told(child(name, how, known, write, wait))
    os.close(write)
    select.select([read], [], [], PATIENCE)  # it has begun, or ended
    os.close(read)
    if how != "by itself":
        time.sleep(wait)
        os.kill(process, getattr(signal, how.split()[0]))
        if how == "SIGINT twice":
            time.sleep(rng.random() ** 2 * LONGEST)
            os.kill(process, signal.SIGINT)  # a zombie takes it, too
    watch = os.pidfd_open(process)
    in_time = bool(select.select([watch], [], [], PATIENCE / 3)[0])
    if not in_time and how.startswith("SIGINT"):
        # Python drops what a signal raises inside a finaliser (__del__): whoever waits presses Ctrl-C once more.
        os.kill(process, signal.SIGINT)
    in_time = in_time or bool(select.select([watch], [], [], PATIENCE)[0])
    os.close(watch)
    if not in_time:
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    ended = f"{how}: {signal.Signals(-code).name if code < 0 else f'exit {code}'}"
    if not in_time:
        return ended, f"no end in {PATIENCE:g} s"
    errors = said.read_bytes()
    if any(word in errors for word in FATAL) or code not in EXPECTED[how]:
        return ended, errors.decode("utf-8", "replace")[-2000:] or "an end that does not belong to its signal"
    if name.startswith("save"):
        return ended, checked_files(known, texts)
    return ended, None


def run(kills: int, first: int, seed: int, works: list[str], folder: Path) -> int:
    known = Known.made(folder)
    texts = set()
    for model in known.models:
        model.save(folder / "model.json")
        texts.add((folder / "model.json").read_bytes())
    gc.freeze()  # else every child looks through all that was imported when it ends: half a second
    ends: Counter[str] = Counter()
    begin = told = time.monotonic()
    for number in range(first, first + kills):
        rng = Random(f"{seed} {number}")
        name, how = works[number % len(works)], rng.choice(ENDS)
        ended, wrong = killed(known, name, how, rng, texts)
        ends[ended] += 1
        if wrong:
            print(f"kill {number} of seed {seed}, {name}, {ended}: {wrong}")
            return 1
        if time.monotonic() - told > 60:
            told = time.monotonic()
            print(f"{number + 1 - first:,} kills, none wrong", flush=True)
    print(
        f"{kills:,} kills of {len(works)} works in {time.monotonic() - begin:.0f} s: 0 aborts, 0 half files"
    )
    print("; ".join(f"{how} {n}" for how, n in sorted(ends.items())))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10_000)
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the first kill, to go on or to repeat one"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--works", nargs="*", default=list(WORKS), choices=list(WORKS))
    args = parser.parse_args()
    folder, parent = tempfile.mkdtemp(), os.getpid()
    try:
        return run(args.kills, args.first, args.seed, args.works, Path(folder))
    finally:
        if os.getpid() == parent:  # children leave by this way, too
            shutil.rmtree(folder)
            gc.unfreeze()


if __name__ == "__main__":
    try:
        code = main()
    except Told as told:
        code = int(told.args[0])
    sys.exit(code)
