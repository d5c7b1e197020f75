"""``brim memory``: what survives a compaction, and what one dropped."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Sequence
from typing import Any

from brim.cli.asking import add_yes, says_yes
from brim.cli.options import (
    add_json,
    check_belongs,
    check_words,
    command,
    here,
    option,
    whole_number,
)
from brim.cli.output import counted, emit, home_path, lines, note, paint, printable, wrapped
from brim.cli.progress import file_progress
from brim.cli.tables import facts, heading, table
from brim.config.places import project_folder
from brim.errors import InputError
from brim.memory.comparison import KINDS
from brim.memory.entries import MemoryEntry
from brim.memory.folder import NAME, check_folder, is_foreign, session_folders
from brim.memory.index import render_index
from brim.memory.journal import Journal
from brim.memory.lost import CompactionReport, LostFact
from brim.memory.model import ScratchModel, read_model, session_of
from brim.memory.sentences import sentence, when
from brim.memory.view import MemoryView, withdrawn
from brim.memory.writer import ScratchWriter
from brim.sessions.report.lost import LostReport, find_lost
from brim.tokens.inputs import text_of
from brim.workspace import working_folder

TAKES = {
    "show": "",
    "list": "",
    "lost": "[SESSION]",
    "get": "NUMBER",
    "add": "'TEXT'",
    "rebuild": "[TRANSCRIPT ...]",
    "clean": "",
}
"""What each action takes."""
OWN_OPTIONS = {
    "yes": ("clean",),
    "dry_run": ("clean",),
    "kind": ("list", "add"),
    "limit": ("list", "lost"),
    "again": ("lost",),
}
LONGEST_NUMBER = 20
"""Digits of an entry's number that are read."""
NEWEST = 5
"""Compactions that are shown without ``--limit``."""
ENTRY_KINDS = (
    "human",
    "decision",
    "state",
    "dead-end",
    "artifact",
    "command",
    "resolved",
    "withdrawn",
)
ADDED = ("decision", "dead-end", "human", "state")
NOT_CONFIRMED = "not confirmed"
"""The kind that is shown of a prompt that no line of the agent's transcript has said yet."""
HIDDEN = ("same", "job")
"""Kinds of entries that only the journal itself needs."""


@command(
    option(
        "action", nargs="?", choices=list(TAKES), default="show", help="what to do (default: show)"
    ),
    option("words", nargs="*", metavar="WORD", help="a session, a number, a text, or transcripts"),
    option(
        "--kind",
        choices=ENTRY_KINDS,
        metavar="KIND",
        help="for list and add: the kind of entry (add: decision)",
    ),
    option(
        "--session", default="", metavar="ID", help="only this session, by its id or how it begins"
    ),
    option("--limit", type=whole_number(1), metavar="N", help="only the newest N (lost: 5)"),
    option(
        "--again",
        action="store_true",
        help="for lost: what never came back, as a text for the agent",
    ),
    option(
        "--worktree", metavar="DIR", help="folder that .context/ is in (default: the project's)"
    ),
    add_yes,
    add_json,
)
def memory(options: Namespace) -> int:
    """Show and keep what must survive a compaction, and show what was lost.

    That is human input, decisions, state changes, dead ends, changed files and failing commands.
    The journal in .context/ is the truth; scratch.md and the other files there are rendered from
    it.

      show                   the index, as an agent reads it (default)
      list                   the entries, newest last
      lost [SESSION]         what compactions dropped: files, commands, decisions and instructions
      get NUMBER             one entry whole
      add TEXT               add an entry (- reads it from standard input); --kind says what it is
      rebuild [TRANSCRIPTS]  render the files again; of transcripts, take in what the journal does not hold yet
      clean                  remove .context/; its journal is kept for 30 days in ~/.brim/scratch

    'lost' compares the window before a compaction with the window afterwards. It lists what the
    agent had to find again, how many tokens that took, and what never came back. It reads the
    agents' own files, so it works without 'brim init'. SESSION is a session's file, its id or the
    beginning of it (default: the newest compacted session of this project, or of all projects).
    Exits with 1 if there is none.

    Examples:
      brim memory lost
      brim memory lost 4f1c --again | pbcopy
      brim memory list --kind dead-end
      brim memory add --kind decision 'Keep SQLite: one file, no server'
      brim memory rebuild ~/.claude/projects/-home-me-shop/*.jsonl
    """
    check_words(f"brim memory {options.action}", TAKES[options.action], options.words)
    check_belongs(options, OWN_OPTIONS, "brim memory")
    if options.action == "lost":
        return _lost(options)
    options.worktree = _worktree(options.worktree)
    options.session = _whole_session(options.worktree, options.session)
    actions = {
        "show": _show,
        "list": _list,
        "get": _get,
        "add": _add,
        "rebuild": _rebuild,
        "clean": _clean,
    }
    return actions[options.action](options)


