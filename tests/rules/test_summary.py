from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.rules.summary import LENGTH, one_line, sense_words, summarize
from brim.text import is_border
from tests.texts import ANY_TEXT

ROWS = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parent / "data" / "summaries.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
FAMILY = "👩‍👩‍👧‍👦"
ENGLISH = [
    "not",
    "never",
    "only",
    "unless",
    "except",
    "without",
    "until",
    "before",
    "instead",
    "if",
    "when",
    "after",
    "no",
    "don't",
    "cannot",
    "but",
    "while",
]
PLAIN = [
    "use",
    "the",
    "shared",
    "client",
    "for",
    "every",
    "call",
    "in",
    "all",
    "services",
    "of",
    "platform",
    "and",
    "log",
    "each",
    "request",
    "as",
    "one",
    "line",
]
SENTENCES = st.lists(
    st.lists(st.sampled_from(PLAIN + ENGLISH), min_size=1, max_size=12).map(" ".join),
    min_size=1,
    max_size=6,
).map(lambda sentences: ". ".join(sentence.capitalize() for sentence in sentences) + ".")


def cut_off(text: str) -> tuple[str, str]:
    """The line that *text* is, split into what its summary keeps and what it leaves out."""
    line, summary = one_line(text), summarize(text)
    if summary == line:
        return line, ""
    kept = summary.removesuffix("…").rstrip()
    assert summary.endswith("…")
    assert line.startswith(kept)
    return kept, line[len(kept) :]


def test_there_are_at_least_sixty_labelled_rules() -> None:
    assert len(ROWS) >= 60


@pytest.mark.parametrize(("rule", "parts"), ROWS, ids=[f"{at}" for at in range(len(ROWS))])
def test_summary_of_a_labelled_rule_keeps_its_sense(rule: str, parts: str) -> None:
    rule = rule.replace("\\n", "\n")
    summary = summarize(rule)
    for part in parts.split(" | "):
        assert part in summary
    assert "\n" not in summary
    assert len(rule) > LENGTH or summary == one_line(rule)


def test_text_of_sixty_characters_is_its_own_summary() -> None:
    assert summarize("x" * 60) == "x" * 60
    assert summarize("Use uv.") == "Use uv."


def test_long_text_without_sense_words_is_cut_between_words_to_sixty_characters() -> None:
    summary = summarize(
        "Use the shared client for every call in all services of the platform and log it"
    )
    assert summary == "Use the shared client for every call in all services of the…"
    assert len(summary) <= LENGTH


def test_reason_after_the_sense_is_left_out() -> None:
    rule = "Run the migrations of the reporting schema on a copy first, never on the live data, because it broke twice in a month and took a day to repair."  # noqa: E501
    assert summarize(rule) == rule.partition(", because")[0] + "…"


def test_what_must_not_be_done_is_said_whole() -> None:
    rule = (
        "Never add or modify any code related to the legacy billing exporter, which is frozen. "
        + "It is old. " * 5
    )
    assert (
        summarize(rule)
        == "Never add or modify any code related to the legacy billing exporter, which is frozen. …"
    )


def test_summary_that_is_hardly_shorter_is_the_whole_text() -> None:
    rule = "Use the structured logger for everything that the service has to say to us."
    assert summarize(rule) == rule


def test_negation_that_would_lose_what_it_speaks_of_counts_as_cut_off() -> None:
    rule = "Always use tabs for the indentation of source files, but never in YAML or in Makefiles of the tools."
    assert (
        summarize(rule[: rule.index("YAML")] + "YAML files. " + "More text follows here.").count(
            "YAML"
        )
        == 1
    )


def test_list_after_a_sense_word_is_kept_whole() -> None:
    rule = "Push your work to a branch of your own every evening. Never push to main, to develop, or to release. Thanks."
    assert "to main, to develop, or to release." in summarize(rule)


def test_abbreviations_and_file_names_do_not_end_a_clause() -> None:
    rule = "Write the tests of a module beside it in the folder of the room, not, e.g. in src/app.py or in utils. Thanks."
    assert "not, e.g. in src/app.py or in utils." in summarize(rule)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Title\n\nDo it.", "Title: Do it."),
        ("## Title\n- a\n- b\n", "Title: a; b"),
        ("> quoted\n> twice", "quoted; twice"),
        ("1. one\n2) two", "one; two"),
        ("- [ ] open\n- [x] done", "open; done"),
        ("wrapped\nline", "wrapped line"),
        ("First.\n\nSecond", "First. Second"),
        ("Run:\n```sh\nmake\n```", "Run: make"),
        ("a\r\nb\rc\td", "a b c d"),
        ("-5 is a number", "-5 is a number"),
        ("#", "#"),
        ("```", "```"),
    ],
)
def test_markers_are_dropped_and_lines_are_joined(text: str, line: str) -> None:
    assert one_line(text) == line


@settings(deadline=None)
@given(SENTENCES)
def test_what_is_cut_off_holds_no_sense_word(text: str) -> None:
    kept, lost = cut_off(text)
    assert not set(re.findall(r"[a-z']+", lost.lower())) & set(ENGLISH)
    assert (
        len(kept) < LENGTH
        or not lost
        or any(found.end <= len(kept) for found in sense_words(one_line(text)))
    )


@settings(deadline=None)
@given(
    st.one_of(
        ANY_TEXT,
        st.lists(st.one_of(ANY_TEXT, SENTENCES, st.sampled_from(["不要 ", "❌ ", FAMILY]))).map(
            "".join
        ),
    )
)
def test_summary_of_any_text_is_one_line_that_breaks_no_character_and_keeps_every_sense_word(
    text: str,
) -> None:
    kept, lost = cut_off(text)
    line = one_line(text)
    assert len(summarize(text).split("\n")) == 1
    assert bool(summarize(text)) == bool(text.strip())
    if lost:
        assert all(found.end <= len(kept) for found in sense_words(line))
        assert is_border(line, len(kept)) or not is_border(line, LENGTH - 1)
    else:
        assert summarize(text) == line


@pytest.mark.parametrize("one", [FAMILY, "e\u0301", "🇩🇪", "👍🏽", "각", "क्षि", "\ud83d\ude00"])
def test_cut_never_falls_inside_what_people_see_as_one_character(one: str) -> None:
    summary = summarize(one * 60)
    kept = summary.removesuffix("…")
    assert kept
    assert kept == one * (len(kept) // len(one))


def test_character_longer_than_the_summary_is_kept_whole() -> None:
    assert summarize("e" + "\u0301" * 100 + " and more" * 9) == "e" + "\u0301" * 100 + "…"


def test_text_without_spaces_is_cut_between_characters() -> None:
    assert (
        summarize("https://example.com/" + "a" * 100)
        == ("https://example.com/" + "a" * 100)[:59] + "…"
    )
    assert summarize("用" * 100) == "用" * 59 + "…"


@pytest.mark.parametrize(
    "text", ["word " * 40_000, "not. " * 8_000, "不" * 30_000, "- x\n" * 20_000]
)
def test_huge_text_has_a_summary(text: str) -> None:
    assert one_line(text).startswith(summarize(text).removesuffix("…").rstrip())
