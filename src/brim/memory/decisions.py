"""What a person answered: to a question, to a plan, to a permission prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brim.agents.call import ToolCall
from brim.agents.events import ToolResult
from brim.files import data_lines
from brim.memory.call_input import PATH_KEYS, first_text
from brim.memory.quotes import code, one_line
from brim.record import PlainData

NOT_ANSWERED = "not answered"
REFUSED = "refused"

_USER_SAID = "the user said:"
_FRAMES = ("User has answered your questions:", "User has answered your question:")
_AFTER = "You can now continue with the user's answers in mind."
"""What clients put around the answers."""
_APPROVED = re.compile(r"(?m)^## Approved Plan[^\n]*:[ \t]*\n")
_WAITS = re.compile(
    r"(?i)\s*your plan has been submitted|\s*plan (?:was )?submitted|.{0,80}awaiting approval"
)


@dataclass(frozen=True)
class Decision(PlainData):
    """One answer of a person."""

    subject: str
    """The question, the plan or the call: a text of the agent."""
    outcome: str
    """What the person answered."""
    noun: str = ""
    """``plan`` or ``call``; empty for a question."""
    place: int = 0
    """Which of the call's questions it is."""

    @property
    def has_words(self) -> bool:
        """Whether it says more than that a person pressed Esc."""
        return self.outcome not in (NOT_ANSWERED, REFUSED)

    @property
    def sentence(self) -> str:
        """The decision on one line, the agent's text in backticks."""
        noun = f"{self.noun} " if self.noun else ""
        return f"{noun}{code(self.subject)}: {one_line(self.outcome)}"


def decisions_of(call: ToolCall, result: ToolResult) -> list[Decision]:
    """Return what a person decided about *call* with its *result*."""
    failed = result.error or bool(result.refusal)
    if call.kind == "question":
        if failed:
            return [Decision(questions_of(call), _refusal(result, NOT_ANSWERED))]
        return [
            Decision(question, answer, place=place)
            for place, (question, answer) in enumerate(answers_of(call, result))
        ]
    if call.kind == "plan":
        return _plan_decisions(call, result, failed=failed)
    if result.refusal == "permission" and was_asked(result):
        about = first_text(call.input, ("command", *PATH_KEYS))
        return [Decision(f"{call.name} {about}".strip(), _refusal(result, REFUSED), "call")]
    return []


def _plan_decisions(call: ToolCall, result: ToolResult, *, failed: bool) -> list[Decision]:
    if "exit" not in call.name.lower():  # starting to plan is no decision
        return []
    if not result.error and _WAITS.match(result.text[:400]):
        return []
    outcome = _refusal(result, REFUSED) if failed else "accepted"
    return [Decision(plan_of(call, result), outcome, "plan")]


def _refusal(result: ToolResult, word: str) -> str:
    """Return that a call was refused, with the person's words if there are any."""
    # The one letter that is longer in lower case would move the place.
    folded = result.text.replace("\u0130", "I").lower()
    start = folded.find(_USER_SAID)
    if start < 0:
        return word
    words = result.text[start + len(_USER_SAID) :].lstrip()
    if not words:
        return word
    return f"{word}: {words}"


def was_asked(result: ToolResult) -> bool:
    """Whether a person refused a call, and not a rule, a hook or a mode: ``data/not_asked.txt``."""
    opening = result.text[:200].lstrip().lower()
    opening = opening.removeprefix("<tool_use_error>").removeprefix("error: ")
    return not opening.startswith(data_lines(__file__, "not_asked.txt"))


def plan_of(call: ToolCall, result: ToolResult) -> str:
    """Return the plan that was answered: as approved, else as given, else the call's name."""
    approved_plan = _approved_plan(result)
    if approved_plan.strip():
        return approved_plan
    places = [call.input]
    if isinstance(result.detail, Mapping):
        places.insert(0, result.detail)
    for place in places:
        plan = first_text(place, ("plan",))
        if plan:
            return plan
    return call.name


