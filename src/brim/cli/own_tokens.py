"""How many tokens brim itself adds to an agent's window: what a session is told, and the schemas of its MCP tools."""

from __future__ import annotations

import os

from brim.workspace import Workspace


def start_tokens() -> tuple[int, dict[str, int | None]]:
    """Return the tokens that a session which begins here is told, and the limits that hold. Nothing is noted as used.

    The limits are ``start``, ``injection`` (with one prompt or call) and ``session`` (with all of them together).
    """
    from brim.activation.context import Context
    from brim.store.planner import DYNAMIC_KEY, START_KEY, Planner
    from brim.store.project import branch, environment, project_types

    place = Workspace.here(who="agent")
    project = place.project
    context = Context(
        environment=environment(os.environ),
        project_type=project_types(project) if project else None,
        branch=branch(project) if project else None,
    )
    budget: int | None = place.config[START_KEY]
    both = [place.config[key] for key in (DYNAMIC_KEY, "session.max_per_injection")]
    injection = min((limit for limit in both if limit is not None), default=None)
    limits = {"start": budget, "injection": injection, "session": place.config["session.max_tokens"]}
    with place.open(migrate=False) as scopes:
        if scopes.user is None and scopes.project is None:
            return 0, limits
        plan = Planner(scopes, place.config, context, now=place.now).plan(budget)
    return 0 if plan.over_budget or not plan.included else int(plan.total_tokens), limits


def schema_tokens() -> int | None:
    """Return what the tools and instructions of the MCP server take together; None if it is not installed."""
    try:
        from brim.mcp.server import INSTRUCTIONS
        from brim.mcp.tools import tool_costs
        from brim.tokens.counters import counter_for

        return sum(cost.tokens for cost in tool_costs()) + int(counter_for(None).count(INSTRUCTIONS))
    except ImportError:
        return None
