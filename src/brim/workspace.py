"""Where am I? Home, project, trust, settings and store for one command, tool call or hook.

A person may use any project they are in. An agent's hooks and tools use a project's settings and
rules only after the user has trusted it, because anyone may have written what is in a cloned
repository.

A hook goes on without a project that can't be read, and with those of the user's settings that can:
a broken file must not lift a limit or silence the user's rules. ``problems`` says what is left out.

Everything is looked up on first use, so a hook that has nothing to say opens nothing.
"""

from __future__ import annotations

import os
import site
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Self

from brim.config.places import home_folder, project_folder, user_folder
from brim.config.values import Config, load, load_cached
from brim.errors import ConfigError, InputError, StoreError
from brim.files import save, sha256_hex
from brim.memory.folder import FILES, check_folder
from brim.models.overrides import use
from brim.store.database import TIMEOUT, fold_log
from brim.store.ledger import StoredLedger, open_ledger
from brim.store.project import (
    branch,
    environment,
    is_tracked,
    make_folder,
    place_of,
    project_types,
    remote_of,
    segment,
)
from brim.store.trust import (
    UNREADABLE,
    agree_to_settings,
    is_trusted,
    settings_agreed,
    settings_digest,
    trust,
    user_secret,
)

if TYPE_CHECKING:
    from brim.money.settings import LimitSettings
    from brim.sessions.index import SessionIndex
    from brim.store.consent import Consent
    from brim.store.limits import Limits
    from brim.store.scopes import Scopes

DATABASE = "brim.db"
"""The store's file, in the user's folder and in a project's ``.brim``."""

LAST_LIMITS = os.path.join("accepted", "limits.json")
"""The last good limits, in the user's folder; they apply while the settings have a mistake."""

NO_LIMITS = 2
"""Bytes of that file if there are none: an empty list."""

BUSY = 0.15
"""Seconds that an agent's hook waits for another writer of the store."""

LONG_LOG = 1 << 18
"""Bytes of a database's write-ahead log that ``fold_logs`` folds into the database when there is
time."""

LONGEST_LOG = 1 << 20
"""Bytes from which any hook folds the log: reading it again costs every later hook a
millisecond."""

_left_open: list[object] = []


