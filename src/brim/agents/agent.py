"""What brim knows about one agent: an ``Agent`` is a value, and hooks load only the one they need.

Facts are fields. What an agent sends in its own way, a function in its ``value.py`` reads; an agent
that is answered in its own way has a subclass of ``Answers``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from brim.agents.call import BEFORE_COMPACT, BEFORE_TOOL, PROMPT, Answer, HookCall, Tools
from brim.agents.fields import first_text, json_file, mapping, text, value
from brim.config.places import home_folder
from brim.files import data_lines
from brim.record import PlainData


@dataclass(frozen=True)
class AgentEvent(PlainData):
    """One event of an agent, and how ``brim init`` asks to be called for it."""

    event: str
    """What it means: one of ``call.EVENTS``."""
    matcher: str | None = None
    """The matcher in the settings file, None if it has none there."""
    timeout: int = 5
    """Seconds after which the agent need not wait any longer; brim itself ends after one."""
    injects: bool = False
    """Whether it is installed with ``--hooks injection-only`` too."""


@dataclass(frozen=True)
class Answers(PlainData):
    """What an agent takes as an answer. The format is Claude Code's, which others read too."""

    text_at: tuple[str, ...]
    """The events at which a text reaches the model."""
    chars: int = 9_000
    """Characters of a text for the model."""
    texts: int = 1
    """Texts of that length that one answer may hold."""
    instruction_chars: int = 0
    """Characters for the summarizer before a compaction; 0 if it hears nothing."""
    refusals: Mapping[str, str] | None = None
    """The word of a decision about a whole event; None is ``block`` for a prompt, a compaction or
    an end."""
    shows_refusals: bool = True
    """Whether a person sees why a prompt was refused; if not, it's a note too."""
    ends_turns: bool = True
    """Whether an answer can end the turn."""
    stops_compactions: bool = False
    """Whether a compaction is refused like the end of a turn: no decision is read there."""
    no_note_at: tuple[str, ...] = ()
    """The events at which a note for the person makes the answer invalid."""

    def chars_at(self, event: str) -> int:
        """Return how long a text may be at *event*; 0 if none reaches the model there."""
        if event == BEFORE_COMPACT:
            return self.instruction_chars
        return self.chars if event in self.text_at else 0

    def refusal(self, event: str) -> str:
        """Return the word that refuses *event* as a whole; empty if there is none."""
        if self.refusals is None:
            return "block" if event in ("prompt", "stop", "before_compact") else ""
        return self.refusals.get(event, "")

    def word(self, call: HookCall, answer: Answer) -> str:
        """Return *answer* in the agent's format; empty for nothing."""
        if call.event == BEFORE_COMPACT and self.instruction_chars and not answer.deny:
            return self._instructions(call, answer)
        worded = self._decision(call, answer)
        stop_reason = self._stop_reason(call, answer)
        if stop_reason:
            worded["continue"] = False
            worded["stopReason"] = stop_reason
        note = self._note(call, answer)
        if note:
            worded["systemMessage"] = note
        specific = self._specific(call, answer)
        if specific:
            worded["hookSpecificOutput"] = {"hookEventName": call.name, **specific}
        if not worded:
            return ""
        return json.dumps(worded)

    def _note(self, call: HookCall, answer: Answer) -> str:
        """Return what the person is told: where no other place shows it, also a refusal."""
        if call.event in self.no_note_at:
            return ""
        if call.event != PROMPT or self.shows_refusals:
            return answer.note
        return "\n".join(filter(None, [answer.deny, answer.note]))

    def _decision(self, call: HookCall, answer: Answer) -> dict[str, Any]:
        """Return the decision about the whole event, if *answer* refuses it."""
        refusal = self.refusal(call.event)
        if not answer.deny or not refusal:
            return {}
        return {"decision": refusal, "reason": cut(answer.deny, self.chars)}

    def _stop_reason(self, call: HookCall, answer: Answer) -> str:
        """Return why the agent doesn't go on; empty if it does."""
        if call.event == BEFORE_COMPACT and self.stops_compactions:
            return answer.deny
        if self.ends_turns:
            return answer.stop_reason
        return ""

    def _specific(self, call: HookCall, answer: Answer) -> dict[str, Any]:
        """Return what is said about this event alone: a text for the model, a call's refusal."""
        specific: dict[str, Any] = {}
        if answer.text and call.event in self.text_at:
            specific["additionalContext"] = cut(answer.text, self.texts * self.chars)
        if answer.deny and call.event == BEFORE_TOOL and not self.refusal(call.event):
            specific["permissionDecision"] = "deny"
            specific["permissionDecisionReason"] = cut(answer.deny, self.chars)
        return specific

    def _instructions(self, _: HookCall, answer: Answer) -> str:
        """Return the instructions as they are: what is printed goes to the summarizer."""
        written = cut(answer.instructions, self.instruction_chars)
        if written.lstrip().startswith(("{", "[")):  # it would be read as an answer in JSON
            return f"Keep in the summary:\n{written}"
        return written


