"""What people paste must work: every example in the README, in docs/ and in docstrings runs.

Python blocks run in order in one namespace per page; a block with ``>>>`` must print what it shows. A shell
line must be of a kind that is known here, and is then run, or checked where running it would install things.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import everytree

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "sh", "text", "cpp"}


def blocks(page: Path, language: str) -> Iterator[str]:
    """The fenced blocks of a page in one language."""
    for found, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if found == language:
            yield body


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(blocks(page, language))]


# Commands that read the file which docs/cli.md makes, or what a line above wrote: they run in order, page by page.
ON_FILES = {"export", "fit", "predict", "query", "front", "explain", "compare", "methods"}


def lines_of(page: Path) -> list[str]:
    lines = (line.partition("  #")[0].strip() for block in blocks(page, "sh") for line in block.splitlines())
    return [line for line in lines if line]


def on_files(line: str) -> bool:
    words = shlex.split(line)
    return words[0] == "everytree" and words[1] in ON_FILES


def shell_lines() -> list[str]:
    return sorted({line for page in PAGES for line in lines_of(page) if not on_files(line)})


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_names_a_language_that_is_checked(page: Path) -> None:
    languages = {found for found, _ in BLOCK.findall(page.read_text(encoding="utf-8"))}
    assert languages <= LANGUAGES, "a block without a known language is a block that nobody checks"


@pytest.mark.long
@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_python_examples_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "example"}
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for number, block in enumerate(blocks(page, "python")):
        where = f"{name_of(page)}, Python block {number + 1}"
        if ">>>" in block:
            example = parser.get_doctest(block, namespace, where, str(page), 0)
            runner.run(example, clear_globs=False)
            namespace = example.globs
        else:
            exec(compile(block, where, "exec"), namespace)
    assert runner.failures == 0, capsys.readouterr().out


NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


@pytest.mark.long
def test_the_tutorial_shows_what_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every text block is the beginning of what the code above it prints; last digits may differ between machines."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "example"}
    compared = 0
    for language, body in BLOCK.findall((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")):
        if language == "python":
            capsys.readouterr()
            exec(compile(body, "tutorial", "exec"), namespace)
            continue
        shown, printed = body.strip(), capsys.readouterr().out.strip()
        assert NUMBER.sub("0", printed).split()[: len(shown.split())] == NUMBER.sub("0", shown).split()
        theirs = [float(x) for x in NUMBER.findall(shown)]
        ours = [float(x) for x in NUMBER.findall(printed)][: len(theirs)]
        assert ours == pytest.approx(theirs, rel=0.02, abs=0.02)
        compared += 1
    assert compared >= 4


@pytest.mark.long
def test_the_readme_shows_the_numbers_it_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks(ROOT / "README.md", "python"):
        exec(block, namespace)
    assert "11922350773715" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("command", shell_lines())
def test_shell_lines_work(command: str, tmp_path: Path) -> None:
    words = shlex.split(command)
    environment = dict(os.environ)
    while "=" in words[0]:
        key, _, value = words.pop(0).partition("=")
        environment[key] = value
    program, arguments = words[0], words[1:]
    if program == "make":
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        assert {word for word in arguments if "=" not in word} <= targets
    elif program == "everytree" or words[:3] == ["uv", "run", "everytree"]:
        if "verify" in words:  # the page's first block writes the two files
            code = next(blocks(ROOT / "docs/verify.md", "python"))
            subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=120)
        run = [sys.executable, "-m", "everytree", *words[words.index("everytree") + 1 :]]
        done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    elif words[:2] == ["pip", "install"]:
        target, _, extras = arguments[-1].rstrip("]").partition("[")
        assert target == "."
        assert set(filter(None, extras.split(","))) <= set(_extras())
    elif program.startswith(".venv/bin/"):
        assert program.removeprefix(".venv/bin/") in {"pytest", "pre-commit", "everytree", "python"}
        assert all((ROOT / word).exists() for word in arguments if "/" in word)
    else:
        assert words == [".ci/run"], f"say in this test how to check {command!r}"
        assert os.access(ROOT / ".ci/run", os.X_OK)


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if any(map(on_files, lines_of(page)))], ids=name_of)
def test_commands_on_files_work(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from everytree.cli import main

    monkeypatch.chdir(tmp_path)
    exec(next(blocks(ROOT / "docs/cli.md", "python")), {})
    for line in filter(on_files, lines_of(page)):
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0, f"{line}\n{capsys.readouterr().err}"
        assert capsys.readouterr().out or "--out" in line


def _extras() -> list[str]:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return list(project["optional-dependencies"])


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=name_of)
def test_links_and_named_files_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    named = re.findall(r"`((?:core|bindings|src|tests|tools|docs|benchmarks)/[\w./-]*\w)`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in named if not (ROOT / name).exists()]
    assert not missing


def modules() -> list[str]:
    found = pkgutil.walk_packages(everytree.__path__, "everytree.")
    return sorted(module.name for module in found if not module.name.endswith(("_core", "__main__")))


@pytest.mark.parametrize("module", modules())
def test_examples_in_docstrings_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(module))
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    assert failed == 0


@pytest.mark.long
def test_examples_that_pytest_runs_leave_nothing_behind() -> None:
    module = ROOT / "src/everytree/verify/check.py"
    before = set(ROOT.iterdir())
    run = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
        "--doctest-modules",
        str(module),
    ]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    assert set(ROOT.iterdir()) == before
