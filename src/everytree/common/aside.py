"""Work of other libraries that looks at no signal, where Ctrl-C must not wait for it.

Python runs signal handlers between two of its own instructions, and a compiled function may be one instruction of a
second. So the work goes to another thread, and the main one waits, which Ctrl-C ends. The work itself goes on to its
end: its thread is joined before the interpreter ends, because ending inside foreign code may abort the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["aside"]

T = TypeVar("T")


def aside(work: Callable[[], T]) -> T:
    """Return what ``work()`` returns; Ctrl-C ends the wait for it at once, if it gives the interpreter's lock away.

    >>> aside(lambda: 6 * 7)
    42
    """
    if threading.current_thread() is not threading.main_thread():  # signals are none of its business
        return work()
    pool = ThreadPoolExecutor(1, thread_name_prefix="everytree-aside")
    try:
        return pool.submit(work).result()
    finally:
        pool.shutdown(wait=False)
