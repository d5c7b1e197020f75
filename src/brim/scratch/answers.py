"""What a person answered: to the questions of an agent, and to its plan, in the shapes of the clients."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from brim import _json
from brim._patterns import IGNORE_CASE, MULTILINE, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tracking.events import ToolCall, ToolResult

_BEFORE = ("User has answered your questions:", "User has answered your question:")
_AFTER = "You can now continue with the user's answers in mind."
"""What clients put around the answers."""
_APPROVED = pattern(r"^## Approved Plan[^\n]*:[ \t]*\n", MULTILINE)
_WAITS = pattern(r"\s*your plan has been submitted|\s*plan (?:was )?submitted|.{0,80}awaiting approval", IGNORE_CASE)
NOT_ANSWERED = "not answered"
_not_asked: list[str] = []


def answers_of(call: ToolCall, result: ToolResult) -> list[tuple[str, str]]:
    """Return each question of *call* with its answer; where the client does not pair them, all of both as one."""
    asked = _asked(call)
    given = _given(result)
    pairs = [(_question(key, asked), _joined(answer)) for key, answer in given]
    if pairs:
        return [(question or call.name, answer or NOT_ANSWERED) for question, answer in pairs]
    said = _without_frame(result.text)
    pairs = _paired(said, [question for _, question in asked])
    return pairs or [(questions_of(call), said or NOT_ANSWERED)]


def questions_of(call: ToolCall) -> str:
    """Return what *call* asks, on one line; its name if it does not say."""
    return " / ".join([question for _, question in _asked(call)]) or call.name


def plan_of(call: ToolCall, result: ToolResult) -> str:
    """Return the plan that was answered: as the person approved it, else as *call* gives it, else the call's name."""
    approved = _APPROVED.search(result.text) if not result.error else None
    beside = result.detail.get("plan") if isinstance(result.detail, Mapping) else None
    texts = (result.text[approved.end() :] if approved else "", beside, call.input.get("plan"))
    return next((text for text in texts if isinstance(text, str) and text.strip()), call.name)


def is_undecided(result: ToolResult) -> bool:
    """Whether a plan was only handed on, and nobody has answered it yet."""
    return not result.error and bool(_WAITS.match(result.text[:400]))


def was_asked(result: ToolResult) -> bool:
    """Whether a person refused a call, and not a rule, a hook or the mode that it ran in: ``data/not_asked.txt``."""
    if not _not_asked:
        with open(os.path.join(os.path.dirname(__file__), "data", "not_asked.txt"), encoding="utf-8") as file:
            _not_asked.extend([line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")])
    opening = result.text[:200].lstrip().lower().removeprefix("<tool_use_error>").removeprefix("error: ")
    return not opening.startswith(tuple(_not_asked))


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
    """Return the answers by the name of their question: noted beside the text, or the text itself as JSON."""
    beside = result.detail.get("answers") if isinstance(result.detail, Mapping) else None
    if not beside and result.text[:200].lstrip().startswith("{"):
        try:
            told = _json.loads(result.text)
        except (ValueError, RecursionError):
            told = None
        beside = told.get("answers") if isinstance(told, dict) else None
    if isinstance(beside, Mapping):
        return [(str(key), answer) for key, answer in beside.items()]
    return [(str(place), answer) for place, answer in enumerate(beside)] if isinstance(beside, list) else []


def _question(key: str, asked: list[tuple[str, str]]) -> str:
    return next((question for name, question in asked if key in (name, question)), key)


def _joined(answer: object) -> str:
    if isinstance(answer, Mapping):
        answer = answer.get("answers", answer.get("answer", answer.get("selected", "")))
    if isinstance(answer, list | tuple):
        return ", ".join([text for each in answer if (text := _joined(each))])
    return "" if answer is None else str(answer)


def _without_frame(text: str) -> str:
    text = text.strip()
    for before in _BEFORE:
        if text.startswith(before):
            return text.removeprefix(before).removesuffix(_AFTER).strip().removesuffix(".").strip()
    return text


def _paired(said: str, asked: list[str]) -> list[tuple[str, str]]:
    """Return the pairs in ``"question"="answer", …``, where every question is one that was asked."""
    marks = [(at, question) for question in asked if (at := said.find(f'"{question}"=')) >= 0]
    marks.sort()
    found = []
    for (at, question), after in zip(marks, [*[at for at, _ in marks[1:]], len(said)], strict=False):
        answer = said[at + len(question) + 3 : after].strip().rstrip(",;. ")
        whole = answer[1:-1] if len(answer) > 1 and answer[0] == answer[-1] == '"' else answer
        found.append((question, whole or NOT_ANSWERED))
    return found
