"""The gate: a call that speaks against a rule which the window wasn't told is held back once."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from brim.agents.call import BEFORE_TOOL, HookCall
from brim.hooks.mentions import Doing, mention
from brim.hooks.room import DURING_WORK, room_at, size
from brim.hooks.situations import budget_of
from brim.hooks.state import HookWorkspace
from brim.rules.delivery import Delivery, deliver_only
from brim.rules.session import Session
from brim.rules.stored import StoredRule
from brim.rules.tiers import Tier
from brim.rules.when import PATH

HELD_BACK = (
    "brim held this call back once: the rules below are about it, and this window had not been "
    "shown them. Follow them, and make the call again if it is still right.\n"
)
"""What stands above the rules that a call is denied for."""

GATED = ("edit", "write", "shell")
"""The tools whose calls the gate may hold back."""

MOST_RULES = 48
"""Rules whose words are compared with a pending call."""


def is_gated(call: HookCall, workspace: HookWorkspace) -> bool:
    """Whether the gate may hold *call* back."""
    if call.event != BEFORE_TOOL or call.tool.kind not in GATED:
        return False
    return workspace.config["hooks.gate"] is not None


def rules_against(
    call: HookCall,
    workspace: HookWorkspace,
    deliveries: Iterable[Delivery],
    shown_ids: Collection[str],
) -> list[StoredRule]:
    """Return the musts in *deliveries* that this window was never shown and that speak against
    *call*."""
    rules: list[StoredRule] = []
    for delivery in deliveries:
        for choice in delivery.choices:
            rule = choice.rule
            is_permitted = rule.name in workspace.permitted
            if rule.must and choice.activation and rule.id not in shown_ids and not is_permitted:
                rules.append(rule)
    if not rules:
        return []
    doing = Doing.of(call)
    return [rule for rule in rules[:MOST_RULES] if _speaks_against(rule, doing)]


def _speaks_against(rule: StoredRule, doing: Doing) -> bool:
    patterns: list[str] = []
    for case in rule.condition.cases:
        for clause in case:
            if clause.key == PATH:
                patterns += clause.values
    return bool(mention(rule.text(Tier.FULL).removeprefix("- "), patterns, doing))


def held_back(
    call: HookCall, workspace: HookWorkspace, rules: list[StoredRule], session: Session
) -> str:
    """Return why the pending call is held back for *rules*; empty if none of them fits.

    A call is never denied without saying why.
    """
    if not rules:
        return ""
    room = room_at(call, workspace, DURING_WORK, call.agent.answers.chars).minus(HELD_BACK)
    budget = budget_of(call, workspace, room)
    delivery = deliver_only(rules, session, budget, spare=size(HELD_BACK))
    if not delivery.included:
        return ""
    session.charge(delivery)
    session.spend(size(HELD_BACK))
    return HELD_BACK + delivery.text
