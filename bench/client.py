"""What Claude Code's own means do, in the real client: ``python bench/client.py [--quick] [--json
FILE]``.

Claude Code works against a model on this machine that keeps every request (``tests/e2e``). First,
rules: of labelled projects, one situation each is played with all rules in CLAUDE.md, with rules in
``.claude/rules`` that name their ``paths:``, and with brim's hooks; once with the project's own
rules, once with those of all projects. The files are read, then the provider refuses the prompt as
too long, so that Claude Code compacts, and one file is read again. Which of the needed rules are
known: before the compaction, right after it, and one step later? Then ``/context``: one session is
billed by a vocabulary that neither is given, and its parts are compared with the bill.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.e2e.agents import Claude
from tests.e2e.api import ModelApi
from tests.e2e.programs import program
from tests.e2e.script import Asked, Call, Overflow, Say
from tests.e2e.test_context import bill
from tests.e2e.world import World

from measure import say
from relevance import (
    LABELLED,
    LabelledRule,
    Project,
    Situation,
    load,
    rules_file,
    tokens_of,
)
from report import Target, arguments, finish, markdown, measured, table, this_machine


@contextmanager
def claude_code() -> Iterator[Claude]:
    """Give Claude Code in a world of its own."""
    path = program("claude")
    if path is None:
        raise SystemExit(
            "Claude Code is not here: scripts/bench installs it, or BRIM_E2E_CLAUDE names it"
        )
    with tempfile.TemporaryDirectory() as folder, ModelApi() as api:
        yield Claude(path, World(Path(folder).resolve(), api))


def install(claude: Claude) -> None:
    """Install brim's hooks, with the time that a busy machine needs."""
    claude.install()
    settings = claude.world.home / ".claude" / "settings.json"
    settings.write_text(
        re.sub(r'"timeout": \d+', '"timeout": 120', settings.read_text(encoding="utf-8")),
        encoding="utf-8",
    )


def version_of() -> str:
    """Return the version of Claude Code."""
    with claude_code() as claude:
        return claude.world.run([claude.program, "--version"]).out.split()[0]


# Rules --------------------------------------------------------------------------------------------


def without(_: Claude, __: Project) -> None:
    """Give no rules."""


def in_one_file(claude: Claude, project: Project) -> None:
    """Write all rules into CLAUDE.md."""
    claude.world.write("CLAUDE.md", listed(project.rules))


def in_folder(claude: Claude, project: Project) -> None:
    """Write the rules into ``.claude/rules``, with the paths that brim infers from their texts, if
    any."""
    files: dict[tuple[str, ...], list[LabelledRule]] = {}
    for rule in project.rules:
        files.setdefault(rule.paths, []).append(rule)
    for number, (paths, rules) in enumerate(files.items()):
        head = (
            "---\npaths:\n" + "".join(f'  - "{each}"\n' for each in paths) + "---\n"
            if paths
            else ""
        )
        claude.world.write(f".claude/rules/rules{number}.md", head + listed(rules))


def with_brim(claude: Claude, project: Project) -> None:
    """Write the rules into the user's rules file and install brim's hooks."""
    install(claude)
    path = claude.world.home / ".brim" / "rules.toml"
    path.write_text(rules_file(project.rules), encoding="utf-8")


def listed(rules: Iterable[LabelledRule]) -> str:
    """Return *rules* as a list in Markdown."""
    return "# Rules\n\n" + "".join(f"- {rule.text}\n" for rule in rules)


OURS = "brim"
SETUPS: dict[str, Callable[[Claude, Project], None]] = {
    "CLAUDE.md": in_one_file,
    "`.claude/rules` with `paths:`": in_folder,
    OURS: with_brim,
}


