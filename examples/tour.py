"""A stop of the tour: the same from Python."""

import json

import brim
from brim.messages import FifoPruner, MemoryConfig, TokenBudgetCalculator, WorkingMemory
from brim.models import cost
from brim.rules import ActivationTierMapper, Context, Graph, Rule, activate

with open("messages.json", encoding="utf-8") as file:
    messages = json.load(file)

print("text:    ", repr(brim.count("Hello world", model="gpt-4o")))
print("messages:", repr(brim.counter_for("gpt-4o").count_messages(messages)))
print(
    "budget:  ",
    TokenBudgetCalculator().calculate("gpt-4o", messages).memory_tokens,
    "tokens are free for memory",
)

memory = WorkingMemory(MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192))
sections = {
    "system_prompt": 1_200,
    "procedure": 300,
    "knowledge": 1_500,
    "episodes": 400,
    "current_message": 100,
}
print("history: ", memory.history_budget(**sections), "tokens are left for history")

pruned = FifoPruner().prune(messages, 80, model="gpt-4o")
print("pruned:  ", pruned.receipt)

rules = [
    Rule(
        "uv", "use-uv", "directive", "Install with uv, never with pip.", when={"language": "python"}
    ),
    Rule("go", "wrap-errors", "directive", "Wrap errors with %w.", when={"language": "go"}),
]
results = activate(Graph(rules, []), Context(file="src/app.py"), now=0)
print("injected:", ActivationTierMapper().plan(results, rules, budget=500, model="gpt-4o"))

usage = {"input_tokens": 1_200, "cache_read_input_tokens": 45_000, "output_tokens": 800}
print("cost:    ", cost(usage, model="claude-sonnet-4-5"), "micro-dollars")