@dataclass(frozen=True)
class Places(PlainData):
    """Where an agent keeps its files. Paths have slashes."""

    variable: str
    """The variable that names its folder."""
    folder: str
    """That folder, below the home."""
    hooks: str
    """The file with its hooks, below its folder."""
    project_hooks: str
    """The file in a project that is meant for this machine alone."""
    inner: str = ""
    """The folder below the one that ``variable`` names, if its files are there."""
    in_config: bool = False
    """Whether its folder moves with ``XDG_CONFIG_HOME``."""
    plugins: str = ""
    """A part of every path of a plugin."""

    def home(self, environ: Mapping[str, str]) -> str:
        """Return the folder in which the agent keeps its user's files."""
        named = environ.get(self.variable)
        if not named:
            named = os.path.join(home_folder(environ), *self.folder.split("/"))
            config = environ.get("XDG_CONFIG_HOME")
            if self.in_config and config:
                named = os.path.join(config, os.path.basename(self.folder))
        return os.path.abspath(os.path.join(named, self.inner))

    def user_file(self, environ: Mapping[str, str]) -> str:
        """Return the file with the hooks for every project."""
        return os.path.join(self.home(environ), *self.hooks.split("/"))

    def project_file(self, project: str) -> str:
        """Return the file in *project* with the hooks for this machine alone."""
        return os.path.join(project, *self.project_hooks.split("/"))


def named_context_files(
    places: Places, environ: Mapping[str, str], project: str
) -> tuple[str, ...]:
    """Return what the settings of the user and of *project* (empty for none) call files of rules:
    ``context.fileName``, a name or a list."""
    paths = [places.user_file(environ)]
    if project:
        paths.append(places.project_file(project))
    names: list[object] = []
    for path in paths:
        setting = value(json_file(path), "context", "fileName")
        names += setting if isinstance(setting, list) else [setting]
    return tuple([name for name in names if isinstance(name, str)])


def opens_as_typed(written: str, module_file: str) -> bool:
    """Whether a person typed *written*, the text of a prompt: it doesn't begin as a text of the
    client does, by ``openings.txt`` in ``data`` next to the module."""
    opening = written.lstrip()[:200].lower()
    return bool(opening) and not opening.startswith(data_lines(module_file, "openings.txt"))


def failed_command(output: str, code: int | None) -> dict[str, Any]:
    """Return the fields of a call that failed, in the words of other agents."""
    error = output or "failed"
    if code:
        error = f"Exit code {code}\n{output}"
    return {"output": output, "error": error}


@dataclass(frozen=True)
class Transcripts(PlainData):
    """How an agent writes down its sessions."""

    format: str
    """The format of a session's file."""
    readers: Mapping[str, str]
    """The class in its ``transcript.py`` that reads each format of the agent."""
    needles: tuple[bytes, ...]
    """A line without any of these reports no tokens, so hooks don't parse it."""
    loose: tuple[str, ...] = ()
    """Formats that look like others: they are recognized only if no other format is."""
    resumes: bool = False
    """Whether a line means the same without those before it, so that a hook reads on."""
    has_subagent_files: bool = False
    """Whether each sub-agent has a file, next to the session's."""
    repeats_prompts: bool = False
    """Whether a prompt is in two lines, each with an id of its own."""
    usage_signs: tuple[bytes, ...] = ()
    """What the lines that the index needs hold, one of these, if the file grows line by line."""
    has_usage_reader: bool = False
    """Whether such lines are read faster by a reader of their own, in ``usage.py``."""
    has_texts: bool = True
    """Whether it has what was said and done, and not only what it took."""
    compaction_sign: bytes = b""
    """What is in every file with a compaction, and rarely in another; empty if no file says it."""
    writes_answers_late: bool = False
    """Whether the end of a turn is reported before its last answer is written."""


Environ = Mapping[str, str]


