"""Reads a rules file: every rule that can be read, and a mistake with its line for the others."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from brim.errors import InputError
from brim.files import sha256_hex
from brim.record import PlainData
from brim.rules.blocks import checked_blocks, with_kind
from brim.rules.paragraphs import Paragraph, SplitText, split_text
from brim.rules.rule import CHECK_STATES, EDGE_KINDS, EVERY_BREACH, KINDS, RuleEdge, WrittenRule
from brim.rules.when import ALWAYS, ENVIRONMENT, TASK, Clause, Condition, read_condition

LONGEST_NAME = 80
LONGEST_TEXT = 20_000
"""Characters of one rule. More is a document."""

_TEXT_KEYS = ("text", "summary", "section", "kind", "before_done", "checks", "instead_of")
_LIST_KEYS = ("block", "passes", "tags", "task", "environment", *EDGE_KINDS)
_FLAG_KEYS = ("must", "off")
_NOTE_KEYS = ("agent", "session", "project", "removed")
"""Keys of notes in ``inbox.toml`` and ``removed.toml``."""
KEYS = ("when", "learned", *_TEXT_KEYS, *_LIST_KEYS, *_FLAG_KEYS, *_NOTE_KEYS)
_SEVERAL_LINES = ("text",)
"""Keys whose text may have several lines."""

MERGE_CONFLICT = (
    "git couldn't merge this: keep one side, and remove the lines with <<<<<<<, ======= and >>>>>>>"
)
"""Said once for a file: a conflict has several lines, and each can be in another paragraph."""

_INVISIBLE_RANGES = (
    (0x00AD, 0x00AD),
    (0x061C, 0x061C),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    (0xE0000, 0xE007F),
)
"""Characters that a person doesn't see, and marks that turn the direction of writing."""
_JOINERS = frozenset([0x200C, 0x200D])
"""Invisible characters that scripts and emoji need between letters."""


@dataclass(frozen=True)
class Mistake(PlainData):
    """What is wrong in a file, on which line, and what to do."""

    line: int
    name: str
    """The rule that it's in; empty if it's in none."""
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@dataclass(frozen=True)
class RulesText(PlainData):
    """What a rules file says."""

    split: SplitText
    rules: tuple[WrittenRule, ...]
    mistakes: tuple[Mistake, ...]

    def rule(self, name: str) -> WrittenRule | None:
        """Return the rule with this name."""
        for rule in self.rules:
            if rule.name == name:
                return rule
        return None


