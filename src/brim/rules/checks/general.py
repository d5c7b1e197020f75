"""The general forms: never run ``C``, use ``C`` with ``--flag``, use A instead of B, never edit
PATH, run ``C`` before you finish."""

from __future__ import annotations

from collections.abc import Iterable

from brim.rules.checks.check import CREATE, TURN_END, RuleCheck
from brim.rules.checks.everyday import VERBS, acts_in_words, acts_of_verbs
from brim.rules.checks.invocation import program_name
from brim.rules.checks.names import globs_of
from brim.rules.checks.sentence import COMMAND, FLAG, PATH, Token
from brim.rules.checks.stance import DO, NO, rejected_objects

_NODE = ("npm", "pnpm", "yarn", "bun")
_PYTHON = ("pip", "uv", "poetry", "pipenv", "conda", "pdm")
_PACKAGE_CALLS = {
    "npm": (("npm install|ci|update|uninstall",), "npm install, i, add, ci, update and uninstall"),
    "pnpm": (("pnpm install|add|update|remove",), "pnpm install, i, add, update and remove"),
    "yarn": (("yarn $", "yarn install|add|upgrade|remove"), "yarn, yarn install, add and remove"),
    "bun": (("bun install|add|update|remove",), "bun install, i, add, update and remove"),
    "pip": (("pip install|uninstall",), "pip install and uninstall"),
    "uv": (("uv add|sync|remove", "uv pip install"), "uv add, sync, remove and uv pip install"),
    "poetry": (("poetry install|add|update|remove",), "poetry install, add, update and remove"),
    "pipenv": (("pipenv install|uninstall|sync",), "pipenv install, uninstall and sync"),
    "conda": (("conda install|create|update|remove",), "conda install, create and update"),
    "pdm": (("pdm install|add|update|remove",), "pdm install, add, update and remove"),
}
"""The calls of a package manager that change packages, and their words."""
_SPECIAL = frozenset("|<>&;!@=$(){}\"'")
_ABOUT_PACKAGES = ("PACKAGE", "INSTALL", "DEPENDENCY", "LANGPY", "PYTHON", "TYPESCRIPT", "TARGETS")
_ABOUT_TASKS = (*_ABOUT_PACKAGES, "TESTS", "LINTER", "FORMATTER", "BUILD", "TYPES", "EVERYTHING")


