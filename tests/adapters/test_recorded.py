"""The contract on recorded messages of frameworks that aren't installed here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brim.adapters.guards import Guards, settle
from brim.errors import LimitReached
from brim.messages import validate
from brim.models import cost
from brim.models.usage import read_response
from brim.money import Money, open_ledger
from tests.adapters.recorded import DATA, SETTINGS, TARGET, objects

RECORDINGS = sorted(DATA.glob("*.json"))


@pytest.fixture(params=RECORDINGS, ids=lambda path: path.stem)
def recording(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(request.param.read_text(encoding="utf-8"))
    return found


def spent(recording: dict[str, Any]) -> int:
    reported = [read_response(objects(each["response"])) for each in recording["calls"]]
    return sum(cost(each.tokens, each.model or recording["model"]) or 0 for each in reported)


@pytest.mark.parametrize("ids", [("one", "two"), (None,)])
def test_every_call_fits_is_valid_and_is_paid(
    recording: dict[str, Any], ids: tuple[str | None, ...], tmp_path: Path
) -> None:
    model, rewritten = recording["model"], 0
    before: list[Any] = []
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        guards = Guards(None, {**SETTINGS, "ledger": ledger})
        transcripts = {name: objects(recording["messages"]) for name in ids}
        for each in recording["calls"]:
            for name in ids:
                given = transcripts[name][: each["count"]]
                with guards.call(model, given, id=name, **recording["about"]) as call:
                    assert (
                        validate(
                            call.messages, recording["about"].get("provider", "auto"), model=model
                        )
                        == []
                    )
                    assert int(call.tokens) <= TARGET
                    assert {type(message) for message in call.messages} <= {
                        type(message) for message in given
                    }
                    settle(call, objects(each["response"]))
                if name == ids[0]:
                    rewritten += call.messages[: len(before)] != before
                    before = call.messages
        found = ledger.status("shop")
    assert (found.spent, found.reserved) == (len(ids) * spent(recording), 0)
    assert 2 <= rewritten <= 9  # of 15: it was cut, and stayed so in between


def test_a_limit_holds(recording: dict[str, Any], tmp_path: Path) -> None:
    limit = Money(spent(recording) // 2 + 10_000)
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        guards = Guards(None, {**SETTINGS, "ledger": ledger, "limit_usd": limit})
        transcript, sent = objects(recording["messages"]), 0
        for each in recording["calls"]:
            try:
                with guards.call(
                    recording["model"], transcript[: each["count"]], **recording["about"]
                ) as call:
                    settle(call, objects(each["response"]))
                sent += 1
            except LimitReached:
                break
        assert 0 < sent < len(recording["calls"])
        assert ledger.status("shop").spent <= limit
        assert ledger.status("shop").reserved == 0
