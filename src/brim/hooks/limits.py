"""What happens at a limit inside an agent: ``money.decision`` decides, this module asks.

At each event the session's files are read as far as they have grown, and the limits are compared
with the index of requests. Without a limit, nothing is read. The agent hears why it's held and how
to end well; only the person reads how a limit is lifted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress

from brim.agents import agent_named
from brim.agents.agent import subagent_files
from brim.agents.call import BETWEEN_REQUESTS, NOTHING, SESSION_END, Answer, HookCall
from brim.agents.call import PROMPT as PROMPT_EVENT
from brim.config.places import home_folder
from brim.hooks.notices import notify
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import tail_bytes
from brim.money import words
from brim.money.decision import (
    ALLOW,
    BELOW,
    BETWEEN,
    COMPACTION,
    DENY_TOOL,
    END_TURN,
    LAST_REQUEST,
    NOTE,
    PROMPT,
    REFUSE_COMPACTION,
    REFUSE_PROMPT,
    TOOL,
    WARN,
    WRAP_UP_INSTEAD,
    LimitMoment,
    decide,
)
from brim.money.limits import Spender
from brim.money.periods import CALENDAR, LIVES, hours_of
from brim.money.plans import plan_readings
from brim.money.settings import LimitSettings
from brim.money.spending import HOOK_BYTES, HOOK_SECONDS, Spending, SpendingAnswer
from brim.money.standing import LimitStanding
from brim.sessions.files import AgentFile, ReadingBounds
from brim.sessions.repository import project_of
from brim.sessions.requests import ClientTotal

REFUSALS = "limit refusals"
"""Kept for a session: the turn in which each of its agents was asked to wrap up."""
COUNTED_TOTAL = "counted total"
"""Kept for a session: the last sum of the client's that the index has."""
BEGAN_IN = "began in"
"""Kept for a session: the folder in which it began."""
EVERYBODY = "limits"
"""The session under which it's kept what the person's own command was run for."""
PATIENCE = 0.15
"""Seconds that are waited for a request that the agent hasn't written down yet."""
STEP = 0.01
LATELY = 3_600.0
"""Seconds in which a file was written that may have lines which no hook has read."""
LONGEST_LOG = 1 << 20
"""Bytes of the index's log that the next hooks read again and again."""
TAIL = 1 << 17


def spender_of(call: HookCall, workspace: HookWorkspace) -> Spender:
    """Return who spends: a session stays with the project in which it began."""
    project = workspace.index.project_of_session(call.session)
    if not project:
        project = project_of(_began_in(call, workspace), home_folder(workspace.environ))
    return Spender(project, call.session, call.sub_agent)


def _began_in(call: HookCall, workspace: HookWorkspace) -> str:
    if not call.session:
        return workspace.cwd
    state = workspace.state(call.session)
    began_in = state.kept(BEGAN_IN)
    if not isinstance(began_in, str):
        began_in = call.cwd or workspace.cwd
        state.keep(BEGAN_IN, began_in)
    return began_in


def session_files(call: HookCall, workspace: HookWorkspace) -> list[AgentFile]:
    """Return the files of the session of *call*, those of its sub-agents first.

    Before a prompt also those of sessions that ended lately, if the agent doesn't say when one
    ends: nobody has read their last lines.
    """
    files = session_files_of(call.agent.name, call.transcript, _began_in(call, workspace))
    if call.event != PROMPT_EVENT or call.agent.reports(SESSION_END):
        return files
    return [*_files_beside(call, workspace.now), *files]


def _files_beside(call: HookCall, now: float) -> list[AgentFile]:
    """Return the files beside the session's that were written lately."""
    paths = []
    with suppress(OSError), os.scandir(os.path.dirname(call.transcript)) as entries:
        for entry in entries:
            if entry.path != call.transcript and entry.stat().st_mtime > now - LATELY:
                paths.append(entry.path)
    format = call.agent.transcripts.format
    return [AgentFile(path, call.agent.name, format) for path in sorted(paths)]


def session_files_of(agent: str, transcript: str, folder: str) -> list[AgentFile]:
    """Return the files of the session with that *transcript*, which began in *folder*."""
    if not transcript:
        return []
    transcripts = agent_named(agent).transcripts
    paths = [transcript]
    if transcripts.has_subagent_files:
        paths = [path for _, path in subagent_files(transcript)] + paths
    return [AgentFile(path, agent, transcripts.format, folder=folder) for path in paths]


def spending_of(call: HookCall, workspace: HookWorkspace, settings: LimitSettings) -> Spending:
    """Return the question about *settings* for the session of *call*."""
    return Spending(
        settings,
        workspace.index,
        files=session_files(call, workspace),
        every_file=lambda: every_file(workspace),
        plans=plan_readings(workspace.environ, workspace.now, call.agent.name),
        warn=workspace.config["spend.warn"],
    )


