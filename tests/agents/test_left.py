"""What a compaction left in the window: named by its lines, or told with it."""

from __future__ import annotations

from typing import Any

from brim.agents.call import Event
from brim.agents.events import Attachment, Compaction, Message
from brim.agents.readers import AnyReader


def events(*lines: dict[str, Any]) -> list[Event]:
    reader = AnyReader()
    return [
        event for at, line in enumerate(lines) for event in reader.events(line, at * 10)
    ] + reader.finish()


def claude(type: str, uuid: str, **fields: Any) -> dict[str, Any]:
    return {"type": type, "uuid": uuid, "sessionId": "s", "isSidechain": False, **fields}


def said(uuid: str, text: str, **fields: Any) -> dict[str, Any]:
    return claude("user", uuid, message={"role": "user", "content": text}, **fields)


def boundary(**about: Any) -> dict[str, Any]:
    return claude(
        "system", "b", subtype="compact_boundary", compactMetadata={"trigger": "auto", **about}
    )


def test_claude_names_the_messages_that_stay() -> None:
    lines = [said("u1", "one"), said("u2", "two"), said("u3", "three")]
    (found,) = [
        event
        for event in events(
            *lines, boundary(preservedMessages={"uuids": ["u2"], "allUuids": ["u2", "u3", "gone"]})
        )
        if isinstance(event, Compaction)
    ]
    assert found.kept == (10, 20)


def test_older_versions_of_claude_name_the_ends_of_what_stays() -> None:
    lines = [said("u1", "one"), said("u2", "two"), said("u3", "three")]
    found = events(
        *lines, boundary(preservedSegment={"headUuid": "u2", "tailUuid": "u3", "anchorUuid": "x"})
    )
    assert [event.kept for event in found if isinstance(event, Compaction)] == [(10, 20)]


def test_claude_attaches_files_and_what_hooks_say() -> None:
    file = {
        "type": "file",
        "filename": "/p/a.py",
        "content": {"file": {"filePath": "/p/a.py", "content": "x = 1"}},
    }
    hook = {"type": "hook_additional_context", "content": ["Use uv."]}
    rendered = [
        {"content": "<system-reminder>Read a.py</system-reminder>"},
        {"content": "1\tx = 1"},
    ]
    lines = [
        claude("attachment", "a1", attachment=file),
        claude("attachment", "a2", attachment=file, rendered=rendered),
        claude("attachment", "a3", attachment=hook),
        claude("attachment", "a4", attachment={"type": "mode"}),
        claude("attachment", "a5", attachment=["odd"], rendered="odd"),
    ]
    found = [event for event in events(*lines) if isinstance(event, Attachment)]
    assert [(event.kind, event.path) for event in found] == [
        ("file", "/p/a.py"),
        ("file", "/p/a.py"),
        ("hook_additional_context", ""),
    ]
    assert found[0].text == "x = 1"
    assert found[1].text.endswith("Read a.py</system-reminder>\n1\tx = 1")
    assert found[2].text == "Use uv."


def rollout(type: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-15T06:45:13.080Z", "type": type, "payload": payload}


def codex(*left: dict[str, Any], message: str = "") -> list[Event]:
    meta = rollout("session_meta", id="s", cwd="/p")
    return events(meta, rollout("compacted", message=message, replacement_history=list(left)))


def test_codex_gives_the_history_that_replaces_the_old_one() -> None:
    summary = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Summary: done."}],
        "internal_chat_message_metadata_passthrough": {
            "content_item_kinds": ["compaction.summary"]
        },
    }
    asked = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Fix a.py"}],
    }
    call = {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "make test"}'}
    output = {"type": "function_call_output", "output": "12 passed"}
    found = codex(asked, call, output, summary)
    assert [event.text for event in found if isinstance(event, Message)] == ["Summary: done."]
    assert [event.text for event in found if isinstance(event, Attachment)] == [
        "Fix a.py",
        '{"cmd": "make test"}',
        "12 passed",
    ]
    assert [event.hidden for event in found if isinstance(event, Compaction)] == [False]


def test_a_summary_that_the_provider_encrypted_is_hidden() -> None:
    (found,) = [
        event
        for event in codex({"type": "compaction", "encrypted_content": "gAAA"})
        if isinstance(event, Compaction)
    ]
    assert found.hidden
    readable = codex({"type": "compaction", "encrypted_content": "gAAA"}, message="All done.")
    assert [event.hidden for event in readable if isinstance(event, Compaction)] == [False]


def test_gemini_gives_the_messages_next_to_its_summary() -> None:
    def message(type: str, id: str, content: Any, **fields: Any) -> dict[str, Any]:
        return {
            "id": id,
            "type": type,
            "content": content,
            "timestamp": "2026-11-15T06:47:24.668Z",
            **fields,
        }

    call = {
        "id": "c",
        "name": "read_file",
        "args": {"file_path": "src/a.py"},
        "result": [{"functionResponse": {"response": {"output": "x = 1"}}}],
    }
    left = [
        message("user", "n1", [{"text": "<state_snapshot>All done.</state_snapshot>"}]),
        message("gemini", "n2", "Reading.", toolCalls=[call]),
        message("user", "n3", [{"functionResponse": {"response": {"output": "y = 2"}}}]),
    ]
    found = events(
        {"sessionId": "s", "projectHash": "p", "startTime": "2026-11-15T06:47:24.668Z"},
        message("user", "u1", [{"text": "Fix it"}]),
        {"$set": {"messages": left, "lastUpdated": "2026-11-15T06:50:00.000Z"}},
    )
    assert [type(event) for event in found] == [
        Message,
        Compaction,
        Message,
        Attachment,
        Attachment,
    ]
    first, second = [event.text for event in found if isinstance(event, Attachment)]
    assert all(part in first for part in ("Reading.", "src/a.py", "x = 1"))
    assert second == "y = 2"
