"""What is replayed: each scenario takes its steps in a world of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.recorded.sitting import work
from tests.recorded.world import DATA, HOME, PROJECT, World

AGENTS = ("claude", "codex", "gemini")
CLAUDE_SESSIONS = f"{HOME}/.claude/projects/-home-user-shop"
CODEX_SESSIONS = f"{HOME}/.codex/sessions/2026/11/15"
GEMINI_SESSIONS = f"{HOME}/.gemini/tmp/shop/chats"
COMPACTED_SESSION = "8eeb040d-b0c0-4396-a084-8ec7e7627d5b"
PARENT_SESSION = "74228010-2794-49f1-ae03-2e286d228835"
SUB_AGENT = f"{CLAUDE_SESSIONS}/{PARENT_SESSION}/subagents/agent-a4f00973799e5c641"
SESSIONS = {
    "claude_transcript_tools_then_compact": f"{CLAUDE_SESSIONS}/{COMPACTED_SESSION}.jsonl",
    "claude_transcript_tui_subagent_model_switch_compact": f"{CLAUDE_SESSIONS}/{PARENT_SESSION}.jsonl",
    "claude_transcript_subagent": f"{SUB_AGENT}.jsonl",
    "codex_rollout_tools": f"{CODEX_SESSIONS}/rollout-2026-11-15T06-44-11-01a1ddf2.jsonl",
    "codex_rollout_auto_compact_head": f"{CODEX_SESSIONS}/rollout-2026-11-15T06-50-02-01a1ddf3.jsonl",
    "gemini_transcript": f"{GEMINI_SESSIONS}/session-2026-11-15T06-47-66b17cc1.jsonl",
}
"""Recordings of real sessions, and where the agent keeps them."""
COPILOT_STATE = f"{HOME}/.copilot/session-state"
COPILOT_SESSIONS = {
    "copilot_events_tools": f"{COPILOT_STATE}/5aa1c3ec-517c-473a-b696-963897231655/events.jsonl",
    "copilot_events_auto_compact": f"{COPILOT_STATE}/6681cc45-fa39-4eac-9c22-1a9843fa7975/events.jsonl",
    "copilot_events_manual_compact": f"{COPILOT_STATE}/84715cd1-96bd-4b27-96ce-7272c1c17454/events.jsonl",
    "copilot_events_subagent": f"{COPILOT_STATE}/67fdc5df-7643-47c8-9d5e-eb30dfa99629/events.jsonl",
}
QWEN_PROJECT = f"{HOME}/.qwen/projects/-home-user-shop/chats"
QWEN_SESSIONS = {
    "qwen_chat_tools": f"{QWEN_PROJECT}/5811c9a3-9cb5-4ce5-89c8-7e93c4d5dd1d.jsonl",
    "qwen_chat_auto_compact": f"{QWEN_PROJECT}/4172e083-15e6-46d1-8125-9aa005f94668.jsonl",
    "qwen_chat_manual_compact": f"{QWEN_PROJECT}/03d5e1d9-f838-4a5a-8294-5c542e52b7f2.jsonl",
    "qwen_chat_with_subagent": f"{QWEN_PROJECT}/f2c3ea4f-2983-4201-9d85-a1c45723c92f.jsonl",
}
MODELS = {
    "messages": "gpt-4o",
    "agent": "gpt-4o",
    "claude": "claude-sonnet-4-5",
    "responses": "gpt-5",
    "gemini": "gemini-2.5-pro",
}
"""The histories, and a model for each."""
RULES = {
    "Use uv, never pip.": [],
    "Use pnpm, not npm.": [],
    "Never force-push to main; open a merge request instead.": [],
    "Answer in British English.": [],
    "In tests, use pytest fixtures, no setUp methods.": [],
    "In Python files, use pathlib instead of os.path.": [],
    "Run 'just fmt' before you commit.": [],
    "Keep functions below 40 lines.": ["--when", "file=src/**"],
    "Never apply Terraform to production yourself.": ["--block", "terraform apply"],
}
"""Rules of the user, and options of ``brim learn``."""
GARBAGE: list[object] = [
    "",
    "{",
    "null",
    "[]",
    '"text"',
    "12",
    "\xff\xfe\x00",
    '{"session_id": "\\ud83d", "prompt": "half \\ud83d of it"}',
    {},
]


def lines(name: str) -> list[dict[str, Any]]:
    """Return the lines of a file of ``data``."""
    text = (DATA / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def learn_rules(world: World) -> None:
    """Teach brim the rules."""
    for rule, options in RULES.items():
        world.brim("learn", rule, "--user", "--yes", *options, keep=False)


def tape(agent: str) -> Callable[[World], None]:
    """Every event that the real client sent."""

    def play(world: World) -> None:
        learn_rules(world)
        for event in lines("hooks.jsonl"):
            if event["agent"] == agent:
                world.hook(agent, event["event"], event["data"], **event["environ"])

    return play


def tape_with_sessions(agent: str, paths: dict[str, str]) -> Callable[[World], None]:
    """Every event that an agent sent, with the files of its sessions."""

    def play(world: World) -> None:
        learn_rules(world)
        copy_sessions(world, paths)
        for event in lines(f"{agent}_hooks.jsonl"):
            world.hook(agent, event["event"], event["data"], **event["environ"])

    return play


def copy_sessions(world: World, paths: dict[str, str]) -> None:
    """Put recorded sessions where their agent keeps them."""
    for name, path in paths.items():
        world.copy(f"sessions/{name}.jsonl", path)


def sessions_of(paths: dict[str, str]) -> Callable[[World], None]:
    """usage, report, context and lost, over an agent's recorded sessions."""

    def play(world: World) -> None:
        copy_sessions(world, paths)
        for group in ("day", "model", "session"):
            world.brim("usage", "--utc", "--by", group, "--json")
        world.brim("report", "--json")
        for name, path in paths.items():
            world.brim("context", world.to_here(path), "--json", name=f"context of {name}")
            world.brim("memory", "lost", world.to_here(path), "--json", name=f"lost in {name}")

    return play


