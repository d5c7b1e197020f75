"""One rule for each bullet, whole, with what it stands under; and nothing from code, tables, comments or trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors.markdown import read_rules


def texts(text: str) -> list[str]:
    return [rule.text for rule in read_rules(text).rules]


def test_each_bullet_is_a_rule_with_its_line_heading_and_file() -> None:
    rules = read_rules("# Project\n\n## Style\n\n- Use uv.\n* Use ruff.\n+ Use mypy.\n", "AGENTS.md").rules
    assert [(rule.text, rule.line, rule.heading, rule.file) for rule in rules] == [
        ("Use uv.", 5, "Style", "AGENTS.md"),
        ("Use ruff.", 6, "Style", "AGENTS.md"),
        ("Use mypy.", 7, "Style", "AGENTS.md"),
    ]


def test_what_hangs_on_a_bullet_belongs_to_it() -> None:
    text = (
        "- Run the tests\n  before you push,\nand after.\n  - with uv\n    - always\n\n  Except on Fridays.\n- Next\n"
    )
    assert texts(text) == [
        "Run the tests\nbefore you push,\nand after.\n- with uv\n  - always\n\nExcept on Fridays.",
        "Next",
    ]


def test_paragraph_after_a_list_does_not_belong_to_it() -> None:
    assert texts("- One\n\nSome prose.\n\n- Two\n") == ["One", "Two"]


def test_introduction_that_ends_in_a_colon_is_part_of_each_rule() -> None:
    assert texts("Never:\n\n- force-push\n- skip\n\nSome prose.\n- Go\n") == ["Never: force-push", "Never: skip", "Go"]


@pytest.mark.parametrize(
    "heading", ["Don't", "DON'Ts", "Before a release", "Anti-patterns", "Was nie geht", "禁止しない"]
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
def test_numbered_list_under_something_that_speaks_of_steps_is_one_procedure(above: str, first: str) -> None:
    (rule,) = read_rules(above + "1. Tag it.\n   - signed\n2. Push it.\n").rules
    assert rule.text == f"{first}\n1. Tag it.\n- signed\n2. Push it."
    assert rule.steps


def test_bullets_after_a_numbered_list_are_rules_of_their_own() -> None:
    rules = read_rules("Steps:\n1. One\n2. Two\n- Three\n").rules
    assert [(rule.text, rule.steps) for rule in rules] == [("Steps:\n1. One\n2. Two", True), ("Steps: Three", False)]


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
    ],
)
def test_bullet_that_only_points_somewhere_is_skipped_and_listed(bullet: str, why: str) -> None:
    found = read_rules(f"- {bullet}\n- Use uv.\n")
    assert [rule.text for rule in found.rules] == ["Use uv."]
    assert [(each.text, each.line, each.why) for each in found.skipped] == [(bullet, 1, why)]


@pytest.mark.parametrize(
    "bullet", ["See [docs](a.md) first", "[A](b) and [C](d)", "Use `src/` only", "Use/avoid it", "uv"]
)
def test_bullet_that_says_something_is_a_rule(bullet: str) -> None:
    assert texts(f"- {bullet}\n") == [bullet]


def test_box_of_a_task_is_no_part_of_the_rule() -> None:
    assert texts("- [ ] Use uv\n- [x] Use ruff\n") == ["Use uv", "Use ruff"]


def test_heading_may_be_underlined() -> None:
    assert [rule.heading for rule in read_rules("Style\n=====\n- A\n\nTests\n---\n- B\n").rules] == ["Style", "Tests"]


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


@given(st.lists(st.text("abc é,", min_size=1, max_size=12).filter(str.strip), min_size=1, max_size=6))
def test_every_bullet_comes_out_once_and_in_order(bullets: list[str]) -> None:
    assert texts("".join(f"- {bullet}\n" for bullet in bullets)) == [bullet.strip() for bullet in bullets]
