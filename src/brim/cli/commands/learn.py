"""``brim learn`` and ``rules edit``: teach a rule, and change it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import replace
from tempfile import mkdtemp
from typing import Any

from brim.behaviors.behavior import Behavior, BehaviorKind
from brim.behaviors.jsonl import as_object
from brim.behaviors.learning import holds, loosens
from brim.behaviors.learning import learn as learned_from
from brim.behaviors.sentences import heard, refused
from brim.behaviors.yaml_form import FIELDS, as_yaml, from_yaml
from brim.cli.options import (
    add_json,
    add_scope,
    agrees,
    answer,
    command,
    here,
    is_person_there,
    need_person,
    option,
    rule,
    says_yes,
    scope_of,
    tell_trust,
    text_of,
    values_by_key,
)
from brim.cli.output import counted, cut, emit, lines, note, printable, tokens_line
from brim.errors import BrimError, InputError
from brim.files import WINDOWS, write_new
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
from brim.tokens.inputs import read_text
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
    said = _said(options)
    if not is_meant(said["blocks"], yes=options.yes):
        return 1
    workspace = here()
    scope = _scope(options, workspace)
    # What is wrong with it is raised before a file is made.
    made = learned_from(**said, scope=scope, now=workspace.now).behavior
    replace(made, summary=options.summary)
    if scope == "project":
        workspace.begin_project(here=True)
        scope_of(options, workspace)  # refuses the home folder
    with workspace.open() as scopes:
        replaces = _replaces(options, scopes, made)
        if any(map(holds, replaces)):
            need_person("replaces a constraint")
        with scopes.writing(scope):
            own = {"summary": options.summary, "replaces": replaces}
            taught = teach(scopes, said, scope, now=workspace.now, **own)
            if loosens(taught.learned.merged_with, taught.learned.behavior):
                need_person("changes a constraint")
            hidden = [
                each.other
                for each in taught.conflicts
                if scope == "user" or each.other.scope == "project"
            ]
            if any(map(holds, hidden)):
                need_person("teaches what contradicts a constraint")
        learned, store = taught.learned, scopes.store(scope)
        stored = store.get(learned.behavior.id) or learned.behavior
        tokens = tier_tokens(scopes, stored, workspace.config)
        like = same_elsewhere(scopes, stored)
    whose = (
        f"this project ({os.path.basename(workspace.project or '')})"
        if scope == "project"
        else "all your projects"
    )
    found = {**_object(taught, stored, like), "tokens": tokens, "file": store.path}
    emit(found, _learned_view(taught, stored, whose), options.as_json)
    tell_masked(said["right"], said["wrong"], options.summary)
    note(*_further(taught, stored, like))
    settings = workspace.config if scope == "project" else workspace.config.yours
    if tokens["full"] > (budget := settings["token_budget.default"] or 0) > 0:
        note(
            f"it takes {tokens['full']:,} tokens, more than the {budget:,} for a session's start: say it shorter"
        )
    if stored.blocks and not os.path.exists(os.path.join(workspace.home, "bin", "hook")):
        note("no agent has brim's hooks here, so nothing is refused yet: brim init")
    if scope == "project":
        tell_trust(workspace)
    return 0


def is_meant(blocks: Iterable[str], *, yes: bool) -> bool:
    """Whether a person means *blocks*: one that would refuse nearly everything is asked about,
    twice."""
    much = [each for block in blocks if (each := too_much(block))]
    asked = (
        "This would refuse {}. Really?",
        "No agent could do that until you remove the rule. Sure?",
    )
    no = "this would refuse {}; nothing was changed"
    return all(
        says_yes(each.format(what), yes=yes, no=no.format(what)) for what in much for each in asked
    )


def tell_masked(*texts: str) -> None:
    """Say how many secrets in *texts* the store masks."""
    if count := sum(masked(text)[1] for text in texts):
        note(f"{counted(count, 'secret')} masked: others may read your rules")


def _object(taught: Taught, stored: Behavior, like: Behavior | None) -> dict[str, Any]:
    """Return what was learned for ``--json``."""
    old = taught.learned.merged_with
    return {
        "behavior": as_object(stored),
        "merged_with": None if old is None else as_object(old),
        "changes": list(taught.learned.changes),
        "like": None if like is None else as_object(like),
        "alike": [as_object(each) for each in taught.alike],
        "conflicts": [each.to_dict() for each in taught.conflicts],
        "replaced": [as_object(each) for each in taught.replaced],
    }


def _scope(options: Namespace, workspace: Workspace) -> str:
    """Return whose rule it is: what the options say, else this project's; outside of one, what a
    person says."""
    if options.scope is None and workspace.project is None:
        if options.as_json or not is_person_there():
            raise InputError(
                "not in a project: say --user to keep it for all your projects, --project for this folder"
            )
        if not agrees("You aren't in a project. Keep it for all your projects?"):
            raise InputError("nothing was kept: say --project to keep it for this folder")
        return "user"
    return options.scope or "project"


def _replaces(options: Namespace, scopes: Scopes, made: Behavior) -> list[Behavior]:
    """Return the rules that *made* replaces: those that are named, and those that a person agrees
    to."""
    found = find_rules(scopes, options.replaces)
    if options.as_json or not is_person_there():
        return found
    known = {each.id for each in found}
    for each in conflicts_of(scopes, made)[:MOST_ASKED]:
        question = f'This conflicts with "{cut(each.other.canonical, LONGEST)}". Replace it?'
        if each.other.id not in known and each.other.scope == made.scope and agrees(question):
            found.append(each.other)
    return found


def _further(taught: Taught, stored: Behavior, like: Behavior | None) -> Iterator[str]:
    """Yield what a person should know of other rules."""
    for gone in taught.replaced:
        yield f"{named(gone)} is replaced; teach it again to bring it back"
    for each in taught.conflicts[:MOST_ASKED]:
        other = each.other
        remedy = f"'brim rules remove {other.id}' removes it"
        if (
            other.scope == "user"
            and stored.scope == "project"
            and other.kind is BehaviorKind.CONSTRAINT
        ):
            yield f"it conflicts with your own constraint {named(other)}, which stays in force: {remedy}"
        else:
            yield f"it conflicts with {named(other)}; both are kept, and agents hear only this one: {remedy}"
    for same in taught.alike:
        yield f"{named(same)} says nearly the same: 'brim rules remove {same.id}' removes it"
    if like is not None:
        whose = "for every project" if like.scope == "user" else "in this project"
        yield f"{named(like)} says the same {whose}; both are kept"


def _said(options: Namespace) -> dict[str, Any]:
    """Return what ``learn`` of a room takes, as the options say it."""
    if options.text == options.wrong == "-":
        raise InputError("TEXT and --wrong cannot both be standard input")
    text = text_of(options.text)
    wrong = text_of(options.wrong)
    when = values_by_key("--when", options.when)
    kinds = ((RUN, options.block), (EDIT, options.block_edit), (TOOL, options.block_tool))
    blocks = checked_blocks(f"{kind} {each}" for kind, given in kinds for each in given)
    if not blocks and is_person_there() and not options.as_json and (block := asked_for(text)):
        wanted = answer(f"Also refuse {in_words(block)}? [y/N] ").casefold() in ("y", "yes")
        blocks = (block,) if wanted else ()
    tags = [tag.strip() for tag in options.tags.split(",") if tag.strip()]
    about = {name: getattr(options, name) for name in ("file", "task", "kind", "name")}
    return {
        "right": text,
        "wrong": wrong,
        **about,
        "tags": tags,
        "when": when or None,
        "blocks": blocks,
    }


def _learned_view(taught: Taught, stored: Behavior, whose: str) -> str:
    """Return whose rule it is, what brim understood, and when agents are told: two lines."""
    said = {"learned": "Learned", "confirmed": "Already known"}[taught.event]
    told = (
        f"Agents hear it {heard(stored)}."
        if stored.live
        else f"It is {stored.status}, so agents don't hear it."
    )
    about = ", ".join([stored.kind.value, *(f"#{tag}" for tag in stored.tags)])
    return lines(
        f"{said} for {printable(whose)}: {cut(stored.canonical, LONGEST)}",
        printable(f"Saved as {stored.name} ({about}). {told}"),
        printable(f"Refuses {refused(stored)}.") if stored.blocks and stored.live else "",
        *(
            printable(f"  {change}")
            for change in taught.learned.changes
            if taught.learned.merged_with is not None
        ),
    )


# In an editor -------------------------------------------------------------------------------------


@command(rule(), SURE, add_json)
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
    path = _write(as_yaml(old))
    try:
        new = _edited(old, path)
        fields = (
            []
            if new is None
            else [field for field in FIELDS if getattr(new, field) != getattr(old, field)]
        )
        if new is not None and "blocks" in fields and not is_meant(new.blocks, yes=options.yes):
            raise InputError("it would refuse too much")
        if new is not None and fields:
            with workspace.open() as scopes, scopes.writing():
                edit_rule(
                    scopes, old, {field: getattr(new, field) for field in fields}, now=workspace.now
                )
    except BrimError as error:
        raise InputError(f"{error}; nothing was changed{_kept(path, as_yaml(old))}") from None
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    if new is not None and fields:
        tell_masked(new.canonical if "canonical" in fields else new.summary)
    with workspace.open() as scopes:
        behavior = scopes.find(old.id)
        tokens = tier_tokens(scopes, behavior, workspace.config)
    view = f"unchanged: {named(behavior)}"
    if fields:
        view = lines(
            f"changed: {named(behavior)}: {', '.join(fields)}", f"tokens: {tokens_line(tokens)}"
        )
    result = {"changed": fields, "behavior": as_object(behavior), "tokens": tokens}
    return emit(result, view, options.as_json, code=1 if new is None else 0)


def _edited(old: Behavior, path: str) -> Behavior | None:
    """Return what a person made of *old* in the file *path*; None if they emptied it to say no."""
    before = read_text(path)
    while True:
        _open_editor(path)
        if not os.path.exists(path):
            raise InputError(f"{path}: is gone: the editor did not leave a file")
        text = read_text(path)
        if text == before:
            return old
        if not text.strip():
            return None
        try:
            return from_yaml(text, old, os.path.basename(path))
        except InputError as error:
            if not is_person_there():
                raise
            note(str(error))
            if not agrees("Edit it again?"):
                raise


def _kept(path: str, before: str) -> str:
    """Return the words that say where a person's work is; a file without any is removed."""
    try:
        written = read_text(path) != before
    except InputError:
        written = os.path.exists(path)
    if written:
        return f", and what you wrote is in {path}"
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    return ""


def _open_editor(path: str) -> None:
    usual = "notepad" if WINDOWS else "vi"
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or usual
    try:
        words = shlex.split(editor.replace("\\", "/") if WINDOWS else editor) or [usual]
    except ValueError as error:
        raise InputError(
            f"the editor {editor!r} cannot be read as a command ({error}): set EDITOR"
        ) from None
    try:
        code = subprocess.call([*words, path])  # noqa: S603 - the person's own editor
    except OSError as error:
        raise InputError(
            f"the editor {editor!r} cannot be started: {error.strerror or error}: set EDITOR"
        ) from None
    if code:
        raise InputError(f"the editor {editor!r} ended with {code}")


def _write(text: str) -> str:
    """Write *text* to a new file that only its owner can read, and return its path."""
    try:
        path = os.path.join(mkdtemp(prefix="brim-"), "behavior.yaml")
        write_new(path, text.encode())
    except OSError as error:
        raise InputError(
            f"no file to edit can be made: {error.strerror or error}; is there room for it?"
        ) from None
    return path
