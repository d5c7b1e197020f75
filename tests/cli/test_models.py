"""``brim dev models`` finds models by part of a name, by glob and by any spelling."""

from __future__ import annotations

import pytest

from brim.models import model
from tests.cli.conftest import Brim


def names(brim: Brim, *patterns: str) -> list[str]:
    return [each["name"] for each in brim("dev", "models", *patterns, "--json").json["models"]]


def test_a_whole_name_finds_just_that_model(brim: Brim) -> None:
    assert names(brim, "gpt-4o") == ["gpt-4o"]
    assert names(brim, "GPT-4o") == ["gpt-4o"]


def test_a_part_of_a_name_finds_all_that_hold_it(brim: Brim) -> None:
    found = names(brim, "sonnet")
    assert "claude-sonnet-4-5" in found
    assert len(found) > 3
    assert all("sonnet" in name.lower() for name in found)


def test_a_models_own_name_comes_before_a_resellers(brim: Brim) -> None:
    assert names(brim, "sonnet")[0].startswith("claude")


def test_a_glob_finds_what_it_matches(brim: Brim) -> None:
    found = names(brim, "gpt-4o*")
    assert {"gpt-4o", "gpt-4o-mini"} <= set(found)
    assert all(name.lower().startswith("gpt-4o") for name in found)


def test_several_patterns_stand_side_by_side(brim: Brim) -> None:
    wanted = ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro"]
    assert names(brim, *wanted) == wanted
    lines = brim("dev", "models", *wanted).lines
    assert [line.split()[0] for line in lines[1:]] == wanted
    windows = ["128,000", "200,000", "1,048,576"]
    ends = {
        line.index(window) + len(window) for line, window in zip(lines[1:], windows, strict=True)
    }
    assert ends == {lines[0].index("window") + len("window")}


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("openai/gpt-4o", "gpt-4o"),
        ("anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5"),
    ],
)
def test_a_whole_name_in_any_spelling_finds_just_that_model(
    brim: Brim, spelling: str, name: str
) -> None:
    assert names(brim, spelling) == [name]


def test_a_model_that_two_patterns_find_is_shown_once(brim: Brim) -> None:
    assert names(brim, "gpt-4o", "GPT-4O", "gpt-4o-mini", "gpt-4o") == ["gpt-4o", "gpt-4o-mini"]


def test_json_has_what_the_model_has(brim: Brim) -> None:
    ran = brim("dev", "models", "claude-sonnet-4-5", "--json")
    assert ran.json["total"] == 1
    [found] = ran.json["models"]
    known = model("claude-sonnet-4-5")
    for key in (
        "name",
        "provider",
        "context_window",
        "max_input",
        "max_output",
        "encoding",
        "resolved",
        "source",
    ):
        assert found[key] == getattr(known, key)
    assert (found["price"]["input"], found["price"]["output"]) == ("3", "15")


def test_an_unknown_price_is_null_and_a_dash(brim: Brim) -> None:
    brim.configure("models:\n  priceless:\n    context_window: 5000\n")
    [found] = brim("dev", "models", "priceless", "--json").json["models"]
    assert found["price"] is None
    assert brim("dev", "models", "priceless").lines[1].split()[-4:] == ["-"] * 4


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_no_match_ends_with_1(brim: Brim, form: list[str]) -> None:
    ran = brim("dev", "models", "nobody-knows-me", *form)
    assert ran.code == 1
    assert "nobody-knows-me" in ran.err
    if form:
        assert ran.json == {"models": [], "total": 0}


@pytest.mark.parametrize("pattern", ["[", "[!", "*[", "\\", "a\nb", "%s", "x" * 5_000])
def test_an_odd_pattern_matches_nothing(brim: Brim, pattern: str) -> None:
    assert brim("dev", "models", pattern).code in (0, 1)


def test_many_matches_are_cut_and_a_note_says_how_many_more(brim: Brim) -> None:
    ran = brim("dev", "models", "sonnet")
    total = brim("dev", "models", "sonnet", "--json").json["total"]
    assert len(ran.lines) == 41
    assert f"{total - 40:,} more" in ran.err
    everything = brim("dev", "models", "sonnet", "--all")
    assert len(everything.lines) == total + 1
    assert everything.err == ""
