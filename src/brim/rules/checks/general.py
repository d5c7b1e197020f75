"""The general forms: never run ``C``, use ``C`` with ``--flag``, use A instead of B, never edit
PATH, run ``C`` before you finish."""

from __future__ import annotations

import re

from brim.rules.checks.acts import ABOUT_VERBS, acts_in_words, acts_of_verbs
from brim.rules.checks.check import CREATE, EDIT, EXISTING, ONLY_CHECKING, RuleCheck
from brim.rules.checks.invocation import program_name
from brim.rules.checks.managers import check_against, is_manager, siblings
from brim.rules.checks.names import globs_of
from brim.rules.checks.stance import DO, NO, rejected_objects
from brim.rules.checks.tokens import COMMAND, FLAG, MODULE, PATH, Statement

_SPECIAL = frozenset("|<>&;!@=$(){}\"'")
"""Signs with which a command isn't a plain pattern."""
_ABOUT_PACKAGES = (
    "PACKAGE",
    "INSTALL",
    "DEPENDENCY",
    "LANGPY",
    "NEW",
    "ADD",
    "EVERYTHING",
    "LOCKFILE",
    "YOU",
    "START",
)
"""What a statement about package managers may name."""
_ABOUT_TASKS = (
    "TESTS",
    "WHOLE",
    "LINTER",
    "FORMATTER",
    "BUILD",
    "TYPES",
    "EVERYTHING",
    "FILES",
    "PASS",
    "TASK",
    "START",
    "BY",
    "SAY",
)
"""What a statement may say about the purpose of a command."""
_ABOUT_FILES = (
    "FILES",
    "FOLDER",
    "EXISTING",
    "EVERYTHING",
    "GENERATED",
    "LOCKFILE",
    "MIGRATION",
    "SUCHAS",
)
"""What a statement may say about paths."""


def general_checks(statement: Statement, stance: str) -> list[RuleCheck]:
    """Return the checks that *statement* asks for in a general form."""
    if stance == NO:
        return _pair(statement) or _forbidden(statement) or _path(statement) or _imports(statement)
    if stance == DO:
        return (
            _pair(statement)
            or _through(statement)
            or _only_manager(statement)
            or _with_option(statement)
        )
    return _before(statement, stance)


def _commands_in(statement: Statement) -> list[str]:
    """Return the commands in *statement*; none if one of them isn't plain."""
    commands = statement.values(COMMAND)
    text = " ".join(commands).replace("./...", "")
    if "..." in text or not _SPECIAL.isdisjoint(text):
        return []
    return commands


# Use A, not B -------------------------------------------------------------------------------------


def _pair(statement: Statement) -> list[RuleCheck]:
    """Return the checks of *use A, not B* and of *don't use B* for a package manager."""
    if statement.says("ASK"):
        return []
    if not statement.consists_of(COMMAND, *_ABOUT_PACKAGES, *_ABOUT_TASKS):
        return []
    commands = _commands_in(statement)
    rejected = [token.value for token in rejected_objects(statement) if token.says(COMMAND)]
    accepted = [command for command in commands if command not in rejected]
    is_swap = any(is_manager(command) for command in accepted)
    managers: list[str] = []
    other_commands: list[str] = []
    for command in rejected:
        program = command.split()[0]
        if is_manager(command) or (is_swap and is_manager(program)):
            managers.append(program)
        else:
            other_commands.append(command)
    if not commands or (other_commands and not accepted):
        return []
    checks: list[RuleCheck] = []
    if managers:
        checks.append(check_against(managers, accepted))
    if other_commands:
        checks.append(_against_commands(other_commands))
    return checks


def _against_commands(rejected: list[str]) -> RuleCheck:
    """Return the check against the commands *rejected*."""
    return RuleCheck(name="command", calls=tuple(rejected), wording=", ".join(rejected))


def _through(statement: Statement) -> list[RuleCheck]:
    """Return the check of *call pytest via `uv run pytest`*: without that it's stopped."""
    commands = _commands_in(statement)
    if len(commands) != 2 or not statement.consists_of(COMMAND, "BY", *_ABOUT_TASKS):
        return []
    first, second = sorted(commands, key=len)
    is_inside = second.endswith(f" {first}") or second.split()[1:2] == ["run"]
    if not is_inside or " " in first or not statement.says("BY"):
        return []
    call = f"{first} !^{second.split()[0]}"
    return [RuleCheck(name="command", calls=(call,), wording=f"{first} without {second}")]


def _only_manager(statement: Statement) -> list[RuleCheck]:
    """Return the check of *use pnpm*: its siblings are stopped."""
    if not statement.consists_of(COMMAND, *_ABOUT_PACKAGES):
        return []
    if not statement.says("USE", "ONLY", "MUST", "MANAGERWORD"):
        return []
    names = {program_name(command.lower()) for command in _commands_in(statement)}
    other_managers = siblings(names)
    if not names or not other_managers:
        return []
    return [check_against(other_managers, sorted(names))]


# Never run C, use C with --flag -------------------------------------------------------------------


