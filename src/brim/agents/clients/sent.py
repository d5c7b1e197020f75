"""What the clients' messages have in common: where each field is taken from, whatever it may hold."""

from __future__ import annotations

from brim.agents.call import HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def text(data: object, key: str) -> str:
    """Return the text under *key*; empty if there is none, or something else."""
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, str) else ""


def path(data: object, key: str) -> str:
    """Return the path under *key*; empty if there is none, or one that no file can have."""
    found = text(data, key)
    return "" if "\0" in found else found


def mapping(data: object, key: str) -> dict[str, Any]:
    """Return the mapping under *key*, or an empty one."""
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def joined(content: object) -> str:
    """Return the text of a list of blocks, of one block, or of a text; blocks of another kind are left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join([part for part in [_block(each) for each in content] if part])
    return _block(content)


def _block(block: object) -> str:
    return block if isinstance(block, str) else text(block, "text")


def mended(value: Any) -> Any:
    """Return *value* with other signs for each half of a letter that was cut in two: no file takes a half."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, list):
        return [mended(each) for each in value]
    if isinstance(value, dict):
        return {mended(key): mended(each) for key, each in value.items()}
    return value


def common(agent: str, event: str, name: str, data: Mapping[str, Any], **own: Any) -> HookCall:
    """Return the call with the fields that every client sends under the same name, and its *own*."""
    fields: dict[str, Any] = {
        "session": text(data, "session_id"),
        "sub_agent": text(data, "agent_id"),
        "cwd": path(data, "cwd"),
        "transcript": path(data, "transcript_path"),
        "model": text(data, "model"),
        "permission_mode": text(data, "permission_mode"),
        "tool": text(data, "tool_name"),
        "call_id": text(data, "tool_use_id"),
        "input": mapping(data, "tool_input"),
        "source": text(data, "source"),
        "trigger": text(data, "trigger"),
        "error": text(data, "error"),
        "interrupted": data.get("is_interrupt") is True,
        **own,
    }
    if fields["tool"]:
        from brim.tracking.readers.fields import tool_of

        fields["tool_kind"] = tool_of(fields["tool"])
    return HookCall(agent=agent, event=event, name=name, data=data, **fields)


def cut(written: str, most: int) -> str:
    """Return *written* in at most *most* characters, whole lines as far as they go."""
    if len(written) <= most:
        return written
    head = written[:most]
    return head[: head.rfind("\n") + 1] or head


def cut_bytes(written: str, most: int) -> str:
    """Return *written* in at most *most* bytes of UTF-8, whole lines as far as they go."""
    data = written.encode("utf-8", "surrogatepass")
    if len(data) <= most:
        return written
    return cut(written, len(data[:most].decode("utf-8", "ignore")))


def dumped(answer: dict[str, Any]) -> str:
    """Return *answer* as one line of JSON; empty if there is nothing in it."""
    from brim import _json

    return _json.dumps(answer) if answer else ""
