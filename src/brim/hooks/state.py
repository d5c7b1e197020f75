"""What is around one call of a hook: its workspace, what is remembered of its session, and the log.

A session's state is a small JSON file. Hooks of one session run at the same time, and the status
line next to them, so a change is written under a lock, on top of what the file holds by then; what
may happen only once is claimed under the same lock. If the file is missing, broken or not writable,
nothing is remembered; nothing else changes.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from brim.agents.call import HookCall
from brim.config.places import STATES, mapping_of, read_state, state_path, user_folder
from brim.config.retention import LARGEST_LOG, SESSIONS
from brim.errors import StoreError
from brim.files import locked, replace_file
from brim.masking import mask
from brim.rules.state import RulesState
from brim.sessions.index import SessionIndex
from brim.sessions.window.windows import SaidTotal, UsageSeen
from brim.workspace import Workspace

if TYPE_CHECKING:
    from brim.hooks.breaches import BrokenRule
    from brim.rules.compiled import RuleReader

PATIENCE = 0.1
"""Seconds that a change waits for the lock."""
SAID_TOTAL = "said total"
"""Kept for a session: the client's own sum; False if what it said first was another session's."""
LEFT_OUT = "project left out"
"""The latch of a session whose project can't be read."""

BUSY = 0.15
"""Seconds that a hook waits for another writer of the index."""

_left_open: list[SessionIndex] = []

MACHINE_TURN = "machine's turn"
"""Kept for a session whose last prompt came from a machine."""
COMPACTED = "compaction to measure"
"""Kept for a session after a compaction, until the next event: its summary, or a blank."""


class HookWorkspace(Workspace):
    """An agent's workspace during one call of a hook. ``close`` keeps what was learned about its
    sessions."""

    goes_on = True
    breaches: list[BrokenRule] | None = None
    """The rules that the pending call breaks, once something has asked for them."""
    is_late = False
    """Whether the time is over: what is ready is answered, and nothing more is begun."""

    def __init__(
        self, environ: Mapping[str, str], cwd: str, *, now: float, ending: bool = False
    ) -> None:
        super().__init__(environ, cwd, who="agent", now=now, ending=ending)
        self.clock: Callable[[], float] = time.monotonic
        self.sleep: Callable[[float], object] = time.sleep
        self.rules: RuleReader | None = None
        """The rules that count here, once something has asked for them."""
        self._states: dict[str, SessionState] = {}

    @property
    def supervised(self) -> bool:
        """Whether ``brim run`` watches this agent: it keeps journal and spending, and hooks only
        inject."""
        return bool(self.environ.get("BRIM_RUN_ID"))

    @property
    def only_injects(self) -> bool:
        """Whether nothing is journaled and no money counted: the supervisor does that, or
        ``--hooks`` said so."""
        return self.supervised or self.environ.get("BRIM_HOOKS") == "injection-only"

    @cached_property
    def rule_state(self) -> RulesState:
        """What sessions were told, and what a person has allowed."""
        return RulesState(self.home, now=self.now)

    @cached_property
    def index(self) -> SessionIndex:
        """The index of requests, opened once, without waiting long."""
        _ = self.config  # its models have prices
        return SessionIndex.of_user(self.environ, patience=BUSY)

    def state(self, session: str) -> SessionState:
        """Return what is remembered of *session*; ``close`` writes it if it changed."""
        if session not in self._states:
            self._states[session] = SessionState.load(self.home, session)
        return self._states[session]

    def close(self) -> None:
        """Write the states that changed, and close the store."""
        for state in self._states.values():
            state.save()
        index = self.__dict__.pop("index", None)
        if index is not None and self.ending:
            _left_open.append(index)  # closing it would wait for the disk
        elif index is not None:
            index.close()
        if not self.ending:
            self._close_rules()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _close_rules(self) -> None:
        if self.rules is not None:
            self.rules.close()
            self.rules = None
        state = self.__dict__.pop("rule_state", None)
        if state is not None:
            state.close()


