"""The command line: parse, call a room, print.

Exit codes that scripts can trust: 0 it worked, 1 the answer is no, 2 wrong usage or unreadable
input.

Commands are in ``brim.cli.commands`` and imported when they are called, because a person waits for
the prompt to come back. For the same reason this is argparse: docs/decisions.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from textwrap import dedent

from brim import __version__
from brim.cli.options import Command, add_json
from brim.cli.output import end_with_reader, note, prepare_output, say_json
from brim.errors import BrimError, ConfigError, PersonNeeded

MISTAKE = "correct that line in an editor; until then your limits go on applying: brim limit"
"""What a person reads after a mistake in a settings file."""

LISTED = {
    "init": ("setup.init", "Add brim to your agents, or bring it up to date."),
    "uninstall": ("setup.uninstall", "Remove brim from your agents."),
    "doctor": ("setup.doctor", "Check what is installed, and whether it works."),
    "report": ("report.report", "Show what past sessions lost, cost and wasted."),
    "usage": ("usage.usage", "Add up tokens and cost of your agents' sessions."),
    "context": ("context.context", "Show what fills the window of a session."),
    "memory": ("memory.memory", "Show what survives a compaction, and what was lost."),
    "limit": ("limit.limit", "Limit what agents may spend, and see what is spent."),
    "learn": ("learn.learn", "Teach your agents a rule."),
    "rules": ("rules.listing", "List, explain, edit, import and audit rules."),
    "ui": ("servers.ui", "See sessions, rules and money in the browser."),
    "run": ("run.run", "Run an agent under supervision: gauge, compaction, limit."),
    "config": ("config.config", "Show and change settings, each with its source."),
    "pause": ("setup.pause", "Silence every hook for a while."),
}
"""The commands in ``brim --help``: where each is in ``brim.cli.commands``, and what it does."""

RULES = {
    "list": "rules.listing",
    "why": "why.why",
    "edit": "learn.edit",
    "remove": "rules.remove",
    "restore": "rules.restore",
    "review": "review.review",
    "trust": "trust.trust",
    "allow": "rules.allow",
    "import": "rule_files.import_",
    "audit": "audit.audit",
}
"""The commands in ``brim rules``."""

DEV = {
    "count": ("count.count", "Count the tokens of text, files or folders."),
    "fit": ("history.fit", "Make a history fit a number of tokens."),
    "check": ("history.check", "Check whether a provider would accept a history."),
    "repair": ("history.repair", "Make a broken history valid again."),
    "window": ("window.window", "Show how a model's window is divided."),
    "models": ("window.models", "Search and compare models."),
    "activate": ("why.activate", "Print what a session's agent should be told now."),
    "prompt": ("why.prompt", "Print the rules for a system prompt."),
}
"""The commands in ``brim dev``, for people who build agents."""

UNLISTED = {
    "upgrade": "setup.init",
    "activate": "why.activate",
    "prompt": "why.prompt",
    "mcp": "servers.mcp",
    "statusline": "statusline.statusline",
    "completion": "config.completion",
}
"""Commands that agents, shells and scripts call."""

COMMANDS = {
    **{name: place for name, (place, _) in LISTED.items()},
    **{f"rules {name}": place for name, place in RULES.items()},
    **{f"dev {name}": place for name, (place, _) in DEV.items()},
    **UNLISTED,
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
        code = _told_error(error)
    except OSError as error:
        code = _told_system_error(error)
    except (KeyboardInterrupt, AttributeError, UnboundLocalError) as error:
        # argparse, interrupted, fails again while it puts back what it did not take yet.
        interruptions = (error, error.__context__)
        if not any(isinstance(cause, KeyboardInterrupt) for cause in interruptions):
            raise
        note("interrupted")
        code = 130
    sys.exit(code)


def _told_error(error: BrimError) -> int:
    """Say what is wrong, and return the exit code."""
    note(str(error))
    if isinstance(error, ConfigError) and "config.yaml:" in str(error):
        note(MISTAKE)
    if isinstance(error, PersonNeeded):
        return 1
    return 2


def _told_system_error(error: OSError) -> int:
    """Say which file can't be used, and return the exit code.

    Rooms turn most of theirs into a ``BrimError``; without a name it's the output's.
    """
    place = error.filename2 or error.filename
    if place is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    note(f"{place or 'standard output'}: {error.strerror or error}")
    return 2


def _run(words: list[str]) -> int:
    if words in ([], ["--json"]):
        return load_place("status.status").run(argparse.Namespace(as_json=bool(words)))
    if words[0] == "help":
        words = [*words[1:], "--help"]
    name = " ".join(words[:2])
    if name not in COMMANDS:
        name = words[0]
    if name == "dev":
        return _overview_of_dev(words[1:])
    if name not in COMMANDS:
        return _overview(words)
    arguments = _with_amounts_last(words[len(name.split()) :])
    parser = parser_of(name)
    # Python 3.11 loses what stands after "--" when options and arguments are mixed.
    if "--" in arguments:
        options = parser.parse_args(arguments)
    else:
        options = parser.parse_intermixed_args(arguments)
    return load(name).run(options)


def _with_amounts_last(words: list[str]) -> list[str]:
    """Return *words* with amounts such as "-5/day" behind "--".

    No option begins with a digit: the command says what is wrong with them.
    """
    amounts = [word for word in words if re.match(r"-\d(?![\d.]*$)", word)]
    if not amounts or "--" in words:
        return words
    return [*(word for word in words if word not in amounts), "--", *amounts]


def load(name: str) -> Command:
    """Return the command *name*, imported now."""
    return load_place(COMMANDS[name])


def load_place(place: str) -> Command:
    """Return the command at *place*: a module of ``brim.cli.commands``, and its name there."""
    module, _, attribute = place.partition(".")
    command: Command = getattr(import_module(f"brim.cli.commands.{module}"), attribute)
    return command


def _overview(words: list[str]) -> int:
    """Answer ``brim --help``, ``--version`` and what is not a command."""
    parser = argparse.ArgumentParser(
        prog="brim",
        usage="brim [COMMAND] [--json]",
        description=f"Fill the context window to the brim, never over.\n\n{_rows(LISTED)}",
        epilog="'brim' alone shows where things stand. 'brim COMMAND --help' explains a command. 'brim dev' has the\n"
        "tools for people who build agents.\n\nExample: brim learn 'Use pnpm, not npm'",
        formatter_class=_Help,
    )
    parser.add_argument("-V", "--version", action="version", version=f"brim {__version__}")
    add_json(parser)
    if not words[0].startswith("-"):
        return _unknown(words[0], [name for name in COMMANDS if " " not in name], "brim")
    parser.parse_args(words)
    parser.print_usage(sys.stderr)
    return 2


def _overview_of_dev(words: list[str]) -> int:
    """Answer ``brim dev``, ``brim dev --help`` and what is not a command of it."""
    if words and not words[0].startswith("-"):
        return _unknown(words[0], list(DEV), "brim dev")
    parser = argparse.ArgumentParser(
        prog="brim dev",
        usage="brim dev COMMAND",
        description=f"Tools for people who build agents.\n\n{_rows(DEV)}",
        epilog="Example: brim dev count README.md --model gpt-4o",
        formatter_class=_Help,
    )
    add_json(parser)
    if vars(parser.parse_args(words))["as_json"]:
        say_json({"commands": {name: summary for name, (_, summary) in DEV.items()}})
        return 0
    parser.print_help()
    return 0


def _rows(commands: Mapping[str, tuple[str, str]]) -> str:
    """Return the lines of *commands* in an overview."""
    rows = [f"    {name:<12}{summary}\n" for name, (_, summary) in commands.items()]
    return f"commands:\n{''.join(rows)}"


def _unknown(word: str, names: Sequence[str], parent: str) -> int:
    """Say that *word* isn't a command, and which one of *names* may be meant."""

    similar = get_close_matches(word, names, 1)
    hint = f"'{parent} --help' lists the commands."
    if similar:
        hint = f"Did you mean '{parent} {similar[0]}'?"
    note(f"no command '{parent} {word}'. {hint}")
    return 2


