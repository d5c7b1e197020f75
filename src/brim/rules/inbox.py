"""``inbox.toml``: what agents noted and brim noticed, until a person accepts it.

A note is a rule with where it came from. It's never told as the user's rule and never blocks
anything.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass

from brim.errors import InputError
from brim.masking import mask
from brim.record import PlainData
from brim.rules.file import INBOX, RulesFile
from brim.rules.paragraphs import with_value
from brim.rules.reading import RulesText, read_rules
from brim.rules.rule import WrittenRule

MOST_NOTES = 200
"""Notes that wait at a time. More would never be read."""
_ORIGIN = ("agent", "session", "project")


@dataclass(frozen=True)
class InboxNote(PlainData):
    """A rule that somebody proposes."""

    rule: WrittenRule
    agent: str = ""
    """Which agent noted it; empty for a correction that brim noticed."""
    session: str = ""
    project: str = ""
    """The project that it's about; empty for all."""


class Inbox:
    """The notes in the user's folder *home*."""

    def __init__(self, home: str) -> None:
        self.file = RulesFile(os.path.join(home, INBOX))

    def notes(self) -> list[InboxNote]:
        """Return the notes that wait, in the order in which they came."""
        return _notes_of(self.file.read())

    def add(
        self,
        name: str,
        text: str,
        *,
        instead_of: str = "",
        agent: str = "",
        session: str = "",
        project: str = "",
    ) -> str:
        """Add a note; return its name. Secrets in it are masked; the same words are one note."""
        masked_text = mask(text)
        fields = {
            "text": masked_text,
            "instead_of": mask(instead_of),
            "agent": agent,
            "session": session,
            "project": project,
        }
        with self.file.changing() as draft:
            notes = _notes_of(read_rules(draft.text))
            for note in notes:
                if note.rule.text == masked_text and note.project == project:
                    return note.rule.name
            if len(notes) >= MOST_NOTES:
                raise InputError(f"{MOST_NOTES} notes wait already: brim rules review")
            return draft.add(name, fields)

    def accept(self, name: str, rules: RulesFile) -> str:
        """Move a note to the file *rules*; return its name there."""
        paragraph = self.file.read().split.named(name)
        if paragraph is None:
            raise InputError(f"no note is called {name!r}: brim rules review")
        text = paragraph.body
        for key in _ORIGIN:
            text = with_value(text, key, "")
        rule_name = rules.insert(text)
        self.file.remove(name)
        return rule_name

    def dismiss(self, name: str, removed: RulesFile, day: str) -> None:
        """Throw a note away; *removed* keeps it."""
        self.file.remove(name, removed, day=day)


def _notes_of(text: RulesText) -> list[InboxNote]:
    notes: list[InboxNote] = []
    for rule in text.rules:
        paragraph = text.split.named(rule.name)
        if paragraph is None:
            continue
        fields = tomllib.loads(paragraph.text)[rule.name]
        origin = {key: str(fields.get(key, "")) for key in _ORIGIN}
        notes.append(InboxNote(rule, **origin))
    return notes
