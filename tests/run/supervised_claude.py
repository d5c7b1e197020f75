"""A program that speaks as Claude Code does with ``--input-format stream-json``: words in a turn
say what it does.

``BIG`` fills the window, ``COST=0.5`` costs that, ``WRITE=a.py`` writes a file, ``FAIL`` is an
error of the API, ``DIE`` ends the process, ``KILLED`` by a signal, ``ORPHAN`` too and leaves
another, ``NOISE`` writes what is no JSON, ``PAUSE`` takes a moment, ``RETRY`` reaches its model
only after some attempts, ``SLOW`` waits to be interrupted, ``STUCK`` does not obey, ``LATE`` adds
the result of an agent in the background. ``TOKENS=9000`` takes so many, ``AGENT`` in a sub-agent,
and ``LONG`` works on after that until it is interrupted.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from typing import Any

MODEL = os.environ.get("FAKE_MODEL") or "claude-sonnet-4-5"


def main() -> None:
    arguments = sys.argv[1:]
    session = option(arguments, "--resume") or "5e55a000-0000-4000-8000-000000000001"
    cap = float(option(arguments, "--max-budget-usd") or "inf")
    log({"argv": arguments, "run": os.environ.get("BRIM_RUN_ID", "")})
    carried = LAST[0] = stored(session)
    spent, turn = 0.0, len(os.listdir(os.environ["FAKE_FOLDER"])) * 100
    for line in sys.stdin:
        log({"line": line})
        given = json.loads(line)
        if given["type"] != "user":
            continue
        turn += 1
        content = given["message"]["content"]
        text = (
            content if isinstance(content, str) else "\n".join(block["text"] for block in content)
        )
        if text.startswith("/compact"):
            spent += 0.01
            compact(session, carried + spent)
            continue
        say(type="system", subtype="init", session_id=session, model=MODEL, cwd=os.getcwd())
        if spent >= cap:
            result(
                session, carried + spent, subtype="error_max_budget_usd", is_error=True, **EXHAUSTED
            )
            continue
        spent += act(text, session, turn)
        store(session, carried + spent)
        if "FAIL" in text:
            result(
                session,
                carried + spent,
                is_error=True,
                result="API Error: 500",
                terminal_reason="api_error",
            )
        elif spent >= cap:
            result(
                session, carried + spent, subtype="error_max_budget_usd", is_error=True, **EXHAUSTED
            )
        else:
            result(
                session,
                carried + spent,
                result=f"did: {text[-40:]}",
                terminal_reason="completed",
                num_turns=1,
            )
        if "LATE" in text:
            result(
                session,
                carried + spent,
                result="a late word",
                terminal_reason="completed",
                num_turns=1,
            )


EXHAUSTED: dict[str, Any] = {
    "terminal_reason": "budget_exhausted",
    "errors": ["Reached maximum budget"],
}


def act(text: str, session: str, turn: int) -> float:
    """Do what the words of *text* say, and return what it costs."""
    if "DIE" in text:
        sys.exit(3)
    if "KILLED" in text:
        os.kill(os.getpid(), 9)
    if "ORPHAN" in text:
        orphan = subprocess.Popen(["sleep", "3600"], stderr=subprocess.DEVNULL)
        with open("orphan", "w", encoding="utf-8") as file:
            file.write(str(orphan.pid))
        sys.exit(0)
    if "NOISE" in text:
        sys.stdout.buffer.write(
            b"\xff\xfe not json\n[1, 2]\n{half\n" + b'{"pad":"' + b"y" * 3_000_000 + b'"}\n'
        )
        sys.stdout.buffer.flush()
    if "SLOW" in text or "STUCK" in text:
        say(type="system", subtype="status", status="requesting", session_id=session)
        for line in sys.stdin:
            log({"line": line})
            if "SLOW" in text and json.loads(line)["type"] == "control_request":
                result(
                    session,
                    0.0,
                    subtype="error_during_execution",
                    is_error=True,
                    terminal_reason="aborted_tools",
                )
                sys.exit(0)
        time.sleep(300)
    for attempt in range(1, 6 if "RETRY" in text else 1):
        why = {"attempt": attempt, "max_retries": 10, "error_status": 529, "error": "overloaded"}
        say(type="system", subtype="api_retry", session_id=session, **why)
    time.sleep(1.0 if "PAUSE" in text else 0.0)
    used = 170_000 if "BIG" in text else 10_000
    taken = re.search(r"TOKENS=(\d+)", text)
    usage = {
        "input_tokens": int(taken[1]) if taken else 10,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": used - 10,
    }
    message = {
        "id": f"msg_{turn}",
        "role": "assistant",
        "model": MODEL,
        "usage": {**usage, "output_tokens": 1},
    }
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "working"}]
    for number, path in enumerate(re.findall(r"WRITE=(\S+)", text)):
        given = {"file_path": path, "content": "x"}
        blocks.append(
            {"type": "tool_use", "id": f"toolu_{turn}_{number}", "name": "Write", "input": given}
        )
    for block in blocks:
        say(
            type="assistant",
            message={**message, "content": [block]},
            session_id=session,
            parent_tool_use_id="toolu_agent" if "AGENT" in text else None,
            request_id=f"req_{turn}",
        )
    for line in sys.stdin if "LONG" in text else ():
        log({"line": line})
        if json.loads(line)["type"] == "control_request":
            result(
                session,
                0.0,
                subtype="error_during_execution",
                is_error=True,
                terminal_reason="aborted_tools",
            )
            sys.exit(0)
    found = re.search(r"COST=([\d.]+)", text)
    return float(found[1]) if found else 0.01


def compact(session: str, total: float) -> None:
    how = os.environ.get("FAKE_COMPACT", "")
    if how == "silent":
        return
    say(type="system", subtype="status", status="compacting", session_id=session)
    if how == "refuse":
        why = {"compact_result": "failed", "compact_error": "no compaction now"}
        say(type="system", subtype="status", status=None, session_id=session, **why)
    else:
        about = {"trigger": "manual", "pre_tokens": 170_000, "post_tokens": 3_000}
        say(type="system", subtype="compact_boundary", session_id=session, compact_metadata=about)
    result(session, total, result="", num_turns=0)


LAST = [0.0]
"""What the session had cost at the last result; before the first, what it had cost before this
process."""


def result(session: str, total: float, **fields: Any) -> None:
    since = {MODEL: {"costUSD": total - LAST[0]}}
    LAST[0] = total
    windows = {
        MODEL: {"contextWindow": int(os.environ.get("FAKE_WINDOW", "200000")), "costUSD": total}
    }
    base = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "session_id": session,
        "num_turns": 1,
    }
    say(
        **{
            **base,
            "total_cost_usd": total,
            "modelUsage": windows,
            "model_usage_since_last_result": since,
            **fields,
        }
    )


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def log(entry: dict[str, Any]) -> None:
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def stored(session: str) -> float:
    try:
        with open(os.path.join(os.environ["FAKE_FOLDER"], session), encoding="utf-8") as file:
            return float(file.read())
    except OSError:
        return 0.0


def store(session: str, total: float) -> None:
    with open(os.path.join(os.environ["FAKE_FOLDER"], session), "w", encoding="utf-8") as file:
        file.write(str(total))


def option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1] if name in arguments else ""


if __name__ == "__main__":
    main()
