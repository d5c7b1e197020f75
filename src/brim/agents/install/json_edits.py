"""Puts a value into the text of a JSON file, or takes one out, and leaves every other character as it is.

What is put in looks like what is there: its indentation, its line ends, and on one line where the rest is. What is put
in and then taken out leaves the text as it was, to the byte. (What stood in a container that was empty is the one thing
that cannot be known afterwards: ``inside`` says it, for whoever wants to put that back.)
"""

from __future__ import annotations

import json

from brim.agents.install.json_places import end_of_comment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.install.json_places import Node

INDENT = "  "
"""What a file that has no lines yet is indented with."""


def with_member(text: str, root: Node, container: Node, value: object, key: str | None = None) -> str:
    """Return *text*, whose root is *root*, with *value* as the last in *container*; in an object under *key*."""
    end = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text, root)
    name = "" if key is None else f"{_dumped(key, None)}:{' ' if unit or _has_blanks(text, root) else ''}"
    if container.members:
        first, last = container.members[0], container.members[-1]
        before = _blanks_before(text, first.begin)
        if "\n" in before:
            lead = before[before.rfind("\n") + 1 :]
            new = f"{end}{lead}{name}{_block(value, unit or INDENT, lead, end)}"
            at = _after_comment(text, last.end)
        else:
            gap = " " if _has_blanks(text, root) else ""
            new = f"{gap}{name}{_dumped(value, gap)}"
            at = last.end  # what stands after a comment on its line would be part of it
        return f"{text[: last.end]},{text[last.end : at]}{new}{text[at:]}"
    if unit is None or inside(text, container).strip():  # what is inside is a comment: it stays before
        gap = " " if _has_blanks(text, root) else ""
        at = container.end - 1 if inside(text, container).strip() else container.start + 1
        return f"{text[:at]}{name}{_dumped(value, gap)}{text[container.end - 1 :]}"
    outer = _indentation(text, container.start)
    new = f"{end}{outer}{unit}{name}{_block(value, unit, outer + unit, end)}{end}{outer}"
    return f"{text[: container.start + 1]}{new}{text[container.end - 1 :]}"


def without_member(text: str, container: Node, member: Node) -> str:
    """Return *text* without *member* of *container*, and without the comma that it needed."""
    at = container.members.index(member)
    if at + 1 < len(container.members):
        following = container.members[at + 1]
        if text[member.end : following.begin].strip() == ",":
            return text[: member.begin] + text[following.begin :]
        comma = _comma_after(text, member)
        return text[: member.begin] + text[member.end : comma] + text[comma + 1 :]
    start = _start_of(text, member, container.members[at - 1].end if at else container.start + 1)
    if at == 0:
        inner = text[container.start + 1 : start] + text[member.end : container.end - 1]
        return with_inside(text, container, inner if inner.strip() else "")
    comma = _comma_after(text, container.members[at - 1])
    return text[:comma] + text[comma + 1 : start] + text[member.end :]


def with_value(text: str, root: Node, node: Node, value: object) -> str:
    """Return *text* with *value* in place of *node*, in the way that the file is written."""
    unit, end = _unit(text, root), "\r\n" if "\r\n" in text else "\n"
    if unit is None or ("\n" not in text[node.start : node.end] and node.members):
        new = _dumped(value, " " if _has_blanks(text, root) else "")
    else:
        new = _block(value, unit, _indentation(text, node.start), end)
    return text[: node.start] + new + text[node.end :]


def inside(text: str, container: Node) -> str:
    """Return what stands between the brackets of *container*."""
    return text[container.start + 1 : container.end - 1]


def with_inside(text: str, container: Node, inner: str) -> str:
    """Return *text* with *inner* between the brackets of *container*."""
    return text[: container.start + 1] + inner + text[container.end - 1 :]


def _unit(text: str, root: Node) -> str | None:
    """Return what one level of *text* is indented with; None if it is written on one line."""
    if not root.members:
        return INDENT
    before = _blanks_before(text, root.members[0].begin)
    if "\n" not in before:
        return None
    return before[before.rfind("\n") + 1 :] or INDENT


def _has_blanks(text: str, root: Node) -> bool:
    """Whether there is a space after a colon: the way of those who write on one line, but not tightly."""
    first = root.members[0] if root.members else None
    return first is None or text[first.begin : first.start].endswith(" ")


def _indentation(text: str, at: int) -> str:
    """Return what the line that *at* stands in begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _blanks_before(text: str, at: int) -> str:
    return text[len(text[:at].rstrip(" \t\r\n")) : at]


def _after_comment(text: str, at: int) -> int:
    """Return where the comments end that stand after *at* on its line: they are about what is before them."""
    while True:
        start = at + len(text[at:]) - len(text[at:].lstrip(" \t"))
        end = end_of_comment(text, start)
        if end is None or "\n" in text[start:end]:
            return at
        at = end - (text[:end].endswith("\r"))


def _start_of(text: str, member: Node, at: int) -> int:
    """Return where *member* begins with the blanks before it; *at* is where what stands before that ends.

    A line's end that ends a comment is not one of those blanks, unless another follows.
    """
    start = member.begin - len(_blanks_before(text, member.begin))
    after = text[member.end :]
    if "\n" in after[: len(after) - len(after.lstrip())]:
        return start
    while at < start:
        end = end_of_comment(text, at)
        if end is not None and text.startswith("//", at) and end >= start:
            return member.begin
        at = end or at + 1
    return start


def _comma_after(text: str, member: Node) -> int:
    """Return where the comma after *member* stands: a comment before it may hold others."""
    at = member.end
    while True:
        at += len(text[at:]) - len(text[at:].lstrip())
        end = end_of_comment(text, at)
        if end is None:
            return at
        at = end


def _block(value: object, unit: str, lead: str, end: str) -> str:
    """Return *value* over several lines, each but the first after *lead*."""
    lines = json.dumps(value, indent=unit, ensure_ascii=_needs_escapes(value)).split("\n")
    return f"{end}{lead}".join(lines)


def _dumped(value: object, gap: str | None) -> str:
    separators = (",", ":") if gap == "" else (", ", ": ")
    return json.dumps(value, separators=separators, ensure_ascii=_needs_escapes(value))


def _needs_escapes(value: object) -> bool:
    """Whether *value* holds what UTF-8 cannot: half of a pair, from a path whose name is no text."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
