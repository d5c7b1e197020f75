"""Rules in the files that the commands read, written as a person would."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from brim.rules.file import RulesFile
from brim.rules.paragraphs import paragraph_of
from brim.rules.reading import RulesText, read_rules
from tests.cli.conftest import Brim

FRAME = "Rules your user set, kept by brim:\n"
"""What stands above the rules."""


def rules_path(brim: Brim, place: str = "user") -> Path:
    """Return the rules file of *place*; with ``project`` the working folder becomes one."""
    if place == "project":
        (brim.cwd / ".git").mkdir(exist_ok=True)
    folder = brim.cwd if place == "project" else brim.home
    return folder / ".brim" / "rules.toml"


def write_rule(brim: Brim, name: str, text: str, place: str = "user", **fields: object) -> None:
    """Write a rule into the file of *place*."""
    path = rules_path(brim, place)
    path.parent.mkdir(exist_ok=True, mode=0o700)
    content = path.read_text("utf-8") if path.exists() else ""
    paragraph = paragraph_of(name, {"text": text, **fields})
    path.write_text(f"{content}\n{paragraph}".lstrip("\n"), encoding="utf-8")


def rules_in(brim: Brim, place: str = "user") -> RulesText:
    """Return what the file of *place* says."""
    path = rules_path(brim, place)
    return read_rules(path.read_text("utf-8") if path.exists() else "")


def texts(brim: Brim, place: str = "user") -> list[str]:
    """Return the texts of the rules of *place*, in their order."""
    return [rule.text for rule in rules_in(brim, place).rules]


def editor(brim: Brim, code: str) -> dict[str, str]:
    """Return an environment whose editor runs *code* on the ``text`` of the file."""
    script = brim.home / "editor.py"
    script.write_text(
        "import sys\npath = sys.argv[1]\ntext = open(path, encoding='utf-8').read()\n"
        f"{code}\nopen(path, 'w', encoding='utf-8').write(text)\n"
    )
    words = shlex.join([sys.executable, str(script)])
    return {"EDITOR": words, "VISUAL": "", "TMPDIR": str(brim.home)}


def rules_file(brim: Brim, place: str = "user") -> RulesFile:
    """Return the file of *place*."""
    return RulesFile(str(rules_path(brim, place)))
