"""Which version of an agent is here, and was brim tested with it?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from brim.agents.settings import settings_for

SECONDS = 10
"""For a program that prints its version; a busy machine may take a few."""
_VERSION = re.compile(r"\b\d{1,9}\.\d{1,9}(?:\.\d{1,9})?")


def versions_here(agents: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the version of each of *agents* whose program is on the PATH and says it."""
    names = list(agents)
    with ThreadPoolExecutor(max_workers=len(names) or 1) as pool:
        versions = list(pool.map(lambda name: _version_of(name, environ), names))
    return {name: version for name, version in zip(names, versions, strict=True) if version}


def _version_of(agent: str, environ: Mapping[str, str]) -> str:
    """Return what the program of *agent* calls its version; empty if it doesn't say."""
    program = shutil.which(agent, path=environ.get("PATH", os.defpath))
    if program is None:
        return ""
    try:
        ran = subprocess.run(  # noqa: S603 - the person's own program, which they start by its name
            [program, "--version"],
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    match = _VERSION.search(ran.stdout)
    return match[0] if match else ""


def untested(agent: str, version: str) -> str:
    """Say why brim wasn't tested with this *version* of *agent*; empty if it was.

    A version between two that were tested counts as one of them.
    """
    tested = settings_for(agent).tested
    if not tested or not version:
        return ""
    oldest, newest = tested[0], tested[-1]
    if _numbers(version) > _numbers(newest):
        return f"newer than {newest}, the newest that brim was tested with"
    if _numbers(version) < _numbers(oldest):
        return f"older than {oldest}, the oldest that brim was tested with"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple([int(part) for part in version.split(".")])
