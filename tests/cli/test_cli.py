"""The command line: what it prints, what it writes, how it fails, and how quickly it answers."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sklearn.tree import DecisionTreeClassifier

import everytree
from everytree import _core
from everytree.cli.demonstration import breast_cancer, run_demo

QUICK = 0.5  # seconds of processor time; 0.24 is usual


def run(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "everytree", *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def test_version() -> None:
    assert run("--version").stdout == f"everytree {everytree.__version__}\n"


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.long
def test_help_lists_the_commands_and_answers_at_once() -> None:
    def timed() -> tuple[float, str]:
        start = _children_seconds()
        done = run("--help")
        return _children_seconds() - start, done.stdout

    # Processor time, and the least of three: the machine may be busy with something else.
    times, texts = zip(*(timed() for _ in range(3)), strict=True)
    assert all(command in texts[0] for command in ("fit", "predict", "query", "front", "demo", "info"))
    assert min(times) < QUICK


def test_the_installed_script_is_the_same_command() -> None:
    script = Path(sys.executable).with_name("everytree")
    if not script.exists():
        pytest.skip("the everytree script is not beside this Python; run `make setup`")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout == run("--version").stdout


def test_an_unknown_command_is_named() -> None:
    done = run("frobnicate")
    assert done.returncode == 2
    assert "frobnicate" in done.stderr


# demo


@pytest.mark.long
def test_demo_prints_both_methods_and_writes_the_pictures(tmp_path: Path) -> None:
    done = run("demo", "--depth", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "the best tree of depth 2" in done.stdout
    assert "every tree of depth 2, averaged" in done.stdout
    assert "scikit-learn's tree of depth 2" in done.stdout
    assert "every tree, nothing to choose" in done.stdout
    assert "accuracy" in done.stdout
    assert "log-loss" in done.stdout
    result = run_demo(max_depth=2)
    assert result.tree.to_text() in done.stdout
    picture, page = tmp_path / "demo-output/tree.svg", tmp_path / "demo-output/index.html"
    assert all(str(path.relative_to(tmp_path)) in done.stdout for path in (picture, page))
    assert ElementTree.fromstring(picture.read_text(encoding="utf-8")).tag.endswith("svg")
    assert picture.read_text(encoding="utf-8") in page.read_text(encoding="utf-8")


@pytest.mark.long
def test_demo_writes_where_it_is_told(tmp_path: Path) -> None:
    done = run("demo", "--depth", "1", "--out", str(tmp_path / "a" / "b"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "a/b").iterdir()) == ["index.html", "tree.svg"]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.long
def test_demo_as_json(tmp_path: Path) -> None:
    done = run("demo", "--depth", "1", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert found["rows"] + found["held_out"] == 569
    assert found["error"] == run_demo(max_depth=1).tree.error
    assert [Path(tmp_path / name).exists() for name in found["pictures"]] == [True, True]


def test_a_greedy_tree_is_no_better_than_the_best() -> None:
    X, _, y, _, _ = breast_cancer(seed=0)
    result = run_demo(max_depth=3, min_leaf=5)
    assert len(X) == result.n_train
    priced = result.tree.error + 2 * result.tree.n_leaves
    for criterion in ("gini", "entropy"):
        greedy = DecisionTreeClassifier(
            criterion=criterion, max_depth=3, min_samples_leaf=5, random_state=0
        ).fit(X, y)
        assert priced <= (greedy.predict(X) != y).sum() + 2 * greedy.get_n_leaves()


def test_demo_scores_make_sense() -> None:
    result = run_demo(max_depth=2)
    every, average, best, logistic, forest, greedy = result.scores
    assert (forest.method, greedy.method) == ("random forest", "scikit-learn's tree of depth 2")
    assert min(forest.accuracy, greedy.accuracy) > 0.85
    assert (logistic.method, logistic.accuracy > 0.9) == ("logistic regression", True)
    assert result.n_train + result.n_held_out == 569
    assert 0.85 < best.accuracy <= 1
    assert 0.85 < average.accuracy <= 1
    # On this split the average is the better forecaster: one tree is too sure of itself.
    assert average.log_loss < best.log_loss
    assert every.log_loss < average.log_loss
    assert every.accuracy >= average.accuracy
    loss, error = result.left_out
    assert abs(loss - every.log_loss) < 4 * error
    probabilities = [p for _, p in result.likely_tests]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < probabilities[0] <= 1 + 1e-12


@pytest.mark.long
def test_demo_repeats_itself() -> None:
    first, second = run_demo(max_depth=2), run_demo(max_depth=2)
    assert first.tree == second.tree
    assert [(s.accuracy, s.log_loss) for s in first.scores] == [
        (s.accuracy, s.log_loss) for s in second.scores
    ]
    assert run_demo(max_depth=2, seed=1).tree != first.tree


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--depth", "-1"), 2, "--depth"),
        (("--depth", "three"), 2, "--depth"),
        (("--min-leaf", "0"), 2, "--min-leaf"),
        (("--min-leaf", "1000"), 2, "--min-leaf 1000"),
        (("--depth", "40", "--min-leaf", "1"), 2, "try --depth"),
        (("--depth", "1", "--out", "taken"), 2, "expected a folder"),
        (("--depth", "1", "--out", "taken/below"), 2, "expected a folder"),
    ],
)
def test_demo_says_what_is_wrong(arguments: tuple[str, ...], code: int, message: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    done = run("demo", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "taken").read_text() == "a file"


@pytest.mark.long
def test_a_terminal_without_unicode_is_served(tmp_path: Path) -> None:
    done = run("demo", "--depth", "1", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "every tree of depth 1, averaged" in done.stdout


# info and kernels


@pytest.mark.parametrize("name", _core.available_kernels())
def test_the_environment_forces_each_kernel(name: str) -> None:
    kernels = json.loads(run("info", "--json", EVERYTREE_KERNELS=name).stdout)["kernels"]
    assert kernels == {
        "in_use": name,
        "available": _core.available_kernels(),
        "EVERYTREE_KERNELS": name,
    }


@pytest.mark.parametrize("name", ["", "auto"])
def test_by_default_the_fastest_kernels_run(name: str) -> None:
    kernels = json.loads(run("info", "--json", EVERYTREE_KERNELS=name).stdout)["kernels"]
    assert kernels["in_use"] == _core.available_kernels()[-1]


@pytest.mark.parametrize("command", [("info",), ("info", "--json"), ("demo", "--depth", "1")])
def test_unknown_kernels_are_refused_with_the_known_names(command: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*command, cwd=tmp_path, EVERYTREE_KERNELS="avx1024")
    assert done.returncode == 2
    assert all(name in done.stderr for name in ["avx1024", *_core.available_kernels()])
    assert "Traceback" not in done.stderr


def test_unknown_kernels_raise_in_python() -> None:
    before = _core.kernels()
    with pytest.raises(ValueError, match=r"avx1024.*portable"):
        _core.use_kernels("avx1024")
    assert _core.kernels() == before


@pytest.mark.long
def test_every_kernel_gives_the_same_demo() -> None:
    before = _core.kernels()
    try:
        results = []
        for name in _core.available_kernels():
            _core.use_kernels(name)
            results.append(run_demo(max_depth=3))
    finally:
        _core.use_kernels(before)
    assert len({result.tree for result in results}) == 1
    assert len({result.n_trees for result in results}) == 1
    losses = [result.scores[1].log_loss for result in results]
    assert losses == pytest.approx([losses[0]] * len(losses), rel=1e-9)


@pytest.mark.long
def test_info_tells_what_is_there_and_how_to_get_the_rest() -> None:
    found = json.loads(run("info", "--json").stdout)
    assert found["everytree"] == everytree.__version__
    assert found["threads"] >= 1
    assert set(found["dependencies"]) == {
        "numpy",
        "scipy",
        "scikit-learn",
        "threadpoolctl",
        "narwhals",
        "typer",
        "rich",
    }
    assert None not in found["dependencies"].values()
    assert {"plot", "mcmc", "bigdata", "cluster", "web"} <= set(found["extras"])
    plot = found["extras"]["plot"]
    assert plot["install"] == 'pip install "everytree[plot]"'
    assert plot["installed"] == (plot["packages"]["matplotlib"] is not None)

    text = run("info").stdout
    assert all(f"extra {name}" in text for name in found["extras"])
    for entry in found["extras"].values():
        assert (entry["install"] in text) != entry["installed"]
