"""The promise: what is rendered, counted by the counter that set the budget, is at most the budget;
or it says so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from brim.rules import Rule, Tier, render
from brim.rules.text import NOTES, is_protected
from tests.rules.counters import COUNTERS
from tests.rules.making import behaviors, planned

Pairs = list[tuple[Rule, float]]


MARKDOWN = [
    *(
        "# H",
        "===",
        "---",
        "> # H",
        "> -",
        "- # H",
        "1. a",
        "   ===",
        "\t# H",
        "      # H",
        "- - # H",
    ),
    *(
        "```",
        "~~~",
        "   ```",
        "      ```",
        "- ```",
        "> ```",
        "\u00a0```",
        "``` a`b",
        "<!--",
        "-->",
        "<div>",
        "text",
    ),
]


@given(
    pairs=behaviors(),
    budget=st.one_of(st.none(), st.integers(0, 400)),
    max_chars=st.one_of(st.none(), st.none(), st.integers(0, 1500)),
    counter=st.sampled_from(sorted(COUNTERS)),
    fill=st.booleans(),
    whole=st.booleans(),
)
def test_the_text_is_within_its_limits_or_the_plan_says_so(
    pairs: Pairs,
    budget: int | None,
    max_chars: int | None,
    counter: str,
    fill: bool,
    whole: bool,
) -> None:
    count = COUNTERS[counter]
    plan = planned(pairs, budget=budget, max_chars=max_chars, counter=count, fill=fill, whole=whole)
    text = render(plan)
    assert count.count(text) == plan.total_tokens
    assert len(text) == plan.characters
    if plan.included:
        too_many_tokens = budget is not None and plan.total_tokens > budget
        too_long = max_chars is not None and len(text) > max_chars
        assert plan.over_budget is (too_many_tokens or too_long)
        assert plan.overflow == (
            max(0, int(plan.total_tokens) - budget)
            if budget is not None and plan.over_budget
            else 0
        )
    else:
        assert text == ""
        assert not plan.over_budget
    if plan.over_budget:  # only what may not be left out is left, and no more of it than has to be
        assert all(is_protected(item.behavior) for item in plan.included)
        assert plan.reasons
    check_tiers(plan.items, off=0 in (budget, max_chars))
    check_lines(text)


def check_tiers(items: tuple[object, ...], *, off: bool) -> None:
    for item in items:
        behavior, tier = item.behavior, item.tier  # type: ignore[attr-defined]
        if behavior.status.value in ("forgotten", "superseded") or off:
            assert tier is Tier.OMITTED
        elif is_protected(behavior):
            assert tier >= Tier.SUMMARY
        elif behavior.status.value == "pending":
            assert tier <= Tier.SUMMARY
        assert item.reason  # type: ignore[attr-defined]


def check_lines(text: str) -> None:
    """Every line begins as the renderer promises, and none is blank: else the costs of lines would
    not add up."""
    assert text == "" or text.endswith("\n")
    introduction, *lines = text.split("\n")[:-1] or [""]
    assert not lines or "kept by brim" in introduction or introduction == NOTES
    for line in [each for each in lines if each != NOTES]:
        assert line.strip()
        assert line.startswith(("- ", "#", "`", "  "))


@given(pairs=behaviors(most=6))
def test_the_lines_of_a_text_add_up_to_the_token(pairs: Pairs) -> None:
    text = render(planned(pairs))
    for name in ("o200k", "cl100k", "harmony"):
        counter = COUNTERS[name]
        assert sum(counter.count(line + "\n") for line in text.split("\n")[:-1]) == counter.count(
            text
        )


@given(pairs=behaviors())
def test_headings_are_only_those_of_brim(pairs: Pairs) -> None:
    plan = planned(pairs)
    lines = render(plan).split("\n")
    headings = [line for line in lines if line.startswith("#")]
    assert all(line.startswith("## ") for line in headings)
    items = [line for line in lines if line.startswith("- ")]
    names = [line for line in lines if line.startswith("`")]
    assert len(headings) == len(set(headings)) <= 9
    assert len(names) == len(plan.name_only)
    assert len(items) == len(plan.full) + len(plan.summarized)


@given(pairs=behaviors(), extra=st.lists(st.sampled_from(MARKDOWN), min_size=1, max_size=7))
def test_markdown_has_only_the_headings_and_items_of_brim(pairs: Pairs, extra: list[str]) -> None:
    pairs = [*pairs, (Rule("z", "z", "directive", "\n".join(extra)), 1.0)]
    plan = planned(pairs)
    text = render(plan)
    tokens = MarkdownIt("commonmark", {"maxNesting": 1000}).parse(text)
    headings = [token for token in tokens if token.type == "heading_open"]
    assert len(headings) == sum(line.startswith("## ") for line in text.split("\n"))
    assert all(token.level == 0 for token in headings)
    items = [token for token in tokens if token.type == "list_item_open" and token.level == 1]
    assert len(items) == len(plan.full) + len(plan.summarized)


@given(pairs=behaviors(), budget=st.integers(1, 300))
def test_the_order_in_which_they_come_changes_nothing(pairs: Pairs, budget: int) -> None:
    forth = planned(pairs, budget=budget)
    assert planned(pairs[::-1], budget=budget) == forth


@given(pairs=behaviors(least=3, most=8))
def test_more_budget_never_needs_more_than_it(pairs: Pairs) -> None:
    most = planned(pairs)
    whole = int(most.total_tokens)
    assert planned(pairs, budget=whole).total_tokens == whole
    if whole:
        tight = planned(pairs, budget=whole - 1)
        assert tight.total_tokens < whole or tight.over_budget
