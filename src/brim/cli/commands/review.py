"""``brim rules review``, ``merge`` and ``dedupe``: decide about corrections, agents' notes and duplicate rules."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from brim.behaviors.behavior import Behavior, BehaviorKind, Status
from brim.behaviors.corrections import rule_in
from brim.behaviors.duplicates import Merged, Pair, merge_order
from brim.behaviors.duplicates import merge as merged_of
from brim.behaviors.jsonl import as_object
from brim.behaviors.sentences import heard
from brim.cli.options import (
    add_json,
    add_scope,
    add_yes,
    answer,
    check_belongs,
    command,
    complete_rule,
    here,
    is_person_there,
    need_person,
    one_key,
    option,
    rule,
    says_yes,
    scope_of,
)
from brim.cli.output import age, block, counted, emit, lines, note, paint, printable, title, whole
from brim.errors import InputError
from brim.store.imports import store_merged
from brim.store.rulebook import (
    accept_correction,
    decide_notes,
    duplicate_pairs,
    find_rule,
    find_rules,
    merge_pairs,
    named,
)
from brim.store.suggestions import Suggestion, Suggestions
from brim.workspace import Workspace

KINDS = [kind.value for kind in BehaviorKind]


@command(
    option("action", nargs="?", choices=("list", "accept", "reject"), default="list", help="default: list"),
    option("ids", nargs="*", metavar="RULE", help="which notes, by id or a part of the name", completer=complete_rule),
    option("--accept", type=int, action="append", default=[], metavar="N", help="make a rule of correction N"),
    option("--dismiss", type=int, action="append", default=[], metavar="N", help="take correction N off the list"),
    option("--text", default="", metavar="TEXT", help="for --accept: the rule (default: the correction's own words)"),
    option("--kind", choices=KINDS, help="for accept: what it is (default: what the agent said)"),
    option("--reason", default="", metavar="TEXT", help="for reject: why; kept with it"),
    add_scope,
    add_json,
)
def review(options: Namespace) -> int:
    """Decide about corrections that brim noticed in your prompts, and about what agents noted.

    A correction ("no, use pnpm here") becomes a rule only if you accept it. On a terminal, brim asks about each: a
    accepts it, e lets you change the words first, d dismisses it, any other key leaves it for later. Until you accept
    an agent's note, agents get at most a summary of it, under a heading that says so.

      list             the corrections and notes that wait (default)
      accept RULE ...  make these notes rules, as if you had taught them; --kind says which kind
      reject RULE ...  remove these notes; 'brim rules restore' brings them back

    Examples:
      brim rules review
      brim rules review --accept 3 --text "Use pnpm, not npm"
      brim rules review --dismiss 4
      brim rules review accept b-3f2a --kind constraint
    """
    check_belongs(options, {"kind": ("accept",), "reason": ("reject",)}, "brim rules review")
    if options.accept or options.dismiss:
        return _decide_corrections(options)
    if options.text:
        raise InputError("--text belongs to --accept N")
    if options.action != "list":
        return _decide(options)
    if options.ids:
        raise InputError(f"'brim rules review list' takes no rule: 'brim rules show {options.ids[0]}' shows one")
    workspace = here()
    with workspace.open() as scopes:
        notes = scopes.behaviors(Status.PENDING)
    every = Suggestions(workspace.home).every()
    waiting = [each for each in every if each.project == (workspace.project or "")]
    if not notes and not waiting and not options.as_json:
        note("no notes or corrections to review")
    noted = [f"{each.id}  {each.scope}  {age(each.created_at, workspace.now)}\n{whole(each)}" for each in notes]
    asks = bool(waiting) and not options.as_json and is_person_there()
    shown = [] if asks else [_correction_view(each, workspace.now) for each in waiting]
    found = {"pending": [as_object(each) for each in notes], "corrections": [each.to_dict() for each in waiting]}
    emit(found, "\n\n".join([*noted, *shown]), options.as_json)
    if waiting and not asks and not options.as_json:
        note("'brim rules review --accept N' makes a rule of one, '--dismiss N' takes it off the list")
    for each in waiting if asks else ():
        if not _ask(options, workspace, each):
            break
    if others := len(every) - len(waiting):
        note(f"{counted(others, 'correction')} of other projects: run it there")
    return 0


def _correction_view(correction: Suggestion, now: float) -> str:
    about = ", ".join(filter(None, (age(correction.time, now), correction.agent)))
    did = f"\n  {paint(printable(f'after {correction.call}'), 'faint')}" if correction.call else ""
    return f"correction {correction.number}  {about}\n{block(correction.text)}{did}"


def _ask(options: Namespace, workspace: Workspace, correction: Suggestion) -> bool:
    """Ask about one correction and do what the person says; return whether to go on."""
    print(f"{_correction_view(correction, workspace.now)}\n  rule: {printable(rule_in(correction.text))}")
    key = "?"
    while key not in ("a", "e", "d", "l", "q", ""):
        key = one_key("accept, edit, dismiss, later or quit? [a/e/d/l/q] ")
    if key == "d":
        Suggestions(workspace.home).take(correction.number)
        print("dismissed\n")
    elif key in ("a", "e"):
        text = answer("rule: ") if key == "e" else rule_in(correction.text)
        if text:
            _accept(options, workspace, correction.number, text)
    return key not in ("q", "")


def _accept(options: Namespace, workspace: Workspace, number: int, text: str) -> Behavior:
    """Make a rule of correction *number*, say so unless it's for a script, and return the rule."""
    scope = scope_of(options, workspace)
    if scope == "project":
        workspace.begin_project()
    with workspace.open() as scopes:
        taught = accept_correction(scopes, Suggestions(workspace.home), number, text, scope, now=workspace.now)
    rule = taught.learned.behavior
    if not options.as_json:
        print(f"Saved as {printable(rule.name)}. Agents hear it {printable(heard(rule))}.\n")
        note(*(f"it conflicts with {named(each.other)}; agents hear only the newer one" for each in taught.conflicts))
    return rule


