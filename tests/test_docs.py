"""Everything that the documentation shows runs as it stands, and prints what it says."""

from __future__ import annotations

import doctest
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import pytest

import brim
from tests.adapters.contract import program
from tests.forks import server

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
EXAMPLES = [
    path
    for path in sorted(Path(brim.__file__).parent.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]
"""The modules whose docstrings show examples."""
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


@pytest.mark.parametrize("path", EXAMPLES, ids=named)
def test_docstring_examples_give_what_they_show(path: Path) -> None:
    module = import_module(
        ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    )
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert (found.failed, found.attempted > 0) == (0, True)


def test_every_adapter_has_a_page_with_a_program() -> None:
    folder = ROOT / "src" / "brim" / "adapters"
    adapters = {path.stem for path in folder.glob("*.py")} - {"__init__", "bodies", "guards"}
    adapters -= {path.stem for path in folder.glob("litellm_*.py")}  # these have docs/team.md
    assert {page.stem for page in (ROOT / "docs" / "adapters").glob("*.md")} == adapters
    for name in adapters:
        compile(program(name), f"{name}.md", "exec")  # make adapters runs them


def test_every_measured_table_is_there_and_can_be_measured_again() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "bench").glob("*.py"))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        found = re.findall(
            r"^<!-- bench: ([^\n]+) -->\n(.*?)^<!-- end -->$", text, re.DOTALL | re.MULTILINE
        )
        assert len(found) == text.count("<!-- bench: ")
        for name, shown in found:
            assert f'"{name}": ' in sources, f"{named(page)}: no benchmark writes {name!r}"
            assert shown.strip(), (
                f"{named(page)}: {name!r} is empty; scripts/bench --write fills it"
            )


def console_blocks(page: Path) -> list[str]:
    return re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def real_block(block: str, folder: Path) -> str:
    """Return a console block with the output that its commands really have, run one after the other
    in *folder*."""
    environment = {
        "PATH": os.pathsep.join(
            [server().folder, str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
        "HOME": str(folder / "home"),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
    }
    shown, *examples = re.split(r"^\$ ", block, flags=re.MULTILINE)
    for example in examples:
        command = example.partition("\n")[0]
        answer = subprocess.run(
            ["sh", "-c", f"{command} 2>&1"],
            cwd=folder / "examples",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = answer.stdout.replace(f"{folder}/home", "~").rstrip()
        lines = [f"$ {command}", *(line.rstrip() for line in said.split("\n") if said)]
        shown += "\n".join([*lines, *[""] * (1 + example.endswith("\n\n"))])
    return shown


@pytest.mark.parametrize("page", [page for page in PAGES if console_blocks(page)], ids=named)
def test_commands_print_what_they_show(page: Path, tmp_path: Path) -> None:
    """A new user follows a page from top to bottom, in a copy of the examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in console_blocks(page):
        assert real_block(block, tmp_path) == block


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [link for link in LINKS.findall(text) if not (page.parent / link).exists()] == []


def test_the_index_lists_every_page_and_names_every_package() -> None:
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    pages = {
        str(page.relative_to(docs))
        for page in docs.rglob("*.md")
        if page.parent.name != "decisions"
    } - {"README.md"}
    packages = {
        f"brim.{module.name}"
        for module in pkgutil.iter_modules(brim.__path__)
        if module.ispkg and module.name != "_startup"
    }
    assert pages - set(LINKS.findall(index)) == set()
    assert packages - set(re.findall(r"`(brim\.\w+)`", index)) == set()


FETCHED = re.compile(r"<(?:script|img|link)\b[^>]*?\s(?:src|href)=[\"']?((?:https?:)?//[^\s\"'>]+)")


def test_the_site_builds_strictly_and_fetches_nothing_from_elsewhere(tmp_path: Path) -> None:
    words = [sys.executable, "scripts/build_site.py", str(tmp_path / "made")]
    built = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    made = sorted((tmp_path / "made" / "site").rglob("*.html"))
    assert [
        (page.name, FETCHED.findall(page.read_text("utf-8")))
        for page in made
        if FETCHED.search(page.read_text("utf-8"))
    ] == []
    site = tmp_path / "made" / "site"
    addresses = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text("utf-8"))
    assert len(addresses) > 30
    assert [address for address in addresses if not (site / address).is_file()] == []
    home = (site / "index.html").read_text("utf-8")
    assert f"brim {brim.__version__}" in home
    assert "brim.gif" in home
    nav = set(re.findall(r'"([^"]+\.md)"', (ROOT / "zensical.toml").read_text("utf-8")))
    pages = {
        str(page.relative_to(tmp_path / "made" / "docs"))
        for page in (tmp_path / "made" / "docs").rglob("*.md")
    }
    assert nav == pages  # the left side of the site names every page


def refresh() -> None:
    """Rewrite the output below each ``$ command`` of README and docs from a real run."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "examples", Path(folder) / "examples")
            for block in console_blocks(page):
                text = text.replace(
                    f"```console\n{block}```",
                    f"```console\n{real_block(block, Path(folder))}```",
                    1,
                )
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    refresh()
