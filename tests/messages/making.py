"""Makes a valid history of each format from a tape of choices, as plain dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brim.messages import Provider
from tests.messages.tape import Tape

Message = dict[str, Any]
TOOLS = ("read", "search", "run")


def chat(tape: Tape, rare: bool) -> list[Message]:
    """Return a history of OpenAI's chat format."""
    messages: list[Message] = []
    while tape.left:
        what = tape.pick(
            ("user", "step", "step", "assistant", "system", "legacy" if rare else "step")
        )
        if what == "user":
            messages.append({"role": "user", "content": _chat_content(tape)})
        elif what == "assistant":
            said = {"role": "assistant", "content": _chat_content(tape)}
            messages.append(said if tape.chance() else {**said, "tool_calls": None})
        elif what == "system":
            messages.append({"role": tape.pick(("system", "developer")), "content": tape.text()})
        elif what == "legacy":
            function = {"name": tape.pick(TOOLS), "arguments": "{}"}
            messages.append({"role": "assistant", "content": None, "function_call": function})
            messages.append({"role": "function", "name": function["name"], "content": tape.text()})
        else:
            messages.extend(_chat_step(tape))
    return messages


def _chat_content(tape: Tape) -> str | list[Message]:
    return [{"type": "text", "text": tape.text()}] if tape.chance(4) else tape.text()


def _chat_step(tape: Tape) -> list[Message]:
    reused = tape.chance()
    ids = [f"call_{n}" if reused else tape.fresh("call_x") for n in range(1 + tape.number(3))]
    calls = [
        {
            "id": id_,
            "type": "function",
            "function": {"name": tape.pick(TOOLS), "arguments": f'{{"a": "{tape.text()}"}}'},
        }
        for id_ in ids
    ]
    step: Message = {
        "role": "assistant",
        "content": tape.pick((None, tape.text(), "")),
        "tool_calls": calls,
    }
    if tape.chance(3):
        step["reasoning_content"] = tape.text()
    return [
        step,
        *(
            {"role": "tool", "tool_call_id": id_, "content": tape.text()}
            for id_ in tape.shuffled(ids)
        ),
    ]


def responses(tape: Tape, rare: bool) -> list[Message]:
    """Return a history of OpenAI's Responses format; outputs may stand far behind their calls."""
    items: list[Message] = []
    waiting: list[Message] = []
    while tape.left or waiting:
        what = tape.pick(
            ("output", "calls", "calls", "user", "assistant", "system", "hosted", "approval")
        )
        if (what == "output" or not tape.left) and waiting:
            items.append(waiting.pop(tape.number(len(waiting))))
        elif what == "user":
            items.append({"role": "user", "content": _input_text(tape)})
        elif what == "system":
            items.append({"role": tape.pick(("system", "developer")), "content": tape.text()})
        elif what in ("assistant", "hosted"):
            items += _reasoning(tape)
            items.append(_assistant_item(tape) if what == "assistant" else _hosted_item(tape))
        elif what == "approval" and rare:
            asked = {
                "type": "mcp_approval_request",
                "id": tape.fresh("mcpr_"),
                "name": "read",
                "arguments": "{}",
            }
            items.append(asked)
            if tape.chance():
                answer = {
                    "type": "mcp_approval_response",
                    "approval_request_id": asked["id"],
                    "approve": True,
                }
                waiting.append(answer)
        else:
            items += _reasoning(tape)
            calls = [_response_call(tape) for _ in range(1 + tape.number(3))]
            items += [call for call, _ in calls]
            waiting += [output for _, output in calls]
    return items


def _input_text(tape: Tape) -> str | list[Message]:
    return [{"type": "input_text", "text": tape.text()}] if tape.chance() else tape.text()


def _reasoning(tape: Tape) -> list[Message]:
    several = (0, 0, 1, 2)[tape.number(4)]
    return [
        {
            "type": "reasoning",
            "id": tape.fresh("rs_"),
            "summary": [{"type": "summary_text", "text": tape.text()}],
        }
        for _ in range(several)
    ]


def _assistant_item(tape: Tape) -> Message:
    if tape.chance():
        return {"role": "assistant", "content": tape.text()}
    content = [{"type": "output_text", "text": tape.text()}]
    return {"type": "message", "id": tape.fresh("msg_"), "role": "assistant", "content": content}


def _hosted_item(tape: Tape) -> Message:
    kind = tape.pick(
        (
            "web_search_call",
            "file_search_call",
            "mcp_call",
            "image_generation_call",
            "agent_message",
        )
    )
    return {"type": kind, "id": tape.fresh("ws_"), "status": "completed"}


