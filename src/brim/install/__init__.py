"""How does brim get into an agent's settings, and out again?

What is special about an agent is in its ``SETTINGS``. ``agents`` finds the agents' files and what
of them is brim's, ``shell`` quotes commands for their shells, and ``changes`` says what was in a
file before and what it becomes. ``installation`` is what is installed here, and the only place that
writes it. ``launchers`` are the scripts that settings name, ``git_exclude`` hides a project's
settings from git. ``setup`` is ``brim init`` and ``uninstall``, ``leftovers`` is what ``uninstall
--purge`` removes, ``pausing`` is ``brim pause``.

``consent`` asks before a project may steer agents, ``floop_traces`` finds floop still in use.

``doctor`` says whether it all works, in ``findings``: ``probe`` tries and counts what hooks answer,
``doctor_rules`` looks at settings, rules and trust. ``status`` says what needs attention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.install.doctor import diagnose as diagnose
    from brim.install.findings import Diagnosis as Diagnosis
    from brim.install.launchers import install_launcher as install_launcher
    from brim.install.launchers import launcher_text as launcher_text
    from brim.install.pausing import pause as pause
    from brim.install.pausing import resume as resume
    from brim.install.setup import Installed as Installed
    from brim.install.setup import Uninstalled as Uninstalled
    from brim.install.setup import install as install
    from brim.install.setup import uninstall as uninstall
else:
    __getattr__, __dir__ = exports(
        __name__,
        doctor="diagnose",
        findings="Diagnosis",
        launchers="install_launcher launcher_text",
        pausing="pause resume",
        setup="Installed Uninstalled install uninstall",
    )
