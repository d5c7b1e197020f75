"""A rule in words: when agents hear it, and what it refuses."""

from __future__ import annotations

from brim.behaviors.behavior import BehaviorKind, Rule
from brim.behaviors.when import NOT_CI
from brim.rules.blocks import described, too_much

_HEARD = {
    "language": "they work on {} files",
    "file": "they work on {}",
    "task": "the task is {}",
    "command": "they run {}",
    "branch": "they are on the branch {}",
    "environment": "the environment is {}",
    "project_type": "the project is {}",
}
_LANGUAGES = {
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "cpp": "C++",
    "csharp": "C#",
    "php": "PHP",
} | {name: name.upper() for name in ("html", "css", "sql", "yaml", "json", "toml")}


def heard(behavior: Rule) -> str:
    """Return when agents are told *behavior*: by its conditions, else by what its own words speak
    of."""
    declared, end = behavior.when.waits, " outside CI" * (NOT_CI in behavior.when.conditions)
    conditions = [
        each
        for each in (behavior.when if declared else behavior.inferred).conditions
        if each != NOT_CI
    ]
    if not conditions or (not declared and behavior.kind is BehaviorKind.CONSTRAINT):
        return f"at the start of every session{end}"
    said = [
        _HEARD.get(key, "{key} is {}").format(_values(key, values), key=key.replace("_", " "))
        for key, values in conditions
    ]
    return f"only when {' and '.join(said)}{end}" if declared else f"when {' or '.join(said)}{end}"


def _values(key: str, values: tuple[str, ...]) -> str:
    names = [
        _LANGUAGES.get(each, each.capitalize()) if key == "language" else each for each in values
    ]
    return " or ".join(names)


def refused(behavior: Rule) -> str:
    """Return what *behavior* refuses, in words; empty if nothing."""
    return ", ".join(
        f"{described(each)}{f' ({too_much(each)})' if too_much(each) else ''}"
        for each in behavior.blocks
    )
