"""From a plan to its text."""

from __future__ import annotations

from brim.injection.lines import item_text
from brim.injection.sections import Section, closing, opening, section_of
from brim.injection.tiers import Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.behaviors.behavior import Behavior
    from brim.injection.plan import InjectionPlan


def render(plan: InjectionPlan) -> str:
    """Return the text of *plan*, in its format; nothing if nothing goes in."""
    return text_of(((item.behavior, item.tier, item.activation) for item in plan.items), plan.format)


def text_of(chosen: Iterable[tuple[Behavior, Tier, float]], format: str) -> str:
    """Return the text of behaviors at tiers: sections in their order; in each, more detail first, then activation."""
    sections: dict[Section, list[tuple[int, float, str, Behavior, Tier]]] = {}
    for behavior, tier, activation in chosen:
        if tier is not Tier.OMITTED:
            section = section_of(behavior.kind, behavior.status, tier)
            sections.setdefault(section, []).append((-tier, -activation, behavior.id, behavior, tier))
    parts = []
    for section in sorted(sections):
        parts.append(opening(section, format))
        parts += [item_text(behavior, tier, format) for *_, behavior, tier in sorted(sections[section], key=_place)]
        parts.append(closing(section, format))
    return "".join(parts)


def _place(entry: tuple[int, float, str, Behavior, Tier]) -> tuple[int, float, str]:
    return entry[:3]
