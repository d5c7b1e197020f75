"""Which session is meant, what its compactions lost, and the text that gives it back.

Everything is read from the agents' own files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from brim.agents import every_agent
from brim.agents.agent import subagent_files
from brim.agents.readers import AnyReader
from brim.agents.stream import BLOCK, read
from brim.errors import InputError
from brim.memory.compactions import CompactionReader
from brim.memory.lost import CompactionReport, LostFact, line_of
from brim.sessions.session_files import newest_first

MOST_OTHERS = 50
"""Sessions of other projects that are looked into, the newest, if none of this project was
compacted."""

MOST_LINES = 30
"""Lost things in the text that gives them back."""

_SIGNS = tuple(filter(None, [agent.transcripts.compaction_sign for agent in every_agent()]))
"""What is in every file with a compaction."""
_LONGEST_SIGN = 32


@dataclass(frozen=True, slots=True)
class LostReport:
    """The compactions of one session, oldest first."""

    compactions: tuple[CompactionReport, ...] = ()
    path: str = ""
    """The session's file; empty if no session was compacted."""
    here: bool = True
    """Whether it is a session of this project."""
    broken: int = 0
    """Lines that could not be read."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "path": self.path,
            "compactions": [compaction.to_dict() for compaction in self.compactions],
            "broken": self.broken,
            "again": self.again(),
        }

    def again(self) -> str:
        """Return a text for the agent with what never came back to its main thread.

        It is in the order in which hooks give things back; empty if there is nothing.
        """
        never: dict[tuple[str, str], LostFact] = {}
        for compaction in self.compactions:
            if not compaction.sub_agent:
                for item in compaction.never:
                    never[(item.kind, item.text)] = item
        if not never:
            return ""
        ranked = sorted(never.values(), key=lambda item: (item.level, -item.uses))
        lines = ["Earlier in this session you had these; the summary left them out:"]
        lines += [f"- {_line(item)}" for item in ranked[:MOST_LINES]]
        if len(ranked) > MOST_LINES:
            lines.append(f"- and {len(ranked) - MOST_LINES} more")
        return "\n".join(lines)


def _line(item: LostFact) -> str:
    """Return the line of *item* in a text that the person pastes."""
    if item.kind == "instruction":
        return f'I said: "{item.text}"'
    return line_of(item.kind, item.text)


def find_lost(
    environ: Mapping[str, str],
    cwd: str,
    session: str = "",
    *,
    limit: int = 5,
    on_bytes: Callable[[int], object] = int,
) -> LostReport:
    """Return what the last *limit* compactions of a session lost.

    *session* is its file, its id or how that begins. Without it, it is the newest session of this
    project that was compacted, else the newest of all. *on_bytes* is told how many bytes were read.
    """
    if session:
        candidates: Iterable[tuple[str, bool]] = named_session(environ, cwd, session)
    else:
        candidates = _compacted(environ, cwd)
    for path, is_here in candidates:
        broken: list[int] = []
        try:
            compactions = lost_in(path, on_bytes=on_bytes, on_broken=broken.append)
        except InputError:
            if session:
                raise
            continue  # another user's, or deleted since it was found
        if compactions or session:
            return LostReport(tuple(compactions[-limit:]), path, is_here, sum(broken))
    return LostReport()


def lost_in(
    path: str,
    *,
    on_bytes: Callable[[int], object] = int,
    on_broken: Callable[[int], object] = int,
) -> list[CompactionReport]:
    """Return the compactions of the session in the file *path* and of its sub-agents.

    What can't be opened or isn't text is an ``InputError``.
    """
    lines = AnyReader()
    reader = CompactionReader()
    at = 0
    for event in read(path, reader=lines, on_broken=on_broken):
        reader.take(event)
        if event.at > at:
            on_bytes(event.at - at)
        at = event.at
    reader.agent = (lines.format or "").partition("-")[0]
    return reader.finish()


def named_session(environ: Mapping[str, str], cwd: str, session: str) -> list[tuple[str, bool]]:
    """Return the file of *session*, and whether it is of this project; nothing if there is none.

    *session* may be its path, its id or how that begins.
    """
    if os.path.exists(session) or os.sep in session or session.endswith(".jsonl"):
        return [(session, True)]
    files = newest_first(environ, cwd)
    ids = [(file.session, file.path, is_here) for file, is_here in files]
    matches = {
        id: (path, is_here) for id, path, is_here in ids if id.lower().startswith(session.lower())
    }
    if len(matches) > 1 and session not in matches:
        names = ", ".join(id[:16] for id in list(matches)[:5])
        raise InputError(
            f"{session}: {len(matches)} sessions begin with it: {names}; give more of the id"
        )
    if session in matches:
        return [matches[session]]
    return list(matches.values())


def _compacted(environ: Mapping[str, str], cwd: str) -> Iterator[tuple[str, bool]]:
    """Yield the sessions that seem to have been compacted, the newest of this project first."""
    other_projects = 0
    for file, is_here in newest_first(environ, cwd):
        other_projects += not is_here
        if other_projects > MOST_OTHERS:
            return
        if any(
            map(_may_be_compacted, [file.path, *[path for _, path in subagent_files(file.path)]])
        ):
            yield file.path, is_here


def _may_be_compacted(path: str) -> bool:
    """Whether the file *path* has a line that only compactions write, as far as its bytes tell."""
    try:
        with open(path, "rb") as file:
            return any(sign in block for block in _blocks(file) for sign in _SIGNS)
    except OSError:
        return False


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield *file* in blocks, each with the end of the one before, so that no sign is cut."""
    end = b""
    while data := file.read(BLOCK):
        yield end + data
        end = data[-_LONGEST_SIGN:]