def general_checks(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return the checks that the sentence asks for in a general form."""
    if stance in (NO, DO):
        check = _pair(tokens) or _only_manager(tokens, stance)
        check = check or _command(tokens, stance) or _path(tokens, stance)
    else:
        check = _before(tokens, stance)
    if check is None:
        return []
    return [check]


def _consists_of(tokens: list[Token], *concepts: str) -> bool:
    return all(token.is_light or token.says(*concepts) for token in tokens)


def _commands_in(tokens: list[Token]) -> list[str]:
    """Return the commands among *tokens*; none if one of them isn't plain."""
    commands = [token.value for token in tokens if token.says(COMMAND)]
    if any(not _SPECIAL.isdisjoint(command) or "..." in command for command in commands):
        return []
    return commands


# Use A, not B -------------------------------------------------------------------------------------


def _pair(tokens: list[Token]) -> RuleCheck | None:
    """Return the check of *use A, not B* and *don't use B*, if B is a command."""
    if not _consists_of(tokens, COMMAND, *_ABOUT_TASKS):
        return None
    if any(token.says("ASK") for token in tokens):
        return None
    commands = _commands_in(tokens)
    rejected = [token.value for token in rejected_objects(tokens) if token.says(COMMAND)]
    accepted = [command for command in commands if command not in rejected]
    if not rejected or not commands or set(accepted) & set(rejected):
        return None
    managers = [command for command in rejected if command.lower() in _PACKAGE_CALLS]
    if len(managers) == len(rejected):
        return _against_managers(managers, accepted)
    if not accepted:
        return None
    return _against_commands(rejected, accepted)


def _against_managers(managers: Iterable[str], accepted: list[str]) -> RuleCheck:
    calls: list[str] = []
    wording: list[str] = []
    passes: list[str] = []
    for manager in managers:
        patterns, words = _PACKAGE_CALLS[manager.lower()]
        calls += patterns
        wording.append(words)
        for command in accepted:
            passes.append(f"{manager.lower()} install {command.split()[0]}|{command.split()[0]}@*")
    return RuleCheck(
        name="package-manager",
        calls=tuple(calls),
        passes=tuple(passes),
        wording="; ".join(wording),
    )


def _against_commands(rejected: list[str], accepted: list[str]) -> RuleCheck:
    """Return the check against the commands *rejected*; started by an accepted one, they pass."""
    calls = []
    for command in rejected:
        conditions = ""
        for better in accepted:
            if command.split()[0] in better.split()[1:] or (
                len(better.split()) > 1 and better.split()[1] == "run"
            ):
                conditions += f" !^{better.split()[0]}"
        calls.append(f"{command}{conditions}")
    return RuleCheck(name="command", calls=tuple(calls), wording=", ".join(rejected))


def _only_manager(tokens: list[Token], stance: str) -> RuleCheck | None:
    """Return the check of *use pnpm*: its siblings are stopped."""
    if stance != DO or not _consists_of(tokens, COMMAND, *_ABOUT_PACKAGES):
        return None
    commands = [command.lower() for command in _commands_in(tokens)]
    names = {program_name(command) for command in commands}
    says_use = any(token.says("USE", "ONLY", "ALWAYS") for token in tokens)
    says_manager = any("manager" in token.text.lower() for token in tokens)
    if not names or not (says_use or says_manager):
        return None
    for family in (_NODE, _PYTHON):
        if names <= set(family):
            siblings = [name for name in family if name not in names]
            if family is _PYTHON:
                siblings = [name for name in siblings if name != "conda"]
            return _against_managers(siblings, sorted(names))
    return None


# Never run C, use C with --flag -------------------------------------------------------------------


def _command(tokens: list[Token], stance: str) -> RuleCheck | None:
    commands = _commands_in(tokens)
    flags = [token.value.split("=")[0].split()[0] for token in tokens if token.says(FLAG)]
    allowed = (COMMAND, FLAG, "TESTS", "PRODUCTION") if stance == NO else (COMMAND, FLAG)
    if not commands or not _consists_of(tokens, *allowed):
        return None
    if any(token.says("PRODUCTION", "TESTS") and not token.says(COMMAND) for token in tokens):
        return None
    if stance == NO and (flags or not _has_accepted(tokens)):
        patterns = [" ".join([command, *flags]) for command in commands]
        return RuleCheck(name="command", calls=tuple(patterns), wording=", ".join(patterns))
    if stance == DO and len(commands) == 1 and len(flags) == 1:
        wording = f"{commands[0]} without {flags[0]}"
        calls = (f"{commands[0]} !{flags[0]}",)
        return RuleCheck(name="command-with", calls=calls, wording=wording)
    return None


def _has_accepted(tokens: list[Token]) -> bool:
    """Whether the sentence is for one of the commands that it names."""
    if any(token.says("ASK") for token in tokens) or _is_only_permitted(tokens):
        return False
    rejected = rejected_objects(tokens)
    return any(token.says(COMMAND) and token not in rejected for token in tokens)


def _is_only_permitted(tokens: list[Token]) -> bool:
    return any(token.says("PERMITTED") for token in tokens)


# Never edit PATH ----------------------------------------------------------------------------------


def _path(tokens: list[Token], stance: str) -> RuleCheck | None:
    paths = [token.value for token in tokens if token.says(PATH)]
    allowed = (PATH, "FILES", "FOLDER", "EXISTING", "ADD", "CREATE", "NEW", "EVERYTHING", *VERBS)
    if stance != NO or not paths or not _consists_of(tokens, *allowed):
        return None
    acts = acts_of_verbs(tokens)
    if any(token.says("CREATE") and not token.says("ADD") for token in tokens) and not acts:
        acts = (CREATE,)
    if not acts:
        return None
    globs: list[str] = []
    for path in paths:
        globs += globs_of(path)
    wording = f"{acts_in_words(acts)} {', '.join(paths)}"
    return RuleCheck(name="path", paths=tuple(globs), acts=acts, wording=wording)


# Run C before you finish --------------------------------------------------------------------------


def _before(tokens: list[Token], stance: str) -> RuleCheck | None:
    commands = _commands_in(tokens)
    if not commands or not _consists_of(tokens, COMMAND, "PASS"):
        return None
    return RuleCheck(
        name="command-done",
        needs=tuple(commands),
        before=stance if stance != TURN_END else TURN_END,
        wording=" and ".join(commands),
    )
