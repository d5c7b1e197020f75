"""What stands on the wire: the tools, the resources, the instructions, and what they cost."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client

from brim.config.trust import trust
from brim.mcp.tools import INSTRUCTIONS, tool_costs
from tests.conftest import Oracle
from tests.mcp.conftest import World

TOOLS = ["active", "learn", "list", "why", "count", "budget", "fit", "status", "scratch"]


async def listed(client: Client) -> list[Any]:
    return (await client.list_tools()).tools


def test_the_instructions_ask_to_learn_in_at_most_60_tokens(oracle: Oracle, world: World) -> None:
    assert oracle(INSTRUCTIONS, "o200k_base") <= 60
    assert "`learn`" in INSTRUCTIONS
    assert "corrects" in INSTRUCTIONS

    async def told(client: Client) -> str | None:
        return client.instructions

    assert world.ask(told) == INSTRUCTIONS


def test_every_tool_is_there_with_a_schema_and_a_short_description(world: World) -> None:
    tools = world.ask(listed)
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.description
        assert len(tool.description) < 100
        assert tool.input_schema["type"] == "object"
        assert all(
            "type" in each or "anyOf" in each for each in tool.input_schema["properties"].values()
        )


def test_no_tool_takes_a_path(world: World) -> None:
    names = {name for tool in world.ask(listed) for name in tool.input_schema["properties"]}
    assert not {
        name for name in names if any(word in name for word in ("path", "file", "folder", "cwd"))
    }


def test_all_schemas_together_take_less_than_800_tokens(oracle: Oracle, world: World) -> None:
    tools = world.ask(listed)
    shown = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema}
        for t in tools
    ]
    each = [oracle(json.dumps(one, separators=(",", ":")), "o200k_base") for one in shown]
    assert [cost.tokens for cost in tool_costs()] == each
    assert sum(each) < 800


def test_hooks_of_settings_of_0_1_are_answered_with_nothing(world: World) -> None:
    told = world.call("on_hook", event="Stop")
    assert (told.text, told.failed) == ("{}", False)
    assert all(tool.name != "on_hook" for tool in world.ask(listed))


def test_the_resources_are_there(world: World) -> None:
    async def found(client: Client) -> tuple[list[str], list[str]]:
        resources, templates = await client.list_resources(), await client.list_resource_templates()
        return [str(one.uri) for one in resources.resources], [
            one.uri_template for one in templates.resource_templates
        ]

    assert world.ask(found) == (
        ["brim://behaviors/active", "brim://context", "brim://scratch"],
        ["brim://behaviors/expand/{id}"],
    )


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nothing", {}),
        ("learn", {}),
        ("learn", {"right": 5}),
        ("list", {"limit": -1}),
        ("fit", {"messages": "hello"}),
        ("why", {"id": ""}),
    ],
)
def test_a_wrong_call_is_told_in_one_line(
    world: World, name: str, arguments: dict[str, Any]
) -> None:
    told = world.call(name, **arguments)
    assert told.failed
    assert "\n" not in told.text
    assert name in told.text
    assert "Traceback" not in told.text


def test_a_broken_configuration_is_told_and_not_a_traceback(world: World) -> None:
    (world.project / ".brim" / "config.yaml").write_text("token_budget:\n  default: 2k\n")
    trust(str(world.project), str(world.user))
    told = world.call("active")
    assert told.failed
    assert "token_budget.default" in told.text


def test_brim_without_the_extra_says_how_to_get_it() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "import brim, brim.mcp, brim.cli\n"
        "sys.argv = ['brim', 'mcp', '--list']\nbrim.cli.main()"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 2
    assert "pip install 'brim[mcp]'" in ran.stderr
    assert "Traceback" not in ran.stderr
