"""Rules in Markdown: CLAUDE.md, AGENTS.md and their like, read where they stand.

A bullet is a rule, with all that belongs to it. A numbered list is one procedure. A paragraph is a
rule if it says what to do. Code blocks, tables, comments and front matter hold no rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from brim.files import data_rows
from brim.record import PlainData

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_BULLET = re.compile(r"^([-*+])\s+(?:\[[ xX]\]\s+)?(.*)$")
_NUMBER = re.compile(r"^\d{1,3}[.)]\s+(.*)$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_TABLE = re.compile(r"^\s*\|")
_IMPORT = re.compile(r"(?<![\w`])@((?:~/|\./|\.\./)?[\w./-]+\.(?:md|mdc|txt))\b")
_TURNS = re.compile(
    r"(?i)\b(?:don['’]?ts?|do not|never|avoid|forbidden|prohibited|anti-?patterns?|not)\b"
)
"""What turns the sense of the list below it: then each bullet is told with it."""
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True)
class MarkdownText(PlainData):
    """One rule of a Markdown file."""

    text: str
    line: int
    heading: str


@dataclass
class _Block:
    """Lines that belong together: a bullet, a number or a paragraph."""

    kind: str
    line: int
    lines: list[str]

    @property
    def text(self) -> str:
        lines = [line.rstrip() for line in self.lines]
        return "\n".join(lines).strip()


def read_markdown(text: str) -> list[MarkdownText]:
    """Return the rules in *text*.

    >>> [rule.text for rule in read_markdown("# Style\\n\\nNever:\\n\\n- force-push\\n- amend\\n")]
    ['Never: force-push', 'Never: amend']
    """
    rules: list[MarkdownText] = []
    for heading, blocks in _sections(_plain(text)):
        rules += _section_rules(heading, blocks)
    return rules


def _plain(text: str) -> str:
    """Return *text* without front matter and comments; every line keeps its number."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for pattern in (_FRONT_MATTER, _COMMENT):
        text = pattern.sub(_newlines_of, text)
    return text


def _newlines_of(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _sections(text: str) -> Iterator[tuple[str, list[_Block]]]:
    heading = ""
    blocks: list[_Block] = []
    fence = ""
    is_new = True
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line)
        if fence or mark:
            if line[:1].isspace() and blocks and not is_new:
                blocks[-1].lines.append(line)  # a block of code inside a bullet
            if not fence and mark:
                fence = mark[1]
            elif line.strip() == fence:
                fence = ""
            continue
        title = _HEADING.match(line)
        if title is not None:
            yield heading, blocks
            heading = title[2]
            blocks = []
            is_new = True
        elif not line.strip() or _TABLE.match(line):
            is_new = True
        else:
            _add_line(blocks, line, number, is_new)
            is_new = False
    yield heading, blocks


def _add_line(blocks: list[_Block], line: str, number: int, is_new: bool) -> None:
    """Add *line* to the block that it belongs to, or begin one; *is_new* follows a blank line."""
    bullet = _BULLET.match(line)
    if bullet is not None:
        blocks.append(_Block("bullet", number, [bullet[2]]))
        return
    item = _NUMBER.match(line)
    if item is not None:
        if blocks and blocks[-1].kind == "numbers":
            blocks[-1].lines.append(line)
        else:
            blocks.append(_Block("numbers", number, [line]))
        return
    is_indented = line[:1].isspace()
    is_item = bool(blocks) and blocks[-1].kind in ("bullet", "numbers")
    if blocks and ((is_indented and is_item) or not is_new):
        blocks[-1].lines.append(line[2:] if line.startswith("  ") else line)
        return
    if not is_indented:
        blocks.append(_Block("paragraph", number, [line.removeprefix("> ")]))