class RuleMistakeError(InputError):
    """A paragraph that isn't a rule: which line, and what to do."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@lru_cache(8)
def read_rules(content: str) -> RulesText:
    """Return the rules and the mistakes in the *content* of a rules file.

    A file is asked for its rules several times while it's compiled, so the last answers are kept.

    >>> text = read_rules('[a]\\ntext = "Use uv."\\n[b]\\ntxt = "Use pnpm."\\n')
    >>> [rule.name for rule in text.rules], str(text.mistakes[0])
    (['a'], "line 4: 'txt' isn't a key of a rule; did you mean 'text'?")
    """
    split = split_text(content)
    rules: list[WrittenRule] = []
    mistakes: list[Mistake] = _preamble_mistakes(split)
    names: set[str] = set()
    for paragraph in split.paragraphs:
        try:
            rule = _read_again(paragraph)
        except RuleMistakeError as error:
            names.add(paragraph.name)
            messages = [mistake.message for mistake in mistakes]
            if str(error) != MERGE_CONFLICT or MERGE_CONFLICT not in messages:
                mistakes.append(Mistake(error.line, paragraph.name, str(error)))
            continue
        if rule.name in names:
            message = f"another rule is called {rule.name}; this one isn't used: rename it"
            mistakes.append(Mistake(paragraph.head_line, "", message))
            continue
        names.add(rule.name)
        rules.append(rule)
    return RulesText(split, tuple(rules), tuple(mistakes))


_READ_BEFORE: dict[str, WrittenRule] = {}
"""Rules by the digests of their paragraphs: a file and its accepted copy mostly say the same."""
_IN_INDEX: dict[str, str] = {}
"""Rules that the index has, as ``WrittenRule.to_text`` writes them."""


def remember_rules(written: Mapping[str, str]) -> None:
    """Let rules that an earlier process has read, by the digests of their paragraphs, be taken from
    the index: to read hundreds of paragraphs takes a hook too long."""
    _IN_INDEX.update(written)


def _read_again(paragraph: Paragraph) -> WrittenRule:
    """Read *paragraph*, unless one with the same text was read before."""
    digest = sha256_hex(paragraph.text.encode("utf-8", "surrogateescape"))[:24]
    rule = _READ_BEFORE.get(digest) or _rule_in_index(digest, paragraph.name)
    if rule is None:
        rule = replace(read_paragraph(paragraph), paragraph=digest)
    _READ_BEFORE[digest] = rule
    if rule.line == paragraph.head_line:
        return rule
    return replace(rule, line=paragraph.head_line)


def _rule_in_index(paragraph_digest: str, name: str) -> WrittenRule | None:
    """Return a rule that was read from such a paragraph; None if the index has none."""
    written = _IN_INDEX.get(paragraph_digest)
    if written is None:
        return None
    rule = WrittenRule.from_text(written)
    if rule.name != name:
        return None
    return rule


def _preamble_mistakes(split: SplitText) -> list[Mistake]:
    for number, line in enumerate(split.preamble.split("\n"), 1):
        text = line.strip()
        if text and not text.startswith("#"):
            message = f"begin each rule with its name in brackets, such as [pnpm]: {text[:60]}"
            return [Mistake(number, "", message)]
    return []


def read_paragraph(paragraph: Paragraph) -> WrittenRule:
    """Return the rule in *paragraph*; raise ``RuleMistakeError`` with the line and what to do."""
    if not paragraph.name:
        head = paragraph.text.split("\n")[paragraph.head_line - paragraph.line].strip()
        raise RuleMistakeError(
            paragraph.head_line, f"a rule begins with [name] on a line of its own, not {head[:60]}"
        )
    fields = _parsed_fields(paragraph)
    for key in fields:
        _check_key(paragraph, key)
    text = _text(paragraph, fields, "text")
    if not text.strip():
        raise RuleMistakeError(
            paragraph.head_line,
            f'{paragraph.name} has no text: add a line such as text = "Use uv, never pip."',
        )
    return WrittenRule(
        name=_checked_name(paragraph),
        text=text.strip(),
        when=_condition(paragraph, fields),
        block=_blocks(paragraph, fields),
        before_done=_text(paragraph, fields, "before_done").strip(),
        passes=_passes(paragraph, fields),
        checks=_check_state(paragraph, fields),
        kind=_kind(paragraph, fields),
        must=_flag(paragraph, fields, "must"),
        tags=_texts(paragraph, fields, "tags"),
        summary=_text(paragraph, fields, "summary"),
        section=_text(paragraph, fields, "section"),
        edges=_edges(paragraph, fields),
        learned=str(fields.get("learned", "")),
        instead_of=_text(paragraph, fields, "instead_of"),
        off=bool(_flag(paragraph, fields, "off")),
        line=paragraph.head_line,
    )


def _parsed_fields(paragraph: Paragraph) -> Mapping[str, Any]:
    try:
        parsed = tomllib.loads(paragraph.text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_mistake(paragraph, str(error)) from None
    except RecursionError:
        raise RuleMistakeError(paragraph.head_line, "too many brackets inside each other") from None
    fields = parsed.get(paragraph.name)
    if len(parsed) != 1 or not isinstance(fields, dict):
        raise RuleMistakeError(
            paragraph.head_line,
            f"[{paragraph.name}] isn't a name: use letters, digits and -, or quotes:"
            f' ["{paragraph.name}"]',
        )
    return fields


def _checked_name(paragraph: Paragraph) -> str:
    name = paragraph.name
    if len(name) > LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise RuleMistakeError(
            paragraph.head_line, f"a name has at most {LONGEST_NAME} characters that can be seen"
        )
    _check_visible(paragraph, "the name", name)
    return name


# What is wrong with a text that isn't TOML --------------------------------------------------------


def _syntax_mistake(paragraph: Paragraph, error: str) -> RuleMistakeError:
    position = re.search(r"at line (\d+)", error)
    lines = paragraph.text.split("\n")
    number = int(position[1]) if position else len(paragraph.text.rstrip().split("\n"))
    line = lines[number - 1].strip() if number <= len(lines) else ""
    for conflict_number, conflict_line in enumerate(lines, 1):
        if conflict_line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
            return RuleMistakeError(
                paragraph.line + conflict_number - 1,
                MERGE_CONFLICT,
            )
    for marks in ("'''", '"""'):
        if paragraph.text.count(marks) % 2:
            begin = paragraph.text.count("\n", 0, paragraph.text.rindex(marks))
            return RuleMistakeError(
                paragraph.line + begin,
                f"the text that begins here has no end: close it with {marks}",
            )
    return RuleMistakeError(paragraph.line + number - 1, _syntax_words(error, line))


