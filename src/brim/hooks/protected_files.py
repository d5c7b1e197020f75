"""Which files are brim's own, hold the settings of hooks, or say what a person wrote.

Paths are absolute, with their links resolved.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping

from brim import agents
from brim.agents import TableLine, agent_named, every_agent
from brim.config.places import home_folder
from brim.files import open_safely
from brim.hooks.state import HookWorkspace

OWN_FILES = ("config.yaml", "trusted")
"""Files in a project's ``.brim`` that steer agents. Its ``rules.toml`` isn't one: it proposes rules
and decides nothing."""
STEERING = ("rules.toml", "config.yaml", "inbox.toml", "removed.toml")
"""Files in the user's folder that steer agents; people link them to others."""
MEMORY = ".context"
MEMORY_FILES = ("journal.jsonl", ".brim-scratch")
"""Files of the memory that say what a person wrote, and whose memory it is."""
WHOLE = (".brim", MEMORY, *[line.folder for line in agents.TABLE])
"""Folders that hold such files: they may not be removed or moved."""
PARTS = (
    ("brim", "config.yaml"),
    ("brim", "rules.toml"),
    ("brim", "state.db"),
    ("context", "journal.jsonl"),
    *[(line.folder.strip("."), name) for line in agents.TABLE for name in line.hook_files],
)
"""The names of folders and of protected files in them, from which a path may be put together."""
_PROGRAMS = ("/bin/brim", "/Scripts/brim.exe", "/tools/brim", "/venvs/brim")
"""How the paths of the installed program and of its environment end."""
_TRANSCRIPTS = ".jsonl"
_RUNNING = (
    r"\b(?:\w*sh|source|make|gmake|just|python[\d.]*|node|perl|ruby)\b"
    r"|(?:^|[\s;&|(])(?:\.{1,2} |[.~]{0,2}/)"
)
_FILE = r"[^\s;&|<>()'\"`$=]*[./][^\s;&|<>()'\"`$]+"
_LARGEST_SCRIPT = 60_000
_YOUNG = 12 * 3600
"""Seconds since a script was written for it to be one of the session, or of one like it."""
MAKEFILES = ("Makefile", "makefile", "GNUmakefile", "justfile")
_MOST_WORDS = 20
_CHATS = f"{os.sep}chats{os.sep}"


def is_protected(path: str, workspace: HookWorkspace) -> bool:
    """Whether no agent may change the file *path*."""
    if is_below(path, [os.path.realpath(workspace.home)]):
        return True
    if path in linked_files(workspace.home) or _is_of_package(path):
        return True
    if _has_protected_name(path, workspace) or holds_hooks(path, workspace):
        return True
    return _is_transcript(path, workspace.environ)


def _has_protected_name(path: str, workspace: HookWorkspace) -> bool:
    """Whether *path* is called as the rules, settings or the memory of a project are."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) == ".brim":
        return name in OWN_FILES and may_be_protected(path, workspace)
    return name in MEMORY_FILES and MEMORY in folder.split(os.sep)


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether *path* is in one of *folders*, or in a folder there."""
    return path.startswith(tuple([os.path.join(folder, "") for folder in folders]))


def holds_hooks(path: str, workspace: HookWorkspace) -> bool:
    """Whether *path* has the hooks of an agent."""
    return any(_holds_hooks(path, line, workspace) for line in agents.TABLE)


def may_be_protected(path: str, workspace: HookWorkspace) -> bool:
    """Whether *path* is in the person's home or in the project: elsewhere, as in a temporary
    folder, files of the same names steer nobody."""
    project = os.path.realpath(workspace.project or workspace.cwd)
    return is_below(path, [user_home(workspace), project])


def memory_files(project: str) -> list[str]:
    """Return the files of the *project*'s memory; they needn't exist."""
    return [os.path.join(project, MEMORY, name) for name in MEMORY_FILES]


def linked_files(home: str) -> list[str]:
    """Return where the links in the user's folder *home* lead, among the files that steer
    agents."""
    paths: list[str] = []
    for name in STEERING:
        path = os.path.join(home, name)
        if os.path.islink(path):
            paths.append(os.path.realpath(path))
    return paths


