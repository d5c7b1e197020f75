"""``/learn`` inside an agent: a small file per client that lets a person teach a rule without leaving the session.

Each is written whole and noted in the receipt like a settings file. One that a person wrote or changed stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from brim.files import data_file
from brim.install.agents import Target, agent_folder, brim_program
from brim.install.changes import COMMAND, Change, digest, missing_folder
from brim.install.receipt import Record
from brim.install.shell import program_in

FILES = {
    "claude": "commands/learn.md",
    "codex": "skills/learn/SKILL.md",
    "gemini": "commands/learn.toml",
    "opencode": "command/learn.md",
}
"""Where each client reads it, below its folder. Codex has skills in place of commands: ``$learn``."""

CALLED = {"claude": "/learn", "codex": "$learn", "gemini": "/learn", "opencode": "/learn"}
"""What a person types."""

_ABOUT = "Teach a rule that brim keeps and tells your agents when it matters"

_TEXTS = {
    "claude": "---\ndescription: {about}\nargument-hint: [rule]\nallowed-tools: {allowed}\n---\n{task}",
    "codex": "---\nname: learn\ndescription: {about}. For $learn, or when asked to keep a rule.\n---\n{task}",
    "gemini": "description = \"{about}\"\nprompt = '''\n{task}'''\n",
    "opencode": "---\ndescription: {about}\n---\n{task}",
}
_RULES = {
    "claude": "$ARGUMENTS",
    "codex": "what the user wrote with $learn.",
    "gemini": "{{args}}",
    "opencode": "$ARGUMENTS",
}


def command_text(agent: str, program: str = "brim") -> str:
    """Return the file for *agent*; *program* is brim, as the shell finds it."""
    task = data_file(__file__, "learn.md").decode().replace("{rule}", _RULES[agent])
    is_found = program == "brim"
    task = task.replace("{where}", "" if is_found else f"If the shell doesn't find brim, it is {program}. ")
    allowed = "Bash(brim learn:*)" if is_found else f"Bash(brim learn:*), Bash({program} learn:*)"
    return _TEXTS[agent].replace("{about}", _ABOUT).replace("{allowed}", allowed).replace("{task}", task)


def command_target(agent: str, environ: Mapping[str, str]) -> Target:
    """Return the file of ``/learn`` for *agent*, in the user's folder."""
    return Target(f"{agent}{COMMAND}", "user", os.path.join(agent_folder(agent, environ), *FILES[agent].split("/")))


def plan_command(target: Target, before: str | None, record: Record | None) -> Change | None:
    """Return how *target* gets the command; None if there is a file that isn't brim's, or was changed since."""
    if before is not None and (record is None or record.installed != digest(before)):
        return None
    agent = target.agent.removesuffix(COMMAND)
    text = command_text(agent, program_in(agent, brim_program()))
    folder = record.folder if record is not None else _new_folder(target)
    made = Record(target.agent, "user", original=None, installed=digest(text), folder=folder)
    return Change(target, before, text, made)


def _new_folder(target: Target) -> str:
    """Return the uppermost folder that goes with the command: one that is missing or, after a crash, empty."""
    if missing := missing_folder(target.path):
        return missing
    name = FILES[target.agent.removesuffix(COMMAND)]
    top = os.path.realpath(target.path).removesuffix(name.replace("/", os.sep)) + name.split("/")[0]
    return "" if any(files for _, _, files in os.walk(top)) else top
