"""Blocks: calls that a rule refuses, every time, until a person allows them.

The user's own blocks come from the user's file alone, so nothing in a project can lift one. A
project's count only there, and only those that the user has agreed to. Most calls are refused by
nothing, and a look at their words shows it.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cached_property
from shlex import quote

from brim.activation.context import Context
from brim.agents import TABLE
from brim.agents.call import BEGIN, Answer, HookCall, ToolCall, edits_in
from brim.behaviors.behavior import Rule
from brim.config.places import home_folder
from brim.errors import StoreError
from brim.hooks.protection import changing_command, is_protected, loosening_command
from brim.hooks.state import HookWorkspace, log
from brim.rules.blocks import commands_of, refused_command, refused_path, refused_tool
from brim.store.events import RuleEvent
from brim.store.trust import ONCE, OWN, SESSION, is_allowed, use_up

_BLOCKING = """
    SELECT id, blocks FROM behaviors
    WHERE blocks <> '[]' AND status = 'active' AND (instr(blocks, ?) OR instr(blocks, '"tool '))
"""
_SETTINGS = tuple(dict.fromkeys([name for line in TABLE for name in line.hook_files]))
"""Files in which an agent's hooks are set, or turned off."""
_NAMED = ("brim", *_SETTINGS, *[line.folder for line in TABLE])
"""What a command names that is about them, or about the folders that they are in."""
_UNQUOTED = str.maketrans("", "", "'\"\\\n")
_UNSURE = frozenset("*?[{'\"\\/~")
"""What lets a part of a pattern differ from what stands in a call."""


