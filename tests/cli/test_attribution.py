"""``brim usage --by``: what requests were for, as real transcripts say it, and ``--csv``."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Brim
from tests.sessions.window.transcripts import MODEL, answer, cost_state, usage

OPUS = "claude-opus-4-5"
PRICE = 3_000 + 75
"""Micro-dollars of a request with 1,000 tokens of input."""


@pytest.fixture
def shop(brim: Brim) -> Path:
    """A session of Claude Code with sub-agents, a skill and an MCP server, on two branches."""
    folder = brim.home / ".claude" / "projects" / "-home-user-shop"
    subagents = folder / "s-1" / "subagents"
    subagents.mkdir(parents=True)

    def write(path: Path, number: int, **about: Any) -> None:
        line = answer(f"m{number}", f"r{number}", usage(1_000), **about)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    main = folder / "s-1.jsonl"
    write(main, 1, gitBranch="main")
    write(main, 2, gitBranch="main", attributionSkill="pdf")
    write(main, 3, gitBranch="fix", model=OPUS)
    tool = {"type": "tool_use", "id": "t", "name": "mcp__github__search", "input": {}}
    line = answer("m4", "r4", usage(1_000), gitBranch="fix")
    line["message"]["content"] = [tool]
    with main.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    for name, kind in (("a1", "Explore"), ("a2", "general-purpose"), ("a3", "")):
        file_of = subagents / f"agent-{name}.jsonl"
        write(file_of, 10 + int(name[1]), side=True, agentId=name)
        if kind:
            about = {"agentType": kind, "isBuiltIn": True, "description": "sub job"}
            file_of.with_suffix(".meta.json").write_text(json.dumps(about))
    (subagents / "agent-a3.meta.json").write_text("no json")
    return folder


def costs(brim: Brim, by: str) -> dict[str | None, int]:
    """Return what each row of a table costs; the one without a name can't be attributed."""
    report = brim("usage", "--by", by, "--json").json
    rows = {row[by]: row["cost"] for row in report["rows"]}
    assert sum(rows.values()) == report["total"]["cost"]
    return rows


def test_requests_are_attributed_to_what_they_were_for(brim: Brim, shop: Path) -> None:
    opus = 5_000 + 125
    assert costs(brim, "agent-type") == {
        "Explore": PRICE,
        "general-purpose": PRICE,
        None: 4 * PRICE + opus,
    }
    assert costs(brim, "skill") == {"pdf": PRICE, None: 5 * PRICE + opus}
    assert costs(brim, "mcp") == {"github": PRICE, None: 5 * PRICE + opus}
    assert costs(brim, "branch") == {"main": 2 * PRICE, "fix": PRICE + opus, None: 3 * PRICE}
    assert costs(brim, "model") == {MODEL: 6 * PRICE, OPUS: opus}
    assert costs(brim, "project") == {"/home/user/shop": 6 * PRICE + opus}


def test_a_type_that_is_written_after_the_first_request_names_the_next_ones(
    brim: Brim, shop: Path
) -> None:
    costs(brim, "agent-type")
    subagents = shop / "s-1" / "subagents"
    (subagents / "agent-a3.meta.json").write_text('{"agentType": "Plan"}')
    line = answer("m20", "r20", usage(1_000), side=True, agentId="a3")
    with (subagents / "agent-a3.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    assert costs(brim, "agent-type")["Plan"] == PRICE


@pytest.mark.parametrize("by", ["day", "model", "session", "agent-type", "skill", "branch"])
def test_csv_has_the_rows_of_the_json_object(brim: Brim, shop: Path, by: str) -> None:
    with (shop / "s-1.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(cost_state(0.5)) + "\n")
    report = brim("usage", "--by", by, "--json").json
    rows = list(csv.DictReader(StringIO(brim("usage", "--by", by, "--csv").out)))
    names = [row[by] or "" for row in report["rows"]]
    assert [row[by] for row in rows] == [*names, "unattributed"]
    for row, expected in zip(rows, report["rows"], strict=False):
        assert float(row["cost"]) == expected["cost"] / 1_000_000
        assert int(row["input_tokens"]) == expected["input_tokens"]
    assert round(1_000_000 * sum(float(row["cost"]) for row in rows)) == report["spent"]


def test_csv_of_nothing_has_its_heading_alone(brim: Brim) -> None:
    assert brim("usage", "--csv").lines == [
        "day,requests,input_tokens,output_tokens,"
        "cache_creation_input_tokens,cache_read_input_tokens,cost"
    ]
