"""Puts a measurement together: framing by family, then each message, then what belongs to none."""

from __future__ import annotations

from brim.tokens.messages.request import split
from brim.tokens.messages.rules import family, spellings
from brim.tokens.messages.shapes import add_message, add_system
from brim.tokens.messages.tally import Ledger
from brim.tokens.messages.walk import Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.tokens.messages.rules import Framing
    from brim.tokens.messages.tally import Tally

__all__ = ["measure"]


def measure(
    messages: object,
    tools: object = None,
    *,
    model_name: str | None = None,
    encoding: str | None = None,
    count_text: Callable[[str], int],
    framing: Framing | None = None,
) -> Tally:
    """Return what *messages*, and *tools*, take for the model *model_name*.

    *messages* is a list (or other iterable) of messages in the shape of any provider, a string, or the body of a whole
    request, whose system text and tools count too. *count_text* counts the tokens of a text, and *encoding* names its
    vocabulary (``None`` if it has none): the result is exact only if that is the model's own. *count_text* is called
    once for each distinct text. *framing* is a formula to use in place of the provider's framing.

    Framing of OpenAI's chat models: https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken

    Raises ``InputError`` if *messages* is something else; never for what is in a message.

    >>> chat = [{"role": "user", "content": "two words"}]
    >>> measure(chat, model_name="gpt-4o", encoding="o200k_base", count_text=lambda text: len(text.split()))
    Tally(9, exact)
    """
    request = split(messages, tools)
    names = spellings(model_name or "")
    rule = family(names) if framing is None else family(names).framed(framing)
    ledger = Ledger(count_text)
    if not rule.published:
        ledger.because("framing of this model's messages is not published")
    if encoding is None or encoding != rule.encoding:
        ledger.because("text not counted with the model's own vocabulary")
    walk = Walk(ledger, rule, names, request.messages)
    if isinstance(messages, str):
        ledger.because("a plain string is not a chat message")
    ledger.other(*rule.priming)
    for system in request.system:
        add_system(system, walk)
    if request.tools is not None:
        from brim.tokens.messages.schemas import add_tools

        add_tools(request.tools, walk, request.choice)
    if request.schema is not None:
        from brim.tokens.messages.schemas import add_output_schema

        add_output_schema(request.schema, walk)
    ledger.begin_messages()
    for index, message in enumerate(request.messages):
        walk.begin(index)
        add_message(message, walk)
        ledger.close_message()
    return ledger.tally()
