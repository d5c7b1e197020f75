"""The person's own command (the setting ``notify``), run at 80% of a limit and at the limit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping


def notify(command: str | None, text: str, *, reached: bool, environ: Mapping[str, str]) -> None:
    """Run a person's *command* for *text*, which it finds in ``BRIM_TEXT``, and don't wait for
    it."""
    if not command:
        return
    kind = "limit" if reached else "warning"
    variables = {**environ, "BRIM_TEXT": text, "BRIM_NOTICE": kind}
    if not hasattr(os, "posix_spawn"):
        # The command is the person's own.
        subprocess.Popen(command, shell=True, env=variables, stdin=subprocess.DEVNULL)  # noqa: S602
        return
    null = os.open(os.devnull, os.O_RDWR)
    try:
        quiet = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
        os.posix_spawn("/bin/sh", ["sh", "-c", command], variables, file_actions=quiet, setpgroup=0)
    finally:
        os.close(null)
