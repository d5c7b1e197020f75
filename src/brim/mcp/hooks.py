"""Answers a client that calls a tool as a hook: the same answer as the process would give, without its start.

What the client fills in arrives as texts, objects too (as JSON), so they are read back first.
"""

from __future__ import annotations

import json

from brim.agents.state import file_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.mcp.desk import Desk

OBJECTS = ("tool_input", "tool_response")
"""Fields that a client has as objects, and fills in as JSON."""
NOTHING = "{}"
CALLED_BY_MODEL = "claudecode/toolUseId"
"""In the ``_meta`` of a call that a model makes. A hook has none: no model may say what a person typed."""


def answer_hook(arguments: Mapping[str, Any], meta: Mapping[str, Any], desk: Desk) -> str:
    """Return the client's own JSON for the event in *arguments*; ``{}`` says nothing. It never raises."""
    environ = desk.environ
    try:
        return _answered(arguments, meta, desk) or NOTHING
    except Exception as error:  # whatever it is, an agent must not wait for it, or hear of it
        _log(environ, f"on_hook: {type(error).__name__}: {error}")
        return NOTHING


def filled(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return *arguments* without the places that a client left as they stand in the settings: the event has no such."""
    return {
        name: value for name, value in arguments.items() if not (isinstance(value, str) and value == f"${{{name}}}")
    }


def session_of(arguments: Mapping[str, Any], meta: Mapping[str, Any]) -> str:
    """Return the session that a call belongs to, if it says so and it can be one."""
    for found in (arguments.get("session_id"), meta.get("threadId")):
        if isinstance(found, str) and found and file_id(found) == found:
            return found
    return ""


def _answered(arguments: Mapping[str, Any], meta: Mapping[str, Any], desk: Desk) -> str:
    from brim.agents.hook import answer_to

    data = {name: _read_back(name, value) for name, value in filled(arguments).items()}
    event, agent = str(data.pop("event", "")), str(data.pop("agent", "claude"))
    data.setdefault("hook_event_name", event)
    data.setdefault("cwd", desk.folder or "")
    if session := session_of(arguments, meta):
        data["session_id"] = session
    return answer_to(event, agent, data, desk.environ, now=desk.clock())


def _read_back(name: str, value: Any) -> Any:
    if name not in OBJECTS or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _log(environ: Mapping[str, str], line: str) -> None:
    from contextlib import suppress

    with suppress(Exception):
        from brim.agents.log import log

        log(environ, line)
