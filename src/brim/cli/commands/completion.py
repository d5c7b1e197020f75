"""``brim completion``: the script that completes brim in a shell."""

from __future__ import annotations

from brim.cli.output import say, say_json
from brim.cli.settings import add_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

LINES = {
    "bash": 'eval "$(brim completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(brim completion zsh)"  # in ~/.zshrc',
    "fish": "brim completion fish | source  # in ~/.config/fish/config.fish",
}

HELP = """\
Print the script that completes commands, options and model names in SHELL.

Examples, each for the file that your shell reads at its start:
  eval "$(brim completion bash)"      # ~/.bashrc
  eval "$(brim completion zsh)"       # ~/.zshrc
  brim completion fish | source       # ~/.config/fish/config.fish
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("shell", metavar="SHELL", choices=list(LINES), help="bash, zsh or fish")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    script = shellcode(["brim"], shell=options.shell)
    if options.as_json:
        say_json({"shell": options.shell, "script": script, "install": LINES[options.shell]})
    else:
        say(script)
    return 0
