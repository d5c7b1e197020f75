"""What ``import brim`` offers is there, is documented, and is right for type checkers."""

from __future__ import annotations

import importlib
import inspect
import json
import pydoc
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import brim

ROOT = Path(__file__).parents[1]

NAMES = {
    *("count", "fit", "Guard", "cost", "model", "validate", "repair", "counter_for"),
    *("TokenBudgetCalculator", "WorkingMemory", "MemoryConfig", "ContextBudget"),
    *("ScratchModel", "ScratchWriter", "CostBudget", "Rule", "activate"),
    *("ActivationTierMapper", "Session", "render", "Ledger", "open_ledger"),
}
"""The names that README and docs use."""

PROGRAM = """
from __future__ import annotations

from collections.abc import Sequence

import brim

rules: Sequence[brim.Rule] = [brim.Rule("uv", "use-uv", "directive", "Use uv, not pip.")]


def tokens(text: str) -> int:
    counter = brim.counter_for("gpt-4o")
    budget: int = brim.TokenBudgetCalculator().calculate("gpt-4o", [], "Be brief.").memory_tokens
    return int(brim.count(text)) + int(counter.count(text)) + budget


def choose(session: brim.Session) -> str:
    graph = brim.rules.Graph(rules)
    activations = brim.activate(graph, brim.rules.Context(file="a.py"), now=0.0)
    plan = brim.ActivationTierMapper().plan(activations, rules, budget=500, session=session)
    return brim.render(plan)


def shorten(messages: list[dict[str, object]]) -> bool:
    fitted: brim.Fitted[dict[str, object]] = brim.fit(messages, model="gpt-4o")
    brim.validate(messages, "openai")
    brim.repair(messages, "openai")
    return fitted.fits


def spend(path: str) -> float:
    with brim.open_ledger(path) as ledger:
        shared: brim.Ledger = ledger
        shared.limit("shop", "5")
        reserved = ledger.reserve("shop/job", brim.Money.from_usd("0.25"), lease=60)
        charged: brim.Money = ledger.settle(reserved, "0.18").charged
    budget = brim.CostBudget("5", parent=brim.CostBudget(brim.Money(9_000_000)))
    price = brim.model("gpt-4o").price()
    estimated: brim.Money | None = brim.cost(brim.models.Tokens(input=1), "gpt-4o")
    total: brim.Money = sum([charged, estimated or brim.Money(0)], brim.Money(0)) * 2
    share: float = total / brim.Money.from_usd("1")
    print(f"{total:.2f}", total.usd, budget.may_spend)
    return share + float(price is None)


def watch(folder: str) -> float:
    brim.ScratchWriter(folder).write_scratch(brim.ScratchModel())
    memory = brim.WorkingMemory(brim.MemoryConfig())
    return brim.ContextBudget().utilization + memory.history_budget()


def told(receipt: brim.messages.Receipt, cost: brim.Money | None) -> None:
    print(receipt.after, cost)


def guarded(messages: list[dict[str, object]]) -> brim.Count | None:
    guard = brim.Guard(
        "gpt-4o", limit_usd="5", conservative=True, strategy="fifo", on_call=told, max_output=500
    )
    try:
        with guard.call(messages, system="Be brief.", options={"n": 1}) as call:
            sent: list[dict[str, object]] = call.messages
            call.done({"prompt_tokens": len(sent), "completion_tokens": 20})
            print(call.reserved, call.cost)
        return call.tokens
    except (brim.LimitReached, brim.DoesNotFit, brim.UnknownPrice, brim.InputError) as error:
        problem: brim.BrimError = error
        print(problem)
    return None


ROOMS = (
    brim.adapters, brim.agents, brim.config, brim.guard, brim.memory, brim.messages, brim.models,
    brim.money, brim.rules, brim.sessions, brim.tokens,
)
"""
"""Every name in use; it's checked, and not run."""


def mypy(program: Path) -> subprocess.CompletedProcess[str]:
    """Return what mypy --strict says about *program*."""
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def pyright(program: Path) -> subprocess.CompletedProcess[str]:
    """Return what pyright says about *program* in its strict mode."""
    settings = {
        "include": [program.name],
        "typeCheckingMode": "strict",
        "extraPaths": [str(ROOT / "src")],
    }
    config = program.with_name("pyrightconfig.json")
    config.write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    command += ["--project", str(config)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


Check = Callable[[Path], "subprocess.CompletedProcess[str]"]

CHECKERS = [
    mypy,
    pytest.param(
        pyright, marks=pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
    ),
]


@pytest.mark.parametrize("check", CHECKERS)
def test_a_program_with_every_public_name_has_right_types(check: Check, tmp_path: Path) -> None:
    assert all(f"brim.{name}" in PROGRAM for name in dir(brim) if name[0] != "_")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    checked = check(program)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("check", CHECKERS)
@pytest.mark.parametrize(
    "name",
    ["brim.nope", "brim.tokens.nope", "brim.money.nope", "brim.hooks.nope", "brim.install.nope"],
)
def test_a_name_that_is_not_there_is_an_error(check: Check, name: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    room = name.rpartition(".")[0]
    program.write_text(f"import {room}\n\nprint({name})\n", encoding="utf-8")
    checked = check(program)
    assert checked.returncode == 1
    assert "nope" in checked.stdout


def test_dir_and_help_show_every_public_name() -> None:
    assert set(dir(brim)) >= NAMES
    public = {name for name in dir(brim) if not name.startswith("_")}
    exported: dict[str, object] = {}
    exec("from brim import *", exported)
    assert public == set(exported) - {"__builtins__"}, "nothing else"
    text = pydoc.plain(pydoc.render_doc(brim))
    assert [name for name in sorted(NAMES) if name not in text] == []


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_public_name_has_a_signature_and_a_docstring(name: str) -> None:
    value = getattr(brim, name)
    assert inspect.signature(value) is not None
    assert inspect.getdoc(value)


def test_a_rule_is_called_a_rule() -> None:
    assert brim.Rule.__name__ == "Rule"


@pytest.mark.parametrize("package", ["brim", "brim.hooks", "brim.install"])
def test_a_name_that_is_not_there_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match="nope"):
        _ = importlib.import_module(package).nope
