"""How ``brim run`` starts Codex: each turn is a process, ``codex exec``, that resumes the
session."""

from __future__ import annotations

from brim.agents.running import AgentRun, CommandLine, CommandWords, Start
from brim.errors import InputError


def start(turn: Start) -> list[str]:
    """Return the command for one turn."""
    prompt = "-" if turn.prompt is None else turn.prompt
    return [turn.program, "exec", "--json", *turn.options, *turn.resume, "--", prompt]


def read(line: CommandLine) -> CommandWords:
    """Return the prompt and the words that resume a session. Only ``codex exec`` runs without a
    person."""
    if line.plain[:1] not in (("exec",), ("e",)):
        raise InputError(
            'Codex runs without its screen as codex exec: brim run -- codex exec "fix the parser"'
        )
    output = "stream-json" if line.has("--json") else ""
    words = line.plain[1:]
    if words[:1] != ("resume",):
        return CommandWords(words, output=output)
    if line.has("--last") or len(words) == 1:
        return CommandWords(words[1:], ("resume",), output)
    return CommandWords(words[2:], words[:2], output)


def join_input(prompt: str, piped: str) -> str:
    """Return *prompt* with what was *piped* in."""
    return f"{prompt}\n\n<stdin>\n{piped.rstrip()}\n</stdin>"


RUN = AgentRun(
    start=start,
    join_input=join_input,
    read=read,
    words_before=1,
    resume=("resume",),
    cannot=(
        "cannot be asked to compact in codex exec: it compacts on its own when its window is full",
        "does not say within a turn what is in its window: the gauge moves when a turn has ended",
        "takes no limit of its own: what is spent is checked when a turn has ended, not within it",
    ),
    begin_options=("--all",),
    unsaved_options=("--ephemeral",),
    session_files="sessions/*/*/*/rollout-*-{}.jsonl",
)
