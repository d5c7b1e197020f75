"""A rules file as paragraphs: each begins with a rule's name in brackets.

Each paragraph is read on its own, so a mistake costs one rule; and each is changed on its own, so
the file stays as it is everywhere else, byte for byte.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from brim.record import PlainData

_HEAD = re.compile(r"^[ \t]*\[.*$", re.MULTILINE)
"""A line that begins a paragraph, if it isn't inside a text of several lines."""
_NAME = re.compile(
    r'^[ \t]*\[[ \t]*("[^"\n]*"|\'[^\'\n]*\'|[^\[\]"\'\n]+?)[ \t]*\][ \t]*(?:#.*)?\r?$'
)
_LIST_BEGINS = re.compile(r"=[ \t]*\[[^\]#\n]*(?:#.*)?$", re.MULTILINE)
"""The first line of a list that goes on."""
_LONGEST_TEXT = 200
"""Lines in brackets that one text of several lines may have."""


@dataclass(frozen=True)
class Paragraph(PlainData):
    """A rule as it stands in a file, with the comment above it: ``content[start:end]``."""

    name: str
    """Empty if the line in brackets isn't a name."""
    text: str
    start: int
    line: int
    """The line of the file on which the paragraph begins."""
    head_line: int
    """The line with the name."""

    @property
    def end(self) -> int:
        """Where it ends in the file."""
        return self.start + len(self.text)

    @property
    def body(self) -> str:
        """Its text up to the last line that says something: comments below may be about others."""
        return body_of(self.text)

    def line_of(self, key: str) -> int:
        """Return the line of the file on which *key* stands, else that of the name."""
        match = re.search(
            rf"^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[=.]", self.text, re.MULTILINE
        )
        if match is None:
            return self.head_line
        return self.line + self.text.count("\n", 0, match.start())


@dataclass(frozen=True)
class SplitText(PlainData):
    """A file's text: what stands above the first rule, and its paragraphs."""

    preamble: str
    paragraphs: tuple[Paragraph, ...]

    def named(self, name: str) -> Paragraph | None:
        """Return the first paragraph with this name."""
        for paragraph in self.paragraphs:
            if paragraph.name == name:
                return paragraph
        return None

    @property
    def names(self) -> list[str]:
        """The names in the file, in their order."""
        return [paragraph.name for paragraph in self.paragraphs if paragraph.name]


def split_text(content: str) -> SplitText:
    """Split the *content* of a rules file into paragraphs.

    >>> split_text("# mine\\n\\n[a]\\ntext = 'x'\\n\\n# why\\n[b]\\ntext = 'y'\\n").names
    ['a', 'b']
    """
    heads = [match.start() for match in _HEAD.finditer(content)]
    starts = [_with_comment(content, head) for head in heads]
    starts.append(len(content))
    preamble = content[: starts[0]]
    paragraphs: list[Paragraph] = []
    line = 1 + preamble.count("\n")
    index = 0
    while index < len(heads):
        after = _next_head(content, starts, index)
        text = content[starts[index] : starts[after]]
        head_line = line + content.count("\n", starts[index], heads[index])
        name = _name_on_line(content, heads[index])
        paragraphs.append(Paragraph(name, text, starts[index], line, head_line))
        line += text.count("\n")
        index = after
    return SplitText(preamble, tuple(paragraphs))


def _name_on_line(content: str, start: int) -> str:
    end = content.find("\n", start)
    match = _NAME.match(content[start:] if end < 0 else content[start:end])
    if match is not None:
        return match[1].strip("\"'")
    return ""


def _with_comment(content: str, start: int) -> int:
    """Return where the comment begins that stands right above *start*."""
    while start:
        before = content.rfind("\n", 0, start - 1) + 1
        if not content[before:start].lstrip(" \t").startswith("#"):
            break
        start = before
    return start


def _next_head(content: str, starts: list[int], index: int) -> int:
    """Return the number of the next head: a line in brackets inside a text or list isn't one.

    The last of *starts* is the end of *content*.
    """
    text = content[starts[index] : starts[index + 1]]
    if not _is_open(text):
        return index + 1
    for after in range(index + 2, min(len(starts), index + _LONGEST_TEXT)):
        longer = content[starts[index] : starts[after]]
        if not _is_open(longer):
            if is_toml(longer):
                return after
            return index + 1
    return index + 1


def _is_open(text: str) -> bool:
    """Whether a text or list of several lines has begun in *text* and not ended."""
    for marks in ('"""', "'''"):
        if text.count(marks) % 2:
            return True
    list_end = 0
    for match in _LIST_BEGINS.finditer(text):
        list_end = match.end()
    if not list_end:
        return False
    lines_after = text[list_end:].split("\n")
    return not any("]" in line.split("#")[0] for line in lines_after)


def is_toml(text: str) -> bool:
    """Whether *text* can be read as TOML."""
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True


# Splices ------------------------------------------------------------------------------------------


def inserted(content: str, name: str, paragraph: str) -> str:
    """Return *content* with a new *paragraph*: in its place if the names are sorted, else at the
    end."""
    newline = newline_of(content)
    paragraph = _in_lines(paragraph, newline)
    split = split_text(content)
    names = split.names
    if len(names) > 1 and names == sorted(names):  # two branches seldom add to one place then
        for neighbour in split.paragraphs:
            if neighbour.name > name:
                before = content[: neighbour.start]
                return f"{before}{paragraph}{newline}{content[neighbour.start :]}"
    if not content:
        return paragraph
    gap = newline if content.endswith(newline) else 2 * newline
    if content.endswith(2 * newline):
        gap = ""
    return f"{content}{gap}{paragraph}"


