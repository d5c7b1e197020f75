"""Inside your code: how does the framework I use get a guard?

One module per framework, each a thin layer on ``brim.guard``. ``openai`` wraps a client of the
OpenAI SDK, ``anthropic`` is a middleware for the Anthropic SDK, ``litellm`` has a logger and
wrappers for LiteLLM, ``langchain`` a middleware for agents of LangChain and LangGraph,
``pydantic_ai`` a capability, and ``openai_agents`` a configuration of the OpenAI Agents SDK.
``guards`` is what they share: the guard for a model and a conversation; ``bodies`` reads what
clients send. A framework is imported with its module, never before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.adapters import anthropic as anthropic
    from brim.adapters import langchain as langchain
    from brim.adapters import litellm as litellm
    from brim.adapters import openai as openai
    from brim.adapters import openai_agents as openai_agents
    from brim.adapters import pydantic_ai as pydantic_ai
else:
    __getattr__, __dir__ = exports(
        __name__, packages="anthropic langchain litellm openai openai_agents pydantic_ai"
    )
