"""Ask every call of the harness on every scale under every kind of limit, and write the table of what it took.

``python -m limit_harness.table --out FILE`` (from tests/) takes an hour on a quiet core. What must hold there: time at
most 50 ms or 5 % over its limit, memory at most 10 % over, an end at most 100 ms after Ctrl-C. On a busy machine
the processor time is what tells.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .calls import CALLS
from .scales import SCALES

__all__ = ["KINDS", "faults", "run"]

TESTS = Path(__file__).parents[1]
# Kind → the limit that is set: seconds, bytes, seconds until the signal.
KINDS = {"time": 0.25, "memory": 64e6, "interrupt": 0.25}
SIGNAL = 0.1  # seconds from Ctrl-C to the end


def questions(calls: list[str], scales: list[str], kinds: list[str]) -> Iterator[tuple[str, str, str]]:
    for name in calls:
        for scale in scales:
            if scale not in CALLS[name].not_on:
                for kind in kinds:
                    if kind not in CALLS[name].without:
                        yield name, scale, kind


def run(call: str, scale: str, kind: str, timeout: float = 120) -> dict[str, object]:
    """Return one measurement; a process that does not come back, or dies, is told as such."""
    command = [sys.executable, "-m", "limit_harness.measure", call, scale, kind, str(KINDS[kind])]
    line: dict[str, object] = {"call": call, "scale": scale, "kind": kind, "value": KINDS[kind]}
    try:
        done = subprocess.run(
            command, cwd=TESTS, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return line | {"ended": f"not in {timeout:g} s"}
    if done.returncode:
        return line | {"ended": f"exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"}
    return json.loads(done.stdout.splitlines()[-1])


def faults(line: dict[str, object], busy: bool) -> list[str]:
    """Return what a measurement breaks; on a busy machine seconds are those of the processor."""
    if "seconds" not in line:
        return [str(line["ended"])]
    seconds = float(line["cpu"] if busy else line["seconds"])
    value, found = float(line["value"]), []
    if line["kind"] == "time" and seconds > value + max(0.05, 0.05 * value):
        found.append(f"{seconds:.2f} s at a limit of {value:g} s")
    if line["kind"] == "memory" and line["bytes"] > 1.1 * value:
        found.append(f"{line['bytes'] / 1e6:.0f} MB at a limit of {value / 1e6:.0f} MB")
    if line["kind"] == "interrupt" and line["after_signal"] is not None:
        late = (
            min(float(line["after_signal"]), max(0.0, float(line["cpu"]) - value))
            if busy
            else float(line["after_signal"])
        )
        if late > SIGNAL:
            found.append(f"{late:.2f} s after Ctrl-C")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", nargs="*", default=list(CALLS))
    parser.add_argument("--scales", nargs="*", default=list(SCALES))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--busy", action="store_true", help="judge by processor time")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    lines = [
        "| call | scale | limit | ended | seconds | CPU s | MB | after Ctrl-C | |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    bad = 0
    for name, scale, kind in questions(args.calls, args.scales, args.kinds):
        line = run(name, scale, kind)
        wrong = faults(line, args.busy)
        bad += bool(wrong)
        after = line.get("after_signal")
        lines.append(
            f"| {name} | {scale} | {kind} | {line['ended']} | {line.get('seconds', '')} | {line.get('cpu', '')} | "
            f"{float(line.get('bytes', 0)) / 1e6:.0f} | {'' if after is None else after} | {'; '.join(wrong)} |"
        )
        print(lines[-1], flush=True)
        if args.out:
            args.out.write_text("\n".join(lines) + "\n")
    print(f"{len(lines) - 2 - bad} held, {bad} broken")


if __name__ == "__main__":
    main()
