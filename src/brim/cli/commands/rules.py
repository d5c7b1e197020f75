"""``brim rules``: list, remove, restore and allow."""

from __future__ import annotations

import time
from argparse import Namespace
from difflib import get_close_matches

from brim.cli import RULES
from brim.cli.asking import need_person
from brim.cli.options import add_json, command, here, one_of, option
from brim.cli.output import counted, cut, emit, home_path, note, printable
from brim.cli.rule_options import (
    NO_RULES,
    add_place,
    complete_rule,
    rule_argument,
    rules_of,
    scope_option,
    tell_trust,
)
from brim.cli.rule_views import counts_words, entry_object, state_of
from brim.cli.tables import heading, table
from brim.install.native_files import NativeReaders
from brim.rules.history import RuleHistory, allow_rule
from brim.rules.outlook import DeliveryLimits, outlook
from brim.rules.rulebook import RuleEntry
from brim.rules.source import PROJECT, USER

LONGEST = 300
"""Characters of a text in a list where nothing else limits a line."""


@command(
    option("patterns", nargs="*", metavar="PATTERN", help="what to look for"),
    add_place,
    add_json,
)
def listing(options: Namespace) -> int:
    """List every rule of every place: yours, this project's, and those that your agent reads.

    A PATTERN is a part of a name, a tag or the text. A rule must match all patterns. Exits with 1
    if none does. The second column says what brim does about a rule:

      told                agents are told it, at the start or when it matters
      told by your agent  it's in CLAUDE.md or the like: your agent reads that itself
      stopped             a call that breaks it is stopped once, with the rule as the reason
      refused             calls that break it are refused every time
      before done         its command is asked for, once, before a turn is over
      proposed            brim can check it, if you agree: see 'brim rules review'
      not checked         no call shows whether it's kept
      waiting             new or changed in this project: see 'brim rules trust'

      why [RULE]           what an agent would be told here, and why; or one rule whole
      edit RULE            change it, in your editor or with options
      remove RULE ...      take rules out of their file; 'restore' brings them back
      restore [RULE ...]   bring them back
      review               decide about proposed checks, corrections, and rules that agents noted
      trust                let agents use this project's rules and settings
      allow RULE           let a call through that the rule stops or refuses
      import [FILE]        move rules from CLAUDE.md and the like, or from a .floop folder
      audit [FILE]         which rules were kept and broken in past sessions

    Examples:
      brim rules
      brim rules list pytest --project
    """
    workspace = here()
    book = workspace.rulebook
    entries = book.entries()
    matches = []
    for entry in entries:
        if options.scope in (None, entry.place) and _matches(entry, options.patterns):
            matches.append(entry)
    index = book.open_index()
    forecast = outlook(index, DeliveryLimits.of(workspace.config))
    readers = NativeReaders(workspace)
    history = RuleHistory(book, now=workspace.now)
    rules = []
    for entry in matches:
        counts = history.counts(entry).to_dict()
        rules.append({**entry_object(entry, forecast, readers), "counts": counts})
    result = {"rules": rules, "news": index.news}
    view = ""
    if matches:
        view = _table(matches, readers, history)
    emit(result, view, options.as_json)
    note(*index.news)
    if not index.news:
        tell_trust(workspace)
    proposed = sum([entry.is_proposed for entry in matches])
    if proposed and not options.as_json:
        note(f"{counted(proposed, 'rule')} can be checked if you agree: brim rules review")
    if not matches and not options.as_json:
        _tell_nothing(len(entries), options.patterns)
    is_narrowed = bool(options.patterns or options.scope)
    return int(is_narrowed and not matches)


def _matches(entry: RuleEntry, patterns: list[str]) -> bool:
    words = " ".join([entry.name, *entry.rule.tags, entry.rule.text]).casefold()
    return all(pattern.casefold() in words for pattern in patterns)


def _table(entries: list[RuleEntry], readers: NativeReaders, history: RuleHistory) -> str:
    """Return a line for each of *entries*; where the terminal is narrow, the place makes room."""
    rows = [["name", "", "place", "so far", "text"]]
    for entry in entries:
        name = printable(entry.name)
        state = state_of(entry, readers)
        so_far = counts_words(history.counts(entry))
        rows.append([name, state, entry.place, so_far, cut(entry.rule.text, LONGEST)])
    if not any(row[3] for row in rows[1:]):
        rows = [[*row[:3], row[4]] for row in rows]
    return heading(table(rows, optional=[2]))


