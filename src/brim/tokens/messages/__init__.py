"""How many tokens do these messages take, and how sure is that?

Messages come in the shape of any provider, as dicts or objects, mixed in one list. This room reads
them down to what a model is sent: text, which the caller's own ``count_text`` counts, and
everything else (framing, images, sound, pages, tool prompts), which follows rules that providers
publish. It knows no tokenizer, and it never raises on what is in a message; what isn't a message at
all is refused. What no provider publishes becomes an interval with its reason.

``tally`` holds the numbers, ``rules`` finds a model's row in ``data/``, ``fields`` reads dicts and
objects alike, ``frameworks`` writes the messages of LangChain, pydantic-ai and Haystack as
providers do, ``media`` prices what isn't text, ``parts`` reads a message and its parts, ``schemas``
reads tools, ``request`` finds the messages in what was given and measures them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.tokens.messages.request import measure as measure
    from brim.tokens.messages.rules import Framing as Framing
    from brim.tokens.messages.tally import Tally as Tally
else:
    __getattr__, __dir__ = exports(
        __name__,
        request="measure",
        rules="Framing",
        tally="Tally",
    )
