"""Hooks that a running server answers, so that no process of Python has to start.

For such an event the settings hold two hooks: one calls the server's tool, the other a script that starts the process
only if no server has said that it is there for this session. A server says so by a file named after the session, with
its process id in it; one that was killed leaves the file, but not the process.
"""

from __future__ import annotations

import os
import shlex

FOLDER, EVENTS, VARIABLE = "resident", "events", "BRIM_UNLESS_RESIDENT"

RESIDENT_LAUNCHER = "hook-unless-resident"

COMMON = ("session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "agent_id")
FIELDS = {
    "UserPromptSubmit": (*COMMON, "prompt"),
    "PreToolUse": (*COMMON, "tool_name", "tool_input", "tool_use_id"),
    "PostToolUse": (*COMMON, "tool_name", "tool_input", "tool_response", "tool_use_id"),
    "Stop": (*COMMON, "stop_hook_active"),
}
"""What the server is told of each event; the client fills the fields in."""


def resident_text(launcher: str, home: str) -> str:
    """Return the script that runs *launcher* unless a server answers for the session."""
    folder = shlex.quote(os.path.join(os.path.abspath(home), FOLDER))
    return (
        "#!/bin/sh\n"
        f'{{ read -r pid <{folder}/"$CLAUDE_CODE_SESSION_ID" && kill -0 "$pid"; }} 2>/dev/null && exit 0\n'
        f'{VARIABLE}=1 {shlex.quote(launcher)} "$@"\n'
        "exit 0\n"
    )


def announce(home: str, session: str, pid: int | None = None) -> str:
    """Say that the process *pid* (default: this one) answers the hooks of *session*; return the file that says so.

    Nothing that fails here fails loudly: then the process hook answers too.
    """
    from brim._atomic import replace_file
    from brim.hooks.session import file_id

    path = os.path.join(home, FOLDER, file_id(session))
    try:
        if not session or file_id(session) != session or not os.path.isdir(home):
            return ""
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        _sweep(os.path.dirname(path))
        replace_file(path, f"{pid or os.getpid()}\n".encode(), durable=False)
    except OSError:
        return ""
    return path


def _sweep(folder: str) -> None:
    """Remove what servers left that were killed."""
    for name in os.listdir(folder):
        if name == EVENTS:
            continue
        path = os.path.join(folder, name)
        try:
            with open(path, encoding="ascii") as file:
                os.kill(int(file.read(20)), 0)
        except (ProcessLookupError, ValueError):
            withdraw(path)
        except OSError:  # it is another user's, or is gone already
            continue


def withdraw(path: str) -> None:
    """Take back what ``announce`` said."""
    try:
        if path:
            os.unlink(path)
    except OSError:
        return
