"""What brim gives back after a compaction, before the agent needs it: ``python bench/recovered.py
[--json FILE]``.

Plays the sessions of ``bench/compactions`` with brim's real hook functions, called as the client
calls them. Of the files and commands that a compaction dropped and the session used again later,
and of the person's dropped instructions that go on holding: how many had been given back before? Of
what was given back: how much was used again, or is a person's instruction or answer? A search
directly before such a use is saved if what it looked for had been given back before. Summaries are
fixed, although brim's hooks ask for better ones. The second table adds files and commands that are
used once and never needed again. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from brim.agents.stream import read
from brim.hooks.process import answer_to
from brim.memory.compactions import CompactionReader, compactions_in
from brim.memory.comparison import Fact, compare
from brim.memory.lost import HEADING, LostFact, chosen, line_of
from brim.memory.ranking import BINDING
from brim.memory.repetition.commands import looks, parts
from brim.memory.shell_facts import shell_facts, without_numbers
from brim.memory.token_length import BilledRatio
from compacted import FIRST, SCRIPTS, Script, Step, Writer, play, scripts
from report import Target, arguments, finish, markdown, measured, table, this_machine

RECALL = 0.85
"""The share of what is needed again that has to be given back first."""
RECALL_AMONG_MORE = 0.7
"""The same among files and commands that were added and that nobody needs again."""
PRECISION = 0.6
"""The share of what is given back that has to be needed."""


@dataclass
class Outcome:
    """What became of one session."""

    name: str
    client: str
    needed: list[list[str]] = field(default_factory=list)
    """Dropped files and commands that were used again, and dropped instructions."""
    given: list[list[str]] = field(default_factory=list)
    """Those of them that were told before."""
    returned: list[list[str]] = field(default_factory=list)
    """What was given back in all."""
    useful: list[list[str]] = field(default_factory=list)
    """What of that was used again, or is an instruction or an answer of the person."""
    searches: int = 0
    """Searches directly before such a use."""
    saved: int = 0
    """Those of them that looked for something that had been told before: requests that need not be
    made."""
    saved_tokens: int = 0
    """What these requests took, prompt and result."""
    told_tokens: int = 0
    """What brim's text after the compaction took, in every request that followed it."""


@dataclass(frozen=True)
class Moment:
    """A step, all that was told before the agent decided on it, and the prompt of its request."""

    step: Step | None
    told: str
    prompt: int


class Sitting:
    """A session with brim installed: hooks are called, and what they tell is kept."""

    def __init__(self, script: Script, folder: Path) -> None:
        self.script = script
        self.home, self.project = folder / "home", folder / "project"
        for each in (self.home, self.project):
            each.mkdir(parents=True)
        self.transcript = folder / f"{script.session}.jsonl"
        self.environ = {"HOME": str(folder), "BRIM_HOME": str(self.home), "PATH": "/usr/bin:/bin"}
        self.environ |= {
            "CLAUDE_PROJECT_DIR": str(self.project),
            "GEMINI_SESSION_ID": script.session,
        }
        self.now = float(FIRST)
        self.told: list[str] = []
        """What the agent was told so far."""

    def hook(self, event: str, **data: Any) -> None:
        """Call a hook as the client does."""
        self.now += 1
        about = {
            "session_id": self.script.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
        }
        sent = {**about, "hook_event_name": event, **data}
        said = answer_to(event, self.script.client, sent, self.environ, now=self.now)
        if said.startswith("{"):
            specific = json.loads(said).get("hookSpecificOutput", {})
            self.told.append(str(specific.get("additionalContext", "")))

    @property
    def told_after_compaction(self) -> str:
        """What brim said of lost facts."""
        return "\n".join([text for text in self.told if HEADING in text])

    def play(self) -> list[Moment]:
        """Play the session; the moment without a step is the compaction."""
        heard: list[Moment] = []
        self.hook("SessionStart", source="startup")
        for writer, step, (tool, given, answer) in play(self.script, self.transcript, self.project):
            if step is not None and step.kind == "you":
                self.hook(
                    "BeforeAgent" if self.script.client == "gemini" else "UserPromptSubmit",
                    prompt=step.text,
                )
            heard.append(Moment(step, "\n".join(self.told), writer.tokens))
            if step is None:
                writer.compact()
                self._compact(writer)
            elif step.is_call:
                self._call(writer, step, tool, given, answer)
        return heard

    def _call(
        self, writer: Writer, step: Step, tool: str, given: dict[str, Any], answer: str
    ) -> None:
        about: dict[str, Any] = {
            "tool_name": tool,
            "tool_input": given,
            "tool_use_id": f"call-{self.now}",
        }
        if self.script.client == "gemini":
            self._model(writer.tokens)
            self.hook("BeforeTool", **about)
            error = {"error": {"message": answer}} if step.failed else {}
            self.hook("AfterTool", **about, tool_response={"llmContent": answer, **error})
            return
        self.hook("PreToolUse", **about)
        if step.failed and self.script.client == "claude":
            self.hook("PostToolUseFailure", **about, error=answer, is_interrupt=False)
        else:
            response = (
                {"stdout": answer, "stderr": ""} if self.script.client == "claude" else answer
            )
            self.hook("PostToolUse", **about, tool_response=response)

    def _model(self, tokens: int) -> None:
        usage = {
            "promptTokenCount": tokens,
            "candidatesTokenCount": 40,
            "totalTokenCount": tokens + 40,
        }
        self.hook("PreCompress", trigger="auto")
        data = {
            "llm_request": {"model": "gemini-2.5-pro"},
            "llm_response": {"usageMetadata": usage},
        }
        self.hook("AfterModel", **data)

    def _compact(self, writer: Writer) -> None:
        trigger = self.script.trigger
        if self.script.client == "claude":
            self.hook("PreCompact", trigger=trigger, custom_instructions=None)
            self.hook("SessionStart", source="compact")
            self.hook("PostCompact", trigger=trigger, compact_summary=self.script.summary)
        elif self.script.client == "codex":
            self.hook("PreCompact", trigger=trigger)
            self.hook("PostCompact", trigger=trigger)
            self.hook("SessionStart", source="compact")
        else:
            self._model(writer.tokens)


