"""EveryTreeClassifier: the mixture and its numbers, data of every kind and size, files, and what it tells people."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from law_of_pool import added_up
from sklearn.base import clone
from sklearn.datasets import load_iris

import everytree as et
from everytree.bayes.leave_one_out import left_out_proba
from everytree.bayes.stacking import SLIP
from everytree.common import spent as spent_module
from everytree.common.fields import sealed
from everytree.common.limits import Limits
from everytree.data.binarizer import reach_of_frame
from everytree.data.coded_rows import CodedRows
from everytree.data.frames import read_frame
from everytree.estimators import every_questions, every_tree, evidence_parts
from everytree.estimators.members import PRICE, Member, in_time, members_of, price_of, seconds_of
from everytree.estimators.screening import MOST_AVERAGED, averaged_columns, kept_columns
from everytree.report.page import write_report
from everytree.space.frame_space import frame_table


def people(n: int = 90, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 60, n),
            "weight": rng.normal(70, 10, n).round(1),
            "color": rng.choice(["blue", "red", "green"], n),
            "flag": rng.integers(0, 2, n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "weight"] = np.nan
    return frame, np.where((frame["age"] > 40) ^ (rng.random(n) < 0.15), "yes", "no")


@pytest.fixture(scope="module")
def fitted() -> tuple[et.EveryTreeClassifier, pd.DataFrame, np.ndarray]:
    X, y = people()
    return et.EveryTreeClassifier(time_limit=None).fit(X, y), X, y


def said_by_each(model: et.EveryTreeClassifier, X: pd.DataFrame) -> list[np.ndarray]:
    """What each average says, and each forest of deep trees."""
    reach = reach_of_frame(model.coded_.binarizer, read_frame(X, model))
    deep = [each.forest.mean(reach, 1, Limits().control()) for each in model.forests_]
    return [*(part.predict_proba(X) for part in model.models_), *deep]


def test_the_probabilities_are_the_shares_moved_by_the_evidence_of_the_models(fitted) -> None:
    model, X, y = fitted
    each = said_by_each(model, X)
    shares = np.array([(y == label).mean() for label in model.classes_])
    assert np.allclose(model.shares_, shares)
    assert np.allclose(model.predict_proba(X), added_up(each, model.weights_, shares, len(y)), atol=1e-12)
    assert np.allclose(model.raw_proba(X), np.average(each, axis=0, weights=model.weights_), atol=1e-12)
    moved = model.evidence_of(X).sum(axis=2) + np.log(shares)
    moved = np.exp(moved) / np.exp(moved).sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(X), moved, atol=0.25 / len(y))
    assert [each["weight"] for each in model.members_] == model.weights_of_models().tolist()
    assert (model.weights_ > 0).all()


def test_members_have_the_columns_that_they_say(fitted) -> None:
    model, X, _ = fitted
    for part, member in zip(model.models_, model.members_, strict=True):
        used = {name for name, share in part.attribute_inclusion().items() if share > 0}
        assert used <= set(member["columns"])
        assert (part.max_depth, part.bins) == (member["depth"], member["bins"])
        other = X.copy()
        for name in set(X.columns) - set(member["columns"]):
            other[name] = other[name].to_numpy()[::-1]
        assert np.array_equal(part.predict_proba(other), part.predict_proba(X))


@pytest.mark.long
def test_what_is_said_of_left_out_rows_is_that_of_refitted_averages(monkeypatch: pytest.MonkeyPatch) -> None:
    """With nominal rows that occur twice the space does not change without one: refitting is the definition."""
    monkeypatch.setattr(every_tree, "can_grow", lambda coded: False)
    rng = np.random.default_rng(2)
    X = pd.DataFrame([(a, b, c) for a in "xyz" for b in "uv" for c in "pq"] * 2, columns=["a", "b", "c"])
    y = np.where((X["a"] == "x") ^ (rng.random(24) < 0.2), 1, 0)
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    shares = np.bincount(y) / len(y)
    losses = []
    for i in range(24):
        rest = np.arange(24) != i
        said = []
        for part, member in zip(model.models_, model.members_, strict=True):
            params = part.get_params() | {"dirichlet": tuple((0.25 * shares).tolist())}
            again = et.BayesOptimalClassifier(**params).fit(X[rest][member["columns"]], y[rest])
            said.append(again.predict_proba(X[i : i + 1][member["columns"]])[0])
        losses.append(-np.log(added_up(said, model.weights_, shares, 24)[y[i]]))
    assert model.pooled_log_loss_ == pytest.approx(np.mean(losses), abs=1e-10)
    assert model.loo_log_loss_ >= model.pooled_log_loss_ - 0.05


def test_the_numbers_are_those_of_the_left_out_rows(fitted) -> None:
    model, _, y = fitted
    codes = np.searchsorted(model.classes_, y)
    own = model.loo_proba_[np.arange(len(y)), codes]
    assert model.loo_log_loss_ == pytest.approx(-np.log(own).mean())
    assert model.loo_log_loss_error_ == pytest.approx(np.log(own).std(ddof=1) / np.sqrt(len(y)))
    assert model.loo_accuracy_ == pytest.approx((model.loo_proba_.argmax(axis=1) == codes).mean())
    shares = np.bincount(codes) / len(y)
    assert model.baseline_log_loss_ == pytest.approx(-(shares * np.log(shares)).sum())
    assert model.loo_log_loss_ < model.baseline_log_loss_


@pytest.mark.long
def test_weights_count_rows(fitted) -> None:
    model, X, y = fitted
    weights = np.arange(len(y)) % 3
    again = et.EveryTreeClassifier(None).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = et.EveryTreeClassifier(None).fit(X.iloc[rows], y[rows])
    assert np.allclose(again.predict_proba(X), repeated.predict_proba(X), atol=1e-12)
    assert again.loo_log_loss_ == pytest.approx(repeated.loo_log_loss_)
    assert np.isnan(again.loo_proba_[weights == 0]).all()
    assert not np.allclose(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.long
def test_it_is_the_same_every_time_and_in_any_order_of_rows(fitted) -> None:
    model, X, y = fitted
    again = et.EveryTreeClassifier(None).fit(X[::-1], y[::-1])
    assert np.allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-12)
    other = et.EveryTreeClassifier(None, random_state=1).fit(X, y)
    assert not np.array_equal(other.predict_proba(X), model.predict_proba(X))
    with pytest.raises(et.QueryError, match="random_state"):
        et.EveryTreeClassifier(None, random_state="seed").fit(X, y)


@pytest.mark.parametrize("kept", [[0, 1, 2, 3], [1], [0, 2]])
def test_a_table_of_some_columns_is_that_of_a_binarizer_of_these(kept: list[int]) -> None:
    X, y = people()
    codes = np.unique(y, return_inverse=True)[1]
    whole, place = CodedRows.of_frame(
        et.Binarizer(cuts="local", missing="category"), read_frame(X), codes, ["no", "yes"], None
    )
    part = whole.only(kept, 2)
    made = et.Binarizer(bins=2, cuts="local", missing="category")
    other = frame_table(made, read_frame(X.iloc[:, kept]), codes, ["no", "yes"], None)
    assert part.table.fingerprint() == other.fingerprint()
    assert part.table.columns.array.tolist() == other.columns.array.tolist()
    tests = np.ascontiguousarray(made.transform(X.iloc[:, kept]), dtype=np.uint8)
    assert np.array_equal(part.table.rows[part.place[place]], tests)


def test_members_differ_and_keep_their_price() -> None:
    X, y = people(200)
    X = pd.concat([X, X.rename(columns=lambda name: f"{name} too")], axis=1)
    whole, _ = CodedRows.of_frame(
        et.Binarizer(cuts="local", missing="category"),
        read_frame(X),
        np.unique(y, return_inverse=True)[1],
        [0, 1],
        None,
    )
    encodings = whole.binarizer.encodings_
    members = list(members_of(encodings, 0))
    assert members == list(members_of(encodings, 0))
    assert len({(each.columns, each.bins) for each in members}) == len(members)
    assert [each.columns for each in members[:8]] == [(j,) for j in range(8)]
    assert Member(tuple(range(8)), 2, members[10].depth) == members[10]
    assert all(price_of(encodings, each) <= PRICE for each in members)
    deeper = [each._replace(depth=each.depth + 1) for each in members[8:] if each.depth < 7]
    assert deeper
    assert all(price_of(encodings, each) > PRICE for each in deeper)
    assert all(price_of(encodings, each) <= 50 for each in members_of(encodings, 0, 50.0))


# --- kinds of data


KINDS = {
    "one class": (np.arange(20.0).reshape(10, 2), np.zeros(10, dtype=int)),
    "constant columns": (np.ones((12, 2)), np.array([0, 1] * 6)),
    "one row": (np.ones((1, 2)), np.array([3])),
    "two rows": (np.eye(2), np.array([0, 1])),
    "all missing": (np.full((8, 1), np.nan), np.array([0, 1] * 4)),
    "rare class": (np.random.default_rng(0).normal(size=(60, 2)), np.array([1] + [0] * 59)),
    "many classes": (np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 20),
    "nominal": (np.array([["a", "x"], ["b", "x"], ["a", "y"]] * 6, dtype=object), np.array([0, 1, 1] * 6)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_data_has_an_answer(kind: str) -> None:
    X, y = KINDS[kind]
    model = et.EveryTreeClassifier().fit(X, y)
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), len(np.unique(y)))
    assert np.allclose(proba.sum(axis=1), 1)
    assert (proba >= 0).all()
    assert np.isfinite(model.loo_log_loss_)
    assert ("How sure" if len(np.unique(y)) > 1 else "nothing to learn") in model.summary()


def test_where_nothing_is_to_be_learned_the_class_shares_are_answered() -> None:
    X, y = np.ones((40, 1)), np.array([0] * 30 + [1] * 10)
    assert np.allclose(et.EveryTreeClassifier().fit(X, y).predict_proba(X[:1]), [[0.75, 0.25]], atol=0.03)


# --- sizes


@pytest.mark.long
def test_columns_are_left_out_where_there_are_too_many() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 90))
    y = (X[:, 71] > 0).astype(int)
    model = et.EveryTreeClassifier(time_limit=3).fit(X, y)
    assert model.columns_used_.size == 90
    averaged = averaged_columns(model.coded_)
    assert len(averaged) == MOST_AVERAGED
    assert 71 in averaged
    assert {name for member in model.members_ for name in member["columns"]} <= {f"x{j}" for j in averaged}
    assert any("averages use 60 of 90 columns" in note for note in model.notes_)
    assert "nearest single tree" in str(model.nearest_tree())
    assert model.score(X, y) > 0.9
    assert list(model.attribute_inclusion())[71] == "x71"
    assert model.feature_importances_.argmax() == 71
    assert model.explain_row(X[:1]).proba == pytest.approx(model.predict_proba(X[:1])[0])


def test_the_first_average_is_taken_however_short_the_time() -> None:
    X, y = people(60)
    model = et.EveryTreeClassifier(time_limit=1e-9).fit(X, y)
    assert model.n_tried_ == 1
    assert any("do not fit the time" in note for note in model.notes_)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_an_average_has_less_depth_where_time_is_short(fitted) -> None:
    coded, member = fitted[0].coded_, Member((0, 1), 4, 4)
    deep = [seconds_of(coded, member._replace(depth=depth)) for depth in (2, 3, 4)]
    assert deep == sorted(set(deep))
    assert in_time(coded, member, deep[2]) == member
    assert in_time(coded, member, deep[1]).depth == 3
    assert in_time(coded, member, -1.0).depth == 2  # fewer levels take no less
    assert in_time(coded, member._replace(depth=1), -1.0).depth == 1
    model = et.EveryTreeClassifier(time_limit=1e-9).fit(*people(60))
    assert [each["depth"] for each in model.members_] == [2]


def test_what_is_said_of_left_out_examples_needs_no_rows(fitted) -> None:
    posterior = fitted[0].models_[0].posterior_
    np.testing.assert_array_equal(left_out_proba(posterior), posterior.leave_one_out().proba)


def test_evidence_that_does_not_fit_the_memory_is_refused() -> None:
    X, y = lines()
    model = et.EveryTreeClassifier(time_limit=1, memory_limit=40_000_000).fit(X, y)
    model.set_params(memory_limit=model._held() + 16 * len(X) * len(model.weights_) - 1)
    with pytest.raises(et.LimitReached, match="predict fewer rows at a time"):
        model.evidence_of(X)
    assert model.predict_proba(X[:1]).shape == (1, 2)
    assert model.evidence_of(X[:1]).shape == (1, 2, len(model.weights_))


@pytest.mark.parametrize("name", ["MOST_BYTES", "MOST_NUMBERS"])
def test_memory_is_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = people(60)
    monkeypatch.setattr(every_tree, name, 500)
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    assert model.n_tried_ < 8
    assert any("do not fit the memory" in note for note in model.notes_)


def lines(n: int = 300, n_columns: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0).astype(int)


def test_a_limit_of_memory_leaves_out_averages_and_forests_and_says_so() -> None:
    X, y = lines()
    all_of_it = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    tried = []
    for limit in (200_000_000, 30_000_000, 15_000_000):
        model = et.EveryTreeClassifier(time_limit=None, memory_limit=limit).fit(X, y)
        tried.append(model.n_tried_)
        said = any("do not fit the memory" in note for note in model.notes_)
        assert said == (model.n_tried_ < all_of_it.n_tried_)
        assert model._held() < limit
        proba = model.predict_proba(X)
        assert np.allclose(proba.sum(axis=1), 1)
        assert model.loo_log_loss_ < model.baseline_log_loss_
    assert all_of_it.n_tried_ >= tried[0] > tried[1] > tried[2] >= 1
    least_of_it = model.summary()
    assert "do not fit the memory" in least_of_it


@pytest.mark.parametrize("limit", [1, 100_000, 4_000_000])
def test_a_limit_of_memory_that_nothing_fits_is_told(limit: int) -> None:
    X, y = lines()
    with pytest.raises(
        et.LimitReached, match=r"would take .* MiB in all, .*memory_limit, or fit fewer"
    ) as told:
        et.EveryTreeClassifier(time_limit=None, memory_limit=limit).fit(X, y)
    assert told.value.reason == "memory"


def test_predictions_keep_the_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = lines()
    model = et.EveryTreeClassifier(time_limit=1, memory_limit=40_000_000).fit(X, y)
    many = np.tile(X, (40, 1))
    whole = model.predict_proba(many)
    sizes = []
    genuine = evidence_parts.row_batches

    def batches(n_rows: int, per_row: int, room: int):
        for some in genuine(n_rows, per_row, room):
            sizes.append(some.size * per_row)
            yield some

    monkeypatch.setattr(every_questions, "row_batches", batches)
    model.set_params(memory_limit=model._held() + 16 * len(many) + 300_000)
    np.testing.assert_allclose(model.predict_proba(many), whole, rtol=1e-12)
    assert len(sizes) > 1
    assert max(sizes) <= 300_000
    model.set_params(memory_limit=model._held() + 16 * len(many) - 1)
    with pytest.raises(
        et.LimitReached, match=r"the probabilities of 12000 rows .* predict fewer rows at a time"
    ):
        model.predict_proba(many)


def test_a_limit_of_memory_is_in_the_file_and_holds_for_each_average(tmp_path) -> None:
    X, y = lines(150)
    model = et.EveryTreeClassifier(time_limit=None, memory_limit=30_000_000).fit(X, y)
    model.save(tmp_path / "model.json")
    again = et.load_model(tmp_path / "model.json")
    assert again.memory_limit == 30_000_000
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    for each in (model, again):
        left = [average.posterior_.space.limits.memory_limit for average in each.models_]
        assert all(0 < n < 30_000_000 for n in left)
    free = et.EveryTreeClassifier(time_limit=0.5).fit(X, y)
    assert {average.posterior_.space.limits.memory_limit for average in free.models_} == {None}


def test_text_with_too_many_values_is_left_out() -> None:
    X, y = people(300)
    X["name"] = [f"person {i}" for i in range(300)]
    model = et.EveryTreeClassifier(time_limit=1).fit(X, y)
    assert model.columns_used_.tolist() == [0, 1, 2, 3]
    assert "1 text column with more than 256 values left out" in model.notes_


def test_predictions_in_batches_are_the_same(fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    model, X, _ = fitted
    before = model.predict_proba(X)
    monkeypatch.setattr(evidence_parts, "BATCH", 500)
    np.testing.assert_allclose(model.predict_proba(X), before, rtol=1e-12)


def test_screening_keeps_what_tells_most() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    told, missing = rng.normal(size=200) + 3 * y, np.where(y == 1, np.nan, 1.0)
    frame = read_frame(
        np.column_stack([rng.normal(size=200), told, rng.normal(size=200), missing, np.ones(200)])
    )
    assert kept_columns(frame, y, None, 2) == [1, 3]
    assert kept_columns(frame, y, None, 9) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("limit", [0, -1, "long", True])
def test_bad_limits_are_refused(limit: object) -> None:
    with pytest.raises(et.QueryError, match="time_limit"):
        et.EveryTreeClassifier(limit).fit([[0], [1]], [0, 1])
    with pytest.raises(et.QueryError, match="memory_limit"):
        et.EveryTreeClassifier(memory_limit=limit).fit([[0], [1]], [0, 1])


# --- people and files


@pytest.mark.long
def test_summary_and_nearest_tree() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = et.EveryTreeClassifier(time_limit=1).fit(X, y)
    near = model.nearest_tree(max_depth=2)
    assert near.tree.depth <= 2
    assert 0.9 < near.agreement <= 1
    assert near.accuracy <= near.agreement + 0.1
    assert near.average_accuracy == pytest.approx(model.loo_accuracy_)
    text = model.summary(top=2)
    assert "petal" in text
    assert "log-loss" in text.lower()
    assert "nearest single tree" in text
    with pytest.raises(et.QueryError, match="max_depth"):
        model.nearest_tree(5)
    with pytest.raises(et.QueryError, match="leaf_share"):
        model.nearest_tree(2, leaf_share=1)


def test_an_explanation_of_classes_without_overlap_has_odds_as_powers_of_ten() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {"a": rng.normal(size=120), "b": rng.choice(list("xyz"), 120), "c": rng.integers(0, 5, 120)}
    )
    y = np.where((X.a > 0) ^ (X.b == "x"), "p", "q")
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    # Weights are never so large, but a file may say so.
    model.weights_by_class_ = 200 * model.weights_by_class_
    assert np.abs(np.diff(model.evidence_of(X).sum(axis=2))).max() > 710  # e to the power of this is no float
    assert all("10^" in str(model.explain_row(X[k : k + 1])) for k in range(5))


@pytest.mark.parametrize("kind", ["one column", "two columns that tell nothing alone"])
def test_columns_that_tell_nothing_come_last(kind: str, tmp_path) -> None:
    """A weight is only how much evidence counts; averages without any had the columns that were named first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    if kind == "one column":
        y, true = X[:, 0] + 0.7 * rng.normal(size=400) > 0, {"x0"}
    else:
        y, true = (X[:, 0] > 0) ^ (X[:, 1] > 0) ^ (rng.random(400) < 0.1), {"x0", "x1"}
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    used = model.attribute_inclusion()
    assert set(sorted(used, key=used.get, reverse=True)[: len(true)]) == true
    assert min(used[name] for name in true) > 0.9
    assert all(0 <= share <= 1 for share in used.values())
    model.save(tmp_path / "model.json")
    assert et.load_model(tmp_path / "model.json").attribute_inclusion() == pytest.approx(used, abs=1e-9)


