"""The command line: parse, call a room, print.

Exit codes that scripts can trust: 0 it worked, 1 the answer is no, 2 wrong usage or input that cannot be read.

Each command is a file of its own: ``arguments`` says what it takes, ``run`` does it and returns the exit code. It is
imported when it is called, because a person waits for the prompt to come back. For the same reason this is argparse:
docs/decisions/0003.
"""

from __future__ import annotations

import argparse
import os
import sys

from brim import __version__
from brim.cli.output import note, prepare_output
from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GROUPS = {
    "how many, how large": {
        "count": "Count the tokens of text, files or folders.",
        "budget": "Show how a model's window is divided.",
        "models": "Search and compare models.",
    },
    "histories": {
        "fit": "Make a history fit into a target.",
        "check": "Check whether a provider would accept a history.",
        "repair": "Make a broken history valid again.",
        "assemble": "Put a working memory together from a configuration file.",
    },
    "what goes in": {
        "prompt": "Print the text that an agent should be told here.",
        "plan": "Show what would go in, in how much detail, and why.",
        "activate": "Print what an agent should be told now, within its session's budget.",
        "active": "List what matters here and now.",
        "why": "Explain the activation of one behavior.",
    },
    "what is learned": {
        "learn": "Learn a rule from a correction.",
        "list": "List what has been learned.",
        "show": "Show one behavior whole.",
        "edit": "Edit a behavior in your editor.",
        "feedback": "Say that a behavior was right, or was overridden.",
        "review": "List, accept or reject what agents noted.",
        "connect": "Relate two behaviors to each other.",
        "forget": "Put a behavior away.",
        "unforget": "Bring a forgotten behavior back.",
        "merge": "Merge two behaviors into one.",
        "dedupe": "Find and merge near-duplicates.",
        "validate": "Check what is stored for contradictions and damage.",
        "stats": "Show how much is stored and how it is used.",
    },
    "how full, what survives, what it costs": {
        "watch": "Show how full the window is, live.",
        "usage": "Add up tokens and cost of your agents' sessions.",
        "compact-prompt": "Print the line that asks an agent to compact.",
        "scratch": "Show, search and rebuild what survives a compaction.",
        "spend": "Set limits on cost, and see what is spent.",
    },
    "inside agents": {
        "init": "Install brim into your agents.",
        "upgrade": "Bring what was installed up to date.",
        "uninstall": "Take brim out of your agents again.",
        "doctor": "Say what is installed where, and whether it works.",
        "pause": "Let every hook say nothing for a while.",
        "statusline": "Print the status line of an agent.",
        "mcp": "Serve behaviors and budgets to agents over MCP.",
        "run": "Run an agent under supervision: gauge, compaction, limit.",
    },
    "in and out": {
        "import": "Read behaviors from a file made by export.",
        "export": "Write behaviors to a file made for git.",
        "import-rules": "Learn the bullets of CLAUDE.md, AGENTS.md and the like.",
        "import-floop": "Read a .floop folder.",
        "backup": "Create or restore a backup of the store.",
    },
    "settings": {
        "config": "Show and change settings, each with where it comes from.",
        "trust": "Let agents use this project's behaviors.",
        "completion": "Print the script that completes brim in your shell.",
    },
}
"""Every command and what it does, by what it is about."""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}


def main() -> None:
    """Run the command line; every way out of it is an exit code, never a traceback for what was typed."""
    prepare_output()
    _die_quietly_when_nobody_reads()
    if "_ARGCOMPLETE" in os.environ:
        _complete()
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
    if not words or words[0] not in COMMANDS:
        parser = whole_parser(with_arguments=False)
        parser.parse_args(words)
        parser.print_help(sys.stderr)
        return 2
    module = _command(words[0])
    parser = argparse.ArgumentParser(**_described(words[0], module))
    module.arguments(parser)
    # Python 3.11 loses what stands after "--" when options and arguments are mixed.
    parse = parser.parse_args if "--" in words else parser.parse_intermixed_args
    code: int = module.run(parse(words[1:]))
    return code


def whole_parser(*, with_arguments: bool) -> argparse.ArgumentParser:
    """Return the parser of all commands: for ``brim --help``, and *with_arguments* for completion."""
    parser = argparse.ArgumentParser(
        prog="brim",
        usage="brim [-h] [-V] COMMAND ...",
        description=f"Fill the context window to the brim, never over.\n\n{_overview()}",
        epilog="brim COMMAND --help says more. Example: brim count README.md --model gpt-4o",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"brim {__version__}")
    # The subparsers are for completion and for errors; the groups in the description are for people.
    commands = parser.add_subparsers(metavar="COMMAND", required=True, help=argparse.SUPPRESS)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if with_arguments:
            _command(name).arguments(command)
    return parser


def _overview() -> str:
    return "\n".join(
        f"{group}:\n" + "".join(f"    {name:<16}{summary}\n" for name, summary in commands.items())
        for group, commands in GROUPS.items()
    )


def _command(name: str) -> Any:
    module = f"brim.cli.commands.{name.replace('-', '_')}"
    if name == "import":  # a word that Python keeps for itself
        module += "_"
    __import__(module)
    return sys.modules[module]


def _described(name: str, module: Any) -> dict[str, Any]:
    """Return what ``--help`` says about a command: its module's ``HELP``, with the examples after the options."""
    description, _, examples = module.HELP.partition("\n\nExample")
    return {
        "prog": f"brim {name}",
        "description": description,
        "epilog": f"Example{examples}",
        "formatter_class": _Help,
    }


class _Help(argparse.HelpFormatter):
    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002 (argparse gives it)
        from brim.cli.help_text import laid_out

        return laid_out(text, width)


def _complete() -> None:
    import argcomplete

    argcomplete.autocomplete(whole_parser(with_arguments=True))


def _die_quietly_when_nobody_reads() -> None:
    """Let ``brim ... | head`` end as ``cat`` does: by the signal, without a word."""
    try:
        from signal import SIG_DFL, SIGPIPE, signal
    except ImportError:  # Windows has no such signal
        return
    signal(SIGPIPE, SIG_DFL)
