"""Behaviors in the files that the command reads, written as the library writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from brim.rules.library_rule import Rule
from tests.cli.conftest import Brim
from tests.cli.written import write_rule

FRAME = "Rules your user set, kept by brim:\n"
"""What stands above the rules."""


def behavior(id: str, kind: str = "directive", text: str = "", **fields: Any) -> Rule:
    """A behavior whose name is ``name-ID`` and whose text says which one it is."""
    fields = {"name": f"name-{id}", **fields}
    return Rule(id=id, kind=kind, canonical=text or f"The whole text of {id}.", **fields)


def file_of(brim: Brim, scope: str = "user") -> Path:
    """Where the file of *scope* is."""
    return (brim.home if scope == "user" else brim.cwd) / ".brim" / "brim.db"


def remember(brim: Brim, *behaviors: Rule, scope: str = "user") -> None:
    """Write *behaviors* into the rules file of *scope*; the project's makes the working folder a
    project."""
    for each in behaviors:
        fields: dict[str, object] = {"tags": list(each.tags)}
        if each.kind != "directive":
            fields["kind"] = each.kind.value
        if each.summary:
            fields["summary"] = each.summary
        write_rule(brim, each.name, each.canonical, scope, **fields)