def every_file(workspace: HookWorkspace) -> Iterable[AgentFile]:
    """Return the files of all agents: asked for only after the index was lost."""
    from brim.sessions.session_files import own_files

    files = own_files(workspace.environ)
    return [AgentFile(file.path, format=file.format, slug=file.slug) for file in files]


def ask(call: HookCall, workspace: HookWorkspace, *, looks_ahead: bool = False) -> SpendingAnswer:
    """Return where the limits of *call* stand, its files read; near a limit, the last request's
    line is waited for."""
    settings = workspace.limit_settings
    if workspace.only_injects or not (settings.limits or settings.problem):
        return SpendingAnswer()
    spending = spending_of(call, workspace, settings)
    spending.read()
    add_said_total(call, workspace)
    spender = spender_of(call, workspace)
    answer = spending.answer(spender, workspace.now, looks_ahead=looks_ahead)
    if looks_ahead and _is_near(answer.nearest) and _await_request(call, workspace):
        spending.read()
        answer = spending.answer(spender, workspace.now, looks_ahead=True)
    return answer


def _is_near(nearest: LimitStanding | None) -> bool:
    """Whether one more request may matter."""
    if nearest is None:
        return False
    if not nearest.next_cost or nearest.level != BELOW:
        return True
    return 2 * nearest.next_cost >= nearest.left


def _await_request(call: HookCall, workspace: HookWorkspace) -> bool:
    """Wait until the transcript has the request that asked for the pending calls.

    Claude Code writes it up to a tenth of a second after it has called the tool. Return whether
    something may have been written.
    """
    ids = [id.encode() for id in _pending_ids(call)]
    if not ids or not call.agent.transcripts.writes_answers_late:
        return False
    path = call.transcript
    if call.sub_agent:
        own = [file for agent, file in subagent_files(call.transcript) if agent == call.sub_agent]
        path = own[0] if own else path
    until = workspace.clock() + PATIENCE
    while not all(id in tail_bytes(path, TAIL)[1] for id in ids):
        if workspace.clock() >= until:
            break
        workspace.sleep(STEP)
    return True


def _pending_ids(call: HookCall) -> list[str]:
    ids = [call.tool.id]
    batch = call.data.get("tool_calls")
    if isinstance(batch, list):
        ids += [str(one.get("tool_use_id") or "") for one in batch if isinstance(one, dict)]
    return [id for id in ids if id]


# What happens at each event


