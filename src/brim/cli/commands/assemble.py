"""``brim assemble``: what goes into the request, and what does not?"""

from __future__ import annotations

from brim.cli.memory_file import MemoryFile
from brim.cli.messages import say_object, say_text, to_text
from brim.cli.output import heading, listed, note, paint, say, share, table
from brim.cli.receipt import about, as_object
from brim.cli.settings import add_json, add_model, settings
from brim.errors import ConfigError, InputError
from brim.models.light import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.config import Config
    from brim.tokens.count import Count
    from brim.window.assembly import Assembly, Section

STRATEGIES = {
    "fifo": "FifoPruner",
    "sliding": "SlidingWindowPruner",
    "summarize": "SummarizePruner",
    "watermark": "WatermarkPruner",
    "cap": "ToolResultCap",
}

SHOWN = 40
"""So many characters of a dropped text are shown."""

HELP = """\
Put a working memory together: system prompt, procedure, knowledge, episodes, history and current message, in the shape
that the provider takes, with as much history as fits. FILE is YAML or JSON; a text in it may be {file: PATH}, relative
to FILE. Shows what each section takes, and what was dropped and why. Ends with 1 if it is over the budget or does not
fit the window.

Examples:
  brim assemble --config memory.yaml --model gpt-4o
  brim assemble --config memory.yaml --messages > request.json
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    from brim.history import PROVIDERS

    text = "what to assemble, in YAML or JSON; - is standard input"
    parser.add_argument("--config", required=True, metavar="FILE|-", help=text)
    add_model(parser, "the file's, else the setting 'model', else the o200k_base encoding")
    text = "whose shape the messages have (default: the file's, else found from the messages and the model)"
    parser.add_argument("--provider", choices=["auto", *PROVIDERS], help=text)
    text = "which history leaves (default: fifo); see brim fit --help"
    parser.add_argument("--strategy", choices=list(STRATEGIES), default="fifo", help=text)
    parser.add_argument("--messages", action="store_true", help="print the request in JSON, ready to send")
    add_json(parser)


def run(options: Namespace) -> int:
    """Assemble, print, and return the exit code."""
    if options.messages and options.as_json:
        raise InputError("--messages or --json, not both")
    config = settings(model=options.model)
    file = MemoryFile(options.config)
    model = options.model or file.values.get("model") or config["model"]
    found = _assembled(options, file, model, config)
    if options.messages:
        say_text(to_text(_request(found), like="{\n  }"))
    elif options.as_json:
        say_object(_object(found, file, model))
    else:
        _show(found, file, model)
    for text in (*file.notes, *found.receipt.notes, found.reason):
        if text:
            note(text)
    if model and not lookup(model).resolved:
        limited = "" if found.context_window else ", and no window limits the request"
        note(f"{model} is not a model that brim knows: the counts are guesses{limited}")
    return 0 if found.fits and not found.over_budget else 1


def _assembled(options: Namespace, file: MemoryFile, model: str | None, config: Config) -> Assembly:
    from brim import history
    from brim.tokens.counters import counter_for
    from brim.window.memory import MemoryConfig, WorkingMemory

    values = {key: value for key, value in file.values.items() if key not in ("model", "memory")}
    if options.provider:
        values["provider"] = options.provider
    if values.get("provider") is None:
        values["provider"] = "auto"
    file.config()  # says what is wrong under ``memory``, and where
    limits = MemoryConfig(**{**config.section("memory"), **file.values.get("memory", {})})
    memory = WorkingMemory(limits, model=model, counter=counter_for(model, mode=config["mode"]))
    pruner = getattr(history, STRATEGIES[options.strategy])()
    try:
        return memory.assemble(**values, pruner=pruner)
    except InputError as error:
        raise ConfigError(file.at(str(error))) from None


def _request(found: Assembly) -> Any:
    """Return what is sent: OpenAI's list of messages, or the fields of the request that the others take."""
    if found.provider == "anthropic":
        return {**({"system": found.system} if found.system else {}), "messages": found.messages}
    if found.provider == "gemini":
        system = {"systemInstruction": {"parts": [{"text": found.system}]}} if found.system else {}
        return {**system, "contents": found.messages}
    return found.messages


def _object(found: Assembly, file: MemoryFile, model: str | None) -> dict[str, Any]:
    return {
        "model": model,
        "provider": found.provider,
        "context_window": found.context_window,
        "budget": found.budget,
        "history_budget": found.history_budget,
        **_count(found.tokens),
        "fits": found.fits,
        "over_budget": found.over_budget,
        "over_by": found.over_by,
        "reason": found.reason,
        "sections": [
            {
                "name": section.name,
                **_count(section.tokens),
                "share": section.share,
                "source": _source(section, file),
                "items": section.items,
                "dropped": [
                    {name: getattr(gone, name) for name in ("index", "text", "tokens", "reason")}
                    for gone in section.dropped
                ],
            }
            for section in found.sections
        ],
        "system": found.system,
        "messages": found.messages,
        "receipt": as_object(found.receipt),
    }


def _count(count: Count) -> dict[str, Any]:
    return {"tokens": int(count), "basis": count.basis, "low": count.low, "high": count.high}


def _show(found: Assembly, file: MemoryFile, model: str | None) -> None:
    window = "" if found.context_window is None else f", window {found.context_window:,}"
    say(f"{model or 'no model'}  {found.provider}{window}")
    rows = [["section", "tokens", "share", "in it", "from"]]
    for section in found.sections:
        size = share(int(section.tokens), found.budget)
        rows.append([section.name, f"{section.tokens:,}", size, section.contents, _shortened(_source(section, file))])
    rows.append(["request", f"{found.tokens:,}", share(int(found.tokens), found.budget), about(found.tokens), ""])
    rows.append(["budget", f"{found.budget:,}", "", "", ""])
    rows.append(["history budget", f"{found.history_budget:,}", "", "", ""])
    say(heading(table(rows, right=frozenset({1, 2}))))
    dropped = [row for section in found.sections for row in _dropped(section)]
    if dropped:
        say()
        shown, more = listed(dropped, most=30)
        say(heading(table([["dropped", "tokens", "why"], *shown], right=frozenset({1}))))
        if more:
            say(more)
    say()
    say(_verdict(found))


def _verdict(found: Assembly) -> str:
    if not found.fits:
        return paint("does not fit", "red")
    if found.over_budget:
        return paint(f"fits the window, but is {found.over_by:,} tokens over the budget", "yellow")
    return paint("fits", "green")


def _source(section: Section, file: MemoryFile) -> str:
    """Return where a section comes from: what its items name, else where the file sets it."""
    own = section.source if section.source not in ("text", "message", "messages") else ""
    return own or file.source(section.name)


def _dropped(section: Section) -> list[list[str]]:
    """Return a row for each item that was dropped; the messages of a history are one row for each reason."""
    if section.name == "procedure":
        return [[section.name, f"{gone.tokens:,}", gone.reason] for gone in section.dropped]
    if section.name != "history":
        return [
            [f"{section.name}[{gone.index}]  {_shortened(gone.text)}", f"{gone.tokens:,}", gone.reason]
            for gone in section.dropped
        ]
    reasons: dict[str, list[int]] = {}
    for gone in section.dropped:
        reasons.setdefault(gone.reason, []).append(gone.tokens)
    return [
        [f"history  {len(tokens):,} unit{'' if len(tokens) == 1 else 's'}", f"{sum(tokens):,}", reason]
        for reason, tokens in reasons.items()
    ]


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
