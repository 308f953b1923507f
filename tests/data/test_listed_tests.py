"""Tests of local cuts are made when they are read, and are then what a list of them is."""

import pickle
from copy import deepcopy

import numpy as np

from everytree import Binarizer, TreeSpace
from everytree.data.listed_tests import FineTests

X = np.random.default_rng(0).normal(size=(300, 3)).round(2)


def test_nothing_is_made_until_it_is_read() -> None:
    y = (X[:, 0] > 0).astype(int)
    space = TreeSpace.from_frame(X, y, max_depth=2)
    assert space.binarizer is not None
    tests = [space.binarizer.tests_, *(encoding.tests for encoding in space.binarizer.encodings_)]
    space.posterior().predict_proba(X)
    assert not any("made" in vars(listed) for listed in tests)
    assert len(space.test_names) == len(tests[0]) == space.n_tests
    assert space.test_names[-1] == tests[0][-1].name
    assert tests[0][0] is tests[1][0]  # the same objects, however they are asked for


def test_they_are_what_a_list_is() -> None:
    binarizer = Binarizer(cuts="local").fit(X)
    listed = list(binarizer.tests_)
    assert binarizer.tests_ == listed
    assert listed == binarizer.tests_
    assert listed[2:5] == binarizer.tests_[2:5]
    assert listed != binarizer.tests_[1:]
    assert repr(binarizer.tests_) == repr(listed)
    for copy in (pickle.loads(pickle.dumps(binarizer)), deepcopy(binarizer)):
        assert copy.tests_ == listed
        assert copy.attributes_.tolist() == [test.column for test in listed]
        np.testing.assert_array_equal(copy.transform(X), binarizer.transform(X))
    assert FineTests("x0", [1.0], 0, []) != 3
