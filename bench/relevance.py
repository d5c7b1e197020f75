"""Which rules an agent knows when it acts: ``python bench/relevance.py [FOLDER] [--unseen] [--json
FILE]``.

Each labelled situation is played through the hooks that ``brim init`` installs, each in a process of
its own: a session begins, files are read, a prompt is typed. What the agent was told by then is
compared with the labels. Next to it: the whole rule file, the rules that Claude Code would load by
``paths:``, rules by chance, and BM25 over the prompt, all within the same tokens. With ``--beside
FOLDER`` the rules of further projects stand in the one store. Progress goes to standard error.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brim.rules.globs import matches
from brim.rules.paragraphs import paragraph_of
from brim.rules.prose import inferred_condition
from brim.rules.stems import stems_of
from brim.rules.when import PATH
from brim.tokens.engines import encoding_counter
from measure import say
from report import arguments, finish, table, this_machine

LABELLED = Path(__file__).parent / "labelled" / "relevance"
BUDGETS = ((2000, 500), (400, 400), (200, 200), (100, 100))

Situation = dict[str, Any]


@dataclass(frozen=True)
class LabelledRule:
    """A rule, and the heading that it stands under."""

    id: str
    text: str
    heading: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The globs of the files that its words name."""
        globs: list[str] = []
        for case in inferred_condition(self.text, self.heading).cases:
            for clause in case:
                if clause.key == PATH:
                    globs += clause.values
        return tuple(globs)

    @property
    def line(self) -> str:
        """The rule in a list."""
        return f"- {self.text}\n"


@dataclass(frozen=True)
class Project:
    """The rules of one project and what happens in it."""

    name: str
    rules: tuple[LabelledRule, ...]
    situations: tuple[Situation, ...]


@dataclass
class Score:
    """What was told over all situations."""

    must: int = 0
    must_told: int = 0
    told: int = 0
    of_use: int = 0
    tokens: int = 0
    silent: int = 0
    situations: int = 0

    def add(self, told: set[str], labels: dict[str, str], tokens: int) -> None:
        """Count one situation: the ids that were *told* whole, its *labels*, and what the text
        took."""
        must = {id for id, label in labels.items() if label == "must"}
        self.must += len(must)
        self.must_told += len(must & told)
        self.told += len(told)
        self.of_use += len(told & labels.keys())
        self.tokens += tokens
        self.silent += not told
        self.situations += 1

    def row(self, name: str) -> list[str]:
        """Return the figures as a row of a table."""
        return [
            name,
            f"{self.must_told / max(1, self.must):.2f}",
            f"{self.of_use / max(1, self.told):.0%}",
            f"{self.told / self.situations:.1f}",
            f"{self.tokens / self.situations:.0f}",
            str(self.silent),
        ]


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="only the default budgets")
    parser.add_argument(
        "folder", nargs="?", type=Path, help="projects to play (default: the development set)"
    )
    parser.add_argument(
        "--unseen", action="store_true", help="play the set that is kept for the end"
    )
    parser.add_argument(
        "--beside", type=Path, action="append", default=[], help="further projects in the one store"
    )
    parser.add_argument(
        "--no-files", action="store_true", help="start and prompt only: no file is read before"
    )
    options = parser.parse_args()
    folder = options.folder or LABELLED / ("unseen" if options.unseen else "development")
    projects = load(folder)
    if options.no_files:
        projects = [without_files(project) for project in projects]
    print(this_machine())
    rows, found = [], {}
    for start, dynamic in BUDGETS[:1] if options.quick else BUDGETS:
        score = play(projects, start, dynamic)
        found[f"{start}/{dynamic}"] = vars(score)
        rows.append(score.row(f"brim, {start:,}/{dynamic}"))
    if not options.quick:
        others = [silent(project) for folder in options.beside for project in load(folder)]
        score = play([joined([*projects, *others])], *BUDGETS[0])
        found["one store"] = vars(score)
        rows.append(score.row("brim, 2,000/500, all rules in one store"))
    room = round(found["2000/500"]["tokens"] / found["2000/500"]["situations"])
    for name, choose in PEERS.items():
        score = peer(projects, choose, None if name == "whole rule file" else room)
        found[name] = vars(score)
        rows.append(score.row(name))
    count = sum(len(project.situations) for project in projects)
    places = sum(bool(each.situations) for each in projects)
    title = f"{count} situations in {places} projects, {sum(len(each.rules) for each in projects)} rules"
    table(title, ["", "must told", "of use", "rules told", "tokens", "silent"], rows, [])
    return finish(options, found, [])


