"""Hyper-parameters by evidence: every point against the reference, the guarantee, the weights, and the messages."""

from __future__ import annotations

import decimal
import math
import pickle

import numpy as np
import pytest

import everytree as et
from everytree import reference
from everytree.bayes.hyper import asked, dirichlet_family, prior_family

WORDS = [
    {"prior": "fit", "dirichlet": 1.0},
    {"prior": "coding", "dirichlet": "fit"},
    {"prior": "fit", "dirichlet": "fit"},
    {"prior": "fit_leaf_penalty", "dirichlet": "1/C"},
    {"prior": et.SizePrior(0.95, 0.5), "dirichlet": "fit_per_class"},
    {"prior": "size", "dirichlet": "fit_decay"},
]


def table(seed, n_classes=2, n_tests=3, n=24):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, n_tests))
    y = np.where(rng.random(n) < 0.2, rng.integers(0, n_classes, n), X[:, 0] % n_classes)
    y[:n_classes] = range(n_classes)
    return X, y


def space(seed, max_depth=2, min_leaf=1, **options):
    return et.TreeSpace(*table(seed, **options), max_depth=max_depth, min_leaf=min_leaf)


def reference_evidence(made, prior, dirichlet):
    """log evidence under the reference's definitions, for a prior that is made to sum to one."""
    twin = reference.Space(
        reference.Table(
            [tuple(map(int, row)) for row in made.table.rows],
            [tuple(map(int, n)) for n in made.table.class_counts],
        ),
        made.max_depth,
        made.min_leaf,
    )
    kind = getattr(reference, type(prior).__name__)
    numbers = {"SizePrior": ("alpha", "beta"), "LeafPenaltyPrior": ("omega",)}.get(type(prior).__name__, ())
    same = kind(*(getattr(prior, name) for name in numbers))
    if isinstance(dirichlet, et.DepthDecay):
        dirichlet = reference.DepthDecay(dirichlet.scale, dirichlet.rate)
    model = reference.Bayes(twin, same, 1 / len(made.classes) if dirichlet == "1/C" else dirichlet)
    total = 0.0
    if isinstance(prior, et.LeafPenaltyPrior):
        trees = list(twin.enumerate_trees())
        logs = [
            model.log_joint(tree) - sum(model.log_m(leaf.cover, leaf.depth) for leaf in leaves(tree, twin))
            for tree in trees
        ]
        total = float(np.logaddexp.reduce(logs))
    return model.log_evidence - total


def leaves(tree, twin):
    return [node for node in reference.nodes_of(tree, twin.table) if node.test is None]


