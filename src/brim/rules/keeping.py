"""How is a rule kept? Its check, with what a person has decided about it."""

from __future__ import annotations

from dataclasses import replace

from brim.rules.blocks import described
from brim.rules.checks import NOT_CHECKED, RuleCheck, check_for
from brim.rules.rule import EVERY_BREACH, OFF, WrittenRule, patterns_of


def check_of(rule: WrittenRule, *, is_agreed: bool = True) -> RuleCheck | None:
    """Return what shows that *rule* is broken, its blocks apart; None if no call does.

    Without a person's consent, which *is_agreed* says, only what is declared counts, not the words.
    """
    words = rule.text
    if rule.checks or not is_agreed:
        words = ""
    check = None
    if words:
        check = check_for(words)
    if rule.before_done:
        check = _with_declared_end(check, rule.before_done)
    if check is None:
        return None
    return narrowed(check, rule.passes)


def _with_declared_end(check: RuleCheck | None, before_done: str) -> RuleCheck | None:
    """Return *check* with the command that a person declared, whatever the words ask for."""
    declared = check_for("", before_done=before_done)
    if check is None or declared is None:
        return declared
    stopping = replace(check, needs=(), before="")
    if not stopping.stops:
        return declared
    wording = f"{check.wording}; {before_done}"
    return replace(stopping, needs=declared.needs, before=declared.before, wording=wording)


def check_of_words(rule: WrittenRule) -> RuleCheck | None:
    """Return what the words of *rule* ask for, whatever a person has said about that."""
    check = check_for(rule.text)
    if check is None:
        return None
    return narrowed(check, rule.passes)


def narrowed(check: RuleCheck, passes: tuple[str, ...]) -> RuleCheck:
    """Return *check* without the commands and edits that a person lets pass."""
    commands = []
    paths = []
    for pattern in passes:
        kind, _, words = pattern.partition(" ")
        if kind == "edit":
            paths.append(words)
        else:
            commands.append(words)
    return replace(
        check,
        passes=(*check.passes, *commands),
        other_paths=(*check.other_paths, *paths),
    )


# For people ---------------------------------------------------------------------------------------


def kept_words(rule: WrittenRule, *, is_agreed: bool = True) -> list[str]:
    """Say how brim keeps *rule*; nothing if it can't."""
    words = []
    blocks = [described(block) for block in patterns_of(rule.block)]
    if blocks:
        verb = "is" if len(blocks) == 1 else "are"
        words.append(f"{', '.join(blocks)} {verb} refused, with this rule as the reason")
    check = None
    if is_agreed and not rule.checks:
        check = check_of_words(rule)
    if check is not None and EVERY_BREACH in rule.block:
        words.append(check.promise.replace(" stopped once,", " refused,", 1))
    elif check is not None:
        words.append(check.promise)
    if rule.before_done:
        is_said_twice = check is not None and check.is_before_done and not check.stops
        if is_said_twice:
            words.pop()
        words.append(f"asks for {rule.before_done} before a turn is over, if files have changed")
    if rule.passes and check is not None:
        words.append(f"{', '.join([described(pattern) for pattern in rule.passes])} may pass")
    return words


def proposed_words(rule: WrittenRule) -> str:
    """Say what brim does once a person agrees that calls are compared with *rule*; empty if
    nothing."""
    check = check_of_words(rule)
    return check.promise if check else ""


def why_not_checked(rule: WrittenRule, state: str = "") -> str:
    """Say why no call is compared with the words of *rule*, whose check is in *state*."""
    if check_of_words(rule) is None:
        return NOT_CHECKED
    if state == OFF:
        return "not checked: you switched that off"
    return "not checked until you agree: brim rules review"
