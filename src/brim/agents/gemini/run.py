"""How ``brim run`` starts Gemini CLI: each turn is a process that resumes the session."""

from __future__ import annotations

from brim.agents.running import AgentRun, CommandLine, CommandWords, Start, read_words


def start(turn: Start) -> list[str]:
    """Return the command for one turn."""
    words = [turn.program, "-o", "stream-json", *turn.resume, *turn.options]
    if turn.prompt is not None:
        words.append(f"--prompt={turn.prompt}")
    return words


def read(line: CommandLine) -> CommandWords:
    """Return the prompt, which may be the value of an option."""
    prompts = (*line.values("-p", "--prompt"), *line.plain)
    return CommandWords(prompts, output=read_words(line).output)


def join_input(prompt: str, piped: str) -> str:
    """Return *prompt* with what was *piped* in."""
    return f"{piped}\n\n{prompt}"


RUN = AgentRun(
    start=start,
    join_input=join_input,
    read=read,
    cannot=(
        "cannot be asked to compact without its screen: it compresses on its own "
        "when its window is full",
        "does not say within a turn what is in its window: the gauge moves when a turn has ended",
        "takes no limit of its own: what is spent is checked when a turn has ended, not within it",
    ),
    session_files="tmp/*/chats/session-*-{:.8}.jsonl",
)
