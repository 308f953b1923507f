"""Whether Ctrl-C has stopped a question of the command that runs; the next one ends the command."""

from __future__ import annotations

import threading

__all__ = ["heard"]

heard = threading.Event()
