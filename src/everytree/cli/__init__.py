"""The ``everytree`` command. It uses only the public API; each command is a file of its own.

Nothing heavy is imported before a command runs, so that ``everytree --help`` answers at once.

exit code 0     done; also where a limit or Ctrl-C ended a search that then answered with its best so far, and says so
          1     a check failed: a claim of ``verify`` is false
          2     bad input or arguments: one message, nothing written
          130   interrupted before there was an answer; also where Ctrl-C ended ``explore``
          141   who reads its output has closed the pipe (``predict`` takes that for its end: 0)
          143   SIGTERM ended it, in order: nothing half-written is left

Where stdout or stderr is closed, or stderr full, nothing more can be said there, and the exit code is what it would be;
an answer that stdout cannot take is an error (2).
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from everytree.cli.later import later
from everytree.cli.refusal import Refusal
from everytree.cli.streams import drop
from everytree.errors import EverytreeError

__all__ = ["main"]

PIPE_CLOSED = 141  # 128 + SIGPIPE, as a shell has it


def main() -> None:
    """Run the command line; every expected failure is one clear message and a non-zero exit code."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows "?" instead
    main_thread = threading.current_thread() is threading.main_thread()  # no other may set what a signal does
    main_thread = main_thread and signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, None)
    before = signal.signal(signal.SIGTERM, _terminated) if main_thread else None
    try:
        try:
            later("app.app")(prog_name="everytree")  # loaded here, so that Ctrl-C is heard meanwhile too
        finally:
            sys.stdout.flush()  # what cannot be written is told here, and not when Python ends
            try:
                sys.stderr.flush()
            except BrokenPipeError:
                raise
            except OSError:  # a remark that nobody can read
                drop(sys.stderr)
    except SystemExit as ended:
        # typer's answer to a closed pipe is 1, which is that of a check
        if isinstance(ended.__context__, BrokenPipeError):
            _end(PIPE_CLOSED)
        raise
    except BrokenPipeError:
        _end(PIPE_CLOSED)
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


def _open_closed_streams() -> None:
    """Put nothing in the place of streams that are closed (``2>&-``): None, which Python has there, can do nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # in the order of their numbers
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _end(exit_code: int) -> NoReturn:
    """End; what a stream still holds and cannot write is dropped, which Python would make an error of its own."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            drop(stream)
    sys.exit(exit_code)


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
        with suppress(OSError):
            print(json.dumps({"error": text} | fields, ensure_ascii=False))
    with suppress(OSError):
        print(f"everytree: {text}", file=sys.stderr)
    _end(exit_code)