def judge(script: Script, folder: Path) -> Outcome:
    """Play *script*, and compare what it needed with what it was told."""
    outcome = Outcome(script.name, script.client)
    sitting = Sitting(script, folder / script.name)
    heard = sitting.play()
    reader, ratio = CompactionReader(script.client), BilledRatio()
    for event in read(sitting.transcript):
        reader.take(event)
        ratio.take(event)
    (compaction,) = reader.finish()
    above = f"{sitting.project}/"  # Gemini CLI doesn't write down where it works
    again = [
        item for item in compaction.items if item.used_again and item.kind in ("file", "command")
    ]
    waiting = {
        without_numbers((item.kind, item.text.removeprefix(above))): item.text for item in again
    }
    told_after = sitting.told_after_compaction
    for item in compaction.items:
        is_instruction = item.level == BINDING
        fact = (item.kind, item.text)
        if is_instruction:
            outcome.needed.append(list(fact))
        if line_of(item.kind, item.text) in told_after:
            outcome.returned.append(list(fact))
            if is_instruction:
                outcome.given.append(list(fact))
            if is_instruction or item.used_again:
                outcome.useful.append(list(fact))
    at = next(place for place, moment in enumerate(heard) if moment.step is None)
    before = len(heard[at].told)

    def was_told(fact: Fact, moment: Moment) -> bool:
        return not compare([fact], moment.told[before:]).lost

    last = heard[at]
    for moment in heard[at + 1 :]:
        outcome.told_tokens += (
            ratio.tokens(len(moment.told) - before, "")
            if moment.step and moment.step.is_call
            else 0
        )
        for used in sorted(map(without_numbers, things_of(moment.step))):
            if used not in waiting:
                continue
            fact = (used[0], waiting.pop(used).removeprefix(above))
            outcome.needed.append(list(fact))
            outcome.given += [list(fact)] if was_told(fact, moment) else []
            if last.step is not None and is_search(last.step):
                saved = was_told(fact, last)
                outcome.searches += 1
                outcome.saved += saved
                outcome.saved_tokens += (
                    last.prompt + ratio.tokens(len(last.step.answer), "")
                ) * saved
        last = moment
    return outcome


def things_of(step: Step | None) -> list[Fact]:
    """Return the file or the command that *step* uses, as the report names it."""
    if step is None or step.kind in ("you", "say", "ask", "grep"):
        return []
    if step.kind == "run":
        facts = shell_facts(step.text)
        return [
            *[("command", command) for command in facts.commands],
            *[("file", path) for path in (*facts.shows, *facts.changes)],
        ]
    return [("file", step.text)]


def is_search(step: Step) -> bool:
    """Whether *step* only looks for something."""
    return step.kind == "grep" or (step.kind == "run" and looks(parts(step.text)))


def played(sessions: Path, more: int) -> list[Outcome]:
    """Play every session in the folder *sessions*, with *more* files and commands in each."""
    with tempfile.TemporaryDirectory() as folder:
        return [judge(script, Path(folder)) for script in scripts(sessions, more)]


