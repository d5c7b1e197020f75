"""What fills a request: recorded sessions of the real clients, with texts planted where they must
be found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brim.sessions.composition.composed_request import ComposedRequest, RequestPart
from brim.sessions.composition.pieces import call_label
from brim.sessions.composition.reading import read_requests

DATA = Path(__file__).parent / "data"
SHOP = "/home/user/shop"


def marker_count(word: str) -> Callable[[str], int]:
    """Return a count that is 1 for texts with *word* in them: the part that is not 0 is where the
    word landed."""
    return lambda text: text.count(word)


def leaves(
    parts: tuple[RequestPart, ...], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], RequestPart]]:
    for part in parts:
        yield from (
            leaves(part.parts, (*above, part.name)) if part.parts else [((*above, part.name), part)]
        )


def places(path: Path, word: str, at: int) -> set[tuple[str, ...]]:
    """Return the labels of every piece of a request that holds *word*."""
    request = read_requests(path, count=marker_count(word))[at - 1]
    return {piece.label for item in request.items for piece in item.pieces if piece.local}


PLANTED = [
    ("PLANTED-PROMPT", 4, {("your words",)}),
    ("PLANTED-CLAUDE-MD", 4, {("memory files", f"{SHOP}/CLAUDE.md")}),
    ("PLANTED-IMPORT", 4, {("memory files", f"{SHOP}/docs/style.md")}),
    ("PLANTED-USER-MEMORY", 4, {("memory files", "/home/user/.claude/CLAUDE.md")}),
    ("PLANTED-BRIM-RULE", 4, {("brim", "SessionStart")}),
    ("PLANTED-MCP-TOOL", 4, {("tools", "mcp: shop", "find")}),
    ("PLANTED-MCP-INSTRUCTIONS", 4, {("tools", "mcp: shop", "instructions")}),
    ("PLANTED-FILE", 4, {("tool results", "Read", f"{SHOP}/sub/code.py")}),
    ("THOUGHT-1", 4, {("thinking",)}),
    ("PLANTED-MCP-RESULT", 6, {("tool results", "mcp: shop", "find")}),
    ("PLANTED-TASK", 6, {("agent's words", "calls", "Agent")}),
    ("PLANTED-SECOND", 8, {("your words",)}),
    ("PLANTED-PROMPT", 10, set()),
    ("The work went on as it was asked.", 10, {("summary",)}),
]


@pytest.mark.parametrize("name", ["claude_opus", "claude_haiku"])
@pytest.mark.parametrize(("word", "at", "expected"), PLANTED)
def test_a_planted_text_lands_in_its_part(
    name: str, word: str, at: int, expected: set[tuple[str, ...]]
) -> None:
    assert places(DATA / f"{name}.jsonl", word, at) == expected


def test_a_command_and_what_it_printed_are_two_parts() -> None:
    assert places(DATA / "claude_opus.jsonl", "PLANTED-COMMAND", 4) == {
        ("agent's words", "calls", "Bash"),
        ("tool results", "Bash", "echo PLANTED-COMMAND; seq 1 200"),
    }


def test_a_memory_file_of_a_subfolder_has_its_own_row() -> None:
    assert places(DATA / "claude_opus.jsonl", "PLANTED-NESTED-MEMORY", 4) == {
        ("memory files", f"{SHOP}/sub/CLAUDE.md")
    }


def test_the_prompt_of_a_sub_agent_is_the_main_agents(tmp_path: Path) -> None:
    path = DATA / "agent-a5502dac.jsonl"
    assert places(path, "PLANTED-TASK", 1) == {("task of the main agent",)}
    renamed = tmp_path / "copy.jsonl"
    renamed.write_bytes(path.read_bytes())
    assert places(renamed, "PLANTED-TASK", 1) == {("task of the main agent",)}


def test_a_request_for_a_summary_has_no_inferred_tools() -> None:
    request = read_requests(DATA / "codex_rollout.jsonl")[2]
    assert request.compacts
    row = next(part for part in request.parts if "not recorded" in part.name)
    assert (row.tokens, row.basis) == (request.balance.not_recorded, "not recorded")
    assert request.known.hidden is None


@pytest.mark.parametrize(
    ("word", "at", "expected"),
    [
        ("PLANTED-PROMPT", 2, {("your words",)}),
        ("PLANTED-AGENTS-MD", 2, {("memory files", f"{SHOP}/AGENTS.md")}),
        ("PLANTED-USER-MEMORY", 2, {("memory files", "~/.codex/AGENTS.md")}),
        ("PLANTED-BRIM-RULE", 2, {("brim", "hook")}),
        ("PLANTED-FILE", 3, {("tool results", "exec_command", "cat code.py")}),
        ("PLANTED-FILE", 4, set()),
        ("The work went on as it was asked.", 4, {("summary",)}),
        ("PLANTED-SECOND", 6, {("your words",)}),
    ],
)
def test_codex(word: str, at: int, expected: set[tuple[str, ...]]) -> None:
    assert places(DATA / "codex_rollout.jsonl", word, at) == expected


@pytest.mark.parametrize(
    ("word", "at", "expected"),
    [
        ("PLANTED-PROMPT", 1, {("your words",)}),
        ("PLANTED-GEMINI-MD", 1, {("memory files", f"{SHOP}/GEMINI.md")}),
        ("PLANTED-BRIM-RULE", 1, {("brim", "hook")}),
        ("PLANTED-FILE", 3, {("tool results", "read_file", f"{SHOP}/code.py")}),
        ("PLANTED-SECOND", 5, {("your words",)}),
    ],
)
def test_gemini(word: str, at: int, expected: set[tuple[str, ...]]) -> None:
    assert places(DATA / "gemini_record.jsonl", word, at) == expected


def gemini_message(number: int, path: str = "") -> dict[str, Any]:
    """Return a message of Gemini CLI that reads the file *path*, or says that it's done."""
    used = {"input": 1_000 * number, "output": 5, "cached": 0, "thoughts": 0, "tool": 0}
    message: dict[str, Any] = {
        "id": f"m-{number}",
        "timestamp": f"2026-11-16T09:26:4{number}.000Z",
        "type": "gemini",
        "content": "Done.",
        "tokens": {**used, "total": used["input"] + 5},
        "model": "gemini-2.5-flash",
    }
    if path:
        response = {"id": f"call-{number}", "response": {"output": f"PLANTED {number}"}}
        call = {"id": f"call-{number}", "name": "read_file", "args": {"file_path": path}}
        message["toolCalls"] = [{**call, "result": [{"functionResponse": response}]}]
    return message


