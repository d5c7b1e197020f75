"""The real programs: how each is started without a terminal, and what its tools are called."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.e2e.programs import FOLDER
from tests.e2e.script import Asked, Call, Part
from tests.e2e.world import Ran, World
from tests.hooks.hook_world import patient

OPUS = "claude-opus-5-5"
QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


COPILOT_CACHE = FOLDER / "cache"
_COPILOT_TOLD = re.compile(
    r"<system_reminder>\n(?P<prompt>.*?)\n</system_reminder>"
    r"|Additional (?:context|guidance) from (?P<event>\w+) hooks?:\n(?P<call>.*)"
    r"|\A(?P<start>(?:Rules your user set|- |## ).*)",
    re.DOTALL,
)


_QWEN_TOLD = re.compile(
    r"<qwen:(?P<event>[\w-]+)-context[^>]*>\n(?:SessionStart additional context:\n)?(?P<text>.*?)</qwen:[\w-]+-context>",
    re.DOTALL,
)


class Told(NamedTuple):
    """One text that a hook told the model."""

    event: str
    """The client's name of the event, if it says so to the model."""
    text: str
    part: Part


class Agent:
    """One of the programs, in a world of its own."""

    name: str
    role: str
    """The role of the message in which a hook's text reaches the model."""
    model: str
    start_role = ""
    """That of a text of a session's start, if it is another."""
    going_on: tuple[str, ...] = ()
    """The options that go on with the last session."""

    def __init__(self, program: str, world: World) -> None:
        self.program = program
        self.world = world

    def ask(self, prompt: str, *options: str) -> Ran:
        """Give the program one prompt, and wait for its last word."""
        return self.world.run([*self.command(prompt), *options], environ=self.environ())

    def ask_again(self, prompt: str, *options: str) -> Ran:
        """Go on with the last session."""
        return self.ask(prompt, *self.going_on, *options)

    def command(self, prompt: str) -> list[str]:
        """Return what is typed to start it with *prompt*."""
        raise NotImplementedError

    def environ(self) -> Mapping[str, str]:
        """Return the variables that point it at the API and at its own settings."""
        raise NotImplementedError

    def shell(self, command: str, **said: int) -> Call:
        """Return the model's call of the tool that runs a command."""
        raise NotImplementedError

    def write(self, path: Path, content: str, **said: int) -> Call:
        """Return the model's call of the tool that writes a file; a shell can do it too."""
        return self.shell(f"mkdir -p {path.parent} && printf %s '{content}' > {path}", **said)

    def told(self, asked: Asked) -> list[Told]:
        """Return what hooks told the model, in the order in which it reads."""
        raise NotImplementedError

    def install(self, *options: str) -> Ran:
        """Install brim into this program."""
        ran = self.world.brim("init", "--agent", self.name, *options, environ=self.environ())
        self.wait_for_hooks()
        return ran

    def wait_for_hooks(self) -> None:
        """Give the hooks more time than any machine needs."""
        patient(str(self.launcher))

    @property
    def launcher(self) -> Path:
        """The script that runs the hooks."""
        return self.world.home / ".brim" / "bin" / "hook"

    def edit_launcher(self, pattern: str, instead: str) -> None:
        """Change what the launcher of the hooks runs."""
        text, changed = re.subn(pattern, instead, self.launcher.read_text())
        assert changed >= 1, text
        self.launcher.write_text(text)


class Claude(Agent):
    """Claude Code, from the wheel of its SDK."""

    name = "claude"
    role = "system"
    model = OPUS
    going_on = ("--continue",)

    def command(self, prompt: str) -> list[str]:
        allowed = ("--allowedTools", "Bash", "Write", "Edit", "Read")
        return [
            self.program,
            "-p",
            prompt,
            "--output-format",
            "stream-json",
            "--verbose",
            "--model",
            self.model,
            *allowed,
        ]

    def environ(self) -> Mapping[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.world.api.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CONFIG_DIR": str(self.world.home / ".claude"),
            **QUIET,
        }

    def shell(self, command: str, **said: int) -> Call:
        return Call("Bash", {"command": command, "description": "a command"}, **said)

    def write(self, path: Path, content: str, **said: int) -> Call:
        return Call("Write", {"file_path": str(path), "content": content}, **said)

    def told(self, asked: Asked) -> list[Told]:
        # Other texts of the same message follow after a blank line; brim writes none.
        said = re.compile(r"(\w+)(?::\w+)? hook additional context: (.*?)(?=\n\n|\Z)", re.DOTALL)
        return [
            Told(event, text, part)
            for part in asked.parts
            if part.kind == "text"
            for event, text in said.findall(part.text)
        ]


