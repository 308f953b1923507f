"""``--cuts local``: every command that learns or reads a model, with cuts chosen by each node."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import everytree as et
from everytree.cli import explore
from everytree.cli.explore import run_explore
from everytree.cli.options import Reading, Treating

Cli = Callable[..., Any]
TARGET = "gewählt"
LOCAL = ("--cuts", "local", "--bins", 3, "--max-depth", 2, "--min-leaf", 5)


def space_of(path: Path, **bounds: Any) -> et.TreeSpace:
    features, y = et.read(path, TARGET).split()
    given = {"max_depth": 2, "min_leaf": 5} | bounds
    return et.TreeSpace.from_frame(features, y, bins=3, cuts="local", **given)


@pytest.mark.parametrize("method", ["optimal", "map", "bayes"])
def test_a_model_with_local_cuts_goes_through_every_command(
    method: str, mixed: Path, tmp_path: Path, cli: Cli
) -> None:
    model = tmp_path / "m.json"
    done = cli("fit", mixed, "--target", TARGET, "--method", method, *LOCAL, "--out", model, "--json")
    assert done.code == 0, done.err
    loaded = et.load_model(model)
    assert loaded.cuts == "local"
    assert loaded.bins == 3
    tree = loaded.posterior_.top_trees(1)[0] if method == "bayes" else loaded.tree_
    assert all(ask in done.json["tree"] for ask in tree.asks)
    verified = cli("verify", model, mixed, "--json")
    assert verified.code in (0, 3), verified.err
    answers = tmp_path / "a.csv"
    predicted = cli("predict", model, mixed, "--out", answers, "--keep", TARGET, "--json")
    assert predicted.code == 0, predicted.err
    features, _ = et.read(mixed, TARGET).split()
    assert et.read(answers)["predicted"].values.tolist() == loaded.predict(features).tolist()
    explained = cli("explain", model, mixed, "--row", 3)
    assert explained.code == 0, explained.err
    page = cli("report", model, "--data", mixed, "--out", tmp_path / "p.html", "--rows", 3, "--json")
    assert page.code == 0, page.err
    assert {"front", "posterior", "calibration"} <= set(page.json["parts"])


def test_queries_and_fronts_are_those_of_the_space(mixed: Path, cli: Cli) -> None:
    space = space_of(mixed, max_depth=3)
    bounds = ("--target", TARGET, "--cuts", "local", "--bins", 3, "--min-leaf", 5)
    asked = cli("query", mixed, 'most accurate where avoids "code" and depth <= 3', *bounds, "--json")
    assert asked.code == 0, asked.err
    best = space.best(forbid="code")
    assert asked.json["trees"][0]["error"] == best.error
    assert asked.json["trees"][0]["tree"]["asks"] == list(best.asks)
    front = cli("front", mixed, "--max-depth", 3, *bounds, "--json")
    assert [point["error"] for point in front.json["front"]] == [error for _, error, _ in space.front()]


def test_compare_takes_local_cuts(mixed: Path, cli: Cli) -> None:
    done = cli(
        "compare",
        mixed,
        "--target",
        TARGET,
        "--methods",
        "optimal,option,c45",
        "--folds",
        3,
        *LOCAL,
        "--json",
    )
    assert done.code == 0, done.err
    assert [row["failed"] for row in done.json["methods"]] == [0, 0, 0]


def test_many_files_are_counted_with_local_cuts(tmp_path: Path, mixed: Path, cli: Cli) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.csv
    import pyarrow.parquet

    parts = tmp_path / "parts"
    parts.mkdir()
    table = pyarrow.csv.read_csv(
        mixed, convert_options=pyarrow.csv.ConvertOptions(null_values=["?"], strings_can_be_null=True)
    )
    pyarrow.parquet.write_table(table.slice(0, 100), parts / "0.parquet")
    pyarrow.parquet.write_table(table.slice(100), parts / "1.parquet")
    done = cli("fit", parts, "--target", TARGET, *LOCAL, "--out", tmp_path / "m.json", "--json")
    assert done.code == 0, done.err
    assert done.json["training_errors"] == space_of(mixed).best().error
    assert json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["encoding"]["cuts"] == "local"


def test_wrong_cuts_are_refused_in_the_words_of_the_command(mixed: Path, cli: Cli) -> None:
    done = cli("fit", mixed, "--target", TARGET, "--cuts", "lokal", "--json")
    assert done.code == 2
    assert done.json["option"] == "--cuts"
    done = cli("fit", mixed, "--target", TARGET, "--method", "c45", "--cuts", "local")
    assert "the method c45 has no such parameter; optimal, bayes, map, mcmc have it" in done.err
    named = 'most accurate where avoids "age in years <= 54.5"'
    done = cli("query", mixed, named, "--target", TARGET, "--cuts", "local")
    assert "with --cuts local every node chooses its own; name the column 'age in years' instead" in done.err


def test_the_explorer_is_opened_with_local_cuts(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(explore, "serve", lambda explorer, *_: opened.append(explorer.opened.model))
    with pytest.raises(SystemExit) as ended:
        run_explore(mixed, TARGET, "", 0, False, 1, "3", "local", Reading(), Treating())
    assert ended.value.code == 0
    assert (opened[0].bins, opened[0].cuts) == (3, "local")
