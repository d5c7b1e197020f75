"""What works in an agent, and what brim does where something doesn't.

Whether something works follows from the agent's value: what its hooks send and take. What brim does
instead is in the agent's ``settings.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from brim.agents.agent import Agent
from brim.agents.call import BEFORE_COMPACT, BEFORE_TOOL, PROMPT
from brim.agents.settings import settings_for
from brim.record import PlainData

ADD_TEXT = "add text"
REFUSE_CALL = "refuse a call"
REFUSE_PROMPT = "refuse a prompt"
END_TURN = "end a turn"
STEER_COMPACTION = "steer a compaction"
STATUS_LINE = "status line"
USAGE = "usage"


@dataclass(frozen=True)
class Ability(PlainData):
    """One thing that brim does in agents: whether it works in one of them."""

    name: str
    works: bool
    note: str = ""
    """What is different there, or what brim does instead."""

    @property
    def answer(self) -> str:
        """Say whether it works, in a word or two."""
        if not self.works:
            return "no"
        return "in part" if self.note else "yes"


def _adds_text(agent: Agent) -> bool:
    return bool(agent.answers.text_at)


def _refuses_calls(agent: Agent) -> bool:
    return agent.reports(BEFORE_TOOL)


def _refuses_prompts(agent: Agent) -> bool:
    return bool(agent.answers.refusal(PROMPT))


def _ends_turns(agent: Agent) -> bool:
    return agent.answers.ends_turns


def _steers_compactions(agent: Agent) -> bool:
    return agent.answers.chars_at(BEFORE_COMPACT) > 0


def _has_status_line(agent: Agent) -> bool:
    return settings_for(agent.name).status_line is not None


def _says_usage(agent: Agent) -> bool:
    return agent.session_folders is not None


_WORKS: Mapping[str, Callable[[Agent], bool]] = {
    ADD_TEXT: _adds_text,
    REFUSE_CALL: _refuses_calls,
    REFUSE_PROMPT: _refuses_prompts,
    END_TURN: _ends_turns,
    STEER_COMPACTION: _steers_compactions,
    STATUS_LINE: _has_status_line,
    USAGE: _says_usage,
}
NAMES = tuple(_WORKS)
"""Everything that is asked of an agent, in the order in which it is shown."""


def abilities_of(agent: Agent) -> list[Ability]:
    """Return what works in *agent*."""
    notes = settings_for(agent.name).notes
    return [Ability(name, works(agent), notes.get(name, "")) for name, works in _WORKS.items()]