def hold_prompt(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Refuse a prompt at a limit: no request is made."""
    if call.session and not call.sub_agent:
        workspace.state(call.session).keep(REFUSALS, {})
    return _hold(call, workspace, LimitMoment(PROMPT))


def hold_tool(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Deny a pending call at a limit."""
    return _hold(call, workspace, LimitMoment(TOOL, _refusals(call, workspace)))


def hold_request(call: HookCall, workspace: HookWorkspace) -> Answer:
    """End the turn before its next request would go over a limit."""
    return _hold(call, workspace, LimitMoment(BETWEEN, _refusals(call, workspace)))


def hold_compaction(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Refuse a compaction at a limit: it's a request too."""
    return _hold(call, workspace, LimitMoment(COMPACTION, is_manual=call.trigger == "manual"))


def note_limits(call: HookCall, workspace: HookWorkspace, kind: str) -> Answer:
    """Warn once at 80% of a limit, and say once that it's reached; *kind* is a start or a stop."""
    answer = ask(call, workspace, looks_ahead=True)
    lines = [words.problem_told(problem) for problem in answer.problems]
    for standing in answer.standing:
        action = decide(LimitMoment(kind), standing.level)
        if action == WARN:
            lines.append(words.warning(standing))
        elif action == NOTE:
            lines.append(words.stopped_sentence(standing))
        if action in (WARN, NOTE):
            _run_command(standing, workspace)
    lines += [words.unpriced(model) for model in _unpriced_models(call, workspace, answer)]
    if answer.standing:
        workspace.index.checkpoint(above=LONGEST_LOG)
    return Answer(note=_told_once(lines, call, workspace))


def keep_requests(call: HookCall, workspace: HookWorkspace) -> None:
    """Read the session's files to their end, so that its requests outlast them; copy the index once
    a day."""
    index = workspace.index
    bounds = ReadingBounds(HOOK_BYTES, time.monotonic() + HOOK_SECONDS)
    index.update(session_files(call, workspace), bounds)
    add_said_total(call, workspace)
    index.checkpoint(above=LONGEST_LOG)
    index.copy_daily()


def add_said_total(call: HookCall, workspace: HookWorkspace) -> None:
    """Count what the client's status line said that the session cost: no line of the transcript has
    a compaction before the session ends."""
    if not call.session:
        return
    state = workspace.state(call.session)
    total = state.said_total
    if total is None or state.kept(COUNTED_TOTAL) == total.cost:
        return
    workspace.index.add_total(ClientTotal(call.session, total.cost, {}, until=total.time))
    state.keep(COUNTED_TOTAL, total.cost)


def is_held(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether a limit of *call* is reached."""
    nearest = ask(call, workspace).nearest
    return nearest is not None and nearest.is_stopped


def _hold(call: HookCall, workspace: HookWorkspace, moment: LimitMoment) -> Answer:
    answer = ask(call, workspace, looks_ahead=True)
    nearest = answer.nearest
    note = ""
    if answer.problems:
        problems = [words.problem_told(problem) for problem in answer.problems]
        note = _told_once(problems, call, workspace)
    if nearest is None:
        return Answer(note=note)
    action = decide(moment, nearest.level)
    if action == ALLOW:
        return Answer(note=note)
    worded = _worded(action, nearest, call)
    if not worded:
        return Answer(note=note)
    _run_command(nearest, workspace)
    if _counts_as_refusal(action, call):
        _count_refusal(call, workspace)
    return worded.followed_by(Answer(note=note))


def _worded(action: str, standing: LimitStanding, call: HookCall) -> Answer:
    """Return *action* in words."""
    last_request = words.tool_denied(standing, wraps_up=True)
    end = words.turn_ended(standing)
    if call.sub_agent:  # the agent that started it reads why
        end = words.tool_denied(standing, wraps_up=False)
    answers = {
        REFUSE_PROMPT: Answer(deny=words.prompt_refused(standing)),
        REFUSE_COMPACTION: Answer(deny=words.compaction_refused(standing)),
        WRAP_UP_INSTEAD: Answer(deny=last_request),
        DENY_TOOL: Answer(deny=last_request, stop_reason=_end_with_tool(standing, call)),
        LAST_REQUEST: Answer(context=last_request),
        END_TURN: Answer(stop_reason=end),
    }
    return answers.get(action, NOTHING)


def _end_with_tool(standing: LimitStanding, call: HookCall) -> str:
    """Return why the turn ends with a denied tool, where brim doesn't stand between requests."""
    if call.agent.reports(BETWEEN_REQUESTS):
        return ""
    return words.turn_ended(standing)


# What is remembered of a turn


def _counts_as_refusal(action: str, call: HookCall) -> bool:
    """Whether *action* is the one chance of a turn to wrap up.

    Where brim stands between requests, the request that passes there is it, and not the calls of
    one batch.
    """
    if action == LAST_REQUEST:
        return True
    return action == WRAP_UP_INSTEAD and not call.agent.reports(BETWEEN_REQUESTS)


def _refusals(call: HookCall, workspace: HookWorkspace) -> int:
    if not call.session:
        return 0
    turns = workspace.state(call.session).kept(REFUSALS)
    if not isinstance(turns, dict) or turns.get(call.sub_agent) != call.turn:
        return 0
    return 1


def _count_refusal(call: HookCall, workspace: HookWorkspace) -> None:
    if not call.session:
        return
    state = workspace.state(call.session)
    turns = {call.sub_agent: call.turn}
    earlier = state.kept(REFUSALS)
    if isinstance(earlier, dict):
        turns = {**earlier, **turns}
    state.keep(REFUSALS, turns)


# What the person is told


def _told_once(lines: list[str], call: HookCall, workspace: HookWorkspace) -> str:
    """Return those of *lines* that this session hasn't told yet."""
    if not call.session:
        return "\n".join([f"brim: {line}" for line in lines])
    state = workspace.state(call.session)
    return "\n".join([f"brim: {line}" for line in lines if state.tell_once(line[:200])])


def _run_command(standing: LimitStanding, workspace: HookWorkspace) -> None:
    """Run the person's own command, once for a limit and its period, whichever session sees it
    first."""
    command = workspace.config.yours["notify"]
    if not command or not workspace.state(EVERYBODY).tell_once(latch_of(standing)):
        return
    text = f"{words.sum_sentence(standing)}{words.ahead_sentence(standing)}"
    if not standing.is_stopped:
        text = words.warning(standing)
    notify(command, text, reached=standing.is_stopped, environ=workspace.environ)


def latch_of(standing: LimitStanding) -> str:
    """Return what tells this limit, in this period and at this level, from others."""
    limit = standing.limit
    level = "reached" if standing.is_stopped else "near"
    return f"{level} {limit.project} {limit.text} {standing.amount} {_period_of(standing)}"


def _period_of(standing: LimitStanding) -> int:
    period = standing.limit.period
    if standing.resets_at is not None:
        return int(standing.resets_at) // 60  # providers round it to a second or two
    if period in CALENDAR or period in LIVES:
        return 0
    return int(standing.now / (3_600 * hours_of(period)))


def _unpriced_models(call: HookCall, workspace: HookWorkspace, answer: SpendingAnswer) -> list[str]:
    """Return the models of the session whose requests count as nothing under a limit in
    dollars."""
    if not call.session or not any(standing.counts_money for standing in answer.standing):
        return []
    return workspace.index.unpriced_models(call.session)
