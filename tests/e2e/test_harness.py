"""The tests' own parts: which programs are here, the model API, and the programs without brim."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import programs
from tests.e2e.agents import Agent
from tests.e2e.api import ModelApi
from tests.e2e.script import Call, Overflow, Say
from tests.e2e.wires import Contents, Messages, Responses


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "is_installed", lambda: False)


@pytest.mark.usefixtures("nothing_installed")
def test_what_is_left_out_is_said_in_one_line_with_the_command_that_brings_it() -> None:
    said = programs.left_out({"BRIM_E2E_CODEX": "/opt/codex"})
    missing = "Claude Code, Gemini CLI, opencode, GitHub Copilot CLI, Qwen Code"
    assert (
        said == f"Left out: the end-to-end tests with {missing}. `make e2e` installs and runs them."
    )


@pytest.mark.usefixtures("nothing_installed")
def test_nothing_is_said_when_all_are_there() -> None:
    assert (
        programs.left_out({f"BRIM_E2E_{name.upper()}": name for name in programs.INSTALLED}) == ""
    )


@pytest.mark.usefixtures("nothing_installed")
def test_a_program_of_any_version_on_the_path_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "codex").touch(0o755)
    assert programs.program("codex", {"PATH": str(tmp_path)}) is None


def test_a_program_that_somebody_names_is_preferred() -> None:
    assert programs.program("codex", {"BRIM_E2E_CODEX": "/opt/codex"}) == "/opt/codex"


def test_what_was_installed_half_or_at_other_versions_is_not_there(tmp_path: Path) -> None:
    wanted, folder = tmp_path / "wanted", tmp_path / "folder"
    for each in (wanted, folder):
        each.mkdir()
    (wanted / "b.txt").write_text("two==2\n")
    (wanted / "a.json").write_text("one==1\n")
    assert not programs.is_installed(folder, wanted)
    (folder / ".installed").write_text("one==1\ntwo==2\n")
    assert programs.is_installed(folder, wanted)
    (wanted / "a.json").write_text("one==1.1\n")
    assert not programs.is_installed(folder, wanted)


TOOLS = [{"name": "Bash"}]
MESSAGES = {
    "model": "claude-opus-5-5",
    "stream": True,
    "tools": TOOLS,
    "messages": [{"role": "user", "content": "hi"}],
}
RESPONSES = {"model": "gpt-5.5-codex", "stream": True, "input": [{"role": "user", "content": "hi"}]}
CONTENTS = {"tools": TOOLS, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
STREAM = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
WIRES = [("/v1/messages?beta=true", MESSAGES), ("/v1/responses", RESPONSES), (STREAM, CONTENTS)]


def post(api: ModelApi, path: str, body: object) -> list[dict[str, Any]]:
    """Return the events of a stream, or the one object that came instead."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(
        urllib.request.Request(api.url + path, json.dumps(body).encode()), timeout=300
    ) as answer:
        text = answer.read().decode()
    if answer.headers["content-type"] == "application/json":
        return [json.loads(text)]
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


@pytest.mark.parametrize(("path", "body"), WIRES)
def test_steps_of_the_script_come_in_their_order_and_then_the_model_is_done(
    api: ModelApi, path: str, body: dict[str, Any]
) -> None:
    api.will(Call("Bash", {"command": "make check"}), Say("It is green."))
    answers = [json.dumps(post(api, path, body)) for _ in range(3)]
    assert "make check" in answers[0]
    assert "It is green." in answers[1]
    assert "Done." in answers[2]
    assert [asked.only("hi").role for asked in api.turns] == ["user"] * 3


@pytest.mark.parametrize(("path", "body"), WIRES)
def test_a_prompt_that_is_too_long_is_refused_once(
    api: ModelApi, path: str, body: dict[str, Any]
) -> None:
    api.will(Overflow())
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(api, path, body)
    assert refused.value.code == 400
    assert "1050000" in refused.value.read().decode()
    assert "Done." in json.dumps(post(api, path, body))


def test_usage_is_what_the_script_says_and_what_was_there_before_is_cached(api: ModelApi) -> None:
    api.will(Say(tokens=1_000), Say(tokens=190_000))
    post(api, "/v1/messages", MESSAGES)
    opened = post(api, "/v1/messages", MESSAGES)[0]["message"]["usage"]
    assert (opened["cache_read_input_tokens"], opened["cache_creation_input_tokens"]) == (
        1_000,
        189_000,
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/v1/messages",
            {**MESSAGES, "messages": [{"role": "user", "content": Messages.summary_asked}]},
        ),
        (
            "/v1/responses",
            {**RESPONSES, "input": [{"role": "user", "content": Responses.summary_asked}]},
        ),
        (
            STREAM,
            {
                "systemInstruction": {"parts": [{"text": Contents.summary_asked}]},
                "contents": CONTENTS["contents"],
            },
        ),
    ],
)
def test_a_summary_takes_no_step_of_the_script(
    api: ModelApi, path: str, body: dict[str, Any]
) -> None:
    api.will(Say("The next step."))
    api.summary = "What was done so far."
    assert "What was done so far." in json.dumps(post(api, path, body))
    assert [asked.kind for asked in api.asked] == ["compaction"]
    assert len(api.script) == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages/count_tokens", MESSAGES),
        ("/v1beta/models/gemini-2.5-flash:countTokens", CONTENTS),
    ],
)
def test_tokens_can_be_counted(api: ModelApi, path: str, body: dict[str, Any]) -> None:
    counted = post(api, path, body)[0]
    assert next(iter(counted.values())) > 0
    assert api.turns == []


def test_whatever_is_wanted_from_the_network_is_refused_and_kept(api: ModelApi) -> None:
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"http": api.url, "https": api.url})
    )
    for url in ("http://telemetry.invalid/v1/messages", "https://telemetry.invalid/"):
        with pytest.raises(urllib.error.URLError):
            opener.open(url, timeout=300)
    assert api.elsewhere == ["http://telemetry.invalid/v1/messages", "telemetry.invalid:443"]
    assert api.asked == []


def test_a_program_runs_a_command_and_ends_without_a_network(agent: Agent) -> None:
    agent.world.api.will(agent.shell("echo hello > made.txt"), Say("All of it is done."))
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert "All of it is done." in ran.out
    assert (agent.world.project / "made.txt").read_text() == "hello\n"
    assert len(agent.world.api.turns) == 2
    assert agent.told(agent.world.api.turns[-1]) == []
