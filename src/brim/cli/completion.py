"""``brim completion``: the script that completes brim in a shell."""

from __future__ import annotations

import click

from brim.cli.options import json_option
from brim.cli.output import say_json

LINES = {
    "bash": 'eval "$(brim completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(brim completion zsh)"  # in ~/.zshrc',
    "fish": "brim completion fish | source  # in ~/.config/fish/config.fish",
}


@click.command("completion", short_help="Print the script that completes brim in your shell.")
@click.argument("shell", type=click.Choice(list(LINES)))
@json_option
def command(shell: str, as_json: bool) -> None:
    """Print the script that completes commands, options and model names in SHELL.

    \b
    Put one of these lines where your shell reads it at the start:
      eval "$(brim completion bash)"      # ~/.bashrc
      eval "$(brim completion zsh)"       # ~/.zshrc
      brim completion fish | source       # ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    from brim.cli import brim

    completer = get_completion_class(shell)
    assert completer is not None  # noqa: S101 - the choices are the shells that click knows
    script = completer(brim, {}, "brim", "_BRIM_COMPLETE").source()
    if as_json:
        say_json({"shell": shell, "script": script, "install": LINES[shell]})
    else:
        click.echo(script)
