"""``brim lost``: what compactions dropped, what the agent had to find again, and what never came back."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping

from brim.cli.options import add_json, command, here, option, whole_number
from brim.cli.output import counted, emit, file_progress, lines, note, paint, printable, table
from brim.errors import InputError
from brim.report.compactions import Compaction, Lost
from brim.report.lost import LostReport, find_lost
from brim.scratch.facts import KINDS
from brim.scratch.index import when

SHOWN = 12
"""Things of one group that are listed; ``--json`` has more."""

BACK = {"read": "read again", "changed": "changed again", "run": "run again", "you": "you said it again"}
BACK["hook"] = "brim or another hook gave it back"


@command(
    option("session", nargs="?", default="", metavar="SESSION", help="a session's file, its id or how that begins"),
    option("--session", dest="named", default="", metavar="ID", help="the same, for scripts that use it"),
    option("--limit", type=whole_number(1), default=5, metavar="N", help="only the newest N (default: 5)"),
    option("--again", action="store_true", help="print a text to paste into the agent: what never came back"),
    add_json,
)
def lost(options: Namespace) -> int:
    """Show what compactions dropped: files, commands, numbers, decisions and instructions.

    brim compares what was in the window before a compaction with everything that was in it afterwards. It lists what
    the agent had to find again, with what that took, and what never came back. It reads the agents' own files, so it
    works without 'brim init'.

    Without SESSION, it is the newest session of this project that was compacted. Exits with 1 if there is none.

    Examples:
      brim lost
      brim lost 4f1c --json
      brim lost --again | pbcopy
    """
    if options.session and options.named:
        raise InputError("SESSION and --session mean the same: give one of them")
    session = options.session or options.named
    with file_progress(session) as progress:
        found = find_lost(here(), session, limit=options.limit, taken=progress.advance)
    if not session and found.path and not found.here:
        note(f"no session of this project was compacted; the newest of all: {found.path}")
    if found.broken:
        note(f"{found.path}: {counted(found.broken, 'line')} could not be read")
    if options.again:
        text = found.again()
        emit({"text": text}, lambda _: printable_lines(text), options.as_json)
        if not text and not options.as_json:
            note("nothing to give back" if found.compactions else "no compaction is known")
        return 0 if text else 1
    emit(found, _view, options.as_json)
    if not found.compactions and not options.as_json:
        note("no compaction is known" + (f" of session {session}" if session else " yet"))
    return 0 if found.compactions else 1


def printable_lines(text: str) -> str:
    """Return *text* with every line printable."""
    return "\n".join(map(printable, text.split("\n")))


def _view(found: LostReport) -> str:
    parts = [_compaction(each) for each in found.compactions]
    estimated = any(each.tokens for each in found.compactions)
    basis = f"Tokens are {found.compactions[-1].basis}." if estimated else ""
    return "\n\n".join([*parts, *([basis] if basis else [])])


def _compaction(each: Compaction) -> str:
    gone, had = sum(each.lost.values()), sum(each.had.values())
    who = f"{each.agent} {each.session[:8]}" + (f", sub-agent {each.sub_agent[:8]}" if each.sub_agent else "")
    head = f"{when(each.time)}  {who}: {gone:,} of {counted(had, 'fact')} dropped"
    if not each.readable:
        return lines(printable(head.partition(": ")[0]), "  Its summary can't be read, so what it kept isn't known.")
    kept = {kind: each.had[kind] - each.lost.get(kind, 0) for kind in each.had}
    again = [item for item in each.items if item.back]
    cost = f": {counted(each.turns, 'turn')}, {each.tokens:,} tokens" if each.turns else ""
    return lines(
        printable(head),
        f"  kept: {_of(kept, each.had)}" if each.had else "",
        f"  {paint('found again', 'faint')}{cost}" if again else "",
        _listed(again, sum(each.came_back.values())),
        f"  {paint('never came back', 'faint')}" if each.never else "",
        _listed(each.never, gone - sum(each.came_back.values())),
    )


def _of(part: Mapping[str, int], had: Mapping[str, int]) -> str:
    return ", ".join(f"{part[kind]:,} of {counted(had[kind], kind)}" for kind in KINDS if had.get(kind))


def _listed(items: Iterable[Lost], count: int) -> str:
    rows = [[f"    {item.kind}", item.text, _how(item)] for item in items][:SHOWN]
    more = f"    and {count - len(rows):,} more: --json" if count > len(rows) else ""
    return lines(table(rows) if rows else "", more)


def _how(item: Lost) -> str:
    cost = f", {item.tokens:,} tokens" if item.tokens else ""
    return f"{BACK[item.back]}{cost}" if item.back else ""
