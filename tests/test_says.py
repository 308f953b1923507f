"""A leaf says one class, everywhere: what costs least by the costs that the query counted.

Every way to ask is compared with plain Python: the counts of the rows of each leaf, and ``reference.says`` of them.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import everytree as et
import everytree.cli
from everytree import cluster
from everytree.estimators.row_paths import explain_row
from everytree.plot import plot_tree
from everytree.reference import says
from everytree.report.page_data import page_data
from everytree.verify import verify_model

MATRIX3 = [[0, 1, 4], [2.5, 0, 0.1], [7, 3, 0]]
ASKED: dict[str, dict[str, Any]] = {
    "plain": {},
    "balanced": {"class_weight": "balanced"},
    "weights": {"class_weight": {"rare": 9}},
    "weights in tenths": {"class_weight": [0.1, 0.3, 0.7]},
    "matrix": {"minimize": ("cost", "size"), "cost_matrix": MATRIX3},
    "gains": {"minimize": ("cost", "size"), "cost_matrix": [[-1, 2, 0], [3, -2, 1], [0.5, 1, -6]]},
    "asymmetric": {"dirichlet": [1, 1, 40]},
    "weights, asymmetric": {"class_weight": {"rare": 5}, "dirichlet": [0.5, 30, 2]},
    "penalty": {"class_weight": "balanced", "leaf_penalty": 1.5},
    "gini, asymmetric": {"minimize": ("gini", "size"), "dirichlet": [1, 50, 50]},
    "shallow": {"minimize": ("error", "depth"), "class_weight": "balanced", "max_leaves": 3},
}


def flowers(n: int = 240, seed: int = 3) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Three classes, one of them rare, that no tree of depth two tells apart."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.integers(0, 8, n) for name in ("petal", "stem", "leaf")})
    score = (X["petal"] > 4) * 1.0 + 0.7 * (X["stem"] < 3) + rng.normal(0, 0.8, n)
    labels = np.array(["common", "often", "rare"])
    return X, labels[np.digitize(score, [0.7, 2.1])]


class Case:
    """A fitted model, what costs what, and what its leaves have to say by the law."""

    def __init__(self, X: pd.DataFrame, y: Any, weight: Any = None, **params: Any) -> None:
        self.X, self.y = X, np.asarray(y)
        self.weight = np.ones(len(self.y), dtype=int) if weight is None else np.asarray(weight)
        self.model = et.OptimalTreeClassifier(**{"max_depth": 2, **params}).fit(X, self.y, weight)
        self.labels = self.model.classes_.tolist()
        self.costs = self._costs(params)
        self.rows = self.model.binarizer_.transform(X)
        self.tree = self.model.tree_

    def _costs(self, params: dict[str, Any]) -> list[list[Fraction]]:
        if "cost_matrix" in params:
            return [[Fraction(str(x)) for x in row] for row in params["cost_matrix"]]
        given = params.get("class_weight")
        totals = [int(self.weight[self.y == label].sum()) for label in self.labels]
        weights = [Fraction(1)] * len(self.labels)
        if given == "balanced":
            weights = [Fraction(sum(totals), len(totals) * n) for n in totals]
        elif isinstance(given, dict):
            weights = [Fraction(str(given.get(label, 1))) for label in self.labels]
        elif given is not None:
            weights = [Fraction(str(w)) for w in given]
        return [[Fraction(0) if c == k else w for k in range(len(weights))] for c, w in enumerate(weights)]

    def counts(self, leaf: int) -> list[int]:
        here = self.tree.apply(self.rows) == leaf
        return [int(self.weight[here & (self.y == label)].sum()) for label in self.labels]

    def law(self) -> dict[int, Any]:
        """The label of every leaf."""
        return {
            leaf: self.labels[says(self.counts(leaf), self.tree.proba[leaf].tolist(), self.costs)]
            for leaf in self.tree.leaves.tolist()
        }

    def said(self) -> list[Any]:
        """The label of every row."""
        law = self.law()
        return [law[leaf] for leaf in self.tree.apply(self.rows).tolist()]

    def cost_of(self, said: Any) -> Fraction:
        code = {label: c for c, label in enumerate(self.labels)}
        pairs = zip(self.weight.tolist(), self.y.tolist(), list(said), strict=True)
        return sum((w * self.costs[code[a]][code[b]] for w, a, b in pairs), Fraction(0))


@pytest.fixture(params=list(ASKED))
def case(request: pytest.FixtureRequest) -> Case:
    return Case(*flowers(), **ASKED[request.param])


def test_the_cases_matter() -> None:
    """In most of them some leaf says another class than its largest, or than its most probable one."""
    other = {}
    for name, params in ASKED.items():
        tree = Case(*flowers(), **params).tree
        leaves = tree.leaves
        likely, large = tree.proba[leaves].argmax(axis=1), tree.counts[leaves].argmax(axis=1)
        other[name] = bool((tree.says[leaves] != likely).any() or (tree.says[leaves] != large).any())
    assert [name for name, differs in other.items() if not differs] == ["plain"]


def test_the_tree_and_the_model_say_the_law(case: Case) -> None:
    said = case.said()
    assert case.model.predict(case.X).tolist() == said
    assert case.tree.predict(case.rows).tolist() == said
    assert {rule.leaf: rule.label for rule in case.tree.rules()} == case.law()
    assert explain_row(case.model, case.X[:1]).prediction == said[0]
    assert round(case.model.score(case.X, case.y) * len(case.y)) == len(case.y) - case.model.error_


def test_the_error_and_the_objective_are_those_of_the_predictions(case: Case) -> None:
    said = case.model.predict(case.X)
    wrong = int((said != case.y).sum())
    assert case.model.error_ == case.tree.error == wrong
    if case.model.query_.cost != "gini":
        price = Fraction(str(case.model.query_.leaf_penalty)) * case.tree.n_leaves
        assert case.model.objective_ == pytest.approx(float(case.cost_of(said) + price), rel=1e-12, abs=1e-12)


def test_texts_and_pictures_say_it(case: Case) -> None:
    law = case.law()
    in_order = [law[rule.leaf] for rule in case.tree.rules()]
    told = [
        line.split("  p = ")[0].split(" ")[-1] for line in str(case.tree).splitlines() if "  p = " in line
    ]
    assert told == in_order
    dot = case.tree.to_dot()
    svg = case.tree.to_svg()
    for leaf, label in law.items():
        assert f'  {leaf} [label="{label}\\np = ' in dot
    titles = [part.split("</title>")[0] for part in svg.split("<title>")[1:]]
    assert sorted(t.split(", p =")[0] for t in titles if ", p =" in t) == sorted(law.values())
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, axes = plt.subplots()
    drawn = [text.get_text() for text in plot_tree(case.tree, ax=axes)]
    leaves = [text for text in drawn if text.startswith("samples")]
    assert sorted(text.split("class = ")[1].splitlines()[0] for text in leaves) == sorted(law.values())
    plt.close(figure)


def test_the_page_says_it(case: Case) -> None:
    page = page_data(case.model)
    nodes = page["tree"]["nodes"]

    def said(node: dict[str, Any]) -> int:
        return int(node.get("s", node["p"].index(max(node["p"]))))

    assert {k: case.labels[said(nodes[k])] for k in case.tree.leaves.tolist()} == case.law()
    assert page["tree"]["error"] == case.model.error_
    assert f"{case.model.error_} training errors" in page["summary"]
    for point in page["front"]["points"]:  # the best tree of every size, by the same law
        leaves = [node for node in point["tree"]["nodes"] if "k" not in node]
        assert point["tree"]["error"] == sum(sum(node["n"]) - node["n"][said(node)] for node in leaves)
        for node in leaves:
            assert said(node) == says(node["n"], node["p"], case.costs)


def test_the_page_counts_as_right_what_the_model_says() -> None:
    X, y = flowers()
    case = Case(X[:120], y[:120], **ASKED["balanced"])
    scores = dict(page_data(case.model, (X[120:], y[120:]))["calibration"]["scores"])
    assert scores["accuracy"] == f"{100 * case.model.score(X[120:], y[120:]):.1f} %"


def test_files_keep_it_and_the_checker_finds_it(case: Case, tmp_path: Path) -> None:
    case.model.save(tmp_path / "model.json", "kind")
    case.X.assign(kind=case.y).to_csv(tmp_path / "data.csv", index=False)
    loaded = et.load_model(tmp_path / "model.json")
    assert loaded.tree_ == case.tree
    assert loaded.predict(case.X).tolist() == case.said()
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv")
    assert report.ok, [fact for fact in report.facts if fact.verdict == "false"]
    assert report["answers of leaves"].found == case.tree.n_leaves
    assert (report["error"].found, report["objective"].verdict) == (case.model.error_, "true")


def test_a_changed_answer_is_found(case: Case, tmp_path: Path) -> None:
    case.model.save(tmp_path / "model.json", "kind")
    case.X.assign(kind=case.y).to_csv(tmp_path / "data.csv", index=False)
    data = json.loads((tmp_path / "model.json").read_text())
    leaf = data["claims"]["leaves"][0]
    other = (data["tree"]["says"][leaf["node"]] + 1) % 3
    data["tree"]["says"][leaf["node"]] = other
    leaf["says"] = case.labels[other]  # in the tree and in the claims alike: load_model cannot know
    (tmp_path / "model.json").write_text(json.dumps(data))
    assert et.load_model(tmp_path / "model.json").tree_.says[leaf["node"]] == other
    report = verify_model(tmp_path / "model.json", tmp_path / "data.csv")
    assert report[f"answer of leaf {leaf['node']}"].verdict == "false"
    assert report["error"].verdict == "false"


def test_files_written_before_load_and_say_what_they_claim(case: Case, tmp_path: Path) -> None:
    """Without "says" in the tree: leaves say what the claims tell where costs played a part."""
    case.model.save(tmp_path / "model.json", "kind")
    data = json.loads((tmp_path / "model.json").read_text())
    del data["tree"]["says"]
    likely = case.tree.replace(says=None)
    if case.model.cost_matrix is None and case.model.class_weight is None:
        for leaf in data["claims"]["leaves"]:  # as such a file had it
            leaf["says"] = case.labels[int(likely.says[leaf["node"]])]
    (tmp_path / "model.json").write_text(json.dumps(data))
    loaded = et.load_model(tmp_path / "model.json")
    claimed = {leaf["node"]: leaf["says"] for leaf in data["claims"]["leaves"]}
    assert {rule.leaf: rule.label for rule in loaded.tree_.rules()} == claimed
    leaves = case.tree.apply(case.rows).tolist()
    assert loaded.predict(case.X).tolist() == [claimed[leaf] for leaf in leaves]
    assert loaded.error_ == (loaded.predict(case.X) != case.y).sum()


@pytest.mark.parametrize("name", ["plain", "balanced", "weights in tenths", "matrix", "gains"])
def test_every_answer_of_a_space_says_it(name: str) -> None:
    """The best, the k best, the front, strategies, and a cluster."""
    case = Case(*flowers(), **ASKED[name])
    costs = {key: value for key, value in ASKED[name].items() if key in ("cost_matrix", "class_weight")}
    rank = ("cost" if "cost_matrix" in costs else "error", "size")
    space = case.model.space_
    trees = [
        *space.best(rank, k=4, **costs),
        *(tree for _, _, tree in space.front(rank[0], **costs)),
        *(tree for _, _, tree in space.front(rank[0], by="depth", **costs)),
        space.best(rank, strategy="eclat", **costs),
        space.best((*rank, "depth"), **costs),
        cluster.best(space, rank, n_jobs=1, **costs),
    ]
    for tree in trees:
        said = tree.predict(case.rows)
        want = [says(n, p, case.costs) for n, p in zip(tree.counts, tree.proba, strict=True)]
        assert tree.says.tolist() == want
        value = tree.info.get("objective", tree.info.get(rank[0]))
        assert value == pytest.approx(float(case.cost_of(said)), rel=1e-12, abs=1e-12)
        assert tree.error == (said != case.y).sum()


@pytest.mark.long
def test_near_best_trees_say_what_their_errors_count() -> None:
    case = Case(*flowers())
    near = case.model.space_.near_best(0.1, 0.01, dirichlet=[1, 1, 60])
    votes = np.zeros((len(case.rows), 3))
    for tree in near:
        assert tree.error == round((tree.info["objective"] - 0.01 * tree.n_leaves) * len(case.y))
        votes[np.arange(len(case.rows)), tree.says[tree.apply(case.rows)]] += 1 / near.n_trees
    assert any(tree.says.tolist() != tree.proba.argmax(axis=1).tolist() for tree in near)
    np.testing.assert_allclose(near.votes(case.rows), votes, atol=1e-12)


def test_trees_of_a_posterior_say_the_most_probable_class() -> None:
    """Their score counts no answers, so the probabilities decide."""
    X, y = flowers()
    model = et.MAPTreeClassifier(2, dirichlet=[1, 1, 60]).fit(X, y)
    assert model.tree_.says.tolist() == model.tree_.proba.argmax(axis=1).tolist()
    assert model.predict(X).tolist() == model.classes_[model.predict_proba(X).argmax(axis=1)].tolist()
    found = Case(X, y).model.space_.posterior(dirichlet=[1, 1, 60])
    drawn = [found.map_tree(), *found.top_trees(20), *found.sample(20, random_state=0)]
    for tree in drawn:
        assert tree.says.tolist() == tree.proba.argmax(axis=1).tolist()
    assert any(tree.says.tolist() != tree.counts.argmax(axis=1).tolist() for tree in drawn)


def test_weighted_rows_count_as_often_as_they_weigh() -> None:
    X, y = flowers(120)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    case = Case(X, y, weight, **ASKED["balanced"])
    said = case.model.predict(X)
    assert said.tolist() == case.said()
    assert case.model.error_ == weight[said != y].sum()
    assert case.model.objective_ == pytest.approx(float(case.cost_of(said)), rel=1e-12)


@pytest.mark.parametrize(("counts", "want"), [((3, 1), 1), ((30, 10), 1), ((31, 10), 0), ((2, 2), 1)])
def test_ties_are_exact_and_go_to_the_more_probable(counts: tuple[int, int], want: int) -> None:
    """Three times one tenth is three tenths, though not in floats; the tie goes to class 1 by its probability."""
    table = et.Table([[0]], [counts])
    space = et.TreeSpace.from_table(table, 0)
    tree = space.best(class_weight=[0.1, 0.3])
    tied = counts[0] == 3 * counts[1]
    assert tree.says.tolist() == [0 if tied else want]  # by frequency class 0 is the more probable one
    model = et.OptimalTreeClassifier(0, class_weight=[0.1, 0.3], dirichlet=[1, 100]).fit_table(table)
    assert model.tree_.says.tolist() == [want]


def test_refit_keeps_the_law() -> None:
    case = Case(*flowers(), **ASKED["balanced"])
    model = case.model.refit(class_weight=None)
    assert model.error_ == (model.predict(case.X) != case.y).sum()
    assert model.tree_.says.tolist() == model.tree_.counts.argmax(axis=1).tolist()


@pytest.mark.parametrize("name", ["balanced", "matrix"])
def test_the_command_line_says_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(*flowers(), **ASKED[name])
    data, model = tmp_path / "data.csv", tmp_path / "model.json"
    case.X.assign(kind=case.y).to_csv(data, index=False)
    cost = {"balanced": ["class_weight=balanced"], "matrix": [f"cost_matrix={json.dumps(MATRIX3)}"]}[name]
    objective = ["--set", "minimize=cost"] if name == "matrix" else []

    def run(*arguments: Any) -> str:
        monkeypatch.setattr(sys, "argv", ["everytree", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            everytree.cli.main()
        out, err = capsys.readouterr()
        assert not end.value.code, err
        return out

    common = ["--max-depth", 2, *(word for each in cost for word in ("--set", each))]
    told = json.loads(run("fit", data, "--target", "kind", *common, *objective, "--out", model, "--json"))
    assert (told["training_errors"], told["tree"]) == (case.model.error_, str(case.tree))
    assert et.load_model(model).tree_ == case.tree
    assert str(case.tree) in run("fit", data, "--target", "kind", *common, *objective)
    cost_name = "cost" if name == "matrix" else "error"
    last = json.loads(run("front", data, "--target", "kind", "--cost", cost_name, *common, "--json"))[
        "front"
    ][-1]
    assert (last["error"], last["tree"]["says"]) == (case.model.error_, case.tree.says.tolist())
    assert last["accuracy"] == 1 - case.model.error_ / len(case.y)
    if name == "balanced":
        found = json.loads(run("query", data, "least error", "--target", "kind", *common, "--json"))["trees"][
            0
        ]
        assert (found["error"], found["tree"]["says"]) == (case.model.error_, case.tree.says.tolist())
    out = tmp_path / "said.csv"
    run("predict", model, data, "--out", out)
    assert pd.read_csv(out)["predicted"].tolist() == case.said()
    assert case.said()[0] in run("explain", model, data, "--row", 1)
    run("verify", model, data)


# --- recipes


def test_breast_cancer_with_costs() -> None:
    """A miss twenty times as dear as a false alarm: the objective is what the predictions cost."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    case = Case(X, y, max_depth=3, bins=4, minimize=("cost", "size"), cost_matrix=[[0, 1], [20, 0]])
    said = case.model.predict(X)
    assert said.tolist() == case.said() == case.tree.predict(case.rows).tolist()
    assert case.model.error_ == case.tree.error == (said != y).sum() == 24
    assert case.model.objective_ == case.cost_of(said) == 24


def test_a_rare_yes_is_printed_as_it_is_predicted() -> None:
    """Eleven in a hundred say Yes; with balanced weights many leaves do, and the text shows them."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame({f"f{j}": rng.integers(0, 10, 5000) for j in range(6)})
    score = 0.35 * (X.f0 > 6) + 0.25 * (X.f1 < 3) + 0.12 * (X.f2 > 4)
    y = np.where(rng.random(5000) < 0.02 + 0.35 * score, "Yes", "No")
    assert 0.10 < (y == "Yes").mean() < 0.12
    case = Case(X, y, max_depth=3, class_weight="balanced")
    said = case.model.predict(X)
    assert (said == "Yes").sum() > 2000
    assert case.tree.predict(case.rows).tolist() == said.tolist() == case.said()
    assert str(case.tree).count("Yes  p = ") == list(case.law().values()).count("Yes") > 0
    assert case.model.error_ == (said != y).sum()
