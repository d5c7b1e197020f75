"""How a working memory is divided between its sections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Literal

from brim.errors import InputError
from brim.messages.arguments import TOKENS, items_given, text_given, whole_number
from brim.messages.assembler import Assembler, WindowLimits
from brim.messages.assembly import Assembly
from brim.messages.entries import Provider
from brim.messages.parts import Chosen, Parts, Tail
from brim.messages.pruners import FifoPruner, Pruner
from brim.record import PlainData
from brim.tokens.counters import counter_for
from brim.tokens.protocol import TokenCounter, require_counter


@dataclass(frozen=True, slots=True)
class MemoryConfig(PlainData):
    """The limits of a working memory, in tokens of its model."""

    max_working_memory_tokens: int = 100_000
    """All sections together, and the response."""
    output_reserve: int = 4_096
    """Kept for the response."""
    min_history_tokens: int = 4_000
    """History keeps at least this much."""
    max_knowledge_tokens: int = 3_000
    """Retrieved knowledge takes at most this much."""
    max_episode_tokens: int = 1_000
    """Episode snippets take at most this much."""

    def __post_init__(self) -> None:
        for field in fields(self):
            whole_number(field.name, getattr(self, field.name), 0, TOKENS)


class WorkingMemory:
    """Divides the working memory of an agent that runs on *model*.

    >>> config = MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192)
    >>> sections = {"system_prompt": 1_200, "procedure": 300, "knowledge": 1_500}
    >>> WorkingMemory(config).history_budget(**sections, episodes=400, current_message=100)
    138308
    """

    def __init__(
        self,
        config: MemoryConfig | None = None,
        *,
        model: str | None = None,
        counter: TokenCounter | None = None,
    ) -> None:
        self.config = config or MemoryConfig()
        self.model = model
        if counter is not None:
            require_counter(counter)

        self._counter = counter or counter_for(model)

    def history_budget(
        self,
        *,
        system_prompt: int | str | None = 0,
        procedure: int | str | None = 0,
        knowledge: int | str | None = 0,
        episodes: int | str | None = 0,
        current_message: int | str | None = 0,
    ) -> int:
        """Return the tokens left for message history.

        0 if the sections leave none.

        Each section is given as its number of tokens, or as its text, which is then counted. None
        is one that isn't there.
        """
        sections = {
            "system_prompt": system_prompt,
            "procedure": procedure,
            "knowledge": knowledge,
            "episodes": episodes,
            "current_message": current_message,
        }
        section_tokens = sum(self._tokens(name, section) for name, section in sections.items())
        return max(
            0, self.config.max_working_memory_tokens - section_tokens - self.config.output_reserve
        )

    def assemble(
        self,
        *,
        system_prompt: str | None = "",
        procedure: str | None = "",
        knowledge: Iterable[Any] | str | None = (),
        episodes: Iterable[Any] | str | None = (),
        history: Iterable[Any] | None = (),
        current_message: Any = "",
        provider: Provider | Literal["auto"] = "auto",
        pruner: Pruner | None = None,
        tools: Iterable[Any] | None = None,
        context_window: int | None = None,
    ) -> Assembly:
        """Return the request to send.

        It holds all that must be in it, and as much of *history* as fits.

        *knowledge* and *episodes* are lists of texts, or of dicts or objects with ``text`` or
        ``content`` and perhaps ``score``, ``title`` and ``source``. *history* is a list of messages
        of any *provider*; *current_message* is a text, or a message of the same provider. *pruner*
        decides which history leaves, ``FifoPruner`` by default. *tools* go with the request and are
        counted. *context_window* outranks the model's window.

        System prompt, knowledge and current message always stay. Of the history the newest
        ``min_history_tokens`` stay while the window allows, and episodes and procedure make way for
        them.

        >>> memory = WorkingMemory(model="gpt-4o")
        >>> knowledge = ["Lines end in LF."]
        >>> prompt = "Answer briefly."
        >>> memory.assemble(system_prompt=prompt, knowledge=knowledge, current_message="Why?")
        Assembly(3 messages, 37 of 95,904 tokens, fits)
        """
        config = self.config
        model = self.model or getattr(self._counter, "model", None)
        tail = Tail.of(history, current_message, provider, model)
        budget = config.max_working_memory_tokens - config.output_reserve
        limits = WindowLimits.of(model, context_window, budget, config.output_reserve)
        _check_pruner(pruner)
        assembler = Assembler(
            counter=self._counter,
            model=model,
            limits=limits,
            min_history=config.min_history_tokens,
            pruner=pruner or FifoPruner(),
            tools=list(items_given("tools", tools)) or None,
            tail=tail,
        )
        parts = Parts(
            provider=tail.provider,
            system_prompt=text_given("system_prompt", system_prompt),
            procedure=text_given("procedure", procedure),
            knowledge=self._chosen("knowledge", knowledge, config.max_knowledge_tokens),
            episodes=self._chosen("episodes", episodes, config.max_episode_tokens),
        )
        return assembler.assemble(parts)

    def _chosen(
        self,
        name: str,
        argument: object,
        cap: int,
    ) -> Chosen:
        return Chosen.of(name, argument, cap, self._counter)

    def _tokens(self, name: str, section: int | str | None) -> int:
        if section is None or section == "":
            return 0

        if isinstance(section, str):
            return int(self._counter.count(section))

        return whole_number(name, section, 0, TOKENS)


def _check_pruner(pruner: object) -> None:
    if pruner is None:
        return

    if isinstance(pruner, type) or not callable(getattr(pruner, "prune", None)):
        raise InputError(f"pruner must be a pruner such as FifoPruner(), not {str(pruner)[:60]}")
