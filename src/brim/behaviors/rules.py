"""Finds the rules in CLAUDE.md, AGENTS.md and the like: one for each bullet, with what it stands under.

A bullet can mean the opposite without the line above it (*Never:*, *Before a release:*), so an introduction that ends
in a colon, and a heading that turns or narrows the sense, are put before it.
"""

from __future__ import annotations

from brim._frozen import Frozen
from brim.behaviors import tables
from brim.behaviors.markdown_lists import Item, blocks
from brim.behaviors.sense import sense_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.behaviors.markdown_lists import Block


class Rule(Frozen):
    """One rule of a file, as it would be learned."""

    __slots__ = ("text", "line", "heading", "steps", "file")

    text: str
    line: int
    """Where it begins, counted from 1."""
    heading: str
    """The nearest heading above it; empty if there is none."""
    steps: bool
    """Whether it is a numbered list that is one procedure."""
    file: str

    def __init__(self, text: str, line: int, heading: str = "", steps: bool = False, file: str = "") -> None:
        self._fill(text=text, line=line, heading=heading, steps=steps, file=file)


class SkippedRule(Frozen):
    """A bullet that says nothing to do, and why it was taken for one."""

    __slots__ = ("text", "line", "why")

    text: str
    line: int
    why: str

    def __init__(self, text: str, line: int, why: str) -> None:
        self._fill(text=text, line=line, why=why)


class RuleFile(Frozen):
    """The rules of one file, in their order, and the bullets that are none."""

    __slots__ = ("rules", "skipped")

    rules: tuple[Rule, ...]
    skipped: tuple[SkippedRule, ...]

    def __init__(self, rules: Iterable[Rule] = (), skipped: Iterable[SkippedRule] = ()) -> None:
        self._fill(rules=tuple(rules), skipped=tuple(skipped))


def read_rules(text: str, name: str = "") -> RuleFile:
    """Return the rules in *text*, the content of the file *name*.

    Each top-level bullet is one, with all that hangs on it. A numbered list is one procedure if what stands above it
    speaks of steps, else each number is a rule. A file without any list has a rule in each paragraph. What is in code
    blocks, tables, comments and front matter is none.

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
        elif block.items and block.numbered and len(block.items) > 1 and _speaks_of_steps(block):
            rules.append(Rule(_procedure(block), block.items[0].line, block.heading, True, name))
        else:
            before = _before(block) + (f"{block.intro} " if _introduces(block) else "")
            for item in block.items:
                why = _why_none(item)
                if why:
                    skipped.append(SkippedRule(item.text, item.line, why))
                elif item.text:
                    rules.append(Rule(before + item.text, item.line, block.heading, False, name))
    return RuleFile(rules, skipped)


def _before(block: Block) -> str:
    """Return the heading as an introduction, if what stands under it would say something else without it."""
    words = {word.strip(".,:;!?()*_`\"'").lower() for word in block.heading.split()}
    if sense_words(block.heading) or not words.isdisjoint(tables.words("turning_headings.txt")):
        return f"{block.heading.rstrip(':')}: "
    return ""


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
    said = f"{block.heading} {block.intro}".lower()
    words = {word.strip(".,:;!?()*_`\"'：") for word in said.split()}
    known = tables.words("step_words.txt")
    return not words.isdisjoint(known) or any(word in said for word in known if not word.isascii())


def _why_none(item: Item) -> str:
    """Return why *item* is no rule: it only points somewhere, or is a line of a drawing of folders."""
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
