"""``predict``: the answers of the model, row by row, whatever the size of the pieces and the format of the file."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import everytree as et


def answers(path: Path) -> dict[str, list[str]]:
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


@pytest.fixture
def model(cli: Any, mixed: Path) -> Path:
    out = mixed.with_name("model.json")
    assert cli("fit", mixed, "--target", "gewählt", "--max-depth", "2", "--out", out).code == 0
    return out


@pytest.mark.parametrize("rows", [1, 7, 10_000])
def test_answers_are_those_of_the_model(rows: int, cli: Any, mixed: Path, model: Path) -> None:
    out = mixed.with_name("answers.csv")
    done = cli("predict", model, mixed, "--out", out, "--rows", rows, "--keep", "couleur préférée", "--json")
    assert done.code == 0, done.err
    features, y = et.read(mixed, "gewählt").split()
    loaded = et.load_model(model)
    found = answers(out)
    assert list(found) == ["couleur préférée", "predicted", "p_ja, ökonomisch", "p_nein"]
    assert found["predicted"] == loaded.predict(features).tolist()
    assert [float(p) for p in found["p_nein"]] == loaded.predict_proba(features)[:, 1].tolist()
    assert found["couleur préférée"][:50] == [
        "" if v is None else v for v in features["couleur préférée"].values[:50]
    ]
    assert done.json["rows"] == done.json["labelled_rows"] == 240
    assert done.json["accuracy"] == pytest.approx(float((loaded.predict(features) == y).mean()))


def test_without_out_the_answers_are_printed(cli: Any, mixed: Path, model: Path) -> None:
    done = cli("predict", model, mixed)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == 'predicted,"p_ja, ökonomisch",p_nein'
    assert len(lines) == 241
    assert "240 rows; accuracy 0." in done.err


def test_extra_columns_are_told_and_the_order_is_free(cli: Any, mixed: Path, model: Path) -> None:
    rows = list(csv.reader(mixed.read_text(encoding="utf-8").splitlines()))
    other = mixed.with_name("other.csv")
    with open(other, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [[f"extra {k}" if k else "extra", *row[:5][::-1]] for k, row in enumerate(rows)]
        )
    one = cli("predict", model, mixed).out
    two = cli("predict", model, other)
    assert two.out == one
    assert "columns that the model does not use: 'extra'" in two.err
    assert "accuracy" not in two.err


@pytest.mark.parametrize("extension", ["parquet", "arff", "feather"])
def test_other_formats_in(extension: str, cli: Any, mixed: Path, model: Path) -> None:
    pytest.importorskip("pyarrow")
    data = et.read(mixed)
    other = mixed.with_name(f"mixed.{extension}")
    if extension == "arff":
        lines = ["@relation mixed"]
        for name, column in data.columns.items():
            quoted = name.replace('"', '\\"')
            lines.append(f'@attribute "{quoted}" {"numeric" if column.kind == "numeric" else "string"}')
        cells = (
            [_arff(v) for v in row] for row in zip(*(c.values for c in data.columns.values()), strict=True)
        )
        other.write_text("\n".join([*lines, "@data", *(",".join(row) for row in cells)]), encoding="utf-8")
    elif extension == "parquet":
        from pyarrow import parquet

        parquet.write_table(data.to_arrow(), other, row_group_size=50)
    else:
        from pyarrow import feather

        feather.write_feather(data.to_arrow(), other)
    assert cli("predict", model, other, "--rows", "64").out == cli("predict", model, mixed).out


def _arff(value: Any) -> str:
    if value is None or value != value:
        return "?"
    return repr(float(value)) if isinstance(value, float) else '"' + value.replace('"', '\\"') + '"'


def test_parquet_out(cli: Any, mixed: Path, model: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = mixed.with_name("answers.parquet")
    done = cli(
        "predict", model, mixed, "--out", out, "--rows", "50", "--keep", "age in years", "--keep", "flag"
    )
    assert done.code == 0, done.err
    table = parquet.read_table(out)
    assert table.column_names == ["age in years", "flag", "predicted", "p_ja, ökonomisch", "p_nein"]
    assert [str(kind) for kind in table.schema.types] == ["double", "string", "string", "double", "double"]
    features, _ = et.read(mixed, "gewählt").split()
    assert table["p_nein"].to_pylist() == et.load_model(model).predict_proba(features)[:, 1].tolist()


def test_bounds(cli: Any, mixed: Path) -> None:
    model, out = mixed.with_name("bayes.json"), mixed.with_name("answers.csv")
    fitted = cli("fit", mixed, "--target", "gewählt", "--method", "bayes", "--max-depth", "2", "--out", model)
    assert fitted.code == 0, fitted.err
    texts = []
    for rows in ("1000", "60"):
        done = cli(
            "predict", model, mixed, "--bounds", "--level", "0.8", "--out", out, "--rows", rows, "--seed", "3"
        )
        assert done.code == 0, done.err
        texts.append(out.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    found = {
        name: np.array(values, dtype=float) for name, values in answers(out).items() if name != "predicted"
    }
    features, _ = et.read(mixed, "gewählt").split()
    low, high = et.load_model(model).predict_interval(features, 0.8, random_state=3)
    assert found["low_nein"].tolist() == low[:, 1].tolist()
    assert found["high_ja, ökonomisch"].tolist() == high[:, 0].tolist()


def test_truth_values_of_parquet_and_of_text_are_the_same(cli: Any, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rng = random.Random(2)
    flags = [rng.random() < 0.5 for _ in range(60)]
    table = pyarrow.table(
        {"flag": flags, "x": list(range(60)), "y": [flag != (k > 50) for k, flag in enumerate(flags)]}
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    for method in ("optimal", "c45"):
        out = tmp_path / f"{method}.json"
        assert cli("fit", tmp_path / "t.parquet", "--target", "y", "--method", method, "--out", out).code == 0
        lines = [f"{str(flag).lower()},{k}" for k, flag in enumerate(flags)]
        (tmp_path / "t.csv").write_text("\n".join(["flag,x", *lines]))
        whole = cli("predict", out, tmp_path / "t.parquet")
        assert "accuracy" in whole.err
        assert whole.out.splitlines()[0] == "predicted,p_False,p_True"
        assert cli("predict", out, tmp_path / "t.csv").out == whole.out


def test_labels_that_were_not_in_training_count_as_wrong(cli: Any, mixed: Path, model: Path) -> None:
    text = mixed.read_text(encoding="utf-8").replace(",nein", ",vielleicht", 1)
    mixed.write_text(text, encoding="utf-8")
    done = cli("predict", model, mixed, "--out", mixed.with_name("a.csv"), "--json")
    assert (done.json["unknown_labels"], done.json["labelled_rows"]) == (1, 240)


def test_memory_is_bounded_by_a_piece(
    cli: Any, mixed: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    plain = et.OptimalTreeClassifier.answers

    def watched(self: Any, X: Any) -> Any:
        seen.append(X.n_rows)
        return plain(self, X)

    monkeypatch.setattr(et.OptimalTreeClassifier, "answers", watched)
    assert cli("predict", model, mixed, "--rows", "100").code == 0
    assert seen == [100, 100, 40]


# --- mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bounds",), "has no intervals"),
        (("--keep", "name"), "there is no column (named by --keep) 'name'"),
        (("--json",), "give --out"),
        (("--out", "nowhere/a.csv"), "there is no folder"),
        (("--na", "x", "--delimiter", "|"), "the model needs 5 more columns"),
        (("--rows", "0"), "--rows"),
    ],
)
def test_bad_options_are_told(
    options: tuple[str, ...], message: str, cli: Any, mixed: Path, model: Path
) -> None:
    done = cli("predict", model, mixed, *options)
    assert done.code == 2
    assert message in done.err
    assert sorted(path.name for path in mixed.parent.iterdir()) == ["mixed.csv", "model.json"]


def test_a_missing_column_is_named(cli: Any, mixed: Path, model: Path) -> None:
    text = mixed.read_text(encoding="utf-8").replace("age in years", "age", 1)
    mixed.write_text(text, encoding="utf-8")
    done = cli("predict", model, mixed)
    assert (done.code, done.out) == (2, "")
    assert "the model needs 1 more column: 'age in years'; the file has 'age'" in done.err


def test_a_bad_cell_far_down_leaves_nothing_behind(cli: Any, mixed: Path, model: Path) -> None:
    with open(mixed, "a", encoding="utf-8") as file:
        file.write("sechzig,1.0,rouge,true,1,nein\n")
    out = mixed.with_name("answers.csv")
    out.write_text("what was there before")
    done = cli("predict", model, mixed, "--out", out, "--rows", "20")
    assert done.code == 2
    assert "mixed.csv:242: 'sechzig' in numeric column 'age in years' is not a number" in done.err
    assert out.read_text() == "what was there before"
    assert sorted(path.name for path in mixed.parent.iterdir()) == ["answers.csv", "mixed.csv", "model.json"]


@pytest.mark.long
def test_changed_model_files_are_refused(cli: Any, mixed: Path, model: Path) -> None:
    """Bytes deleted, doubled or replaced: a file is refused with a message, or predicts something."""
    text = model.read_bytes()
    rng = random.Random(7)
    refused = 0
    for _ in range(60):
        at, n = rng.randrange(len(text)), rng.choice([1, 1, 2, 30])
        piece = rng.choice([b"", text[at : at + n] * 2, bytes(rng.randrange(256) for _ in range(n))])
        model.write_bytes(text[:at] + piece + text[at + n :])
        done = cli("predict", model, mixed)
        assert done.code in (0, 2)
        refused += done.code == 2
        assert (done.out == "") == (done.code == 2)
    assert refused > 40


def test_what_is_no_model_is_refused(cli: Any, mixed: Path, tmp_path: Path) -> None:
    hostile = {
        "empty.json": b"",
        "list.json": b"[]",
        "deep.json": b"[" * 100_000,
        "pickle.json": b"\x80\x04\x95\x1c\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94.",
        "other.json": b'{"format": "everytree.model", "version": 99}',
        "class.json": b'{"format": "everytree.model", "version": 1, "estimator": "os.system"}',
    }
    for name, content in hostile.items():
        (tmp_path / name).write_bytes(content)
        done = cli("predict", tmp_path / name, mixed)
        assert (done.code, done.out) == (2, ""), name
        assert name in done.err


@pytest.mark.parametrize("raw", [False, True])
def test_texts_that_a_spreadsheet_would_run_are_defused(cli: Any, tmp_path: Path, raw: bool) -> None:
    names = ["=1+1", "+cmd", "-2", "@sum", "plain", "=1+1"]
    rows = [f'"{name}",{i % 2},{"=HYPERLINK(1)" if i % 2 else "no"}' for i, name in enumerate(names * 4)]
    (tmp_path / "data.csv").write_text("name,x,y\n" + "\n".join(rows) + "\n")
    data, model, out = (tmp_path / name for name in ("data.csv", "m.json", "out.csv"))
    assert cli("fit", data, "--target", "y", "--method", "optimal", "--out", model).code == 0
    options = ["--formulas"] if raw else []
    assert cli("predict", model, data, "--keep", "name", "--out", out, *options).code == 0
    with open(out, encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    kept = [line[0] for line in lines[:6]]
    assert kept == (names if raw else ["'=1+1", "'+cmd", "-2", "'@sum", "plain", "'=1+1"])
    said = {line[1] for line in lines}
    assert said == {"no", "=HYPERLINK(1)" if raw else "'=HYPERLINK(1)"}
    assert header[0] == "name"


def test_wide_signs_and_line_feeds_begin_a_formula_too(cli: Any, tmp_path: Path) -> None:
    names = ["\uff1d1+1", "\uff0bcmd", "\uff0dcmd", "\uff20sum", "\n=1+1", "plain"] * 4
    X = pd.DataFrame({"name": names, "x": [0, 1] * 12})
    data, model, out = (tmp_path / name for name in ("data.parquet", "m.json", "out.csv"))
    X.to_parquet(data)  # whose texts keep their line feeds
    et.OptimalTreeClassifier(max_depth=1).fit(X[["x"]], X["x"]).save(model)
    assert cli("predict", model, data, "--keep", "name", "--out", out).code == 0
    assert [cell[:1] for cell in answers(out)["name"][:6]] == ["'"] * 5 + ["p"]


@pytest.mark.parametrize("first", ["1", "0", ""])
def test_a_column_without_a_name_is_found_whatever_its_first_cell_is(
    first: str, cli: Any, tmp_path: Path
) -> None:
    """One row "1" may be a count of the rows, and an empty one a column without values: the model knows better."""
    data, out, model = (tmp_path / name for name in ("data.csv", "answers.csv", "model.json"))
    cells = [first] + ["1", "0", "1"] * 9
    labels = ["x" if cell == "1" else "z" for cell in cells]
    lines = [f"{k % 3},{cell},{label}\n" for k, (cell, label) in enumerate(zip(cells, labels, strict=True))]
    data.write_text("a,,TARGET\n" + "".join(lines))
    assert cli("fit", data, "--target", "TARGET", "--max-depth", "1", "--out", model).code == 0
    for rows in (1, 5, 10_000):
        done = cli("predict", model, data, "--out", out, "--rows", rows)
        assert done.code == 0, done.err
        assert answers(out)["predicted"][1:] == labels[1:]
    data.write_text(f"a,,TARGET\n1,{first},x\n")
    done = cli("predict", model, data)
    assert done.code == 0, done.err
