"""Languages, paths and commands as they stand in sentences."""

from __future__ import annotations

import re

from brim.errors import InputError
from brim.files import data_lines
from brim.rules.blocks import checked_blocks
from brim.rules.languages import cased_names, names
from brim.rules.when import path_pattern

_longest_first = sorted(names(), key=len, reverse=True)
_any_case = "|".join([re.escape(name) for name in _longest_first])
_ONE_LANGUAGE = rf"(?:(?i:{_any_case})|{'|'.join(cased_names())})(?![\w+#])"
LANGUAGE_LIST = rf"(?:{_ONE_LANGUAGE})(?:\s*(?:/|,|,? and|,? or|&)\s*(?:{_ONE_LANGUAGE}))*"

_ENDING = (
    r"(?:pyi?|jsx?|mjs|cjs|tsx?|vue|svelte|go|rs|java|kts?|rb|php|cc?|h|cpp|cs|swift|scala|sql"
    r"|s?css|html|mdx?|rst|ya?ml|json|toml|lock|proto|graphql|tf|sh|gradle|xml|ini|cfg|mod|sum"
    r"|config|csproj|sln|prisma|properties|bzl|bazel|nix|erb|hbs|plist|snap|tsv|csv|ipynb|lua|zig"
    r"|exs?|txt)"
)
_BARE_PATH = (
    r"Dockerfile|Makefile|Justfile|Gemfile|Rakefile"
    r"|(?:\.?/)?(?:[\w.@*\[\]{}-]+/)+(?:[\w.*{},-]*\w|\*{1,2})?"
    rf"|\*\.\{{?\w+[\w,]*\}}?|[\w-]+\.{_ENDING}(?![\w(/])|\.{_ENDING}(?= files?\b)"
)
ONE_PATH = rf"(?:`(?:{_BARE_PATH}|\.{_ENDING}|\.env[\w.*-]*)`|(?<![\w`/.:@<-])(?:{_BARE_PATH}))"
_JOIN = r"(?:,| or| and|,? and|, or)"
PATH_LIST = (
    rf"{ONE_PATH}(?:{_JOIN} (?:(?:any|all|the|anything|files?|code|under|in)\s+)*{ONE_PATH})*"
)
FOLDER_NAME = r"`[\w-]+`"
COMMAND = r"`[^`]+`"

_SCRIPT = re.compile(r"(?:\./)?(?:scripts?|bin|vendor/bin|tools)/[\w.-]+")
_PLACEHOLDER = re.compile(r"\s+(?:<[^>]*>|\[[^\]]*\]|\{[^}]*\}|\.\.\.|…).*$")
_SITE = re.compile(r"[\w-]+\.(?:com|org|io|dev|net)/")


def languages_in(text: str) -> list[str]:
    """Return the languages that *text* lists.

    >>> languages_in("TS / Vue and Go")
    ['typescript', 'vue', 'go']
    """
    languages = []
    for name in re.findall(_ONE_LANGUAGE, text):
        languages.append(cased_names().get(name) or names()[name.lower()])
    return languages


def paths_in(text: str) -> list[str]:
    """Return the paths in *text* as patterns; folders as all that is in them.

    >>> paths_in("`src/api/` or proto/*.proto, see docs/x.com/y")
    ['src/api/**', 'proto/**/*.proto']
    """
    patterns: list[str] = []
    for match in re.finditer(ONE_PATH, text):
        written = match[0]
        path = written.strip("`").rstrip(".,;:").removeprefix("./")
        if not _is_project_path(path):
            continue
        is_quoted = written.startswith("`")
        if not is_quoted and not re.search(rf"\.{_ENDING}$|/$|\*", path):
            continue  # "types/functions" is prose
        try:
            patterns.append(_generous(path_pattern(path)))
        except InputError:
            continue
    return list(dict.fromkeys(patterns))


def _is_project_path(path: str) -> bool:
    if not path or path.startswith(("http", "@", "-", "/")):
        return False
    return not (re.search(r"//|\.\.\.|\(", path) or _SITE.match(path))


def _generous(pattern: str) -> str:
    """Return a pattern from prose as its writer means it: *proto/*.proto* has subfolders too."""
    if pattern.endswith("/*"):
        return f"{pattern[:-1]}**"
    folder, _, name = pattern.rpartition("/")
    if folder and name.startswith("*.") and "**" not in pattern:
        return f"{folder}/**/{name}"
    is_folder = bool(folder) and "." not in name and "*" not in name
    if is_folder:
        return f"{pattern}/**"
    return pattern


def folders_in(text: str) -> list[str]:
    """Return the folders that *text* names as such: *the `web` folder*."""
    if not re.search(r"\b(?:folder|directory|dir)\b", text):
        return []
    return [f"{name.strip('`')}/**" for name in re.findall(FOLDER_NAME, text)]


def commands_in(text: str) -> list[str]:
    """Return the commands between backticks in *text*, without their placeholders.

    >>> commands_in("`npm run <script>` or `useState()`")
    ['npm run']
    """
    commands: list[str] = []
    for written in re.findall(r"`([^`]+)`", text):
        command = _PLACEHOLDER.sub("", written.strip())
        if not _is_command(command):
            continue
        try:
            commands.append(checked_blocks([f"run {command}"])[0].removeprefix("run "))
        except InputError:
            continue
    return list(dict.fromkeys(commands))


def _is_command(text: str) -> bool:
    words = text.split()
    if not words or text.endswith("()"):
        return False
    if _SCRIPT.fullmatch(words[0]):
        return True
    return any(words[0] in line.split() for line in data_lines(__file__, "programs.txt"))