def session_of_work(agent: str) -> Callable[[World], None]:
    """A whole session of one agent; see ``sitting.py``."""

    def play(world: World) -> None:
        learn_rules(world)
        work(world, agent)

    return play


def garbage(world: World) -> None:
    """What no client should send: brim says nothing useful, and never fails."""
    prompt = {
        "session_id": "s",
        "cwd": PROJECT,
        "hook_event_name": "UserPromptSubmit",
        "prompt": "run the tests",
    }
    odd: list[object] = [
        *GARBAGE,
        {**prompt, "session_id": None},
        {**prompt, "session_id": "../../etc/passwd"},
        {**prompt, "session_id": "x" * 4_000},
        {**prompt, "cwd": 7},
        {**prompt, "cwd": "/nowhere/at/all"},
        {**prompt, "prompt": {"text": "run the tests"}},
        {**prompt, "transcript_path": f"{HOME}/no-such-file"},
        {**prompt, "transcript_path": PROJECT},
        {**prompt, "hook_event_name": "NoSuchEvent"},
        {**prompt, "unknown": [[[[[]]]]], "prompt": "\x00\x1b[31mtests"},
    ]
    tool = {
        "session_id": "s",
        "cwd": PROJECT,
        "tool_name": "Edit",
        "tool_input": "no",
        "tool_response": [1, None],
    }
    learn_rules(world)
    for agent, event in (
        ("claude", "UserPromptSubmit"),
        ("codex", "UserPromptSubmit"),
        ("gemini", "BeforeAgent"),
    ):
        for sent in odd:
            world.hook(agent, event, sent)
    for agent, event in (
        ("claude", "NoSuchEvent"),
        ("nobody", "Stop"),
        ("", ""),
        ("gemini", "Stop"),
    ):
        world.hook(agent, event, prompt)
    for event in (
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostCompact",
        "Stop",
        "SessionEnd",
    ):
        world.hook("claude", event, tool)
    world.hook("claude", "UserPromptSubmit", prompt, BRIM_DISABLE="1")


def statusline(world: World) -> None:
    """The status line: what real clients sent, how full it gets, and odd input."""
    recorded = lines("statusline.jsonl")
    for sent in recorded:
        world.brim(
            "statusline", "--json", stdin=world.to_here(json.dumps(sent)), name="statusline --json"
        )
        world.brim("statusline", stdin=world.to_here(json.dumps(sent)), name="statusline")
    newest = recorded[-1]
    for tokens in (0, 139_000, 141_000, 160_000, 199_999, 250_000):
        window = {
            **newest["context_window"],
            "current_usage": {"input_tokens": tokens, "output_tokens": 5},
            "context_window_size": 200_000,
            "total_input_tokens": tokens,
        }
        text = world.to_here(json.dumps({**newest, "context_window": window}))
        world.brim("statusline", "--json", stdin=text, name=f"statusline of {tokens} tokens")
    for odd in ("", "{", "[]", json.dumps({"model": 7}), json.dumps({**recorded[0], "cost": None})):
        world.brim("statusline", "--json", stdin=world.to_here(odd), name="statusline of odd input")


def sessions(world: World) -> None:
    """usage, report, context and lost, over recorded sessions."""
    for name, path in SESSIONS.items():
        world.copy(f"sessions/{name}.jsonl", path)
    world.copy("sessions/claude_transcript_subagent.meta.json", f"{SUB_AGENT}.meta.json")
    world.brim("usage", "--utc", "--json")
    for group in ("model", "session", "project", "day"):
        world.brim("usage", "--utc", "--by", group, "--json")
    for agent in AGENTS:
        world.brim("usage", "--utc", "--agent", agent, "--json")
    world.brim("report", "--json")
    world.brim("report", "--project", "shop", "--json")
    for name, path in SESSIONS.items():
        world.brim("context", world.to_here(path), "--json", name=f"context of {name}")
    for name, path in SESSIONS.items():
        world.brim("memory", "lost", world.to_here(path), "--json", name=f"lost in {name}")


