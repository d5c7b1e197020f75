"""One rule for each bullet, whole, with what it stands under; and nothing from code, tables,
comments or trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors.markdown import front_matter, read_note, read_rules


def texts(text: str) -> list[str]:
    return [rule.text for rule in read_rules(text).rules]


def test_each_bullet_is_a_rule_with_its_line_heading_and_file() -> None:
    rules = read_rules(
        "# Project\n\n## Style\n\n- Use uv.\n* Use ruff.\n+ Use mypy.\n", "AGENTS.md"
    ).rules
    assert [(rule.text, rule.line, rule.heading, rule.file) for rule in rules] == [
        ("Use uv.", 5, "Style", "AGENTS.md"),
        ("Use ruff.", 6, "Style", "AGENTS.md"),
        ("Use mypy.", 7, "Style", "AGENTS.md"),
    ]


def test_what_hangs_on_a_bullet_belongs_to_it() -> None:
    text = "- Run the tests\n  before you push,\nand after.\n  - with uv\n    - always\n\n  Except on Fridays.\n- Next\n"
    assert texts(text) == [
        "Run the tests\nbefore you push,\nand after.\n- with uv\n  - always\n\nExcept on Fridays.",
        "Next",
    ]


def test_paragraph_after_a_list_does_not_belong_to_it() -> None:
    assert texts("- One\n\nSome prose.\n\n- Two\n") == ["One", "Two"]


def test_introduction_that_ends_in_a_colon_is_part_of_each_rule() -> None:
    assert texts("Never:\n\n- force-push\n- skip\n\nSome prose.\n- Go\n") == [
        "Never: force-push",
        "Never: skip",
        "Go",
    ]


@pytest.mark.parametrize(
    "heading",
    ["Don't", "DON'Ts", "Before a release", "Anti-patterns", "Was nie geht", "禁止しない"],
)
def test_heading_that_turns_or_narrows_the_sense_is_part_of_each_rule(heading: str) -> None:
    assert texts(f"## {heading}\n- Use any\n") == [f"{heading}: Use any"]


def test_numbered_list_is_one_rule_each() -> None:
    assert texts("## Style\n1. Use uv.\n2) Use ruff.\n") == ["Use uv.", "Use ruff."]


@pytest.mark.parametrize(
    ("above", "first"),
    [
        ("## Release process\n\n", "Release process:"),
        ("Follow these steps:\n\n", "Follow these steps:"),
        ("## 手順\n", "手順:"),
    ],
)
def test_numbered_list_under_something_that_speaks_of_steps_is_one_procedure(
    above: str, first: str
) -> None:
    (rule,) = read_rules(above + "1. Tag it.\n   - signed\n2. Push it.\n").rules
    assert rule.text == f"{first}\n1. Tag it.\n- signed\n2. Push it."
    assert rule.steps


def test_bullets_after_a_numbered_list_are_rules_of_their_own() -> None:
    rules = read_rules("Steps:\n1. One\n2. Two\n- Three\n").rules
    assert [(rule.text, rule.steps) for rule in rules] == [
        ("Steps:\n1. One\n2. Two", True),
        ("Steps: Three", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```\n- no\n```\n",
        "~~~~ md\n- no\n~~~\n- no\n~~~~\n",
        "<!-- - no\n- no\n-->\n",
        "---\ntags:\n- no\n---\n",
        "| a | b |\n| - | - |\n| - no | x |\n",
        "    - no\n",
        "- - -\n***\n",
        "-no\n1.no\n",
        "",
        "- \n",
    ],
)
def test_what_is_no_bullet_of_the_text_is_no_rule(text: str) -> None:
    assert texts(text + "\n- Yes.\n") == ["Yes."]


def test_code_inside_a_bullet_stays_in_it() -> None:
    assert texts("- Run:\n  ```sh\n  - not a bullet\n  make\n  ```\n- Two\n") == [
        "Run:\n```sh\n- not a bullet\nmake\n```",
        "Two",
    ]


def test_comment_inside_a_bullet_is_taken_out() -> None:
    assert texts("- Use <!-- why not --> uv.\n<!-- x -->\n- Two\n") == ["Use  uv.", "Two"]


@pytest.mark.parametrize(
    ("bullet", "why"),
    [
        ("[Docs](docs/index.md)", "only a link"),
        ("https://example.com/x", "only a link"),
        ("@docs/rules.md", "only a link"),
        ("├── src", "a line of a file tree"),
        ("`src/app/`", "only a path"),
        ("`README.md`", "only a path"),
        ("**Testing**: @docs/testing.md", "only a link"),
        ("👍", "says nothing to do"),
    ],
)
def test_bullet_that_only_points_somewhere_is_skipped_and_listed(bullet: str, why: str) -> None:
    found = read_rules(f"- {bullet}\n- Use uv.\n")
    assert [rule.text for rule in found.rules] == ["Use uv."]
    assert [(each.text, each.line, each.why) for each in found.skipped] == [(bullet, 1, why)]


@pytest.mark.parametrize(
    "bullet",
    ["See [docs](a.md) first", "[A](b) and [C](d)", "Use `src/` only", "Use/avoid it", "uv"],
)
def test_bullet_that_says_something_is_a_rule(bullet: str) -> None:
    assert texts(f"- {bullet}\n") == [bullet]


def test_box_of_a_task_is_no_part_of_the_rule() -> None:
    assert texts("- [ ] Use uv\n- [x] Use ruff\n") == ["Use uv", "Use ruff"]


def test_heading_may_be_underlined() -> None:
    assert [
        rule.heading for rule in read_rules("Style\n=====\n- A\n\nTests\n---\n- B\n").rules
    ] == ["Style", "Tests"]


def test_file_without_a_list_has_a_rule_in_each_paragraph() -> None:
    text = "# Rules\n\nYou are an expert in Go.\nUse it.\n\n```\ncode\n```\n\nNever use panic.\n"
    assert texts(text) == ["You are an expert in Go. Use it.", "Never use panic."]


def test_windows_line_ends_and_tabs_are_read() -> None:
    assert texts("- One\r\n\t- nested\r\n- Two\r\n") == ["One\n  - nested", "Two"]


@given(st.text("-*1. \n#`<!|>ab:\t~[]()", max_size=80))
def test_nothing_raises_and_every_rule_says_something_at_a_line_that_is_there(text: str) -> None:
    found = read_rules(text)
    lines = text.count("\n") + 1
    for rule in found.rules:
        assert rule.text.strip()
        assert 1 <= rule.line <= lines
    numbers = [rule.line for rule in found.rules]
    assert numbers == sorted(numbers)


@given(
    st.lists(
        st.text("abc é,", min_size=1, max_size=12).filter(lambda text: text.strip(" ,")),
        min_size=1,
        max_size=6,
    )
)
def test_every_bullet_comes_out_once_and_in_order(bullets: list[str]) -> None:
    assert texts("".join(f"- {bullet}\n" for bullet in bullets)) == [
        bullet.strip() for bullet in bullets
    ]


PROSE = """\
# Guide