class Codex(Agent):
    """Codex, from npm. Its hooks are trusted by a flag: the question is asked in its terminal
    only."""

    name = "codex"
    role = "developer"
    model = "gpt-5.5"

    def __init__(self, program: str, world: World) -> None:
        super().__init__(program, world)
        self.folder = world.home / ".codex"
        self.configure()

    def configure(self, *lines: str) -> None:
        """Write its settings: a provider that is the API, no sandbox, no questions, and *lines*."""
        self.folder.mkdir(exist_ok=True)
        settings = [
            f'model = "{self.model}"',
            'model_provider = "here"',
            'approval_policy = "never"',
            'sandbox_mode = "danger-full-access"',
            "check_for_update_on_startup = false",
            *lines,
            "[analytics]",
            "enabled = false",
            "[model_providers.here]",
            'name = "here"',
            f'base_url = "{self.world.api.url}/v1"',
            'env_key = "E2E_KEY"',
            'wire_api = "responses"',
            f'[projects."{self.world.project}"]',  # else it reads no hooks of a project
            'trust_level = "trusted"',
        ]
        (self.folder / "config.toml").write_text("\n".join(settings) + "\n", encoding="utf-8")

    def command(self, prompt: str) -> list[str]:
        return [self.program, "exec", "--json", "--dangerously-bypass-hook-trust", prompt]

    def ask_again(self, prompt: str, *options: str) -> Ran:
        *begin, _ = self.command(prompt)
        return self.world.run(
            [*begin, "resume", "--last", prompt, *options], environ=self.environ()
        )

    def environ(self) -> Mapping[str, str]:
        return {"CODEX_HOME": str(self.folder), "E2E_KEY": "dummy"}

    def shell(self, command: str, **said: int) -> Call:
        return Call("exec_command", {"cmd": command}, **said)

    def patch(self, path: str, content: str) -> Call:
        """Return the model's call of the tool that edits files: it writes a new one, in the
        project."""
        return Call(
            "apply_patch",
            {"patch": f"*** Begin Patch\n*** Add File: {path}\n+{content}\n*** End Patch"},
        )

    def compact_at(self, tokens: int) -> None:
        """Let it compact at so many tokens."""
        self.configure(f"model_auto_compact_token_limit = {tokens}")

    def told(self, asked: Asked) -> list[Told]:
        # The first two messages, whatever parts they have, are its own.
        return [
            Told("", part.text, part)
            for part in asked.parts
            if part.role == "developer" and part.place > 1
        ]


class Gemini(Agent):
    """Gemini CLI, from npm."""

    name = "gemini"
    role = "user"
    model = "gemini-2.5-flash"
    going_on = ("--resume", "latest")

    def __init__(self, program: str, world: World) -> None:
        super().__init__(program, world)
        folder = world.home / ".gemini"
        folder.mkdir()
        quiet = {
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True},
            "security": {"auth": {"selectedType": "gemini-api-key"}},
        }
        (folder / "settings.json").write_text(json.dumps(quiet, indent=2) + "\n", encoding="utf-8")

    def command(self, prompt: str) -> list[str]:
        return [
            self.program,
            "-p",
            prompt,
            "--yolo",
            "--model",
            self.model,
            "--output-format",
            "stream-json",
        ]

    def environ(self) -> Mapping[str, str]:
        return {
            "GEMINI_API_KEY": "dummy",
            "GOOGLE_GEMINI_BASE_URL": self.world.api.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",  # as two processes it takes twice the memory
        }

    def shell(self, command: str, **said: int) -> Call:
        return Call("run_shell_command", {"command": command, "description": "a command"}, **said)

    def write(self, path: Path, content: str, **said: int) -> Call:
        return Call("write_file", {"file_path": str(path), "content": content}, **said)

    def told(self, asked: Asked) -> list[Told]:
        said = re.compile(r"<hook_context>(.*?)</hook_context>", re.DOTALL)
        return [
            Told("", text.replace("\\n", "\n"), part)
            for part in asked.parts
            for text in said.findall(part.text)
        ]


class Opencode(Agent):
    """opencode, from npm."""

    name = "opencode"
    role = "user"
    model = "claude-sonnet-4-5"
    going_on = ("--continue",)

    def __init__(self, program: str, world: World) -> None:
        super().__init__(program, world)
        folder = world.home / ".config" / "opencode"
        folder.mkdir(parents=True)
        settings = {
            "model": f"anthropic/{self.model}",
            "provider": {
                "anthropic": {"options": {"baseURL": f"{world.api.url}/v1", "apiKey": "dummy"}}
            },
            "permission": {"bash": "allow", "edit": "allow", "external_directory": "allow"},
            "autoupdate": False,
            "share": "disabled",
        }
        (folder / "opencode.json").write_text(json.dumps(settings), encoding="utf-8")

    def command(self, prompt: str) -> list[str]:
        return [self.program, "run", "--format", "json", prompt]

    def environ(self) -> Mapping[str, str]:
        quiet = ("MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD")
        return {"ANTHROPIC_API_KEY": "dummy", "BUN_JSC_forceRAMSize": "268435456"} | {
            f"OPENCODE_DISABLE_{name}": "1" for name in quiet
        }

    def shell(self, command: str, **said: int) -> Call:
        return Call("bash", {"command": command, "description": "a command"}, **said)

    def write(self, path: Path, content: str, **said: int) -> Call:
        return Call("write", {"filePath": str(path), "content": content}, **said)