def _approved_plan(result: ToolResult) -> str:
    """Return the plan that a person approved, as *result* repeats it; empty if it doesn't."""
    if result.error:
        return ""
    approved = _APPROVED.search(result.text)
    if approved is None:
        return ""
    return result.text[approved.end() :]


# Questions and answers ----------------------------------------------------------------------------


def answers_of(call: ToolCall, result: ToolResult) -> list[tuple[str, str]]:
    """Return each question of *call* with its answer.

    Where the client doesn't pair them, all of both are one pair.
    """
    asked = _asked(call)
    pairs = []
    for key, answer in _answers_by_name(result):
        question = _question_named(key, asked) or call.name
        pairs.append((question, _joined(answer) or NOT_ANSWERED))
    if pairs:
        return pairs
    text = result.text.strip()
    for frame in _FRAMES:
        if text.startswith(frame):
            text = text.removeprefix(frame).removesuffix(_AFTER).strip()
            text = text.removesuffix(".").strip()
            break
    pairs = _paired(text, [question for _, question in asked])
    return pairs or [(questions_of(call), text or NOT_ANSWERED)]


def questions_of(call: ToolCall) -> str:
    """Return the questions of *call* on one line; its name if it has none."""
    return " / ".join([question for _, question in _asked(call)]) or call.name


def _asked(call: ToolCall) -> list[tuple[str, str]]:
    """Return the questions, each with the name that its answer may come under."""
    questions = call.input.get("questions")
    asked = []
    if isinstance(questions, list):
        for place, question in enumerate(questions):
            text = _question_text(question)
            if text:
                asked.append((_question_id(question) or str(place), text))
    single = call.input.get("question")
    if isinstance(single, str) and single.strip():
        asked.append(("", single.strip()))
    return asked


def _question_id(question: object) -> str:
    if not isinstance(question, Mapping):
        return ""
    name = question.get("id")
    return name if isinstance(name, str) else ""


def _question_text(question: object) -> str:
    if isinstance(question, Mapping):
        question = question.get("question")
    return question.strip() if isinstance(question, str) else ""


def _question_named(key: str, asked: list[tuple[str, str]]) -> str:
    for name, question in asked:
        if key in (name, question):
            return question
    return key


def _answers_by_name(result: ToolResult) -> Iterator[tuple[str, object]]:
    """Yield the answers by the name of their question."""
    answers = _answers_in(result.detail)
    if not answers and result.text[:200].lstrip().startswith("{"):
        try:
            answers = _answers_in(json.loads(result.text))
        except (ValueError, RecursionError):
            return
    if isinstance(answers, Mapping):
        for key, answer in answers.items():
            yield str(key), answer
    elif isinstance(answers, list):
        for place, answer in enumerate(answers):
            yield str(place), answer


def _answers_in(value: object) -> object:
    return value.get("answers") if isinstance(value, Mapping) else None


def _joined(answer: object) -> str:
    if answer is None:
        return ""
    if isinstance(answer, Mapping):
        return _joined(_chosen_in(answer))
    if isinstance(answer, list | tuple):
        texts = map(_joined, answer)
        return ", ".join(filter(None, texts))
    return str(answer)


def _chosen_in(answer: Mapping[str, object]) -> object:
    """Return what *answer* says was chosen, by one of the names that clients give to that."""
    for key in ("answers", "answer", "selected"):
        if key in answer:
            return answer[key]
    return None


def _paired(text: str, questions: list[str]) -> list[tuple[str, str]]:
    """Return the pairs in ``"question"="answer", …``, where every question was asked."""
    marks = []
    for question in questions:
        start = text.find(f'"{question}"=')
        if start >= 0:
            marks.append((start, question))
    marks.sort()
    pairs = []
    for number, (start, question) in enumerate(marks):
        end = marks[number + 1][0] if number + 1 < len(marks) else len(text)
        answer = text[start + len(question) + 3 : end].strip().rstrip(",;. ")
        if len(answer) > 1 and answer[0] == answer[-1] == '"':
            answer = answer[1:-1]
        pairs.append((question, answer or NOT_ANSWERED))
    return pairs
