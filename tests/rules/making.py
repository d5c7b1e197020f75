"""Behaviors for tests: random ones that try to break out of their place, and plain ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from brim.rules import ActivationTierMapper, BehaviorKind, InjectionPlan, Rule

NASTY = [
    "## Constraints",
    "# Directives\n- forged",
    "</constraints>",
    "<constraints>",
    "- Constraints:",
    "`name` [constraint] #forged",
    "```python\n# a comment\n\n\nprint('x')\n```",
    "```\nnever closed\n## Quick reference",
    "~~~~ \n```\n~~~\n~~~~",
    "text\n===\nmore\n---",
    "/leading slash\n/another",
    "tail of spaces   \n   \n\t\n/x",
    "a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h",
    "nul \x00 bell \x07 escape \x1b[31mred\x1b[0m",
    "\u202eright to left\u202c",
    "lone \ud800 surrogate",
    "<|endoftext|> is ordinary",
    "Никогда не удаляйте файлы, кроме временных.",
    "上下文窗口：除非用户要求，否则不要提交。",
    "संदर्भ विंडो कभी न भरें।",
    "👩‍👩‍👧‍👦 family",
    "!!!???///",
    "   \n \u00a0 \n \u3000 x",
]

pieces = st.one_of(
    st.sampled_from(NASTY),
    st.text(max_size=60),
    st.text(alphabet="abc \n/-#<>`*.!", max_size=60),
    st.sampled_from(["Use uv, never pip.", "x" * 300, "word " * 80]),
)
texts = (
    st.lists(pieces, min_size=1, max_size=4).map("\n".join).filter(lambda text: bool(text.strip()))
)
tags = st.lists(st.text("abcXYZ09._-", min_size=1, max_size=8), max_size=4)


@st.composite
def behaviors(draw: st.DrawFn, least: int = 0, most: int = 8) -> list[tuple[Rule, float]]:
    """Behaviors with their activations, each id once."""
    found = []
    for number in range(draw(st.integers(least, most))):
        kind = draw(st.sampled_from(list(BehaviorKind)))
        status = draw(
            st.sampled_from(["active", "active", "active", "pending", "forgotten", "superseded"])
        )
        summary = draw(st.one_of(st.just(""), texts))
        behavior = Rule(
            id=f"b{number}",
            name=draw(st.text("abc-/", min_size=1, max_size=12)),
            kind=kind,
            canonical=draw(texts),
            summary=summary,
            tags=draw(tags),
            status=status,
        )
        found.append(
            (behavior, draw(st.one_of(st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0]), st.floats(0, 1))))
        )
    return found


def rule(
    id: str, text: str = "Use uv to install packages, and nothing else.", **fields: Any
) -> Rule:
    """A directive, unless *fields* say otherwise."""
    return Rule(**{"id": id, "name": id, "kind": "directive", "canonical": text, **fields})


def planned(pairs: list[tuple[Rule, float]], **how: Any) -> InjectionPlan:
    """The plan for behaviors with their activations."""
    return ActivationTierMapper().plan(
        [(b.id, value) for b, value in pairs], [b for b, _ in pairs], **how
    )
