"""``brim rules review``: decide about corrections and agents' notes."""

from __future__ import annotations

from argparse import Namespace

from brim.behaviors.behavior import BehaviorKind, Rule, Status
from brim.behaviors.jsonl import as_object
from brim.behaviors.sentences import heard
from brim.cli.asking import answer, is_person_there, need_person, one_key
from brim.cli.options import add_json, check_belongs, command, here, option
from brim.cli.output import age, block, counted, emit, note, paint, printable
from brim.cli.rule_options import add_scope, complete_rule, scope_of
from brim.cli.rule_views import whole
from brim.errors import InputError
from brim.rules.corrections import rule_in
from brim.store.rulebook import (
    accept_correction,
    decide_notes,
    find_rules,
    named,
)
from brim.store.suggestions import Suggestion, Suggestions
from brim.workspace import Workspace

KINDS = [kind.value for kind in BehaviorKind]


@command(
    option(
        "action",
        nargs="?",
        choices=("list", "accept", "reject"),
        default="list",
        help="default: list",
    ),
    option(
        "ids",
        nargs="*",
        metavar="RULE",
        help="which notes, by id or a part of the name",
        completer=complete_rule,
    ),
    option(
        "--accept",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help="make a rule of correction N",
    ),
    option(
        "--dismiss",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help="take correction N off the list",
    ),
    option(
        "--text",
        default="",
        metavar="TEXT",
        help="for --accept: the rule (default: the correction's own words)",
    ),
    option("--kind", choices=KINDS, help="for accept: what it is (default: what the agent said)"),
    option("--reason", default="", metavar="TEXT", help="for reject: why; kept with it"),
    add_scope,
    add_json,
)
def review(options: Namespace) -> int:
    """Decide about corrections that brim noticed in your prompts, and about what agents noted.

    A correction ("no, use pnpm here") becomes a rule only if you accept it. On a terminal, brim
    asks about each: a accepts it, e lets you change the words first, d dismisses it, any other key
    leaves it for later. Until you accept an agent's note, agents get at most a summary of it, under
    a heading that says so.

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
        raise InputError(
            f"'brim rules review list' takes no rule: 'brim rules why {options.ids[0]}' shows one"
        )
    return _list(options)


def _list(options: Namespace) -> int:
    """Show what waits; a person at a terminal is asked about each correction."""
    workspace = here()
    with workspace.open() as scopes:
        notes = scopes.behaviors(Status.PENDING)
    corrections = Suggestions(workspace.home).every()
    waiting = [item for item in corrections if item.project == (workspace.project or "")]
    if not notes and not waiting and not options.as_json:
        note("no notes or corrections to review")
    asks = bool(waiting) and not options.as_json and is_person_there()
    views = [_note_view(rule, workspace.now) for rule in notes]
    if not asks:
        views += [_correction_view(correction, workspace.now) for correction in waiting]
    result = {
        "pending": [as_object(rule) for rule in notes],
        "corrections": [correction.to_dict() for correction in waiting],
    }
    emit(result, "\n\n".join(views), options.as_json)
    if asks:
        _ask_about(waiting, workspace, options)
    elif waiting and not options.as_json:
        note(
            "'brim rules review --accept N' makes a rule of one,"
            " '--dismiss N' takes it off the list"
        )
    elsewhere = len(corrections) - len(waiting)
    if elsewhere:
        note(f"{counted(elsewhere, 'correction')} of other projects: run it there")
    return 0


def _note_view(rule: Rule, now: float) -> str:
    return f"{rule.id}  {rule.scope}  {age(rule.created_at, now)}\n{whole(rule)}"


def _correction_view(correction: Suggestion, now: float) -> str:
    about = ", ".join(filter(None, (age(correction.time, now), correction.agent)))
    view = f"correction {correction.number}  {about}\n{block(correction.text)}"
    if correction.call:
        view += f"\n  {paint(printable(f'after {correction.call}'), 'faint')}"
    return view


def _ask_about(waiting: list[Suggestion], workspace: Workspace, options: Namespace) -> None:
    """Ask about one correction after the other, until the person wants to stop."""
    for correction in waiting:
        if not _ask(options, workspace, correction):
            return


def _ask(options: Namespace, workspace: Workspace, correction: Suggestion) -> bool:
    """Ask about one correction and do what the person says; return whether to go on."""
    print(_correction_view(correction, workspace.now))
    print(f"  rule: {printable(rule_in(correction.text))}")
    key = "?"
    while key not in ("a", "e", "d", "l", "q", ""):
        key = one_key("accept, edit, dismiss, later or quit? [a/e/d/l/q] ")
    if key == "d":
        Suggestions(workspace.home).take(correction.number)
        print("dismissed\n")
    text = ""
    if key == "a":
        text = rule_in(correction.text)
    elif key == "e":
        text = answer("rule: ")
    if text:
        _accept(options, workspace, correction.number, text)
    return key not in ("q", "")


def _accept(options: Namespace, workspace: Workspace, number: int, text: str) -> Rule:
    """Make a rule of correction *number*, say so unless it's for a script, and return the rule."""
    scope = scope_of(options, workspace)
    if scope == "project":
        workspace.begin_project()
    with workspace.open() as scopes:
        taught = accept_correction(
            scopes, Suggestions(workspace.home), number, text, scope, now=workspace.now
        )
    rule = taught.learned.behavior
    if not options.as_json:
        print(f"Saved as {printable(rule.name)}. Agents hear it {printable(heard(rule))}.\n")
        for conflict in taught.conflicts:
            note(f"it conflicts with {named(conflict.other)}; agents hear only the newer one")
    return rule


def _decide_corrections(options: Namespace) -> int:
    if options.ids or options.action != "list":
        raise InputError(
            "--accept N and --dismiss N are about corrections; 'review accept RULE' is about a note"
        )
    if options.text and len(options.accept) != 1:
        raise InputError("--text belongs to one --accept N")
    need_person("accepts or dismisses corrections")
    workspace = here()
    corrections = Suggestions(workspace.home)
    for number in options.dismiss:
        corrections.find(number)  # raises before anything is accepted
    texts = {}
    for number in options.accept:
        texts[number] = options.text or rule_in(corrections.find(number).text)
    accepted = [_accept(options, workspace, number, text) for number, text in texts.items()]
    dismissed = [corrections.take(number) for number in options.dismiss]
    result = {
        "accepted": [as_object(rule) for rule in accepted],
        "dismissed": [correction.to_dict() for correction in dismissed],
    }
    view = [printable(f"dismissed: {correction.text}") for correction in dismissed]
    return emit(result, "\n".join(view), options.as_json)


def _decide(options: Namespace) -> int:
    if not options.ids:
        raise InputError(
            f"which note? 'brim rules review' lists them: brim rules review {options.action} ID"
        )
    need_person("accepts or rejects notes")
    workspace = here()
    with workspace.open() as scopes, scopes.writing():
        decided = decide_notes(
            scopes,
            find_rules(scopes, options.ids),
            accept=options.action == "accept",
            now=workspace.now,
            kind=options.kind,
            reason=options.reason,
        )
    view = [_decision(rule, options.action) for rule in decided]
    result = {f"{options.action}ed": [as_object(rule) for rule in decided]}
    return emit(result, "\n".join(view), options.as_json)


def _decision(rule: Rule, action: str) -> str:
    if action == "accept":
        return f"accepted, {rule.kind}: {named(rule)}"
    return f"rejected: {named(rule)}"
