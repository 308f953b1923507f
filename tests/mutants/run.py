"""Try mutants, and write what became of them: ``python -m mutants.run verify`` or ``core`` (from tests/).

Those of the checker run in this process's children: the heavy libraries are imported once, a child reads the mutated
module instead of the one on disk, and runs the tests of the table until one fails. No file is changed. Of the
core only the rooms that hold the mutated lines are compiled, in build/mutants, and linked before the library of
build/dev (``make build``), to a C++ test, or to the module of Python for a file of Python tests.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import time
from importlib.machinery import SourceFileLoader
from pathlib import Path

from . import of_core, of_verify
from .mutant import ROOT, Mutant

TABLES = {"verify": of_verify.MUTANTS, "core": of_core.MUTANTS}
BUILD = ROOT / "build" / "mutants"


# --- the checker


def in_child(mutant: Mutant, seconds: float) -> str:
    """Run the tests of a mutant in a child of this process: killed, survived, or not ended in time."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = run_mutated(mutant)
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return {0: "survived", 1: "killed"}.get(code, f"ended with {code}")
        time.sleep(0.1)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return f"no end in {seconds:g} s"


def run_mutated(mutant: Mutant) -> int:
    import pytest  # what the parent has imported already

    source, place = mutant.mutated(), str(ROOT / mutant.file)
    genuine = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> object:
        return compile(source, place, "exec") if loader.path == place else genuine(loader, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]
    for name in [each for each in sys.modules if each.startswith("everytree.verify")]:
        del sys.modules[name]
    import everytree
    import everytree.verify as mutated

    everytree.verify_model = mutated.verify_model
    tests = [str(ROOT / "tests" / each) for each in mutant.tests.split()]
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    return int(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-W", "ignore", *tests]))


# --- the core


def compiled(source: Path, made: Path, *folders: Path) -> bool:
    """Compile one file, with these folders before the core; -O1 is quick to compile and no slower to fail."""
    options = [
        "-std=c++20",
        "-O1",
        "-fPIC",
        *(f"-I{each}" for each in (*folders, ROOT / "core", ROOT / "core" / "tests")),
    ]
    done = subprocess.run([compiler(), *options, "-c", source, "-o", made], check=False, capture_output=True)
    return done.returncode == 0


def compiler() -> str:
    """Return the compiler that the build uses."""
    said = (ROOT / ".venv" / "compiler.sh").read_text(encoding="utf-8")
    return next(line.split('"')[1] for line in said.splitlines() if "CXX=" in line)


def in_core(mutant: Mutant, seconds: float) -> str:
    """Compile what holds the mutated lines, and link it before the library of the build: its copy is not used."""
    changed = BUILD / f"changed-{os.getpid()}"  # others may try mutants too
    shutil.rmtree(changed, ignore_errors=True)
    place = changed / Path(mutant.file).relative_to("core")
    place.parent.mkdir(parents=True)
    place.write_text(mutant.mutated(), encoding="utf-8")
    objects = []
    # The library holds one object for each room (core/CMakeLists.txt): the linker takes all of it or nothing, so that
    # all files of the room of a mutated one are compiled too.
    for room in sorted({Path(name).parent for name in mutant.compiles.split() or [mutant.file]}):
        files = [place if str(source.relative_to(ROOT)) == mutant.file else source
                 for source in sorted((ROOT / room).glob("*.cpp"))]  # fmt: skip
        whole, made = changed / f"{room.name}.cpp", changed / f"{room.name}.o"
        whole.write_text("".join(f'#include "{file}"\n' for file in files), encoding="utf-8")
        if not compiled(whole, made, changed):
            return "does not compile"
        objects.append(made)
    libraries = [ROOT / "build" / "dev" / "core" / f"libeverytree_{each}.a" for each in ("core", "kernels")]
    for test in mutant.tests.split():
        if test.endswith(".py"):
            became = in_module(test, changed, [*objects, *libraries], seconds)
            if became != "survived":
                return became
            continue
        tested = BUILD / f"{test}.o"
        source = ROOT / "core" / "tests" / f"{test}.cpp"
        if not tested.exists() or tested.stat().st_mtime < source.stat().st_mtime:
            assert compiled(source, tested)
        program = changed / test
        linked = [compiler(), tested, *objects, *libraries, "-lpthread", "-o", program]
        subprocess.run(linked, check=True, capture_output=True)
        try:
            done = subprocess.run([program], check=False, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return f"no end in {seconds:g} s"
        if done.returncode:
            return "killed"
    return "survived"


def in_module(test: str, changed: Path, parts: list[Path], seconds: float) -> str:
    """Link the module of Python with these parts, and run a file of Python tests on it (tests/sanitized)."""
    bindings, module = ROOT / "build" / "dev" / "bindings", changed / "_core.so"
    bound = [*sorted(bindings.glob("CMakeFiles/_core.dir/**/*.o")), bindings / "libnanobind-static.a"]
    linked = [compiler(), "-shared", *bound, *parts, "-lpthread", "-o", module]
    subprocess.run(linked, check=True, capture_output=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        test,
    ]
    there = {"EVERYTREE_CORE": str(module), "PYTHONPATH": str(ROOT / "tests" / "sanitized")}
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            timeout=seconds,
            cwd=ROOT / "tests",
            env=os.environ | there,
        )
    except subprocess.TimeoutExpired:
        return f"no end in {seconds:g} s"
    return {0: "survived", 1: "killed"}.get(done.returncode, f"ended with {done.returncode}")


# --- both


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=list(TABLES))
    parser.add_argument("--only", default="", help="a part of the names of the mutants to try")
    parser.add_argument("--places", default=":", help="a slice of the table, such as 10:20")
    parser.add_argument("--seconds", type=float, default=600, help="for the tests of one mutant")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.table == "verify":
        for name in ("numpy", "pandas", "sklearn.tree", "scipy.stats", "hypothesis", "pytest", "everytree"):
            with contextlib.suppress(ImportError):
                __import__(name)
    lines, left = ["| file | mutant | |", "|---|---|---|"], 0
    begin, _, end = args.places.partition(":")
    for mutant in TABLES[args.table][int(begin or 0) : int(end) if end else None]:
        if args.only not in f"{mutant.file} {mutant.name}":
            continue
        became = (in_child if args.table == "verify" else in_core)(mutant, args.seconds)
        if became == "survived":
            left += not mutant.survives
            became = f"survives: {mutant.survives}" if mutant.survives else "**survives**"
        lines.append(f"| {Path(mutant.file).name} | {mutant.name} | {became} |")
        print(lines[-1], flush=True)
        if args.out:
            args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 2} mutants, {left} survive without a reason")
    sys.exit(left != 0)


if __name__ == "__main__":
    main()
