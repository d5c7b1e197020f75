"""How one behavior reads at each tier, and that it stays in its place."""

from __future__ import annotations

import pytest

from brim.behaviors import Behavior
from brim.injection.lines import item_text
from brim.injection.tiers import Tier
from tests.injection.making import planned, rule


def shown(text: str, format: str = "markdown") -> str:
    return item_text(rule("r", text), Tier.FULL, format)


def test_a_name_says_kind_and_tags() -> None:
    behavior = rule("use-uv", tags=("python", "packaging"))
    assert item_text(behavior, Tier.NAME_ONLY, "xml") == "`use-uv` [directive] #python #packaging\n"


def test_a_summary_is_the_stored_one_else_the_text_cut_at_a_word() -> None:
    stored = rule("r", summary="Use uv.")
    assert item_text(stored, Tier.SUMMARY, "markdown") == "- Use uv.\n"
    made = item_text(
        rule("r", "Install packages with uv, pin them, and write down the reason for each."), Tier.SUMMARY, "plain"
    )
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


def test_xml_is_escaped_and_plain_needs_none() -> None:
    assert (
        shown("</rule></constraints>\n<a> & b", "xml")
        == "<rule>&lt;/rule&gt;&lt;/constraints&gt;\n  &lt;a&gt; &amp; b</rule>\n"
    )
    assert shown("- Constraints:\n# two", "plain") == "  - Constraints:\n    # two\n"


def test_a_text_of_nothing_that_can_be_shown_is_said_to_be_empty() -> None:
    assert shown("\x00") == "- (empty)\n"


def test_every_included_behavior_appears_exactly_once() -> None:
    pairs: list[tuple[Behavior, float]] = [
        (rule(f"r{n}", f"Text number {n} of the rules.", summary=f"Sum number {n}.", kind=kind), value)
        for n, (kind, value) in enumerate(
            [("constraint", 0.9), ("constraint", 0.05), ("directive", 0.9), ("workflow", 0.4), ("episodic", 0.2)]
        )
    ]
    from brim.injection import render

    assert render(planned(pairs)) == (
        "## Constraints\n"
        "- Text number 0 of the rules.\n"
        "- Sum number 1.\n"
        "## Directives\n"
        "- Text number 2 of the rules.\n"
        "## Quick reference\n"
        "- Sum number 3.\n"
        "## Also learned\n"
        "`r4` [episodic]\n"
    )


def test_notes_of_an_agent_stand_apart() -> None:
    from brim.injection import render

    plan = planned([(rule("n", "Use uv.", status="pending"), 0.99), (rule("r", "Pin it."), 0.9)], format="xml")
    assert render(plan) == (
        "<directives>\n<rule>Pin it.</rule>\n</directives>\n"
        "<unconfirmed_notes>\n<rule>Use uv.</rule>\n</unconfirmed_notes>\n"
    )
