"""What does code do that a command gives to an interpreter: does it only read, does it run brim?"""

from __future__ import annotations

import re

from brim.files import data_lines
from brim.hooks.changed_files import is_interpreter
from brim.rules.shell import RanCommand

_EDITORS = ("ed", "ex", "vi", "vim", "patch", "git", "make", "at", "batch", "crontab")
"""Programs whose input names files that they change, or commands that they run."""
_CALL = r"([A-Za-z_$][\w$]*)\s*\("
_WRITING_MODE = r"""['"][rbt]*[wax+][rwbt+]*['"]"""
_WRITING = r"""
    \b(?:os\.open|unlink|rename|system|exec|spawn|truncate|rmdir|symlink|chmod|syswrite|writeFile\w*
    |write|file\s+(?:delete|rename|copy)|eval|subprocess|child_process|shutil
    |file_put_contents|qx)\b
    | \b(?:File|IO|Dir)\.(?!read|exist|size|expand_path|join|basename|dirname|foreach|home|open)
    | ` | >>?\s*["'$/~] | (?:^|\W)s/.*/\w*w
"""
_RUNNING_BRIM = r"""
    \bbrim\.(?:hooks|cli|install|_startup|__main__)\b
    | \bfrom\s+brim\s+import\s+[^\n;]*\b(?:hooks|cli|install|_startup)\b
    | \brun_module\(\s*['"]brim | \bimport_module\(\s*['"]brim\.
"""


_RUNNING = r"system|exec|spawn|[Pp]open|\brun\b|call|output|start|`"
_LIST = r"""['"](?:[^'"\s]*/)?brim['"]((?:\s*,\s*\[?\s*['"][^'"]*['"])+)"""
_PRINTED = r"sys\.std(?:out|err)\.write"
_REPLACED = r"\.(?:replace|sub|gsub|replaceAll)\(\s*['\"][^'\"]*['\"]\s*,\s*['\"][^'\"]*['\"]\s*\)"
"""A text that takes another one's place."""


def code_of(command: RanCommand) -> str:
    """Return the code that *command* gives an interpreter or an editor; empty if it's none."""
    program = command.words[0]
    texts = list(command.documents)
    if is_interpreter(program) and "-m" not in command.words:
        return "\n".join([*texts, *command.words[1:]])
    if program in _EDITORS and "commit" not in command.words:
        return "\n".join(texts)
    return ""


def lines_of_shell(code: str) -> list[str]:
    """Return the texts in quotes in *code* that may be command lines of brim.

    >>> lines_of_shell("os.system('brim pause'); print('a')")
    ['brim pause']
    """
    if not re.search(_RUNNING, code):
        return []
    lines = [f"brim {_plain_words(words)}" for words in re.findall(_LIST, code)]
    texts = re.findall(r"""(['"`])((?:(?!\1)[^\n])*\bbrim\s[^\n]*?)\1""", code)
    return lines + [text for _, text in texts]


def _plain_words(words: str) -> str:
    """Return *words* of a list in code as those of a command; its first may be the program
    again."""
    plain = re.findall(r"""['"]([^'"]*)['"]""", words)
    if plain[:1] == ["brim"]:
        plain = plain[1:]
    return " ".join(plain)


def without_texts(code: str) -> str:
    """Return *code* without what it only puts into other texts."""
    return re.sub(_REPLACED, "", code)


def only_reads(code: str) -> bool:
    """Whether *code* calls nothing but what reads.

    >>> only_reads("print(open('b.py').read())"), only_reads("open('a', 'w')"), only_reads("f('a')")
    (True, False, False)
    """
    code = re.sub(_PRINTED, "print", code)
    if re.search(_WRITING_MODE, code) or re.search(_WRITING, code, re.VERBOSE):
        return False
    reading_calls = data_lines(__file__, "reading_calls.txt")
    return all(name in reading_calls for name in re.findall(_CALL, code))


def runs_brim(code: str) -> bool:
    """Whether *code* calls brim's commands or hooks, and not just its library.

    >>> runs_brim("from brim.cli import main; main(['pause'])"), runs_brim("import brim")
    (True, False)
    """
    return re.search(_RUNNING_BRIM, code, re.VERBOSE) is not None
