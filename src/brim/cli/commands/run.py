"""``brim run``: an agent under supervision.

Answers go to standard output, everything of brim's own to standard error. On a terminal the gauge
stays below what is said, and is redrawn; otherwise there is a line for each turn.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from argparse import Namespace

from brim.agents.running import supervised_agents
from brim.cli.asking import need_person
from brim.cli.options import add_json, command, here, option, own_prices
from brim.cli.output import emit, note, tell
from brim.cli.run_view import TerminalFace, listen, report_lines
from brim.errors import InputError
from brim.run.command import ClientCommand, client_command
from brim.run.purse import ON_LIMIT
from brim.run.start import RunRequest, open_run_limits, supervisor_of
from brim.run.supervisor import RunReport, Supervisor
from brim.sessions.window.live import Counts
from brim.sessions.window.remembered import Memory
from brim.workspace import Workspace

INPUT_PATIENCE = 3.0
"""Seconds to wait for what is piped in with a prompt, as Claude Code does."""
AT_LIMIT = (
    "at the limit: ask (default; without a terminal, wrap-up), continue (once, a tenth more),"
    " wrap-up or stop"
)


@command(
    option("words", nargs="*", metavar="COMMAND", help="the agent's command, after --"),
    option(
        "--budget-usd",
        metavar="USD",
        help="stop at this cost; 5%%, at most $0.50, is kept for the wrap-up",
    ),
    option(
        "--on-limit", choices=(*ON_LIMIT, "wrap-up"), default="ask", metavar="ANSWER", help=AT_LIMIT
    ),
    option(
        "--task", default="", metavar="TEXT", help="what the work is about (default: the prompt)"
    ),
    option(
        "--then", action="append", default=[], metavar="TEXT", help="the next turn; may be repeated"
    ),
    option(
        "--scope",
        metavar="SCOPE",
        help="the name of this run in its report (default: the project and a number)",
    ),
    option(
        "--agent",
        choices=tuple(supervised_agents()),
        help="which agent it is, if the program has another name",
    ),
    option(
        "--compact",
        metavar="SHARE",
        help="compact from this share on (default: the setting 'context.compact')",
    ),
    add_json,
)
def run(options: Namespace) -> int:
    """Run an agent under supervision: gauge, compaction, limit.

    Shows how full the agent's window is, keeps the memory, compacts between two turns when it's
    time, and stops at a limit. Put the agent's own command after --. Claude Code takes all turns in
    one process; brim resumes Codex (codex exec) and Gemini for each turn, and says at the start
    what they can't do.

    On a terminal, each line that you type while the agent works is its next turn. Ctrl-C ends the
    turn; pressed again, it ends the agent. Exits with 0 if everything was done, 1 if the limit or a
    failure ended it, 2 for a wrong command line, and 130 after Ctrl-C.

    Examples:
      brim run -- claude -p "fix the parser" --permission-mode acceptEdits
      brim run --budget-usd 2 --then "now write the changelog" -- claude -p "fix the parser"
      brim run --budget-usd 0.50 --on-limit stop --json -- codex exec "explain this repository"
    """
    request = _request(options)
    workspace = here({"context.compact": options.compact})
    if not workspace.cwd:
        raise InputError("the current folder was deleted: go to another")
    report = _supervise(request, workspace, quiet=options.as_json)
    return emit(
        report,
        lambda report: tell("\n".join(report_lines(report))),
        options.as_json,
        code=report.exit_code,
    )


def _request(options: Namespace) -> RunRequest:
    if os.name != "posix":
        raise InputError(
            "brim run works on Linux and macOS;"
            " on Windows the agent cannot be interrupted calmly yet"
        )
    if options.on_limit == "continue":
        need_person("lets an agent go on at a limit")
    command = client_command(options.words, options.agent)
    if not all(text.strip() for text in options.then):
        raise InputError("--then is empty: write the turn, or leave it out")
    prompt, piped = _prompt(command)
    return RunRequest(
        command,
        prompt,
        piped,
        then=tuple(options.then),
        task=options.task,
        on_limit=options.on_limit.replace("-", "_"),  # ``brim limit`` has it as ``wrap-up``
        budget_usd=options.budget_usd,
        scope=options.scope or "",
    )


def _supervise(request: RunRequest, workspace: Workspace, *, quiet: bool) -> RunReport:
    counts = Counts()
    memory = Memory(workspace.home)
    face = TerminalFace(
        workspace.config, memory, counts, output=request.command.output, quiet=quiet
    )
    limits = open_run_limits(workspace, request.command.agent, face)
    try:
        own_prices(workspace.config)
        supervisor = supervisor_of(request, workspace, limits, face, counts)
        _catch_signals(supervisor)
        if face.can_ask:
            listen(supervisor.typed, face)
        return supervisor.run()
    finally:
        face.clear()
        memory.close()
        limits.close()


def _prompt(command: ClientCommand) -> tuple[str, str]:
    """Return the prompt and what is piped in.

    If the command has no prompt, the piped text is the prompt.
    """
    prompt = command.prompt
    if prompt == "-":
        prompt = ""
    if sys.stdin is None or sys.stdin.isatty():
        if not prompt:
            raise InputError(
                "no prompt: put it in quotes after -p,"
                ' as in: brim run -- claude -p "fix the parser"'
            )
        return prompt, ""
    piped = ""
    if not prompt or _is_input_there():
        piped = sys.stdin.buffer.read().decode("utf-8", "replace")
    if prompt:
        return prompt, piped
    if not piped.strip():
        raise InputError("no prompt: the command has none, and standard input is empty")
    return piped, ""


def _is_input_there() -> bool:
    """Whether something comes on standard input, or its end.

    One that was left open and silent must not stop a run.
    """
    try:
        ready, _, _ = select.select([sys.stdin.fileno()], [], [], INPUT_PATIENCE)
    except (OSError, ValueError):
        return False
    if not ready:
        note(
            f"no standard input after {INPUT_PATIENCE:.0f} s:"
            " going on without it (add '< /dev/null')"
        )
    return bool(ready)


def _catch_signals(supervisor: Supervisor) -> None:
    """Let signals end the turn, not brim.

    SIGPIPE is ignored, so that brim outlives an agent that stops reading.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: supervisor.signalled(number))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
