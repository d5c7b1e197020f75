"""The rules of a floop folder, as brim would store them."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from brim.behaviors.behavior import Edge, Rule
from brim.behaviors.floop import Unmapped, project_names, read_floop_folder


@dataclass(frozen=True)
class FloopRules:
    """What a floop folder holds."""

    rules: list[Rule]
    scoped_edges: list[tuple[str, Edge]]
    """The connections, each after the scope that it's stored in."""
    unmapped: list[Unmapped]
    """What can't be brought over unchanged."""
    has_homeless_rules: bool
    """Whether rules of a project go to the user, because there is no project here."""

    @property
    def edges(self) -> int:
        """The number of connections."""
        return len(self.scoped_edges)


def read_floop_rules(folder: str, project: str | None) -> FloopRules:
    """Return the rules in the floop *folder*, for the *project* that the person is in.

    The folder in a person's home has rules of all their projects: only those of this one are read.
    """
    parent = os.path.dirname(os.path.realpath(folder))
    is_home = parent == os.path.realpath(os.path.expanduser("~"))
    scope = "user"
    if project is not None and not is_home:
        scope = "project"
    projects = None
    if project is not None and is_home:
        projects = project_names(project)
    floop = read_floop_folder(folder, scope=scope, projects=projects)
    rules = list(floop.behaviors.values())
    has_project_rules = any(rule.scope == "project" for rule in rules)
    if not is_home:
        rules = [replace(rule, summary="") for rule in rules]
    if project is None:
        rules = [replace(rule, scope="user") for rule in rules]
    project_ids = {rule.id for rule in rules if rule.scope == "project"}
    edges = [(_scope_of(edge, project_ids), edge) for edge in floop.edges.values()]
    return FloopRules(rules, edges, list(floop.unmapped), project is None and has_project_rules)


def _scope_of(edge: Edge, project_ids: set[str]) -> str:
    if edge.source in project_ids or edge.target in project_ids:
        return "project"
    return "user"
