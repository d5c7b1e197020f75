"""What is said at a limit: to the agent why it is held, to the person also the commands to go on.

A person's own command (the setting ``notify``) is run as well.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from shlex import quote

from brim.figures import clock
from brim.hooks.state import HookWorkspace
from brim.spend.limits import ASKED, OPEN, STOPPED, WRAPPING_UP
from brim.spend.periods import EVERYWHERE, PERCENT, USD, Allowance, Ceiling, out_of, window_name
from brim.store.books import Scope
from brim.store.project import name_of

HELD = "Held by your user's limit."
"""How a refusal begins."""


def status(about: Scope | Allowance, now: float) -> str:
    """Return where a limit that was reached stands, and when it starts over."""
    limit = about.limit
    whose = f"{about.name}: "
    if about.unit == PERCENT:
        used = f"{about.spent}% of the plan's {window_name(about.period)} window is used, the limit is {limit.amount}%"
        return f"{whose}{used}{_resets(about, now)}."
    held = min(limit.held, (limit.amount or 0) - about.spent) if limit.state in (OPEN, ASKED) else 0
    rest = f"; {out_of(held, None, about.unit)} is kept for the wrap-up" if held > 0 else ""
    what = "was stopped, " if limit.state == STOPPED else ""
    return f"{whose}{what}{out_of(about.spent, limit.amount, about.unit)} is spent{about.when}{rest}{_resets(about, now)}."


def refusal(about: Scope | Allowance, now: float) -> str:
    """Return why the agent's call is held. It never has the commands that lift the limit."""
    until = "until then, or " if about.ends is not None else ""
    return (
        f"{HELD} {status(about, now)} No tool runs {until}until a person answers. "
        "Wrap up now without tools: start nothing new, and say in a few lines what is done, what is not, what failed, "
        "and what the next step would be."
    )


def limit_note(about: Scope | Allowance, workspace: HookWorkspace) -> str:
    """Return what the human is told at the limit: where it stands, and the commands to go on, one
    per line."""
    first = f"brim: {status(about, workspace.now)} Tools are held. To go on:"
    return "\n".join([first, *commands(about, workspace)])


def commands(about: Scope | Allowance, workspace: HookWorkspace) -> list[str]:
    """Return the commands that help here: a limit of nothing, or one that was ended, can't go up by
    a tenth."""
    whose = _whose(about.scope, workspace)
    limit = about.limit
    higher = "" if limit.amount is None else f"brim limit raise {whose} {_higher(about)}"
    if about.unit == PERCENT:
        remove = f"brim limit remove {whose} {Ceiling(limit.amount or 0, about.unit, about.period)}"
        return [higher, remove] if about.spent < 100 else [remove]
    if limit.state in (STOPPED, WRAPPING_UP):
        return [f"brim limit continue {whose}"]
    endings = (
        []
        if about.scope == EVERYWHERE
        else [f"brim limit wrap-up {whose}", f"brim limit stop {whose}"]
    )
    return [
        *([f"brim limit continue {whose}"] if limit.base else []),
        *filter(None, [higher]),
        *endings,
    ]


def notify(command: str | None, text: str, *, reached: bool, environ: Mapping[str, str]) -> None:
    """Run a person's *command* for *text*, which it finds in ``BRIM_TEXT``, and don't wait for
    it."""
    if not command:
        return
    about = {**environ, "BRIM_TEXT": text, "BRIM_NOTICE": "limit" if reached else "warning"}
    if not hasattr(os, "posix_spawn"):
        subprocess.Popen(command, shell=True, env=about, stdin=subprocess.DEVNULL)  # noqa: S602 - the person's own
        return
    null = os.open(os.devnull, os.O_RDWR)
    try:
        quiet = [(os.POSIX_SPAWN_DUP2, null, each) for each in (0, 1, 2)]
        os.posix_spawn("/bin/sh", ["sh", "-c", command], about, file_actions=quiet, setpgroup=0)
    finally:
        os.close(null)


def _whose(scope: str, workspace: HookWorkspace) -> str:
    """Return how a command names *scope*: by the project's path if another one has its name."""
    if scope == EVERYWHERE:
        return "--all"
    if (
        scope == workspace.ledger_scope == name_of(workspace.place)
        and workspace.user_database is not None
    ):
        named = "SELECT count(*) FROM spend_projects WHERE scope GLOB ? || '-????????'"
        if workspace.user_database.row(named, (scope,))[0]:
            return quote(workspace.place)
    return scope


def _higher(about: Scope | Allowance) -> Ceiling:
    """Return a limit that leaves room: twice this one, or as much more as it takes."""
    now = about.limit.amount or 0
    if about.unit == PERCENT:
        return Ceiling(min(100, 5 * (max(now, about.spent) // 5 + 1)), PERCENT, about.period)
    amount = max(2 * now, 5_000_000 if about.unit == USD else 1_000_000)
    while amount <= 1.1 * about.taken:
        amount *= 2
    return Ceiling(amount, about.unit, about.period)


def _resets(about: Scope | Allowance, now: float) -> str:
    """Return when the next period begins, by this machine's clock; empty if never."""
    return "" if about.ends is None else f"; it resets {clock(about.ends, now)}"
