"""``RulesFile``: reads a file of rules and changes it, one rule at a time.

Changes are splices under a lock: everything else in the file stays as it is, byte for byte, and a
process that is killed leaves the old file or the new one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from brim.errors import InputError, StoreError
from brim.files import locked, open_safely, replace_file
from brim.record import PlainData
from brim.rules.paragraphs import (
    Paragraph,
    inserted,
    paragraph_of,
    replaced,
    split_text,
    with_value,
    without,
    written_name,
    written_value,
)
from brim.rules.reading import (
    Mistake,
    RuleMistakeError,
    RulesText,
    read_paragraph,
    read_rules,
)
from brim.rules.rule import WrittenRule

NAME = "rules.toml"
INBOX = "inbox.toml"
"""Agents' notes, and corrections that brim noticed: told once a person accepts them."""
REMOVED = "removed.toml"
"""Rules that were removed, in case they are missed."""
LARGEST = 8 << 20
"""Bytes of a file of rules."""
_MARK = "\ufeff"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class FileContent(PlainData):
    """What was read of a file: its text, or why it can't be used."""

    text: str = ""
    problem: str = ""
    """Empty if the file was read; else what to tell the person."""
    is_missing: bool = False
    has_mark: bool = False
    """Whether the file begins with a byte order mark, which isn't part of the text."""


def read_content(path: str, *, follow_links: bool = False) -> FileContent:
    """Return the content of a rules file, or why it can't be used.

    Links, pipes, other users' files and files over 8 MB are refused. With *follow_links* a link to
    a file is one: people link their own files into a folder of dotfiles.
    """
    if follow_links:
        path = os.path.realpath(path)
    try:
        handle = open_safely(path)
    except FileNotFoundError:
        is_dangling = os.path.islink(path)
        return FileContent(problem="is a link" if is_dangling else "is gone", is_missing=True)
    except OSError as error:
        return FileContent(problem=_why_not_opened(path, error))
    with os.fdopen(handle, "rb") as file:
        if hasattr(os, "getuid") and os.fstat(handle).st_uid != os.getuid():
            return FileContent(problem="belongs to another user, so it isn't used")
        try:
            data = file.read(LARGEST + 1)
        except OSError as error:
            return FileContent(problem=f"can't be read: {error.strerror or error}")
    return _decoded(data)


def _why_not_opened(path: str, error: OSError) -> str:
    if os.path.islink(path):
        return "is a link, so it isn't used: copy the file itself"
    if os.path.exists(path) and not os.path.isfile(path):
        return "is a folder or a pipe, so it isn't used"
    return f"can't be read: {error.strerror or error}"


def _decoded(data: bytes) -> FileContent:
    if len(data) > LARGEST:
        return FileContent(problem=f"is larger than {LARGEST >> 20} MB, so it isn't used")
    if data.startswith(_UTF_16):
        return FileContent(problem="is in UTF-16: save it with the encoding UTF-8")
    if b"\0" in data:
        return FileContent(problem="has NUL bytes, so it isn't a text")
    # Bytes that aren't UTF-8 cost one rule, and stay as they are when another one is changed.
    text = data.decode("utf-8", "surrogateescape")
    return FileContent(text.removeprefix(_MARK), has_mark=text.startswith(_MARK))


@dataclass
class FileDraft:
    """The text of a file while it's being changed."""

    text: str

    def paragraph(self, name: str, path: str) -> Paragraph:
        """Return the paragraph of a rule; raise if there is none."""
        split = split_text(self.text)
        paragraph = split.named(name)
        if paragraph is None:
            raise InputError(f"{path}: no rule is called {name!r}")
        return paragraph

    def add(self, name: str, fields: Mapping[str, object]) -> str:
        """Add a rule with these *fields*; return its name, with a number if the name is taken."""
        check_paragraph(paragraph_of(name, fields))
        unused_name = free_name(name, set(split_text(self.text).names))
        self.text = inserted(self.text, unused_name, paragraph_of(unused_name, fields))
        return unused_name


