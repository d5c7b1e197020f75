"""Where a hook is: the project and whether it is trusted, the settings, what is stored. All of it only if it is asked.

A hook that has nothing to say should not open a database to find that out.
"""

from __future__ import annotations

import os

from brim.config.places import project_folder, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from brim.agents.state import SessionState
    from brim.config.values import Config
    from brim.store.scopes import Scopes

BUSY = 0.15
"""Seconds that a hook waits for another writer: an agent waits for it."""

LONG_LOG = 1 << 18
"""Bytes of a database's log from which it is folded into the database when there is time: ``fold_logs``."""

LONGEST_LOG = 1 << 20
"""Bytes from which that is done by whichever hook finds it so: reading the log again costs each a millisecond."""

_left: list[object] = []


class Place:
    """Everything around one call of a hook. ``close`` it: that keeps what was learned of the session.

    *ending* is for a process that ends at once: SQLite would move its log into the database and wait for the disk,
    twice for each file. Everything is written; the log is left to whoever closes the file next, or to a hook that
    has the time.
    """

    def __init__(self, environ: Mapping[str, str], cwd: str, *, now: float, ending: bool = False) -> None:
        self.environ, self.cwd, self.now, self._ending = environ, cwd, now, ending
        self.is_late = False
        """Whether the time is over: what is ready is answered, and nothing more is begun."""
        self.home = user_folder(environ)
        """The user's own folder of brim; it need not exist."""
        self._project: str | None = None
        self._looked = False
        self._trusted: bool | None = None
        self._config: Config | None = None
        self._scopes: Scopes | None = None
        self._states: dict[str, SessionState] = {}

    @property
    def project(self) -> str | None:
        """The project's folder, whether it is trusted or not."""
        if not self._looked:
            self._project = project_folder(self.environ, self.cwd) if self.cwd else None
            self._looked = True
        return self._project

    @property
    def trusted(self) -> bool:
        """Whether there is a project, and what lies in it may steer the agent."""
        if self._trusted is None:
            self._trusted = self.project is not None and self._is_trusted(self.project)
        return self._trusted

    def _is_trusted(self, project: str) -> bool:
        if not os.path.isdir(os.path.join(project, ".brim")):
            return False  # it holds nothing that could be used
        from brim.store.trust import is_trusted

        return is_trusted(project, self.home)

    @property
    def config(self) -> Config:
        """The settings in force; the project's own only if it is trusted."""
        if self._config is None:
            self._config = self._loaded()
            if self._config["models"]:
                from brim.models.overrides import use

                use(self._config["models"])
        return self._config

    def _loaded(self) -> Config:
        from brim.config.values import load_cached

        trusted = self.project if self.trusted else None
        try:
            return load_cached(self.environ, trusted, now=self.now)
        except ModuleNotFoundError:  # settings have changed, and the hook was started without what is installed
            import site

            site.main()
            return load_cached(self.environ, trusted, now=self.now)

    @property
    def scopes(self) -> Scopes:
        """What is stored here and may be used: opened when it is first asked for, never migrated."""
        if self._scopes is None:
            from brim.store.scopes import open_scopes

            project = self.project if self.trusted else None
            self._scopes = open_scopes(project, self.home, trusted=self.trusted, migrate=False, timeout=BUSY)
        return self._scopes

    @property
    def has_stores(self) -> bool:
        """Whether anything is stored that ``scopes`` would open; asking costs a look at the disk."""
        return any(map(os.path.exists, self._databases()))

    @property
    def has_user_store(self) -> bool:
        """Whether there is a store of the user's own, where sessions are kept."""
        return os.path.exists(self._databases()[0])

    def _databases(self) -> list[str]:
        """Return the files that ``scopes`` opens if they are there."""
        folders = [self.home]
        if self.project is not None and self.trusted:
            folders.append(os.path.join(self.project, ".brim"))
        return [os.path.join(folder, "brim.db") for folder in folders]

    @property
    def supervised(self) -> bool:
        """Whether ``brim run`` watches this agent: then journal and spending are its own, and hooks only inject."""
        return bool(self.environ.get("BRIM_RUN_ID"))

    @property
    def only_injects(self) -> bool:
        """Whether nothing is written down and no money is counted: the supervisor does, or ``--hooks`` said so."""
        return self.supervised or self.environ.get("BRIM_HOOKS") == "injection-only"

    def state(self, session: str) -> SessionState:
        """Return what is remembered of *session*; it is written when the place is closed, if it changed."""
        if session not in self._states:
            from brim.agents.state import SessionState

            self._states[session] = SessionState.load(self.home, session)
        return self._states[session]

    def close(self) -> None:
        """Write what changed, and close what is open. Nothing that fails here fails loudly."""
        for state in self._states.values():
            state.save()
        if self._scopes is not None:
            if self._ending:
                self.fold_logs(LONGEST_LOG)
                _left.append(self._scopes)  # while something holds it, Python does not close it
            else:
                self._scopes.close()
            self._scopes = None

    def fold_logs(self, at_least: int = LONG_LOG) -> None:
        """Fold the logs that are *at_least* so many bytes into their databases, if this process is about to end.

        Every hook reads the logs when it opens the databases, since the one before it ended without closing them.
        """
        for path in self._databases() if self._ending and not self.is_late else ():
            if _size_of_log(path) >= at_least:
                from brim.errors import StoreError
                from brim.store.database import fold_log

                try:
                    _left.append(fold_log(path))
                except StoreError:  # somebody else works with it, or it is not ours to change
                    continue

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _size_of_log(path: str) -> int:
    try:
        return os.path.getsize(f"{path}-wal")
    except OSError:
        return 0
