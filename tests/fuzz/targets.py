"""What a stranger may hand to the library, each as a function of bytes that must answer or refuse, never anything else.

A target raises nothing but the errors that the library raises on purpose. Who calls it bounds time and memory.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import everytree as et
from everytree.errors import EverytreeError
from everytree.report.bodies import read_json
from everytree.report.page import page_html
from everytree.verify import verify_model

__all__ = ["TARGETS", "seeds"]

CSV = b'age,ill,"town, or not"\n30,no,"K\xc3\xb6ln"\n41.5,yes,\n,no,a""b\n1e3,yes,?\n'
ARFF = b"@relation r\n@attribute a numeric\n@attribute 'b c' {x, 'y z'}\n@data\n1,x\n?,'y z'\n{0 3, 1 x}\n"
QUERIES = (
    "smallest where accuracy >= 95% and depth <= 3",
    'most accurate where leaf >= 10 and size <= 15 and uses "a b"',
    '3 smallest trees where accuracy >= 93% and avoids "patient id"',
    "shallowest where error <= 5 and leaves <= 6",
)


def example() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (30, 3)).astype(float)
    return X, np.array(["no", "yes"])[(X[:, 0] > 2).astype(int)]


def csv_file(content: bytes) -> None:
    data = et.read_csv(io.BytesIO(content), max_cells=100_000)
    if 1 < data.n_rows < 200 and 1 < len(data.names) < 20:
        et.Binarizer(bins=3).fit(data.select(*data.names[1:]))


def arff_file(content: bytes) -> None:
    et.read_arff(io.BytesIO(content), max_cells=100_000)


def query_text(content: bytes) -> None:
    query, k = et.parse_query(content.decode("utf-8", "replace"))
    assert et.parse_query(et.format_query(query, k)) == (query, k)


def unsealed(content: bytes) -> bytes:
    """Return a model file without its digest: else a damaged one would be refused for that alone, if nothing else."""
    with contextlib.suppress(ValueError, RecursionError):
        data = json.loads(content)
        if isinstance(data, dict) and data.pop("digest", None) is not None:
            return json.dumps(data).encode()
    return content


def loaded(content: bytes) -> Any:
    """Return the model in a file, its digest if any left aside."""
    with on_disk(unsealed(content)) as path:
        return et.load_model(path)


def model_file(content: bytes) -> None:
    model = loaded(content)
    X, _ = example()
    said = model.predict_proba(X)
    assert np.isfinite(said).all()
    np.testing.assert_allclose(said.sum(axis=1), 1, atol=1e-9)


def report(content: bytes) -> None:
    """The page of a stranger's model file, with data beside it: its parts read back, and no text of it ends a block."""
    made = page_html(loaded(content), example(), time_limit=0.1)
    assert made.count("<script") == made.count("</script>") == 2
    json.loads(made.split('id="everytree-data">')[1].split("</script>")[0])


def verified(content: bytes) -> None:
    X, y = example()
    with on_disk(unsealed(content)) as path:
        data = path.with_suffix(".csv")
        data.write_text(
            "x0,x1,x2,y\n" + "\n".join(f"{a},{b},{c},{d}" for (a, b, c), d in zip(X, y, strict=True))
        )
        verify_model(path, data, target="y", time_limit=1.0)
        data.unlink()


def server_body(content: bytes) -> None:
    read_json(content)


class on_disk:
    """A file with some content for as long as the block lasts."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __enter__(self) -> Path:
        handle, name = tempfile.mkstemp(suffix=".json")
        with open(handle, "wb") as file:
            file.write(self.content)
        self.path = Path(name)
        return self.path

    def __exit__(self, *_: object) -> None:
        os.unlink(self.path)


def refusing(target: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Let the errors pass that are raised on purpose."""

    def tried(content: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(EverytreeError, UnicodeDecodeError, json.JSONDecodeError):
                target(content)

    return tried


TARGETS = {
    "csv": refusing(csv_file), "arff": refusing(arff_file), "query": refusing(query_text),
    "model": refusing(model_file), "report": refusing(report), "verify": refusing(verified),
    "server": refusing(server_body),
}  # fmt: skip


def seeds(target: str) -> list[bytes]:
    """Return what a target begins with: small valid inputs of every kind."""
    if target in ("model", "report", "verify"):
        X, y = example()
        models = [
            et.OptimalTreeClassifier(max_depth=2), et.BayesOptimalClassifier(max_depth=1),
            et.MAPTreeClassifier(max_depth=2), et.C45TreeClassifier(), et.PathAverageTreeClassifier(),
            et.SmoothedTreeClassifier(), et.OptionTreeClassifier(),
            et.BayesOptimalClassifier(max_depth=1, cuts="local"),
            et.MCMCTreeClassifier(n_draws=3, n_chains=1, burn_in=1), et.CARTTreeClassifier(),
            et.CompressedClassifier(et.BayesOptimalClassifier(max_depth=1)), et.EveryTreeClassifier(time_limit=0.2),
        ]  # fmt: skip
        found = []
        for model in models:
            with on_disk(b"") as path, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y).save(path, target="y") if target == "verify" else model.fit(X, y).save(path)
                found.append(path.read_bytes())
        return found
    return {
        "csv": [CSV], "arff": [ARFF], "query": [text.encode() for text in QUERIES],
        "server": [b'{"max_depth": 3, "min_leaf": 2}', b'{"id": 1}'],
    }[target]  # fmt: skip