def load(folder: Path) -> list[Project]:
    """Return the labelled projects of *folder*; one without situations only competes when all are
    in one store."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        rules = tuple(labelled_rule(rule) for rule in data["rules"])
        found.append(Project(data["project"], rules, tuple(data.get("situations", ()))))
    return found


def labelled_rule(rule: dict[str, str]) -> LabelledRule:
    """Return a rule of a labelled project."""
    return LabelledRule(rule["id"], rule["text"], rule.get("heading", ""))


def without_files(project: Project) -> Project:
    """Return *project* with situations in which only the prompt is known."""
    return replace(project, situations=tuple({**each, "files": []} for each in project.situations))


def silent(project: Project) -> Project:
    """Return *project* as one that only competes."""
    return replace(project, situations=())


def joined(projects: list[Project]) -> Project:
    """Return all *projects* as one, with all their rules in one store."""
    rules, situations = [], []
    for project in projects:
        rules += [replace(rule, id=f"{project.name}:{rule.id}") for rule in project.rules]
        for each in project.situations:
            labels = {f"{project.name}:{id}": label for id, label in each["labels"].items()}
            situations.append({**each, "labels": labels})
    return Project("all", tuple(rules), tuple(situations))


# Through the hooks --------------------------------------------------------------------------------


def play(projects: list[Project], start: int, dynamic: int) -> Score:
    """Play every situation of *projects* with these budgets."""
    score = Score()
    for project in [each for each in projects if each.situations]:
        say(f"relevance: {project.name}, {start}/{dynamic}")
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder).resolve()
            client = prepare(place, project.rules, start, dynamic)
            for number, each in enumerate(project.situations):
                told = [client.hook(number, "SessionStart", source="startup")]
                for path in each.get("files", ()):
                    given = {"file_path": str(place / "project" / path)}
                    told.append(
                        client.hook(number, "PreToolUse", tool_name="Read", tool_input=given)
                    )
                told.append(client.hook(number, "UserPromptSubmit", prompt=each["prompt"]))
                text = "".join(told)
                score.add(whole_in(text, project.rules), each["labels"], tokens_of(text))
    return score


@dataclass(frozen=True)
class Client:
    """An agent that runs the hooks in its settings."""

    place: Path
    environ: dict[str, str]
    commands: dict[str, str]
    """What runs at each event."""

    @classmethod
    def install(cls, place: Path, environ: dict[str, str]) -> Client:
        """Let ``brim init`` write the settings, and read the hooks from there."""
        client = cls(place, environ, {})
        client.brim("init", "--agent", "claude", "--yes")
        client.brim("rules", "trust", "--yes")
        written = (place / "home" / ".claude" / "settings.json").read_text(encoding="utf-8")
        commands = {}
        for event, entries in json.loads(written)["hooks"].items():
            commands[event] = entries[0]["hooks"][0]["command"]
        return replace(client, commands=commands)

    def brim(self, *words: str) -> None:
        """Run a command of brim in the project."""
        subprocess.run(
            [sys.executable, "-m", "brim", *words],
            cwd=self.place / "project",
            env=self.environ,
            capture_output=True,
            check=True,
        )

    def hook(self, number: int, event: str, **fields: Any) -> str:
        """Return what the hook says to the model at *event* of session *number*."""
        said = {
            "session_id": f"s-{number}",
            "cwd": str(self.place / "project"),
            "hook_event_name": event,
            "model": "gpt-5",
        }
        done = subprocess.run(
            self.commands[event],
            shell=True,
            input=json.dumps({**said, **fields}),
            capture_output=True,
            text=True,
            check=False,
            cwd=self.place / "project",
            env=self.environ,
        )
        answer = json.loads(done.stdout) if done.stdout else {}
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def prepare(place: Path, rules: tuple[LabelledRule, ...], start: int, dynamic: int) -> Client:
    """Make a home with brim's hooks and a project with *rules*."""
    home = place / "home" / ".brim"
    home.mkdir(parents=True, mode=0o700)
    (place / "home" / ".claude").mkdir()
    (place / "project" / ".git").mkdir(parents=True)
    (place / "project" / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    settings = f"token_budget:\n  default: {start}\n  dynamic_context: {dynamic}\nmodel: gpt-5\n"
    (home / "config.yaml").write_text(settings, encoding="utf-8")
    project = place / "project"
    (project / ".brim").mkdir()
    (project / ".brim" / "rules.toml").write_text(rules_file(rules), encoding="utf-8")
    return Client.install(place, {"HOME": str(place / "home"), "PATH": os.environ.get("PATH", "")})


def rules_file(rules: tuple[LabelledRule, ...]) -> str:
    """Return *rules* as a rules file has them."""
    paragraphs = []
    for rule in rules:
        name = rule.id.replace(":", "-")
        paragraphs.append(paragraph_of(name, {"text": rule.text, "section": rule.heading}))
    return "\n".join(paragraphs)


def whole_in(text: str, rules: tuple[LabelledRule, ...]) -> set[str]:
    """Return the ids of *rules* that *text* has whole."""
    words = " ".join(text.split())
    return {rule.id for rule in rules if " ".join(rule.line.split()) in words}


def tokens_of(text: str) -> int:
    """Return the tokens of *text* by o200k."""
    counter = encoding_counter("o200k_base")
    assert counter is not None
    return counter(text)


# The others ---------------------------------------------------------------------------------------


def peer(
    projects: list[Project],
    choose: Callable[[Project, Situation], list[LabelledRule]],
    room: int | None,
) -> Score:
    """Tell the rules that *choose* puts first, as many as *room* tokens hold."""
    score = Score()
    for project in projects:
        for each in project.situations:
            told, taken = set(), 0
            for rule in choose(project, each):
                cost = tokens_of(rule.line)
                if room is None or taken + cost <= room:
                    told.add(rule.id)
                    taken += cost
            score.add(told, each["labels"], taken)
    return score


def in_order(project: Project, _: Situation) -> list[LabelledRule]:
    """Return the rules as the file has them."""
    return list(project.rules)


def by_chance(project: Project, situation: Situation) -> list[LabelledRule]:
    """Return the rules in an order that says nothing."""
    return random.Random(situation["prompt"]).sample(project.rules, len(project.rules))


def by_paths(project: Project, situation: Situation) -> list[LabelledRule]:
    """Return what ``.claude/rules`` with ``paths:`` loads: rules without a path, then those of the
    open files."""
    paths = {rule.id: rule.paths for rule in project.rules}
    files = situation.get("files", ())
    met = [
        rule
        for rule in project.rules
        if any(matches(file, each) for each in paths[rule.id] for file in files)
    ]
    return [*met, *(rule for rule in project.rules if not paths[rule.id])]


def by_bm25(project: Project, situation: Situation) -> list[LabelledRule]:
    """Return the rules by BM25 over the prompt and the open files."""
    asked = set(stems_of("\n".join([situation["prompt"], *situation.get("files", ())])))
    texts = {rule.id: set(stems_of(f"{rule.heading}\n{rule.text}")) for rule in project.rules}
    many = len(texts)

    def score(rule: LabelledRule) -> float:
        found = 0.0
        for word in asked & texts[rule.id]:
            having = sum(word in each for each in texts.values())
            found += (
                math.log(1 + (many - having + 0.5) / (having + 0.5))
                * 2.2
                / (2.2 - 0.9 + 0.9 * len(texts[rule.id]) / 12)
            )
        return found

    return sorted(project.rules, key=lambda rule: -score(rule))


PEERS = {
    "whole rule file": in_order,
    "file order": in_order,
    ".claude/rules with paths:": by_paths,
    "by chance": by_chance,
    "BM25": by_bm25,
}

if __name__ == "__main__":
    sys.exit(main())
