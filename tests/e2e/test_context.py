"""What ``brim context`` says about a real session, billed by a vocabulary and a ratio that brim
isn't given."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from brim.tokens.engines import encoding_counter
from tests.e2e.agents import Agent
from tests.e2e.script import Overflow, Say

RATIO = 1.43
MOST = 0.05
"""The share by which texts may have to be scaled, once the first request was billed."""


def texts(value: object, key: str = "") -> Iterator[str]:
    """Give every text in a request that a model reads; a picture's data and a thought's signature
    aren't text."""
    if isinstance(value, str) and key not in (
        "type",
        "role",
        "id",
        "tool_use_id",
        "data",
        "signature",
        "model",
    ):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from texts(each, key)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from texts(each, name)


def bill(body: Mapping[str, Any]) -> int:
    """Count a request as the model on the other side does."""
    count = encoding_counter("cl100k_base")
    assert count is not None
    schemas = "".join(json.dumps(tool) for tool in body.get("tools", []))
    read = [schemas, *texts(body.get("system", [])), *texts(body.get("messages", []))]
    return round(RATIO * sum(map(count, read))) + 4 * len(body.get("messages", []))


def test_a_real_session_is_explained_part_by_part(claude: Agent) -> None:
    world, api = claude.world, claude.world.api
    api.bill = bill
    world.learn("Never commit the files under dist/.", "--kind", "constraint")
    claude.install()
    world.write("CLAUDE.md", "# Memory\nUse tabs in all files of the shop.\n@docs/style.md\n")
    world.write("docs/style.md", "Write every docstring in the present tense.\n" * 20)
    source = world.write(
        "src/app.py", "def total(prices: list[int]) -> int:\n    return sum(prices)\n" * 300
    )
    steps = [
        claude.shell(f"cat {source} | head -{100 * at}; seq 1 {300 * at}") for at in range(1, 6)
    ]
    api.will(*steps, claude.write(world.project / "new.py", "login = 1\n" * 200), Say())
    claude.ask("Please look at the shop's totals.")
    api.will(*steps[:2], Overflow(), *steps[2:4], Say())
    claude.ask_again("Please go on with the totals.")
    (path,) = (world.home / ".claude" / "projects").glob("*/*.jsonl")
    found = json.loads(world.brim("context", str(path), "--json").out)
    billed = [asked for asked in api.asked if asked.kind == "turn"]
    assert found["requests"] == len(billed) - 1  # the one that was refused isn't billed
    names = {part["name"]: part for part in found["parts"]}
    assert {"tools", "system prompt", "memory files", "brim", "tool results", "summary"} <= set(
        names
    )
    assert {part["name"] for part in names["memory files"]["parts"]} >= {
        str(world.project / "CLAUDE.md"),
        str(world.project / "docs" / "style.md"),
    }
    assert "not resolved" not in names
    for number in range(2, found["requests"] + 1):
        request = json.loads(world.brim("context", str(path), "--at", str(number), "--json").out)[
            "request"
        ]
        assert request["basis"] == "request record"
        assert request["estimate"] == "ok", request
        assert abs(request["scale"] - 1) <= MOST, request
