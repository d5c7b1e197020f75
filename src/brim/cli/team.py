"""A team on the command line: its keys, and what its people spent."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from brim.cli.asking import need_person
from brim.cli.options import here
from brim.cli.output import dollars, emit, lines, note, paint
from brim.cli.tables import heading, listed, table
from brim.errors import InputError
from brim.figures import clock
from brim.money.ledger_book import LedgerBook
from brim.money.team_keys import TeamKey
from brim.money.team_usage import BY, TeamSum, TeamUsage, team_usage

KEY = "key"
KEY_ACTIONS = ("add", "revoke", "list")
KEY_USAGE = (
    "write it as: brim limit key add TEAM/PERSON [TEAM/PROJECT] --store URL,"
    " brim limit key revoke TEAM/PERSON|ENDING --store URL, or brim limit key list --store URL"
)
NAMELESS = {"project": "no project", "session": "no session", "model": "unknown"}


def is_about_keys(words: Sequence[str]) -> bool:
    """Whether *words* after ``brim limit`` are about keys, and not about a project that is called
    so."""
    return len(words) > 1 and words[0] == KEY and words[1] in KEY_ACTIONS


def change_keys(options: Namespace) -> int:
    """Make, revoke or list the keys of a team."""
    _, action, *names = options.words
    with here().open_ledger_book(options.store) as book:
        if action == "add" and len(names) in (1, 2):
            return _add_key(book, names, options)
        if action == "revoke" and len(names) == 1:
            return _revoke_keys(book, names[0], options)
        if action == "list" and not names:
            return _list_keys(book, options)
    raise InputError(KEY_USAGE)


def _add_key(book: LedgerBook, names: Sequence[str], options: Namespace) -> int:
    need_person("makes a key, with which money can be spent")
    secret, key = book.keys.add(*names)
    note("this is shown once: brim keeps only a hash of it")
    return emit({"key": secret, **_public(key)}, secret, options.as_json)


def _revoke_keys(book: LedgerBook, name: str, options: Namespace) -> int:
    need_person("revokes a key")
    revoked = book.keys.revoke(name)
    if not revoked:
        raise InputError(f'No valid key is called "{name[:80]}": brim limit key list')
    result = {"revoked": [_public(key) for key in revoked]}
    names = ", ".join(f"{key.scope} (...{key.ending})" for key in revoked)
    return emit(result, f"Revoked: {names}", options.as_json)


def _list_keys(book: LedgerBook, options: Namespace) -> int:
    keys = book.keys.all()
    rows = [["person", "project", "key", "made", ""]]
    now = here().now
    for key in keys:
        state = ""
        if not key.is_valid:
            state = paint("revoked", "faint")
        project = key.project or "any"
        rows.append([key.person, project, f"...{key.ending}", clock(key.made_at, now), state])
    view = heading(table(rows))
    result = {"keys": [_public(key) for key in keys]}
    if not keys:
        view = ""
    return emit(result, view, options.as_json, empty="no key yet: brim limit key add TEAM/PERSON")


def _public(key: TeamKey) -> dict[str, object]:
    """Return *key* without its hash."""
    fields = key.to_dict()
    del fields["hash"]
    return {**fields, "person": key.person, "project": key.project}


def usage_in_ledger(options: Namespace) -> int:
    """Show what was spent in the ledger that ``--store`` names."""
    by = options.by or "person"
    if by not in BY:
        raise InputError(f"with --store, --by is one of {', '.join(BY)}")
    only_here = (options.paths, options.agent, options.requests, options.as_csv, options.no_index)
    if any(only_here):
        raise InputError("--store goes with --by, --since, --until, --project and --json alone")
    with here().open_ledger_book(options.store) as book:
        days = book.ledger.days(options.project or "")
    usage = team_usage(days, by, options.since or "", options.until or "")
    return emit(usage, _usage_view(usage), options.as_json, empty="nothing was spent yet")


def _usage_view(usage: TeamUsage) -> str:
    if not usage.rows:
        return ""
    rows = [[row.name or NAMELESS.get(usage.by, "unknown"), *_figures(row)] for row in usage.rows]
    rows, hidden = listed(rows)
    rows.append(["total", *_figures(usage.total)])
    days = "days are in UTC"
    below = ", ".join(filter(None, [hidden, days if usage.by == "day" else ""]))
    sums = heading(table([[usage.by, "tokens", "cost"], *rows], right=(1, 2)))
    return lines(sums, paint(below, "faint")) if below else sums


def _figures(row: TeamSum) -> list[str]:
    return [f"{row.tokens:,}", dollars(row.cost)]