def _whole_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands with all options, for completion."""
    parser = argparse.ArgumentParser(prog="brim")
    parser.add_argument("-V", "--version", action="version", version=f"brim {__version__}")
    top = parser.add_subparsers()
    groups = {name: top.add_parser(name).add_subparsers() for name in ("rules", "dev")}
    for name in COMMANDS:
        group, _, command = name.rpartition(" ")
        if name not in groups:
            completed = groups.get(group, top).add_parser(command)
            for add in load(name).options:
                add(completed)
    return parser


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of the command *name*.

    Its ``--help`` shows the examples after the options.
    """

    command = load(name)
    first, _, rest = command.help.partition("\n")
    description, _, examples = f"{first}\n{dedent(rest)}".partition(
        "\n\nExample"
    )  # newer Pythons dedent it themselves
    parser = argparse.ArgumentParser(
        prog=f"brim {name}",
        description=description,
        epilog=f"Example{examples}",
        formatter_class=_Help,
    )
    for add in command.options:
        add(parser)
    return parser


class _Help(argparse.HelpFormatter):
    """Prose fills the width of the terminal; rows of a list keep their columns.

    Examples stay as they are.
    """

    def _split_lines(self, text: str, width: int) -> list[str]:

        return textwrap.wrap(
            " ".join(text.split()), width, break_long_words=False, break_on_hyphens=False
        )

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002 (argparse gives it)
        if text.startswith("Example"):
            return text.rstrip()
        paragraphs = text.strip("\n").split("\n\n")
        return "\n\n".join(_paragraph(paragraph, width) for paragraph in paragraphs)


def _paragraph(text: str, width: int) -> str:
    """Return *text* in lines of at most *width*; a row is an indented word, two spaces or more, and
    a text."""

    parts: list[tuple[str, str]] = []
    for line in text.split("\n"):
        row = re.match(r"( +\S+(?: \S+)* {2,})(\S.*)", line)
        if row is not None:
            parts.append((row[1], row[2]))
        elif parts and _continues(line, parts[-1][0]):
            title, beginning = parts[-1]
            parts[-1] = (title, f"{beginning} {line.strip()}")
        else:
            parts.append(("", line))
    return "\n".join(_filled(title, part, width) for title, part in parts)


def _continues(line: str, title: str) -> bool:
    """Whether *line* goes on with the row of *title*, or with prose if it has none."""
    if title:
        return line.startswith(" " * len(title))
    return not line.startswith(" ")


def _filled(title: str, text: str, width: int) -> str:
    room = max(width - len(title), 20)
    lines = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False)
    return title + f"\n{' ' * len(title)}".join(lines or [text])