def _forbidden(statement: Statement) -> list[RuleCheck]:
    """Return the check of *never run C*, with or without an option."""
    if statement.says("WITHOUT"):
        return _with_option(statement.without("WITHOUT"))
    if not statement.consists_of(COMMAND, FLAG, "START", "WHOLE", "BY", "EVERYTHING"):
        return []
    patterns = _commands_in(statement)
    flags = _flags_in(statement)
    if flags:
        patterns = [_with_one_of(command, flags) for command in patterns]
    elif _names_an_accepted(statement):
        return []
    if not patterns:
        return []
    return [RuleCheck(name="command", calls=tuple(patterns), wording=", ".join(patterns))]


def _with_one_of(command: str, flags: list[str]) -> str:
    """Return the pattern of *command* with its own last option, or one of *flags*.

    >>> _with_one_of("git push --force", ["--force-with-lease"])
    'git push --force|--force-with-lease'
    """
    words = command.split()
    if words[-1].startswith("-"):
        flags = [words.pop(), *flags]
    return " ".join([*words, "|".join(dict.fromkeys(flags))])


def _flags_in(statement: Statement) -> list[str]:
    """Return the options in *statement*, without their values."""
    return [flag.split("=")[0].split()[0] for flag in statement.values(FLAG)]


def _names_an_accepted(statement: Statement) -> bool:
    """Whether *statement* is for one of the commands that it names."""
    if statement.says("ASK", "PERMITTED", "ASKING"):
        return False
    rejected = rejected_objects(statement)
    return any(token.says(COMMAND) and token not in rejected for token in statement.tokens)


def _with_option(statement: Statement) -> list[RuleCheck]:
    """Return the check of *use C with --flag*."""
    if not statement.consists_of(COMMAND, FLAG, "BY", "WITHOUT"):
        return []
    commands = _commands_in(statement)
    flags = list(dict.fromkeys(_flags_in(statement)))
    if len(commands) != 1 or len(flags) != 1:
        return []
    flag = flags[0]
    command = " ".join([word for word in commands[0].split() if word != flag])
    return [
        RuleCheck(
            name="command-with",
            calls=(f"{command} !{flag}",),
            wording=f"{command} without {flag}",
        )
    ]


# Never edit PATH ----------------------------------------------------------------------------------


def _path(statement: Statement) -> list[RuleCheck]:
    """Return the check of *never edit PATH*."""
    if not statement.consists_of(PATH, *_ABOUT_FILES, *ABOUT_VERBS):
        return []
    paths = statement.values(PATH)
    acts = _acts_on_path(statement)
    if not paths or not acts:
        return []
    globs: list[str] = []
    for path in paths:
        globs += globs_of(path)
    wording = acts_in_words(acts, ", ".join(paths))
    return [RuleCheck(name="path", paths=tuple(globs), acts=acts, wording=wording)]


def _acts_on_path(statement: Statement) -> tuple[str, ...]:
    """Return what *statement* forbids to do with a path."""
    acts = acts_of_verbs(statement)
    if not acts and statement.says("CREATE") and not statement.says("COMMIT"):
        return (CREATE,)
    if statement.says("EXISTING"):
        return tuple([EXISTING if act == EDIT else act for act in acts])
    return acts


# Run C before you finish --------------------------------------------------------------------------


def _without_details(command: str) -> str:
    """Return *command* up to its first option or path: it may be run for another file. That it only
    checks stays.

    >>> _without_details("prettier --write ."), _without_details("go test ./...")
    ('prettier', 'go test')
    >>> _without_details("ruff format --check src")
    'ruff format --check'
    """
    program, *arguments = command.split()
    words = [program]
    for argument in arguments:
        if argument.startswith(("-", ".")) or "/" in argument:
            break
        words.append(argument)
    words += [argument for argument in arguments if argument in ONLY_CHECKING]
    return " ".join(words)


def _before(statement: Statement, moment: str) -> list[RuleCheck]:
    """Return the check of *run C before you finish*, or before a commit or push."""
    commands = _commands_in(statement)
    if not commands or not statement.consists_of(COMMAND, *_ABOUT_TASKS):
        return []
    return [
        RuleCheck(
            name="command-done",
            needs=tuple([_without_details(command) for command in commands]),
            before=moment,
            wording=" and ".join(commands),
        )
    ]


# Never import M -----------------------------------------------------------------------------------

_IMPORT_OF = (
    r"""^\s*(?:import|from)\s+{0}\b|\bfrom\s+['"]{0}['"/]|\b(?:require|import)\(\s*['"]{0}['"/]"""
)


def _imports(statement: Statement) -> list[RuleCheck]:
    """Return the check of *never import moment*."""
    modules = statement.values(MODULE)
    if not modules or not statement.consists_of(MODULE, "IMPORT", "LANGNAME", "FILES", "CODEWORD"):
        return []
    expressions = [_IMPORT_OF.format(re.escape(module)) for module in modules]
    return [
        RuleCheck(
            name="import",
            written="|".join(expressions),
            written_in=(
                "*.py",
                "*.js",
                "*.jsx",
                "*.ts",
                "*.tsx",
                "*.mjs",
                "*.cjs",
                "*.vue",
                "*.svelte",
            ),
            wording=f"new lines that import {', '.join(modules)}",
        )
    ]
