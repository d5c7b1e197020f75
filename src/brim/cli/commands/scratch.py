"""``brim scratch``: what survives a compaction, shown, searched, added to and made again."""

from __future__ import annotations

import os

from brim.cli.asking import add_yes, says_yes
from brim.cli.behaviors import counted
from brim.cli.output import heading, note, printable, say, say_json, table
from brim.cli.scratch import entry_facts, index_text, journal_of, when, whole_session, worktree_of, writer_for
from brim.cli.settings import add_json, whole_number
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.scratch.entries import Entry

ACTIONS = ("show", "list", "get", "add", "rebuild", "clean")
TAKES = {"show": (0, 0), "list": (0, 0), "get": (1, 1), "add": (1, 1), "rebuild": (0, 1000), "clean": (0, 0)}
"""How many words each action takes after its name: at least, at most."""
KINDS = ("human", "decision", "state", "dead-end", "artifact", "command", "suspect", "resolved", "withdrawn")
ADDED = ("decision", "dead-end", "human", "state")
HIDDEN = ("same", "job")
"""Kinds of entries that only the journal itself needs."""

HELP = """\
Show and keep what must survive a compaction: human input, decisions, state changes, dead ends, changed files and
failing commands. The journal in .context/ is the truth; scratch.md and the other files there are rendered from it.

  show                   the index, as an agent reads it (default)
  list                   the entries, newest last
  get NUMBER             one entry whole
  add TEXT               add an entry (- reads it from standard input); --kind says what it is
  rebuild [TRANSCRIPTS]  render the files anew; of transcripts, take in what the journal does not hold yet
  clean                  remove .context/; its journal is kept for 30 days in ~/.brim/scratch

Examples:
  brim scratch list --kind dead-end
  brim scratch get 12
  brim scratch add --kind decision 'Keep SQLite: one file, no server'
  brim scratch rebuild ~/.claude/projects/-home-me-shop/*.jsonl
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="show", help="what to do (default: show)")
    parser.add_argument("words", nargs="*", metavar="WORD", help="a number, a text, or transcripts")
    text = "for list: only entries of this kind; for add: one of decision (default), dead-end, human, state"
    parser.add_argument("--kind", choices=KINDS, metavar="KIND", help=text)
    parser.add_argument(
        "--session",
        default="",
        metavar="ID",
        help="only this session, by its id or how it begins (default: all in .context/)",
    )
    parser.add_argument("--limit", type=whole_number(1), metavar="N", help="for list: only the newest N")
    parser.add_argument("--worktree", metavar="DIR", help="folder that .context/ is in (default: the project's)")
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Do what was asked, and return the exit code."""
    least, most = TAKES[options.action]
    if len(options.words) < least:
        raise InputError(f"scratch {options.action}: which {'number' if options.action == 'get' else 'text'}?")
    if len(options.words) > most:
        raise InputError(f"scratch {options.action}: {options.words[most]!r} is one word too many; quote a text")
    if options.action != "clean" and (options.yes or options.dry_run):
        raise InputError("--yes and --dry-run belong to 'brim scratch clean'")
    if options.kind and options.action not in ("list", "add"):
        raise InputError("--kind belongs to 'brim scratch list' and 'brim scratch add'")
    if options.limit and options.action != "list":
        raise InputError("--limit belongs to 'brim scratch list'")
    options.worktree = worktree_of(options.worktree)
    options.session = whole_session(options.worktree, options.session)
    action = {"show": _show, "list": _list, "get": _get, "add": _add, "rebuild": _rebuild, "clean": _clean}
    return action[options.action](options)


def _show(options: Namespace) -> int:
    writer, journal = journal_of(options)
    entries = [each for each in journal.entries if each.session == options.session or not options.session]
    text = index_text(writer, entries)
    if options.as_json:
        path = os.path.join(options.worktree, writer.scratch_path)
        say_json({"path": path, "entries": len(entries), "broken": journal.broken, "text": text})
    elif entries:
        say(text.rstrip("\n"))
    if not entries:
        note("no entry matches" if journal.entries else f"nothing is kept yet in {writer.folder}")
        return 1
    return 0


def _list(options: Namespace) -> int:
    from brim.scratch.index import sentence

    _, journal = journal_of(options)
    found = [entry for entry in journal.entries if _is_asked(entry, options)]
    shown = found[-options.limit :] if options.limit else found
    if options.as_json:
        say_json({"entries": [entry_facts(entry) for entry in shown], "of": len(found), "broken": journal.broken})
    elif shown:
        rows = [["number", "time", "kind", "session", "what"]]
        rows += [
            [f"#{entry.number}", when(entry.time), entry.kind, entry.session[:8], sentence(entry, 80)]
            for entry in shown
        ]
        say(heading(table(rows, right=frozenset({0}))))
        if len(shown) < len(found):
            note(f"{len(found) - len(shown):,} older are not shown: say a larger --limit")
    if journal.broken:
        note(f"{counted(journal.broken, 'line')} of the journal cannot be read and {_are(journal.broken)} left out")
    if not shown:
        note("no entry matches" if options.kind or options.session else "nothing is kept yet")
    return 0 if shown else 1


