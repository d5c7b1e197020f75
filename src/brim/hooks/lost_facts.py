"""What a compaction must keep, what its summary lost, and how the agent gets it back.

Before a compaction the summarizer is told the human's own words, what was decided and which files
changed. Afterwards the paths, commands, numbers and decisions that aren't in the summary are kept
for the next prompt or tool. Text that a tool printed is never passed on here: it would be followed
as an instruction.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from brim.agents.call import Answer, HookCall
from brim.agents.events import Message
from brim.agents.readers import AnyReader
from brim.agents.stream import Feed
from brim.errors import StoreError
from brim.files import sha256_hex
from brim.hooks.scratchpad import writer_of
from brim.hooks.state import HookWorkspace, log
from brim.hooks.transcript import size_of, whole_lines
from brim.hooks.turns import write_turn
from brim.memory.entries import MemoryEntry, MemoryView
from brim.memory.facts import Measured, measure
from brim.memory.index import sentence
from brim.memory.inventory import Inventory, is_set_up, told_in
from brim.memory.quotes import code, masked_line, one_line, shortened
from brim.store.events import RuleEvent, add_event

# Before it: instructions --------------------------------------------------------------------------

LONGEST = 4_000
"""Characters of the instructions."""

_LONGEST_WORDS = 400
_LONGEST_DECISION = 200
_MOST = {"human": 12, "decision": 12, "artifact": 30}


def instruct(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Write what the turn has left so far, and return what the summary has to keep."""
    try:
        writer = write_turn(call, workspace)
    except StoreError as error:  # what was written before still counts
        log(workspace.environ, f"{call.name} {call.agent.name}: {error}")
        writer = writer_of(call, workspace)
    if writer is None:
        return None
    entries, path, root = writer.read().entries, writer.scratch_path, workspace.project or ""
    return Answer(instructions=build_instructions(entries, path, session=call.session, root=root))


