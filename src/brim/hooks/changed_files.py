"""Which words of a command name files that it may change.

A program that isn't known only to read may change every file that it's given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from brim.agents import AGENTS
from brim.files import data_lines
from brim.record import PlainData
from brim.rules.programs import WRAPPERS
from brim.rules.shell import SHELLS, RanCommand

_SPEAKERS = frozenset(("brim", "gh", "glab", "say", "notify-send", *AGENTS))
"""Programs whose words are texts for somebody else."""
RUNNERS = frozenset(
    ["ssh", "tmux", "screen", "watch", "trap", "su", "at", "alias", "expect", "entr", "npx"]
)
"""Programs that take a whole command line as one word."""
_MESSAGES = ("-m", "--message", "--body", "--title", "--description", "--notes", "--subject")
"""Options of many programs after which a text stands."""
_EXCLUDED = ("-e", "--exclude")
"""Options of git after which a file stands that it leaves alone."""
_CHANGING = {
    "sed": r"-[a-zA-Z]*i|--in-place",
    "yq": r"-[a-zA-Z]*i|--in-?place",
    "fd": r"-x|-X|--exec",
    "fdfind": r"-x|-X|--exec",
    "zstd": r"--rm",
}
"""Options that make a reader change what it's given."""
_OUTPUTS: Mapping[str, str] = {
    "sort": r"-[a-zA-Z]*o|--o\w*",
    "shuf": r"-o|--output",
    "iconv": r"-o|--output",
    "zstd": r"-o",
    "csplit": r"-f|--prefix",
    "base64": r"-o|--output",
    "inotifywait": r"-o|--outfile",
    "curl": r"-[a-zA-Z]*o|--output|--output-dir|-D|--dump-header|-c|--cookie-jar|--stderr"
    r"|--trace.*",
    "wget": r"-[a-zA-Z]*O|-o|-a|-P|--output-document|--output-file|--append-output"
    r"|--directory-prefix",
    "git": r"--output|-o",
    "time": r"-o|--output",
    "strace": r"-o|--output",
    "tree": r"-o",
    "less": r"-o|-O|--log-file",
    "find": r"-fprint0?|-fprintf|-fls",
}
"""Options of readers after which a file stands that they write."""
_GIT_READS = frozenset(
    (
        "add",
        "blame",
        "branch",
        "cat-file",
        "check-ignore",
        "commit",
        "describe",
        "diff",
        "fetch",
        "grep",
        "hash-object",
        "log",
        "ls-files",
        "ls-tree",
        "merge-base",
        "push",
        "remote",
        "rev-parse",
        "shortlog",
        "show",
        "status",
        "tag",
    )
)
_GIT_CHANGES_ALL = ("clean", "checkout", "reset", "restore", "stash", "switch")
"""Commands of git that change the whole folder they're called in."""
INTERPRETERS = frozenset(
    (
        "node",
        "nodejs",
        "deno",
        "bun",
        "ts-node",
        "tsx",
        "ruby",
        "perl",
        "php",
        "lua",
        "osascript",
        "Rscript",
        "tclsh",
        "ipython",
        "julia",
        "raku",
        "elixir",
        "groovy",
        "guile",
        "emacs",
    )
)
"""Programs that run code, besides Python and the shells."""
_INSIDE = frozenset((*SHELLS, *WRAPPERS, "eval", "parallel"))
"""Programs that run another one, which is among the commands too."""
_FEEDING = frozenset(("xargs", "parallel"))
"""Programs that give another one more words than can be read."""
_COPIES = frozenset(["cp", "install", "ln", "scp", "ditto"])
_READING_MODULES = frozenset(["json.tool", "tokenize", "ast", "dis", "pydoc"])
_QUESTION = (
    r"\s*(?:(?:select|explain|with|\.(?:schema|tables|indexes|databases|dump|mode|headers))\b.*"
    r"|pragma\s+(?:integrity_check|quick_check|(?:table|index|database)_(?:info|list)[^=]*))?\s*"
)
"""What only asks SQLite something."""
OPEN = "$()"
"""What stands for a word that can't be read: it may be any file that is named."""


@dataclass(frozen=True)
class ChangedWords(PlainData):
    """What one command may change."""

    program: str
    words: tuple[str, ...]
    """The files, as they are written; ``OPEN`` is any."""
    is_recursive: bool = False
    """Whether a folder is changed with all that is in it."""
    patterns: tuple[str, ...] = ()
    """Which files in the folders are changed; without any, all of them."""