def _show(options: Namespace) -> int:
    writer, journal = _journal(options)
    entries = _entries(journal, options)
    text = render_index(MemoryView(entries), os.path.dirname(writer.scratch_path))
    path = os.path.join(options.worktree, writer.scratch_path)
    result = {"path": path, "entries": len(entries), "broken": journal.broken, "text": text}
    if entries:
        return emit(result, text.rstrip("\n"), options.as_json)
    reason = f"nothing is kept yet in {writer.folder}"
    if journal.entries:
        reason = "no entry matches"
    return emit(result, "", options.as_json, reason, code=1)


def _entries(journal: Journal, options: Namespace) -> list[MemoryEntry]:
    """Return the entries of the session that *options* mean, or of all."""
    if not options.session:
        return list(journal.entries)
    return [entry for entry in journal.entries if entry.session == options.session]


def _list(options: Namespace) -> int:
    _, journal = _journal(options)
    matching = [entry for entry in _entries(journal, options) if _is_listed(entry, options.kind)]
    entries = matching
    if options.limit:
        entries = matching[-options.limit :]
    unconfirmed = _unconfirmed(journal)
    listing = {
        "entries": [entry.to_dict() for entry in entries],
        "of": len(matching),
        "unconfirmed": sorted(unconfirmed),
        "broken": journal.broken,
    }
    notes = []
    hidden = len(matching) - len(entries)
    if hidden and not options.as_json:
        notes.append(f"{hidden:,} older are not shown: use a larger --limit")
    if journal.broken:
        notes.append(f"{counted(journal.broken, 'unreadable line')} of the journal left out")
    if entries:
        return emit(listing, _entry_table(entries, unconfirmed), options.as_json, *notes)
    notes.append("nothing is kept yet")
    if options.kind or options.session:
        notes[-1] = "no entry matches"
    return emit(listing, "", options.as_json, *notes, code=1)


def _unconfirmed(journal: Journal) -> set[int]:
    """Return the numbers of prompts that no line of the agent's transcript has said yet."""
    return {entry.number for entry in MemoryView(journal.entries).unconfirmed}


def _is_listed(entry: MemoryEntry, kind: str | None) -> bool:
    if kind:
        return entry.kind == kind
    return entry.kind not in HIDDEN


def _entry_table(entries: Sequence[MemoryEntry], unconfirmed: set[int]) -> str:
    rows = [["number", "time", "kind", "session", "what"]]
    for entry in entries:
        kind = entry.kind
        if entry.number in unconfirmed:
            kind = NOT_CONFIRMED
        text = sentence(entry, 80)
        rows.append([f"#{entry.number}", _time(entry.time), kind, entry.session[:8], text])
    return heading(table(rows, right=(0,), optional=(3, 1)))


def _get(options: Namespace) -> int:
    _, journal = _journal(options)
    number = options.words[0].removeprefix("#")
    if not number.isdecimal():
        raise InputError(
            f"memory get: {options.words[0]!r} is not a number: brim memory list shows them"
        )
    number = number[:LONGEST_NUMBER]
    entries = [entry for entry in journal.entries if entry.number == int(number)]
    if not entries:
        note(f"no entry #{number}: brim memory list shows them")
        return 1
    entry = entries[0]
    withdrawal = withdrawn(journal.entries).get((entry.session, entry.id))
    withdrawn_by = None
    if withdrawal is not None:
        withdrawn_by = withdrawal.number
    is_confirmed = entry.number not in _unconfirmed(journal)
    result = {**entry.to_dict(), "withdrawn_by": withdrawn_by, "confirmed": is_confirmed}
    kind = entry.kind if is_confirmed else NOT_CONFIRMED
    return emit(result, _entry_view(entry, kind, withdrawn_by), options.as_json)


