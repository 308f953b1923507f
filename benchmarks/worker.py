"""A process that solves benchmark jobs: one JSON object per line in, one JSON object per line out.

    {"solver": "everytree", "task": "depth", "file": "vote", "depth": 3, "cap": 120}
    {"seconds": 0.0021, "error": 12, "size": 15}

Started by ``harness.Worker``; an optional argument limits the address space (bytes).
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def solve(job: dict[str, Any]) -> dict[str, Any]:
    """One job; whatever goes wrong is an answer too."""
    import solvers

    name, task = job.pop("solver"), job.pop("task")
    try:
        return dict(solvers.SOLVERS[name][task](**job))
    except solvers.OverLimit as limit:
        return {"limit": str(limit)}
    except MemoryError:
        return {"limit": "memory"}
    except Exception as problem:  # the report shows it; the next job is another matter
        return {"failed": f"{type(problem).__name__}: {problem}"[:300]}


def main() -> None:
    if len(sys.argv) > 1:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
    # Solvers print what they like on standard output, from C++ too: keep it away from the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(solve(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
