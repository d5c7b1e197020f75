"""From what an agent says about its work to a situation. No file that it names is looked at."""

from __future__ import annotations

import re

from brim.activation.context import Context
from brim.behaviors.tasks import language_of
from brim.store.project import branch, environment, project_types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.mcp.here import Here

LONGEST = 10_000
"""Characters of a text that are looked at: more says nothing new about what is being done."""

MOST_FILES = 20

_WORD = re.compile(r"[^\s\"'`(),;<>|=*?\[\]{}]+")


def context_of(here: Here, text: str = "", task: str = "") -> Context:
    """Return the situation that *text* tells of, with what can be told by looking around."""
    text = text[:LONGEST]
    project = here.project
    return Context(
        file=files_in(text),
        task=task.strip()[:200] or None,
        environment=environment(here.environ),
        project_type=project_types(project) if project else None,
        branch=branch(project) if project else None,
        prompt=text,
    )


def files_in(text: str) -> list[str]:
    """Return the words of *text* that name files: those with an ending that is known, or a path with any ending.

    >>> files_in("Fix src/app.py and the Dockerfile, see https://example.com/a.py and version 3.11.")
    ['src/app.py', 'Dockerfile']
    """
    found: dict[str, None] = {}
    for word in _WORD.findall(text[:LONGEST]):
        name = word.rstrip(".:!")
        folder, _, last = name.rpartition("/")
        if name and "://" not in name and (language_of(name) or (folder and "." in last[1:-1])):
            found[name] = None
    return list(found)[:MOST_FILES]