def _section_rules(heading: str, blocks: list[_Block]) -> Iterator[MarkdownText]:
    before = ""
    if _TURNS.search(heading):
        before = f"{heading.rstrip(':')}: "
    introduction = ""
    for block in blocks:
        text = block.text
        if not text or _IMPORT.fullmatch(text):
            continue
        if block.kind == "bullet":
            yield MarkdownText(before + introduction + text, block.line, heading)
        elif block.kind == "numbers":
            yield MarkdownText(f"{introduction}\n{text}".strip(), block.line, heading)
            introduction = ""
        elif text.endswith((":", "：")):
            introduction = f"{text} "
        else:
            introduction = ""
            if instructs(text):
                yield MarkdownText(before + text, block.line, heading)


def imports_of(text: str) -> list[str]:
    """Return the files that *text* imports: ``@docs/style.md``, outside of code.

    >>> imports_of("See @docs/style.md\\n`@not/this.md`\\n")
    ['docs/style.md']
    """
    without_code = re.sub(r"`[^`]*`", "", _plain(text))
    return list(dict.fromkeys(_IMPORT.findall(without_code)))


# Front matter -------------------------------------------------------------------------------------

_FIELD = re.compile(r"^\s*([\w-]+)\s*:\s*(.*)$")


def front_matter_of(text: str) -> dict[str, list[str]]:
    """Return the fields at the beginning of *text*, each with its values.

    Cursor's front matter isn't YAML: ``globs: *.ts, src/**`` has neither quotes nor brackets.

    >>> front_matter_of("---\\nglobs: *.{ts,tsx}, src/**  # all\\npaths:\\n  - 'a/**'\\n---\\n")
    {'globs': ['*.{ts,tsx}', 'src/**'], 'paths': ['a/**']}
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    matter = _FRONT_MATTER.match(text)
    fields: dict[str, list[str]] = {}
    key = ""
    for line in ((matter[1] or "") if matter else "").split("\n"):
        field = _FIELD.match(line)
        if field is not None:
            key = field[1]
            fields[key] = _field_values(field[2])
        elif key and line.lstrip().startswith("- "):
            fields[key] += _field_values(line.lstrip()[2:])
    return fields


def _field_values(text: str) -> list[str]:
    """Return the values between commas that aren't in braces, without quotes and brackets."""
    text = re.sub(r"(?:^|\s+)#.*$", "", text).strip()
    if text[:1] == "[" and text[-1:] == "]":
        text = text[1:-1]
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and text.count(text[:1]) == 2:
        text = text[1:-1]
    values = []
    for part in re.split(r",(?![^{]*\})", text):
        value = part.strip().strip("'\"")
        if value:
            values.append(value)
    return values


# Does a paragraph say what to do? -----------------------------------------------------------------


_ABOUT_ITSELF = re.compile(
    r"(?:this|the following|these) (?:file|document|guide|page|rules?|section)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?:;。！？])\s+|\n")
_CODE_SPAN = re.compile(r"(?<!`)(`++).*?(?<!`)\1(?!`)")
_LETTERS = re.compile(r"[\w'’-]+")
_FILLERS = ("please", "bitte", "you", "also", "then")


def instructs(text: str) -> bool:
    """Whether *text* says what to do or to avoid.

    >>> instructs("Use UTC for times."), instructs("**IMPORTANT**: always use UTC.")
    (True, True)
    >>> instructs("It has tests.")
    False
    """
    anywhere = _instruction_words("any")
    for sentence in _SENTENCE_END.split(_CODE_SPAN.sub("`", text.lower())):
        words = _LETTERS.findall(sentence)
        pairs = [" ".join(pair) for pair in pairwise(words)]
        if not anywhere.isdisjoint(words) or not anywhere.isdisjoint(pairs):
            return not _ABOUT_ITSELF.match(text)
        starts = [word for word in words if word not in _FILLERS]
        if starts and starts[0] in _instruction_words("start"):
            return True
    return False


@cache
def _instruction_words(place: str) -> frozenset[str]:
    words: set[str] = set()
    for row_place, row in data_rows(__file__, "instruction_words.tsv"):
        if row_place == place:
            words.update([word.replace("_", " ") for word in row.split(" ")])
    return frozenset(words)
