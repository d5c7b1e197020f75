"""How does brim get into an agent's settings, and out again?

``jsonc`` edits a JSON file and keeps everything else in it. ``agents`` knows the agents' files,
what brim writes into them, and their shells; ``changes`` what was in a file before and what it
becomes. ``launchers`` are the scripts that settings name, ``git_exclude`` hides a project's
settings from git. ``installation`` is ``brim init``, ``uninstall`` and ``pause``; ``doctor`` says
whether it all works, ``retention`` what is kept too long, and ``status`` what needs attention.
``rule_files`` finds the rule files that agents have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.install.doctor import Diagnosis as Diagnosis
    from brim.install.doctor import diagnose as diagnose
    from brim.install.installation import Installed as Installed
    from brim.install.installation import Uninstalled as Uninstalled
    from brim.install.installation import install as install
    from brim.install.installation import pause as pause
    from brim.install.installation import resume as resume
    from brim.install.installation import uninstall as uninstall
    from brim.install.launchers import install_launcher as install_launcher
    from brim.install.launchers import launcher_text as launcher_text

__getattr__, __dir__ = exports(
    __name__,
    doctor="Diagnosis diagnose",
    installation="Installed Uninstalled install pause resume uninstall",
    launchers="install_launcher launcher_text",
)
