"""Finds the rules in CLAUDE.md, AGENTS.md and the like: one for each bullet, with what it is under.

A bullet can mean the opposite without the line above it (*Never:*, *Before a release:*), so an introduction that ends
in a colon, and a heading that turns or narrows the sense, are put before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from brim.behaviors.summary import sense_words
from brim.behaviors.words import word_list

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"(^ *(```+|~~~+).*?^ *\2[`~]* *$)|<!--.*?(?:-->|\Z)", re.MULTILINE | re.DOTALL)
"""A code block, which is kept, or a comment."""
_BULLET = re.compile(r"^( *)•(?= )", re.MULTILINE)
_MARKER = re.compile(r"( *(?:[-*+]|\d{1,9}[.)]))(?: +|$)(?:\[[ xX]\] +)?")


@dataclass(frozen=True)
class Rule:
    """One rule of a file, as it would be learned."""

    text: str
    line: int
    """Where it begins, counted from 1."""
    heading: str = ""
    """The nearest heading above it; empty if there is none."""
    steps: bool = False
    """Whether it is a numbered list that is one procedure."""
    file: str = ""


@dataclass(frozen=True)
class SkippedRule:
    """A bullet that says nothing to do, and why."""

    text: str
    line: int
    why: str


@dataclass(frozen=True)
class RuleFile:
    """The rules of one file, in their order, and the bullets that aren't rules."""

    rules: tuple[Rule, ...] = ()
    skipped: tuple[SkippedRule, ...] = ()


@dataclass(frozen=True)
class Item:
    """One entry of a list, with everything that belongs to it."""

    text: str
    line: int


@dataclass(frozen=True)
class Block:
    """A list with the paragraph before it, or, without items, a paragraph that no list follows."""

    heading: str
    intro: str
    line: int
    items: tuple[Item, ...] = ()
    numbered: bool = False


def read_rules(text: str, name: str = "") -> RuleFile:
    """Return the rules in *text*, the content of the file *name*.

    Each top-level bullet is one, with all that belongs to it. A numbered list is one procedure if what is above it
    speaks of steps, else each number is a rule. A file without any list has a rule in each paragraph. Code blocks,
    tables, comments and front matter hold no rules.

    >>> [rule.text for rule in read_rules("# Style\\n\\nNever:\\n\\n- force-push\\n- skip the tests\\n").rules]
    ['Never: force-push', 'Never: skip the tests']
    """
    found = blocks(text)
    rules: list[Rule] = []
    skipped: list[SkippedRule] = []
    lists = any(block.items for block in found)
    for block in found:
        if not lists:
            rules.append(Rule(_before(block) + block.intro, block.line, block.heading, False, name))
        elif block.numbered and len(block.items) > 1 and _speaks_of_steps(block):
            rules.append(Rule(_procedure(block), block.items[0].line, block.heading, True, name))
        else:
            before = _before(block) + (f"{block.intro} " if _introduces(block) else "")
            for item in block.items:
                why = _why_none(item)
                if why:
                    skipped.append(SkippedRule(item.text, item.line, why))
                elif item.text:
                    rules.append(Rule(before + item.text, item.line, block.heading, False, name))
    return RuleFile(tuple(rules), tuple(skipped))


def blocks(text: str) -> list[Block]:
    """Return the lists and paragraphs of *text*, in their order; not its code, tables, comments and front matter."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").expandtabs(4)
    text = _COMMENT.sub(lambda found: found[1] or _blank(found), _FRONT_MATTER.sub(_blank, text, count=1))
    lines = _BULLET.sub(r"\1-", text).split("\n")
    # Without HTML blocks: a line with a tag would hide the bullets up to the next blank line.
    parser = MarkdownIt("commonmark").enable("table").disable("html_block")
    found: list[Block] = []
    heading, intro, introduced = "", None, False
    for node in SyntaxTreeNode(parser.parse("\n".join(lines))).children:
        start, end = node.map or (0, 0)
        if node.type in ("bullet_list", "ordered_list"):
            items = tuple(_item(lines, *(item.map or (0, 0))) for item in node.children)
            text = intro.intro if intro else ""
            found.append(Block(heading, text, items[0].line, items, node.type == "ordered_list"))
            introduced = True
            continue
        if intro and not introduced:
            found.append(intro)
        intro, introduced = None, False
        if node.type == "heading":
            heading = " ".join(node.children[0].content.split())
        elif node.type in ("paragraph", "blockquote"):
            said = " ".join(line.strip() for line in lines[start:end] if not line.lstrip().startswith("<"))
            intro = Block(heading, said, start + 1) if said else None
    return [*found, intro] if intro and not introduced else found


def _item(lines: list[str], start: int, end: int) -> Item:
    """Return the entry of a list that begins at the line *start*, as it is written, without its marker and indent."""
    marker = _MARKER.match(lines[start])
    indent = len(marker[1]) + 1 if marker else 0
    rest = [line[min(indent, len(line) - len(line.lstrip(" "))) :].rstrip() for line in lines[start + 1 : end]]
    first = lines[start][marker.end() if marker else 0 :].rstrip()
    return Item("\n".join([first, *rest]).strip(), start + 1)


def _blank(found: re.Match[str]) -> str:
    """Return only the line ends of what was *found*, so that the other lines keep their numbers."""
    return "\n" * found[0].count("\n")


def _before(block: Block) -> str:
    """Return the heading as an introduction, if what is under it would say something else without it."""
    if sense_words(block.heading) or not _words(block.heading).isdisjoint(word_list("turning_headings.txt")):
        return f"{block.heading.rstrip(':')}: "
    return ""


def _words(text: str) -> set[str]:
    return {word.strip(".,:;!?()*_`\"'：") for word in text.lower().split()}


def _introduces(block: Block) -> bool:
    """Whether the paragraph before the list leads over to it."""
    return block.intro.endswith((":", "："))


def _procedure(block: Block) -> str:
    """Return all steps as one text under what introduces them, which says what they are for."""
    heading = f"{block.heading.rstrip(':')}:" if block.heading else ""
    intro = _before(block) + block.intro if _introduces(block) else heading
    steps = [f"{number}. {item.text}" for number, item in enumerate(block.items, start=1)]
    return "\n".join([intro, *steps] if intro else steps)


def _speaks_of_steps(block: Block) -> bool:
    said, known = f"{block.heading} {block.intro}".lower(), word_list("step_words.txt")
    return not _words(said).isdisjoint(known) or any(word in said for word in known if not word.isascii())


def _why_none(item: Item) -> str:
    """Return why *item* is not a rule: it only points somewhere, or is a line of a drawing of folders."""
    text = item.text.strip("*_ ")
    if any(sign in text for sign in "├└│") or text.startswith("|--"):
        return "a line of a file tree"
    if " " not in text and text.startswith(("http://", "https://", "@")):
        return "only a link"
    if text.startswith(("[", "![")) and text.endswith(")") and text.count("](") == 1 and text.find("](") > 0:
        return "only a link" if ")" not in text[text.find("](") : -1] else ""
    bare = text.strip("`")
    if bare and " " not in bare and "\n" not in bare and ("/" in bare or (bare != text and "." in bare)):
        return "only a path"
    return ""