def change_of(command: RanCommand) -> ChangedWords:
    """Return which words of *command* name files that it may change."""
    program = command.words[0]
    arguments = command.words[1:]
    words = [*command.writes]
    if program in _INSIDE:
        words += _shell_script(program, arguments)
        words += _outputs(program, arguments)
    else:
        words += _changed_by(program, arguments)
    is_fed = bool(_FEEDING.intersection(command.wrappers)) and "{}" not in command.words
    if is_fed and OPEN in _changed_by(program, [*arguments, OPEN]):
        words.append(OPEN)
    patterns: tuple[str, ...] = ()
    if program == "find":
        patterns = _patterns(arguments)
    return ChangedWords(program, tuple(words), _is_recursive(program, arguments), patterns)


def is_interpreter(program: str) -> bool:
    """Whether *program* runs code that it's given."""
    return program == "py" or program.startswith(("python", "pypy")) or program in INTERPRETERS


def is_reader(program: str) -> bool:
    """Whether *program* only reads, whatever it's given."""
    return program in data_lines(__file__, "readers.txt") and program not in _CHANGING


def _changed_by(program: str, arguments: Sequence[str]) -> list[str]:
    """Return the words among *arguments* of *program* that it may change."""
    if is_interpreter(program):
        return _changed_by_script(arguments)
    change = _SPECIAL.get(program)
    if change is not None:
        return change(arguments)
    if program in _SPEAKERS:
        return []
    if program in data_lines(__file__, "readers.txt"):
        return _changed_by_reader(program, arguments)
    if program in RUNNERS:
        return _changed_by_runner(arguments)
    return _without_messages(arguments)


