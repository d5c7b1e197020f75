"""A JSON file edited in place: indentation, key order, line ends and comments stay.

``JsonText`` keeps the text and where each value stands in it. A value that is put in looks like its
surroundings, and taking it out again leaves no trace. The one exception is a container that was
empty before: it goes with what was put into it, so a caller that must restore a file exactly keeps
the original.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from brim.errors import InputError

BLANK = "\ufeff \t\r\n"
INDENT = "  "
"""Used in a file that has no lines yet."""

_STRING = r'"(?:[^"\\]|\\.)*"'
_STRING_OR_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(rf'{_STRING}|[\[\]{{}},:]|[^\s\[\]{{}},:"]+')


@dataclass
class JsonNode:
    """One value and where it stands: ``text[start:end]``; ``begin`` is where its key stands, if it
    has one."""

    start: int
    end: int
    value: Any
    members: list[JsonNode] = field(default_factory=list)
    key: str | None = None
    begin: int = 0


class JsonText:
    """The text of the settings file *path*. A blank text is an empty object; *comments* says if
    they are allowed."""

    def __init__(self, text: str, path: str, *, comments: bool = False) -> None:
        self._path, self._comments = path, comments
        self._set(text if text.strip(BLANK) else "{}\n")
        if not isinstance(self._root.value, dict):
            raise InputError(
                f"{path}: is not a JSON object, so brim leaves it alone: see what it should hold"
            )

    @property
    def value(self) -> dict[str, Any]:
        """Everything in the file."""
        settings: dict[str, Any] = self._root.value
        return settings

    def get(self, *keys: str | int) -> Any:
        """Return the value at *keys*, or None."""
        node = self._find(keys)
        return None if node is None else node.value

    def raw(self, *keys: str | int) -> str:
        """Return the value at *keys* as it is written, or an empty string."""
        node = self._find(keys)
        return "" if node is None else self.text[node.start : node.end]

    def check(self, kind: type[object], *keys: str | int) -> None:
        """Raise ``InputError`` if the value at *keys* exists and isn't a *kind*."""
        node = self._find(keys)
        if node is not None and not isinstance(node.value, kind):
            where = ".".join(map(str, keys))
            wanted = "an object" if kind is dict else "a list"
            raise InputError(
                f"{self._path}: {where} should be {wanted}; nothing was changed: "
                "correct it, then try again"
            )

    def put(self, value: object, *keys: str | int) -> None:
        """Set the value at *keys*; objects that are missing on the way are made."""
        node = self._find(keys)
        if node is None:
            if self._find(keys[:-1]) is None:
                self.put({}, *keys[:-1])
            self._insert(self._at(keys[:-1]), value, str(keys[-1]))
        elif node.value != value:
            one_line = bool(node.members) and "\n" not in self.text[node.start : node.end]
            self.put_raw(self._dump(value, None if one_line else self._lead(node.start)), *keys)

    def append(self, value: object, *keys: str | int) -> None:
        """Add *value* to the list at *keys*, which is made if it's missing."""
        if self._find(keys) is None:
            self.put([], *keys)
        self._insert(self._at(keys), value)

    def put_raw(self, raw: str, *keys: str | int) -> None:
        """Replace the value at *keys* with *raw*, which is JSON."""
        node = self._at(keys)
        self._set(self.text[: node.start] + raw + self.text[node.end :])

    def remove(self, *keys: str | int) -> None:
        """Take out the value at *keys*, and the containers that are empty after that."""
        container = self._at(keys[:-1])
        node = self._at(keys)
        number = [member is node for member in container.members].index(True)
        if number + 1 < len(container.members):
            self._remove_before(node, container.members[number + 1])
        elif number:
            self._remove_after(node, container.members[number - 1])
        else:
            self._remove_only(node, container, keys[:-1])

    def _remove_before(self, node: JsonNode, following: JsonNode) -> None:
        """Take out *node*, after which another value stands."""
        text = self.text
        if text[node.end : following.begin].strip() == ",":
            self._set(text[: node.begin] + text[following.begin :])
            return
        comma = self._bare.index(",", node.end)  # a comment stays
        self._set(text[: node.begin] + text[node.end : comma] + text[comma + 1 :])

    def _remove_after(self, node: JsonNode, preceding: JsonNode) -> None:
        """Take out *node*, the last of several values."""
        text = self.text
        comma = self._bare.index(",", preceding.end)
        between = text[comma + 1 : node.begin]
        if "//" not in between or text[node.end :].lstrip(" \t\r").startswith("\n"):
            between = between.rstrip()
        self._set(text[:comma] + between + text[node.end :])

    def _remove_only(
        self, node: JsonNode, container: JsonNode, keys: tuple[str | int, ...]
    ) -> None:
        """Take out *node*, which stands alone in the *container* at *keys*."""
        text = self.text
        begin = container.start + 1
        end = container.end - 1
        inside = text[begin : node.begin] + text[node.end : end]
        is_empty = not inside.strip()
        if is_empty:
            inside = ""
        self._set(text[:begin] + inside + text[end:])
        if keys and is_empty:
            self.remove(*keys)

    def _insert(self, container: JsonNode, value: object, key: str | None = None) -> None:
        """Add *value* as the last one of *container*, under *key* if that is an object."""
        unit, gap, newline = self._style()
        name = ""
        if key is not None:
            name = f"{json.dumps(key)}:{gap}"
        if container.members:
            self._insert_last(container, name, value)
            return
        start = container.start + 1
        end = container.end - 1
        inside = self.text[start:end]
        if unit is None or inside.strip():
            new = f"{inside if inside.strip() else ''}{name}{self._dump(value, None)}"
        else:
            lead = self._lead(container.start)
            dumped = self._dump(value, lead + unit)
            new = f"{newline}{lead}{unit}{name}{dumped}{newline}{lead}"
        self._set(self.text[:start] + new + self.text[end:])

    def _insert_last(self, container: JsonNode, name: str, value: object) -> None:
        """Add *name* and *value* after the last value of *container*."""
        _, gap, newline = self._style()
        start = container.members[-1].end
        end = start
        new = f",{gap}{name}{self._dump(value, None)}"
        before = self._blanks(container.members[0].begin)
        if "\n" in before:
            lead = before[before.rfind("\n") + 1 :]
            # A comment after the last value is about that value, so the new line comes after it.
            line = self._bare[start:].partition("\n")[0].removesuffix("\r")
            if not line.strip():
                end = start + len(line)
            comment = self.text[start:end]
            new = f",{comment}{newline}{lead}{name}{self._dump(value, lead)}"
        self._set(self.text[:start] + new + self.text[end:])

    def _style(self) -> tuple[str | None, str, str]:
        """Return the indentation of a level (None: all on one line), what follows a colon, and what
        ends a line."""
        newline = "\r\n" if "\r\n" in self.text else "\n"
        if not self._root.members:
            return INDENT, " ", newline
        first = self._root.members[0]
        before = self._blanks(first.begin)
        if "\n" in before:
            return before[before.rfind("\n") + 1 :] or INDENT, " ", newline
        return None, " " if self._bare[first.start - 1] == " " else "", newline

    def _blanks(self, at: int) -> str:
        """Return the blanks, and comments, that stand directly before *at*."""
        return self._bare[len(self._bare[:at].rstrip()) : at]

    def _lead(self, at: int) -> str:
        """Return the indentation of the line that *at* is in."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _dump(self, value: object, lead: str | None) -> str:
        """Return *value* on one line, or over several that begin with *lead*, as the file would
        write it."""
        unit, gap, newline = self._style()
        if lead is None or unit is None:
            return json.dumps(value, separators=(f",{gap}", f":{gap}"))
        return json.dumps(value, indent=unit).replace("\n", f"{newline}{lead}")

    def _set(self, text: str) -> None:
        bare = text
        if text.startswith("\ufeff"):
            bare = text.replace("\ufeff", " ", 1)
        if self._comments:  # blanked out, so that every place stays what it was
            bare = _STRING_OR_COMMENT.sub(_without_comment, bare)
        try:
            json.loads(bare)
            tokens = _TOKEN.finditer(bare)
            self._root = _parse(next(tokens), tokens)
        except RecursionError:
            raise InputError(
                f"{self._path}: has too many brackets inside each other; nothing was changed"
            ) from None
        except json.JSONDecodeError as error:
            place = f"{self._path}:{error.lineno}:{error.colno}"
            raise _not_json(place, error.msg) from None
        except ValueError:
            raise _not_json(self._path, "a number is too long") from None
        self.text = text
        self._bare = bare

    def _find(self, keys: tuple[str | int, ...]) -> JsonNode | None:
        node: JsonNode | None = self._root
        for key in keys:
            if node is None:
                return None
            node = _member(node.members, key)
        return node

    def _at(self, keys: tuple[str | int, ...]) -> JsonNode:
        node = self._find(keys)
        if node is None:
            raise KeyError(keys)
        return node


def _not_json(place: str, why: str) -> InputError:
    return InputError(
        f"{place}: is not valid JSON ({why}); nothing was changed: correct it, then try again"
    )


def _member(members: list[JsonNode], key: str | int) -> JsonNode | None:
    """Return the member at the place or with the name *key*."""
    if isinstance(key, int):
        return members[key] if key < len(members) else None
    for member in reversed(members):  # of two with the same key, every reader takes the last
        if member.key == key:
            return member
    return None


def _without_comment(match: re.Match[str]) -> str:
    if match[0].startswith('"'):
        return match[0]
    return re.sub(r"[^\r\n]", " ", match[0])


def _parse(first: re.Match[str], tokens: Iterator[re.Match[str]]) -> JsonNode:
    """Return the value that begins with the token *first*. The text is known to be valid JSON."""
    node = JsonNode(first.start(), first.end(), None, begin=first.start())
    if first[0] not in ("{", "["):
        node.value = json.loads(first[0])
        return node
    while (token := next(tokens))[0] not in ("}", "]"):
        if token[0] == ",":
            continue
        if first[0] == "{":
            next(tokens)  # the colon
            member = _parse(next(tokens), tokens)
            member.key = json.loads(token[0])
            member.begin = token.start()
        else:
            member = _parse(token, tokens)
        node.members.append(member)
    node.end = token.end()
    node.value = [member.value for member in node.members]
    if first[0] == "{":
        node.value = {member.key: member.value for member in node.members}
    return node
