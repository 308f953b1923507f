"""The list of commands. To add one, write a file with its work, and a function here that reads its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everytree import __version__
from everytree.cli import ctrl_c
from everytree.cli.later import later
from everytree.cli.options import (
    AsJson,
    Bins,
    Costs,
    Cuts,
    DataFile,
    HeldOut,
    Learning,
    ModelFile,
    Picture,
    Positive,
    Reading,
    Target,
    Treating,
    Weights,
    grouped,
)
from everytree.cli.words import spoken

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    # Expected failures are one line (see cli.main); for a bug, Python's own traceback is what a report needs.
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"everytree {__version__}")
        raise typer.Exit


def _methods() -> list[str]:
    """For shells that complete ``--method``."""
    known: list[str] = later("methods.known_methods")()
    return known


@app.callback()
def everytree(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The best decision tree, every decision tree, and how sure to be.

    Exit codes: 0 done, 1 a check failed, 2 bad input or arguments, 130 interrupted. The first Ctrl-C ends a search
    with the best so far, the second one ends the command.
    """
    ctrl_c.heard.clear()  # of the command before, in a process that runs several


@app.command()
@grouped
def fit(
    data: DataFile,
    target: Target = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="The classifier, such as every, optimal or c45; `everytree methods` lists and explains all. "
            "[default: every; with options of single trees, such as --max-depth, optimal]",
            autocompletion=_methods,
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the model to this file.", show_default=False)
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(help="For optimal: a query, or its conditions.", show_default=False),
    ] = None,
    weights: Weights = None,
    picture: Picture = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="Write what was found as one HTML page, to read, try out and send on.", show_default=False
        ),
    ] = None,
    training_errors: Annotated[
        bool | None,
        typer.Option(
            help="Count the errors on the training rows, or do not. [default: if it is quick]",
            show_default=False,
        ),
    ] = None,
    held_out: HeldOut = None,
    positive: Positive = None,
    costs: Costs = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
    treating: Treating,
    learning: Learning,
) -> None:
    """Learn a classifier from a file, and write it to a model file.

    Examples:

    - `everytree fit heart.csv --target class --out heart.json`: every tree, with nothing to choose

    - `everytree fit heart.csv --page heart.html`: a page of it for a colleague, in one command

    - `everytree fit heart.csv --target class --max-depth 3 --out heart.json`: the best single tree

    - `everytree fit heart.csv --target class --method bayes --dirichlet fit --out heart.json`

    - `everytree fit heart.csv --target class --where "leaf >= 10 and size <= 15" --time-limit 60`

    - `everytree fit heart.csv --target class --cuts local --bins 4`: every node cuts its own rows

    - `everytree fit heart.csv --target class --method c45 --set laplace=true`

    - `everytree fit "visits/*.parquet" --target class`: many files, together larger than memory, are counted in place
    """
    later("fit.run_fit")(
        data, target, method, out, where, weights, picture, page, training_errors, (held_out, positive, costs),
        reading, treating, learning, as_json,
    )  # fmt: skip


@app.command()
def methods(as_json: AsJson = False) -> None:
    """List the methods of `fit` and `compare`, with their parameters; then priors, costs, constraints, moves."""
    later("methods.show_methods")(as_json)


