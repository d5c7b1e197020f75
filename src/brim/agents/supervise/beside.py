"""Codex and Gemini stream only sums. What each request took is in the files that they write beside their streams."""

from __future__ import annotations

import os
import re

from brim.errors import BrimError
from brim.tracking.events import Compaction, ModelSeen, Usage
from brim.tracking.readers.stream import Feed, open_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from brim.tracking.events import Event

_BLOCK = 1 << 20
_TOLD = (Usage, ModelSeen, Compaction)
_SESSION = re.compile(r"[A-Za-z0-9_-]{8,64}")


class Beside:
    """The session's own files, read on from where they were read last. What happened before *since* is left out."""

    def __init__(self, agent: str, environ: Mapping[str, str], *, since: float) -> None:
        self._agent, self._environ, self._since = agent, environ, since
        self._feeds: dict[str, Feed] = {}

    def events(self, session: str) -> list[Event]:
        """Return what the files of *session* say that its stream does not; nothing if there are none."""
        found = [event for path in self._paths(session) for event in self._added(path)]
        return [event for event in found if event.session == session]

    def _added(self, path: str) -> list[Event]:
        last = self._feeds.get(path) or Feed()
        feed = Feed(start=last.offset, reader=last.reader)  # half a line is read again
        found: list[Event] = []
        try:
            with open_session(path) as file:
                file.seek(feed.offset)
                while block := file.read(_BLOCK):
                    found += feed.feed(block)
        except (BrimError, OSError):
            return []
        self._feeds[path] = feed
        told = [event for event in found if isinstance(event, _TOLD)]
        return [event for event in told if event.time is None or event.time >= self._since]

    def _paths(self, session: str) -> list[str]:
        if not _SESSION.fullmatch(session):
            return []
        import glob

        home = self._environ.get("HOME") or os.path.expanduser("~")
        if self._agent == "codex":
            root = self._environ.get("CODEX_HOME") or os.path.join(home, ".codex")
            pattern = os.path.join("sessions", "*", "*", "*", f"rollout-*-{session}.jsonl")
        elif self._agent == "gemini":
            root = os.path.join(self._environ.get("GEMINI_CLI_HOME") or home, ".gemini")
            pattern = os.path.join("tmp", "*", "chats", f"session-*-{session[:8]}.jsonl")
        else:
            return []
        return sorted(glob.glob(os.path.join(glob.escape(root), pattern)))