class Workspace:
    """Home, project, trust, settings and store for one command, tool call or hook.

    *who* is ``"person"`` or ``"agent"``. *cwd* is the working folder, None or empty if it's gone.
    *flags* are settings from the command line. *ending* is for a process that ends right after
    ``close``: closing SQLite would move its log into the database and wait for the disk, so the log
    is left to a later process.
    """

    goes_on = False
    """Whether a file that can't be read is left out and noted in ``problems``; otherwise it's an
    error."""

    def __init__(
        self,
        environ: Mapping[str, str],
        cwd: str | None,
        *,
        who: Literal["person", "agent"],
        now: float,
        flags: Mapping[str, object] | None = None,
        ending: bool = False,
    ) -> None:
        if who not in ("person", "agent"):
            raise ValueError(f"who is 'person' or 'agent', not {who!r}")
        self.environ, self.cwd, self.who, self.now = environ, cwd or "", who, now
        self.flags, self.ending = flags or {}, ending
        self.problems: dict[str, str] = {}
        """Why the ``project`` is left out, and problems with the settings of the ``user``."""

    @classmethod
    def here(
        cls, *, who: Literal["person", "agent"], flags: Mapping[str, object] | None = None
    ) -> Self:
        """Return the workspace of this process: its environment, its working folder, now."""

        return cls(os.environ, working_folder(), who=who, now=time.time(), flags=flags)

    # Folders --------------------------------------------------------------------------------------

    @cached_property
    def home(self) -> str:
        """The user's own brim folder; it may not exist."""
        return user_folder(self.environ)

    @cached_property
    def project(self) -> str | None:
        """The project's folder, trusted or not."""
        return project_folder(self.environ, self.cwd) if self.cwd else None

    @cached_property
    def place(self) -> str:
        """The project's place, for limits: its repository, which all worktrees share, or else the
        working folder."""
        if self.project is None:
            return os.path.realpath(self.cwd) if self.cwd else ""

        return place_of(self.project)

    @cached_property
    def trusted(self) -> bool:
        """Whether there is a project and the user lets it steer agents."""
        if self.project is None or not os.path.isdir(os.path.join(self.project, ".brim")):
            return False

        return is_trusted(self.project, self.home)

    @property
    def usable_project(self) -> str | None:
        """The project whose settings and rules apply: for an agent, only a trusted one that can be
        read."""
        return (
            self.project
            if self.who == "person" or (self.trusted and "project" not in self.problems)
            else None
        )

    @property
    def scope_folders(self) -> dict[str, str]:
        """The folder of each scope that may be used here, whether it exists or not."""
        found = {"user": self.home}
        if self.usable_project is not None:
            found["project"] = os.path.join(self.usable_project, ".brim")
        return found

    def begin_project(self, *, here: bool = False) -> None:
        """Create the project's ``.brim`` if it's missing, and trust it.

        With *here*, the working folder becomes a project if it isn't in one; the home folder never
        does.

        The folder comes first: a project in which nothing could be created isn't trusted, whatever
        appears there later. If several processes begin it at once, the one that created the folder
        trusts it.
        """
        is_home = os.path.realpath(self.cwd) == os.path.dirname(os.path.realpath(self.home))
        begun = self.project or (self.cwd if here and not is_home else None)
        if begun is None:
            return

        folder = os.path.join(begun, ".brim")
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            return
        except OSError as error:
            raise StoreError(
                f"{folder}: cannot be made: {error.strerror or error}", "read-only"
            ) from None
        trust(begun, self.home, now=self.now)
        for known in ("project", "trusted", "_agreed_settings", "settings_changed"):
            self.__dict__.pop(known, None)

    def need_trust(self) -> None:
        """Raise ``InputError`` unless an agent may take notes here; the message tells the user what
        to do."""
        if self.project is None:
            raise InputError(
                "an agent's notes belong to a project, and there is none here: ask the user to run 'brim rules trust' "
                "in a git repository, or to keep the rule with 'brim learn --user'"
            )
        if not self.trusted:
            raise InputError(
                f"the project {os.path.basename(self.project)} is not trusted, so nothing was kept: ask the user to "
                "run 'brim rules trust' there, and then say it again"
            )

    @cached_property
    def settings_changed(self) -> bool:
        """Whether a trusted project has other settings than the user agreed to.

        Agents then ignore them.
        """
        if self.project is None or self._agreed_settings is None:
            return False

        now = settings_digest(self.project)
        return now == UNREADABLE or now not in ("", self._agreed_settings)

    def changes_of(self, scopes: Scopes) -> str:
        """Say what changed in a trusted project, without brim, since the user agreed; empty if
        nothing did."""
        if self.project is None or self._agreed_settings is None:
            return ""
        rules = len(scopes.unagreed())
        parts = [f"{rules:,} rule{'' if rules == 1 else 's'}"] if rules else []
        parts += ["the settings"] if self.settings_changed else []
        name = without_controls(os.path.basename(self.project))
        return (
            f"{' and '.join(parts)} of {name} changed since you trusted it: 'brim rules trust' shows them"
            if parts
            else ""
        )

    @cached_property
    def _agreed_settings(self) -> str | None:
        """The digest of the settings that the user agreed to; None if the project isn't trusted."""
        if self.project is None or not self.trusted:
            return None

        return settings_agreed(self.project, self.home)

    def consent(self) -> Consent | None:
        """Return what a person is asked before the project may steer agents; None outside of a
        project."""
        if self.project is None:
            return None
        from brim.store.consent import consent_for

        return consent_for(self.project, self.home, settings_changed=self.settings_changed)

    def save_settings(self, path: str, text: str) -> None:
        """Write *text* to the configuration file *path*, and create its folder.

        Writing a project's settings through brim means agreeing to them, unless they were changed
        without brim before.
        """

        folder, changed = os.path.dirname(path), self.settings_changed
        in_project = self.project is not None and path == os.path.join(
            self.project, ".brim", "config.yaml"
        )
        if in_project:
            self.begin_project()
        try:
            make_folder(folder)
        except OSError as error:
            raise ConfigError(
                f"config: {folder}: cannot be made: {error.strerror or error}"
            ) from None
        save(path, text)
        if self.project is not None and in_project and not changed:
            with suppress(StoreError):  # a damaged database: then 'brim rules trust' asks
                agree_to_settings(
                    self.project, self.home, sha256_hex(text.encode("utf-8", "backslashreplace"))
                )

    @cached_property
    def secret(self) -> str:
        """The user's secret, which marks memory that was made here. It's created on first use."""

        return user_secret(self.home)

    @cached_property
    def memory_problem(self) -> StoreError | None:
        """Why agents can't use the project's ``.context``, ``foreign`` if the user didn't make it
        here; else None."""
        root = os.path.join(self.project or "", ".context")
        if self.project is not None and os.path.lexists(root):
            try:
                check_folder(root, self.secret)
            except StoreError as error:
                return error
        return None

    def memory_secret(self, root: str) -> str:
        """Return ``secret`` for the memory in *root*.

        ``StoreError`` if git tracks it: it may be someone else's.
        """

        if is_tracked(os.path.join(root, ""), endings=FILES):
            why = (
                "git tracks it, so it may be someone else's and isn't used; 'git rm -r --cached' it"
            )
            raise StoreError(f"{root}: {why}", "refused")
        return self.secret

    # Settings -------------------------------------------------------------------------------------

    @cached_property
    def config(self) -> Config:
        """The settings in force; their models become known to this process."""
        if self.flags.get("model") == "":
            raise InputError("--model is empty: name a model, or leave the option out")
        config = self._load()
        models = config["models"] if self.who == "person" else config.yours["models"]
        if models or not self.ending:
            # A longer process may have to forget those of another project.
            try:
                use(models)
            except ConfigError as error:
                where = config.where(str(error))
                problem = f"config: {where}: {error}" if where else str(error)
                if not self.goes_on:
                    raise ConfigError(problem) from None
                self.problems.setdefault("user", problem)
                self._use_right(models)
        return config

    def _use_right(self, models: Mapping[str, Any]) -> None:
        """Use those of *models* that are right."""

        right: dict[str, Any] = {}
        use(right)
        for name, fields in models.items():
            with suppress(ConfigError):
                use({**right, name: fields})
                right[name] = fields

    def _load(self) -> Config:
        if self.who == "person":
            return load(self.environ, self.usable_project, self.flags)

        project = None if self.settings_changed else self.usable_project
        problems = self.problems if self.goes_on else None
        try:
            return load_cached(self.environ, project, self.flags, now=self.now, problems=problems)
        except ModuleNotFoundError:
            # A file has changed, and the hook was started without site-packages (-S).
            site.main()
            return load_cached(self.environ, project, self.flags, now=self.now, problems=problems)

    # The store ------------------------------------------------------------------------------------

    @property
    def database(self) -> str:
        """The user's database: their rules, every session and the ledger."""
        return os.path.join(self.home, DATABASE)

    @property
    def databases(self) -> list[str]:
        """The database of each scope that may be used here, the user's first, whether it exists or
        not."""
        return [os.path.join(folder, DATABASE) for folder in self.scope_folders.values()]

    def open(self, *, create: bool | None = None) -> Scopes:
        """Open the stores that may be used here.

        By default, only a person's command creates a missing file.
        """
        return self._open(self.who == "person" if create is None else create)

    def _open(self, create: bool, timeout: float | None = None) -> Scopes:
        from brim.store.scopes import open_scopes  # commands about money load no rules

        # A mistake in a settings file is reported before anything is opened, and its models count
        # tokens.
        _ = self.config
        patience = TIMEOUT if timeout is None else timeout
        checked = self.who == "agent" and self._agreed_settings is not None
        opened = partial(
            open_scopes,
            user=self.home,
            trusted=True,
            create=create,
            checked=checked,
            timeout=patience,
        )
        try:
            return opened(self.usable_project)
        except StoreError as error:
            if not self.goes_on or self.usable_project is None:
                raise
            scopes = opened(None)
            self.problems["project"] = str(error)
            return scopes

    def leave_out_project(self, why: str) -> bool:
        """Go on without the project, if its rules are in use and *why* isn't about the user's own
        file."""
        scopes = self.__dict__.get("scopes")
        if (
            not self.goes_on
            or scopes is None
            or scopes.project is None
            or why.startswith(self.database)
        ):
            return False
        self.problems["project"] = why
        self.close()
        return True

    def open_ledger(
        self, clock: Callable[[], float] | None = None, *, store: str = ""
    ) -> StoredLedger:
        """Open the user's ledger, or the one at the address *store*, with the settings in force."""

        clock = clock if store else clock or (lambda: self.now)
        return open_ledger(store or self.database, warn=self.config["spend.warn"], clock=clock)

    def open_limits(self, clock: Callable[[], float] | None = None, *, store: str = "") -> Limits:
        """Open the limits of this person: in their ledger, or in the one at the address *store*."""
        from brim.spend.money import limit_in
        from brim.store.limits import Limits  # hooks have limits, but no names for them

        shared = None
        default = limit_in(self.config["spend.limit"])
        if store:
            shared = self.shared_name
            default = None
        return Limits(
            self.open_ledger(clock, store=store),
            place=self.place,
            home=self.home,
            environ=self.environ,
            now=self.now,
            shared=shared,
            default=default,
        )

    @property
    def may_have_limits(self) -> bool:
        """Whether a limit may be in force: only then is anything about money loaded."""
        config = self.config
        if config.yours["limits"] or config["spend.limit"] is not None or "user" in self.problems:
            return True
        try:
            return os.path.getsize(os.path.join(self.home, LAST_LIMITS)) > NO_LIMITS
        except OSError:
            return False

    @property
    def limit_settings(self) -> LimitSettings:
        """The limits in force, also if the settings have a mistake.

        ``spend.limit`` is a project's if it has no other.
        """
        from brim.money.settings import limits_in_force, with_default

        value = self.config.yours["limits"]
        problem = ""
        if not value:  # a mistake elsewhere in the file changes no limit
            problem = self.problems.get("user", "")
        settings = limits_in_force(value, self.home, problem)
        default = self.config["spend.limit"]
        if default is None:
            return settings
        return with_default(settings, default, self.limits_project)

    @cached_property
    def limits_project(self) -> str:
        """The project as limits and sums name it: the repository of the working folder."""
        from brim.sessions.repository import project_of

        return project_of(self.cwd, home_folder(self.environ)) if self.cwd else ""

    def open_index(self) -> SessionIndex:
        """Open the index of requests; it may lack what was written since it was last read."""
        from brim.sessions.index import SessionIndex, index_path

        _ = self.config  # its models have prices
        path = index_path(self.environ)
        if not os.path.lexists(path):
            path = ""  # only looking makes no file
        return SessionIndex(path, home=home_folder(self.environ))

    @property
    def shared_name(self) -> str:
        """The scope of this project in a shared store: ``project.id``, or its git remote; empty if
        neither."""

        named = self.config["project.id"] or (remote_of(self.place) if self.place else "")
        return segment(named) if named else ""

    @cached_property
    def scopes(self) -> Scopes:
        """The stores that may be used here, opened once, without creating a file or waiting long.
        For hooks."""
        return self._open(False, timeout=BUSY)

    @property
    def surroundings(self) -> dict[str, Any]:
        """The facts of every situation here: environment, project types and branch."""

        found: dict[str, Any] = {"environment": environment(self.environ)}
        if self.project:
            found |= {"project_type": project_types(self.project), "branch": branch(self.project)}
        return found

    def fold_logs(self, at_least: int = LONG_LOG) -> None:
        """Move logs of *at_least* so many bytes into their databases, if this process is about to
        end.

        Every hook has to read the logs, because the one before it ended without closing the
        databases.
        """
        for path in self.databases if self.ending else ():
            with suppress(OSError, StoreError):
                # No log; another process works with it; it isn't ours to change.
                if os.path.getsize(f"{path}-wal") >= at_least:
                    _left_open.append(fold_log(path))

    def close(self) -> None:
        """Close ``scopes`` if it was opened."""
        scopes = self.__dict__.pop("scopes", None)
        if scopes is not None and self.ending:
            self.fold_logs(LONGEST_LOG)
            _left_open.append(scopes)  # Python closes a database that nothing refers to
        elif scopes is not None:
            scopes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def without_controls(text: str) -> str:
    """Return *text* with ``?`` for each character that isn't printable: a folder may have any
    name."""
    return "".join([letter if letter.isprintable() else "?" for letter in text])


def working_folder() -> str | None:
    """Return the folder that this process runs in; None if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return None
