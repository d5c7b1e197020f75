"""Every row of the seeds' tables in docs/coming-from.md is true: it's imported and run."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import brim as brim_package
import brim.tokens as tokens
from brim import (
    ActivationTierMapper,
    ContextBudget,
    CostBudget,
    Rule,
    ScratchModel,
    ScratchWriter,
    Session,
    activate,
    render,
)
from brim import messages as window
from brim.config import load
from brim.memory import extract_text
from brim.messages import FifoPruner
from brim.money import build_wrap_up_prompt
from brim.rules import Activation, Context, Graph, InjectionPlan, Section, Tier
from brim.sessions import build_compact_prompt
from brim.usd import Money
from tests.cli.conftest import Brim
from tests.cli.stored import FRAME, behavior, remember
from tests.mcp.conftest import World

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coming-from.md"
CHECKS: dict[str, Callable[[Brim], None]] = {}
"""What each row promises, by its first cell."""


def row(*names: str) -> Callable[[Callable[[Brim], None]], Callable[[Brim], None]]:
    """Register a check for the rows that begin with *names*."""

    def register(check: Callable[[Brim], None]) -> Callable[[Brim], None]:
        CHECKS.update(dict.fromkeys(names, check))
        return check

    return register


def first_cells() -> list[str]:
    """Return the first cell of every row in the seeds' tables."""
    tables = PAGE.read_text("utf-8").partition("## ccusage")[0]
    cells = re.findall(r"^\| (.+?) \| ", tables, re.MULTILINE)
    return [cell for cell in cells if cell not in ("floop", "IBEX", "Octopus", "TeaParty")]


def test_every_row_has_a_check_and_every_check_a_row() -> None:
    cells = first_cells()
    assert len(cells) == len(set(cells))
    assert set(cells) == set(CHECKS)


@pytest.mark.parametrize("name", first_cells())
def test_a_row_is_true(name: str, tmp_path: Path) -> None:
    CHECKS[name](Brim(tmp_path))


# floop --------------------------------------------------------------------------------------------

RULES = [
    behavior("full", text="Write the failing test before the code that makes it pass. " * 4),
    behavior(
        "summary",
        text="Keep functions short and name them after what they do, for readers. " * 4,
        summary="Short.",
    ),
    behavior("name", tags=("style",)),
    behavior("omitted"),
    behavior("never", "constraint", text="Never push to main."),
]
RESULTS = [("full", 0.7), ("summary", 0.3), ("name", 0.1), ("omitted", 0.09), ("never", 0.0)]


def plan(budget: int | None = None) -> InjectionPlan:
    return ActivationTierMapper().plan(RESULTS, RULES, budget=budget, model="gpt-4o")


def tiers(plan: InjectionPlan) -> dict[str, str]:
    return {item.id: str(item.tier) for item in plan.items}


@row("behavior")
def check_behavior(brim: Brim) -> None:
    assert isinstance(behavior("x"), Rule)


@row("Full, Summary, Name Only, Omitted")
def check_tiers(brim: Brim) -> None:
    assert [str(tier) for tier in Tier] == ["omitted", "name-only", "summary", "full"]


@row("thresholds 0.7, 0.3, 0.1", "constraints never below Summary", "`ActivationTierMapper`")
def check_mapper(brim: Brim) -> None:
    mapper = ActivationTierMapper()
    activations = (0.7, 0.69, 0.3, 0.29, 0.1, 0.09)
    names = [str(mapper.tier(activation, "directive")) for activation in activations]
    assert names == ["full", "summary", "summary", "name-only", "name-only", "omitted"]
    assert mapper.tier(0.0, "constraint") is Tier.SUMMARY
    assert load({}, None).section("tiers") == {"full": 0.7, "summary": 0.3, "name_only": 0.1}


@row("Full content", "Summary content", "Name Only content", "tiered prompt compilation")
def check_content(brim: Brim) -> None:
    text = render(plan())
    assert RULES[0].canonical.strip() in text
    assert "- Short.\n" in text
    assert "`name-name` [directive] #style" in text
    assert int(tokens.counter_for("gpt-4o").count(text)) == plan().total_tokens