@pytest.mark.parametrize("words", WORDS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_point_is_the_evidence_of_the_reference(words, n_classes):
    made = space(3, n_classes=n_classes)
    fit = et.fit_evidence(made, **words, max_evaluations=60)
    for point in fit.curve[::7]:
        assert point.log_evidence == pytest.approx(
            reference_evidence(made, point.prior, point.dirichlet), abs=1e-9
        )


@pytest.mark.parametrize("words", WORDS, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_never_below_the_default(words, seed):
    made = space(seed, max_depth=1 + seed % 3, min_leaf=1 + seed % 4, n_classes=2 + seed % 2)
    fit = et.fit_evidence(made, **words)
    first = fit.curve[0]
    assert fit.default is first
    assert fit.gain >= 0
    assert fit.log_evidence == max(point.log_evidence for point in fit.curve)
    assert fit.posterior.prior == fit.prior
    if not isinstance(fit.prior, et.LeafPenaltyPrior):
        assert made.posterior(fit.prior, fit.dirichlet).log_evidence == fit.log_evidence
        # What is in force without a choice: the defaults of the family, and what was given.
        given = words["dirichlet"]
        usual = {"fit": 1.0, "fit_per_class": 1.0, "fit_decay": et.DepthDecay()}
        prior = et.SizePrior() if words["prior"] == "fit" else words["prior"]
        usual_post = made.posterior(prior, usual.get(given, given) if isinstance(given, str) else given)
        assert fit.default.log_evidence == usual_post.log_evidence


def test_one_number_is_at_its_maximum():
    made = space(5, n=60)
    fit = et.fit_evidence(made, prior="size")
    scan = np.exp(np.linspace(math.log(0.02), math.log(50), 400))
    best = max(made.posterior("size", float(a)).log_evidence for a in scan)
    assert fit.log_evidence >= best - 0.001
    assert fit.stop_reason == "converged"


def test_several_numbers_are_near_their_maximum():
    made = space(6, n=60, max_depth=2)
    fit = et.fit_evidence(made)
    best = max(
        made.posterior(et.SizePrior(a, b), d).log_evidence
        for a in np.linspace(0.05, 0.99, 12)
        for b in np.linspace(0, 4, 9)
        for d in np.exp(np.linspace(math.log(0.05), math.log(20), 24))
    )
    assert fit.log_evidence >= best - 0.05


def test_weights_are_the_posterior_of_the_grid():
    made = space(7)
    fit = et.fit_evidence(made, refine=False, keep=True)
    evidence = np.exp([point.log_evidence for point in fit.grid])
    assert fit.stop_reason == "grid"
    assert len(fit.grid) == len(fit.curve) == len(fit.weights)
    np.testing.assert_allclose(fit.weights, evidence / evidence.sum(), rtol=1e-9)


def test_the_average_is_the_mixture():
    made = space(8, n=40)
    fit = et.fit_evidence(made, refine=False, keep=True)
    mixed = fit.average()
    X = made.table.rows
    expected = sum(
        w * made.posterior(p.prior, p.dirichlet).predict_proba(X)
        for w, p in zip(fit.weights, fit.grid, strict=True)
    )
    np.testing.assert_allclose(mixed.predict_proba(X), expected, atol=3e-6)
    np.testing.assert_allclose(mixed.predict_proba(X).sum(axis=1), 1)
    assert mixed.weights.sum() == pytest.approx(1)
    logs = [p.log_evidence for p in fit.grid]
    assert mixed.log_evidence == pytest.approx(np.logaddexp.reduce(logs) - math.log(len(logs)))
    tree = mixed.best.map_tree()
    assert mixed.log_prob(tree) == pytest.approx(
        np.log(
            sum(w * math.exp(p.log_prob(tree)) for w, p in zip(mixed.weights, mixed.posteriors, strict=True))
        )
    )
    assert mixed.leaves_distribution().sum() == pytest.approx(1)
    assert mixed.depth_distribution().sum() == pytest.approx(1)
    assert mixed.expected_leaves == pytest.approx(
        np.arange(len(mixed.leaves_distribution())) @ mixed.leaves_distribution()
    )
    assert mixed.test_inclusion().shape == mixed.root_distribution().shape == (3,)
    assert mixed.expected_depth <= 2
    assert mixed.predict(X).tolist() == np.argmax(mixed.predict_proba(X), axis=1).tolist()
    again = pickle.loads(pickle.dumps(mixed))
    assert np.array_equal(again.predict_proba(X), mixed.predict_proba(X))


@pytest.mark.long
def test_draws_of_the_average_have_its_probabilities():
    mixed = et.fit_evidence(space(9, n=16), refine=False, keep=True).average()
    draws = mixed.sample(4000, random_state=0)
    assert [t.key for t in draws] == [t.key for t in mixed.sample(4000, random_state=0)]
    share = np.mean([tree.n_leaves == 1 for tree in draws])
    p = mixed.leaves_distribution()[1]
    assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / 4000) + 1e-9


def test_the_same_whatever_the_number_of_threads():
    X, y = table(10, n=50)
    fits = [et.fit_evidence(et.TreeSpace(X, y, 3, n_jobs=n)) for n in (1, 2)]
    assert fits[0].parameters == fits[1].parameters
    assert [p.log_evidence for p in fits[0].curve] == [p.log_evidence for p in fits[1].curve]


def test_the_start_is_tried_first_and_keeps_its_fairness():
    X, y = table(11)
    made = et.TreeSpace(X, y, 2, attributes=[0, 0, 1])
    start = et.SizePrior(0.7, 1.1, attribute_fair=True)
    fit = et.fit_evidence(made, "fit", 1.0, start=start)
    assert fit.default.prior == start
    assert fit.prior.attribute_fair
    assert fit.log_evidence >= made.posterior(start, 1.0).log_evidence


def test_a_grid_of_ones_own():
    fit = et.fit_evidence(space(1), "fit", 1.0, grid={"alpha": [0.6], "beta": [0.0, 1.0]}, refine=False)
    assert [(p.parameters["alpha"], p.parameters["beta"]) for p in fit.curve] == [
        (0.8, 0.8),
        (0.6, 0.0),
        (0.6, 1.0),
    ]


def test_a_time_limit_keeps_what_was_tried():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (150, 30)), rng.integers(0, 2, 150)
    # measured here: the limit must let one fold through and end the rest
    import time

    begun = time.monotonic()
    et.TreeSpace(X, y, 3).posterior()
    once = time.monotonic() - begun
    fit = et.fit_evidence(et.TreeSpace(X, y, 3, time_limit=max(0.3, 6 * once)), max_evaluations=100_000)
    assert fit.stop_reason in ("time limit", "converged")
    assert fit.gain >= 0


