"""What changed between two requests: what came, what left, and the first part that differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from brim.sessions.composition.composed_request import ComposedRequest, CompositionChange, compare
from brim.sessions.composition.reading import read_requests
from tests.sessions.composition.test_parts import DATA, answer_line


def names(change: CompositionChange) -> tuple[set[str], set[str]]:
    return {part.name for part in change.came}, {part.name for part in change.left}


def test_a_request_that_goes_on_breaks_no_cache() -> None:
    requests = read_requests(DATA / "claude_opus.jsonl")
    change = compare(requests[0], requests[1])
    assert (change.breaker, change.rewritten_tokens, change.left) == ((), 0, ())
    assert names(change)[0] == {"agent's words", "thinking", "tool results"}
    assert change.kept_tokens > 0


def test_a_compaction_begins_at_the_summary() -> None:
    requests = read_requests(DATA / "claude_opus.jsonl")
    change = compare(requests[7], requests[8])
    assert change.breaker == ("summary",)
    assert "summary" in names(change)[0]
    assert "your words" in names(change)[1]
    assert change.rewritten_tokens > 0


def session(tmp_path: Path, *turns: tuple[dict[str, Any], str, str]) -> list[ComposedRequest]:
    """Write a session whose requests have these tools, this memory file and this prompt."""
    lines: list[dict[str, Any]] = []
    for at, (tool, memory, prompt) in enumerate(turns):
        shape = {"system": [{"type": "text", "text": "You are an agent."}], "tools": [tool]}
        told = f"<system-reminder>\nContents of /p/CLAUDE.md (project instructions):\n\n{memory}\n</system-reminder>"
        blocks = [{"type": "text", "text": told}, {"type": "text", "text": prompt}]
        blob = {"role": "user", "content": blocks}
        about = {"sessionId": "s"}
        record = {
            "id": f"r{at}",
            "shapeHash": f"shape{at}",
            "tail": [f"{at}" * 64],
            "keep": 0,
            "params": {"model": "m"},
        }
        lines += [
            {"type": "api-request-shape", **about, "shapeHash": f"shape{at}", "shape": shape},
            {"type": "api-request-blob", **about, "hash": f"{at}" * 64, "message": blob},
            {"type": "api-request", **about, **record},
            {**answer_line(f"m{at}"), "requestRef": f"r{at}"},
        ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_requests(path)


TOOL = {"name": "Read", "description": "Reads a file.", "input_schema": {"type": "object"}}


def test_an_edited_memory_file_is_named_though_its_size_is_the_same(tmp_path: Path) -> None:
    one, two = session(
        tmp_path, (TOOL, "Use tabs here.", "Go on."), (TOOL, "Use pnpm here.", "Go on.")
    )
    change = compare(one, two)
    assert change.breaker == ("memory files", "/p/CLAUDE.md")
    assert names(change) == ({"memory files"}, {"memory files"})
    assert change.rewritten_tokens == two.tokens_of(two.items[-1].pieces[1:])


def test_an_edited_tool_breaks_everything(tmp_path: Path) -> None:
    other = {**TOOL, "description": "Reads a file, or a folder."}
    one, two = session(tmp_path, (TOOL, "Use tabs.", "Go on."), (other, "Use tabs.", "Go on."))
    change = compare(one, two)
    assert (change.breaker, change.kept_tokens) == (("tools", "Read"), 0)
    assert change.rewritten_tokens == two.tokens_of(
        piece for item in two.items[1:] for piece in item.pieces
    )


def test_what_only_left_from_the_end_is_a_difference_too(tmp_path: Path) -> None:
    one, two = session(tmp_path, (TOOL, "Use tabs.", "Go on."), (TOOL, "Use tabs.", ""))
    change = compare(one, two)
    assert change.breaker == ("your words",)
    assert (change.rewritten_tokens, names(change)) == (0, (set(), {"your words"}))


def test_without_a_part_the_rest_is_compared(tmp_path: Path) -> None:
    one, two = session(tmp_path, (TOOL, "Use tabs.", "Go on."), (TOOL, "Use pnpm.", "Go on."))
    assert compare(one, two, without="memory files").breaker == ()


def test_another_model_keeps_nothing(tmp_path: Path) -> None:
    lines = [
        {
            "type": "user",
            "sessionId": "s",
            "uuid": "u",
            "message": {"role": "user", "content": "hello there"},
        },
        answer_line("m1"),
        {
            **answer_line("m2"),
            "message": {**answer_line("m2")["message"], "model": "claude-haiku-4-5"},
        },
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    change = compare(*read_requests(path))
    assert (change.breaker, change.kept_tokens) == (("model",), 0)
    assert change.rewritten_tokens > 0
