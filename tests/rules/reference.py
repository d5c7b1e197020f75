"""The documented rules of demotion, word by word: demote, write the whole text anew, count it,
repeat."""

from __future__ import annotations

from brim.rules import Rule, Tier
from brim.rules.text import item_text
from brim.tokens import TokenCounter

KINDS = ("constraint", "directive", "procedure", "preference", "workflow", "episodic")
TITLES = (
    "Constraints",
    "Directives",
    "Procedures",
    "Preferences",
    "Workflows",
    "Episodes",
    "Also learned",
)
NOTES = "Notes agents left, not confirmed:"
FRAME = "Rules your user set, kept by brim:"


class Reference:
    """Behaviors at tiers, and one text that is made of them whenever it is asked for."""

    def __init__(
        self,
        pairs: list[tuple[Rule, float]],
        counter: TokenCounter,
        limits: tuple[int, int | None],
    ) -> None:
        self.pairs = sorted(pairs, key=lambda pair: (pair[1], pair[0].id))
        self.counter = counter
        self.budget, self.max_chars = limits
        self.tiers = {behavior.id: _first_tier(behavior, value) for behavior, value in pairs}

    def run(self) -> dict[str, int]:
        for behavior in [behavior for behavior, _ in self.pairs if not _is_protected(behavior)]:
            while not self.fits() and self.tiers[behavior.id]:
                self.demote(behavior, 0)
        for behavior, _ in self.pairs:
            if _is_protected(behavior) and not self.fits():
                self.demote(behavior, 2)
        return self.tiers

    def demote(self, behavior: Rule, lowest: int) -> None:
        """Take the next tier below that is cheaper; leaving it out is always one."""
        before, had = self.size(), self.tiers[behavior.id]
        for tier in range(had - 1, lowest - 1, -1):
            self.tiers[behavior.id] = tier
            if tier == 0 or self.is_smaller(self.size(), before):
                return
        self.tiers[behavior.id] = had

    def is_smaller(self, size: tuple[int, int], before: tuple[int, int]) -> bool:
        if self.max_chars is None:
            return size[0] < before[0]
        return size[0] <= before[0] and size[1] <= before[1] and size != before

    def size(self) -> tuple[int, int]:
        text = self.text()
        units = getattr(self.counter, "units", self.counter.count)
        return int(units(text)), len(text)

    def fits(self) -> bool:
        text = self.text()
        return self.counter.count(text) <= self.budget and (
            self.max_chars is None or len(text) <= self.max_chars
        )

    def text(self) -> str:
        sections: dict[int, list[tuple[int, float, str, Rule]]] = {}
        for behavior, value in self.pairs:
            tier = self.tiers[behavior.id]
            if tier:
                sections.setdefault(_section(behavior, tier), []).append(
                    (-tier, -value, behavior.id, behavior)
                )
        written = f"{FRAME}\n" if sections.keys() - {7} else ""
        for number in sorted(sections):
            written += f"{NOTES}\n" if number == 7 else f"## {TITLES[number]}\n"
            for tier, _, _, behavior in sorted(sections[number], key=lambda entry: entry[:3]):
                written += item_text(behavior, Tier(-tier))
        return written


def _is_protected(behavior: Rule) -> bool:
    return behavior.kind.value == "constraint" and behavior.status.value == "active"


def _first_tier(behavior: Rule, value: float) -> int:
    if behavior.status.value in ("forgotten", "superseded"):
        return 0
    tier = 3 if value >= 0.7 else 2 if value >= 0.3 else 1 if value >= 0.1 else 0
    if behavior.status.value == "pending":
        return min(tier, 2)
    return max(tier, 2) if behavior.kind.value == "constraint" else tier


def _section(behavior: Rule, tier: int) -> int:
    if behavior.status.value == "pending":
        return 7
    return 6 if tier == 1 else KINDS.index(behavior.kind.value)