class SessionState:
    """What is remembered of one session. Changes are written when the hook ends."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._values = read_state(path)
        self._changed: set[str] = set()

    @classmethod
    def load(cls, home: str, session: str) -> SessionState:
        """Return what is remembered of *session* in the user's folder *home*."""
        return cls(state_path(home, session))

    @property
    def usage(self) -> UsageSeen | None:
        """The newest exact reading of the main thread's window."""
        usage = self._values.get("usage")
        if usage is None:
            return None  # most hooks never load what reads it
        return UsageSeen.read(usage)

    @usage.setter
    def usage(self, usage: UsageSeen | None) -> None:
        if usage is None:
            self.keep("usage", None)
        else:
            self.keep("usage", usage.to_dict())

    @property
    def said_total(self) -> SaidTotal | None:
        """What the client last said that the session cost."""
        total = self._values.get(SAID_TOTAL)
        if not total:
            return None  # most clients say nothing
        return SaidTotal.read(total)

    @property
    def lost(self) -> str:
        """What the last summary lost and the agent hasn't got back yet; ``take_lost`` gives it
        once."""
        lost = self._values.get("lost")
        return lost if isinstance(lost, str) else ""

    @lost.setter
    def lost(self, text: str) -> None:
        self.keep("lost", text)

    def kept(self, name: str) -> Any:
        """Return what is kept under *name*, None if nothing. It may be any JSON value."""
        return self._values.get(name)

    def kept_number(self, name: str) -> int:
        """Return the whole number kept under *name*, else 0."""
        number = self._values.get(name)
        return number if type(number) is int else 0

    def keep(self, name: str, value: Any) -> None:
        """Remember *value*, a small JSON value, under *name*."""
        if name not in self._values or self._values[name] != value:
            self._values[name] = value
            self._changed.add(name)

    def told(self, latch: str) -> bool:
        """Whether *latch* has been claimed and not been opened since."""
        return latch in mapping_of(self._values.get("told"))

    def tell_once(self, latch: str) -> bool:
        """Claim *latch*; whether this call was the first since it was opened.

        It is written at once, so one of two simultaneous hooks gets it. If it can't be written,
        none does: a warning that comes again with every call is worse than none.
        """

        def claim(values: dict[str, Any]) -> bool:
            latches = mapping_of(values.get("told"))
            values["told"] = latches
            if latch in latches:
                return False
            latches[latch] = 1
            return True

        return not self.told(latch) and self._change(claim)

    def open_latch(self, latch: str) -> None:
        """Let *latch* be claimed again."""
        if self.told(latch):
            self._change(lambda values: mapping_of(values.get("told")).pop(latch, None) is not None)

    def take_lost(self) -> str:
        """Return what the last summary lost, to one caller; empty if another one has taken it."""
        lost = self.lost
        if not lost:
            return ""

        def take(values: dict[str, Any]) -> bool:
            nonlocal lost
            lost = str(values.get("lost") or "")
            values["lost"] = ""
            return bool(lost)

        return lost if self._change(take) else ""

    def save(self) -> None:
        """Write what changed, if anything did."""
        if self._changed:
            self._change(lambda _: True)

    def _change(self, decide: Callable[[dict[str, Any]], bool]) -> bool:
        """Let *decide* change what the file holds by now, under the lock; write it if it returns
        True.

        Return whether it did and was written. What was kept in this process is written with it.
        """
        own_changes = {name: self._values[name] for name in self._changed}
        folder = os.path.dirname(self.path)
        lock = f"{self.path[:-5]}.lock"
        try:
            with locked(lock, patience=PATIENCE, prepare=lambda: _make_folder(folder)):
                values = {**read_state(self.path), **own_changes}
                if not decide(values):
                    self._values = values
                    return False
                _write(self.path, values)
        except (OSError, StoreError):
            # No space, no permission, no home, or the lock is held too long.
            return False
        self._values = values
        self._changed.clear()
        return True


def old_files(home: str, *, now: float) -> list[str]:
    """Return the files of abandoned sessions."""
    paths = []
    with suppress(OSError):
        for entry in os.scandir(os.path.join(home, STATES)):
            with suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < now - SESSIONS:
                    paths.append(entry.path)
    return paths


def _write(path: str, values: dict[str, Any]) -> None:
    """Write *values*, unless they aren't JSON: better nothing than half."""
    with suppress(TypeError, ValueError, RecursionError):
        data = json.dumps(values).encode("utf-8", "replace")
        replace_file(path, data, durable=False)


def _make_folder(folder: str) -> None:
    """Make *folder*, but not its parent: don't recreate a brim folder that the user deleted."""
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)


# A window that began again ------------------------------------------------------------------------

_RENEWED = "renewed"
"""Kept for a session whose window began again: how. Nothing counts as told in it."""


def note_renewal(call: HookCall, workspace: HookWorkspace, how: str) -> None:
    """Note *how* the window of the session of *call* began again."""
    workspace.state(call.session).keep(_RENEWED, how)


def renewal_of(call: HookCall, workspace: HookWorkspace) -> str:
    """Return how the window of *call* began again; empty if its session's state knows of it. A
    sub-agent's window doesn't begin again."""
    if call.sub_agent or not call.session:
        return ""
    return str(workspace.state(call.session).kept(_RENEWED) or "")


def forget_renewal(call: HookCall, workspace: HookWorkspace) -> None:
    """Note that the session's state knows that its window began again."""
    if renewal_of(call, workspace):
        workspace.state(call.session).keep(_RENEWED, None)


# The log ------------------------------------------------------------------------------------------

LONGEST_LINE = 500
"""Characters of one line of the log."""


def log_path(environ: Mapping[str, str]) -> str:
    """Return where the hooks' log is, whether it exists or not."""
    return os.path.join(user_folder(environ), "log", "hook.log")


def log(environ: Mapping[str, str], line: str, *, now: float | None = None) -> None:
    """Add *line*, masked, to the log with the time in UTC. Never raises: there is nowhere else to
    say it."""
    with suppress(Exception):
        path = log_path(environ)
        folder = os.path.dirname(path)
        if not os.path.isdir(os.path.dirname(folder)):
            return  # don't recreate a brim folder that the user deleted
        _make_folder(folder)
        entry = " ".join(mask(line[: 4 * LONGEST_LINE]).split())[:LONGEST_LINE]
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "wb") as file:
            is_full = os.fstat(handle).st_size >= LARGEST_LOG
            file.write(f"{stamp} {entry}\n".encode("utf-8", "replace"))
        if is_full:
            os.replace(path, f"{path}.1")
