"""What a compaction must keep, what its summary lost, and how the agent gets it back.

Before a compaction the summarizer is told the human's own words, what was decided and which files changed. Afterwards
the paths, commands, numbers and decisions that aren't in the summary are kept for the next prompt or tool. Text that a
tool printed is never passed on here: it would be followed as an instruction.
"""

from __future__ import annotations

import os
import re
from functools import cache

from brim.errors import StoreError
from brim.files import data_lines, data_rows
from brim.hooks.event import Answer
from brim.hooks.scratchpad import write_turn, writer_of
from brim.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brim.hooks.event import HookCall
    from brim.hooks.state import HookWorkspace
    from brim.scratch.entries import Entry


# Before it: instructions ------------------------------------------------------------------------------------------

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
        from brim.hooks.state import log

        log(workspace.environ, f"{call.name} {call.agent}: {error}")
        writer = writer_of(call, workspace)
    if writer is None:
        return None
    entries, path, root = writer.read().entries, writer.scratch_path, workspace.project or ""
    return Answer(instructions=build_instructions(entries, path, session=call.session, root=root))


def build_instructions(entries: Iterable[Entry], scratch_path: str, *, session: str = "", root: str = "") -> str:
    """Return what the summary has to keep; empty if there is nothing. Paths in *root* are relative to it.

    What doesn't fit is left out, the oldest first, except the first thing that the person asked: that is the task.
    """
    from brim.scratch.entries import View
    from brim.scratch.index import sentence
    from brim.scratch.quotes import code, one_line, shortened

    view = View(entry for entry in entries if entry.session in ("", session))
    said = [
        f'- "{shortened(one_line(entry.text), _LONGEST_WORDS)}"'
        for entry in view.of("human")
        if not _is_set_up(entry.text)
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
        ("What the person asked, oldest first:", _latest(said, _MOST["human"], room // 2, first=True)),
        ("What was decided:", _latest(decided, _MOST["decision"], room // 4)),
        ("Files that were changed:", _latest(changed, _MOST["artifact"], room // 4)),
    ]
    lines = [line for title, found in parts if found for line in (title, *found)]
    return "\n".join((first, *lines, last)) + "\n"


def _is_set_up(text: str) -> bool:
    """Whether a person typed a command for the client itself, such as ``/model``, and not a task."""
    first = text.split(None, 1)[0].lower() if text.strip() else ""
    return first.startswith("/") and first in data_lines(__file__, "set_up_commands.txt")


def _latest(lines: Sequence[str], most: int, room: int, *, first: bool = False) -> list[str]:
    """Return the latest of *lines* that fit, with how many are left out; *first* keeps the first one too."""
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


# After it: what the session had -----------------------------------------------------------------------------------

TAIL = 1 << 21
"""Bytes of the transcript's end in which the last checks are looked for."""

MOST = 60
"""Things of each kind that are compared, the latest."""

LINES = 12
"""Lost things that are given back at most; all of them are in the scratch files."""

_LONGEST_COMMAND = 200
_LONGEST_LINE = 140
_MEASURED = "measured"


def measure_lost(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep what the last summary lost, for the next event and for statistics; nothing if there is no summary."""
    checks, summary = last_checks(call)
    summary = call.summary or summary
    if not summary.strip() or not call.session or not _is_new(summary, call, workspace):
        return
    writer = writer_of(call, workspace)
    entries = writer.read().entries if writer is not None else []
    measured = measure(summary, had_before(call, entries, checks))
    if not measured.had:
        return
    path = writer.scratch_path if writer is not None and entries else ""
    workspace.state(call.session).lost = given_back(measured, path, root=workspace.project or "")
    _note(call, workspace, measured)


def _is_new(summary: str, call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether *summary* isn't the last one: a window that shrinks without one shows the old one again."""
    from brim._sha import sha256_hex

    state, mark = workspace.state(call.session), sha256_hex(summary.encode("utf-8", "replace"))[:16]
    if call.agent == "gemini" and state.kept(_MEASURED) == mark:
        return False
    state.keep(_MEASURED, mark)
    return True


def had_before(call: HookCall, entries: Iterable[Entry], checks: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of kind and text: decisions, changed and named files, commands, and numbers."""
    from brim.scratch.entries import View
    from brim.scratch.index import sentence

    view = View(entry for entry in entries if entry.session in ("", call.session))
    said = [entry.text for entry in view.of("human")]
    decided = [sentence(entry) for entry in view.of("decision")]
    paths = [entry.text for entry in view.of("artifact")]
    commands = [entry.text for entry in view.of("command") if len(entry.text) <= _LONGEST_COMMAND]
    found = {
        "decision": decided,
        "path": [*paths, *[path for text in (*said, *decided) for path in paths_in(text)]],
        "command": [*commands, *checks],
        "number": [number for text in (*said, *decided) for number in numbers_in(text)],
    }
    return [(kind, text) for kind, texts in found.items() for text in list(dict.fromkeys(texts))[-MOST:]]


def last_checks(call: HookCall) -> tuple[list[str], str]:
    """Return the commands that last checked the work, and the summary if only the transcript has it."""
    from brim.hooks.transcript import FORMATS, size_of, whole_lines
    from brim.scratch.dead_ends.commands import check_in, parts, unwrapped
    from brim.tracking.events import Message, ToolCall
    from brim.tracking.readers import AnyReader
    from brim.tracking.readers.stream import Feed

    checks: dict[str, None] = {}
    summary = ""
    reader = AnyReader(FORMATS[call.agent])
    start = max(0, size_of(call.transcript) - TAIL)
    feed = Feed(reader=reader, start=start)
    blocks = whole_lines(call.transcript, start + 1 if start else 0, most=TAIL)
    events = [event for _, data in blocks for event in feed.feed(data)]
    for event in [*events, *reader.finish()]:
        if isinstance(event, ToolCall) and event.tool == "shell":
            command = event.input.get("command")
            command = unwrapped(command).strip() if isinstance(command, str) else ""
            if command and len(command) <= _LONGEST_COMMAND and check_in(parts(command))[0] is not None:
                checks.pop(command, None)
                checks[command] = None
        elif isinstance(event, Message) and event.role == "summary":
            summary = event.text
    return [_without_folder(check) for check in list(checks)[-5:]], summary


def _without_folder(command: str) -> str:
    """Return *command* without the ``cd`` to where it was run, which a summary need not repeat."""
    first, found, rest = command.partition("&&")
    words = first.split()
    return rest.strip() if found and len(words) == 2 and words[0] == "cd" and os.sep in words[1] else command


def given_back(measured: Measured, scratch_path: str, *, root: str = "") -> str:
    """Return what the agent is told about what was lost: a heading and a line for each; empty if nothing was."""
    if not measured.lost:
        return ""
    from brim.scratch.quotes import code, shortened

    where = f"; all of it is in {scratch_path}" if scratch_path else ""
    lines: dict[str, None] = {}  # a file that was named in two ways is told once
    for kind, text in measured.lost:
        shown = _relative(text, root) if kind == "path" else text
        told = shortened(shown, _LONGEST_LINE) if kind == "decision" else code(shown, _LONGEST_LINE)
        lines[f"  - {'file' if kind == 'path' else kind}: {told}"] = None
    more = [f"  - and {len(lines) - LINES} more"] if len(lines) > LINES else []
    heading = f"- The summary of the last compaction left these out{where}:"
    return "\n".join([heading, *list(lines)[:LINES], *more]) + "\n"


def _note(call: HookCall, workspace: HookWorkspace, measured: Measured) -> None:
    """Record what was lost, for statistics: numbers by kind, and the texts, masked like everything that is stored."""
    from brim.store.events import Event, add_event

    database = workspace.user_database
    if database is None or database.readonly:
        return
    detail = {
        "agent": call.agent,
        "trigger": call.trigger,
        "counts": measured.counts(),
        "lost": [[kind, text[:200]] for kind, text in measured.lost[:50]],
    }
    with database.writing():
        add_event(database, Event("compacted", workspace.now, session=call.session, detail=detail))


# After it: what the summary lost ----------------------------------------------------------------------------------

KINDS = ("decision", "path", "command", "number")
"""What is looked for, in the order in which it is given back."""

ENOUGH = 0.6
"""The share of a decision's words that a summary must have."""

_PATH = re.compile(r"(?<![\w/.~@:-])(?:~|\.{1,2})?/?(?:[\w.@+-]+/)*[\w.@+-]*[\w-]\.[A-Za-z]\w{0,7}(?![\w/])")
_NUMBER = re.compile(
    r"(?<![\w.,/-])(?:(?P<money>[$€£])\s?)?(?P<value>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:(?:[ \u00a0\u202f-]?(?P<unit>%|[A-Za-zµμ€]+(?:/s)?))(?![\w]))?"
)
_BARE = re.compile(
    r"(?:(?<![\w-])[^\W\d_][\w-]{0,30}(?:[ \t]?[=:#][ \t]?|[ \t]#?))?(?<![\w.,/-])(?<!\d:)"
    r"(?P<value>\d{1,3}(?:,\d{3})+|\d{3,9})(?![\w%]|[.,:/-]\d)(?: [^\W\d_][\w-]{0,30})?"
)
_DIGITS = re.compile(r"[0-9]+")
_WORD = re.compile(r"\w{3,}")
_MONEY = {"$": "usd", "€": "eur", "£": "gbp"}
_LOOKED_AT = 400_000
_TYPED = 1_000
"""Characters up to which a text counts as typed by hand: in a pasted log every number is bare."""
_YEARS = range(1900, 2100)


class Measured(Record):
    """What there was and what of it the summary lost: pairs of one of ``KINDS`` and a text."""

    had: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str], ...]

    def counts(self) -> dict[str, list[int]]:
        """Return for each kind how many there were, and how many were lost."""
        had, lost = [kind for kind, _ in self.had], [kind for kind, _ in self.lost]
        return {kind: [had.count(kind), lost.count(kind)] for kind in KINDS if kind in had}


def measure(summary: str, had: Iterable[tuple[str, str]]) -> Measured:
    """Return what of *had* is not in *summary*.

    A path is kept if the summary names the file in any way; a command if its words are there together; a number if it
    has the same unit, or is there at all if it has none; a decision if most of its words are. Prose is never guessed
    at.
    """
    known = list(dict.fromkeys((kind, text) for kind, text in had if kind in KINDS and text.strip()))
    text = summary[:_LOOKED_AT]
    folded = _folded(text)
    words, numbers = set(_WORD.findall(folded)), {key for _, key in _with_units(text)}
    numbers |= {(digits, "") for digits in _DIGITS.findall(text.replace(",", ""))}

    def is_kept(kind: str, each: str) -> bool:
        if kind == "path":
            return _has_path(folded, each)
        if kind == "command":
            return _has_command(folded, each)
        if kind == "number":
            return all(key in numbers for _, key in _numbers(each))
        wanted = set(_WORD.findall(_folded(each)))
        return not wanted or len(wanted & words) >= ENOUGH * len(wanted)

    lost = [pair for pair in known if not is_kept(*pair)]
    return Measured(tuple(known), tuple(sorted(lost, key=lambda one: KINDS.index(one[0]))))


def paths_in(text: str) -> list[str]:
    """Return the files that *text* names, each once: a word with an ending, and the folders before it.

    >>> paths_in("Fix src/app.py, not ./old/app.py (see README.md). It is v1.2, e.g. fast.")
    ['src/app.py', './old/app.py', 'README.md']
    """
    found = (match[0] for match in _PATH.finditer(text[:_LOOKED_AT]))
    return list(dict.fromkeys(path for path in found if not _is_no_file(path)))


def numbers_in(text: str) -> list[str]:
    """Return the numbers with a unit in *text*, as they are written, each once; then large ones without, and a word.

    >>> numbers_in("At most 200 ms and 5MB, 3 files, $1,000, or 30-second timeouts; 1.5 is no number of anything.")
    ['200 ms', '5MB', '$1,000', '30-second']
    >>> numbers_in("Listen on port 8443, log to /srv/500, and take 1,500 users in 2026.")
    ['port 8443', 'take 1,500 users']
    """
    found = _numbers(text) if len(text) <= _TYPED else _with_units(text)
    first: dict[tuple[str, str], str] = {}
    for written, key in found:
        first.setdefault(key, written)
    return list(first.values())


def _numbers(text: str) -> list[tuple[str, tuple[str, str]]]:
    """Return the numbers of *text* worth keeping: as written, and as value and unit. Years aren't."""
    found = _with_units(text)
    known = {value for _, (value, _) in found}
    for match in _BARE.finditer(text[:_LOOKED_AT]):
        value = match["value"].replace(",", "")
        if value not in known and int(value) not in _YEARS:
            found.append((match[0], (value, "")))
    return found


def _with_units(text: str) -> list[tuple[str, tuple[str, str]]]:
    units = _units()
    found = []
    for match in _NUMBER.finditer(text[:_LOOKED_AT]):
        unit = _MONEY.get(match["money"] or "") or units.get((match["unit"] or "").lower(), "")
        if unit:
            value = match["value"].replace(",", "")
            value = value.rstrip("0").rstrip(".") if "." in value else value
            is_whole = match["unit"] and not match["money"]
            found.append((match[0] if is_whole else match[0][: match.end("value") - match.start()], (value, unit)))
    return found


@cache
def _units() -> dict[str, str]:
    return {name: unit for unit, names in data_rows(__file__, "units.tsv") for name in names.split()}


def _has_path(folded: str, path: str) -> bool:
    """Whether the text has *path* or its last part on its own, and not as a part of another name."""
    name = os.path.basename(path.replace("\\", "/").rstrip("/")).casefold()
    names = "|".join(re.escape(each) for each in (path.casefold(), name) if each)
    return name in folded and re.search(rf"(?<![\w.-])(?:{names})(?![\w-])", folded) is not None


def _has_command(folded: str, command: str) -> bool:
    """Whether the longest part of *command* is in the text: summaries don't repeat the folder that it was run in."""
    parts = [_folded(part) for part in re.split(r"&&|\|\||[|;\n]", command)]
    longest = max((part for part in parts if not part.startswith("cd ")), key=len, default="")
    return not longest or longest in folded


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_no_file(path: str) -> bool:
    """Whether what looks like a file is an abbreviation, a number or the name of a host."""
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    if "/" in path:
        return not stem and not ending
    return (
        not stem or stem.replace(".", "").isdigit() or (len(stem) <= 2 and len(ending) <= 1) or name in ("e.g", "i.e")
    )
