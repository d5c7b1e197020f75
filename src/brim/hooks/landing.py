"""Which folders does a command copy or unpack into another one, and what is in them?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from brim.record import PlainData

_COPYING = frozenset(("cp", "rsync", "mv", "ditto", "scp"))
_UNPACKING = {
    "tar": r"-[a-zA-Z]*C|--directory",
    "bsdtar": r"-[a-zA-Z]*C|--directory",
    "unzip": r"-d",
    "7z": r"-o",
    "cpio": r"-D|--directory",
    "patch": r"-d|--directory",
    "unar": r"-o|--output-directory",
}
"""Programs that unpack, and their options for the folder."""
_CONTENTS = ("/.", "/*")
"""How a folder ends whose contents are copied, and not the folder itself."""
_AS_TARGET = ("-T", "--no-target-directory")
_TARGET = r"-t|--target-directory"


@dataclass(frozen=True)
class Landing(PlainData):
    """A folder or an archive whose contents come into another folder."""

    source: str
    """Empty if it isn't known."""
    folder: str
    is_archive: bool = False


def landings(program: str, arguments: Sequence[str]) -> list[Landing]:
    """Return what the *program* with *arguments* copies or unpacks, and where."""
    if program in _COPYING:
        return _copied(program, arguments)
    if program not in _UNPACKING or _only_packs(program, arguments):
        return []
    folder = _value_of(_UNPACKING[program], arguments) or "."
    for word in arguments:
        is_archive = re.search(r"\.(?:zip|tar|tgz|tar\.\w+|7z|cpio)$", word)
        if is_archive and not word.startswith("--"):
            return [Landing(word, folder, is_archive=True)]
    return [Landing("", folder, is_archive=True)]


def _copied(program: str, arguments: Sequence[str]) -> list[Landing]:
    operands = [word for word in arguments if not word.startswith("-")]
    target = _value_of(_TARGET, arguments)
    if target in operands:
        operands.remove(target)
    if not target:
        target = "".join(operands[-1:])
        operands = operands[:-1]
    is_whole = any(word in _AS_TARGET for word in arguments)
    copies: list[Landing] = []
    for source in operands:
        has_contents = is_whole or source.endswith(_CONTENTS)
        if program == "rsync" and source.endswith("/"):
            has_contents = True
        folder = target
        name = source.rstrip("/").rpartition("/")[2]
        if not has_contents:
            folder = f"{target.rstrip('/')}/{name}"
        copies.append(Landing(re.sub(r"/[.*]?$", "", source), folder))
    return copies


def _only_packs(program: str, arguments: Sequence[str]) -> bool:
    """Whether *program* makes or lists an archive."""
    if program not in ("tar", "bsdtar"):
        return program == "unzip" and any(re.match(r"-\w*[lptv]", word) for word in arguments)
    letters = "".join(arguments[:1]).lstrip("-")
    letters += "".join([word for word in arguments if re.fullmatch(r"-[a-zA-Z]+", word)])
    return "x" not in letters and "--extract" not in arguments


def _value_of(option: str, arguments: Sequence[str]) -> str:
    """Return the value of *option*, behind it or glued to it; empty if it isn't there."""
    for at, word in enumerate(arguments):
        name, sign, value = word.partition("=")
        if sign and re.fullmatch(option, name):
            return value
        if re.fullmatch(option, word):
            return "".join(arguments[at + 1 : at + 2])
        glued = re.match(rf"(?:{option})([~/$.].*)", word)
        if glued and not word.startswith("--"):
            return glued[1]
    return ""
