"""Sessions that were compacted, from the scripts in ``bench/compactions``: as their client writes
them and calls hooks.

A script is what a person and an agent did, a line each. The sessions are written for this
benchmark, not recorded from people; their lines have the shapes of recorded ones (Claude Code 2.1,
Codex 0.166, Gemini CLI 0.61). Results are filler of the size that the script gives: nothing in them
names a file that the script doesn't.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

SCRIPTS = Path(__file__).with_name("compactions")
FIRST = 1_794_700_000
"""When the sessions begin, in seconds since 1970."""
BYTES_PER_TOKEN = 3.4
FIXED = {"claude": 12_000, "codex": 9_200, "gemini": 6_000}
"""Tokens of the system prompt and the tools, as in recorded sessions."""
CLAUDE_TOOLS = {
    "read": "Read",
    "write": "Write",
    "edit": "Edit",
    "grep": "Grep",
    "run": "Bash",
    "ask": "AskUserQuestion",
}
GEMINI_TOOLS = {
    "read": "read_file",
    "write": "write_file",
    "edit": "replace",
    "grep": "grep_search",
}
LINE = 44
"""Bytes of a line of a file."""


@dataclass(frozen=True)
class Step:
    """What happened: ``you``, ``say``, ``ask``, ``read``, ``write``, ``edit``, ``grep`` or
    ``run``."""

    kind: str
    text: str
    """What was said, the file, the pattern or the command."""
    answer: str = ""
    failed: bool = False

    @property
    def is_call(self) -> bool:
        """Whether a tool was called."""
        return self.kind not in ("you", "say")


@dataclass
class Script:
    """One session: the steps before its compaction, what that left, and the steps after it."""

    name: str
    client: str
    project: str
    before: list[Step] = field(default_factory=list)
    after: list[Step] = field(default_factory=list)
    trigger: str = "auto"
    keep: int = 0
    """Steps whose messages stay in the window."""
    attach: list[str] = field(default_factory=list)
    """Files that the client attaches again."""
    summary: str = ""

    @property
    def session(self) -> str:
        """Its id."""
        return str(UUID(int=int.from_bytes(self.name.encode()[:16].ljust(16, b"-")), version=4))


def scripts(folder: Path = SCRIPTS, more: int = 0) -> list[Script]:
    """Return all scripts in *folder*, in the order of their names; each with *more* files and commands that are
    used only once.

    They are spread over the steps before the compaction: every session looks at much that it never
    needs again.
    """
    found = [
        parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.txt"))
    ]
    for script in found:
        for at in range(more):
            place = 1 + at * len(script.before) // more
            read = Step("read", f"lib/aside/part_{at}.py", filler(f"part_{at}", 30))
            script.before[place:place] = [
                read,
                Step("run", f"./tools/inspect --part {at}", f"part {at} is fine"),
            ]
    return found


def parse(name: str, text: str) -> Script:
    """Return the script in *text*."""
    lines = text.splitlines()
    script = Script(name, lines[0].removeprefix("client: "), lines[1].removeprefix("project: "))
    steps, rest = script.before, iter(lines[2:])
    for line in rest:
        if line.startswith("  =>"):
            steps[-1] = Step(
                steps[-1].kind,
                steps[-1].text,
                line[4:].lstrip("! ").strip(),
                line.startswith("  =>!"),
            )
        elif line.startswith("compact "):
            _, script.trigger, *given = line.split()
            options = dict(each.split("=", 1) for each in given)
            script.keep = int(options.get("keep", 0))
            script.attach = [path for path in options.get("attach", "").split(",") if path]
            script.summary = "\n".join(iter(lambda: next(rest), "end"))
            steps = script.after
        else:
            steps.append(_step(line))
    return script


def _step(line: str) -> Step:
    head, _, rest = line.partition(" ")
    if head in ("you:", "say:"):
        return Step(head[:-1], rest)
    if head == "ask":
        question, _, answer = rest.partition(" | ")
        return Step("ask", question, answer)
    if head in ("read", "write"):
        path, _, count = rest.rpartition(" ")
        return Step(head, path, filler(path, int(count)))
    return Step(head, rest, "ok")


def filler(path: str, lines: int) -> str:
    """Return the text of a file with so many *lines*; each file has its own."""
    mark = sum(path.encode()) % 997
    return "\n".join(
        f"{at:>5}\tvalue_{mark}_{at} = step(value_{mark}_{at - 1})".ljust(LINE)
        for at in range(1, lines + 1)
    )


def found(step: Step) -> str:
    """Return what a search printed: a line for each file that the script names."""
    return "\n".join(
        f"{path.strip()}:{12 + at}: {step.text}" for at, path in enumerate(step.answer.split(","))
    )


class Writer:
    """Writes a script as its client does: yields, for each step, the hook calls around it and the
    lines."""

    client = ""

    def __init__(self, script: Script, transcript: Path, project: Path) -> None:
        self.script, self.transcript, self.project = script, transcript, project
        self._count = self._bytes = 0

    def path(self, name: str) -> str:
        """Return the file *name* as a call gives it."""
        return f"{self.project}/{name}"

    def stamp(self) -> str:
        """Return the time of the next line."""
        self._count += 1
        at = FIRST + self._count
        return f"2026-11-15T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.000Z"

    def line(self, value: dict[str, Any]) -> None:
        """Append a line."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        self._bytes += len(text)
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    @property
    def tokens(self) -> int:
        """Return the prompt of the next request."""
        return FIXED[self.client] + int(self._said / BYTES_PER_TOKEN)

    _said = 0

    def say(self, text: str) -> None:
        """Count *text* as part of the window."""
        self._said += len(text.encode())

    def call(self, step: Step) -> tuple[str, dict[str, Any], str]:
        """Return the tool of *step*, what it is given, and what it answers."""
        raise NotImplementedError

    def begin(self) -> None:
        """Write what a session begins with."""

    def write(self, step: Step, tool: str, given: dict[str, Any], answer: str) -> None:
        """Write the lines of *step*."""
        raise NotImplementedError

    def compact(self) -> None:
        """Write the lines of the compaction."""
        raise NotImplementedError


