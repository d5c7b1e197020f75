"""The request to compact: the exact text, in one line each, whatever is put in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brim.sessions.window.compaction import build_compact_prompt, build_reminder
from brim.text import LONGEST_LINE as LONGEST
from brim.text import fold

HEAD, MIDDLE = "/compact focus on ", " -- current CfA state is "


def test_the_whole_text() -> None:
    assert build_compact_prompt(
        task="fix the parser", cfa_state="EXECUTING", scratch_path=".context/scratch.md"
    ) == (
        "/compact focus on fix the parser -- current CfA state is EXECUTING\n"
        "After compaction, read .context/scratch.md for preserved context."
    )


def test_without_a_scratch_file_it_is_one_line() -> None:
    assert (
        build_compact_prompt("fix it", "PLAN")
        == "/compact focus on fix it -- current CfA state is PLAN"
    )
    assert (
        build_compact_prompt("fix it", "PLAN", "")
        == "/compact focus on fix it -- current CfA state is PLAN"
    )


def test_an_empty_state_leaves_its_part_out() -> None:
    for state in ("", " \n ", "\x00"):
        assert build_compact_prompt("fix it", state) == "/compact focus on fix it"


def test_an_empty_task_is_the_current_one() -> None:
    assert build_compact_prompt("", "") == "/compact focus on the current task"


def test_lines_are_folded_and_controls_left_out() -> None:
    assert fold("fix\r\n\tthe \x1b[31mparser\x1b[0m\x00\u202e now\u2028") == "fix the parser now"


def test_a_long_task_is_cut_at_a_word() -> None:
    folded = fold("word " * 100)
    assert folded == "word " * 39 + "word…"
    assert fold("x" * 500) == "x" * (LONGEST - 1) + "…"
    assert fold("y" * LONGEST) == "y" * LONGEST


def test_a_cut_breaks_no_character_that_people_see_as_one() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert fold("x" * 197 + family) == "x" * 197 + "…"


def test_a_path_cannot_add_a_line() -> None:
    text = build_compact_prompt("t", "", "a\n/clear\x1b[2J")
    assert text == "/compact focus on t\nAfter compaction, read a /clear for preserved context."


def test_after_the_compaction_the_agent_gets_the_pointer_again() -> None:
    assert ".context/scratch.md" in build_reminder(".context/scratch.md")


@given(st.text(max_size=600), st.text(max_size=600))
def test_task_and_state_are_one_printable_line_each_of_at_most_200(task: str, state: str) -> None:
    text = build_compact_prompt(task, state)
    assert "\n" not in text
    assert text.startswith(HEAD)
    text.encode()
    assert len(text) <= len(HEAD) + LONGEST + len(MIDDLE) + LONGEST
    for folded in (fold(task), fold(state)):
        assert len(folded) <= LONGEST
        assert folded == fold(folded)
        assert folded.splitlines() in ([], [folded])
