"""Where floop, whose rules brim can import, is still in use."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from brim.agents.fields import items, mapping, text
from brim.agents.settings import json_settings
from brim.config.places import home_folder
from brim.errors import BrimError
from brim.install.agents import agent_names, project_hook_files, user_target
from brim.rules.floop import find_floop, read_floop
from brim.rules.rulebook import same_words
from brim.workspace import Workspace

_FLOOP = re.compile(r"(?:^|[\s/\"'])floop(?:[\s\"']|$|-[a-z-]+\.sh)")
"""How a command calls floop, or a script of its."""


def floop_traces(workspace: Workspace) -> list[tuple[str, str]]:
    """Return where floop is still in use, each place with what to do: folders not yet imported, and
    its hooks."""
    traces = []
    for folder in _floop_folders(workspace):
        text = f"floop's rules aren't imported yet: brim rules import {folder}"
        traces.append((folder, text))
    for path in _settings_files(workspace):
        if any(_FLOOP.search(command) for command in _hook_commands(path)):
            text = "has floop's hooks too, so agents are told rules twice: take them out of it"
            traces.append((path, text))
    return traces


def _floop_folders(workspace: Workspace) -> list[str]:
    """Return the folders of floop with rules that aren't here."""
    places = dict.fromkeys(filter(None, (workspace.project, home_folder(workspace.environ))))
    folders = [os.path.join(place, ".floop") for place in places]
    folders = [folder for folder in folders if find_floop(folder)]
    if not folders:
        return []
    texts = _stored_texts(workspace)
    return [folder for folder in folders if _has_new_rules(folder, texts, workspace)]


def _stored_texts(workspace: Workspace) -> set[str]:
    """Return what the rules say that are here."""
    texts: set[str] = set()
    for _, file in workspace.rulebook.files:
        texts.update([same_words(rule.text) for rule in file.read().rules])
    return texts


def _has_new_rules(folder: str, stored_texts: set[str], workspace: Workspace) -> bool:
    """Whether floop has a rule in *folder* that isn't among *stored_texts*."""
    try:
        rules = read_floop(folder, workspace.project).rules
    except BrimError:
        return False
    return any(same_words(rule.fields["text"]) not in stored_texts for rule in rules)


def _settings_files(workspace: Workspace) -> list[str]:
    """Return the files in which agents may call floop: the user's, and the project's."""
    paths = [user_target(agent, workspace.environ).path for agent in agent_names()]
    if workspace.project:
        for agent in agent_names():
            paths += project_hook_files(agent, workspace.project)
    return [path for path in paths if path.endswith(".json")]


def _hook_commands(path: str) -> Iterator[str]:
    """Yield the command of each hook in the settings file *path*."""
    settings = json_settings(path)
    for event in mapping(settings, "hooks"):
        for group in items(settings, "hooks", event):
            for hook in items(group, "hooks"):
                yield text(hook, "command")
