"""Does a call break a rule? ``breach_of`` compares a check with a call that was read once.

Only what a call shows counts: its commands, the files that it names, and the lines that it writes.
Whatever can't be read breaks nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from brim.rules.blocks import pattern_words, refused_tool, runs
from brim.rules.checks.call import CallPlace, CheckedCall
from brim.rules.checks.check import CREATE, DELETE, EDIT, ONLY_CHECKING, TURN_END, Breach, RuleCheck
from brim.rules.checks.invocation import Invocation, canonical_words
from brim.rules.checks.matching import is_called
from brim.rules.checks.packages import added_package
from brim.rules.checks.paths import touched_path
from brim.rules.checks.texts import wrong_line, wrong_message

__all__ = [
    "CallPlace",
    "CheckIndex",
    "CheckedCall",
    "breach_of",
    "fulfilled_needs",
    "waits_for",
]

_HARMLESS = frozenset(("--version", "--help", "--dry-run"))
"""Options with which a command only says something."""
_UNDONE = frozenset((*_HARMLESS, *ONLY_CHECKING))
"""Options with which a command doesn't do what it's needed for, if the need doesn't name them."""
_SAYING = {
    "git tag": "-l --list -n --contains --points-at --merged --sort",
    "git branch": "-l --list -a --all -r -v -vv --show-current --contains --merged --no-merged",
    "git stash": "list show",
    "git worktree": "list",
    "git submodule": "status",
    "git remote": "show get-url -v",
    "git config": "-l --list --get --get-all --get-regexp get list",
    "git notes": "list show",
    "gh release": "list view",
    "gh pr": "list view status diff checks",
    "npm config": "get list",
    "terraform state": "list show",
    "docker system": "df info",
    "kubectl rollout": "status history",
}
"""Words with which a subcommand only says something, unless a rule names them."""


def breach_of(check: RuleCheck, pending: CheckedCall) -> Breach | None:
    """Return what of *pending* breaks the rule of *check*; None if nothing does."""
    for block in check.refused:
        part = _refused_part(block, pending)
        if part:
            return Breach(part, refused=True)
    part = _forbidden_command(check, pending) or _forbidden_path(check, pending)
    part = part or wrong_message(check, pending) or wrong_line(check, pending)
    if not part and check.packages and "write" in pending.keys:
        part = added_package(pending)
    if part:
        return Breach(part)
    return None


def waits_for(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the command of *pending* that must wait until what *check* needs has run; empty if
    none must."""
    if check.before in ("", TURN_END):
        return ""
    for invocation in pending.invocations:
        if is_called(check.before, invocation, pending.place.branch):
            return invocation.line
    return ""


def fulfilled_needs(check: RuleCheck, pending: CheckedCall) -> tuple[int, ...]:
    """Return which of the needs of *check* the command of *pending* runs, by their places."""
    places: list[int] = []
    for place, need in enumerate(check.needs):
        patterns = need.split(" / ")
        undone = _UNDONE.difference(" ".join(patterns).split())
        for invocation in pending.invocations:
            if undone.isdisjoint(invocation.options) and _is_any_called(patterns, invocation):
                places.append(place)
                break
    return tuple(places)


# Commands -----------------------------------------------------------------------------------------


def _is_any_called(patterns: Iterable[str], invocation: Invocation, branch: str = "") -> bool:
    return any(is_called(pattern, invocation, branch) for pattern in patterns)


def _forbidden_command(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the command that breaks *check*; empty if none does."""
    if not check.calls:
        return ""
    branch = pending.place.branch
    for invocation in pending.invocations:
        branch = _branch_after(invocation) or branch
        if not _is_any_called(check.calls, invocation, branch):
            continue
        if _is_harmless(invocation, " ".join(check.calls).split()):
            continue
        if not _is_any_called(check.passes, invocation, branch):
            return invocation.line
    return ""


def _is_harmless(invocation: Invocation, pattern_words: list[str]) -> bool:
    """Whether *invocation* only says something, and none of *pattern_words* is about that."""
    if not _HARMLESS.isdisjoint(invocation.options):
        return True
    subcommand = " ".join([invocation.program, *invocation.arguments[:1]])
    saying = _SAYING.get(subcommand, "").split()
    words = [*invocation.options, *invocation.arguments[1:]]
    if any(word in saying and word not in pattern_words for word in words):
        return True
    return "help" in (invocation.arguments[:1] + invocation.arguments[-1:])


def _branch_after(invocation: Invocation) -> str:
    """Return the branch that *invocation* checks out; empty if it checks out none."""
    if invocation.program != "git" or invocation.arguments[:1] not in (("switch",), ("checkout",)):
        return ""
    for option in ("-c", "-b", "-B", "-C"):
        if option in invocation.values:
            return invocation.values[option][-1]
    if len(invocation.arguments) == 2 and "--" not in invocation.options:
        return invocation.arguments[1]
    return ""


def _forbidden_path(check: RuleCheck, pending: CheckedCall) -> str:
    """Return the file that the call touches against *check*; empty if there is none."""
    if not check.paths or "files" not in pending.keys:
        return ""
    return touched_path(pending, check.acts or (EDIT,), check.paths, check.other_paths)


# Blocks -------------------------------------------------------------------------------------------


def _refused_part(block: str, pending: CheckedCall) -> str:
    """Return what of the call the *block* of the rule refuses; empty if nothing."""
    kind, _, pattern = block.partition(" ")
    if kind == "edit":
        return touched_path(pending, (EDIT, CREATE, DELETE), (pattern,))
    if kind == "run":
        return _refused_command(pattern, pending)
    if refused_tool(pattern, pending.call.name):
        return pending.call.name
    return ""


def _refused_command(pattern: str, pending: CheckedCall) -> str:
    """Return the command that the block ``run PATTERN`` refuses, with its aliases."""
    words = canonical_words(pattern_words(pattern))
    for invocation in pending.invocations:
        ran_words = invocation.ran.words
        if runs(ran_words, words) or runs(canonical_words(ran_words), words):
            return invocation.line
    return ""


# Many checks --------------------------------------------------------------------------------------


class CheckIndex:
    """Checks by what a call must have, so that most of them aren't looked at."""

    def __init__(self, checks: Iterable[tuple[str, RuleCheck]]) -> None:
        self._by_key: dict[str, list[tuple[str, RuleCheck]]] = {}
        for rule, check in checks:
            for key in check.keys:
                self._by_key.setdefault(key, []).append((rule, check))

    def candidates(self, pending: CheckedCall) -> dict[str, RuleCheck]:
        """Return the rules that *pending* may break, and their checks."""
        candidates: dict[str, RuleCheck] = {}
        for key in sorted(pending.keys & self._by_key.keys()):
            candidates.update(self._by_key[key])
        return candidates

    def breaches(self, pending: CheckedCall) -> list[tuple[str, Breach]]:
        """Return the rules that *pending* breaks, each with what breaks it."""
        breaches: list[tuple[str, Breach]] = []
        for rule, check in self.candidates(pending).items():
            breach = breach_of(check, pending)
            if breach is not None:
                breaches.append((rule, breach))
        return breaches
