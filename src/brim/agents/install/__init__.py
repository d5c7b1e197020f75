"""How does brim get into an agent's settings, and out again?

Bottom up: ``json_places`` reads JSON and knows where each value stands, ``json_edits`` puts one in or takes one out,
``settings_text`` is a file on which that is done step by step. ``merging`` knows the shape of hooks, ``entries`` what
brim writes there, ``resident`` the hooks that a server answers. ``targets`` says which files there are, ``receipt``
what was there before, ``planning`` what a file becomes. ``launchers`` are the scripts that settings name. Files of
agents are written by the commands alone.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.install.entries import Ours, entries_for
    from brim.agents.install.launchers import install_launchers, remove_launchers
    from brim.agents.install.planning import Change, plan_install, plan_uninstall
    from brim.agents.install.receipt import Record, read_records, write_records
    from brim.agents.install.targets import Target, project_target, user_target

__all__ = [
    "Change",
    "Ours",
    "Record",
    "Target",
    "entries_for",
    "install_launchers",
    "plan_install",
    "plan_uninstall",
    "project_target",
    "read_records",
    "remove_launchers",
    "user_target",
    "write_records",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Change": "planning",
        "Ours": "entries",
        "Record": "receipt",
        "Target": "targets",
        "entries_for": "entries",
        "install_launchers": "launchers",
        "plan_install": "planning",
        "plan_uninstall": "planning",
        "project_target": "targets",
        "read_records": "receipt",
        "remove_launchers": "launchers",
        "user_target": "targets",
        "write_records": "receipt",
    },
)
