"""The Gemini wire: what Gemini CLI speaks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.e2e.api.script import Kind, Overflow, Part, Reply, Sent

SUMMARY_ASKED = "<state_snapshot>"
"""What Gemini CLI writes into the system instruction when it wants the conversation summarised, twice in a row."""

JUDGED = {"reasoning": "It is done.", "next_speaker": "user", "model_choice": "flash", "complexity_score": 1}
"""What answers the questions that Gemini CLI asks about a conversation, all of them in JSON."""


def parts_of(body: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return what the model reads, system instruction first."""
    found = [Part(-1, "system", kind, text) for kind, text in _texts(body.get("systemInstruction"))]
    for place, content in enumerate(body.get("contents", [])):
        found += [Part(place, str(content.get("role")), kind, text) for kind, text in _texts(content)]
    return tuple(found)


def _texts(content: Any) -> list[tuple[str, str]]:
    found = []
    for part in (content or {}).get("parts", []):
        match part:
            case {"functionResponse": {"response": response}}:
                found.append(("result", json.dumps(response, ensure_ascii=False)))
            case {"functionCall": {"args": args}}:
                found.append(("call", json.dumps(args, ensure_ascii=False)))
            case {"text": str(text)}:
                found.append(("text", text))
            case _:
                found.append(("other", json.dumps(part)))
    return found


def kind_of(path: str, body: Mapping[str, Any]) -> Kind:
    """Say what a request is for."""
    if path.endswith(":countTokens"):
        return "count"
    system = " ".join(text for _, text in _texts(body.get("systemInstruction")))
    if SUMMARY_ASKED in system and not body.get("tools"):
        return "compaction"
    return "turn" if body.get("tools") else "side"


def summary(text: str) -> str:
    """Return *text* as a summary."""
    return f"<state_snapshot>\n{text}\n</state_snapshot>"


def side(_body: Mapping[str, Any]) -> str:
    """Return what a request beside the conversation is answered with."""
    return json.dumps(JUDGED)


def counted(tokens: int) -> Mapping[str, Any]:
    """Return the answer to a request for a count."""
    return {"totalTokens": tokens}


def overflow(step: Overflow) -> Sent:
    """Return the provider's words for a prompt that is too long."""
    message = f"The input token count ({step.tokens}) exceeds the maximum number of tokens allowed ({step.most})."
    return Sent(400, {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})


def write(reply: Reply) -> Sent:
    """Write a reply down: the stream of this provider is one event of the same shape."""
    parts: list[dict[str, Any]] = [{"text": reply.text}]
    if reply.call:
        parts.append({"functionCall": {"name": reply.call.tool, "args": dict(reply.call.input)}})
    total = reply.read + reply.fresh
    answer = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": total,
            "candidatesTokenCount": reply.written,
            "totalTokenCount": total + reply.written,
            "cachedContentTokenCount": reply.read,
        },
        "modelVersion": reply.model,
        "responseId": f"gemini-{reply.number}",
    }
    return Sent(200, answer) if reply.whole else Sent(200, {}, (answer,))
