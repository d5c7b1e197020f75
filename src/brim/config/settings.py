"""Declares every setting once: its type, limits and default.

Other packages have the same defaults for callers without a configuration. Each setting's
environment variable is ``BRIM_`` and its key in capitals, unless another one is named here.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from brim.record import PlainData

WORDS = {
    "text": "a text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "mapping": "a mapping",
    "words": "a list of words",
}
"""The types of values, and their names in errors."""

FLAGS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}
"""True and false in environment variables; files use YAML's words."""

NONE_WORDS = ("none", "null")
"""How no value is written outside a file, besides a setting's own word for it."""

SHOWN = 60
"""Characters of a wrong value that an error shows."""


@dataclass(frozen=True)
class Setting(PlainData):
    """One thing that can be set."""

    key: str
    kind: str
    """One of ``WORDS``."""
    default: object
    help: str
    from_env: tuple[str, ...] | None = None
    """Environment variables, of which the first that is set counts; None means ``BRIM_`` and the
    key."""
    option: str = ""
    """The command-line option, if it isn't the last part of the key."""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    none: str = ""
    """The word for no value, such as ``unlimited``; if empty, there must be a value."""
    follows: str = ""
    """Another setting: if that is set and higher than this one's default, and this one isn't set,
    its value is used."""
    lowers: bool = False
    """Whether a project's file can only make it stricter, so that a clone can't spend its user's
    money or hide a limit.

    No value counts as the highest, and the first choice as the lowest.
    """
    never: tuple[str, ...] = ()
    """Values that a project's file can't choose, because they open the network."""
    yours: bool = False
    """Whether a project's file can't set it at all, because it affects the user's own rules and
    window."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The environment variables that set it."""
        if self.from_env is None:
            return (f"BRIM_{self.key.replace('.', '_').upper()}",)
        return self.from_env

    @property
    def flag(self) -> str:
        """The command-line option that sets it."""
        return self.option or f"--{self.key.rpartition('.')[2].replace('_', '-')}"

    def checked(self, value: Any) -> Any:
        """Return *value* in this setting's type; raise ``ValueError`` that says what it must be."""
        if self._is_none(value):
            return None
        if not _is_of(self.kind, value):
            raise ValueError(f"must be {WORDS[self.kind]}, not {_quoted(value)}")
        if self.kind == "words":
            return self._listed(value)
        if self.choices and value not in self.choices:
            choices = ", ".join(filter(None, (*self.choices, self.none)))
            raise ValueError(f"must be one of {choices}, not {_quoted(value)}")
        if self._is_out_of_range(value):
            raise ValueError(f"must be {self._range()}, not {_quoted(value)}")
        if self.kind == "number":
            return float(value)
        return value

    def _is_none(self, value: Any) -> bool:
        """Whether *value* stands for no value."""
        if not self.none:
            return False
        if value is False:  # YAML reads a bare ``off`` as false
            return self.none == "off"
        return value is None or value == self.none

    def _is_out_of_range(self, value: Any) -> bool:
        if self.least is not None and value < self.least:
            return True
        if self.most is None:
            return False
        return bool(value > self.most)

    def _range(self) -> str:
        if self.most is None:
            return f"{self.least:g} or more"
        return f"from {self.least:g} to {self.most:g}"

    def _listed(self, value: str | list[str]) -> str:
        """Return the words of *value*, a list or a text, separated by commas."""
        words = value
        if isinstance(words, str):
            words = words.replace(",", " ").split()
        for word in words:
            if word not in self.choices:
                choices = ", ".join(self.choices)
                raise ValueError(f"must be chosen from {choices}, not {_quoted(word)}")
        for word in words:
            if words.count(word) > 1:
                raise ValueError(f"must not name {_quoted(word)} twice")
        return ", ".join(words)

    def parsed(self, text: str) -> Any:
        """Return the value of *text* from a variable or the command line.

        Raise ``ValueError`` if it's wrong.
        """
        word = text.strip().lower()
        if self.none and word in (*NONE_WORDS, self.none):
            return None
        value: object = text
        if self.kind == "flag":
            value = FLAGS.get(word, text)
        with suppress(ValueError):  # then the text is checked, and refused
            if self.kind == "whole":
                value = int(word)
            if self.kind == "number":
                value = float(word)
        return self.checked(value)

    def is_shared(self, value: Any) -> bool:
        """Whether a project's file can set *value*; if ``lowers``, only where it's stricter than
        the user's."""
        return not self.yours and value not in self.never

    def is_lower(self, value: Any, than: Any) -> bool:
        """Whether *value* is stricter than another value of this setting."""
        if value is None:
            return False
        if than is None:
            return True
        if self.choices:
            return self.choices.index(value) < self.choices.index(than)
        return bool(value < than)

    def shown(self, value: object) -> str:
        """Return *value* as text that ``parsed`` accepts."""
        if value is None:
            return self.none
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, dict):
            return ", ".join(value)
        if isinstance(value, float) and float(f"{value:g}") == value:
            return f"{value:g}"
        return str(value)