def test_a_file_that_gemini_reads_under_several_paths_is_one_part(tmp_path: Path) -> None:
    context = f"<session_context>\n- **Workspace Directories:**\n  - {SHOP}\n</session_context>"
    lines = [
        {"sessionId": "g-1", "projectHash": "h", "startTime": "2026-11-16T09:26:37Z"},
        {"id": "u-1", "type": "user", "content": [{"text": context}, {"text": "Read it."}]},
    ]
    paths = (f"{SHOP}/code.py", "code.py", "./code.py", f"{SHOP}/src/../code.py")
    for number, path in enumerate(paths, 1):
        lines.append(gemini_message(number, path))
    lines.append(gemini_message(5))
    record = tmp_path / "session-1.jsonl"
    record.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert places(record, "PLANTED", 5) == {("tool results", "read_file", f"{SHOP}/code.py")}


@pytest.mark.parametrize("name", ["claude_opus", "claude_haiku", "codex_rollout", "gemini_record"])
def test_parts_and_what_remains_add_up_to_what_was_billed(name: str) -> None:
    for request in read_requests(DATA / f"{name}.jsonl"):
        assert sum(part.tokens or 0 for part in request.parts) == request.billed > 0
        for _, part in leaves(request.parts):
            assert part.basis
        for part in request.parts:
            if part.parts:
                assert sum(inner.tokens or 0 for inner in part.parts) == part.tokens


def test_the_largest_part_comes_first() -> None:
    parts = read_requests(DATA / "claude_opus.jsonl")[5].parts
    sizes = [part.tokens or 0 for part in parts]
    assert sizes == sorted(sizes, reverse=True)