@row(
    "spreading activation engine",
    "`Context (file, task, env)`",
    "results `{behaviorID, activation}`",
)
def check_activation(brim: Brim) -> None:
    graph = Graph(
        [behavior("a", when={"language": "python"}), behavior("b", when={"language": "go"})]
    )
    context = Context(file="src/app.py", task="testing", environment="ci")
    results = activate(graph, context, now=0.0)
    assert all(isinstance(result, Activation) for result in results)
    assert [result.id for result in results] == ["a"]
    assert tiers(plan())["full"] == "full"


@row("budget demotion")
def check_demotion(brim: Brim) -> None:
    whole = int(plan().total_tokens)
    demoted = plan(whole - 1)
    assert demoted.total_tokens < whole
    assert tiers(demoted)["full"] == "full"
    assert tiers(demoted)["name"] == "omitted"
    assert tiers(demoted)["never"] == "summary"


@row(
    "`InjectionPlan`",
    "`FullBehaviors`",
    "`SummarizedBehaviors`",
    "`NameOnlyBehaviors`",
    "`OmittedBehaviors`",
    "`TotalTokens`",
    "`TokenBudget` of a plan",
)
def check_plan(brim: Brim) -> None:
    found = plan(1_000)
    assert [item.id for item in found.full] == ["full"]
    assert {item.id for item in found.summarized} == {"summary", "never"}
    assert [item.id for item in found.name_only] == ["name"]
    assert [item.id for item in found.omitted] == ["omitted"]
    assert 0 < found.total_tokens <= 1_000
    assert found.token_budget == 1_000


@row("constraints are skipped by the demotion")
def check_constraints(brim: Brim) -> None:
    never = behavior("never", "constraint", text="Never push to main. " * 20, summary="Never push.")
    results = [("never", 0.75), ("full", 0.9)]
    mapper = ActivationTierMapper()
    whole = int(mapper.plan(results, [never, RULES[0]], model="gpt-4o").total_tokens)
    less = mapper.plan(results, [never, RULES[0]], budget=whole - 1, model="gpt-4o")
    assert tiers(less)["never"] == "full"
    assert tiers(less)["full"] != "full"
    least = mapper.plan(results, [never, RULES[0]], budget=40, model="gpt-4o")
    assert tiers(least) == {"never": "summary", "full": "omitted"}


@row("sections Constraints, Directives, Procedures")
def check_sections(brim: Brim) -> None:
    assert list(Section)[:3] == [Section.CONSTRAINTS, Section.DIRECTIVES, Section.PROCEDURES]


@row("`(len(text) + 3) / 4`")
def check_estimate(brim: Brim) -> None:
    assert [tokens.estimate_tokens("x" * length) for length in range(6)] == [0, 1, 1, 1, 1, 2]


@row(
    "`~/.floop/config.yaml`",
    "`token_budget.default`",
    "`token_budget.dynamic_context`",
    "`TokenBudgetConfig`",
)
def check_settings(brim: Brim) -> None:
    defaults = {"default": 2_000, "dynamic_context": 500}
    assert load({}, None).section("token_budget") == defaults
    brim.configure(user="token_budget:\n  default: 1500\n  dynamic_context: 400\n")
    assert brim("config", "get", "token_budget.default").out == "1500\n"
    assert brim("config", "get", "token_budget.dynamic_context").out == "400\n"


@row("`FLOOP_TOKEN_BUDGET`", "`FLOOP_TOKEN_BUDGET_DYNAMIC`")
def check_variables(brim: Brim) -> None:
    for key, names in (
        ("default", ("BRIM_TOKEN_BUDGET", "BRIM_TOKEN_BUDGET_DEFAULT", "FLOOP_TOKEN_BUDGET")),
        (
            "dynamic_context",
            (
                "BRIM_TOKEN_BUDGET_DYNAMIC",
                "BRIM_TOKEN_BUDGET_DYNAMIC_CONTEXT",
                "FLOOP_TOKEN_BUDGET_DYNAMIC",
            ),
        ),
    ):
        for name in names:
            assert load({name: "7"}, None)[f"token_budget.{key}"] == 7
        assert load({names[0]: "1", names[-1]: "2"}, None)[f"token_budget.{key}"] == 1


