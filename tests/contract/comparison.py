"""Compares what a brim does with what 0.1 did, but for the differences that are accepted here."""

from __future__ import annotations

import difflib
import json
import re
from fnmatch import translate
from typing import Any

RENAMED: dict[str, str] = {"scratch": "memory", "budget": "window", "spend": "ledger"}
"""Commands of 0.1 that have another name now: old to new. The old one still works, and is replayed; so is the new one.

>>> RENAMED = {"scratch": "memory"}
"""

WORDS: dict[str, str] = {
    r"'brim (limit|spend) (raise shop USD|continue shop)' opens it": "A COMMAND opens it",  # continue opens it too
    r"(\d) %": r"\1%",  # without a space
    r"from brim[\w.]* import (\w+); \1\(\)": "RUN BRIM",  # what a launcher runs; those of 0.1 are run as they are
    r"is not valid JSON \([^)]*\)": "is not valid JSON",  # in the words of Python's own reader
    r"BRIM_HOME=\$\{BRIM_HOME:-('[^']*')\}": r"BRIM_HOME=\1",  # the launcher's own home beats the environment's
    r"(BRIM_HOME='[^']*') HOME='[^']*'": r"\1",  # and so does the person's
    r"(?:  - (?:decision|file|command|number): [^\n]*\n)+": "  - LOST\n",  # the most used first, and no cat or ls
    r'("compacted", null, "[^"]*", ).*': r"\1LOST",  # a path is called a file
    r"( tokens(?:  |, ))[\d.]+%": r"\1SHARE",  # rounded to whole per cent, as the client rounds
    r"brim spend (?:limit )?(?=\S)": "brim limit ",  # messages name today's commands
    r"brim unforget": "brim rules restore",
    r"brim validate": "brim rules check",
    r"brim (edit|dedupe|review)\b": r"brim rules \1",
    r"found from the (?:shape of the )?(messages|request|model)": r"inferred from the \1",
    r"beside what must stay": "next to what must stay",
    r"remove the edge, or bring it back": "remove the connection, or bring the rule back",
    r"(remove the|remove one of the two|the) edge": r"\1 connection",
    r"merges what is so": "merges them",
    r"or 'brim forget": "or remove it with 'brim rules remove",
    r"no behavior has the id or the name": "no rule has the id or the name",
    r"'brim list' shows them": "'brim rules' lists them",
    r'^([+-] \[\d+, .*\]"), "(?!\[)(?:[^"\\]|\\.)*"\]$': r"\1]",  # and with its section
    r'^([+-] \[\d+, .*), "\[\]"\]$': r"\1]",  # a rule's row ends with its blocks
    r"(\d|\ba|of a|the|one) behavior": r"\1 rule",  # people read of rules
    r"(?:<note>)?Rules your user set, kept by brim:(?:</note>)?\n": "",  # says whose rules these are
    r"## Quick reference\n": "## Directives\n",  # short forms stand under their kind
    r'^\+ \["index", "\d+"\]$': "+ INDEX",  # of the words that rules are found by; rebuilt by the next command
}
"""Regular expressions for text that reads otherwise now, and what stands in its place on both sides.

>>> WORDS = {r"brim spend (continue|raise)": r"brim limit \1"}
"""

