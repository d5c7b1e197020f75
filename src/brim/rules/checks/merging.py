"""Several checks as one: those that a person declared, and those of each sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from brim.rules.blocks import with_kind
from brim.rules.checks.check import TURN_END, RuleCheck
from brim.rules.shell import simple_commands


def declared_checks(block: Iterable[str], before_done: str) -> list[RuleCheck]:
    """Return the checks for what a person has declared."""
    checks: list[RuleCheck] = []
    blocks = tuple([with_kind(pattern.replace("`", "").strip()) for pattern in block])
    if blocks:
        wording = ", ".join([pattern.removeprefix("run ") for pattern in blocks])
        checks.append(RuleCheck(name="block", refused=blocks, wording=wording))
    if before_done:
        checks.append(
            RuleCheck(
                name="done",
                needs=_needs(before_done),
                before=TURN_END,
                wording=before_done,
            )
        )
    return checks


def _needs(command: str) -> tuple[str, ...]:
    """Return each simple command in *command*: all of them must have run."""
    try:
        commands = simple_commands(command)
    except ValueError:
        return (command,)
    patterns = [" ".join(words) for words in commands if words[0] != "cd"]
    if not patterns:
        return (command,)
    return tuple(patterns)


def waiting_for(command: str, checks: list[RuleCheck]) -> list[RuleCheck]:
    """Return *checks*, where what one needs must have run before *command*."""
    waiting: list[RuleCheck] = []
    for check in checks:
        if check.needs:
            waiting.append(replace(check, before=command))
        else:
            waiting.append(check)
    return waiting


def merged(checks: list[RuleCheck]) -> RuleCheck:
    """Return one check for all of *checks*.

    >>> sudo = RuleCheck(name="sudo", calls=("sudo",), wording="sudo")
    >>> docker = RuleCheck(name="docker", calls=("docker",), wording="docker")
    >>> both = merged([sudo, docker])
    >>> both.name, both.calls, both.wording
    ('sudo', ('sudo', 'docker'), 'sudo; docker')
    """
    result = checks[0]
    for check in checks[1:]:
        values: dict[str, Any] = {}
        for check_field in fields(RuleCheck):
            first = getattr(result, check_field.name)
            second = getattr(check, check_field.name)
            values[check_field.name] = first or second
            if isinstance(first, tuple):
                values[check_field.name] = tuple(dict.fromkeys(first + second))
        values["written"] = _either("|", result.written, check.written)
        values["wording"] = _either("; ", result.wording, check.wording)
        result = RuleCheck(**values)
    return result


def _either(sign: str, first: str, second: str) -> str:
    """Return both texts with *sign* between them, or one if it has the other."""
    if second in first:
        return first
    return f"{first}{sign}{second}".removeprefix(sign)