def steering_files(workspace: HookWorkspace) -> list[str]:
    """Return the files that steer agents here: rules, limits, settings, hooks; they needn't
    exist."""
    home = workspace.home
    paths = [os.path.join(home, name) for name in STEERING]
    paths += [os.path.join(home, name) for name in ("paused", "trust.json", "state.db")]
    paths += [os.path.join(home, "bin", name) for name in ("hook", "statusline")]
    for agent in every_agent():
        paths.append(agent.places.user_file(workspace.environ))
    return paths + project_files(workspace)


def project_files(workspace: HookWorkspace) -> list[str]:
    """Return the files in the project that steer agents; they needn't exist."""
    project = workspace.project or workspace.cwd
    paths = [os.path.join(project, ".brim", name) for name in OWN_FILES]
    for line in agents.TABLE:
        paths += [os.path.join(project, line.folder, name) for name in line.hook_files]
    return paths


def _is_of_package(path: str) -> bool:
    """Whether *path* is brim's program or in its installed package; where a person develops brim,
    it isn't."""
    slashed = path.replace(os.sep, "/")
    if slashed.endswith(_PROGRAMS):
        return True
    return "/site-packages/brim/" in f"{slashed}/"


def is_users_settings(path: str, workspace: HookWorkspace) -> bool:
    """Whether *path* is in an agent's folder of the person, and not in a project."""
    files = [agent.places.user_file(workspace.environ) for agent in every_agent()]
    return os.path.dirname(path) in [os.path.realpath(os.path.dirname(file)) for file in files]


def _holds_hooks(path: str, line: TableLine, workspace: HookWorkspace) -> bool:
    """Whether *path* has the hooks of an agent, or brim's plugin for it."""
    if _is_hook_file(path, line, workspace):
        return True
    plugins = agent_named(line.name).places.plugins
    slashed = path.replace(os.sep, "/")
    if not plugins or plugins not in slashed:
        return False
    return "/brim/" in slashed or slashed.endswith("/extension-enablement.json")


def _is_hook_file(path: str, line: TableLine, workspace: HookWorkspace) -> bool:
    """Whether *path* is the person's or a project's settings with the hooks of an agent."""
    folder, name = os.path.split(path)
    if name not in line.hook_files:
        return False
    places = agent_named(line.name).places
    if folder == os.path.realpath(os.path.dirname(places.user_file(workspace.environ))):
        return True
    project_folder = os.path.basename(os.path.dirname(places.project_hooks))
    if os.path.basename(folder) not in (line.folder, project_folder):
        return False
    return may_be_protected(path, workspace)


def _is_transcript(path: str, environ: Mapping[str, str]) -> bool:
    """Whether an agent has written a session to *path*."""
    if not path.endswith(_TRANSCRIPTS) and _CHATS not in path:
        return False
    return is_below(path, transcript_folders(environ))


def transcript_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folders in which agents keep their sessions."""
    folders: list[str] = []
    for agent in every_agent():
        if agent.session_folders is not None:
            folders += [os.path.realpath(folder) for folder in agent.session_folders(environ)]
    return folders


def user_home(workspace: HookWorkspace) -> str:
    """Return the person's home, with its links resolved."""
    return os.path.realpath(home_folder(workspace.environ))


# Scripts ------------------------------------------------------------------------------------------


def runs_script_with(text: str, folder: str, names: Iterable[str]) -> bool:
    """Whether the command *text*, run in *folder*, may run a script that was written not long ago
    and has one of *names* in it."""
    if not re.search(_RUNNING, text):
        return False
    words = re.findall(_FILE, text)[:_MOST_WORDS]
    if re.search(r"\b(?:make|gmake|just)\b", text):
        words += MAKEFILES
    for word in words:
        code = script_text(os.path.join(folder, os.path.expanduser(word)))
        if any(name in code for name in names):
            return True
    return False


def script_text(path: str) -> str:
    """Return what is in the file *path* if it was written not long ago and isn't large."""
    try:
        status = os.stat(path)
        if status.st_size > _LARGEST_SCRIPT or time.time() - status.st_mtime > _YOUNG:
            return ""
        with os.fdopen(open_safely(os.path.realpath(path)), "rb") as file:
            return file.read(_LARGEST_SCRIPT).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