def _is_of(kind: str, value: object) -> bool:
    """Whether *value* has the type that *kind* names in ``WORDS``."""
    if isinstance(value, bool):  # for Python, they are whole numbers
        return kind == "flag"
    if not isinstance(value, _TYPES[kind]):
        return False
    if isinstance(value, str):
        return bool(value.strip(" ,"))
    if isinstance(value, list):
        return bool(value) and all(isinstance(word, str) for word in value)
    if isinstance(value, int | float):
        return kind == "whole" or abs(value) <= 1e300  # no nan either
    return True


_TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "whole": (int,),
    "number": (int, float),
    "flag": (bool,),
    "mapping": (dict,),
    "words": (str, list),
}
"""The types that Python and YAML give to the values of each kind."""


def _quoted(value: object) -> str:
    text = repr(value)
    if len(text) > SHOWN:
        return text[: SHOWN - 1] + "…"
    return text


MODES = ("auto", "approximate", "exact", "api")
"""The same as ``brim.tokens.MODES``, which this module can't import."""
PARTS = (
    "folder",
    "branch",
    "model",
    "bar",
    "percent",
    "headroom",
    "tokens",
    "cost",
    "plan",
    "cache",
    "warning",
    "notice",
)
"""What a status line can show."""

UNLIMITED = "unlimited"


_SHARE: dict[str, Any] = {"least": 0, "most": 1}
_BUDGET: dict[str, Any] = {
    "least": 0,
    "option": "--token-budget",
    "none": UNLIMITED,
    "lowers": True,
}
_START = ("BRIM_TOKEN_BUDGET", "BRIM_TOKEN_BUDGET_DEFAULT", "FLOOP_TOKEN_BUDGET")
_DYNAMIC = (
    "BRIM_TOKEN_BUDGET_DYNAMIC",
    "BRIM_TOKEN_BUDGET_DYNAMIC_CONTEXT",
    "FLOOP_TOKEN_BUDGET_DYNAMIC",
)

