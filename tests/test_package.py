"""The package as a whole: what it ships, what it imports, and what its files must not say."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import everytree
from everytree import _core

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def imported_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after a statement."""
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines())


def test_one_version_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    written = re.search(r"^version: (.*)$", citation, re.MULTILINE)
    assert written is not None
    assert {PROJECT["version"], metadata.version("everytree"), written[1]} == {everytree.__version__}


def test_every_public_name_can_be_used() -> None:
    assert set(everytree.__all__) == set(dir(everytree))
    for name in everytree.__all__:
        assert getattr(everytree, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="BestTree"):
        everytree.BestTree  # noqa: B018


def test_types_are_shipped() -> None:
    assert (Path(everytree.__file__).parent / "py.typed").exists()
    stub = Path(everytree.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    stubgen = pytest.importorskip("nanobind.stubgen", reason="needs nanobind: pip install nanobind")
    generator = stubgen.StubGen(_core)
    generator.put(_core)
    assert stub == generator.get(), (
        "run: python -m nanobind.stubgen -m everytree._core -o src/everytree/_core.pyi"
    )


HEAVY = {"sklearn", "scipy", "pandas", "polars", "pyarrow", "matplotlib", "rich", "typer"}


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import everytree", set()),
        ("import everytree; everytree.__version__; dir(everytree)", set()),
        ("import everytree.reference", set()),
        ("import everytree.cli.app", {"typer", "rich"}),
    ],
)
def test_heavy_libraries_are_imported_only_when_needed(statement: str, allowed: set[str]) -> None:
    assert imported_by(statement) & HEAVY <= allowed


@pytest.mark.long
def test_estimators_import_no_more_than_scikit_learn_itself() -> None:
    used = imported_by("from everytree import TreeSpace, Binarizer, OptimalTreeClassifier")
    # scikit-learn imports pandas and pyarrow where they are installed.
    assert used & HEAVY <= imported_by("import sklearn.base, sklearn.utils.validation") & HEAVY


def test_the_reference_uses_only_itself() -> None:
    modules = imported_by("import everytree.reference")
    assert "numpy" not in modules
    own = {name for name in modules if name.startswith("everytree")}
    assert {name for name in own if not name.startswith("everytree.reference")} == {"everytree"}


def test_the_checker_shares_no_code_with_the_solver() -> None:
    modules = imported_by("import everytree.verify")
    assert "numpy" not in modules
    own = {name for name in modules if name.startswith("everytree")}
    assert {name for name in own if not name.startswith("everytree.verify")} == {
        "everytree",
        "everytree.errors",
    }


@pytest.mark.long
def test_missing_optional_libraries_name_their_extra() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import everytree\n"
        "everytree.Tree.from_key((0, -1, -1), [[0], [1]], [[1, 0], [0, 1]]).plot()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert 'pip install "everytree[plot]"' in done.stderr


def tracked_files() -> list[Path]:
    git = ["git", "-C", str(ROOT), "ls-files", "-z"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("needs git, and a clone of the repository")
    if done.returncode != 0:
        pytest.skip("needs a clone of the repository: git clone")
    paths = (ROOT / name for name in done.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def test_no_tracked_file_names_a_place_on_one_machine() -> None:
    # Written in pieces, so that this file does not name one either.
    places = re.compile("|".join("/" + place for place in ("home/", "root/", "Users/", "work/", "opt/pypi")))
    shown = []
    for path in tracked_files():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        lines = (line.strip() for line in text.splitlines() if places.search(line))
        shown += [f"{path.relative_to(ROOT)}: {line}" for line in lines]
    assert not shown


def test_python_files_stay_readable_in_one_go() -> None:
    long = {
        str(path.relative_to(ROOT)): n
        for path in tracked_files()
        if path.suffix in {".py", ".cpp", ".hpp"}
        and (n := len(path.read_text(encoding="utf-8").splitlines())) > 600
    }
    assert not long, "a file is one idea: split it"
