"""Every option of every command: a bad value is refused by a message that names the option as it is typed.

The options are those that the commands have, so a new one is tested without a line here: it is given a text that means
nothing, and a number below zero. ``BAD`` has other bad values where these are good ones, ``ANY`` the options for which
every value is a good one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperOption

from everytree.cli.app import app
from everytree.cli.words import CALLED, STEPS, Words
from everytree.errors import Argument, QueryError, Step, Wording
from everytree.query.strategies import STRATEGIES

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
LABEL = ("--target", "gewählt")
# what a command needs to run; {folder} has mixed.csv and model.json
NEEDED = {
    "fit": ("{folder}/mixed.csv", *LABEL),
    "predict": ("{folder}/model.json", "{folder}/mixed.csv"),
    "query": ("{folder}/mixed.csv", "most accurate", *LABEL),
    "front": ("{folder}/mixed.csv", *LABEL),
    "explain": ("{folder}/model.json", "{folder}/mixed.csv", "--row", "1"),
    "compare": ("{folder}/mixed.csv", "--methods", "optimal", "--folds", "2", *LABEL),
    "export": ("{folder}/model.json", "--to", "sql"),
    "study": ("beyond", "--data", "{folder}"),
    "verify": ("{folder}/model.json", "{folder}/mixed.csv"),
    "report": ("{folder}/model.json", "--data", "{folder}/mixed.csv"),
    "explore": ("{folder}/mixed.csv", "--no-browser"),
}
NOTHING = ("no such thing", "-7")
BAD = {
    "--jobs": ("0", "many"),
    "--out": ("{folder}/nowhere/at all",),
    "--page": ("{folder}/nowhere/at all.html",),
    ("predict", "--level"): ("1.5", "sure"),
    ("predict", "--out"): ("{folder}/nowhere/at all.csv",),
    ("study", "--out"): ("{folder}/mixed.csv",),
    ("demo", "--out"): ("{folder}/mixed.csv",),
    ("study", "--jobs"): ("0", "many"),
    ("explore", "--port"): ("70000", "http"),
}
NEEDED_FOR = {
    ("export", "--prefix"): ("--to", "c"),
    ("fit", "--alpha"): ("--method", "bayes"),
    ("fit", "--beta"): ("--method", "bayes"),
    ("fit", "--prior"): ("--method", "bayes"),
    ("compare", "--alpha"): ("--methods", "bayes"),
    ("compare", "--beta"): ("--methods", "bayes"),
    ("compare", "--prior"): ("--methods", "bayes"),
}
FILES = {("report", "--data")}  # a file is named as it is typed
ANY = {
    "--na", "--missing",  # any cell may mean missing
    ("report", "--title"),
    ("export", "--table"),  # a table may have any name
    ("predict", "--nominal"), ("predict", "--drop"),  # the model knows its columns, all others are left out
    ("explain", "--nominal"), ("explain", "--drop"),
    ("report", "--nominal"), ("report", "--drop"),
    ("explore", "--query"),  # a page begins with what it can read of it
}  # fmt: skip


def options() -> Iterator[Any]:
    for command, made in COMMANDS.items():
        for each in made.params:
            if isinstance(each, TyperOption) and not each.is_flag:
                yield pytest.param(command, each, id=f"{command} {each.opts[0]}")


@pytest.mark.parametrize(("command", "option"), options())
def test_a_bad_value_is_refused_by_the_name_of_its_option(
    command: str, option: Any, cli: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("everytree.report.server.serve", lambda *given: None)  # else it would serve for ever
    names = set(option.opts)
    if names & ANY or any((command, name) in ANY for name in names):
        return
    name = option.opts[0]
    bad = BAD.get((command, name)) or BAD.get(name) or NOTHING
    needed = (*NEEDED.get(command, ()), *NEEDED_FOR.get((command, name), ()))
    for value in bad:
        typed = [text.format(folder=folder) for text in (*needed, name, value)]
        done = cli(command, *typed)
        assert done.code == 2, (typed, done.err)
        named = typed[-1] if (command, name) in FILES else name
        assert named in done.err, (typed, done.err)
    assert not list(tmp_path.iterdir())  # nothing is written


def words(command: str, **given: Any) -> Words:
    return Words(COMMANDS[command], given)


def test_an_argument_is_said_as_it_is_typed() -> None:
    say = words("fit", settings=["minimize=gini"])
    assert say(Argument("max_depth", "3", "3")) == "--max-depth 3"
    assert say(Argument("random_state", "7", "7")) == "--seed 7"
    assert say(Argument("min_leaf")) == "--min-leaf"
    assert say(Argument("delimiter", "';'", ";")) == "--delimiter ';'"
    assert say(Argument("minimize", "'gini'", "gini")) == "--set minimize=gini"
    assert say(Argument("strategy", "'x'", "x")) is None  # nobody gave it, and there is no option
    assert words("demo")(Argument("max_depth", "3", "3")) == "--depth 3"


@pytest.mark.long
def test_every_step_of_the_library_is_one_that_commands_can_say() -> None:
    source = Path(__file__).parents[2] / "src/everytree"
    found = set()
    for path in source.rglob("*.py"):
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Name) or not each.args:
                continue
            if each.func.id == "Step" and isinstance(each.args[0], ast.Constant):
                found.add(each.args[0].value)
    assert found == set(STEPS)
    say = words("fit")
    assert say(Step("nominal", 'pass types={"a b": "nominal"}', "a b")) == "give --nominal 'a b'"
    assert say(Step("go-on", "refit(...)", "memory_limit")) == "a larger --memory-limit may prove it"
    assert say(Step("go-on", "refit()")) == "a larger --time-limit may prove it"
    assert say(Step("unheard of", "do it")) is None


def test_names_of_parameters_lead_to_options_that_exist() -> None:
    there = {each.name for made in COMMANDS.values() for each in made.params}
    assert set(CALLED.values()) <= there


def test_an_error_that_does_not_name_its_option_is_told_under_it() -> None:
    error = QueryError("there is no such column", parameter="target")
    assert words("fit").error(error) == "--target: there is no such column"
    assert words("info").error(error) == "there is no such column"
    assert (
        words("fit").error(QueryError(Wording("no ", Argument("target")), parameter="target"))
        == "no --target"
    )


def test_a_setting_is_refused_as_it_is_typed(cli: Any, folder: Path) -> None:
    done = cli("fit", folder / "mixed.csv", *LABEL, "--set", "strategy=luck", "--json")
    assert done.code == 2
    assert done.json == {
        "error": f"--set strategy=luck; expected one of {', '.join(STRATEGIES)}",
        "code": "parameter",
        "option": "--set strategy",
    }


def test_a_query_is_refused_under_its_option(cli: Any, folder: Path) -> None:
    done = cli("fit", folder / "mixed.csv", *LABEL, "--where", "size over 3", "--json")
    assert (done.code, done.json["code"], done.json["option"]) == (2, "query-text", "--where")
    assert done.json["error"].startswith('--where: expected <= after "size"')
    asked = cli("query", folder / "mixed.csv", "size over 3", *LABEL)  # an argument without a name
    assert (asked.code, asked.err.startswith('everytree: expected <= after "size"')) == (2, True)


def test_missing_values_are_told_by_the_option_that_takes_them(cli: Any, folder: Path) -> None:
    done = cli("fit", folder / "mixed.csv", *LABEL, "--missing", "error", "--json").json
    assert (done["code"], done["option"]) == ("missing-values", "--missing")
    assert "Choose --missing category to treat missing" in done["error"]


def test_remarks_of_the_reader_name_options(cli: Any, tmp_path: Path) -> None:
    codes = "\n".join(f"0{k % 9},{k % 2}" for k in range(30))
    path = tmp_path / "codes.csv"
    path.write_text(f"zip code,y\n{codes}\n", encoding="utf-8")
    done = cli("fit", path, "--target", "y", "--max-depth", "1")
    assert (done.code, "if these are codes, give --nominal 'zip code'" in done.err) == (0, True), done.err
    path.write_text("1,2\n3,4\n5,6\n", encoding="utf-8")
    done = cli("fit", path, "--target", "2", "--max-depth", "1")
    assert "if the file has no header line, give --no-header" in done.err
    path.write_text("a;b\n1;2\n3;4\n", encoding="utf-8")
    done = cli("fit", path, "--target", "b", "--delimiter", ",")
    assert "with --delimiter , the file has the one column" in done.err
    assert "pass --delimiter ';'" in done.err
