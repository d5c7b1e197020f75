"""What ``brim watch`` knows at one moment: the object that ``--json`` prints, and that the gauge is drawn from."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    class Told(TypedDict):
        """A notice: its kind, and the sentence."""

        kind: str
        text: str

    class AgentReading(TypedDict):
        """The window of a sub-agent."""

        id: str
        model: str
        used_tokens: int
        context_window: int
        utilization: float

    class Reading(TypedDict):
        """One object of ``brim watch --json``; docs/tracking.md says what each key means."""

        schema: int
        path: str
        format: str
        session: str
        time: float | None
        model: str
        used_tokens: int
        context_window: int
        window_source: str
        window_others: dict[str, int]
        utilization: float
        warn_threshold: float
        compact_threshold: float
        should_warn: bool
        should_compact: bool
        input_tokens: int
        cache_creation_input_tokens: int
        cache_read_input_tokens: int
        output_tokens: int
        cache_hit_share: float
        overhead: int
        filling: dict[str, int]
        agents: list[AgentReading]
        compactions: int
        cost: int
        unattributed: int
        unpriced: list[str]
        cost_limit: int | None
        cost_warning: str
        warning: str
        notices: list[Told]
        lines: int
        broken_lines: int
        unknown_lines: int


SCHEMA = 1
"""The version of the object. A key that is added does not raise it; one that changes its meaning or goes does."""

UNTOLD = ("time", "notices", "lines", "unknown_lines")
"""Keys that change without anything to tell."""
