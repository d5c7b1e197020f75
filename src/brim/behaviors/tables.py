"""The data files of this room, each read once per process. Lines that begin with ``#`` are comments."""

from __future__ import annotations

_read: dict[str, tuple[str, ...]] = {}
_words: dict[str, frozenset[str]] = {}


def lines(name: str) -> tuple[str, ...]:
    """Return the lines of ``data/<name>`` that say something."""
    found = _read.get(name)
    if found is None:
        # importlib.resources costs more than the whole lookup; a wheel is always unpacked, so there is a folder.
        folder = __file__.removesuffix("tables.py").removesuffix("tables.pyc") + "data/"
        with open(folder + name, encoding="utf-8") as file:
            found = _read[name] = tuple([line for line in file.read().split("\n") if line and line[0] != "#"])
    return found


def rows(name: str) -> list[list[str]]:
    """Return the rows of ``data/<name>``, each as its columns."""
    return [line.split("\t") for line in lines(name)]


def words(name: str) -> frozenset[str]:
    """Return the words of ``data/<name>``, which are separated by any white space."""
    found = _words.get(name)
    if found is None:
        found = _words[name] = frozenset([word for line in lines(name) for word in line.split()])
    return found