def same_kinds(_: Environ, __: str, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """Return *kinds*: the agent has no setting about such files."""
    return kinds


@dataclass(frozen=True)
class NativeFiles(PlainData):
    """The files with rules that an agent loads."""

    kinds: tuple[str, ...] = ()
    """Their names, and folders that hold them."""
    hidden_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a file that isn't always loaded, those in the same folder that keep the agent from it."""
    largest: int | None = None
    """Bytes of a file of which it loads all. It cuts off what is longer."""
    follows_work: bool = True
    """Whether it loads the files of a folder once it works there. Otherwise it loads those of the
    working folder and the folders above."""
    users_of: tuple[str, ...] = ()
    """The agents whose file in the user's home it loads, by their names: the first that is
    there."""
    kinds_by_settings: Callable[[Environ, str, tuple[str, ...]], tuple[str, ...]] = same_kinds
    """Returns the kinds that its settings leave and add in a project."""


@dataclass(frozen=True)
class FileLoading(PlainData):
    """What an agent loads that works in the folder *cwd* of *project*."""

    facts: NativeFiles
    environ: Environ
    project: str
    cwd: str

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of files that it loads here."""
        return self.facts.kinds_by_settings(self.environ, self.project, self.facts.kinds)

    def loads(self, path: str, kind: str, folder: str) -> bool:
        """Whether the agent loads the file *path* of this *kind*, which applies in *folder* of the
        project."""
        if kind not in self.kinds or self._is_hidden(path, kind):
            return False
        if folder and not self.facts.follows_work and not self._is_above(folder):
            return False
        return self.facts.largest is None or _size(path) <= self.facts.largest

    def _is_hidden(self, path: str, kind: str) -> bool:
        """Whether a file beside *path* keeps the agent from it."""
        names = self.facts.hidden_by.get(kind, ())
        return any(os.path.isfile(os.path.join(os.path.dirname(path), name)) for name in names)

    def _is_above(self, folder: str) -> bool:
        """Whether the working folder is *folder* or below it."""
        above = os.path.realpath(os.path.join(self.project, folder))
        return os.path.join(os.path.realpath(self.cwd), "").startswith(os.path.join(above, ""))


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


@dataclass(frozen=True)
class WindowSeen(PlainData):
    """What a line of a transcript says about the window."""

    tokens: int | None = None
    """Tokens of the last prompt; 0 if they aren't known any more, None if it says nothing."""
    model: str = ""
    window: int = 0


def nothing_more(_: str, __: Mapping[str, Any]) -> dict[str, Any]:
    """Return no more fields: the agent sends nothing in a way of its own."""
    return {}


def read_by_event(
    readers: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]],
) -> Callable[[str, Mapping[str, Any]], dict[str, Any]]:
    """Return what reads an event with its own one of *readers*; nothing more if it has none."""

    def read(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
        reader = readers.get(event)
        if reader is None:
            return {}
        return reader(data)

    return read


def no_window(_: bytes) -> WindowSeen | None:
    """Return None: the agent's files don't say how full the window is."""
    return None


def no_project_folders(_: Mapping[str, str], __: tuple[str, ...]) -> set[str]:
    """Return nothing: the agent doesn't keep its sessions by project."""
    return set()


def no_transcript(_: Mapping[str, str], __: str) -> str:
    """Return an empty text: the agent itself says where it writes a session down."""
    return ""


def any_file(_: Sequence[str]) -> str | None:
    """Return an empty text: every file is a session's, and none says its project."""
    return ""


def name_of_file(path: str) -> str:
    """Return the session that the name of the file *path* says."""
    return os.path.basename(path).removesuffix(".jsonl")


def subagent_files(path: str) -> list[tuple[str, str]]:
    """Return id and path of each sub-agent's file that Claude Code keeps next to the session's file
    *path*."""
    if not path.endswith(".jsonl"):
        return []
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    files = [(subagent_of(name), os.path.join(folder, name)) for name in names]
    return [(agent, file) for agent, file in files if agent]


def subagent_of(path: str) -> str:
    """Return the id of the sub-agent whose file *path* is, empty if it is another file.

    >>> subagent_of("subagents/agent-a4f00973.jsonl")
    'a4f00973'
    """
    name = os.path.basename(path)
    if not name.startswith("agent-") or not name.endswith(".jsonl"):
        return ""
    return name.removeprefix("agent-").removesuffix(".jsonl")


@dataclass(frozen=True)
class Agent(PlainData):
    """An agent: what it sends, what it takes as an answer, its tools and its files."""

    name: str
    title: str
    """What people call it."""
    events: Mapping[str, AgentEvent]
    """The events that brim answers, by the agent's own names."""
    answers: Answers
    tools: Tools
    places: Places
    transcripts: Transcripts
    native_files: NativeFiles
    model: str
    """A usual model, for tokens that are counted before a model is known."""
    also_reports: tuple[str, ...] = ()
    """What it tells brim under the name of another event."""
    counting_model: str = ""
    """The model that hooks count for until the agent names its own: the one with the most tokens,
    to be safe."""
    session_variable: str = ""
    """The environment variable with the session's id, for messages that lack it."""
    thread_variables: tuple[str, ...] = ()
    """Other variables in which what the agent starts may find the session."""
    signs: tuple[str, ...] = ()
    """Variables that it sets for the commands it runs."""
    sign_prefixes: tuple[str, ...] = ()
    """How the names of all such variables begin."""
    compact_command: str = "/compact"
    """What a person types to compact the window."""
    compacts_by_settings: bool = False
    """Whether its settings say where it compacts on its own."""
    reports_compactions: bool = True
    """Whether it says when it has compacted. If not, brim infers it from a window that shrank."""
    announces_compactions: bool = False
    """Whether it says only that it will compact: no event follows when it has. What is told after
    a compaction is told with the next prompt or call."""
    read_own: Callable[[str, Mapping[str, Any]], dict[str, Any]] = nothing_more
    """Reads what the agent sends in its own way at an event: fields of a ``HookCall``."""
    window_in: Callable[[bytes], WindowSeen | None] = no_window
    """Reads what a line of a transcript says about the window."""
    session_folders: Callable[[Mapping[str, str]], list[str]] | None = None
    """Names the folders with the files of sessions, whether they exist or not; None if the agent
    keeps no such files."""
    session_slug: Callable[[Sequence[str]], str | None] = any_file
    """Reads from the parts of a path below such a folder how the agent calls the project; empty if
    it doesn't say, None if the file isn't a session's."""
    project_folders: Callable[[Mapping[str, str], tuple[str, ...]], set[str]] = no_project_folders
    """Names the folders in which the agent keeps the sessions of some projects."""
    session_in: Callable[[str], str] = name_of_file
    """Reads whose session a file is."""
    transcript_of: Callable[[Mapping[str, str], str], str] = no_transcript
    """Names the file of a session, for events that don't."""

    def read(
        self, name: str, data: Mapping[str, Any], environ: Mapping[str, str]
    ) -> HookCall | None:
        """Return what happened at the event *name*; None if brim doesn't know it."""
        event = self.events.get(name)
        if event is None:
            return None
        fields: dict[str, Any] = {
            "event": event.event,
            "session": text(data, "session_id") or environ.get(self.session_variable, ""),
            "sub_agent": text(data, "agent_id"),
            "cwd": _path(data, "cwd"),
            "transcript": _path(data, "transcript_path"),
            "model": text(data, "model"),
            "source": text(data, "source"),
            "trigger": text(data, "trigger"),
            "error": text(data, "error"),
            "summary": text(data, "compact_summary"),
            "interrupted": data.get("is_interrupt") is True,
            "turn": text(data, "prompt_id") or text(data, "turn_id"),
            "last_answer": text(data, "last_assistant_message"),
            "was_kept_going": bool(data.get("stop_hook_active")),
            "sub_agent_transcript": text(data, "agent_transcript_path"),
        }
        if isinstance(data.get("tool_name"), str):
            fields["tool"] = self._tool_call(data, fields["session"], fields["sub_agent"])
        fields.update(self.read_own(event.event, data))
        if not fields["transcript"]:
            fields["transcript"] = self.transcript_of(environ, fields["session"])
        return HookCall(agent=self, name=name, data=data, **fields)

    def _tool_call(self, data: Mapping[str, Any], session: str, sub_agent: str) -> Any:
        return self.tools.call(
            text(data, "tool_name"),
            mapping(data, "tool_input"),
            id=first_text(data, "tool_call_id", "tool_use_id"),  # the first is the model's
            session=session,
            agent=sub_agent,
        )

    def reader_class(self, format: str) -> Any:
        """Return the class that reads one of its formats."""
        name = self.transcripts.readers[format]
        module = __import__(f"brim.agents.{self.name}.transcript", fromlist=[name])
        return getattr(module, name)

    def word(self, call: HookCall, answer: Answer) -> str:
        """Return *answer* in the agent's format; empty for nothing."""
        return self.answers.word(call, answer)

    def hears_at(self, event: str) -> bool:
        """Whether a text reaches the model at *event*."""
        return event in self.answers.text_at

    def file_loading(self, environ: Mapping[str, str], project: str, cwd: str) -> FileLoading:
        """Return what it loads by itself when it works in the folder *cwd* of *project*."""
        return FileLoading(self.native_files, environ, project, cwd)

    def reports(self, event: str) -> bool:
        """Whether the agent says when *event* happens."""
        if event in self.also_reports:
            return True
        return any(reported.event == event for reported in self.events.values())


def cut(written: str, chars: int) -> str:
    """Return *written* in at most so many characters, whole lines if possible."""
    if len(written) <= chars:
        return written
    head = written[:chars]
    return head[: head.rfind("\n") + 1] or head


def _path(data: Mapping[str, Any], key: str) -> str:
    path = text(data, key)
    return "" if "\0" in path else path
