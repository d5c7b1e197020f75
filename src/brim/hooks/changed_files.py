"""Which words of a command name files that it may change.

A program that isn't known only to read may change every file that it's given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from brim.agents import AGENTS
from brim.files import data_lines
from brim.hooks.arguments import (
    has_option,
    operands,
    option_values,
    tar_letters,
    without_options,
)
from brim.record import PlainData
from brim.rules.programs import WRAPPERS
from brim.rules.shell import SHELLS, RanCommand

_SPEAKERS = frozenset(("brim", "gh", "glab", "say", "notify-send", *AGENTS))
"""Programs whose words are texts for somebody else."""
RUNNERS = frozenset(
    ["ssh", "tmux", "screen", "watch", "trap", "su", "at", "alias", "expect", "entr", "npx"]
)
"""Programs that take a whole command line as one word."""
_MESSAGES = r"-m|--message|--body|--title|--description|--notes|--subject"
"""Options of many programs after which a text stands."""
_EXCLUDED = r"-e|--exclude"
"""Options of git after which a file stands that it leaves alone."""
_CHANGING = {
    "sed": r"-[a-zA-Z]*i|--in-place",
    "yq": r"-[a-zA-Z]*i|--in-?place",
    "fd": r"-x|-X|--exec",
    "fdfind": r"-x|-X|--exec",
    "zstd": r"--rm",
}
"""Options that make a reader change what it's given."""
_SED_SCRIPT = r"-[a-zA-Z]*[ef]|--expression|--file"
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
_GIT_FOLDERS = r"-C|--git-dir|--work-tree"
"""Options of git for the folder that it's about."""
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
    if any(is_reader(word) for word in operands(arguments)[:2]):
        return []
    return [word for word in arguments if " " not in word]


def _changed_by_reader(program: str, arguments: Sequence[str]) -> list[str]:
    """Return what a program that only reads changes by an option."""
    pattern = _CHANGING.get(program)
    if pattern and has_option(pattern, arguments):
        return list(arguments)
    return _outputs(program, arguments)


def _without_messages(arguments: Sequence[str]) -> list[str]:
    return without_options(_MESSAGES, arguments)


def _outputs(program: str, arguments: Sequence[str]) -> list[str]:
    """Return the files that stand after options for output."""
    pattern = _OUTPUTS.get(program)
    if pattern is None:
        return []
    return option_values(pattern, arguments)


def _shell_script(program: str, arguments: Sequence[str]) -> list[str]:
    """Return the file that a shell runs."""
    if program not in SHELLS:
        return []
    for word in arguments:
        if word.startswith("-") and "c" in word:
            return []
    return operands(arguments)[:1]


def _changed_by_script(arguments: Sequence[str]) -> list[str]:
    """Return what a script may change: its files, unless the code is an argument, which is read by
    itself."""
    if "-m" in arguments:
        return _changed_by_module(arguments[arguments.index("-m") + 1 :])
    if has_option(r"-\w*[iI]\b", arguments):
        return operands(arguments)
    if has_option(r"(?:-[a-zA-Z]*[ceErpn]|--eval|--print|-)$", arguments):
        return []
    return [word for word in operands(arguments) if " " not in word]


def _changed_by_module(words: Sequence[str]) -> list[str]:
    """Return what a module of Python may change; *words* are its name and arguments."""
    files = operands(words[1:])
    if words[:1] and words[0] in _READING_MODULES:
        return files[1:]
    return files


# Programs that change some of their files ---------------------------------------------------------


def _by_copying(arguments: Sequence[str]) -> list[str]:
    """Return where files are copied to, and what gets another name."""
    files = operands(arguments)
    targets = option_values(r"-t|--target-directory", arguments)
    if targets:
        return _inside(targets[:1], files)
    if has_option(r"--link$|--symbolic|-[abdfinpruvHLPRT]*[ls]", arguments):
        return files
    return _inside(files[-1:], files[:-1])


def _by_syncing(arguments: Sequence[str]) -> list[str]:
    """Return where ``rsync`` writes, and what it removes."""
    files = operands(arguments)
    if "--remove-source-files" in arguments:
        return files
    if has_option(r"-[a-zA-Z]*n|--dry-run", arguments):
        return []
    return _inside(files[-1:], files[:-1])


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
    return [*operands(arguments), *_by_copying(arguments)]


def _by_moving(arguments: Sequence[str]) -> list[str]:
    files = operands(arguments)
    return [*files, *_inside(files[-1:], files[:-1])]


def _by_dd(arguments: Sequence[str]) -> list[str]:
    return [word[3:] for word in arguments if word.startswith("of=")]


def _second(arguments: Sequence[str]) -> list[str]:
    """Return the second file: the output of ``uniq`` and ``xxd``."""
    return operands(arguments)[1:2]


