"""A behavior as a small YAML file that a person can edit, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml

from brim.behaviors.behavior import BehaviorKind, Rule
from brim.behaviors.summary import summarize
from brim.config.text import ConfigLoader, read_mapping
from brim.errors import BrimError, InputError
from brim.rules.blocks import checked_blocks

FIELDS = ("name", "kind", "tags", "when", "blocks", "summary", "priority", "canonical")
"""What can be edited, in the order of the file."""

HEAD = """\
# Edit what you like, save and close; nothing changes if you leave it as it is.
# kind: {kinds}
# when: conditions by key (file, language, task, environment, project_type, branch, or your own); {{}} is always
# blocks: what is refused: "run npm install", "edit dist/**", "tool WebFetch"; [] is nothing
# summary: one line; if it is empty, it is made from the text where it is needed
"""


_SPECIAL = frozenset(",[]{}#:&*!|>'\"%@`?")
"""What means something in YAML, in one place or another."""


def as_yaml(behavior: Rule) -> str:
    """Return what of *behavior* can be edited; ``from_yaml`` of it gives an equal one."""
    when = [f"\n  {_scalar(key)}: {_scalars(values)}" for key, values in behavior.when.conditions]
    lines = [
        HEAD.format(kinds=", ".join(BehaviorKind)) + f"name: {_scalar(behavior.name)}",
        f"kind: {behavior.kind}",
        f"tags: [{', '.join(map(_scalar, behavior.tags))}]",
        f"when:{''.join(when) or ' {}'}",
        f"blocks: [{', '.join(map(_scalar, behavior.blocks))}]",
        f"summary: {_scalar(behavior.summary)}",
        f"priority: {behavior.priority}",
        f"canonical: {_text(behavior.canonical)}",
    ]
    return "\n".join(lines) + "\n"


def from_yaml(text: str, old: Rule, name: str) -> Rule:
    """Return *old* with what the file *text* says; raise an ``InputError`` with *name* and the line
    if it cannot be.

    A field that is not there stays as it was.
    """
    try:
        values, lines = read_mapping(text, name)
    except BrimError as error:
        raise InputError(str(error).removeprefix("config: ").replace("of settings ", "")) from None
    changed = old
    unedited = read_mapping(as_yaml(old), name)[0]
    for field, value in values.items():
        where = lines.get(field, name)
        if field in FIELDS and value == unedited[field]:
            continue  # also where the file could not say exactly what it was
        if field not in FIELDS:
            raise InputError(
                f"{where}: {field!r} cannot be edited here; these can: {', '.join(FIELDS)}"
            )
        try:
            changed = replace(changed, **{field: _checked(field, value)})
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
    # A summary that the old text gave is made again from the new one.
    was_made = bool(old.summary) and old.summary == " ".join(summarize(old.canonical).split())
    if was_made and changed.summary == old.summary and changed.canonical != old.canonical:
        return replace(changed, summary=summarize(changed.canonical))
    return changed


def _checked(field: str, value: Any) -> Any:
    """Return *value* as the field takes it: a file that a person wrote holds numbers where texts
    are meant."""
    if field == "tags":
        value = value.split(",") if isinstance(value, str) else [] if value is None else value
        if not isinstance(value, list):
            raise InputError("tags must be a list: [python, testing]")
        return [str(tag).strip() for tag in value]
    if field == "blocks":
        return checked_blocks([value] if isinstance(value, str) else [] if value is None else value)
    if field == "when":
        value = {} if value is None else value
        if not isinstance(value, dict):
            raise InputError("when must be a mapping: {language: python}")
        return {key: _texts(each) for key, each in value.items()}
    if field == "priority":
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError(f"priority must be a whole number, not {value!r}")
        return value
    if not isinstance(value, str) and not (value is None and field == "summary"):
        raise InputError(f"{field} must be a text, not {value!r}; put it in quotes")
    return value or ""


def _texts(value: Any) -> Any:
    """Return a condition's numbers as texts: ``python: 3.12`` is meant as it is written."""
    if isinstance(value, list):
        return [_texts(each) for each in value]
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _scalars(values: tuple[str, ...]) -> str:
    return _scalar(values[0]) if len(values) == 1 else f"[{', '.join(map(_scalar, values))}]"


def _whole(text: str) -> str:
    """Return *text* without halves of surrogate pairs, which no file can hold."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(text: str) -> str:
    """Return *text* as a block that reads as it is, if YAML can hold it so; else in quotes."""
    text = _whole(text)
    short = text.removesuffix("\n")
    for mark, inside in (("|-", text), ("|2-", text), ("|", short), ("|2+", short)):
        block = f"{mark}\n" + "\n".join(f"  {line}" if line else "" for line in inside.split("\n"))
        if _read(block) == text:
            return block
    return _scalar(text)


def _scalar(text: str) -> str:
    """Return *text* on one line, in quotes where it would be read as something else."""
    text = _whole(text)
    if text.isprintable() and not _SPECIAL.intersection(text) and _read(text) == text:
        return text
    quoted: str = yaml.dump(text, default_style='"', width=float("inf"), allow_unicode=True)
    return quoted.rstrip("\n")


def _read(written: str) -> Any:
    """Return what YAML makes of *written* as the last value of a mapping."""
    try:
        return yaml.load(f"text: {written}\n", Loader=ConfigLoader)["text"]  # noqa: S506 - it is a safe one
    except (yaml.YAMLError, ValueError):
        return None