def _tell_nothing(count: int, patterns: list[str]) -> None:
    """Say why no rule is listed, and what may help."""
    if count:
        note(f"nothing matches; {counted(count, 'rule')} in all")
    else:
        note(NO_RULES)
    if patterns:
        for action in get_close_matches(patterns[0], RULES, 1):
            note(f"did you mean 'brim rules {action}'?")


# Away and back ------------------------------------------------------------------------------------


@command(rule_argument("ids", several=True), add_place, add_json)
def remove(options: Namespace) -> int:
    """Take rules out of their file, so that agents aren't told them any more.

    ~/.brim/removed.toml keeps them; 'brim rules restore' brings them back. If you name several and
    one isn't found, none is removed.

    Examples:
      brim rules remove use-pnpm
      brim rules remove use-pnpm fmt --user
    """
    need_person("removes rules")
    workspace = here()
    book = workspace.rulebook
    entries = rules_of(options, book, options.ids)
    for entry in entries:
        book.remove(entry, day=time.strftime("%Y-%m-%d"))
    book.open_index().close()
    view = []
    for entry in entries:
        name = printable(entry.name)
        view.append(f"Removed {name}; 'brim rules restore {name}' brings it back")
    result = {"removed": [entry.name for entry in entries]}
    return emit(result, "\n".join(view), options.as_json)


@command(
    option("ids", nargs="*", metavar="RULE", help="the name of a removed rule"),
    one_of(
        option("--project", **scope_option(PROJECT), help="into this project's rules"),
        option("--user", **scope_option(USER), help="into your own rules"),
    ),
    add_json,
)
def restore(options: Namespace) -> int:
    """Bring removed rules back, each as it was and where it was.

    Without RULE, brim lists the removed rules. If a rules file is gone, it's written again from
    the copy that brim keeps.

    Examples:
      brim rules restore
      brim rules restore use-pnpm --user
    """
    workspace = here()
    book = workspace.rulebook
    if not options.ids:
        return _restore_files(options)
    need_person("restores rules")
    restored = [book.restore(name, options.scope or "") for name in options.ids]
    book.open_index().close()
    view = [f"Restored {printable(entry.name)} in {home_path(entry.path)}" for entry in restored]
    result = {"restored": [entry.name for entry in restored]}
    return emit(result, "\n".join(view), options.as_json)


def _restore_files(options: Namespace) -> int:
    book = here().rulebook
    written: dict[str, int] = {}
    for place, file in book.files:
        number = book.restore_file(place)
        if number:
            written[file.path] = number
    removed = book.removed.read().split.names
    view = []
    for path, number in written.items():
        view.append(f"Restored {counted(number, 'rule')} in {home_path(path)}")
    view += [printable(name) for name in removed]
    return emit(
        {"written": written, "removed": removed},
        "\n".join(view),
        options.as_json,
        empty="no rule was removed",
    )


@command(
    option(
        "id",
        metavar="RULE",
        help="the rule that stopped or refused the call, or 'brim' if brim protected itself",
        completer=complete_rule,
    ),
    one_of(
        option("--once", action="store_true", help="the next such call, within an hour (default)"),
        option(
            "--session",
            nargs="?",
            const="",
            metavar="ID",
            help="a session (default: the one that was stopped last)",
        ),
    ),
    add_json,
)
def allow(options: Namespace) -> int:
    """Let an agent do what a rule stops or refuses, once or for a session.

    brim shows you this command when it stops or refuses a call. Without an option, the next such
    call passes. An agent can't run it.

    Examples:
      brim rules allow use-pnpm
      brim rules allow use-pnpm --session
    """
    need_person("allows what a rule refuses")
    permission = allow_rule(here().rulebook, options.id, options.session, now=here().now)
    until = "the next such call, within an hour"
    if permission.session:
        until = f"in session {permission.session}"
    view = printable(f"allowed by {permission.name}: {until}")
    return emit(permission, view, options.as_json)