def _by_git(arguments: Sequence[str]) -> list[str]:
    at = _git_command(arguments)
    if at == len(arguments):
        return []
    command = arguments[at]
    if command in _GIT_READS:
        return _outputs("git", arguments)
    folders = option_values(_GIT_FOLDERS, arguments[:at])
    names = arguments[at + 1 :]
    words = [*folders, *without_options(_EXCLUDED, _without_messages(names))]
    for folder in folders:
        words += [f"{folder}/{name}" for name in operands(names)]
    if command in _GIT_CHANGES_ALL:
        words.append(".")
    return words


def _git_command(arguments: Sequence[str]) -> int:
    """Return where the first word stands that is no option, and no value of one."""
    words = operands(without_options(rf"-c|{_GIT_FOLDERS}", arguments))
    if not words:
        return len(arguments)
    return arguments.index(words[0])


def _by_tar(arguments: Sequence[str]) -> list[str]:
    """Return the archive that is written, or all words where one is unpacked."""
    letters = tar_letters(arguments)
    if "x" in letters or has_option("--extract$|--remove-files$", arguments):
        words = list(arguments)
        for folder in option_values("-C|--directory", arguments):
            words += [f"{folder}/{name}" for name in operands(arguments)]
        return words
    if "t" in letters:
        return []
    return option_values(r"-?[a-zA-Z]*f", arguments)[:1]


def _by_zip(arguments: Sequence[str]) -> list[str]:
    if has_option(r"-\w*m", arguments):
        return list(arguments)
    return operands(arguments)[:1]


def _by_sed(arguments: Sequence[str]) -> list[str]:
    """Return the files that are edited in place, and those that a script writes."""
    if has_option(_CHANGING["sed"], arguments):
        return _files_of_sed(arguments)
    words: list[str] = []
    for word in arguments:
        words += re.findall(r"[wW][ \t]*([~/$.][^\s;}]+)", word)
        words += re.findall(r"[wW][ \t]+([^\s;}]+)", word)
    return words


def _files_of_sed(arguments: Sequence[str]) -> list[str]:
    """Return the operands after the script."""
    files = operands(without_options(_SED_SCRIPT, arguments))
    has_script = has_option(rf"(?:{_SED_SCRIPT})(?:=|$)|-[a-zA-Z]*e.", arguments)
    if has_script or len(files) == 1:
        return files
    return files[1:]


def _by_awk(arguments: Sequence[str]) -> list[str]:
    """Return the files that are edited in place, or that the program prints to."""
    if has_option("(?s:.*)inplace$", arguments):
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
    files = operands(arguments)
    questions = files[1:]
    if "-readonly" in arguments or has_option("(?s:.*)mode=ro", files):
        return []
    if questions and all(map(_only_asks, questions)):
        return []
    return files


def _only_asks(sql: str) -> bool:
    if re.search(r"writefile|load_extension|edit\s*\(|insert|delete|update", sql, re.IGNORECASE):
        return False
    return all(re.fullmatch(_QUESTION, part, re.IGNORECASE) for part in sql.split(";"))


def _by_compressing(arguments: Sequence[str]) -> list[str]:
    """Return the files that are replaced by compressed ones."""
    if has_option(r"-[a-zA-Z]*[ckltv]|--(?:stdout|keep|list|test)", arguments):
        return []
    return operands(arguments)


def _by_splitting(arguments: Sequence[str]) -> list[str]:
    """Return how the parts are called: the last word."""
    return operands(arguments)[-1:]


def _by_editor(arguments: Sequence[str]) -> list[str]:
    if has_option("(?:-R|-v|--view|-d)$", arguments):
        return []
    return _without_messages(arguments)


def _by_curl(arguments: Sequence[str]) -> list[str]:
    """Return the files that are written; with ``-O``, what the address is called."""
    words = _outputs("curl", arguments)
    if has_option(r"-[a-zA-Z]*[OJ]|--remote-name", arguments):
        words += _downloaded(arguments)
    if has_option("(?:-K|--config)$", arguments):
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


_RECURSIVE: Mapping[str, str] = {
    **dict.fromkeys(("mv", "mount", "rename"), ""),
    **dict.fromkeys(("rm", "chmod", "chown", "chgrp", "setfacl"), r"-\w*[rR]|--recursive"),
    "rsync": "--del",
}
"""Options with which a program changes a folder with all that is in it; empty is always."""


def _is_recursive(program: str, arguments: Sequence[str]) -> bool:
    """Whether a folder above a protected file matters too."""
    if program == "git":
        return not _GIT_READS.intersection(arguments)
    if program == "find":
        return _finds_for_change(arguments)
    return program in _RECURSIVE and has_option(_RECURSIVE[program], arguments)
