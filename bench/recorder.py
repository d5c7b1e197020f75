"""Writes whole sessions in the shapes of Claude Code, Codex and Gemini CLI, billed by a vocabulary
of its own.

The shapes follow captures of the real clients: request records with shapes, blobs and tails;
attachments with what was rendered; tool results, images and thinking; a compaction that keeps the
last messages; system prompt and tools that a client sends and doesn't write down. The model on the
other side counts what is sent to it with a ``Bill``, and nothing of that but the usage gets into
the file.
"""

from __future__ import annotations

import base64
import json
import random
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Any

import corpus

Line = dict[str, Any]
Message = dict[str, Any]
STYLES = ("records", "snapshot", "plain", "codex", "gemini")
"""Claude Code with request records; without them but with what it rendered; older, with its lines
alone; the others."""

COMPACT_AT = 120_000
"""Tokens billed from which on a session is compacted."""
FRAMING, TOOL_PROMPT = 4, 300
BRIMS = "## Constraints\n- Never commit the files under dist/.\n- Use pnpm, not npm.\n"
_KINDS = ("python", "terminal", "logs", "markdown", "english", "minified", "chinese")


@dataclass(frozen=True)
class Bill:
    """How the model bills: a vocabulary, a ratio, and rules for what isn't text."""

    name: str
    count: Callable[[str], int]
    ratio: float

    def texts(self, *texts: str) -> float:
        """Return the tokens of *texts*."""
        return self.ratio * sum(map(self.count, texts))


@cache
def bucket(text: str) -> int:
    """Count with a made-up vocabulary: a word takes by its hash more or fewer tokens for its
    letters."""
    words = re.findall(r"\w+|\s+|[^\w\s]", text)
    return sum(
        max(1, round(len(word.encode()) / (2.5 + zlib.crc32(word.encode()) % 5))) for word in words
    )


