"""What a hook asks the rules with: the files that count here, and what is happening."""

from __future__ import annotations

import os

from brim import __version__
from brim.agents import loaded_rule_files, unloaded_rule_files
from brim.agents.call import (
    BEFORE_TOOL,
    PROMPT,
    SESSION_START,
    STOP,
    SUBAGENT_STOP,
    HookCall,
)
from brim.config.places import branch_of
from brim.hooks.room import Room
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import model_of
from brim.rules.background import compile_in_background
from brim.rules.compiled import LIMIT, RuleReader
from brim.rules.fitting import Budget, vocabulary_of
from brim.rules.languages import language_of
from brim.rules.situation import Situation, commands_in, named_paths
from brim.rules.source import RuleSource, sources_for

LONGEST = 4_000
"""Characters of a path, and at either end of a prompt or command, that are looked at: a pasted log
says nothing about the task."""
VOCABULARY = "vocabulary"
"""Kept for a session: the version of brim, the model, and what ``vocabulary_of`` said of it."""
CHECKING = (BEFORE_TOOL, STOP, SUBAGENT_STOP)
"""The events at which calls are compared with rules."""
MOST_FILES = 20
"""Files of one call that are looked at."""


def rules_of(call: HookCall, workspace: HookWorkspace) -> RuleReader | None:
    """Return the rules that count for *call*; None where brim isn't set up."""
    if workspace.rules is None and os.path.isdir(workspace.home):
        workspace.rules = RuleReader(
            workspace.home,
            _sources(call, workspace),
            limit=LIMIT,
            in_background=_compile_later,
            needs_checks=call.event in CHECKING,
        )
    return workspace.rules


def _compile_later(sources: list[RuleSource]) -> None:
    compile_in_background(sources)  # few hooks load it


def _sources(call: HookCall, workspace: HookWorkspace) -> list[RuleSource]:
    folder = call.cwd or workspace.cwd
    touched = [os.path.join(folder, "any file")]
    for path in (*files_of(call), *named_paths(_ends(call.prompt))):
        touched.append(os.path.join(folder, path))
    loading = call.agent.file_loading(workspace.environ, workspace.project or folder, folder)
    return sources_for(
        workspace.home,
        workspace.project,
        agent=loading,
        touched=touched,
        user_files=unloaded_rule_files(call.agent, workspace.environ),
        loaded_files=loaded_rule_files(call.agent, workspace.environ),
    )


def situation_of(call: HookCall, workspace: HookWorkspace) -> Situation:
    """Return what *call* and its workspace say: a prompt's words, or a pending call's."""
    branch = ""
    if workspace.project is not None:
        branch = branch_of(workspace.project)
    environments = environments_of(workspace)
    if call.event == PROMPT:
        return Situation(prompt=_ends(call.prompt), branch=branch, environments=environments)
    if call.event == SESSION_START:
        return Situation(branch=branch, environments=environments)
    tool = call.tool
    commands: tuple[tuple[str, ...], ...] = ()
    if tool.command:
        commands = commands_in(tool.command)
    written = ""
    if tool.changes_files:
        written = _ends(tool.patch or tool.text)
    return Situation(
        paths=tuple([_inside_project(path, call, workspace) for path in files_of(call)]),
        command=_ends(tool.command),
        commands=commands,
        written=written,
        branch=branch,
        environments=environments,
    )


def environments_of(workspace: HookWorkspace) -> tuple[str, ...]:
    """Return ``ci`` if a build server has set ``CI``."""
    if workspace.environ.get("CI", "").lower() in ("", "0", "false", "no", "off"):
        return ()
    return ("ci",)


def files_of(call: HookCall) -> list[str]:
    """Return the files that a call reads or changes. A folder isn't one; a glob pattern stands for
    its files."""
    files = list(call.tool.files)
    if call.tool.kind == "search":
        files = [file for file in (*call.tool.patterns, *files) if language_of(file)]
    return [file for file in files if len(file) <= LONGEST and "\0" not in file][:MOST_FILES]


def _inside_project(path: str, call: HookCall, workspace: HookWorkspace) -> str:
    """Return *path* as seen from the project; a path outside of it as it is."""
    if workspace.project is None:
        return path
    full_path = os.path.normpath(os.path.join(call.cwd or workspace.cwd, path))
    for real_or_named in (full_path, os.path.realpath(full_path)):
        if real_or_named.startswith(workspace.project + os.sep):
            return real_or_named[len(workspace.project) + 1 :].replace(os.sep, "/")
    return path


def _ends(text: str) -> str:
    """Return both ends of a long *text*."""
    if len(text) <= 2 * LONGEST:
        return text
    return f"{text[:LONGEST]}\n{text[-LONGEST:]}"


def budget_of(call: HookCall, workspace: HookWorkspace, room: Room) -> Budget:
    """Return *room* in tokens of the agent's model."""
    encoding, ratio = _vocabulary(call, workspace)
    return Budget(room.tokens, max(0, room.chars), encoding, ratio)


def _vocabulary(call: HookCall, workspace: HookWorkspace) -> tuple[str, float]:
    """Return the vocabulary of the agent's model and its ratio. They're kept for the session, so
    that not every hook loads the table of models; a person's own models may change."""
    model = model_of(call, workspace)
    if not call.session or workspace.config.yours["models"]:
        return vocabulary_of(model)
    state = workspace.state(call.session)
    found_for = [__version__, model]
    vocabulary = state.kept(VOCABULARY)
    if isinstance(vocabulary, list) and vocabulary[:2] == found_for:
        return vocabulary[2], vocabulary[3]
    encoding, ratio = vocabulary_of(model)
    state.keep(VOCABULARY, [*found_for, encoding, ratio])
    return encoding, ratio