def _changed_by_runner(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command that another program runs, unless that only reads."""
    if any(is_reader(word) for word in _operands(arguments)[:2]):
        return []
    return [word for word in arguments if " " not in word]


def _changed_by_reader(program: str, arguments: Sequence[str]) -> list[str]:
    """Return what a program that only reads changes by an option."""
    pattern = _CHANGING.get(program)
    if pattern and any(re.match(pattern, word) for word in arguments):
        return list(arguments)
    return _outputs(program, arguments)


def _without_messages(arguments: Sequence[str]) -> list[str]:
    return _without(_MESSAGES, arguments)


def _without(options: Sequence[str], arguments: Sequence[str]) -> list[str]:
    """Return *arguments* without *options* and their values."""
    words: list[str] = []
    before = ""
    for word in arguments:
        if before not in options and word.partition("=")[0] not in options:
            words.append(word)
        before = word
    return words


def _outputs(program: str, arguments: Sequence[str]) -> list[str]:
    """Return the files that stand after options for output."""
    pattern = _OUTPUTS.get(program)
    if pattern is None:
        return []
    words: list[str] = []
    for at, word in enumerate(arguments):
        option, sign, value = word.partition("=")
        if not re.fullmatch(pattern, option):
            glued = re.match(r"-[a-zA-Z]([~/$.].*)", word)
            if glued and re.fullmatch(pattern, word[:2]):
                words.append(glued[1])
        elif sign:
            words.append(value)
        else:
            words += arguments[at + 1 : at + 2]
    return words


def _operands(arguments: Sequence[str]) -> list[str]:
    return [word for word in arguments if not word.startswith("-") or word == "-"]


def _shell_script(program: str, arguments: Sequence[str]) -> list[str]:
    """Return the file that a shell runs."""
    if program not in SHELLS:
        return []
    for word in arguments:
        if word.startswith("-") and "c" in word:
            return []
    return _operands(arguments)[:1]


def _changed_by_script(arguments: Sequence[str]) -> list[str]:
    """Return what a script may change: its files, unless the code is an argument, which is read by
    itself."""
    if "-m" in arguments:
        module = "".join(arguments[arguments.index("-m") + 1 :][:1])
        after = _operands(arguments[arguments.index("-m") + 2 :])
        if module in _READING_MODULES:
            return after[1:]
        return after
    if any(re.match(r"-\w*[iI]\b", word) for word in arguments):
        return _operands(arguments)
    if any(re.fullmatch(r"-[a-zA-Z]*[ceErpn]|--eval|--print|-", word) for word in arguments):
        return []
    return [word for word in _operands(arguments) if " " not in word]


# Programs that change some of their files ---------------------------------------------------------


def _by_copying(arguments: Sequence[str]) -> list[str]:
    """Return where files are copied to, and what gets another name."""
    operands = _operands(arguments)
    for at, word in enumerate(arguments):
        if word in ("-t", "--target-directory"):
            return _inside(arguments[at + 1 : at + 2], operands)
        if word.startswith("--target-directory="):
            return _inside([word.partition("=")[2]], operands)
    if any(re.match(r"--link$|--symbolic|-[abdfinpruvHLPRT]*[ls]", word) for word in arguments):
        return operands
    return _inside(operands[-1:], operands[:-1])


def _by_syncing(arguments: Sequence[str]) -> list[str]:
    """Return where ``rsync`` writes, and what it removes."""
    operands = _operands(arguments)
    if "--remove-source-files" in arguments:
        return operands
    is_dry = any(re.match(r"-[a-zA-Z]*n|--dry-run", word) for word in arguments)
    if is_dry:
        return []
    return _inside(operands[-1:], operands[:-1])


def _inside(targets: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Return *targets*, and what the *sources* are called in them if they are folders."""
    words = list(targets)
    for target in targets:
        for source in sources:
            name = source.rstrip("/").rpartition("/")[2]
            if name:
                words.append(f"{target.rstrip('/')}/{name}")
    return words


def _by_linking(arguments: Sequence[str]) -> list[str]:
    """Return all files: through another name, one can be changed unseen."""
    return [*_operands(arguments), *_by_copying(arguments)]


def _by_moving(arguments: Sequence[str]) -> list[str]:
    operands = _operands(arguments)
    return [*operands, *_inside(operands[-1:], operands[:-1])]


def _by_dd(arguments: Sequence[str]) -> list[str]:
    return [word[3:] for word in arguments if word.startswith("of=")]


def _second(arguments: Sequence[str]) -> list[str]:
    """Return the second file: the output of ``uniq`` and ``xxd``."""
    return _operands(arguments)[1:2]


def _by_git(arguments: Sequence[str]) -> list[str]:
    at = _git_command(arguments)
    if at == len(arguments):
        return []
    command = arguments[at]
    if command in _GIT_READS:
        return _outputs("git", arguments)
    folders: list[str] = []
    for option, value in pairwise(arguments[: at + 1]):
        name, sign, attached = option.partition("=")
        if name in ("-C", "--git-dir", "--work-tree"):
            folders.append(attached if sign else value)
    words = [*folders, *_without(_EXCLUDED, _without_messages(arguments[at + 1 :]))]
    for folder in folders:
        words += [f"{folder}/{name}" for name in _operands(arguments[at + 1 :])]
    if command in _GIT_CHANGES_ALL:
        words.append(".")
    return words


def _git_command(arguments: Sequence[str]) -> int:
    """Return where the first word stands that is no option, and no value of one."""
    before = ""
    for at, word in enumerate(arguments):
        is_value = before in ("-C", "-c", "--git-dir", "--work-tree")
        if not is_value and not word.startswith("-"):
            return at
        before = word
    return len(arguments)


def _by_tar(arguments: Sequence[str]) -> list[str]:
    """Return the archive that is written, or all words where one is unpacked."""
    options = [word for word in arguments if word.startswith("--")]
    letters = "".join(arguments[:1]).lstrip("-")
    letters += "".join([word for word in arguments if re.fullmatch(r"-[a-zA-Z]+", word)])
    if "x" in letters or "--extract" in options or "--remove-files" in options:
        words = list(arguments)
        for option, folder in pairwise(arguments):
            if option in ("-C", "--directory"):
                words += [f"{folder}/{name}" for name in _operands(arguments)]
        return words
    for at, word in enumerate(arguments):
        if re.fullmatch(r"-?[a-zA-Z]*f", word):
            if "t" in letters:
                return []
            return list(arguments[at + 1 : at + 2])
    return []


def _by_zip(arguments: Sequence[str]) -> list[str]:
    if any(re.match(r"-\w*m", word) for word in arguments):
        return list(arguments)
    return _operands(arguments)[:1]


def _by_sed(arguments: Sequence[str]) -> list[str]:
    """Return the files that are edited in place, and those that a script writes."""
    if any(re.match(_CHANGING["sed"], word) for word in arguments):
        return _files_of_sed(arguments)
    words: list[str] = []
    for word in arguments:
        words += re.findall(r"[wW][ \t]*([~/$.][^\s;}]+)", word)
        words += re.findall(r"[wW][ \t]+([^\s;}]+)", word)
    return words


def _files_of_sed(arguments: Sequence[str]) -> list[str]:
    """Return the operands after the script."""
    words: list[str] = []
    has_script = False
    before = ""
    for word in arguments:
        if re.fullmatch(r"-[a-zA-Z]*[ef]|--expression|--file", before) or re.match(
            r"-[a-zA-Z]*e.|--expression=|--file=", word
        ):
            has_script = True
        elif not word.startswith("-"):
            words.append(word)
        before = word
    if has_script or len(words) == 1:
        return words
    return words[1:]


def _by_awk(arguments: Sequence[str]) -> list[str]:
    """Return the files that are edited in place, or that the program prints to."""
    if any(word.endswith("inplace") for word in arguments):
        return list(arguments)
    words: list[str] = []
    for word in arguments:
        words += re.findall(r"print[^;}]*>>?\s*\"([^\"]+)\"", word)
        is_unclear = re.search(r"print[^;}\"]*(?:\"[^\"]*\"[^;}\"]*)?>>?\s*[\w(]", word)
        if is_unclear or re.search(r"\bsystem\s*\(|\|\s*(?:getline|\")", word):
            words.append(OPEN)
    return words


def _by_find(arguments: Sequence[str]) -> list[str]:
    """Return the files that are written, and the folders in which something is removed or given to
    a program that doesn't only read."""
    words = _outputs("find", arguments)
    if not _finds_for_change(arguments):
        return words
    for word in arguments:
        if word.startswith(("-", "(", "!")):
            break
        words.append(word)
    return words


def _patterns(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return which files ``find`` looks for, by name or by path."""
    patterns: list[str] = []
    for at, word in enumerate(arguments[:-1]):
        if word in ("-name", "-iname"):
            patterns.append(f"*/{arguments[at + 1]}")
        elif word in ("-path", "-ipath", "-wholename"):
            patterns.append(arguments[at + 1])
    return tuple(patterns)


def _finds_for_change(arguments: Sequence[str]) -> bool:
    if "-delete" in arguments:
        return True
    for at, word in enumerate(arguments):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            program = "".join(arguments[at + 1 : at + 2]).rpartition("/")[2]
            if OPEN in _changed_by(program, [*arguments[at + 2 :], OPEN]) or program in SHELLS:
                return True
    return False


def _by_sqlite(arguments: Sequence[str]) -> list[str]:
    """Return the database, unless it's only asked."""
    operands = _operands(arguments)
    asks = operands[1:]
    if "-readonly" in arguments or any("mode=ro" in word for word in operands):
        return []
    if asks and all(_only_asks(ask) for ask in asks):
        return []
    return operands


def _only_asks(sql: str) -> bool:
    if re.search(r"writefile|load_extension|edit\s*\(|insert|delete|update", sql, re.IGNORECASE):
        return False
    return all(re.fullmatch(_QUESTION, part, re.IGNORECASE) for part in sql.split(";"))


def _by_compressing(arguments: Sequence[str]) -> list[str]:
    """Return the files that are replaced by compressed ones."""
    if any(re.match(r"-[a-zA-Z]*[ckltv]|--(?:stdout|keep|list|test)", word) for word in arguments):
        return []
    return _operands(arguments)


def _by_splitting(arguments: Sequence[str]) -> list[str]:
    """Return how the parts are called: the last word."""
    return _operands(arguments)[-1:]


def _by_editor(arguments: Sequence[str]) -> list[str]:
    if any(word in ("-R", "-v", "--view", "-d") for word in arguments):
        return []
    return _without_messages(arguments)


def _by_curl(arguments: Sequence[str]) -> list[str]:
    """Return the files that are written; with ``-O``, what the address is called."""
    words = _outputs("curl", arguments)
    if any(re.match(r"-[a-zA-Z]*[OJ]|--remote-name", word) for word in arguments):
        words += _downloaded(arguments)
    if any(word in ("-K", "--config") for word in arguments):
        words.append(OPEN)
    return words


def _by_wget(arguments: Sequence[str]) -> list[str]:
    words = _outputs("wget", arguments)
    if not words:
        words = _downloaded(arguments)
    return words


def _downloaded(arguments: Sequence[str]) -> list[str]:
    """Return what the addresses among *arguments* are called here."""
    return [".", *[word.rpartition("/")[2] for word in arguments if "://" in word]]


_SPECIAL: Mapping[str, Callable[[Sequence[str]], list[str]]] = {
    **dict.fromkeys(_COPIES, _by_copying),
    "rsync": _by_syncing,
    "ln": _by_linking,
    "mv": _by_moving,
    "dd": _by_dd,
    "uniq": _second,
    "xxd": _second,
    "git": _by_git,
    **dict.fromkeys(("tar", "bsdtar"), _by_tar),
    "zip": _by_zip,
    "sed": _by_sed,
    **dict.fromkeys(("awk", "gawk", "mawk"), _by_awk),
    "find": _by_find,
    "sqlite3": _by_sqlite,
    **dict.fromkeys(("gzip", "xz", "bzip2"), _by_compressing),
    **dict.fromkeys(("vim", "vi", "nvim", "nano"), _by_editor),
    "split": _by_splitting,
    "curl": _by_curl,
    "wget": _by_wget,
}


def _is_recursive(program: str, arguments: Sequence[str]) -> bool:
    """Whether a folder above a protected file matters too."""
    if program in ("mv", "mount", "rename"):
        return True
    if program == "git":
        return not _GIT_READS.intersection(arguments)
    if program == "find":
        return _finds_for_change(arguments)
    if program in ("rm", "chmod", "chown", "chgrp", "setfacl"):
        return any(re.match(r"-\w*[rR]|--recursive", word) for word in arguments)
    return program == "rsync" and any(word.startswith("--del") for word in arguments)