def _syntax_words(error: str, line: str) -> str:
    """Return what to do about a *line* that TOML can't read."""
    begin = line[:60]
    reason = error.split(" (at", maxsplit=1)[0]
    hint = reason[:1].lower() + reason[1:]
    if "overwrite" in error or "twice" in error:
        hint = "this is here twice"
    elif any(quote in line for quote in "“”„‘’") and not re.search(r"=\s*[\"'\[{]", line):
        hint = 'these quotes aren\'t plain ones: write "…"'
    elif "\\" in line:
        hint = 'a backslash in "…" means something else: use single quotes'
    elif re.match(r"[\w-]+\s*:", line):
        hint = "write = instead of the colon"
    elif re.search(r"=\s*[A-Za-z*]", line) and not re.search(r"=\s*(?:true|false)\b", line):
        hint = f'a text needs quotes: {line.split("=", maxsplit=1)[0].strip()} = "…"'
    elif line.count('"') > 2 and re.search(r'=\s*".*".*"', line):
        hint = "quotes inside of quotes: write '…' around the whole text"
    if begin:
        return f"{hint}: {begin}"
    return hint


# One key ------------------------------------------------------------------------------------------


def _check_key(paragraph: Paragraph, key: str) -> None:
    if key in KEYS:
        return
    similar = get_close_matches(key.lower().replace("-", "_"), KEYS, 1, 0.5)
    hint = f"; did you mean {similar[0]!r}?" if similar else f": use {', '.join(KEYS[:1])}, text, …"
    raise _mistake(paragraph, key, f"{key!r} isn't a key of a rule{hint}")


def _text(paragraph: Paragraph, fields: Mapping[str, Any], key: str) -> str:
    if key not in fields:
        return ""
    value = fields[key]
    if not isinstance(value, str):
        raise _mistake(paragraph, key, f"{key} must be a text in quotes, not {value!r}")
    if len(value) > LONGEST_TEXT:
        raise _mistake(paragraph, key, f"{key} has more than {LONGEST_TEXT:,} characters")
    _check_visible(paragraph, key, value)
    is_multiline = "'''" in paragraph.text or '"""' in paragraph.text
    if "\n" in value.strip() and not (key in _SEVERAL_LINES and is_multiline):
        raise _mistake(paragraph, key, _backslash_hint(key))
    return value.replace("\r\n", "\n")


def _check_visible(paragraph: Paragraph, key: str, value: str) -> None:
    """Raise unless a person sees every character of *value*. A tab must have been typed: in the
    file it's one, not a backslash and a t."""
    if value.replace("\n", "").isprintable():
        return
    for position, sign in enumerate(value):
        code = ord(sign)
        if code < 0x20 and sign not in "\n\r" and not (sign == "\t" and sign in paragraph.text):
            raise _mistake(paragraph, key, _backslash_hint(key))
        if 0xD800 <= code < 0xE000:
            hint = "save the file with that encoding"
            raise _mistake(paragraph, key, f"{key} isn't UTF-8: {hint}")
        if 0x7F <= code < 0xA0:
            message = f"{key} has the control character U+{code:04X}: remove it"
            raise _mistake(paragraph, key, message)
        if is_invisible(code) and not _joins(value, position):
            message = f"{key} has the invisible character U+{code:04X}: remove it"
            raise _mistake(paragraph, key, message)


def _mistake(paragraph: Paragraph, key: str, message: str) -> RuleMistakeError:
    """Return the mistake in the value of *key*, with its line."""
    return RuleMistakeError(paragraph.line_of(key), message)


def is_invisible(code: int) -> bool:
    """Whether the character *code* can't be seen, or turns the direction of writing."""
    return any(first <= code <= last for first, last in _INVISIBLE_RANGES)


