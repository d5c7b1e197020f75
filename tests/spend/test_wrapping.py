"""The wrap-up prompt is a turn of its own."""

from __future__ import annotations

from brim.spend import build_wrap_up_prompt


def test_it_says_what_is_spent_and_what_is_left_for_it() -> None:
    text = build_wrap_up_prompt(4_750_000, 5_000_000, held=250_000, scratch_path=".context/scratch.md")
    assert "$4.75 of $5.00" in text
    assert "This turn may cost $0.25." in text
    assert ".context/scratch.md" in text


def test_it_says_that_the_limit_is_reached_only_if_it_is() -> None:
    assert "limit is reached" in build_wrap_up_prompt(4_750_000, 5_000_000)
    assert build_wrap_up_prompt(1_000_000, 5_000_000).startswith("$1.00 of $5.00 is spent. Wrap up now.")
    assert build_wrap_up_prompt(1_000_000, None).startswith("$1.00 is spent. Wrap up now.")


def test_a_task_is_folded_to_one_short_line() -> None:
    text = build_wrap_up_prompt(1, 2, task="fix\n\n" + "the parser " * 100)
    assert len(text.split("\n")) == 3
    assert len(text.split("\n")[0]) < 300
    assert "may cost" not in text