def _get(options: Namespace) -> int:
    from brim.scratch.entries import withdrawn

    _, journal = journal_of(options)
    number = options.words[0].removeprefix("#")
    if not number.isdecimal():
        raise InputError(f"scratch get: {options.words[0]!r} is not a number: brim scratch list shows them")
    entry = next((entry for entry in journal.entries if entry.number == int(number[:20])), None)
    if entry is None:
        note(f"there is no entry #{number[:20]}: brim scratch list shows them")
        return 1
    taken = withdrawn(journal.entries).get((entry.session, entry.id))
    if options.as_json:
        say_json({**entry_facts(entry), "withdrawn_by": taken.number if taken else None})
        return 0
    rows = [["number", f"#{entry.number}"], ["kind", entry.kind], ["time", when(entry.time)]]
    rows += [["session", entry.session]] if entry.session else []
    rows += [["agent", entry.agent]] if entry.agent else []
    rows += [
        [key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)] for key, value in _shown(entry)
    ]
    rows += [["withdrawn by", f"#{taken.number}"]] if taken else []
    say(table(rows))
    say()
    for line in entry.text.split("\n"):
        say(printable(line))
    return 0


def _add(options: Namespace) -> int:
    from brim.cli.learned import text_of

    kind = options.kind or "decision"
    if kind not in ADDED:
        raise InputError(f"scratch add: --kind is one of {', '.join(ADDED)}, not {kind}")
    writer = writer_for(options)
    entry = writer.append(kind, text_of(options.words[0]))
    if entry is None:
        raise InputError("scratch add: the text is empty")
    if options.as_json:
        say_json(entry_facts(entry))
    else:
        say(f"#{entry.number} {entry.kind}  {printable(writer.scratch_path)}")
    return 0


def _rebuild(options: Namespace) -> int:
    from brim.scratch.model import ScratchModel
    from brim.tracking.readers.stream import read

    added = 0
    journal_of(options)  # refused before anything is read, if it is not ours
    for path in options.words:
        model, known = ScratchModel(), False
        for event in read(path):
            model.extract(event)
            known = True
        if not known:
            note(f"{path}: holds nothing that an agent wrote, as far as brim can read it")
        session = next((entry.session for entry in model.entries if entry.session), options.session)
        added += len(writer_for(options, session=session).write_scratch(model, replay=True))
    writer, journal = journal_of(options)
    if not journal.entries:
        note(f"there is nothing to render in {writer.folder}")
        return 1
    files = writer.rebuild()
    kept = len(writer.read().entries)
    if options.as_json:
        say_json({"added": added, "entries": kept, "broken": journal.broken, "files": files})
    else:
        say(f"{added:,} {'entry' if added == 1 else 'entries'} added, {kept:,} kept  {writer.scratch_path}")
    return 0


def _clean(options: Namespace) -> int:
    writer, journal = journal_of(options)
    folder = os.path.join(options.worktree, ".context")
    if not os.path.isdir(folder):
        note(f"there is no {folder}")
        return 1
    facts: dict[str, Any] = {"folder": folder, "entries": len(journal.entries)}
    if options.dry_run:
        say_json({**facts, "kept": []}) if options.as_json else say(f"{folder} would be removed, its journal kept")
        return 0
    if not says_yes(f"Remove {folder}? Its journal is kept for 30 days.", yes=options.yes):
        return 1
    kept = writer.cleanup()
    stays = os.path.isdir(folder)
    if options.as_json:
        say_json({**facts, "kept": kept})
    else:
        say(f"brim's files in {folder} are removed" if stays else f"{folder} is removed")
        for path in kept:
            say(f"kept for 30 days: {path}")
    if stays:
        note(f"{folder} holds files that brim did not write: they stay")
    return 0


def _is_asked(entry: Entry, options: Namespace) -> bool:
    if options.session and entry.session != options.session:
        return False
    return entry.kind == options.kind if options.kind else entry.kind not in HIDDEN


def _shown(entry: Entry) -> list[tuple[str, Any]]:
    names = ("outcome", "output", "rule", "at")
    return [(name, entry.refs[name]) for name in names if entry.refs.get(name)]


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