def test_after_the_first_request_the_ratio_is_that_of_the_one_before() -> None:
    first, second, *_ = requests = read_requests(DATA / "claude_haiku.jsonl")
    assert (first.known.ratio, first.known.basis) == (1.27, "estimated")
    assert second.known.basis == "calibrated"
    assert second.known.ratio == pytest.approx((first.billed) / local_of(first))
    assert all(abs(each.remainder) < 0.01 * each.billed for each in requests[1:])


def local_of(request: ComposedRequest) -> int:
    return sum(piece.local for item in request.items for piece in item.pieces)


def test_what_a_client_does_not_record_is_a_row_with_what_the_texts_leave() -> None:
    first, second, *_ = read_requests(DATA / "gemini_record.jsonl")
    rows = [
        next(part for part in each.parts if "not recorded" in part.name) for each in (first, second)
    ]
    assert [row.name for row in rows] == ["system prompt and tools (not recorded)"] * 2
    for request, row in zip((first, second), rows, strict=True):
        counted = int(local_of(request) * request.known.ratio)
        assert (row.tokens, row.basis) == (request.billed - counted, "not recorded")


def test_codex_records_its_system_prompt_but_no_tools() -> None:
    request = read_requests(DATA / "codex_rollout.jsonl")[1]
    names = [part.name for part in request.parts]
    assert "system prompt" in names
    assert "tools (not recorded)" in names


def rewritten(
    tmp_path: Path, name: str, change: Callable[[dict[str, Any]], dict[str, Any] | None]
) -> Path:
    lines = [
        json.loads(line)
        for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    path = tmp_path / f"{name}.jsonl"
    path.write_text(
        "".join(json.dumps(new) + "\n" for line in lines if (new := change(line))), encoding="utf-8"
    )
    return path


def is_record(line: dict[str, Any]) -> bool:
    return str(line.get("type")).startswith("api-request")


@pytest.mark.parametrize(("word", "at", "expected"), PLANTED)
def test_without_records_the_lines_say_the_same(
    tmp_path: Path, word: str, at: int, expected: set[tuple[str, ...]]
) -> None:
    path = rewritten(tmp_path, "claude_opus", lambda line: None if is_record(line) else line)
    assert places(path, word, at) == expected


def test_tools_that_a_later_line_names_are_those_of_the_first_request_too(tmp_path: Path) -> None:
    path = rewritten(tmp_path, "claude_opus", lambda line: None if is_record(line) else line)
    first = read_requests(path)[0]
    assert first.hidden == ()
    assert "tools" in {piece.label[0] for piece in first.pieces}


def test_a_hash_that_no_line_resolves_is_its_own_row(tmp_path: Path) -> None:
    def without_prompt(line: dict[str, Any]) -> dict[str, Any] | None:
        is_second = (
            line.get("type") == "user" and line["message"]["content"] == "PLANTED-SECOND go on"
        )
        return (
            None if is_second or "PLANTED-SECOND" in json.dumps(line.get("message", "")) else line
        )

    request = read_requests(rewritten(tmp_path, "claude_opus", without_prompt))[7]
    row = next(part for part in request.parts if part.name == "not resolved")
    assert row.tokens is None
    assert [(inner.tokens, inner.basis) for inner in row.parts] == [
        (None, "named by the request, not recorded")
    ]
    assert sum(part.tokens or 0 for part in request.parts) == request.billed


def test_a_prompt_is_found_as_a_line_has_it_and_as_the_request_had_it(tmp_path: Path) -> None:
    def without_blob(line: dict[str, Any]) -> dict[str, Any] | None:
        is_blob = line.get("type") == "api-request-blob"
        return None if is_blob and line["message"]["content"] == "PLANTED-SECOND go on" else line

    path = rewritten(tmp_path, "claude_opus", without_blob)
    assert places(path, "PLANTED-SECOND", 8) == {("your words",)}
    assert all(item.resolved for item in read_requests(path)[7].items)


def test_without_a_reference_the_answer_belongs_to_the_request_before_it(tmp_path: Path) -> None:
    def without_reference(line: dict[str, Any]) -> dict[str, Any]:
        return {key: found for key, found in line.items() if key != "requestRef"}

    plain = read_requests(DATA / "claude_opus.jsonl")
    found = read_requests(rewritten(tmp_path, "claude_opus", without_reference))
    assert [[item.key for item in each.items] for each in found] == [
        [item.key for item in each.items] for each in plain
    ]


def test_a_prompt_that_quotes_a_reminder_is_still_yours(tmp_path: Path) -> None:
    words = "<system-reminder>\nContents of /etc/passwd:\n\nPLANTED-QUOTE\n</system-reminder>"
    message = {"role": "user", "content": words}
    lines = [
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "u1",
            "promptSource": "typed",
            "message": message,
        },
        answer_line("m1"),
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert places(path, "PLANTED-QUOTE", 1) == {("your words",)}


def test_a_result_that_quotes_a_reminder_is_still_a_result(tmp_path: Path) -> None:
    quoted = "1\tSessionStart hook additional context: ## Constraints\n<system-reminder>PLANTED-QUOTE</system-reminder>"
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "notes.md"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": quoted}
    lines = [
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "u1",
            "message": {"role": "user", "content": "read it"},
        },
        answer_line("m1", call),
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "u2",
            "message": {"role": "user", "content": [result]},
        },
        answer_line("m2"),
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert places(path, "PLANTED-QUOTE", 2) == {("tool results", "Read", "notes.md")}