IGNORED: tuple[str, ...] = (
    "commands-general/001 brim",  # shows where things stand
    "commands-told/059 brim why",  # shows what an agent would be told
    "*brim init*/out/reason",  # in other words
    "*brim init*/out/skipped",
    "launchers/*/out/launchers",  # an upgrade from 0.1 rewrites them
    "*brim config*/out/*activation.*",  # most of these are constants now
    "*brim doctor*/out/findings/*/start",  # counted for the agent's model,
    "*brim doctor*/out/findings/*/basis",  # and says so
    "*/files/*/.brim/bin/hook-unless-resident",  # resident hooks are gone
    "*/left/*/.brim/bin/hook-unless-resident",
    "*brim doctor*/out/findings/*/text",  # in plain English
    "*brim doctor*/out/fixed",
    "*/left/*/.brim/installed.json",  # keeps the original text of each file
    "*/.brim/corrections.json*",  # prompts that correct the agent are kept as suggestions
    "*/.brim/corrections.lock*",
    "*/commands/learn.*",  # init installs /learn
    "*/skills/learn/*",
    "*/out/agents/*/command",
    "*brim learn*Outside of a project*",  # outside of one, it has to be said whose rule it is
    "commands-learned/*b-b248e36b29*",
    "*brim learn*/out/alike",  # rules that may say the same,
    "*brim learn*/out/conflicts",  # that contradict it,
    "*brim learn*/out/replaced",  # or that it replaces
    "*brim dedupe*/out/alike",
    "*brim review*/out/corrections",  # corrections wait next to notes
    "*brim*/out/rules/corrections",
    "*/.brim/projects/*",  # copies of a project's rules, which a pull can destroy
    "*brim backup*/out/kept",  # and 'brim backup' lists them
    "commands-files/047 brim backup/out",
    "commands-files/047 brim backup/err",
    "garbage/077 claude UserPromptSubmit/out",  # a hook says which settings are wrong, goes on, and counts the prompt
    "garbage/077 claude UserPromptSubmit/files",
    "garbage/left/*/.brim/state/s.json/told",
    'garbage/*/sessions/+ [[]"s", *',
    "*/files/*/.brim/secret*",  # marks memory that was made here: an archive must not bring its own
    "*/left/*/.brim/secret*",
    "*/left/*/.context/*.brim-scratch",
    "*/files/*/.context/.brim-scratch",
    "*/left/*/.brim/state/*.json/pays",  # a session pays under the limit of the project that it began in,
    "home/*PreToolUse/files/*/.brim/state/*",  # which is noted for sessions of 0.1 too
    "*/left/*/.brim/trust.json/projects/*/settings",  # trust is of content, not of a folder
    "home/*/files/*/.brim/trust.json",  # what 0.1 trusted as a folder is noted
    "home/left/*/.brim/trust.json",
    "*/meta/*agreed *",
    "commands-files/left/*/copy.db",  # copies of the user's database, byte by byte
    "commands-files/left/*/brim.db.bak",
    "*brim trust*/out/memory",  # memory that wasn't made here
    "*brim trust*/out/behaviors/*/canonical",  # the whole text, and when it is told
    "*brim trust*/out/behaviors/*/tags",
    "*brim trust*/out/behaviors/*/when",
    "*brim trust*/out/behaviors/*/status",
    "*brim spend*/out/is_default",  # limits per period, and in tokens
    "*brim spend*/out/period",
    "*brim spend*/out/scopes/*/is_default",
    "*brim spend*/out/scopes/*/period",
    "*brim spend*/out/tokens",
    "*brim spend*/out/charged_tokens",
    "*brim spend*/out/made_at",
    "*brim spend*/out/unit",
    "*/reservations/*",  # rows have the time of the request and its tokens; spend_scopes has the sums
    "*/spend_entries/*",
    "*/spend_projects",  # where each project is
    "*brim config*/out/notify",  # a new setting
    "commands-money/*settle r3*/out/notices",  # a request that costs more than was reserved doesn't close its scope
    "commands-money/*/out/scopes/shop/job-8/left",
    "commands-money/*/out/scopes/shop/job-8/state",
    "commands-money/*/spend_scopes/*shop/job-8*",
    "home/*/out/*bytes",  # the database has more tables
    "commands-learned/*/out/*bytes",
    "commands-files/*/out/*bytes",
    "*brim doctor*/out/findings/*/version",
    "*-limit/*/out/systemMessage",  # the commands to go on are one per line, and for the person only
    "*-limit/*/out/stopReason",
    "*-limit/*/out/reason",
    "*-limit/*/permissionDecisionReason",
    'claude-work-injection-only/*/sessions/+ [[]"5e551011-*',  # files that were only read are given back too
    "*brim config*/out/statusline.parts",  # is new
    "*brim config*/out/hooks.loops",  # is new
    "*brim config*/out/hooks.protect",  # is new
    "*brim config*/out/hooks.remind_at_stop",  # is new
    "*brim config*/out/project.id",  # is new
    "*brim config*/out/keep.*",  # are new
    "*brim init*/out/kept",  # where a store is kept as it was before it was brought up to date
    "*brim upgrade*/out/kept",
    "*/.brim/backups/brim-v*",
    "launchers/*brim upgrade*/out/migrated",  # a store of 0.1 is one, and doctor says so
    "launchers/*brim doctor*/out/findings/store*",
    "*/out/*blocks",  # what a rule refuses
    "commands-told/028 brim plan*/out/items/*/reason",  # one rule that is over the budget alone doesn't end the plan
    "commands-told/042 brim activate*/out/*",
    "*/out/read",  # the rules that an agent reads itself
    "*/out/read_by",
    *(f"home/013 brim plan*/out/{each}" for each in ("basis", "counter", "high", "low", "total_tokens", "read")),
    "home/013 brim plan*/out/items/*/tokens",  # counted for the installed agent's model, as its hooks count
    "*brim config*/out/hooks.gate",  # is on by default,
    "conditions/037 claude PreToolUse/*",  # for rules that name what the call does, not for one shared word
    "conditions/04[456] claude PreToolUse/*",
    "conditions/left/*/.brim/state/*.json/held",
    "home/054 claude PreToolUse/out",  # 'git push' isn't the force-push that a rule forbids: told, not held
    "home/112 gemini BeforeTool/out",
    "home/113 gemini AfterTool/out/*",
    "home/*brim list*/usage/*",  # so the rules were told at other times
    "conditions/rows/*/behaviors/*",
    "conditions/rows/*/events/*",
    "conditions/rows/*/sessions/*",
    "conditions/rows/*/edges/*",
    "home/rows/*/behaviors/*",
    "home/rows/*/events/*",
    "home/rows/*/sessions/*",
    "home/rows/*/edges/*",
    "*/outcome",  # what came of a rule
    "*/out/receipt/steps",  # what a tiered pruner did, step by step
    "*brim show*/out/read_by",  # which agents read the rule from a file by themselves
    "*brim doctor*/out/findings/tokens/read",
    "*brim doctor*/out/findings/tokens/saved",
    "*brim import-rules*/out/problems",  # what was left out, and why
    "*brim config*/out/injection.fill/*",  # whole texts when they fit
    "commands-sessions/*brim usage*/out/total/cost",  # gpt-5.5-codex has a price and a window in the table
    "commands-sessions/*brim usage*/out/total/unpriced_requests",
    "commands-sessions/*brim usage*/out/unpriced/gpt-5.5-codex",
    "commands-sessions/031 brim usage --utc/err",
    "commands-sessions/019 brim watch*/out/cost",
    "commands-sessions/019 brim watch*/out/unpriced/gpt-5.5-codex",
    "commands-sessions/019 brim watch*/out/window_others/*",
    "*brim watch*/out/*auto_compact",  # where the client compacts,
    "*brim watch*/out/*answer_tokens",
    "*brim watch*/out/*plan_windows",  # and how much of the plan's windows is used
    "*brim usage*/out/plan_windows",
    "*brim statusline*/out/auto_compact",
    "*brim statusline*/out/plan_windows",
    "*brim statusline*/out/folder",
    "*brim statusline*/out/branch",
    "*-untrusted/*/out/systemMessage",  # the person is told that rules wait for trust
    "gemini-*-untrusted/*SessionStart/out",
    "*-untrusted/left/*/state/*/told",
)
"""Places whose value may be anything, or missing, as ``scenario/step/key/key``; ``*`` stands for anything.
An element of a list is called by its id, name or file, a text by itself.

>>> IGNORED = ("commands-money/*brim spend status*/out/scopes/*/state", "*/left/*/state/*.json/looked")
"""

