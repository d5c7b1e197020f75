"""Whether a constraint speaks against what a pending call does, by its own words.

One shared word says little: "Never log secrets" has nothing to do with ``git log``. So a rule is
about a call only if

- its condition ``file`` names a folder or a file that the call changes, or
- what it says after *never*, *not*, *instead of* and the like names the command, the file, the flag or the code: in
  backticks or quotes, by its look (``migrations/``, ``os.path``, ``--force``), as two words of a
  command in order (*npm install*), after *use* or *run* (*don't use pip*), or by one of a few verbs
  (*never push*).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from brim.agents.call import HookCall
from brim.behaviors.behavior import Rule
from brim.memory.repetition.commands import CommandPart, parts, writes
from brim.record import PlainData
from brim.rules.globs import matches
from brim.rules.languages import language_of

MOST_FILES = 20
"""Files of one call that are looked at."""

_AGAINST = (
    r"(?i)\b(?:never|(?:do|does|must|may|can|should|shall|will)\s+not|cannot|not|\w+n['’]t|no|avoid|stop|instead\s+of"
    r"|rather\s+than|niemals|nicht|keine?n?|jamais|nunca|jamás|não|nooit|никогда|нельзя|aldrig|nigdy)\s"
)
_END = (
    r"(?i)[.;!?](?=\s|$)|\n|\s[-–—]+\s|:\s(?!\s*[`\"“])|[,(]\s*(?:(?:and|but|always|please|just|only)\s+)*(?:use|run|call"
    r"|prefer|ask|write|put|let|go|add|create|edit|change|make|do|it|they|we|i|because|as|only|always)\b"
    r"|\b(?:without|unless|until|except|but|before|after|because|since|so|instead(?!\s+of)|which|if|when)\b"
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
_CHANGES = r"(?i)\b(?:hand-?)?(?:edit|chang|modif|touch|writ|creat|updat|alter|renam|mov|delet|remov|overwrit|reformat|rewrit)"
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
    *(
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
    ),
    *(
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
    ),
    *(
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
    ),
    *("touch", "true", "type", "watch", "which", "who", "write", "yes"),
)
"""Programs whose names are plain words."""
RUNNERS = ("run", "exec", "x", "compose", "dlx")
"""What stands between a program and the name of what it runs."""
_CHANGERS = ("rm", "mv", "cp", "touch", "truncate", "rmdir", "unlink", "rsync", "ln", "dd")
_PROSE = ("markdown", "text", "rst", "restructuredtext")


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

        found = parts(command)
        touched, staged = writes(found), list[str]()
        for program, *given in (part.named for part in found):
            plain = [word for word in given if not word.startswith("-")]
            if program in _CHANGERS:
                touched += (
                    plain[-1:] if program in ("cp", "rsync") else plain
                )  # the others stay as they are
            elif program == "git" and plain[:1] in (["rm"], ["mv"]):
                touched += plain[1:]
            elif program == "git" and plain[:1] in (["add"], ["commit"]):
                staged += plain[1:]
        return cls(parts=tuple(found), touched=tuple(touched), staged=tuple(staged))


def mention(rule: Rule, doing: Doing) -> str:
    """Return what of *doing* the *rule* speaks against: a file, a command, a flag or a name; empty
    if nothing."""
    patterns = dict(rule.when.conditions).get("file", ())
    named = [each for each in patterns if not re.fullmatch(r"(?:\*\*/?)*(?:\*(?:\.\w+)?)?", each)]
    for file in doing.files:
        if any(matches(file, pattern) for pattern in named):
            return file
    if _is_exempt(rule.canonical, doing):
        return ""
    return next((found for said in _against(rule.canonical) if (found := _in(said, doing))), "")


def _is_exempt(text: str, doing: Doing) -> bool:
    """Whether the call changes only what *text* makes an exception of: "outside build/"."""
    names = [
        word.strip(".'’/")
        for said in re.findall(_EXEMPT, text)
        for word in re.findall(_WORD, said)
        if "/" in word
    ]
    files = [file.rstrip("/") for file in (*doing.files, *doing.touched)]
    return bool(files) and all(
        any(file == name or matches(file, f"{name}/**") for name in names) for file in files
    )


def _against(text: str) -> Iterator[str]:
    """Yield the parts of *text* that say what is not to be done."""
    for start in re.finditer(_AGAINST, text):
        end = re.compile(_END).search(text, start.end())
        yield text[start.end() : end.start() if end else len(text)]
    for closed in re.finditer(_CLOSED, text):
        yield f"touch {closed[1]}"


def _in(said: str, doing: Doing) -> str:
    """Return the name in *said* that is in *doing*."""
    quoted = [(one or other).strip() for one, other in re.findall(_QUOTED, said)]
    bare = [word.strip(".'’") for word in re.findall(_WORD, re.sub(_QUOTED, " ", said))]
    names: list[str] = [*quoted, *(word for word in bare if _is_name(word))]
    code = re.findall(rf"\bin\s`?({_CODE})", said)
    places = [place for place in code if language_of(place) is None]  # "setState in build()"
    for name in names:
        is_written = name not in places and all(_writes(each, doing) for each in (name, *places))
        if is_written or _changes(name, said, doing):
            return name
    if not doing.parts:
        return ""
    words = [word.lower() for word in bare]
    for part in doing.parts:
        if (
            found := _flag(names, part)
            or _quoted_command(quoted, part)
            or _command(words, part)
            or _verb(words, part)
        ):
            return found
    return ""


def _is_name(word: str) -> bool:
    looks_like_file = "/" in word or re.fullmatch(r"\.\w[\w.-]*|[\w*-][\w*.-]*\.[a-z]\w{0,5}", word)
    return bool(looks_like_file or word.startswith("--") or re.fullmatch(_CODE, word))


def _changes(name: str, said: str, doing: Doing) -> bool:
    """Whether the call changes the file or folder *name*, and that is what is *said* of it."""
    if " " in name or name.startswith("-"):
        return False
    pattern = f"{name}**" if name.endswith("/") else name
    either = (pattern, f"{pattern}/**")
    files = [*doing.files, *doing.touched] if re.search(_CHANGES, said) else []
    files += doing.staged if re.search(_COMMITS, said) else []
    return (
        any(matches(file, each) for file in files for each in either)
        or pattern.rstrip("*") in files
    )


def _writes(name: str, doing: Doing) -> bool:
    """Whether the call brings the code *name* into a file."""
    if (
        not doing.new
        or " " in name
        or "/" in name
        or all(language_of(file) in _PROSE for file in doing.files)
    ):
        return False
    bare = name.removesuffix("()")
    if re.fullmatch(_CODE, name) and language_of(name) is None:
        pattern = rf"(?<!\w){re.escape(bare)}" + (r"(?!\w)" if bare == name else r"\(")
    elif (
        bare.isalpha() and len(bare) > 1
    ):  # a plain word is code only next to what code has around it
        pattern = rf"(?:[:<|\[]\s*|\bas\s|@){re.escape(bare)}\b(?!['’ ]\w)|(?<![\w.]){re.escape(bare)}[(!]"
    else:
        return False
    return len(re.findall(pattern, doing.new)) > len(re.findall(pattern, doing.old))


# Commands -----------------------------------------------------------------------------------------


def _flag(names: list[str], part: CommandPart) -> str:
    flags = [name for name in names if name.startswith("--") and " " not in name]
    return next((flag for flag in flags if any(_same(word, flag) for word in part.words[1:])), "")


def _quoted_command(quoted: list[str], part: CommandPart) -> str:
    """Return the command in backticks or quotes that *part* is."""
    program, *given = part.named
    for name in quoted:
        first, *rest = name.split() or [""]
        wanted = [
            word
            for word in map(str.lower, rest)
            if word[:1] not in ("<", "[", "$", "*", "…") and word != "..."
        ]
        if first.rsplit("/", 1)[-1] == program and all(
            any(_same(each, w) for each in given) for w in wanted
        ):
            return name
    return ""


def _command(words: list[str], part: CommandPart) -> str:
    """Return the words that name *part*: the program with what it is told to do, or alone where one
    is expected."""
    program, *given = (word.lower() for word in part.named)
    plain = [word for word in given if not word.startswith("-")]
    wanted = [program, *plain[: 2 if plain[:1] and plain[0] in RUNNERS else 1]]
    for at in [at for at, word in enumerate(words) if word == program]:
        flags = [word for word in words[at + 1 : at + 5] if word.startswith("-")]
        if not all(any(_same(each, flag) for each in given) for flag in flags):
            continue
        follows = words[at : at + len(wanted)] == wanted and len(wanted) > 1
        before = words[at - 1] if at else ""
        is_led = before in LEADS or (before in ("", "or", "and") and program not in WORDS)
        alone = at + 1 == len(words) or words[at + 1] in (
            "or",
            "and",
            "for",
            "to",
            "in",
            "directly",
            "here",
            "on",
        )
        if follows or flags or (alone and is_led):
            return " ".join(words[at : at + max(len(wanted) if follows else 1, 1 + len(flags))])
    return ""


def _verb(words: list[str], part: CommandPart) -> str:
    """Return the verb after *never* that *part* does, such as push."""
    program, *given = (word.lower() for word in part.named)
    plain = [word for word in given if not word.startswith("-")]
    does = (
        plain[1]
        if plain[:1] and plain[0] in RUNNERS and len(plain) > 1
        else plain[0]
        if plain
        else ""
    )
    said = [each for one in words for each in one.split("/")]
    for at, word in enumerate(said):
        if (
            said[at + 1 : at + 2] and said[at + 1] in ARTICLES
        ):  # of one thing that isn't to be committed
            return ""
        forced = word == "force-push"
        if word in VERBS and (does == word.removeprefix("force-") or program.split(".")[0] == word):
            if forced and not any(
                _same(each, flag) for each in given for flag in ("-f", "--force")
            ):
                return ""
            return "" if _is_elsewhere(words, given) else word
        if word not in VERBS and word not in ADVERBS:
            break
    return ""


def _is_elsewhere(words: list[str], given: list[str]) -> bool:
    """Whether something else is pushed than the rule names, or to another branch."""
    plain = [word for word in given if not word.startswith("-")]
    if plain[:1] != ["push"]:
        return False
    if "tags" in words:
        return not any("tags" in word for word in given)
    if len(plain) < 3 or "to" not in words:
        return False
    named = [word for word in words[words.index("to") + 1 :] if word not in ("the", "a", "branch")]
    to = plain[2].rpartition(":")[2]
    return to not in ("head", *named)


def _same(given: str, wanted: str) -> bool:
    """Whether *given* is the word or the option *wanted*: ``-fr`` has ``-rf``,
    ``--force-with-lease`` isn't it."""
    if (
        wanted.startswith("-")
        and not wanted.startswith("--")
        and given[:1] == "-"
        and given[:2] != "--"
    ):
        return set(wanted[1:]) <= set(given[1:])
    return given == wanted or given.startswith(f"{wanted}=")
