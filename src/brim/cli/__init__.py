"""The command line: parse, call a room, print.

Exit codes that scripts can trust: 0 it worked, 1 the answer is no, 2 wrong usage or unreadable input.

Commands are in ``brim.cli.commands`` and imported when they are called, because a person waits for the prompt to come
back. For the same reason this is argparse: docs/decisions/0003.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from importlib import import_module

from brim import __version__
from brim.cli.options import Command, add_json
from brim.cli.output import end_with_reader, note, prepare_output
from brim.errors import BrimError, PersonNeeded

SHOWN = {
    "everyday": {
        "init": ("setup.init", "Add brim to your agents, or bring it up to date."),
        "report": ("report.report", "Show what past sessions lost, cost and wasted."),
        "context": ("context.context", "Show what fills the window of the current session."),
        "watch": ("watch.watch", "Follow how full the window is, live."),
        "usage": ("usage.usage", "Add up tokens and cost of your agents' sessions."),
        "lost": ("memory.lost", "Show what compactions dropped."),
        "limit": ("limit.limit", "Limit what agents may spend, and see what is spent."),
        "learn": ("learn.learn", "Teach your agents a rule."),
        "rules": ("rules.listing", "List, show, edit, share and check rules."),
        "why": ("why.why", "Show what an agent would be told here, and why."),
        "ui": ("servers.ui", "See sessions, rules and money in the browser."),
        "run": ("run.run", "Run an agent under supervision: gauge, compaction, limit."),
    },
    "setup": {
        "doctor": ("setup.doctor", "Check what is installed, and whether it works."),
        "uninstall": ("setup.uninstall", "Remove brim from your agents."),
        "pause": ("setup.pause", "Silence every hook for a while."),
        "resume": ("setup.resume", "End the pause."),
        "trust": ("setup.trust", "Let agents use this project's rules and settings."),
        "config": ("config.config", "Show and change settings, each with its source."),
    },
    "builders": {
        "count": ("count.count", "Count the tokens of text, files or folders."),
        "fit": ("history.fit", "Make a history fit a number of tokens."),
        "check": ("history.check", "Check whether a provider would accept a history."),
        "repair": ("history.repair", "Make a broken history valid again."),
        "window": ("window.window", "Show how a model's window is divided."),
        "models": ("window.models", "Search and compare models."),
    },
}
"""The commands in ``brim --help``: where each is in ``brim.cli.commands``, and what it does."""

HIDDEN = {
    # The same with another name, most of them of 0.1.
    "rules.listing": "rules list, list",
    "rules.show": "rules show, show",
    "rules.remove": "rules remove, forget",
    "rules.restore": "rules restore, unforget",
    "rules.allow": "rules allow",
    "review.review": "rules review, review",
    "learn.edit": "rules edit, edit",
    "review.merge": "rules merge, merge",
    "review.dedupe": "rules dedupe, dedupe",
    "rule_files.export": "rules export, export",
    "store.check": "rules check, validate",
    "limit.ledger": "ledger, spend",
    "memory.memory": "memory, scratch",
    "window.window": "budget",
    # For scripts, hooks and rare needs.
    "config.completion": "completion",
    "setup.upgrade": "upgrade",
    "servers.mcp": "mcp",
    "memory.compact_prompt": "compact-prompt",
    "rule_files.import_": "rules import",
    "rule_files.import_file": "import",
    "rule_files.import_floop": "import-floop",
    "rule_files.import_rules": "import-rules",
    "status.status": "status",
    "statusline.statusline": "statusline",
    "store.backup": "backup",
    "why.activate": "activate",
    "why.prompt": "prompt",
    "window.assemble": "assemble",
}
"""The other commands: their place, and their names."""

COMMANDS = {name: place for group in SHOWN.values() for name, (place, _) in group.items()} | {
    name: place for place, names in HIDDEN.items() for name in names.split(", ")
}
"""Where each command is: a module of ``brim.cli.commands``, and its name there."""


def main() -> None:
    """Run the command line; every way out is an exit code, never a traceback for what was typed."""
    prepare_output()
    end_with_reader()
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(_whole_parser())
    try:
        code = _run(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrimError as error:
        note(str(error))
        code = 1 if isinstance(error, PersonNeeded) else 2
    except OSError as error:  # rooms turn most of theirs into BrimErrors; without a name it's the output's
        place = error.filename2 or error.filename
        if place is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        note(f"{place or 'standard output'}: {error.strerror or error}")
        code = 2
    except (KeyboardInterrupt, AttributeError, UnboundLocalError) as error:
        # argparse, interrupted, fails again while it puts back what it did not take yet.
        if not isinstance(error, KeyboardInterrupt) and not isinstance(error.__context__, KeyboardInterrupt):
            raise
        note("interrupted")
        code = 130
    sys.exit(code)


def _run(words: list[str]) -> int:
    if words in ([], ["--json"]):
        return load("status").run(argparse.Namespace(as_json=bool(words)))
    name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
    if name not in COMMANDS:
        return _overview(words)
    rest = words[len(name.split()) :]
    # No option begins with a digit: the command says what is wrong with "-5/day".
    amounts = [word for word in rest if re.match(r"-\d(?![\d.]*$)", word)]
    if amounts and "--" not in rest:
        rest = [*(word for word in rest if word not in amounts), "--", *amounts]
    parser = parser_of(name)
    # Python 3.11 loses what stands after "--" when options and arguments are mixed.
    parse = parser.parse_args if "--" in rest else parser.parse_intermixed_args
    return load(name).run(parse(rest))


def load(name: str) -> Command:
    """Return the command *name*, imported now."""
    module, _, attribute = COMMANDS[name].partition(".")
    command: Command = getattr(import_module(f"brim.cli.commands.{module}"), attribute)
    return command


def _overview(words: list[str]) -> int:
    """Answer ``brim --help``, ``--version`` and what is not a command."""
    groups = "\n".join(
        f"{group}:\n" + "".join(f"    {name:<12}{summary}\n" for name, (_, summary) in commands.items())
        for group, commands in SHOWN.items()
    )
    parser = argparse.ArgumentParser(
        prog="brim",
        usage="brim [COMMAND] [--json]",
        description=f"Fill the context window to the brim, never over.\n\n{groups}",
        epilog="'brim' alone shows where things stand. 'brim COMMAND --help' explains a command.\n\n"
        "Example: brim learn 'Use pnpm, not npm'",
        formatter_class=_Help,
    )
    parser.add_argument("-V", "--version", action="version", version=f"brim {__version__}")
    add_json(parser)
    if not words[0].startswith("-"):
        from difflib import get_close_matches

        near = get_close_matches(words[0], [name for name in COMMANDS if " " not in name], 1)
        hint = f" Did you mean '{near[0]}'?" if near else " 'brim --help' lists the commands."
        note(f"no command {words[0]!r}.{hint}")
        return 2
    parser.parse_args(words)
    parser.print_usage(sys.stderr)
    return 2


def _whole_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands with all options, for completion."""
    parser = argparse.ArgumentParser(prog="brim")
    parser.add_argument("-V", "--version", action="version", version=f"brim {__version__}")
    commands = parser.add_subparsers()
    rules = commands.add_parser("rules").add_subparsers()
    for name in COMMANDS:
        if name != "rules":
            inside, sub = (rules, name.removeprefix("rules ")) if " " in name else (commands, name)
            added = inside.add_parser(sub)
            for add in load(name).options:
                add(added)
    return parser


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of the command *name*; its ``--help`` shows the examples after the options."""
    from textwrap import dedent

    command = load(name)
    first, _, rest = command.help.partition("\n")
    description, _, examples = f"{first}\n{dedent(rest)}".partition("\n\nExample")  # newer Pythons dedent it themselves
    parser = argparse.ArgumentParser(
        prog=f"brim {name}", description=description, epilog=f"Example{examples}", formatter_class=_Help
    )
    for add in command.options:
        add(parser)
    return parser


class _Help(argparse.HelpFormatter):
    """Prose fills the width of the terminal; rows of a list keep their columns; examples stay as they are."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap

        return textwrap.wrap(" ".join(text.split()), width, break_long_words=False, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002 (argparse gives it)
        if text.startswith("Example"):
            return text.rstrip()
        return "\n\n".join(_paragraph(each, width) for each in text.strip("\n").split("\n\n"))


def _paragraph(text: str, width: int) -> str:
    """Return *text* in lines of at most *width*; a row is an indented word, two spaces or more, and a text."""
    import textwrap

    parts: list[tuple[str, str]] = []
    for line in text.split("\n"):
        row = re.match(r"( +\S+(?: \S+)* {2,})(\S.*)", line)
        about, said = parts[-1] if parts else ("", "")
        if row is not None:
            parts.append((row[1], row[2]))
        elif parts and line.startswith(" " * len(about)) and (about or not line.startswith(" ")):
            parts[-1] = (about, f"{said} {line.strip()}")
        else:
            parts.append(("", line))
    filled = []
    for about, said in parts:
        wrapped = textwrap.wrap(said, max(width - len(about), 20), break_long_words=False, break_on_hyphens=False)
        filled.append(about + f"\n{' ' * len(about)}".join(wrapped or [said]))
    return "\n".join(filled)
