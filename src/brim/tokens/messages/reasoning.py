"""What reasoning takes when it is sent back: thinking blocks, reasoning items, thoughts.

Providers drop the reasoning of earlier turns, or keep it, by model. What they return is a summary, and a signature or
an encrypted copy of the whole that nobody else can read. So the visible text is the point if it is kept at all, and
the interval reaches from nothing to what the encrypted copy can hold.

Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking#thinking-block-preservation-by-model
"""

from __future__ import annotations

from brim.tokens.messages.fields import get, is_sequence, string
from brim.tokens.messages.rules import best, load, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.messages.walk import Walk

__all__ = ["add_opaque", "add_reasoning", "add_reasoning_text", "add_redacted", "add_thinking", "keeps_all_turns"]


def add_thinking(part: object, walk: Walk) -> None:
    """Add an Anthropic ``thinking`` block."""
    add_reasoning_text(get(part, "thinking"), walk)
    add_opaque(get(part, "signature"), walk)


def add_redacted(part: object, walk: Walk) -> None:
    """Add a block that is encrypted altogether: ``redacted_thinking``, ``compaction``."""
    add_opaque(get(part, "data") or get(part, "encrypted_content"), walk)
    walk.text(get(part, "content"))


def add_reasoning(part: object, walk: Walk) -> None:
    """Add a Responses ``reasoning`` item. Its summary is for people: it is in the interval only.

    Source: https://developers.openai.com/api/docs/guides/reasoning#keeping-reasoning-items-in-context
    """
    for name, sent in (("summary", False), ("content", True), ("text", True), ("reasoning", True)):
        found = get(part, name)
        for inner in found if is_sequence(found) else (found,):  # type: ignore[attr-defined]
            add_reasoning_text(string(inner) or get(inner, "text"), walk, sent=sent)
    add_opaque(get(part, "encrypted_content") or get(part, "signature"), walk)


def add_reasoning_text(text: object, walk: Walk, *, sent: bool = True) -> None:
    """Add visible reasoning, which counts if it is *sent* to the model and the model keeps it."""
    if isinstance(text, str):
        walk.ledger.maybe(text, likely=sent and (walk.keeps_reasoning or not walk.in_earlier_turn()))
    walk.ledger.width(width("reasoning"))


def add_opaque(blob: object, walk: Walk) -> None:
    """Add a signature or encrypted content: nothing to the point, what it can hold at most to the interval."""
    if isinstance(blob, (str, bytes)) and blob:
        size = len(blob) * 3 // 4 if isinstance(blob, str) else len(blob)
        walk.ledger.other(0, 0, -(-size // load("reasoning")["bytes_per_token"]))
        walk.ledger.because("opaque reasoning content")


def keeps_all_turns(names: tuple[str, ...]) -> bool:
    """Whether the model that *names* spell keeps the reasoning of earlier turns."""
    rows = [{"models": ["*"], "keeps": False}, {"models": load("reasoning")["keeps_all_turns"], "keeps": True}]
    return bool(best(rows, names)["keeps"])
