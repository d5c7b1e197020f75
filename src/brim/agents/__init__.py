"""What do agents send, what do they accept, and where do they write things down?

``call`` has the neutral words: ``ToolCall``, ``HookCall`` and ``Answer``. ``agent`` says what an
``Agent`` is, and ``table`` lists all of them. Each agent is a folder: ``value.py`` is what hooks
load, ``transcript.py`` reads its files, ``settings.py`` is what ``brim init`` writes for it.

``events`` are what happened in a session, whichever agent wrote it down. ``readers`` finds out
which format a line has, ``stream`` reads files as they grow, and ``responses`` reads plain
responses of providers. ``lines``, ``tools``, ``patches`` and ``fields`` are what readers share.
Readers never raise on what is in a line.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from brim.agents.agent import Agent as Agent
    from brim.agents.call import Event as Event
    from brim.agents.call import ToolCall as ToolCall
    from brim.agents.events import Compaction as Compaction
    from brim.agents.events import End as End
    from brim.agents.events import Message as Message
    from brim.agents.events import ModelSeen as ModelSeen
    from brim.agents.events import RunTotal as RunTotal
    from brim.agents.events import StateSeen as StateSeen
    from brim.agents.events import ToolResult as ToolResult
    from brim.agents.events import Usage as Usage
    from brim.agents.readers import format_of as format_of
    from brim.agents.readers import known_formats as known_formats
    from brim.agents.stream import Feed as Feed
    from brim.agents.stream import read as read
    from brim.agents.table import AGENTS as AGENTS
    from brim.agents.table import agent_named as agent_named

__getattr__, __dir__ = exports(
    __name__,
    agent="Agent",
    call="Event ToolCall",
    events="Compaction End Message ModelSeen RunTotal StateSeen ToolResult Usage",
    readers="format_of known_formats",
    stream="Feed read",
    table="AGENTS agent_named",
)
