"""Option trees of the reference as option graphs of the core, over 0/1 columns read in each way a column can be."""

from __future__ import annotations

from random import Random

import numpy as np

import everytree._core as core
from everytree.reference import Space, Table

NO_CHILD = 0xFFFFFFFF
KINDS = ("numeric", "multiway", "binary")  # a cut, a branch per value, "value = 0 or not"


def as_arrays(nodes, options, n_classes):
    """Arrays from nodes (depth, open, counts) and options (node, attribute, threshold, log_split, children)."""
    options = sorted(options, key=lambda option: option[0])
    sparse = [[(c, n) for c, n in enumerate(counts) if n] for _, _, counts in nodes]
    per_node = [sum(1 for option in options if option[0] == node) for node in range(len(nodes))]
    return {
        "n_classes": n_classes,
        "depth": np.array([depth for depth, _, _ in nodes], np.uint32),
        "open": np.array([is_open for _, is_open, _ in nodes], np.uint8),
        "count_begin": np.cumsum([0] + [len(each) for each in sparse]).astype(np.int64),
        "count_class": np.array([c for each in sparse for c, _ in each], np.uint32),
        "count": np.array([n for each in sparse for _, n in each], np.int64),
        "option_begin": np.cumsum([0, *per_node]).astype(np.int64),
        "attribute": np.array([option[1] for option in options], np.int32),
        "threshold": np.array([option[2] for option in options], np.float64),
        "log_split": np.array([option[3] for option in options], np.float64),
        "child_begin": np.cumsum([0] + [len(option[4]) for option in options]).astype(np.int64),
        "child": np.array([child for option in options for child in option[4]], np.uint32),
    }


def graph_arrays(model, part, kinds, merge):
    """An option tree of the reference as arrays; ``merge`` makes states with equal cover and depth one node."""
    nodes, options, known = [], [], {}

    def add(part, cover, depth):
        if merge and (cover, depth, part) in known:
            return known[cover, depth, part]
        number = len(nodes)
        known[cover, depth, part] = number
        nodes.append((depth, bool(model.space.feasible(cover, depth)), model.table.class_counts(cover)))
        for test, zero, one in part:
            covers = model.table.children(cover, test)
            below = [add(side, each, depth + 1) for side, each in zip((zero, one), covers, strict=True)]
            at = {"numeric": 0.5, "multiway": float("nan"), "binary": 0.0}[kinds[test]]
            log_split = model.log_split(cover, depth, test)
            options.append((number, test, at, log_split, [*below, NO_CHILD]))
        return number

    add(part, model.space.root, 0)
    return as_arrays(nodes, options, model.table.n_classes)


def columns_of(rows, kinds):
    """0/1 rows as columns; None is a missing value, 2 one that was never seen."""
    columns = core.Columns(len(rows))
    for j, kind in enumerate(kinds):
        values = [row[j] for row in rows]
        if kind == "numeric":
            columns.add_numeric(np.array([np.nan if v is None else v for v in values], np.float64))
        else:
            codes = [-1 if v is None else -2 if v == 2 else v for v in values]
            columns.add_nominal(np.array(codes, np.int32), 2)
    return columns


def random_model_parts(seed, n_classes=2, n_tests=3, n=25, max_depth=None, min_leaf=1):
    """A space over a random table with some signal."""
    rng = Random(seed)
    rows = [[rng.randrange(2) for _ in range(n_tests)] for _ in range(n)]
    labels = [(sum(row[:2]) if rng.random() < 0.7 else rng.randrange(n_classes)) % n_classes for row in rows]
    table = Table.from_data(rows, labels)
    missing = n_classes - table.n_classes
    if missing:
        table = Table(table.rows, [(*counts, *([0] * missing)) for counts in table.counts])
    return Space(table, max_depth=max_depth, min_leaf=min_leaf)
