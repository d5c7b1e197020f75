from __future__ import annotations

import itertools

import pytest

from brim.agents.events import End
from brim.agents.running import run_of
from brim.errors import InputError
from brim.money import Raise
from brim.run.purse import read_answer
from brim.run.turns import (
    ASK,
    COMPACT,
    CONTINUE,
    CUT_SHORT,
    DONE,
    END,
    FAILED,
    MOST_CONTINUES,
    MOST_REFUSALS,
    SEND,
    TurnEnd,
    build_continue_prompt,
    next_step,
    turn_end,
)
from brim.usd import Money


def test_the_first_turn_is_sent_if_there_is_money_for_it() -> None:
    assert next_step(None, waiting=True) == SEND
    assert next_step(None, waiting=True, is_spent=True) == ASK


def test_nothing_is_asked_when_nothing_is_left_to_do() -> None:
    assert next_step(TurnEnd(DONE), is_spent=True) == END
    assert next_step(TurnEnd(DONE), is_spent=True, compact_due=True) == END


def test_compacting_comes_before_the_next_turn_and_before_going_on() -> None:
    assert next_step(TurnEnd(DONE), compact_due=True, waiting=True) == COMPACT
    assert next_step(TurnEnd(DONE), compact_due=True) == COMPACT
    assert next_step(TurnEnd(CUT_SHORT), compact_due=True) == COMPACT


def test_a_task_that_was_cut_short_is_continued_before_the_next_turn() -> None:
    assert next_step(TurnEnd(CUT_SHORT), waiting=True) == CONTINUE


def test_what_is_cut_short_again_and_again_is_given_up() -> None:
    assert next_step(TurnEnd(CUT_SHORT), continues=MOST_CONTINUES) == END


def test_an_agent_that_never_compacts_is_asked_no_more() -> None:
    assert next_step(TurnEnd(DONE), compact_due=True, waiting=True, refusals=MOST_REFUSALS) == SEND


@pytest.mark.parametrize(
    ("spent", "due", "waiting"), list(itertools.product((False, True), repeat=3)), ids=str
)
def test_nothing_follows_a_failure_or_the_end(spent: bool, due: bool, waiting: bool) -> None:
    assert next_step(TurnEnd(FAILED), is_spent=spent, compact_due=due, waiting=waiting) == END
    assert (
        next_step(TurnEnd(DONE), is_over=True, is_spent=spent, compact_due=due, waiting=waiting)
        == END
    )


@pytest.mark.parametrize("last", [None, TurnEnd(DONE), TurnEnd(CUT_SHORT)])
@pytest.mark.parametrize("due", [False, True])
def test_nothing_is_sent_without_money(last: TurnEnd | None, due: bool) -> None:
    assert next_step(last, is_spent=True, compact_due=due, waiting=True) == ASK


def claude_end(end: End, line: dict[str, str] | None = None, *, answered: bool = False) -> TurnEnd:
    """Return how a turn of Claude Code ended."""
    cause = run_of("claude").end_cause(end, line or {})
    return turn_end(cause, end, answered=answered)


def test_how_a_turn_ended() -> None:
    assert claude_end(End(reason="completed", text="done")).outcome == DONE
    assert claude_end(End(reason="budget_exhausted", error=True)) == TurnEnd(
        CUT_SHORT, is_spent=True
    )
    assert claude_end(End(reason="completed"), {"stop_reason": "max_tokens"}).outcome == CUT_SHORT
    assert claude_end(End(error=True, text="Prompt is too long")).is_full
    assert claude_end(End(reason="api_error", error=True, text="API Error: 529")).outcome == FAILED
    assert claude_end(End(reason="max_turns")).outcome == FAILED
    assert claude_end(End(reason="hook_stopped")).why == "a hook of the agent stopped the turn"


def test_an_answer_that_used_up_the_agents_own_limit_is_an_end() -> None:
    end = End(reason="budget_exhausted", error=True, text="Reached maximum budget")
    done = claude_end(end, answered=True)
    cut = claude_end(end)
    assert (done.outcome, done.why, done.is_spent) == (DONE, "", True)
    assert (cut.outcome, cut.is_spent) == (CUT_SHORT, True)


def test_the_words_of_one_agent_mean_nothing_for_another() -> None:
    end = End(reason="hook_stopped", text="done")
    assert turn_end(run_of("codex").end_cause(end, {}), end).outcome == DONE


def test_answers_at_the_limit() -> None:
    assert [read_answer(text) for text in ("", " W ", "n", "c", "stop")] == ["wrap_up"] * 3 + [
        "continue",
        "stop",
    ]
    assert read_answer("raise to $2.50") == Raise(Money(2_500_000))
    for text in ("r", "r much", "maybe", "r -1"):
        with pytest.raises(InputError):
            read_answer(text)


def test_the_line_that_continues_names_the_scratch_file_only_if_there_is_one() -> None:
    assert build_continue_prompt("fix\nit", "a/scratch.md").endswith(
        "Then continue where you stopped: fix it"
    )
    assert build_continue_prompt() == "You were cut short.\nContinue where you stopped."
    assert "compacted since" in build_continue_prompt(compacted=True)
