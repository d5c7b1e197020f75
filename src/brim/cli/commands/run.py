"""``brim run``: an agent under supervision."""

from __future__ import annotations

import os
import secrets
import select
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Callable

from brim.cli.commands.ledger import Money
from brim.cli.options import add_json, command, here, need_person, option, own_prices, settings, working_folder
from brim.cli.output import emit, note, tell
from brim.cli.run_view import TerminalFace, listen, report_lines
from brim.config import Config, project_folder, user_folder
from brim.errors import BrimError, ConfigError, InputError
from brim.hooks.limit_words import notify
from brim.report.model_notes import Memory
from brim.run.command import CLIENTS, ClientCommand, client_command
from brim.run.purse import ON_LIMIT, Purse, scope_of
from brim.run.session import Notes, SessionFiles, Tracked
from brim.run.supervisor import Supervisor
from brim.spend.money import micro_dollars
from brim.spend.periods import plan_limits
from brim.store.project import branch
from brim.tracking.budget import ContextBudget
from brim.tracking.live import Counts
from brim.tracking.notices import COST_LIMIT, COST_WARNING, Notice
from brim.workspace import Workspace

Tell = Callable[[str], object]

INPUT_PATIENCE = 3.0
"""Seconds to wait for what is piped in with a prompt, as Claude Code does."""
AT_LIMIT = "at the limit: ask (without a terminal: wrap-up), continue once with a tenth more, wrap-up, or stop"


def _answer(text: str) -> str:
    return text.replace("-", "_")  # ``brim limit`` has it as ``wrap-up``


@command(
    option("words", nargs="*", metavar="COMMAND", help="the agent's command, after --"),
    option("--budget-usd", metavar="USD", help="stop at this cost; 5%% of it, at most $0.50, is for the wrap-up"),
    option("--on-limit", type=_answer, choices=ON_LIMIT, default="ask", metavar="ANSWER", help=AT_LIMIT),
    option("--task", default="", metavar="TEXT", help="what the work is about (default: the prompt)"),
    option("--then", action="append", default=[], metavar="TEXT", help="another turn after it; may be repeated"),
    option("--scope", metavar="SCOPE", help="the ledger's scope (default: the project and a name for this run)"),
    option("--agent", choices=tuple(CLIENTS), help="whose command it is, if the program has another name"),
    option("--compact", metavar="SHARE", help="compact above this share (default: the setting 'context.compact')"),
    add_json,
)
def run(options: Namespace) -> int:
    """Run an agent under supervision: gauge, compaction, limit.

    Shows how full the agent's window is, keeps the memory, compacts between two turns when it's time, and stops
    at a limit. Put the agent's own command after --. Claude Code takes all turns in one process; Codex (codex exec) and
    Gemini are resumed for each turn, and brim says at the start what they can't do.

    On a terminal, each line that you type while the agent works is its next turn. Ctrl-C ends the turn; pressed again,
    it ends the agent. Exits with 0 if everything was done, 1 if the limit or a failure ended it, 2 for a wrong command
    line, and 130 after Ctrl-C.

    Examples:
      brim run -- claude -p "fix the parser" --permission-mode acceptEdits
      brim run --budget-usd 2 --then "now write the changelog" -- claude -p "fix the parser"
      brim run --budget-usd 0.50 --on-limit stop --json -- codex exec "explain this repository"
    """
    if os.name != "posix":
        raise InputError("brim run works on Linux and macOS; on Windows the agent cannot be interrupted calmly yet")
    if options.on_limit == "continue":
        need_person("lets an agent go on at a limit")
    command = client_command(options.words, options.agent)
    if any(not text.strip() for text in options.then):
        raise InputError("--then is empty: write the turn, or leave it out")
    prompt, given = _prompt(command)
    cwd = working_folder()
    if cwd is None:
        raise InputError("the current folder was deleted: go to another")
    config = settings({"context.compact": options.compact})
    run_id, project = secrets.token_hex(6), project_folder(os.environ, cwd)
    memory, money, counts = Memory(user_folder(os.environ)), _money(), Counts()
    face = TerminalFace(config, memory, counts, output=command.output, quiet=options.as_json)
    try:
        workspace = here()
        scope = options.scope or scope_of(workspace.place, run_id, None if money is None else money.ledger)
        purse = _purse(options, command, workspace, money, scope=scope, tell=face.tell)
        notes = Notes(
            project or cwd, cwd, job=options.task or prompt, clock=time.time, tell=face.tell, environ=os.environ
        )
        files = SessionFiles(command.agent, os.environ, since=time.time())
        tracked = Tracked(_budget(config), purse, notes, files, feed=counts.feed())
        supervisor = Supervisor(
            command,
            prompt,
            tracked,
            face,
            environ=os.environ,
            cwd=cwd,
            run=run_id,
            given=given,
            then=options.then,
            task=options.task,
            on_limit=options.on_limit,
        )
        _catch_signals(supervisor)
        if face.can_ask:
            listen(supervisor.typed, face)
        report = supervisor.run()
    finally:
        face.clear()
        memory.close()
        if money is not None:
            money.ledger.close()
    return emit(report, lambda done: tell("\n".join(report_lines(done))), options.as_json, code=report.exit_code)