class RulesFile:
    """The file of rules at *path*, which may not exist yet."""

    def __init__(self, path: str, *, follow_links: bool = False) -> None:
        self.path = path
        self._follow_links = follow_links

    def content(self) -> FileContent:
        """Return the text of the file, or why it can't be used."""
        return read_content(self.path, follow_links=self._follow_links)

    def read(self) -> RulesText:
        """Return the rules and mistakes; a file that can't be used is one mistake."""
        content = self.content()
        if content.is_missing:
            return read_rules("")
        if content.problem:
            mistake = Mistake(1, "", f"{self.path} {content.problem}")
            return RulesText(split_text(""), (), (mistake,))
        return read_rules(content.text)

    def add(self, name: str, fields: Mapping[str, object]) -> str:
        """Add a rule with these *fields*; return its name, with a number if the name is taken."""
        with self.changing() as draft:
            return draft.add(name, fields)

    def replace(self, name: str, text: str) -> str:
        """Put the paragraph *text* in place of the rule *name*; return the old paragraph."""
        check_paragraph(text)
        with self.changing() as draft:
            old = draft.paragraph(name, self.path)
            draft.text = replaced(draft.text, old, text)
        return old.body

    def change(self, name: str, fields: Mapping[str, object]) -> str:
        """Give *fields* of a rule other values; an empty one is removed. Return the old
        paragraph."""
        with self.changing() as draft:
            old = draft.paragraph(name, self.path)
            text = old.body
            for key, value in fields.items():
                written = "" if value in ("", None, [], ()) else written_value(value)
                text = with_value(text, key, written)
            check_paragraph(text)
            draft.text = replaced(draft.text, old, text)
        return old.body

    def remove(
        self, name: str, removed: RulesFile | None = None, *, day: str = "", project: str = ""
    ) -> str:
        """Take a rule out of the file; return its paragraph, which *removed* keeps, with the
        *project* that it belonged to."""
        with self.changing() as draft:
            old = draft.paragraph(name, self.path)
            if removed is not None:
                removed.keep(old.body, day, project)
            draft.text = without(draft.text, old)
        return old.body

    def restore(self, name: str, removed: RulesFile) -> str:
        """Move a rule back from *removed*; return its name here."""
        paragraph = FileDraft(removed.content().text).paragraph(name, removed.path)
        text = paragraph.body
        for key in ("removed", "project"):
            text = with_value(text, key, "")
        restored_name = self.insert(text)
        removed.remove(name)
        return restored_name

    def keep(self, paragraph: str, day: str = "", project: str = "") -> str:
        """Add a removed *paragraph*; return its name here."""
        text = paragraph.strip("\r\n")
        if project:
            text = with_value(text, "project", written_value(project))
        if day:
            text = with_value(text, "removed", written_value(day))
        return self.insert(text, check=False)

    def insert(self, paragraph: str, *, check: bool = True) -> str:
        """Add a rule that is a paragraph already; return its name here."""
        if check:
            check_paragraph(paragraph)
        with self.changing() as draft:
            names = set(split_text(draft.text).names)
            name = _name_in(paragraph)
            unused_name = free_name(name, names)
            if unused_name != name:
                paragraph = _renamed(paragraph, unused_name)
            draft.text = inserted(draft.text, unused_name, paragraph.strip("\r\n") + "\n")
        return unused_name

    def append(self, paragraphs: Iterable[str]) -> None:
        """Add rules whose names are free, all at once, at the end."""
        text = "\n".join(paragraphs)
        with self.changing() as draft:
            gap = "\n" if draft.text.strip() else ""
            if draft.text and not draft.text.endswith("\n"):
                gap = "\n\n"
            draft.text += gap + text

    @contextmanager
    def changing(self) -> Iterator[FileDraft]:
        """Hand out the text under the file's lock; what it is afterwards replaces the file."""
        real = os.path.realpath(self.path) if self._follow_links else self.path
        folder = os.path.dirname(os.path.abspath(real))
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with locked(os.path.join(folder, f".{os.path.basename(real)}.lock")):
            content = self.content()
            if content.problem and not content.is_missing:
                raise StoreError(f"{self.path} {content.problem}", "refused")
            draft = FileDraft(content.text)
            yield draft
            if draft.text != content.text or content.is_missing:
                mark = _MARK if content.has_mark else ""
                data = (mark + draft.text).encode("utf-8", "surrogateescape")
                if len(data) > LARGEST:
                    raise InputError(f"{self.path}: more than {LARGEST >> 20} MB of rules")
                replace_file(real, data, prepare=_like(real))


def _like(path: str) -> Callable[[str], None]:
    """Return what gives a new file the permissions of the old one at *path*."""

    def prepare(new: str) -> None:
        with suppress(OSError):
            os.chmod(new, os.stat(path).st_mode & 0o7777)

    return prepare


def free_name(name: str, names: set[str]) -> str:
    """Return *name*, with a number if it's among *names*."""
    unused_name = name
    number = 2
    while unused_name in names:
        unused_name = f"{name}-{number}"
        number += 1
    return unused_name


def check_paragraph(paragraph: str) -> WrittenRule:
    """Return the rule in *paragraph*; raise unless it's exactly one."""
    paragraphs = split_text(paragraph).paragraphs
    if len(paragraphs) != 1:
        raise InputError(
            f"a rule is one paragraph that begins with its name, not {len(paragraphs)}"
        )
    try:
        return read_paragraph(paragraphs[0])
    except RuleMistakeError as error:
        raise InputError(f"line {error.line}: {error}") from None


def _name_in(paragraph: str) -> str:
    names = split_text(paragraph).names
    if names:
        return names[0]
    return "rule"


def _renamed(paragraph: str, name: str) -> str:
    """Return *paragraph* with another *name* between its brackets."""
    only = split_text(paragraph).paragraphs[0]
    lines = paragraph.split("\n")
    lines[only.head_line - 1] = f"[{written_name(name)}]"
    return "\n".join(lines)
