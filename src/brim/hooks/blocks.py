"""Blocks: calls that a rule refuses, every time, until a person allows them.

The user's own blocks come from the user's file alone, so nothing in a project can lift one. A
project's count only there, and only those that the user has accepted. Most calls are refused by
nothing, and a look at their words shows it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import TYPE_CHECKING

from brim.agents import AGENTS, TABLE
from brim.agents.call import BEGIN, Answer, HookCall, ToolCall, edits_in
from brim.config.places import branch_of, home_folder
from brim.errors import StoreError
from brim.hooks.breaches import BrokenRule, breaches_of
from brim.hooks.protected_files import (
    holds_hooks,
    is_protected,
    is_users_settings,
    linked_files,
    runs_script_with,
)
from brim.hooks.protection import protected_part
from brim.hooks.settings_edits import leaves_hooks
from brim.hooks.situations import environments_of, rules_of
from brim.hooks.state import HookWorkspace, log
from brim.hooks.stops import allow_command
from brim.record import PlainData
from brim.rules.blocks import (
    EDIT,
    RUN,
    TOOL,
    commands_of,
    refused_command,
    refused_path,
    refused_tool,
)
from brim.rules.situation import Situation
from brim.rules.source import USER, RuleSource
from brim.rules.state import ALLOWED, BRIM, ONCE, REFUSED, SESSION
from brim.rules.stored import BlockingRule, StoredRules
from brim.rules.when import BRANCH, ENVIRONMENT, Case

if TYPE_CHECKING:
    from brim.rules.stored_checks import CheckedRule

_SETTINGS = tuple(dict.fromkeys([name for line in TABLE for name in line.hook_files]))
"""Files in which an agent's hooks are set, or turned off."""
_OWN_FILES = ("rules.", "config.yaml", "inbox.toml", "removed.toml", "state.db", "trust")
_MEMORY_FILES = (".context", ".jsonl")
_HOMES = ("~", "HOME", "disableAllHooks")
_NAMED = (
    "brim",
    "BRIM_",
    *_OWN_FILES,
    *_MEMORY_FILES,
    *_HOMES,
    *_SETTINGS,
    *[line.folder for line in TABLE],
    *AGENTS,
)
"""What a command names that is about them, or about the folders that they are in."""
PossibleBlock = tuple[BlockingRule, str]
"""A rule, and one of its blocks."""

_UNQUOTED = str.maketrans("", "", "'\"\\\n")
_UNSURE = frozenset("*?[{'\"\\/~")
"""What lets a part of a pattern differ from what stands in a call."""


