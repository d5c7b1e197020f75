"""Inside your code: how does the framework I use get a guard?

One module per framework, each a thin layer on ``brim.guard``. Each has ``guard(...)``, which takes
the settings of ``brim.Guard`` and returns what the framework takes: a client (``openai``,
``bedrock``, ``google_genai``), options (``claude_agent_sdk``), a middleware (``anthropic``), a
logger (``litellm``), a chat model or a middleware (``langchain``), a capability
(``pydantic_ai``), or a configuration (``openai_agents``).
``litellm_team`` guards LiteLLM's proxy for a team, with ``litellm_requests``, which says what a
request can cost, and ``litellm_trial``, which tries LiteLLM's hooks before anything is served.
``guards`` is what they share: the guard for a model and a conversation, and the bodies of requests
that clients send. A framework is imported with its module, never before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.adapters import anthropic as anthropic
    from brim.adapters import bedrock as bedrock
    from brim.adapters import claude_agent_sdk as claude_agent_sdk
    from brim.adapters import google_genai as google_genai
    from brim.adapters import langchain as langchain
    from brim.adapters import litellm as litellm
    from brim.adapters import openai as openai
    from brim.adapters import openai_agents as openai_agents
    from brim.adapters import pydantic_ai as pydantic_ai
else:
    __getattr__, __dir__ = exports(
        __name__,
        packages=(
            "anthropic bedrock claude_agent_sdk google_genai langchain litellm openai openai_agents"
            " pydantic_ai"
        ),
    )