def _decide_corrections(options: Namespace) -> int:
    if options.ids or options.action != "list":
        raise InputError("--accept N and --dismiss N are about corrections; 'review accept RULE' is about a note")
    if options.text and len(options.accept) != 1:
        raise InputError("--text belongs to one --accept N")
    need_person("accepts or dismisses corrections")
    workspace = here()
    corrections = Suggestions(workspace.home)
    found = {number: corrections.find(number) for number in (*options.accept, *options.dismiss)}
    texts = {number: options.text or rule_in(found[number].text) for number in options.accept}
    accepted = [as_object(_accept(options, workspace, number, text)) for number, text in texts.items()]
    dismissed = [corrections.take(number) for number in options.dismiss]
    view = lines(*(printable(f"dismissed: {each.text}") for each in dismissed))
    return emit({"accepted": accepted, "dismissed": [each.to_dict() for each in dismissed]}, view, options.as_json)


def _decide(options: Namespace) -> int:
    if not options.ids:
        raise InputError(f"which note? 'brim rules review' lists them: brim rules review {options.action} ID")
    need_person("accepts or rejects notes")
    workspace = here()
    accepts = options.action == "accept"
    with workspace.open() as scopes, scopes.writing():
        rules, why = find_rules(scopes, options.ids), {"kind": options.kind, "reason": options.reason}
        decided = decide_notes(scopes, rules, accept=accepts, now=workspace.now, **why)
    view = lines(*(f"{f'accepted, {each.kind}' if accepts else 'rejected'}: {named(each)}" for each in decided))
    return emit({f"{options.action}ed": [as_object(each) for each in decided]}, view, options.as_json)


# Duplicates -----------------------------------------------------------------------------------------------------

MOST_SHOWN = 50


