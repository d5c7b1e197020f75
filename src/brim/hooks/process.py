"""The process that an agent starts at an event: it reads what happened and answers in one write, or
not at all.

It never raises, always exits with 0, and never takes longer than a second: an agent waits for it,
and may take a failure for a *no*. What goes wrong is one line in the log.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from threading import Timer
from typing import Any

from brim.agents import agent_named, agent_of_hook
from brim.agents.agent import Agent
from brim.agents.call import NOTHING, Answer, HookCall, joined
from brim.agents.fields import text, whole_characters
from brim.config.places import user_folder, without_bad_home
from brim.hooks.state import LEFT_OUT, HookWorkspace, log
from brim.workspace import working_folder

SECONDS = 0.9
"""For everything; together with Python's start it stays within one second."""
LARGEST = 16 << 20
"""Bytes of standard input that are read; a longer message isn't answered."""
PAUSED = "paused"
"""The file in the user's folder that makes every hook answer nothing, perhaps until a time: ``brim
pause``."""
NOTED = ("session_start", "prompt", "before_tool", "after_tool", "tool_failed", "stop")
"""The events at which the human is told what can't be read."""


class TimeUp(BaseException):
    """The time is over. Code that catches it answers what is ready and begins nothing more."""


def main(
    argv: Sequence[str] | None = None,
    stdin: Any = None,
    stdout: Any = None,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Answer the event of *argv* (event, agent) and *stdin* on *stdout*; return 0, always.

    Without *argv* this is the process of a hook: it takes its own arguments and ends here.
    """
    process = argv is None
    words = sys.argv[1:] if argv is None else argv
    try:
        # A dict: a hook asks for a hundred variables, most of which aren't set.
        environ = without_bad_home(dict(os.environ) if environ is None else environ)
        if process:
            _prepare_process()
        answer = ""
        try:
            answer = _answer_in_time(words, stdin, environ, ending=process)
        except BaseException as error:
            hook = " ".join([str(word)[:60] for word in words[:2]])
            log(environ, f"{hook}: nothing was answered: {_problem(error)}")
        if answer and stdout is None:
            sys.stdout.buffer.write(answer.encode("utf-8", "replace"))
            sys.stdout.buffer.flush()
        elif answer:
            stdout.write(answer)
    except BaseException:  # noqa: S110 (an agent waits, and must not be told no)
        pass
    if process:
        os._exit(0)  # everything is written, so there is no reason to tear down Python
    return 0


def _problem(error: BaseException) -> str:
    if isinstance(error, TimeUp):
        return "took too long"
    return f"{type(error).__name__}: {error}"


def status_line() -> None:
    """Print the status line and end: the process that a client starts after each message."""
    environ = without_bad_home(dict(os.environ))
    _prepare_process()
    from brim.hooks.statusline import main

    word = sys.argv[1] if len(sys.argv) == 2 else ""
    main(environ=environ, word=word if word.isalpha() else "")
    os._exit(0)


def run_hook(
    call: HookCall, environ: Mapping[str, str], *, now: float, ending: bool = False
) -> Answer:
    """Return what brim has to say to *call*; raises what goes wrong. *ending* is as in
    ``Workspace``."""
    from brim.hooks.handlers import AFTERWARDS, HANDLERS

    handle = HANDLERS.get(call.event)
    if handle is None:
        return NOTHING
    answer: Answer = NOTHING
    try:
        with HookWorkspace(
            environ, call.cwd or working_folder() or "", now=now, ending=ending
        ) as workspace:
            answer = handle(call, workspace)
            answer = joined(answer, attempt(problem_note, call, workspace))
            for part in AFTERWARDS if call.event in NOTED else ():
                answer = joined(answer, attempt(part, call, workspace))
    except TimeUp:
        if not answer:
            raise
    return answer


def attempt(
    part: Callable[..., Answer | None],
    call: HookCall,
    workspace: HookWorkspace,
    **options: Any,
) -> Answer:
    """Return what *part* answers; nothing, and a line in the log, if it fails. Nothing begins when
    the time is over.

    One part that fails doesn't take the others with it. That includes the part during which the
    time ends: what was told before it is noted as told, so it must be said.
    """
    if workspace.is_late:
        return NOTHING
    try:
        return part(call, workspace, **options) or NOTHING
    except TimeUp:
        workspace.is_late = True
        problem = "took too long: only what was ready is answered"
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    log(workspace.environ, f"{call.name or call.event} {call.agent.name}: {problem}")
    return NOTHING


def problem_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the human is told, once a session, about files that can't be read; the status
    line says it too."""
    if call.session and "config" in vars(workspace):
        _remember_left_out(call, workspace)
    if not workspace.problems or call.event not in NOTED:
        return None
    lines = [_problem_line(scope, workspace) for scope in workspace.problems]
    if call.session:
        state = workspace.state(call.session)
        lines = [line for line in lines if state.tell_once(line)]
    for line in lines:
        log(workspace.environ, line, now=workspace.now)
    return Answer(note="\n".join([f"brim: {line}" for line in lines]))


def _problem_line(scope: str, workspace: HookWorkspace) -> str:
    """Say what can't be read of the ``project`` or the ``user``, and what that means."""
    remedy = "this is left out"
    if scope == "project":
        remedy = f"agents go on without the settings of {workspace.project}"
    return f"{workspace.problems[scope][:300]}; {remedy}: see 'brim doctor'"


def _remember_left_out(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep for the status line whether the project is left out."""
    state = workspace.state(call.session)
    is_out = "project" in workspace.problems
    if state.told(LEFT_OUT) is is_out:
        return
    if is_out:
        state.tell_once(LEFT_OUT)
    else:
        state.open_latch(LEFT_OUT)


def is_off(environ: Mapping[str, str]) -> bool:
    """Whether hooks answer nothing: ``BRIM_DISABLE`` is set, or brim is paused."""
    return is_disabled(environ) or is_paused(user_folder(environ))


def is_paused(home: str) -> bool:
    """Whether brim is paused for the user's folder *home*."""
    until = paused_until(home)
    return until > 0 and time.time() < until


def paused_until(home: str) -> float:
    """Return when the pause ends, in seconds since 1970: infinity if it doesn't, 0 if there is
    none.

    The file holds that time. An empty one means until it is removed.
    """
    path = os.path.join(home, PAUSED)
    if not os.path.lexists(path):
        return 0.0
    try:
        with open(
            path,
            "rb",
            opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)),
        ) as file:
            return float(file.read(32))
    except (OSError, ValueError):
        return float("inf")