def hold_block(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of a pending *call*; None lets it happen."""
    if not call.tool.name:
        return None
    pending = PendingCall(call, workspace)
    found = []
    is_stored = any(map(os.path.exists, workspace.databases))
    for scope, store in workspace.scopes.stores.items() if is_stored else ():
        rows = store.database.rows(_BLOCKING, (pending.kind,))
        every = json.loads(f"[{','.join([row[1] for row in rows])}]") if rows else []
        for (id, _), blocks in zip(rows, every, strict=True):
            found += [(scope, id, block) for block in blocks if pending.may_match(block)]
    if not found and not pending.may_touch_brim:
        return None
    return refusal(pending, found)


class PendingCall:
    """A pending call: its command, the files that it edits, and what of it can be seen at a
    glance."""

    def __init__(self, call: HookCall, workspace: HookWorkspace) -> None:
        self.call = call
        self.workspace = workspace
        tool = call.tool
        self.command: str | list[str] = _command_of(tool)
        self.paths: list[str] = []
        text = " ".join(self.command) if isinstance(self.command, list) else self.command
        if tool.changes_files:
            self.paths += tool.files
            self.paths += tool.moved
        elif tool.kind == "shell" and (tool.patch or BEGIN in text):
            self.paths += _patched(tool.patch or text[text.find(BEGIN) :], text)
        self.text = text.translate(_UNQUOTED)
        """The command without its quotes."""
        folder = call.cwd or workspace.cwd
        self.paths = [each for each in self.paths if "\0" not in each]  # no file can be called so
        named = [
            os.path.normpath(os.path.join(folder, os.path.expanduser(each))) for each in self.paths
        ]
        self.real = [os.path.realpath(each) for each in named]
        self.seen = "".join([f"{path}/\n" for path in (*named, *self.real)]).lower()
        """The paths, to be looked at quickly."""
        self.kind = (
            '"'
            if text and self.paths
            else '"run '
            if text
            else '"edit '
            if self.paths
            else '"tool '
        )
        """How the blocks begin that may refuse it, apart from those of its tool."""

    def may_match(self, block: str) -> bool:
        """Whether a look lets it seem possible that *block* refuses this call."""
        kind, _, pattern = block.partition(" ")
        if kind == "run":
            first = pattern.partition(" ")[0]
            return first in self.text or not (_UNSURE.isdisjoint(first) or not self.text)
        if kind == "edit":
            if not _UNSURE.isdisjoint(pattern.replace("*", "").replace("/", "")):
                return bool(self.paths)
            return all(map(self.seen.__contains__, pattern.lower().removeprefix("./").split("*")))
        tool = self.call.tool.name.lower()
        pattern = pattern.lower()
        if "?" in pattern or "[" in pattern:
            return True
        return pattern == tool or (
            "*" in pattern and all(map(tool.__contains__, pattern.split("*")))
        )

    @property
    def may_touch_brim(self) -> bool:
        """Whether a look lets it seem possible that this call is about brim or the settings of
        hooks."""
        if "brim" in self.seen or any(path.endswith(_SETTINGS) for path in self.real):
            return True
        if self.text and (
            self.workspace.home in self.text or any(map(self.text.__contains__, _NAMED))
        ):
            return True
        return bool(self.paths) and os.path.realpath(self.workspace.home).lower() in self.seen


def _command_of(tool: ToolCall) -> str | list[str]:
    """Return the command of a call, as words if it was given so; also what is typed into one that
    runs."""
    if tool.kind != "shell":
        return ""
    return list(tool.words) or str(tool.input.get("command") or tool.input.get("chars") or "")


def _patched(patch: str, text: str) -> list[str]:
    """Return the files of a patch, also those that it moves; a command may go to a folder first."""
    edits = [edit for _, edit in edits_in(patch)]
    files = [edit[key] for edit in edits for key in ("file_path", "moved_from") if key in edit]
    if not text.startswith("cd "):
        return files
    folder = text[3:].partition("&&")[0].strip(" '\"")
    return files + [os.path.join(folder, file) for file in files if folder]


# A call that may be refused -----------------------------------------------------------------------

LONGEST = 2_000
SHOWN = 200
"""Characters of a rule that are quoted, and of a call that are shown or kept."""
_PLACES = ("branch", "environment", "project_type")
"""Conditions of a rule that its blocks keep to."""


def refusal(pending: PendingCall, found: list[tuple[str, str, str]]) -> Answer | None:
    """Return the answer to a *pending* call that the blocks in *found* (scope, rule, block) may
    refuse."""
    commands = commands_of(pending.command)
    blocked = [
        Blocked(pending, what, rule)
        for scope, id, block in found
        if (what := _refused(pending, block, commands))
        and (rule := _in_force(pending, scope, id)) is not None
    ]
    if pending.may_touch_brim and pending.workspace.config["hooks.protect"]:
        paths = zip(pending.paths, pending.real, strict=True)
        workspace = pending.workspace
        folder = pending.call.cwd or pending.workspace.cwd
        what = (
            loosening_command(commands, pending.text)
            or next((path for path, real in paths if is_protected(real, workspace)), "")
            or changing_command(commands, pending.text, folder, workspace)
        )
        blocked += [Blocked(pending, what)] if what else []
    refused = [each for each in blocked if not each.permission] or [
        each for each in blocked if not each.use()
    ]
    if refused:
        return refused[0].refuse()
    pending.workspace.permitted = frozenset([each.id for each in blocked])
    for each in blocked:
        each.record("allowed")
    return next((each.let_through() for each in blocked if each.permission == ONCE), None)


def _refused(pending: PendingCall, block: str, commands: list[list[str]]) -> str:
    """Return what of the call *block* refuses; empty if nothing."""
    kind, _, pattern = block.partition(" ")
    call = pending.call
    workspace = pending.workspace
    if kind == "run":
        return refused_command(pattern, commands)
    if kind == "tool":
        return call.tool.name if refused_tool(pattern, call.tool.name) else ""
    folder = call.cwd or workspace.cwd
    places = {
        "folder": folder,
        "project": workspace.project or folder,
        "home": home_folder(workspace.environ),
    }
    return next((path for path in pending.paths if refused_path(pattern, path, **places)), "")


def _in_force(pending: PendingCall, scope: str, id: str) -> Rule | None:
    """Return the rule if its block holds here: agreed to, and under no condition that this place
    contradicts."""
    workspace = pending.workspace
    scopes = pending.workspace.scopes
    if scope == "project":
        scopes.leave_out((id,))
        if id in scopes.left_out:
            return None
    rule = scopes.stores[scope].get(id)
    if rule is None:
        return None
    if any(key in _PLACES for key, _ in rule.when.conditions):
        contradicted = rule.when.match(Context(**workspace.surroundings).facts).contradicted
        if not set(_PLACES).isdisjoint(contradicted):
            return None
    return replace(rule, scope=scope)


class Blocked:
    """A call of which *what* is refused by *rule*; without one, because it would loosen brim."""

    def __init__(self, pending: PendingCall, what: str, rule: Rule | None = None) -> None:
        self._call = pending.call
        self._workspace = pending.workspace
        self._what = what
        self._rule = rule
        self.id = OWN if rule is None else rule.id
        self._scopes = pending.workspace.scopes
        is_theirs = rule is not None and rule.scope == "project"
        self._place = self._scopes.project_key if is_theirs else "user"
        self._latch = f"block {self.id}"
        self._named = f'"{what[:SHOWN]}"'
        if what in pending.paths or what == pending.call.tool.name:
            self._named = (
                f"{'the tool' if what == pending.call.tool.name else 'edits of'} {what[:SHOWN]}"
            )

    @cached_property
    def permission(self) -> str:
        """How a person has allowed it; empty if none has."""
        user = self._scopes.user
        if user is None:
            return ""
        session = self._call.session
        now = self._workspace.now
        return is_allowed(user.database, self.id, self._place, session=session, now=now)

    def use(self) -> bool:
        """Use the permission; whether it still was one."""
        user = self._scopes.user
        try:
            return self.permission == SESSION or (
                user is not None and use_up(user, self.id, self._place)
            )
        except StoreError:  # it can't be used up, so it would last
            return False

    def record(self, kind: str) -> None:
        """Write that the call was ``blocked`` or ``allowed`` next to the rule; a refusal doesn't
        depend on it."""
        call = self._call
        workspace = self._workspace
        own = None if self._rule is None else self._scopes.stores[self._rule.scope]
        if (
            kind == "allowed" and call.session
        ):  # a person who allowed it once wants to know of the next one
            workspace.state(call.session).open_latch(self._latch)
        store = next(
            (each for each in (own, self._scopes.user) if each is not None and not each.readonly),
            None,
        )
        detail = {"tool": call.tool.name[:SHOWN], "call": self._what[:SHOWN]}
        detail |= {"how": self.permission} if self.permission else {}
        try:
            if store is not None:
                store.record(
                    RuleEvent(kind, workspace.now, self.id, session=call.session, detail=detail)
                )
        except StoreError as error:
            log(workspace.environ, f"{kind} {self.id}: {error}", now=workspace.now)

    def refuse(self) -> Answer:
        """Return why the call isn't made, and, once a session, what the person can do."""
        self.record("blocked")
        if not self._workspace.config["hooks.notes"]:
            return Answer(deny=self._reason)
        session = self._call.session
        is_new = not session or self._workspace.state(session).tell_once(self._latch)
        return Answer(deny=self._reason, note=self._note if is_new else "")

    def let_through(self) -> Answer:
        """Return what the person is told when a call uses up what they allowed once."""
        return Answer(
            note=f"brim: let {self._named} through, as you allowed once. The next one is refused again."
        )

    @property
    def _reason(self) -> str:
        if self._rule is None:
            return (
                f"Your user doesn't allow agents {self._named}. Only a person changes what brim allows, and the "
                "settings of hooks. Go on without it, or tell your user what you need and why."
            )
        text = self._rule.canonical.strip()
        return (
            f"Your user doesn't allow {self._named} here: {text[:LONGEST]}{'…' if len(text) > LONGEST else ''}\n"
            "The call was not made, and it won't be in another form. Do what the rule says instead, or tell your user "
            "why that isn't possible."
        )

    @property
    def _note(self) -> str:
        """The commands are ready to paste, one a line."""
        about = (
            "it would change brim or its hooks"
            if self._rule is None
            else f"the rule {self._rule.name}"
        )
        begin = f"cd {quote(self._workspace.project or '')} && " if self._place != "user" else ""
        allow = f"{begin}brim rules allow {quote(self.id)}"
        lines = [f"brim: refused {self._named}: {about}. To allow it:", f"{allow} --once"]
        return "\n".join(
            [
                *lines,
                *([f"{allow} --session {quote(self._call.session)}"] if self._call.session else []),
            ]
        )
