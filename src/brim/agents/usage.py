"""How full the window is, in the agent's own numbers: from the status line or a hook, else from the transcript's end.

No hook is told the number of tokens, except by Gemini CLI. The status line is, and leaves it in the session's state; a
transcript that was written to since then is newer. Of that only the end is read, backwards, and only if it is a plain
file of this user.
"""

from __future__ import annotations

import os

from brim import _json
from brim.agents.state import UsageSeen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from brim.agents.call import HookCall
    from brim.agents.place import Place

BLOCK = 1 << 16
"""Bytes of the first piece that is read; each further one is twice as long."""
MOST = 4 << 20
"""Bytes that are read in all."""
LATE = 2.0
"""Seconds that the status line is behind the transcript's last line at most, if it tells of the same."""
COUNTERS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_REGULAR, _TYPE = 0o100000, 0o170000


def usage_now(call: HookCall, place: Place) -> UsageSeen | None:
    """Return the newest exact reading of the main thread's window, None if there is none.

    Its ``window`` is the setting ``context.window``, else what the agent said, else what is known of the model.
    """
    cached = place.state(call.session).usage
    seen = cached
    if cached is None or _written_at(call.transcript) > cached.time + LATE:
        seen = from_transcript(call.transcript, agent=call.agent, now=place.now) or cached
    if seen is None:
        return None
    model = seen.model or call.model or (cached.model if cached is not None else "")
    window = seen.window
    if not window and cached is not None and cached.model in ("", model):
        window = cached.window
    pinned = place.config["context.window"]
    return seen.changed(window=pinned or window or _known_window(model), model=model)


def remember_reported(call: HookCall, place: Place) -> None:
    """Keep what the agent reported with *call* itself: Gemini CLI does after each request."""
    response = call.data.get("llm_response")
    reported = response.get("usageMetadata") if isinstance(response, dict) else None
    tokens = _whole(reported.get("promptTokenCount")) if isinstance(reported, dict) else 0
    if not tokens or call.sub_agent:
        return
    state = place.state(call.session)
    before = state.usage
    if before is None or (before.tokens, before.model) != (tokens, call.model):
        state.usage = UsageSeen(tokens, 0, call.model, place.now, "hook")


def from_transcript(path: str, *, agent: str, now: float) -> UsageSeen | None:
    """Return the last reading in the transcript *path* of *agent*; None if there is none, or it cannot be read."""
    read = {"claude": _claude, "codex": _codex, "gemini": _gemini}.get(agent)
    if read is None or not path:
        return None
    model = ""
    window = 0
    for line in tail_lines(path):
        found = read(line)
        if found is None:
            continue
        tokens, said_model, said_window = found
        model, window = model or said_model, window or said_window
        if tokens is not None:
            return UsageSeen(tokens, window, model, now, "transcript") if tokens else None
    return None


def tail_lines(path: str, *, most: int = MOST) -> Iterator[bytes]:
    """Give the lines of the file *path*, the last one first, as far as its last *most* bytes go.

    Nothing if it is not a plain file of this user: a link is not followed, and a pipe not waited for.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return
    try:
        found = os.fstat(handle)
        if found.st_mode & _TYPE != _REGULAR or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
            return
        begin, left, size, rest = found.st_size, most, BLOCK, b""
        while begin > 0 and left > 0:
            take = min(size, begin, left)
            begin, left, size = begin - take, left - take, size * 2
            os.lseek(handle, begin, os.SEEK_SET)
            rest, *lines = (os.read(handle, take) + rest).split(b"\n")
            lines.reverse()
            yield from lines
        if begin == 0:
            yield rest
    except OSError:
        return
    finally:
        os.close(handle)


_Found = tuple["int | None", str, int]
"""Tokens (None if the line tells only of the model or the window; 0 if nobody knows any more), model, window."""


def _claude(line: bytes) -> _Found | None:
    if b'"assistant"' in line and b'"usage"' in line:
        data = _parsed(line)
        message = data.get("message")
        usage = message.get("usage") if isinstance(message, dict) else None
        if data.get("type") != "assistant" or data.get("isSidechain") is True or not isinstance(usage, dict):
            return None
        tokens = sum(_whole(usage.get(counter)) for counter in COUNTERS)
        model = message.get("model") if isinstance(message, dict) else ""
        return (tokens, model if isinstance(model, str) else "", 0) if tokens and model != "<synthetic>" else None
    if b"compact_boundary" in line:
        data = _parsed(line)
        about = data.get("compactMetadata") or data.get("compact_metadata")
        if data.get("subtype") == "compact_boundary" and data.get("isSidechain") is not True:
            left = about if isinstance(about, dict) else {}
            return _whole(left.get("postTokens")) or _whole(left.get("post_tokens")), "", 0
    return None


def _codex(line: bytes) -> _Found | None:
    if b'"token_count"' not in line and b'"compacted"' not in line and b'"turn_context"' not in line:
        return None
    data = _parsed(line)
    payload = data.get("payload")
    if not isinstance(payload, dict):
        return None
    if data.get("type") == "compacted":
        return 0, "", 0
    if data.get("type") == "turn_context":
        model = payload.get("model")
        return None, model if isinstance(model, str) else "", 0
    info = payload.get("info")
    last = info.get("last_token_usage") if isinstance(info, dict) else None
    if payload.get("type") != "token_count" or not isinstance(info, dict) or not isinstance(last, dict):
        return None
    return _whole(last.get("input_tokens")) or None, "", _whole(info.get("model_context_window"))


def _gemini(line: bytes) -> _Found | None:
    if b'"tokens"' not in line:
        return None
    data = _parsed(line)
    tokens, model = data.get("tokens"), data.get("model")
    if data.get("type") != "gemini" or not isinstance(tokens, dict) or not _whole(tokens.get("input")):
        return None
    return _whole(tokens.get("input")), model if isinstance(model, str) else "", 0


def _parsed(line: bytes) -> Mapping[str, Any]:
    try:
        found = _json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _whole(found: object) -> int:
    return found if type(found) is int and 0 <= found <= 10**12 else 0


def _written_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime if path else 0.0
    except (OSError, ValueError):
        return 0.0


def _known_window(model: str) -> int:
    from brim.models.light import lookup

    found = lookup(model)  # an unknown model's window is a guess, and a warning from a guess is a false one
    return found.context_window if found.resolved else 0