@dataclass
class Told:
    """What the model was told of the rules, over all situations."""

    needed: int = 0
    known: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Needed rules in the last request before the compaction, in the first after it, and in the
    next."""
    rules: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    """Tokens of the last request before the compaction, beyond those of the same session without
    rules."""

    def row(self, name: str) -> list[str]:
        """Return the figures as a row of a table."""
        shares = [f"{known / self.needed:.0%}" for known in self.known]
        return [
            name,
            *shares,
            f"{statistics.mean(self.rules):.0f}",
            f"{statistics.mean(self.tokens):,.0f}",
        ]


def play(
    setup: Callable[[Claude, Project], None], project: Project, situation: Situation
) -> list[Asked]:
    """Play *situation*; return the last request before the compaction and the two after it."""
    with claude_code() as claude:
        world, api = claude.world, claude.world.api
        setup(claude, project)
        paths = [world.write(name, "# to be changed\n") for name in situation["files"]]
        reads = [Call("Read", {"file_path": str(path)}) for path in paths]
        api.will(*reads, Overflow(), reads[0], Say())
        ran = claude.ask(situation["prompt"])
        if len(api.compactions) != 1:
            raise SystemExit(f"{project.name}: {len(api.compactions)} compactions\n{ran.told}")
        at = api.asked.index(api.compactions[0])
        return [api.turns[len(paths)], *(each for each in api.asked[at:] if each.kind == "turn")][
            :3
        ]


def rules(situations: int) -> dict[str, Told]:
    """Play the first situation with files of so many projects, in every setup, with their own rules
    and with all."""
    projects = [*load(LABELLED / "unseen"), *load(LABELLED / "development")]
    every = tuple(
        replace(rule, id=f"{each.name}:{rule.id}") for each in projects for rule in each.rules
    )
    found: dict[str, Told] = {}
    for project in projects[:situations]:
        situation = next(each for each in project.situations if each.get("files"))
        needed = [rule for rule in project.rules if situation["labels"].get(rule.id) == "must"]
        plain = tokens_of(texts(play(without, project, situation))[0])
        for size, chosen in (
            ("one project's rules", project.rules),
            (f"{len(every)} rules", every),
        ):
            for name, setup in SETUPS.items():
                say(f"rules: {project.name}, {name}, {size}")
                told = found.setdefault(f"{name}, {size}", Told())
                requests = texts(play(setup, replace(project, rules=chosen), situation))
                told.needed += len(needed)
                for at, text in enumerate(requests):
                    told.known[at] += sum(rule.text in text for rule in needed)
                told.rules.append(sum(rule.text in requests[0] for rule in chosen))
                told.tokens.append(tokens_of(requests[0]) - plain)
    return found


def texts(requests: list[Asked]) -> list[str]:
    """Return all that the model reads in each request."""
    return ["\n".join(part.text for part in asked.parts) for asked in requests]


# The window ---------------------------------------------------------------------------------------


def context() -> dict[str, dict[str, int]]:
    """Return the tokens of parts of one request, by who says so: the bill, ``/context`` and ``brim
    context``."""
    with claude_code() as claude:
        world, api = claude.world, claude.world.api
        api.bill = bill
        memory = world.write("CLAUDE.md", "Write every docstring in the present tense.\n" * 40)
        source = world.write(
            "src/app.py", "def total(prices: list[int]) -> int:\n    return sum(prices)\n" * 300
        )
        steps = [claude.shell(f"head -{100 * at} {source}; seq 1 {300 * at}") for at in range(1, 6)]
        api.will(*steps, Say(output_tokens=1))
        claude.ask("Please look at the shop's totals.")
        last = api.turns[-1].body
        results = [part.text for part in api.turns[-1].parts if part.kind == "result"]
        asked = len(api.asked)
        ran = claude.ask_again("/context")
        (theirs,) = [event["context_usage"] for event in ran.events if "context_usage" in event]
        shown = {
            each["name"]: each["tokens"] for each in theirs["categories"] if each["kind"] == "used"
        }
        (path,) = (world.home / ".claude" / "projects").glob("*/*.jsonl")
        ours = json.loads(world.brim("context", str(path), "--json").out)
        parts = {part["name"]: part["tokens"] for part in ours["parts"]}
        named = sum(1 + len(part.get("parts") or ()) for part in ours["parts"])
        details = sum(
            len(theirs[name]) for name in ("mcp_tools", "memory_files", "agents", "skills")
        )
        empty: dict[str, Any] = {"messages": []}
        return {
            "billed": {
                "all": bill(last),
                "tools": bill({**empty, "tools": last["tools"]}),
                "system prompt": bill({**empty, "system": last["system"]}),
                "memory file": bill({**empty, "system": memory.read_text(encoding="utf-8")}),
                "tool results": bill({**empty, "system": results}),
            },
            "/context": {
                "all": theirs["total_tokens"],
                "tools": shown["System tools"],
                "system prompt": shown["System prompt"],
                "memory file": shown["Memory files"],
                "requests": len(api.asked) - asked,
                "parts": len(shown) + details,
            },
            "brim context": {
                "all": ours["request"]["billed_tokens"],
                "tools": parts["tools"],
                "system prompt": parts["system prompt"],
                "memory file": parts["memory files"],
                "tool results": parts["tool results"],
                "requests": 0,
                "parts": named,
            },
        }


ROWS = {
    "all": "the whole request, tokens",
    "tools": "tools",
    "system prompt": "system prompt",
    "memory file": "memory file",
    "tool results": "results of tools",
    "parts": "parts that are named",
    "requests": "requests to the provider, to count",
}


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="two projects instead of six").parse_args()
    print(this_machine())
    situations = 2 if options.quick else 6
    told = rules(situations)
    head = [
        "",
        "needed rules known",
        "right after a compaction",
        "one step later",
        "rules told",
        "tokens",
    ]
    lines = [
        told[name].row(name)
        for name in sorted(told, key=lambda name: name.partition(", ")[2], reverse=True)
    ]
    table(f"Rules in the real Claude Code, {situations} situations", head, lines, [])
    found = context()
    columns = ["", *found]
    rows = [
        [label, *(f"{each[key]:,}" if key in each else "" for each in found.values())]
        for key, label in ROWS.items()
    ]
    table("One request in the real Claude Code, part by part", columns, rows, [])
    version = version_of()
    how = measured(options, f"{situations} situations", {"Claude Code": version})
    tables = {
        "rules": how + markdown(head, lines),
        "window": measured(options, "one session", {"Claude Code": version})
        + markdown(columns, rows),
    }
    targets = [
        Target(
            f"{name}: needed rules known before the compaction",
            each.known[0] / each.needed,
            at_least=0.9,
        )
        for name, each in told.items()
        if name == f"{OURS}, one project's rules"
    ]
    return finish(
        options,
        {"rules": {name: asdict(each) for name, each in told.items()}, "context": found},
        targets,
        tables,
    )


if __name__ == "__main__":
    sys.exit(main())
