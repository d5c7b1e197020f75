"""What a session's events leave behind: changed files, failing commands, decisions, and changes of
its set-up.

A changed file is recorded when its call is seen, and taken back if no call that changed it
succeeded. Of the set-up (permission mode, branch, model, todo items), what is seen first is where
it began, and no change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from brim.agents.call import Event, ToolCall
from brim.agents.events import ModelSeen, StateSeen, ToolResult
from brim.files import data_lines
from brim.memory.entries import MemoryEntry, draft, first_error, remember
from brim.memory.quotes import one_line

PATHS = ("file_path", "notebook_path", "filePath", "path")
"""The names that clients give to the file of a call."""
EXIT = r"(?i)\s{0,9}(?:error: )?(?:command failed with |process )?(?:exit|exited with) (?:code|status):?[ \t]+(-?\d{1,9})"
"""How an output begins that tells the exit code."""
_SAID = "the user said:"
_MOST_OPEN = 10_000
_NAMES = {"permission_mode": "permission mode", "branch": "branch"}
_LABELS = ("content", "text", "step", "description", "subject")
_CREATED = r"Task #(\w{1,40}) created"
_BEFORE = ("User has answered your questions:", "User has answered your question:")
_AFTER = "You can now continue with the user's answers in mind."
"""What clients put around the answers."""
_APPROVED = r"(?m)^## Approved Plan[^\n]*:[ \t]*\n"
_WAITS = r"(?i)\s*your plan has been submitted|\s*plan (?:was )?submitted|.{0,80}awaiting approval"
NOT_ANSWERED = "not answered"


class Calls:
    """The calls that have no result yet, and the files that were changed."""

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._files: dict[tuple[str, str], dict[str, Any]] = {}

    def called(self, call: ToolCall) -> list[MemoryEntry]:
        """Return what *call* alone says: the file that it changes."""
        if call.id:
            remember(self._open, call.id, call, _MOST_OPEN)
        path = changed_path(call)
        if not path:
            return []
        known = self._files.get((call.session, path))
        if known is not None:
            known["calls"].add(call.id)
            return []
        artifact = draft("artifact", path, source=call.id, **where_of(call))
        self._files[(call.session, path)] = {
            "entry": artifact,
            "calls": {call.id},
            "done": not call.id,
        }
        return [artifact]

    def call_of(self, result: ToolResult) -> ToolCall | None:
        """Return the call that *result* answers, if it was seen and has no answer yet."""
        return self._open.pop(result.id, None) if result.id else None

    def answered(self, call: ToolCall, result: ToolResult) -> list[MemoryEntry]:
        """Return what *call* came to with its *result*."""
        failed = result.error or bool(result.refusal)
        found = self._file(call, failed=failed)
        where = {
            **where_of(call),
            "time": result.time if result.time is not None else call.time,
            "source": call.id,
        }
        command = call.input.get("command")
        if call.kind == "question":
            pairs = (
                [(questions_of(call), _refused(result, NOT_ANSWERED))]
                if failed
                else answers_of(call, result)
            )
            for at, (question, answer) in enumerate(pairs):
                where["source"] = f"{call.id} {at}" if call.id else ""
                found.append(draft("decision", question, refs={"outcome": answer}, **where))
        elif (
            call.kind == "plan" and "exit" in call.name.lower()
        ):  # it is put to the person; starting to plan isn't
            is_waiting = not result.error and re.match(
                _WAITS, result.text[:400]
            )  # handed on, and not answered yet
            if not is_waiting:
                refs = {"noun": "plan", "outcome": _refused(result) if failed else "accepted"}
                found.append(draft("decision", plan_of(call, result), refs=refs, **where))
        elif result.refusal == "permission":
            if was_asked(result):
                refs = {"noun": "call", "outcome": _refused(result)}
                what = next(
                    (
                        text
                        for key in ("command", *PATHS)
                        if isinstance(text := call.input.get(key), str)
                    ),
                    "",
                )
                found.append(draft("decision", f"{call.name} {what}".strip(), refs=refs, **where))
        elif (
            call.kind == "shell"
            and result.error
            and not result.refusal
            and isinstance(command, str)
            and command
        ):
            code = exit_code(result)
            refs = {
                "outcome": "failed" if code is None else f"ended with {code}",
                "output": first_error(result.text),
            }
            found.append(draft("command", command, refs=refs, **where))
        return found

    def _file(self, call: ToolCall, *, failed: bool) -> list[MemoryEntry]:
        path = changed_path(call)
        known = self._files.get((call.session, path)) if path else None
        if known is None:
            return []
        known["calls"].discard(call.id)
        known["done"] = known["done"] or not failed
        if known["done"] or known["calls"]:
            return []
        del self._files[(call.session, path)]
        artifact: MemoryEntry = known["entry"]
        return [
            draft(
                "withdrawn",
                artifact.text,
                source=call.id,
                refs={"of": artifact.id},
                **where_of(call),
            )
        ]


def changed_path(call: ToolCall) -> str:
    """Return the file that *call* writes or edits, empty if it does neither."""
    if call.kind not in ("write", "edit"):
        return ""
    return next(
        (
            one_line(path)
            for key in PATHS
            if isinstance(path := call.input.get(key), str) and path.strip()
        ),
        "",
    )


def where_of(event: Event) -> dict[str, Any]:
    """Return what an entry says of the *event* that it comes from."""
    return {"session": event.session, "agent": event.agent, "time": event.time}


def exit_code(result: ToolResult) -> int | None:
    """Return the exit code of a command, as the client or the beginning of its text says it; None
    if neither does."""
    detail = result.detail if isinstance(result.detail, Mapping) else {}
    codes = [
        detail[key] for key in ("exit_code", "exitCode", "code") if type(detail.get(key)) is int
    ]
    if not codes and (told := re.match(EXIT, result.text)):
        codes = [int(told[1])]
    return codes[0] if codes else None


def _refused(result: ToolResult, word: str = "refused") -> str:
    """Return that a call was refused, with what the human said to it."""
    at = (
        result.text.replace("\u0130", "I").lower().find(_SAID)
    )  # the one letter that is longer in lower case
    said = result.text[at + len(_SAID) :].lstrip() if at >= 0 else ""
    return f"{word}: {said}" if said else word


def answers_of(call: ToolCall, result: ToolResult) -> list[tuple[str, str]]:
    """Return each question of *call* with its answer; where the client does not pair them, all of
    both as one."""
    asked = _asked(call)
    pairs = [
        (
            next((question for name, question in asked if key in (name, question)), key),
            _joined(answer),
        )
        for key, answer in _given(result)
    ]
    if pairs:
        return [(question or call.name, answer or NOT_ANSWERED) for question, answer in pairs]
    said = result.text.strip()
    if before := next((before for before in _BEFORE if said.startswith(before)), ""):
        said = said.removeprefix(before).removesuffix(_AFTER).strip().removesuffix(".").strip()
    pairs = _paired(said, [question for _, question in asked])
    return pairs or [(questions_of(call), said or NOT_ANSWERED)]


def questions_of(call: ToolCall) -> str:
    """Return what *call* asks, on one line; its name if it does not say."""
    return " / ".join([question for _, question in _asked(call)]) or call.name


def plan_of(call: ToolCall, result: ToolResult) -> str:
    """Return the plan that was answered: as the person approved it, else as *call* gives it, else
    the call's name."""
    approved = re.search(_APPROVED, result.text) if not result.error else None
    beside = result.detail.get("plan") if isinstance(result.detail, Mapping) else None
    texts = (result.text[approved.end() :] if approved else "", beside, call.input.get("plan"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), call.name)


