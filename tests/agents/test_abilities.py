"""What works in each agent: the table of ``brim doctor``, which docs/agents.md shows.

``python -m tests.agents.test_abilities`` writes it there again.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brim.agents import AGENTS, agent_named
from brim.agents.abilities import NAMES, Ability, abilities_of
from brim.agents.settings import settings_for

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
BEGIN, END = "<!-- what works: begin -->\n", "<!-- what works: end -->\n"


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def tables() -> str:
    """Return what works where, and what brim does instead, as the page shows it."""
    agents = [agent_named(name) for name in AGENTS]
    works = {agent.title: abilities_of(agent) for agent in agents}
    text = row(["", *works]) + "|" + "---|" * (len(works) + 1) + "\n"
    for at, name in enumerate(NAMES):
        text += row([name, *[abilities[at].answer for abilities in works.values()]])
    text += "\n" + row(["where it isn't *yes*", "brim"]) + "|---|---|\n"
    for title, abilities in works.items():
        for ability in abilities:
            if ability.note:
                text += row([f"{title}: {ability.name}", ability.note])
    return text


def test_the_page_shows_the_table() -> None:
    shown = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert shown == tables(), "python -m tests.agents.test_abilities"


@pytest.mark.parametrize("name", AGENTS)
def test_what_does_not_work_says_what_brim_does_instead(name: str) -> None:
    abilities = abilities_of(agent_named(name))
    assert [ability.name for ability in abilities] == list(NAMES)
    assert all(ability.note for ability in abilities if not ability.works)
    assert set(settings_for(name).notes) <= set(NAMES)
    assert settings_for(name).tested


def test_an_ability_answers_in_a_word() -> None:
    assert Ability("add text", True).answer == "yes"
    assert Ability("add text", True, "later").answer == "in part"
    assert Ability("add text", False, "nothing").answer == "no"


def write() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    PAGE.write_text(pattern.sub(f"{BEGIN}{tables()}{END}", text), encoding="utf-8")


if __name__ == "__main__":
    write()
