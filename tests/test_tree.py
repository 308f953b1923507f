"""The Tree value: construction, facts, prediction, equality and what it refuses."""

from __future__ import annotations

import copy
import pickle
import time
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from everytree.errors import DataError, EverytreeError
from everytree.trees import checks as tree_checks
from everytree.trees.routes import MAX_NESTED_NODES
from everytree.trees.tree import Tree

NESTED = (1, None, (0, None, None))
KEY = (1, -1, 0, -1, -1)
CHILDREN = [[1, 2], [-1, -1], [3, 4], [-1, -1], [-1, -1]]
COUNTS = [[5, 5], [4, 1], [1, 4], [1, 0], [0, 4]]


def small(**changes: Any) -> Tree:
    parts: dict[str, Any] = {"children": CHILDREN, "test": KEY, "counts": COUNTS, "n_tests": 3}
    return Tree(**{**parts, **changes})


def random_nested(rng: np.random.Generator, n_tests: int, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return None
    zero = random_nested(rng, n_tests, depth - 1)
    return (int(rng.integers(n_tests)), zero, random_nested(rng, n_tests, depth - 1))


def random_case(seed: int, n_rows: int = 60, n_tests: int = 6, n_classes: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_tests), dtype=np.uint8)
    counts = rng.integers(0, 4, (n_rows, n_classes))
    return random_nested(rng, n_tests, 4), X, counts


def leaf_counts_by_hand(nested: Any, X: Any, counts: Any, rows: list[int]) -> list[list[int]]:
    """Node counts in preorder, straight from the definition."""
    here = [[sum(int(counts[r, c]) for r in rows) for c in range(counts.shape[1])]]
    if nested is None:
        return here
    test, zero, one = nested
    left = leaf_counts_by_hand(zero, X, counts, [r for r in rows if X[r, test] == 0])
    return here + left + leaf_counts_by_hand(one, X, counts, [r for r in rows if X[r, test] == 1])


def walk(tree: Tree, row: Any) -> list[int]:
    """The nodes one row passes, straight from the definition."""
    path = [0]
    while tree.test[path[-1]] >= 0:
        path.append(int(tree.children[path[-1], int(row[tree.test[path[-1]]])]))
    return path


# ---- facts


def test_facts_of_a_small_tree() -> None:
    tree = small()
    assert (tree.n_nodes, tree.size, tree.n_leaves, tree.depth, tree.n_classes) == (5, 5, 3, 2, 2)
    assert tree.error == 1  # one example of class 1 sits in a leaf of class 0
    assert tree.key == KEY
    assert tree.nested == NESTED
    assert tree.leaves.tolist() == [1, 3, 4]
    assert tree.node_depths.tolist() == [0, 1, 1, 2, 2]
    assert tree.proba[1].tolist() == [0.8, 0.2]


def test_a_single_leaf() -> None:
    tree = Tree.from_structure(None, np.zeros((2, 0), dtype=np.uint8), [[1, 2], [3, 0]])
    assert (tree.size, tree.n_leaves, tree.depth, tree.error, tree.key, tree.nested) == (
        1,
        1,
        0,
        2,
        (-1,),
        None,
    )
    assert tree.predict(np.zeros((3, 0))).tolist() == [0, 0, 0]
    assert tree.decision_path(np.zeros((3, 0))).toarray().tolist() == [[1], [1], [1]]
    assert [str(rule) for rule in tree.rules()] == ["always → 0 (p = 0.667, 6 examples)"]


@pytest.mark.parametrize("seed", range(20))
def test_from_structure_counts_as_by_hand(seed: int) -> None:
    nested, X, counts = random_case(seed)
    tree = Tree.from_structure(nested, X, counts)
    assert tree.counts.tolist() == leaf_counts_by_hand(nested, X, counts, list(range(len(X))))
    assert tree.nested == nested
    again = Tree.from_key(tree.key, X, counts)
    assert again == tree
    assert Tree.from_structure(list(tree.key), X, counts) == tree
    assert Tree.from_structure(np.array(tree.key), X, counts) == tree


