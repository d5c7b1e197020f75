"""Inside your code: how does the framework I use get a guard?

One module per framework, each a thin layer on ``brim.guard``. ``openai`` wraps a client of the OpenAI SDK,
``anthropic`` is a middleware for the Anthropic SDK, ``litellm`` has a logger and wrappers for LiteLLM. ``guards`` is
what they share: the guard for a model and a conversation; ``bodies`` reads what they send. A framework is imported
with its module, never before.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from brim.adapters import anthropic as anthropic
    from brim.adapters import litellm as litellm
    from brim.adapters import openai as openai

__getattr__, __dir__ = exports(__name__, packages="anthropic litellm openai")
