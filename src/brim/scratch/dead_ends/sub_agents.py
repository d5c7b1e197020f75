"""Confirmed: a sub-agent ending in error. What passes by itself (a busy provider) and a person's stop are none."""

from __future__ import annotations

from brim.scratch.dead_ends.finding import DeadEnd, key_of, masked_line
from brim.scratch.dead_ends.step import Step
from brim.scratch.dead_ends.tables import any_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tracking.events import End, ToolCall

_MOST = 512


class SubAgents:
    """Knows what each sub-agent was asked, and which have ended badly already."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[str, int]] = {}
        self._ended: dict[str, None] = {}

    def called(self, call: ToolCall) -> None:
        """Remember what a sub-agent is asked."""
        told = [call.input.get(name) for name in ("description", "prompt", "message", "task", "query", "name")]
        what = next((text for text in told if isinstance(text, str) and text.strip()), call.name)
        self._asked[call.id] = masked_line(what), call.at
        while len(self._asked) > _MOST:
            del self._asked[next(iter(self._asked))]

    def step(self, step: Step) -> list[DeadEnd]:
        """Return that a sub-agent failed, if the call of one did."""
        detail = step.result.detail
        name = detail.get("agentId") if isinstance(detail, dict) else None
        if isinstance(name, str) and name and step.call.id in self._asked:
            self._asked[name] = self._asked[step.call.id]
        if not step.failed or step.outcome.transient or not self._first(step.call.id, name):
            return []
        what, _ = self._asked.get(step.call.id, (step.what, 0))
        return [
            step.dead_end(
                "sub-agent",
                "confirmed",
                step.call.id,
                what=masked_line(f"sub-agent: {what}"),
                times=1,
                error=step.error,
                at=(step.call.at, step.result.at),
            )
        ]

    def ended(self, end: End) -> list[DeadEnd]:
        """Return that a sub-agent failed, if its own end says so."""
        if not end.agent or not end.error or any_of("transient.txt").search(end.text[:2_000]):
            return []
        if any_of("interrupted.txt").search(f"{end.reason} {end.text[:200]}") or not self._first(end.agent, None):
            return []
        what, at = self._asked.get(end.agent, (end.agent, end.at))
        return [
            DeadEnd(
                rule="sub-agent",
                status="confirmed",
                what=masked_line(f"sub-agent: {what}"),
                error=masked_line(end.text or end.reason),
                at=(at, end.at),
                agent=end.agent,
                session=end.session,
                key=key_of("sub-agent", end.session, end.agent),
            )
        ]

    def _first(self, call: str, name: object) -> bool:
        names = [one for one in (call, name) if isinstance(one, str) and one]
        known = any(one in self._ended for one in names)
        self._ended.update(dict.fromkeys(names))
        while len(self._ended) > _MOST:
            del self._ended[next(iter(self._ended))]
        return not known
