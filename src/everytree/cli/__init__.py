"""The ``everytree`` command. It uses only the public API; each command is a file of its own.

Nothing heavy is imported before a command runs, so that ``everytree --help`` answers at once.

exit code 0     done; also where a limit or Ctrl-C ended a search that then answered with its best so far, and says so
          1     a check failed: a claim of ``verify`` is false
          2     bad input or arguments: one message, nothing written
          130   interrupted before there was an answer; also where Ctrl-C ended ``explore``
          143   SIGTERM ended it, in order: nothing half-written is left
"""

from __future__ import annotations

import io
import json
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

from everytree.cli.later import later
from everytree.cli.refusal import Refusal
from everytree.errors import EverytreeError

__all__ = ["main"]


def main() -> None:
    """Run the command line; every expected failure is one clear message and a non-zero exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows "?" instead
    main_thread = threading.current_thread() is threading.main_thread()  # no other may set what a signal does
    before = signal.signal(signal.SIGTERM, _terminated) if main_thread else None
    try:
        later("app.app")(prog_name="everytree")  # loaded here, so that Ctrl-C is heard meanwhile too
    except Refusal as refusal:
        _refuse(refusal)
    except KeyboardInterrupt:
        sys.exit(130)
    except MemoryError:
        _fail("out of memory; use fewer columns (--drop), fewer --bins or a smaller --max-depth", 2)
    except OSError as error:
        named = error.filename is not None and error.strerror is not None
        _fail(f"{error.filename}: {error.strerror}" if named else str(error), 2)
    except (EverytreeError, ImportError, ValueError) as error:
        _fail(str(error), 2)
    finally:
        if main_thread:
            signal.signal(signal.SIGTERM, before)


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    """End at SIGTERM as at Ctrl-C, by an exception, so that drafts of files are removed and questions stopped."""
    sys.exit(128 + number)


def _refuse(refusal: Refusal) -> None:
    """Report an error of the library in the words of the command; programs also get its code and the option."""
    fields = dict(refusal.fields)
    exit_code = 2
    if getattr(refusal.error, "reason", "") == "stopped":
        fields["error"] = "stopped before there was an answer; with --time-limit the best so far is kept"
        exit_code = 130
    _fail(str(fields.pop("error")), exit_code, **fields)


def _fail(text: str, exit_code: int, **fields: str | None) -> NoReturn:
    if "--json" in sys.argv:
        print(json.dumps({"error": text} | fields, ensure_ascii=False))
    print(f"everytree: {text}", file=sys.stderr)
    sys.exit(exit_code)
