"""``brim doctor``: what is installed where, whether it works, and what to do."""

from __future__ import annotations

import os
from argparse import Namespace

from brim import __version__
from brim.cli.options import add_json, command, option, working_folder
from brim.cli.output import counted, facts, home_path, note, paint, say, say_json, tell_all
from brim.install.doctor import FIX, OFF, OK, WRONG, diagnose

_COLOURS = {OK: "green", OFF: "faint", WRONG: "red"}


@command(option("--fix", action="store_true", help="fix what needs no decision"), add_json)
def doctor(options: Namespace) -> int:
    """Check what is installed where, and whether it works.

    Runs a hook to see whether it answers and how long it takes (in a temporary home, so nothing is recorded), counts
    the tokens that brim itself adds, and says what to correct. With --fix, it corrects what needs no decision of yours:
    the launcher, hooks in the settings, files of an older version. Exits with 1 if something is wrong.

    Examples:
      brim doctor
      brim doctor --fix
      brim doctor --json
    """
    found = diagnose(os.environ, working_folder(), fix=options.fix, tool_tokens=_tool_tokens)
    tell_all(*found.problems)
    if options.as_json:
        findings = [each.to_dict() for each in found.findings]
        say_json({"version": __version__, "ok": not found.wrong, "fixed": found.fixed, "findings": findings})
        return found.exit_code
    rows = [("Fixed", home_path(text)) for text in found.fixed]
    for each in found.findings:
        missing = each.text == "not found"
        state = paint(f"{'not found' if missing else each.state:<9}", _COLOURS[each.state])
        text = "\n".join([home_path(each.text), *each.facts.get("lines", ())])
        rows.append((f"{each.what[:1].upper() + each.what[1:]:<11}  {state}", " " if missing else text))
    say(facts(rows))
    if found.wrong:
        fix = " ('brim doctor --fix' fixes what it can)" if any(each.fix == FIX for each in found.wrong) else ""
        note(f"{counted(len(found.wrong), 'problem')} to fix{fix}")
    return found.exit_code


def _tool_tokens(model: str | None) -> int | None:
    """Return what the tools and instructions of the MCP server take for *model*; None if it isn't installed."""
    try:
        from brim.mcp.server import INSTRUCTIONS
        from brim.mcp.tools import tool_costs
    except ImportError:
        return None
    from brim.tokens.counters import counter_for

    counter = counter_for(model)
    return sum(cost.tokens for cost in tool_costs(counter)) + int(counter.count(INSTRUCTIONS))