@row("`--token-budget`", "flag > environment > file > default")
def check_precedence(brim: Brim) -> None:
    remember(brim, behavior("b", text="Use pathlib, not os.path."))
    brim.configure(user="token_budget: {default: 900, dynamic_context: 90}\n")
    environ = {"FLOOP_TOKEN_BUDGET": "800", "FLOOP_TOKEN_BUDGET_DYNAMIC": "80"}
    for command, kept, changed in (("prompt", 900, 800), ("activate", 90, 80)):
        words = [command, "--tiered"] if command == "prompt" else [command]
        budgets = [
            brim(*words, "--json").json,
            brim(*words, "--json", env=environ).json,
            brim(*words, "--json", "--token-budget", "70", env=environ).json,
        ]
        assert [found["token_budget"] for found in budgets] == [kept, changed, 70]


@row("`floop init`", "`floop upgrade`")
def check_init(brim: Brim) -> None:
    (brim.home / ".claude").mkdir()
    remember(brim, *(behavior(f"b{number}", text=f"Rule {number}. " * 20) for number in range(9)))
    environ = {"FLOOP_TOKEN_BUDGET": "1500"}
    assert brim("init", "--agent", "claude", "--token-budget", "80", env=environ).code == 0
    assert brim("config", "get", "token_budget.default").out == "80\n"
    launcher = (brim.home / ".brim" / "bin" / "hook").read_text()
    assert "BRIM_TOKEN_BUDGET='80' " in launcher  # a flag beats the environment
    assert brim("upgrade", "--agent", "claude", "--token-budget", "90").code == 0
    assert brim("config", "get", "token_budget.default").out == "90\n"
    assert "BRIM_TOKEN_BUDGET" not in (brim.home / ".brim" / "bin" / "hook").read_text()


@row("`floop activate`", "`floop prompt --tiered`")
def check_commands(brim: Brim) -> None:
    remember(brim, behavior("b", text="Use pathlib."))
    for words in (
        ("activate",),
        ("dev", "activate"),
        ("prompt", "--tiered"),
        ("dev", "prompt", "--tiered"),
    ):
        ran = brim(*words)
        assert ran.out.startswith(FRAME)
        assert "name-b" in ran.out or "Use pathlib." in ran.out
    assert brim("prompt", "--tiered", "--token-budget", "0", "--json").json["token_budget"] is None


@row("session state", "`MaxTokenBudget`", "`MaxPerInjection`", "`BackoffMultiplier`")
def check_session(brim: Brim) -> None:
    session = Session()
    assert (session.max_tokens, session.max_per_injection, session.backoff) == (3_000, 500, 5)
    found = load({}, None).section("session")
    assert (found["max_tokens"], found["max_per_injection"], found["backoff"]) == (3_000, 500, 5)
    session.charge(plan(500))
    assert session.used == plan(500).total_tokens
    assert session.remaining == 3_000 - session.used


@row("MCP resource with the budget of the configuration")
def check_resource(brim: Brim) -> None:
    world = World(brim.cwd)
    for number in range(40):
        world.teach(f"Rule number {number} is about file number {number}.")
    world.environ["FLOOP_TOKEN_BUDGET"] = "100"
    text = world.read("brim://behaviors/active")
    assert 0 < int(tokens.counter_for(None).count(text)) <= 100


# IBEX ---------------------------------------------------------------------------------------------


@row(
    "`TokenBudgetCalculator`",
    "`TokenBudgetCalculator.calculate(model, messages, directive)`",
    "`TokenBudget`",
    "`TokenBudget.model`",
    "`TokenBudget.context_window`",
    "`TokenBudget.messages_tokens`",
    "`TokenBudget.directive_tokens`",
    "`TokenBudget.response_reserve`",
    "`TokenBudget.safety_buffer`",
    "`TokenBudget.memory_tokens`",
    "`TokenBudget.is_constrained`",
)
def check_calculator(brim: Brim) -> None:
    calculator = window.TokenBudgetCalculator()
    message = SimpleNamespace(role="user", content="Hello world")  # the seed passes objects
    budget = calculator.calculate("gpt-4o", [message], "Answer in German.")
    assert isinstance(budget, window.TokenBudget)
    assert (budget.fits, budget.tools_tokens) == (True, 0)
    assert budget.model == "gpt-4o"
    assert budget.context_window == 128_000
    assert budget.messages_tokens == 3 + 4 + 2 + 1
    assert budget.directive_tokens == 4
    assert budget.response_reserve == 4_096
    assert budget.safety_buffer == 6_400
    assert budget.memory_tokens == 128_000 - 10 - 4 - 4_096 - 6_400
    assert not budget.is_constrained
    full = calculator.calculate("gpt-4", [{"role": "user", "content": "Hello world. " * 4_000}])
    assert (full.memory_tokens, full.is_constrained) == (0, True)


