"""``brim rules edit``: change a rule in your editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from argparse import Namespace
from tempfile import mkdtemp

from brim.behaviors.behavior import Behavior
from brim.behaviors.yaml_form import FIELDS, as_yaml, from_yaml
from brim.cli.options import add_json, answer, command, here, is_person_there, need_person, option, rule
from brim.cli.output import emit, lines, note
from brim.cli.rule_view import as_object, is_meant, named, tell_masked, tier_tokens, tokens_line
from brim.errors import BrimError, InputError
from brim.files import write_new
from brim.store.rulebook import edit_rule, find_rule


@command(
    rule(), option("--yes", "-y", action="store_true", help="don't ask about a block of nearly everything"), add_json
)
def edit(options: Namespace) -> int:
    """Edit a rule in your editor ($VISUAL, else $EDITOR, else vi).

    You can change its name, kind, tags, conditions, blocks, summary, priority and text. brim counts its tokens again,
    and renews a summary that was made from the text. If brim can't read what you saved, or the rule changed meanwhile,
    it keeps your file and says where. Empty the file to change nothing; brim then exits with 1.

    Examples:
      brim rules edit use-uv
      EDITOR='code --wait' brim rules edit b-3f2a
    """
    need_person("edits rules")
    workspace = here()
    with workspace.open() as scopes:
        old = find_rule(scopes, options.id)
    path = _write(as_yaml(old))
    try:
        new = _edited(old, path)
        fields = [] if new is None else [field for field in FIELDS if getattr(new, field) != getattr(old, field)]
        if new is not None and "blocks" in fields and not is_meant(new.blocks, yes=options.yes):
            raise InputError("it would refuse too much")
        if new is not None and fields:
            with workspace.open() as scopes, scopes.writing():
                edit_rule(scopes, old, {field: getattr(new, field) for field in fields}, now=workspace.now)
    except BrimError as error:
        raise InputError(f"{error}; nothing was changed{_kept(path, as_yaml(old))}") from None
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    if new is not None and fields:
        tell_masked(new.canonical if "canonical" in fields else new.summary)
    with workspace.open() as scopes:
        behavior = scopes.find(old.id)
        tokens = tier_tokens(scopes, behavior, workspace.config)
    view = f"unchanged: {named(behavior)}"
    if fields:
        view = lines(f"changed: {named(behavior)}: {', '.join(fields)}", f"tokens: {tokens_line(tokens)}")
    emit({"changed": fields, "behavior": as_object(behavior), "tokens": tokens}, view, options.as_json)
    return 1 if new is None else 0


def _edited(old: Behavior, path: str) -> Behavior | None:
    """Return what a person made of *old* in the file *path*; None if they emptied it to say no."""
    before = _read(path)
    while True:
        _open_editor(path)
        text = _read(path)
        if text == before:
            return old
        if not text.strip():
            return None
        try:
            return from_yaml(text, old, os.path.basename(path))
        except InputError as error:
            if not is_person_there():
                raise
            note(str(error))
            if answer("Edit it again? [Y/n] ").casefold() in ("n", "no"):
                raise


def _kept(path: str, before: str) -> str:
    """Return the words that say where a person's work is; a file without any is removed."""
    try:
        written = _read(path) != before
    except InputError:
        written = os.path.exists(path)
    if written:
        return f", and what you wrote is in {path}"
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    return ""


def _open_editor(path: str) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        words = shlex.split(editor) or ["vi"]
    except ValueError as error:
        raise InputError(f"the editor {editor!r} cannot be read as a command ({error}): set EDITOR") from None
    try:
        code = subprocess.call([*words, path])  # noqa: S603 - the person's own editor
    except OSError as error:
        raise InputError(f"the editor {editor!r} cannot be started: {error.strerror or error}: set EDITOR") from None
    if code:
        raise InputError(f"the editor {editor!r} ended with {code}")


def _write(text: str) -> str:
    """Write *text* to a new file that only its owner can read, and return its path."""
    try:
        path = os.path.join(mkdtemp(prefix="brim-"), "behavior.yaml")
        write_new(path, text.encode())
    except OSError as error:
        raise InputError(f"no file to edit can be made: {error.strerror or error}; is there room for it?") from None
    return path


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise InputError(f"{path}: is gone: the editor did not leave a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 text (byte {error.start:,}): save it as UTF-8") from None
