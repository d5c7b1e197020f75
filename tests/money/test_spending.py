"""The one question: what is spent, and may more be spent?"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from brim.money.decision import BETWEEN, END_TURN, HARD, LAST_REQUEST, SOFT, LimitMoment, decide
from brim.money.limits import Spender
from brim.money.settings import limits_in_force
from brim.money.spending import Spending
from brim.sessions.index import SessionIndex
from tests.sessions.tree import append, open_index, transcripts
from tests.sessions.window.transcripts import FOLDER, answer, usage, write

NOW = 1_767_610_000.0
"""2026-01-05, 10:46:40 UTC."""
SPENDER = Spender(FOLDER, "s-1")
DEAR = usage(0, 100_000)
PRICE = 1_500_000


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def spending(tmp_path: Path, index: SessionIndex, *limits: str) -> Spending:
    """Return the question about *limits* of the project."""
    settings = limits_in_force({FOLDER: list(limits)}, str(tmp_path / "home"))
    root = tmp_path / "projects"
    mine = [file for file in transcripts(root) if file.path.endswith("s-1.jsonl")]
    return Spending(settings, index, files=mine, every_file=lambda: transcripts(root))


def test_a_lost_index_is_filled_again_by_the_questions(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    for name in ("s-1", "s-2", "s-3"):
        write(root / "p" / f"{name}.jsonl", answer(f"m-{name}", used=DEAR, session=name))
    with open_index(tmp_path) as index:
        question = spending(tmp_path, index, "5/day")
        question.read(size=1)
        (only,) = question.answer(SPENDER, NOW).standing
        assert only.spent == PRICE  # the session's own file comes first
        for _ in range(3):
            question.read(size=1_000)
        (only,) = question.answer(SPENDER, NOW).standing
        assert only.spent == 3 * PRICE
        assert index.is_complete


def test_a_turn_ends_before_the_request_that_would_go_over(tmp_path: Path) -> None:
    path = write(tmp_path / "projects" / "p" / "s-1.jsonl", answer("m-0", used=DEAR))
    with open_index(tmp_path) as index:
        for number in range(1, 10):
            question = spending(tmp_path, index, "5/day")
            question.read()
            near = question.answer(SPENDER, NOW, looks_ahead=True).nearest
            assert near is not None
            if decide(LimitMoment(BETWEEN), near.level) == END_TURN:
                break
            append(path, answer(f"m-{number}", used=DEAR))
        assert near is not None
        assert near.level == HARD
        assert near.spent <= 5_000_000
        assert near.spent + 2 * PRICE > 5_000_000


def test_at_the_soft_limit_one_request_wraps_up(tmp_path: Path) -> None:
    write(tmp_path / "projects" / "p" / "s-1.jsonl", answer("m-0", used=DEAR))
    with open_index(tmp_path) as index:
        question = spending(tmp_path, index, "1.55/day")
        question.read()
        near = question.answer(SPENDER, NOW).nearest
        assert near is not None
        assert near.level == SOFT
        assert decide(LimitMoment(BETWEEN), near.level) == LAST_REQUEST
        assert decide(LimitMoment(BETWEEN, refusals=1), near.level) == END_TURN


def test_mistakes_and_trouble_are_told_and_lift_nothing(tmp_path: Path) -> None:
    write(tmp_path / "projects" / "p" / "s-1.jsonl", answer("m-0", used=DEAR))
    with open_index(tmp_path) as index:
        spending(tmp_path, index, "1/day")
        index.database.execute("PRAGMA query_only = ON")
        question = spending(tmp_path, index, "1/fortnight")
        question.read()
        said = question.answer(SPENDER, NOW)
        assert said.nearest is not None
        assert said.nearest.is_stopped
        assert len(said.problems) == 2


def test_without_limits_nothing_is_held(tmp_path: Path) -> None:
    with open_index(tmp_path) as index:
        assert spending(tmp_path, index).answer(SPENDER, NOW).nearest is None