def test_no_time_for_a_second_point():
    made = space(2)
    from everytree.bayes import evidence

    search = evidence._Search(made, evidence._families(made, "size", "fit", None), et.SizePrior(), 1.0, False)
    search._end = -math.inf
    assert search.look((1.0,), on_grid=True)
    assert not search.look((2.0,), on_grid=True)
    assert search.result().stop_reason == "time limit"


def test_an_average_that_would_not_fit():
    X, y = table(1, n=200, n_tests=12)
    made = et.TreeSpace(X, y, 5)
    n_states = made.n_states
    # Mined already: room for one fold of the graph, but not for the sums of many.
    n_bytes = made.posterior().core.n_bytes
    tight = et.TreeSpace(X, y, 5, memory_limit=n_bytes + 40 * n_states)
    tight.graphs = made.graphs
    with pytest.raises(et.LimitReached, match="an average keeps the sums"):
        et.fit_evidence(tight, refine=False, keep=True)


def test_few_evaluations():
    fit = et.fit_evidence(space(2), max_evaluations=1)
    assert fit.stop_reason == "evaluations"
    assert fit.gain == 0
    assert "evaluations" in str(fit)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"prior": "size", "dirichlet": 1.0}, "both given"),
        ({"prior": "fit_coding"}, "fit_leaf_penalty"),
        ({"dirichlet": "fit_me"}, "fit_per_class"),
        ({"prior": "average"}, "keep=True"),
        ({"start": et.CodingPrior()}, "expected a SizePrior"),
        ({"prior": "fit_leaf_penalty", "start": et.SizePrior()}, "expected a LeafPenaltyPrior"),
        ({"grid": {"omega": [0.5]}}, "not chosen here"),
        ({"grid": {"alpha": []}}, "list of numbers"),
        ({"grid": {"alpha": [2.0]}}, "grid"),
        ({"max_evaluations": 0}, "max_evaluations=0"),
        ({"prior": "nonsense"}, "prior='nonsense'"),
        ({"prior": "fit", "dirichlet": "nonsense"}, "dirichlet='nonsense'"),
    ],
)
def test_messages(words, message):
    with pytest.raises(et.QueryError, match=message):
        et.fit_evidence(space(0), **words)


def test_an_average_that_was_not_kept_says_how_to_keep_it():
    with pytest.raises(et.QueryError, match="keep=True"):
        et.fit_evidence(space(0), refine=False).average()


def test_what_needs_one_prior_is_asked_of_the_best():
    mixed = et.fit_evidence(space(0), refine=False, keep=True).average()
    with pytest.raises(et.QueryError, match=r"\.best\.map_tree"):
        mixed.map_tree()
    assert not hasattr(mixed, "top_trees")
    assert not hasattr(mixed, "nothing")
    assert "posteriors of TreeSpace" in repr(mixed)


def test_words():
    assert asked("prior", "fit_size") == ("fit", "size")
    assert asked("dirichlet", "average") == ("average", "symmetric")
    assert asked("dirichlet", 1.0) is None
    for family in (prior_family("size"), prior_family("leaf_penalty"), dirichlet_family("decay", [0, 1])):
        for point in family.grid:
            for axis, value in zip(family.axes, point, strict=True):
                assert axis.low <= value <= axis.high
                assert axis.outward(axis.inward(value)) == pytest.approx(value)


def test_the_plot_has_a_panel_for_each_number():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    fit = et.fit_evidence(space(1))
    panels = fit.plot()
    assert [panel.get_xlabel() for panel in panels] == ["alpha", "beta", "dirichlet"]
    assert panels[2].get_xscale() == "log"
    with pytest.raises(et.DataError, match="one for each"):
        fit.plot(panels[0])
    pyplot.close("all")


@pytest.mark.parametrize(
    "a", [(1e50, 1e50), (1e50, 3e49), (1e100, 1e100), (1e100, 1.0), (1e-100, 1e100), (1e15, 1e16)]
)
def test_large_dirichlet_parameters_lose_no_digits(a: tuple[float, float]) -> None:
    """Against log M = Σ_c Σ_j ln(a_c + j) − Σ_j ln(A + j) in 160 digits; lgamma alone would keep none of them."""
    rng = np.random.default_rng(0)
    for n in (10, 1000):
        X, y = rng.integers(0, 2, (n, 2)), rng.integers(0, 2, n)
        found = et.TreeSpace(X, y, max_depth=0).posterior(dirichlet=list(a)).log_evidence
        with decimal.localcontext() as digits:
            digits.prec = 160
            exact = [decimal.Decimal(x) for x in a]
            total = sum(
                ((exact[c] + j).ln() for c in (0, 1) for j in range(int((y == c).sum()))), decimal.Decimal(0)
            )
            total -= sum(((sum(exact) + j).ln() for j in range(n)), decimal.Decimal(0))
        assert found == pytest.approx(float(total), rel=1e-12)
