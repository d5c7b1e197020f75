"""What a window holds that an agent would miss, from the session's events.

Each fact is there once, with its uses. Files are those that calls read or changed. Commands are
those that ran something: ``ls``, ``cat`` and ``git`` need no reminder, a script of several lines is
written for once, and what brim or a person refused didn't run. Instructions are a person's own
words, decisions a person's answers.
"""

from __future__ import annotations

from collections.abc import Iterable

from brim.agents.call import Event, ToolCall
from brim.agents.events import Message, StateSeen, ToolResult
from brim.files import data_lines
from brim.memory.comparison import Fact
from brim.memory.decisions import decisions_of
from brim.memory.entries import remember
from brim.memory.facts import FileNames
from brim.memory.quotes import one_line
from brim.memory.ranking import BINDING, READ_AGAIN, Use, files_about
from brim.memory.repetition.outcomes import refusal_of
from brim.memory.shell_facts import ShellFacts, replaces, shell_facts, without_numbers
from brim.memory.statements import binding_statements

LARGEST = 20_000
"""Things that are remembered; the oldest are forgotten. No window has room for so many."""


class Inventory:
    """What one window holds. Files are named from *folder*, where the agent works."""

    def __init__(self, folder: str = "") -> None:
        self.uses: dict[Fact, Use] = {}
        self._files = FileNames(folder)
        self._open: dict[str, ToolCall] = {}
        self._wordings: dict[Fact, Fact] = {}
        """The latest wording of commands that differ in numbers only."""
        self._clock = 0

    def take(self, event: Event) -> list[Fact]:
        """Take in *event*; return the facts that it names or uses."""
        if isinstance(event, ToolResult):
            return self._take_result(event)
        if isinstance(event, Message):
            return self._take_message(event)
        if isinstance(event, ToolCall):
            remember(self._open, event.id, event, LARGEST)
        elif isinstance(event, StateSeen) and event.name == "folder" and not event.agent:
            self._files.learn_folder(event.value)
            self._rename_files()
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
            use = Use(fact)
            remember(self.uses, fact, use, LARGEST)
        use.uses += 1
        use.last = self._clock
        return use

    def levels(self, lost: Iterable[Fact]) -> dict[Fact, int]:
        """Return how much it matters that each *lost* fact comes back: the lower, the more.

        Lost words of a person make the files that they are about matter.
        """
        levels = {fact: self.uses[fact].level(self._clock) for fact in lost}
        own_words = [text for (_, text), level in levels.items() if level == BINDING]
        files = [text for kind, text in self.uses if kind == "file"]
        for path in files_about(own_words, files):
            fact = ("file", path)
            if fact in levels:
                levels[fact] = min(levels[fact], READ_AGAIN)
        return levels

    def ranked(self) -> list[Fact]:
        """Return everything, in the order in which it would come back."""
        return sorted(self.uses, key=lambda fact: self.uses[fact].rank(self._clock))

    # What was said --------------------------------------------------------------------------------

    def _take_message(self, message: Message) -> list[Fact]:
        if message.human and not is_set_up(message.text):
            return self._take_words(message.text)
        return []

    def _take_words(self, words: str) -> list[Fact]:
        """Take in what a person said."""
        facts = [("instruction", text) for text in binding_statements(words)]
        for fact in facts:
            self.note(fact)
        return facts

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
        commands = [self._take_command(it, failed=result.error) for it in shell.commands]
        return answers + files + commands

    def _take_answers(self, call: ToolCall, result: ToolResult) -> list[Fact]:
        """Take in what a person answered to a question, a plan or a permission prompt."""
        facts: list[Fact] = []
        for decision in decisions_of(call, result):
            if not decision.is_answer:
                facts += self._take_words(decision.objection)
                continue
            fact = ("decision", decision.sentence)
            self.note(fact)
            facts.append(fact)
        return facts

    def _take_files(self, call: ToolCall, shell: ShellFacts) -> list[Fact]:
        read = shell.shows
        changed = shell.changes
        if call.changes_files:
            changed = call.files
        elif call.kind == "read":
            read = call.files
        facts = []
        for path in dict.fromkeys([*read, *changed]):
            fact = ("file", self._files.called(one_line(path)))
            self._rename_files()
            use = self.note(fact)
            use.changed = use.changed or path in changed
            facts.append(fact)
        return facts

    def _rename_files(self) -> None:
        """Give files that have another name now their uses under it."""
        for old_name, new_name in self._files.renamed().items():
            use = self.uses.pop(("file", old_name), None)
            if use is None:
                continue
            same_file = self.uses.get(("file", new_name))
            if same_file is not None:
                use.add(same_file)
            self.uses[("file", new_name)] = use

    def _take_command(self, command: str, *, failed: bool) -> Fact:
        fact = ("command", command)
        earlier_use = self._take_earlier_wording(fact)
        use = self.note(fact)
        if earlier_use is not None:
            use.uses += earlier_use.uses
        if use.fails and not failed:
            use.fixed = True
        use.fails = failed
        use.is_replaced = False
        if not failed:
            self._replace_failing(command)
        return fact

    def _take_earlier_wording(self, fact: Fact) -> Use | None:
        """Forget the command that differs from *fact* in numbers only; return its uses."""
        pattern = without_numbers(fact)
        earlier = self._wordings.get(pattern)
        remember(self._wordings, pattern, fact, LARGEST)
        if earlier is None or earlier == fact:
            return None
        return self.uses.pop(earlier, None)

    def _replace_failing(self, command: str) -> None:
        """Note that *command* worked where others, which were to do the same, had failed."""
        for (kind, text), use in self.uses.items():
            if kind == "command" and use.fails and replaces(command, text):
                use.is_replaced = True


def is_set_up(text: str) -> bool:
    """Whether a person typed a command for the client itself, such as ``/model``."""
    words = text.split(None, 1)
    if not words or not words[0].startswith("/"):
        return False
    return words[0].lower() in data_lines(__file__, "set_up_commands.txt")


def shell_facts_of(call: ToolCall) -> ShellFacts:
    """Return what the shell command of *call* shows and changes; nothing for another tool."""
    if not call.command:
        return ShellFacts()
    return shell_facts(call.command)
