"""``brim memory``: what survives a compaction, and what one dropped."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from brim.agents.stream import read
from brim.cli.options import (
    add_json,
    add_yes,
    check_belongs,
    check_words,
    command,
    here,
    option,
    says_yes,
    text_of,
    whole_number,
    working_folder,
)
from brim.cli.output import (
    counted,
    emit,
    facts,
    file_progress,
    heading,
    home_path,
    lines,
    note,
    paint,
    printable,
    table,
    wrapped,
)
from brim.config import project_folder
from brim.errors import InputError
from brim.memory.comparison import KINDS
from brim.memory.folder import NAME, check_folder, is_foreign
from brim.memory.index import render_index
from brim.memory.journal import Journal
from brim.memory.lost import CompactionReport, LostFact
from brim.memory.model import ScratchModel
from brim.memory.owners import session_folders
from brim.memory.sentences import sentence, when
from brim.memory.view import MemoryView, withdrawn
from brim.memory.writer import ScratchWriter
from brim.report.lost import LostReport, find_lost

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
NEWEST = 5
"""Compactions that are shown without ``--limit``."""
ENTRY_KINDS = (
    "human",
    "decision",
    "state",
    "dead-end",
    "artifact",
    "command",
    "suspect",
    "resolved",
    "withdrawn",
)
ADDED = ("decision", "dead-end", "human", "state")
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
      lost [SESSION]         what compactions dropped: files, commands, numbers, decisions and instructions
      get NUMBER             one entry whole
      add TEXT               add an entry (- reads it from standard input); --kind says what it is
      rebuild [TRANSCRIPTS]  render the files again; of transcripts, take in what the journal does not hold yet
      clean                  remove .context/; its journal is kept for 30 days in ~/.brim/memory

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
    action = {
        "show": _show,
        "list": _list,
        "get": _get,
        "add": _add,
        "rebuild": _rebuild,
        "clean": _clean,
    }
    return action[options.action](options)


def _show(options: Namespace) -> int:
    writer, journal = _journal(options)
    entries = [each for each in journal.entries if options.session in ("", each.session)]
    text = render_index(MemoryView(entries), os.path.dirname(writer.scratch_path))
    path = os.path.join(options.worktree, writer.scratch_path)
    found = {"path": path, "entries": len(entries), "broken": journal.broken, "text": text}
    if entries:
        return emit(found, text.rstrip("\n"), options.as_json)
    nothing = "no entry matches" if journal.entries else f"nothing is kept yet in {writer.folder}"
    return emit(found, "", options.as_json, nothing, code=1)


def _list(options: Namespace) -> int:
    _, journal = _journal(options)
    found = [each for each in journal.entries if options.session in ("", each.session)]
    found = [
        each
        for each in found
        if (each.kind == options.kind if options.kind else each.kind not in HIDDEN)
    ]
    shown = found[-options.limit :] if options.limit else found
    rows = [["number", "time", "kind", "session", "what"]]
    rows += [
        [f"#{each.number}", _time(each.time), each.kind, each.session[:8], sentence(each, 80)]
        for each in shown
    ]
    view = heading(table(rows, right=(0,), optional=(3, 1))) if shown else ""
    listing = {
        "entries": [entry.to_dict() for entry in shown],
        "of": len(found),
        "broken": journal.broken,
    }
    older = (
        f"{len(found) - len(shown):,} older are not shown: use a larger --limit"
        if shown != found
        else ""
    )
    broken = (
        f"{counted(journal.broken, 'unreadable line')} of the journal left out"
        if journal.broken
        else ""
    )
    nothing = "no entry matches" if options.kind or options.session else "nothing is kept yet"
    notes = ("" if options.as_json else older, broken, "" if shown else nothing)
    return emit(listing, view, options.as_json, *notes, code=0 if shown else 1)


def _get(options: Namespace) -> int:
    _, journal = _journal(options)
    number = options.words[0].removeprefix("#")
    if not number.isdecimal():
        raise InputError(
            f"memory get: {options.words[0]!r} is not a number: brim memory list shows them"
        )
    entry = next((entry for entry in journal.entries if entry.number == int(number[:20])), None)
    if entry is None:
        note(f"no entry #{number[:20]}: brim memory list shows them")
        return 1
    taken = withdrawn(journal.entries).get((entry.session, entry.id))
    refs = [(name, entry.refs.get(name)) for name in ("outcome", "output", "rule", "at")]
    rows = [
        *(("number", f"#{entry.number}"), ("kind", entry.kind), ("time", _time(entry.time))),
        *(("session", entry.session), ("agent", entry.agent)),
        *(
            (key, ", ".join(map(str, each)) if isinstance(each, list) else str(each))
            for key, each in refs
            if each
        ),
        ("withdrawn by", f"#{taken.number}" if taken else ""),
    ]
    view = f"{facts(rows)}\n\n{printable_lines(entry.text)}"
    return emit(
        {**entry.to_dict(), "withdrawn_by": taken.number if taken else None}, view, options.as_json
    )


def _add(options: Namespace) -> int:
    kind = options.kind or "decision"
    if kind not in ADDED:
        raise InputError(f"memory add: --kind is one of {', '.join(ADDED)}, not {kind}")
    writer = _writer(options)
    entry = writer.append(kind, text_of(options.words[0]))
    if entry is None:
        raise InputError("memory add: the text is empty")
    view = f"#{entry.number} {entry.kind}  {home_path(writer.scratch_path)}"
    return emit(entry.to_dict(), view, options.as_json)


def _rebuild(options: Namespace) -> int:
    added = 0
    _journal(options)  # refused before anything is read, if it is not ours
    for path in options.words:
        model, known = ScratchModel(), False
        for event in read(path):
            model.extract(event)
            known = True
        if not known:
            note(f"{path}: holds nothing that an agent wrote, as far as brim can read it")
        session = next((entry.session for entry in model.entries if entry.session), options.session)
        added += len(_writer(options, session=session).write_scratch(model, replay=True))
    writer, journal = _journal(options)
    if not journal.entries:
        note(f"there is nothing to render in {writer.folder}")
        return 1
    files = writer.rebuild()
    kept = len(writer.read().entries)
    view = f"{counted(added, 'entry')} added, {kept:,} kept  {home_path(writer.scratch_path)}"
    found = {"added": added, "entries": kept, "broken": journal.broken, "files": files}
    return emit(found, view, options.as_json)


def _clean(options: Namespace) -> int:
    writer, journal = _journal(options)
    folder = os.path.join(options.worktree, NAME)
    if not os.path.isdir(folder):
        note(f"there is no {folder}")
        return 1
    found: dict[str, Any] = {"folder": folder, "entries": len(journal.entries)}
    shown = home_path(folder)
    if options.dry_run:
        return emit(
            {**found, "kept": []}, f"would remove {shown} and keep its journal", options.as_json
        )
    if not says_yes(f"Remove {shown}? Its journal is kept for 30 days.", yes=options.yes):
        return 1
    kept = writer.cleanup()
    stays = os.path.isdir(folder)
    done = f"brim's files in {shown} are removed" if stays else f"{shown} is removed"
    view = lines(done, *(f"kept for 30 days: {home_path(path)}" for path in kept))
    others = f"{shown} holds files that brim did not write: they stay" if stays else ""
    return emit({**found, "kept": kept}, view, options.as_json, others)


def _worktree(given: str | None) -> str:
    """Return the folder that ``.context/`` is in: the one that was *given*, else the project's,
    else this one."""
    if given is not None:
        if not os.path.isdir(given):
            raise InputError(f"--worktree: {given}: no such folder")
        return os.path.abspath(given)
    folder = working_folder()
    if folder is None:
        raise InputError("the current folder was deleted: add --worktree DIR")
    return project_folder(os.environ, folder) or folder


def _whole_session(worktree: str, given: str) -> str:
    """Return the id of the session that *given* is the beginning of, if there is exactly one; else
    *given* itself."""
    root = os.path.join(worktree, NAME)
    if not given or not check_folder(root):
        return given
    known = {entry.session for entry in ScratchWriter(worktree).read().entries} | set(
        session_folders(root)
    )
    begun = [session for session in known if session.startswith(given)]
    return begun[0] if len(begun) == 1 and given not in known else given


def _writer(options: Namespace, session: str | None = None) -> ScratchWriter:
    """Return the writer of the files that *options* mean. A person's command never claims them for
    a session.

    A person may use memory that wasn't made here, and is told so; that doesn't make it one for
    agents.
    """
    folder = os.path.join(options.worktree, NAME)
    secret = here().memory_secret(folder)
    if is_foreign(folder, secret):
        note(
            f"{folder}: this memory wasn't made here, so agents don't use it: 'brim rules trust' shows it and asks"
        )
        secret = ""
    session = options.session if session is None else session
    return ScratchWriter(options.worktree, session=session, claim=False, secret=secret)


def _journal(options: Namespace) -> tuple[ScratchWriter, Journal]:
    """Return the writer that *options* mean, and its journal. Says so if other sessions have their
    own."""
    writer = _writer(options)
    journal = writer.read()
    root = os.path.join(options.worktree, NAME)
    if not options.session and os.path.isdir(root) and (others := session_folders(root)):
        note(f"other sessions have files of their own here, for --session: {', '.join(others)}")
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
    session = options.words[0] if options.words else ""
    with file_progress(session) as progress:
        found = find_lost(here(), session, limit=options.limit or NEWEST, taken=progress.advance)
    if not session and found.path and not found.here:
        note(f"no session of this project was compacted; the newest of all: {found.path}")
    if found.broken:
        note(f"{found.path}: {counted(found.broken, 'line')} could not be read")
    if options.again:
        text = found.again()
        empty = "nothing to give back" if found.compactions else "no compaction is known"
        return emit(
            {"text": text},
            printable_lines(text),
            options.as_json,
            empty=empty,
            code=0 if text else 1,
        )
    empty = "no compaction is known yet"
    if session:
        empty = (
            f"no compaction is known of {session}: 'brim report' lists those of the last 30 days"
        )
    return emit(found, _view, options.as_json, empty=empty, code=0 if found.compactions else 1)


def printable_lines(text: str) -> str:
    """Return *text* with every line printable."""
    return "\n".join(map(printable, text.split("\n")))


def _view(found: LostReport) -> str:
    parts = [_compaction(each) for each in found.compactions]
    if any(each.tokens for each in found.compactions):
        parts.append(f"Tokens are {found.compactions[-1].basis}.")
    return "\n\n".join(parts)


def _compaction(each: CompactionReport) -> str:
    gone, had = sum(each.lost.values()), sum(each.in_window.values())
    who = f"{each.agent} {each.session[:8]}" + (
        f", sub-agent {each.sub_agent[:8]}" if each.sub_agent else ""
    )
    head = f"{when(each.time)}  {who}: {gone:,} of {counted(had, 'fact')} dropped"
    if not each.readable:
        unread = "  Its summary can't be read, so what it kept isn't known."
        return lines(printable(head.partition(": ")[0]), wrapped(unread))
    of = [
        (kind, each.in_window[kind], each.lost.get(kind, 0))
        for kind in KINDS
        if each.in_window.get(kind)
    ]
    kept = ", ".join(f"{had - lost:,} of {counted(had, kind)}" for kind, had, lost in of)
    again = [item for item in each.items if item.back]
    cost = f": {counted(each.turns, 'turn')}, {each.tokens:,} tokens" if each.turns else ""
    return lines(
        wrapped(printable(head)),
        wrapped(f"  kept: {kept}") if each.in_window else "",
        f"  {paint('found again', 'faint')}{cost}" if again else "",
        _listed(again, sum(each.came_back.values())),
        f"  {paint('never came back', 'faint')}" if each.never else "",
        _listed(each.never, gone - sum(each.came_back.values())),
    )


def _listed(items: Iterable[LostFact], count: int) -> str:
    rows = []
    for item in list(items)[:SHOWN]:
        cost = f", {item.tokens:,} tokens" if item.tokens else ""
        rows.append(
            [f"    {item.kind}", item.text, f"{BACK[item.back]}{cost}" if item.back else ""]
        )
    more = f"    and {count - len(rows):,} more: --json" if count > len(rows) else ""
    return lines(table(rows) if rows else "", more)
