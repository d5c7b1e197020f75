"""``brim compact-prompt``: the line that asks an agent to compact."""

from __future__ import annotations

from brim.cli.output import printable, say, say_json
from brim.cli.settings import add_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HELP = """\
Print the request that makes an agent compact its conversation: what to keep, the state the work is in, and where more
is written down. Send it as a turn of its own: an agent takes everything that stands after /compact as what to focus on.

Task and state become one line each, of at most 200 characters.

Examples:
  brim compact-prompt --task "fix the parser" --state EXECUTING --scratch .context/scratch.md
  git log -1 --format=%s | brim compact-prompt --task -
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--task", default="", metavar="TEXT|-", help="what to keep in mind; - reads standard input")
    parser.add_argument("--state", default="", metavar="TEXT", help="the state that the work is in")
    parser.add_argument("--scratch", metavar="PATH", help="the file that the agent finds preserved context in")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the request, and return the exit code."""
    from brim.tracking.compaction import build_compact_prompt, fold

    task = options.task
    if task == "-":
        from brim.cli.messages import read_text

        task = read_text("-")
    text = build_compact_prompt(task, options.state, options.scratch)
    if options.as_json:
        asked = {"task": fold(task), "cfa_state": fold(options.state), "scratch_path": options.scratch}
        say_json({"text": text, **asked})
    else:
        for line in text.split("\n"):
            say(printable(line))
    return 0
