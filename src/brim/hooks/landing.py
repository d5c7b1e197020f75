"""Which folders does a command copy or unpack into another one, and what is in them?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from brim.hooks.arguments import has_option, operands, option_values, tar_letters
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
_ARCHIVE = r"\.(?:zip|tar|tgz|tar\.\w+|7z|cpio)$"
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
    folder = "".join(option_values(_UNPACKING[program], arguments)[:1])
    archives = [word for word in operands(arguments) if re.search(_ARCHIVE, word)]
    source = "".join(archives[:1])
    return [Landing(source, folder or ".", is_archive=True)]


def _copied(program: str, arguments: Sequence[str]) -> list[Landing]:
    sources = operands(arguments)
    target = "".join(option_values(_TARGET, arguments)[:1])
    if target in sources:
        sources.remove(target)
    elif not target and sources:
        target = sources.pop()
    is_whole = has_option("(?:-T|--no-target-directory)$", arguments)
    return [_landing(program, source, target, is_whole=is_whole) for source in sources]


def _landing(program: str, source: str, target: str, *, is_whole: bool) -> Landing:
    """Return where *source* comes to: the *target* itself if its contents are copied."""
    ends = _CONTENTS
    if program == "rsync":
        ends = (*_CONTENTS, "/")
    folder = target
    if not is_whole and not source.endswith(ends):
        name = source.rstrip("/").rpartition("/")[2]
        folder = f"{target.rstrip('/')}/{name}"
    return Landing(re.sub(r"/[.*]?$", "", source), folder)


def _only_packs(program: str, arguments: Sequence[str]) -> bool:
    """Whether *program* makes or lists an archive."""
    if program == "unzip":
        return has_option(r"-\w*[lptv]", arguments)
    if program not in ("tar", "bsdtar"):
        return False
    return "x" not in tar_letters(arguments) and "--extract" not in arguments
