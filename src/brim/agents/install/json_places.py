"""Reads JSON and remembers where each value stands, so that one can be put in or taken out and nothing else is touched.

``json.loads`` forgets where things stood, and to write a file anew would change lines that are somebody else's. With
*comments* the text may hold ``//`` and ``/* */``, which some agents allow in their settings.
"""

from __future__ import annotations

import json
from json.decoder import scanstring  # type: ignore[attr-defined] # what json itself reads strings with

from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 100
"""Containers inside each other; no agent's settings have a tenth of that."""

_BLANK = " \t\r\n"
_NUMBER = json.scanner.NUMBER_RE  # type: ignore[attr-defined] # what json itself reads numbers with


class Node:
    """One value of a text: what it is, and ``text[start:end]``.

    ``members`` are the nodes inside, in order; those of an object have their ``key``, and ``begin``, where that stands.
    """

    __slots__ = ("begin", "end", "key", "members", "start", "value")

    def __init__(self, start: int, end: int, value: Any, members: list[Node]) -> None:
        self.start, self.end, self.value, self.members = start, end, value, members
        self.key: str | None = None
        self.begin = start

    def member(self, key: str) -> Node | None:
        """Return what stands under *key*; of two the last, as every reader of JSON takes it."""
        return next((each for each in reversed(self.members) if each.key == key), None)


def read_places(text: str, path: str, *, comments: bool = False) -> Node:
    """Return the root of *text*, that of the file *path*."""
    reader = _Reader(text, comments=comments)
    try:
        at = reader.skip(1 if text.startswith("\ufeff") else 0)
        root = reader.value(at, 0)
        at = reader.skip(root.end)
        if at < len(text):
            raise ValueError("something stands after its end", at)
    except ValueError as error:
        what, at = _what(error, len(text))
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        raise InputError(
            f"{path}:{line}:{column}: is not valid JSON ({what}); nothing was changed: correct it, then try again"
        ) from None
    return root


def _what(error: ValueError, end: int) -> tuple[str, int]:
    if isinstance(error, json.JSONDecodeError):
        return error.msg, error.pos
    what, at = error.args
    return str(what), min(int(at), end)


class _Reader:
    def __init__(self, text: str, *, comments: bool) -> None:
        self._text, self._comments = text, comments

    def skip(self, at: int) -> int:
        """Return where the next thing stands that is neither blank nor a comment."""
        text = self._text
        while True:
            while at < len(text) and text[at] in _BLANK:
                at += 1
            if not self._comments or (ending := end_of_comment(text, at)) is None:
                return at
            at = ending

    def value(self, at: int, depth: int) -> Node:
        """Return the value at *at*."""
        text = self._text
        if depth > DEEPEST:
            raise ValueError("too many brackets inside each other", at)
        if at >= len(text):
            raise ValueError("it ends too early", at)
        first = text[at]
        if first in "{[":
            return self._container(at, depth)
        if first == '"':
            found, end = scanstring(text, at + 1, True)
            return Node(at, end, found, [])
        for word, constant in (("true", True), ("false", False), ("null", None)):
            if text.startswith(word, at):
                return Node(at, at + len(word), constant, [])
        match = _NUMBER.match(text, at)
        if match is None:
            raise ValueError("a value is missing", at)
        try:
            number = json.loads(match.group())
        except ValueError:
            raise ValueError("a number is too long", at) from None
        return Node(at, match.end(), number, [])

    def _container(self, at: int, depth: int) -> Node:
        text, start, is_object = self._text, at, self._text[at] == "{"
        closing = "}" if is_object else "]"
        members: list[Node] = []
        at = self.skip(at + 1)
        while text[at : at + 1] != closing or members:
            begin, key = at, None
            if is_object:
                key, at = self._key(at)
            member = self.value(at, depth + 1)
            member.key, member.begin = key, begin
            members.append(member)
            at = self.skip(member.end)
            if text[at : at + 1] == closing:
                break
            if text[at : at + 1] != ",":
                raise ValueError(f"',' or '{closing}' is missing", at)
            at = self.skip(at + 1)
        value: Any = {each.key: each.value for each in members} if is_object else [each.value for each in members]
        return Node(start, at + 1, value, members)

    def _key(self, at: int) -> tuple[str, int]:
        text = self._text
        if text[at : at + 1] != '"':
            raise ValueError("a key in double quotes is missing", at)
        key, at = scanstring(text, at + 1, True)
        at = self.skip(at)
        if text[at : at + 1] != ":":
            raise ValueError("':' is missing", at)
        return key, self.skip(at + 1)


def end_of_comment(text: str, at: int) -> int | None:
    """Return where the comment that begins at *at* ends, before its line's end; None if none begins there."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return end if end >= 0 else len(text)
    if text.startswith("/*", at):
        end = text.find("*/", at + 2)
        if end < 0:
            raise ValueError("a comment does not end", at)
        return end + 2
    return None
