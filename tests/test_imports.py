"""A fresh process waits for every module it imports: what a count may import is fixed here."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from brim.agents import AGENTS
from tests.hooks.hook_world import World
from tests.hooks.status_samples import encoded, limits
from tests.hooks.status_samples import sent as status_input
from tests.hooks.test_startup import site, write

__all__ = ["site"]

HEAVY = {
    "typing",
    "dataclasses",
    "json",
    "logging",
    "pathlib",
    "click",
    "yaml",
    "splintr",
    "tiktoken",
    "anthropic",
    "openai",
    "asyncio",
    "inspect",
    "importlib.metadata",
    "importlib.resources",
    "subprocess",
    "urllib.request",
    "brim.config",
    "brim.cli",
    "brim.models.catalog",
}


def imported(code: str) -> set[str]:
    """What a fresh process has imported after *code*, beyond what Python itself had."""

    def modules(code: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-I", "-c", f"{code}\nimport sys; print(*sys.modules)"],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return set(done.stdout.split())

    return modules(code) - modules("")


def test_importing_brim_imports_only_how_to_import() -> None:
    assert {name for name in imported("import brim") if name != "__future__"} == {
        "brim",
        "brim._lazy",
    }


@pytest.mark.parametrize(
    "call",
    [
        "brim.count('Hello world', model='gpt-4o')",
        "brim.count('naïve façade 上下文', model='gpt-4o')",
        "brim.count('Hello world')",
        "brim.count('Hello world', model='claude-sonnet-4-5')",
        "brim.count('Hello world', model='nobody-knows-me')",
        "brim.counter_for('gpt-4o').count_messages([{'role': 'user', 'content': 'Hello world'}])",
    ],
)
def test_a_count_imports_nothing_heavy(call: str) -> None:
    assert (
        imported(f"import brim; {call}") & (HEAVY - {"typing", "dataclasses", "inspect", "json"})
        == set()
    )


FITTING = {
    "_lazy",
    "errors",
    "figures",
    "files",
    "messages",
    "models",
    "record",
    "tokens",
    "usd",
}
"""The packages and modules of brim that ``brim.fit`` may load."""


def test_fit_loads_no_ledger_no_rules_no_transcripts_no_hooks() -> None:
    history = "[{'role': 'user', 'content': f'message {n}'} for n in range(20)]"
    loaded = imported(f"import brim; brim.fit({history}, model='gpt-4o')")
    assert {name.split(".")[1] for name in loaded if name.startswith("brim.")} == FITTING
    not_needed = {
        "asyncio",
        "hashlib",
        "logging",
        "brim.messages.memory",
        "brim.messages.transcript",
        "brim.models.catalog",
        "brim.tokens.api",
    }
    assert loaded & not_needed == set()


def test_every_public_name_is_there() -> None:
    import brim
    import brim.memory
    import brim.models
    import brim.money
    import brim.rules
    import brim.sessions
    import brim.tokens

    rooms = (brim.models, brim.memory, brim.money, brim.rules, brim.tokens, brim.sessions)
    for package in (brim, *rooms):
        for name in package.__all__:
            assert getattr(package, name) is not None
        assert set(package.__all__) <= set(dir(package))


def test_the_stub_has_the_names_of_the_package() -> None:
    import brim

    stub = ast.parse(Path(brim.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    names = [(node.module, alias.name) for node in imports for alias in node.names]
    package: Any = brim
    assert sorted(name for _, name in names) == package.__all__
    for module, name in names:
        assert getattr(brim, name) is getattr(import_module(str(module)), name)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    import brim

    with pytest.raises(AttributeError, match="nonsense"):
        _ = brim.nonsense  # type: ignore[attr-defined]


def test_the_command_line_imports_a_command_when_it_is_called() -> None:
    found = imported("import brim.cli")
    assert "argparse" in found
    assert (
        found
        & {
            "brim.cli.commands.count",
            "brim.cli.commands.budget",
            "brim.cli.commands.models",
            "yaml",
            "brim.models.catalog",
        }
        == set()
    )


FORBIDDEN = {
    "argparse",
    "asyncio",
    "dataclasses",
    "decimal",
    "email",
    "hashlib",
    "http",
    "importlib.metadata",
    "inspect",
    "logging",
    "pathlib",
    "ssl",
    "subprocess",
    "typing",
    "urllib.request",
    "yaml",
    "anthropic",
    "google",
    "mcp",
    "openai",
    "psycopg",
    "pydantic",
    "tiktoken",
}
"""What no hook imports: each takes an agent milliseconds."""

FOR_DOORS = {"brim.agents.jsonc", "brim.agents.running"}
"""What only ``brim init`` and ``brim run`` need to know about agents."""

DOORS = {"brim.cli", "brim.mcp", "brim.install", "brim.run"}


EDIT = {
    "tool_name": "Edit",
    "tool_input": {"file_path": "app.py", "old_string": "a", "new_string": "b"},
}
SHELL = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make test"}}


@pytest.mark.parametrize(
    ("event", "own"),
    [
        ("SessionStart", {}),
        ("UserPromptSubmit", {}),
        ("PreToolUse", {}),
        ("PostToolUse", {}),
        ("PostToolUse", EDIT),
        ("PostToolUse", {**EDIT, "tool_name": "Write"}),
        ("PostToolUse", {**EDIT, "tool_name": "Read"}),
        ("PostToolUseFailure", {"error": "Exit code 2"}),
        ("PreCompact", {}),
        ("PostCompact", {}),
        ("Stop", {}),
        ("Stop", {"calls": [SHELL]}),
        ("SubagentStop", {}),
        ("SessionEnd", {}),
    ],
)
def test_a_hook_imports_nothing_that_makes_an_agent_wait(
    site: Path, tmp_path: Path, event: str, own: dict[str, object]
) -> None:
    world = World(tmp_path)
    said: dict[str, object] = {
        "source": "startup",
        "prompt": "run the tests",
        "last_assistant_message": "It is done.",
    }
    said |= {"tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_use_id": "t"}
    said |= {
        "tool_response": {"stdout": "ok"},
        "compact_summary": "what was done",
        "trigger": "auto",
        **own,
    }
    write_turn(world.transcript, said.pop("calls", []))
    sent = world.message(event, **said)
    write(site, world.home)
    found = imported(f"""
