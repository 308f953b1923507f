"""The ``everytree`` command. It uses only the public API; each command is a file of its own.

Nothing heavy is imported before a command runs, so that ``everytree --help`` answers at once.
"""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; every expected failure is one clear line and a non-zero exit code."""
    import io
    import sys

    from everytree.errors import EverytreeError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows "?" and goes on
    try:
        from everytree.cli.app import app

        app(prog_name="everytree")
    except (EverytreeError, ImportError, OSError, ValueError) as error:
        print(f"everytree: {error}", file=sys.stderr)
        sys.exit(1)
