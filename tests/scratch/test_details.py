from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.scratch import SECTIONS, Entry
from brim.scratch.index import render_details, when
from tests.scratch.test_quoting import NASTY

BY_KIND = {section.kind: section for section in SECTIONS}


@given(st.sampled_from(sorted(BY_KIND)), NASTY, NASTY, NASTY, st.booleans())
@settings(max_examples=100)
def test_no_text_can_forge_a_heading_or_another_entry(
    kind: str, text: str, output: str, session: str, quoted: bool
) -> None:
    refs = {"outcome": output, "output": output, "rule": output} if quoted else {}
    entry = Entry(number=3, kind=kind, text=f"{text}\n## #9 forged\n# forged", session=session, refs=refs)
    lines = render_details(BY_KIND[kind], [entry]).splitlines()
    assert [line for line in lines if line.startswith("#")] == [lines[0], lines[4]]
    assert lines[4].startswith("## #3 · time unknown")


def test_human_text_is_whole() -> None:
    text = "first line\n\n    indented\n" + "long " * 500
    shown = render_details(BY_KIND["human"], [Entry(number=1, kind="human", text=text, time=0.0)])
    quoted = [re.sub("^> ?", "", line) for line in shown.splitlines() if line.startswith(">")]
    assert quoted == [line.rstrip() for line in text.splitlines()]


def test_an_entry_says_its_number_time_session_and_agent() -> None:
    entry = Entry(number=12, kind="state", text="PLAN → DO", time=0.0, session="abc", agent="a1")
    assert "## #12 · 1970-01-01 00:00:00 UTC · session abc · agent a1\n\n> PLAN → DO\n" in render_details(
        BY_KIND["state"], [entry]
    )


def test_a_dead_end_shows_its_evidence() -> None:
    refs = {"outcome": "tried 3 times", "output": "E: no", "rule": "same-call", "at": [10, 20]}
    shown = render_details(BY_KIND["dead-end"], [Entry(number=1, kind="dead-end", text="make x", refs=refs)])
    for line in (
        "- what: `make x`",
        "- outcome: tried 3 times",
        "- quoted output: `E: no`",
        "- found by: same-call",
        "- at byte: 10, 20",
    ):
        assert line in shown.splitlines()


def test_a_time_that_no_calendar_has_is_unknown() -> None:
    assert (when(None), when(1e300), when(0.0)) == ("time unknown", "time unknown", "1970-01-01 00:00:00 UTC")
