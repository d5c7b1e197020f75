"""The programs in docs/adapters: one on each page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.adapters.model import Model

PAGES = Path(__file__).parents[2] / "docs" / "adapters"


def program(page: Path) -> str:
    """Return the only Python block of a page."""
    (found,) = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(found)


def run(name: str, model: Model, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Run the program of a page in *folder*, with *model* in place of the provider's."""
    for provider, url in (("OPENAI", f"{model.url}/v1"), ("ANTHROPIC", model.url)):
        monkeypatch.setenv(f"{provider}_BASE_URL", url)
        monkeypatch.setenv(f"{provider}_API_KEY", "none")
    page = PAGES / f"{name}.md"
    monkeypatch.chdir(folder)
    exec(compile(program(page), str(page), "exec"), {"__name__": "__main__"})
