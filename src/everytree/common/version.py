"""The version of the package, as its files name it."""

__all__ = ["__version__"]

__version__ = "0.1.0"