import io, sys
sys.path.insert(0, {str(site)!r})
from brim._startup import use_startup
assert use_startup({str(world.home)!r})
from brim.hooks import main, process
process.SECONDS = 60  # however busy the machine is
assert main([{event!r}, "claude"], io.StringIO({json.dumps(sent)!r}), io.StringIO(), {world.environ!r}) == 0
""")
    assert world.log() == ""
    assert found & (FORBIDDEN | DOORS) == set()
    assert not {name for name in found if name.startswith("brim.agents.")} & FOR_DOORS
    assert not [name for name in found if name.endswith((".settings", ".run")) and "agents" in name]
    tokens = {name for name in found if name.startswith("brim.tokens.")}
    assert tokens <= {"brim.tokens.count", "brim.tokens.calibrate"}, "no tokenizer"


MOST_ENTERED = {
    "SessionStart": 52,
    "UserPromptSubmit": 65,
    "PreToolUse": 68,
    "PostToolUse": 22,
    "Stop": 59,
}
"""Modules of brim that a hook enters at most: each is to be found, read and run."""


@pytest.mark.parametrize("event", MOST_ENTERED)
def test_a_hook_enters_few_modules(site: Path, tmp_path: Path, event: str) -> None:
    """Count the modules whose code a profiler sees, and compare them with those imported."""
    world = World(tmp_path)
    sent = world.message(
        event,
        source="startup",
        prompt="run the tests please",
        tool_name="Bash",
        tool_input={"command": "make test"},
        tool_use_id="t",
        tool_response={"stdout": "ok"},
    )
    write(site, world.home)
    code = f"""
import io, sys
sys.path.insert(0, {str(site)!r})
entered = set()
def see(frame, event, argument):
    entered.add(frame.f_globals.get("__name__", ""))
