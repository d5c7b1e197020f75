"""A rule is told when brim said it would be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.rules.blocks import commands_of
from brim.rules.compiled import RuleIndex, open_index
from brim.rules.delivery import CALL, PROMPT, START, SUBAGENT, Delivery, deliver, note
from brim.rules.file import RulesFile
from brim.rules.fitting import Budget
from brim.rules.languages import all_languages, cased_names, language_of
from brim.rules.session import Session
from brim.rules.situation import Situation
from brim.rules.source import sources_for
from brim.rules.tiers import Tier
from brim.tokens import counter_for

COUNT = counter_for("gpt-4o").count
NOTHING = Situation()


class World:
    """Rules of a user, and one session."""

    def __init__(self, folder: Path, *rules: dict[str, object]) -> None:
        self.home = folder / "home"
        self.file = RulesFile(str(self.home / "rules.toml"))
        text = []
        for number, fields in enumerate(rules):
            lines = [f"{key} = {value!r}" for key, value in fields.items()]
            text.append(f"[r{number}]\n" + "\n".join(lines).replace("True", "true") + "\n")
        self.home.mkdir(parents=True)
        Path(self.file.path).write_text("\n".join(text))
        self.index: RuleIndex = open_index(str(self.home), sources_for(str(self.home), None))
        self.session = Session()

    def tell(
        self, moment: str, situation: Situation = NOTHING, tokens: int | None = 500
    ) -> Delivery:
        delivery = deliver(self.index, moment, situation, self.session, Budget(tokens))
        note(delivery, moment, self.session)
        return delivery

    def start(self, tokens: int | None = 2_000) -> list[str]:
        self.session.begin("startup")
        return whole(self.tell(START, tokens=tokens))

    def prompt(self, text: str, tokens: int | None = 500) -> list[str]:
        self.session.next_prompt()
        return whole(self.tell(PROMPT, Situation(prompt=text), tokens))

    def call(self, tokens: int | None = 500, **fields: object) -> list[str]:
        return whole(self.tell(CALL, situation(**fields), tokens))

    def why(self, moment: str, situation: Situation, tokens: int = 500) -> dict[str, str]:
        delivery = deliver(
            self.index, moment, situation, self.session, Budget(tokens), explain=True
        )
        return {choice.rule.name: choice.reason for choice in delivery.choices}


def situation(**fields: object) -> Situation:
    command = str(fields.get("command", ""))
    commands = tuple([tuple(words) for words in commands_of(command)]) if command else ()
    return Situation(commands=commands, **fields)  # type: ignore[arg-type]


def whole(delivery: Delivery) -> list[str]:
    """Return the names of what is told whole, after checking what every text promises."""
    if delivery.text:
        assert COUNT(delivery.text) == delivery.total_tokens
    else:
        assert delivery.total_tokens == 0
    return [choice.rule.name for choice in delivery.choices if choice.tier is Tier.FULL]


MakeWorld = Callable[..., World]


@pytest.fixture
def world(tmp_path: Path) -> MakeWorld:
    def make(*rules: dict[str, object]) -> World:
        return World(tmp_path, *rules)

    return make


def filler(count: int) -> list[dict[str, object]]:
    """Return so many rules about nothing in particular."""
    words = "Name things for what they hold; keep what belongs together near."
    return [{"text": f"{words} Filler{number} zq{number}."} for number in range(count)]


def test_everything_is_told_at_the_start_if_it_fits(world: MakeWorld) -> None:
    told = world({"text": "Use uv."}, {"text": "Never amend.", "when": "*.rs"}, *filler(10))
    assert sorted(told.start()) == sorted(f"r{number}" for number in range(12))
    delivery = deliver(told.index, START, NOTHING, Session(), Budget(2_000))
    assert delivery.text.startswith("Rules your user set, kept by brim:\n- Never amend.\n- Use uv.")
    assert "more rule" not in delivery.text


def test_otherwise_first_those_without_a_when_musts_first_then_older(world: MakeWorld) -> None:
    told = world(
        {"text": "Write short functions."},
        {"text": "Use tabs in this file.", "when": "*.rs"},
        {"text": "Never push to main."},
        *filler(60),
    )
    names = told.start(tokens=400)
    assert names[:3] == ["r2", "r0", "r3"]
    assert "r1" not in names
    reasons = told.why(START, NOTHING, 400)
    assert reasons["r0"] == "told at start"
    assert reasons["r1"] == "waits for: *.rs"
    assert reasons["r62"] == "didn't fit"


def examples() -> list[str]:
    return sorted(all_languages())


def spoken(language: str) -> str:
    """Return how a person writes a language's name."""
    by_language = {value: name for name, value in cased_names().items()}
    return by_language.get(language, language)


