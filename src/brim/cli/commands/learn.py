"""``brim learn`` and ``rules edit``: teach a rule, and change it."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

from brim.agents import agent_at_work
from brim.cli.asking import agrees, is_person_there, need_person, says_yes
from brim.cli.editor import edited_text, kept_work, new_file, remove_file
from brim.cli.options import add_json, command, here, option
from brim.cli.output import counted, cut, emit, note, printable
from brim.cli.rule_options import (
    add_place,
    add_scope,
    rule_argument,
    rules_of,
    scope_of,
    tell_trust,
)
from brim.cli.rule_views import entry_object, promise_view
from brim.errors import BrimError, InputError
from brim.install.native_files import NativeReaders
from brim.masking import masked
from brim.rules.blocks import checked_blocks, too_much, with_kind
from brim.rules.file import check_paragraph
from brim.rules.history import RuleHistory, stop_line
from brim.rules.outlook import DeliveryLimits, RuleOutlook, outlook
from brim.rules.rule import KINDS
from brim.rules.rulebook import LearnedRule, RuleEntry, check_text, name_for
from brim.rules.source import PROJECT, USER
from brim.tokens.inputs import text_of
from brim.workspace import Workspace

LONGEST = 300
"""Characters of a rule that are printed."""

SURE = option(
    "--yes", "-y", action="store_true", help="don't ask if a block refuses nearly everything"
)
WHEN = option(
    "--when",
    action="append",
    default=[],
    metavar="WHEN",
    help="a glob, a language, 'run git push' or 'branch main'; may be repeated (default: from "
    "the text)",
)
BLOCK = option(
    "--block",
    action="append",
    default=[],
    metavar="PATTERN",
    help="also refuse this, as in 'npm install', 'edit dist/**' or 'tool WebFetch'",
)
BEFORE_DONE = option(
    "--before-done",
    default="",
    metavar="COMMAND",
    help="what must have run before a turn is over",
)


@command(
    option("text", metavar="TEXT", help="the rule; - reads it from standard input"),
    WHEN,
    BLOCK,
    BEFORE_DONE,
    option("--name", default="", metavar="NAME", help="its name (default: from the text)"),
    option("--kind", default="", choices=KINDS, metavar="KIND", help=f"one of {', '.join(KINDS)}"),
    option("--tags", default="", metavar="A,B", help="words to find it by"),
    option("--wrong", default="", metavar="TEXT", help="what was done instead"),
    option(
        "--replaces",
        action="append",
        default=[],
        metavar="RULE",
        help="remove this rule; may be repeated",
    ),
    SURE,
    add_scope,
    add_json,
)
def learn(options: Namespace) -> int:
    """Teach your agents a rule, for this project or, with --user, for all of them.

    The rule is a paragraph of .brim/rules.toml or ~/.brim/rules.toml, which you can edit. brim
    works out from your words when it applies, and says when agents are told and how the rule is
    kept. Secrets are masked.

    If a call shows that the rule is broken, brim stops it once and quotes the rule. On a terminal
    it asks whether to refuse such calls always. With --block, brim refuses every matching command.
    Only you can allow one, with 'brim rules allow'. See docs/blocks.md.

    If an agent runs this, the rule waits until you accept it with 'brim rules review'.

    Examples:
      brim learn "In Python files, use pathlib instead of os.path"
      brim learn --user --block "git push --force" "Never force-push"
      brim learn --block "npm install" --block "npm i" "Use pnpm"
      brim learn --when "*.rs" --before-done "just fmt" "Run just fmt before you finish"
      brim learn "Use bun, not pnpm" --replaces use-pnpm
    """
    text = text_of(options.text).strip()
    check_text(text)
    workspace = here()
    agent = agent_at_work(workspace.environ)
    if agent:
        if options.replaces:
            need_person("replaces rules")
        return _propose(options, text, agent, workspace)
    blocks = checked_blocks([with_kind(block) for block in options.block])
    if not is_meant(blocks, yes=options.yes):
        return 1
    place = _place(options, workspace)
    if place == PROJECT:
        workspace.begin_project(here=True)
        scope_of(options, workspace)  # refuses the home folder
    book = workspace.rulebook
    replaces = []
    for name in options.replaces:
        replaces.append(book.own(name))
    limits = DeliveryLimits.of(workspace.config)  # a mistake there is said before anything changes
    learned = book.learn(place, _fields(options, text, blocks), replaces=replaces)
    forecast = outlook(book.open_index(), limits)
    emit(
        _object(learned, forecast, workspace), _view(learned, forecast, workspace), options.as_json
    )
    _ask_about_refusing(learned.entry, workspace, options)
    note(*_notes(learned, workspace))
    if place == PROJECT:
        tell_trust(workspace)
    return 0


# What was said ------------------------------------------------------------------------------------


def _fields(options: Namespace, text: str, blocks: tuple[str, ...]) -> dict[str, object]:
    """Return the keys of the rule that the options say."""
    return {
        "name": options.name,
        "text": text,
        "when": one_or_list(options.when),
        "block": [short_block(block) for block in blocks],
        "before_done": options.before_done.strip(),
        "kind": options.kind,
        "tags": [tag.strip() for tag in options.tags.split(",") if tag.strip()],
        "instead_of": options.wrong.strip(),
        "learned": time.strftime("%Y-%m-%d"),
    }


def one_or_list(values: list[str]) -> object:
    """Return *values* as a rules file has them: one as a text."""
    if len(values) == 1:
        return values[0]
    return values


def short_block(block: str) -> str:
    """Return *block* as a person writes it, without its kind where that goes without saying."""
    _, _, pattern = block.partition(" ")
    if with_kind(pattern) == block:
        return pattern
    return block


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


def _place(options: Namespace, workspace: Workspace) -> str:
    """Return whose rule it is: what the options say, else this project's.

    Outside of a project, a person says it.
    """
    if options.scope:
        return str(options.scope)
    if workspace.project is not None:
        return PROJECT
    if options.as_json or not is_person_there():
        raise InputError(
            "not in a project: say --user to keep it for all your projects,"
            " --project for this folder"
        )
    if not agrees("You aren't in a project. Keep it for all your projects?"):
        raise InputError("nothing was kept: say --project to keep it for this folder")
    return USER


def _propose(options: Namespace, text: str, agent: str, workspace: Workspace) -> int:
    """Put the rule that an agent says into the inbox: nobody but a person speaks as the user."""
    project = ""
    if options.scope != USER:
        project = workspace.project or ""
    name = workspace.rulebook.inbox.add(name_for(text), text, agent=agent, project=project)
    view = f"Noted {printable(name)}. Your user decides about it: brim rules review"
    return emit({"note": name, "rule": None}, view, options.as_json)


# What became of it --------------------------------------------------------------------------------


def _ask_about_refusing(entry: RuleEntry, workspace: Workspace, options: Namespace) -> None:
    """Ask a person whether calls that are stopped once should be refused always."""
    check = entry.check
    if check is None or not check.stops or entry.rule.block:
        return
    if options.as_json or not is_person_there():
        return
    if agrees("Refuse them always?", default=False):
        workspace.rulebook.change(entry, {"block": True})
        workspace.rulebook.open_index().close()
        print("kept  they are refused every time, until you allow one: brim rules allow")


def _object(learned: LearnedRule, forecast: RuleOutlook, workspace: Workspace) -> dict[str, Any]:
    """Return what was learned for ``--json``."""
    return {
        "rule": entry_object(learned.entry, forecast, NativeReaders(workspace)),
        "new": learned.is_new,
        "replaced": list(learned.replaced),
    }


def _view(learned: LearnedRule, forecast: RuleOutlook, workspace: Workspace) -> str:
    """Return whose rule it is, when it's told, and how it's kept."""
    whose = "all your projects"
    if learned.entry.place == PROJECT:
        whose = os.path.basename(workspace.project or "")
    event = "Already known for"
    if learned.is_new:
        event = "Learned for"
    title = f"{event} {printable(whose)}: {cut(learned.entry.rule.text, LONGEST)}"
    return "\n".join([title, *promise_view(learned.entry, forecast, NativeReaders(workspace))])


def _notes(learned: LearnedRule, workspace: Workspace) -> Iterator[str]:
    """Yield what a person should know besides."""
    for name in learned.replaced:
        yield f"{name} is removed: 'brim rules restore {name}' brings it back"
    if learned.secrets:
        yield f"{counted(learned.secrets, 'secret')} masked: others may read your rules"
    if learned.entry.is_kept and not os.path.exists(os.path.join(workspace.home, "bin", "hook")):
        yield "no agent has brim's hooks here, so the rule isn't kept yet: brim init"


# Changing -----------------------------------------------------------------------------------------


@command(
    rule_argument(),
    option("--text", default="", metavar="TEXT", help="other words"),
    WHEN,
    BLOCK,
    BEFORE_DONE,
    option(
        "--passes",
        action="append",
        default=[],
        metavar="PATTERN",
        help="a call that may pass, as in 'npm install -g' or 'edit dist/keep/**'; may be repeated",
    ),
    option(
        "--checks",
        choices=("on", "off"),
        help="whether brim compares calls with the words of the rule",
    ),
    SURE,
    add_place,
    add_json,
)
def edit(options: Namespace) -> int:
    """Edit a rule: its paragraph in your editor ($VISUAL, else $EDITOR, else vi), or one key.

    An empty value, as in --when "", removes the key. Comments, order and all other rules stay as
    they are. If brim can't read what you saved, it keeps your file and says where. Empty the file
    to change nothing; brim then exits with 1.

    brim shows the last call that the rule stopped. If that was wrong, --passes names calls that may
    pass, and --checks off lets agents be told the rule and no more. --checks also works for a rule
    of CLAUDE.md and the like, which brim doesn't change.

    Examples:
      brim rules edit use-pnpm
      brim rules edit use-pnpm --block "npm install" --block "npm ci"
      brim rules edit fmt --when "*.rs" --before-done "just fmt"
      brim rules edit use-pnpm --passes "npm install -g"
    """
    need_person("edits rules")
    workspace = here()
    book = workspace.rulebook
    old = book.find(options.id, options.scope or "")
    if old.native is not None and options.checks:
        return _edit_native(old, workspace, options)
    (old,) = rules_of(options, book, [options.id])
    last_stop = RuleHistory(book, now=workspace.now).last_stop(old)
    if last_stop is not None:
        note(printable(f"last call: {stop_line(last_stop)}"))
    limits = DeliveryLimits.of(workspace.config)  # a mistake there is said before anything changes
    fields = _edited_fields(options)
    if fields:
        if not is_meant(_new_blocks(options, old), yes=options.yes):
            return 1
        entry = book.change(old, fields)
    else:
        paragraph = _in_editor(book.paragraph(old))
        if not paragraph.strip():
            note("nothing was changed")
            return 1
        new_blocks = set(check_paragraph(paragraph).block).difference(old.rule.block)
        if not is_meant(sorted(new_blocks), yes=options.yes):
            return 1
        entry = book.rewrite(old, paragraph)
    forecast = outlook(book.open_index(), limits)
    is_changed = entry.rule.digest != old.rule.digest or entry.name != old.name
    title = f"{printable(entry.name)} is as it was"
    if is_changed:
        title = f"Changed {printable(entry.name)}: {cut(entry.rule.text, LONGEST)}"
    readers = NativeReaders(workspace)
    view = "\n".join([title, *promise_view(entry, forecast, readers)])
    result = {"rule": entry_object(entry, forecast, readers), "changed": is_changed}
    emit(result, view, options.as_json)
    if masked(entry.rule.text)[1]:
        note("there is a secret in it: others may read your rules")
    return 0


def _edit_native(old: RuleEntry, workspace: Workspace, options: Namespace) -> int:
    """Switch the check of a rule in a native file on or off."""
    book = workspace.rulebook
    book.decide_check(old, yes=options.checks == "on")
    entry = book.find(options.id, options.scope or "")
    index = book.open_index()
    forecast = outlook(index, DeliveryLimits.of(workspace.config))
    readers = NativeReaders(workspace)
    title = printable(f"{entry.name}: {cut(entry.rule.text, LONGEST)}")
    view = "\n".join([title, *promise_view(entry, forecast, readers)])
    is_changed = entry.check_state != old.check_state
    result = {"rule": entry_object(entry, forecast, readers), "changed": is_changed}
    return emit(result, view, options.as_json)


_CHECKS_FIELD = {"on": "", "off": "off"}
"""What a file says of each choice: a rule is checked unless it says otherwise."""


def _edited_fields(options: Namespace) -> dict[str, object]:
    """Return the keys that the options change; an empty value removes one."""
    fields: dict[str, object] = {}
    if options.text:
        fields["text"] = text_of(options.text).strip()
    if options.when:
        fields["when"] = one_or_list([value for value in options.when if value])
    if options.block:
        fields["block"] = [short_block(block) for block in _typed_blocks(options.block)]
    if options.before_done:
        fields["before_done"] = options.before_done.strip()
    if options.passes:
        fields["passes"] = [short_block(block) for block in _typed_blocks(options.passes)]
    if options.checks:
        fields["checks"] = _CHECKS_FIELD[options.checks]
    return fields


def _typed_blocks(typed: list[str]) -> tuple[str, ...]:
    """Return what was *typed* as blocks; an empty text is none."""
    blocks = filter(None, typed)
    return checked_blocks(list(map(with_kind, blocks)))


def _new_blocks(options: Namespace, old: RuleEntry) -> list[str]:
    return [block for block in _typed_blocks(options.block) if block not in old.rule.block]


def _in_editor(paragraph: str) -> str:
    """Return what a person makes of *paragraph*; empty if they say no."""
    path = new_file("rule.toml", paragraph)
    try:
        text = edited_text(paragraph, path)
    except BrimError as error:
        raise InputError(f"{error}; nothing was changed{kept_work(path, paragraph)}") from None
    remove_file(path)
    return text
