"""When does Claude Code compact on its own, and what does it call full?

It keeps up to 20,000 tokens of the window for an answer, and its "88% context used" is of the rest.
It compacts 13,000 tokens before that, but some models only when the provider refuses a prompt as
too long, unless a setting names a window to compact in. All of this is as Claude Code 2.1.325 does
it; tests/e2e/test_auto_compact.py asks the installed one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from brim.config.places import home_folder
from brim.sessions.window.windows import AutoCompact

ANSWER = 20_000
MARGIN = 13_000
"""Tokens that are kept for an answer, and that are left when it compacts."""

LEAST = 100_000
MOST = 1_000_000
"""Tokens of a window to compact in; what a settings file says beyond these is ignored."""

WAITING = (
    "claude-haiku-4-5",
    "claude-opus-4-5",
    "claude-sonnet-4-5",
    "claude-sonnet-4-2",
    "claude-opus-4-2",
)
"""How the ids begin of models that aren't compacted before the provider refuses; nor are those that
end in ``[1m]``."""

MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
"""Where an administrator's settings are, on Linux and macOS."""

LARGEST = 8 << 20
"""Bytes of a settings file that are read."""

_WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
_SHARE = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
_TRUE = ("1", "true", "yes", "on")


def auto_compact(
    model: str,
    window: int,
    environ: Mapping[str, str],
    *,
    folder: str = "",
    command: Sequence[str] = (),
) -> AutoCompact | None:
    """Return where Claude Code compacts *model*'s *window*; None where that can't be known.

    *folder* is the session's project, *command* what the client was started with, as far as that's
    known.
    """
    files = _settings(environ, folder)
    if (
        files is None
        or window <= ANSWER
        or model.startswith("claude-3")
        or _option(command, "--settings")
    ):
        return None
    for settings_file in reversed(files):
        variables = settings_file.get("env")
        if isinstance(variables, dict):  # the client adds them to its own
            environ = {**environ, **{name: str(value) for name, value in variables.items()}}
    if not _is_on(files, environ):
        return AutoCompact(window - _reserve(environ), off=True)
    asked = _asked(files, environ, model, command)
    if asked is None:
        return None
    usable = min(asked or window, window) - _reserve(environ)
    if not asked and (model.startswith(WAITING) or model.endswith("[1m]")):
        return AutoCompact(usable)
    share = _number(environ.get(_SHARE, ""))
    at = usable - MARGIN
    return AutoCompact(
        usable, max(0, min(at, int(usable * share / 100)) if 0 < share <= 100 else at)
    )


def client_command() -> list[str]:
    """Return the arguments of the processes that started this one; none where the system doesn't
    show them."""
    words: list[str] = []
    try:
        process = os.getppid()
        for _ in range(4):
            # The launcher, perhaps a shell around it, the client, perhaps a script that starts it.
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words += os.fsdecode(file.read(65_536)).split("\0")
            with open(f"/proc/{process}/stat", "rb") as file:
                process = int(file.read(4_096).rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        pass
    return words


def _asked(
    files: list[dict[str, Any]], environ: Mapping[str, str], model: str, command: Sequence[str]
) -> int | None:
    """Return the window that a setting asks to compact in, 0 if none does; None if that can't be
    told."""
    if wanted := _number(environ.get(_WINDOW, "")):
        return int(max(wanted, LEAST))
    if option := _option(command, "--autocompact"):
        wanted = _number(option)  # 200 is short for 200k, auto for no setting
        if 0 < wanted < 1_001:
            wanted *= 1_000
        return int(wanted)
    for settings_file in files:
        for_model = _window_for(model, settings_file.get("modelSettings"))
        if for_model is None or for_model:
            return for_model
        for_all = _window_in(settings_file)
        if for_all:
            return for_all
    return 0


def _window_for(model: str, by_model: object) -> int | None:
    """Return the window in the settings *by_model*, 0 if none is for *model*; None if one may
    be."""
    if not isinstance(by_model, dict):
        return 0
    for name, values in by_model.items():
        wanted = _window_in(values)
        if not wanted:
            continue
        if not name.startswith("claude-") and name in model:
            return None  # which model an alias means is the client's to know
        if _undated(name) == _undated(model):
            return wanted
    return 0


def _window_in(values: object) -> int:
    wanted = None
    if isinstance(values, dict):
        wanted = values.get("autoCompactWindow")
    if type(wanted) is int and LEAST <= wanted <= MOST:
        return wanted
    return 0


def _is_on(files: list[dict[str, Any]], environ: Mapping[str, str]) -> bool:
    if any(
        environ.get(name, "").lower() in _TRUE
        for name in ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")
    ):
        return False
    answers = [
        settings_file["autoCompactEnabled"]
        for settings_file in files
        if isinstance(settings_file.get("autoCompactEnabled"), bool)
    ]
    if answers:
        return bool(answers[0])
    # Its own notes, where /config has kept this: not parsed, since they may be long.
    own = os.path.join(environ.get("CLAUDE_CONFIG_DIR") or home_folder(environ), ".claude.json")
    try:
        with open(own, "rb") as file:
            notes = file.read(LARGEST)
    except OSError:
        return True
    return (
        b'"autoCompactEnabled": false' not in notes and b'"autoCompactEnabled":false' not in notes
    )


def _settings(environ: Mapping[str, str], folder: str) -> list[dict[str, Any]] | None:
    """Return the settings files that are there, the strongest first; None if one can't be read."""
    user = os.path.join(
        environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home_folder(environ), ".claude"),
        "settings.json",
    )
    own = []
    if folder:
        own = [os.path.join(folder, ".claude", f"settings{name}.json") for name in (".local", "")]
    settings = []
    for path in (*MANAGED, *own, user):
        try:
            with open(path, "rb") as file:
                values = json.loads(file.read(LARGEST))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(values, dict):
            return None
        settings.append(values)
    return settings


def _option(command: Sequence[str], name: str) -> str:
    """Return the value of the option *name* in *command*, empty if it isn't there."""
    for at, word in enumerate(command):
        if word == name:
            if at + 1 < len(command):
                return command[at + 1]
            return ""
        if word.startswith(f"{name}="):
            return word[len(name) + 1 :]
    return ""


def _reserve(environ: Mapping[str, str]) -> int:
    limit = _number(environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", ""))
    if limit > 0:
        return min(ANSWER, int(limit))
    return ANSWER


def _number(text: str) -> float:
    """Return the number that *text* is, such as ``400000`` or ``400k``; 0 if it's something
    else."""
    text = text.strip().lower()
    unit = {"k": 1e3, "m": 1e6}.get(text[-1:], 1.0)
    try:
        number = float(text.rstrip("km")) * unit
    except ValueError:
        return 0.0
    if 0 < number < 1e12:
        return number
    return 0.0


def _undated(model: str) -> str:
    """Return the id of *model* without a date at its end."""
    name, _, date = model.rpartition("-")
    if len(date) == 8 and date.isdigit():
        return name
    return model
