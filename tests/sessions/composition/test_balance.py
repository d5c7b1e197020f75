"""The parts of a request add up to what was billed, whatever they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.sessions import read_requests
from brim.sessions.composition.balance import MOST_OFF, balance
from brim.sessions.composition.composed_request import FAILED, RequestPart
from brim.sessions.composition.context import context_at, timeline
from tests.sessions.composition.test_parts import answer_line

COUNTS = st.integers(0, 2_000_000)
DATA = Path(__file__).parent / "data"


@given(billed=COUNTS, exact=COUNTS, texts=st.floats(0, 4e6), has_unrecorded=st.booleans())
def test_every_bill_is_shared_out_to_the_token_and_nothing_is_negative(
    billed: int, exact: int, texts: float, has_unrecorded: bool
) -> None:
    shares = balance(billed, exact=exact, texts=texts, has_unrecorded=has_unrecorded)
    kinds = (shares.exact, shares.texts, shares.not_recorded, shares.unexplained)
    assert min(kinds) >= 0
    if billed:
        assert sum(kinds) == billed
    if shares.failed:
        assert kinds == (0, 0, 0, billed)
    else:
        assert abs(shares.scale - 1) <= MOST_OFF or not shares.texts


@pytest.mark.parametrize(
    ("texts", "failed"), [(800.0, False), (799.0, True), (1_333.0, False), (1_334.0, True)]
)
def test_an_estimate_that_is_off_by_more_than_a_quarter_failed(texts: float, failed: bool) -> None:
    shares = balance(1_000, exact=0, texts=texts, has_unrecorded=False)
    assert shares.failed is failed


def test_what_is_not_recorded_takes_what_the_texts_leave() -> None:
    shares = balance(1_000, exact=100, texts=300.0, has_unrecorded=True)
    assert (shares.exact, shares.texts, shares.not_recorded) == (100, 300, 600)


def check_sums(parts: tuple[RequestPart, ...], whole: int) -> None:
    assert sum(part.tokens or 0 for part in parts) == whole
    for part in parts:
        assert (part.tokens or 0) >= 0
        if part.parts:
            check_sums(part.parts, part.tokens or 0)


@pytest.mark.parametrize("name", ["claude_opus", "claude_haiku", "codex_rollout", "gemini_record"])
def test_recorded_requests_add_up_at_every_level_and_on_the_timeline(name: str) -> None:
    requests = read_requests(DATA / f"{name}.jsonl")
    for request in requests:
        check_sums(request.parts, request.billed)
    for moment in timeline(requests):
        assert min(moment.parts.values()) >= 0
        assert sum(moment.parts.values()) + moment.rest == moment.billed


@given(
    words=st.lists(st.text("ab ü\n", max_size=2_000), min_size=1, max_size=5),
    bills=st.lists(st.integers(1, 200_000), min_size=5, max_size=5),
)
def test_any_session_adds_up(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], bills: list[int]
) -> None:
    lines = []
    for number, (text, bill) in enumerate(zip(words, bills, strict=False)):
        message = {"role": "user", "content": text}
        lines.append({"type": "user", "sessionId": "s", "uuid": f"u{number}", "message": message})
        lines.append(answer_line(f"m{number}", input_tokens=bill))
    path = tmp_path_factory.mktemp("session") / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    requests = read_requests(path, count=len)
    for request in requests:
        check_sums(request.parts, request.billed)
        report = context_at({"used_tokens": request.billed}, requests, request.number).to_dict()
        assert report["request"]["billed_tokens"] == request.billed
        assert sum(part["tokens"] for part in report["parts"]) == request.billed
        assert sum(report["filling"].values()) == request.billed
        if request.balance.failed:
            assert [part.name for part in request.parts] == [FAILED]