def test_dirichlet_gives_the_posterior_mean() -> None:
    rows, counts = [[0], [1]], [[3, 1], [0, 0]]
    assert Tree.from_key((0, -1, -1), rows, counts).proba[1:].tolist() == [[0.75, 0.25], [0.5, 0.5]]
    one = Tree.from_key((0, -1, -1), rows, counts, dirichlet=1.0)
    np.testing.assert_allclose(one.proba[1:], [[4 / 6, 2 / 6], [0.5, 0.5]])
    each = Tree.from_key((0, -1, -1), rows, counts, dirichlet=[1, 3])
    np.testing.assert_allclose(each.proba[1:], [[4 / 8, 4 / 8], [0.25, 0.75]])


# ---- prediction


@pytest.mark.parametrize("seed", range(10))
def test_routing_agrees_with_walking_row_by_row(seed: int) -> None:
    nested, X, counts = random_case(seed)
    tree = Tree.from_structure(nested, X, counts, dirichlet=0.5)
    paths = [walk(tree, row) for row in X]
    assert tree.apply(X).tolist() == [path[-1] for path in paths]
    np.testing.assert_array_equal(tree.predict_proba(X), tree.proba[[path[-1] for path in paths]])
    assert tree.predict(X).tolist() == [int(np.argmax(tree.proba[path[-1]])) for path in paths]
    indicator = tree.decision_path(X)
    assert [sorted(row.indices.tolist()) for row in indicator] == paths
    assert indicator.has_sorted_indices


def test_decision_path_has_the_form_of_scikit_learn() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (80, 5), dtype=np.uint8)
    y = X[:, 0] ^ X[:, 2]
    theirs = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y).tree_

    def nested(k: int) -> Any:  # their left child is "x <= 0.5", our child 0
        if theirs.children_left[k] < 0:
            return None
        return (int(theirs.feature[k]), nested(theirs.children_left[k]), nested(theirs.children_right[k]))

    ours = Tree.from_structure(nested(0), X, np.eye(2, dtype=int)[y])
    X32 = X.astype(np.float32)
    assert (ours.decision_path(X) != theirs.decision_path(X32)).nnz == 0
    assert ours.apply(X).tolist() == theirs.apply(X32).tolist()


def test_ties_go_to_the_lower_class() -> None:
    tree = Tree([[-1, -1]], [-1], [[2, 3, 3]], n_tests=1, classes=["a", "b", "c"])
    assert tree.predict([[0]]).tolist() == ["b"]


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (("no", "yes"), "U"),
        ((3, 7), "i"),
        ((False, True), "b"),
        ((0.5, 1.5), "f"),
        ((np.int32(3), np.int32(7)), "i"),
        ((np.str_("no"), np.str_("yes")), "U"),
        (np.array([True, False]), "b"),
        (("1", 1), "O"),
        ((1, 2.5), "O"),
        (("a", "a\0"), "O"),  # numpy's own string type would lose the NUL and merge the labels
        ((2**70, 1), "O"),
        (((1, 2), (3, 4)), "O"),
    ],
)
def test_predict_returns_the_labels(classes: Any, kind: str) -> None:
    tree = Tree.from_key((0, -1, -1), [[0], [1]], [[9, 0], [0, 9]], classes=classes)
    labels = tree.predict([[0], [1], [0]])
    assert labels.dtype.kind == kind
    expected = [classes[0], classes[1], classes[0]]
    assert [label == wanted for label, wanted in zip(labels.tolist(), expected, strict=True)] == [True] * 3


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, object])
def test_any_kind_of_0_1_matrix(dtype: Any) -> None:
    X = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1]])
    given = np.asfortranarray(X.astype(dtype))
    assert small().apply(given).tolist() == [3, 4, 1]
    assert small().apply(given[:0]).tolist() == []