@app.command()
@grouped
def predict(
    model: ModelFile,
    data: DataFile,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="A .csv or .parquet file; CSV on stdout if absent.", show_default=False
        ),
    ] = None,
    bounds: Annotated[bool, typer.Option("--bounds", help="Intervals of the probabilities too.")] = False,
    level: Annotated[float, typer.Option(min=0, max=1, help="Probability of the intervals.")] = 0.9,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A column to copy, such as an id; may be repeated.", show_default=False),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, help="Rows in memory at a time.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the draws behind the intervals.")] = 0,
    formulas: Annotated[
        bool,
        typer.Option(
            "--formulas", help="Write texts such as =1+1 as they are, which a spreadsheet would run."
        ),
    ] = False,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Predict classes and probabilities for the rows of a file, of any length.

    If the file has the model's target, accuracy and log-loss are printed at the end.

    Examples:

    - `everytree predict heart.json new.csv --out answers.csv`

    - `everytree predict heart.json new.parquet --out answers.parquet --bounds --keep patient`
    """
    later("predict.run_predict")(
        model, data, out, bounds, level, keep or (), rows, seed, reading, as_json, formulas
    )


@app.command()
@grouped
def query(
    data: DataFile,
    text: Annotated[str, typer.Argument(help="What tree is wanted, in one line.", metavar="QUERY")],
    target: Target = None,
    weights: Weights = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
    treating: Treating,
    learning: Learning,
) -> None:
    """Ask for the best trees under constraints, in one line of words.

    A query is a wish (most accurate, smallest, shallowest, least error | expected error | gini | entropy), and
    conditions after "where": leaf, margin, chi2 or accuracy >= …; p, size, leaves, depth or error <= …; uses or avoids
    columns; joined by "and". Of one class: "most F1 of Yes", or "recall of Yes >= 90%" or "precision of Yes >= 80%"
    among the conditions; the tree then says what its leaves should answer.

    Examples:

    - `everytree query heart.csv "most accurate where leaf >= 10 and size <= 15" --target class`

    - `everytree query heart.csv "3 smallest trees where accuracy >= 85%" --target class`

    - `everytree query heart.csv "least gini where depth <= 3 and avoids sex, age" --target class`

    - `everytree query heart.csv "most accurate where recall of ill >= 90% and depth <= 3" --target class`
    """
    later("query.run_query")(data, text, target, weights, reading, treating, learning, as_json)


@app.command()
@grouped
def front(
    data: DataFile,
    target: Target = None,
    by: Annotated[str, typer.Option(help="size, leaves or depth.")] = "size",
    cost: Annotated[
        str, typer.Option(help="A cost of leaves, such as error; `everytree methods` lists all.")
    ] = "error",
    where: Annotated[
        str | None, typer.Option(help="Conditions, such as leaf >= 10.", show_default=False)
    ] = None,
    trees: Annotated[bool, typer.Option("--trees", help="Print the trees too.")] = False,
    weights: Weights = None,
    picture: Picture = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
    treating: Treating,
    learning: Learning,
) -> None:
    """Find the least error for every size of tree: what a larger tree is worth.

    Examples:

    - `everytree front heart.csv --target class`

    - `everytree front heart.csv --target class --by depth --max-depth 4 --trees`
    """
    later("query.run_front")(
        data, target, by, cost, where, trees, weights, picture, reading, treating, learning, as_json
    )


@app.command()
@grouped
def explain(
    model: ModelFile,
    data: Annotated[Path | None, typer.Argument(help="A data file, for --row.", show_default=False)] = None,
    row: Annotated[
        int | None, typer.Option(min=1, help="Which row of the file, the first one is 1.", show_default=False)
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="A value of a row by hand; may be repeated.", show_default=False
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Most leaves or rules to show.")] = 10,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Explain why a model says what it says of one row.

    A tree shows its path, an average over trees the rules of most weight. What --value does not give is missing.

    Examples:

    - `everytree explain heart.json heart.csv --row 17`

    - `everytree explain heart.json --value age=63 --value cp=4 --value thal=7`
    """
    later("explain.run_explain")(model, data, row, value or (), top, reading, as_json)


