"""A transcript as the memory would have taken it in."""

from __future__ import annotations

from brim.agents.stream import read
from brim.memory.model import ScratchModel


def read_model(path: str) -> ScratchModel | None:
    """Return the memory of the session in the file *path*; None if no agent wrote it."""
    model = ScratchModel()
    has_events = False
    for event in read(path):
        model.extract(event)
        has_events = True
    if not has_events:
        return None
    return model


def session_of(model: ScratchModel) -> str:
    """Return the session that *model* is of; empty if it doesn't say."""
    for entry in model.entries:
        if entry.session:
            return entry.session
    return ""