_ANY_IGNORED = re.compile("|".join(map(translate, IGNORED)))

SHOWN = 120
"""Lines of a difference."""


def compared(scenario: str, record: Any) -> Any:
    """Return *record* without what may differ."""
    return _kept(record, scenario)


def difference(old: Any, new: Any, *, shown: int = SHOWN) -> str:
    """Return in what *new* differs from *old*, as lines to read; empty if it does not."""
    if old == new:
        return ""
    before, after = (json.dumps(each, indent=1, ensure_ascii=False, sort_keys=True).splitlines() for each in (old, new))
    lines = list(difflib.unified_diff(before, after, "0.1", "now", lineterm="", n=4))
    more = [f"... and {len(lines) - shown} lines more"] if len(lines) > shown else []
    return "\n".join(line[:400] for line in lines[:shown] + more)


def _kept(value: Any, place: str) -> Any:
    if isinstance(value, dict):
        places = {key: f"{place}/{key}" for key in value}
        return {key: _kept(each, places[key]) for key, each in value.items() if not _is_ignored(places[key])}
    if isinstance(value, list):
        names = [_name(each) or str(at) for at, each in enumerate(value)]
        return [
            _kept(each, f"{place}/{name}")
            for name, each in zip(names, value, strict=True)
            if not _is_ignored(f"{place}/{name}")
        ]
    if isinstance(value, str):
        for pattern, instead in WORDS.items():
            value = re.sub(pattern, instead, value)
    return value


def _name(value: Any) -> str:
    """Return what an element of a list is called, so that a pattern need not count: its step, id, name, ..."""
    keys = ("step", "key", "id", "name", "what", "scope", "agent", "file")
    return next((str(value[key]) for key in keys if value.get(key)), "") if isinstance(value, dict) else str(value)


def _is_ignored(place: str) -> bool:
    return _ANY_IGNORED.match(place.replace("/steps/", "/", 1)) is not None
