"""What is known around a call of a hook: files, command, project, and for which model tokens are counted."""

from __future__ import annotations

from brim.activation.context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.call import HookCall
    from brim.agents.place import Place

LONGEST = 4_000
"""Characters at either end of a prompt or command that are looked at: a pasted log says nothing about the task."""

MOST_FILES = 20
"""So many files of one call are looked at."""

PATHS = ("file_path", "notebook_path", "absolute_path", "filePath", "path", "paths", "include")
"""Where clients put the files of a call."""

USUAL_MODELS = {"claude": "opus"}
"""For whom tokens are counted while an agent has not said which model it runs: its largest tokens, to be safe."""


def situation(call: HookCall, place: Place) -> Context:
    """Return what *call* and the place say: of a prompt its words, of a pending call its files and its command."""
    from brim.store.project import branch, environment, project_types

    project = place.project
    calling = call.event not in ("session_start", "prompt")
    return Context(
        file=files_of(call) if calling else None,
        environment=environment(place.environ),
        project_type=project_types(project) if project else None,
        branch=branch(project) if project else None,
        prompt=_ends(call.prompt) if call.event == "prompt" and call.human else "",
        command=_ends(command_of(call)) if calling else "",
    )


def model_of(call: HookCall, place: Place) -> str | None:
    """Return the model that the agent runs, as far as anybody has said so; None is no model at all."""
    if call.model:
        return call.model
    if call.session:
        state = place.state(call.session)
        seen, named = state.usage, state.kept("model")
        if seen is not None and seen.model:
            return seen.model
        if isinstance(named, str) and named:
            return named
    configured: str | None = place.config["model"]
    return configured or USUAL_MODELS.get(call.agent)


def files_of(call: HookCall) -> list[str]:
    """Return the files that a call reads or changes. A folder is none, and a pattern of names stands for its files."""
    given = call.input
    if call.tool_kind in ("edit", "write", "shell") and _patch(call):
        from brim.tracking.readers.codex_patch import edits

        return [str(file["file_path"]) for _, file in edits(_patch(call))][:MOST_FILES]
    if call.tool_kind == "shell":
        return []
    found = [each for key in PATHS for each in _texts(given.get(key))]
    if call.tool_kind == "search":
        from brim.behaviors.tasks import language_of

        patterns = [*_texts(given.get("glob")), *(_texts(given.get("pattern")) if "glob" in call.tool.lower() else ())]
        found = [each for each in [*patterns, *found] if language_of(each)]
    return list(dict.fromkeys(found))[:MOST_FILES]


def command_of(call: HookCall) -> str:
    """Return the shell command of a call; empty if it is none, or only applies a patch."""
    if call.tool_kind != "shell" or _patch(call):
        return ""
    from brim.tracking.readers.inputs import command_line

    return command_line(call.input.get("command") or call.input.get("cmd"))


def _patch(call: HookCall) -> str:
    """Return the patch that a call applies: Codex hands one over as a command."""
    for key in ("command", "input", "patch"):
        given = call.input.get(key)
        texts = given if isinstance(given, list) else [given]
        for each in texts:
            if isinstance(each, str) and "*** Begin Patch" in each and (call.tool_kind != "shell" or _applies(texts)):
                return each[each.find("*** Begin Patch") :]
    return ""


def _applies(words: list[object]) -> bool:
    return any(isinstance(word, str) and word.lstrip().startswith(("apply_patch", "applypatch")) for word in words)


def _texts(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [each for each in values[:MOST_FILES] if isinstance(each, str) and 0 < len(each) <= LONGEST]


def _ends(text: str) -> str:
    return text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}\n{text[-LONGEST:]}"