def was_asked(result: ToolResult) -> bool:
    """Whether a person refused a call, and not a rule, a hook or the mode that it ran in:
    ``data/not_asked.txt``."""
    opening = (
        result.text[:200].lstrip().lower().removeprefix("<tool_use_error>").removeprefix("error: ")
    )
    return not opening.startswith(data_lines(__file__, "not_asked.txt"))


def _asked(call: ToolCall) -> list[tuple[str, str]]:
    """Return the questions, each with the name that its answer may come under."""
    given = call.input.get("questions")
    found = []
    for place, each in enumerate(given if isinstance(given, list) else []):
        question = each.get("question") if isinstance(each, Mapping) else each
        name = each.get("id") if isinstance(each, Mapping) else None
        if isinstance(question, str) and question.strip():
            found.append((name if isinstance(name, str) and name else str(place), question.strip()))
    alone = call.input.get("question")
    return found + ([("", alone.strip())] if isinstance(alone, str) and alone.strip() else [])


def _given(result: ToolResult) -> list[tuple[str, object]]:
    """Return the answers by the name of their question: in the result's detail, or in its text as
    JSON."""
    beside = result.detail.get("answers") if isinstance(result.detail, Mapping) else None
    if not beside and result.text[:200].lstrip().startswith("{"):
        try:
            told = json.loads(result.text)
        except (ValueError, RecursionError):
            told = None
        beside = told.get("answers") if isinstance(told, dict) else None
    if isinstance(beside, Mapping):
        return [(str(key), answer) for key, answer in beside.items()]
    return (
        [(str(place), answer) for place, answer in enumerate(beside)]
        if isinstance(beside, list)
        else []
    )


