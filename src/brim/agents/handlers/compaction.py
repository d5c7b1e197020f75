"""The window is about to be compacted, or was: what counts is written first, asked for, and given back if it was lost.

Which paths, commands, numbers and decisions the summary lost is known only after it was made, when the agent has begun
again: it gets them with the next prompt or tool.
"""

from __future__ import annotations

from brim.agents.answer import NOTHING, Answer
from brim.agents.handlers.attempting import attempt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.lost import Measured
    from brim.agents.place import Place
    from brim.scratch.writer import ScratchWriter

LINES = 12
"""So many lost things are given back, at most; all of them are in the scratch files."""

_LONGEST_LINE = 140
_MEASURED = "measured"
_NOUNS = {"decision": "decision", "path": "file", "command": "command", "number": "number"}


def handle(call: HookCall, place: Place) -> Answer:
    """Return what the summariser is told before a compaction; after it nothing is said."""
    if call.event == "after_compact":
        attempt(_open_latches, call, place)
        attempt(measure_lost, call, place)
        return NOTHING
    if call.agent == "gemini":  # this comes before every request, whether anything is compacted or not
        from brim.agents.handlers.warning import COMPRESSING

        place.state(call.session).keep(COMPRESSING, True)
        return NOTHING
    return attempt(_instruct, call, place)


def _open_latches(call: HookCall, place: Place) -> None:
    from brim.agents.handlers.warning import open_context_latches

    open_context_latches(call, place)


def _instruct(call: HookCall, place: Place) -> Answer | None:
    writer = _written(call, place)
    if writer is None:
        return None
    from brim.agents.instructions import build_instructions

    entries, path = writer.read().entries, writer.scratch_path
    return Answer(
        instructions=build_instructions(entries, path, session=call.session, root=place.project or ""),
    )


def _written(call: HookCall, place: Place) -> ScratchWriter | None:
    """Return the writer of the scratch files, with what the turn has left so far written; None if there are none."""
    from brim.agents.scratch_files import writer_of
    from brim.agents.turn import write_turn
    from brim.errors import StoreError

    try:
        return write_turn(call, place)
    except StoreError as error:  # what was written before still counts
        from brim.agents.log import log

        log(place.environ, f"{call.name} {call.agent}: {error}")
        return writer_of(call, place)


def measure_lost(call: HookCall, place: Place) -> None:
    """Keep what the last summary lost, for the next event and for statistics; nothing if there is no summary."""
    from brim.agents.had import had_before, last_checks
    from brim.agents.lost import measure
    from brim.agents.scratch_files import writer_of

    checks, summary = last_checks(call)
    summary = call.summary or summary
    if not summary.strip() or not call.session or not _is_new(summary, call, place):
        return
    writer = writer_of(call, place)
    entries = writer.read().entries if writer is not None else []
    measured = measure(summary, had_before(call, entries, checks))
    if not measured.had:
        return
    path = writer.scratch_path if writer is not None and entries else ""
    place.state(call.session).lost = given_back(measured, path, root=place.project or "")
    _note(call, place, measured)


def _is_new(summary: str, call: HookCall, place: Place) -> bool:
    """Whether *summary* is another than the last one: a window that shrinks without one shows the old one again."""
    from brim._sha import sha256_hex

    state, mark = place.state(call.session), sha256_hex(summary.encode("utf-8", "replace"))[:16]
    if call.agent == "gemini" and state.kept(_MEASURED) == mark:
        return False
    state.keep(_MEASURED, mark)
    return True


def given_back(measured: Measured, scratch_path: str, *, root: str = "") -> str:
    """Return what the agent is told of what was lost: a heading, and a line for each; empty if nothing was."""
    if not measured.lost:
        return ""
    from brim.scratch.quotes import code, shortened

    where = f"; all of it is in {scratch_path}" if scratch_path else ""
    lines: dict[str, None] = {}  # a file that was named in two ways is told once
    for kind, text in measured.lost:
        inside = kind == "path" and root and text.startswith(f"{root.rstrip('/')}/")
        shown = text[len(root.rstrip("/")) + 1 :] if inside else text
        told = shortened(shown, _LONGEST_LINE) if kind == "decision" else code(shown, _LONGEST_LINE)
        lines[f"  - {_NOUNS[kind]}: {told}"] = None
    more = [f"  - and {len(lines) - LINES} more"] if len(lines) > LINES else []
    heading = f"- The summary of the last compaction left these out{where}:"
    return "\n".join([heading, *list(lines)[:LINES], *more]) + "\n"


def _note(call: HookCall, place: Place, measured: Measured) -> None:
    """Keep what was lost, for statistics: numbers by kind, and the texts, masked as everything that is stored."""
    from brim.agents.user_ledger import user_database
    from brim.store.events import Event, add_event

    database = user_database(place)
    if database is None or database.readonly:
        return
    detail = {
        "agent": call.agent,
        "trigger": call.trigger,
        "counts": measured.counts(),
        "lost": [[kind, text[:200]] for kind, text in measured.lost[:50]],
    }
    with database.writing():
        add_event(database, Event("compacted", place.now, session=call.session, detail=detail))