def test_data_frames_are_read_as_matrices() -> None:
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    frame = pandas.DataFrame({"a": [0, 1], "b": [True, False], "c": [0.0, 1.0]})
    assert small().apply(frame).tolist() == [3, 1]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([0, 1, 0], r"X has shape \(3,\): expected two dimensions.*reshape\(1, -1\)"),
        ([], r"X has shape \(0,\)"),
        (3, r"X has shape \(\)"),
        ([[0, 1]], r"X has 2 columns: expected 3, one per test"),
        ([[0, 1, 2]], r"X\[0, 2\] \(test 'smokes'\) is 2: expected 0 or 1\. Binarize"),
        ([[0, 1, -1]], r"X\[0, 2\] .* is -1"),
        ([[0, 0, 0], [0, 0.5, 0]], r"X\[1, 1\] \(test 'age <= 3'\) is 0.5"),
        ([[0, np.nan, 0]], r"X\[0, 1\] .* is missing \(NaN\): .*missing='category'"),
        ([[0, np.inf, 0]], r"X\[0, 1\] .* is inf"),
        ([[0, None, 0]], r"X holds object values"),
        ([["0", "1", "0"]], r"X holds <U1 values such as .*'0'.*: expected 0 and 1"),
        (np.array([["0", 1, 0]], dtype=object), r"X holds .* values such as .*'0'"),
        ([[0j, 1, 0]], r"X holds complex128 values"),
        ([[0, 1, 0], [0, 1]], r"X is not a rectangular table"),
        (np.ma.masked_array([[0, 1, 0]], mask=[[False, True, False]]), r"X has masked entries"),
        (np.zeros((2, 3, 1)), r"X has shape \(2, 3, 1\)"),
        ("abc", r"X has shape \(\)"),
        (None, r"X has shape \(\)"),
        (np.array([[0, 1, 255]], dtype=np.uint8), r"X\[0, 2\] .* is 255"),
    ],
)
def test_bad_matrices_are_refused(X: Any, message: str) -> None:
    tree = small(test_names=["fever", "age <= 3", "smokes"])
    for method in (tree.predict, tree.predict_proba, tree.apply, tree.decision_path):
        with pytest.raises(DataError, match=message):
            method(X)


def test_sparse_matrices_are_refused() -> None:
    from scipy.sparse import csr_matrix

    with pytest.raises(DataError, match=r"sparse matrix.*toarray"):
        small().predict(csr_matrix([[0, 1, 0]]))


def test_a_million_rows_in_under_a_second() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1_000_000, 20), dtype=np.uint8)
    key = Tree.from_structure(random_full(rng, 20, 5), X[:100], np.ones((100, 2), dtype=int))
    best = min(_seconds(key.predict, X) for _ in range(3))
    assert best < 1.0


def random_full(rng: np.random.Generator, n_tests: int, depth: int) -> Any:
    if depth == 0:
        return None
    zero = random_full(rng, n_tests, depth - 1)
    return (int(rng.integers(n_tests)), zero, random_full(rng, n_tests, depth - 1))


def _seconds(call: Any, X: Any) -> float:
    start = time.perf_counter()
    call(X)
    return time.perf_counter() - start


# ---- the value


def test_equality_and_hash() -> None:
    tree = small(classes=["no", "yes"], test_names=["a", "b", "c"])
    same = small(classes=["no", "yes"], test_names=["a", "b", "c"], info={"log_joint": -3.0})
    assert tree == same
    assert hash(tree) == hash(same)
    assert len({tree, same}) == 1
    others = [
        small(),
        tree.replace(test_names=["a", "b", "d"]),
        tree.replace(classes=["yes", "no"]),
        tree.replace(proba=[[0.5, 0.5]] * 5),
        tree.replace(n_tests=4, test_names=None),
        tree.replace(test=(0, -1, 1, -1, -1)),
        tree.replace(counts=2 * tree.counts),
        tree.replace(says=[1, 1, 1, 1, 1]),
    ]
    assert tree not in others
    assert len(set(others)) == len(others)
    assert tree != "a tree"
    assert small(classes=[0, 1]) != small(classes=[False, True])


def test_same_structure_ignores_counts_and_labels() -> None:
    assert small().same_structure(small(classes=["a", "b"], counts=np.array(COUNTS) * 3))
    assert not small().same_structure(small(test=(2, -1, 0, -1, -1)))


def test_a_tree_cannot_be_changed() -> None:
    source = np.array(COUNTS)
    tree = small(counts=source)
    source[0, 0] = 99
    assert tree.counts[0, 0] == 5
    for array in (tree.children, tree.test, tree.counts, tree.proba, tree.says, tree.node_depths):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises(AttributeError, match=r"replace"):
        tree.n_tests = 7
    with pytest.raises(AttributeError, match="does not change"):
        del tree.test
    with pytest.raises(AttributeError):
        tree.something_new = 1
    with pytest.raises(TypeError):
        tree.info["x"] = 1  # type: ignore[index]


