"""Every command of brim 0.1 by the name that it had then: what works, what is answered with no, and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = "tests/contract/data"
INPUTS = sorted(path.name for path in (Path(__file__).parent / "data" / "inputs").iterdir())
SHOP = "/home/user/shop"

Step = dict[str, Any]


def brim(*words: str, **more: Any) -> Step:
    """A command."""
    return {"do": "brim", "words": list(words), **more}


def said(*words: str, **more: Any) -> list[Step]:
    """A command twice: for people, and with ``--json``."""
    return [brim(*words, **more), brim(*words, "--json", **more)]


def baseline() -> Step:
    """What is there before this step is not written down."""
    return {"do": "baseline"}


def rules(*, trusted: bool = True) -> list[Step]:
    """Rules of the user and of the project, with and without conditions."""
    return [
        {"do": "copy", "source": f"{HERE}/user_rules.jsonl", "path": "/home/user/rules.jsonl"},
        {"do": "copy", "source": f"{HERE}/project_rules.jsonl", "path": f"{SHOP}/.brim/behaviors.jsonl"},
        brim("import", "--user", "--yes", "/home/user/rules.jsonl"),
        brim("import", "--yes"),
        *([brim("trust", "--yes")] if trusted else []),
        baseline(),
    ]


def inputs() -> list[Step]:
    """The files that commands are given."""
    return [
        {"do": "copy", "source": f"{HERE}/inputs/{name}", "path": f"{SHOP}/{name.removesuffix('.txt')}"}
        for name in INPUTS
    ]


def wrong(command: str, *more: list[str]) -> list[Step]:
    """Help, and what is wrong usage of a command."""
    return [brim(command, "--help"), brim(command, "--no-such-option"), *(brim(command, *words) for words in more)]


def general() -> list[Step]:
    """The command line itself."""
    return [
        brim(),
        brim("--help"),
        brim("--version"),
        brim("no-such-command"),
        brim("--no-such-option"),
        *said("completion", "bash"),
        brim("completion", "zsh"),
        brim("completion", "fish"),
        *wrong("completion", [], ["tcsh"]),
    ]


def counting() -> list[Step]:
    """count, budget, models."""
    return [
        *inputs(),
        baseline(),
        *said("count", "Hello world"),
        *said("count", "Hello world", "--model", "gpt-4o"),
        *said("count", "notes.md", "import.py", "--model", "claude-sonnet-4-5"),
        brim("count", "--json", "--model", "gpt-5", stdin="Häuser, 你好, 🙂\n"),
        brim("count", "-", "--json", "--mode", "approximate", stdin="text"),
        brim("count", ".", "--json", "--model", "gemini-2.5-pro"),
        *said("count", "Hello world", "--max", "1"),
        brim("count", "Hello world", "--max", "5", "--json"),
        *wrong("count", ["x", "--mode", "odd"], ["x", "--max", "many"], ["x", "--model", "no-such-model", "--json"]),
        *said("budget", "--model", "gpt-4o"),
        *said("budget", "--model", "claude-sonnet-4-5", "--messages", "messages.json", "--directive", "Be brief."),
        brim(
            "budget", "--model", "gpt-4o", "--tools", "tools.json", "--max-output", "500", "--window", "9000", "--json"
        ),
        *said("budget", "--model", "gpt-4o", "--messages", "messages.json", "--window", "300"),
        brim("budget", "--json"),
        *wrong(
            "budget", ["--messages", "gone.json", "--model", "gpt-4o"], ["--model", "gpt-4o", "--messages", "notes.md"]
        ),
        *said("models", "gpt-4o"),
        brim("models", "gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "--json"),
        brim("models", "claude-opus-4*", "--json"),
        *said("models", "no-such-model"),
        *wrong("models"),
    ]


def histories() -> list[Step]:
    """fit, check, repair, assemble."""
    steps = [*inputs(), baseline()]
    for file, target in (("messages.json", "120"), ("agent.json", "500")):
        for strategy in ("fifo", "sliding", "summarize", "watermark", "cap"):
            words = ["fit", file, "--model", "gpt-4o", "--target", target, "--strategy", strategy]
            steps += said(*words)
    return [
        *steps,
        brim("fit", "messages.json", "--model", "gpt-4o"),
        brim(
            "fit",
            "-",
            "--model",
            "claude-sonnet-4-5",
            "--target",
            "1",
            "--json",
            stdin='[{"role":"user","content":"Hi"}]',
        ),
        brim("fit", "messages.json", "--model", "gpt-4o", "--target", "90", "--pin", "1", "--fill", "--json"),
        brim("fit", "messages.json", "--model", "gpt-4o", "--tools", "tools.json", "--target", "300", "--json"),
        *wrong("fit", [], ["gone.json"], ["notes.md"], ["messages.json", "--strategy", "odd"], ["-"]),
        *said("check", "messages.json"),
        *said("check", "broken.json"),
        *said("check", "claude.jsonl"),
        brim("check", "broken.json", "--provider", "openai", "--json"),
        brim("check", "-", "--json", stdin="[]"),
        *wrong("check", [], ["gone.json"], ["notes.md"]),
        *said("repair", "broken.json"),
        *said("repair", "broken.json", "--dry-run"),
        *said("repair", "broken.json", "--restore-calls"),
        *said("repair", "messages.json"),
        brim("repair", "claude.jsonl", "--dry-run", "--json"),
        brim("repair", "broken.json", "--in-place", "--json"),
        brim("repair", "broken.json", "--dry-run", "--json"),
        *wrong("repair", [], ["gone.json"], ["claude.jsonl"]),
        *said("assemble", "--config", "memory.yaml"),
        brim("assemble", "--config", "memory.yaml", "--messages"),
        brim("assemble", "--config", "memory.yaml", "--model", "claude-sonnet-4-5", "--strategy", "cap", "--json"),
        brim("assemble", "--config", "-", "--json", stdin="model: gpt-4o\ncurrent_message: Hi\n"),
        brim("assemble", "--config", "-", "--json", stdin="model: gpt-4o\nno_such_key: 1\n"),
        brim(
            *("assemble", "--config", "-", "--json"),
            stdin="model: gpt-4o\nmemory: {max_working_memory_tokens: 10}\nsystem_prompt: " + "long " * 50 + "\n",
        ),
        *wrong("assemble", [], ["--config", "gone.yaml"]),
    ]


def told() -> list[Step]:
    """prompt, plan, activate, active, why."""
    here = ["--file", "tests/test_app.py", "--prompt", "run the tests"]
    return [
        *rules(),
        *said("prompt"),
        *said("prompt", "--tiered", "--token-budget", "200", *here),
        brim("prompt", "--format", "xml", "--json", "--task", "git"),
        brim("prompt", "--format", "plain", "--tiered", "--model", "claude-sonnet-4-5", "--json", *here),
        *said("prompt", "--token-budget", "5"),
        *wrong("prompt", ["--token-budget", "few"], ["--set", "novalue"]),
        *said("plan", *here),
        *(brim("plan", "--strategy", each, "--token-budget", "150", "--json", *here) for each in ("level", "optimal")),
        brim("plan", "--fill", "--max-chars", "600", "--language", "python", "--json"),
        brim("plan", "--branch", "release/2", "--environment", "ci", "--command", "git push", "--set", "a=b", "--json"),
        *said("plan", "--token-budget", "50..250..50", *here),
        *said("plan", "--token-budget", "5"),
        *wrong("plan", ["--token-budget", "9..1"], ["--format", "odd"]),
        *said("activate", *here),
        brim("activate", "--session", "s1", "--event", "start", "--json"),
        brim("activate", "--session", "s1", "--json", *here),
        brim("activate", "--session", "s1", "--json", *here),
        brim("activate", "--session", "s1", "--event", "tool", "--command", "pytest", "--json"),
        brim("activate", "--session", "s1", "--agent", "a2", "--json", "--prompt", "deploy the release"),
        brim("activate", "--session", "s1", "--event", "compact", "--json"),
        brim("activate", "--session", "s1", "--event", "resume", "--json"),
        brim("activate", "--session", "s1", "--event", "clear", "--token-budget", "5", "--json"),
        *wrong("activate", ["--event", "odd"], ["--session", ""]),
        *said("active", *here),
        brim("active", "--all", "--json", *here),
        brim("active", "--json", "--prompt", "-", stdin="write a migration"),
        *wrong("active"),
        *said("why", "use-pathlib", "--file", "src/app.py"),
        brim("why", "use-uv", "--token-budget", "100", "--json"),
        brim("why", "never-force", "--prompt", "commit it", "--json"),
        *wrong("why", [], ["no-such-rule"], ["b-"]),
        brim("activate", "--session", "s2", "--json", *here, cwd="."),
        brim("trust", "--remove", "--json"),
        brim("activate", "--session", "s3", "--json", *here),
        brim("plan", "--json", *here),
    ]


def learned() -> list[Step]:
    """learn, list, show, edit, feedback, review, connect, forget, unforget, merge, dedupe, validate, stats."""
    editor = "import sys, pathlib\npath = pathlib.Path(sys.argv[-1])\ntext = path.read_text()\n"
    swap = "path.write_text(text.replace('Use uv, never pip.', 'Use uv, and never pip.'))\n"
    return [
        *said("learn", "--right", "Use uv, never pip.", "--wrong", "pip install x", "--file", "setup.py", "--user"),
        brim("learn", "--right", "Never push to main.", "--kind", "constraint", "--json"),
        brim(
            "learn",
            "--right",
            "-",
            "--when",
            "language=python",
            "--when",
            "file=tests/**",
            "--json",
            stdin="Use fixtures.",
        ),
        brim("learn", "--right", "Never push to main!", "--json"),
        brim("learn", "--right", "Never push to main!", "--force-new", "--json"),
        brim(
            "learn",
            "--right",
            "Do push to main.",
            "--name",
            "do-push",
            "--tags",
            "git,push",
            "--priority",
            "3",
            "--json",
        ),
        brim("learn", "--right", "The key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789.", "--json"),
        brim("learn", "--right", "Write short commits.", "--summary", "Short.", "--task", "git", "--user", "--json"),
        brim("learn", "--right", "Outside of a project.", "--json", cwd="."),
        *wrong("learn", [], ["--right", ""], ["--right", "x", "--kind", "odd"], ["--right", "x", "--when", "y"]),
        *said("list"),
        brim("list", "push", "--kind", "constraint", "--json"),
        brim("list", "--scope", "user", "--sort", "new", "--json"),
        brim("list", "--tag", "git", "--status", "all", "--json"),
        *said("list", "no-such-rule"),
        *wrong("list", ["--sort", "odd"]),
        *said("show", "use-uv-never-pip"),
        *wrong("show", [], ["no-such-rule"], ["b-"]),
        {"do": "write", "path": "/home/user/swap.py", "text": editor + swap},
        {"do": "write", "path": "/home/user/break.py", "text": editor + "path.write_text('kind: odd\\n')\n"},
        brim("edit", "use-uv-never-pip", "--json", EDITOR="python3 /home/user/swap.py", TMPDIR="/home/user"),
        brim("edit", "use-uv-never-pip", "--json", EDITOR="true", TMPDIR="/home/user"),
        brim("edit", "use-uv-never-pip", "--json", EDITOR="false", TMPDIR="/home/user"),
        brim("edit", "use-uv-never-pip", EDITOR="python3 /home/user/break.py", TMPDIR="/home/user/shop"),
        *wrong("edit", [], ["no-such-rule"]),
        *said("feedback", "use-uv", "confirmed"),
        brim("feedback", "use-uv", "overridden", "--note", "the image has only pip", "--json"),
        *wrong("feedback", [], ["use-uv"], ["use-uv", "odd"], ["no-such-rule", "confirmed"]),
        *said("connect", "do-push", "conflicts", "never-push-to-main"),
        brim("connect", "do-push", "requires", "use-fixtures", "--weight", "0.5", "--json"),
        brim("connect", "use-fixtures", "requires", "do-push", "--json"),
        *said("connect", "do-push", "conflicts", "never-push-to-main", "--remove"),
        *wrong(
            "connect",
            [],
            ["do-push", "odd", "use-uv"],
            ["do-push", "requires", "gone"],
            ["do-push", "requires", "do-push"],
        ),
        *said("forget", "do-push", "--reason", "no more"),
        brim("list", "--status", "forgotten", "--json"),
        *said("unforget", "do-push"),
        *wrong("forget", [], ["no-such-rule"]),
        *wrong("unforget", [], ["no-such-rule"], ["use-uv"]),
        brim("learn", "--right", "Always format with ruff format.", "--name", "a-ruff", "--force-new"),
        brim("learn", "--right", "Format code with ruff format always.", "--name", "b-ruff", "--force-new"),
        *said("merge", "a-ruff", "b-ruff", "--dry-run"),
        brim("merge", "a-ruff", "b-ruff", stdin="n\n"),
        brim("merge", "a-ruff", "b-ruff", "--into", "b-ruff", "--yes", "--json"),
        *wrong("merge", [], ["a-ruff"], ["use-uv", "use-uv", "--yes"], ["use-uv", "gone", "--yes"]),
        brim("learn", "--right", "Run the linter before each commit.", "--name", "lint-1", "--force-new"),
        brim("learn", "--right", "Run the linter before every commit.", "--name", "lint-2", "--force-new"),
        *said("dedupe", "--dry-run"),
        brim("dedupe", "--threshold", "0.6", stdin="n\n"),
        brim("dedupe", "--threshold", "0.6", "--yes", "--json"),
        *wrong("dedupe", ["--threshold", "7"]),
        *said("validate"),
        brim("validate", "--fix", "--yes", "--json"),
        *wrong("validate"),
        *said("stats"),
        brim("stats", "--top", "2", "--model", "claude-sonnet-4-5", "--json"),
        *wrong("stats", ["--top", "some"]),
        brim("trust", "--yes"),
        mcp(("learn", {"right": "Run make before a commit."}), ("learn", {"right": "Guess the password."})),
        *said("review"),
        *said("review", "accept", "run-make-before", "--kind", "constraint"),
        brim("review", "reject", "guess-password", "--reason", "no", "--json"),
        *said("review", "list"),
        *wrong("review", ["accept"], ["accept", "no-such-rule"], ["odd"]),
    ]


def mcp(*calls: tuple[str, dict[str, Any]]) -> Step:
    """A conversation with the MCP server: calls of tools, one after the other."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "contract", "version": "1"}}
    lines: list[dict[str, Any]] = [
        {"id": 0, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        *(
            {"id": number, "method": "tools/call", "params": {"name": name, "arguments": given}}
            for number, (name, given) in enumerate(calls, 1)
        ),
    ]
    return {"do": "talk", "words": ["mcp"], "lines": lines}


def sessions() -> list[Step]:
    """watch, usage, compact-prompt, scratch."""
    claude = "/home/user/.claude/projects/-home-user-shop/5e551011-0000-4000-8000-000000000001.jsonl"
    codex = "/home/user/.codex/sessions/2026/11/15/rollout-2026-11-15T06-44-11-01a1ddf2.jsonl"
    gemini = "/home/user/.gemini/tmp/shop/chats/session-2026-11-15T06-47-66b17cc1.jsonl"
    return [
        *inputs(),
        {"do": "copy", "source": f"{HERE}/inputs/codex.jsonl", "path": codex},
        {"do": "copy", "source": f"{HERE}/inputs/gemini.jsonl", "path": gemini},
        {"do": "copy", "source": f"{HERE}/inputs/claude.jsonl", "path": claude},
        baseline(),
        *said("watch", "--once"),
        *(brim("watch", "--once", "--json", path) for path in (claude, codex, gemini)),
        brim("watch", claude, "--idle", "0", "--json"),
        *said("watch", "--once", claude, "--window", "9000", "--fail-over", "0.5"),
        brim(
            "watch",
            "--once",
            claude,
            "--window",
            "9000",
            "--warn",
            "0.1",
            "--compact",
            "0.2",
            "--limit",
            "0.01",
            "--json",
        ),
        brim("watch", "-", "--json", stdin='{"type":"system","subtype":"init","model":"claude-sonnet-4-5"}\n'),
        *wrong("watch", ["gone.jsonl", "--once"], ["--warn", "7"], ["notes.md", "--once"]),
        *said("usage", "--utc"),
        *(brim("usage", "--utc", "--by", each, "--json") for each in ("model", "session", "project", "day")),
        brim("usage", "--utc", "--since", "2026-11-01", "--until", "2026-11-15", "--agent", "codex", "--json"),
        brim("usage", "--utc", "--project", "shop", "--no-index", "--json"),
        brim("usage", "--utc", claude, "--json"),
        *said("usage", "--utc", "--since", "2027-01-01"),
        *wrong("usage", ["--since", "soon"], ["gone.jsonl"], ["--by", "odd"]),
        *said("compact-prompt"),
        *said("compact-prompt", "--task", "fix the parser", "--state", "EXECUTING", "--scratch", ".context/scratch.md"),
        brim("compact-prompt", "--task", "-", "--json", stdin="two\nlines " + "long " * 80),
        *wrong("compact-prompt"),
        *said("scratch"),
        brim("scratch", "rebuild", claude, codex, "--json"),
        *said("scratch", "add", "--kind", "decision", "Keep SQLite: one file, no server"),
        brim("scratch", "add", "--kind", "dead-end", "-", "--json", stdin="Retrying does not help"),
        *said("scratch", "show"),
        *said("scratch", "list"),
        brim("scratch", "list", "--kind", "human", "--limit", "2", "--json"),
        *said("scratch", "get", "1"),
        *said("scratch", "rebuild"),
        brim("scratch", "clean", "--dry-run", "--json"),
        brim("scratch", "clean", stdin="n\n"),
        brim("scratch", "clean", "--yes", "--json"),
        brim("scratch", "list", "--json"),
        *wrong("scratch", ["get"], ["get", "99"], ["odd"], ["add"], ["add", "x", "--kind", "odd"]),
    ]


def money() -> list[Step]:
    """spend."""
    tokens = ["--model", "claude-sonnet-4-5", "--input-tokens", "20000", "--output-tokens", "4000"]
    return [
        *said("spend"),
        *said("spend", "limit", "shop", "10"),
        brim("spend", "reserve", "shop/job-7", "0.25", "--request-id", "r1", "--json"),
        brim("spend", "reserve", "shop/job-7", *tokens, "--request-id", "r2", "--lease", "5", "--json"),
        brim("spend", "reserve", "shop/job-7", "1", "--json"),
        brim("spend", "settle", "r1", "0.18", "--json"),
        brim("spend", "settle", "r1", "0.19"),
        brim("spend", "release", "r2", "--json"),
        brim("spend", "status", "shop", "--json"),
        *said("spend", "reserve", "shop/job-7/agent-2", "20"),
        brim("spend", "reserve", "shop/job-8", "8", "--request-id", "r3"),
        brim("spend", "settle", "r3", "9.9", "--json"),
        brim("spend", "continue", "shop", "--json"),
        brim("spend", "continue", "shop", "--json"),
        brim("spend", "wrap-up", "shop", "--json"),
        brim("spend", "reserve", "shop", "0.1", "--wrap-up", "--request-id", "r4", "--json"),
        brim("spend", "raise", "shop", "30", "--json"),
        brim("spend", "stop", "shop", "--json"),
        brim("spend", "reserve", "shop", "0.1", "--json"),
        brim("spend", "limit", "shop", "30", "--json"),
        brim("spend", "limit", "shop", "30", "--anew", "--json"),
        brim("spend", "limit", "shop", "none", "--json"),
        *said("spend", "status"),
        *wrong(
            "spend",
            ["limit"],
            ["limit", "shop"],
            ["limit", "shop", "much"],
            ["limit", ".", "1"],
            ["settle", "no-such-request", "1"],
            ["release", "r1"],
            ["reserve", "shop", "--model", "no-such-model", "--input-tokens", "1"],
            ["odd"],
            ["continue", "nowhere"],
        ),
    ]


def installing() -> list[Step]:
    """init, upgrade, uninstall, pause, trust, config."""
    stop = '{"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}'
    mine = f'{{\n  // mine\n  "model": "opus",\n  "hooks": {stop}\n}}\n'
    line = {"statusLine": {"type": "command", "command": "echo mine"}}
    return [
        *said("init", "--dry-run"),
        {"do": "write", "path": "/home/user/.claude/settings.json", "text": mine},
        {"do": "write", "path": "/home/user/.codex/config.toml", "text": 'model = "gpt-5"\n'},
        {"do": "write", "path": "/home/user/.gemini/settings.json", "text": '{"theme": "Dark"}\n'},
        *said("init", "--dry-run"),
        brim("init", stdin="n\n"),
        brim("init", "--agent", "claude", "--yes", "--json"),
        {"do": "look"},
        brim("init", "--yes", "--token-budget", "1500", "--json"),
        brim("init", "--yes", "--json"),
        {"do": "look"},
        *said("upgrade"),
        brim("upgrade", "--token-budget", "1000", "--json"),
        brim("init", "--project", "--agent", "claude", "--hooks", "injection-only", "--yes", "--json"),
        {"do": "look"},
        *said("pause"),
        *said("pause", "--off"),
        brim("pause", "resume", "--json"),
        brim("uninstall", "--agent", "codex", "--json"),
        *said("uninstall", "--dry-run"),
        brim("uninstall", "--json"),
        {"do": "look"},
        {"do": "write", "path": "/home/user/.claude/settings.json", "text": json.dumps(line)},
        brim("init", "--agent", "claude", "--yes", "--json"),
        {"do": "look"},
        brim("init", "--agent", "claude", "--yes", "--no-statusline", "--hooks", "injection-only", "--json"),
        {"do": "look"},
        *said("uninstall"),
        {"do": "write", "path": "/home/user/.claude/settings.json", "text": "{broken"},
        brim("init", "--agent", "claude", "--yes", "--json"),
        *wrong("init", ["--agent", "nobody"], ["--token-budget", "few"], ["--global", "--project"]),
        *wrong("upgrade"),
        *wrong("uninstall", ["--agent", "nobody"]),
        *wrong("pause", ["odd"]),
        *said("trust", "--list"),
        brim("trust", "--dry-run", "--json"),
        brim("trust", stdin="n\n"),
        brim("trust", "--yes", "--json"),
        brim("trust", "--list", "--json"),
        *said("trust", "--remove"),
        *wrong("trust", ["gone"], ["--list", "--remove"]),
        *said("config", "list"),
        *said("config", "get", "token_budget.default"),
        brim("config", "get", "token_budget.default", "--json", BRIM_TOKEN_BUDGET="77"),
        brim("config", "get", "token_budget.default", "--json", FLOOP_TOKEN_BUDGET="78"),
        *said("config", "set", "context.warn", "0.5"),
        brim("config", "set", "--project", "model", "gpt-5", "--json"),
        brim("config", "get", "model", "--json"),
        brim("config", "list", "context", "--json"),
        brim("config", "unset", "context.warn", "--json"),
        *said("config", "path"),
        *wrong(
            "config",
            [],
            ["get"],
            ["get", "no.such"],
            ["set", "context.warn", "7"],
            ["set", "mode", "odd"],
            ["unset", "context.warn"],
            ["odd"],
        ),
        {"do": "write", "path": f"{SHOP}/.brim/config.yaml", "text": "model: gpt-5\nno_such: 1\n"},
        *said("config", "list"),
        brim("list"),
    ]


def files() -> list[Step]:
    """import, export, import-rules, import-floop, backup, and running an agent."""
    floop = [
        {
            "id": id,
            "kind": kind,
            "content": {
                "name": f"learned/{id}",
                "kind": "directive",
                "when": {"language": "go"},
                "content": {"canonical": f"The text of {id}.", "expanded": "More.", "tags": ["go"]},
                "provenance": {"source_type": "learned", "created_at": "2026-01-29T20:22:55-08:00"},
            },
            "metadata": {"confidence": 0.8, "priority": 1, "scope": scope, "stats": {"times_activated": 4}},
        }
        for id, scope, kind in (
            ("l", "local", "behavior"),
            ("g", "global", "behavior"),
            ("f", "", "forgotten-behavior"),
        )
    ]
    edges = [{"source": "l", "target": "g", "kind": "requires", "weight": 0}]
    stream = "\n".join(
        json.dumps(line)
        for line in (
            {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-sonnet-4-5", "cwd": SHOP},
            {"type": "result", "subtype": "success", "session_id": "s", "is_error": False, "total_cost_usd": 0.01},
        )
    )
    program = f"#!/bin/sh\nread line\ncat <<'END'\n{stream}\nEND\n"
    return [
        {"do": "copy", "source": f"{HERE}/user_rules.jsonl", "path": "/home/user/rules.jsonl"},
        {"do": "copy", "source": f"{HERE}/project_rules.jsonl", "path": f"{SHOP}/.brim/behaviors.jsonl"},
        {"do": "copy", "source": f"{HERE}/inputs/rules.md", "path": f"{SHOP}/rules.md"},
        *said("import", "--user", "--dry-run", "/home/user/rules.jsonl"),
        brim("import", "--user", "/home/user/rules.jsonl", stdin="n\n"),
        brim("import", "--user", "--yes", "/home/user/rules.jsonl", "--json"),
        brim("import", "--yes", "--json"),
        brim("import", "--yes", "--json"),
        brim("import", "-", "--yes", "--json", stdin='{"format":"brim-behaviors","version":1}\nnot json\n'),
        *wrong("import", ["gone.jsonl"], ["rules.md"]),
        brim("learn", "--right", "Only here.", "--json"),
        *said("export", "--dry-run"),
        brim("export", "--json"),
        brim("export", "--json"),
        brim("export", "-", "--user", "--all"),
        {
            "do": "add",
            "path": f"{SHOP}/.brim/behaviors.jsonl",
            "lines": [{"id": "b-x", "name": "theirs", "canonical": "New."}],
        },
        brim("export", stdin="n\n"),
        brim("export", "--yes", "--json"),
        *wrong("export", ["/no/such/folder/file.jsonl"]),
        *said("import-rules", "rules.md", "--dry-run"),
        brim("import-rules", "rules.md", stdin="n\n"),
        brim("import-rules", "rules.md", "--yes", "--json"),
        brim("import-rules", "rules.md", "--yes", "--json"),
        *wrong("import-rules", [], ["gone.md"]),
        {"do": "add", "path": f"{SHOP}/.floop/nodes.jsonl", "lines": floop},
        {"do": "add", "path": f"{SHOP}/.floop/edges.jsonl", "lines": edges},
        *said("import-floop", ".", "--dry-run"),
        brim("import-floop", ".", stdin="n\n"),
        brim("import-floop", ".", "--yes", "--json"),
        brim("import-floop", ".", "--yes", "--json"),
        *wrong("import-floop", [], ["gone"]),
        *said("backup"),
        brim("backup", "create", "--json"),
        brim("backup", "create", "/home/user/copy.db", "--user", "--json"),
        brim("backup", "create", "/home/user/copy.db", "--user", "--json"),
        *said("backup", "list"),
        brim("learn", "--right", "Gone again.", "--user"),
        brim("backup", "restore", "/home/user/copy.db", "--user", "--dry-run", "--json"),
        brim("backup", "restore", "/home/user/copy.db", "--user", stdin="n\n"),
        brim("backup", "restore", "/home/user/copy.db", "--user", "--yes", "--json"),
        brim("list", "--scope", "user", "--json"),
        *wrong("backup", ["restore"], ["restore", "gone.db"], ["odd"]),
        {"do": "write", "path": "/home/user/bin/claude", "text": program, "mode": 0o755},
        brim("run", "--json", "--", "claude", "-p", "say hello"),
        brim("run", "--json", "--budget-usd", "0.005", "--on-limit", "stop", "--", "claude", "-p", "say hello"),
        *wrong("run", [], ["--", "no-such-agent", "-p", "x"], ["--budget-usd", "much", "--", "claude", "-p", "x"]),
        brim("mcp", "--list"),
        *wrong("mcp", ["--port", "x"]),
    ]


def serving() -> list[Step]:
    """mcp: what the tools answer."""
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}] * 3
    return [
        *rules(),
        brim("mcp", "--list", "--json"),
        mcp(
            ("active", {"task": "testing"}),
            ("list", {"query": "uv"}),
            ("why", {"id": "use-pathlib"}),
            ("count", {"text": "Hello world", "model": "gpt-4o"}),
            ("budget", {"messages": messages, "model": "gpt-4o"}),
            ("fit", {"messages": messages, "model": "gpt-4o", "target": 5}),
            ("status", {}),
            ("scratch", {"query": "parser"}),
            ("no_such_tool", {}),
            ("why", {"id": "no-such-rule"}),
        ),
        mcp(("feedback", {"id": "use-pathlib", "verdict": "confirmed"})),
        brim("trust", "--remove"),
        mcp(("list", {})),
    ]


COMMANDS: dict[str, Callable[[], list[Step]]] = {
    "commands-general": general,
    "commands-counting": counting,
    "commands-histories": histories,
    "commands-told": told,
    "commands-learned": learned,
    "commands-sessions": sessions,
    "commands-money": money,
    "commands-installing": installing,
    "commands-files": files,
    "commands-mcp": serving,
}
