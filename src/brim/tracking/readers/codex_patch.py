"""Which files a Codex patch changes: one patch is one call of the client, but one edit of each file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BEGIN = "*** Begin Patch"
_CHANGES = {"*** Add File: ": "add", "*** Update File: ": "update", "*** Delete File: ": "delete"}
_MOVE = "*** Move to: "


def patch_in(command: object) -> str:
    """Return the patch that a shell *command* applies, empty if it applies none."""
    words = command if isinstance(command, list) else [command]
    texts = [word for word in words if isinstance(word, str)]
    if not texts or not any(text.lstrip().startswith(("apply_patch", "applypatch")) for text in texts):
        return ""
    whole = next((text for text in texts if _BEGIN in text), "")
    return whole[whole.find(_BEGIN) :]


def edits(patch: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool and what it was given for each file of *patch*.

    A new file is a ``write`` with its ``content``, everything else an ``edit``. Its ``old_string`` and ``new_string``
    are the lines of all hunks as they were and as they are: a patch that undoes another has them the other way round.
    """
    found: list[tuple[str, str, list[str]]] = []
    for line in patch.splitlines():
        start = next((start for start in _CHANGES if line.startswith(start)), None)
        if start is not None:
            found.append((_CHANGES[start], line[len(start) :].strip(), []))
        elif line.startswith("*** End Patch"):
            break
        elif found:
            found[-1][2].append(line)
    return [_edit(*file) for file in found if file[1]]


def _edit(change: str, path: str, lines: list[str]) -> tuple[str, dict[str, Any]]:
    given: dict[str, Any] = {"file_path": path, "change": change}
    moved = next((line[len(_MOVE) :].strip() for line in lines if line.startswith(_MOVE)), "")
    if moved:
        given |= {"file_path": moved, "moved_from": path}
    if change == "add":
        return "write", given | {"content": "\n".join([line[1:] for line in lines if line[:1] == "+"])}
    if change == "update":
        given["old_string"] = "\n".join([line[1:] for line in lines if line[:1] in ("-", " ")])
        given["new_string"] = "\n".join([line[1:] for line in lines if line[:1] in ("+", " ")])
    return "edit", given
