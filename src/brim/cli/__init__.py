"""The command line: parse, call a room, print.

Exit codes that scripts can trust: 0 it worked, 1 the answer is no, 2 wrong usage or input that cannot be read. Each
command is a file of its own, imported when it is called, because a person waits for the prompt to come back.
"""

from __future__ import annotations

import sys
from importlib import import_module

import click

from brim import __version__
from brim.errors import BrimError

COMMANDS = {
    "count": "Count the tokens of text, files or folders.",
    "budget": "Show how a model's window is divided.",
    "models": "Search and compare models.",
    "config": "Show the settings in force, and where each comes from.",
    "completion": "Print the script that completes brim in your shell.",
}


class _Commands(click.Group):
    """Finds a command's file by its name, when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"brim.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: brim count README.md --model gpt-4o",
)
@click.version_option(__version__, "-V", "--version", message="brim %(version)s")
def brim() -> None:
    """Fill the context window to the brim, never over."""


def main() -> None:
    """Run the command line; every way out of it is an exit code, never a traceback for what was typed."""
    _die_quietly_when_nobody_reads()
    try:
        code = brim.main(prog_name="brim", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = 2
    except BrimError as error:
        click.echo(f"brim: {error}", err=True)
        code = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("brim: interrupted", err=True)
        code = 130
    except BrokenPipeError:
        code = 141
    sys.exit(code if isinstance(code, int) else 0)


def _die_quietly_when_nobody_reads() -> None:
    """Let ``brim ... | head`` end as ``cat`` does: by the signal, without a word."""
    try:
        from signal import SIG_DFL, SIGPIPE, signal
    except ImportError:  # Windows has no such signal
        return
    signal(SIGPIPE, SIG_DFL)
