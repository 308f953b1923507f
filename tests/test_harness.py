"""The harness of limits knows every public call, and the calls hold their limits on the base table.

Times are judged by the processor here, with room, because the tests run side by side; the whole table, on every
scale, is ``python -m limit_harness.table`` (from tests/), whose last run is in benchmarks/results/limits.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import everytree as et
from everytree.cli.app import app
from limit_harness.exempt import CLASSES, COMMANDS, NAMES
from limit_harness.registry import CALLS
from limit_harness.table import KINDS, faults, run

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of memory is read as Linux tells it"
)


def public_names() -> Iterator[str]:
    """Yield every function of the package and every method and property of its classes that is ours and public."""
    yield from (f"cluster.{name}" for name in et.cluster.__all__)
    yield from (
        f"everytree {command.name or command.callback.__name__}" for command in app.registered_commands
    )
    for name in dir(et):
        if name.startswith("_"):
            continue
        value = getattr(et, name)
        if not inspect.isclass(value):
            yield name
        elif name not in CLASSES:
            ours = [base for base in value.__mro__ if base.__module__.startswith("everytree")]
            yield from (
                f"{name}.{member}"
                for member, found in inspect.getmembers(value)
                if not member.startswith("_")
                and (callable(found) or isinstance(found, property))
                and any(member in vars(base) for base in ours)
            )


def test_every_public_call_is_in_the_harness_or_exempt_with_a_reason() -> None:
    stood_for = {name for call in CALLS.values() for name in call.names}
    missing = [
        name
        for name in public_names()
        if name not in stood_for
        and name not in NAMES
        and name.removeprefix("everytree ") not in COMMANDS
        and "*." + name.split(".")[-1] not in NAMES
    ]
    assert not missing, "add each to a module of tests/limit_harness, or to exempt.py with the reason"


def test_what_is_exempt_or_stood_for_exists() -> None:
    there = set(public_names())
    last = {name.split(".")[-1] for name in there}
    named = {name for call in CALLS.values() for name in call.names if " " not in name} | set(NAMES)
    gone = [name for name in named if name not in there and not (name.startswith("*.") and name[2:] in last)]
    assert not gone
    assert not [name for name in CLASSES if not hasattr(et, name)]


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", CALLS)
def test_limits_hold_on_the_base_table(call: str, kind: str) -> None:
    if "base" in CALLS[call].not_on:
        pytest.skip("not asked on the base table")
    if kind in CALLS[call].without:
        pytest.skip(f"takes no limit of {kind}")
    assert not faults(run(call, ("base", kind))[0], busy=True)