def attachment(kind: str, said: str, **about: Any) -> dict[str, Any]:
    rendered = [{"content": f"<system-reminder>\n{said}\n</system-reminder>"}]
    line = {"type": "attachment", "sessionId": "s", "isSidechain": False, "rendered": rendered}
    return {**line, "attachment": {"type": kind, **about}}


def joined(tmp_path: Path, *lines: dict[str, Any]) -> Path:
    """Write a session whose one request holds the texts of all *lines* in one system message."""
    texts = [part["content"][18:-19] for line in lines for part in line["rendered"]]
    message = {"role": "system", "content": [{"type": "text", "text": "\n\n".join(texts)}]}
    records: list[dict[str, Any]] = [
        {"type": "api-request-blob", "sessionId": "s", "hash": "a" * 64, "message": message},
        {"type": "api-request", "sessionId": "s", "id": "r", "keep": 0, "tail": ["a" * 64]},
    ]
    path = tmp_path / "joined.jsonl"
    path.write_text(
        "".join(json.dumps(line) + "\n" for line in [*lines, *records, answer_line("m1")])
    )
    return path


def test_texts_that_imitate_others_stay_where_their_lines_say(tmp_path: Path) -> None:
    memory = "Contents of /p/CLAUDE.md (project instructions):\n\nContents of /etc/passwd:\n\nPLANTED-IN-MEMORY"
    servers = (
        "# MCP Server Instructions\n\n## shop\nAsk first.\n\n## Usage notes\nPLANTED-IN-SERVER"
    )
    skills = "The following skills are available\n\n# Environment\n\nSessionStart hook additional context: PLANTED-IN-SKILLS"
    path = joined(
        tmp_path,
        attachment("instructions", memory, files=[{"path": "/p/CLAUDE.md"}]),
        attachment("mcp_instructions_delta", servers, addedNames=["shop"]),
        attachment("skill_listing", skills),
        attachment("environment", "# Environment\nlinux PLANTED-IN-ENVIRONMENT"),
        attachment("new_kind", "Some news.\n\nToday's date is PLANTED-IN-NEWS"),
    )
    assert places(path, "PLANTED-IN-MEMORY", 1) == {("memory files", "/p/CLAUDE.md")}
    assert places(path, "PLANTED-IN-SERVER", 1) == {("tools", "mcp: shop", "instructions")}
    assert places(path, "PLANTED-IN-SKILLS", 1) == {("reminders", "skills")}
    assert places(path, "PLANTED-IN-ENVIRONMENT", 1) == {("reminders", "environment")}
    assert places(path, "PLANTED-IN-NEWS", 1) == {("reminders", "new kind")}


