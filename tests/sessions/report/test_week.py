"""What brim did this week, in one sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.events import Attachment, Compaction, Usage
from brim.memory.lost import CompactionReport, LostFact
from brim.memory.token_length import BilledRatio
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.sessions.report.overview import LostSum
from brim.sessions.report.own_texts import OwnTexts, OwnTextsReader
from brim.sessions.report.week import Week

MODEL = "claude-sonnet-4-5"
TEXT = "## Constraints\n- Use uv, not pip.\n" * 20


def lost(*given_back: LostFact, compactions: int = 1) -> LostSum:
    """Return what *compactions* lost, the first of which brim gave all back."""
    first = CompactionReport(None, "s", items=given_back)
    return LostSum([first, *[CompactionReport(None, "s")] * (compactions - 1)], 0)


NOTHING = LostSum([], 0)
OWN_WORDS = LostFact("instruction", "Use uv.", 1, given_back=True)
USED = LostFact("command", "make test", 2, given_back=True, used_again=True)
UNUSED = LostFact("file", "app.py", 2, given_back=True)


def test_it_says_what_was_stopped_given_back_and_what_brim_cost() -> None:
    week = Week(stopped=3, lost=lost(OWN_WORDS, USED, UNUSED, compactions=2), own_cost=40_000)
    assert str(week) == (
        "3 calls stopped, 2 compactions, 3 things given back, 1 of 2 files and commands used again; "
        "brim's own texts cost $0.04"
    )


@pytest.mark.parametrize(
    ("week", "sentence"),
    [
        (Week(0, NOTHING, 0), ""),
        (Week(1, NOTHING, 0), "1 call stopped"),
        (Week(0, lost(), 0), "1 compaction"),
        (Week(0, lost(OWN_WORDS), 0), "1 compaction, 1 thing given back"),
        (Week(0, NOTHING, 50_000), "brim's own texts cost $0.05"),
    ],
)
def test_what_did_not_happen_is_left_out(week: Week, sentence: str) -> None:
    assert str(week) == sentence


def usage(number: int) -> Usage:
    tokens = Tokens(input=1_000, output=10)
    return Usage(request=f"r{number}", model=MODEL, tokens=tokens, time=86_400.0 * 20_000)


def hook_text() -> Attachment:
    return Attachment(kind="hook_additional_context", text=TEXT)


def test_a_text_is_sent_once_and_again_with_every_request_until_a_compaction() -> None:
    reader = OwnTextsReader(BilledRatio())
    for event in (hook_text(), usage(1), usage(1), usage(2), usage(3), Compaction(), usage(4)):
        reader.take(event)
    (texts,) = reader.finish()
    assert texts.fresh > 0
    assert texts.repeated == pytest.approx(2 * texts.fresh, abs=2)
    assert texts.cost(PriceList()) > 0


def test_another_hooks_text_is_not_brims() -> None:
    reader = OwnTextsReader(BilledRatio())
    for event in (Attachment(kind="hook_additional_context", text="Hello."), usage(1)):
        reader.take(event)
    assert reader.finish() == []


@given(fresh=st.integers(0, 10**6), repeated=st.integers(0, 10**6))
def test_a_cost_is_never_negative(fresh: int, repeated: int) -> None:
    assert OwnTexts(0.0, MODEL, fresh, repeated).cost(PriceList()) >= 0
    assert OwnTexts(0.0, "nobody-knows-me", fresh, repeated).cost(PriceList()) == 0
