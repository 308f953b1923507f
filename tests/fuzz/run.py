"""Fuzz one target, guided by coverage where atheris is there, by mutations of kept inputs where it is not.

    python tests/fuzz/run.py TARGET --seconds 60 [--corpus build/fuzz]

An input that raises what it should not, takes over two seconds or 500 MB ends the run with exit code 1, and is kept
as crash-TARGET.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import json
import resource
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

SECONDS, BYTES = 2.0, 500 * 2**20


def checked(target, content: bytes) -> None:  # type: ignore[no-untyped-def]
    """Run a target on an input under the budget of time."""
    begin = time.process_time()
    target(content)
    took = time.process_time() - begin
    if took > SECONDS:
        raise TimeoutError(f"{took:.1f} s for {len(content)} bytes")


# What stands in the place of a value of JSON: the ends of what a field may hold, and what it may not.
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 255, 65536, 2**31, 2**53, 10**30, 10**400, 0.5, -0.5, 1e-300, 1e300,
    "", "x", "\ud800", "</script>", [], {}, [0], [[]], {"": 0},
]  # fmt: skip


def changed_json(content: bytes, rng: Random) -> bytes | None:
    """Return JSON with a few values changed, or None: bytes that are changed at random seldom leave it JSON."""
    try:
        root = [json.loads(content)]
    except (ValueError, RecursionError):
        return None
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        holders, at = [root], 0
        while at < len(holders):
            inner = holders[at].values() if isinstance(holders[at], dict) else holders[at]
            holders += [each for each in inner if isinstance(each, list | dict)]
            at += 1
        holder = rng.choice(holders)
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        if not keys:
            continue
        key, kind, some = rng.choice(keys), rng.randrange(6), rng.choice(holders)
        if kind == 0 and holder is not root:
            del holder[key]
        elif kind == 1 and isinstance(holder, list) and holder is not root:
            holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
        elif kind == 2:
            holder[key] = copy.deepcopy(some)
        elif kind == 3 and isinstance(holder[key], int | float) and abs(holder[key]) < 2**53:
            holder[key] += rng.choice((-1, 1, 0.5))
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return json.dumps(root[0]).encode()


def mutated(content: bytes, other: bytes, rng: Random) -> bytes:
    """Return an input with some of its bytes changed, removed, repeated, or taken from another one."""
    if rng.random() < 0.6 and (values := changed_json(content, rng)) is not None:
        return values
    made = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randrange(len(made) + 1)
        kind = rng.randrange(6)
        if kind == 0 and made:
            made[min(at, len(made) - 1)] = rng.randrange(256)
        elif kind == 1:
            del made[at : at + rng.choice((1, 2, 10, 100))]
        elif kind == 2:
            made[at:at] = made[at : at + rng.choice((1, 5, 50))] * rng.choice((1, 2, 100))
        elif kind == 3:
            start = rng.randrange(len(other) + 1)
            made[at:at] = other[start : start + rng.choice((1, 10, 100))]
        elif kind == 4:
            made[at:at] = rng.choice(
                (
                    b"1e308",
                    b"-1",
                    b"NaN",
                    b"null",
                    b"[]",
                    b"{}",
                    b"\x00",
                    b"\xff",
                    b'"',
                    b",",
                    b"9" * 30,
                    b"0.5",
                )
            )
        else:
            digits = [i for i, byte in enumerate(made) if 48 <= byte <= 57]
            if digits:
                made[rng.choice(digits)] = rng.randrange(48, 58)
    return bytes(made[:200_000])


def by_mutation(name: str, seconds: float, corpus: Path, seed: int) -> int:
    from targets import TARGETS, seeds

    rng, kept = Random(seed), seeds(name)
    corpus.mkdir(parents=True, exist_ok=True)
    kept += [path.read_bytes() for path in sorted(corpus.iterdir())]
    end, tried = time.monotonic() + seconds, 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    while time.monotonic() < end:
        content = mutated(rng.choice(kept), rng.choice(kept), rng)
        tried += 1
        try:
            checked(TARGETS[name], content)
            if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > before + BYTES:
                raise MemoryError("over the budget of memory")
        except Exception:
            traceback.print_exc()
            Path(f"crash-{name}").write_bytes(content)
            print(f"{name}: input {tried} of seed {seed} is kept as crash-{name}")
            return 1
    print(f"{name}: {tried} inputs in {seconds:g} s, none broke it")
    return 0


def ours() -> list:  # type: ignore[type-arg]
    """Return every function and method of the library that is loaded."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("everytree"):
            for value in vars(module).values():
                members = vars(value).values() if inspect.isclass(value) else [value]
                for each in members:
                    function = getattr(each, "__func__", each)
                    if inspect.isfunction(function) and function.__module__.startswith("everytree"):
                        found[id(function)] = function
    return list(found.values())


def by_coverage(name: str, seconds: float, corpus: Path) -> None:
    import atheris
    from targets import TARGETS, seeds

    for function in ours():  # hooks on imports do not see the files of an editable install
        atheris.instrument_func(function)
    corpus.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(seeds(name)):
        (corpus / f"seed-{number}").write_bytes(content)
    limits = [f"-max_total_time={int(seconds)}", "-timeout=20", "-rss_limit_mb=3000", "-max_len=20000"]
    arguments = [sys.argv[0], str(corpus), *limits]

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        rng = Random(seed)
        made = changed_json(content, rng) if rng.random() < 0.6 else None
        return atheris.Mutate(content, most) if made is None or len(made) > most else made

    atheris.Setup(arguments, lambda content: checked(TARGETS[name], content), custom_mutator=mutate)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--corpus", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    corpus = args.corpus / args.target
    try:
        import atheris  # noqa: F401
    except ImportError:
        return by_mutation(args.target, args.seconds, corpus, args.seed)
    by_coverage(args.target, args.seconds, corpus)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
