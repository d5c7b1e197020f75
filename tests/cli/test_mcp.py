"""``brim mcp`` as a person types it."""

from __future__ import annotations

import socket

import pytest

from tests.cli.conftest import Brim


def test_the_list_says_what_each_tool_costs(brim: Brim) -> None:
    ran = brim("mcp", "--list", "--json")
    assert ran.code == 0
    assert ran.json["tools"][-1]["name"] == "scratch"
    assert ran.json["tokens"] == sum(tool["tokens"] for tool in ran.json["tools"])
    assert ran.json["instructions_tokens"] <= 60


@pytest.mark.parametrize(
    "arguments",
    [
        ("--port", "1"),
        ("--list", "--http"),
        ("--json",),
        ("--http", "--port", "-1"),
        ("--http", "--port", "99999"),
    ],
)
def test_what_makes_no_sense_is_refused(brim: Brim, arguments: tuple[str, ...]) -> None:
    ran = brim("mcp", *arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err


def test_a_port_that_is_taken_is_named(brim: Brim) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ran = brim("mcp", "--http", "--port", port)
    assert ran.code == 2
    assert f"port {port}" in ran.err
