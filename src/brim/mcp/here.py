"""``Here``: the project, the settings and the files that one call may use."""

from __future__ import annotations

import os

from brim.config import load, project_folder, user_folder
from brim.errors import InputError
from brim.models.overrides import use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from brim.config import Config
    from brim.store.scopes import Scopes


class Here:
    """Where a server stands at the time *now*. Made anew for each call: a project may be trusted meanwhile.

    Neither the settings nor the behaviors of a project count unless a person has trusted it.
    """

    def __init__(self, environ: Mapping[str, str], folder: str | None, *, now: float) -> None:
        self.environ, self.folder, self.now = environ, folder, now
        self.home = user_folder(environ)
        self.project = project_folder(environ, folder) if folder is not None else None
        self.trusted = self.project is not None and self._is_trusted(self.project)
        self.config: Config = load(environ, self.project if self.trusted else None)
        use(self.config["models"])

    def _is_trusted(self, project: str) -> bool:
        from brim.store.trust import is_trusted

        return is_trusted(project, self.home)

    def open(self) -> Scopes:
        """Open what is stored here and may be used."""
        from brim.store.scopes import open_scopes

        return open_scopes(self.project, self.home, trusted=self.trusted)

    def need_trust(self) -> None:
        """Raise what a person has to do first if an agent cannot take notes here."""
        if self.project is None:
            raise InputError(
                "an agent's notes belong to a project, and there is none here: ask the user to run 'brim trust' in a "
                "git repository, or to keep the rule with 'brim learn --user'"
            )
        if not self.trusted:
            raise InputError(
                f"the project {os.path.basename(self.project)} is not trusted, so nothing was kept: ask the user to "
                "run 'brim trust' there, and then say it again"
            )