@row(
    "`TokenBudgetCalculator.count_tokens(text, model)`",
    "`TokenBudgetCalculator.count_messages_tokens(messages, model)`",
    "tiktoken",
    "`cl100k_base` for an unknown model",
)
def check_counts(brim: Brim) -> None:
    calculator = window.TokenBudgetCalculator()
    assert calculator.count_tokens("Hello world", "gpt-4o") == 2
    assert (
        calculator.count_messages_tokens([{"role": "user", "content": "Hello world"}], "gpt-4o")
        == 10
    )
    assert calculator.count_tokens("Hello world", "no-such-model") == 2
    assert calculator.calculate("no-such-model", []).context_window == 8_192


@row(
    "`MODEL_CONTEXT_WINDOWS`",
    "`DEFAULT_CONTEXT_WINDOW`",
    "`RESPONSE_RESERVE_RATIO`",
    "`RESPONSE_RESERVE_MIN`",
    "`RESPONSE_RESERVE_MAX`",
    "`SAFETY_BUFFER_RATIO`",
)
def check_constants(brim: Brim) -> None:
    assert window.MODEL_CONTEXT_WINDOWS == {
        "gpt-4o": 128_000,
        "gpt-4o-mini": 128_000,
        "gpt-4-turbo": 128_000,
        "gpt-4": 8_192,
        "gpt-3.5-turbo": 16_385,
        "gpt-3.5-turbo-16k": 16_385,
    }
    assert window.DEFAULT_CONTEXT_WINDOW == 8_192
    reserves = (
        window.RESPONSE_RESERVE_RATIO,
        window.RESPONSE_RESERVE_MIN,
        window.RESPONSE_RESERVE_MAX,
    )
    assert reserves == (0.15, 500, 4_096)
    assert window.SAFETY_BUFFER_RATIO == 0.05
    settings = load({}, None).section("window")
    assert settings["response_reserve_ratio"] == 0.15
    assert settings["response_reserve_min"] == 500
    assert settings["response_reserve_max"] == 4_096
    assert settings["safety_buffer_ratio"] == 0.05


@row("ADR-0039")
def check_decision(brim: Brim) -> None:
    text = (ROOT / "docs" / "decisions" / "0039-token-budget-allocation.md").read_text("utf-8")
    assert all(part in text for part in ("15%", "5%", "gpt-3.5-turbo"))


# Octopus ------------------------------------------------------------------------------------------


@row("`HistoryBudget`")
def check_history_budget(brim: Brim) -> None:
    config = window.MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192)
    memory = window.WorkingMemory(config)
    sections = {
        "system_prompt": 1_200,
        "procedure": 300,
        "knowledge": 1_500,
        "episodes": 400,
        "current_message": 100,
    }
    assert memory.history_budget(**sections) == 138_308
    assert memory.history_budget(system_prompt=200_000) == 0


@row(
    "`MemoryConfig`",
    "`MaxWorkingMemoryTokens`",
    "`OutputReserve`",
    "`MinHistoryTokens`",
    "`MaxKnowledgeTokens`",
    "`MaxEpisodeTokens`",
)
def check_memory_config(brim: Brim) -> None:
    defaults = {
        "max_working_memory_tokens": 100_000,
        "output_reserve": 4_096,
        "min_history_tokens": 4_000,
        "max_knowledge_tokens": 3_000,
        "max_episode_tokens": 1_000,
    }
    config = window.MemoryConfig()
    assert {name: getattr(config, name) for name in defaults} == defaults
    assert load({}, None).section("memory") == defaults