def _joined(answer: object) -> str:
    if isinstance(answer, Mapping):
        answer = answer.get("answers", answer.get("answer", answer.get("selected", "")))
    if isinstance(answer, list | tuple):
        return ", ".join([text for each in answer if (text := _joined(each))])
    return "" if answer is None else str(answer)


def _paired(said: str, asked: list[str]) -> list[tuple[str, str]]:
    """Return the pairs in ``"question"="answer", …``, where every question is one that was
    asked."""
    marks = sorted(
        [(at, question) for question in asked if (at := said.find(f'"{question}"=')) >= 0]
    )
    found = []
    for (at, question), after in zip(
        marks, [*[at for at, _ in marks[1:]], len(said)], strict=False
    ):
        answer = said[at + len(question) + 3 : after].strip().rstrip(",;. ")
        whole = answer[1:-1] if len(answer) > 1 and answer[0] == answer[-1] == '"' else answer
        found.append((question, whole or NOT_ANSWERED))
    return found


class States:
    """What each session was last seen as."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str, str], str] = {}
        self._tasks: dict[tuple[str, str], str] = {}

    def entries(self, event: Event) -> list[MemoryEntry]:
        """Return what *event* changes. A sub-agent has its own model, which doesn't change the
        session's."""
        if isinstance(event, ToolCall):
            return self._todos(event) if event.kind == "todo" else []
        if event.agent:
            return []
        if isinstance(event, StateSeen) and event.name in _NAMES:
            return self._change(event, _NAMES[event.name], event.value)
        if isinstance(event, ModelSeen) and event.model:
            # A client names the same model with and without the size of its window: claude-x[1m].
            return self._change(event, "model", event.model.partition("[")[0])
        return []

    def learn_task(self, call: ToolCall, result: ToolResult) -> None:
        """Remember the name of a task that *call* made: later calls give its number alone."""
        task = result.detail.get("task") if isinstance(result.detail, Mapping) else None
        number = task.get("id") if isinstance(task, Mapping) else None
        if number is None and call.kind == "todo" and (told := re.match(_CREATED, result.text)):
            number = told[1]
        label = call.input.get("subject")
        if number is not None and isinstance(label, str):
            remember(self._tasks, (call.session, str(number)[:100]), label, _MOST_OPEN)

    def _change(self, event: Event, name: str, now: str) -> list[MemoryEntry]:
        before = self._set(event, name, now)
        if before in (None, now):
            return []
        text, source = f"{name}: {before} → {now}", source_of(event)
        return [draft("state", text, session=event.session, time=event.time, source=source)]

    def _todos(self, call: ToolCall) -> list[MemoryEntry]:
        lists = [call.input.get(key) for key in ("todos", "items", "plan")]
        given = next((found for found in lists if isinstance(found, list)), [])
        items = [(*_todo(item), False) for item in given if isinstance(item, Mapping)]
        task, status = call.input.get("taskId"), call.input.get("status")
        if isinstance(task, str | int) and isinstance(status, str):
            items.append(
                (self._tasks.get((call.session, str(task)[:100]), f"task {task}"), status, True)
            )
        changes = []
        for label, now, is_task in items:
            before = self._set(call, f"todo {label}", now) if label and now else now
            if before != now and (before or is_task):  # what a list has at first is where it began
                refs = {"noun": "todo", "outcome": f"{before} → {now}" if before else now}
                source = f"{source_of(call)} {now}" if source_of(call) else ""
                changes.append(draft("state", label, source=source, refs=refs, **where_of(call)))
        return changes

    def _set(self, event: Event, name: str, now: str) -> str | None:
        key = (event.session, event.agent, name[:500])
        before = self._last.get(key)
        remember(self._last, key, now, _MOST_OPEN)
        return before


def _todo(item: Mapping[str, object]) -> tuple[str, str]:
    """Return what an item of a list is called, and its status; either is empty if it isn't said."""
    label = next(
        (found for key in _LABELS if isinstance(found := item.get(key), str) and found.strip()), ""
    )
    status = item.get("status")
    if not status and isinstance(item.get("completed"), bool):
        status = "completed" if item["completed"] else "pending"
    return label, status if isinstance(status, str) else ""


def source_of(event: Event) -> str:
    """Return what tells *event* from others: its id, else its time; nothing if it has neither."""
    return getattr(event, "id", "") or (f"at {event.time}" if event.time is not None else "")
