"""The public conformance suite for servers, if it is here: npm has it, and it needs Node 22."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
INSTALLED = ROOT / ".e2e" / "node_modules" / ".bin" / "conformance"

APPLIES = {
    "server-initialize",
    "ping",
    "completion-complete",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "server-sse-multiple-streams",
    "resources-list",
    "resources-read-text",
    "resources-templates-read",
    "prompts-list",
    "dns-rebinding-protection",
}
"""The scenarios about what this server has. The others want prompts, images, audio, sampling and
the like."""


def suite() -> list[str]:
    """Return the command of the suite: what ``BRIM_CONFORMANCE`` says, else what was installed for
    the e2e tests."""
    named = os.environ.get("BRIM_CONFORMANCE", "")
    return shlex.split(named) or ([str(INSTALLED)] if INSTALLED.exists() else [])


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int) -> None:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)


def test_every_scenario_that_applies_is_passed() -> None:
    command = suite()
    if not command:
        pytest.skip("the conformance suite is not here: BRIM_CONFORMANCE may say how it is run")
    port = free_port()
    server = subprocess.Popen([sys.executable, "-m", "tests.mcp.conformance", str(port)], cwd=ROOT)
    try:
        wait_for(port)
        url = f"http://127.0.0.1:{port}/mcp"
        ran = subprocess.run(
            [*command, "server", "--url", url],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        server.terminate()
        server.wait(timeout=300)
    said = re.sub(r"\x1b\[[0-9;]*m", "", ran.stdout)
    passed = {
        name
        for name, failed in re.findall(r"^✓ ([\w-]+): \d+ passed, (\d+) failed", said, re.M)
        if failed == "0"
    }
    assert passed >= APPLIES, said[-3_000:]
