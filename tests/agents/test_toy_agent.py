"""A new agent is one folder and one line in the table."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import brim.agents
from brim.agents import TableLine, UserRules, agent_named, events
from brim.agents.readers import format_of
from brim.agents.stream import read
from brim.hooks.process import main
from brim.install import diagnose, install, uninstall
from brim.sessions.report.usage import usage_report
from brim.sessions.session_files import named_files
from brim.sessions.up_to_date import read_sessions
from tests.hooks.hook_world import RULE, World

VALUE = '''
"""Toy: an agent that says everything in its own words."""

from brim.agents.agent import Agent, AgentEvent, Answers, NativeFiles, Places, Transcripts
from brim.agents.call import Tools
from brim.agents.fields import text

EVENTS = {
    "Begin": AgentEvent("session_start", injects=True),
    "Ask": AgentEvent("prompt", injects=True),
    "Call": AgentEvent("before_tool", injects=True),
}
TOOLS = Tools({"shell": "do", "edit": "mend"}, {"shell": {"command": ("line",)}})


def read_own(event, data):
    return {"prompt": text(data, "words"), "human": True} if event == "prompt" else {}


AGENT = Agent(
    name="toy",
    title="Toy",
    events=EVENTS,
    answers=Answers(text_at=("session_start", "prompt", "before_tool"), chars=500),
    tools=TOOLS,
    places=Places("TOY_HOME", ".toy", "hooks.json", ".toy/hooks.json"),
    transcripts=Transcripts("toy-record", {"toy-record": "ToyReader"}, needles=(b'"toys"',)),
    native_files=NativeFiles(kinds=("TOY.md",), users_of=("toy",)),
    model="gpt-5",
    read_own=read_own,
)
'''
TRANSCRIPT = '''
"""Reads Toy's records."""

from brim.agents.events import Usage
from brim.agents.fields import count, text
from brim.agents.lines import LineReader
from brim.agents.toy.value import TOOLS
from brim.models.usage import Tokens


class ToyReader(LineReader):
    """Reads one record, line by line."""

    tools = TOOLS

    @staticmethod
    def recognises(line):
        """Return whether *line* is one of a record."""
        return "toys" in line

    def read(self, line):
        """Tell the request in *line*."""
        tokens = Tokens(input=count(line, "toys"), output=1)
        self.tell(Usage, tokens=tokens, model=text(line, "model"), request=text(line, "id"))
'''


SETTINGS = '''
"""What brim writes for Toy."""

from brim.agents.settings import AgentSettings

SETTINGS = AgentSettings(learn_file="commands/learn.md", mcp_command="toy mcp add {program}")
'''


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add the agent: its folder, and its line."""
    folder = tmp_path / "agents" / "toy"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "value.py").write_text(VALUE, encoding="utf-8")
    (folder / "transcript.py").write_text(TRANSCRIPT, encoding="utf-8")
    (folder / "settings.py").write_text(SETTINGS, encoding="utf-8")
    monkeypatch.setattr(brim.agents, "__path__", [*brim.agents.__path__, str(folder.parent)])
    rules = UserRules("TOY_HOME", "TOY.md", ".toy/TOY.md")
    line = TableLine("toy", "Toy", ".toy", ("hooks.json",), rules)
    monkeypatch.setattr(brim.agents, "TABLE", (*brim.agents.TABLE, line))
    yield
    for name in [name for name in sys.modules if name.startswith("brim.agents.toy")]:
        del sys.modules[name]


def ask(world: World, event: str, **data: object) -> dict[str, object]:
    out = io.StringIO()
    here = {"session_id": "toys", "cwd": str(world.project)}
    sent = io.StringIO(json.dumps({**here, **data}))
    assert main([event, "toy"], sent, out, world.environ) == 0
    answer: dict[str, object] = json.loads(out.getvalue() or "{}")
    return answer


def test_its_events_are_read_and_answered(tmp_path: Path) -> None:
    world = World(tmp_path)
    told = ask(world, "Begin", source="startup")
    assert RULE in str(told["hookSpecificOutput"])
    assert world.log() == ""


def test_its_calls_are_refused(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.brim("learn", "--user", "--block", "npm install", "Use pnpm, not npm")
    refused = ask(world, "Call", tool_name="do", tool_input={"line": "npm install"})
    assert "npm install" in str(refused["hookSpecificOutput"])
    assert ask(world, "Call", tool_name="do", tool_input={"line": "pnpm install"}).keys() <= {
        "hookSpecificOutput"
    }


def test_its_hooks_are_protected(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = str(world.project / ".toy" / "hooks.json")
    refused = ask(world, "Call", tool_name="mend", tool_input={"file_path": path})
    assert "doesn't allow" in str(refused["hookSpecificOutput"])


def test_its_records_are_read(tmp_path: Path) -> None:
    line = {"toys": 40_000, "model": "gpt-5", "id": "r1"}
    record = tmp_path / "record.jsonl"
    record.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert format_of(line) == "toy-record"
    (usage,) = read(record)
    assert isinstance(usage, events.Usage)
    assert (usage.tokens.prompt, usage.model, usage.request) == (40_000, "gpt-5", "r1")


def test_its_usage_is_reported(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    lines = [{"toys": 100 * n, "model": "gpt-5", "id": f"r{n}"} for n in (1, 2)]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    reading = read_sessions(named_files([str(record)]), index=None)
    report = usage_report(reading, by="model", now=1.8e9)
    (total,) = report.sums
    assert (total.requests, total.input_tokens, total.agents) == (2, 300, {"toy"})


def test_it_is_installed_and_taken_out_again(tmp_path: Path) -> None:
    world = World(tmp_path)
    file = Path(world.environ["HOME"]) / ".toy" / "hooks.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"colour": "red"}\n', encoding="utf-8")
    installed = install(world.environ, str(world.project), agents=["toy"])
    assert [agent["hooks"] for agent in installed.agents] == [["Begin", "Ask", "Call"]]
    settings = json.loads(file.read_text(encoding="utf-8"))
    (hook,) = settings["hooks"]["Begin"][0]["hooks"]
    assert shlex.split(hook["command"])[1:] == ["Begin", "toy"]
    assert (settings["colour"], hook["type"], hook["timeout"]) == ("red", "command", 5)
    learn = file.parent / "commands" / "learn.md"
    assert "brim learn" in learn.read_text(encoding="utf-8")

    findings = diagnose(world.environ, str(world.project)).findings
    (line,) = [finding for finding in findings if finding.what == "Toy"]
    assert (line.state, line.text) == ("ok", f"{file}: 3 hooks")

    uninstalled = uninstall(world.environ, str(world.project), agents=["toy"])
    assert uninstalled.exit_code == 0
    assert file.read_text(encoding="utf-8") == '{"colour": "red"}\n'
    assert not learn.exists()


def test_its_value_is_found_by_name() -> None:
    assert agent_named("toy").title == "Toy"
