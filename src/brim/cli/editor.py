"""A rule in the person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from tempfile import mkdtemp

from brim.cli.asking import agrees, is_person_there
from brim.cli.output import note
from brim.errors import InputError
from brim.files import WINDOWS, write_new
from brim.rules.file import check_paragraph
from brim.tokens.inputs import read_text


def edited_text(before: str, path: str) -> str:
    """Return what a person made of the rule *before* in the file *path*; empty if they emptied it
    to say no."""
    while True:
        _open_editor(path)
        if not os.path.exists(path):
            raise InputError(f"{path}: is gone: the editor did not leave a file")
        text = read_text(path)
        if text == before or not text.strip():
            return text
        try:
            check_paragraph(text)
        except InputError as error:
            if not is_person_there():
                raise
            note(str(error))
            if not agrees("Edit it again?"):
                raise
        else:
            return text


def new_file(name: str, text: str) -> str:
    """Write *text* to a new file that only its owner can read, and return its path."""
    try:
        path = os.path.join(mkdtemp(prefix="brim-"), name)
        write_new(path, text.encode())
    except OSError as error:
        raise InputError(
            f"no file to edit can be made: {error.strerror or error}; is there room for it?"
        ) from None
    return path


def kept_work(path: str, before: str) -> str:
    """Return the words that say where a person's work is; a file without any is removed."""
    try:
        is_changed = read_text(path) != before
    except InputError:
        is_changed = os.path.exists(path)
    if is_changed:
        return f", and what you wrote is in {path}"
    remove_file(path)
    return ""


def remove_file(path: str) -> None:
    """Remove a file that ``new_file`` made, with its folder."""
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def _open_editor(path: str) -> None:
    words = _editor()
    try:
        code = subprocess.call([*words, path])  # noqa: S603 - the person's own editor
    except OSError as error:
        name = shlex.join(words)
        raise InputError(
            f"the editor {name!r} cannot be started: {error.strerror or error}: set EDITOR"
        ) from None
    if code:
        raise InputError(f"the editor {shlex.join(words)!r} ended with {code}")


def _editor() -> list[str]:
    """Return the command of the person's editor."""
    usual = "vi"
    if WINDOWS:
        usual = "notepad"
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or usual
    command = editor
    if WINDOWS:
        command = editor.replace("\\", "/")
    try:
        return shlex.split(command) or [usual]
    except ValueError as error:
        raise InputError(
            f"the editor {editor!r} cannot be read as a command ({error}): set EDITOR"
        ) from None
