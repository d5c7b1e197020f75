"""``brim repair``: make a broken history valid again."""

from __future__ import annotations

import os

from brim.cli.commands.check import placed, short, tell_broken
from brim.cli.messages import Document, add_file, add_provider, read_document, read_text, say_object, say_text
from brim.cli.output import heading, listed, note, say, table, tell
from brim.cli.saving import keep, save
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.history import Change, Repaired, Violation

HELP = """\
Make a broken history valid again with as few changes as it takes, and list every one of them. The repaired JSON goes to
standard output, in the form it came in; with --in-place into the file, of which a backup is kept. Nothing is written
if nothing is to change. A Claude Code transcript is only checked: use --dry-run.

Ends with 0 if the result is valid; with --dry-run with 1 if there is something to change.

Examples:
  brim repair chat.json > repaired.json
  brim repair chat.json --in-place
  brim repair session.jsonl --dry-run
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_file(parser, "messages in JSON, or a request body; with --dry-run a transcript too")
    parser.add_argument("--in-place", action="store_true", help="write the file, and keep the old one as FILE.bak")
    parser.add_argument("--dry-run", action="store_true", help="list what would change, and write nothing")
    parser.add_argument(
        "--restore-calls", action="store_true", help="make up a call for a result without one, not drop the result"
    )
    add_provider(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Repair, print or write, and return the exit code."""
    from brim.history import repair, validate

    if options.in_place and options.file == "-":
        raise InputError("--in-place needs a file: standard input cannot be written")
    if options.in_place and options.dry_run:
        raise InputError("--in-place and --dry-run: use one of them")
    document = read_document(options.file)
    if document.lines is not None and not options.dry_run:
        raise InputError(f"{document.name}: a transcript is only checked, never written: use --dry-run")
    provider, _ = document.provider(options.provider)
    repaired = repair(document.messages, provider=provider, restore_calls=options.restore_calls)
    left = validate(repaired.messages, provider=provider)
    backup = None
    if options.in_place and repaired.changes and not left:
        backup = _write(document, options.file, document.with_messages(repaired.messages))
    if options.as_json:
        _say_json(document, repaired, left, backup, whole=not options.dry_run)
    else:
        _show(document, repaired, backup, options)
        for each in left[:10]:
            note(f"message {each.index:,} cannot be repaired: {each.text} ({each.rule})")
        if left and options.in_place:
            note(f"{document.name}: not written")
    tell_broken(document)
    return 1 if left or (options.dry_run and repaired.changes) else 0


def _write(document: Document, path: str, text: str) -> str:
    """Write the file after keeping the old one, and return the name of the backup."""
    if not os.path.isfile(path):
        raise InputError(f"{path}: --in-place needs a file")
    if not os.access(path, os.W_OK):
        raise InputError(f"{path}: you may only read it: nothing was written")
    if read_text(path) != document.text:
        raise InputError(f"{path}: somebody wrote it while it was being repaired: nothing was written")
    backup = keep(path, document.text)
    try:
        save(path, f"{text}\n")
    except InputError:
        os.unlink(backup)  # the file is as it was
        raise
    return backup


def _show(document: Document, repaired: Repaired, backup: str | None, options: Namespace) -> None:
    """Print the JSON, unless it is in the file; the list of changes goes to standard output if that is free."""
    is_json = not (options.in_place or options.dry_run)
    if is_json:
        say_text(document.with_messages(repaired.messages))
    many = len(repaired.changes)
    summary = f"{many:,} change{'' if many == 1 else 's'}" if many else "nothing to repair"
    if backup is not None:
        summary += f"; the old file is {backup}"
    elif options.dry_run and many:
        summary += " needed"
    lines = f"{document.name}: {summary}"
    if many:
        changes = _table(document, repaired.changes)
        lines += f"\n{changes if is_json else heading(changes)}"
    tell(lines) if is_json else say(lines)


def _table(document: Document, changes: tuple[Change, ...]) -> str:
    rows = [[f"{document.place(each.index):,}", each.action, each.rule, short(each.text, 80)] for each in changes]
    shown, more = listed(rows)
    lines = table([[document.unit, "change", "rule", "what"], *shown], right=frozenset({0}))
    return f"{lines}\n{more}" if more else lines


def _say_json(
    document: Document, repaired: Repaired, left: list[Violation], backup: str | None, *, whole: bool
) -> None:
    facts = {
        "valid": not left,
        "changed": bool(repaired.changes),
        "changes": [placed(document, each) for each in repaired.changes],
        "violations": [placed(document, each) for each in left],
        "backup": backup,
        "broken_lines": document.broken,
    }
    say_object({"messages": repaired.messages, **facts} if whole else facts)
