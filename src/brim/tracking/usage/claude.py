"""Reads the usage of a line of a Claude Code transcript: what ``ClaudeTranscriptReader`` reports, and nothing else.

The reader makes events of everything in a line; here a hundred megabytes wait. A test compares the two.
"""

from __future__ import annotations

from brim.tracking.readers.claude_blocks import SYNTHETIC, run_total
from brim.tracking.readers.fields import tokens
from brim.tracking.readers.times import seconds
from brim.tracking.usage.request import Request, place_of, total_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.tracking.usage.gathered import FileUsage

    _Used = tuple[int, int, int, int, int, bool, str]
    """A request's counters and what changes its price, in the order that ``Request`` takes them."""

_FOREIGN = frozenset(
    (
        "promptTokenCount",
        "candidatesTokenCount",
        "prompt_token_count",
        "candidates_token_count",
        "prompt_tokens",
        "completion_tokens",
        "input_tokens_details",
        "cached_input_tokens",
        "cache_write_input_tokens",
    )
)
"""Counters of other providers: a report that has one is read as theirs."""
_USUAL = (None, "", "standard")
_MOST = 10**12
_ABSENT = (None, None, None, None)
_NOTHING: dict[str, Any] = {}


class ClaudeLines:
    """Takes the lines of one file into *found*. The file *path* is a sub-agent's if *sub_agent*."""

    def __init__(self, found: FileUsage, path: str, slug: str, *, sub_agent: bool) -> None:
        self._found, self._path, self._slug, self._sub_agent = found, path, slug, sub_agent

    def take(self, line: dict[str, Any], at: int) -> tuple[str, str] | None:
        """Take *line* in, which begins at byte *at*.

        Return the ids of the message and of the request if it is the first line of one: the next may repeat it.
        """
        kind = line.get("type")
        if kind == "assistant":
            return self._assistant(line, at)
        if kind == "cost-state" and not self._sub_agent and line.get("isSidechain") is not True:
            total = run_total(line, {"session": _session(line), "agent": "", "time": None, "at": at})
            if total is not None:
                self._found.add_total(total_from(total))
        return None

    def _assistant(self, line: dict[str, Any], at: int) -> tuple[str, str] | None:
        message = line.get("message")
        if not isinstance(message, dict) or not message:
            message = line
        model = message.get("model")
        if line.get("isApiErrorMessage") is True or model == SYNTHETIC:
            return None
        usage = message.get("usage")
        used = _plain(usage) or _read(usage)
        if used is None:
            return None
        id, request = _text(message.get("id")), _text(line.get("requestId"))
        key = f"{id}:{request}" if id and request else id or request or place_of(self._path, at)
        in_main = line.get("isSidechain") is not True
        time = seconds(line.get("timestamp"))
        self._see_folder(line.get("cwd"))
        self._found.add(Request(key, in_main and not self._sub_agent, True, _text(model), time, _session(line), *used))
        return (id, request) if in_main or self._sub_agent else None

    def _see_folder(self, cwd: object) -> None:
        """Remember the folder that the project's is named after: an agent may go to others later."""
        if not self._found.folder and isinstance(cwd, str) and (not self._slug or slug_of(cwd) == self._slug):
            self._found.folder = cwd


def slug_of(folder: str) -> str:
    """Return how Claude Code names the folder that it keeps the sessions of *folder* in."""
    return "".join([character if character.isascii() and character.isalnum() else "-" for character in folder])


def _plain(usage: Any) -> _Used | None:
    """Return what ``_read`` returns, if *usage* is of the usual form, else None: nearly every one is."""
    if type(usage) is not dict or not _FOREIGN.isdisjoint(usage):
        return None
    get = usage.get
    if get("service_tier") not in _USUAL or get("speed") not in _USUAL or get("inference_geo") not in _USUAL:
        return None
    by_time = get("cache_creation") or _NOTHING
    if type(by_time) is not dict:
        return None
    counts = (
        get("input_tokens"),
        get("output_tokens"),
        get("cache_read_input_tokens"),
        get("cache_creation_input_tokens"),
        by_time.get("ephemeral_5m_input_tokens"),
        by_time.get("ephemeral_1h_input_tokens"),
    )
    for count in counts:
        if count is not None and (type(count) is not int or not 0 <= count <= _MOST):
            return None
    if counts[:4] == _ABSENT:
        return None
    input, output, read, written, minutes, hour = [count or 0 for count in counts]
    minutes += max(0, written - hour - minutes)
    return (input, output, read, minutes, hour, False, "") if any(counts) else None


def _read(usage: Any) -> _Used | None:
    used = tokens(usage)
    if used is None:
        return None
    return (
        used.input,
        used.output,
        used.cache_read,
        used.cache_write_5m,
        used.cache_write_1h,
        used.writes_are_input,
        " ".join(used.factors),
    )


def _session(line: dict[str, Any]) -> str:
    return _text(line.get("sessionId")) or _text(line.get("session_id"))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
