"""Text from files, folders and standard input, read piece by piece."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from brim.errors import InputError
from brim.record import PlainData

CHUNK = 1 << 18
"""Bytes read at a time."""

SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules"})
"""Folders that are skipped inside a folder, like those that begin with a dot."""


@dataclass(frozen=True)
class InputSource(PlainData):
    """Something to read, and the *name* to show for it: a *text*, or a *path* (``-`` is standard
    input).

    One that was *found* in a folder is skipped, not refused, if it isn't text. *problem* says why
    it can't be read, if that is known already.
    """

    name: str
    text: str | None = None
    path: str | None = None
    found: bool = False
    problem: str = ""

    @property
    def is_word(self) -> bool:
        """Whether it is one bare word: a text, or a misspelt file name."""
        text = self.text or ""
        return text.split() == [text]

    @property
    def size(self) -> int:
        """Return the bytes to read, as far as they are known."""
        if self.path is None or self.path == "-":
            return len(self.text or "")
        try:
            return os.path.getsize(self.path)
        except OSError:
            return 0


def sources(arguments: list[str]) -> Iterator[InputSource]:
    """Yield what *arguments* name: ``-`` is standard input, a path is its file or folder, anything
    else is text.

    A word that looks like a path and names nothing is a problem: it is a misspelt file far more
    often than a text.
    """
    for argument in arguments:
        if argument == "-":
            yield InputSource("standard input", path="-")
        elif os.path.isdir(argument):
            yield from _folder(argument)
        elif os.path.exists(argument):
            yield InputSource(argument, path=argument)
        elif _looks_like_a_path(argument):
            yield InputSource(
                argument,
                problem="no such file; to count it as text, pipe it: echo ... | brim dev count -",
            )
        else:
            yield InputSource("text", text=argument)


def read_text(path: str, *, at_most: int = 1 << 30) -> str:
    """Return the text of *path*, of *at_most* so many bytes; ``-`` is standard input."""
    size = 0

    def check(piece_size: int) -> None:
        nonlocal size
        size += piece_size
        if size > at_most:
            raise InputError(
                f"{name_of(path)}: larger than {at_most:,} bytes: split it, or name another file"
            )

    return "".join(chunks(InputSource(name_of(path), path=path), check))


def text_of(argument: str) -> str:
    """Return *argument*, or for ``-`` standard input without its last line end."""
    if argument != "-":
        return argument
    return read_text("-").removesuffix("\n").removesuffix("\r")


def name_of(path: str) -> str:
    """Return what *path* is called in messages."""
    if path == "-":
        return "standard input"
    return path


def chunks(source: InputSource, on_read: Callable[[int], object]) -> Iterator[str]:
    """Yield the text of *source* piece by piece.

    *on_read* gets the bytes of each.
    """
    if source.problem:
        raise InputError(f"{source.name}: {source.problem}")
    if source.path is None:
        yield source.text or ""
        return
    if source.path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed")
        yield from _decoded(sys.stdin.buffer, source.name, on_read)
        return
    try:
        with open(source.path, "rb") as file:
            yield from _decoded(file, source.name, on_read)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{source.name}: {error.strerror or error}") from None
    except ValueError:  # a zero byte in the name
        raise InputError(f"{source.name}: no such file") from None


def _decoded(file: BinaryIO, name: str, on_read: Callable[[int], object]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    # read1 returns what is there: read waits in C for the whole chunk, where an interrupt can get
    # lost.
    read = getattr(file, "read1", file.read)
    while True:
        piece = read(CHUNK)
        zero = piece.find(b"\0")
        if zero >= 0:
            raise InputError(f"{name}: binary data (a zero byte at {offset + zero:,}), not text")
        pending = len(decoder.getstate()[0])
        try:
            text = decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            place = offset - pending + error.start
            raise InputError(f"{name}: not UTF-8 text (byte 0x{byte:02x} at {place:,})") from None
        if not piece:
            return
        offset += len(piece)
        on_read(len(piece))
        yield text


def _folder(path: str) -> Iterator[InputSource]:
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if _is_read(name))
        for name in sorted(files):
            file = os.path.join(folder, name)
            if not name.startswith(".") and os.path.isfile(file) and not os.path.islink(file):
                yield InputSource(file, path=file, found=True)


def _is_read(folder_name: str) -> bool:
    return not folder_name.startswith(".") and folder_name not in SKIPPED_FOLDERS


def _looks_like_a_path(argument: str) -> bool:
    if argument.split() != [argument] or len(argument) > 255:
        return False
    if "/" in argument or "\\" in argument:
        return True
    stem, _, ending = argument.rpartition(".")
    return stem != "" and ending.isalnum() and len(ending) <= 8
