"""A dead end that was found, as an entry: what was tried, what came of it, and where in the stream."""

from __future__ import annotations

from brim.scratch.drafts import draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.dead_ends import DeadEnd
    from brim.scratch.entries import Entry

_KINDS = {"confirmed": "dead-end", "resolved": "resolved", "suspect": "suspect"}
_OUTCOMES = {
    "same-call": "failed the same way {} times",
    "same-error": "{} ways, one error",
    "alternating": "to and fro {} times, nothing changed",
    "missed-edit": "the text to replace was not there, {} times",
    "undone-edit": "undone",
    "failing-test": "failed the same way {} times",
    "sub-agent": "ended in error",
    "backtrack": "given up",
}


def found_entry(found: DeadEnd, time: float | None) -> Entry:
    """Return the entry of *found*. Only a confirmed one is shown; the journal alone keeps what is suspected."""
    outcome = _OUTCOMES.get(found.rule, "did not work").format(found.times)
    refs = {
        "outcome": "worked in the end" if found.status == "resolved" else outcome,
        "output": found.error,
        "rule": found.rule,
        "times": found.times,
        "at": list(found.at),
        "key": found.key,
    }
    kind = _KINDS.get(found.status, "suspect")
    source = f"{found.key} {found.times}"
    return draft(kind, found.what, session=found.session, agent=found.agent, time=time, source=source, refs=refs)
