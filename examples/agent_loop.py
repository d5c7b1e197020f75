"""An agent that never overfills the window and stops at $1. For a real model: client =
anthropic.Anthropic()."""

import brim
from brim.guard.fake import FakeModel

MODEL, SYSTEM = "claude-sonnet-5-5", "You review code. Read every file, then say what is wrong."
TOOLS = [
    {
        "name": "read_file",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
]
script = [
    *(("read_file", {"path": f"src/part_{n}.py"}) for n in range(24)),
    "part_7.py never closes its file.",
]
client = FakeModel(script)
guard = brim.Guard(
    MODEL, limit_usd="1", target=12_000
)  # without a target, it fills the model's window


def read_file(path: str) -> str:
    """Return what is in a file."""
    return "".join(f"{path}, line {n}: value = compute(value, {n})\n" for n in range(60))


messages = [{"role": "user", "content": "Review src/."}]
while messages[-1]["role"] == "user":
    with guard.call(messages, system=SYSTEM, tools=TOOLS) as call:  # counts, fits and reserves
        request = {
            "messages": call.messages,
            "system": call.system,
            "tools": TOOLS,
            "max_tokens": call.max_output,
        }
        response = client.messages.create(model=MODEL, **request)
        call.done(response)  # settles what it cost; the next count is better for it
    messages.append({"role": "assistant", "content": response.content})
    calls = [block for block in response.content if block.type == "tool_use"]
    results = [
        {"type": "tool_result", "tool_use_id": c.id, "content": read_file(**c.input)} for c in calls
    ]
    messages += [{"role": "user", "content": results}] if results else []
spent = guard.status().spent
print(
    f"{response.content[0].text}\n{len(client.requests)} calls for ${spent:.2f}. The last one: {call.receipt}"
)
