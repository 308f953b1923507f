"""OptionTree: its numbers, text and pictures, trees out of it, JSON and back, and hostile JSON."""

from __future__ import annotations

import copy
import json
import math
import pickle

import numpy as np
import pytest
from option_cases import NO_CHILD, as_arrays, graph_arrays, random_model_parts

import everytree._core as core
from everytree.data.columns import RawColumn
from everytree.errors import DataError, EverytreeError, QueryError
from everytree.reference import Bayes, UniformPrior, all_options
from everytree.trees.option_tree import OptionTree

COLUMNS = (RawColumn("age", "numeric"), RawColumn("colour", "nominal", ("red", "green", "blue")))


def option_tree(kind="smooth"):
    nodes = [(0, True, (4, 4)), (1, True, (3, 1)), (1, False, (1, 3)), (1, False, (3, 2))]
    nodes += [(1, False, (1, 2)), (2, False, (3, 0)), (2, False, (0, 1))]
    options = [
        (0, 0, 1.5, -1.0, [1, 2, NO_CHILD]),
        (0, 1, 2.0, -0.5, [3, NO_CHILD, 4]),
        (1, 1, math.nan, 0.7, [5, NO_CHILD, 6, NO_CHILD]),
    ]
    graph = core.OptionGraph(**as_arrays(nodes, options, 2))
    return OptionTree(graph, COLUMNS, ["no", "yes"], ([-0.2], [-0.1]), [[0.5, 0.5]], kind)


def from_dict(data, columns=COLUMNS, classes=("no", "yes")):
    return OptionTree.from_dict(data, columns, classes)


def test_numbers():
    tree = option_tree()
    assert (tree.n_nodes, tree.n_options, tree.n_leaves, tree.depth, tree.n_classes) == (7, 3, 5, 2, 2)
    assert not tree.is_tree
    assert tree.theta(1).tolist() == [3.5 / 5, 1.5 / 5]
    assert tree.counts[5].tolist() == [3, 0]
    assert tree.p_leaf[0] + tree.p_option[0] + tree.p_option[1] == pytest.approx(1)
    assert tree.reach[1] == pytest.approx(tree.p_option[0])
    assert 1 < tree.expected_leaves < 3
    with pytest.raises(ValueError, match="read-only"):
        tree.p_leaf[0] = 1


def test_text():
    assert option_tree().to_text(precision=2).splitlines() == [
        "no  p = 0.5  (no 4, yes 4)  leaf 0.17",
        "├─ option 0.75: age",
        "│  ├─ age <= 1.5: no  p = 0.7  (no 3, yes 1)  leaf 0.11",
        "│  │  ├─ colour = red: no  p = 0.88  (no 3, yes 0)",
        "│  │  └─ colour = blue: yes  p = 0.75  (no 0, yes 1)",
        "│  └─ age > 1.5: yes  p = 0.7  (no 1, yes 3)",
        "└─ option 0.07: colour",
        "   ├─ colour = blue: no  p = 0.58  (no 3, yes 2)",
        "   └─ colour is missing: yes  p = 0.62  (no 1, yes 2)",
    ]
    short = option_tree().to_text(max_depth=1)
    assert "leaf 0.11  etc." in short
    assert "colour = red" not in short
    assert option_tree().to_text(max_depth=0).endswith("etc.")
    with pytest.raises(DataError, match="max_depth"):
        option_tree().to_text(max_depth=-1)


def test_one_option_per_node_prints_as_an_ordinary_tree():
    for odd in (math.nan, -0.5, "half"):
        with pytest.raises(QueryError, match="least="):
            option_tree().without_light_options(odd)
    tree = option_tree().without_light_options(0.4)
    assert tree.is_tree
    assert tree.most_probable().to_text().splitlines() == [
        "no  p = 0.5  (no 4, yes 4)",
        "├─ age <= 1.5: no  p = 0.7  (no 3, yes 1)",
        "│  ├─ colour = red: no  p = 0.875  (no 3, yes 0)",
        "│  └─ colour = blue: yes  p = 0.75  (no 0, yes 1)",
        "└─ age > 1.5: yes  p = 0.7  (no 1, yes 3)",
    ]


def test_a_shared_state_is_shown_once():
    space = random_model_parts(1, n_tests=3, n=40)
    model = Bayes(space, UniformPrior(), 1.0)
    graph = core.OptionGraph(**graph_arrays(model, all_options(model), ["numeric"] * 3, merge=True))
    columns = [RawColumn(f"x{j}", "numeric") for j in range(3)]
    tree = OptionTree(graph, columns, [0, 1], ([0.0], [0.0]), [[1.0, 1.0]])
    text = tree.to_text()
    assert "as above" in text
    assert len(text.splitlines()) < 4 * tree.n_options
    dot = tree.to_dot()
    assert sum(
        line.startswith("  n") and "->" not in line and "[label" in line for line in dot.splitlines()
    ) == (tree.n_nodes)


def test_dot_shows_options_as_a_cluster():
    dot = option_tree().to_dot()
    assert "subgraph cluster_0 { style=dashed" in dot
    assert 'label="age\\n0.753"' in dot
    assert dot.count("->") == 2 + 2 + 2 + 2
    assert 'label=" colour is missing "' in dot
    cut = option_tree().to_dot(max_depth=0, filled=False)
    assert "etc." in cut
    assert "->" not in cut
    assert option_tree().most_probable().to_dot().count("cluster") == 0