def test_nodes_say_the_most_probable_class_unless_told_otherwise() -> None:
    assert small().says.tolist() == [0, 0, 1, 0, 1]  # of several, the first
    tree = small(says=[1, 1, 1, 0, 0], classes=["no", "yes"])
    assert tree.error == 4 + 0 + 4
    assert tree.predict([[0, 0, 0], [0, 1, 0], [1, 1, 0]]).tolist() == ["yes", "no", "no"]
    assert [(rule.leaf, rule.label, rule.says) for rule in tree.rules()] == [
        (4, "no", 0), (3, "no", 0), (1, "yes", 1),
    ]  # fmt: skip
    assert str(tree.rules()[2]) == "not x1 → yes (p = 0.2, 5 examples)"
    assert "no:  yes  p = 0.2" in str(tree)
    # Another matrix overrules it, by the probabilities.
    assert tree.predict([[0, 0, 0]], [[0, 1], [1, 0]]).tolist() == ["no"]


def test_replace_keeps_what_nodes_say() -> None:
    tree = small(says=[1, 1, 1, 0, 0])
    other = tree.replace(proba=[[0.9, 0.1]] * 5, classes=["no", "yes"])
    assert other.says.tolist() == [1, 1, 1, 0, 0]
    assert other.replace(says=None).says.tolist() == [0] * 5


