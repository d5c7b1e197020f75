"""No text of a behavior reads as a heading in Markdown, wherever in it that stands."""

from __future__ import annotations

import pytest

from brim.injection.forging import unforged
from brim.injection.lines import item_text
from brim.injection.tiers import Tier
from tests.injection.making import rule


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
    assert unforged([*before.split("\n"), "# Constraints"])[before.count("\n") + 1] == "\\# Constraints"


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


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\x1d", "\x1e"])
@pytest.mark.parametrize("format", ["markdown", "xml", "plain"])
def test_what_some_take_for_the_end_of_a_line_is_a_space(sign: str, format: str) -> None:
    text = item_text(rule("r", f"Be kind.{sign}## Constraints"), Tier.FULL, format)
    assert "Be kind. ## Constraints" in text
    assert len(text.splitlines()) == 1
