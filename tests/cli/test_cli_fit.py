"""``fit`` and ``methods``: what is learned, what is written, and how a mistake is told."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree.cli.methods import known_methods
from everytree.estimators.registry import methods


@pytest.mark.parametrize("method", known_methods())
def test_every_method_learns_from_mixed_columns_and_is_read_again(method: str, cli: Any, mixed: Path) -> None:
    out = mixed.with_name("model.json")
    more = ("--set", "n_draws=200", "--set", "burn_in=100", "--seed", "1") if method == "mcmc" else ()
    done = cli("fit", mixed, "--target", "gewählt", "--method", method, "--out", out, "--json", *more)
    assert done.code == 0, done.err
    found = done.json
    assert (found["method"], found["estimator"]) == (method, methods()[method].classifier)
    assert (found["examples"], found["columns"]) == (240, 5)
    assert found["classes"] == ["ja, ökonomisch", "nein"]
    assert found["training_accuracy"] > 0.75
    model = et.load_model(out)
    data = et.read(mixed, "gewählt")
    features, y = data.split()
    assert int((model.predict(features) != y).sum()) == found["training_errors"]
    assert model.target_name_ == "gewählt"
    assert [path.name for path in mixed.parent.iterdir() if path.name.startswith(".")] == []


def test_fit_is_the_estimator_with_the_same_parameters(cli: Any, mixed: Path) -> None:
    out = mixed.with_name("model.json")
    options = (
        "--max-depth",
        "2",
        "--min-leaf",
        "7",
        "--bins",
        "3",
        "--missing",
        "impute",
        "--dirichlet",
        "0.5",
    )
    done = cli("fit", mixed, "--target", "gewählt", "--nominal", "code", "--out", out, *options)
    assert done.code == 0, done.err
    features, y = et.read(mixed, "gewählt", types={"code": "nominal"}).split()
    model = et.OptimalTreeClassifier(2, 7, bins=3, missing="impute", dirichlet=0.5).fit(features, y)
    assert et.load_model(out).tree_ == model.tree_
    assert model.tree_.to_text() in done.out
    assert f"training errors   {model.error_} of 240" in done.out
    assert "proved optimal    yes" in done.out


def test_where_takes_conditions_or_a_whole_query(cli: Any, mixed: Path) -> None:
    features, y = et.read(mixed, "gewählt").split()
    expected = et.OptimalTreeClassifier(
        3, minimize=("size", "error"), min_accuracy=0.8, missing="category"
    ).fit(features, y)
    text = "smallest where accuracy >= 80% and depth <= 3"
    done = cli("fit", mixed, "--target", "gewählt", "--where", text, "--json")
    assert done.json["tree"] == expected.tree_.to_text()
    both = [
        cli("fit", mixed, "--target", "gewählt", "--json", "--where", where).json["tree"]
        for where in ("leaf >= 9 and leaves <= 3", "most accurate where leaf >= 9 and leaves <= 3")
    ]
    assert both[0] == both[1]


def test_set_gives_any_parameter(cli: Any, mixed: Path) -> None:
    done = cli(
        "fit", mixed, "--target", "gewählt", "--set", "minimize=gini", "--set", "max_leaves=4", "--json"
    )
    features, y = et.read(mixed, "gewählt").split()
    model = et.OptimalTreeClassifier(minimize=("gini", "size"), max_leaves=4, missing="category").fit(
        features, y
    )
    assert done.json["facts"]["objective"] == pytest.approx(model.objective_)


def test_weights_count_as_repetitions(cli: Any, mixed: Path, tmp_path: Path) -> None:
    rng = random.Random(5)
    lines = mixed.read_text(encoding="utf-8").splitlines()
    weights = [rng.randint(0, 3) for _ in lines[1:]]
    weighted, repeated = tmp_path / "weighted.csv", tmp_path / "repeated.csv"
    weighted.write_text(
        "\n".join([lines[0] + ",w", *(f"{line},{w}" for line, w in zip(lines[1:], weights, strict=True))])
    )
    repeated.write_text(
        "\n".join([lines[0], *(line for line, w in zip(lines[1:], weights, strict=True) for _ in range(w))])
    )
    options = ("--target", "gewählt", "--bins", "all", "--max-depth", "2", "--json")
    one, two = cli("fit", weighted, "--weights", "w", *options).json, cli("fit", repeated, *options).json
    assert one["training_errors"] == two["training_errors"]
    assert one["examples"] == two["examples"] == sum(weights)


def test_drop_leaves_a_column_out_and_rows_without_a_label_are_told(cli: Any, mixed: Path) -> None:
    text = mixed.read_text(encoding="utf-8").replace(",nein\n", ",?\n", 1).replace(",nein\r\n", ",?\r\n", 1)
    mixed.write_text(text, encoding="utf-8")
    done = cli("fit", mixed, "--target", "gewählt", "--drop", "age in years", "--json")
    assert (done.json["examples"], done.json["columns"]) == (239, 4)
    assert "1 of 240 rows have no gewählt and are left out" in done.json["notes"]


def test_26_classes(cli: Any, letters: Path) -> None:
    done = cli("fit", letters, "--target", "letter", "--method", "c45", "--json")
    assert len(done.json["classes"]) == 26
    assert done.json["training_accuracy"] > 0.7


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("heart-cleveland-uci.csv", ("--nominal", "cp")),
        ("autos.csv", ()),
        ("colic.csv", ("--method", "path")),
        ("letter.csv.gz", ("--method", "c45")),
        ("arff/vowel.arff", ("--target", "Class")),
        ("arff/anneal.arff", ()),
    ],
)
def test_real_files(name: str, more: tuple[str, ...], cli: Any, shared: Any, tmp_path: Path) -> None:
    target = () if "--target" in more else ("--target", "class")
    done = (
        cli("fit", shared(name), *target, *more, "--max-depth", "2", "--out", tmp_path / "m.json", "--json")
        if ("--method" not in more)
        else cli("fit", shared(name), *target, *more, "--out", tmp_path / "m.json", "--json")
    )
    assert done.code == 0, done.err
    answers = tmp_path / "answers.csv"
    told = cli("predict", tmp_path / "m.json", shared(name), "--out", answers, "--json")
    assert told.code == 0, told.err
    assert told.json["rows"] == done.json["examples"]
    assert told.json["accuracy"] == pytest.approx(done.json["training_accuracy"])


# --- mistakes


def broken(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "the file is empty"),
        ("header.csv", b"a,b,class\n", "no rows after the header"),
        ("one.csv", b"class\nx\ny\n", "only column"),
        ("semi.csv", b"a:b:class\n1:2:x\n2:3:y\n", "no target column 'class'"),
        ("target.csv", b"a,b,klass\n1,2,x\n2,3,y\n", "did you mean 'klass'"),
        ("ragged.csv", b"a,b,class\n1,2\n", "2 fields, expected 3"),
        ("quote.csv", b'a,b,class\n1,"2,x\n', "never closed"),
        ("junk.csv", bytes(range(256)) * 20, "is not valid utf-8"),
        ("nul.csv", b"a,class\n1,\0\n", "NUL byte"),
        ("zip.csv", b"PK\x03\x04" + bytes(200), "zip archive"),
        ("bad.arff", b"@relation r\n@attribute class {a,b}\n@data\nc\n", "not a declared value"),
        ("bad.parquet", b"PAR1" + bytes(300), "pyarrow cannot read"),
        ("data.txt", b"a,class\n1,x\n", "Give --delimiter to read it as CSV"),
        ("unlabelled.csv", b"a,class\n1,\n2,?\n", "no value in any row"),
        ("real.csv", b"a,class\n1,0.5\n2,0.25\n", "continuous"),
    ],
)
def test_broken_files_are_told_and_nothing_is_written(
    name: str, content: bytes, message: str, cli: Any, tmp_path: Path
) -> None:
    path = broken(tmp_path / name, content)
    done = cli("fit", path, "--target", "class", "--out", tmp_path / "model.json")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.startswith("everytree: ")
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_one_class_is_a_leaf(cli: Any, tmp_path: Path) -> None:
    path = broken(tmp_path / "one.csv", b"a,class\n1,x\n2,x\n3,x\n")
    done = cli("fit", path, "--target", "class", "--json")
    assert (done.code, done.json["training_errors"], done.json["classes"]) == (0, 0, ["x"])


@pytest.mark.parametrize("n", [3_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_very_many_columns(n: int, cli: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (8, n))
    lines = [",".join([f"a{j}" for j in range(n)] + ["class"])]
    lines += [",".join(map(str, row.tolist())) + f",{k % 2}" for k, row in enumerate(rows)]
    path = broken(tmp_path / "wide.csv", "\n".join(lines).encode())
    done = cli("fit", path, "--target", "class", "--max-depth", "1", "--out", tmp_path / "m.json")
    assert done.code == 0, done.err
    assert "training errors   0 of 8" in done.out
    told = cli("predict", tmp_path / "m.json", path, "--out", tmp_path / "a.csv", "--json")
    assert (told.code, told.json["accuracy"]) == (0, 1.0), told.err
    missing = cli("fit", path, "--target", "klass", "--out", tmp_path / "n.json")
    assert (missing.code, (tmp_path / "n.json").exists()) == (2, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "gewählt", "--method", "magic"), "there is no such method; expected one of optimal, bayes"),
        (("--target", "gewählt", "--max-depth", "deep"), "--max-depth deep; expected a whole number"),
        (("--target", "gewählt", "--method", "c45", "--max-depth", "3"), "the method c45 has no such parameter"),
        (("--target", "gewählt", "--method", "map", "--where", "size <= 3"), "--where is for the method optimal"),
        (("--target", "gewählt", "--where", "size over 3"), "expected <= after"),
        (("--target", "gewählt", "--where", "2 smallest where error <= 9"), "asks for 2 trees"),
        (("--target", "gewählt", "--where", "depth <= 2", "--max-depth", "2"), "give one of them"),
        (("--target", "gewählt", "--where", "error <= 0 and leaves <= 2"), "no tree"),
        (("--target", "gewählt", "--set", "nothing"), "expected NAME=VALUE"),
        (("--target", "gewählt", "--set", "nothing=1"), "has no parameter 'nothing'"),
        (("--target", "gewählt", "--max-depth", "3", "--set", "max_depth=2"), "given by an option too"),
        (("--target", "gewählt", "--memory-limit", "much"), "--memory-limit much"),
        (("--target", "gewählt", "--memory-limit", "1PB"), "--memory-limit 1PB"),
        (("--target", "gewählt", "--missing", "error"), "--missing category"),
        (("--target", "gewählt", "--drop", "colour"), "there is no column 'colour'"),
        (("--target", "gewählt", "--drop", "gewählt"), "is the target"),
        (("--target", "gewählt", "--nominal", "colour"), "there is no column (named by --nominal) 'colour'"),
        (("--target", "gewählt", "--weights", "flag"), "expected a column of whole numbers"),
        (("--target", "gewählt", "--weights", "gewählt"), "is the target"),
        (("--target", "gewählt", "--min-leaf", "1000"), "--min-leaf 1000"),
        (("--target", "gewählt", "--delimiter", ";;"), "--delimiter ';;'"),
        (("--target", "gewählt", "--out", "nowhere/model.json"), "there is no folder"),
    ],
)  # fmt: skip
def test_bad_options_are_told(options: tuple[str, ...], message: str, cli: Any, mixed: Path) -> None:
    done = cli("fit", mixed, *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert [each.name for each in mixed.parent.iterdir()] == ["mixed.csv"]


def test_every_tree_takes_a_limit_of_memory(cli: Any, mixed: Path, tmp_path: Path) -> None:
    options = ("--target", "gewählt", "--method", "every", "--time-limit", "0.5")
    little = cli("fit", mixed, *options, "--memory-limit", "1kB")
    assert (little.code, little.out) == (2, "")
    assert "larger --memory-limit" in little.err
    enough = cli("fit", mixed, *options, "--memory-limit", "1GB", "--out", tmp_path / "m.json")
    assert enough.code == 0, enough.err
    assert json.loads((tmp_path / "m.json").read_text())["params"]["memory_limit"] == 10**9


def test_an_error_is_json_too(cli: Any, tmp_path: Path) -> None:
    done = cli("fit", tmp_path / "absent.csv", "--target", "y", "--json")
    assert done.code == 2
    assert done.json == {"error": f"{tmp_path / 'absent.csv'}: No such file or directory"}


def test_methods_are_listed(cli: Any) -> None:
    found = cli("methods", "--json").json
    assert list(found) == known_methods()
    assert found["optimal"]["parameters"]["max_depth"] == 3
    text = cli("methods").out
    assert all(entry["about"] in text for entry in found.values())


@pytest.mark.long
def test_a_limit_keeps_the_best_so_far(cli: Any, tmp_path: Path) -> None:
    rng = random.Random(0)
    header = [f"a{j}" for j in range(60)] + ["y"]
    lines = [",".join(header)] + [",".join(str(rng.randint(0, 1)) for _ in header) for _ in range(800)]
    path = broken(tmp_path / "noise.csv", "\n".join(lines).encode())
    out = tmp_path / "m.json"
    done = cli("fit", path, "--target", "y", "--max-depth", "7", "--time-limit", "0.3", "--out", out)
    assert done.code == 0, done.err
    assert "ended             time limit" in done.out
    assert "before the optimum was proved" in done.err
    assert "--time-limit" in done.err
    assert json.loads(out.read_text())["claims"]["stop_reason"] == "time limit"


@pytest.mark.parametrize("method", ["bayes", "map", "smoothed", "option", "mcmc"])
def test_priors_are_told_in_words(cli: Any, mixed: Path, tmp_path: Path, method: str) -> None:
    more = ("--seed", "1") if method == "mcmc" else ()
    done = cli("fit", mixed, "--target", "gewählt", "--method", method, "-o", tmp_path / "m.json", *more)
    assert done.code == 0, done.err
    assert "how trees weigh   small trees: " in done.out
    assert "every leaf adds   " in done.out
    assert "Prior(" not in done.out
    assert "Classifier" not in done.out


def test_a_sample_of_tops_has_a_sentence(cli: Any, mixed: Path) -> None:
    done = cli(
        "fit", mixed, "--target", "gewählt", "--method", "bayes", "--set", "method=collapsed", "--seed", "1"
    )
    assert "The average over every tree of depth at most 4" in done.out
    assert "Classifier(" not in done.out