def test_saved_and_pickled_it_predicts_the_same(fitted, tmp_path) -> None:
    model, X, _ = fitted
    path = tmp_path / "model.json"
    model.save(path, "group")
    loaded = et.load_model(path)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.summary() == model.summary()
    assert loaded.label_name() == "group"
    assert loaded.column_kinds() == model.column_kinds()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
    assert clone(loaded).get_params() == model.get_params()


def test_classes_of_a_scale_are_weighed_apart_and_saved_so(tmp_path) -> None:
    """Which side of a scale goes down is nobody's column alone: averages tell the sides, and none the middle."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(1, 5, (150, 3)), columns=["left", "right", "hand"])
    turn = X["left"] * 3 - X["right"] * X["hand"]
    y = np.where(turn > 0, "L", np.where(turn < 0, "R", "B"))
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    assert np.ptp(model.weights_by_class_, axis=1).max() > 0.02
    assert np.array_equal(model.weights_, model.weights_by_class_.mean(axis=1))
    each = said_by_each(model, X)
    law = added_up(each, model.weights_by_class_, model.shares_, len(y))
    assert np.allclose(model.predict_proba(X), law, atol=1e-12)
    model.save(tmp_path / "scale.json", "tips")
    X.assign(tips=y).to_csv(tmp_path / "scale.csv", index=False)
    loaded = et.load_model(tmp_path / "scale.json")
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(loaded.weights_, model.weights_)
    report = et.verify_model(tmp_path / "scale.json", tmp_path / "scale.csv")
    assert report["pooled_log_loss"].verdict == "true"
    assert not [fact for fact in report.facts if fact.verdict == "false"]


def test_files_with_one_weight_for_all_classes_are_read(tmp_path) -> None:
    X, y = people(40)
    X = X[["color", "flag"]]
    model = et.EveryTreeClassifier(time_limit=None).fit(X, y)
    model.save(tmp_path / "new.json", "group")
    data = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))
    data["version"] = 2
    assert data.pop("forests") == []
    for each in data["members"]:
        each["weight"] = each.pop("weights")[0]
    old, csv = tmp_path / "old.json", tmp_path / "rows.csv"
    old.write_text(json.dumps(sealed({k: v for k, v in data.items() if k != "digest"})), encoding="utf-8")
    X.assign(group=y).to_csv(csv, index=False)
    assert np.allclose(et.load_model(old).predict_proba(X), model.predict_proba(X), atol=1e-15)
    assert et.verify_model(old, csv)["pooled_log_loss"].verdict == "true"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["members"][0]["weights"].__setitem__(0, -1), "weights is"),
        (lambda d: d["members"][0]["weights"].pop(), "weights is"),
        (lambda d: d["members"][0].update(weights=0.5), "weights is"),
        (lambda d: d["members"][0].update(loo_log_loss=None), "loo_log_loss is"),
        (lambda d: d["members"][0].update(depth=99), "depth is"),
        (lambda d: d["members"][0].update(columns=[9]), "columns is"),
        (lambda d: d.update(members=[]), "members is"),
        (lambda d: d.update(members=[1]), "members"),
        (lambda d: d.update(columns_used=[9]), "columns_used is"),
        (lambda d: d.update(examples=3), "examples is"),
        (lambda d: d["examples"]["codes"].__setitem__(0, [1]), "examples.codes"),
        (lambda d: d["examples"]["codes"][0].__setitem__(0, 999), "examples.codes"),
        (lambda d: d["examples"]["codes"].reverse(), "in their order"),
        (lambda d: d["examples"]["counts"].__setitem__(0, [0, 0]), "examples.counts"),
        (lambda d: d["decided"].pop(), "decided is"),
        (lambda d: d["decided"].__setitem__(0, 1 - d["decided"][0]), "most probable class of left_out"),
        (lambda d: d.update(left_out=3), "left_out is"),
        (lambda d: d.update(left_out="*"), "left_out is no base64"),
        (lambda d: d.update(left_out=d["left_out"][4:]), "left_out has"),
        (
            lambda d: d.update(
                left_out="A" * len(d["left_out"].rstrip("=")) + "=" * d["left_out"].count("=")
            ),
            "sum to 1",
        ),
        (lambda d: d["claims"].update(notes=3), "claims.notes is"),
        (lambda d: d["claims"].update(n_tried=0), "claims.n_tried is"),
        (lambda d: d.update(classes=["a"]), "classes|counts"),
        (lambda d: d["members"][0]["weights"].__setitem__(0, 0.5), "digest is"),
    ],
)
def test_a_changed_file_is_refused(fitted, tmp_path, change, message) -> None:
    model, _, _ = fitted
    path = tmp_path / "model.json"
    model.save(path)
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(et.DataError, match=message):
        et.load_model(path)


def test_costs_decide_and_change_no_probability(fitted) -> None:
    model, X, y = fitted
    costly = et.EveryTreeClassifier(None, cost_matrix=[[0, 1], [50, 0]]).fit(X, y)
    assert np.array_equal(costly.predict_proba(X), model.predict_proba(X))
    assert (costly.predict(X) == "yes").sum() > (model.predict(X) == "yes").sum()


def test_its_page_is_written(fitted, tmp_path) -> None:
    model, X, y = fitted
    assert write_report(model, tmp_path / "page.html", X.assign(y=y), target="y") > 10_000


def test_the_time_may_be_called_a_budget() -> None:
    assert et.EveryTreeClassifier(time_budget=2.5).get_params()["time_limit"] == 2.5
    assert et.EveryTreeClassifier().set_params(time_budget=None).time_limit is None
    with pytest.raises(et.QueryError, match="two values of one parameter"):
        et.EveryTreeClassifier(time_limit=1, time_budget=2)


def test_time_that_others_use_hardly_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, own = iter([100.0, 102.0, 120.0]), iter([7.0, 8.5, 8.5])
    monkeypatch.setattr(spent_module.time, "monotonic", lambda: next(wall))
    monkeypatch.setattr(spent_module.time, "thread_time", lambda: next(own))
    spent = spent_module.Spent()
    assert spent.seconds == 1.5  # of two on the wall
    assert spent.seconds == 5.0  # a quarter of twenty


@pytest.mark.parametrize("classes", [2, 3])
def test_an_explanation_names_the_factors_that_make_the_answer(classes: int) -> None:
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=["a", "b", "c", "d"])
    y = np.array(["no", "yes", "maybe"])[((X["a"] > 0).astype(int) + (X["b"] > 0.5)).clip(upper=classes - 1)]
    model = et.EveryTreeClassifier(time_limit=2).fit(X, y)
    for row in range(5):
        why = model.explain_row(X[row : row + 1])
        assert why.proba == pytest.approx(model.predict_proba(X[row : row + 1])[0])
        one, other = np.argsort(why.proba)[::-1][:2]
        powers = np.array(why.shares) * np.exp(np.sum(why.evidence, axis=0))
        kept = SLIP / len(y)
        assert why.proba == pytest.approx((1 - kept) * powers / powers.sum() + kept * np.array(why.shares))
        text = str(why)
        assert f"odds of {why.classes[one]} against {why.classes[other]}" in text
        # Eight averages at most, none that moves the odds by less than a hundredth but the first, and the rest as one.
        moves = np.abs([each[one] - each[other] for each in why.evidence])
        told = max(1, min(8, int((moves >= 0.015).sum())))
        assert text.count("×") == told + (len(moves) > told)
        # The rules and all other rules of the average that is shown make up what it says by itself.
        own = np.array(why.base) + np.sum([rule.move for rule in why.rules], axis=0) + why.own_rest
        assert own == pytest.approx(why.own_proba)
        assert json.dumps(why.to_dict())
