"""The command line: parse, call a room, print.

Exit codes that scripts can trust: 0 it worked, 1 the answer is no, 2 wrong usage or unreadable input.

Commands are in ``brim.cli.commands`` and imported when they are called, because a person waits for the prompt to come
back. For the same reason this is argparse: docs/decisions/0003.
"""

from __future__ import annotations

import argparse
import os
import sys

from brim import __version__
from brim.cli.options import Command
from brim.cli.output import end_with_reader, note, prepare_output
from brim.errors import BrimError

SHOWN = {
    "everyday": {
        "init": "Add brim to your agents, or bring it up to date.",
        "context": "Show what fills the window of the current session.",
        "watch": "Follow how full the window is, live.",
        "usage": "Add up tokens and cost of your agents' sessions.",
        "lost": "Show what compactions dropped.",
        "limit": "Set a limit on cost, and see what is spent.",
        "learn": "Teach your agents a rule.",
        "rules": "List, show, edit, share and check rules.",
        "why": "Show what an agent would be told here, and why.",
        "run": "Run an agent under supervision: gauge, compaction, limit.",
    },
    "setup": {
        "doctor": "Check what is installed, and whether it works.",
        "uninstall": "Remove brim from your agents.",
        "pause": "Silence every hook for a while.",
        "resume": "End the pause.",
        "trust": "Let agents use this project's rules and settings.",
        "config": "Show and change settings, each with its source.",
    },
    "builders": {
        "count": "Count the tokens of text, files or folders.",
        "fit": "Make a history fit a number of tokens.",
        "check": "Check whether a provider would accept a history.",
        "repair": "Make a broken history valid again.",
        "window": "Show how a model's window is divided.",
        "models": "Search and compare models.",
    },
}
"""The commands in ``brim --help``; the others work too."""

COMMANDS = {
    "init": "init.init",
    "context": "status.context",
    "watch": "watch.watch",
    "usage": "usage.usage",
    "lost": "memory.lost",
    "limit": "limit.limit",
    "learn": "learn.learn",
    "rules": "rules.listing",
    "rules list": "rules.listing",
    "rules show": "rules.show",
    "rules edit": "edit.edit",
    "rules remove": "rules.remove",
    "rules restore": "rules.restore",
    "rules merge": "duplicates.merge",
    "rules dedupe": "duplicates.dedupe",
    "rules review": "rules.review",
    "rules import": "rule_files.import_",
    "rules export": "rule_files.export",
    "rules check": "store.check",
    "why": "why.why",
    "run": "run.run",
    "doctor": "doctor.doctor",
    "uninstall": "uninstall.uninstall",
    "pause": "pause.pause",
    "resume": "status.resume",
    "trust": "config.trust",
    "config": "config.config",
    "count": "count.count",
    "fit": "history.fit",
    "check": "history.check",
    "repair": "history.repair",
    "window": "window.window",
    "models": "window.models",
    # Hidden: for scripts, hooks and rare needs.
    "activate": "why.activate",
    "assemble": "window.assemble",
    "backup": "store.backup",
    "compact-prompt": "memory.compact_prompt",
    "completion": "config.completion",
    "connect": "rules.connect",
    "feedback": "learn.feedback",
    "import-floop": "rule_files.import_floop",
    "import-rules": "rule_files.import_rules",
    "ledger": "limit.ledger",
    "mcp": "mcp.mcp",
    "memory": "memory.memory",
    "stats": "store.stats",
    "status": "status.status",
    "statusline": "statusline.statusline",
    "upgrade": "upgrade.upgrade",
    # Names of 0.1.
    "active": "why.active",
    "budget": "window.window",
    "dedupe": "duplicates.dedupe",
    "edit": "edit.edit",
    "export": "rule_files.export",
    "forget": "rules.remove",
    "import": "rule_files.import_file",
    "list": "rules.listing",
    "merge": "duplicates.merge",
    "plan": "why.plan",
    "prompt": "why.prompt",
    "review": "rules.review",
    "scratch": "memory.memory",
    "show": "rules.show",
    "spend": "limit.ledger",
    "unforget": "rules.restore",
    "validate": "store.check",
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
        code = 2
    except KeyboardInterrupt:
        note("interrupted")
        code = 130
    except OSError as error:  # rooms turn theirs into BrimErrors: this one is the output's
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        note(f"standard output: {error.strerror or error}")
        code = 2
    except (AttributeError, UnboundLocalError) as error:  # argparse, interrupted, puts back what it did not take yet
        if not isinstance(error.__context__, KeyboardInterrupt):
            raise
        note("interrupted")
        code = 130
    sys.exit(code)


def _run(words: list[str]) -> int:
    if not words or words in (["--json"],):
        return load("status").run(argparse.Namespace(as_json=bool(words)))
    name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
    if name not in COMMANDS:
        return _overview(words)
    command = load(name)
    parser = _parser(name, command)
    for add in command.options:
        add(parser)
    rest = words[len(name.split()) :]
    # Python 3.11 loses what stands after "--" when options and arguments are mixed.
    parse = parser.parse_args if "--" in rest else parser.parse_intermixed_args
    return command.run(parse(rest))


def load(name: str) -> Command:
    """Return the command *name*, imported now."""
    module, _, attribute = COMMANDS[name].partition(".")
    __import__(f"brim.cli.commands.{module}")
    found = sys.modules[f"brim.cli.commands.{module}"]
    command: Command = getattr(found, attribute)
    return command


def _overview(words: list[str]) -> int:
    """Answer ``brim --help``, ``--version`` and what is not a command."""
    groups = "\n".join(
        f"{group}:\n" + "".join(f"    {name:<12}{summary}\n" for name, summary in commands.items())
        for group, commands in SHOWN.items()
    )
    parser = argparse.ArgumentParser(
        prog="brim",
        usage="brim [-h] [-V] [--json] [COMMAND ...]",
        description=f"Fill the context window to the brim, never over.\n\n{groups}",
        epilog="brim alone shows where things stand; brim COMMAND --help says more.\n\nExample: brim learn 'Use pnpm'",
        formatter_class=_Help,
    )
    parser.add_argument("-V", "--version", action="version", version=f"brim {__version__}")
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
    inside = None
    for name in COMMANDS:
        group, _, sub = name.partition(" ")
        added = inside.add_parser(sub) if sub and inside is not None else commands.add_parser(group)
        if group == "rules" and not sub:
            inside = added.add_subparsers()
        else:
            for add in load(name).options:
                add(added)
    return parser


def _parser(name: str, command: Command) -> argparse.ArgumentParser:
    """Return a parser whose ``--help`` is the command's, with the examples after the options."""
    description, _, examples = command.help.partition("\n\n    Example")
    return argparse.ArgumentParser(
        prog=f"brim {name}", description=description, epilog=f"Example{examples}", formatter_class=_Help
    )


class _Help(argparse.HelpFormatter):
    """Prose fills the width of the terminal; rows of a list keep their columns; examples stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002 (argparse gives it)
        from textwrap import dedent
        from textwrap import indent as indented

        first, _, rest = text.partition("\n")
        if text.startswith("Example"):
            return f"{first}\n{indented(dedent(rest), '  ')}".rstrip()
        text = f"{first}\n{dedent(rest)}".strip("\n")
        return "\n\n".join(_paragraph(each, width) for each in text.split("\n\n"))


def _paragraph(text: str, width: int) -> str:
    """Return *text* in lines of at most *width*; a row is an indented word, two spaces or more, and a text."""
    import re
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
