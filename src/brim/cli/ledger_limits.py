"""``brim limit --store``: limits in a ledger, for programs that reserve money."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from brim.cli.asking import need_person
from brim.cli.ledger_views import STATES, project_table, scope_table
from brim.cli.limit_changes import UNLIMITED, join_units
from brim.cli.options import here
from brim.cli.output import dollars, emit, home_path, note
from brim.cli.team import change_keys, is_about_keys
from brim.errors import InputError
from brim.masking import without_login
from brim.money.allowances import SPANS, ledger_limit
from brim.money.budget import build_wrap_up_prompt
from brim.money.ledger import ScopeStatus
from brim.money.ledger_book import LedgerBook, LimitRow, ProjectRow, display_name
from brim.money.scopes import EVERYWHERE
from brim.workspace import Workspace

ANSWERS = ("continue", "raise", "wrap-up", "stop")
NOT_FINITE = ("nan", "inf", "infinity")
AMOUNT_SIGNS = tuple("$-+0123456789")
"""What an amount begins with, right or wrong."""
USAGE = (
    "write it as: brim limit [PROJECT] 5/day, brim limit raise [PROJECT] 8/day,"
    " or brim limit remove [PROJECT]"
)
MOST_SHOWN = 200
MOST_WRITTEN = 10_000


@dataclass(frozen=True)
class LedgerWords:
    """What a person typed after ``brim limit``."""

    action: str
    """One of ``ANSWERS``, ``remove``, or nothing: then limits are set or shown."""
    project: str
    limits: tuple[str, ...]


def limit_in_ledger(options: Namespace) -> int:
    """Set, show or answer the limits in the ledger that ``--store`` names, or change its keys."""
    if is_about_keys(options.words):
        return change_keys(options)
    words = _read(options)
    workspace = here()
    _check_store(options.store)
    if not words.action and not words.limits:
        return _show(workspace, words.project, options)
    with workspace.open_ledger_book(options.store) as book:
        project = words.project
        if options.everywhere:
            project = EVERYWHERE
        scope = _scope(book, project, words.action)
        if words.action == "remove":
            return _remove(book, scope, words, options)
        if words.action:
            return _answer(book, scope, words, options)
        return _set(book, scope, words, options)


def _check_store(store: str) -> None:
    if store and "://" not in store and not os.path.exists(store):
        raise InputError(
            f"--store {without_login(store)}: isn't an address: write"
            " postgresql://USER@HOST/DATABASE"
        )


def _scope(book: LedgerBook, name: str, action: str = "", *, is_known: bool = False) -> str:
    """Return the scope that *name* means; an action may have been mistyped."""
    try:
        return book.scope(name, must_exist=is_known or bool(action))
    except InputError:
        actions = get_close_matches(name, (*ANSWERS, "remove"), 1, cutoff=0.8)
        if actions and not action:
            raise InputError(f"did you mean 'brim limit {actions[0]}'?") from None
        raise


# Reading what was typed ---------------------------------------------------------------------------


def _read(options: Namespace) -> LedgerWords:
    words = list(options.words)
    action = ""
    if words and words[0] in (*ANSWERS, "remove"):
        action = words.pop(0)
    limits = join_units(words)
    project = ""
    if limits and not _is_limit(limits[0], action):
        project = limits.pop(0)
    if project and options.everywhere:
        raise InputError("name a project, or give --all, not both")
    if not action and limits and limits[0].lower() in UNLIMITED:
        return LedgerWords("remove", project, ())
    return LedgerWords(action, project, tuple(limits))


def _is_limit(word: str, action: str) -> bool:
    """Whether *word* is meant as a limit, right or wrong, and not as the name of a project."""
    lower = word.lower()
    if lower in (*UNLIMITED, *NOT_FINITE) or lower.startswith(AMOUNT_SIGNS):
        return True
    if action == "remove" and lower in SPANS:
        return True
    return _has_period(lower) and not os.path.isdir(word)


def _has_period(word: str) -> bool:
    amount, _, period = word.rpartition("/")
    return bool(amount) and period in SPANS[:4]


# Changing -----------------------------------------------------------------------------------------


def _set(book: LedgerBook, scope: str, words: LedgerWords, options: Namespace) -> int:
    new_limits = [ledger_limit(text, subagent=options.subagent) for text in words.limits]
    if book.loosens(scope, new_limits, including_past=options.including_past):
        need_person("sets a limit that leaves more than the one there is")
    rows = book.set(scope, new_limits, including_past=options.including_past)
    if not options.including_past:
        _note_earlier_spending(book, scope, rows)
    return _emit_limits(book, scope, rows, "", options)


def _note_earlier_spending(book: LedgerBook, scope: str, rows: Sequence[LimitRow]) -> None:
    """Say what a new limit leaves out."""
    if scope == EVERYWHERE or all(row.is_pattern for row in rows):
        return
    spent = book.ledger.status(scope).spent
    if spent:
        note(
            "it counts from now. --including-past also counts what was spent before"
            f" ({dollars(spent, up=True)} in all)"
        )


def _remove(book: LedgerBook, scope: str, words: LedgerWords, options: Namespace) -> int:
    need_person("decides about a limit that is set")
    removed = book.remove(scope, list(words.limits))
    texts = ", ".join(row.limit for row in removed)
    view = "There is no limit here."
    if removed:
        view = f"Removed from {home_path(display_name(scope))}: {texts}"
    return emit({"removed": [row.to_dict() for row in removed]}, view, options.as_json)


def _answer(book: LedgerBook, scope: str, words: LedgerWords, options: Namespace) -> int:
    if words.action != "stop":
        need_person("decides about a limit that is set")
    new_limits = [ledger_limit(text, subagent=options.subagent) for text in words.limits]
    if words.action == "raise" and len(new_limits) == 1:
        rows = book.answer(scope, "raise", new_limits[0])
    elif words.action != "raise" and not new_limits:
        rows = book.answer(scope, words.action.replace("-", "_"))
    else:
        raise InputError(USAGE)
    return _emit_limits(book, scope, rows, words.action, options)


def _emit_limits(
    book: LedgerBook, scope: str, rows: list[LimitRow], action: str, options: Namespace
) -> int:
    """Print the limits of *scope* as they stand after *action*."""
    now = here().now
    result: dict[str, object] = {"scope": scope, "limits": [row.to_dict() for row in rows]}
    name = home_path(display_name(scope))
    lines = [f"{name}: {row.sentence(now)}" for row in rows]
    if not lines:
        lines = [f"{name}: no limit"]
    if scope == EVERYWHERE:
        return emit(result, "\n".join(lines), options.as_json)
    status = book.ledger.status(scope)
    result |= status.to_dict()
    if action in ("stop", "wrap-up"):
        lines.append(f"{name}: {STATES.get(status.state) or 'open'}")
    if action == "wrap-up":
        prompt = build_wrap_up_prompt(status.spent, status.limit, set_aside=status.left or 0)
        result["prompt"] = prompt
        lines += ["", prompt]
    return emit(result, "\n".join(lines), options.as_json)


# Showing ------------------------------------------------------------------------------------------


def _show(workspace: Workspace, name: str, options: Namespace) -> int:
    if options.subagent or options.including_past:
        raise InputError(USAGE)
    projects: list[ProjectRow] = []
    scopes: list[ScopeStatus] = []
    hidden = 0
    with workspace.open_ledger_book(options.store) as book:
        under = _shown_scope(book, name, options)
        projects = book.projects(under.partition("/")[0])
        if options.as_json or options.sessions or (name and not options.everywhere):
            scopes, hidden = _scopes(book, under, options)
    result: dict[str, object] = {
        "projects": [project.to_dict() for project in projects],
        "scopes": [status.to_dict() for status in scopes],
    }
    hint = ""
    if hidden:
        result["more"] = hidden
        hint = f"{hidden:,} more: --most {len(scopes) + hidden} shows all"
    view = _tables(projects, scopes, workspace.now)
    return emit(result, view, options.as_json, hint, empty="nothing counted and no limit yet")


def _shown_scope(book: LedgerBook, name: str, options: Namespace) -> str:
    if options.everywhere:
        return EVERYWHERE
    if not name:
        return ""
    return _scope(book, name, is_known=True)


def _scopes(book: LedgerBook, under: str, options: Namespace) -> tuple[list[ScopeStatus], int]:
    """Return the scopes that are shown, and how many more there are."""
    limit = MOST_SHOWN
    if options.as_json:
        limit = MOST_WRITTEN
    if under == EVERYWHERE:
        under = ""
    return book.statuses(under, limit=options.most or limit)


def _tables(projects: list[ProjectRow], scopes: list[ScopeStatus], now: float) -> str:
    tables = []
    if projects:
        tables.append(project_table(projects, now))
    sessions = [status for status in scopes if "/" in status.scope]
    if sessions:
        tables.append(scope_table(sessions))
    return "\n\n".join(tables)
