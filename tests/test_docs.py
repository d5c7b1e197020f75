"""Everything that the documentation shows runs as it stands, and prints what it says."""

from __future__ import annotations

import doctest
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import brim

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
MODULES = sorted(module.name for module in pkgutil.walk_packages(brim.__path__, "brim."))
LINKS = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_python_examples_give_what_they_show(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    found = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE, encoding="utf-8"
    )
    assert found.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_give_what_they_show(name: str) -> None:
    assert doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def console_examples(page: Path) -> list[tuple[str, str]]:
    """Return command and expected output of each ``$`` line in a console block."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = example.partition("\n")
            found.append((command, output.rstrip()))
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if console_examples(page)], ids=named)
def test_commands_print_what_they_show(page: Path, tmp_path: Path) -> None:
    """A page is followed from its top to its end, by somebody who has never used brim, in a copy of the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
    }
    for command, output in console_examples(page):
        answer = subprocess.run(
            ["sh", "-c", f"{command} 2>&1"],
            cwd=tmp_path / "examples",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = answer.stdout.replace(f"{tmp_path}/home", "~").rstrip()
        assert [line.rstrip() for line in said.split("\n")] == output.split("\n"), command


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [link for link in LINKS.findall(text) if not (page.parent / link).exists()] == []


def test_the_index_lists_every_page_and_names_every_package() -> None:
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in docs.glob("*.md")} - {"README.md"}
    packages = {f"brim.{module.name}" for module in pkgutil.iter_modules(brim.__path__) if module.ispkg}
    assert pages - set(LINKS.findall(index)) == set()
    assert packages - set(re.findall(r"`(brim\.\w+)`", index)) == set()