def build_instructions(
    entries: Iterable[MemoryEntry], scratch_path: str, *, session: str = "", root: str = ""
) -> str:
    """Return what the summary has to keep; empty if there is nothing. Paths in *root* are relative
    to it.

    What doesn't fit is left out, the oldest first, except the first thing that the person asked:
    that is the task.
    """

    view = MemoryView(entry for entry in entries if entry.session in ("", session))
    said = [
        f'- "{shortened(one_line(entry.text), _LONGEST_WORDS)}"'
        for entry in view.of("human")
        if not is_set_up(entry.text)
    ]
    decided = [f"- {sentence(entry, _LONGEST_DECISION)}" for entry in view.of("decision")]
    changed = [f"- {code(_relative(entry.text, root), 200)}" for entry in view.of("artifact")]
    if not (said or decided or changed):
        return ""
    first = "Keep these in the summary, word for word where you can."
    last = (
        f"The whole record, with commands that failed and dead ends, is in {scratch_path}: "
        "name that file in the summary."
    )
    room = LONGEST - len(first) - len(last) - 2
    parts = [
        (
            "What the person asked, oldest first:",
            _latest(said, _MOST["human"], room // 2, first=True),
        ),
        ("What was decided:", _latest(decided, _MOST["decision"], room // 4)),
        ("Files that were changed:", _latest(changed, _MOST["artifact"], room // 4)),
    ]
    lines = [line for title, found in parts if found for line in (title, *found)]
    return "\n".join((first, *lines, last)) + "\n"


def _latest(lines: Sequence[str], most: int, room: int, *, first: bool = False) -> list[str]:
    """Return the latest of *lines* that fit, with how many are left out; *first* keeps the first
    one too."""
    kept: list[str] = []
    room -= 60  # the title, and the line that says how many are missing
    opening = lines[:1] if first else []
    room -= sum(len(line) + 1 for line in opening)
    rest = lines[len(opening) :]
    for line in reversed(rest):
        if len(kept) == most - len(opening) or len(line) + 1 > room:
            break
        kept.insert(0, line)
        room -= len(line) + 1
    missing = len(rest) - len(kept)
    return [*opening, *([f"- ({missing} more are in the record)"] if missing else []), *kept]


def _relative(path: str, root: str) -> str:
    above = root.rstrip(os.sep) + os.sep
    return path[len(above) :] if root and path.startswith(above) else path


# After it: what the summary lost ------------------------------------------------------------------

TAIL = 1 << 21
"""Bytes of the transcript's end in which files, commands and the summary are looked for."""

LINES = 20
"""Lost things that are given back at most; ``brim memory lost`` shows all of them."""

_LONGEST_LINE = 140
_MEASURED = "measured"


def measure_lost(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep what the last summary lost, for the next event and for statistics; nothing if there is
    no summary."""
    window, summary = last_window(call, workspace.project or "")
    summary = call.summary or summary
    if not summary.strip() or not call.session or not _is_new(summary, call, workspace):
        return
    writer = writer_of(call, workspace)
    entries = writer.read().entries if writer is not None else []
    add_entries(window, entries, call.session)
    measured = measure(summary, window.ranked())
    if not measured.had:
        return
    path = writer.scratch_path if writer is not None and entries else ""
    workspace.state(call.session).lost = given_back(measured, path)
    _note(call, workspace, measured)


def _is_new(summary: str, call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether *summary* isn't the last one: a window that shrinks without one shows the old one
    again."""

    state, mark = workspace.state(call.session), sha256_hex(summary.encode("utf-8", "replace"))[:16]
    if not call.agent.reports_compactions and state.kept(_MEASURED) == mark:
        return False
    state.keep(_MEASURED, mark)
    return True


def last_window(call: HookCall, root: str) -> tuple[Inventory, str]:
    """Return what the end of the transcript shows of the window, and the summary if only the
    transcript has it."""

    window, summary = Inventory(root), ""
    reader = AnyReader(writer=call.agent)
    start = max(0, size_of(call.transcript) - TAIL)
    feed = Feed(reader=reader, start=start)
    blocks = whole_lines(call.transcript, start + 1 if start else 0, most=TAIL)
    events = [event for _, data in blocks for event in feed.feed(data)]
    for event in [*events, *reader.finish()]:
        window.take(event)
        if isinstance(event, Message) and event.role == "summary":
            summary = event.text
    return window, summary


def add_entries(window: Inventory, entries: Iterable[MemoryEntry], session: str) -> None:
    """Add to *window* what the journal has of the *session*: also what was before the transcript's
    end."""

    view = MemoryView(entry for entry in entries if entry.session in ("", session))
    for entry in view.of("human"):
        window.read(entry.text)
    for entry in view.of("artifact"):
        window.add(("file", window.file(entry.text)), worked_on=True)
    for entry in view.of("command"):
        if command := told_in(entry.text).command:
            window.add(("command", command))
    for entry in view.of("decision"):
        window.add(("decision", sentence(entry)))
        window.read(sentence(entry))


def given_back(measured: Measured, scratch_path: str) -> str:
    """Return what the agent is told about what was lost: a heading and a line for each; empty if
    nothing was.

    Decisions come first, then files and commands by how often they were used, then numbers.
    """
    if not measured.lost:
        return ""

    where = f"; {scratch_path} has more" if scratch_path else ""
    lost, order = set(measured.lost), {"decision": 0, "number": 2}
    ranked = sorted(
        [one for one in measured.had if one in lost], key=lambda one: order.get(one[0], 1)
    )
    more = (
        [f"  - and {len(ranked) - LINES} more: `brim memory lost` shows them"]
        if len(ranked) > LINES
        else []
    )
    lines = []
    for kind, text in ranked[:LINES]:
        told = masked_line(text, _LONGEST_LINE)
        lines.append(f"  - {kind}: {told if kind == 'decision' else code(told, _LONGEST_LINE)}")
    heading = f"- The summary of the last compaction left these out{where}:"
    return "\n".join([heading, *lines, *more]) + "\n"


def _note(call: HookCall, workspace: HookWorkspace, measured: Measured) -> None:
    """Record what was lost, for statistics: numbers by kind, and the texts, masked like everything
    that is stored."""

    database = workspace.user_database
    if database is None or database.readonly:
        return
    detail = {
        "agent": call.agent.name,
        "trigger": call.trigger,
        "counts": measured.counts(),
        "lost": [[kind, text[:200]] for kind, text in measured.lost[:50]],
    }
    with database.writing():
        add_event(
            database, RuleEvent("compacted", workspace.now, session=call.session, detail=detail)
        )
