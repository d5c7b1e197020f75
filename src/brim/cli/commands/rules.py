"""``brim rules``: list, explain, remove, restore and allow what was learned."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from brim.behaviors.behavior import LIVE, Behavior, BehaviorKind, Edge, Status
from brim.behaviors.jsonl import as_object, edge_object, iso
from brim.behaviors.sentences import heard, refused
from brim.cli import RULES
from brim.cli.options import (
    NOTHING_YET,
    add_json,
    command,
    complete_rule,
    here,
    need_person,
    one_of,
    option,
    rule,
    tell_trust,
)
from brim.cli.output import (
    age,
    block,
    counted,
    cut,
    day,
    emit,
    facts,
    heading,
    home_path,
    kind_of,
    lines,
    note,
    paint,
    printable,
    table,
    title,
    tokens_line,
)
from brim.errors import InputError
from brim.install.agents import NAMES
from brim.install.rule_files import shared_news
from brim.rules.text import summary_of
from brim.store.backup import restore_lost
from brim.store.events import RuleEvent
from brim.store.loaded import readers_of
from brim.store.rulebook import (
    allow_rule,
    find_rule,
    find_rules,
    named,
    remove_rules,
    restore_rules,
)
from brim.store.statistics import RuleOutcome, outcomes, tier_tokens
from brim.workspace import DATABASE, Workspace

SORTS: dict[str, Callable[[Behavior], float]] = {
    "name": lambda _: 0,
    "used": lambda behavior: -behavior.usage.count,
    "new": lambda behavior: -(behavior.created_at or 0),
    "confidence": lambda behavior: -behavior.confidence,
}
"""What each order goes by; then come name and id."""
NUMBERS = ("told", "held", "obeyed", "overridden")
"""What came of a rule, a column each; the last ones make room first."""
SORTED_BY = {"used": "told", "new": "learned"}
"""The column that an order goes by."""
LONGEST = 300
"""Characters of a text in a list where nothing else limits a line."""
SHORT = 30
"""Characters of what a rule refuses in a list."""
MOST_EVENTS = 10
STATUSES = ("live", *(status.value for status in Status), "all")
KINDS = [kind.value for kind in BehaviorKind]


@command(
    option("patterns", nargs="*", metavar="PATTERN", help="what to look for"),
    option("--kind", choices=KINDS, help="only of this kind"),
    option(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="only with this tag; may be repeated",
    ),
    option(
        "--status",
        choices=STATUSES,
        default="live",
        help="live is active and pending (default: live)",
    ),
    option("--scope", choices=("project", "user"), help="only from there (default: both)"),
    option("--sort", choices=list(SORTS), default="name", help="what comes first (default: name)"),
    add_json,
)
def listing(options: Namespace) -> int:
    """List the rules in force: this project's, and your own.

    For each rule, the columns show how often agents heard it (told), how many calls brim refused
    because of it (held), how many of those the agent gave up (obeyed), and how often it was ignored
    on purpose (overridden).

    A PATTERN is a part of an id, a name, a tag or the text, or a name with * and ?. A rule must
    match all patterns. Exits with 1 if none does. On a terminal, long lines are cut.

      list [PATTERN]       the rules, one line each (the default)
      why [RULE]           what an agent would be told here, and why; or everything about one rule
      edit RULE            change it in your editor
      remove RULE ...      remove rules; nothing is deleted
      restore [RULE ...]   bring them back
      review               decide about corrections that brim noticed, and rules that agents noted
      trust                let agents use this project's rules and settings
      allow RULE --once    let a call through that the rule refuses
      import [FILE]        read rules from CLAUDE.md and the like, or from a .floop folder
      audit                look for contradictions, duplicates and damage

    Examples:
      brim rules
      brim rules pytest --kind constraint
      brim rules list --status forgotten --sort new
    """
    workspace = here()
    with workspace.open() as scopes:
        every = scopes.behaviors()
        came = outcomes(scopes, every)
        news = "" if options.as_json else shared_news(workspace, scopes)
    found = [each for each in every if _is_wanted(each, options)]
    found.sort(key=lambda each: (SORTS[options.sort](each), each.name.casefold(), each.id))
    result = {
        "behaviors": [{**as_object(each), "outcome": came[each.id].to_dict()} for each in found]
    }
    emit(
        result,
        _list_view(found, came, workspace.now, options.sort) if found else "",
        options.as_json,
    )
    narrowed = bool(
        options.patterns or options.kind or options.tag or options.scope or options.status != "live"
    )
    if not options.as_json and not found:
        how_many = counted(len(every), "rule")
        why = (
            f"nothing matches; {how_many} in all"
            if narrowed
            else f"nothing is live; {how_many} removed or replaced"
        )
        if every or not news:
            note(f"{why}: brim rules list --status all" if every else NOTHING_YET)
        for action in get_close_matches(options.patterns[0], RULES, 1) if options.patterns else ():
            note(f"did you mean 'brim rules {action}'?")
    if news:
        note(f"{news}: brim rules import")
    return 1 if narrowed and not found else 0


def _is_wanted(behavior: Behavior, options: Namespace) -> bool:
    names = [text.casefold() for text in (behavior.id, behavior.name, *behavior.tags)]
    texts = [*names, behavior.summary.casefold(), behavior.canonical.casefold()]

    def matches(pattern: str) -> bool:
        is_glob = any(character in pattern for character in "*?[")
        return (
            any(fnmatchcase(each, pattern) for each in names)
            if is_glob
            else any(pattern in each for each in texts)
        )

    statuses = {"all": tuple(Status), "live": LIVE}.get(options.status, (options.status,))
    return (
        behavior.status in statuses
        and options.kind in (None, behavior.kind.value)
        and options.scope in (None, behavior.scope)
        and {tag.casefold() for tag in behavior.tags}.issuperset(
            tag.casefold() for tag in options.tag
        )
        and all(matches(pattern.casefold()) for pattern in options.patterns)
    )


def _list_view(found: list[Behavior], came: dict[str, RuleOutcome], now: float, sort: str) -> str:
    """Return one line each. Where the terminal is narrow, numbers and age make room, unless it is
    sorted by them."""
    columns: dict[str, Callable[[Behavior], str]] = {"kind": kind_of}
    if any(each.status is not Status.ACTIVE for each in found):
        columns["status"] = lambda each: each.status.value
    if len({each.scope for each in found}) > 1:
        columns["scope"] = lambda each: each.scope
    for name in NUMBERS:
        columns[name] = lambda each, name=name: f"{getattr(came[each.id], name):,}"  # type: ignore[misc]
    columns["learned"] = lambda each: age(each.created_at, now)
    if any(each.blocks for each in found):
        columns["refuses"] = lambda each: cut(refused(each), SHORT)
    columns["text"] = lambda each: cut(summary_of(each), LONGEST)
    rows = [list(columns), *([show(each) for show in columns.values()] for each in found)]
    places = {name: at for at, name in enumerate(columns)}
    spare = [places[name] for name in ("learned", *NUMBERS[::-1]) if SORTED_BY.get(sort) != name]
    spare += [places[name] for name in ("refuses", "scope") if name in places]
    return heading(table(rows, right=[places[name] for name in NUMBERS], optional=spare))


def whole_rule(workspace: Workspace, id: str) -> tuple[dict[str, Any], str]:
    """Return everything about one rule, for JSON and for people; times are in UTC."""
    with workspace.open() as scopes:
        behavior = find_rule(scopes, id)
        edges = [edge for edge in scopes.all_edges() if behavior.id in (edge.source, edge.target)]
        ends = scopes.get_many({end for edge in edges for end in (edge.source, edge.target)})
        store = scopes.store(behavior.scope)
        events, path = store.events(behavior=behavior.id, limit=MOST_EVENTS), store.path
        tokens = tier_tokens(scopes, behavior, workspace.config)
        came = outcomes(scopes, [behavior])[behavior.id]
        readers = readers_of(scopes, behavior.id)
    found = {
        **as_object(behavior),
        "outcome": came.to_dict(),
        "tokens": tokens,
        "edges": [edge_object(edge) for edge in edges],
        "events": [
            {**each.to_dict(), "time": iso(each.time), "detail": dict(each.detail)}
            for each in events
        ],
        "file": path,
        "read_by": [{"agent": agent, "file": file} for agent, file in readers],
    }

    about = [
        *_about(behavior, came),
        ("tokens", tokens_line(tokens)),
        ("stored in", home_path(path)),
        ("read by", ", ".join(home_path(f"{NAMES[agent]} in {file}") for agent, file in readers)),
    ]
    wordings = [
        (f"other wording {number}", block(text)) for number, text in enumerate(behavior.variants, 1)
    ]
    sections = [
        *wordings,
        ("connected", _edges(behavior, edges, ends)),
        ("what happened", _events(events)),
    ]
    parts = [f"\n{paint(name, 'faint')}\n{text}" for name, text in sections if text]
    return found, "\n".join(
        [title(behavior), "", block(behavior.canonical), "", facts(about), *parts]
    )


def _about(behavior: Behavior, outcome: RuleOutcome) -> list[tuple[str, str]]:
    usage, came = behavior.usage, behavior.provenance
    used = f"{counted(outcome.told, 'time')}, confirmed {usage.confirmed:,}, overridden {outcome.overridden:,}"
    held = f"{counted(outcome.held, 'call')}, obeyed {outcome.obeyed:,}" if outcome.held else ""
    about = (("file", came.file), ("task", came.task), ("session", came.session))
    origin = ", ".join([came.source, *(f"{name} {value}" for name, value in about if value)])
    return [
        ("summary", behavior.summary),
        ("tags", ", ".join(behavior.tags)),
        ("when", str(behavior.when) if behavior.when else heard(behavior).removeprefix("when ")),
        ("refuses", refused(behavior)),
        ("priority", f"{behavior.priority:,}" if behavior.priority else ""),
        ("confidence", f"{behavior.confidence:.2f}"),
        ("told", used + (f", last {day(usage.last_used)}" if usage.last_used is not None else "")),
        ("held", held),
        ("learned", f"{day(behavior.created_at)} from {origin}".strip()),
        ("changed", day(behavior.updated_at) if behavior.updated_at != behavior.created_at else ""),
        ("instead of", came.wrong),
        ("note", came.note),
        ("supersedes", ", ".join(behavior.supersedes)),
        ("superseded by", behavior.superseded_by or ""),
        ("not mapped", behavior.extra),
    ]


def _edges(behavior: Behavior, edges: list[Edge], ends: dict[str, Behavior]) -> str:
    rows = []
    for edge in edges:
        outward = edge.source == behavior.id
        other = edge.target if outward else edge.source
        known = ends.get(other)
        name = (
            "(not there)"
            if known is None
            else known.name
            if known.live
            else f"{known.name} ({known.status})"
        )
        rows.append(
            [
                "  " + ("" if outward else "is target of: ") + edge.kind.value,
                other,
                name,
                f"{edge.weight:g}",
            ]
        )
    return table(sorted(rows)) if rows else ""


def _events(events: list[RuleEvent]) -> str:
    def text(value: object) -> str:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

    rows = []
    for event in reversed(events):
        parts = [
            f"{key}: {text(value)}"
            for key, value in event.detail.items()
            if value not in ("", None, [])
        ]
        parts += [f"session {event.session}"] if event.session else []
        rows.append([f"  {day(event.time)}", event.kind, printable("; ".join(parts))[:200]])
    return table(rows) if rows else ""


# Away and back ------------------------------------------------------------------------------------


@command(
    rule("ids", several=True),
    option("--reason", default="", metavar="TEXT", help="why; kept with it"),
    add_json,
)
def remove(options: Namespace) -> int:
    """Remove rules, so that agents no longer hear them.

    Nothing is deleted; 'brim rules restore' brings them back as they were. If you name several and
    one isn't found, none is removed.

    Examples:
      brim rules remove pathlib --reason 'ruff checks it now'
      brim rules remove b-3f2a b-91cc
    """
    need_person("removes rules")
    workspace = here()
    with workspace.open() as scopes, scopes.writing():
        found_rules = find_rules(scopes, options.ids)
        forgotten, already = remove_rules(
            scopes, found_rules, now=workspace.now, reason=options.reason
        )
    view = lines(
        *(
            f"removed: {named(each)}; 'brim rules restore {each.id}' brings it back"
            for each in forgotten
        ),
        *(f"{named(each)} was removed already" for each in already),
    )
    found = {
        "forgotten": [as_object(each) for each in forgotten],
        "unchanged": [each.id for each in already],
    }
    return emit(found, view, options.as_json)


@command(rule("ids", several=True, optional=True), add_json)
def restore(options: Namespace) -> int:
    """Bring removed rules back, each as it was.

    An active rule is active again; an agent's note waits for 'brim rules review' again. If you name
    several and one isn't found, none comes back.

    Without RULE, brim brings back the rules that this project's store has lost, as after a pull,
    from the copy that it keeps in your own folder. A store that is damaged is replaced, and kept
    next to the new one.

    Examples:
      brim rules restore pathlib
      brim rules restore b-3f2a b-91cc
      brim rules restore
    """
    workspace = here()
    if not options.ids:
        return _restore_lost(options, workspace)
    with workspace.open() as scopes, scopes.writing():
        back, already = restore_rules(scopes, find_rules(scopes, options.ids), now=workspace.now)
    view = lines(
        *(f"back: {named(each)}, {each.status}" for each in back),
        *(f"{named(each)} is not removed: it is {each.status}" for each in already),
    )
    found = {
        "unforgotten": [as_object(each) for each in back],
        "unchanged": [each.id for each in already],
    }
    replaced = [
        each.superseded_by
        for each in back
        if each.status is Status.SUPERSEDED and not options.as_json
    ]
    notes = [f"{other} has taken its place, so agents are still not told it" for other in replaced]
    return emit(found, view, options.as_json, *notes)


def _restore_lost(options: Namespace, workspace: Workspace) -> int:
    need_person("brings back rules from a copy")
    if workspace.project is None:
        raise InputError("not in a project: name the rules to bring back: brim rules restore RULE")
    workspace.begin_project()
    store_path = os.path.join(workspace.scope_folders["project"], DATABASE)
    restored = restore_lost(store_path, workspace.home, workspace.open, now=workspace.now)
    kept = f"; what was there is kept in {home_path(restored.kept)}" if restored.kept else ""
    view = f"back: {counted(restored.rules, 'rule')} from {home_path(restored.copy)}{kept}"
    emit(
        restored,
        view if restored.rules else "",
        options.as_json,
        empty="this project's store has lost no rule",
    )
    if restored.rules:
        tell_trust(workspace)
    return 0


@command(
    option(
        "id",
        metavar="RULE",
        help="the rule that refused the call, or 'brim' if brim protected itself",
        completer=complete_rule,
    ),
    one_of(
        option("--once", action="store_true", help="the next such call, within an hour"),
        option(
            "--session",
            nargs="?",
            const="",
            metavar="ID",
            help="a session (default: the one that was refused)",
        ),
    ),
    add_json,
)
def allow(options: Namespace) -> int:
    """Let an agent do what a rule refuses, once or for a session.

    brim shows you this command when it refuses a call. An agent can't run it.

    Examples:
      brim rules allow use-pnpm --once
      brim rules allow use-pnpm --session
    """
    if not options.once and options.session is None:
        raise InputError(f"for how long? brim rules allow {options.id} --once, or --session")
    need_person("allows what a rule refuses")
    workspace = here()
    with workspace.open() as scopes, scopes.writing("user"):
        done = allow_rule(scopes, options.id, session=options.session, now=workspace.now)
    until = "the next such call, within an hour" if options.once else f"in session {done.session}"
    return emit(done, printable(f"allowed by {done.name}: {until}"), options.as_json)
