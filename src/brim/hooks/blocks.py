"""Blocks: calls that a rule refuses, every time, until a person allows them.

The user's own blocks come from the user's file alone, so nothing in a project can lift one. A project's count only
there, and only those that the user has agreed to. Most calls are refused by nothing: a look at their words tells.
"""

from __future__ import annotations

import os
from functools import cached_property

from brim.errors import StoreError
from brim.hooks.rules import PATHS, patch_of
from brim.store.permissions import blocks_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from brim.behaviors.behavior import Behavior
    from brim.hooks.event import Answer, HookCall
    from brim.hooks.state import HookWorkspace
    from brim.store.store import Store

LONGEST, SHOWN = 2_000, 200
"""Characters of a rule that are quoted, and of a call that are shown or kept."""

_UNQUOTED = str.maketrans("", "", "'\"\\\n")
_UNSURE = frozenset("*?[{'\"\\/~")
"""What lets a part of a pattern differ from what stands in a call."""
_PLACES = ("branch", "environment", "project_type")
"""Conditions of a rule that its blocks keep to."""


def hold_block(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of a pending *call*; None lets it happen."""
    if not call.tool:
        return None
    pending = Pending(call, workspace)
    blocked = list(_blocked(pending, workspace))
    if pending.may_touch_brim and (own := pending.touches_brim()):
        blocked.insert(0, own)
    if not blocked:
        return None
    refused = [each for each in blocked if not each.permission]
    used = [each for each in blocked if each.permission]
    refused = refused or [each for each in used if not each.use()]
    if not refused:
        for each in used:
            each.record("allowed")
        return None
    from brim.hooks.event import Answer

    first = refused[0]
    first.record("blocked")
    is_new = not call.session or workspace.state(call.session).tell_once(first.latch)
    return Answer(deny=first.reason, note=first.note if is_new else "")


class Pending:
    """A pending call: its command, the files that it edits, and what of it can be seen at a glance."""

    def __init__(self, call: HookCall, workspace: HookWorkspace) -> None:
        self.call, self.workspace = call, workspace
        given = call.input
        self.command: str | list[str] = ""
        self.paths: list[str] = []
        if call.tool_kind == "shell":
            command = given.get("command") or given.get("cmd") or given.get("chars") or ""
            is_list = isinstance(command, list)
            self.command = [each for each in command if isinstance(each, str)] if is_list else str(command)
        elif call.tool_kind in ("edit", "write"):
            self.paths = [each for key in PATHS[:5] if isinstance(each := given.get(key), str) and each]
        text = " ".join(self.command) if isinstance(self.command, list) else self.command
        if call.tool_kind in ("edit", "write", "shell") and ("*** Begin Patch" in text or patch_of(call)):
            self.paths += self._patched(text)
        self.text = text.translate(_UNQUOTED)
        """The command without its quotes."""
        folder = call.cwd or workspace.cwd
        named = [os.path.normpath(os.path.join(folder, os.path.expanduser(each))) for each in self.paths]
        self.real = [os.path.realpath(each) for each in named]
        self.seen = "\n".join([*named, *self.real]).lower()
        """The paths, to be looked at quickly."""

    def _patched(self, text: str) -> list[str]:
        """Return the files of a patch of Codex, also those that it moves; a command may go to a folder first."""
        from brim.tracking.readers.codex import edits

        patch = patch_of(self.call) or text[text.find("*** Begin Patch") :]
        files = [edit[key] for _, edit in edits(patch) for key in ("file_path", "moved_from") if key in edit]
        folder = text[3:].partition("&&")[0].strip(" '\"") if text.startswith("cd ") else ""
        return [*files, *([os.path.join(folder, each) for each in files] if folder else [])]

    def may_match(self, kind: str, pattern: str) -> bool:
        """Whether a look lets it seem possible that *pattern* refuses this call."""
        if kind == "run":
            first = pattern.partition(" ")[0]
            return bool(self.text) and (first in self.text or not _UNSURE.isdisjoint(first))
        if kind == "edit":
            parts = [part for part in pattern.lower().split("/") if _UNSURE.isdisjoint(part)]
            return bool(self.paths) and max(parts, key=len, default="").strip(".") in self.seen
        return kind == "tool" and (pattern.lower() == self.call.tool.lower() or "*" in pattern)

    def is_refused(self, kind: str, pattern: str) -> str:
        """Return what of this call *pattern* refuses; empty if nothing."""
        from brim.behaviors.blocks import refused_command, refused_path, refused_tool

        workspace = self.workspace
        if kind == "run":
            return refused_command(pattern, self.commands)
        if kind == "tool":
            return self.call.tool if refused_tool(pattern, self.call.tool) else ""
        from brim.config.places import home_folder

        place = {"folder": self.call.cwd or workspace.cwd, "project": workspace.project or self.call.cwd}
        home = home_folder(workspace.environ)
        return next((each for each in self.paths if refused_path(pattern, each, **place, home=home)), "")

    @cached_property
    def commands(self) -> list[list[str]]:
        """The simple commands."""
        from brim.behaviors.blocks import commands_of

        return commands_of(self.command)

    # brim itself --------------------------------------------------------------------------------------------------

    @property
    def may_touch_brim(self) -> bool:
        """Whether a look lets it seem possible that this call is about brim or the settings of hooks."""
        if self.text:
            return "brim" in self.text
        if not self.paths:
            return False
        from brim.hooks.protection import NAMES

        is_named = any(path.endswith(NAMES) for path in self.real)
        return is_named or "brim" in self.seen or self.workspace.home.lower() in self.seen

    def touches_brim(self) -> Blocked | None:
        """Return the built-in block that refuses this call, None if it is harmless."""
        from brim.hooks.protection import RULE, is_protected, loosening_command

        if not self.workspace.config["hooks.protect"]:
            return None
        found = ""
        if self.text:
            found = loosening_command(self.commands, self.text)
        else:
            named = zip(self.paths, self.real, strict=True)
            found = next((path for path, real in named if is_protected(real, self.workspace)), "")
        return Blocked(self, RULE, found, None, self.workspace.scopes.user) if found else None


class Blocked:
    """A call that *rule* refuses; *what* is the part of it that does. *store* has the rule, None if there is none."""

    def __init__(self, pending: Pending, id: str, what: str, rule: Behavior | None, store: Store | None) -> None:
        self._call, self._workspace, self._rule, self._store = pending.call, pending.workspace, rule, store
        self.id, self._what = id, what
        scopes = pending.workspace.scopes
        self._user = scopes.user
        self._place = scopes.project_key if rule is not None and rule.scope == "project" else "user"
        self.latch = f"block {id}"
        self.permission = ""
        if self._user is not None:
            from brim.store.permissions import is_allowed

            session, now = self._call.session, self._workspace.now
            self.permission = is_allowed(self._user.database, id, self._place, session=session, now=now)

    def use(self) -> bool:
        """Use the permission; whether it still was one."""
        from brim.store.permissions import SESSION, use_up

        if self.permission == SESSION:
            return True
        try:
            return self._user is not None and use_up(self._user, self.id, self._place)
        except StoreError:  # it can't be used up, so it would hold for ever
            return False

    def record(self, kind: str) -> None:
        """Note in the store that the call was ``blocked`` or ``allowed``; a refusal doesn't depend on it."""
        from brim.hooks.state import log
        from brim.store.events import Event

        call, workspace = self._call, self._workspace
        if kind == "allowed" and call.session:
            workspace.state(call.session).open_latch(self.latch)
        try:
            for store in (self._store, self._user):
                if store is not None and not store.readonly:
                    detail = {"tool": call.tool[:SHOWN], "call": self._what[:SHOWN]}
                    detail |= {"how": self.permission} if self.permission else {}
                    store.record(Event(kind, workspace.now, self.id, session=call.session, detail=detail))
                    return
        except StoreError as error:
            log(workspace.environ, f"{kind} {self.id}: {error}")

    @property
    def reason(self) -> str:
        """What the agent is told: the rule, and what to do instead."""
        what = f'"{self._what[:SHOWN]}"' if self._call.tool != self._what else f"the tool {self._what}"
        if self._rule is None:
            return (
                f"Your user doesn't let agents do this: {what}. Only a person changes what brim allows, and the"
                " settings of hooks. Go on without it, or tell your user what you need and why."
            )
        text = self._rule.canonical.strip()
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        return (
            f"Your user doesn't allow {what} here: {text}\nThe call was not made, and it won't be in another form."
            " Do what the rule says instead, or tell your user why that isn't possible."
        )

    @property
    def note(self) -> str:
        """What the person is told: what was refused, and the commands to allow it, ready to paste."""
        from shlex import quote

        about = "brim itself is protected" if self._rule is None else self._rule.name
        begin = f"cd {quote(self._workspace.project or '')} && " if self._place != "user" else ""
        allow = f"{begin}brim rules allow {quote(self.id)}"
        lines = [f"brim: refused {self._what[:SHOWN]!r} ({about}). To allow it:", f"{allow} --once"]
        return "\n".join([*lines, *([f"{allow} --session {quote(self._call.session)}"] if self._call.session else [])])


def _blocked(pending: Pending, workspace: HookWorkspace) -> Iterator[Blocked]:
    """Yield the rules that refuse the call, the user's first."""
    if not any(map(os.path.exists, workspace.databases)):
        return
    scopes = workspace.scopes
    for scope, store in scopes.stores.items():
        for id, blocks in blocks_in(store.database):
            for block in blocks:
                kind, _, pattern = block.partition(" ")
                if not pending.may_match(kind, pattern):
                    continue
                what = pending.is_refused(kind, pattern)
                if what and (rule := _in_force(scope, id, store, workspace)) is not None:
                    yield Blocked(pending, id, what, rule, store)
                    break


def _in_force(scope: str, id: str, store: Store, workspace: HookWorkspace) -> Behavior | None:
    """Return the rule if its block holds here: agreed to, and under no condition that this place contradicts."""
    if scope == "project":
        workspace.scopes.leave_out((id,))
        if id in workspace.scopes.left_out:
            return None
    rule = store.get(id)
    if rule is None:
        return None
    if any(key in _PLACES for key, _ in rule.when.conditions):
        from brim.activation.context import Context

        facts = Context(**workspace.surroundings).facts
        if not set(_PLACES).isdisjoint(rule.when.match(facts).contradicted):
            return None
    return rule.replace(scope=scope)