def png(width: int, height: int) -> str:
    """Return a picture of one colour, in base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * (3 * width)) * height)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


@dataclass
class Step:
    """One answer of the model, and what came of it."""

    text: str
    thinking: int
    call: tuple[str, dict[str, Any]] | None
    result: str
    picture: tuple[int, int] | None
    prompt: str
    """What the person says before it, if anything."""


def steps(rng: random.Random, count: int) -> Iterator[Step]:
    """Give the steps of one session."""
    texts = {kind: corpus.make(kind, 400_000, rng.randrange(50)) for kind in _KINDS}

    def some(kind: str, size: int) -> str:
        begin = rng.randrange(max(1, len(texts[kind]) - size))
        return texts[kind][begin : begin + size]

    mood = rng.choice(_KINDS)
    for at in range(count):
        if rng.random() < 0.05:
            mood = rng.choice(_KINDS)
        prompt = some("english", rng.randrange(30, 800)) if at == 0 or rng.random() < 0.08 else ""
        size = min(60_000, int(rng.lognormvariate(7.6, 1.3)))
        kind = mood if rng.random() < 0.7 else rng.choice(_KINDS[:4])
        tools = (
            ("Read", {"file_path": f"/home/user/shop/src/{rng.randrange(400)}.py"}),
            (
                "Bash",
                {
                    "command": f"pytest -q tests/{rng.randrange(90)}",
                    "description": some("english", 30),
                },
            ),
            ("Grep", {"pattern": some("english", 12), "path": "src"}),
            (
                "Edit",
                {
                    "file_path": "a.py",
                    "old_string": some("python", 300),
                    "new_string": some("python", 400),
                },
            ),
            ("mcp__shop__find", {"query": some("english", 20)}),
        )
        call = None if rng.random() < 0.06 else rng.choice(tools)
        picture = (
            (rng.randrange(200, 1500), rng.randrange(200, 1200))
            if call and rng.random() < 0.03
            else None
        )
        thinking = rng.randrange(50, 1200) if rng.random() < 0.4 else 0
        said = some("english", rng.randrange(20, 500))
        yield Step(said, thinking, call, some(kind, max(40, size)) if call else "", picture, prompt)


def tools_of(rng: random.Random) -> list[dict[str, Any]]:
    """Return the schemas of a session's tools: the client's own, and those of three MCP servers."""
    names = [
        "Agent",
        "Bash",
        "Edit",
        "Glob",
        "Grep",
        "Read",
        "Skill",
        "WebFetch",
        "Write",
        "TodoWrite",
    ]
    names += [
        f"mcp__{server}__{tool}"
        for server in ("shop", "issues", "db")
        for tool in ("find", "list", "add", "get")
    ]
    about = corpus.make("markdown", 60_000, rng.randrange(50))
    found = []
    for name in names:
        begin, size = rng.randrange(50_000), rng.randrange(150, 4_000)
        fields = {
            f"field_{at}": {"type": "string", "description": about[at * 90 : at * 90 + 80]}
            for at in range(5)
        }
        schema = {"type": "object", "properties": fields, "required": ["field_0"]}
        found.append(
            {"name": name, "description": about[begin : begin + size], "input_schema": schema}
        )
    return found


@dataclass
class Session:
    """One session of one client; ``lines`` is its file."""

    rng: random.Random
    bill: Bill
    style: str
    model: str
    lines: list[Line] = field(default_factory=list)
    billed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tools = tools_of(self.rng)
        self.system = corpus.make("english", 12_000, self.rng.randrange(50))
        self.memory = corpus.make(
            "markdown", self.rng.randrange(500, 9_000), self.rng.randrange(50)
        )
        self.skills = (
            "The following skills are available for use with the Skill tool:\n\n- "
            + self.system[:5_000]
        )
        self._cached, self._start = 0, 0.0
        self._sizes: dict[int, tuple[Message, float]] = {}

    def usage(self, messages: list[Message], output: int, thinking: int = 0) -> Line:
        """Return what a request of *messages* is billed, in Anthropic's shape."""
        size = self._fixed() + sum(map(self._size, messages))
        total = round(size)
        read = self._cached if self._cached <= total else 0
        self._cached = total
        self.billed.append(total)
        written = total - read
        return {
            "input_tokens": 0,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": output,
            "output_tokens_details": {"thinking_tokens": thinking},
        }

    def _fixed(self) -> float:
        if not self._start:
            schemas = [json.dumps(tool) for tool in self.tools]
            self._start = self.bill.texts(self.system, *schemas) + TOOL_PROMPT
        return self._start

    def _size(self, message: Message) -> float:
        if id(message) not in self._sizes:
            # The message is kept with its size, so that no other one gets its id.
            self._sizes[id(message)] = message, FRAMING + sum(map(self._block, message["content"]))
        return self._sizes[id(message)][1]

    def _block(self, block: dict[str, Any]) -> float:
        match block["type"]:
            case "text":
                return self.bill.texts(block["text"])
            case "thinking":
                return float(block["tokens"])
            case "tool_use":
                return 12 + self.bill.texts(block["name"], json.dumps(block["input"]))
            case "image":
                return float(block["width"] * block["height"] / 750)
            case _:
                content = block["content"]
                inner = [{"type": "text", "text": content}] if isinstance(content, str) else content
                return 8 + sum(map(self._block, inner))

    def write(self, count: int) -> list[Line]:
        """Write the session with *count* answers of the model."""
        writer = {"codex": self._codex, "gemini": self._gemini}.get(self.style, self._claude)
        writer(list(steps(self.rng, count)))
        return self.lines

    # Claude Code ----------------------------------------------------------------------------------

    def _claude(self, script: list[Step]) -> None:
        self._records = Records(self)
        messages = self._records.begin(script[0].prompt, "")
        for at, step in enumerate(script):
            if at and step.prompt:
                messages.append(
                    self._records.say([{"type": "text", "text": step.prompt}], prompt=True)
                )
            self._records.request(messages)
            answer = self._answer(step, at)
            spoken = sum(self._block(block) for block in answer["content"])
            usage = self.usage(messages, round(spoken), step.thinking)
            messages.append(self._records.answer(answer, usage, at))
            if step.call:
                messages.append(self._records.say([self._result(step, at)]))
            if self.billed[-1] > COMPACT_AT:
                messages = self._records.compact(messages, corpus.make("english", 6_000, at % 50))

    def _answer(self, step: Step, at: int) -> Message:
        content: list[dict[str, Any]] = []
        if step.thinking:
            signature = base64.b64encode(self.rng.randbytes(step.thinking)).decode()
            content.append(
                {
                    "type": "thinking",
                    "thinking": "",
                    "signature": signature,
                    "tokens": step.thinking,
                }
            )
        content.append({"type": "text", "text": step.text})
        if step.call:
            content.append(
                {"type": "tool_use", "id": f"t{at}", "name": step.call[0], "input": step.call[1]}
            )
        return {"role": "assistant", "content": content}

    def _result(self, step: Step, at: int) -> dict[str, Any]:
        content: Any = step.result
        if step.picture:
            width, height = step.picture
            content = [{"type": "image", "width": width, "height": height}]
        return {"type": "tool_result", "tool_use_id": f"t{at}", "content": content}

    # Codex ----------------------------------------------------------------------------------------

    def _codex(self, script: list[Step]) -> None:
        about = {
            "id": "s1",
            "session_id": "s1",
            "cwd": "/home/user/shop",
            "base_instructions": {"text": self.system},
        }
        self._line("session_meta", about)
        self._line("turn_context", {"model": self.model, "cwd": "/home/user/shop"})
        messages = [self._item("developer", BRIMS, "hooks.additional_context")]
        memory = f"# AGENTS.md instructions for /home/user/shop\n\n<INSTRUCTIONS>\n{self.memory}</INSTRUCTIONS>"
        messages.append(self._item("user", memory, "agents_md.instructions"))
        for at, step in enumerate(script):
            if step.prompt:
                messages.append(self._item("user", step.prompt, "user.text"))
            answer: Message = {
                "role": "assistant",
                "content": [{"type": "text", "text": step.text}],
            }
            used = self.usage(messages, 50)
            said = {"type": "output_text", "text": step.text}
            self._line(
                "response_item",
                {"type": "message", "id": f"m{at}", "role": "assistant", "content": [said]},
            )
            if step.call:
                name, given = step.call
                answer["content"].append({"type": "tool_use", "name": name, "input": given})
                call = {"name": name, "arguments": json.dumps(given), "call_id": f"c{at}"}
                self._line("response_item", {"type": "function_call", **call})
            messages.append(answer)
            usage = {
                "input_tokens": self.billed[-1],
                "cached_input_tokens": used["cache_read_input_tokens"],
            }
            usage |= {
                "output_tokens": 50,
                "reasoning_output_tokens": 0,
                "total_tokens": self.billed[-1] + 50,
            }
            about = {
                "thread_id": "s1",
                "response_id": f"r{at}",
                "usage": usage,
                "thread_token_usage": usage,
            }
            self._line("token_usage_record", about)
            if step.call:
                messages.append(
                    {"role": "user", "content": [{"type": "text", "text": step.result}]}
                )
                output = {
                    "type": "function_call_output",
                    "call_id": f"c{at}",
                    "output": step.result,
                }
                self._line("response_item", output)
            if self.billed[-1] > COMPACT_AT:
                summary = "Another language model started to solve this problem." + corpus.make(
                    "english", 6_000, at % 50
                )
                kept = [
                    self._entry("user", memory, "agents_md.instructions"),
                    self._entry("user", summary, ""),
                ]
                self._line("compacted", {"message": summary, "replacement_history": kept})
                messages = [self._sent(memory), self._sent(summary)]

    def _sent(self, said: str) -> Message:
        return {"role": "user", "content": [{"type": "text", "text": said}]}

    def _entry(self, role: str, said: str, kind: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": said}]
        kinds = {"content_item_kinds": [kind]} if kind else {}
        about = {"internal_chat_message_metadata_passthrough": kinds}
        return {
            "type": "message",
            "id": f"i{len(self.lines)}",
            "role": role,
            "content": content,
            **about,
        }

    def _item(self, role: str, said: str, kind: str) -> Message:
        self._line("response_item", self._entry(role, said, kind))
        return self._sent(said)

    def _line(self, kind: str, payload: dict[str, Any]) -> None:
        self.lines.append(
            {"timestamp": "2026-11-16T09:00:00.000Z", "type": kind, "payload": payload}
        )

    # Gemini CLI -----------------------------------------------------------------------------------

    def _gemini(self, script: list[Step]) -> None:
        time = {"timestamp": "2026-11-16T09:00:00.000Z"}
        self.lines.append(
            {"sessionId": "s1", "projectHash": "p", "startTime": time["timestamp"], "kind": "main"}
        )
        messages: list[Message] = []
        for at, step in enumerate(script):
            if step.prompt:
                messages.append(self._sent(step.prompt))
                self.lines.append(
                    {"id": f"u{at}", **time, "type": "user", "content": [{"text": step.prompt}]}
                )
            used = self.usage(messages, 50)
            tokens = {
                "input": self.billed[-1],
                "output": 50,
                "cached": used["cache_read_input_tokens"],
            }
            about = {
                "id": f"g{at}",
                **time,
                "type": "gemini",
                "content": step.text,
                "tokens": tokens,
            }
            content: list[dict[str, Any]] = [{"type": "text", "text": step.text}]
            self.lines.append({**about, "model": self.model})
            if step.call:
                name, given = step.call
                content.append({"type": "tool_use", "name": name, "input": given})
                answer = {
                    "functionResponse": {
                        "id": f"c{at}",
                        "name": name,
                        "response": {"output": step.result},
                    }
                }
                call = {
                    "id": f"c{at}",
                    "name": name,
                    "args": given,
                    "result": [answer],
                    "status": "success",
                }
                self.lines.append({**about, "model": self.model, "toolCalls": [call]})
                self.lines.append({"id": f"f{at}", **time, "type": "user", "content": [answer]})
            messages.append({"role": "model", "content": content})
            if step.call:
                messages.append(self._sent(step.result))


class Records:
    """The lines of a Claude Code transcript; with the style ``records`` each request is among
    them."""

    def __init__(self, session: Session) -> None:
        self._session, self._lines = session, session.lines
        self._base, self._sent = "", list[str]()
        self._shaped = False
        self._told: set[str] = set()
        self._number = 0

    def begin(self, prompt: str, summary: str) -> list[Message]:
        """Write what a window begins with, and return its first two messages."""
        session = self._session
        memory = (
            f"Contents of /home/user/shop/CLAUDE.md (project instructions):\n\n{session.memory}"
        )
        told = [
            (
                "instructions",
                "user",
                f"Codebase and user instructions are shown below.\n\n{memory}",
            ),
            (
                "environment",
                "system",
                "# Environment\nYou have been invoked in /home/user/shop on linux.",
            ),
            ("skill_listing", "system", session.skills),
        ]
        hook = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": BRIMS}}
        command = "/home/user/.brim/bin/hook SessionStart claude"
        self._attach({"type": "hook_success", "command": command, "stdout": json.dumps(hook)}, "")
        context = f"SessionStart hook additional context: {BRIMS}"
        self._attach(
            {"type": "hook_additional_context", "content": [BRIMS], "hookEvent": "SessionStart"},
            context,
        )
        if summary:
            self._user([{"type": "text", "text": summary}], isCompactSummary=True)
        else:
            self._user([{"type": "text", "text": prompt}], promptSource="typed")
        for kind, _, said in told:
            files = [{"path": "/home/user/shop/CLAUDE.md"}] if kind == "instructions" else []
            self._attach({"type": kind, "content": said, "files": files}, said)
        if session.style == "snapshot":
            schemas = [{"name": tool["name"], "schema": tool} for tool in session.tools]
            self._attach(
                {"type": "prompt_snapshot", "systemPrompt": [session.system], "tools": schemas}, ""
            )
        first = [
            f"<system-reminder>\n{said}\n</system-reminder>"
            for _, role, said in told
            if role == "user"
        ]
        content = [{"type": "text", "text": said} for said in (*first, summary or prompt)]
        joined = "\n\n".join([context, *(said for _, role, said in told if role == "system")])
        messages = [
            {"role": "user", "content": content},
            {"role": "system", "content": [{"type": "text", "text": joined}]},
        ]
        for message in messages:
            self._blob(message)
        return messages

    def say(self, blocks: list[dict[str, Any]], *, prompt: bool = False) -> Message:
        """Write a user line, and return its message."""
        self._user(blocks, **({"promptSource": "typed"} if prompt else {}))
        return {"role": "user", "content": blocks}

    def request(self, messages: list[Message]) -> None:
        """Write the record of a request."""
        self._number += 1
        if self._session.style != "records":
            return
        if not self._shaped:
            shape = {
                "system": [{"type": "text", "text": self._session.system}],
                "tools": self._session.tools,
            }
            self._lines.append(
                {
                    "type": "api-request-shape",
                    "sessionId": "s1",
                    "shapeHash": "f" * 64,
                    "shape": shape,
                }
            )
            self._shaped = True
        hashes = [hash_of(message) for message in messages]
        pairs = enumerate(zip(hashes, self._sent, strict=False))
        same = next((at for at, pair in pairs if pair[0] != pair[1]), len(self._sent))
        keep = min(same, len(hashes)) if self._base else 0
        id = f"q{self._number}"
        about = {
            "type": "api-request",
            "sessionId": "s1",
            "id": id,
            "timestamp": "2026-11-16T09:00:00.000Z",
        }
        base = {"base": self._base} if keep else {}
        params = {"model": self._session.model, "thinking": {"type": "adaptive"}}
        self._lines.append(
            {
                **about,
                **base,
                "keep": keep,
                "tail": hashes[keep:],
                "shapeHash": "f" * 64,
                "params": params,
            }
        )
        self._base, self._sent = id, hashes

    def answer(self, message: Message, usage: Line, at: int) -> Message:
        """Write the lines of an answer, one per block."""
        about = {
            "id": f"msg_{at}",
            "type": "message",
            "role": "assistant",
            "model": self._session.model,
        }
        for index, block in enumerate(message["content"]):
            inner = {**about, "content": [written(block)], "usage": usage}
            line = {
                "type": "assistant",
                "sessionId": "s1",
                "isSidechain": False,
                "uuid": f"a{at}-{index}",
            }
            reference = {"requestRef": self._base} if self._session.style == "records" else {}
            self._lines.append(
                {**line, **reference, "message": inner, "timestamp": "2026-11-16T09:00:01.000Z"}
            )
        return message

    def compact(self, messages: list[Message], words: str) -> list[Message]:
        """Write a compaction, and return the messages that are left."""
        kept = messages[-2:] if messages[-2]["role"] == "assistant" else messages[-1:]
        uuids = [
            line["uuid"] for line in self._lines[-8:] if line.get("type") in ("user", "assistant")
        ]
        uuids = uuids[
            -sum(len(each["content"]) if each["role"] == "assistant" else 1 for each in kept) :
        ]
        boundary = {
            "type": "system",
            "subtype": "compact_boundary",
            "sessionId": "s1",
            "isSidechain": False,
        }
        self._lines.append(
            {**boundary, "compactMetadata": {"preservedMessages": {"allUuids": uuids}}}
        )
        self._base, self._sent = "", []
        summary = f"This session is being continued from a previous conversation.\n{words}"
        begun = self.begin("", summary)
        for message in kept:
            self._blob(message)
        return [begun[0], begun[1], *kept]

    def _user(self, blocks: list[dict[str, Any]], **about: Any) -> None:
        is_text = len(blocks) == 1 and blocks[0]["type"] == "text"
        content: Any = blocks[0]["text"] if is_text else [written(block) for block in blocks]
        line = {
            "type": "user",
            "sessionId": "s1",
            "isSidechain": False,
            "uuid": f"u{len(self._lines)}",
            **about,
        }
        self._lines.append({**line, "message": {"role": "user", "content": content}})
        if is_text:
            self._blob(
                {"role": "user", "content": blocks}
            )  # sent as a block, so no line holds it verbatim

    def _attach(self, attachment: dict[str, Any], rendered: str) -> None:
        line = {
            "type": "attachment",
            "sessionId": "s1",
            "isSidechain": False,
            "attachment": attachment,
        }
        if rendered and self._session.style != "plain":
            line["rendered"] = [{"content": f"<system-reminder>\n{rendered}\n</system-reminder>"}]
        self._lines.append(line)

    def _blob(self, message: Message) -> None:
        digest = hash_of(message)
        if self._session.style == "records" and digest not in self._told:
            self._told.add(digest)
            content = [written(block) for block in message["content"]]
            about = {"hash": digest, "message": {"role": message["role"], "content": content}}
            self._lines.append({"type": "api-request-blob", "sessionId": "s1", **about})


def written(block: dict[str, Any]) -> dict[str, Any]:
    """Return *block* as the client writes it down: without what only the bill needs, and pictures
    as data."""
    if block["type"] == "image":
        source = {
            "type": "base64",
            "media_type": "image/png",
            "data": png(block["width"], block["height"]),
        }
        return {"type": "image", "source": source}
    if block["type"] == "tool_result" and isinstance(block["content"], list):
        return {**block, "content": [written(part) for part in block["content"]]}
    return {key: value for key, value in block.items() if key != "tokens"}


def hash_of(message: Message) -> str:
    """Return the hash by which records name *message*."""
    content = {"content": [written(block) for block in message["content"]], "role": message["role"]}
    return sha256(
        json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    ).hexdigest()
