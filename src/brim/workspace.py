"""Where am I? Home, project, trust and settings for one command, tool call or hook.

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
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

from brim.agents import user_rule_files
from brim.config.git import is_tracked, remote_of
from brim.config.own_folder import environment, make_folder, project_types
from brim.config.places import branch_of, home_folder, place_of, project_folder, user_folder
from brim.config.trust import (
    UNREADABLE,
    agree_to_settings,
    is_trusted,
    settings_agreed,
    settings_digest,
    trust,
    user_secret,
)
from brim.config.values import Config, load, load_cached
from brim.errors import ConfigError, InputError, StoreError
from brim.files import save, sha256_hex
from brim.memory.folder import FILES, check_folder
from brim.models import overrides

if TYPE_CHECKING:
    from brim.money.ledger_book import LedgerBook
    from brim.money.settings import LimitSettings
    from brim.rules.rulebook import Rulebook
    from brim.sessions.index import SessionIndex

LAST_LIMITS = os.path.join("accepted", "limits.json")
"""The last good limits, in the user's folder; they apply while the settings have a mistake."""

NO_LIMITS = 2
"""Bytes of that file if there are none: an empty list."""


class Workspace:
    """Home, project, trust and settings for one command, tool call or hook.

    *who* is ``"person"`` or ``"agent"``. *cwd* is the working folder, None or empty if it's gone.
    *flags* are settings from the command line. *ending* says that the process ends right after it.
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
        self.environ = environ
        self.cwd = cwd or ""
        self.who = who
        self.now = now
        self.flags = flags or {}
        self.ending = ending
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
        if not self.cwd:
            return None
        return project_folder(self.environ, self.cwd)

    @cached_property
    def place(self) -> str:
        """The project's place, for limits: its repository, which all worktrees share, or else the
        working folder."""
        if self.project is not None:
            return place_of(self.project)
        if self.cwd:
            return os.path.realpath(self.cwd)
        return ""

    @cached_property
    def trusted(self) -> bool:
        """Whether there is a project and the user lets it steer agents."""
        if self.project is None:
            return False
        if not os.path.isdir(os.path.join(self.project, ".brim")):
            return False
        return is_trusted(self.project, self.home)

    @property
    def usable_project(self) -> str | None:
        """The project whose settings and rules apply: for an agent, only a trusted one that can be
        read."""
        if self.who == "person":
            return self.project
        if not self.trusted or "project" in self.problems:
            return None
        return self.project

    def begin_project(self, *, here: bool = False) -> None:
        """Create the project's ``.brim`` if it's missing, and trust it.

        With *here*, the working folder becomes a project if it isn't in one; the home folder never
        does.

        The folder comes first: a project in which nothing could be created isn't trusted, whatever
        appears there later. If several processes begin it at once, the one that created the folder
        trusts it.
        """
        project = self.project
        if project is None and here:
            is_home = os.path.realpath(self.cwd) == os.path.dirname(os.path.realpath(self.home))
            if not is_home:
                project = self.cwd
        if project is None:
            return
        folder = os.path.join(project, ".brim")
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            return
        except OSError as error:
            raise StoreError(
                f"{folder}: cannot be made: {error.strerror or error}", "read-only"
            ) from None
        make_folder(folder)
        trust(project, self.home)
        for property_name in ("project", "trusted", "_agreed_settings", "settings_changed"):
            self.__dict__.pop(property_name, None)

    @cached_property
    def settings_changed(self) -> bool:
        """Whether a trusted project has other settings than the user agreed to.

        Agents then ignore them.
        """
        if self.project is None or self._agreed_settings is None:
            return False
        digest = settings_digest(self.project)
        return digest == UNREADABLE or digest not in ("", self._agreed_settings)

    @cached_property
    def rulebook(self) -> Rulebook:
        """The rules that count here: the user's, and the project's if it may be used."""
        from brim.rules.rulebook import Rulebook  # commands about money load no rules

        user_files = tuple(dict.fromkeys(user_rule_files(self.environ).values()))
        return Rulebook(self.home, self.usable_project, user_files)

    @property
    def changes(self) -> str:
        """What changed in a trusted project, without brim, since the user accepted it; empty if
        nothing did."""
        if self.project is None or self._agreed_settings is None:
            return ""
        parts = []
        rules = len(self.rulebook.proposals())
        if rules == 1:
            parts.append("1 rule")
        elif rules:
            parts.append(f"{rules:,} rules")
        if self.settings_changed:
            parts.append("the settings")
        if not parts:
            return ""
        name = without_controls(os.path.basename(self.project))
        changes = f"{' and '.join(parts)} of {name} changed since you trusted it"
        return f"{changes}: 'brim rules trust' shows them"

    @cached_property
    def _agreed_settings(self) -> str | None:
        """The digest of the settings that the user agreed to; None if the project isn't trusted."""
        if self.project is None or not self.trusted:
            return None
        return settings_agreed(self.project, self.home)

    def save_settings(self, path: str, text: str) -> None:
        """Write *text* to the configuration file *path*, and create its folder.

        Writing a project's settings through brim means agreeing to them, unless they were changed
        without brim before.
        """
        settings_changed = self.settings_changed
        is_in_project = self._is_project_settings(path)
        if is_in_project:
            self.begin_project()
        folder = os.path.dirname(path)
        try:
            make_folder(folder)
        except OSError as error:
            problem = f"cannot be made: {error.strerror or error}"
            raise ConfigError(f"config: {folder}: {problem}") from None
        save(path, text)
        if self.project is not None and is_in_project and not settings_changed:
            digest = sha256_hex(text.encode("utf-8", "backslashreplace"))
            with suppress(StoreError):  # a damaged database: then 'brim rules trust' asks
                agree_to_settings(self.project, self.home, digest)

    def _is_project_settings(self, path: str) -> bool:
        if self.project is None:
            return False
        return path == os.path.join(self.project, ".brim", "config.yaml")

    @cached_property
    def secret(self) -> str:
        """The user's secret, which marks memory that was made here. It's created on first use."""
        return user_secret(self.home)

    @cached_property
    def memory_problem(self) -> StoreError | None:
        """Why agents can't use the project's ``.context``, ``foreign`` if the user didn't make it
        here; else None."""
        if self.project is None:
            return None
        root = os.path.join(self.project, ".context")
        if not os.path.lexists(root):
            return None
        try:
            check_folder(root, self.secret)
        except StoreError as error:
            return error
        return None

    def memory_secret(self, root: str) -> str:
        """Return ``secret`` for the memory in *root*.

        ``StoreError`` if git tracks it: it may be someone else's.
        """
        if not is_tracked(os.path.join(root, ""), endings=FILES):
            return self.secret
        problem = "git tracks it, so it may be someone else's and isn't used"
        raise StoreError(f"{root}: {problem}; 'git rm -r --cached' it", "refused")

    # Settings -------------------------------------------------------------------------------------

    @cached_property
    def config(self) -> Config:
        """The settings in force; their models become known to this process."""
        if self.flags.get("model") == "":
            raise InputError("--model is empty: name a model, or leave the option out")
        config = self._load()
        models = config.yours["models"]
        if self.who == "person":
            models = config["models"]
        if models or not self.ending:
            # A longer process may have to forget those of another project.
            self._use_models(config, models)
        return config

    def _use_models(self, config: Config, models: Mapping[str, Any]) -> None:
        try:
            use_models(models)
        except ConfigError as error:
            problem = str(error)
            line = config.where(problem)
            if line:
                problem = f"config: {line}: {problem}"
            if not self.goes_on:
                raise ConfigError(problem) from None
            self.problems.setdefault("user", problem)
            _use_valid(models)

    def _load(self) -> Config:
        if self.who == "person" and not self.goes_on:
            return load(self.environ, self.usable_project, self.flags)
        try:
            return self._load_cached()
        except ModuleNotFoundError:
            # A file has changed, and the hook was started without site-packages (-S).
            site.main()
            return self._load_cached()

    def _load_cached(self) -> Config:
        project = self.usable_project
        if self.settings_changed:
            project = None
        problems = None
        if self.goes_on:
            problems = self.problems
        return load_cached(self.environ, project, self.flags, now=self.now, problems=problems)

    # Money ----------------------------------------------------------------------------------------

    def open_ledger_book(self, store: str) -> LedgerBook:
        """Open the limits in the ledger at the address *store*, for a person in this project."""
        from brim.money.ledger_book import LedgerBook  # nobody else loads a ledger
        from brim.money.opening import open_ledger

        ledger = open_ledger(store, warn=self.config["spend.warn"])
        return LedgerBook(ledger, project=self.shared_name, environ=self.environ)

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
        from brim.sessions.storage import is_stored

        _ = self.config  # its models have prices
        path = index_path(self.environ)
        if not is_stored(path):
            path = ""  # only looking makes no file
        return SessionIndex(path, home=home_folder(self.environ))

    @property
    def shared_name(self) -> str:
        """The scope of this project in a shared store: ``project.id``, or its git remote; empty if
        neither."""
        name = self.config["project.id"]
        if not name and self.place:
            name = remote_of(self.place)
        if not name:
            return ""

        from brim.money.scopes import segment

        return segment(name)

    @property
    def surroundings(self) -> dict[str, Any]:
        """The facts of every situation here: environment, project types and branch."""
        facts: dict[str, Any] = {"environment": environment(self.environ)}
        if self.project:
            facts["project_type"] = project_types(self.project)
            facts["branch"] = branch_of(self.project)
        return facts


def without_controls(text: str) -> str:
    """Return *text* with ``?`` for each character that isn't printable: a folder may have any
    name."""
    letters = list(text)
    for place, letter in enumerate(letters):
        if not letter.isprintable():
            letters[place] = "?"
    return "".join(letters)


def use_models(models: Mapping[str, Any]) -> None:
    """Let this process know the configuration's *models*, and no others."""
    if not models:
        overrides.put({})
        return
    from brim.models.configured import use  # hardly anybody configures models

    use(models)


def _use_valid(models: Mapping[str, Any]) -> None:
    """Use those of *models* that are valid."""
    valid: dict[str, Any] = {}
    use_models(valid)
    for name, fields in models.items():
        with suppress(ConfigError):
            use_models({**valid, name: fields})
            valid[name] = fields


def working_folder() -> str | None:
    """Return the folder that this process runs in; None if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return None