def hold_block(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of a pending *call*; None lets it happen."""
    if not call.tool.name:
        return None
    pending = PendingCall(call, workspace)
    possible = _possible_blocks(pending)
    breaches = [breach for breach in breaches_of(call, workspace) if breach.rule.is_refused]
    if not possible and not breaches and not pending.may_touch_brim:
        return None
    return refusal(pending, possible, breaches)


def _possible_blocks(pending: PendingCall) -> list[PossibleBlock]:
    """Return the blocks that a look at the call doesn't rule out."""
    reader = rules_of(pending.call, pending.workspace)
    if reader is None:
        return []
    rules = reader.ask(
        lambda index: StoredRules(index).blocking(pending.block_kinds, pending.may_match)
    )
    possible: list[PossibleBlock] = []
    for rule in rules:
        possible += [(rule, block) for block in rule.blocks]
    return possible


class PendingCall:
    """A pending call: its command, the files that it edits, and what of it can be seen at a
    glance."""

    def __init__(self, call: HookCall, workspace: HookWorkspace) -> None:
        self.call = call
        self.workspace = workspace
        self.command = _command_of(call.tool)
        text = self.command
        if isinstance(text, list):
            text = " ".join(text)
        self.text = text.translate(_UNQUOTED)
        """The command without its quotes."""
        paths = _paths_of(call.tool, text)
        self.paths = [path for path in paths if "\0" not in path]  # no file can be called so
        self.folder = call.cwd or workspace.cwd
        absolute = [self._absolute(path) for path in self.paths]
        self.real_paths = [os.path.realpath(path) for path in absolute]
        self.searchable = "".join([f"{path}/\n" for path in (*absolute, *self.real_paths)]).lower()
        """The paths, to be looked at quickly."""
        self.block_kinds = [TOOL]
        """The kinds of blocks that may refuse it."""
        if text:
            self.block_kinds.append(RUN)
        if self.paths:
            self.block_kinds.append(EDIT)

    def _absolute(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, os.path.expanduser(path)))

    def may_match(self, kind: str, pattern: str) -> bool:
        """Whether a look lets it seem possible that the block *kind* *pattern* refuses this
        call."""
        if kind == RUN:
            return self._may_run(pattern.partition(" ")[0])
        if kind == EDIT:
            return self._may_edit(pattern)
        return self._may_be_tool(pattern.lower())

    def _may_run(self, program: str) -> bool:
        if program in self.text:
            return True
        return bool(self.text) and not _UNSURE.isdisjoint(program)

    def _may_edit(self, pattern: str) -> bool:
        if not _UNSURE.isdisjoint(pattern.replace("*", "").replace("/", "")):
            return bool(self.paths)
        pieces = pattern.lower().removeprefix("./").split("*")
        return all(piece in self.searchable for piece in pieces)

    def _may_be_tool(self, pattern: str) -> bool:
        if "?" in pattern or "[" in pattern:
            return True
        tool = self.call.tool.name.lower()
        if "*" not in pattern:
            return pattern == tool
        return all(piece in tool for piece in pattern.split("*"))

    @property
    def may_touch_brim(self) -> bool:
        """Whether a look lets it seem possible that this call is about brim or the settings of
        hooks."""
        if self._edits_settings() or self._names_link():
            return True
        if not self.text:
            return False
        return self._names_brim() or runs_script_with(self.text, self.folder, _NAMED)

    def _edits_settings(self) -> bool:
        """Whether it edits a file that may be brim's, or the settings of an agent."""
        home = os.path.realpath(self.workspace.home).lower()
        if "brim" in self.searchable or home in self.searchable:
            return True
        endings = (*_SETTINGS, *_MEMORY_FILES)
        return any(path.endswith(endings) for path in self.real_paths)

    def _names_link(self) -> bool:
        """Whether it's about a file to which a link in brim's folder leads."""
        links = linked_files(self.workspace.home)
        if not set(links).isdisjoint(self.real_paths):
            return True
        return any(os.path.basename(path) in self.text for path in links)

    def _names_brim(self) -> bool:
        """Whether the command names brim, its home or the settings of an agent, or is run there."""
        home = home_folder(self.workspace.environ)
        if any(name in self.text for name in (self.workspace.home, home, *_NAMED)):
            return True
        if not self.folder.startswith(home):
            return False
        return os.path.realpath(self.folder).startswith(os.path.realpath(self.workspace.home))


def _command_of(tool: ToolCall) -> str | list[str]:
    """Return the command of a call, as words if it was given so; also what is typed into one that
    runs."""
    if tool.kind != "shell":
        return ""
    if tool.words:
        return list(tool.words)
    return str(tool.input.get("command") or tool.input.get("chars") or "")


def _paths_of(tool: ToolCall, text: str) -> list[str]:
    """Return the files that a call edits; *text* is its command."""
    if tool.changes_files:
        return [*tool.files, *tool.moved]
    if tool.kind != "shell":
        return []
    if tool.patch:
        return _patched(tool.patch, text)
    if BEGIN in text:
        return _patched(text[text.find(BEGIN) :], text)
    return []


