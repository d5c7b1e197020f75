"""What tool calls leave behind: changed files, failing commands, and what the human decided about a call.

A changed file is recorded when its call is seen, and taken back if no call that changed it succeeded.
"""

from __future__ import annotations

from _collections_abc import Mapping

from brim.scratch.drafts import draft, first_error
from brim.scratch.quoting import one_line
from brim.tracking.events import ToolCall, ToolResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.scratch.entries import Entry

_PATHS = ("file_path", "notebook_path", "filePath", "path")
_EXIT = ("exit code", "exit status", "exited with code", "exited with status")
_SAID = "the user said:"
_MOST_OPEN = 10_000


class Calls:
    """The calls that have no result yet, and the files that were changed."""

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._files: dict[tuple[str, str], dict[str, Any]] = {}

    def called(self, call: ToolCall) -> list[Entry]:
        """Return what *call* alone says: the file that it changes."""
        if call.id:
            self._open.pop(call.id, None)
            self._open[call.id] = call
            if len(self._open) > _MOST_OPEN:
                del self._open[next(iter(self._open))]
        path = changed_path(call)
        if not path:
            return []
        known = self._files.get((call.session, path))
        if known is not None:
            known["calls"].add(call.id)
            return []
        artifact = draft("artifact", path, source=call.id, **_where(call))
        self._files[(call.session, path)] = {"entry": artifact, "calls": {call.id}, "done": not call.id}
        return [artifact]

    def call_of(self, result: ToolResult) -> ToolCall | None:
        """Return the call that *result* answers, if it was seen and has no answer yet."""
        return self._open.pop(result.id, None) if result.id else None

    def answered(self, call: ToolCall, result: ToolResult) -> list[Entry]:
        """Return what *call* came to with its *result*."""
        failed = result.error or bool(result.refusal)
        found = self._file(call, failed=failed)
        where = {**_where(call), "time": result.time if result.time is not None else call.time, "source": call.id}
        if call.tool == "question":
            return found + _answers(call, result, failed, where)
        if call.tool == "plan" and changed_plan(call):
            return found + _plan(call, result, failed, where)
        if result.refusal == "permission":
            from brim.scratch.answers import was_asked

            if not was_asked(result):
                return found
            return [
                *found,
                draft("decision", _named(call), refs={"noun": "call", "outcome": _refused(result)}, **where),
            ]
        command = call.input.get("command")
        if call.tool == "shell" and result.error and not result.refusal and isinstance(command, str) and command:
            refs = {"outcome": _ended(result), "output": first_error(result.text)}
            return [*found, draft("command", command, refs=refs, **where)]
        return found

    def _file(self, call: ToolCall, *, failed: bool) -> list[Entry]:
        path = changed_path(call)
        known = self._files.get((call.session, path)) if path else None
        if known is None:
            return []
        known["calls"].discard(call.id)
        known["done"] = known["done"] or not failed
        if known["done"] or known["calls"]:
            return []
        del self._files[(call.session, path)]
        artifact: Entry = known["entry"]
        return [draft("withdrawn", artifact.text, source=call.id, refs={"of": artifact.id}, **_where(call))]


def changed_path(call: ToolCall) -> str:
    """Return the file that *call* writes or edits, empty if it does neither."""
    if call.tool not in ("write", "edit"):
        return ""
    return next((one_line(path) for key in _PATHS if isinstance(path := call.input.get(key), str) and path.strip()), "")


def changed_plan(call: ToolCall) -> bool:
    """Whether *call* puts a plan to the human: to begin planning is no plan."""
    return "exit" in call.name.lower()


def _where(call: ToolCall) -> dict[str, Any]:
    return {"session": call.session, "agent": call.agent, "time": call.time}


def _ended(result: ToolResult) -> str:
    detail = result.detail if isinstance(result.detail, Mapping) else {}
    code = next((detail[key] for key in ("exit_code", "exitCode", "code") if type(detail.get(key)) is int), None)
    code = _exit_code(result.text) if code is None else code
    return "failed" if code is None else f"ended with {code}"


def _exit_code(text: str) -> int | None:
    """Return the number that *text* begins with, as clients say how a command ended; None if it does not."""
    begun = text[:9].lstrip() + text[9:100]
    said = begun.lower().removeprefix("error: ").removeprefix("command failed with ")
    begins = next((begins for begins in _EXIT if said.startswith(begins)), None)
    if begins is None:
        return None
    rest = said[len(begins) :].removeprefix(":")
    sign = "-" if rest.startswith(" -") else ""
    number = rest[1 + len(sign) :][:9]
    digits = next((number[:at] for at, letter in enumerate(number) if not letter.isdecimal()), number)
    return int(sign + digits) if rest.startswith(" ") and digits else None


def _answers(call: ToolCall, result: ToolResult, failed: bool, where: dict[str, Any]) -> list[Entry]:
    from brim.scratch.answers import NOT_ANSWERED, answers_of, questions_of

    pairs = [(questions_of(call), _refused(result, NOT_ANSWERED))] if failed else answers_of(call, result)
    return [
        draft(
            "decision", question, refs={"outcome": answer}, **{**where, "source": f"{call.id} {at}" if call.id else ""}
        )
        for at, (question, answer) in enumerate(pairs)
    ]


def _plan(call: ToolCall, result: ToolResult, failed: bool, where: dict[str, Any]) -> list[Entry]:
    from brim.scratch.answers import is_undecided, plan_of

    if is_undecided(result):
        return []
    refs = {"noun": "plan", "outcome": _refused(result) if failed else "accepted"}
    return [draft("decision", plan_of(call, result), refs=refs, **where)]


def _refused(result: ToolResult, word: str = "refused") -> str:
    """Return that a call was refused, with what the human said to it."""
    at = result.text.replace("\u0130", "I").lower().find(_SAID)  # the one letter that is longer in lower case
    said = result.text[at + len(_SAID) :].lstrip() if at >= 0 else ""
    return f"{word}: {said}" if said else word


def _named(call: ToolCall) -> str:
    """Return *call* in a few words: its name, and its command or file."""
    what = next((text for key in ("command", *_PATHS) if isinstance(text := call.input.get(key), str)), "")
    return f"{call.name} {what}".strip()