@app.command()
@grouped
def compare(
    data: DataFile,
    target: Target = None,
    methods: Annotated[str, typer.Option(help="Methods, with commas between.")] = "every,optimal,c45,cart",
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Parts of a cross-validation. [default: 5, as many as --within allows]",
            show_default=False,
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often it is repeated, shuffled anew.")] = 1,
    within: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Seconds after which no fold is begun, two at least. [default: 10; none with --folds or --repeats]",
            show_default=False,
        ),
    ] = None,
    weights: Weights = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write every fold to this CSV file.", show_default=False),
    ] = None,
    picture: Picture = None,
    as_json: AsJson = False,
    *,
    reading: Reading,
    treating: Treating,
    learning: Learning,
) -> None:
    """Compare methods side by side: accuracy, log-loss, Brier score, leaves and seconds, cross-validated.

    Every method is tested against the first one by a corrected paired t-test. Without --folds it takes
    about a quarter of a minute, and says how many folds that were; --jobs gives the number of processes. An option goes
    to the methods that have it.

    Examples:

    - `everytree compare heart.csv --target class --methods bayes,optimal,c45,cart --folds 10`

    - `everytree compare heart.csv --target class --methods bayes,map --repeats 3 --jobs 4 --json`
    """
    later("compare.run_compare")(
        data,
        target,
        methods,
        folds,
        repeats,
        within,
        weights,
        out,
        picture,
        reading,
        treating,
        learning,
        as_json,
    )


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the pictures; made if absent.")] = Path(
        "demo-output"
    ),
    depth: Annotated[int, typer.Option(min=0, help="Most tests on a path of a tree.")] = 3,
    min_leaf: Annotated[int, typer.Option(min=1, help="Fewest training examples in a leaf.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Which random split into training and held-out rows.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Find the best tree for the breast cancer data, and average over every tree."""
    later("demo.show_demo")(out, depth, min_leaf, seed, as_json)


@app.command()
def info(
    as_json: AsJson = False,
) -> None:
    """Show versions, the kernels in use, and which optional parts are installed."""
    later("info.show_info")(as_json)


@app.command()
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="nijssen2007, nijssen2008, cano, buntine1992, krasznahorkay2004, beyond; or all."
        ),
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="A few data sets: minutes instead of hours.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets; ../shared/data if absent and there.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for results, tables and pictures; made if absent.")
    ] = Path("study-output"),
    jobs: Annotated[int, typer.Option(help="Folds at the same time; -1 for one per core.")] = -1,
    backend: Annotated[
        str, typer.Option(help="Where folds run: loky (processes), threading, dask, ray, spark.")
    ] = "loky",
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget the results of an earlier run.")] = False,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="Only this data set; may be given several times.")
    ] = None,
    parts: Annotated[
        list[str] | None, typer.Option("--part", help="Only this part, such as table1; may be repeated.")
    ] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Only so many folds of everything.")] = None,
) -> None:
    """Redo the experiments of a paper, and put each number beside the printed one.

    Every fold is written down at once: started again, a study goes on where it was stopped.
    """
    later("study.show_study")(
        name,
        data,
        out,
        quick=quick,
        jobs=jobs,
        backend=backend,
        fresh=fresh,
        sets=sets,
        parts=parts,
        trials=trials,
    )


