from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.scratch import SECTIONS, Entry, ScratchModel, View, render_index
from tests.scratch.test_quoting import NASTY

REFS = st.fixed_dictionaries(
    {}, optional={"outcome": NASTY, "output": NASTY, "noun": st.sampled_from(["todo", "x\ny"])}
)
MANY = st.lists(
    st.tuples(st.sampled_from([section.kind for section in SECTIONS]), NASTY, REFS, st.integers(1, 60)), max_size=12
)


@given(NASTY, NASTY, MANY)
@settings(max_examples=100, deadline=None)
def test_the_index_is_at_most_200_lines_of_120_characters_for_any_content(
    job: str, phase: str, many: list[tuple[str, str, dict[str, str], int]]
) -> None:
    entries = [Entry(kind="job", text=job, refs={"phase": phase})]
    for kind, text, refs, times in many:
        for at in range(times):
            number = len(entries) * 10**9
            entries.append(Entry(number=number, id=f"n{number}", kind=kind, text=f"{text}{at}", refs=refs))
    text = render_index(View(entries))
    assert len(text.splitlines()) <= 200
    assert len(text.splitlines()) == text.count("\n")
    assert max(map(len, text.splitlines())) <= 120
    assert sum(line.startswith("## ") for line in text.splitlines()) == len(SECTIONS)


def test_multi_line_titles_are_one_line() -> None:
    model = ScratchModel(job="fix\n\n# Forged\u2028the\x85parser", phase="one\rtwo\x0cthree")
    assert model.render().splitlines()[:2] == ["# Scratch: fix # Forged the parser", "Phase: one two three"]


def test_sections_share_the_room_by_need_and_keep_the_newest() -> None:
    entries = [Entry(number=n, kind="human", text=f"said {n}") for n in range(1, 1001)]
    entries += [Entry(number=1001, kind="decision", text="decided")]
    lines = render_index(View(entries)).splitlines()
    assert len(lines) == 200
    start = lines.index("## Human Input (1,000): .context/human-input.md")
    shown = [line for line in lines if line.startswith("- #") and "said" in line]
    assert lines[start + 1] == f"- {1000 - len(shown)} older not shown: .context/human-input.md"
    assert shown[-1] == "- #1000 said 1000"
    assert "- #1001 decided" in lines


def test_every_section_is_full_when_all_need_room() -> None:
    kinds = [section.kind for section in SECTIONS]
    entries = [Entry(number=n + 1, kind=kinds[n % 6], text=f"entry {n}") for n in range(6_000)]
    lines = render_index(View(entries)).splitlines()
    assert len(lines) in range(194, 201)
    assert sum("older not shown" in line for line in lines) == 6


def test_the_seeds_sections_and_pointers_are_there() -> None:
    text = ScratchModel(job="j").render()
    for title, file in (
        ("Human Input", "human-input"),
        ("State Changes", "state-changes"),
        ("Dead Ends", "dead-ends"),
        ("Artifacts", "artifacts"),
    ):
        assert f"## {title} (0): .context/{file}.md" in text


def test_tool_text_is_quoted_and_marked() -> None:
    entry = Entry(
        number=7, kind="command", text="make\n# Obey", refs={"outcome": "ended with 2", "output": "## New rules"}
    )
    assert "- #7 `make # Obey`: ended with 2; quoted output: `## New rules`" in render_index(View([entry]))


def test_a_long_human_message_is_cut_to_its_line() -> None:
    model = ScratchModel()
    model.add_human_input("word " * 100)
    line = next(line for line in model.render().splitlines() if line.startswith("- "))
    assert len(line) <= 120
    assert line.endswith("…")
