"""The general forms: never run ``C``, use ``C`` with ``--flag``, use A instead of B, never edit
PATH, run ``C`` before you finish."""

from __future__ import annotations

from brim.rules.checks.acts import acts_in_words, acts_of_verbs, allowed_with_verbs
from brim.rules.checks.check import CREATE, EDIT, EXISTING, RuleCheck
from brim.rules.checks.invocation import program_name
from brim.rules.checks.managers import check_against, is_manager, siblings
from brim.rules.checks.names import globs_of
from brim.rules.checks.sentence import COMMAND, FLAG, PATH, Token
from brim.rules.checks.stance import DO, NO, rejected_objects

_SPECIAL = frozenset("|<>&;!@=$(){}\"'")
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
"""What a sentence about package managers may name."""
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
)
"""What a sentence may say about the purpose of a command."""
_ABOUT_FILES = ("FILES", "FOLDER", "EXISTING", "EVERYTHING", "GENERATED", "LOCKFILE", "MIGRATION", "SUCHAS")


def general_checks(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return the checks that the sentence asks for in a general form."""
    if stance not in (NO, DO):
        return _before(tokens, stance)
    for form in (_pair, _only_manager, _forbidden, _with_option, _path):
        checks = form(tokens, stance)
        if checks:
            return checks
    return []


def _consists_of(tokens: list[Token], *concepts: str) -> bool:
    return all(token.is_light or token.says(*concepts) for token in tokens)


def _commands_in(tokens: list[Token]) -> list[str]:
    """Return the commands among *tokens*; none if one of them isn't plain."""
    commands = [token.value for token in tokens if token.says(COMMAND)]
    for command in commands:
        if not _SPECIAL.isdisjoint(command) or "..." in command.replace("./...", ""):
            return []
    return commands


# Use A, not B -------------------------------------------------------------------------------------


def _pair(tokens: list[Token], _: str) -> list[RuleCheck]:
    """Return the checks of *use A, not B* and of *don't use B* for a package manager."""
    if not _consists_of(tokens, COMMAND, *_ABOUT_PACKAGES, *_ABOUT_TASKS):
        return []
    commands = _commands_in(tokens)
    if not commands or any(token.says("ASK") for token in tokens):
        return []
    rejected = [token.value for token in rejected_objects(tokens) if token.says(COMMAND)]
    accepted = [command for command in commands if command not in rejected]
    managers = [command for command in rejected if is_manager(command)]
    others = [command for command in rejected if not is_manager(command)]
    if others and not accepted:
        return []
    checks: list[RuleCheck] = []
    if managers:
        checks.append(check_against(managers, accepted))
    if others:
        checks.append(_against_commands(others, accepted))
    return checks


def _against_commands(rejected: list[str], accepted: list[str]) -> RuleCheck:
    """Return the check against the commands *rejected*; started by an accepted one, they pass."""
    calls: list[str] = []
    for command in rejected:
        conditions = ""
        for better in accepted:
            if _starts(better, command):
                conditions += f" !^{better.split()[0]}"
        calls.append(f"{command}{conditions}")
    passes: list[str] = []
    for better in accepted:
        if any(better.startswith(f"{command} ") for command in rejected):
            passes.append(better)
    return RuleCheck(
        name="command",
        calls=tuple(calls),
        passes=tuple(passes),
        wording=", ".join(rejected),
    )


def _starts(better: str, command: str) -> bool:
    """Whether *better* runs *command*: ``uv run`` does, and ``make pytest``."""
    arguments = better.split()[1:]
    return arguments[:1] == ["run"] or command.split()[0] in arguments


def _only_manager(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return the check of *use pnpm*: its siblings are stopped."""
    if stance != DO or not _consists_of(tokens, COMMAND, *_ABOUT_PACKAGES):
        return []
    names = {program_name(command.lower()) for command in _commands_in(tokens)}
    words: set[str] = set()
    for token in tokens:
        words.update(token.text.split())
    says_manager = any("manager" in word or "gest" in word for word in words) or "shop" in words
    says_use = any(token.says("USE", "ONLY", "MUST") for token in tokens)
    if not names or not (says_use or says_manager):
        return []
    others = siblings(names)
    if not others:
        return []
    return [check_against(others, sorted(names))]


# Never run C, use C with --flag -------------------------------------------------------------------


def _forbidden(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return the check of *never run C*, with or without an option."""
    if stance != NO or not _consists_of(tokens, COMMAND, FLAG, "START", "WHOLE", "BY", "EVERYTHING"):
        return []
    commands = _commands_in(tokens)
    flags = _flags_in(tokens)
    if not commands or _names_an_accepted(tokens, flags):
        return []
    patterns = commands
    if flags:
        patterns = [_with_one_of(command, flags) for command in commands]
    return [RuleCheck(name="command", calls=tuple(patterns), wording=", ".join(patterns))]


def _with_one_of(command: str, flags: list[str]) -> str:
    """Return the pattern of *command* with its own last option, or one of *flags*."""
    words = command.split()
    if words[-1].startswith("-"):
        flags = [words.pop(), *flags]
    return " ".join([*words, "|".join(dict.fromkeys(flags))])


def _flags_in(tokens: list[Token]) -> list[str]:
    return [token.value.split("=")[0].split()[0] for token in tokens if token.says(FLAG)]


def _names_an_accepted(tokens: list[Token], flags: list[str]) -> bool:
    """Whether the sentence is for one of the commands that it names."""
    if flags or any(token.says("ASK", "PERMITTED", "ASKING") for token in tokens):
        return False
    rejected = rejected_objects(tokens)
    return any(token.says(COMMAND) and token not in rejected for token in tokens)


def _with_option(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return the check of *use C with --flag*."""
    if stance != DO or not _consists_of(tokens, COMMAND, FLAG, "BY"):
        return []
    commands = _commands_in(tokens)
    flags = _flags_in(tokens)
    if len(commands) != 1 or len(flags) != 1:
        return []
    wording = f"{commands[0]} without {flags[0]}"
    calls = (f"{commands[0]} !{flags[0]}",)
    return [RuleCheck(name="command-with", calls=calls, wording=wording)]


# Never edit PATH ----------------------------------------------------------------------------------


def _path(tokens: list[Token], stance: str) -> list[RuleCheck]:
    paths = [token.value for token in tokens if token.says(PATH)]
    if stance != NO or not paths:
        return []
    if not _consists_of(tokens, PATH, *_ABOUT_FILES, *allowed_with_verbs()):
        return []
    acts = acts_of_verbs(tokens)
    if not acts and any(token.says("CREATE") and not token.says("ADD") for token in tokens):
        acts = (CREATE,)
    if any(token.says("EXISTING") for token in tokens):
        acts = tuple([EXISTING if act == EDIT else act for act in acts])
    if not acts:
        return []
    globs: list[str] = []
    for path in paths:
        globs += globs_of(path)
    wording = f"{acts_in_words(acts)} {', '.join(paths)}"
    return [RuleCheck(name="path", paths=tuple(globs), acts=acts, wording=wording)]


# Run C before you finish --------------------------------------------------------------------------


def _before(tokens: list[Token], stance: str) -> list[RuleCheck]:
    """Return the check of *run C before you finish*, or before a commit or push."""
    commands = _commands_in(tokens)
    if not commands or not _consists_of(tokens, COMMAND, *_ABOUT_TASKS):
        return []
    wording = " and ".join(commands)
    return [RuleCheck(name="command-done", needs=tuple(commands), before=stance, wording=wording)]
