"""``/learn`` inside an agent: a small file per client that lets a person teach a rule without leaving the session.

Each is written whole and noted in the receipt like a settings file. One that a person wrote or changed stays as it is.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping

from brim.install.agents import Target, brim_program, user_target
from brim.install.changes import COMMAND, Change, digest, missing_folder
from brim.install.receipt import Record

FILES = {"claude": "commands/learn.md", "codex": "skills/learn/SKILL.md", "gemini": "commands/learn.toml"}
"""Where each client reads it, below the folder of its settings. Codex has skills in place of commands: ``$learn``."""

CALLED = {"claude": "/learn", "codex": "$learn", "gemini": "/learn"}
"""What a person types."""

_ABOUT = "Teach a rule that brim keeps and tells your agents when it matters"

_TASK = """Keep a rule for the user with brim. The rule: {rule}

If that is empty, take what the user corrected last in this conversation, say it in one sentence, and ask before you \
keep it.

Run this command with the rule's text between the two lines, word for word, and nothing else:

brim learn - <<'BRIM_RULE'
(the rule)
BRIM_RULE

If the shell doesn't find brim, it is {program}. Add --user if the user wants it in every project. Then show what the \
command printed. If it says that the rule \
conflicts with another one, ask the user which one holds; `brim learn --replaces RULE` puts the other away.
"""

_TEXTS = {
    "claude": (
        "---\ndescription: {about}\nargument-hint: [rule]\n"
        "allowed-tools: Bash(brim learn:*), Bash({program} learn:*)\n---\n{task}"
    ),
    "codex": "---\nname: learn\ndescription: {about}. For $learn, or when asked to keep a rule.\n---\n{task}",
    "gemini": "description = \"{about}\"\nprompt = '''\n{task}'''\n",
}
_RULES = {"claude": "$ARGUMENTS", "codex": "what the user wrote with $learn.", "gemini": "{{args}}"}


def command_text(agent: str) -> str:
    """Return the file for *agent*."""
    task = _TASK.replace("{rule}", _RULES[agent])
    text = _TEXTS[agent].replace("{about}", _ABOUT).replace("{task}", task)
    return text.replace("{program}", shlex.quote(brim_program()))


def command_target(agent: str, environ: Mapping[str, str]) -> Target:
    """Return the file of ``/learn`` for *agent*, in the user's folder."""
    folder = os.path.dirname(user_target(agent, environ).path)
    return Target(f"{agent}{COMMAND}", "user", os.path.join(folder, *FILES[agent].split("/")))


def plan_command(target: Target, before: str | None, record: Record | None) -> Change | None:
    """Return how *target* gets the command; None if there is a file that isn't brim's, or was changed since."""
    if before is not None and (record is None or record.installed != digest(before)):
        return None
    text = command_text(target.agent.removesuffix(COMMAND))
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
