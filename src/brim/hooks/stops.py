"""Stops: a call that breaks a rule is denied once, with the rule as the reason. The same call again
passes, and with it the rule's other calls in this window: the agent has decided. Until then each
call is stopped, also several that are made at once. Only a call that breaks a rule is stopped,
never one that an agent should just be told something about."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from shlex import quote

from brim.agents.call import Answer, HookCall
from brim.errors import StoreError
from brim.hooks.breaches import BrokenRule, breaches_of
from brim.hooks.room import size
from brim.hooks.state import HookWorkspace, forget_renewal, log, renewal_of
from brim.rules.source import PROJECT, RuleSource
from brim.rules.state import ALLOWED, ONCE, REPEATED, STOPPED

STOPPED_ONCE = "Stopped once by brim: "
"""How the reason begins. In a transcript it shows that the call wasn't made."""
SAME_CALL = (
    "The call was not made. Do what the rule says instead. If the call is right all the same, make"
    " it again: the same call again passes."
)
LONGEST = 2_000
SHOWN = 200
"""Characters of a rule that are quoted, and of a call that are shown or kept."""


def stop_once(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return why a pending *call* that breaks rules isn't made; None if it breaks none, or one that
    was stopped for them in this window was made again."""
    if not call.session:
        return None  # it couldn't be remembered, so it would be stopped every time
    broken = []
    for breach in breaches_of(call, workspace):
        if not breach.rule.is_refused and not _is_allowed(breach, call, workspace):
            broken.append(breach)
    if not broken:
        return None
    try:
        stopped = _stopped_now(broken, call, workspace)
    except StoreError as error:
        log(workspace.environ, f"{call.name} {call.agent.name}: {error}")
        return None
    for breach in broken:
        _note(breach, call, workspace, is_new=breach in stopped)
    if not stopped:
        return None
    return Answer(deny=reason_for(stopped), note=_line(stopped, call, workspace))


def _is_allowed(breach: BrokenRule, call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether a person has allowed calls that break this rule; a single permission is used up."""
    state = workspace.rule_state
    name = breach.rule.name
    place = breach.rule.source.place
    permission = state.permission(name, place, call.session)
    if not permission:
        return False
    if permission == ONCE:
        try:
            if not state.use_up(name, place):
                return False
        except StoreError as error:  # it would last
            log(workspace.environ, f"allowed {name}: {error}")
            return False
    state.note(ALLOWED, name, place, session=call.session, call=breach.part[:SHOWN])
    return True


def _stopped_now(
    broken: list[BrokenRule], call: HookCall, workspace: HookWorkspace
) -> list[BrokenRule]:
    """Return those of *broken* for which no stopped call was made again in this window, and charge
    the session for the reason."""
    limits = workspace.config.yours.section("session")
    state = workspace.rule_state
    mark = _mark_of(call)
    with state.charging(call.session, call.sub_agent, **limits) as session:
        session.begin(renewal_of(call, workspace))
        stopped = []
        for breach in broken:
            if not session.may_repeat(breach.rule.digest, mark, is_alone=len(broken) == 1):
                stopped.append(breach)
        if stopped:
            digests = [breach.rule.digest for breach in stopped]
            session.note_reason(digests, size(reason_for(stopped)), mark)
    forget_renewal(call, workspace)
    return stopped


def _mark_of(call: HookCall) -> str:
    """Return by what the same call is known: its command, or the files that it changes and how."""
    tool = call.tool
    command = " ".join((tool.command or " ".join(tool.words)).split())
    parts = [command]
    if not command:
        parts = [tool.name, *tool.files, *tool.moved]
        for change in tool.changes:
            parts += change
    return f"{zlib.crc32(chr(0).join(parts).encode('utf-8', 'replace')):08x}"


def _note(breach: BrokenRule, call: HookCall, workspace: HookWorkspace, *, is_new: bool) -> None:
    """Note that a call was stopped, or, once, that it was made again."""
    name = breach.rule.name
    place = breach.rule.source.place
    state = workspace.rule_state
    kind = STOPPED
    if not is_new:
        last = state.last(name, place, (STOPPED, REPEATED))
        if last is None or last.kind == REPEATED or last.session != call.session:
            return
        kind = REPEATED
    state.note(kind, name, place, session=call.session, call=breach.part[:SHOWN])


# Words --------------------------------------------------------------------------------------------


def reason_for(broken: Iterable[BrokenRule]) -> str:
    """Return why a call isn't made, for the agent."""
    lines = []
    texts: set[str] = set()
    for breach in broken:
        text = breach.rule.text.strip()
        if text in texts:  # a CLAUDE.md often says the same as an AGENTS.md
            continue
        texts.add(text)
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}…"
        lines.append(f'{STOPPED_ONCE}"{breach.part[:SHOWN]}" breaks your user\'s rule: {text}')
        if breach.missing:
            lines.append(f"After your last change, this has to run first: {breach.missing}.")
    return "\n".join([*lines, SAME_CALL])


def _line(stopped: list[BrokenRule], call: HookCall, workspace: HookWorkspace) -> str:
    """Return the line for the person; none for a call that they were shown before."""
    if not workspace.config["hooks.notes"]:
        return ""
    first = stopped[0]
    part = first.part[:SHOWN]
    if not workspace.state(call.session).tell_once(f"stop {first.rule.name} {part}"):
        return ""
    names = ", ".join(dict.fromkeys([breach.rule.name for breach in stopped]))
    rules = "rule" if len(stopped) == 1 else "rules"
    allow = allow_command(first.rule.name, first.rule.source)
    return f"brim: stopped {part} ({rules} {names}); allow it: {allow}"


def allow_command(name: str, source: RuleSource) -> str:
    """Return the command with which a person allows what the rule *name* forbids."""
    allow = f"brim rules allow {quote(name)}"
    if source.kind == PROJECT:
        return f"cd {quote(source.project or '')} && {allow}"
    return allow
