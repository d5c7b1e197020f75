"""``--token-budget`` of init and upgrade: a setting like any other, so flag and environment still win."""

from __future__ import annotations

import os

from brim.cli.output import note, printable, say
from brim.cli.settings import working_folder
from brim.config import load
from brim.config.places import config_paths
from brim.config.text import read_text
from brim.errors import BrimError, ConfigError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import Any

KEY = "token_budget.default"


class BudgetSetting:
    """``token_budget.default`` as it will be in the file of *scope*, ``user`` or ``project``: tried, not written."""

    def __init__(self, tokens: int, scope: str) -> None:
        from brim.config.text import with_key

        paths = config_paths(os.environ, working_folder())
        if scope not in paths:
            raise InputError("there is no project here: run it inside a git repository, or 'mkdir .brim'")
        self.path, self.tokens = paths[scope], tokens
        self._before = read_text(self.path) if os.path.exists(self.path) else ""
        self._after = with_key(self._before, KEY, tokens, self.path)
        try:
            config = load(os.environ, working_folder(), drafts={self.path: self._after})
        except BrimError as error:
            raise ConfigError(f"{self.path} is as it was: {error}") from None
        origin = config.values[KEY].origin
        self.hidden_by = "" if origin.startswith(f"{self.path}:") else origin

    @property
    def changes(self) -> bool:
        """Whether the file has to be written."""
        return self._before != self._after

    def write(self) -> None:
        """Put it into the file."""
        from brim.cli.saving import save
        from brim.store.project import make_folder

        if not self.changes:
            return
        folder = os.path.dirname(self.path)
        try:
            make_folder(folder)
        except OSError as error:
            raise ConfigError(f"config: {folder}: cannot be made: {error.strerror or error}") from None
        save(self.path, self._after)

    def tell(self) -> None:
        """Print what is set, and what is stronger."""
        say(printable(f"{KEY} = {self.tokens:,}  {self.path}"))
        if self.hidden_by:
            note(f"{self.hidden_by} is stronger, and stays in force")

    def as_object(self) -> dict[str, Any]:
        """Return it for a script."""
        return {
            "key": KEY,
            "value": self.tokens,
            "file": self.path,
            "changed": self.changes,
            "hidden_by": self.hidden_by,
        }


def add_token_budget(parser: ArgumentParser) -> None:
    """Add ``--token-budget``."""
    from brim.cli.settings import whole_number

    text = "tokens that the start of a session may take: written into the settings of that scope; 0 is off"
    parser.add_argument("--token-budget", type=whole_number(0), metavar="N", help=text)
