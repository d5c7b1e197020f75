"""The wordings that tests read, and calls to hold against their checks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from brim.agents.call import ToolCall
from brim.rules.checks import (
    CallPlace,
    CheckedCall,
    RuleCheck,
    breach_of,
    check_for,
    fulfilled_needs,
)

HERE = Path(__file__).parent
PLACE = CallPlace("/work/shop", "/work/shop", "/home/me")


def lines_of(name: str) -> list[str]:
    """The lines of a file beside this one, without comments."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def wordings() -> Iterator[tuple[str, str, str]]:
    """Each wording with its rule and its language."""
    rule = ""
    for line in lines_of("wordings.txt"):
        if line.startswith("["):
            rule = line[1:-1]
        else:
            language, _, text = line.partition(": ")
            yield rule, language, text


def wordings_with_calls() -> Iterator[tuple[str, str, str]]:
    """Each wording of the other table, a call that breaks it, and one that must pass."""
    for line in lines_of("wordings_with_calls.tsv"):
        _, _, text, breaking, passing = line.split("\t")
        yield text, breaking, passing


def is_broken_by(check: RuleCheck, act: str, place: CallPlace) -> bool:
    """Whether *act* breaks *check*: ``run: COMMAND``, ``edit: FILE :: LINE`` or ``end: …, ran C``."""
    kind, _, what = act.partition(": ")
    if kind == "run":
        return breach_of(check, shell(what, place)) is not None
    if kind == "edit":
        path, _, line = what.partition(" :: ")
        return breach_of(check, edit(path, line, "old", place)) is not None
    _, _, command = what.partition(", ran ")
    fulfilled = fulfilled_needs(check, shell(command, place))
    return check.is_before_done and len(fulfilled) < len(check.needs)


@cache
def check_named(name: str) -> RuleCheck:
    """The check of the first wording that leads to the everyday rule *name*."""
    for _, _, text in wordings():
        check = check_for(text)
        if check is not None and check.name == name:
            return check
    raise KeyError(name)


def shell(command: str, place: CallPlace = PLACE) -> CheckedCall:
    """A pending call of a shell."""
    return CheckedCall(ToolCall(name="Bash", kind="shell", input={"command": command}), place)


def edit(path: str, new: str, old: str = "", place: CallPlace = PLACE) -> CheckedCall:
    """A pending edit of a file."""
    given = {"file_path": path, "old_string": old, "new_string": new}
    return CheckedCall(ToolCall(name="Edit", kind="edit", input=given), place)


def write(path: str, content: str, place: CallPlace = PLACE) -> CheckedCall:
    """A pending write of a whole file."""
    given = {"file_path": path, "content": content}
    return CheckedCall(ToolCall(name="Write", kind="write", input=given), place)


def read(path: str) -> CheckedCall:
    """A pending read of a file."""
    return CheckedCall(ToolCall(name="Read", kind="read", input={"file_path": path}), PLACE)
