"""What a person is asked before a project may steer agents: its rules, its settings, and memory
from elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from brim.config.text import read_settings, read_text
from brim.config.trust import settings_digest, trust
from brim.memory.entries import MemoryEntry
from brim.memory.folder import NAME, foreign_folders, mark_folder, session_folders
from brim.memory.journal import NAME as JOURNAL
from brim.memory.journal import Journal
from brim.memory.writer import ScratchWriter
from brim.rules.accepted import RuleProposal
from brim.workspace import Workspace


@dataclass(frozen=True)
class Consent:
    """What a person is asked about: the whole project, or what is new since they accepted it."""

    project: str
    trusted: bool
    proposals: tuple[RuleProposal, ...]
    """Rules that are new, changed or removed."""
    settings: dict[str, object]
    settings_digest: str
    memory: dict[str, list[MemoryEntry]]
    """Entries that weren't made here, by folder."""
    settings_changed: bool

    @property
    def is_new(self) -> bool:
        """Whether there is anything to agree to."""
        return bool(not self.trusted or self.proposals or self.memory or self.settings_changed)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        memory = []
        for entries in self.memory.values():
            memory += [entry.to_dict() for entry in entries]
        return {
            "rules": [proposal.to_dict() for proposal in self.proposals],
            "settings": self.settings,
            "memory": memory,
        }

    def accept(self, workspace: Workspace) -> None:
        """Let agents use the project as it was shown."""
        workspace.rulebook.trust(self.proposals)
        trust(self.project, workspace.home, settings=self.settings_digest)
        for folder in self.memory:
            mark_folder(folder, workspace.secret)
        if not self.memory:
            return
        # The other files may say anything, so they are made again from the journal.
        sessions = session_folders(os.path.join(self.project, NAME))
        foreign = [name for name, folder in sessions.items() if folder in self.memory]
        for session in ("", *foreign):
            writer = ScratchWriter(
                self.project, session=session, secret=workspace.secret, claim=False
            )
            writer.rebuild()


def consent_for(workspace: Workspace) -> Consent:
    """Return what is new in the project of *workspace*, which a person is in."""
    project = workspace.project or ""
    settings: dict[str, object] = {}
    is_trusted = workspace.trusted
    if not is_trusted or workspace.settings_changed:
        path = os.path.join(project, ".brim", "config.yaml")
        if os.path.exists(path):
            for key, (value, _) in read_settings(read_text(path), path)[0].items():
                settings[key] = value
    memory = {}
    for folder in foreign_folders(os.path.join(project, NAME), workspace.secret):
        memory[folder] = list(Journal(os.path.join(folder, JOURNAL)).refresh())
    return Consent(
        project=project,
        trusted=is_trusted,
        proposals=workspace.rulebook.proposals(),
        settings=settings,
        settings_digest=settings_digest(project),
        memory=memory,
        settings_changed=workspace.settings_changed,
    )