@dataclass
class Tally:
    """What real compactions dropped, and what brim would give back of it."""

    compactions: int = 0
    own_words: int = 0
    """A person's dropped instructions and answers: all of them are needed and given back."""
    needed: int = 0
    """Dropped files and commands that were used again."""
    given_first: int = 0
    """Those of them that would have been given back."""
    given_back: int = 0
    """Files and commands that would have been given back in all."""

    def add(self, items: Sequence[LostFact]) -> None:
        """Add what one compaction dropped."""
        returned = chosen(items)
        self.compactions += 1
        self.own_words += sum(item.level == BINDING for item in items)
        self.needed += sum(item.used_again for item in items)
        self.given_first += sum(item.used_again for item in returned)
        self.given_back += sum(item.level != BINDING for item in returned)

    def __str__(self) -> str:
        recall = (self.own_words + self.given_first) / max(1, self.own_words + self.needed)
        precision = (self.own_words + self.given_first) / max(1, self.own_words + self.given_back)
        return (
            f"{self.compactions} compactions: given back first {recall:.0%}, useful {precision:.0%}; "
            f"{self.own_words} of a person's own words; of files and commands, "
            f"{self.given_first} of {self.needed} needed ones were among {self.given_back}"
        )


def tally_of(folder: Path) -> Tally:
    """Return what the compactions of the main threads of the transcripts in *folder* dropped."""
    tally = Tally()
    for path in sorted(folder.rglob("*.jsonl")):
        for compaction in compactions_in(event for event in read(path) if not event.agent):
            if compaction.readable:
                tally.add(compaction.items)
    return tally


COLUMNS = [
    "needed",
    "given back first",
    "given back",
    "useful",
    "searches",
    "saved",
    "tokens saved",
    "tokens told",
]


def show(title: str, found: list[Outcome]) -> list[int]:
    """Print a table; return its sums."""
    head = ["session", "client", *COLUMNS]
    rows = []
    for each in found:
        counts = [
            len(each.needed),
            len(each.given),
            len(each.returned),
            len(each.useful),
            each.searches,
            each.saved,
            each.saved_tokens,
            each.told_tokens,
        ]
        rows.append([each.name, each.client, *[f"{count:,}" for count in counts]])
    sums = [sum(int(row[at].replace(",", "")) for row in rows) for at in range(2, len(head))]
    table(title, head, [*rows, ["all", "", *[f"{count:,}" for count in sums]]], [])
    return sums


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="only the sessions as they are written")
    parser.add_argument(
        "--more", type=int, default=10, metavar="N", help="files and commands to add (default: 10)"
    )
    parser.add_argument(
        "--sessions", type=Path, default=SCRIPTS, metavar="FOLDER", help="play other scripts"
    )
    parser.add_argument("--missed", action="store_true", help="also list what wasn't given back")
    parser.add_argument(
        "--transcripts",
        type=Path,
        metavar="FOLDER",
        help="only say what brim would have given back in these session files, all in all",
    )
    options = parser.parse_args()
    print(this_machine())
    if options.transcripts is not None:
        print(tally_of(options.transcripts))
        return 0
    sets = {"as written": played(options.sessions, 0)}
    if not options.quick:
        sets[f"with {options.more} more files and commands"] = played(
            options.sessions, options.more
        )
    targets, rows = [], []
    for name, found in sets.items():
        sums = show(f"What compactions dropped and was needed again, {name}", found)
        recall = sums[1] / sums[0]
        precision = sums[3] / sums[2]
        if name == "as written":
            recall_needed = RECALL
            targets.append(
                Target("of what is given back useful, as written", precision, at_least=PRECISION)
            )
        else:
            recall_needed = RECALL_AMONG_MORE
        targets.append(Target(f"given back first, {name}", recall, at_least=recall_needed))
        figures = [f"{number:,}" for number in sums]
        rows.append(
            [name, *figures[:2], f"{recall:.0%}", *figures[2:4], f"{precision:.0%}", *figures[4:]]
        )
        for each in found if options.missed else ():
            print(
                f"  {each.name}:",
                *[": ".join(it) for it in each.needed if it not in each.given],
                *[f"useless: {': '.join(it)}" for it in each.returned if it not in each.useful],
                sep="\n    ",
            )
    numbers = {"sets": {name: [asdict(each) for each in found] for name, found in sets.items()}}
    head = measured(options, f"{len(sets['as written'])} sessions")
    tables = {
        "recovered": head + markdown(["", *COLUMNS[:2], "", *COLUMNS[2:4], "", *COLUMNS[4:]], rows)
    }
    return finish(options, numbers, targets, tables)


if __name__ == "__main__":
    sys.exit(main())