def histories(world: World) -> None:
    """Receipts of fit, check and repair, over histories of every format."""
    for path in sorted((DATA / "histories").glob("*.json")):
        world.copy(f"histories/{path.name}", f"{PROJECT}/{path.name}")
    for name, model in MODELS.items():
        for strategy in ("fifo", "sliding", "summarize", "watermark", "cap"):
            target = "120" if name == "messages" else "200"
            options = ["--model", model, "--tokens", target, "--strategy", strategy, "--json"]
            world.brim("dev", "fit", f"{name}.json", *options, name=f"fit {name} {strategy}")
        world.brim("dev", "check", f"{name}.json", "--json", name=f"check {name}")
        world.brim("dev", "repair", f"{name}.json", "--dry-run", "--json", name=f"repair {name}")
    # The default strategy was fifo when this was recorded.
    tools = ["--tools", "tools.json", "--tokens", "300", "--strategy", "fifo"]
    world.brim(
        "dev", "fit", "agent.json", "--model", "gpt-4o", *tools, "--json", name="fit with tools"
    )
    world.brim("dev", "check", "broken.json", "--json", name="check broken")
    world.brim(
        "dev",
        "check",
        "broken.json",
        "--provider",
        "openai",
        "--json",
        name="check broken for openai",
    )
    world.brim("dev", "repair", "broken.json", "--json", name="repair broken")
    world.brim(
        "dev",
        "repair",
        "broken.json",
        "--restore-calls",
        "--json",
        name="repair broken, restore calls",
    )
    for bad in ("[]", "{}", "[1, 2]", "not JSON", "[" * 500):
        world.brim("dev", "check", "-", "--json", stdin=bad, name=f"check {bad[:10]}")
        world.brim(
            "dev",
            "fit",
            "-",
            "--model",
            "gpt-4o",
            "--tokens",
            "50",
            "--strategy",
            "fifo",
            "--json",
            stdin=bad,
            name=f"fit {bad[:10]}",
        )


def mcp(world: World) -> None:
    """The tools and the resource of the MCP server."""
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}] * 3
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list", {"query": "uv"}),
        ("count", {"text": "Hello world", "model": "gpt-4o"}),
        ("budget", {"messages": messages, "model": "gpt-4o"}),
        ("fit", {"messages": messages, "model": "gpt-4o", "target": 5}),
        ("status", {}),
        ("no_such_tool", {}),
        ("why", {"id": "no-such-rule"}),
    ]
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    }
    requests: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/list"},
        {"id": 2, "method": "resources/list"},
        {"id": 3, "method": "resources/templates/list"},
    ]
    for number, (name, arguments) in enumerate(calls, 4):
        params = {"name": name, "arguments": arguments}
        requests.append({"id": number, "method": "tools/call", "params": params})
    requests.append({"id": 90, "method": "resources/read", "params": {"uri": RESOURCE}})
    learn_rules(world)
    world.talk(*requests)


RESOURCE = "brim://behaviors/active"


def installing(world: World) -> None:
    """init, then uninstall, for each agent: its settings afterwards, byte for byte."""
    claude = """{
  "model": "opus",
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
  "statusLine": {"type": "command", "command": "echo mine"}
}
"""
    settings = {
        f"{HOME}/.claude/settings.json": claude,
        f"{HOME}/.codex/config.toml": '# mine\nmodel = "gpt-5"\n\n[tui]\ntheme = "dark"\n',
        f"{HOME}/.gemini/settings.json": '{\n  // mine\n  "theme": "Dark",\n}\n',
        f"{HOME}/.config/opencode/opencode.json": '{"theme": "system"}\n',
    }
    for path, text in settings.items():
        world.write(path, text)
    brim = f"{HOME}/.brim"
    before = world.files(without=brim)
    for agent in (*AGENTS, "opencode"):
        world.brim("init", "--agent", agent, "--yes", "--json", keep=False)
        world.answers[f"settings of {agent} with brim"] = world.files(without=brim)
        world.brim("uninstall", "--agent", agent, "--json", keep=False)
        world.answers[f"settings of {agent} are as before"] = world.files(without=brim) == before


SCENARIOS: dict[str, Callable[[World], None]] = {
    **{f"tape-{agent}": tape(agent) for agent in AGENTS},
    **{f"work-{agent}": session_of_work(agent) for agent in AGENTS},
    "tape-copilot": tape_with_sessions("copilot", COPILOT_SESSIONS),
    "sessions-copilot": sessions_of(COPILOT_SESSIONS),
    "tape-qwen": tape_with_sessions("qwen", QWEN_SESSIONS),
    "sessions-qwen": sessions_of(QWEN_SESSIONS),
    "garbage": garbage,
    "statusline": statusline,
    "sessions": sessions,
    "histories": histories,
    "mcp": mcp,
    "installing": installing,
}
