"""Inputs that cannot be read: each is one error that names the place, the value and what was expected."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from verify_cases import Case, people

import everytree as et
from everytree.verify import InputError, csv_file, verify_model


def refuse(case: Case, message: str, **options) -> None:
    with pytest.raises(InputError, match=message):
        case.verify(**options)


# --- the model file


def test_model_files_that_are_none(case: Case) -> None:
    for text, message in [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "format is a list"),
        ('{"format": "other"}', "format is 'other'"),
        ('{"format": "everytree.model", "version": 2}', "version is 2"),
        ('{"format": "everytree.model", "version": true}', "version is True"),
        ('{"format": "everytree.model", "format": 1}', "occurs twice"),
        ('{"format": NaN}', "holds NaN"),
    ]:
        case.file.write_text(text, encoding="utf-8")
        refuse(case, message)
    case.file.write_bytes(b"\xff\xfe\x00")
    refuse(case, "not JSON")
    case.file.unlink()
    refuse(case, "model.json: cannot be read")


CHANGES = {
    "classes": (("classes", 0), [1], "classes\\[0\\]"),
    "no classes": (("classes",), [], "classes is"),
    "column": (("columns", 0, "kind"), "odd", "columns\\[0\\].kind is 'odd'"),
    "column name": (("columns", 0, "name"), 3, "columns\\[0\\].name"),
    "name twice": (("columns", 0, "name"), "color", "a name twice"),
    "fill": (("columns", 0, "fill"), "x", "columns\\[0\\].fill"),
    "values": (("columns", 2, "values"), None, "columns\\[2\\].values"),
    "test": (("tests", 0, "column"), 99, "tests\\[0\\].column is 99"),
    "kind": (("tests", 0, "kind"), "equals", "tests\\[0\\].kind"),
    "cut": (("tests", 0, "value"), "many", "tests\\[0\\].value is 'many'"),
    "target": (("target",), 5, "target is 5"),
    "encoding": (("encoding", "missing"), "guess", "encoding.missing"),
    "tree": (("tree",), [], "tree is"),
    "node test": (("tree", "test", 0), 10**6, "tree.test\\[0\\]"),
    "cycle": (("tree", "children", 0), [0, 0], "tree.children\\[0\\]"),
    "short": (("tree", "counts"), [[1, 2]], "tree.counts has 1"),
    "counts": (("tree", "counts", 0), [1], "tree.counts\\[0\\]"),
    "negative": (("tree", "counts", 0, 0), -1, "tree.counts\\[0\\]"),
    "proba": (("tree", "proba", 0), ["a", "b"], "tree.proba\\[0\\]"),
    "names": (("tree", "test_names"), ["a"], "tree.test_names"),
    "claims": (("claims",), 3, "claims is 3"),
    "leaves": (("claims", "leaves"), None, "claims.leaves"),
    "leaf node": (("claims", "leaves", 0, "node"), 99, "claims.leaves\\[0\\].node"),
    "leaf counts": (("claims", "leaves", 0, "counts"), "ab", "claims.leaves\\[0\\].counts"),
    "params": (("params",), None, "params is None"),
    "depth": (("params", "max_depth"), "deep", "params.max_depth is 'deep'"),
    "penalty": (("params", "leaf_penalty"), "dear", "params.leaf_penalty"),
    "minimize": (("params", "minimize"), 7, "params.minimize"),
    "matrix": (("params", "cost_matrix"), [[1]], "params.cost_matrix"),
    "no matrix": (("params", "minimize"), "cost", "params.cost_matrix is missing"),
    "min_leaf": (("params", "min_leaf"), 0, "params.min_leaf is 0"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_field_of_the_wrong_kind_is_named(name: str, case: Case) -> None:
    path, value, message = CHANGES[name]

    def change(data) -> None:
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value

    with pytest.raises(InputError, match=message):
        case.changed(change)


def test_the_depth_of_an_average_that_a_limit_ended(tmp_path) -> None:
    case = Case(tmp_path, people(30), et.BayesOptimalClassifier(max_depth=1, time_limit=60))
    with pytest.raises(InputError, match=r"params\.max_depth is 'deep'; expected a whole number"):
        case.changed(lambda data: data["params"].update(max_depth="deep"))


def test_a_field_that_is_missing_is_named(case: Case) -> None:
    for field in case.saved:
        if field in ("version", "format", "target", "dropped", "table", "tree", "label_dtype"):
            continue
        with pytest.raises(InputError, match=field):
            case.changed(lambda data, field=field: data.pop(field))


@pytest.mark.long
@pytest.mark.parametrize(
    "made",
    [et.OptimalTreeClassifier, et.MAPTreeClassifier, et.BayesOptimalClassifier],
    ids=lambda m: m.__name__,
)
def test_any_damage_is_an_input_error_or_a_report(made, tmp_path) -> None:
    case = Case(tmp_path, people(30), made(max_depth=2, dirichlet=et.DepthDecay()))
    # Every place of the file replaced by values of other kinds: no crash, no other exception.
    rng = random.Random(0)
    values = [None, True, -1, 10**400, 1e300, "", "x", [], {}, [[]], {"$type": "Tree"}, {"$float": "nan"}]

    def places(data, path=()):
        yield path
        items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
        for key, item in items:
            yield from places(item, (*path, key))

    everywhere = [path for path in places(case.saved) if path]
    inner = [path for path in everywhere if path[0] in ("params", "claims")]  # where most is read
    for path in rng.sample(everywhere, min(300, len(everywhere))) + 6 * inner:

        def change(data, path=path) -> None:
            for key in path[:-1]:
                data = data[key]
            data[path[-1]] = rng.choice(values)

        with contextlib.suppress(InputError):
            case.changed(change, max_states=100, time_limit=1)


@pytest.mark.long
def test_a_very_deep_tree_takes_time_in_proportion(case: Case) -> None:
    n = 5_000
    children = [[-1, -1]] * n  # all leaves: not a tree
    with pytest.raises(InputError, match="preorder"):
        case.changed(lambda data: data["tree"].update(
            test=[-1] * n, children=children, counts=[[1, 1]] * n, proba=[[0.5, 0.5]] * n, says=[0] * n
        ))  # fmt: skip

    def chain(data) -> None:
        # A chain: each split has a leaf on its 0 side and the rest of the chain on its 1 side.
        data["tree"].update(
            test=[0, -1] * n + [-1],
            children=[pair for k in range(n) for pair in ([2 * k + 1, 2 * k + 2], [-1, -1])] + [[-1, -1]],
            counts=[[1, 1]] * (2 * n + 1),
            proba=[[0.5, 0.5]] * (2 * n + 1),
            says=[0] * (2 * n + 1),
        )

    report = case.changed(chain, max_states=10)
    assert not report.ok
    assert report["depth"].found == n


# --- the data


def test_data_files_that_are_none(case: Case) -> None:
    for content, message in [
        (b"", "the file is empty"),
        (b"\n\n\n", "the file is empty"),
        (b"age,pressure,color,smoker,state\n", "no rows"),
        (b"PAR1....", "a Parquet file"),
        (b"age,state\n1\n", "1 fields, expected 2"),
        (b'age,state\n"1,ill\n', "data.csv:2"),
        (b"age,state\n\x00,ill\n", "NUL"),
        (b"age\x81\xff,state\n1,ill\n", "not utf-8"),
        (b"age\xff,state\n1,ill\n", "the file has 'age\u00ff', 'state'"),
        (b"\x1f\x8b123", "gzip"),
        (b"age,state\n1,ill\n", "no column 'pressure', 'color', 'smoker'"),
    ]:
        case.data.write_bytes(content)
        refuse(case, message)
    case.data.unlink()
    refuse(case, "data.csv: cannot be read")


def test_cells_that_do_not_fit_name_their_line(case: Case) -> None:
    def with_cell(column: str, value: str) -> None:
        frame = case.frame.astype(object)
        frame.loc[3, column] = value
        frame.to_csv(case.data, index=False)

    for column, value, message in [
        ("age", "old", "data.csv:5: column 'age' holds 'old'; expected a number"),
        ("age", "", "data.csv:5: column 'age' is missing here"),
        ("age", "1e999", "holds '1e999'; expected a number"),
        ("age", "inf", "holds 'inf'"),
        ("color", "?", "data.csv:5: column 'color' is missing here"),
        ("smoker", "maybe", "data.csv:5: column 'smoker' holds 'maybe'"),
        ("state", "unsure", "data.csv:5: 'unsure' in the label column 'state' is not a class"),
    ]:
        with_cell(column, value)
        refuse(case, message)
    with_cell("state", "")  # a row without a label is no example, and this model has learned from all rows
    assert not case.verify().ok


def test_which_column_is_the_label(case: Case) -> None:
    case.changed(lambda data: data.update(target=None))
    assert any("'state' is taken as the label" in note for note in case.verify().notes)
    case.frame.assign(extra=1).to_csv(case.data, index=False)
    refuse(case, "which column is the label\\? it could be 'state', 'extra'")
    assert case.verify(target="state").proved
    refuse(case, "no column 'stat' for the target", target="stat")
    case.frame.drop(columns="state").to_csv(case.data, index=False)
    refuse(case, "every column is used by the model")


def test_weights_must_be_numbers_and_not_all_zero(case: Case) -> None:
    case.frame.assign(times="half").to_csv(case.data, index=False)
    refuse(case, "data.csv:2: the weight is 'half'", weights="times")
    case.frame.assign(times=0).to_csv(case.data, index=False)
    refuse(case, "every row has weight zero", weights="times")


def test_bad_options_are_named(case: Case) -> None:
    refuse(case, "delimiter", delimiter=";;")
    refuse(case, "decimal", decimal="x")
    refuse(case, "encoding 'klingon' is not known", encoding="klingon")


def test_unknown_values_are_refused_where_the_model_says_so(case: Case) -> None:
    frame = case.frame.copy()
    frame.loc[0, "color"] = "violet"
    frame.to_csv(case.data, index=False)
    assert case.verify()["fingerprint"].verdict == "false"  # every test on it is false

    def strict(data) -> None:
        data["encoding"]["unknown"] = "error"

    with pytest.raises(
        InputError, match=r"data.csv:2: column 'color' holds 'violet'; a value that the model has"
    ):
        case.changed(strict)


# --- dialects


def dialects(frame: pd.DataFrame):
    plain = frame.to_csv(index=False)
    yield "BOM", b"\xef\xbb\xbf" + plain.encode(), {}
    yield "CRLF", plain.replace("\n", "\r\n").encode(), {}
    yield "CR", plain.replace("\n", "\r").encode(), {}
    yield "quoted", frame.to_csv(index=False, quoting=1).encode(), {}
    yield "semicolon", frame.to_csv(index=False, sep=";").encode(), {}
    yield "tab", frame.to_csv(index=False, sep="\t").encode(), {}
    yield "bar", frame.to_csv(index=False, sep="|").encode(), {}
    yield "colon", frame.to_csv(index=False, sep=":").encode(), {"delimiter": ":"}
    yield "decimal comma", frame.to_csv(index=False, sep=";", decimal=",").encode(), {"decimal": ","}
    yield "index", frame.to_csv().encode(), {}
    yield "gzip", gzip.compress(plain.encode()), {}
    yield "UTF-16", plain.encode("utf-16"), {}
    yield "Latin-1", plain.encode("latin-1"), {"encoding": "latin-1"}
    yield "blank lines", plain.replace("\n", "\n\n").encode(), {}
    yield "blanks", "\n".join(", ".join(f'"{c}" ' for c in row) for row in
                              [list(frame), *frame.astype(str).values.tolist()]).encode(), {}  # fmt: skip


def test_common_dialects_are_read(tmp_path) -> None:
    frame = people(60, seed=2).rename(columns={"age": "âge"})
    case = Case(tmp_path, frame, et.OptimalTreeClassifier(max_depth=2))
    for name, content, options in dialects(frame):
        case.data.write_bytes(content)
        try:
            report = case.verify(**options)
        except InputError as error:
            if name != "blanks":  # text after a closing quote is refused by this reader and by read_csv
                pytest.fail(f"{name}: {error}")
            continue
        assert report.proved, name


def test_other_words_for_missing(tmp_path) -> None:
    rng = np.random.default_rng(2)
    frame = people(60, seed=2)
    frame["pressure"] = frame["pressure"].mask(rng.random(60) < 0.2)
    case = Case(tmp_path, frame, et.OptimalTreeClassifier(max_depth=2, missing="category"))
    frame.to_csv(case.data, index=False, na_rep="gone")
    refuse(case, "'gone'; expected a number")
    assert case.verify(missing=("gone",)).proved


def test_files_read_by_everytree_itself_pass(tmp_path) -> None:
    people(70, seed=8).to_csv(tmp_path / "d.csv", index=False)
    features, y = et.read_csv(tmp_path / "d.csv", types={"smoker": "boolean"}).split("state")
    et.OptimalTreeClassifier(max_depth=2).fit(features, y).save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["target"] is None
    report = verify_model(tmp_path / "m.json", tmp_path / "d.csv")
    assert report.proved


@pytest.mark.parametrize("name", ["c{}", "c", "", "c.{}"])
def test_very_many_columns_have_their_names_soon(name: str, tmp_path) -> None:
    """Each name was looked for among all before it: 100,000 columns took minutes, in the reader and the checker."""
    n, case = 20_000, Case(tmp_path, people(40), et.OptimalTreeClassifier(max_depth=1, missing="error"))
    lines = case.data.read_text(encoding="utf-8").splitlines()
    more = ",".join(name.format(j) for j in range(n)), ",".join("1" for _ in range(n))
    case.data.write_text(
        "\n".join(f"{more[k > 0]},{line}" for k, line in enumerate(lines[:6])), encoding="utf-8"
    )
    begun = time.process_time()
    assert not case.verify().ok  # of five rows
    assert time.process_time() - begun < 4
    begun = time.process_time()
    names = et.read_csv(case.data, columns=["age", "state"]).names
    assert names == ("age", "state")
    assert time.process_time() - begun < 4


def test_a_packed_file_of_very_many_rows_is_refused_before_it_takes_much(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing looked at what a file unpacks to: 3 MB of gzip with 100 million rows took all memory."""
    monkeypatch.setattr(csv_file, "LEAST_ROOM", 2**24)
    head, row = case.data.read_text(encoding="utf-8").splitlines()[:2]
    packed = case.data.with_name("data.csv.gz")
    for block, times, message in (
        (row + "\n", 60_000, "take very much memory"),
        (" " * 1000 + row + "\n", 6_000, "unpacks to more than 4194304 bytes"),
    ):
        packed.write_bytes(gzip.compress(f"{head}\n".encode() + block.encode() * times))
        with pytest.raises(InputError, match=message):
            verify_model(case.file, packed)
        packed.unlink()


