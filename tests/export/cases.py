"""Models to write in other languages, with rows to compare them on: names, values and numbers that are hard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import everytree as et
from everytree.export.form import Form

NAMES = (
    "age",
    'blood "pressure"',
    "it's; DROP TABLE t; --",
    "Größe 数",
    "*/ }; int main(void) { /* \\",
    "</script><script>alert(1)</script>",
    "constructor",
    "flag",
)
TEXTS = (
    "fixed",
    "Fixed",
    "it's 'so'",
    'say "x"',
    "Größe ☃",
    "back\\slash\\'",
    "a\nb",
    r'*/ ?\?/ " )',
    "'; DROP TABLE t; --",
)
LABELS = ("no 'thing'", 'a "b"\\')


@dataclass
class Case:
    """A model, its form, and what it says of some rows."""

    name: str
    model: Any
    form: Form
    rows: pd.DataFrame
    proba: np.ndarray
    labels: list[Any]


def table(n: int, seed: int, *, unseen: bool = False, missing: float = 0.1) -> pd.DataFrame:
    """Rows with numbers, text, codes, truth values and gaps."""
    rng = np.random.default_rng(seed)
    texts = [*TEXTS, "never seen", "FIXED"] if unseen else TEXTS
    codes = [3.0, 7.0, 2.5, 11.0] if unseen else [3.0, 7.0, 2.5]
    frame = pd.DataFrame(
        {
            NAMES[0]: rng.normal(50, 15, n).round(3) / 3,
            NAMES[1]: rng.integers(80, 200, n).astype(float),
            NAMES[2]: rng.choice(np.array(texts, dtype=object), n),
            NAMES[3]: rng.choice(np.array(["red", "green", "blüe"], dtype=object), n),
            NAMES[4]: rng.choice(codes, n),
            NAMES[5]: 10.0 ** rng.uniform(-12, 12, n),
            NAMES[6]: rng.choice(np.array(texts[:4], dtype=object), n),
            NAMES[7]: rng.integers(0, 2, n).astype(float),
        }
    )
    for name in NAMES:
        gone = rng.random(n) < missing
        frame.loc[gone, name] = None if frame[name].dtype == object else np.nan
    return frame


def target(frame: pd.DataFrame, seed: int, n_classes: int = 2) -> np.ndarray:
    """Classes that depend on several columns, missing ones too."""
    rng = np.random.default_rng(seed)
    score = (
        (frame[NAMES[0]].fillna(30) > 17).astype(float)
        + frame[NAMES[2]].isin([TEXTS[2], TEXTS[5], TEXTS[8]]) * 1.3
        + (frame[NAMES[4]] == 7.0) * 0.8
        + (frame[NAMES[5]].fillna(0) > 5) * 0.9
        + (frame[NAMES[7]] == 1) * 0.7
        + frame[NAMES[1]].isna() * 1.5
        + (frame[NAMES[6]] == TEXTS[1]) * 0.6
        + rng.normal(0, 0.5, len(frame))
    )
    if n_classes == 2:
        return np.where(score > score.median(), *LABELS)
    return np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)) * 10


def near_cuts(form: Form, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with some numbers replaced by cut-points, and by the floats beside them."""
    rng = np.random.default_rng(5)
    made = frame.copy()
    for k, field in enumerate(form.fields):
        cuts = [c.value for c in form.conditions() if c.field == k and c.op == "<="]
        if field.kind != "number" or not cuts:
            continue
        beside = [f(cut) for cut in cuts for f in (float, _up, _down)]
        some = rng.random(len(made)) < 0.3
        made.loc[some, field.name] = rng.choice(beside, int(some.sum()))
    return made


def _up(x: float) -> float:
    return math.nextafter(x, math.inf)


def _down(x: float) -> float:
    return math.nextafter(x, -math.inf)


def case(name: str, n_rows: int = 3000) -> Case:
    """A model by its name, fitted, with rows and what it says of them."""
    kind, _, option = name.partition("-")
    n_classes = 3 if option == "three" else 2
    train = table(400, 1)
    y = target(train, 2, n_classes)
    model = _fitted(kind, option, train, y)
    form = model.portable()
    rows = near_cuts(form, table(n_rows, 3, unseen=True))
    return Case(name, model, form, rows, model.predict_proba(rows), list(model.predict(rows)))


def _fitted(kind: str, option: str, train: pd.DataFrame, y: np.ndarray) -> Any:
    codes = [NAMES[4]]
    if kind == "optimal":
        missing = "impute" if option == "impute" else "category"
        cuts = "local" if option == "local" else "global"
        return et.OptimalTreeClassifier(
            max_depth=4, min_leaf=3, leaf_penalty=0, missing=missing, cuts=cuts
        ).fit(train, y)
    if kind == "map":
        return et.MAPTreeClassifier(max_depth=4).fit(train, y)
    if kind == "cart":
        return et.CARTTreeClassifier(rule="0-SE", nominal=codes).fit(train, y)
    if kind == "path":
        return et.PathAverageTreeClassifier(nominal=codes, missing=option or "category").fit(train, y)
    if kind == "compressed":
        epsilon = 0.05 if option == "three" else 0.02
        return et.BayesOptimalClassifier(max_depth=2).fit(train, y).compress(epsilon)
    assert kind == "nearest"
    return et.EveryTreeClassifier(time_limit=5).fit(train, y).nearest_tree()


TREES = (
    "optimal",
    "optimal-impute",
    "optimal-local",
    "optimal-three",
    "map",
    "cart",
    "path",
    "path-impute",
)
SUMS = ("compressed", "compressed-three")