@command(
    rule("one", metavar="A"),
    rule("other", metavar="B"),
    option("--into", metavar="A|B", help="the one that stays", completer=complete_rule),
    add_yes,
    add_json,
)
def merge(options: Namespace) -> int:
    """Make one rule of two that say the same.

    --into names the one that stays. Without it, brim keeps your own rule rather than the project's, then the one with
    the higher priority, then the higher confidence, then the older one. It takes over the other's wording, tags, uses
    and connections, and applies wherever either did. The other is kept as superseded. brim shows what it would do and
    asks; it exits with 1 if you say no.

    Examples:
      brim rules merge use-uv prefer-uv --dry-run
      brim rules merge b-3f2a b-91cc --into b-91cc --yes
    """
    if not options.dry_run:
        need_person("merges rules")
    workspace = here()
    with workspace.open() as scopes:
        one, other = find_rule(scopes, options.one), find_rule(scopes, options.other)
        into = None if options.into is None else find_rule(scopes, options.into)
        if into is not None and into.id not in (one.id, other.id):
            raise InputError(f"--into names one of the two, not {named(into)}")
        kept, gone = merge_order(one, other, into)
        merged = merged_of(kept, gone, workspace.now)
        if not options.as_json:
            print(_pair_view(kept, gone))
        wanted = not options.dry_run
        agreed = wanted and says_yes(f"Merge {named(gone)} into {named(kept)}?", yes=options.yes)
        if agreed:
            with scopes.writing():
                merged = store_merged(scopes, kept, gone, workspace.now)
    refused = wanted and not agreed
    view = "" if refused else f"\n{_merged_view(merged, 'merged' if agreed else 'would merge')}"
    return emit({"merged": agreed, **_merged_dict(merged)}, view, options.as_json, code=int(refused))


@command(
    add_yes,
    add_json,
)
def dedupe(options: Namespace) -> int:
    """Find rules that say the same, and merge each pair.

    Both texts are kept, as with 'brim rules merge'. brim merges rules that use the same words in another form,
    apart from fillers. Project rules are compared with project rules,
    and your own with your own. It exits with 1 if you say no.

    Examples:
      brim rules dedupe --dry-run
      brim rules dedupe --yes
    """
    if not options.dry_run:
        need_person("merges rules")
    workspace = here()
    merged: list[Merged] = []
    with workspace.open() as scopes:
        pairs = duplicate_pairs(scopes)
        if not pairs and not options.as_json:
            note("no two rules say the same")
        for number, pair in enumerate(pairs[:MOST_SHOWN] if not options.as_json else (), 1):
            about = paint(f"pair {number} of {len(pairs):,}", "faint")
            print(f"{about}\n{_pair_view(pair.one, pair.other)}\n")
        if len(pairs) > MOST_SHOWN and not options.as_json:
            print(f"and {len(pairs) - MOST_SHOWN:,} more: --json lists all")
        wanted = bool(pairs) and not options.dry_run
        agreed = wanted and says_yes(f"Merge {counted(len(pairs), 'pair')}?", yes=options.yes)
        if agreed:
            with scopes.writing():
                merged = merge_pairs(scopes, pairs, now=workspace.now)
    found = {"pairs": [_pair_dict(pair) for pair in pairs], "merged": [_merged_dict(each) for each in merged]}
    view = lines(*(_merged_view(each, "merged") for each in merged))
    return emit(found, view, options.as_json, code=1 if wanted and not agreed else 0)


def _pair_dict(pair: Pair) -> dict[str, Any]:
    return {"kept": as_object(pair.one), "other": as_object(pair.other)}


def _pair_view(kept: Behavior, gone: Behavior) -> str:
    """Return two rules that may become one, the one that stays first."""
    both = ((kept, "stays"), (gone, "is merged into it"))
    return lines(*(f"{title(each)}  {becomes}\n{block(each.canonical)}" for each, becomes in both))


def _merged_view(merged: Merged, done: str) -> str:
    text = f"{done}: {named(merged.superseded)} into {named(merged.kept)}"
    return lines(printable(text), *(printable(f"  {change}") for change in merged.changes))


def _merged_dict(merged: Merged) -> dict[str, Any]:
    kept, superseded = as_object(merged.kept), as_object(merged.superseded)
    return {"kept": kept, "superseded": superseded, "changes": list(merged.changes)}
