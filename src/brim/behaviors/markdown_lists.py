"""Cuts Markdown into lists and paragraphs, each with the heading it stands under. Line by line, in one pass.

Only as much of Markdown as files with rules use; what is in doubt belongs to the bullet above it, so that no condition
or exception is cut off.
"""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Item(Frozen):
    """One entry of a list, with everything that hangs on it."""

    __slots__ = ("text", "line")

    text: str
    line: int

    def __init__(self, text: str, line: int) -> None:
        self._fill(text=text, line=line)


class Block(Frozen):
    """A list with the paragraph before it, or, without items, a paragraph that no list follows."""

    __slots__ = ("heading", "intro", "items", "numbered", "line")

    heading: str
    intro: str
    items: tuple[Item, ...]
    numbered: bool
    line: int

    def __init__(self, heading: str, intro: str, items: Iterable[Item], numbered: bool, line: int) -> None:
        self._fill(heading=heading, intro=intro, items=tuple(items), numbered=numbered, line=line)


def blocks(text: str) -> list[Block]:
    """Return the lists and paragraphs of *text*, in their order; not its code, tables, comments and front matter."""
    reader = _Reader()
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = _after_front_matter(lines)
    for number, line in enumerate(lines[start:], start=start + 1):
        reader.read(number, line.expandtabs(4))
    reader.end_list()
    reader.end_paragraph()
    return reader.blocks


def _after_front_matter(lines: list[str]) -> int:
    if lines[0].rstrip() != "---":
        return 0
    return next((at + 1 for at, line in enumerate(lines) if at and line.rstrip() in ("---", "...")), 0)


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.heading = ""
        self.paragraph: list[str] = []
        self.paragraph_line = 0
        self.paragraph_over = False
        self.items: list[Item] = []
        self.numbered = False
        self.item: list[str] | None = None
        self.item_line = self.indent = self.offset = 0
        self.after_blank = False
        self.fence = ""
        self.in_comment = False

    def read(self, number: int, raw: str) -> None:
        if self.fence:
            self.read_code(raw)
            return
        line = self.without_comments(raw)
        body = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if not body:
            self.read_blank(raw)
        elif body.startswith(("```", "~~~")) and not (body.startswith("`") and "`" in body.lstrip("`")):
            self.fence = body[: len(body) - len(body.lstrip(body[0]))]
            if self.belongs(indent):
                self.add(line)
            else:
                self.end_list()
                self.end_paragraph()
        elif self.belongs(indent):
            self.add(line)
        elif indent < 4 and self.read_heading(body):
            pass
        elif indent < 4 and body.startswith("|"):
            self.end_list()
            self.end_paragraph()
        elif (indent < 4 or self.item is not None) and (marker := _marker(body)):
            self.begin_item(number, indent, body, marker)
        elif self.item is not None and not self.after_blank:
            self.add(line)
        elif indent < 4 or (self.paragraph and not self.paragraph_over):
            self.read_text(number, body)

    def belongs(self, indent: int) -> bool:
        """Whether a line with *indent* hangs on the item that is open."""
        return self.item is not None and indent >= self.indent + 2

    def add(self, line: str) -> None:
        """Hang *line* on the item that is open, if there is one."""
        if self.item is not None:
            indent = len(line) - len(line.lstrip(" "))
            self.item.append(line[min(indent, self.offset) :].rstrip())
            self.after_blank = False

    def read_code(self, raw: str) -> None:
        self.add(raw)
        body = raw.strip()
        if body.startswith(self.fence) and not body.strip(self.fence[0]):
            self.fence = ""

    def read_blank(self, raw: str) -> None:
        if raw.strip():  # a comment that stood alone ends nothing
            return
        self.after_blank = True
        self.paragraph_over = True
        if self.item is not None:
            self.item.append("")

    def read_heading(self, body: str) -> bool:
        signs = len(body) - len(body.lstrip("#"))
        if 0 < signs < 7 and (len(body) == signs or body[signs] == " "):
            self.end_list()
            self.end_paragraph()
            self.heading = body[signs:].strip().rstrip("#").rstrip()
            return True
        plain = body.replace(" ", "")
        if len(plain) < 3 or plain[0] not in "-=*_" or plain.strip(plain[0]):
            return False
        underlined = plain[0] in "-=" and bool(self.paragraph) and not self.paragraph_over and self.item is None
        if plain[0] == "=" and not underlined:
            return False
        if underlined:
            self.heading, self.paragraph = " ".join(self.paragraph), []
        self.end_list()
        self.end_paragraph()
        return True

    def begin_item(self, number: int, indent: int, body: str, marker: str) -> None:
        self.end_item()
        numbered = marker[0].isdigit()
        if self.items and numbered is not self.numbered:
            intro, line = self.paragraph, self.paragraph_line
            self.end_list()
            self.paragraph, self.paragraph_line = intro, line
        self.numbered = numbered
        self.item_line, self.indent, self.offset = number, indent, indent + len(marker) + 1
        text = body[len(marker) :].strip()
        if text[:4].lower() in ("[ ] ", "[x] "):
            text = text[4:].lstrip()
        self.item = [text]
        self.after_blank = False

    def read_text(self, number: int, body: str) -> None:
        if self.items or self.item is not None:
            self.end_list()
        if self.paragraph_over or body.startswith("<"):
            self.end_paragraph()
        if not body.startswith("<"):
            if not self.paragraph:
                self.paragraph_line = number
            self.paragraph.append(body)

    def end_item(self) -> None:
        if self.item is not None:
            self.items.append(Item("\n".join(self.item).strip(), self.item_line))
        self.item = None

    def end_list(self) -> None:
        self.end_item()
        if self.items:
            intro = " ".join(self.paragraph)
            self.blocks.append(Block(self.heading, intro, self.items, self.numbered, self.items[0].line))
            self.items, self.paragraph = [], []

    def end_paragraph(self) -> None:
        if self.paragraph:
            self.blocks.append(Block(self.heading, " ".join(self.paragraph), (), False, self.paragraph_line))
        self.paragraph, self.paragraph_over = [], False

    def without_comments(self, line: str) -> str:
        """Return *line* without what is in ``<!-- -->``, which may run over many lines."""
        if not self.in_comment and "<!--" not in line:
            return line
        kept, at = [], 0
        while at < len(line):
            sign = "-->" if self.in_comment else "<!--"
            found = line.find(sign, at)
            end = len(line) if found < 0 else found
            if not self.in_comment:
                kept.append(line[at:end])
            if found < 0:
                break
            self.in_comment = not self.in_comment
            at = found + len(sign)
        return "".join(kept)


def _marker(body: str) -> str:
    """Return the sign with which *body* begins as an entry of a list; nothing if it is none."""
    if body[0] in "-*+•" and (len(body) == 1 or body[1] == " "):
        return body[0]
    digits = len(body) - len(body.lstrip("0123456789"))
    if 0 < digits < 10 and body[digits : digits + 1] in (".", ")") and body[digits + 1 : digits + 2] in ("", " "):
        return body[: digits + 1]
    return ""
