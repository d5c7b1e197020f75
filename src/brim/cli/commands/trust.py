"""``brim rules trust``: what a project may tell agents."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from difflib import unified_diff

from brim.cli.asking import add_yes, need_person, says_yes
from brim.cli.options import add_json, command, one_of, option
from brim.cli.output import (
    block,
    counted,
    emit,
    home_path,
    lines,
    note,
    paint,
    printable,
    say_paged,
)
from brim.cli.tables import heading, table
from brim.config.places import project_folder, user_folder
from brim.config.trust import is_trusted, trusted_projects, untrust
from brim.errors import InputError
from brim.install.consent import Consent, consent_for
from brim.memory.entries import MemoryEntry
from brim.rules.accepted import RuleProposal
from brim.rules.rulebook import visible
from brim.workspace import Workspace, working_folder

_COLOURS = {"+": "green", "-": "red"}


@command(
    option(
        "folder", nargs="?", metavar="DIR", help="a project's folder (default: the current project)"
    ),
    one_of(
        option("--list", action="store_true", dest="as_list", help="list the trusted projects"),
        option("--remove", action="store_true", help="stop trusting it"),
    ),
    add_yes,
    add_json,
)
def trust(options: Namespace) -> int:
    """Let agents use this project's rules and settings.

    Anyone may have written the .brim/ folder of a project that you cloned, so hooks and servers
    ignore it until you trust it. brim first shows what agents would get: its rules, its settings,
    and memory in .context/ that wasn't made on this machine. If something changes later without
    brim, as with a pull, what you accepted holds until you run this again; then it shows the
    difference. Your answer is for all branches and worktrees of the repository.

    Exits with 1 if you say no.

    Examples:
      brim rules trust
      brim rules trust ~/shop --yes
      brim rules trust --list
      brim rules trust --remove
    """
    user = user_folder(os.environ)
    if options.as_list:
        if options.folder is not None:
            raise InputError(f"--list lists every trusted project, so it takes no {options.folder}")
        return _list_trusted(user, as_json=options.as_json)
    if options.remove:
        return _remove_trust(options, user)
    return _trust(options)


def _list_trusted(user: str, *, as_json: bool) -> int:
    rows = [["since", "project", ""]]
    projects = []
    for path, accepted_at in trusted_projects(user).items():
        since = time.strftime("%Y-%m-%d", time.gmtime(accepted_at))
        is_there = os.path.isdir(path)
        projects.append({"project": path, "since": since, "valid": is_there})
        rows.append([since, home_path(path), "" if is_there else "is gone"])
    view = ""
    if projects:
        view = heading(table(rows))
    else:
        note("no trusted projects yet: run 'brim rules trust' in one")
    return emit({"projects": projects}, view, as_json)


def _remove_trust(options: Namespace, user: str) -> int:
    path = _project_at(options.folder)
    if not is_trusted(path, user):
        result = {"project": path, "trusted": False, "changed": False}
        empty = f"{path} wasn't trusted; nothing was changed"
        return emit(result, "", options.as_json, empty=empty, code=1)
    verb = "would no longer be"
    if not options.dry_run:
        untrust(path, user)
        verb = "is no longer"
    result = {"project": path, "trusted": options.dry_run, "changed": not options.dry_run}
    return emit(result, f"{home_path(path)} {verb} trusted", options.as_json)


def _project_at(folder: str | None) -> str:
    """Return the project that *folder* is in, or the folder itself; a project may be gone."""
    path = os.path.realpath(folder or working_folder() or "/")
    if not os.path.isdir(path):
        return path
    return project_folder(os.environ, path) or path


def _trust(options: Namespace) -> int:
    if not options.dry_run:
        need_person("trusts a project")
    workspace = _workspace_in(options.folder)
    if workspace.project is None:
        raise InputError(f"{workspace.cwd}: not a project: no .brim/ or .git in it or above it")
    consent = consent_for(workspace)
    if not options.as_json:
        say_paged(consent_view(consent))
    changed = False
    if consent.is_new and not options.dry_run and _agrees(consent, yes=options.yes):
        consent.accept(workspace)
        workspace.rulebook.open_index().close()
        changed = True
    is_agreed = changed or not consent.is_new
    result = {
        "project": consent.project,
        "trusted": consent.trusted or is_agreed,
        "changed": changed,
        **consent.to_dict(),
    }
    view = ""
    if changed:
        view = "trusted now; 'brim rules trust --remove' undoes this"
    elif is_agreed:
        view = "already trusted"
    return emit(result, view, options.as_json, code=int(not (is_agreed or options.dry_run)))


def _workspace_in(folder: str | None) -> Workspace:
    path = folder or working_folder()
    if path is None or not os.path.isdir(path):
        raise InputError(f"{folder or 'the working folder'}: no such folder")
    return Workspace(os.environ, path, who="person", now=time.time())


def _agrees(consent: Consent, *, yes: bool) -> bool:
    refusal = "the project is not trusted"
    if consent.trusted:
        refusal = "what you accepted before holds"
    question = "Let agents be told this, and what you teach here later?"
    return says_yes(question, yes=yes, no=refusal)


# What is shown ------------------------------------------------------------------------------------


def consent_view(consent: Consent) -> str:
    """Return all of it for a person: whole, and with every character visible."""
    parts = [_title(consent)]
    for proposal in consent.proposals:
        parts.append(proposal_view(proposal))
    if consent.settings:
        rows = [printable(f"  {key}: {value}") for key, value in consent.settings.items()]
        parts.append(lines("it sets in .brim/config.yaml", *rows))
    for path, entries in consent.memory.items():
        title = f"{home_path(path)}: memory that wasn't made here"
        parts.append(lines(title, *map(_entry_view, entries)))
    return "\n\n".join(parts)


def _title(consent: Consent) -> str:
    title = f"{home_path(consent.project)}: {counted(len(consent.proposals), 'rule')}"
    if consent.trusted and consent.is_new:
        title += ", new, changed or removed since you trusted it"
    return title


def proposal_view(proposal: RuleProposal) -> str:
    """Return a rule as a diff: what was accepted against what the file says."""
    old = visible(proposal.old).split("\n") if proposal.old else []
    new = visible(proposal.new).split("\n") if proposal.new else []
    size = len(old) + len(new)
    rows = [f"{proposal.kind}  {printable(proposal.name)}"]
    for line in list(unified_diff(old, new, n=size, lineterm=""))[3:]:
        rows.append(
            paint(f"  {line}", _COLOURS.get(line[:1], "")) if line[0] != " " else f"  {line}"
        )
    return "\n".join(rows)


def _entry_view(entry: MemoryEntry) -> str:
    rows = [printable(f"  {key}: {value}") for key, value in entry.refs.items()]
    return lines(printable(f"#{entry.number} {entry.kind}"), block(entry.text), *rows)
