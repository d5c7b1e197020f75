"""``brim learn`` and ``rules edit``: teach a rule, and change it."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from brim.behaviors.behavior import BehaviorKind, Rule
from brim.behaviors.jsonl import as_object
from brim.behaviors.learning import Proposal, propose
from brim.behaviors.sentences import heard, refused
from brim.behaviors.yaml_form import FIELDS, as_yaml
from brim.cli.asking import agrees, is_person_there, need_person, says_yes
from brim.cli.editor import edited_rule, kept_work, new_file, remove_file
from brim.cli.options import add_json, command, here, option, text_of, values_by_key
from brim.cli.output import counted, cut, emit, lines, note, printable
from brim.cli.rule_options import add_scope, rule_argument, scope_of, tell_trust
from brim.cli.rule_views import tokens_line
from brim.errors import BrimError, InputError
from brim.masking import masked
from brim.rules.blocks import EDIT, RUN, TOOL, asked_for, checked_blocks, too_much
from brim.rules.blocks import described as in_words
from brim.store.rulebook import (
    Taught,
    conflicts_of,
    edit_rule,
    find_rule,
    find_rules,
    named,
    same_elsewhere,
    teach,
)
from brim.store.scopes import Scopes
from brim.store.statistics import tier_tokens
from brim.workspace import Workspace

LONGEST = 300
"""Characters of a summary that are printed: a rule without a place to cut is its own summary."""

SURE = option(
    "--yes", "-y", action="store_true", help="don't ask if a block refuses nearly everything"
)

MOST_ASKED = 3
"""Contradicted rules that a person is asked about, or told about."""


@command(
    option("text", metavar="TEXT", help="the rule; - reads it from standard input"),
    option(
        "--wrong",
        default="",
        metavar="TEXT",
        help="what was done instead; - reads it from standard input",
    ),
    option(
        "--file",
        default="",
        metavar="FILE",
        help="file that it's about; its language becomes a condition",
    ),
    option(
        "--task",
        default="",
        metavar="TASK",
        help="task that it's about, such as testing; becomes a condition",
    ),
    option("--tags", default="", metavar="A,B", help="what it is about (default: inferred)"),
    option("--kind", metavar="KIND", help=f"one of {', '.join(BehaviorKind)} (default: inferred)"),
    option(
        "--name",
        metavar="NAME",
        help="short name: letters, digits and . _ / - (default: from the text)",
    ),
    option(
        "--when",
        action="append",
        metavar="KEY=VALUE",
        help="apply only then (default: inferred); may be repeated",
    ),
    option(
        "--block",
        action="append",
        default=[],
        metavar="COMMAND",
        help='also refuse this, as in "npm install"',
    ),
    option(
        "--block-edit",
        action="append",
        default=[],
        metavar="GLOB",
        help='also refuse edits, as in "dist/**"',
    ),
    option(
        "--block-tool",
        action="append",
        default=[],
        metavar="NAME",
        help="also refuse this tool of an agent",
    ),
    SURE,
    option(
        "--summary",
        default="",
        metavar="TEXT",
        help="one line that keeps the meaning (default: from the text)",
    ),
    option(
        "--replaces",
        action="append",
        default=[],
        metavar="RULE",
        help="remove this rule; may be repeated",
    ),
    add_scope,
    add_json,
)
def learn(options: Namespace) -> int:
    """Teach your agents a rule, for this project or, with --user, for all of them.

    brim infers kind, name, tags and conditions from the text, unless you give them. If the rule
    contradicts a known one, brim asks whether to replace that. Without a terminal it keeps both,
    and agents hear the newer one; --replaces RULE removes the other. brim masks secrets.

    With --block, brim refuses every matching command of an agent, and quotes the rule. Only you can
    allow it, with 'brim rules allow'. Give --block once for each form, such as "npm install" and
    "npm i". See docs/blocks.md.

    Examples:
      brim learn "In Python files, use pathlib instead of os.path"
      brim learn 'Use uv, never pip.' --wrong 'pip install requests' --file setup.py
      brim learn 'Use bun, not pnpm' --replaces use-pnpm
      brim learn 'Never push to main.' --kind constraint --user
      brim learn --block "npm install" --block "npm i" "Use pnpm"
      brim learn --block-edit "dist/**" "Change src/ and build again"
      brim learn - --when language=python --when 'file=tests/**' --tags testing,style < rule.txt
    """
    if options.text == options.wrong == "-":
        raise InputError("TEXT and --wrong cannot both be standard input")
    text = text_of(options.text)
    wrong = text_of(options.wrong)
    blocks = _blocks(text, options)
    if not is_meant(blocks, yes=options.yes):
        return 1
    workspace = here()
    scope = _scope(options, workspace)
    proposal = _proposal(options, text, wrong=wrong, blocks=blocks, scope=scope, now=workspace.now)
    if scope == "project":
        workspace.begin_project(here=True)
        scope_of(options, workspace)  # refuses the home folder
    with workspace.open() as scopes:
        replaces = _replaces(options, scopes, proposal.rule)
        with scopes.writing(scope):
            taught = teach(
                scopes, proposal, now=workspace.now, summary=options.summary, replaces=replaces
            )
            if taught.loosening:
                need_person(taught.loosening)
        stored = scopes.store(scope).get(taught.learned.behavior.id) or taught.learned.behavior
        result = _object(taught, stored, scopes, workspace)
        same = same_elsewhere(scopes, stored)
    emit(result, _learned_view(taught, stored, workspace), options.as_json)
    tell_masked(text, wrong, options.summary)
    note(*_notes(taught, stored, same))
    note(*_warnings(stored, result["tokens"]["full"], workspace))
    if scope == "project":
        tell_trust(workspace)
    return 0


# What was said ------------------------------------------------------------------------------------


def _proposal(
    options: Namespace, text: str, *, wrong: str, blocks: tuple[str, ...], scope: str, now: float
) -> Proposal:
    """Return the rule that the options say.

    What is wrong with it is raised before a file is made.
    """
    proposal = propose(
        text,
        wrong=wrong,
        file=options.file,
        task=options.task,
        kind=options.kind,
        name=options.name,
        tags=[tag.strip() for tag in options.tags.split(",") if tag.strip()],
        when=values_by_key("--when", options.when) or None,
        blocks=blocks,
        scope=scope,
        now=now,
    )
    replace(proposal.rule, summary=options.summary)  # checks the summary
    return proposal


def _blocks(text: str, options: Namespace) -> tuple[str, ...]:
    """Return what the rule refuses, as the options say it or a person agrees to."""
    patterns = [f"{RUN} {pattern}" for pattern in options.block]
    patterns += [f"{EDIT} {pattern}" for pattern in options.block_edit]
    patterns += [f"{TOOL} {pattern}" for pattern in options.block_tool]
    if patterns:
        return checked_blocks(patterns)
    if options.as_json or not is_person_there():
        return ()
    block = asked_for(text)
    if block and says_yes(f"Also refuse {in_words(block)}?", yes=False, no=""):
        return (block,)
    return ()


def is_meant(blocks: Iterable[str], *, yes: bool) -> bool:
    """Whether a person means *blocks*: one that would refuse nearly everything is asked about,
    twice."""
    for refusal in filter(None, map(too_much, blocks)):
        no = f"this would refuse {refusal}; nothing was changed"
        if not says_yes(f"This would refuse {refusal}. Really?", yes=yes, no=no):
            return False
        again = "No agent could do that until you remove the rule. Sure?"
        if not says_yes(again, yes=yes, no=no):
            return False
    return True


def tell_masked(*texts: str) -> None:
    """Say how many secrets in *texts* the store masks."""
    secrets = sum(masked(text)[1] for text in texts)
    if secrets:
        note(f"{counted(secrets, 'secret')} masked: others may read your rules")


def _scope(options: Namespace, workspace: Workspace) -> str:
    """Return whose rule it is: what the options say, else this project's.

    Outside of a project, a person says it.
    """
    if options.scope:
        return str(options.scope)
    if workspace.project is not None:
        return "project"
    if options.as_json or not is_person_there():
        raise InputError(
            "not in a project: say --user to keep it for all your projects,"
            " --project for this folder"
        )
    if not agrees("You aren't in a project. Keep it for all your projects?"):
        raise InputError("nothing was kept: say --project to keep it for this folder")
    return "user"


def _replaces(options: Namespace, scopes: Scopes, new: Rule) -> list[Rule]:
    """Return the rules that *new* replaces: those that are named, and those that a person agrees
    to."""
    rules = find_rules(scopes, options.replaces)
    if options.as_json or not is_person_there():
        return rules
    ids = {rule.id for rule in rules}
    for conflict in conflicts_of(scopes, new)[:MOST_ASKED]:
        other = conflict.other
        question = f'This conflicts with "{cut(other.canonical, LONGEST)}". Replace it?'
        if other.id not in ids and other.scope == new.scope and agrees(question):
            rules.append(other)
    return rules


# What became of it --------------------------------------------------------------------------------


def _object(taught: Taught, stored: Rule, scopes: Scopes, workspace: Workspace) -> dict[str, Any]:
    """Return what was learned for ``--json``."""
    return {
        "behavior": as_object(stored),
        "merged_with": _object_or_none(taught.learned.merged_with),
        "changes": list(taught.learned.changes),
        "like": _object_or_none(same_elsewhere(scopes, stored)),
        "alike": [as_object(rule) for rule in taught.alike],
        "conflicts": [conflict.to_dict() for conflict in taught.conflicts],
        "replaced": [as_object(rule) for rule in taught.replaced],
        "tokens": tier_tokens(scopes, stored, workspace.config),
        "file": scopes.store(stored.scope).path,
    }


def _object_or_none(rule: Rule | None) -> dict[str, Any] | None:
    if rule is None:
        return None
    return as_object(rule)


def _learned_view(taught: Taught, stored: Rule, workspace: Workspace) -> str:
    """Return whose rule it is, what brim understood, and when agents are told."""
    whose = "all your projects"
    if stored.scope == "project":
        whose = f"this project ({os.path.basename(workspace.project or '')})"
    event = {"learned": "Learned", "confirmed": "Already known"}[taught.event]
    about = ", ".join([stored.kind.value, *(f"#{tag}" for tag in stored.tags)])
    delivery = f"It is {stored.status}, so agents don't hear it."
    if stored.live:
        delivery = f"Agents hear it {heard(stored)}."
    view = [
        f"{event} for {printable(whose)}: {cut(stored.canonical, LONGEST)}",
        printable(f"Saved as {stored.name} ({about}). {delivery}"),
    ]
    if stored.blocks and stored.live:
        view.append(printable(f"Refuses {refused(stored)}."))
    if taught.learned.merged_with is not None:
        view += [printable(f"  {change}") for change in taught.learned.changes]
    return "\n".join(view)


def _notes(taught: Taught, stored: Rule, same: Rule | None) -> Iterator[str]:
    """Yield what a person should know of other rules."""
    for rule in taught.replaced:
        yield f"{named(rule)} is replaced; teach it again to bring it back"
    for conflict in taught.conflicts[:MOST_ASKED]:
        yield _conflict_note(conflict.other, stored)
    for rule in taught.alike:
        yield f"{named(rule)} says nearly the same: 'brim rules remove {rule.id}' removes it"
    if same is not None:
        whose = "in this project"
        if same.scope == "user":
            whose = "for every project"
        yield f"{named(same)} says the same {whose}; both are kept"


def _conflict_note(other: Rule, stored: Rule) -> str:
    remedy = f"'brim rules remove {other.id}' removes it"
    is_constraint = other.kind is BehaviorKind.CONSTRAINT
    if is_constraint and other.scope == "user" and stored.scope == "project":
        return (
            f"it conflicts with your own constraint {named(other)}, which stays in force: {remedy}"
        )
    return (
        f"it conflicts with {named(other)}; both are kept, and agents hear only this one: {remedy}"
    )


def _warnings(stored: Rule, tokens: int, workspace: Workspace) -> Iterator[str]:
    """Yield why agents may not hear the rule, or not obey it yet."""
    config = workspace.config.yours
    if stored.scope == "project":
        config = workspace.config
    budget = config["token_budget.default"] or 0
    if tokens > budget > 0:
        yield (
            f"it takes {tokens:,} tokens, more than the {budget:,} for a session's start:"
            " say it shorter"
        )
    if stored.blocks and not os.path.exists(os.path.join(workspace.home, "bin", "hook")):
        yield "no agent has brim's hooks here, so nothing is refused yet: brim init"


# In an editor -------------------------------------------------------------------------------------


@command(rule_argument(), SURE, add_json)
def edit(options: Namespace) -> int:
    """Edit a rule in your editor ($VISUAL, else $EDITOR, else vi).

    You can change its name, kind, tags, conditions, blocks, summary, priority and text. brim counts
    its tokens again, and renews a summary that was made from the text. If brim can't read what you
    saved, or the rule changed meanwhile, it keeps your file and says where. Empty the file to
    change nothing; brim then exits with 1.

    Examples:
      brim rules edit pathlib
      EDITOR='code --wait' brim rules edit b-3f2a
    """
    need_person("edits rules")
    workspace = here()
    with workspace.open() as scopes:
        old = find_rule(scopes, options.id)
    path = new_file("rule.yaml", as_yaml(old))
    try:
        new = edited_rule(old, path)
        changes = _changes(old, new)
        if "blocks" in changes and not is_meant(changes["blocks"], yes=options.yes):
            raise InputError("it would refuse too much")
        if changes:
            with workspace.open() as scopes, scopes.writing():
                edit_rule(scopes, old, changes, now=workspace.now)
    except BrimError as error:
        raise InputError(f"{error}; nothing was changed{kept_work(path, as_yaml(old))}") from None
    remove_file(path)
    if new is not None and changes:
        tell_masked(changes.get("canonical", new.summary))
    with workspace.open() as scopes:
        stored = scopes.find(old.id)
        tokens = tier_tokens(scopes, stored, workspace.config)
    view = f"unchanged: {named(stored)}"
    if changes:
        view = lines(
            f"changed: {named(stored)}: {', '.join(changes)}", f"tokens: {tokens_line(tokens)}"
        )
    result = {"changed": list(changes), "behavior": as_object(stored), "tokens": tokens}
    return emit(result, view, options.as_json, code=int(new is None))


def _changes(old: Rule, new: Rule | None) -> dict[str, Any]:
    """Return the fields in which *new* differs; none if a person emptied the file."""
    if new is None:
        return {}
    values = {field: getattr(new, field) for field in FIELDS}
    return {field: value for field, value in values.items() if value != getattr(old, field)}