# A table: key, kind, default, help, and what it may be.
SETTINGS = (
    Setting("model", "text", None, "the model to count for when none is named", none="none"),
    Setting("mode", "text", "auto", "how to count", choices=MODES, never=("api",)),
    Setting(
        "models", "mapping", {}, "models to add, or fields of known models to override", from_env=()
    ),
    Setting(
        "token_budget.default",
        "whole",
        2_000,
        "tokens for the start of a session, and for 'brim rules why'; 0 is off",
        from_env=_START,
        **_BUDGET,
    ),
    Setting(
        "token_budget.dynamic_context",
        "whole",
        500,
        "tokens for each later injection; 0 is off",
        from_env=_DYNAMIC,
        **_BUDGET,
    ),
    Setting(
        "session.max_tokens",
        "whole",
        3_000,
        "tokens that all injections of a session may take together",
        none=UNLIMITED,
        least=0,
        yours=True,
    ),
    Setting(
        "session.max_per_injection",
        "whole",
        500,
        "most tokens of one injection; grows with token_budget.dynamic_context",
        none=UNLIMITED,
        follows="token_budget.dynamic_context",
        least=0,
        yours=True,
    ),
    Setting(
        "session.backoff",
        "whole",
        5,
        "prompts until a rule is told again; twice as many before the third time, and so on",
        least=0,
        yours=True,
    ),
    Setting("tiers.full", "number", 0.7, "activation from which a rule is told in full", **_SHARE),
    Setting("tiers.summary", "number", 0.3, "activation from which its summary is told", **_SHARE),
    Setting("tiers.name_only", "number", 0.1, "activation from which its name is told", **_SHARE),
    Setting(
        "injection.fill",
        "flag",
        True,
        "whether spare budget is filled with more detail",
        yours=True,
    ),
    Setting(
        "injection.max_chars",
        "whole",
        None,
        "most characters of the text, in addition to the token budget",
        none=UNLIMITED,
        least=0,
        lowers=True,
    ),
    Setting(
        "hooks.loops",
        "whole",
        5,
        "how often a call may give the same result before the next one is held once",
        none="off",
        least=3,
        most=50,
        lowers=True,
    ),
    Setting(
        "hooks.remind_at_stop",
        "flag",
        True,
        "whether agents go on once if a command hasn't run that a rule asks for before the end",
        yours=True,
    ),
    Setting(
        "hooks.notes",
        "flag",
        True,
        "whether the terminal shows a line when brim stops or refuses a call, or gives"
        " something back",
        from_env=(),
        yours=True,
    ),
    Setting(
        "hooks.protect",
        "flag",
        True,
        "whether agents are refused commands that loosen brim, and edits of its files and"
        " hook settings",
        from_env=(),
        yours=True,
    ),
    Setting(
        "context.warn",
        "number",
        0.70,
        "share of the window from which to warn",
        lowers=True,
        **_SHARE,
    ),
    Setting(
        "context.compact",
        "number",
        0.78,
        "share of the window from which to compact",
        lowers=True,
        **_SHARE,
    ),
    Setting(
        "context.window",
        "whole",
        None,
        "tokens of the window; overrides the agent and the model table",
        least=1,
        none="auto",
        yours=True,
    ),
    Setting(
        "statusline.parts",
        "words",
        ", ".join(PARTS[2:]),
        "what the status line shows, in this order",
        choices=PARTS,
        yours=True,
    ),
    Setting(
        "spend.limit",
        "number",
        None,
        "USD that a project may spend in total, if 'brim limit' hasn't set a limit",
        least=0,
        most=1e9,
        none=UNLIMITED,
        lowers=True,
    ),
    Setting(
        "spend.warn", "number", 0.8, "share of a limit from which to warn", lowers=True, **_SHARE
    ),
    Setting(
        "limits",
        "mapping",
        {},
        "limits of all projects ('*') and of each, as 'brim limit' writes them",
        from_env=(),
        yours=True,
    ),
    Setting(
        "project.id",
        "text",
        None,
        "what this project is called in a shared store (default: its git remote)",
        none="none",
    ),
    Setting(
        "notify",
        "text",
        None,
        "command to run at 80% of a limit and at the limit; $BRIM_TEXT says which",
        from_env=(),
        none="off",
        yours=True,
    ),
    Setting(
        "keep.memory",
        "whole",
        90,
        "days to keep the memory of ended sessions in .context/",
        none="forever",
        least=1,
        yours=True,
    ),
    Setting(
        "memory.max_working_memory_tokens",
        "whole",
        100_000,
        "most tokens of the whole request and the response",
        least=0,
    ),
    Setting("memory.output_reserve", "whole", 4_096, "tokens kept for the response", least=0),
    Setting(
        "memory.min_history_tokens", "whole", 4_000, "tokens that history keeps at least", least=0
    ),
    Setting(
        "memory.max_knowledge_tokens",
        "whole",
        3_000,
        "tokens that knowledge takes at most",
        least=0,
    ),
    Setting(
        "memory.max_episode_tokens", "whole", 1_000, "tokens that episodes take at most", least=0
    ),
    Setting(
        "window.response_reserve_ratio",
        "number",
        0.15,
        "share of the window kept for the response",
        **_SHARE,
    ),
    Setting(
        "window.response_reserve_min", "whole", 500, "fewest tokens kept for the response", least=0
    ),
    Setting(
        "window.response_reserve_max", "whole", 4_096, "most tokens kept for the response", least=0
    ),
    Setting(
        "window.safety_buffer_ratio",
        "number",
        0.05,
        "share of the window that stays empty",
        **_SHARE,
    ),
)
"""All settings. Any other key in a file is an error."""

ORDERED = (
    ("tiers.full", "tiers.summary"),
    ("tiers.summary", "tiers.name_only"),
    ("context.compact", "context.warn"),
    ("window.response_reserve_max", "window.response_reserve_min"),
)
"""Pairs of which the first is never less than the second, whichever files they come from."""
