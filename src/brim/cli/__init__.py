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

COMMANDS = {
    "count": "Count the tokens of text, files or folders.",
    "budget": "Show how a model's window is divided.",
    "fit": "Make a history fit into a target.",
    "check": "Check whether a provider would accept a history.",
    "repair": "Make a broken history valid again.",
    "assemble": "Put a working memory together from a configuration file.",
    "models": "Search and compare models.",
    "config": "Show the settings in force, and where each comes from.",
    "completion": "Print the script that completes brim in your shell.",
}


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
        description="Fill the context window to the brim, never over.",
        epilog="Example: brim count README.md --model gpt-4o",
    )
    parser.add_argument("-V", "--version", action="version", version=f"brim {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if with_arguments:
            _command(name).arguments(command)
    return parser


def _command(name: str) -> Any:
    __import__(f"brim.cli.{name}")
    return sys.modules[f"brim.cli.{name}"]


def _described(name: str, module: Any) -> dict[str, Any]:
    """Return what ``--help`` says about a command: its module's ``HELP``, with the examples after the options."""
    description, _, examples = module.HELP.partition("\n\nExample")
    return {
        "prog": f"brim {name}",
        "description": description,
        "epilog": f"Example{examples}",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


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
