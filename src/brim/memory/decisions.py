"""What a person answered: to a question, to a plan, to a permission prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from brim.agents.call import ToolCall
from brim.agents.events import ToolResult
from brim.agents.fields import first_value, items, text, value
from brim.files import data_lines
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
    def is_answer(self) -> bool:
        """Whether it answers a question."""
        return not self.noun and self.outcome != NOT_ANSWERED

    @property
    def objection(self) -> str:
        """What a person said when they refused; empty if they only pressed Esc."""
        refused, _, words = self.outcome.partition(": ")
        return words if refused == REFUSED else ""

    @property
    def sentence(self) -> str:
        """The decision on one line, the agent's text in backticks."""
        noun = f"{self.noun} " if self.noun else ""
        return f"{noun}{code(self.subject)}: {one_line(self.outcome)}"


def decisions_of(call: ToolCall, result: ToolResult) -> list[Decision]:
    """Return what a person decided about *call* with its *result*."""
    if call.kind == "question":
        return _answers(call, result)
    if call.kind == "plan":
        return _plan_decisions(call, result)
    if result.refusal == "permission" and was_asked(result):
        subject = f"{call.name} {_subject_of(call)}".strip()
        return [Decision(subject, _refusal(result, REFUSED), "call")]
    return []


def _subject_of(call: ToolCall) -> str:
    """Return the command or the file that *call* is about, empty if it has neither."""
    if call.command or not call.files:
        return call.command
    return call.files[0]


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


# Plans --------------------------------------------------------------------------------------------


def _plan_decisions(call: ToolCall, result: ToolResult) -> list[Decision]:
    if "exit" not in call.name.lower():  # starting to plan is no decision
        return []
    if result.error or result.refusal:
        return [Decision(plan_of(call, result), _refusal(result, REFUSED), "plan")]
    if _WAITS.match(result.text[:400]):
        return []
    return [Decision(plan_of(call, result), "accepted", "plan")]


def plan_of(call: ToolCall, result: ToolResult) -> str:
    """Return the plan that was answered: as approved, else as given, else the call's name."""
    approved = _APPROVED.search(result.text)
    if approved is not None and not result.error:
        approved_plan = result.text[approved.end() :]
        if approved_plan.strip():
            return approved_plan
    return text(result.detail, "plan") or text(call.input, "plan") or call.name


# Questions and answers ----------------------------------------------------------------------------


def _answers(call: ToolCall, result: ToolResult) -> list[Decision]:
    if result.error or result.refusal:
        return [Decision(questions_of(call), _refusal(result, NOT_ANSWERED))]
    decisions = []
    for place, (question, answer) in enumerate(answers_of(call, result)):
        decisions.append(Decision(question, answer, place=place))
    return decisions


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
    words = _unframed(result.text)
    pairs = _paired(words, [question for _, question in asked])
    return pairs or [(questions_of(call), words or NOT_ANSWERED)]


def _unframed(words: str) -> str:
    """Return *words* without what clients put around the answers."""
    words = words.strip()
    for frame in _FRAMES:
        if words.startswith(frame):
            answers = words.removeprefix(frame).removesuffix(_AFTER).strip()
            return answers.removesuffix(".").strip()
    return words


def questions_of(call: ToolCall) -> str:
    """Return the questions of *call* on one line; its name if it has none."""
    return " / ".join([question for _, question in _asked(call)]) or call.name


def _asked(call: ToolCall) -> list[tuple[str, str]]:
    """Return the questions, each with the name that its answer may come under."""
    asked = []
    for place, question in enumerate(items(call.input, "questions")):
        words = text(question, "question")
        if isinstance(question, str):
            words = question
        if words.strip():
            asked.append((text(question, "id") or str(place), words.strip()))
    single = text(call.input, "question").strip()
    if single:
        asked.append(("", single))
    return asked


def _question_named(key: str, asked: list[tuple[str, str]]) -> str:
    for name, question in asked:
        if key in (name, question):
            return question
    return key


def _answers_by_name(result: ToolResult) -> Iterator[tuple[str, object]]:
    """Yield the answers by the name of their question."""
    answers = value(result.detail, "answers") or value(_parsed(result.text), "answers")
    if isinstance(answers, Mapping):
        for key, answer in answers.items():
            yield str(key), answer
    elif isinstance(answers, list):
        for place, answer in enumerate(answers):
            yield str(place), answer


def _parsed(words: str) -> object:
    if not words[:200].lstrip().startswith("{"):
        return None
    try:
        return json.loads(words)
    except (ValueError, RecursionError):
        return None


def _joined(answer: object) -> str:
    """Return an *answer* as text, in whatever a client wraps it."""
    if isinstance(answer, Mapping):
        return _joined(first_value(answer, "answers", "answer", "selected"))
    if isinstance(answer, list | tuple):
        return ", ".join(filter(None, map(_joined, answer)))
    if answer is None:
        return ""
    return str(answer)


def _paired(words: str, questions: list[str]) -> list[tuple[str, str]]:
    """Return the pairs in ``"question"="answer", …``, where every question was asked."""
    if not questions:
        return []
    alternatives = "|".join(map(re.escape, questions))
    pieces = re.split(f'"({alternatives})"=', words)[1:]
    pairs = []
    for question, quoted in zip(pieces[::2], pieces[1::2], strict=True):
        answer = quoted.strip().rstrip(",;. ")
        if len(answer) > 1 and answer[0] == answer[-1] == '"':
            answer = answer[1:-1]
        pairs.append((question, answer or NOT_ANSWERED))
    return pairs
