"""What a person is asked before a project may steer agents: its rules, its settings, and memory
from elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from brim.behaviors.behavior import LIVE, BehaviorKind, Rule
from brim.behaviors.jsonl import as_object
from brim.behaviors.summary import summarize
from brim.config.text import read_settings, read_text
from brim.memory.entries import MemoryEntry
from brim.memory.folder import NAME, foreign_folders, mark_folder, session_folders
from brim.memory.journal import NAME as JOURNAL
from brim.memory.journal import Journal
from brim.memory.writer import ScratchWriter
from brim.store.scopes import open_scopes
from brim.store.trust import is_trusted, settings_digest, trust, user_secret


@dataclass(frozen=True)
class Consent:
    """What a person is asked about: the whole project, or what is new since they trusted it."""

    project: str
    home: str
    trusted: bool
    rules: list[Rule]
    """Constraints first."""
    digests: dict[str, str]
    """Digests of the rules that the user hasn't agreed to, by id."""
    settings: dict[str, object]
    settings_digest: str
    refused: list[str]
    """Parts of the project that brim doesn't follow."""
    memory: dict[str, list[MemoryEntry]]
    """Entries that weren't made here, by folder."""
    is_new: bool

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        names = ("canonical", "tags", "when", "status", "blocks")
        rules = [
            {
                "id": each.id,
                "name": each.name,
                "kind": each.kind.value,
                "summary": summarize(each.canonical),
            }
            | {name: as_object(each)[name] for name in names}
            for each in self.rules
        ]
        memory = [entry.to_dict() for entries in self.memory.values() for entry in entries]
        return {
            "behaviors": rules,
            "settings": self.settings,
            "refused": self.refused,
            "memory": memory,
        }

    def accept(self, *, now: float) -> None:
        """Let agents use the project as it was shown."""
        trust(self.project, self.home, now=now, rules=self.digests, settings=self.settings_digest)
        secret = user_secret(self.home)
        for folder in self.memory:
            mark_folder(folder, secret)
        if self.memory:  # the other files may say anything, so they are rebuilt from the journal
            sessions = session_folders(os.path.join(self.project, NAME))
            for session in (
                "",
                *(each for each, folder in sessions.items() if folder in self.memory),
            ):
                ScratchWriter(self.project, session=session, secret=secret, claim=False).rebuild()


def consent_for(project: str, home: str, *, settings_changed: bool) -> Consent:
    """Return what is new in a trusted project, or everything if nothing is new or it isn't
    trusted."""
    trusted, digest, settings = is_trusted(project, home), settings_digest(project), {}
    path = os.path.join(project, ".brim", "config.yaml")
    if os.path.exists(path):
        settings = {
            key: value for key, (value, _) in read_settings(read_text(path), path)[0].items()
        }
    kinds = list(BehaviorKind)
    with open_scopes(project, home, trusted=True, create=False) as scopes:
        rules = scopes.project.behaviors(LIVE) if scopes.project is not None else []
        rules.sort(key=lambda each: (kinds.index(each.kind), each.name, each.id))
        refused, digests = [str(refusal) for refusal in scopes.refusals()], scopes.unagreed()
    foreign = foreign_folders(os.path.join(project, NAME), user_secret(home))
    memory = {each: list(Journal(os.path.join(each, JOURNAL)).refresh()) for each in foreign}
    is_new = bool(digests or memory or settings_changed)
    if trusted and is_new:
        rules = [each for each in rules if each.id in digests]
        settings = settings if settings_changed else {}
    return Consent(
        project, home, trusted, rules, digests, settings, digest, refused, memory, is_new
    )
