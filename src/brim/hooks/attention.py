"""What should a person know about the rules and the project? Mistakes, what waits for their
consent, what agents don't use yet.

The person is told once a session, and the status line shows it.
"""

from __future__ import annotations

import os
from contextlib import suppress

from brim.agents.call import Answer, HookCall
from brim.errors import StoreError
from brim.hooks.state import HookWorkspace
from brim.rules.losses import forget_losses, losses
from brim.workspace import without_controls

KEPT = "attention"
"""Kept for a session while there is something that ``brim rules trust`` would ask about."""

SHORT = "something changed: brim rules trust"
"""What the status line says then."""

SHARED = (
    "this project has rules or settings of its own in .brim/, "
    "which agents don't use until you trust it"
)
"""What is said in a clone of a project that shares them."""

FILES = ("rules.toml", "config.yaml")
"""What in ``.brim`` steers agents."""


def project_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return what the human hasn't been told yet in this session."""
    if not call.session:
        return None
    state = workspace.state(call.session)
    texts = _news_of_rules(workspace)
    if workspace.project is not None:
        texts += _news_of_project(workspace, workspace.project)
        _keep_for_status(call, workspace)
    told_texts = [text for text in texts if state.tell_once(text)]
    if not told_texts:
        return None
    _forget_losses(workspace.home, told_texts)
    return Answer(note="\n".join([f"brim: {text}" for text in told_texts]))


def _forget_losses(home: str, told_texts: list[str]) -> None:
    """Don't tell another session which rules the user's file lost."""
    told_losses = [line for line in losses(home) if without_controls(line) in told_texts]
    if told_losses:
        with suppress(OSError, StoreError):
            forget_losses(home, told_losses)


def _news_of_rules(workspace: HookWorkspace) -> list[str]:
    """Return the mistakes in files of rules, and what of them waits, if this hook has read them."""
    if workspace.rules is None or workspace.rules.index is None:
        return []
    return [without_controls(text) for text in workspace.rules.index.news]


def _news_of_project(workspace: HookWorkspace, project: str) -> list[str]:
    texts = []
    memory = workspace.memory_problem
    if memory is not None:
        texts.append(without_controls(str(memory)))
    if _has_untrusted(workspace, project):
        texts.append(f"{SHARED}: 'brim rules trust' shows them")
    if workspace.settings_changed:
        name = without_controls(os.path.basename(project))
        changes = f"the settings of {name} changed since you trusted it"
        texts.append(f"{changes}: 'brim rules trust' shows them")
    return texts


def _keep_for_status(call: HookCall, workspace: HookWorkspace) -> None:
    """Keep for the status line whether something waits for the person's consent."""
    state = workspace.state(call.session)
    was_asking = bool(state.kept(KEPT))
    is_asking = workspace.settings_changed or _is_foreign(workspace.memory_problem)
    if workspace.rules is not None and workspace.rules.index is not None:
        is_asking = is_asking or workspace.rules.index.waiting > 0
    if is_asking or was_asking:
        state.keep(KEPT, is_asking)


def _is_foreign(problem: StoreError | None) -> bool:
    """Whether the *problem* is a memory that somebody else made."""
    return problem is not None and problem.reason == "foreign"


def _has_untrusted(workspace: HookWorkspace, project: str) -> bool:
    """Whether *project* came with rules or settings that the person hasn't trusted yet."""
    if workspace.trusted:
        return False
    return any(os.path.exists(os.path.join(project, ".brim", name)) for name in FILES)
