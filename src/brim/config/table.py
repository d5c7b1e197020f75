"""Every setting that there is. The rooms have the same defaults for whoever calls them without a configuration.

Each is read from ``BRIM_`` and its key in capitals, unless another variable stands here.
"""

from __future__ import annotations

from brim.config.setting import Setting

MODES = ("auto", "approximate", "exact", "api")
"""The same as ``brim.tokens.MODES``, which stands above this file."""
STRATEGIES = ("lowest-first", "level", "optimal")
FORMATS = ("markdown", "xml", "plain")
UNKNOWN_PRICES = ("refuse", "allow")
GATES = ("constraints",)

UNLIMITED = "unlimited"
BUDGET_FLAG = "--token-budget"


def _tokens(key: str, default: int, help: str) -> Setting:
    return Setting(key, "whole", default, help, least=0)


def _share(key: str, default: float, help: str) -> Setting:
    return Setting(key, "number", default, help, least=0, most=1)


def _constant(name: str, default: float, help: str, *, least: float = 0, most: float = 1_000) -> Setting:
    kind = "whole" if isinstance(default, int) else "number"
    return Setting(f"activation.{name}", kind, default, help, least=least, most=most)


SETTINGS = (
    Setting("model", "text", None, "the model to count for when none is named", none="none"),
    Setting("mode", "text", "auto", "how to count", choices=MODES),
    Setting("models", "mapping", {}, "models to add, or fields of known models to override", variables=()),
    Setting(
        "token_budget.default",
        "whole",
        2_000,
        "tokens that a prompt, or the start of a session, may take; 0 is off",
        variables=("BRIM_TOKEN_BUDGET", "FLOOP_TOKEN_BUDGET"),
        flag=BUDGET_FLAG,
        least=0,
        none=UNLIMITED,
    ),
    Setting(
        "token_budget.dynamic_context",
        "whole",
        500,
        "tokens that one injection during the work may take; 0 is off",
        variables=("BRIM_TOKEN_BUDGET_DYNAMIC", "FLOOP_TOKEN_BUDGET_DYNAMIC"),
        flag=BUDGET_FLAG,
        least=0,
        none=UNLIMITED,
    ),
    Setting(
        "session.max_tokens",
        "whole",
        3_000,
        "tokens that all injections of a session may take together",
        least=0,
        none=UNLIMITED,
    ),
    Setting(
        "session.max_per_injection",
        "whole",
        500,
        "tokens of one injection, at most; grows with token_budget.dynamic_context",
        least=0,
        none=UNLIMITED,
        follows="token_budget.dynamic_context",
    ),
    Setting(
        "session.backoff",
        "whole",
        5,
        "the n-th injection of a behavior waits n - 1 times as many prompts",
        least=0,
    ),
    Setting("session.renew_on_compaction", "flag", True, "whether a compaction renews total and backoff"),
    _share("tiers.full", 0.7, "activation from which a behavior goes in whole"),
    _share("tiers.summary", 0.3, "activation from which its summary goes in"),
    _share("tiers.name_only", 0.1, "activation from which its name goes in"),
    Setting("injection.strategy", "text", "lowest-first", "how to get under the budget", choices=STRATEGIES),
    Setting("injection.format", "text", "markdown", "how the text is written", choices=FORMATS),
    Setting("injection.fill", "flag", False, "whether spare budget is filled with more detail"),
    Setting(
        "injection.max_chars",
        "whole",
        None,
        "characters that the text may have: a second limit beside the tokens",
        least=0,
        none=UNLIMITED,
    ),
    _constant("always", 0.3, "seed of a behavior without conditions", most=1),
    _constant("seed_floor", 0.15, "what a seed starts from", most=1),
    _constant("one_condition", 0.4, "seed when the only condition is confirmed", most=1),
    _constant("two_conditions", 0.6, "seed when both of two conditions are", most=1),
    _constant("three_conditions", 0.8, "seed when all of three are", most=1),
    _constant("further_condition", 0.1, "what each further condition adds, up to 1", most=1),
    _constant("base_floor", 0.85, "factor of a behavior used long ago and seldom"),
    _constant("base_range", 0.3, "how much recent and frequent use adds to it"),
    _constant("never_used", 0.5, "base level of a behavior that was never used", most=1),
    _constant("use_factor", 2.0, "how much each use counts"),
    _constant("use_offset", 1.0, "what is added to the logarithm of use"),
    _constant("least_hours", 0.001, "hours since the last use, at least", least=0.000_001),
    _constant("steps", 3, "how many edges activation travels along", most=100),
    _constant("spread", 0.85, "share of its activation that a behavior passes on", most=1),
    _constant("decay", 0.7, "what is left of it at the other end of an edge", most=1),
    _constant("edge_fading", 0.01, "how fast an edge that carries nothing fades, per hour"),
    _constant("inhibition_breadth", 7, "how many of the strongest are spared", least=1),
    _constant("inhibition_strength", 0.15, "share of the distance to them that the others lose", most=1),
    _constant("sigmoid_gain", 10.0, "how sharply strong and weak are told apart"),
    _constant("sigmoid_center", 0.3, "where strong begins"),
    _constant("least", 0.05, "an activation under this is 0", most=1),
    Setting(
        "hooks.gate",
        "text",
        None,
        "which rules deny, once, an edit, write or command that they match, if this window was not shown them yet",
        choices=GATES,
        none="off",
        lowers=True,
    ),
    _share("context.warn", 0.70, "share of the window from which to warn"),
    _share("context.compact", 0.78, "share of the window from which to compact"),
    Setting(
        "context.window",
        "whole",
        None,
        "tokens of the window, whatever the agent and the table say",
        least=1,
        none="auto",
    ),
    Setting(
        "spend.limit",
        "number",
        None,
        "USD that a project may spend where 'brim spend limit' has set nothing",
        least=0,
        most=1e9,
        none=UNLIMITED,
        lowers=True,
    ),
    Setting("spend.warn", "number", 0.8, "share of a limit from which to warn", least=0, most=1, lowers=True),
    Setting(
        "spend.unknown_price",
        "text",
        "refuse",
        "what to do with a request whose price is not known",
        choices=UNKNOWN_PRICES,
        lowers=True,
    ),
    _share("behaviors.near_duplicate", 0.8, "similarity from which two texts are one behavior"),
    _tokens("memory.max_working_memory_tokens", 100_000, "all sections of a working memory, and the response"),
    _tokens("memory.output_reserve", 4_096, "kept for the response"),
    _tokens("memory.min_history_tokens", 4_000, "history keeps at least this much"),
    _tokens("memory.max_knowledge_tokens", 3_000, "retrieved knowledge takes at most this much"),
    _tokens("memory.max_episode_tokens", 1_000, "episodes take at most this much"),
    _share("window.response_reserve_ratio", 0.15, "share of the window kept for the response"),
    _tokens("window.response_reserve_min", 500, "the least that is kept for the response"),
    _tokens("window.response_reserve_max", 4_096, "the most that is kept for the response"),
    _share("window.safety_buffer_ratio", 0.05, "share of the window that stays empty"),
)
"""Every setting that there is. Anything else in a file is an error."""

ORDERED = (
    ("tiers.full", "tiers.summary"),
    ("tiers.summary", "tiers.name_only"),
    ("context.compact", "context.warn"),
    ("window.response_reserve_max", "window.response_reserve_min"),
)
"""Pairs of which the first is never less than the second, whichever files they come from."""
