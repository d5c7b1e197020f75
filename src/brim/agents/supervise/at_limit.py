"""Who answers at the limit: a person, if one is there and is to be asked; else what was said at the start."""

from __future__ import annotations

from brim.agents.supervise.asking import question, read_answer
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.supervise.conversation import Conversation
    from brim.agents.supervise.face import Face
    from brim.agents.supervise.purse import Purse


_DOING = {"wrap_up": "wrapping up", "stop": "stopping"}
"""What is done, in words; whoever goes on is told the new limit."""


def limit_answer(purse: Purse, face: Face, talk: Conversation, on_limit: str, *, continued: bool) -> str:
    """Return what was answered, after it was done to the limit: ``continue``, ``raise``, ``wrap_up`` or ``stop``.

    Without a person ``continue`` is done once, as its name says: if it was *continued* already, the work is wrapped up.
    """
    if on_limit == "ask" and face.can_ask:
        return _asked(purse, face, talk)
    answer = "wrap_up" if on_limit == "ask" or (on_limit == "continue" and continued) else on_limit
    why = {"ask": "nobody can be asked: ", "continue": "it was continued once: " if continued else ""}.get(on_limit, "")
    try:
        purse.answer(answer)
    except InputError as error:  # of a limit of nothing there is no tenth more
        face.tell(str(error))
        answer = "wrap_up"
        purse.answer(answer)
    if answer in _DOING:
        face.tell(f"{why}{_DOING[answer]}")
    return answer


def _asked(purse: Purse, face: Face, talk: Conversation) -> str:
    while True:
        face.ask(question(purse.asked))
        typed = talk.wait_for_typed()
        if typed is None:
            face.ask("\n")  # the cursor stands behind the question
        if talk.signal:
            return "stop"
        try:
            answer = read_answer(typed or "")
            purse.answer(answer)
        except InputError as error:
            face.tell(str(error))
            continue
        return answer if isinstance(answer, str) else "raise"