def test_a_packed_file_of_usual_size_is_read(case: Case) -> None:
    head, *rows = case.data.read_text(encoding="utf-8").splitlines()
    packed = case.data.with_name("data.csv.gz")
    packed.write_bytes(gzip.compress("\n".join([head, *rows * 200]).encode()))
    assert verify_model(case.file, packed)["examples"].found == 200 * len(rows)


@pytest.mark.parametrize("value", ["abc", [1], {"$float": "nan"}, 10**400, -1e300, 1e300, True])
def test_an_exponent_that_nobody_asked_for(value, tmp_path) -> None:
    frame = people(60)
    case = Case(tmp_path, frame, et.BayesOptimalClassifier(max_depth=1, bins=2))
    report = case.changed(lambda content: content["claims"].update(exponent=value))
    assert report["exponent"].verdict == "false"


def test_codes_are_one_more_than_cuts(tmp_path) -> None:
    case = Case(tmp_path, people(60), et.OptimalTreeClassifier(max_depth=2, cuts="local", bins=3))

    def change(content) -> None:
        fine = content["columns"][0]["fine"]
        fine["low"], fine["high"] = fine["low"][:2], fine["high"][:2]

    with pytest.raises(InputError, match=r"model\.json: columns\[0\]\.fine has 2 codes; expected one more"):
        case.changed(change)