def test_picture():
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    ax = option_tree().plot()
    texts = [note.get_text() for note in ax.texts]
    assert sum("0.07" in text for text in texts) == 1
    assert any(text == "colour is\nmissing" or text == "colour is missing" for text in texts)
    assert sum(patch.get_linestyle() == "--" for patch in ax.patches) == 1
    pyplot.close("all")
    ax = option_tree().plot(max_depth=1)
    assert any("etc." in note.get_text() for note in ax.texts)
    pyplot.close("all")
    option_tree().most_probable().plot()
    pyplot.close("all")


def test_draws_and_the_most_probable_tree():
    tree = option_tree()
    drawn = tree.draw(300, random_state=3)
    assert all(each.is_tree and each.kind == "none" for each in drawn)
    assert [each.to_text() for each in tree.draw(5, random_state=3)] == [each.to_text() for each in drawn[:5]]
    leaves = np.mean([each.n_leaves for each in drawn])
    assert leaves == pytest.approx(tree.expected_leaves, abs=0.2)
    best = tree.most_probable()
    assert best.log_evidence == pytest.approx(option_tree("map").log_evidence)
    assert max(each.log_evidence for each in drawn) == pytest.approx(best.log_evidence)
    with pytest.raises(QueryError, match="n=-1"):
        tree.draw(-1)
    with pytest.raises(QueryError, match="random_state"):
        tree.draw(1, random_state="x")
    with pytest.raises(QueryError, match="kind='sum'"):
        option_tree("sum")


def test_json_pickle_and_copy_keep_everything():
    tree = option_tree()
    read = from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))
    for other in (read, pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert other.to_text() == tree.to_text()
        assert other.log_evidence == tree.log_evidence
        assert other.to_dict() == tree.to_dict()
        assert other == tree
        assert hash(other) == hash(tree)
    assert tree != option_tree("map")
    assert tree != tree.most_probable()


def changed(path, value):
    data = json.loads(json.dumps(option_tree().to_dict()))
    *parents, last = path
    place = data
    for key in parents:
        place = place[key]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value
    return data


HOSTILE = [
    (["format"], "x", "format"),
    (["version"], 2, "version"),
    (["version"], True, "version"),
    (["kind"], "sum", "kind"),
    (["more"], 1, "more"),
    (["nodes"], KeyError, "nodes is missing"),
    (["nodes"], [], "nodes"),
    (["dirichlet"], [], "dirichlet"),
    (["dirichlet"], [[1.0]], "one parameter per class"),
    (["dirichlet"], [[1.0, 0.0]], "positive"),
    (["dirichlet"], [[1.0, "x"]], "dirichlet"),
    (["log_leaf_open"], [], "empty"),
    (["log_leaf_open"], ["inf"], "log_leaf_open"),
    (["log_leaf_open"], [10**400], "finite"),
    (["nodes", "depth"], [0], "length"),
    (["nodes", "depth", 1], -1, "depth"),
    (["nodes", "depth", 1], True, "depth"),
    (["nodes", "depth", 1], 2**40, "depth"),
    (["nodes", "open", 1], 1, "open"),
    (["nodes", "classes", 1], [0], "one count for each class"),
    (["nodes", "counts", 1], [0, 1], "counts"),
    (["nodes", "counts", 1], [10**30, 1], "counts"),
    (["nodes", "counts", 1], [2, 2], "share out"),
    (["options", "node", 0], 1, "must not fall"),
    (["options", "node", 2], 99, "options.node"),
    (["options", "node", 2], 2, "examples"),
    (["options", "column", 0], 7, "no such column"),
    (["options", "column", 0], 0.5, "options.column"),
    (["options", "threshold", 0], None, "threshold"),
    (["options", "threshold", 0], "-inf", "threshold"),
    (["options", "threshold", 1], 0.5, "codes"),
    (["options", "log_split", 0], "inf", "log_split"),
    (["options", "children", 0], [1, 2], "does not fit"),
    (["options", "children", 0], [1, 0, -1], "one level below"),
    (["options", "children", 0], [1, 99, -1], "children"),
    (["options", "children", 0], [1, 1, -1], "share out"),
    (["options", "children", 0], [-1, -1, -1], "share out"),
]


@pytest.mark.parametrize(("path", "value", "message"), HOSTILE)
def test_hostile_json_is_refused(path, value, message):
    with pytest.raises(DataError, match=message):
        from_dict(changed(path, value))


def test_trees_that_do_not_fit_the_columns_are_refused():
    data = option_tree().to_dict()
    with pytest.raises(DataError, match="from 0 to 0"):
        from_dict(data, classes=["no"])
    with pytest.raises(DataError, match="no such column"):
        from_dict(data, columns=COLUMNS[:1])
    with pytest.raises(DataError, match="codes"):
        from_dict(data, columns=COLUMNS[::-1])
    with pytest.raises(DataError, match="codes"):
        from_dict(data, columns=(COLUMNS[0], RawColumn("colour", "nominal", ("red", "green"))))


def test_random_damage_never_crashes():
    rng = np.random.default_rng(0)
    whole = option_tree().to_dict()
    junk = [None, -1, 0, 1, 2, 3, 10**20, 1.5, "x", [], {}, True, [1], "inf", "-inf"]
    refused = 0
    for _ in range(400):
        data = json.loads(json.dumps(whole))
        place, steps = data, 0
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = keys[int(rng.integers(len(keys)))]
            steps += 1
            if isinstance(place[key], dict | list) and len(place[key]) and rng.random() < 0.8:
                place = place[key]
                continue
            place[key] = junk[int(rng.integers(len(junk)))]
            break
        try:
            from_dict(data).to_text()
        except EverytreeError:
            refused += 1
    assert refused > 200