def _joins(value: str, position: int) -> bool:
    """Whether the sign at *position* joins two characters that aren't ASCII: an emoji, a word."""
    if ord(value[position]) not in _JOINERS:
        return False
    neighbours = value[max(0, position - 1) : position] + value[position + 1 : position + 2]
    return len(neighbours) == 2 and not neighbours.isascii()


def _backslash_hint(key: str) -> str:
    return f"a backslash in \"…\" means something else: write {key} = '…' with single quotes"


def _flag(paragraph: Paragraph, fields: Mapping[str, Any], key: str) -> bool | None:
    value = fields.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise _mistake(paragraph, key, f"{key} must be true or false, not {value!r}")


def _texts(paragraph: Paragraph, fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    if key not in fields:
        return ()
    texts = fields[key]
    if isinstance(texts, str):
        texts = [texts]
    if not _is_list_of_texts(texts):
        form = '["one", "another"]'
        raise _mistake(paragraph, key, f"{key} must be a text or a list of texts, such as {form}")
    for text in texts:
        _check_visible(paragraph, key, text)
        if not text.strip() or "\n" in text:
            raise _mistake(paragraph, key, f"{key} has an empty text, or one of several lines")
    return tuple(texts)


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _kind(paragraph: Paragraph, fields: Mapping[str, Any]) -> str:
    kind = _text(paragraph, fields, "kind")
    if kind and kind not in KINDS:
        raise _mistake(paragraph, "kind", f"{kind!r} isn't a kind: use {', '.join(KINDS)}")
    return kind


def _blocks(paragraph: Paragraph, fields: Mapping[str, Any]) -> tuple[str, ...]:
    if fields.get("block") is True:
        return (EVERY_BREACH,)
    return _call_patterns(paragraph, fields, "block")


def _passes(paragraph: Paragraph, fields: Mapping[str, Any]) -> tuple[str, ...]:
    patterns = _call_patterns(paragraph, fields, "passes")
    for pattern in patterns:
        if pattern.startswith("tool "):
            message = f"passes has commands and edits, not {pattern!r}"
            raise _mistake(paragraph, "passes", message)
    return patterns


def _call_patterns(paragraph: Paragraph, fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    patterns = _texts(paragraph, fields, key)
    if not patterns:
        return ()
    try:
        return checked_blocks([with_kind(pattern) for pattern in patterns])
    except InputError as error:
        raise _mistake(paragraph, key, str(error)) from None


def _check_state(paragraph: Paragraph, fields: Mapping[str, Any]) -> str:
    state = _text(paragraph, fields, "checks")
    if state and state not in CHECK_STATES:
        message = f"checks is {' or '.join(CHECK_STATES)}, or isn't there, not {state!r}"
        raise _mistake(paragraph, "checks", message)
    return state


def _condition(paragraph: Paragraph, fields: Mapping[str, Any]) -> Condition:
    condition = ALWAYS
    try:
        if "when" in fields:
            condition = read_condition(fields["when"])
    except InputError as error:
        raise _mistake(paragraph, "when", str(error)) from None
    for key in (TASK, ENVIRONMENT):
        values = _texts(paragraph, fields, key)
        if values:
            condition = condition.within(Clause(key, values))
    return condition


def _edges(paragraph: Paragraph, fields: Mapping[str, Any]) -> tuple[RuleEdge, ...]:
    edges: list[RuleEdge] = []
    for kind in EDGE_KINDS:
        for target in _texts(paragraph, fields, kind):
            edges.append(_edge(paragraph, kind, target))
    return tuple(edges)


def _edge(paragraph: Paragraph, kind: str, target: str) -> RuleEdge:
    name, _, written_weight = target.strip().rpartition(" ")
    weight = 1.0
    if name and re.fullmatch(r"[0-9.]+", written_weight):
        try:
            weight = float(written_weight)
        except ValueError:
            weight = 0.0
        if not 0 < weight <= 1:
            message = f"a weight is above 0 and at most 1, not {written_weight}"
            raise _mistake(paragraph, kind, message)
    else:
        name = target.strip()
    if name == paragraph.name:
        raise _mistake(paragraph, kind, f"{kind} leads from one rule to another, not to itself")
    return RuleEdge(kind, name, weight)
