"""A file that can't be read silences neither the user's rules nor their limits, and the person is
told once."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from brim.config.trust import trust
from brim.hooks.statusline import lines_for
from brim.rules.compiled import open_index
from brim.rules.source import sources_for
from tests.hooks.hook_world import RULE, World

THEIRS = "Run the linter of this project."


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A user and a trusted project that each have a rule, and money that is spent."""
    world = World(tmp_path)
    rules = world.project / ".brim" / "rules.toml"
    rules.write_text(f'[lint]\ntext = "{THEIRS}"\n', encoding="utf-8")
    world.accept()
    trust(str(world.project), str(world.home))
    return world


def spend(world: World, *, limit: str = "0.01") -> None:
    """Limit the project to what its session has spent already: its transcript is there."""
    if limit:
        path = world.home / "config.yaml"
        path.write_text(json.dumps({"limits": {str(world.project): [limit]}}), encoding="utf-8")
        tool(world)


def told(world: World, event: str, **own: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(world.call(event, world.message(event, **own)) or "{}")
    return found


def start(world: World) -> dict[str, object]:
    return told(world, "SessionStart", source="startup")


def tool(world: World) -> dict[str, object]:
    return told(
        world, "PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1"
    )


def status_line(world: World) -> str:
    usage = {"input_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    context = {"context_window_size": 200_000, "current_usage": usage}
    sent = {
        "session_id": world.message("Stop")["session_id"],
        "cwd": str(world.project),
        "context_window": context,
    }
    return lines_for(
        json.dumps(sent).encode(), {**world.environ, "COLUMNS": "200"}, now=0.0
    ).decode()


SETTINGS: dict[str, Callable[[Path], object]] = {
    "an unknown key": lambda path: path.write_bytes(b"colour: red\n"),
    "a wrong value": lambda path: path.write_bytes(b"token_budget: {default: many}\n"),
    "no YAML": lambda path: path.write_bytes(b"tiers: {full: [\n"),
    "bytes": lambda path: path.write_bytes(b"\xff\xfe\0\0"),
    "a long file": lambda path: path.write_text(
        "models: {" + "".join(f"m{n}: {{}}, " for n in range(80_000)) + "}"
    ),
    "a list": lambda path: path.write_bytes(b"- a\n- b\n"),
    "tiers in the wrong order": lambda path: path.write_bytes(
        b"tiers: {full: 0.1, summary: 0.9}\n"
    ),
}

RULES: dict[str, bytes] = {
    "bytes": b"\xff\xfe\0\0",
    "no text": b"\0" * 5_000,
    "a mistake": b"[lint]\ntext = \n\n[other]\ntext = 'Be evil.'\n",
    "conflict markers": b"<<<<<<< HEAD\n[lint]\ntext = 'a'\n=======\n>>>>>>> x\n",
    "no TOML": b"rules: [a, b]\n",
}


def wrong_model(path: Path) -> None:
    path.write_text("models: {gpt-4o: {colour: red}}\n", encoding="utf-8")


@pytest.fixture(params=[*SETTINGS.items()], ids=[*SETTINGS])
def broken(world: World, request: pytest.FixtureRequest) -> World:
    """The world, with broken settings in its project."""
    _, damage = request.param
    damage(world.project / ".brim" / "config.yaml")
    trust(str(world.project), str(world.home))
    return world


def test_all_rules_arrive_whatever_the_settings_of_the_project_say(broken: World) -> None:
    said = str(start(broken))
    assert RULE in said
    assert THEIRS in said


@pytest.mark.parametrize("name", [*RULES, "gone", "a link", "a pipe", "a folder"])
def test_what_was_accepted_of_a_project_is_told_whatever_its_file_is(
    world: World, name: str
) -> None:
    path = world.project / ".brim" / "rules.toml"
    path.unlink()
    if name in RULES:
        path.write_bytes(RULES[name])
    elif name == "a link":
        path.symlink_to(world.rules)
    elif name == "a pipe":
        os.mkfifo(path)
    elif name == "a folder":
        path.mkdir()
    said = start(world)
    assert RULE in str(said)
    assert THEIRS in str(said)
    assert "evil" not in str(said["hookSpecificOutput"])
    assert "rules.toml" in str(said["systemMessage"])
    assert "systemMessage" not in start(world), "it's said once"


@pytest.mark.parametrize("count", [1, 100])
def test_what_an_old_buffer_overwrote_is_said_in_one_session(world: World, count: int) -> None:
    """However many rules it had, in a hook or in the background, one line says so once."""
    before = world.rules.read_text(encoding="utf-8")
    rules = "".join([f'[lost-{number}]\ntext = "Rule {number}."\n' for number in range(count)])
    world.rules.write_text(f"{before}\n{rules}", encoding="utf-8")
    open_index(str(world.home), sources_for(str(world.home), None)).close()
    world.rules.write_text(before, encoding="utf-8")
    open_index(str(world.home), sources_for(str(world.home), None)).close()
    said = str(start(world)["systemMessage"])
    assert said.count("any more") == 1
    assert "lost-0" in said
    assert "brim rules restore" in said
    assert "systemMessage" not in told(world, "SessionStart", source="startup", session_id="other")
    removed = (world.home / "removed.toml").read_text(encoding="utf-8")
    assert removed.count("[lost-") == count


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_settings_that_are_no_file_silence_nothing(
    world: World, make: Callable[[Path], object]
) -> None:
    spend(world)
    make(world.project / ".brim" / "config.yaml")
    assert RULE in str(start(world))
    assert "deny" in str(tool(world))
    assert "left out" in status_line(world) or "brim rules trust" in status_line(world)


def test_the_limit_still_refuses(broken: World) -> None:
    spend(broken)
    assert "deny" in str(tool(broken))


def test_the_person_is_told_once_and_in_the_status_line(broken: World) -> None:
    said = [
        str(each.get("systemMessage", "")) for each in (start(broken), tool(broken), start(broken))
    ]
    assert [text.count("without the settings of") for text in said] == [1, 0, 0]
    assert str(broken.project) in said[0]
    assert "project left out" in status_line(broken)


def test_settings_that_can_be_read_again_are_used_again(world: World) -> None:
    path = world.project / ".brim" / "config.yaml"
    path.write_text("colour: red\n", encoding="utf-8")
    assert "systemMessage" in start(world)
    path.unlink()
    said = start(world)
    assert THEIRS in str(said)
    assert "systemMessage" not in said
    assert "left out" not in status_line(world)


@pytest.mark.parametrize("name", ["HEAD", "index"])
def test_a_pipe_in_gits_folder_is_not_waited_for(world: World, name: str) -> None:
    path = world.project / ".git" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert RULE in str(start(world))


# The user's own file


@pytest.mark.parametrize("name", [*SETTINGS, "a wrong model"])
def test_a_broken_file_of_the_user_lifts_no_limit(world: World, name: str) -> None:
    spend(world)
    path = world.home / "config.yaml"
    path.unlink()
    SETTINGS.get(name, wrong_model)(path)
    said = start(world)
    assert RULE in str(said)
    assert THEIRS in str(said)
    assert "config.yaml" in str(said["systemMessage"])
    assert "deny" in str(tool(world))
    assert "settings wrong" in status_line(world)


@pytest.mark.parametrize(
    "more",
    [
        "colour: red",
        "tiers: {full: x}",
        "models: {a: {b: c}}",
        "context: {warn: 0.9}",
        "'spend.warn': 1",
    ],
)
def test_the_limit_in_a_file_holds_whatever_else_is_wrong_there(world: World, more: str) -> None:
    spend(world, limit="")
    for folder in (world.home, world.project / ".brim"):
        path = folder / "config.yaml"
        path.write_text(f"{more}\nspend: {{limit: 0.01}}\n", encoding="utf-8")
        trust(str(world.project), str(world.home))
        assert "deny" in str(tool(world))
        path.unlink()


def test_a_wrong_variable_is_left_out_and_the_others_count(world: World) -> None:
    spend(world, limit="")
    world.environ |= {"BRIM_TOKEN_BUDGET": "2k", "BRIM_SPEND_LIMIT": "0.01"}
    said = start(world)
    assert RULE in str(said)
    assert "BRIM_TOKEN_BUDGET" in str(said["systemMessage"])
    assert "deny" in str(tool(world))
