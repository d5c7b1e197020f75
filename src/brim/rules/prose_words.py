"""Languages, paths and commands as they stand in sentences."""

from __future__ import annotations

import re

from brim.errors import InputError
from brim.files import data_lines
from brim.rules.blocks import checked_blocks
from brim.rules.languages import cased_names, names
from brim.rules.when import path_pattern

_ENDINGS = (
    " py pyi js jsx mjs cjs ts tsx vue svelte go rs java kt kts rb php c cc h cpp cs swift scala"
    " sql css scss html md mdx rst yml yaml json toml lock proto graphql tf sh gradle xml ini cfg"
    " mod sum config csproj sln prisma properties bzl bazel nix erb hbs plist snap tsv csv ipynb"
    " lua zig ex exs txt "
)
"""Endings of files, each between spaces."""
_FILES = "Dockerfile|Makefile|Justfile|Gemfile|Rakefile"
_BARE_PATH = (
    rf"(?:{_FILES})(?!\w)"
    r"|(?:\.?/)?(?:[\w.@*\[\]{}-]+/)+(?:[\w.*{},-]*\w|\*{1,2})?"
    r"|\*\.\{?\w+[\w,.]*\w*\}?|[\w-]+\.\w+(?![\w(/])|\.\w+(?= files?\b)"
)
_ONE_PATH = rf"`(?:{_BARE_PATH}|\.\w+|\.env[\w.*-]*)`|(?<![\w`/.:@<-])(?:{_BARE_PATH})"
_NEXT_PATH = r"(?:, or|,? and|,| or) (?:(?:any|all|the|anything|files?|code|under|in)\s+)*"
_LANGUAGE_WORD = r"[^\W_][\w+#-]*"
_NEXT_LANGUAGE = r"\s*(?:/|,? and|,? or|,|&)\s*"
FOLDER_NAME = r"`[\w-]+`"
COMMAND = r"`[^`]+`"

_ANY_COMMAND = r"[a-z][a-z0-9_./-]*(?: [^()=]+)?"
_SCRIPT = re.compile(r"(?:\./)?(?:scripts?|bin|vendor/bin|tools)/[\w.-]+")
_PLACEHOLDER = re.compile(r"\s+(?:<[^>]*>|\[[^\]]*\]|\{[^}]*\}|\.\.\.|…).*$")
_SITE = re.compile(r"[\w-]+\.(?:com|org|io|dev|net)/")


def split_languages(text: str) -> tuple[list[str], str]:
    """Return the languages that *text* begins with, and what follows them.

    >>> split_languages("TS / Vue and Go files")
    (['typescript', 'vue', 'go'], ' files')
    """
    languages: list[str] = []
    start = 0
    end = 0
    while word := re.match(_LANGUAGE_WORD, text[start:]):
        language = cased_names().get(word[0]) or names().get(word[0].lower())
        if language is None:
            break
        languages.append(language)
        end = start + word.end()
        separator = re.match(_NEXT_LANGUAGE, text[end:])
        if separator is None:
            break
        start = end + separator.end()
    return languages, text[end:]


def leading_paths(text: str) -> str:
    """Return the list of paths that *text* begins with, as it's written.

    >>> leading_paths("`src/api/` or any files in proto/*.proto must be formatted")
    '`src/api/` or any files in proto/*.proto'
    """
    one_path = re.compile(_ONE_PATH)
    end = 0
    path = one_path.match(text)
    while path is not None and _is_path(path[0]):
        end = path.end()
        separator = re.compile(_NEXT_PATH).match(text, end)
        if separator is None:
            break
        path = one_path.match(text, separator.end())
    return text[:end]


def _is_path(written: str) -> bool:
    """Whether what looks like a path has a slash, or a name or an ending that files have."""
    name = written.strip("`")
    if "/" in name or name.startswith((".env", "*.")) or "." not in name:
        return True
    return f" {name.rpartition('.')[2]} " in _ENDINGS


def paths_in(text: str) -> list[str]:
    """Return the paths in *text* as patterns; folders as all that is in them.

    >>> paths_in("`src/api/` or proto/*.proto, see docs/x.com/y")
    ['src/api/**', 'proto/**/*.proto']
    """
    patterns: list[str] = []
    for match in re.finditer(_ONE_PATH, text):
        written = match[0]
        if not _is_path(written):
            continue
        path = written.strip("`").rstrip(".,;:").removeprefix("./")
        if not _is_project_path(path):
            continue
        is_quoted = written.startswith("`")
        has_ending = "." in path and f" {path.rpartition('.')[2]} " in _ENDINGS
        is_known = has_ending or path in _FILES.split("|")
        if not is_quoted and not is_known and not path.endswith("/") and "*" not in path:
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


def commands_in(text: str, *, is_run: bool = False) -> list[str]:
    """Return the commands between backticks in *text*, without their placeholders.

    If the words around say that it *is_run*, it needn't be of a program that brim knows.

    >>> commands_in("`npm run <script>` or `useState()`"), commands_in("`fly deploy`", is_run=True)
    (['npm run'], ['fly deploy'])
    """
    commands: list[str] = []
    for written in re.findall(r"`([^`]+)`", text):
        command = _PLACEHOLDER.sub("", written.strip())
        looks_like_one = is_run and re.fullmatch(_ANY_COMMAND, command) is not None
        if not looks_like_one and not _is_command(command):
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
