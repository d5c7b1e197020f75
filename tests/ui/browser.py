"""A real browser: a chromium that is on this machine, or the one that ``make e2e`` installed,
driven by Playwright.

``python -m tests.ui.browser`` says in one line if there is none.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

INSTALLED = Path(__file__).parents[2] / ".e2e" / "browser" / "chromium"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    "--renderer-process-limit=1",  # a process per tab takes more memory
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-dev-shm-usage",
        "--no-zygote",
    ),
)
MISSING = "Left out: the tests in a real browser. `make e2e` installs one and runs them."


def chromium(environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the browser: the one that ``BRIM_E2E_CHROMIUM`` names, one on the PATH, or the
    installed one."""
    if named := environ.get("BRIM_E2E_CHROMIUM"):
        return named
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found or (str(INSTALLED) if INSTALLED.exists() else None)


@contextmanager
def browser() -> Iterator[Browser]:
    """Start the browser."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield found
        found.close()


if __name__ == "__main__" and chromium() is None:
    print(MISSING)
    sys.exit(1)