def _patched(patch: str, text: str) -> list[str]:
    """Return the files of a patch, also those that it moves; a command may go to a folder first."""
    files: list[str] = []
    for _, edit in edits_in(patch):
        files.append(edit["file_path"])
        if "moved_from" in edit:
            files.append(edit["moved_from"])
    if not text.startswith("cd "):
        return files
    folder = text[3:].partition("&&")[0].strip(" '\"")
    if not folder:
        return files
    return files + [os.path.join(folder, file) for file in files]


# A call that may be refused -----------------------------------------------------------------------

LONGEST = 2_000
SHOWN = 200
"""Characters of a rule that are quoted, and of a call that are shown or kept."""
_PLACES = (BRANCH, ENVIRONMENT)
"""Conditions of a rule that its blocks keep to."""


def refusal(
    pending: PendingCall, possible: list[PossibleBlock], breaches: list[BrokenRule]
) -> Answer | None:
    """Return the answer to a *pending* call that the *possible* blocks may refuse, and that rules
    refuse of which *breaches* are."""
    commands = commands_of(pending.command)
    blocked = _blocked_by_rules(pending, possible, commands)
    for breach in breaches:
        blocked.append(Blocked(pending, breach.part, RefusingRule.of(breach.rule)))
    if pending.may_touch_brim and pending.workspace.config["hooks.protect"]:
        protected = _protected_part(pending)
        if protected:
            blocked.append(Blocked(pending, protected))
    refused = _first_refused(blocked)
    if refused:
        return refused.refuse()
    for block in blocked:
        block.note_permission()
    for block in blocked:
        if block.permission == ONCE:
            return block.let_through()
    return None


def _first_refused(blocked: list[Blocked]) -> Blocked | None:
    """Return the first of *blocked* that no person has allowed; if all are, use the permissions."""
    for block in blocked:
        if not block.permission:
            return block
    unusable = [block for block in blocked if not block.use()]
    if unusable:
        return unusable[0]
    return None


def _blocked_by_rules(
    pending: PendingCall, possible: list[PossibleBlock], commands: list[list[str]]
) -> list[Blocked]:
    blocked: list[Blocked] = []
    for rule, block in possible:
        refused = _refused_part(pending, block, commands)
        if refused and _holds_here(rule, pending.workspace):
            blocked.append(Blocked(pending, refused, RefusingRule.of(rule)))
    return blocked


def _protected_part(pending: PendingCall) -> str:
    """Return what of the call would loosen brim or change its files; empty if nothing."""
    for path, real_path in zip(pending.paths, pending.real_paths, strict=True):
        if not is_protected(real_path, pending.workspace):
            continue
        if not holds_hooks(real_path, pending.workspace):
            return path
        is_users = is_users_settings(real_path, pending.workspace)
        if not leaves_hooks(real_path, pending.call.tool, is_users=is_users):
            return path
    if not pending.command:
        return ""
    return protected_part(pending.command, pending.folder, pending.workspace)


def _refused_part(pending: PendingCall, block: str, commands: list[list[str]]) -> str:
    """Return what of the call *block* refuses; empty if nothing."""
    kind, _, pattern = block.partition(" ")
    if kind == "run":
        return refused_command(pattern, commands)
    if kind == "tool":
        tool = pending.call.tool.name
        return tool if refused_tool(pattern, tool) else ""
    workspace = pending.workspace
    places = {
        "folder": pending.folder,
        "project": workspace.project or pending.folder,
        "home": home_folder(workspace.environ),
    }
    for path in pending.paths:
        if refused_path(pattern, path, **places):
            return path
    return ""


def _holds_here(rule: BlockingRule, workspace: HookWorkspace) -> bool:
    """Whether the blocks of *rule* hold on this branch and in this environment."""
    if not rule.condition:
        return True
    branch = ""
    if workspace.project is not None:
        branch = branch_of(workspace.project)
    situation = Situation(branch=branch, environments=environments_of(workspace))
    return any(_is_possible(case, situation) for case in rule.condition.cases)