def _budget(config: Config) -> ContextBudget:
    window, warn, compact = (config[f"context.{key}"] for key in ("window", "warn", "compact"))
    if window is None:
        return ContextBudget(warn_threshold=warn, compact_threshold=compact)
    return ContextBudget(window, warn, compact, pinned=True)


def _purse(
    options: Namespace, command: ClientCommand, workspace: Workspace, money: Money | None, *, scope: str, tell: Tell
) -> Purse:
    """Return the money of the run. Its limit is the lower one of that given here and that given to the agent."""
    config, home, environ = workspace.config, workspace.home, workspace.environ
    own_prices(config)
    if money is not None:
        money.apply_default(scope)
    given = [text for text in (options.budget_usd, command.own_cap or None) if text is not None]
    return Purse(
        min((micro_dollars(text, up=False) for text in given), default=None),
        scope=scope,
        ledger=None if money is None else money.ledger,
        warn=config["spend.warn"],
        resumed=command.resumed,
        unknown_price=config["spend.unknown_price"],
        plans=lambda limit: plan_limits(limit, command.agent, home, environ, time.time()),
        branch=branch(workspace.project) or "" if workspace.project else "",
        tell=tell,
    )


def _money() -> Money | None:
    """Return the user's ledger; None, and a word about it, if it can't be used."""
    try:
        money = Money(clock=time.time)  # a run may last beyond midnight
    except ConfigError:
        raise
    except BrimError as error:
        note(f"spending is counted but not saved: {error}")
        return None
    if money.ledger.database.readonly:
        money.ledger.close()
        note("spending is counted but not saved: the ledger can only be read")
        return None
    command = money.config.yours["notify"]
    money.ledger.subscribe(lambda notice: _notify(command, notice))
    return money


def _notify(command: str | None, notice: Notice) -> None:
    if notice.kind in (COST_WARNING, COST_LIMIT):
        notify(command, str(notice), reached=notice.kind == COST_LIMIT, environ=os.environ)


def _prompt(command: ClientCommand) -> tuple[str, str]:
    """Return the prompt and what is piped in; if the command has no prompt, the piped text is the prompt."""
    prompt = "" if command.prompt == "-" else command.prompt
    if sys.stdin is None or sys.stdin.isatty():
        if not prompt:
            raise InputError('no prompt: put it in quotes after -p, as in: brim run -- claude -p "fix the parser"')
        return prompt, ""
    given = sys.stdin.buffer.read().decode("utf-8", "replace") if not prompt or _is_input_there() else ""
    if not prompt and not given.strip():
        raise InputError("no prompt: the command has none, and standard input is empty")
    return (prompt, given) if prompt else (given, "")


def _is_input_there() -> bool:
    """Whether something comes on standard input, or its end: one that was left open and silent must not stop a run."""
    try:
        ready, _, _ = select.select([sys.stdin.fileno()], [], [], INPUT_PATIENCE)
    except (OSError, ValueError):
        return False
    if not ready:
        note(f"no standard input after {INPUT_PATIENCE:.0f} s: going on without it (add '< /dev/null')")
    return bool(ready)


def _catch_signals(supervisor: Supervisor) -> None:
    """Let signals end the turn, not brim; ignore SIGPIPE, so that brim outlives an agent that stops reading."""

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: supervisor.signalled(number))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
