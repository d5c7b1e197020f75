"""What may differ from the recordings, each with its reason."""

from __future__ import annotations

import re

WORDS: dict[str, str] = {
    # Every class has a name of its own, and the schemas of MCP's tools show it.
    r"^(#/\$defs/)?Rule$": r"\1RuleAnswer",
    r"^(#/\$defs/)?Window$": r"\1StandingWindow",
    r"^Counted$": "CountAnswer",
    r"^Room$": "RoomAnswer",
    r"^Fitted$": "FitAnswer",
    # A description is a docstring: short enough for one line.
    r"^What is in the window\. ``state`` .*": (
        "How full the window is: ``state`` is ``ok``, ``warn`` or ``compact``."
    ),
    # A rule is called by its name.
    r"brim rules allow b-84d36b5401 ": (
        "brim rules allow never-apply-terraform-to-production-yourself "
    ),
    r"^id or name of a rule$": "name of a rule",
    r"^why: no rule has the id or the name 'no-such-rule': 'brim rules' lists them$": (
        "why: no rule is called 'no-such-rule': the tool 'list' has their names"
    ),
    # A request of opencode names the folder of its project, for limits and sums by project.
    r"^(        const line = .* sessionID: part.sessionID,) part }$": r"\1 cwd: directory, part }",
    # Where the agent compacts has a mark of its own beside the two where brim warns.
    r"^((?:Opus|Haiku) 5\.5  [▏░]░{7}││░)░(  )": r"\1┃\2",
}
"""Recorded words and keys, as regular expressions, and what stands there now."""

REMOVED: tuple[str, ...] = (
    "mcp/* mcp tools/list/result/tools/feedback",  # the command and the tool are gone
    # No transcript has the prompts of this tape, so nobody is quoted before a compaction.
    "tape-claude/* claude PreCompact",
    # A person's own words come back first, then changed files and commands; numbers only in a
    # sentence. What the transcript doesn't have, the window didn't hold.
    "work-claude/037 claude UserPromptSubmit",
    "work-codex/036 codex UserPromptSubmit",
    # What brim gave back, whether it was used, and how long it took to the next edit.
    "sessions/*/given_back",
    "sessions/*/used_again",
    "sessions/*/level",
    "sessions/*/steps",
    "sessions/*/steps_to_edit",
    # New: what counts against limits, with compactions that no total shows yet.
    "sessions/* brim usage*/out/estimated",
    "sessions/* brim usage*/out/spent",
    # A report's sum is that of usage and limits, to the micro-dollar. Before, it priced what only a
    # client's total shows once more. tests/cli/test_usage.py holds it.
    "sessions/* report*/out/money/*",
    # New: which rules past sessions kept and broke.
    "sessions/* brim report*/out/rules",
    # New: what the client itself says about its window.
    "statusline/*/reported_share",
    "statusline/*/reported_window",
    # After a compaction, what the client says is left is the conversation alone; what stands in the
    # window is that and the system prompt and the tools, as the client's /context counts.
    "sessions/* context of *compact/out/used_tokens",
    "sessions/* context of *compact/out/utilization",
    # The parts of a request add up to its bill: texts are scaled to what remains, and what the
    # client doesn't record is a row of its own. tests/sessions/composition/test_balance.py holds it.
    "sessions/* context of */out/parts",
    "sessions/* context of */out/filling",
    "sessions/* context of */out/request/not_explained",
    "sessions/* context of */out/request/not_recorded_tokens",
    "sessions/* context of */out/request/estimate",
    "sessions/* context of */out/request/scale",
    # Rules that fit are all told at the start, in a flat list, so prompts and calls tell nothing more.
    # tests/rules/test_delivery.py holds what is told when.
    "tape-*/* SessionStart/out/hookSpecificOutput/additionalContext",
    "work-*/* SessionStart/out/hookSpecificOutput/additionalContext",
    "*/* gemini BeforeAgent/out",
    "tape-*/* UserPromptSubmit/out",
    "work-*/002 * UserPromptSubmit/out",
    "garbage/* UserPromptSubmit/out",
    "work-*/003 * PreToolUse/out",
    "work-*/007 * PreToolUse/out",
    "work-*/021 * PreToolUse/out",
    "work-gemini/* gemini AfterTool/out",
    # A sub-agent is told the musts at its start, and what a call is about.
    "tape-claude/* claude SubagentStart/out",
    "work-claude/030 claude PreToolUse/out/hookSpecificOutput/additionalContext",
    # A rule is called by its name: it has no id and no state beside the text. What an agent teaches
    # waits until a person accepts it.
    "mcp/* mcp tools/list/result/tools/learn/inputSchema/properties/situation",
    "mcp/* mcp tools/list/result/tools/learn/outputSchema",
    "mcp/* mcp tools/list/result/tools/list/outputSchema",
    # One file for opencode 1.x and 2.x. tests/install/test_opencode.py holds what it does.
    "installing/*opencode/plugin/brim.js",
    "installing/*command/learn.md",
    "installing/*commands/learn.md",
    "installing/*skills/learn/SKILL.md",
    # One strategy is the default everywhere: tiered.
    "mcp/* mcp tools/list/result/tools/fit/inputSchema/properties/strategy",
    "mcp/005 mcp tools/call/result",
    "mcp/012 mcp resources/read/result/contents/0/text",
)
"""Places that are no longer answered, or are new, as ``scenario/answer/key/key``; ``*`` stands for anything."""


# New: limits are looked at between two requests, and a sub-agent is told the musts when it starts, so
# these events are installed for everybody.
NEW_EVENTS = ("PostToolBatch", "BeforeModel", "SubagentStart")


NEW_FIELD = '"additionalContextLimit": 0'
"""Lifts the limit of Codex for what a hook says."""


def without_new_events(lines: list[str]) -> list[str]:
    """Return the *lines* of a settings file without the events that weren't asked for before."""
    kept: list[str] = []
    is_new = False
    for line in lines:
        if '": [' in line and not line.startswith("      "):
            is_new = any(f'"{event}"' in line for event in NEW_EVENTS)
        if NEW_FIELD in line:
            kept[-1] = kept[-1].removesuffix(",")
        elif not is_new:
            kept.append(line)
    return kept


def reworded(text: str) -> str:
    """Return a recorded text in today's words."""
    for recorded, now in WORDS.items():
        text = re.sub(recorded, now, text)
    return text
