"""What a session of Codex has spent: its file is read from the beginning, and each request is in
the ledger once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brim.agents import agent_named, read
from brim.agents.call import HookCall
from brim.hooks.settlement import settle
from brim.hooks.state import HookWorkspace
from brim.spend import SpendMeter
from tests.hooks.sittings import SESSION, Sitting


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path)


def test_codex_and_its_own_file(sitting: Sitting) -> None:
    codex_lines(sitting, "gpt-5", 1)
    for _ in range(2):
        sitting.hook("Stop", "codex", model="gpt-5")
    meter = SpendMeter()
    for event in read(sitting.transcript):
        meter.update(event)
    assert sitting.spent("shop") == meter.total > 0


def codex_lines(sitting: Sitting, model: str, count: int) -> None:
    """Write the file of a session of Codex with *count* requests."""
    used = {
        "input_tokens": 1_000,
        "cached_input_tokens": 0,
        "output_tokens": 100,
        "total_tokens": 1_100,
    }
    lines: list[dict[str, object]] = [
        {"type": "session_meta", "payload": {"id": SESSION, "cwd": str(sitting.project)}},
        {"type": "turn_context", "payload": {"model": model, "cwd": str(sitting.project)}},
    ]
    for number in range(1, count + 1):
        sums = {key: amount * number for key, amount in used.items()}
        told = {"response_id": f"r{number}", "usage": used, "thread_token_usage": sums}
        lines.append({"type": "token_usage_record", "payload": told})
    stamped = [
        {"timestamp": "2027-01-15T08:00:01.000Z", "ordinal": at, **line}
        for at, line in enumerate(lines)
    ]
    sitting.transcript.write_text("".join(json.dumps(line) + "\n" for line in stamped))


def test_what_codex_wrote_before_is_counted_and_not_looked_up_again(sitting: Sitting) -> None:
    for count in (40, 41):
        codex_lines(sitting, "gpt-5", count)
        sitting.hook("Stop", "codex", model="gpt-5")
        meter = SpendMeter()
        for event in read(sitting.transcript):
            meter.update(event)
        assert sitting.spent("shop") == meter.total > 0
    call = HookCall(
        agent=agent_named("codex"),
        event="stop",
        session=SESSION,
        transcript=str(sitting.transcript),
    )
    codex_lines(sitting, "gpt-5", 42)
    asked: list[str] = []
    with HookWorkspace(sitting.environ, str(sitting.project), now=sitting.now) as place:
        database = place.user_database
        assert database is not None
        database._connection.set_trace_callback(asked.append)
        settle(call, place)
    assert 0 < len([sql for sql in asked if "FROM reservations" in sql]) < 10


def test_a_long_file_is_settled_within_a_few_hooks(sitting: Sitting) -> None:
    codex_lines(sitting, "gpt-5", 1_200)
    spent: list[int] = []
    while len(spent) < 2 or spent[-1] != spent[-2]:
        sitting.hook("Stop", "codex", model="gpt-5")
        spent.append(sitting.spent("shop"))
        assert len(spent) < 10
    meter = SpendMeter()
    for event in read(sitting.transcript):
        meter.update(event)
    assert spent[0] < spent[-1] == meter.total


def test_a_price_that_is_set_later_counts_for_what_codex_has_asked_before(sitting: Sitting) -> None:
    codex_lines(sitting, "nobodys-model", 2)
    assert "not known" in sitting.hook("Stop", "codex", model="nobodys-model")["systemMessage"]
    (sitting.home / "config.yaml").write_text(
        "models:\n  nobodys-model:\n    prices: {input: 1, output: 1}\n"
    )
    codex_lines(sitting, "nobodys-model", 3)
    sitting.hook("Stop", "codex", model="nobodys-model")
    assert sitting.spent("shop") == 3 * 1_100


def test_a_model_without_a_price_does_not_keep_a_long_file_from_being_settled(
    sitting: Sitting,
) -> None:
    codex_lines(sitting, "gpt-5", 1_200)
    lines = sitting.transcript.read_text().splitlines(keepends=True)
    other, back = lines[1].replace("gpt-5", "nobodys-model"), lines[1]
    sitting.transcript.write_text("".join([lines[0], other, *lines[2:4], back, *lines[4:]]))
    meter = SpendMeter()
    for event in read(sitting.transcript):
        meter.update(event)
    for _ in range(10):
        sitting.hook("Stop", "codex", model="gpt-5")
        if sitting.spent("shop") == meter.total:
            break
    assert sitting.spent("shop") == meter.total > 0


def test_a_file_of_codex_that_is_shorter_than_before_is_another_one(sitting: Sitting) -> None:
    codex_lines(sitting, "gpt-5", 40)
    sitting.hook("Stop", "codex", model="gpt-5")
    before = sitting.spent("shop")
    codex_lines(sitting, "gpt-5", 20)
    sitting.transcript.write_text(sitting.transcript.read_text().replace(': "r', ': "another'))
    sitting.hook("Stop", "codex", model="gpt-5")
    assert sitting.spent("shop") == before * 60 // 40


def test_two_sessions_of_codex_in_the_same_minute_are_two(tmp_path: Path) -> None:
    used = {
        "input_tokens": 1_000,
        "cached_input_tokens": 0,
        "output_tokens": 100,
        "total_tokens": 1_100,
    }
    for number in ("1", "2"):
        sitting = Sitting(tmp_path, f"01a1ddf3-ece2-7e80-9f45-c8983d642e3{number}")
        payload = {"response_id": f"r{number}", "usage": used, "thread_token_usage": used}
        lines = [
            {
                "type": "session_meta",
                "payload": {"id": sitting.session, "cwd": str(sitting.project)},
            },
            {"type": "turn_context", "payload": {"model": "gpt-5", "cwd": str(sitting.project)}},
            {"type": "token_usage_record", "payload": payload},
        ]
        stamped = [
            {"timestamp": "2027-01-15T08:00:01.000Z", "ordinal": at, **line}
            for at, line in enumerate(lines)
        ]
        sitting.transcript.write_text("".join(json.dumps(line) + "\n" for line in stamped))
        sitting.hook("Stop", "codex", model="gpt-5")
    assert (
        sitting.spent("shop/3d642e31")
        == sitting.spent("shop/3d642e32")
        == sitting.spent("shop") / 2
        > 0
    )
