"""Many hooks of one session at the same time: nothing is lost, nothing is there twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.hooks.sittings import Sitting


def start(sitting: Sitting, event: str, **data: object) -> subprocess.Popen[bytes]:
    """Start a hook as the client does, and do not wait for it."""
    sent = {
        "session_id": sitting.session,
        "transcript_path": str(sitting.transcript),
        "cwd": str(sitting.project),
        "hook_event_name": event,
        **data,
    }
    process = subprocess.Popen(
        [
            sys.executable,
            "-I",
            "-c",
            "from brim.hooks.process import main; main()",
            event,
            "claude",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=sitting.environ,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(sent).encode())
    process.stdin.close()
    return process


def test_hooks_at_the_same_time_write_everything_once(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    (sitting.home / "config.yaml").write_text('limits:\n  "*": [1000/day]\n', encoding="utf-8")
    started = []
    for at in range(6):
        sitting.used(f"m{at}", 1_000)
        sitting.called(f"t{at}", "Write", {"file_path": f"/p/{at}.py", "content": "x"})
        sitting.answered(f"t{at}", "ok")
        given = {"file_path": f"/p/{at}.py", "content": "x"}
        started.append(
            start(
                sitting,
                "PostToolUse",
                tool_name="Write",
                tool_input=given,
                tool_use_id=f"t{at}",
                tool_response={},
            )
        )
        started.append(start(sitting, "Stop", stop_hook_active=False))
    for process in started:
        assert (process.wait(timeout=300), process.stderr.read() if process.stderr else b"") == (
            0,
            b"",
        )
        if process.stdout:
            process.stdout.close()
        if process.stderr:
            process.stderr.close()
    for _ in range(2):
        sitting.hook("Stop")
    assert sorted(sitting.texts("artifact")) == [f"/p/{at}.py" for at in range(6)]
    sitting.limit("100/day")
    sitting.hook("Stop")
    assert sitting.spent() == 6 * 1_000 * 3
    numbers = [
        json.loads(line)["number"]
        for line in (sitting.context / "journal.jsonl").read_text().splitlines()
    ]
    assert numbers == sorted(set(numbers))
