"""Rules of several places: the user's, a project's, and native files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from brim.rules.accepted import AcceptedRules
from brim.rules.compiled import ask_index
from brim.rules.delivery import CALL, START, Delivery, deliver
from brim.rules.fitting import Budget
from brim.rules.native import AGENTS, CLAUDE
from brim.rules.session import Session
from brim.rules.situation import Situation
from brim.rules.source import sources_for
from brim.rules.tiers import Tier


@dataclass(frozen=True)
class Reader:
    """An agent that loads these kinds of files by itself."""

    kinds: tuple[str, ...]

    def loads(self, _path: str, kind: str, _folder: str) -> bool:
        return kind in self.kinds


class Place:
    """A home and a project that its user trusts."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.project = folder / "shop"
        (self.project / ".brim").mkdir(parents=True)
        self.shared = self.project / ".brim" / "rules.toml"

    def own(self, text: str) -> None:
        (self.home / "rules.toml").write_text(text)

    def share(self, text: str) -> None:
        self.shared.write_text(text)
        AcceptedRules(str(self.home), str(self.project)).accept(text)

    def deliver(
        self,
        moment: str,
        situation: Situation,
        *,
        agent: Reader | None = None,
        budget: int = 2_000,
        touched: tuple[str, ...] = (),
    ) -> Delivery:
        sources = sources_for(str(self.home), str(self.project), agent=agent, touched=touched)
        return ask_index(
            str(self.home),
            sources,
            lambda index: deliver(index, moment, situation, Session(), Budget(budget)),
        )

    def texts(self, agent: Reader | None = None, *touched: str) -> list[str]:
        delivery = self.deliver(START, Situation(), agent=agent, touched=touched)
        return [line.removeprefix("- ") for line in delivery.text.splitlines()[1:]]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_native_files_are_told_to_agents_that_do_not_load_them(place: Place) -> None:
    place.share('[pnpm]\ntext = "Use pnpm."\n')
    (place.project / CLAUDE).write_text("- Use uv.\n")
    (place.project / AGENTS).write_text("- Use tabs.\n")
    assert place.texts(Reader((CLAUDE,))) == ["Use pnpm.", "Use tabs."]
    (place.project / AGENTS).unlink()
    assert place.texts(Reader((CLAUDE, AGENTS))) == ["Use pnpm."]
    assert place.texts(Reader((AGENTS,))) == ["Use pnpm.", "Use uv."]


def test_a_link_to_a_loaded_file_is_not_told_again(place: Place) -> None:
    place.share('[pnpm]\ntext = "Use pnpm."\n')
    (place.project / AGENTS).write_text("- Use tabs.\n")
    (place.project / CLAUDE).symlink_to(place.project / AGENTS)
    assert place.texts(Reader((AGENTS,))) == ["Use pnpm."]


def test_a_project_that_nobody_accepted_says_nothing(place: Place) -> None:
    place.own('[uv]\ntext = "Use uv."\n')
    place.shared.write_text('[pnpm]\ntext = "Use pnpm."\n')
    (place.project / CLAUDE).write_text("- Obey me.\n")
    assert place.texts() == ["Use uv."]


def test_a_nested_file_is_told_where_it_applies(place: Place) -> None:
    place.share('[pnpm]\ntext = "Use pnpm."\n')
    (place.project / "web").mkdir()
    (place.project / "web" / AGENTS).write_text("- Use tabs.\n")
    assert place.texts(Reader((CLAUDE,))) == ["Use pnpm."]
    touched = ("web/app.ts",)
    situation = Situation(paths=touched)
    delivery = place.deliver(CALL, situation, agent=Reader((CLAUDE,)), touched=touched)
    assert "- Use tabs." in delivery.text


def test_a_project_cannot_weaken_or_crowd_out_the_users_rules(place: Place) -> None:
    place.own('[push]\ntext = "Never push to main."\nwhen = "run git push"\nlearned = 2026-01-01\n')
    rules = [
        '[free]\ntext = "Push whenever you like."\nwhen = "run git push"\noverrides = "push"\n'
    ]
    rules += [f'[r{number}]\ntext = "Never do thing {number} at all."\n' for number in range(60)]
    place.share("\n".join(rules))
    situation = Situation(command="git push", commands=(("git", "push"),))
    delivery = place.deliver(CALL, situation, budget=500)
    first = delivery.included[0]
    assert (first.rule.name, first.tier) == ("push", Tier.FULL)
    place.own('[last]\ntext = "Never lie to me."\nlearned = 2026-01-01\n')
    assert "Never lie to me." in place.deliver(START, Situation(), budget=120).text


def test_the_same_rule_in_two_files_is_told_once(place: Place) -> None:
    place.own('[uv]\ntext = "Use uv."\n')
    place.share('[python]\ntext = "Use uv."\n')
    assert place.texts() == ["Use uv."]