class Claude(Writer):
    """Claude Code."""

    client = "claude"

    def __init__(self, script: Script, transcript: Path, project: Path) -> None:
        super().__init__(script, transcript, project)
        self._uuids: list[list[str]] = []

    def call(self, step: Step) -> tuple[str, dict[str, Any], str]:
        tool = CLAUDE_TOOLS[step.kind]
        if step.kind == "read":
            return tool, {"file_path": self.path(step.text)}, step.answer
        if step.kind == "write":
            return (
                tool,
                {"file_path": self.path(step.text), "content": step.answer},
                "File created successfully",
            )
        if step.kind == "edit":
            given = {
                "file_path": self.path(step.text),
                "old_string": "a = 1",
                "new_string": "a = 2",
            }
            return tool, given, f"The file {self.path(step.text)} has been updated."
        if step.kind == "grep":
            return tool, {"pattern": step.text, "output_mode": "content"}, found(step)
        if step.kind == "ask":
            question = {
                "question": step.text,
                "header": "Choice",
                "options": [{"label": step.answer}],
            }
            return (
                tool,
                {"questions": [question]},
                f'User has answered your questions: "{step.text}"="{step.answer}".',
            )
        return tool, {"command": step.text, "description": "Run it"}, step.answer

    def _line(self, type: str, **fields: Any) -> str:
        uuid = f"{self._count:08x}-0000-4000-8000-{len(self.script.name):012x}"
        about = {"isSidechain": False, "type": type, "uuid": uuid, "timestamp": self.stamp()}
        about |= {
            "cwd": str(self.project),
            "sessionId": self.script.session,
            "version": "2.1.325",
            "gitBranch": "main",
        }
        self.line({**about, **fields})
        return uuid

    def _assistant(self, block: dict[str, Any]) -> str:
        prompt, output = self.tokens, len(json.dumps(block)) // 4
        self.say("x" * int(output * BYTES_PER_TOKEN))
        usage = {
            "input_tokens": 4,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": prompt - 904,
        }
        usage["output_tokens"] = output
        message: dict[str, Any] = {
            "id": f"msg_{self._count:024}",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
        }
        message |= {"type": "message", "content": [block], "usage": usage}
        return self._line("assistant", message=message, requestId=f"req_{self._count:024}")

    def write(self, step: Step, tool: str, given: dict[str, Any], answer: str) -> None:
        if step.kind == "you":
            self.say(step.text)
            self._uuids.append([self._line("user", message={"role": "user", "content": step.text})])
        elif step.kind == "say":
            self._uuids.append([self._assistant({"type": "text", "text": step.text})])
        else:
            id = f"toolu_{self._count:022}"
            asked = self._assistant({"type": "tool_use", "id": id, "name": tool, "input": given})
            self.say(answer)
            block = {
                "type": "tool_result",
                "tool_use_id": id,
                "content": answer,
                "is_error": step.failed,
            }
            detail: Any = {"stdout": answer} if tool == "Bash" else {}
            if step.kind == "ask":
                detail = {"answers": {step.text: step.answer}}
            told = self._line(
                "user", message={"role": "user", "content": [block]}, toolUseResult=detail
            )
            self._uuids.append([asked, told])

    def compact(self) -> None:
        kept = (
            [uuid for uuids in self._uuids[-self.script.keep :] for uuid in uuids]
            if self.script.keep
            else []
        )
        about = {"trigger": self.script.trigger, "preTokens": self.tokens, "postTokens": 3_000}
        about["preservedMessages"] = {"uuids": kept, "allUuids": kept}
        self._line(
            "system",
            subtype="compact_boundary",
            content="Conversation compacted",
            compactMetadata=about,
        )
        opening = (
            "This session is being continued from a previous conversation that ran out of context."
        )
        message = {
            "role": "user",
            "content": f"{opening} The summary below covers it.\n\n{self.script.summary}",
        }
        self._line("user", message=message, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        self._said = len(self.script.summary)
        for name in self.script.attach:
            text = filler(name, 40)
            file = {
                "filePath": self.path(name),
                "content": text,
                "numLines": 40,
                "startLine": 1,
                "totalLines": 40,
            }
            attachment = {
                "type": "file",
                "filename": self.path(name),
                "content": {"type": "text", "file": file},
            }
            asked = f'Called the Read tool with the following input: {{"file_path":"{self.path(name)}"}}'
            rendered = [
                {"content": asked},
                {"content": f"Result of calling the Read tool:\n{text}"},
            ]
            self.say(text)
            self._line(
                "attachment", attachment={**attachment, "displayPath": name}, rendered=rendered
            )


class Codex(Writer):
    """Codex: it reads files with ``sed`` and edits them with patches."""

    client = "codex"

    def call(self, step: Step) -> tuple[str, dict[str, Any], str]:
        if step.kind == "read":
            return "Bash", {"command": f"sed -n '1,240p' {step.text}"}, step.answer
        if step.kind == "write":
            body = "\n".join(f"+{line}" for line in step.answer.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {step.text}\n{body}\n*** End Patch"
            return (
                "apply_patch",
                {"command": patch},
                f"Success. Updated the following files:\nA {step.text}",
            )
        if step.kind == "edit":
            patch = (
                f"*** Begin Patch\n*** Update File: {step.text}\n@@\n-a = 1\n+a = 2\n*** End Patch"
            )
            return (
                "apply_patch",
                {"command": patch},
                f"Success. Updated the following files:\nM {step.text}",
            )
        return (
            "Bash",
            {"command": step.text},
            found(step) if step.text.startswith("rg ") else step.answer,
        )

    def _line(self, type: str, /, **payload: Any) -> None:
        self.line(
            {"timestamp": self.stamp(), "ordinal": self._count, "type": type, "payload": payload}
        )

    def begin(self) -> None:
        about = {
            "id": self.script.session,
            "session_id": self.script.session,
            "cli_version": "0.166.0",
        }
        self._line(
            "session_meta", **about, cwd=str(self.project), source="cli", originator="codex_cli_rs"
        )
        self._line(
            "turn_context",
            turn_id="t",
            cwd=str(self.project),
            model="gpt-5.5-codex",
            approval_policy="never",
        )

    def _message(self, role: str, text: str) -> dict[str, Any]:
        part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
        return {"type": "message", "role": role, "id": f"msg_{self._count}", "content": [part]}

    def _usage(self, output: int) -> None:
        usage = {
            "input_tokens": self.tokens,
            "cached_input_tokens": self.tokens - 900,
            "output_tokens": output,
        }
        usage["total_tokens"] = self.tokens + output
        self._line(
            "token_usage_record",
            thread_id=self.script.session,
            response_id=f"resp_{self._count}",
            usage=usage,
        )
        self._said += int(output * BYTES_PER_TOKEN)

    def write(self, step: Step, tool: str, given: dict[str, Any], answer: str) -> None:
        if step.kind in ("you", "say"):
            message = self._message("user" if step.kind == "you" else "assistant", step.text)
            if step.kind == "you":
                self.say(step.text)
            self._line("response_item", **message)
            if step.kind == "say":
                self._usage(len(step.text) // 4)
            return
        id = f"call_{self._count}"
        if tool == "apply_patch":
            call = {
                "type": "custom_tool_call",
                "name": "apply_patch",
                "input": given["command"],
                "call_id": id,
            }
            answered = {"type": "custom_tool_call_output", "call_id": id, "output": answer}
        else:
            text = json.dumps({"cmd": given["command"]})
            call = {
                "type": "function_call",
                "name": "exec_command",
                "arguments": text,
                "call_id": id,
            }
            head = f"Chunk ID: 5a5a23\nWall time: 0.1 seconds\nProcess exited with code {int(step.failed)}\nOutput:\n"
            answered = {"type": "function_call_output", "call_id": id, "output": head + answer}
        self._line("response_item", **call)
        self._usage(len(json.dumps(call)) // 4)
        self.say(answer)
        self._line("response_item", **answered)

    def compact(self) -> None:
        typed = [
            self._message("user", step.text) for step in self.script.before if step.kind == "you"
        ]
        opening = "Another language model started to solve this problem and produced a summary of its thinking process."
        summary = self._message("user", f"{opening}\n{self.script.summary}")
        kinds = {"content_item_kinds": ["compaction.summary"]}
        summary["internal_chat_message_metadata_passthrough"] = kinds
        left = [*typed, summary]
        self._line(
            "compacted", message=f"{opening}\n{self.script.summary}", replacement_history=left
        )
        self._said = len(json.dumps(left))


class Gemini(Writer):
    """Gemini CLI."""

    client = "gemini"

    def call(self, step: Step) -> tuple[str, dict[str, Any], str]:
        tool = GEMINI_TOOLS.get(step.kind, "run_shell_command")
        if step.kind in ("read", "write"):
            given = {"file_path": self.path(step.text)}
            return (
                tool,
                given | ({"content": step.answer} if step.kind == "write" else {}),
                step.answer,
            )
        if step.kind == "edit":
            return (
                tool,
                {"file_path": self.path(step.text), "old_string": "a", "new_string": "b"},
                "Modified the file.",
            )
        if step.kind == "grep":
            return tool, {"pattern": step.text}, found(step)
        return tool, {"command": step.text, "description": "Run it"}, f"Output: {step.answer}"

    def begin(self) -> None:
        self.line(
            {
                "sessionId": self.script.session,
                "projectHash": "0" * 64,
                "startTime": self.stamp(),
                "kind": "main",
            }
        )

    def _message(self, type: str, content: Any, **fields: Any) -> dict[str, Any]:
        about = {"id": f"m-{self._count}", "timestamp": self.stamp(), "type": type}
        return {**about, "content": content, **fields}

    def write(self, step: Step, tool: str, given: dict[str, Any], answer: str) -> None:
        if step.kind == "you":
            self.say(step.text)
            self.line(self._message("user", [{"text": step.text}]))
            return
        sizes = {
            "input": self.tokens,
            "output": 40,
            "cached": self.tokens - 900,
            "thoughts": 0,
            "tool": 0,
        }
        about: dict[str, Any] = {
            "tokens": {**sizes, "total": self.tokens + 40},
            "model": "gemini-2.5-pro",
        }
        self._said += int(40 * BYTES_PER_TOKEN)
        if step.kind == "say":
            self.line(self._message("gemini", step.text, **about))
            return
        response = {"error": answer} if step.failed else {"output": answer}
        call: dict[str, Any] = {
            "id": f"c-{self._count}",
            "name": tool,
            "args": given,
            "status": "error" if step.failed else "success",
        }
        call["result"] = [{"functionResponse": {"name": tool, "response": response}}]
        self.say(answer)
        self.line(self._message("gemini", "", **about, toolCalls=[call]))

    def compact(self) -> None:
        left = [
            self._message("user", [{"text": self.script.summary}]),
            self._message("gemini", "Got it."),
        ]
        for step in self.script.before[-self.script.keep :] if self.script.keep else ():
            tool, given, answer = self.call(step) if step.is_call else ("", {}, step.text)
            response = [{"functionResponse": {"name": tool, "response": {"output": answer}}}]
            call = {
                "id": f"k-{self._count}",
                "name": tool,
                "args": given,
                "status": "success",
                "result": response,
            }
            left.append(self._message("gemini", "", toolCalls=[call]))
        self.line({"$set": {"messages": left, "lastUpdated": self.stamp()}})
        self._said = len(json.dumps(left))


WRITERS: dict[str, type[Writer]] = {"claude": Claude, "codex": Codex, "gemini": Gemini}


Call = tuple[str, dict[str, Any], str]
"""A tool, what it is given, and what it answers."""


def play(
    script: Script, transcript: Path, project: Path
) -> Iterator[tuple[Writer, Step | None, Call]]:
    """Write *script* step by step, each after it was yielded; where it is compacted, the caller
    does that."""
    writer = WRITERS[script.client](script, transcript, project)
    writer.begin()
    for step in [*script.before, None, *script.after]:
        call = writer.call(step) if step is not None and step.is_call else ("", {}, "")
        yield writer, step, call
        if step is not None:
            writer.write(step, *call)


def write_all(script: Script, transcript: Path, project: Path) -> None:
    """Write the whole session of *script* to the file *transcript*."""
    for writer, step, _ in play(script, transcript, project):
        if step is None:
            writer.compact()