def _entry_view(entry: MemoryEntry, kind: str, withdrawn_by: int | None) -> str:
    rows = [
        ("number", f"#{entry.number}"),
        ("kind", kind),
        ("time", _time(entry.time)),
        ("session", entry.session),
        ("agent", entry.agent),
    ]
    for name in ("outcome", "output", "rule", "at"):
        value = entry.refs.get(name)
        if isinstance(value, list):
            rows.append((name, ", ".join(map(str, value))))
        elif value:
            rows.append((name, str(value)))
    if withdrawn_by is not None:
        rows.append(("withdrawn by", f"#{withdrawn_by}"))
    return f"{facts(rows)}\n\n{printable_lines(entry.text)}"


def _add(options: Namespace) -> int:
    kind = options.kind or "decision"
    if kind not in ADDED:
        raise InputError(f"memory add: --kind is one of {', '.join(ADDED)}, not {kind}")
    writer = _writer(options, options.session)
    entry = writer.append(kind, text_of(options.words[0]))
    if entry is None:
        raise InputError("memory add: the text is empty")
    view = f"#{entry.number} {entry.kind}  {home_path(writer.scratch_path)}"
    return emit(entry.to_dict(), view, options.as_json)


def _rebuild(options: Namespace) -> int:
    _journal(options)  # refused before anything is read, if it is not ours
    added = 0
    for path in options.words:
        model = read_model(path)
        if model is None:
            note(f"{path}: holds nothing that an agent wrote, as far as brim can read it")
            model = ScratchModel()
        writer = _writer(options, session_of(model) or options.session)
        added += len(writer.write_scratch(model, replay=True))
    writer, journal = _journal(options)
    if not journal.entries:
        note(f"there is nothing to render in {writer.folder}")
        return 1
    files = writer.rebuild()
    entries = len(writer.read().entries)
    path = home_path(writer.scratch_path)
    view = f"{counted(added, 'entry')} added, {entries:,} kept  {path}"
    result = {"added": added, "entries": entries, "broken": journal.broken, "files": files}
    return emit(result, view, options.as_json)


def _clean(options: Namespace) -> int:
    writer, journal = _journal(options)
    folder = os.path.join(options.worktree, NAME)
    if not os.path.isdir(folder):
        note(f"there is no {folder}")
        return 1
    result: dict[str, Any] = {"folder": folder, "entries": len(journal.entries), "kept": []}
    name = home_path(folder)
    if options.dry_run:
        return emit(result, f"would remove {name} and keep its journal", options.as_json)
    if not says_yes(f"Remove {name}? Its journal is kept for 30 days.", yes=options.yes):
        return 1
    journals = writer.cleanup()
    result["kept"] = journals
    view = [f"{name} is removed"]
    hint = ""
    if os.path.isdir(folder):
        view = [f"brim's files in {name} are removed"]
        hint = f"{name} holds files that brim did not write: they stay"
    view += [f"kept for 30 days: {home_path(path)}" for path in journals]
    return emit(result, "\n".join(view), options.as_json, hint)


def _worktree(folder: str | None) -> str:
    """Return the folder that ``.context/`` is in: *folder*, else the project's, else this one."""
    if folder is not None:
        if not os.path.isdir(folder):
            raise InputError(f"--worktree: {folder}: no such folder")
        return os.path.abspath(folder)
    working = working_folder()
    if working is None:
        raise InputError("the current folder was deleted: add --worktree DIR")
    return project_folder(os.environ, working) or working


def _whole_session(worktree: str, beginning: str) -> str:
    """Return the id of the only session that has this *beginning*; else *beginning* itself."""
    root = os.path.join(worktree, NAME)
    if not beginning or not check_folder(root):
        return beginning
    sessions = {entry.session for entry in ScratchWriter(worktree).read().entries}
    sessions |= set(session_folders(root))
    if beginning in sessions:
        return beginning
    matching = [session for session in sessions if session.startswith(beginning)]
    if len(matching) == 1:
        return matching[0]
    return beginning


def _writer(options: Namespace, session: str) -> ScratchWriter:
    """Return the writer of the files of *session*.

    A person's command never claims them for a session. A person may use memory that wasn't made
    here, and is told so; that doesn't make it one for agents.
    """
    folder = os.path.join(options.worktree, NAME)
    secret = here().memory_secret(folder)
    if is_foreign(folder, secret):
        note(
            f"{folder}: this memory wasn't made here, so agents don't use it:"
            " 'brim rules trust' shows it and asks"
        )
        secret = ""
    return ScratchWriter(options.worktree, session=session, claim=False, secret=secret)


