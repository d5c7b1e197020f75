"""Package managers: which calls of each a rule against it means."""

from __future__ import annotations

from collections.abc import Iterable

from brim.rules.checks.check import RuleCheck

NODE = ("npm", "pnpm", "yarn", "bun")
PYTHON = ("pip", "uv", "poetry", "pipenv", "pdm")

_SCRIPTS = "run|test|start|exec|dev|build"
_CALLS = {
    "npm": (
        (f"npm install|ci|update|uninstall|{_SCRIPTS}",),
        "npm install, i, add, ci, update, uninstall, run and test",
    ),
    "pnpm": (
        (f"pnpm install|add|update|remove|{_SCRIPTS}",),
        "pnpm install, i, add, update, remove, run and test",
    ),
    "yarn": (
        ("yarn $", f"yarn install|add|upgrade|remove|{_SCRIPTS}"),
        "yarn, yarn install, add, remove, run and test",
    ),
    "bun": (
        (f"bun install|add|update|remove|{_SCRIPTS}",),
        "bun install, i, add, update, remove, run and test",
    ),
    "pip": (("pip install|uninstall",), "pip install and uninstall"),
    "uv": (("uv add|sync|remove", "uv pip install"), "uv add, sync, remove and uv pip install"),
    "poetry": (("poetry install|add|update|remove",), "poetry install, add, update and remove"),
    "pipenv": (("pipenv install|uninstall|sync",), "pipenv install, uninstall and sync"),
    "conda": (
        ("conda install|create|update|remove|env",),
        "conda install, create, update, remove and env",
    ),
    "pdm": (("pdm install|add|update|remove",), "pdm install, add, update and remove"),
}
"""The calls of a package manager that do its work, and their words."""


def is_manager(command: str) -> bool:
    """Whether *command* is a package manager, without arguments."""
    return command.lower() in _CALLS


def check_against(managers: Iterable[str], accepted: Iterable[str]) -> RuleCheck:
    """Return the check against *managers*: it lets them install an accepted one."""
    calls: list[str] = []
    wording: list[str] = []
    passes: list[str] = []
    for manager in managers:
        name = manager.lower()
        patterns, words = _CALLS[name]
        calls += patterns
        wording.append(words)
        for command in accepted:
            program = command.split()[0]
            passes.append(f"{name} install {program}|{program}@*")
    return RuleCheck(
        name="package-manager",
        calls=tuple(calls),
        passes=tuple(passes),
        wording="; ".join(wording),
    )


def siblings(names: set[str]) -> list[str]:
    """Return the other managers of the same language as *names*; none if that isn't clear."""
    for family in (NODE, PYTHON):
        if names <= set(family):
            return [name for name in family if name not in names]
    return []