def replaced(content: str, old: Paragraph, new_text: str) -> str:
    """Return *content* with *new_text* in place of the paragraph *old*; what is below it stays."""
    body = _in_lines(new_text, newline_of(old.text)).rstrip()
    tail = old.text[len(old.body) :]
    return f"{content[: old.start]}{body}{tail}{content[old.end :]}"


def without(content: str, old: Paragraph) -> str:
    """Return *content* without the paragraph *old*."""
    before = content[: old.start]
    tail = old.text[len(old.body) :].lstrip()
    after = tail + content[old.end :]
    if not after and before.strip():
        return before.rstrip() + newline_of(content)
    return before + after


def body_of(paragraph: str) -> str:
    """Return *paragraph* up to the end of its last line that is neither blank nor a comment."""
    lines = paragraph.split("\n")
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "\n".join(lines).rstrip("\r")


def with_value(paragraph: str, key: str, written: str) -> str:
    """Return the text of a *paragraph* in which *key* has the value *written*; empty removes it.

    Comments, order and spaces stay.
    """
    newline = newline_of(paragraph)
    place = _value_place(paragraph, key)
    if place is not None:
        start, value_start, end = place
        if written:
            return f"{paragraph[:value_start]}{written}{paragraph[end:]}"
        line_end = paragraph.find("\n", end)
        after = paragraph[line_end + 1 :] if line_end >= 0 else ""
        return paragraph[:start] + after
    if not written:
        return paragraph
    body = body_of(paragraph)
    tail = paragraph[len(body) :]
    return f"{body}{newline}{key} = {written}{tail}"


def _value_place(paragraph: str, key: str) -> tuple[int, int, int] | None:
    """Return where the line of *key* begins, and where its value begins and ends."""
    match = re.search(rf"^[ \t]*{re.escape(key)}[ \t]*=[ \t]*", paragraph, re.MULTILINE)
    if match is None:
        return None
    value_start = match.end()
    end = value_start
    while True:  # the shortest text that is a value, up to the end of a line or a comment
        line_end = paragraph.find("\n", end)
        line_end = len(paragraph) if line_end < 0 else line_end
        value = paragraph[value_start:line_end].rstrip("\r")
        if is_toml(f"{key} = {value}"):
            return match.start(), value_start, value_start + len(_without_comment(key, value))
        if line_end == len(paragraph):
            return None
        end = line_end + 1


def _without_comment(key: str, value: str) -> str:
    """Return *value* without the comment after it."""
    whole = tomllib.loads(f"{key} = {value}")
    for match in re.finditer(r"[ \t]*#", value):
        shorter = value[: match.start()]
        line = f"{key} = {shorter}"
        if shorter and is_toml(line) and tomllib.loads(line) == whole:
            return shorter
    return value.rstrip()


def newline_of(content: str) -> str:
    """Return how the first line of *content* ends."""
    end = content.find("\n")
    if end > 0 and content[end - 1] == "\r":
        return "\r\n"
    return "\n"


def _in_lines(text: str, newline: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", newline)


# Writing a paragraph ------------------------------------------------------------------------------


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
ORDER = (
    "text",
    "when",
    "block",
    "before_done",
    "passes",
    "checks",
    "kind",
    "must",
    "tags",
    "summary",
    "section",
    "task",
    "environment",
    "related",
    "requires",
    "conflicts",
    "overrides",
    "instead_of",
    "learned",
    "agent",
    "session",
    "project",
    "removed",
    "off",
)
"""The keys of a rule, in the order in which brim writes them."""


def paragraph_of(name: str, fields: Mapping[str, object]) -> str:
    """Return the paragraph of a rule with these *fields*.

    >>> print(paragraph_of("pnpm", {"text": "Use pnpm.", "block": ["npm ci"]}), end="")
    [pnpm]
    text = "Use pnpm."
    block = "npm ci"
    """
    lines = [f"[{written_name(name)}]"]
    for key in ORDER:
        value = fields.get(key)
        if value is None or value in ("", [], (), {}):
            continue
        lines.append(f"{key} = {written_value(value)}")
    return "\n".join(lines) + "\n"


def written_name(name: str) -> str:
    """Return *name* as it stands between brackets."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    return json.dumps(name, ensure_ascii=False)


def written_value(value: object) -> str:
    """Return *value* as TOML has it; a list of one is that one."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        pairs = [f"{written_name(key)} = {written_value(part)}" for key, part in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, (list, tuple)):
        if len(value) == 1 and isinstance(value[0], str):
            return written_value(value[0])
        return f"[{', '.join([written_value(part) for part in value])}]"
    if isinstance(value, str):
        return written_text(value)
    return str(value)


def written_text(text: str) -> str:
    """Return *text* in the quotes that need the least escaping.

    >>> print(written_text('Say "please"'), written_text("C:\\\\tools"), written_text("It's"))
    'Say "please"' 'C:\\tools' "It's"
    """
    if text.replace("\n", "").isprintable():
        if "\n" in text:
            if "'''" not in text and not text.endswith("'"):
                return f"'''\n{text}'''"
        elif _needs_escape(text) and "'" not in text:
            return f"'{text}'"
    # JSON escapes what TOML escapes, apart from one character that TOML forbids.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _needs_escape(text: str) -> bool:
    return "\\" in text or '"' in text
