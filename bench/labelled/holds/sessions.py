"""Sessions under rules: who may be held for which call is known, because each rule says which calls
it is about.

A rule's label is a pattern over what the call does, written by hand from the rule's meaning: the
command line of a shell call, ``edit PATH`` with the new text of an edit. Everything else that is
held for the rule is a false hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brim.hooks.process import answer_to
from brim.hooks.stops import STOPPED_ONCE
from brim.rules.languages import language_of
from brim.rules.rulebook import Rulebook
from brim.rules.source import USER
from labelled.clients import Sitting
from labelled.streams import Line

NOW = 1_794_600_000.0


@dataclass(frozen=True)
class Rule:
    """A rule as a person says it, and the calls that it is about."""

    text: str
    about: str = "(?!)"
    """A pattern that is searched in ``Act.line``; none: it is about no call that a tool makes."""
    options: dict[str, Any] = field(default_factory=dict)
    """What ``brim learn`` was given besides the text."""


def rule(text: str, about: str = "(?!)", **options: Any) -> Rule:
    """Return a labelled rule."""
    return Rule(text, about, options)


def fields_of(rule: Rule) -> dict[str, object]:
    """Return the fields of *rule* in a rules file; it holds for the language of its file."""
    fields: dict[str, object] = {"text": rule.text, "kind": rule.options.get("kind", "")}
    if "file" in rule.options:
        fields["when"] = language_of(rule.options["file"])
    return fields


@dataclass(frozen=True)
class Held:
    """One call that was held, and for which rule."""

    session: str
    line: str
    rule: Rule

    @property
    def is_right(self) -> bool:
        """Whether the rule is about what the call does."""
        return is_about(self.rule, self.line)


def is_about(rule: Rule, line: str) -> bool:
    """Whether *rule* is about the call that *line* describes."""
    return bool(re.search(rule.about, line, re.DOTALL))


def line_of(name: str, given: Line) -> str:
    """Return what a call does, in one text: what labels are searched in."""
    if "command" in given:
        return f"$ {given['command']}"
    path = str(given.get("file_path") or "").removeprefix("/home/user/project/")
    kind = "edit" if name in ("Edit", "Write") else name
    return f"{kind} {path}\n{given.get('new_string') or given.get('content') or ''}"


class Ruled(Sitting):
    """A session in which *rules* hold.

    *window* is what the agent hears besides the calls: the ``usual`` start and prompts;
    ``nothing``, as in a sub-agent; or nothing, and a ``new`` window for every call.
    """

    def __init__(
        self, shape: str, seed: str, folder: Path, rules: Sequence[Rule], *, window: str
    ) -> None:
        super().__init__(shape, seed, folder)
        self.seed, self.rules, self.window = seed, rules, window
        self.held: list[Held] = []
        self.about: set[str] = set()
        """The rules that a call was about."""
        self.known: set[str] = set()
        """Those of them that the agent was told, or held for, before the first such call ran."""
        self._told: set[str] = set()
        rulebook = Rulebook(str(self.home), None)
        self.musts: set[str] = set()
        for rule in rules:
            learned = rulebook.learn(USER, fields_of(rule)).entry.rule
            if learned.is_must:
                self.musts.add(rule.text)
        if window == "usual":
            self._hear(self._event("SessionStart", {"source": "startup"}))

    def human(self, text: str) -> None:
        """Let a person type something; the hook is told it once the session has begun."""
        super().human(text)
        if getattr(self, "window", "") == "usual":
            name = {"gemini": "BeforeAgent"}.get(self.shape, "UserPromptSubmit")
            self._hear(self._event(name, {"prompt": text}))

    def _event(self, name: str, data: Line) -> str:
        data = {
            "session_id": self.id,
            "transcript_path": str(self.transcript),
            "cwd": "/home/user/project",
            **data,
        }
        environ = {"HOME": str(self.home.parent), "BRIM_HOME": str(self.home)}
        sent = {"hook_event_name": name, **data}
        return answer_to(name, self.shape, sent, environ, now=NOW + 1000 + self._count) or ""

    def _asked(self, name: str, given: Line) -> Line:
        if self.window == "new":
            self.id = f"{self.random.getrandbits(64):016x}"
            self._told.clear()
        answer = super()._asked(name, given)
        line, reason = line_of(name, given), self._reason(answer)
        if reason.startswith(STOPPED_ONCE):
            self.held += [Held(self.seed, line, each) for each in self.rules if _says(each, reason)]
        for each in self.rules:
            if each.text in self.musts and is_about(each, line) and each.text not in self.about:
                self.about.add(each.text)
                if each.text in self._told or _says(each, reason):
                    self.known.add(each.text)
        self._hear(str(answer))
        return answer

    def _hear(self, text: str) -> None:
        self._told |= {each.text for each in self.rules if _says(each, text)}


def _says(rule: Rule, text: str) -> bool:
    return rule.text[:40].replace('"', "").replace("'", "") in text.replace("\\", "").replace(
        '"', ""
    ).replace("'", "")


Plan = Callable[["Ruled"], None]


@dataclass(frozen=True)
class Everyday:
    """A project of one kind: its ordinary commands, its files with what is written there, and what
    is asked for."""

    name: str
    commands: tuple[str, ...]
    edits: tuple[tuple[str, str], ...]
    """Paths and new texts."""
    prompts: tuple[str, ...]

    def write(self, s: Ruled, calls: int = 60) -> None:
        """Work for a while: look, edit, run, and be told what to do next."""
        for at in range(calls):
            if at % 15 == 0:
                s.human(s.pick(*self.prompts))
            what = s.random.random()
            if what < 0.2:
                s.read(f"/home/user/project/{s.random.choice(self.edits)[0]}", "1\t...\n")
            elif what < 0.5:
                path, new = s.random.choice(self.edits)
                s.edit(f"/home/user/project/{path}", f"# {s.number(0, 9999)}", new)
            else:
                s.sh(s.pick(*self.commands), "ok\n")