def _journal(options: Namespace) -> tuple[ScratchWriter, Journal]:
    """Return the writer that *options* mean, and its journal.

    Says so if other sessions have their own.
    """
    writer = _writer(options, options.session)
    journal = writer.read()
    root = os.path.join(options.worktree, NAME)
    if not options.session and os.path.isdir(root):
        sessions = session_folders(root)
        if sessions:
            names = ", ".join(sessions)
            note(f"other sessions have files of their own here, for --session: {names}")
    return writer, journal


def _time(seconds: float | None) -> str:
    return when(seconds).removesuffix(" UTC")


# What compactions dropped -------------------------------------------------------------------------

SHOWN = 12
"""Things of one group that are listed; ``--json`` has more."""

BACK = {
    "read": "read again",
    "changed": "changed again",
    "run": "run again",
    "you": "you said it again",
}
BACK["hook"] = "brim or another hook gave it back"


def _lost(options: Namespace) -> int:
    if options.session or options.worktree is not None:
        raise InputError("write it as: brim memory lost [SESSION]")
    workspace = here()
    session = ""
    if options.words:
        session = options.words[0]
    with file_progress(session) as progress:
        report = find_lost(
            workspace.environ,
            workspace.cwd,
            session,
            limit=options.limit or NEWEST,
            on_bytes=progress.advance,
        )
    if not session and report.path and not report.here:
        note(f"no session of this project was compacted; the newest of all: {report.path}")
    if report.broken:
        note(f"{report.path}: {counted(report.broken, 'line')} could not be read")
    if options.again:
        return _give_back(report, options)
    empty = "no compaction is known yet"
    if session:
        hint = "'brim report' lists those of the last 30 days"
        empty = f"no compaction is known of {session}: {hint}"
    code = int(not report.compactions)
    return emit(report, _lost_view, options.as_json, empty=empty, code=code)


def _give_back(report: LostReport, options: Namespace) -> int:
    """Print what never came back, as a text for the agent."""
    text = report.again()
    empty = "no compaction is known"
    if report.compactions:
        empty = "nothing to give back"
    view = printable_lines(text)
    return emit({"text": text}, view, options.as_json, empty=empty, code=int(not text))


def printable_lines(text: str) -> str:
    """Return *text* with every line printable."""
    return "\n".join(map(printable, text.split("\n")))


def _lost_view(report: LostReport) -> str:
    parts = [_compaction(compaction) for compaction in report.compactions]
    if any(compaction.tokens for compaction in report.compactions):
        parts.append(f"Tokens are {report.compactions[-1].basis}.")
    return "\n\n".join(parts)


def _compaction(compaction: CompactionReport) -> str:
    agent = f"{compaction.agent} {compaction.session[:8]}"
    if compaction.sub_agent:
        agent += f", sub-agent {compaction.sub_agent[:8]}"
    title = f"{when(compaction.time)}  {agent}"
    if not compaction.readable:
        unread = "  Its summary can't be read, so what it kept isn't known."
        return lines(printable(title), wrapped(unread))
    dropped = sum(compaction.lost.values())
    total = sum(compaction.in_window.values())
    came_back = sum(compaction.came_back.values())
    view = [wrapped(printable(f"{title}: {dropped:,} of {counted(total, 'fact')} dropped"))]
    if compaction.in_window:
        view.append(wrapped(f"  kept: {_kept_facts(compaction)}"))
    again = [item for item in compaction.items if item.back]
    if again:
        cost = ""
        if compaction.turns:
            cost = f": {counted(compaction.turns, 'turn')}, {compaction.tokens:,} tokens"
        view.append(f"  {paint('found again', 'faint')}{cost}")
    view.append(_listed(again, came_back))
    if compaction.never:
        view.append(f"  {paint('never came back', 'faint')}")
    view.append(_listed(compaction.never, dropped - came_back))
    return lines(*view)


def _kept_facts(compaction: CompactionReport) -> str:
    parts = []
    for kind in KINDS:
        total = compaction.in_window.get(kind, 0)
        if total:
            kept = total - compaction.lost.get(kind, 0)
            parts.append(f"{kept:,} of {counted(total, kind)}")
    return ", ".join(parts)


def _listed(items: Iterable[LostFact], count: int) -> str:
    rows = []
    for item in list(items)[:SHOWN]:
        back = ""
        if item.back:
            back = BACK[item.back]
        if item.back and item.tokens:
            back += f", {item.tokens:,} tokens"
        rows.append([f"    {item.kind}", item.text, back])
    view = []
    if rows:
        view.append(table(rows))
    if count > len(rows):
        view.append(f"    and {count - len(rows):,} more: --json")
    return "\n".join(view)