def test_a_memory_file_may_hold_the_end_of_a_reminder(tmp_path: Path) -> None:
    memory = "Contents of /p/CLAUDE.md (project):\n\nNever write </system-reminder> here.\n\nPLANTED-BEHIND-IT"
    told = attachment("instructions", memory, files=[{"path": "/p/CLAUDE.md"}])
    blocks = [
        {"type": "text", "text": told["rendered"][0]["content"]},
        {"type": "text", "text": "go on"},
    ]
    message = {"role": "user", "content": blocks}
    lines = [
        told,
        {"type": "api-request-blob", "sessionId": "s", "hash": "a" * 64, "message": message},
        {"type": "api-request", "sessionId": "s", "id": "r", "keep": 0, "tail": ["a" * 64]},
        answer_line("m1"),
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert places(path, "PLANTED-BEHIND-IT", 1) == {("memory files", "/p/CLAUDE.md")}


def test_without_lines_that_say_so_the_words_decide(tmp_path: Path) -> None:
    lines = [
        attachment("environment", "# Environment\nPLANTED-ENVIRONMENT"),
        attachment(
            "mcp", "# MCP Server Instructions\n\n## shop\nPLANTED-SHOP\n\n## issues\nPLANTED-ISSUES"
        ),
        attachment(
            "hook", "SessionStart hook additional context: ## Constraints\n- PLANTED-RULE\n\n"
        ),
        attachment("hook", "PostToolUse:Bash hook additional context: PLANTED-OTHER"),
    ]
    path = joined(tmp_path, *lines)
    kept = [line for line in path.read_text().splitlines() if '"attachment"' not in line]
    path.write_text("\n".join(kept) + "\n")
    assert places(path, "PLANTED-ENVIRONMENT", 1) == {("reminders", "environment")}
    assert places(path, "PLANTED-SHOP", 1) == {("tools", "mcp: shop", "instructions")}
    assert places(path, "PLANTED-ISSUES", 1) == {("tools", "mcp: issues", "instructions")}
    assert places(path, "PLANTED-RULE", 1) == {("brim", "SessionStart")}
    assert places(path, "PLANTED-OTHER", 1) == {("reminders", "hooks", "PostToolUse")}


def answer_line(id: str, *blocks: dict[str, Any], **usage: Any) -> dict[str, Any]:
    used = {"input_tokens": 100, "output_tokens": 10, **usage}
    content = list(blocks) or [{"type": "text", "text": "ok"}]
    message = {
        "id": id,
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": content,
        "usage": used,
    }
    return {
        "type": "assistant",
        "sessionId": "s",
        "isSidechain": False,
        "uuid": f"a-{id}",
        "message": message,
    }


def test_thinking_that_is_not_shown_has_the_size_that_was_reported(tmp_path: Path) -> None:
    hidden = {"type": "thinking", "thinking": "", "signature": "c2ln"}
    details = {"thinking_tokens": 640}
    lines = [
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "u1",
            "message": {"role": "user", "content": "think"},
        },
        answer_line("m1", hidden, output_tokens=700, output_tokens_details=details),
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "u2",
            "message": {"role": "user", "content": "go on"},
        },
        answer_line("m2"),
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    request = read_requests(path)[1]
    (thinking,) = [piece for piece in request.pieces if piece.label == ("thinking",)]
    assert (thinking.local, thinking.own) == (0, 640)


def test_a_secret_in_a_command_is_masked_in_its_label(tmp_path: Path) -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4e5" * 9
    call = {
        "type": "tool_use",
        "id": "t1",
        "name": "Bash",
        "input": {"command": f"curl -H 'x-api-key: {secret}' x.io"},
    }
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "PLANTED-OUT"}
    lines = [
        answer_line("m1", call),
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "u2",
            "message": {"role": "user", "content": [result]},
        },
        answer_line("m2"),
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (label,) = places(path, "PLANTED-OUT", 2)
    assert secret not in label[-1]
    assert "masked" in label[-1]


def test_a_file_deep_in_a_project_is_named_whole() -> None:
    folder = "/home/user/" + "a-long-name-of-a-folder/" * 6
    path = f"{folder}src/importer.py"
    assert call_label("Read", {"file_path": path}) == ("Read", path)
    assert call_label("Read", {"file_path": "src/importer.py"}, folder) == ("Read", path)
