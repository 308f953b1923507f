"""``load_model``: the classifier that a file holds, whatever its format."""

from __future__ import annotations

import os
from typing import IO, Any

from everytree.common.json_text import parsed_json
from everytree.errors import DataError, LimitReached
from everytree.files.model_file import FORMAT
from everytree.files.registry import reader_of

__all__ = ["load_model"]

MOST_BYTES = 2**30  # larger than any model; a text this long is a mistake
PIECE = 2**20


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a fitted classifier from a model file; it predicts exactly as the saved one did.

    Parameters
    ----------
    path : str or path
        The file that ``save`` of a classifier wrote.

    Returns
    -------
    classifier
        The fitted classifier, of the class that was saved.

    Raises
    ------
    DataError
        If the file is not a model file; the message names the field. Everything that the file claims is checked.
    LimitReached
        If a limit among the parameters of the file is too tight for its average.

    Examples
    --------
    >>> import everytree as et
    >>> model = et.OptimalTreeClassifier(max_depth=1).fit([[1, "a"], [2, "a"], [3, "b"]], ["no", "no", "yes"])
    >>> model.save("model.json")
    >>> et.load_model("model.json").predict([[2, "b"]]).tolist() == model.predict([[2, "b"]]).tolist()
    True
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        content = _content(file)
    try:
        if len(content) > MOST_BYTES:
            raise DataError(f"the file is longer than {MOST_BYTES} bytes; no model is")
        data = parsed_json(content, "a model file", "the JSON that model.save(...) writes")
        named = data.get("format") if isinstance(data, dict) else None
        return reader_of(named, FORMAT)(data)
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    except LimitReached as limit:  # the file's own parameters, under which an average is folded again
        raise LimitReached(f"{name}: {limit}", limit.reason) from limit


def _content(file: IO[bytes]) -> bytes:
    """Read a file piece by piece: asked for the most that a model may have, Python takes so many bytes for any file."""
    parts, size = [], 0
    while size <= MOST_BYTES and (part := file.read(PIECE)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)
