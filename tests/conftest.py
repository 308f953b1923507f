"""Products with very many cases: `make test` takes a third of them, always the same, and `make test-all` takes all."""

from __future__ import annotations

import signal
from collections import defaultdict
from pathlib import Path
from zlib import crc32

import pytest

# A job of the background inherits that Ctrl-C is ignored, and so would all programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
# Where cases are seeds or a product of options. Elsewhere each case is a thing of its own: a page, a message, a file.
PRODUCTS = ("against_reference", "bayes", "grow", "mcmc", "reference", "test_posterior.py", "test_query.py")
MANY = 40  # cases of one test that are never thinned out


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        inside = item.path.relative_to(HERE).parts if item.path.is_relative_to(HERE) else ("",)
        if inside[0] in PRODUCTS and item.get_closest_marker("slow") is None:
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        # By a hash of its name, so that a case is in or out whatever its neighbours are, and every option is met.
        later = sorted(found, key=lambda item: crc32(item.nodeid.encode()))[max(MANY, len(found) // 3) :]
        for item in later:
            item.add_marker(pytest.mark.slow)