class Copilot(Agent):
    """GitHub Copilot CLI, from npm, with the API as a provider of the person's own."""

    name = "copilot"
    role = "user"
    model = "claude-sonnet-4.6"
    going_on = ("--continue",)

    def __init__(self, program: str, world: World) -> None:
        super().__init__(program, world)
        self.most_tokens = ""
        """Tokens of a prompt at which it compacts; empty for those of its model."""

    def command(self, prompt: str) -> list[str]:
        allowed = ("--allow-all-tools", "--allow-all-paths")
        return [self.program, "-p", prompt, *allowed, "--output-format", "json"]

    def environ(self) -> Mapping[str, str]:
        variables = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_HOME": str(self.world.home / ".copilot"),
            "COPILOT_MODEL": self.model,
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_BASE_URL": self.world.api.url,
            # It unpacks itself there when it starts first: 235 MB that every test can share.
            "XDG_CACHE_HOME": str(COPILOT_CACHE),
        }
        if self.most_tokens:
            variables["COPILOT_PROVIDER_MAX_PROMPT_TOKENS"] = self.most_tokens
        return variables

    def shell(self, command: str, **said: int) -> Call:
        return Call("bash", {"command": command, "description": "a command"}, **said)

    def task(self, prompt: str) -> Call:
        """Return the model's call of the tool that starts a sub-agent."""
        about = {"name": "sub", "description": "a task", "agent_type": "general-purpose"}
        return Call("task", {**about, "prompt": prompt, "mode": "sync"})

    def write(self, path: Path, content: str, **said: int) -> Call:
        path.parent.mkdir(parents=True, exist_ok=True)  # it writes no file into a new folder
        return Call("create", {"path": str(path), "file_text": content}, **said)

    def told(self, asked: Asked) -> list[Told]:
        return [
            Told(found["event"] or "", found["prompt"] or found["call"] or found["start"], part)
            for part in asked.parts
            if part.place >= 0
            for found in _COPILOT_TOLD.finditer(part.text)
        ]


class Qwen(Agent):
    """Qwen Code, from npm, with the API as an OpenAI-compatible provider."""

    name = "qwen"
    role = "user"
    start_role = "system"
    model = "gpt-4.1"  # its price is known
    going_on = ("--continue",)

    def __init__(self, program: str, world: World) -> None:
        super().__init__(program, world)
        self.settings = world.home / ".qwen" / "settings.json"
        self.settings.parent.mkdir()
        self.configure()

    def configure(self, **settings: object) -> None:
        """Write its settings: nothing from the network, and *settings*."""
        quiet = {
            "general": {"enableAutoUpdate": False},
            "telemetry": {"enabled": False},
            "memory": {"enableManagedAutoMemory": False, "enableManagedAutoDream": False},
        }
        text = json.dumps({**quiet, **settings}, indent=2) + "\n"
        self.settings.write_text(text, encoding="utf-8")

    def command(self, prompt: str) -> list[str]:
        return [self.program, "-p", prompt, "--yolo", "--output-format", "stream-json"]

    def environ(self) -> Mapping[str, str]:
        return {
            "OPENAI_API_KEY": "dummy",
            "OPENAI_BASE_URL": f"{self.world.api.url}/v1",
            "OPENAI_MODEL": self.model,
            "QWEN_CODE_NO_RELAUNCH": "true",
        }

    def shell(self, command: str, **said: int) -> Call:
        about = {"description": "a command", "is_background": False}
        return Call("run_shell_command", {"command": command, **about}, **said)

    def write(self, path: Path, content: str, **said: int) -> Call:
        return Call("write_file", {"file_path": str(path), "content": content}, **said)

    def task(self, prompt: str) -> Call:
        """Return the model's call of the tool that starts a sub-agent."""
        about = {"description": "a task", "subagent_type": "general-purpose"}
        return Call("agent", {**about, "prompt": prompt})

    def told(self, asked: Asked) -> list[Told]:
        return [
            Told(found["event"], found["text"].strip(), part)
            for part in asked.parts
            for found in _QWEN_TOLD.finditer(part.text)
        ]


AGENTS: Mapping[str, type[Agent]] = {"claude": Claude, "codex": Codex, "gemini": Gemini}
"""Those that the fixture ``agent`` gives in turn."""

EVERY_AGENT: Mapping[str, type[Agent]] = {
    **AGENTS,
    "opencode": Opencode,
    "copilot": Copilot,
    "qwen": Qwen,
}
