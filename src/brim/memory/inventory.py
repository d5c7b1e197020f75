"""What a window holds that an agent would miss, from the session's events.

Each fact is there once, with its uses. Files are those that calls read or changed and those that a
person named. Commands are those that ran something: ``ls``, ``cat`` and ``git`` need no reminder, a
script of several lines is written for once, and what brim or a person refused didn't run.
Instructions are a person's own words; decisions are a person's answers, and the choices that an
agent said it made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from brim.agents.call import Event, ToolCall
from brim.agents.events import Message, StateSeen, ToolResult
from brim.files import data_lines
from brim.memory.call_input import PATH_KEYS
from brim.memory.comparison import Fact
from brim.memory.decisions import decisions_of
from brim.memory.entries import remember
from brim.memory.facts import paths_in
from brim.memory.quotes import one_line
from brim.memory.results import refusal_of
from brim.memory.shell_facts import ShellFacts, shell_facts
from brim.memory.statements import binding_statements, decisions_in, instructions_in

LARGEST = 20_000
"""Things that are remembered; the oldest are forgotten. No window has room for so many."""


BINDING, CHANGED, COMMAND, READ_AGAIN, OTHER = range(5)
"""How much it matters that a fact comes back: a person's own words that go on holding, files
that changed, commands that failed or ran again, files that were read again, everything else."""


class Use:
    """How a fact was used. The larger ``last``, the later."""

    __slots__ = ("binding", "changed", "checks", "fails", "fixed", "kind", "last", "named", "uses")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.uses = 0
        self.last = 0
        self.binding = False
        """A person's words that go on holding, or a person's answer."""
        self.changed = False
        """A file that was written or edited."""
        self.named = False
        """A file that a person named."""
        self.checks = False
        """A command that tests, builds or lints."""
        self.fails = False
        """A command that failed when it ran last."""
        self.fixed = False
        """A command that failed and then worked."""

    @property
    def level(self) -> int:
        """How much it matters that this comes back: the lower, the more."""
        if self.binding:
            return BINDING
        if self.changed:
            return CHANGED
        if self.kind == "command" and self._has_mattered:
            return COMMAND
        if self.kind == "file" and self.uses > 1:
            return READ_AGAIN
        return OTHER

    @property
    def _has_mattered(self) -> bool:
        """Whether a command was run again, or failed."""
        return self.uses > 1 or self.fails or self.fixed

    @property
    def rank(self) -> tuple[int, bool, int, int]:
        """What ranks lower comes back first.

        The level decides, then a person's words and what checks the work or was named by a person
        come first, then the most used, then the latest.
        """
        is_pointed_out = self.kind == "instruction" or self.checks or self.named
        return self.level, not is_pointed_out, -self.uses, -self.last


class Inventory:
    """What one window holds. Files are named from *folder*, where the agent works."""

    def __init__(self, folder: str = "") -> None:
        self.folder = folder
        self.uses: dict[Fact, Use] = {}
        self._open: dict[str, ToolCall] = {}
        self._names: dict[str, str] = {}
        self._clock = 0

    def take(self, event: Event) -> list[Fact]:
        """Take in *event*; return the facts that it names or uses."""
        if isinstance(event, StateSeen):
            if event.name == "folder" and not event.agent:
                self.folder = self.folder or event.value
        elif isinstance(event, ToolCall):
            remember(self._open, event.id, event, LARGEST)
        elif isinstance(event, ToolResult):
            return self._take_result(event)
        elif isinstance(event, Message):
            return self._take_message(event)
        return []

    def keep_only(self, facts: Iterable[Fact]) -> None:
        """Forget everything but *facts*."""
        standing = set(facts)
        self.uses = {fact: use for fact, use in self.uses.items() if fact in standing}

    def note(self, fact: Fact) -> Use:
        """Note that *fact* was used once more; return its uses."""
        self._clock += 1
        use = self.uses.get(fact)
        if use is None:
            use = Use(fact[0])
            remember(self.uses, fact, use, LARGEST)
        use.uses += 1
        use.last = self._clock
        return use

    def ranked(self) -> list[Fact]:
        """Return everything, in the order in which it would come back."""
        return sorted(self.uses, key=lambda fact: self.uses[fact].rank)

    # What was said --------------------------------------------------------------------------------

    def _take_message(self, message: Message) -> list[Fact]:
        if message.human and not is_set_up(message.text):
            return self._take_prompt(message.text)
        if message.role == "assistant":
            for text in decisions_in(message.text):
                self.note(("decision", text))
        return []

    def _take_prompt(self, prompt: str) -> list[Fact]:
        for text in instructions_in(prompt):
            self.note(("instruction", text))
        for text in binding_statements(prompt):
            fact = ("instruction", text)
            if fact not in self.uses:
                self.note(fact)
            self.uses[fact].binding = True
        return self._take_named_files(prompt)

    def _take_named_files(self, text: str) -> list[Fact]:
        files = [("file", self.file_name(path)) for path in paths_in(text)]
        for file in files:
            self.note(file).named = True
        return files

    # What was done --------------------------------------------------------------------------------

    def _take_result(self, result: ToolResult) -> list[Fact]:
        call = self._open.pop(result.id, None)
        if call is None:
            return []
        answers = self._take_answers(call, result)
        if refusal_of(result):
            return answers
        shell = shell_facts_of(call)
        files = [] if result.error else self._take_files(call, shell)
        commands = self._take_command(shell, failed=result.error)
        return answers + files + commands

    def _take_answers(self, call: ToolCall, result: ToolResult) -> list[Fact]:
        """Take in what a person answered to a question, a plan or a permission prompt."""
        facts: list[Fact] = []
        for decision in decisions_of(call, result):
            if not decision.has_words:
                continue  # an Esc key says no more than this
            fact = ("decision", decision.sentence)
            self.note(fact).binding = True
            facts += [fact, *self._take_named_files(decision.sentence)]
        return facts

    def _take_files(self, call: ToolCall, shell: ShellFacts) -> list[Fact]:
        is_change = call.kind in ("write", "edit")
        paths = shell.shows
        if is_change or call.kind == "read":
            paths = tuple(paths_of(call.input))
        facts = []
        for path in dict.fromkeys([*paths, *shell.changes]):
            fact = ("file", self.file_name(path))
            use = self.note(fact)
            if is_change or path in shell.changes:
                use.changed = True
            facts.append(fact)
        return facts

    def _take_command(self, shell: ShellFacts, *, failed: bool) -> list[Fact]:
        if not shell.command:
            return []
        fact = ("command", shell.command)
        use = self.note(fact)
        use.checks = shell.checks
        if use.fails and not failed:
            use.fixed = True
        use.fails = failed
        return [fact]

    def file_name(self, path: str) -> str:
        """Return how the file *path* is named here.

        A bare name is the file in a folder that has it.
        """
        path = os.path.normpath(one_line(path))
        above = self.folder.rstrip(os.sep) + os.sep
        if self.folder and path.startswith(above):
            path = path[len(above) :]
        name = os.path.basename(path)
        full_path = self._names.get(name)
        if full_path and path == name:
            return full_path
        if full_path == name:  # so far only the bare name was used
            use = self.uses.pop(("file", name), None)
            if use is not None:
                self.uses[("file", path)] = use
        remember(self._names, name, path, LARGEST)
        return path


def paths_of(call_input: Mapping[str, object]) -> list[str]:
    """Return the files that a call of a tool for files is given."""
    for key in PATH_KEYS:
        path = call_input.get(key)
        if isinstance(path, str) and path.strip():
            return [path]
    several = call_input.get("paths")  # Gemini CLI's read_many_files
    if isinstance(several, list):
        return [path for path in several if isinstance(path, str)]
    return []


def is_set_up(text: str) -> bool:
    """Whether a person typed a command for the client itself, such as ``/model``."""
    words = text.split(None, 1)
    if not words or not words[0].startswith("/"):
        return False
    return words[0].lower() in data_lines(__file__, "set_up_commands.txt")


def shell_facts_of(call: ToolCall) -> ShellFacts:
    """Return what the shell command of *call* shows and changes; nothing for another tool."""
    command = call.input.get("command")
    if call.kind != "shell" or not isinstance(command, str):
        return ShellFacts()
    return shell_facts(command)