@pytest.mark.parametrize(
    "made",
    [
        lambda: et.BayesOptimalClassifier(max_depth=1, bins=2),
        lambda: et.OptimalTreeClassifier(max_depth=1, bins=2),
        lambda: et.C45TreeClassifier(),
        lambda: et.EveryTreeClassifier(time_limit=0.1),
    ],
)
def test_errors_name_one_file(made, tmp_path) -> None:
    case = Case(tmp_path, people(30), made())
    name = "min_leaf" if "min_leaf" in case.saved["params"] else "class_weight"
    with pytest.raises(InputError, match=rf"^{case.file}: params\.{name} is \[0\.5\]; expected"):
        case.changed(lambda content: content["params"].update({name: [0.5]}))
    case.changed(lambda content: None)
    with pytest.raises(InputError, match=r"^decimal ';': expected"):
        case.changed(lambda content: None, decimal=";")
    case.data.write_text(case.data.read_text(encoding="utf-8").replace("well", "away", 1), encoding="utf-8")
    with pytest.raises(InputError, match=rf"^{case.data}:\d+: 'away' in the label column") as caught:
        case.verify()
    assert str(case.file) not in str(caught.value)


def test_a_line_that_is_no_line_of_a_table_is_refused_before_it_is_parted(tmp_path: Path) -> None:
    """30 MB of commas took 25 seconds and 3.4 GB."""
    file = tmp_path / "data.csv"
    file.write_text("," * (2**24 + 1), encoding="ascii")
    with pytest.raises(InputError, match=r"data\.csv:1: the line is longer than 16777216 characters"):
        csv_file.read_table(file)
