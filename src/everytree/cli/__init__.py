"""The ``everytree`` command. It uses only the public API; each command is a file of its own.

Nothing heavy is imported before a command runs, so that ``everytree --help`` answers at once.

exit code 0     done; also where a limit or Ctrl-C ended a search that then answered with its best so far, and says so
          1     a check failed: a claim of ``verify`` is false
          2     bad input or arguments: one message, nothing written
          130   interrupted before there was an answer; also where Ctrl-C ended ``explore``
          143   SIGTERM ended ``explore``
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; every expected failure is one clear message and a non-zero exit code."""
    import io
    import sys

    from everytree.errors import EverytreeError, LimitReached

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows "?" and goes on
    try:
        from everytree.cli.app import app

        app(prog_name="everytree")
    except KeyboardInterrupt:
        sys.exit(130)
    except LimitReached as limit:
        stopped = limit.reason == "stopped"
        text = (
            "stopped before there was an answer; with --time-limit the best so far is kept"
            if stopped
            else str(limit)
        )
        _fail(text, 130 if stopped else 2)
    except MemoryError:
        _fail("out of memory; use fewer columns (--drop), fewer --bins or a smaller --max-depth", 2)
    except OSError as error:
        named = error.filename is not None and error.strerror is not None
        _fail(f"{error.filename}: {error.strerror}" if named else str(error), 2)
    except (EverytreeError, ImportError, ValueError) as error:
        _fail(str(error), 2)


def _fail(text: str, code: int) -> None:
    import json
    import sys

    from everytree.cli.data import in_options

    text = in_options(text)
    if "--json" in sys.argv:
        print(json.dumps({"error": text}, ensure_ascii=False))
    print(f"everytree: {text}", file=sys.stderr)
    sys.exit(code)