@app.command()
def verify(
    model: Annotated[Path, typer.Argument(help="A model file, as model.save(...) writes it.")],
    data: Annotated[Path, typer.Argument(help="The CSV file that the model was trained on.")],
    target: Annotated[str | None, typer.Option(help="The column with the label.")] = None,
    weights: Annotated[str | None, typer.Option(help="The column with the sample weights.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the cells; found if absent.")] = None,
    decimal: Annotated[str, typer.Option(help="The decimal mark, . or ,")] = ".",
    encoding: Annotated[str, typer.Option(help="The encoding of the CSV file.")] = "utf-8",
    no_header: Annotated[bool, typer.Option("--no-header", help="The CSV file has no header line.")] = False,
    missing: Annotated[
        list[str] | None,
        typer.Option("--na", "--missing", help="A cell that means missing; may be given several times."),
    ] = None,
    max_states: Annotated[int, typer.Option(min=0, help="Most states of the proof of optimality.")] = 200_000,
    time_limit: Annotated[float, typer.Option(min=0, help="Most seconds for the proof.")] = 60.0,
    require_proof: Annotated[
        bool, typer.Option("--require-proof", help="Fail if a claim could not be proved or checked.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Recompute every claim of a model file from the raw data, without any code of the solver.

    Exit code 0: every claim that was checked is true; 1: a claim is false; 2: the input cannot be read; 3: nothing is
    false, but something that predictions depend on was not checked.
    """
    options = {} if missing is None else {"missing": tuple(missing)}
    code = later("verify.run_verify")(
        model,
        data,
        require_proof=require_proof,
        as_json=as_json,
        target=target,
        weights=weights,
        delimiter="\t" if delimiter in ("tab", "\\t") else delimiter,
        decimal=decimal,
        encoding=encoding,
        header=not no_header,
        max_states=max_states,
        time_limit=time_limit,
        **options,
    )
    raise typer.Exit(code)


@app.command()
def export(
    model: ModelFile,
    to: Annotated[str, typer.Option(help="sql, python, javascript, c, excel, pmml or onnx.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; by default it is printed.", show_default=False),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="For sql and excel: the class; the last if absent.", show_default=False),
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="For sql: a whole query of this table.", show_default=False)
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="For sql: standard, or mysql (also Spark, BigQuery).")
    ] = "standard",
    prefix: Annotated[str, typer.Option(help="For c: what all names begin with.")] = "everytree",
    epsilon: Annotated[
        float, typer.Option(min=0, help="For an average: how far its rules may be from it.")
    ] = 0.01,
    as_json: AsJson = False,
) -> None:
    """Write a model in another language: SQL, Python, JavaScript, C, an Excel formula, PMML or ONNX.

    A tree is written as it is, an average as a short sum of rules.

    Examples:

    - `everytree export heart.json --to sql --table patients`

    - `everytree export heart.json --to c --out heart.c`

    - `everytree export heart.json --to excel --label ill`
    """
    later("export.run_export")(model, to, out, label, table, dialect, prefix, epsilon, as_json)


@app.command()
@grouped
def report(
    model: ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Rows with labels: those of training add parts to the page, others judge the model.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file to write.")] = Path("report.html"),
    data_option: Annotated[
        Path | None, typer.Option("--data", help="The same as DATA.", hidden=True, show_default=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The column of the data with the label.", show_default=False)
    ] = None,
    title: Annotated[str | None, typer.Option(help="The head of the page.", show_default=False)] = None,
    rows: Annotated[
        int, typer.Option(min=0, help="Rows of the data that readers can pick; they are then in the page.")
    ] = 30,
    time_limit: Annotated[float, typer.Option(min=0, help="Most seconds for each part of the page.")] = 20.0,
    as_json: AsJson = False,
    *,
    reading: Reading,
) -> None:
    """Write a model as one HTML page that opens in any browser, without a network.

    It shows the tree, the best tree of every size, the most probable trees and what they use, calibration, and the
    rules that decide a row that the reader types in.

    Examples:

    - `everytree report heart.json --out heart.html`

    - `everytree report heart.json heart.csv --out heart.html --title "Heart disease"`
    """
    if data is not None and data_option is not None:
        raise typer.BadParameter("the data are given twice, as DATA and by --data; give them once")
    later("report.run_report")(
        model, out, data or data_option, target, title, rows, time_limit, reading, as_json
    )


@app.command()
@grouped
def explore(
    data: DataFile,
    target: Target = None,
    question: Annotated[
        str,
        typer.Option(
            "--query",
            help="The question to begin with: what a page has after the # of its address.",
            show_default=False,
        ),
    ] = "",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for every core.")] = 1,
    bins: Bins = None,
    cuts: Cuts = None,
    *,
    reading: Reading,
    treating: Treating,
) -> None:
    """Explore every tree of a file in the browser: change the question, see the answer.

    Only this machine can open the page, and only by the address that is printed. Ctrl-C ends it.

    Examples:

    - `everytree explore heart.csv --target class`

    - `everytree explore heart.csv --target class --query "max_depth=3&min_leaf=10"`

    - `everytree explore heart.csv --target class --cuts local`
    """
    later("explore.run_explore")(data, target, question, port, browser, jobs, bins, cuts, reading, treating)


spoken(app)
