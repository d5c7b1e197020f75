"""How one behavior reads at each tier, and that it stays in its place."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.rules import Rule, render
from brim.rules.text import item_text, unforged
from brim.rules.tiers import FRAME_TOKENS, INTRODUCTION, Tier, frame_tokens, left_out
from brim.tokens import ExactTokenCounter
from tests.rules.counters import COUNTERS, WordCounter
from tests.rules.making import behaviors, planned, rule
from tests.rules.reference import Reference


def shown(text: str) -> str:
    return item_text(rule("r", text), Tier.FULL)


def test_a_name_says_kind_and_tags() -> None:
    behavior = rule("use-uv", tags=("python", "packaging"))
    assert item_text(behavior, Tier.NAME_ONLY) == "`use-uv` [directive] #python #packaging\n"


def test_a_summary_is_the_stored_one_else_the_text_cut_at_a_word() -> None:
    stored = rule("r", summary="Use uv.")
    assert item_text(stored, Tier.SUMMARY) == "- Use uv.\n"
    text = "Install packages with uv, pin them, and write down the reason for each in the notes of the release."
    made = item_text(rule("r", text), Tier.SUMMARY)
    assert made.endswith("…\n")
    assert len(made) <= 2 + 60 + 1


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("One.\nTwo.\n\n\nThree.", "- One.\n  Two.\n  Three.\n"),
        ("a\r\nb\rc", "- a\n  b\n  c\n"),
        ("## Constraints\nNever.", "- \\## Constraints\n  Never.\n"),
        ("Title\n===\nText\n---", "- Title\n  \\===\n  Text\n  \\---\n"),
        ("#tag is no heading", "- #tag is no heading\n"),
        (
            "Run:\n```sh\n# install\nuv sync\n```\n# Heading",
            "- Run:\n  ```sh\n  # install\n  uv sync\n  ```\n  \\# Heading\n",
        ),
        ("```\nopen", "- ```\n  open\n  ```\n"),
        ("red \x1b[31m\x07\x00 \u202edone", "- red [31m done\n"),
        ("lone \ud800", "- lone ?\n"),
        ("  indented\n    more", "- indented\n      more\n"),
    ],
)
def test_a_text_keeps_its_sense_and_its_place(text: str, lines: str) -> None:
    assert shown(text) == lines


def test_lines_that_are_rendered_in_another_way_are_noticed() -> None:
    """If this fails, raise ``VERSION`` of the index, which has the lines. Then put the new digest
    here."""
    texts = (
        "Use uv, not pip.",
        "One.\n\n# Two\n```\n<a> & b",
        "Install packages with uv, pin them, and say why. " * 4,
    )
    rules = [rule("r", text, tags=("python", "style")) for text in texts]
    lines = [item_text(each, tier) for each in rules for tier in Tier]
    assert sha256("".join(lines).encode()).hexdigest()[:8] == "4b420e0d"


def test_a_text_of_nothing_that_can_be_shown_is_said_to_be_empty() -> None:
    assert shown("\x00") == "- (empty)\n"


def test_every_included_behavior_appears_exactly_once() -> None:
    pairs: list[tuple[Rule, float]] = [
        (
            rule(f"r{n}", f"Text number {n} of the rules.", summary=f"Sum number {n}.", kind=kind),
            value,
        )
        for n, (kind, value) in enumerate(
            [
                ("constraint", 0.9),
                ("constraint", 0.05),
                ("directive", 0.9),
                ("workflow", 0.4),
                ("episodic", 0.2),
            ]
        )
    ]
    from brim.rules import render

    assert render(planned(pairs)) == (
        "Rules your user set, kept by brim:\n"
        "## Constraints\n"
        "- Text number 0 of the rules.\n"
        "- Sum number 1.\n"
        "## Directives\n"
        "- Text number 2 of the rules.\n"
        "## Workflows\n"
        "- Sum number 3.\n"
        "## Also learned\n"
        "`r4` [episodic]\n"
    )


def test_notes_of_an_agent_stand_apart() -> None:
    from brim.rules import render

    plan = planned([(rule("n", "Use uv.", status="pending"), 0.99), (rule("r", "Pin it."), 0.9)])
    assert render(plan) == (
        "Rules your user set, kept by brim:\n## Directives\n- Pin it.\nNotes agents left, not confirmed:\n- Use uv.\n"
    )


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("> # Constraints", "> \\# Constraints"),
        ("- # Constraints", "- \\# Constraints"),
        ("1. # Constraints", "1. \\# Constraints"),
        ("> - ## Constraints", "> - \\## Constraints"),
        ("> a\n> ---", "> a\n> \\---"),
        ("> a\n> -", "> a\n> \\-"),
        ("\t# Constraints", "\t\\# Constraints"),
        ("2024 was # good", "2024 was # good"),
        ("- [ ] open #42", "- [ ] open #42"),
    ],
)
def test_a_heading_inside_a_list_or_a_quote_is_escaped_too(text: str, kept: str) -> None:
    assert unforged(text.split("\n")) == kept.split("\n")


@pytest.mark.parametrize(
    "before",
    [
        "Text\n      ```",  # so far to the right it goes on with the text
        "\u00a0```",  # this space is none in Markdown
        "1. Run\n   ```",  # ends with the list that it stands in
        "- ```",
        "> ```",
        "<!--\n```\n-->",
        "<script>\n```\n</script>",
        "```\n    ```\n```",  # what is so far to the right does not end it, the next line does
        "``` a`b",
    ],
)
def test_what_only_looks_like_code_hides_no_heading(before: str) -> None:
    assert (
        unforged([*before.split("\n"), "# Constraints"])[before.count("\n") + 1]
        == "\\# Constraints"
    )


@pytest.mark.parametrize(
    "code",
    [
        "```sh\n# install\nuv sync\n```",
        "~~~\n# a\n```\n# b\n~~~",
        "1. Run:\n   ```sh\n   # install\n   ```\n2. Read.",
        "- Run:\n  ```sh\n  # install\n    # indented\n  ```",
        "````md\n```\n# Title\n```\n````",
    ],
)
def test_code_stays_as_it_is(code: str) -> None:
    assert unforged(code.split("\n")) == code.split("\n")


def test_a_thousand_markers_cost_no_more_than_their_length() -> None:
    deep = "> " * 100_000 + "# x"
    assert unforged([deep]) == ["> " * 50 + "\\" + deep[100:]]


@pytest.mark.parametrize(
    "sign", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\x1d", "\x1e"]
)
def test_what_some_take_for_the_end_of_a_line_is_a_space(sign: str) -> None:
    text = item_text(rule("r", f"Be kind.{sign}## Constraints"), Tier.FULL)
    assert "Be kind. ## Constraints" in text
    assert len(text.splitlines()) == 1


Pairs = list[tuple[Rule, float]]


@given(
    pairs=behaviors(least=1),
    share=st.floats(0.05, 1),
    max_chars=st.one_of(st.none(), st.integers(1, 600)),
    counter=st.sampled_from(sorted(COUNTERS)),
)
def test_demotion_is_the_documented_rule(
    pairs: Pairs, share: float, max_chars: int | None, counter: str
) -> None:
    count = COUNTERS[counter]
    budget = max(1, round(share * planned(pairs, counter=count).total_tokens))
    plan = planned(pairs, budget=budget, max_chars=max_chars, counter=count)
    reference = Reference(pairs, count, (budget, max_chars))
    assert {item.id: int(item.tier) for item in plan.items} == reference.run()
    assert render(plan) == reference.text()


class AskedCounter(WordCounter):
    def __init__(self) -> None:
        self.characters = 0

    def count(self, text: str, /) -> int:  # type: ignore[override]
        self.characters += len(text)
        return super().count(text)


def test_a_counter_that_does_not_add_up_is_not_asked_for_every_step_of_many_behaviors() -> None:
    many = [
        (rule(f"r{n}", f"Rule {n} says a little.", summary=f"Rule {n}."), 0.9) for n in range(640)
    ]
    counter = AskedCounter()
    plan = planned(many, budget=100, counter=counter)
    assert plan.total_tokens <= 100
    whole = len(render(planned(many, counter=counter)))
    assert counter.characters <= 20 * whole


def test_what_switched_injection_off_is_named() -> None:
    plan = planned([(rule("r"), 0.9)], max_chars=0)
    assert plan.reasons == ("max_chars is 0: injection is off, constraints too",)
    assert plan.items[0].reason == "max_chars is 0: injection is off"


def test_whoever_is_promoted_is_said_to_be() -> None:
    plan = planned([(rule("r", "Use uv.", summary="Uv."), 0.5)], budget=100, fill=True)
    assert plan.items[0].reason == "activation 0.50 is at least 0.3; promoted into spare budget"


@pytest.mark.parametrize("encoding", sorted(FRAME_TOKENS))
@pytest.mark.parametrize("uncounted", [0, 1, 2, 9, 10, 99, 100, 999, 1_000, 12_345])
def test_the_lines_around_the_rules_take_what_is_written_down(
    encoding: str, uncounted: int
) -> None:
    frame = INTRODUCTION + left_out(uncounted)
    assert frame_tokens(uncounted, encoding) == ExactTokenCounter(encoding=encoding).count(frame)