SECTIONS = (
    "`SystemPromptTokens`, `ProcedureTokens`, `RetrievedKnowledgeTokens`, `EpisodeSnippetTokens`"
)


@row(
    f"{SECTIONS}, `CurrentMessageTokens`",
    "the pruning strategy",
    "system prompt, knowledge and current message are never pruned",
)
def check_assembly(brim: Brim) -> None:
    config = window.MemoryConfig(
        max_working_memory_tokens=700, output_reserve=100, min_history_tokens=50
    )
    memory = window.WorkingMemory(config, model="gpt-4o")
    history = [{"role": "user", "content": f"Message {number}. " * 9} for number in range(40)]
    found = memory.assemble(
        system_prompt="Answer briefly.",
        procedure="First look, then write.",
        knowledge=["Lines end in LF."],
        episodes=["Last time it took an hour."],
        history=history,
        current_message="Why?",
        pruner=FifoPruner(),
    )
    assert found.fits
    assert found.tokens <= found.budget
    text = json.dumps(found.messages)
    assert all(
        part in text for part in ("Answer briefly.", "Lines end in LF.", "Why?", "Message 39.")
    )
    assert "Message 0." not in text


@row(
    "`ITokenCounter`",
    "`ITokenCounter.Count`",
    "`ITokenCounter.CountMessages`",
    "`LLMMessage`",
    "`ApproximateTokenCounter`",
)
def check_counter(brim: Brim) -> None:
    counter = tokens.ApproximateTokenCounter()
    assert isinstance(counter, tokens.TokenCounter)
    assert [int(counter.count("x" * length)) for length in (0, 3, 7, 8)] == [1, 1, 1, 2]
    for message in (
        {"role": "user", "content": "x" * 8},
        SimpleNamespace(role="user", content="x" * 8),
    ):
        assert counter.count_messages([message]) == 2 + 4


@row("approximate, provider tokenizer, provider API")
def check_modes(brim: Brim) -> None:
    assert set(tokens.MODES) == {"auto", "approximate", "exact", "api"}


# TeaParty -----------------------------------------------------------------------------------------

USAGE = {
    "input_tokens": 10_000,
    "cache_creation_input_tokens": 20_000,
    "cache_read_input_tokens": 120_000,
}


@row(
    "`ContextBudget`",
    "`ContextBudget.update`",
    "`input_tokens`",
    "`cache_creation_input_tokens`",
    "`cache_read_input_tokens`",
    "`used_tokens`",
    "`utilization`",
    "`context_window`",
    "`should_warn`",
    "`should_compact`",
    "`clear_warning`",
    "`clear_compact`",
    "`usage` nested or at the top level",
)
def check_context_budget(brim: Brim) -> None:
    for event in ({"type": "result", **USAGE}, {"type": "result", "usage": USAGE}):
        budget = ContextBudget()
        budget.update(event)
        assert budget.input_tokens == 10_000
        assert budget.cache_creation_input_tokens == 20_000
        assert budget.cache_read_input_tokens == 120_000
        assert (budget.used_tokens, budget.context_window, budget.utilization) == (
            150_000,
            200_000,
            0.75,
        )
        assert (budget.should_warn, budget.should_compact) == (True, False)
        budget.clear_warning()
        assert not budget.should_warn
    budget = ContextBudget()
    budget.update({"type": "result", "usage": {"input_tokens": 156_000}})
    assert (budget.should_warn, budget.should_compact) == (True, True)
    budget.update({"type": "result", "usage": {"input_tokens": 1_000}})
    assert budget.should_compact  # latched
    budget.clear_compact()
    assert (budget.should_warn, budget.should_compact) == (False, False)
    context = load({}, None).section("context")
    assert (context["warn"], context["compact"]) == (0.7, 0.78)


@row(
    "`build_compact_prompt`",
    "`build_compact_prompt(task, cfa_state, scratch_path)`",
    "`/compact` at a turn boundary",
)
def check_compact_prompt(brim: Brim) -> None:
    text = build_compact_prompt("fix the parser", "EXECUTING", ".context/scratch.md")
    assert text == (
        "/compact focus on fix the parser -- current CfA state is EXECUTING\n"
        "After compaction, read .context/scratch.md for preserved context."
    )
    assert build_compact_prompt(task="a\nb", cfa_state="c\nd").splitlines() == [
        "/compact focus on a b -- current CfA state is c d"
    ]
    assert "compact" in brim("run", "--help").out