def _is_possible(case: Case, situation: Situation) -> bool:
    places = [clause for clause in case if clause.key in _PLACES]
    return all(clause.is_met(situation) for clause in places)


@dataclass(frozen=True)
class RefusingRule(PlainData):
    """A rule that refuses a call, as far as words and permissions need it."""

    name: str
    text: str
    source: RuleSource

    @classmethod
    def of(cls, rule: BlockingRule | CheckedRule) -> RefusingRule:
        """Return what is needed of *rule*."""
        return cls(rule.name, rule.text, rule.source)


class Blocked:
    """A call of which a *part* is refused by *rule*; without one, because it would loosen brim."""

    def __init__(self, pending: PendingCall, part: str, rule: RefusingRule | None = None) -> None:
        self.name = BRIM
        self._call = pending.call
        self._workspace = pending.workspace
        self._state = pending.workspace.rule_state
        self._part = part
        self._rule = rule
        self._place = USER
        if rule is not None:
            self.name = rule.name
            self._place = rule.source.place
        self._latch = f"block {self.name}"
        self._named = f'"{part[:SHOWN]}"'
        if part == pending.call.tool.name:
            self._named = f"the tool {part[:SHOWN]}"
        elif part in pending.paths:
            self._named = f"edits of {part[:SHOWN]}"

    @cached_property
    def permission(self) -> str:
        """How a person has allowed it; empty if none has."""
        return self._state.permission(self.name, self._place, self._call.session)

    def use(self) -> bool:
        """Use the permission; whether it still was one."""
        if self.permission == SESSION:
            return True
        try:
            return self._state.use_up(self.name, self._place)
        except StoreError as error:  # it can't be used up, so it would last
            log(self._workspace.environ, f"allowed {self.name}: {error}")
            return False

    def note_permission(self) -> None:
        """Let the person hear of the next refusal: they allowed this one."""
        self._note_in_state(ALLOWED)
        if self._call.session:
            self._workspace.state(self._call.session).open_latch(self._latch)

    def refuse(self) -> Answer:
        """Return why the call isn't made, and, once a session, what the person can do."""
        session = self._call.session
        self._note_in_state(REFUSED)
        if not self._workspace.config["hooks.notes"]:
            return Answer(deny=self._reason)
        is_new = not session or self._workspace.state(session).tell_once(self._latch)
        if not is_new:
            return Answer(deny=self._reason)
        return Answer(deny=self._reason, note=self._note)

    def _note_in_state(self, kind: str) -> None:
        session = self._call.session
        call = self._part[:SHOWN]
        self._state.note(kind, self.name, self._place, session=session, call=call)

    def let_through(self) -> Answer:
        """Return what the person is told when a call uses up what they allowed once."""
        permission = "as you allowed once. The next one is refused again."
        return Answer(note=f"brim: let {self._named} through, {permission}")

    @property
    def _reason(self) -> str:
        if self._rule is None:
            return (
                f"Your user doesn't allow agents {self._named}. Only a person changes what brim "
                "allows, and the settings of hooks. Go on without it, or tell your user what you "
                "need and why."
            )
        text = self._rule.text.strip()
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}…"
        return (
            f"Your user doesn't allow {self._named} here: {text}\n"
            "The call was not made, and it won't be in another form. Do what the rule says "
            "instead, or tell your user why that isn't possible."
        )

    @property
    def _note(self) -> str:
        """The commands are ready to paste, one a line."""
        reason = "it would change brim or its hooks"
        if self._rule is not None:
            reason = f"the rule {self.name}"
        allow = f"brim rules allow {BRIM}"
        if self._rule is not None:
            allow = allow_command(self.name, self._rule.source)
        lines = [f"brim: refused {self._named}: {reason}. To allow it:", f"{allow} --once"]
        if self._call.session:
            lines.append(f"{allow} --session {quote(self._call.session)}")
        return "\n".join(lines)
