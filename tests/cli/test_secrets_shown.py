"""What commands print about sessions has no secret of them, whatever line it stood in."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from tests.cli.conftest import Brim

SECRETS = ("Birch8Stone", "Tulip9River", "Maple7Cloud", "Cedar6Flame", "Aspen5Storm")
IN_PROMPT, IN_COMMAND, IN_RESULT, IN_THOUGHT, IN_ANSWER = SECRETS


def write_session(brim: Brim) -> None:
    """Write a session with a secret in each kind of line, which ends with a compaction."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(brim.cwd))
    path = brim.home / ".claude" / "projects" / slug / "s-1.jsonl"
    path.parent.mkdir(parents=True)
    begin = time.time() - 600
    with path.open("w", encoding="utf-8") as file:
        for number, line in enumerate(session_lines()):
            moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(begin + number))
            about = {"sessionId": "s-1", "cwd": str(brim.cwd), "timestamp": moment}
            file.write(json.dumps({"uuid": f"u{number}", **about, **line}) + "\n")


def session_lines() -> list[dict[str, Any]]:
    lines = [said(f"Always use the password: {IN_PROMPT} for the database. Never push.")]
    for number in range(3):
        call = f"call-{number}"
        command = {"command": f"PGPASSWORD={IN_COMMAND} psql -h db{number}"}
        blocks = [
            {"type": "thinking", "thinking": f"DB_PASSWORD={IN_THOUGHT}"},
            {"type": "text", "text": f"I use password={IN_ANSWER}"},
            {"type": "tool_use", "id": call, "name": "Bash", "input": command},
        ]
        failure = f"Exit code 1\nMYSQL_PWD={IN_RESULT}\n{'x' * 4_000}"
        result = {"tool_use_id": call, "type": "tool_result", "is_error": True, "content": failure}
        lines += [answered(number, blocks), said([result])]
    compaction = {"trigger": "auto", "preTokens": 160_000, "postTokens": 3_000}
    boundary = {"type": "system", "subtype": "compact_boundary", "compactMetadata": compaction}
    lines += [boundary, {**said("Summary: nothing."), "isCompactSummary": True}]
    return [*lines, answered(9, [{"type": "text", "text": "Go on?"}])]


def said(content: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}}


def answered(number: int, blocks: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"input_tokens": 9_000, "output_tokens": 50}
    message = {"id": f"m{number}", "model": "claude-sonnet-4-5", "role": "assistant"}
    answer = {**message, "content": blocks, "usage": usage}
    return {"type": "assistant", "requestId": f"r{number}", "message": answer}


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--json",
        "context",
        "context --json",
        "report --json",
        "report --html page.html --full",
        "memory lost",
        "memory lost --json",
        "memory lost --again",
        "usage --requests --json",
    ],
)
def test_no_secret_of_a_session_is_printed(brim: Brim, words: str) -> None:
    write_session(brim)
    ran = brim(*words.split())
    assert ran.code == 0
    shown = f"{ran.out}{ran.err}"
    page = brim.cwd / "page.html"
    if page.exists():
        shown += page.read_text(encoding="utf-8")
    assert shown
    assert not [secret for secret in SECRETS if secret in shown]