@pytest.mark.parametrize(
    ("says", "message"),
    [
        ([0] * 4, r"says has 4 entries: expected one per node, 5"),
        ([0, 0, 2, 0, 0], r"says\[2\] is 2: expected the index of one of 2 classes"),
        ([0, -1, 0, 0, 0], r"says\[1\] is -1: expected the index"),
        ([0.0] * 5, r"says holds float64 values: expected integers"),
        ([[0]] * 5, r"says has shape \(5, 1\): expected one dimension"),
    ],
)
def test_says_is_checked(says: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        small(says=says)


def test_copies_and_pickles() -> None:
    tree = small(classes=["no", "yes"], info={"optimal": True}, says=[1, 0, 0, 1, 0])
    assert copy.copy(tree) is tree
    assert copy.deepcopy(tree) is tree
    back = pickle.loads(pickle.dumps(tree))
    assert back == tree
    assert back.info == {"optimal": True}
    assert not back.counts.flags.writeable


def test_replace_refuses_unknown_parts() -> None:
    with pytest.raises(TypeError, match=r"replace\(\) got colour: expected some of children"):
        small().replace(colour="red")


def test_repr_is_one_line() -> None:
    assert repr(small()) == "Tree(n_leaves=3, depth=2, error=1, n_tests=3)"
    many = Tree([[-1, -1]], [-1], [list(range(26))], n_tests=0, classes=[chr(97 + c) for c in range(26)])
    assert len(repr(many)) < 120


def test_rules_list_every_leaf_yes_first() -> None:
    tree = small(test_names=["fever", "age <= 3", "z"], classes=["well", "ill"])
    rules = tree.rules()
    assert [rule.leaf for rule in rules] == [4, 3, 1]
    assert rules[1].items == ((1, True), (0, False))
    assert rules[1].conditions == ("age <= 3", "not fever")
    assert str(rules[0]) == "age <= 3 and fever → ill (p = 1, 4 examples)"
    assert str(rules[2]) == "not (age <= 3) → well (p = 0.8, 5 examples)"
    assert str(rules[1]).endswith("1 example)")
    assert np.sum([rule.counts for rule in rules], axis=0).tolist() == tree.counts[0].tolist()


@pytest.mark.long
def test_a_deep_tree_needs_no_recursion() -> None:
    depth = 3000  # far beyond Python's recursion limit
    nested: Any = None
    for t in reversed(range(depth)):
        nested = (t, None, nested)
    X = np.tri(50, depth, dtype=np.uint8)  # row r answers yes to tests 0..r
    tree = Tree.from_structure(nested, X, np.ones((50, 2), dtype=int))
    assert (tree.depth, tree.n_leaves) == (depth, depth + 1)
    assert tree.node_depths[tree.apply(X)].tolist() == list(range(2, 52))
    assert tree.decision_path(X).sum(axis=1).ravel().tolist()[0] == list(range(3, 53))
    assert Tree.from_key(tree.key, X, np.ones((50, 2), dtype=int)) == tree
    assert Tree.from_json(tree.to_json()) == tree
    assert len(tree.key) == tree.size


# ---- what the constructor refuses


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": []}, r"test is empty: expected at least one node"),
        ({"test": [[1]]}, r"test has shape \(1, 1\): expected one dimension"),
        ({"test": [0.5, -1, -1]}, r"test holds float64 values: expected integers"),
        ({"test": [3, -1, 0, -1, -1]}, r"test\[0\] is 3: expected -1 .* below n_tests = 3"),
        ({"test": [-2, -1, 0, -1, -1]}, r"test\[0\] is -2"),
        ({"test": [1, -1, -1, -1, -1]}, r"children\[2\]\[0\] is 3: node 2 is a leaf, expected -1"),
        ({"children": CHILDREN[:3]}, r"children has 3 entries: expected one per node, 5"),
        ({"children": [[1, 2, 3]]}, r"children has shape \(1, 3\): expected \(n, 2\)"),
        (
            {"children": [[1, 9], *CHILDREN[1:]]},
            r"children\[0\]\[1\] is 9: expected -1 \(none\) or a node below 5",
        ),
        (
            {"children": [[1, -1], *CHILDREN[1:]]},
            r"children\[0\]\[1\] is -1: node 0 is a split on test 1, expected",
        ),
        ({"children": [[2, 1], *CHILDREN[1:]]}, r"children\[0\]\[0\] is 2: expected 1.*preorder"),
        ({"children": [[1, 2], [-1, -1], [3, 3], *CHILDREN[3:]]}, r"children\[2\]\[1\] is 3: expected 4"),
        ({"children": [[1, 2], [-1, -1], [0, 0], *CHILDREN[3:]]}, r"children\[2\]\[0\] is 0: expected 3"),
        ({"counts": COUNTS[:4]}, r"counts has 4 entries"),
        ({"counts": [5, 4, 1, 1, 0]}, r"counts has shape \(5,\)"),
        ({"counts": np.zeros((5, 0), dtype=int)}, r"counts has shape \(5, 0\): expected \(n, at least 1\)"),
        (
            {"counts": np.array(COUNTS, dtype=float) * np.nan},
            r"counts\[0\]\[0\] is nan: expected a finite number",
        ),
        ({"counts": np.array(COUNTS, dtype=str)}, r"counts holds <U\d+ values: expected integers"),
        ({"counts": [[1], [2, 3]]}, r"counts is not a rectangular array"),
        ({"counts": [[5, 5], [4, 1], [1, 4], [1, 0], [0, -4]]}, r"counts\[4\]\[1\] is -4"),
        (
            {"counts": [[6, 5], *COUNTS[1:]]},
            r"counts\[0\] is \[6, 5\]: its children's counts add up to \[5, 5\]",
        ),
        ({"counts": np.full((5, 2), 2**62)}, r"counts\[0\] sums to more than 2\*\*62"),
        ({"counts": np.full((5, 2), 2**63, dtype=np.uint64)}, r"expected values below 2\*\*63"),
        ({"counts": [[10**30, 1]] * 5}, r"counts holds object values"),
        ({"proba": [[0.5, 0.5]]}, r"proba has 1 entries"),
        ({"proba": [[1.0]] * 5}, r"proba has shape \(5, 1\): expected \(n, 2\)"),
        ({"proba": [[0.5, 0.6]] * 5}, r"proba\[0\] sums to 1.1: expected 1"),
        ({"proba": [[1.5, -0.5]] * 5}, r"proba\[0\]\[1\] is -0.5"),
        ({"proba": [[np.nan, 1.0]] * 5}, r"proba\[0\]\[0\] is nan: expected a finite number"),
        ({"proba": [["a", "b"]] * 5}, r"proba holds <U1 values: expected real numbers"),
        ({"n_tests": -1}, r"n_tests is -1"),
        ({"n_tests": 2**40}, r"n_tests is 1099511627776: expected an integer from 0 to 2\*\*31 - 1"),
        ({"n_tests": 3.0}, r"n_tests is 3.0: expected an integer"),
        ({"n_tests": True}, r"n_tests is True"),
        ({"test_names": ["a"]}, r"test_names has 1 names: expected one per test, 3"),
        ({"test_names": "abc"}, r"test_names is 'abc': expected a sequence of 3 names"),
        ({"test_names": 5}, r"test_names is 5: expected a sequence"),
        ({"classes": 5}, r"classes is 5: expected a sequence"),
        ({"info": [1]}, r"info is \[1\]: expected a mapping"),
        ({"test_names": ["a", "b", 5]}, r"test_names\[2\] is 5: expected a string"),
        ({"classes": ["a"]}, r"classes has 1 labels: expected one per column of counts, 2"),
        ({"classes": "ab"}, r"classes is 'ab'"),
        ({"classes": ["a", "a"]}, r"classes\[1\] is 'a', the same as classes\[0\]"),
        ({"classes": ["a", float("nan")]}, r"classes\[1\] is nan: a label must equal itself"),
        ({"classes": ["a", []]}, r"classes\[1\] is \[\]: expected a hashable label"),
    ],
)
def test_bad_trees_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        small(**changes)
    assert isinstance(caught.value, (ValueError, EverytreeError))


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ((0, -1), r"ends too early"),
        ((0,), r"ends too early"),
        ((-1, -1), r"has 2 entries but its tree ends after 1"),
        ((7, -1, -1), r"test\[0\] is 7: expected -1 .* n_tests = 2"),
        ((-5,), r"test\[0\] is -5"),
        ((), r"tree structure is \(\)"),
        ("leaf", r"tree structure is 'leaf'"),
        ({"a": 1}, r"tree structure is \{'a': 1\}"),
        ((0, None), r"node 0 of the nested tree is \(0, None\)"),
        ((0, None, (1, None)), r"node 2 of the nested tree is \(1, None\)"),
        ((0, None, [1, None, None]), r"node 2 of the nested tree is \[1, None, None\]"),
        ((-1, None, None), r"node 0 of the nested tree tests -1"),
        (("x", None, None), r"node 0 of the nested tree tests 'x'"),
        ((True, None, None), r"node 0 of the nested tree tests True"),
    ],
)
def test_bad_structures_are_refused(structure: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Tree.from_structure(structure, [[0, 1]], [[1, 1]])


def test_a_nested_tree_that_shares_its_parts_cannot_explode() -> None:
    nested: Any = None
    for _ in range(60):  # 2**61 nodes if written out
        nested = (0, nested, nested)
    with pytest.raises(DataError, match=f"more than {MAX_NESTED_NODES} nodes"):
        Tree.from_structure(nested, [[0]], [[1, 1]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": [[0, 2]]}, r"rows\[0, 1\] is 2: expected 0 or 1"),
        ({"rows": [0, 1]}, r"rows has shape \(2,\)"),
        ({"rows": [[0, 1], [1]]}, r"rows is not a rectangular table"),
        ({"counts": [[1, 1], [1, 1]]}, r"counts has 2 rows: expected one per row of the table, 1"),
        ({"counts": [[1, -1]]}, r"counts\[0\]\[1\] is -1"),
        ({"counts": [[0.5, 1]]}, r"counts holds float64 values"),
        ({"counts": [[2**62, 2**62]]}, r"sums to more than 2\*\*62"),
        ({"rows": [[0], [1]], "counts": [[2**62, 0], [2**62, 0]]}, r"sums to more than 2\*\*62"),
        ({"dirichlet": 0}, r"dirichlet is 0: expected positive, finite numbers"),
        ({"dirichlet": [1, -1]}, r"dirichlet is \[1, -1\]"),
        ({"dirichlet": [1, 1, 1]}, r"dirichlet has shape \(3,\): .* one per class \(2\)"),
        ({"dirichlet": "many"}, r"dirichlet is 'many'"),
        ({"dirichlet": float("inf")}, r"dirichlet is inf"),
    ],
)
def test_bad_tables_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Tree.from_structure(
            **{"structure": (0, None, None), "rows": [[0, 1]], "counts": [[1, 1]], **arguments}
        )


def test_from_key_takes_only_keys() -> None:
    with pytest.raises(DataError, match=r"key\[1\] is None: expected a test index, or -1"):
        Tree.from_key((0, None, None), [[0]], [[1]])  # type: ignore[arg-type]


def test_messages_stay_short_whatever_the_value() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, 10**5000, [10**5000], "x" * 10**6, list(range(10**5))):
        assert len(tree_checks.clip(value)) <= 60