@pytest.mark.parametrize("count", [1, 5, 30, 300])
def test_a_rule_for_a_language_is_told_for_its_files(world: MakeWorld, count: int) -> None:
    """For every language of the table, whatever else there is."""
    languages = examples()
    rules = [
        {"text": f"Rule {language} {number}.", "when": language}
        for language in languages
        for number in range(max(1, count // len(languages)))
    ]
    told = world(*rules[:count], *filler(80))
    names = {str(rule["when"]): f"r{number}" for number, rule in enumerate(rules[:count])}
    told.start(tokens=300)
    for language, name in names.items():
        told.session = Session(max_tokens=None, max_per_injection=None)
        path = next(path for path in example_files(language))
        assert name in told.call(tokens=2_000, paths=(path,)), language
        told.session = Session(max_tokens=None, max_per_injection=None)
        assert name in told.prompt(f"Fix the {spoken(language)} files", 2_000), language
        assert name not in told.call(paths=("nothing.xyz",)) or count == 1


def example_files(language: str) -> list[str]:
    from brim.files import data_rows
    from brim.rules import languages

    rows = data_rows(languages.__file__, "languages.tsv")
    endings = [row[0] for row in rows if row[1] == language]
    paths = [f"src/x{ending}" if ending.startswith(".") else ending for ending in endings]
    return [path for path in paths if language_of(path) == language]


WHENS = [
    ("src/api/**", {"paths": ("/home/me/shop/src/api/users.py",)}, {"paths": ("src/app.py",)}),
    ("*.rs", {"paths": ("src/main.rs",)}, {"paths": ("src/main.rst",)}),
    ("Makefile", {"paths": ("Makefile",)}, {"paths": ("make.py",)}),
    ("run git push", {"command": "git -C web push"}, {"command": "echo 'git push'"}),
    ("run git push", {"prompt": "then git push it"}, {"prompt": "push the button"}),
    ("branch release/*", {"branch": "release/1.2"}, {"branch": "main"}),
    ("task testing", {"command": "npm test"}, {"command": "npm install"}),
    ("rust", {"prompt": "Fix the Rust parser"}, {"prompt": "fix the trust store"}),
    ("*.rs", {"prompt": "Look at src/lib.rs please"}, {"prompt": "Look at it"}),
]


@pytest.mark.parametrize(("when", "yes", "no"), WHENS)
def test_a_declared_when_is_a_promise(
    world: MakeWorld, when: str, yes: dict[str, object], no: dict[str, object]
) -> None:
    told = world({"text": "Mind the gap.", "when": when}, *filler(60))
    assert "r0" not in told.start(tokens=300)
    moment = PROMPT if "prompt" in yes else CALL
    assert "r0" not in whole(told.tell(moment, situation(**no)))
    assert "r0" in whole(told.tell(moment, situation(**yes)))
    assert "r0" not in whole(told.tell(moment, situation(**yes)))


def test_all_of_a_table_and_any_of_a_list(world: MakeWorld) -> None:
    told = world({"text": "Mind the gap.", "when": ["*.rs", "run cargo"]}, *filler(60))
    told.start(tokens=300)
    assert told.call(command="cargo test") == ["r0"]
    both = World(told.home.parent / "both", *filler(60))
    both.file.add("both", {"text": "Mind.", "when": {"language": "rust", "branch": "main"}})
    both.index = open_index(str(both.home), sources_for(str(both.home), None))
    both.start(tokens=300)
    assert both.call(paths=("a.rs",), branch="topic") == []
    assert both.call(paths=("a.rs",), branch="main") == ["both"]


def test_by_words_come_after_by_when(world: MakeWorld) -> None:
    told = world(
        {"text": "Closures capture by reference."},
        {"text": "Always document closures.", "when": "*.go"},
        {"text": "Mind the lifetime.", "when": "*.rs"},
        *filler(60),
    )
    told.session.begin("startup")
    assert told.prompt("Why does the closure in main.rs leak?") == ["r2", "r1", "r0"]
    told.session = Session()
    situation_now = Situation(prompt="Why does the closure in main.rs leak?")
    reasons = told.why(PROMPT, situation_now)
    assert reasons["r2"] == "now: file *.rs"
    assert reasons["r0"] == 'now: shares "closur"'
    assert reasons["r5"].startswith("waits")
    # A call brings no rule that waits for something else.
    assert told.call(paths=("closure.rs",)) == ["r2", "r0"]


def test_told_again_after_five_then_ten_prompts(world: MakeWorld) -> None:
    told = world({"text": "Mind the gap.", "when": "*.rs"})
    assert told.start() == ["r0"]
    told_at = []
    for number in range(1, 40):
        if told.prompt("Look at src/main.rs"):
            told_at.append(number)
    assert told_at == [5, 15, 30]


def test_a_session_has_a_total(world: MakeWorld) -> None:
    rules = [{"text": f"{'word ' * 80}", "when": f"*.x{number}"} for number in range(60)]
    told = world(*rules)
    told.session = Session(max_tokens=1_000)
    told.session.begin("startup")
    for number in range(60):
        told.call(paths=(f"a.x{number}",))
        assert told.session.spent <= 1_000
    assert told.session.spent > 800
    assert told.call(paths=("a.x59",)) == []


def test_a_sub_agent_is_told_the_musts(world: MakeWorld) -> None:
    told = world({"text": "Never push."}, {"text": "Prefer tabs."})
    assert whole(told.tell(SUBAGENT)) == ["r0"]
    assert told.session.spent > 0


def test_related_rules_come_with_less_detail(world: MakeWorld) -> None:
    long_text = "Check the change log for the current version, and then some more words about it."
    told = world(
        {"text": "Tag releases.", "when": "run git tag", "requires": "r1", "overrides": "r2"},
        {"text": long_text, "when": "*.never"},
        {"text": "Write the tag by hand.", "when": "run git tag"},
        *filler(60),
    )
    told.start(tokens=300)
    delivery = told.tell(CALL, situation(command="git tag v1"))
    tiers = {choice.rule.name: choice.tier for choice in delivery.choices}
    assert tiers["r0"] is Tier.FULL
    assert tiers["r1"] is Tier.SUMMARY
    assert tiers["r2"] is Tier.OMITTED
    reasons = {choice.rule.name: choice.reason for choice in delivery.choices}
    assert reasons["r2"] == "weakened by a rule that is told"


def headed(heading: str, *texts: str) -> list[dict[str, object]]:
    """Return rules under one heading."""
    return [{"text": text, "section": heading} for text in texts]


def test_spare_room_tells_rules_under_the_same_heading(world: MakeWorld) -> None:
    told = world(
        *filler(80),
        *headed("Payments", "Refunds are rounded down.", "Amounts are whole cents."),
        *headed("Colors", "Take them from the theme."),
        {"text": "Sign the invoice.", "section": "Payments", "when": "*.xml"},
    )
    told.start(tokens=300)
    assert told.why(CALL, situation(paths=("refund.py",)))["r81"] == (
        "now: stands under the same heading"
    )
    assert told.call(paths=("refund.py",)) == ["r80", "r81"]
    assert told.call(paths=("refund.py",)) == []


def test_spare_room_stays_within_the_budget(world: MakeWorld) -> None:
    rules = headed("Payments", *[f"Amount {number} is rounded down, dear." for number in range(40)])
    told = world(*filler(80), *rules, *headed("Payments", "Refunds are rare."))
    told.start(tokens=300)
    delivery = told.tell(CALL, situation(paths=("refund.py",)), tokens=100)
    assert 80 < delivery.total_tokens <= 100
    assert "Refunds are rare." in delivery.text
    assert "more rule" not in delivery.text


def test_half_of_a_session_is_kept_for_rules_that_are_met(world: MakeWorld) -> None:
    """However many headings are opened, a declared when is still told."""
    rules: list[dict[str, object]] = []
    for number in range(30):
        texts = [f"Word{number} {'filling ' * 30}{place}." for place in range(10)]
        rules += headed(f"Heading {number}", f"Begin topic{number} here.", *texts)
    told = world(*rules, {"text": "Mind the gap.", "when": "*.rs"})
    told.session = Session(max_tokens=1_000)
    told.start(tokens=100)
    for number in range(30):
        told.prompt(f"topic{number}")
    assert told.session.spent >= 400
    assert "r330" in told.call(paths=("main.rs",))


def test_spare_room_tells_no_rule_that_another_one_overrides(world: MakeWorld) -> None:
    told = world(
        *filler(80),
        {"text": "Refunds need a ticket.", "section": "Payments", "overrides": "r81"},
        {"text": "Amounts are whole cents.", "section": "Payments"},
    )
    told.start(tokens=300)
    assert told.call(paths=("refund.py",)) == ["r80"]


def test_a_prompt_tells_all_that_is_left_if_it_fits(world: MakeWorld) -> None:
    told = world(*filler(30), {"text": "Mind the gap.", "when": "*.rs"})
    start = told.start(tokens=400)
    assert len(start) < 30
    assert told.call(paths=("unrelated",)) == []
    assert told.why(PROMPT, Situation(prompt="unrelated"))["r29"] == "now: all that is left fits"
    rest = told.prompt("unrelated")
    assert sorted([*start, *rest]) == sorted([f"r{number}" for number in range(30)])
    assert told.prompt("unrelated") == []


def test_a_prompt_tells_nothing_unrelated_if_not_all_of_it_fits(world: MakeWorld) -> None:
    told = world(*filler(80))
    told.start(tokens=300)
    assert told.prompt("unrelated") == []


@settings(max_examples=50)
@given(
    rules=st.lists(
        st.text(
            st.characters(categories=("L", "N", "Zs", "Po"), exclude_characters="\\'\""),
            min_size=1,
            max_size=120,
        ),
        min_size=1,
        max_size=30,
    )
)
def test_what_fits_is_told_whole_at_little_more_than_a_list(
    tmp_path_factory: pytest.TempPathFactory, rules: list[str]
) -> None:
    """Everything that fits is in the window, with one line above a plain list."""
    texts = list(dict.fromkeys([" ".join(["Use", *text.split()]) for text in rules]))
    paragraphs: list[dict[str, object]] = [{"text": text} for text in texts]
    made = World(tmp_path_factory.mktemp("world"), *paragraphs)
    delivery = deliver(made.index, START, NOTHING, Session(), Budget(100_000))
    introduction, *lines = delivery.text.splitlines()
    assert sorted(lines) == sorted([f"- {text}" for text in texts])
    plain = "".join([f"{line}\n" for line in lines])
    assert delivery.total_tokens <= 1.03 * (COUNT(plain) + COUNT(f"{introduction}\n"))
    exact = deliver(made.index, START, NOTHING, Session(), Budget(delivery.total_tokens))
    assert exact.text == delivery.text
    made.index.close()


def test_no_budget_tells_nothing(world: MakeWorld) -> None:
    told = world({"text": "Never push."})
    assert told.start(tokens=0) == []
    assert told.prompt("push", tokens=0) == []


def test_the_start_is_the_same_in_every_session(tmp_path: Path) -> None:
    texts = set()
    for number in range(2):
        world = World(tmp_path / str(number), *filler(80), {"text": "Never push.", "when": "*.rs"})
        for _ in range(2):
            delivery = deliver(world.index, START, NOTHING, Session(), Budget(700))
            texts.add(delivery.text)
    assert len(texts) == 1


RULE = st.fixed_dictionaries(
    {"text": st.text(st.characters(categories=("L", "N", "Zs", "Po")), min_size=1, max_size=200)},
    optional={"when": st.sampled_from(["*.py", "run git push", "rust"])},
)
EVENTS = st.lists(
    st.sampled_from(
        [
            Situation(prompt="Fix the rust parser, then git push"),
            situation(paths=("src/app.py",), written="parser of names"),
            situation(command="git push origin main"),
        ]
    ),
    max_size=8,
)


@settings(max_examples=25)
@given(
    rules=st.lists(RULE, min_size=1, max_size=25),
    events=EVENTS,
    start=st.integers(0, 300),
    now=st.integers(0, 120),
    characters=st.none() | st.integers(0, 2_000),
)
def test_never_over_and_the_same_again(
    tmp_path_factory: pytest.TempPathFactory,
    rules: list[dict[str, str]],
    events: list[Situation],
    start: int,
    now: int,
    characters: int | None,
) -> None:
    home = tmp_path_factory.mktemp("rules")
    file = RulesFile(str(home / "rules.toml"))
    for number, fields in enumerate(rules):
        text = " ".join(fields["text"].split()) or "x"
        file.add(f"r{number}", {**fields, "text": text})
    index = open_index(str(home), sources_for(str(home), None))
    runs = []
    for _ in range(2):
        session = Session(max_tokens=400)
        texts = []
        moments = [(START, NOTHING, start)]
        for event in events:
            moments.append((PROMPT if event.prompt else CALL, event, now))
        for moment, event, tokens in moments:
            budget = Budget(tokens, characters=characters)
            delivery = deliver(index, moment, event, session, budget)
            assert delivery.total_tokens <= tokens
            assert COUNT(delivery.text) == delivery.total_tokens or not delivery.text
            assert characters is None or len(delivery.text) <= characters
            note(delivery, moment, session)
            texts.append(delivery.text)
        assert session.spent <= 400
        runs.append(texts)
    index.close()
    assert runs[0] == runs[1]
