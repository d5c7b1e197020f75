"""Names in a sentence: programs with their arguments, options, and paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from brim import rules
from brim.files import data_lines
from brim.rules.globs import alternatives

FLAG_PATTERN = re.compile(r"--?[A-Za-z][\w-]*(?:=\S+)?")
_CLEAR_ARGUMENT = re.compile(r"--?[A-Za-z][\w-]*(?:=\S+)?|[a-z]+:[\w:-]+|[0-7]{3,4}")
"""An option, a name such as ``db:drop``, or a mode such as ``777``."""
_SCRIPT = re.compile(r"[\w./-]+\.(?:py|js|sh|rb|php)|artisan")
_NAMING_SCRIPTS = ("run", "exec", "run-script", "dlx", "x")
"""Subcommands that are followed by a name which nobody can list."""
_LAUNCHERS = ("npx", "pnpx", "bunx", "uvx", "sudo")
"""Programs whose first argument is another program."""
_WITH_TARGETS = ("make", "just", "task", "rake")
"""Programs whose first argument is such a name."""
_WITH_FILES = ("python", "python3", "node", "bash", "sh", "php", "ruby")
_FOLDERS = (
    "src|docs?|tests?|spec|config|data|libs?|apps?|packages|vendor|dist|build|public|infra|scripts"
    "|bin|web|server|client|api|db|migrations|internal|cmd|pkg|assets|tools|static|node_modules"
    "|third_party|legacy|core|examples|target|out|coverage|deploy|services|modules|frontend"
    "|backend|database|prisma|alembic|proto|gen|generated"
)
_ENDINGS = (
    "md|mdx|py|js|ts|tsx|jsx|json|ya?ml|toml|rs|go|rb|java|kt|cs|c|h|cpp|php|sh|sql|html|css|scss"
    "|txt|lock|ini|cfg|conf|env|xml|csv|proto|tf|gradle|vue|svelte|ipynb|ex|exs|swift|lua|pl|r|jl"
    "|dart|mod|sum|lockb"
)
_PART = r"(?:[\w.*@-]|\[|\]|\{[\w.,*]+\})+"
_PATH = re.compile(
    rf"(?:~|\.{{1,2}})?/?{_PART}(?:/{_PART})+/?"
    r"|~?/(?:[\w.*-]+/)*[\w.*-]+/?"
    r"|\.?[\w*-]+(?:\.[\w-]+)*/(?!\w)"
    rf"|[\w*.-]*[\w*-]\.(?:{_ENDINGS})(?!\w)"
    r"|(?:Dockerfile|Jenkinsfile|Justfile|LICENSE|Gemfile|Procfile)(?!\w)"
    r"|\.env(?:\.[\w*]+)*(?!\w)|(?<![\w.])\.(?:md|mdx|py|ts|tsx|js|rs|go)(?!\w)"
    r"|\*\.\w+(?!\w)|(?:node_modules|__pycache__|dist|src|\.venv)(?![\w/.-])"
    r"|\.(?:github|gitignore|gitlab-ci\.yml|npmrc|husky|vscode|claude|editorconfig)(?!\w)"
)
_CLEAR_PATH = re.compile(
    rf"^(?:\./|~/|/|\.\w)|/$|\.(?:{_ENDINGS})$|\*|/.*/|^(?:{_FOLDERS})/"
    r"|^(?:node_modules|__pycache__|dist|src)$|file$|^[A-Z]\w+$"
)
_NO_PATHS = ("and/or", "he/she", "yes/no")
_NO_ENDINGS = ("console.log", "os.path", "node.js", "vue.js", "next.js")


@cache
def _subcommands() -> dict[str, frozenset[str]]:
    """Return the arguments that programs are known for."""
    words_by_program = {}
    for line in data_lines(__file__, "subcommands.tsv"):
        program, _, words = line.partition("\t")
        words_by_program[program] = frozenset(words.split())
    return words_by_program


def subcommands_of(program: str) -> frozenset[str]:
    """Return the arguments that *program* is known for."""
    return _subcommands().get(program, frozenset())


@cache
def _programs() -> frozenset[str]:
    lines = (*data_lines(rules.__file__, "programs.txt"), *data_lines(__file__, "programs.txt"))
    return frozenset(" ".join(lines).split())


@cache
def _ordinary_words() -> frozenset[str]:
    return frozenset(" ".join(data_lines(__file__, "ordinary_words.txt")).split())


def is_ordinary_word(command: str) -> bool:
    """Whether *command* begins with a program whose name is a word too: *make sure*."""
    return command.split(" ", maxsplit=1)[0] in _ordinary_words()


def is_program(word: str) -> bool:
    """Whether *word* is the name of a program that agents run."""
    return word in _programs() or word.startswith("./")


def is_started_here(path: str) -> bool:
    """Whether *path* is a known program in the folder: ``./gradlew``."""
    return path.startswith("./") and path.removeprefix("./") in _programs()


def is_named_program(word: str) -> bool:
    """Whether *word* in a sentence is a program: *Docker* is, *Make* and *Python* aren't."""
    lower = word.lower()
    if word == lower:
        return word in _programs()
    is_language = lower in ("python", "php", "ruby", "java")
    return lower in _programs() and lower not in _ordinary_words() and not is_language


def command_length(words: list[str], is_known_word: Callable[[str], bool]) -> int:
    """Return how many of *words* are one command; 0 if the first isn't a program.

    >>> command_length(["docker", "compose", "down", "-v", "today"], lambda word: word == "today")
    4
    >>> command_length(["npm", "everywhere"], lambda word: False)
    1
    """
    name = words[0]
    if not is_named_program(name):
        name = name.split("-")[0]  # German: Docker-Befehle
        if is_named_program(name):
            return 1
        return 0
    program = name.lower()
    length = 1
    for word in words[1:]:
        if not _is_argument(word, words[length - 1].lower(), program, is_known_word):
            break
        length += 1
    if length == 1 and program in _ordinary_words() and name.islower():
        return 0
    return length


def _is_argument(word: str, last: str, program: str, is_known_word: Callable[[str], bool]) -> bool:
    """Whether *word* belongs to the command of *program* whose words end with *last*."""
    known_arguments = subcommands_of(program)
    if word in known_arguments or _CLEAR_ARGUMENT.fullmatch(word):
        return True
    if last in _LAUNCHERS:
        return not is_known_word(word)
    if last in _NAMING_SCRIPTS or (program in _WITH_TARGETS and last == program):
        return word in subcommands_of("make") or not is_known_word(word)
    if last == "-m" and program.startswith("python"):
        return True
    if program in _WITH_FILES:
        return _SCRIPT.fullmatch(word) is not None or _SCRIPT.fullmatch(last) is not None
    return False


def path_at(text: str, position: int) -> str:
    """Return the path that begins at *position* of *text*; empty if none does."""
    match = _PATH.match(text, position)
    if match is None:
        return ""
    path = match[0].rstrip(".,")
    if path.lower() in _NO_PATHS or path.lower() in _NO_ENDINGS:
        return ""
    if not _CLEAR_PATH.search(path):
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
