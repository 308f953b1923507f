"""``everytree study``: runs the experiments of the papers and says where their tables are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from everytree.common.arguments import refused
from everytree.common.limits import threads
from everytree.common.workers import use_backend
from everytree.errors import DataError
from everytree.study.run import run_study, wanted

__all__ = ["show_study"]


def show_study(
    name: str,
    data: Path | None,
    out: Path,
    *,
    quick: bool,
    jobs: int,
    backend: str = "loky",
    fresh: bool,
    sets: Sequence[str] | None,
    parts: Sequence[str] | None,
    trials: int | None,
) -> None:
    """Run one study, or all of them, with a progress bar; print the flags and the files.

    Of all, those that have the wanted sets and parts; one that fails does not keep the next ones from running.
    """
    from rich.console import Console

    threads(jobs)  # a bad number is refused here
    if out.exists() and not out.is_dir():
        raise refused(DataError, "out", str(out), "a folder, or a path that is free")
    console = Console(highlight=False, soft_wrap=True)
    failed = []
    for each, its_sets, its_parts in wanted(name, quick, sets, parts):
        try:
            with use_backend(backend, jobs):
                found = run_study(
                    each,
                    data,
                    out,
                    quick=quick,
                    fresh=fresh,
                    sets=its_sets,
                    parts=its_parts,
                    trials=trials,
                    show=True,
                )
        except KeyboardInterrupt:
            console.print(
                f"{each}: stopped. The folds that were done are kept; the same command goes on from there."
            )
            raise
        except DataError as error:
            if name != "all":
                raise
            console.print(f"{each}: {error}", markup=False)
            failed.append(each)
            continue
        if found.absent:
            console.print(f"Not in the folder of data: {', '.join(found.absent)}", markup=False)
        beside = len(found.report.compared())
        flags = (
            f"; {len(found.report.flags())} of {beside} cells differ from the paper by more than two standard errors"
            if beside
            else ""
        )
        console.print(
            f"{each}: {found.done} of {found.jobs} parts done{flags}\n{found.files[0]}", markup=False
        )
    if failed:
        raise DataError(
            f"no results of {', '.join(failed)}: the reasons are above, all other results in {out}"
        )