@row(
    "`ScratchModel`",
    "`ScratchModel.extract`",
    "`extract_text`",
    "`ScratchModel.record_state_change`",
    "`STATE_CHANGED`",
    "`ScratchModel.add_dead_end`",
    "`ScratchModel.render`",
)
def check_scratch_model(brim: Brim) -> None:
    model = ScratchModel("Fix the parser")
    blocks = [{"type": "text", "text": "Keep it fast."}]
    assert extract_text(blocks) == extract_text("Keep it fast.") == "Keep it fast."
    model.extract({"type": "user", "message": {"role": "user", "content": blocks}})
    for name in ("Write", "Edit"):
        call = {"type": "tool_use", "id": name, "name": name, "input": {"file_path": "src/app.py"}}
        model.extract({"type": "assistant", "message": {"role": "assistant", "content": [call]}})
    model.record_state_change("PLANNING", "EXECUTING")
    model.add_dead_end("One regular expression: it cannot nest")
    text = model.render()
    assert all(part in text for part in ("Human Input", "State Changes", "Dead Ends", "Artifacts"))
    assert all(part in text for part in ("Keep it fast.", "EXECUTING", "cannot nest", "src/app.py"))
    for number in range(500):
        model.add_dead_end(f"Dead end number {number}: " + "x" * 300)
    lines = model.render().splitlines()
    assert len(lines) <= 200
    assert max(map(len, lines)) <= 120


@row(
    "`ScratchWriter`",
    "`ScratchWriter.write_scratch`",
    "`ScratchWriter.append_human_input`",
    "`ScratchWriter.append_dead_end`",
    "`ScratchWriter.cleanup`",
    "`.context/scratch.md`",
    "`.context/human-input.md`, `.context/dead-ends.md`",
)
def check_scratch_writer(brim: Brim) -> None:
    writer = ScratchWriter(brim.cwd, state_folder=brim.home / ".brim")
    model = ScratchModel("Fix the parser")
    model.record_state_change("PLANNING", "EXECUTING")
    writer.write_scratch(model)
    writer.append_human_input("Keep it fast.")
    writer.append_dead_end("One regular expression")
    folder = brim.cwd / ".context"
    assert "EXECUTING" in (folder / "scratch.md").read_text()
    assert "Keep it fast." in (folder / "human-input.md").read_text()
    assert "One regular expression" in (folder / "dead-ends.md").read_text()
    assert "EXECUTING" in (folder / "state-changes.md").read_text()
    writer.cleanup()
    assert not folder.exists()


@row(
    "`COST_WARNING`",
    "`COST_LIMIT`",
    "`INPUT_REQUESTED`",
    "cost budget of a job, and of its project",
    "wrap-up prompt",
)
def check_cost(brim: Brim) -> None:
    project = CostBudget(limit=Money(10_000_000))
    budget = CostBudget(limit=Money(1_000_000), parent=project)
    assert budget.add(Money(790_000)) == []
    assert [notice.kind for notice in budget.add(Money(10_000))] == ["COST_WARNING"]
    assert [notice.kind for notice in budget.add(Money(150_000))] == [
        "COST_LIMIT",
        "INPUT_REQUESTED",
    ]
    assert not budget.may_spend
    budget.answer("continue")
    assert budget.may_spend
    assert project.spent == 950_000
    assert "$0.95" in build_wrap_up_prompt(Money(950_000), Money(1_000_000))


def test_the_names_in_the_second_column_can_be_imported() -> None:
    tables = PAGE.read_text("utf-8").partition("## ccusage")[0]
    for path in re.findall(r"`(brim(?:\.\w+)+)`", tables):
        assert imported(path) is not None, path


def imported(path: str) -> Any:
    """Return what *path* names: attributes of brim."""
    names = path.split(".")[1:]
    found: Any = brim_package
    for name in names:
        found = (
            inspect.getattr_static(found, name) if inspect.isclass(found) else getattr(found, name)
        )
    return found