def is_disabled(environ: Mapping[str, str]) -> bool:
    """Whether ``BRIM_DISABLE`` is set."""
    return environ.get("BRIM_DISABLE", "").lower() not in ("", "0", "false", "no", "off")


def answer_to(
    event: str,
    agent: str,
    data: object,
    environ: Mapping[str, str],
    *,
    now: float,
    ending: bool = False,
) -> str:
    """Return what *agent* is told at its own *event*, in its format; empty for nothing. Raises what
    goes wrong."""
    if not isinstance(data, dict):
        raise ValueError("the input isn't a JSON object")
    value = agent_named(agent)
    running = agent_of_hook(environ)
    if running and running != agent:
        value = agent_named(running)
        if event not in value.events or _has_own_hook(value, event, environ):
            return ""
    name = event
    if event not in value.events:
        name = text(data, "hook_event_name") or event
    call = value.read(name, data, environ)
    if call is None:
        raise ValueError(f"{value.name} has no event {name[:80]!r} that brim knows")
    answer = run_hook(call, environ, now=now, ending=ending)
    return value.word(call, answer) if answer else ""


def _has_own_hook(agent: Agent, event: str, environ: Mapping[str, str]) -> bool:
    """Whether the user's settings of *agent* call brim at *event*: then that hook answers."""
    try:
        with open(agent.places.user_file(environ), "rb") as file:
            return f" {event} {agent.name}".encode() in file.read(LARGEST)
    except OSError:
        return False


def _answer_in_time(
    argv: Sequence[str], stdin: Any, environ: Mapping[str, str], *, ending: bool
) -> str:
    """Return the answer; raises ``TimeUp`` when the time is over, where signals allow it."""

    def ring(*_: object) -> None:
        raise TimeUp

    try:
        before = signal.signal(signal.SIGALRM, ring)
        timer = signal.setitimer(signal.ITIMER_REAL, SECONDS)
    except AttributeError:
        # Windows has no timer that interrupts: the process ends with nothing said.
        if ending:
            Timer(SECONDS, _give_up, (argv, environ)).start()
        return _answer(argv, stdin, environ, ending=ending)
    except ValueError:  # not the main thread
        return _answer(argv, stdin, environ, ending=ending)
    try:
        return _answer(argv, stdin, environ, ending=ending)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)
        signal.setitimer(signal.ITIMER_REAL, *timer)


def _give_up(argv: Sequence[str], environ: Mapping[str, str]) -> None:
    """End the process from another thread."""
    log(environ, f"{' '.join(argv[:2])[:120]}: nothing was answered: took too long")
    os._exit(0)


def _answer(argv: Sequence[str], stdin: Any, environ: Mapping[str, str], *, ending: bool) -> str:
    if is_off(environ):
        return ""
    if len(argv) < 2:
        raise ValueError("a hook is called with EVENT and AGENT")
    if len(argv) > 2:  # how much it does: ``brim init --hooks``
        environ = {**environ, "BRIM_HOOKS": argv[2]}
    data = _read_message(sys.stdin.buffer if stdin is None else stdin)
    return answer_to(argv[0], argv[1], data, environ, now=time.time(), ending=ending)


def _read_message(stdin: Any) -> Any:
    """Return what came on *stdin*, parsed."""
    message = stdin.read(LARGEST + 1)
    if len(message) > LARGEST:
        raise ValueError(f"more than {LARGEST:,} bytes came")
    written = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    data = json.loads(written.removeprefix("\ufeff"))  # Cursor begins with it
    if "\\ud" in written or "\\uD" in written:  # perhaps half of a character that was cut in two
        return whole_characters(data)
    return data


def _prepare_process() -> None:
    """Make the process ready for a short life."""
    gc.disable()  # it ends before there is anything to collect
    # Of a closed standard stream, the next file that is opened would get the number.
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
