"""What the server itself costs an agent: the tokens of its instructions and of the schema of each tool."""

from __future__ import annotations

import json
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.types import TokenCounter


@dataclass(frozen=True)
class ToolCost:
    """What a client that shows a model everything has to show it of one tool."""

    name: str
    description: str
    tokens: int


def tool_costs(counter: TokenCounter | None = None) -> list[ToolCost]:
    """Return the cost of each tool's name, description and input schema as JSON, by *counter* (default: o200k)."""
    from brim.mcp.desk import Desk
    from brim.mcp.tools import make_tools
    from brim.tokens.counters import counter_for

    counted = counter or counter_for(None)
    return [
        ToolCost(tool.name, tool.description, int(counted.count(_shown(tool.name, tool.description, tool.parameters))))
        for tool in make_tools(Desk({}, None))
    ]


def _shown(name: str, description: str, schema: object) -> str:
    return json.dumps({"name": name, "description": description, "input_schema": schema}, separators=(",", ":"))