def _response_call(tape: Tape) -> tuple[Message, Message]:
    """Return a call and its output."""
    family = tape.pick(("function", "function", "custom_tool", "shell", "computer"))
    id_ = tape.pick((tape.fresh("call_x"), "call_0"))
    call = {"type": f"{family}_call", "call_id": id_, "name": tape.pick(TOOLS), "arguments": "{}"}
    if tape.chance():
        call["id"] = tape.fresh("fc_")
    return call, {"type": f"{family}_call_output", "call_id": id_, "output": tape.text()}


def anthropic(tape: Tape, rare: bool) -> list[Message]:
    """Return a history of Anthropic's format: turns of the user and of the assistant, in one
    message or several."""
    messages: list[Message] = []
    open_calls: list[str] = []
    while tape.left or open_calls or not messages:
        messages += _anthropic_user(tape, open_calls)
        if rare and tape.chance(8):
            messages.append({"role": "system", "content": tape.text()})
        if not tape.left:
            break
        said, open_calls = _anthropic_assistant(tape, rare)
        messages += said
    if tape.data and tape.data[-1] % 4 == 3:
        messages.append({"role": "assistant", "content": tape.text()})
    elif rare and tape.data and tape.data[-1] % 8 == 2:
        messages.append({"role": "assistant", "content": tape.pick(("", []))})
    return messages if tape.data else []


def _anthropic_user(tape: Tape, open_calls: list[str]) -> list[Message]:
    results: list[Message] = [
        {"type": "tool_result", "tool_use_id": id_, "content": tape.text()}
        for id_ in tape.shuffled(open_calls)
    ]
    if results and tape.chance(4):
        first = 1 + tape.number(len(results))
        messages = [
            {"role": "user", "content": part} for part in (results[:first], results[first:]) if part
        ]
    else:
        messages = [{"role": "user", "content": results}] if results else []
    while not messages or tape.chance(4):
        if messages and isinstance(messages[-1]["content"], list) and tape.chance():
            messages[-1]["content"].append({"type": "text", "text": tape.text()})
        else:
            content: str | list[Message] = (
                [{"type": "text", "text": tape.text()}] if tape.chance() else tape.text()
            )
            messages.append({"role": "user", "content": content})
    return messages


def _anthropic_assistant(tape: Tape, rare: bool) -> tuple[list[Message], list[str]]:
    """Return the messages of one assistant turn, and the ids of its calls."""
    if tape.chance(3):
        return [{"role": "assistant", "content": tape.text()}], []
    blocks: list[Message] = []
    if tape.chance(3):
        blocks.append({"type": "thinking", "thinking": tape.text(), "signature": "s"})
    if rare and tape.chance(5):
        id_ = tape.fresh("srvtoolu_")
        blocks.append(
            {"type": "server_tool_use", "id": id_, "name": "web_search", "input": tape.payload()}
        )
        blocks.append({"type": "web_search_tool_result", "tool_use_id": id_, "content": []})
    ids = [tape.fresh("toolu_") for _ in range((0, 1, 1, 2, 3)[tape.number(5)])]
    if not ids or tape.chance():
        blocks.append({"type": "text", "text": tape.text()})
    blocks += [
        {"type": "tool_use", "id": id_, "name": tape.pick(TOOLS), "input": tape.payload()}
        for id_ in ids
    ]
    if len(ids) > 1 and tape.chance(4):
        return [{"role": "assistant", "content": part} for part in (blocks[:-1], blocks[-1:])], ids
    return [{"role": "assistant", "content": blocks}], ids


def gemini(tape: Tape, rare: bool) -> list[Any]:
    """Return a history of Gemini's format."""
    contents: list[Any] = []
    snake = tape.chance(4)
    call_key, result_key = (
        ("function_call", "function_response") if snake else ("functionCall", "functionResponse")
    )
    while tape.left:
        contents.append(
            tape.text()
            if rare and tape.chance(6)
            else {"role": "user", "parts": [{"text": tape.text()}]}
        )
        while tape.left and tape.chance():
            calls = [
                {"name": tape.pick(TOOLS), "args": tape.payload()}
                for _ in range(1 + tape.number(3))
            ]
            if tape.chance():
                calls = [{"id": tape.fresh("fn_"), **call} for call in calls]
            step = [{"text": tape.text(), "thought": True}] if tape.chance(3) else []
            step += [{"text": tape.text()}] if tape.chance(3) else []
            contents.append(
                {"role": "model", "parts": [*step, *({call_key: call} for call in calls)]}
            )
            answers = [{key: call[key] for key in ("id", "name") if key in call} for call in calls]
            results = [{result_key: {**answer, "response": tape.payload()}} for answer in answers]
            contents.append(
                {"role": "function" if rare and tape.chance(6) else "user", "parts": results}
            )
        while tape.chance():
            contents.append({"role": "model", "parts": [{"text": tape.text()}]})
    return contents


MAKERS: dict[Provider, Callable[[Tape, bool], list[Any]]] = {
    "openai": chat,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
}
