"""Finds the rules in CLAUDE.md, AGENTS.md and the like: bullets, numbered lists, and prose that
says what to do.

A bullet can mean the opposite without the line above it (*Never:*, *Before a release:*), so an
introduction that ends in a colon, and a heading that turns or narrows the sense, are put before it.
What isn't a rule is listed with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from brim.behaviors.summary import sense_words
from brim.behaviors.words import word_list
from brim.rules.instructions import instructs

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL
)
_COMMENT = re.compile(
    r"(^ *(`{3,}+|~{3,}+).*?^ *\2[`~]* *$|(?<!`)(`++)[^\n]*?(?<!`)\3(?!`))|<!--.*?(?:-->|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""Code, as a block or in backticks, which is kept; or a comment."""
_BULLET = re.compile(r"^( *)•(?= )", re.MULTILINE)
_MARKER = re.compile(r"( *(?:[-*+]|\d{1,9}[.)]))(?: +|$)(?:\[[ xX]\] +)?")
_QUOTE = re.compile(r"^(?: {0,3}> ?)+(?:\[![A-Z]+\] *)?")
_CODE_SPAN = re.compile(r"(?<!`)(`++).*?(?<!`)\1(?!`)")
_IMPORT = re.compile(
    r"(?:^|(?<=[\s(:*]))@((?:~|\.{1,2})?[\w./-]*\w\.(?:mdc|md|markdown|txt))(?![\w/])",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(
    r"(?:this|the following|these) (?:file|document|guide|page|rules?|section)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?:;。！？])\s+|\n")
_LETTERS = re.compile(r"[\w'’-]+")
_FIELD = re.compile(r"^(\s*)([A-Za-z][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")

_REASON = re.compile(r"^\s*\**(?:Why|How to apply)\b", re.MULTILINE)

LONGEST_NOTE = 600
"""Characters of a note that are a rule; of a longer one its description is."""
LONGEST_PROSE = 2_000
"""Characters of a paragraph that can be one rule."""
NOTHING_TO_DO = "says nothing to do"


@dataclass(frozen=True)
class MarkdownRule:
    """One rule of a file, as it would be learned."""

    text: str
    line: int
    """Where it begins, counted from 1."""
    heading: str = ""
    """The nearest heading above it; empty if there is none."""
    steps: bool = False
    """Whether it is a numbered list that is one procedure."""
    file: str = ""
    source: str = ""
    """The lines of the file that it stands in."""


@dataclass(frozen=True)
class SkippedRule:
    """Something that isn't a rule, and why."""

    text: str
    line: int
    why: str


@dataclass(frozen=True)
class Import:
    """A Markdown file that an ``@path`` names; *alone* on its line, but for a label."""

    path: str
    line: int
    alone: bool


@dataclass(frozen=True)
class RuleFile:
    """The rules of one file, in their order, what isn't a rule, and the files that it imports."""

    rules: tuple[MarkdownRule, ...] = ()
    skipped: tuple[SkippedRule, ...] = ()
    imports: tuple[Import, ...] = ()


@dataclass(frozen=True)
class MarkdownItem:
    """One entry of a list, or one line of a paragraph, with everything that belongs to it."""

    text: str
    line: int
    source: str


@dataclass(frozen=True)
class MarkdownBlock:
    """A list with the paragraph before it; without items a paragraph, a code block or a table."""

    heading: str
    intro: str
    line: int
    items: tuple[MarkdownItem, ...] = ()
    numbered: bool = False
    kind: str = "text"
    """``text``, ``code`` or ``table``."""
    lines: tuple[MarkdownItem, ...] = ()
    """The lines of a paragraph."""

    @property
    def introduces(self) -> bool:
        """Whether the paragraph leads over to what comes after it."""
        return self.intro.endswith((":", "："))


def read_rules(text: str, name: str = "") -> RuleFile:
    """Return the rules in *text*, the content of the file *name*.

    Each top-level bullet is one, with all that belongs to it. A numbered list is one procedure if
    what is above it speaks of steps, else each number is a rule. A paragraph is one if it says what
    to do; in a file without any list, unless it is about the file itself. Code blocks, tables,
    comments and front matter hold no rules.

    >>> [rule.text for rule in read_rules("# Style\\n\\nNever:\\n\\n- force-push\\n- skip the tests\\n").rules]
    ['Never: force-push', 'Never: skip the tests']
    """
    found = blocks(text)
    lists = any(block.items for block in found)
    rules: list[MarkdownRule] = []
    skipped = (
        []
        if not _is_torn(text)
        else [SkippedRule("---", 1, "front matter that doesn't end with ---")]
    )
    for block in found:
        if block.kind != "text":
            skipped.append(SkippedRule(block.intro, block.line, f"a {block.kind}"))
        elif not block.items:
            for each in _prose(block, lists=lists):
                (rules if isinstance(each, MarkdownRule) else skipped).append(each)  # type: ignore[arg-type]
        elif block.numbered and len(block.items) > 1 and _speaks_of_steps(block):
            source = "\n".join(item.source for item in block.items)
            rules.append(
                MarkdownRule(
                    _procedure(block), block.items[0].line, block.heading, True, source=source
                )
            )
        else:
            before = _before(block) + (f"{block.intro} " if block.introduces else "")
            for item in block.items:
                why = _why_none(item)
                if why:
                    skipped.append(SkippedRule(item.text, item.line, why))
                elif item.text:
                    rules.append(
                        MarkdownRule(
                            before + item.text, item.line, block.heading, source=item.source
                        )
                    )
    imports = tuple(
        each for block in found for item in (*block.items, *block.lines) for each in _imports(item)
    )
    return RuleFile(tuple(replace(rule, file=name) for rule in rules), tuple(skipped), imports)


def blocks(text: str) -> list[MarkdownBlock]:
    """Return the lists, paragraphs, code blocks and tables of *text*; not its comments and front
    matter."""
    from markdown_it import (
        MarkdownIt,
    )  # only what reads files needs it, and it takes long to import
    from markdown_it.tree import SyntaxTreeNode

    text = _plain(text).expandtabs(4)
    text = _COMMENT.sub(
        lambda found: found[1] or _blank(found), _FRONT_MATTER.sub(_blank, text, count=1)
    )
    lines = _BULLET.sub(r"\1-", text).split("\n")
    # Without HTML blocks: a line with a tag would hide the bullets up to the next blank line.
    parser = MarkdownIt("commonmark").enable("table").disable("html_block")
    found: list[MarkdownBlock] = []
    heading, intro, introduced = "", None, False
    for node in SyntaxTreeNode(parser.parse("\n".join(lines))).children:
        start, end = node.map or (0, 0)
        if node.type in ("bullet_list", "ordered_list"):
            items = tuple(_item(lines, *(item.map or (0, 0))) for item in node.children)
            if intro and not intro.introduces and not introduced:
                found.append(intro)
            above = intro.intro if intro else ""
            found.append(
                MarkdownBlock(heading, above, items[0].line, items, node.type == "ordered_list")
            )
            introduced = True
            continue
        code = "\n".join(lines[start:end]).rstrip() if node.type in ("fence", "code_block") else ""
        if code and intro and intro.introduces and not introduced:
            whole = MarkdownItem(f"{intro.intro}\n{code}", intro.line, intro.lines[0].source)
            intro = replace(intro, intro=whole.text, lines=(whole,))
            continue
        if intro and not introduced:
            found.append(intro)
        intro, introduced = None, False
        if node.type == "heading":
            heading = " ".join(node.children[0].content.split())
        elif node.type in ("paragraph", "blockquote"):
            intro = _paragraph(lines, start, end, heading)
        elif code or node.type == "table":
            found.append(
                MarkdownBlock(
                    heading, code or lines[start], start + 1, kind="code block" if code else "table"
                )
            )
    return [*found, intro] if intro and not introduced else found


def front_matter(text: str) -> dict[str, list[str]]:
    """Return the fields at the beginning of *text*, each with its values; what isn't ``key: value``
    is left out.

    Cursor's isn't YAML: ``globs: *.ts, src/**`` has neither quotes nor brackets. A key inside of
    another counts as its own.

    >>> front_matter("---\\nglobs: *.{ts,tsx}, src/**  # all\\npaths:\\n  - 'a/**'\\n---\\n- Use it.")
    {'globs': ['*.{ts,tsx}', 'src/**'], 'paths': ['a/**']}
    """
    found = _FRONT_MATTER.match(_plain(text))
    fields: dict[str, list[str]] = {}
    key = ""
    for line in (found["fields"] if found else "").split("\n"):
        if field := _FIELD.match(line):
            key = field[2]
            fields[key] = list(_values(field[3] or ""))
        elif key and line.lstrip().startswith("- "):
            fields[key] += _values(line.lstrip()[2:])
    return fields


def read_note(text: str, fields: Mapping[str, list[str]], name: str = "") -> RuleFile:
    """Return the rule in one note of Claude Code's own memory, which has the front matter *fields*.

    Only ``feedback`` is what a person said about how to work. The rule is what stands before the
    note's *Why* and *How to apply*, or its description if that is long.
    """
    if fields.get("type") != ["feedback"]:
        what = (
            "the index of the notes"
            if not fields
            else f"a note about the {' '.join(fields.get('type', ['work']))}"
        )
        return RuleFile(
            skipped=(
                SkippedRule(" ".join(fields.get("name", [name])), 1, f"{what}, not a correction"),
            )
        )
    body = _FRONT_MATTER.sub(_blank, _plain(text), count=1)
    said = [
        line for line in _REASON.split(body, maxsplit=1)[0].split("\n") if not line.startswith("#")
    ]
    rule, short = "\n".join(said).strip(), ", ".join(fields.get("description", ()))
    if not rule or (short and len(rule) > LONGEST_NOTE):
        rule = short
    first = next((number for number, line in enumerate(body.split("\n"), 1) if line.strip()), 1)
    heading = ", ".join(fields.get("name", ()))
    return RuleFile((MarkdownRule(rule, first, heading, file=name),)) if rule else RuleFile()


def _values(text: str) -> Iterator[str]:
    """Yield the values of a field: between commas that are not in braces, without quotes, brackets
    and a comment."""
    text = re.sub(r"(?:^|\s+)#.*$", "", text).strip()
    quoted = text[:1] in ("'", '"') and text[-1:] == text[:1] and text.count(text[:1]) == 2
    inner = text[1:-1] if quoted or (text[:1] == "[" and text[-1:] == "]") else text
    for part in re.split(r",(?![^{]*\})", inner):
        if value := part.strip().strip("'\""):
            yield value


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _is_torn(text: str) -> bool:
    """Whether *text* begins with front matter that nothing ends."""
    first, _, rest = _plain(text).partition("\n")
    return (
        first.rstrip() == "---"
        and bool(_FIELD.match(rest.split("\n", 1)[0]))
        and not _FRONT_MATTER.match(_plain(text))
    )


def _paragraph(lines: list[str], start: int, end: int, heading: str) -> MarkdownBlock | None:
    """Return the paragraph in these *lines*, without the signs of a quote; None if nothing is
    left."""
    parts = []
    for number in range(start, end):
        text = _QUOTE.sub("", lines[number]).strip()
        if text and not text.startswith("<"):
            parts.append(MarkdownItem(text, number + 1, lines[number].strip()))
    said = " ".join(part.text for part in parts)
    return MarkdownBlock(heading, said, start + 1, lines=tuple(parts)) if said else None


def _item(lines: list[str], start: int, end: int) -> MarkdownItem:
    """Return the entry of a list that begins at the line *start*, as it is written, without its
    marker and indent."""
    marker = _MARKER.match(lines[start])
    indent = len(marker[1]) + 1 if marker else 0
    rest = [
        line[min(indent, len(line) - len(line.lstrip(" "))) :].rstrip()
        for line in lines[start + 1 : end]
    ]
    first = lines[start][marker.end() if marker else 0 :].rstrip()
    source = "\n".join(line.rstrip() for line in lines[start:end]).strip()
    return MarkdownItem("\n".join([first, *rest]).strip(), start + 1, source)


def _blank(found: re.Match[str]) -> str:
    """Return only the line ends of what was *found*, so that the other lines keep their numbers."""
    return "\n" * found[0].count("\n")


# Prose --------------------------------------------------------------------------------------------


def _prose(block: MarkdownBlock, *, lists: bool) -> Iterator[MarkdownRule | SkippedRule]:
    """Yield what a paragraph is: one rule, one for each line that is an order of its own, or
    none."""
    if all(_is_import(line) for line in block.lines):
        return
    if len(block.intro) > LONGEST_PROSE:
        yield SkippedRule(
            block.intro, block.line, f"longer than {LONGEST_PROSE:,} characters, so not one rule"
        )
        return
    before = _before(block)
    if len(block.lines) > 1 and all(
        line.text[-1] in ".!。" and instructs(line.text) for line in block.lines
    ):
        for line in block.lines:
            yield MarkdownRule(before + line.text, line.line, block.heading, source=line.source)
    elif (
        instructs(block.intro)
        or (before and not lists)
        or not (lists or _ABOUT_ITSELF.search(block.intro))
    ):
        source = "\n".join(line.source for line in block.lines)
        yield MarkdownRule(before + block.intro, block.line, block.heading, source=source)
    else:
        yield SkippedRule(block.intro, block.line, NOTHING_TO_DO)


def _imports(item: MarkdownItem) -> Iterator[Import]:
    """Yield the Markdown files that *item* names with ``@``, outside of code."""
    for offset, line in enumerate(item.text.split("\n")):
        plain = _CODE_SPAN.sub("", line) if "@" in line and len(line) <= LONGEST_PROSE else ""
        for found in _IMPORT.finditer(plain):
            before = plain[: found.start()].rstrip(" *_-")
            yield Import(
                found[1], item.line + offset, alone=not before or before.endswith((":", "："))
            )


def _is_import(item: MarkdownItem) -> bool:
    return any(each.alone for each in _imports(item))


# Lists --------------------------------------------------------------------------------------------


def _before(block: MarkdownBlock) -> str:
    """Return the heading as an introduction, if what is under it would say something else without
    it."""
    if sense_words(block.heading) or not _words(block.heading).isdisjoint(
        word_list("turning_headings.txt")
    ):
        return f"{block.heading.rstrip(':')}: "
    return ""


def _words(text: str) -> set[str]:
    return {word.strip(".,:;!?()*_`\"'：") for word in text.lower().split()}


def _procedure(block: MarkdownBlock) -> str:
    """Return all steps as one text under what introduces them, which says what they are for."""
    heading = f"{block.heading.rstrip(':')}:" if block.heading else ""
    intro = _before(block) + block.intro if block.introduces else heading
    steps = [f"{number}. {item.text}" for number, item in enumerate(block.items, start=1)]
    return "\n".join([intro, *steps] if intro else steps)


def _speaks_of_steps(block: MarkdownBlock) -> bool:
    said, known = f"{block.heading} {block.intro}".lower(), word_list("step_words.txt")
    return not _words(said).isdisjoint(known) or any(
        word in said for word in known if not word.isascii()
    )


def _why_none(item: MarkdownItem) -> str:
    """Return why *item* is not a rule: it only points somewhere, or is a line of a drawing of
    folders."""
    text = item.text.strip("*_ ")
    if text and not any(map(str.isalnum, text)):
        return NOTHING_TO_DO
    if any(sign in text for sign in "├└│") or text.startswith("|--"):
        return "a line of a file tree"
    if _is_import(item) or (" " not in text and text.startswith(("http://", "https://", "@"))):
        return "only a link"
    if (
        text.startswith(("[", "!["))
        and text.endswith(")")
        and text.count("](") == 1
        and text.find("](") > 0
    ):
        return "only a link" if ")" not in text[text.find("](") : -1] else ""
    bare = text.strip("`")
    if (
        bare
        and " " not in bare
        and "\n" not in bare
        and ("/" in bare or (bare != text and "." in bare))
    ):
        return "only a path"
    return ""