sys.setprofile(see)
from brim._startup import use_startup
assert use_startup({str(world.home)!r})
from brim.hooks import main, process
process.SECONDS = 60
main([{event!r}, "claude"], io.StringIO({json.dumps(sent)!r}), io.StringIO(), {world.environ!r})
sys.setprofile(None)
print(*[name for name in entered if name.partition(".")[0] == "brim"])
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    entered = done.stdout.split()
    assert world.log() == ""
    assert "brim.hooks.handlers" in entered
    assert len(entered) <= MOST_ENTERED[event], sorted(entered)
    agents = {name for name in entered if name.endswith(".value")}
    assert agents == {"brim.agents.claude.value"}, "a hook loads only its own agent"


def test_the_status_line_imports_nothing_that_makes_people_wait(site: Path, tmp_path: Path) -> None:
    world = World(tmp_path)
    sent = encoded(status_input(rate_limits=limits(91.2, 12))).decode()
    environ = {**world.environ, "BRIM_STATUSLINE_PARTS": "model, folder, branch, headroom, plan"}
    write(site, world.home)
    found = imported(f"""
import io, sys
sys.path.insert(0, {str(site)!r})
from brim._startup import use_startup
assert use_startup({str(world.home)!r})
from brim.hooks.statusline import lines_for
line = lines_for({sent!r}.encode(), {environ!r}, now=1.8e9).decode()
assert "Sonnet 4.5" in line, line
""")
    assert found & (FORBIDDEN | DOORS) == set()


def write_turn(transcript: Path, calls: object) -> None:
    """Add a turn to *transcript*: a prompt, *calls* and their results, and an answer."""
    usage = {
        "input_tokens": 5,
        "cache_creation_input_tokens": 9,
        "cache_read_input_tokens": 40_000,
        "output_tokens": 3,
    }
    about = {"role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    result: dict[str, object] = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": "12 passed"}],
    }
    turn: list[dict[str, object]] = [{"role": "user", "content": "run the tests"}]
    turn += [{**about, "id": "m2", "content": calls}, result] if calls else []
    turn += [{**about, "id": "m3", "content": [{"type": "text", "text": "It is done."}]}]
    with transcript.open("a", encoding="utf-8") as file:
        for each in turn:
            where = {
                "isSidechain": False,
                "sessionId": "s",
                "timestamp": "2026-11-15T06:39:07.416Z",
            }
            file.write(json.dumps({"type": each["role"], **where, "message": each}) + "\n")


OF_AGENTS = 2 * len(AGENTS)
"""Modules of agents that it imports: for each, its package and its value."""
LIMIT_MODULES = {
    "limit": 53 + OF_AGENTS,
    "limit 5/day": 58 + OF_AGENTS,
    "limit 2M tokens/day": 58 + OF_AGENTS,
}
"""Modules of brim that ``brim limit`` imports at most, if nothing new is to be read."""

RUN_COMMAND = """
import os, sys
os.environ |= {environ!r}
os.chdir({folder!r})
from brim.cli import main
sys.argv = ["brim", *{words!r}]
sys.stdout = sys.stderr
try:
    main()
except SystemExit as end:
    assert end.code == 0
sys.stdout = sys.__stdout__
"""


@pytest.mark.parametrize("command", LIMIT_MODULES)
def test_a_limit_imports_no_rules_and_no_reader_if_nothing_is_new(
    tmp_path: Path, command: str
) -> None:
    world = World(tmp_path)
    transcript = Path(world.environ["HOME"], ".claude", "projects", "-project", "s.jsonl")
    transcript.parent.mkdir(parents=True)
    write_turn(transcript, [SHELL])

    def modules(words: str) -> set[str]:
        code = RUN_COMMAND.format(
            environ=world.environ, folder=str(tmp_path), words=words.split(" ", 1)
        )
        return {name for name in imported(code) if name.partition(".")[0] == "brim"}

    first = modules("limit 9/day")  # there is something to read, and then to show
    assert "brim.agents.claude.usage" in first
    again = modules(command)
    assert not {name for name in again if name.endswith((".transcript", ".usage", ".charges"))} - {
        "brim.models.usage"
    }
    assert not [name for name in again if name.startswith("brim.rules")]
    assert len(again) <= LIMIT_MODULES[command], sorted(again)
