"""A warning of ``brim context --watch`` is in force as long as what it says is so."""

from __future__ import annotations

import json

from tests.cli.conftest import Brim
from tests.cli.watched import called, compacted


def _last(brim: Brim, *lines: str) -> tuple[bool, str]:
    last = brim("context", brim.write("s.jsonl", "".join(lines)), "--json").json
    return last["should_warn"], last["warning"]


def test_a_warning_stays_while_the_window_is_about_as_full(brim: Brim) -> None:
    assert _last(brim, called(1, 141_000), called(2, 139_000))[0]


def test_a_compaction_ends_it(brim: Brim) -> None:
    assert _last(brim, called(1, 160_000), compacted(3_000)) == (False, "")


def test_a_prompt_that_is_much_smaller_ends_it(brim: Brim) -> None:
    assert _last(brim, called(1, 160_000), called(2, 40_000)) == (False, "")


def test_a_window_that_turns_out_to_be_larger_ends_it(brim: Brim) -> None:
    usage = {"input_tokens": 160_000}
    message = {
        "id": "m1",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "usage": usage,
        "content": [],
    }
    windows = {"claude-sonnet-4-5": {"contextWindow": 1_000_000}}
    lines = [
        {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "s1"},
        {
            "type": "result",
            "subtype": "success",
            "modelUsage": windows,
            "usage": usage,
            "session_id": "s1",
        },
    ]
    assert _last(brim, *(json.dumps(line) + "\n" for line in lines)) == (False, "")


def test_it_comes_again_when_the_window_is_full_again(brim: Brim) -> None:
    assert _last(brim, called(1, 160_000), called(2, 40_000), called(3, 150_000))[0]