This file provides guidance to agents that work in this repository.

IMPORTANT: Always use UTC for what is stored. Convert it
only in the view.

The shop has three services.

Do what was asked; nothing more.
NEVER add a file without need.

- One bullet.

> [!WARNING]
> Don't log addresses.
"""


def test_prose_that_says_what_to_do_is_a_rule_and_the_rest_is_listed() -> None:
    found = read_rules(PROSE)
    assert [(rule.text, rule.line) for rule in found.rules] == [
        ("IMPORTANT: Always use UTC for what is stored. Convert it only in the view.", 5),
        ("Do what was asked; nothing more.", 10),
        ("NEVER add a file without need.", 11),
        ("One bullet.", 13),
        ("Don't log addresses.", 15),
    ]
    assert [(each.line, each.why) for each in found.skipped] == [
        (3, "says nothing to do"),
        (8, "says nothing to do"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Nutze immer UTC.",
        "Utilisez pnpm.",
        "Usa pnpm siempre.",
        "Nunca faça push.",
        "Please run the tests.",
    ],
)
def test_prose_is_understood_in_other_languages(text: str) -> None:
    assert texts(f"{text}\n\n- One.\n") == [text, "One."]


def test_comment_in_backticks_stays() -> None:
    assert texts("- Mark it with `<!-- done -->`.\n\n`<!-- a -->` is never removed.\n") == [
        "Mark it with `<!-- done -->`.",
        "`<!-- a -->` is never removed.",
    ]


def test_code_belongs_to_the_sentence_that_leads_to_it_and_is_listed_otherwise() -> None:
    found = read_rules(
        "Before you push, run:\n\n```sh\nmake\n```\n\n```sh\nls\n```\n\n| a |\n|---|\n| b |\n\n- One\n"
    )
    assert [rule.text for rule in found.rules] == ["Before you push, run:\n```sh\nmake\n```", "One"]
    assert [(each.line, each.why) for each in found.skipped] == [
        (7, "a code block"),
        (11, "a table"),
    ]


def test_front_matter_without_an_end_is_listed() -> None:
    found = read_rules("---\nglobs: *.py\n\n- Use it.\n")
    assert (found.skipped[0].line, found.skipped[0].why) == (
        1,
        "front matter that doesn't end with ---",
    )


def test_pasted_log_is_not_a_rule() -> None:
    found = read_rules("2026-01-01 must retry: failed\n" * 500)
    assert (found.rules, len(found.skipped)) == ((), 1)


@pytest.mark.parametrize(
    "text", ["`" * 50_000 + "\n<!--" * 500, "> " * 2_000 + "a", "@a.md " * 5_000, "~" * 9_999]
)
def test_odd_text_takes_no_time(text: str) -> None:
    read_rules(text)


def test_imports_are_found_outside_of_code() -> None:
    found = read_rules(
        "@docs/style.md\n\nSee @README.md for more.\n\n`@no.md` me@example.md\n\n- Tests: @docs/t.md\n"
    )
    assert [(each.path, each.line, each.alone) for each in found.imports] == [
        ("docs/style.md", 1, True),
        ("README.md", 3, False),
        ("docs/t.md", 7, True),
    ]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            "---\nglobs: **/*.py\nalwaysApply: false\n---\n",
            {"globs": ["**/*.py"], "alwaysApply": ["false"]},
        ),
        ('---\npaths: ["a/**", "b/*.{x,y}"]\n---\n', {"paths": ["a/**", "b/*.{x,y}"]}),
        ("---\nmetadata:\n  type: feedback\n---\n", {"metadata": [], "type": ["feedback"]}),
        ("---\nglobs:\n---\n", {"globs": []}),
        ("---\n: : [\n---\n", {}),
        ("- no\n", {}),
    ],
)
def test_front_matter_is_read_as_people_write_it(text: str, fields: dict[str, list[str]]) -> None:
    assert front_matter(text) == fields


NOTE = "---\nname: no mocks\ndescription: Never mock the database\ntype: {}\n---\n\n# No mocks\n\n{}\n\n**Why:** a bug.\n"


def test_note_on_a_correction_is_the_rule_before_its_reason() -> None:
    text = NOTE.format("feedback", "Do not mock the database.")
    assert [rule.text for rule in read_note(text, front_matter(text)).rules] == [
        "Do not mock the database."
    ]
    text = NOTE.format("feedback", "Do not mock the database. " * 40)
    assert [rule.text for rule in read_note(text, front_matter(text)).rules] == [
        "Never mock the database"
    ]


@pytest.mark.parametrize(
    ("kind", "why"), [("user", "a note about the user"), ("project", "a note about the project")]
)
def test_other_notes_are_listed(kind: str, why: str) -> None:
    text = NOTE.format(kind, "x")
    assert [each.why for each in read_note(text, front_matter(text)).skipped] == [
        f"{why}, not a correction"
    ]
