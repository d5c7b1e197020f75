"""Whether a constraint speaks against what a pending call does, by its own words.

One shared word says little: "Never log secrets" has nothing to do with ``git log``. So a rule is
about a call only if

- its condition ``file`` names a folder or a file that the call changes, or
- what it says after *never*, *not*, *instead of* and the like names the command, the file, the flag
  or the code: in backticks or quotes, by its look (``migrations/``, ``os.path``, ``--force``), as
  two words of a command in order (*npm install*), after *use* or *run* (*don't use pip*), or by one
  of a few verbs (*never push*).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from brim.agents.call import HookCall
from brim.memory.repetition.commands import CommandPart, parts, writes
from brim.record import PlainData
from brim.rules.globs import matches
from brim.rules.languages import language_of

MOST_FILES = 20
"""Files of one call that are looked at."""

_AGAINST = (
    r"(?i)\b(?:never|(?:do|does|must|may|can|should|shall|will)\s+not|cannot|not|\w+n['’]t|no"
    r"|avoid|stop|instead\s+of|rather\s+than"
    r"|niemals|nicht|keine?n?|jamais|nunca|jamás|não|nooit|никогда|нельзя|aldrig|nigdy)\s"
)
_END = (
    r"(?i)[.;!?](?=\s|$)|\n|\s[-–—]+\s|:\s(?!\s*[`\"“])"
    r"|[,(]\s*(?:(?:and|but|always|please|just|only)\s+)*(?:use|run|call|prefer|ask|write|put|let|go"
    r"|add|create|edit|change|make|do|it|they|we|i|because|as|only|always)\b"
    r"|\b(?:without|unless|until|except|but|before|after|because|since|so|instead(?!\s+of)|which|if"
    r"|when)\b"
)
_EXEMPT = r"(?i)\b(?:outside|except|unless|other\s+than)\b([^.;!?\n]*)"
_CLOSED = (
    r"(?i)(?:^|[.;!?]\s|\n)([^.;!?\n]*?\S*)\s(?:is|are)\s(?:strictly\s)?"
    r"(?:forbidden|prohibited|off[- ]limits|read-only|not\s(?:allowed|permitted))"
)
_QUOTED = r"`+([^`\n]{1,200}?)`+|[\"“]([^\"”\n]{2,80})[\"”]"
_WORD = r"(?:[^\s,;:(){}<>\"“”`!?]|\(\)|::)+"
_CODE = (
    r"(?:[a-zA-Z]\w+(?:(?:\.|::|->)[a-zA-Z]\w*)+|\w*[a-z0-9]_\w+|[a-z]+[A-Z]\w+|\w+\(\))(?:\(\))?"
)
_CHANGES = (
    r"(?i)\b(?:hand-?)?(?:edit|chang|modif|touch|writ|creat|updat|alter|renam|mov|delet|remov"
    r"|overwrit|reformat|rewrit)"
)
_COMMITS = r"(?i)\b(?:commit|stag|check in|push|add)"

VERBS = ("push", "force-push", "commit", "rebase", "stash", "merge", "publish", "deploy")
"""What people call a command by, and little else, directly after *never*."""
ADVERBS = ("ever", "directly", "automatically", "blindly", "just", "and", "or", "to", "git")
ARTICLES = ("a", "an", "any")
LEADS = (
    "use",
    "using",
    "run",
    "running",
    "call",
    "via",
    "with",
    "of",
    "than",
    "invoke",
    "execute",
    "start",
)
"""Words after which a program is meant by its name."""
WORDS = (
    "at",
    "cat",
    "column",
    "cp",
    "cut",
    "date",
    "diff",
    "dir",
    "env",
    "false",
    "file",
    "find",
    "fold",
    "go",
    "head",
    "history",
    "install",
    "join",
    "kill",
    "last",
    "less",
    "link",
    "look",
    "make",
    "more",
    "node",
    "open",
    "patch",
    "print",
    "read",
    "reset",
    "set",
    "show",
    "sort",
    "split",
    "start",
    "stat",
    "tail",
    "test",
    "time",
    "top",
    "touch",
    "true",
    "type",
    "watch",
    "which",
    "who",
    "write",
    "yes",
)
"""Programs whose names are plain words."""
RUNNERS = ("run", "exec", "x", "compose", "dlx")
"""What stands between a program and the name of what it runs."""
_CHANGERS = ("rm", "mv", "cp", "touch", "truncate", "rmdir", "unlink", "rsync", "ln", "dd")
_PROSE = ("markdown", "text", "rst", "restructuredtext")
_ALL_FILES = r"(?:\*\*/?)*(?:\*(?:\.\w+)?)?"
"""Patterns that name no file, such as ``**/*.py``."""
_FILE_NAME = r"\.\w[\w.-]*|[\w*-][\w*.-]*\.[a-z]\w{0,5}"
_AFTER_PROGRAM = ("or", "and", "for", "to", "in", "directly", "here", "on")
"""Words that can follow a program that is meant by its name alone."""


@dataclass(frozen=True)
class Doing(PlainData):
    """What a call would do: the files it changes, what it writes there, and the commands it
    runs."""

    files: tuple[str, ...] = ()
    new: str = ""
    old: str = ""
    parts: tuple[CommandPart, ...] = ()
    touched: tuple[str, ...] = ()
    """Files that commands write, move or remove."""
    staged: tuple[str, ...] = ()
    """What git is told to add or commit."""

    @classmethod
    def of(cls, call: HookCall) -> Doing:
        """Return what *call* would do."""
        tool = call.tool
        if tool.command:
            return cls._of_command(tool.command)
        return cls(tool.files[:MOST_FILES], tool.text, tool.replaced)

    @classmethod
    def _of_command(cls, command: str) -> Doing:
        command_parts = parts(command)
        touched = writes(command_parts)
        staged: list[str] = []
        for part in command_parts:
            program, *arguments = part.named
            files = _without_options(arguments)
            if program in ("cp", "rsync"):
                touched += files[-1:]  # the others stay as they are
            elif program in _CHANGERS:
                touched += files
            elif program == "git" and files[:1] in (["rm"], ["mv"]):
                touched += files[1:]
            elif program == "git" and files[:1] in (["add"], ["commit"]):
                staged += files[1:]
        return cls(parts=tuple(command_parts), touched=tuple(touched), staged=tuple(staged))


def mention(text: str, patterns: Iterable[str], doing: Doing) -> str:
    """Return what of *doing* a rule speaks against: a file, a command, a flag or a name; empty if
    nothing.

    *text* is what the rule says, and *patterns* are the files that it's for.
    """
    named_patterns = [pattern for pattern in patterns if not re.fullmatch(_ALL_FILES, pattern)]
    for file in doing.files:
        if any(matches(file, pattern) for pattern in named_patterns):
            return file
    if _is_exempt(text, doing):
        return ""
    for prohibition in _prohibitions(text):
        name = _name_in(prohibition, doing)
        if name:
            return name
    return ""


def _is_exempt(text: str, doing: Doing) -> bool:
    """Whether the call changes only what *text* makes an exception of: "outside build/"."""
    files = [file.rstrip("/") for file in (*doing.files, *doing.touched)]
    if not files:
        return False
    folders = _exceptions(text)
    return all(_is_in_one_of(folders, file) for file in files)


def _exceptions(text: str) -> list[str]:
    folders = []
    for exception in re.findall(_EXEMPT, text):
        for word in re.findall(_WORD, exception):
            folder = word.strip(".'’/")
            if "/" in word:
                folders.append(folder)
    return folders


def _is_in_one_of(folders: list[str], file: str) -> bool:
    return any(file == folder or matches(file, f"{folder}/**") for folder in folders)


def _prohibitions(text: str) -> Iterator[str]:
    """Yield the parts of *text* that say what is not to be done."""
    for start in re.finditer(_AGAINST, text):
        end = re.compile(_END).search(text, start.end())
        if end:
            yield text[start.end() : end.start()]
        else:
            yield text[start.end() :]
    for closed in re.finditer(_CLOSED, text):
        yield f"touch {closed[1]}"


def _name_in(prohibition: str, doing: Doing) -> str:
    """Return the name in *prohibition* that is in *doing*."""
    quoted = [(code or words).strip() for code, words in re.findall(_QUOTED, prohibition)]
    unquoted = re.sub(_QUOTED, " ", prohibition)
    bare = [word.strip(".'’") for word in re.findall(_WORD, unquoted)]
    names: list[str] = quoted + [word for word in bare if _is_name(word)]
    code = re.findall(rf"\bin\s`?({_CODE})", prohibition)
    places = [place for place in code if language_of(place) is None]  # "setState in build()"
    for name in names:
        if name not in places and all(_writes(code, doing) for code in (name, *places)):
            return name
        if _changes(name, prohibition, doing):
            return name
    words = [word.lower() for word in bare]
    for part in doing.parts:
        name = _flag(names, part) or _quoted_command(quoted, part)
        name = name or _command(words, part) or _verb(words, part)
        if name:
            return name
    return ""


def _is_name(word: str) -> bool:
    if "/" in word or word.startswith("--"):
        return True
    return bool(re.fullmatch(_FILE_NAME, word) or re.fullmatch(_CODE, word))


def _changes(name: str, prohibition: str, doing: Doing) -> bool:
    """Whether the call changes the file or folder *name*, and the *prohibition* is about that."""
    if " " in name or name.startswith("-"):
        return False
    pattern = name
    if name.endswith("/"):
        pattern = f"{name}**"
    files: list[str] = []
    if re.search(_CHANGES, prohibition):
        files += (*doing.files, *doing.touched)
    if re.search(_COMMITS, prohibition):
        files += doing.staged
    if pattern.rstrip("*") in files:
        return True
    return any(matches(file, pattern) or matches(file, f"{pattern}/**") for file in files)


def _writes(name: str, doing: Doing) -> bool:
    """Whether the call brings the code *name* into a file."""
    if not doing.new or " " in name or "/" in name:
        return False
    if all(language_of(file) in _PROSE for file in doing.files):
        return False
    pattern = _code_pattern(name)
    if not pattern:
        return False
    return len(re.findall(pattern, doing.new)) > len(re.findall(pattern, doing.old))


def _code_pattern(name: str) -> str:
    """Return a pattern for the code *name*, empty if it isn't code."""
    bare = name.removesuffix("()")
    if re.fullmatch(_CODE, name) and language_of(name) is None:
        end = r"(?!\w)" if bare == name else r"\("
        return rf"(?<!\w){re.escape(bare)}{end}"
    if not bare.isalpha() or len(bare) < 2:
        return ""
    # A plain word is code only next to what code has around it.
    after_sign = rf"(?:[:<|\[]\s*|\bas\s|@){re.escape(bare)}\b(?!['’ ]\w)"
    before_bracket = rf"(?<![\w.]){re.escape(bare)}[(!]"
    return f"{after_sign}|{before_bracket}"


# Commands -----------------------------------------------------------------------------------------


def _flag(names: list[str], part: CommandPart) -> str:
    for name in names:
        is_flag = name.startswith("--") and " " not in name
        if is_flag and _has(part.words[1:], name):
            return name
    return ""


def _quoted_command(quoted: list[str], part: CommandPart) -> str:
    """Return the command in backticks or quotes that *part* is."""
    program, *arguments = part.named
    for command in quoted:
        first, *words = command.split() or [""]
        if first.rsplit("/", 1)[-1] != program:
            continue
        wanted = [word.lower() for word in words if not _is_placeholder(word)]
        if all(_has(arguments, word) for word in wanted):
            return command
    return ""


def _is_placeholder(word: str) -> bool:
    return word == "..." or word[:1] in ("<", "[", "$", "*", "…")


def _command(words: list[str], part: CommandPart) -> str:
    """Return the words that name *part*: the program with what it is told to do, or alone where one
    is expected."""
    program, *arguments = [word.lower() for word in part.named]
    plain = _without_options(arguments)
    wanted = [program, *plain[:1]]
    if plain and plain[0] in RUNNERS:
        wanted = [program, *plain[:2]]
    for at, word in enumerate(words):
        if word != program:
            continue
        flags = [word for word in words[at + 1 : at + 5] if word.startswith("-")]
        if not all(_has(arguments, flag) for flag in flags):
            continue
        length = 1 + len(flags)
        if len(wanted) > 1 and words[at : at + len(wanted)] == wanted:
            return " ".join(words[at : at + max(len(wanted), length)])
        if flags or _stands_alone(words, at):
            return " ".join(words[at : at + length])
    return ""


def _stands_alone(words: list[str], at: int) -> bool:
    """Whether the word *at* a place means the program of that name."""
    is_last = at + 1 == len(words)
    if not is_last and words[at + 1] not in _AFTER_PROGRAM:
        return False
    before = words[at - 1] if at else ""
    if before in LEADS:
        return True
    return before in ("", "or", "and") and words[at] not in WORDS


def _verb(words: list[str], part: CommandPart) -> str:
    """Return the verb after *never* that *part* does, such as push."""
    program, *arguments = [word.lower() for word in part.named]
    names = (_subcommand(arguments), program.split(".")[0])
    verbs = "/".join(words).split("/")
    for word, following in zip(verbs, [*verbs[1:], ""], strict=True):
        if following in ARTICLES:  # of one thing that isn't to be committed
            return ""
        if word in VERBS and (names[0] == word.removeprefix("force-") or names[1] == word):
            is_other = word == "force-push" and not _is_forced(arguments)
            if is_other or _is_elsewhere(words, arguments):
                return ""
            return word
        if word not in VERBS and word not in ADVERBS:
            break
    return ""


def _subcommand(arguments: list[str]) -> str:
    """Return what a program is told to do by its *arguments*."""
    plain = _without_options(arguments)
    if len(plain) > 1 and plain[0] in RUNNERS:
        return plain[1]
    if plain:
        return plain[0]
    return ""


def _is_forced(arguments: list[str]) -> bool:
    return _has(arguments, "-f") or _has(arguments, "--force")


def _is_elsewhere(words: list[str], arguments: list[str]) -> bool:
    """Whether something else is pushed than the rule names, or to another branch."""
    plain = _without_options(arguments)
    if plain[:1] != ["push"]:
        return False
    if "tags" in words:
        return not any("tags" in argument for argument in arguments)
    if len(plain) < 3 or "to" not in words:
        return False
    after_to = words[words.index("to") + 1 :]
    branches = [word for word in after_to if word not in ("the", "a", "branch")]
    target = plain[2].rpartition(":")[2]
    return target not in ("head", *branches)


def _without_options(arguments: list[str]) -> list[str]:
    return [argument for argument in arguments if not argument.startswith("-")]


def _has(arguments: Iterable[str], wanted: str) -> bool:
    """Whether one of *arguments* is the word or the option *wanted*."""
    return any(_is_same(argument, wanted) for argument in arguments)


def _is_same(argument: str, wanted: str) -> bool:
    """Whether *argument* is *wanted*: ``-fr`` has ``-rf``, ``--force-with-lease`` isn't
    ``--force``."""
    if _is_short_option(wanted) and _is_short_option(argument):
        return set(wanted[1:]) <= set(argument[1:])
    return argument == wanted or argument.startswith(f"{wanted}=")


def _is_short_option(word: str) -> bool:
    return word.startswith("-") and not word.startswith("--")
