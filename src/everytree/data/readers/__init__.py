"""Readers: a file becomes a :class:`Dataset`, or a ``DataError`` that says where and why not.

Start with :func:`read`; it picks :func:`read_csv`, :func:`read_arff`, :func:`read_parquet` or
:func:`read_arrow`; :func:`read_chunks` reads in pieces.
"""

from everytree.data.column import Column
from everytree.data.readers.arff import read_arff
from everytree.data.readers.csv import read_csv
from everytree.data.readers.dataset import Dataset
from everytree.data.readers.parquet import read_arrow, read_parquet
from everytree.data.readers.pick import read, read_chunks

__all__ = ["Column", "Dataset", "read", "read_arff", "read_arrow", "read_chunks", "read_csv", "read_parquet"]
