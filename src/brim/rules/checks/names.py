"""Names in a sentence: programs with their arguments, options, and paths."""

from __future__ import annotations

import re
from functools import cache

from brim import rules
from brim.files import data_lines
from brim.rules.globs import alternatives

FLAG_PATTERN = re.compile(r"--?[A-Za-z][\w-]*(?:=\S+)?")
SUBCOMMAND_PATTERN = re.compile(
    r"(?:--?[\w-]+(?:=[\w./-]+)?|[a-z][\w:.-]*)(?<![.,;:!-])|[.*](?=\s|$)"
)
_FOLDERS = (
    "src|docs?|tests?|spec|config|data|libs?|apps?|packages|vendor|dist|build|public|infra|scripts"
    "|bin|web|server|client|api|db|migrations|internal|cmd|pkg|assets|tools|static|node_modules"
    "|third_party|legacy|core|examples|target|out|coverage|deploy|services|modules|frontend"
    "|backend"
)
_ENDINGS = (
    "md|mdx|py|js|ts|tsx|jsx|json|ya?ml|toml|rs|go|rb|java|kt|cs|c|h|cpp|php|sh|sql|html|css|scss"
    "|txt|lock|ini|cfg|conf|env|xml|csv|proto|tf|gradle|vue|svelte|ipynb|ex|exs|swift|lua|pl|r|jl"
)
_PART = r"(?:[\w.*@-]|\[|\]|\{[\w.,*]+\})+"
_PATH = re.compile(
    rf"(?:~|\.{{1,2}})?/?{_PART}(?:/{_PART})+/?"
    r"|/(?:[\w.*-]+/)*[\w.*-]+/?"
    r"|\.?[\w*-]+(?:\.[\w-]+)*/(?!\w)"
    rf"|[\w*.-]*[\w*-]\.(?:{_ENDINGS})(?!\w)"
    r"|(?:Makefile|Dockerfile|Jenkinsfile|Justfile|LICENSE|Gemfile|Procfile)(?!\w)"
    r"|\*\.\w+(?!\w)|(?:node_modules|__pycache__|dist|\.venv)(?![\w/-])"
    r"|\.(?:github|gitignore|gitlab-ci\.yml|npmrc|husky|vscode|claude|editorconfig)(?!\w)"
)
_CLEAR_PATH = re.compile(
    rf"^(?:\./|~/|/|\.\w)|/$|\.(?:{_ENDINGS})$|\*|/.*/|^(?:{_FOLDERS})/"
    r"|^(?:node_modules|__pycache__|dist)$|file$|^[A-Z]\w+$"
)
_NO_PATHS = ("and/or", "he/she", "yes/no")


@cache
def subcommands() -> dict[str, frozenset[str]]:
    """Return the subcommands that are words of sentences too, by program."""
    words_by_program = {}
    for line in data_lines(__file__, "subcommands.tsv"):
        program, _, words = line.partition("\t")
        words_by_program[program] = frozenset(words.split())
    return words_by_program


@cache
def _programs() -> frozenset[str]:
    lines = (*data_lines(rules.__file__, "programs.txt"), *data_lines(__file__, "programs.txt"))
    return frozenset(" ".join(lines).split())


@cache
def _ordinary_words() -> frozenset[str]:
    return frozenset(" ".join(data_lines(__file__, "ordinary_words.txt")).split())


def is_program(word: str) -> bool:
    """Whether *word* is the name of a program that agents run."""
    return word in _programs() or word.startswith("./")


def is_ordinary_word(word: str) -> bool:
    """Whether the program *word* is a word of sentences too: *make*, *just*."""
    return word in _ordinary_words()


def is_named_program(word: str) -> bool:
    """Whether *word* in a sentence is a program: *Docker* is, *Make* and *Python* aren't."""
    lower = word.lower()
    if word == lower:
        return word in _programs()
    is_language = lower in ("python", "php", "ruby", "java")
    return lower in _programs() and not is_ordinary_word(lower) and not is_language


def path_at(text: str, position: int) -> str:
    """Return the path that begins at *position* of *text*; empty if none does."""
    match = _PATH.match(text, position)
    if match is None:
        return ""
    path = match[0].rstrip(".,")
    if path.lower() in _NO_PATHS or not _CLEAR_PATH.search(path):
        return ""
    return path


def is_path(text: str) -> bool:
    """Whether all of *text* is one path."""
    return _PATH.fullmatch(text) is not None and _CLEAR_PATH.search(text) is not None


def globs_of(path: str) -> tuple[str, ...]:
    """Return the globs that *path* in a rule means.

    >>> globs_of("dist/"), globs_of("src/legacy"), globs_of("*.{a,b}")
    (('dist/**',), ('src/legacy',), ('*.a', '*.b'))
    """
    plain = path.removeprefix("./")
    if plain.endswith("/"):
        plain = f"{plain}**"
    return tuple(alternatives(plain))
